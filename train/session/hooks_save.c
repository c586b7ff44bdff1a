/* hooks_save.c - hooks that write: checkpoints, summaries, the rate of steps. */
#include "base/alloc.h"
#include "base/log.h"
#include "train/session/defaults.h"
#include "train/session/event_writer.h"
#include "train/session/hook.h"
#include "train/checkpoint/path.h"
#include "train/session/run.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

enum { START = 1, CHECKPOINT = 3 };

/* The common part of the three. */
typedef struct writing {
  weft_hook *hook;
  char *dir;                 /* NULL: no writer of its own */
  weft_event_writer *writer; /* of the session or the program */
  bool given;
  weft_out step;
  hook_timer timer;
} writing;

static weft_err open_writing(writing *w, weft_hook *h, const char *who) {
  w->hook = h;
  w->timer.begun = false;
  w->step = weft__monitored_global_step(h->owner);
  if (w->step.node < 0) return weft__fail(WEFT_FAILED_PRECONDITION, "Global step should be created to use %s.", who);
  if (w->given) return WEFT_OK;
  w->writer = NULL;
  return w->dir ? weft__monitored_writer(h->owner, w->dir, &w->writer) : WEFT_OK;
}

/* After a run that fetched the step as value i: sets *due if it is time to act, and *now to the step. */
static weft_err due_after(writing *w, weft_run_context *c, int i, bool *due, int64_t *now) {
  *due = false;
  if (!weft__timer_due(&w->timer, weft__tensor_int(weft__context_value(c, i), 0) + 1)) return WEFT_OK;
  WEFT_TRY(weft__run_int(c->sess, w->step, now));
  *due = weft__timer_due(&w->timer, *now);
  return WEFT_OK;
}

static weft_err one_of(double secs, int64_t steps, const char *secs_name, const char *steps_name) {
  if (secs > 0 && steps > 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Can not provide both %s and %s.", secs_name, steps_name);
  if (secs <= 0 && steps <= 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Either %s or %s should be provided.", secs_name, steps_name);
  return WEFT_OK;
}

/* ---- checkpoints ---- */

typedef struct checkpoint_hook {
  writing w;
  weft_saver *saver; /* NULL: the session's */
  char *path;
  int n_listener;
  weft_checkpoint_listener *listener;
} checkpoint_hook;

static weft_err checkpoint_begin(void *arg, weft_hook *h) {
  checkpoint_hook *k = arg;
  WEFT_TRY(open_writing(&k->w, h, "CheckpointSaverHook"));
  for (int i = 0; i < k->n_listener; i++)
    if (k->listener[i].begin) WEFT_TRY(k->listener[i].begin(k->listener[i].arg));
  return WEFT_OK;
}

/* *stop is set if a listener wants the loop to end. */
static weft_err hook_save(checkpoint_hook *k, weft_session *sess, int64_t at, bool *stop) {
  weft_saver *saver = k->saver ? k->saver : weft__monitored_saver(k->w.hook->owner);
  weft_save_opts o = {.global_step = &k->w.step};
  if (!saver) return weft__fail(WEFT_FAILED_PRECONDITION, "CheckpointSaverHook: there is no saver and nothing to save");
  weft__log(LOG_INFO, "Calling checkpoint listeners before saving checkpoint %lld...", (long long)at);
  for (int i = 0; i < k->n_listener; i++)
    if (k->listener[i].before_save) WEFT_TRY(k->listener[i].before_save(k->listener[i].arg, sess, at));
  weft__log(LOG_INFO, "Saving checkpoints for %lld into %s.", (long long)at, k->path);
  WEFT_TRY(weft__saver_save_progress(saver, sess, k->path, &o));
  if (k->w.writer) WEFT_TRY(weft__event_writer_add_session_log(k->w.writer, CHECKPOINT, k->path, NULL, at));
  weft__log(LOG_INFO, "Calling checkpoint listeners after saving checkpoint %lld...", (long long)at);
  for (int i = 0; i < k->n_listener; i++) {
    bool enough = false;
    if (k->listener[i].after_save) WEFT_TRY(k->listener[i].after_save(k->listener[i].arg, sess, at, &enough));
    *stop = *stop || enough;
  }
  return WEFT_OK;
}

static weft_err checkpoint_created(void *arg, weft_session *sess, weft_coordinator *c) {
  checkpoint_hook *k = arg;
  int64_t now;
  (void)c;
  WEFT_TRY(weft__run_int(sess, k->w.step, &now));
  WEFT_TRY(weft__default_write_graph(weft__monitored_graph(k->w.hook->owner), k->w.dir));
  if (k->w.writer) WEFT_TRY(weft__event_writer_add_graph(k->w.writer, weft__monitored_graph(k->w.hook->owner), 0));
  bool stop = false; /* TensorFlow asks only after later saves */
  WEFT_TRY(hook_save(k, sess, now, &stop));
  weft__timer_note(&k->w.timer, now, NULL, NULL);
  return WEFT_OK;
}

static weft_err checkpoint_before(void *arg, weft_run_context *c) {
  return weft__context_fetch(c, 1, &((checkpoint_hook *)arg)->w.step);
}

static weft_err checkpoint_after(void *arg, weft_run_context *c) {
  checkpoint_hook *k = arg;
  bool due, stop = false;
  int64_t now;
  WEFT_TRY(due_after(&k->w, c, 0, &due, &now));
  if (!due) return WEFT_OK;
  weft__timer_note(&k->w.timer, now, NULL, NULL);
  WEFT_TRY(hook_save(k, c->sess, now, &stop));
  if (stop) c->stop = true;
  return WEFT_OK;
}

static weft_err checkpoint_end(void *arg, weft_session *sess) {
  checkpoint_hook *k = arg;
  int64_t now;
  WEFT_TRY(weft__run_int(sess, k->w.step, &now));
  bool saved = k->w.timer.begun && k->w.timer.last_step == now, stop = false;
  if (!saved) WEFT_TRY(hook_save(k, sess, now, &stop));
  for (int i = 0; i < k->n_listener; i++)
    if (k->listener[i].end) WEFT_TRY(k->listener[i].end(k->listener[i].arg, sess, now));
  return WEFT_OK;
}

static void checkpoint_release(void *arg) {
  checkpoint_hook *k = arg;
  weft__free(k->w.dir);
  weft__free(k->path);
  weft__free(k->listener);
  weft__free(k);
}

static bool keep_listeners(checkpoint_hook *k, const weft_checkpoint_hook_opts *o) {
  if (o->n_listener <= 0) return true;
  if (!(k->listener = weft__alloc((size_t)o->n_listener * sizeof *k->listener))) return false;
  memcpy(k->listener, o->listeners, (size_t)o->n_listener * sizeof *k->listener);
  k->n_listener = o->n_listener;
  return true;
}

weft_err weft__hook_checkpoint(weft_hook **out, const weft_checkpoint_hook_opts *o) {
  static const weft_hook_fns fns = {checkpoint_begin, checkpoint_created, checkpoint_before, checkpoint_after,
                                    checkpoint_end};
  WEFT_TRY(one_of(o->save_secs, o->save_steps, "save_secs", "save_steps"));
  if (!o->dir) return weft__fail(WEFT_INVALID_ARGUMENT, "a checkpoint hook needs a folder");
  weft__log(LOG_INFO, "Create CheckpointSaverHook.");
  checkpoint_hook *k = weft__alloc_zero(1, sizeof *k);
  if (!k) return WEFT_OOM;
  k->saver = o->saver;
  k->w.timer = (hook_timer){.secs = o->save_secs, .steps = o->save_steps};
  k->w.dir = weft__strdup(o->dir);
  k->path = weft__path_below(o->dir, o->basename ? o->basename : "model.ckpt");
  if (!k->w.dir || !k->path || !keep_listeners(k, o)) {
    checkpoint_release(k);
    return WEFT_OOM;
  }
  return weft__hook_create(out, &fns, k, checkpoint_release);
}

/* ---- summaries ---- */

typedef struct summary_hook {
  writing w;
  bool has_summary, started, asked;
  weft_out summary;
  int64_t next;
} summary_hook;

static weft_err summary_begin(void *arg, weft_hook *h) {
  summary_hook *s = arg;
  s->started = false;
  return open_writing(&s->w, h, "SummarySaverHook");
}

static weft_out the_summary(const summary_hook *s) {
  return s->has_summary ? s->summary : weft__monitored_summary(s->w.hook->owner);
}

static weft_err summary_before(void *arg, weft_run_context *c) {
  summary_hook *s = arg;
  weft_out fetch[] = {s->w.step, the_summary(s)};
  s->asked = !s->started || weft__timer_due(&s->w.timer, s->next);
  return weft__context_fetch(c, s->asked && fetch[1].node >= 0 ? 2 : 1, fetch);
}

static weft_err add_summaries(summary_hook *s, const weft_tensor *t, int64_t at) {
  for (int64_t i = 0; t->dtype == WEFT_STRING && i < weft__tensor_count(t); i++) {
    const str *one = &TENSOR_DATA(t, str)[i];
    WEFT_TRY(weft__event_writer_add_summary(s->w.writer, one->size ? one->data : "", one->size, at));
  }
  return WEFT_OK;
}

static weft_err summary_after(void *arg, weft_run_context *c) {
  summary_hook *s = arg;
  if (!s->w.writer) return WEFT_OK;
  int64_t now = weft__tensor_int(weft__context_value(c, 0), 0);
  if (now < s->next) now++; /* it was read before the run's update */
  if (!s->started || s->asked) WEFT_TRY(weft__run_int(c->sess, s->w.step, &now));
  if (!s->started) WEFT_TRY(weft__event_writer_add_session_log(s->w.writer, START, NULL, NULL, now));
  s->started = true;
  if (s->asked) {
    weft__timer_note(&s->w.timer, now, NULL, NULL);
    if (weft__context_value(c, 1)) WEFT_TRY(add_summaries(s, weft__context_value(c, 1), now));
  }
  s->next = now + 1;
  return WEFT_OK;
}

static weft_err flush_at_end(void *arg, weft_session *sess) {
  writing *w = arg; /* the first member of both */
  (void)sess;
  return w->writer ? weft__event_writer_flush(w->writer) : WEFT_OK;
}

static void writing_release(void *arg) {
  weft__free(((writing *)arg)->dir);
  weft__free(arg);
}

/* Sets the writer or the folder that the options name. */
static weft_err where_to(writing *w, weft_event_writer *writer, const char *dir) {
  w->writer = writer;
  w->given = writer != NULL;
  if (writer || !dir) return WEFT_OK;
  return (w->dir = weft__strdup(dir)) ? WEFT_OK : WEFT_OOM;
}

weft_err weft__hook_summary(weft_hook **out, const weft_summary_hook_opts *o) {
  static const weft_hook_fns fns = {summary_begin, NULL, summary_before, summary_after, flush_at_end};
  WEFT_TRY(one_of(o->save_secs, o->save_steps, "save_secs", "save_steps"));
  summary_hook *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->w.timer = (hook_timer){.secs = o->save_secs, .steps = o->save_steps};
  s->has_summary = o->summary_op != NULL;
  if (o->summary_op) s->summary = *o->summary_op;
  weft_err err = where_to(&s->w, o->writer, o->dir);
  if (!err) return weft__hook_create(out, &fns, s, writing_release);
  writing_release(s);
  return err;
}

/* ---- steps per second ---- */

typedef struct counter_hook {
  writing w;
  int64_t last; /* the step that the run before saw; -1: there was none */
} counter_hook;

/* Warns, at most five times in a process as TensorFlow does, if runs do not increment the global step. */
static void warn_of_same_step(counter_hook *s, int64_t seen) {
  static atomic_int warned;
  if (seen == s->last && atomic_load(&warned) < 5 && atomic_fetch_add(&warned, 1) < 5)
    weft__log(LOG_WARNING,
              "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
              "stable): %" PRId64 " vs previous value: %" PRId64
              ". You could increase the global step by passing tf.train.get_global_step() to "
              "Optimizer.apply_gradients or Optimizer.minimize.",
              seen, s->last);
  s->last = seen;
}

static weft_err counter_begin(void *arg, weft_hook *h) { return open_writing(arg, h, "StepCounterHook"); }

static weft_err counter_before(void *arg, weft_run_context *c) {
  return weft__context_fetch(c, 1, &((writing *)arg)->step);
}

static weft_err counter_after(void *arg, weft_run_context *c) {
  writing *w = arg;
  bool due;
  int64_t now, steps;
  double secs;
  WEFT_TRY(due_after(w, c, 0, &due, &now));
  warn_of_same_step(arg, weft__tensor_int(weft__context_value(c, 0), 0));
  if (!due || !weft__timer_note(&w->timer, now, &secs, &steps) || steps < 0) return WEFT_OK;
  double rate = (double)steps / (secs > 0 ? secs : 1e-9);
  const char *name = weft__monitored_graph(w->hook->owner)->node[w->step.node]->name;
  char *tag = weft__sprintf("%s/sec", name);
  if (!tag) return WEFT_OOM;
  weft_err err = w->writer ? weft__event_writer_add_scalar(w->writer, tag, rate, now) : WEFT_OK;
  weft__log(LOG_INFO, "%s: %g", tag, rate);
  weft__free(tag);
  return err;
}

weft_err weft__hook_step_counter(weft_hook **out, const weft_step_counter_opts *o) {
  static const weft_hook_fns fns = {counter_begin, NULL, counter_before, counter_after, flush_at_end};
  if (o->every_n_steps > 0 && o->every_n_secs > 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "exactly one of every_n_steps and every_n_secs should be provided.");
  counter_hook *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  writing *w = &s->w;
  s->last = -1;
  w->timer = (hook_timer){.secs = o->every_n_secs, .steps = o->every_n_steps};
  if (o->every_n_steps <= 0 && o->every_n_secs <= 0) w->timer.steps = 100;
  weft_err err = where_to(w, o->writer, o->dir);
  if (!err) return weft__hook_create(out, &fns, w, writing_release);
  writing_release(w);
  return err;
}
