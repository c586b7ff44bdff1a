/* dataflow_map.h - what the dataflow executor knows of a plan before it runs.
 *
 * Every node belongs to a loop; loop 0 is the whole plan, whose body runs once.  A run of a loop is a frame.  Each pass
 * through its body is an iteration, which has its own node states and slots.  A value is stored where it is read:
 * Enter, Exit and NextIteration write into another iteration than their own.  The value of an Enter marked constant is
 * stored in the frame, and every iteration reads it. */
#ifndef WEFT_EXEC_EXECUTORS_DATAFLOW_MAP_H
#define WEFT_EXEC_EXECUTORS_DATAFLOW_MAP_H

#include "exec/plan.h"
#include <stdatomic.h>

typedef enum dataflow_kind {
  DATAFLOW_PLAIN,
  DATAFLOW_MERGE,          /* runs at the first live input */
  DATAFLOW_ENTER,          /* into iteration 0 of a loop */
  DATAFLOW_ENTER_CONSTANT, /* into every iteration */
  DATAFLOW_EXIT,
  DATAFLOW_NEXT,
  DATAFLOW_TRIGGER, /* lives even where its control inputs are dead */
  DATAFLOW_TRANSFER /* _Send and _Recv: run even where they are dead, for the other side waits */
} dataflow_kind;

typedef enum dataflow_home { HOME_ITERATION, HOME_FRAME, HOME_PLAN } dataflow_home;

typedef struct dataflow_input { /* where an input's value lies */
  dataflow_home home;
  int index; /* among the slots of the iteration, of the frame, or of the plan (feeds and constants) */
  int uses;  /* how many inputs of the same node read this slot */
} dataflow_input;

typedef struct dataflow_edge { /* from a node to one that reads it or waits for it */
  int node;
  int input; /* of that node; -1: a control edge */
  int out;   /* which output; -1 for control edges */
} dataflow_edge;

typedef struct dataflow_node { /* one per item of the plan */
  dataflow_kind kind;
  int loop, place; /* its loop, and its number among that loop's nodes */
  int target;      /* the loop in whose iterations (frames for ENTER_CONSTANT) its outputs are stored */
  int first_out;   /* the first of its outputs there */
  int first_in;    /* the first of its inputs among those of the loop's nodes */
  int n_wait;      /* how many edges it waits for; of a merge, control edges only */
  int n_edge;
  dataflow_edge *edge;
  dataflow_input *in;
  atomic_uint cost; /* a moving mean of what its kernel takes, in ns; 0: not known */
} dataflow_node;

typedef struct dataflow_loop {
  const char *name;
  int parent;   /* -1 for loop 0 */
  int number;   /* among the parent's children */
  int parallel; /* how many iterations may be under way */
  int n_node, n_slot, n_constant_enter, n_in, n_child, n_enter, n_exit;
  int *node;    /* items */
  int *readers; /* per slot: how many inputs read it; one more where it is fetched */
  int *enter;   /* the Enter nodes marked constant come first: constant i was brought by enter[i] */
  int *exit;
} dataflow_loop;

struct dataflow_map {
  dataflow_node *node;
  dataflow_loop *loop;
  int n_loop;
  struct dataflow *idle; /* finished runs, to be used again; the plan's lock guards the list */
  int n_idle;
};

/* INVALID_ARGUMENT where frames are mixed up.  Its memory is the plan's. */
weft_err weft__dataflow_map_create(dataflow_map **out, plan *p);

#endif
