/* cluster_test.c - tests clusters, servers and their sessions through the public functions. */
#include "weft/weft.h"

#include "base/metrics.h"
#include "tests/check.h"
#include "tests/ports.h"
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

static weft_server *local(void) {
  weft_server *s;
  EXPECT_OK(weft_server_create_local(&s, NULL));
  return s;
}

/* Returns an address of the server that differs from its target, so that a session uses the network, as from another
 * process. */
static const char *by_wire(const weft_server *s) {
  static char target[100];
  snprintf(target, sizeof target, "grpc://127.0.0.1:%s", strrchr(weft_server_target(s), ':') + 1);
  return target;
}

static weft_session *open_at(weft_graph *g, const char *target) {
  weft_session *sess;
  EXPECT_OK(weft_session_create(&sess, g, &(weft_session_opts){.target = target}));
  return sess;
}

static weft_err run(weft_session *sess, weft_out target) { return weft_session_run_target(sess, target); }

static weft_err try_fetch(weft_session *sess, weft_out o, weft_tensor **t) { return weft_session_fetch(t, sess, o); }

static void expect_uninitialized(weft_session *sess, weft_out v) {
  weft_tensor *t;
  EXPECT_ERR(try_fetch(sess, v, &t), WEFT_FAILED_PRECONDITION, "Attempting to use uninitialized value v");
}

static float fetch(weft_session *sess, weft_out o) {
  weft_tensor *t;
  EXPECT_OK(try_fetch(sess, o, &t));
  float value = *(float *)weft_tensor_data(t);
  weft_tensor_destroy(t);
  return value;
}

static weft_graph *graph(void) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  return g;
}

static weft_out variable(weft_graph *g, double value) {
  return weft_variable(g, "v", weft_scalar(g, WEFT_FLOAT, value), true);
}

TEST(a_cluster_is_built_read_and_sent) {
  weft_cluster *c, *again, *none;
  void *def;
  size_t size;
  EXPECT_OK(weft_cluster_create(&c));
  EXPECT_OK(weft_cluster_add_hosts(c, "worker", "a:1,b:2"));
  EXPECT_OK(weft_cluster_add(c, "ps", 3, "c:3"));
  EXPECT_OK(weft_cluster_to_def(&def, &size, c));
  EXPECT_OK(weft_cluster_from_def(&again, def, size));
  EXPECT_EQ_INT(weft_cluster_job_count(again), 2);
  EXPECT_EQ_STR(weft_cluster_job(again, 0), "ps");
  EXPECT_EQ_INT(weft_cluster_task(again, "ps", 0), 3);
  EXPECT_EQ_INT(weft_cluster_task_count(again, "worker"), 2);
  EXPECT_EQ_STR(weft_cluster_address(again, "worker", 1), "b:2");
  EXPECT(!weft_cluster_job(again, 2) && weft_cluster_task(again, "ps", 1) == -1);
  EXPECT_ERR(weft_cluster_from_def(&none, "\xff", 1), WEFT_INVALID_ARGUMENT, "ClusterDef");
  weft_cluster_destroy(again);
  weft_cluster_destroy(c);
  weft_free(def);
}

TEST(sessions_of_one_server_share_variables) {
  weft_server *s = local();
  weft_graph *g = graph(), *h = graph();
  weft_out v = variable(g, 7), init = weft_initializer(g), w = variable(h, 0);
  weft_session *here = open_at(g, weft_server_target(s)), *there = open_at(h, by_wire(s));
  expect_uninitialized(there, w);
  EXPECT_OK(run(here, init));
  EXPECT_EQ_INT(fetch(here, v), 7);
  EXPECT_EQ_INT(fetch(there, w), 7);
  weft_session_destroy(here);
  EXPECT_EQ_INT(fetch(there, w), 7);
  weft_session_destroy(there);
  weft_graph_destroy(g), weft_graph_destroy(h);
  weft_server_destroy(s);
}

TEST(a_session_elsewhere_follows_the_graph_as_it_grows) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(2)), y = weft_add(g, x, x);
  weft_session *sess = open_at(g, by_wire(s));
  weft_tensor *t, *got[3], *wrong;
  EXPECT_OK(weft_tensor_create(&t, WEFT_FLOAT, WEFT_DIMS(2), (float[]){1, 2}));
  EXPECT_OK(weft_tensor_create(&wrong, WEFT_FLOAT, WEFT_DIMS(3), NULL));
  EXPECT_OK(weft_session_run(
      sess, &(weft_request){.n_feed = 1, .feeds = &(weft_feed){x, t}, .n_fetch = 1, .fetches = &y, .fetched = got}));
  EXPECT_EQ_INT(((float *)weft_tensor_data(got[0]))[1], 4);
  weft_tensor_destroy(got[0]);
  weft_out z = weft_mul(g, y, y);
  EXPECT_OK(weft_session_run(
      sess,
      &(weft_request){
          .n_feed = 1, .feeds = &(weft_feed){x, t}, .n_fetch = 3, .fetches = (weft_out[]){z, y, z}, .fetched = got}));
  EXPECT_EQ_INT(((float *)weft_tensor_data(got[0]))[1], 16);
  EXPECT_EQ_INT(((float *)weft_tensor_data(got[1]))[1], 4);
  EXPECT_EQ_INT(((float *)weft_tensor_data(got[2]))[1], 16);
  for (int i = 0; i < 3; i++) weft_tensor_destroy(got[i]);
  EXPECT_ERR(
      weft_session_run(
          sess,
          &(weft_request){.n_feed = 1, .feeds = &(weft_feed){x, wrong}, .n_fetch = 1, .fetches = &y, .fetched = got}),
      WEFT_INVALID_ARGUMENT, "Cannot feed value of shape");
  EXPECT_ERR(weft_session_fetch(got, sess, y), WEFT_INVALID_ARGUMENT, "must feed a value");
  EXPECT_OK(weft_session_close(sess));
  EXPECT_ERR(run(sess, z), WEFT_FAILED_PRECONDITION, "closed");
  weft_session_destroy(sess);
  weft_tensor_destroy(t), weft_tensor_destroy(wrong);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

/* A queue that all sessions of the server share. */
static weft_out shared_queue(weft_graph *g, const char *name) {
  weft_builder *b = weft_node_begin(g, "FIFOQueueV2", name);
  weft_builder_types(b, "component_types", 1, (weft_dtype[]){WEFT_FLOAT});
  weft_builder_string(b, "shared_name", name, strlen(name));
  return weft_builder_finish(b);
}

/* A dequeue from a queue that stays empty; it runs after the node `after`, if there is one. */
static weft_out dequeue(weft_graph *g, weft_out after) {
  weft_out queue = shared_queue(g, "queue");
  weft_builder *b = weft_node_begin(g, "QueueDequeueV2", "dequeue");
  weft_builder_input(b, queue);
  if (after.node >= 0) weft_builder_control(b, after);
  weft_builder_types(b, "component_types", 1, (weft_dtype[]){WEFT_FLOAT});
  return weft_builder_finish(b);
}

static void expect_timeout(const char *target) {
  weft_graph *g = graph();
  weft_out wait = dequeue(g, WEFT_NONE);
  weft_session *sess = open_at(g, target);
  EXPECT_OK(weft_graph_error(g));
  EXPECT_ERR(weft_session_run(sess, &(weft_request){.n_target = 1, .targets = &wait, .timeout_ms = 200}),
             WEFT_DEADLINE_EXCEEDED, "");
  weft_session_destroy(sess);
  weft_graph_destroy(g);
}

TEST(a_session_that_was_closed_may_go_after_its_server) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_session *sess = open_at(g, weft_server_target(s));
  EXPECT_NEAR(fetch(sess, weft_add(g, weft_scalar(g, WEFT_FLOAT, 1), weft_scalar(g, WEFT_FLOAT, 2))), 3, 0);
  EXPECT_OK(weft_session_close(sess));
  weft_server_destroy(s);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
}

TEST(a_run_ends_at_its_timeout) {
  weft_server *s = local();
  expect_timeout(weft_server_target(s));
  expect_timeout(by_wire(s));
  weft_server_destroy(s);
}

typedef struct closing {
  weft_session *sess, *watcher;
  weft_out began; /* how many runs of sess have reached their dequeue */
} closing;

static void *close_when_it_runs(void *arg) {
  closing *c = arg;
  weft_tensor *t;
  int32_t began = 0;
  for (int i = 0; i < 2000 && began == 0; i++, usleep(5000)) {
    EXPECT_OK(try_fetch(c->watcher, c->began, &t));
    began = *(int32_t *)weft_tensor_data(t);
    weft_tensor_destroy(t);
  }
  EXPECT_EQ_INT(began, 1);
  EXPECT_OK(weft_session_close(c->sess));
  return NULL;
}

static void expect_cancelled(weft_server *s, const char *target, const char *name) {
  weft_graph *g = graph();
  weft_out queue = shared_queue(g, name), one = weft_scalar(g, WEFT_FLOAT, 1);
  weft_builder *b = weft_node_begin(g, "QueueEnqueueV2", "enqueue");
  weft_builder_input(b, queue);
  weft_builder_inputs(b, "components", 1, &one);
  weft_out wait = dequeue(g, weft_builder_finish(b));
  closing c = {open_at(g, target), open_at(g, weft_server_target(s)), weft_op(g, "QueueSizeV2", NULL, 1, &queue, NULL)};
  EXPECT_OK(weft_graph_error(g));
  pthread_t t;
  pthread_create(&t, NULL, close_when_it_runs, &c);
  EXPECT_ERR(run(c.sess, wait), WEFT_CANCELLED, "");
  pthread_join(t, NULL);
  weft_session_destroy(c.sess), weft_session_destroy(c.watcher);
  weft_graph_destroy(g);
}

TEST(closing_cancels_what_runs) {
  weft_server *s = local();
  expect_cancelled(s, weft_server_target(s), "began_here");
  expect_cancelled(s, by_wire(s), "began_by_wire");
  weft_server_destroy(s);
}

TEST(an_interrupt_ends_a_run_elsewhere) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_out wait = dequeue(g, WEFT_NONE);
  weft_session *sess = open_at(g, by_wire(s));
  EXPECT_ERR(weft_session_run(sess, &(weft_request){.n_target = 1, .targets = &wait, .timeout_ms = 50}),
             WEFT_DEADLINE_EXCEEDED, "");
  weft_interrupt();
  EXPECT_ERR(run(sess, wait), WEFT_CANCELLED, "interrupt");
  weft_interrupt_clear();
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

TEST(devices_are_listed_and_reset_forgets) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_out v = variable(g, 1), init = weft_initializer(g);
  weft_session *sess = open_at(g, by_wire(s));
  weft_devices *d;
  EXPECT_OK(run(sess, init));
  EXPECT_OK(weft_session_devices(&d, sess));
  EXPECT_EQ_INT(weft_devices_count(d), 1);
  EXPECT_EQ_STR(weft_devices_name(d, 0), "/job:local/replica:0/task:0/device:CPU:0");
  EXPECT_EQ_STR(weft_devices_type(d, 0), "CPU");
  EXPECT(weft_devices_incarnation(d, 0) != 0 && !weft_devices_name(d, 1));
  weft_devices_destroy(d);
  EXPECT_OK(weft_session_reset(by_wire(s), 0, NULL));
  weft_session_destroy(sess);
  sess = open_at(g, by_wire(s));
  expect_uninitialized(sess, v);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

typedef struct blocked {
  weft_session *sess;
  weft_out op;
} blocked;

static void *expect_run_cancelled(void *arg) {
  const blocked *b = arg;
  EXPECT_ERR(run(b->sess, b->op), WEFT_CANCELLED, "Session::Close()");
  return NULL;
}

TEST(a_reset_ends_the_sessions_of_its_own_process) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_out v = variable(g, 1), init = weft_initializer(g), wait = dequeue(g, WEFT_NONE);
  weft_session *sess = open_at(g, weft_server_target(s)), *later;
  pthread_t thread;
  EXPECT_OK(run(sess, init));
  EXPECT_EQ_INT(pthread_create(&thread, NULL, expect_run_cancelled, &(blocked){sess, wait}), 0);
  EXPECT_ERR(weft_session_run(sess, &(weft_request){.n_target = 1, .targets = &wait, .timeout_ms = 50}),
             WEFT_DEADLINE_EXCEEDED, "");
  EXPECT_OK(weft_session_reset(by_wire(s), 0, NULL));
  pthread_join(thread, NULL);
  weft_tensor *t;
  EXPECT_ERR(try_fetch(sess, v, &t), WEFT_ABORTED, "is not found. Possibly, this master has restarted.");
  weft_session_destroy(sess);
  later = open_at(g, weft_server_target(s));
  expect_uninitialized(later, v);
  weft_session_destroy(later);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

TEST(a_servers_config_counts_its_devices) {
  const char two[] = {0x0a, 7, 0x0a, 3, 'C', 'P', 'U', 0x10, 2}; /* ConfigProto.device_count {"CPU": 2} */
  weft_server *s;
  EXPECT_OK(weft_server_create_local(&s, &(weft_server_opts){.config = two, .config_size = sizeof two}));
  weft_graph *g = graph();
  weft_scope_push_device(g, "/cpu:1");
  weft_out v = variable(g, 3);
  weft_scope_pop(g);
  const char *targets[] = {weft_server_target(s), by_wire(s)};
  for (int i = 0; i < 2; i++) {
    weft_session *sess = open_at(g, targets[i]);
    weft_devices *d;
    EXPECT_OK(run(sess, weft_initializer(g)));
    EXPECT_EQ_INT(fetch(sess, v), 3);
    EXPECT_OK(weft_session_devices(&d, sess));
    EXPECT_EQ_INT(weft_devices_count(d), 2);
    EXPECT_EQ_STR(weft_devices_name(d, 1), "/job:local/replica:0/task:0/device:CPU:1");
    weft_devices_destroy(d);
    weft_session_destroy(sess);
  }
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

TEST(a_config_may_isolate_a_session) {
  weft_server *s = local();
  weft_graph *g = graph();
  weft_out v = variable(g, 1), init = weft_initializer(g);
  weft_session *shared = open_at(g, weft_server_target(s)), *alone;
  EXPECT_OK(run(shared, init));
  const char isolate[] = {0x78, 1}; /* ConfigProto.isolate_session_state */
  EXPECT_OK(weft_session_create(
      &alone, g, &(weft_session_opts){.target = by_wire(s), .config = isolate, .config_size = sizeof isolate}));
  expect_uninitialized(alone, v);
  EXPECT_EQ_INT(fetch(shared, v), 1);
  EXPECT_ERR(weft_session_create(&alone, g, &(weft_session_opts){.config = "\xff", .config_size = 1}),
             WEFT_INVALID_ARGUMENT, "ConfigProto");
  weft_session_destroy(alone), weft_session_destroy(shared);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

TEST(a_token_is_asked_for) {
  weft_server *s, *none;
  EXPECT_OK(weft_server_create_local(&s, &(weft_server_opts){.token = "open sesame"}));
  weft_graph *g = graph();
  weft_out one = weft_scalar(g, WEFT_FLOAT, 1);
  weft_session *stranger = open_at(g, by_wire(s)), *friend;
  EXPECT_ERR(run(stranger, one), WEFT_UNAUTHENTICATED, "token");
  setenv("WEFT_TOKEN", "open sesame", 1);
  friend = open_at(g, by_wire(s));
  EXPECT_EQ_INT(fetch(friend, one), 1);
  setenv("WEFT_TLS_CERT", "/nowhere", 1);
  EXPECT_ERR(weft_server_create_local(&none, NULL), WEFT_INVALID_ARGUMENT, "WEFT_TLS_KEY is missing");
  weft_session_destroy(stranger), weft_session_destroy(friend);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

TEST(a_guarded_server_keeps_its_files) {
  weft_server *s;
  EXPECT_OK(weft_server_create_local(&s, &(weft_server_opts){.token = "t", .allow_dirs = "/tmp"}));
  weft_graph *g = graph();
  weft_tensor *path;
  EXPECT_OK(weft_tensor_create(&path, WEFT_STRING, WEFT_SCALAR, NULL));
  EXPECT_OK(weft_tensor_set_string(path, 0, "/etc/hostname", 13));
  weft_out name = weft_constant(g, path), read = weft_op(g, "ReadFile", NULL, 1, &name, NULL);
  weft_session *sess = open_at(g, weft_server_target(s));
  EXPECT_ERR(run(sess, read), WEFT_PERMISSION_DENIED, "WEFT_ALLOW_DIRS");
  weft_session_destroy(sess);
  weft_tensor_destroy(path);
  weft_graph_destroy(g);
  weft_server_destroy(s);
}

typedef struct late_server {
  weft_server *server;
  int listen_fd; /* of its port, until the client has tried to connect */
} late_server;

static void *start_when_called(void *arg) {
  late_server *s = arg;
  EXPECT(poll(&(struct pollfd){.fd = s->listen_fd, .events = POLLIN}, 1, 20000) == 1);
  close(s->listen_fd); /* resets the connection: nothing listens until the server starts */
  EXPECT_OK(weft_server_start(s->server));
  return NULL;
}

static int listen_at(const char *port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  at.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0);
  EXPECT(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0);
  return fd;
}

TEST(a_client_waits_for_its_server) {
  weft_server *first = local(), *s;
  weft_cluster *c;
  weft_graph *g = graph();
  weft_out one = weft_scalar(g, WEFT_FLOAT, 1);
  char text[100], target[120];
  snprintf(text, sizeof text, "local=127.0.0.1:%s", strrchr(weft_server_target(first), ':') + 1);
  snprintf(target, sizeof target, "grpc://%s", text + 6);
  weft_server_destroy(first); /* frees its port for the next server */
  EXPECT_OK(weft_cluster_parse(&c, text));
  EXPECT_OK(weft_server_create(&s, c, &(weft_server_opts){.job = "local", .start = WEFT_NO}));
  weft_session *sess = open_at(g, target);
  late_server late = {s, listen_at(strrchr(text, ':') + 1)};
  pthread_t t;
  pthread_create(&t, NULL, start_when_called, &late);
  EXPECT_EQ_INT(fetch(sess, one), 1);
  pthread_join(t, NULL);
  weft_session_destroy(sess);
  weft_server_destroy(s);
  EXPECT_OK(weft_session_create(&sess, g, &(weft_session_opts){.target = target, .timeout_ms = 300}));
  weft_err err = run(sess, one);
  EXPECT(err == WEFT_UNAVAILABLE || err == WEFT_DEADLINE_EXCEEDED);
  weft_session_destroy(sess);
  weft_cluster_destroy(c);
  weft_graph_destroy(g);
}

/* Starts two servers, each a task of the same cluster. */
static void make_pair(weft_server **a, const char *job_a, weft_server **b, const char *job_b) {
  weft_server *first = local(), *second = local();
  weft_cluster *c;
  char text[100];
  snprintf(text, sizeof text, "%s=localhost:%s;%s=localhost:%s", job_a, strrchr(weft_server_target(first), ':') + 1,
           job_b, strrchr(weft_server_target(second), ':') + 1);
  weft_server_destroy(first), weft_server_destroy(second); /* frees their ports */
  EXPECT_OK(weft_cluster_parse(&c, text));
  EXPECT_OK(weft_server_create(a, c, &(weft_server_opts){.job = job_a}));
  EXPECT_OK(weft_server_create(b, c, &(weft_server_opts){.job = job_b}));
  weft_cluster_destroy(c);
}

TEST(two_tasks_in_one_process_make_a_cluster) {
  weft_server *ps, *worker;
  make_pair(&ps, "ps", &worker, "worker");
  weft_graph *g = graph();
  weft_scope_push_device(g, "/job:ps/task:0");
  weft_out v = variable(g, 5), init = weft_initializer(g);
  weft_scope_pop(g);
  weft_scope_push_device(g, "/job:worker/task:0");
  weft_out twice = weft_add(g, v, v);
  weft_scope_pop(g);
  weft_session *sess = open_at(g, weft_server_target(worker)), *other = open_at(g, weft_server_target(ps));
  EXPECT_OK(run(sess, init));
  EXPECT_EQ_INT(fetch(sess, twice), 10);
  EXPECT_EQ_INT(fetch(other, twice), 10);
  weft_session_destroy(sess), weft_session_destroy(other);
  weft_graph_destroy(g);
  weft_server_destroy(worker), weft_server_destroy(ps);
}

/* Starts a cluster of three tasks of one job.  The first has left, and the others have noticed it. */
static weft_cluster *three_tasks(weft_server *task[3]) {
  weft_cluster *c;
  char spec[100];
  snprintf(spec, sizeof spec, "worker=localhost:%d,localhost:%d,localhost:%d", free_port(), free_port(), free_port());
  EXPECT_OK(weft_cluster_parse(&c, spec));
  for (int i = 0; i < 3; i++)
    EXPECT_OK(weft_server_create(&task[i], c, &(weft_server_opts){.job = "worker", .task = i}));
  return c;
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST_WITHIN(60, a_session_that_needs_a_task_which_has_left_names_it_within_seconds) {
  weft_server *task[3];
  weft_cluster *c = three_tasks(task);
  weft_graph *g = graph();
  weft_scope_push_device(g, "/job:worker/task:0");
  weft_out seven = weft_add(g, weft_scalar(g, WEFT_FLOAT, 3), weft_scalar(g, WEFT_FLOAT, 4));
  weft_scope_pop(g);
  weft_server_destroy(task[2]), weft_server_destroy(task[0]);
  EXPECT_OK(weft_server_create(&task[2], c, &(weft_server_opts){.job = "worker", .task = 2})); /* it starts late */
  double began = seconds_now();
  weft_session *sess = open_at(g, weft_server_target(task[2]));
  EXPECT_ERR(run(sess, seven), WEFT_FAILED_PRECONDITION, "/job:worker/replica:0/task:0, which said goodbye");
  EXPECT(seconds_now() - began > 3 && seconds_now() - began < 20); /* 5 s, plus the delay of a busy machine */
  weft_session_destroy(sess);
  weft_server_destroy(task[1]), weft_server_destroy(task[2]);
  weft_cluster_destroy(c), weft_graph_destroy(g);
}

static void note_wait(void *arg, const metrics_wait *w) {
  if (strstr(w->what, "worker:0")) *(bool *)arg = true;
}

/* Starts worker 0 once the session of the test waits for it; a busy machine has the rest of the 5 s for that. */
typedef struct comeback {
  weft_cluster *cluster;
  weft_server *server;
  double at; /* when the server was there */
} comeback;

static void *come_back(void *arg) {
  comeback *b = arg;
  bool waits = false;
  for (int i = 0; i < 2000 && !waits; i++, usleep(5000)) weft__metrics_each_wait(note_wait, &waits);
  EXPECT(waits);
  EXPECT_OK(weft_server_create(&b->server, b->cluster, &(weft_server_opts){.job = "worker"}));
  b->at = seconds_now();
  return NULL;
}

TEST_WITHIN(60, a_task_that_comes_back_soon_after_its_goodbye_was_restarted) {
  weft_server *task[3];
  pthread_t thread;
  weft_tensor *t = NULL;
  weft_cluster *c = three_tasks(task);
  comeback back = {.cluster = c};
  weft_graph *g = graph();
  weft_scope_push_device(g, "/job:worker/task:0");
  weft_out seven = weft_add(g, weft_scalar(g, WEFT_FLOAT, 3), weft_scalar(g, WEFT_FLOAT, 4));
  weft_scope_pop(g);
  weft_server_destroy(task[0]);
  const double left = seconds_now();
  pthread_create(&thread, NULL, come_back, &back);
  weft_session *sess = open_at(g, weft_server_target(task[2]));
  const weft_err err = try_fetch(sess, seven, &t);
  pthread_join(thread, NULL);
  if (back.at - left < 4) /* a busy machine may start the task after the 5 s in which it may come back */
    EXPECT_OK(err);
  if (!err) EXPECT_EQ_INT(*(float *)weft_tensor_data(t), 7);
  weft_tensor_destroy(t);
  while (seconds_now() - left < 5.5) usleep(10000); /* the goodbye of its former process does not count any more */
  weft_session *later = open_at(g, weft_server_target(task[1]));
  EXPECT_EQ_INT(fetch(later, seven), 7);
  weft_session_destroy(sess), weft_session_destroy(later);
  weft_server_destroy(back.server), weft_server_destroy(task[1]), weft_server_destroy(task[2]);
  weft_cluster_destroy(c), weft_graph_destroy(g);
}

typedef struct joining_task {
  weft_server *server;
  weft_err joined;
} joining_task;

/* Runs a session, leaves it open as programs do, and joins. */
static void *run_and_join(void *arg) {
  joining_task *s = arg;
  weft_graph *g = graph();
  weft_session *sess = open_at(g, weft_server_target(s->server));
  EXPECT_EQ_INT(fetch(sess, weft_scalar(g, WEFT_FLOAT, 3)), 3);
  s->joined = weft_server_join(s->server);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  return NULL;
}

TEST_WITHIN(30, tasks_that_ran_a_session_and_joined_are_done_when_it_is_idle) {
  joining_task a = {0}, b = {0};
  pthread_t threads[2];
  make_pair(&a.server, "first", &b.server, "second");
  pthread_create(&threads[0], NULL, run_and_join, &a);
  pthread_create(&threads[1], NULL, run_and_join, &b);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  EXPECT_EQ_INT(a.joined, WEFT_OK);
  EXPECT_EQ_INT(b.joined, WEFT_OK);
  weft_server_destroy(a.server), weft_server_destroy(b.server);
}

TEST(targets_and_protocols_without_sense_are_refused) {
  weft_graph *g = graph();
  weft_session *sess;
  weft_server *s;
  EXPECT_ERR(weft_session_create(&sess, g, &(weft_session_opts){.target = "http://x:1"}), WEFT_NOT_FOUND, "grpc://");
  EXPECT_ERR(weft_session_create(&sess, g, &(weft_session_opts){.target = "grpc://x"}), WEFT_INVALID_ARGUMENT,
             "host-port");
  EXPECT_ERR(weft_server_create_local(&s, &(weft_server_opts){.protocol = "grpc+verbs"}), WEFT_NOT_FOUND, "protocol");
  weft_graph_destroy(g);
}

#endif
