/* session.c - the part that all kinds of sessions share: checks of requests and feeds, users, partial runs,
 * callables. */
#include "exec/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "exec/feeds.h"
#include "exec/requests.h"
#include <stdio.h>

void weft__session_make_handle(char out[WEFT_HANDLE_SIZE]) {
  uint64_t bits = (uint64_t)weft__clock_now_ns() * UINT64_C(0x9E3779B97F4A7C15);
  FILE *f = fopen("/dev/urandom", "rb");
  if (f) {
    uint64_t more = 0;
    if (fread(&more, sizeof more, 1, f) == 1) bits ^= more;
    fclose(f);
  }
  snprintf(out, WEFT_HANDLE_SIZE, "%016llx", (unsigned long long)bits);
}

static void cancel_link_fire(void *arg) {
  cancel_link *l = arg;
  weft__cancel_fire_error(l->to, weft__status_raise(&l->from->why));
}

weft_err weft__cancel_link_on(cancel_link *l, cancel *from, cancel *to) {
  *l = (cancel_link){.from = from, .to = to};
  weft_err err = from ? weft__cancel_watch_add(from, &l->watch, cancel_link_fire, l) : WEFT_OK;
  if (err) l->from = NULL;
  return err;
}

void weft__cancel_link_off(cancel_link *l) {
  if (l->from) weft__cancel_watch_remove(l->from, &l->watch);
  l->from = NULL;
}

weft_err weft__session_close(weft_session *s) { return s->ops->close(s); }

/* ---- users ---- */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER; /* guards every session's list: it seldom changes */

void weft__session_join(weft_session *s, session_user *u) {
  pthread_mutex_lock(&users_lock);
  u->next = s->users;
  s->users = u;
  pthread_mutex_unlock(&users_lock);
}

bool weft__session_leave(weft_session *s, session_user *u) {
  pthread_mutex_lock(&users_lock);
  session_user **at = &s->users;
  while (*at && *at != u) at = &(*at)->next;
  bool listed = *at;
  if (listed) *at = u->next;
  pthread_mutex_unlock(&users_lock);
  return listed;
}

static session_user *next_user(weft_session *s) {
  pthread_mutex_lock(&users_lock);
  session_user *u = s->users;
  if (u) s->users = u->next;
  pthread_mutex_unlock(&users_lock);
  return u;
}

void weft__session_destroy(weft_session *s) {
  if (!s) return;
  s->ops->close(s);
  for (session_user *u; (u = next_user(s));) u->end(u);
  s->ops->destroy(s);
}

static bool bad_out(const weft_graph *g, weft_out o) { return !weft__out_exists(g, o); }

static weft_err fail_bad_out(const char *what, int i, weft_out o) {
  if (o.node == -1)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "%s %d is not an output of the session's graph: it is WEFT_NONE, which a refused call returns",
                      what, i);
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s %d is not an output of the session's graph (%d:%d)", what, i, o.node,
                    o.slot);
}

static weft_err check_ids(const weft_graph *g, const plan_request *r) {
  for (int i = 0; i < r->n_feed; i++)
    if (bad_out(g, r->feed[i])) return fail_bad_out("feed", i, r->feed[i]);
  for (int i = 0; i < r->n_fetch; i++)
    if (bad_out(g, r->fetch[i])) return fail_bad_out("fetch", i, r->fetch[i]);
  for (int i = 0; i < r->n_target; i++)
    if (r->target[i] < 0 || r->target[i] >= g->n_node)
      return weft__fail(WEFT_INVALID_ARGUMENT, "target %d is not a node of the session's graph", i);
  return WEFT_OK;
}

/* Once per request: a graph may grow meanwhile, so it is locked. */
weft_err weft__request_check(weft_graph *g, const plan_request *r) {
  pthread_mutex_lock(&g->lock);
  weft_err err = check_ids(g, r);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__session_run(weft_session *s, const plan_request *r, const weft_tensor *const *feed,
                           weft_tensor **fetched, const run_opts *opts) {
  for (int i = 0; i < r->n_feed; i++) WEFT_TRY(weft__out_of(s->graph, r->feed[i], "feed", i));
  for (int i = 0; i < r->n_fetch; i++) WEFT_TRY(weft__out_of(s->graph, r->fetch[i], "fetch", i));
  return s->ops->run(s, r, feed, fetched, opts);
}

weft_err weft__session_devices(weft_session *s, device_info **out, int *n) { return s->ops->devices(s, out, n); }

weft_err weft__session_restoring(weft_session *s, bool begin) {
  return s->ops->restoring ? s->ops->restoring(s, begin) : WEFT_OK;
}

/* ---- partial runs ---- */

weft_err weft__session_partial_setup(weft_session *s, const plan_request *r, partial_run **out) {
  if (!s->ops->partial_setup) return weft__fail(WEFT_UNIMPLEMENTED, "This kind of session has no partial runs");
  return s->ops->partial_setup(s, r, out);
}

weft_err weft__partial_run_call(partial_run *p, const plan_request *r, const weft_tensor *const *feed,
                                weft_tensor **fetched, const run_opts *opts) {
  return p->ops->call(p, r, feed, fetched, opts);
}

void weft__partial_run_destroy(partial_run *p) {
  if (p) p->ops->destroy(p);
}

/* ---- callables ---- */

typedef struct plain_callable { /* of sessions that find a request again by themselves */
  callable base;
  weft_session *session;
  plan_request request;
} plain_callable;

static weft_err plain_callable_run(callable *base, const weft_tensor *const *feed, weft_tensor **fetched,
                                   const run_opts *opts) {
  plain_callable *c = (plain_callable *)base;
  return weft__session_run(c->session, &c->request, feed, fetched, opts);
}

static void plain_callable_destroy(callable *base) {
  weft__request_finish(&((plain_callable *)base)->request);
  weft__free(base);
}

static weft_err make_plain_callable(weft_session *s, const plan_request *r, callable **out) {
  static const callable_ops ops = {plain_callable_run, plain_callable_destroy};
  plain_callable *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  c->base.ops = &ops;
  c->session = s;
  weft_err err = weft__request_copy(&c->request, r);
  if (err)
    weft__free(c);
  else
    *out = &c->base;
  return err;
}

static weft_err fail_with_name(weft_graph *g, weft_out o, const char *before, const char *after) {
  pthread_mutex_lock(&g->lock);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "%s%s:%d%s", before, g->node[o.node]->name, o.slot, after);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__request_check_fixed(weft_graph *g, const plan_request *r) {
  feeds f;
  WEFT_TRY(weft__request_check(g, r));
  if (r->n_fetch + r->n_target == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  WEFT_TRY(weft__feeds_init(&f, r->n_feed, r->feed));
  weft_err err = WEFT_OK;
  if (f.twice >= 0) err = fail_with_name(g, r->feed[f.twice], "Endpoint \"", "\" fed more than once.");
  for (int i = 0; i < r->n_fetch && !err; i++)
    if (weft__feeds_find(&f, r->fetch[i]) >= 0) err = fail_with_name(g, r->fetch[i], "", " is both fed and fetched.");
  weft__feeds_finish(&f);
  return err;
}

weft_err weft__session_make_callable(weft_session *s, const plan_request *r, callable **out) {
  WEFT_TRY(weft__request_check_fixed(s->graph, r));
  WEFT_TRY((s->ops->make_callable ? s->ops->make_callable : make_plain_callable)(s, r, out));
  (*out)->n_feed = r->n_feed;
  (*out)->n_fetch = r->n_fetch;
  return WEFT_OK;
}

weft_err weft__callable_run(callable *c, int n_feed, const weft_tensor *const *feed, weft_tensor **fetched,
                            const run_opts *opts) {
  for (int i = 0; i < c->n_fetch; i++) fetched[i] = NULL;
  if (n_feed != c->n_feed)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected %d feed tensors, but got %d", c->n_feed, n_feed);
  return c->ops->run(c, feed, fetched, opts);
}

void weft__callable_destroy(callable *c) {
  if (c) c->ops->destroy(c);
}

weft_err weft__session_check_feed(const weft_node *n, int slot, const weft_tensor *t) {
  weft_dtype want = weft__dtype_base(n->out_type[slot]);
  if (t->dtype != want && want != WEFT_INVALID)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Cannot feed a value of type %s for Tensor '%s:%d', which has type %s",
                      weft__dtype_name(t->dtype), n->name, slot, weft__dtype_name(want));
  if (!weft__shape_compatible(&t->shape, &n->out_shape[slot]))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Cannot feed value of shape %s for Tensor '%s:%d', which has shape '%s'",
                      weft__shape_text(&t->shape), n->name, slot, weft__shape_text(&n->out_shape[slot]));
  return WEFT_OK;
}
