/* accumulator_test.c - tests accumulators: when a take is served, and which gradients are dropped. */
#include "state/accumulator.h"

#include "tests/check.h"
#include <stdio.h>

typedef struct answer {
  int calls;
  weft_err err;
  char message[160], full[32];
  float v[8];
  int64_t index[8], rows;
} answer;

static void take(void *arg, weft_err err, const accumulated *got) {
  answer *a = arg;
  a->calls++;
  a->err = err;
  if (err != WEFT_OK) snprintf(a->message, sizeof a->message, "%s", weft__error_message());
  if (!got) return;
  memcpy(a->v, got->gradient.data, weft__tensor_bytes(&got->gradient));
  snprintf(a->full, sizeof a->full, "%s", weft__shape_text(&got->full));
  if (!got->indices.buf) return;
  a->rows = got->indices.shape.dim[0];
  memcpy(a->index, got->indices.data, weft__tensor_bytes(&got->indices));
}

static accumulator *make(shape declared, bool sparse, bool sum) {
  accumulator *a = NULL;
  EXPECT_OK(weft__accumulator_create(&a, &(accumulator_spec){WEFT_FLOAT, declared, sparse, sum}, "a"));
  return a;
}

static weft_tensor *floats(shape s, const float *v) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &s));
  memcpy(t->data, v, weft__tensor_bytes(t));
  return t;
}

static weft_err apply(accumulator *a, int64_t local_step, float x, float y) {
  weft_tensor *t = floats(SHAPE1(2), (float[]){x, y});
  weft_err err = weft__accumulator_apply(a, local_step, t);
  weft_tensor_destroy(t);
  return err;
}

static weft_err apply_rows(accumulator *a, int n, const int64_t *index, const float *v) {
  weft_tensor *i = NULL, *t = floats(SHAPE2(n, 1), v);
  EXPECT_OK(weft__tensor_ints(&i, WEFT_INT64, index, n));
  weft_err err = weft__accumulator_apply_sparse(a, 0, i, t, NULL);
  weft_tensor_destroy(i);
  weft_tensor_destroy(t);
  return err;
}

static void drop(accumulator *a) { weft__object_release((object *)a); }

TEST(a_take_waits_for_enough_and_gets_the_mean_of_all) {
  accumulator *a = make(SHAPE1(2), false, false);
  answer got = {0};
  weft__accumulator_take(a, 2, NULL, take, &got);
  EXPECT_OK(apply(a, 0, 1, 2));
  EXPECT_EQ_INT(got.calls, 0);
  EXPECT_OK(apply(a, 0, 3, 5));
  EXPECT_EQ_INT(got.calls, 1);
  EXPECT_EQ_MEM(got.v, ((float[]){2, 3.5f}), 8);
  EXPECT_EQ_INT(weft__accumulator_count(a), 0);
  drop(a);
}

TEST(stale_gradients_are_dropped) {
  accumulator *a = make(SHAPE1(2), false, true);
  answer got = {0};
  EXPECT_OK(apply(a, 0, 1, 2));
  weft__accumulator_take(a, 1, NULL, take, &got);
  EXPECT_OK(apply(a, 0, 1, 2));
  EXPECT_EQ_INT(weft__accumulator_count(a), 0);
  EXPECT_OK(apply(a, 1, 1, 2));
  EXPECT_EQ_INT(weft__accumulator_count(a), 1);
  weft__accumulator_set_step(a, 7);
  EXPECT_OK(apply(a, 6, 1, 2));
  EXPECT_EQ_INT(weft__accumulator_count(a), 1);
  drop(a);
}

TEST(a_gradient_must_have_the_shape_declared_or_first_seen) {
  accumulator *a = make(SHAPE1(3), false, false);
  EXPECT_ERR(apply(a, 0, 1, 2), WEFT_INVALID_ARGUMENT, "Shape mismatch: expected [3], got [2]");
  drop(a);
  a = make(SHAPE_UNKNOWN, false, false);
  EXPECT_OK(apply(a, 0, 1, 2));
  weft_tensor *t = floats(SHAPE1(1), (float[]){1});
  EXPECT_ERR(weft__accumulator_apply(a, 0, t), WEFT_INVALID_ARGUMENT, "Shape mismatch: expected [2], got [1]");
  weft_tensor_destroy(t);
  drop(a);
}

TEST(a_take_can_be_cancelled_and_needs_a_positive_number) {
  accumulator *a = make(SHAPE1(2), false, false);
  answer got = {0}, next = {0}, none = {0};
  cancel c;
  weft__cancel_init(&c);
  weft__accumulator_take(a, 5, &c, take, &got);
  weft__accumulator_take(a, 1, NULL, take, &next);
  EXPECT_OK(apply(a, 0, 1, 2));
  EXPECT_EQ_INT(next.calls, 0);
  weft__cancel_fire(&c, WEFT_CANCELLED, "stop");
  EXPECT_EQ_INT(got.err, WEFT_CANCELLED);
  EXPECT_EQ_INT(next.calls, 1);
  weft__accumulator_take(a, 0, NULL, take, &none);
  EXPECT_EQ_STR(none.message, "Argument num_required must be positive, but was 0");
  weft__cancel_finish(&c);
  drop(a);
}

TEST(sparse_rows_are_divided_by_how_often_they_came) {
  accumulator *a = make(SHAPE2(4, 1), true, false);
  answer got = {0};
  EXPECT_OK(apply_rows(a, 2, (int64_t[]){0, 2}, (float[]){1, 2}));
  EXPECT_OK(apply_rows(a, 2, (int64_t[]){2, 3}, (float[]){10, 20}));
  EXPECT_ERR(apply_rows(a, 1, (int64_t[]){7}, (float[]){1}), WEFT_INVALID_ARGUMENT, "index is 7 exceeded 4");
  weft__accumulator_take(a, 2, NULL, take, &got);
  EXPECT_OK(got.err);
  EXPECT_EQ_INT(got.rows, 3);
  EXPECT_EQ_MEM(got.index, ((int64_t[]){0, 2, 3}), 24);
  EXPECT_EQ_MEM(got.v, ((float[]){1, 6, 20}), 12);
  EXPECT_EQ_STR(got.full, "[4,1]");
  drop(a);
}

TEST(unsorted_rows_are_merged_as_tensorflow_merges_them) {
  accumulator *a = make(SHAPE_UNKNOWN, true, false);
  answer got = {0};
  EXPECT_OK(apply_rows(a, 2, (int64_t[]){2, 0}, (float[]){1, 2}));
  EXPECT_OK(apply_rows(a, 2, (int64_t[]){1, 2}, (float[]){1, 2}));
  weft__accumulator_take(a, 1, NULL, take, &got);
  EXPECT_EQ_MEM(got.index, ((int64_t[]){1, 2, 0}), 24);
  EXPECT_EQ_MEM(got.v, ((float[]){1, 1.5f, 2}), 12);
  EXPECT_EQ_STR(got.full, "[?,1]");
  drop(a);
}
