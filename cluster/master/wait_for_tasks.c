/* wait_for_tasks.c - one thread that waits, and a call in flight or a time of the next one for every task. */
#include "cluster/master/wait_for_tasks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "rpc.pb-c.h"
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 150, ANSWER_MS = 2000, REPORT_S = 10, ASK_AROUND_S = 2 };

typedef enum stage { PAUSED, CALLING, ANSWERED } stage;

typedef struct waiting waiting;

typedef struct attempt {
  waiting *all;
  contact *with;
  stage stage;
  int64_t next_ns; /* when PAUSED */
  int pause_ms;
  status why; /* the last refusal */
} attempt;

struct waiting {
  pthread_mutex_t lock;
  pthread_cond_t news;
  cancel calls; /* ends those in flight when the wait is over */
  int n;
  attempt *attempt;
};

/* ---- answers ----------------------------------------------------------------------------------- */

static weft_err copy_device(device_info *to, const Tensorflow__DeviceAttributes *from) {
  *to = (device_info){.name = weft__strdup(from->name),
                      .type = weft__strdup(from->device_type),
                      .description = weft__strdup(from->physical_device_desc),
                      .memory_limit = from->memory_limit,
                      .incarnation = from->incarnation};
  return to->name && to->type && to->description ? WEFT_OK : WEFT_OOM;
}

/* Does a device belong to the task we asked?  Another's means that the clusters disagree. */
static bool is_of(const char *device_name, const char *task) {
  device_spec have, want;
  return weft__device_parse(&have, device_name) == WEFT_OK && weft__device_parse(&want, task) == WEFT_OK &&
         weft__device_matches(&want, &have);
}

static weft_err canonical(device_info *d) {
  device_spec spec;
  char name[WEFT_DEVICE_TEXT];
  WEFT_TRY(weft__device_parse(&spec, d->name)); /* 1.0 to 1.3 say /cpu:0 */
  char *shown = weft__strdup(weft__device_text(&spec, name, sizeof name));
  if (!shown) return WEFT_OOM;
  weft__free(d->name);
  d->name = shown;
  return WEFT_OK;
}

static weft_err take_devices(contact *c, const Tensorflow__GetStatusResponse *r) {
  if (r->n_device_attributes == 0 || r->n_device_attributes > 4096)
    return weft__fail(WEFT_FAILED_PRECONDITION, "it reports %zu devices", r->n_device_attributes);
  c->device = weft__alloc_zero(r->n_device_attributes, sizeof *c->device);
  if (!c->device) return WEFT_OOM;
  for (size_t i = 0; i < r->n_device_attributes; i++) {
    c->n_device++;
    WEFT_TRY(copy_device(&c->device[i], r->device_attributes[i]));
    if (!is_of(c->device[i].name, weft__peer_task(c->to)))
      return weft__fail(WEFT_FAILED_PRECONDITION, "wrong cluster: the server at %s is the task of %s",
                        weft__peer_address(c->to), c->device[i].name);
    WEFT_TRY(canonical(&c->device[i]));
  }
  return WEFT_OK;
}

static weft_err take_reply(contact *c, message *reply) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__message_unpack(&m, reply, &tensorflow__get_status_response__descriptor));
  weft_err err = take_devices(c, (const Tensorflow__GetStatusResponse *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  if (err) weft__contacts_finish(c, 1);
  return err;
}

static void on_reply(void *arg, weft_err err, message *reply) {
  attempt *t = arg;
  waiting *all = t->all;
  if (!err) err = take_reply(t->with, reply);
  pthread_mutex_lock(&all->lock);
  weft__status_finish(&t->why);
  t->why = (status){0};
  weft__status_update(&t->why, err);
  t->stage = err ? PAUSED : ANSWERED;
  t->next_ns = weft__clock_now_ns() + (int64_t)t->pause_ms * 1000000;
  t->pause_ms = t->pause_ms * 2 < LONGEST_PAUSE_MS ? t->pause_ms * 2 : LONGEST_PAUSE_MS;
  pthread_cond_signal(&all->news);
  pthread_mutex_unlock(&all->lock);
}

/* ---- the wait ---------------------------------------------------------------------------------- */

/* With the lock held. */
static int count(const waiting *w, stage s) {
  int n = 0;
  for (int i = 0; i < w->n; i++) n += w->attempt[i].stage == s;
  return n;
}

static void begin_due_calls(waiting *w) {
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < w->n; i++) {
    attempt *t = &w->attempt[i];
    if (t->stage != PAUSED || t->next_ns > now) continue;
    t->stage = CALLING;
    pthread_mutex_unlock(&w->lock);
    message empty = {0};
    weft__message_init(&empty);
    weft__peer_call(t->with->to, "/tensorflow.WorkerService/GetStatus", &empty,
                    &(call_opts){.timeout_ms = ANSWER_MS, .cancel = &w->calls}, on_reply, t);
    pthread_mutex_lock(&w->lock);
  }
}

static const char *reason(const attempt *t) { return t->why.message ? t->why.message : "it has not answered yet"; }

static void report(const waiting *w) {
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].stage != ANSWERED)
      weft__log(LOG_INFO, "CreateSession still waiting for response from worker: %s (%s)",
                weft__peer_task(w->attempt[i].with->to), reason(&w->attempt[i]));
}

/* A peer that knows us and says no will not change its mind. */
static weft_err refused(const waiting *w) {
  for (int i = 0; i < w->n; i++) {
    const status *s = &w->attempt[i].why;
    if (s->code == WEFT_UNAUTHENTICATED || s->code == WEFT_PERMISSION_DENIED)
      return weft__fail(s->code, "From %s:\n%s", weft__peer_task(w->attempt[i].with->to), s->message);
  }
  return WEFT_OK;
}

static weft_err too_late(const waiting *w) {
  text who = {0};
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].stage != ANSWERED)
      weft__text_printf(&who, "%s%s (%s)", who.size ? ", " : "", weft__peer_task(w->attempt[i].with->to),
                        reason(&w->attempt[i]));
  weft_err err = weft__fail(WEFT_DEADLINE_EXCEEDED, "Gave up waiting for the tasks that the session needs: %s",
                            weft__text_get(&who));
  weft__text_finish(&who);
  return err;
}

/* A task that is needed has said goodbye, and stays away for longer than a restart takes. */
static weft_err departed(const waiting *w) {
  const int64_t now = weft__clock_now_ns(), patience = WEFT_RETURN_SECS * INT64_C(1000000000);
  for (int i = 0; i < w->n; i++) {
    if (w->attempt[i].stage == ANSWERED) continue;
    peer *p = w->attempt[i].with->to;
    peer_departure d = weft__peer_departed(p);
    if (!d.at_ns || now - d.at_ns < patience) continue;
    long long seconds = (now - d.at_ns) / 1000000000;
    if (d.chief)
      return weft__fail(WEFT_FAILED_PRECONDITION,
                        WEFT_JOB_OVER "%s, its chief, said goodbye %lld s ago, and this session needs it",
                        weft__peer_task(p), seconds);
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "The session needs %s, which said goodbye %lld s ago and did not come back (start it again, or "
                      "place no op there)",
                      weft__peer_task(p), seconds);
  }
  return WEFT_OK;
}

static weft_err check(const waiting *w, int64_t deadline_ns, cancel *c) {
  if (c && weft__cancel_fired(c)) return weft__cancel_raise(c);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "Interrupted while waiting for other tasks");
  if (deadline_ns && weft__clock_now_ns() > deadline_ns) return too_late(w);
  WEFT_TRY(departed(w));
  return refused(w);
}

/* For those who watch this process: whom it waits for, and why. */
static void show_wait(const waiting *w, metrics_wait *seen) {
  text who = {0};
  char name[WEFT_TASK_NAME_SIZE];
  for (int i = 0; i < w->n; i++)
    if (w->attempt[i].stage != ANSWERED)
      weft__text_printf(&who, "%s%s (%s)", who.size ? ", " : "",
                        weft__task_short(name, sizeof name, weft__peer_task(w->attempt[i].with->to)),
                        reason(&w->attempt[i]));
  if (who.size) weft__metrics_wait_begin(seen, who.data);
  weft__text_finish(&who);
}

static weft_err wait_for_all(waiting *w, int64_t deadline_ns, cancel *c) {
  int64_t next_report = weft__clock_now_ns() + (int64_t)REPORT_S * 1000000000;
  int64_t next_show = weft__clock_now_ns() + 500000000, next_question = weft__clock_now_ns() + 500000000;
  metrics_wait seen = {0};
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  while (!err && count(w, ANSWERED) < w->n) {
    begin_due_calls(w);
    struct timespec until = weft__clock_deadline((int64_t)FIRST_PAUSE_MS * 1000000 / 2);
    if (count(w, ANSWERED) < w->n) pthread_cond_clockwait(&w->news, &w->lock, CLOCK_MONOTONIC, &until);
    if (weft__clock_now_ns() > next_report) {
      report(w);
      next_report += (int64_t)REPORT_S * 1000000000;
    }
    if (weft__clock_now_ns() > next_show) {
      show_wait(w, &seen);
      next_show += 500000000;
    }
    if (weft__clock_now_ns() > next_question && w->n) { /* the tasks that are there know who has left */
      pthread_mutex_unlock(&w->lock);
      weft__peers_greet_all(w->attempt[0].with->to);
      pthread_mutex_lock(&w->lock);
      next_question += ASK_AROUND_S * INT64_C(1000000000);
    }
    if (count(w, ANSWERED) < w->n) err = check(w, deadline_ns, c);
  }
  pthread_mutex_unlock(&w->lock);
  weft__metrics_wait_end(&seen);
  status kept = {0}; /* the calls that end now leave their messages on this thread */
  weft__status_update(&kept, err);
  if (err) weft__cancel_fire(&w->calls, WEFT_CANCELLED, "The wait is over");
  pthread_mutex_lock(&w->lock);
  while (count(w, CALLING)) pthread_cond_wait(&w->news, &w->lock);
  pthread_mutex_unlock(&w->lock);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

static int64_t deadline_of_environment(void) {
  const char *s = getenv("WEFT_WAIT_SECS");
  double seconds = s ? atof(s) : 0;
  return seconds > 0 && seconds < 1e9 ? weft__clock_now_ns() + (int64_t)(seconds * 1e9) : 0;
}

weft_err weft__contact_all(contact *list, int n, int64_t deadline_ns, cancel *c) {
  waiting w = {.n = n, .attempt = weft__alloc_zero((size_t)(n ? n : 1), sizeof *w.attempt)};
  if (!w.attempt) return WEFT_OOM;
  pthread_mutex_init(&w.lock, NULL);
  pthread_cond_init(&w.news, NULL);
  weft__cancel_init(&w.calls);
  for (int i = 0; i < n; i++) w.attempt[i] = (attempt){.all = &w, .with = &list[i], .pause_ms = FIRST_PAUSE_MS};
  weft_err err = wait_for_all(&w, deadline_ns ? deadline_ns : deadline_of_environment(), c);
  status kept = {0};
  weft__status_update(&kept, err);
  for (int i = 0; i < n; i++) weft__status_finish(&w.attempt[i].why);
  weft__cancel_finish(&w.calls);
  pthread_cond_destroy(&w.news);
  pthread_mutex_destroy(&w.lock);
  weft__free(w.attempt);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

void weft__contacts_finish(contact *list, int n) {
  for (int i = 0; i < n; i++) {
    weft__device_infos_free(list[i].device, list[i].n_device);
    list[i].device = NULL;
    list[i].n_device = 0;
  }
}
