/* cluster_jobs.c - the bench's cluster jobs on Weft, from C: the twin of cluster_task.py and hello.py.
 *
 *     cluster_jobs JOB --ps_hosts=A,B --worker_hosts=C,D --job_name=ps|worker --task_index=N
 *     cluster_jobs hello
 *
 * A ps serves until the workers have left; a worker is asked in turns by run.py. */
#include "converse.h"
#include <stdlib.h>
#include <unistd.h>
#include <weft/ops.h>

enum { MAX_FETCH = 8, MIB = 1 << 20, WARMUP = 20 };

typedef struct worker {
  weft_graph *g;
  weft_session *sess;
  weft_out x, y;    /* what linear feeds */
  weft_tensor *one; /* the value fed */
  int n_feed, n_fetch, n_target;
  weft_out fetches[MAX_FETCH], target;
  int away_us;
} worker;

typedef struct job {
  const char *name;
  void (*build)(worker *w, int64_t mib);
  int64_t mib;
  int away_us; /* of each step: what the worker would compute, on a machine of its own */
} job;

/* ---- the graphs ---- */

static void build_null(worker *w, int64_t mib) {
  (void)mib;
  weft_out one = weft_scalar(w->g, WEFT_INT64, 1);
  w->fetches[w->n_fetch++] = weft_op_AssignAdd(w->g, weft_global_step_make(w->g), one, NULL);
}

/* Two scalars on the ps, fed two scalars, and all of it fetched. */
static void build_linear(worker *w, int64_t mib) {
  (void)mib;
  weft_graph *g = w->g;
  w->x = weft_input(g, "x", WEFT_FLOAT, WEFT_SCALAR), w->y = weft_input(g, "y", WEFT_FLOAT, WEFT_SCALAR);
  weft_out slope = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out shift = weft_variable(g, "b", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out step = weft_global_step_make(g);
  weft_out loss = weft_square(g, weft_sub(g, weft_add(g, weft_mul(g, slope, w->x), shift), w->y));
  weft_optimizer *descent;
  weft_must(weft_optimizer_create(&descent, g, "GradientDescent", NULL));
  weft_must(weft_optimizer_set(descent, "learning_rate", 0.01));
  w->target = weft_optimizer_minimize(descent, loss, step, 0, NULL, NULL, NULL);
  weft_optimizer_destroy(descent);
  weft_must(weft_tensor_create(&w->one, WEFT_FLOAT, WEFT_SCALAR, &(float){1}));
  w->n_feed = 2, w->n_target = 1, w->n_fetch = 4;
  memcpy(w->fetches, (weft_out[]){loss, slope, shift, step}, 4 * sizeof *w->fetches);
}

/* A variable on the ps, of which the worker needs all to find the last element. */
static void build_receive(worker *w, int64_t mib) {
  weft_graph *g = w->g;
  int64_t count = mib * MIB / 4;
  weft_out v = weft_get_variable(g, "v", WEFT_FLOAT, WEFT_DIMS(count), &(weft_initial){.kind = WEFT_INIT_ONES}, true);
  weft_out begin = weft_reshape(g, weft_scalar(g, WEFT_INT64, (double)(count - 1)), WEFT_DIMS(1));
  weft_out size = weft_reshape(g, weft_scalar(g, WEFT_INT64, 1), WEFT_DIMS(1));
  weft_global_step_make(g);
  w->fetches[w->n_fetch++] = weft_op_Slice(g, weft_op_Identity(g, v, NULL), begin, size, NULL);
}

static const job jobs[] = {
    {"null", build_null, 0, 0},     {"late-worker", build_null, 0, 0}, {"linear", build_linear, 0, 0},
    {"recv4", build_receive, 4, 0}, {"recv64", build_receive, 64, 0},  {"small", build_null, 0, 1000},
};

/* ---- the tasks ---- */

static void run_step(void *arg, long i) {
  (void)i;
  worker *w = arg;
  if (w->away_us) usleep((useconds_t)w->away_us);
  weft_feed feeds[] = {{w->x, w->one}, {w->y, w->one}};
  weft_tensor *fetched[MAX_FETCH];
  const weft_request request = {.n_feed = w->n_feed,
                                .feeds = feeds,
                                .n_fetch = w->n_fetch,
                                .fetches = w->fetches,
                                .fetched = fetched,
                                .n_target = w->n_target,
                                .targets = &w->target};
  weft_must(weft_session_run(w->sess, &request));
  for (int k = 0; k < w->n_fetch; k++) weft_tensor_destroy(fetched[k]);
}

static void work(const job *j, weft_server *server) {
  worker w = {.away_us = j->away_us};
  char device[100];
  weft_replica *spread;
  int ps = weft_cluster_task_count(weft_server_cluster(server), "ps");
  snprintf(device, sizeof device, "/job:worker/task:%d", weft_server_task(server));
  weft_must(weft_graph_create(&w.g));
  weft_must(weft_replica_create(&spread, ps, NULL, device, false));
  weft_scope_push_replica(w.g, spread);
  j->build(&w, j->mib);
  weft_scope_pop(w.g);
  const weft_monitored_opts opts = {.target = weft_server_target(server),
                                    .is_chief = weft_server_task(server) > 0 ? WEFT_NO : WEFT_YES};
  weft_must(weft_monitored_create(&w.sess, w.g, &opts));
  converse(&(turns){run_step, &w, WARMUP, 1});
  weft_session_destroy(w.sess), weft_replica_destroy(spread), weft_graph_destroy(w.g), weft_tensor_destroy(w.one);
}

static int say_hello(void) {
  static const char text[] = "Hello, distributed TensorFlow!";
  weft_server *server;
  weft_graph *g;
  weft_session *sess;
  weft_tensor *hello;
  weft_must(weft_server_create_local(&server, NULL));
  weft_must(weft_graph_create(&g));
  weft_must(weft_tensor_create(&hello, WEFT_STRING, WEFT_SCALAR, NULL));
  weft_must(weft_tensor_set_string(hello, 0, text, strlen(text)));
  weft_out said = weft_constant(g, hello);
  weft_tensor_destroy(hello);
  weft_must(weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(server)}));
  weft_must(weft_session_fetch(&hello, sess, said));
  const char *data;
  size_t size;
  weft_must(weft_tensor_string(hello, 0, &data, &size));
  printf("%.*s\n", (int)size, data);
  weft_tensor_destroy(hello), weft_session_destroy(sess), weft_graph_destroy(g), weft_server_destroy(server);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "hello") == 0) return say_hello();
  const job *j = NULL;
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && argc > 2; i++)
    if (strcmp(jobs[i].name, argv[1]) == 0) j = &jobs[i];
  if (!j) {
    fprintf(stderr,
            "usage: %s null|late-worker|linear|recv4|recv64|small --ps_hosts=A --worker_hosts=B,C --job_name=JOB "
            "--task_index=N\n       %s hello\n",
            argv[0], argv[0]);
    return 2;
  }
  weft_server *server;
  weft_must(weft_server_create_from_args(&server, argc, argv));
  if (strcmp(weft_server_job(server), "ps") == 0)
    weft_must(weft_server_join(server));
  else
    work(j, server);
  weft_server_destroy(server);
  return 0;
}
