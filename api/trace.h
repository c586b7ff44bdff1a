/* trace.h - functions that both forms of step stats, JSON and tables, use. */
#ifndef WEFT_API_TRACE_H
#define WEFT_API_TRACE_H

#include "base/text.h"
#include "tf.pb-c.h"

typedef struct span {
  const char *op; /* points into the node's label; not NUL-terminated */
  int op_size;
  int64_t begin_ns, length_ns;
} span;

/* Returns when the kernel of a node ran, and its op, borrowed from n. */
span weft__trace_span(const Tensorflow__NodeExecStats *n);
int64_t weft__trace_bytes(const Tensorflow__NodeExecStats *n); /* bytes allocated, with all allocators */

#endif
