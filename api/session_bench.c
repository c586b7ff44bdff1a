/* session_bench.c - the latency of a session that several threads call at once, beside threads that only lock and
 * count.
 *
 *     bench.api.session [SECONDS [THREADS]]
 *
 * Each thread calls as often as it can: an empty step, a step of three small layers, and, to compare with, a mutex that
 * is held while a loop counts for as long as the median step takes.  With more threads than processors the scheduler
 * takes the processor from threads that run, and the last rows show how much of the longest calls is due to that.
 * Prints the median, the 99th and 99.9th percentile and the longest call. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

enum { WIDTH = 64, BATCH = 8, MOST_THREADS = 64, MOST_CALLS = 1 << 20 };

typedef struct subject { /* what is called */
  const char *name;
  void (*call)(struct subject *s);
  weft_session *session;
  weft_out input, output;
  weft_tensor *batch;
  int64_t count_ns;
} subject;

typedef struct caller {
  subject *subject;
  int64_t until;
  int64_t *ns;
  int64_t n;
} caller;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t counted;

static void call_empty(subject *s) {
  weft_must(weft_session_run(s->session, &(weft_request){.n_target = 1, .targets = &s->output}));
}

static void call_layers(subject *s) {
  weft_feed feed = {s->input, s->batch};
  weft_tensor *got = NULL;
  weft_must(weft_session_run(
      s->session, &(weft_request){.n_feed = 1, .feeds = &feed, .n_fetch = 1, .fetches = &s->output, .fetched = &got}));
  weft_tensor_destroy(got);
}

static void count(subject *s) {
  const int64_t until = weft__clock_now_ns() + s->count_ns;
  while (weft__clock_now_ns() < until) counted++;
}

static void call_lock(subject *s) {
  pthread_mutex_lock(&lock);
  count(s);
  pthread_mutex_unlock(&lock);
}

static void *call_until(void *arg) {
  caller *c = arg;
  int64_t now = weft__clock_now_ns();
  while (now < c->until && c->n < MOST_CALLS) {
    const int64_t before = now;
    c->subject->call(c->subject);
    now = weft__clock_now_ns();
    c->ns[c->n++] = now - before;
  }
  return NULL;
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Returns the median, in nanoseconds. */
static int64_t measure(subject *s, double seconds, int threads) {
  caller callers[MOST_THREADS];
  pthread_t ids[MOST_THREADS];
  int64_t *all = weft__alloc((size_t)threads * MOST_CALLS * sizeof *all), n = 0;
  if (!all) exit(1);
  for (int i = 0; i < 200; i++) s->call(s);
  for (int i = 0; i < threads; i++) {
    callers[i] = (caller){s, weft__clock_now_ns() + (int64_t)(seconds * 1e9), all + (int64_t)i * MOST_CALLS, 0};
    if (pthread_create(&ids[i], NULL, call_until, &callers[i]) != 0) exit(1);
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; i++)
    for (int64_t at = 0; at < callers[i].n; at++) all[n++] = callers[i].ns[at];
  qsort(all, (size_t)n, sizeof *all, by_value);
  const int64_t median = all[n / 2];
  printf("%-8s %9.0f calls/s  %7.1f us median  %8.1f us p99  %8.1f us p99.9  %8.2f ms longest\n", s->name,
         (double)n / seconds, (double)median / 1e3, (double)all[n * 99 / 100] / 1e3, (double)all[n * 999 / 1000] / 1e3,
         (double)all[n - 1] / 1e6);
  weft__free(all);
  return median;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  const int threads = argc > 2 ? atoi(argv[2]) : 4;
  if (seconds <= 0 || threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "usage: %s [SECONDS [THREADS, at most %d]]\n", argv[0], MOST_THREADS);
    return 2;
  }
  weft_graph *g;
  weft_must(weft_graph_create(&g));
  subject empty = {.name = "empty", .call = call_empty, .output = weft_group(g, "empty", 0, NULL)};
  subject layers = {.name = "layers", .call = call_layers};
  layers.input = layers.output = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, WIDTH));
  for (int i = 0; i < 3; i++) {
    weft_out w = weft_variable(g, "w", weft_truncated_normal(g, WEFT_DIMS(WIDTH, WIDTH), 0.1f), true);
    layers.output = weft_relu(g, weft_matmul(g, layers.output, w));
  }
  weft_out start = weft_initializer(g);
  weft_must(weft_session_create(&empty.session, g, NULL));
  layers.session = empty.session;
  weft_must(weft_session_run_target(empty.session, start));
  weft_must(weft_tensor_create(&layers.batch, WEFT_FLOAT, WEFT_DIMS(BATCH, WIDTH), NULL));
  for (int i = 0; i < BATCH * WIDTH; i++) ((float *)weft_tensor_data(layers.batch))[i] = 1;

  subject counts = {.name = "lock", .call = call_lock};
  counts.count_ns = measure(&empty, seconds, threads);
  measure(&counts, seconds, threads);
  counts.count_ns = measure(&layers, seconds, threads);
  measure(&counts, seconds, threads);
  weft_tensor_destroy(layers.batch), weft_session_destroy(empty.session), weft_graph_destroy(g);
  return 0;
}
