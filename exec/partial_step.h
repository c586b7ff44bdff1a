/* partial_step.h - a step of this process that its caller feeds and fetches in several calls.
 *
 * The step runs once, in the background.  Each feed is a receive and each fetch a send of the step
 * (exec/passes/partition.h, by_name), so that a node runs as soon as its own feeds are there, and only once.  This file
 * tracks what was fed and fetched and waits for values; the session that runs the step supplies the functions below.
 *
 * Several threads may call one partial run; it serves one call at a time. */
#ifndef WEFT_EXEC_PARTIAL_STEP_H
#define WEFT_EXEC_PARTIAL_STEP_H

#include "exec/session.h"
#include "state/rendezvous.h"

typedef struct partial_step partial_step;

typedef struct partial_host { /* how the session runs the step */
  /* Starts the step.  weft__partial_step_end follows exactly once, on any thread, unless this fails.  The step ends
   * when the token fires. */
  weft_err (*start)(void *arg, partial_step *p, const plan_request *r, cancel *token); /* r lives as long as p */
  weft_err (*send)(void *arg, const char *key, const weft_tensor *t); /* leaves a value in the step's rendezvous */
  void (*recv)(void *arg, const char *key, recv_fn *fn, void *fn_arg);
  /* Ends every receive that waits and frees arg.  The step has ended or was never started. */
  void (*destroy)(void *arg);
  void *arg;
  device_info client; /* the device in the keys of the rendezvous; borrowed while the partial run is created */
  int64_t timeout_ms; /* for each call; 0: none */
  bool start_at_once; /* at the setup, as TensorFlow's session of one process does; else at the first call */
  const char *over;   /* the error of a call after the last one; a literal */
} partial_host;

/* Takes over h->arg, also on failure.  The graph outlives the partial run; the request is copied. */
weft_err weft__partial_step_create(partial_run **out, weft_graph *g, const plan_request *r, const partial_host *h);
/* The session reports that the step has ended, with its result.  p may be freed afterwards.  Any thread may call it,
 * once. */
void weft__partial_step_end(partial_step *p, weft_err err);

#endif
