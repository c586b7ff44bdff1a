/* train_profiler.c - the hook that writes the timeline of a step: timeline-STEP.json for Chrome's trace viewer.
 *
 * It is in this folder and not in train/ because weft_trace_json makes the text. */
#include "api/argument.h"
#include "base/alloc.h"
#include "io/file.h"
#include "train/session/hook.h"
#include "train/checkpoint/path.h"
#include "train/session/run.h"
#include <string.h>

typedef struct profiler {
  char *dir;
  weft_out step;
  hook_timer timer;
  bool due;
} profiler;

static weft_err profiler_begin(void *arg, weft_hook *h) {
  profiler *p = arg;
  p->timer.begun = false;
  p->step = weft__monitored_global_step(h->owner);
  if (p->step.node < 0)
    return weft__fail(WEFT_FAILED_PRECONDITION, "Global step should be created to use ProfilerHook.");
  return weft__dir_create_all(p->dir);
}

static weft_err profiler_before(void *arg, weft_run_context *c) {
  profiler *p = arg;
  int64_t now;
  WEFT_TRY(weft__run_int(c->sess, p->step, &now));
  p->due = weft__timer_due(&p->timer, now);
  c->trace = c->trace || p->due;
  return WEFT_OK;
}

static weft_err write_timeline(const profiler *p, const weft_run_context *c, int64_t at) {
  char *json = NULL, *name = weft__sprintf("timeline-%lld.json", (long long)at);
  char *path = name ? weft__path_below(p->dir, name) : NULL;
  weft_err err = path ? weft_trace_json(&json, c->metadata, c->metadata_size) : WEFT_OOM;
  if (!err) err = weft__file_write(path, json, strlen(json));
  weft__free(json);
  weft__free(path);
  weft__free(name);
  return err;
}

static weft_err profiler_after(void *arg, weft_run_context *c) {
  profiler *p = arg;
  int64_t now;
  if (!p->due || !c->metadata) return WEFT_OK;
  WEFT_TRY(weft__run_int(c->sess, p->step, &now));
  weft__timer_note(&p->timer, now, NULL, NULL);
  return write_timeline(p, c, now);
}

static void profiler_release(void *arg) {
  weft__free(((profiler *)arg)->dir);
  weft__free(arg);
}

weft_err weft_hook_profiler(weft_hook **out, const char *dir, int64_t save_steps, double save_secs) {
  API_NEED(out);
  API_NEED(dir);

  static const weft_hook_fns fns = {profiler_begin, NULL, profiler_before, profiler_after, NULL};
  if ((save_steps > 0) == (save_secs > 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, "exactly one of save_steps and save_secs should be provided.");
  profiler *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  p->timer = (hook_timer){.secs = save_secs, .steps = save_steps};
  if (!(p->dir = weft__strdup(dir ? dir : ""))) {
    profiler_release(p);
    return WEFT_OOM;
  }
  return weft__hook_create(out, &fns, p, profiler_release);
}
