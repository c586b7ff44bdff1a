/* transpose.c - permutes axes: Transpose, ConjugateTranspose, InvertPermutation.
 *
 * strided_copy.c merges axes that stay adjacent and copies the others in tiles. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include <string.h>

/* ---- Transpose ---- */

static weft_err transpose_infer(infer *s) {
  const shape *x = &s->in[0];
  shape perm;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &perm));
  int64_t rank = perm.dim[0] >= 0 ? perm.dim[0] : x->rank;
  const weft_tensor *p = weft__infer_value(s, 1);
  if (p) rank = weft__tensor_count(p);
  if (x->rank >= 0 && rank != x->rank)
    return weft__infer_fail(s, "Dimension must be %d but is %lld", x->rank, (long long)rank);
  if (rank < 0 || rank > WEFT_MAX_RANK) return WEFT_OK;
  s->out[0].rank = weft__int_sat(rank);
  for (int d = 0; d < rank; d++) {
    int64_t from = p ? weft__tensor_int(p, d) : -1;
    if (p && from < 0) from += rank;
    if (p && (from < 0 || from >= rank))
      return weft__infer_fail(s, "perm dim %lld is out of range of input rank %lld", (long long)weft__tensor_int(p, d),
                              (long long)rank);
    s->out[0].dim[d] = p && x->rank >= 0 ? x->dim[from] : -1;
  }
  return WEFT_OK;
}

/* Reads perm and checks that it is a permutation of [0, rank). */
static weft_err read_perm(kernel *k, int rank, int64_t *perm) {
  const shape *s = &k->in[1]->shape;
  bool seen[WEFT_MAX_RANK] = {false};
  if (s->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "perm must be rank 1, got shape %s", weft__shape_text(s));
  if (s->dim[0] != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "transpose expects a vector of size %d. But input(1) is a vector of size %lld", rank,
                             (long long)s->dim[0]);
  shape text = {.rank = rank};
  for (int d = 0; d < rank; d++) {
    perm[d] = text.dim[d] = weft__tensor_int(k->in[1], d);
    if (perm[d] < 0) perm[d] += rank;
    if (perm[d] < 0 || perm[d] >= rank)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld is out of range [0 .. %d)", (long long)text.dim[d],
                               rank);
    seen[perm[d]] = true;
  }
  for (int d = 0; d < rank; d++)
    if (!seen[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%d is missing from %s.", d, weft__shape_text(&text));
  return WEFT_OK;
}

static bool is_identity(const int64_t *perm, const shape *x) {
  int64_t last = -1;
  for (int d = 0; d < x->rank; d++) { /* axes of size 1 may move anywhere */
    if (x->dim[perm[d]] == 1) continue;
    if (perm[d] < last) return false;
    last = perm[d];
  }
  return true;
}

/* Computes the transpose in output 0 and stores it in *y.  may_forward: if the permutation moves nothing, the output
 * may share the input's buffer; *y is not set then. */
static weft_err transpose_to(kernel *k, bool may_forward, weft_tensor **y) {
  const weft_tensor *x = k->in[0];
  int64_t perm[WEFT_MAX_RANK], from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];
  shape out = {.rank = x->shape.rank};
  WEFT_TRY(read_perm(k, out.rank, perm));
  for (int d = 0; d < out.rank; d++) out.dim[d] = x->shape.dim[perm[d]];
  if (may_forward && is_identity(perm, &x->shape)) return weft__forward(k, 0, 0, &out);
  if (!(*y = weft__out(k, 0, &out))) return WEFT_OOM;
  weft__shape_steps(&x->shape, from);
  weft__shape_steps(&out, to);
  strided_copy copy;
  copy.rank = 0;
  for (int d = 0; d < out.rank; d++) weft__strided_copy_axis(&copy, out.dim[d], from[perm[d]], to[d]);
  return weft__strided_copy_run(k, x->dtype, (*y)->data, x->data, &copy);
}

static weft_err transpose_cpu(kernel *k) { return transpose_to(k, true, &(weft_tensor *){NULL}); }

static weft_err conjugate_cpu(kernel *k) {
  weft_tensor *y = NULL;
  bool is_complex = weft__dtype_class(k->in[0]->dtype) == CLASS_COMPLEX;
  WEFT_TRY(transpose_to(k, !is_complex, &y));
  int64_t n = is_complex ? weft__tensor_count(y) : 0;
  for (int64_t i = 0; i < n; i++) {
    if (y->dtype == WEFT_COMPLEX64)
      TENSOR_DATA(y, float)[2 * i + 1] *= -1;
    else
      TENSOR_DATA(y, double)[2 * i + 1] *= -1;
  }
  return WEFT_OK;
}

/* The gradient is transposed by the inverse permutation. */
static weft_err transpose_back(backprop *b, const char *name) {
  weft_out in[] = {b->dout[0], weft__b_unary(b->graph, "InvertPermutation", b->in[1])};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, name, NULL, 2, in, 0, NULL));
  return WEFT_OK;
}
static weft_err transpose_grad(backprop *b) { return transpose_back(b, "Transpose"); }
static weft_err conjugate_grad(backprop *b) { return transpose_back(b, "ConjugateTranspose"); }

/* ---- InvertPermutation ---- */

static weft_err invert_infer(infer *s) { return weft__infer_rank(s, 0, 1, &s->out[0]); }

/* Returns the first position whose number is not in [0, n) or was there before, or n.  y[v] is -1 before v. */
#define DEFINE_INVERT(T)                                                                                               \
  static int64_t invert_##T(T *y, const T *x, int64_t n) {                                                             \
    memset(y, 0xff, (size_t)n * sizeof *y);                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      if (x[i] < 0 || x[i] >= n || y[x[i]] != -1) return i;                                                            \
      y[x[i]] = (T)i;                                                                                                  \
    }                                                                                                                  \
    return n;                                                                                                          \
  }
DEFINE_INVERT(int32_t)
DEFINE_INVERT(int64_t)

static weft_err invert_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  if (x->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "invert_permutation expects a 1D vector.");
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  const int64_t n = x->shape.dim[0];
  const int64_t bad = n == 0                   ? 0
                      : y->dtype == WEFT_INT64 ? invert_int64_t(TENSOR_DATA(y, int64_t), TENSOR_DATA(x, int64_t), n)
                                               : invert_int32_t(TENSOR_DATA(y, int32_t), TENSOR_DATA(x, int32_t), n);
  if (bad == n) return WEFT_OK;
  const int64_t v = weft__tensor_int(x, bad);
  if (v < 0 || v >= n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld is not between 0 and %lld", (long long)v, (long long)n);
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld is duplicated in the input.", (long long)v);
}

/* ---- cases ---- */

static const op_case transpose_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 1 0", "f32[3,2] 1 4 2 5 3 6", NULL, 0},
    {"f64[2,3,4] rand; i64[3] 2 0 1", NULL, NULL, 0},
    {"f64[2,3,4,5] rand; i32[4] 0 3 1 2", NULL, NULL, 0},
    {"f32[2,3,2] rand; i32[3] 1 0 2", NULL, NULL, 0},
    {"f32[1,3,1] rand; i32[3] 2 1 0", NULL, NULL, 0},
    {"f32[2,3] rand; i32[2] 0 1", NULL, NULL, 0},
    {"f32[] 4; i32[0] 0", "f32[] 4", NULL, 0},
    {"f32[0,3] 0; i32[2] 1 0", "f32[3,0] 0", NULL, 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[2] 1 0", "str[2,2] \"a\" \"c\" \"b\" \"d\"", NULL, 0},
    {"bool[2,1] true false; i32[2] 1 0", "bool[1,2] true false", NULL, 0},
    {"c128[3,2] rand; i32[2] 1 0", NULL, NULL, CASE_NO_GRAD},
    {"u8[37,53,3] rand; i32[3] 2 0 1", NULL, NULL, CASE_NO_GRAD},
    {"i16[67,45] rand; i32[2] 1 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[9,67,130] rand; i32[3] 0 2 1", NULL, NULL, CASE_NO_GRAD},
    {"f64[2,3,2,3,2] rand; i32[5] 4 2 0 1 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] 0; i32[2] 0 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[2] 0 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case conjugate_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 1 0", "f32[3,2] 1 4 2 5 3 6", NULL, 0},
    {"c64[2,3] rand; i32[2] 1 0", NULL, NULL, CASE_NO_GRAD},
    {"c128[2,3] rand; i32[2] 0 1", NULL, NULL, CASE_NO_GRAD},
    {0},
};

static const op_case invert_cases[] = {
    {"i32[4] 3 0 2 1", "i32[4] 1 3 2 0", NULL, 0},     {"i64[0] 0", "i64[0] 0", NULL, 0},
    {"i32[2] 1 1", "error INVALID_ARGUMENT", NULL, 0}, {"i32[2] 0 2", "error INVALID_ARGUMENT", NULL, 0},
    {"i32[1,1] 0", "error INVALID_ARGUMENT", NULL, 0}, {0},
};

static const fusion transposes = {ROLE_TRANSPOSE};

OPS(transpose) = {
    {"Transpose(x:T, perm:Tperm) -> (y:T) | T:type Tperm:type{int32,int64}=int32",
     "The input with its axes in another order.", .infer = transpose_infer, .cpu = transpose_cpu,
     .grad = transpose_grad, .cases = transpose_cases, .fusion = &transposes, .amp = AMP_CLEAR,
     .narrow = NARROW_FLOAT8},
    {"ConjugateTranspose(x:T, perm:Tperm) -> (y:T) | T:type Tperm:type{int32,int64}=int32",
     "The conjugated input with its axes in another order.", .infer = transpose_infer, .cpu = conjugate_cpu,
     .grad = conjugate_grad, .cases = conjugate_cases, .narrow = NARROW_FLOAT8},
    {"InvertPermutation(x:T) -> (y:T) | T:type{int32,int64}=int32", "y such that y[x[i]] = i.", .infer = invert_infer,
     .cpu = invert_cpu, .no_grad = true, .cases = invert_cases, .anywhere = "*"},
    {0},
};
