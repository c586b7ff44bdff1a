/* dist_mnist_async.c - workers train one network on MNIST, each at its own pace, with the variables on a ps.
 *
 *     weft launch --ps 1 --workers 3 --style task_id -- dist_mnist_async --data_dir FOLDER
 *
 * or by hand, in any order, on any machines:
 *     dist_mnist_async --job_name=ps     --task_id=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222,tf4:2222
 *     dist_mnist_async --job_name=worker --task_id=0 --ps_hosts=tf1:2222 --worker_hosts=tf2:2222,tf3:2222,tf4:2222
 *
 * 784-500-10 with L2 on the weights, a learning rate that decays, and moving averages, which worker 0 keeps.  A
 * supervisor initializes or restores, saves once a minute and recovers when a task is lost; at the end worker 0
 * measures the accuracy and saves.
 * --training_steps=N (50000), --learning_rate=R (0.01), --data_dir=FOLDER (MNIST_data), --log_dir=DIR (log_async),
 * --save_model_secs=S (60), --show_accuracy=yes (no). */
#include "digits.h"

enum { BATCH = 100, HIDDEN = 500 };

typedef struct model {
  weft_graph *g;
  weft_out x, y, loss, right, step, train, init;
  weft_average *averages;
} model;

typedef struct settings {
  const char *data, *log_dir;
  int64_t steps;
  double rate, save_secs;
  bool show; /* the accuracy, as it goes */
} settings;

/* ---- the graph ---- */

static weft_out layer(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out, weft_out *penalty) {
  weft_initial truncated = {.kind = WEFT_INIT_TRUNCATED, .b = 0.1}, zeros = {.kind = WEFT_INIT_ZEROS};
  weft_scope_push_variables(g, name, WEFT_REUSE_INHERIT, NULL);
  weft_out w = weft_get_variable(g, "weights", WEFT_FLOAT, WEFT_DIMS(in, out), &truncated, true);
  weft_out b = weft_get_variable(g, "biases", WEFT_FLOAT, WEFT_DIMS(out), &zeros, true);
  *penalty = weft_l2_regularizer(g, 0.0001, w);
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
  m->right = weft_mean(m->g, weft_cast(m->g, guess, WEFT_FLOAT));
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
  weft_must(weft_graph_error(m->g));
}

/* ---- training ---- */

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s, digits *d) {
  double start = seconds_now();
  for (int64_t local = 0; !weft_supervisor_should_stop(sv); local++) {
    weft_tensor *got[3] = {NULL};
    batch b = next_batch(d->training, BATCH);
    weft_feed feeds[] = {{m->x, b.images}, {m->y, b.labels}};
    weft_err err = weft_session_run(sess, &(weft_request){.n_feed = 2,
                                                          .feeds = feeds,
                                                          .n_fetch = s->show ? 3 : 2,
                                                          .fetches = (weft_out[]){m->loss, m->step, m->right},
                                                          .fetched = got,
                                                          .n_target = 1,
                                                          .targets = &m->train});
    batch_drop(&b);
    if (err) return err;
    float loss = *(float *)weft_tensor_data(got[0]);
    int64_t global = *(int64_t *)weft_tensor_data(got[1]);
    float right = s->show ? *(float *)weft_tensor_data(got[2]) : 0;
    for (int i = 0; i < 3; i++) weft_tensor_destroy(got[i]);
    if (global >= s->steps) break;
    if (local == 0 || local % 100) continue;
    printf("After %lld training steps (%lld global steps), loss on training batch is %g.  (%.3f sec/batch)\n",
           (long long)local, (long long)global, (double)loss, (seconds_now() - start) / (double)global);
    if (s->show) printf("training batch accuracy: %.2f\n", (double)right);
    fflush(stdout);
  }
  return WEFT_OK;
}

/* What the chief does with the result: it measures, and keeps it. */
static weft_err conclude(const model *m, weft_supervisor *sv, weft_session *sess, const digits *d) {
  double accuracy;
  weft_err err = measure(sess, m->x, m->y, m->right, d->test, &accuracy);
  if (err) return err;
  printf("test accuracy %.4f\n", accuracy);
  weft_save_opts now = {.global_step = &m->step};
  return weft_saver_save(weft_supervisor_saver(sv), sess, weft_supervisor_save_path(sv), &now, NULL);
}

static int work(weft_server *server, void *arg) {
  const settings *s = arg;
  bool chief = weft_server_task(server) == 0;
  digits d = digits_read(s->data, weft_server_task(server) + 1);
  model m = {0};
  weft_replica *spread;
  weft_supervisor *sv;
  m.g = begin_graph(server, &spread);
  build(&m, s, chief);
  weft_supervisor_opts opts = {.is_chief = chief ? WEFT_YES : WEFT_NO,
                               .logdir = s->log_dir,
                               .init_op = &m.init,
                               .global_step = &m.step,
                               .save_model_secs = s->save_secs,
                               .save_summaries_secs = 60};
  weft_must(weft_supervisor_create(&sv, m.g, &opts));
  weft_session *sess = open_session(sv, server, &(weft_session_opts){.allow_soft_placement = true});
  weft_err err = loop(&m, sv, sess, s, &d);
  bool stopped = weft_supervisor_should_stop(sv);
  if (chief && !err && !stopped) err = conclude(&m, sv, sess, &d);
  if (err && !stopped) fprintf(stderr, "dist_mnist_async: %s\n", weft_error_message());
  weft_err end = weft_supervisor_stop(sv, false, false);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  weft_average_destroy(m.averages), end_graph(m.g, spread), digits_drop(&d);
  return stopped ? 0 : err ? 1 : end != WEFT_OK;
}

int main(int argc, char **argv) {
  settings s = {.data = flag(argc, argv, "--data_dir", "MNIST_data"),
                .log_dir = flag(argc, argv, "--log_dir", "log_async"),
                .steps = atoll(flag(argc, argv, "--training_steps", "50000")),
                .rate = atof(flag(argc, argv, "--learning_rate", "0.01")),
                .save_secs = atof(flag(argc, argv, "--save_model_secs", "60")),
                .show = strcmp(flag(argc, argv, "--show_accuracy", "no"), "yes") == 0};
  return run_task(start_task(argc, argv), work, &s);
}
