/* hook.c - hooks as objects, the context of a run, and the timer of hooks. */
#include "train/session/hook.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/clock.h"
#include "train/session/run.h"

weft_err weft__hook_create(weft_hook **out, const weft_hook_fns *fns, void *arg, void (*release)(void *arg)) {
  weft_hook *h = weft__alloc_zero(1, sizeof *h);
  if (!h) {
    if (release) release(arg);
    return WEFT_OOM;
  }
  h->fns = *fns;
  h->arg = arg;
  h->release = release;
  *out = h;
  return WEFT_OK;
}

void weft__hook_destroy(weft_hook *h) {
  if (!h) return;
  if (h->release) h->release(h->arg);
  weft__free(h);
}

/* ---- the context of a run ---- */

weft_err weft__context_fetch(weft_run_context *c, int n, const weft_out *fetches) {
  hook_request *r = &c->request[c->hook];
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->fetch, c->fetch_room, c->n_fetch + n));
  if (r->n == 0) r->first = c->n_fetch;
  for (int i = 0; i < n; i++) c->fetch[c->n_fetch++] = weft__run_value(c->sess, fetches[i]);
  r->n += n;
  return WEFT_OK;
}

weft_err weft__context_target(weft_run_context *c, int n, const weft_out *nodes) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->target, c->target_room, c->n_target + n));
  for (int i = 0; i < n; i++) c->target[c->n_target++] = nodes[i].node;
  return WEFT_OK;
}

static bool same_output(weft_out a, weft_out b) { return a.node == b.node && a.slot == b.slot; }

weft_err weft__context_feed(weft_run_context *c, weft_out to, const weft_tensor *value_fed) {
  for (int i = 0; i < c->n_feed; i++)
    if (same_output(c->feed[i], to))
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s",
                        i < c->caller->n_feed ? "Same tensor is fed by hook and user."
                                              : "Same tensor is fed by two hooks.");
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->feed, c->feed_room, c->n_feed + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->fed, c->fed_room, c->n_feed + 1));
  c->feed[c->n_feed] = to;
  c->fed[c->n_feed++] = value_fed;
  return WEFT_OK;
}

const weft_tensor *weft__context_value(const weft_run_context *c, int i) {
  const hook_request *r = &c->request[c->hook];
  return c->fetched && i >= 0 && i < r->n ? c->fetched[r->first + i] : NULL;
}

/* ---- the timer ---- */

bool weft__timer_due(const hook_timer *t, int64_t at) {
  if (!t->begun || at < t->last_step) return true; /* a recovery sets the step back */
  if (t->last_step == at) return false;
  if (t->secs > 0 && (double)(weft__clock_now_ns() - t->last_ns) / (double)NS_PER_S >= t->secs) return true;
  return t->steps > 0 && at >= t->last_step + t->steps;
}

bool weft__timer_note(hook_timer *t, int64_t at, double *secs, int64_t *steps) {
  int64_t now = weft__clock_now_ns();
  bool again = t->begun;
  if (secs) *secs = (double)(now - t->last_ns) / (double)NS_PER_S;
  if (steps) *steps = at - t->last_step;
  t->begun = true;
  t->last_step = at;
  t->last_ns = now;
  return again;
}
