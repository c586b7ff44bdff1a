/* inspect_plot.c - scalars of events as curves that a terminal of any kind can show. */
#include "inspect.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 72, HEIGHT = 16 };

typedef struct curve {
  char *tag;
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

static curve *find(inspect_curves *c, const char *tag) {
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->all[i].tag, tag) == 0) return &c->all[i];
  curve *grown = realloc(c->all, ((size_t)c->n + 1) * sizeof *grown);
  if (grown) c->all = grown;
  char *own = strdup(tag);
  if (!grown || !own) return free(own), NULL;
  c->all[c->n] = (curve){.tag = own};
  return &c->all[c->n++];
}

bool inspect_curves_add(inspect_curves *c, const char *tag, int64_t step, double value) {
  curve *v = find(c, tag);
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
static int place(double v, double low, double high, int most) {
  return high > low ? (int)lround((v - low) / (high - low) * most) : most / 2;
}

static void draw(const curve *v) {
  char cell[HEIGHT][WIDTH + 1];
  double low = INFINITY, high = -INFINITY;
  int64_t first = INT64_MAX, last = INT64_MIN;
  int finite = 0;
  for (int i = 0; i < HEIGHT; i++) memset(cell[i], ' ', WIDTH), cell[i][WIDTH] = 0;
  for (int i = 0; i < v->n; i++) {
    if (!isfinite(v->value[i])) continue;
    finite++;
    low = fmin(low, v->value[i]), high = fmax(high, v->value[i]);
    if (v->step[i] < first) first = v->step[i];
    if (v->step[i] > last) last = v->step[i];
  }
  printf("%s: %d values", v->tag, v->n);
  if (finite < v->n) printf(", %d of them not finite", v->n - finite);
  printf("\n");
  if (!finite) return;
  for (int i = 0; i < v->n; i++)
    if (isfinite(v->value[i]))
      cell[HEIGHT - 1 - place(v->value[i], low, high, HEIGHT - 1)]
          [place((double)v->step[i], (double)first, (double)last, WIDTH - 1)] = '*';
  for (int i = 0; i < HEIGHT; i++) {
    if (i == 0 || i == HEIGHT - 1)
      printf("%11.5g |%s\n", i == 0 ? high : low, cell[i]);
    else
      printf("%11s |%s\n", "", cell[i]);
  }
  printf("%11s +", "");
  for (int i = 0; i < WIDTH; i++) putchar('-');
  printf("\n%13s%-*" PRId64 "%*" PRId64 "\n\n", "", WIDTH / 2, first, WIDTH - WIDTH / 2, last);
}

void inspect_curves_print(const inspect_curves *c) {
  for (int i = 0; i < c->n; i++) draw(&c->all[i]);
}
