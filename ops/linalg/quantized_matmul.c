/* quantized_matmul.c - QuantizedMatMul: a product of matrices of quantized integers, summed in 32 bits. */
#include "base/alloc.h"
#include "kernels/work/long_work.h"
#include "ops/math/quantized.h"
#include <string.h>

weft_err weft__quantized_matmul_infer(infer *s) {
  shape a, b;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &a));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &b));
  const bool ta = weft__node_bool(s->node, "transpose_a", false), tb = weft__node_bool(s->node, "transpose_b", false);
  const int64_t left = a.dim[ta ? 0 : 1], right = b.dim[tb ? 1 : 0];
  if (left >= 0 && right >= 0 && left != right)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)left, (long long)right);
  s->out[0] = SHAPE2(a.dim[ta ? 1 : 0], b.dim[tb ? 0 : 1]);
  return WEFT_OK;
}

static weft_err quantized_matmul_infer(infer *s) {
  WEFT_TRY(weft__quantized_matmul_infer(s));
  WEFT_TRY(weft__quantized_infer(s, 2, 1));
  return weft__quantized_infer(s, 4, 1);
}

typedef struct quantized_matmul_work {
  const uint8_t *a, *b;
  uint32_t *y; /* sums wrap around, as TensorFlow's do */
  int64_t depth, columns;
  int64_t a_row, a_inner, b_inner, b_column; /* strides in elements */
  uint32_t zero_a, zero_b;
} quantized_matmul_work;

static void matmul_rows(void *arg, int64_t begin, int64_t end) {
  const quantized_matmul_work *j = arg;
  memset(j->y + begin * j->columns, 0, (size_t)((end - begin) * j->columns) * sizeof *j->y);
  for (int64_t r = begin; r < end; r++)
    for (int64_t i = 0; i < j->depth; i++) {
      const uint32_t a = j->a[r * j->a_row + i * j->a_inner] - j->zero_a;
      const uint8_t *b = j->b + i * j->b_inner;
      for (int64_t c = 0; c < j->columns; c++) j->y[r * j->columns + c] += a * (b[c * j->b_column] - j->zero_b);
    }
}

static weft_err matmul_check(const kernel *k, const quantized *a, const quantized *b) {
  for (int i = 0; i < 2; i++) {
    if (k->in[i]->dtype != WEFT_QUINT8) return weft__kernel_no_type(k, k->in[i]->dtype);
    if (k->in[i]->shape.rank != 2)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] is not a matrix: %s", i,
                               weft__shape_text(&k->in[i]->shape));
  }
  if (k->node->out_type[0] != WEFT_QINT32) return weft__kernel_no_type(k, k->node->out_type[0]);
  if (!(a->max > a->min))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "max_a must be larger than min_a: %g, %g", (double)a->max,
                             (double)a->min);
  if (!(b->max > b->min))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "max_b must be larger than min_b: %g, %g", (double)b->max,
                             (double)b->min);
  return WEFT_OK;
}

static weft_err quantized_matmul_cpu(kernel *k) {
  quantized a, b, y;
  float min, max;
  WEFT_TRY(weft__quantized_read(k, 0, 2, &a));
  WEFT_TRY(weft__quantized_read(k, 1, 4, &b));
  WEFT_TRY(matmul_check(k, &a, &b));
  const bool ta = weft__node_bool(k->node, "transpose_a", false), tb = weft__node_bool(k->node, "transpose_b", false);
  const int64_t *da = k->in[0]->shape.dim, *db = k->in[1]->shape.dim, rows = da[ta ? 1 : 0];
  quantized_matmul_work j = {.depth = da[ta ? 0 : 1], .columns = db[tb ? 0 : 1]};
  if (j.depth != db[tb ? 1 : 0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: %s, In[1]: %s",
                             weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  weft__quantized_product(&a, &b, &min, &max);
  WEFT_TRY(weft__quantized_write(k, 0, min, max, &y));
  const shape s = SHAPE2(rows, j.columns);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (weft__tensor_count(out) == 0) return WEFT_OK;
  j.a = TENSOR_DATA(k->in[0], uint8_t), j.b = TENSOR_DATA(k->in[1], uint8_t), j.y = TENSOR_DATA(out, uint32_t);
  j.a_row = ta ? 1 : da[1], j.a_inner = ta ? da[1] : 1, j.b_inner = tb ? 1 : db[1], j.b_column = tb ? db[1] : 1;
  j.zero_a = (uint32_t)weft__quantized_near(&a, 0), j.zero_b = (uint32_t)weft__quantized_near(&b, 0);
  return weft__long_loop(k, rows, j.depth * j.columns / 2 + 1, matmul_rows, &j);
}

#define RANGES "f32[] 0; f32[] 255; f32[] 0; f32[] 255"
#define FULL "f32[] -2147483648; f32[] 2147483648"

static const op_case matmul_cases[] = {
    {"qu8[2,2] 1 2 3 4; qu8[2,1] 10 100; " RANGES, "qi32[2,1] 210 430; " FULL, NULL, CASE_NO_PARITY},
    {"qu8[2,2] 1 2 3 4; qu8[1,2] 10 100; " RANGES, "qi32[2,1] 310 420; " FULL, "transpose_a=true transpose_b=true",
     CASE_NO_PARITY},
    {"qu8[2,0]; qu8[0,2]; " RANGES, "qi32[2,2] 0; " FULL, NULL, CASE_NO_PARITY},
    {"qu8[1,1] 1; qu8[1,1] 1; f32[] 1; f32[] 1; f32[] 0; f32[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"qu8[1,2] 1; qu8[1,1] 1; " RANGES, "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

#define INTEGER "type{qint8,quint8,qint32,qint16,quint16}"

OPS(quantized_matmul) = {
    {"QuantizedMatMul(a:T1, b:T2, min_a:float, max_a:float, min_b:float, max_b:float) -> (out:Toutput, min_out:float, "
     "max_out:float) | T1:" INTEGER " T2:" INTEGER " Toutput:" INTEGER
     "=qint32 transpose_a:bool=false transpose_b:bool=false Tactivation:" INTEGER "=quint8",
     "The product of two matrices of quantized integers.", .infer = quantized_matmul_infer, .cpu = quantized_matmul_cpu,
     .cases = matmul_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
