/* state.h - the state that the files of the worker share; nothing else includes it but tests.
 *
 * worker.c        creates and destroys the worker, dispatches calls
 * session.c       sessions of masters, and the graphs registered in them
 * part.c          one run of a part
 * step.c          the table of steps, and their expiry
 * recv_tensor.c   RecvTensor, as server and as client
 * recv_batch.c  several tensors in one call
 * collective.c    groups of collective ops, and their buffers
 * run_graph.c     RunGraph
 * restore.c       what is dropped and rejected while a chief restores
 *
 * One lock guards the tables.  It is held for a few lines only: no callback is called, no token fired, no rendezvous
 * aborted and nothing freed under it.
 *
 * Include cycle with cluster/worker/worker: this header is its private part, and needs the types of its public one. */
#ifndef WEFT_CLUSTER_WORKER_STATE_H
#define WEFT_CLUSTER_WORKER_STATE_H

#include "base/list.h"
#include "base/map.h"
#include "recv_batch.pb-c.h"
#include "base/timer.h"
#include "cluster/request_dedup.h"
#include "cluster/worker/worker.h"
#include "exec/executors/run.h"
#include "exec/session.h"
#include "rpc.pb-c.h"
#include "state/collective.h"
#include "state/rendezvous.h"
#include "state/step_objects.h"

enum { STEP_BUCKETS = 1024 };

typedef struct worker_session {
  atomic_int refs; /* one of the table, one of each part */
  worker *worker;
  char *handle, *master; /* master: the name of its task, "" if that is not known */
  uint64_t incarnation;  /* of the master's process; 0: not known */
  resources *resources;  /* the task's, or its own if it is isolated */
  bool isolated;
  session_role role;
  /* Guarded by the worker's lock: */
  bool outdated; /* a chief has restored the variables since: new runs are rejected */
  map parts;     /* graph handle -> part, with a reference */
  int64_t next_graph, used_ns;
  int64_t lost_ns; /* when its master was lost; 0: it is not */
} worker_session;

struct part {
  atomic_int refs;
  worker_session *session;
  weft_graph *graph;
  plan *plan;
};

typedef struct worker_partial worker_partial; /* run_graph.c: a run that several calls feed and fetch */

typedef struct worker_step {
  atomic_int refs; /* one of the table, of each run and waiting call, of the timer */
  worker *worker;
  int64_t id;
  rendezvous *rendezvous;
  /* Guarded by the worker's lock: */
  bool listed, ran;  /* in the table; a part has run in it */
  bool auto_cleanup; /* is dropped once nothing uses it and its rendezvous is empty: no CleanupGraph will come */
  int64_t used_ns;
  timer expiry;            /* step expiry: step.c says what sets it */
  worker_partial *partial; /* or NULL */
  struct worker_step *next;
} worker_step;

typedef struct running_part { /* one run of a part */
  atomic_int refs;
  part *part;
  worker_step *step;
  part_run opts;
  plan_run run;
  cancel token;       /* the run's own: a failing node fires it */
  cancel_watch watch; /* on the caller's token */
  bool watched;
  atomic_bool caller_canceled; /* the caller's token fired */
  atomic_bool timed_out;       /* the deadline passed */
  timer deadline;
  step_objects objects;
  int64_t began_ns;
  bool stopped;   /* its token was fired; guarded by the worker's lock, as is the list */
  list_link link; /* of the worker's runs */
} running_part;

struct worker {
  task *task;
  peers *peers;
  timers *timers;
  request_dedup *dedup;
  atomic_ullong next_id;  /* of requests that this task sends */
  size_t batch_bytes_max; /* bytes of tensors in one message */
  timer sweep;
  collectives *collectives;
  worker_session *legacy; /* for masters that create no sessions */

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t idle;
  map sessions; /* handle -> worker_session, with a reference */
  worker_step *step[STEP_BUCKETS];
  int n_step;
  linked_list runs; /* the oldest first */
  int n_busy;       /* runs, and calls that are being answered */
  bool closed;
  int64_t failed_step; /* the last step with collective ops that failed here and is kept; 0: none */
  peer *leader;        /* of collective ops; NULL: this task, or none */
  char *restoring;     /* the session of the chief that restores variables here; NULL: none does */
};

/* ---- worker.c ---- */
/* The worker is not destroyed between enter and leave.  UNAVAILABLE if it is being destroyed. */
weft_err weft__worker_enter(worker *w);
void weft__worker_leave(worker *w);
/* Answers a method that does not wait; UNIMPLEMENTED for others.  The request is emptied. */
weft_err weft__worker_answer(worker *w, const char *method, message *request, message *answer);

/* ---- session.c ---- */
weft_err weft__worker_session_create(worker_session **out, worker *w, const char *handle, const char *master,
                                     session_role role, bool isolate);
/* Notes that the sessions of this master have lost it. */
void weft__worker_sessions_lost(worker *w, const char *master);
/* Marks the sessions of other processes of this master than this incarnation (0: of all) for the next sweep.  Returns
 * true if there are any. */
bool weft__worker_sessions_orphaned(worker *w, const char *master, uint64_t incarnation);
void weft__worker_sessions_sweep(worker *w); /* drops the sessions whose master did not come back */
void weft__worker_session_release(worker_session *s);
void weft__worker_session_drop(worker_session *s); /* releases its graphs, then the reference */
weft_err weft__worker_create_session(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_delete_session(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_register_graph(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_deregister_graph(worker *w, const ProtobufCMessage *request, message *answer);
/* Finds a registered graph; the caller gets a reference.  created: the master has created the session. */
weft_err weft__worker_find_part(worker *w, const char *session, bool created, const char *graph, part **out);

/* ---- part.c ---- */
/* Compiles a part that runs every node which is not fed.  The part owns the graph, which is destroyed if this fails. */
weft_err weft__part_compile(part **out, worker_session *s, weft_graph *graph, const plan_request *r);
void weft__running_part_release(running_part *u);

/* ---- step.c ---- */
/* Finds the step or creates it; the caller gets a reference.  runs: a part will run in it. */
weft_err weft__worker_step_get(worker *w, int64_t id, bool runs, worker_step **out);
void weft__worker_step_release(worker_step *s);
void weft__worker_step_set_auto_cleanup(worker_step *s);
void weft__worker_step_expire(worker *w, int64_t id); /* sets the timer that cleans the step up in a second */
void weft__worker_steps_sweep(void *worker);          /* drops the steps that nothing has used for an hour */
void weft__worker_steps_finish(worker *w);            /* drops all steps */

/* ---- recv_tensor.c ---- */
/* Fetches a tensor from another task; the function of a rendezvous_remote.  fn is called exactly once. */
void weft__worker_fetch_tensor(void *step, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg);
/* Answers RecvTensor.  The call has entered the worker and leaves it when it is answered; frees the request. */
void weft__worker_recv_tensor(worker *w, call *c, ProtobufCMessage *request);
/* Checks that the source device of a key is one of this task, in this incarnation. */
weft_err weft__worker_check_key(const worker *w, const char *key);
uint64_t weft__worker_request_id(worker *w); /* a new id for a request that this task sends; never 0 */

/* ---- recv_batch.c ---- */
/* The same for several tensors at a time, between Weft tasks. */
void weft__worker_fetch_tensors(void *step, rendezvous *r, int n, const recv_request *want);
void weft__worker_recv_tensors(worker *w, call *c, ProtobufCMessage *request);

/* ---- collective.c ---- */
weft_err weft__worker_open_collectives(worker *w);
void weft__worker_close_collectives(worker *w);
bool weft__worker_is_buffer_key(const char *key); /* of a buffer of a collective op */
void weft__worker_fetch_buffer(worker_step *s, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg);
/* Answer CompleteGroup, CompleteInstance and RecvBuf, as weft__worker_recv_tensor does. */
void weft__worker_complete_group(worker *w, call *c, ProtobufCMessage *request);
void weft__worker_complete_instance(worker *w, call *c, ProtobufCMessage *request);
void weft__worker_recv_buffer(worker *w, call *c, ProtobufCMessage *request);
weft_err weft__worker_get_step_sequence(worker *w, const ProtobufCMessage *request, message *answer);
/* Waits in the step's rendezvous for the value of a key and answers the call with it: `write` makes the message. */
typedef weft_err recv_call_write(message *m, const weft_tensor *t, bool dead);
void weft__worker_answer_value(worker *w, call *c, int64_t step_id, char *key, recv_call_write *write);
const device *weft__worker_find_device(const worker *w, const char *name); /* NULL: it is none of this task */
void weft__worker_describe_device(const device *d, Tensorflow__DeviceAttributes *a, Tensorflow__DeviceLocality *l);

/* ---- restore.c ---- */
weft_err weft__worker_answer_restore(worker *w, const ProtobufCMessage *request, message *answer);

/* ---- run_graph.c ---- */
/* Answers RunGraph.  The call has entered the worker and leaves it when it is answered; frees the request. */
void weft__worker_run_graph(worker *w, call *c, ProtobufCMessage *request);
void weft__worker_partial_release(worker_partial *p);

#endif
