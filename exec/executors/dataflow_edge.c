/* dataflow_edge.c - edges between nodes, turns and frames.
 *
 * Within a turn an edge is one atomic change of the reader's word, without a lock.  A frame's lock is
 * taken where turns come and go and where a constant enters all of them; two frames' locks are never
 * held together.
 *
 * Deadness: a plain node is dead if any edge into it is.  A merge is dead if all its inputs are, or
 * if a dead value enters a loop there (nothing can come round the back edge then); its control edges
 * only delay it.  Dead values go neither round a loop nor out of it: when a frame ends, the exits
 * that nothing live went through are dead for the turn outside. */
#include "exec/executors/dataflow_edge.h"

#include "base/alloc.h"
#include "base/cast.h"

static void push(ready *r, spot *s) {
  if (s->turn->frame->loop) atomic_fetch_add_explicit(&s->turn->busy, 1, memory_order_relaxed);
  s->next = r->first;
  r->first = s;
  r->count++;
}

static uint64_t won_by(int input) { return MERGE_LIVE | (uint64_t)input << MERGE_WINNER_SHIFT; }

/* A merge that reads a feed or a constant has its first input from the beginning. */
static bool has_known_input(spot *s) {
  const plan_item *it = weft__spot_item(s);
  const flow_node *n = weft__spot_node(s);
  for (int j = 0; j < it->n_in; j++) {
    if (n->in[j].home != HOME_KNOWN) continue;
    atomic_fetch_or_explicit(&s->word, won_by(j), memory_order_relaxed);
    return true;
  }
  return false;
}

void weft__flow_ready(flow *f, ready *r) {
  const flow_loop *l = &f->map->loop[0];
  for (int i = l->n_node - 1; i >= 0; i--) {
    spot *s = &f->root->spot[i];
    const flow_node *n = &f->map->node[l->node[i]];
    bool merge = n->kind == FLOW_MERGE;
    if (merge && !has_known_input(s)) continue;
    if (n->n_wait == 0) push(r, s);
  }
}

bool weft__spot_is_dead(const spot *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  switch (weft__spot_node(s)->kind) {
  case FLOW_MERGE: return !(word & MERGE_LIVE);
  case FLOW_TRIGGER: return false;
  default: return word >= DEAD_EDGE;
  }
}

int weft__spot_winner(const spot *s) {
  uint64_t word = atomic_load_explicit(&s->word, memory_order_relaxed);
  return weft__int_sat(word >> MERGE_WINNER_SHIFT & (MERGE_INPUTS_MAX - 1));
}

value *weft__spot_input(const spot *s, int j) {
  const flow_input *in = &weft__spot_node(s)->in[j];
  flow_frame *fr = s->turn->frame;
  if (in->home == HOME_TURN) return &s->turn->slot[in->index];
  return in->home == HOME_FRAME ? &fr->fixed[in->index] : &fr->flow->root->slot[in->index];
}

/* One reader of a slot is through with it. */
static void let_go(turn *t, int slot) {
  if (atomic_fetch_sub_explicit(&t->readers[slot], 1, memory_order_acq_rel) != 1) return;
  weft__tensor_clear(&t->slot[slot].t);
}

/* ---- one edge ---------------------------------------------------------------------------------- */

static bool merge_is_ready(uint64_t word, int n_in) {
  if ((uint32_t)word != 0) return false; /* waits for control edges */
  uint64_t dead = word >> 32 & 0xffff;
  return (word & (MERGE_LIVE | MERGE_DEAD)) || dead == (uint64_t)n_in;
}

static uint64_t merge_after(uint64_t word, const flow_edge *e, bool dead, bool entering) {
  if (e->input < 0) return word - 1;
  if (dead) return entering ? word | MERGE_DEAD : word + DEAD_EDGE;
  return word & MERGE_LIVE ? word : word | won_by(e->input);
}

static void arrive_at_merge(spot *s, const flow_edge *e, bool dead, bool entering, ready *r) {
  int n_in = weft__spot_item(s)->n_in;
  uint64_t old = atomic_load_explicit(&s->word, memory_order_relaxed), now;
  do {
    now = merge_after(old, e, dead, entering);
  } while (!atomic_compare_exchange_weak_explicit(&s->word, &old, now, memory_order_acq_rel, memory_order_relaxed));
  bool late = e->input >= 0 && !dead && (old & MERGE_LIVE);
  const flow_input *in = late ? &weft__spot_node(s)->in[e->input] : NULL;
  if (late && in->home == HOME_TURN) let_go(s->turn, in->index);
  if (merge_is_ready(now, n_in) && !merge_is_ready(old, n_in)) push(r, s);
}

/* An edge of a node that ran or died arrives in turn t. */
static void arrive(turn *t, const flow_edge *e, bool dead, bool entering, ready *r) {
  spot *s = weft__turn_spot(t, e->node);
  if (weft__spot_node(s)->kind == FLOW_MERGE) {
    arrive_at_merge(s, e, dead, entering, r);
    return;
  }
  uint64_t change = dead ? DEAD_EDGE - 1 : UINT64_MAX;
  uint64_t old = atomic_fetch_add_explicit(&s->word, change, memory_order_acq_rel);
  if ((uint32_t)old == 1) push(r, s);
}

/* Tells every reader of item `node` in turn t; which outputs are dead is asked of `out` (NULL: all alike). */
static void tell(turn *t, int node, bool dead, const value *out, ready *r) {
  const flow_node *n = &t->frame->flow->map->node[node];
  bool entering = n->kind == FLOW_ENTER || n->kind == FLOW_ENTER_FIXED;
  for (int i = 0; i < n->n_edge; i++) {
    const flow_edge *e = &n->edge[i];
    bool dead_edge = dead || (out && e->out >= 0 && out[e->out].dead);
    arrive(t, e, dead_edge, entering, r);
  }
}

static void move_value(value *to, value *from) {
  weft__tensor_share(&to->t, &from->t);
  weft__tensor_clear(&from->t);
  to->ref = from->ref;
  from->ref = NULL;
}

/* Puts a value in the slot of turn t that is node n's output, if anyone reads it, and tells its readers. */
static void place(turn *t, int node, value *v, ready *r) {
  const flow_node *n = &t->frame->flow->map->node[node];
  if (atomic_load_explicit(&t->readers[n->first_out], memory_order_relaxed) > 0) move_value(&t->slot[n->first_out], v);
  tell(t, node, false, NULL, r);
}

/* ---- entering ---------------------------------------------------------------------------------- */

static weft_err end_turn(turn *t, ready *r);

/* Takes one from a turn's count; the turn has ended if that was the last. */
static weft_err unbusy(turn *t, ready *r) {
  if (t->frame->loop == 0 || atomic_fetch_sub_explicit(&t->busy, 1, memory_order_acq_rel) != 1) return WEFT_OK;
  return end_turn(t, r);
}

/* The frame of a loop inside turn t, begun if this is the first value to enter it. */
static weft_err child_frame(turn *t, int loop, flow_frame **out) {
  flow *f = t->frame->flow;
  flow_frame **child = &t->child[f->map->loop[loop].number];
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&t->frame->lock);
  if (!*child) {
    err = weft__flow_frame_begin(child, f, loop, t);
    if (!err) atomic_fetch_add_explicit(&t->busy, 1, memory_order_relaxed);
  }
  *out = *child;
  pthread_mutex_unlock(&t->frame->lock);
  return err;
}

/* A constant goes to the turns under way now; those to come are told when they begin. */
static void fix(flow_frame *fr, int node, bool dead, value *v, ready *r) {
  int fixed = fr->flow->map->node[node].first_out;
  if (!dead) move_value(&fr->fixed[fixed], v);
  fr->fixed_state[fixed] = dead ? FIXED_DEAD : FIXED_LIVE;
  for (turn *t = fr->first; t; t = t->next) tell(t, node, dead, NULL, r);
}

static weft_err enter(spot *s, bool dead, value *v, ready *r) {
  const flow_node *n = weft__spot_node(s);
  flow_frame *fr;
  WEFT_TRY(child_frame(s->turn, n->target, &fr));
  pthread_mutex_lock(&fr->lock);
  turn *first = fr->first; /* turn 0: it does not end before every Enter has been here */
  if (n->kind == FLOW_ENTER_FIXED)
    fix(fr, s->node, dead, v, r);
  else if (dead)
    tell(first, s->node, true, NULL, r);
  else
    place(first, s->node, v, r);
  bool all_here = --fr->enters_left == 0;
  pthread_mutex_unlock(&fr->lock);
  return all_here ? unbusy(first, r) : WEFT_OK;
}

/* ---- going round ------------------------------------------------------------------------------- */

/* A new turn with the constants that have come so far.  The frame's lock is held. */
static weft_err begin_turn(flow_frame *fr, ready *r) {
  const flow_loop *l = &fr->flow->map->loop[fr->loop];
  turn *t;
  WEFT_TRY(weft__turn_begin(&t, fr));
  for (int i = 0; i < l->n_fixed; i++)
    if (fr->fixed_state[i] != FIXED_AWAITED) tell(t, l->enter[i], fr->fixed_state[i] == FIXED_DEAD, NULL, r);
  return WEFT_OK;
}

static weft_err hold(flow_frame *fr, int node, value *v) {
  held *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  h->node = node;
  h->next = fr->held;
  fr->held = h;
  move_value(&h->value, v);
  return WEFT_OK;
}

static weft_err go_round(spot *s, value *v, ready *r) {
  flow_frame *fr = s->turn->frame;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&fr->lock);
  bool last = s->turn == fr->last, full = fr->n_turn >= fr->flow->map->loop[fr->loop].parallel;
  if (last && full) {
    err = hold(fr, s->node, v);
  } else {
    if (last) err = begin_turn(fr, r);
    if (!err) place(s->turn->next, s->node, v, r);
  }
  pthread_mutex_unlock(&fr->lock);
  return err;
}

/* The values that waited for a turn get it.  The frame's lock is held. */
static weft_err begin_held(flow_frame *fr, ready *r) {
  WEFT_TRY(begin_turn(fr, r));
  while (fr->held) {
    held *h = fr->held;
    fr->held = h->next;
    place(fr->last, h->node, &h->value, r);
    weft__tensor_clear(&h->value.t);
    weft__free(h);
  }
  return WEFT_OK;
}

/* ---- going out --------------------------------------------------------------------------------- */

static void go_out(spot *s, value *v, ready *r) {
  flow_frame *fr = s->turn->frame;
  const flow_loop *l = &fr->flow->map->loop[fr->loop];
  pthread_mutex_lock(&fr->lock);
  for (int i = 0; i < l->n_exit; i++)
    if (l->exit[i] == s->node) fr->exited[i] = true;
  pthread_mutex_unlock(&fr->lock);
  place(fr->parent, s->node, v, r);
}

static weft_err end_frame(flow_frame *fr, ready *r) {
  const flow_loop *l = &fr->flow->map->loop[fr->loop];
  turn *parent = fr->parent;
  for (int i = 0; i < l->n_exit; i++)
    if (!fr->exited[i]) tell(parent, l->exit[i], true, NULL, r);
  pthread_mutex_lock(&parent->frame->lock);
  parent->child[l->number] = NULL;
  pthread_mutex_unlock(&parent->frame->lock);
  weft__flow_frame_end(fr);
  return unbusy(parent, r);
}

/* Ends a turn with nothing left to do, and those behind it that waited only for that.  Turns end in their order:
 * each is busy until the one before it has ended, for that one may still send it values. */
static weft_err end_turn(turn *t, ready *r) {
  flow_frame *fr = t->frame;
  weft_err err = WEFT_OK;
  for (turn *next;; t = next) {
    pthread_mutex_lock(&fr->lock);
    fr->n_turn--;
    if (fr->held) err = begin_held(fr, r); /* behind frame->last, which may be t */
    next = fr->first = t->next;
    if (!next) fr->last = NULL;
    pthread_mutex_unlock(&fr->lock);
    weft__turn_end(t);
    if (err) return err;
    if (!next) return end_frame(fr, r);
    if (atomic_fetch_sub_explicit(&next->busy, 1, memory_order_acq_rel) != 1) return WEFT_OK;
  }
}

/* ---- a node's end ------------------------------------------------------------------------------ */

weft_err weft__spot_deliver(spot *s, bool dead, value *carried, ready *r) {
  switch (weft__spot_node(s)->kind) {
  case FLOW_ENTER:
  case FLOW_ENTER_FIXED: return enter(s, dead, carried, r);
  case FLOW_NEXT: return dead ? WEFT_OK : go_round(s, carried, r);
  case FLOW_EXIT:
    if (!dead) go_out(s, carried, r);
    return WEFT_OK;
  default: tell(s->turn, s->node, dead, dead ? NULL : s->kernel.out, r); return WEFT_OK;
  }
}

/* Outputs that nobody reads go at once. */
static void drop_unread(const spot *s) {
  const flow_node *n = weft__spot_node(s);
  for (int i = 0; s->kernel.out && i < s->kernel.n_out; i++)
    if (s->turn->frame->flow->map->loop[n->loop].readers[n->first_out + i] == 0)
      weft__tensor_clear(&s->kernel.out[i].t);
}

weft_err weft__spot_leave(spot *s, ready *r) {
  const flow_node *n = weft__spot_node(s);
  int n_in = s->kernel.n_in, winner = n->kind == FLOW_MERGE && !weft__spot_is_dead(s) ? weft__spot_winner(s) : -1;
  drop_unread(s);
  for (int j = 0; j < n_in; j++) {
    if (n->in[j].home != HOME_TURN) continue;
    if (n->kind != FLOW_MERGE || j == winner) let_go(s->turn, n->in[j].index);
  }
  return unbusy(s->turn, r);
}
