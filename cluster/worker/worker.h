/* worker.h - what a task does for masters: keeps their graphs, runs their parts, hands out tensors.
 *
 * The same calls serve the wire (weft__worker_handle) and the master in this process, which runs its
 * own part without a message. */
#ifndef WEFT_CLUSTER_WORKER_WORKER_H
#define WEFT_CLUSTER_WORKER_WORKER_H

#include "cluster/membership/peer.h"
#include "exec/task.h"
#include "graph/graph.h"

typedef struct worker worker;
typedef struct part part; /* a graph that was registered, and its plan */

weft_err weft__worker_create(worker **out, task *t, peers *p); /* both outlive it */
/* Cancels what runs here and ends whoever waits in its steps; refuses more; waits for nothing. */
void weft__worker_stop(worker *w);
void weft__worker_destroy(worker *w);          /* cancels what runs and waits for it */
struct timers *weft__worker_timers(worker *w); /* for whoever goes before the worker does */
/* Answers every method of tensorflow.WorkerService; UNIMPLEMENTED for names it does not know. */
void weft__worker_handle(worker *w, call *c);

/* Another task died, left or was restarted: what runs with it ends with UNAVAILABLE, its tokens go back.  Does not
 * block. */
void weft__worker_lost(worker *w, const char *task);
/* The sessions that earlier processes of a task had here go, now that this one is there (0: it said goodbye).  Does not
 * block. */
void weft__worker_replaced(worker *w, const char *task, uint64_t incarnation);

weft_err weft__worker_open(worker *w, const char *session, bool isolate); /* CreateWorkerSession */
void weft__worker_close(worker *w, const char *session);                  /* DeleteWorkerSession */

/* The chief's session begins, or ends, to set variables here; *running: how many runs of others' are still to end. */
weft_err weft__worker_restore(worker *w, const char *chief, bool begin, int *running);

/* Every node of the graph is run; feeds and fetches are outputs of it.  The graph passes to the part, also when this
 * fails.  ABORTED: there is no such session. */
weft_err weft__part_create(part **out, worker *w, const char *session, weft_graph *graph, int n_feed,
                           const weft_out *feed, int n_fetch, const weft_out *fetch);
void weft__part_release(part *p);

typedef struct part_run {         /* all of it outlives the run */
  int64_t step;                   /* its id in the cluster: names the step's rendezvous */
  const weft_tensor *const *feed; /* as in part_create */
  weft_tensor **fetched;
  int64_t deadline_ns; /* 0: none */
  cancel *cancel;
  struct step_log *log; /* NULL: not traced */
  bool borrowed;        /* the calling thread is a transport's: what is not cheap runs on the task's pool */
  void (*done)(void *arg, weft_err err);
  void *arg;
} part_run;
/* Runs on this thread as far as nothing waits, then on others.  done is called exactly once, perhaps before this
 * returns, on any thread; err's message is that thread's. */
void weft__part_run(part *p, const part_run *r);
/* Does a run of it begin by asking the task of that name for values? */
bool weft__part_asks(const part *p, const char *of);
/* Leaves a value in a step's rendezvous, and takes one from it when it is there, for partial runs. */
weft_err weft__worker_put(worker *w, int64_t id, const char *key, const weft_tensor *t);
void weft__worker_take(worker *w, int64_t id, const char *key,
                       void (*fn)(void *arg, weft_err err, const weft_tensor *t, bool dead), void *arg);
/* Forgets the step's tensors and ends whoever waits for one, with ABORTED "Cleanup ID". */
void weft__worker_cleanup(worker *w, int64_t id);
/* Empties resource containers: n of them, or the default one if n is 0. */
void weft__worker_clear(worker *w, int n, const char *const *container);

/* How many sessions of any master are open here, and how many parts run at this moment: for `join` and for leaving. */
int weft__worker_sessions(worker *w);
int weft__worker_running(worker *w);
/* When the part that has run for the longest time began (monotonic; 0: none runs), and the task of its master ("" if
 * that is not known). */
int64_t weft__worker_oldest(worker *w, char *master, size_t room);

#endif
