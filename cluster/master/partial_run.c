/* partial_run.c - keeps book of what was fed and fetched, and waits. */
#include "cluster/master/partial_run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "exec/passes/order.h"
#include "exec/passes/partition.h"

typedef struct end { /* a feed or a fetch */
  char *name, *key;
  weft_out out;
  bool used;
} end;

struct partial_step {
  weft_session *session;
  worker *worker;
  int64_t id;
  plan_request request;
  int n_feed, n_fetch;
  end *feed, *fetch;
  cancel cancel;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t news;
  bool ended;
  status result;
};

/* ---- life -------------------------------------------------------------------------------------- */

static void *copied(const void *data, size_t size) {
  void *p = weft__alloc(size + 1);
  if (p && size) memcpy(p, data, size);
  return p;
}

static weft_err make_ends(end **out, int *n_out, size_t n, char *const *name, const weft_out *outs,
                          const device_info *client) {
  *out = weft__alloc_zero(n + 1, sizeof **out);
  if (!*out) return WEFT_OOM;
  for (size_t i = 0; i < n; i++, ++*n_out) {
    end *e = &(*out)[i];
    const char *colon = strchr(name[i], ':');
    char *full = colon ? NULL : weft__sprintf("%s:0", name[i]);
    *e = (end){.name = weft__strdup(name[i]), .key = weft__client_key(client, full ? full : name[i]), .out = outs[i]};
    weft__free(full);
    if (!e->name || !e->key) return WEFT_OOM;
  }
  return WEFT_OK;
}

static void run_whole(void *arg) {
  partial_step *p = arg;
  weft_err err = weft__cluster_session_run_by_name(p->session, &p->request, p->id, &p->cancel);
  pthread_mutex_lock(&p->lock);
  weft__status_update(&p->result, err);
  p->ended = true;
  pthread_cond_broadcast(&p->news);
  pthread_mutex_unlock(&p->lock);
}

static weft_err make(partial_step *p, const session_world *w, const plan_request *r, const partial_names *n) {
  const device *d = w->task->device[0];
  device_info client = {.name = d->name, .incarnation = d->incarnation};
  p->request = *r;
  p->request.feed = copied(r->feed, sizeof *r->feed * (size_t)r->n_feed);
  p->request.fetch = copied(r->fetch, sizeof *r->fetch * (size_t)r->n_fetch);
  p->request.target = copied(r->target, sizeof *r->target * (size_t)r->n_target);
  if (!p->request.feed || !p->request.fetch || !p->request.target) return WEFT_OOM;
  WEFT_TRY(make_ends(&p->feed, &p->n_feed, n->n_feed, n->feed, r->feed, &client));
  return make_ends(&p->fetch, &p->n_fetch, n->n_fetch, n->fetch, r->fetch, &client);
}

weft_err weft__partial_create(partial_step **out, weft_session *s, const session_world *w, errands *e,
                              const plan_request *r, const partial_names *n) {
  partial_step *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->session = s;
  p->worker = w->worker;
  p->id = weft__step_id();
  p->ended = true; /* until it is begun */
  weft__cancel_init(&p->cancel);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->news, NULL);
  weft_err err = make(p, w, r, n);
  p->ended = err != WEFT_OK;
  if (!err && (err = weft__errand_run(e, run_whole, p))) p->ended = true;
  if (err)
    weft__partial_destroy(p);
  else
    *out = p;
  return err;
}

static void free_ends(end *list, int n) {
  for (int i = 0; i < n; i++) {
    weft__free(list[i].name);
    weft__free(list[i].key);
  }
  weft__free(list);
}

void weft__partial_destroy(partial_step *p) {
  if (!p) return;
  weft__cancel_fire(&p->cancel, WEFT_CANCELLED, "PartialRun was cancelled");
  pthread_mutex_lock(&p->lock);
  while (!p->ended) pthread_cond_wait(&p->news, &p->lock);
  pthread_mutex_unlock(&p->lock);
  weft__worker_cleanup(p->worker, p->id);
  free_ends(p->feed, p->n_feed);
  free_ends(p->fetch, p->n_fetch);
  weft__free((void *)(uintptr_t)p->request.feed);
  weft__free((void *)(uintptr_t)p->request.fetch);
  weft__free((void *)(uintptr_t)p->request.target);
  weft__status_finish(&p->result);
  weft__cancel_finish(&p->cancel);
  pthread_cond_destroy(&p->news);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

/* ---- a call ------------------------------------------------------------------------------------ */

static weft_err find_end(end *list, int n, const char *name, const char *what, end **out) {
  for (int i = 0; i < n; i++) {
    if (strcmp(list[i].name, name) != 0) continue;
    if (list[i].used)
      return weft__fail(WEFT_INVALID_ARGUMENT, "The %s %s was already used in this partial run", what, name);
    *out = &list[i];
    return WEFT_OK;
  }
  return weft__fail(WEFT_INVALID_ARGUMENT, "The %s %s was not specified in partial_run_setup", what, name);
}

/* Does anything that o needs wait for a feed that has not come? */
static weft_err check_fetchable(const partial_step *p, weft_out o) {
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

static weft_err feed_all(partial_step *p, const partial_names *n, weft_tensor *const *fed) {
  for (size_t i = 0; i < n->n_feed; i++) {
    end *e;
    WEFT_TRY(find_end(p->feed, p->n_feed, n->feed[i], "feed", &e));
    const weft_node *node = weft__node(p->session->graph, e->out.node);
    WEFT_TRY(weft__check_feed(node, e->out.slot, fed[i]));
    WEFT_TRY(weft__worker_put(p->worker, p->id, e->key, fed[i]));
    e->used = true;
  }
  return WEFT_OK;
}

typedef struct taken { /* outlives the call that gave up waiting for it */
  atomic_int refs;
  partial_step *step;
  weft_tensor *tensor;
  status err;
  bool here; /* the step's lock guards it */
} taken;

static void taken_release(taken *t) {
  if (atomic_fetch_sub(&t->refs, 1) > 1) return;
  weft_tensor_destroy(t->tensor);
  weft__status_finish(&t->err);
  weft__free(t);
}

static void on_taken(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  taken *k = arg;
  if (!err && dead) err = weft__fail(WEFT_INVALID_ARGUMENT, "The tensor fetched is on a branch that was not taken");
  if (!err) err = weft__tensor_create_like(&k->tensor, t);
  partial_step *p = k->step;
  pthread_mutex_lock(&p->lock);
  weft__status_update(&k->err, err);
  k->here = true;
  pthread_cond_broadcast(&p->news);
  pthread_mutex_unlock(&p->lock);
  taken_release(k);
}

/* An error when whoever waits shall do so no longer. */
static weft_err check_patience(cancel *c) {
  if (c && weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  return WEFT_OK;
}

/* Waits for the value, the end of the step without it, or the end of patience. */
static weft_err wait_taken(partial_step *p, taken *k, cancel *c) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!k->here && !err) {
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&p->news, &p->lock, CLOCK_MONOTONIC, &until);
    if (k->here) break;
    if (p->ended) err = p->result.code ? weft__status_raise(&p->result) : WEFT_OK;
    if (!err) err = check_patience(c);
  }
  if (!err) err = weft__status_raise(&k->err);
  if (err && p->ended && p->result.code) err = weft__status_raise(&p->result);
  pthread_mutex_unlock(&p->lock);
  return err;
}

static weft_err fetch_one(partial_step *p, const char *name, cancel *c, weft_tensor **out) {
  end *e;
  WEFT_TRY(find_end(p->fetch, p->n_fetch, name, "fetch", &e));
  WEFT_TRY(check_fetchable(p, e->out));
  taken *k = weft__alloc_zero(1, sizeof *k);
  if (!k) return WEFT_OOM;
  atomic_init(&k->refs, 2);
  k->step = p;
  e->used = true;
  weft__worker_take(p->worker, p->id, e->key, on_taken, k);
  weft_err err = wait_taken(p, k, c);
  if (!err) {
    *out = k->tensor;
    k->tensor = NULL;
  }
  taken_release(k);
  return err;
}

static bool all_fetched(const partial_step *p) {
  for (int i = 0; i < p->n_fetch; i++)
    if (!p->fetch[i].used) return false;
  return true;
}

static weft_err wait_for_end(partial_step *p, cancel *c) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!p->ended && !err) {
    struct timespec until = weft__clock_deadline((int64_t)WEFT_WAIT_SLICE_MS * 1000000);
    pthread_cond_clockwait(&p->news, &p->lock, CLOCK_MONOTONIC, &until);
    if (!p->ended) err = check_patience(c);
  }
  if (!err) err = weft__status_raise(&p->result);
  pthread_mutex_unlock(&p->lock);
  return err;
}

weft_err weft__partial_run(partial_step *p, const partial_names *n, weft_tensor *const *fed, weft_tensor **fetched,
                           cancel *c, bool *over) {
  *over = false;
  WEFT_TRY(feed_all(p, n, fed));
  for (size_t i = 0; i < n->n_fetch; i++) WEFT_TRY(fetch_one(p, n->fetch[i], c, &fetched[i]));
  for (int i = 0; i < p->n_feed; i++)
    if (!p->feed[i].used) return WEFT_OK;
  if (!all_fetched(p)) return WEFT_OK;
  *over = true;
  return wait_for_end(p, c);
}
