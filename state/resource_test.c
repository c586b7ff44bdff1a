/* resource_test.c - tests containers, names and handles of resources. */
#include "state/resource.h"
#include "state/variable.h"

#include "tests/check.h"

static weft_err make(resource **out, void *arg) {
  (*(int *)arg)++;
  return weft__variable_create((variable **)out, WEFT_FLOAT, &SHAPE_SCALAR, "v");
}

static resource *get(resources *r, const char *container, const char *name, int *made) {
  resource *got = NULL;
  EXPECT_OK(weft__resource_get(r, container, VARIABLE_TYPE, name, make, made, &got));
  weft__object_release(&got->base); /* the table keeps it */
  return got;
}

TEST(a_resource_is_made_once_for_each_container_and_name) {
  resources *r = NULL;
  int made = 0;
  EXPECT_OK(weft__resources_create(&r));
  resource *a = get(r, "", "x", &made);
  EXPECT(get(r, "localhost", "x", &made) == a);
  EXPECT(get(r, "other", "x", &made) != a);
  EXPECT(get(r, "", "y", &made) != a);
  EXPECT_EQ_INT(made, 3);
  weft__resources_destroy(r);
}

TEST(a_cleared_container_loses_its_resources_and_no_others) {
  resources *r = NULL;
  resource *found = NULL;
  int made = 0;
  EXPECT_OK(weft__resources_create(&r));
  get(r, "a", "x", &made);
  get(r, "a", "y", &made);
  get(r, "ab", "x", &made);
  weft__resources_clear(r, "a");
  EXPECT_ERR(weft__resource_find(r, "a", VARIABLE_TYPE, "x", &found), WEFT_NOT_FOUND,
             "Resource a/x/variable does not exist.");
  EXPECT_OK(weft__resource_find(r, "ab", VARIABLE_TYPE, "x", &found));
  weft__object_release(&found->base);
  weft__resources_destroy(r);
}

TEST(a_deleted_variable_loses_its_value_despite_other_references) {
  resources *r = NULL;
  resource *held = NULL;
  weft_tensor *one = NULL;
  int made = 0;
  EXPECT_OK(weft__resources_create(&r));
  EXPECT_OK(weft__resource_get(r, "", VARIABLE_TYPE, "x", make, &made, &held));
  EXPECT_OK(weft__tensor_scalar(&one, WEFT_FLOAT, 1));
  EXPECT_OK(weft__variable_assign((variable *)held, one));
  EXPECT_OK(weft__resource_delete(r, "", VARIABLE_TYPE, "x"));
  EXPECT_ERR(weft__resource_delete(r, "", VARIABLE_TYPE, "x"), WEFT_NOT_FOUND, "localhost/x");
  EXPECT(!weft__variable_initialized((variable *)held));
  weft_tensor_destroy(one);
  weft__object_release(&held->base);
  weft__resources_destroy(r);
}

TEST(a_handle_keeps_its_target_and_knows_its_type) {
  variable *v = NULL;
  weft_tensor *h = NULL;
  resource *target = NULL;
  EXPECT_OK(weft__variable_create(&v, WEFT_FLOAT, &SHAPE_SCALAR, "v"));
  EXPECT_OK(weft__handle_create(&h, "", "v", &v->base));
  weft__object_release((object *)v);
  EXPECT_OK(weft__handle_get(h, VARIABLE_TYPE, &target));
  EXPECT(target == &v->base);
  EXPECT_ERR(weft__handle_get(h, "queue", &target), WEFT_INVALID_ARGUMENT, "localhost/v as a queue");
  weft_tensor_destroy(h);
  EXPECT_OK(weft__tensor_scalar(&h, WEFT_FLOAT, 1));
  EXPECT_ERR(weft__handle_get(h, "queue", &target), WEFT_INVALID_ARGUMENT, "handle");
  weft_tensor_destroy(h);
}
