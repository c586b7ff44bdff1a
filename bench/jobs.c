/* jobs.c - the bench's jobs on Weft, from C: the twin of tf_jobs.py and torch_jobs.py.
 *
 *     jobs JOB
 *
 * run.py asks it in turns with the others. */
#include "converse.h"
#include "models.h"
#include <stdlib.h>

enum { BATCH = 100, PIXELS = 784, CLASSES = 10, BATCHES = 10, MAX_VARIABLES = 16 };

typedef struct job {
  const char *name;
  weft_out (*build)(weft_graph *g, weft_out x, weft_out y); /* the node a step runs */
  bool is_fed;
  int warmup, chunk; /* steps before the start; steps between two looks at the clock */
} job;

/* ---- the models ---- */

/* A variable of the shape of another: an optimizer's slot. */
static weft_out slot(weft_graph *g, weft_out variable, double value) {
  int64_t dims[16];
  int rank = weft_out_shape(g, variable, dims);
  weft_out initial = weft_add(g, weft_zeros(g, WEFT_FLOAT, rank, dims), scalar(g, value));
  return weft_variable(g, "slot", initial, false);
}

/* ---- the optimizers ---- */

typedef weft_out apply_fn(weft_graph *g, weft_out variable, weft_out gradient, const weft_out *shared);

static weft_out apply_sgd(weft_graph *g, weft_out variable, weft_out gradient, const weft_out *shared) {
  (void)shared;
  return weft_apply_gradient_descent(g, variable, scalar(g, 0.01), gradient);
}

static weft_out apply_adagrad(weft_graph *g, weft_out variable, weft_out gradient, const weft_out *shared) {
  (void)shared;
  return weft_op_ApplyAdagrad(g, variable, slot(g, variable, 0.1), scalar(g, 0.01), gradient, NULL);
}

/* shared: the two powers of beta. */
static weft_out apply_adam(weft_graph *g, weft_out variable, weft_out gradient, const weft_out *shared) {
  return weft_op_ApplyAdam(g, variable, slot(g, variable, 0), slot(g, variable, 0), shared[0], shared[1],
                           scalar(g, 1e-4), scalar(g, 0.9), scalar(g, 0.999), scalar(g, 1e-8), gradient, NULL);
}

static weft_out minimize(weft_graph *g, weft_out logits, weft_out labels, apply_fn *apply, const weft_out *shared) {
  weft_out loss = weft_mean(g, weft_sparse_softmax_cross_entropy(g, logits, labels));
  weft_out variables[MAX_VARIABLES], gradients[MAX_VARIABLES], updates[MAX_VARIABLES];
  int n = weft_trainable(g, variables, MAX_VARIABLES);
  weft_must(weft_gradients(g, 1, &loss, NULL, n, variables, gradients));
  for (int i = 0; i < n; i++) updates[i] = apply(g, variables[i], gradients[i], shared);
  return weft_group(g, "train", n, updates);
}

/* ---- the jobs ---- */

static weft_out build_empty(weft_graph *g, weft_out x, weft_out y) {
  (void)x, (void)y;
  return weft_op_NoOp(g, NULL);
}

static weft_out build_add(weft_graph *g, weft_out x, weft_out y) {
  (void)x, (void)y;
  weft_out step = weft_variable(g, "global_step", weft_scalar(g, WEFT_INT64, 0), false);
  return weft_op_AssignAdd(g, step, weft_scalar(g, WEFT_INT64, 1), NULL);
}

static weft_out build_softmax(weft_graph *g, weft_out x, weft_out y) {
  return minimize(g, dense(g, "out", x, PIXELS, CLASSES), y, apply_adagrad, NULL);
}

static weft_out build_mlp(weft_graph *g, weft_out x, weft_out y) {
  weft_out h = weft_relu(g, dense(g, "hidden", x, PIXELS, 500));
  return minimize(g, dense(g, "out", h, 500, CLASSES), y, apply_sgd, NULL);
}

static weft_out build_cnn(weft_graph *g, weft_out x, weft_out y) {
  weft_out h = weft_reshape(g, x, WEFT_DIMS(-1, 28, 28, 1));
  h = conv_pool(g, "conv2", conv_pool(g, "conv1", h, 1, 32), 32, 64);
  h = weft_relu(g, dense(g, "hidden", weft_reshape(g, h, WEFT_DIMS(-1, 7 * 7 * 64)), 7 * 7 * 64, 1024));
  weft_out logits = dense(g, "out", h, 1024, CLASSES);
  weft_out powers[] = {weft_variable(g, "beta1_power", scalar(g, 0.9), false),
                       weft_variable(g, "beta2_power", scalar(g, 0.999), false)};
  weft_out train = minimize(g, logits, y, apply_adam, powers);
  weft_scope_push_control(g, 1, &train); /* the powers grow after they were used */
  weft_out grown[] = {weft_assign(g, powers[0], weft_mul(g, powers[0], scalar(g, 0.9))),
                      weft_assign(g, powers[1], weft_mul(g, powers[1], scalar(g, 0.999)))};
  weft_scope_pop(g);
  return weft_group(g, "step", 2, grown);
}

static const job jobs[] = {
    {"empty", build_empty, false, 10000, 100},
    {"add", build_add, false, 10000, 100},
    {"softmax", build_softmax, true, 50, 1},
    {"mlp", build_mlp, true, 50, 1},
    {"cnn", build_cnn, true, 5, 1},
};

/* ---- running ---- */

typedef struct runner {
  weft_session *sess;
  weft_out x, y, step;
  const job *job;
  weft_tensor *images[BATCHES], *labels[BATCHES];
} runner;

/* The same pixels in 0..1 and labels in every run. */
static void make_batches(runner *r) {
  srand(1);
  for (int b = 0; b < BATCHES; b++) {
    weft_must(weft_tensor_create(&r->images[b], WEFT_FLOAT, WEFT_DIMS(BATCH, PIXELS), NULL));
    weft_must(weft_tensor_create(&r->labels[b], WEFT_INT64, WEFT_DIMS(BATCH), NULL));
    float *pixels = weft_tensor_data(r->images[b]);
    int64_t *classes = weft_tensor_data(r->labels[b]);
    for (int i = 0; i < BATCH * PIXELS; i++) pixels[i] = (float)rand() / (float)RAND_MAX;
    for (int i = 0; i < BATCH; i++) classes[i] = rand() % CLASSES;
  }
}

static void run_step(void *arg, long i) {
  runner *r = arg;
  int b = (int)(i % BATCHES);
  weft_feed feeds[] = {{r->x, r->images[b]}, {r->y, r->labels[b]}};
  const weft_request request = {.n_feed = r->job->is_fed ? 2 : 0, .feeds = feeds, .n_target = 1, .targets = &r->step};
  weft_must(weft_session_run(r->sess, &request));
}

int main(int argc, char **argv) {
  runner r = {0};
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && argc == 2; i++)
    if (strcmp(jobs[i].name, argv[1]) == 0) r.job = &jobs[i];
  if (!r.job) {
    fprintf(stderr, "usage: %s empty|add|softmax|mlp|cnn\n", argv[0]);
    return 2;
  }
  weft_graph *g;
  weft_must(weft_graph_create(&g));
  r.x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, PIXELS));
  r.y = weft_input(g, "y", WEFT_INT64, WEFT_DIMS(-1));
  r.step = r.job->build(g, r.x, r.y);
  weft_out start = weft_initializer(g);
  weft_must(weft_session_create(&r.sess, g, NULL));
  weft_must(weft_session_run_target(r.sess, start));
  make_batches(&r);
  converse(&(turns){run_step, &r, r.job->warmup, r.job->chunk});

  for (int b = 0; b < BATCHES; b++) weft_tensor_destroy(r.images[b]), weft_tensor_destroy(r.labels[b]);
  weft_session_destroy(r.sess);
  weft_graph_destroy(g);
  return 0;
}
