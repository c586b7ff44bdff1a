/* hosts.h - compares the lists of hosts that two tasks were started with.
 *
 * Tasks of one cluster start even if their lists differ.  Then a task may call another one than the program means, or
 * wait for one that no other task knows.  So each tells the others its list in its first greeting. */
#ifndef WEFT_CLUSTER_MEMBERSHIP_HOSTS_H
#define WEFT_CLUSTER_MEMBERSHIP_HOSTS_H

#include "cluster/membership/peer.h"

/* Returns "ps:0=host:port,worker:0=host:port"; the caller frees it with weft__free.  NULL if memory is short. */
char *weft__hosts_text(const peers *p);
/* Returns true if the lists of two tasks ("worker:1") name different tasks or addresses.  A task may leave out the
 * other tasks of its own job and whole jobs, and may write a loopback address where others write its name. */
bool weft__hosts_differ(const char *mine, const char *me, const char *theirs, const char *them);

#endif
