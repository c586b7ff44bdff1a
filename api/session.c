/* session.c - the public functions of sessions. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "cluster/open.h"
#include "graph/build.h"

weft_err weft_session_create(weft_session **out, weft_graph *g, const weft_session_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_session_opts, opts);

  return weft__session_open(out, g, opts);
}

weft_err weft_session_close(weft_session *sess) {
  API_NEED(sess);
  return weft__session_close(sess);
}
void weft_session_destroy(weft_session *sess) { weft__session_destroy(sess); }

enum { FEW = 16 }; /* lists up to this length need no allocation */

/* The lists of a request, in the form that the session expects. */
typedef struct lists {
  weft_out *feed;
  const weft_tensor **fed;
  int *target;
  weft_out few_feed[FEW];
  const weft_tensor *few_fed[FEW];
  int few_target[FEW];
} lists;

static weft_err lists_room(lists *l, int n_feed, int n_target) {
  WEFT_ASSERT(n_feed >= 0 && n_target >= 0); /* API_ARRAY checked them */
  l->feed = l->few_feed, l->fed = l->few_fed, l->target = l->few_target;
  if (n_feed <= FEW && n_target <= FEW) return WEFT_OK;
  l->feed = weft__alloc(sizeof *l->feed * ((size_t)n_feed + 1));
  l->fed = weft__alloc(sizeof *l->fed * ((size_t)n_feed + 1));
  l->target = weft__alloc(sizeof *l->target * ((size_t)n_target + 1));
  return l->feed && l->fed && l->target ? WEFT_OK : WEFT_OOM;
}

static void lists_finish(lists *l) {
  if (l->feed == l->few_feed) return;
  weft__free(l->feed);
  weft__free((void *)l->fed);
  weft__free(l->target);
}

/* A handle is WEFT_NONE: fails with the reason if that is because the graph rejected an op. */
static weft_err output_refused(const weft_session *sess, const char *what, int i) {
  weft_err err = weft__b_ok(sess->graph);
  return err ? weft__fail(err, "%s %d is no output, because the graph refused an op: %s", what, i, weft_error_message())
             : WEFT_OK;
}

/* Fails unless the handle is an output of the session's graph.  Plans are looked up by node numbers only, so every run
 * checks every handle. */
static weft_err check_output(const weft_session *sess, weft_out o, const char *what, int i) {
  if (o.node < 0) WEFT_TRY(output_refused(sess, what, i));
  return weft__out_of(sess->graph, o, what, i);
}

/* Fills the lists and makes *out the request with them.  Values are read only if `values` is set. */
static weft_err lists_read(lists *l, const weft_session *sess, const weft_request *r, bool values, plan_request *out) {
  WEFT_ASSERT(sess->graph && r->n_fetch >= 0);
  WEFT_TRY(lists_room(l, r->n_feed, r->n_target));
  for (int i = 0; i < r->n_feed; i++) {
    l->feed[i] = r->feeds[i].to;
    l->fed[i] = r->feeds[i].value;
    WEFT_TRY(check_output(sess, l->feed[i], "feed", i));
    if (values && !l->fed[i]) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
  }
  for (int i = 0; i < r->n_fetch; i++) WEFT_TRY(check_output(sess, r->fetches[i], "fetch", i));
  for (int i = 0; i < r->n_target; i++) {
    WEFT_TRY(check_output(sess, r->targets[i], "target", i));
    l->target[i] = r->targets[i].node;
  }
  *out = (plan_request){r->n_feed, r->n_fetch, r->n_target, l->feed, r->fetches, l->target};
  return WEFT_OK;
}

static run_opts run_options(const weft_request *r) {
  if (r->metadata) *r->metadata = NULL;
  if (r->metadata) *r->metadata_size = 0;
  return (run_opts){.timeout_ms = r->timeout_ms,
                    .trace = r->trace,
                    .metadata = (uint8_t **)r->metadata,
                    .metadata_size = r->metadata_size,
                    .partition_graphs = r->partition_graphs,
                    .collective_graph_key = r->collective_graph_key};
}

#define API_REQUEST(request)                                                                                           \
  API_NEED(request);                                                                                                   \
  API_OPTS(weft_request, request);                                                                                     \
  API_ARRAY(request->n_feed, request->feeds);                                                                          \
  API_ARRAY(request->n_fetch, request->fetches);                                                                       \
  API_ARRAY(request->n_target, request->targets)

weft_err weft_session_run(weft_session *sess, const weft_request *request) {
  API_NEED(sess);
  API_REQUEST(request);
  API_ITEMS(request->n_fetch, request->fetched);
  if (request->metadata) API_NEED(request->metadata_size);

  lists l;
  plan_request r;
  const run_opts o = run_options(request);
  for (int i = 0; i < request->n_fetch; i++) request->fetched[i] = NULL;
  weft_err err = lists_read(&l, sess, request, true, &r);
  if (!err) err = weft__session_run(sess, &r, l.fed, request->fetched, &o);
  lists_finish(&l);
  return err;
}

weft_err weft_session_run_target(weft_session *sess, weft_out target) {
  return weft_session_run(sess, &(weft_request){.n_target = 1, .targets = &target});
}

weft_err weft_session_fetch(weft_tensor **out, weft_session *sess, weft_out fetch) {
  API_NEED(out);

  return weft_session_run(sess, &(weft_request){.n_fetch = 1, .fetches = &fetch, .fetched = out});
}

/* ---- partial runs ---- */

struct weft_partial_run {
  partial_run *made;
  const weft_session *sess;
};

weft_err weft_session_partial_setup(weft_partial_run **out, weft_session *sess, const weft_request *request) {
  API_NEED(out);
  API_NEED(sess);
  API_REQUEST(request);

  lists l;
  plan_request r;
  weft_partial_run *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->sess = sess;
  weft_err err = lists_read(&l, sess, request, false, &r);
  if (!err) err = weft__session_partial_setup(sess, &r, &p->made);
  lists_finish(&l);
  if (err)
    weft__free(p);
  else
    *out = p;
  return err;
}

/* A call of a partial run accepts only feeds and fetches. */
static weft_err check_partial(const weft_request *r) {
  const char *wrong = r->n_target                       ? "n_target"
                      : r->timeout_ms                   ? "timeout_ms"
                      : r->trace                        ? "trace"
                      : r->metadata || r->metadata_size ? "metadata"
                      : r->partition_graphs             ? "partition_graphs"
                      : r->collective_graph_key         ? "collective_graph_key"
                                                        : NULL;
  if (!wrong) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "weft_session_partial_run: the request sets '%s', which a partial run has not", wrong);
}

/* Copies the feeds, because the step may read them after the call returns, when the caller may reuse the memory. */
static weft_err call_with_copies(partial_run *p, const plan_request *r, const weft_tensor **fed,
                                 weft_tensor **fetched) {
  WEFT_ASSERT(p && r->n_feed >= 0);
  weft_tensor *copy = weft__alloc_zero((size_t)r->n_feed + 1, sizeof *copy);
  weft_err err = copy ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < r->n_feed && !err; i++) {
    err = weft__tensor_clone(&copy[i], fed[i]);
    fed[i] = &copy[i];
  }
  if (!err) err = weft__partial_run_call(p, r, fed, fetched, NULL);
  for (int i = 0; i < r->n_feed && copy; i++) weft__tensor_clear(&copy[i]);
  weft__free(copy);
  return err;
}

weft_err weft_session_partial_run(weft_partial_run *run, const weft_request *request) {
  API_NEED(run);
  API_REQUEST(request);
  API_ITEMS(request->n_fetch, request->fetched);

  lists l;
  plan_request r;
  for (int i = 0; i < request->n_fetch; i++) request->fetched[i] = NULL;
  WEFT_TRY(check_partial(request));
  weft_err err = lists_read(&l, run->sess, request, true, &r);
  if (!err) err = call_with_copies(run->made, &r, l.fed, request->fetched);
  lists_finish(&l);
  return err;
}

bool weft_session_partial_over(const weft_partial_run *run) {
  API_NEED_OR(run, false);

  return atomic_load(&run->made->over);
}

void weft_session_partial_destroy(weft_partial_run *run) {
  if (!run) return;
  weft__partial_run_destroy(run->made);
  weft__free(run);
}

/* ---- callables ---- */

struct weft_callable {
  callable *made;
  const weft_graph *graph;
  weft_out feed[]; /* made->n_feed elements */
};

weft_err weft_session_callable_create(weft_callable **out, weft_session *sess, const weft_request *request) {
  API_NEED(out);
  API_NEED(sess);
  API_REQUEST(request);

  lists l;
  plan_request r;
  weft_callable *c = weft__alloc_zero(1, sizeof *c + sizeof *c->feed * (size_t)request->n_feed);
  if (!c) return WEFT_OOM;
  c->graph = sess->graph;
  for (int i = 0; i < request->n_feed; i++) c->feed[i] = request->feeds[i].to;
  weft_err err = lists_read(&l, sess, request, false, &r);
  if (!err) err = weft__session_make_callable(sess, &r, &c->made);
  lists_finish(&l);
  if (err)
    weft__free(c);
  else
    *out = c;
  return err;
}

/* Collects the values of the feeds, which must be those of create in the same order. */
static weft_err callable_values(const weft_callable *c, const weft_request *r, const weft_tensor **fed) {
  WEFT_ASSERT(c->made && c->made->n_feed >= 0);
  for (int i = 0; i < r->n_feed; i++) {
    const weft_out is = r->feeds[i].to;
    if (i < c->made->n_feed && !weft__out_same(is, c->feed[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "feed %d of the callable is %s:%d, not node %d:%d; give the feeds in the order of "
                        "weft_session_callable_create",
                        i, c->graph->node[c->feed[i].node]->name, c->feed[i].slot, is.node, is.slot);
    if (!r->feeds[i].value) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
    fed[i] = r->feeds[i].value;
  }
  return WEFT_OK;
}

weft_err weft_session_callable_run(weft_callable *c, const weft_request *request) {
  API_NEED(c);
  API_NEED(request);
  API_OPTS(weft_request, request);
  API_ARRAY(request->n_feed, request->feeds);
  API_ITEMS(c->made->n_fetch, request->fetched);
  if (request->metadata) API_NEED(request->metadata_size);
  if (request->n_fetch != c->made->n_fetch)
    return weft__fail(WEFT_INVALID_ARGUMENT, "weft_session_callable_run: n_fetch is %d; the callable has %d fetches",
                      request->n_fetch, c->made->n_fetch);

  lists l;
  const run_opts o = run_options(request);
  weft_err err = lists_room(&l, request->n_feed, 0);
  if (!err) err = callable_values(c, request, l.fed);
  if (!err) err = weft__callable_run(c->made, request->n_feed, l.fed, request->fetched, &o);
  lists_finish(&l);
  return err;
}

void weft_session_callable_destroy(weft_callable *c) {
  if (!c) return;
  weft__callable_destroy(c->made);
  weft__free(c);
}
