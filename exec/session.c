/* session.c - finds or makes the plan of a request, and gives each run its step. */
#include "exec/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/flow.h"
#include "exec/steplog.h"
#include "state/rendezvous.h"
#include "state/resource.h"
#include "state/step.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct plan_entry {
  uint64_t hash;
  plan_request request; /* its own copy of the lists */
  plan *plan;
  struct plan_entry *next;
} plan_entry;

enum { BUCKETS = 256 };

typedef struct running { /* a step in flight: listed so that close can reach it */
  cancel cancel;
  struct running *next, *prev;
} running;

struct weft_session {
  weft_graph *graph;
  session_opts opts;
  char handle[20];
  device *cpu;
  resources *resources;
  pool *intra, *inter;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t idle;
  plan_entry *bucket[BUCKETS];
  running steps; /* a ring */
  int n_running, placed;
  int64_t next_step;
  bool closed;
};

static void make_handle(char *out, size_t size) {
  uint64_t bits = (uint64_t)weft__now_ns() * UINT64_C(0x9E3779B97F4A7C15);
  FILE *f = fopen("/dev/urandom", "rb");
  if (f) {
    uint64_t more = 0;
    if (fread(&more, sizeof more, 1, f) == 1) bits ^= more;
    fclose(f);
  }
  snprintf(out, size, "%016llx", (unsigned long long)bits);
}

weft_err weft__session_create(weft_session **out, weft_graph *g, const session_opts *opts) {
  weft_session *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->graph = g;
  if (opts) s->opts = *opts;
  make_handle(s->handle, sizeof s->handle);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->idle, NULL);
  s->steps.next = s->steps.prev = &s->steps;
  s->next_step = 1;
  weft_err err = weft__device_cpu(&s->cpu, "/job:localhost/replica:0/task:0", 0);
  if (!err) err = weft__resources_create(&s->resources);
  if (!err) err = weft__pool_create(&s->intra, s->opts.intra_threads);
  if (!err) err = weft__pool_create(&s->inter, s->opts.inter_threads);
  if (!err && s->opts.log_device_placement)
    weft__place_log_mapping(&(placement){.n_device = 1, .device = &s->cpu, .log = true});
  if (err)
    weft__session_destroy(s);
  else
    *out = s;
  return err;
}

weft_err weft__session_close(weft_session *s) {
  pthread_mutex_lock(&s->lock);
  s->closed = true;
  for (running *r = s->steps.next; r != &s->steps; r = r->next)
    weft__cancel_fire(&r->cancel, WEFT_CANCELLED, "Session has been closed.");
  while (s->n_running) pthread_cond_wait(&s->idle, &s->lock);
  pthread_mutex_unlock(&s->lock);
  return WEFT_OK;
}

static void destroy_plans(weft_session *s) {
  for (int b = 0; b < BUCKETS; b++)
    while (s->bucket[b]) {
      plan_entry *e = s->bucket[b];
      s->bucket[b] = e->next;
      weft__plan_destroy(e->plan);
      weft__free((void *)(uintptr_t)e->request.feed);
      weft__free((void *)(uintptr_t)e->request.fetch);
      weft__free((void *)(uintptr_t)e->request.target);
      weft__free(e);
    }
}

void weft__session_destroy(weft_session *s) {
  if (!s) return;
  weft__session_close(s);
  destroy_plans(s);
  weft__resources_destroy(s->resources);
  weft__pool_destroy(s->intra);
  weft__pool_destroy(s->inter);
  weft__device_destroy(s->cpu);
  pthread_cond_destroy(&s->idle);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

const weft_graph *weft__session_graph(const weft_session *s) { return s->graph; }

device *const *weft__session_devices(const weft_session *s, int *n) {
  *n = 1;
  return &s->cpu;
}

/* ---- plans ---------------------------------------------------------------------------------------- */

static uint64_t hash_request(const plan_request *r) {
  uint64_t h = 0xcbf29ce484222325u;
#define MIX(v) h = (h ^ (uint64_t)(v)) * UINT64_C(0x100000001b3)
  MIX(r->n_feed), MIX(r->n_fetch), MIX(r->n_target);
  for (int i = 0; i < r->n_feed; i++) MIX(r->feed[i].node), MIX(r->feed[i].slot);
  for (int i = 0; i < r->n_fetch; i++) MIX(r->fetch[i].node), MIX(r->fetch[i].slot);
  for (int i = 0; i < r->n_target; i++) MIX(r->target[i]);
#undef MIX
  return h ^ h >> 32;
}

static bool same_outs(const weft_out *a, const weft_out *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i].node != b[i].node || a[i].slot != b[i].slot) return false;
  return true;
}

static bool same_request(const plan_request *a, const plan_request *b) {
  return a->n_feed == b->n_feed && a->n_fetch == b->n_fetch && a->n_target == b->n_target &&
         same_outs(a->feed, b->feed, a->n_feed) && same_outs(a->fetch, b->fetch, a->n_fetch) &&
         (a->n_target == 0 || memcmp(a->target, b->target, sizeof(int) * (size_t)a->n_target) == 0);
}

static plan *find_plan(weft_session *s, uint64_t hash, const plan_request *r) {
  for (plan_entry *e = s->bucket[hash % BUCKETS]; e; e = e->next)
    if (e->hash == hash && same_request(&e->request, r)) return e->plan;
  return NULL;
}

static weft_err check_ids(const weft_graph *g, const plan_request *r) {
  for (int i = 0; i < r->n_feed + r->n_fetch; i++) {
    weft_out o = i < r->n_feed ? r->feed[i] : r->fetch[i - r->n_feed];
    if (o.node < 0 || o.node >= g->n_node || o.slot < 0 || o.slot >= g->node[o.node]->n_out)
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s %d is not an output of the session's graph (%d:%d)",
                        i < r->n_feed ? "feed" : "fetch", i < r->n_feed ? i : i - r->n_feed, o.node, o.slot);
  }
  for (int i = 0; i < r->n_target; i++)
    if (r->target[i] < 0 || r->target[i] >= g->n_node)
      return weft__fail(WEFT_INVALID_ARGUMENT, "target %d is not a node of the session's graph", i);
  return WEFT_OK;
}

/* Places the nodes that came since the last time. */
static weft_err place_new_nodes(weft_session *s) {
  placement p = {1, &s->cpu, s->opts.allow_soft_placement, s->opts.log_device_placement};
  pthread_mutex_lock(&s->graph->lock);
  int n = s->graph->n_node, *where = weft__alloc(sizeof(int) * (size_t)(n - s->placed + 1));
  weft_err err = where ? weft__place(s->graph, s->placed, &p, where) : WEFT_OOM;
  pthread_mutex_unlock(&s->graph->lock);
  weft__free(where);
  if (!err) s->placed = n;
  return err;
}

static void *copied(const void *data, size_t size) {
  void *p = weft__alloc(size ? size : 1);
  if (p && size) memcpy(p, data, size);
  return p;
}

static weft_err make_plan(weft_session *s, uint64_t hash, const plan_request *r, plan **out) {
  WEFT_TRY(check_ids(s->graph, r));
  WEFT_TRY(place_new_nodes(s));
  plan_entry *e = weft__alloc_zero(1, sizeof *e);
  if (!e) return WEFT_OOM;
  e->hash = hash;
  e->request = *r;
  e->request.feed = copied(r->feed, sizeof *r->feed * (size_t)r->n_feed);
  e->request.fetch = copied(r->fetch, sizeof *r->fetch * (size_t)r->n_fetch);
  e->request.target = copied(r->target, sizeof *r->target * (size_t)r->n_target);
  weft_err err = e->request.feed && e->request.fetch && e->request.target ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__plan_create(&e->plan, s->graph, &e->request);
  if (err) {
    weft__free((void *)(uintptr_t)e->request.feed);
    weft__free((void *)(uintptr_t)e->request.fetch);
    weft__free((void *)(uintptr_t)e->request.target);
    weft__free(e);
    return err;
  }
  e->next = s->bucket[hash % BUCKETS];
  s->bucket[hash % BUCKETS] = e;
  *out = e->plan;
  return WEFT_OK;
}

/* ---- runs ----------------------------------------------------------------------------------------- */

static weft_err check_feeds(const plan *p, const weft_tensor *const *feed) {
  for (int i = 0; i < p->n_feed; i++) {
    const weft_node *n = p->feed_node[i];
    int slot = p->feed_out[i];
    weft_dtype want = weft__dtype_base(n->out_type[slot]);
    if (feed[i]->dtype != want && want != WEFT_INVALID)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Cannot feed a value of type %s for Tensor '%s:%d', which has type %s",
                        weft__dtype_name(feed[i]->dtype), n->name, slot, weft__dtype_name(want));
    if (!weft__shape_compatible(&feed[i]->shape, &n->out_shape[slot]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Cannot feed value of shape %s for Tensor '%s:%d', which has shape '%s'",
                        weft__shape_text(&feed[i]->shape), n->name, slot, weft__shape_text(&n->out_shape[slot]));
  }
  return WEFT_OK;
}

/* Finds the plan and lists the step, under one lock. */
static weft_err begin(weft_session *s, const plan_request *r, running *step_entry, plan **p, int64_t *id) {
  uint64_t hash = hash_request(r);
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  if (s->closed) err = weft__fail(WEFT_CANCELLED, "Session has been closed.");
  *p = err ? NULL : find_plan(s, hash, r);
  if (!err && !*p) err = make_plan(s, hash, r, p);
  if (!err) {
    step_entry->next = &s->steps;
    step_entry->prev = s->steps.prev;
    step_entry->prev->next = s->steps.prev = step_entry;
    s->n_running++;
    *id = s->next_step++;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

static void end(weft_session *s, running *step_entry) {
  pthread_mutex_lock(&s->lock);
  step_entry->prev->next = step_entry->next;
  step_entry->next->prev = step_entry->prev;
  if (--s->n_running == 0) pthread_cond_broadcast(&s->idle);
  pthread_mutex_unlock(&s->lock);
}

static weft_err run_step(weft_session *s, plan *p, plan_run *run) {
  if (!p->flow) return weft__plan_run(p, run);
  weft_err err = weft__rendezvous_create(&run->step.rendezvous);
  if (!err) err = weft__flow_run(p, run, s->inter);
  weft__rendezvous_destroy(run->step.rendezvous);
  return err;
}

static weft_err finish_trace(weft_session *s, step_log *log, weft_err err, const run_opts *opts) {
  if (!err && opts->metadata) err = weft__step_log_pack(log, s->cpu->name, opts->metadata, opts->metadata_size);
  weft__step_log_destroy(log);
  return err;
}

weft_err weft__session_run(weft_session *s, const plan_request *r, const weft_tensor *const *feed,
                           weft_tensor **fetched, const run_opts *opts) {
  running entry;
  plan *p;
  int64_t id;
  weft__cancel_init(&entry.cancel);
  weft_err err = begin(s, r, &entry, &p, &id);
  if (!err) {
    step_objects objects;
    weft__step_objects_init(&objects);
    plan_run run = {.feed = feed, .fetched = fetched};
    run.step = (step){.id = id,
                      .cancel = &entry.cancel,
                      .intra = s->intra,
                      .resources = s->resources,
                      .objects = &objects,
                      .session = s->handle};
    int64_t timeout = opts && opts->timeout_ms ? opts->timeout_ms : s->opts.timeout_ms;
    if (timeout > 0) run.deadline_ns = weft__now_ns() + timeout * 1000000;
    err = check_feeds(p, feed);
    if (!err && opts && opts->trace) err = weft__step_log_create(&run.log);
    if (!err) err = run_step(s, p, &run);
    if (run.log) err = finish_trace(s, run.log, err, opts);
    weft__step_objects_finish(&objects);
    end(s, &entry);
  }
  weft__cancel_finish(&entry.cancel);
  return err;
}
