/* train.c - the C program of the chaos campaign: a task that counts the steps that it requested and those that were
 * executed.
 *
 * train --ps_hosts=... --worker_hosts=... --job_name=worker --task_index=0 --mode=async --dir=DIR --start=N
 *
 * Every execution of a step on its worker takes a number of its own from a counter in the worker's memory
 * (CountUpTo).  The N-th process of a task begins at another number.  The execution adds 1 at that index of
 * `applied_P` on each ps P.  So the variables show whether each execution was applied, and that none was applied
 * twice.  `weight_P` has a gradient of -1 and Momentum with rate and momentum 1: its slot counts the updates, and
 * its value is their triangular number.
 *
 * The lines "TIME attempt K" and "TIME ack K NUMBER STEP" (CLOCK_MONOTONIC) tell what this worker saw.  The campaign
 * ends the job through files in DIR: `stop` (with a global step, for synchronous jobs), and `last` when worker 0
 * should save once more and leave.  tests/chaos/train.py is the same program in Python. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

enum { PS = 2, WORKERS = 3, STRIDE = 5000, STARTS = 6, PAUSE_US = 10000, LAST_SECONDS = 30 };

typedef struct settings {
  const char *dir;
  bool in_step;
  int task, start;
} settings;

typedef struct model {
  weft_graph *g;
  weft_out number, step, train, init;
  weft_optimizer *optimizer;
  weft_sync *sync;
} model;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const char *what) {
  printf("%.6f %s\n", now(), what);
  fflush(stdout);
}

static const char *flag(int argc, char **argv, const char *name, const char *standard) {
  size_t n = strlen(name);
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], name, n) == 0 && argv[i][n] == '=') return argv[i] + n + 1;
  return standard;
}

static void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL);
}

/* ---- the graph ---- */

/* The counter of executions.  It is in no collection: supervisors neither wait for it nor set it again. */
static weft_out counter(weft_graph *g, const settings *s, weft_out *begin) {
  char device[100];
  snprintf(device, sizeof device, "/job:worker/task:%d/device:CPU:0", s->task);
  weft_scope_push_device(g, device);
  weft_out v = weft_op(g, "VariableV2", "attempts", 0, NULL, "dtype=int64 shape=[]");
  double first = (double)(s->task * STARTS + s->start) * STRIDE;
  if (begin) *begin = weft_op(g, "Assign", NULL, 2, (weft_out[]){v, weft_scalar(g, WEFT_INT64, first)}, NULL);
  char limit[60];
  snprintf(limit, sizeof limit, "limit=%d", (s->task * STARTS + s->start + 1) * STRIDE);
  weft_out number = weft_op(g, "CountUpTo", "number", 1, &v, limit);
  weft_scope_pop(g);
  return number;
}

static void begin_counter(const char *target, const settings *s) {
  weft_graph *g;
  weft_session *sess;
  weft_out begin;
  weft_must(weft_graph_create(&g));
  counter(g, s, &begin);
  weft_must(weft_session_create(&sess, g, &(weft_session_opts){.target = target}));
  weft_must(weft_session_run_target(sess, begin));
  weft_session_destroy(sess), weft_graph_destroy(g);
}

/* Adds 1 to applied_P at the number of this execution. */
static weft_out count_applied(model *m, int ps) {
  char name[20], device[60];
  snprintf(name, sizeof name, "applied_%d", ps);
  snprintf(device, sizeof device, "/job:ps/task:%d/device:CPU:0", ps);
  weft_scope_push_device(m->g, device);
  weft_initial zeros = {.kind = WEFT_INIT_ZEROS};
  weft_out v = weft_get_variable(m->g, name, WEFT_INT32, WEFT_DIMS(WORKERS * STARTS * STRIDE), &zeros, false);
  weft_out in[] = {v, m->number, weft_scalar(m->g, WEFT_INT32, 1)};
  weft_out add = weft_op(m->g, "ScatterAdd", NULL, 3, in, "use_locking=true");
  weft_scope_pop(m->g);
  return add;
}

static weft_out weight(model *m, int ps) {
  char name[20], device[60];
  snprintf(name, sizeof name, "weight_%d", ps);
  snprintf(device, sizeof device, "/job:ps/task:%d/device:CPU:0", ps);
  weft_scope_push_device(m->g, device);
  weft_initial zeros = {.kind = WEFT_INIT_ZEROS};
  weft_out v = weft_get_variable(m->g, name, WEFT_DOUBLE, WEFT_SCALAR, &zeros, true);
  weft_scope_pop(m->g);
  return v;
}

static weft_out minimize(model *m, const settings *s) {
  weft_out w[PS];
  weft_gradient d[PS];
  for (int i = 0; i < PS; i++) w[i] = weight(m, i);
  weft_out sum = weft_add(m->g, w[0], w[1]), loss = weft_op(m->g, "Neg", NULL, 1, &sum, NULL);
  weft_must(weft_optimizer_create(&m->optimizer, m->g, "Momentum", NULL));
  weft_must(weft_optimizer_set(m->optimizer, "learning_rate", 1));
  weft_must(weft_optimizer_set(m->optimizer, "momentum", 1));
  weft_must(weft_optimizer_set(m->optimizer, "use_locking", 1));
  if (!s->in_step) return weft_optimizer_minimize(m->optimizer, loss, m->step, 0, NULL, NULL, NULL);
  weft_must(weft_optimizer_compute(m->optimizer, loss, PS, w, NULL, d));
  weft_must(weft_sync_create(&m->sync, m->optimizer, NULL, WORKERS, WORKERS));
  return weft_sync_apply(m->sync, PS, w, d, m->step);
}

static void build(model *m, const settings *s) {
  weft_out all[PS + 1];
  m->step = weft_global_step_make(m->g);
  m->number = counter(m->g, s, NULL);
  all[PS] = minimize(m, s);
  for (int i = 0; i < PS; i++) all[i] = count_applied(m, i);
  m->train = weft_group(m->g, "train_and_count", PS + 1, all);
  m->init = weft_initializer(m->g);
  weft_must(weft_graph_error(m->g));
}

/* ---- the end, as the campaign says ---- */

static bool exists(const settings *s, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", s->dir, name);
  return access(path, F_OK) == 0;
}

static bool is_over(const settings *s, int64_t step) {
  char path[4096];
  long long last = 0;
  snprintf(path, sizeof path, "%s/stop", s->dir);
  FILE *f = fopen(path, "r");
  if (!f) return false;
  if (fscanf(f, "%lld", &last) != 1) last = 0;
  fclose(f);
  return !s->in_step || step >= last;
}

/* The chief calls it before it saves the last checkpoint.  The campaign creates the file "last" when the other workers
 * have ended, so every step that was acknowledged to them is in the checkpoint.  Waits at most LAST_SECONDS, and not at
 * all in a synchronous job, whose workers end at the same step. */
static void wait_for_the_others(const settings *s) {
  for (double end = now() + LAST_SECONDS; !s->in_step && now() < end && !exists(s, "last");) usleep(20000);
}

/* ---- training ---- */

static weft_err one_step(const model *m, weft_session *sess, int64_t k, int64_t *step) {
  weft_tensor *got[2];
  printf("%.6f attempt %" PRId64 "\n", now(), k);
  fflush(stdout);
  weft_err err = weft_session_run(sess, &(weft_request){.n_fetch = 2,
                                                        .fetches = (weft_out[]){m->number, m->step},
                                                        .fetched = got,
                                                        .n_target = 1,
                                                        .targets = &m->train});
  if (err) return err;
  *step = *(int64_t *)weft_tensor_data(got[1]);
  printf("%.6f ack %" PRId64 " %" PRId64 " %" PRId64 "\n", now(), k, *(int64_t *)weft_tensor_data(got[0]), *step);
  fflush(stdout);
  weft_tensor_destroy(got[0]), weft_tensor_destroy(got[1]);
  usleep(PAUSE_US);
  return WEFT_OK;
}

/* In step the others end when the chief has closed the queue of tokens. */
static bool chief_is_done(const settings *s, weft_err err) {
  return s->in_step && s->task != 0 && exists(s, "stop") && (err == WEFT_OUT_OF_RANGE || err == WEFT_CANCELLED);
}

static int finish(const char *where, weft_err err) {
  if (!err) {
    say("end");
    return 0;
  }
  fprintf(stderr, "train: %s: %s: %s\n", where, weft_error_name(err), weft_error_message());
  return 1;
}

static int supervised(const model *m, const char *target, const settings *s) {
  weft_supervisor *sv;
  weft_session *sess;
  char logdir[4096];
  snprintf(logdir, sizeof logdir, "%s/log", s->dir);
  weft_supervisor_opts opts = {.is_chief = s->task == 0 ? WEFT_YES : WEFT_NO,
                               .logdir = logdir,
                               .init_op = &m->init,
                               .global_step = &m->step,
                               .save_model_secs = 1,
                               .recovery_wait_secs = 1,
                               .stop_grace_secs = 20};
  weft_must(weft_supervisor_create(&sv, m->g, &opts));
  weft_must(weft_supervisor_session(&sess, sv, target, NULL, NULL));
  say("session");
  weft_err err = WEFT_OK;
  for (int64_t k = 0, step = 0; !err && !is_over(s, step) && !weft_supervisor_should_stop(sv); k++)
    err = one_step(m, sess, k, &step);
  bool stopped = weft_supervisor_should_stop(sv);
  if (!err && !stopped && s->task == 0) {
    wait_for_the_others(s);
    say("saving");
    weft_save_opts at = {.global_step = &m->step};
    err = weft_saver_save(weft_supervisor_saver(sv), sess, weft_supervisor_save_path(sv), &at, NULL);
    say(err ? "not saved" : "saved");
  }
  int code = err ? finish("training", err) : 0;
  weft_err end = weft_supervisor_stop(sv, false, false);
  if (!err) code = finish("the supervisor", end);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  return code;
}

static int monitored(const model *m, const char *target, const settings *s) {
  weft_hook *hook = NULL;
  weft_session *sess;
  char logdir[4096];
  snprintf(logdir, sizeof logdir, "%s/log", s->dir);
  if (m->sync) weft_must(weft_hook_sync(&hook, m->sync, s->task == 0, -1));
  weft_monitored_opts opts = {.target = target,
                              .is_chief = s->task == 0 ? WEFT_YES : WEFT_NO,
                              .checkpoint_dir = logdir,
                              .n_hook = hook ? 1 : 0,
                              .hooks = &hook,
                              .init_op = &m->init,
                              .save_checkpoint_secs = 1,
                              .save_summaries_steps = -1,
                              .log_step_count_steps = -1,
                              .stop_grace_secs = 20};
  weft_must(weft_monitored_create(&sess, m->g, &opts));
  say("session");
  weft_err err = WEFT_OK;
  for (int64_t k = 0, step = 0; !err && !is_over(s, step) && !weft_monitored_should_stop(sess); k++)
    err = one_step(m, sess, k, &step);
  if (chief_is_done(s, err)) err = WEFT_OK;
  int code = err ? finish("training", err) : 0;
  if (!err && s->task == 0) wait_for_the_others(s);
  say("saving");
  weft_err end = weft_monitored_close(sess, err);
  if (!err) code = finish("closing the session", end);
  weft_session_destroy(sess), weft_hook_destroy(hook);
  return code;
}

static int work(weft_server *server, const settings *s, bool hooks) {
  model m = {0};
  char device[60];
  weft_replica *spread;
  snprintf(device, sizeof device, "/job:worker/task:%d", s->task);
  begin_counter(weft_server_target(server), s);
  weft_must(weft_graph_create(&m.g));
  weft_must(weft_replica_create(&spread, PS, NULL, device, false));
  weft_scope_push_replica(m.g, spread);
  build(&m, s);
  weft_scope_pop(m.g);
  int code = (hooks ? monitored : supervised)(&m, weft_server_target(server), s);
  weft_sync_destroy(m.sync), weft_optimizer_destroy(m.optimizer);
  weft_replica_destroy(spread), weft_graph_destroy(m.g);
  return code;
}

int main(int argc, char **argv) {
  weft_server *server;
  const char *mode = flag(argc, argv, "--mode", "async");
  settings s = {.dir = flag(argc, argv, "--dir", "."),
                .in_step = strcmp(mode, "sync") == 0,
                .start = atoi(flag(argc, argv, "--start", "0"))};
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
  weft_must(weft_server_create_from_args(&server, argc, argv));
  s.task = weft_server_task(server);
  int code;
  if (strcmp(weft_server_job(server), "ps") == 0)
    code = finish("join", weft_server_join(server));
  else
    code = work(server, &s, s.in_step || strcmp(mode, "hooks") == 0);
  weft_server_destroy(server);
  return code;
}
