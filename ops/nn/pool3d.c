/* pool3d.c - MaxPool3D and AvgPool3D, with their gradients.
 *
 * The channels are the inner loop.  If the channels are second, the same loops process one channel at a time.  Half
 * and bfloat16 are computed in float.  As in TensorFlow, the gradient of a maximum goes to every element that equals
 * it. */
#include "base/paste.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/conv/volume.h"
#include "kernels/conv/window.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include <string.h>

typedef struct pool3d {
  window_axis at[3];
  int64_t images, channels; /* number of independent volumes, and channels of each */
  const void *x, *y, *g;    /* input, pooled output, gradient; NULL if a loop does not read it */
  void *out;
  long_work *work;
} pool3d;

static int64_t pool3d_in(const pool3d *p) { return p->at[0].in * p->at[1].in * p->at[2].in; }
static int64_t pool3d_out(const pool3d *p) { return p->at[0].out * p->at[1].out * p->at[2].out; }

/* Returns the most pixels of a window that can be inside the volume. */
static int64_t pool3d_most(const pool3d *p) {
  return weft__window_most(&p->at[0]) * weft__window_most(&p->at[1]) * weft__window_most(&p->at[2]);
}

/* Finds the part of a window that is inside the volume: [begin, end) along each axis.  Returns its number of pixels. */
static int64_t pool3d_window(const pool3d *p, int64_t flat, int64_t *begin, int64_t *end) {
  int64_t count = 1;
  for (int i = 2; i >= 0; i--) {
    const window_axis *a = &p->at[i];
    const int64_t first = flat % a->out * a->stride - a->before, last = first + a->size;
    flat /= a->out;
    begin[i] = first < 0 ? 0 : first;
    end[i] = last > a->in ? a->in : last;
    count *= end[i] > begin[i] ? end[i] - begin[i] : 0;
  }
  return count;
}

#define EACH_PIXEL                                                                                                     \
  for (int64_t d = begin[0]; d < end[0]; d++)                                                                          \
    for (int64_t h = begin[1]; h < end[1]; h++)                                                                        \
      for (int64_t w = begin[2]; w < end[2]; w++)
#define PIXEL_AT (((d * p->at[1].in + h) * p->at[2].in + w) * n)
#define EACH_WINDOW                                                                                                    \
  const pool3d *p = arg;                                                                                               \
  const int64_t n = p->channels, in = pool3d_in(p) * n, windows = pool3d_out(p), cost = pool3d_most(p) * n;            \
  int64_t spent = 0;                                                                                                   \
  for (int64_t image = from; image < to; image++)                                                                      \
    for (int64_t o = 0; o < windows && !weft__long_work_spent(p->work, &spent, cost); o++)

#define T float
#define LOWEST -__FLT_MAX__
#include "ops/nn/pool3d.inc"
#define T double
#define LOWEST -__DBL_MAX__
#include "ops/nn/pool3d.inc"

enum { POOL3D_MAX, POOL3D_MAX_GRAD, POOL3D_MAX_GRAD_GRAD, POOL3D_AVG, POOL3D_AVG_GRAD };
static pool_loop *const pool3d_loops[2][5] = {
    {max3d_float, max3d_grad_float, max3d_grad_grad_float, avg3d_float, avg3d_grad_float},
    {max3d_double, max3d_grad_double, max3d_grad_grad_double, avg3d_double, avg3d_grad_double}};

/* ---- sizes ---- */

static weft_err pool3d_sizes(const kernel *k, const volume_window *w, const shape *s, pool3d *p, shape *pooled) {
  *p = (pool3d){.images = 0};
  WEFT_TRY(weft__volume_pool(k, w, s, p->at));
  p->images = s->dim[0], p->channels = s->dim[w->channel];
  const int64_t out[3] = {p->at[0].out, p->at[1].out, p->at[2].out};
  *pooled = weft__volume_shape(w, p->images, out, p->channels);
  if (w->channels_second) p->images *= p->channels, p->channels = 1;
  return WEFT_OK;
}

/* ---- running a loop ---- */

typedef struct pool3d_call {
  int loop;
  const weft_tensor *x, *y, *g;
  bool clear; /* clear out first, because the loop adds to it */
} pool3d_call;

static weft_err pool3d_loop(kernel *k, pool3d *p, const pool3d_call *c, bool is_double, size_t bytes) {
  if (c->clear) memset(p->out, 0, bytes);
  const int64_t taps = pool3d_most(p);
  long_work work = weft__long_work(k);
  p->work = &work;
  weft__kernel_loop(k, p->images, pool3d_out(p) * p->channels * (taps < 64 ? taps : 64) / 4 + 20,
                    pool3d_loops[is_double][c->loop], p);
  p->work = NULL;
  return weft__long_work_end(&work);
}

static weft_err pool3d_run(kernel *k, pool3d *p, const pool3d_call *c, const shape *s) {
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return weft__out_refused(s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  const weft_dtype t = out->dtype;
  if (t == WEFT_FLOAT || t == WEFT_DOUBLE) {
    p->x = c->x ? c->x->data : NULL, p->y = c->y ? c->y->data : NULL, p->g = c->g ? c->g->data : NULL;
    p->out = out->data;
    return pool3d_loop(k, p, c, t == WEFT_DOUBLE, weft__tensor_bytes(out));
  }
  if (!weft__is_16bit(t)) return weft__kernel_no_type(k, t);
  widened x = {0}, y = {0}, g = {0}, wide = {0};
  weft_err err = c->x ? weft__widened_load(&x, c->x) : WEFT_OK;
  if (!err && c->y) err = weft__widened_load(&y, c->y);
  if (!err && c->g) err = weft__widened_load(&g, c->g);
  if (!err) err = weft__widened_output(&wide, out);
  if (!err) {
    p->x = x.data, p->y = y.data, p->g = g.data, p->out = wide.data;
    err = pool3d_loop(k, p, c, false, (size_t)weft__tensor_count(out) * sizeof(float));
    weft__widened_store(&wide, out);
  }
  weft__widened_finish(&x), weft__widened_finish(&y), weft__widened_finish(&g), weft__widened_finish(&wide);
  return err;
}

static weft_err pool3d_forward(kernel *k, int loop) {
  pool3d p;
  shape pooled;
  WEFT_TRY(pool3d_sizes(k, k->state, &k->in[0]->shape, &p, &pooled));
  return pool3d_run(k, &p, &(pool3d_call){.loop = loop, .x = k->in[0]}, &pooled);
}

static weft_err max3d_cpu(kernel *k) { return pool3d_forward(k, POOL3D_MAX); }
static weft_err avg3d_cpu(kernel *k) { return pool3d_forward(k, POOL3D_AVG); }

static weft_err max3d_gradient(kernel *k, bool second) {
  const weft_tensor *x = k->in[0], *y = k->in[1], *g = k->in[2];
  pool3d p;
  shape pooled;
  WEFT_TRY(pool3d_sizes(k, k->state, &x->shape, &p, &pooled));
  WEFT_TRY(weft__window_expect_shape(k, 1, "orig_output", &pooled));
  WEFT_TRY(weft__window_expect_shape(k, 2, "grad", second ? &x->shape : &pooled));
  if (x->dtype != g->dtype)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "the image is %s and the gradient %s: cast one of them",
                             weft__dtype_name(x->dtype), weft__dtype_name(g->dtype));
  if (second) return pool3d_run(k, &p, &(pool3d_call){POOL3D_MAX_GRAD_GRAD, x, y, g, false}, &pooled);
  return pool3d_run(k, &p, &(pool3d_call){POOL3D_MAX_GRAD, x, y, g, true}, &x->shape);
}

static weft_err max3d_grad_cpu(kernel *k) { return max3d_gradient(k, false); }
static weft_err max3d_grad_grad_cpu(kernel *k) { return max3d_gradient(k, true); }

static weft_err avg3d_grad_cpu(kernel *k) {
  pool3d p;
  shape s, pooled;
  WEFT_TRY(weft__kernel_ints(k, 0, "orig_input_shape", s.dim, &s.rank));
  if (s.rank != 5 || weft__shape_count(&s) < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "orig_input_shape must have 5 elements that are >= 0, not %s",
                             weft__shape_text(&s));
  WEFT_TRY(pool3d_sizes(k, k->state, &s, &p, &pooled));
  WEFT_TRY(weft__window_expect_shape(k, 1, "grad", &pooled));
  return pool3d_run(k, &p, &(pool3d_call){POOL3D_AVG_GRAD, NULL, NULL, k->in[1], true}, &s);
}

/* ---- shapes ---- */

static weft_err pool3d_infer(infer *s) {
  volume_window w;
  shape x;
  WEFT_TRY(weft__infer_rank(s, 0, 5, &x));
  WEFT_TRY(weft__volume_window_infer(&w, s));
  int64_t out[3];
  for (int i = 0; i < 3; i++) {
    w.at[i].in = x.dim[w.axis[i]];
    WEFT_TRY(weft__window_infer_place(&w.at[i], w.padding, s));
    out[i] = w.at[i].out;
  }
  s->out[0] = weft__volume_shape(&w, x.dim[0], out, x.dim[w.channel]);
  return WEFT_OK;
}

static weft_err pool3d_grad_infer(infer *s) {
  volume_window w;
  WEFT_TRY(weft__infer_rank(s, 0, 5, &s->out[0]));
  return weft__volume_window_infer(&w, s);
}

static weft_err avg3d_grad_infer(infer *s) {
  volume_window w;
  WEFT_TRY(weft__volume_window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 1, 5, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 0, &s->out[0]));
  if (s->out[0].rank < 0) s->out[0] = (shape){5, {-1, -1, -1, -1, -1}};
  if (s->out[0].rank != 5) return weft__infer_fail(s, "Shape must be rank 5 but is rank %d", s->out[0].rank);
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_out pool3d_like(backprop *b, const char *type, int n, const weft_out *in) {
  static const char *const names[] = {"ksize", "strides", "padding", "data_format"};
  attr attrs[4];
  int count = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const attr *a = weft__node_attr(b->node, names[i]);
    if (a) attrs[count++] = *a;
  }
  return weft__b_node(b->graph, type, NULL, n, in, count, attrs);
}

static weft_err max3d_grad(backprop *b) {
  const weft_out in[] = {b->in[0], b->out[0], b->dout[0]};
  b->din[0] = GRAD_DENSE(pool3d_like(b, "MaxPool3DGrad", 3, in));
  return weft__b_ok(b->graph);
}

static weft_err max3d_second(backprop *b, const char *type) {
  const weft_out in[] = {b->in[0], b->in[1], b->dout[0]};
  b->din[0] = GRAD_DENSE(weft__b_zeros_like(b->graph, b->in[0]));
  b->din[1] = GRAD_DENSE(weft__b_zeros_like(b->graph, b->in[1]));
  b->din[2] = GRAD_DENSE(pool3d_like(b, type, 3, in));
  return weft__b_ok(b->graph);
}

static weft_err max3d_grad_grad(backprop *b) { return max3d_second(b, "MaxPool3DGradGrad"); }
static weft_err max3d_grad_grad_grad(backprop *b) { return max3d_second(b, "MaxPool3DGrad"); }

static weft_err avg3d_grad(backprop *b) {
  const weft_out in[] = {weft__b_shape(b->graph, b->in[0]), b->dout[0]};
  b->din[0] = GRAD_DENSE(pool3d_like(b, "AvgPool3DGrad", 2, in));
  return weft__b_ok(b->graph);
}

static weft_err avg3d_grad_grad(backprop *b) {
  b->din[1] = GRAD_DENSE(pool3d_like(b, "AvgPool3D", 1, b->dout));
  return weft__b_ok(b->graph);
}

/* ---- cases ---- */

#define POOL222 "ksize=[1,2,2,2,1] strides=[1,2,2,2,1] "
#define POOL321 "ksize=[1,3,2,2,1] strides=[1,2,1,2,1] "
#define POOL_NC "ksize=[1,1,2,2,2] strides=[1,1,2,1,2] data_format='NCDHW' "
#define ONE_TYPE (CASE_FIXED_TYPE | CASE_NO_PARITY)

static const op_case max3d_cases[] = {
    {"f32[1,2,2,2,1] 1 5 3 2 4 0 8 7", "f32[1,1,1,1,1] 8", POOL222 "padding='VALID'", 0},
    {"f32[2,5,4,3,3] rand", NULL, POOL222 "padding='SAME'", CASE_FIXED_TYPE},
    {"f32[2,5,4,3,3] rand", NULL, POOL321 "padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,3,4,5,4] rand", NULL, POOL_NC "padding='SAME'", ONE_TYPE},
    {"bf16[1,4,4,4,2] rand", NULL, POOL222 "padding='SAME'", CASE_NO_GRAD | ONE_TYPE},
    {"f32[0,4,4,4,3] 0", "f32[0,2,2,2,3] 0", POOL222 "padding='SAME'", CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[2,4,3,3] rand", "error INVALID_ARGUMENT", POOL222 "padding='SAME'", 0},
    {"f32[1,4,4,4,1] rand", "error INVALID_ARGUMENT", "ksize=[1,2,2,2,1] strides=[1,0,2,2,1] padding='SAME'", 0},
    {"f32[1,4,4,4,2] rand", "error UNIMPLEMENTED", "ksize=[1,2,2,2,2] strides=[1,2,2,2,1] padding='SAME'", 0},
    {0},
};
static const op_case max3d_grad_cases[] = {
    {"f32[1,2,2,2,1] 0; f32[1,1,1,1,1] 0; f32[1,1,1,1,1] 3", "f32[1,2,2,2,1] 3", POOL222 "padding='VALID'",
     CASE_NO_GRAD},
    {"f32[1,2,2,2,1] seq; f32[1,1,1,1,1] 7; f32[1,1,1,1,1] rand", NULL, POOL222 "padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,5,4,3,3] rand; f32[2,2,3,1,3] rand; f32[2,2,3,1,3] rand", NULL, POOL321 "padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,2,2,2,1] 0; f32[1,2,1,1,1] 0; f32[1,1,1,1,1] 3", "error INVALID_ARGUMENT", POOL222 "padding='VALID'",
     CASE_NO_PARITY},
    {0},
};
static const op_case max3d_grad_grad_cases[] = {
    {"f32[1,2,2,2,1] 0; f32[1,1,1,1,1] 0; f32[1,2,2,2,1] 4 1 2 3", "f32[1,1,1,1,1] 4", POOL222 "padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,5,4,3,3] rand; f32[2,2,3,1,3] rand; f32[2,5,4,3,3] rand", NULL, POOL321 "padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,2,2,2,1] seq; f32[1,1,1,1,1] 7; f32[1,2,2,2,1] rand", NULL, POOL222 "padding='VALID'", CASE_FIXED_TYPE},
    {0},
};
static const op_case avg3d_cases[] = {
    {"f32[1,2,2,2,1] 1 5 3 2 4 1 8 8", "f32[1,1,1,1,1] 4", POOL222 "padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,5,4,3,3] rand", NULL, POOL222 "padding='SAME'", CASE_FIXED_TYPE},
    {"f32[2,5,4,3,3] rand", NULL, POOL321 "padding='SAME'", CASE_FIXED_TYPE},
    {"f32[2,3,4,5,4] rand", NULL, POOL_NC "padding='SAME'", ONE_TYPE},
    {"f64[2,3,4,5,4] rand", NULL, POOL222 "padding='SAME'", ONE_TYPE},
    {"f16[2,3,4,5,4] rand", NULL, POOL222 "padding='SAME'", ONE_TYPE | CASE_NO_GRAD},
    {0},
};
static const op_case avg3d_grad_cases[] = {
    {"i32[5] 1 3 3 1 1; f32[1,2,2,1,1] 1", "f32[1,3,3,1,1] .25 .25 .5 .25 .25 .5 .5 .5 1", POOL222 "padding='SAME'",
     CASE_FIXED_TYPE},
    {"i32[5] 2 5 4 3 3; f32[2,2,3,1,3] rand", NULL, POOL321 "padding='VALID'", CASE_FIXED_TYPE},
    {"i32[5] 1 3 3 1 1; f32[1,2,2,2,1] 1", "error INVALID_ARGUMENT", POOL222 "padding='SAME'", CASE_NO_PARITY},
    {"i32[4] 1 3 3 1; f32[1,2,2,2,1] 1", "error INVALID_ARGUMENT", POOL222 "padding='SAME'", 0},
    {0},
};

#define POOL3D_KERNEL(run) .cpu = run, .prepare = weft__volume_prepare, .unprepare = weft__volume_unprepare
#define POOL3D_WINDOW                                                                                                  \
  "ksize:list(int)>=5 strides:list(int)>=5 padding:string{'SAME','VALID'} "                                            \
  "data_format:string{'NDHWC','NCDHW'}='NDHWC' "

OPS(pool3d) = {
    {"MaxPool3D(input:T) -> (output:T) | " POOL3D_WINDOW "T:type{half,bfloat16,float}",
     "The greatest of each window of a volume.", .infer = pool3d_infer, POOL3D_KERNEL(max3d_cpu), .grad = max3d_grad,
     .cases = max3d_cases, .amp = AMP_CLEAR},
    {"MaxPool3DGrad(orig_input:TInput, orig_output:TInput, grad:T) -> (output:T) | " POOL3D_WINDOW
     "T:type{half,bfloat16,float}=float TInput:type{half,bfloat16,float}=float",
     "The gradient of MaxPool3D.", .infer = pool3d_grad_infer, POOL3D_KERNEL(max3d_grad_cpu), .grad = max3d_grad_grad,
     .cases = max3d_grad_cases, .amp = AMP_CLEAR},
    {"MaxPool3DGradGrad(orig_input:T, orig_output:T, grad:T) -> (output:T) | " POOL3D_WINDOW "T:type{real}",
     "The second gradient of MaxPool3D.", .infer = pool3d_infer, POOL3D_KERNEL(max3d_grad_grad_cpu),
     .grad = max3d_grad_grad_grad, .cases = max3d_grad_grad_cases, .amp = AMP_CLEAR},
    {"AvgPool3D(input:T) -> (output:T) | " POOL3D_WINDOW "T:type{half,bfloat16,float,double}",
     "The mean of each window of a volume.", .infer = pool3d_infer, POOL3D_KERNEL(avg3d_cpu), .grad = avg3d_grad,
     .cases = avg3d_cases, .amp = AMP_INFER},
    {"AvgPool3DGrad(orig_input_shape:int32, grad:T) -> (output:T) | " POOL3D_WINDOW
     "T:type{half,bfloat16,float,double}",
     "The gradient of AvgPool3D.", .infer = avg3d_grad_infer, POOL3D_KERNEL(avg3d_grad_cpu), .grad = avg3d_grad_grad,
     .cases = avg3d_grad_cases, .amp = AMP_INFER},
    {0},
};
