/* combine.h - elementwise updates of Assign*, Scatter* and accumulators.  Any thread may call these functions. */
#ifndef WEFT_STATE_COMBINE_H
#define WEFT_STATE_COMBINE_H

#include "tensor/tensor.h"

typedef enum combine_op {
  COMBINE_SET,
  COMBINE_ADD,
  COMBINE_SUB,
  COMBINE_MUL,
  COMBINE_DIV,
  COMBINE_MIN,
  COMBINE_MAX,
  COMBINE_COUNT
} combine_op;

/* dst[i] = a[i] OP b[i * b_step] for n elements of a plain type; dst may be a, b_step is 0 or 1.  An integer divided
 * by zero gives 0.  Returns false if the type has no such operation (strings, MIN of complex). */
bool weft__combine(combine_op op, weft_dtype dtype, void *dst, const void *a, const void *b, int b_step, int64_t n);
bool weft__combine_has(combine_op op, weft_dtype dtype);

#endif
