/* master.c - the sessions of a server, and tensorflow.MasterService over them.
 *
 * Every call may wait for other tasks, so each runs as an errand, off the transport's threads. */
#include "cluster/master/master.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "cluster/master/broadcast.h"
#include "cluster/master/clients.h"
#include "cluster/blocking_pool.h"
#include "cluster/master/session.h"
#include "net/message_reader.h"
#include <stdio.h>

struct master {
  task *task;
  worker *worker;
  peers *peers;
  errands *errands;
  clients *clients;
  pthread_mutex_t lock; /* guards what follows */
  int n_open, n_running;
  int64_t last_run_ns;
};

weft_err weft__master_create(master **out, task *t, worker *w, peers *p) {
  master *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  m->task = t;
  m->worker = w;
  m->peers = p;
  pthread_mutex_init(&m->lock, NULL);
  weft_err err = weft__errands_create(&m->errands);
  if (!err) err = weft__clients_create(&m->clients, m->errands, weft__worker_timers(w));
  if (err)
    weft__master_destroy(m);
  else
    *out = m;
  return err;
}

/* Takes every client's session out of the table and closes it; token fired (or NULL): without waiting for what it runs. */
static void close_clients(master *m, cancel *token) {
  for (client_session *s; (s = weft__clients_remove_any(m->clients));) {
    weft__client_session_close(s, token);
    weft__client_session_release(s);
  }
}

void weft__master_stop(master *m) {
  char why[WEFT_TASK_NAME_SIZE + 32];
  int n;
  snprintf(why, sizeof why, "Task %s is going away", m->task->name);
  weft__clients_stop(m->clients);
  client_session **list = weft__clients_list(m->clients, &n);
  for (int i = 0; i < n; i++) {
    weft__client_session_refuse(list[i], WEFT_UNAVAILABLE, why);
    weft__client_session_release(list[i]);
  }
  weft__free((void *)list);
}

bool weft__master_is_busy(master *m) { return weft__errands_busy(m->errands) > 0; }

void weft__master_destroy(master *m) {
  if (!m) return;
  if (m->clients) weft__clients_stop(m->clients);
  if (m->clients) close_clients(m, NULL);
  weft__errands_destroy(m->errands);
  if (m->clients) close_clients(m, NULL); /* made by an errand meanwhile */
  weft__clients_destroy(m->clients);
  pthread_mutex_destroy(&m->lock);
  weft__free(m);
}

/* ---- sessions ---------------------------------------------------------------------------------- */

static void on_event(void *arg, session_event e) {
  master *m = arg;
  pthread_mutex_lock(&m->lock);
  if (e == SESSION_RUN) m->n_running++;
  if (e == SESSION_RAN) m->n_running--;
  if (e == SESSION_CLOSED) m->n_open--;
  if (e != SESSION_CLOSED) m->last_run_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&m->lock);
}

errands *weft__master_errands(master *m, session_world *w) {
  *w = (session_world){m->task, m->worker, m->peers, on_event, m};
  return m->errands;
}

weft_err weft__master_open(weft_session **out, master *m, weft_graph *g, const session_opts *opts) {
  session_world w = {m->task, m->worker, m->peers, on_event, m};
  session_opts none = {0};
  pthread_mutex_lock(&m->lock);
  m->n_open++; /* a session that fails to be made reports its end as well */
  pthread_mutex_unlock(&m->lock);
  return weft__cluster_session_create(out, g, opts ? opts : &none, &w);
}

int weft__master_sessions(master *m, int64_t *last_run_ns) {
  pthread_mutex_lock(&m->lock);
  int n = m->n_open;
  *last_run_ns = m->n_running ? weft__clock_now_ns() : m->last_run_ns;
  pthread_mutex_unlock(&m->lock);
  return n;
}

void weft__master_clients(master *m, int *open, int *idle) {
  clients_count n = weft__clients_count(m->clients);
  *open = n.open;
  *idle = n.idle;
}

/* ---- the calls --------------------------------------------------------------------------------- */

typedef const ProtobufCMessage request_message;

static weft_err create_session(master *m, call *c, request_message *q, message *answer) {
  const Tensorflow__CreateSessionRequest *r = (const Tensorflow__CreateSessionRequest *)q;
  client_session *s;
  WEFT_TRY(weft__client_session_create(&s, m, r));
  const char *text_handle = weft__client_session_handle(s);
  weft_err err = weft__message_add_string(answer, 1, text_handle, strlen(text_handle));
  if (!err) err = weft__clients_add(m->clients, s, c);
  if (err) weft__client_session_release(s);
  return err;
}

/* Calls on one session: its handle is field 1 of every such request. */
typedef weft_err session_call(client_session *s, call *c, request_message *q, message *answer);

static weft_err on_session(master *m, const char *text_handle, session_call *fn, call *c, request_message *q,
                           message *answer) {
  client_session *s;
  WEFT_TRY(weft__clients_begin(m->clients, text_handle, c, &s));
  weft_err err = fn(s, c, q, answer);
  if (!err && fn == weft__client_session_extend) weft__clients_grow(m->clients, s, weft__call_request(c)->size);
  weft__clients_end(m->clients, s);
  return err;
}

static weft_err close_session(master *m, call *c, request_message *q, message *answer) {
  const Tensorflow__CloseSessionRequest *r = (const Tensorflow__CloseSessionRequest *)q;
  (void)answer;
  client_session *s = weft__clients_remove(m->clients, r->session_handle);
  if (!s)
    return weft__fail(WEFT_ABORTED, "Session %.64s is not found. Possibly, this master has restarted.",
                      r->session_handle);
  weft_err err = weft__client_session_close(s, weft__call_cancel(c));
  weft__client_session_release(s);
  return err;
}

static weft_err clear_containers(master *m, const Tensorflow__ResetRequest *r, cancel *c) {
  int n = weft__peers_count(m->peers), asked = 0;
  ask *asks = weft__alloc_zero((size_t)n + 1, sizeof *asks);
  if (!asks) return WEFT_OOM;
  Tensorflow__CleanupAllRequest q = TENSORFLOW__CLEANUP_ALL_REQUEST__INIT;
  q.n_container = r->n_container;
  q.container = r->container;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    peer *p = weft__peers_at(m->peers, i);
    if (weft__peer_is_self(p)) continue;
    asks[asked].to = p;
    err = weft__message_pack(&asks[asked++].request, &q.base);
  }
  weft__worker_clear(m->worker, weft__int_sat(r->n_container), (const char *const *)r->container);
  call_opts how = {.timeout_ms = 10000, .cancel = c};
  if (!err) err = weft__ask_all(asks, asked, "/tensorflow.WorkerService/CleanupAll", &how);
  weft__asks_finish(asks, asked);
  weft__free(asks);
  return err;
}

static weft_err reset(master *m, call *c, request_message *q, message *answer) {
  (void)answer;
  close_clients(m, weft__call_cancel(c));
  return clear_containers(m, (const Tensorflow__ResetRequest *)q, weft__call_cancel(c));
}

static weft_err list_devices(master *m, call *c, request_message *q, message *answer) {
  const Tensorflow__ListDevicesRequest *r = (const Tensorflow__ListDevicesRequest *)q;
  client_session *s;
  if (*r->session_handle) {
    if (weft__clients_begin(m->clients, r->session_handle, c,
                            &s)) /* here TF says INVALID_ARGUMENT, in the same words */
      return weft__fail(WEFT_INVALID_ARGUMENT, "Session %.64s is not found. Possibly, this master has restarted.",
                        r->session_handle);
    weft_err found = weft__client_session_devices(s, c, q, answer);
    weft__clients_end(m->clients, s);
    return found;
  }
  Tensorflow__CreateSessionRequest empty = TENSORFLOW__CREATE_SESSION_REQUEST__INIT;
  WEFT_TRY(weft__client_session_create(&s, m, &empty));
  weft_err err = weft__client_session_devices(s, c, q, answer);
  weft__client_session_close(s, NULL);
  weft__client_session_release(s);
  return err;
}

/* ---- the service ------------------------------------------------------------------------------- */

typedef struct method {
  const char *name;
  const ProtobufCMessageDescriptor *request;
  weft_err (*call)(master *m, call *c, request_message *q, message *answer); /* either this */
  session_call *session;                                                     /* or this */
  int apart; /* a field that is read where it lies, not from the message: it may be large */
} method;

static const method methods[] = {
    {"CreateSession", &tensorflow__create_session_request__descriptor, create_session, NULL},
    {"ExtendSession", &tensorflow__extend_session_request__descriptor, NULL, weft__client_session_extend},
    {"PartialRunSetup", &tensorflow__partial_run_setup_request__descriptor, NULL, weft__client_session_partial},
    {"RunStep", &tensorflow__run_step_request__descriptor, NULL, weft__client_session_step, WEFT_STEP_FEEDS},
    {"CloseSession", &tensorflow__close_session_request__descriptor, close_session, NULL},
    {"ListDevices", &tensorflow__list_devices_request__descriptor, list_devices, NULL},
    {"Reset", &tensorflow__reset_request__descriptor, reset, NULL},
    {"MakeCallable", &tensorflow__make_callable_request__descriptor, NULL, weft__client_session_make_callable},
    {"RunCallable", &tensorflow__run_callable_request__descriptor, NULL, weft__client_session_run_callable},
    {"ReleaseCallable", &tensorflow__release_callable_request__descriptor, NULL, weft__client_session_release_callable},
};

typedef struct errand {
  master *m;
  call *c;
  const method *what;
} errand;

static const char *handle_of(request_message *q) {
  const ProtobufCFieldDescriptor *f = &q->descriptor->fields[0]; /* session_handle = 1 in all of them */
  return *(char *const *)(const void *)((const char *)q + f->offset);
}

static weft_err unpack_request(const errand *e, ProtobufCMessage **out) {
  message rest = {0}, *all = weft__call_request(e->c);
  if (!e->what->apart) return weft__message_unpack(out, all, e->what->request);
  weft_err err = weft__message_copy_without(&rest, all, e->what->apart);
  if (!err) err = weft__message_unpack(out, &rest, e->what->request);
  weft__message_finish(&rest);
  return err;
}

static weft_err answer_call(const errand *e, message *answer) {
  ProtobufCMessage *q;
  WEFT_TRY(unpack_request(e, &q));
  weft_err err = e->what->call ? e->what->call(e->m, e->c, q, answer)
                               : on_session(e->m, handle_of(q), e->what->session, e->c, q, answer);
  protobuf_c_message_free_unpacked(q, NULL);
  return err;
}

static void run_errand(void *arg) {
  errand *e = arg;
  message answer = {0};
  weft__message_init(&answer);
  weft_err err = answer_call(e, &answer);
  weft__call_respond(e->c, err, &answer);
  weft__message_finish(&answer);
  weft__free(e);
}

static const char service[] = "/tensorflow.MasterService/";

void weft__master_handle(master *m, call *c) {
  const char *name = weft__call_method(c);
  weft_err err = weft__fail(WEFT_UNIMPLEMENTED, "Method not found: %.128s", name);
  if (strncmp(name, service, sizeof service - 1) == 0) name += sizeof service - 1;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].name, name) != 0) continue;
    errand *e = weft__alloc(sizeof *e);
    err = e ? WEFT_OK : WEFT_OOM;
    if (e) *e = (errand){m, c, &methods[i]};
    if (e && (err = weft__errand_run(m->errands, run_errand, e))) weft__free(e);
    if (!err) return;
  }
  weft__call_respond(c, err, NULL);
}
