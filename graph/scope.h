/* scope.h - the scopes around a new node: names, devices, control edges, colocation.
 *
 * One stack holds scopes of every kind, pushed and popped with the program's blocks; each kind uses only its own
 * entries.  The rules are TensorFlow's, including the suffixes.
 *
 * How weft__graph_add uses it, for a node that is not `exact`:
 *   1. weft__scope_name           the full unique name; nothing is changed yet
 *   2. its own checks, types and shapes
 *   3. weft__scope_apply          device, control edges and `_class` onto the finished node
 *   4. weft__scope_take           marks the name as used (also for `exact` nodes)
 * Device functions may count nodes (round robin), so step 3 comes after everything that can fail. */
#ifndef WEFT_GRAPH_SCOPE_H
#define WEFT_GRAPH_SCOPE_H

#include "base/text.h"
#include "graph/node.h"

/* Creates an empty stack, which the graph owns; fails only if memory is short. */
weft_err weft__scope_create(scope **out);
void weft__scope_destroy(scope *s); /* NULL is allowed */

/* ---- for weft__graph_add ---- */
/* Returns the name that a node called `name` gets here: prefixed, and made unique with "_1", ...; "a/b/" means
 * exactly "a/b".  Returns INVALID_ARGUMENT "'...' is not a valid node name".  The graph's arena owns the result. */
weft_err weft__scope_name(weft_graph *g, const char *name, const char **full);
/* Applies the scopes to n, which is complete but not in the graph yet: sets n->device (unless has_device), adds the
 * control edges of the scopes that none of its inputs already has, and colocation. */
weft_err weft__scope_apply(weft_graph *g, weft_node *n, bool has_device);
weft_err weft__scope_take(weft_graph *g, const char *full);

/* ---- for imports ---- */
/* Applies the scopes to an imported node.  Its own device counts as the innermost device scope.  Nodes with an id >=
 * `first` do not count as waiting for the scopes already. */
weft_err weft__scope_apply_imported(weft_graph *g, weft_node *n, int first);
bool weft__scope_taken(const weft_graph *g, const char *full);
/* Returns `full`, or `full` with the first free suffix, in the arena. */
weft_err weft__scope_free_name(weft_graph *g, const char *full, const char **out);
/* weft__scope_names returns the number of names taken so far.  weft__scope_forget frees the names after the first
 * `names`, and forgets the nodes with an id >= `nodes`. */
int weft__scope_names(const weft_graph *g);
void weft__scope_forget(weft_graph *g, int names, int nodes);

/* ---- the stack ---- */
/* Removes the innermost scope of any kind. */
void weft__scope_pop(weft_graph *g);
/* Returns the current depth.  weft__scope_pop_to pops back to a depth, to unwind after an error. */
int weft__scope_depth(const weft_graph *g);
void weft__scope_pop_to(weft_graph *g, int depth);

/* weft__scope_park removes the scopes above `depth` from the stack and stores them in *out, with the counts of
 * default names of variable scopes.  weft__scope_unpark pushes them again, restores the counts, and frees p, also on
 * failure. */
typedef struct parked_scopes parked_scopes;
weft_err weft__scope_park(weft_graph *g, int depth, parked_scopes **out);
weft_err weft__scope_unpark(weft_graph *g, parked_scopes *p);

/* tf.name_scope: made unique below the current one. "a/b/" re-enters exactly that scope; NULL or "" is the root.
 * Returns INVALID_ARGUMENT "'...' is not a valid scope name". */
weft_err weft__scope_push_name(weft_graph *g, const char *name);
const char *weft__scope_prefix(const weft_graph *g); /* "a/b", or "" at the root */
/* tf.Graph.unique_name: returns a full name and marks it as used.  The arena owns the result. */
weft_err weft__scope_unique(weft_graph *g, const char *name, const char **full);

/* tf.device with a string: it sets the fields that inner scopes leave open.  NULL ignores the outer ones. */
weft_err weft__scope_push_device(weft_graph *g, const char *name);
/* tf.device with a function: it gets the node and the device of the inner scopes, and writes the device to use. */
typedef weft_err device_fn(void *arg, const weft_node *n, const char *current, text *out);
weft_err weft__scope_push_device_fn(weft_graph *g, device_fn *fn, void *arg);

/* tf.control_dependencies; n < 0 means None: outer control scopes do not apply inside. */
weft_err weft__scope_push_control(weft_graph *g, int n, const int *node_ids);

/* tf.colocate_with: suspends outer device scopes; ignore_existing also drops outer colocations. node_id < 0 (None)
 * needs ignore_existing. */
weft_err weft__scope_push_colocate(weft_graph *g, int node_id, bool ignore_existing);

/* Like TF's variables for their initializers: `_class` of the following nodes becomes "loc:@node".  It has no effect
 * on devices, and none where a colocate scope applies. */
weft_err weft__scope_push_class(weft_graph *g, const char *node);
/* tf.container: stateful nodes with an empty `container` attribute get this one. */
weft_err weft__scope_push_container(weft_graph *g, const char *container);
/* Graph.gradient_override_map, for one pair: nodes of this op get the attribute `_gradient_op_type`. */
weft_err weft__scope_push_gradient(weft_graph *g, const char *op_type, const char *gradient);

/* ---- replica_device_setter ---- */
typedef struct replica_setter replica_setter;
typedef struct replica_opts {
  int ps_tasks;              /* 0: the setter does nothing */
  const char *ps_device;     /* NULL: "/job:ps" */
  const char *worker_device; /* NULL: "/job:worker" */
  bool by_bytes;             /* the task with the least load, not the next one */
  int n_ps_ops;              /* 0: TensorFlow's list */
  const char *const *ps_ops;
} replica_opts;
weft_err weft__replica_setter_create(replica_setter **out, const replica_opts *opts);
void weft__replica_setter_destroy(replica_setter *r);
/* A device_fn; arg is the setter, which may be entered any number of times. */
weft_err weft__replica_setter_device(void *arg, const weft_node *n, const char *current, text *out);

/* ---- seeds ---- */
/* Returns the seed and seed2 attributes of a seed-taking op; has_op_seed says whether it has its own seed.  Counts
 * the op. */
void weft__graph_seeds(weft_graph *g, bool has_op_seed, int64_t op_seed, int64_t *seed, int64_t *seed2);
/* TF 1.x derives seed2 from the number of nodes so far; 2.15 (the default) counts seed-taking ops. */
void weft__graph_seed_by_nodes(weft_graph *g, bool on);

#endif
