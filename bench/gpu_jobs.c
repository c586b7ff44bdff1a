/* gpu_jobs.c - the models of the GPU's table on Weft: steps a second, and what that is in TFLOP/s where it matters.
 *
 *     gpu_jobs [SECONDS] [JOB...]
 *
 * mlp: 784-500-10 relu, batch 100, SGD with L2 and averages, data on the device; mlp_fed: the same, fed in each step;
 * cnn: the bench's, Adam, data on the device; wide: three layers of 4096, batch 4096; resnet, resnet_bf16: ResNet-50,
 * batch 64, momentum, in float and in bfloat16. */
#include "models.h"
#include "resnet.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLASSES = 10, MAX_VARIABLES = 256 };

typedef struct job {
  const char *name;
  int64_t batch, pixels;
  bool is_fed;
  weft_out (*build)(weft_graph *g, weft_out x, weft_out y);
  double flop; /* of a step's products; 0: not told */
  bool images; /* tell how many a second */
} job;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static weft_out loss_of(weft_graph *g, weft_out logits, weft_out labels) {
  return weft_mean(g, weft_sparse_softmax_cross_entropy(g, logits, labels));
}

static int differentiate(weft_graph *g, weft_out loss, weft_out *variables, weft_out *gradients) {
  int n = weft_trainable(g, variables, MAX_VARIABLES);
  weft_must(weft_gradients(g, 1, &loss, NULL, n, variables, gradients));
  return n;
}

static weft_out descend(weft_graph *g, weft_out loss) {
  weft_out v[MAX_VARIABLES], d[MAX_VARIABLES], updates[MAX_VARIABLES];
  int n = differentiate(g, loss, v, d);
  for (int i = 0; i < n; i++) updates[i] = weft_apply_gradient_descent(g, v[i], scalar(g, 0.01), d[i]);
  return weft_group(g, "train", n, updates);
}

/* average -= (average - variable) * (1 - decay), after the update */
static weft_out with_averages(weft_graph *g, weft_out train) {
  weft_out v[MAX_VARIABLES], updates[MAX_VARIABLES];
  int n = weft_trainable(g, v, MAX_VARIABLES), rank;
  int64_t dims[16];
  weft_scope_push_control(g, 1, &train);
  for (int i = 0; i < n; i++) {
    rank = weft_out_shape(g, v[i], dims);
    weft_out average = weft_variable(g, "average", weft_zeros(g, WEFT_FLOAT, rank, dims), false);
    weft_out apart = weft_sub(g, average, v[i]);
    updates[i] = weft_op_AssignSub(g, average, weft_mul(g, apart, scalar(g, 0.01)), NULL);
  }
  weft_scope_pop(g);
  return weft_group(g, "step", n, updates);
}

static weft_out build_mlp(weft_graph *g, weft_out x, weft_out y) {
  weft_out logits = dense(g, "out", weft_relu(g, dense(g, "hidden", x, 784, 500)), 500, CLASSES);
  weft_out v[MAX_VARIABLES];
  weft_trainable(g, v, MAX_VARIABLES);
  weft_out weights = weft_add(g, weft_op_L2Loss(g, v[0], NULL), weft_op_L2Loss(g, v[2], NULL));
  weft_out loss = weft_add(g, loss_of(g, logits, y), weft_mul(g, weights, scalar(g, 1e-4)));
  return with_averages(g, descend(g, loss));
}

static weft_out slot(weft_graph *g, weft_out variable) {
  int64_t dims[16];
  int rank = weft_out_shape(g, variable, dims);
  return weft_variable(g, "slot", weft_zeros(g, WEFT_FLOAT, rank, dims), false);
}

static weft_out build_cnn(weft_graph *g, weft_out x, weft_out y) {
  weft_out h = weft_reshape(g, x, WEFT_DIMS(-1, 28, 28, 1));
  h = conv_pool(g, "conv2", conv_pool(g, "conv1", h, 1, 32), 32, 64);
  h = weft_relu(g, dense(g, "hidden", weft_reshape(g, h, WEFT_DIMS(-1, 7 * 7 * 64)), 7 * 7 * 64, 1024));
  weft_out loss = loss_of(g, dense(g, "out", h, 1024, CLASSES), y), power[] = {scalar(g, 0.9), scalar(g, 0.999)};
  weft_out v[MAX_VARIABLES], d[MAX_VARIABLES], updates[MAX_VARIABLES], grown[2];
  int n = differentiate(g, loss, v, d);
  for (int i = 0; i < 2; i++) power[i] = weft_variable(g, "power", power[i], false);
  for (int i = 0; i < n; i++)
    updates[i] = weft_op_ApplyAdam(g, v[i], slot(g, v[i]), slot(g, v[i]), power[0], power[1], scalar(g, 1e-4),
                                   scalar(g, 0.9), scalar(g, 0.999), scalar(g, 1e-8), d[i], NULL);
  weft_out train = weft_group(g, "train", n, updates);
  weft_scope_push_control(g, 1, &train);
  grown[0] = weft_assign(g, power[0], weft_mul(g, power[0], scalar(g, 0.9)));
  grown[1] = weft_assign(g, power[1], weft_mul(g, power[1], scalar(g, 0.999)));
  weft_scope_pop(g);
  return weft_group(g, "step", 2, grown);
}

static weft_out build_wide(weft_graph *g, weft_out x, weft_out y) {
  (void)y;
  weft_out h = x;
  static const char *const names[] = {"one", "two", "three"};
  for (int i = 0; i < 3; i++) h = weft_relu(g, dense(g, names[i], h, 4096, 4096));
  return descend(g, weft_mean(g, weft_square(g, h)));
}

static weft_out train_resnet(weft_graph *g, weft_out x, weft_out y, weft_dtype type) {
  static resnet r;
  r = (resnet){.g = g, .type = type};
  weft_out v[MAX_VARIABLES], d[MAX_VARIABLES], updates[MAX_VARIABLES + RESNET_STATISTICS];
  int n = differentiate(g, loss_of(g, resnet_logits(&r, x), y), v, d), all = 0;
  for (int i = 0; i < n; i++)
    updates[all++] = weft_op_ApplyMomentum(g, v[i], slot(g, v[i]), scalar(g, 0.01), d[i], scalar(g, 0.9), NULL);
  for (int i = 0; i < r.n_statistic; i++) {
    weft_out apart = weft_sub(g, r.statistic[i], r.now[i]);
    updates[all++] = weft_op_AssignSub(g, r.statistic[i], weft_mul(g, apart, scalar(g, 0.1)), NULL);
  }
  return weft_group(g, "train", all, updates);
}

static weft_out build_resnet(weft_graph *g, weft_out x, weft_out y) { return train_resnet(g, x, y, WEFT_FLOAT); }
static weft_out build_resnet_bf16(weft_graph *g, weft_out x, weft_out y) {
  return train_resnet(g, x, y, WEFT_BFLOAT16);
}

static const job jobs[] = {
    {"mlp", 100, 784, false, build_mlp, 0, false},
    {"mlp_fed", 100, 784, true, build_mlp, 0, false},
    {"cnn", 100, 784, false, build_cnn, 0, false},
    {"wide", 4096, 4096, false, build_wide, 8.0 * 2 * 4096 * 4096 * 4096, false},
    {"resnet", 64, RESNET_SIDE *RESNET_SIDE * 3, false, build_resnet, 0, true},
    {"resnet_bf16", 64, RESNET_SIDE *RESNET_SIDE * 3, false, build_resnet_bf16, 0, true},
};

static void fill(float *at, int64_t n) {
  for (int64_t i = 0; i < n; i++) at[i] = (float)rand() / (float)RAND_MAX;
}

static void run_job(const job *j, double seconds) {
  weft_graph *g;
  weft_session *sess;
  weft_tensor *images, *labels;
  weft_must(weft_graph_create(&g));
  weft_must(weft_tensor_create(&images, WEFT_FLOAT, WEFT_DIMS(j->batch, j->pixels), NULL));
  weft_must(weft_tensor_create(&labels, WEFT_INT64, WEFT_DIMS(j->batch), NULL));
  fill(weft_tensor_data(images), j->batch * j->pixels);
  for (int64_t i = 0; i < j->batch; i++) ((int64_t *)weft_tensor_data(labels))[i] = rand() % CLASSES;
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(j->batch, j->pixels));
  weft_out y = weft_input(g, "y", WEFT_INT64, WEFT_DIMS(j->batch));
  weft_feed feeds[] = {{x, images}, {y, labels}};
  weft_out data[2] = {x, y};
  if (!j->is_fed) {
    data[0] = weft_variable(g, "images", x, false);
    data[1] = weft_variable(g, "labels", y, false);
  }
  weft_out step = j->build(g, data[0], data[1]), start = weft_initializer(g);
  weft_must(weft_session_create(&sess, g, NULL));
  weft_must(weft_session_run(sess, &(weft_request){.n_feed = 2, .feeds = feeds, .n_target = 1, .targets = &start}));
  long steps = 0;
  double begin = 0, end = 0;
  for (int warm = 20; warm >= 0 || end - begin < seconds; warm--) {
    const weft_request request = {.n_feed = j->is_fed ? 2 : 0, .feeds = feeds, .n_target = 1, .targets = &step};
    weft_must(weft_session_run(sess, &request));
    if (warm == 0) begin = now();
    if (warm < 0) steps++;
    end = now();
  }
  const double rate = (double)steps / (end - begin);
  printf("%-11s %9.1f steps/s", j->name, rate);
  if (j->images) printf("  %6.0f images/s", rate * (double)j->batch);
  if (j->flop > 0) printf("  %6.1f TFLOP/s", rate * j->flop * 1e-12);
  puts("");
  fflush(stdout);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  weft_tensor_destroy(images), weft_tensor_destroy(labels);
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 3;
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    bool asked = argc <= 2;
    for (int a = 2; a < argc; a++) asked = asked || strcmp(argv[a], jobs[i].name) == 0;
    if (asked) run_job(&jobs[i], seconds);
  }
  return 0;
}
