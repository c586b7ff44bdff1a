/* min_degree.h - orders the rows of a symmetric sparse matrix so that its Cholesky factor has few elements.
 *
 * Approximate minimum degree (Amestoy, Davis and Duff, 1996): of the rows that are left, one with the fewest neighbors
 * is eliminated next, where the number of neighbors is bounded from above by the sizes of cliques. */
#ifndef WEFT_KERNELS_SPARSE_MIN_DEGREE_H
#define WEFT_KERNELS_SPARSE_MIN_DEGREE_H

#include "kernels/work/long_work.h"

/* Stores the rows 0 .. n - 1 in the order of their elimination.  The pattern is that of rows[0 .. n] and cols: row r
 * has the columns cols[rows[r]] .. cols[rows[r + 1] - 1], which are in 0 .. n - 1, in any order, and may occur more
 * than once.  Only columns to the left of the diagonal are read.  Returns RESOURCE_EXHAUSTED if memory is short,
 * or an error if the step of `work` ended first. */
weft_err weft__min_degree(long_work *work, int32_t n, const int32_t *rows, const int32_t *cols, int32_t *order);

#endif
