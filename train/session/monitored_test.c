/* monitored_test.c - tests hooks around real runs: their order, the files that they write, and when they stop. */
#include "train/session/monitored.h"

#include "base/interrupt.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/session/test_bench.h"

static char calls[4096];

static void called(const char *who, const char *what) {
  size_t used = strlen(calls);
  snprintf(calls + used, sizeof calls - used, "%s:%s ", who, what);
}

static weft_err t_begin(void *arg, weft_hook *h) {
  (void)h;
  called(arg, "begin");
  return WEFT_OK;
}
static weft_err t_created(void *arg, weft_session *sess, weft_coordinator *c) {
  EXPECT(sess && c);
  called(arg, "created");
  return WEFT_OK;
}
static weft_err t_before(void *arg, weft_run_context *c) {
  (void)c;
  called(arg, "before");
  return WEFT_OK;
}
static weft_err t_after(void *arg, weft_run_context *c) {
  (void)c;
  called(arg, "after");
  return WEFT_OK;
}
static weft_err t_end(void *arg, weft_session *sess) {
  EXPECT(sess != NULL);
  called(arg, "end");
  return WEFT_OK;
}

static weft_hook *teller(const char *name) {
  weft_hook *h;
  EXPECT_OK(weft__hook_create(&h, &(weft_hook_fns){t_begin, t_created, t_before, t_after, t_end},
                              (void *)(uintptr_t)name, NULL));
  return h;
}

static bool stops(weft_session *sess) {
  monitored *m;
  EXPECT_OK(weft__monitored_of(sess, &m));
  return weft__monitored_should_stop(m);
}

static weft_session *monitor(bench *b, const weft_monitored_opts *o) {
  weft_session *sess;
  EXPECT_OK(weft__monitored_create(&sess, b->g, o));
  return sess;
}

static void finish(weft_session *sess, bench *b, int n, weft_hook **hooks) {
  weft__session_destroy(sess);
  for (int i = 0; i < n; i++) weft__hook_destroy(hooks[i]);
  bench_end(b);
}

TEST(hooks_are_called_in_tensorflows_order) {
  bench b = bench_begin();
  weft_hook *hooks[] = {teller("a"), teller("b"), teller("chief")};
  weft_session *sess =
      monitor(&b, &(weft_monitored_opts){.n_hook = 2, .hooks = hooks, .n_chief_hook = 1, .chief_hooks = hooks + 2});
  bench_train(sess, &b, 1);
  EXPECT_OK(weft__session_close(sess));
  EXPECT_EQ_STR(calls, "chief:begin a:begin b:begin chief:created a:created b:created chief:before a:before b:before "
                       "chief:after a:after b:after chief:end a:end b:end ");
  EXPECT_ERR(weft__run_target(sess, b.train.node), WEFT_CANCELLED, "Session has been closed.");
  finish(sess, &b, 3, hooks);
}

TEST(a_failure_of_the_program_does_not_end_the_hooks) {
  bench b = bench_begin();
  weft_hook *hooks[] = {teller("a")};
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_hook = 1, .hooks = hooks});
  monitored *m;
  EXPECT_OK(weft__monitored_of(sess, &m));
  EXPECT_OK(weft__monitored_close(m, WEFT_INTERNAL));
  EXPECT(strstr(calls, "end") == NULL);
  finish(sess, &b, 1, hooks);
}

TEST(training_stops_at_its_last_step_and_a_second_run_goes_on) {
  for (int turn = 0; turn < 2; turn++) {
    bench b = bench_begin();
    weft_hook *hooks[2];
    EXPECT_OK(weft__hook_stop_at_step(&hooks[0], turn ? 2 : 0, turn ? 0 : 3));
    EXPECT_OK(weft__hook_nan(&hooks[1], b.w, false));
    weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_hook = 2,
                                                            .hooks = hooks,
                                                            .checkpoint_dir = "m",
                                                            .save_checkpoint_steps = 2,
                                                            .save_summaries_steps = 1,
                                                            .log_step_count_steps = 1});
    while (!stops(sess)) bench_train(sess, &b, 1);
    EXPECT_ERR(weft__run_target(sess, b.train.node), WEFT_FAILED_PRECONDITION,
               "Run called even after should_stop requested.");
    EXPECT_OK(weft__session_close(sess));
    finish(sess, &b, 2, hooks);
  }
  char *latest;
  EXPECT_OK(weft__checkpoint_latest(&latest, "m", NULL));
  EXPECT_EQ_STR(latest, "m/model.ckpt-5");
  weft__free(latest);
  static const char *const lines[] = {
      "Create CheckpointSaverHook.\nGraph was finalized.\n", "Running local_init_op.\n",
      "Saving checkpoints for 0 into m/model.ckpt.\n",       "Saving checkpoints for 2 into m/model.ckpt.\n",
      "Saving checkpoints for 3 into m/model.ckpt.\n",       "Restoring parameters from m/model.ckpt-3\n",
      "Saving checkpoints for 5 into m/model.ckpt.\n",       "global_step/sec: "};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) EXPECT_CONTAINS(bench_log, lines[i]);
  EXPECT(weft__file_exists("m/model.ckpt-3.index") && weft__file_exists("m/graph.pbtxt"));
  text events = bench_file("m/events*");
  EXPECT(bench_has(&events, "weights") && bench_has(&events, "global_step/sec"));
  weft__text_finish(&events);
}

TEST(an_interrupted_loop_is_saved_at_its_close) {
  bench b = bench_begin();
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.checkpoint_dir = "m"});
  int steps = 0;
  while (!stops(sess)) {
    bench_train(sess, &b, 1);
    if (++steps == 4) weft__interrupt_raise();
  }
  EXPECT_OK(weft__session_close(sess));
  EXPECT(steps == 4 && weft__file_exists("m/model.ckpt-4.index"));
  finish(sess, &b, 0, NULL);
}

static weft_err feed_seven(void *arg, weft_run_context *c) {
  weft_tensor *t = ((weft_tensor **)arg)[0];
  weft_out *to = ((weft_out **)arg)[1];
  return weft__context_feed(c, *to, t);
}

TEST(a_hook_may_feed_and_another_keeps_the_last_values) {
  bench b = bench_begin();
  shape s = SHAPE_SCALAR;
  weft_out x =
      weft__b_node(b.g, "Placeholder", "x", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
  weft_tensor *seven, *nine, *got;
  weft_hook *hooks[2];
  EXPECT_OK(weft__tensor_scalar(&seven, WEFT_FLOAT, 7));
  EXPECT_OK(weft__tensor_scalar(&nine, WEFT_FLOAT, 9));
  void *arg[] = {seven, &x};
  EXPECT_OK(weft__hook_create(&hooks[0], &(weft_hook_fns){.before_run = feed_seven}, arg, NULL));
  EXPECT_OK(weft__hook_final_ops(&hooks[1], 1, &x, 1, &(weft_feed){x, nine}));
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_hook = 2, .hooks = hooks});
  EXPECT_OK(weft__run_fetch(sess, x, &got));
  EXPECT_NEAR(TENSOR_DATA(got, float)[0], 7, 0);
  weft_tensor_destroy(got);
  const weft_tensor *twice = nine;
  EXPECT_ERR(weft__session_run(sess, &(plan_request){.n_feed = 1, .feed = &x, .n_target = 1, .target = &b.train.node},
                               &twice, NULL, NULL),
             WEFT_INVALID_ARGUMENT, "Same tensor is fed by hook and user.");
  EXPECT_ERR(weft__hook_final_value(hooks[1], 0, &got), WEFT_FAILED_PRECONDITION, "has not ended");
  EXPECT_OK(weft__session_close(sess));
  EXPECT_OK(weft__hook_final_value(hooks[1], 0, &got));
  EXPECT_NEAR(TENSOR_DATA(got, float)[0], 9, 0);
  weft_tensor_destroy(got), weft_tensor_destroy(seven), weft_tensor_destroy(nine);
  finish(sess, &b, 2, hooks);
}

TEST(values_are_logged_as_numpy_prints_them) {
  bench b = bench_begin();
  weft_hook *hook;
  weft_out tensors[] = {b.global_step, b.w};
  const char *const tags[] = {"step", "w"};
  EXPECT_OK(
      weft__hook_logging(&hook, &(weft_logging_opts){.n = 2, .tensors = tensors, .tags = tags, .every_n_iter = 2}));
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_hook = 1, .hooks = &hook});
  bench_train(sess, &b, 3);
  EXPECT_CONTAINS(bench_log, ", w = [1. 1.]\n");
  EXPECT_CONTAINS(bench_log, " sec)\n");
  EXPECT_OK(weft__session_close(sess));
  finish(sess, &b, 1, &hook);
}

TEST(a_loss_that_is_no_number_ends_the_run) {
  bench b = bench_begin();
  weft_out bad = weft__b_scalar(b.g, WEFT_FLOAT, (double)NAN);
  weft_hook *hook[2];
  EXPECT_OK(weft__hook_nan(&hook[0], bad, false));
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_hook = 1, .hooks = hook});
  EXPECT_ERR(weft__run_target(sess, b.train.node), WEFT_INVALID_ARGUMENT, "NaN loss during training.");
  EXPECT_CONTAINS(bench_log, "Model diverged with loss = NaN.");
  weft__session_destroy(sess);
  EXPECT_OK(weft__hook_nan(&hook[1], bad, true));
  sess = monitor(&b, &(weft_monitored_opts){.n_hook = 1, .hooks = hook + 1});
  bench_train(sess, &b, 1);
  EXPECT(stops(sess));
  finish(sess, &b, 2, hook);
}

TEST_WITHIN(60, any_failed_allocation_is_an_error) {
  weft_err err = WEFT_OOM;
  for (long n = 1; err; n += 7) {
    bench b = bench_begin();
    weft_session *sess = NULL;
    weft_hook *hook;
    EXPECT_OK(weft__hook_stop_at_step(&hook, 1, 0));
    weft__alloc_fail_after(n);
    err =
        weft__monitored_create(&sess, b.g, &(weft_monitored_opts){.checkpoint_dir = "m", .n_hook = 1, .hooks = &hook});
    weft__alloc_fail_after(0);
    if (err) EXPECT_EQ_INT(err, WEFT_OOM);
    weft__session_destroy(sess);
    weft__hook_destroy(hook);
    bench_end(&b);
  }
}

TEST(a_timer_is_due_by_steps_by_time_and_when_training_was_set_back) {
  hook_timer t = {.steps = 3};
  int64_t steps;
  EXPECT(weft__timer_due(&t, 0));
  EXPECT(!weft__timer_note(&t, 10, NULL, NULL));
  EXPECT(!weft__timer_due(&t, 10) && !weft__timer_due(&t, 12) && weft__timer_due(&t, 13));
  EXPECT(weft__timer_due(&t, 4));
  EXPECT(weft__timer_note(&t, 13, NULL, &steps));
  EXPECT_EQ_INT(steps, 3);
  hook_timer clock = {.secs = 3600};
  weft__timer_note(&clock, 1, NULL, NULL);
  EXPECT(!weft__timer_due(&clock, 2));
  clock.secs = .02;
  usleep(30000);
  EXPECT(weft__timer_due(&clock, 2) && !weft__timer_due(&clock, 1));
}

typedef struct listening {
  char told[200];
  int64_t stop_at;
} listening;

static weft_err tell(void *arg, const char *what, int64_t at) {
  listening *l = arg;
  snprintf(l->told + strlen(l->told), sizeof l->told - strlen(l->told), "%s%lld ", what, (long long)at);
  return WEFT_OK;
}

static weft_err l_begin(void *arg) { return tell(arg, "begin", 0); }
static weft_err l_before(void *arg, weft_session *sess, int64_t at) { return (void)sess, tell(arg, "before", at); }
static weft_err l_after(void *arg, weft_session *sess, int64_t at, bool *stop) {
  (void)sess;
  EXPECT(weft__file_exists("m/model.ckpt-0.index")); /* at least the first checkpoint exists by now */
  *stop = at == ((listening *)arg)->stop_at;
  return tell(arg, "after", at);
}
static weft_err l_end(void *arg, weft_session *sess, int64_t at) { return (void)sess, tell(arg, "end", at); }

TEST(listeners_hear_of_every_checkpoint_and_may_end_the_loop) {
  bench b = bench_begin();
  weft_hook *hook;
  listening l = {.stop_at = 4};
  weft_checkpoint_listener listener = {l_begin, l_before, l_after, l_end, &l};
  weft_checkpoint_hook_opts opts = {.dir = "m", .save_steps = 2, .n_listener = 1, .listeners = &listener};
  EXPECT_OK(weft__hook_checkpoint(&hook, &opts));
  weft_session *sess = monitor(&b, &(weft_monitored_opts){.n_chief_hook = 1, .chief_hooks = &hook});
  for (int i = 0; i < 100 && !stops(sess); i++) bench_train(sess, &b, 1);
  EXPECT_OK(weft__session_close(sess));
  EXPECT_EQ_STR(l.told, "begin0 before0 after0 before2 after2 before4 after4 end4 ");
  finish(sess, &b, 1, &hook);
}

TEST(hooks_say_what_they_lack) {
  weft_hook *h;
  EXPECT_ERR(weft__hook_stop_at_step(&h, 0, 0), WEFT_INVALID_ARGUMENT, "One of num_steps or last_step must be");
  EXPECT_ERR(weft__hook_stop_at_step(&h, 1, 1), WEFT_INVALID_ARGUMENT, "Only one of num_steps or last_step");
  EXPECT_ERR(weft__hook_checkpoint(&h, &(weft_checkpoint_hook_opts){.dir = "x", .save_secs = 1, .save_steps = 1}),
             WEFT_INVALID_ARGUMENT, "Can not provide both save_secs and save_steps.");
  op_table *ops;
  weft_graph *g;
  weft_session *sess;
  EXPECT_OK(weft__op_table_create(&ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&g, ops));
  EXPECT_OK(weft__hook_stop_at_step(&h, 1, 0));
  EXPECT_ERR(weft__monitored_create(&sess, g, &(weft_monitored_opts){.n_hook = 1, .hooks = &h}),
             WEFT_FAILED_PRECONDITION, "Global step should be created to use StopAtStepHook.");
  weft__hook_destroy(h);
  weft__graph_destroy(g);
  weft__op_table_destroy(ops);
}
