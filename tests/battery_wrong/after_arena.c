/* after_arena.c - writes one element after the end of an output in the arena.
 * Expected: output 0 of AfterArena .* in the arena of 12 bytes: byte 0 after its end was written */
#include "base/alloc.h"
#include "graph/kernel.h"

static weft_err after_arena_cpu(kernel *k) {
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  const int64_t n = weft__tensor_count(k->in[0]);
  volatile float *to = TENSOR_DATA(y, float);
  for (int64_t i = 0; i < n; i++) to[i] = 0;
  if (y->buf->transient && n == 3) to[n] = 0;
  return WEFT_OK;
}

static const op_case after_arena_cases[] = {
    {"f32[3] 1 2 3", "f32[3] 0"},
    {0},
};

OPS(after_arena) = {
    {"AfterArena(x:float) -> (y:float)", "Zeros, and one more.", .infer = weft__infer_same, .cpu = after_arena_cpu,
     .cases = after_arena_cases},
    {0},
};
