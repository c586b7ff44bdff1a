/* fuse_descent.c - a gradient that is a product of matrices is added to its variable where it is made.
 *
 * var -= alpha * (a b) is var += (-alpha * a) b: the product adds to the variable, and the smaller operand is scaled
 * before.  So the gradient is neither written nor read again.  What is out of the ordinary when it runs (shapes that do
 * not fit, a variable without a value) goes the long way, product first, which also knows the errors. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "exec/passes/program.h"
#include "ops/linalg/matmul.h"
#include "state/variable.h"

/* Rows of the batch: over more of them a product adds to the variable several times, which rounds it several times. */
enum { MOST_ROWS = 256 };

typedef struct descent {
  const weft_node *node; /* of the product, with its op and state */
  const op *op;
  void *state;
  const op *apply; /* the variable's update, with its state */
  void *apply_state;
} descent;

WEFT_TARGET_CLONES static void scale(float *restrict to, const float *restrict from, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) to[i] = from[i] * by;
}

/* The variable is locked and has the product's shape. */
static weft_err descend(kernel *k, gemm *g, float alpha) {
  weft_tensor *var = NULL, scaled = {0};
  WEFT_TRY(weft__variable_writable(k->ref[0], &var));
  const bool left = g->m <= g->n;
  const weft_tensor *from = k->in[left ? 2 : 3];
  WEFT_TRY(weft__scratch(k, &scaled, WEFT_FLOAT, &from->shape));
  scale(TENSOR_DATA(&scaled, float), TENSOR_DATA(from, float), weft__tensor_count(from), -alpha);
  *(left ? &g->a : &g->b) = scaled.data;
  g->c = var->data;
  g->accumulate = true;
  weft__gemm(k, g);
  weft__tensor_clear(&scaled);
  return WEFT_OK;
}

/* The product, then the update, as they were before. */
static weft_err one_after_the_other(kernel *k, const descent *d, gemm *g) {
  weft_tensor product = {0};
  const shape s = SHAPE2(g->m, g->n);
  WEFT_TRY(weft__scratch(k, &product, WEFT_FLOAT, &s));
  g->c = product.data;
  if (weft__tensor_count(&product)) weft__gemm(k, g);
  const weft_tensor *in[] = {k->in[0], k->in[1], &product};
  kernel last = *k;
  last.op = d->apply, last.state = d->apply_state, last.in = in, last.n_in = 3;
  const weft_err err = d->apply->cpu(&last);
  weft__tensor_clear(&product);
  return err;
}

static weft_err descent_cpu(kernel *k) {
  const descent *d = k->state;
  gemm g = {.type = WEFT_FLOAT};
  kernel first = *k;
  first.node = d->node, first.op = d->op, first.state = d->state, first.in = k->in + 2, first.n_in = 2;
  WEFT_TRY(weft__matmul_sizes(&first, &g));
  g.a = k->in[2]->data, g.b = k->in[3]->data;
  const shape s = SHAPE2(g.m, g.n);
  variable *v = k->ref[0];
  weft_err err = WEFT_OK;
  weft__variable_lock(1, k->ref);
  const bool plain = v->value.buf && weft__shape_equal(&v->value.shape, &s) && weft__tensor_count(&v->value) > 0 &&
                     g.k > 0 && g.k <= MOST_ROWS && k->in[1]->shape.rank == 0;
  if (plain) err = descend(k, &g, TENSOR_DATA(k->in[1], float)[0]);
  weft__variable_unlock(1, k->ref);
  if (!plain) return one_after_the_other(k, d, &g);
  if (!err && k->n_out) weft__out_ref(k, 0, v);
  return err;
}

static void descent_unprepare(void *state) {
  descent *d = state;
  if (d->op->unprepare) d->op->unprepare(d->state);
  if (d->apply->unprepare) d->apply->unprepare(d->apply_state);
  weft__free(d);
}

static const op descent_op = {.def = "_MatMulDescent", .cpu = descent_cpu, .unprepare = descent_unprepare};

weft_err weft__fuse_matmul_descent(plan *p, plan_item *root, plan_item *product) {
  descent *d = weft__alloc(sizeof *d);
  plan_input *in = weft__arena_alloc(&p->arena, sizeof *in * 4);
  if (!d || !in) {
    weft__free(d);
    return WEFT_OOM;
  }
  *d = (descent){product->node, product->op, product->state, root->op, root->state};
  in[0] = root->in[0], in[1] = root->in[1], in[2] = product->in[0], in[3] = product->in[1];
  root->op = &descent_op, root->run = descent_cpu, root->state = d, root->in = in, root->n_in = 4;
  return WEFT_OK;
}
