/* place.h - which device each node runs on, by TensorFlow's rules and in its words. */
#ifndef WEFT_EXEC_PLACE_H
#define WEFT_EXEC_PLACE_H

#include "device/device.h"
#include "graph/graph.h"

typedef struct placement {
  int n_device;
  device *const *device;
  bool soft; /* allow_soft_placement: fall back to the CPU of the task */
  bool log;  /* log_device_placement: a line for every node, on stdout as TF prints them */
} placement;

/* Places nodes [from, g->n_node): a requested device must exist (INVALID_ARGUMENT in TF's words if not, unless
 * soft).  out[i - from] is an index into the devices. */
weft_err weft__place(const weft_graph *g, int from, const placement *p, int *out);
/* "Device mapping: ..." as TF prints it when a session with log_device_placement opens. */
void weft__place_log_mapping(const placement *p);

#endif
