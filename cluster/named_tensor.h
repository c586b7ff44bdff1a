/* named_tensor.h - NamedTensorProto, which RunStep and RunGraph carry in both directions.
 *
 * Tensors may be large, so the bytes of one are copied at most once: writing references them, reading copies them
 * from the message into the tensor.  Nothing here is shared between threads. */
#ifndef WEFT_CLUSTER_NAMED_TENSOR_H
#define WEFT_CLUSTER_NAMED_TENSOR_H

#include "net/message.h"

/* Appends a field whose value is the message {name, tensor}.  The tensor's bytes may be referenced by m. */
weft_err weft__message_add_named_tensor(message *m, int field, const char *name, const weft_tensor *t);

typedef struct named_tensor {
  char *name;          /* never NULL */
  weft_tensor *tensor; /* NULL if the message has no tensor */
} named_tensor;

typedef struct named_tensor_list {
  int n;
  int64_t capacity;
  named_tensor *item;
} named_tensor_list;

/* Reads every occurrence of the field in m, which is not changed.  The caller finishes the list.  INVALID_ARGUMENT if
 * m is malformed: *out is empty then.  weft__message_copy_without gives the other fields. */
weft_err weft__named_tensors_read(named_tensor_list *out, message *m, int field);
void weft__named_tensors_finish(named_tensor_list *l);

#endif
