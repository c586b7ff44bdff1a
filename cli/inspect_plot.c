/* inspect_plot.c - scalars of events as curves that a terminal of any kind can show; the runs of a tag over each other.
 */
#include "inspect.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 72, HEIGHT = 16 };

typedef struct curve { /* of one tag in one run */
  char *tag;
  int run;
  int64_t *step;
  double *value;
  int n, room;
} curve;

struct inspect_curves {
  curve *all;
  int n;
};

inspect_curves *inspect_curves_create(void) { return calloc(1, sizeof(inspect_curves)); }

void inspect_curves_destroy(inspect_curves *c) {
  for (int i = 0; c && i < c->n; i++) {
    free(c->all[i].tag);
    free(c->all[i].step);
    free(c->all[i].value);
  }
  if (c) free(c->all);
  free(c);
}

static curve *plot_find_curve(inspect_curves *c, int run, const char *tag) {
  for (int i = 0; i < c->n; i++)
    if (c->all[i].run == run && strcmp(c->all[i].tag, tag) == 0) return &c->all[i];
  curve *grown = realloc(c->all, ((size_t)c->n + 1) * sizeof *grown);
  if (grown) c->all = grown;
  char *own = strdup(tag);
  if (!grown || !own) return free(own), NULL;
  c->all[c->n] = (curve){.tag = own, .run = run};
  return &c->all[c->n++];
}

bool inspect_curves_add(inspect_curves *c, int run, const char *tag, int64_t step, double value) {
  curve *v = plot_find_curve(c, run, tag);
  if (!v) return false;
  if (v->n == v->room) {
    const int room = v->room ? 2 * v->room : 64;
    int64_t *steps = realloc(v->step, (size_t)room * sizeof *steps);
    if (steps) v->step = steps;
    double *values = realloc(v->value, (size_t)room * sizeof *values);
    if (values) v->value = values;
    if (!steps || !values) return false;
    v->room = room;
  }
  v->step[v->n] = step;
  v->value[v->n++] = value;
  return true;
}

/* From 0 to most. */
static int plot_scale(double v, double low, double high, int most) {
  return high > low ? (int)lround((v - low) / (high - low) * most) : most / 2;
}

typedef struct plot {
  char cell[HEIGHT][WIDTH + 1];
  double low, high;
  int64_t first, last;
} plot;

/* '*' where there is one run, else a letter for each. */
static char mark_of(int run, int runs) { return runs == 1 ? '*' : "abcdefghijklmnopqrstuvwxyz"[run % 26]; }

static void plot_extend(plot *p, const curve *v) {
  for (int i = 0; i < v->n; i++) {
    if (!isfinite(v->value[i])) continue;
    p->low = fmin(p->low, v->value[i]), p->high = fmax(p->high, v->value[i]);
    if (v->step[i] < p->first) p->first = v->step[i];
    if (v->step[i] > p->last) p->last = v->step[i];
  }
}

static void put_curve(plot *p, const curve *v, char mark) {
  for (int i = 0; i < v->n; i++)
    if (isfinite(v->value[i]))
      p->cell[HEIGHT - 1 - plot_scale(v->value[i], p->low, p->high, HEIGHT - 1)]
             [plot_scale((double)v->step[i], (double)p->first, (double)p->last, WIDTH - 1)] = mark;
}

static void print_counts(const curve *v, const char *const *runs, int n_run) {
  int finite = 0;
  for (int i = 0; i < v->n; i++) finite += isfinite(v->value[i]) != 0;
  printf("%s: %d values", v->tag, v->n);
  if (finite < v->n) printf(", %d of them not finite", v->n - finite);
  if (n_run > 1) printf(" (%c: %s)", mark_of(v->run, n_run), runs[v->run]);
  printf("\n");
}

static void print_plot(const plot *p) {
  for (int i = 0; i < HEIGHT; i++) {
    if (i == 0 || i == HEIGHT - 1)
      printf("%11.5g |%s\n", i == 0 ? p->high : p->low, p->cell[i]);
    else
      printf("%11s |%s\n", "", p->cell[i]);
  }
  printf("%11s +", "");
  for (int i = 0; i < WIDTH; i++) putchar('-');
  printf("\n%13s%-*" PRId64 "%*" PRId64 "\n\n", "", WIDTH / 2, p->first, WIDTH - WIDTH / 2, p->last);
}

/* The curves of all runs that have the tag of curve `at`, which is the first of them. */
static void plot_draw(const inspect_curves *c, int at, const char *const *runs, int n_run) {
  plot p = {.low = INFINITY, .high = -INFINITY, .first = INT64_MAX, .last = INT64_MIN};
  for (int i = 0; i < HEIGHT; i++) memset(p.cell[i], ' ', WIDTH), p.cell[i][WIDTH] = 0;
  for (int i = at; i < c->n; i++) {
    if (strcmp(c->all[i].tag, c->all[at].tag) != 0) continue;
    print_counts(&c->all[i], runs, n_run);
    plot_extend(&p, &c->all[i]);
  }
  for (int i = at; i < c->n; i++)
    if (strcmp(c->all[i].tag, c->all[at].tag) == 0) put_curve(&p, &c->all[i], mark_of(c->all[i].run, n_run));
  if (p.last >= p.first) print_plot(&p);
}

void inspect_curves_print(const inspect_curves *c, const char *const *runs, int n_run) {
  for (int i = 0; i < c->n; i++) {
    bool drawn = false;
    for (int k = 0; k < i && !drawn; k++) drawn = strcmp(c->all[k].tag, c->all[i].tag) == 0;
    if (!drawn) plot_draw(c, i, runs, n_run);
  }
}
