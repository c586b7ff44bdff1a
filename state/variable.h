/* variable.h - a tensor that outlives steps.  Both kinds, reference and resource, are this.
 *
 * Readers share the current buffer; a writer that finds it shared writes to a fresh one and swaps
 * it in.  So an update is atomic with respect to readers, and a buffer that a send in flight
 * refers to is never written. */
#ifndef WEFT_STATE_VARIABLE_H
#define WEFT_STATE_VARIABLE_H

#include "state/resource.h"
#include <pthread.h>

#define VARIABLE_TYPE "variable"

struct variable {
  resource base; /* type VARIABLE_TYPE */
  pthread_mutex_t lock;
  weft_dtype dtype;
  shape declared;    /* the shape attribute */
  weft_tensor value; /* buf NULL: uninitialised */
  char *name;
};

weft_err weft__variable_create(variable **out, weft_dtype dtype, const shape *declared, const char *name);
/* Shares the current value into *out (empty).  FAILED_PRECONDITION "Attempting to use uninitialized value NAME". */
weft_err weft__variable_read(variable *v, weft_tensor *out);
bool weft__variable_initialized(variable *v);
/* Assign: copies into the present buffer when it is ours alone and fits, else keeps t's buffer (or a copy). */
weft_err weft__variable_assign(variable *v, const weft_tensor *t);

/* Updating in place.  Lock one or several (any order, duplicates allowed: sorted by address), then ask for a
 * writable value each: the present buffer if nobody else reads it, else a copy swapped in. */
void weft__variable_lock(int n, variable *const *v);
void weft__variable_unlock(int n, variable *const *v);
weft_err weft__variable_writable(variable *v,
                                 weft_tensor **out); /* with the lock held; FAILED_PRECONDITION if uninitialised */

/* Argument i of a kernel as a variable, reference or resource alike. */
weft_err weft__kernel_variable(const kernel *k, int i, variable **v);
/* Fails in TF's words for an update of a variable (argument 0) that has no value yet. */
weft_err weft__variable_fail_uninitialized(const kernel *k, const variable *v);

/* While building: the node a handle comes from, through Identity, Enter, Switch, ...; NULL if it cannot be told. */
const weft_node *weft__handle_origin(const weft_graph *g, weft_out o);
/* The type and declared shape of the variable behind an edge (argument i of a node being inferred), reference or
 * handle alike; WEFT_INVALID and unknown rank where it cannot be told. */
void weft__variable_declared(const weft_graph *g, weft_out from, weft_dtype *dtype, shape *out);
void weft__infer_variable(const infer *s, int i, weft_dtype *dtype, shape *out);

#endif
