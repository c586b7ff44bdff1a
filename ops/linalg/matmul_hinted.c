/* matmul_hinted.c - SparseMatMul: a product of dense matrices with hints that many elements are zero.
 *
 * Weft ignores the hints: it computes the product in float, which is also the type of the result. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/gemm/gemm_long.h"
#include "ops/linalg/matmul.h"

static weft_err hinted_infer(infer *s) {
  shape a, b;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &a));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &b));
  const bool ta = weft__node_bool(s->node, "transpose_a", false), tb = weft__node_bool(s->node, "transpose_b", false);
  const int64_t x = a.dim[ta ? 0 : 1], y = b.dim[tb ? 1 : 0];
  if (x >= 0 && y >= 0 && x != y)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x, (long long)y);
  s->out[0] = SHAPE2(a.dim[ta ? 1 : 0], b.dim[tb ? 0 : 1]);
  return WEFT_OK;
}

/* Returns the matrix as floats: the input itself, or a widened copy in `room`. */
static weft_err matmul_hinted_widened(kernel *k, int i, weft_tensor *room, const float **out) {
  const weft_tensor *t = k->in[i];
  *out = TENSOR_DATA(t, float);
  if (t->dtype == WEFT_FLOAT) return WEFT_OK;
  WEFT_TRY(weft__scratch(k, room, WEFT_FLOAT, &t->shape));
  for (int64_t j = 0; j < weft__tensor_count(t); j++)
    TENSOR_DATA(room, float)[j] = weft__bfloat16_to_float(TENSOR_DATA(t, uint16_t)[j]);
  *out = TENSOR_DATA(room, float);
  return WEFT_OK;
}

static weft_err matmul_hinted_multiply(kernel *k, gemm *g) {
  weft_tensor *out = weft__out(k, 0, &SHAPE2(g->m, g->n)), a = {0}, b = {0};
  if (!out) return WEFT_OOM;
  const float *x = NULL, *y = NULL;
  weft_err err = matmul_hinted_widened(k, 0, &a, &x);
  if (!err) err = matmul_hinted_widened(k, 1, &b, &y);
  if (!err) {
    g->type = WEFT_FLOAT, g->a = x, g->b = y, g->c = out->data;
    g->lda = k->in[0]->shape.dim[1], g->ldb = k->in[1]->shape.dim[1], g->ldc = g->n;
    if (g->k == 0) {
      for (int64_t i = 0; i < g->m * g->n; i++) TENSOR_DATA(out, float)[i] = 0;
    } else if (g->m && g->n) {
      long_work work = weft__long_work(k);
      weft__gemm_long(&work, g);
      err = weft__kernel_in(k, weft__long_work_end(&work));
    }
  }
  weft__tensor_clear(&a);
  weft__tensor_clear(&b);
  return err;
}

static weft_err hinted_cpu(kernel *k) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  gemm g = {0};
  g.ta = weft__node_bool(k->node, "transpose_a", false);
  g.tb = weft__node_bool(k->node, "transpose_b", false);
  if (a->rank != 2 || b->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a and b must be matrices, not of shapes %s and %s",
                             weft__shape_text(a), weft__shape_text(b));
  g.m = a->dim[g.ta ? 1 : 0], g.k = a->dim[g.ta ? 0 : 1], g.n = b->dim[g.tb ? 0 : 1];
  if (g.k != b->dim[g.tb ? 1 : 0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size incompatible: a: %s, b: %s", weft__shape_text(a),
                             weft__shape_text(b));
  return matmul_hinted_multiply(k, &g);
}

/* The gradients are products of float matrices, cast to the types of their inputs. */
static weft_err hinted_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool ta = weft__node_bool(b->node, "transpose_a", false), tb = weft__node_bool(b->node, "transpose_b", false);
  const weft_out x = weft__b_cast(g, b->in[0], WEFT_FLOAT), y = weft__b_cast(g, b->in[1], WEFT_FLOAT), d = b->dout[0];
  const weft_out dx = ta ? weft__b_matmul(g, y, d, tb, true) : weft__b_matmul(g, d, y, false, !tb);
  const weft_out dy = tb ? weft__b_matmul(g, d, x, true, ta) : weft__b_matmul(g, x, d, !ta, false);
  b->din[0] = GRAD_DENSE(weft__b_cast(g, dx, weft__out_type(g, b->in[0])));
  b->din[1] = GRAD_DENSE(weft__b_cast(g, dy, weft__out_type(g, b->in[1])));
  return WEFT_OK;
}

static const op_case hinted_cases[] = {
    {"f32[2,3] 1 0 2 0 3 0; f32[3,2] seq", "f32[2,2] 8 11 6 9", "a_is_sparse=true", CASE_FIXED_TYPE},
    {"f32[3,2] rand; f32[3,4] rand", NULL, "transpose_a=true b_is_sparse=true", CASE_FIXED_TYPE},
    {"f32[2,3] rand; f32[4,3] rand", NULL, "transpose_b=true", CASE_FIXED_TYPE},
    {"f32[3,2] rand; f32[4,3] rand", NULL, "transpose_a=true transpose_b=true", CASE_FIXED_TYPE},
    {"bf16[2,3] 1 0 2 0 3 0; f32[3,2] seq", NULL, "a_is_sparse=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"bf16[2,3] 1 0 2 0 3 0; bf16[3,2] seq", NULL, "a_is_sparse=true b_is_sparse=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,3] 1; f32[2,3] 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(matmul_hinted) = {
    {"SparseMatMul(a:Ta, b:Tb) -> (product:float) | transpose_a:bool=false transpose_b:bool=false "
     "a_is_sparse:bool=false "
     "b_is_sparse:bool=false Ta:type{float,bfloat16}=float Tb:type{float,bfloat16}=float",
     "The product of two matrices with hints about their zeros.", .infer = hinted_infer, .cpu = hinted_cpu,
     .grad = hinted_grad, .cases = hinted_cases},
    {0},
};
