/* run_graph.c - RunGraph: sends the inputs to the step's rendezvous, runs the part, receives the outputs.
 *
 * A partial run is one run of the part that several calls feed and fetch.  The first call starts it, each call
 * receives its outputs as they arrive, and the last one waits for its end.
 *
 * The lock of a call guards its first error; that of a partial run guards its end.  Both are leaves.  run_call_answer
 * frees the run_call. */
#include "base/alloc.h"
#include "base/cast.h"
#include "cluster/named_tensor.h"
#include "cluster/worker/state.h"
#include "exec/cost_graph.h"
#include "exec/executors/steplog.h"
#include "graph/graphdef.h"
#include "tensor/tensor_proto.h"

typedef struct run_call run_call;

typedef struct run_output { /* the output of one recv_key */
  run_call *call;
  weft_tensor *tensor;
} run_output;

struct run_call {
  worker *worker;
  call *call;
  Tensorflow__RunGraphRequest *q;
  part *part;
  worker_step *step;
  step_log *log;
  run_output *out;
  atomic_int pending;   /* outputs that have not arrived, plus 1 until all receives are started */
  pthread_mutex_t lock; /* guards err */
  status err;           /* the first error of an output */
  worker_partial *partial;
  cancel_watch watch; /* on the call's token, for a partial run */
  bool watched;
};

struct worker_partial {
  atomic_int refs; /* the step, the run and each call hold one */
  cancel token;
  pthread_mutex_t lock; /* guards what follows */
  bool ended;
  status err;
  run_call *last; /* the call that waits for the end of the run; NULL: none */
};

/* ---- the answer ---- */

enum { /* the fields of RunGraphResponse (proto/rpc.proto) */
       RESPONSE_RECV = 1,
       RESPONSE_STEP_STATS = 2,
       RESPONSE_COST_GRAPH = 3,
       RESPONSE_PARTITION_GRAPH = 4,
       RESPONSE_STATUS_CODE = 5,
       RESPONSE_STATUS_MESSAGE = 6
};

static weft_err run_call_add_costs(const run_call *r, const text *stats, message *m) {
  uint8_t *costs;
  size_t size;
  WEFT_TRY(weft__cost_graph_pack(r->part->graph, (const uint8_t *)weft__text_get(stats), stats->size, &costs, &size));
  weft_err err = weft__message_add_string(m, RESPONSE_COST_GRAPH, costs, size);
  weft__free(costs);
  return err;
}

/* Adds the step stats and the cost graph, whichever the master asked for. */
static weft_err run_call_add_stats(const run_call *r, message *m) {
  text stats = {0};
  weft_err err = weft__step_log_write_stats(r->log, r->worker->task->device[0]->name, &stats);
  if (!err && r->q->exec_opts->record_timeline)
    err = weft__message_add_string(m, RESPONSE_STEP_STATS, weft__text_get(&stats), stats.size);
  if (!err && r->q->exec_opts->record_costs) err = run_call_add_costs(r, &stats, m);
  weft__text_finish(&stats);
  return err;
}

static weft_err run_call_add_graph(const run_call *r, message *m) {
  uint8_t *def;
  size_t size;
  WEFT_TRY(weft__graph_export(r->part->graph, NULL, &def, &size));
  weft_err err = weft__message_add_string(m, RESPONSE_PARTITION_GRAPH, def, size);
  weft__free(def);
  return err;
}

static weft_err run_call_write_answer(const run_call *r, message *m) {
  for (size_t i = 0; i < r->q->n_recv_key; i++)
    if (r->out[i].tensor)
      WEFT_TRY(weft__message_add_named_tensor(m, RESPONSE_RECV, r->q->recv_key[i], r->out[i].tensor));
  if (r->log) WEFT_TRY(run_call_add_stats(r, m));
  if (r->q->exec_opts && r->q->exec_opts->record_partition_graphs) WEFT_TRY(run_call_add_graph(r, m));
  return WEFT_OK;
}

/* Writes the error into the body if the master asked for that; otherwise returns it. */
static weft_err run_call_write_error(const run_call *r, weft_err err, message *m) {
  if (!r->q->store_errors_in_response_body) return err;
  const char *why = weft__error_message();
  weft_err failed = weft__message_add_varint(m, RESPONSE_STATUS_CODE, (uint64_t)err);
  if (!failed) failed = weft__message_add_string(m, RESPONSE_STATUS_MESSAGE, why, strlen(why));
  return failed;
}

static void run_call_destroy(run_call *r) {
  worker *w = r->worker;
  for (size_t i = 0; r->out && i < r->q->n_recv_key; i++) weft_tensor_destroy(r->out[i].tensor);
  weft__free(r->out);
  weft__step_log_destroy(r->log);
  weft__status_finish(&r->err);
  weft__worker_partial_release(r->partial);
  if (r->step) weft__worker_step_release(r->step);
  weft__part_release(r->part);
  pthread_mutex_destroy(&r->lock);
  protobuf_c_message_free_unpacked(&r->q->base, NULL);
  weft__free(r);
  weft__worker_leave(w);
}

/* Answers the call with the result of the step, and destroys it.  Errors before the step began are not answered here:
 * they go to the call itself and never into the body. */
static void run_call_answer(run_call *r, weft_err err) {
  message m = {0};
  if (r->q->weft_auto_cleanup && !err) weft__worker_step_set_auto_cleanup(r->step);
  if (r->watched) weft__cancel_watch_remove(weft__call_cancel(r->call), &r->watch);
  if (weft__cancel_fired(weft__call_cancel(r->call))) weft__worker_step_expire(r->worker, r->q->step_id);
  if (!err) err = run_call_write_answer(r, &m);
  if (err) {
    weft__message_finish(&m);
    err = run_call_write_error(r, err, &m);
  }
  weft__call_respond(r->call, err, &m);
  weft__message_finish(&m);
  run_call_destroy(r);
}

/* ---- outputs ---- */

static void run_call_finish_partial(run_call *r, weft_err err);

static void run_call_on_last_output(run_call *r) {
  weft_err err = weft__status_raise(&r->err);
  if (r->partial)
    run_call_finish_partial(r, err);
  else
    run_call_answer(r, err);
}

static void run_call_on_output(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  run_output *o = arg;
  run_call *r = o->call;
  if (!err && dead) err = weft__fail(WEFT_INVALID_ARGUMENT, "The tensor returned for an output was not valid.");
  if (!err) err = weft__tensor_create_like(&o->tensor, t);
  if (err) {
    pthread_mutex_lock(&r->lock);
    weft__status_update(&r->err, err);
    pthread_mutex_unlock(&r->lock);
  }
  if (atomic_fetch_sub(&r->pending, 1) == 1) run_call_on_last_output(r);
}

static void run_call_recv_outputs(run_call *r) {
  int n = weft__int_sat(r->q->n_recv_key);
  atomic_store(&r->pending, n + 1);
  for (int i = 0; i < n; i++) {
    r->out[i].call = r;
    weft__rendezvous_recv(r->step->rendezvous, r->q->recv_key[i], run_call_on_output, &r->out[i]);
  }
  if (atomic_fetch_sub(&r->pending, 1) == 1) run_call_on_last_output(r);
}

static void run_call_on_end(void *arg, weft_err err) {
  run_call *r = arg;
  if (err)
    run_call_answer(r, err);
  else
    run_call_recv_outputs(r);
}

/* ---- partial runs ---- */

void weft__worker_partial_release(worker_partial *p) {
  if (!p || atomic_fetch_sub(&p->refs, 1) != 1) return;
  weft__status_finish(&p->err);
  weft__cancel_finish(&p->token);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

/* Finds the step's partial run, or creates it for the first call.  The call gets a reference. */
static weft_err run_call_find_partial(run_call *r, bool *created) {
  worker_partial *fresh = weft__alloc_zero(1, sizeof *fresh);
  if (!fresh) return WEFT_OOM;
  atomic_init(&fresh->refs, 1);
  weft__cancel_init(&fresh->token);
  pthread_mutex_init(&fresh->lock, NULL);
  pthread_mutex_lock(&r->worker->lock);
  *created = !r->step->partial;
  if (*created) {
    r->step->partial = fresh;
    atomic_fetch_add(&fresh->refs, 1);
  }
  r->partial = r->step->partial;
  atomic_fetch_add(&r->partial->refs, 1);
  pthread_mutex_unlock(&r->worker->lock);
  weft__worker_partial_release(fresh);
  return WEFT_OK;
}

/* Called when the outputs have arrived.  The last call also waits for the end of the run. */
static void run_call_finish_partial(run_call *r, weft_err err) {
  worker_partial *p = r->partial;
  bool wait = false;
  if (!err && r->q->is_last_partial_run) {
    pthread_mutex_lock(&p->lock);
    wait = !p->ended && !p->last;
    if (wait) p->last = r;
    if (!wait) err = weft__status_raise(&p->err);
    pthread_mutex_unlock(&p->lock);
  }
  if (!wait) run_call_answer(r, err);
}

static void worker_partial_on_end(void *arg, weft_err err) {
  worker_partial *p = arg;
  pthread_mutex_lock(&p->lock);
  weft__status_update(&p->err, err);
  p->ended = true;
  run_call *last = p->last;
  p->last = NULL;
  pthread_mutex_unlock(&p->lock);
  if (last) run_call_answer(last, err);
  weft__worker_partial_release(p);
}

static void run_call_on_cancel(void *arg) {
  run_call *r = arg;
  worker_partial *p = r->partial;
  atomic_fetch_add(&p->refs, 1);
  weft__cancel_fire(&p->token, WEFT_CANCELLED, "The caller of a partial run went away");
  weft__worker_partial_release(p);
}

static void run_call_start_partial(run_call *r, bool created) {
  weft_err err = weft__cancel_watch_add(weft__call_cancel(r->call), &r->watch, run_call_on_cancel, r);
  if (err) {
    run_call_on_cancel(r);
    run_call_answer(r, weft__cancel_raise(weft__call_cancel(r->call)));
    return;
  }
  r->watched = true;
  if (created) {
    atomic_fetch_add(&r->partial->refs, 1);
    weft__part_run(r->part, &(part_run){.step = r->q->step_id,
                                        .cancel = &r->partial->token,
                                        .on_transport_thread = true,
                                        .done = worker_partial_on_end,
                                        .arg = r->partial});
  }
  run_call_recv_outputs(r);
}

/* ---- calls ---- */

static weft_err run_call_send_inputs(run_call *r) {
  for (size_t i = 0; i < r->q->n_send; i++) {
    const Tensorflow__NamedTensorProto *n = r->q->send[i];
    weft_tensor *t;
    if (!n->tensor) return weft__fail(WEFT_INVALID_ARGUMENT, "RunGraph: input '%.300s' has no tensor", n->name);
    WEFT_TRY(weft__tensor_from_proto(&t, n->tensor));
    weft_err err = weft__rendezvous_send(r->step->rendezvous, n->name, t, false);
    weft_tensor_destroy(t);
    if (err) return err;
  }
  return WEFT_OK;
}

static weft_err run_call_prepare(run_call *r, bool *created) {
  const Tensorflow__RunGraphRequest *q = r->q;
  WEFT_TRY(weft__request_dedup_check(r->worker->dedup, "RunGraph", q->request_id));
  WEFT_TRY(
      weft__worker_find_part(r->worker, q->session_handle, q->create_worker_session_called, q->graph_handle, &r->part));
  r->out = weft__alloc_zero(q->n_recv_key + 1, sizeof *r->out);
  if (!r->out) return WEFT_OOM;
  const Tensorflow__ExecutorOpts *o = q->exec_opts;
  if (o && (o->record_timeline || o->record_costs) && !q->is_partial) WEFT_TRY(weft__step_log_create(&r->log));
  WEFT_TRY(weft__worker_step_get(r->worker, q->step_id, true, &r->step));
  if (q->is_partial) WEFT_TRY(run_call_find_partial(r, created));
  return run_call_send_inputs(r);
}

void weft__worker_run_graph(worker *w, call *c, ProtobufCMessage *request) {
  run_call *r = weft__alloc_zero(1, sizeof *r);
  bool created = false;
  if (!r) {
    weft__call_respond(c, WEFT_OOM, NULL);
    weft__worker_leave(w);
    protobuf_c_message_free_unpacked(request, NULL);
    return;
  }
  r->worker = w;
  r->call = c;
  r->q = (Tensorflow__RunGraphRequest *)request;
  pthread_mutex_init(&r->lock, NULL);
  weft_err err = run_call_prepare(r, &created);
  if (err) {
    weft__call_respond(c, err, NULL);
    run_call_destroy(r);
  } else if (r->partial) {
    run_call_start_partial(r, created);
  } else {
    weft__part_run(r->part, &(part_run){.step = r->q->step_id,
                                        .deadline_ns = weft__call_deadline_ns(c),
                                        .cancel = weft__call_cancel(c),
                                        .log = r->log,
                                        .on_transport_thread = true,
                                        .done = run_call_on_end,
                                        .arg = r});
  }
}
