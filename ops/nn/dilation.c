/* dilation.c - grayscale dilation: the maximum over a window of image plus filter, and its gradients.
 *
 * If sums are equal, the first one gets the gradient.  All real types are computed as doubles, which represent all
 * of them exactly except 64-bit integers. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "kernels/conv/window.h"
#include "kernels/work/long_work.h"
#include "ops/math/cast.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct dilation {
  int64_t batch, channels;
  window_axis at[2];
  const double *x, *f, *g;
  double *out;
  long_work *work;
} dilation;

static weft_err dilation_read(dilation *d, const weft_node *n) {
  const char *const names[2] = {"strides", "rates"};
  for (int a = 0; a < 2; a++) {
    const attr *list = weft__node_attr(n, names[a]);
    if (!list || list->n != 4)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Dilation2D requires the %s attribute to contain 4 values, but got: %d",
                        names[a], list ? list->n : 0);
    if (list->is[0] != 1 || list->is[3] != 1)
      return weft__fail(WEFT_UNIMPLEMENTED, "%s are only supported across spatial dimensions.", names[a]);
    for (int i = 0; i < 2; i++) {
      const int64_t v = list->is[i + 1];
      if (v < 1 || v > INT32_MAX)
        return weft__fail(WEFT_INVALID_ARGUMENT, "%s must be positive, but got: %lld", names[a], (long long)v);
      if (a == 0)
        d->at[i].stride = v;
      else
        d->at[i].dilation = v;
    }
  }
  return WEFT_OK;
}

static padding dilation_padding(const weft_node *n) {
  return weft__node_str_is(n, "padding", "SAME") ? PAD_SAME : PAD_VALID;
}

static weft_err dilation_sizes(const kernel *k, dilation *d) {
  const shape *x = &k->in[0]->shape, *f = &k->in[1]->shape;
  *d = (dilation){0};
  WEFT_TRY(weft__kernel_in(k, dilation_read(d, k->node)));
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 4-dimensional: %s", weft__shape_text(x));
  if (f->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must be 3-dimensional: %s", weft__shape_text(f));
  if (f->dim[2] != x->dim[3])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld",
                             (long long)x->dim[3], (long long)f->dim[2]);
  d->batch = x->dim[0], d->channels = x->dim[3];
  for (int i = 0; i < 2; i++) {
    d->at[i].in = x->dim[i + 1], d->at[i].size = f->dim[i];
    if (d->at[i].size < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filter must not be empty");
    if (weft__window_place(&d->at[i], dilation_padding(k->node)) != WEFT_OK)
      return weft__fail_in(WEFT_INVALID_ARGUMENT, "%s '%s'", k->node->op_name, k->node->name);
  }
  return WEFT_OK;
}

/* Returns the largest sum in the window of output pixel (h, w), and its position in the image and in the filter (-1:
 * none). */
static double dilation_best(const dilation *d, int64_t n, int64_t h, int64_t w, int64_t c, int64_t *in, int64_t *tap) {
  const window_axis *v = &d->at[0], *u = &d->at[1];
  double best = -INFINITY;
  *in = *tap = -1;
  for (int64_t i = 0; i < v->size; i++)
    for (int64_t j = 0; j < u->size; j++) {
      const int64_t y = h * v->stride + i * v->dilation - v->before, x = w * u->stride + j * u->dilation - u->before;
      if (y < 0 || y >= v->in || x < 0 || x >= u->in) continue;
      const int64_t at = ((n * v->in + y) * u->in + x) * d->channels + c, key = (i * u->size + j) * d->channels + c;
      const double sum = d->x[at] + d->f[key];
      if (*in < 0 || sum > best) best = sum, *in = at, *tap = key;
    }
  return best;
}

static void dilation_rows(void *arg, int64_t begin, int64_t end) {
  const dilation *d = arg;
  const int64_t cost = d->at[0].size * d->at[1].size;
  int64_t spent = 0;
  for (int64_t row = begin; row < end; row++)
    for (int64_t e = 0; e < d->at[1].out * d->channels && !weft__long_work_spent(d->work, &spent, cost); e++) {
      int64_t in, tap;
      d->out[row * d->at[1].out * d->channels + e] =
          dilation_best(d, row / d->at[0].out, row % d->at[0].out, e / d->channels, e % d->channels, &in, &tap);
    }
}

static void dilation_back(const dilation *d, bool to_filter) {
  const int64_t row = d->at[1].out * d->channels, cost = d->at[0].size * d->at[1].size;
  int64_t spent = 0;
  for (int64_t r = 0; r < d->batch * d->at[0].out; r++)
    for (int64_t e = 0; e < row && !weft__long_work_spent(d->work, &spent, cost); e++) {
      int64_t in, tap;
      dilation_best(d, r / d->at[0].out, r % d->at[0].out, e / d->channels, e % d->channels, &in, &tap);
      if (in >= 0) d->out[to_filter ? tap : in] += d->g[r * row + e];
    }
}

/* Returns tensor t as doubles: itself, or a scratch copy that the caller clears. */
static weft_err dilation_wide(kernel *k, const weft_tensor *t, weft_tensor *scratch, const double **out) {
  if (t->dtype == WEFT_DOUBLE) {
    *out = t->data;
    return WEFT_OK;
  }
  WEFT_TRY(weft__scratch(k, scratch, WEFT_DOUBLE, &t->shape));
  *out = scratch->data;
  return weft__cast_elements(k, t, scratch);
}

enum { DILATE, TO_INPUT, TO_FILTER };

static weft_err dilation_run(kernel *k, dilation *d, int pass, const shape *s) {
  long_work work = weft__long_work(k);
  weft_tensor *out = weft__out(k, 0, s), scratch[4] = {0};
  if (!out) return weft__out_refused(s);
  weft_err err = dilation_wide(k, k->in[0], &scratch[0], &d->x);
  if (!err) err = dilation_wide(k, k->in[1], &scratch[1], &d->f);
  if (!err && pass != DILATE) err = dilation_wide(k, k->in[2], &scratch[2], &d->g);
  if (!err) err = weft__scratch(k, &scratch[3], WEFT_DOUBLE, s);
  if (!err) {
    d->out = scratch[3].data, d->work = &work;
    memset(d->out, 0, weft__tensor_bytes(&scratch[3]));
    if (pass == DILATE)
      weft__kernel_loop(k, d->batch * d->at[0].out, d->at[1].out * d->channels * d->at[0].size * d->at[1].size,
                        dilation_rows, d);
    else
      dilation_back(d, pass == TO_FILTER);
    err = weft__long_work_end(&work);
    if (!err) err = weft__cast_elements(k, &scratch[3], out);
  }
  for (int i = 0; i < 4; i++) weft__tensor_clear(&scratch[i]);
  return err;
}

static weft_err dilation_cpu(kernel *k) {
  dilation d;
  WEFT_TRY(dilation_sizes(k, &d));
  return dilation_run(k, &d, DILATE, &SHAPE4(d.batch, d.at[0].out, d.at[1].out, d.channels));
}

static weft_err dilation_back_cpu(kernel *k, int pass) {
  dilation d;
  WEFT_TRY(dilation_sizes(k, &d));
  const shape want = SHAPE4(d.batch, d.at[0].out, d.at[1].out, d.channels);
  if (!weft__shape_equal(&want, &k->in[2]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "out_backprop must have the shape %s, not %s",
                             weft__shape_text(&want), weft__shape_text(&k->in[2]->shape));
  return dilation_run(k, &d, pass, &k->in[pass == TO_FILTER]->shape);
}

static weft_err dilation_input_cpu(kernel *k) { return dilation_back_cpu(k, TO_INPUT); }
static weft_err dilation_filter_cpu(kernel *k) { return dilation_back_cpu(k, TO_FILTER); }

static weft_err dilation_infer(infer *s) {
  dilation d = {0};
  shape x, f;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &f));
  const weft_err err = dilation_read(&d, s->node);
  if (err == WEFT_UNIMPLEMENTED) return WEFT_OK; /* the kernel reports it */
  if (err) {
    char why[512];
    snprintf(why, sizeof why, "%s", weft__error_message());
    return weft__infer_fail(s, "%s", why);
  }
  if (x.dim[3] >= 0 && f.dim[2] >= 0 && x.dim[3] != f.dim[2])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[3],
                            (long long)f.dim[2]);
  /* TensorFlow says no size of an image if it does not know all of them, and takes the depth of the filter. */
  const bool known = x.dim[1] >= 0 && x.dim[2] >= 0 && f.dim[0] >= 0 && f.dim[1] >= 0;
  for (int i = 0; known && i < 2; i++) {
    d.at[i].in = x.dim[i + 1], d.at[i].size = f.dim[i];
    WEFT_TRY(weft__window_infer_place(&d.at[i], dilation_padding(s->node), s));
  }
  s->out[0] = SHAPE4(x.dim[0], known ? d.at[0].out : -1, known ? d.at[1].out : -1, f.dim[2]);
  return WEFT_OK;
}

static weft_err dilation_filter_infer(infer *s) { return weft__infer_rank(s, 1, 3, &s->out[0]); }

static weft_out dilation_like(backprop *b, const char *type) {
  const weft_out in[] = {b->in[0], b->in[1], b->dout[0]};
  static const char *const names[] = {"strides", "rates", "padding"};
  attr attrs[3];
  for (int i = 0; i < 3; i++) attrs[i] = *weft__node_attr(b->node, names[i]);
  return weft__b_node(b->graph, type, NULL, 3, in, 3, attrs);
}

static weft_err dilation_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(dilation_like(b, "Dilation2DBackpropInput"));
  b->din[1] = GRAD_DENSE(dilation_like(b, "Dilation2DBackpropFilter"));
  return weft__b_ok(b->graph);
}

static const op_case dilation_cases[] = {
    {"f32[1,2,2,1] 1 2 3 4; f32[2,2,1] 0 0 0 1", "f32[1,1,1,1] 5", "strides=[1,1,1,1] rates=[1,1,1,1] padding='VALID'",
     0},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand", NULL, "strides=[1,2,1,1] rates=[1,1,2,1] padding='SAME'", 0},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand", NULL, "strides=[1,1,2,1] rates=[1,2,1,1] padding='VALID'", 0},
    {"f32[2,5,6,3] rand; f32[2,3,2] rand", "error INVALID_ARGUMENT",
     "strides=[1,1,2,1] rates=[1,2,1,1] padding='VALID'", CASE_FIXED_TYPE},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand", "error UNIMPLEMENTED", "strides=[2,1,2,1] rates=[1,2,1,1] padding='VALID'",
     CASE_FIXED_TYPE},
    {0},
};
static const op_case dilation_input_cases[] = {
    {"f32[1,3,3,1] 0; f32[2,2,1] 0; f32[1,2,2,1] 1", "f32[1,3,3,1] 1 1 0 1 1 0 0 0 0",
     "strides=[1,1,1,1] rates=[1,1,1,1] padding='VALID'", CASE_NO_GRAD},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand; f32[2,3,6,3] rand", NULL, "strides=[1,2,1,1] rates=[1,1,2,1] padding='SAME'",
     CASE_NO_GRAD},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand; f32[2,3,5,3] rand", "error INVALID_ARGUMENT",
     "strides=[1,2,1,1] rates=[1,1,2,1] padding='SAME'", CASE_FIXED_TYPE},
    {0},
};
static const op_case dilation_filter_cases[] = {
    {"f32[1,3,3,1] 0; f32[2,2,1] 0; f32[1,2,2,1] 1", "f32[2,2,1] 4 0 0 0",
     "strides=[1,1,1,1] rates=[1,1,1,1] padding='VALID'", CASE_NO_GRAD},
    {"f32[2,5,6,3] rand; f32[2,3,3] rand; f32[2,3,6,3] rand", NULL, "strides=[1,2,1,1] rates=[1,1,2,1] padding='SAME'",
     CASE_NO_GRAD},
    {0},
};

#define DILATION_ATTRS "T:type{real} strides:list(int)>=4 rates:list(int)>=4 padding:string{'SAME','VALID'}"

OPS(dilation) = {
    {"Dilation2D(input:T, filter:T) -> (output:T) | " DILATION_ATTRS, "The greatest sum of each window and a filter.",
     .infer = dilation_infer, .cpu = dilation_cpu, .grad = dilation_grad, .cases = dilation_cases},
    {"Dilation2DBackpropInput(input:T, filter:T, out_backprop:T) -> (in_backprop:T) | " DILATION_ATTRS,
     "The gradient of Dilation2D towards its input.", .infer = weft__infer_same, .cpu = dilation_input_cpu,
     .cases = dilation_input_cases},
    {"Dilation2DBackpropFilter(input:T, filter:T, out_backprop:T) -> (filter_backprop:T) | " DILATION_ATTRS,
     "The gradient of Dilation2D towards its filter.", .infer = dilation_filter_infer, .cpu = dilation_filter_cpu,
     .cases = dilation_filter_cases},
    {0},
};
