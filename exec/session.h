/* session.h - sessions: they run parts of one graph, and keep the variables and queues between runs.
 *
 * A session is an interface: weft__session_create makes one that runs in this process (local.c), and cluster/ makes
 * those that run on a cluster.  Any number of threads may run a session.  Its creator owns it, and destroys it when no
 * thread is in a call. */
#ifndef WEFT_EXEC_SESSION_H
#define WEFT_EXEC_SESSION_H

#include "exec/passes/place.h"
#include "exec/plan.h"

typedef enum session_role { /* in a supervised job; the numbers travel */
                            ROLE_NONE = 0,
                            ROLE_WORKER = 1, /* runs only on state that the chief has made ready */
                            ROLE_CHIEF = 2
} session_role;

typedef struct session_opts {
  int intra_threads; /* 0: one per processor */
  int inter_threads;
  bool allow_soft_placement, log_device_placement;
  bool mixed_precision;                             /* of RewriterConfig: auto_mixed_precision is on */
  int64_t timeout_ms;                               /* default for runs; 0: none */
  int64_t build_cost_model, build_cost_model_after; /* of GraphOptions: every so many runs have a cost graph; 0: none */
  gpu_options gpu;
  int cpus;                    /* CPU devices; 0: one */
  char collective_leader[160]; /* the task that completes groups of collective ops; "": each task its own */
  /* Of sessions on a cluster: */
  bool isolate_session_state; /* its own variables and queues */
  int n_filter;               /* device filters: only these tasks are used */
  const char *const *filter;
  session_role role;
  const char *config_text; /* how the config is shown in "Start master session"; NULL: "" */
} session_opts;

typedef struct run_opts {
  int64_t timeout_ms; /* 0: the session's */
  bool trace;         /* the metadata has step stats */
  uint8_t **metadata; /* gets a serialized RunMetadata that the caller frees, or NULL if it is empty; may be NULL */
  size_t *metadata_size;
  bool partition_graphs;        /* the metadata has the graph that each device ran */
  cancel *cancel;               /* a token of the caller that ends the run when it fires; NULL: none */
  int64_t collective_graph_key; /* runs of this key have the same id on all masters; 0: by the graph */
} run_opts;

/* A step that its caller feeds and fetches in several calls: TensorFlow's partial_run.  The first member of every kind
 * of partial run.  Any thread may call it; it serves one call at a time. */
typedef struct partial_run partial_run;
typedef struct partial_run_ops {
  weft_err (*call)(partial_run *p, const plan_request *r, const weft_tensor *const *feed, weft_tensor **fetched,
                   const run_opts *opts);
  void (*destroy)(partial_run *p);
} partial_run_ops;
struct partial_run {
  const partial_run_ops *ops;
  atomic_bool over; /* everything was fed and fetched, or the step failed: further calls fail */
};

/* A request whose feeds, fetches and targets are fixed: TensorFlow's callable.  The first member of every kind.  Any
 * number of threads may run it. */
typedef struct callable callable;
typedef struct callable_ops {
  weft_err (*run)(callable *c, const weft_tensor *const *feed, weft_tensor **fetched, const run_opts *opts);
  void (*destroy)(callable *c);
} callable_ops;
struct callable {
  const callable_ops *ops;
  int n_feed, n_fetch;
};

typedef struct session_ops { /* all but the last three are required */
  /* May block. */
  weft_err (*run)(weft_session *s, const plan_request *r, const weft_tensor *const *feed, weft_tensor **fetched,
                  const run_opts *opts);
  /* Refuses new runs and cancels what runs; returns once nothing does. */
  weft_err (*close)(weft_session *s);
  void (*destroy)(weft_session *s); /* after close */
  /* A list to be freed with weft__place_infos_free. */
  weft_err (*devices)(weft_session *s, device_info **out, int *n);
  weft_err (*restoring)(weft_session *s, bool begin); /* NULL: nobody else runs on this session's state */
  weft_err (*partial_setup)(weft_session *s, const plan_request *r, partial_run **out); /* NULL: UNIMPLEMENTED */
  weft_err (*make_callable)(weft_session *s, const plan_request *r, callable **out);    /* NULL: runs the request */
} session_ops;

/* An object whose own threads run a session, such as a queue runner.  The session calls `end` before it is destroyed;
 * when `end` returns, those threads do not use the session any more. */
typedef struct session_user session_user;
struct session_user {
  void (*end)(session_user *u);
  session_user *next;
};

struct weft_session { /* the first member of every kind of session */
  const session_ops *ops;
  weft_graph *graph; /* must outlive the session; may go on growing */
  session_user *users;
};
/* Registers u, which its owner keeps until `end` was called or weft__session_leave has returned true. */
void weft__session_join(weft_session *s, session_user *u);
/* Returns false if the session is calling u->end at this moment; u must then stay valid until that returns. */
bool weft__session_leave(weft_session *s, session_user *u);

/* Creates a session that runs in this process; the caller destroys *out.  opts may be NULL and is copied.  The graph
 * must outlive the session. */
weft_err weft__session_create(weft_session **out, weft_graph *g, const session_opts *opts);
void weft__session_destroy(weft_session *s); /* closes first; NULL is fine */
weft_err weft__session_close(weft_session *s);
/* feed[i] goes to r->feed[i]; fetched[i] comes from r->fetch[i] and is the caller's. */
weft_err weft__session_run(weft_session *s, const plan_request *r, const weft_tensor *const *feed,
                           weft_tensor **fetched, const run_opts *opts);
/* Begins a partial run of all these feeds, fetches and targets.  The caller destroys it, before the session. */
weft_err weft__session_partial_setup(weft_session *s, const plan_request *r, partial_run **out);
/* One call: feeds some of them, then waits for some of the fetches; r has no targets.  INVALID_ARGUMENT, in
 * TensorFlow's words, for what was not set up, was used before, or cannot be computed yet: then nothing has happened.
 * After any other error, and after the last fetch, the partial run is over. */
weft_err weft__partial_run_call(partial_run *p, const plan_request *r, const weft_tensor *const *feed,
                                weft_tensor **fetched, const run_opts *opts);
void weft__partial_run_destroy(partial_run *p); /* cancels what still runs and waits for it; NULL is allowed */
/* The request is copied.  The caller destroys the callable, before the session. */
weft_err weft__session_make_callable(weft_session *s, const plan_request *r, callable **out);
weft_err weft__callable_run(callable *c, int n_feed, const weft_tensor *const *feed, weft_tensor **fetched,
                            const run_opts *opts);
void weft__callable_destroy(callable *c); /* NULL is allowed */
weft_err weft__session_devices(weft_session *s, device_info **out, int *n);
/* With begin = true: a chief's session is about to set the variables of all its tasks.  Every task drops the sessions
 * of the job's workers, and refuses new ones until this is called with begin = false.  Their steps have ended when it
 * returns.  Returns ABORTED if a task was restarted in between: the caller begins again.  May block. */
weft_err weft__session_restoring(weft_session *s, bool begin);

/* While a link is on, `from` fires `to` with its own code and message.  It is turned off before either is destroyed. */
typedef struct cancel_link {
  cancel_watch watch;
  cancel *from, *to;
} cancel_link;
weft_err weft__cancel_link_on(cancel_link *l, cancel *from, cancel *to); /* from may be NULL; fails if it has fired */
void weft__cancel_link_off(cancel_link *l);
/* Returns INVALID_ARGUMENT if an output or a node of the request is not in the graph. */
weft_err weft__request_check(weft_graph *g, const plan_request *r);
/* The same for a request that is set up before it is run (a partial run, a callable): it also fetches or runs
 * something, feeds nothing twice, and fetches nothing that it feeds.  The errors are TensorFlow's. */
weft_err weft__request_check_fixed(weft_graph *g, const plan_request *r);
/* Returns INVALID_ARGUMENT, in TensorFlow's words, if t has not the type and a compatible shape for output `slot` of
 * n. */
weft_err weft__session_check_feed(const weft_node *n, int slot, const weft_tensor *t);
/* Stores 16 random hexadecimal digits and a NUL: the handle of a session or a callable. */
#define WEFT_HANDLE_SIZE 20
void weft__session_make_handle(char out[WEFT_HANDLE_SIZE]);

#endif
