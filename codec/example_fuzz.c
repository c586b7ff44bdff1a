/* example_fuzz.c - parses the bytes as an Example and checks that all counted values can be read inside the bytes. */
#include "base/alloc.h"
#include "codec/example.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_feature(void *arg, bytes key, bytes message) {
  const bytes *all = arg;
  feature f;
  if (key.at && (key.at < all->at || key.end > all->end)) abort();
  if (!weft__feature_read(message, &f) || f.type == WEFT_INVALID) return;
  const int64_t n = weft__feature_count(&f);
  if (n < 0) return;
  if (n > all->end - all->at) abort(); /* every value takes at least one byte */
  const size_t each = weft__dtype_size(f.type);
  char *out = weft__alloc_zero((size_t)n + 1, each);
  if (out && weft__feature_values(&f, out) == WEFT_OK && f.type == WEFT_STRING)
    for (int64_t i = 0; i < n; i++) weft__free(((str *)(void *)out)[i].data);
  weft__free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes all = {data, data + size};
  weft__example_scan(all, 1, read_feature, &all);
  weft__example_scan(all, 2, read_feature, &all);
  return 0;
}
