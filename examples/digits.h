/* digits.h - what the programs that train on MNIST share: flags, signals, how a task begins, the images in batches.
 *
 * The images are any four idx files of MNIST's names and shape, plain or gzipped. */
#ifndef WEFT_EXAMPLES_DIGITS_H
#define WEFT_EXAMPLES_DIGITS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, TEST_BATCH = 1000 };

static inline double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "--name=value" or "--name value" among the arguments; `standard` if it is not there. */
static inline const char *flag(int argc, char **argv, const char *name, const char *standard) {
  size_t n = strlen(name);
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], name, n) != 0) continue;
    if (argv[i][n] == '=') return argv[i] + n + 1;
    if (argv[i][n] == 0 && i + 1 < argc) return argv[i + 1];
  }
  return standard;
}

/* ---- a task ---- */

static inline void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL); /* the second one leaves at once */
}

/* The log goes to stderr; the first Ctrl-C ends the loop at hand. */
static inline void begin_program(void) {
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
}

/* The server of the task that the flags (or TF_CONFIG, Slurm, MPI) name. */
static inline weft_server *start_task(int argc, char **argv) {
  weft_server *server;
  begin_program();
  weft_must(weft_server_create_from_args(&server, argc, argv));
  return server;
}

/* A ps joins until the others are done, any other task works. */
static inline int run_task(weft_server *server, int (*work)(weft_server *server, void *arg), void *arg) {
  int code = strcmp(weft_server_job(server), "ps") == 0 ? weft_server_join(server) != WEFT_OK : work(server, arg);
  weft_server_destroy(server);
  return code;
}

/* The supervised session of a worker.  One that comes when the job is over says so and ends well. */
static inline weft_session *open_session(weft_supervisor *sv, weft_server *server, const weft_session_opts *config) {
  weft_session *sess = NULL;
  weft_err err = weft_supervisor_session(&sess, sv, weft_server_target(server), config, NULL);
  if (err == WEFT_OUT_OF_RANGE) exit(0); /* the log has the reason */
  weft_must(err);
  return sess;
}

/* A graph whose variables go to the ps tasks and the rest to this one; without a cluster all is here. */
static inline weft_graph *begin_graph(weft_server *server, weft_replica **spread) {
  char device[100];
  weft_graph *g;
  bool alone = strcmp(weft_server_job(server), "local") == 0;
  int ps = alone ? 0 : weft_cluster_task_count(weft_server_cluster(server), "ps");
  snprintf(device, sizeof device, "/job:%s/task:%d", weft_server_job(server), weft_server_task(server));
  weft_must(weft_graph_create(&g));
  weft_must(weft_replica_create(spread, ps, NULL, device, false));
  weft_scope_push_replica(g, *spread);
  return g;
}

static inline void end_graph(weft_graph *g, weft_replica *spread) {
  weft_scope_pop(g), weft_replica_destroy(spread), weft_graph_destroy(g);
}

/* ---- the images ---- */

typedef struct digits {
  weft_samples *training, *validation, *test; /* floats in [0, 1], and int32 labels */
} digits;

static inline void say_file(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-ubyte", folder, name);
  printf("Extracting %s%s\n", path, access(path, F_OK) == 0 ? "" : ".gz");
}

/* The first 5000 are for validation, where there are more.  seed: of the order of the rest. */
static inline digits digits_read(const char *folder, int seed) {
  static const char *const files[] = {"train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"};
  digits d;
  weft_samples_opts opts = {.has_seed = true, .seed = (uint32_t)seed};
  for (int i = 0; i < 4; i++) say_file(folder, files[i]);
  weft_err err = weft_mnist_read(&d.training, &d.validation, &d.test, folder, &opts);
  opts.validation = -1;
  if (err == WEFT_INVALID_ARGUMENT) err = weft_mnist_read(&d.training, &d.validation, &d.test, folder, &opts);
  weft_must(err);
  fflush(stdout);
  return d;
}

static inline void digits_drop(digits *d) {
  weft_samples_destroy(d->training), weft_samples_destroy(d->validation), weft_samples_destroy(d->test);
}

typedef struct batch {
  weft_tensor *images, *labels; /* (n, 784) and (n) */
} batch;

static inline batch next_batch(weft_samples *from, int64_t n) {
  batch b;
  weft_must(weft_samples_next(from, n, &b.images, &b.labels));
  return b;
}

static inline void batch_drop(batch *b) { weft_tensor_destroy(b->images), weft_tensor_destroy(b->labels); }

/* The mean over all batches of what `right` (a mean over one) says. */
static inline weft_err measure(weft_session *sess, weft_out x, weft_out y, weft_out right, weft_samples *on,
                               double *mean) {
  int64_t n = weft_samples_size(on) / TEST_BATCH;
  weft_err err = WEFT_OK;
  *mean = 0;
  for (int64_t i = 0; i < n && !err; i++) {
    weft_tensor *got;
    batch b = next_batch(on, TEST_BATCH);
    err = weft_session_run(sess, &(weft_request){.n_feed = 2,
                                                 .feeds = (weft_feed[]){{x, b.images}, {y, b.labels}},
                                                 .n_fetch = 1,
                                                 .fetches = &right,
                                                 .fetched = &got});
    if (!err) {
      *mean += (double)*(float *)weft_tensor_data(got) / (double)n;
      weft_tensor_destroy(got);
    }
    batch_drop(&b);
  }
  return err;
}

#endif
