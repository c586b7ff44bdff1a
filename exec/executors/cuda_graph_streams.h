/* cuda_graph_streams.h - which captured kernels may run at the same time.
 *
 * A kernel must come after those that wrote what it reads, and after those that read or wrote what it writes.
 * Addresses are compared and not values, since values of a frame that are not needed at the same time share memory.
 * Nothing else orders the work of one GPU. */
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
  access *list;
  int n;
  int64_t room;
  int n_captured;
  int *stream_of;       /* per captured item */
  items_before *before; /* per captured item */
  int64_t room_item, room_before;
  int tail[CAPTURE_STREAMS]; /* the last item of each; -1: none */
} graph_streams;

/* init makes an empty set and cannot fail; finish frees it.  One thread captures, and uses it. */
void weft__graph_streams_init(graph_streams *l);
void weft__graph_streams_finish(graph_streams *l);
/* The item is to be enqueued next: gives it a stream of the capture.  An item that enqueues nothing gets none. */
weft_err weft__graph_streams_assign(graph_streams *l, const frame *f, int item);

#endif
