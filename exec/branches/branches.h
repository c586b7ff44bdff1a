/* branches.h - finds branches of a straight plan that do not depend on each other, so that threads can share them.
 *
 * A model with many embedding tables looks up the rows of each, and updates each: many short items of few kinds, none
 * of which is worth splitting over threads.  This pass reorders runs of such items into groups of branches.  A branch
 * is a list of items that follow one another; branches of a group neither read what another one makes nor touch a
 * variable that another one changes.  One thread runs a few branches one after another, a lane, and values of a lane
 * can share memory.  exec/branches/branch_run.h runs a group.
 *
 * Products and convolutions are never members, and never change places with other items: they split their own work.
 * What does not end up in a group keeps its place. */
#ifndef WEFT_EXEC_BRANCHES_BRANCHES_H
#define WEFT_EXEC_BRANCHES_BRANCHES_H

#include "base/cast.h"
#include "exec/plan.h"

/* Reorders the items of a straight plan on the host and makes its groups.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__branches_find(plan *p);
/* The first branch of a lane; for lane n_lane, the number of branches. */
static inline int weft__lane_begin(const plan_group *g, int lane) {
  return weft__int_sat((int64_t)g->n_branch * lane / g->n_lane);
}
/* last[s] is the item that reads slot s last, or -1 if it is kept.  A slot that several branches of one group read last
 * becomes one that the group releases, and last[s] becomes -1.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__branches_share_releases(plan *p, int *last);

#endif
