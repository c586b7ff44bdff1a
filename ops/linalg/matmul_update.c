/* matmul_update.c - MatMul fused into ApplyGradientDescent: a gradient that is a matrix product is added directly to
 * its variable.
 *
 * var -= alpha * (a b) is computed as var += (-alpha * a) b: the smaller operand is scaled, and the product
 * accumulates into the variable.  So the gradient is never written to memory.  If the shapes do not fit or the
 * variable has no value, the two ops run one after the other, and report the usual errors. */
#include "base/target_clones.h"
#include "graph/fusion.h"
#include "ops/linalg/matmul.h"
#include "state/variable.h"

/* The largest inner dimension.  With more rows, a product would add to the variable in several passes and round it
 * each time. */
enum { MOST_ROWS = 256 };

WEFT_TARGET_CLONES static void scale_row(float *restrict to, const float *restrict from, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) to[i] = from[i] * by;
}

/* The caller holds the variable's lock and has checked its shape. */
static weft_err matmul_update_descend(kernel *k, variable *v, gemm *g, float alpha) {
  weft_tensor *var = NULL, scaled = {0};
  WEFT_TRY(weft__variable_writable(v, &var));
  const bool left = g->m <= g->n;
  const weft_tensor *from = k->in[left ? 2 : 3];
  WEFT_TRY(weft__scratch(k, &scaled, WEFT_FLOAT, &from->shape));
  scale_row(TENSOR_DATA(&scaled, float), TENSOR_DATA(from, float), weft__tensor_count(from), -alpha);
  *(left ? &g->a : &g->b) = scaled.data;
  g->c = var->data;
  g->accumulate = true;
  weft__gemm(k, g);
  weft__tensor_clear(&scaled);
  return WEFT_OK;
}

/* Computes the product, then the update, as separate kernels would. */
static weft_err one_after_the_other(kernel *k, const fused_update *d, gemm *g) {
  weft_tensor product = {0};
  const shape s = SHAPE2(g->m, g->n);
  WEFT_TRY(weft__scratch(k, &product, WEFT_FLOAT, &s));
  g->c = product.data;
  if (weft__tensor_count(&product)) weft__gemm(k, g);
  const weft_tensor *in[] = {k->in[0], k->in[1], &product};
  kernel last = *k;
  last.op = d->update, last.state = d->update_state, last.in = in, last.n_in = 3;
  const weft_err err = d->update->cpu(&last);
  weft__tensor_clear(&product);
  return err;
}

static weft_err matmul_descent_cpu(kernel *k) {
  const fused_update *d = k->state;
  gemm g = {.type = WEFT_FLOAT};
  const kernel first = weft__fused_first(k, &d->first, 2);
  WEFT_TRY(weft__matmul_sizes(&first, &g));
  g.a = k->in[2]->data, g.b = k->in[3]->data;
  const shape s = SHAPE2(g.m, g.n);
  variable *v = NULL;
  weft_err err = WEFT_OK;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft__variable_lock(1, &v);
  const bool plain = v->value.buf && weft__shape_equal(&v->value.shape, &s) && weft__tensor_count(&v->value) > 0 &&
                     g.k > 0 && g.k <= MOST_ROWS && k->in[1]->shape.rank == 0;
  if (plain) err = matmul_update_descend(k, v, &g, TENSOR_DATA(k->in[1], float)[0]);
  weft__variable_unlock(1, &v);
  if (!plain) return one_after_the_other(k, d, &g);
  if (!err && k->n_out) weft__out_ref(k, 0, v);
  return err;
}

static bool matmul_fits(const weft_node *n) { return n->out_type[0] == WEFT_FLOAT; }

static const op matmul_descent_op = {
    .def = "_MatMulDescent", .cpu = matmul_descent_cpu, .unprepare = weft__fused_update_unprepare};

const fusion weft__matmul_fusion = {.role = ROLE_MATMUL,
                                    .fits = matmul_fits,
                                    .with_update = &matmul_descent_op,
                                    .update = &weft__update_descend,
                                    .shares = weft__matmul_shares,
                                    .prepares = &weft__matmul_prepare_op,
                                    .on_prepared = &weft__matmul_prepared_op};
