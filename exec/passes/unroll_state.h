/* unroll_state.h - what the files of the unrolling pass share.
 *
 * The pass runs the dataflow of the request once with symbols in place of values.  A symbol is a known value, an output
 * of the new graph, or a TensorArray or stack that exists only while the pass runs.
 *
 * Order: nodes that only compute need no control edges in the new graph.  Each symbol has the set of nodes with effects
 * (those that read or change variables, or act) that it depends on, through data and control edges.  A node with
 * effects waits for the whole set of its inputs. */
#ifndef WEFT_EXEC_PASSES_UNROLL_STATE_H
#define WEFT_EXEC_PASSES_UNROLL_STATE_H

#include "exec/feeds.h"
#include "exec/passes/order.h"
#include "exec/passes/unrolled_graph.h"
#include "graph/frames.h"

enum {
  UNROLL_MAX_NODES = 40000,      /* nodes of the new graph */
  UNROLL_MAX_HOST_NODES = 20000, /* with loops, and all on the host: more take longer to compile than they save soon */
  UNROLL_MAX_KNOWN = 1 << 16     /* bytes of a known value */
};

typedef struct symbol {
  weft_out out;              /* of the new graph; node < 0: none yet */
  const weft_tensor *known;  /* its value; NULL: not known */
  struct step_store *object; /* the TensorArray or stack that it is the handle of */
  int variable;              /* the node of the variable whose value its readers read when they run; -1: none */
  int version;               /* of that variable, at the Enter that bound its value; 0: it is not bound */
  int after;                 /* the number of the set of effects that it depends on; 0: none */
  bool dead, there;          /* there: it has arrived in its iteration */
} symbol;

typedef struct step_store { /* a TensorArray or a stack */
  symbol *element;
  bool *written, *taken;
  int64_t n, room, room_written, room_taken;
  bool dynamic, keeps; /* of an array: grows; may be read more than once */
  bool sums;           /* of a gradient: what is written to a place is added up */
  bool uniform;        /* all elements have one shape */
  const char *source;  /* of a gradient: its name */
  struct step_store *of, *gradients, *next_gradient, *next;
} step_store;

typedef struct effects { /* a sorted set of nodes of the new graph */
  int *node;
  int n;
} effects;

typedef struct constant_made {
  const weft_tensor *value;
  weft_out out;
} constant_made;

typedef struct variable_use { /* of a reference variable */
  int version;                /* grows with each update */
  int *reader;                /* nodes of the new graph that read the value an Enter bound: an update waits for them */
  int n;
  int64_t room;
} variable_use;

typedef struct unroller {
  weft_graph *g;
  const plan_request *r;
  const plan_devices *where;
  unrolled_graph *made;
  int most; /* nodes of the new graph */
  feeds feeds;
  waits waits;
  frames frames;
  arena arena; /* of the pass */
  int *order, n_order;
  bool *ordered;     /* per node of g */
  int *copies;       /* per node of g: how many of it there are in the new graph */
  int *last_copy;    /* per node of g: the latest; -1: none */
  variable_use *use; /* per node of g */
  bool *padded;      /* per node of g: its copy pads the distinct ids (unroll_distinct.c); NULL: none does */
  symbol *fed;       /* per feed */
  effects *set;
  int n_set;
  constant_made *constant;
  int n_constant;
  weft_tensor **known; /* values that the pass owns */
  int n_known;
  int *effect; /* nodes of the new graph that must run */
  int n_effect;
  int64_t room_set, room_constant, room_known, room_effect;
  step_store *stores;
} unroller;

/* Gives up: the request keeps its loops, for this reason. */
weft_err weft__unroll_stuck(const char *fmt, ...) WEFT_PRINTF(1, 2);

/* ---- unroll_emit.c ---- */
weft_err weft__unroll_union(unroller *u, int a, int b, int *out); /* of two sets of effects */
/* Makes sure that the symbol has an output in the new graph; `place` is the device of a reader. */
weft_err weft__unroll_materialize(unroller *u, symbol *s, int place);
/* Copies the value, which the pass then owns. */
weft_err weft__unroll_keep(unroller *u, const weft_tensor *t, const weft_tensor **out);
/* Adds a node to the new graph; `place` is its device. */
weft_err weft__unroll_add(unroller *u, const node_spec *spec, int place, weft_node **out);
/* Adds a node that the pass itself needs, on the device of node n and named as it in errors. */
weft_err weft__unroll_helper(unroller *u, const weft_node *n, const char *op_name, int n_in, symbol *in, int n_attr,
                             const attr *attrs, weft_node **made);
/* Runs a node that is no control flow: out gets its outputs, *after what control edges from it carry.  `after` are the
 * effects that the node depends on. */
weft_err weft__unroll_node(unroller *u, const weft_node *n, symbol *in, int after, symbol *out, int *done);

/* ---- unroll_sums.c ---- */
/* Replaces sums of products, one of each iteration, by one product.  The request of the new graph is complete. */
weft_err weft__unroll_sums(unroller *u);

/* ---- unroll_distinct.c ---- */
/* Fills u->padded; *any: there is such a node.  The frames and the order are known. */
weft_err weft__unroll_distinct(unroller *u, bool *any);

/* ---- unroll_arrays.c ---- */
/* As weft__unroll_node if the node's op acts on TensorArrays or stacks; *is says so. */
weft_err weft__unroll_array_op(unroller *u, const weft_node *n, symbol *in, int after, symbol *out, bool *is);

#endif
