/* npz_fuzz.c - bytes read as an archive of NumPy's: arrays or an error. */
#include "command.h"
#include "npz.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const cli_command *cli_current; /* main's, which is left out here */

static weft_err drop(void *arg, const char *name, weft_tensor *t) {
  (void)arg;
  if (!name) abort();
  weft_tensor_destroy(t);
  return WEFT_OK;
}

static weft_err drop_other(void *arg, const char *name, const char *why) {
  (void)arg;
  if (!name || !why) abort();
  return WEFT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  npz_each(fuzz_write("a.npz", data, size), drop, drop_other, NULL);
  npz_each(fuzz_write("a.npz", data, size), drop, NULL, NULL);
  return 0;
}
