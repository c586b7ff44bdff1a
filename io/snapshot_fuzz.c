/* snapshot_fuzz.c - reads the bytes as a file of a snapshot, with the compression that the first byte chooses. */
#include "io/snapshot.h"
#include "tests/fuzz_file.h"

enum { PARTS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"", "GZIP", "SNAPPY"};
  snapshot_reader *r = NULL;
  compression c;
  if (size < 1 || weft__snapshot_compression(names[data[0] % 3], &c) != WEFT_OK) return 0;
  if (weft__snapshot_open(&r, fuzz_write("00000000.snapshot", data + 1, size - 1), true, c) == WEFT_OK)
    for (bool end = false; !end;) {
      weft_tensor part[PARTS] = {0};
      if (weft__snapshot_next(r, part, PARTS, &end) != WEFT_OK) end = true;
      for (int i = 0; i < PARTS; i++) weft__tensor_clear(&part[i]);
    }
  weft__snapshot_close(r);
  return 0;
}
