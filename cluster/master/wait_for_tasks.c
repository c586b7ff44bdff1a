/* wait_for_tasks.c - the calling thread waits; each task has a call in progress or a time for the next one.
 *
 * The lock guards the attempts.  Calls are started and tokens fired without it; a peer's departure is read under it.
 * Nothing outlives the wait: it ends only when no call is in progress any more. */
#include "cluster/master/wait_for_tasks.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "rpc.pb-c.h"
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 150, ANSWER_MS = 2000, REPORT_S = 10, GREET_S = 2 };

typedef enum attempt_state { ATTEMPT_PAUSED, ATTEMPT_CALLING, ATTEMPT_ANSWERED } attempt_state;

typedef struct task_wait task_wait;

typedef struct attempt { /* to reach one task */
  task_wait *wait;
  required_task *task;
  attempt_state state;
  int64_t next_ns; /* if paused: when to call again */
  int pause_ms;
  status error; /* of the last call */
} attempt;

struct task_wait {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  cancel calls; /* cancels the calls in progress when the wait ends early */
  int n;
  attempt *attempt;
};

/* ---- answers ----------------------------------------------------------------------------------- */

static weft_err task_wait_copy_device(device_info *to, const Tensorflow__DeviceAttributes *from) {
  *to = (device_info){.name = weft__strdup(from->name),
                      .type = weft__strdup(from->device_type),
                      .description = weft__strdup(from->physical_device_desc),
                      .memory_limit = from->memory_limit,
                      .incarnation = from->incarnation};
  return to->name && to->type && to->description ? WEFT_OK : WEFT_OOM;
}

/* Returns true if the device belongs to the task that was called.  If not, the tasks have different cluster specs. */
static bool task_wait_is_device_of(const char *device_name, const char *task) {
  device_spec have, want;
  return weft__device_parse(&have, device_name) == WEFT_OK && weft__device_parse(&want, task) == WEFT_OK &&
         weft__device_matches(&want, &have);
}

/* Rewrites the device's name in its full form. */
static weft_err task_wait_canonicalize(device_info *d) {
  device_spec spec;
  char name[WEFT_DEVICE_TEXT];
  WEFT_TRY(weft__device_parse(&spec, d->name)); /* TensorFlow 1.0 to 1.3 write /cpu:0 */
  char *shown = weft__strdup(weft__device_text(&spec, name, sizeof name));
  if (!shown) return WEFT_OOM;
  weft__free(d->name);
  d->name = shown;
  return WEFT_OK;
}

static weft_err task_wait_read_devices(required_task *c, const Tensorflow__GetStatusResponse *r) {
  if (r->n_device_attributes == 0 || r->n_device_attributes > 4096)
    return weft__fail(WEFT_FAILED_PRECONDITION, "it reports %zu devices", r->n_device_attributes);
  c->device = weft__alloc_zero(r->n_device_attributes, sizeof *c->device);
  if (!c->device) return WEFT_OOM;
  for (size_t i = 0; i < r->n_device_attributes; i++) {
    c->n_device++;
    WEFT_TRY(task_wait_copy_device(&c->device[i], r->device_attributes[i]));
    if (!task_wait_is_device_of(c->device[i].name, weft__peer_task(c->peer)))
      return weft__fail(WEFT_FAILED_PRECONDITION, "wrong cluster: the server at %s is the task of %s",
                        weft__peer_address(c->peer), c->device[i].name);
    WEFT_TRY(task_wait_canonicalize(&c->device[i]));
  }
  return WEFT_OK;
}

static weft_err task_wait_read_reply(required_task *c, message *reply) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, reply, &tensorflow__get_status_response__descriptor));
  weft_err err = task_wait_read_devices(c, (const Tensorflow__GetStatusResponse *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  if (err) weft__required_tasks_finish(c, 1);
  return err;
}

static void task_wait_on_reply(void *arg, weft_err err, message *reply) {
  attempt *t = arg;
  task_wait *w = t->wait;
  if (!err) err = task_wait_read_reply(t->task, reply);
  pthread_mutex_lock(&w->lock);
  weft__status_finish(&t->error);
  t->error = (status){0};
  weft__status_update(&t->error, err);
  t->state = err ? ATTEMPT_PAUSED : ATTEMPT_ANSWERED;
  t->next_ns = weft__clock_now_ns() + t->pause_ms * NS_PER_MS;
  t->pause_ms = t->pause_ms * 2 < LONGEST_PAUSE_MS ? t->pause_ms * 2 : LONGEST_PAUSE_MS;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

/* ---- the wait ---------------------------------------------------------------------------------- */

/* The lock is held. */
static int task_wait_count(const task_wait *w, attempt_state s) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  int n = 0;
  for (int i = 0; i < w->n; i++) n += w->attempt[i].state == s;
  return n;
}

/* The lock is held, and released during each call. */
static void task_wait_start_due_calls(task_wait *w) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < w->n; i++) {
    attempt *t = &w->attempt[i];
    if (t->state != ATTEMPT_PAUSED || t->next_ns > now) continue;
    t->state = ATTEMPT_CALLING;
    pthread_mutex_unlock(&w->lock);
    message empty = {0};
    weft__message_init(&empty);
    weft__peer_call(t->task->peer, "/tensorflow.WorkerService/GetStatus", &empty,
                    &(call_opts){.timeout_ms = ANSWER_MS, .cancel = &w->calls}, task_wait_on_reply, t);
    pthread_mutex_lock(&w->lock);
  }
}

static const char *task_wait_reason(const attempt *t) {
  return t->error.message ? t->error.message : "it has not answered yet";
}

static void task_wait_log(const task_wait *w) {
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].state != ATTEMPT_ANSWERED)
      weft__log(LOG_INFO, "CreateSession still waiting for response from worker: %s (%s)",
                weft__peer_task(w->attempt[i].task->peer), task_wait_reason(&w->attempt[i]));
}

/* Returns the error of a task that rejects our credentials: retrying does not help. */
static weft_err task_wait_check_refused(const task_wait *w) {
  for (int i = 0; i < w->n; i++) {
    const status *s = &w->attempt[i].error;
    if (s->code == WEFT_UNAUTHENTICATED || s->code == WEFT_PERMISSION_DENIED)
      return weft__fail(s->code, "From %s:\n%s", weft__peer_task(w->attempt[i].task->peer), s->message);
  }
  return WEFT_OK;
}

static weft_err task_wait_timed_out(const task_wait *w) {
  text tasks = {0};
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].state != ATTEMPT_ANSWERED)
      weft__text_printf(&tasks, "%s%s (%s)", tasks.size ? ", " : "", weft__peer_task(w->attempt[i].task->peer),
                        task_wait_reason(&w->attempt[i]));
  weft_err err = weft__fail(WEFT_DEADLINE_EXCEEDED, "Gave up waiting for the tasks that the session needs: %s",
                            weft__text_get(&tasks));
  weft__text_finish(&tasks);
  return err;
}

/* Returns an error if a required task has said goodbye and stayed away longer than a restart takes. */
static weft_err task_wait_check_departed(const task_wait *w) {
  const int64_t now = weft__clock_now_ns(), return_ns = WEFT_RETURN_SECS * NS_PER_S;
  for (int i = 0; i < w->n; i++) {
    if (w->attempt[i].state == ATTEMPT_ANSWERED) continue;
    peer *p = w->attempt[i].task->peer;
    peer_departure d = weft__peer_get_departure(p);
    if (!d.at_ns || now - d.at_ns < return_ns) continue;
    long long seconds = (now - d.at_ns) / NS_PER_S;
    if (d.chief) {
      weft_err err = weft__fail(WEFT_FAILED_PRECONDITION,
                                WEFT_JOB_OVER "%s, its chief, said goodbye %lld s ago, and this session needs it",
                                weft__peer_task(p), seconds);
      return weft__error_add_facts(err, ERROR_JOB_OVER);
    }
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "The session needs %s, which said goodbye %lld s ago and did not come back (start it again, or "
                      "place no op there)",
                      weft__peer_task(p), seconds);
  }
  return WEFT_OK;
}

static weft_err task_wait_check(const task_wait *w, int64_t deadline_ns, cancel *c) {
  if (c && weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "Interrupted while waiting for other tasks");
  if (deadline_ns && weft__clock_now_ns() > deadline_ns) return task_wait_timed_out(w);
  WEFT_TRY(task_wait_check_departed(w));
  return task_wait_check_refused(w);
}

/* Publishes the tasks that this process waits for, and why, for `weft top` and the status page. */
static void task_wait_publish(const task_wait *w, metrics_wait *published) {
  text tasks = {0};
  char name[WEFT_TASK_NAME_SIZE];
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].state != ATTEMPT_ANSWERED)
      weft__text_printf(&tasks, "%s%s (%s)", tasks.size ? ", " : "",
                        weft__task_short(name, sizeof name, weft__peer_task(w->attempt[i].task->peer)),
                        task_wait_reason(&w->attempt[i]));
  if (tasks.size) weft__metrics_wait_begin(published, tasks.data);
  weft__text_finish(&tasks);
}

/* Waits until all tasks have answered, or until an error ends the wait; then until no call is in progress. */
static weft_err task_wait_run(task_wait *w, int64_t deadline_ns, cancel *c) {
  int64_t next_report = weft__clock_now_ns() + REPORT_S * NS_PER_S;
  int64_t next_publish = weft__clock_now_ns() + 500000000, next_greeting = weft__clock_now_ns() + 500000000;
  metrics_wait published = {0};
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  while (!err && task_wait_count(w, ATTEMPT_ANSWERED) < w->n) {
    task_wait_start_due_calls(w);
    struct timespec until = weft__clock_deadline(FIRST_PAUSE_MS * NS_PER_MS / 2);
    if (task_wait_count(w, ATTEMPT_ANSWERED) < w->n)
      pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
    if (weft__clock_now_ns() > next_report) {
      task_wait_log(w);
      next_report += REPORT_S * NS_PER_S;
    }
    if (weft__clock_now_ns() > next_publish) {
      task_wait_publish(w, &published);
      next_publish += 500000000;
    }
    if (weft__clock_now_ns() > next_greeting && w->n) { /* the tasks that are up know which have left */
      pthread_mutex_unlock(&w->lock);
      weft__peers_greet_all(w->attempt[0].task->peer);
      pthread_mutex_lock(&w->lock);
      next_greeting += GREET_S * NS_PER_S;
    }
    if (task_wait_count(w, ATTEMPT_ANSWERED) < w->n) err = task_wait_check(w, deadline_ns, c);
  }
  pthread_mutex_unlock(&w->lock);
  weft__metrics_wait_end(&published);
  status kept = {0}; /* the calls that end now may overwrite this thread's message */
  weft__status_update(&kept, err);
  if (err) weft__cancel_fire(&w->calls, WEFT_CANCELLED, "The wait is over");
  pthread_mutex_lock(&w->lock);
  while (task_wait_count(w, ATTEMPT_CALLING)) pthread_cond_wait(&w->changed, &w->lock);
  pthread_mutex_unlock(&w->lock);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

static int64_t task_wait_default_deadline(void) {
  const char *s = getenv("WEFT_WAIT_SECS");
  double seconds = s ? atof(s) : 0;
  return seconds > 0 && seconds < 1e9 ? weft__clock_now_ns() + (int64_t)(seconds * (double)NS_PER_S) : 0;
}

weft_err weft__wait_for_tasks(required_task *list, int n, int64_t deadline_ns, cancel *c) {
  task_wait w = {.n = n, .attempt = weft__alloc_zero((size_t)(n ? n : 1), sizeof *w.attempt)};
  if (!w.attempt) return WEFT_OOM;
  pthread_mutex_init(&w.lock, NULL);
  pthread_cond_init(&w.changed, NULL);
  weft__cancel_init(&w.calls);
  for (int i = 0; i < n; i++) w.attempt[i] = (attempt){.wait = &w, .task = &list[i], .pause_ms = FIRST_PAUSE_MS};
  weft_err err = task_wait_run(&w, deadline_ns ? deadline_ns : task_wait_default_deadline(), c);
  status kept = {0};
  weft__status_update(&kept, err);
  for (int i = 0; i < n; i++) weft__status_finish(&w.attempt[i].error);
  weft__cancel_finish(&w.calls);
  pthread_cond_destroy(&w.changed);
  pthread_mutex_destroy(&w.lock);
  weft__free(w.attempt);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

void weft__required_tasks_finish(required_task *list, int n) {
  for (int i = 0; i < n; i++) {
    weft__place_infos_free(list[i].device, list[i].n_device);
    list[i].device = NULL;
    list[i].n_device = 0;
  }
}
