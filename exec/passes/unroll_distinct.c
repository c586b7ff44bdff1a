/* unroll_distinct.c - lets a GPU make ids distinct without telling the host how many there are.
 *
 * Before an optimizer updates rows, it adds up the gradients of equal ids: it makes the ids distinct, reads how many
 * distinct ids there are, and sums the gradients by the index that their id has among them.  On a GPU the host would
 * wait for that count in the middle of the step, because shapes depend on it; int32 ids would even be made distinct on
 * the host.  If only updates of rows see the distinct ids and what is computed from the sums, the copied request
 * (unroll.h) pads them instead (fusion.padded): the list of distinct ids is as long as the list of ids, the rest of it
 * is negative, and GPU kernels that update rows skip negative ids.  So all shapes are known, and nothing waits.
 *
 * The pass follows the values of one such node through the request.  It gives up at the first reader that could tell
 * padded values from others. */
#include "base/alloc.h"
#include "exec/passes/unroll_state.h"
#include "graph/fusion.h"
#include "graph/graph.h"
#include "kernels/gpu/gpu_host.h"
#include <string.h>

typedef enum meaning {
  OTHER,   /* it does not depend on the distinct ids, or only through a variable that was updated */
  IDS,     /* the distinct ids */
  INDICES, /* for each id, its index among the distinct ids */
  ROWS,    /* one row for each distinct id */
  COUNT    /* computed from how many there are */
} meaning;

typedef struct follower {
  const unroller *u;
  const weft_node *distinct;
  unsigned char *of; /* per node: the meaning of its outputs */
} follower;

static bool unroll_distinct_has_role(const weft_node *n, fusion_role role) {
  return n->op->fusion && n->op->fusion->role == role;
}

static const device *device_of(const unroller *u, const weft_node *n) {
  return u->where->device[u->where->of_node[n->id]];
}

static meaning meaning_of(const follower *f, weft_out o) {
  if (weft__feeds_find(&f->u->feeds, o) >= 0) return OTHER;
  if (o.node == f->distinct->id) return o.slot == 0 ? IDS : INDICES;
  return f->of[o.node];
}

/* Returns true if every input has one row for each distinct id, or is a scalar. */
static bool takes_rows(const follower *f, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    const meaning m = meaning_of(f, n->in[i]);
    if (m != ROWS && (m != OTHER || weft__out_shape(f->u->g, n->in[i])->rank != 0)) return false;
  }
  return true;
}

/* Returns true if every input is computed from the count of distinct ids, or does not depend on them. */
static bool takes_counts(const follower *f, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++)
    if (meaning_of(f, n->in[i]) != OTHER && meaning_of(f, n->in[i]) != COUNT) return false;
  return true;
}

static bool is_plain_compute(const weft_node *n) {
  return !n->op->opdef.stateful && !(n->op->flags & (OP_CONTROL_FLOW | OP_ASYNC | OP_STEP_OBJECT | OP_UPDATES)) &&
         n->n_out > 0;
}

/* Returns true for a sum of rows by these indices. */
static bool sums_by_indices(const follower *f, const weft_node *n) {
  return unroll_distinct_has_role(n, ROLE_SUM_ROWS) && meaning_of(f, n->in[0]) == OTHER &&
         meaning_of(f, n->in[1]) == INDICES && meaning_of(f, n->in[2]) == COUNT;
}

/* Returns true for an update of a variable's rows on the same GPU whose ids are the distinct ones, and whose only other
 * argument of that length has one row for each. */
static bool updates_rows(const follower *f, const weft_node *n) {
  int at, count;
  if (!(n->op->flags & OP_UPDATES) || weft__node_in_range(n, "indices", &at, &count) != WEFT_OK || count != 1)
    return false;
  if (device_of(f->u, n) != device_of(f->u, f->distinct) || !weft__gpu_kernel(n).run) return false;
  int rows = 0;
  for (int i = 0; i < n->n_in; i++) {
    const meaning m = meaning_of(f, n->in[i]);
    if (m == COUNT || m == INDICES || (m == IDS) != (i == at)) return false;
    rows += m == ROWS;
  }
  return rows == 1;
}

/* Stores what the node's outputs mean.  Returns false if the node could tell padded values from others. */
static bool follow_node(follower *f, const weft_node *n) {
  bool reads = false;
  if (!n->op) return false;
  for (int i = 0; i < n->n_in; i++) reads = reads || meaning_of(f, n->in[i]) != OTHER;
  if (!reads || n == f->distinct) return true;
  if (updates_rows(f, n)) return true;
  if (!is_plain_compute(n) || f->u->frames.home[n->id] != 0) return false;
  if (sums_by_indices(f, n))
    f->of[n->id] = ROWS;
  else if (n->op->flags & OP_SHAPE_ONLY)
    f->of[n->id] = COUNT;
  else if (weft__node_is(n, KIND_IDENTITY) && meaning_of(f, n->in[0]) != COUNT)
    f->of[n->id] = (unsigned char)meaning_of(f, n->in[0]);
  else if (n->op->elem && takes_rows(f, n))
    f->of[n->id] = ROWS;
  else if (takes_counts(f, n))
    f->of[n->id] = COUNT;
  else
    return false;
  return true;
}

static bool may_pad(follower *f) {
  const unroller *u = f->u;
  for (int i = 0; i < u->n_order; i++)
    if (!follow_node(f, u->g->node[u->order[i]])) return false;
  for (int i = 0; i < u->r->n_fetch; i++)
    if (meaning_of(f, u->r->fetch[i]) != OTHER) return false;
  return true;
}

/* Returns true if the node makes ids distinct outside of loops, on a GPU that can pad them. */
static bool unroll_distinct_may_begin(const unroller *u, const weft_node *n) {
  if (!n->op || !unroll_distinct_has_role(n, ROLE_DISTINCT) || !n->op->fusion->padded || u->frames.home[n->id] != 0)
    return false;
  return !weft__device_is_host(device_of(u, n)) && weft__gpu_kernel_as(n->op->fusion->padded->def, n).run;
}

weft_err weft__unroll_distinct(unroller *u, bool *any) {
  *any = false;
  for (int i = 0; i < u->n_order; i++) {
    const weft_node *n = u->g->node[u->order[i]];
    if (!unroll_distinct_may_begin(u, n)) continue;
    if (!u->padded) u->padded = weft__arena_alloc(&u->arena, (size_t)u->g->n_node + 1);
    follower f = {u, n, weft__arena_alloc(&u->arena, (size_t)u->g->n_node + 1)};
    if (!u->padded || !f.of) return WEFT_OOM;
    u->padded[n->id] = may_pad(&f);
    *any = *any || u->padded[n->id];
  }
  return WEFT_OK;
}
