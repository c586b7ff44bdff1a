/* named.h - NamedTensorProto, which RunStep and RunGraph carry both ways, without copying the tensor. */
#ifndef WEFT_DIST_NAMED_H
#define WEFT_DIST_NAMED_H

#include "net/message.h"

/* A field of type message holding {name, tensor}. */
weft_err weft__message_add_named(message *m, int field, const char *name, const weft_tensor *t);

#endif
