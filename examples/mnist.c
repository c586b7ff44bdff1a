/* mnist.c - trains a network on MNIST (or any set of idx files of that shape) in one process.
 *
 *     mnist [--model softmax|mlp|cnn] [--epochs N] [--batch N] [--trace FILE] FOLDER
 *
 * FOLDER holds the four files under their usual names, gzipped or not.  Prints loss and speed as it goes and
 * the accuracy on the test images after every epoch.  Ctrl-C ends it after the step at hand.  --trace writes
 * what a step did when: `weft trace FILE` prints it. */
#include "digits.h"

enum { MAX_VARIABLES = 16 };

static volatile sig_atomic_t stopping;
static void on_stop(int number) {
  stopping = 1;
  signal(number, SIG_DFL); /* the second one leaves at once */
}

/* ---- models ---- */

static weft_out dense(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out) {
  weft_scope_push_name(g, name);
  weft_out w = weft_variable(g, "weights", weft_truncated_normal(g, WEFT_DIMS(in, out), 0.05f), true);
  weft_out b = weft_variable(g, "biases", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), true);
  weft_out y = weft_bias_add(g, weft_matmul(g, x, w), b);
  weft_scope_pop(g);
  return y;
}

static weft_out conv_pool(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out) {
  weft_scope_push_name(g, name);
  weft_out w = weft_variable(g, "weights", weft_truncated_normal(g, WEFT_DIMS(5, 5, in, out), 0.05f), true);
  weft_out b = weft_variable(g, "biases", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), true);
  weft_out y = weft_relu(g, weft_bias_add(g, weft_conv2d(g, x, w, 1, "SAME"), b));
  y = weft_max_pool(g, y, 2, 2, "SAME");
  weft_scope_pop(g);
  return y;
}

static weft_out softmax_model(weft_graph *g, weft_out x) { return dense(g, "logits", x, PIXELS, CLASSES); }

static weft_out mlp_model(weft_graph *g, weft_out x) {
  return dense(g, "logits", weft_relu(g, dense(g, "hidden", x, PIXELS, 500)), 500, CLASSES);
}

static weft_out cnn_model(weft_graph *g, weft_out x) {
  weft_out h = weft_reshape(g, x, WEFT_DIMS(-1, SIDE, SIDE, 1)); /* (n, 28, 28, 1) */
  h = conv_pool(g, "conv1", h, 1, 32);                           /* (n, 14, 14, 32) */
  h = conv_pool(g, "conv2", h, 32, 64);                          /* (n, 7, 7, 64) */
  h = weft_reshape(g, h, WEFT_DIMS(-1, 7 * 7 * 64));
  return dense(g, "logits", weft_relu(g, dense(g, "hidden", h, 7 * 7 * 64, 1024)), 1024, CLASSES);
}

static const struct {
  const char *name;
  weft_out (*build)(weft_graph *g, weft_out x);
  double rate;
} models[] = {{"softmax", softmax_model, 0.5}, {"mlp", mlp_model, 0.2}, {"cnn", cnn_model, 0.1}};
enum { MODELS = sizeof models / sizeof models[0] };

/* ---- training ---- */

typedef struct trainer {
  weft_graph *g;
  weft_session *sess;
  weft_out x, y, loss, right, train, init;
  int64_t batch;
  const char *trace;
} trainer;

static void build(trainer *t, int model) {
  weft_must(weft_graph_create(&t->g));
  weft_graph_set_seed(t->g, 1);
  t->x = weft_input(t->g, "images", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  t->y = weft_input(t->g, "labels", WEFT_INT32, WEFT_DIMS(-1));
  weft_out logits = models[model].build(t->g, t->x);
  t->loss = weft_mean(t->g, weft_sparse_softmax_cross_entropy(t->g, logits, t->y));
  weft_out guess = weft_equal(t->g, weft_cast(t->g, weft_argmax(t->g, logits, 1), WEFT_INT32), t->y);
  t->right = weft_mean(t->g, weft_cast(t->g, guess, WEFT_FLOAT));

  weft_out variables[MAX_VARIABLES], gradients[MAX_VARIABLES], updates[MAX_VARIABLES];
  weft_out rate = weft_scalar(t->g, WEFT_FLOAT, models[model].rate);
  int n = weft_trainable(t->g, variables, MAX_VARIABLES);
  weft_must(weft_gradients(t->g, 1, &t->loss, NULL, n, variables, gradients));
  for (int i = 0; i < n; i++) updates[i] = weft_apply_gradient_descent(t->g, variables[i], rate, gradients[i]);
  t->train = weft_group(t->g, "train", n, updates);
  t->init = weft_initializer(t->g);
  weft_must(weft_session_create(&t->sess, t->g, NULL));
  weft_must(weft_session_run_target(t->sess, t->init));
}

static float run_step(trainer *t, const batch *b) {
  weft_tensor *loss;
  weft_must(weft_session_run(t->sess, &(weft_request){.n_feed = 2,
                                                      .feeds = (weft_feed[]){{t->x, b->images}, {t->y, b->labels}},
                                                      .n_fetch = 1,
                                                      .fetches = &t->loss,
                                                      .fetched = &loss,
                                                      .n_target = 1,
                                                      .targets = &t->train}));
  float value = *(float *)weft_tensor_data(loss);
  weft_tensor_destroy(loss);
  return value;
}

/* One more step, whose RunMetadata goes to a file. */
static void write_trace(trainer *t, const batch *b) {
  weft_feed feeds[] = {{t->x, b->images}, {t->y, b->labels}};
  void *metadata;
  size_t size;
  weft_must(weft_session_run(t->sess, &(weft_request){.n_feed = 2,
                                                      .feeds = feeds,
                                                      .n_target = 1,
                                                      .targets = &t->train,
                                                      .trace = true,
                                                      .metadata = &metadata,
                                                      .metadata_size = &size}));
  FILE *f = fopen(t->trace, "wb");
  if (!f || fwrite(metadata, 1, size, f) != size || fclose(f) != 0) perror(t->trace), exit(1);
  weft_free(metadata);
}

static void train_epoch(trainer *t, weft_samples *from, int epoch) {
  int64_t steps = weft_samples_size(from) / t->batch;
  double start = seconds_now(), loss = 0;
  for (int64_t i = 0, since = 0; i < steps && !stopping; i++) {
    batch b = next_batch(from, t->batch);
    loss += (double)run_step(t, &b);
    if (t->trace && i + 1 == steps) write_trace(t, &b);
    batch_drop(&b);
    if (++since < 100 && i + 1 < steps) continue;
    printf("epoch %d  step %4lld/%lld  loss %.4f  %7.0f images/s\n", epoch, (long long)(i + 1), (long long)steps,
           loss / (double)since, (double)((i + 1) * t->batch) / (seconds_now() - start));
    fflush(stdout);
    loss = 0, since = 0;
  }
}

static void train(trainer *t, const char *folder, int epochs) {
  weft_samples *training, *test;
  double start, accuracy;
  weft_samples_opts opts = {.has_seed = true, .validation = -1};
  weft_must(weft_mnist_read(&training, NULL, &test, folder, &opts));
  if (weft_samples_size(training) < t->batch || weft_samples_size(test) < TEST_BATCH) {
    fprintf(stderr, "%s: too few images\n", folder);
    exit(1);
  }
  start = seconds_now();
  for (int epoch = 1; epoch <= epochs && !stopping; epoch++) {
    train_epoch(t, training, epoch);
    if (stopping) break;
    weft_must(measure(t->sess, t->x, t->y, t->right, test, &accuracy));
    printf("epoch %d  test accuracy %.4f  after %.1f s\n", epoch, accuracy, seconds_now() - start);
  }
  weft_samples_destroy(training), weft_samples_destroy(test);
}

static int usage(void) {
  fprintf(stderr, "usage: mnist [--model softmax|mlp|cnn] [--epochs N] [--batch N] [--trace FILE] FOLDER\n");
  return 2;
}

static int model_named(const char *name) {
  for (int m = 0; m < MODELS; m++)
    if (strcmp(name, models[m].name) == 0) return m;
  return -1;
}

int main(int argc, char **argv) {
  trainer t = {.batch = 100};
  int model = 1, epochs = 3;
  const char *folder = NULL;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--model") == 0)
      model = model_named(value), i++;
    else if (strcmp(argv[i], "--epochs") == 0)
      epochs = atoi(value), i++;
    else if (strcmp(argv[i], "--batch") == 0)
      t.batch = atoi(value), i++;
    else if (strcmp(argv[i], "--trace") == 0)
      t.trace = value, i++;
    else if (argv[i][0] != '-' && !folder)
      folder = argv[i];
    else
      return usage();
  }
  if (!folder || model < 0 || epochs < 1 || t.batch < 1) return usage();
  signal(SIGINT, on_stop);
  signal(SIGTERM, on_stop);
  weft_log_set(weft_log_stderr, NULL);
  build(&t, model);
  train(&t, folder, epochs);
  weft_session_destroy(t.sess);
  weft_graph_destroy(t.g);
  return 0;
}
