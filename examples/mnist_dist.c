/* mnist_dist.c - softmax regression on MNIST: parameters on two ps, two workers, a supervisor that saves.
 *
 *     weft launch --ps 2 --workers 2 -- mnist_dist --data_dir FOLDER
 *
 * or by hand, in any order, on any machines:
 *     mnist_dist --ps_hosts=localhost:2221,localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name=ps
 *                --task_index=0
 *     ... and so on for ps 1 and both workers.
 *
 * The frame that every such program has: a server; a ps joins; a worker builds the graph with its variables spread
 * over the ps, and trains in a session that the supervisor hands out.
 * --data_dir=FOLDER (MNIST_data), --log_dir=DIR (train_logs), --train_steps=N (5000),
 * --learning_rate=R (0.01). */
#include "digits.h"
#include <signal.h>

enum { BATCH = 100, TEST_BATCH = 1000 };

typedef struct model {
  weft_graph *g;
  weft_out x, y, loss, right, step, train, summary, init;
} model;

typedef struct settings {
  const char *data, *log_dir;
  int64_t steps;
  double rate;
  int task;
} settings;

static void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL); /* the second one leaves at once */
}

static void build(model *m, const settings *s) {
  weft_graph *g = m->g;
  weft_optimizer *o;
  m->x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  m->y = weft_input(g, "y_", WEFT_INT32, WEFT_DIMS(-1));
  weft_out w = weft_variable(g, "W", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(PIXELS, CLASSES)), true);
  weft_out b = weft_variable(g, "b", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(CLASSES)), true);
  weft_out logits = weft_bias_add(g, weft_matmul(g, m->x, weft_variable_value(g, w)), weft_variable_value(g, b));
  weft_out guess = weft_equal(g, weft_cast(g, weft_argmax(g, logits, 1), WEFT_INT32), m->y);
  m->right = weft_mean(g, weft_cast(g, guess, WEFT_FLOAT));
  m->loss = weft_loss(g, "sparse_softmax_cross_entropy", m->y, logits, NULL);
  m->step = weft_global_step_make(g);
  weft_must(weft_optimizer_create(&o, g, "Adagrad", NULL));
  weft_must(weft_optimizer_set(o, "learning_rate", s->rate));
  m->train = weft_optimizer_minimize(o, m->loss, m->step, 0, NULL, NULL, NULL);
  weft_optimizer_destroy(o);
  m->summary = weft_summary_scalar(g, "cross_entropy", m->loss, NULL);
  m->init = weft_initializer(g);
  weft_must(weft_graph_error(g));
}

/* ---- training ---- */

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s) {
  digits training = digits_read(s->data, "train");
  weft_tensor *images, *labels, *got[3];
  weft_out all[] = {m->loss, m->step, m->summary};
  weft_err err = WEFT_OK;
  digits_shuffle(&training);
  digits_batch(&images, &labels, BATCH);
  for (int64_t step = 0; step < s->steps && !err && !weft_supervisor_should_stop(sv);) {
    digits_deal(&training, images, labels);
    weft_feed feeds[] = {{m->x, images}, {m->y, labels}};
    err = weft_session_run(sess, 2, feeds, 3, all, got, 1, &m->train);
    if (err) break;
    step = *(int64_t *)weft_tensor_data(got[1]);
    if (step % 100 == 0) printf("step %lld: loss %.4f\n", (long long)step, (double)*(float *)weft_tensor_data(got[0]));
    const char *bytes;
    size_t size;
    if (s->task == 0 && step % 100 == 0 && weft_tensor_string(got[2], 0, &bytes, &size) == WEFT_OK)
      err = weft_supervisor_add_summary(sv, sess, bytes, size, &step);
    for (int i = 0; i < 3; i++) weft_tensor_destroy(got[i]);
  }
  weft_tensor_destroy(images), weft_tensor_destroy(labels);
  digits_drop(&training);
  return err;
}

static weft_err measure(const model *m, weft_session *sess, const settings *s) {
  digits test = digits_read(s->data, "t10k");
  weft_tensor *images, *labels, *got;
  double sum = 0;
  int64_t n = 0;
  weft_err err = WEFT_OK;
  digits_batch(&images, &labels, TEST_BATCH);
  for (; !err && (n + 1) * TEST_BATCH <= test.count; n++) {
    digits_deal(&test, images, labels);
    weft_feed feeds[] = {{m->x, images}, {m->y, labels}};
    err = weft_session_run(sess, 2, feeds, 1, &m->right, &got, 0, NULL);
    if (err) break;
    sum += (double)*(float *)weft_tensor_data(got);
    weft_tensor_destroy(got);
  }
  if (!err && n) printf("test accuracy %.4f\n", sum / (double)n);
  weft_tensor_destroy(images), weft_tensor_destroy(labels);
  digits_drop(&test);
  return err;
}

static int work(weft_server *server, settings *s) {
  char device[100];
  model m = {0};
  weft_replica *spread;
  weft_supervisor *sv;
  weft_session *sess;
  s->task = weft_server_task(server);
  srand((unsigned)s->task + 1);
  snprintf(device, sizeof device, "/job:worker/task:%d", s->task);
  weft_must(weft_graph_create(&m.g));
  weft_must(
      weft_replica_create(&spread, weft_cluster_task_count(weft_server_cluster(server), "ps"), NULL, device, false));
  weft_scope_replica(m.g, spread);
  build(&m, s);
  weft_supervisor_opts opts = {.not_chief = s->task != 0,
                               .logdir = s->log_dir,
                               .init_op = &m.init,
                               .global_step = &m.step,
                               .save_model_secs = 600,
                               .save_summaries_secs = -1}; /* the loop does that: a summary needs a batch */
  weft_must(weft_supervisor_create(&sv, m.g, &opts));
  weft_must(weft_supervisor_session(&sess, sv, weft_server_target(server), NULL, NULL));
  weft_err err = loop(&m, sv, sess, s);
  bool stopped = weft_supervisor_should_stop(sv); /* by a signal */
  if (!err && !stopped && s->task == 0) err = measure(&m, sess, s);
  weft_save_opts now = {.global_step = &m.step};
  if (!err && !stopped && s->task == 0)
    err = weft_saver_save(weft_supervisor_saver(sv), sess, weft_supervisor_save_path(sv), &now, NULL);
  if (err && !stopped) fprintf(stderr, "mnist_dist: %s\n", weft_error_message());
  weft_err end = weft_supervisor_stop(sv, false, false);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  weft_scope_pop(m.g), weft_replica_destroy(spread), weft_graph_destroy(m.g);
  return stopped ? 0 : err || end;
}

int main(int argc, char **argv) {
  const char *steps = flag(argc, argv, "--train_steps"), *data = flag(argc, argv, "--data_dir");
  const char *log_dir = flag(argc, argv, "--log_dir"), *rate = flag(argc, argv, "--learning_rate");
  settings s = {.data = data ? data : "MNIST_data",
                .log_dir = log_dir ? log_dir : "train_logs",
                .steps = steps ? atoll(steps) : 5000,
                .rate = rate ? atof(rate) : 0.01};
  weft_server *server;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
  weft_must(weft_server_create_from_args(&server, argc, argv));
  int code = strcmp(weft_server_job(server), "ps") == 0 ? weft_server_join(server) != WEFT_OK : work(server, &s);
  weft_server_destroy(server);
  return code;
}
