/* dataflow_edge.c - edges between nodes, iterations and frames.
 *
 * Within an iteration, an edge is one atomic change of the reader's word; no lock is taken.  A frame's lock is taken
 * where iterations begin and end, and where a constant enters all of them.  No thread holds the locks of two frames.
 *
 * Deadness: a plain node is dead if any edge into it is dead.  A merge is dead if all its inputs are dead, or if a dead
 * value enters a loop at the merge: then its back edge never delivers a value.  Control edges only delay a merge.
 * NextIteration and Exit do not pass dead values on.  When a frame ends, each Exit that no live value passed is dead in
 * the iteration outside. */
#include "exec/executors/dataflow_edge.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"

/* Adds a node to the list of ready nodes; its iteration stays busy until the node has ended. */
static void ready_push(ready *r, node_run *s) {
  if (s->iteration->frame->loop) atomic_fetch_add_explicit(&s->iteration->busy, 1, memory_order_relaxed);
  s->next = r->first;
  r->first = s;
  r->count++;
}

static uint64_t merge_won_by(int input) { return MERGE_LIVE | (uint64_t)input << MERGE_WINNER_SHIFT; }

/* A merge that reads a feed or a constant has its first input from the beginning. */
static bool has_known_input(node_run *s) {
  const plan_item *it = weft__node_run_item(s);
  const dataflow_node *n = weft__node_run_node(s);
  for (int j = 0; j < it->n_in; j++) {
    if (n->in[j].home != HOME_PLAN) continue;
    atomic_fetch_or_explicit(&s->word, merge_won_by(j), memory_order_relaxed);
    return true;
  }
  return false;
}

void weft__dataflow_ready(dataflow *f, ready *r) {
  const dataflow_loop *l = &f->map->loop[0];
  for (int i = l->n_node - 1; i >= 0; i--) {
    node_run *s = &f->root->node_run[i];
    const dataflow_node *n = &f->map->node[l->node[i]];
    bool merge = n->kind == DATAFLOW_MERGE;
    if (merge && !has_known_input(s)) continue;
    if (n->n_wait == 0) ready_push(r, s);
  }
}

bool weft__node_run_is_dead(const node_run *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  switch (weft__node_run_node(s)->kind) {
  case DATAFLOW_MERGE: return !(word & MERGE_LIVE);
  case DATAFLOW_TRIGGER: return false;
  default: return word >= DEAD_EDGE;
  }
}

int weft__node_run_winner(const node_run *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  return weft__int_sat(word >> MERGE_WINNER_SHIFT & (MERGE_INPUTS_MAX - 1));
}

value *weft__node_run_input(const node_run *s, int j) {
  const dataflow_input *in = &weft__node_run_node(s)->in[j];
  dataflow_frame *fr = s->iteration->frame;
  if (in->home == HOME_ITERATION) return &s->iteration->slot[in->index];
  return in->home == HOME_FRAME ? &fr->constant[in->index] : &fr->dataflow->root->slot[in->index];
}

/* Notes that one reader has finished with a slot.  After the last one the slot is cleared. */
static void slot_release(iteration *t, int slot) {
  const int before = atomic_fetch_sub_explicit(&t->readers[slot], 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before != 1) return;
  weft__tensor_clear(&t->slot[slot].t);
}

/* ---- one edge ---------------------------------------------------------------------------------- */

static bool merge_is_ready(uint64_t word, int n_in) {
  if ((uint32_t)word != 0) return false; /* waits for control edges */
  uint64_t dead = word >> 32 & 0xffff;
  return (word & (MERGE_LIVE | MERGE_DEAD)) || dead == (uint64_t)n_in;
}

static uint64_t merge_after(uint64_t word, const dataflow_edge *e, bool dead, bool entering) {
  if (e->input < 0) return word - 1;
  if (dead) return entering ? word | MERGE_DEAD : word + DEAD_EDGE;
  return word & MERGE_LIVE ? word : word | merge_won_by(e->input);
}

/* An edge arrives at a merge.  The first live input wins; the value of a later one is released. */
static void merge_arrive(node_run *s, const dataflow_edge *e, bool dead, bool entering, ready *r) {
  int n_in = weft__node_run_item(s)->n_in;
  uint64_t old = atomic_load_explicit(&s->word, memory_order_relaxed), now;
  do {
    now = merge_after(old, e, dead, entering);
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &old, now, memory_order_acq_rel, memory_order_relaxed));
  bool late = e->input >= 0 && !dead && (old & MERGE_LIVE);
  const dataflow_input *in = late ? &weft__node_run_node(s)->in[e->input] : NULL;
  if (late && in->home == HOME_ITERATION) slot_release(s->iteration, in->index);
  if (merge_is_ready(now, n_in) && !merge_is_ready(old, n_in)) ready_push(r, s);
}

/* Delivers one edge of a node that ran, or that is dead, in iteration t. */
static void edge_arrive(iteration *t, const dataflow_edge *e, bool dead, bool entering, ready *r) {
  node_run *s = weft__iteration_node(t, e->node);
  if (weft__node_run_node(s)->kind == DATAFLOW_MERGE) {
    merge_arrive(s, e, dead, entering, r);
    return;
  }
  uint64_t change = dead ? DEAD_EDGE - 1 : UINT64_MAX;
  uint64_t old = atomic_fetch_add_explicit(&s->word, change, memory_order_acq_rel);
  WEFT_ASSERT((uint32_t)old > 0); /* no edge arrives at a node that has all of them */
  if ((uint32_t)old == 1) ready_push(r, s);
}

/* Delivers the edges of item `node` to their readers in iteration t.  dead: all are dead; else out[i].dead says whether
 * output i is (out NULL: none is). */
static void notify_readers(iteration *t, int node, bool dead, const value *out, ready *r) {
  const dataflow_node *n = &t->frame->dataflow->map->node[node];
  bool entering = n->kind == DATAFLOW_ENTER || n->kind == DATAFLOW_ENTER_CONSTANT;
  for (int i = 0; i < n->n_edge; i++) {
    const dataflow_edge *e = &n->edge[i];
    bool dead_edge = dead || (out && e->out >= 0 && out[e->out].dead);
    edge_arrive(t, e, dead_edge, entering, r);
  }
}

static void move_value(value *to, value *from) {
  weft__tensor_share(&to->t, &from->t);
  weft__tensor_clear(&from->t);
  to->ref = from->ref;
  from->ref = NULL;
}

/* Moves a value to the output slot of item `node` in iteration t, if a node reads it, and delivers the item's edges. */
static void store_output(iteration *t, int node, value *v, ready *r) {
  const dataflow_node *n = &t->frame->dataflow->map->node[node];
  if (atomic_load_explicit(&t->readers[n->first_out], memory_order_relaxed) > 0) move_value(&t->slot[n->first_out], v);
  notify_readers(t, node, false, NULL, r);
}

/* ---- entering ---------------------------------------------------------------------------------- */

static weft_err iteration_finish(iteration *t, ready *r);

/* Decrements an iteration's busy count, and ends the iteration if the count became 0. */
static weft_err iteration_release(iteration *t, ready *r) {
  if (t->frame->loop == 0) return WEFT_OK;
  const int before = atomic_fetch_sub_explicit(&t->busy, 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before != 1) return WEFT_OK;
  return iteration_finish(t, r);
}

/* The frame of a loop inside iteration t, begun if this is the first value to enter it. */
static weft_err iteration_child_frame(iteration *t, int loop, dataflow_frame **out) {
  dataflow *f = t->frame->dataflow;
  dataflow_frame **child = &t->child[f->map->loop[loop].number];
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&t->frame->lock);
  if (!*child) {
    err = weft__dataflow_frame_begin(child, f, loop, t);
    if (!err) atomic_fetch_add_explicit(&t->busy, 1, memory_order_relaxed);
  }
  *out = *child;
  pthread_mutex_unlock(&t->frame->lock);
  return err;
}

/* Delivers a loop constant to the iterations that run now.  Later ones get it when they begin.  The frame's lock is
 * held. */
static void store_loop_constant(dataflow_frame *fr, int node, bool dead, value *v, ready *r) {
  int constant = fr->dataflow->map->node[node].first_out;
  WEFT_ASSERT(weft__lock_is_held(&fr->lock) && fr->constant_state[constant] == CONSTANT_AWAITED);
  if (!dead) move_value(&fr->constant[constant], v);
  fr->constant_state[constant] = dead ? CONSTANT_DEAD : CONSTANT_LIVE;
  for (iteration *t = fr->first; t; t = t->next) notify_readers(t, node, dead, NULL, r);
}

/* A value, live or dead, enters a loop: it is stored in iteration 0, or as a constant of the frame. */
static weft_err frame_enter(node_run *s, bool dead, value *v, ready *r) {
  const dataflow_node *n = weft__node_run_node(s);
  dataflow_frame *fr;
  WEFT_TRY(iteration_child_frame(s->iteration, n->target, &fr));
  pthread_mutex_lock(&fr->lock);
  iteration *first = fr->first; /* iteration 0: it does not end before every Enter has run */
  WEFT_ASSERT(first && first->number == 0 && fr->enters_left > 0);
  if (n->kind == DATAFLOW_ENTER_CONSTANT)
    store_loop_constant(fr, s->node, dead, v, r);
  else if (dead)
    notify_readers(first, s->node, true, NULL, r);
  else
    store_output(first, s->node, v, r);
  bool all_here = --fr->enters_left == 0;
  pthread_mutex_unlock(&fr->lock);
  return all_here ? iteration_release(first, r) : WEFT_OK;
}

/* ---- the next iteration ------------------------------------------------------------------------ */

/* Begins an iteration with the constants that have arrived so far.  The frame's lock is held. */
static weft_err frame_begin_iteration(dataflow_frame *fr, ready *r) {
  const dataflow_loop *l = &fr->dataflow->map->loop[fr->loop];
  iteration *t;
  WEFT_ASSERT(weft__lock_is_held(&fr->lock) && fr->last);
  WEFT_TRY(weft__iteration_begin(&t, fr));
  for (int i = 0; i < l->n_constant_enter; i++)
    if (fr->constant_state[i] != CONSTANT_AWAITED)
      notify_readers(t, l->enter[i], fr->constant_state[i] == CONSTANT_DEAD, NULL, r);
  return WEFT_OK;
}

/* Holds a value for an iteration that may not begin yet.  The frame's lock is held. */
static weft_err frame_hold_next(dataflow_frame *fr, int node, value *v) {
  WEFT_ASSERT(weft__lock_is_held(&fr->lock));
  held_value *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  h->node = node;
  h->next = fr->held_value;
  fr->held_value = h;
  move_value(&h->value, v);
  return WEFT_OK;
}

/* A live value reaches a NextIteration: it is stored in the next iteration, which begins if it is the first value
 * there.  If as many iterations run as the loop allows, the value is held until one of them has ended. */
static weft_err frame_go_to_next(node_run *s, value *v, ready *r) {
  dataflow_frame *fr = s->iteration->frame;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&fr->lock);
  bool last = s->iteration == fr->last, full = fr->n_iteration >= fr->dataflow->map->loop[fr->loop].parallel;
  WEFT_ASSERT(last || s->iteration->next->number == s->iteration->number + 1);
  if (last && full) {
    err = frame_hold_next(fr, s->node, v);
  } else {
    if (last) err = frame_begin_iteration(fr, r);
    if (!err) store_output(s->iteration->next, s->node, v, r);
  }
  pthread_mutex_unlock(&fr->lock);
  return err;
}

/* Begins an iteration and moves the held values into it.  The frame's lock is held. */
static weft_err frame_begin_held(dataflow_frame *fr, ready *r) {
  WEFT_ASSERT(weft__lock_is_held(&fr->lock) && fr->held_value);
  WEFT_TRY(frame_begin_iteration(fr, r));
  while (fr->held_value) {
    held_value *h = fr->held_value;
    fr->held_value = h->next;
    store_output(fr->last, h->node, &h->value, r);
    weft__tensor_clear(&h->value.t);
    weft__free(h);
  }
  return WEFT_OK;
}

/* ---- leaving a loop ---------------------------------------------------------------------------- */

/* A live value leaves the loop through an Exit: it is stored in the iteration outside. */
static void frame_exit(node_run *s, value *v, ready *r) {
  dataflow_frame *fr = s->iteration->frame;
  const dataflow_loop *l = &fr->dataflow->map->loop[fr->loop];
  pthread_mutex_lock(&fr->lock);
  for (int i = 0; i < l->n_exit; i++)
    if (l->exit[i] == s->node) fr->exited[i] = true;
  pthread_mutex_unlock(&fr->lock);
  store_output(fr->parent, s->node, v, r);
}

/* Ends a frame whose last iteration has ended.  Exits that no live value passed are dead in the iteration outside. */
static weft_err frame_finish(dataflow_frame *fr, ready *r) {
  const dataflow_loop *l = &fr->dataflow->map->loop[fr->loop];
  iteration *parent = fr->parent;
  for (int i = 0; i < l->n_exit; i++)
    if (!fr->exited[i]) notify_readers(parent, l->exit[i], true, NULL, r);
  pthread_mutex_lock(&parent->frame->lock);
  parent->child[l->number] = NULL;
  pthread_mutex_unlock(&parent->frame->lock);
  weft__dataflow_frame_end(fr);
  return iteration_release(parent, r);
}

/* Ends an iteration with nothing left to do, and those behind it that waited only for that.  Iterations end in their
 * order: each is busy until the one before it has ended, for that one may still send it values. */
static weft_err iteration_finish(iteration *t, ready *r) {
  dataflow_frame *fr = t->frame;
  weft_err err = WEFT_OK;
  for (iteration *next;; t = next) {
    pthread_mutex_lock(&fr->lock);
    WEFT_ASSERT(t == fr->first && atomic_load(&t->busy) == 0 && fr->n_iteration > 0);
    fr->n_iteration--;
    if (fr->held_value) err = frame_begin_held(fr, r); /* behind frame->last, which may be t */
    next = fr->first = t->next;
    if (!next) fr->last = NULL;
    pthread_mutex_unlock(&fr->lock);
    weft__iteration_end(t);
    if (err) return err;
    if (!next) return frame_finish(fr, r);
    if (atomic_fetch_sub_explicit(&next->busy, 1, memory_order_acq_rel) != 1) return WEFT_OK;
  }
}

/* ---- a node's end ------------------------------------------------------------------------------ */

weft_err weft__node_run_deliver(node_run *s, bool dead, value *carried, ready *r) {
  switch (weft__node_run_node(s)->kind) {
  case DATAFLOW_ENTER:
  case DATAFLOW_ENTER_CONSTANT: return frame_enter(s, dead, carried, r);
  case DATAFLOW_NEXT: return dead ? WEFT_OK : frame_go_to_next(s, carried, r);
  case DATAFLOW_EXIT:
    if (!dead) frame_exit(s, carried, r);
    return WEFT_OK;
  default: notify_readers(s->iteration, s->node, dead, dead ? NULL : s->kernel.out, r); return WEFT_OK;
  }
}

/* Clears outputs that no node reads. */
static void node_drop_unread(const node_run *s) {
  const dataflow_node *n = weft__node_run_node(s);
  for (int i = 0; s->kernel.out && i < s->kernel.n_out; i++)
    if (s->iteration->frame->dataflow->map->loop[n->loop].readers[n->first_out + i] == 0)
      weft__tensor_clear(&s->kernel.out[i].t);
}

weft_err weft__node_run_end(node_run *s, ready *r) {
  const dataflow_node *n = weft__node_run_node(s);
  int n_in = s->kernel.n_in,
      winner = n->kind == DATAFLOW_MERGE && !weft__node_run_is_dead(s) ? weft__node_run_winner(s) : -1;
  node_drop_unread(s);
  for (int j = 0; j < n_in; j++) {
    if (n->in[j].home != HOME_ITERATION) continue;
    if (n->kind != DATAFLOW_MERGE || j == winner) slot_release(s->iteration, n->in[j].index);
  }
  return iteration_release(s->iteration, r);
}
