/* worker.c - creates and destroys a worker, and dispatches its calls.
 *
 * Most methods are a function from a request to an answer.  Those that may take long (compiling a graph, freeing
 * variables) run on the task's pool, the others on the thread of the transport.  Methods that wait answer later by
 * themselves.  The lock of state.h guards the tables. */
#include "base/alloc.h"
#include "base/adaptive_mutex.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/worker/state.h"
#include "exec/session.h"
#include "state/sync_token.h"
#include <stdio.h>
#include <stdlib.h>

enum { REQUEST_IDS = 100000 };
#define SERVICE "/tensorflow.WorkerService/"
#define BETWEEN_WEFT "/weft.Worker/"
#define SWEEP_NS (60 * NS_PER_S)

/* ---- creation and destruction ---- */

static void worker_sweep(void *arg) {
  worker *w = arg;
  weft__worker_steps_sweep(w);
  weft__worker_sessions_sweep(w);
  weft__timer_set(w->timers, &w->sweep, weft__clock_now_ns() + SWEEP_NS, worker_sweep, w);
}

/* A task that holds a token is monitored: it may die while no call to it is in progress. */
static void worker_on_token(void *arg, const char *task_name, bool holds) {
  worker *w = arg;
  peer *p;
  if (w->peers && weft__peers_find(w->peers, task_name, &p) == WEFT_OK) weft__peer_monitor(p, holds ? 1 : -1);
}

weft_err weft__worker_create(worker **out, task *t, peers *p) {
  worker *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->task = t;
  w->peers = p;
  w->batch_bytes_max = (size_t)1 << 30;
  weft__list_init(&w->runs);
  weft__adaptive_mutex_init(&w->lock);
  pthread_cond_init(&w->idle, NULL);
  char seed[WEFT_HANDLE_SIZE];
  weft__session_make_handle(seed);
  atomic_init(&w->next_id, strtoull(seed, NULL, 16));
  weft_err err = weft__timers_create(&w->timers);
  if (!err) err = weft__request_dedup_create(&w->dedup, REQUEST_IDS);
  if (!err) err = weft__sync_tokens_create(t->resources, worker_on_token, w);
  if (!err) err = weft__worker_open_collectives(w);
  if (!err) err = weft__worker_session_create(&w->legacy, w, "legacy", "", ROLE_NONE, false);
  if (!err) weft__timer_set(w->timers, &w->sweep, weft__clock_now_ns() + SWEEP_NS, worker_sweep, w);
  if (err)
    weft__worker_destroy(w);
  else
    *out = w;
  return err;
}

/* Returns true if the part sends to the task or receives from it (NULL: always). */
static bool part_exchanges_with(const part *p, const char *task_name) {
  size_t size = task_name ? strlen(task_name) : 0;
  if (!task_name) return true;
  for (int i = 0; i < p->graph->n_node; i++) {
    const weft_node *n = p->graph->node[i];
    const attr *from = weft__node_attr(n, "send_device"), *to = weft__node_attr(n, "recv_device");
    const attr *ends[] = {from, to};
    for (int j = 0; from && to && j < 2; j++)
      if (ends[j]->kind == ATTR_STRING && strncmp(ends[j]->s.data, task_name, size) == 0 &&
          ends[j]->s.data[size] == '/')
        return true;
  }
  return false;
}

/* Returns a run to cancel, or NULL.  The lock is held. */
static running_part *worker_next_to_stop(worker *w, const char *task_name) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  WEFT_LIST_FOR_EACH(link, &w->runs) {
    running_part *u = WEFT_LIST_ITEM(link, running_part, link);
    bool asked = task_name && strcmp(u->part->session->master, task_name) == 0;
    if (!u->stopped && (asked || part_exchanges_with(u->part, task_name))) return u;
  }
  return NULL;
}

/* Cancels the runs that exchange tensors with a task or whose master it is (NULL: all runs). */
static void worker_stop_runs(worker *w, const char *task_name, const char *why) {
  running_part *u;
  pthread_mutex_lock(&w->lock);
  while ((u = worker_next_to_stop(w, task_name))) {
    u->stopped = true;
    atomic_fetch_add(&u->refs, 1);
    pthread_mutex_unlock(&w->lock);
    weft__cancel_fire(&u->token, WEFT_UNAVAILABLE, "Task %s %s", task_name ? task_name : w->task->name, why);
    weft__worker_step_expire(w, u->opts.step);
    weft__running_part_release(u);
    pthread_mutex_lock(&w->lock);
  }
  pthread_mutex_unlock(&w->lock);
}

void weft__worker_task_lost(worker *w, const char *task_name) {
  worker_stop_runs(w, task_name, "is gone");
  weft__worker_sessions_lost(w, task_name);
  if (weft__sync_tokens_return(w->task->resources, task_name))
    weft__log(LOG_INFO, "The token of %s returns to the queue: the other workers continue without it", task_name);
}

static void worker_sweep_task(void *arg) {
  worker *w = arg;
  weft__worker_sessions_sweep(w);
  weft__worker_leave(w);
}

void weft__worker_task_replaced(worker *w, const char *task_name, uint64_t incarnation) {
  if (!weft__worker_sessions_orphaned(w, task_name, incarnation) || weft__worker_enter(w)) return;
  if (weft__pool_submit(w->task->inter, worker_sweep_task, w))
    weft__worker_leave(w); /* the next sweep of the timer does it */
}

timers *weft__worker_timers(worker *w) { return w->timers; }

int weft__worker_sessions(worker *w) {
  pthread_mutex_lock(&w->lock);
  int n = w->sessions.count;
  pthread_mutex_unlock(&w->lock);
  return n;
}

int weft__worker_running(worker *w) {
  pthread_mutex_lock(&w->lock);
  int n = w->n_busy;
  pthread_mutex_unlock(&w->lock);
  return n;
}

int64_t weft__worker_oldest_run(worker *w, char *master, size_t size) {
  pthread_mutex_lock(&w->lock);
  list_link *oldest = weft__list_first(&w->runs);
  const running_part *u = oldest ? WEFT_LIST_ITEM(oldest, running_part, link) : NULL;
  int64_t began_ns = u ? u->began_ns : 0;
  snprintf(master, size, "%s", u ? u->part->session->master : "");
  pthread_mutex_unlock(&w->lock);
  return began_ns;
}

void weft__worker_stop(worker *w) {
  pthread_mutex_lock(&w->lock);
  bool already = w->closed;
  w->closed = true;
  pthread_mutex_unlock(&w->lock);
  if (already) return;
  weft__sync_tokens_destroy(w->task->resources);
  worker_stop_runs(w, NULL, "is going away");
  weft__worker_steps_finish(w);
}

void weft__worker_destroy(worker *w) {
  if (!w) return;
  weft__worker_stop(w);
  pthread_mutex_lock(&w->lock);
  while (w->n_busy) pthread_cond_wait(&w->idle, &w->lock);
  pthread_mutex_unlock(&w->lock);
  weft__timers_destroy(w->timers);
  for (int i = 0; i < w->sessions.used; i++)
    if (w->sessions.entries[i].key) weft__worker_session_drop(w->sessions.entries[i].value);
  if (w->legacy) weft__worker_session_drop(w->legacy);
  weft__worker_close_collectives(w);
  weft__map_finish(&w->sessions);
  weft__request_dedup_destroy(w->dedup);
  weft__free(w->restoring);
  pthread_cond_destroy(&w->idle);
  pthread_mutex_destroy(&w->lock);
  weft__free(w);
}

weft_err weft__worker_enter(worker *w) {
  pthread_mutex_lock(&w->lock);
  bool closed = w->closed;
  if (!closed) w->n_busy++;
  pthread_mutex_unlock(&w->lock);
  return closed ? weft__fail(WEFT_UNAVAILABLE, "Task %s is going away", w->task->name) : WEFT_OK;
}

void weft__worker_leave(worker *w) {
  pthread_mutex_lock(&w->lock);
  if (--w->n_busy == 0) pthread_cond_broadcast(&w->idle);
  pthread_mutex_unlock(&w->lock);
}

/* ---- simple methods ---- */

void weft__worker_describe_device(const device *d, Tensorflow__DeviceAttributes *a, Tensorflow__DeviceLocality *l) {
  *a = (Tensorflow__DeviceAttributes)TENSORFLOW__DEVICE_ATTRIBUTES__INIT;
  *l = (Tensorflow__DeviceLocality)TENSORFLOW__DEVICE_LOCALITY__INIT;
  a->name = d->name;
  a->device_type = (char *)(uintptr_t)d->ops->type;
  a->memory_limit = d->memory_limit;
  a->incarnation = d->incarnation;
  a->locality = l;
  a->physical_device_desc = d->description;
}

static weft_err worker_get_status(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)request;
  for (int i = 0; i < w->task->n_device; i++) {
    Tensorflow__DeviceAttributes a;
    Tensorflow__DeviceLocality locality;
    weft__worker_describe_device(w->task->device[i], &a, &locality);
    WEFT_TRY(weft__message_add_length(answer, 1, tensorflow__device_attributes__get_packed_size(&a)));
    WEFT_TRY(weft__message_pack(answer, &a.base));
  }
  return WEFT_OK;
}

static weft_err worker_cleanup_graph(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)answer;
  weft__worker_cleanup_step(w, ((const Tensorflow__CleanupGraphRequest *)request)->step_id);
  return WEFT_OK;
}

void weft__worker_clear_containers(worker *w, int n, const char *const *container) {
  if (n == 0) weft__resources_clear(w->task->resources, "");
  for (int i = 0; i < n; i++) weft__resources_clear(w->task->resources, container[i]);
}

static weft_err worker_cleanup_all(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)answer;
  const Tensorflow__CleanupAllRequest *q = (const Tensorflow__CleanupAllRequest *)request;
  weft__worker_clear_containers(w, weft__int_sat(q->n_container), (const char *const *)q->container);
  return WEFT_OK;
}

/* MarkRecvFinished and Logging: this worker keeps nothing for the caller to acknowledge or to fetch. */
static weft_err worker_accept(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)w, (void)request, (void)answer;
  return WEFT_OK;
}

static weft_err worker_tracing(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)w, (void)request, (void)answer;
  return weft__fail(WEFT_UNIMPLEMENTED, "Tracing is not supported");
}

/* ---- dispatch ---- */

typedef struct worker_method {
  const char *name;
  const ProtobufCMessageDescriptor *request;
  weft_err (*answer)(worker *w, const ProtobufCMessage *request, message *answer);
  void (*begin)(worker *w, call *c,
                ProtobufCMessage *request); /* for a method that waits: answers by itself, frees the request */
  bool slow;                                /* runs on the task's pool */
} worker_method;

static const worker_method worker_methods[] = {
    {"RunGraph", &tensorflow__run_graph_request__descriptor, NULL, weft__worker_run_graph, false},
    {"RecvTensor", &tensorflow__recv_tensor_request__descriptor, NULL, weft__worker_recv_tensor, false},
    {"CleanupGraph", &tensorflow__cleanup_graph_request__descriptor, worker_cleanup_graph, NULL, false},
    {"GetStatus", &tensorflow__get_status_request__descriptor, worker_get_status, NULL, false},
    {"CreateWorkerSession", &tensorflow__create_worker_session_request__descriptor, weft__worker_create_session, NULL,
     false},
    {"DeleteWorkerSession", &tensorflow__delete_worker_session_request__descriptor, weft__worker_delete_session, NULL,
     true},
    {"RegisterGraph", &tensorflow__register_graph_request__descriptor, weft__worker_register_graph, NULL, true},
    {"DeregisterGraph", &tensorflow__deregister_graph_request__descriptor, weft__worker_deregister_graph, NULL, true},
    {"CleanupAll", &tensorflow__cleanup_all_request__descriptor, worker_cleanup_all, NULL, true},
    {"MarkRecvFinished", &tensorflow__mark_recv_finished_request__descriptor, worker_accept, NULL, false},
    {"Logging", &tensorflow__logging_request__descriptor, worker_accept, NULL, false},
    {"RecvBuf", &tensorflow__recv_buf_request__descriptor, NULL, weft__worker_recv_buffer, false},
    {"CompleteGroup", &tensorflow__complete_group_request__descriptor, NULL, weft__worker_complete_group, false},
    {"CompleteInstance", &tensorflow__complete_instance_request__descriptor, NULL, weft__worker_complete_instance,
     false},
    {"GetStepSequence", &tensorflow__get_step_sequence_request__descriptor, weft__worker_get_step_sequence, NULL,
     false},
    {"Tracing", &tensorflow__tracing_request__descriptor, worker_tracing, NULL, false},
};

static const worker_method recv_tensors_method = {"RecvTensors", &weft__recv_tensors_request__descriptor, NULL,
                                                  weft__worker_recv_tensors, false};

static const worker_method restore_method = {"Restore", &weft__restore_request__descriptor, weft__worker_answer_restore,
                                             NULL, true};

static const worker_method *worker_find_method(const char *path) {
  size_t n = strlen(SERVICE);
  for (size_t i = 0; strncmp(path, SERVICE, n) == 0 && i < sizeof worker_methods / sizeof *worker_methods; i++)
    if (strcmp(path + n, worker_methods[i].name) == 0) return &worker_methods[i];
  if (strcmp(path, BETWEEN_WEFT "Restore") == 0) return &restore_method;
  return strcmp(path, BETWEEN_WEFT "RecvTensors") == 0 ? &recv_tensors_method : NULL;
}

static weft_err worker_unknown_method(const char *path) {
  return weft__fail(WEFT_UNIMPLEMENTED, "Method %s is not implemented by this task", path);
}

static weft_err worker_run_method(worker *w, const worker_method *m, message *request, message *answer) {
  ProtobufCMessage *q;
  WEFT_TRY(weft__message_unpack(&q, request, m->request));
  weft_err err = m->answer(w, q, answer);
  protobuf_c_message_free_unpacked(q, NULL);
  return err;
}

weft_err weft__worker_answer(worker *w, const char *path, message *request, message *answer) {
  const worker_method *m = worker_find_method(path);
  return m && m->answer ? worker_run_method(w, m, request, answer) : worker_unknown_method(path);
}

typedef struct worker_pool_call {
  worker *worker;
  const worker_method *method;
  call *call;
} worker_pool_call;

static void worker_answer_call(worker *w, const worker_method *m, call *c) {
  message answer = {0};
  weft_err err = worker_run_method(w, m, weft__call_request(c), &answer);
  weft__call_respond(c, err, &answer);
  weft__message_finish(&answer);
  weft__worker_leave(w);
}

static void worker_pool_task(void *arg) {
  worker_pool_call submitted = *(worker_pool_call *)arg;
  weft__free(arg);
  worker_answer_call(submitted.worker, submitted.method, submitted.call);
}

static weft_err worker_submit(worker *w, const worker_method *m, call *c) {
  worker_pool_call *submitted = weft__alloc(sizeof *submitted);
  if (!submitted) return WEFT_OOM;
  *submitted = (worker_pool_call){w, m, c};
  weft_err err = weft__pool_submit(w->task->inter, worker_pool_task, submitted);
  if (err) weft__free(submitted);
  return err;
}

static void worker_begin_call(worker *w, const worker_method *m, call *c) {
  ProtobufCMessage *q;
  weft_err err = weft__message_unpack(&q, weft__call_request(c), m->request);
  if (err) {
    weft__call_respond(c, err, NULL);
    weft__worker_leave(w);
  } else {
    m->begin(w, c, q);
  }
}

void weft__worker_handle(worker *w, call *c) {
  const worker_method *m = worker_find_method(weft__call_method(c));
  weft_err err = m ? weft__worker_enter(w) : worker_unknown_method(weft__call_method(c));
  if (err) {
    weft__call_respond(c, err, NULL);
    return;
  }
  if (m->begin) {
    worker_begin_call(w, m, c);
    return;
  }
  if (!m->slow) {
    worker_answer_call(w, m, c);
    return;
  }
  err = worker_submit(w, m, c);
  if (!err) return;
  weft__call_respond(c, err, NULL);
  weft__worker_leave(w);
}
