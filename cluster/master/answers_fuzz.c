/* answers_fuzz.c - any bytes may arrive as an answer: the run ends with an error, and the next run works.
 *
 * A proxy between a real ps and a real worker forwards calls and corrupts the answers of one method: it replaces an
 * answer by the bytes of the input, or XORs them into it.  fuzz runs: 400 (each is a handful of round trips) */
#include "base/clock.h"
#include "cluster/server.h"
#include "tests/fuzz_graph.h"
#include "tests/ports.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUN_MS = 60, CLEAN_EVERY = 50, CLEAN_MS = 60000 };
static const char *const methods[] = {
    "/tensorflow.WorkerService/GetStatus",
    "/tensorflow.WorkerService/CreateWorkerSession",
    "/tensorflow.WorkerService/RegisterGraph",
    "/tensorflow.WorkerService/RunGraph",
    "/tensorflow.WorkerService/RecvTensor",
    "/tensorflow.WorkerService/CleanupGraph",
    "/weft.Worker/RecvTensors",
    "/weft.Peer/Hello",
    "/tensorflow.MasterService/CreateSession",
    "/tensorflow.MasterService/RunStep",
    "/tensorflow.MasterService/ListDevices",
};
enum { METHODS = sizeof methods / sizeof *methods };

static void must(weft_err err) {
  if (!err) return;
  fprintf(stderr, "%s\n", weft__error_message());
  abort();
}

/* ---- the proxy ---- */

static struct {
  listener *listener;
  pthread_mutex_t lock; /* guards what follows: an answer may arrive long after its run has ended */
  channel *to;
  const char *corrupted; /* the method whose answers are corrupted, or NULL */
  const uint8_t *data;
  size_t size;
  bool overlay;
} proxy = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. */
static void corrupt(message *answer) {
  size_t n = answer->size;
  const uint8_t *was = weft__message_flatten(answer);
  if (proxy.overlay && was && n > 0 && proxy.size > 1) { /* the first byte chooses the offset */
    uint8_t *copy = malloc(n);
    if (!copy) return;
    memcpy(copy, was, n);
    for (size_t i = 1, at = proxy.data[0] % n; i < proxy.size && at < n; i++, at++) copy[at] ^= proxy.data[i];
    weft__message_finish(answer);
    (void)weft__message_add_copy(answer, copy, n);
    free(copy);
    return;
  }
  weft__message_finish(answer);
  (void)weft__message_add_copy(answer, proxy.data, proxy.size);
}

static void set_corrupted(const char *method, bool overlay, const uint8_t *data, size_t size) {
  pthread_mutex_lock(&proxy.lock);
  proxy.corrupted = method;
  proxy.overlay = overlay;
  proxy.data = data, proxy.size = size;
  pthread_mutex_unlock(&proxy.lock);
}

static void forward_answer(void *arg, weft_err err, message *answer) {
  call *c = arg;
  pthread_mutex_lock(&proxy.lock);
  if (!err && proxy.corrupted && strcmp(proxy.corrupted, weft__call_method(c)) == 0) corrupt(answer);
  pthread_mutex_unlock(&proxy.lock);
  weft__call_respond(c, err, answer);
}

static void forward_call(void *arg, call *c) {
  (void)arg;
  pthread_mutex_lock(&proxy.lock);
  channel *to = proxy.to;
  pthread_mutex_unlock(&proxy.lock);
  call_opts opts = {.cancel = weft__call_cancel(c)};
  if (to)
    weft__channel_call(to, weft__call_method(c), weft__call_request(c), &opts, forward_answer, c);
  else
    weft__call_respond(c, weft__fail(WEFT_UNAVAILABLE, "the ps is not there yet"), NULL);
}

/* ---- the tasks ---- */

static struct {
  weft_server *ps, *worker;
  op_table *ops;
  weft_graph *graph;
  weft_out x, sum, init;
} tasks;

static weft_out find_node(const char *name) { return (weft_out){weft__graph_find(tasks.graph, name)->id, 0}; }

static weft_server *start_server(const char *spec, const char *job, const char *bind) {
  weft_server *s;
  cluster c;
  must(weft__cluster_parse(&c, spec));
  must(weft__server_create(&s, &c, &(server_opts){.job = job, .bind = bind, .serve = true}));
  must(weft__server_start(s));
  weft__cluster_finish(&c);
  return s;
}

static void start_cluster(void) {
  char spec[100];
  must(weft__listener_create(&proxy.listener, &(listener_opts){.host = "127.0.0.1"}, forward_call, NULL));
  snprintf(spec, sizeof spec, "ps=127.0.0.1:%d;worker=127.0.0.1:%d", weft__listener_port(proxy.listener), free_port());
  tasks.ps = start_server(spec, "ps", "127.0.0.1:0");
  channel *to;
  must(weft__channel_create(&to, strstr(weft__server_target(tasks.ps), "localhost"), NULL));
  pthread_mutex_lock(&proxy.lock);
  proxy.to = to;
  pthread_mutex_unlock(&proxy.lock);
  tasks.worker = start_server(spec, "worker", NULL);
  tasks.graph = fuzz_graph_build(&tasks.ops, "/job:ps/task:0");
  tasks.x = find_node("x"), tasks.sum = find_node("sum"), tasks.init = find_node("init");
}

/* Opens a session, initializes the variable, and adds to it. */
static weft_err run_session(bool by_master, int64_t timeout_ms) {
  char target[64];
  weft_session *sess;
  weft_tensor *one, *got = NULL;
  session_opts opts = {.timeout_ms = timeout_ms};
  must(weft__tensor_scalar(&one, WEFT_FLOAT, 1));
  snprintf(target, sizeof target, "grpc://127.0.0.1:%d", weft__listener_port(proxy.listener));
  must(by_master ? weft__client_open(&sess, target, tasks.graph, &opts, &(security){0})
                 : weft__server_open_session(&sess, tasks.worker, tasks.graph, &opts));
  weft_err err = weft__session_run(sess, &(plan_request){.n_target = 1, .target = &tasks.init.node}, NULL, NULL, NULL);
  plan_request add = {.n_feed = 1, .feed = &tasks.x, .n_fetch = 1, .fetch = &tasks.sum};
  if (!err) err = weft__session_run(sess, &add, (const weft_tensor *[]){one}, &got, NULL);
  weft_tensor_destroy(got);
  weft_tensor_destroy(one);
  device_info *devices;
  int n;
  if (!err && weft__session_devices(sess, &devices, &n) == WEFT_OK) weft__place_infos_free(devices, n);
  weft__session_destroy(sess);
  return err;
}

/* Checks that runs succeed again once the answers are correct. */
static void check_recovered(bool by_master) {
  int64_t until = weft__clock_now_ns() + CLEAN_MS * NS_PER_MS;
  while (run_session(by_master, CLEAN_MS) != WEFT_OK)
    if (weft__clock_now_ns() > until) must(WEFT_INTERNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int inputs;
  if (!tasks.ps) start_cluster();
  if (size < 2) return 0;
  const char *method = methods[data[0] % METHODS];
  bool by_master = strstr(method, "Master") != NULL;
  set_corrupted(method, data[1] & 1, data + 2, size - 2);
  (void)run_session(by_master, RUN_MS);
  set_corrupted(NULL, false, NULL, 0);
  if (++inputs % CLEAN_EVERY == 0) check_recovered(by_master);
  return 0;
}
