/* process.h - the id of this process, without a system call.
 *
 * A forked child has none of its parent's threads, so it must not use the parent's connections.  Each connection keeps
 * the id of the process that opened it and compares it on every call.  getpid is a system call, which takes longer than
 * the rest of such a check, and a step makes several calls. */
#ifndef WEFT_NET_PROCESS_H
#define WEFT_NET_PROCESS_H

#include <sys/types.h>

/* As getpid; in a child, the child's.  Any thread.  A child made by a raw clone without fork's handlers is not seen. */
pid_t weft__process_id(void);

#endif
