/* session.c - sessions, as programs run them. */
#include "base/alloc.h"
#include "cluster/open.h"

weft_err weft_session_create(weft_session **out, weft_graph *g, const weft_session_opts *opts) {
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

weft_err weft_session_run_with(weft_session *sess, int n_feed, const weft_feed *feeds, int n_fetch,
                               const weft_out *fetches, weft_tensor **fetched, int n_target, const weft_out *targets,
                               const weft_run_opts *opts) {
  run_opts o = {0};
  if (opts)
    o = (run_opts){opts->timeout_ms, opts->trace || opts->metadata, (uint8_t **)opts->metadata, opts->metadata_size};
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
  return weft_session_run_with(sess, n_feed, feeds, n_fetch, fetches, fetched, n_target, targets, NULL);
}
