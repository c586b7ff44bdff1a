/* tensor_array_test.c - tests tensor arrays: writes, reads, growth and gradients. */
#include "state/tensor_array.h"

#include "tests/check.h"

static tensor_array *make(tensor_array_spec spec) {
  tensor_array *a = NULL;
  if (!spec.dtype) spec.dtype = WEFT_FLOAT;
  EXPECT_OK(weft__tensor_array_create(&a, &spec, "ta"));
  return a;
}

static weft_tensor *floats(int n, float first) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(n)));
  for (int i = 0; i < n; i++) TENSOR_DATA(t, float)[i] = first + (float)i;
  return t;
}

static weft_err put(tensor_array *a, int64_t i, int n, float first) {
  weft_tensor *t = floats(n, first);
  weft_err err = weft__tensor_array_write(a, i, t, NULL);
  weft_tensor_destroy(t);
  return err;
}

static void drop(tensor_array *a) { weft__object_release((object *)a); }

TEST(an_element_is_written_once_and_read_once) {
  tensor_array *a = make((tensor_array_spec){.size = 2, .element = SHAPE_UNKNOWN, .clear_after_read = true});
  weft_tensor t = {0};
  EXPECT_OK(put(a, 0, 2, 1));
  EXPECT_ERR(put(a, 0, 2, 1), WEFT_INVALID_ARGUMENT, "already been written to");
  EXPECT_OK(weft__tensor_array_read(a, WEFT_FLOAT, 0, &t, NULL));
  EXPECT_NEAR(TENSOR_DATA(&t, float)[1], 2, 0);
  weft__tensor_clear(&t);
  EXPECT_ERR(weft__tensor_array_read(a, WEFT_FLOAT, 0, &t, NULL), WEFT_INVALID_ARGUMENT,
             "Could not read index 0 twice");
  EXPECT_ERR(weft__tensor_array_read(a, WEFT_FLOAT, 1, &t, NULL), WEFT_INVALID_ARGUMENT,
             "element shape is not fully defined");
  EXPECT_ERR(weft__tensor_array_read(a, WEFT_FLOAT, 2, &t, NULL), WEFT_INVALID_ARGUMENT,
             "Tried to read from index 2 but array size is: 2");
  EXPECT_ERR(weft__tensor_array_read(a, WEFT_INT32, 1, &t, NULL), WEFT_INVALID_ARGUMENT, "Op requested dtype int32");
  EXPECT_ERR(put(a, 2, 2, 1), WEFT_INVALID_ARGUMENT, "not resizeable and size is: 2");
  drop(a);
}

TEST(an_unwritten_element_is_zero_if_the_shape_is_known) {
  tensor_array *a = make((tensor_array_spec){.size = 1, .element = SHAPE1(3)});
  weft_tensor t = {0};
  EXPECT_ERR(put(a, 0, 2, 1), WEFT_INVALID_ARGUMENT, "inferred element shape: [3]");
  EXPECT_OK(weft__tensor_array_read(a, WEFT_FLOAT, 0, &t, NULL));
  EXPECT_EQ_MEM(t.data, ((float[3]){0}), 12);
  weft__tensor_clear(&t);
  drop(a);
}

TEST(a_dynamic_array_grows_until_it_has_a_gradient) {
  tensor_array *a = make((tensor_array_spec){.size = 0, .element = SHAPE_UNKNOWN, .dynamic = true}), *g = NULL;
  int64_t n;
  EXPECT_OK(put(a, 20, 1, 1));
  EXPECT_OK(weft__tensor_array_size(a, &n, NULL));
  EXPECT_EQ_INT(n, 21);
  EXPECT_OK(weft__tensor_array_gradient(a, "gradients", NULL, &g));
  EXPECT_ERR(put(a, 30, 1, 1), WEFT_INVALID_ARGUMENT, "not resizeable");
  drop(a);
}

TEST(gradients_add_up_and_know_the_shapes_written) {
  tensor_array *a = make((tensor_array_spec){.size = 3, .element = SHAPE_UNKNOWN, .clear_after_read = true});
  tensor_array *g = NULL, *again = NULL, *other = NULL;
  weft_tensor t = {0};
  EXPECT_OK(put(a, 0, 2, 1));
  EXPECT_OK(put(a, 1, 2, 1));
  EXPECT_OK(weft__tensor_array_gradient(a, "gradients", NULL, &g));
  EXPECT_OK(weft__tensor_array_gradient(a, "gradients", NULL, &again));
  EXPECT_OK(weft__tensor_array_gradient(a, "gradients_1", NULL, &other));
  EXPECT(g == again && g != other);
  EXPECT_OK(put(g, 0, 2, 10));
  EXPECT_OK(put(g, 0, 2, 1));
  EXPECT_OK(weft__tensor_array_read(g, WEFT_FLOAT, 0, &t, NULL));
  EXPECT_EQ_MEM(t.data, ((float[]){11, 13}), 8);
  weft__tensor_clear(&t);
  EXPECT_OK(weft__tensor_array_read(g, WEFT_FLOAT, 1, &t, NULL));
  EXPECT_EQ_MEM(t.data, ((float[]){0, 0}), 8);
  weft__tensor_clear(&t);
  drop(a);
}

TEST(identical_elements_have_the_shape_of_the_first) {
  tensor_array *a = make((tensor_array_spec){.size = 3, .element = SHAPE_UNKNOWN, .identical = true});
  EXPECT_OK(put(a, 0, 2, 1));
  EXPECT_ERR(put(a, 1, 3, 1), WEFT_INVALID_ARGUMENT, "the value shape is [3]");
  shape s = weft__tensor_array_element(a);
  EXPECT_EQ_STR(weft__shape_text(&s), "[2]");
  weft__tensor_array_close(a);
  EXPECT_ERR(put(a, 1, 2, 1), WEFT_INVALID_ARGUMENT, "already been closed");
  drop(a);
}
