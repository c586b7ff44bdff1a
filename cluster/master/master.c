/* master.c - the sessions of a server, and tensorflow.MasterService on them.
 *
 * Every call may wait for other tasks, so calls run on the blocking pool and never on a thread of the transport.  The
 * lock guards the counts of sessions and runs; clients.c has the lock of the table. */
#include "cluster/master/master.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/clock.h"
#include "cluster/master/broadcast.h"
#include "cluster/master/clients.h"
#include "cluster/blocking_pool.h"
#include "cluster/master/session.h"
#include "net/message_reader.h"
#include <stdio.h>
#include <string.h>

struct master {
  task *task;
  worker *worker;
  peers *peers;
  blocking_pool *blocking_pool;
  clients *clients;
  pthread_mutex_t lock; /* guards what follows */
  int n_open, n_running;
  int64_t last_run_ns;
  weft_session **opened; /* the sessions that are open, in no order */
  int64_t room_opened;
  int n_opened, resets;
  pthread_cond_t reset_ended; /* resets, those that use sessions of the list, is 0 again */
};

weft_err weft__master_create(master **out, task *t, worker *w, peers *p) {
  master *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  m->task = t;
  m->worker = w;
  m->peers = p;
  pthread_mutex_init(&m->lock, NULL);
  pthread_cond_init(&m->reset_ended, NULL);
  weft_err err = weft__blocking_pool_create(&m->blocking_pool);
  if (!err) err = weft__clients_create(&m->clients, m->blocking_pool, weft__worker_timers(w));
  if (err)
    weft__master_destroy(m);
  else
    *out = m;
  return err;
}

/* Removes all sessions of clients and closes them.  Waits for their runs until the token (or NULL) fires. */
static void master_close_clients(master *m, cancel *token) {
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

bool weft__master_is_busy(master *m) { return weft__blocking_pool_busy(m->blocking_pool) > 0; }

void weft__master_destroy(master *m) {
  if (!m) return;
  if (m->clients) weft__clients_stop(m->clients);
  if (m->clients) master_close_clients(m, NULL);
  weft__blocking_pool_destroy(m->blocking_pool);
  if (m->clients) master_close_clients(m, NULL); /* those that a last call created meanwhile */
  weft__clients_destroy(m->clients);
  pthread_cond_destroy(&m->reset_ended);
  pthread_mutex_destroy(&m->lock);
  weft__free((void *)m->opened);
  weft__free(m);
}

/* ---- sessions ---------------------------------------------------------------------------------- */

/* Removes a session that is closed from the list, once no reset uses it.  The caller holds the lock. */
static void master_remove_session(master *m, const weft_session *s) {
  while (m->resets) pthread_cond_wait(&m->reset_ended, &m->lock);
  for (int i = 0; i < m->n_opened; i++)
    if (m->opened[i] == s) m->opened[i] = m->opened[--m->n_opened];
  m->n_open--;
}

static void master_on_session_event(void *arg, weft_session *s, session_event e) {
  master *m = arg;
  pthread_mutex_lock(&m->lock);
  if (e == SESSION_RUN_BEGAN) m->n_running++;
  if (e == SESSION_RUN_ENDED) m->n_running--;
  if (e == SESSION_CLOSED) master_remove_session(m, s);
  if (e != SESSION_CLOSED) m->last_run_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&m->lock);
}

static void master_session_env(master *m, session_env *env) {
  *env = (session_env){m->task, m->worker, m->peers, m->blocking_pool, master_on_session_event, m};
}

static weft_err master_list_session(master *m, weft_session *s) {
  pthread_mutex_lock(&m->lock);
  weft_err err = WEFT_ARRAY_RESERVE(m->opened, m->room_opened, m->n_opened + 1);
  if (!err) m->opened[m->n_opened++] = s;
  pthread_mutex_unlock(&m->lock);
  return err;
}

weft_err weft__master_open(weft_session **out, master *m, weft_graph *g, const session_opts *opts) {
  session_env env;
  session_opts none = {0};
  master_session_env(m, &env);
  if (opts) WEFT_TRY(weft__worker_set_collective_leader(m->worker, opts->collective_leader));
  pthread_mutex_lock(&m->lock);
  m->n_open++; /* a session that cannot be created reports SESSION_CLOSED as well */
  pthread_mutex_unlock(&m->lock);
  WEFT_TRY(weft__cluster_session_create(out, g, opts ? opts : &none, &env));
  weft_err err = master_list_session(m, *out);
  if (!err) return WEFT_OK;
  weft__session_destroy(*out);
  *out = NULL;
  return err;
}

/* Ends the sessions that are open in this process, as TensorFlow's Reset does.  The lock is not held meanwhile, since
 * sessions rank above it. */
static weft_err master_forget_sessions(master *m) {
  pthread_mutex_lock(&m->lock);
  const int n = m->n_opened;
  weft_session **list = weft__alloc(sizeof(*list) * (size_t)(n + 1));
  if (list && n) memcpy((void *)list, (const void *)m->opened, sizeof(*list) * (size_t)n);
  m->resets++;
  pthread_mutex_unlock(&m->lock);
  for (int i = 0; list && i < n; i++) weft__cluster_session_forget(list[i]);
  pthread_mutex_lock(&m->lock);
  if (--m->resets == 0) pthread_cond_broadcast(&m->reset_ended);
  pthread_mutex_unlock(&m->lock);
  weft__free((void *)list);
  return list ? WEFT_OK : WEFT_OOM;
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

/* ---- methods ------------------------------------------------------------------------------------ */

typedef const ProtobufCMessage request_message;

static weft_err master_create_session(master *m, call *c, request_message *q, message *answer) {
  const Tensorflow__CreateSessionRequest *r = (const Tensorflow__CreateSessionRequest *)q;
  client_session *s;
  WEFT_TRY(weft__client_session_create(&s, m, r));
  const char *session_handle = weft__client_session_handle(s);
  weft_err err = weft__message_add_string(answer, 1, session_handle, strlen(session_handle));
  if (!err) err = weft__clients_add(m->clients, s, c);
  if (err) weft__client_session_release(s);
  return err;
}

/* A method on one session, whose handle is field 1 of the request. */
typedef weft_err session_call(client_session *s, call *c, request_message *q, message *answer);

static weft_err master_call_on_session(master *m, const char *session_handle, session_call *fn, call *c,
                                       request_message *q, message *answer) {
  client_session *s;
  WEFT_TRY(weft__clients_acquire(m->clients, session_handle, c, &s));
  weft_err err = fn(s, c, q, answer);
  if (!err && fn == weft__client_session_extend) weft__clients_grow(m->clients, s, weft__call_request(c)->size);
  weft__clients_release(m->clients, s);
  return err;
}

static weft_err master_close_session(master *m, call *c, request_message *q, message *answer) {
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

static weft_err master_clear_containers(master *m, const Tensorflow__ResetRequest *r, cancel *c) {
  int n = weft__peers_count(m->peers), n_calls = 0;
  broadcast_call *calls = weft__alloc_zero((size_t)n + 1, sizeof *calls);
  if (!calls) return WEFT_OOM;
  Tensorflow__CleanupAllRequest q = TENSORFLOW__CLEANUP_ALL_REQUEST__INIT;
  q.n_container = r->n_container;
  q.container = r->container;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    peer *p = weft__peers_at(m->peers, i);
    if (weft__peer_is_self(p)) continue;
    calls[n_calls].to = p;
    err = weft__message_pack(&calls[n_calls++].request, &q.base);
  }
  weft__worker_clear_containers(m->worker, weft__int_sat(r->n_container), (const char *const *)r->container);
  call_opts how = {.timeout_ms = 10000, .cancel = c};
  if (!err) err = weft__broadcast(calls, n_calls, "/tensorflow.WorkerService/CleanupAll", &how);
  weft__broadcast_finish(calls, n_calls);
  weft__free(calls);
  return err;
}

static weft_err master_reset(master *m, call *c, request_message *q, message *answer) {
  (void)answer;
  master_close_clients(m, weft__call_cancel(c));
  WEFT_TRY(master_forget_sessions(m));
  return master_clear_containers(m, (const Tensorflow__ResetRequest *)q, weft__call_cancel(c));
}

static weft_err master_list_devices(master *m, call *c, request_message *q, message *answer) {
  const Tensorflow__ListDevicesRequest *r = (const Tensorflow__ListDevicesRequest *)q;
  client_session *s;
  if (*r->session_handle) {
    if (weft__clients_acquire(m->clients, r->session_handle, c,
                              &s)) /* TensorFlow answers INVALID_ARGUMENT here, with the same text */
      return weft__fail(WEFT_INVALID_ARGUMENT, "Session %.64s is not found. Possibly, this master has restarted.",
                        r->session_handle);
    weft_err found = weft__client_session_devices(s, c, q, answer);
    weft__clients_release(m->clients, s);
    return found;
  }
  Tensorflow__CreateSessionRequest empty = TENSORFLOW__CREATE_SESSION_REQUEST__INIT;
  WEFT_TRY(weft__client_session_create(&s, m, &empty));
  weft_err err = weft__client_session_devices(s, c, q, answer);
  weft__client_session_close(s, NULL);
  weft__client_session_release(s);
  return err;
}

/* ---- dispatch ----------------------------------------------------------------------------------- */

typedef struct master_method {
  const char *name;
  const ProtobufCMessageDescriptor *request;
  weft_err (*call)(master *m, call *c, request_message *q, message *answer); /* either this */
  session_call *session;                                                     /* or this */
  int raw_field; /* a large field, which is read from the call's message and left out of q */
} master_method;

static const master_method master_methods[] = {
    {"CreateSession", &tensorflow__create_session_request__descriptor, master_create_session, NULL},
    {"ExtendSession", &tensorflow__extend_session_request__descriptor, NULL, weft__client_session_extend},
    {"PartialRunSetup", &tensorflow__partial_run_setup_request__descriptor, NULL, weft__client_session_setup_partial},
    {"RunStep", &tensorflow__run_step_request__descriptor, NULL, weft__client_session_run_step, WEFT_STEP_FEEDS},
    {"CloseSession", &tensorflow__close_session_request__descriptor, master_close_session, NULL},
    {"ListDevices", &tensorflow__list_devices_request__descriptor, master_list_devices, NULL},
    {"Reset", &tensorflow__reset_request__descriptor, master_reset, NULL},
    {"MakeCallable", &tensorflow__make_callable_request__descriptor, NULL, weft__client_session_make_callable},
    {"RunCallable", &tensorflow__run_callable_request__descriptor, NULL, weft__client_session_run_callable},
    {"ReleaseCallable", &tensorflow__release_callable_request__descriptor, NULL, weft__client_session_release_callable},
};

typedef struct master_call {
  master *m;
  call *c;
  const master_method *method;
} master_call;

static const char *master_call_session(request_message *q) {
  const ProtobufCFieldDescriptor *f = &q->descriptor->fields[0]; /* session_handle = 1 in all of them */
  return *(char *const *)(const void *)((const char *)q + f->offset);
}

static weft_err master_call_unpack(const master_call *e, ProtobufCMessage **out) {
  message rest = {0}, *all = weft__call_request(e->c);
  if (!e->method->raw_field) return weft__message_unpack(out, all, e->method->request);
  weft_err err = weft__message_copy_without(&rest, all, e->method->raw_field);
  if (!err) err = weft__message_unpack(out, &rest, e->method->request);
  weft__message_finish(&rest);
  return err;
}

static weft_err master_call_answer(const master_call *e, message *answer) {
  ProtobufCMessage *q;
  WEFT_TRY(master_call_unpack(e, &q));
  weft_err err = e->method->call
                     ? e->method->call(e->m, e->c, q, answer)
                     : master_call_on_session(e->m, master_call_session(q), e->method->session, e->c, q, answer);
  protobuf_c_message_free_unpacked(q, NULL);
  return err;
}

static void master_call_run(void *arg) {
  master_call *e = arg;
  message answer = {0};
  weft__message_init(&answer);
  weft_err err = master_call_answer(e, &answer);
  weft__call_respond(e->c, err, &answer);
  weft__message_finish(&answer);
  weft__free(e);
}

static const char master_service[] = "/tensorflow.MasterService/";

void weft__master_handle(master *m, call *c) {
  const char *name = weft__call_method(c);
  weft_err err = weft__fail(WEFT_UNIMPLEMENTED, "Method not found: %.128s", name);
  if (strncmp(name, master_service, sizeof master_service - 1) == 0) name += sizeof master_service - 1;
  for (size_t i = 0; i < sizeof master_methods / sizeof *master_methods; i++) {
    if (strcmp(master_methods[i].name, name) != 0) continue;
    master_call *e = weft__alloc(sizeof *e);
    err = e ? WEFT_OK : WEFT_OOM;
    if (e) *e = (master_call){m, c, &master_methods[i]};
    if (e && (err = weft__blocking_pool_run(m->blocking_pool, master_call_run, e))) weft__free(e);
    if (!err) return;
  }
  weft__call_respond(c, err, NULL);
}
