/* supervisor_test.c - tests supervised programs in one process: files, threads, restarts and interrupts. */
#include "train/session/supervisor.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/session/event_writer.h"
#include "train/session/session_manager.h"
#include "train/session/test_bench.h"
#include <stdatomic.h>

static weft_supervisor *supervise(bench *b, const weft_supervisor_opts *opts) {
  weft_supervisor *sv;
  EXPECT_OK(weft__supervisor_create(&sv, b->g, opts));
  return sv;
}

static weft_session *prepare(weft_supervisor *sv) {
  weft_session *sess;
  EXPECT_OK(weft__supervisor_session(&sess, sv, "", NULL, NULL));
  return sess;
}

TEST_WITHIN(90, a_chief_initializes_saves_counts_and_leaves_its_files) {
  bench b = bench_begin();
  weft_supervisor *sv =
      supervise(&b, &(weft_supervisor_opts){.logdir = "log", .save_model_secs = .3, .save_summaries_secs = .2});
  weft_session *sess = prepare(sv);
  bench_train(sess, &b, 10);
  bench_wait_for("Saving checkpoint to path log/model.ckpt\n");
  bench_wait_for("Recording summary at step ");
  bench_wait_for("global_step/sec: ");
  EXPECT_OK(weft__supervisor_stop(sv, false, false));
  EXPECT(weft__coordinator_should_stop(weft__supervisor_coordinator(sv)));
  static const char *const lines[] = {"Running local_init_op.\nDone running local_init_op.\n",
                                      "Starting standard services.\n",
                                      "Starting queue runners.\n",
                                      "Saving checkpoint to path log/model.ckpt\n",
                                      "Recording summary at step ",
                                      "global_step/sec: "};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) EXPECT_CONTAINS(bench_log, lines[i]);
  EXPECT(weft__file_exists("log/checkpoint") && weft__file_exists("log/graph.pbtxt"));
  text events = bench_file("log/events*"), graph = bench_file("log/graph.pbtxt");
  EXPECT(bench_has(&events, "global_step/sec") && bench_has(&events, "log/model.ckpt"));
  EXPECT(bench_has(&events, "weights"));
  EXPECT(bench_has(&graph, "name: \"global_step\"") && bench_has(&graph, "op: \"VariableV2\""));
  weft__text_finish(&events);
  weft__text_finish(&graph);
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

TEST(a_second_run_goes_on_where_the_first_was_saved) {
  int64_t at[2];
  for (int run = 0; run < 2; run++) {
    bench b = bench_begin();
    weft_supervisor *sv = supervise(&b, &(weft_supervisor_opts){.logdir = "log", .save_summaries_secs = -1});
    weft_session *sess = prepare(sv);
    at[run] = bench_step(sess, &b);
    bench_train(sess, &b, 7);
    EXPECT_OK(weft__saver_save(weft__supervisor_saver(sv), sess, weft__supervisor_save_path(sv),
                               &(weft_save_opts){.global_step = &b.global_step}, NULL));
    EXPECT_OK(weft__supervisor_stop(sv, false, false));
    weft__session_destroy(sess);
    weft__supervisor_destroy(sv);
    bench_end(&b);
  }
  EXPECT_EQ_INT(at[0], 0);
  EXPECT_EQ_INT(at[1], 7);
  EXPECT_CONTAINS(bench_log, "Restoring parameters from log/model.ckpt-7");
}

TEST(an_interrupt_stops_the_loop_and_saves_the_last_step) {
  bench b = bench_begin();
  weft_supervisor *sv = supervise(&b, &(weft_supervisor_opts){.logdir = "log", .save_model_secs = 1000});
  weft_session *sess = prepare(sv);
  int steps = 0;
  while (!weft__coordinator_should_stop(weft__supervisor_coordinator(sv))) {
    bench_train(sess, &b, 1);
    if (++steps == 5) weft__interrupt_raise();
  }
  EXPECT_OK(weft__supervisor_stop(sv, false, false));
  EXPECT_EQ_INT(steps, 5);
  char *latest;
  EXPECT_OK(weft__checkpoint_latest(&latest, "log", NULL));
  EXPECT_EQ_STR(latest, "log/model.ckpt-5");
  weft__free(latest);
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

TEST(one_interrupt_ends_the_wait_for_a_session) {
  bench b = bench_begin();
  weft_session *sess;
  weft_supervisor *sv = supervise(&b, NULL);
  weft__interrupt_raise();
  EXPECT_EQ_INT(weft__interrupt_pending(), 1); /* no step has to be finished yet, so waits end */
  weft__interrupt_clear();
  sess = prepare(sv);
  weft__interrupt_raise();
  EXPECT_EQ_INT(weft__interrupt_pending(), 0); /* not pending, because the step is finished first */
  EXPECT_OK(weft__supervisor_stop(sv, false, false));
  EXPECT_EQ_INT(weft__interrupt_pending(), 1);
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

static weft_err count(void *arg) {
  atomic_fetch_add((atomic_int *)arg, 1);
  return WEFT_OK;
}

static weft_err break_down(void *arg) {
  (void)arg;
  return weft__fail(WEFT_DATA_LOSS, "the thread broke");
}

TEST_WITHIN(90, loops_run_and_their_failures_surface_at_stop) {
  bench b = bench_begin();
  atomic_int calls = 0;
  weft_supervisor *sv = supervise(&b, NULL);
  weft_session *sess = prepare(sv);
  EXPECT_CONTAINS(bench_log, "Standard services need a 'logdir'");
  EXPECT_OK(weft__coordinator_start(weft__supervisor_coordinator(sv), "loop", .02, count, &calls));
  for (int i = 0; i < 6000 && atomic_load(&calls) < 3; i++) usleep(10000);
  EXPECT_OK(weft__coordinator_start(weft__supervisor_coordinator(sv), "bad", -1, break_down, NULL));
  EXPECT(weft__coordinator_wait(weft__supervisor_coordinator(sv), 60));
  EXPECT_ERR(weft__supervisor_stop(sv, false, false), WEFT_DATA_LOSS, "the thread broke");
  EXPECT(calls >= 3);
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

TEST_WITHIN(90, a_session_may_be_destroyed_before_the_supervisor_stops) {
  bench b = bench_begin();
  weft_supervisor *sv =
      supervise(&b, &(weft_supervisor_opts){.logdir = "log", .save_model_secs = .02, .save_summaries_secs = .01});
  weft_session *sess = prepare(sv);
  bench_train(sess, &b, 3);
  weft__session_destroy(sess);
  EXPECT(weft__coordinator_wait(weft__supervisor_coordinator(sv), 60)); /* a service has noticed it */
  EXPECT_OK(weft__supervisor_stop(sv, false, false));
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

TEST(a_worker_needs_devices_for_its_variables) {
  bench b = bench_begin();
  weft_supervisor *sv;
  EXPECT_ERR(weft__supervisor_create(&sv, b.g, &(weft_supervisor_opts){.is_chief = WEFT_NO}), WEFT_INVALID_ARGUMENT,
             "When using replicas, all Variables must have their device set: global_step");
  bench_end(&b);
}

TEST(an_init_op_that_misses_a_variable_is_an_error) {
  bench b = bench_begin();
  weft_out none = WEFT_NONE, partial = {b.w_init, 0};
  weft_session *sess;
  weft_supervisor *sv = supervise(&b, &(weft_supervisor_opts){.init_op = &partial});
  EXPECT_ERR(weft__supervisor_session(&sess, sv, "", NULL, NULL), WEFT_FAILED_PRECONDITION,
             "Init operations did not make model ready.  Init op: w/Assign, init fn: None, local_init_op: group_deps, "
             "error: Variables not initialized: global_step");
  weft__supervisor_destroy(sv);
  sv = supervise(&b, &(weft_supervisor_opts){.init_op = &none, .local_init_op = &none});
  EXPECT_ERR(weft__supervisor_session(&sess, sv, "", NULL, NULL), WEFT_FAILED_PRECONDITION,
             "Model is not initialized and no init_op or init_fn or local_init_op was given");
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

static weft_err set_w(void *arg, weft_session *sess) { return weft__run_target(sess, *(int *)arg); }

TEST(an_init_function_runs_when_nothing_is_restored) {
  bench b = bench_begin();
  weft_out init = {
      weft__b_node(b.g, "Assign", NULL, 2, (weft_out[]){b.global_step, weft__b_scalar(b.g, WEFT_INT64, 41)}, 0, NULL)
          .node,
      0};
  weft_supervisor_opts opts = {.init_op = &init, .init_fn = set_w, .init_arg = &b.w_init};
  weft_supervisor *sv = supervise(&b, &opts);
  weft_session *sess = prepare(sv);
  EXPECT_EQ_INT(bench_step(sess, &b), 41);
  EXPECT_OK(weft__supervisor_stop(sv, false, false));
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
  bench_end(&b);
}

/* Adds a ready op that succeeds once a file is deleted; the deletion stands for another process that changes the
 * model. */
static weft_out until_gone(weft_graph *g, const char *path) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_string(&t, path, strlen(path)));
  weft_out pattern = weft__b_const_adopt(g, t);
  return weft__b_node(g, "MatchingFiles", NULL, 1, &pattern, 0, NULL);
}

static void *delete_later(void *arg) {
  usleep(1500000);
  EXPECT_OK(weft__file_delete("busy"));
  *(int64_t *)arg = weft__clock_now_ns();
  return NULL;
}

/* Returns how long a waiting worker needs to notice that the model is ready. */
static double time_to_notice(const session_manager *m) {
  weft_session *sess;
  pthread_t thread;
  int64_t ready_at = 0;
  EXPECT_OK(weft__file_write("busy", "", 0));
  EXPECT(pthread_create(&thread, NULL, delete_later, &ready_at) == 0);
  EXPECT_OK(weft__manager_wait(m, &(prepare_opts){.target = "", .init = -1, .max_wait_secs = 60}, &sess));
  int64_t seen_at = weft__clock_now_ns();
  pthread_join(thread, NULL);
  weft__session_destroy(sess);
  return (double)(seen_at - ready_at) / 1e9;
}

TEST_WITHIN(120, a_waiting_worker_starts_soon_after_the_model_is_ready) {
  bench b = bench_begin();
  session_manager m = {.graph = b.g, .ready = until_gone(b.g, "busy"), .ready_for_local_init = WEFT_NONE};
  m.local_init = -1;
  double least = 9;
  for (int i = 0; i < 20 && least >= .2; i++) { /* a busy machine may be late, but not in every round */
    double took = time_to_notice(&m);
    if (took < least) least = took;
  }
  EXPECT(least < .2);
  EXPECT_CONTAINS(bench_log, "Waiting for model to be ready.  Ready_for_local_init_op:  None, ready: Variables not "
                             "initialized: busy");
  bench_end(&b);
}

TEST(a_wait_ends_at_its_deadline_and_at_an_interrupt) {
  bench b = bench_begin();
  weft_session *sess;
  EXPECT_OK(weft__file_write("busy", "", 0));
  session_manager m = {.graph = b.g, .ready = until_gone(b.g, "busy"), .ready_for_local_init = WEFT_NONE};
  m.local_init = -1;
  prepare_opts o = {.target = "", .init = -1, .max_wait_secs = .3};
  EXPECT_ERR(weft__manager_wait(&m, &o, &sess), WEFT_DEADLINE_EXCEEDED, "Session was not ready after waiting");
  weft__interrupt_defer();
  weft__interrupt_raise();
  EXPECT_ERR(weft__manager_wait(&m, &o, &sess), WEFT_CANCELLED, "Stopped while waiting");
  weft__interrupt_undefer();
  bench_end(&b);
}
