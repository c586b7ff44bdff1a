/* partial_step.c - tracks which feeds and fetches of a partial run were used, and waits for values.
 *
 * The lock guards whether a call is in progress, whether the step has ended, its result, and whether a fetch has
 * arrived.  It is a leaf.  The feeds and fetches need no lock: the call in progress uses them alone.  A fetch that a
 * call gave up on may still arrive, so it is reference counted. */
#include "exec/partial_step.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "exec/feeds.h"
#include "exec/passes/partition.h"
#include "exec/requests.h"

struct partial_step {
  partial_run base;
  weft_graph *graph;
  partial_host host;
  plan_request request; /* its own copy of the lists */
  feeds feeds;          /* of the request */
  feeds fetches;        /* the same table for what is fetched */
  bool *fed, *fetched;
  char **feed_key, **fetch_key; /* of the rendezvous */
  bool started;
  cancel cancel;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  bool calling; /* a call is in progress */
  bool ended;   /* the step does not run */
  status result;
};

static char *output_name(const partial_step *p, weft_out o) {
  pthread_mutex_lock(&p->graph->lock);
  char *name = weft__sprintf("%s:%d", p->graph->node[o.node]->name, o.slot);
  pthread_mutex_unlock(&p->graph->lock);
  return name;
}

/* INVALID_ARGUMENT with the name of the output where the format has %s. */
static weft_err fail_with_name(const partial_step *p, weft_out o, const char *before, const char *after) {
  char *name = output_name(p, o);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "%s%s%s", before, name ? name : "?", after);
  weft__free(name);
  return err;
}

/* ---- creation ----------------------------------------------------------------------------------- */

static weft_err make_keys(const partial_step *p, char ***out, int n, const weft_out *outs) {
  if (!(*out = weft__alloc_zero((size_t)n + 1, sizeof **out))) return WEFT_OOM;
  for (int i = 0; i < n; i++) {
    char *name = output_name(p, outs[i]);
    if (name) (*out)[i] = weft__partition_client_key(&p->host.client, name);
    weft__free(name);
    if (!(*out)[i]) return WEFT_OOM;
  }
  return WEFT_OK;
}

/* Several fetches of one output are one send of the step. */
static void drop_repeated_fetches(plan_request *r, const feeds *table) {
  weft_out *fetch = (weft_out *)(uintptr_t)r->fetch;
  int n = 0;
  for (int i = 0; i < r->n_fetch; i++)
    if (weft__feeds_find(table, fetch[i]) == i) fetch[n++] = fetch[i];
  r->n_fetch = n;
}

static weft_err partial_step_start(partial_step *p) {
  p->started = true;
  p->ended = false;
  weft_err err = p->host.start(p->host.arg, p, &p->request, &p->cancel);
  if (err) p->ended = true;
  return err;
}

static weft_err partial_step_init(partial_step *p, const plan_request *r) {
  feeds all = {0};
  WEFT_TRY(weft__request_check_fixed(p->graph, r));
  WEFT_TRY(weft__request_copy(&p->request, r));
  WEFT_TRY(weft__feeds_init(&all, r->n_fetch, r->fetch));
  drop_repeated_fetches(&p->request, &all);
  weft__feeds_finish(&all);
  WEFT_TRY(weft__feeds_init(&p->feeds, p->request.n_feed, p->request.feed));
  WEFT_TRY(weft__feeds_init(&p->fetches, p->request.n_fetch, p->request.fetch));
  p->fed = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *p->fed);
  p->fetched = weft__alloc_zero((size_t)r->n_fetch + 1, sizeof *p->fetched);
  if (!p->fed || !p->fetched) return WEFT_OOM;
  WEFT_TRY(make_keys(p, &p->feed_key, r->n_feed, p->request.feed));
  WEFT_TRY(make_keys(p, &p->fetch_key, p->request.n_fetch, p->request.fetch));
  return p->host.start_at_once ? partial_step_start(p) : WEFT_OK;
}

static const partial_run_ops partial_step_ops;

weft_err weft__partial_step_create(partial_run **out, weft_graph *g, const plan_request *r, const partial_host *h) {
  partial_step *p = weft__alloc_zero(1, sizeof *p);
  if (!p) {
    h->destroy(h->arg);
    return WEFT_OOM;
  }
  p->base.ops = &partial_step_ops;
  p->graph = g;
  p->host = *h;
  p->ended = true; /* until it is started */
  weft__cancel_init(&p->cancel);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  weft_err err = partial_step_init(p, r);
  if (err)
    weft__partial_run_destroy(&p->base);
  else
    *out = &p->base;
  return err;
}

void weft__partial_step_end(partial_step *p, weft_err err) {
  pthread_mutex_lock(&p->lock);
  weft__status_update(&p->result, err);
  p->ended = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

static void free_keys(char **list, int n) {
  for (int i = 0; list && i < n; i++) weft__free(list[i]);
  weft__free((void *)list);
}

static void partial_step_destroy(partial_run *base) {
  partial_step *p = (partial_step *)base;
  weft__cancel_fire(&p->cancel, WEFT_CANCELLED, "PartialRun was cancelled");
  pthread_mutex_lock(&p->lock);
  while (!p->ended) pthread_cond_wait(&p->changed, &p->lock);
  pthread_mutex_unlock(&p->lock);
  p->host.destroy(p->host.arg);
  free_keys(p->feed_key, p->request.n_feed);
  free_keys(p->fetch_key, p->request.n_fetch);
  weft__feeds_finish(&p->feeds);
  weft__feeds_finish(&p->fetches);
  weft__request_finish(&p->request);
  weft__free(p->fed);
  weft__free(p->fetched);
  weft__status_finish(&p->result);
  weft__cancel_finish(&p->cancel);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

typedef struct partial_call { /* a call in progress */
  partial_step *step;
  const plan_request *request; /* its feeds and fetches */
  cancel *cancel;              /* or NULL */
  int64_t deadline_ns;         /* 0: none */
} partial_call;

/* Returns an error if the wait should end: the call was canceled, is too late, or the program was interrupted. */
static weft_err check_wait(const partial_call *c) {
  if (c->cancel && weft__cancel_fired(c->cancel)) return weft__cancel_raise(c->cancel);
  if (c->deadline_ns && weft__clock_now_ns() > c->deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the partial run");
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  return WEFT_OK;
}

/* Waits for a change, or a short time.  The lock is held. */
static weft_err partial_step_wait_slice(const partial_call *c) {
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
  pthread_cond_clockwait(&c->step->changed, &c->step->lock, CLOCK_MONOTONIC, &until);
  return check_wait(c);
}

/* Waits for the calls of other threads. */
static weft_err begin_call(const partial_call *c) {
  partial_step *p = c->step;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (p->calling && !err) err = partial_step_wait_slice(c);
  if (!err && atomic_load(&p->base.over)) err = weft__fail(WEFT_INVALID_ARGUMENT, "%s", p->host.over);
  if (!err) p->calling = true;
  pthread_mutex_unlock(&p->lock);
  return err;
}

static void end_call(const partial_call *c) {
  pthread_mutex_lock(&c->step->lock);
  c->step->calling = false;
  pthread_cond_broadcast(&c->step->changed);
  pthread_mutex_unlock(&c->step->lock);
}

/* Waits until the step has ended and raises its error. */
static weft_err wait_for_end(const partial_call *c) {
  partial_step *p = c->step;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!p->ended && !err) err = partial_step_wait_slice(c);
  if (p->ended) err = weft__status_raise(&p->result);
  pthread_mutex_unlock(&p->lock);
  return err;
}

/* ---- checks ------------------------------------------------------------------------------------- */

static weft_err check_feeds(const partial_call *c, const weft_tensor *const *given) {
  const partial_step *p = c->step;
  for (int i = 0; i < c->request->n_feed; i++) {
    const weft_out o = c->request->feed[i];
    const int at = weft__feeds_find(&p->feeds, o);
    if (at < 0) return fail_with_name(p, o, "The feed ", " was not specified in partial_run_setup.");
    if (p->fed[at]) return fail_with_name(p, o, "The feed ", " has already been fed.");
    pthread_mutex_lock(&p->graph->lock);
    const weft_node *node = p->graph->node[o.node];
    pthread_mutex_unlock(&p->graph->lock);
    WEFT_TRY(weft__session_check_feed(node, o.slot, given[i]));
  }
  return WEFT_OK;
}

static weft_err check_fetches(const partial_call *c) {
  const partial_step *p = c->step;
  for (int i = 0; i < c->request->n_fetch; i++) {
    const weft_out o = c->request->fetch[i];
    const int at = weft__feeds_find(&p->fetches, o);
    if (at < 0) return fail_with_name(p, o, "The fetch ", " was not specified in partial_run_setup.");
    if (p->fetched[at]) return fail_with_name(p, o, "The fetch ", " has already been fetched.");
  }
  return WEFT_OK;
}

typedef struct walk { /* from the fetches of a call to what they are computed from */
  const partial_step *step;
  feeds now; /* of the call */
  bool *seen;
  int *stack, n;
  weft_out missing; /* a feed that is needed and was not given */
} walk;

static void walk_visit(walk *w, weft_out o, bool is_control) {
  const int feed = is_control ? -1 : weft__feeds_find(&w->step->feeds, o);
  if (feed >= 0 && !w->step->fed[feed] && weft__feeds_find(&w->now, o) < 0) w->missing = o;
  if (feed >= 0 || w->seen[o.node]) return;
  w->seen[o.node] = true;
  w->stack[w->n++] = o.node;
}

/* The graph's lock is held. */
static void walk_back(walk *w, const plan_request *r) {
  const weft_graph *g = w->step->graph;
  for (int i = 0; i < r->n_fetch; i++) walk_visit(w, r->fetch[i], false);
  while (w->n > 0 && w->missing.node < 0) {
    const weft_node *n = g->node[w->stack[--w->n]];
    for (int i = 0; i < n->n_in && w->missing.node < 0; i++) walk_visit(w, n->in[i], false);
    for (int i = 0; i < n->n_control; i++) walk_visit(w, (weft_out){n->control[i], 0}, true);
  }
}

/* INVALID_ARGUMENT if a fetch needs a feed that has not been given yet. */
static weft_err check_computable(const partial_call *c) {
  walk w = {.step = c->step, .missing = WEFT_NONE};
  weft_graph *g = c->step->graph;
  WEFT_TRY(weft__feeds_init(&w.now, c->request->n_feed, c->request->feed));
  pthread_mutex_lock(&g->lock);
  w.seen = weft__alloc_zero((size_t)g->n_node + 1, sizeof *w.seen);
  w.stack = weft__alloc(((size_t)g->n_node + 1) * sizeof *w.stack);
  const bool ok = w.seen && w.stack;
  if (ok) walk_back(&w, c->request);
  pthread_mutex_unlock(&g->lock);
  weft__free(w.seen);
  weft__free(w.stack);
  weft__feeds_finish(&w.now);
  if (!ok) return WEFT_OOM;
  if (w.missing.node < 0) return WEFT_OK;
  return fail_with_name(c->step, w.missing, "Fetch ", " can't be computed from the feeds that have been fed so far.");
}

/* ---- values ------------------------------------------------------------------------------------- */

typedef struct partial_fetch { /* may outlive the call that waits for it */
  atomic_int refs;
  partial_step *step;
  weft_tensor *tensor;
  status err;
  bool arrived, dead; /* guarded by the partial run's lock */
} partial_fetch;

static void partial_fetch_release(partial_fetch *t) {
  if (atomic_fetch_sub(&t->refs, 1) > 1) return;
  weft_tensor_destroy(t->tensor);
  weft__status_finish(&t->err);
  weft__free(t);
}

static void partial_fetch_on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  partial_fetch *k = arg;
  if (!err && !dead) err = weft__tensor_create_like(&k->tensor, t);
  partial_step *p = k->step;
  pthread_mutex_lock(&p->lock);
  weft__status_update(&k->err, err);
  k->dead = dead;
  k->arrived = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
  partial_fetch_release(k);
}

/* Waits for the value, for a step that fails before it, or for the end of the call. */
static weft_err partial_fetch_wait(const partial_call *c, const partial_fetch *k) {
  partial_step *p = c->step;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  while (!k->arrived && !err) {
    err = partial_step_wait_slice(c);
    if (!k->arrived && p->ended && p->result.code) err = weft__status_raise(&p->result);
  }
  if (!err) err = weft__status_raise(&k->err);
  pthread_mutex_unlock(&p->lock);
  return err;
}

static weft_err fetch_one(const partial_call *c, weft_out o, weft_tensor **out) {
  partial_step *p = c->step;
  const int at = weft__feeds_find(&p->fetches, o);
  partial_fetch *k = weft__alloc_zero(1, sizeof *k);
  if (!k) return WEFT_OOM;
  atomic_init(&k->refs, 2);
  k->step = p;
  p->fetched[at] = true;
  p->host.recv(p->host.arg, p->fetch_key[at], partial_fetch_on_value, k);
  weft_err err = partial_fetch_wait(c, k);
  if (!err && k->dead) err = fail_with_name(p, o, "The tensor returned for ", " was not valid.");
  if (!err) {
    *out = k->tensor;
    k->tensor = NULL;
  }
  partial_fetch_release(k);
  return err;
}

/* A fetch that appears twice in one call is the same value. */
static weft_err fetch_all(const partial_call *c, weft_tensor **fetched) {
  const plan_request *r = c->request;
  for (int i = 0; i < r->n_fetch; i++) {
    int j = 0;
    while (j < i && (r->fetch[j].node != r->fetch[i].node || r->fetch[j].slot != r->fetch[i].slot)) j++;
    if (j < i)
      fetched[i] = weft_tensor_retain(fetched[j]);
    else
      WEFT_TRY(fetch_one(c, r->fetch[i], &fetched[i]));
  }
  return WEFT_OK;
}

static weft_err send_all(const partial_call *c, const weft_tensor *const *given) {
  partial_step *p = c->step;
  for (int i = 0; i < c->request->n_feed; i++) {
    const int at = weft__feeds_find(&p->feeds, c->request->feed[i]);
    WEFT_TRY(p->host.send(p->host.arg, p->feed_key[at], given[i]));
    p->fed[at] = true;
  }
  return WEFT_OK;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static bool is_complete(const partial_step *p) {
  for (int i = 0; i < p->request.n_feed; i++)
    if (!p->fed[i]) return false;
  for (int i = 0; i < p->request.n_fetch; i++)
    if (!p->fetched[i]) return false;
  return true;
}

/* After an error the partial run is over: cancels the step.  The error that the step itself had comes first. */
static weft_err partial_fail(const partial_call *c, weft_err err) {
  partial_step *p = c->step;
  status why = {0};
  weft__status_update(&why, err);
  atomic_store(&p->base.over, true);
  weft__cancel_fire(&p->cancel, WEFT_CANCELLED, "PartialRun was cancelled");
  pthread_mutex_lock(&p->lock);
  while (!p->ended) pthread_cond_wait(&p->changed, &p->lock);
  const bool derived = why.code == WEFT_CANCELLED || why.code == WEFT_ABORTED;
  const bool own = p->result.code && p->result.code != WEFT_CANCELLED && derived;
  err = weft__status_raise(own ? &p->result : &why);
  pthread_mutex_unlock(&p->lock);
  weft__status_finish(&why);
  return err;
}

static weft_err call_checked(const partial_call *c, const weft_tensor *const *given, weft_tensor **fetched) {
  partial_step *p = c->step;
  weft_err err = p->started ? WEFT_OK : partial_step_start(p);
  if (!err) err = send_all(c, given);
  if (!err) err = fetch_all(c, fetched);
  const bool complete = !err && is_complete(p);
  if (complete) err = wait_for_end(c);
  if (complete) atomic_store(&p->base.over, true);
  return err ? partial_fail(c, err) : WEFT_OK;
}

static weft_err partial_step_call(partial_run *base, const plan_request *r, const weft_tensor *const *given,
                                  weft_tensor **fetched, const run_opts *opts) {
  partial_step *p = (partial_step *)base;
  const int64_t timeout = opts && opts->timeout_ms ? opts->timeout_ms : p->host.timeout_ms;
  const partial_call c = {p, r, opts ? opts->cancel : NULL, timeout > 0 ? weft__clock_after_ms(timeout) : 0};
  for (int i = 0; i < r->n_fetch; i++) fetched[i] = NULL;
  WEFT_TRY(begin_call(&c));
  weft_err err = weft__request_check(p->graph, r);
  if (!err) err = check_feeds(&c, given);
  if (!err) err = check_fetches(&c);
  if (!err) err = check_computable(&c);
  if (!err) err = call_checked(&c, given, fetched);
  for (int i = 0; i < r->n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  end_call(&c);
  return err;
}

static const partial_run_ops partial_step_ops = {.call = partial_step_call, .destroy = partial_step_destroy};
