/* owned_inputs.h - copies indices, sizes and counts out of memory that another process can write to.
 *
 * A tensor that came through shared memory stays where the peer put it, and the peer can still write there while a
 * kernel runs.  For numbers that are only computed with, that spoils nothing but the peer's own result.  An index, a
 * size or a count is different: a kernel checks it and uses it afterwards, and in between it could change.  So what an
 * op's definition takes as integers only (Gather's indices, Reshape's shape, the ids of a segment) reaches its kernel
 * in a copy that was read once; data is not copied.  tests/battery/peer.c holds every op to it. */
#ifndef WEFT_EXEC_PASSES_OWNED_INPUTS_H
#define WEFT_EXEC_PASSES_OWNED_INPUTS_H

#include "exec/plan.h"

/* Returns true if the op's definition allows nothing but integers for data input i of the node. */
bool weft__input_is_index(const weft_node *n, int i);
/* Returns true if input j of an item is such an input, and is in memory that a peer can write to. */
static inline bool weft__input_exposed(const plan_item *it, const kernel *k, int j) {
  return it->in[j].is_index && k->in[j] && k->in[j]->buf && k->in[j]->buf->peer_writes;
}
/* Replaces every exposed input by a copy.  No other thread may read the inputs meanwhile, as in the slots of a straight
 * plan.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__item_own_inputs(const plan_item *it, kernel *k);

#endif
