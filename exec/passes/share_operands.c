/* share_operands.c - finds items that can share their prepared input 1, and adds the items that prepare it.
 *
 * What is prepared comes right before its first reader.  A variable that may change between two of its readers is not
 * shared. */
#include "exec/passes/share_operands.h"

#include "base/alloc.h"
#include "exec/passes/fuse_step.h"
#include <limits.h>

/* Nodes share if they read one slot, and read it alike: transposed or not. */
enum { WAYS = 2 };

typedef struct sharer {
  plan *p;
  int *readers;  /* per slot and way: how many items could share; negative: they must not */
  int *first;    /* per slot and way: the first of them */
  int *prepared; /* per slot and way: the slot of what they share; -1: none yet */
  int *moved;    /* per item: its new number */
  plan_item *item;
  int n_item, n_slot;
} sharer;

static int way_of(const plan_item *it) {
  return it->in[1].slot * WAYS + weft__node_bool(it->node, "transpose_b", false);
}

static bool item_shares(const plan_item *it, int64_t readers) {
  const fusion *f = weft__fuse_fusion_of(it);
  return f->shares && !it->device && it->op == it->node->op && f->shares(it->node, readers);
}

static void count_readers(sharer *s) {
  for (int i = 0; i < s->p->n_item; i++) {
    const plan_item *it = &s->p->item[i];
    if (!item_shares(it, INT_MAX)) continue;
    const int way = way_of(it);
    if (s->readers[way] > 0 && it->in[1].from_ref && weft__fuse_writes_between(s->p, s->first[way], it, it->in[1].slot))
      s->readers[way] = INT_MIN;
    if (s->readers[way] == 0) s->first[way] = i;
    s->readers[way] += s->readers[way] >= 0;
  }
}

static bool is_shared(const sharer *s, const plan_item *it) {
  return item_shares(it, INT_MAX) && s->readers[way_of(it)] > 1 && item_shares(it, s->readers[way_of(it)]);
}

/* Makes the node that names the item in errors and traces: the first reader, with another output. */
static weft_node *prepare_node(plan *p, const plan_item *reader) {
  const op *o = weft__fuse_fusion_of(reader)->prepares;
  weft_node *n = weft__arena_copy(&p->arena, reader->node, sizeof *n);
  weft_dtype *type = weft__arena_alloc(&p->arena, sizeof *type);
  shape *out = weft__arena_alloc(&p->arena, sizeof *out);
  if (!n || !type || !out) return NULL;
  *type = WEFT_UINT8;
  *out = (shape){.rank = 1, .dim = {-1}};
  n->op = o, n->op_name = o->def;
  n->n_in = n->n_control = 0, n->in = NULL;
  n->n_out = 1, n->out_type = type, n->out_shape = out;
  return n;
}

static weft_err add_preparation(sharer *s, const plan_item *reader) {
  plan *p = s->p;
  const op *o = weft__fuse_fusion_of(reader)->prepares;
  plan_item it = {.node = prepare_node(p, reader), .op = o, .run = o->cpu, .n_in = 1, .n_out = 1};
  it.in = weft__arena_copy(&p->arena, &reader->in[1], sizeof *it.in);
  it.control = weft__arena_copy(&p->arena, reader->control, sizeof *it.control * (size_t)reader->n_control);
  if (!it.node || !it.in || !it.control) return WEFT_OOM;
  it.n_control = reader->n_control, it.first_out = s->n_slot, it.stage = reader->stage;
  s->prepared[way_of(reader)] = s->n_slot++;
  s->item[s->n_item++] = it;
  return WEFT_OK;
}

static weft_err read_prepared(sharer *s, plan_item *it) {
  plan_input *in = weft__arena_alloc(&s->p->arena, sizeof *in * (size_t)(it->n_in + 1));
  if (!in) return WEFT_OOM;
  for (int i = 0; i < it->n_in; i++) in[i] = it->in[i];
  in[it->n_in] = (plan_input){.slot = s->prepared[way_of(it)]};
  it->op = weft__fuse_fusion_of(it)->on_prepared;
  it->run = it->op->cpu, it->in = in, it->n_in++;
  return WEFT_OK;
}

static weft_err share_copy_items(sharer *s) {
  for (int i = 0; i < s->p->n_item; i++) {
    plan_item *it = &s->p->item[i];
    if (is_shared(s, it)) {
      if (s->prepared[way_of(it)] < 0) WEFT_TRY(add_preparation(s, it));
      WEFT_TRY(read_prepared(s, it));
    }
    s->moved[i] = s->n_item;
    s->item[s->n_item++] = *it;
  }
  return WEFT_OK;
}

/* Gives the plan the new items and slots. */
static weft_err share_replace_items(sharer *s) {
  plan *p = s->p;
  int *maker = weft__arena_alloc(&p->arena, sizeof *maker * (size_t)(s->n_slot + 1));
  int *memory = weft__arena_alloc(&p->arena, sizeof *memory * (size_t)(s->n_slot + 1));
  plan_item *item = weft__arena_copy(&p->arena, s->item, sizeof *item * (size_t)s->n_item);
  if (!maker || !memory || !item) return WEFT_OOM;
  for (int i = 0; i < s->n_slot; i++)
    maker[i] = -1, memory[i] = p->slot_memory && i < p->n_slot ? p->slot_memory[i] : 0;
  for (int i = 0; i < s->n_item; i++) {
    for (int j = 0; j < item[i].n_control; j++) item[i].control[j] = s->moved[item[i].control[j]];
    for (int o = 0; o < item[i].n_out; o++) maker[item[i].first_out + o] = i;
  }
  p->item = item, p->n_item = s->n_item;
  if (p->slot_memory) p->slot_memory = memory;
  p->slot_item = maker, p->n_slot = s->n_slot;
  return WEFT_OK;
}

static weft_err share_operands(sharer *s) {
  int n = 0;
  count_readers(s);
  for (int i = 0; i < s->p->n_item; i++) n += is_shared(s, &s->p->item[i]);
  if (n == 0) return WEFT_OK;
  s->item = weft__alloc_zero((size_t)(s->p->n_item + n), sizeof *s->item);
  if (!s->item) return WEFT_OOM;
  for (int i = 0; i < s->p->n_slot * WAYS; i++) s->prepared[i] = -1;
  WEFT_TRY(share_copy_items(s));
  return share_replace_items(s);
}

weft_err weft__share_operands(plan *p) {
  const size_t ways = (size_t)p->n_slot * WAYS + 1;
  sharer s = {.p = p,
              .readers = weft__alloc_zero(ways, sizeof(int)),
              .first = weft__alloc_zero(ways, sizeof(int)),
              .prepared = weft__alloc_zero(ways, sizeof(int)),
              .moved = weft__alloc_zero((size_t)p->n_item + 1, sizeof(int)),
              .n_slot = p->n_slot};
  const weft_err err = s.readers && s.first && s.prepared && s.moved ? share_operands(&s) : WEFT_OOM;
  weft__free(s.readers);
  weft__free(s.first);
  weft__free(s.prepared);
  weft__free(s.moved);
  weft__free(s.item);
  return err;
}
