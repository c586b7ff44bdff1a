/* text_read_fuzz.c - any bytes are a text of a GraphDef or an error with its line; what was read, printed and read
 * again is the same. */
#include "proto/scan.h"
#include "proto/text.h"
#include "tf.pb-c.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool no_name(const char *name, int32_t *number) {
  *number = (int32_t)strlen(name);
  return name[0] == 'D';
}

static const ProtobufCMessageDescriptor *const kind = &tensorflow__graph_def__descriptor;

/* The message of some bytes, printed. */
static bool print(text *out, const text *bytes) {
  ProtobufCMessage *m;
  if (weft__proto_unpack(&m, kind, weft__text_get(bytes), bytes->size) != WEFT_OK)
    return false; /* text that is not UTF-8, say */
  weft__proto_text(out, m, false);
  protobuf_c_message_free_unpacked(m, NULL);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  text bytes = {0}, printed = {0}, again = {0}, twice = {0};
  if (weft__proto_from_text(&bytes, kind, (const char *)data, size, no_name) != WEFT_OK) {
    if (strncmp(weft__error_message(), "line ", 5) != 0) abort();
  } else if (print(&printed, &bytes)) {
    if (weft__proto_from_text(&again, kind, weft__text_get(&printed), printed.size, NULL) != WEFT_OK) abort();
    if (!print(&twice, &again) || strcmp(weft__text_get(&printed), weft__text_get(&twice)) != 0) abort();
  }
  weft__text_finish(&bytes), weft__text_finish(&printed), weft__text_finish(&again), weft__text_finish(&twice);
  return 0;
}
