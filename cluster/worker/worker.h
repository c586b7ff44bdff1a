/* worker.h - what a task does for masters: keeps their graphs, runs their parts, sends tensors.
 *
 * Calls over the network arrive through weft__worker_handle.  The master of this process calls the other functions
 * directly and so runs its own part without a message.
 *
 * Functions may be called from any thread and do not block, unless they say otherwise.  The server owns the worker. */
#ifndef WEFT_CLUSTER_WORKER_WORKER_H
#define WEFT_CLUSTER_WORKER_WORKER_H

#include "cluster/membership/peer.h"
#include "exec/task.h"
#include "graph/graph.h"

typedef struct worker worker;
typedef struct part part; /* a registered graph and its plan; reference counted */

weft_err weft__worker_create(worker **out, task *t, peers *p); /* both outlive it */
/* Cancels what runs here, ends everything that waits in its steps, and rejects new calls.  Does not wait. */
void weft__worker_stop(worker *w);
void weft__worker_destroy(worker *w); /* stops the worker and waits until nothing runs; NULL is allowed */
/* Returns the worker's timers, for components that are destroyed before the worker.  Borrowed. */
struct timers *weft__worker_timers(worker *w);
/* Answers a call of tensorflow.WorkerService or weft.Worker; UNIMPLEMENTED for unknown methods. */
void weft__worker_handle(worker *w, call *c);

/* Another task died, left or was restarted: the runs that exchange tensors with it end with UNAVAILABLE, and its
 * tokens return to their queue. */
void weft__worker_task_lost(worker *w, const char *task);
/* A process with this incarnation replaced the earlier ones of a task (0: the task said goodbye).  The sessions of the
 * earlier ones are dropped. */
void weft__worker_task_replaced(worker *w, const char *task, uint64_t incarnation);

weft_err weft__worker_open_session(worker *w, const char *session, bool isolate); /* CreateWorkerSession */
void weft__worker_close_session(worker *w, const char *session);                  /* DeleteWorkerSession */

/* The session `chief` begins, or ends, to restore the variables of this task.  *n_running is the number of runs of the
 * job's other members that have not ended yet.  ABORTED at the end if this task does not know of the begin. */
weft_err weft__worker_restore(worker *w, const char *chief, bool begin, int *n_running);

/* Compiles a part that runs every node of the graph; feeds and fetches are outputs of it.  The part owns the graph,
 * which is destroyed if this fails.  ABORTED if there is no such session. */
weft_err weft__part_create(part **out, worker *w, const char *session, weft_graph *graph, int n_feed,
                           const weft_out *feed, int n_fetch, const weft_out *fetch);
void weft__part_release(part *p); /* NULL is allowed */

typedef struct part_run {         /* everything it points at outlives the run */
  int64_t step;                   /* the id of the step in the cluster, which names its rendezvous */
  const weft_tensor *const *feed; /* as in weft__part_create */
  weft_tensor **fetched;
  int64_t deadline_ns; /* 0: none */
  cancel *cancel;
  struct step_log *log;     /* NULL: not traced */
  bool on_transport_thread; /* the caller is a thread of a transport: long kernels run on the task's pool */
  void (*done)(void *arg, weft_err err);
  void *arg;
} part_run;
/* Starts a run.  It runs on this thread until it has to wait, then on others.  Calls done exactly once, on any thread,
 * perhaps before this returns; the message of err is that thread's. */
void weft__part_run(part *p, const part_run *r);
/* Returns true if the first stage of the part receives values from that task. */
bool weft__part_receives_from(const part *p, const char *task_name);
/* For partial runs: leave a value in a step's rendezvous; take one, when it is there. */
weft_err weft__worker_send_value(worker *w, int64_t id, const char *key, const weft_tensor *t);
void weft__worker_recv_value(worker *w, int64_t id, const char *key,
                             void (*fn)(void *arg, weft_err err, const weft_tensor *t, bool dead), void *arg);
/* Drops the step and its tensors.  Receives that wait in it end with ABORTED "Cleanup ID". */
void weft__worker_cleanup_step(worker *w, int64_t id);
/* Empties n resource containers, or the default one if n is 0. */
void weft__worker_clear_containers(worker *w, int n, const char *const *container);

/* The task that completes groups of collective ops, by its name; "" changes nothing. */
weft_err weft__worker_set_collective_leader(worker *w, const char *name);
peer *weft__worker_collective_leader(worker *w);         /* NULL: this task, or none */
struct collectives *weft__worker_collectives(worker *w); /* borrowed */
/* A step has succeeded whose buffers other tasks may still fetch: it is dropped when they have. */
void weft__worker_keep_step(worker *w, int64_t id);
/* A step has failed with the present error: tasks that ask for its buffers get that error.  It is dropped when the next step
 * fails, or when it is forgotten because a run will use its id again. */
void weft__worker_keep_failed_step(worker *w, int64_t id, weft_err err);
void weft__worker_forget_failed_step(worker *w, int64_t id); /* does nothing for other steps */

int weft__worker_sessions(worker *w); /* the number of open sessions of any master */
int weft__worker_running(worker *w);  /* the number of parts that run and calls that are answered */
/* Returns when the run that has run longest began (monotonic; 0: none runs).  Writes the task of its master ("" if
 * that is not known). */
int64_t weft__worker_oldest_run(worker *w, char *master, size_t size);

#endif
