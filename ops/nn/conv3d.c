/* conv3d.c - Conv3D with its gradients, and Conv, which has two or three spatial axes.
 *
 * kernels/conv/volume.c has the products, and conv_volume.c those of plain floats.  Half and bfloat16 are computed in
 * float.  All passes support groups, dilations and NCDHW; TensorFlow supports them only on GPUs. */
#include "base/cast.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/conv/volume.h"
#include "kernels/simd/widen.h"
#include "ops/nn/conv.h"
#include <stdio.h>
#include <string.h>

/* ---- sizes ---- */

static shape conv3d_out_shape(const volume_window *w, const volume *v) {
  return weft__volume_shape(w, v->batch, (int64_t[]){v->at[0].out, v->at[1].out, v->at[2].out}, v->out_ch);
}

/* ---- kernels ---- */

typedef weft_err volume_fn(kernel *k, const volume *v, const void *a, const void *b, void *out);

static weft_err conv3d_widened(kernel *k, volume *v, volume_fn *fn, const weft_tensor *a, const weft_tensor *b,
                               weft_tensor *out) {
  widened wa = {0}, wb = {0}, wout = {0};
  v->type = WEFT_FLOAT;
  weft_err err = weft__widened_load(&wa, a);
  if (!err) err = weft__widened_load(&wb, b);
  if (!err) err = weft__widened_output(&wout, out);
  if (!err) err = fn(k, v, wa.data, wb.data, wout.data);
  if (!err) weft__widened_store(&wout, out);
  weft__widened_finish(&wa), weft__widened_finish(&wb), weft__widened_finish(&wout);
  return err;
}

/* Computes out = fn(a, b), of shape s. */
static weft_err conv3d_run(kernel *k, volume *v, volume_fn *fn, const weft_tensor *a, const weft_tensor *b,
                           const shape *s) {
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return weft__out_refused(s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  if (v->batch * v->at[0].out * v->at[1].out * v->at[2].out == 0) { /* the gradient of an empty output is zero */
    memset(out->data, 0, weft__tensor_bytes(out));
    return WEFT_OK;
  }
  v->type = out->dtype;
  if (weft__is_16bit(out->dtype)) return conv3d_widened(k, v, fn, a, b, out);
  if (v->type != WEFT_FLOAT && v->type != WEFT_DOUBLE && v->type != WEFT_INT32)
    return weft__kernel_no_type(k, out->dtype);
  return fn(k, v, a->data, b->data, out->data);
}

static weft_err conv3d_cpu(kernel *k) {
  const volume_window *w = k->state;
  volume v;
  WEFT_TRY(weft__volume_conv(k, w, &k->in[0]->shape, &k->in[1]->shape, &v));
  const shape s = conv3d_out_shape(w, &v);
  return conv3d_run(k, &v, weft__volume_forward, k->in[0], k->in[1], &s);
}

/* Reads input i: a shape, or in version 1 of the ops a tensor of that shape. */
static weft_err conv3d_shape_input(const kernel *k, int i, const char *name, shape *out) {
  if (!strcmp(k->op->opdef.in[i].name, name)) {
    WEFT_TRY(weft__kernel_ints(k, i, name, out->dim, &out->rank));
    if (out->rank != 5)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must have 5 elements, not %d", name, out->rank);
    for (int d = 0; d < 5; d++)
      if (out->dim[d] < 0)
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dimension %d of %s must be >= 0, not %lld", d, name,
                                 (long long)out->dim[d]);
    return WEFT_OK;
  }
  *out = k->in[i]->shape;
  return WEFT_OK;
}

static weft_err conv3d_check_dy(const kernel *k, const volume_window *w, const volume *v) {
  const shape want = conv3d_out_shape(w, v), *got = &k->in[2]->shape;
  if (weft__shape_equal(&want, got)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "%s: Size of out_backprop doesn't match computed: actual = %s, computed = %s",
                           k->node->op_name, weft__shape_text(got), weft__shape_text(&want));
}

static weft_err conv3d_input_cpu(kernel *k) {
  const volume_window *w = k->state;
  shape x;
  volume v;
  WEFT_TRY(conv3d_shape_input(k, 0, "input_sizes", &x));
  WEFT_TRY(weft__volume_conv(k, w, &x, &k->in[1]->shape, &v));
  WEFT_TRY(conv3d_check_dy(k, w, &v));
  return conv3d_run(k, &v, weft__volume_input, k->in[1], k->in[2], &x);
}

static weft_err conv3d_filter_cpu(kernel *k) {
  const volume_window *w = k->state;
  shape f;
  volume v;
  WEFT_TRY(conv3d_shape_input(k, 1, "filter_sizes", &f));
  WEFT_TRY(weft__volume_conv(k, w, &k->in[0]->shape, &f, &v));
  WEFT_TRY(conv3d_check_dy(k, w, &v));
  return conv3d_run(k, &v, weft__volume_filter, k->in[0], k->in[2], &f);
}

/* ---- Conv: two or three spatial axes, and several batch axes ---- */

typedef struct conv_any {
  int spatial, batch; /* number of spatial axes and of batch axes */
  bool channels_first;
  int first, channel; /* index of the first spatial axis and of the channel axis */
  padding padding;
  int64_t stride[3], dilation[3], before[3], after[3]; /* for each spatial axis */
  int64_t groups;
} conv_any;

/* Reads a list attribute with one value for each dimension except extra batch dimensions.  An empty list means ones. */
static weft_err conv_any_list(const weft_node *n, const char *name, const char *text, int want, const int64_t **out) {
  static const int64_t ones[5] = {1, 1, 1, 1, 1};
  const attr *a = weft__node_attr(n, name);
  *out = ones;
  if (!a || (a->n == 0 && strcmp(name, "strides"))) return WEFT_OK;
  if (a->n != want)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s should contain %d values, but got: %d", text, want, a->n);
  for (int i = 0; i < want; i++)
    if (a->is[i] < 1 || a->is[i] > INT32_MAX)
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s must be positive, but got: %lld", text, (long long)a->is[i]);
  *out = a->is;
  return WEFT_OK;
}

static weft_err conv_any_explicit(conv_any *c, const weft_node *n) {
  const attr *a = weft__node_attr(n, "explicit_paddings");
  const int count = a ? a->n : 0, want = c->padding == PAD_EXPLICIT ? 2 * (c->spatial + 2) : 0;
  if (count != want)
    return weft__fail(WEFT_INVALID_ARGUMENT, "explicit_paddings attribute must contain %d values, but got: %d", want,
                      count);
  for (int i = 0; i < count; i++)
    if (a->is[i] < 0 || a->is[i] > INT32_MAX)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All elements of explicit_paddings must be nonnegative");
  for (int i = 0; i < c->spatial && count; i++) {
    const int at = 2 * (i + 1 + c->channels_first);
    c->before[i] = a->is[at], c->after[i] = a->is[at + 1];
  }
  return WEFT_OK;
}

/* Reads the attributes; `rank` is that of the input. */
static weft_err conv_any_read(conv_any *c, const weft_node *n, int rank) {
  const int64_t batch = weft__node_int(n, "batch_dims", 1), *stride, *dilation;
  if (batch < 0 || batch > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Batch dimensions must be non-negative and below %d, but got: %lld",
                      WEFT_MAX_RANK, (long long)batch);
  const int shown = rank - weft__int_sat(batch) + 1;
  if (shown != 4 && shown != 5)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Input tensor must be rank 4 or 5, excluding extra batch dimensions, but got: %d", shown);
  *c = (conv_any){.spatial = shown - 2, .batch = weft__int_sat(batch), .groups = weft__node_int(n, "groups", 1)};
  c->channels_first = weft__node_str_is(n, "data_format", "CHANNELS_FIRST");
  c->first = c->batch + c->channels_first, c->channel = c->channels_first ? c->batch : rank - 1;
  c->padding = weft__node_str_is(n, "padding", "SAME")       ? PAD_SAME
               : weft__node_str_is(n, "padding", "EXPLICIT") ? PAD_EXPLICIT
                                                             : PAD_VALID;
  if (c->groups < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "groups must be a positive number, but got: %lld", (long long)c->groups);
  WEFT_TRY(conv_any_list(n, "strides", "Stride attribute", shown, &stride));
  WEFT_TRY(conv_any_list(n, "dilations", "Dilation attribute", shown, &dilation));
  for (int i = 0; i < c->spatial; i++) {
    c->stride[i] = stride[i + 1 + c->channels_first];
    c->dilation[i] = dilation[i + 1 + c->channels_first];
  }
  return conv_any_explicit(c, n);
}

static weft_err conv_any_cpu(kernel *k) {
  const shape *x = &k->in[0]->shape, *f = &k->in[1]->shape;
  conv_any c;
  WEFT_TRY(weft__kernel_in(k, conv_any_read(&c, k->node, x->rank)));
  if (f->rank != c.spatial + 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must have rank %d, not %s", c.spatial + 2,
                             weft__shape_text(f));
  for (int i = 0; i < f->rank; i++)
    if (f->dim[i] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must not have zero elements");
  volume v = {.batch = weft__shape_product(x, 0, c.batch), .in_ch = x->dim[c.channel]};
  v.channels_second = c.channels_first, v.out_ch = f->dim[c.spatial + 1];
  WEFT_TRY(weft__volume_groups(k, &v, f->dim[c.spatial]));
  if (v.groups != c.groups)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "groups is %lld, but the shapes say %lld", (long long)c.groups,
                             (long long)v.groups);
  shape s = *x;
  s.dim[c.channel] = v.out_ch;
  for (int i = 0; i < 3; i++) v.at[i] = (window_axis){.size = 1, .stride = 1, .dilation = 1, .in = 1, .out = 1};
  for (int i = 0; i < c.spatial; i++) {
    window_axis *a = &v.at[i + 3 - c.spatial];
    *a = (window_axis){.size = f->dim[i], .stride = c.stride[i], .dilation = c.dilation[i]};
    a->before = c.before[i], a->after = c.after[i], a->in = x->dim[c.first + i];
    if (weft__window_place(a, c.padding) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
    s.dim[c.first + i] = a->out;
  }
  return conv3d_run(k, &v, weft__volume_forward, k->in[0], k->in[1], &s);
}

/* ---- shapes ---- */

static weft_err conv3d_infer_channels(infer *s, int64_t in, int64_t filter) {
  if (in < 0 || filter <= 0 || in % filter == 0) return WEFT_OK;
  return weft__infer_fail(s, "Depth of input (%lld) is not a multiple of input depth of filter (%lld)", (long long)in,
                          (long long)filter);
}

static weft_err conv3d_infer(infer *s) {
  volume_window w;
  shape x, f;
  WEFT_TRY(weft__infer_rank(s, 0, 5, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 5, &f));
  WEFT_TRY(weft__volume_window_infer(&w, s));
  WEFT_TRY(conv3d_infer_channels(s, x.dim[w.channel], f.dim[3]));
  int64_t out[3];
  for (int i = 0; i < 3; i++) {
    w.at[i].in = x.dim[w.axis[i]];
    w.at[i].size = f.dim[i];
    WEFT_TRY(weft__window_infer_place(&w.at[i], w.padding, s));
    out[i] = w.at[i].out;
  }
  s->out[0] = weft__volume_shape(&w, x.dim[0], out, f.dim[4]);
  return WEFT_OK;
}

/* The result has the shape that input i contains, or in version 1 of the ops the shape of input i. */
static weft_err conv3d_infer_as(infer *s, int i, const char *name) {
  volume_window w;
  WEFT_TRY(weft__volume_window_infer(&w, s));
  WEFT_TRY(weft__infer_rank(s, 2, 5, NULL));
  WEFT_TRY(weft__infer_rank(s, 1 - i, 5, NULL));
  if (strcmp(s->node->op->opdef.in[i].name, name)) return weft__infer_rank(s, i, 5, &s->out[0]);
  WEFT_TRY(weft__infer_shape_value(s, i, &s->out[0]));
  if (s->out[0].rank < 0) s->out[0] = (shape){5, {-1, -1, -1, -1, -1}};
  if (s->out[0].rank != 5) return weft__infer_fail(s, "Shape must be rank 5 but is rank %d", s->out[0].rank);
  return WEFT_OK;
}

static weft_err conv3d_input_infer(infer *s) { return conv3d_infer_as(s, 0, "input_sizes"); }
static weft_err conv3d_filter_infer(infer *s) { return conv3d_infer_as(s, 1, "filter_sizes"); }

static weft_err conv_any_infer(infer *s) {
  const shape *x = &s->in[0];
  conv_any c;
  if (x->rank < 0) return WEFT_OK;
  if (conv_any_read(&c, s->node, x->rank) != WEFT_OK) {
    char why[512];
    snprintf(why, sizeof why, "%s", weft__error_message());
    return weft__infer_fail(s, "%s", why);
  }
  shape filter;
  WEFT_TRY(weft__infer_rank(s, 1, c.spatial + 2, &filter));
  WEFT_TRY(conv3d_infer_channels(s, x->dim[c.channel], filter.dim[c.spatial]));
  s->out[0] = *x;
  s->out[0].dim[c.channel] = filter.dim[c.spatial + 1];
  for (int i = 0; i < c.spatial; i++) {
    window_axis a = {.size = filter.dim[i], .stride = c.stride[i], .dilation = c.dilation[i]};
    a.before = c.before[i], a.after = c.after[i], a.in = x->dim[c.first + i];
    WEFT_TRY(weft__window_infer_place(&a, c.padding, s));
    s->out[0].dim[c.first + i] = a.out;
  }
  return WEFT_OK;
}

/* ---- gradients: each of the three is linear in two of the others ---- */

static weft_err conv3d_grad(backprop *b) {
  const weft_out x = b->in[0], f = b->in[1], dy = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, "Conv3DBackpropInputV2", weft__b_shape(b->graph, x), f, dy));
  b->din[1] = GRAD_DENSE(weft__conv_like(b, "Conv3DBackpropFilterV2", x, weft__b_shape(b->graph, f), dy));
  return weft__b_ok(b->graph);
}

static weft_err conv3d_input_grad(backprop *b) {
  const weft_out f = b->in[1], dy = b->in[2], ddx = b->dout[0];
  b->din[1] = GRAD_DENSE(weft__conv_like(b, "Conv3DBackpropFilterV2", ddx, weft__b_shape(b->graph, f), dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, "Conv3D", ddx, f, WEFT_NONE));
  return weft__b_ok(b->graph);
}

static weft_err conv3d_filter_grad(backprop *b) {
  const weft_out x = b->in[0], dy = b->in[2], ddf = b->dout[0];
  b->din[0] = GRAD_DENSE(weft__conv_like(b, "Conv3DBackpropInputV2", weft__b_shape(b->graph, x), ddf, dy));
  b->din[2] = GRAD_DENSE(weft__conv_like(b, "Conv3D", x, ddf, WEFT_NONE));
  return weft__b_ok(b->graph);
}

/* ---- cases ---- */

#define ONES5 "strides=[1,1,1,1,1] "

static const op_case conv3d_cases[] = {
    {"f32[1,2,2,2,1] seq; f32[2,2,2,1,1] 1 0 0 0 0 0 0 1", "f32[1,1,1,1,1] 7", ONES5 "padding='VALID'", 0},
    {"f32[2,3,4,5,2] rand; f32[2,3,2,2,3] rand", NULL, ONES5 "padding='SAME'", 0},
    {"f32[1,5,4,6,3] rand; f32[3,2,3,3,2] rand", NULL, "strides=[1,2,1,3,1] padding='SAME'", 0},
    {"f32[1,5,4,6,3] rand; f32[3,2,3,3,2] rand", NULL, "strides=[1,2,2,2,1] padding='VALID'", 0},
    {"f32[1,4,4,4,3] rand; f32[1,1,1,3,2] rand", NULL, "strides=[1,2,2,2,1] padding='SAME'", 0},
    {"f32[1,5,5,5,2] rand; f32[2,2,3,2,3] rand", NULL, ONES5 "padding='SAME' dilations=[1,1,3,2,1]",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[2,2,3,4,5] rand; f32[2,3,2,2,3] rand", NULL, "strides=[1,1,1,2,1] padding='SAME' data_format='NCDHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,3,4,4,4] rand; f32[2,2,2,2,6] rand", NULL, ONES5 "padding='SAME'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,4,3,4,4] rand; f32[2,2,2,2,6] rand", NULL, ONES5 "padding='SAME' data_format='NCDHW'",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[0,4,4,4,1] 0; f32[3,3,3,1,2] rand", "f32[0,4,4,4,2] 0", ONES5 "padding='SAME'", CASE_NO_PARITY},
    {"f32[3,9,10,11,33] rand; f32[3,3,3,33,20] rand", NULL, ONES5 "padding='SAME'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,20,30,64] rand; f32[3,3,3,64,64] rand", NULL, ONES5 "padding='SAME'", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,7,9,11,5] rand; f32[4,3,5,5,70] rand", NULL, "strides=[1,3,2,2,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,4,4,4] rand; f32[3,3,3,3,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='SAME'", 0},
    {"f32[4,4,4,4] rand; f32[3,3,3,4,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='SAME'", 0},
    {"f32[1,4,4,4,1] rand; f32[3,3,3,1,6] rand", "error INVALID_ARGUMENT", "strides=[2,1,1,1,1] padding='SAME'", 0},
    {"f32[1,2,4,4,1] rand; f32[3,3,3,1,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='VALID'", 0},
    {0},
};

static const op_case conv3d_input_cases[] = {
    {"i32[5] 2 3 4 5 2; f32[2,3,2,2,3] rand; f32[2,3,4,5,3] rand", NULL, ONES5 "padding='SAME'", 0},
    {"i64[5] 1 5 4 6 3; f32[3,2,3,3,2] rand; f32[1,3,4,2,2] rand", NULL, "strides=[1,2,1,3,1] padding='SAME'", 0},
    {"i32[5] 1 5 4 6 3; f32[3,2,3,3,2] rand; f32[1,2,2,2,2] rand", NULL, "strides=[1,2,2,2,1] padding='VALID'", 0},
    {"i32[5] 2 2 3 4 5; f32[2,3,2,2,3] rand; f32[2,3,3,2,5] rand", NULL,
     "strides=[1,1,1,2,1] padding='SAME' data_format='NCDHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[5] 1 3 4 4 4; f32[2,2,2,2,6] rand; f32[1,3,4,4,6] rand", NULL, ONES5 "padding='SAME' dilations=[1,2,1,1,1]",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"i32[5] 3 9 10 11 33; f32[3,3,3,33,20] rand; f32[3,9,10,11,20] rand", NULL, ONES5 "padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[5] 1 4 20 30 64; f32[3,3,3,64,64] rand; f32[1,4,20,30,64] rand", NULL, ONES5 "padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[5] 2 7 9 11 5; f32[4,3,5,5,70] rand; f32[2,3,5,6,70] rand", NULL, "strides=[1,3,2,2,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"i32[5] 1 3 4 4 4; f32[2,2,2,4,6] rand; f32[1,3,4,3,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='SAME'", 0},
    {"i32[4] 1 3 4 4; f32[2,2,2,4,6] rand; f32[1,3,4,3,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='SAME'", 0},
    {0},
};

static const op_case conv3d_filter_cases[] = {
    {"f32[2,3,4,5,2] rand; i32[5] 2 3 2 2 3; f32[2,3,4,5,3] rand", NULL, ONES5 "padding='SAME'", 0},
    {"f32[1,5,4,6,3] rand; i32[5] 3 2 3 3 2; f32[1,3,4,2,2] rand", NULL, "strides=[1,2,1,3,1] padding='SAME'", 0},
    {"f32[2,2,3,4,5] rand; i32[5] 2 3 2 2 3; f32[2,3,3,2,5] rand", NULL,
     "strides=[1,1,1,2,1] padding='SAME' data_format='NCDHW'", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[1,3,4,4,4] rand; i32[5] 2 2 2 2 6; f32[1,3,4,4,6] rand", NULL, ONES5 "padding='SAME' dilations=[1,2,1,1,1]",
     CASE_FIXED_TYPE | CASE_NO_PARITY},
    {"f32[3,9,10,11,33] rand; i32[5] 3 3 3 33 20; f32[3,9,10,11,20] rand", NULL, ONES5 "padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[1,4,20,30,64] rand; i32[5] 3 3 3 64 64; f32[1,4,20,30,64] rand", NULL, ONES5 "padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,7,9,11,5] rand; i32[5] 4 3 5 5 70; f32[2,3,5,6,70] rand", NULL, "strides=[1,3,2,2,1] padding='SAME'",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0,4,4,4,1] 0; i32[5] 3 3 3 1 2; f32[0,4,4,4,2] 0", "f32[3,3,3,1,2] 0", ONES5 "padding='SAME'",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"f32[1,3,4,4,4] rand; i32[5] 2 2 2 4 6; f32[1,3,4,3,6] rand", "error INVALID_ARGUMENT", ONES5 "padding='SAME'", 0},
    {0},
};

static const op_case conv3d_input_v1_cases[] = {
    {"f32[1,2,2,2,1] 0; f32[1,1,1,1,1] 3; f32[1,2,2,2,1] seq", "f32[1,2,2,2,1] 0 3 6 9 12 15 18 21",
     ONES5 "padding='SAME'", CASE_NO_PARITY | CASE_NO_GRAD},
    {0},
};
static const op_case conv3d_filter_v1_cases[] = {
    {"f32[1,2,2,2,1] seq; f32[1,1,1,1,1] 0; f32[1,2,2,2,1] 2", "f32[1,1,1,1,1] 56", ONES5 "padding='SAME'",
     CASE_NO_PARITY | CASE_NO_GRAD},
    {0},
};

static const op_case conv_any_cases[] = {
    {"f32[1,3,3,1] 1 2 3 4 5 6 7 8 9; f32[2,2,1,1] 1 0 0 1", "f32[1,2,2,1] 6 8 12 14",
     "strides=[1,1,1,1] padding='VALID'", CASE_NO_PARITY},
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand", NULL, "strides=[1,2,1,1] padding='SAME' dilations=[1,1,2,1]", 0},
    {"f32[2,5,6,3] rand; f32[3,2,3,4] rand", NULL,
     "strides=[1,2,1,1] padding='EXPLICIT' explicit_paddings=[0,0,1,2,0,1,0,0]", 0},
    {"f32[2,3,4,5,2] rand; f32[2,3,2,2,3] rand", NULL, "strides=[1,1,2,1,1] padding='SAME'", 0},
    {"f32[2,3,4,5,2] rand; f32[3,2,2,3] rand", NULL, "strides=[1,1,2,1] padding='SAME' batch_dims=2", CASE_NO_PARITY},
    {"f32[2,4,5,6] rand; f32[3,2,2,4] rand", NULL,
     "strides=[1,1,1,2] padding='SAME' groups=2 data_format='CHANNELS_FIRST'", CASE_NO_PARITY},
    {"f32[2,5,6,4] rand; f32[3,2,2,4] rand", "error INVALID_ARGUMENT", "strides=[1,1,1,1] padding='SAME'", 0},
    {"f32[2,5,6] rand; f32[3,6,4] rand", "error INVALID_ARGUMENT", "strides=[1,1,1] padding='SAME'", 0},
    {"f32[2,5,6,4] rand; f32[3,2,4,4] rand", "error INVALID_ARGUMENT", "strides=[1,1] padding='SAME'", 0},
    {0},
};

#define CONV3D_PADDING "padding:string{'SAME','VALID'} "
#define CONV3D_FORMAT "data_format:string{'NDHWC','NCDHW'}='NDHWC' "
#define CONV3D_DILATIONS "dilations:list(int)=[1,1,1,1,1]"
#define CONV3D_KERNEL(run) .cpu = run, .prepare = weft__volume_prepare, .unprepare = weft__volume_unprepare

OPS(conv3d) = {
    {"Conv3D(input:T, filter:T) -> (output:T) | T:type{half,bfloat16,float,double} strides:list(int)>=5 " CONV3D_PADDING
         CONV3D_FORMAT CONV3D_DILATIONS,
     "Every window of a volume times a filter.", .infer = conv3d_infer, CONV3D_KERNEL(conv3d_cpu), .grad = conv3d_grad,
     .cases = conv3d_cases, .amp = AMP_ALLOW},
    {"Conv3DBackpropInputV2(input_sizes:Tshape, filter:T, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double} strides:list(int)>=5 " CONV3D_PADDING CONV3D_FORMAT CONV3D_DILATIONS
     " Tshape:type{int32,int64}=int32",
     "The gradient of a convolution of volumes towards its input.", .infer = conv3d_input_infer,
     CONV3D_KERNEL(conv3d_input_cpu), .grad = conv3d_input_grad, .cases = conv3d_input_cases, .amp = AMP_ALLOW},
    {"Conv3DBackpropFilterV2(input:T, filter_sizes:int32, out_backprop:T) -> (output:T) | "
     "T:type{half,bfloat16,float,double} strides:list(int)>=5 " CONV3D_PADDING CONV3D_FORMAT CONV3D_DILATIONS,
     "The gradient of a convolution of volumes towards its filter.", .infer = conv3d_filter_infer,
     CONV3D_KERNEL(conv3d_filter_cpu), .grad = conv3d_filter_grad, .cases = conv3d_filter_cases, .amp = AMP_ALLOW},
    {"Conv3DBackpropInput(input:T, filter:T, out_backprop:T) -> (output:T) | T:type{half,float,double} "
     "strides:list(int)>=5 " CONV3D_PADDING CONV3D_DILATIONS,
     "Conv3DBackpropInputV2, told the shape by a tensor.", .infer = conv3d_input_infer, CONV3D_KERNEL(conv3d_input_cpu),
     .cases = conv3d_input_v1_cases, .amp = AMP_ALLOW},
    {"Conv3DBackpropFilter(input:T, filter:T, out_backprop:T) -> (output:T) | T:type{half,float,double} "
     "strides:list(int)>=5 " CONV3D_PADDING CONV3D_DILATIONS,
     "Conv3DBackpropFilterV2, told the shape by a tensor.", .infer = conv3d_filter_infer,
     CONV3D_KERNEL(conv3d_filter_cpu), .cases = conv3d_filter_v1_cases, .amp = AMP_ALLOW},
    {"Conv(input:T, filter:T) -> (output:T) | T:type{half,bfloat16,float,double,int32} strides:list(int) "
     "padding:string{'SAME','VALID','EXPLICIT'} explicit_paddings:list(int)=[] "
     "data_format:string{'CHANNELS_FIRST','CHANNELS_LAST'}='CHANNELS_LAST' dilations:list(int)=[] batch_dims:int=1 "
     "groups:int=1",
     "Every window of an image or a volume times a filter.", .infer = conv_any_infer, .cpu = conv_any_cpu,
     .cases = conv_any_cases},
    {0},
};
