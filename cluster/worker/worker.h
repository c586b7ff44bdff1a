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

/* Reacts to the loss of another task, which died, left or was restarted.  The runs that exchange tensors with it end
 * with UNAVAILABLE, and its tokens of synchronous training return to their queue.  Its sessions are dropped later,
 * unless it uses them again. */
void weft__worker_task_lost(worker *w, const char *task);
/* Drops the sessions of earlier processes of a task: a process with this incarnation replaced them (0: the task said
 * goodbye). */
void weft__worker_task_replaced(worker *w, const char *task, uint64_t incarnation);

weft_err weft__worker_open_session(worker *w, const char *session, bool isolate); /* CreateWorkerSession */
void weft__worker_close_session(worker *w, const char *session);                  /* DeleteWorkerSession */

/* Begins or ends a restore: the session `chief` sets the variables of this task from a checkpoint.  Between the two,
 * sessions of the job's other members are rejected.  The begin drops those that are open and cancels their runs;
 * *n_running is the number of those runs that have not ended yet, so that the chief calls again until it is 0.  The end
 * returns ABORTED if this task does not know of the begin. */
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
/* Starts a run, which holds a reference to the part.  It runs on this thread until it has to wait, then on others.
 * Calls done exactly once, on any thread, perhaps before this returns.  The message of err is that thread's error
 * message, which is valid until done returns.  The fetched tensors belong to the caller. */
void weft__part_run(part *p, const part_run *r);
/* Returns true if the first stage of the part receives values from that task. */
bool weft__part_receives_from(const part *p, const char *task_name);
/* For partial runs.  Puts a value, which is shared, into the rendezvous of a step.  Returns ABORTED if the step was
 * dropped. */
weft_err weft__worker_send_value(worker *w, int64_t id, const char *key, const weft_tensor *t);
/* For partial runs.  Receives a value from the rendezvous of a step.  Calls fn exactly once, on any thread, perhaps
 * before this returns; t is borrowed for the call. */
void weft__worker_recv_value(worker *w, int64_t id, const char *key,
                             void (*fn)(void *arg, weft_err err, const weft_tensor *t, bool dead), void *arg);
/* Drops the step and its tensors.  Receives that wait in it end with ABORTED "Cleanup ID". */
void weft__worker_cleanup_step(worker *w, int64_t id);
/* Empties n resource containers, or the default one if n is 0. */
void weft__worker_clear_containers(worker *w, int n, const char *const *container);

/* Sets the task that completes groups of collective ops.  "" changes nothing.  Returns NOT_FOUND if the cluster has no
 * task of that name. */
weft_err weft__worker_set_collective_leader(worker *w, const char *name);
peer *weft__worker_collective_leader(worker *w);         /* NULL: this task, or none */
struct collectives *weft__worker_collectives(worker *w); /* borrowed */
/* Keeps a step that succeeded until the other tasks have fetched its buffers.  Then it is dropped. */
void weft__worker_keep_step(worker *w, int64_t id);
/* Keeps a step that failed with the present error, which tasks that fetch its buffers get.  It is dropped when the next
 * step fails, or by weft__worker_forget_failed_step, because a run will use its id again.  The present error stays. */
void weft__worker_keep_failed_step(worker *w, int64_t id, weft_err err);
void weft__worker_forget_failed_step(worker *w, int64_t id); /* does nothing for other steps */

int weft__worker_sessions(worker *w); /* the number of open sessions of any master */
int weft__worker_running(worker *w);  /* the number of parts that run and calls that are answered */
/* Returns when the run that has run longest began (monotonic; 0: none runs).  Writes the task of its master ("" if
 * that is not known). */
int64_t weft__worker_oldest_run(worker *w, char *master, size_t size);

#endif
