/* snappy_fuzz.c - decodes the bytes as a Snappy block, and checks that what is encoded is decoded again. */
#include "io/snappy.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  text plain = {0}, block = {0}, again = {0};
  if (weft__snappy_decode(data, size, &plain) == WEFT_OK) {
    weft__snappy_encode(weft__text_get(&plain), plain.size, &block);
    if (weft__snappy_decode((const uint8_t *)weft__text_get(&block), block.size, &again) != WEFT_OK ||
        again.size != plain.size || memcmp(weft__text_get(&again), weft__text_get(&plain), plain.size) != 0)
      abort();
  }
  weft__text_finish(&plain);
  weft__text_finish(&block);
  weft__text_finish(&again);
  return 0;
}
