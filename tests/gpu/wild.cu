/* wild.cu - a plug-in like libweft_cuda.so, whose Sum writes to an address that is nobody's.
 *
 * tests/cluster/test_gpu.py builds it on machines with a card.  WEFT_REAL_PLUGIN names the plug-in behind it; WEFT_WILD
 * files, WEFT_WILD_FILES of them (1): only a process that makes one suffers, at the card's WEFT_WILD_AT-th Sum (1). */
#include "device/gpu_api.h"
#include "kernels/gpu/gpu.h"
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gpu_host *host;
static const gpu_kernel *sum;

/* It counts on the card: a step that is recorded calls no kernel of the host's again. */
__device__ int sums;
__global__ void go_astray(int at) {
  if (++sums == at) *(int *)64 = 1;
}

static int number(const char *name) {
  const char *given = getenv(name);
  return given ? atoi(given) : 1;
}

static bool is_wild() {
  char file[4096];
  for (int i = 0; i < number("WEFT_WILD_FILES"); i++) {
    snprintf(file, sizeof file, "%s.%d", getenv("WEFT_WILD"), i);
    if (open(file, O_CREAT | O_EXCL, 0600) >= 0) return true;
  }
  return false;
}

static weft_err wild_sum(kernel *k) {
  static const bool wild = is_wild();
  if (wild) go_astray<<<1, 1, 0, (cudaStream_t)host->stream(k)>>>(number("WEFT_WILD_AT"));
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
