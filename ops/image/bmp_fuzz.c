/* bmp_fuzz.c - decodes the bytes as a BMP file and expects pixels or an error.  The first byte chooses the number of
 * channels. */
#include "tests/fuzz_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_op_decode("DecodeBmp", data, size);
  return 0;
}
