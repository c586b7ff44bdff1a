/* dataflow_iteration.c - making, resetting and reusing flows, frames and turns. */
#include "exec/executors/dataflow_iteration.h"

#include "base/alloc.h"

enum { MAX_IDLE = 8 };

static void on_heap(void **at, size_t count, size_t size, bool *ok) {
  *at = weft__alloc_zero(count ? count : 1, size);
  *ok = *ok && *at;
}
#define ON_HEAP(field, count, ok) on_heap((void **)&(field), (size_t)(count), sizeof *(field), ok)

static const flow_loop *loop_of(const flow_frame *fr) { return &fr->flow->map->loop[fr->loop]; }

static void clear_value(value *v) {
  if (v->t.buf) weft__tensor_clear(&v->t);
  v->ref = NULL;
  v->dead = false;
}

/* ---- turns ------------------------------------------------------------------------------------- */

static void destroy_turn(turn *t) {
  if (!t) return;
  weft__free(t->spot);
  weft__free(t->slot);
  weft__free(t->readers);
  weft__free(t->child);
  weft__free(t->in);
  weft__free(t->ref);
  weft__free(t->deref);
  weft__free(t);
}

/* Where input j of a node lies, for turn t. */
static value *input_value(const turn *t, const flow_input *in) {
  const flow_frame *fr = t->frame;
  if (in->home == HOME_TURN) return &t->slot[in->index];
  return in->home == HOME_FRAME ? &fr->fixed[in->index] : &fr->flow->root->slot[in->index];
}

/* Points the kernel's arguments at their places.  What lies in the frame is pointed at anew for every frame. */
static void point_kernel(turn *t, spot *s) {
  const plan_item *it = weft__spot_item(s);
  const flow_node *n = weft__spot_node(s);
  for (int j = 0; j < it->n_in; j++) {
    bool read = it->in[j].from_ref && !it->in[j].wants_ref;
    const weft_tensor *at = read ? &t->deref[n->first_in + j] : &input_value(t, &n->in[j])->t;
    t->in[n->first_in + j] = it->in[j].wants_ref ? NULL : at;
  }
}

static weft_err create_turn(turn **out, flow_frame *fr) {
  const flow_loop *l = loop_of(fr);
  turn *t = weft__alloc_zero(1, sizeof *t);
  bool ok = t != NULL;
  if (ok) {
    ON_HEAP(t->spot, l->n_node, &ok);
    ON_HEAP(t->slot, l->n_slot, &ok);
    ON_HEAP(t->readers, l->n_slot, &ok);
    ON_HEAP(t->child, l->n_child, &ok);
    ON_HEAP(t->in, l->n_in, &ok);
    ON_HEAP(t->ref, l->n_in, &ok);
    ON_HEAP(t->deref, l->n_in, &ok);
  }
  if (!ok) {
    destroy_turn(t);
    return WEFT_OOM;
  }
  t->frame = fr;
  for (int i = 0; i < l->n_node; i++) {
    spot *s = &t->spot[i];
    s->turn = t;
    s->node = l->node[i];
    const plan_item *it = weft__spot_item(s);
    const flow_node *n = weft__spot_node(s);
    s->kernel = (kernel){.node = it->node,
                         .op = it->op,
                         .step = &fr->flow->step,
                         .state = it->state,
                         .n_in = it->n_in,
                         .n_out = it->n_out,
                         .in = t->in + n->first_in,
                         .ref = t->ref + n->first_in,
                         .out = n->target == n->loop && n->kind != FLOW_NEXT ? t->slot + n->first_out : NULL,
                         .device = it->device,
                         .stream = weft__device_stream(it->device),
                         .host_out = it->host_out,
                         .owner = s};
  }
  *out = t;
  return WEFT_OK;
}

static turn *idle_turn(flow *f, int loop) {
  pthread_mutex_lock(&f->lock);
  turn *t = f->idle_turn[loop];
  if (t) f->idle_turn[loop] = t->next;
  pthread_mutex_unlock(&f->lock);
  return t;
}

/* Every count back to where a turn begins. */
static void reset_turn(turn *t) {
  const flow_loop *l = loop_of(t->frame);
  const flow_node *node = t->frame->flow->map->node;
  for (int i = 0; i < l->n_node; i++)
    atomic_store_explicit(&t->spot[i].word, (uint64_t)node[l->node[i]].n_wait, memory_order_relaxed);
  for (int i = 0; i < l->n_slot; i++) atomic_store_explicit(&t->readers[i], l->readers[i], memory_order_relaxed);
  for (int i = 0; i < l->n_child; i++) t->child[i] = NULL;
  atomic_store_explicit(&t->busy, 1, memory_order_relaxed);
}

weft_err weft__turn_begin(turn **out, flow_frame *fr) {
  turn *t = idle_turn(fr->flow, fr->loop);
  bool moved = !t || t->frame != fr;
  if (!t) WEFT_TRY(create_turn(&t, fr));
  t->frame = fr;
  if (moved)
    for (int i = 0; i < loop_of(fr)->n_node; i++) point_kernel(t, &t->spot[i]);
  t->number = fr->last ? fr->last->number + 1 : 0;
  t->next = NULL;
  reset_turn(t);
  if (fr->last)
    fr->last->next = t;
  else
    fr->first = t;
  fr->last = t;
  fr->n_turn++;
  *out = t;
  return WEFT_OK;
}

static void clear_turn(turn *t) {
  const flow *f = t->frame->flow;
  const flow_loop *l = loop_of(t->frame);
  for (int i = 0; i < l->n_slot; i++)
    if (t->frame->loop || f->plan->slot_item[i] >= 0 || i < f->plan->n_feed) clear_value(&t->slot[i]);
  for (int i = 0; i < l->n_in; i++)
    if (t->deref[i].buf) weft__tensor_clear(&t->deref[i]);
}

void weft__turn_end(turn *t) {
  flow *f = t->frame->flow;
  clear_turn(t);
  if (t->frame->loop == 0) return;
  pthread_mutex_lock(&f->lock);
  t->next = f->idle_turn[t->frame->loop];
  f->idle_turn[t->frame->loop] = t;
  pthread_mutex_unlock(&f->lock);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void destroy_frame(flow_frame *fr) {
  if (!fr) return;
  weft__free(fr->fixed);
  weft__free(fr->fixed_state);
  weft__free(fr->exited);
  pthread_mutex_destroy(&fr->lock);
  weft__free(fr);
}

static weft_err create_frame(flow_frame **out, flow *f, int loop) {
  const flow_loop *l = &f->map->loop[loop];
  flow_frame *fr = weft__alloc_zero(1, sizeof *fr);
  bool ok = fr != NULL;
  if (!ok) return WEFT_OOM;
  pthread_mutex_init(&fr->lock, NULL);
  fr->flow = f;
  fr->loop = loop;
  ON_HEAP(fr->fixed, l->n_fixed, &ok);
  ON_HEAP(fr->fixed_state, l->n_fixed, &ok);
  ON_HEAP(fr->exited, l->n_exit, &ok);
  if (!ok) {
    destroy_frame(fr);
    return WEFT_OOM;
  }
  *out = fr;
  return WEFT_OK;
}

static void list_frame(flow *f, flow_frame *fr) {
  pthread_mutex_lock(&f->lock);
  fr->prev = NULL;
  fr->next = f->frames;
  if (f->frames) f->frames->prev = fr;
  f->frames = fr;
  pthread_mutex_unlock(&f->lock);
}

static void keep_frame(flow *f, flow_frame *fr) {
  pthread_mutex_lock(&f->lock);
  if (fr->prev)
    fr->prev->next = fr->next;
  else
    f->frames = fr->next;
  if (fr->next) fr->next->prev = fr->prev;
  fr->next = f->idle_frame[fr->loop];
  f->idle_frame[fr->loop] = fr;
  pthread_mutex_unlock(&f->lock);
}

weft_err weft__flow_frame_begin(flow_frame **out, flow *f, int loop, turn *parent) {
  const flow_loop *l = &f->map->loop[loop];
  pthread_mutex_lock(&f->lock);
  flow_frame *fr = f->idle_frame[loop];
  if (fr) f->idle_frame[loop] = fr->next;
  pthread_mutex_unlock(&f->lock);
  if (!fr) WEFT_TRY(create_frame(&fr, f, loop));
  fr->parent = parent;
  fr->first = fr->last = NULL;
  fr->n_turn = 0;
  fr->enters_left = l->n_enter;
  for (int i = 0; i < l->n_fixed; i++) fr->fixed_state[i] = FIXED_AWAITED;
  for (int i = 0; i < l->n_exit; i++) fr->exited[i] = false;
  list_frame(f, fr);
  turn *t;
  weft_err err = weft__turn_begin(&t, fr);
  if (err)
    keep_frame(f, fr);
  else
    *out = fr;
  return err;
}

void weft__flow_frame_end(flow_frame *fr) {
  while (fr->first) {
    turn *t = fr->first;
    fr->first = t->next;
    weft__turn_end(t);
  }
  fr->last = NULL;
  while (fr->held) {
    held *h = fr->held;
    fr->held = h->next;
    clear_value(&h->value);
    weft__free(h);
  }
  for (int i = 0; i < loop_of(fr)->n_fixed; i++) clear_value(&fr->fixed[i]);
  keep_frame(fr->flow, fr);
}

/* MurmurHash64A, with the seed that keys made elsewhere have. */
static uint64_t hash_bytes(const char *data, size_t size) {
  const uint64_t m = 0xc6a4a7935bd1e995u;
  uint64_t h = UINT64_C(0xDECAFCAFFE) ^ (size * m), k;
  for (; size >= 8; data += 8, size -= 8) {
    memcpy(&k, data, 8);
    k *= m;
    h = (h ^ (k ^ k >> 47) * m) * m;
  }
  k = 0;
  memcpy(&k, data, size);
  if (size) h = (h ^ k) * m;
  h = (h ^ h >> 47) * m;
  return h ^ h >> 47;
}

static uint64_t combine(uint64_t a, uint64_t b) {
  return a ^ (b + UINT64_C(0x9e3779b97f4a7800) + (a << 10) + (a >> 4));
}

uint64_t weft__flow_frame_id(const flow_frame *fr) {
  if (fr->loop == 0) return 0;
  const char *name = loop_of(fr)->name;
  uint64_t outer = weft__flow_frame_id(fr->parent->frame);
  return combine(outer, combine((uint64_t)fr->parent->number, hash_bytes(name, strlen(name))));
}

/* ---- flows ------------------------------------------------------------------------------------- */

static void destroy_flow(flow *f) {
  if (!f) return;
  for (int i = 0; i < f->map->n_loop; i++) {
    for (turn *t; f->idle_turn && (t = f->idle_turn[i]);) {
      f->idle_turn[i] = t->next;
      destroy_turn(t);
    }
    for (flow_frame *fr; f->idle_frame && (fr = f->idle_frame[i]);) {
      f->idle_frame[i] = fr->next;
      destroy_frame(fr);
    }
  }
  if (f->root)
    for (int i = 0; i < f->plan->n_slot; i++) clear_value(&f->root->slot[i]);
  destroy_turn(f->root);
  destroy_frame(f->frame);
  weft__free(f->idle_turn);
  weft__free(f->idle_frame);
  pthread_cond_destroy(&f->wake);
  pthread_mutex_destroy(&f->lock);
  weft__free(f);
}

/* Loop 0 has one frame and one turn for as long as the flow lives. */
static weft_err make_root(flow *f) {
  WEFT_TRY(create_frame(&f->frame, f, 0));
  WEFT_TRY(create_turn(&f->root, f->frame));
  f->frame->first = f->frame->last = f->root;
  for (int i = 0; i < f->map->loop[0].n_node; i++) point_kernel(f->root, &f->root->spot[i]);
  const plan *p = f->plan;
  for (int i = 0; i < p->n_constant; i++) weft__tensor_share(&f->root->slot[p->constant_slot[i]].t, &p->constant[i]);
  return WEFT_OK;
}

static weft_err create_flow(flow **out, plan *p) {
  flow *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->plan = p;
  f->map = p->map;
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->wake, NULL);
  bool ok = true;
  ON_HEAP(f->idle_turn, f->map->n_loop, &ok);
  ON_HEAP(f->idle_frame, f->map->n_loop, &ok);
  weft_err err = ok ? make_root(f) : WEFT_OOM;
  if (err)
    destroy_flow(f);
  else
    *out = f;
  return err;
}

weft_err weft__flow_take(flow **out, plan *p) {
  pthread_mutex_lock(&p->lock);
  flow *f = p->map->idle;
  if (f) {
    p->map->idle = f->next;
    p->map->n_idle--;
  }
  pthread_mutex_unlock(&p->lock);
  if (!f) WEFT_TRY(create_flow(&f, p));
  reset_turn(f->root);
  *out = f;
  return WEFT_OK;
}

void weft__flow_give(flow *f) {
  plan *p = f->plan;
  while (f->frames) weft__flow_frame_end(f->frames); /* left over where the run failed */
  clear_turn(f->root);
  weft__status_finish(&f->status);
  pthread_mutex_lock(&p->lock);
  bool keep = p->map->n_idle < MAX_IDLE;
  if (keep) {
    f->next = p->map->idle;
    p->map->idle = f;
    p->map->n_idle++;
  }
  pthread_mutex_unlock(&p->lock);
  if (!keep) destroy_flow(f);
}

void weft__flows_destroy(plan *p) {
  while (p->map && p->map->idle) {
    flow *f = p->map->idle;
    p->map->idle = f->next;
    destroy_flow(f);
  }
}
