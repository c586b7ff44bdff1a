/* png_decode_fuzz.c - bytes read as a PNG file: pixels or an error.  The first byte chooses the number of channels. */
#include "tests/fuzz_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const weft_node *node[5]; /* by number of channels; 0: as the file has them */
  if (size == 0) return 0;
  const int channels = data[0] % 5;
  if (!node[channels])
    node[channels] =
        fuzz_op_node("DecodePng", 1, (weft_dtype[]){WEFT_STRING}, 1, (attr[]){A_INT("channels", channels)});
  fuzz_op_run_bytes(node[channels], data + 1, size - 1);
  return 0;
}
