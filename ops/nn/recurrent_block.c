/* recurrent_block.c - LSTM and GRU cells as one op each, and LSTMs over all time steps, with their gradients.
 *
 * The gates of a step are one matrix product for the input and one for the previous output.  Half is computed in
 * float.  Time steps from seq_len_max on are zero. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/gemm/gemm.h"
#include "kernels/simd/widen.h"
#include <math.h>
#include <string.h>

enum { MOST = 20 };

/* The tensors of a call, as floats. */
typedef struct views {
  widened in[MOST], out[MOST];
  int n_in, n_out;
} views;

static void views_finish(views *v) {
  for (int i = 0; i < v->n_in; i++) weft__widened_finish(&v->in[i]);
  for (int i = 0; i < v->n_out; i++) weft__widened_finish(&v->out[i]);
}

/* Opens the inputs from `first` on, and outputs of the given shapes.  The caller finishes the views even after an
 * error. */
static weft_err views_open(kernel *k, views *v, int first, const shape *out) {
  memset(v, 0, sizeof *v);
  for (int i = first; i < k->n_in; i++) {
    v->n_in = i + 1;
    WEFT_TRY(weft__widened_load(&v->in[i], k->in[i]));
  }
  for (int i = 0; i < k->n_out; i++) {
    weft_tensor *t = weft__out(k, i, &out[i]);
    if (!t) return WEFT_OOM;
    v->n_out = i + 1;
    WEFT_TRY(weft__widened_output(&v->out[i], t));
    memset(v->out[i].data, 0, (size_t)weft__tensor_count(t) * sizeof(float));
  }
  return WEFT_OK;
}

static void views_store(kernel *k, views *v) {
  for (int i = 0; i < v->n_out; i++) weft__widened_store(&v->out[i], &k->out[i].t);
}

static float recurrent_sigmoid(float x) { return 1 / (1 + expf(-x)); }

/* A matrix in memory whose rows are `row` elements apart. `transposed`: the stored matrix is the transpose. */
typedef struct matrix {
  const float *data;
  int64_t row;
  bool transposed;
} matrix;

typedef struct product_size {
  int64_t m, n, depth;
} product_size;

/* Computes c (m, n) = a (m, depth) b (depth, n), or c += that. */
static void recurrent_block_product(const kernel *k, product_size of, matrix a, matrix b, float *c, int64_t c_row,
                                    bool add) {
  const gemm g = {.type = WEFT_FLOAT,
                  .m = of.m,
                  .n = of.n,
                  .k = of.depth,
                  .a = a.data,
                  .b = b.data,
                  .c = c,
                  .lda = a.row,
                  .ldb = b.row,
                  .ldc = c_row,
                  .ta = a.transposed,
                  .tb = b.transposed,
                  .accumulate = add};
  if (of.m > 0 && of.n > 0 && of.depth > 0) weft__gemm(k, &g);
}

/* ---- LSTM: one step ---- */

typedef struct lstm {
  int64_t batch, inputs, units;
  int at[4]; /* positions of the gates i, ci, f, o in a row of gates */
  float forget_bias, clip;
  bool peephole;
  const float *w, *wci, *wcf, *wco, *b;
} lstm;

typedef struct lstm_step { /* each (batch, units) */
  float *i, *cs, *f, *o, *ci, *co, *h;
} lstm_step;

/* gates is scratch memory of (batch, 4 units). */
static void lstm_forward(const kernel *k, const lstm *l, const float *x, const float *c, const float *h, float *gates,
                         const lstm_step *s) {
  const int64_t n = l->units, row = 4 * n;
  for (int64_t r = 0; r < l->batch; r++) memcpy(gates + r * row, l->b, (size_t)row * sizeof *gates);
  recurrent_block_product(k, (product_size){l->batch, row, l->inputs}, (matrix){x, l->inputs}, (matrix){l->w, row},
                          gates, row, true);
  recurrent_block_product(k, (product_size){l->batch, row, n}, (matrix){h, n}, (matrix){l->w + l->inputs * row, row},
                          gates, row, true);
  for (int64_t r = 0; r < l->batch; r++)
    for (int64_t u = 0; u < n; u++) {
      const int64_t e = r * n + u;
      const float *g = gates + r * row + u;
      const float peep_i = l->peephole ? c[e] * l->wci[u] : 0, peep_f = l->peephole ? c[e] * l->wcf[u] : 0;
      s->i[e] = recurrent_sigmoid(g[l->at[0] * n] + peep_i);
      s->ci[e] = tanhf(g[l->at[1] * n]);
      s->f[e] = recurrent_sigmoid(g[l->at[2] * n] + l->forget_bias + peep_f);
      float cell = s->ci[e] * s->i[e] + s->f[e] * c[e];
      if (l->clip > 0) cell = cell > l->clip ? l->clip : cell < -l->clip ? -l->clip : cell;
      s->cs[e] = cell;
      s->o[e] = recurrent_sigmoid(g[l->at[3] * n] + (l->peephole ? cell * l->wco[u] : 0));
      s->co[e] = tanhf(cell);
      s->h[e] = s->co[e] * s->o[e];
    }
}

typedef struct lstm_back {
  const float *cs_grad, *h_grad;           /* output gradients of this step */
  const float *cs_grad_next, *h_grad_next; /* from the next step; NULL: none */
  float *cs_prev_grad, *gates;             /* (batch, units), (batch, 4 units) */
  float *wci_grad, *wcf_grad, *wco_grad;   /* (units); accumulated */
} lstm_back;

static void lstm_backward(const lstm *l, const float *c, const lstm_step *s, const lstm_back *b) {
  const int64_t n = l->units;
  for (int64_t r = 0; r < l->batch; r++)
    for (int64_t u = 0; u < n; u++) {
      const int64_t e = r * n + u;
      const float dh = b->h_grad[e] + (b->h_grad_next ? b->h_grad_next[e] : 0);
      const float dc = b->cs_grad[e] + (b->cs_grad_next ? b->cs_grad_next[e] : 0);
      const float d_o = s->o[e] * (1 - s->o[e]) * dh * s->co[e];
      const float dcs = (1 - s->co[e] * s->co[e]) * dh * s->o[e] + dc + (l->peephole ? d_o * l->wco[u] : 0);
      const float dci = (1 - s->ci[e] * s->ci[e]) * dcs * s->i[e], df = s->f[e] * (1 - s->f[e]) * dcs * c[e];
      const float di = s->i[e] * (1 - s->i[e]) * dcs * s->ci[e];
      float *g = b->gates + r * 4 * n + u;
      g[l->at[0] * n] = di, g[l->at[1] * n] = dci, g[l->at[2] * n] = df, g[l->at[3] * n] = d_o;
      b->cs_prev_grad[e] = dcs * s->f[e] + (l->peephole ? di * l->wci[u] + df * l->wcf[u] : 0);
      if (!l->peephole) continue;
      b->wci_grad[u] += di * c[e], b->wcf_grad[u] += df * c[e], b->wco_grad[u] += d_o * s->cs[e];
    }
}

/* ---- LSTM: reading the node ---- */

static weft_err block_expect(const kernel *k, int i, const shape *want) {
  if (weft__shape_equal(&k->in[i]->shape, want)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must have the shape %s, not %s", k->op->opdef.in[i].name,
                           weft__shape_text(want), weft__shape_text(&k->in[i]->shape));
}

/* x is input `at`, followed by cs_prev, h_prev, w, wci, wcf, wco and b. `steps` is the time dimension of x, or -1 if
 * it has none. */
static weft_err lstm_read(const kernel *k, int at, int64_t steps, lstm *l) {
  const shape *x = &k->in[at]->shape, *c = &k->in[at + 1]->shape;
  const int rank = steps < 0 ? 2 : 3;
  if (x->rank != rank || c->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x must have rank %d and cs_prev rank 2, not %s and %s", rank,
                             weft__shape_text(x), weft__shape_text(c));
  const bool second = strstr(k->node->op_name, "V2") != NULL;
  *l = (lstm){.batch = x->dim[rank - 2], .inputs = x->dim[rank - 1], .units = c->dim[1]};
  const int order[2][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}};
  memcpy(l->at, order[second], sizeof l->at);
  l->forget_bias = second ? 0 : weft__node_float(k->node, "forget_bias", 1);
  l->clip = weft__node_float(k->node, "cell_clip", second ? 0 : 3);
  l->peephole = weft__node_bool(k->node, "use_peephole", false);
  WEFT_TRY(block_expect(k, at + 1, &SHAPE2(l->batch, l->units)));
  WEFT_TRY(block_expect(k, at + 2, &SHAPE2(l->batch, l->units)));
  WEFT_TRY(block_expect(k, at + 3, &SHAPE2(l->inputs + l->units, 4 * l->units)));
  for (int i = 4; i < 7 && l->peephole; i++) WEFT_TRY(block_expect(k, at + i, &SHAPE1(l->units)));
  return block_expect(k, at + 7, &SHAPE1(4 * l->units));
}

static void lstm_weights(lstm *l, const views *v, int at) {
  l->w = v->in[at].data, l->wci = v->in[at + 1].data, l->wcf = v->in[at + 2].data, l->wco = v->in[at + 3].data;
  l->b = v->in[at + 4].data;
}

/* Returns step t of tensors with the layout (time, batch, units). */
static lstm_step lstm_at(const lstm *l, float *const *all, int64_t t) {
  const int64_t o = t * l->batch * l->units;
  return (lstm_step){all[0] + o, all[1] + o, all[2] + o, all[3] + o, all[4] + o, all[5] + o, all[6] + o};
}

/* ---- LSTM: kernels ---- */

static weft_err lstm_cell_cpu(kernel *k) {
  lstm l;
  views v;
  WEFT_TRY(lstm_read(k, 0, -1, &l));
  shape s[7];
  for (int i = 0; i < 7; i++) s[i] = SHAPE2(l.batch, l.units);
  float *gates = weft__alloc((size_t)(l.batch * l.units * 4) * sizeof *gates + 1);
  weft_err err = views_open(k, &v, 0, s);
  if (!gates) err = WEFT_OOM;
  if (!err) {
    float *all[7];
    for (int i = 0; i < 7; i++) all[i] = v.out[i].data;
    lstm_weights(&l, &v, 3);
    const lstm_step step0 = lstm_at(&l, all, 0);
    lstm_forward(k, &l, v.in[0].data, v.in[1].data, v.in[2].data, gates, &step0);
    views_store(k, &v);
  }
  views_finish(&v);
  weft__free(gates);
  return err;
}

/* Inputs: x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad. */
static weft_err lstm_cell_grad_cpu(kernel *k) {
  lstm l;
  views v;
  WEFT_TRY(lstm_read(k, 0, -1, &l));
  const shape step0 = SHAPE2(l.batch, l.units), row = SHAPE1(l.units);
  for (int i = 8; i < 16; i++) WEFT_TRY(block_expect(k, i, &step0));
  const shape s[5] = {step0, SHAPE2(l.batch, 4 * l.units), row, row, row};
  weft_err err = views_open(k, &v, 0, s);
  if (!err) {
    lstm_weights(&l, &v, 3);
    const lstm_step f = {v.in[8].data, v.in[9].data, v.in[10].data, v.in[11].data, v.in[12].data, v.in[13].data, NULL};
    const lstm_back b = {v.in[14].data, v.in[15].data, NULL,          NULL,         v.out[0].data,
                         v.out[1].data, v.out[2].data, v.out[3].data, v.out[4].data};
    lstm_backward(&l, v.in[1].data, &f, &b);
    views_store(k, &v);
  }
  views_finish(&v);
  return err;
}

/* Reads the number of time steps, and how many of them are used. */
static weft_err lstm_time(const kernel *k, int64_t *steps, int64_t *used) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "seq_len_max"));
  if (k->in[1]->shape.rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x must be 3D, but is %s", weft__shape_text(&k->in[1]->shape));
  *steps = k->in[1]->shape.dim[0];
  *used = weft__tensor_int(k->in[0], 0);
  if (*used >= 0 && *used <= *steps) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_len_max is %lld, but x has %lld steps", (long long)*used,
                           (long long)*steps);
}

static weft_err lstm_block_cpu(kernel *k) {
  lstm l;
  views v;
  int64_t steps, used;
  WEFT_TRY(lstm_time(k, &steps, &used));
  WEFT_TRY(lstm_read(k, 1, steps, &l));
  shape s[7];
  for (int i = 0; i < 7; i++) s[i] = SHAPE3(steps, l.batch, l.units);
  float *gates = weft__alloc((size_t)(l.batch * l.units * 4) * sizeof *gates + 1);
  weft_err err = views_open(k, &v, 1, s);
  if (!gates) err = WEFT_OOM;
  if (!err) {
    float *all[7];
    for (int i = 0; i < 7; i++) all[i] = v.out[i].data;
    lstm_weights(&l, &v, 4);
    const float *c = v.in[2].data, *h = v.in[3].data;
    for (int64_t t = 0; t < used; t++) {
      const lstm_step now = lstm_at(&l, all, t);
      lstm_forward(k, &l, v.in[1].data + t * l.batch * l.inputs, c, h, gates, &now);
      c = now.cs, h = now.h;
    }
    views_store(k, &v);
  }
  views_finish(&v);
  weft__free(gates);
  return err;
}

/* Goes backwards from the last step.  The outputs are the gradients of x, cs_prev, h_prev, w, wci, wcf, wco, b.
 * scratch is (batch, 6 units). */
static void lstm_block_back(const kernel *k, const lstm *l, views *v, int64_t used, float *scratch) {
  const int64_t n = l->units, size = l->batch * n, row = 4 * n;
  float *all[7], *gates = scratch, *cs_next = gates + size * 4, *h_next = cs_next + size;
  for (int i = 0; i < 7; i++) all[i] = v->in[9 + i].data;
  for (int64_t t = used - 1; t >= 0; t--) {
    const lstm_step now = lstm_at(l, all, t);
    const float *c = t ? all[1] + (t - 1) * size : v->in[2].data, *h = t ? all[6] + (t - 1) * size : v->in[3].data;
    const bool last = t == used - 1;
    const lstm_back b = {v->in[16].data + t * size,
                         v->in[17].data + t * size,
                         last ? NULL : cs_next,
                         last ? NULL : h_next,
                         cs_next,
                         gates,
                         v->out[4].data,
                         v->out[5].data,
                         v->out[6].data};
    lstm_backward(l, c, &now, &b);
    const float *x = v->in[1].data + t * l->batch * l->inputs;
    float *dw = v->out[3].data;
    recurrent_block_product(k, (product_size){l->batch, l->inputs, row}, (matrix){gates, row},
                            (matrix){l->w, row, true}, v->out[0].data + t * l->batch * l->inputs, l->inputs, false);
    recurrent_block_product(k, (product_size){l->batch, n, row}, (matrix){gates, row},
                            (matrix){l->w + l->inputs * row, row, true}, h_next, n, false);
    recurrent_block_product(k, (product_size){l->inputs, row, l->batch}, (matrix){x, l->inputs, true},
                            (matrix){gates, row}, dw, row, true);
    recurrent_block_product(k, (product_size){n, row, l->batch}, (matrix){h, n, true}, (matrix){gates, row},
                            dw + l->inputs * row, row, true);
    for (int64_t r = 0; r < l->batch; r++)
      for (int64_t g = 0; g < row; g++) v->out[7].data[g] += gates[r * row + g];
  }
  if (used == 0) return;
  memcpy(v->out[1].data, cs_next, (size_t)size * sizeof(float));
  memcpy(v->out[2].data, h_next, (size_t)size * sizeof(float));
}

static weft_err lstm_block_grad_cpu(kernel *k) {
  lstm l;
  views v;
  int64_t steps, used;
  WEFT_TRY(lstm_time(k, &steps, &used));
  WEFT_TRY(lstm_read(k, 1, steps, &l));
  for (int i = 9; i < 18; i++) WEFT_TRY(block_expect(k, i, &SHAPE3(steps, l.batch, l.units)));
  const shape units = SHAPE1(l.units), step0 = SHAPE2(l.batch, l.units);
  const shape s[8] = {k->in[1]->shape, step0, step0, k->in[4]->shape, units, units, units, SHAPE1(4 * l.units)};
  float *scratch = weft__alloc((size_t)(l.batch * l.units * 6) * sizeof *scratch + 1);
  weft_err err = views_open(k, &v, 1, s);
  if (!scratch) err = WEFT_OOM;
  if (!err) {
    lstm_weights(&l, &v, 4);
    lstm_block_back(k, &l, &v, used, scratch);
    views_store(k, &v);
  }
  views_finish(&v);
  weft__free(scratch);
  return err;
}

/* ---- GRU ---- */

typedef struct gru {
  int64_t batch, inputs, units;
} gru;

/* Inputs: x, h_prev, w_ru, w_c, b_ru, b_c. */
static weft_err gru_read(const kernel *k, gru *g) {
  const shape *x = &k->in[0]->shape, *h = &k->in[1]->shape;
  if (x->rank != 2 || h->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "x and h_prev must have rank 2, not %s and %s",
                             weft__shape_text(x), weft__shape_text(h));
  *g = (gru){x->dim[0], x->dim[1], h->dim[1]};
  WEFT_TRY(block_expect(k, 1, &SHAPE2(g->batch, g->units)));
  WEFT_TRY(block_expect(k, 2, &SHAPE2(g->inputs + g->units, 2 * g->units)));
  WEFT_TRY(block_expect(k, 3, &SHAPE2(g->inputs + g->units, g->units)));
  WEFT_TRY(block_expect(k, 4, &SHAPE1(2 * g->units)));
  return block_expect(k, 5, &SHAPE1(g->units));
}

/* Computes out (batch, n) = [x, h] w + bias. */
static void gru_gates(const kernel *k, const gru *g, const float *x, const float *h, const float *w, const float *bias,
                      int64_t n, float *out) {
  for (int64_t r = 0; r < g->batch; r++) memcpy(out + r * n, bias, (size_t)n * sizeof *out);
  recurrent_block_product(k, (product_size){g->batch, n, g->inputs}, (matrix){x, g->inputs}, (matrix){w, n}, out, n,
                          true);
  recurrent_block_product(k, (product_size){g->batch, n, g->units}, (matrix){h, g->units},
                          (matrix){w + g->inputs * n, n}, out, n, true);
}

/* scratch is (batch, 3 units). */
static void gru_forward(const kernel *k, const gru *g, views *v, float *scratch) {
  const float *x = v->in[0].data, *h = v->in[1].data;
  float *r = v->out[0].data, *u = v->out[1].data, *c = v->out[2].data, *y = v->out[3].data;
  const int64_t n = g->units, size = g->batch * n;
  float *gates = scratch, *reset = scratch + 2 * size;
  gru_gates(k, g, x, h, v->in[2].data, v->in[4].data, 2 * n, gates);
  for (int64_t e = 0; e < size; e++) {
    r[e] = recurrent_sigmoid(gates[e / n * 2 * n + e % n]);
    u[e] = recurrent_sigmoid(gates[e / n * 2 * n + n + e % n]);
    reset[e] = h[e] * r[e];
  }
  gru_gates(k, g, x, reset, v->in[3].data, v->in[5].data, n, c);
  for (int64_t e = 0; e < size; e++) {
    c[e] = tanhf(c[e]);
    y[e] = u[e] * h[e] + (1 - u[e]) * c[e];
  }
}

static weft_err gru_cpu(kernel *k) {
  gru g;
  views v;
  WEFT_TRY(gru_read(k, &g));
  shape s[4];
  for (int i = 0; i < 4; i++) s[i] = SHAPE2(g.batch, g.units);
  float *scratch = weft__alloc((size_t)(g.batch * g.units * 3) * sizeof *scratch + 1);
  weft_err err = views_open(k, &v, 0, s);
  if (!scratch) err = WEFT_OOM;
  if (!err) {
    gru_forward(k, &g, &v, scratch);
    views_store(k, &v);
  }
  views_finish(&v);
  weft__free(scratch);
  return err;
}

/* Inputs: those of the cell, then r, u, c, d_h.  Outputs: d_x, d_h_prev, d_c_bar, d_r_bar_u_bar. scratch is (batch,
 * units). */
static void gru_backward(const kernel *k, const gru *g, views *v, float *scratch) {
  const float *h = v->in[1].data, *w_ru = v->in[2].data, *w_c = v->in[3].data, *r = v->in[6].data, *u = v->in[7].data;
  const float *c = v->in[8].data, *dh = v->in[9].data;
  float *dx = v->out[0].data, *dh_prev = v->out[1].data, *dc_bar = v->out[2].data, *dru = v->out[3].data;
  const int64_t n = g->units, size = g->batch * n, m = g->inputs;
  for (int64_t e = 0; e < size; e++) {
    dc_bar[e] = dh[e] * (1 - u[e]) * (1 - c[e] * c[e]);
    dru[e / n * 2 * n + n + e % n] = dh[e] * (h[e] - c[e]) * u[e] * (1 - u[e]);
  }
  recurrent_block_product(k, (product_size){g->batch, m, n}, (matrix){dc_bar, n}, (matrix){w_c, n, true}, dx, m, false);
  recurrent_block_product(k, (product_size){g->batch, n, n}, (matrix){dc_bar, n}, (matrix){w_c + m * n, n, true},
                          scratch, n, false);
  for (int64_t e = 0; e < size; e++) {
    dru[e / n * 2 * n + e % n] = scratch[e] * h[e] * r[e] * (1 - r[e]);
    dh_prev[e] = dh[e] * u[e] + scratch[e] * r[e];
  }
  recurrent_block_product(k, (product_size){g->batch, m, 2 * n}, (matrix){dru, 2 * n}, (matrix){w_ru, 2 * n, true}, dx,
                          m, true);
  recurrent_block_product(k, (product_size){g->batch, n, 2 * n}, (matrix){dru, 2 * n},
                          (matrix){w_ru + m * 2 * n, 2 * n, true}, dh_prev, n, true);
}

static weft_err gru_grad_cpu(kernel *k) {
  gru g;
  views v;
  WEFT_TRY(gru_read(k, &g));
  const shape step0 = SHAPE2(g.batch, g.units);
  for (int i = 6; i < 10; i++) WEFT_TRY(block_expect(k, i, &step0));
  const shape s[4] = {k->in[0]->shape, step0, step0, SHAPE2(g.batch, 2 * g.units)};
  float *scratch = weft__alloc((size_t)(g.batch * g.units) * sizeof *scratch + 1);
  weft_err err = views_open(k, &v, 0, s);
  if (!scratch) err = WEFT_OOM;
  if (!err) {
    gru_backward(k, &g, &v, scratch);
    views_store(k, &v);
  }
  views_finish(&v);
  weft__free(scratch);
  return err;
}

/* ---- shapes ---- */

static weft_err lstm_cell_infer(infer *s) {
  shape x, c;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &c));
  for (int i = 0; i < s->n_out; i++) s->out[i] = SHAPE2(x.dim[0], c.dim[1]);
  return WEFT_OK;
}

static weft_err lstm_cell_grad_infer(infer *s) {
  shape x, c;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &c));
  s->out[0] = SHAPE2(x.dim[0], c.dim[1]);
  s->out[1] = SHAPE2(x.dim[0], weft__shape_dim_mul(c.dim[1], 4));
  for (int i = 2; i < 5; i++) s->out[i] = SHAPE1(c.dim[1]);
  return WEFT_OK;
}

static weft_err lstm_block_infer(infer *s) {
  shape x, c;
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 2, 2, &c));
  for (int i = 0; i < s->n_out; i++) s->out[i] = SHAPE3(x.dim[0], x.dim[1], c.dim[1]);
  return WEFT_OK;
}

/* The results have the shapes of x, cs_prev, h_prev, w, wci, wcf, wco and b. */
static weft_err lstm_block_grad_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 3, NULL));
  for (int i = 0; i < 8; i++) s->out[i] = s->in[i + 1];
  if (!weft__node_bool(s->node, "use_peephole", false)) { /* the three may have any shape; their gradients are zero */
    const int64_t units = s->in[2].rank == 2 ? s->in[2].dim[1] : -1;
    for (int i = 4; i < 7; i++) s->out[i] = SHAPE1(units);
  }
  return WEFT_OK;
}

static weft_err gru_infer(infer *s) {
  shape x, h;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &h));
  for (int i = 0; i < 4; i++) s->out[i] = SHAPE2(x.dim[0], h.dim[1]);
  return WEFT_OK;
}

static weft_err gru_grad_infer(infer *s) {
  WEFT_TRY(gru_infer(s));
  s->out[3].dim[1] = weft__shape_dim_mul(s->out[1].dim[1], 2);
  s->out[0] = s->in[0];
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_err lstm_block_gradient(backprop *b, const char *type) {
  weft_out in[18];
  for (int i = 0; i < 9; i++) in[i] = b->in[i];
  for (int i = 0; i < 7; i++) in[9 + i] = b->out[i];
  in[16] = weft__backprop_dout(b, 1), in[17] = weft__backprop_dout(b, 6);
  const attr a = A_BOOL("use_peephole", weft__node_bool(b->node, "use_peephole", false));
  const weft_out made = weft__b_node(b->graph, type, NULL, 18, in, 1, &a);
  for (int i = 0; i < 8; i++) b->din[i + 1] = GRAD_DENSE(weft__b_slot(made, i));
  return weft__b_ok(b->graph);
}

static weft_err lstm_block_grad(backprop *b) { return lstm_block_gradient(b, "BlockLSTMGrad"); }
/* TensorFlow 2.15 registers the gradient of version 1 here too, although the gates have another order.  We do the
 * same, so that a graph gives TensorFlow's numbers.  BlockLSTMGradV2 is the correct gradient. */
static weft_err lstm_block_v2_grad(backprop *b) { return lstm_block_gradient(b, "BlockLSTMGrad"); }

/* ---- cases ---- */

#define LSTM_IN "f32[2,2] rand; f32[2,2] rand; f32[5,8] rand; f32[2] rand; f32[2] rand; f32[2] rand; f32[8] rand"
#define STEP0 "; f32[2,2] unit"
#define STEPS "; f32[4,2,2] unit"
#define LSTM_GRAD STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS

static const op_case lstm_cell_cases[] = {
    {"f32[1,1] 0; f32[1,1] 1; f32[1,1] 0; f32[2,4] 0; f32[1] 0; f32[1] 0; f32[1] 0; f32[4] 0", NULL, "forget_bias=0.0",
     CASE_NO_GRAD},
    {"f32[2,3] rand; " LSTM_IN, NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; " LSTM_IN, NULL, "use_peephole=true forget_bias=0.5 cell_clip=0.2", CASE_NO_GRAD},
    {"f32[2,4] rand; " LSTM_IN, "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case lstm_cell_grad_cases[] = {
    {"f32[2,3] rand; " LSTM_IN STEP0 STEP0 STEP0 STEP0 STEP0 STEP0 STEP0 STEP0, NULL, "use_peephole=true",
     CASE_NO_GRAD},
    {"f32[2,3] rand; " LSTM_IN STEP0 STEP0 STEP0 STEP0 STEP0 STEP0 STEP0 STEP0, NULL, "use_peephole=false",
     CASE_NO_GRAD | CASE_NO_PARITY}, /* TensorFlow leaves the last three outputs unset */
    {0},
};
static const op_case lstm_block_cases[] = {
    {"i64[] 4; f32[4,2,3] rand; " LSTM_IN, NULL, "use_peephole=true", CASE_NO_GRAD},
    {"i64[] 4; f32[4,2,3] rand; " LSTM_IN, NULL, "cell_clip=0.3", CASE_NO_GRAD},
    {"i64[] 2; f32[4,2,3] rand; " LSTM_IN, NULL, NULL, CASE_NO_GRAD | CASE_NO_PARITY}, /* the rest is undefined there */
    {"i64[] 5; f32[4,2,3] rand; " LSTM_IN, "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};
static const op_case lstm_block_grad_cases[] = {
    {"i64[] 4; f32[4,2,3] rand; " LSTM_IN LSTM_GRAD, NULL, "use_peephole=true", CASE_NO_GRAD},
    {"i64[] 2; f32[4,2,3] rand; " LSTM_IN LSTM_GRAD, NULL, "use_peephole=true", CASE_NO_GRAD},
    {"i64[] 0; f32[4,2,3] rand; " LSTM_IN LSTM_GRAD, NULL, "use_peephole=false", CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};
static const op_case gru_cases[] = {
    {"f32[2,3] rand; f32[2,2] rand; f32[5,4] rand; f32[5,2] rand; f32[4] rand; f32[2] rand", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] rand; f32[2,2] rand; f32[4,4] rand; f32[5,2] rand; f32[4] rand; f32[2] rand", "error INVALID_ARGUMENT",
     NULL, 0},
    {0},
};
static const op_case gru_grad_cases[] = {
    {"f32[2,3] rand; f32[2,2] rand; f32[5,4] rand; f32[5,2] rand; f32[4] rand; f32[2] rand" STEP0 STEP0 STEP0 STEP0,
     NULL, NULL, CASE_NO_GRAD},
    {0},
};

#define LSTM_ARGS "cs_prev:T, h_prev:T, w:T, wci:T, wcf:T, wco:T, b:T"
#define LSTM_OUT "(i:T, cs:T, f:T, o:T, ci:T, co:T, h:T)"
#define LSTM_KEPT "i:T, cs:T, f:T, o:T, ci:T, co:T"
#define BLOCK_GRAD                                                                                                     \
  "(seq_len_max:int64, x:T, " LSTM_ARGS ", " LSTM_KEPT                                                                 \
  ", h:T, cs_grad:T, h_grad:T) -> (x_grad:T, cs_prev_grad:T, h_prev_grad:T, w_grad:T, wci_grad:T, wcf_grad:T, "        \
  "wco_grad:T, b_grad:T) | use_peephole:bool T:type{half,float}"

OPS(recurrent_block) = {
    {"LSTMBlockCell(x:T, " LSTM_ARGS ") -> " LSTM_OUT " | forget_bias:float=1 cell_clip:float=3 "
     "use_peephole:bool=false T:type{half,float}",
     "One step of an LSTM.", .infer = lstm_cell_infer, .cpu = lstm_cell_cpu, .cases = lstm_cell_cases,
     .amp = AMP_ALLOW},
    {"LSTMBlockCellGrad(x:T, " LSTM_ARGS ", " LSTM_KEPT ", cs_grad:T, h_grad:T) -> (cs_prev_grad:T, dicfo:T, "
     "wci_grad:T, wcf_grad:T, wco_grad:T) | use_peephole:bool T:type{half,float}",
     "The gradient of LSTMBlockCell.", .infer = lstm_cell_grad_infer, .cpu = lstm_cell_grad_cpu,
     .cases = lstm_cell_grad_cases, .amp = AMP_ALLOW},
    {"BlockLSTM(seq_len_max:int64, x:T, " LSTM_ARGS ") -> " LSTM_OUT " | forget_bias:float=1 cell_clip:float=3 "
     "use_peephole:bool=false T:type{half,float}",
     "An LSTM over all time steps.", .infer = lstm_block_infer, .cpu = lstm_block_cpu, .grad = lstm_block_grad,
     .cases = lstm_block_cases, .amp = AMP_ALLOW},
    {"BlockLSTMV2(seq_len_max:int64, x:T, " LSTM_ARGS ") -> " LSTM_OUT " | cell_clip:float=0 "
     "use_peephole:bool=false T:type{half,float}",
     "An LSTM over all time steps, its gates in another order.", .infer = lstm_block_infer, .cpu = lstm_block_cpu,
     .grad = lstm_block_v2_grad, .cases = lstm_block_cases, .amp = AMP_ALLOW},
    {"BlockLSTMGrad" BLOCK_GRAD, "The gradient of BlockLSTM.", .infer = lstm_block_grad_infer,
     .cpu = lstm_block_grad_cpu, .cases = lstm_block_grad_cases, .amp = AMP_ALLOW},
    {"BlockLSTMGradV2" BLOCK_GRAD, "The gradient of BlockLSTMV2.", .infer = lstm_block_grad_infer,
     .cpu = lstm_block_grad_cpu, .cases = lstm_block_grad_cases, .amp = AMP_ALLOW},
    {"GRUBlockCell(x:T, h_prev:T, w_ru:T, w_c:T, b_ru:T, b_c:T) -> (r:T, u:T, c:T, h:T) | T:type{float}",
     "One step of a GRU.", .infer = gru_infer, .cpu = gru_cpu, .cases = gru_cases, .amp = AMP_ALLOW},
    {"GRUBlockCellGrad(x:T, h_prev:T, w_ru:T, w_c:T, b_ru:T, b_c:T, r:T, u:T, c:T, d_h:T) -> (d_x:T, d_h_prev:T, "
     "d_c_bar:T, d_r_bar_u_bar:T) | T:type{float}",
     "The gradient of GRUBlockCell.", .infer = gru_grad_infer, .cpu = gru_grad_cpu, .cases = gru_grad_cases,
     .amp = AMP_ALLOW},
    {0},
};
