/* answers_fuzz.c - any bytes may come as an answer: a run ends with an error then, and the next one works.
 *
 * A real ps and a real worker, and between them a listener that passes calls on and spoils one kind of answer: it is
 * replaced by the input's bytes, or they are laid over it.  fuzz runs: 400 (each is a handful of round trips) */
#include "base/clock.h"
#include "cluster/server.h"
#include "tests/fuzz_graph.h"
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

/* ---- in the middle ---- */

static struct {
  listener *listener;
  pthread_mutex_t lock; /* guards what follows: an answer may come when its run is long over */
  channel *to;
  const char *spoiled; /* the method, or NULL */
  const uint8_t *data;
  size_t size;
  bool over;
} middle = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static void spoil(message *answer) {
  size_t n = answer->size;
  const uint8_t *was = weft__message_flatten(answer);
  if (middle.over && was && n > 0 && middle.size > 1) { /* the first byte says where */
    uint8_t *copy = malloc(n);
    if (!copy) return;
    memcpy(copy, was, n);
    for (size_t i = 1, at = middle.data[0] % n; i < middle.size && at < n; i++, at++) copy[at] ^= middle.data[i];
    weft__message_finish(answer);
    (void)weft__message_add_copy(answer, copy, n);
    free(copy);
    return;
  }
  weft__message_finish(answer);
  (void)weft__message_add_copy(answer, middle.data, middle.size);
}

static void set_spoiled(const char *method, bool over, const uint8_t *data, size_t size) {
  pthread_mutex_lock(&middle.lock);
  middle.spoiled = method;
  middle.over = over;
  middle.data = data, middle.size = size;
  pthread_mutex_unlock(&middle.lock);
}

static void pass_back(void *arg, weft_err err, message *answer) {
  call *c = arg;
  pthread_mutex_lock(&middle.lock);
  if (!err && middle.spoiled && strcmp(middle.spoiled, weft__call_method(c)) == 0) spoil(answer);
  pthread_mutex_unlock(&middle.lock);
  weft__call_respond(c, err, answer);
}

static void pass_on(void *arg, call *c) {
  (void)arg;
  pthread_mutex_lock(&middle.lock);
  channel *to = middle.to;
  pthread_mutex_unlock(&middle.lock);
  call_opts opts = {.cancel = weft__call_cancel(c)};
  if (to)
    weft__channel_call(to, weft__call_method(c), weft__call_request(c), &opts, pass_back, c);
  else
    weft__call_respond(c, weft__fail(WEFT_UNAVAILABLE, "the ps is not there yet"), NULL);
}

/* ---- both ends ---- */

static struct {
  weft_server *ps, *worker;
  op_table *ops;
  weft_graph *graph;
  weft_out x, sum, init;
} ends;

static weft_out node(const char *name) { return (weft_out){weft__graph_find(ends.graph, name)->id, 0}; }

static weft_server *serve(const char *spec, const char *job, const char *bind) {
  weft_server *s;
  cluster c;
  must(weft__cluster_parse(&c, spec));
  must(weft__server_create(&s, &c, &(server_opts){.job = job, .bind = bind, .serve = true}));
  must(weft__server_start(s));
  weft__cluster_finish(&c);
  return s;
}

/* Both must know it before the worker listens there. */
static int free_port(void) {
  listener *l;
  must(weft__listener_create(&l, &(listener_opts){.host = "127.0.0.1"}, pass_on, NULL));
  int port = weft__listener_port(l);
  weft__listener_destroy(l);
  return port;
}

static void begin(void) {
  char spec[100];
  must(weft__listener_create(&middle.listener, &(listener_opts){.host = "127.0.0.1"}, pass_on, NULL));
  snprintf(spec, sizeof spec, "ps=127.0.0.1:%d;worker=127.0.0.1:%d", weft__listener_port(middle.listener), free_port());
  ends.ps = serve(spec, "ps", "127.0.0.1:0");
  channel *to;
  must(weft__channel_create(&to, strstr(weft__server_target(ends.ps), "localhost"), NULL));
  pthread_mutex_lock(&middle.lock);
  middle.to = to;
  pthread_mutex_unlock(&middle.lock);
  ends.worker = serve(spec, "worker", NULL);
  ends.graph = fuzz_graph_build(&ends.ops, "/job:ps/task:0");
  ends.x = node("x"), ends.sum = node("sum"), ends.init = node("init");
}

/* A session of its own: initialise, then add. */
static weft_err run_once(bool by_master, int64_t timeout_ms) {
  char target[64];
  weft_session *sess;
  weft_tensor *one, *got = NULL;
  session_opts opts = {.timeout_ms = timeout_ms};
  must(weft__tensor_scalar(&one, WEFT_FLOAT, 1));
  snprintf(target, sizeof target, "grpc://127.0.0.1:%d", weft__listener_port(middle.listener));
  must(by_master ? weft__client_open(&sess, target, ends.graph, &opts, &(security){0})
                 : weft__server_open(&sess, ends.worker, ends.graph, &opts));
  weft_err err = weft__session_run(sess, &(plan_request){.n_target = 1, .target = &ends.init.node}, NULL, NULL, NULL);
  plan_request add = {.n_feed = 1, .feed = &ends.x, .n_fetch = 1, .fetch = &ends.sum};
  if (!err) err = weft__session_run(sess, &add, (const weft_tensor *[]){one}, &got, NULL);
  weft_tensor_destroy(got);
  weft_tensor_destroy(one);
  device_info *devices;
  int n;
  if (!err && weft__session_devices(sess, &devices, &n) == WEFT_OK) weft__device_infos_free(devices, n);
  weft__session_destroy(sess);
  return err;
}

/* Once the answers are whole again, so are the runs. */
static void check_clean(bool by_master) {
  int64_t until = weft__clock_now_ns() + CLEAN_MS * INT64_C(1000000);
  while (run_once(by_master, CLEAN_MS) != WEFT_OK)
    if (weft__clock_now_ns() > until) must(WEFT_INTERNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int inputs;
  if (!ends.ps) begin();
  if (size < 2) return 0;
  const char *method = methods[data[0] % METHODS];
  bool by_master = strstr(method, "Master") != NULL;
  set_spoiled(method, data[1] & 1, data + 2, size - 2);
  (void)run_once(by_master, RUN_MS);
  set_spoiled(NULL, false, NULL, 0);
  if (++inputs % CLEAN_EVERY == 0) check_clean(by_master);
  return 0;
}
