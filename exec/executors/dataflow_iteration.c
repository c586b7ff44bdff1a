/* dataflow_iteration.c - making, resetting and reusing dataflows, frames and iterations.
 *
 * The lock of a dataflow's run guards its idle frames and iterations.  The plan's lock guards its idle dataflows. */
#include "exec/executors/dataflow_iteration.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { MAX_IDLE = 8 };

static void on_heap(void **at, size_t count, size_t size, bool *ok) {
  *at = weft__alloc_zero(count ? count : 1, size);
  *ok = *ok && *at;
}
#define ON_HEAP(field, count, ok) on_heap((void **)&(field), (size_t)(count), sizeof *(field), ok)

static const dataflow_loop *loop_of(const dataflow_frame *fr) { return &fr->dataflow->map->loop[fr->loop]; }

static void clear_value(value *v) {
  if (v->t.buf) weft__tensor_clear(&v->t);
  v->ref = NULL;
  v->dead = false;
}

/* ---- iterations ------------------------------------------------------------------------------------- */

static void destroy_iteration(iteration *t) {
  if (!t) return;
  weft__free(t->node_run);
  weft__free(t->slot);
  weft__free(t->readers);
  weft__free(t->child);
  weft__free(t->in);
  weft__free(t->ref);
  weft__free(t->deref);
  weft__free(t);
}

/* Returns where the value of an input is stored, for iteration t. */
static value *input_value(const iteration *t, const dataflow_input *in) {
  const dataflow_frame *fr = t->frame;
  if (in->home == HOME_ITERATION) return &t->slot[in->index];
  return in->home == HOME_FRAME ? &fr->constant[in->index] : &fr->dataflow->root->slot[in->index];
}

/* Sets the pointers to the kernel's arguments.  Those that point into the frame are set again for each frame. */
static void point_kernel(iteration *t, node_run *s) {
  const plan_item *it = weft__node_run_item(s);
  const dataflow_node *n = weft__node_run_node(s);
  for (int j = 0; j < it->n_in; j++) {
    bool read = it->in[j].from_ref && !it->in[j].wants_ref;
    const weft_tensor *at = read ? &t->deref[n->first_in + j] : &input_value(t, &n->in[j])->t;
    t->in[n->first_in + j] = it->in[j].wants_ref ? NULL : at;
  }
}

static weft_err create_iteration(iteration **out, dataflow_frame *fr) {
  const dataflow_loop *l = loop_of(fr);
  iteration *t = weft__alloc_zero(1, sizeof *t);
  bool ok = t != NULL;
  if (ok) {
    ON_HEAP(t->node_run, l->n_node, &ok);
    ON_HEAP(t->slot, l->n_slot, &ok);
    ON_HEAP(t->readers, l->n_slot, &ok);
    ON_HEAP(t->child, l->n_child, &ok);
    ON_HEAP(t->in, l->n_in, &ok);
    ON_HEAP(t->ref, l->n_in, &ok);
    ON_HEAP(t->deref, l->n_in, &ok);
  }
  if (!ok) {
    destroy_iteration(t);
    return WEFT_OOM;
  }
  t->frame = fr;
  for (int i = 0; i < l->n_node; i++) {
    node_run *s = &t->node_run[i];
    s->iteration = t;
    s->node = l->node[i];
    const plan_item *it = weft__node_run_item(s);
    const dataflow_node *n = weft__node_run_node(s);
    s->kernel = (kernel){.node = it->node,
                         .op = it->op,
                         .step = &fr->dataflow->step,
                         .state = it->state,
                         .n_in = it->n_in,
                         .n_out = it->n_out,
                         .in = t->in + n->first_in,
                         .ref = t->ref + n->first_in,
                         .out = n->target == n->loop && n->kind != DATAFLOW_NEXT ? t->slot + n->first_out : NULL,
                         .device = it->device,
                         .stream = weft__device_stream(it->device),
                         .host_out = it->host_out,
                         .owner = s};
  }
  *out = t;
  return WEFT_OK;
}

static iteration *idle_iteration(dataflow *f, int loop) {
  pthread_mutex_lock(&f->run.lock);
  iteration *t = f->idle_iteration[loop];
  if (t) f->idle_iteration[loop] = t->next;
  pthread_mutex_unlock(&f->run.lock);
  return t;
}

/* Sets every count to its value at the beginning of an iteration. */
static void reset_iteration(iteration *t) {
  const dataflow_loop *l = loop_of(t->frame);
  const dataflow_node *node = t->frame->dataflow->map->node;
  for (int i = 0; i < l->n_node; i++)
    atomic_store_explicit(&t->node_run[i].word, (uint64_t)node[l->node[i]].n_wait, memory_order_relaxed);
  for (int i = 0; i < l->n_slot; i++) atomic_store_explicit(&t->readers[i], l->readers[i], memory_order_relaxed);
  for (int i = 0; i < l->n_child; i++) t->child[i] = NULL;
  atomic_store_explicit(&t->busy, 1, memory_order_relaxed);
}

weft_err weft__iteration_begin(iteration **out, dataflow_frame *fr) {
  iteration *t = idle_iteration(fr->dataflow, fr->loop);
  WEFT_ASSERT(!t || t->frame->loop == fr->loop);
  bool moved = !t || t->frame != fr;
  if (!t) WEFT_TRY(create_iteration(&t, fr));
  t->frame = fr;
  if (moved)
    for (int i = 0; i < loop_of(fr)->n_node; i++) point_kernel(t, &t->node_run[i]);
  t->number = fr->last ? fr->last->number + 1 : 0;
  t->next = NULL;
  reset_iteration(t);
  if (fr->last)
    fr->last->next = t;
  else
    fr->first = t;
  fr->last = t;
  fr->n_iteration++;
  *out = t;
  return WEFT_OK;
}

static void clear_iteration(iteration *t) {
  const dataflow *f = t->frame->dataflow;
  const dataflow_loop *l = loop_of(t->frame);
  for (int i = 0; i < l->n_slot; i++)
    if (t->frame->loop || f->run.plan->slot_item[i] >= 0 || i < f->run.plan->n_feed) clear_value(&t->slot[i]);
  for (int i = 0; i < l->n_in; i++)
    if (t->deref[i].buf) weft__tensor_clear(&t->deref[i]);
}

void weft__iteration_end(iteration *t) {
  dataflow *f = t->frame->dataflow;
  clear_iteration(t);
  if (t->frame->loop == 0) return;
  pthread_mutex_lock(&f->run.lock);
  t->next = f->idle_iteration[t->frame->loop];
  f->idle_iteration[t->frame->loop] = t;
  pthread_mutex_unlock(&f->run.lock);
}

/* ---- frames ------------------------------------------------------------------------------------ */

static void destroy_frame(dataflow_frame *fr) {
  if (!fr) return;
  weft__free(fr->constant);
  weft__free(fr->constant_state);
  weft__free(fr->exited);
  pthread_mutex_destroy(&fr->lock);
  weft__free(fr);
}

static weft_err create_frame(dataflow_frame **out, dataflow *f, int loop) {
  const dataflow_loop *l = &f->map->loop[loop];
  dataflow_frame *fr = weft__alloc_zero(1, sizeof *fr);
  bool ok = fr != NULL;
  if (!ok) return WEFT_OOM;
  pthread_mutex_init(&fr->lock, NULL);
  fr->dataflow = f;
  fr->loop = loop;
  ON_HEAP(fr->constant, l->n_constant_enter, &ok);
  ON_HEAP(fr->constant_state, l->n_constant_enter, &ok);
  ON_HEAP(fr->exited, l->n_exit, &ok);
  if (!ok) {
    destroy_frame(fr);
    return WEFT_OOM;
  }
  *out = fr;
  return WEFT_OK;
}

static void list_frame(dataflow *f, dataflow_frame *fr) {
  pthread_mutex_lock(&f->run.lock);
  fr->prev = NULL;
  fr->next = f->frames;
  if (f->frames) f->frames->prev = fr;
  f->frames = fr;
  pthread_mutex_unlock(&f->run.lock);
}

static void keep_frame(dataflow *f, dataflow_frame *fr) {
  pthread_mutex_lock(&f->run.lock);
  if (fr->prev)
    fr->prev->next = fr->next;
  else
    f->frames = fr->next;
  if (fr->next) fr->next->prev = fr->prev;
  fr->next = f->idle_frame[fr->loop];
  f->idle_frame[fr->loop] = fr;
  pthread_mutex_unlock(&f->run.lock);
}

weft_err weft__dataflow_frame_begin(dataflow_frame **out, dataflow *f, int loop, iteration *parent) {
  const dataflow_loop *l = &f->map->loop[loop];
  pthread_mutex_lock(&f->run.lock);
  dataflow_frame *fr = f->idle_frame[loop];
  if (fr) f->idle_frame[loop] = fr->next;
  pthread_mutex_unlock(&f->run.lock);
  if (!fr) WEFT_TRY(create_frame(&fr, f, loop));
  fr->parent = parent;
  fr->first = fr->last = NULL;
  fr->n_iteration = 0;
  fr->enters_left = l->n_enter;
  for (int i = 0; i < l->n_constant_enter; i++) fr->constant_state[i] = CONSTANT_AWAITED;
  for (int i = 0; i < l->n_exit; i++) fr->exited[i] = false;
  list_frame(f, fr);
  iteration *t;
  weft_err err = weft__iteration_begin(&t, fr);
  if (err)
    keep_frame(f, fr);
  else
    *out = fr;
  return err;
}

void weft__dataflow_frame_end(dataflow_frame *fr) {
  while (fr->first) {
    iteration *t = fr->first;
    fr->first = t->next;
    weft__iteration_end(t);
  }
  fr->last = NULL;
  while (fr->held_value) {
    held_value *h = fr->held_value;
    fr->held_value = h->next;
    clear_value(&h->value);
    weft__free(h);
  }
  for (int i = 0; i < loop_of(fr)->n_constant_enter; i++) clear_value(&fr->constant[i]);
  keep_frame(fr->dataflow, fr);
}

/* MurmurHash64A, with the seed that TensorFlow uses for these keys. */
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

static uint64_t hash_combine(uint64_t a, uint64_t b) {
  return a ^ (b + UINT64_C(0x9e3779b97f4a7800) + (a << 10) + (a >> 4));
}

uint64_t weft__dataflow_frame_id(const dataflow_frame *fr) {
  if (fr->loop == 0) return 0;
  const char *name = loop_of(fr)->name;
  uint64_t outer = weft__dataflow_frame_id(fr->parent->frame);
  return hash_combine(outer, hash_combine((uint64_t)fr->parent->number, hash_bytes(name, strlen(name))));
}

/* ---- dataflows ------------------------------------------------------------------------------------- */

static void destroy_dataflow(dataflow *f) {
  if (!f) return;
  for (int i = 0; i < f->map->n_loop; i++) {
    for (iteration *t; f->idle_iteration && (t = f->idle_iteration[i]);) {
      f->idle_iteration[i] = t->next;
      destroy_iteration(t);
    }
    for (dataflow_frame *fr; f->idle_frame && (fr = f->idle_frame[i]);) {
      f->idle_frame[i] = fr->next;
      destroy_frame(fr);
    }
  }
  if (f->root)
    for (int i = 0; i < f->run.plan->n_slot; i++) clear_value(&f->root->slot[i]);
  destroy_iteration(f->root);
  destroy_frame(f->frame);
  weft__free(f->idle_iteration);
  weft__free(f->idle_frame);
  weft__run_finish(&f->run);
  weft__free(f);
}

/* Loop 0 has one frame and one iteration for as long as the dataflow lives. */
static weft_err make_root(dataflow *f) {
  WEFT_TRY(create_frame(&f->frame, f, 0));
  WEFT_TRY(create_iteration(&f->root, f->frame));
  f->frame->first = f->frame->last = f->root;
  for (int i = 0; i < f->map->loop[0].n_node; i++) point_kernel(f->root, &f->root->node_run[i]);
  const plan *p = f->run.plan;
  for (int i = 0; i < p->n_constant; i++) weft__tensor_share(&f->root->slot[p->constant_slot[i]].t, &p->constant[i]);
  return WEFT_OK;
}

static weft_err create_dataflow(dataflow **out, plan *p) {
  dataflow *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->run.plan = p;
  f->map = p->dataflow;
  weft__run_init(&f->run);
  bool ok = true;
  ON_HEAP(f->idle_iteration, f->map->n_loop, &ok);
  ON_HEAP(f->idle_frame, f->map->n_loop, &ok);
  weft_err err = ok ? make_root(f) : WEFT_OOM;
  if (err)
    destroy_dataflow(f);
  else
    *out = f;
  return err;
}

weft_err weft__dataflow_acquire(dataflow **out, plan *p) {
  pthread_mutex_lock(&p->lock);
  dataflow *f = p->dataflow->idle;
  if (f) {
    p->dataflow->idle = f->next;
    p->dataflow->n_idle--;
  }
  WEFT_ASSERT(p->dataflow->n_idle >= 0 && (p->dataflow->n_idle == 0) == !p->dataflow->idle);
  pthread_mutex_unlock(&p->lock);
  if (!f) WEFT_TRY(create_dataflow(&f, p));
  WEFT_ASSERT(f->run.plan == p && !f->frames);
  reset_iteration(f->root);
  *out = f;
  return WEFT_OK;
}

void weft__dataflow_release(dataflow *f) {
  plan *p = f->run.plan;
  while (f->frames) weft__dataflow_frame_end(f->frames); /* there are some if the run failed */
  clear_iteration(f->root);
  pthread_mutex_lock(&p->lock);
  bool keep = p->dataflow->n_idle < MAX_IDLE;
  if (keep) {
    f->next = p->dataflow->idle;
    p->dataflow->idle = f;
    p->dataflow->n_idle++;
  }
  pthread_mutex_unlock(&p->lock);
  if (!keep) destroy_dataflow(f);
}

void weft__dataflow_destroy_idle(plan *p) {
  while (p->dataflow && p->dataflow->idle) {
    dataflow *f = p->dataflow->idle;
    p->dataflow->idle = f->next;
    destroy_dataflow(f);
  }
}
