/* metrics.h - what this process has lately done, for those who watch it: `weft top`, the status page, its metrics.
 *
 * The numbers are the process's, as its memory and its log are: two servers in one process show the same.  Counting is
 * an atomic addition; once a second somebody who counts a run also keeps a sample. */
#ifndef WEFT_BASE_METRICS_H
#define WEFT_BASE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

enum { PULSE_SAMPLES = 240, PULSE_ERRORS = 8, PULSE_TEXT = 256 };

typedef enum pulse_count {
  PULSE_RUNS,  /* of sessions, begun by this process's masters */
  PULSE_PARTS, /* of anybody's steps, run here */
  PULSE_IN,    /* bytes that came over the network, and went */
  PULSE_OUT,
  PULSE_COUNTS
} pulse_count;

typedef struct pulse_sample {
  int64_t at_ns; /* monotonic */
  uint64_t count[PULSE_COUNTS];
  int64_t step; /* -1: not known */
  double loss;  /* the mean since the sample before; NaN: not known */
} pulse_sample;

typedef struct pulse_error {
  int64_t at_us; /* since 1970 */
  char text[PULSE_TEXT];
} pulse_error;

typedef struct pulse {
  int64_t begun_ns; /* monotonic: when the process first counted anything */
  uint64_t count[PULSE_COUNTS];
  double rate[PULSE_COUNTS]; /* a second, over the last ones */
  int64_t step;              /* the last seen by a run; -1: none */
  double loss;               /* NaN: none */
  int64_t saved_us;          /* since 1970; 0: nothing was saved */
  char saved[PULSE_TEXT];    /* the checkpoint's path */
  int n_error, n_sample;     /* oldest first: */
  pulse_error error[PULSE_ERRORS];
  pulse_sample sample[PULSE_SAMPLES]; /* of the whole life of the process: thinned out when there are too many */
} pulse;
void weft__pulse_read(pulse *out);

void weft__pulse_add(pulse_count which, uint64_t n);
/* What a run fetched: the global step (or -1) and a loss (or NaN). */
void weft__pulse_progress(int64_t step, double loss);
void weft__pulse_saved(const char *path);
void weft__pulse_error(const char *text); /* the same again only renews its time */

/* ---- what a thread waits for ---- */

typedef struct pulse_wait { /* {0}, of the one who waits */
  int64_t since_ns;         /* monotonic */
  char what[PULSE_TEXT];
  struct pulse_wait *next, *prev; /* NULL: it does not wait */
} pulse_wait;
void weft__pulse_wait(pulse_wait *w, const char *what); /* begins, or says anew what for */
void weft__pulse_wait_over(pulse_wait *w);              /* fine if it never began */
/* Those under way: fn is told of each, with a lock held. */
void weft__pulse_waits(void (*fn)(void *arg, const pulse_wait *w), void *arg);

#endif
