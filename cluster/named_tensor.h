/* named_tensor.h - NamedTensorProto, which RunStep and RunGraph carry both ways, without copying the tensor more than once. */
#ifndef WEFT_CLUSTER_NAMED_TENSOR_H
#define WEFT_CLUSTER_NAMED_TENSOR_H

#include "net/message.h"

/* A field of type message holding {name, tensor}. */
weft_err weft__message_add_named(message *m, int field, const char *name, const weft_tensor *t);

typedef struct named {
  char *name;          /* never NULL */
  weft_tensor *tensor; /* NULL: none was sent */
} named;

typedef struct named_list {
  int n, room;
  named *item;
} named_list;

/* All that m has in this field; the rest of m is read by weft__message_copy_without. */
weft_err weft__named_read(named_list *out, message *m, int field);
void weft__named_finish(named_list *l);

#endif
