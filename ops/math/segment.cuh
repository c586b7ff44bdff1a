/* segment.cuh - rows combined by the sorted numbers of their segments, for ops/math/segment.cu and
 * ops/sparse/sparse_segment.cu. */
#pragma once

#include "kernels/gpu/scatter.cuh"

enum segment_kind { SEGMENT_SUM, SEGMENT_MEAN, SEGMENT_SQRT_N, SEGMENT_PROD, SEGMENT_MAX, SEGMENT_MIN };

/* How many segments sorted ids are of: the last one's and those in front of it.  Waits for the card. */
weft_err gpu_segments(kernel *k, const gpu_tensor &id, int64_t *out);
/* z[s] = what the rows of x with id s make together; `from`, unless NULL, names the rows of x that are meant. */
weft_err gpu_segments_combine(kernel *k, segment_kind kind, const gpu_tensor &x, const gpu_tensor *from,
                              const gpu_tensor &id, const gpu_tensor &z);
