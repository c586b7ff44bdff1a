/* dataflow_map.h - what the general executor knows of a plan before it runs.
 *
 * Every node belongs to a loop; loop 0 is the whole plan, whose body runs once.  A run of a loop is a
 * frame, and each time round its body is a turn, with places of its own for the nodes' states and the
 * values on edges.  Enter, Exit and NextIteration write into a turn that is not their own: a value
 * lives where it is read.  What an Enter marked constant brings in lives in the frame, and every turn
 * reads it. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_MAP_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_MAP_H

#include "exec/plan.h"
#include <stdatomic.h>

typedef enum flow_kind {
  FLOW_PLAIN,
  FLOW_MERGE,       /* runs at the first live input */
  FLOW_ENTER,       /* into turn 0 of a loop */
  FLOW_ENTER_FIXED, /* into every turn */
  FLOW_EXIT,
  FLOW_NEXT,
  FLOW_TRIGGER, /* lives even where its control inputs are dead */
  FLOW_TRANSFER /* _Send and _Recv: run even where they are dead, for the other side waits */
} flow_kind;

typedef enum flow_home { HOME_TURN, HOME_FRAME, HOME_KNOWN } flow_home;

typedef struct flow_input { /* where an input's value lies */
  flow_home home;
  int index; /* among the slots of the turn, of the frame, or of the plan (feeds and constants) */
  int uses;  /* how many inputs of the same node read this slot */
} flow_input;

typedef struct flow_edge { /* to whom a node's end is told */
  int node;
  int input; /* of that node; -1: a control edge */
  int out;   /* which output; -1 for control edges */
} flow_edge;

typedef struct flow_node { /* one per item of the plan */
  flow_kind kind;
  int loop, place; /* its loop, and its number among that loop's nodes */
  int target;      /* the loop in whose turns (frame for ENTER_FIXED) its outputs live */
  int first_out;   /* the first of its outputs there */
  int first_in;    /* the first of its inputs among those of the loop's nodes */
  int n_wait;      /* how many edges it waits for; of a merge, control edges only */
  int n_edge;
  flow_edge *edge;
  flow_input *in;
  atomic_uint cost; /* a moving mean of what its kernel takes, in ns; 0: not known */
} flow_node;

typedef struct flow_loop {
  const char *name;
  int parent;   /* -1 for loop 0 */
  int number;   /* among the parent's children */
  int parallel; /* how many turns may be under way */
  int n_node, n_slot, n_fixed, n_in, n_child, n_enter, n_exit;
  int *node;    /* items */
  int *readers; /* per slot: how many inputs read it; one more where it is fetched */
  int *enter;   /* the Enter nodes marked constant come first: fixed i was brought by enter[i] */
  int *exit;
} flow_loop;

struct flow_map {
  flow_node *node;
  flow_loop *loop;
  int n_loop;
  struct flow *idle; /* finished runs, to be used again; the plan's lock guards the list */
  int n_idle;
};

/* INVALID_ARGUMENT where frames are mixed up.  Its memory is the plan's. */
weft_err weft__flow_map_create(flow_map **out, plan *p);

#endif
