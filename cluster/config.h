/* config.h - reads a ConfigProto into the options of a session.  The functions keep nothing and have no lock. */
#ifndef WEFT_CLUSTER_CONFIG_H
#define WEFT_CLUSTER_CONFIG_H

#include "exec/session.h"
#include "tf.pb-c.h"

enum { REWRITE_ON = 1, REWRITE_OFF = 2, REWRITE_AGGRESSIVE = 3 }; /* RewriterConfig.Toggle */
/* Returns true if the options turn automatic mixed precision on. */
bool weft__config_mixed_precision(const Tensorflow__GraphOptions *o);
/* Overwrites the options of a task itself, as a server's ConfigProto sets them: its devices, threads and collective
 * leader.  Leaves the others, which belong to a session. */
void weft__config_apply_task(session_opts *opts, const Tensorflow__ConfigProto *config);
/* Overwrites the options that the config sets and leaves the others.  The filters are borrowed from the config.
 * config_text is allocated: the caller frees it with weft__free.  Fails only for lack of memory. */
weft_err weft__config_apply(session_opts *opts, const Tensorflow__ConfigProto *config);

#endif
