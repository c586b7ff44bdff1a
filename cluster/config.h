/* config.h - ConfigProto as a session's options. */
#ifndef WEFT_CLUSTER_CONFIG_H
#define WEFT_CLUSTER_CONFIG_H

#include "exec/session.h"
#include "tf.pb-c.h"

/* Sets what the config says over what is in opts.  Filters are borrowed from the config; config_text is new, to be freed
 * with weft__free by the caller. */
weft_err weft__config_apply(session_opts *opts, const Tensorflow__ConfigProto *config);

#endif
