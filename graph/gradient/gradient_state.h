/* gradient_state.h - the state of one call of weft__gradients; for gradient.c and this folder only.
 *
 * Include cycle with graph/gradient: this header is its private part, and needs the types of its public one. */
#ifndef WEFT_GRAPH_GRADIENT_GRADIENT_STATE_H
#define WEFT_GRAPH_GRADIENT_GRADIENT_STATE_H

#include "graph/build.h"
#include "graph/frames.h"
#include "graph/gradient.h"
#include "graph/scope.h"

typedef struct gradient_list { /* the gradients of one output so far */
  grad_value *v;
  int n;
  int64_t capacity;
} gradient_list;

typedef struct back_frame back_frame;

typedef struct node_place { /* where a node of this call runs */
  back_frame *back;         /* in this backward loop; or, if NULL, */
  int frame, branch;        /* in this forward frame (0: outside loops) and branch */
} node_place;

typedef struct gradient_queue { /* nodes, and loops as ~frame */
  int *item, head, tail;
} gradient_queue;

typedef struct gradient_state {
  weft_graph *g;
  const gradient_opts *opts;
  arena a;
  int n;          /* number of forward nodes: those before the call */
  int *first_out; /* per node: the index of its first output in `arrived` */
  gradient_list *arrived;
  bool *reached; /* a differentiable path leads here from an x */
  bool *between; /* and a path leads on to a y */
  bool *stop;    /* no gradient flows on from here */
  bool *queued;
  int *pending; /* edges to consumers between that are not processed yet */
  gradient_queue queue;
  const char *scope; /* "gradients", "gradients_1", ... */

  /* The loops of the graph; frames.n_frame is 0 if there are none. */
  frames frames;
  int *loop_pending; /* per frame: exits between that are not processed yet */
  back_frame *now;   /* the backward loop to which nodes are being added, or NULL */
  int branch;        /* the branch in which the node being differentiated is alive */
  node_place *place; /* place of node s->n + i */
  int64_t cap_place;
  /* The graph's adapter when the call began, of a loop or branch that is being built around it.  Usually NULL. */
  weft_err (*outer_adapt)(void *arg, node_spec *spec);
  void *outer_arg;
} gradient_state;

bool weft__trainable(weft_dtype t); /* the type has derivatives (or may lead to one that has) */
/* Adds a gradient to those of an output of a forward node; GRAD_NONE adds nothing.  Fails only if memory is short. */
weft_err weft__gradient_arrive(gradient_state *s, weft_out to, const grad_value *v);
/* Sums the gradients of one output, and keeps the sum as the only entry. */
weft_err weft__gradient_total(gradient_state *s, weft_out o, grad_value *sum);

/* Enqueues the node if it is between xs and ys and nothing is pending. */
void weft__gradient_enqueue(gradient_state *s, int node);
/* Processes a queue that is empty at first; start(arg) enqueues the first nodes. */
weft_err weft__gradient_walk(gradient_state *s, weft_err (*start)(gradient_state *s, void *arg), void *arg);
/* Differentiates one loop with everything in it, after all its exits are processed.  The gradients of its inputs are
 * added. */
weft_err weft__gradient_loop(gradient_state *s, int frame);

/* ---- values from the forward pass in backward loops: gradient_bring.c ---- */
typedef struct brought brought;
struct back_frame { /* a loop that runs the iterations of a forward loop in reverse order */
  back_frame *outer;
  int forward; /* the forward frame that it reverses */
  const char *name;
  int64_t parallel;
  weft_out loop_cond, pivot; /* pivot: alive once in every iteration */
  weft_out one;              /* the constant 1, in the loop */
  int sync;                  /* ControlTrigger: the next iteration waits for the pops of this one */
  weft_out entry;            /* forward: alive if the loop is entered */
  weft_out forward_pivot;
  int forward_sync;
  brought *brought[64];
};
/* Adds the following nodes to b (NULL: outside loops).  Returns the previous value. */
back_frame *weft__gradient_enter(gradient_state *s, back_frame *b);
/* Returns a value as it is seen in b: from the matching forward iteration, an invariant, or from an outer loop. */
weft_err weft__gradient_bring(gradient_state *s, back_frame *b, weft_out v, weft_out *out);
weft_err weft__gradient_adapt(void *state, node_spec *spec);
/* Calls the previous adapter for a node outside all backward loops. */
weft_err weft__gradient_adapt_outer(gradient_state *s, node_spec *spec);
/* Adds nodes to a forward frame, without the adapter. */
weft_err weft__gradient_add_forward(gradient_state *s, int frame, int in_branch, const node_spec *spec, weft_out *out);
/* Adds control nodes of a backward loop, without the adapter. */
weft_err weft__gradient_add_back(gradient_state *s, back_frame *b, const node_spec *spec, weft_out *out);
weft_err weft__gradient_enter_value(gradient_state *s, back_frame *b, weft_out v, bool constant, weft_out *out);

#endif
