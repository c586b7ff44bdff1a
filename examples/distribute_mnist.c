/* distribute_mnist.c - workers train one network on MNIST with the variables on a ps, each at its own pace or in step.
 *
 *     weft launch --ps 1 --workers 2 -- distribute_mnist --data_dir FOLDER --train_steps 2000 --issync=1
 *
 * or by hand, in any order, on any machines:
 *     distribute_mnist --job_name=ps     --task_index=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222
 *     distribute_mnist --job_name=worker --task_index=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222
 *
 * 784-100-10 with Adam.  With --issync=1 a step applies the mean of one gradient of each worker.  At the end every
 * worker prints the cross entropy over 5000 images that nobody trained on, worker 0 the accuracy on the test images
 * too. The supervisor's checkpoints are in a temporary folder of the cluster's own, where a worker 0 that comes back
 * finds them, and which it removes when the training is over; --log_dir=DIR keeps them in DIR. --data_dir=FOLDER
 * (MNIST_data), --train_steps=N (10000), --learning_rate=R (0.01), --issync=0 or 1 (0), --hidden_units=N (100; 0:
 * none), --save_model_secs=S (600). */
#include "digits.h"
#include <ftw.h>
#include <math.h>

enum { BATCH = 100 };

typedef struct model {
  weft_graph *g;
  weft_out x, y, loss, right, step, train, init;
  weft_optimizer *optimizer;
  weft_sync *sync; /* NULL: each at its own pace */
} model;

typedef struct settings {
  const char *data, *log_dir; /* log_dir NULL: a temporary one */
  int64_t steps;
  double rate, save_secs;
  int task, workers, hidden;
  bool in_step;
} settings;

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the graph ---- */

static weft_out layer(weft_graph *g, const char *w, const char *b, weft_out x, int64_t in, int64_t out, double spread) {
  weft_out start = weft_truncated_normal(g, WEFT_DIMS(in, out), (float)spread);
  weft_out weights = weft_variable(g, w, start, true);
  weft_out bias = weft_variable(g, b, weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), true);
  return weft_bias_add(g, weft_matmul(g, x, weft_variable_value(g, weights)), weft_variable_value(g, bias));
}

/* What a worker runs for a batch. */
static weft_out minimize(model *m, const settings *s) {
  weft_out variables[8];
  weft_gradient d[8];
  int n = weft_variables(m->g, "trainable_variables", variables, 8);
  weft_must(weft_optimizer_create(&m->optimizer, m->g, "Adam", NULL));
  weft_must(weft_optimizer_set(m->optimizer, "learning_rate", s->rate));
  if (!s->in_step) return weft_optimizer_minimize(m->optimizer, m->loss, m->step, 0, NULL, NULL, NULL);
  weft_must(weft_optimizer_compute(m->optimizer, m->loss, n, variables, NULL, d));
  weft_must(weft_sync_create(&m->sync, m->optimizer, NULL, s->workers, s->workers));
  return weft_sync_apply(m->sync, n, variables, d, m->step);
}

static void build(model *m, const settings *s) {
  weft_graph *g = m->g;
  m->step = weft_global_step_make(g);
  m->x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  m->y = weft_input(g, "y", WEFT_INT32, WEFT_DIMS(-1));
  weft_out top = m->x;
  if (s->hidden > 0) top = weft_relu(g, layer(g, "hid_w", "hid_b", m->x, PIXELS, s->hidden, 1.0 / SIDE));
  int64_t inputs = s->hidden > 0 ? s->hidden : PIXELS;
  weft_out logits = layer(g, "sm_w", "sm_b", top, inputs, CLASSES, 1 / sqrt((double)inputs));
  weft_out right = weft_op(g, "OneHot", NULL, 4,
                           (weft_out[]){m->y, weft_scalar(g, WEFT_INT32, CLASSES), weft_scalar(g, WEFT_FLOAT, 1),
                                        weft_scalar(g, WEFT_FLOAT, 0)},
                           NULL);
  weft_out low = weft_scalar(g, WEFT_FLOAT, 1e-10), high = weft_scalar(g, WEFT_FLOAT, 1);
  weft_out guess = weft_clip_by_value(g, NULL, weft_softmax(g, logits), low, high);
  weft_out log_guess = weft_op(g, "Log", NULL, 1, &guess, NULL), sum = weft_sum(g, weft_mul(g, right, log_guess));
  m->loss = weft_op(g, "Neg", NULL, 1, &sum, NULL);
  weft_out same = weft_equal(g, weft_cast(g, weft_argmax(g, logits, 1), WEFT_INT32), m->y);
  m->right = weft_mean(g, weft_cast(g, same, WEFT_FLOAT));
  m->train = minimize(m, s);
  m->init = weft_initializer(g);
  weft_must(weft_graph_error(g));
}

/* ---- training ---- */

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s, digits *d) {
  weft_err err = WEFT_OK;
  for (int64_t local = 1, global = 0; global < s->steps && !weft_supervisor_should_stop(sv); local++) {
    weft_tensor *got;
    batch b = next_batch(d->training, BATCH);
    weft_feed feeds[] = {{m->x, b.images}, {m->y, b.labels}};
    err = weft_session_run(sess, &(weft_request){.n_feed = 2,
                                                 .feeds = feeds,
                                                 .n_fetch = 1,
                                                 .fetches = &m->step,
                                                 .fetched = &got,
                                                 .n_target = 1,
                                                 .targets = &m->train});
    batch_drop(&b);
    if (err) break;
    global = *(int64_t *)weft_tensor_data(got);
    weft_tensor_destroy(got);
    printf("%f: Worker %d: traing step %lld dome (global step:%lld)\n", clock_now(), s->task, (long long)local,
           (long long)global);
    fflush(stdout);
  }
  return m->sync && err == WEFT_OUT_OF_RANGE ? WEFT_OK : err; /* no more tokens: the chief is done */
}

static weft_err validate(const model *m, weft_session *sess, const settings *s, digits *d) {
  weft_tensor *got;
  double accuracy;
  batch b = next_batch(d->validation, weft_samples_size(d->validation));
  weft_feed feeds[] = {{m->x, b.images}, {m->y, b.labels}};
  weft_err err = weft_session_run(
      sess, &(weft_request){.n_feed = 2, .feeds = feeds, .n_fetch = 1, .fetches = &m->loss, .fetched = &got});
  batch_drop(&b);
  if (err) return err;
  printf("After %lld training step(s), validation cross entropy = %g\n", (long long)s->steps,
         (double)*(float *)weft_tensor_data(got));
  weft_tensor_destroy(got);
  if (s->task != 0) return WEFT_OK;
  err = measure(sess, m->x, m->y, m->right, d->test, &accuracy);
  if (!err) printf("test accuracy %.4f\n", accuracy);
  return err;
}

/* ---- the folder of the checkpoints ---- */

/* The same one for every start of a cluster: its name is made of the addresses. */
static const char *temporary_folder(const weft_cluster *c) {
  static char path[64];
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  for (int i = 0; i < weft_cluster_task_count(c, "worker"); i++)
    for (const char *p = weft_cluster_address(c, "worker", i); p && *p; p++)
      hash = (hash ^ (unsigned char)*p) * 1099511628211u;
  snprintf(path, sizeof path, "/tmp/distribute_mnist-%u-%016llx", (unsigned)getuid(), (unsigned long long)hash);
  return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  return remove(path);
}

/* ---- the work of a worker ---- */

/* In step the chief applies the gradients on a thread of the supervisor and hands out the first tokens. */
static weft_err lead(const model *m, weft_supervisor *sv, weft_session *sess, weft_out tokens) {
  void *runner;
  size_t size;
  weft_err err = weft_sync_queue_runner(&runner, &size, m->sync);
  if (err) return err;
  err = weft_queue_runner_start(sess, weft_supervisor_coordinator(sv), runner, size, NULL);
  weft_free(runner);
  return err ? err : weft_session_run_target(sess, tokens);
}

static weft_err supervise(model *m, weft_server *server, const settings *s, digits *d) {
  weft_supervisor *sv;
  bool chief = s->task == 0;
  weft_out local = WEFT_NONE, ready = WEFT_NONE, tokens = WEFT_NONE;
  const char *logdir = s->log_dir ? s->log_dir : temporary_folder(weft_server_cluster(server));
  weft_supervisor_opts opts = {.is_chief = chief ? WEFT_YES : WEFT_NO,
                               .logdir = logdir,
                               .init_op = &m->init,
                               .global_step = &m->step,
                               .save_model_secs = s->save_secs,
                               .recovery_wait_secs = 1};
  if (m->sync) {
    local = chief ? weft_sync_chief_init(m->sync) : weft_sync_local_init(m->sync);
    ready = weft_sync_ready_for_local_init(m->sync);
    tokens = weft_sync_init_tokens(m->sync, -1);
    opts.local_init_op = &local;
    opts.ready_for_local_init_op = &ready;
  }
  weft_must(weft_supervisor_create(&sv, m->g, &opts));
  printf("Worker %d: %s\n", s->task, chief ? "Initializing session..." : "Waiting for session to be initialized...");
  weft_session *sess = open_session(sv, server, NULL);
  printf("Worker %d: Session initialization complete.\n", s->task);
  weft_err err = m->sync && chief ? lead(m, sv, sess, tokens) : WEFT_OK;
  double begin = clock_now();
  printf("Training begins @ %f\n", begin);
  if (!err) err = loop(m, sv, sess, s, d);
  double end = clock_now();
  printf("Training ends @ %f\nTraining elapsed time:%f s\n", end, end - begin);
  bool stopped = weft_supervisor_should_stop(sv); /* by a signal */
  if (!err && !stopped) err = validate(m, sess, s, d);
  if (err && !stopped) fprintf(stderr, "distribute_mnist: %s\n", weft_error_message());
  weft_out closes = m->sync ? weft_sync_cancel_op(m->sync) : WEFT_NONE;
  if (m->sync && chief && weft_session_run_target(sess, closes) != WEFT_OK && !err && !stopped)
    fprintf(stderr, "distribute_mnist: the queue was not closed: %s\n", weft_error_message());
  weft_supervisor_request_stop(sv, WEFT_OK);
  weft_session_close(sess); /* ends the chief's thread, which waits for gradients */
  weft_err over = weft_supervisor_stop(sv, false, true);
  if (!err) err = over;
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  if (chief && !err && !stopped && !s->log_dir) nftw(logdir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return stopped ? WEFT_OK : err;
}

static int work(weft_server *server, void *arg) {
  settings *s = arg;
  model m = {0};
  weft_replica *spread;
  s->task = weft_server_task(server);
  s->workers = weft_cluster_task_count(weft_server_cluster(server), "worker");
  if (s->workers == 0) s->workers = 1; /* without a cluster */
  digits d = digits_read(s->data, s->task + 1);
  m.g = begin_graph(server, &spread);
  build(&m, s);
  weft_err err = supervise(&m, server, s, &d);
  weft_sync_destroy(m.sync), weft_optimizer_destroy(m.optimizer);
  end_graph(m.g, spread), digits_drop(&d);
  return err != WEFT_OK;
}

int main(int argc, char **argv) {
  settings s = {.data = flag(argc, argv, "--data_dir", "MNIST_data"),
                .log_dir = flag(argc, argv, "--log_dir", NULL),
                .steps = atoll(flag(argc, argv, "--train_steps", "10000")),
                .rate = atof(flag(argc, argv, "--learning_rate", "0.01")),
                .save_secs = atof(flag(argc, argv, "--save_model_secs", "600")),
                .hidden = atoi(flag(argc, argv, "--hidden_units", "100")),
                .in_step = atoi(flag(argc, argv, "--issync", "0")) == 1};
  weft_server *server = start_task(argc, argv);
  printf("job_name : %s\ntask_index : %d\n", weft_server_job(server), weft_server_task(server));
  fflush(stdout);
  return run_task(server, work, &s);
}
