/* suggest_test.c - which names are suggested for an unknown one. */
#include "base/suggest.h"

#include "tests/check.h"
#include <string.h>

static weft_err unknown(const char *name) {
  static const char *const known[] = {"Relu", "Relu6", "Elu", "Selu", "Softmax", "LeakyRelu", "hinge_loss"};
  suggestion s = {.what = "activation", .name = name};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) weft__suggest_offer(&s, known[i]);
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

TEST(a_name_in_another_case_is_suggested_first) {
  EXPECT_ERR(unknown("relu"), WEFT_INVALID_ARGUMENT, "unknown activation 'relu'; did you mean 'Relu'?");
  EXPECT_ERR(unknown("relu6"), WEFT_INVALID_ARGUMENT, "did you mean 'Relu6'?");
  EXPECT_ERR(unknown("leaky_relu"), WEFT_INVALID_ARGUMENT, "did you mean 'LeakyRelu'?");
  EXPECT_ERR(unknown("softmx"), WEFT_INVALID_ARGUMENT, "did you mean 'Softmax'?");
  EXPECT_ERR(unknown("HingeLoss"), WEFT_INVALID_ARGUMENT, "did you mean 'hinge_loss'?");
}

TEST(without_a_near_name_all_are_listed) {
  EXPECT_ERR(unknown("Tanh"), WEFT_INVALID_ARGUMENT, "unknown activation 'Tanh'; known are 'Relu', 'Relu6', 'Elu',");
  EXPECT(strstr(weft__error_message(), "did you mean") == NULL);
  EXPECT_ERR(unknown(""), WEFT_INVALID_ARGUMENT, "unknown activation ''; known are 'Relu'");
}

TEST(long_lists_and_long_names_are_left_out) {
  char name[200];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  EXPECT_ERR(unknown(name), WEFT_INVALID_ARGUMENT, "known are");
  suggestion s = {.what = "op", .name = "q"};
  for (int i = 0; i < 1000; i++) weft__suggest_offer(&s, name);
  EXPECT_ERR(weft__suggest_fail(&s, WEFT_NOT_FOUND), WEFT_NOT_FOUND, "unknown op 'q'");
  EXPECT(strstr(weft__error_message(), "xx") == NULL);
}
