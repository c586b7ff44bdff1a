/* color.c - contrast, hue and saturation of images, and RGB to HSV and back.
 *
 * Images have their channels last.  Hue and saturation are changed in HSV: hue, saturation and value, all in [0, 1]
 * if the colors are in [0, 1].  Larger colors keep their scale. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/simd/vmath.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"

/* ---- contrast: (x - mean) * factor + mean, with the mean of each channel of each image ---- */

typedef struct contrast_work {
  int64_t pixels, channels; /* of one image */
  float factor, low, high;
  const float *x;
  float *y;
} contrast_work;

static void contrast_images(void *arg, int64_t begin, int64_t end) {
  const contrast_work *j = arg;
  const int64_t C = j->channels, P = j->pixels;
  for (int64_t i = begin; i < end; i++)
    for (int64_t c = 0; c < C; c++) {
      const float *x = j->x + i * P * C + c;
      float *y = j->y + i * P * C + c;
      double sum = 0;
      for (int64_t p = 0; p < P; p++) sum += (double)x[p * C];
      const float mean = (float)(sum / (double)P);
      for (int64_t p = 0; p < P; p++) {
        const float v = (x[p * C] - mean) * j->factor + mean;
        y[p * C] = v < j->low ? j->low : v > j->high ? j->high : v;
      }
    }
}

static weft_err at_least_3d(const kernel *k, const shape *s) {
  if (s->rank >= 3) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 3-D, got shape%s", weft__shape_text(s));
}

static weft_err scalar_input(const kernel *k, int i, const char *name, float *out) {
  if (weft__tensor_count(k->in[i]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be scalar: %s", name,
                             weft__shape_text(&k->in[i]->shape));
  *out = (float)weft__tensor_double(k->in[i], 0);
  return WEFT_OK;
}

static void contrast_run(kernel *k, contrast_work *j, const shape *s) {
  j->channels = s->dim[s->rank - 1];
  j->pixels = s->dim[s->rank - 2] * s->dim[s->rank - 3];
  if (j->pixels > 0 && j->channels > 0)
    weft__kernel_loop(k, weft__shape_product(s, 0, s->rank - 3), j->pixels * j->channels * 3, contrast_images, j);
}

static weft_err contrast_v2_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  contrast_work j = {.low = -INFINITY, .high = INFINITY};
  WEFT_TRY(at_least_3d(k, &x->shape));
  WEFT_TRY(scalar_input(k, 1, "contrast_factor", &j.factor));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err) err = weft__widened_output(&wy, y);
  j.x = wx.data, j.y = wy.data;
  if (!err) {
    contrast_run(k, &j, &x->shape);
    weft__widened_store(&wy, y);
  }
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

/* AdjustContrast (version 1): converts any number type to float and clamps the result between two bounds. */
static weft_err contrast_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  contrast_work j = {0};
  weft_tensor floats = {0};
  WEFT_TRY(at_least_3d(k, &x->shape));
  WEFT_TRY(scalar_input(k, 1, "contrast_factor", &j.factor));
  WEFT_TRY(scalar_input(k, 2, "min_value", &j.low));
  WEFT_TRY(scalar_input(k, 3, "max_value", &j.high));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  WEFT_TRY(weft__scratch(k, &floats, WEFT_FLOAT, &x->shape));
  for (int64_t i = 0; i < weft__tensor_count(x); i++) TENSOR_DATA(&floats, float)[i] = (float)weft__tensor_double(x, i);
  j.x = floats.data, j.y = y->data;
  contrast_run(k, &j, &x->shape);
  weft__tensor_clear(&floats);
  return WEFT_OK;
}

/* ---- HSV ---- */

typedef struct color_work {
  const void *x;
  void *y;
  float amount; /* added to the hue, or multiplied by the saturation */
} color_work;

#define DEFINE_HSV(name, T, FABS)                                                                                      \
  static inline void name##_from_rgb(const T *rgb, T *hsv) {                                                           \
    const T r = rgb[0], g = rgb[1], b = rgb[2];                                                                        \
    const T low = r < g ? (r < b ? r : b) : (g < b ? g : b), v = r > g ? (r > b ? r : b) : (g > b ? g : b);            \
    const T range = v - low, norm = 1 / (6 * range);                                                                   \
    T h = r == v ? norm * (g - b) : g == v ? norm * (b - r) + (T)2 / 6 : norm * (r - g) + (T)4 / 6;                    \
    if (range <= 0) h = 0;                                                                                             \
    hsv[0] = h < 0 ? h + 1 : h;                                                                                        \
    hsv[1] = v > 0 ? range / v : 0;                                                                                    \
    hsv[2] = v;                                                                                                        \
  }                                                                                                                    \
  static inline T name##_clamp(T x) { return x < 0 ? 0 : x > 1 ? 1 : x; }                                              \
  static inline void name##_to_rgb(const T *hsv, T *rgb) {                                                             \
    const T h = hsv[0] * 6, s = hsv[1], v = hsv[2];                                                                    \
    rgb[0] = (1 - s + s * name##_clamp(FABS(h - 3) - 1)) * v;                                                          \
    rgb[1] = (1 - s + s * name##_clamp(2 - FABS(h - 2))) * v;                                                          \
    rgb[2] = (1 - s + s * name##_clamp(2 - FABS(h - 4))) * v;                                                          \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name##_split(void *arg, int64_t begin, int64_t end) {                                 \
    const color_work *j = arg;                                                                                         \
    WEFT_IVDEP for (int64_t i = begin; i < end; i++) {                                                                 \
      T hsv[3];                                                                                                        \
      name##_from_rgb((const T *)j->x + 3 * i, hsv);                                                                   \
      for (int c = 0; c < 3; c++) ((T *)j->y)[3 * i + c] = hsv[c];                                                     \
    }                                                                                                                  \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name##_join(void *arg, int64_t begin, int64_t end) {                                  \
    const color_work *j = arg;                                                                                         \
    WEFT_IVDEP for (int64_t i = begin; i < end; i++) {                                                                 \
      T rgb[3];                                                                                                        \
      name##_to_rgb((const T *)j->x + 3 * i, rgb);                                                                     \
      for (int c = 0; c < 3; c++) ((T *)j->y)[3 * i + c] = rgb[c];                                                     \
    }                                                                                                                  \
  }
DEFINE_HSV(hsv_float, float, fabsf)
DEFINE_HSV(hsv_double, double, fabs)

WEFT_TARGET_CLONES static void hue_pixels(void *arg, int64_t begin, int64_t end) {
  const color_work *j = arg;
  WEFT_IVDEP for (int64_t i = begin; i < end; i++) {
    float hsv[3];
    hsv_float_from_rgb((const float *)j->x + 3 * i, hsv);
    hsv[0] += j->amount;
    hsv[0] -= floorf(hsv[0]);
    hsv_float_to_rgb(hsv, (float *)j->y + 3 * i);
  }
}

WEFT_TARGET_CLONES static void saturation_pixels(void *arg, int64_t begin, int64_t end) {
  const color_work *j = arg;
  WEFT_IVDEP for (int64_t i = begin; i < end; i++) {
    float hsv[3];
    hsv_float_from_rgb((const float *)j->x + 3 * i, hsv);
    hsv[1] = hsv_float_clamp(hsv[1] * j->amount);
    hsv_float_to_rgb(hsv, (float *)j->y + 3 * i);
  }
}

static weft_err color_run(kernel *k, float amount, pool_loop *loop, pool_loop *in_double) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  const int64_t pixels = weft__tensor_count(x) / 3;
  if (x->dtype == WEFT_DOUBLE) {
    return weft__long_loop(k, pixels, 8, in_double, &(color_work){x->data, y->data, amount});
  }
  widened wx = {0}, wy = {0};
  weft_err err = weft__widened_load(&wx, x);
  if (!err) err = weft__widened_output(&wy, y);
  if (!err) {
    err = weft__long_loop(k, pixels, 8, loop, &(color_work){wx.data, wy.data, amount});
    if (!err) weft__widened_store(&wy, y);
  }
  weft__widened_finish(&wx), weft__widened_finish(&wy);
  return err;
}

static weft_err color_adjust(kernel *k, const char *name, pool_loop *loop) {
  const shape *s = &k->in[0]->shape;
  float amount;
  WEFT_TRY(at_least_3d(k, s));
  WEFT_TRY(scalar_input(k, 1, name, &amount));
  if (s->dim[s->rank - 1] != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must have 3 channels but instead has %lld channels.",
                             (long long)s->dim[s->rank - 1]);
  return color_run(k, amount, loop, loop);
}

static weft_err hue_cpu(kernel *k) { return color_adjust(k, "delta", hue_pixels); }
static weft_err saturation_cpu(kernel *k) { return color_adjust(k, "scale", saturation_pixels); }

static weft_err color_convert(kernel *k, pool_loop *loop, pool_loop *in_double) {
  const shape *s = &k->in[0]->shape;
  if (s->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be at least 1D%s", weft__shape_text(s));
  if (s->dim[s->rank - 1] != 3)
    return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION,
                             "input must have 3 channels but input only has %lld channels.",
                             (long long)s->dim[s->rank - 1]);
  return color_run(k, 0, loop, in_double);
}

static weft_err rgb_to_hsv_cpu(kernel *k) { return color_convert(k, hsv_float_split, hsv_double_split); }
static weft_err hsv_to_rgb_cpu(kernel *k) { return color_convert(k, hsv_float_join, hsv_double_join); }

/* ---- shapes ---- */

static weft_err adjust_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 3));
  for (int i = 1; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  return weft__infer_same(s);
}

static weft_err convert_infer(infer *s) {
  const shape *x = &s->in[0];
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  if (x->rank > 0 && x->dim[x->rank - 1] >= 0 && x->dim[x->rank - 1] != 3)
    return weft__infer_fail(s, "Dimension must be 3 but is %lld", (long long)x->dim[x->rank - 1]);
  return weft__infer_same(s);
}

/* ---- the gradient of RGBToHSV ---- */

/* Returns x with its channels in the order r, gr, b. */
static weft_out reorder_channels(weft_graph *g, weft_out x, int64_t r, int64_t gr, int64_t b) {
  return weft__b_gather(g, x, weft__b_ints(g, (int64_t[]){r, gr, b}, 3), weft__b_scalar(g, WEFT_INT32, -1));
}

static weft_out over_channels(weft_graph *g, const char *type, weft_out x) {
  const weft_out in[] = {x, weft__b_ints(g, (int64_t[]){-1}, 1)};
  return weft__b_node(g, type, NULL, 2, in, 1, &A_BOOL("keep_dims", true));
}

/* Returns 1 for the channel with the largest (or smallest) value and 0 for the others; ties go to the first channel. */
static weft_out color_winner(weft_graph *g, const char *type, weft_out x) {
  const weft_out which = weft__b_binary(g, type, x, weft__b_scalar(g, WEFT_INT32, -1));
  const weft_out in[] = {which, weft__b_scalar(g, WEFT_INT32, 3), weft__b_scalar_like(g, x, 1),
                         weft__b_scalar_like(g, x, 0)};
  return weft__b_node(g, "OneHot", NULL, 4, in, 0, NULL);
}

static weft_out color_quotient(weft_graph *g, weft_out x, weft_out y) { return weft__b_binary(g, "DivNoNan", x, y); }

static weft_out channel_of(weft_graph *g, weft_out x, int64_t i) {
  return weft__b_gather(g, x, weft__b_ints(g, &i, 1), weft__b_scalar(g, WEFT_INT32, -1));
}

/* Let M be the largest channel, m the smallest and d = M - m.  The value is M, and the saturation is d / M.  The hue
 * is the difference of the other two channels over 6 d, plus an offset for the largest channel.  As in TF, the
 * gradient is 0 where M or d is 0, and a channel affects the saturation only if it is above 0. */
static weft_err rgb_to_hsv_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out x = b->in[0], dy = b->dout[0];
  const weft_out most = color_winner(g, "ArgMax", x),
                 least = reorder_channels(g, color_winner(g, "ArgMin", reorder_channels(g, x, 2, 1, 0)), 2, 1, 0);
  const weft_out largest = over_channels(g, "Max", x), spread = weft__b_sub(g, most, least);
  const weft_out range = weft__b_sub(g, largest, over_channels(g, "Min", x));
  const weft_out saturation = color_quotient(g, range, largest);
  const weft_out d_saturation = color_quotient(g, weft__b_sub(g, spread, weft__b_mul(g, saturation, most)), largest);
  const weft_out differences = weft__b_sub(g, reorder_channels(g, x, 1, 2, 0), reorder_channels(g, x, 2, 0, 1));
  const weft_out hue = color_quotient(g, over_channels(g, "Sum", weft__b_mul(g, most, differences)), range);
  const weft_out own = weft__b_sub(g, reorder_channels(g, most, 2, 0, 1), reorder_channels(g, most, 1, 2, 0));
  const weft_out sixth = weft__b_mul(g, range, weft__b_scalar_like(g, x, 6));
  const weft_out d_hue = color_quotient(g, weft__b_sub(g, own, weft__b_mul(g, hue, spread)), sixth);
  const weft_out above =
      weft__b_cast(g, weft__b_binary(g, "Greater", x, weft__b_scalar_like(g, x, 0)), weft__out_type(g, x));
  weft_out dx = weft__b_mul(g, channel_of(g, dy, 0), d_hue);
  dx = weft__b_add(g, dx, weft__b_mul(g, channel_of(g, dy, 1), weft__b_mul(g, above, d_saturation)));
  b->din[0] = GRAD_DENSE(weft__b_add(g, dx, weft__b_mul(g, channel_of(g, dy, 2), most)));
  return WEFT_OK;
}

static const op_case contrast_cases[] = {
    {"f32[1,2,2,1] 1 2 3 6; f32[] 2; f32[] 0; f32[] 8", "f32[1,2,2,1] 0 1 3 8", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {"u8[2,1,1] 10 20; f32[] .5; f32[] 0; f32[] 255", "f32[2,1,1] 12.5 17.5", NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

static const op_case contrast_v2_cases[] = {
    {"f32[1,2,2,1] 1 2 3 6; f32[] 2", "f32[1,2,2,1] -1 1 3 9", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,3] rand; f32[] .7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[13,9,3] rand; f32[] 1.7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,3,4,3] 0; f32[] 1.7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[4,3] rand; f32[] 1.7", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case hue_cases[] = {
    {"f32[2,3,4,3] unit; f32[] .2", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,3] unit; f32[] -.7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,2,3] .5 .5 .5 0 0 0; f32[] .3", "f32[1,2,3] .5 .5 .5 0 0 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,4,3] 0; f32[] .3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,4] unit; f32[] .3", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4,3] unit; f32[] .3", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case saturation_cases[] = {
    {"f32[2,3,4,3] unit; f32[] .5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,3] unit; f32[] 2.5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,2,3] .5 .5 .5 0 0 0; f32[] 2", "f32[1,2,3] .5 .5 .5 0 0 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,4] unit; f32[] .3", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case hsv_cases[] = {
    {"f32[4,3] .5 .5 .5 1 0 0 0 1 0 0 0 1", "f32[4,3] 0 0 .5 0 1 1 .33333333 1 1 .66666667 1 1", NULL, CASE_NO_GRAD},
    {"f32[7,3] .5 .25 1 .25 1 .5 1 .5 .25 .75 .75 .25 .25 .75 .75 .5 .25 .25 0 0 0", NULL, NULL, CASE_NO_GRAD},
    /* In half precision, TF's gradient is NaN where two channels are close. */
    {"f32[2,5,3] unit", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,3] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[2] unit", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case rgb_cases[] = {
    {"f32[2,3] 1.2 .3 .4 .5 0 .4", "f32[2,3] .4 .28 .28 .4 .4 .4", NULL, CASE_NO_GRAD},
    {"f32[2,5,3] unit", NULL, NULL, CASE_NO_GRAD},
    {0},
};

OPS(color) = {
    {"AdjustContrast(images:T, contrast_factor:float, min_value:float, max_value:float) -> (output:float) | "
     "T:type{uint8,int8,int16,int32,int64,float,double}",
     "Images with every channel drawn away from its mean, held between two values.", .infer = adjust_infer,
     .cpu = contrast_cpu, .cases = contrast_cases},
    {"AdjustContrastv2(images:T, contrast_factor:float) -> (output:T) | T:type{half,float}=float",
     "Images with every channel drawn away from its mean.", .infer = adjust_infer, .cpu = contrast_v2_cpu,
     .cases = contrast_v2_cases},
    {"AdjustHue(images:T, delta:float) -> (output:T) | T:type{half,float}=float", "Images with their hue turned.",
     .infer = adjust_infer, .cpu = hue_cpu, .cases = hue_cases},
    {"AdjustSaturation(images:T, scale:float) -> (output:T) | T:type{half,float}=float",
     "Images with their saturation multiplied.", .infer = adjust_infer, .cpu = saturation_cpu,
     .cases = saturation_cases},
    {"RGBToHSV(images:T) -> (output:T) | T:type{half,bfloat16,float,double}=float",
     "Red, green and blue as hue, saturation and value.", .infer = convert_infer, .cpu = rgb_to_hsv_cpu,
     .grad = rgb_to_hsv_grad, .cases = hsv_cases},
    {"HSVToRGB(images:T) -> (output:T) | T:type{half,bfloat16,float,double}=float",
     "Hue, saturation and value as red, green and blue.", .infer = convert_infer, .cpu = hsv_to_rgb_cpu,
     .no_grad = true, .cases = rgb_cases},
    {0},
};
