/* conv.c - Conv2D and its gradients by the input and by the filter.
 *
 * The plain loops below are the definition: any layout, any type, groups, dilations.  They compute the types that
 * are rare in TensorFlow, and the tests compare the fast kernel (conv_fast.c) with them.  The fast kernel serves
 * float, half and bfloat16 without groups.  Each element of the result is an independent sum, so threads divide the
 * elements in any order. */
#include "ops/nn/conv.h"

#include "base/alloc.h"
#include "base/paste.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/conv/channel_layout.h"
#include "kernels/work/long_work.h"

/* ---- sizes ---- */

weft_err weft__conv_check_attrs(const kernel *k, const window *w) {
  if (w->batch_stride != 1 || w->depth_stride != 1)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                             "Current implementation does not yet support strides in the batch and depth dimensions.");
  if (w->batch_dilation != 1 || w->depth_dilation != 1)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  return WEFT_OK;
}

/* Computes the sizes of a convolution of an image of shape x with a filter of shape f. */
static weft_err conv_sizes(const kernel *k, const window *w, const shape *x, const shape *f, conv *c) {
  WEFT_TRY(weft__conv_check_attrs(k, w));
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional: %s", weft__shape_text(x));
  if (f->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must be 4-dimensional: %s", weft__shape_text(f));
  for (int i = 0; i < 4; i++)
    if (f->dim[i] <= 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  *c = (conv){.batch = x->dim[0], .in_ch = x->dim[w->channel], .out_ch = f->dim[3]};
  if (c->in_ch <= 0 || c->in_ch % f->dim[2])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "input depth must be evenly divisible by filter depth: %lld vs %lld", (long long)c->in_ch,
                             (long long)f->dim[2]);
  c->groups = c->in_ch / f->dim[2];
  if (c->out_ch % c->groups)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output depth must be evenly divisible by number of groups: %lld vs %lld",
                             (long long)c->out_ch, (long long)c->groups);
  for (int i = 0; i < 2; i++) {
    c->at[i] = w->at[i];
    c->at[i].in = x->dim[w->axis[i]];
    c->at[i].size = f->dim[i];
    if (weft__window_place(&c->at[i], w->padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  }
  return WEFT_OK;
}

shape weft__image_shape(const window *w, int64_t batch, int64_t h, int64_t width, int64_t channels) {
  return w->channels_second ? SHAPE4(batch, channels, h, width) : SHAPE4(batch, h, width, channels);
}

weft_err weft__conv_check_dy(const kernel *k, const window *w, const conv *c) {
  const shape want = weft__image_shape(w, c->batch, c->at[0].out, c->at[1].out, c->out_ch), *got = &k->in[2]->shape;
  if (weft__shape_equal(&want, got)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "%s: Size of out_backprop doesn't match computed: actual = %s, computed = %s",
                           k->node->op_name, weft__shape_text(got), weft__shape_text(&want));
}

/* ---- the plain loops ---- */

typedef struct strides {
  int64_t n, h, w, c; /* strides of an image along each axis, in elements */
} strides;

typedef struct plain_work {
  conv c;
  strides x, y;
  const void *a, *b; /* the two inputs, out of (image, filter, result), in this order */
  void *out;
} plain_work;

static strides strides_of(const window *w, int64_t h, int64_t width, int64_t channels) {
  if (w->channels_second) return (strides){channels * h * width, width, 1, h * width};
  return (strides){h * width * channels, width * channels, channels, 1};
}

#define STEM plain_float
#define T float
#define SUM double
#include "ops/nn/conv_plain.inc"
#define STEM plain_double
#define T double
#define SUM double
#include "ops/nn/conv_plain.inc"
#define STEM plain_int32
#define T int32_t
#define SUM uint32_t
#include "ops/nn/conv_plain.inc"

enum { FORWARD, TO_INPUT, TO_FILTER };

/* Computes a pass from a and b by the plain loops.  All tensors have `type` (float, double or int32). */
static weft_err plain_run(kernel *k, weft_dtype type, int pass, const window *w, const conv *c, const void *a,
                          const void *b, void *out) {
  static pool_loop *const loops[3][3] = {{plain_float_forward, plain_float_input, plain_float_filter},
                                         {plain_double_forward, plain_double_input, plain_double_filter},
                                         {plain_int32_forward, plain_int32_input, plain_int32_filter}};
  const window_axis *h = &c->at[0], *v = &c->at[1];
  plain_work j = {*c, strides_of(w, h->in, v->in, c->in_ch), strides_of(w, h->out, v->out, c->out_ch), a, b, out};
  const int64_t depth = h->size * v->size * c->in_ch / c->groups;
  const int64_t rows = pass == FORWARD ? c->batch * h->out : pass == TO_INPUT ? c->batch * h->in : depth;
  const int64_t products = c->batch * h->out * v->out * c->out_ch * depth;
  const int which = type == WEFT_FLOAT ? 0 : type == WEFT_DOUBLE ? 1 : 2;
  return weft__long_loop(k, rows, products / (rows + 1) + 1, loops[which][pass], &j);
}

/* ---- choosing the kernel ---- */

/* Float and 16-bit types: uses the fast kernel on widened tensors with the channels last, or the plain loops for
 * groups. */
static weft_err float_run(kernel *k, int pass, const window *w, const conv *c, const weft_tensor *a,
                          const weft_tensor *b, weft_tensor *out) {
  const bool plain = c->groups > 1, transposed = w->channels_second && !plain;
  image_view va = {0}, vb = {0}, vout = {0};
  weft_err err = weft__image_view_in(k, &va, a, transposed && pass != TO_INPUT);
  if (!err) err = weft__image_view_in(k, &vb, b, transposed && pass != FORWARD);
  if (!err) err = weft__image_view_out(k, &vout, out, transposed && pass != TO_FILTER);
  if (!err) {
    if (plain)
      err = plain_run(k, WEFT_FLOAT, pass, w, c, va.data, vb.data, vout.data);
    else if (pass == FORWARD)
      err = weft__conv_forward(k, c, va.data, vb.data, vout.data);
    else if (pass == TO_INPUT)
      err = weft__conv_input(k, c, va.data, vb.data, vout.data);
    else
      err = weft__conv_filter(k, c, va.data, vb.data, vout.data);
  }
  if (!err) weft__image_view_store(k, &vout, out, transposed && pass != TO_FILTER);
  weft__image_view_finish(&va), weft__image_view_finish(&vb), weft__image_view_finish(&vout);
  return err;
}

static weft_err conv_run(kernel *k, int pass, const window *w, const conv *c, const weft_tensor *a,
                         const weft_tensor *b, const shape *s) {
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return weft__out_refused(s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  if (c->batch * c->at[0].out * c->at[1].out == 0) { /* the gradient of an empty output is zero */
    memset(out->data, 0, weft__tensor_bytes(out));
    return WEFT_OK;
  }
  switch ((int)out->dtype) {
  case WEFT_FLOAT:
  case WEFT_HALF:
  case WEFT_BFLOAT16: return float_run(k, pass, w, c, a, b, out);
  case WEFT_DOUBLE:
  case WEFT_INT32: return plain_run(k, out->dtype, pass, w, c, a->data, b->data, out->data);
  default: return weft__kernel_no_type(k, out->dtype);
  }
}

weft_err weft__conv2d(kernel *k, conv_after *after) {
  const window *w = k->state;
  conv c;
  WEFT_TRY(conv_sizes(k, w, &k->in[0]->shape, &k->in[1]->shape, &c));
  const shape s = weft__image_shape(w, c.batch, c.at[0].out, c.at[1].out, c.out_ch);
  const bool direct =
      /* the fast kernel writes to the result itself, so the epilogue can run on its parts */
      k->in[0]->dtype == WEFT_FLOAT && !w->channels_second && c.groups == 1;
  if (direct) c.after = after;
  WEFT_TRY(conv_run(k, FORWARD, w, &c, k->in[0], k->in[1], &s));
  if (after) after->done = direct;
  return WEFT_OK;
}

static weft_err conv_cpu(kernel *k) { return weft__conv2d(k, NULL); }

/* Reads the shape in input i.  Only the element count is checked here; the caller checks the dimensions.  In version
 * 2 of the gradient ops, input `name` is instead a tensor of that shape. */
weft_err weft__conv_shape_input(const kernel *k, int i, const char *name, shape *out) {
  if (k->op && strcmp(k->op->opdef.in[i].name, name)) {
    *out = k->in[i]->shape;
    return WEFT_OK;
  }
  WEFT_TRY(weft__kernel_ints(k, i, name, out->dim, &out->rank));
  for (int d = 0; d < out->rank; d++)
    if (out->dim[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s: dimension %d of %s must be >= 0, not %lld",
                               k->node->op_name, d, name, (long long)out->dim[d]);
  return WEFT_OK;
}

static weft_err conv_input_cpu(kernel *k) {
  const window *w = k->state;
  const shape *f = &k->in[1]->shape, *dy = &k->in[2]->shape;
  shape x;
  conv c;
  WEFT_TRY(weft__conv_shape_input(k, 0, "input_sizes", &x));
  if (x.rank == 2 && f->rank == 4 && dy->rank == 4) /* only height and width */
    x = weft__image_shape(w, dy->dim[0], x.dim[0], x.dim[1], f->dim[2]);
  if (x.rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: %d",
                             x.rank);
  WEFT_TRY(conv_sizes(k, w, &x, f, &c));
  WEFT_TRY(weft__conv_check_dy(k, w, &c));
  return conv_run(k, TO_INPUT, w, &c, k->in[1], k->in[2], &x);
}

static weft_err conv_filter_cpu(kernel *k) {
  const window *w = k->state;
  shape f;
  conv c;
  WEFT_TRY(weft__conv_shape_input(k, 1, "filter_sizes", &f));
  WEFT_TRY(conv_sizes(k, w, &k->in[0]->shape, &f, &c));
  WEFT_TRY(weft__conv_check_dy(k, w, &c));
  return conv_run(k, TO_FILTER, w, &c, k->in[0], k->in[2], &f);
}

/* ---- shapes ---- */

/* Checks channels of the input [.., in] against a filter [.., filter, out].  Unknown ones (-1) pass. */
static weft_err check_depths(infer *s, int64_t in, int64_t filter, int64_t out) {
  if (in < 0 || filter <= 0) return WEFT_OK;
  if (in % filter)
    return weft__infer_fail(s, "Depth of input (%lld) is not a multiple of input depth of filter (%lld)", (long long)in,
                            (long long)filter);
  const int64_t groups = in / filter;
  if (groups > 0 && out >= 0 && out % groups)
    return weft__infer_fail(s, "Depth of output (%lld) is not a multiple of the number of groups (%lld)",
                            (long long)out, (long long)groups);
  return WEFT_OK;
}

weft_err weft__conv2d_infer(infer *s) {
  window w;
  shape x, f;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 4, &f));
  if (x.dim[w.channel] >= 0 && f.dim[2] == 0) return weft__infer_fail(s, "Depth of filter must not be 0");
  if (x.dim[w.channel] == 0 && f.dim[2] > 0) return weft__infer_fail(s, "Number of groups must not be 0");
  WEFT_TRY(check_depths(s, x.dim[w.channel], f.dim[2], f.dim[3]));
  for (int i = 0; i < 2; i++) {
    w.at[i].in = x.dim[w.axis[i]];
    w.at[i].size = f.dim[i];
    WEFT_TRY(weft__window_infer_place(&w.at[i], w.padding, s));
  }
  s->out[0] = weft__image_shape(&w, x.dim[0], w.at[0].out, w.at[1].out, f.dim[3]);
  return WEFT_OK;
}

/* The same as weft__conv_shape_input, in a shape rule. */
static weft_err shape_input_infer(infer *s, int i, const char *name, shape *out) {
  if (!strcmp(s->node->op->opdef.in[i].name, name)) return weft__infer_shape_value(s, i, out);
  return weft__infer_rank(s, i, 4, out);
}

static weft_err conv_input_infer(infer *s) {
  window w;
  shape x, f, dy;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 1, 4, &f));
  WEFT_TRY(weft__infer_rank(s, 2, 4, &dy));
  const int64_t depth = dy.dim[w.channel];
  if (depth >= 0 && f.dim[3] >= 0 && depth != f.dim[3])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)depth,
                            (long long)f.dim[3]);
  WEFT_TRY(shape_input_infer(s, 0, "input_sizes", &x));
  if (x.rank == 2) x = weft__image_shape(&w, dy.dim[0], x.dim[0], x.dim[1], f.dim[2]);
  if (x.rank < 0) x = SHAPE4(-1, -1, -1, -1);
  if (x.rank != 4)
    return weft__infer_fail(s, "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: %d",
                            x.rank);
  if (x.dim[0] >= 0 && dy.dim[0] >= 0 && x.dim[0] != dy.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[0],
                            (long long)dy.dim[0]);
  if (x.dim[0] < 0) x.dim[0] = dy.dim[0];
  s->out[0] = x;
  return WEFT_OK;
}

static weft_err conv_filter_infer(infer *s) {
  window w;
  shape f;
  WEFT_TRY(weft__window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 0, 4, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 4, NULL));
  WEFT_TRY(shape_input_infer(s, 1, "filter_sizes", &f));
  if (f.rank < 0) f = SHAPE4(-1, -1, -1, -1);
  if (f.rank != 4) return weft__infer_fail(s, "Shape must be rank 4 but is rank %d", f.rank);
  s->out[0] = f;
  return WEFT_OK;
}

/* ---- gradients: each of the three is linear in two of the others ---- */

weft_out weft__conv_like(backprop *b, const char *type, weft_out x, weft_out y, weft_out z) {
  static const char *const names[] = {"strides",           "use_cudnn_on_gpu", "padding",
                                      "explicit_paddings", "data_format",      "dilations"};
  attr attrs[6];
  int n = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const attr *a = weft__node_attr(b->node, names[i]);
    if (a) attrs[n++] = *a;
  }
  const weft_out in[] = {x, y, z};
  return weft__b_node(b->graph, type, NULL, z.node < 0 ? 2 : 3, in, n, attrs);
}

static weft_err conv_grad(backprop *b) {
  const weft_out x = b->in[0], f = b->in[1], dy = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, "Conv2DBackpropInput", weft__b_shape(b->graph, x), f, dy));
  b->din[1] = GRAD_DENSE(weft__conv_like(b, "Conv2DBackpropFilter", x, weft__b_shape(b->graph, f), dy));
  return weft__b_ok(b->graph);
}

static weft_err conv_input_grad(backprop *b) {
  const weft_out f = b->in[1], dy = b->in[2], ddx = b->dout[0];
  b->din[1] = GRAD_DENSE(weft__conv_like(b, "Conv2DBackpropFilter", ddx, weft__b_shape(b->graph, f), dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, "Conv2D", ddx, f, WEFT_NONE));
  return weft__b_ok(b->graph);
}

static weft_err conv_filter_grad(backprop *b) {
  const weft_out x = b->in[0], dy = b->in[2], ddf = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, "Conv2DBackpropInput", weft__b_shape(b->graph, x), ddf, dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, "Conv2D", x, ddf, WEFT_NONE));
  return weft__b_ok(b->graph);
}

/* TensorFlow's CPU supports some of these only through oneDNN, which the parity test turns off. */
static const op_case conv_cases[] = {
    {"f32[1,3,3,1] 1 2 3 4 5 6 7 8 9; f32[2,2,1,1] 1 0 0 1", "f32[1,2,2,1] 6 8 12 14",
     "strides=[1,1,1,1] padding='VALID'", 0},
    {"f32[2,5,6,3] rand; f32[3,3,3,4] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand", NULL, "strides=[1,2,1,1] padding='VALID'", 0},
    {"f32[1,7,8,2] rand; f32[3,3,2,3] rand", NULL, "strides=[1,2,3,1] padding='SAME'", 0},
    {"f32[1,9,8,2] rand; f32[3,2,2,3] rand", NULL, "strides=[1,1,1,1] padding='SAME' dilations=[1,2,3,1]",
     CASE_FIXED_TYPE},
    {"f32[1,4,4,2] rand; f32[3,3,2,2] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"f32[2,3,5,6] rand; f32[3,3,3,4] rand", NULL, "strides=[1,1,2,1] padding='SAME' data_format='NCHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,4,4,4] rand; f32[3,3,2,6] rand", NULL, "strides=[1,1,1,1] padding='SAME'", CASE_FIXED_TYPE},
    {"f32[3,4,5,7] rand; f32[1,1,7,17] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[1,4,4,3] rand; f32[1,1,3,2] rand", NULL, "strides=[1,2,2,1] padding='VALID'", 0},
    {"f32[0,4,4,1] 0; f32[3,3,1,2] rand", "f32[0,4,4,2] 0", "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {"i32[1,4,4,2] rand; i32[3,3,2,3] rand", NULL, "strides=[1,1,1,1] padding='SAME'", CASE_NO_GRAD},
    {"f32[9,14,14,32] rand; f32[5,5,32,64] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5,13,11,8] rand; f32[3,3,8,17] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,15,13,16] rand; f32[5,5,16,80] rand", NULL, "strides=[1,1,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,9,14,16] rand; f32[5,5,16,48] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,7,1,0,3,0,0]", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5,13,11,9] rand; f32[2,5,9,40] rand", NULL, "strides=[1,2,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,31,29,3] rand; f32[7,7,3,70] rand", NULL, "strides=[1,2,2,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,4,4] rand; f32[3,3,3,6] rand", "error INVALID_ARGUMENT", "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[4,4,4] rand; f32[3,3,4,6] rand", "error INVALID_ARGUMENT", "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[1,4,4,4] rand; f32[3,3,4,6] rand", "error INVALID_ARGUMENT", "strides=[1,0,1,1] padding='SAME'", 0},
    {0},
};

static const op_case conv_input_cases[] = {
    {"i32[4] 2 5 6 3; f32[3,3,3,4] rand; f32[2,5,6,4] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"i32[4] 2 5 6 3; f32[3,2,3,4] rand; f32[2,2,5,4] rand", NULL, "strides=[1,2,1,1] padding='VALID'", 0},
    {"i32[4] 1 7 8 2; f32[3,3,2,3] rand; f32[1,4,3,3] rand", NULL, "strides=[1,2,3,1] padding='SAME'", 0},
    {"i32[4] 1 9 8 2; f32[3,2,2,3] rand; f32[1,9,8,3] rand", NULL,
     "strides=[1,1,1,1] padding='SAME' dilations=[1,2,3,1]", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[4] 1 4 4 2; f32[3,3,2,2] rand; f32[1,5,5,2] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"i32[4] 2 3 5 6; f32[3,3,3,4] rand; f32[2,4,5,3] rand", NULL,
     "strides=[1,1,1,2] padding='SAME' data_format='NCHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[4] 1 4 4 3; f32[1,1,3,2] rand; f32[1,2,2,2] rand", NULL, "strides=[1,2,2,1] padding='VALID'", 0},
    {"i32[2] 4 4; f32[3,3,2,3] rand; f32[1,4,4,3] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"i32[4] 1 4 4 4; f32[3,3,2,6] rand; f32[1,4,4,6] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[4] 9 14 14 32; f32[5,5,32,64] rand; f32[9,14,14,64] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[4] 5 13 11 17; f32[3,3,17,8] rand; f32[5,13,11,8] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[4] 3 15 13 80; f32[5,5,80,16] rand; f32[3,11,9,16] rand", NULL, "strides=[1,1,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[4] 2 31 27 16; f32[10,10,16,16] rand; f32[2,16,14,16] rand", NULL, "strides=[1,2,2,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[4] 5 13 11 40; f32[2,5,40,9] rand; f32[5,6,7,9] rand", NULL, "strides=[1,2,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[4] 0 4 4 1; f32[3,3,1,2] rand; f32[0,4,4,2] 0", NULL, "strides=[1,1,1,1] padding='SAME'", CASE_NO_GRAD},
    {"i32[4] 1 5 4 2; f32[3,3,2,3] rand; f32[1,4,4,3] rand", "error INVALID_ARGUMENT",
     "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {0},
};

static const op_case conv_filter_cases[] = {
    {"f32[2,5,6,3] rand; i32[4] 3 3 3 4; f32[2,5,6,4] rand", NULL, "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand; i32[4] 3 2 3 4; f32[2,2,5,4] rand", NULL, "strides=[1,2,1,1] padding='VALID'", 0},
    {"f32[1,7,8,2] rand; i32[4] 3 3 2 3; f32[1,4,3,3] rand", NULL, "strides=[1,2,3,1] padding='SAME'", 0},
    {"f32[1,9,8,2] rand; i32[4] 3 2 2 3; f32[1,9,8,3] rand", NULL,
     "strides=[1,1,1,1] padding='SAME' dilations=[1,2,3,1]", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,4,4,2] rand; i32[4] 3 3 2 2; f32[1,5,5,2] rand", NULL,
     "strides=[1,1,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,3,0,0]", 0},
    {"f32[2,3,5,6] rand; i32[4] 3 3 3 4; f32[2,4,5,3] rand", NULL,
     "strides=[1,1,1,2] padding='SAME' data_format='NCHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,4,4,4] rand; i32[4] 3 3 2 6; f32[1,4,4,6] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[9,14,14,32] rand; i32[4] 5 5 32 64; f32[9,14,14,64] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5,13,11,8] rand; i32[4] 3 3 8 17; f32[5,13,11,17] rand", NULL, "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,15,13,16] rand; i32[4] 5 5 16 80; f32[3,11,9,80] rand", NULL, "strides=[1,1,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5,15,15,9] rand; i32[4] 2 5 9 40; f32[5,7,11,40] rand", NULL, "strides=[1,2,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,4,4,1] 0; i32[4] 3 3 1 2; f32[0,4,4,2] 0", "f32[3,3,1,2] 0", "strides=[1,1,1,1] padding='SAME'",
     CASE_NO_GRAD},
    {"f32[1,5,4,2] rand; i32[4] 3 3 2 3; f32[1,4,4,3] rand", "error INVALID_ARGUMENT",
     "strides=[1,1,1,1] padding='SAME'", CASE_NO_PARITY},
    {0},
};

static const op_case conv_input_v2_cases[] = {
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand; f32[2,2,5,4] rand", NULL, "strides=[1,2,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

static const op_case conv_filter_v2_cases[] = {
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand; f32[2,2,5,4] rand", NULL, "strides=[1,2,1,1] padding='VALID'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

OPS(conv) = {
    {"Conv2D(input:T, filter:T) -> (output:T) | T:type{half,bfloat16,float,double,int32} strides:list(int) "
     "use_cudnn_on_gpu:bool=true padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]",
     "Every window of an image times a filter.", .infer = weft__conv2d_infer, .cpu = conv_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .grad = conv_grad,
     .fusion = &weft__conv2d_fusion, .cases = conv_cases, .amp = AMP_ALLOW},
    {"Conv2DBackpropInput(input_sizes:int32, filter:T, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double,int32} strides:list(int) use_cudnn_on_gpu:bool=true "
     "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]",
     "The gradient of a convolution towards its input.", .infer = conv_input_infer, .cpu = conv_input_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .grad = conv_input_grad,
     .cases = conv_input_cases, .amp = AMP_ALLOW},
    {"Conv2DBackpropFilter(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double} strides:list(int) use_cudnn_on_gpu:bool=true "
     "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]",
     "The gradient of a convolution towards its filter.", .infer = conv_filter_infer, .cpu = conv_filter_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .grad = conv_filter_grad,
     .cases = conv_filter_cases, .amp = AMP_ALLOW},
    {"Conv2DBackpropInputV2(input:T, filter:T, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double,int32} strides:list(int) use_cudnn_on_gpu:bool=true "
     "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]",
     "Conv2DBackpropInput, told the shape by a tensor.", .infer = conv_input_infer, .cpu = conv_input_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .cases = conv_input_v2_cases},
    {"Conv2DBackpropFilterV2(input:T, filter:T, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double} strides:list(int) use_cudnn_on_gpu:bool=true "
     "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'NHWC','NCHW'}='NHWC' dilations:list(int)=[1,1,1,1]",
     "Conv2DBackpropFilter, told the shape by a tensor.", .infer = conv_filter_infer, .cpu = conv_filter_cpu,
     .prepare = weft__window_prepare, .unprepare = weft__window_unprepare, .cases = conv_filter_v2_cases},
    {0},
};
