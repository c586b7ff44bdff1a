/* gpu_api.h - what a plug-in tells libweft about cards: a table of plain calls, and nothing else passes.
 *
 * libweft_cuda.so has two doors: this table, and that of the kernels (kernels/gpu/gpu.h).  Everything that can be decided without
 * a card is decided on this side (device/card.c, device/memory_pool.c), so that it is tested on machines without one, against
 * the table of device/simulated_gpu.c.
 *
 * Every call returns 0 or a code of the plug-in's own, which `why` puts in words.  Calls that queue take a stream; work
 * on one stream runs in order. */
#ifndef WEFT_DEVICE_GPU_API_H
#define WEFT_DEVICE_GPU_API_H

#include "weft/core.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_DEVICE_SYMBOL "weft_cuda_device"
enum { GPU_API_VERSION = 2 };

typedef struct gpu_properties {
  char name[256]; /* "NVIDIA H200" */
  char bus[32];   /* "0000:04:00.0" */
  int major, minor;
  size_t memory;
} gpu_properties;

typedef enum gpu_direction {
  GPU_HOST_TO_DEVICE,
  GPU_DEVICE_TO_HOST,
  GPU_DEVICE_TO_DEVICE
} gpu_direction; /* host to card, card to host, card to card */
typedef enum gpu_error_kind {
  GPU_ERROR_CALL,      /* this call, or a kernel before it */
  GPU_ERROR_NO_DEVICE, /* there is no card */
  GPU_ERROR_NO_MEMORY, /* no memory */
  GPU_ERROR_LOST       /* nothing will run on this card again in this process */
} gpu_error_kind;

typedef struct gpu_api {
  int version; /* GPU_API_VERSION */
  const char *(*error_text)(int code);
  gpu_error_kind (*error_kind)(int code);
  int (*count)(int *n); /* cards that CUDA_VISIBLE_DEVICES leaves */
  int (*properties)(int card, gpu_properties *out);
  int (*peers)(int a, int b, int *can); /* may a read b's memory? */
  int (*use)(int card);                 /* for what this thread launches next */
  int (*memory_left)(int card, size_t *bytes);
  int (*alloc)(int card, size_t bytes, void **out);
  int (*free)(int card, void *at);
  int (*alloc_host)(size_t bytes, void **out); /* pinned */
  int (*free_host)(void *at);
  int (*stream_create)(int card, void **out);
  int (*sync)(void *stream); /* waits; the first error of what was queued */
  int (*copy)(void *stream, void *dst, const void *src, size_t bytes, gpu_direction way);
  int (*zero)(void *stream, void *dst, size_t bytes);
  int (*event_create)(int card, void **out);
  void (*event_destroy)(void *event);
  int (*event_record)(void *event, void *stream);
  int (*event_wait)(void *stream, void *event); /* what is queued next waits for it */
  int (*event_passed)(void *event, bool *passed);
  /* What is queued between begin and end is recorded and not run; launch queues all of it.  NULL: it cannot. */
  int (*capture_begin)(void *stream);
  int (*capture_end)(void *stream, void **recording); /* NULL recording with an error: what was recorded is dropped */
  int (*launch)(void *recording, void *stream);
  void (*graph_destroy)(void *recording);
  /* Queues the sum of in[i], in the memory of card[i], on all their streams; it comes to `out` on card[root].  NULL: it
   * cannot.  The cards differ. */
  int (*can_sum)(int n, const int *card, weft_dtype type, bool *can);
  int (*sum)(int n, const int *card, void *const *stream, const void *const *in, int root, void *out, size_t count,
             weft_dtype type);
  /* Of a simulated card: around a CPU kernel that works on its memory.  NULL for real ones. */
  void (*kernel_begin)(void *stream);
  void (*kernel_end)(void *stream);
} gpu_api;
typedef const gpu_api *gpu_device_fn(void);

#ifdef __cplusplus
}
#endif

#endif
