/* bundle.c - everything a stage of a plan receives from one Weft task, in one call.
 *
 * The answer comes when all of it is there: a stage begins no earlier.  What is too large to travel
 * together is put back and the call is answered UNIMPLEMENTED; then it is asked for one by one. */
#include "base/alloc.h"
#include "base/cast.h"
#include "cluster/worker/state.h"
#include "io/table.h"

#define RECV_ALL "/weft.Worker/RecvTensors"
enum { ANSWER = 1 }; /* the field of each RecvTensorResponse */
enum { KEYS_MAX = 65536 };

static const weft_tensor nothing;

/* ---- asked of us ---- */

typedef struct bundle bundle;

typedef struct awaited {
  bundle *bundle;
  const char *key;
  weft_tensor tensor;
  bool dead;
} awaited;

struct bundle {
  atomic_int refs; /* while it is begun, and until it is answered */
  atomic_int left; /* values that have not come */
  worker *worker;
  call *call;
  Weft__RecvTensorsRequest *q;
  worker_step *step;
  cancel_watch watch;
  atomic_bool gone;
  pthread_mutex_t lock;
  status err; /* the first */
  int n;
  awaited value[];
};

static void release(bundle *b) {
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

static weft_err write_all(const bundle *b, message *m) {
  for (int i = 0; i < b->n; i++) {
    const awaited *a = &b->value[i];
    message one = {.borrows = true};
    weft_err err = weft__received_tensor_write(&one, a->dead ? NULL : &a->tensor, a->dead);
    if (!err) err = weft__message_add_message(m, ANSWER, &one);
    weft__message_finish(&one);
    if (err) return err;
  }
  return WEFT_OK;
}

/* They wait again, for one call each. */
static weft_err put_back(bundle *b, size_t size) {
  for (int i = 0; i < b->n; i++)
    WEFT_TRY(weft__rendezvous_send(b->step->rendezvous, b->value[i].key, &b->value[i].tensor, b->value[i].dead));
  return weft__fail(WEFT_UNIMPLEMENTED, "%d tensors of %zu bytes are too large for one message", b->n, size);
}

static void answer(bundle *b) {
  message m = {.borrows = true};
  weft__cancel_watch_remove(weft__call_cancel(b->call), &b->watch);
  weft_err err = weft__status_raise(&b->err);
  if (!err) err = write_all(b, &m);
  if (!err && m.size > b->worker->together_max) err = put_back(b, m.size);
  weft__call_respond(b->call, err, &m);
  weft__message_finish(&m);
  for (int i = 0; i < b->n; i++) weft__tensor_clear(&b->value[i].tensor); /* the last may be its step's own memory */
  release(b);
}

static void arrived(awaited *a, weft_err err) {
  bundle *b = a->bundle;
  if (err) {
    pthread_mutex_lock(&b->lock);
    weft__status_update(&b->err, err);
    pthread_mutex_unlock(&b->lock);
  }
  if (atomic_fetch_sub(&b->left, 1) == 1) answer(b);
}

/* The last value is sent from where it lies: the answer leaves before this returns. */
static void on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  awaited *a = arg;
  bool last = atomic_load(&a->bundle->left) == 1;
  if (!err && !dead && last)
    weft__tensor_share(&a->tensor, t);
  else if (!err && !dead)
    err = weft__tensor_keep(&a->tensor, t);
  a->dead = dead;
  arrived(a, err);
}

/* The caller is gone: what has not come is not awaited any more. */
static void on_gone(void *arg) {
  bundle *b = arg;
  atomic_fetch_add(&b->refs, 1); /* the last of these answers */
  atomic_store(&b->gone, true);
  for (int i = 0; i < b->n; i++) {
    awaited *a = &b->value[i];
    if (weft__rendezvous_cancel_recv(b->step->rendezvous, a->key, on_value, a))
      arrived(a, weft__cancel_raise(weft__call_cancel(b->call)));
  }
  release(b);
}

static weft_err prepare(bundle *b) {
  WEFT_TRY(weft__once_check(b->worker->seen, "RecvTensors", b->q->request_id));
  for (int i = 0; i < b->n; i++) {
    b->value[i].bundle = b;
    b->value[i].key = b->q->rendezvous_key[i];
    WEFT_TRY(weft__worker_check_key(b->worker, b->value[i].key));
  }
  WEFT_TRY(weft__worker_step_get(b->worker, b->q->step_id, false, &b->step));
  return weft__cancel_watch_add(weft__call_cancel(b->call), &b->watch, on_gone, b);
}

static weft_err create(bundle **out, worker *w, call *c, Weft__RecvTensorsRequest *q) {
  size_t n = q->n_rendezvous_key;
  if (n == 0 || n > KEYS_MAX) return weft__fail(WEFT_INVALID_ARGUMENT, "RecvTensors: %zu keys", n);
  bundle *b = weft__alloc_zero(1, sizeof *b + n * sizeof *b->value);
  if (!b) return WEFT_OOM;
  atomic_init(&b->refs, 2);
  atomic_init(&b->left, weft__int_sat(n) + 1);
  pthread_mutex_init(&b->lock, NULL);
  b->worker = w;
  b->call = c;
  b->q = q;
  b->n = weft__int_sat(n);
  *out = b;
  return WEFT_OK;
}

void weft__worker_recv_all(worker *w, call *c, ProtobufCMessage *request) {
  bundle *b;
  weft_err err = create(&b, w, c, (Weft__RecvTensorsRequest *)request);
  if (err) {
    weft__call_respond(c, err, NULL);
    weft__worker_leave(w);
    protobuf_c_message_free_unpacked(request, NULL);
    return;
  }
  err = prepare(b);
  if (err) {
    weft__call_respond(c, err, NULL);
    release(b);
  } else {
    for (int i = 0; i < b->n; i++) weft__rendezvous_recv(b->step->rendezvous, b->value[i].key, on_value, &b->value[i]);
    if (atomic_load(&b->gone)) on_gone(b);
    if (atomic_fetch_sub(&b->left, 1) == 1) answer(b);
  }
  release(b);
}

/* ---- asked by us ---- */

typedef struct errand {
  rendezvous *rendezvous;
  worker_step *step;
  int n;
  recv_request want[];
} errand;

/* The tag and length that the reply begins with: how many bytes they take, 0 if they are wrong. */
static size_t read_head(const message *reply, uint64_t *length) {
  uint8_t head[11];
  size_t n = 0;
  for (int i = 0; i < reply->n_piece && n < sizeof head; i++) {
    const piece *p = weft__message_piece(reply, i);
    for (size_t j = 0; j < p->size && n < sizeof head; j++) head[n++] = p->data[j];
  }
  if (n < 2 || head[0] != (ANSWER << 3 | 2)) return 0;
  const uint8_t *end = weft__varint_get(head + 1, head + n, length);
  return end && *length <= reply->size - (size_t)(end - head) ? (size_t)(end - head) : 0;
}

/* Cuts the next RecvTensorResponse off the reply. */
static weft_err next_answer(message *reply, received_tensor *out) {
  uint64_t length = 0;
  size_t head = read_head(reply, &length);
  message one = {0};
  if (head == 0) return weft__fail(WEFT_INTERNAL, "RecvTensors: the answer cannot be read");
  weft_err err = weft__message_move_bytes(&one, reply, head);
  weft__message_finish(&one);
  if (!err) err = weft__message_move_bytes(&one, reply, (size_t)length);
  if (!err) err = weft__received_tensor_read(out, &one);
  weft__message_finish(&one);
  return err;
}

static void fetch_singly(errand *e) {
  for (int i = 0; i < e->n; i++)
    weft__worker_fetch(e->step, e->rendezvous, e->want[i].key, e->want[i].fn, e->want[i].arg);
}

static void hand_on(errand *e, weft_err code, message *reply) {
  status err = {0};
  weft__status_update(&err, code);
  for (int i = 0; i < e->n; i++) {
    received_tensor got = {0};
    if (!err.code) weft__status_update(&err, next_answer(reply, &got));
    e->want[i].fn(e->want[i].arg, weft__status_raise(&err), got.tensor ? got.tensor : &nothing, got.dead);
    weft_tensor_destroy(got.tensor);
  }
  weft__status_finish(&err);
}

static void on_reply(void *arg, weft_err err, message *reply) {
  errand *e = arg;
  if (err == WEFT_UNIMPLEMENTED)
    fetch_singly(e);
  else
    hand_on(e, err, reply);
  weft__worker_step_release(e->step);
  weft__rendezvous_release(e->rendezvous);
  weft__free(e);
}

static weft_err write_request(const worker_step *s, int n, const recv_request *want, message *m) {
  WEFT_TRY(weft__message_add_varint(m, 1, (uint64_t)s->id));
  for (int i = 0; i < n; i++) WEFT_TRY(weft__message_add_string(m, 2, want[i].key, strlen(want[i].key)));
  return weft__message_add_varint(m, 3, weft__worker_request_id(s->worker));
}

void weft__worker_fetch_all(void *arg, rendezvous *r, int n, const recv_request *want) {
  worker_step *s = arg;
  message request = {0};
  peer *from = NULL;
  bool weft = weft__peers_find(s->worker->peers, want->key, &from) == WEFT_OK && weft__peer_kind(from) == PEER_WEFT;
  errand *e = weft && n <= KEYS_MAX ? weft__alloc(sizeof *e + sizeof *want * (size_t)n) : NULL;
  if (!e || write_request(s, n, want, &request) != WEFT_OK) {
    for (int i = 0; i < n; i++) weft__worker_fetch(s, r, want[i].key, want[i].fn, want[i].arg);
    weft__free(e);
  } else {
    *e = (errand){.rendezvous = r, .step = s, .n = n};
    memcpy(e->want, want, sizeof *want * (size_t)n);
    atomic_fetch_add(&s->refs, 1);
    weft__rendezvous_retain(r);
    weft__peer_call(from, RECV_ALL, &request, &(call_opts){.cancel = weft__rendezvous_token(r)}, on_reply, e);
  }
  weft__message_finish(&request);
}
