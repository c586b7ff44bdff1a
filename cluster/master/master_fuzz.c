/* master_fuzz.c - any bytes are a request to the master or an error: the first names the method, the rest is its
 * message.
 *
 * A session that has a graph stands behind every request: its handle goes before the bytes, so that they act on it
 * unless they name another.  A run that waits is given up by its caller after a moment, as a client would.
 *
 * fuzz runs: 2000 */
#include "cluster/master/master.h"
#include "net/call.h"
#include "rpc.pb-c.h"
#include "tests/fuzz_graph.h"
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(weft_err err) {
  if (err) abort();
}

/* ---- a transport without a network ---- */

typedef struct fuzz_call {
  call base;
  sem_t answered;
  weft_err err;
  message answer;
} fuzz_call;

static void fuzz_call_answer(call *c, weft_err err, message *answer) {
  fuzz_call *a = (fuzz_call *)c;
  a->err = err;
  if (answer && weft__message_own(answer) == WEFT_OK) weft__message_move(&a->answer, answer);
  sem_post(&a->answered);
}

static const char *fuzz_call_peer(call *c) {
  (void)c;
  return "fuzz";
}

static const call_ops ops = {fuzz_call_answer, fuzz_call_peer};

static bool fuzz_call_wait(fuzz_call *a, int64_t ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += ms / 1000, until.tv_nsec += ms % 1000 * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  while (sem_timedwait(&a->answered, &until) != 0)
    if (errno != EINTR) return false;
  return true;
}

/* Calls the master and waits; cancels the call after a moment.  The request is emptied; the caller owns the answer. */
static weft_err call_master(master *m, const char *method, message *request, message *answer) {
  fuzz_call a = {.base = {.ops = &ops, .method = method}};
  sem_init(&a.answered, 0, 0);
  weft__message_move(&a.base.request, request);
  weft__cancel_init(&a.base.cancel);
  weft__master_handle(m, &a.base);
  if (!fuzz_call_wait(&a, 20)) {
    weft__cancel_fire(&a.base.cancel, WEFT_CANCELLED, "the caller gave up");
    if (!fuzz_call_wait(&a, 60000)) abort(); /* no call may wait forever */
  }
  weft__message_finish(&a.base.request);
  weft__message_move(answer, &a.answer);
  weft__cancel_finish(&a.base.cancel);
  sem_destroy(&a.answered);
  return a.err;
}

/* ---- the master and its session ---- */

static master *get_master(void) {
  static master *m;
  static task *t;
  static worker *w;
  static peers *p;
  cluster c;
  if (m) return m;
  must(weft__cluster_parse(&c, "local=localhost:1"));
  must(weft__task_create(&t, "/job:local/replica:0/task:0", 1, 1));
  must(weft__peers_create(&p, &c, t->name, &(security){0}));
  must(weft__worker_create(&w, t, p));
  must(weft__master_create(&m, t, w, p));
  weft__cluster_finish(&c);
  return m;
}

static void open_session(master *m, char name[64]) {
  message request = {0}, answer = {0};
  ProtobufCMessage *read;
  size_t size;
  uint8_t *graph = fuzz_graph(&size);
  must(weft__message_add_string(&request, 1, graph, size));
  must(call_master(m, "/tensorflow.MasterService/CreateSession", &request, &answer));
  must(weft__message_unpack(&read, &answer, &tensorflow__create_session_response__descriptor));
  snprintf(name, 64, "%s", ((Tensorflow__CreateSessionResponse *)read)->session_handle);
  protobuf_c_message_free_unpacked(read, NULL);
  weft__message_finish(&answer);
  weft__free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const methods[] = {"RunStep",       "ExtendSession", "MakeCallable",    "RunCallable",
                                        "CreateSession", "ListDevices",   "PartialRunSetup", "ReleaseCallable",
                                        "CloseSession",  "Reset"};
  static char session[64];
  master *m = get_master();
  message request = {0}, answer = {0};
  if (size == 0) return 0;
  const char *method = methods[data[0] % (sizeof methods / sizeof *methods)];
  if (!session[0]) open_session(m, session);
  if (strcmp(method, "CreateSession") != 0 && strcmp(method, "Reset") != 0)
    must(weft__message_add_string(&request, 1, session, strlen(session)));
  must(weft__message_add(&request, (piece){data + 1, size - 1, NULL, NULL}));
  char path[80] = "/tensorflow.MasterService/";
  strcat(path, method);
  weft_err err = call_master(m, path, &request, &answer);
  bool closes = strcmp(method, "CloseSession") == 0 || strcmp(method, "Reset") == 0;
  if (closes || err == WEFT_ABORTED) session[0] = 0;
  weft__message_finish(&answer);
  return 0;
}
