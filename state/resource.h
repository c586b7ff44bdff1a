/* resource.h - what outlives a step, found by container and name.
 *
 * A device has one `resources`.  A resource is any refcounted object with a type name; one container
 * may hold two of the same name if their types differ, as in TensorFlow.  Thread safe. */
#ifndef WEFT_STATE_RESOURCE_H
#define WEFT_STATE_RESOURCE_H

#include "graph/kernel.h"
#include "tensor/tensor.h"

typedef struct resource {
  object base;      /* refs and destroy */
  const char *type; /* "variable", "queue", ...: a literal */
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

/* The element of a WEFT_RESOURCE tensor. */
typedef struct handle {
  object base;
  char *container, *name;
  resource *target; /* a reference: reaching it costs no look-up */
} handle;
/* A scalar resource tensor that refers to target. */
weft_err weft__handle_create(weft_tensor **out, const char *container, const char *name, resource *target);
/* The resource behind a handle tensor, borrowed; INVALID_ARGUMENT if it is empty or of another type. */
weft_err weft__handle_get(const weft_tensor *t, const char *type, resource **out);

/* The name a stateful node's resource has: shared_name, else for VariableV2/VarHandleOp the node's name, else
 * (private_name) a name private to the session and node. */
weft_err weft__resource_name(const kernel *k, bool private_name, char **container, char **name);

#endif
