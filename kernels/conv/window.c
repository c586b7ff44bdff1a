/* window.c - padding and output sizes, with TensorFlow's arithmetic and error messages. */
#include "kernels/conv/window.h"

#include "base/cast.h"
#include "base/alloc.h"
#include <stdio.h>

/* An image size comes from a shape and may be any number.  Up to this one, sums with window sizes fit int64. */
#define MAX_IN (INT64_C(1) << 56)

/* Checks that window sizes are 32-bit numbers, as in TensorFlow, so that their sums and products fit 64 bits. */
static weft_err within_int(const attr *a) {
  for (int i = 0; i < a->n; i++)
    if (!weft__fits_int(a->is[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Attr %s has value %lld out of range for an int32", a->name,
                        (long long)a->is[i]);
  return WEFT_OK;
}

/* Reads a list of four integers by name; without the attribute, all are 1. */
static weft_err window_four(const weft_node *n, const char *name, int64_t *out) {
  const attr *a = weft__node_attr(n, name);
  for (int i = 0; i < 4; i++) out[i] = 1;
  if (!a) return WEFT_OK;
  if (a->kind != ATTR_INT || !a->is_list || a->n != 4)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s requires the %s attribute to contain 4 values, but got: %d",
                      n->op_name, name, a->n);
  WEFT_TRY(within_int(a));
  for (int i = 0; i < 4; i++) out[i] = a->is[i];
  return WEFT_OK;
}

static weft_err read_explicit(window *w, const weft_node *n) {
  const attr *a = weft__node_attr(n, "explicit_paddings");
  const int count = a && a->is_list ? a->n : 0;
  if (w->padding != PAD_EXPLICIT) {
    if (count)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
    return WEFT_OK;
  }
  if (count != 8)
    return weft__fail(WEFT_INVALID_ARGUMENT, "explicit_paddings attribute must contain 8 values, but got: %d", count);
  WEFT_TRY(within_int(a));
  for (int i = 0; i < 8; i++)
    if (a->is[i] < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "All elements of explicit_paddings must be nonnegative");
  if (a->is[0] || a->is[1] || a->is[2 * w->channel] || a->is[2 * w->channel + 1])
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Nonzero explicit padding in the batch or depth dimensions is not supported");
  for (int i = 0; i < 2; i++) {
    w->at[i].before = a->is[2 * w->axis[i]];
    w->at[i].after = a->is[2 * w->axis[i] + 1];
  }
  return WEFT_OK;
}

static padding padding_of(const weft_node *n) {
  if (weft__node_str_is(n, "padding", "SAME")) return PAD_SAME;
  return weft__node_str_is(n, "padding", "EXPLICIT") ? PAD_EXPLICIT : PAD_VALID;
}

static weft_err set_strides(window *w, const int64_t *v) {
  w->batch_stride = v[0];
  w->depth_stride = v[w->channel];
  for (int i = 0; i < 2; i++) {
    w->at[i].stride = v[w->axis[i]];
    if (w->at[i].stride <= 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Stride must be > 0, but got %lld", (long long)w->at[i].stride);
  }
  return WEFT_OK;
}

static weft_err set_sizes(window *w, const int64_t *v) {
  w->batch_size = v[0];
  w->depth_size = v[w->channel];
  for (int i = 0; i < 2; i++) w->at[i].size = v[w->axis[i]];
  for (int i = 0; i < 4; i++)
    if (v[i] <= 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Sliding window ksize for dimension %d was zero or negative: %lld", i,
                        (long long)v[i]);
  return WEFT_OK;
}

static weft_err set_dilations(window *w, const int64_t *v) {
  w->batch_dilation = v[0];
  w->depth_dilation = v[w->channel];
  for (int i = 0; i < 2; i++) {
    w->at[i].dilation = v[w->axis[i]];
    if (w->at[i].dilation < 1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Dilation rate must be >= 1, but got %lld",
                        (long long)w->at[i].dilation);
  }
  return WEFT_OK;
}

weft_err weft__window_read(window *w, const weft_node *node) {
  int64_t v[4];
  *w = (window){.padding = padding_of(node), .channels_second = weft__node_str_is(node, "data_format", "NCHW")};
  if (weft__node_str_is(node, "data_format", "NCHW_VECT_C"))
    return weft__fail(WEFT_UNIMPLEMENTED, "%s: the data format NCHW_VECT_C is for GPUs only", node->op_name);
  w->channel = w->channels_second ? 1 : 3;
  for (int i = 0; i < 2; i++) {
    w->axis[i] = (w->channels_second ? 2 : 1) + i;
    w->at[i] = (window_axis){.size = -1, .in = -1, .out = -1};
  }
  WEFT_TRY(window_four(node, "dilations", v));
  WEFT_TRY(set_dilations(w, v));
  WEFT_TRY(window_four(node, "strides", v));
  WEFT_TRY(set_strides(w, v));
  if (weft__node_attr(node, "ksize")) {
    WEFT_TRY(window_four(node, "ksize", v));
    WEFT_TRY(set_sizes(w, v));
  }
  return read_explicit(w, node);
}

weft_err weft__window_infer(window *w, infer *s) {
  char why[512];
  if (weft__window_read(w, s->node) == WEFT_OK) return WEFT_OK;
  snprintf(why, sizeof why, "%s", weft__error_message());
  return weft__infer_fail(s, "%s", why);
}

weft_err weft__window_infer_place(window_axis *a, padding p, infer *s) {
  if (a->in > MAX_IN) a->in = -1; /* the kernel will fail, so the output size is unknown */
  if (a->size > INT32_MAX) a->size = -1;
  if (weft__window_place(a, p) == WEFT_OK && (a->in < 0 || a->size < 0 || p == PAD_SAME)) return WEFT_OK;
  const int64_t effective = (a->size - 1) * a->dilation + 1, in = a->in + a->before + a->after;
  if (in >= effective) return WEFT_OK;
  return weft__infer_fail(s, "Negative dimension size caused by subtracting %lld from %lld", (long long)effective,
                          (long long)in);
}

weft_err weft__window_set(window *w, const int64_t *ksize, const int64_t *strides) {
  WEFT_TRY(set_sizes(w, ksize));
  return set_strides(w, strides);
}

weft_err weft__window_place(window_axis *a, padding p) {
  a->out = -1;
  if (p != PAD_EXPLICIT) a->before = a->after = 0;
  if (a->in < 0) return WEFT_OK;
  if (a->in > MAX_IN)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Input size %lld is too large for a window", (long long)a->in);
  if (a->size > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Filter size %lld is out of range for an int32", (long long)a->size);
  if (p == PAD_SAME) a->out = (a->in + a->stride - 1) / a->stride;
  if (a->size < 0) return WEFT_OK;
  const int64_t effective = (a->size - 1) * a->dilation + 1;
  if (p == PAD_SAME) {
    int64_t pad = (a->out - 1) * a->stride + effective - a->in;
    if (pad < 0) pad = 0;
    a->before = pad / 2;
    a->after = pad - a->before;
    return WEFT_OK;
  }
  const int64_t room = a->in + a->before + a->after - effective + a->stride;
  if (room < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, "
                      "stride: %lld]",
                      (long long)(room / a->stride), (long long)(a->in + a->before + a->after), (long long)effective,
                      (long long)a->stride);
  a->out = room / a->stride;
  return WEFT_OK;
}

weft_err weft__window_prepare(const weft_node *node, void **state) {
  window *w = weft__alloc(sizeof *w);
  if (!w) return WEFT_OOM;
  const weft_err err = weft__window_read(w, node);
  if (err) weft__free(w);
  *state = err ? NULL : w;
  return err;
}

void weft__window_unprepare(void *state) { weft__free(state); }

weft_err weft__window_expect_shape(const kernel *k, int i, const char *name, const shape *want) {
  if (weft__shape_equal(&k->in[i]->shape, want)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected %s shape to be %s, but got %s", name,
                           weft__shape_text(want), weft__shape_text(&k->in[i]->shape));
}
