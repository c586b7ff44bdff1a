/* partial_run.c - tracks which feeds and fetches of a partial run were used, and waits for values.
 *
 * The lock guards whether the step has ended, its result, and whether a fetch has arrived.  It is a leaf.  The feeds
 * and fetches need no lock: one call at a time uses them.  A fetch that a call gave up on may still arrive later, so
 * it is reference counted. */
#include "cluster/master/partial_run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "exec/passes/order.h"
#include "exec/passes/partition.h"

typedef struct partial_tensor { /* a feed or a fetch; key: of the rendezvous */
  char *name, *key;
  weft_out out;
  bool used;
} partial_tensor;

struct partial_run {
  weft_session *session;
  worker *worker;
  int64_t id;
  plan_request request;
  int n_feed, n_fetch;
  partial_tensor *feed, *fetch;
  cancel cancel;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  bool ended;
  status result;
};

/* ---- creation ----------------------------------------------------------------------------------- */

static void *partial_run_copy(const void *data, size_t size) {
  void *p = weft__alloc(size + 1);
  if (p && size) memcpy(p, data, size);
  return p;
}

static weft_err partial_run_make_tensors(partial_tensor **out, int *n_out, size_t n, char *const *name,
                                         const weft_out *outs, const device_info *client) {
  *out = weft__alloc_zero(n + 1, sizeof **out);
  if (!*out) return WEFT_OOM;
  for (size_t i = 0; i < n; i++, ++*n_out) {
    partial_tensor *e = &(*out)[i];
    const char *colon = strchr(name[i], ':');
    char *full = colon ? NULL : weft__sprintf("%s:0", name[i]);
    *e = (partial_tensor){
        .name = weft__strdup(name[i]), .key = weft__client_key(client, full ? full : name[i]), .out = outs[i]};
    weft__free(full);
    if (!e->name || !e->key) return WEFT_OOM;
  }
  return WEFT_OK;
}

/* Runs the whole step, on a thread of the blocking pool. */
static void partial_run_execute(void *arg) {
  partial_run *p = arg;
  weft_err err = weft__cluster_session_run_by_name(p->session, &p->request, p->id, &p->cancel);
  pthread_mutex_lock(&p->lock);
  weft__status_update(&p->result, err);
  p->ended = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

static weft_err partial_run_init(partial_run *p, const session_env *w, const plan_request *r,
                                 const partial_run_names *n) {
  const device *d = w->task->device[0];
  device_info client = {.name = d->name, .incarnation = d->incarnation};
  p->request = *r;
  p->request.feed = partial_run_copy(r->feed, sizeof *r->feed * (size_t)r->n_feed);
  p->request.fetch = partial_run_copy(r->fetch, sizeof *r->fetch * (size_t)r->n_fetch);
  p->request.target = partial_run_copy(r->target, sizeof *r->target * (size_t)r->n_target);
  if (!p->request.feed || !p->request.fetch || !p->request.target) return WEFT_OOM;
  WEFT_TRY(partial_run_make_tensors(&p->feed, &p->n_feed, n->n_feed, n->feed, r->feed, &client));
  return partial_run_make_tensors(&p->fetch, &p->n_fetch, n->n_fetch, n->fetch, r->fetch, &client);
}

weft_err weft__partial_run_create(partial_run **out, weft_session *s, const session_env *w, blocking_pool *e,
                                  const plan_request *r, const partial_run_names *n) {
  partial_run *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->session = s;
  p->worker = w->worker;
  p->id = weft__cluster_step_new_id();
  p->ended = true; /* until it is started */
  weft__cancel_init(&p->cancel);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  weft_err err = partial_run_init(p, w, r, n);
  p->ended = err != WEFT_OK;
  if (!err && (err = weft__blocking_pool_run(e, partial_run_execute, p))) p->ended = true;
  if (err)
    weft__partial_run_destroy(p);
  else
    *out = p;
  return err;
}

static void partial_run_free_tensors(partial_tensor *list, int n) {
  for (int i = 0; i < n; i++) {
    weft__free(list[i].name);
    weft__free(list[i].key);
  }
  weft__free(list);
}

void weft__partial_run_destroy(partial_run *p) {
  if (!p) return;
  weft__cancel_fire(&p->cancel, WEFT_CANCELLED, "PartialRun was cancelled");
  pthread_mutex_lock(&p->lock);
  while (!p->ended) pthread_cond_wait(&p->changed, &p->lock);
  pthread_mutex_unlock(&p->lock);
  weft__worker_cleanup_step(p->worker, p->id);
  partial_run_free_tensors(p->feed, p->n_feed);
  partial_run_free_tensors(p->fetch, p->n_fetch);
  weft__free((void *)(uintptr_t)p->request.feed);
  weft__free((void *)(uintptr_t)p->request.fetch);
  weft__free((void *)(uintptr_t)p->request.target);
  weft__status_finish(&p->result);
  weft__cancel_finish(&p->cancel);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

/* ---- calls -------------------------------------------------------------------------------------- */

static weft_err partial_run_find(partial_tensor *list, int n, const char *name, const char *what,
                                 partial_tensor **out) {
  for (int i = 0; i < n; i++) {
    if (strcmp(list[i].name, name) != 0) continue;
    if (list[i].used)
      return weft__fail(WEFT_INVALID_ARGUMENT, "The %s %s was already used in this partial run", what, name);
    *out = &list[i];
    return WEFT_OK;
  }
  return weft__fail(WEFT_INVALID_ARGUMENT, "The %s %s was not specified in partial_run_setup", what, name);
}

/* INVALID_ARGUMENT if o depends on a feed that has not been given yet. */
static weft_err partial_run_check_fetch(const partial_run *p, weft_out o) {
  weft_out fed[64];
  int n = 0, n_order, *order;
  for (int i = 0; i < p->n_feed && n < 64; i++)
    if (p->feed[i].used) fed[n++] = p->feed[i].out;
  weft_graph *g = p->session->graph;
  plan_request r = {.n_feed = n, .feed = fed, .n_fetch = 1, .fetch = &o};
  pthread_mutex_lock(&g->lock);
  weft_err err = weft__order(g, &r, &order, &n_order);
  pthread_mutex_unlock(&g->lock);
  for (int i = 0; i < p->n_feed && !err; i++)
    for (int j = 0; j < n_order && !err && !p->feed[i].used; j++)
      if (order[j] == p->feed[i].out.node)
        err = weft__fail(WEFT_INVALID_ARGUMENT, "A fetch needs %s, which has not been fed yet", p->feed[i].name);
  if (order) weft__free(order);
  return err;
}

static weft_err partial_run_feed(partial_run *p, const partial_run_names *n, weft_tensor *const *fed) {
  for (size_t i = 0; i < n->n_feed; i++) {
    partial_tensor *e;
    WEFT_TRY(partial_run_find(p->feed, p->n_feed, n->feed[i], "feed", &e));
    const weft_node *node = weft__node(p->session->graph, e->out.node);
    WEFT_TRY(weft__check_feed(node, e->out.slot, fed[i]));
    WEFT_TRY(weft__worker_send_value(p->worker, p->id, e->key, fed[i]));
    e->used = true;
  }
  return WEFT_OK;
}

typedef struct partial_fetch { /* may outlive the call that waits for it */
  atomic_int refs;
  partial_run *step;
  weft_tensor *tensor;
  status err;
  bool arrived; /* guarded by the partial run's lock */
} partial_fetch;

static void partial_fetch_release(partial_fetch *t) {
  if (atomic_fetch_sub(&t->refs, 1) > 1) return;
  weft_tensor_destroy(t->tensor);
  weft__status_finish(&t->err);
  weft__free(t);
}

static void partial_fetch_on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  partial_fetch *k = arg;
  if (!err && dead) err = weft__fail(WEFT_INVALID_ARGUMENT, "The tensor fetched is on a branch that was not taken");
  if (!err) err = weft__tensor_create_like(&k->tensor, t);
  partial_run *p = k->step;
  pthread_mutex_lock(&p->lock);
  weft__status_update(&k->err, err);
  k->arrived = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
  partial_fetch_release(k);
}

/* Returns an error if the wait should end: the call was canceled, or the program interrupted. */
static weft_err partial_run_check_wait(cancel *c) {
  if (c && weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  return WEFT_OK;
}

/* Waits for the value, for a step that fails before it, or for cancellation. */
static weft_err partial_fetch_wait(partial_run *p, partial_fetch *k, cancel *c) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!k->arrived && !err) {
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until);
    if (k->arrived) break;
    if (p->ended) err = p->result.code ? weft__status_raise(&p->result) : WEFT_OK;
    if (!err) err = partial_run_check_wait(c);
  }
  if (!err) err = weft__status_raise(&k->err);
  if (err && p->ended && p->result.code) err = weft__status_raise(&p->result);
  pthread_mutex_unlock(&p->lock);
  return err;
}

static weft_err partial_run_fetch(partial_run *p, const char *name, cancel *c, weft_tensor **out) {
  partial_tensor *e;
  WEFT_TRY(partial_run_find(p->fetch, p->n_fetch, name, "fetch", &e));
  WEFT_TRY(partial_run_check_fetch(p, e->out));
  partial_fetch *k = weft__alloc_zero(1, sizeof *k);
  if (!k) return WEFT_OOM;
  atomic_init(&k->refs, 2);
  k->step = p;
  e->used = true;
  weft__worker_recv_value(p->worker, p->id, e->key, partial_fetch_on_value, k);
  weft_err err = partial_fetch_wait(p, k, c);
  if (!err) {
    *out = k->tensor;
    k->tensor = NULL;
  }
  partial_fetch_release(k);
  return err;
}

static bool partial_run_all_fetched(const partial_run *p) {
  for (int i = 0; i < p->n_fetch; i++)
    if (!p->fetch[i].used) return false;
  return true;
}

static weft_err partial_run_wait(partial_run *p, cancel *c) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!p->ended && !err) {
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until);
    if (!p->ended) err = partial_run_check_wait(c);
  }
  if (!err) err = weft__status_raise(&p->result);
  pthread_mutex_unlock(&p->lock);
  return err;
}

weft_err weft__partial_run_call(partial_run *p, const partial_run_names *n, weft_tensor *const *fed,
                                weft_tensor **fetched, cancel *c, bool *done) {
  *done = false;
  WEFT_TRY(partial_run_feed(p, n, fed));
  for (size_t i = 0; i < n->n_fetch; i++) WEFT_TRY(partial_run_fetch(p, n->fetch[i], c, &fetched[i]));
  for (int i = 0; i < p->n_feed; i++)
    if (!p->feed[i].used) return WEFT_OK;
  if (!partial_run_all_fetched(p)) return WEFT_OK;
  *done = true;
  return partial_run_wait(p, c);
}
