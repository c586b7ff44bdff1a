/* sparse.h - what ops on sparse tensors share: rows of indices, a value for each, and a shape. */
#ifndef WEFT_KERNELS_SPARSE_SPARSE_H
#define WEFT_KERNELS_SPARSE_SPARSE_H

#include "graph/kernel.h"

/* indices [n, depth], values [n] (NULL: none to check), shape [depth]: INVALID_ARGUMENT if they do not fit. */
weft_err weft__sparse_check(const kernel *k, const weft_tensor *indices, const weft_tensor *values,
                            const weft_tensor *dims);
/* INVALID_ARGUMENT if a row of indices lies outside the shape. */
weft_err weft__sparse_inside(const kernel *k, const weft_tensor *indices, const weft_tensor *dims);

/* One row of indices, and its number. */
typedef struct sparse_entry {
  const int64_t *row;
  int64_t depth, at;
} sparse_entry;
/* -1, 0 or 1, in row-major order. */
int weft__sparse_compare(const int64_t *a, const int64_t *b, int64_t depth);
/* By row, and by number where rows are equal. */
void weft__sparse_sort(sparse_entry *entries, int64_t n);
/* Shape rules for outputs that are a sparse tensor of unknown rank, or a sparse matrix: indices, values, shape. */
weft_err weft__sparse_infer(infer *s);
weft_err weft__sparse_matrix_infer(infer *s);

#endif
