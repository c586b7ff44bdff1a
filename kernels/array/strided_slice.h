/* strided_slice.h - x[begin:end:stride, ..., new axis, i] made plain: one range for each axis of x. */
#ifndef WEFT_KERNELS_ARRAY_STRIDED_SLICE_H
#define WEFT_KERNELS_ARRAY_STRIDED_SLICE_H

#include "graph/kernel.h"
#include "kernels/array/strided_copy.h"

/* What a slice says of one axis of its input. */
typedef struct axis_range {
  int64_t begin, end, stride; /* as written */
  bool all_before, all_after; /* begin or end left out */
  bool shrink;                /* a single index: the axis goes */
  bool known;                 /* begin and end are: else only the flags and stride count */
} axis_range;

/* Where an axis of the result comes from: an axis of the input, or NEW_AXIS. */
enum { NEW_AXIS = -1 };

typedef struct strided {
  int rank; /* of the input */
  axis_range axis[WEFT_MAX_RANK];
  int n_from; /* of the result, shrunken axes left out */
  int from[WEFT_MAX_RANK];
  int64_t start[WEFT_MAX_RANK], step[WEFT_MAX_RANK], count[WEFT_MAX_RANK]; /* set by weft__strided_apply */
} strided;

/* The five masks of a node, one bit for each written item.  A kernel's are prepared once: its state. */
typedef struct strided_masks {
  uint32_t begin, end, ellipsis, fresh, shrink;
} strided_masks;
strided_masks weft__strided_masks(const weft_node *n);
weft_err weft__strided_prepare(const weft_node *n, void **state); /* freed by weft__free */

/* Spreads the written items over the axes of an input of the given rank.  begin and end may be NULL (not known).
 * The message of a failure is for the caller to put in context. */
weft_err weft__strided_read(strided *s, const strided_masks *m, int rank, int items, const int64_t *begin,
                            const int64_t *end, const int64_t *stride);
/* Cuts the ranges to the dimensions of x; unknown dimensions and ranges give a count of -1. */
weft_err weft__strided_apply(strided *s, const shape *x);
/* The result's shape: counts of the axes kept, ones for new axes. */
void weft__strided_shape(const strided *s, shape *out);
/* Reads inputs [first, first + 3) of a prepared kernel and applies them to a shape. */
weft_err weft__strided_kernel(const kernel *k, strided *s, const shape *x, int first);
/* Makes the strided copy that copies the result from x or, with `into`, the result's elements into x; *offset is x's first element. */
void weft__strided_slice_copy(const strided *s, const shape *x, bool into, strided_copy *b, int64_t *offset);

#endif
