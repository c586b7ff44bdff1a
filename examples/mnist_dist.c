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

enum { BATCH = 100 };

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

static weft_err loop(const model *m, weft_supervisor *sv, weft_session *sess, const settings *s, digits *d) {
  weft_out all[] = {m->loss, m->step, m->summary};
  weft_err err = WEFT_OK;
  for (int64_t step = 0; step < s->steps && !err && !weft_supervisor_should_stop(sv);) {
    weft_tensor *got[3];
    const char *bytes;
    size_t size;
    batch b = next_batch(d->training, BATCH);
    err = weft_session_run(sess, &(weft_request){.n_feed = 2,
                                                 .feeds = (weft_feed[]){{m->x, b.images}, {m->y, b.labels}},
                                                 .n_fetch = 3,
                                                 .fetches = all,
                                                 .fetched = got,
                                                 .n_target = 1,
                                                 .targets = &m->train});
    batch_drop(&b);
    if (err) break;
    step = *(int64_t *)weft_tensor_data(got[1]);
    if (step % 100 == 0) printf("step %lld: loss %.4f\n", (long long)step, (double)*(float *)weft_tensor_data(got[0]));
    if (s->task == 0 && step % 100 == 0 && weft_tensor_string(got[2], 0, &bytes, &size) == WEFT_OK)
      err = weft_supervisor_add_summary(sv, sess, bytes, size, &step);
    for (int i = 0; i < 3; i++) weft_tensor_destroy(got[i]);
  }
  return err;
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
  settings *s = arg;
  s->task = weft_server_task(server);
  digits d = digits_read(s->data, s->task + 1);
  model m = {0};
  weft_replica *spread;
  weft_supervisor *sv;
  m.g = begin_graph(server, &spread);
  build(&m, s);
  weft_supervisor_opts opts = {.is_chief = s->task == 0 ? WEFT_YES : WEFT_NO,
                               .logdir = s->log_dir,
                               .init_op = &m.init,
                               .global_step = &m.step,
                               .save_model_secs = 600,
                               .save_summaries_secs = -1}; /* the loop does that: a summary needs a batch */
  weft_must(weft_supervisor_create(&sv, m.g, &opts));
  weft_session *sess = open_session(sv, server, NULL);
  weft_err err = loop(&m, sv, sess, s, &d);
  bool stopped = weft_supervisor_should_stop(sv); /* by a signal */
  if (!err && !stopped && s->task == 0) err = conclude(&m, sv, sess, &d);
  if (err && !stopped) fprintf(stderr, "mnist_dist: %s\n", weft_error_message());
  weft_err end = weft_supervisor_stop(sv, false, false);
  weft_supervisor_destroy(sv), weft_session_destroy(sess);
  end_graph(m.g, spread), digits_drop(&d);
  return stopped ? 0 : err || end;
}

int main(int argc, char **argv) {
  settings s = {.data = flag(argc, argv, "--data_dir", "MNIST_data"),
                .log_dir = flag(argc, argv, "--log_dir", "train_logs"),
                .steps = atoll(flag(argc, argv, "--train_steps", "5000")),
                .rate = atof(flag(argc, argv, "--learning_rate", "0.01"))};
  return run_task(start_task(argc, argv), work, &s);
}
