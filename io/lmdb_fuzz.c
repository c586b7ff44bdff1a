/* lmdb_fuzz.c - parses the bytes as an LMDB file: every key and value is read, or the file is rejected. */
#include "io/lmdb.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lmdb_reader *r = NULL;
  text key = {0}, value = {0};
  const char *path = fuzz_write("data.mdb", data, size);
  if (weft__lmdb_open(&r, path) == WEFT_OK)
    for (bool end = false; !end && weft__lmdb_next(r, &key, &value, &end) == WEFT_OK;) {}
  weft__lmdb_close(r);
  weft__text_finish(&key);
  weft__text_finish(&value);
  return 0;
}
