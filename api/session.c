/* session.c - sessions, as programs run them. */
#include "api/argument.h"
#include "base/alloc.h"
#include "cluster/open.h"

weft_err weft_session_create(weft_session **out, weft_graph *g, const weft_session_opts *opts) {
  API_NEED(out);
  API_NEED(g);

  return weft__session_open(out, g, opts);
}

weft_err weft_session_close(weft_session *sess) { return weft__session_close(sess); }
void weft_session_destroy(weft_session *sess) { weft__session_destroy(sess); }

enum { FEW = 16 }; /* lists up to here need no memory */

/* The request's lists in the form the session takes them. */
typedef struct lists {
  weft_out feed[FEW];
  const weft_tensor *fed[FEW];
  int target[FEW];
} lists;

static weft_err run(weft_session *sess, plan_request *r, const weft_feed *feeds, const weft_out *targets,
                    weft_out *feed, const weft_tensor **fed, int *target, weft_tensor **fetched, const run_opts *opts) {
  for (int i = 0; i < r->n_feed; i++) {
    feed[i] = feeds[i].to;
    fed[i] = feeds[i].value;
    if (!fed[i]) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
  }
  for (int i = 0; i < r->n_target; i++) target[i] = targets[i].node;
  r->feed = feed;
  r->target = target;
  return weft__session_run(sess, r, fed, fetched, opts);
}

static run_opts from_public(const weft_run_opts *opts) {
  if (!opts) return (run_opts){0};
  if (opts->metadata) *opts->metadata = NULL;
  if (opts->metadata) *opts->metadata_size = 0;
  return (run_opts){.timeout_ms = opts->timeout_ms,
                    .trace = opts->trace,
                    .metadata = (uint8_t **)opts->metadata,
                    .metadata_size = opts->metadata_size,
                    .partition_graphs = opts->partition_graphs};
}

weft_err weft_session_run_with(weft_session *sess, int n_feed, const weft_feed *feeds, int n_fetch,
                               const weft_out *fetches, weft_tensor **fetched, int n_target, const weft_out *targets,
                               const weft_run_opts *opts) {
  API_NEED(sess);
  API_ARRAY(n_feed, feeds);
  API_ARRAY(n_fetch, fetches);
  API_ARRAY(n_fetch, fetched);
  API_ARRAY(n_target, targets);
  if (opts && opts->metadata) API_NEED(opts->metadata_size);

  run_opts o = from_public(opts);
  plan_request r = {.n_feed = n_feed, .n_fetch = n_fetch, .n_target = n_target, .fetch = fetches};
  for (int i = 0; i < n_fetch; i++) fetched[i] = NULL;
  if (n_feed <= FEW && n_target <= FEW) {
    lists l;
    return run(sess, &r, feeds, targets, l.feed, l.fed, l.target, fetched, &o);
  }
  weft_out *feed = weft__alloc(sizeof *feed * (size_t)(n_feed + 1));
  const weft_tensor **fed = weft__alloc(sizeof *fed * (size_t)(n_feed + 1));
  int *target = weft__alloc(sizeof *target * (size_t)(n_target + 1));
  weft_err err = feed && fed && target ? WEFT_OK : WEFT_OOM;
  if (!err) err = run(sess, &r, feeds, targets, feed, fed, target, fetched, &o);
  weft__free(feed);
  weft__free((void *)fed);
  weft__free(target);
  return err;
}

weft_err weft_session_run(weft_session *sess, int n_feed, const weft_feed *feeds, int n_fetch, const weft_out *fetches,
                          weft_tensor **fetched, int n_target, const weft_out *targets) {
  API_NEED(sess);
  API_ARRAY(n_feed, feeds);
  API_ARRAY(n_fetch, fetches);
  API_ARRAY(n_fetch, fetched);
  API_ARRAY(n_target, targets);

  return weft_session_run_with(sess, n_feed, feeds, n_fetch, fetches, fetched, n_target, targets, NULL);
}

/* ---- partial runs and callables ---- */

/* The node numbers of the targets; the caller frees them. */
static weft_err target_numbers(int **out, int n, const weft_out *targets) {
  *out = weft__alloc(sizeof **out * ((size_t)n + 1));
  if (!*out) return WEFT_OOM;
  for (int i = 0; i < n; i++) (*out)[i] = targets[i].node;
  return WEFT_OK;
}

weft_err weft_session_partial_setup(weft_partial_run **out, weft_session *sess, int n_feed, const weft_out *feeds,
                                    int n_fetch, const weft_out *fetches, int n_target, const weft_out *targets) {
  API_NEED(out);
  API_NEED(sess);
  API_ARRAY(n_feed, feeds);
  API_ARRAY(n_fetch, fetches);
  API_ARRAY(n_target, targets);

  int *target;
  WEFT_TRY(target_numbers(&target, n_target, targets));
  const plan_request r = {n_feed, n_fetch, n_target, feeds, fetches, target};
  weft_err err = weft__session_partial_setup(sess, &r, (partial_run **)out);
  weft__free(target);
  return err;
}

/* The step may read a feed after the call, when its memory may be the caller's again: so feeds are copied. */
static weft_err copy_feeds(int n, const weft_feed *feeds, weft_out *feed, weft_tensor *copy) {
  for (int i = 0; i < n; i++) {
    feed[i] = feeds[i].to;
    if (!feeds[i].value) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
    WEFT_TRY(weft__tensor_clone(&copy[i], feeds[i].value));
  }
  return WEFT_OK;
}

weft_err weft_session_partial_run(weft_partial_run *run, int n_feed, const weft_feed *feeds, int n_fetch,
                                  const weft_out *fetches, weft_tensor **fetched) {
  API_NEED(run);
  API_ARRAY(n_feed, feeds);
  API_ARRAY(n_fetch, fetches);
  API_ARRAY(n_fetch, fetched);

  weft_out *feed = weft__alloc(sizeof *feed * ((size_t)n_feed + 1));
  weft_tensor *copy = weft__alloc_zero((size_t)n_feed + 1, sizeof *copy);
  const weft_tensor **fed = weft__alloc(sizeof *fed * ((size_t)n_feed + 1));
  weft_err err = feed && copy && fed ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n_fetch; i++) fetched[i] = NULL;
  if (!err) err = copy_feeds(n_feed, feeds, feed, copy);
  for (int i = 0; i < n_feed && !err; i++) fed[i] = &copy[i];
  const plan_request r = {.n_feed = n_feed, .n_fetch = n_fetch, .feed = feed, .fetch = fetches};
  if (!err) err = weft__partial_run_call((partial_run *)run, &r, fed, fetched, NULL);
  for (int i = 0; i < n_feed && copy; i++) weft__tensor_clear(&copy[i]);
  weft__free(feed);
  weft__free(copy);
  weft__free((void *)fed);
  return err;
}

bool weft_session_partial_over(const weft_partial_run *run) {
  API_NEED_OR(run, false);

  return atomic_load(&((partial_run *)(uintptr_t)run)->over);
}

void weft_session_partial_destroy(weft_partial_run *run) { weft__partial_run_destroy((partial_run *)run); }

weft_err weft_session_callable_create(weft_callable **out, weft_session *sess, int n_feed, const weft_out *feeds,
                                      int n_fetch, const weft_out *fetches, int n_target, const weft_out *targets) {
  API_NEED(out);
  API_NEED(sess);
  API_ARRAY(n_feed, feeds);
  API_ARRAY(n_fetch, fetches);
  API_ARRAY(n_target, targets);

  int *target;
  WEFT_TRY(target_numbers(&target, n_target, targets));
  const plan_request r = {n_feed, n_fetch, n_target, feeds, fetches, target};
  weft_err err = weft__session_make_callable(sess, &r, (callable **)out);
  weft__free(target);
  return err;
}

weft_err weft_session_callable_run(weft_callable *c, int n_feed, const weft_tensor *const *values,
                                   weft_tensor **fetched, const weft_run_opts *opts) {
  API_NEED(c);
  API_ARRAY(n_feed, values);
  API_ITEMS(((callable *)c)->n_fetch, fetched);
  if (opts && opts->metadata) API_NEED(opts->metadata_size);

  const run_opts o = from_public(opts);
  for (int i = 0; i < n_feed; i++)
    if (!values[i]) return weft__fail(WEFT_INVALID_ARGUMENT, "feed %d has no value", i);
  return weft__callable_run((callable *)c, n_feed, values, fetched, &o);
}

void weft_session_callable_destroy(weft_callable *c) { weft__callable_destroy((callable *)c); }
