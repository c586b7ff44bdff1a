/* state.h - what the files of the worker share: worker*.c only.
 *
 * worker.c           making and unmaking, and who answers which call
 * worker_session.c   sessions and the graphs registered in them
 * worker_part.c      one run of a part
 * worker_step.c      the steps that parts and calls meet in, and who empties the table
 * worker_recv.c      tensors asked of this task, and asked by it
 * worker_bundle.c    many of them in one call
 * worker_run.c       RunGraph
 * worker_restore.c   what a chief that restores drops and refuses
 *
 * One lock guards the tables.  It is held for moments: never while anything is called back, aborted,
 * fired or freed. */
#ifndef WEFT_CLUSTER_WORKER_STATE_H
#define WEFT_CLUSTER_WORKER_STATE_H

#include "base/map.h"
#include "bundle.pb-c.h"
#include "base/timer.h"
#include "cluster/request_dedup.h"
#include "cluster/worker/worker.h"
#include "exec/plan.h"
#include "exec/session.h"
#include "rpc.pb-c.h"
#include "state/rendezvous.h"
#include "state/step_objects.h"

enum { STEP_BUCKETS = 1024 };

typedef struct worker_session {
  atomic_int refs; /* the table's, each part's */
  worker *worker;
  char *handle, *master; /* master: the task it is on, "" if that is not known */
  uint64_t incarnation;  /* of the master's process; 0: not known */
  resources *resources;  /* the task's, or its own when isolated */
  bool isolated;
  session_role role;
  /* The worker's lock guards: */
  bool outdated; /* a chief has restored since: no run of it begins any more */
  map parts;     /* graph handle -> part, with a reference */
  int64_t next_graph, used_ns;
  int64_t lost_ns; /* since when its master is lost; 0: it is not */
} worker_session;

struct part {
  atomic_int refs;
  worker_session *session;
  weft_graph *graph;
  plan *plan;
};

typedef struct partial partial; /* worker_run.c: a run that is fed and fetched from by several calls */

typedef struct worker_step {
  atomic_int refs; /* the table's, each run's and waiting call's, the timer's */
  worker *worker;
  int64_t id;
  rendezvous *rendezvous;
  /* The worker's lock guards: */
  bool listed, ran; /* in the table; a part has been run in it */
  bool tidy;        /* ends by itself, once nobody uses it and nothing waits in it */
  int64_t used_ns;
  timer doom;       /* set when whoever ran it went away */
  partial *partial; /* or NULL */
  struct worker_step *next;
} worker_step;

typedef struct running { /* a part in flight */
  atomic_int refs;
  part *part;
  worker_step *step;
  part_run asked;
  plan_run run;
  cancel token;       /* its own: a failing node fires it */
  cancel_watch watch; /* on the caller's */
  bool watched;
  atomic_bool outside; /* the caller's token fired */
  atomic_bool late;    /* the deadline passed */
  timer deadline;
  step_objects objects;
  int64_t began_ns;
  bool stopped; /* the worker's lock guards it and the ring */
  struct running *next, *prev;
} running;

struct worker {
  task *task;
  peers *peers;
  timers *timers;
  once *seen;
  atomic_ullong next_id; /* of our requests */
  size_t together_max;   /* bytes of tensors in one message */
  timer sweep;
  worker_session *legacy; /* for masters that make no sessions */

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t idle;
  map sessions; /* handle -> worker_session, with a reference */
  worker_step *step[STEP_BUCKETS];
  int n_step;
  running runs; /* a ring */
  int n_busy;   /* runs, and calls that are being answered */
  bool closed;
  char *restoring; /* the session of the chief that sets variables here; NULL: none does */
};

/* ---- worker.c ---- */
/* Between these two the worker is not destroyed.  UNAVAILABLE when it is about to be. */
weft_err weft__worker_enter(worker *w);
void weft__worker_leave(worker *w);
/* Answers a method that needs no waiting; UNIMPLEMENTED for one that is not known.  The request is emptied. */
weft_err weft__worker_answer(worker *w, const char *method, message *request, message *answer);

/* ---- worker_session.c ---- */
weft_err weft__worker_session_create(worker_session **out, worker *w, const char *handle, const char *master,
                                     session_role role, bool isolate);
/* Notes that the sessions of a task have lost their master. */
void weft__worker_sessions_lost(worker *w, const char *master);
/* Notes that of those the ones of other processes than this (0: of any) have lost it for ever; true: there are some. */
bool weft__worker_sessions_orphaned(worker *w, const char *master, uint64_t incarnation);
void weft__worker_sessions_sweep(worker *w); /* drops those whose master did not come back */
void weft__worker_session_release(worker_session *s);
void weft__worker_session_drop(worker_session *s); /* its graphs, then the reference */
weft_err weft__worker_create_session(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_delete_session(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_register(worker *w, const ProtobufCMessage *request, message *answer);
weft_err weft__worker_deregister(worker *w, const ProtobufCMessage *request, message *answer);
/* The registered graph, with a reference. */
weft_err weft__worker_find_part(worker *w, const char *session, bool created, const char *graph, part **out);

/* ---- worker_part.c ---- */
weft_err weft__part_make(part **out, worker_session *s, weft_graph *graph, const plan_request *r); /* all nodes run */
void weft__running_release(running *u);

/* ---- worker_step.c ---- */
weft_err weft__worker_step_get(worker *w, int64_t id, bool runs,
                               worker_step **out); /* found or made; with a reference */
void weft__worker_step_release(worker_step *s);
void weft__worker_step_tidy(worker_step *s);        /* no CleanupGraph will come, unless something goes wrong */
void weft__worker_step_doom(worker *w, int64_t id); /* cleans up in a second */
void weft__worker_steps_sweep(void *worker);        /* a timer's function: forgets what nobody came back for */
void weft__worker_steps_finish(worker *w);

/* ---- worker_recv.c: the first is a rendezvous_remote's; calls of `begin` kind were entered and leave when answered ---- */
void weft__worker_fetch(void *step, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg);
void weft__worker_recv(worker *w, call *c, ProtobufCMessage *request);
/* Is the source device of a key one of ours, in this incarnation? */
weft_err weft__worker_check_key(const worker *w, const char *key);

uint64_t weft__worker_request_id(worker *w); /* for a request of ours */

/* ---- worker_bundle.c: several at a time, between Weft tasks ---- */
void weft__worker_fetch_all(void *step, rendezvous *r, int n, const recv_request *want);
void weft__worker_recv_all(worker *w, call *c, ProtobufCMessage *request);

/* ---- worker_restore.c ---- */
weft_err weft__worker_answer_restore(worker *w, const ProtobufCMessage *request, message *answer);

/* ---- worker_run.c ---- */
void weft__worker_run(worker *w, call *c, ProtobufCMessage *request);
void weft__partial_release(partial *p);

#endif
