/* frame.c - making, reusing and clearing frames.
 *
 * The plan's lock guards its idle frames and its layouts.  It is held neither while a frame is made nor while its
 * values are cleared, because both take long.  One idle frame, the spare, needs no lock: a thread owns what it
 * exchanged for NULL.  So a plan that one thread runs at a time, as most do, takes the lock only in its first runs.  A
 * plan that takes turns with two frames (frame.h) takes it in each run.
 *
 * A frame refers to resources of its generation (OP_ONCE), and its CUDA graphs to variables.  When a resource has left
 * its table, the plan's next run destroys the idle frames of earlier generations, so that they keep nothing alive. */
#include "exec/executors/frame.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/resource.h"

enum { MAX_IDLE = 8, MAX_LAYOUTS = 16 };
static const size_t PAIR_BYTES = (size_t)64 << 20; /* more is not kept twice for the sake of feeds */

static int plan_count_inputs(const plan *p) {
  int n = 0;
  for (int i = 0; i < p->n_item; i++) n += p->item[i].n_in;
  return n;
}

static weft_err frame_allocate(frame *f, const plan *p) {
  f->n_in = plan_count_inputs(p);
  size_t slots = (size_t)p->n_slot + 1, inputs = (size_t)f->n_in + 1;
  f->slot = weft__alloc_zero(slots, sizeof *f->slot);
  f->kernel = weft__alloc_zero((size_t)p->n_item + 1, sizeof *f->kernel);
  f->in = weft__alloc_zero(inputs, sizeof *f->in);
  f->ref = weft__alloc_zero(inputs, sizeof *f->ref);
  f->deref = weft__alloc_zero(inputs, sizeof *f->deref);
  f->place = weft__alloc_zero(slots, sizeof *f->place);
  f->planned = weft__alloc_zero(slots, sizeof *f->planned);
  f->card = weft__alloc_zero((size_t)p->n_device + 1, sizeof *f->card);
  if (!f->layout) f->stats = weft__alloc_zero(slots, sizeof *f->stats);
  bool ok = f->slot && f->kernel && f->in && f->ref && f->deref && f->place && f->planned && f->card &&
            (f->layout || f->stats);
  return ok ? WEFT_OK : WEFT_OOM;
}

/* Points every kernel's arguments at their slots, once for all runs.  References are resolved in each run. */
static void point_kernels(frame *f, const plan *p) {
  int at = 0;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    kernel *k = &f->kernel[i];
    *k = (kernel){.node = it->node,
                  .op = it->op,
                  .step = &f->step,
                  .state = it->state,
                  .n_in = it->n_in,
                  .n_out = it->n_out,
                  .device = it->device,
                  .stream = weft__device_stream(it->device),
                  .host_out = it->host_out,
                  .dying = it->last_read};
    WEFT_ASSERT(it->first_out >= 0 && it->first_out + it->n_out <= p->n_slot);
    k->in = &f->in[at];
    k->ref = &f->ref[at];
    k->out = &f->slot[it->first_out];
    k->planned = &f->planned[it->first_out];
    k->alias = f->layout ? &f->layout->alias[it->first_out] : NULL;
    for (int j = 0; j < it->n_in; j++) {
      const plan_input *in = &it->in[j];
      WEFT_ASSERT(in->slot >= 0 && in->slot < p->n_slot);
      f->in[at + j] = in->wants_ref ? NULL : in->from_ref ? &f->deref[at + j] : &f->slot[in->slot].t;
    }
    at += it->n_in;
  }
}

static void place_release(buffer *b) { (void)b; } /* never called: the frame keeps a reference of its own */

/* Allocates the arena, on the host and on each device, and makes a buffer for each slot that has a part of it. */
static weft_err frame_place_values(frame *f, const plan *p) {
  const layout *l = f->layout;
  if (!l) return WEFT_OK;
  if (l->size[0] && !(f->memory = weft__alloc_aligned(l->size[0]))) return WEFT_OOM;
  for (int i = 0; i < p->n_device; i++) {
    memory_space *m = &p->device[i]->memory;
    if (l->size[i + 1]) WEFT_TRY(m->alloc(m, &f->card[i], WEFT_UINT8, (int64_t)l->size[i + 1]));
  }
  for (int s = 0; s < p->n_slot; s++) {
    if (!l->bytes[s]) continue;
    const int where = p->slot_memory ? p->slot_memory[s] : 0;
    buffer *b = &f->place[s];
    WEFT_ASSERT(l->offset[s] + l->bytes[s] <= l->size[where]);
    atomic_init(&b->refs, 1);
    b->transient = true;
    b->size = l->bytes[s];
    b->data = (char *)(where ? f->card[where - 1]->data : f->memory) + l->offset[s];
    b->memory = where ? &p->device[where - 1]->memory : NULL;
    b->release = place_release;
    f->planned[s] = b;
  }
  return WEFT_OK;
}

static void frame_destroy(frame *f) {
  if (!f) return;
  if (f->cuda_graph) f->destroy_cuda_graphs(f);
  for (int s = 0; s < f->plan->n_slot && f->slot; s++) weft__tensor_clear(&f->slot[s].t);
  weft__free(f->slot);
  weft__free(f->kernel);
  weft__free(f->in);
  weft__free(f->ref);
  weft__free(f->deref);
  weft__free(f->place);
  weft__free(f->planned);
  weft__free(f->stats);
  weft__free(f->memory);
  for (int i = 0; f->card && i < f->plan->n_device; i++) weft__buffer_release(f->card[i]);
  weft__free(f->card);
  weft__free(f);
}

static const layout *find_layout(const plan *p, uint64_t key) {
  WEFT_ASSERT(weft__lock_is_held(&p->lock));
  for (const layout *l = p->straight.layouts; l; l = l->next)
    if (l->key == key) return l;
  return NULL;
}

/* True if the plan has feeds, and a frame takes little memory: an arena, and on a GPU copies of the constants. */
static bool frame_may_pair(const frame *f, const plan *p) {
  if (!p->straight.ends_early || !p->n_feed || !f->layout) return false;
  size_t bytes = f->layout->size[1];
  for (int i = 0; i < p->n_constant && bytes <= PAIR_BYTES; i++) bytes += weft__tensor_bytes(&p->constant[i]);
  return bytes <= PAIR_BYTES;
}

static weft_err frame_create(frame **out, plan *p, uint64_t key, uint64_t generation) {
  frame *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->plan = p;
  f->key = key;
  f->generation = generation;
  pthread_mutex_lock(&p->lock);
  f->layout = find_layout(p, key);
  pthread_mutex_unlock(&p->lock);
  weft_err err = frame_allocate(f, p);
  if (!err) err = frame_place_values(f, p);
  if (err) {
    frame_destroy(f);
    return err;
  }
  point_kernels(f, p);
  f->may_pair = frame_may_pair(f, p);
  for (int i = 0; i < p->n_constant; i++) weft__tensor_share(&f->slot[p->constant_slot[i]].t, &p->constant[i]);
  *out = f;
  return WEFT_OK;
}

static bool frame_fits(const frame *f, uint64_t key, uint64_t generation) {
  return f->key == key && f->generation == generation;
}

bool weft__frame_runs(const frame *f) {
  device *d = f->mark ? f->plan->device[0] : NULL;
  return d && d->ops->step_runs(d, f->mark);
}

/* Returns true if a run should take another frame, because kernels of this one may still be running. */
static bool frame_is_busy(const frame *f) { return f->may_pair && weft__frame_runs(f); }

/* Puts the frame among the idle ones.  Destroys it if there are enough of them. */
static void frame_keep(frame *f) {
  plan *p = f->plan;
  pthread_mutex_lock(&p->lock);
  bool keep = p->straight.n_idle < MAX_IDLE;
  if (keep) {
    f->next = p->straight.idle;
    p->straight.idle = f;
    p->straight.n_idle++;
  }
  pthread_mutex_unlock(&p->lock);
  if (!keep) frame_destroy(f);
}

/* Removes the frame at *at from the idle ones and puts it at the front of *list. */
static void frame_unlink(plan *p, frame **at, frame **list) {
  frame *f = *at;
  *at = f->next;
  p->straight.n_idle--;
  f->next = *list;
  *list = f;
}

/* Takes an idle frame that fits, or returns NULL.  *stale: those of earlier generations, for the caller to destroy. */
static frame *idle_frame_take(plan *p, uint64_t key, uint64_t generation, frame **stale) {
  frame *found = NULL;
  pthread_mutex_lock(&p->lock);
  for (frame **at = &p->straight.idle; *at;)
    if (!found && frame_fits(*at, key, generation) && !frame_is_busy(*at))
      frame_unlink(p, at, &found);
    else if ((*at)->generation < generation)
      frame_unlink(p, at, stale);
    else
      at = &(*at)->next;
  WEFT_ASSERT(p->straight.n_idle >= 0 && (p->straight.n_idle == 0) == !p->straight.idle);
  pthread_mutex_unlock(&p->lock);
  return found;
}

static void frames_destroy(frame *f) {
  while (f) {
    frame *next = f->next;
    frame_destroy(f);
    f = next;
  }
}

weft_err weft__frame_acquire(frame **out, plan *p, uint64_t key, uint64_t generation) {
  frame *spare = atomic_exchange_explicit(&p->straight.spare, NULL, memory_order_acq_rel), *stale = NULL;
  if (spare && frame_fits(spare, key, generation) && !frame_is_busy(spare)) {
    *out = spare;
    return WEFT_OK;
  }
  if (spare) frame_keep(spare);
  frame *f = idle_frame_take(p, key, generation, &stale);
  frames_destroy(stale);
  if (!f) return frame_create(out, p, key, generation);
  *out = f;
  return WEFT_OK;
}

/* Clears all slots except constants and the outputs of OP_ONCE nodes, which keep their value after a run that
 * completed. */
static void frame_clear_values(frame *f) {
  const plan *p = f->plan;
  for (int s = 0; s < p->n_feed; s++) weft__tensor_clear(&f->slot[s].t);
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    if (f->once_done && (it->op->flags & OP_ONCE)) continue;
    for (value *v = &f->slot[it->first_out], *end = v + it->n_out; v < end; v++) {
      if (v->t.buf) weft__tensor_clear(&v->t);
      v->ref = NULL;
    }
  }
  for (int i = 0; i < f->n_in; i++)
    if (f->deref[i].buf) weft__tensor_clear(&f->deref[i]);
}

/* Makes a layout for these shapes from the stats of the first run.  The plan's lock is held. */
static void frame_record_stats(frame *f) {
  plan *p = f->plan;
  WEFT_ASSERT(weft__lock_is_held(&p->lock) && f->stats);
  layout *l = NULL;
  int n = 0;
  for (const layout *at = p->straight.layouts; at; at = at->next) n++;
  if (n >= MAX_LAYOUTS || weft__layout_create(&l, p, f->key, f->stats) != WEFT_OK) return;
  l->next = p->straight.layouts;
  p->straight.layouts = l;
}

/* Adds the stats of a run that succeeded to the plan.  Returns true if the plan has a layout now: then the frame, which
 * was made without one, is of no more use. */
static bool frame_is_stale(frame *f, bool ok) {
  plan *p = f->plan;
  pthread_mutex_lock(&p->lock);
  if (ok && !find_layout(p, f->key)) frame_record_stats(f);
  bool stale = find_layout(p, f->key);
  pthread_mutex_unlock(&p->lock);
  return stale;
}

void weft__frame_release(frame *f, bool ok) {
  const bool stale =
      (f->stats && frame_is_stale(f, ok)) || f->generation != weft__resources_generation(f->step.resources);
  frame *none = NULL;
  frame_clear_values(f);
  if (stale)
    frame_destroy(f);
  else if (!atomic_compare_exchange_strong_explicit(&f->plan->straight.spare, &none, f, memory_order_acq_rel,
                                                    memory_order_relaxed))
    frame_keep(f);
}

void weft__frames_drop_idle(plan *p) {
  frame_destroy(atomic_exchange_explicit(&p->straight.spare, NULL, memory_order_acquire));
  pthread_mutex_lock(&p->lock);
  frame *idle = p->straight.idle;
  p->straight.idle = NULL;
  p->straight.n_idle = 0;
  pthread_mutex_unlock(&p->lock);
  frames_destroy(idle);
}

void weft__frames_destroy(plan *p) {
  weft__frames_drop_idle(p);
  while (p->straight.layouts) {
    layout *l = p->straight.layouts;
    p->straight.layouts = l->next;
    weft__layout_destroy(l);
  }
}
