/* skip_forwards.c - finds items of a GPU whose output is their input, and lets their readers read the input instead. */
#include "exec/passes/skip_forwards.h"

#include "base/alloc.h"
#include "graph/fusion.h"

typedef struct skipper {
  plan *p;
  const weft_tensor **known; /* per slot: its value if it is a constant */
  int *from;                 /* per slot: the slot that has the same value */
  int *uses;                 /* per slot: how often it is read or fetched */
  bool *needed;              /* per item: others wait for it */
  bool *gone;                /* per item */
} skipper;

/* Returns true if the item's output is its first input.  A variable's value is no such input: it may change before a
 * reader runs. */
static bool item_hands_on(const skipper *s, const plan_item *it) {
  if (!it->device || it->n_out != 1 || it->n_in < 1 || it->n_control || it->op != it->node->op) return false;
  if (it->in[0].from_ref || it->in[0].wants_ref || !weft__dtype_is_plain(it->node->out_type[0])) return false;
  if (s->p->slot_memory[it->in[0].slot] != s->p->slot_memory[it->first_out]) return false;
  if (it->op->flags & OP_FORWARDS) return it->n_in == 1;
  const fusion *f = it->op->fusion;
  const shape *x = weft__out_shape(it->node->graph, it->node->in[0]);
  const weft_tensor *arg = it->n_in == 2 ? s->known[it->in[1].slot] : NULL;
  return f && f->hands_on && arg && weft__shape_known(x) && f->hands_on(x, arg);
}

static void connect_readers(const skipper *s) {
  plan *p = s->p;
  for (int i = 0; i < p->n_constant; i++) s->known[p->constant_slot[i]] = &p->constant[i];
  for (int slot = 0; slot < p->n_slot; slot++) s->from[slot] = slot;
  for (int i = 0; i < p->n_item; i++) { /* makers come before their readers */
    plan_item *it = &p->item[i];
    for (int j = 0; j < it->n_in; j++)
      if (!it->in[j].from_ref) it->in[j].slot = s->from[it->in[j].slot];
    if (item_hands_on(s, it)) s->from[it->first_out] = it->in[0].slot;
  }
}

/* Marks the items to remove: those whose readers were connected to their input, and whose output is neither read nor
 * fetched any more.  An item that others wait for stays.  Returns true if any is marked. */
static bool mark_gone(const skipper *s) {
  plan *p = s->p;
  bool any = false;
  for (int i = 0; i < p->n_item; i++) {
    for (int j = 0; j < p->item[i].n_in; j++) s->uses[p->item[i].in[j].slot]++;
    for (int j = 0; j < p->item[i].n_control; j++) s->needed[p->item[i].control[j]] = true;
  }
  for (int i = 0; i < p->n_fetch; i++) s->uses[p->fetch_slot[i]]++;
  for (int i = p->n_item - 1; i >= 0; i--) {
    plan_item *it = &p->item[i];
    if (it->n_out != 1 || s->from[it->first_out] == it->first_out || s->uses[it->first_out] || s->needed[i]) continue;
    for (int j = 0; j < it->n_in; j++) s->uses[it->in[j].slot]--;
    if (it->op->unprepare && !it->shares_state) it->op->unprepare(it->state);
    s->gone[i] = any = true;
  }
  return any;
}

weft_err weft__skip_forwards(plan *p) {
  if (!p->n_device || p->sync_runs < 0) return WEFT_OK;
  const size_t items = (size_t)p->n_item + 1, slots = (size_t)p->n_slot + 1;
  skipper s = {.p = p,
               .known = weft__alloc_zero(slots, sizeof *s.known),
               .from = weft__alloc_zero(slots, sizeof(int)),
               .uses = weft__alloc_zero(slots, sizeof(int)),
               .needed = weft__alloc_zero(items, 1),
               .gone = weft__alloc_zero(items, 1)};
  int *to = weft__alloc(items * sizeof *to);
  const bool room = s.known && s.from && s.uses && s.needed && s.gone && to;
  if (room) {
    connect_readers(&s);
    if (mark_gone(&s)) weft__plan_remove_items(p, s.gone, to);
  }
  weft__free(s.known);
  weft__free(s.from);
  weft__free(s.uses);
  weft__free(s.needed);
  weft__free(s.gone);
  weft__free(to);
  return room ? WEFT_OK : WEFT_OOM;
}
