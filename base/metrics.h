/* metrics.h - counters and samples of this process, for `weft top`, the status page and /metrics.
 *
 * The numbers belong to the process: two servers in one process show the same ones.  Adding to a counter is an atomic
 * operation.  Once a second a thread that counts a run also takes a sample.  One lock, a leaf, guards everything but
 * the counters.  Any thread may call these functions. */
#ifndef WEFT_BASE_METRICS_H
#define WEFT_BASE_METRICS_H

#include "base/list.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { METRICS_SAMPLES = 240, METRICS_ERRORS = 8, METRICS_TEXT = 256 };

typedef enum metrics_counter {
  METRICS_SESSION_RUNS,   /* runs of sessions, started by the masters of this process */
  METRICS_PARTITION_RUNS, /* partitions of steps that ran here, for any master */
  METRICS_BYTES_IN,       /* bytes received from the network, and sent */
  METRICS_BYTES_OUT,
  METRICS_COUNTERS
} metrics_counter;

typedef struct metrics_sample {
  int64_t at_ns; /* monotonic */
  uint64_t count[METRICS_COUNTERS];
  int64_t step; /* global step; -1: unknown */
  double loss;  /* mean since the sample before; NaN: unknown */
} metrics_sample;

typedef struct metrics_error {
  int64_t at_us;      /* since 1970 */
  char component[32]; /* what reported it: a folder of the sources, or "session" for a run that failed */
  char text[METRICS_TEXT];
} metrics_error;

typedef struct metrics_snapshot {
  int64_t begun_ns; /* monotonic: when the process first counted a run */
  uint64_t count[METRICS_COUNTERS];
  double rate[METRICS_COUNTERS]; /* per second, over the last few seconds */
  int64_t step;                  /* global step that a run fetched last; -1: none */
  double loss;                   /* NaN: none */
  int64_t saved_us;              /* since 1970; 0: nothing was saved */
  char saved[METRICS_TEXT];      /* the checkpoint's path */
  int n_error, n_sample;         /* how many there are of these, oldest first: */
  metrics_error error[METRICS_ERRORS];
  metrics_sample sample[METRICS_SAMPLES]; /* they span the life of the process; every second one is dropped when full */
} metrics_snapshot;
/* Copies the present numbers. */
void weft__metrics_read(metrics_snapshot *out);

/* Adds n to a counter.  Counting a run may take the sample of this second, which takes the lock. */
void weft__metrics_add(metrics_counter which, uint64_t n);
/* Stores what a run fetched: the global step (or -1) and a loss (or NaN). */
void weft__metrics_set_progress(int64_t step, double loss);
void weft__metrics_set_checkpoint(const char *path); /* the checkpoint at this path was written just now */
/* An error with this text that is listed already gets a new time. */
void weft__metrics_add_error(const char *component, const char *text);

/* Whether a session waits for its variables: a worker waits for the chief by running until all of them have values. */
typedef struct metrics_uninitialized { /* {0}; owned by the session */
  atomic_bool waits;
} metrics_uninitialized;
/* The session has read a variable that has no value: it waits from now on.  The error is listed for the component
 * "initialization".  The errors of this component are all forgotten when no session of the process waits any more. */
void weft__metrics_add_uninitialized(metrics_uninitialized *u, const char *text);
/* The session waits no longer: a run has succeeded, or the session ends.  Takes no lock if it did not wait. */
void weft__metrics_initialized(metrics_uninitialized *u);

/* ---- waits: what the threads of this process wait for, such as a task that has not started ---- */

typedef struct metrics_wait { /* {0}; owned by the thread that waits */
  int64_t since_ns;           /* monotonic */
  char what[METRICS_TEXT];
  list_link link;
} metrics_wait;
/* Lists the wait; if it is listed already, replaces its text.  The owner ends it before its memory is freed. */
void weft__metrics_wait_begin(metrics_wait *w, const char *what);
void weft__metrics_wait_end(metrics_wait *w); /* does nothing if the wait never began */
/* Calls fn for each listed wait with the lock held: fn must not block and must not call this module. */
void weft__metrics_each_wait(void (*fn)(void *arg, const metrics_wait *w), void *arg);

#endif
