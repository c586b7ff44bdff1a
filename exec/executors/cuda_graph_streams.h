/* cuda_graph_streams.h - which captured kernels may run at the same time.
 *
 * A kernel must run after those that wrote what it reads, and after those that read or wrote what it writes.  So the
 * ranges of addresses that kernels access are compared.  Names of values would not do: values of a frame that are not
 * needed at the same time share memory.  Inside a captured graph, nothing else orders kernels. */
#ifndef WEFT_EXEC_EXECUTORS_CUDA_GRAPH_STREAMS_H
#define WEFT_EXEC_EXECUTORS_CUDA_GRAPH_STREAMS_H

#include "exec/executors/frame.h"

/* Captured items are numbered from 0 in the order of their capture. */
typedef struct access { /* of one captured item, to bytes of the device */
  uintptr_t begin, end;
  int number; /* of the captured item */
  bool write;
} access;

typedef struct items_before { /* per stream: the last item that runs before an item, or the item itself; -1: none */
  int last[CAPTURE_STREAMS];
} items_before;

typedef struct graph_streams {
  access *list; /* the accesses of all captured items */
  int n;
  int64_t room; /* the capacity of list (base/array.h) */
  int n_captured;
  int *stream_of;            /* per captured item */
  items_before *before;      /* per captured item */
  int64_t room_item;         /* the capacity of stream_of */
  int64_t room_before;       /* the capacity of before */
  int tail[CAPTURE_STREAMS]; /* per stream: its last item; -1: none */
} graph_streams;

/* init makes an empty set and cannot fail; finish frees it.  Only the thread that captures uses the set. */
void weft__graph_streams_init(graph_streams *l);
void weft__graph_streams_finish(graph_streams *l);
/* Chooses a stream of the capture for the item and tells the device, which captures the kernels that this thread
 * enqueues next on that stream.  An item that enqueues nothing gets no stream.  Returns RESOURCE_EXHAUSTED, or the
 * device's error. */
weft_err weft__graph_streams_assign(graph_streams *l, const frame *f, int item);

#endif
