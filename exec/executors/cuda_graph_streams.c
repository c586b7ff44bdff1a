/* cuda_graph_streams.c - records which memory each captured kernel reads and writes, and chooses its stream.
 *
 * If a kernel must wait for the last kernel of a stream, it gets that stream.  Otherwise it gets the stream whose
 * last kernel was captured first. */
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
  weft__free(l->before);
}

static weft_err streams_add_range(graph_streams *l, const void *at, size_t bytes, bool write) {
  if (!at || !bytes) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->list, l->room, l->n + 1));
  l->list[l->n++] = (access){(uintptr_t)at, (uintptr_t)at + bytes, l->n_captured, write};
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
  bool overwritten = false; /* true if an output overwrites the input's memory */
  for (int o = 0; o < it->n_out; o++) overwritten = overwritten || f->layout->alias[it->first_out + o] == j;
  return add_tensor(l, &from->t, overwritten);
}

static weft_err add_accesses(graph_streams *l, const frame *f, int item) {
  const plan_item *it = &f->plan->item[item];
  for (int j = 0; j < it->n_in; j++) WEFT_TRY(add_input(l, f, it, j));
  /* Unrolled copies of a random node share one counter in GPU memory, so they must run in order.  They also share the
   * text of their name (exec/passes/unroll_emit.c), whose address stands for the counter's here. */
  if (it->op->flags & OP_SEED) WEFT_TRY(streams_add_range(l, it->node->name, 1, true));
  for (int o = 0; o < it->n_out; o++) {
    const buffer *place = f->planned[it->first_out + o];
    if (place && place->memory) WEFT_TRY(streams_add_range(l, place->data, place->size, true));
  }
  return WEFT_OK;
}

/* Returns true if every captured item up to `upto`, on all streams, is known to run before this one. */
static bool all_known(const graph_streams *l, const int known[CAPTURE_STREAMS], int upto) {
  for (int i = 0; i < CAPTURE_STREAMS; i++)
    if (known[i] < upto && known[i] < l->tail[i]) return false;
  return true;
}

static bool access_conflicts(const graph_streams *l, int first, const access *b) {
  for (int i = first; i < l->n; i++) {
    const access *a = &l->list[i];
    if ((a->write || b->write) && a->begin < b->end && b->begin < a->end) return true;
  }
  return false;
}

/* Stores, per stream, in `after` the last item that the accesses from `first` on must wait for, and in `known` the last
 * item that runs before them as a consequence.  An item that is implied by another one is not in `after`. */
static void find_conflicts(const graph_streams *l, int first, int after[CAPTURE_STREAMS], int known[CAPTURE_STREAMS]) {
  for (int i = 0; i < CAPTURE_STREAMS; i++) after[i] = known[i] = -1;
  for (int j = first - 1; j >= 0; j--) {
    const access *b = &l->list[j];
    const int stream = l->stream_of[b->number];
    if (b->number <= known[stream]) {
      if (all_known(l, known, b->number)) return;
      continue;
    }
    if (!access_conflicts(l, first, b)) continue;
    after[stream] = b->number;
    for (int i = 0; i < CAPTURE_STREAMS; i++)
      if (l->before[b->number].last[i] > known[i]) known[i] = l->before[b->number].last[i];
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

/* Returns true if the item enqueues nothing: it only forwards a value.  A CPU kernel whose output has its own GPU
 * memory enqueues copies, such as Slice and ConcatV2. */
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
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->stream_of, l->room_item, l->n_captured + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(l->before, l->room_before, l->n_captured + 1));
  int after[CAPTURE_STREAMS], known[CAPTURE_STREAMS];
  const int first = l->n, next = l->n_captured;
  WEFT_TRY(add_accesses(l, f, item));
  find_conflicts(l, first, after, known);
  const int stream = streams_choose(l, after), last = l->tail[stream];
  for (int i = 0; i < CAPTURE_STREAMS; i++) {
    const int earlier = last >= 0 ? l->before[last].last[i] : -1;
    l->before[next].last[i] = earlier > known[i] ? earlier : known[i];
  }
  l->before[next].last[stream] = next;
  l->stream_of[next] = stream;
  l->tail[stream] = next;
  l->n_captured++;
  return it->device->ops->capture_item(it->device, next, stream, after);
}
