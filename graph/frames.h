/* frames.h - the loops and branches of a graph, found from its nodes alone.
 *
 * An imported graph carries no contexts, but its Enter, Merge, Switch, NextIteration and Exit nodes
 * say as much: which frame each node runs in, what a frame's variables are, and on which side of
 * which condition a node is alive. */
#ifndef WEFT_GRAPH_FRAMES_H
#define WEFT_GRAPH_FRAMES_H

#include "graph/graph.h"

typedef struct loop_var { /* node ids; exit and next are -1 where there is none */
  int enter, merge, sw, next, exit;
} loop_var;

typedef struct loop_frame {
  int parent; /* frame number; -1 for the root */
  const char *name;
  int depth;     /* 0: the root */
  int loop_cond; /* LoopCond node, or -1 */
  int odd;       /* a node that shows that while_loop did not build it, or -1: not every variable may be found */
  bool iterates; /* it has a NextIteration: else what enters it is there once */
  int branch;    /* where it is alive in its parent, when that is a loop */
  int n_var, n_enter, n_exit;
  loop_var *var;
  int *enter; /* every Enter into it, variables and invariants */
  int *exit;
} loop_frame;

typedef struct branch { /* one side of a condition */
  int parent;           /* branch number; -1 for number 0, which is always alive in its frame */
  weft_out pred;
  int side; /* 0 or 1 */
  int depth;
} branch;

typedef struct frames {
  int n_node; /* nodes looked at */
  int *home;  /* per node: the frame its outputs are in */
  int *alive; /* per node in a loop: the branch it is alive in (a Switch: its inputs') */
  bool *open; /* per node: an Enter into a loop that is still being built; NULL if there are none */
  loop_frame *frame;
  int n_frame, cap_frame;
  branch *branch;
  int n_branch, cap_branch;
} frames;

/* All memory is from `a`.  With `open`, loops that are still being built (nothing goes round yet) are taken as part of
 * what is around them.  A loop that while_loop did not build (Enter and Exit without a condition, two conditions) is
 * marked as odd. */
weft_err weft__frames_find(frames *f, const weft_graph *g, bool open, arena *a);
weft_err weft__frames_odd(const loop_frame *l, const weft_graph *g); /* INVALID_ARGUMENT that names its odd node */
/* The branch an output is alive in. */
int weft__frames_branch(const frames *f, const weft_graph *g, weft_out o);
bool weft__frames_is_loop_switch(const frames *f, const weft_graph *g, int node);

#endif
