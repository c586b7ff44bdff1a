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

static bool where_is_set(const nonzero *z, int64_t i) {
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

enum { CHUNK = 512, SHORT_ROW = 16 }; /* elements */

#define FLAGS(name, type)                                                                                              \
  WEFT_TARGET_CLONES static void name(uint8_t *restrict flag, const void *data, int64_t first, int64_t n) {            \
    const type *restrict x = (const type *)data + first;                                                               \
    for (int64_t i = 0; i < n; i++) flag[i] = x[i] != 0;                                                               \
  }
FLAGS(flags_8, uint8_t)
FLAGS(flags_32, uint32_t)
FLAGS(flags_64, uint64_t)
FLAGS(flags_float, float)
FLAGS(flags_double, double)

/* Sets flag[i] to 1 if element first + i is set, else to 0. */
static void get_flags(const nonzero *z, uint8_t *flag, int64_t first, int64_t n) {
  switch (z->type) {
  case WEFT_BOOL:
  case WEFT_INT8:
  case WEFT_UINT8: flags_8(flag, z->data, first, n); break;
  case WEFT_INT32:
  case WEFT_UINT32: flags_32(flag, z->data, first, n); break;
  case WEFT_INT64:
  case WEFT_UINT64: flags_64(flag, z->data, first, n); break;
  case WEFT_FLOAT: flags_float(flag, z->data, first, n); break;
  case WEFT_DOUBLE: flags_double(flag, z->data, first, n); break;
  default:
    for (int64_t i = 0; i < n; i++) flag[i] = where_is_set(z, first + i);
  }
}

WEFT_TARGET_CLONES static int64_t count_flags(const uint8_t *flag, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += flag[i];
  return sum;
}

static int64_t count_set(const nonzero *z, int64_t n) {
  uint8_t flag[CHUNK];
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t size = n - i < CHUNK ? n - i : CHUNK;
    get_flags(z, flag, i, size);
    sum += count_flags(flag, size);
  }
  return sum;
}

typedef struct coordinates {
  int64_t *to, left; /* where the next row of coordinates goes, and how many rows there is still room for */
  int64_t at[WEFT_MAX_RANK];
  int rank;
} coordinates;

/* Adds the elements with flags; the first has the last coordinate c->at[rank - 1].  Each element is stored, and the
 * next one overwrites it unless its flag is set: a branch would be mispredicted half of the time. */
static inline __attribute__((always_inline)) void add_flagged(coordinates *c, const uint8_t *flag, int64_t n,
                                                              const int rank) {
  const int64_t last = c->at[rank - 1];
  for (int64_t j = 0; j < n && c->left > 0;) {
    uint64_t eight;
    const int64_t stop = n - j < 8 ? n : j + 8;
    memcpy(&eight, flag + j, n - j < 8 ? 0 : sizeof eight);
    if (n - j >= 8 && eight == 0) {
      j = stop;
      continue;
    }
    int64_t *to = c->to, left = c->left;
    for (; j < stop && left > 0; j++) {
      for (int d = 0; d + 1 < rank; d++) to[d] = c->at[d];
      to[rank - 1] = last + j;
      to += flag[j] ? rank : 0;
      left -= flag[j];
    }
    c->to = to, c->left = left;
  }
}

static void where_add_row(coordinates *c, const nonzero *z, int64_t first, int64_t n) {
  uint8_t flag[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t size = n - i < CHUNK ? n - i : CHUNK;
    get_flags(z, flag, first + i, size);
    c->at[c->rank - 1] = i;
    switch (c->rank) {
    case 1: add_flagged(c, flag, size, 1); break;
    case 2: add_flagged(c, flag, size, 2); break;
    case 3: add_flagged(c, flag, size, 3); break;
    default: add_flagged(c, flag, size, c->rank);
    }
  }
  c->at[c->rank - 1] = 0;
}

static void where_add_element(coordinates *c) {
  memcpy(c->to, c->at, (size_t)c->rank * sizeof *c->to);
  c->to += c->rank;
  c->left--;
}

static weft_err where_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  if (s->rank == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "WhereOp : Unhandled input dimensions: 0");
  nonzero z = {x->dtype, x->data};
  const int64_t n = weft__tensor_count(x), found = count_set(&z, n), row = s->dim[s->rank - 1];
  weft_tensor *y = weft__out(k, 0, &SHAPE2(found, s->rank));
  if (!y) return WEFT_OOM;
  coordinates c = {.to = y->data, .left = found, .rank = s->rank};
  const int64_t stride = row >= SHORT_ROW ? row : 1; /* elements at a time */
  for (int64_t i = 0; i < n && c.left > 0; i += stride) {
    if (stride > 1)
      where_add_row(&c, &z, i, row);
    else if (where_is_set(&z, i))
      where_add_element(&c);
    for (int d = s->rank - (stride > 1 ? 2 : 1); d >= 0 && ++c.at[d] == s->dim[d]; d--) c.at[d] = 0;
  }
  /* Shared memory may have changed after the count.  Clear all rows, so that none contains uninitialized memory. */
  memset(c.to, 0, (size_t)(c.left * s->rank) * sizeof *c.to);
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
    {"bool[3,2,700] rand", NULL, NULL, 0},
    {"f32[2,1,2,2,33] below:2", NULL, NULL, CASE_NO_GRAD},
    {"i16[40] below:2", NULL, NULL, CASE_FIXED_TYPE},
    {"f64[1100] below:2", NULL, NULL, CASE_NO_GRAD},
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
