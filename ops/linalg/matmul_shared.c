/* matmul_shared.c - several MatMuls with the same b, which is packed once for all of them.
 *
 * The steps of a recurrent layer multiply few rows each with the same weights, forward and for the gradient.  Packing
 * the weights in every product would cost about as much as the product. */
#include "graph/fusion.h"
#include "kernels/gemm/gemm_amx.h"
#include "ops/linalg/matmul.h"

static int64_t side_of(const shape *s, bool first) { return s->dim[first ? 0 : 1]; }

bool weft__matmul_shares(const weft_node *n, int64_t readers) {
  const shape *a = weft__out_shape(n->graph, n->in[0]), *b = weft__out_shape(n->graph, n->in[1]);
  if (!weft__shape_known(a) || !weft__shape_known(b) || a->rank != 2 || b->rank != 2) return false;
  const bool ta = weft__node_bool(n, "transpose_a", false), tb = weft__node_bool(n, "transpose_b", false);
  gemm g = {.type = weft__dtype_base(n->out_type[0])};
  g.m = side_of(a, !ta), g.n = side_of(b, tb), g.k = side_of(b, !tb);
  return weft__gemm_amx_shares(&g, readers);
}

/* If b is no matrix, the products report it. */
static weft_err matmul_prepare_cpu(kernel *k) {
  const weft_tensor *b = k->in[0];
  const bool tb = weft__node_bool(k->node, "transpose_b", false), is_matrix = b->shape.rank == 2;
  gemm g = {.type = WEFT_FLOAT, .b = b->data, .tb = tb};
  if (is_matrix) g.n = side_of(&b->shape, tb), g.k = side_of(&b->shape, !tb), g.ldb = b->shape.dim[1];
  weft_tensor *packed = weft__out(k, 0, &SHAPE1(weft__gemm_amx_shared_bytes(g.n, g.k)));
  if (!packed) return WEFT_RESOURCE_EXHAUSTED;
  weft__gemm_amx_share(k, &g, packed->data);
  return WEFT_OK;
}

static weft_err matmul_prepared_cpu(kernel *k) {
  gemm g = {.type = WEFT_FLOAT};
  WEFT_TRY(weft__matmul_sizes(k, &g));
  if (g.m == 0 || g.n == 0 || g.k == 0) return weft__matmul_run(k);
  weft_tensor *c = weft__out(k, 0, &SHAPE2(g.m, g.n));
  if (!c) return WEFT_RESOURCE_EXHAUSTED;
  g.a = k->in[0]->data, g.b = k->in[1]->data, g.c = c->data;
  if (!weft__gemm_amx_shared(k, &g, k->in[2]->data)) weft__gemm(k, &g);
  return WEFT_OK;
}

const op weft__matmul_prepare_op = {.def = "_PrepareOperand", .cpu = matmul_prepare_cpu};
const op weft__matmul_prepared_op = {.def = "_PreparedMatMul", .cpu = matmul_prepared_cpu};
