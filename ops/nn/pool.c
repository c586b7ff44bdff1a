/* pool.c - MaxPool and AvgPool over images, with their gradients.
 *
 * The loops (pooling.c) need the channels last.  NCHW images are transposed first, and only for float types, like
 * TensorFlow's CPU kernels.  Half and bfloat16 are computed in float.  If windows neither overlap nor leave gaps, a
 * gradient writes every element once; otherwise it starts from zeros. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "kernels/conv/channel_layout.h"
#include "kernels/conv/pooling.h"
#include <string.h>

/* ---- sizes ---- */

/* Reads the window of this call: from the node, or with ksize and strides from inputs `from` and `from + 1`. */
static weft_err call_window(const kernel *k, int from, window *w) {
  *w = *(const window *)k->state;
  if (k->n_in <= from) return WEFT_OK;
  int64_t v[2][WEFT_MAX_RANK];
  int n[2];
  WEFT_TRY(weft__kernel_ints(k, from, "ksize", v[0], &n[0]));
  WEFT_TRY(weft__kernel_ints(k, from + 1, "strides", v[1], &n[1]));
  for (int i = 0; i < 2; i++)
    if (n[i] != 4)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Sliding window %s field must specify 4 dimensions",
                               i ? "stride" : "ksize");
  return weft__window_set(w, v[0], v[1]);
}

static weft_err check_explicit(const kernel *k, const window *w) {
  static const char *const names[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (int i = 0; w->padding == PAD_EXPLICIT && i < 4; i++) {
    const window_axis *a = &w->at[i / 2];
    const int64_t pad = i % 2 ? a->after : a->before;
    if (pad >= a->size)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "%s padding %lld needs to be smaller than the window size %lld", names[i / 2][i % 2],
                               (long long)pad, (long long)a->size);
  }
  return WEFT_OK;
}

/* Sets j's sizes for an image of shape s. */
static weft_err pool_sizes(const kernel *k, const window *w, const shape *s, pool_work *j) {
  if (s->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tensor_in must be 4-dimensional, but is %s",
                             weft__shape_text(s));
  if (w->batch_size != 1 || w->batch_stride != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
  WEFT_TRY(check_explicit(k, w));
  window_axis at[2];
  for (int i = 0; i < 2; i++) {
    at[i] = w->at[i];
    at[i].in = s->dim[w->axis[i]];
    if (weft__window_place(&at[i], w->padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  }
  *j = (pool_work){.h = at[0], .w = at[1], .batch = s->dim[0], .channels = s->dim[w->channel]};
  return WEFT_OK;
}

static shape pool_pooled(const window *w, const pool_work *j) {
  WEFT_ASSERT(j->h.out >= 0 && j->w.out >= 0);
  return w->channels_second ? SHAPE4(j->batch, j->channels, j->h.out, j->w.out)
                            : SHAPE4(j->batch, j->h.out, j->w.out, j->channels);
}

static weft_err no_depth(const kernel *k, const window *w, const char *what) {
  if (w->depth_size == 1 && w->depth_stride == 1) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "%s is not yet supported on the depth dimension.", what);
}

/* Returns true if every element of the image is in exactly one window. */
static bool tiles_exactly(const window_axis *a) {
  return a->stride == a->size && a->out * a->stride >= a->in + a->before;
}

/* ---- running a loop on views of the tensors ---- */

typedef struct pool_call {
  pool_work *job;
  pool_loop *loop;
  const weft_tensor *x, *g; /* NULL if the loop does not read it */
  weft_tensor *out;
  bool transposed, clear;
  const weft_tensor *best;
} pool_call;

static weft_err call_loop(kernel *k, const pool_call *c) {
  WEFT_ASSERT(c->loop && c->job->out);
  pool_work *j = c->job;
  const int64_t cost = j->channels * weft__window_most(&j->h) * weft__window_most(&j->w) / 4 * j->w.out + 20;
  long_work work = weft__long_work(k);
  j->cleared = c->clear;
  j->work = &work;
  weft__kernel_loop(k, c->clear ? j->batch : j->batch * j->h.out, c->clear ? cost * j->h.out : cost, c->loop, j);
  j->work = NULL;
  return weft__long_work_end(&work);
}

/* Runs the loop on the tensors themselves.  NCHW and 16-bit types run on float copies with the channels last. */
static weft_err call_run(kernel *k, const pool_call *c) {
  pool_work *j = c->job;
  if (c->clear) memset(c->out->data, 0, weft__tensor_bytes(c->out));
  if (weft__tensor_count(c->out) == 0) return WEFT_OK;
  if (!c->transposed && !weft__is_16bit(c->out->dtype)) {
    j->x = c->x ? c->x->data : NULL, j->g = c->g ? c->g->data : NULL, j->out = c->out->data;
    j->best = c->best ? c->best->data : NULL;
    return call_loop(k, c);
  }
  image_view x = {0}, g = {0}, best = {0}, out = {0};
  weft_err err = c->x ? weft__image_view_in(k, &x, c->x, c->transposed) : WEFT_OK;
  if (!err && c->g) err = weft__image_view_in(k, &g, c->g, c->transposed);
  if (!err && c->best) err = weft__image_view_in(k, &best, c->best, c->transposed);
  if (!err) err = weft__image_view_out(k, &out, c->out, c->transposed);
  if (!err) {
    j->x = x.data, j->g = g.data, j->best = best.data, j->out = out.data;
    if (c->clear) memset(out.data, 0, (size_t)weft__tensor_count(c->out) * sizeof *out.data);
    err = call_loop(k, c);
    weft__image_view_store(k, &out, c->out, c->transposed);
  }
  weft__image_view_finish(&x), weft__image_view_finish(&g), weft__image_view_finish(&best),
      weft__image_view_finish(&out);
  return err;
}

/* Finds the loops for a type.  NCHW is supported only for floats. */
static weft_err loops_for(const kernel *k, const window *w, weft_dtype t, const pooling **out) {
  *out = weft__pooling(weft__is_16bit(t) ? WEFT_FLOAT : t);
  if (!*out) return weft__kernel_no_type(k, t);
  if (w->channels_second && t != WEFT_FLOAT && !weft__is_16bit(t))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s of %s only supports NHWC on device type CPU",
                             k->node->op_name, weft__dtype_name(t));
  return WEFT_OK;
}

/* ---- max pooling ---- */

/* Pooling over groups of channels is computed as windows of one pixel, with the depth as the width. */
static weft_err depth_pool(kernel *k, const window *w, const pooling *loops) {
  const weft_tensor *x = k->in[0];
  if (w->at[0].size != 1 || w->at[1].size != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  const int64_t depth = x->shape.dim[w->channel];
  if (w->depth_size != w->depth_stride)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Depthwise max pooling requires the depth window to equal the depth stride");
  if (depth % w->depth_size || w->channels_second)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Depthwise max pooling requires the depth window to evenly divide the input depth");
  shape s = x->shape;
  s.dim[3] = depth / w->depth_size;
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return WEFT_OOM;
  pool_work j = {
      .h = {.size = 1, .stride = 1, .in = 1, .out = 1}, .batch = weft__shape_product(&s, 0, 3), .channels = 1};
  j.w = (window_axis){.size = w->depth_size, .stride = w->depth_size, .in = depth, .out = s.dim[3]};
  return call_run(k, &(pool_call){&j, loops->max, x, NULL, y, false, false, NULL});
}

/* The values that every max-pool op computes first.  Its image is input 0. */
typedef struct max_plan {
  window w;
  pool_work j;
  const pooling *loops;
  shape pooled;
} max_plan;

/* `inputs` is the number of inputs without ksize and strides, which some versions take as inputs too. */
static weft_err plan_max(const kernel *k, int inputs, max_plan *p) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(call_window(k, inputs, &p->w));
  WEFT_TRY(loops_for(k, &p->w, x->dtype, &p->loops));
  WEFT_TRY(pool_sizes(k, &p->w, &x->shape, &p->j));
  p->pooled = pool_pooled(&p->w, &p->j);
  return WEFT_OK;
}

static weft_err max_pool_cpu(kernel *k) {
  max_plan p;
  WEFT_TRY(plan_max(k, 1, &p));
  if (p.w.depth_size != 1 || p.w.depth_stride != 1) return depth_pool(k, &p.w, p.loops);
  weft_tensor *y = weft__out(k, 0, &p.pooled);
  if (!y) return WEFT_OOM;
  return call_run(k, &(pool_call){&p.j, p.loops->max, k->in[0], NULL, y, p.w.channels_second, false, NULL});
}

/* The inputs are the image, its pooled form, and a gradient: with the pooled shape, or with that of the image if it
 * is a second derivative. */
static weft_err plan_gradient(const kernel *k, const char *what, bool second, max_plan *p) {
  WEFT_ASSERT(k->n_in >= 3);
  WEFT_TRY(plan_max(k, 3, p));
  WEFT_TRY(no_depth(k, &p->w, what));
  WEFT_TRY(weft__window_expect_shape(k, 1, "orig_output", &p->pooled));
  return weft__window_expect_shape(k, 2, "grad", second ? &k->in[0]->shape : &p->pooled);
}

static weft_err max_pool_grad_cpu(kernel *k) {
  max_plan p;
  const weft_tensor *x = k->in[0];
  WEFT_TRY(plan_gradient(k, "MaxPoolingGrad", false, &p));
  weft_tensor *dx = weft__out(k, 0, &x->shape);
  if (!dx) return WEFT_OOM;
  const bool clear = !tiles_exactly(&p.j.h) || !tiles_exactly(&p.j.w);
  return call_run(k, &(pool_call){&p.j, p.loops->grad, x, k->in[2], dx, p.w.channels_second, clear, NULL});
}

static weft_err max_pool_grad_grad_cpu(kernel *k) {
  max_plan p;
  WEFT_TRY(plan_gradient(k, "MaxPoolingGradGrad", true, &p));
  weft_tensor *out = weft__out(k, 0, &p.pooled);
  if (!out) return WEFT_OOM;
  const bool transposed = p.w.channels_second;
  return call_run(k, &(pool_call){&p.j, p.loops->choose, k->in[0], k->in[2], out, transposed, false, k->in[1]});
}

static weft_err arg_max_cpu(kernel *k) {
  max_plan p;
  WEFT_TRY(plan_max(k, 1, &p));
  WEFT_TRY(no_depth(k, &p.w, "MaxPoolWithArgmax"));
  weft_tensor *y = weft__out(k, 0, &p.pooled), *index = y ? weft__out(k, 1, &p.pooled) : NULL;
  if (!index) return WEFT_OOM;
  p.j.index = index->data;
  p.j.index64 = index->dtype == WEFT_INT64;
  p.j.batched = weft__node_bool(k->node, "include_batch_in_index", false);
  return call_run(k, &(pool_call){&p.j, p.loops->arg_max, k->in[0], NULL, y, false, false, NULL});
}

/* dx[argmax] += g, for the types that have a gradient. */
#define DEFINE_SCATTER(name, T)                                                                                        \
  static void name(T *dx, const T *g, int64_t to, int64_t from) { dx[to] = (T)(dx[to] + g[from]); }
DEFINE_SCATTER(scatter_8, uint8_t)
DEFINE_SCATTER(scatter_16, uint16_t)
DEFINE_SCATTER(scatter_32, uint32_t)
DEFINE_SCATTER(scatter_64, uint64_t)
DEFINE_SCATTER(scatter_float, float)
DEFINE_SCATTER(scatter_double, double)

static void scatter_one(weft_dtype t, void *dx, const void *g, int64_t to, int64_t from) {
  if (t == WEFT_FLOAT)
    scatter_float(dx, g, to, from);
  else if (t == WEFT_DOUBLE)
    scatter_double(dx, g, to, from);
  else if (weft__dtype_size(t) == 1)
    scatter_8(dx, g, to, from);
  else if (weft__dtype_size(t) == 2)
    scatter_16(dx, g, to, from);
  else if (weft__dtype_size(t) == 4)
    scatter_32(dx, g, to, from);
  else
    scatter_64(dx, g, to, from);
}

static weft_err scatter_all(kernel *k, weft_dtype t, void *dx, const void *g, int64_t image, int64_t count) {
  const weft_tensor *index = k->in[2];
  const int64_t n = weft__tensor_count(index), batch = k->in[0]->shape.dim[0], per = batch ? n / batch : 0;
  const bool batched = weft__node_bool(k->node, "include_batch_in_index", false);
  memset(dx, 0, (size_t)count * weft__dtype_size(t));
  if (!batched && per * batch != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "argmax has %lld elements, which %lld images cannot share evenly", (long long)n,
                             (long long)batch);
  for (int64_t i = 0; i < n; i++) {
    const int64_t place = weft__tensor_int(index, i), base = batched ? 0 : i / per * image;
    if (place < 0 || place >= (batched ? count : image))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid input gradient index %lld: there are %lld elements",
                               (long long)place, (long long)(batched ? count : image));
    scatter_one(t, dx, g, place + base, i);
  }
  return WEFT_OK;
}

static weft_err arg_max_grad_cpu(kernel *k) {
  const weft_tensor *x = k->in[0], *g = k->in[1];
  const dtype_class cls = weft__dtype_class(x->dtype);
  if (cls != CLASS_FLOAT && cls != CLASS_INT && cls != CLASS_UINT) return weft__kernel_no_type(k, x->dtype);
  if (x->shape.rank != 4 || g->shape.rank != 4 || g->shape.dim[0] != x->shape.dim[0] ||
      !weft__shape_equal(&g->shape, &k->in[2]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input is %s, grad %s and argmax %s: they do not fit together",
                             weft__shape_text(&x->shape), weft__shape_text(&g->shape),
                             weft__shape_text(&k->in[2]->shape));
  weft_tensor *dx = weft__out(k, 0, &x->shape);
  if (!dx) return WEFT_OOM;
  const int64_t count = weft__tensor_count(dx), image = weft__shape_product(&x->shape, 1, 4);
  if (!weft__is_16bit(x->dtype)) return scatter_all(k, x->dtype, dx->data, g->data, image, count);
  widened wg = {0}, wdx = {0};
  weft_err err = weft__widened_load(&wg, g);
  if (!err) err = weft__widened_output(&wdx, dx);
  if (!err) err = scatter_all(k, WEFT_FLOAT, wdx.data, wg.data, image, count);
  if (!err) weft__widened_store(&wdx, dx);
  weft__widened_finish(&wg), weft__widened_finish(&wdx);
  return err;
}

/* ---- average pooling ---- */

static weft_err avg_pool_cpu(kernel *k) {
  const window *w = k->state;
  pool_work j;
  const weft_tensor *x = k->in[0];
  WEFT_TRY(pool_sizes(k, w, &x->shape, &j));
  WEFT_TRY(no_depth(k, w, "AvgPooling"));
  const shape s = pool_pooled(w, &j);
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return WEFT_OOM;
  const bool is_double = x->dtype == WEFT_DOUBLE;
  if (is_double && w->channels_second)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "AvgPool of double only supports NHWC on device type CPU");
  return call_run(k, &(pool_call){&j, weft__pooling_mean(is_double), x, NULL, y, w->channels_second, false, NULL});
}

static weft_err avg_pool_grad_cpu(kernel *k) {
  const window *w = k->state;
  pool_work j;
  shape s;
  WEFT_TRY(weft__kernel_ints(k, 0, "orig_input_shape", s.dim, &s.rank));
  if (s.rank != 4 || weft__shape_count(&s) < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "out_backprop must be 4-dimensional, but the input was %s",
                             weft__shape_text(&s));
  WEFT_TRY(pool_sizes(k, w, &s, &j));
  WEFT_TRY(no_depth(k, w, "AvgPoolingGrad"));
  const shape want = pool_pooled(w, &j);
  WEFT_TRY(weft__window_expect_shape(k, 1, "grad", &want));
  weft_tensor *dx = weft__out(k, 0, &s);
  if (!dx) return weft__out_refused(&s);
  const bool is_double = dx->dtype == WEFT_DOUBLE;
  if (is_double && w->channels_second)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "AvgPoolGrad of double only supports NHWC on device type CPU");
  return call_run(
      k, &(pool_call){&j, weft__pooling_mean_grad(is_double), NULL, k->in[1], dx, w->channels_second, true, NULL});
}

/* ---- shapes ---- */

static weft_err infer_pooled(infer *s, window *w, shape *out) {
  shape x;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  if (w->depth_stride <= 0) return weft__infer_fail(s, "Stride must be > 0, but got %lld", (long long)w->depth_stride);
  window_axis depth = {.size = w->depth_size, .stride = w->depth_stride, .dilation = 1, .in = x.dim[w->channel]};
  for (int i = 0; i < 2; i++) {
    w->at[i].in = x.dim[w->axis[i]];
    WEFT_TRY(weft__window_infer_place(&w->at[i], w->padding, s));
  }
  WEFT_TRY(weft__window_infer_place(&depth, w->padding == PAD_SAME ? PAD_SAME : PAD_VALID, s));
  *out = w->channels_second ? SHAPE4(x.dim[0], depth.out, w->at[0].out, w->at[1].out)
                            : SHAPE4(x.dim[0], w->at[0].out, w->at[1].out, depth.out);
  return WEFT_OK;
}

static weft_err pool_infer(infer *s) {
  window w;
  WEFT_TRY(weft__window_infer(&w, s));
  for (int i = 0; i < s->n_out; i++) WEFT_TRY(infer_pooled(s, &w, &s->out[i]));
  return WEFT_OK;
}

/* ksize and strides are inputs 1 and 2.  If they are not known, the result's shape is not known either. */
static weft_err pool_v2_infer(infer *s) {
  window w;
  shape v[2];
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, NULL));
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_shape_value(s, i + 1, &v[i]));
  s->out[0] = SHAPE4(-1, -1, -1, -1);
  for (int i = 0; i < 2; i++)
    if (v[i].rank != 4 || !weft__shape_known(&v[i])) return WEFT_OK;
  if (weft__window_set(&w, v[0].dim, v[1].dim) != WEFT_OK) return weft__infer_fail(s, "ksize and strides must be > 0");
  return infer_pooled(s, &w, &s->out[0]);
}

/* The result has the shape of the input, because it is the input's gradient. */
static weft_err grad_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 4, &s->out[0]));
  if (!weft__node_attr(s->node, "ksize")) return WEFT_OK;
  window w;
  return weft__window_infer(&w, s);
}

static weft_err grad_grad_infer(infer *s) {
  if (!weft__node_attr(s->node, "ksize")) return weft__infer_rank(s, 1, 4, &s->out[0]);
  return pool_infer(s);
}

static weft_err avg_grad_infer(infer *s) {
  window w;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 1, 4, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 0, &s->out[0]));
  if (s->out[0].rank < 0) s->out[0] = SHAPE4(-1, -1, -1, -1);
  if (s->out[0].rank != 4) return weft__infer_fail(s, "Shape must be rank 4 but is rank %d", s->out[0].rank);
  return WEFT_OK;
}

/* ---- gradients ---- */

/* Returns a node of another type with the attributes of this one. */
static weft_out pool_like(backprop *b, const char *type, int n, const weft_out *in) {
  static const char *const names[] = {"ksize",       "strides",           "padding",
                                      "data_format", "explicit_paddings", "include_batch_in_index"};
  attr attrs[6];
  int count = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const attr *a = weft__node_attr(b->node, names[i]);
    const bool empty = a && a->is_list && a->n == 0; /* MaxPoolGradGrad has no explicit_paddings */
    if (a && !empty) attrs[count++] = *a;
  }
  return weft__b_node(b->graph, type, NULL, n, in, count, attrs);
}

static weft_err max_pool_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->out[0], b->dout[0]};
  b->din[0] = GRAD_DENSE(pool_like(b, "MaxPoolGrad", 3, in));
  return weft__b_ok(b->graph);
}

static weft_err max_pool_v2_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->out[0], b->dout[0], b->in[1], b->in[2]};
  b->din[0] = GRAD_DENSE(pool_like(b, "MaxPoolGradV2", 5, in));
  return weft__b_ok(b->graph);
}

/* A gradient is linear in the output gradient.  A small change does not move the position of the maximum. */
static weft_err second_grad(backprop *b, const char *type) {
  weft_out in[5] = {b->in[0], b->in[1], b->dout[0]};
  for (int i = 3; i < b->n_in; i++) in[i] = b->in[i];
  b->din[0] = GRAD_DENSE(weft__b_zeros_like(b->graph, b->in[0]));
  b->din[1] = GRAD_DENSE(weft__b_zeros_like(b->graph, b->in[1]));
  b->din[2] = GRAD_DENSE(pool_like(b, type, b->n_in, in));
  return weft__b_ok(b->graph);
}

static weft_err max_pool_grad_grad(backprop *b) { return second_grad(b, "MaxPoolGradGrad"); }
static weft_err max_pool_grad_v2_grad(backprop *b) { return second_grad(b, "MaxPoolGradGradV2"); }
static weft_err max_pool_grad_grad_grad(backprop *b) { return second_grad(b, "MaxPoolGrad"); }

static weft_err arg_max_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->dout[0], b->out[1]};
  b->din[0] = GRAD_DENSE(pool_like(b, "MaxPoolGradWithArgmax", 3, in));
  return weft__b_ok(b->graph);
}

static weft_err avg_pool_grad(backprop *b) {
  const weft_out in[] = {weft__b_shape(b->graph, b->in[0]), b->dout[0]};
  b->din[0] = GRAD_DENSE(pool_like(b, "AvgPoolGrad", 2, in));
  return weft__b_ok(b->graph);
}

static weft_err avg_pool_grad_grad(backprop *b) {
  b->din[1] = GRAD_DENSE(pool_like(b, "AvgPool", 1, b->dout));
  return weft__b_ok(b->graph);
}

/* ---- cases ---- */

#define POOL22 "ksize=[1,2,2,1] strides=[1,2,2,1] "
#define POOL32 "ksize=[1,3,2,1] strides=[1,2,1,1] "

static const op_case max_pool_cases[] = {
    {"f32[1,2,4,1] 1 5 3 2 4 0 8 7", "f32[1,1,2,1] 5 8", POOL22 "padding='VALID'", 0},
    {"f32[2,5,7,3] rand", NULL, POOL22 "padding='SAME'", 0},
    {"f32[2,5,7,3] rand", NULL, POOL32 "padding='VALID'", 0},
    {"f32[2,6,7,3] rand", NULL, POOL32 "padding='SAME'", 0},
    {"f32[2,7,7,2] rand", NULL, "ksize=[1,2,2,1] strides=[1,3,3,1] padding='VALID'", 0},
    {"f32[1,4,4,2] rand", NULL, POOL22 "padding='EXPLICIT' explicit_paddings=[0,0,1,0,1,1,0,0]", 0},
    {"f32[1,4,0,2] rand", NULL, POOL22 "padding='EXPLICIT' explicit_paddings=[0,0,1,0,1,1,0,0]",
     CASE_NO_GRAD | CASE_FIXED_TYPE}, /* the whole window is padding */
    {"f32[2,3,5,6] rand", NULL, "ksize=[1,1,2,2] strides=[1,1,2,2] padding='SAME' data_format='NCHW'",
     CASE_FIXED_TYPE | CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[1,2,2,6] rand", NULL, "ksize=[1,1,1,3] strides=[1,1,1,3] padding='VALID'", CASE_NO_GRAD},
    {"i32[1,4,4,3] rand", NULL, POOL22 "padding='VALID'", CASE_NO_GRAD},
    {"u8[1,4,4,3] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[0,4,4,3] 0", "f32[0,2,2,3] 0", POOL22 "padding='SAME'", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[9,28,28,32] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[2,9,9,300] rand", NULL, "ksize=[1,3,3,1] strides=[1,2,2,1] padding='SAME'", CASE_NO_GRAD},
    {"f32[2,4,3] rand", "error INVALID_ARGUMENT", POOL22 "padding='SAME'", 0},
    {"f32[1,4,4,1] rand", "error INVALID_ARGUMENT", "ksize=[1,2,2,1] strides=[1,0,2,1] padding='SAME'", 0},
    {"f32[1,4,4,1] rand", "error INVALID_ARGUMENT", "ksize=[1,2,2,1] strides=[1,2,2,0] padding='VALID'", 0},
    {"f32[1,4,4,1] rand", "error INVALID_ARGUMENT", "ksize=[1,2,2,1] strides=[1,2,2,0] padding='SAME'", 0},
    {0},
};

static const op_case max_pool_v2_cases[] = {
    {"f32[1,2,4,1] 1 5 3 2 4 0 8 7; i32[4] 1 2 2 1; i32[4] 1 2 2 1", "f32[1,1,2,1] 5 8", "padding='VALID'", 0},
    {"f32[2,6,7,3] rand; i32[4] 1 3 2 1; i32[4] 1 2 1 1", NULL, "padding='SAME'", 0},
    {"f32[2,6,7,3] rand; i32[2] 3 2; i32[4] 1 2 1 1", "error INVALID_ARGUMENT", "padding='SAME'", 0},
    {0},
};

/* The second gradient finds the pooled values in the image, so they must be the true maxima. */
static const op_case max_pool_grad_cases[] = {
    {"f32[1,4,4,1] seq; f32[1,2,2,1] 5 7 13 15; f32[1,2,2,1] rand", NULL, POOL22 "padding='VALID'", 0},
    {"f32[1,2,2,1] 0; f32[1,1,1,1] 0; f32[1,1,1,1] 1", "f32[1,2,2,1] 1 0 0 0", POOL22 "padding='VALID'", CASE_NO_GRAD},
    {"f32[1,3,3,1] 0; f32[1,2,2,1] 0; f32[1,2,2,1] 1", "f32[1,3,3,1] 1 1 0 1 1 0 0 0 0",
     "ksize=[1,2,2,1] strides=[1,1,1,1] padding='VALID'", CASE_NO_GRAD},
    {"f32[2,5,7,3] rand; f32[2,3,4,3] rand; f32[2,3,4,3] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[2,5,7,3] rand; f32[2,2,6,3] rand; f32[2,2,6,3] rand", NULL, POOL32 "padding='VALID'", CASE_NO_GRAD},
    {"f32[2,7,7,2] rand; f32[2,2,2,2] rand; f32[2,2,2,2] rand", NULL,
     "ksize=[1,2,2,1] strides=[1,3,3,1] padding='VALID'", CASE_NO_GRAD},
    {"f32[0,4,4,3] 0; f32[0,2,2,3] 0; f32[0,2,2,3] 0", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[9,28,28,32] rand; f32[9,14,14,32] rand; f32[9,14,14,32] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[2,9,9,300] rand; f32[2,5,5,300] rand; f32[2,5,5,300] rand", NULL,
     "ksize=[1,3,3,1] strides=[1,2,2,1] padding='SAME'", CASE_NO_GRAD},
    {"f32[1,2,2,1] 0; f32[1,2,2,1] 0; f32[1,1,1,1] 1", "error INVALID_ARGUMENT", POOL22 "padding='VALID'", 0},
    {0},
};

static const op_case max_pool_grad_v2_cases[] = {
    {"f32[2,5,7,3] rand; f32[2,3,4,3] rand; f32[2,3,4,3] rand; i32[4] 1 2 2 1; i32[4] 1 2 2 1", NULL, "padding='SAME'",
     CASE_NO_GRAD},
    {0},
};

static const op_case max_pool_grad_grad_cases[] = {
    {"f32[1,4,4,1] seq; f32[1,2,2,1] 5 7 13 15; f32[1,4,4,1] rand", NULL, POOL22 "padding='VALID'", 0},
    {"f32[1,2,2,1] 0; f32[1,1,1,1] 0; f32[1,2,2,1] 1 2 3 4", "f32[1,1,1,1] 1", POOL22 "padding='VALID'", CASE_NO_GRAD},
    {"f32[2,5,7,3] rand; f32[2,3,4,3] rand; f32[2,5,7,3] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"f32[2,5,7,3] rand; f32[2,2,6,3] rand; f32[2,5,7,3] rand", NULL, POOL32 "padding='VALID'", CASE_NO_GRAD},
    {0},
};

static const op_case max_pool_grad_grad_v2_cases[] = {
    {"f32[1,4,4,1] seq; f32[1,2,2,1] 5 7 13 15; f32[1,4,4,1] rand; i32[4] 1 2 2 1; i32[4] 1 2 2 1", NULL,
     "padding='VALID'", CASE_NO_GRAD},
    {0},
};

static const op_case arg_max_cases[] = {
    {"f32[2,2,2,2] seq", "f32[2,1,1,2] 6 7 14 15; i64[2,1,1,2] 6 7 6 7", POOL22 "padding='VALID'", CASE_NO_GRAD},
    {"f32[2,5,7,3] rand", NULL, POOL32 "padding='SAME'", 0},
    {"f32[2,5,7,3] rand", NULL, POOL22 "padding='SAME' include_batch_in_index=true Targmax=int32", 0},
    {0},
};

static const op_case arg_max_grad_cases[] = {
    {"f32[2,2,2,1] seq; f32[2,1,1,1] 5 7; i64[2,1,1,1] 1 2", "f32[2,2,2,1] 0 5 0 0 0 0 7 0", POOL22 "padding='VALID'",
     CASE_NO_GRAD},
    {"f32[2,2,2,1] seq; f32[2,1,1,1] 5 7; i64[2,1,1,1] 1 9", "error INVALID_ARGUMENT", POOL22 "padding='VALID'",
     CASE_NO_PARITY},
    {0},
};

static const op_case avg_pool_cases[] = {
    {"f32[1,3,3,1] seq", "f32[1,2,2,1] 2 3.5 6.5 8", POOL22 "padding='SAME'", 0},
    {"f32[2,5,7,3] rand", NULL, POOL32 "padding='VALID'", 0},
    {"f32[2,6,7,3] rand", NULL, POOL32 "padding='SAME'", 0},
    {"f32[2,7,7,5] rand", NULL, "ksize=[1,7,7,1] strides=[1,1,1,1] padding='VALID'", 0},
    {"f32[2,3,5,6] rand", NULL, "ksize=[1,1,2,2] strides=[1,1,2,2] padding='SAME' data_format='NCHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[0,4,4,3] 0", NULL, POOL22 "padding='SAME'", 0},
    {"f32[9,28,28,32] rand", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {0},
};

static const op_case avg_pool_grad_cases[] = {
    {"i32[4] 1 3 3 1; f32[1,2,2,1] 1", "f32[1,3,3,1] .25 .25 .5 .25 .25 .5 .5 .5 1", POOL22 "padding='SAME'", 0},
    {"i32[4] 2 5 7 3; f32[2,2,6,3] rand", NULL, POOL32 "padding='VALID'", 0},
    {"i32[4] 2 3 5 6; f32[2,3,3,3] rand", NULL, "ksize=[1,1,2,2] strides=[1,1,2,2] padding='SAME' data_format='NCHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[4] 0 3 3 1; f32[0,2,2,1] 0", NULL, POOL22 "padding='SAME'", CASE_NO_GRAD},
    {"i32[4] 1 3 3 1; f32[1,3,2,1] 1", "error INVALID_ARGUMENT", POOL22 "padding='SAME'", 0},
    {0},
};

#define KERNEL(run) .cpu = run, .prepare = weft__window_prepare, .unprepare = weft__window_unprepare
#define REAL11 "{half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8}"
#define WINDOW "ksize:list(int)>=4 strides:list(int)>=4 "
#define PAD3 "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
#define PAD2 "padding:string{'SAME','VALID'} "
#define FORMAT2 "data_format:string{'NHWC','NCHW'}='NHWC'"
#define FORMAT3 "data_format:string{'NHWC','NCHW','NCHW_VECT_C'}='NHWC'"

static const char *const window_attrs[] = {"ksize", "strides", "padding", "explicit_paddings", "data_format", NULL};
static const selection greatest = {window_attrs};
static const fusion selects = {.selects = &greatest}, selects_grad = {.selects_grad = &greatest};

OPS(pool) = {
    {"MaxPool(input:T) -> (output:T) | T:type" REAL11 "=float " WINDOW PAD3 FORMAT3, "The greatest of each window.",
     .infer = pool_infer, KERNEL(max_pool_cpu), .grad = max_pool_grad, .fusion = &selects, .cases = max_pool_cases,
     .amp = AMP_CLEAR},
    {"MaxPoolV2(input:T, ksize:int32, strides:int32) -> (output:T) | T:type" REAL11 "=float " PAD2 FORMAT3,
     "The greatest of each window, its size known when it runs.", .infer = pool_v2_infer, KERNEL(max_pool_cpu),
     .grad = max_pool_v2_grad, .cases = max_pool_v2_cases, .amp = AMP_CLEAR},
    {"MaxPoolGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | " WINDOW PAD3 FORMAT2 " T:type{real}=float",
     "The gradient of MaxPool.", .infer = grad_infer, KERNEL(max_pool_grad_cpu), .grad = max_pool_grad_grad,
     .fusion = &selects_grad, .cases = max_pool_grad_cases, .amp = AMP_CLEAR},
    {"MaxPoolGradV2(orig_input:T, orig_output:T, grad:T, ksize:int32, strides:int32) -> (output:T) | " PAD2 FORMAT2
     " T:type{real}=float",
     "The gradient of MaxPoolV2.", .infer = grad_infer, KERNEL(max_pool_grad_cpu), .grad = max_pool_grad_v2_grad,
     .cases = max_pool_grad_v2_cases, .amp = AMP_CLEAR},
    {"MaxPoolGradGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | " WINDOW PAD2 FORMAT2 " T:type{real}",
     "The second gradient of MaxPool.", .infer = grad_grad_infer, KERNEL(max_pool_grad_grad_cpu),
     .grad = max_pool_grad_grad_grad, .cases = max_pool_grad_grad_cases, .amp = AMP_CLEAR},
    {"MaxPoolGradGradV2(orig_input:T, orig_output:T, grad:T, ksize:int32, strides:int32) -> (output:T) | " PAD2 FORMAT2
     " T:type{real}",
     "The second gradient of MaxPoolV2.", .infer = grad_grad_infer, KERNEL(max_pool_grad_grad_cpu),
     .cases = max_pool_grad_grad_v2_cases, .amp = AMP_CLEAR},
    {"MaxPoolWithArgmax(input:T) -> (output:T, argmax:Targmax) | " WINDOW "Targmax:type{int32,int64}=int64 " PAD2
     "include_batch_in_index:bool=false T:type{real}",
     "The greatest of each window, and where it lies.", .infer = pool_infer, KERNEL(arg_max_cpu), .grad = arg_max_grad,
     .cases = arg_max_cases},
    {"MaxPoolGradWithArgmax(input:T, grad:T, argmax:Targmax) -> (output:T) | " WINDOW PAD2
     "include_batch_in_index:bool=false Targmax:type{int32,int64} T:type{real}",
     "The gradient of MaxPoolWithArgmax.", .infer = grad_infer, KERNEL(arg_max_grad_cpu), .cases = arg_max_grad_cases},
    {"AvgPool(value:T) -> (output:T) | " WINDOW PAD2 FORMAT2 " T:type{half,bfloat16,float,double}",
     "The mean of each window.", .infer = pool_infer, KERNEL(avg_pool_cpu), .grad = avg_pool_grad,
     .cases = avg_pool_cases, .amp = AMP_INFER},
    {"AvgPoolGrad(orig_input_shape:int32, grad:T) -> (output:T) | " WINDOW PAD2 FORMAT2
     " T:type{half,bfloat16,float,double}",
     "The gradient of AvgPool.", .infer = avg_grad_infer, KERNEL(avg_pool_grad_cpu), .grad = avg_pool_grad_grad,
     .cases = avg_pool_grad_cases, .amp = AMP_INFER},
    /* TensorFlow has a kernel for GPUs only. */
    {"MaxPoolGradGradWithArgmax(input:T, grad:T, argmax:Targmax) -> (output:T) | ksize:list(int)>=4 "
     "strides:list(int)>=4 padding:string{'SAME','VALID'} include_batch_in_index:bool=false "
     "Targmax:type{int32,int64} T:type{real}",
     "The second gradient of MaxPoolWithArgmax.", .infer = pool_infer},
    {0},
};
