/* deferred_test.c - deferred steps against the same steps applied to all rows at once: the bits must agree. */
#include "state/deferred.h"

#include "base/alloc.h"
#include "base/denormal.h"
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40 };

typedef struct tables {
  resources *held;
  variable *v[DEFERRED_TABLES];
  float *same[DEFERRED_TABLES]; /* the dense tables */
  int64_t rows, width;
} tables;

static uint64_t seed = 88172645463325252u;
static uint32_t any(uint32_t below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 32) % below;
}
static float any_float(void) { return ((float)any(2000001) - 1e6f) * 1e-6f; }

static weft_err make_table(resource **out, void *arg) {
  return weft__variable_create((variable **)out, WEFT_FLOAT, arg, "table");
}

static tables make(int64_t rows, int64_t width, float (*number)(int table)) {
  static const char *const names[] = {"var", "m", "v"};
  tables t = {.rows = rows, .width = width};
  shape s = SHAPE2(rows, width);
  EXPECT_OK(weft__resources_create(&t.held));
  for (int i = 0; i < DEFERRED_TABLES; i++) {
    weft_tensor *first = NULL;
    EXPECT_OK(weft__resource_get(t.held, NULL, VARIABLE_TYPE, names[i], make_table, &s, (resource **)&t.v[i]));
    EXPECT_OK(weft__tensor_create(&first, WEFT_FLOAT, &s));
    t.same[i] = weft__alloc((size_t)(rows * width) * sizeof(float));
    for (int64_t j = 0; j < rows * width; j++) t.same[i][j] = TENSOR_DATA(first, float)[j] = number(i);
    EXPECT_OK(weft__variable_assign(t.v[i], first));
    weft_tensor_destroy(first);
  }
  return t;
}

static void finish(tables *t) {
  for (int i = 0; i < DEFERRED_TABLES; i++) {
    weft__object_release((object *)t->v[i]);
    weft__free(t->same[i]);
  }
  weft__resources_destroy(t->held);
}

static float usual_number(int table) { return table == DEFERRED_VALUE ? any_float() : 0; }

static float odd_number(int table) {
  static const float odd[] = {0.0f, -0.0f, 1e-40f, -1e-40f, INFINITY, -INFINITY, NAN, 1e38f, -1e-38f, 2e-38f};
  if (any(3) == 0) return odd[any(sizeof odd / sizeof *odd)];
  return table == DEFERRED_SQUARE ? fabsf(any_float()) : any_float();
}

/* Most rows of m are zero, or so small that the value stays; here and there is a number for which that is not enough.
 */
static float still_number(int table) {
  static const float kept[] = {-0.0f, 1.0f, -1.0f, 0.3f, 0.0f}, mean[] = {-0.0f, 0.0f, 1e-30f, -1e-30f, 1e-22f};
  static const float square[] = {-1.0f, INFINITY, NAN, -1e-38f};
  if (table == DEFERRED_VALUE) return kept[any(40) ? 1 + any(3) : any(5)];
  if (table == DEFERRED_MEAN) return mean[any(5)];
  return any(40) ? 0.5f : square[any(4)];
}

static deferred_step usual_step(void) { return (deferred_step){1e-2f * (1 + any_float() / 4), 0.9f, 0.999f, 1e-8f}; }

static deferred_step odd_step(void) {
  static const float odd[] = {0.0f, -0.0f, 1.0f, 1.5f, -0.5f, INFINITY, NAN, 1e-40f};
  deferred_step s = usual_step();
  float *const field[] = {&s.rate, &s.beta1, &s.beta2, &s.epsilon};
  if (any(3) == 0) *field[any(4)] = odd[any(sizeof odd / sizeof *odd)];
  return s;
}

static deferred_step forgetful_step(void) { return (deferred_step){0.01f, 0.9f, any(4) ? 0.999f : 0.0f, 1e-8f}; }

/* A few rows, with repetitions, deferred and in the dense tables. */
static void both_step(tables *t, deferred_step s, int n) {
  weft_tensor *indices = NULL;
  float *mean = weft__alloc((size_t)(n * t->width + 1) * sizeof *mean);
  float *square = weft__alloc((size_t)(n * t->width + 1) * sizeof *square);
  EXPECT_OK(weft__tensor_create(&indices, WEFT_INT32, &SHAPE1(n)));
  for (int i = 0; i < n; i++) TENSOR_DATA(indices, int32_t)[i] = (int32_t)any((uint32_t)t->rows);
  for (int64_t j = 0; j < n * t->width; j++) mean[j] = 0.1f * any_float(), square[j] = mean[j] * mean[j];
  const int64_t stride = any(8) ? t->width : 0;
  const deferred_rows r = {indices, mean, square, stride, stride};
  weft__deferred_lock(t->v);
  if (!t->v[0]->deferred) EXPECT_OK(weft__deferred_join(t->v));
  EXPECT_OK(weft__deferred_add(t->v[0]->deferred, &s, &r, NULL));
  weft__variable_unlock(DEFERRED_TABLES, t->v);
  weft__deferred_apply_all(t->same, t->rows, t->width, &s, &r, NULL);
  weft_tensor_destroy(indices);
  weft__free(mean);
  weft__free(square);
}

/* NaN is equal to NaN here: which operand's payload a processor keeps is not ours to say. */
static bool same_bits(const float *a, const float *b, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) return false;
  return true;
}

static void expect_table(tables *t, int which) {
  weft_tensor now = {0};
  EXPECT_OK(weft__variable_read(t->v[which], &now));
  EXPECT(same_bits(TENSOR_DATA(&now, float), t->same[which], t->rows * t->width));
  weft__tensor_clear(&now);
}

static void expect_rows(tables *t, int n) {
  weft_tensor *indices = NULL;
  deferred_updates *joined = NULL;
  variable *v = t->v[any(DEFERRED_TABLES)];
  EXPECT_OK(weft__tensor_create(&indices, WEFT_INT64, &SHAPE1(n)));
  for (int i = 0; i < n; i++) TENSOR_DATA(indices, int64_t)[i] = (int64_t)any((uint32_t)t->rows);
  weft__deferred_lock_rows(v, &joined);
  if (joined) weft__deferred_catch_up(joined, indices, NULL);
  for (int which = 0; which < DEFERRED_TABLES; which++)
    for (int i = 0; i < n && (joined || t->v[which] == v); i++) {
      const int64_t at = TENSOR_DATA(indices, int64_t)[i] * t->width;
      EXPECT(same_bits(TENSOR_DATA(&t->v[which]->value, float) + at, t->same[which] + at, t->width));
    }
  weft__deferred_unlock_rows(v, joined);
  weft_tensor_destroy(indices);
}

static void compare(int64_t width, int steps, float (*number)(int), deferred_step (*next)(void)) {
  const uint64_t mode = weft__denormal_flush(); /* as in a step */
  tables t = make(ROWS, width, number);
  for (int i = 0; i < steps; i++) {
    both_step(&t, next(), (int)any(5));
    if (any(3) == 0) expect_rows(&t, (int)any(4));
    if (any(40) == 0) expect_table(&t, (int)any(DEFERRED_TABLES));
  }
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&t, which);
  finish(&t);
  weft__denormal_restore(mode);
}

TEST(deferred_steps_give_the_bits_of_dense_steps) {
  for (int64_t width = 1; width < 40; width += 5) compare(width, 400, usual_number, usual_step);
}

TEST(a_row_that_catches_up_on_many_steps_skips_only_what_changes_nothing) {
  const uint64_t mode = weft__denormal_flush();
  tables t = make(ROWS, 16, usual_number);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) both_step(&t, usual_step(), 4);
    for (int i = 0; i < 3000; i++) both_step(&t, usual_step(), 0); /* m becomes zero, v does not */
    expect_rows(&t, 3);
  }
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&t, which);
  finish(&t);
  weft__denormal_restore(mode);
}

TEST(odd_numbers_in_tables_and_steps_give_the_bits_of_dense_steps) {
  for (int i = 0; i < 40; i++) compare(7, 60, odd_number, usual_step);
  for (int i = 0; i < 40; i++) compare(17, 60, usual_number, odd_step);
  for (int i = 0; i < 40; i++) compare(5, 60, odd_number, odd_step);
}

TEST(values_that_seem_to_stay_give_the_bits_of_dense_steps) {
  for (int i = 0; i < 60; i++) {
    compare(4, 40, still_number, usual_step);
    compare(4, 40, still_number, forgetful_step);
  }
}

TEST(a_full_history_brings_all_rows_up_to_date) {
  const uint64_t mode = weft__denormal_flush();
  tables t = make(ROWS, 1, usual_number);
  for (int i = 0; i < DEFERRED_STEPS + 50; i++) both_step(&t, usual_step(), i % 1000 ? 0 : 2);
  EXPECT(t.v[0]->deferred != NULL && t.v[0]->deferred->n_step == 50);
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&t, which);
  finish(&t);
  weft__denormal_restore(mode);
}

TEST(a_reader_outside_of_a_step_flushes_denormal_numbers_too) {
  tables t = make(ROWS, 3, usual_number);
  const uint64_t mode = weft__denormal_flush();
  for (int i = 0; i < 5; i++) both_step(&t, usual_step(), 3);
  for (int i = 0; i < 2000; i++) both_step(&t, usual_step(), 0);
  weft__denormal_restore(mode);
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&t, which);
  finish(&t);
}

TEST(an_assignment_of_a_slot_comes_after_the_steps_before_it) {
  const uint64_t mode = weft__denormal_flush();
  tables t = make(ROWS, 3, usual_number);
  for (int i = 0; i < 50; i++) {
    weft_tensor *zeros = NULL;
    both_step(&t, usual_step(), 3);
    if (i % 7) continue;
    EXPECT_OK(weft__tensor_create(&zeros, WEFT_FLOAT, &SHAPE2(t.rows, t.width)));
    memset(zeros->data, 0, weft__tensor_bytes(zeros));
    memset(t.same[DEFERRED_MEAN], 0, weft__tensor_bytes(zeros));
    EXPECT_OK(weft__variable_assign(t.v[DEFERRED_MEAN], zeros));
    weft_tensor_destroy(zeros);
  }
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&t, which);
  finish(&t);
  weft__denormal_restore(mode);
}

TEST(a_value_that_was_read_before_a_step_does_not_change) {
  tables t = make(ROWS, 3, usual_number);
  weft_tensor before = {0};
  EXPECT_OK(weft__variable_read(t.v[0], &before));
  const float first = TENSOR_DATA(&before, float)[0];
  both_step(&t, usual_step(), 3);
  for (int i = 0; i < 20; i++) both_step(&t, usual_step(), 3);
  EXPECT(TENSOR_DATA(&before, float)[0] == first);
  weft__tensor_clear(&before);
  expect_table(&t, 0);
  finish(&t);
}

TEST(two_optimizers_may_share_a_table) {
  const uint64_t mode = weft__denormal_flush();
  tables a = make(ROWS, 3, usual_number), b = make(ROWS, 3, usual_number);
  weft__object_release((object *)b.v[0]); /* b updates the variable of a, with slots of its own */
  weft__object_retain((object *)a.v[0]);
  b.v[0] = a.v[0];
  weft__free(b.same[0]);
  b.same[0] = a.same[0];
  for (int i = 0; i < 60; i++) both_step(any(2) ? &a : &b, usual_step(), 2);
  for (int which = 0; which < DEFERRED_TABLES; which++) expect_table(&a, which), expect_table(&b, which);
  b.same[0] = NULL;
  finish(&b);
  finish(&a);
  weft__denormal_restore(mode);
}

TEST(tables_that_leave_their_container_are_freed) {
  tables t = make(ROWS, 3, usual_number);
  both_step(&t, usual_step(), 3);
  EXPECT_OK(weft__resource_delete(t.held, NULL, VARIABLE_TYPE, "m"));
  EXPECT(!weft__variable_initialized(t.v[DEFERRED_MEAN]));
  expect_table(&t, DEFERRED_VALUE); /* it still had steps to come, for which m was kept */
  EXPECT(t.v[DEFERRED_MEAN]->value.buf == NULL);
  finish(&t);
  t = make(ROWS, 3, usual_number);
  both_step(&t, usual_step(), 3);
  finish(&t); /* clears the container while steps are deferred; the leak checker watches */
}

/* ---- threads ---- */

typedef struct party {
  tables *t;
  int who;
} party;

static void *take_part(void *arg) {
  const party *p = arg;
  const shape s = SHAPE1(2);
  weft_tensor *indices = NULL;
  float rows[2 * 3] = {1, 2, 3, 4, 5, 6};
  EXPECT_OK(weft__tensor_create(&indices, WEFT_INT32, &s));
  for (int i = 0; i < 300; i++) {
    TENSOR_DATA(indices, int32_t)[0] = (i * 7 + p->who) % ROWS;
    TENSOR_DATA(indices, int32_t)[1] = (i * 3) % ROWS;
    deferred_updates *joined = NULL;
    weft_tensor now = {0};
    if (p->who < 2) { /* steps */
      const deferred_step one = {1e-3f, 0.9f, 0.999f, 1e-8f};
      const deferred_rows r = {indices, rows, rows, 3, 3};
      weft__deferred_lock(p->t->v);
      if (!p->t->v[0]->deferred) EXPECT_OK(weft__deferred_join(p->t->v));
      EXPECT_OK(weft__deferred_add(p->t->v[0]->deferred, &one, &r, NULL));
      weft__variable_unlock(DEFERRED_TABLES, p->t->v);
    } else if (p->who == 2) { /* rows */
      weft__deferred_lock_rows(p->t->v[0], &joined);
      if (joined) weft__deferred_catch_up(joined, indices, NULL);
      weft__deferred_unlock_rows(p->t->v[0], joined);
    } else if (i % 10 == 0) { /* the whole, alone or together */
      EXPECT_OK(weft__variable_read(p->t->v[i % DEFERRED_TABLES], &now));
      weft__tensor_clear(&now);
      weft__variable_lock(DEFERRED_TABLES, p->t->v);
      for (int t = 0; t < DEFERRED_TABLES; t++) EXPECT(!p->t->v[t]->deferred);
      weft__variable_unlock(DEFERRED_TABLES, p->t->v);
    }
  }
  weft_tensor_destroy(indices);
  return NULL;
}

TEST(steps_row_reads_and_whole_reads_may_come_from_many_threads) {
  tables t = make(ROWS, 3, usual_number);
  pthread_t thread[4];
  party p[4];
  for (int i = 0; i < 4; i++) {
    p[i] = (party){&t, i};
    EXPECT(pthread_create(&thread[i], NULL, take_part, &p[i]) == 0);
  }
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  finish(&t);
}
