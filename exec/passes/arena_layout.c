/* arena_layout.c - finds from which item to which each value is needed, and places the values in the arena.
 *
 * The largest value is placed first.  Each one gets the lowest offset at which it overlaps no value that is needed at
 * the same time. */
#include "exec/passes/arena_layout.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "exec/passes/copy_insertion.h"
#include <stdlib.h>

_Static_assert(GUARD_BYTES % WEFT_ALIGN == 0, "a value behind guard bytes is aligned");

/* Kernels of a GPU access memory fastest at multiples of this. */
enum { CARD_ALIGN = 256 };

static int arena_layout_memory_of(const plan *p, int slot) { return p->slot_memory ? p->slot_memory[slot] : 0; }

static bool tensor_is_placeable(const weft_tensor *t) {
  return t->buf && weft__dtype_is_plain(t->dtype) && !t->buf->transient;
}

void weft__buffer_stats_note(buffer_stats *stats, const plan *p, int item, const value *slot) {
  const plan_item *it = &p->item[item];
  for (int o = 0; o < it->n_out; o++) {
    int s = it->first_out + o;
    const weft_tensor *t = &slot[s].t;
    buffer_stats *l = &stats[s];
    *l = (buffer_stats){.root = -1, .alias = -1};
    if (!tensor_is_placeable(t) || weft__is_copy_to_host(it))
      continue; /* copies to the host have pinned memory of their own */
    for (int i = 0; i < it->n_in && l->alias < 0; i++)
      if (!it->in[i].from_ref && slot[it->in[i].slot].t.buf == t->buf) l->alias = i;
    const int from = l->alias >= 0 ? it->in[l->alias].slot : -1;
    if (from >= 0)
      l->root = p->slot_item[from] >= 0 ? stats[from].root : -1; /* a feed and a constant have no place */
    else if (weft__buffer_is_unique(t->buf) && t->data == t->buf->data)
      l->root = s;
    l->bytes = weft__tensor_bytes(t);
  }
}

typedef struct region {
  int root, begin, end; /* alive from item begin to item end */
  int from, to, lane;   /* the same with all that may run beside these items; the only lane that has them, or 0 */
  size_t bytes, offset;
} region;

/* Leaves a value out of the arena, because it is kept longer than the run: it stays on the heap. */
static void leave_out(const plan *p, const buffer_stats *stats, region *of_slot, int s) {
  if (p->slot_item[s] >= 0 && stats[s].root >= 0) of_slot[stats[s].root].root = -1;
}

/* Copies run at the same time as the kernels (device/card.c).  So what a copy writes to must be unused from the
 * beginning of the step, and what it reads must stay until the end. */
static void widen_lifetimes_of_copies(const plan *p, const buffer_stats *stats, region *of_slot) {
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    const int in = weft__is_copy_to_device(it) ? stats[it->first_out].root : -1;
    const int from = weft__is_copy_to_host(it) ? it->in[0].slot : -1;
    const int out = from >= 0 && p->slot_item[from] >= 0 ? stats[from].root : -1;
    if (in >= 0) of_slot[in].begin = 0;
    if (out >= 0) of_slot[out].end = p->n_item;
  }
}

/* The group of item i, or NULL.  What a copy reads stays until item n_item, of which there is none. */
static const plan_group *group_of(const plan *p, int i) {
  const int group = i >= 0 && i < p->n_item ? p->item[i].group : 0;
  return group ? &p->straight.group[group - 1] : NULL;
}

/* Sets from, to and lane: the items of a group may run at the same time. */
static void find_company(const plan *p, region *r) {
  WEFT_ASSERT(r->begin >= 0 && r->begin < p->n_item && r->begin <= r->end);
  const plan_group *first = group_of(p, r->begin), *last = group_of(p, r->end);
  const int lane = first ? p->item[r->begin].lane : 0;
  r->from = first ? first->from : r->begin;
  r->to = last ? last->to - 1 : r->end;
  r->lane = last && p->item[r->end].lane == lane ? lane : 0;
}

/* Returns true if both are alive at the same time.  The items of a lane run one after the other. */
static bool regions_meet(const region *a, const region *b) {
  if (a->lane && a->lane == b->lane) return a->begin <= b->end && b->begin <= a->end;
  return a->from <= b->to && b->from <= a->to;
}

/* Finds for each root the item that makes it and the last item that reads it, under any of its slots. */
static void find_lives(const plan *p, const buffer_stats *stats, region *of_slot) {
  for (int s = 0; s < p->n_slot; s++) of_slot[s] = (region){.root = -1};
  for (int s = 0; s < p->n_slot; s++) {
    int root = stats[s].root;
    if (p->slot_item[s] < 0 || root < 0) continue;
    region *r = &of_slot[root];
    if (r->root < 0) *r = (region){.root = root, .begin = p->slot_item[root], .end = p->slot_item[root]};
    if (stats[s].bytes > r->bytes) r->bytes = stats[s].bytes;
    if (p->slot_item[s] > r->end) r->end = p->slot_item[s];
  }
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in; j++) {
      int s = p->item[i].in[j].slot, root = p->slot_item[s] >= 0 ? stats[s].root : -1;
      if (root >= 0 && of_slot[root].end < i) of_slot[root].end = i;
    }
  widen_lifetimes_of_copies(p, stats, of_slot);
  for (int i = 0; i < p->n_fetch; i++) leave_out(p, stats, of_slot, p->fetch_slot[i]); /* the caller keeps it */
  for (int i = 0; i < p->n_item; i++) /* what is sent outlives the step */
    for (int j = 0; j < p->item[i].n_in && p->item[i].op->flags & OP_ASYNC; j++)
      leave_out(p, stats, of_slot, p->item[i].in[j].slot);
  for (int s = 0; s < p->n_slot; s++) /* what is made once per frame must not be written over */
    if (p->slot_item[s] >= 0 && (p->item[p->slot_item[s]].op->flags & OP_ONCE)) leave_out(p, stats, of_slot, s);
}

static int larger_first(const void *a, const void *b) {
  const region *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->root - y->root;
}

static int lower_first(const void *a, const void *b) {
  const region *const *x = a, *const *y = b;
  return (*x)->offset < (*y)->offset ? -1 : (*x)->offset > (*y)->offset;
}

/* Returns the lowest offset at which r overlaps none of the regions that were placed before it. */
static size_t find_place(const region *r, const region *placed, int n, const region **near) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (regions_meet(&placed[i], r)) near[count++] = &placed[i];
  qsort(near, (size_t)count, sizeof *near, lower_first);
  size_t at = 0;
  for (int i = 0; i < count; i++) {
    if (near[i]->offset >= at + r->bytes) break;
    size_t after = near[i]->offset + near[i]->bytes;
    if (after > at) at = after;
  }
  return at;
}

/* Places the regions of one memory. */
static weft_err layout_place(layout *l, const plan *p, region *of_slot, int where) {
  int n = 0;
  region *r = weft__alloc(((size_t)p->n_slot + 1) * sizeof *r);
  const region **near = weft__alloc(((size_t)p->n_slot + 1) * sizeof *near);
  if (!r || !near) {
    weft__free(r);
    weft__free(near);
    return WEFT_OOM;
  }
  const size_t align = where ? CARD_ALIGN : WEFT_ALIGN, guard = where ? 0 : weft__guard_size;
  for (int s = 0; s < p->n_slot; s++) {
    if (of_slot[s].root < 0 || of_slot[s].bytes == 0 || arena_layout_memory_of(p, s) != where) continue;
    r[n] = of_slot[s];
    find_company(p, &r[n]);
    r[n].bytes = (r[n].bytes + align - 1) / align * align + 2 * guard;
    n++;
  }
  qsort(r, (size_t)n, sizeof *r, larger_first);
  for (int i = 0; i < n; i++) {
    r[i].offset = find_place(&r[i], r, i, near);
    l->offset[r[i].root] = r[i].offset + guard;
    l->bytes[r[i].root] = r[i].bytes - 2 * guard;
    if (r[i].offset + r[i].bytes > l->size[where]) l->size[where] = r[i].offset + r[i].bytes;
  }
  weft__free(r);
  weft__free(near);
  return WEFT_OK;
}

weft_err weft__layout_create(layout **out, const plan *p, uint64_t key, const buffer_stats *stats) {
  size_t n = (size_t)p->n_slot + 1;
  layout *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->key = key;
  l->offset = weft__alloc_zero(n, sizeof *l->offset);
  l->bytes = weft__alloc_zero(n, sizeof *l->bytes);
  l->alias = weft__alloc_zero(n, sizeof *l->alias);
  l->size = weft__alloc_zero((size_t)p->n_device + 1, sizeof *l->size);
  region *of_slot = weft__alloc(n * sizeof *of_slot);
  weft_err err = l->offset && l->bytes && l->alias && l->size && of_slot ? WEFT_OK : WEFT_OOM;
  if (!err) {
    for (int s = 0; s < p->n_slot; s++) l->alias[s] = p->slot_item[s] >= 0 ? stats[s].alias : -1;
    find_lives(p, stats, of_slot);
    for (int i = 0; i <= p->n_device && !err; i++) err = layout_place(l, p, of_slot, i);
  }
  weft__free(of_slot);
  if (err)
    weft__layout_destroy(l);
  else
    *out = l;
  return err;
}

void weft__layout_destroy(layout *l) {
  if (!l) return;
  weft__free(l->offset);
  weft__free(l->bytes);
  weft__free(l->alias);
  weft__free(l->size);
  weft__free(l);
}
