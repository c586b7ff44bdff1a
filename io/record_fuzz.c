/* record_fuzz.c - bytes read as a file of TFRecords, plain or compressed: records and then an end, or an error that
 * names the file and stays the same. */
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
  read_as(path, COMPRESSION_NONE, size / 16 + 1); /* a record takes 16 bytes at least */
  read_as(path, COMPRESSION_GUESS, size * 1100);  /* and at best a 1032th of that when deflated */
  return 0;
}
