/* converse.h - how a C program of the bench talks with run.py; jobs.py tells the same for Python. */
#ifndef WEFT_BENCH_CONVERSE_H
#define WEFT_BENCH_CONVERSE_H

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct turns {
  void (*step)(void *arg, long i);
  void *arg;
  int warmup, chunk; /* steps before the start; steps between two looks at the clock */
} turns;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Until `seconds` are over, or `limit` steps are done. */
static void take_turn(const turns *t, double seconds, long limit) {
  double start = now(), end = start;
  long steps = 0;
  while ((end = now()) - start < seconds && steps < limit)
    for (int i = 0; i < t->chunk && steps < limit; i++) t->step(t->arg, steps++);
  printf("%ld %.9f\n", steps, end - start);
  fflush(stdout);
}

static inline void converse(const turns *t) {
  for (int i = 0; i < t->warmup; i++) t->step(t->arg, i);
  puts("ready");
  fflush(stdout);
  char line[100];
  double amount;
  while (fgets(line, sizeof line, stdin) && sscanf(line, "%lf", &amount) == 1) {
    if (strstr(line, "steps"))
      take_turn(t, 1e9, (long)amount);
    else
      take_turn(t, amount, LONG_MAX);
  }
}

#endif
