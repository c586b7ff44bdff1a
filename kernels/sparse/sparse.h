/* sparse.h - checks, sorting and shape rules for ops on sparse tensors, which are rows of indices, values and a
 * shape. */
#ifndef WEFT_KERNELS_SPARSE_SPARSE_H
#define WEFT_KERNELS_SPARSE_SPARSE_H

#include "graph/kernel.h"

/* Checks the shapes of indices [n, depth], values [n] (NULL: not checked) and dims [depth].  Returns
 * INVALID_ARGUMENT if they do not match. */
weft_err weft__sparse_check(const kernel *k, const weft_tensor *indices, const weft_tensor *values,
                            const weft_tensor *dims);
/* Returns INVALID_ARGUMENT if a row of indices is out of the bounds of the shape. */
weft_err weft__sparse_inside(const kernel *k, const weft_tensor *indices, const weft_tensor *dims);

/* One row of indices, and its position. */
typedef struct sparse_entry {
  const int64_t *row;
  int64_t depth, at;
} sparse_entry;
/* Compares two rows in row-major order; returns -1, 0 or 1. */
int weft__sparse_compare(const int64_t *a, const int64_t *b, int64_t depth);
/* Sorts by row; equal rows are sorted by position. */
void weft__sparse_sort(sparse_entry *entries, int64_t n);
/* Shape rules for outputs that are a sparse tensor of unknown rank, or a sparse matrix: indices, values, shape. */
weft_err weft__sparse_infer(infer *s);
weft_err weft__sparse_matrix_infer(infer *s);

#endif
