/* patches.c - ExtractImagePatches and ExtractVolumePatches, which lay out each window along the channels;
 * DrawBoundingBoxes.
 *
 * An image is a volume of depth 1.  The gradient of a pixel is the sum over all windows that contain it.  To find
 * these windows, the gradient extracts patches from an image whose pixels are their own numbers. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/conv/window.h"
#include "kernels/simd/widen.h"
#include <stdio.h>
#include <string.h>

/* ---- windows ---- */

typedef struct patches {
  int spatial;       /* 2 or 3 */
  window_axis at[3]; /* depth, height, width */
  padding padding;
  int64_t batch, channels;
  size_t size; /* bytes of an element */
  const char *x;
  char *y;
} patches;

/* Reads a list with one value per dimension; those of batch and channels must be 1. */
static weft_err patches_list(const weft_node *n, const char *name, int spatial, int64_t *out) {
  const attr *a = weft__node_attr(n, name);
  for (int i = 0; i < spatial; i++) out[i] = 1;
  if (!a) return WEFT_OK;
  if (a->n != spatial + 2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s requires the %s attribute to contain %d values, but got: %d",
                      n->op_name, name, spatial + 2, a->n);
  if (a->is[0] != 1 || a->is[spatial + 1] != 1)
    return weft__fail(WEFT_UNIMPLEMENTED, "Only support %s across space.", name);
  for (int i = 0; i < spatial; i++) {
    out[i] = a->is[i + 1];
    if (out[i] < 1 || out[i] > INT32_MAX)
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s must be positive, but dimension %d is %lld", name, i + 1,
                        (long long)out[i]);
  }
  return WEFT_OK;
}

static weft_err patches_read(patches *p, const weft_node *n) {
  int64_t v[3][3];
  *p = (patches){.spatial = weft__node_attr(n, "rates") ? 2 : 3};
  p->padding = weft__node_str_is(n, "padding", "SAME") ? PAD_SAME : PAD_VALID;
  WEFT_TRY(patches_list(n, "ksizes", p->spatial, v[0]));
  WEFT_TRY(patches_list(n, "strides", p->spatial, v[1]));
  WEFT_TRY(patches_list(n, "rates", p->spatial, v[2]));
  p->at[0] = (window_axis){.size = 1, .stride = 1, .dilation = 1, .in = 1, .out = 1};
  for (int i = 0; i < p->spatial; i++)
    p->at[i + 3 - p->spatial] = (window_axis){.size = v[0][i], .stride = v[1][i], .dilation = v[2][i]};
  return WEFT_OK;
}

/* Copies one window: its pixels in order, with the channels innermost. */
static void patches_window(const patches *p, const char *image, int64_t flat, char *y) {
  const size_t pixel = (size_t)p->channels * p->size;
  int64_t start[3];
  for (int i = 2; i >= 0; flat /= p->at[i].out, i--) start[i] = flat % p->at[i].out * p->at[i].stride - p->at[i].before;
  for (int64_t d = 0; d < p->at[0].size; d++)
    for (int64_t h = 0; h < p->at[1].size; h++)
      for (int64_t w = 0; w < p->at[2].size; w++, y += pixel) {
        const int64_t at[3] = {start[0] + d * p->at[0].dilation, start[1] + h * p->at[1].dilation,
                               start[2] + w * p->at[2].dilation};
        bool inside = true;
        for (int i = 0; i < 3; i++) inside = inside && at[i] >= 0 && at[i] < p->at[i].in;
        if (inside)
          memcpy(y, image + (size_t)((at[0] * p->at[1].in + at[1]) * p->at[2].in + at[2]) * pixel, pixel);
        else
          memset(y, 0, pixel);
      }
}

static void patches_windows(void *arg, int64_t begin, int64_t end) {
  const patches *p = arg;
  const int64_t windows = p->at[0].out * p->at[1].out * p->at[2].out,
                taps = p->at[0].size * p->at[1].size * p->at[2].size;
  const int64_t pixels = p->at[0].in * p->at[1].in * p->at[2].in;
  for (int64_t i = begin; i < end; i++)
    patches_window(p, p->x + (size_t)(i / windows * pixels * p->channels) * p->size, i % windows,
                   p->y + (size_t)(i * taps * p->channels) * p->size);
}

static weft_err patches_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  patches p;
  WEFT_TRY(weft__kernel_in(k, patches_read(&p, k->node)));
  if (x->shape.rank != p.spatial + 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be %d-dimensional: %s", p.spatial + 2,
                             weft__shape_text(&x->shape));
  shape s = x->shape;
  p.batch = s.dim[0], p.channels = s.dim[p.spatial + 1], p.size = weft__dtype_size(x->dtype);
  for (int i = 0; i < p.spatial; i++) {
    window_axis *a = &p.at[i + 3 - p.spatial];
    a->in = s.dim[i + 1];
    if (weft__window_place(a, p.padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
    s.dim[i + 1] = a->out;
    s.dim[p.spatial + 1] = weft__shape_dim_mul(s.dim[p.spatial + 1], a->size);
  }
  if (s.dim[p.spatial + 1] < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a window has too many elements");
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  p.x = x->data, p.y = y->data;
  weft__kernel_loop(k, p.batch * p.at[0].out * p.at[1].out * p.at[2].out, s.dim[p.spatial + 1] / 2 + 20,
                    patches_windows, &p);
  return WEFT_OK;
}

static weft_err patches_infer(infer *s) {
  patches p;
  shape x;
  const weft_err err = patches_read(&p, s->node);
  if (err == WEFT_UNIMPLEMENTED) return WEFT_OK; /* the kernel reports it */
  if (err) {
    char why[512];
    snprintf(why, sizeof why, "%s", weft__error_message());
    return weft__infer_fail(s, "%s", why);
  }
  WEFT_TRY(weft__infer_rank(s, 0, p.spatial + 2, &x));
  s->out[0] = x;
  bool known = true; /* TensorFlow says no size of an image if it does not know all of them */
  for (int i = 0; i < p.spatial; i++) known = known && x.dim[i + 1] >= 0;
  for (int i = 0; i < p.spatial; i++) {
    window_axis *a = &p.at[i + 3 - p.spatial];
    a->in = known ? x.dim[i + 1] : -1;
    /* TensorFlow allows an image smaller than a window */
    if (p.padding == PAD_VALID && a->in >= 0 && a->in < (a->size - 1) * a->dilation + 1)
      a->out = 0;
    else
      WEFT_TRY(weft__window_infer_place(a, p.padding, s));
    s->out[0].dim[i + 1] = a->out;
    s->out[0].dim[p.spatial + 1] = weft__shape_dim_mul(s->out[0].dim[p.spatial + 1], a->size);
  }
  return WEFT_OK;
}

/* ---- the gradient ---- */

static weft_out patches_slice(weft_graph *g, weft_out shape_of, int from, int n) {
  const weft_out in[] = {shape_of, weft__b_ints(g, (int64_t[]){from}, 1), weft__b_ints(g, (int64_t[]){n}, 1)};
  return weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

static weft_out patches_prod(weft_graph *g, weft_out v) {
  const weft_out in[] = {v, weft__b_ints(g, (int64_t[]){0}, 1)};
  return weft__b_node(g, "Prod", NULL, 2, in, 0, NULL);
}

/* Returns, for every element of all windows of one image, the number of its pixel, or -1 for padding. */
static weft_out patches_numbers(backprop *b, weft_out sizes, weft_out pixels) {
  weft_graph *g = b->graph;
  const weft_out range_in[] = {weft__b_scalar(g, WEFT_INT32, 1),
                               weft__b_add(g, pixels, weft__b_scalar(g, WEFT_INT32, 1)),
                               weft__b_scalar(g, WEFT_INT32, 1)};
  const weft_out range = weft__b_node(g, "Range", NULL, 3, range_in, 0, NULL), one = weft__b_ints(g, (int64_t[]){1}, 1);
  const weft_out parts[] = {one, sizes, one};
  const weft_out image = weft__b_reshape(g, range, weft__b_concat(g, 3, parts, weft__b_scalar(g, WEFT_INT32, 0)));
  static const char *const names[] = {"ksizes", "strides", "rates", "padding"};
  attr attrs[4];
  int n = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const attr *a = weft__node_attr(b->node, names[i]);
    if (a) attrs[n++] = *a;
  }
  const weft_out made = weft__b_node(g, b->node->op_name, NULL, 1, &image, n, attrs);
  return weft__b_sub(g, weft__b_reshape(g, made, weft__b_ints(g, (int64_t[]){-1}, 1)),
                     weft__b_scalar(g, WEFT_INT32, 1));
}

static weft_err patches_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int spatial = weft__node_attr(b->node, "rates") ? 2 : 3;
  const weft_out whole = weft__b_shape(g, b->in[0]), sizes = patches_slice(g, whole, 1, spatial);
  const weft_out pixels = patches_prod(g, sizes), batch = patches_slice(g, whole, 0, 1);
  const weft_out channels = patches_slice(g, whole, spatial + 1, 1), any = weft__b_ints(g, (int64_t[]){-1}, 1);
  const weft_out swap = weft__b_ints(g, (int64_t[]){1, 0, 2}, 3), axis = weft__b_scalar(g, WEFT_INT32, 0);
  const weft_out parts[] = {batch, any, channels};
  weft_out dy = weft__b_reshape(g, b->dout[0], weft__b_concat(g, 3, parts, axis));
  dy = weft__b_transpose(g, dy, swap); /* (elements of windows, batch, channels) */
  const weft_out sum_in[] = {dy, patches_numbers(b, sizes, pixels), pixels};
  const weft_out sums = weft__b_node(g, "UnsortedSegmentSum", NULL, 3, sum_in, 0, NULL);
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, weft__b_transpose(g, sums, swap), whole));
  return weft__b_ok(g);
}

/* ---- boxes ---- */

typedef struct drawing {
  int64_t height, width, channels;
  float *image;
  float color[4];
} drawing;

static void draw_pixel(const drawing *d, int64_t row, int64_t column) {
  if (row < 0 || row >= d->height || column < 0 || column >= d->width) return;
  memcpy(d->image + (row * d->width + column) * d->channels, d->color, (size_t)d->channels * sizeof *d->image);
}

/* Returns the pixel position of an edge.  Positions more than a pixel outside the image are clamped to one pixel
 * outside. */
static int64_t draw_place(float at, int64_t size) {
  const double place = (double)at * (double)(size - 1);
  return !(place > -2) ? -2 : place > (double)size ? size : (int64_t)place;
}

static void draw_box(const drawing *d, const float *box) {
  const int64_t top = draw_place(box[0], d->height), left = draw_place(box[1], d->width);
  const int64_t bottom = draw_place(box[2], d->height), right = draw_place(box[3], d->width);
  if (top > bottom || left > right || top >= d->height || bottom < 0 || left >= d->width || right < 0) return;
  for (int64_t c = left < 0 ? 0 : left; c <= right && c < d->width; c++)
    draw_pixel(d, top, c), draw_pixel(d, bottom, c);
  for (int64_t r = top < 0 ? 0 : top; r <= bottom && r < d->height; r++)
    draw_pixel(d, r, left), draw_pixel(d, r, right);
}

/* Sets the color of box i: from the given table, or one of ten built-in colors.  Gray images get white. */
static weft_err draw_color(const kernel *k, int64_t i, drawing *d) {
  static const float table[10][4] = {{1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {.5f, 0, .5f, 1},
                                     {.5f, .5f, 0, 1}, {.5f, 0, 0, 1}, {0, 0, .5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
  memcpy(d->color, table[i % 10], sizeof d->color);
  if (d->channels == 1) d->color[0] = 1;
  if (k->n_in < 3) return WEFT_OK;
  const shape *s = &k->in[2]->shape;
  if (s->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "colors must be a 2-D matrix, not %s", weft__shape_text(s));
  if (s->dim[1] < d->channels || s->dim[0] == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "colors must have equal or more channels than the image: %s",
                             weft__shape_text(s));
  memcpy(d->color, TENSOR_DATA(k->in[2], float) + i % s->dim[0] * s->dim[1], (size_t)d->channels * sizeof(float));
  return WEFT_OK;
}

static weft_err draw_check(const kernel *k) {
  const shape *x = &k->in[0]->shape, *b = &k->in[1]->shape;
  if (x->rank != 4) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The rank of the images should be 4");
  if (b->rank != 3) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The rank of the boxes tensor should be 3");
  if (x->dim[0] != b->dim[0]) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The batch sizes should be the same");
  if (b->dim[2] != 4) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The last dimension of boxes should be 4");
  if (x->dim[3] != 1 && x->dim[3] != 3 && x->dim[3] != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  return WEFT_OK;
}

static weft_err patches_draw_all(const kernel *k, float *out) {
  const shape *x = &k->in[0]->shape;
  const int64_t boxes = k->in[1]->shape.dim[1];
  drawing d = {.height = x->dim[1], .width = x->dim[2], .channels = x->dim[3]};
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t i = 0; i < boxes; i++) {
      WEFT_TRY(draw_color(k, i, &d));
      d.image = out + n * d.height * d.width * d.channels;
      draw_box(&d, TENSOR_DATA(k->in[1], float) + (n * boxes + i) * 4);
    }
  return WEFT_OK;
}

static weft_err draw_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(draw_check(k));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  widened from = {0}, to = {0};
  weft_err err = weft__widened_load(&from, x);
  if (!err) err = weft__widened_output(&to, y);
  if (!err) {
    memcpy(to.data, from.data, (size_t)weft__tensor_count(x) * sizeof(float));
    err = patches_draw_all(k, to.data);
  }
  if (!err) weft__widened_store(&to, y);
  weft__widened_finish(&from), weft__widened_finish(&to);
  return err;
}

static weft_err patches_draw_infer(infer *s) {
  shape x, b;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &b));
  if (x.dim[3] >= 0 && x.dim[3] != 1 && x.dim[3] != 3 && x.dim[3] != 4)
    return weft__infer_fail(s, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  if (b.dim[2] >= 0 && b.dim[2] != 4)
    return weft__infer_fail(s, "Dimension must be 4 but is %lld", (long long)b.dim[2]);
  if (s->n_in > 2) WEFT_TRY(weft__infer_rank(s, 2, 2, NULL));
  s->out[0] = x;
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case image_cases[] = {
    {"i32[1,4,4,1] seq", "i32[1,2,2,4] 0 1 4 5 2 3 6 7 8 9 12 13 10 11 14 15",
     "ksizes=[1,2,2,1] strides=[1,2,2,1] rates=[1,1,1,1] padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand", NULL, "ksizes=[1,3,2,1] strides=[1,2,3,1] rates=[1,1,2,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand", NULL, "ksizes=[1,3,2,1] strides=[1,1,1,1] rates=[1,2,1,1] padding='VALID'", CASE_FIXED_TYPE},
    {"f32[1,4,4,1] rand", NULL, "ksizes=[1,5,2,1] strides=[1,1,1,1] rates=[1,1,1,1] padding='VALID'",
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[4,4,1] rand", "error INVALID_ARGUMENT", "ksizes=[1,2,2,1] strides=[1,2,2,1] rates=[1,1,1,1] padding='VALID'",
     CASE_FIXED_TYPE},
    {"f32[1,4,4,1] rand", "error UNIMPLEMENTED", "ksizes=[2,2,2,1] strides=[1,2,2,1] rates=[1,1,1,1] padding='VALID'",
     CASE_FIXED_TYPE},
    {0},
};
static const op_case volume_cases[] = {
    {"f32[1,2,4,2,1] seq", "f32[1,1,2,1,8] 0 1 2 3 8 9 10 11 4 5 6 7 12 13 14 15",
     "ksizes=[1,2,2,2,1] strides=[1,1,2,1,1] padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,3,4,5,2] rand", NULL, "ksizes=[1,2,3,2,1] strides=[1,1,2,3,1] padding='SAME'", CASE_FIXED_TYPE},
    {"i64[2,3,4,5,2] rand", NULL, "ksizes=[1,2,3,2,1] strides=[1,1,2,3,1] padding='VALID'", CASE_NO_GRAD},
    {0},
};
static const op_case draw_cases[] = {
    {"f32[1,3,3,1] 0; f32[1,1,4] 0 0 1 1", "f32[1,3,3,1] 1 1 1 1 0 1 1 1 1", NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,6,7,3] rand; f32[2,12,4] rand", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,6,7,4] rand; f32[1,3,4] -.5 -.5 .5 .5 .5 .5 1.5 1.5 .3 .3 .3 .3", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,6,7,2] rand; f32[1,1,4] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"f32[1,6,7,3] rand; f32[2,1,4] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case draw_v2_cases[] = {
    {"f32[1,2,2,1] 0; f32[1,2,4] 2 2 3 3 0 0 1 1; f32[2,1] 7 9", "f32[1,2,2,1] 9", NULL, CASE_NO_GRAD},
    {"f32[2,6,7,3] rand; f32[2,5,4] unit; f32[3,3] rand", NULL, NULL, CASE_NO_GRAD},
    {"f32[1,2,2,3] 0; f32[1,1,4] 0 0 1 1; f32[1,2] 7 9", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(patches) = {
    {"ExtractImagePatches(images:T) -> (patches:T) | ksizes:list(int)>=4 strides:list(int)>=4 rates:list(int)>=4 "
     "T:type{bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128,bool} "
     "padding:string{'SAME','VALID'}",
     "The windows of an image, each laid out along the channels.", .infer = patches_infer, .cpu = patches_cpu,
     .grad = patches_grad, .cases = image_cases},
    {"ExtractVolumePatches(input:T) -> (patches:T) | ksizes:list(int)>=5 strides:list(int)>=5 T:type{real} "
     "padding:string{'SAME','VALID'}",
     "The windows of a volume, each laid out along the channels.", .infer = patches_infer, .cpu = patches_cpu,
     .grad = patches_grad, .cases = volume_cases},
    {"DrawBoundingBoxes(images:T, boxes:float) -> (output:T) | T:type{float,half}=float", "Images with boxes drawn in.",
     .infer = patches_draw_infer, .cpu = draw_cpu, .no_grad = true, .cases = draw_cases},
    {"DrawBoundingBoxesV2(images:T, boxes:float, colors:float) -> (output:T) | T:type{float,half}=float",
     "Images with boxes drawn in, in given colors.", .infer = patches_draw_infer, .cpu = draw_cpu,
     .cases = draw_v2_cases},
    {0},
};
