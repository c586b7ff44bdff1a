/* debug.c - ops that a debugger inserts into graphs: copies, and statistics of a tensor's values.
 *
 * Weft writes nothing to debug_urls: a node with a nonempty debug_urls fails. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "tensor/dtype.h"
#include <math.h>
#include <string.h>

/* Checks that tensor_name, if the op has it, is NODE:OUTPUT. */
static weft_err check_watch(const kernel *k) {
  const attr *urls = weft__node_attr(k->node, "debug_urls");
  const attr_str name = weft__node_str(k->node, "tensor_name");
  const char *colon = strrchr(name.data, ':');
  if (weft__node_attr(k->node, "tensor_name") && (!colon || colon == name.data || !colon[1]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Failed to parse tensor name: \"%s\"", name.data);
  if (!urls || urls->n == 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                           "debug_urls: Weft sends no tensors to debuggers; fetch the tensor instead");
}

static weft_err copy_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  return weft__elements_copy(out->dtype, out->data, k->in[0]->data, weft__tensor_count(out));
}

static weft_err pass_cpu(kernel *k) {
  WEFT_TRY(check_watch(k));
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

static bool has_numbers(weft_dtype t) { return weft__dtype_is_plain(t) && t != WEFT_COMPLEX64 && t != WEFT_COMPLEX128; }

static weft_err nan_count_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(check_watch(k));
  if (!has_numbers(x->dtype) || x->dtype == WEFT_BOOL) return weft__kernel_no_type(k, x->dtype);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(1));
  if (!out) return WEFT_OOM;
  int64_t found = 0;
  for (int64_t i = 0, n = weft__tensor_count(x); i < n; i++) found += isnan(weft__tensor_double(x, i)) != 0;
  TENSOR_DATA(out, int64_t)[0] = found;
  return WEFT_OK;
}

enum { INITIALIZED, COUNT, NANS, LOW, NEGATIVE, ZERO, POSITIVE, HIGH, MIN, MAX, MEAN, VARIANCE, DTYPE, RANK, DIMS };

static void count_elements(const weft_tensor *x, double low, double high, double *to) {
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0, n = weft__tensor_count(x); i < n; i++) {
    const double v = weft__tensor_double(x, i);
    const int kind = isnan(v) ? NANS : v <= low ? LOW : v >= high ? HIGH : v < 0 ? NEGATIVE : v == 0 ? ZERO : POSITIVE;
    to[kind]++;
    if (!isfinite(v)) continue;
    finite++;
    sum += v;
    to[MIN] = fmin(to[MIN], v);
    to[MAX] = fmax(to[MAX], v);
  }
  to[MEAN] = finite ? sum / (double)finite : NAN;
  to[VARIANCE] = NAN;
  if (!finite) return;
  to[VARIANCE] = 0;
  for (int64_t i = 0, n = weft__tensor_count(x); i < n; i++) {
    const double v = weft__tensor_double(x, i);
    if (isfinite(v)) to[VARIANCE] += (v - to[MEAN]) * (v - to[MEAN]) / (double)finite;
  }
}

static weft_err summary_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  WEFT_TRY(check_watch(k));
  if (!has_numbers(x->dtype)) return weft__kernel_no_type(k, x->dtype);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(DIMS + x->shape.rank));
  if (!out) return WEFT_OOM;
  double *to = out->data;
  memset(to, 0, weft__tensor_bytes(out));
  to[INITIALIZED] = 1;
  to[COUNT] = (double)weft__tensor_count(x);
  to[MIN] = INFINITY;
  to[MAX] = -INFINITY;
  count_elements(x, (double)weft__node_float(k->node, "lower_bound", -INFINITY),
                 (double)weft__node_float(k->node, "upper_bound", INFINITY), to);
  to[DTYPE] = (double)x->dtype;
  to[RANK] = x->shape.rank;
  for (int i = 0; i < x->shape.rank; i++) to[DIMS + i] = (double)x->shape.dim[i];
  return WEFT_OK;
}

/* ---- DebugNumericSummaryV2 ---- */

enum { CURT = 2, CONCISE = 3, FULL_HEALTH = 4, SHAPE_ONLY = 5, REDUCED = 8, SHOWN_DIMS = 6 };

/* Returns the number of values that a mode outputs; 0 if TensorFlow has no such mode. */
static int mode_size(int64_t mode) {
  switch (mode) {
  case CURT: return 2;
  case CONCISE: return 5;
  case FULL_HEALTH: return 11;
  case SHAPE_ONLY: return 4 + SHOWN_DIMS;
  case REDUCED: return 3;
  default: return 0;
  }
}

typedef struct element_counts {
  double low, high, nan, negative, zero, positive;
} element_counts;

static element_counts count_kinds(const weft_tensor *x) {
  element_counts c = {0};
  for (int64_t i = 0, n = weft__tensor_count(x); i < n; i++) {
    const double v = weft__tensor_double(x, i);
    double *kind = isnan(v)   ? &c.nan
                   : isinf(v) ? (v > 0 ? &c.high : &c.low)
                   : v < 0    ? &c.negative
                   : v == 0   ? &c.zero
                              : &c.positive;
    ++*kind;
  }
  return c;
}

/* Writes the dimensions; only the last ones if there are more than are shown. */
static void put_shape(const weft_tensor *x, double *to) {
  const int rank = x->shape.rank, skip = rank > SHOWN_DIMS ? rank - SHOWN_DIMS : 0;
  for (int i = skip; i < rank; i++) to[i - skip] = (double)x->shape.dim[i];
}

static void debug_summarize(const weft_tensor *x, int64_t mode, double id, double *to) {
  element_counts c = {0};
  if (mode != SHAPE_ONLY) c = count_kinds(x);
  const double size = (double)weft__tensor_count(x), type = (double)x->dtype, rank = x->shape.rank;
  const double full[] = {id, -1, type, rank, size, c.low, c.high, c.nan, c.negative, c.zero, c.positive};
  const double concise[] = {id, size, c.low, c.high, c.nan}, shaped[] = {id, type, rank, size};
  const double reduced[] = {c.low > 0 ? -INFINITY : 0, c.high > 0 ? INFINITY : 0, c.nan > 0 ? NAN : 0};
  if (mode == CURT) to[0] = id, to[1] = c.low + c.high + c.nan > 0;
  if (mode == CONCISE) memcpy(to, concise, sizeof concise);
  if (mode == FULL_HEALTH) memcpy(to, full, sizeof full);
  if (mode == REDUCED) memcpy(to, reduced, sizeof reduced);
  if (mode != SHAPE_ONLY) return;
  memcpy(to, shaped, sizeof shaped);
  put_shape(x, to + 4);
}

static weft_err mode_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const int64_t mode = weft__node_int(k->node, "tensor_debug_mode", -1), id = weft__node_int(k->node, "tensor_id", -1);
  const int n = mode_size(mode);
  if (!has_numbers(x->dtype)) return weft__kernel_no_type(k, x->dtype);
  if (!n) return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Unimplemented tensor debug mode: %lld", (long long)mode);
  const bool is_float = k->node->out_type[0] == WEFT_FLOAT;
  if (id > (is_float ? INT64_C(1) << 24 : INT64_C(1) << 53))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "tensor_id must be at most 2^%d, but is %lld",
                             is_float ? 24 : 53, (long long)id);
  double numbers[11] = {0};
  debug_summarize(x, mode, (double)id, numbers);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n));
  if (!out) return WEFT_OOM;
  for (int i = 0; i < n; i++)
    if (is_float)
      TENSOR_DATA(out, float)[i] = (float)numbers[i];
    else
      TENSOR_DATA(out, double)[i] = numbers[i];
  return WEFT_OK;
}

static weft_err mode_infer(infer *s) {
  const int n = mode_size(weft__node_int(s->node, "tensor_debug_mode", -1));
  s->out[0] = SHAPE1(n ? n : -1);
  return WEFT_OK;
}

static weft_err pass_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err count_infer(infer *s) {
  s->out[0] = SHAPE1(1);
  return WEFT_OK;
}

static const op_case copy_cases[] = {
    {"f32[2,2] 1 2 nan 4", "f32[2,2] 1 2 nan 4", NULL, CASE_NO_GRAD},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[0]", "i32[0]", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case pass_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2,2] 1 2 3 4", NULL, 0},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[0]", "i32[0]", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case named_cases[] = {
    {"f32[2,2] 1 2 3 4", "f32[2,2] 1 2 3 4", "tensor_name='a:0'", CASE_NO_GRAD},
    {"str[2] \"a\" \"bc\"", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2] 1 2", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};
static const op_case nan_cases[] = {
    {"f32[4] 1 nan inf nan", "i64[1] 2", "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[2] 1 2", "i64[1] 0", "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[0]", "i64[1] 0", "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f16[1] nan", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};
static const op_case summary_cases[] = {
    {"f32[8] 1 nan inf -inf 0 -2 3 nan", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[2,2] 1 2 3 -4", NULL, "tensor_name='a:0' lower_bound=-3.0 upper_bound=2.5", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[2,3] -1 2 0.5 0 3 4", NULL, "tensor_name='a:0' lower_bound=0.0", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[0]", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[1] nan", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"bool[3] true false true", NULL, "tensor_name='a:0'", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};

#define MODE(N) " tensor_id=7 tensor_debug_mode=" #N
static const op_case mode_cases[] = {
    {"f32[2,4] 1 nan inf -inf 0 -2 3 1", NULL, MODE(2), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2,4] 1 nan inf -inf 0 -2 3 1", NULL, "output_dtype=double" MODE(3), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f64[2,4] 1 nan inf -inf 0 -2 3 1", NULL, MODE(4), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f16[2,4] 1 nan inf -inf 0 -2 3 1", NULL, MODE(8), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[1,2,3,1,2,3,4] 1", NULL, MODE(5), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[2,3] 1", NULL, MODE(5), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"bool[] true", NULL, MODE(5), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[0]", NULL, MODE(8), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[3] 1 0 -2", NULL, MODE(2), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[3] 1 0 -2", NULL, MODE(3), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[3] 1 0 -2", NULL, MODE(4), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2] 1 2", "error UNIMPLEMENTED", MODE(6), CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[2] 1 2", "error INVALID_ARGUMENT", "tensor_id=33554432 tensor_debug_mode=2", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {0},
};

#define WATCHED " T:type device_name:string='' tensor_name:string='' debug_urls:list(string)=[] "

OPS(debug) = {
    {"DeepCopy(x:T) -> (y:T) | T:type ; stateful", "A copy of the tensor in memory of its own.",
     .infer = weft__infer_same, .cpu = copy_cpu, .cases = copy_cases, .narrow = NARROW_ALL},
    {"Copy(input:T) -> (output:T) | T:type tensor_name:string='' debug_ops_spec:list(string)=[] ; uninit",
     "A copy of the tensor, for a debugger.", .infer = weft__infer_same, .cpu = copy_cpu, .cases = copy_cases,
     .narrow = NARROW_ALL},
    {"CopyHost(input:T) -> (output:T) | T:type tensor_name:string='' debug_ops_spec:list(string)=[] ; uninit",
     "A copy of the tensor in host memory, for a debugger.", .infer = weft__infer_same, .cpu = copy_cpu,
     .cases = copy_cases, .narrow = NARROW_ALL},
    {"DebugIdentityV2(input:T) -> (output:T) | T:type tfdbg_context_id:string='' op_name:string='' output_slot:int=-1 "
     "tensor_debug_mode:int=-1 debug_urls:list(string)=[] circular_buffer_size:int=1000 tfdbg_run_id:string='' ; "
     "stateful",
     "The tensor, for a debugger.", .infer = weft__infer_same, .cpu = pass_cpu, .grad = pass_grad, .cases = pass_cases,
     .narrow = NARROW_ALL},
    {"DebugIdentity(input:T) -> (output:T) |" WATCHED "gated_grpc:bool=false ; uninit", "The tensor, for a debugger.",
     .infer = weft__infer_same, .cpu = pass_cpu, .cases = named_cases, .narrow = NARROW_ALL},
    {"DebugIdentityV3(input:T) -> (output:T) | T:type device_name:string='' tensor_name:string='' io_of_node:string='' "
     "is_input:bool=false io_index:int=-1 debug_urls:list(string)=[] gated_grpc:bool=false ; stateful uninit",
     "The tensor, for a debugger.", .infer = weft__infer_same, .cpu = pass_cpu, .cases = named_cases,
     .narrow = NARROW_ALL},
    {"DebugNanCount(input:T) -> (output:int64) |" WATCHED "gated_grpc:bool=false ; uninit",
     "How many elements are no numbers.", .infer = count_infer, .cpu = nan_count_cpu, .cases = nan_cases},
    {"DebugNumericSummary(input:T) -> (output:double) |" WATCHED
     "lower_bound:float=-inf upper_bound:float=inf mute_if_healthy:bool=false gated_grpc:bool=false ; uninit",
     "Counts, extremes, mean and variance of a tensor.", .infer = weft__infer_none, .cpu = summary_cpu,
     .cases = summary_cases},
    {"DebugNumericSummaryV2(input:T) -> (output:output_dtype) | output_dtype:type{float,double}=float T:type "
     "tensor_debug_mode:int=-1 tensor_id:int=-1",
     "Counts of a tensor's elements, or its shape, by mode.", .infer = mode_infer, .cpu = mode_cpu,
     .cases = mode_cases},
    {0},
};
