/* idx_fuzz.c - parses the bytes as an idx file: expects a tensor of the announced size, or an error that names the
 * file. */
#include "base/alloc.h"
#include "io/idx.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_write("idx", data, size);
  weft_tensor *t = NULL;
  weft_err err = weft__idx_read(&t, path);
  if (err == WEFT_OK) {
    if (t->shape.rank > 255 || weft__tensor_bytes(t) > size * 1100) abort();
    weft_tensor_destroy(t);
  } else if (err != WEFT_OOM && !strstr(weft__error_message(), path)) {
    abort();
  }
  return 0;
}
