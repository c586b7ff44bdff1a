/* random_crop.c - RandomCrop, which cuts a random part of a fixed size out of an image, and
 * SampleDistortedBoundingBox and its stateless form.
 *
 * SampleDistortedBoundingBox draws an aspect ratio, then a height that keeps the area in its range, then a position.
 * It returns the first rectangle that covers enough of some box, or the whole image after max_attempts failures.
 * Numbers are drawn in TensorFlow's order. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "ops/random/random.h"
#include "state/dataset.h"
#include <math.h>
#include <string.h>

/* ---- RandomCrop ---- */

static weft_err crop_sizes(const kernel *k, int64_t *size) {
  const shape *s = &k->in[0]->shape;
  int n;
  if (s->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 3-dimensional%s", weft__shape_text(s));
  int64_t given[WEFT_MAX_RANK];
  WEFT_TRY(weft__kernel_ints(k, 1, "size", given, &n));
  if (n != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "size must contain two elements%s",
                             weft__shape_text(&k->in[1]->shape));
  for (int i = 0; i < 2; i++) {
    static const char *const names[] = {"height", "width"};
    if (given[i] < 0 || given[i] > s->dim[i])
      return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "%s must be >= target_%s: %s = %lld, target_%s = %lld",
                               names[i], names[i], names[i], (long long)s->dim[i], names[i], (long long)given[i]);
    size[i] = given[i];
  }
  return WEFT_OK;
}

static weft_err random_crop_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const int64_t *d = x->shape.dim;
  int64_t size[2], at[2] = {0, 0};
  WEFT_TRY(crop_sizes(k, size));
  weft_tensor *y = weft__out(k, 0, &SHAPE3(size[0], size[1], d[2]));
  if (!y) return weft__out_refused(&SHAPE3(size[0], size[1], d[2]));
  if (size[0] != d[0] || size[1] != d[1]) {
    philox gen;
    WEFT_TRY(weft__random_take(k, 1, &gen));
    philox_reader r = weft__philox_reader(gen);
    for (int i = 1; i >= 0; i--) /* the width is drawn first */
      if (d[i] > size[i]) at[i] = (int64_t)(weft__philox_word(&r) % (uint32_t)(d[i] - size[i] + 1));
  }
  const size_t pixel = (size_t)d[2] * weft__dtype_size(x->dtype);
  for (int64_t i = 0; i < size[0]; i++)
    memcpy((char *)y->data + (size_t)(i * size[1]) * pixel,
           (const char *)x->data + (size_t)((at[0] + i) * d[1] + at[1]) * pixel, (size_t)size[1] * pixel);
  return WEFT_OK;
}

static weft_err random_crop_infer(infer *s) {
  shape x, size;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &size));
  if (size.dim[0] >= 0 && size.dim[0] != 2)
    return weft__infer_fail(s, "Dimension 0 in both shapes must be equal, but are %lld and 2", (long long)size.dim[0]);
  WEFT_TRY(weft__infer_shape_value(s, 1, &size));
  const bool known = size.rank == 2;
  s->out[0] = SHAPE3(known ? size.dim[0] : -1, known ? size.dim[1] : -1, x.dim[2]);
  return WEFT_OK;
}

/* ---- SampleDistortedBoundingBox ---- */

enum { MAX_SIDE = INT32_MAX / 2, ATTEMPTS_PER_CHECK = 4096 };

typedef struct box { /* in pixels; the end coordinates are exclusive */
  int top, left, bottom, right;
} box;

typedef struct bounds {
  int height, width; /* size of the image */
  float min_ratio, max_ratio, min_area, max_area;
  float covered; /* the fraction of some box that must be inside */
  int64_t attempts;
} bounds;

static float box_area(const box *b) {
  return b->bottom > b->top && b->right > b->left ? (float)(b->bottom - b->top) * (float)(b->right - b->left) : 0;
}

/* Rounds x to an int in [0, MAX_SIDE]; NaN gives 0.  A plain conversion is undefined outside the range of int. */
static int random_crop_rounded(double x) { return x >= MAX_SIDE ? MAX_SIDE : x > 0 ? (int)lrint(x) : 0; }

static int width_for(int height, float ratio) { return random_crop_rounded((double)((float)height * ratio)); }

/* Returns the largest height that the area allows and whose width fits the image. */
static int random_crop_tallest(const bounds *b, float max_area, float ratio) {
  int height = random_crop_rounded((double)sqrtf(max_area / ratio));
  if (width_for(height, ratio) > b->width) {
    /* the largest height whose rounded width fits, as TensorFlow computes it */
    height = random_crop_rounded(floor((b->width + 0.5 - 1e-7) / (double)ratio));
    if (width_for(height, ratio) > b->width) height--;
  }
  return height < b->height ? height : b->height;
}

/* Draws a rectangle of that aspect ratio.  Returns false if none fits. */
static bool draw_box(const bounds *b, float ratio, philox_reader *r, box *out) {
  const float image = (float)b->width * (float)b->height;
  const float min_area = b->min_area * image, max_area = b->max_area * image;
  const int tallest = random_crop_tallest(b, max_area, ratio);
  int height = random_crop_rounded((double)sqrtf(min_area / ratio));
  if (height > tallest) height = tallest;
  if (height < tallest) height += (int)weft__philox_below(r, (uint32_t)(tallest - height + 1));
  int width = width_for(height, ratio);
  /* Rounding may have left the range by a little: try one row more or less. */
  if ((float)width * (float)height < min_area) width = width_for(++height, ratio);
  if ((float)width * (float)height > max_area) width = width_for(--height, ratio);
  const float area = (float)width * (float)height;
  if (area < min_area || area > max_area || width > b->width || height > b->height || width <= 0 || height <= 0)
    return false;
  const int top = height < b->height ? (int)weft__philox_below(r, (uint32_t)(b->height - height)) : 0;
  const int left = width < b->width ? (int)weft__philox_below(r, (uint32_t)(b->width - width)) : 0;
  *out = (box){top, left, top + height, left + width};
  return true;
}

/* Returns true if the crop covers enough of any box. */
static bool random_crop_covers(const box *crop, const box *boxes, int64_t n, float part) {
  if (box_area(crop) <= 0) return false;
  for (int64_t i = 0; i < n; i++) {
    const box *o = &boxes[i];
    const float area = box_area(o);
    if (area <= 0) continue;
    const box both = {crop->top > o->top ? crop->top : o->top, crop->left > o->left ? crop->left : o->left,
                      crop->bottom < o->bottom ? crop->bottom : o->bottom,
                      crop->right < o->right ? crop->right : o->right};
    if (box_area(&both) / area >= part) return true;
  }
  return false;
}

/* Returns the first rectangle drawn that covers enough of a box, or the whole image if no attempt succeeds.  The
 * program may ask for billions of attempts, so the loop ends when the step is canceled or its deadline has passed. */
static weft_err random_crop_sample(const kernel *k, const bounds *b, const box *boxes, int64_t n, philox_reader *r,
                                   box *out) {
  *out = (box){0, 0, b->height, b->width};
  if (b->height == 0 || b->width == 0) return WEFT_OK; /* no rectangle fits */
  for (int64_t i = 0; i < b->attempts; i++) {
    if (i % ATTEMPTS_PER_CHECK == 0) WEFT_TRY(weft__step_check_time(k->step));
    const float ratio = weft__philox_to_float(weft__philox_word(r)) * (b->max_ratio - b->min_ratio) + b->min_ratio;
    box crop;
    if (!draw_box(b, ratio, r, &crop) || !random_crop_covers(&crop, boxes, n, b->covered)) continue;
    *out = crop;
    return WEFT_OK;
  }
  return WEFT_OK;
}

/* ---- reading the attributes and inputs ---- */

static weft_err read_range(const kernel *k, const char *name, const char *what, float *low, float *high) {
  const attr *a = weft__node_attr(k->node, name);
  if (!a || a->kind != ATTR_FLOAT || !a->is_list || a->n != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s range field must specify 2 dimensions", what);
  if (!(a->fs[0] > 0) || !(a->fs[1] > 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s range must be non-negative: [%g, %g]", what,
                             (double)a->fs[0], (double)a->fs[1]);
  *low = a->fs[0];
  *high = a->fs[1];
  return WEFT_OK;
}

static weft_err read_bounds(const kernel *k, bounds *b) {
  WEFT_TRY(read_range(k, "aspect_ratio_range", "Aspect ratio", &b->min_ratio, &b->max_ratio));
  WEFT_TRY(read_range(k, "area_range", "Area", &b->min_area, &b->max_area));
  if (b->min_area > 1 || b->max_area > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Area range must be less then or equal to 1.0: [%g, %g]",
                             (double)b->min_area, (double)b->max_area);
  b->attempts = weft__node_int(k->node, "max_attempts", 100);
  if (b->attempts <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Max attempts must be non-negative: %lld",
                             (long long)b->attempts);
  if (!weft__fits_int(b->attempts))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Attr max_attempts has value %lld out of range for an int32",
                             (long long)b->attempts);
  b->covered = weft__node_float(k->node, "min_object_covered", 0.1f);
  if (k->n_in > 2) {
    const shape *s = &k->in[2]->shape;
    if (s->rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "min_object_covered must be 0-D, got shape %s",
                               weft__shape_text(s));
    b->covered = TENSOR_DATA(k->in[2], float)[0];
  }
  if (!(b->covered >= 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Min object covered must be non-negative: %g",
                             (double)b->covered);
  return WEFT_OK;
}

static weft_err read_image_size(const kernel *k, bounds *b) {
  const weft_tensor *t = k->in[0];
  if (t->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image_size must be 1-dimensional%s",
                             weft__shape_text(&t->shape));
  if (t->shape.dim[0] != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image_size must contain 3 elements%s",
                             weft__shape_text(&t->shape));
  int *const at[] = {&b->height, &b->width};
  for (int i = 0; i < 2; i++) {
    const int64_t v = weft__tensor_int(t, i);
    if (v < 0 || v > MAX_SIDE)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "image %s must be >= 0: %lld", i ? "width" : "height",
                               (long long)v);
    *at[i] = weft__int_sat(v);
  }
  return WEFT_OK;
}

static weft_err check_boxes(const kernel *k, int64_t *n) {
  const weft_tensor *t = k->in[1];
  const shape *s = &t->shape;
  if (s->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "input boxes must be 3-dimensional [batch, num_boxes, coords]: %s", weft__shape_text(s));
  if (s->dim[2] != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "bounding boxes must have shape [4] or [*, 4], got %s",
                             weft__shape_text(s));
  *n = s->dim[0] * s->dim[1];
  if (*n == 0 && !weft__node_bool(k->node, "use_image_if_no_bounding_boxes", false))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
                             "you wish to not provide any bounding boxes.");
  return WEFT_OK;
}

/* Reads one box in pixels.  Each coordinate is loaded once: the tensor may be in memory that another process
 * shares and changes between a check and a second load. */
static weft_err read_box(const kernel *k, const bounds *b, int64_t i, box *out) {
  const volatile float *v = TENSOR_DATA(k->in[1], float) + 4 * i;
  int side[4];
  for (int j = 0; j < 4; j++) {
    const float at = v[j];
    if (!(at >= 0 && at <= 1))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "All bounding box coordinates must be in [0.0, 1.0]: %g",
                               (double)at);
    side[j] = (int)(at * (float)(j % 2 ? b->width : b->height));
  }
  *out = (box){side[0], side[1], side[2], side[3]};
  return WEFT_OK;
}

/* Reads the boxes in pixels.  If there are none, the whole image is the only box. `boxes` has room for n + 1. */
static weft_err random_crop_read_boxes(const kernel *k, const bounds *b, box *boxes, int64_t *n) {
  for (int64_t i = 0; i < *n; i++) WEFT_TRY(read_box(k, b, i, &boxes[i]));
  if (*n == 0) boxes[(*n)++] = (box){0, 0, b->height, b->width};
  return WEFT_OK;
}

static void store_int(weft_tensor *t, int64_t i, int64_t v) {
  memcpy((char *)t->data + (size_t)i * weft__dtype_size(t->dtype), &v, weft__dtype_size(t->dtype));
}

static weft_err random_crop_return(kernel *k, const bounds *b, const box *crop) {
  weft_tensor *begin = weft__out(k, 0, &SHAPE1(3)), *size = begin ? weft__out(k, 1, &SHAPE1(3)) : NULL;
  weft_tensor *area = size ? weft__out(k, 2, &SHAPE3(1, 1, 4)) : NULL;
  if (!area) return WEFT_OOM;
  const int64_t begins[] = {crop->top, crop->left, 0};
  const int64_t sizes[] = {crop->bottom - crop->top, crop->right - crop->left, -1};
  for (int i = 0; i < 3; i++) {
    store_int(begin, i, begins[i]);
    store_int(size, i, sizes[i]);
  }
  float *out = area->data;
  out[0] = (float)crop->top / (float)b->height;
  out[1] = (float)crop->left / (float)b->width;
  out[2] = (float)crop->bottom / (float)b->height;
  out[3] = (float)crop->right / (float)b->width;
  return WEFT_OK;
}

/* If given is NULL, uses the node's own generator. */
static weft_err sample_run(kernel *k, const philox *given) {
  bounds b;
  int64_t n;
  WEFT_TRY(read_bounds(k, &b));
  WEFT_TRY(read_image_size(k, &b));
  WEFT_TRY(check_boxes(k, &n));
  box *boxes = weft__alloc((size_t)(n + 1) * sizeof *boxes), crop;
  if (!boxes) return WEFT_OOM;
  philox gen = given ? *given : (philox){0};
  weft_err err = random_crop_read_boxes(k, &b, boxes, &n);
  if (!err && !given) err = weft__random_take(k, (uint64_t)b.attempts, &gen);
  if (!err) {
    philox_reader r = weft__philox_reader(gen);
    err = random_crop_sample(k, &b, boxes, n, &r, &crop);
  }
  if (!err) err = random_crop_return(k, &b, &crop);
  weft__free(boxes);
  return err;
}

static weft_err sample_cpu(kernel *k) { return sample_run(k, NULL); }

static weft_err stateless_sample_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_seed(k, 3, &gen));
  return sample_run(k, &gen);
}

static weft_err sample_infer(infer *s) {
  shape size, boxes;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &size));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &boxes));
  if (s->n_in > 2) WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  if (s->n_in > 3) WEFT_TRY(weft__infer_rank(s, 3, 1, NULL));
  if (size.dim[0] >= 0 && size.dim[0] != 3)
    return weft__infer_fail(s, "Dimension must be 3 but is %lld", (long long)size.dim[0]);
  if (boxes.dim[2] >= 0 && boxes.dim[2] != 4)
    return weft__infer_fail(s, "Dimension must be 4 but is %lld", (long long)boxes.dim[2]);
  s->out[0] = s->out[1] = SHAPE1(3);
  s->out[2] = SHAPE3(1, 1, 4);
  return WEFT_OK;
}

static const op_case crop_cases[] = {
    {"i32[5,6,1] seq; i64[2] 3 2", "i32[3,2,1] 13 14 19 20 25 26", "seed=1 seed2=7",
     CASE_RANDOM | CASE_NO_PARITY | CASE_FIXED_TYPE},
    {"f32[3,2,2] rand; i64[2] 3 2", NULL, "seed=1 seed2=7", CASE_RANDOM | CASE_NO_PARITY},
    {"f32[3,2,2] rand; i64[2] 4 2", "error FAILED_PRECONDITION", "seed=1 seed2=7", CASE_NO_PARITY},
    {0},
};

#define BOXES "f32[1,2,4] .1 .2 .5 .9 .3 .3 .4 .4; "
static const op_case sample_v2_cases[] = {
    {"i32[3] 100 80 3; f32[1,0,4] 0; f32[] .1", "i32[3] 32 22 0; i32[3] 43 52 -1; f32[1,1,4] .32 .275 .75 .925",
     "seed=1 seed2=7 use_image_if_no_bounding_boxes=true", CASE_RANDOM},
    {"i32[3] 100 80 3; " BOXES "f32[] .5", "i32[3] 19 2 0; i32[3] 63 76 -1; f32[1,1,4] .19 .025 .82 .975",
     "seed=1 seed2=3", CASE_RANDOM},
    {"i64[3] 37 91 3; " BOXES "f32[] .6", NULL, "seed=5 seed2=3 area_range=[0.2,0.7] aspect_ratio_range=[0.5,2.0]",
     CASE_RANDOM},
    {"i32[3] 100 80 3; " BOXES "f32[] 1", NULL, "seed=1 seed2=3 area_range=[0.01,0.02] max_attempts=7", CASE_RANDOM},
    {"i32[3] 100 80 3; f32[1,0,4] 0; f32[] .1", "error INVALID_ARGUMENT", "seed=1 seed2=7", 0},
    {"i32[3] 100 80 3; f32[1,1,4] 2; f32[] .1", "error INVALID_ARGUMENT", "seed=1 seed2=7", 0},
    {0},
};

static const op_case sample_cases[] = {
    {"i32[3] 100 80 3; f32[1,2,4] .1 .2 .5 .9 .3 .3 .4 .4",
     "i32[3] 19 2 0; i32[3] 63 76 -1; f32[1,1,4] .19 .025 .82 .975", "seed=1 seed2=3 min_object_covered=0.5",
     CASE_RANDOM},
    {0},
};

static const op_case stateless_sample_cases[] = {
    {"i32[3] 100 80 3; " BOXES "f32[] .5; i64[2] 1 2", NULL, NULL, CASE_FIXED_TYPE},
    {"i32[3] 100 80 3; " BOXES "f32[] .5; i32[2] 7 -3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[3] 37 91 3; " BOXES "f32[] .6; i64[2] 5 6", NULL, "area_range=[0.2,0.7] aspect_ratio_range=[0.5,2.0]",
     CASE_FIXED_TYPE},
    {"i32[3] 100 80 3; f32[1,0,4] 0; f32[] .1; i64[2] 1 2", NULL, "use_image_if_no_bounding_boxes=true",
     CASE_FIXED_TYPE},
    {"i32[3] 100 80 3; f32[1,0,4] 0; f32[] .1; i64[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

#define SAMPLED_TYPES "(begin:T, size:T, bboxes:float) | T:type{uint8,int8,int16,int32,int64} "
#define SAMPLED SAMPLED_TYPES "seed:int=0 seed2:int=0 "
#define SAMPLE_RANGES                                                                                                  \
  "aspect_ratio_range:list(float)=[0.75,1.33000004] area_range:list(float)=[0.0500000007,1] max_attempts:int=100 "     \
  "use_image_if_no_bounding_boxes:bool=false"
#define RANGES SAMPLE_RANGES " ; stateful"
#define RANDOM .flags = OP_SEED, .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, .no_grad = true

OPS(random_crop) = {
    {"RandomCrop(image:T, size:int64) -> (output:T) | T:type{uint8,int8,int16,int32,int64,float,double} seed:int=0 "
     "seed2:int=0 ; stateful",
     "A part of the given height and width at a random position of the image.", RANDOM, .infer = random_crop_infer,
     .cpu = random_crop_cpu, .cases = crop_cases},
    {"SampleDistortedBoundingBox(image_size:T, bounding_boxes:float) -> " SAMPLED
     "min_object_covered:float=0.100000001 " RANGES,
     "A rectangle that holds enough of some box.", RANDOM, .infer = sample_infer, .cpu = sample_cpu,
     .cases = sample_cases},
    {"SampleDistortedBoundingBoxV2(image_size:T, bounding_boxes:float, min_object_covered:float) -> " SAMPLED RANGES,
     "A rectangle that holds enough of some box, how much being an input.", RANDOM, .infer = sample_infer,
     .cpu = sample_cpu, .cases = sample_v2_cases},
    {"StatelessSampleDistortedBoundingBox(image_size:T, bounding_boxes:float, min_object_covered:float, seed:Tseed) "
     "-> " SAMPLED_TYPES "Tseed:type{int32,int64} " SAMPLE_RANGES,
     "A rectangle that holds enough of some box, which a seed alone decides.", .infer = sample_infer,
     .cpu = stateless_sample_cpu, .cases = stateless_sample_cases},
    {0},
};
