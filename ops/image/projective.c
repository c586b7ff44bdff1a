/* projective.c - applies projective transforms to images: ImageProjectiveTransformV2 and V3.
 *
 * A transform maps a pixel of the output to a position in the input.  The value there is the nearest pixel or the
 * bilinear mean of the four around it, computed in float for all types.  Outside the image it is a constant, or
 * fill_mode continues the image. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include <math.h>
#include <string.h>

typedef enum beyond { BEYOND_CONSTANT, BEYOND_REFLECT, BEYOND_WRAP, BEYOND_NEAREST } beyond;

typedef struct projection {
  int64_t height, width, channels; /* size of the input */
  int64_t rows, columns;           /* size of the output */
  const float *transforms;         /* [n, 8] */
  bool one_transform;              /* one transform for all images */
  beyond mode;
  const char *in; /* nearest: elements of `size` bytes */
  char *out;
  size_t size;
  const char *fill; /* one element, or one float */
  bool bilinear;    /* if set, in and out are floats */
} projection;

/* Maps a coordinate outside [0, n - 1] to one inside.  The modes are those of scipy.ndimage. */
static float beyond_edge(float at, int64_t n, beyond mode) {
  const float len = (float)n, last = (float)(n - 1);
  if (mode == BEYOND_CONSTANT || (at >= 0 && at <= last)) return at;
  if (mode != BEYOND_NEAREST && n <= 1) return 0;
  /* too large to count the repetitions in an integer; NaN stays */
  if (!(fabsf(at) < 1e15f)) return at < 0 ? 0 : at > last ? last : at;
  if (mode == BEYOND_REFLECT) {
    const float twice = 2 * len;
    if (at < 0) {
      if (at < twice) at = twice * (float)(int64_t)(-at / twice) + at;
      at = at < -len ? at + twice : -at - 1;
    } else {
      at -= twice * (float)(int64_t)(at / twice);
      if (at >= len) at = twice - at - 1;
    }
  } else if (mode == BEYOND_WRAP) {
    if (at < 0)
      at += len * (float)((int64_t)(-at / last) + 1);
    else
      at -= len * (float)(int64_t)(at / last);
  }
  return at < 0 ? 0 : at > last ? last : at;
}

/* Computes the position in the input.  Returns false if there is none. */
static bool projective_project(const projection *p, int64_t image, int64_t y, int64_t x, float *to_y, float *to_x) {
  const float *t = p->transforms + (p->one_transform ? 0 : image * 8), fx = (float)x, fy = (float)y;
  const float scale = t[6] * fx + t[7] * fy + 1;
  if (scale == 0) return false;
  *to_x = beyond_edge((t[0] * fx + t[1] * fy + t[2]) / scale, p->width, p->mode);
  *to_y = beyond_edge((t[3] * fx + t[4] * fy + t[5]) / scale, p->height, p->mode);
  return isfinite(*to_x) && isfinite(*to_y);
}

/* Returns the channels of pixel (y, x) of an image, or NULL outside the image. */
static const char *projective_pixel(const projection *p, int64_t image, float y, float x) {
  if (!(y >= 0 && y < (float)p->height && x >= 0 && x < (float)p->width)) return NULL;
  const int64_t at = ((image * p->height + (int64_t)y) * p->width + (int64_t)x) * p->channels;
  return p->in + (size_t)at * p->size;
}

static float projective_value_of(const projection *p, const char *channels, int64_t c) {
  float v;
  memcpy(&v, channels ? channels + (size_t)c * sizeof v : p->fill, sizeof v);
  return v;
}

static void take_bilinear(const projection *p, int64_t image, float y, float x, float *out) {
  const float y0 = floorf(y), x0 = floorf(x), y1 = y0 + 1, x1 = x0 + 1;
  const char *at[4] = {projective_pixel(p, image, y0, x0), projective_pixel(p, image, y0, x1),
                       projective_pixel(p, image, y1, x0), projective_pixel(p, image, y1, x1)};
  for (int64_t c = 0; c < p->channels; c++) {
    const float above = (x1 - x) * projective_value_of(p, at[0], c) + (x - x0) * projective_value_of(p, at[1], c);
    const float below = (x1 - x) * projective_value_of(p, at[2], c) + (x - x0) * projective_value_of(p, at[3], c);
    out[c] = (y1 - y) * above + (y - y0) * below;
  }
}

static void take_nearest(const projection *p, int64_t image, float y, float x, char *out) {
  const char *from = projective_pixel(p, image, roundf(y), roundf(x));
  for (int64_t c = 0; c < p->channels; c++)
    memcpy(out + (size_t)c * p->size, from ? from + (size_t)c * p->size : p->fill, p->size);
}

/* A pool_loop over the rows of all images. */
static void project_rows(void *arg, int64_t begin, int64_t end) {
  const projection *p = arg;
  for (int64_t row = begin; row < end; row++) {
    const int64_t image = row / p->rows, y = row % p->rows;
    for (int64_t x = 0; x < p->columns; x++) {
      char *out = p->out + (size_t)((row * p->columns + x) * p->channels) * p->size;
      float to_y = 0, to_x = 0;
      if (!projective_project(p, image, y, x, &to_y, &to_x)) to_y = to_x = -2; /* outside: gives the constant */
      if (p->bilinear)
        take_bilinear(p, image, to_y, to_x, (float *)(void *)out);
      else
        take_nearest(p, image, to_y, to_x, out);
    }
  }
}

static weft_err projection_modes(kernel *k, projection *p) {
  static const char *const modes[] = {"CONSTANT", "REFLECT", "WRAP", "NEAREST"};
  p->bilinear = weft__node_str_is(k->node, "interpolation", "BILINEAR");
  if (!p->bilinear && !weft__node_str_is(k->node, "interpolation", "NEAREST"))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid interpolation %s. Supported types: NEAREST, BILINEAR",
                             weft__node_str(k->node, "interpolation").data);
  for (int m = 0; m < 4; m++)
    if (weft__node_str_is(k->node, "fill_mode", modes[m])) {
      p->mode = (beyond)m;
      return WEFT_OK;
    }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Invalid mode %s. Supported types: CONSTANT, REFLECT, WRAP, NEAREST",
                           weft__node_str(k->node, "fill_mode").data);
}

static weft_err projection_shapes(kernel *k, projection *p, shape *out) {
  const shape *x = &k->in[0]->shape, *t = &k->in[1]->shape;
  shape size;
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input images must have rank 4, got %s", weft__shape_text(x));
  if (t->rank != 2 || (t->dim[0] != x->dim[0] && t->dim[0] != 1) || t->dim[1] != 8)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input transform should be num_images x 8 or 1 x 8, got %s",
                             weft__shape_text(t));
  WEFT_TRY(weft__kernel_dims(k, 2, "output_shape", &size));
  if (size.rank != 2 || size.dim[0] <= 0 || size.dim[1] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "new image size must be two positive numbers, got %s",
                             weft__shape_text(&size));
  p->height = x->dim[1], p->width = x->dim[2], p->channels = x->dim[3];
  p->rows = size.dim[0], p->columns = size.dim[1];
  p->transforms = TENSOR_DATA(k->in[1], float), p->one_transform = t->dim[0] == 1;
  *out = SHAPE4(x->dim[0], size.dim[0], size.dim[1], x->dim[3]);
  return weft__shape_count(out) < 0 ? weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the output is too large") : WEFT_OK;
}

/* Stores the fill value in `one` as an element of the op's type. */
static weft_err fill_element(kernel *k, weft_tensor *one, weft_dtype type, float fill) {
  weft_tensor number = {0};
  weft_err err = weft__scratch(k, &number, WEFT_FLOAT, &SHAPE1(1));
  if (err == WEFT_OK) err = weft__scratch(k, one, type, &SHAPE1(1));
  if (err == WEFT_OK) {
    *TENSOR_DATA(&number, float) = fill;
    err = weft__cast_elements(k, &number, one);
  }
  weft__tensor_clear(&number);
  return err;
}

typedef struct scratches {
  weft_tensor from, to, one, fill;
} scratches;

/* Runs on floats: the tensors are converted before and after. */
static weft_err run_bilinear(kernel *k, projection *p, weft_tensor *y, scratches *s) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(weft__scratch(k, &s->from, WEFT_FLOAT, &x->shape));
  WEFT_TRY(weft__scratch(k, &s->to, WEFT_FLOAT, &y->shape));
  WEFT_TRY(weft__scratch(k, &s->fill, WEFT_FLOAT, &SHAPE1(1)));
  WEFT_TRY(weft__cast_elements(k, &s->one, &s->fill));
  WEFT_TRY(weft__cast_elements(k, x, &s->from));
  p->in = s->from.data, p->out = s->to.data, p->size = sizeof(float), p->fill = s->fill.data;
  WEFT_TRY(weft__long_loop(k, y->shape.dim[0] * p->rows, p->columns * (p->channels * 8 + 20), project_rows, p));
  return weft__cast_elements(k, &s->to, y);
}

static weft_err run_nearest(kernel *k, projection *p, weft_tensor *y, scratches *s) {
  p->in = k->in[0]->data, p->out = y->data, p->size = weft__dtype_size(y->dtype), p->fill = s->one.data;
  return weft__long_loop(k, y->shape.dim[0] * p->rows, p->columns * (p->channels * 4 + 20), project_rows, p);
}

static weft_err projective_cpu(kernel *k) {
  projection p = {0};
  shape out;
  scratches s = {0};
  WEFT_TRY(projection_modes(k, &p));
  WEFT_TRY(projection_shapes(k, &p, &out));
  if (k->n_in > 3) WEFT_TRY(weft__kernel_scalar(k, 3, "fill_value"));
  const float fill = k->n_in > 3 ? TENSOR_DATA(k->in[3], float)[0] : 0;
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  weft_err err = fill_element(k, &s.one, y->dtype, fill);
  if (err == WEFT_OK) err = (p.bilinear ? run_bilinear : run_nearest)(k, &p, y, &s);
  weft__tensor_clear(&s.from);
  weft__tensor_clear(&s.to);
  weft__tensor_clear(&s.one);
  weft__tensor_clear(&s.fill);
  return err;
}

static weft_err projective_infer(infer *s) {
  shape x, t, size;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &t));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &size));
  if (size.dim[0] >= 0 && size.dim[0] != 2)
    return weft__infer_fail(s, "Dimension must be 2 but is %lld", (long long)size.dim[0]);
  WEFT_TRY(weft__infer_shape_value(s, 2, &size));
  const bool known = size.rank == 2;
  s->out[0] = SHAPE4(x.dim[0], known ? size.dim[0] : -1, known ? size.dim[1] : -1, x.dim[3]);
  return WEFT_OK;
}

/* Converts the rows of eight numbers to matrices, inverts them, and scales them so that the ninth number is 1 again. */
static weft_out projective_inverted(weft_graph *g, weft_out t) {
  const weft_out axis = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out count = weft__b_gather(g, weft__b_shape(g, t), weft__b_ints(g, (int64_t[]){0}, 1), axis),
                 one = weft__b_ints(g, (int64_t[]){1}, 1);
  const weft_out ones =
      weft__b_fill(g, weft__b_concat(g, 2, (weft_out[]){count, one}, axis), weft__b_scalar(g, WEFT_FLOAT, 1));
  const weft_out nine = weft__b_concat(g, 2, (weft_out[]){t, ones}, weft__b_scalar(g, WEFT_INT32, 1));
  const weft_out matrices = weft__b_reshape(g, nine, weft__b_ints(g, (int64_t[]){-1, 3, 3}, 3));
  const weft_out back =
      weft__b_reshape(g, weft__b_unary(g, "MatrixInverse", matrices), weft__b_ints(g, (int64_t[]){-1, 9}, 2));
  const weft_out ninth[] = {back, weft__b_ints(g, (int64_t[]){0, 8}, 2), weft__b_ints(g, (int64_t[]){-1, 1}, 2)};
  const weft_out eight[] = {back, weft__b_ints(g, (int64_t[]){0, 0}, 2), weft__b_ints(g, (int64_t[]){-1, 8}, 2)};
  return weft__b_div(g, weft__b_node(g, "Slice", NULL, 3, eight, 0, NULL),
                     weft__b_node(g, "Slice", NULL, 3, ninth, 0, NULL));
}

/* As in TensorFlow, the gradient is the output gradient transformed by the inverse transforms, with zeros outside. */
static weft_err projective_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dims = weft__b_shape(g, b->in[0]);
  const weft_out cut[] = {dims, weft__b_ints(g, (int64_t[]){1}, 1), weft__b_ints(g, (int64_t[]){2}, 1)};
  const weft_out size = weft__b_node(g, "Slice", NULL, 3, cut, 0, NULL);
  const weft_out in[] = {b->dout[0], projective_inverted(g, b->in[1]), size,
                         b->n_in > 3 ? weft__b_scalar(g, WEFT_FLOAT, 0) : WEFT_NONE};
  const attr attrs[] = {A_STR("interpolation", weft__node_str(b->node, "interpolation").data),
                        A_STR("fill_mode", weft__node_str(b->node, "fill_mode").data)};
  b->din[0] = GRAD_DENSE(weft__b_node(g, b->node->op_name, NULL, b->n_in, in, 2, attrs));
  return weft__b_ok(g);
}

/* A translation by one pixel, for which the gradient is exact; a rotation, a scaling and a perspective. */
#define MOVED "f32[1,8] 1 0 1 0 1 0 0 0; i32[2] 3 4"
#define TURNED "f32[2,8] 0.8 -0.6 1 0.6 0.8 -0.5 0 0 0.5 0.1 0 0 0.4 1.25 0.01 0.02; i32[2] 5 6"
#define FAR "f32[1,8] 1.5 0.25 -4.5 -0.5 1.25 6.75 0 0; i32[2] 9 8"
static const op_case v2_cases[] = {
    {"f32[1,3,4,1] seq; " MOVED, "f32[1,3,4,1] 1 2 3 0 5 6 7 0 9 10 11 0", "interpolation='BILINEAR'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,3,4,1] rand; " MOVED, NULL, "interpolation='BILINEAR'", CASE_FIXED_TYPE},
    {"f32[2,3,4,2] rand; " MOVED, NULL, "interpolation='NEAREST'"},
    {"f32[2,4,5,2] rand; " TURNED, NULL, "interpolation='BILINEAR'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4,5,2] rand; " TURNED, NULL, "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f32[1,4,5,1] rand; " FAR, NULL, "interpolation='BILINEAR' fill_mode='REFLECT'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,5,1] rand; " FAR, NULL, "interpolation='BILINEAR' fill_mode='WRAP'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,5,1] rand; " FAR, NULL, "interpolation='BILINEAR' fill_mode='NEAREST'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,5,1] rand; " FAR, NULL, "interpolation='NEAREST' fill_mode='REFLECT'", CASE_NO_GRAD},
    {"u8[2,4,5,2] below:200; " TURNED, NULL, "interpolation='BILINEAR'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,5,1] rand; f32[1,8] 1e30 0 0 0 -1e30 0 0 0; i32[2] 2 3", NULL, "interpolation='NEAREST' fill_mode='WRAP'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"i64[2,4,5,2] rand; " TURNED, NULL, "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f64[2,4,5,2] rand; " TURNED, NULL, "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f32[1,2,2,1] seq; f32[1,7] 0; i32[2] 2 2", "error INVALID_ARGUMENT", "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f32[1,2,2,1] seq; f32[1,8] 0; i32[2] 2 0", "error INVALID_ARGUMENT", "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f32[1,2,2,1] seq; f32[1,8] 0; i32[2] 2 2", "error INVALID_ARGUMENT", "interpolation='CUBIC'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[0,2,2,1]; f32[1,8] 0; i32[2] 2 2", "f32[0,2,2,1]", "interpolation='NEAREST'", CASE_NO_GRAD},
    {0},
};
static const op_case v3_cases[] = {
    {"f32[1,3,4,1] seq; " MOVED "; f32[] 7", "f32[1,3,4,1] 1 2 3 7 5 6 7 7 9 10 11 7", "interpolation='BILINEAR'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3,4,2] rand; " MOVED "; f32[] 0", NULL, "interpolation='NEAREST'"},
    {"i32[2,4,5,2] below:200; " TURNED "; f32[] 2.75", NULL, "interpolation='BILINEAR'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"u8[2,4,5,2] below:200; " TURNED "; f32[] 9", NULL, "interpolation='NEAREST'", CASE_NO_GRAD},
    {"f32[2,4,5,2] rand; " TURNED "; f32[] -1.5", NULL, "interpolation='BILINEAR'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

OPS(projective) = {
    {"ImageProjectiveTransformV2(images:dtype, transforms:float, output_shape:int32) -> (transformed_images:dtype) | "
     "dtype:type{uint8,int32,int64,half,float,double} interpolation:string fill_mode:string='CONSTANT'",
     "Images seen through projective transforms; zeros are around them.", .infer = projective_infer,
     .cpu = projective_cpu, .grad = projective_grad, .cases = v2_cases},
    {"ImageProjectiveTransformV3(images:dtype, transforms:float, output_shape:int32, fill_value:float) -> "
     "(transformed_images:dtype) | dtype:type{uint8,int32,int64,half,float,double} interpolation:string "
     "fill_mode:string='CONSTANT'",
     "Images seen through projective transforms, with a constant around them.", .infer = projective_infer,
     .cpu = projective_cpu, .grad = projective_grad, .cases = v3_cases},
    {0},
};
