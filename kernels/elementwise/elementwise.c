/* elementwise.c - adds broadcasting, 16-bit floats and threads to plain loops.
 *
 * The output is computed in memory order, in blocks if a scratch buffer is needed.  Each operand has one of three
 * kinds: direct (laid out like the output), periodic (only trailing dimensions, repeated: a scalar has period 1, a
 * bias its length), or gathered (any other broadcast). */
#include "kernels/elementwise/elementwise.h"
#include "base/alloc.h"
#include "base/target_clones.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include <assert.h>

enum { FILL_LANES = 16 };

typedef enum operand_kind { DIRECT, TILE, ROW, GATHER } operand_kind;

typedef struct operand {
  operand_kind kind;
  weft_dtype widen; /* half or bfloat16 if it is widened to float; otherwise WEFT_INVALID */
  const char *data;
  size_t size;    /* bytes of an element in memory */
  int64_t period; /* TILE: several periods fit the scratch buffer; ROW: one period is longer */
  int64_t stride[WEFT_MAX_RANK];
} operand;

typedef struct elementwise_work {
  elem_loop *loop;
  const void *arg;
  int n_in, rank;
  int64_t count, dim[WEFT_MAX_RANK]; /* dimensions of the output, merged where every operand allows it */
  operand in[ELEM_MAX_IN];
  char *out;
  size_t out_size;
  weft_dtype narrow; /* like operand.widen, for the output */
} elementwise_work;

static weft_dtype as_float(weft_dtype t) { return weft__is_16bit(t) ? t : WEFT_INVALID; }

/* ---- laying operands out ---- */
#define FILL(T)                                                                                                        \
  do {                                                                                                                 \
    const T v = *(const T *)(const void *)src;                                                                         \
    for (int64_t i = 0; i < n; i++) ((T *)(void *)dst)[i] = v;                                                         \
  } while (0)

/* src may be the first element of dst */
static void elementwise_fill(char *dst, const char *src, size_t size, int64_t n) {
  if (size == 1) memset(dst, *(const unsigned char *)src, (size_t)n);
  if (size == 2) FILL(uint16_t);
  if (size == 4) FILL(uint32_t);
  if (size == 8) FILL(uint64_t);
  if (size == 16) FILL(double complex);
}

/* Repeats the first `period` elements of dst up to n. */
static void elementwise_repeat(char *dst, size_t size, int64_t period, int64_t n) {
  for (int64_t have = period; have < n;) {
    const int64_t more = have < n - have ? have : n - have;
    memcpy(dst + (size_t)have * size, dst, (size_t)more * size);
    have += more;
  }
}

/* Repeats each of `rows` elements of 4 bytes, `stride` apart, n times.  Writes whole vectors, so up to a vector less
 * one element behind the end. */
WEFT_TARGET_CLONES static void fill_rows_32(uint32_t *dst, const uint32_t *src, int64_t stride, int64_t rows,
                                            int64_t n) {
  typedef uint32_t lanes __attribute__((vector_size(64), aligned(4), may_alias));
  for (int64_t r = 0; r < rows; r++, dst += n, src += stride) {
    const lanes v = *src - (lanes){0};
    for (int64_t i = 0; i < n; i += FILL_LANES) *(lanes *)(void *)(dst + i) = v;
  }
}

/* Copies `rows` whole rows of the last axis, which lie along the axis before it, to dst, which is a scratch buffer. */
static void elementwise_gather_rows(const elementwise_work *j, const operand *o, const char *src, int64_t rows,
                                    char *dst) {
  const int last = j->rank - 1;
  const int64_t n = j->dim[last], apart = o->stride[last - 1];
  const size_t bytes = (size_t)n * o->size;
  if (apart == 0 && o->stride[last] != 0) {
    memcpy(dst, src, bytes);
    elementwise_repeat(dst, o->size, n, rows * n);
  } else if (o->stride[last] == 0 && o->size == sizeof(uint32_t)) {
    fill_rows_32((uint32_t *)(void *)dst, (const uint32_t *)(const void *)src, apart, rows, n);
  } else {
    for (int64_t r = 0; r < rows; r++, src += (size_t)apart * o->size, dst += bytes)
      if (o->stride[last] == 0)
        elementwise_fill(dst, src, o->size, n);
      else
        memcpy(dst, src, bytes);
  }
}

/* Copies the elements of o for output elements [i, i + n) to dst, a scratch buffer. */
static void elementwise_gather(const elementwise_work *j, const operand *o, int64_t i, int64_t n, char *dst) {
  int64_t at[WEFT_MAX_RANK], offset = 0;
  const int last = j->rank - 1;
  for (int d = last; d >= 0; i /= j->dim[d], d--) {
    at[d] = i % j->dim[d];
    offset += at[d] * o->stride[d];
  }
  while (n > 0) {
    const int64_t left = j->dim[last] - at[last], run = left < n ? left : n;
    const char *src = o->data + (size_t)offset * o->size;
    int64_t rows = last > 0 && at[last] == 0 ? n / j->dim[last] : 0;
    if (rows > 1) rows = rows < j->dim[last - 1] - at[last - 1] ? rows : j->dim[last - 1] - at[last - 1];
    if (rows > 1) {
      elementwise_gather_rows(j, o, src, rows, dst);
      at[last - 1] += rows - 1; /* and one below */
      offset += (rows - 1) * o->stride[last - 1];
      dst += (size_t)((rows - 1) * run) * o->size;
      n -= (rows - 1) * run;
    } else if (o->stride[last] == 0) {
      elementwise_fill(dst, src, o->size, run);
    } else {
      memcpy(dst, src, (size_t)run * o->size);
    }
    dst += (size_t)run * o->size;
    n -= run;
    at[last] += run;
    offset += run * o->stride[last];
    for (int d = last; d > 0 && at[d] == j->dim[d]; d--) {
      offset += o->stride[d - 1] - at[d] * o->stride[d];
      at[d] = 0;
      at[d - 1]++;
    }
  }
}

static int64_t tile_length(const operand *o, int64_t want) {
  const int64_t most = ELEM_BLOCK / o->period * o->period, need = (want + 2 * o->period - 1) / o->period * o->period;
  return need < most ? need : most;
}

/* Fills a scratch buffer with repetitions of the operand: enough for `want` elements from any phase, or until it is
 * full. */
static void make_tile(const operand *o, int64_t want, char *scratch) {
  size_t size = o->size;
  if (o->widen) {
    weft__widen((float *)(void *)scratch, (const uint16_t *)(const void *)o->data, o->period, o->widen);
    size = sizeof(float);
  } else {
    memcpy(scratch, o->data, (size_t)o->period * size);
  }
  if (o->period == 1)
    elementwise_fill(scratch, scratch, size, tile_length(o, want));
  else
    elementwise_repeat(scratch, size, o->period, tile_length(o, want));
}

static const void *with_widening(const operand *o, const char *src, int64_t n, char *scratch) {
  if (!o->widen) return src;
  weft__widen((float *)(void *)scratch, (const uint16_t *)(const void *)src, n, o->widen);
  return scratch;
}

/* Returns the elements of operand o for output elements [i, i + n), contiguous. */
static const void *block_of(const elementwise_work *j, const operand *o, int64_t i, int64_t n, char *scratch) {
  _Alignas(WEFT_ALIGN) char raw[ELEM_BLOCK * sizeof(uint16_t)];
  switch (o->kind) {
  case DIRECT: return with_widening(o, o->data + (size_t)i * o->size, n, scratch);
  case TILE: return scratch + (size_t)(i % o->period) * (o->widen ? sizeof(float) : o->size);
  case ROW: return with_widening(o, o->data + (size_t)(i % o->period) * o->size, n, scratch);
  default:
    elementwise_gather(j, o, i, n, o->widen ? raw : scratch);
    return with_widening(o, o->widen ? raw : scratch, n, scratch);
  }
}

/* Returns the number of elements from i on that are contiguous in o. */
static int64_t elementwise_reach(const operand *o, int64_t i, int64_t n, int64_t want) {
  int64_t most = n;
  if (o->kind == TILE) most = tile_length(o, want) - i % o->period;
  if (o->kind == ROW) most = o->period - i % o->period;
  return most < n ? most : n;
}

static bool needs_scratch(const operand *o) { return o->kind == TILE || o->kind == GATHER || o->widen; }

static void run_blocks(const elementwise_work *j, int64_t begin, int64_t end) {
  _Alignas(WEFT_ALIGN) char scratch[ELEM_MAX_IN][ELEM_BLOCK * sizeof(double complex)];
  _Alignas(WEFT_ALIGN) float result[ELEM_BLOCK];
  const void *in[ELEM_MAX_IN];
  bool blocked = j->narrow;
  for (int k = 0; k < j->n_in; k++) {
    blocked = blocked || needs_scratch(&j->in[k]);
    if (j->in[k].kind == TILE) make_tile(&j->in[k], end - begin, scratch[k]);
  }
  for (int64_t i = begin, n; i < end; i += n) {
    n = end - i;
    if (blocked && n > ELEM_BLOCK) n = ELEM_BLOCK;
    for (int k = 0; k < j->n_in; k++) n = elementwise_reach(&j->in[k], i, n, end - begin);
    for (int k = 0; k < j->n_in; k++) in[k] = block_of(j, &j->in[k], i, n, scratch[k]);
    char *z = j->out + (size_t)i * j->out_size;
    j->loop(j->narrow ? (void *)result : z, in, n, j->arg);
    if (j->narrow) weft__narrow((uint16_t *)(void *)z, result, n, j->narrow);
  }
}

static void run_piece(void *arg, int64_t begin, int64_t end) {
  const elementwise_work *j = arg;
  const int64_t last = end * ELEM_BLOCK;
  run_blocks(j, begin * ELEM_BLOCK, last < j->count ? last : j->count);
}

/* ---- planning ---- */

/* Returns true if two dimensions of the output can be merged: every operand is contiguous from one to the other. */
static bool axes_are_mergeable(const elementwise_work *j, int outer, int inner) {
  for (int k = 0; k < j->n_in; k++)
    if (j->in[k].stride[outer] != j->in[k].stride[inner] * j->dim[inner]) return false;
  return true;
}

static void merge_dims(elementwise_work *j) {
  int kept = 0;
  for (int d = 0; d < j->rank; d++) {
    if (j->dim[d] == 1) continue;
    int to = kept;
    if (kept > 0 && axes_are_mergeable(j, kept - 1, d)) to = kept - 1;
    j->dim[to] = to < kept ? j->dim[to] * j->dim[d] : j->dim[d];
    for (int k = 0; k < j->n_in; k++) j->in[k].stride[to] = j->in[k].stride[d];
    if (to == kept) kept++;
  }
  j->rank = kept;
}

static void set_strides(operand *o, const shape *in, const shape *out) {
  int64_t next = 1;
  for (int d = out->rank - 1, e = in->rank - 1; d >= 0; d--, e--) {
    const int64_t n = e >= 0 ? in->dim[e] : 1;
    o->stride[d] = n == 1 ? 0 : next;
    next *= n;
  }
}

/* Decides whether the operand is direct, periodic or gathered, from the merged dimensions that it has. */
static void choose_kind(const elementwise_work *j, operand *o) {
  int first = 0;
  while (first < j->rank && o->stride[first] == 0) first++;
  int64_t period = 1;
  bool dense = true;
  for (int d = first; d < j->rank; d++) {
    period *= j->dim[d];
    dense = dense && o->stride[d] != 0;
  }
  o->period = period;
  o->kind = !dense ? GATHER : first == 0 ? DIRECT : period <= ELEM_BLOCK ? TILE : ROW;
}

static void plan_operand(operand *o, const weft_tensor *t, bool through_float) {
  o->widen = through_float ? as_float(t->dtype) : WEFT_INVALID;
  o->data = t->data;
  o->size = weft__dtype_size(t->dtype);
  o->kind = DIRECT;
  o->period = 1;
}

static void plan_broadcast(elementwise_work *j, const weft_tensor *const *in, const shape *out) {
  j->rank = out->rank;
  memcpy(j->dim, out->dim, sizeof j->dim);
  for (int k = 0; k < j->n_in; k++) set_strides(&j->in[k], &in[k]->shape, out);
  merge_dims(j);
  for (int k = 0; k < j->n_in; k++) choose_kind(j, &j->in[k]);
}

/* Sets all members but loop and arg. */
static void plan_operands(elementwise_work *j, bool through_float, int n_in, const weft_tensor *const *in,
                          const weft_tensor *out) {
  assert(n_in >= 1 && n_in <= ELEM_MAX_IN);
  j->n_in = n_in;
  j->count = weft__tensor_count(out);
  j->out = out->data;
  j->out_size = weft__dtype_size(out->dtype);
  j->narrow = through_float ? as_float(out->dtype) : WEFT_INVALID;
  if (j->count == 0) return;
  bool plain = true; /* every operand has the output's shape or is a scalar */
  for (int i = 0; i < n_in; i++) {
    plan_operand(&j->in[i], in[i], through_float);
    const int64_t count = weft__tensor_count(in[i]);
    if (count != j->count && count == 1) j->in[i].kind = TILE;
    plain = plain && (count == j->count || count == 1);
  }
  if (!plain) plan_broadcast(j, in, &out->shape);
}

void weft__elementwise_run(const kernel *k, elem_loop *loop, int cost, const void *arg, bool through_float, int n_in,
                           const weft_tensor *const *in, weft_tensor *out) {
  elementwise_work j;
  j.loop = loop, j.arg = arg;
  plan_operands(&j, through_float, n_in, in, out);
  if (j.count == 0) return;
  if (j.count <= ELEM_BLOCK)
    run_blocks(&j, 0, j.count);
  else
    weft__kernel_loop(k, (j.count + ELEM_BLOCK - 1) / ELEM_BLOCK, cost, run_piece, &j);
}

weft_err weft__elementwise_run_long(const kernel *k, elem_loop *loop, int cost, const void *arg, bool through_float,
                                    int n_in, const weft_tensor *const *in, weft_tensor *out) {
  elementwise_work j;
  j.loop = loop, j.arg = arg;
  plan_operands(&j, through_float, n_in, in, out);
  if (j.count > ELEM_BLOCK) return weft__long_loop(k, (j.count + ELEM_BLOCK - 1) / ELEM_BLOCK, cost, run_piece, &j);
  if (j.count > 0) run_blocks(&j, 0, j.count);
  return WEFT_OK;
}

int64_t weft__elementwise_index(const shape *out, const shape *in, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int d = out->rank - 1, e = in->rank - 1; e >= 0; i /= out->dim[d], d--, e--) {
    if (in->dim[e] != 1) index += i % out->dim[d] * stride;
    stride *= in->dim[e];
  }
  return index;
}

/* Finds the input that output 0 may overwrite: the one in the plan, or the first that fits and is not used later. */
weft_tensor *weft__elementwise_out(kernel *k, const shape *s) {
  if (k->alias && k->alias[0] >= 0) return weft__out_over(k, 0, k->alias[0], s);
  const weft_dtype type = weft__dtype_base(k->node->out_type[0]);
  const int64_t count = weft__shape_count(s);
  for (int i = 0; i < k->n_in && i < ELEM_MAX_IN; i++)
    if ((k->dying >> i & 1) && k->in[i]->dtype == type && weft__tensor_count(k->in[i]) == count)
      return weft__out_over(k, 0, i, s);
  return weft__out(k, 0, s);
}

weft_err weft__elementwise(kernel *k, const elem_op *e, const void *arg) {
  shape s = k->in[0]->shape;
  for (int i = 1; i < k->n_in; i++) {
    shape both;
    if (weft__shape_equal(&s, &k->in[i]->shape)) continue;
    const weft_err err = weft__shape_broadcast(&both, &s, &k->in[i]->shape);
    if (err) return weft__kernel_in(k, err);
    s = both;
  }
  const weft_dtype type = k->in[k->n_in - 1]->dtype;
  elem_loop *loop = e->loop[type];
  const bool through_float = !loop && as_float(type);
  if (through_float) loop = e->rounded[type == WEFT_BFLOAT16] ? e->rounded[type == WEFT_BFLOAT16] : e->loop[WEFT_FLOAT];
  if (!loop) return weft__kernel_no_type(k, type);
  weft_tensor *out = weft__elementwise_out(k, &s);
  if (!out) return WEFT_OOM;
  return weft__elementwise_run_long(k, loop, e->cost, arg, through_float, k->n_in, k->in, out);
}

weft_err weft__elementwise_cpu(kernel *k) { return weft__elementwise(k, k->op->elem, NULL); }
