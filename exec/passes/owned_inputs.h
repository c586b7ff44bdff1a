/* owned_inputs.h - integers that say where or how many, taken out of memory that another process can write to.
 *
 * A tensor that came through shared memory stays where the peer put it, and the peer can still write there while a
 * kernel runs.  For numbers that are only computed with, that spoils nothing but the peer's own result.  An index, a size
 * or a count is different: a kernel checks it and uses it afterwards, and in between it could change.  So what an op's
 * definition takes as integers only (Gather's indices, Reshape's shape, the ids of a segment) reaches its kernel in a copy
 * that was read once; data is not copied.  tests/battery/peer.c holds every op to it. */
#ifndef WEFT_EXEC_PASSES_OWNED_INPUTS_H
#define WEFT_EXEC_PASSES_OWNED_INPUTS_H

#include "exec/plan.h"

/* Does the op's definition allow nothing but integers for data input i of the node? */
bool weft__input_is_index(const weft_node *n, int i);
/* Is input j of an item such a one, and in memory that a peer writes to? */
static inline bool weft__input_exposed(const plan_item *it, const kernel *k, int j) {
  return it->in[j].places && k->in[j] && k->in[j]->buf && k->in[j]->buf->peer_writes;
}
/* Puts a copy of ours in place of every exposed input.  The inputs are the caller's alone (a straight plan's slots). */
weft_err weft__item_own_inputs(const plan_item *it, kernel *k);

#endif
