/* gpu_api.h - the interface between libweft and a GPU plug-in: a table of functions.
 *
 * libweft_cuda.so exports two tables: this one, and the one of the kernels (kernels/gpu/gpu.h).  Everything that can be
 * decided without a GPU is in libweft (device/card.c, device/memory_pool.c).  So it is tested on machines without a
 * GPU, with the table of device/simulated_gpu.c.
 *
 * Every call returns 0 or a code of the plug-in, which `error_text` describes.  Calls that queue work take a stream;
 * work on one stream runs in order.  Any thread may call these functions; the caller frees what they create. */
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
enum { GPU_API_VERSION = 4 };

typedef struct gpu_properties {
  char name[256]; /* "NVIDIA H200" */
  char bus[32];   /* "0000:04:00.0" */
  int major, minor;
  size_t memory;
} gpu_properties;

typedef enum gpu_direction { GPU_HOST_TO_DEVICE, GPU_DEVICE_TO_HOST, GPU_DEVICE_TO_DEVICE } gpu_direction;
enum { GPU_SMALL_COPY = 16 << 10 }; /* bytes */
typedef struct gpu_piece {          /* of a copy of many small values */
  void *dst;
  size_t from; /* where its bytes begin in the data: a multiple of 8 */
  size_t bytes;
} gpu_piece;
typedef enum gpu_error_kind {
  GPU_ERROR_CALL,      /* this call failed, or a kernel before it */
  GPU_ERROR_NO_DEVICE, /* there is no card */
  GPU_ERROR_NO_MEMORY, /* the card's memory is exhausted */
  GPU_ERROR_LOST       /* nothing will run on this card again in this process */
} gpu_error_kind;

typedef struct gpu_api {
  int version; /* GPU_API_VERSION */
  const char *(*error_text)(int code);
  gpu_error_kind (*error_kind)(int code);
  int (*count)(int *n); /* cards that CUDA_VISIBLE_DEVICES shows */
  int (*properties)(int card, gpu_properties *out);
  int (*peers)(int a, int b, int *can); /* *can: card a can read the memory of card b */
  int (*use)(int card);                 /* makes it the current card of this thread */
  int (*memory_left)(int card, size_t *bytes);
  int (*alloc)(int card, size_t bytes, void **out);
  int (*free)(int card, void *at);
  int (*alloc_host)(size_t bytes, void **out); /* pinned */
  int (*free_host)(void *at);
  int (*stream_create)(int card, void **out);
  int (*sync)(void *stream); /* waits; returns the first error of the queued work */
  int (*copy)(void *stream, void *dst, const void *src, size_t bytes, gpu_direction way);
  /* As copy to the device, of at most GPU_SMALL_COPY bytes; src may be changed as soon as it returns.  src is not in
   * memory of alloc_host. */
  int (*copy_small)(void *stream, void *dst, const void *src, size_t bytes);
  /* Copies each piece to its dst.  The pieces and `data` are in memory of alloc_host, and stay until the stream has
   * passed. */
  int (*copy_pieces)(void *stream, const gpu_piece *pieces, int n, const void *data);
  int (*zero)(void *stream, void *dst, size_t bytes);
  int (*event_create)(int card, void **out);
  void (*event_destroy)(void *event);
  int (*event_record)(void *event, void *stream);
  int (*event_wait)(void *stream, void *event); /* work queued next waits for the event */
  int (*event_passed)(void *event, bool *passed);
  int (*event_sync)(void *event); /* waits; returns the first error of the work before it */
  /* Work that is queued between begin and end does not run, but becomes a graph; launch queues all of it.  NULL: the
   * plug-in cannot capture. */
  int (*capture_begin)(void *stream);
  int (*capture_end)(void *stream, void **graph); /* on an error *graph is NULL and the captured work is dropped */
  int (*launch)(void *graph, void *stream);
  void (*graph_destroy)(void *graph);
  /* Queues the sum of in[i], which is in the memory of card[i], on all their streams; the result goes to `out` on
   * card[root].  All cards are different.  NULL: the plug-in cannot sum. */
  int (*can_sum)(int n, const int *card, weft_dtype type, bool *can);
  int (*sum)(int n, const int *card, void *const *stream, const void *const *in, int root, void *out, size_t count,
             weft_dtype type);
  /* Called before and after a CPU kernel that uses the memory of a simulated card.  NULL for real cards. */
  void (*kernel_begin)(void *stream);
  void (*kernel_end)(void *stream);
} gpu_api;
typedef const gpu_api *gpu_device_fn(void);

#ifdef __cplusplus
}
#endif

#endif
