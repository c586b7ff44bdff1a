/* slices_fuzz.c - parses the bytes as a V1 checkpoint: every listed tensor is read or fails.
 *
 * An input that begins with 'r' is a complete file.  Any other input is a list of keys and values, from which a
 * table with correct checksums is built (tests/fuzz_table.h). */
#include "base/alloc.h"
#include "io/slices.h"
#include "tests/fuzz_file.h"
#include "tests/fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the tensor of this name, if there is one. */
static void read_one(slices_reader *r, bytes name) {
  bundle_entry e;
  weft_tensor *t = NULL;
  if (weft__slices_find(r, name, &e) != WEFT_OK || weft__shape_count(&e.shape) > 1 << 20) return;
  if (weft__tensor_create(&t, e.dtype, &e.shape) == WEFT_OK) weft__slices_read(r, name, NULL, t);
  weft_tensor_destroy(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"w", "words", "floats", "sliced", "half", ""};
  text file = {0};
  slices_reader *r = NULL;
  if (size && data[0] == 'r')
    weft__text_add(&file, (const char *)data + 1, size - 1);
  else
    fuzz_table(&file, data, data + size);
  const char *path = fuzz_write("v1", file.data, file.size);
  if (weft__slices_open(&r, path) == WEFT_OK)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) read_one(r, (bytes){names[i], strlen(names[i])});
  weft__slices_close(r);
  weft__text_finish(&file);
  return 0;
}
