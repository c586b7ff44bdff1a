/* record_fuzz.c - parses the bytes as a TFRecord file, plain or compressed: expects records and an end, or an error
 * that names the file and stays the same. */
#include "io/record.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const char *path, compression c, size_t most) {
  record_reader *r = NULL;
  text record = {0};
  uint64_t at = 0, before = 0;
  bool end = false;
  weft_err err = weft__records_open(&r, path, c);
  if (err != WEFT_OK) abort();
  for (size_t n = 0; err == WEFT_OK && !end; n++) {
    err = weft__record_next(r, &record, &at, &end);
    if (at < before || n > most) abort();
    before = at;
  }
  if (err != WEFT_OK && (!strstr(weft__error_message(), path) || weft__record_next(r, &record, &at, &end) != err))
    abort();
  weft__records_close(r);
  weft__text_finish(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_write("records", data, size);
  read_as(path, COMPRESSION_NONE, size / 16 + 1); /* a record takes at least 16 bytes */
  read_as(path, COMPRESSION_GUESS, size * 1100);  /* deflate compresses at most 1032 to 1 */
  return 0;
}
