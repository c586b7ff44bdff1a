/* towers.c - one process, two devices: each takes its own batch, and a step applies the mean of their gradients.  (The
 * document says so and counts so; its listing gives both the same one.)
 *
 *     weft convert mnist-tfrecords FOLDER output.tfrecords
 *     towers --data_path=output.tfrecords
 *
 * The records are Examples of MNIST: image_raw (784 bytes), pixels and label; where the file is not there, it is made
 * from the images of --data_dir.  Threads of queue runners read and shuffle them. The towers ask for /gpu:0 and /gpu:1;
 * placement is soft, so that they share the CPU where those are not.  784-500-10 with L2, a learning rate that decays,
 * moving averages, histograms, checkpoints. --data_path=FILE (output.tfrecords), --data_dir=FOLDER (MNIST_data),
 * --save_path=DIR (logs_and_models), --training_steps=N (1000), --learning_rate=R (0.001). */
#include "digits.h"

enum { BATCH = 100, HIDDEN = 500, TOWERS = 2, SHUFFLED = 10000, VARIABLES = 4 };

typedef struct model {
  weft_graph *g;
  weft_out loss, train, summary, init; /* the loss of the last tower */
  weft_average *averages;
  weft_optimizer *optimizer;
  weft_saver *saver;
} model;

typedef struct settings {
  const char *data, *images, *save;
  int64_t steps;
  double rate;
} settings;

/* ---- the records ---- */

static void write_example(weft_record_writer *w, weft_tensor *image, int32_t label) {
  weft_tensor *value[3];
  int64_t numbers[] = {PIXELS, label};
  void *example;
  size_t size;
  weft_must(weft_tensor_create(&value[0], WEFT_STRING, WEFT_SCALAR, NULL));
  weft_must(weft_tensor_set_string(value[0], 0, weft_tensor_data(image), PIXELS));
  for (int i = 0; i < 2; i++) weft_must(weft_tensor_create(&value[i + 1], WEFT_INT64, WEFT_SCALAR, &numbers[i]));
  weft_must(weft_example_create(&example, &size, 3, (const char *[]){"image_raw", "pixels", "label"},
                                (const weft_tensor *const *)value));
  weft_must(weft_record_write(w, example, size));
  for (int i = 0; i < 3; i++) weft_tensor_destroy(value[i]);
  weft_free(example);
}

/* Made from the training images, in their order, under another name until it is whole. */
static void make_records(const char *path, const char *folder) {
  char part[4096];
  weft_samples *all;
  weft_record_writer *w;
  weft_samples_opts opts = {.bytes = true, .shuffle = WEFT_NO, .validation = -1};
  snprintf(part, sizeof part, "%s.part", path);
  printf("%s is not there: it is made from the images in %s\n", path, folder);
  fflush(stdout);
  weft_must(weft_mnist_read(&all, NULL, NULL, folder, &opts));
  weft_must(weft_record_writer_create(&w, part));
  for (int64_t i = 0, n = weft_samples_size(all); i < n; i++) {
    batch b = next_batch(all, 1);
    write_example(w, b.images, *(int32_t *)weft_tensor_data(b.labels));
    batch_drop(&b);
    if ((i + 1) % 20000 == 0)
      printf("%s: %lld of %lld Examples\n", path, (long long)i + 1, (long long)n), fflush(stdout);
  }
  weft_must(weft_record_writer_close(w));
  if (rename(part, path) != 0) perror(path), exit(1);
  weft_samples_destroy(all);
}

/* ---- the input: batches of images and labels, out of a queue ---- */

/* An empty default: the feature must be there. */
static weft_out required(weft_graph *g, weft_dtype type) {
  weft_tensor *none;
  weft_must(weft_tensor_create(&none, type, WEFT_DIMS(0), NULL));
  weft_out constant = weft_constant(g, none);
  weft_tensor_destroy(none);
  return constant;
}

/* Output i of images and of labels is for tower i. */
static void read_batches(weft_graph *g, const char *path, weft_out *images, weft_out *labels) {
  weft_out files = weft_string_input_producer(g, WEFT_NONE, 1, &path, NULL);
  weft_out reader = weft_op(g, "TFRecordReaderV2", NULL, 0, NULL, NULL);
  weft_out record = weft_op(g, "ReaderReadV2", NULL, 2, (weft_out[]){reader, files}, NULL);
  weft_out parts[] = {{record.node, 1}, required(g, WEFT_STRING), required(g, WEFT_INT64)};
  weft_out image = weft_op(g, "ParseSingleExample", NULL, 3, parts,
                           "num_sparse=0 sparse_keys=[] sparse_types=[] dense_keys=['image_raw','label'] "
                           "Tdense=[string,int64] dense_shapes=[[],[]]");
  weft_out label = weft_cast(g, weft_out_at(image, 1), WEFT_INT32);
  image = weft_op(g, "DecodeRaw", NULL, 1, &image, "out_type=uint8");
  image = weft_cast(g, weft_reshape(g, image, WEFT_DIMS(PIXELS)), WEFT_FLOAT);
  weft_batch_opts opts = {
      .batch_size = BATCH * TOWERS, .capacity = SHUFFLED + 3 * BATCH * TOWERS, .min_after_dequeue = SHUFFLED};
  weft_out dealt = weft_shuffle_batch(g, 2, (weft_out[]){image, label}, &opts);
  weft_out axis = weft_scalar(g, WEFT_INT32, 0), each_label = {dealt.node, 1};
  *images = weft_op(g, "Split", NULL, 2, (weft_out[]){axis, dealt}, "num_split=2");
  *labels = weft_op(g, "Split", NULL, 2, (weft_out[]){axis, each_label}, "num_split=2");
}

/* ---- the graph ---- */

static weft_out layer(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out, weft_out *penalty) {
  weft_initial truncated = {.kind = WEFT_INIT_TRUNCATED, .b = 0.1}, zeros = {.kind = WEFT_INIT_ZEROS};
  weft_scope_push_variables(g, name, WEFT_REUSE_AUTO, NULL); /* the second tower finds those of the first */
  weft_out w = weft_get_variable(g, "weights", WEFT_FLOAT, WEFT_DIMS(in, out), &truncated, true);
  weft_out b = weft_get_variable(g, "biases", WEFT_FLOAT, WEFT_DIMS(out), &zeros, true);
  *penalty = weft_l2_regularizer(g, 0.0001, w);
  weft_out y = weft_add(g, weft_matmul(g, x, w), b);
  weft_scope_pop(g);
  return y;
}

static weft_out tower(weft_graph *g, int i, weft_out images, weft_out labels) {
  char device[32], name[32];
  weft_out penalty[2];
  snprintf(device, sizeof device, "/gpu:%d", i);
  snprintf(name, sizeof name, "GPU_%d", i);
  weft_scope_push_device(g, device), weft_scope_push_name(g, name);
  weft_out hidden = weft_relu(g, layer(g, "layer1", images, PIXELS, HIDDEN, &penalty[0]));
  weft_out logits = layer(g, "layer2", hidden, HIDDEN, CLASSES, &penalty[1]);
  weft_out entropy = weft_mean(g, weft_sparse_softmax_cross_entropy(g, logits, labels));
  weft_out loss = weft_add(g, entropy, weft_add(g, penalty[0], penalty[1]));
  weft_scope_pop(g), weft_scope_pop(g);
  return loss;
}

static weft_gradient mean_of_towers(weft_graph *g, weft_gradient d[TOWERS][VARIABLES], int variable) {
  weft_out each[TOWERS];
  for (int i = 0; i < TOWERS; i++) each[i] = d[i][variable].dense;
  weft_out all = weft_op(g, "Pack", NULL, TOWERS, each, "axis=0");
  weft_out mean = weft_op(g, "Mean", NULL, 2, (weft_out[]){all, weft_scalar(g, WEFT_INT32, 0)}, NULL);
  return (weft_gradient){mean, WEFT_NONE, WEFT_NONE, WEFT_NONE};
}

static void describe(weft_graph *g, weft_out variable, weft_out gradient) {
  char name[200];
  const char *of = weft_node_name(weft_graph_node(g, variable.node));
  snprintf(name, sizeof name, "gradients_on_average/%s", of);
  weft_summary_histogram(g, name, gradient, NULL);
  weft_summary_histogram(g, of, variable, NULL);
}

static void build(model *m, const settings *s) {
  weft_graph *g = m->g;
  weft_out images, labels, variables[VARIABLES];
  weft_gradient d[TOWERS][VARIABLES], mean[VARIABLES];
  weft_scope_push_device(g, "/cpu:0"); /* all but the towers */
  read_batches(g, s->data, &images, &labels);
  weft_must(weft_graph_error(g));
  weft_out step = weft_global_step_make(g);
  weft_out rate = weft_exponential_decay(g, NULL, s->rate, step, 60000 / BATCH, 0.99, false);
  weft_must(weft_optimizer_create(&m->optimizer, g, "GradientDescent", NULL));
  weft_must(weft_optimizer_set_output(m->optimizer, "learning_rate", rate));
  for (int i = 0; i < TOWERS; i++) {
    m->loss = tower(g, i, weft_out_at(images, i), weft_out_at(labels, i));
    weft_must(weft_graph_error(g));
    weft_trainable(g, variables, VARIABLES);
    weft_must(weft_optimizer_compute(m->optimizer, m->loss, VARIABLES, variables, NULL, d[i]));
  }
  for (int v = 0; v < VARIABLES; v++) {
    mean[v] = mean_of_towers(g, d, v);
    describe(g, variables[v], mean[v].dense);
  }
  weft_must(weft_average_create(&m->averages, g, NULL, 0.99, step, false));
  weft_out both[] = {weft_optimizer_apply(m->optimizer, VARIABLES, variables, mean, step, NULL),
                     weft_average_apply(m->averages, 0, NULL)};
  m->train = weft_group(g, "train", 2, both);
  m->summary = weft_summary_merge_all(g, NULL, NULL, NULL);
  weft_must(weft_saver_create(&m->saver, g, NULL));
  m->init = weft_initializer(g);
  weft_scope_pop(g);
  weft_must(weft_graph_error(g));
}

/* ---- training ---- */

static void report(int64_t step, float loss, double seconds) {
  char date[40];
  struct timespec now;
  struct tm parts;
  clock_gettime(CLOCK_REALTIME, &now);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&now.tv_sec, &parts));
  printf("%s.%06ld: step %lld, loss = %.2f (%.1f examples/sec; %.3f sec/batch)\n", date, now.tv_nsec / 1000,
         (long long)step, (double)loss, BATCH * TOWERS / seconds, seconds / TOWERS);
  fflush(stdout);
}

static weft_err summarize(const model *m, weft_session *sess, weft_event_writer *events, int64_t step) {
  weft_tensor *summary;
  const char *bytes;
  size_t size;
  weft_err err = weft_session_fetch(&summary, sess, m->summary);
  if (err) return err;
  err = weft_tensor_string(summary, 0, &bytes, &size);
  if (!err) err = weft_event_writer_add_summary(events, bytes, size, step);
  weft_tensor_destroy(summary);
  return err;
}

static weft_err loop(const model *m, weft_session *sess, weft_coordinator *threads, weft_event_writer *events,
                     const settings *s) {
  char path[4096];
  weft_tensor *loss;
  weft_err err = WEFT_OK;
  snprintf(path, sizeof path, "%s/model.ckpt", s->save);
  for (int64_t step = 0; step < s->steps && !err && !weft_coordinator_should_stop(threads); step++) {
    double start = seconds_now();
    err = weft_session_run(
        sess,
        &(weft_request){.n_fetch = 1, .fetches = &m->loss, .fetched = &loss, .n_target = 1, .targets = &m->train});
    if (err) break;
    if (step != 0 && step % 10 == 0) {
      report(step, *(float *)weft_tensor_data(loss), seconds_now() - start);
      err = summarize(m, sess, events, step);
    }
    weft_tensor_destroy(loss);
    weft_save_opts now = {.step = &step};
    if (!err && (step % 1000 == 0 || step + 1 == s->steps)) err = weft_saver_save(m->saver, sess, path, &now, NULL);
  }
  return err;
}

static weft_err train(const model *m, const settings *s) {
  weft_session *sess;
  weft_coordinator *threads;
  weft_event_writer *events;
  weft_session_opts opts = {.allow_soft_placement = true, .log_device_placement = true};
  weft_must(weft_session_create(&sess, m->g, &opts));
  weft_must(weft_session_run_target(sess, m->init));
  weft_must(weft_coordinator_create(&threads, 0, NULL));
  weft_must(weft_queue_runners_start(sess, threads, NULL, NULL));
  weft_must(weft_event_writer_create(&events, s->save, &(weft_event_writer_opts){.graph = m->g}));
  weft_err err = loop(m, sess, threads, events, s);
  bool stopped = weft_coordinator_should_stop(threads); /* by a signal, or by a reader that failed */
  if (err && !stopped) fprintf(stderr, "towers: %s\n", weft_error_message());
  weft_coordinator_request_stop(threads, WEFT_OK);
  weft_err end = weft_coordinator_join(threads, 0, false);
  if (end) fprintf(stderr, "towers: %s\n", weft_error_message());
  weft_coordinator_destroy(threads), weft_event_writer_destroy(events), weft_session_destroy(sess);
  return end ? end : stopped ? WEFT_OK : err;
}

int main(int argc, char **argv) {
  settings s = {.data = flag(argc, argv, "--data_path", "output.tfrecords"),
                .images = flag(argc, argv, "--data_dir", "MNIST_data"),
                .save = flag(argc, argv, "--save_path", "logs_and_models"),
                .steps = atoll(flag(argc, argv, "--training_steps", "1000")),
                .rate = atof(flag(argc, argv, "--learning_rate", "0.001"))};
  model m = {0};
  begin_program();
  if (access(s.data, F_OK) != 0) make_records(s.data, s.images);
  weft_must(weft_graph_create(&m.g));
  build(&m, &s);
  weft_err err = train(&m, &s);
  weft_saver_destroy(m.saver), weft_average_destroy(m.averages), weft_optimizer_destroy(m.optimizer);
  weft_graph_destroy(m.g);
  return err != WEFT_OK;
}
