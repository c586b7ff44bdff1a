/* memory_stats.c - BytesInUse, MaxBytesInUse, BytesLimit: what the node's device says of its memory, for
 * tf.contrib.memory_stats.
 *
 * The output is in host memory, but the node stays on its device.  A device that does not count, such as the CPU in
 * TensorFlow too, has 0 bytes in use and no limit, which is -1. */
#include "base/alloc.h"
#include "device/device.h"
#include "graph/kernel.h"
#include "graph/op.h"

static device_memory memory_stats_memory_of(const kernel *k) {
  if (!k->device || !k->device->ops->count_memory) return (device_memory){.limit = -1};
  return k->device->ops->count_memory(k->device);
}

static weft_err give_bytes(kernel *k, int64_t bytes) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, int64_t) = bytes;
  return WEFT_OK;
}

static weft_err in_use_cpu(kernel *k) { return give_bytes(k, memory_stats_memory_of(k).in_use); }
static weft_err peak_cpu(kernel *k) { return give_bytes(k, memory_stats_memory_of(k).peak); }
static weft_err limit_cpu(kernel *k) { return give_bytes(k, memory_stats_memory_of(k).limit); }

static const op_case zero_cases[] = {{"", "i64[] 0", NULL, CASE_NO_PARITY}, {0}};
static const op_case limit_cases[] = {{"", "i64[] -1", NULL, CASE_NO_PARITY}, {0}};

OPS(memory_stats) = {
    {"BytesInUse() -> (out:int64) ; stateful", "Bytes of the device's memory that are in use.",
     .infer = weft__infer_scalar, .cpu = in_use_cpu, .cases = zero_cases, .anywhere = "out"},
    {"MaxBytesInUse() -> (out:int64) ; stateful", "The most bytes of the device's memory that were in use.",
     .infer = weft__infer_scalar, .cpu = peak_cpu, .cases = zero_cases, .anywhere = "out"},
    {"BytesLimit() -> (out:int64) ; stateful", "How many bytes the device may use; -1: no limit.",
     .infer = weft__infer_scalar, .cpu = limit_cpu, .cases = limit_cases, .anywhere = "out"},
    {0},
};
