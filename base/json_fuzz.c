/* json_fuzz.c - any bytes are a document or an error. */
#include "base/json.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  arena a = {0};
  json *j;
  if (weft__json_parse(&j, &a, (const char *)data, size) == WEFT_OK) weft__json_get(j, "cluster");
  weft__arena_finish(&a);
  return 0;
}
