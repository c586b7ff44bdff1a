/* variable_test.c - tests that readers of a variable keep what they took, and the order of locks. */
#include "state/variable.h"

#include "tests/check.h"

static variable *make(void) {
  variable *v = NULL;
  EXPECT_OK(weft__variable_create(&v, WEFT_FLOAT, &SHAPE1(2), "v"));
  return v;
}

static weft_tensor *floats(float a, float b) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(2)));
  TENSOR_DATA(t, float)[0] = a;
  TENSOR_DATA(t, float)[1] = b;
  return t;
}

TEST(an_unassigned_variable_cannot_be_read_or_written) {
  variable *v = make();
  weft_tensor t = {0}, *w = NULL;
  EXPECT(!weft__variable_initialized(v));
  EXPECT_ERR(weft__variable_read(v, &t), WEFT_FAILED_PRECONDITION, "Attempting to use uninitialized value v");
  EXPECT_ERR(weft__variable_writable(v, &w), WEFT_FAILED_PRECONDITION, "uninitialized");
  weft__object_release((object *)v);
}

TEST(what_a_reader_took_never_changes) {
  variable *v = make();
  weft_tensor *first = floats(1, 2), *second = floats(3, 4), seen = {0}, *w = NULL;
  EXPECT_OK(weft__variable_assign(v, first));
  EXPECT_OK(weft__variable_read(v, &seen));
  EXPECT_OK(weft__variable_assign(v, second));
  EXPECT_NEAR(TENSOR_DATA(&seen, float)[0], 1, 0);
  weft__variable_lock(1, &v);
  EXPECT_OK(weft__variable_writable(v, &w));
  TENSOR_DATA(w, float)[0] = 9;
  weft__variable_unlock(1, &v);
  EXPECT_NEAR(TENSOR_DATA(second, float)[0], 3, 0);
  weft__tensor_clear(&seen);
  weft_tensor_destroy(first);
  weft_tensor_destroy(second);
  weft__object_release((object *)v);
}

TEST(an_assignment_reuses_a_buffer_that_is_not_shared) {
  variable *v = make();
  weft_tensor *t = floats(1, 2);
  EXPECT_OK(weft__variable_assign(v, t));
  weft_tensor_destroy(t);
  const void *before = v->value.data;
  t = floats(5, 6);
  EXPECT_OK(weft__variable_assign(v, t));
  weft_tensor_destroy(t);
  EXPECT(v->value.data == before);
  EXPECT_NEAR(TENSOR_DATA(&v->value, float)[1], 6, 0);
  weft__object_release((object *)v);
}

TEST(an_assignment_of_another_type_is_refused) {
  variable *v = make();
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_INT32, 1));
  EXPECT_ERR(weft__variable_assign(v, t), WEFT_INVALID_ARGUMENT, "int32");
  weft_tensor_destroy(t);
  weft__object_release((object *)v);
}

static void *lock_both(void *arg) {
  variable **v = arg;
  for (int i = 0; i < 2000; i++) {
    weft__variable_lock(3, v);
    weft__variable_unlock(3, v);
  }
  return NULL;
}

TEST(locks_are_taken_in_one_order_and_duplicates_once) {
  variable *a = make(), *b = make();
  variable *there[] = {a, b, a}, *back[] = {b, a, b};
  pthread_t t[2];
  pthread_create(&t[0], NULL, lock_both, there);
  pthread_create(&t[1], NULL, lock_both, back);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  EXPECT_EQ_INT(pthread_mutex_trylock(&a->lock), 0);
  pthread_mutex_unlock(&a->lock);
  weft__object_release((object *)a);
  weft__object_release((object *)b);
}
