/* batchnorm.c - FusedBatchNorm: y = (x - mean) * scale / sqrt(variance + epsilon) + offset.
 *
 * In training, mean and variance are those of the batch, per channel; otherwise they are inputs.  A tensor is seen
 * as (outer, channels, inner), where inner is 1 if the channels are last.  Sums are computed over blocks whose size
 * does not depend on the number of threads, and added in double. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/reduce/row.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"
#include <string.h>

/* What is summed over a channel: x; (x - mean)^2; or both dy and dy (x - mean). */
typedef enum moment { MEAN, SPREAD, GRADIENT } moment;

typedef struct norm {
  int64_t outer, channels, inner;
  const float *x, *dy;
  float *y;
  moment what;
  const float *mean;      /* (channels) */
  const float *p, *q, *r; /* (channels): coefficients of the elementwise pass */
  int64_t block;          /* outer rows in a block */
  float *partial;         /* (blocks, 2, channels) */
} norm;

/* ---- sums over a channel ---- */

WEFT_TARGET_CLONES static void add_rows(moment what, const float *restrict x, const float *restrict dy,
                                        const float *restrict mean, int64_t rows, int64_t n, float *restrict s,
                                        float *restrict t) {
  for (int64_t r = 0; r < rows; r++, x += n, dy += dy ? n : 0) {
    if (what == MEAN)
      for (int64_t c = 0; c < n; c++) s[c] += x[c];
    else if (what == SPREAD)
      for (int64_t c = 0; c < n; c++) s[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
    else
      for (int64_t c = 0; c < n; c++) {
        s[c] += dy[c];
        t[c] += dy[c] * (x[c] - mean[c]);
      }
  }
}

/* Channels last.  Several short rows are processed as one long row, so that vectors are full. */
static void sum_rows(const norm *j, const float *x, const float *dy, int64_t rows, float *s, float *t) {
  enum { WIDE = 256 };
  float ws[WIDE] = {0}, wt[WIDE] = {0}, wm[WIDE] = {0};
  const int64_t C = j->channels, fold = C < WIDE ? WIDE / C : 1, width = fold * C;
  if (fold > 1 && rows > fold) {
    for (int64_t i = 0; i < width; i++) wm[i] = j->mean ? j->mean[i % C] : 0;
    const int64_t wide_rows = rows / fold;
    add_rows(j->what, x, dy, wm, wide_rows, width, ws, wt);
    for (int64_t i = 0; i < width; i++) s[i % C] += ws[i], t[i % C] += wt[i];
    rows -= wide_rows * fold, x += wide_rows * width, dy += dy ? wide_rows * width : 0;
  }
  add_rows(j->what, x, dy, j->mean, rows, C, s, t);
}

/* Channels before the pixels: sums n pixels of one channel. */
WEFT_TARGET_CLONES static void sum_span(const norm *j, const float *x, const float *dy, float mean, float *s,
                                        float *t) {
  float sum = 0, dot = 0;
  const int64_t n = j->inner;
  if (j->what == MEAN) ROW_SUM(float, x, n, sum);
  if (j->what == SPREAD) ROW_REDUCE(float, n, 0, (x[at] - mean) * (x[at] - mean), a + v, sum);
  if (j->what == GRADIENT) {
    ROW_SUM(float, dy, n, sum);
    ROW_REDUCE(float, n, 0, dy[at] * (x[at] - mean), a + v, dot);
  }
  *s += sum;
  *t += dot;
}

static void sum_blocks(void *arg, int64_t begin, int64_t end) {
  const norm *j = arg;
  const int64_t C = j->channels, row = C * j->inner;
  for (int64_t b = begin; b < end; b++) {
    float *s = j->partial + b * 2 * C, *t = s + C;
    const int64_t first = b * j->block, left = j->outer - first, rows = left < j->block ? left : j->block;
    const float *x = j->x + first * row, *dy = j->dy ? j->dy + first * row : NULL;
    memset(s, 0, (size_t)(2 * C) * sizeof *s);
    if (j->inner == 1) {
      sum_rows(j, x, dy, rows, s, t);
      continue;
    }
    for (int64_t i = 0; i < rows * C; i++, x += j->inner, dy += dy ? j->inner : 0)
      sum_span(j, x, dy, j->mean ? j->mean[i % C] : 0, &s[i % C], &t[i % C]);
  }
}

/* Computes the sums s and t (t may be NULL) of every channel, divided by `count`. */
static weft_err batchnorm_sums(kernel *k, norm *j, double count, float *s, float *t) {
  const int64_t C = j->channels, row = C * j->inner;
  j->block = row < 16384 ? 16384 / (row ? row : 1) : 1;
  const int64_t blocks = (j->outer + j->block - 1) / j->block;
  j->partial = weft__alloc_aligned((size_t)(blocks * 2 * C + 1) * sizeof *j->partial);
  if (!j->partial) return WEFT_OOM;
  weft__kernel_loop(k, blocks, j->block * row / 6 + 1, sum_blocks, j);
  for (int64_t c = 0; c < C; c++) {
    double sum = 0, dot = 0;
    for (int64_t b = 0; b < blocks; b++) {
      sum += (double)j->partial[(b * 2) * C + c];
      dot += (double)j->partial[(b * 2 + 1) * C + c];
    }
    s[c] = (float)(sum / count);
    if (t) t[c] = (float)(dot / count);
  }
  weft__free(j->partial);
  return WEFT_OK;
}

/* ---- the elementwise passes ---- */

WEFT_TARGET_CLONES static void forward_rows(void *arg, int64_t begin, int64_t end) { /* y = x p + q */
  const norm *j = arg;
  const int64_t C = j->channels, inner = j->inner;
  const float *restrict p = j->p, *restrict q = j->q;
  for (int64_t r = begin; r < end; r++) {
    const float *x = j->x + r * C * inner;
    float *y = j->y + r * C * inner;
    if (inner == 1) {
      WEFT_IVDEP for (int64_t c = 0; c < C; c++) y[c] = x[c] * p[c] + q[c];
      continue;
    }
    for (int64_t c = 0; c < C; c++, x += inner, y += inner) {
      const float mul = p[c], add = q[c];
      WEFT_IVDEP for (int64_t i = 0; i < inner; i++) y[i] = x[i] * mul + add;
    }
  }
}

WEFT_TARGET_CLONES static void grad_rows(void *arg, int64_t begin, int64_t end) { /* dx = (dy - q - (x - mean) r) p */
  const norm *j = arg;
  const int64_t C = j->channels, inner = j->inner;
  const float *restrict p = j->p, *restrict q = j->q, *restrict r = j->r, *restrict m = j->mean;
  for (int64_t row = begin; row < end; row++) {
    const float *x = j->x + row * C * inner, *dy = j->dy + row * C * inner;
    float *dx = j->y + row * C * inner;
    if (inner == 1) {
      WEFT_IVDEP for (int64_t c = 0; c < C; c++) dx[c] = (dy[c] - q[c] - (x[c] - m[c]) * r[c]) * p[c];
      continue;
    }
    for (int64_t c = 0; c < C; c++, x += inner, dy += inner, dx += inner) {
      const float mul = p[c], sub = q[c], slope = r[c], mean = m[c];
      WEFT_IVDEP for (int64_t i = 0; i < inner; i++) dx[i] = (dy[i] - sub - (x[i] - mean) * slope) * mul;
    }
  }
}

static void batchnorm_apply(kernel *k, norm *j, pool_loop *loop) {
  const int64_t row = j->channels * j->inner;
  if (row) weft__kernel_loop(k, j->outer, row / 4 + 1, loop, j);
}

/* ---- attributes and shapes ---- */

static bool batchnorm_channels_second(const weft_node *n) {
  return weft__node_str_is(n, "data_format", "NCHW") || weft__node_str_is(n, "data_format", "NCDHW");
}

static int image_rank(const weft_node *n) {
  return weft__node_str_is(n, "data_format", "NDHWC") || weft__node_str_is(n, "data_format", "NCDHW") ? 5 : 4;
}

static weft_err norm_view(const kernel *k, const shape *s, norm *j) {
  const int rank = image_rank(k->node), axis = batchnorm_channels_second(k->node) ? 1 : rank - 1;
  if (s->rank != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be %d-dimensional%s", rank, weft__shape_text(s));
  *j = (norm){.outer = weft__shape_product(s, 0, axis),
              .channels = s->dim[axis],
              .inner = weft__shape_product(s, axis + 1, rank)};
  return WEFT_OK;
}

/* Checks that input i is a vector with one element per channel. */
static weft_err per_channel(const kernel *k, int i, const char *name, const char *when, int64_t channels) {
  const shape *s = &k->in[i]->shape;
  if (s->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be 1-dimensional%s", name, weft__shape_text(s));
  if (s->dim[0] != channels)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "%s%s must have the same number of elements as the channels of x, got %lld and %lld", when,
                             name, (long long)s->dim[0], (long long)channels);
  return WEFT_OK;
}

/* ---- forward ---- */

/* The four vectors over the channels that the forward op returns besides y. */
typedef struct norm_out {
  float *mean, *variance, *saved_mean, *saved_variance;
} norm_out;

/* Computes mean and variance of the batch, and the running averages from them. */
static weft_err batch_moments(kernel *k, norm *j, float factor, const norm_out *o) {
  const double count = (double)(j->outer * j->inner);
  const float *old_mean = k->in[3]->data, *old_variance = k->in[4]->data;
  j->what = MEAN;
  WEFT_TRY(batchnorm_sums(k, j, count, o->saved_mean, NULL));
  j->what = SPREAD;
  j->mean = o->saved_mean;
  WEFT_TRY(batchnorm_sums(k, j, count, o->saved_variance, NULL));
  const double unbias = count > 1 ? count / (count - 1) : 1; /* the output is the unbiased estimate */
  for (int64_t c = 0; c < j->channels; c++) {
    const float mean = o->saved_mean[c], variance = (float)((double)o->saved_variance[c] * unbias);
    const bool running = factor != 1.0f;
    o->mean[c] = running ? (1 - factor) * old_mean[c] + factor * mean : mean;
    o->variance[c] = running ? (1 - factor) * old_variance[c] + factor * variance : variance;
  }
  return WEFT_OK;
}

static weft_err norm_outputs(kernel *k, int64_t channels, norm_out *o) {
  float **const at[] = {&o->mean, &o->variance, &o->saved_mean, &o->saved_variance};
  for (int i = 0; i < 4; i++) {
    weft_tensor *t = weft__out(k, i + 1, &SHAPE1(channels));
    if (!t) return WEFT_OOM;
    *at[i] = t->data;
  }
  if (k->n_out < 6) return WEFT_OK;
  weft_tensor *spare = weft__out(k, 5, &SHAPE_SCALAR); /* reserved space that only other devices use */
  if (!spare) return WEFT_OOM;
  memset(spare->data, 0, weft__tensor_bytes(spare));
  return WEFT_OK;
}

static weft_err batchnorm_norm_check(const kernel *k, norm *j, bool training, float factor) {
  WEFT_TRY(norm_view(k, &k->in[0]->shape, j));
  WEFT_TRY(per_channel(k, 1, "scale", "", j->channels));
  WEFT_TRY(per_channel(k, 2, "offset", "", j->channels));
  if (training && factor == 1.0f) return WEFT_OK;
  const char *when = training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
  WEFT_TRY(per_channel(k, 3, "mean", when, j->channels));
  return per_channel(k, 4, "variance", when, j->channels);
}

/* Computes y = x p + q from the moments, scale and offset. */
static weft_err norm_apply(kernel *k, norm *j, const float *mean, const float *variance) {
  const float epsilon = weft__node_float(k->node, "epsilon", 1e-4f);
  const float *scale = k->in[1]->data, *offset = k->in[2]->data;
  float *p = weft__alloc_aligned((size_t)(2 * j->channels + 1) * sizeof *p);
  if (!p) return WEFT_OOM;
  float *q = p + j->channels;
  for (int64_t c = 0; c < j->channels; c++) {
    p[c] = scale[c] / sqrtf(variance[c] + epsilon);
    q[c] = offset[c] - mean[c] * p[c];
  }
  j->p = p, j->q = q;
  batchnorm_apply(k, j, forward_rows);
  weft__free(p);
  return WEFT_OK;
}

static weft_err norm_run(kernel *k, norm *j, bool training, float factor, const norm_out *o) {
  const size_t bytes = (size_t)j->channels * sizeof(float);
  if (j->outer * j->inner == 0) { /* an empty batch has no moments */
    for (int64_t c = 0; c < j->channels; c++) {
      o->mean[c] = o->variance[c] = NAN;
      o->saved_mean[c] = o->saved_variance[c] = 0;
    }
    return WEFT_OK;
  }
  if (training) {
    WEFT_TRY(batch_moments(k, j, factor, o));
  } else {
    memcpy(o->mean, k->in[3]->data, bytes), memcpy(o->saved_mean, k->in[3]->data, bytes);
    memcpy(o->variance, k->in[4]->data, bytes), memcpy(o->saved_variance, k->in[4]->data, bytes);
  }
  return norm_apply(k, j, o->saved_mean, o->saved_variance);
}

static weft_err batchnorm_norm_cpu(kernel *k) {
  const bool training = weft__node_bool(k->node, "is_training", true);
  const float factor = weft__node_float(k->node, "exponential_avg_factor", 1);
  norm j;
  norm_out o;
  if (k->in[1]->dtype != WEFT_FLOAT) return weft__kernel_no_type(k, k->in[1]->dtype);
  WEFT_TRY(batchnorm_norm_check(k, &j, training, factor));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  WEFT_TRY(norm_outputs(k, j.channels, &o));
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, k->in[0]);
  if (!err) err = weft__widened_output(&wy, y);
  j.x = wx.data, j.y = wy.data;
  if (!err) err = norm_run(k, &j, training, factor, &o);
  if (!err) weft__widened_store(&wy, y);
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

static weft_err norm_infer(infer *s) {
  const weft_node *n = s->node;
  const int rank = image_rank(n), axis = batchnorm_channels_second(n) ? 1 : rank - 1;
  shape x, v;
  WEFT_TRY(weft__infer_rank(s, 0, rank, &x));
  const int vectors = weft__node_bool(n, "is_training", true) ? 2 : 4;
  for (int i = 1; i <= vectors; i++) {
    WEFT_TRY(weft__infer_rank(s, i, 1, &v));
    if (x.dim[axis] >= 0 && v.dim[0] >= 0 && x.dim[axis] != v.dim[0])
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[axis],
                              (long long)v.dim[0]);
    if (x.dim[axis] < 0) x.dim[axis] = v.dim[0];
  }
  s->out[0] = x;
  for (int i = 1; i <= 4; i++) s->out[i] = SHAPE1(x.dim[axis]);
  return WEFT_OK;
}

/* ---- backward ---- */

static weft_err grad_check(const kernel *k, norm *j) {
  const shape *dy = &k->in[0]->shape, *x = &k->in[1]->shape;
  WEFT_TRY(norm_view(k, x, j));
  if (!weft__shape_equal(x, dy))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "x and y_backprop must have same shape, but x has shape %s and y_backprop has shape %s",
                             weft__shape_text(x), weft__shape_text(dy));
  WEFT_TRY(per_channel(k, 2, "scale", "", j->channels));
  WEFT_TRY(per_channel(k, 3, "reserve_space_1", "", j->channels));
  return per_channel(k, 4, "reserve_space_2", "", j->channels);
}

/* dscale = sum dy (x - mean) / sqrt(variance + epsilon), doffset = sum dy; dx as in grad_rows. */
static weft_err grad_run(kernel *k, norm *j, float *d_scale, float *d_offset) {
  const bool training = weft__node_bool(k->node, "is_training", true);
  const float epsilon = weft__node_float(k->node, "epsilon", 1e-4f), count = (float)(j->outer * j->inner);
  const float *scale = k->in[2]->data, *variance = k->in[4]->data;
  const int64_t C = j->channels;
  float *p = weft__alloc_aligned((size_t)(3 * C + 1) * sizeof *p);
  if (!p) return WEFT_OOM;
  float *q = p + C, *r = q + C;
  j->mean = k->in[3]->data;
  j->what = GRADIENT;
  weft_err err = batchnorm_sums(k, j, 1, d_offset, d_scale);
  for (int64_t c = 0; c < C && !err; c++) {
    const float inverse = 1 / sqrtf(variance[c] + epsilon);
    p[c] = scale[c] * inverse;
    q[c] = training && count > 0 ? d_offset[c] / count : 0;
    r[c] = training && count > 0 ? d_scale[c] / count * inverse * inverse : 0;
    d_scale[c] *= inverse;
  }
  j->p = p, j->q = q, j->r = r;
  if (!err) batchnorm_apply(k, j, grad_rows);
  weft__free(p);
  return err;
}

static weft_err norm_grad_cpu(kernel *k) {
  norm j;
  WEFT_TRY(grad_check(k, &j));
  weft_tensor *dx = weft__out(k, 0, &k->in[1]->shape), *v[4];
  if (!dx) return WEFT_OOM;
  for (int i = 0; i < 4; i++) { /* the last two are reserved space that only other devices use */
    v[i] = weft__out(k, i + 1, &SHAPE1(i < 2 ? j.channels : 0));
    if (!v[i]) return WEFT_OOM;
    memset(v[i]->data, 0, weft__tensor_bytes(v[i]));
  }
  widened wdy = {0}, wx = {0}, wdx = {0};
  weft_err err = weft__widened_load(&wdy, k->in[0]);
  if (!err) err = weft__widened_load(&wx, k->in[1]);
  if (!err) err = weft__widened_output(&wdx, dx);
  j.dy = wdy.data, j.x = wx.data, j.y = wdx.data;
  if (!err) err = grad_run(k, &j, v[0]->data, v[1]->data);
  if (!err) weft__widened_store(&wdx, dx);
  weft__widened_finish(&wdy), weft__widened_finish(&wx), weft__widened_finish(&wdx);
  return err;
}

static weft_err norm_grad_infer(infer *s) {
  const int rank = image_rank(s->node), axis = batchnorm_channels_second(s->node) ? 1 : rank - 1;
  shape dy, x;
  WEFT_TRY(weft__infer_rank(s, 0, rank, &dy));
  WEFT_TRY(weft__infer_rank(s, 1, rank, &x));
  for (int i = 2; i <= 4; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  if (weft__shape_merge(&x, &x, &dy) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  s->out[0] = x;
  s->out[1] = s->out[2] = SHAPE1(x.dim[axis]);
  s->out[3] = s->out[4] = SHAPE1(0);
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_err norm_grad(backprop *b, const char *type, bool spare) {
  const bool training = weft__node_bool(b->node, "is_training", true);
  const weft_out mean = training ? b->out[3] : b->in[3], variance = training ? b->out[4] : b->in[4];
  const weft_out in[] = {weft__backprop_dout(b, 0), b->in[0], b->in[1], mean, variance, spare ? b->out[5] : WEFT_NONE};
  const attr attrs[] = {A_FLOAT("epsilon", weft__node_float(b->node, "epsilon", 1e-4f)),
                        A_STR("data_format", weft__node_str(b->node, "data_format").data),
                        A_BOOL("is_training", training)};
  const weft_out dx = weft__b_node(b->graph, type, NULL, spare ? 6 : 5, in, 3, attrs);
  for (int i = 0; i < 3; i++) b->din[i] = GRAD_DENSE(weft__b_slot(dx, i));
  return weft__b_ok(b->graph);
}

static weft_err norm_grad_v1(backprop *b) { return norm_grad(b, "FusedBatchNormGrad", false); }
static weft_err norm_grad_v2(backprop *b) { return norm_grad(b, "FusedBatchNormGradV2", false); }
static weft_err norm_grad_v3(backprop *b) { return norm_grad(b, "FusedBatchNormGradV3", true); }

/* ---- second order: the gradients of FusedBatchNormGrad ---- */

typedef struct second { /* the inputs and intermediate values, in the type of scale, with the channels in place */
  backprop *b;
  weft_graph *g;
  weft_out axes;                /* all axes but the channels */
  weft_out channels;            /* the shape of a per-channel vector with the rank of x */
  weft_out dy, x_hat, scale;    /* x_hat: x normalized */
  weft_out inverse;             /* 1 / sqrt(variance + epsilon) */
  weft_out gx, gscale, goffset; /* gradients of the results of FusedBatchNormGrad */
} second;

static weft_out second_mean(const second *s, weft_out x) {
  return weft__b_node(s->g, "Mean", NULL, 2, (weft_out[]){x, s->axes}, 1, &A_BOOL("keep_dims", true));
}

/* Subtracts from u its components along the constant vector and along x_hat: the effect of the batch's own mean and
 * variance on a gradient. */
static weft_out second_project(const second *s, weft_out u) {
  const weft_out along = second_mean(s, weft__b_mul(s->g, u, s->x_hat));
  return weft__b_sub(s->g, weft__b_sub(s->g, u, second_mean(s, u)), weft__b_mul(s->g, s->x_hat, along));
}

static weft_out second_vector(const second *s, weft_out v) { return weft__b_reshape(s->g, v, s->channels); }

static void second_open(second *s, backprop *b, bool training) {
  weft_graph *g = s->g = b->graph;
  const int rank = image_rank(b->node), axis = batchnorm_channels_second(b->node) ? 1 : rank - 1;
  const weft_dtype type = weft__out_type(g, b->in[2]);
  int64_t axes[5], dims[5], n = 0;
  for (int i = 0; i < rank; i++) {
    if (i != axis) axes[n++] = i;
    dims[i] = i == axis ? -1 : 1;
  }
  s->b = b;
  s->axes = weft__b_ints(g, axes, rank - 1);
  s->channels = weft__b_ints(g, dims, rank);
  s->dy = weft__b_cast(g, b->in[0], type);
  const weft_out x = weft__b_cast(g, b->in[1], type);
  s->scale = second_vector(s, b->in[2]);
  s->gx = weft__b_cast(g, weft__backprop_dout(b, 0), type);
  s->gscale = second_vector(s, weft__backprop_dout(b, 1));
  s->goffset = second_vector(s, weft__backprop_dout(b, 2));
  const weft_out centered = weft__b_sub(g, x, training ? second_mean(s, x) : second_vector(s, b->in[3]));
  const weft_out variance =
      training ? second_mean(s, weft__b_unary(g, "Square", centered)) : second_vector(s, b->in[4]);
  const double epsilon = (double)weft__node_float(b->node, "epsilon", 1e-4f);
  s->inverse = weft__b_unary(g, "Rsqrt", weft__b_add(g, variance, weft__b_scalar_like(g, variance, epsilon)));
  s->x_hat = weft__b_mul(g, centered, s->inverse);
}

static void second_close(second *s, weft_out d_dy, weft_out dx, weft_out d_scale) {
  weft_graph *g = s->g;
  const weft_dtype type = weft__out_type(g, s->b->in[1]);
  s->b->din[0] = GRAD_DENSE(weft__b_cast(g, d_dy, type));
  s->b->din[1] = GRAD_DENSE(weft__b_cast(g, dx, type));
  s->b->din[2] = GRAD_DENSE(weft__b_reshape(g, d_scale, weft__b_ints(g, (int64_t[]){-1}, 1)));
}

/* dx = scale inverse P(dy), dscale = sum(dy x_hat), doffset = sum(dy), where P is second_project. */
static void second_train(second *s) {
  weft_graph *g = s->g;
  const weft_out factor = weft__b_mul(g, s->scale, s->inverse);
  const weft_out d_dy = weft__b_add(
      g, weft__b_add(g, weft__b_mul(g, factor, second_project(s, s->gx)), weft__b_mul(g, s->gscale, s->x_hat)),
      s->goffset);
  const weft_out both = weft__b_mul(g, s->gx, second_project(s, s->dy));
  const weft_out d_scale = weft__b_mul(g, s->inverse, weft__b_sum(g, both, s->axes, true));
  const weft_out along_dy = second_mean(s, weft__b_mul(g, s->dy, s->x_hat)),
                 along_gx = second_mean(s, weft__b_mul(g, s->gx, s->x_hat));
  const weft_out bent = weft__b_add(g, weft__b_mul(g, s->gx, along_dy), weft__b_mul(g, s->dy, along_gx));
  const weft_out d_hat = weft__b_sub(g, weft__b_mul(g, s->gscale, s->dy), weft__b_mul(g, factor, bent));
  const weft_out through_inverse =
      weft__b_mul(g, weft__b_mul(g, weft__b_mul(g, factor, s->inverse), second_mean(s, both)),
                  s->x_hat); /* d inverse / dx = -inverse^2 x_hat/N */
  const weft_out dx = weft__b_sub(g, weft__b_mul(g, s->inverse, second_project(s, d_hat)), through_inverse);
  second_close(s, d_dy, dx, d_scale);
}

/* dx = scale inverse dy, dscale = sum(dy x_hat), doffset = sum(dy); mean and variance are constants. */
static void second_given(second *s) {
  weft_graph *g = s->g;
  const weft_out inverse_gx = weft__b_mul(g, s->inverse, s->gx);
  const weft_out d_dy = weft__b_add(
      g, weft__b_add(g, weft__b_mul(g, s->scale, inverse_gx), weft__b_mul(g, s->gscale, s->x_hat)), s->goffset);
  const weft_out dx = weft__b_mul(g, weft__b_mul(g, s->gscale, s->inverse), s->dy);
  second_close(s, d_dy, dx, weft__b_sum(g, weft__b_mul(g, inverse_gx, s->dy), s->axes, true));
}

static weft_err norm_grad_grad(backprop *b) {
  const bool training = weft__node_bool(b->node, "is_training", true);
  second s;
  second_open(&s, b, training);
  if (training)
    second_train(&s);
  else
    second_given(&s);
  return weft__b_ok(b->graph);
}

#define TRAIN "; f32[0] 0; f32[0] 0"
#define GIVEN "; f32[3] rand; f32[3] pos"

/* In TensorFlow only y has a gradient; the moments have none.  If the moments are inputs, TensorFlow leaves some of
 * the output moments unset. */
#define NORM_CASES                                                                                                     \
  {"f32[2,3,4,3] rand; f32[3] pos; f32[3] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},                    \
      {"f32[2,3,4,3] rand; f32[3] pos; f32[3] rand" GIVEN, NULL, "is_training=false",                                  \
       CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},                                                               \
      {"f32[2,3,4,5] rand; f32[3] pos; f32[3] rand" TRAIN, NULL, "data_format='NCHW' epsilon=0.01",                    \
       CASE_NO_GRAD | CASE_FIXED_TYPE},                                                                                \
      {"f32[2,3,4,5] rand; f32[3] pos; f32[3] rand" GIVEN, NULL, "data_format='NCHW' is_training=false",               \
       CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},                                                               \
  {                                                                                                                    \
    "f32[2,3,4,3] rand; f32[3] pos; f32[3] rand" GIVEN, NULL, "exponential_avg_factor=0.3",                            \
        CASE_NO_GRAD | CASE_FIXED_TYPE                                                                                 \
  }
static const op_case norm_cases[] = {
    {"f32[1,1,2,1] 1 3; f32[1] 2; f32[1] .5; f32[1] 1; f32[1] 3",
     "f32[1,1,2,1] .5 2.5; f32[1] 1; f32[1] 3; f32[1] 1; f32[1] 3", "is_training=false epsilon=1",
     CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    NORM_CASES,
    {"f32[1,1,1,3] rand; f32[3] pos; f32[3] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,3,4,3] 0; f32[3] pos; f32[3] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[16,33,17,64] normal; f32[64] pos; f32[64] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4,20,31,30] normal; f32[20] pos; f32[20] rand" TRAIN, NULL, "data_format='NCHW'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,3] rand; f32[3] pos; f32[3] rand" TRAIN, "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[2] pos; f32[3] rand" TRAIN, "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[3] pos; f32[3] rand" TRAIN, "error INVALID_ARGUMENT", "is_training=false",
     CASE_FIXED_TYPE},
    {0},
};

static const op_case norm_v3_cases[] = {
    {"f32[1,1,2,1] 1 3; f32[1] 2; f32[1] .5; f32[1] 1; f32[1] 3",
     "f32[1,1,2,1] .5 2.5; f32[1] 1; f32[1] 3; f32[1] 1; f32[1] 3; f32[] 0", "is_training=false epsilon=1",
     CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    NORM_CASES,
    {"f16[2,3,4,3] rand; f32[3] pos; f32[3] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f16[2,5,7,40] rand; f32[40] pos; f32[40] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"bf16[2,5,7,72] rand; f32[72] pos; f32[72] rand" TRAIN, NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"bf16[2,3,4,3] rand; f32[3] pos; f32[3] rand" GIVEN, NULL, "is_training=false",
     CASE_NO_GRAD | CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[2,2,3,4,3] rand; f32[3] pos; f32[3] rand" TRAIN, NULL, "data_format='NDHWC'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[16,33,17,64] normal; f32[64] pos; f32[64] rand" TRAIN, NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[2] pos; f32[3] rand" TRAIN, "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case norm_grad_cases[] = {
    {"f32[2,3,4,3] rand; f32[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos", NULL, "is_training=false",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,5] rand; f32[2,3,4,5] rand; f32[3] pos; f32[3] rand; f32[3] pos", NULL, "data_format='NCHW'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,3,4,3] 0; f32[0,3,4,3] 0; f32[3] pos; f32[3] rand; f32[3] pos", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; f32[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos", "error INVALID_ARGUMENT", NULL,
     CASE_FIXED_TYPE},
    {0},
};

static const op_case norm_grad_v3_cases[] = {
    {"f32[2,3,4,3] rand; f32[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos; f32[0] 0", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos; f32[0] 0", NULL, "is_training=false",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,5] rand; f32[2,3,4,5] rand; f32[3] pos; f32[3] rand; f32[3] pos; f32[0] 0", NULL, "data_format='NCHW'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f16[2,3,4,3] rand; f16[2,3,4,3] rand; f32[3] pos; f32[3] rand; f32[3] pos; f32[0] 0", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f16[2,5,7,40] rand; f16[2,5,7,40] rand; f32[40] pos; f32[40] rand; f32[40] pos; f32[0] 0", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[16,33,17,64] normal; f32[16,33,17,64] normal; f32[64] pos; f32[64] rand; f32[64] pos; f32[0] 0", NULL, NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

#define FORWARD_ATTRS(formats)                                                                                         \
  " epsilon:float=9.99999975e-05 exponential_avg_factor:float=1 data_format:string{" formats                           \
  "}='NHWC' is_training:bool=true"
#define GRAD_ATTRS(formats) " epsilon:float=9.99999975e-05 data_format:string{" formats "}='NHWC' is_training:bool=true"
#define IMAGES "'NHWC','NCHW'"
#define VOLUMES "'NHWC','NCHW','NDHWC','NCDHW'"

OPS(batchnorm) = {
    {"FusedBatchNorm(x:T, scale:T, offset:T, mean:T, variance:T) -> (y:T, batch_mean:T, batch_variance:T, "
     "reserve_space_1:T, reserve_space_2:T) | T:type{float}" FORWARD_ATTRS(IMAGES),
     "Batch normalization.", .infer = norm_infer, .cpu = batchnorm_norm_cpu, .grad = norm_grad_v1, .cases = norm_cases},
    {"FusedBatchNormV2(x:T, scale:U, offset:U, mean:U, variance:U) -> (y:T, batch_mean:U, batch_variance:U, "
     "reserve_space_1:U, reserve_space_2:U) | T:type{half,bfloat16,float} U:type{float}" FORWARD_ATTRS(IMAGES),
     "Batch normalization, the image of a type of its own.", .infer = norm_infer, .cpu = batchnorm_norm_cpu,
     .grad = norm_grad_v2, .cases = norm_cases, .amp = AMP_INFER},
    {"FusedBatchNormV3(x:T, scale:U, offset:U, mean:U, variance:U) -> (y:T, batch_mean:U, batch_variance:U, "
     "reserve_space_1:U, reserve_space_2:U, reserve_space_3:U) | T:type{half,bfloat16,float} "
     "U:type{bfloat16,float}" FORWARD_ATTRS(VOLUMES),
     "Batch normalization, with room for what other devices keep.", .infer = norm_infer, .cpu = batchnorm_norm_cpu,
     .grad = norm_grad_v3, .cases = norm_v3_cases, .amp = AMP_INFER},
    {"FusedBatchNormGrad(y_backprop:T, x:T, scale:T, reserve_space_1:T, reserve_space_2:T) -> (x_backprop:T, "
     "scale_backprop:T, offset_backprop:T, reserve_space_3:T, reserve_space_4:T) | T:type{float}" GRAD_ATTRS(IMAGES),
     "The gradient of FusedBatchNorm.", .infer = norm_grad_infer, .cpu = norm_grad_cpu, .grad = norm_grad_grad,
     .cases = norm_grad_cases},
    {"FusedBatchNormGradV2(y_backprop:T, x:T, scale:float, reserve_space_1:U, reserve_space_2:U) -> (x_backprop:T, "
     "scale_backprop:U, offset_backprop:U, reserve_space_3:U, reserve_space_4:U) | T:type{half,bfloat16,float} "
     "U:type{float}" GRAD_ATTRS(IMAGES),
     "The gradient of FusedBatchNormV2.", .infer = norm_grad_infer, .cpu = norm_grad_cpu, .grad = norm_grad_grad,
     .cases = norm_grad_cases, .amp = AMP_INFER},
    {"FusedBatchNormGradV3(y_backprop:T, x:T, scale:float, reserve_space_1:U, reserve_space_2:U, reserve_space_3:U) -> "
     "(x_backprop:T, scale_backprop:U, offset_backprop:U, reserve_space_4:U, reserve_space_5:U) | "
     "T:type{half,bfloat16,float} U:type{float}" GRAD_ATTRS(VOLUMES),
     "The gradient of FusedBatchNormV3.", .infer = norm_grad_infer, .cpu = norm_grad_cpu, .grad = norm_grad_grad,
     .cases = norm_grad_v3_cases, .amp = AMP_INFER},
    {0},
};
