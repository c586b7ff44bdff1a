/* philox.cuh - the generator of a random node on the GPU, which gives the CPU's numbers for the same seeds.
 *
 * The number of blocks that a node has used is stored in GPU memory, with the node.  Kernels read it there, and the
 * last launch of a run advances it. */
#pragma once

#include "kernels/gpu/gpu.cuh"

enum { RESERVED = 256 }; /* blocks reserved per output, as in TensorFlow */

struct philox_seed {
  uint32_t key[2], counter[4];
};

/* Returns block `at` of the seed: four words. */
__device__ inline uint4 philox_block(const philox_seed &p, uint64_t at) {
  const uint64_t low = (p.counter[0] | (uint64_t)p.counter[1] << 32) + at;
  const uint32_t carry = low < at, c2 = p.counter[2] + carry;
  uint32_t a = (uint32_t)low, b = (uint32_t)(low >> 32), c = c2, d = p.counter[3] + (carry && c2 == 0);
  uint32_t k0 = p.key[0], k1 = p.key[1];
#pragma unroll
  for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const uint32_t x = 0xD2511F53u * a, y = 0xCD9E8D57u * c;
    const uint32_t xh = __umulhi(a, 0xD2511F53u), yh = __umulhi(c, 0xCD9E8D57u);
    a = yh ^ b ^ k0;
    b = y;
    c = xh ^ d ^ k1;
    d = x;
  }
  return make_uint4(a, b, c, d);
}

__device__ inline float to_float(uint32_t w) { return __uint_as_float((w & 0x7fffffu) | 0x3f800000u) - 1.0f; }
__device__ inline double to_double(uint32_t high, uint32_t low) {
  return __hiloint2double((int)((high & 0xfffffu) | 0x3ff00000u), (int)low) - 1.0;
}

/* Finds the seed of the node, and the number of blocks that it has used. */
inline weft_err philox_begin(kernel *k, philox_seed *seed, uint64_t **used) {
  WEFT_TRY(weft__gpu->seeds(k, seed->key, seed->counter));
  return weft__gpu->kept(k, sizeof(uint64_t), (void **)used);
}

static __global__ void philox_use_kernel(uint64_t *used, uint64_t blocks) { *used += blocks; }
/* Advances the generator behind what was launched. */
static inline weft_err philox_use(kernel *k, uint64_t *used, uint64_t blocks) {
  philox_use_kernel<<<1, 1, 0, gpu_stream(k)>>>(used, blocks);
  return gpu_launched(k);
}
