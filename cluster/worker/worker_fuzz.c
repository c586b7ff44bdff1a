/* worker_fuzz.c - any bytes are a request or an error: the first byte chooses the method, the others are its message.
 *
 * Requests of methods that wait (RunGraph, RecvTensor) are decoded and their keys checked; the others are answered. */
#include "cluster/worker/state.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static worker *get_worker(void) {
  static worker *w;
  static task *t;
  if (w) return w;
  if (weft__task_create(&t, "/job:ps/replica:0/task:0", 1, 1) != WEFT_OK) abort();
  if (weft__worker_create(&w, t, NULL) != WEFT_OK) abort();
  return w;
}

static void check_keys(const worker *w, const ProtobufCMessage *m) {
  if (m->descriptor == &tensorflow__recv_tensor_request__descriptor)
    (void)weft__worker_check_key(w, ((const Tensorflow__RecvTensorRequest *)m)->rendezvous_key);
  if (m->descriptor == &weft__recv_tensors_request__descriptor) {
    const Weft__RecvTensorsRequest *many = (const Weft__RecvTensorsRequest *)m;
    for (size_t i = 0; i < many->n_rendezvous_key; i++) (void)weft__worker_check_key(w, many->rendezvous_key[i]);
  }
  if (m->descriptor != &tensorflow__run_graph_request__descriptor) return;
  const Tensorflow__RunGraphRequest *q = (const Tensorflow__RunGraphRequest *)m;
  for (size_t i = 0; i < q->n_recv_key; i++) (void)weft__worker_check_key(w, q->recv_key[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ProtobufCMessageDescriptor *const waits[] = {&tensorflow__run_graph_request__descriptor,
                                                            &tensorflow__recv_tensor_request__descriptor,
                                                            &weft__recv_tensors_request__descriptor};
  static const char *const answers[] = {"RegisterGraph",       "DeregisterGraph", "CreateWorkerSession",
                                        "DeleteWorkerSession", "CleanupGraph",    "CleanupAll",
                                        "GetStatus",           "Logging",         "Tracing",
                                        "MarkRecvFinished",    "GetStepSequence"};
  enum { WAITS = sizeof waits / sizeof *waits, ANSWERS = sizeof answers / sizeof *answers };
  worker *w = get_worker();
  message request = {0}, answer = {0};
  if (size == 0) return 0;
  size_t kind = data[0] % (WAITS + ANSWERS);
  (void)weft__message_add(&request, (piece){data + 1, size - 1, NULL, NULL});
  if (kind < WAITS) {
    ProtobufCMessage *m;
    if (weft__message_unpack(&m, &request, waits[kind]) == WEFT_OK) {
      check_keys(w, m);
      protobuf_c_message_free_unpacked(m, NULL);
    }
  } else {
    char path[80] = "/tensorflow.WorkerService/";
    strcat(path, answers[kind - WAITS]);
    (void)weft__worker_answer(w, path, &request, &answer);
  }
  weft__message_finish(&request);
  weft__message_finish(&answer);
  return 0;
}
