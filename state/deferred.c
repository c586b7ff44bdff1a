/* deferred.c - joins and parts tables, keeps the history of steps, and shares the rows out to threads.
 *
 * Locks: the three variables' locks, in the order of their addresses, guard the rows, the history and `deferred` of the
 * variables.  The members `table` and `data` never change.  An object outlives a wait for locks, because the waiting
 * thread holds a reference; the tables outlive it, because it holds references to them.  The tables refer back to it,
 * and this cycle ends when they are parted: by a reader, a writer, or by the container when all three have left it.
 *
 * Bringing tables up to date cannot fail: it needs no memory.  Nobody shares their buffers, since every reader parts
 * the tables first.  A row has one owner among the threads of a loop, its number modulo their count. */
#include "state/deferred.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/prefetch.h"
#include "base/row_parts.h"
#include "base/assert.h"
#include "base/denormal.h"
#include <math.h>
#include <string.h>

#define UPDATE_DUE (UINT32_C(1) << 31) /* in `applied`: m and v have had the newest step, the value has not */

/* ---- life ---- */

static void deferred_destroy(object *o) {
  deferred_updates *d = (deferred_updates *)o;
  for (int t = 0; t < DEFERRED_TABLES; t++) weft__object_release((object *)d->table[t]);
  weft__free(d->applied);
  weft__free(d->step);
  weft__free(d);
}

weft_err weft__deferred_join(variable *const table[DEFERRED_TABLES]) {
  const shape *s = &table[DEFERRED_VALUE]->value.shape;
  weft_tensor *now[DEFERRED_TABLES] = {0};
  deferred_updates *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_OOM;
  atomic_init(&d->base.refs, 1);
  d->base.destroy = deferred_destroy;
  d->rows = s->dim[0];
  d->width = weft__shape_product(s, 1, s->rank);
  d->regular = true;
  d->least_epsilon = INFINITY;
  d->applied = weft__alloc_zero((size_t)d->rows + 1, sizeof *d->applied);
  weft_err err = d->applied ? WEFT_OK : WEFT_OOM;
  for (int t = 0; t < DEFERRED_TABLES && !err; t++) err = weft__variable_writable(table[t], &now[t]);
  if (err) {
    deferred_destroy(&d->base);
    return err;
  }
  for (int t = 0; t < DEFERRED_TABLES; t++) {
    weft__object_retain((object *)table[t]);
    d->table[t] = table[t];
    d->data[t] = now[t]->data;
    table[t]->deferred = d;
  }
  return WEFT_OK;
}

/* With the locks: the tables are joined no more.  The caller holds a reference of its own. */
static void deferred_part(deferred_updates *d) {
  for (int t = 0; t < DEFERRED_TABLES; t++) {
    variable *v = d->table[t];
    v->deferred = NULL;
    if (v->dropped) weft__tensor_clear(&v->value);
    v->dropped = false;
  }
  weft__object_release(&d->base);
}

/* ---- rows, shared out to threads ---- */

typedef struct row_loop {
  deferred_updates *d;
  const deferred_rows *r; /* of a step; else NULL */
  const weft_tensor *indices;
  row_parts parts;
} row_loop;

static inline int64_t deferred_index_at(const weft_tensor *t, int64_t i) {
  if (t->dtype == WEFT_INT16) return TENSOR_DATA(t, int16_t)[i];
  return t->dtype == WEFT_INT64 ? TENSOR_DATA(t, int64_t)[i] : TENSOR_DATA(t, int32_t)[i];
}

/* Fewer numbers than this are not worth a second thread. */
enum { SERIAL_NUMBERS = 1 << 13 };

static void rows_run(row_loop *l, pool *p, pool_loop *fn) {
  const int64_t numbers = weft__tensor_count(l->indices) * l->d->width;
  if (numbers < SERIAL_NUMBERS) p = NULL;
  l->parts = weft__row_parts(weft__pool_threads(p), (size_t)l->d->width * sizeof(float));
  weft__pool_loop(p, l->parts.parts, 1, fn, l);
}

static void row_catch_up(deferred_updates *d, int64_t row) {
  const uint32_t from = d->applied[row];
  if (from == d->n_step) return;
  weft__deferred_catch_up_row(d, row, from, d->n_step);
  d->applied[row] = d->n_step;
}

/* Asks for the memory of the row that comes PREFETCH_ROWS after row i of the indices. */
static inline void prefetch_later(const row_loop *l, int64_t i, int64_t n, int64_t part) {
  if (i + PREFETCH_ROWS >= n) return;
  const int64_t row = deferred_index_at(l->indices, i + PREFETCH_ROWS);
  if (!weft__row_parts_owns(l->parts, part, row)) return;
  weft__prefetch(&l->d->applied[row], sizeof *l->d->applied);
  for (int t = 0; t < DEFERRED_TABLES; t++)
    weft__prefetch(l->d->data[t] + row * l->d->width, (size_t)l->d->width * sizeof *l->d->data[t]);
}

static void catch_up_parts(void *arg, int64_t begin, int64_t end) {
  const row_loop *l = arg;
  const int64_t n = weft__tensor_count(l->indices);
  for (int64_t part = begin; part < end; part++)
    for (int64_t i = 0; i < n; i++) {
      const int64_t row = deferred_index_at(l->indices, i);
      prefetch_later(l, i, n, part);
      if (weft__row_parts_owns(l->parts, part, row)) row_catch_up(l->d, row);
    }
}

void weft__deferred_catch_up(deferred_updates *d, const weft_tensor *indices, pool *p) {
  rows_run(&(row_loop){.d = d, .indices = indices}, p, catch_up_parts);
}

static void catch_up_range(void *arg, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) row_catch_up(arg, row);
}

/* Brings all rows up to date and forgets the history. */
static void catch_up_all(deferred_updates *d, pool *p) {
  enum { GRAIN = 256 };
  weft__pool_loop(p, d->rows, GRAIN, catch_up_range, d);
  memset(d->applied, 0, (size_t)d->rows * sizeof *d->applied);
  d->n_step = 0;
  d->regular = true;
  d->most_rate = 0;
  d->least_epsilon = INFINITY;
}

/* ---- steps ---- */

static bool is_decay(float beta) { return beta <= 1 && !signbit(beta); } /* false for NaN */

static weft_err history_add(deferred_updates *d, const deferred_step *s, pool *p) {
  if (d->n_step == DEFERRED_STEPS) catch_up_all(d, p);
  WEFT_TRY(WEFT_ARRAY_RESERVE(d->step, d->room, d->n_step + 1));
  d->step[d->n_step++] = *s;
  d->regular = d->regular && is_decay(s->beta1) && is_decay(s->beta2) && isfinite(s->rate) && s->epsilon > 0;
  if (fabsf(s->rate) > d->most_rate) d->most_rate = fabsf(s->rate);
  if (s->epsilon < d->least_epsilon) d->least_epsilon = s->epsilon;
  return WEFT_OK;
}

/* Adds a row of updates: n numbers, or one number n times. */
static void deferred_add_row(float *row, const float *from, int64_t stride, int64_t n) {
  for (int64_t j = 0; j < n; j++) row[j] = row[j] + from[stride ? j : 0];
}

static void add_updates(float *const data[], int64_t width, int64_t row, const deferred_rows *r, int64_t i) {
  deferred_add_row(data[DEFERRED_MEAN] + row * width, r->mean + i * r->mean_stride, r->mean_stride, width);
  deferred_add_row(data[DEFERRED_SQUARE] + row * width, r->square + i * r->square_stride, r->square_stride, width);
}

/* The decays of a row's slots by the newest step, once. */
static void row_decay(deferred_updates *d, int64_t row) {
  const uint32_t from = d->applied[row];
  const deferred_step *s = &d->step[d->n_step - 1];
  if (from & UPDATE_DUE) return;
  weft__deferred_catch_up_row(d, row, from, d->n_step - 1);
  weft__deferred_decay(d->data[DEFERRED_MEAN] + row * d->width, s->beta1, d->width);
  weft__deferred_decay(d->data[DEFERRED_SQUARE] + row * d->width, s->beta2, d->width);
  d->applied[row] = d->n_step | UPDATE_DUE;
}

static void row_update(deferred_updates *d, int64_t row) {
  const int64_t at = row * d->width;
  if (!(d->applied[row] & UPDATE_DUE)) return;
  weft__deferred_update(d->data[DEFERRED_VALUE] + at, d->data[DEFERRED_MEAN] + at, d->data[DEFERRED_SQUARE] + at,
                        &d->step[d->n_step - 1], d->width);
  d->applied[row] = d->n_step;
}

/* The newest step, of the rows that it touches.  An index that comes again is added again, in the order of the
 * indices. */
static void step_parts(void *arg, int64_t begin, int64_t end) {
  const row_loop *l = arg;
  const int64_t n = weft__tensor_count(l->indices);
  for (int64_t part = begin; part < end; part++) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t row = deferred_index_at(l->indices, i);
      prefetch_later(l, i, n, part);
      if (!weft__row_parts_owns(l->parts, part, row)) continue;
      row_decay(l->d, row);
      add_updates(l->d->data, l->d->width, row, l->r, i);
    }
    for (int64_t i = 0; i < n; i++) {
      const int64_t row = deferred_index_at(l->indices, i);
      if (weft__row_parts_owns(l->parts, part, row)) row_update(l->d, row);
    }
  }
}

weft_err weft__deferred_add(deferred_updates *d, const deferred_step *s, const deferred_rows *r, pool *p) {
  WEFT_TRY(history_add(d, s, p));
  rows_run(&(row_loop){.d = d, .r = r, .indices = r->indices}, p, step_parts);
  return WEFT_OK;
}

/* ---- a step without a history ---- */

typedef struct whole_step {
  float *const *data;
  const deferred_step *s;
} whole_step;

static void decay_means(void *arg, int64_t begin, int64_t end) {
  const whole_step *w = arg;
  weft__deferred_decay(w->data[DEFERRED_MEAN] + begin, w->s->beta1, end - begin);
}

static void decay_squares(void *arg, int64_t begin, int64_t end) {
  const whole_step *w = arg;
  weft__deferred_decay(w->data[DEFERRED_SQUARE] + begin, w->s->beta2, end - begin);
}

static void update_values(void *arg, int64_t begin, int64_t end) {
  const whole_step *w = arg;
  weft__deferred_update(w->data[DEFERRED_VALUE] + begin, w->data[DEFERRED_MEAN] + begin,
                        w->data[DEFERRED_SQUARE] + begin, w->s, end - begin);
}

void weft__deferred_apply_all(float *const data[DEFERRED_TABLES], int64_t rows, int64_t width, const deferred_step *s,
                              const deferred_rows *r, pool *p) {
  enum { GRAIN = 1 << 13 };
  whole_step w = {data, s};
  const int64_t n = weft__tensor_count(r->indices), all = rows * width;
  weft__pool_loop(p, all, GRAIN, decay_means, &w);
  for (int64_t i = 0; i < n; i++)
    deferred_add_row(data[DEFERRED_MEAN] + deferred_index_at(r->indices, i) * width, r->mean + i * r->mean_stride,
                     r->mean_stride, width);
  weft__pool_loop(p, all, GRAIN, decay_squares, &w);
  for (int64_t i = 0; i < n; i++)
    deferred_add_row(data[DEFERRED_SQUARE] + deferred_index_at(r->indices, i) * width, r->square + i * r->square_stride,
                     r->square_stride, width);
  weft__pool_loop(p, all, GRAIN, update_values, &w);
}

/* ---- locks ---- */

static bool joined_so(variable *const table[DEFERRED_TABLES]) {
  const deferred_updates *d = table[0]->deferred;
  bool same = true;
  for (int t = 0; t < DEFERRED_TABLES; t++)
    same = same && table[t]->deferred == d && !table[t]->dropped && (!d || d->table[t] == table[t]);
  return same;
}

void weft__deferred_lock(variable *const table[DEFERRED_TABLES]) {
  weft__variable_lock_deferred(DEFERRED_TABLES, table);
  if (joined_so(table)) return;
  weft__variable_unlock(DEFERRED_TABLES, table);
  weft__variable_lock(DEFERRED_TABLES, table);
}

static void unlock_others(const deferred_updates *d, const variable *v) {
  for (int t = 0; t < DEFERRED_TABLES; t++)
    if (d->table[t] != v) weft__variable_unlock(1, &d->table[t]);
}

/* With the lock of v held and v joined: locks all its tables instead.  Returns what joins them, retained, or NULL with
 * only v locked: the tables were parted in between. */
static deferred_updates *lock_tables_of(variable *v) {
  while (v->deferred) {
    deferred_updates *d = v->deferred;
    weft__object_retain(&d->base);
    weft__variable_unlock(1, &v);
    weft__variable_lock_deferred(DEFERRED_TABLES, d->table);
    if (v->deferred == d) return d;
    unlock_others(d, v);
    weft__object_release(&d->base);
  }
  return NULL;
}

void weft__deferred_lock_rows(variable *v, deferred_updates **joined) {
  weft__variable_lock_deferred(1, &v);
  if (v->dropped) weft__deferred_settle(v);
  *joined = lock_tables_of(v);
}

void weft__deferred_unlock_rows(variable *v, deferred_updates *joined) {
  if (joined) unlock_others(joined, v);
  weft__variable_unlock(1, &v);
  if (joined) weft__object_release(&joined->base);
}

void weft__deferred_settle(variable *v) {
  enum { WORTH_THREADS = 1 << 22 }; /* numbers in the tables */
  deferred_updates *d = lock_tables_of(v);
  if (!d) return;
  pool *p = NULL;
  if (d->rows * d->width > WORTH_THREADS && weft__pool_create(&p, 0) != WEFT_OK) p = NULL; /* this thread does it all */
  const uint64_t mode = weft__denormal_flush();                                            /* as in the step */
  catch_up_all(d, p);
  weft__denormal_restore(mode);
  weft__pool_destroy(p);
  deferred_part(d);
  unlock_others(d, v);
  weft__object_release(&d->base);
}

void weft__deferred_drop(variable *v) {
  deferred_updates *d = v->deferred;
  v->dropped = true;
  const bool last = atomic_fetch_add(&d->dropped, 1) == DEFERRED_TABLES - 1;
  d = last ? lock_tables_of(v) : NULL;
  if (d) { /* nobody can ask for them any more */
    deferred_part(d);
    unlock_others(d, v);
  }
  weft__variable_unlock(1, &v);
  if (d) weft__object_release(&d->base);
}
