/* docker_example.c - the example of the Nvidia Docker walk-through: one ps, two workers, epochs of 550 batches.
 *
 *     weft launch --ps 1 --workers 2 -- docker_example --data_dir FOLDER
 *
 * or by hand, in any order, on any machines:
 *     docker_example --workers=172.31.8.107:2222,172.31.8.108:2222 --parameter_servers=172.31.21.167:2222
 *                    --job_name=worker --task_index=0
 *
 * 784-100-10 with sigmoids and plain gradient descent at a rate of 0.0005, which learns slowly; so does the original.
 * Where each node was placed is printed first; worker 0 writes summaries.
 * --data_dir=FOLDER (MNIST_data), --log_dir=DIR (docker_logs), --training_epochs=N (20), --learning_rate=R (0.0005). */
#include "digits.h"

enum { BATCH = 100, HIDDEN = 100, FREQUENCY = 100, BATCHES = 550 };

typedef struct model {
  weft_graph *g;
  weft_out x, y, loss, right, step, train, summary, init;
} model;

typedef struct settings {
  const char *data, *log_dir;
  int epochs, task;
  double rate;
} settings;

/* ---- the graph ---- */

static weft_out layer(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out) {
  weft_initial normal = {.kind = WEFT_INIT_NORMAL, .b = 1}, zeros = {.kind = WEFT_INIT_ZEROS};
  weft_scope_push_variables(g, name, WEFT_REUSE_INHERIT, NULL);
  weft_out w = weft_get_variable(g, "W", WEFT_FLOAT, WEFT_DIMS(in, out), &normal, true);
  weft_out b = weft_get_variable(g, "b", WEFT_FLOAT, WEFT_DIMS(out), &zeros, true);
  weft_out y = weft_bias_add(g, weft_matmul(g, x, weft_variable_value(g, w)), weft_variable_value(g, b));
  weft_scope_pop(g);
  return y;
}

static void build(model *m, const settings *s) {
  weft_graph *g = m->g;
  weft_optimizer *o;
  m->step = weft_global_step_make(g);
  m->x = weft_input(g, "x-input", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  m->y = weft_input(g, "y-input", WEFT_INT32, WEFT_DIMS(-1));
  weft_out sum = layer(g, "hidden", m->x, PIXELS, HIDDEN), hidden = weft_op(g, "Sigmoid", NULL, 1, &sum, NULL);
  weft_out logits = layer(g, "softmax", hidden, HIDDEN, CLASSES);
  weft_out guess = weft_equal(g, weft_cast(g, weft_argmax(g, logits, 1), WEFT_INT32), m->y);
  m->right = weft_mean(g, weft_cast(g, guess, WEFT_FLOAT));
  m->loss = weft_loss(g, "sparse_softmax_cross_entropy", m->y, logits, NULL);
  weft_must(weft_optimizer_create(&o, g, "GradientDescent", NULL));
  weft_must(weft_optimizer_set(o, "learning_rate", s->rate));
  m->train = weft_optimizer_minimize(o, m->loss, m->step, 0, NULL, NULL, NULL);
  weft_optimizer_destroy(o);
  weft_out both[] = {weft_summary_scalar(g, "cost", m->loss, NULL), weft_summary_scalar(g, "accuracy", m->right, NULL)};
  m->summary = weft_summary_merge(g, NULL, 2, both, NULL);
  m->init = weft_initializer(g);
  weft_must(weft_graph_error(g));
}

/* ---- training ---- */

/* One step; what it cost, and the global step. */
static weft_err train(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s, const batch *b,
                      float *cost, int64_t *step) {
  weft_feed feeds[] = {{m->x, b->images}, {m->y, b->labels}};
  weft_out all[] = {m->loss, m->step, m->summary};
  weft_tensor *got[3];
  const char *bytes;
  size_t size;
  weft_err err = weft_session_run(sess, &(weft_request){.n_feed = 2,
                                                        .feeds = feeds,
                                                        .n_fetch = 3,
                                                        .fetches = all,
                                                        .fetched = got,
                                                        .n_target = 1,
                                                        .targets = &m->train});
  if (err) return err;
  *cost = *(float *)weft_tensor_data(got[0]);
  *step = *(int64_t *)weft_tensor_data(got[1]);
  err = weft_tensor_string(got[2], 0, &bytes, &size);
  if (!err && s->task == 0) err = weft_supervisor_add_summary(sv, sess, bytes, size, step);
  for (int i = 0; i < 3; i++) weft_tensor_destroy(got[i]);
  return err;
}

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s, digits *d,
                     float *cost) {
  int64_t step;
  weft_err err = WEFT_OK;
  double start = seconds_now();
  for (int i = 0; i < s->epochs * BATCHES && !err && !weft_supervisor_should_stop(sv); i++) {
    int count = i % BATCHES + 1;
    batch b = next_batch(d->training, BATCH);
    err = train(m, sv, sess, s, &b, cost, &step);
    batch_drop(&b);
    if (err || (count % FREQUENCY && count != BATCHES)) continue;
    double elapsed = seconds_now() - start;
    start = seconds_now();
    printf("Step: %lld,  Epoch: %2d,  Batch: %3d of %3d,  Cost: %.4f,  AvgTime: %3.2fms\n", (long long)step + 1,
           i / BATCHES + 1, count, BATCHES, (double)*cost, elapsed * 1000 / FREQUENCY);
    fflush(stdout);
  }
  return err;
}

static weft_err supervise(const model *m, weft_server *server, const settings *s, digits *d) {
  weft_supervisor *sv;
  float cost = 0;
  double begin = seconds_now(), accuracy = 0;
  weft_supervisor_opts opts = {.is_chief = s->task == 0 ? WEFT_YES : WEFT_NO,
                               .logdir = s->log_dir,
                               .init_op = &m->init,
                               .global_step = &m->step,
                               .save_summaries_secs = -1}; /* the loop does that: a summary needs a batch */
  weft_must(weft_supervisor_create(&sv, m->g, &opts));
  weft_session *sess = open_session(sv, server, &(weft_session_opts){.log_device_placement = true});
  weft_err err = loop(m, sv, sess, s, d, &cost);
  bool stopped = weft_supervisor_should_stop(sv); /* by a signal */
  if (!err && !stopped) err = measure(sess, m->x, m->y, m->right, d->test, &accuracy);
  if (!err && !stopped)
    printf("Test-Accuracy: %2.2f\nTotal Time: %3.2fs\nFinal Cost: %.4f\n", accuracy, seconds_now() - begin,
           (double)cost);
  if (err && !stopped) fprintf(stderr, "docker_example: %s\n", weft_error_message());
  weft_err end = weft_supervisor_stop(sv, false, false);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  if (!err && !end) printf("done\n");
  return stopped ? WEFT_OK : err ? err : end;
}

static int work(weft_server *server, void *arg) {
  settings *s = arg;
  s->task = weft_server_task(server);
  digits d = digits_read(s->data, s->task + 1);
  model m = {0};
  weft_replica *spread;
  m.g = begin_graph(server, &spread);
  build(&m, s);
  weft_err err = supervise(&m, server, s, &d);
  end_graph(m.g, spread), digits_drop(&d);
  return err != WEFT_OK;
}

int main(int argc, char **argv) {
  settings s = {.data = flag(argc, argv, "--data_dir", "MNIST_data"),
                .log_dir = flag(argc, argv, "--log_dir", "docker_logs"),
                .epochs = atoi(flag(argc, argv, "--training_epochs", "20")),
                .rate = atof(flag(argc, argv, "--learning_rate", "0.0005"))};
  return run_task(start_task(argc, argv), work, &s);
}
