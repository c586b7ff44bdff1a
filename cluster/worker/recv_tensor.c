/* recv_tensor.c - RecvTensor, as server and as client.
 *
 * The serving side waits in the step's rendezvous until the value is sent, the step is cleaned up or the caller
 * cancels.  It creates the step if RunGraph has not arrived yet.  The fetching side makes one call per tensor when its
 * _Recv runs; recv_batch.c fetches several at once.
 *
 * There is no lock here: a call is reference counted, and the rendezvous decides whether the value or the cancellation
 * comes first. */
#include "base/alloc.h"
#include "cluster/worker/state.h"
#include <inttypes.h>

#define RECV_TENSOR "/tensorflow.WorkerService/RecvTensor"
#define MARK_RECV_FINISHED "/tensorflow.WorkerService/MarkRecvFinished"

static const weft_tensor no_tensor;

/* ---- keys ---- */

typedef struct key_source {
  char device[WEFT_DEVICE_TEXT];
  uint64_t incarnation;
} key_source;

static const char *key_skip_digits(const char *s) { return s + strspn(s, "0123456789"); }

/* Returns true for FRAME:ITERATION; the frame is a number without a sign. */
static bool key_is_iteration(const char *s) {
  const char *colon = key_skip_digits(s);
  if (colon == s || *colon != ':') return false;
  const char *number = colon + 1 + (colon[1] == '-');
  const char *end = key_skip_digits(number);
  return end != number && *end == 0;
}

/* Reads sixteen hexadecimal digits.  A ps does this for each value of a step, and strtoull takes some 450 instructions.
 */
static bool key_read_incarnation(const char *s, uint64_t *out) {
  *out = 0;
  for (int i = 0; i < 16; i++) {
    bool digit = s[i] >= '0' && s[i] <= '9';
    if (!digit && (s[i] < 'a' || s[i] > 'f')) return false;
    *out = *out << 4 | (uint64_t)(digit ? s[i] - '0' : s[i] - 'a' + 10);
  }
  return true;
}

/* Parses SOURCE;INCARNATION;DESTINATION;NAME;FRAME:ITERATION. */
static bool key_parse(const char *key, key_source *out) {
  const char *at[5] = {key};
  for (int i = 1; i < 5; i++) {
    const char *end = strchr(at[i - 1], ';');
    if (!end) return false;
    at[i] = end + 1;
  }
  size_t name = (size_t)(at[1] - at[0]) - 1, digits = (size_t)(at[2] - at[1]) - 1;
  if (name == 0 || name >= sizeof out->device || digits != 16 || at[3] - at[2] < 2) return false;
  if (!key_read_incarnation(at[1], &out->incarnation)) return false;
  if (!key_is_iteration(strrchr(key, ';') + 1)) return false;
  memcpy(out->device, key, name);
  out->device[name] = 0;
  return true;
}

const device *weft__worker_find_device(const worker *w, const char *name) {
  device_spec spec;
  for (int i = 0; i < w->task->n_device; i++) /* most keys have the full name */
    if (strcmp(w->task->device[i]->name, name) == 0) return w->task->device[i];
  if (weft__device_parse(&spec, name) != WEFT_OK) return NULL;
  for (int i = 0; i < w->task->n_device; i++) {
    const device *d = w->task->device[i];
    if (spec.has_type && strcmp(d->ops->type, spec.type) == 0 && d->id == spec.id) return d;
  }
  return NULL;
}

weft_err weft__worker_check_key(const worker *w, const char *key) {
  key_source from;
  if (!key_parse(key, &from)) return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid  rendezvous key: %.300s", key);
  const device *d = weft__worker_find_device(w, from.device);
  if (!d) return weft__fail(WEFT_INVALID_ARGUMENT, "%s unknown device.", from.device);
  if (d->incarnation == from.incarnation) return WEFT_OK;
  return weft__fail(WEFT_ABORTED,
                    "RecvTensor expects a different device incarnation: %" PRIu64 " vs. %" PRIu64
                    ". Your worker job (\"%s\") was probably restarted. Check your worker job for the reason why it "
                    "was restarted.",
                    from.incarnation, d->incarnation, w->task->name);
}

/* ---- the serving side ---- */

typedef struct recv_call {
  atomic_int refs; /* one until the receive is started, one until it is answered */
  worker *worker;
  call *call;
  worker_step *step;
  char *key;
  recv_call_write *write;
  cancel_watch watch;
  atomic_bool canceled; /* the caller canceled, perhaps before the receive was started */
} recv_call;

static void recv_call_release(recv_call *r) {
  if (atomic_fetch_sub(&r->refs, 1) != 1) return;
  worker *w = r->worker;
  if (r->step) weft__worker_step_release(r->step);
  weft__free(r->key);
  weft__free(r);
  weft__worker_leave(w);
}

static void recv_call_answer(recv_call *r, weft_err err, const weft_tensor *t, bool dead) {
  message m = {.borrows = true};
  weft__cancel_watch_remove(weft__call_cancel(r->call), &r->watch);
  if (!err) err = r->write(&m, dead ? NULL : t, dead);
  weft__call_respond(r->call, err, &m);
  weft__message_finish(&m);
  recv_call_release(r);
}

static void recv_call_on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  recv_call_answer(arg, err, t, dead);
}

/* The caller canceled.  If the value is being delivered already, that delivery answers. */
static void recv_call_on_cancel(void *arg) {
  recv_call *r = arg;
  atomic_store(&r->canceled, true);
  if (!weft__rendezvous_cancel_recv(r->step->rendezvous, r->key, recv_call_on_value, r)) return;
  recv_call_answer(r, weft__cancel_raise(weft__call_cancel(r->call)), NULL, false);
}

static weft_err recv_call_prepare(recv_call *r, int64_t step_id) {
  if (!r->key) return WEFT_OOM;
  WEFT_TRY(weft__worker_step_get(r->worker, step_id, false, &r->step));
  return weft__cancel_watch_add(weft__call_cancel(r->call), &r->watch, recv_call_on_cancel, r);
}

void weft__worker_answer_value(worker *w, call *c, int64_t step_id, char *key, recv_call_write *write) {
  recv_call *r = weft__alloc_zero(1, sizeof *r);
  if (!r) {
    weft__call_respond(c, WEFT_OOM, NULL);
    weft__worker_leave(w);
    weft__free(key);
    return;
  }
  *r = (recv_call){.worker = w, .call = c, .key = key, .write = write};
  atomic_init(&r->refs, 2);
  const weft_err err = recv_call_prepare(r, step_id);
  if (err) {
    weft__call_respond(c, err, NULL);
    recv_call_release(r);
  } else {
    weft__rendezvous_recv(r->step->rendezvous, r->key, recv_call_on_value, r);
    if (atomic_load(&r->canceled)) recv_call_on_cancel(r);
  }
  recv_call_release(r);
}

static weft_err recv_tensor_check(worker *w, const Tensorflow__RecvTensorRequest *q) {
  WEFT_TRY(weft__worker_check_key(w, q->rendezvous_key));
  return weft__request_dedup_check(w->dedup, "RecvTensor", q->request_id);
}

void weft__worker_recv_tensor(worker *w, call *c, ProtobufCMessage *request) {
  const Tensorflow__RecvTensorRequest *q = (const Tensorflow__RecvTensorRequest *)request;
  const weft_err err = recv_tensor_check(w, q);
  if (err) {
    weft__call_respond(c, err, NULL);
    weft__worker_leave(w);
  } else {
    weft__worker_answer_value(w, c, q->step_id, weft__strdup(q->rendezvous_key), weft__received_tensor_write);
  }
  protobuf_c_message_free_unpacked(request, NULL);
}

/* ---- the fetching side ---- */

typedef struct fetch {
  rendezvous *rendezvous;
  recv_fn *fn;
  void *arg;
  peer *peer;
  uint64_t id;
} fetch;

static void fetch_ignore_reply(void *arg, weft_err err, message *reply) { (void)arg, (void)err, (void)reply; }

/* Tells a server that keeps its answer until then that the answer has arrived. */
static void fetch_acknowledge(const fetch *f) {
  message m = {0};
  if (weft__message_add_varint(&m, 1, f->id) == WEFT_OK)
    weft__peer_call(f->peer, MARK_RECV_FINISHED, &m, &(call_opts){.timeout_ms = 10000}, fetch_ignore_reply, NULL);
  weft__message_finish(&m);
}

static void fetch_on_reply(void *arg, weft_err err, message *reply) {
  fetch *f = arg;
  received_tensor got = {0};
  if (!err) err = weft__received_tensor_read(&got, reply);
  weft__rendezvous_release(f->rendezvous); /* before fn, which has a reference too and may end the step */
  f->fn(f->arg, err, got.tensor ? got.tensor : &no_tensor, got.dead);
  if (got.require_ack) fetch_acknowledge(f);
  weft_tensor_destroy(got.tensor);
  weft__free(f);
}

uint64_t weft__worker_request_id(worker *w) {
  uint64_t id = atomic_fetch_add(&w->next_id, 1) * UINT64_C(0x9E3779B97F4A7C15);
  return id ? id : 1;
}

static weft_err fetch_create(worker *w, const worker_step *s, const char *key, fetch **out, message *request) {
  fetch *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->id = weft__worker_request_id(w);
  weft_err err = weft__peers_find(w->peers, key, &f->peer);
  if (!err) err = weft__message_add_varint(request, 1, (uint64_t)s->id);
  if (!err) err = weft__message_add_string(request, 2, key, strlen(key));
  if (!err) err = weft__message_add_varint(request, 7, f->id);
  if (err)
    weft__free(f);
  else
    *out = f;
  return err;
}

void weft__worker_fetch_tensor(void *arg, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg) {
  worker_step *s = arg;
  message request = {0};
  fetch *f;
  if (weft__worker_is_buffer_key(key)) {
    weft__worker_fetch_buffer(s, r, key, fn, fn_arg);
    return;
  }
  weft_err err = fetch_create(s->worker, s, key, &f, &request);
  if (err) {
    fn(fn_arg, err, &no_tensor, false);
  } else {
    weft__rendezvous_retain(r);
    f->rendezvous = r;
    f->fn = fn;
    f->arg = fn_arg;
    weft__peer_call(f->peer, RECV_TENSOR, &request, &(call_opts){.cancel = weft__rendezvous_token(r)}, fetch_on_reply,
                    f);
  }
  weft__message_finish(&request);
}
