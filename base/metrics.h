/* metrics.h - what this process has lately done, for those who watch it: `weft top`, the status page, its metrics.
 *
 * The numbers are the process's, as its memory and its log are: two servers in one process show the same.  Counting is
 * an atomic addition; once a second somebody who counts a run also keeps a sample. */
#ifndef WEFT_BASE_METRICS_H
#define WEFT_BASE_METRICS_H

#include "base/list.h"
#include <stdbool.h>
#include <stdint.h>

enum { METRICS_SAMPLES = 240, METRICS_ERRORS = 8, METRICS_TEXT = 256 };

typedef enum metrics_counter {
  METRICS_SESSION_RUNS,   /* of sessions, begun by this process's masters */
  METRICS_PARTITION_RUNS, /* of anybody's steps, run here */
  METRICS_BYTES_IN,       /* bytes that came over the network, and went */
  METRICS_BYTES_OUT,
  METRICS_COUNTERS
} metrics_counter;

typedef struct metrics_sample {
  int64_t at_ns; /* monotonic */
  uint64_t count[METRICS_COUNTERS];
  int64_t step; /* -1: not known */
  double loss;  /* the mean since the sample before; NaN: not known */
} metrics_sample;

typedef struct metrics_error {
  int64_t at_us; /* since 1970 */
  char text[METRICS_TEXT];
} metrics_error;

typedef struct metrics_snapshot {
  int64_t begun_ns; /* monotonic: when the process first counted anything */
  uint64_t count[METRICS_COUNTERS];
  double rate[METRICS_COUNTERS]; /* a second, over the last ones */
  int64_t step;                  /* the last seen by a run; -1: none */
  double loss;                   /* NaN: none */
  int64_t saved_us;              /* since 1970; 0: nothing was saved */
  char saved[METRICS_TEXT];      /* the checkpoint's path */
  int n_error, n_sample;         /* oldest first: */
  metrics_error error[METRICS_ERRORS];
  metrics_sample sample[METRICS_SAMPLES]; /* of the whole life of the process: thinned out when there are too many */
} metrics_snapshot;
void weft__metrics_read(metrics_snapshot *out);

void weft__metrics_add(metrics_counter which, uint64_t n);
/* What a run fetched: the global step (or -1) and a loss (or NaN). */
void weft__metrics_set_progress(int64_t step, double loss);
void weft__metrics_set_checkpoint(const char *path);
void weft__metrics_add_error(const char *text); /* the same again only renews its time */

/* ---- what a thread waits for ---- */

typedef struct metrics_wait { /* {0}, of the one who waits */
  int64_t since_ns;           /* monotonic */
  char what[METRICS_TEXT];
  list_link link;
} metrics_wait;
void weft__metrics_wait_begin(metrics_wait *w, const char *what); /* begins, or says anew what for */
void weft__metrics_wait_end(metrics_wait *w);                     /* fine if it never began */
/* Those under way: fn is told of each, with a lock held. */
void weft__metrics_each_wait(void (*fn)(void *arg, const metrics_wait *w), void *arg);

#endif
