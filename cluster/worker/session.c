/* session.c - the sessions of masters on this task, and the graphs registered in them.
 *
 * A master that died does not delete its sessions.  They are dropped ten minutes after it was lost, or as soon as
 * another process replaced it or it said goodbye.  A Weft task reports both in greetings; a TensorFlow task that was
 * restarted is noticed when it creates its next session.  The number of sessions is limited: beyond the limit the least
 * recently used one is evicted.  If its master is alive, it gets ABORTED and creates another session.
 *
 * The worker's lock (cluster/worker/state.h) guards the tables.  A session is removed from the table while it is held,
 * and dropped after it was released. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/block.h"
#include "base/clock.h"
#include "cluster/config.h"
#include "cluster/worker/state.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include <inttypes.h>
#include <stdio.h>

enum { SESSIONS_MAX = 1000, GRAPHS_MAX = 65536 };
#define LOST_NS (600 * NS_PER_S) /* a session whose master was lost is dropped after this time */
#define LONG_AGO (-LOST_NS)      /* a lost_ns so old that the next sweep drops the session */

/* ---- sessions ---- */

weft_err weft__worker_session_create(worker_session **out, worker *w, const char *name, const char *master,
                                     session_role role, bool isolate) {
  worker_session *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->refs, 1);
  s->worker = w;
  s->isolated = isolate;
  s->role = role;
  s->resources = w->task->resources;
  s->used_ns = weft__clock_now_ns();
  s->handle = weft__strdup(name);
  s->master = weft__strdup(master);
  weft_err err = s->handle && s->master ? WEFT_OK : WEFT_OOM;
  if (!err && isolate) err = weft__resources_create(&s->resources);
  if (!err) {
    *out = s;
    return WEFT_OK;
  }
  weft__free(s->master);
  weft__free(s->handle);
  weft__free(s);
  return err;
}

void weft__worker_session_release(worker_session *s) {
  if (atomic_fetch_sub(&s->refs, 1) != 1) return;
  if (s->isolated)
    weft__resources_destroy(s->resources);
  else
    weft__resources_end_session(s->resources, s->handle);
  weft__free(s->master);
  weft__free(s->handle);
  weft__free(s);
}

/* Parts that run are not canceled. */
void weft__worker_session_drop(worker_session *s) {
  pthread_mutex_lock(&s->worker->lock);
  map parts = s->parts;
  s->parts = (map){0};
  pthread_mutex_unlock(&s->worker->lock);
  for (int i = 0; i < parts.used; i++)
    if (parts.entries[i].key) weft__part_release(parts.entries[i].value);
  weft__map_finish(&parts);
  weft__worker_session_release(s);
  weft__block_trim_heap(); /* short-lived threads leave free memory in many arenas of malloc */
}

/* Removes the least recently used session from the table if there are too many.  The lock is held. */
static worker_session *worker_take_oldest_session(worker *w) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  worker_session *oldest = NULL;
  if (w->sessions.count <= SESSIONS_MAX) return NULL;
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (s && (!oldest || s->used_ns < oldest->used_ns)) oldest = s;
  }
  return weft__map_remove(&w->sessions, oldest->handle);
}

static weft_err worker_add_session(worker *w, const char *session, const char *master, uint64_t incarnation,
                                   session_role role, bool isolate) {
  if (!*session) return weft__fail(WEFT_INVALID_ARGUMENT, "Session_handle must be non-empty.");
  worker_session *s, *old = NULL;
  WEFT_TRY(weft__worker_session_create(&s, w, session, master, role, isolate));
  s->incarnation = incarnation;
  pthread_mutex_lock(&w->lock);
  bool there = weft__map_get(&w->sessions, session) != NULL;
  weft_err err = WEFT_OK;
  if (role == ROLE_WORKER && w->restoring)
    err = weft__fail(WEFT_UNAVAILABLE, "The chief restores the variables of %s", w->task->name);
  else if (!there)
    err = weft__map_put(&w->sessions, session, s);
  if (!there && !err) old = worker_take_oldest_session(w);
  pthread_mutex_unlock(&w->lock);
  if (there || err) weft__worker_session_release(s);
  if (old) weft__worker_session_drop(old);
  return err;
}

weft_err weft__worker_open_session(worker *w, const char *session, bool isolate) {
  return worker_add_session(w, session, w->task->name, 0, ROLE_NONE, isolate);
}

void weft__worker_sessions_lost(worker *w, const char *master) {
  pthread_mutex_lock(&w->lock);
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (s && !s->lost_ns && strcmp(s->master, master) == 0) s->lost_ns = weft__clock_now_ns();
  }
  pthread_mutex_unlock(&w->lock);
}

bool weft__worker_sessions_orphaned(worker *w, const char *master, uint64_t incarnation) {
  bool any = false;
  pthread_mutex_lock(&w->lock);
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (!s || !s->incarnation || s->incarnation == incarnation || strcmp(s->master, master) != 0) continue;
    s->lost_ns = LONG_AGO;
    any = true;
  }
  pthread_mutex_unlock(&w->lock);
  return any;
}

/* Removes a session from the table whose master was lost long ago.  The lock is held. */
static worker_session *worker_take_lost_session(worker *w) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  int64_t before = weft__clock_now_ns() - LOST_NS;
  for (int i = 0; i < w->sessions.used; i++) {
    worker_session *s = w->sessions.entries[i].key ? w->sessions.entries[i].value : NULL;
    if (s && s->lost_ns && s->lost_ns < before) return weft__map_remove(&w->sessions, s->handle);
  }
  return NULL;
}

void weft__worker_sessions_sweep(worker *w) {
  worker_session *lost;
  do {
    pthread_mutex_lock(&w->lock);
    lost = worker_take_lost_session(w);
    pthread_mutex_unlock(&w->lock);
    if (lost) weft__worker_session_drop(lost);
  } while (lost);
}

void weft__worker_close_session(worker *w, const char *session) {
  pthread_mutex_lock(&w->lock);
  worker_session *s = weft__map_remove(&w->sessions, session);
  pthread_mutex_unlock(&w->lock);
  if (s) weft__worker_session_drop(s);
}

static weft_err worker_no_session(const worker *w, const char *name) {
  return weft__fail(WEFT_ABORTED, "Session handle is not found: %.100s. Possibly this worker (\"%s\") just restarted.",
                    name, w->task->name);
}

/* Finds the session of a request, and notes that it is used.  Borrowed; the lock is held.  Masters before TensorFlow
 * 1.9 send requests without CreateWorkerSession (created is false): all of these use w->legacy. */
static weft_err worker_find_session(worker *w, const char *name, bool created, worker_session **out) {
  WEFT_ASSERT(weft__lock_is_held(&w->lock));
  worker_session *s = weft__map_get(&w->sessions, name);
  if (!s && created) return worker_no_session(w, name);
  if (!s) s = w->legacy;
  s->used_ns = weft__clock_now_ns();
  s->lost_ns = 0;
  *out = s;
  return WEFT_OK;
}

/* ---- requests ---- */

weft_err weft__worker_create_session(worker *w, const ProtobufCMessage *request, message *answer) {
  const Tensorflow__CreateWorkerSessionRequest *q = (const Tensorflow__CreateWorkerSessionRequest *)request;
  (void)answer;
  if (q->server_def && q->server_def->cluster && q->server_def->cluster->n_job)
    return weft__fail(WEFT_UNIMPLEMENTED,
                      "Sessions with a cluster of their own (ConfigProto.cluster_def) are not supported");
  session_role role =
      q->weft_role == ROLE_WORKER || q->weft_role == ROLE_CHIEF ? (session_role)q->weft_role : ROLE_NONE;
  const bool of_tf = *q->master_task && !*q->weft_master;
  const char *master = of_tf ? q->master_task : q->weft_master;
  const uint64_t incarnation = of_tf ? (uint64_t)q->master_incarnation : q->weft_incarnation;
  WEFT_TRY(worker_add_session(w, q->session_handle, master, incarnation, role, q->isolate_session_state));
  /* A TensorFlow master sends no Hello, so its new session is the only sign that it was restarted. */
  if (of_tf && incarnation) weft__worker_task_replaced(w, master, incarnation);
  return WEFT_OK;
}

weft_err weft__worker_delete_session(worker *w, const ProtobufCMessage *request, message *answer) {
  (void)answer;
  weft__worker_close_session(w, ((const Tensorflow__DeleteWorkerSessionRequest *)request)->session_handle);
  return WEFT_OK;
}

static weft_err worker_check_nodes(const worker *w, const weft_graph *g) {
  for (int i = 0; i < g->n_node; i++) {
    const weft_node *n = g->node[i];
    if (!n->op)
      return weft__fail(WEFT_NOT_FOUND,
                        "Op type not registered '%s' in binary running on %s. Make sure the Op and Kernel are "
                        "registered in the binary running in this process.",
                        n->op_name, w->task->name);
    if (!n->device || !*n->device)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s' is missing a device specification", n->name);
  }
  return WEFT_OK;
}

static weft_err worker_import_graph(const worker *w, const Tensorflow__GraphDef *def, weft_graph **out) {
  const op_table *ops;
  WEFT_TRY(weft__ops_table(&ops));
  WEFT_TRY(weft__graph_create(out, ops));
  weft_err err = weft__graph_import_proto(*out, def, &(import_opts){.part = true});
  if (!err) err = worker_check_nodes(w, *out);
  if (err) weft__graph_destroy(*out);
  return err;
}

/* Adds the part to its session under a new handle. */
static weft_err worker_list_part(worker *w, worker_session *s, part *p, char name[17]) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&w->lock);
  bool gone = s != w->legacy && weft__map_get(&w->sessions, s->handle) != s;
  if (gone) err = worker_no_session(w, s->handle);
  if (!err && s->parts.count >= GRAPHS_MAX)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "Session %s has %d graphs registered, which is the limit", s->handle,
                     s->parts.count);
  snprintf(name, 17, "%016" PRIx64, (uint64_t)++s->next_graph);
  if (!err) err = weft__map_put(&s->parts, name, p);
  pthread_mutex_unlock(&w->lock);
  return err;
}

/* Returns true if the master asks for automatic mixed precision. */
static bool worker_is_mixed(const Tensorflow__RegisterGraphRequest *q) {
  return q->graph_options && weft__config_mixed_precision(q->graph_options);
}

static weft_err worker_register_in(worker *w, worker_session *s, const Tensorflow__RegisterGraphRequest *q,
                                   message *answer) {
  Tensorflow__RegisterGraphResponse reply = TENSORFLOW__REGISTER_GRAPH_RESPONSE__INIT;
  Tensorflow__GraphDef empty = TENSORFLOW__GRAPH_DEF__INIT;
  weft_graph *g;
  part *p;
  char name[17];
  WEFT_TRY(worker_import_graph(w, q->graph_def ? q->graph_def : &empty, &g));
  g->mixed_precision = worker_is_mixed(q);
  WEFT_TRY(weft__part_compile(&p, s, g, &(plan_request){.n_feed = 0}));
  weft_err err = worker_list_part(w, s, p, name);
  if (err) {
    weft__part_release(p);
    return err;
  }
  reply.graph_handle = name;
  return weft__message_pack(answer, &reply.base);
}

weft_err weft__worker_register_graph(worker *w, const ProtobufCMessage *request, message *answer) {
  const Tensorflow__RegisterGraphRequest *q = (const Tensorflow__RegisterGraphRequest *)request;
  worker_session *s;
  pthread_mutex_lock(&w->lock);
  weft_err err = worker_find_session(w, q->session_handle, q->create_worker_session_called, &s);
  if (!err) atomic_fetch_add(&s->refs, 1);
  pthread_mutex_unlock(&w->lock);
  if (err) return err;
  err = worker_register_in(w, s, q, answer);
  weft__worker_session_release(s);
  return err;
}

static weft_err worker_no_graph(const worker *w, const char *name) {
  return weft__fail(WEFT_ABORTED, "Graph handle is not found: %.100s. Possibly, this worker (\"%s\") just restarted.",
                    name, w->task->name);
}

weft_err weft__worker_deregister_graph(worker *w, const ProtobufCMessage *request, message *answer) {
  const Tensorflow__DeregisterGraphRequest *q = (const Tensorflow__DeregisterGraphRequest *)request;
  worker_session *s;
  part *p = NULL;
  (void)answer;
  pthread_mutex_lock(&w->lock);
  weft_err err = worker_find_session(w, q->session_handle, q->create_worker_session_called, &s);
  if (!err && !(p = weft__map_remove(&s->parts, q->graph_handle))) err = worker_no_graph(w, q->graph_handle);
  pthread_mutex_unlock(&w->lock);
  if (p) weft__part_release(p);
  return err;
}

weft_err weft__worker_find_part(worker *w, const char *session, bool created, const char *graph, part **out) {
  worker_session *s;
  pthread_mutex_lock(&w->lock);
  weft_err err = worker_find_session(w, session, created, &s);
  if (!err && !(*out = weft__map_get(&s->parts, graph))) err = worker_no_graph(w, graph);
  if (!err) atomic_fetch_add(&(*out)->refs, 1);
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__part_create(part **out, worker *w, const char *session, weft_graph *graph, int n_feed,
                           const weft_out *feed, int n_fetch, const weft_out *fetch) {
  plan_request r = {.n_feed = n_feed, .feed = feed, .n_fetch = n_fetch, .fetch = fetch};
  worker_session *s;
  pthread_mutex_lock(&w->lock);
  weft_err err = worker_find_session(w, session, true, &s);
  if (!err) atomic_fetch_add(&s->refs, 1);
  pthread_mutex_unlock(&w->lock);
  if (err) {
    weft__graph_destroy(graph);
    return err;
  }
  err = weft__part_compile(out, s, graph, &r);
  weft__worker_session_release(s);
  return err;
}
