/* shape.h - a list of dimensions, any of which may be unknown (-1), or of unknown rank (-1). */
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

weft_err weft__shape_make(shape *s, int rank, const int64_t *dims); /* checks rank and dims >= -1 */
bool weft__shape_known(const shape *s);                             /* rank and every dim */
bool weft__shape_equal(const shape *a, const shape *b);
/* May a tensor of shape a also have shape b? (unknowns match anything) */
bool weft__shape_compatible(const shape *a, const shape *b);
/* The most that a and b tell together; INVALID_ARGUMENT if they contradict. */
weft_err weft__shape_merge(shape *out, const shape *a, const shape *b);
/* Number of elements; -1 if unknown, -2 if no tensor can have the shape: the number overflows int64, or it is 0 but the
 * other dimensions multiply to more than 2^56, so that products of them would overflow. */
int64_t weft__shape_count(const shape *s);
/* What is wrong with a shape whose count is -2: "would have more than 2**63 - 1 elements". */
const char *weft__shape_excess(const shape *s);
/* Product of dims [begin, end) of a known shape.  It saturates; of a tensor's shape it is exact. */
int64_t weft__shape_product(const shape *s, int begin, int end);
/* Sum and product of two dimensions; -1 where one is unknown or the result does not fit. */
static inline int64_t weft__shape_dim_add(int64_t a, int64_t b) {
  int64_t sum;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}
static inline int64_t weft__shape_dim_mul(int64_t a, int64_t b) {
  int64_t product;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}
/* numpy broadcasting, unknowns included; INVALID_ARGUMENT "Incompatible shapes: [2,3] vs. [4]". */
weft_err weft__shape_broadcast(shape *out, const shape *a, const shape *b);
/* Negative axes count from the end; INVALID_ARGUMENT when outside [-rank, rank). */
weft_err weft__shape_axis(int *out, int64_t axis, int rank);
/* "[2,?,3]", "[]", "<unknown>" into a buffer of the thread; four may be in use at once. */
const char *weft__shape_text(const shape *s);

#endif
