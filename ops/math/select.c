/* select.c - chooses between elements: Select, SelectV2 and ClipByValue.
 *
 * The condition of Select is a scalar, a vector along the first dimension, or has the shape of the values.  The
 * condition of SelectV2 broadcasts with them.  Elements are copied by their size, regardless of the type. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/math/choose.h"

/* Uses bit masks, because gcc does not vectorize a choice between wide elements by bytes. */
#define DEFINE_CHOOSE(name, T)                                                                                         \
  WEFT_TARGET_CLONES static void name(void *zs, const void *const *in, int64_t n, const void *arg) {                   \
    const uint8_t *c = in[0];                                                                                          \
    const T *x = in[1], *y = in[2];                                                                                    \
    T *z = zs;                                                                                                         \
    (void)arg;                                                                                                         \
    WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                       \
      const T mask = (T)(0 - (T)c[i]);                                                                                 \
      z[i] = (T)((x[i] & mask) | (y[i] & (T)~mask));                                                                   \
    }                                                                                                                  \
  }
DEFINE_CHOOSE(choose_8, uint8_t)
DEFINE_CHOOSE(choose_16, uint16_t)
DEFINE_CHOOSE(choose_32, uint32_t)
DEFINE_CHOOSE(choose_64, uint64_t)

static void choose_128(void *zs, const void *const *in, int64_t n, const void *arg) {
  const bool *c = in[0];
  const double complex *x = in[1], *y = in[2];
  double complex *z = zs;
  (void)arg;
  for (int64_t i = 0; i < n; i++) z[i] = c[i] ? x[i] : y[i];
}

static const elem_op choose_op = {COST_CHEAP, {[WEFT_FLOAT] = choose_32, [WEFT_DOUBLE] = choose_64}};

static elem_loop *loop_for(weft_dtype t) {
  switch (weft__dtype_size(t)) {
  case 1: return choose_8;
  case 2: return choose_16;
  case 4: return choose_32;
  case 8: return choose_64;
  default: return choose_128;
  }
}

/* Chooses strings and objects one by one. */
static weft_err choose_each(kernel *k, const weft_tensor *cond, const shape *s) {
  const weft_dtype type = k->in[1]->dtype;
  const size_t size = weft__dtype_size(type);
  weft_tensor *z = weft__out(k, 0, s);
  if (!z) return WEFT_OOM;
  const int64_t n = weft__tensor_count(z);
  for (int64_t i = 0; i < n; i++) {
    const bool c = TENSOR_DATA(cond, bool)[weft__elementwise_index(s, &cond->shape, i)];
    const weft_tensor *from = k->in[c ? 1 : 2];
    const int64_t at = weft__elementwise_index(s, &from->shape, i);
    WEFT_TRY(
        weft__elements_copy(type, (char *)z->data + (size_t)i * size, (const char *)from->data + (size_t)at * size, 1));
  }
  return WEFT_OK;
}

static weft_err select_choose(kernel *k, const weft_tensor *cond, const shape *s) {
  if (cond->shape.rank == 0) {
    const int from = *TENSOR_DATA(cond, bool) ? 1 : 2;
    if (weft__shape_equal(&k->in[from]->shape, s)) return weft__forward(k, 0, from, s);
  }
  if (!weft__dtype_is_plain(k->in[1]->dtype)) return choose_each(k, cond, s);
  weft_tensor *z = weft__elementwise_out(k, s);
  if (!z) return WEFT_OOM;
  const weft_tensor *in[] = {cond, k->in[1], k->in[2]};
  weft__elementwise_run(k, loop_for(z->dtype), COST_CHEAP, NULL, false, 3, in, z);
  return WEFT_OK;
}

/* ---- Select ---- */
static weft_err select_differ(const kernel *k, int i, int j) {
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "Inputs to operation %s of type %s must have the same size and shape.  Input %d: %s != input %d: %s",
      k->node->name, k->node->op_name, i, weft__shape_text(&k->in[i]->shape), j, weft__shape_text(&k->in[j]->shape));
}

static weft_err select_cpu(kernel *k) {
  const shape *c = &k->in[0]->shape, *t = &k->in[1]->shape, *e = &k->in[2]->shape;
  if (c->rank == 0 || c->rank == 1 || weft__shape_equal(c, t)) {
    if (!weft__shape_equal(t, e)) return weft__shape_equal(c, t) ? select_differ(k, 0, 2) : select_differ(k, 1, 2);
  } else {
    return select_differ(k, 0, 1);
  }
  if (c->rank == 0 || weft__shape_equal(c, t)) return select_choose(k, k->in[0], t);
  if (t->rank < 1 || t->dim[0] != c->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Number of batches of 'then' must match size of 'cond', but saw: %lld vs. %lld",
                             (long long)(t->rank < 1 ? 0 : t->dim[0]), (long long)c->dim[0]);
  weft_tensor column = *k->in[0]; /* a view of the vector that broadcasts along the first dimension */
  for (column.shape.rank = 1; column.shape.rank < t->rank; column.shape.rank++) column.shape.dim[column.shape.rank] = 1;
  return select_choose(k, &column, t);
}

static weft_err select_infer(infer *s) {
  shape both;
  if (weft__shape_merge(&both, &s->in[1], &s->in[2])) return weft__infer_fail(s, "%s", weft__error_message());
  s->out[0] = both;
  const shape *c = &s->in[0];
  if (c->rank <= 0 || both.rank < 0) return WEFT_OK;
  if (c->rank == 1 && both.rank >= 1) {
    shape rows = SHAPE1(both.dim[0]);
    if (weft__shape_merge(&rows, c, &rows)) return weft__infer_fail(s, "%s", weft__error_message());
    return WEFT_OK;
  }
  if (weft__shape_merge(&s->out[0], c, &both)) return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

static weft_err select_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out c = b->in[0], zeros = weft__b_zeros_like(g, b->in[1]);
  b->din[1] = GRAD_DENSE(weft__b_select(g, c, b->dout[0], zeros));
  b->din[2] = GRAD_DENSE(weft__b_select(g, c, zeros, b->dout[0]));
  return WEFT_OK;
}

/* ---- SelectV2 ---- */
static weft_err select_v2_cpu(kernel *k) {
  shape values, s;
  if (weft__shape_broadcast(&values, &k->in[1]->shape, &k->in[2]->shape) ||
      weft__shape_broadcast(&s, &k->in[0]->shape, &values))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "condition %s, then %s, and else %s must be broadcastable",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape),
                             weft__shape_text(&k->in[2]->shape));
  return select_choose(k, k->in[0], &s);
}

static weft_err select_v2_infer(infer *s) {
  shape values;
  if (weft__shape_broadcast(&values, &s->in[1], &s->in[2]) || weft__shape_broadcast(&s->out[0], &s->in[0], &values))
    return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

static weft_err select_v2_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out c = b->in[0], dz = b->dout[0], zero = weft__b_scalar_like(g, dz, 0);
  weft_out dt = weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){c, dz, zero}, 0, NULL);
  weft_out de = weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){c, zero, dz}, 0, NULL);
  weft__b_unbroadcast(g, b->in[1], b->out[0], &dt, NULL);
  weft__b_unbroadcast(g, b->in[2], b->out[0], &de, NULL);
  b->din[1] = GRAD_DENSE(dt);
  b->din[2] = GRAD_DENSE(de);
  return WEFT_OK;
}

/* ---- ClipByValue: max(min(t, high), low) ---- */
#define CLIP_LOOP(name, suffix, T_, A_, expr)                                                                          \
  WEFT_TARGET_CLONES LOOP_HEAD(name, suffix, T_, T_, A_) const T *lows = in[1], *highs = in[2];                        \
  WEFT_IVDEP for (int64_t i = 0; i < n; i++) {                                                                         \
    const T x = xs[i], low = lows[i], high = highs[i];                                                                 \
    const T capped = x > high ? high : x;                                                                              \
    z[i] = capped < low ? low : capped;                                                                                \
  }                                                                                                                    \
  }
EACH_REAL(CLIP_LOOP, clip, )

/* Complex numbers: clips real and imaginary part separately, as TensorFlow does. */
#define DEFINE_CLIP_PARTS(name, T)                                                                                     \
  static void name(void *zs, const void *const *in, int64_t n, const void *arg) { clip_##T(zs, in, 2 * n, arg); }
DEFINE_CLIP_PARTS(clip_c64, f32)
DEFINE_CLIP_PARTS(clip_c128, f64)

static const elem_op clip_op = {COST_CHEAP, {ROWS_REAL(clip), ROWS_COMPLEX(clip)}};

static weft_err clip_cpu(kernel *k) {
  const shape *t = &k->in[0]->shape, *low = &k->in[1]->shape, *high = &k->in[2]->shape;
  if ((low->rank != 0 && !weft__shape_equal(low, t)) || (high->rank != 0 && !weft__shape_equal(high, t)))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "clip_value_min and clip_value_max must be either of the same shape as input, or a "
                             "scalar. input shape: %sclip_value_min shape: %sclip_value_max shape: %s",
                             weft__shape_text(t), weft__shape_text(low), weft__shape_text(high));
  return weft__elementwise(k, &clip_op, NULL);
}

/* The gradient passes where nothing was clipped; a bound gets the gradients of the elements clipped to it. */
static weft_err clip_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out t = b->in[0], low = b->in[1], high = b->in[2], dz = b->dout[0], zeros = weft__b_zeros_like(g, dz);
  const weft_out below = weft__b_binary(g, "Less", t, low), above = weft__b_binary(g, "Greater", t, high);
  weft_out dlow = gradient_choose(g, below, dz, zeros), dhigh = gradient_choose(g, above, dz, zeros);
  weft__b_unbroadcast(g, low, t, &dlow, NULL);
  weft__b_unbroadcast(g, high, t, &dhigh, NULL);
  b->din[0] = GRAD_DENSE(gradient_choose(g, weft__b_binary(g, "LogicalOr", below, above), zeros, dz));
  b->din[1] = GRAD_DENSE(dlow);
  b->din[2] = GRAD_DENSE(dhigh);
  return WEFT_OK;
}

/* ---- cases ---- */
static const op_case select_cases[] = {
    {"bool[3] true false true; f32[3] 1 2 3; f32[3] 4 5 6", "f32[3] 1 5 3"},
    {"bool[2] true false; f32[2,3] rand; f32[2,3] rand"},
    {"bool[] false; f32[2,3] rand; f32[2,3] rand"},
    {"bool[] true; f32[] 1; f32[] 2", "f32[] 1"},
    {"bool[0]; f32[0,3]; f32[0,3]", "f32[0,3]"},
    {"bool[2] true false; str[2] \"a\" \"b\"; str[2] \"c\" \"d\"", "str[2] \"a\" \"d\"", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"bool[3] true; f32[2,3] 1; f32[2,3] 2", "error INVALID_ARGUMENT"},
    {"bool[2,3] true; f32[2,3] 1; f32[3,2] 2", "error INVALID_ARGUMENT"},
    {"bool[2,1] true; f32[2,3] 1; f32[2,3] 2", "error INVALID_ARGUMENT"},
    {"bool[64,65] rand; f32[64,65] rand; f32[64,65] rand"},
    {0},
};

static const op_case select_v2_cases[] = {
    {"bool[3] true false true; f32[3] 1 2 3; f32[3] 4 5 6", "f32[3] 1 5 3"},
    {"bool[2,1] true false; f32[3] rand; f32[2,3] rand"},
    {"bool[3] true false true; f32[2,3] rand; f32[] 5"},
    {"bool[] false; f32[2,3] rand; f32[] 7"},
    {"bool[] true; f32[] 1; f32[] 2", "f32[] 1"},
    {"bool[0]; f32[0]; f32[] 1", "f32[0]"},
    {"bool[2] true false; str[] \"a\"; str[2] \"c\" \"d\"", "str[2] \"a\" \"d\"", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"bool[2,4] true; f32[2,3] 1; f32[2,3] 2", "error INVALID_ARGUMENT"},
    {"bool[64,1] rand; f32[65] rand; f32[64,65] rand"},
    {0},
};

static const op_case clip_cases[] = {
    {"f32[5] -2 0.5 1 3 nan; f32[] 0; f32[] 2", "f32[5] 0 0.5 1 2 nan", NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[4] -2 0.5 1.5 3; f32[] 0; f32[] 2", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[4] -2 0.5 1.5 3; f32[4] 0 1 0 1; f32[] 2", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[] 5; i32[] 0; i32[] 2", "i32[] 2"},
    {"f32[0]; f32[] 0; f32[] 2", "f32[0]"},
    {"f32[64,65] rand; f32[] -0.25; f32[] 0.25", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2] 1 2; f32[1] 0; f32[] 2", "error INVALID_ARGUMENT"},
    {0},
};

static const fusion by_row = {.first_by_row = true};

OPS(select) = {
    {"Select(condition:bool, t:T, e:T) -> (output:T) | T:type", "t where the condition holds, e elsewhere.",
     .infer = select_infer, .cpu = select_cpu, .grad = select_grad, .cases = select_cases, .amp = AMP_CLEAR,
     .elem = &choose_op, .fusion = &by_row},
    {"SelectV2(condition:bool, t:T, e:T) -> (output:T) | T:type",
     "t where the condition holds, e elsewhere; all three broadcast.", .infer = select_v2_infer, .cpu = select_v2_cpu,
     .grad = select_v2_grad, .cases = select_v2_cases, .amp = AMP_CLEAR, .elem = &choose_op},
    {"ClipByValue(t:T, clip_value_min:T, clip_value_max:T) -> (output:T) | T:type{number}",
     "t, no less than the one bound and no more than the other.", OP_INPLACE, weft__infer_same, clip_cpu,
     .grad = clip_grad, .cases = clip_cases, .amp = AMP_CLEAR},
    {0},
};
