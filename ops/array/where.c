/* where.c - Where: the coordinates of elements that are true or not zero. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/kernel.h"
#include "graph/op.h"

static weft_err where_infer(infer *s) {
  s->out[0] = SHAPE2(-1, s->in[0].rank < 0 ? -1 : s->in[0].rank);
  return WEFT_OK;
}

/* Decides whether an element is zero by its bits.  Integers and bools have one zero; floats have two, which differ
 * in the sign bit. */
typedef struct nonzero {
  weft_dtype type;
  const void *data;
} nonzero;

static bool is_set(const nonzero *z, int64_t i) {
  switch (z->type) {
  case WEFT_BOOL:
  case WEFT_INT8:
  case WEFT_UINT8:
  case WEFT_QINT8:
  case WEFT_QUINT8: return ((const uint8_t *)z->data)[i] != 0;
  case WEFT_HALF:
  case WEFT_BFLOAT16: return (((const uint16_t *)z->data)[i] & 0x7fff) != 0;
  case WEFT_INT16:
  case WEFT_UINT16:
  case WEFT_QINT16:
  case WEFT_QUINT16: return ((const uint16_t *)z->data)[i] != 0;
  case WEFT_INT32:
  case WEFT_UINT32:
  case WEFT_QINT32: return ((const uint32_t *)z->data)[i] != 0;
  case WEFT_INT64:
  case WEFT_UINT64: return ((const uint64_t *)z->data)[i] != 0;
  case WEFT_FLOAT: return ((const float *)z->data)[i] != 0;
  case WEFT_DOUBLE: return ((const double *)z->data)[i] != 0;
  case WEFT_COMPLEX64: return ((const float *)z->data)[2 * i] != 0 || ((const float *)z->data)[2 * i + 1] != 0;
  default: return ((const double *)z->data)[2 * i] != 0 || ((const double *)z->data)[2 * i + 1] != 0;
  }
}

WEFT_TARGET_CLONES static int64_t count_bytes(const uint8_t *p, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += p[i] != 0;
  return sum;
}

static int64_t count_set(const nonzero *z, int64_t n) {
  if (z->type == WEFT_BOOL) return count_bytes(z->data, n);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += is_set(z, i);
  return sum;
}

static weft_err where_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (s->rank == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "WhereOp : Unhandled input dimensions: 0");
  nonzero z = {x->dtype, x->data};
  int64_t n = weft__tensor_count(x), at[WEFT_MAX_RANK] = {0};
  int64_t found = count_set(&z, n);
  weft_tensor *y = weft__out(k, 0, &SHAPE2(found, s->rank));
  if (!y) return WEFT_OOM;
  int64_t *to = y->data;
  for (int64_t i = 0; i < n && found > 0; i++) {
    if (is_set(&z, i)) {
      memcpy(to, at, (size_t)s->rank * sizeof *to);
      to += s->rank;
      found--;
    }
    for (int d = s->rank - 1; d >= 0 && ++at[d] == s->dim[d]; d--) at[d] = 0;
  }
  /* Shared memory may have changed after the count.  Clear all rows, so that none contains uninitialized memory. */
  memset(to, 0, (size_t)(found * s->rank) * sizeof *to);
  return WEFT_OK;
}

static const op_case where_cases[] = {
    {"bool[2,2] true false true true", "i64[3,2] 0 0 1 0 1 1", NULL, 0},
    {"bool[4] false", "i64[0,1] 0", NULL, 0},
    {"f32[4] 0 -1 nan -0", "i64[2,1] 1 2", NULL, CASE_NO_GRAD},
    {"i32[2,3,2] below:2", NULL, NULL, 0},
    {"u8[3] 0 1 2", "i64[2,1] 1 2", NULL, 0},
    {"c64[2] 0 1", "i64[1,1] 1", NULL, CASE_NO_GRAD},
    {"f16[2] -0 1", "i64[1,1] 1", NULL, CASE_NO_GRAD},
    {"f64[0,3] 0", "i64[0,2] 0", NULL, CASE_NO_GRAD},
    {"i64[30,40] below:3", NULL, NULL, 0},
    {"bool[] true", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(where) = {
    {"Where(input:T) -> (index:int64) | "
     "T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64,bool}=bool",
     "The indices of the elements that are true or not zero.", .infer = where_infer, .cpu = where_cpu,
     .cases = where_cases, .amp = AMP_CLEAR},
    {0},
};
