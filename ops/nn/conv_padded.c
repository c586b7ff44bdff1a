/* conv_padded.c - FusedPadConv2D and FusedResizeAndPadConv2D: a convolution of an image that is first resized and
 * mirrored at its borders.  They give the result of the separate ops, with memory for two images. (In TensorFlow
 * 2.15, every image of a batch gets the result of the first one.) */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "ops/nn/conv.h"
#include "tensor/dtype.h"
#include <math.h>
#include <string.h>

enum { AXES = 4 };

/* ---- resizing ---- */

typedef struct resize_axis {
  int64_t in, out;
  double scale;
} resize_axis;

static resize_axis axis_of(int64_t in, int64_t out, bool align_corners) {
  const bool spread = align_corners && out > 1;
  return (resize_axis){in, out, spread ? (double)(in - 1) / (double)(out - 1) : (double)in / (double)out};
}

/* Finds the two pixels around pixel i.  Returns the weight of the second. */
static double axis_between(const resize_axis *a, int64_t i, int64_t *low, int64_t *high) {
  const double at = (double)((float)i * (float)a->scale);
  *low = (int64_t)at < a->in ? (int64_t)at : a->in - 1;
  *high = *low + 1 < a->in ? *low + 1 : a->in - 1;
  return at - (double)*low;
}

static void store_number(weft_tensor *t, int64_t i, double v) {
  if (t->dtype == WEFT_FLOAT)
    TENSOR_DATA(t, float)[i] = (float)v;
  else if (t->dtype == WEFT_DOUBLE)
    TENSOR_DATA(t, double)[i] = v;
  else
    TENSOR_DATA(t, uint16_t)
  [i] = t->dtype == WEFT_HALF ? weft__half_from_float((float)v) : weft__bfloat16_from_float((float)v);
}

static void resize_image(const weft_tensor *x, weft_tensor *y, bool align_corners) {
  const int64_t *in = x->shape.dim, *out = y->shape.dim, depth = in[3];
  const resize_axis rows = axis_of(in[1], out[1], align_corners), cols = axis_of(in[2], out[2], align_corners);
  int64_t to = 0, top, bottom, left, right;
  for (int64_t b = 0; b < in[0]; b++)
    for (int64_t i = 0; i < out[1]; i++) {
      const double down = axis_between(&rows, i, &top, &bottom);
      for (int64_t j = 0; j < out[2]; j++) {
        const double across = axis_between(&cols, j, &left, &right);
        const int64_t upper = (b * in[1] + top) * in[2], lower = (b * in[1] + bottom) * in[2];
        for (int64_t d = 0; d < depth; d++, to++) {
          const double tl = weft__tensor_double(x, (upper + left) * depth + d);
          const double tr = weft__tensor_double(x, (upper + right) * depth + d);
          const double bl = weft__tensor_double(x, (lower + left) * depth + d);
          const double br = weft__tensor_double(x, (lower + right) * depth + d);
          const double above = tl + (tr - tl) * across, below = bl + (br - bl) * across;
          store_number(y, to, above + (below - above) * down);
        }
      }
    }
}

static weft_err make_resized(kernel *k, weft_tensor *out) {
  const shape *s = &k->in[0]->shape;
  int64_t size[WEFT_MAX_RANK];
  int n;
  WEFT_TRY(weft__kernel_ints(k, 1, "size", size, &n));
  if (n != 2 || size[0] <= 0 || size[1] <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "size must be two positive numbers");
  for (int i = 1; i < 4; i++)
    if (s->dim[i] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input image must be of non-zero size");
  WEFT_TRY(weft__kernel_in(k, weft__scratch(k, out, k->in[0]->dtype, &SHAPE4(s->dim[0], size[0], size[1], s->dim[3]))));
  resize_image(k->in[0], out, weft__node_bool(k->node, "resize_align_corners", false));
  return WEFT_OK;
}

/* ---- mirroring ---- */

typedef struct mirror {
  int64_t before[AXES], in[AXES], out[AXES];
  int64_t shift; /* 1: the edge pixel is repeated */
} mirror;

static weft_err read_mirror(const kernel *k, int i, const shape *in, mirror *m) {
  const weft_tensor *pads = k->in[i];
  m->shift = weft__node_str_is(k->node, "mode", "SYMMETRIC");
  if (pads->shape.rank != 2 || pads->shape.dim[0] != AXES || pads->shape.dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "paddings must be a matrix with 4 rows and 2 columns: %s",
                             weft__shape_text(&pads->shape));
  for (int a = 0; a < AXES; a++) {
    const int64_t before = TENSOR_DATA(pads, int32_t)[2 * a], after = TENSOR_DATA(pads, int32_t)[2 * a + 1];
    const int64_t most = in->dim[a] - 1 + m->shift;
    if (before < 0 || after < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "paddings must be non-negative: %lld %lld", (long long)before,
                               (long long)after);
    if (before > most || after > most)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "paddings must be %s the dimension size: %lld, %lld not %s %lld",
                               m->shift ? "no greater than" : "less than", (long long)before, (long long)after,
                               m->shift ? "no greater than" : "less than", (long long)in->dim[a]);
    m->before[a] = before, m->in[a] = in->dim[a], m->out[a] = in->dim[a] + before + after;
  }
  return WEFT_OK;
}

static int64_t mirror_source(const mirror *m, int a, int64_t i) {
  const int64_t at = i - m->before[a], n = m->in[a];
  return at < 0 ? -at - m->shift : at >= n ? 2 * n - 2 + m->shift - at : at;
}

static void mirror_image(const mirror *m, const weft_tensor *x, weft_tensor *y) {
  const size_t size = weft__dtype_size(x->dtype);
  char *to = y->data;
  for (int64_t b = 0; b < m->out[0]; b++)
    for (int64_t i = 0; i < m->out[1]; i++)
      for (int64_t j = 0; j < m->out[2]; j++) {
        const int64_t row = mirror_source(m, 0, b) * m->in[1] + mirror_source(m, 1, i);
        const int64_t pixel = (row * m->in[2] + mirror_source(m, 2, j)) * m->in[3];
        for (int64_t d = 0; d < m->out[3]; d++, to += size)
          memcpy(to, (const char *)x->data + (size_t)(pixel + mirror_source(m, 3, d)) * size, size);
      }
}

/* ---- the kernel ---- */

/* Convolves the padded image as Conv2D does. */
static weft_err conv_padded_run(kernel *k, const weft_tensor *padded) {
  const weft_tensor *in[] = {padded, k->in[k->n_in - 1]};
  variable *ref[2] = {NULL, NULL};
  kernel own = *k;
  own.in = in, own.ref = ref, own.n_in = 2, own.alias = NULL, own.dying = 0;
  const window *w = k->state;
  WEFT_TRY(weft__conv_check_attrs(&own, w));
  return weft__conv2d(&own, NULL);
}

static weft_err padded_conv(kernel *k, const weft_tensor *x, int pads) {
  mirror m;
  weft_tensor padded = {0};
  WEFT_TRY(read_mirror(k, pads, &x->shape, &m));
  WEFT_TRY(weft__kernel_in(k, weft__scratch(k, &padded, x->dtype, &SHAPE4(m.out[0], m.out[1], m.out[2], m.out[3]))));
  if (weft__tensor_count(&padded)) mirror_image(&m, x, &padded);
  const weft_err err = conv_padded_run(k, &padded);
  weft__tensor_clear(&padded);
  return err;
}

static weft_err conv_padded_check_image(const kernel *k) {
  if (k->in[0]->shape.rank == AXES) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional, but is %s",
                           weft__shape_text(&k->in[0]->shape));
}

static weft_err pad_cpu(kernel *k) {
  WEFT_TRY(conv_padded_check_image(k));
  return padded_conv(k, k->in[0], 1);
}

static weft_err resize_pad_cpu(kernel *k) {
  weft_tensor resized = {0};
  WEFT_TRY(conv_padded_check_image(k));
  WEFT_TRY(make_resized(k, &resized));
  const weft_err err = padded_conv(k, &resized, 2);
  weft__tensor_clear(&resized);
  return err;
}

/* Returns the number of windows of a filter on an axis, or -1 if a size is unknown. */
static int64_t windows_on(const infer *s, int64_t in, int64_t filter, int axis) {
  const attr *strides = weft__node_attr(s->node, "strides");
  const int64_t stride = strides && strides->n == AXES ? strides->is[axis] : 0;
  if (in < 0 || filter < 0 || stride < 1) return -1;
  if (weft__node_str_is(s->node, "padding", "SAME")) return (in + stride - 1) / stride;
  return in < filter ? -1 : (in - filter) / stride + 1;
}

static weft_err padded_infer(infer *s) {
  shape image, filter;
  const int pads = s->n_in - 2;
  WEFT_TRY(weft__infer_rank(s, 0, AXES, &image));
  WEFT_TRY(weft__infer_rank(s, pads + 1, AXES, &filter));
  s->out[0] = SHAPE4(-1, -1, -1, filter.dim[3]);
  const weft_tensor *known = weft__infer_value(s, pads), *size = pads == 2 ? weft__infer_value(s, 1) : NULL;
  if (!known || weft__tensor_count(known) != 2 * AXES || known->shape.rank != 2) return WEFT_OK;
  for (int a = 0; a < AXES - 1; a++) {
    int64_t in = image.dim[a];
    const int64_t more = weft__tensor_int(known, 2 * a) + weft__tensor_int(known, 2 * a + 1);
    if (pads == 2 && a > 0) in = size && weft__tensor_count(size) == 2 ? weft__tensor_int(size, a - 1) : -1;
    const int64_t padded = in < 0 || more < 0 ? -1 : in + more;
    s->out[0].dim[a] = a ? windows_on(s, padded, filter.dim[a - 1], a) : padded;
  }
  return WEFT_OK;
}

#define PADS "i32[4,2] 0 0 1 2 2 1 0 0"
static const op_case pad_cases[] = {
    {"f32[1,5,6,2] rand; " PADS "; f32[3,3,2,3] rand", NULL, "mode='REFLECT' strides=[1,1,1,1] padding='VALID'", 0},
    {"f32[1,5,6,2] rand; " PADS "; f32[3,2,2,3] rand", NULL, "mode='SYMMETRIC' strides=[1,2,2,1] padding='SAME'", 0},
    {"f32[1,5,6,1] rand; i32[4,2] 0; f32[3,2,1,3] rand", NULL, "mode='SYMMETRIC' strides=[1,1,2,1] padding='SAME'", 0},
    {"f32[2,1,1,1] 1 2; i32[4,2] 0; f32[1,1,1,1] 3", "f32[2,1,1,1] 3 6",
     "mode='REFLECT' strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {"f32[1,5,6,1] rand; i32[4,2] 0 0 9 0 0; f32[3,2,1,3] rand", "error INVALID_ARGUMENT",
     "mode='REFLECT' strides=[1,1,2,1] padding='SAME'", 0},
    {"f32[1,5,6,1] rand; i32[3,2] 0; f32[3,2,1,3] rand", "error INVALID_ARGUMENT",
     "mode='REFLECT' strides=[1,1,2,1] padding='SAME'", 0},
    {0},
};
static const op_case resize_pad_cases[] = {
    {"f32[1,5,6,2] rand; i32[2] 7 8; " PADS "; f32[3,3,2,3] rand", NULL,
     "mode='REFLECT' strides=[1,1,1,1] padding='VALID'", 0},
    {"f32[1,5,6,2] rand; i32[2] 9 3; i32[4,2] 0 0 1 1 1 1 0 0; f32[3,3,2,3] rand", NULL,
     "mode='SYMMETRIC' strides=[1,2,2,1] padding='SAME' resize_align_corners=true", 0},
    {"f32[1,5,6,2] rand; i32[2] 0 3; " PADS "; f32[3,3,2,3] rand", "error INVALID_ARGUMENT",
     "mode='REFLECT' strides=[1,1,1,1] padding='VALID'", 0},
    {0},
};

#define CONVOLVED(TYPES, MORE)                                                                                         \
  "filter:T) -> (output:T) | T:type{" TYPES "} " MORE                                                                  \
  "mode:string{'REFLECT','SYMMETRIC'} strides:list(int) padding:string{'SAME','VALID'}"

OPS(conv_padded) = {
    {"FusedPadConv2D(input:T, paddings:int32, " CONVOLVED("half,bfloat16,float,double", ""),
     "A convolution of an image with mirrored borders.", .infer = padded_infer, .cpu = pad_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .cases = pad_cases},
    {"FusedResizeAndPadConv2D(input:T, size:int32, paddings:int32, " CONVOLVED("half,float,double",
                                                                               "resize_align_corners:bool=false "),
     "A convolution of a resized image with mirrored borders.", .infer = padded_infer, .cpu = resize_pad_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .cases = resize_pad_cases},
    {0},
};
