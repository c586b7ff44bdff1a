/* cuda.cu - the table of device/gpu_api.h for NVIDIA cards, with the CUDA runtime.
 *
 * It is thin on purpose: everything that can be decided without a card is in libweft.  The runtime has a current card
 * per thread; calls that create something set it.  There is no lock here: the runtime is thread safe. */
#include "device/nccl.cuh"
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

static const char *cuda_error_text(int code) {
  if (code == NCCL_FAILED) return "NCCL could not sum over the cards";
  switch ((cudaError_t)code) {
  case cudaErrorInsufficientDriver:
    return "the NVIDIA driver is too old for the CUDA runtime of this build (CUDA driver version is insufficient)";
  case cudaErrorNoKernelImageForDevice:
    return "this build has no machine code for the card's architecture (no kernel image is available)";
  case cudaErrorNoDevice: return "no CUDA-capable card is visible (is CUDA_VISIBLE_DEVICES set?)";
  default: return cudaGetErrorString((cudaError_t)code);
  }
}

static gpu_error_kind cuda_error_kind(int code) {
  switch ((cudaError_t)code) {
  case cudaErrorNoDevice: return GPU_ERROR_NO_DEVICE;
  case cudaErrorMemoryAllocation: return GPU_ERROR_NO_MEMORY;
  case cudaErrorDevicesUnavailable:
  case cudaErrorECCUncorrectable:
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchFailure:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorAssert:
  case cudaErrorLaunchTimeout:
  case cudaErrorUnknown: return GPU_ERROR_LOST;
  default: return GPU_ERROR_CALL;
  }
}

/* Clears an error that is not sticky, so that the next launch does not return it. */
static int cuda_result(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return (int)e;
}

static int cuda_count(int *n) {
  *n = 0;
  return cuda_result(cudaGetDeviceCount(n));
}

/* Stands for all kernels of this plug-in, to find out whether there is code for a card. */
__global__ void cuda_probe() {}

static int cuda_properties(int card, gpu_properties *out) {
  cudaDeviceProp p;
  memset(out, 0, sizeof *out);
  cudaError_t e = cudaGetDeviceProperties(&p, card);
  if (e != cudaSuccess) return cuda_result(e);
  snprintf(out->name, sizeof out->name, "%s", p.name);
  snprintf(out->bus, sizeof out->bus, "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  out->major = p.major;
  out->minor = p.minor;
  out->memory = p.totalGlobalMem;
  cudaFuncAttributes any;
  e = cudaSetDevice(card);
  return cuda_result(e == cudaSuccess ? cudaFuncGetAttributes(&any, cuda_probe) : e);
}

static int cuda_peers(int a, int b, int *can) { return cuda_result(cudaDeviceCanAccessPeer(can, a, b)); }
static int cuda_use(int card) { return cuda_result(cudaSetDevice(card)); }

static int cuda_memory_left(int card, size_t *bytes) {
  size_t total;
  int e = cuda_use(card);
  return e ? e : cuda_result(cudaMemGetInfo(bytes, &total));
}

static int cuda_alloc(int card, size_t bytes, void **out) {
  int e = cuda_use(card);
  return e ? e : cuda_result(cudaMalloc(out, bytes));
}

static int cuda_free(int card, void *at) {
  int e = cuda_use(card);
  return e ? e : cuda_result(cudaFree(at));
}

static int cuda_alloc_host(size_t bytes, void **out) {
  return cuda_result(cudaHostAlloc(out, bytes, cudaHostAllocPortable));
}
static int cuda_free_host(void *at) { return cuda_result(cudaFreeHost(at)); }

static int cuda_stream_create(int card, void **out) {
  int e = cuda_use(card);
  return e ? e : cuda_result(cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking));
}

static int cuda_sync(void *stream) { return cuda_result(cudaStreamSynchronize((cudaStream_t)stream)); }

static int cuda_copy(void *stream, void *dst, const void *src, size_t bytes, gpu_direction way) {
  static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDefault};
  return cuda_result(cudaMemcpyAsync(dst, src, bytes, kinds[way], (cudaStream_t)stream));
}

/* The driver itself copies up to 64 KiB of pageable memory before it returns. */
static int cuda_copy_small(void *stream, void *dst, const void *src, size_t bytes) {
  return cuda_copy(stream, dst, src, bytes, GPU_HOST_TO_DEVICE);
}

/* A block per piece.  The card reads the host's memory directly. */
__global__ void pieces_kernel(const gpu_piece *pieces, const char *data) {
  const gpu_piece p = pieces[blockIdx.x];
  const char *from = data + p.from;
  const size_t words = (size_t)p.dst % 8 ? 0 : p.bytes / 8;
  for (size_t i = threadIdx.x; i < words; i += blockDim.x) ((uint64_t *)p.dst)[i] = ((const uint64_t *)from)[i];
  for (size_t i = words * 8 + threadIdx.x; i < p.bytes; i += blockDim.x) ((char *)p.dst)[i] = from[i];
}

static int cuda_copy_pieces(void *stream, const gpu_piece *pieces, int n, const void *data) {
  pieces_kernel<<<n, 128, 0, (cudaStream_t)stream>>>(pieces, (const char *)data);
  return cuda_result(cudaGetLastError());
}

static int cuda_zero(void *stream, void *dst, size_t bytes) {
  return cuda_result(cudaMemsetAsync(dst, 0, bytes, (cudaStream_t)stream));
}

static int cuda_event_create(int card, void **out) {
  int e = cuda_use(card);
  return e ? e : cuda_result(cudaEventCreateWithFlags((cudaEvent_t *)out, cudaEventDisableTiming));
}
static void cuda_event_destroy(void *event) { cuda_result(cudaEventDestroy((cudaEvent_t)event)); }
static int cuda_event_record(void *event, void *stream) {
  return cuda_result(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}
static int cuda_event_wait(void *stream, void *event) {
  return cuda_result(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}
static int cuda_event_passed(void *event, bool *passed) {
  cudaError_t e = cudaEventQuery((cudaEvent_t)event);
  *passed = e == cudaSuccess;
  if (e == cudaErrorNotReady) {
    cudaGetLastError();
    return 0;
  }
  return cuda_result(e);
}

static int cuda_event_sync(void *event) { return cuda_result(cudaEventSynchronize((cudaEvent_t)event)); }

/* Relaxed, so that other threads can allocate while this one captures. */
static int cuda_capture_begin(void *stream) {
  return cuda_result(cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeRelaxed));
}

static int cuda_capture_end(void *stream, void **instance) {
  cudaGraph_t graph = nullptr;
  *instance = nullptr;
  cudaError_t e = cudaStreamEndCapture((cudaStream_t)stream, &graph);
  if (e == cudaSuccess) {
    e = cudaGraphInstantiate((cudaGraphExec_t *)instance, graph, 0);
    if (e == cudaSuccess && (e = cudaGraphUpload((cudaGraphExec_t)*instance, (cudaStream_t)stream)) != cudaSuccess) {
      cudaGraphExecDestroy((cudaGraphExec_t)*instance);
      *instance = nullptr;
    }
  }
  if (graph) cudaGraphDestroy(graph);
  return cuda_result(e);
}

static int cuda_graph_launch(void *instance, void *stream) {
  return cuda_result(cudaGraphLaunch((cudaGraphExec_t)instance, (cudaStream_t)stream));
}
static void cuda_graph_destroy(void *instance) { cuda_result(cudaGraphExecDestroy((cudaGraphExec_t)instance)); }

static const gpu_api api = {
    GPU_API_VERSION,
    cuda_error_text,
    cuda_error_kind,
    cuda_count,
    cuda_properties,
    cuda_peers,
    cuda_use,
    cuda_memory_left,
    cuda_alloc,
    cuda_free,
    cuda_alloc_host,
    cuda_free_host,
    cuda_stream_create,
    cuda_sync,
    cuda_copy,
    cuda_copy_small,
    cuda_copy_pieces,
    cuda_zero,
    cuda_event_create,
    cuda_event_destroy,
    cuda_event_record,
    cuda_event_wait,
    cuda_event_passed,
    cuda_event_sync,
    cuda_capture_begin,
    cuda_capture_end,
    cuda_graph_launch,
    cuda_graph_destroy,
    nccl_can_sum,
    nccl_sum,
    nullptr,
    nullptr,
};

extern "C" WEFT_EXPORT const gpu_api *weft_cuda_device(void) { return &api; }
