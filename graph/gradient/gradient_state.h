/* gradient_state.h - what one call of weft__gradients keeps; for gradient.c and this folder only.
 *
 * Cycle with graph/gradient: this header is its private part, and needs the types of its public one. */
#ifndef WEFT_GRAPH_GRADIENT_GRADIENT_STATE_H
#define WEFT_GRAPH_GRADIENT_GRADIENT_STATE_H

#include "graph/build.h"
#include "graph/frames.h"
#include "graph/gradient.h"
#include "graph/scope.h"

typedef struct gradient_list { /* what has arrived for one output so far */
  grad_value *v;
  int n, capacity;
} gradient_list;

typedef struct back_frame back_frame;

typedef struct node_place { /* where a node added by this call runs */
  back_frame *back;         /* in this backward loop, or NULL: */
  int frame, branch;        /* in this forward frame (0: outside of loops), alive there */
} node_place;

typedef struct gradient_queue { /* nodes, and loops as ~frame */
  int *item, head, tail;
} gradient_queue;

typedef struct gradient_state {
  weft_graph *g;
  const gradient_opts *opts;
  arena a;
  int n;          /* forward nodes: those that were there before */
  int *first_out; /* per node: its first entry in `arrived` */
  gradient_list *arrived;
  bool *reached; /* a differentiable path leads here from an x */
  bool *between; /* and on to a y */
  bool *stop;    /* nothing flows on from here */
  bool *queued;
  int *pending; /* edges to consumers between that are not done */
  gradient_queue queue;
  const char *scope; /* "gradients", "gradients_1", ... */

  /* Loops; frames.n_frame is 0 when the graph has none. */
  frames frames;
  int *loop_pending; /* per frame: exits between that are not done */
  back_frame *now;   /* the backward loop that nodes are being added to; NULL outside */
  int branch;        /* where the node being differentiated is alive in its loop */
  node_place *place; /* of node s->n + i */
  int cap_place;
  /* The graph's adapter when the call began: of a loop or a branch that is being built around it.  NULL mostly. */
  weft_err (*outer_adapt)(void *arg, node_spec *spec);
  void *outer_arg;
} gradient_state;

bool weft__trainable(weft_dtype t); /* has derivatives (or may lead to what has) */
weft_err weft__gradient_arrive(gradient_state *s, weft_out to, const grad_value *v);
/* The sum of what arrived for one output, kept as the only entry. */
weft_err weft__gradient_total(gradient_state *s, weft_out o, grad_value *sum);

/* Queues the node if it is between and nothing is pending. */
void weft__gradient_enqueue(gradient_state *s, int node);
/* Works off a queue that is empty when it begins; start(arg) puts in the first nodes. */
weft_err weft__gradient_walk(gradient_state *s, weft_err (*start)(gradient_state *s, void *arg), void *arg);
/* One loop with everything in it, once its exits are done: the gradients of what enters it arrive. */
weft_err weft__gradient_loop(gradient_state *s, int frame);

/* ---- values from the forward pass inside backward loops: gradient_bring.c ---- */
typedef struct brought brought;
struct back_frame { /* a loop that runs the iterations of a forward loop again, last one first */
  back_frame *outer;
  int forward; /* the frame it is the way back of */
  const char *name;
  int64_t parallel;
  weft_out loop_cond, pivot; /* pivot: alive once in every iteration */
  weft_out one;              /* the constant 1, in the loop */
  int sync;                  /* ControlTrigger: iterations wait for the pops of the one before */
  weft_out entry;            /* forward: alive when the loop is entered */
  weft_out forward_pivot;
  int forward_sync;
  brought *brought[64];
};
/* Nodes from now on go to b (NULL: outside of loops); returns what it was. */
back_frame *weft__gradient_enter(gradient_state *s, back_frame *b);
/* A value as it is seen in b: of the iteration being run back, an invariant, or from further out. */
weft_err weft__gradient_bring(gradient_state *s, back_frame *b, weft_out v, weft_out *out);
weft_err weft__gradient_adapt(void *state, node_spec *spec);
/* Tells the adapter that was there before of a node that goes outside of all backward loops. */
weft_err weft__gradient_adapt_outer(gradient_state *s, node_spec *spec);
/* Nodes in a forward frame, past the adapter. */
weft_err weft__gradient_add_forward(gradient_state *s, int frame, int in_branch, const node_spec *spec, weft_out *out);
/* Nodes of a backward loop's own machinery, past the adapter. */
weft_err weft__gradient_add_back(gradient_state *s, back_frame *b, const node_spec *spec, weft_out *out);
weft_err weft__gradient_enter_value(gradient_state *s, back_frame *b, weft_out v, bool constant, weft_out *out);

#endif
