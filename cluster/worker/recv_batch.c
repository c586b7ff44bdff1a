/* recv_batch.c - the batched receive: all tensors that a stage of a plan receives from one Weft task, in one call.
 *
 * The answer is sent when all tensors are there, since the stage begins no earlier.  If they are too large for one
 * message, they are put back into the rendezvous and the call is answered with UNIMPLEMENTED; then the caller fetches
 * them one by one.
 *
 * The lock of a batch guards its first error; it is a leaf. */
#include "base/alloc.h"
#include "base/cast.h"
#include "cluster/worker/state.h"
#include "io/table.h"

#define RECV_TENSORS "/weft.Worker/RecvTensors"
enum { RESPONSE_FIELD = 1 }; /* the field of each RecvTensorResponse */
enum { KEYS_MAX = 65536 };

static const weft_tensor no_tensor;

/* ---- the serving side ---- */

typedef struct recv_batch recv_batch;

typedef struct recv_batch_value {
  recv_batch *recv_batch;
  const char *key;
  weft_tensor tensor;
  bool dead;
} recv_batch_value;

struct recv_batch {
  atomic_int refs;    /* one until the receives are started, one until it is answered */
  atomic_int pending; /* values that have not arrived, and one until the receives are started */
  worker *worker;
  call *call;
  Weft__RecvTensorsRequest *q;
  worker_step *step;
  cancel_watch watch;
  atomic_bool canceled;
  pthread_mutex_t lock; /* guards err */
  status err;           /* the first error */
  int n;
  recv_batch_value value[];
};

static void recv_batch_release(recv_batch *b) {
  if (atomic_fetch_sub(&b->refs, 1) != 1) return;
  worker *w = b->worker;
  for (int i = 0; i < b->n; i++) weft__tensor_clear(&b->value[i].tensor);
  if (b->step) weft__worker_step_release(b->step);
  weft__status_finish(&b->err);
  pthread_mutex_destroy(&b->lock);
  protobuf_c_message_free_unpacked(&b->q->base, NULL);
  weft__free(b);
  weft__worker_leave(w);
}

static weft_err recv_batch_write_answer(const recv_batch *b, message *m) {
  for (int i = 0; i < b->n; i++) {
    const recv_batch_value *a = &b->value[i];
    message one = {.borrows = true};
    weft_err err = weft__received_tensor_write(&one, a->dead ? NULL : &a->tensor, a->dead);
    if (!err) err = weft__message_add_message(m, RESPONSE_FIELD, &one);
    weft__message_finish(&one);
    if (err) return err;
  }
  return WEFT_OK;
}

/* Returns the values to the rendezvous, where one call each will fetch them. */
static weft_err recv_batch_put_back(recv_batch *b, size_t size) {
  for (int i = 0; i < b->n; i++)
    WEFT_TRY(weft__rendezvous_send(b->step->rendezvous, b->value[i].key, &b->value[i].tensor, b->value[i].dead));
  return weft__fail(WEFT_UNIMPLEMENTED, "%d tensors of %zu bytes are too large for one message", b->n, size);
}

static void recv_batch_answer(recv_batch *b) {
  message m = {.borrows = true};
  weft__cancel_watch_remove(weft__call_cancel(b->call), &b->watch);
  weft_err err = weft__status_raise(&b->err);
  if (!err) err = recv_batch_write_answer(b, &m);
  if (!err && m.size > b->worker->batch_bytes_max) err = recv_batch_put_back(b, m.size);
  weft__call_respond(b->call, err, &m);
  weft__message_finish(&m);
  for (int i = 0; i < b->n; i++)
    weft__tensor_clear(&b->value[i].tensor); /* the last one may share memory of its step */
  recv_batch_release(b);
}

static void recv_batch_on_arrival(recv_batch_value *a, weft_err err) {
  recv_batch *b = a->recv_batch;
  if (err) {
    pthread_mutex_lock(&b->lock);
    weft__status_update(&b->err, err);
    pthread_mutex_unlock(&b->lock);
  }
  if (atomic_fetch_sub(&b->pending, 1) == 1) recv_batch_answer(b);
}

/* The last value is shared and not kept: the answer is sent before this returns. */
static void recv_batch_on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  recv_batch_value *a = arg;
  bool last = atomic_load(&a->recv_batch->pending) == 1;
  if (!err && !dead && last)
    weft__tensor_share(&a->tensor, t);
  else if (!err && !dead)
    err = weft__tensor_keep(&a->tensor, t);
  a->dead = dead;
  recv_batch_on_arrival(a, err);
}

/* The caller canceled: ends the receives whose values have not arrived. */
static void recv_batch_on_cancel(void *arg) {
  recv_batch *b = arg;
  atomic_fetch_add(&b->refs, 1); /* the last of these arrivals answers and drops a reference */
  atomic_store(&b->canceled, true);
  for (int i = 0; i < b->n; i++) {
    recv_batch_value *a = &b->value[i];
    if (weft__rendezvous_cancel_recv(b->step->rendezvous, a->key, recv_batch_on_value, a))
      recv_batch_on_arrival(a, weft__cancel_raise(weft__call_cancel(b->call)));
  }
  recv_batch_release(b);
}

static weft_err recv_batch_prepare(recv_batch *b) {
  WEFT_TRY(weft__request_dedup_check(b->worker->dedup, "RecvTensors", b->q->request_id));
  for (int i = 0; i < b->n; i++) {
    b->value[i].recv_batch = b;
    b->value[i].key = b->q->rendezvous_key[i];
    WEFT_TRY(weft__worker_check_key(b->worker, b->value[i].key));
  }
  WEFT_TRY(weft__worker_step_get(b->worker, b->q->step_id, false, &b->step));
  return weft__cancel_watch_add(weft__call_cancel(b->call), &b->watch, recv_batch_on_cancel, b);
}

static weft_err recv_batch_create(recv_batch **out, worker *w, call *c, Weft__RecvTensorsRequest *q) {
  size_t n = q->n_rendezvous_key;
  if (n == 0 || n > KEYS_MAX) return weft__fail(WEFT_INVALID_ARGUMENT, "RecvTensors: %zu keys", n);
  recv_batch *b = weft__alloc_zero(1, sizeof *b + n * sizeof *b->value);
  if (!b) return WEFT_OOM;
  atomic_init(&b->refs, 2);
  atomic_init(&b->pending, weft__int_sat(n) + 1);
  pthread_mutex_init(&b->lock, NULL);
  b->worker = w;
  b->call = c;
  b->q = q;
  b->n = weft__int_sat(n);
  *out = b;
  return WEFT_OK;
}

void weft__worker_recv_tensors(worker *w, call *c, ProtobufCMessage *request) {
  recv_batch *b;
  weft_err err = recv_batch_create(&b, w, c, (Weft__RecvTensorsRequest *)request);
  if (err) {
    weft__call_respond(c, err, NULL);
    weft__worker_leave(w);
    protobuf_c_message_free_unpacked(request, NULL);
    return;
  }
  err = recv_batch_prepare(b);
  if (err) {
    weft__call_respond(c, err, NULL);
    recv_batch_release(b);
  } else {
    for (int i = 0; i < b->n; i++)
      weft__rendezvous_recv(b->step->rendezvous, b->value[i].key, recv_batch_on_value, &b->value[i]);
    if (atomic_load(&b->canceled)) recv_batch_on_cancel(b);
    if (atomic_fetch_sub(&b->pending, 1) == 1) recv_batch_answer(b);
  }
  recv_batch_release(b);
}

/* ---- the fetching side ---- */

typedef struct recv_batch_fetch {
  rendezvous *rendezvous;
  worker_step *step;
  int n;
  recv_request want[];
} recv_batch_fetch;

/* Reads the tag and length at the beginning of the reply.  Returns their number of bytes, or 0 if they are wrong. */
static size_t recv_batch_read_head(const message *reply, uint64_t *length) {
  uint8_t head[11];
  size_t n = 0;
  for (int i = 0; i < reply->n_piece && n < sizeof head; i++) {
    const piece *p = weft__message_piece(reply, i);
    for (size_t j = 0; j < p->size && n < sizeof head; j++) head[n++] = p->data[j];
  }
  if (n < 2 || head[0] != (RESPONSE_FIELD << 3 | 2)) return 0;
  const uint8_t *end = weft__varint_get(head + 1, head + n, length);
  return end && *length <= reply->size - (size_t)(end - head) ? (size_t)(end - head) : 0;
}

/* Removes the next RecvTensorResponse from the reply and reads it. */
static weft_err recv_batch_next_tensor(message *reply, received_tensor *out) {
  uint64_t length = 0;
  size_t head = recv_batch_read_head(reply, &length);
  message one = {0};
  if (head == 0) return weft__fail(WEFT_INTERNAL, "RecvTensors: the answer is malformed");
  weft_err err = weft__message_move_bytes(&one, reply, head);
  weft__message_finish(&one);
  if (!err) err = weft__message_move_bytes(&one, reply, (size_t)length);
  if (!err) err = weft__received_tensor_read(out, &one);
  weft__message_finish(&one);
  return err;
}

static void recv_batch_fetch_singly(recv_batch_fetch *f) {
  for (int i = 0; i < f->n; i++)
    weft__worker_fetch_tensor(f->step, f->rendezvous, f->want[i].key, f->want[i].fn, f->want[i].arg);
}

static void recv_batch_deliver(recv_batch_fetch *f, weft_err code, message *reply) {
  status err = {0};
  weft__status_update(&err, code);
  for (int i = 0; i < f->n; i++) {
    received_tensor got = {0};
    if (!err.code) weft__status_update(&err, recv_batch_next_tensor(reply, &got));
    f->want[i].fn(f->want[i].arg, weft__status_raise(&err), got.tensor ? got.tensor : &no_tensor, got.dead);
    weft_tensor_destroy(got.tensor);
  }
  weft__status_finish(&err);
}

static void recv_batch_on_reply(void *arg, weft_err err, message *reply) {
  recv_batch_fetch *f = arg;
  if (err == WEFT_UNIMPLEMENTED)
    recv_batch_fetch_singly(f);
  else
    recv_batch_deliver(f, err, reply);
  weft__worker_step_release(f->step);
  weft__rendezvous_release(f->rendezvous);
  weft__free(f);
}

static weft_err recv_batch_write_request(const worker_step *s, int n, const recv_request *want, message *m) {
  WEFT_TRY(weft__message_add_varint(m, 1, (uint64_t)s->id));
  for (int i = 0; i < n; i++) WEFT_TRY(weft__message_add_string(m, 2, want[i].key, strlen(want[i].key)));
  return weft__message_add_varint(m, 3, weft__worker_request_id(s->worker));
}

void weft__worker_fetch_tensors(void *arg, rendezvous *r, int n, const recv_request *want) {
  worker_step *s = arg;
  message request = {0};
  peer *from = NULL;
  bool is_weft = weft__peers_find(s->worker->peers, want->key, &from) == WEFT_OK && weft__peer_kind(from) == PEER_WEFT;
  recv_batch_fetch *f = is_weft && n <= KEYS_MAX ? weft__alloc(sizeof *f + sizeof *want * (size_t)n) : NULL;
  if (!f || recv_batch_write_request(s, n, want, &request) != WEFT_OK) {
    for (int i = 0; i < n; i++) weft__worker_fetch_tensor(s, r, want[i].key, want[i].fn, want[i].arg);
    weft__free(f);
  } else {
    *f = (recv_batch_fetch){.rendezvous = r, .step = s, .n = n};
    memcpy(f->want, want, sizeof *want * (size_t)n);
    atomic_fetch_add(&s->refs, 1);
    weft__rendezvous_retain(r);
    weft__peer_call(from, RECV_TENSORS, &request, &(call_opts){.cancel = weft__rendezvous_token(r)},
                    recv_batch_on_reply, f);
  }
  weft__message_finish(&request);
}
