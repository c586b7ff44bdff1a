/* rpc_error.h - errors that arrive with a code and a message only, from another process or from the program. */
#ifndef WEFT_NET_RPC_ERROR_H
#define WEFT_NET_RPC_ERROR_H

#include "base/status.h"

/* Finds the facts of this thread's present error in its message, which came from another process or from the program,
 * and adds them to it.  Returns `code` unchanged.  This is the only place that decides by the text of an error. */
weft_err weft__rpc_error(weft_err code);

#endif
