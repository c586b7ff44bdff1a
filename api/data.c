/* data.c - files of training data, as programs read them. */
#include "io/idx.h"
#include "weft/train.h"

weft_err weft_idx_read(weft_tensor **out, const char *path) {
  *out = NULL;
  return path ? weft__idx_read(out, path) : weft__fail(WEFT_INVALID_ARGUMENT, "weft_idx_read: no path");
}
