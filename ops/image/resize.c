/* resize.c - resizes images by the nearest pixel or the bilinear mean of four pixels.
 *
 * Two flags determine where an output pixel falls in the input. align_corners maps corner pixels to corner pixels.
 * half_pixel_centers treats a pixel as a square with its value at the center.  Without either, the upper left
 * corners coincide.  The positions along each axis are computed once; then threads fill rows in parallel.  A
 * gradient adds each output gradient to the pixels that it was computed from. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include "ops/math/quantized.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"
#include "kernels/image/resize.h"
#include <math.h>
#include <string.h>

/* The position of one output row or column: the two input rows or columns around it, and the distance from the
 * first. */
typedef struct between {
  int64_t low, high;
  float part;
} between;

typedef struct resize {
  int64_t batch, channels;
  int64_t in[2], out[2]; /* (height, width) of the image that is read and of the other one */
  between *at[2];        /* positions (out) along each axis; one allocation, which begins at at[0] */
  const void *x;
  void *y;
  size_t size; /* bytes of an element, if elements are only copied */
} resize;

static void axis_linear(between *b, int64_t in, int64_t out, bool align, bool centers) {
  const float scale = weft__resize_scale(in, out, align);
  for (int64_t i = 0; i < out; i++) {
    const float at = centers ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale, low = floorf(at);
    b[i].low = low > 0 ? (int64_t)low : 0;
    b[i].high = (int64_t)ceilf(at) < in - 1 ? (int64_t)ceilf(at) : in - 1;
    b[i].part = at - low;
  }
}

static void axis_nearest(between *b, int64_t in, int64_t out, bool align, bool centers) {
  const float scale = weft__resize_scale(in, out, align);
  for (int64_t i = 0; i < out; i++) {
    const float at = centers ? ((float)i + 0.5f) * scale : (float)i * scale;
    const int64_t near = (int64_t)(align ? roundf(at) : floorf(at));
    b[i].low = b[i].high = near < in - 1 ? (near < 0 ? 0 : near) : in - 1;
    b[i].part = 0;
  }
}

/* Computes the positions along both axes.  The caller frees r->at[0]. */
static weft_err resize_axes(const kernel *k, resize *r, bool linear) {
  const bool align = weft__node_bool(k->node, "align_corners", false);
  const bool centers = weft__node_bool(k->node, "half_pixel_centers", false);
  if (align && centers)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "If half_pixel_centers is True, align_corners must be False.");
  r->at[0] = weft__alloc((size_t)(r->out[0] + r->out[1] + 1) * sizeof(between));
  if (!r->at[0]) return WEFT_OOM;
  r->at[1] = r->at[0] + r->out[0];
  for (int i = 0; i < 2; i++) (linear ? axis_linear : axis_nearest)(r->at[i], r->in[i], r->out[i], align, centers);
  return WEFT_OK;
}

/* ---- forward ---- */

static void nearest_rows(void *arg, int64_t begin, int64_t end) {
  const resize *r = arg;
  const size_t pixel = (size_t)r->channels * r->size;
  for (int64_t row = begin; row < end; row++) {
    const int64_t n = row / r->out[0], y = r->at[0][row % r->out[0]].low;
    const char *src = (const char *)r->x + (size_t)((n * r->in[0] + y) * r->in[1]) * pixel;
    char *dst = (char *)r->y + (size_t)(row * r->out[1]) * pixel;
    for (int64_t x = 0; x < r->out[1]; x++)
      memcpy(dst + (size_t)x * pixel, src + (size_t)r->at[1][x].low * pixel, pixel);
  }
}

WEFT_TARGET_CLONES static void bilinear_rows(void *arg, int64_t begin, int64_t end) {
  const resize *r = arg;
  const int64_t C = r->channels;
  for (int64_t row = begin; row < end; row++) {
    const between *v = &r->at[0][row % r->out[0]];
    const float *image = (const float *)r->x + row / r->out[0] * r->in[0] * r->in[1] * C;
    const float *top = image + v->low * r->in[1] * C, *bottom = image + v->high * r->in[1] * C;
    float *dst = (float *)r->y + row * r->out[1] * C;
    for (int64_t x = 0; x < r->out[1]; x++, dst += C) {
      const between *h = &r->at[1][x];
      const int64_t a = h->low * C, b = h->high * C;
      WEFT_IVDEP for (int64_t c = 0; c < C; c++) {
        const float up = top[a + c] + (top[b + c] - top[a + c]) * h->part;
        const float down = bottom[a + c] + (bottom[b + c] - bottom[a + c]) * h->part;
        dst[c] = up + (down - up) * v->part;
      }
    }
  }
}

/* Reads a height and a width, both positive, from input i. */
static weft_err resize_read_size(const kernel *k, int i, int64_t *out, const char *not_positive) {
  const shape *s = &k->in[i]->shape;
  if (s->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape_t must be 1-dimensional%s", weft__shape_text(s));
  if (s->dim[0] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape_t must have two elements%s", weft__shape_text(s));
  for (int j = 0; j < 2; j++) {
    out[j] = weft__tensor_int(k->in[i], j);
    if (out[j] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", not_positive);
  }
  return WEFT_OK;
}

static weft_err resize_sizes(const kernel *k, resize *r) {
  const shape *s = &k->in[0]->shape;
  if (s->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional%s", weft__shape_text(s));
  *r = (resize){.batch = s->dim[0], .channels = s->dim[3], .in = {s->dim[1], s->dim[2]}};
  WEFT_TRY(resize_read_size(k, 1, r->out, "output dimensions must be positive"));
  if (r->channels <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image must have at least one channel");
  if (r->in[0] <= 0 || r->in[1] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input image must be of non-zero size");
  return WEFT_OK;
}

static weft_err resize_loop(kernel *k, resize *r, pool_loop *loop) {
  return weft__long_loop(k, r->batch * r->out[0], r->out[1] * (r->channels + 4), loop, r);
}

static weft_err nearest_cpu(kernel *k) {
  resize r;
  WEFT_TRY(resize_sizes(k, &r));
  weft_tensor *y = weft__out(k, 0, &SHAPE4(r.batch, r.out[0], r.out[1], r.channels));
  if (!y) return weft__out_refused(&SHAPE4(r.batch, r.out[0], r.out[1], r.channels));
  WEFT_TRY(resize_axes(k, &r, false));
  r.x = k->in[0]->data, r.y = y->data, r.size = weft__dtype_size(y->dtype);
  const weft_err err = resize_loop(k, &r, nearest_rows);
  weft__free(r.at[0]);
  return err;
}

static weft_err bilinear_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  weft_tensor floats = {0};
  resize r;
  WEFT_TRY(resize_sizes(k, &r));
  weft_tensor *y = weft__out(k, 0, &SHAPE4(r.batch, r.out[0], r.out[1], r.channels));
  if (!y) return weft__out_refused(&SHAPE4(r.batch, r.out[0], r.out[1], r.channels));
  if (x->dtype != WEFT_FLOAT) {
    weft_err err = weft__scratch(k, &floats, WEFT_FLOAT, &x->shape);
    if (!err) err = weft__cast_elements(k, x, &floats);
    if (err) {
      weft__tensor_clear(&floats);
      return err;
    }
    x = &floats;
  }
  weft_err err = resize_axes(k, &r, true);
  if (!err) {
    r.x = x->data, r.y = y->data;
    err = resize_loop(k, &r, bilinear_rows);
    weft__free(r.at[0]);
  }
  weft__tensor_clear(&floats);
  return err;
}

/* ---- QuantizedResizeBilinear: the integers themselves are interpolated, and the range stays ---- */

/* Copies the integers to floats. */
static weft_err quantized_floats(kernel *k, weft_tensor *out) {
  WEFT_TRY(weft__scratch(k, out, WEFT_FLOAT, &k->in[0]->shape));
  for (int64_t i = 0, n = weft__tensor_count(out); i < n; i++)
    TENSOR_DATA(out, float)[i] = (float)weft__quantized_get(k->in[0], i);
  return WEFT_OK;
}

/* Resizes x, the integers as floats, into y.  8-bit integers are weighed in steps of 1/128, as in TensorFlow. */
static weft_err quantized_resize(kernel *k, resize *r, const weft_tensor *x, weft_tensor *y) {
  weft_tensor floats = {0};
  WEFT_TRY(resize_axes(k, r, true));
  weft_err err = weft__scratch(k, &floats, WEFT_FLOAT, &y->shape);
  for (int64_t i = 0; y->dtype == WEFT_QUINT8 && i < r->out[0] + r->out[1]; i++)
    r->at[0][i].part = floorf(r->at[0][i].part * 128) / 128;
  r->x = x->data, r->y = floats.data;
  if (!err) err = resize_loop(k, r, bilinear_rows);
  for (int64_t i = 0, n = weft__tensor_count(y); i < n && !err; i++) {
    const double v = floor((double)TENSOR_DATA(&floats, float)[i] + 0.5);
    weft__quantized_put(y, i, v > INT32_MAX ? INT32_MAX : (int64_t)v);
  }
  weft__free(r->at[0]);
  weft__tensor_clear(&floats);
  return err;
}

static weft_err quantized_cpu(kernel *k) {
  resize r;
  WEFT_TRY(weft__kernel_scalar(k, 2, "min"));
  WEFT_TRY(weft__kernel_scalar(k, 3, "max"));
  for (int i = 1; i < 3; i++) {
    weft_tensor *bound = weft__out(k, i, &SHAPE_SCALAR);
    if (!bound) return WEFT_OOM;
    TENSOR_DATA(bound, float)[0] = TENSOR_DATA(k->in[i + 1], float)[0];
  }
  if (k->in[0]->dtype == WEFT_FLOAT) return bilinear_cpu(k);
  WEFT_TRY(resize_sizes(k, &r));
  weft_tensor *y = weft__out(k, 0, &SHAPE4(r.batch, r.out[0], r.out[1], r.channels)), floats = {0};
  if (!y) return weft__out_refused(&SHAPE4(r.batch, r.out[0], r.out[1], r.channels));
  weft_err err = quantized_floats(k, &floats);
  if (!err) err = quantized_resize(k, &r, &floats, y);
  weft__tensor_clear(&floats);
  return err;
}

static weft_err quantized_infer(infer *s) {
  infer images = *s;
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  images.n_in = 2; /* without the range */
  return weft__resize_infer(&images);
}

/* ---- gradients: x is the output gradient, of size `out`; y is the input gradient, of size `in` ---- */

#define DEFINE_SPREAD(name, T)                                                                                         \
  static void name(void *arg, int64_t begin, int64_t end) { /* images */                                               \
    const resize *r = arg;                                                                                             \
    const int64_t C = r->channels, row = r->in[1] * C;                                                                 \
    for (int64_t n = begin; n < end; n++) {                                                                            \
      T *image = (T *)r->y + n * r->in[0] * row;                                                                       \
      const float *g = (const float *)r->x + n * r->out[0] * r->out[1] * C;                                            \
      memset(image, 0, (size_t)(r->in[0] * row) * sizeof *image);                                                      \
      for (int64_t i = 0; i < r->out[0] * r->out[1]; i++, g += C) {                                                    \
        const between *v = &r->at[0][i / r->out[1]], *h = &r->at[1][i % r->out[1]];                                    \
        T *top = image + v->low * row, *bottom = image + v->high * row;                                                \
        for (int64_t c = 0; c < C; c++) {                                                                              \
          top[h->low * C + c] += (T)(g[c] * (1 - v->part) * (1 - h->part));                                            \
          top[h->high * C + c] += (T)(g[c] * (1 - v->part) * h->part);                                                 \
          bottom[h->low * C + c] += (T)(g[c] * v->part * (1 - h->part));                                               \
          bottom[h->high * C + c] += (T)(g[c] * v->part * h->part);                                                    \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_SPREAD(spread_float, float)
DEFINE_SPREAD(spread_double, double)

#define DEFINE_COLLECT(name, T)                                                                                        \
  static void name(void *arg, int64_t begin, int64_t end) { /* images */                                               \
    const resize *r = arg;                                                                                             \
    const int64_t C = r->channels, row = r->in[1] * C;                                                                 \
    for (int64_t n = begin; n < end; n++) {                                                                            \
      T *image = (T *)r->y + n * r->in[0] * row;                                                                       \
      const T *g = (const T *)r->x + n * r->out[0] * r->out[1] * C;                                                    \
      memset(image, 0, (size_t)(r->in[0] * row) * sizeof *image);                                                      \
      for (int64_t i = 0; i < r->out[0] * r->out[1]; i++, g += C) {                                                    \
        T *to = image + r->at[0][i / r->out[1]].low * row + r->at[1][i % r->out[1]].low * C;                           \
        for (int64_t c = 0; c < C; c++) to[c] = (T)(to[c] + g[c]);                                                     \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_COLLECT(collect_float, float)
DEFINE_COLLECT(collect_double, double)
DEFINE_COLLECT(collect_8, uint8_t)
DEFINE_COLLECT(collect_32, uint32_t)

static weft_err grad_loop(kernel *k, resize *r, pool_loop *loop) {
  return weft__long_loop(k, r->batch, r->out[0] * r->out[1] * (r->channels * 2 + 4), loop, r);
}

static weft_err bilinear_grad_cpu(kernel *k) {
  const shape *g = &k->in[0]->shape, *x = &k->in[1]->shape;
  if (g->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_grad must be 4-dimensional%s", weft__shape_text(g));
  if (x->rank != 4 || x->dim[1] <= 0 || x->dim[2] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "original_image must be 4-dimensional%s", weft__shape_text(x));
  resize r = {.batch = g->dim[0], .channels = g->dim[3]};
  r.in[0] = x->dim[1], r.in[1] = x->dim[2], r.out[0] = g->dim[1], r.out[1] = g->dim[2];
  weft_tensor *dx = weft__out(k, 0, &SHAPE4(r.batch, r.in[0], r.in[1], r.channels));
  if (!dx) return WEFT_OOM;
  WEFT_TRY(resize_axes(k, &r, true));
  widened w = {0};
  weft_err err = dx->dtype == WEFT_DOUBLE ? WEFT_OK : weft__widened_output(&w, dx);
  if (!err) {
    r.x = k->in[0]->data, r.y = dx->dtype == WEFT_DOUBLE ? dx->data : w.data;
    err = grad_loop(k, &r, dx->dtype == WEFT_DOUBLE ? spread_double : spread_float);
    if (!err && dx->dtype != WEFT_DOUBLE) weft__widened_store(&w, dx);
  }
  weft__widened_finish(&w);
  weft__free(r.at[0]);
  return err;
}

static weft_err nearest_grad_run(kernel *k, resize *r, weft_tensor *dx) {
  widened wg = {0}, wdx = {0};
  pool_loop *loop = collect_32;
  r->x = k->in[0]->data, r->y = dx->data;
  if (dx->dtype == WEFT_DOUBLE) loop = collect_double;
  if (weft__dtype_size(dx->dtype) == 1) loop = collect_8;
  weft_err err = WEFT_OK;
  if (dx->dtype == WEFT_FLOAT || weft__is_16bit(dx->dtype)) {
    loop = collect_float;
    err = weft__widened_load(&wg, k->in[0]);
    if (!err) err = weft__widened_output(&wdx, dx);
    r->x = wg.data, r->y = wdx.data;
  }
  if (!err) {
    err = grad_loop(k, r, loop);
    if (!err && weft__is_16bit(dx->dtype)) weft__widened_store(&wdx, dx);
  }
  weft__widened_finish(&wg), weft__widened_finish(&wdx);
  return err;
}

static weft_err nearest_grad_cpu(kernel *k) {
  const shape *g = &k->in[0]->shape;
  if (g->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional%s", weft__shape_text(g));
  resize r = {.batch = g->dim[0], .channels = g->dim[3]};
  r.out[0] = g->dim[1], r.out[1] = g->dim[2];
  WEFT_TRY(resize_read_size(k, 1, r.in, "shape_t's elements must be positive"));
  weft_tensor *dx = weft__out(k, 0, &SHAPE4(r.batch, r.in[0], r.in[1], r.channels));
  if (!dx) return WEFT_OOM;
  WEFT_TRY(resize_axes(k, &r, false));
  const weft_err err = nearest_grad_run(k, &r, dx);
  weft__free(r.at[0]);
  return err;
}

/* ---- shapes ---- */

/* ---- gradients ---- */

static weft_out with_flags(backprop *b, const char *type, weft_out g, weft_out other) {
  const weft_out in[] = {g, other};
  const attr attrs[] = {A_BOOL("align_corners", weft__node_bool(b->node, "align_corners", false)),
                        A_BOOL("half_pixel_centers", weft__node_bool(b->node, "half_pixel_centers", false))};
  return weft__b_node(b->graph, type, NULL, 2, in, 2, attrs);
}

static weft_err bilinear_grad(backprop *b) {
  /* integers have no gradient */
  if (weft__dtype_class(weft__out_type(b->graph, b->in[0])) != CLASS_FLOAT) return WEFT_OK;
  b->din[0] = GRAD_DENSE(with_flags(b, "ResizeBilinearGrad", b->dout[0], b->in[0]));
  return weft__b_ok(b->graph);
}

/* Returns height and width of the image: a constant if they are known. */
static weft_out image_size(weft_graph *g, weft_out x) {
  const shape *s = weft__out_shape(g, x);
  if (s->rank == 4 && s->dim[1] >= 0 && s->dim[2] >= 0) return weft__b_ints(g, s->dim + 1, 2);
  const weft_out in[] = {weft__b_shape(g, x), weft__b_ints(g, (int64_t[]){1}, 1), weft__b_ints(g, (int64_t[]){2}, 1)};
  return weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

static weft_err nearest_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(with_flags(b, "ResizeNearestNeighborGrad", b->dout[0], image_size(b->graph, b->in[0])));
  return weft__b_ok(b->graph);
}

static const op_case bilinear_cases[] = {
    {"f32[1,2,2,1] 0 1 2 3; i32[2] 4 4", "f32[1,4,4,1] 0 .5 1 1 1 1.5 2 2 2 2.5 3 3 2 2.5 3 3", NULL, CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_FIXED_TYPE},
    {"f32[2,6,5,3] rand; i32[2] 4 3", NULL, "align_corners=true", CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; i32[2] 7 9", NULL, "half_pixel_centers=true", CASE_FIXED_TYPE},
    {"f32[2,6,5,3] rand; i32[2] 2 3", NULL, "half_pixel_centers=true", CASE_FIXED_TYPE},
    {"f32[1,1,1,2] rand; i32[2] 3 3", NULL, "align_corners=true", CASE_FIXED_TYPE},
    {"f32[1,3,4,1] rand; i32[2] 1 1", NULL, "align_corners=true", CASE_FIXED_TYPE},
    {"f64[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, CASE_NO_GRAD},
    {"f16[2,3,4,3] rand; i32[2] 7 5", NULL, "half_pixel_centers=true", CASE_NO_GRAD},
    {"u8[1,3,4,3] below:255; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"i64[1,3,4,3] below:255; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3,4,3] 0; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,60,50,3] rand; i32[2] 99 71", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,4,3] rand; i32[2] 7 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; i32[2] 0 5", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,3,4,3] rand; i32[3] 2 5 1", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

static const op_case bilinear_grad_cases[] = {
    {"f32[2,7,5,3] rand; f32[2,3,4,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4,3,3] rand; f64[2,6,5,3] rand", NULL, "align_corners=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,7,9,3] rand; f16[2,3,4,3] rand", NULL, "half_pixel_centers=true", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[7,9,3] rand; f32[2,3,4,3] rand", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case quantized_cases[] = {
    {"qu8[1,1,2,1] 0 255; i32[2] 1 5; f32[] -1; f32[] 2", "qu8[1,1,5,1] 0 102 203 255 255; f32[] -1; f32[] 2", NULL,
     CASE_NO_PARITY},
    {"qi32[1,1,2,1] 0 1000; i32[2] 1 4; f32[] -1; f32[] 2", "qi32[1,1,4,1] 0 500 1000 1000; f32[] -1; f32[] 2", NULL,
     CASE_NO_PARITY},
    {"f32[1,3,4,2] rand; i32[2] 5 7; f32[] -1; f32[] 2", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"qu8[3,4,2] 1; i32[2] 5 7; f32[] -1; f32[] 2", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

static const op_case nearest_cases[] = {
    {"f32[1,2,2,1] 0 1 2 3; i32[2] 3 4", "f32[1,3,4,1] 0 0 1 1 0 0 1 1 2 2 3 3", NULL, 0},
    {"f32[2,3,4,3] rand; i32[2] 7 5", NULL, NULL, 0},
    {"f32[2,6,5,3] rand; i32[2] 4 3", NULL, "align_corners=true", 0},
    {"f32[2,3,4,3] rand; i32[2] 7 9", NULL, "half_pixel_centers=true", 0},
    {"u8[1,3,4,3] rand; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3,4,3] 0; i32[2] 5 6", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,4,3] rand; i32[2] 7 5", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,3,4,3] rand; i32[2] 7 5", "error INVALID_ARGUMENT", "align_corners=true half_pixel_centers=true", 0},
    {0},
};

static const op_case nearest_grad_cases[] = {
    {"f32[1,4,4,1] 1; i32[2] 2 3", "f32[1,2,3,1] 4 2 2 4 2 2", NULL, CASE_NO_GRAD},
    {"f32[2,7,5,3] rand; i32[2] 3 4", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,7,5,3] rand; i32[2] 3 4", NULL, "half_pixel_centers=true", CASE_NO_GRAD},
    {"i32[2,7,5,3] rand; i32[2] 3 4", NULL, "align_corners=true", CASE_NO_GRAD},
    {"f32[1,4,4,1] 1; i32[2] 0 3", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define FLAGS "align_corners:bool=false half_pixel_centers:bool=false"

OPS(resize) = {
    {"ResizeBilinear(images:T, size:int32) -> (resized_images:float) | "
     "T:type{int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double,bfloat16} " FLAGS,
     "Images at another size, by the mean of the four nearest pixels.", .infer = weft__resize_infer,
     .cpu = bilinear_cpu, .grad = bilinear_grad, .cases = bilinear_cases},
    {"ResizeBilinearGrad(grads:float, original_image:T) -> (output:T) | T:type{float,bfloat16,half,double} " FLAGS,
     "The gradient of ResizeBilinear.", .infer = weft__resize_grad_infer, .cpu = bilinear_grad_cpu,
     .cases = bilinear_grad_cases},
    {"QuantizedResizeBilinear(images:T, size:int32, min:float, max:float) -> (resized_images:T, out_min:float, "
     "out_max:float) | T:type{quint8,qint32,float} " FLAGS,
     "Quantized images at another size, by the mean of the four nearest pixels.", .infer = quantized_infer,
     .cpu = quantized_cpu, .cases = quantized_cases},
    {"ResizeNearestNeighbor(images:T, size:int32) -> (resized_images:T) | "
     "T:type{int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16} " FLAGS,
     "Images at another size, by the nearest pixel.", .infer = weft__resize_infer, .cpu = nearest_cpu,
     .grad = nearest_grad, .cases = nearest_cases, .amp = AMP_CLEAR},
    {"ResizeNearestNeighborGrad(grads:T, size:int32) -> (output:T) | "
     "T:type{uint8,int8,int32,half,float,double,bfloat16} " FLAGS,
     "The gradient of ResizeNearestNeighbor.", .infer = weft__resize_infer, .cpu = nearest_grad_cpu,
     .cases = nearest_grad_cases, .amp = AMP_CLEAR},
    {0},
};
