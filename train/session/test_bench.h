/* test_bench.h - a small model, a temporary folder and a captured log, for tests of supervision. */
#ifndef WEFT_TRAIN_SESSION_TEST_BENCH_H
#define WEFT_TRAIN_SESSION_TEST_BENCH_H

#include "base/alloc.h"
#include "base/log.h"
#include "graph/build.h"
#include "graph/variable_scope.h"
#include "io/file.h"
#include "ops/all.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "train/model/global_step.h"
#include "train/session/run.h"
#include "train/model/summary.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_out global_step, w, train; /* train: adds 1 to the global step */
  int w_init;
} bench;

static char bench_log[1 << 16]; /* read it after the threads have ended, or through bench_wait_for */
static pthread_mutex_t bench_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void bench_note(void *arg, int level, const char *file, int line, const char *what) {
  (void)arg, (void)level, (void)file, (void)line;
  pthread_mutex_lock(&bench_lock);
  size_t used = strlen(bench_log);
  snprintf(bench_log + used, sizeof bench_log - used, "%s\n", what);
  pthread_mutex_unlock(&bench_lock);
}

/* Waits until the log contains the words. */
static inline void bench_wait_for(const char *words) {
  for (int i = 0; i < 6000; i++) {
    pthread_mutex_lock(&bench_lock);
    bool there = strstr(bench_log, words) != NULL;
    pthread_mutex_unlock(&bench_lock);
    if (there) return;
    usleep(10000);
  }
  FAIL("nobody logged: %s", words);
}

static inline void bench_folder(void) {
  EXPECT(chdir(test_path(".")) == 0);
  weft__log_set_callback(bench_note, NULL);
}

static inline bench bench_begin(void) {
  bench b = {0};
  variable_nodes nodes;
  bench_folder();
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  b.global_step = weft__global_step_make(b.g);
  variable_spec spec = {.name = "w", .has_shape = true, .shape = SHAPE1(2), .dtype = WEFT_FLOAT};
  spec.init = (initializer){.kind = INIT_ONES};
  EXPECT_OK(weft__variable_get(b.g, &spec, &nodes));
  b.w = nodes.variable;
  b.w_init = nodes.assign;
  weft__summary_histogram(b.g, "weights", b.w, NULL);
  b.train = weft__b_binary(b.g, "AssignAdd", b.global_step, weft__b_scalar(b.g, WEFT_INT64, 1));
  EXPECT_OK(weft__b_ok(b.g));
  return b;
}

static inline void bench_end(bench *b) {
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

static inline int64_t bench_step(weft_session *sess, const bench *b) {
  int64_t at;
  EXPECT_OK(weft__run_int(sess, b->global_step, &at));
  return at;
}

static inline void bench_train(weft_session *sess, const bench *b, int n) {
  for (int i = 0; i < n; i++) EXPECT_OK(weft__run_target(sess, b->train.node));
}

/* Returns the bytes of the last file that matches the pattern; the caller frees them. */
static inline text bench_file(const char *pattern) {
  path_list found;
  text t = {0};
  EXPECT_OK(weft__file_match(pattern, &found));
  EXPECT(found.n > 0);
  EXPECT_OK(weft__file_read(found.path[found.n - 1], &t));
  weft__path_list_finish(&found);
  return t;
}

static inline bool bench_has(const text *t, const char *words) {
  return t->size && memmem(t->data, t->size, words, strlen(words)) != NULL; /* an empty file has no data */
}

#endif
