/* wild.cu - a plug-in like libweft_cuda.so, whose Sum writes to an address that is nobody's.
 *
 * tests/cluster/test_gpu.py builds it on machines with a card.  WEFT_REAL_PLUGIN names the plug-in behind it; WEFT_WILD
 * a file: only the process that makes it suffers. */
#include "device/gpu.h"
#include "ops/gpu.h"
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const gpu_host *host;
static const gpu_kernel *sum;

__global__ void write_to(int *at) { *at = 1; }

static weft_err wild_sum(kernel *k) {
  if (open(getenv("WEFT_WILD"), O_CREAT | O_EXCL, 0600) >= 0)
    write_to<<<1, 1, 0, (cudaStream_t)host->stream(k)>>>((int *)64);
  return sum->run(k);
}

static void *real(const char *symbol) { return dlsym(dlopen(getenv("WEFT_REAL_PLUGIN"), RTLD_NOW), symbol); }

extern "C" __attribute__((visibility("default"))) const gpu_api *weft_cuda_device(void) {
  return ((gpu_device_fn *)real(GPU_DEVICE_SYMBOL))();
}

extern "C" __attribute__((visibility("default"))) const gpu_kernel *const *weft_cuda_kernels(const gpu_host *h) {
  static gpu_kernel own[2];
  static const gpu_kernel *lists[256] = {own};
  const gpu_kernel *const *theirs = ((gpu_kernels_fn *)real(GPU_KERNELS_SYMBOL))(h);
  host = h;
  for (int i = 0; theirs[i] && i < 254; i++) {
    lists[i + 1] = theirs[i];
    for (const gpu_kernel *g = theirs[i]; g->op; g++)
      if (!sum && strcmp(g->op, "Sum") == 0 && g->types & GPU_TYPE(WEFT_FLOAT)) sum = g;
  }
  own[0] = gpu_kernel{"Sum", wild_sum, GPU_TYPE(WEFT_FLOAT), sum->host};
  return lists;
}
