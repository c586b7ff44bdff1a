/* metrics.c - counters without a lock; samples, errors and waits under one lock, which is a leaf.
 *
 * Rates are computed from a ring of the last few samples.  The history holds a fixed number of samples.  When it is
 * full, every second sample is dropped, and from then on half as many are kept.  So it always spans the whole life of
 * the process. */
#include "base/metrics.h"

#include "base/assert.h"
#include "base/clock.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { RECENT_SAMPLES = 4 };

static atomic_ullong counts[METRICS_COUNTERS];
static atomic_llong next_ns; /* when the next sample is due */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static metrics_snapshot current = {.step = -1, .loss = NAN};
static metrics_sample recent[RECENT_SAMPLES];
static int n_recent, stride = 1, skipped;
static double loss_sum;
static int n_loss;
static int n_uninitialized; /* sessions that wait: a metrics_uninitialized each */
static linked_list waits = WEFT_LIST_INIT(waits);

/* ---- counting ---- */

static metrics_sample metrics_sample_now(int64_t now) {
  metrics_sample s = {.at_ns = now, .step = current.step, .loss = n_loss ? loss_sum / n_loss : current.loss};
  for (int i = 0; i < METRICS_COUNTERS; i++) s.count[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
  return s;
}

static void metrics_thin_samples(void) {
  for (int i = 0; i < METRICS_SAMPLES / 2; i++) current.sample[i] = current.sample[2 * i];
  current.n_sample = METRICS_SAMPLES / 2;
  stride *= 2;
}

static void metrics_add_sample(int64_t now) {
  metrics_sample s = metrics_sample_now(now);
  if (!current.begun_ns) current.begun_ns = now;
  recent[n_recent++ % RECENT_SAMPLES] = s;
  if (++skipped < stride && current.n_sample > 1) return;
  skipped = 0;
  loss_sum = 0, n_loss = 0;
  if (current.n_sample == METRICS_SAMPLES) metrics_thin_samples();
  WEFT_ASSERT(current.n_sample < METRICS_SAMPLES);
  current.sample[current.n_sample++] = s;
}

void weft__metrics_add(metrics_counter which, uint64_t n) {
  WEFT_ASSERT(which < METRICS_COUNTERS);
  atomic_fetch_add_explicit(&counts[which], n, memory_order_relaxed);
  if (which > METRICS_PARTITION_RUNS) return;
  long long now = weft__clock_now_ns(), due = atomic_load_explicit(&next_ns, memory_order_relaxed);
  if (now < due || !atomic_compare_exchange_strong(&next_ns, &due, now + NS_PER_S)) return;
  pthread_mutex_lock(&lock);
  metrics_add_sample(now);
  pthread_mutex_unlock(&lock);
}

void weft__metrics_set_progress(int64_t step, double loss) {
  pthread_mutex_lock(&lock);
  if (step >= 0) current.step = step;
  if (isfinite(loss)) {
    current.loss = loss;
    loss_sum += loss;
    n_loss++;
  }
  pthread_mutex_unlock(&lock);
}

/* ---- what happened ---- */

void weft__metrics_set_checkpoint(const char *path) {
  pthread_mutex_lock(&lock);
  current.saved_us = weft__clock_wall_us();
  snprintf(current.saved, sizeof current.saved, "%s", path);
  pthread_mutex_unlock(&lock);
}

/* The caller holds the lock. */
static void metrics_list_error(const char *component, const char *text) {
  metrics_error e = {.at_us = weft__clock_wall_us()};
  snprintf(e.component, sizeof e.component, "%s", component);
  snprintf(e.text, sizeof e.text, "%s", text);
  metrics_snapshot *k = &current;
  int at = k->n_error - 1;
  while (at >= 0 && strcmp(k->error[at].text, e.text) != 0) at--;
  if (at < 0 && k->n_error == METRICS_ERRORS) at = 0;
  if (at >= 0) { /* removes the same error, or the oldest one if the list is full */
    memmove(&k->error[at], &k->error[at + 1], (size_t)(k->n_error - at - 1) * sizeof e);
    k->n_error--;
  }
  WEFT_ASSERT(k->n_error < METRICS_ERRORS);
  k->error[k->n_error++] = e;
}

void weft__metrics_add_error(const char *component, const char *text) {
  pthread_mutex_lock(&lock);
  metrics_list_error(component, text);
  pthread_mutex_unlock(&lock);
}

static const char initialization[] = "initialization";

void weft__metrics_add_uninitialized(metrics_uninitialized *u, const char *text) {
  pthread_mutex_lock(&lock);
  if (!atomic_exchange(&u->waits, true)) n_uninitialized++;
  metrics_list_error(initialization, text);
  pthread_mutex_unlock(&lock);
}

/* The caller holds the lock. */
static void metrics_forget_errors(const char *component) {
  int kept = 0;
  for (int i = 0; i < current.n_error; i++)
    if (strcmp(current.error[i].component, component) != 0) current.error[kept++] = current.error[i];
  current.n_error = kept;
}

void weft__metrics_initialized(metrics_uninitialized *u) {
  if (!atomic_load_explicit(&u->waits, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  if (atomic_exchange(&u->waits, false) && --n_uninitialized == 0) metrics_forget_errors(initialization);
  pthread_mutex_unlock(&lock);
}

/* ---- waits ---- */

void weft__metrics_wait_begin(metrics_wait *w, const char *what) {
  pthread_mutex_lock(&lock);
  if (!weft__list_is_linked(&w->link)) {
    w->since_ns = weft__clock_now_ns();
    weft__list_append(&waits, &w->link);
  }
  snprintf(w->what, sizeof w->what, "%s", what);
  pthread_mutex_unlock(&lock);
}

void weft__metrics_wait_end(metrics_wait *w) {
  pthread_mutex_lock(&lock); /* neighbors in the list change our link */
  if (weft__list_is_linked(&w->link)) weft__list_remove(&w->link);
  pthread_mutex_unlock(&lock);
}

void weft__metrics_each_wait(void (*fn)(void *arg, const metrics_wait *w), void *arg) {
  pthread_mutex_lock(&lock);
  WEFT_LIST_FOR_EACH(k, &waits) fn(arg, WEFT_LIST_ITEM(k, metrics_wait, link));
  pthread_mutex_unlock(&lock);
}

/* ---- reading ---- */

void weft__metrics_read(metrics_snapshot *out) {
  int64_t now = weft__clock_now_ns();
  pthread_mutex_lock(&lock);
  *out = current;
  metrics_sample latest = metrics_sample_now(now),
                 from = n_recent > RECENT_SAMPLES ? recent[n_recent % RECENT_SAMPLES] : recent[0];
  bool any = n_recent > 0;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < METRICS_COUNTERS; i++) {
    out->count[i] = latest.count[i];
    double seconds = (double)(now - from.at_ns) * 1e-9;
    out->rate[i] = any && seconds > 0.05 ? (double)(latest.count[i] - from.count[i]) / seconds : 0;
  }
}
