/* node.h - the data of a graph: its nodes and edges, and functions that read them.
 *
 * A graph owns its nodes in one arena; nodes are never removed. graph/graph.h creates graphs and adds nodes. */
#ifndef WEFT_GRAPH_NODE_H
#define WEFT_GRAPH_NODE_H

#include "base/arena.h"
#include "base/map.h"
#include "graph/op.h"
#include <pthread.h>

/* The graph version that we support: that of TensorFlow 2.15. */
#define WEFT_GRAPH_VERSION 1645

struct weft_node {
  weft_graph *graph;
  int id; /* index in graph->node */
  const char *name, *op_name;
  const op *op;       /* NULL: an unknown op, kept unchanged */
  const char *device; /* as requested: "", "/job:ps/task:0", ... */
  int n_in, n_control, n_attr, n_out;
  weft_out *in;     /* data inputs, flattened in the order of the definition */
  int *control;     /* node ids */
  int room_control; /* capacity of `control`, if more than n_control */
  attr *attr;
  weft_dtype *out_type; /* with WEFT_REF_BASE added for references */
  shape *out_shape;
  bool no_back_prop, swap_memory; /* for an Exit: options of while_loop; see weft_loop_options */
  attr_str unknown;               /* unknown fields of its NodeDef, serialized; usually empty */
};

/* Returns true if the node has this kind.  The number of inputs of a known op is always right. */
static inline bool weft__node_is(const weft_node *n, op_kind kind) { return n->op && n->op->kind == kind; }

typedef struct node_change { /* the state of a node before it got more inputs and outputs */
  weft_node *node;
  weft_node before;
  struct node_change *next;
} node_change;

typedef struct scope scope; /* name, device, control and colocation scopes: graph/scope.h */

typedef struct node_spec node_spec;
typedef struct function_library function_library;

struct weft_graph {
  pthread_mutex_t lock; /* held while a node is added and while a plan is built from the nodes */
  arena arena;
  const op_table *ops;
  weft_node **node;
  int n_node;
  int64_t cap_node;
  map by_name;     /* node name -> weft_node */
  map used_names;  /* lower-cased name -> data of scope.c */
  map collections; /* name -> collection */
  scope *scope;
  status sticky; /* the first failure of a build.h call */
  int64_t seed;  /* graph-level seed, and whether one is set */
  bool has_seed;
  int seeds_drawn; /* number of seed-taking ops so far without a seed of their own */
  int version_producer, version_min_consumer;
  /* If set, called for each node that is not `exact` before it is added; it may change the node's edges.  Loops are
   * built with it. */
  weft_err (*adapt)(void *arg, node_spec *spec);
  void *adapt_arg;
  weft_adapt_fn *adapt_fn; /* the program's function, which `adapt` then calls */
  void *adapt_fn_arg;
  weft_gradient_fn *gradient_fn; /* the program's gradients of ops that have none; NULL: none */
  void *gradient_arg;
  function_library *library; /* the functions; NULL if there are none (graph/library.h) */
  bool mixed_precision;      /* for a task's part of a graph: rewrite its plans (exec/passes/mixed_precision.h) */
  bool library_shared;       /* for a function's body: the library belongs to the calling graph */
  struct call_chain *chain;  /* for a function's body: the chain of calls that leads to it (graph/expansion.h) */
  attr_str meta;  /* the imported MetaGraphDef, serialized, without its graph and collections; size 0 if none */
  int generation; /* grows with every node added */
  /* stored in the handles of its outputs; 0 for graphs that the library makes, whose handles are not checked */
  uint16_t tag;
  node_change *changes; /* the latest first; graph/mark.h undoes them */
};

weft_node *weft__graph_find(const weft_graph *g, const char *name); /* NULL if none */
/* Finds "name:1", "name" (slot 0) or "^name".  NOT_FOUND and INVALID_ARGUMENT contain the name. */
weft_err weft__graph_find_out(const weft_graph *g, const char *tensor_name, weft_out *out);

/* Makes a handle of the graph's output.  The slot is in range: a node has at most 65536 outputs. */
static inline weft_out weft__graph_out(const weft_graph *g, int node, int slot) {
  return (weft_out){node, (uint16_t)slot, g->tag};
}
static inline bool weft__out_same(weft_out a, weft_out b) { return a.node == b.node && a.slot == b.slot; }
/* Skips Identity nodes and returns their source: tf.cond adds an Identity of its predicate and uses both, and a
 * loop's body may return a variable through one. */
static inline weft_out weft__out_behind_identity(const weft_graph *g, weft_out o) {
  while (weft__node_is(g->node[o.node], KIND_IDENTITY)) o = g->node[o.node]->in[0];
  return o;
}
static inline bool weft__out_exists(const weft_graph *g, weft_out o) {
  return o.node >= 0 && o.node < g->n_node && o.slot < g->node[o.node]->n_out;
}
static inline bool weft__out_foreign(const weft_graph *g, weft_out o) { return o.graph && g->tag && o.graph != g->tag; }
/* Returns true if the output is one of this graph. */
static inline bool weft__out_belongs(const weft_graph *g, weft_out o) {
  return weft__out_exists(g, o) && !weft__out_foreign(g, o);
}
/* Returns INVALID_ARGUMENT "`what` `i` is from another graph" if the handle belongs to another graph. */
weft_err weft__out_of(const weft_graph *g, weft_out o, const char *what, int i);

static inline weft_node *weft__node(const weft_graph *g, int id) { return g->node[id]; }
/* For WEFT_NONE, the result of a rejected node, the type is WEFT_INVALID and the shape unknown.  So code that builds
 * several nodes may ask before it checks the error. */
static inline weft_dtype weft__out_type(const weft_graph *g, weft_out o) { /* without the ref mark */
  return o.node < 0 ? WEFT_INVALID : weft__dtype_base(g->node[o.node]->out_type[o.slot]);
}
static inline bool weft__out_is_ref(const weft_graph *g, weft_out o) {
  return o.node >= 0 && (int)g->node[o.node]->out_type[o.slot] > WEFT_REF_BASE;
}
static inline const shape *weft__out_shape(const weft_graph *g, weft_out o) {
  static const shape unknown = {.rank = -1};
  return o.node < 0 ? &unknown : &g->node[o.node]->out_shape[o.slot];
}
/* Adds what the caller knows of a static shape; INVALID_ARGUMENT if it contradicts what is known already. */
weft_err weft__out_merge_shape(weft_graph *g, weft_out o, const shape *more);
/* Returns the value of an output if it is known without running: a Const, or small arithmetic, shapes and packing of
 * constants.  Returns NULL otherwise (no error is set).  Destroy it with weft_tensor_destroy. */
weft_tensor *weft__graph_constant(const weft_graph *g, weft_out o);
/* The same for a 1-D integer tensor that stands for a shape; unknown elements are -1. */
bool weft__graph_constant_shape(const weft_graph *g, weft_out o, shape *out);

/* Attributes of a node.  If one is missing or has another kind, the fallback is returned. */
const attr *weft__node_attr(const weft_node *n, const char *name); /* NULL if absent */
int64_t weft__node_int(const weft_node *n, const char *name, int64_t fallback);
float weft__node_float(const weft_node *n, const char *name, float fallback);
bool weft__node_bool(const weft_node *n, const char *name, bool fallback);
weft_dtype weft__node_type(const weft_node *n, const char *name);
/* Compares a string attribute with s. */
bool weft__node_str_is(const weft_node *n, const char *name, const char *s);
attr_str weft__node_str(const weft_node *n, const char *name); /* {"",0} if absent; NUL-terminated */

/* Finds the range of inputs or outputs of a named argument ("values" of ConcatV2): first index and count. */
weft_err weft__node_in_range(const weft_node *n, const char *arg, int *first, int *count);
weft_err weft__node_out_range(const weft_node *n, const char *arg, int *first, int *count);

#endif
