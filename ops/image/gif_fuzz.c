/* gif_fuzz.c - decodes the bytes as a GIF file and expects frames or an error. */
#include "tests/fuzz_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const weft_node *node;
  if (!node) node = fuzz_op_node("DecodeGif", 1, (weft_dtype[]){WEFT_STRING}, 0, NULL);
  fuzz_op_run_bytes(node, data, size);
  return 0;
}
