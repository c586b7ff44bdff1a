/* collective.h - one member's run of a collective op: it joins its group, and exchanges buffers with the other members.
 *
 * The buffers pass through the step's rendezvous under TensorFlow's keys, so that members of other tasks can fetch them
 * (cluster/worker/collective.c).  No thread waits: the run goes on when a buffer arrives. */
#ifndef WEFT_KERNELS_COLLECTIVE_COLLECTIVE_H
#define WEFT_KERNELS_COLLECTIVE_COLLECTIVE_H

#include "graph/kernel.h"
#include "state/collective.h"
#include "state/combine.h"

enum { COLLECTIVE_SUBDIVS = 64 };

typedef struct collective_spec {
  collective_type type;
  int32_t group_key, group_size, instance_key;
  combine_op merge; /* of a reduction */
  bool divide;      /* a reduction ends with a division by the group's size */
  bool is_source;   /* of a broadcast */
  int n_subdiv;     /* rings that share the work; each begins at another device of a task */
  int64_t subdiv[COLLECTIVE_SUBDIVS];
  float timeout; /* seconds; 0: none */
  shape out;     /* of the output */
  int input;     /* index of the input with the data; -1: none */
} collective_spec;

/* Starts the collective op, which computes output 0 and completes the kernel later (weft__kernel_defer).  Returns an
 * error only if it could not start. */
weft_err weft__collective_run(kernel *k, const collective_spec *spec);

/* A buffer's key in the rendezvous is SOURCE;INCARNATION;DESTINATION;buf:BYTES:KEY;0:0.  Returns the key, which the
 * caller frees; NULL: no memory. */
char *weft__collective_buffer_key(const char *source, uint64_t incarnation, const char *destination, int64_t bytes,
                                  const char *key);

#endif
