/* received_buffer_fuzz.c - bytes read as a RecvBufResponse, in pieces: what protobuf-c reads as a whole buffer of the
 * size that was asked for is read with the same content. */
#include "net/message.h"
#include "rpc.pb-c.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the number of bytes of the content, or -1 if protobuf-c refuses the message or finds none. */
static int64_t content_of(const uint8_t *data, size_t size, uint8_t *content, bool *dead) {
  ProtobufCMessage *proto = NULL, *extra = NULL;
  int64_t n = -1;
  if (weft__proto_unpack(&proto, &tensorflow__recv_buf_response__descriptor, data, size)) return -1;
  const Tensorflow__RecvBufResponse *p = (const Tensorflow__RecvBufResponse *)proto;
  *dead = p->is_dead;
  if (p->transport_options &&
      weft__proto_unpack(&extra, &tensorflow__recv_buf_resp_extra__descriptor, p->transport_options->value.data,
                         p->transport_options->value.len) == WEFT_OK) {
    const Tensorflow__RecvBufRespExtra *e = (const Tensorflow__RecvBufRespExtra *)extra;
    n = 0;
    for (size_t i = 0; i < e->n_tensor_content; i++) {
      if (e->tensor_content[i].len) memcpy(content + n, e->tensor_content[i].data, e->tensor_content[i].len);
      n += (int64_t)e->tensor_content[i].len;
    }
    protobuf_c_message_free_unpacked(extra, NULL);
  }
  protobuf_c_message_free_unpacked(proto, NULL);
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *content = malloc(size + 1);
  bool expect_dead = false, dead;
  if (!content) return 0;
  const int64_t n = content_of(data, size, content, &expect_dead);
  message m = {0};
  weft_tensor *t = NULL;
  const size_t step = size ? 1 + data[size - 1] % 9 : 1;
  for (size_t at = 0; at < size; at += step)
    (void)weft__message_add(&m, (piece){data + at, size - at < step ? size - at : step, NULL, NULL});
  const weft_err err = weft__received_buffer_read(&t, &dead, &m, n < 0 ? 8 : n);
  if (!err && !dead && weft__tensor_count(t) != (n < 0 ? 8 : n)) abort();
  if (!err && !dead && n > 0 && weft__tensor_count(t) == n && memcmp(t->data, content, (size_t)n) != 0) abort();
  weft_tensor_destroy(t);
  weft__message_finish(&m);
  free(content);
  return 0;
}
