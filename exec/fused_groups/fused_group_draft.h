/* fused_group_draft.h - a group that is being formed: what its kernel reads, computes and writes.
 *
 * fused_group.c chooses the members; fused_group_draft.c makes the kernel's state from them.
 *
 * Include cycle with exec/fused_groups/fused_group_rows, exec/fused_groups/fused_group_moves: they say what an item is
 * in a draft, and the draft asks them while it is built. */
#ifndef WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_DRAFT_H
#define WEFT_EXEC_FUSED_GROUPS_FUSED_GROUP_DRAFT_H

#include "exec/passes/fuse_step.h"
#include "kernels/elementwise/fused_group.h"

enum {
  SMALL = 1 << 18, /* elements of a tensor whose group may be interpreted; parts of larger ones are not looked for */
  MAX_JOINS = 8,
  MAX_UPDATES = 6,
  MAX_DEPTH = 6 /* of ops that are computed again for one value, and of readers that join because of one another */
};

typedef struct grouper {
  plan *p;
  int *first_reader, *reader; /* per slot: where the items that read it begin in `reader`; -1: one reads it no more */
  bool *fetched;              /* per slot: it is fetched, or a group reads it */
  int *waiter;                /* per item: the first item that waits for it, NoOps left out; else n_item */
  bool *gone;                 /* per item: it became part of a fused_group */
  int *home;                  /* per item: the item that runs it now */
  int *refused;               /* per item: the root of the last group that it did not fit into */
  int *renamed;               /* per slot: the slot that has its value now; -1: the same */
  int n_group;
} grouper;

typedef struct draft { /* a group that is being formed */
  const plan *p;
  int root;
  int join[MAX_JOINS],
      n_join; /* items that join results with each other or with other values, round or move one; the root may be one */
  int update[MAX_UPDATES], n_update; /* items that assign results to variables */
  const shape *shape;
  weft_dtype type;
  int member[GPU_GROUP_STEPS], n_member; /* in the order of the plan, without those that join */
  int value[GPU_GROUP_STEPS];            /* per member: the operand that its result is, as an arg of a step */
  int maker[GPU_GROUP_STEPS], n_maker;   /* items whose result was split, which are computed part by part */
  int part[GPU_GROUP_STEPS], operand[GPU_GROUP_STEPS], n_part; /* slots of such parts, and what stands for them */
  int again[GPU_GROUP_STEPS], n_again;                         /* slots whose values are computed again */
  int n_view;                                                  /* how many parts of other tensors are read */
  fused_group b;
  plan_input in[GPU_GROUP_IN];
  int n_in;
  int slot[GPU_GROUP_OUT]; /* per output of the kernel: the slot that it replaces */
} draft;

/* Returns what the item's op declares, if no other pass has replaced its kernel. */
const fusion *weft__fusion_declared(const plan_item *it);
/* Returns true if the tensors are so small that a group of them may be interpreted, and parts of others are looked
 * for. */
bool weft__draft_is_small(const draft *d);
/* Returns the number of the member that the item is, or -1. */
int weft__draft_member(const draft *d, int item);
bool weft__draft_joins(const draft *d, int item);
bool weft__draft_updates(const draft *d, int item);
/* Returns the float type that a member computes with, which all its arguments have but the results of comparisons and
 * the conditions of choices, which are bools; else WEFT_INVALID. */
weft_dtype weft__fused_group_member_type(const plan_item *it);
/* Stores the step of a member: a sum of many has one for each input but the first.  A sum of 16-bit floats is rounded
 * once, and the steps of a group are each, so it is none. */
bool weft__fused_group_member_step(const plan_item *it, fused_step *s);
/* Returns true if the item reads no variable that changes before the root runs. */
bool weft__fused_group_reads_late(const grouper *b, int item, int root);
int weft__fused_group_reader_count(const grouper *b, int slot);
/* Makes the kernel's state from the members.  Returns false if there are too many of something. */
bool weft__draft_build(const grouper *b, draft *d);

#endif
