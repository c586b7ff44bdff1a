/* variable.h - variables: tensors that outlive steps.  Reference variables and resource variables are both this struct.
 *
 * Readers share the current buffer.  A writer that finds the buffer shared writes to a copy and swaps it in.  So an
 * update is atomic for readers, and a buffer that is being sent is never overwritten.
 *
 * `lock` guards value, deferred and dropped.  Any thread may call these functions; a variable is a counted resource. */
#ifndef WEFT_STATE_VARIABLE_H
#define WEFT_STATE_VARIABLE_H

#include "state/resource.h"
#include <pthread.h>

#define VARIABLE_TYPE "variable"

typedef struct deferred_updates deferred_updates; /* state/deferred.h */

struct variable {
  resource base; /* type VARIABLE_TYPE */
  pthread_mutex_t lock;
  weft_dtype dtype;
  shape declared;    /* the shape attribute */
  weft_tensor value; /* buf NULL: uninitialized */
  char *name;
  deferred_updates *deferred; /* steps that some rows have not had yet; NULL: the value is up to date */
  bool dropped;               /* it left its container while it had deferred steps */
};

/* The caller owns the one reference. */
weft_err weft__variable_create(variable **out, weft_dtype dtype, const shape *declared, const char *name);
/* Shares the current value with *out, which is empty.  Returns FAILED_PRECONDITION "Attempting to use uninitialized
 * value NAME". */
weft_err weft__variable_read(variable *v, weft_tensor *out);
/* Sets the error of weft__variable_read, with the fact ERROR_UNINITIALIZED, and returns its code. */
weft_err weft__variable_uninitialized_error(const variable *v);
bool weft__variable_initialized(variable *v);
/* Stores the shape of the value, which may have deferred steps.  Returns false if the variable is uninitialized. */
bool weft__variable_value_shape(variable *v, shape *out);
/* Assigns t: copies it into the present buffer if that is not shared and has its size, else keeps the buffer of t.
 * Returns INVALID_ARGUMENT if t has another type.  While the thread captures a CUDA graph, a variable cannot get
 * another buffer: ABORTED. */
weft_err weft__variable_assign(variable *v, const weft_tensor *t);

/* For updates in place.  Lock one or several variables (in any order, with duplicates; they are locked in the order of
 * their addresses), and then get a writable value of each: the present buffer if it is not shared, else a copy.  A
 * locked variable is up to date: deferred steps are applied first. */
void weft__variable_lock(int n, variable *const *v);
void weft__variable_unlock(int n, variable *const *v);
/* As weft__variable_lock, but leaves deferred steps as they are (for state/deferred.c). */
void weft__variable_lock_deferred(int n, variable *const *v);
/* The lock is held; *out is borrowed until it is released.  Returns FAILED_PRECONDITION if the variable is
 * uninitialized, and ABORTED if it would need a copy while the thread captures a CUDA graph. */
weft_err weft__variable_writable(variable *v, weft_tensor **out);

/* Finds the variable that argument i of a kernel names, by a reference or a handle; *v is borrowed. */
weft_err weft__kernel_variable(const kernel *k, int i, variable **v);
/* Returns TensorFlow's error for an update of a variable (argument 0) that has no value yet. */
weft_err weft__variable_fail_uninitialized(const kernel *k, const variable *v);

/* While a graph is built: returns the node that a handle comes from, through Identity, Enter, Switch, ...; NULL if
 * unknown. */
const weft_node *weft__handle_origin(const weft_graph *g, weft_out o);
/* Stores the type and the declared shape of the variable behind an edge (or behind argument i of the node), a reference
 * or a handle; WEFT_INVALID and an unknown rank if it is unknown. */
void weft__variable_declared(const weft_graph *g, weft_out from, weft_dtype *dtype, shape *out);
void weft__infer_variable(const infer *s, int i, weft_dtype *dtype, shape *out);

#endif
