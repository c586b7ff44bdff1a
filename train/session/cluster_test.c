/* cluster_test.c - tests supervised training on a cluster of real processes, some of which are killed and restarted. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "cluster/open.h"
#include "cluster/server.h"
#include "graph/scope.h"
#include "tests/check.h"
#include "tests/ports.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/session/monitored.h"
#include "train/session/supervisor.h"
#include "train/session/sync_run.h"
#include "train/session/test_bench.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#ifdef WEFT_HAVE_GRPC

enum { LAST = 300, TASKS = 3 }; /* ps, chief, worker */
/* In CENTRAL the chief runs steps in which the worker computes. */
typedef enum style { SUPERVISOR, MONITORED, SYNCHRONOUS, CENTRAL } style;

static char spec[200];

static void make_cluster(void) {
  bench_folder();
  snprintf(spec, sizeof spec, "ps=localhost:%d;worker=localhost:%d,localhost:%d", free_port(), free_port(),
           free_port());
}

/* ---- the processes; a failed expectation ends one with a nonzero exit code ---- */

static FILE *log_file;
static void write_log(void *arg, int level, const char *file, int line, const char *what) {
  (void)arg, (void)level, (void)line;
  fprintf(log_file, "%.3f %s] %s\n", (double)weft__clock_wall_us() / 1e6, file, what);
  fflush(log_file);
}

static void must(weft_err err) {
  if (!err) return;
  fprintf(log_file, "failed: %s: %s\n", weft__error_name(err), weft__error_message());
  fflush(log_file);
  _exit(3);
}

static weft_server *start_server(const char *job, int index) {
  cluster c;
  weft_server *s;
  must(weft__cluster_parse(&c, spec));
  must(weft__server_create(&s, &c, &(server_opts){.job = job, .task = index}));
  must(weft__server_start(s));
  weft__cluster_finish(&c);
  return s;
}

/* Trains w towards 3 with gradients of both workers. */
static void add_sync(bench *b, weft_sync **sync) {
  weft_optimizer *o;
  grad_value d;
  weft_out away = weft__b_sub(b->g, b->w, weft__b_scalar(b->g, WEFT_FLOAT, 3));
  weft_out loss = weft__b_sum(b->g, weft__b_unary(b->g, "Square", away), weft__b_ints(b->g, (int64_t[]){0}, 1), false);
  must(weft__optimizer_create(&o, b->g, "GradientDescent", NULL));
  must(weft__optimizer_set(o, "learning_rate", &(setting){true, .05, WEFT_NONE}));
  must(weft__optimizer_compute(b->g, loss, 1, &b->w, NULL, &d));
  must(weft__sync_create(sync, o, 2, 2, NULL));
  b->train = weft__sync_apply(*sync, 1, &b->w, &d, b->global_step);
}

/* Returns 1, which a worker computes in every step from w, which is zero. */
static weft_out one_from_worker(const bench *b) {
  weft_out zero = weft__b_sum(b->g, b->w, weft__b_ints(b->g, (int64_t[]){0}, 1), false);
  return weft__b_binary(b->g, "Add", weft__b_cast(b->g, zero, WEFT_INT64), weft__b_scalar(b->g, WEFT_INT64, 1));
}

static replica_setter *setter; /* of the only model that a process builds */

static bench build_model(int index, weft_sync **sync, bool central) {
  char here[64];
  snprintf(here, sizeof here, "/job:worker/task:%d", central ? 0 : index);
  bench b = {0};
  variable_nodes nodes;
  must(weft__op_table_create(&b.ops, weft__ops_all()));
  must(weft__graph_create(&b.g, b.ops));
  must(weft__replica_setter_create(&setter, &(replica_opts){.ps_tasks = 1, .worker_device = here}));
  must(weft__scope_push_device_fn(b.g, weft__replica_setter_device, setter));
  b.global_step = weft__global_step_make(b.g);
  variable_spec v = {.name = "w", .has_shape = true, .shape = SHAPE1(100), .dtype = WEFT_FLOAT};
  v.init = (initializer){.kind = INIT_ZEROS};
  must(weft__variable_get(b.g, &v, &nodes));
  b.w = nodes.variable;
  if (sync)
    add_sync(&b, sync);
  else
    b.train = weft__b_binary(b.g, "AssignAdd", b.global_step, one_from_worker(&b));
  weft__scope_pop(b.g);
  must(weft__b_ok(b.g));
  return b;
}

static void note_time(const char *file) {
  char now[32];
  snprintf(now, sizeof now, "%lld", (long long)weft__clock_wall_us());
  must(weft__file_write(file, now, strlen(now)));
}

static int64_t train_once(weft_session *sess, const bench *b) {
  must(weft__run_target(sess, b->train.node));
  usleep(3000);
  return bench_step(sess, b);
}

/* Returns 0 if the run failed because the chief has finished: the worker's loop then ends. */
static int64_t train_until_over(weft_session *sess, const bench *b) {
  weft_err err = weft__run_target(sess, b->train.node);
  if (err == WEFT_OUT_OF_RANGE && weft__error_has(ERROR_JOB_OVER)) return 0;
  must(err);
  usleep(3000);
  return bench_step(sess, b);
}

static void train_supervised(const bench *b, const char *target, int index, int64_t last) {
  weft_supervisor *sv;
  weft_session *sess;
  weft_supervisor_opts o = {
      .is_chief = index == 0 ? WEFT_YES : WEFT_NO, .logdir = "log", .save_model_secs = .1, .save_summaries_secs = 1};
  must(weft__supervisor_create(&sv, b->g, &o));
  weft_err err = weft__supervisor_session(&sess, sv, target, NULL, NULL);
  if (err == WEFT_OUT_OF_RANGE) { /* the job is over */
    weft__supervisor_destroy(sv);
    return;
  }
  must(err);
  note_time(index ? "ready1" : "ready0");
  weft_coordinator *c = weft__supervisor_coordinator(sv);
  for (int64_t at = 0, steps = 0; at < last && !weft__coordinator_should_stop(c); steps++) {
    at = index ? train_until_over(sess, b) : train_once(sess, b);
    if (steps == 0) note_time(index ? "trained1" : "trained0");
  }
  must(weft__supervisor_stop(sv, false, false));
  weft__session_destroy(sess);
  weft__supervisor_destroy(sv);
}

/* Runs a step.  A worker that holds the token of a step sees at least that step in the same run, so all workers stop
 * at the same step. */
static weft_err train_in_step(weft_session *sess, const bench *b) {
  weft_out fetch[] = {b->train, b->global_step};
  weft_tensor *got[2];
  WEFT_TRY(weft__session_run(sess, &(plan_request){.n_fetch = 2, .fetch = fetch}, NULL, got, NULL));
  long long token = weft__tensor_int(got[0], 0), at = weft__tensor_int(got[1], 0);
  weft_tensor_destroy(got[0]), weft_tensor_destroy(got[1]);
  return at >= token ? WEFT_OK : weft__fail(WEFT_INTERNAL, "step %lld was read with the token of %lld", at, token);
}

static void train_monitored(const bench *b, const char *target, int index, weft_sync *sync) {
  weft_session *sess;
  weft_hook *hooks[2];
  monitored *m;
  must(weft__hook_stop_at_step(&hooks[0], 0, LAST));
  if (sync) must(weft__hook_sync(&hooks[1], sync, index == 0, -1));
  must(weft__monitored_create(&sess, b->g,
                              &(weft_monitored_opts){.target = target,
                                                     .is_chief = index == 0 ? WEFT_YES : WEFT_NO,
                                                     .checkpoint_dir = "log",
                                                     .save_checkpoint_secs = .1,
                                                     .n_hook = sync ? 2 : 1,
                                                     .hooks = hooks}));
  note_time(index ? "ready1" : "ready0");
  must(weft__monitored_of(sess, &m));
  weft_err err = WEFT_OK;
  while (!err && !weft__monitored_should_stop(m)) {
    err = sync ? train_in_step(sess, b) : weft__run_target(sess, b->train.node);
    usleep(3000);
  }
  if (err != WEFT_OUT_OF_RANGE && err != WEFT_CANCELLED) must(err); /* the chief ended and closed the tokens */
  must(weft__monitored_close(m, WEFT_OK));
  weft__session_destroy(sess);
  for (int i = 0; i < (sync ? 2 : 1); i++) weft__hook_destroy(hooks[i]);
}

static void on_signal(int number) {
  (void)number;
  weft__interrupt_raise();
}

/* 0: the ps; 1: the chief; 2: the worker. */
static pid_t start_task(int index, style s) {
  pid_t child = fork();
  if (child) return child;
  char name[32];
  snprintf(name, sizeof name, "task%d.log", index);
  log_file = fopen(name, "a");
  weft__log_set_callback(write_log, NULL);
  signal(SIGINT, on_signal);
  weft_server *server = start_server(index ? "worker" : "ps", index ? index - 1 : 0);
  if (index == 0) {
    must(weft__server_join(server));
  } else {
    weft_sync *sync = NULL;
    bench b = build_model(index - 1, s == SYNCHRONOUS ? &sync : NULL, s == CENTRAL);
    if (s == SUPERVISOR || s == CENTRAL)
      train_supervised(&b, weft__server_target(server), index - 1, s == CENTRAL && index == 2 ? INT64_MAX : LAST);
    else
      train_monitored(&b, weft__server_target(server), index - 1, sync);
  }
  weft__server_destroy(server);
  _exit(0);
}

/* ---- what the tests check ---- */

static int64_t read_number(const char *file) {
  text t = {0};
  int64_t v = -1;
  if (weft__file_exists(file) && weft__file_read(file, &t) == WEFT_OK) v = atoll(weft__text_get(&t));
  weft__text_finish(&t);
  return v;
}

static void wait_for_file(const char *pattern, int seconds) {
  for (int i = 0; i < seconds * 100; i++) {
    path_list found = {0};
    EXPECT_OK(weft__file_match(pattern, &found));
    int n = found.n;
    weft__path_list_finish(&found);
    if (n) return;
    usleep(10000);
  }
  FAIL("%s did not appear", pattern);
}

/* Waits until the task has logged the words. */
static void wait_for_log(int index, const char *words, int seconds) {
  char name[32];
  bool there = false;
  snprintf(name, sizeof name, "task%d.log", index);
  for (int i = 0; i < seconds * 100 && !there; i++) {
    text t = {0};
    there = weft__file_exists(name) && weft__file_read(name, &t) == WEFT_OK && bench_has(&t, words);
    weft__text_finish(&t);
    if (!there) usleep(10000);
  }
  if (!there) FAIL("task %d did not log: %s", index, words);
}

static void show_logs(void) {
  for (int i = 0; i < TASKS; i++) {
    char command[64];
    snprintf(command, sizeof command, "echo task %d; tail -20 task%d.log", i, i);
    if (system(command) != 0) return;
  }
}

static void expect_end(pid_t child, const char *who) {
  int code = 0;
  for (int i = 0; i < 9000; i++) {
    if (waitpid(child, &code, WNOHANG) == child) {
      if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) show_logs();
      EXPECT(WIFEXITED(code) && WEXITSTATUS(code) == 0);
      return;
    }
    usleep(10000);
  }
  show_logs();
  FAIL("the %s does not end", who);
}

static void kill_task(pid_t child) {
  kill(child, SIGKILL);
  EXPECT(waitpid(child, NULL, 0) == child);
}

static void train_and_lose(style s, int lost) {
  pid_t child[TASKS];
  make_cluster();
  for (int i = 0; i < TASKS; i++) child[i] = start_task(i, s);
  wait_for_file("ready0", 60);
  wait_for_file("ready1", 60);
  if (lost >= 0) {
    wait_for_file("log/model.ckpt-[1-9]*.index", 60);
    kill_task(child[lost]);
    usleep(300000);
    child[lost] = start_task(lost, s);
  }
  expect_end(child[1], "chief");
  expect_end(child[2], "worker");
  expect_end(child[0], "ps");
}

TEST_WITHIN(300, a_worker_that_came_first_starts_with_its_chief) {
  make_cluster();
  pid_t late = start_task(2, SUPERVISOR), ps = start_task(0, SUPERVISOR);
  wait_for_log(2, "Waiting for model to be ready.", 60);
  EXPECT_EQ_INT(read_number("ready1"), -1);
  pid_t chief = start_task(1, SUPERVISOR);
  wait_for_file("ready0", 60);
  wait_for_file("ready1", 60);
  double wait = (double)(read_number("ready1") - read_number("ready0")) / 1e6;
  EXPECT(wait < 10); /* 0.1 s, plus the delay of a loaded machine; TensorFlow checks every 30 s */
  expect_end(chief, "chief");
  expect_end(late, "worker");
  expect_end(ps, "ps");
}

TEST_WITHIN(300, an_interrupted_chief_saves_and_leaves_while_the_others_go_on) {
  pid_t child[TASKS];
  char *saved;
  make_cluster();
  for (int i = 0; i < TASKS; i++) child[i] = start_task(i, SUPERVISOR);
  wait_for_file("trained0", 60);
  wait_for_file("trained1", 60);
  kill(child[1], SIGINT);
  expect_end(child[1], "chief");
  EXPECT_OK(weft__checkpoint_latest(&saved, "log", NULL));
  EXPECT(saved && atoi(strrchr(saved, '-') + 1) > 0);
  weft__free(saved);
  expect_end(child[2], "worker");
  expect_end(child[0], "ps");
}

TEST_WITHIN(300, a_supervised_job_ends) { train_and_lose(SUPERVISOR, -1); }
TEST_WITHIN(300, a_supervised_job_survives_its_ps) { train_and_lose(SUPERVISOR, 0); }
TEST_WITHIN(300, a_supervised_job_survives_its_chief) { train_and_lose(SUPERVISOR, 1); }
TEST_WITHIN(300, a_supervised_job_survives_a_worker) { train_and_lose(SUPERVISOR, 2); }
TEST_WITHIN(300, a_monitored_job_survives_its_ps) { train_and_lose(MONITORED, 0); }
TEST_WITHIN(300, a_monitored_job_survives_its_chief) { train_and_lose(MONITORED, 1); }
TEST_WITHIN(300, a_monitored_job_survives_a_worker) { train_and_lose(MONITORED, 2); }
TEST_WITHIN(300, a_synchronous_job_ends) { train_and_lose(SYNCHRONOUS, -1); }
TEST_WITHIN(300, a_synchronous_job_survives_its_ps) { train_and_lose(SYNCHRONOUS, 0); }
TEST_WITHIN(300, a_synchronous_job_survives_its_chief) { train_and_lose(SYNCHRONOUS, 1); }
TEST_WITHIN(300, a_synchronous_job_survives_a_worker) { train_and_lose(SYNCHRONOUS, 2); }

static void expect_logged(const char *file, const char *words) {
  text t = {0};
  EXPECT_OK(weft__file_read(file, &t));
  EXPECT_CONTAINS(weft__text_get(&t), words);
  weft__text_finish(&t);
}

TEST_WITHIN(120, a_worker_that_comes_after_the_end_ends_well) {
  make_cluster();
  pid_t ps = start_task(0, CENTRAL), chief = start_task(1, CENTRAL);
  expect_end(chief, "chief");
  pid_t late = start_task(2, CENTRAL);
  expect_end(late, "worker");
  expect_end(ps, "ps");
  expect_logged("task2.log", "The job is over: /job:worker/replica:0/task:0, its chief, said goodbye");
}

TEST_WITHIN(120, a_worker_whose_chief_finishes_before_it_ends_well) {
  make_cluster();
  pid_t ps = start_task(0, CENTRAL), chief = start_task(1, CENTRAL), other = start_task(2, CENTRAL);
  expect_end(chief, "chief");
  expect_end(other, "worker");
  expect_end(ps, "ps");
  expect_logged("task2.log", "The job is over: /job:worker/replica:0/task:0, its chief, said goodbye");
}

/* ---- a ps that is lost between two checks of a worker ---- */

static atomic_int first_ps; /* atomic, because other threads log as well */
static int wake_second;

/* Kills the first ps when it has run the local init op, and starts the second one. */
static void lose_ps(void *arg, int level, const char *file, int line, const char *what) {
  write_log(arg, level, file, line, what);
  if (!strstr(what, "Done running local_init_op.")) return;
  pid_t ps = atomic_exchange(&first_ps, 0);
  if (!ps) return; /* the second ps has run the op too */
  kill(ps, SIGKILL);
  waitpid(ps, NULL, 0);
  EXPECT(write(wake_second, "x", 1) == 1);
}

/* Starts a ps; if begin >= 0, it first waits for a byte from that pipe. */
static pid_t fork_ps(int begin) {
  char byte;
  pid_t child = fork();
  if (child) return child;
  if (begin >= 0 && read(begin, &byte, 1) != 1) _exit(1);
  start_server("ps", 0);
  for (;;) pause();
}

TEST_WITHIN(300, a_worker_whose_ps_is_lost_while_it_asks_goes_on_waiting) {
  int ends[2];
  weft_supervisor *sv;
  weft_session *sess;
  make_cluster();
  EXPECT((log_file = fopen("log", "w")) != NULL);
  EXPECT(pipe(ends) == 0);
  first_ps = fork_ps(-1);
  wake_second = ends[1];
  pid_t second = fork_ps(ends[0]);
  weft__log_set_callback(lose_ps, NULL);
  weft_server *mine = start_server("worker", 1);
  bench b = build_model(1, NULL, false);
  EXPECT_OK(weft__supervisor_create(&sv, b.g, &(weft_supervisor_opts){.is_chief = WEFT_NO}));
  weft_err err =
      weft__supervisor_session(&sess, sv, weft__server_target(mine), NULL, &(weft_supervisor_wait){.max_wait_secs = 2});
  EXPECT_ERR(err, WEFT_DEADLINE_EXCEEDED, "Session was not ready after waiting 2 secs.");
  EXPECT(first_ps == 0);
  weft__supervisor_destroy(sv);
  weft__server_destroy(mine);
  weft__replica_setter_destroy(setter);
  bench_end(&b);
  kill(second, SIGKILL);
  waitpid(second, NULL, 0);
}

#else
TEST(there_is_no_cluster_without_grpc) {
  weft_session *sess;
  bench b = bench_begin();
  EXPECT(weft__session_open(&sess, b.g, &(weft_session_opts){.target = "grpc://localhost:1"}) != WEFT_OK);
  bench_end(&b);
}
#endif
