/* linear.c - fits a line on a cluster: the variables live on the ps, every worker learns.
 *
 *     linear --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name=ps --task_index=0
 *     linear --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name=worker --task_index=0
 *     linear --ps_hosts=localhost:2222 --worker_hosts=localhost:2223,localhost:2224 --job_name=worker --task_index=1
 *
 * in any order, on as many machines; or `linear` by itself; or `weft launch --ps 1 --workers 2 -- linear`.  Worker 0
 * sets the variables to their first values and the others wait for it.  After each step come the slope, which goes to
 * 2, and the offset, which goes to 10.  --steps=N (10). */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

enum { EPOCHS_PER_STEP = 20 };

static void on_signal(int number) {
  (void)number;
  weft_interrupt();
}

/* y = 2x + 10 at 100 places, as two tensors. */
static void make_points(weft_tensor **xs, weft_tensor **ys) {
  float x[100], y[100];
  for (int i = 0; i < 100; i++) {
    x[i] = (float)(i - 50) / 33;
    y[i] = 2 * x[i] + 10;
  }
  weft_must(weft_tensor_create(xs, WEFT_FLOAT, WEFT_DIMS(100), x));
  weft_must(weft_tensor_create(ys, WEFT_FLOAT, WEFT_DIMS(100), y));
}

/* The chief initializes; the others look until that has been done. */
static void prepare(weft_session *sess, weft_out init, weft_out w, bool chief) {
  if (chief) weft_must(weft_session_run_target(sess, init));
  for (;;) {
    weft_tensor *value;
    weft_err err = weft_session_fetch(&value, sess, w);
    if (err == WEFT_OK) {
      weft_tensor_destroy(value);
      return;
    }
    if (err != WEFT_FAILED_PRECONDITION) weft_must(err); /* that one means: no value yet */
    usleep(50000);
  }
}

static void train(weft_server *server, bool alone, int steps) {
  char worker[100];
  snprintf(worker, sizeof worker, "/job:%s/task:%d", weft_server_job(server), weft_server_task(server));
  weft_graph *g;
  weft_replica *spread;
  weft_must(weft_graph_create(&g));
  weft_must(weft_replica_create(&spread, alone ? 0 : weft_cluster_task_count(weft_server_cluster(server), "ps"), NULL,
                                worker, false));
  weft_scope_push_replica(g, spread); /* variables to the ps, the rest to this worker */
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1)), y = weft_input(g, "y", WEFT_FLOAT, WEFT_DIMS(-1));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out b = weft_variable(g, "b", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out loss = weft_mean(g, weft_square(g, weft_sub(g, weft_add(g, weft_mul(g, w, x), b), y)));
  weft_out variables[] = {w, b}, d[2], rate = weft_scalar(g, WEFT_FLOAT, 0.02);
  weft_must(weft_gradients(g, 1, &loss, NULL, 2, variables, d));
  weft_out updates[] = {weft_apply_gradient_descent(g, w, rate, d[0]), weft_apply_gradient_descent(g, b, rate, d[1])};
  weft_out step = weft_group(g, "train", 2, updates), init = weft_initializer(g);
  weft_scope_pop(g);

  weft_tensor *xs, *ys, *found[2];
  make_points(&xs, &ys);
  weft_feed feeds[] = {{x, xs}, {y, ys}};
  weft_session *sess;
  weft_must(weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(server)}));
  prepare(sess, init, w, weft_server_task(server) == 0);
  for (int i = 0; i < steps; i++) {
    for (int k = 0; k < EPOCHS_PER_STEP; k++)
      weft_must(weft_session_run(sess, &(weft_request){.n_feed = 2, .feeds = feeds, .n_target = 1, .targets = &step}));
    weft_must(weft_session_run(sess, &(weft_request){.n_fetch = 2, .fetches = variables, .fetched = found}));
    printf("=========> step: %d\n%g\n%g\n", i, (double)*(float *)weft_tensor_data(found[0]),
           (double)*(float *)weft_tensor_data(found[1]));
    for (int k = 0; k < 2; k++) weft_tensor_destroy(found[k]);
    fflush(stdout);
  }
  weft_tensor_destroy(xs), weft_tensor_destroy(ys);
  weft_session_destroy(sess), weft_replica_destroy(spread), weft_graph_destroy(g);
}

int main(int argc, char **argv) {
  weft_server *server;
  int steps = 10;
  for (int i = 1; i < argc; i++) sscanf(argv[i], "--steps=%d", &steps);
  weft_log_set(weft_log_stderr, NULL);
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_must(weft_server_create_from_args(&server, argc, argv));
  const char *job = weft_server_job(server);
  if (strcmp(job, "ps") == 0)
    weft_must(weft_server_join(server)); /* until the workers have left */
  else
    train(server, strcmp(job, "local") == 0, steps);
  weft_server_destroy(server);
  return 0;
}
