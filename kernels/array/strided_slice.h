/* strided_slice.h - converts x[begin:end:stride, ..., new axis, i] to one range for each axis of x. */
#ifndef WEFT_KERNELS_ARRAY_STRIDED_SLICE_H
#define WEFT_KERNELS_ARRAY_STRIDED_SLICE_H

#include "graph/kernel.h"
#include "kernels/array/strided_copy.h"

/* The range of one axis of the input. */
typedef struct axis_range {
  int64_t begin, end, stride; /* as given by the program */
  bool all_before, all_after; /* begin or end was omitted */
  bool shrink;                /* a single index: the axis is removed */
  bool known;                 /* begin and end are known; otherwise only the flags and stride are valid */
} axis_range;

/* The source of an axis of the result: an axis of the input, or NEW_AXIS. */
enum { NEW_AXIS = -1 };

typedef struct strided {
  int rank; /* of the input */
  axis_range axis[WEFT_MAX_RANK];
  int n_from; /* number of axes of the result, without the removed ones */
  int from[WEFT_MAX_RANK];
  int64_t start[WEFT_MAX_RANK], step[WEFT_MAX_RANK], count[WEFT_MAX_RANK]; /* set by weft__strided_apply */
} strided;

/* The five masks of a node, with one bit for each item of the slice.  A kernel prepares them once, as its state. */
typedef struct strided_masks {
  uint32_t begin, end, ellipsis, fresh, shrink;
} strided_masks;
strided_masks weft__strided_masks(const weft_node *n);
weft_err weft__strided_prepare(const weft_node *n, void **state); /* freed with weft__free */

/* Assigns the items of the slice to the axes of an input of the given rank.  begin and end may be NULL (unknown).
 * Returns INVALID_ARGUMENT without the node's name, which the caller adds. */
weft_err weft__strided_read(strided *s, const strided_masks *m, int rank, int items, const int64_t *begin,
                            const int64_t *end, const int64_t *stride);
/* Clamps the ranges to the dimensions of x; unknown dimensions and ranges give a count of -1. */
weft_err weft__strided_apply(strided *s, const shape *x);
/* Stores the shape of the result: the counts of the axes that remain, and 1 for new axes. */
void weft__strided_shape(const strided *s, shape *out);
/* Reads inputs [first, first + 3) of a prepared kernel and applies them to a shape. */
weft_err weft__strided_kernel(const kernel *k, strided *s, const shape *x, int first);
/* Builds the strided copy that reads the result from x or, with `into`, writes the result's elements into x.
 * *offset is the first element in x. */
void weft__strided_slice_copy(const strided *s, const shape *x, bool into, strided_copy *b, int64_t *offset);

#endif
