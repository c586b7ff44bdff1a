/* cuda_graph_streams.c - notes what captured kernels read and write, and chooses the stream of each: one whose last
 * kernel it waits for, else the one whose last kernel was captured first. */
#include "exec/executors/cuda_graph_streams.h"

#include "base/alloc.h"
#include "base/array.h"
#include "state/variable.h"

void weft__graph_streams_init(graph_streams *l) {
  *l = (graph_streams){.n = 0};
  for (int i = 0; i < CAPTURE_STREAMS; i++) l->tail[i] = -1;
}

void weft__graph_streams_finish(graph_streams *l) {
  weft__free(l->list);
  weft__free(l->stream_of);
}

static weft_err streams_add_range(graph_streams *l, const void *at, size_t bytes, bool write) {
  if (!at || !bytes) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->list, l->room, l->n + 1));
  l->list[l->n++] = (access){(uintptr_t)at, (uintptr_t)at + bytes, l->n_step, write};
  return WEFT_OK;
}

static weft_err add_tensor(graph_streams *l, const weft_tensor *t, bool write) {
  return t->buf && t->buf->memory ? streams_add_range(l, t->data, weft__tensor_bytes(t), write) : WEFT_OK;
}

static weft_err add_variable(graph_streams *l, variable *v, bool write) {
  return v && v->value.buf ? add_tensor(l, &v->value, write) : WEFT_OK;
}

static weft_err add_input(graph_streams *l, const frame *f, const plan_item *it, int j) {
  const value *from = &f->slot[it->in[j].slot];
  if (it->in[j].from_ref) return add_variable(l, from->ref, it->in[j].wants_ref);
  if (from->t.buf && from->t.dtype == WEFT_RESOURCE) {
    variable *v;
    WEFT_TRY(weft__handle_get(&from->t, VARIABLE_TYPE, (resource **)&v));
    return add_variable(l, v, true);
  }
  bool overwritten = false; /* does an output take its memory? */
  for (int o = 0; o < it->n_out; o++) overwritten = overwritten || f->layout->alias[it->first_out + o] == j;
  return add_tensor(l, &from->t, overwritten);
}

static weft_err add_accesses(graph_streams *l, const frame *f, int item) {
  const plan_item *it = &f->plan->item[item];
  for (int j = 0; j < it->n_in; j++) WEFT_TRY(add_input(l, f, it, j));
  /* Copies of a random node, which have one name, draw from one counter on the card. */
  if (it->op->flags & OP_SEED) WEFT_TRY(streams_add_range(l, it->node->name, 1, true));
  for (int o = 0; o < it->n_out; o++) {
    const buffer *place = f->planned[it->first_out + o];
    if (place && place->memory) WEFT_TRY(streams_add_range(l, place->data, place->size, true));
  }
  return WEFT_OK;
}

/* Per stream: the last step that the accesses from `first` on must wait for. */
static void find_conflicts(const graph_streams *l, int first, int after[CAPTURE_STREAMS]) {
  for (int i = 0; i < CAPTURE_STREAMS; i++) after[i] = -1;
  for (int i = first; i < l->n; i++)
    for (int j = 0; j < first; j++) {
      const access *a = &l->list[i], *b = &l->list[j];
      if ((!a->write && !b->write) || a->begin >= b->end || b->begin >= a->end) continue;
      int *at = &after[l->stream_of[b->step]];
      if (b->step > *at) *at = b->step;
    }
}

static int streams_choose(const graph_streams *l, const int after[CAPTURE_STREAMS]) {
  int best = 0;
  for (int i = 0; i < CAPTURE_STREAMS; i++)
    if (after[i] >= 0 && after[i] == l->tail[i]) return i;
  for (int i = 1; i < CAPTURE_STREAMS; i++)
    if (l->tail[i] < l->tail[best]) best = i;
  return best;
}

/* Returns true if the item only passes a value on, and queues nothing.  A host's kernel that fills memory of its own queues
 * copies there: Slice, ConcatV2. */
static bool queues_nothing(const frame *f, const plan_item *it) {
  bool touches = false;
  if (it->device && it->run != it->op->cpu) return false;
  for (int o = 0; it->device && o < it->n_out; o++) {
    const buffer *place = f->planned[it->first_out + o];
    touches = touches || (place && place->memory && f->layout->alias[it->first_out + o] < 0);
  }
  for (int j = 0; j < it->n_in; j++)
    touches = touches || it->in[j].wants_ref || weft__out_type(it->node->graph, it->node->in[j]) == WEFT_RESOURCE;
  return !it->device || !touches;
}

weft_err weft__graph_streams_assign(graph_streams *l, const frame *f, int item) {
  const plan_item *it = &f->plan->item[item];
  if (queues_nothing(f, it)) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->stream_of, l->room_step, l->n_step + 1));
  int after[CAPTURE_STREAMS];
  const int first = l->n, next = l->n_step;
  WEFT_TRY(add_accesses(l, f, item));
  find_conflicts(l, first, after);
  const int stream = streams_choose(l, after);
  l->stream_of[next] = stream;
  l->tail[stream] = next;
  l->n_step++;
  return it->device->ops->capture_step(it->device, next, stream, after);
}
