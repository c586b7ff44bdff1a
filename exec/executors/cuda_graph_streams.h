/* cuda_graph_streams.h - which captured kernels may run at the same time.
 *
 * A kernel must come after those that wrote what it reads, and after those that read or wrote what it writes.
 * Addresses are compared and not values, since values of a frame that are not needed at the same time share memory.
 * Nothing else orders the work of one GPU. */
#ifndef WEFT_EXEC_EXECUTORS_CUDA_GRAPH_STREAMS_H
#define WEFT_EXEC_EXECUTORS_CUDA_GRAPH_STREAMS_H

#include "exec/executors/frame.h"

typedef struct access { /* of one captured item (a step), to bytes of the device */
  uintptr_t begin, end;
  int step;
  bool write;
} access;

typedef struct steps_before { /* per stream: the last step that comes before a step, or the step itself; -1: none */
  int last[CAPTURE_STREAMS];
} steps_before;

typedef struct graph_streams {
  access *list;
  int n;
  int64_t room;
  int n_step;
  int *stream_of;       /* per step */
  steps_before *before; /* per step */
  int64_t room_step, room_before;
  int tail[CAPTURE_STREAMS]; /* the last step of each; -1: none */
} graph_streams;

void weft__graph_streams_init(graph_streams *l);
void weft__graph_streams_finish(graph_streams *l);
/* Item i is to be queued next: gives it a stream of the capture.  An item that queues nothing gets none. */
weft_err weft__graph_streams_assign(graph_streams *l, const frame *f, int item);

#endif
