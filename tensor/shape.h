/* shape.h - shapes: lists of dimensions.  Any dimension, or the rank itself, may be unknown (-1).
 *
 * A shape is a plain value without memory of its own.  Any thread may call these functions. */
#ifndef WEFT_TENSOR_SHAPE_H
#define WEFT_TENSOR_SHAPE_H

#include "base/status.h"

#define WEFT_MAX_RANK 16

typedef struct shape {
  int rank; /* -1: unknown */
  int64_t dim[WEFT_MAX_RANK];
} shape;

#define SHAPE_UNKNOWN ((shape){.rank = -1})
#define SHAPE_SCALAR ((shape){.rank = 0})
#define SHAPE1(a) ((shape){1, {(a)}})
#define SHAPE2(a, b) ((shape){2, {(a), (b)}})
#define SHAPE3(a, b, c) ((shape){3, {(a), (b), (c)}})
#define SHAPE4(a, b, c, d) ((shape){4, {(a), (b), (c), (d)}})

/* Makes a shape from dimensions.  Returns INVALID_ARGUMENT if the rank is too high or a dimension is below -1. */
weft_err weft__shape_make(shape *s, int rank, const int64_t *dims);
bool weft__shape_known(const shape *s); /* the rank and every dimension are known */
bool weft__shape_equal(const shape *a, const shape *b);
/* Returns true if a tensor of shape a may also have shape b; an unknown dimension matches any. */
bool weft__shape_compatible(const shape *a, const shape *b);
/* Merges what a and b say about one shape.  Returns INVALID_ARGUMENT if they contradict each other. */
weft_err weft__shape_merge(shape *out, const shape *a, const shape *b);
/* Returns the number of elements; -1 if it is unknown, -2 if no tensor can have the shape: the number overflows int64,
 * or it is 0 but the other dimensions multiply to more than 2^56, so that products of them would overflow. */
int64_t weft__shape_count(const shape *s);
/* Returns true if all dimensions but the first are known. */
bool weft__shape_rows_known(const shape *s);
/* Returns what is wrong with a shape whose count is -2: "would have more than 2**63 - 1 elements".  The text is a
 * literal. */
const char *weft__shape_excess(const shape *s);
/* Returns the product of the dimensions [begin, end) of a known shape.  It saturates; for a tensor's shape it is exact.
 */
int64_t weft__shape_product(const shape *s, int begin, int end);
/* Return the sum and the product of two dimensions; -1 if one is unknown or the result does not fit. */
static inline int64_t weft__shape_dim_add(int64_t a, int64_t b) {
  int64_t sum;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
static inline int64_t weft__shape_dim_mul(int64_t a, int64_t b) {
  int64_t product;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}
/* Broadcasts as numpy does, unknown dimensions included.  Returns INVALID_ARGUMENT "Incompatible shapes: [2,3] vs.
 * [4]". */
weft_err weft__shape_broadcast(shape *out, const shape *a, const shape *b);
/* Makes a negative axis count from the end.  Returns INVALID_ARGUMENT if the axis is outside [-rank, rank). */
weft_err weft__shape_axis(int *out, int64_t axis, int rank);
/* Returns "[2,?,3]", "[]" or "<unknown>" in a buffer of this thread, which is valid for the next three calls. */
const char *weft__shape_text(const shape *s);

#endif
