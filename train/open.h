/* open.h - a session on a target: "" is this process, anything else a server of a cluster. */
#ifndef WEFT_TRAIN_OPEN_H
#define WEFT_TRAIN_OPEN_H

#include "exec/session.h"

weft_err weft__open_session(weft_session **out, const char *target, weft_graph *g, const weft_session_opts *opts);

#endif
