/* place.h - placement: chooses the device of each node, by TensorFlow's rules and with its error messages.
 *
 * Nodes that must be together form a group: those a `_class` attribute names, and both ends of an edge that carries a
 * reference or a resource.  A group goes to the first device that all its members' requests allow; GPUs come before
 * CPUs, then devices are taken in the order of their names.  (TensorFlow 2 prefers the session's own task to the order
 * of names; TensorFlow 1 did not, as its log lines show.)  Nodes that only make a value go where it is used; nodes
 * that only need the shape of a value go where the value is. */
#ifndef WEFT_EXEC_PASSES_PLACE_H
#define WEFT_EXEC_PASSES_PLACE_H

#include "device/device.h"
#include "graph/graph.h"

typedef struct device_info { /* what is known of a device, of this process or another */
  char *name, *type, *description;
  int64_t memory_limit;
  uint64_t incarnation;
} device_info;
/* Frees the strings of n devices and the array; NULL is allowed. */
void weft__place_infos_free(device_info *d, int n);

typedef struct placement {
  int n_device;
  const device_info *device;
  bool soft; /* allow_soft_placement: another device of the same task may replace a requested one */
  bool log;  /* log_device_placement: a line for every node, on stdout as TF prints them */
} placement;

/* Places nodes [from, g->n_node): a requested device must exist (INVALID_ARGUMENT in TF's words if not, unless
 * soft).  where[i] is an index into the devices, for node i; those below `from` have been placed before and stay. */
weft_err weft__place(const weft_graph *g, int from, const placement *p, int *where);
/* "Device mapping: ..." as TF prints it when a session with log_device_placement opens. */
void weft__place_log_mapping(const placement *p);

#endif
