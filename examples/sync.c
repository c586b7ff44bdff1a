/* sync.c - linear.c in step: every update is the mean of one gradient from each worker.
 *
 *     sync --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name=worker --task_index=0 ...
 *
 * Each worker adds its gradient to accumulators on the ps and then waits for a token; worker 0, the chief, has a second
 * thread that takes the means, applies them, counts the global step and hands out the next tokens.  A worker that dies
 * gives its token back, and the others go on.  --steps=N is the last global step.  A worker ends when it gets the
 * token of that step, and every worker gets one.  If workers compared the global step itself instead, the chief could
 * end before it has handed out the last tokens, and the other workers would wait for them in vain. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

typedef struct model {
  weft_graph *g;
  weft_out x, y, w, b, train, step, init;
  weft_optimizer *optimizer;
  weft_sync *sync;
  weft_out tokens;
} model;

static void on_signal(int number) {
  (void)number;
  weft_interrupt();
}

static void build(model *m, int workers) {
  weft_graph *g = m->g;
  m->x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1)), m->y = weft_input(g, "y", WEFT_FLOAT, WEFT_DIMS(-1));
  m->w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 0), true);
  m->b = weft_variable(g, "b", weft_scalar(g, WEFT_FLOAT, 0), true);
  m->step = weft_global_step_make(g);
  weft_out loss = weft_mean(g, weft_square(g, weft_sub(g, weft_add(g, weft_mul(g, m->w, m->x), m->b), m->y)));
  weft_out variables[] = {m->w, m->b};
  weft_gradient d[2];
  weft_must(weft_optimizer_create(&m->optimizer, g, "GradientDescent", NULL));
  weft_must(weft_optimizer_set(m->optimizer, "learning_rate", 0.1));
  weft_must(weft_optimizer_compute(m->optimizer, loss, 2, variables, NULL, d));
  weft_must(weft_sync_create(&m->sync, m->optimizer, NULL, workers, workers));
  m->train = weft_sync_apply(m->sync, 2, variables, d, m->step);
  m->tokens = weft_sync_init_tokens(m->sync, -1);
  m->init = weft_initializer(g);
}

static weft_err run(weft_session *sess, weft_out target) { return weft_session_run_target(sess, target); }

/* The chief's second thread: one update after the other, until the session is closed. */
typedef struct updates {
  weft_session *sess;
  weft_out op;
} updates;

static void *update(void *arg) {
  const updates *u = arg;
  while (run(u->sess, u->op) == WEFT_OK) continue;
  return NULL;
}

/* Is everything that ready_for_local_init names initialized? */
static bool is_ready(weft_session *sess, weft_out report) {
  weft_tensor *names;
  if (weft_session_fetch(&names, sess, report) != WEFT_OK) return false;
  bool ready = weft_tensor_count(names) == 0;
  weft_tensor_destroy(names);
  return ready;
}

static void prepare(const model *m, weft_session *sess, bool chief) {
  if (chief) {
    weft_must(run(sess, m->init));
    weft_must(run(sess, weft_sync_chief_init(m->sync)));
    weft_must(run(sess, m->tokens));
    return;
  }
  while (!is_ready(sess, weft_sync_ready_for_local_init(m->sync))) usleep(50000);
  weft_must(run(sess, weft_sync_local_init(m->sync)));
}

static void train(const model *m, weft_session *sess, int steps) {
  float x[100], y[100];
  weft_tensor *xs, *ys, *token, *found[3];
  for (int i = 0; i < 100; i++) x[i] = (float)(i - 50) / 33, y[i] = 2 * x[i] + 10;
  weft_must(weft_tensor_create(&xs, WEFT_FLOAT, WEFT_DIMS(100), x));
  weft_must(weft_tensor_create(&ys, WEFT_FLOAT, WEFT_DIMS(100), y));
  weft_feed feeds[] = {{m->x, xs}, {m->y, ys}};
  weft_out all[] = {m->w, m->b, m->step};
  for (int64_t next = 0; next < steps;) {
    weft_must(weft_session_run(
        sess, &(weft_request){.n_feed = 2, .feeds = feeds, .n_fetch = 1, .fetches = &m->train, .fetched = &token}));
    weft_must(weft_session_run(sess, &(weft_request){.n_fetch = 3, .fetches = all, .fetched = found}));
    next = *(int64_t *)weft_tensor_data(token);
    printf("step %lld: y = %.3f x + %.3f\n", *(long long *)weft_tensor_data(found[2]),
           *(float *)weft_tensor_data(found[0]), *(float *)weft_tensor_data(found[1]));
    fflush(stdout);
    weft_tensor_destroy(token);
    for (int k = 0; k < 3; k++) weft_tensor_destroy(found[k]);
  }
  weft_tensor_destroy(xs), weft_tensor_destroy(ys);
}

static void work(weft_server *server, int steps) {
  const weft_cluster *c = weft_server_cluster(server);
  bool chief = weft_server_task(server) == 0;
  char device[100];
  snprintf(device, sizeof device, "/job:worker/task:%d", weft_server_task(server));
  model m = {0};
  weft_replica *spread;
  weft_session *sess;
  pthread_t thread;
  weft_must(weft_graph_create(&m.g));
  weft_must(weft_replica_create(&spread, weft_cluster_task_count(c, "ps"), NULL, device, false));
  weft_scope_push_replica(m.g, spread);
  build(&m, weft_cluster_task_count(c, "worker"));
  weft_scope_pop(m.g);
  weft_must(weft_session_create(&sess, m.g, &(weft_session_opts){.target = weft_server_target(server)}));
  prepare(&m, sess, chief);
  updates u = {sess, weft_sync_op(m.sync)};
  if (chief) pthread_create(&thread, NULL, update, &u);
  train(&m, sess, steps);
  weft_session_close(sess);
  if (chief) pthread_join(thread, NULL);
  weft_session_destroy(sess), weft_sync_destroy(m.sync), weft_optimizer_destroy(m.optimizer);
  weft_replica_destroy(spread), weft_graph_destroy(m.g);
}

int main(int argc, char **argv) {
  weft_server *server;
  int steps = 50;
  for (int i = 1; i < argc; i++) sscanf(argv[i], "--steps=%d", &steps);
  weft_log_set(weft_log_stderr, NULL);
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_must(weft_server_create_from_args(&server, argc, argv));
  if (strcmp(weft_server_job(server), "ps") == 0)
    weft_must(weft_server_join(server));
  else
    work(server, steps);
  weft_server_destroy(server);
  return 0;
}
