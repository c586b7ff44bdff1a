/* fill.c - tensors whose elements are all equal: Fill, ZerosLike, OnesLike.
 *
 * Memory bandwidth limits the speed, so large tensors are split over the step's threads. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/variant.h"

typedef struct fill_work {
  weft_tensor *out;
  const char *one; /* the element, or NULL for zero bytes */
} fill_work;

static void fill_range(void *arg, int64_t begin, int64_t end) {
  const fill_work *w = arg;
  size_t size = weft__dtype_size(w->out->dtype);
  char *dst = (char *)w->out->data + (size_t)begin * size;
  if (w->one)
    (void)weft__elements_fill(w->out->dtype, dst, w->one, end - begin); /* cannot fail for plain types */
  else
    memset(dst, 0, (size_t)(end - begin) * size);
}

/* Sets every element of a plain tensor. */
static void fill_all(kernel *k, weft_tensor *out, const void *one) {
  fill_work w = {out, one};
  weft__kernel_loop(k, weft__tensor_count(out), 1, fill_range, &w);
}

/* ---- Fill ---- */

static weft_err fill_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 0, &s->out[0]));
  const weft_tensor *dims = weft__infer_value(s, 0);
  for (int64_t d = 0; dims && d < weft__tensor_count(dims); d++)
    if (weft__tensor_int(dims, d) < 0) return weft__infer_fail(s, "Fill dimensions must be >= 0");
  return WEFT_OK;
}

static weft_err fill_cpu(kernel *k) {
  shape s;
  if (k->in[0]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dims must represent a vector, got shape %s",
                             weft__shape_text(&k->in[0]->shape));
  if (weft__tensor_count(k->in[1]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "value must represent a scalar, got shape %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(weft__kernel_dims(k, 0, "dims", &s));
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (!weft__dtype_is_plain(out->dtype))
    return weft__elements_fill(out->dtype, out->data, k->in[1]->data, weft__tensor_count(out));
  fill_all(k, out, k->in[1]->data);
  return WEFT_OK;
}

/* The gradient of the value is the sum of all output gradients. */
static weft_err fill_grad(backprop *b) {
  weft_graph *g = b->graph;
  if (b->dout[0].node < 0) return WEFT_OK;
  int rank = weft__out_shape(g, b->dout[0])->rank;
  weft_out axes;
  if (rank >= 0) {
    int64_t all[WEFT_MAX_RANK];
    for (int d = 0; d < rank; d++) all[d] = d;
    axes = weft__b_ints(g, all, rank);
  } else {
    weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), weft__b_rank(g, b->dout[0]),
                        weft__b_scalar(g, WEFT_INT32, 1)};
    axes = weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
  }
  b->din[1] = GRAD_DENSE(weft__b_sum(g, b->dout[0], axes, false));
  return WEFT_OK;
}

/* ---- ZerosLike, OnesLike ---- */

static weft_err zero_variant(kernel *k) {
  weft_tensor zeros = {0};
  WEFT_TRY(weft__kernel_in(k, weft__variant_zeros(&zeros, k->in[0])));
  weft_err err = weft__out_share(k, 0, &zeros);
  weft__tensor_clear(&zeros);
  return err;
}

static weft_err zeros_like_cpu(kernel *k) {
  if (k->in[0]->dtype == WEFT_VARIANT) return zero_variant(k);
  if (weft__dtype_class(k->in[0]->dtype) == CLASS_OBJECT) return weft__kernel_no_type(k, k->in[0]->dtype);
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  if (weft__dtype_is_plain(out->dtype)) fill_all(k, out, NULL);
  return WEFT_OK;
}

static weft_err ones_like_cpu(kernel *k) {
  weft_tensor *one = NULL, *out = weft__out(k, 0, &k->in[0]->shape);
  if (!out) return WEFT_OOM;
  WEFT_TRY(weft__tensor_scalar(&one, out->dtype, 1));
  fill_all(k, out, one->data);
  weft_tensor_destroy(one);
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case fill_cases[] = {
    {"i32[2] 2 3; f32[] 1.5", "f32[2,3] 1.5", NULL, 0},
    {"i64[1] 4; f64[] -2", "f64[4] -2", NULL, 0},
    {"i32[0] 0; i32[] 7", "i32[] 7", NULL, 0},
    {"i32[2] 0 5; c64[] 1", "c64[0,5] 0", NULL, 0},
    {"i32[1] 2; str[] \"ab\"", "str[2] \"ab\"", NULL, 0},
    {"i32[1] 3; bool[] true", "bool[3] true", NULL, 0},
    {"i32[2] 300 77; f32[] 0.25", NULL, NULL, CASE_NO_GRAD},
    {"i32[1] -1; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1,1] 1; f32[] 0", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1] 1; f32[2] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case zeros_like_cases[] = {
    {"f32[2,3] rand", "f32[2,3] 0", NULL, 0},
    {"i64[] 5", "i64[] 0", NULL, 0},
    {"bool[2] true", "bool[2] false", NULL, 0},
    {"str[2] \"a\" \"b\"", "str[2] \"\"", NULL, 0},
    {"c64[0] 0", "c64[0] 0", NULL, 0},
    {"f32[100,333] rand", NULL, NULL, CASE_NO_GRAD},
    {0},
};

static const op_case ones_like_cases[] = {
    {"f32[2,3] rand", "f32[2,3] 1", NULL, 0},
    {"i64[] 5", "i64[] 1", NULL, 0},
    {"bool[2] false", "bool[2] true", NULL, 0},
    {"c64[2] 3", "c64[2] 1", NULL, 0},
    {"f16[3] 3", "f16[3] 1", NULL, 0},
    {"f64[0,2] 0", "f64[0,2] 0", NULL, 0},
    {0},
};

OPS(fill) = {
    {"Fill(dims:index_type, value:T) -> (output:T) | T:type index_type:type{int32,int64}=int32",
     "A tensor of the given shape, every element the same.", .infer = fill_infer, .cpu = fill_cpu, .grad = fill_grad,
     .cases = fill_cases, .amp = AMP_CLEAR, .narrow = NARROW_INT4},
    {"ZerosLike(x:T) -> (y:T) | T:type", "Zeros of the input's shape and type.", .kind = KIND_ZEROS,
     .infer = weft__infer_same, .cpu = zeros_like_cpu, .no_grad = true, .cases = zeros_like_cases, .amp = AMP_CLEAR},
    {"OnesLike(x:T) -> (y:T) | "
     "T:type{bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,int64,uint64,complex64,complex128,bool}",
     "Ones of the input's shape and type.", .infer = weft__infer_same, .cpu = ones_like_cpu, .no_grad = true,
     .cases = ones_like_cases, .amp = AMP_CLEAR},
    {0},
};
