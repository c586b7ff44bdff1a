/* timestamp.c - Timestamp: the time at which the node ran. */
#include "base/alloc.h"
#include "base/clock.h"
#include "graph/kernel.h"
#include "graph/op.h"

static weft_err timestamp_cpu(kernel *k) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, double) = (double)weft__clock_wall_us() / 1e6;
  return WEFT_OK;
}

static const op_case timestamp_cases[] = {{"", NULL, NULL, CASE_RANDOM | CASE_NO_PARITY}, {0}};

OPS(timestamp) = {
    {"Timestamp() -> (ts:double) ; stateful", "Seconds since 1970.", .infer = weft__infer_scalar, .cpu = timestamp_cpu,
     .no_grad = true, .cases = timestamp_cases},
    {0},
};
