/* random.c - RandomUniform, RandomUniformInt, RandomStandardNormal, TruncatedNormal.
 *
 * The numbers are TensorFlow's for the same seeds.  One Philox block gives four outputs in order (two if an output
 * needs 64 bits); each run reserves 256 blocks per output.  A truncated normal may need more than one block for its
 * group of outputs, so groups begin 64 blocks apart for each output in them. */
#include "base/alloc.h"
#include "base/target_clones.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "kernels/work/long_work.h"
#include "ops/random/random.h"
#include "kernels/simd/widen.h"
#include "tensor/tensor.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 64, RESERVED = 256, MAX_WORDS = 4 * CHUNK };

typedef struct fill fill;
/* Converts the words of `blocks` blocks to outputs. */
typedef void convert(const fill *f, const uint32_t *words, int64_t blocks, void *out);

struct fill {
  philox gen;
  convert *convert;
  char *out;
  int64_t n; /* number of outputs */
  int group; /* outputs per block */
  size_t size;
  int64_t low; /* lower bound of integers */
  uint64_t range;
};

/* ---- from words to numbers ---- */

WEFT_TARGET_CLONES static void uniform_float(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  float *y = out;
  for (int64_t i = 0; i < 4 * blocks; i++) y[i] = weft__philox_to_float(w[i]);
}

WEFT_TARGET_CLONES static void uniform_double(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  double *y = out;
  for (int64_t i = 0; i < 2 * blocks; i++) y[i] = weft__philox_to_double(w[2 * i], w[2 * i + 1]);
}

static void uniform_half(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  uint16_t *y = out;
  for (int64_t i = 0; i < 4 * blocks; i++)
    y[i] = weft__half_from_float(weft__half_to_float((uint16_t)((w[i] & 0x3ffu) | 0x3c00u)) - 1.0f);
}

static void uniform_bfloat16(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  uint16_t *y = out;
  for (int64_t i = 0; i < 4 * blocks; i++)
    y[i] = weft__bfloat16_from_float(weft__bfloat16_to_float((uint16_t)((w[i] & 0x7fu) | 0x3f80u)) - 1.0f);
}

static void uniform_int32(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  uint32_t *y = out;
  const uint32_t low = (uint32_t)f->low, range = (uint32_t)f->range;
  for (int64_t i = 0; i < 4 * blocks; i++) y[i] = low + w[i] % range;
}

static void uniform_int64(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  uint64_t *y = out;
  for (int64_t i = 0; i < 2 * blocks; i++)
    y[i] = (uint64_t)f->low + (w[2 * i] | (uint64_t)w[2 * i + 1] << 32) % f->range;
}

/* Box-Muller: two words (or pairs of words) make two normal numbers. */
static void box_muller(const uint32_t w[2], float y[2]) {
  const float u = fmaxf(weft__philox_to_float(w[0]), 1e-7f), r = sqrtf(-2.0f * logf(u));
  const float angle = (float)(2.0 * M_PI * (double)weft__philox_to_float(w[1]));
  y[0] = sinf(angle) * r;
  y[1] = cosf(angle) * r;
}

static void normal_float(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  for (int64_t i = 0; i < 4 * blocks; i += 2) box_muller(w + i, (float *)out + i);
}

static void normal_double(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  for (int64_t i = 0; i < blocks; i++) weft__philox_to_normals(w + 4 * i, (double *)out + 2 * i);
}

static void normal_half(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  float y[MAX_WORDS];
  normal_float(f, w, blocks, y);
  weft__narrow(out, y, 4 * blocks, WEFT_HALF);
}

static void normal_bfloat16(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  float y[MAX_WORDS];
  normal_float(f, w, blocks, y);
  weft__narrow(out, y, 4 * blocks, WEFT_BFLOAT16);
}

/* ---- filling ---- */

/* Writes `blocks` groups from `first` on.  The last group of the tensor may be incomplete. */
static void random_put(const fill *f, const uint32_t *words, int64_t first, int64_t blocks, convert *fn) {
  const int64_t begin = first * f->group, room = f->n - begin;
  if (blocks * f->group <= room) {
    fn(f, words, blocks, f->out + (size_t)begin * f->size);
    return;
  }
  double whole[MAX_WORDS];
  fn(f, words, blocks, whole);
  memcpy(f->out + (size_t)begin * f->size, whole, (size_t)room * f->size);
}

static void fill_blocks(void *arg, int64_t begin, int64_t end) {
  const fill *f = arg;
  uint32_t words[MAX_WORDS];
  for (int64_t b = begin; b < end; b += CHUNK) {
    const int64_t blocks = end - b < CHUNK ? end - b : CHUNK;
    weft__philox_blocks(&f->gen, (uint64_t)b, 1, blocks, words);
    random_put(f, words, b, blocks, f->convert);
  }
}

/* Completes a truncated group: draws further blocks until it has `group` numbers within two standard deviations. */
static void truncate_float(const philox *gen, uint64_t block, float y[4]) {
  float kept[4];
  int n = 0;
  for (;; block++) {
    for (int i = 0; i < 4 && n < 4; i++)
      if (fabsf(y[i]) < 2.0f) kept[n++] = y[i];
    if (n == 4) break;
    uint32_t w[4];
    weft__philox_blocks(gen, block + 1, 1, 1, w);
    box_muller(w, y);
    box_muller(w + 2, y + 2);
  }
  memcpy(y, kept, sizeof kept);
}

static void truncate_double(const philox *gen, uint64_t block, double y[2]) {
  double kept[2];
  int n = 0;
  for (;; block++) {
    for (int i = 0; i < 2 && n < 2; i++)
      if (fabs(y[i]) < 2.0) kept[n++] = y[i];
    if (n == 2) break;
    uint32_t w[4];
    weft__philox_blocks(gen, block + 1, 1, 1, w);
    weft__philox_to_normals(w, y);
  }
  memcpy(y, kept, sizeof kept);
}

/* Copies finished numbers; random_put() calls it for a truncated normal. */
static void store_float(const fill *f, const uint32_t *y, int64_t blocks, void *out) {
  memcpy(out, y, (size_t)(blocks * f->group) * f->size);
}

static void store_half(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  weft__narrow(out, (const float *)(const void *)w, 4 * blocks, WEFT_HALF);
}

static void store_bfloat16(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  (void)f;
  weft__narrow(out, (const float *)(const void *)w, 4 * blocks, WEFT_BFLOAT16);
}

static void fill_truncated(void *arg, int64_t begin, int64_t end) {
  const fill *f = arg;
  const uint64_t stride = (uint64_t)f->group * RESERVED / 4;
  uint32_t words[MAX_WORDS];
  union {
    float f[MAX_WORDS];
    double d[MAX_WORDS / 2];
    uint32_t bits[MAX_WORDS];
  } y;
  for (int64_t b = begin; b < end; b += CHUNK) {
    const int64_t blocks = end - b < CHUNK ? end - b : CHUNK;
    weft__philox_blocks(&f->gen, (uint64_t)b * stride, stride, blocks, words);
    if (f->size == 8)
      normal_double(f, words, blocks, y.d);
    else
      normal_float(f, words, blocks, y.f);
    for (int64_t i = 0; i < blocks; i++)
      if (f->size == 8)
        truncate_double(&f->gen, (uint64_t)(b + i) * stride, y.d + 2 * i);
      else
        truncate_float(&f->gen, (uint64_t)(b + i) * stride, y.f + 4 * i);
    random_put(f, y.bits, b, blocks, f->convert);
  }
}

/* ---- kernels ---- */

typedef struct family {
  pool_loop *fill;
  convert *of_half, *of_bfloat16, *of_float, *of_double;
  int64_t cost; /* nanoseconds per block */
} family;

static weft_err random_shape(const kernel *k, int at, shape *s) {
  int64_t dim[WEFT_MAX_RANK];
  int n = 0;
  WEFT_TRY(weft__kernel_vector(k, at, "shape"));
  WEFT_TRY(weft__kernel_ints(k, at, "shape", dim, &n));
  for (int i = 0; i < n; i++)
    if (dim[i] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dimension %lld must be >= 0", (long long)dim[i]);
  return weft__shape_make(s, n, dim);
}

/* Returns the bits unchanged. */
static void whole_words(const fill *f, const uint32_t *w, int64_t blocks, void *out) {
  memcpy(out, w, (size_t)(blocks * f->group) * f->size);
}

static const family families[] = {
    [RANDOM_UNIFORM] = {fill_blocks, uniform_half, uniform_bfloat16, uniform_float, uniform_double, 4},
    [RANDOM_NORMAL] = {fill_blocks, normal_half, normal_bfloat16, normal_float, normal_double, 80},
    [RANDOM_TRUNCATED] = {fill_truncated, store_half, store_bfloat16, store_float, store_float, 120},
};

static convert *random_converter(random_kind kind, weft_dtype type) {
  const size_t size = weft__dtype_size(type);
  if (kind == RANDOM_BITS) return whole_words;
  if (kind == RANDOM_BELOW) return size == 8 ? uniform_int64 : uniform_int32;
  switch (type) {
  case WEFT_HALF: return families[kind].of_half;
  case WEFT_BFLOAT16: return families[kind].of_bfloat16;
  case WEFT_FLOAT: return families[kind].of_float;
  case WEFT_DOUBLE: return families[kind].of_double;
  default: return NULL;
  }
}

weft_err weft__random_fill(kernel *k, random_kind kind, const philox *gen, int64_t low, uint64_t range) {
  return weft__random_fill_at(k, 0, kind, gen, low, range);
}

weft_err weft__random_fill_at(kernel *k, int at, random_kind kind, const philox *gen, int64_t low, uint64_t range) {
  const weft_dtype type = weft__dtype_base(k->node->out_type[0]);
  const bool whole = kind == RANDOM_BELOW || kind == RANDOM_BITS;
  fill f = {.convert = random_converter(kind, type), .low = low, .range = range};
  shape s;
  if (!f.convert) return weft__kernel_no_type(k, type);
  WEFT_TRY(random_shape(k, at, &s));
  weft_tensor *y = weft__out(k, 0, &s);
  if (!y) return weft__out_refused(&s);
  f.out = y->data;
  f.n = weft__tensor_count(y);
  f.size = weft__dtype_size(type);
  f.group = f.size == 8 ? 2 : 4;
  if (f.n == 0) return WEFT_OK;
  if (gen)
    f.gen = *gen;
  else
    WEFT_TRY(weft__random_take(k, (uint64_t)f.n * RESERVED, &f.gen));
  pool_loop *loop = whole ? fill_blocks : families[kind].fill;
  return weft__long_loop(k, (f.n + f.group - 1) / f.group, whole ? 20 : families[kind].cost, loop, &f);
}

static weft_err random_uniform_cpu(kernel *k) { return weft__random_fill(k, RANDOM_UNIFORM, NULL, 0, 0); }
static weft_err random_normal_cpu(kernel *k) { return weft__random_fill(k, RANDOM_NORMAL, NULL, 0, 0); }
static weft_err random_truncated_cpu(kernel *k) { return weft__random_fill(k, RANDOM_TRUNCATED, NULL, 0, 0); }

static weft_err uniform_int_cpu(kernel *k) {
  shape s;
  WEFT_TRY(random_shape(k, 0, &s));
  for (int i = 1; i < 3; i++)
    if (k->in[i]->shape.rank != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be 0-D, got shape %s", i == 1 ? "minval" : "maxval",
                               weft__shape_text(&k->in[i]->shape));
  const int64_t low = weft__tensor_int(k->in[1], 0), high = weft__tensor_int(k->in[2], 0);
  if (low >= high && weft__shape_count(&s) != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Need minval < maxval, got %lld >= %lld", (long long)low,
                             (long long)high);
  return weft__random_fill(k, RANDOM_BELOW, NULL, low, (uint64_t)high - (uint64_t)low);
}

static weft_err random_infer(infer *s) {
  WEFT_TRY(weft__infer_shape_value(s, 0, &s->out[0]));
  shape unused;
  for (int i = 1; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, &unused));
  return WEFT_OK;
}

static const op_case random_cases[] = {
    {"i32[2] 3 5", NULL, "dtype=float seed=5 seed2=9", CASE_RANDOM},
    {"i32[1] 1001", NULL, "dtype=double seed=87654321 seed2=2", CASE_RANDOM},
    {"i64[3] 2 7 19", NULL, "dtype=half seed=12345678901 seed2=-4", CASE_RANDOM},
    {"i32[2] 33 9", NULL, "dtype=bfloat16 seed=1", CASE_RANDOM},
    {"i32[0]", NULL, "dtype=float seed=3 seed2=3", CASE_RANDOM},
    {"i32[2] 0 4", NULL, "dtype=float seed=3 seed2=3", CASE_RANDOM},
    {"i32[2] 3 -1", "error INVALID_ARGUMENT", "dtype=float", CASE_RANDOM},
    {0},
};
static const op_case int_cases[] = {
    {"i32[2] 3 5; i32[] -7; i32[] 100", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"i32[1] 77; i64[] -7; i64[] 1000000000000000", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"i64[1] 5; i32[] -2147483648; i32[] 2147483647", NULL, "seed=0 seed2=9", CASE_RANDOM},
    {"i32[1] 0; i32[] 3; i32[] 3", NULL, "seed=1", CASE_RANDOM},
    {"i32[1] 2; i32[] 3; i32[] 3", "error INVALID_ARGUMENT", "seed=1", CASE_RANDOM},
    {0},
};

#define DRAWS(cpu_, cases_)                                                                                            \
  OP_SEED, .infer = random_infer, .cpu = (cpu_), .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, \
           .cases = (cases_)

OPS(random) = {
    {"RandomUniform(shape:T) -> (output:dtype) | seed:int=0 seed2:int=0 dtype:type{half,bfloat16,float,double} "
     "T:type{int32,int64} ; stateful",
     "Numbers spread evenly over [0, 1).", DRAWS(random_uniform_cpu, random_cases), .no_grad = true},
    {"RandomUniformInt(shape:T, minval:Tout, maxval:Tout) -> (output:Tout) | seed:int=0 seed2:int=0 "
     "Tout:type{int32,int64} T:type{int32,int64} ; stateful",
     "Integers spread evenly over [minval, maxval).", DRAWS(uniform_int_cpu, int_cases)},
    {"RandomStandardNormal(shape:T) -> (output:dtype) | seed:int=0 seed2:int=0 dtype:type{half,bfloat16,float,double} "
     "T:type{int32,int64} ; stateful",
     "Normal numbers of mean 0 and deviation 1.", DRAWS(random_normal_cpu, random_cases), .no_grad = true},
    {"TruncatedNormal(shape:T) -> (output:dtype) | seed:int=0 seed2:int=0 dtype:type{half,bfloat16,float,double} "
     "T:type{int32,int64} ; stateful",
     "Normal numbers, those beyond two deviations drawn again.", DRAWS(random_truncated_cpu, random_cases),
     .no_grad = true},
    {0},
};
