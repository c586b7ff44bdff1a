/* hooks.c - hooks that stop, watch, wait and print. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "train/session/hook.h"
#include "train/model/nodes.h"
#include "train/session/run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static weft_err need_step(const weft_hook *h, const char *who, weft_out *out) {
  *out = weft__monitored_global_step(h->owner);
  if (out->node >= 0) return WEFT_OK;
  return weft__fail(WEFT_FAILED_PRECONDITION, "Global step should be created to use %s.", who);
}

/* ---- stopping at a step ---- */

typedef struct stop_hook {
  weft_hook *hook;
  int64_t num, last; /* last < 0: num steps after the session was created */
  weft_out step;
} stop_hook;

static weft_err stop_begin(void *arg, weft_hook *h) {
  stop_hook *s = arg;
  s->hook = h;
  return need_step(h, "StopAtStepHook", &s->step);
}

static weft_err stop_created(void *arg, weft_session *sess, weft_coordinator *c) {
  stop_hook *s = arg;
  int64_t now;
  (void)c;
  if (s->last >= 0) return WEFT_OK;
  WEFT_TRY(weft__run_int(sess, s->step, &now));
  s->last = now + s->num;
  return WEFT_OK;
}

static weft_err stop_before(void *arg, weft_run_context *c) {
  return weft__context_fetch(c, 1, &((stop_hook *)arg)->step);
}

/* The fetched value may be that before the step; near the end it is read again. */
static weft_err stop_after(void *arg, weft_run_context *c) {
  stop_hook *s = arg;
  int64_t now;
  if (weft__tensor_int(weft__context_value(c, 0), 0) + 1 < s->last) return WEFT_OK;
  WEFT_TRY(weft__run_int(c->sess, s->step, &now));
  c->stop = c->stop || now >= s->last;
  return WEFT_OK;
}

weft_err weft__hook_stop_at_step(weft_hook **out, int64_t num_steps, int64_t last_step) {
  static const weft_hook_fns fns = {stop_begin, stop_created, stop_before, stop_after, NULL};
  if ((num_steps > 0) == (last_step > 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, num_steps > 0 ? "Only one of num_steps or last_step can be specified."
                                                           : "One of num_steps or last_step must be specified.");
  stop_hook *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  *s = (stop_hook){.num = num_steps, .last = last_step > 0 ? last_step : -1};
  return weft__hook_create(out, &fns, s, weft__free);
}

/* ---- NaN ---- */

typedef struct nan_hook {
  weft_out loss;
  bool only_stop;
} nan_hook;

static weft_err nan_before(void *arg, weft_run_context *c) {
  return weft__context_fetch(c, 1, &((nan_hook *)arg)->loss);
}

static weft_err nan_after(void *arg, weft_run_context *c) {
  const nan_hook *n = arg;
  const weft_tensor *t = weft__context_value(c, 0);
  bool bad = false;
  for (int64_t i = 0; i < weft__tensor_count(t); i++) bad = bad || isnan(weft__tensor_double(t, i));
  if (!bad) return WEFT_OK;
  weft__log(n->only_stop ? LOG_WARNING : LOG_ERROR, "Model diverged with loss = NaN.");
  if (!n->only_stop) return weft__fail(WEFT_INVALID_ARGUMENT, "NaN loss during training.");
  c->stop = true;
  return WEFT_OK;
}

weft_err weft__hook_nan(weft_hook **out, weft_out loss, bool only_stop) {
  static const weft_hook_fns fns = {NULL, NULL, nan_before, nan_after, NULL};
  nan_hook *n = weft__alloc_zero(1, sizeof *n);
  if (!n) return WEFT_OOM;
  *n = (nan_hook){loss, only_stop};
  return weft__hook_create(out, &fns, n, weft__free);
}

/* ---- logging tensors ---- */

typedef struct logging_hook {
  weft_hook *hook;
  int n;
  weft_out *out;
  char **tag;
  hook_timer timer;
  int64_t iteration;
  bool at_end, due, no_runs;
  weft_format_fn *format;
  void *format_arg;
} logging_hook;

/* Formats a number like numpy: the fewest digits that distinguish it from its neighbors, with a decimal point. */
static void put_number(text *t, const weft_tensor *x, int64_t i, bool scalar) {
  char digits[64];
  double v = weft__tensor_double(x, i);
  dtype_class c = weft__dtype_class(x->dtype);
  if (c == CLASS_BOOL) {
    weft__text_puts(t, v != 0 ? "True" : "False");
  } else if (c != CLASS_FLOAT) {
    weft__text_printf(t, "%lld", (long long)weft__tensor_int(x, i));
  } else {
    for (int p = 1; p <= 17; p++) {
      snprintf(digits, sizeof digits, "%.*g", p, v);
      if (x->dtype == WEFT_DOUBLE ? strtod(digits, NULL) == v : strtof(digits, NULL) == (float)v) break;
    }
    weft__text_puts(t, digits);
    if (isfinite(v) && !strpbrk(digits, ".e")) weft__text_puts(t, scalar ? ".0" : ".");
  }
}

static void put_value(text *t, const weft_tensor *x) {
  enum { MOST = 1000 };
  int64_t n = weft__tensor_count(x);
  if (x->dtype == WEFT_STRING) {
    weft__tensor_print(t, x, MOST);
    return;
  }
  if (x->shape.rank) weft__text_puts(t, "[");
  for (int64_t i = 0; i < n && i < MOST; i++) {
    if (i) weft__text_puts(t, " ");
    put_number(t, x, i, x->shape.rank == 0);
  }
  if (x->shape.rank) weft__text_puts(t, n > MOST ? " ...]" : "]");
}

static void log_values(logging_hook *l, const weft_tensor *const *values) {
  text t = {0};
  double secs;
  bool again = weft__timer_note(&l->timer, l->iteration, &secs, NULL);
  if (l->format) {
    char line[4096] = "";
    l->format(l->format_arg, l->n, values, line, sizeof line);
    weft__text_puts(&t, line);
  } else {
    for (int i = 0; i < l->n; i++) {
      weft__text_printf(&t, "%s%s = ", i ? ", " : "", l->tag[i]);
      put_value(&t, values[i]);
    }
    if (again) weft__text_printf(&t, " (%.3f sec)", secs);
  }
  weft__log(LOG_INFO, "%s", weft__text_get(&t));
  weft__text_finish(&t);
}

static weft_err logging_begin(void *arg, weft_hook *h) {
  logging_hook *l = arg;
  l->hook = h;
  l->timer.begun = false;
  l->iteration = 0;
  return WEFT_OK;
}

static weft_err logging_before(void *arg, weft_run_context *c) {
  logging_hook *l = arg;
  l->due = !l->no_runs && weft__timer_due(&l->timer, l->iteration);
  return l->due ? weft__context_fetch(c, l->n, l->out) : WEFT_OK;
}

static weft_err logging_after(void *arg, weft_run_context *c) {
  logging_hook *l = arg;
  if (l->due) log_values(l, (const weft_tensor *const *)c->fetched + c->request[c->hook].first);
  l->iteration++;
  return WEFT_OK;
}

static weft_err logging_end(void *arg, weft_session *sess) {
  logging_hook *l = arg;
  if (!l->at_end) return WEFT_OK;
  weft_tensor **values = weft__alloc_zero((size_t)l->n, sizeof *values);
  if (!values) return WEFT_OOM;
  weft_err err = weft__session_run(sess, &(plan_request){.n_fetch = l->n, .fetch = l->out}, NULL, values, NULL);
  if (!err) log_values(l, (const weft_tensor *const *)values);
  for (int i = 0; !err && i < l->n; i++) weft_tensor_destroy(values[i]);
  weft__free(values);
  return err;
}

static void logging_release(void *arg) {
  logging_hook *l = arg;
  for (int i = 0; l->tag && i < l->n; i++) weft__free(l->tag[i]);
  weft__free(l->tag);
  weft__free(l->out);
  weft__free(l);
}

weft_err weft__hook_logging(weft_hook **out, const weft_logging_opts *o) {
  static const weft_hook_fns fns = {logging_begin, NULL, logging_before, logging_after, logging_end};
  if (o->n <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "a logging hook needs at least one tensor");
  if ((o->every_n_iter > 0) + (o->every_n_secs > 0) > 1 || (o->every_n_iter <= 0 && o->every_n_secs <= 0 && !o->at_end))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
  logging_hook *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->n = o->n;
  l->out = weft__alloc(sizeof *l->out * (size_t)o->n);
  l->tag = weft__alloc_zero((size_t)o->n, sizeof *l->tag);
  bool ok = l->out && l->tag;
  for (int i = 0; ok && i < o->n; i++) {
    l->out[i] = o->tensors[i];
    ok = (l->tag[i] = weft__strdup(o->tags[i])) != NULL;
  }
  if (!ok) {
    logging_release(l);
    return WEFT_OOM;
  }
  l->timer = (hook_timer){.secs = o->every_n_secs, .steps = o->every_n_iter};
  l->no_runs = o->every_n_iter <= 0 && o->every_n_secs <= 0;
  l->at_end = o->at_end;
  l->format = o->format;
  l->format_arg = o->format_arg;
  return weft__hook_create(out, &fns, l, logging_release);
}

/* ---- waiting for a step ---- */

typedef struct wait_hook {
  int64_t until;
  weft_out step;
  bool started;
} wait_hook;

static weft_err wait_begin(void *arg, weft_hook *h) {
  wait_hook *w = arg;
  w->started = false;
  return need_step(h, "GlobalStepWaiterHook", &w->step);
}

static weft_err wait_before(void *arg, weft_run_context *c) {
  wait_hook *w = arg;
  int64_t last = -1, now = 0;
  if (w->started || w->until <= 0) return WEFT_OK;
  weft__log(LOG_INFO, "Waiting for global step %lld before starting training.", (long long)w->until);
  for (;;) {
    WEFT_TRY(weft__run_int(c->sess, w->step, &now));
    if ((w->started = now >= w->until)) return WEFT_OK;
    if (weft__interrupt_count()) return weft__fail(WEFT_CANCELLED, "Interrupted while waiting for a global step");
    if (now / 1000 != last / 1000 || last < 0)
      weft__log(LOG_INFO, "Waiting for global step %lld before starting training. Current step is %lld.",
                (long long)w->until, (long long)now);
    last = now;
    nanosleep(&(struct timespec){0, WEFT_WAIT_SLICE_MS * NS_PER_MS}, NULL);
  }
}

weft_err weft__hook_wait_for_step(weft_hook **out, int64_t until) {
  static const weft_hook_fns fns = {wait_begin, NULL, wait_before, NULL, NULL};
  wait_hook *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->until = until;
  return weft__hook_create(out, &fns, w, weft__free);
}

/* ---- the last values ---- */

typedef struct final_hook {
  int n, n_feed;
  weft_out *out, *feed;
  weft_tensor **fed, **value_out;
} final_hook;

static weft_err final_end(void *arg, weft_session *sess) {
  final_hook *f = arg;
  plan_request r = {.n_feed = f->n_feed, .feed = f->feed, .n_fetch = f->n, .fetch = f->out};
  for (int i = 0; i < f->n; i++) weft_tensor_destroy(f->value_out[i]), f->value_out[i] = NULL;
  return weft__session_run(sess, &r, (const weft_tensor *const *)f->fed, f->value_out, NULL);
}

static void final_release(void *arg) {
  final_hook *f = arg;
  for (int i = 0; f->value_out && i < f->n; i++) weft_tensor_destroy(f->value_out[i]);
  for (int i = 0; f->fed && i < f->n_feed; i++) weft_tensor_destroy(f->fed[i]);
  weft__free(f->out);
  weft__free(f->feed);
  weft__free(f->fed);
  weft__free(f->value_out);
  weft__free(f);
}

weft_err weft__hook_final_ops(weft_hook **out, int n, const weft_out *fetches, int n_feed, const weft_feed *feeds) {
  static const weft_hook_fns fns = {NULL, NULL, NULL, NULL, final_end};
  final_hook *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->out = weft__alloc(sizeof *f->out * (size_t)(n + 1));
  f->value_out = weft__alloc_zero((size_t)n + 1, sizeof *f->value_out);
  f->feed = weft__alloc(sizeof *f->feed * (size_t)(n_feed + 1));
  f->fed = weft__alloc_zero((size_t)n_feed + 1, sizeof *f->fed);
  if (!f->out || !f->value_out || !f->feed || !f->fed) {
    final_release(f);
    return WEFT_OOM;
  }
  for (int i = 0; i < n; i++) f->out[f->n++] = fetches[i];
  for (int i = 0; i < n_feed; i++) {
    f->feed[i] = feeds[i].to;
    f->fed[f->n_feed++] = weft_tensor_retain((weft_tensor *)(uintptr_t)feeds[i].value);
  }
  return weft__hook_create(out, &fns, f, final_release);
}

weft_err weft__hook_final_value(const weft_hook *h, int i, weft_tensor **out) {
  if (h->fns.end != final_end) return weft__fail(WEFT_INVALID_ARGUMENT, "only a final-ops hook has final values");
  const final_hook *f = h->arg;
  if (i < 0 || i >= f->n || !f->value_out[i])
    return weft__fail(WEFT_FAILED_PRECONDITION, "final value %d of %d: the session has not ended", i, f->n);
  *out = weft_tensor_retain(f->value_out[i]);
  return WEFT_OK;
}
