/* test_numbers.h - tensors to compute with in tests: numbers from -1 to 1 that look random and are the same each time.
 */
#ifndef WEFT_EXEC_TEST_NUMBERS_H
#define WEFT_EXEC_TEST_NUMBERS_H

#include "tensor/tensor.h"
#include "tests/check.h"

static inline weft_tensor *numbers(shape s, uint32_t seed) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &s));
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    seed = seed * 1664525u + 1013904223u;
    TENSOR_DATA(t, float)[i] = (float)(seed >> 8) / 8388608.0f - 1;
  }
  return t;
}

#endif
