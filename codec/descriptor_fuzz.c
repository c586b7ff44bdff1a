/* descriptor_fuzz.c - looks for messages in the bytes, taken as a FileDescriptorSet. */
#include "base/alloc.h"
#include "codec/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"pets.Cat", "pets.Cat.Toy", "Plain", ""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    proto_message m = {0};
    (void)weft__descriptor_find((bytes){data, data + size}, names[i], &m);
    weft__descriptor_finish(&m);
  }
  return 0;
}
