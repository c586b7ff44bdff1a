/* crop.c - CropAndResize: cuts boxes out of images and resizes them to one size.  Also its two gradients.
 *
 * A box is (y1, x1, y2, x2) as fractions of the image's height and width.  The pixels of a crop are on an even grid
 * from corner to corner of its box.  A pixel outside the image has the extrapolation value and passes on no
 * gradient. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include <math.h>
#include <string.h>

typedef struct crop {
  int64_t images, height, width, channels; /* size of the images */
  int64_t boxes, rows, columns;            /* number and size of the crops */
  const float *box;                        /* (boxes, 4) */
  int32_t *index;                          /* (boxes): the image of each box; a checked copy */
  const float *x;                          /* the input: images, or the gradient of the crops */
  const float *image;                      /* for the gradient of boxes */
  float *y;
  double *sums; /* for the gradient of images */
  float outside;
  bool nearest;
} crop;

/* ---- where pixels lie ---- */

/* Computes the position of row or column i of n along an axis of `size`, in the range from a to b.  Returns false if
 * it is outside the image. */
static bool crop_at(float a, float b, int64_t size, int64_t n, int64_t i, float *at) {
  const float last = (float)(size - 1);
  *at = n > 1 ? a * last + (float)i * ((b - a) * last / (float)(n - 1)) : 0.5f * (a + b) * last;
  return *at >= 0 && *at <= last; /* also false for NaN */
}

typedef struct corners {
  int64_t top, bottom, left, right;
  float down, across; /* weights of the bottom and of the right */
} corners;

/* Returns the index of a row or column.  As a float, the last one of more than 2^24 may be rounded up to `size`. */
static int64_t crop_pixel_at(float at, int64_t size) { return (int64_t)at < size ? (int64_t)at : size - 1; }

static bool crop_corners(const crop *c, int64_t b, int64_t row, int64_t column, corners *k) {
  const float *box = c->box + b * 4;
  float y, x;
  if (!crop_at(box[0], box[2], c->height, c->rows, row, &y)) return false;
  if (!crop_at(box[1], box[3], c->width, c->columns, column, &x)) return false;
  if (c->nearest) {
    *k = (corners){.top = crop_pixel_at(roundf(y), c->height), .left = crop_pixel_at(roundf(x), c->width)};
    k->bottom = k->top, k->right = k->left;
    return true;
  }
  *k = (corners){crop_pixel_at(floorf(y), c->height),
                 crop_pixel_at(ceilf(y), c->height),
                 crop_pixel_at(floorf(x), c->width),
                 crop_pixel_at(ceilf(x), c->width),
                 0,
                 0};
  k->down = y - (float)k->top, k->across = x - (float)k->left;
  return true;
}

static int64_t crop_pixel_offset(const crop *c, int64_t image, int64_t row, int64_t column) {
  return ((image * c->height + row) * c->width + column) * c->channels;
}

/* ---- forward: rows of all crops ---- */

static void crop_pixel(const crop *c, int64_t b, int64_t row, int64_t column, float *to) {
  corners k;
  if (!crop_corners(c, b, row, column, &k)) {
    for (int64_t i = 0; i < c->channels; i++) to[i] = c->outside;
    return;
  }
  const float *a = c->x + crop_pixel_offset(c, c->index[b], k.top, k.left),
              *d = c->x + crop_pixel_offset(c, c->index[b], k.bottom, k.right);
  const float *e = c->x + crop_pixel_offset(c, c->index[b], k.top, k.right),
              *f = c->x + crop_pixel_offset(c, c->index[b], k.bottom, k.left);
  for (int64_t i = 0; i < c->channels; i++) {
    const float up = a[i] + (e[i] - a[i]) * k.across, low = f[i] + (d[i] - f[i]) * k.across;
    to[i] = up + (low - up) * k.down;
  }
}

static void crop_rows(void *arg, int64_t begin, int64_t end) {
  const crop *c = arg;
  for (int64_t r = begin; r < end; r++)
    for (int64_t column = 0; column < c->columns; column++)
      crop_pixel(c, r / c->rows, r % c->rows, column, c->y + (r * c->columns + column) * c->channels);
}

/* ---- gradients ---- */

/* Adds the gradient of every crop to its image. */
static void spread_to_images(const crop *c) {
  corners k;
  for (int64_t b = 0; b < c->boxes; b++)
    for (int64_t i = 0; i < c->rows * c->columns; i++) {
      const float *g = c->x + (b * c->rows * c->columns + i) * c->channels;
      if (!crop_corners(c, b, i / c->columns, i % c->columns, &k)) continue;
      double *a = c->sums + crop_pixel_offset(c, c->index[b], k.top, k.left),
             *d = c->sums + crop_pixel_offset(c, c->index[b], k.bottom, k.right);
      double *e = c->sums + crop_pixel_offset(c, c->index[b], k.top, k.right),
             *f = c->sums + crop_pixel_offset(c, c->index[b], k.bottom, k.left);
      for (int64_t j = 0; j < c->channels; j++) {
        a[j] += (double)(g[j] * (1 - k.down) * (1 - k.across));
        e[j] += (double)(g[j] * (1 - k.down) * k.across);
        f[j] += (double)(g[j] * k.down * (1 - k.across));
        d[j] += (double)(g[j] * k.down * k.across);
      }
    }
}

/* Computes the derivatives of the loss by the row and the column position of one pixel of a crop. */
static void crop_slopes(const crop *c, int64_t b, const corners *k, const float *g, float *down, float *across) {
  const float *a = c->image + crop_pixel_offset(c, c->index[b], k->top, k->left);
  const float *e = c->image + crop_pixel_offset(c, c->index[b], k->top, k->right);
  const float *f = c->image + crop_pixel_offset(c, c->index[b], k->bottom, k->left);
  const float *d = c->image + crop_pixel_offset(c, c->index[b], k->bottom, k->right);
  *down = *across = 0;
  for (int64_t j = 0; j < c->channels; j++) {
    *down += g[j] * ((1 - k->across) * (f[j] - a[j]) + k->across * (d[j] - e[j]));
    *across += g[j] * ((1 - k->down) * (e[j] - a[j]) + k->down * (d[j] - f[j]));
  }
}

/* Divides the derivative of pixel i of n between the two ends of its axis. */
static void to_ends(float slope, int64_t size, int64_t n, int64_t i, float *first, float *last) {
  const float whole = (float)(size - 1), at = n > 1 ? (float)i * whole / (float)(n - 1) : 0.5f * whole;
  *first += slope * (whole - at);
  *last += slope * at;
}

static void spread_to_boxes(void *arg, int64_t begin, int64_t end) {
  const crop *c = arg;
  corners k;
  float down, across;
  for (int64_t b = begin; b < end; b++) {
    float *to = c->y + b * 4;
    memset(to, 0, 4 * sizeof *to);
    for (int64_t i = 0; i < c->rows * c->columns; i++) {
      if (!crop_corners(c, b, i / c->columns, i % c->columns, &k)) continue;
      crop_slopes(c, b, &k, c->x + (b * c->rows * c->columns + i) * c->channels, &down, &across);
      to_ends(down, c->height, c->rows, i / c->columns, &to[0], &to[2]);
      to_ends(across, c->width, c->columns, i % c->columns, &to[1], &to[3]);
    }
  }
}

/* ---- the kernels ---- */

static weft_err four_dims(const kernel *k, int i, const char *what) {
  const shape *s = &k->in[i]->shape;
  if (s->rank == 4) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be 4-D, got shape %s", what, weft__shape_text(s));
}

/* Reads the boxes of input i and their image numbers of input i + 1. c->index is a copy, because a peer may write to
 * the input; free it with weft__free. */
static weft_err crop_read_boxes(const kernel *k, int i, crop *c) {
  const shape *boxes = &k->in[i]->shape, *index = &k->in[i + 1]->shape;
  if (boxes->rank != 2 || boxes->dim[1] != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "boxes must have 4 columns, got shape %s",
                             weft__shape_text(boxes));
  if (index->rank != 1 || index->dim[0] != boxes->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "box_ind has shape %s for boxes of shape %s",
                             weft__shape_text(index), weft__shape_text(boxes));
  c->boxes = boxes->dim[0], c->box = TENSOR_DATA(k->in[i], float);
  c->index = weft__alloc_zero((size_t)c->boxes + 1, sizeof *c->index);
  if (!c->index) return WEFT_OOM;
  memcpy(c->index, k->in[i + 1]->data, (size_t)c->boxes * sizeof *c->index);
  for (int64_t b = 0; b < c->boxes; b++)
    if (c->index[b] < 0 || c->index[b] >= c->images)
      return weft__kernel_fail(k, WEFT_OUT_OF_RANGE, "box_index has values outside [0, batch_size): %d for %lld images",
                               c->index[b], (long long)c->images);
  return WEFT_OK;
}

static void read_images(const shape *s, crop *c) {
  c->images = s->dim[0], c->height = s->dim[1], c->width = s->dim[2], c->channels = s->dim[3];
}

/* Returns input i as floats.  The caller clears *floats. */
static weft_err as_floats(kernel *k, int i, weft_tensor *floats, const float **data) {
  *data = k->in[i]->data;
  if (k->in[i]->dtype == WEFT_FLOAT) return WEFT_OK;
  WEFT_TRY(weft__scratch(k, floats, WEFT_FLOAT, &k->in[i]->shape));
  *data = floats->data;
  return weft__cast_elements(k, k->in[i], floats);
}

static weft_err crop_run(kernel *k, crop *c, weft_tensor *floats) {
  int64_t size[WEFT_MAX_RANK];
  int n;
  WEFT_TRY(crop_read_boxes(k, 1, c));
  WEFT_TRY(weft__kernel_ints(k, 3, "crop_size", size, &n));
  if (n != 2 || size[0] <= 0 || size[1] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "crop_size must be two positive numbers");
  c->rows = size[0], c->columns = size[1];
  const shape out = SHAPE4(c->boxes, c->rows, c->columns, c->channels);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  WEFT_TRY(as_floats(k, 0, floats, &c->x));
  c->y = TENSOR_DATA(y, float);
  return weft__long_loop(k, c->boxes * c->rows, c->columns * (c->channels * 2 + 10), crop_rows, c);
}

static bool is_nearest(const weft_node *node) { return weft__node_str_is(node, "method", "nearest"); }

static weft_err crop_cpu(kernel *k) {
  weft_tensor floats = {0};
  crop c = {.nearest = is_nearest(k->node), .outside = (float)weft__node_float(k->node, "extrapolation_value", 0)};
  WEFT_TRY(four_dims(k, 0, "input image"));
  read_images(&k->in[0]->shape, &c);
  if (c.height <= 0 || c.width <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image dimensions must be positive");
  const weft_err err = crop_run(k, &c, &floats);
  weft__tensor_clear(&floats);
  weft__free(c.index);
  return err;
}

static weft_err image_grad_run(kernel *k, crop *c) {
  const shape *g = &k->in[0]->shape;
  widened w = {0};
  WEFT_TRY(crop_read_boxes(k, 1, c));
  if (g->dim[0] != c->boxes || g->dim[3] != c->channels)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "grads has shape %s for %lld boxes and %lld channels",
                             weft__shape_text(g), (long long)c->boxes, (long long)c->channels);
  c->rows = g->dim[1], c->columns = g->dim[2];
  const shape out = SHAPE4(c->images, c->height, c->width, c->channels);
  weft_tensor *dx = weft__out(k, 0, &out);
  if (!dx) return weft__out_refused(&out);
  const int64_t count = weft__shape_count(&out);
  c->sums = weft__alloc_zero((size_t)count + 1, sizeof *c->sums);
  if (!c->sums) return WEFT_OOM;
  c->x = TENSOR_DATA(k->in[0], float);
  spread_to_images(c);
  weft_err err = WEFT_OK;
  if (dx->dtype == WEFT_DOUBLE) {
    for (int64_t i = 0; i < count; i++) TENSOR_DATA(dx, double)[i] = c->sums[i];
  } else if (!(err = weft__widened_output(&w, dx))) {
    for (int64_t i = 0; i < count; i++) w.data[i] = (float)c->sums[i];
    weft__widened_store(&w, dx);
  }
  weft__widened_finish(&w);
  weft__free(c->sums);
  return err;
}

static weft_err image_grad_cpu(kernel *k) {
  crop c = {.nearest = is_nearest(k->node)};
  shape size;
  WEFT_TRY(four_dims(k, 0, "grads image"));
  WEFT_TRY(weft__kernel_dims(k, 3, "image_size", &size));
  if (size.rank != 4 || size.dim[1] <= 0 || size.dim[2] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "image_size must be 4 numbers with a positive height and width, got %s",
                             weft__shape_text(&size));
  if (weft__shape_count(&size) < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image_size is too large");
  read_images(&size, &c);
  const weft_err err = image_grad_run(k, &c);
  weft__free(c.index);
  return err;
}

static weft_err box_grad_run(kernel *k, crop *c, weft_tensor *floats) {
  const shape *g = &k->in[0]->shape;
  WEFT_TRY(crop_read_boxes(k, 2, c));
  if (g->dim[0] != c->boxes || g->dim[3] != c->channels)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "grads has shape %s for %lld boxes and %lld channels",
                             weft__shape_text(g), (long long)c->boxes, (long long)c->channels);
  c->rows = g->dim[1], c->columns = g->dim[2];
  weft_tensor *dx = weft__out(k, 0, &SHAPE2(c->boxes, 4));
  if (!dx) return WEFT_OOM;
  WEFT_TRY(as_floats(k, 1, floats, &c->image));
  c->x = TENSOR_DATA(k->in[0], float), c->y = TENSOR_DATA(dx, float);
  return weft__long_loop(k, c->boxes, c->rows * c->columns * (c->channels * 4 + 20), spread_to_boxes, c);
}

static weft_err box_grad_cpu(kernel *k) {
  weft_tensor floats = {0};
  crop c = {0};
  WEFT_TRY(four_dims(k, 0, "grads image"));
  WEFT_TRY(four_dims(k, 1, "input image"));
  read_images(&k->in[1]->shape, &c);
  if (c.height <= 0 || c.width <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image dimensions must be positive");
  const weft_err err = box_grad_run(k, &c, &floats);
  weft__tensor_clear(&floats);
  weft__free(c.index);
  return err;
}

/* ---- shapes and gradients ---- */

static weft_err crop_infer(infer *s) {
  shape image, boxes, index, size;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &image));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &boxes));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &index));
  if (boxes.dim[1] >= 0 && boxes.dim[1] != 4)
    return weft__infer_fail(s, "Dimension must be 4 but is %lld", (long long)boxes.dim[1]);
  if (boxes.dim[0] >= 0 && index.dim[0] >= 0 && boxes.dim[0] != index.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)boxes.dim[0],
                            (long long)index.dim[0]);
  WEFT_TRY(weft__infer_shape_value(s, 3, &size));
  const bool known = size.rank == 2;
  s->out[0] = SHAPE4(boxes.dim[0] >= 0 ? boxes.dim[0] : index.dim[0], known ? size.dim[0] : -1,
                     known ? size.dim[1] : -1, image.dim[3]);
  return WEFT_OK;
}

static weft_err image_grad_infer(infer *s) {
  shape size;
  WEFT_TRY(weft__infer_shape_value(s, 3, &size));
  s->out[0] = size.rank == 4 ? size : SHAPE4(-1, -1, -1, -1);
  return WEFT_OK;
}

static weft_err box_grad_infer(infer *s) {
  s->out[0] = s->in[2];
  return WEFT_OK;
}

static weft_err crop_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_dtype type = weft__out_type(g, b->in[0]);
  if (weft__dtype_class(type) == CLASS_FLOAT) {
    const weft_out in[] = {b->dout[0], b->in[1], b->in[2], weft__b_shape(g, b->in[0])};
    const attr attrs[] = {A_TYPE("T", type), A_STR("method", is_nearest(b->node) ? "nearest" : "bilinear")};
    b->din[0] = GRAD_DENSE(weft__b_node(g, "CropAndResizeGradImage", NULL, 4, in, 2, attrs));
  }
  /* Boxes have a gradient only for the bilinear method.  TensorFlow uses it for both methods. */
  const weft_out in[] = {b->dout[0], b->in[0], b->in[1], b->in[2]};
  b->din[1] = GRAD_DENSE(weft__b_node(g, "CropAndResizeGradBoxes", NULL, 4, in, 0, NULL));
  return weft__b_ok(g);
}

#define BOXES "f32[3,4] 0 0 1 1 0.2 0.1 0.7 0.9 0.6 0.8 0.1 0.3"
#define OUT "f32[2,4] -0.5 0 0.5 1.2 0.3 0.3 0.31 0.31"

static const op_case crop_cases[] = {
    {"f32[2,5,6,3] rand; " BOXES "; i32[3] 0 1 0; i32[2] 4 3", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,5,6,3] rand; " OUT "; i32[2] 0 1; i32[2] 4 3", NULL, "extrapolation_value=2.5",
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,5,6,3] rand; " BOXES "; i32[3] 0 1 0; i32[2] 4 3", NULL, "method='nearest'",
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[1,5,6,1] rand; " BOXES "; i32[3] 0; i32[2] 1 1", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"u8[1,5,6,1] below:255; " BOXES "; i32[3] 0; i32[2] 2 7", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[1,5,6,1] rand; " BOXES "; i32[3] 0 1 0; i32[2] 2 2", "error OUT_OF_RANGE", NULL, CASE_FIXED_TYPE},
    {"f32[1,5,6,1] rand; " BOXES "; i32[3] 0; i32[2] 0 2", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[5,6,1] rand; " BOXES "; i32[3] 0; i32[2] 2 2", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case image_grad_cases[] = {
    {"f32[3,4,3,2] rand; " BOXES "; i32[3] 0 1 0; i32[4] 2 5 6 2", NULL, "T=float", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,3,2] rand; " BOXES "; i32[3] 0 1 0; i32[4] 2 5 6 2", NULL, "T=double method='nearest'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4,3,2] rand; " BOXES "; i32[3] 0 1 0; i32[4] 2 5 6 2", "error INVALID_ARGUMENT", "T=float",
     CASE_FIXED_TYPE},
    {0},
};
static const op_case box_grad_cases[] = {
    {"f32[3,4,3,2] rand; f32[2,5,6,2] rand; " BOXES "; i32[3] 0 1 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,1,3,2] rand; f64[2,5,6,2] rand; " BOXES "; i32[3] 0 1 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,4,3,2] rand; f32[2,5,6,2] rand; " BOXES "; i32[3] 0 2 0", "error OUT_OF_RANGE", NULL, CASE_FIXED_TYPE},
    {0},
};

#define METHODS "method:string{'bilinear','nearest'}='bilinear'"
#define IMAGE_TYPES "T:type{uint8,uint16,int8,int16,int32,int64,half,float,double}"

OPS(crop) = {
    {"CropAndResize(image:T, boxes:float, box_ind:int32, crop_size:int32) -> (crops:float) | " IMAGE_TYPES " " METHODS
     " extrapolation_value:float=0",
     "Boxes cut out of images, at one size.", .infer = crop_infer, .cpu = crop_cpu, .grad = crop_grad,
     .cases = crop_cases},
    {"CropAndResizeGradImage(grads:float, boxes:float, box_ind:int32, image_size:int32) -> (output:T) | "
     "T:type{float,half,double} " METHODS,
     "The gradient of CropAndResize towards the images.", .infer = image_grad_infer, .cpu = image_grad_cpu,
     .cases = image_grad_cases},
    {"CropAndResizeGradBoxes(grads:float, image:T, boxes:float, box_ind:int32) -> (output:float) | " IMAGE_TYPES
     " method:string{'bilinear'}='bilinear'",
     "The gradient of CropAndResize towards the boxes.", .infer = box_grad_infer, .cpu = box_grad_cpu,
     .cases = box_grad_cases},
    {0},
};
