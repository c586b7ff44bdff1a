/* sparse_matmul.c - SparseTensorDenseMatMul: a sparse matrix times a dense one.
 *
 * Entries are added to the product in their order, so repeated indices add up and the result does not depend on the
 * number of threads.  The threads divide the columns of a wide product, and the rows of others: if two threads had
 * parts of each row of b, both would wait for the memory of all rows. */
#include "base/alloc.h"
#include "base/prefetch.h"
#include "base/row_parts.h"
#include "base/target_clones.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/array/index.h"
#include "kernels/work/long_work.h"
#include <string.h>

enum { WIDE_BYTES = 256 };          /* of a row, for each thread: then they divide the columns */
enum { SERIAL_PRODUCTS = 1 << 16 }; /* fewer are not worth a second thread */
enum { CACHE_BYTES = 1 << 19 };     /* a b or product of at most so many needs no prefetch */

typedef struct product {
  const weft_tensor *places, *values, *b;
  weft_tensor *out;
  bool flip_a, flip_b;
  int64_t n, inner; /* n: number of entries; inner: rows of op(b) */
  bool prefetch_b, prefetch_out;
  bool by_rows; /* a piece of the loop is a part of the rows, else a column */
  row_parts parts;
  long_work work;
} product;

static inline int64_t entry_row(const product *p, int64_t i) { return weft__index_at(p->places, 2 * i + p->flip_a); }
static inline int64_t entry_column(const product *p, int64_t i) {
  return weft__index_at(p->places, 2 * i + !p->flip_a);
}

/* Loads what entry i needs of columns [begin, end), if its row belongs to the part. */
static void prefetch_entry(const product *p, int64_t i, int64_t part, int64_t begin, int64_t end) {
  const int64_t row = entry_row(p, i), columns = p->out->shape.dim[1];
  const size_t size = weft__dtype_size(p->out->dtype), bytes = (size_t)(end - begin) * size;
  if (!weft__row_parts_owns(p->parts, part, row)) return;
  if (p->prefetch_b) weft__prefetch((char *)p->b->data + (size_t)(entry_column(p, i) * columns + begin) * size, bytes);
  if (p->prefetch_out) weft__prefetch((char *)p->out->data + (size_t)(row * columns + begin) * size, bytes);
}

/* Returns how many entries are multiplied with so many columns between two checks of the step. */
static int64_t entries_per_check(int64_t columns) {
  return columns < LONG_WORK_PIECE ? LONG_WORK_PIECE / (columns + 1) + 1 : 1;
}

/* out[row, c] += value b[at, c], or b[c, at], for the rows of one part and the columns [begin, end). */
#define MULTIPLY(name, type)                                                                                           \
  static inline __attribute__((always_inline)) void name##_row(type *restrict out, const type *restrict b,             \
                                                               type factor, int64_t n) {                               \
    for (int64_t c = 0; c < n; c++) out[c] += factor * b[c];                                                           \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name##_part(product *p, int64_t part, int64_t begin, int64_t end) {                   \
    const int64_t columns = p->out->shape.dim[1];                                                                      \
    const bool prefetch = p->prefetch_b || p->prefetch_out;                                                            \
    const type *b = TENSOR_DATA(p->b, type), *values = TENSOR_DATA(p->values, type);                                   \
    type *out = TENSOR_DATA(p->out, type);                                                                             \
    const int64_t each = entries_per_check(end - begin);                                                               \
    for (int64_t i = 0, stop; i < p->n && !weft__long_work_over(&p->work); i = stop) {                                 \
      stop = p->n - i < each ? p->n : i + each;                                                                        \
      for (int64_t e = i; e < stop; e++) {                                                                             \
        const int64_t row = entry_row(p, e);                                                                           \
        if (prefetch && e + PREFETCH_ROWS < p->n) prefetch_entry(p, e + PREFETCH_ROWS, part, begin, end);              \
        if (!weft__row_parts_owns(p->parts, part, row)) continue;                                                      \
        const int64_t at = entry_column(p, e);                                                                         \
        if (!p->flip_b)                                                                                                \
          name##_row(out + row * columns + begin, b + at * columns + begin, values[e], end - begin);                   \
        else                                                                                                           \
          for (int64_t c = begin; c < end; c++) out[row * columns + c] += values[e] * b[at + c * p->inner];            \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  static void name(void *arg, int64_t begin, int64_t end) {                                                            \
    product *p = arg;                                                                                                  \
    if (!p->by_rows) name##_part(p, 0, begin, end);                                                                    \
    for (int64_t part = begin; p->by_rows && part < end; part++) name##_part(p, part, 0, p->out->shape.dim[1]);        \
  }
MULTIPLY(multiply_float, float)
MULTIPLY(multiply_double, double)
MULTIPLY(multiply_int32, uint32_t) /* sums and products wrap around, as in TensorFlow */

static pool_loop *loop_of(weft_dtype type) {
  return type == WEFT_FLOAT    ? multiply_float
         : type == WEFT_DOUBLE ? multiply_double
         : type == WEFT_INT32  ? multiply_int32
                               : NULL;
}

/* Returns the first number of n places that is not in its axis, or 2 n. */
#define DEFINE_FIRST_OUTSIDE(T)                                                                                        \
  static int64_t first_outside_##T(const T *at, int64_t n, const int64_t *dims) {                                      \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      if (at[2 * i] < 0 || at[2 * i] >= dims[0]) return 2 * i;                                                         \
      if (at[2 * i + 1] < 0 || at[2 * i + 1] >= dims[1]) return 2 * i + 1;                                             \
    }                                                                                                                  \
    return 2 * n;                                                                                                      \
  }
DEFINE_FIRST_OUTSIDE(int32_t)
DEFINE_FIRST_OUTSIDE(int64_t)

static weft_err sparse_matmul_check(kernel *k) {
  const shape *places = &k->in[0]->shape, *values = &k->in[1]->shape, *dims = &k->in[2]->shape, *b = &k->in[3]->shape;
  if (b->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'b' is not a matrix: %s", weft__shape_text(b));
  if (dims->rank != 1 || dims->dim[0] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'a_shape' must have 2 elements: %s",
                             weft__shape_text(dims));
  if (values->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor 'a_values' is not a vector: %s",
                             weft__shape_text(values));
  if (places->rank != 2 || places->dim[0] != values->dim[0] || places->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Tensor 'a_indices' must be a matrix of %lld by 2, but has shape %s",
                             (long long)values->dim[0], weft__shape_text(places));
  const int64_t *d = TENSOR_DATA(k->in[2], int64_t);
  const int64_t n = places->dim[0];
  const int64_t i = k->in[0]->dtype == WEFT_INT64 ? first_outside_int64_t(TENSOR_DATA(k->in[0], int64_t), n, d)
                                                  : first_outside_int32_t(TENSOR_DATA(k->in[0], int32_t), n, d);
  if (i < 2 * n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s (%lld) from index[%lld,%lld] out of bounds (>=%lld)",
                             i % 2 ? "k" : "m", (long long)weft__index_at(k->in[0], i), (long long)(i / 2),
                             (long long)(i % 2), (long long)d[i % 2]);
  return d[0] < 0 || d[1] < 0 ? weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a_shape [%lld,%lld] is none",
                                                  (long long)d[0], (long long)d[1])
                              : WEFT_OK;
}

static void clear_bytes(void *arg, int64_t begin, int64_t end) {
  memset((char *)arg + begin, 0, (size_t)(end - begin));
}

static weft_err matmul_run(kernel *k, product *p, pool_loop *loop) {
  const int64_t columns = p->out->shape.dim[1], bytes = (int64_t)weft__tensor_bytes(p->out);
  pool *threads = p->n < SERIAL_PRODUCTS / columns || !k->step ? NULL : k->step->intra;
  const int n = weft__pool_threads(threads);
  const size_t row = (size_t)columns * weft__dtype_size(p->out->dtype);
  p->by_rows = row / (size_t)n < WIDE_BYTES;
  p->prefetch_b = !p->flip_b && weft__tensor_bytes(p->b) > CACHE_BYTES;
  p->prefetch_out = p->flip_a && bytes > CACHE_BYTES;
  p->parts = weft__row_parts(p->by_rows ? n : 1, row);
  weft__pool_loop(bytes < 1 << 18 ? NULL : threads, bytes, 1 << 16, clear_bytes, p->out->data);
  p->work = weft__long_work(k);
  weft__pool_loop(threads, p->by_rows ? n : columns, p->by_rows ? 1 : columns / n, loop, p);
  return weft__kernel_in(k, weft__long_work_end(&p->work));
}

static weft_err sparse_matmul_cpu(kernel *k) {
  product p = {.places = k->in[0], .values = k->in[1], .b = k->in[3]};
  p.flip_a = weft__node_bool(k->node, "adjoint_a", false), p.flip_b = weft__node_bool(k->node, "adjoint_b", false);
  pool_loop *loop = loop_of(p.values->dtype);
  if (!loop)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "products of %s are not supported",
                             weft__dtype_short(p.values->dtype));
  WEFT_TRY(sparse_matmul_check(k));
  const int64_t *d = TENSOR_DATA(k->in[2], int64_t), *b = p.b->shape.dim;
  const int64_t inner = d[!p.flip_a], columns = b[!p.flip_b];
  if (inner != b[p.flip_b])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did you "
                             "forget a transpose?",
                             (long long)inner, (long long)b[p.flip_b]);
  p.n = p.values->shape.dim[0], p.inner = inner;
  if (!(p.out = weft__out(k, 0, &SHAPE2(d[p.flip_a], columns))))
    return weft__out_refused(&SHAPE2(d[p.flip_a], columns));
  return columns > 0 ? matmul_run(k, &p, loop) : WEFT_OK;
}

static weft_err sparse_matmul_infer(infer *s) {
  shape b, dims;
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 2, &dims));
  WEFT_TRY(weft__infer_rank(s, 3, 2, &b));
  const bool flip_a = weft__node_bool(s->node, "adjoint_a", false),
             flip_b = weft__node_bool(s->node, "adjoint_b", false);
  const int64_t inner = dims.rank == 2 ? dims.dim[!flip_a] : -1, rows = b.dim[flip_b];
  if (inner >= 0 && rows >= 0 && inner != rows)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)inner, (long long)rows);
  s->out[0] = SHAPE2(dims.rank == 2 ? dims.dim[flip_a] : -1, b.dim[!flip_b]);
  return WEFT_OK;
}

/* The gradient by b is the transposed sparse matrix times dy.  The gradient by a value is the dot product of a row
 * of dy and a row of b. */
static weft_err matmul_grad(backprop *b) {
  weft_graph *g = b->graph;
  const bool flip_a = weft__node_bool(b->node, "adjoint_a", false),
             flip_b = weft__node_bool(b->node, "adjoint_b", false);
  weft_out zero = weft__b_scalar(g, WEFT_INT32, 0), one = weft__b_scalar(g, WEFT_INT32, 1);
  weft_out swap = weft__b_ints(g, (int64_t[]){1, 0}, 2), in[] = {b->in[0], b->in[1], b->in[2], b->dout[0]};
  const attr flags[] = {A_BOOL("adjoint_a", !flip_a), A_BOOL("adjoint_b", false)};
  weft_out db = weft__b_node(g, "SparseTensorDenseMatMul", NULL, 4, in, 2, flags);
  const attr apart[] = {A_INT("num", 2), A_INT("axis", 1)};
  weft_out parts = weft__b_node(g, "Unpack", NULL, 1, b->in, 2, apart);
  weft_out rows = weft__b_slot(parts, flip_a), columns = weft__b_slot(parts, !flip_a);
  weft_out dense = flip_b ? weft__b_transpose(g, b->in[3], swap) : b->in[3];
  weft_out joined = weft__b_mul(g, weft__b_gather(g, b->dout[0], rows, zero), weft__b_gather(g, dense, columns, zero));
  b->din[1] = GRAD_DENSE(weft__b_sum(g, joined, one, false));
  b->din[3] = GRAD_DENSE(flip_b ? weft__b_transpose(g, db, swap) : db);
  return WEFT_OK;
}

static const op_case matmul_cases[] = {
    {"i64[2,2] 0 1 2 0; f32[2] 1 2; i64[2] 3 2; f32[2,2] 1 2 3 4", "f32[3,2] 3 4 0 0 2 4", NULL, CASE_FIXED_TYPE},
    {"i32[3,2] 0 1 2 0 0 1; f64[3] rand; i64[2] 3 2; f64[3,5] rand", NULL, "adjoint_a=true", CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; f64[2] 1 2; i64[2] 3 2; f64[4,2] rand", NULL, "adjoint_b=true", CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; f64[2] 1 2; i64[2] 3 2; f64[4,3] rand", NULL, "adjoint_a=true adjoint_b=true", CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; i32[2] 1 2; i64[2] 3 2; i32[2,2] 1 2 3 4", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[3000,2] 1; f64[3000] rand; i64[2] 3 2; f64[2,24] rand", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i32[3000,2] 1; f64[3000] rand; i64[2] 3 40000; f64[3,24] rand", NULL, "adjoint_a=true",
     CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[2,2] 0 1 2 0; f64[2] 1 2; i64[2] 3 2; f64[2,40000] rand", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[0,2] 0; f32[0] 0; i64[2] 3 2; f32[2,0] 0", NULL, NULL, CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i64[2,2] 0 1 7 0; f32[2] 1 2; i64[2] 3 2; f32[2,2] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i64[2,2] 0 1 2 0; f32[2] 1 2; i64[2] 3 2; f32[1,2] 0", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

OPS(sparse_matmul) = {
    {"SparseTensorDenseMatMul(a_indices:Tindices, a_values:T, a_shape:int64, b:T) -> (product:T) | T:type "
     "Tindices:type{int32,int64}=int64 adjoint_a:bool=false adjoint_b:bool=false",
     "A sparse matrix times a dense one.", .infer = sparse_matmul_infer, .cpu = sparse_matmul_cpu, .grad = matmul_grad,
     .cases = matmul_cases},
    {0},
};
