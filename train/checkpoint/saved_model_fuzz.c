/* saved_model_fuzz.c - bytes read as saved_model.pb (tests/fuzz_saved_model.h). fuzz runs: 3000 */
#include "tests/fuzz_saved_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_saved_model("saved_model.pb", data, size);
  return 0;
}
