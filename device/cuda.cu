/* cuda.cu - NVIDIA's cards behind the calls of device/gpu_api.h, over the CUDA runtime.
 *
 * Thin on purpose: what can be decided without a card is decided in libweft.  The runtime keeps a current card per
 * thread; calls that make something set it. */
#include "device/nccl.cuh"
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

static const char *why(int code) {
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

static gpu_error_kind trouble(int code) {
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

/* An error of a call that is not sticky must not be found by the next launch. */
static int done(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return (int)e;
}

static int count(int *n) {
  *n = 0;
  return done(cudaGetDeviceCount(n));
}

/* Stands for all kernels of this plug-in: is there code for a card? */
__global__ void probe() {}

static int properties(int card, gpu_properties *out) {
  cudaDeviceProp p;
  memset(out, 0, sizeof *out);
  cudaError_t e = cudaGetDeviceProperties(&p, card);
  if (e != cudaSuccess) return done(e);
  snprintf(out->name, sizeof out->name, "%s", p.name);
  snprintf(out->bus, sizeof out->bus, "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  out->major = p.major;
  out->minor = p.minor;
  out->memory = p.totalGlobalMem;
  cudaFuncAttributes any;
  e = cudaSetDevice(card);
  return done(e == cudaSuccess ? cudaFuncGetAttributes(&any, probe) : e);
}

static int peers(int a, int b, int *can) { return done(cudaDeviceCanAccessPeer(can, a, b)); }
static int use(int card) { return done(cudaSetDevice(card)); }

static int memory_left(int card, size_t *bytes) {
  size_t total;
  int e = use(card);
  return e ? e : done(cudaMemGetInfo(bytes, &total));
}

static int alloc_card(int card, size_t bytes, void **out) {
  int e = use(card);
  return e ? e : done(cudaMalloc(out, bytes));
}

static int free_card(int card, void *at) {
  int e = use(card);
  return e ? e : done(cudaFree(at));
}

static int alloc_host(size_t bytes, void **out) { return done(cudaHostAlloc(out, bytes, cudaHostAllocPortable)); }
static int free_host(void *at) { return done(cudaFreeHost(at)); }

static int stream_create(int card, void **out) {
  int e = use(card);
  return e ? e : done(cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking));
}

static int sync_stream(void *stream) { return done(cudaStreamSynchronize((cudaStream_t)stream)); }

static int copy(void *stream, void *dst, const void *src, size_t bytes, gpu_direction way) {
  static const cudaMemcpyKind kinds[] = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDefault};
  return done(cudaMemcpyAsync(dst, src, bytes, kinds[way], (cudaStream_t)stream));
}

static int zero(void *stream, void *dst, size_t bytes) {
  return done(cudaMemsetAsync(dst, 0, bytes, (cudaStream_t)stream));
}

static int event_create(int card, void **out) {
  int e = use(card);
  return e ? e : done(cudaEventCreateWithFlags((cudaEvent_t *)out, cudaEventDisableTiming));
}
static void event_destroy(void *event) { done(cudaEventDestroy((cudaEvent_t)event)); }
static int event_record(void *event, void *stream) {
  return done(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}
static int event_wait(void *stream, void *event) {
  return done(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}
static int event_passed(void *event, bool *passed) {
  cudaError_t e = cudaEventQuery((cudaEvent_t)event);
  *passed = e == cudaSuccess;
  if (e == cudaErrorNotReady) {
    cudaGetLastError();
    return 0;
  }
  return done(e);
}

/* Relaxed: other threads go on allocating while this one records. */
static int capture_begin(void *stream) {
  return done(cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeRelaxed));
}

static int capture_end(void *stream, void **recording) {
  cudaGraph_t graph = nullptr;
  *recording = nullptr;
  cudaError_t e = cudaStreamEndCapture((cudaStream_t)stream, &graph);
  if (e == cudaSuccess) {
    e = cudaGraphInstantiate((cudaGraphExec_t *)recording, graph, 0);
    if (e == cudaSuccess) e = cudaGraphUpload((cudaGraphExec_t)*recording, (cudaStream_t)stream);
  }
  if (graph) cudaGraphDestroy(graph);
  return done(e);
}

static int launch(void *recording, void *stream) {
  return done(cudaGraphLaunch((cudaGraphExec_t)recording, (cudaStream_t)stream));
}
static void graph_destroy(void *recording) { done(cudaGraphExecDestroy((cudaGraphExec_t)recording)); }

static const gpu_api api = {
    GPU_API_VERSION,   why,           trouble,      count,      properties,    peers,        use,        memory_left,
    alloc_card,        free_card,     alloc_host,   free_host,  stream_create, sync_stream,  copy,       zero,
    event_create,      event_destroy, event_record, event_wait, event_passed,  capture_begin, capture_end, launch,
    graph_destroy, nccl_can_sum,  nccl_sum,     nullptr,    nullptr,
};

extern "C" WEFT_EXPORT const gpu_api *weft_cuda_device(void) { return &api; }
