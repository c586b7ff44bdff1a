/* dist_mnist_async.c - workers train one network on MNIST, each at its own pace, with the variables on a ps.
 *
 *     weft launch --ps 1 --workers 3 --style task_id -- dist_mnist_async --data_dir FOLDER
 *
 * or by hand, in any order, on any machines:
 *     dist_mnist_async --job_name=ps     --task_id=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222,tf4:2222
 *     dist_mnist_async --job_name=worker --task_id=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222,tf4:2222
 *
 * 784-500-10 with L2 on the weights, a learning rate that decays, and moving averages, which worker 0 keeps.  A
 * supervisor initialises or restores, saves once a minute and recovers when a task is lost; at the end worker 0
 * measures the accuracy and saves.
 * --training_steps=N (50000), --learning_rate=R (0.01), --data_dir=FOLDER (MNIST_data), --log_dir=DIR (log_async). */
#include "digits.h"
#include <signal.h>

enum { BATCH = 100, HIDDEN = 500, TEST_BATCH = 1000 };

typedef struct model {
  weft_graph *g;
  weft_out x, y, loss, right, step, train, init;
  weft_average *averages;
} model;

typedef struct settings {
  const char *data, *log_dir;
  int64_t steps;
  double rate;
} settings;

static void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL); /* the second one leaves at once */
}

/* ---- the graph ---- */

static weft_out layer(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out, weft_out *penalty) {
  weft_initial truncated = {.kind = WEFT_INIT_TRUNCATED, .b = 0.1}, zeros = {.kind = WEFT_INIT_ZEROS};
  weft_scope_variables(g, name, WEFT_REUSE_INHERIT, NULL);
  weft_out w = weft_get_variable(g, "weights", WEFT_FLOAT, WEFT_DIMS(in, out), &truncated, true);
  weft_out b = weft_get_variable(g, "biases", WEFT_FLOAT, WEFT_DIMS(out), &zeros, true);
  *penalty = weft_mul(g, weft_scalar(g, WEFT_FLOAT, 0.0001), weft_op(g, "L2Loss", NULL, 1, &w, NULL));
  weft_out y = weft_add(g, weft_matmul(g, x, w), b);
  weft_scope_pop(g);
  return y;
}

static weft_out minimize(model *m, const settings *s) {
  weft_optimizer *o;
  weft_out rate = weft_exponential_decay(m->g, NULL, s->rate, m->step, 60000 / BATCH, 0.99, false);
  weft_must(weft_optimizer_create(&o, m->g, "GradientDescent", NULL));
  weft_must(weft_optimizer_set_output(o, "learning_rate", rate));
  weft_out train = weft_optimizer_minimize(o, m->loss, m->step, 0, NULL, NULL, NULL);
  weft_optimizer_destroy(o);
  return train;
}

static void build(model *m, const settings *s, bool chief) {
  weft_out penalty[2];
  m->x = weft_input(m->g, "x-input", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  m->y = weft_input(m->g, "y-input", WEFT_INT32, WEFT_DIMS(-1));
  weft_out hidden = weft_relu(m->g, layer(m->g, "layer1", m->x, PIXELS, HIDDEN, &penalty[0]));
  weft_out logits = layer(m->g, "layer2", hidden, HIDDEN, CLASSES, &penalty[1]);
  weft_out guess = weft_equal(m->g, weft_cast(m->g, weft_argmax(m->g, logits, 1), WEFT_INT32), m->y);
  m->right = weft_sum(m->g, weft_cast(m->g, guess, WEFT_FLOAT));
  m->step = weft_global_step_make(m->g);
  weft_out entropy = weft_mean(m->g, weft_sparse_softmax_cross_entropy(m->g, logits, m->y));
  m->loss = weft_add(m->g, entropy, weft_add(m->g, penalty[0], penalty[1]));
  m->train = minimize(m, s);
  if (chief) {
    weft_must(weft_average_create(&m->averages, m->g, NULL, 0.99, m->step, false));
    weft_out both[] = {m->train, weft_average_apply(m->averages, 0, NULL)};
    m->train = weft_group(m->g, "train_and_average", 2, both);
  }
  m->init = weft_initializer(m->g);
}

/* ---- training ---- */

static double accuracy(const model *m, weft_session *sess, const char *folder) {
  digits test = digits_read(folder, "t10k");
  weft_tensor *images, *labels, *right;
  double sum = 0;
  digits_batch(&images, &labels, TEST_BATCH);
  for (int64_t i = 0; i + TEST_BATCH <= test.count; i += TEST_BATCH) {
    digits_deal(&test, images, labels);
    weft_feed feeds[] = {{m->x, images}, {m->y, labels}};
    weft_must(weft_session_run(sess, 2, feeds, 1, &m->right, &right, 0, NULL));
    sum += (double)*(float *)weft_tensor_data(right);
    weft_tensor_destroy(right);
  }
  weft_tensor_destroy(images), weft_tensor_destroy(labels);
  double of = (double)(test.count / TEST_BATCH * TEST_BATCH);
  digits_drop(&test);
  return sum / of;
}

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s) {
  digits training = digits_read(s->data, "train");
  weft_tensor *images, *labels, *got[2];
  weft_err err = WEFT_OK;
  double start = seconds_now();
  digits_shuffle(&training);
  digits_batch(&images, &labels, BATCH);
  for (int64_t local = 0, global = 0; global < s->steps && !weft_supervisor_should_stop(sv); local++) {
    digits_deal(&training, images, labels);
    weft_feed feeds[] = {{m->x, images}, {m->y, labels}};
    err = weft_session_run(sess, 2, feeds, 2, (weft_out[]){m->loss, m->step}, got, 1, &m->train);
    if (err) break;
    float loss = *(float *)weft_tensor_data(got[0]);
    global = *(int64_t *)weft_tensor_data(got[1]);
    weft_tensor_destroy(got[0]), weft_tensor_destroy(got[1]);
    if (local == 0 || local % 100) continue;
    printf("After %lld training steps (%lld global steps), loss on training batch is %g.  (%.3f sec/batch)\n",
           (long long)local, (long long)global, (double)loss, (seconds_now() - start) / (double)global);
    fflush(stdout);
  }
  weft_tensor_destroy(images), weft_tensor_destroy(labels);
  digits_drop(&training);
  return err;
}

/* What the chief does with the result: it measures, and keeps it. */
static void conclude(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s) {
  printf("test accuracy %.4f\n", accuracy(m, sess, s->data));
  weft_save_opts now = {.global_step = &m->step};
  weft_must(weft_saver_save(weft_supervisor_saver(sv), sess, weft_supervisor_save_path(sv), &now, NULL));
}

static int work(weft_server *server, const settings *s) {
  char device[100];
  bool alone = strcmp(weft_server_job(server), "local") == 0, chief = weft_server_task(server) == 0;
  snprintf(device, sizeof device, "/job:%s/task:%d", weft_server_job(server), weft_server_task(server));
  srand((unsigned)weft_server_task(server) + 1);
  model m = {0};
  weft_replica *spread;
  weft_supervisor *sv;
  weft_session *sess;
  weft_must(weft_graph_create(&m.g));
  weft_must(weft_replica_create(&spread, alone ? 0 : weft_cluster_task_count(weft_server_cluster(server), "ps"), NULL,
                                device, false));
  weft_scope_replica(m.g, spread);
  build(&m, s, chief);
  weft_must(weft_graph_error(m.g));
  weft_supervisor_opts opts = {.not_chief = !chief,
                               .logdir = s->log_dir,
                               .init_op = &m.init,
                               .global_step = &m.step,
                               .save_model_secs = 60,
                               .save_summaries_secs = 60};
  weft_must(weft_supervisor_create(&sv, m.g, &opts));
  weft_must(weft_supervisor_session(&sess, sv, weft_server_target(server), NULL, NULL));
  weft_err err = loop(&m, sv, sess, s);
  bool stopped = weft_supervisor_should_stop(sv);
  if (chief && !err && !stopped) conclude(&m, sv, sess, s);
  if (err && !stopped) fprintf(stderr, "dist_mnist_async: %s\n", weft_error_message());
  weft_err end = weft_supervisor_stop(sv, false, false);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  weft_average_destroy(m.averages), weft_scope_pop(m.g), weft_replica_destroy(spread), weft_graph_destroy(m.g);
  return stopped ? 0 : err ? 1 : end != WEFT_OK;
}

int main(int argc, char **argv) {
  const char *steps = flag(argc, argv, "--training_steps"), *rate = flag(argc, argv, "--learning_rate");
  const char *data = flag(argc, argv, "--data_dir"), *log_dir = flag(argc, argv, "--log_dir");
  settings s = {data ? data : "MNIST_data", log_dir ? log_dir : "log_async", steps ? atoll(steps) : 50000,
                rate ? atof(rate) : 0.01};
  weft_server *server;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
  weft_must(weft_server_create_from_args(&server, argc, argv));
  int code = 0;
  if (strcmp(weft_server_job(server), "ps") == 0)
    code = weft_server_join(server) != WEFT_OK;
  else
    code = work(server, &s);
  weft_server_destroy(server);
  return code;
}
