/* node.h - the data of a graph: its nodes and edges, and what can be read of them.
 *
 * A graph owns its nodes in one arena; nodes are never removed.  graph/graph.h makes graphs and adds nodes. */
#ifndef WEFT_GRAPH_NODE_H
#define WEFT_GRAPH_NODE_H

#include "base/arena.h"
#include "base/map.h"
#include "graph/op.h"
#include <pthread.h>

/* The newest graphs we claim to understand: the version of TensorFlow 2.15. */
#define WEFT_GRAPH_VERSION 1645

struct weft_node {
  weft_graph *graph;
  int id; /* index in graph->node */
  const char *name, *op_name;
  const op *op;       /* NULL: an op this build does not know, kept as it came */
  const char *device; /* as requested: "", "/job:ps/task:0", ... */
  int n_in, n_control, n_attr, n_out;
  weft_out *in;     /* data inputs, flattened in the order of the definition */
  int *control;     /* node ids */
  int room_control; /* that `control` has room for, if more than n_control */
  attr *attr;
  weft_dtype *out_type; /* with WEFT_REF_BASE added for references */
  shape *out_shape;
  bool no_back_prop, swap_memory; /* of an Exit: what while_loop was asked for; see weft_loop_options */
  attr_str unknown;               /* fields of its NodeDef that this build does not know, serialised; mostly empty */
};

/* Of a known op the number of inputs is right. */
static inline bool weft__node_is(const weft_node *n, op_kind kind) { return n->op && n->op->kind == kind; }

typedef struct node_change { /* what a node was before it got more inputs and outputs */
  weft_node *node;
  weft_node before;
  struct node_change *next;
} node_change;

typedef struct scope scope; /* name, device, control and colocation scopes: graph/scope.h */

typedef struct node_spec node_spec;
typedef struct function_library function_library;

struct weft_graph {
  pthread_mutex_t lock; /* held while a node is added and while a plan is made from the nodes */
  arena arena;
  const op_table *ops;
  weft_node **node;
  int n_node;
  int64_t cap_node;
  map by_name;     /* node name -> weft_node */
  map used_names;  /* lower-cased name -> what scope.c knows of it */
  map collections; /* name -> collection */
  scope *scope;
  status sticky; /* the first failure of a builder call */
  int64_t seed;  /* graph-level seed, and whether one is set */
  bool has_seed;
  int seeds_drawn; /* seed-taking ops without a seed of their own so far */
  int version_producer, version_min_consumer;
  /* While set, sees each node that is not `exact` before it is added, and may change its edges: loops are built so. */
  weft_err (*adapt)(void *arg, node_spec *spec);
  void *adapt_arg;
  weft_adapt_fn *adapt_fn; /* the program's, which `adapt` calls then */
  void *adapt_fn_arg;
  weft_gradient_fn *gradient_fn; /* the program's gradients of ops that have none; NULL if it has none */
  void *gradient_arg;
  function_library *library; /* of functions; NULL if there are none (graph/library.h) */
  bool mixed_precision;      /* of a task's part of a graph: its plans are rewritten (exec/passes/mixed_precision.h) */
  bool library_shared;       /* it belongs to the graph that calls this one, a function's body */
  struct call_chain *chain;  /* of a function's body: the calls that lead to it (graph/expansion.h) */
  attr_str meta;  /* serialised MetaGraphDef that was imported, less its graph and collections; size 0 if none */
  int generation; /* grows with every node added */
  uint16_t tag;   /* in the handles of its outputs; 0, in graphs that the library makes: handles are not checked */
  node_change *changes; /* the latest first; graph/mark.h undoes them */
};

weft_node *weft__graph_find(const weft_graph *g, const char *name); /* NULL if none */
/* "name:1", "name" (slot 0) or "^name"; NOT_FOUND / INVALID_ARGUMENT with the name. */
weft_err weft__graph_find_out(const weft_graph *g, const char *tensor_name, weft_out *out);

/* A handle of the graph's output.  The slot is in range: a node has at most 65536 outputs. */
static inline weft_out weft__graph_out(const weft_graph *g, int node, int slot) {
  return (weft_out){node, (uint16_t)slot, g->tag};
}
static inline bool weft__out_same(weft_out a, weft_out b) { return a.node == b.node && a.slot == b.slot; }
/* Returns the output behind Identity nodes: tf.cond adds an Identity of its predicate and uses both, and a loop's body may
 * give a variable back with one. */
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
/* INVALID_ARGUMENT "`what` `i` is from another graph" if the handle was made by another graph. */
weft_err weft__out_of(const weft_graph *g, weft_out o, const char *what, int i);

static inline weft_node *weft__node(const weft_graph *g, int id) { return g->node[id]; }
/* Of WEFT_NONE, which a refused node gives, the type is WEFT_INVALID and the shape unknown: code that builds several
 * nodes may ask before it looks at the error. */
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
/* The value of an output if it is known without running: a Const, or small arithmetic, shapes and
 * packing of such.  NULL if not (no error is set).  Destroy with weft_tensor_destroy. */
weft_tensor *weft__graph_constant(const weft_graph *g, weft_out o);
/* As above for a 1-D integer tensor that stands for a shape; elements not known are -1. */
bool weft__graph_constant_shape(const weft_graph *g, weft_out o, shape *out);

/* Attributes of a node.  A missing one, or one of another kind, gives the fallback. */
const attr *weft__node_attr(const weft_node *n, const char *name); /* NULL if absent */
int64_t weft__node_int(const weft_node *n, const char *name, int64_t fallback);
float weft__node_float(const weft_node *n, const char *name, float fallback);
bool weft__node_bool(const weft_node *n, const char *name, bool fallback);
weft_dtype weft__node_type(const weft_node *n, const char *name);
/* Compares a string attribute with s. */
bool weft__node_str_is(const weft_node *n, const char *name, const char *s);
attr_str weft__node_str(const weft_node *n, const char *name); /* {"",0} if absent; NUL-terminated */

/* The input and output ranges of a named argument ("values" of ConcatV2): first index and count. */
weft_err weft__node_in_range(const weft_node *n, const char *arg, int *first, int *count);
weft_err weft__node_out_range(const weft_node *n, const char *arg, int *first, int *count);

#endif
