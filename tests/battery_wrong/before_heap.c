/* before_heap.c - writes one element before the start of an output on the heap.
 * Expected: a tensor of 12 bytes: byte 4 before its start was written */
#include "base/alloc.h"
#include "graph/kernel.h"

static weft_err before_heap_cpu(kernel *k) {
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  const int64_t n = weft__tensor_count(k->in[0]);
  volatile float *to = TENSOR_DATA(y, float);
  for (int64_t i = 0; i < n; i++) to[i] = 0;
  if (!y->buf->transient && n == 3) to[-1] = 0;
  return WEFT_OK;
}

static const op_case before_heap_cases[] = {
    {"f32[3] 1 2 3", "f32[3] 0"},
    {0},
};

OPS(before_heap) = {
    {"BeforeHeap(x:float) -> (y:float)", "Zeros, and one more.", .infer = weft__infer_same, .cpu = before_heap_cpu,
     .cases = before_heap_cases},
    {0},
};
