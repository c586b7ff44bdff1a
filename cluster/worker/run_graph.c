/* run_graph.c - RunGraph: values in through the step's rendezvous, the part run, values out.
 *
 * A partial run is one run of the part that several calls feed and fetch from: the first starts it,
 * each takes its outputs as they come, the last waits for its end. */
#include "base/alloc.h"
#include "base/cast.h"
#include "cluster/named_tensor.h"
#include "cluster/worker/state.h"
#include "exec/executors/steplog.h"
#include "graph/graphdef.h"
#include "tensor/tensor_proto.h"

typedef struct run_call run_call;

typedef struct output { /* of one recv_key */
  run_call *call;
  weft_tensor *tensor;
} output;

struct run_call {
  worker *worker;
  call *call;
  Tensorflow__RunGraphRequest *q;
  part *part;
  worker_step *step;
  step_log *log;
  output *out;
  atomic_int left; /* outputs awaited, and one while they are asked for */
  pthread_mutex_t lock;
  status err; /* the first of an output */
  partial *partial;
  cancel_watch watch; /* of a partial run, on the call's token */
  bool watched;
};

struct partial {
  atomic_int refs; /* the step's, the run's, each call's */
  cancel token;
  pthread_mutex_t lock;
  bool ended;
  status err;
  run_call *last; /* waits for the end */
};

/* ---- the answer ---- */

static weft_err add_stats(const run_call *r, message *m) {
  uint8_t *stats;
  size_t size;
  WEFT_TRY(weft__step_log_pack_stats(r->log, r->worker->task->device[0]->name, &stats, &size));
  weft_err err = weft__message_add_string(m, 2, stats, size);
  weft__free(stats);
  return err;
}

static weft_err add_graph(const run_call *r, message *m) {
  uint8_t *def;
  size_t size;
  WEFT_TRY(weft__graph_export(r->part->graph, NULL, &def, &size));
  weft_err err = weft__message_add_string(m, 4, def, size);
  weft__free(def);
  return err;
}

static weft_err write_answer(const run_call *r, message *m) {
  for (size_t i = 0; i < r->q->n_recv_key; i++)
    if (r->out[i].tensor) WEFT_TRY(weft__message_add_named(m, 1, r->q->recv_key[i], r->out[i].tensor));
  if (r->log) WEFT_TRY(add_stats(r, m));
  if (r->q->exec_opts && r->q->exec_opts->record_partition_graphs) WEFT_TRY(add_graph(r, m));
  return WEFT_OK;
}

/* The error in the body, where the master asked for it there. */
static weft_err write_error(const run_call *r, weft_err err, message *m) {
  if (!r->q->store_errors_in_response_body) return err;
  const char *text = weft__error_message();
  weft_err failed = weft__message_add_varint(m, 5, (uint64_t)err);
  if (!failed) failed = weft__message_add_string(m, 6, text, strlen(text));
  return failed;
}

static void destroy(run_call *r) {
  worker *w = r->worker;
  for (size_t i = 0; r->out && i < r->q->n_recv_key; i++) weft_tensor_destroy(r->out[i].tensor);
  weft__free(r->out);
  weft__step_log_destroy(r->log);
  weft__status_finish(&r->err);
  weft__partial_release(r->partial);
  if (r->step) weft__worker_step_release(r->step);
  weft__part_release(r->part);
  pthread_mutex_destroy(&r->lock);
  protobuf_c_message_free_unpacked(&r->q->base, NULL);
  weft__free(r);
  weft__worker_leave(w);
}

/* err of the step; what stood in the way of beginning one goes to the call itself. */
static void answer(run_call *r, weft_err err) {
  message m = {0};
  if (r->q->weft_tidy && !err) weft__worker_step_tidy(r->step);
  if (r->watched) weft__cancel_watch_remove(weft__call_cancel(r->call), &r->watch);
  if (weft__cancel_fired(weft__call_cancel(r->call))) weft__worker_step_doom(r->worker, r->q->step_id);
  if (!err) err = write_answer(r, &m);
  if (err) {
    weft__message_finish(&m);
    err = write_error(r, err, &m);
  }
  weft__call_respond(r->call, err, &m);
  weft__message_finish(&m);
  destroy(r);
}

/* ---- outputs ---- */

static void finish_partial(run_call *r, weft_err err);

static void on_last_output(run_call *r) {
  weft_err err = weft__status_raise(&r->err);
  if (r->partial)
    finish_partial(r, err);
  else
    answer(r, err);
}

static void on_output(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  output *o = arg;
  run_call *r = o->call;
  if (!err && dead) err = weft__fail(WEFT_INVALID_ARGUMENT, "The tensor returned for an output was not valid.");
  if (!err) err = weft__tensor_create_like(&o->tensor, t);
  if (err) {
    pthread_mutex_lock(&r->lock);
    weft__status_update(&r->err, err);
    pthread_mutex_unlock(&r->lock);
  }
  if (atomic_fetch_sub(&r->left, 1) == 1) on_last_output(r);
}

static void take_outputs(run_call *r) {
  int n = weft__int_sat(r->q->n_recv_key);
  atomic_store(&r->left, n + 1);
  for (int i = 0; i < n; i++) {
    r->out[i].call = r;
    weft__rendezvous_recv(r->step->rendezvous, r->q->recv_key[i], on_output, &r->out[i]);
  }
  if (atomic_fetch_sub(&r->left, 1) == 1) on_last_output(r);
}

static void on_run(void *arg, weft_err err) {
  run_call *r = arg;
  if (err)
    answer(r, err);
  else
    take_outputs(r);
}

/* ---- partial runs ---- */

void weft__partial_release(partial *p) {
  if (!p || atomic_fetch_sub(&p->refs, 1) != 1) return;
  weft__status_finish(&p->err);
  weft__cancel_finish(&p->token);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}

/* The step's partial run, made for the first call; with a reference. */
static weft_err find_partial(run_call *r, bool *made) {
  partial *fresh = weft__alloc_zero(1, sizeof *fresh);
  if (!fresh) return WEFT_OOM;
  atomic_init(&fresh->refs, 1);
  weft__cancel_init(&fresh->token);
  pthread_mutex_init(&fresh->lock, NULL);
  pthread_mutex_lock(&r->worker->lock);
  *made = !r->step->partial;
  if (*made) {
    r->step->partial = fresh;
    atomic_fetch_add(&fresh->refs, 1);
  }
  r->partial = r->step->partial;
  atomic_fetch_add(&r->partial->refs, 1);
  pthread_mutex_unlock(&r->worker->lock);
  weft__partial_release(fresh);
  return WEFT_OK;
}

/* The outputs are there; the last call also waits for the end of the run. */
static void finish_partial(run_call *r, weft_err err) {
  partial *p = r->partial;
  bool wait = false;
  if (!err && r->q->is_last_partial_run) {
    pthread_mutex_lock(&p->lock);
    wait = !p->ended && !p->last;
    if (wait) p->last = r;
    if (!wait) err = weft__status_raise(&p->err);
    pthread_mutex_unlock(&p->lock);
  }
  if (!wait) answer(r, err);
}

static void on_partial_end(void *arg, weft_err err) {
  partial *p = arg;
  pthread_mutex_lock(&p->lock);
  weft__status_update(&p->err, err);
  p->ended = true;
  run_call *last = p->last;
  p->last = NULL;
  pthread_mutex_unlock(&p->lock);
  if (last) answer(last, err);
  weft__partial_release(p);
}

static void on_gone(void *arg) {
  run_call *r = arg;
  partial *p = r->partial;
  atomic_fetch_add(&p->refs, 1);
  weft__cancel_fire(&p->token, WEFT_CANCELLED, "The caller of a partial run went away");
  weft__partial_release(p);
}

static void go_on_partially(run_call *r, bool made) {
  weft_err err = weft__cancel_watch_add(weft__call_cancel(r->call), &r->watch, on_gone, r);
  if (err) {
    on_gone(r);
    answer(r, weft__cancel_raise(weft__call_cancel(r->call)));
    return;
  }
  r->watched = true;
  if (made) {
    atomic_fetch_add(&r->partial->refs, 1);
    weft__part_run(r->part, &(part_run){.step = r->q->step_id,
                                        .cancel = &r->partial->token,
                                        .borrowed = true,
                                        .done = on_partial_end,
                                        .arg = r->partial});
  }
  take_outputs(r);
}

/* ---- the call ---- */

static weft_err send_inputs(run_call *r) {
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

static weft_err prepare(run_call *r, bool *made) {
  const Tensorflow__RunGraphRequest *q = r->q;
  WEFT_TRY(weft__once_check(r->worker->seen, "RunGraph", q->request_id));
  WEFT_TRY(
      weft__worker_find_part(r->worker, q->session_handle, q->create_worker_session_called, q->graph_handle, &r->part));
  r->out = weft__alloc_zero(q->n_recv_key + 1, sizeof *r->out);
  if (!r->out) return WEFT_OOM;
  if (q->exec_opts && q->exec_opts->record_timeline && !q->is_partial) WEFT_TRY(weft__step_log_create(&r->log));
  WEFT_TRY(weft__worker_step_get(r->worker, q->step_id, true, &r->step));
  if (q->is_partial) WEFT_TRY(find_partial(r, made));
  return send_inputs(r);
}

void weft__worker_run(worker *w, call *c, ProtobufCMessage *request) {
  run_call *r = weft__alloc_zero(1, sizeof *r);
  bool made = false;
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
  weft_err err = prepare(r, &made);
  if (err) {
    weft__call_respond(c, err, NULL);
    destroy(r);
  } else if (r->partial) {
    go_on_partially(r, made);
  } else {
    weft__part_run(r->part, &(part_run){.step = r->q->step_id,
                                        .deadline_ns = weft__call_deadline_ns(c),
                                        .cancel = weft__call_cancel(c),
                                        .log = r->log,
                                        .borrowed = true,
                                        .done = on_run,
                                        .arg = r});
  }
}
