/* guarded.c - guard bytes around the values of a plan's arena.
 *
 * Values that are not needed at the same time have the same bytes of the arena.  So guard bytes are written right
 * before a kernel runs and checked right after it.  A value's place is rounded up to whole cache lines; the bytes of it
 * that the output does not use are guard bytes as well.  There is no lock: the thread that runs the item calls these
 * functions. */
#include "exec/executors/guarded.h"
#include "base/guard.h"
#include <stdio.h>

static bool in_host_arena(const buffer *b) { return b && b->transient && !b->memory; }

void weft__guard_outputs(const kernel *k) {
  for (int i = 0; k->planned && i < k->n_out; i++) {
    const buffer *place = k->planned[i];
    if (in_host_arena(place) && weft__buffer_is_unique(place))
      weft__guard_fill(place->data, place->size, GUARD_BYTES, GUARD_BYTES);
  }
}

void weft__guard_check_outputs(const kernel *k) {
  for (int i = 0; k->planned && i < k->n_out; i++) {
    const weft_tensor *t = &k->out[i].t;
    char owner[160];
    if (!in_host_arena(t->buf)) continue;
    snprintf(owner, sizeof owner, "output %d of %s '%s' in the arena", i, k->node->op_name, k->node->name);
    /* An output in the memory of an input has no unused bytes that were filled for it. */
    const size_t used = t->buf == k->planned[i] ? weft__tensor_bytes(t) : t->buf->size;
    weft__guard_check(t->buf->data, used, GUARD_BYTES, t->buf->size - used + GUARD_BYTES, owner);
  }
}
