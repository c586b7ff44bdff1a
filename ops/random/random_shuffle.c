/* random_shuffle.c - RandomShuffle: puts the rows of a tensor in random order.
 *
 * For each i in turn, row i is swapped with one of the rows from i on; a word of the generator modulo the number of
 * these rows selects it.  The order is drawn first; then all threads copy rows. */
#include "base/alloc.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include "ops/random/random.h"
#include "tensor/tensor.h"
#include <string.h>

enum { CHUNK = 64 };

static void draw_order(const philox *gen, int64_t *order, int64_t n) {
  uint32_t words[4 * CHUNK];
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = 0; i + 1 < n; i++) {
    const int64_t w = i % (4 * CHUNK);
    if (w == 0) weft__philox_blocks(gen, (uint64_t)i / 4, 1, CHUNK, words);
    const int64_t from = i + words[w] % (n - i), swapped = order[i];
    order[i] = order[from];
    order[from] = swapped;
  }
}

typedef struct copy_work {
  const int64_t *order;
  weft_dtype type;
  int64_t row; /* elements of a row */
  size_t size; /* bytes of a row */
  const char *src;
  char *dst;
} copy_work;

static void copy_rows(void *arg, int64_t begin, int64_t end) {
  const copy_work *c = arg;
  for (int64_t i = begin; i < end; i++) {
    const char *src = c->src + (size_t)c->order[i] * c->size;
    char *dst = c->dst + (size_t)i * c->size;
    if (c->size == 4)
      memcpy(dst, src, 4);
    else
      memcpy(dst, src, c->size);
  }
}

static weft_err copy_elements(const copy_work *c, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    WEFT_TRY(
        weft__elements_copy(c->type, c->dst + (size_t)i * c->size, c->src + (size_t)c->order[i] * c->size, c->row));
  return WEFT_OK;
}

/* If `given` is NULL, uses the node's own generator. */
static weft_err random_shuffle_run(kernel *k, const philox *given) {
  const weft_tensor *x = k->in[0];
  const int64_t n = x->shape.rank > 0 ? x->shape.dim[0] : 1;
  if (n <= 1 || weft__tensor_count(x) == 0) return weft__forward(k, 0, 0, &x->shape);
  philox gen;
  if (given)
    gen = *given;
  else
    WEFT_TRY(weft__random_take(k, (uint64_t)(n - 1 + 3) / 4, &gen));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  int64_t *order = y ? weft__alloc((size_t)n * sizeof *order) : NULL;
  if (!order) return WEFT_OOM;
  draw_order(&gen, order, n);
  const int64_t row = weft__shape_product(&x->shape, 1, x->shape.rank);
  copy_work c = {order, x->dtype, row, (size_t)row * weft__dtype_size(x->dtype), x->data, y->data};
  weft_err err = WEFT_OK;
  if (weft__dtype_is_plain(x->dtype))
    weft__kernel_loop(k, n, 4 + (int64_t)c.size / 8, copy_rows, &c);
  else
    err = copy_elements(&c, n);
  weft__free(order);
  return err;
}

static weft_err random_shuffle_cpu(kernel *k) { return random_shuffle_run(k, NULL); }

static weft_err random_shuffle_stateless_cpu(kernel *k) {
  philox gen;
  WEFT_TRY(weft__random_from_key(k, 1, &gen));
  return random_shuffle_run(k, &gen);
}

static const op_case stateless_cases[] = {
    {"i32[10] seq; u64[1] 5; u64[2] 1 2; i32[] 1", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[5,2] seq; u64[1] 7; u64[2] 1 2; i32[] 3", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[0]; u64[1] 7; u64[2] 1 2; i32[] 3", "f32[0]", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

static const op_case shuffle_cases[] = {
    {"i32[10] seq", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"f32[5,2] seq", NULL, "seed=5 seed2=9", CASE_RANDOM},
    {"str[5] \"a\" \"b\" \"c\" \"d\" \"e\"", NULL, "seed=1 seed2=2", CASE_RANDOM | CASE_FIXED_TYPE},
    {"i64[1000] seq", NULL, "seed=1 seed2=2", CASE_RANDOM},
    {"f32[1,3] seq", NULL, "seed=1", CASE_RANDOM},
    {"f32[0] 0", NULL, "seed=1", CASE_RANDOM},
    {"f32[] 2", NULL, "seed=1", CASE_RANDOM},
    {0},
};

OPS(random_shuffle) = {
    {"RandomShuffle(value:T) -> (output:T) | seed:int=0 seed2:int=0 T:type ; stateful",
     "The rows of value in a random order.", OP_SEED, .infer = weft__infer_same, .cpu = random_shuffle_cpu,
     .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, .no_grad = true, .cases = shuffle_cases},
    {"StatelessShuffle(value:T, key:uint64, counter:uint64, alg:int32) -> (output:T) | T:type",
     "The rows of value in an order that a generator decides.", .infer = weft__infer_same,
     .cpu = random_shuffle_stateless_cpu, .cases = stateless_cases},
    {0},
};
