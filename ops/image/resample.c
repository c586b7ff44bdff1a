/* resample.c - resizes images by weighted sums of pixels: ResizeBicubic, ResizeArea, ScaleAndTranslate.
 *
 * All are separable: an output row is a weighted sum of a few input rows, and a column of a few columns.  An axis
 * holds, for each output position, the first input position and the weights from there on.  A gradient applies the
 * transposed weights. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/image/resize.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Output position i is the sum of input positions [first[i], first[i] + count[i]) with the weights at weight + i *
 * most. */
typedef struct axis {
  int64_t in, out, most;
  int64_t *first, *count; /* one allocation, which begins at first */
  double *weight;         /* the values are floats or sums of floats */
} axis;

static void axis_free(axis *a) {
  weft__free(a->first);
  weft__free(a->weight);
}

/* Allocates `most` weights for each position, all zero. */
static weft_err axis_init(axis *a, int64_t in, int64_t out, double most) {
  *a = (axis){.in = in, .out = out, .most = most < (double)in ? (int64_t)most : in};
  if (a->most < 1) a->most = 1;
  if ((double)a->most * (double)out > 1e12)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%lld weights for each of %lld positions are too many",
                      (long long)a->most, (long long)out);
  a->first = weft__alloc_zero((size_t)out * 2 + 1, sizeof *a->first);
  a->weight = weft__alloc_zero((size_t)(out * a->most) + 1, sizeof *a->weight);
  if (!a->first || !a->weight) {
    axis_free(a);
    return WEFT_OOM;
  }
  a->count = a->first + out;
  return WEFT_OK;
}

static int64_t resample_within(int64_t v, int64_t n) { return v < 0 ? 0 : v < n ? v : n - 1; }

/* Adds a weight for an input position, which is first clamped to the image. */
static void axis_add(axis *a, int64_t i, int64_t position, float weight) {
  const int64_t at = resample_within(position, a->in) - a->first[i];
  if (at < 0 || at >= a->most) return;
  a->weight[i * a->most + at] += (double)weight;
  if (at + 1 > a->count[i]) a->count[i] = at + 1;
}

/* ---- bicubic ---- */

enum { CUBIC_STEPS = 1024 }; /* TensorFlow rounds the position between two pixels to one of this many */

static float cubic_near(double x, double a) { return (float)(((a + 2) * x - (a + 3)) * x * x + 1); }
static float cubic_far(double x, double a) {
  return (float)(((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a);
}

static void axis_cubic_at(axis *a, int64_t i, float at, bool centers) {
  const double sharp = centers ? -0.5 : -0.75;
  const float low = floorf(at);
  const int64_t base = (int64_t)low;
  const double x = (double)lrintf((at - low) * CUBIC_STEPS) / CUBIC_STEPS;
  float w[4] = {cubic_far(x, sharp), cubic_near(x, sharp), cubic_near(1 - x, sharp), cubic_far(1 - x, sharp)};
  float sum = 0;
  for (int j = 0; j < 4; j++) { /* with half_pixel_centers, pixels outside the image are ignored */
    if (centers && resample_within(base - 1 + j, a->in) != base - 1 + j) w[j] = 0;
    sum += w[j];
  }
  a->first[i] = resample_within(base - 1, a->in);
  for (int j = 0; j < 4; j++) axis_add(a, i, base - 1 + j, centers && fabsf(sum) >= 1000 * FLT_MIN ? w[j] / sum : w[j]);
}

static weft_err axis_cubic(axis *a, int64_t in, int64_t out, bool align, bool centers) {
  WEFT_TRY(axis_init(a, in, out, 4));
  const float scale = weft__resize_scale(in, out, align);
  for (int64_t i = 0; i < out; i++)
    axis_cubic_at(a, i, centers ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale, centers);
  return WEFT_OK;
}

/* ---- area ---- */

static weft_err axis_area(axis *a, int64_t in, int64_t out, bool align) {
  const float scale = weft__resize_scale(in, out, align);
  WEFT_TRY(axis_init(a, in, out, (double)scale + 3));
  for (int64_t i = 0; i < out; i++) {
    const float begin = (float)i * scale, end = (float)(i + 1) * scale;
    a->first[i] = resample_within((int64_t)floorf(begin), in);
    for (int64_t p = (int64_t)floorf(begin); p < (int64_t)ceilf(end); p++) {
      const float low = (float)p < begin ? begin : (float)p, high = (float)(p + 1) > end ? end : (float)(p + 1);
      axis_add(a, i, p, (high - low) / scale);
      if (p >= in) { /* the rest is outside: repeat the last pixel */
        axis_add(a, i, p, (end - high) / scale);
        break;
      }
    }
  }
  return WEFT_OK;
}

/* ---- filter kernels of ScaleAndTranslate ---- */

typedef struct filter {
  const char *name;
  float radius;
  double (*at)(double x);
} filter;

static double lanczos_weight(double x, double radius) {
  const double pi_x = 3.14159265358979323846 * x;
  if (fabs(x) > radius) return 0;
  return fabs(x) <= 1e-3 ? 1 : radius * sin(pi_x) * sin(pi_x / radius) / (pi_x * pi_x);
}
static double filter_lanczos1(double x) { return lanczos_weight(x, 1); }
static double filter_lanczos3(double x) { return lanczos_weight(x, 3); }
static double filter_lanczos5(double x) { return lanczos_weight(x, 5); }
static double filter_gaussian(double x) { return fabs(x) >= 1.5 ? 0 : exp(-x * x * 2); }
static double filter_box(double x) { return fabs(x) < 0.5 ? 1 : fabs(x) == 0.5 ? 0.5 : 0; }
static double filter_triangle(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }
static double filter_keys(double x) {
  x = fabs(x);
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}
static double filter_mitchell(double x) {
  x = fabs(x);
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0 / 18) * x + 2) * x - 10.0 / 3) * x + 16.0 / 9;
  return ((7.0 / 6) * x - 2) * x * x + 8.0 / 9;
}

static const filter *filter_named(const weft_node *n) {
  static const filter all[] = {{"lanczos1", 1, filter_lanczos1}, {"lanczos3", 3, filter_lanczos3},
                               {"lanczos5", 5, filter_lanczos5}, {"gaussian", 1.5f, filter_gaussian},
                               {"box", 1, filter_box},           {"triangle", 1, filter_triangle},
                               {"keyscubic", 2, filter_keys},    {"mitchellcubic", 2, filter_mitchell}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (weft__node_str_is(n, "kernel_type", all[i].name)) return &all[i];
  return NULL;
}

static weft_err axis_filter(axis *a, const filter *f, int64_t in, int64_t out, float scale, float move, bool smooth) {
  const float inverse = 1 / scale, wide = smooth && inverse > 1 ? inverse : 1, radius = f->radius * wide;
  WEFT_TRY(axis_init(a, in, out, 2 * ceil((double)radius) + 3));
  for (int64_t i = 0; i < out; i++) {
    const float at = ((float)i + 0.5f) * inverse - move * inverse;
    if (!(at >= 0 && at <= (float)in)) continue;
    const double low = ceil((double)(at - radius) - 0.5), high = floor((double)(at + radius) - 0.5);
    const int64_t begin = low < 0 ? 0 : (int64_t)low, end = high > (double)(in - 1) ? in - 1 : (int64_t)high;
    double *w = a->weight + i * a->most;
    float sum = 0;
    a->first[i] = resample_within(begin, in);
    for (int64_t p = begin; p <= end && p - begin < a->most; p++) {
      const float weight = (float)f->at((double)(((float)p + 0.5f - at) / wide));
      w[p - begin] = (double)weight;
      sum += weight;
      a->count[i] = p - begin + 1;
    }
    for (int64_t p = 0; p < a->count[i] && fabsf(sum) >= 1000 * FLT_MIN; p++) w[p] = (double)((float)w[p] / sum);
  }
  return WEFT_OK;
}

/* ---- weighted sums ---- */

typedef struct resample {
  int64_t batch, channels;
  axis at[2]; /* rows, columns */
  const float *x;
  float *y;
  double *wide; /* used in place of y */
  bool failed;  /* out of memory; any thread may set it to true */
} resample;

static void resample_free(resample *r) { axis_free(&r->at[0]), axis_free(&r->at[1]); }

/* y += w * x */
static void add_scaled(float *restrict y, const float *restrict x, float w, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] += w * x[i];
}

/* Computes output rows [begin, end), numbered over the batch. */
static void resample_rows(void *arg, int64_t begin, int64_t end) {
  resample *r = arg;
  const axis *v = &r->at[0], *h = &r->at[1];
  const int64_t C = r->channels, row = h->in * C;
  float *sum = weft__alloc((size_t)row * sizeof *sum);
  if (!sum) {
    r->failed = true;
    return;
  }
  for (int64_t o = begin; o < end; o++) {
    const int64_t i = o % v->out;
    const float *image = r->x + o / v->out * v->in * row;
    float *y = r->y + o * h->out * C;
    memset(sum, 0, (size_t)row * sizeof *sum);
    memset(y, 0, (size_t)(h->out * C) * sizeof *y);
    for (int64_t p = 0; p < v->count[i]; p++)
      add_scaled(sum, image + (v->first[i] + p) * row, (float)v->weight[i * v->most + p], row);
    for (int64_t j = 0; j < h->out; j++, y += C)
      for (int64_t p = 0; p < h->count[j]; p++)
        add_scaled(y, sum + (h->first[j] + p) * C, (float)h->weight[j * h->most + p], C);
  }
  weft__free(sum);
}

/* Computes images [begin, end) of the gradient: x has the output's size, y the input's. */
static void resample_back(void *arg, int64_t begin, int64_t end) {
  resample *r = arg;
  const axis *v = &r->at[0], *h = &r->at[1];
  const int64_t C = r->channels, row = h->in * C;
  float *sum = weft__alloc((size_t)row * sizeof *sum);
  if (!sum) {
    r->failed = true;
    return;
  }
  memset(r->y + begin * v->in * row, 0, (size_t)((end - begin) * v->in * row) * sizeof *r->y);
  for (int64_t o = begin * v->out; o < end * v->out; o++) {
    const int64_t i = o % v->out;
    const float *g = r->x + o * h->out * C;
    memset(sum, 0, (size_t)row * sizeof *sum);
    for (int64_t j = 0; j < h->out; j++, g += C)
      for (int64_t p = 0; p < h->count[j]; p++)
        add_scaled(sum + (h->first[j] + p) * C, g, (float)h->weight[j * h->most + p], C);
    float *image = r->y + o / v->out * v->in * row;
    for (int64_t p = 0; p < v->count[i]; p++)
      add_scaled(image + (v->first[i] + p) * row, sum, (float)v->weight[i * v->most + p], row);
  }
  weft__free(sum);
}

/* The same as resample_back, but sums in doubles. */
static void resample_back_double(void *arg, int64_t begin, int64_t end) {
  resample *r = arg;
  const axis *v = &r->at[0], *h = &r->at[1];
  const int64_t C = r->channels, row = h->in * C;
  memset(r->wide + begin * v->in * row, 0, (size_t)((end - begin) * v->in * row) * sizeof *r->wide);
  for (int64_t o = begin * v->out; o < end * v->out; o++) {
    const int64_t i = o % v->out;
    for (int64_t p = 0; p < v->count[i]; p++) {
      const float *g = r->x + o * h->out * C;
      double *to = r->wide + (o / v->out * v->in + v->first[i] + p) * row;
      for (int64_t j = 0; j < h->out; j++, g += C)
        for (int64_t q = 0; q < h->count[j]; q++)
          for (int64_t c = 0; c < C; c++)
            to[(h->first[j] + q) * C + c] += (double)g[c] * v->weight[i * v->most + p] * h->weight[j * h->most + q];
    }
  }
}

/* ---- kernels ---- */

/* Computes the axes for an input of height and width `in`. */
typedef weft_err axes_fn(const kernel *k, resample *r, const int64_t *in, const int64_t *out);

static weft_err axes_cubic(const kernel *k, resample *r, const int64_t *in, const int64_t *out) {
  const bool align = weft__node_bool(k->node, "align_corners", false);
  const bool centers = weft__node_bool(k->node, "half_pixel_centers", false);
  if (align && centers)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "If half_pixel_centers is True, align_corners must be False.");
  WEFT_TRY(axis_cubic(&r->at[0], in[0], out[0], align, centers));
  const weft_err err = axis_cubic(&r->at[1], in[1], out[1], align, centers);
  if (err) axis_free(&r->at[0]);
  return err;
}

static weft_err axes_area(const kernel *k, resample *r, const int64_t *in, const int64_t *out) {
  const bool align = weft__node_bool(k->node, "align_corners", false);
  WEFT_TRY(axis_area(&r->at[0], in[0], out[0], align));
  const weft_err err = axis_area(&r->at[1], in[1], out[1], align);
  if (err) axis_free(&r->at[0]);
  return err;
}

/* Reads the scale and the translation from the last two inputs. */
static weft_err axes_filter(const kernel *k, resample *r, const int64_t *in, const int64_t *out) {
  const bool smooth = weft__node_bool(k->node, "antialias", true);
  const filter *f = filter_named(k->node);
  const int at = k->n_in - 2;
  if (!f)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unrecognized kernel type: %s",
                             weft__node_str(k->node, "kernel_type").data);
  for (int i = 0; i < 2; i++)
    if (k->in[at + i]->shape.rank != 1 || k->in[at + i]->shape.dim[0] != 2)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must have two elements, not the shape %s",
                               i ? "translation" : "scale", weft__shape_text(&k->in[at + i]->shape));
  const float *scale = TENSOR_DATA(k->in[at], float), *move = TENSOR_DATA(k->in[at + 1], float);
  if (!(scale[0] > 0 && scale[1] > 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Scale must be greater than zero: %g, %g", (double)scale[0],
                             (double)scale[1]);
  WEFT_TRY(axis_filter(&r->at[0], f, in[0], out[0], scale[0], move[0], smooth));
  const weft_err err = axis_filter(&r->at[1], f, in[1], out[1], scale[1], move[1], smooth);
  if (err) axis_free(&r->at[0]);
  return err;
}

static weft_err resample_sizes(const kernel *k, int64_t *out) {
  const shape *s = &k->in[0]->shape, *n = &k->in[1]->shape;
  if (s->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional%s", weft__shape_text(s));
  if (n->rank != 1 || n->dim[0] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape_t must have two elements%s", weft__shape_text(n));
  for (int i = 0; i < 2; i++) {
    out[i] = weft__tensor_int(k->in[1], i);
    if (out[i] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "output dimensions must be positive");
    if (s->dim[1 + i] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input image must be of non-zero size");
  }
  if (s->dim[3] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must have at least one channel");
  return WEFT_OK;
}

static weft_err resample_run(kernel *k, resample *r, int64_t units, int64_t cost, pool_loop *loop) {
  WEFT_TRY(weft__long_loop(k, units, cost, loop, r));
  if (!r->failed) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for a row of %lld pixels", (long long)r->at[1].in);
}

static weft_err resample_forward(kernel *k, axes_fn *axes) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  int64_t out[2];
  WEFT_TRY(resample_sizes(k, out));
  resample r = {.batch = s->dim[0], .channels = s->dim[3]};
  const shape made = SHAPE4(r.batch, out[0], out[1], r.channels);
  weft_tensor *y = weft__out(k, 0, &made), floats = {0};
  if (!y) return weft__out_refused(&made);
  weft_err err = axes(k, &r, s->dim + 1, out);
  if (err) return err;
  if (x->dtype != WEFT_FLOAT) {
    err = weft__scratch(k, &floats, WEFT_FLOAT, s);
    if (!err) err = weft__cast_elements(k, x, &floats);
    x = &floats;
  }
  if (!err) {
    r.x = x->data, r.y = y->data;
    err = resample_run(k, &r, r.batch * out[0],
                       r.channels * (s->dim[2] * r.at[0].most + out[1] * r.at[1].most) / 4 + 50, resample_rows);
  }
  weft__tensor_clear(&floats);
  resample_free(&r);
  return err;
}

static weft_err resample_backward(kernel *k, axes_fn *axes) {
  const shape *g = &k->in[0]->shape, *x = &k->in[1]->shape;
  if (g->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_grad must be 4-dimensional%s", weft__shape_text(g));
  if (x->rank != 4 || x->dim[1] <= 0 || x->dim[2] <= 0 || g->dim[1] <= 0 || g->dim[2] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "original_image must be 4-dimensional and not empty: %s",
                             weft__shape_text(x));
  resample r = {.batch = g->dim[0], .channels = g->dim[3]};
  const shape made = SHAPE4(r.batch, x->dim[1], x->dim[2], r.channels);
  weft_tensor *dx = weft__out(k, 0, &made);
  if (!dx) return weft__out_refused(&made);
  WEFT_TRY(axes(k, &r, x->dim + 1, g->dim + 1));
  const bool wide = dx->dtype == WEFT_DOUBLE;
  r.x = k->in[0]->data;
  if (wide)
    r.wide = dx->data;
  else
    r.y = dx->data;
  const weft_err err = resample_run(k, &r, r.batch, weft__shape_product(g, 1, 4) * r.at[1].most + 50,
                                    wide ? resample_back_double : resample_back);
  resample_free(&r);
  return err;
}

static weft_err cubic_cpu(kernel *k) { return resample_forward(k, axes_cubic); }
static weft_err area_cpu(kernel *k) { return resample_forward(k, axes_area); }
static weft_err filter_cpu(kernel *k) { return resample_forward(k, axes_filter); }
static weft_err cubic_grad_cpu(kernel *k) { return resample_backward(k, axes_cubic); }
static weft_err filter_grad_cpu(kernel *k) { return resample_backward(k, axes_filter); }

/* ---- shapes and gradients ---- */

static weft_err cubic_grad(backprop *b) {
  const weft_dtype t = weft__out_type(b->graph, b->in[0]);
  if (t != WEFT_FLOAT && t != WEFT_DOUBLE) return WEFT_OK; /* as in TensorFlow, other types have no gradient */
  const weft_out in[] = {b->dout[0], b->in[0]};
  const attr attrs[] = {A_BOOL("align_corners", weft__node_bool(b->node, "align_corners", false)),
                        A_BOOL("half_pixel_centers", weft__node_bool(b->node, "half_pixel_centers", false))};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "ResizeBicubicGrad", NULL, 2, in, 2, attrs));
  return weft__b_ok(b->graph);
}

static weft_err filter_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], b->in[0], b->in[2], b->in[3]};
  const attr *type = weft__node_attr(b->node, "kernel_type"), *smooth = weft__node_attr(b->node, "antialias");
  attr attrs[2];
  int n = 0;
  if (type) attrs[n++] = *type;
  if (smooth) attrs[n++] = *smooth;
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "ScaleAndTranslateGrad", NULL, 4, in, n, attrs));
  return weft__b_ok(b->graph);
}

/* ---- cases ---- */

static const op_case cubic_cases[] = {
    {"f32[1,1,1,1] 3; i32[2] 2 2", "f32[1,2,2,1] 3", NULL, CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[2,6,5,3] rand; i32[2] 4 3", NULL, "align_corners=true", CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; i32[2] 7 9", NULL, "half_pixel_centers=true", CASE_FIXED_TYPE},
    {"f32[2,6,5,4] rand; i32[2] 2 3", NULL, "half_pixel_centers=true", CASE_FIXED_TYPE},
    {"f64[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_FIXED_TYPE},
    {"f16[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"u8[1,3,4,3] below:255; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3,4,3] 0; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,60,50,3] rand; i32[2] 99 71", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,4,3] rand; i32[2] 7 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; i32[2] 0 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; i32[2] 2 5", "error INVALID_ARGUMENT", "align_corners=true half_pixel_centers=true",
     CASE_FIXED_TYPE},
    {0},
};
static const op_case cubic_grad_cases[] = {
    {"f32[2,7,5,3] rand; f32[2,3,4,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4,3,3] rand; f64[2,6,5,3] rand", NULL, "align_corners=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,7,9,3] rand; f32[2,3,4,3] rand", NULL, "half_pixel_centers=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[7,9,3] rand; f32[2,3,4,3] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case area_cases[] = {
    {"f32[1,2,2,1] 0 1 2 3; i32[2] 1 1", "f32[1,1,1,1] 1.5", NULL, CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,9,8,3] rand; i32[2] 4 3", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,4,5,1] rand; i32[2] 3 2", NULL, "align_corners=true", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"u8[1,6,4,3] below:255; i32[2] 5 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3,4,3] 0; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,4,3] rand; i32[2] 7 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; i32[2] 0 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case filter_cases[] = {
    {"f32[1,2,2,1] 1 2 3 4; i32[2] 2 2; f32[2] 1; f32[2] 0", "f32[1,2,2,1] 1 2 3 4", "kernel_type='triangle'",
     CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 7 4; f32[2] 1.4 .66; f32[2] 0", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 7 4; f32[2] 1.4 .66; f32[2] .5 -1", NULL, "kernel_type='lanczos1'", CASE_FIXED_TYPE},
    {"f32[2,9,6,3] rand; i32[2] 7 4; f32[2] .7 .66; f32[2] .5 -1", NULL, "kernel_type='lanczos5' antialias=false",
     CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 3 9; f32[2] .6 1.5; f32[2] 0", NULL, "kernel_type='gaussian'", CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 3 9; f32[2] .6 1.5; f32[2] 0", NULL, "kernel_type='box'", CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 3 9; f32[2] .6 1.5; f32[2] 2 -8", NULL, "kernel_type='keyscubic'", CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; i32[2] 3 9; f32[2] .6 1.5; f32[2] 0", NULL, "kernel_type='mitchellcubic'", CASE_FIXED_TYPE},
    {"u8[1,6,4,3] below:255; i32[2] 5 3; f32[2] .9; f32[2] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,5,6,3] rand; i32[2] 3 9; f32[2] .6 1.5; f32[2] 0", "error INVALID_ARGUMENT", "kernel_type='best'",
     CASE_FIXED_TYPE},
    {"f32[1,5,6,3] rand; i32[2] 3 9; f32[2] 0 1; f32[2] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case filter_grad_cases[] = {
    {"f32[2,7,4,3] rand; f32[2,5,6,3] rand; f32[2] 1.4 .66; f32[2] 0", NULL, NULL, CASE_NO_GRAD},
    {0},
};

#define RESAMPLE_FLAGS "align_corners:bool=false half_pixel_centers:bool=false"
#define RESAMPLE_TYPES "T:type{int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16} "
#define FILTER_ATTRS "kernel_type:string='lanczos3' antialias:bool=true"

OPS(resample) = {
    {"ResizeBicubic(images:T, size:int32) -> (resized_images:float) | " RESAMPLE_TYPES RESAMPLE_FLAGS,
     "Images at another size, by a cubic curve through the sixteen nearest pixels.", .infer = weft__resize_infer,
     .cpu = cubic_cpu, .grad = cubic_grad, .cases = cubic_cases},
    {"ResizeBicubicGrad(grads:float, original_image:T) -> (output:T) | T:type{float,double} " RESAMPLE_FLAGS,
     "The gradient of ResizeBicubic.", .infer = weft__resize_grad_infer, .cpu = cubic_grad_cpu,
     .cases = cubic_grad_cases},
    {"ResizeArea(images:T, size:int32) -> (resized_images:float) | " RESAMPLE_TYPES "align_corners:bool=false",
     "Images at another size, by the mean of the pixels under each new one.", .infer = weft__resize_infer,
     .cpu = area_cpu, .cases = area_cases},
    {"ScaleAndTranslate(images:T, size:int32, scale:float, translation:float) -> (resized_images:float) | "
     "T:type{int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double} " FILTER_ATTRS,
     "Images scaled and moved, with a filter kernel.", .infer = weft__resize_infer, .cpu = filter_cpu,
     .grad = filter_grad, .cases = filter_cases},
    {"ScaleAndTranslateGrad(grads:T, original_image:T, scale:float, translation:float) -> (output:T) | "
     "T:type{float} " FILTER_ATTRS,
     "The gradient of ScaleAndTranslate.", .infer = weft__resize_grad_infer, .cpu = filter_grad_cpu,
     .cases = filter_grad_cases},
    {0},
};
