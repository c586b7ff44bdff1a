/* resource.h - resources: objects that outlive a step, such as variables and queues, found by container and name.
 *
 * A device has one table, `resources`.  A resource is a reference-counted object with a type name.  As in TensorFlow,
 * one container may have two resources of the same name if their types differ.  Any thread may call these functions.
 * The lock of the table is held while a resource is created, and never while one is dropped or destroyed. */
#ifndef WEFT_STATE_RESOURCE_H
#define WEFT_STATE_RESOURCE_H

#include "graph/kernel.h"
#include "tensor/tensor.h"

typedef struct resource {
  object base;                         /* refs and destroy */
  const char *type;                    /* "variable", "queue", ...: a literal */
  void (*dropped)(struct resource *r); /* optional: it has left the table (deleted, container cleared),
                                          although others may still hold it; no lock is held */
} resource;

/* Creates an empty table, which the caller destroys; fails only if memory is short. */
weft_err weft__resources_create(resources **out);
void weft__resources_destroy(resources *r); /* drops all resources; does nothing for NULL */

typedef weft_err resource_make(resource **out, void *arg);
/* Finds the resource or creates it with `make`; the caller owns a reference to *out.  An empty container means
 * "localhost".  Returns the error of `make`, which runs under the lock of the table and only allocates. */
weft_err weft__resource_get(resources *r, const char *container, const char *type, const char *name,
                            resource_make *make, void *arg, resource **out);
/* Finds the resource; the caller owns a reference to *out.  Returns NOT_FOUND "Resource CONTAINER/NAME/TYPE does not
 * exist."; so does weft__resource_delete. */
weft_err weft__resource_find(resources *r, const char *container, const char *type, const char *name, resource **out);
weft_err weft__resource_delete(resources *r, const char *container, const char *type, const char *name);
void weft__resources_clear(resources *r, const char *container); /* drops all of a container; NULL: of all containers */
/* Calls fn for every resource of a type, without the lock; a reference is held for the call.  Returns
 * RESOURCE_EXHAUSTED. */
weft_err weft__resources_each(resources *r, const char *type, void (*fn)(void *arg, const char *name, resource *found),
                              void *arg);
/* Returns a number that grows when a resource leaves the table: cached results must then be looked up again. */
uint64_t weft__resources_generation(const resources *r);
/* Drops the private resources of a session (queues, readers, ... without shared_name).  Called when it closes. */
void weft__resources_end_session(resources *r, const char *session);

/* The element of a WEFT_RESOURCE tensor. */
typedef struct handle {
  object base;
  char *container, *name;
  resource *target; /* a reference, so that no lookup is needed */
} handle;
/* Creates a scalar resource tensor that refers to target, which is retained.  The caller destroys *out. */
weft_err weft__handle_create(weft_tensor **out, const char *container, const char *name, resource *target);
const handle *weft__handle_of(const weft_tensor *t); /* borrowed; NULL if t has none */
/* Stores the resource of a handle tensor, borrowed.  Returns INVALID_ARGUMENT if t is empty or the type differs. */
weft_err weft__handle_get(const weft_tensor *t, const char *type, resource **out);

/* Stores the container and the name of a stateful node's resource, which the caller frees.  The name is shared_name,
 * else the node's name, or with is_private a name "_N_NODE" that is private to the session and the node. */
weft_err weft__resource_name(const kernel *k, bool is_private, char **container, char **name);

/* For nodes that stand for a resource (VariableV2, FIFOQueueV2, ...).  The resource is found or created in the first
 * run of a plan, cached by the plan, and looked up again only after a resource was deleted.  These are .prepare and
 * .unprepare of such ops. */
weft_err weft__resource_prepare(const weft_node *node, void **state);
void weft__resource_unprepare(void *state);
typedef struct resource_maker { /* the argument of `make` */
  const weft_node *node;
  const char *name;
} resource_maker;
typedef struct resource_kind {
  const char *type;
  bool is_private;
  resource_make *make; /* called with a resource_maker, with the lock of the table held */
} resource_kind;
/* Stores the resource and its handle, both borrowed from the plan; either pointer may be NULL. */
weft_err weft__resource_of_node(kernel *k, const resource_kind *kind, resource **target, const weft_tensor **h);
/* The same, and output 0 becomes the handle: a resource tensor, or for older ops a reference to the strings
 * {container, name}. */
weft_err weft__resource_output(kernel *k, const resource_kind *kind, resource **target);
/* Creates the handle of an older op: a variable with the strings {container, name}, which the caller releases. */
weft_err weft__resource_ref_create(variable **out, const char *container, const char *name);
/* The shape rule of such an op: output 0 is a handle of one of these kinds. */
weft_err weft__resource_infer(infer *s);
/* Stores the resource of argument i, for either kind of handle.  The caller owns a reference to *out. */
weft_err weft__kernel_resource(const kernel *k, int i, const char *type, resource **out);

#endif
