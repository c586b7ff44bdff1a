/* gradient_state.h - what one call of weft__gradients keeps; for gradient*.c only. */
#ifndef WEFT_GRAPH_GRADIENT_STATE_H
#define WEFT_GRAPH_GRADIENT_STATE_H

#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/scope.h"

typedef struct gradient_list { /* what has arrived for one output so far */
  grad_value *v;
  int n, capacity;
} gradient_list;

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
  int *queue, head, tail;
  const char *scope; /* "gradients", "gradients_1", ... */
} gradient_state;

bool weft__trainable(weft_dtype t); /* has derivatives (or may lead to what has) */
weft_err weft__gradient_arrive(gradient_state *s, weft_out to, const grad_value *v);
/* The sum of what arrived for one output, kept as the only entry. */
weft_err weft__gradient_total(gradient_state *s, weft_out o, grad_value *sum);

/* The gradients of Switch and Merge outside of loops' own machinery. */
void weft__gradient_switch(backprop *b);
void weft__gradient_merge(backprop *b);

#endif
