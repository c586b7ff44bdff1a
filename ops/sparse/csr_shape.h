/* csr_shape.h - what the ops of sparse matrices share: reading an argument, and its shape before a graph runs. */
#ifndef WEFT_OPS_SPARSE_CSR_SHAPE_H
#define WEFT_OPS_SPARSE_CSR_SHAPE_H

#include "graph/kernel.h"
#include "graph/op.h"
#include "state/csr_matrix.h"

/* Finds the matrix of input i, borrowed.  Returns INVALID_ARGUMENT if its type is not that of the attribute `type`. */
weft_err weft__csr_in(const kernel *k, int i, csr_matrix **out);
/* Stores what is known of the dense shape of a matrix: from the nodes that make it. */
void weft__csr_dense_shape(const weft_graph *g, weft_out o, shape *out);
/* Swaps the last two dimensions. */
void weft__csr_swap(shape *s);

#endif
