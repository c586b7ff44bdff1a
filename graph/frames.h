/* frames.h - finds the loops and branches of a graph from its nodes.
 *
 * An imported graph has no control flow contexts.  But its Enter, Merge, Switch, NextIteration and Exit nodes
 * determine the frame of each node, the variables of each frame, and the side of each condition on which a node is
 * alive. */
#ifndef WEFT_GRAPH_FRAMES_H
#define WEFT_GRAPH_FRAMES_H

#include "graph/graph.h"

typedef struct loop_var { /* node ids; exit and next are -1 if there is none */
  int enter, merge, sw, next, exit;
} loop_var;

typedef struct loop_frame {
  int parent; /* frame number; -1 for the root */
  const char *name;
  int depth;     /* 0: the root */
  int loop_cond; /* LoopCond node, or -1 */
  int odd;       /* a node that while_loop would not have built, or -1; then not every variable may be found */
  bool iterates; /* it has a NextIteration; otherwise it runs only once */
  int branch;    /* the branch of its parent in which it is alive, if that is a loop */
  int n_var, n_enter, n_exit;
  int64_t cap_var, cap_enter, cap_exit;
  loop_var *var;
  int *enter; /* every Enter into it, of variables and invariants */
  int *exit;
} loop_frame;

typedef struct branch { /* one side of a condition */
  int parent;           /* branch number; -1 for branch 0, which is always alive in its frame */
  weft_out pred;
  int side; /* 0 or 1 */
  int depth;
} branch;

typedef struct frames {
  int n_node; /* number of nodes visited */
  int *home;  /* per node: the frame of its outputs */
  int *alive; /* per node in a loop: the branch in which it is alive (for a Switch, that of its inputs) */
  bool *open; /* per node: an Enter into a loop that is still being built; NULL if there are none */
  loop_frame *frame;
  int n_frame;
  int64_t cap_frame;
  branch *branch;
  int n_branch;
  int64_t cap_branch;
} frames;

/* Finds all frames and branches, with memory from `a`.  With `open`, loops that are still being built (without a
 * NextIteration yet) count as part of the enclosing frame.  A loop that while_loop did not build (Enter and Exit
 * without a condition, two conditions) is marked as odd. */
weft_err weft__frames_find(frames *f, const weft_graph *g, bool open, arena *a);
/* Returns INVALID_ARGUMENT with the name of the frame's odd node. */
weft_err weft__frames_odd(const loop_frame *l, const weft_graph *g);
/* Returns the branch in which an output is alive. */
int weft__frames_branch(const frames *f, const weft_graph *g, weft_out o);
bool weft__frames_is_loop_switch(const frames *f, const weft_graph *g, int node);

#endif
