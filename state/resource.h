/* resource.h - what outlives a step, found by container and name.
 *
 * A device has one `resources`.  A resource is any refcounted object with a type name; one container
 * may hold two of the same name if their types differ, as in TensorFlow.  Thread safe. */
#ifndef WEFT_STATE_RESOURCE_H
#define WEFT_STATE_RESOURCE_H

#include "graph/kernel.h"
#include "tensor/tensor.h"

typedef struct resource {
  object base;                         /* refs and destroy */
  const char *type;                    /* "variable", "queue", ...: a literal */
  void (*dropped)(struct resource *r); /* optional: it has left the table (deleted, container cleared) though
                                          others may still hold it; no lock is held */
} resource;

weft_err weft__resources_create(resources **out);
void weft__resources_destroy(resources *r);

typedef weft_err resource_make(resource **out, void *arg);
/* Finds or makes; *out comes with a reference.  An empty container means "localhost". */
weft_err weft__resource_get(resources *r, const char *container, const char *type, const char *name,
                            resource_make *make, void *arg, resource **out);
/* NOT_FOUND "Resource CONTAINER/NAME/TYPE does not exist." */
weft_err weft__resource_find(resources *r, const char *container, const char *type, const char *name, resource **out);
weft_err weft__resource_delete(resources *r, const char *container, const char *type, const char *name);
void weft__resources_clear(resources *r, const char *container); /* Reset, CleanupAll; NULL: every container */
/* Tells fn of every resource of a type: without the lock, and with a reference held meanwhile. */
weft_err weft__resources_each(resources *r, const char *type, void (*fn)(void *arg, const char *name, resource *found),
                              void *arg);
/* Grows when anything leaves the table: what was found before must be looked up again. */
uint64_t weft__resources_generation(const resources *r);
/* Drops what is private to a session (queues, readers, ... without shared_name); called when it closes. */
void weft__resources_end_session(resources *r, const char *session);

/* The element of a WEFT_RESOURCE tensor. */
typedef struct handle {
  object base;
  char *container, *name;
  resource *target; /* a reference: reaching it costs no look-up */
} handle;
/* A scalar resource tensor that refers to target. */
weft_err weft__handle_create(weft_tensor **out, const char *container, const char *name, resource *target);
const handle *weft__handle_of(const weft_tensor *t); /* NULL if t holds none; borrowed */
/* The resource behind a handle tensor, borrowed; INVALID_ARGUMENT if it is empty or of another type. */
weft_err weft__handle_get(const weft_tensor *t, const char *type, resource **out);

/* The name a stateful node's resource has: shared_name, else the node's name (variables) or, is_private, a name
 * "_N_NODE" private to the session and node. */
weft_err weft__resource_name(const kernel *k, bool is_private, char **container, char **name);

/* A node that stands for a resource (VariableV2, FIFOQueueV2, ...): found or made on the first run of a plan,
 * remembered by it, looked up again only after something was deleted.  .prepare and .unprepare are these. */
weft_err weft__resource_prepare(const weft_node *node, void **state);
void weft__resource_unprepare(void *state);
typedef struct resource_maker { /* what `make` gets as its argument */
  const weft_node *node;
  const char *name;
} resource_maker;
typedef struct resource_kind {
  const char *type;
  bool is_private;
  resource_make *make; /* called with a resource_maker, the table's lock held */
} resource_kind;
/* target and handle are borrowed from the plan; either may be NULL. */
weft_err weft__resource_of_node(kernel *k, const resource_kind *kind, resource **target, const weft_tensor **h);
/* As above, and output 0 becomes its handle: a resource, or for the older ops a reference to the strings
 * {container, name}. */
weft_err weft__resource_output(kernel *k, const resource_kind *kind, resource **target);
/* The resource behind argument i, either kind of handle; comes with a reference. */
weft_err weft__kernel_resource(const kernel *k, int i, const char *type, resource **out);

#endif
