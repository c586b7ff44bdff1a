/* fake_quant.c - FakeQuantWithMinMaxArgs, -Vars, -VarsPerChannel and their gradients: floats rounded to the steps of
 * a small integer type.
 *
 * The range is shifted so that zero is one of the steps.  The arithmetic is in float and in TensorFlow's order, so
 * that halves round to the same side: the op whose range is an attribute multiplies by the inverse of the step, the
 * others divide by the step. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include <math.h>
#include <string.h>

typedef struct range {
  float low, high, step, inverse, zero; /* zero: the number of the step that is zero */
  bool by_inverse, empty;               /* empty: both ends of the range are zero */
} range;

static range range_of(const kernel *k, float min, float max, bool by_inverse) {
  const float first = weft__node_bool(k->node, "narrow_range", false) ? 1 : 0;
  const float last = (float)((1 << weft__node_int(k->node, "num_bits", 8)) - 1);
  range r = {.step = (max - min) / (last - first), .inverse = (last - first) / (max - min), .by_inverse = by_inverse};
  const float zero = first - min / r.step;
  const float at = zero < first ? first : zero > last ? last : roundf(zero);
  r.low = (first - at) * r.step;
  r.high = (last - at) * r.step;
  r.zero = floorf((by_inverse ? -r.low * r.inverse : -r.low / r.step) + 0.5f);
  r.empty = min == 0 && max == 0;
  return r;
}

static float fake_quant_rounded(const range *r, float x) {
  const float inside = x < r->low ? r->low : x > r->high ? r->high : x;
  const float steps = r->by_inverse ? (inside - r->low) * r->inverse : (inside - r->low) / r->step;
  return r->empty ? 0 : floorf(steps - r->zero + 0.5f) * r->step;
}

/* One range: the same arithmetic without a choice in the loop, so that it runs in vectors. */
WEFT_TARGET_CLONES static void round_by_inverse(float *restrict y, const float *restrict x, int64_t n, const range *r) {
  const float low = r->low, high = r->high, unit = r->step, inverse = r->inverse, zero = r->zero;
  for (int64_t i = 0; i < n; i++) {
    const float inside = x[i] < low ? low : x[i] > high ? high : x[i];
    y[i] = floorf((inside - low) * inverse - zero + 0.5f) * unit;
  }
}

WEFT_TARGET_CLONES static void round_by_step(float *restrict y, const float *restrict x, int64_t n, const range *r) {
  const float low = r->low, high = r->high, unit = r->step, zero = r->zero;
  for (int64_t i = 0; i < n; i++) {
    const float inside = x[i] < low ? low : x[i] > high ? high : x[i];
    y[i] = floorf((inside - low) / unit - zero + 0.5f) * unit;
  }
}

static weft_err check_bits(const kernel *k) {
  const int64_t bits = weft__node_int(k->node, "num_bits", 8);
  if (bits < 2 || bits > 16)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_bits must be between 2 and 16, inclusive, got %lld",
                             (long long)bits);
  return WEFT_OK;
}

/* ---- one range, or one for each channel ---- */
typedef struct fake_quant_work {
  const kernel *k;
  const float *x, *dy, *min, *max;
  float *out, *d_min, *d_max;
  int64_t channels;
  bool by_inverse;
} fake_quant_work;

static void round_range(void *arg, int64_t begin, int64_t end) {
  const fake_quant_work *j = arg;
  const int64_t n = j->channels;
  for (int64_t c = 0; c < n; c++) {
    const range r = range_of(j->k, j->min[c], j->max[c], j->by_inverse);
    if (n == 1 && !r.empty) {
      (j->by_inverse ? round_by_inverse : round_by_step)(j->out + begin, j->x + begin, end - begin, &r);
      return;
    }
    for (int64_t i = begin; i < end; i++) j->out[i * n + c] = fake_quant_rounded(&r, j->x[i * n + c]);
  }
}

static void pass_back(const fake_quant_work *j, int64_t c, int64_t rows) {
  const int64_t n = j->channels;
  const range r = range_of(j->k, j->min[c], j->max[c], j->by_inverse);
  double below = 0, above = 0;
  for (int64_t i = c; i < rows * n; i += n) {
    const bool low = !r.empty && j->x[i] < r.low, high = !r.empty && j->x[i] > r.high;
    j->out[i] = low || high ? 0 : j->dy[i];
    if (low) below += (double)j->dy[i];
    if (high) above += (double)j->dy[i];
  }
  if (!j->d_min) return;
  j->d_min[c] = (float)below;
  j->d_max[c] = (float)above;
}

/* Reads the ends of the ranges: attributes, or inputs from `first` on. */
static weft_err read_ranges(kernel *k, fake_quant_work *j, int first, float ends[2]) {
  const weft_tensor *x = k->in[first ? first - 1 : k->n_in - 1];
  j->k = k;
  j->x = TENSOR_DATA(x, float);
  j->channels = 1;
  WEFT_TRY(check_bits(k));
  if (!first) {
    ends[0] = weft__node_float(k->node, "min", -6);
    ends[1] = weft__node_float(k->node, "max", 6);
    j->min = &ends[0];
    j->max = &ends[1];
    j->by_inverse = true;
    if (ends[0] >= ends[1])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "min has to be smaller than max, was: %g >= %g",
                               (double)ends[0], (double)ends[1]);
    return WEFT_OK;
  }
  j->min = TENSOR_DATA(k->in[first], float);
  j->max = TENSOR_DATA(k->in[first + 1], float);
  return WEFT_OK;
}

static weft_err read_channels(const kernel *k, fake_quant_work *j, int first, bool per_channel) {
  const shape *x = &k->in[first - 1]->shape;
  for (int i = first; i < first + 2; i++) {
    if (!per_channel) WEFT_TRY(weft__kernel_scalar(k, i, i == first ? "min" : "max"));
    if (per_channel) WEFT_TRY(weft__kernel_vector(k, i, i == first ? "min" : "max"));
    if (per_channel && (x->rank < 1 || k->in[i]->shape.dim[0] != x->dim[x->rank - 1]))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has incorrect size: %s for inputs %s",
                               i == first ? "min" : "max", weft__shape_text(&k->in[i]->shape), weft__shape_text(x));
  }
  if (per_channel) j->channels = x->dim[x->rank - 1];
  return WEFT_OK;
}

static weft_err fake_quant_run(kernel *k, int first, bool per_channel) {
  fake_quant_work j = {0};
  float ends[2];
  WEFT_TRY(read_ranges(k, &j, first, ends));
  if (first) WEFT_TRY(read_channels(k, &j, first, per_channel));
  const shape *s = &k->in[0]->shape;
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return WEFT_OOM;
  j.out = TENSOR_DATA(out, float);
  if (j.channels > 0) weft__kernel_loop(k, weft__shape_count(s) / j.channels, 4 * j.channels, round_range, &j);
  return WEFT_OK;
}

static weft_err run_back(kernel *k, int first, bool per_channel) {
  fake_quant_work j = {.dy = TENSOR_DATA(k->in[0], float)};
  float ends[2];
  const shape *s = &k->in[0]->shape;
  WEFT_TRY(read_ranges(k, &j, first, ends));
  if (!weft__shape_equal(s, &k->in[1]->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "gradient and input must be the same size: %s and %s",
                             weft__shape_text(s), weft__shape_text(&k->in[1]->shape));
  if (first) WEFT_TRY(read_channels(k, &j, first, per_channel));
  weft_tensor *out = weft__out(k, 0, s);
  if (!out) return WEFT_OOM;
  j.out = TENSOR_DATA(out, float);
  if (first) {
    weft_tensor *d_min = weft__out(k, 1, &k->in[first]->shape), *d_max = weft__out(k, 2, &k->in[first]->shape);
    if (!d_min || !d_max) return WEFT_OOM;
    j.d_min = TENSOR_DATA(d_min, float);
    j.d_max = TENSOR_DATA(d_max, float);
  }
  for (int64_t c = 0; c < j.channels; c++) pass_back(&j, c, weft__shape_count(s) / j.channels);
  return WEFT_OK;
}

static weft_err args_cpu(kernel *k) { return fake_quant_run(k, 0, false); }
static weft_err args_back_cpu(kernel *k) { return run_back(k, 0, false); }
static weft_err vars_cpu(kernel *k) { return fake_quant_run(k, 1, false); }
static weft_err vars_back_cpu(kernel *k) { return run_back(k, 2, false); }
static weft_err channels_cpu(kernel *k) { return fake_quant_run(k, 1, true); }
static weft_err channels_back_cpu(kernel *k) { return run_back(k, 2, true); }

/* ---- shapes ---- */

/* The inputs from `first` on are the ends of the range. */
static weft_err check_ends(infer *s, int first, int rank) {
  shape end;
  for (int i = first; i < s->n_in; i++) {
    WEFT_TRY(weft__infer_rank(s, i, rank, &end));
    const shape *x = &s->in[0];
    const int64_t channels = rank == 1 && x->rank > 0 ? x->dim[x->rank - 1] : -1;
    if (rank == 1 && x->rank == 0) return weft__infer_fail(s, "inputs must have at least one dimension");
    if (channels >= 0 && end.dim[0] >= 0 && channels != end.dim[0])
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)channels,
                              (long long)end.dim[0]);
  }
  s->out[0] = s->in[0];
  for (int i = 1; i < s->n_out; i++) s->out[i] = s->in[first];
  return WEFT_OK;
}

static weft_err vars_infer(infer *s) { return check_ends(s, 1, 0); }
static weft_err channels_infer(infer *s) { return check_ends(s, 1, 1); }
static weft_err vars_back_infer(infer *s) { return check_ends(s, 2, 0); }
static weft_err channels_back_infer(infer *s) { return check_ends(s, 2, 1); }

static weft_err same_pair_infer(infer *s) {
  if (weft__shape_merge(&s->out[0], &s->in[0], &s->in[1])) return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

/* ---- gradients ---- */

static weft_out back_node(backprop *b, const char *type, int n_in) {
  const weft_out in[] = {b->dout[0], b->in[0], n_in > 2 ? b->in[1] : WEFT_NONE, n_in > 2 ? b->in[2] : WEFT_NONE};
  const attr attrs[] = {A_INT("num_bits", weft__node_int(b->node, "num_bits", 8)),
                        A_BOOL("narrow_range", weft__node_bool(b->node, "narrow_range", false)),
                        A_FLOAT("min", weft__node_float(b->node, "min", -6)),
                        A_FLOAT("max", weft__node_float(b->node, "max", 6))};
  return weft__b_node(b->graph, type, NULL, n_in, in, n_in > 2 ? 2 : 4, attrs);
}

static weft_err args_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(back_node(b, "FakeQuantWithMinMaxArgsGradient", 2));
  return WEFT_OK;
}

static weft_err three_grad(backprop *b, const char *type) {
  const weft_out d = back_node(b, type, 4);
  for (int i = 0; i < 3; i++) b->din[i] = GRAD_DENSE(weft__b_slot(d, i));
  return WEFT_OK;
}

static weft_err vars_grad(backprop *b) { return three_grad(b, "FakeQuantWithMinMaxVarsGradient"); }
static weft_err channels_grad(backprop *b) { return three_grad(b, "FakeQuantWithMinMaxVarsPerChannelGradient"); }

/* ---- cases ---- */
#define XS "f32[11] -3 -1.25 -.5 -.1 0 .1 .5 1 1.5 2.3 7"
#define DY "f32[11] rand"
static const op_case args_cases[] = {
    {XS, NULL, NULL, CASE_NO_GRAD},
    {XS, NULL, "min=-1.1 max=2.3", CASE_NO_GRAD},
    {XS, NULL, "min=-1.1 max=2.3 num_bits=4 narrow_range=true", CASE_NO_GRAD},
    {XS, NULL, "min=.5 max=2", CASE_NO_GRAD},
    {XS, NULL, "min=-2 max=-.5 num_bits=16", CASE_NO_GRAD},
    {"f32[400,7] normal", NULL, "min=-1.5 max=2 num_bits=5", CASE_NO_GRAD},
    {"f32[0,3]", "f32[0,3]", NULL, CASE_NO_GRAD},
    {XS, "error INVALID_ARGUMENT", "min=3 max=1", CASE_NO_GRAD},
    {XS, "error INVALID_ARGUMENT", "num_bits=1", CASE_NO_GRAD},
    {XS, "error INVALID_ARGUMENT", "num_bits=17", CASE_NO_GRAD},
    {0},
};
static const op_case args_back_cases[] = {
    {DY ";" XS, NULL, NULL},
    {DY ";" XS, NULL, "min=-1.1 max=2.3 num_bits=4 narrow_range=true"},
    {"f32[40,7] normal; f32[40,7] normal", NULL, "min=-1.5 max=2"},
    {"f32[2] 1; f32[3] 1", "error INVALID_ARGUMENT"},
    {DY ";" XS, "error INVALID_ARGUMENT", "num_bits=1"},
    {0},
};
static const op_case vars_cases[] = {
    {XS "; f32[] -1.1; f32[] 2.3", NULL, NULL, CASE_NO_GRAD},
    {XS "; f32[] -1.1; f32[] 2.3", NULL, "num_bits=4 narrow_range=true", CASE_NO_GRAD},
    {XS "; f32[] 0; f32[] 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[40,7] normal; f32[] .5; f32[] 2", NULL, NULL, CASE_NO_GRAD},
    {XS "; f32[1] 0; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {XS "; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", "num_bits=1", CASE_NO_GRAD},
    {0},
};
static const op_case vars_back_cases[] = {
    {DY ";" XS "; f32[] -1.1; f32[] 2.3"},
    {DY ";" XS "; f32[] 0; f32[] 0"},
    {"f32[40,7] normal; f32[40,7] normal; f32[] .5; f32[] 2", NULL, "num_bits=3 narrow_range=true"},
    {0},
};
static const op_case channels_cases[] = {
    {"f32[4,3] normal; f32[3] -1 -.5 .2; f32[3] 1 .6 2", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,4,3] normal; f32[3] -1 -.5 0; f32[3] 1 .6 0", NULL, "num_bits=3 narrow_range=true", CASE_NO_GRAD},
    {"f32[3] -5 .1 5; f32[3] -1; f32[3] 1", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,3]; f32[3] -1; f32[3] 1", "f32[0,3]", NULL, CASE_NO_GRAD},
    {"f32[4,3] 1; f32[2] -1; f32[2] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case channels_back_cases[] = {
    {"f32[4,3] normal; f32[4,3] normal; f32[3] -1 -.5 .2; f32[3] 1 .6 2"},
    {"f32[2,4,3] normal; f32[2,4,3] normal; f32[3] -1 -.5 0; f32[3] 1 .6 0", NULL, "num_bits=3 narrow_range=true"},
    {0},
};

#define BITS "num_bits:int=8 narrow_range:bool=false"
#define ENDS "min:float=-6 max:float=6 " BITS
#define BACK                                                                                                           \
  "(gradients:float, inputs:float, min:float, max:float) -> (backprops_wrt_input:float, "                              \
  "backprop_wrt_min:float, backprop_wrt_max:float) | " BITS

OPS(fake_quant) = {
    {"FakeQuantWithMinMaxArgs(inputs:float) -> (outputs:float) | " ENDS, "Floats rounded to the steps of an integer.",
     .infer = weft__infer_same, .cpu = args_cpu, .grad = args_grad, .cases = args_cases},
    {"FakeQuantWithMinMaxArgsGradient(gradients:float, inputs:float) -> (backprops:float) | " ENDS,
     "The gradient of FakeQuantWithMinMaxArgs.", .infer = same_pair_infer, .cpu = args_back_cpu,
     .cases = args_back_cases},
    {"FakeQuantWithMinMaxVars(inputs:float, min:float, max:float) -> (outputs:float) | " BITS,
     "Floats rounded to the steps of an integer, whose range is an input.", .infer = vars_infer, .cpu = vars_cpu,
     .grad = vars_grad, .cases = vars_cases},
    {"FakeQuantWithMinMaxVarsGradient" BACK, "The gradient of FakeQuantWithMinMaxVars.", .infer = vars_back_infer,
     .cpu = vars_back_cpu, .cases = vars_back_cases},
    {"FakeQuantWithMinMaxVarsPerChannel(inputs:float, min:float, max:float) -> (outputs:float) | " BITS,
     "Floats rounded to the steps of an integer, with a range for each channel.", .infer = channels_infer,
     .cpu = channels_cpu, .grad = channels_grad, .cases = channels_cases},
    {"FakeQuantWithMinMaxVarsPerChannelGradient" BACK, "The gradient of FakeQuantWithMinMaxVarsPerChannel.",
     .infer = channels_back_infer, .cpu = channels_back_cpu, .cases = channels_back_cases},
    {0},
};
