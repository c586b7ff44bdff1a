/* scan_test.c - bytes that would hurt protobuf-c never reach it. */
#include "proto/scan.h"
#include "base/alloc.h"
#include "tests/check.h"
#include "tf.pb-c.h"

static weft_err scan_bytes(const ProtobufCMessageDescriptor *d, const char *bytes, size_t size) {
  return weft__proto_scan(d, bytes, size);
}

#define SCAN(d, literal) scan_bytes(&tensorflow__##d##__descriptor, literal, sizeof(literal) - 1)

TEST(a_good_message_passes_and_unpacks) {
  static const char bytes[] = "\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02\x22\x02\x01\x02";
  ProtobufCMessage *m;
  EXPECT_OK(weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, bytes, sizeof bytes - 1));
  Tensorflow__TensorProto *t = (Tensorflow__TensorProto *)m;
  EXPECT_EQ_INT(t->dtype, 1);
  EXPECT_EQ_INT(t->tensor_shape->n_dim, 2);
  protobuf_c_message_free_unpacked(m, NULL);
  EXPECT_OK(weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, NULL, 0));
  protobuf_c_message_free_unpacked(m, NULL);
}

TEST(bad_bytes_are_refused_with_their_position) {
  EXPECT_ERR(SCAN(tensor_proto, "\x08"), WEFT_INVALID_ARGUMENT, "cut off at byte 1");
  EXPECT_ERR(SCAN(tensor_proto, "\x08\x01\x22\x05z"), WEFT_INVALID_ARGUMENT, "past its message at byte 3");
  EXPECT_ERR(SCAN(tensor_proto, "\x12\x04\x12\x05\x08\x01"), WEFT_INVALID_ARGUMENT, "past its message at byte 3");
  EXPECT_ERR(SCAN(tensor_proto, "\x0b"), WEFT_INVALID_ARGUMENT, "bad wire type");
  EXPECT_ERR(SCAN(tensor_proto, "\x00\x01"), WEFT_INVALID_ARGUMENT, "bad number");
  EXPECT_ERR(SCAN(tensor_proto, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WEFT_INVALID_ARGUMENT,
             "ten bytes");
  EXPECT_ERR(SCAN(tensor_proto, "\x2d\x01\x02"), WEFT_INVALID_ARGUMENT, "cut off");
  EXPECT_ERR(SCAN(tensor_proto, "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WEFT_INVALID_ARGUMENT, "past");
}

/* VariantTensorDataProto.tensors (3) and TensorProto.variant_val (15) contain one another. */
static size_t nest(uint8_t *out, size_t room, int depth) {
  size_t size = 0;
  for (int i = 0; i < depth; i++) {
    uint8_t head[8];
    size_t n = 0;
    head[n++] = i % 2 ? 0x1a : 0x7a;
    for (size_t left = size;; left >>= 7) {
      head[n++] = (uint8_t)(left < 128 ? left : (left & 127) | 128);
      if (left < 128) break;
    }
    size += n;
    memcpy(out + room - size, head, n);
  }
  return size;
}

TEST(nesting_is_allowed_to_100_and_no_deeper) {
  static uint8_t bytes[400000];
  static const struct {
    int depth;
    weft_err want;
  } rows[] = {{99, WEFT_OK}, {101, WEFT_INVALID_ARGUMENT}, {30001, WEFT_INVALID_ARGUMENT}};
  for (size_t i = 0; i < 3; i++) { /* an odd depth has TensorProto outermost */
    size_t size = nest(bytes, sizeof bytes, rows[i].depth);
    ProtobufCMessage *m;
    weft_err err = weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, bytes + sizeof bytes - size, size);
    EXPECT_EQ_INT(err, rows[i].want);
    if (m) protobuf_c_message_free_unpacked(m, NULL);
  }
}

TEST_WITHIN(60, a_list_of_empty_messages_may_not_multiply_memory) {
  size_t size = (size_t)8 << 20;
  uint8_t *bytes = weft__alloc(size);
  for (size_t i = 0; i < size; i += 2) memcpy(bytes + i, "\x7a", 2); /* empty variants */
  EXPECT_OK(weft__proto_scan(&tensorflow__tensor_proto__descriptor, bytes, 1000));
  for (size_t i = 0; i < size; i += 2) memcpy(bytes + i, "\x1a", 2); /* empty tensors of a variant */
  EXPECT_ERR(weft__proto_scan(&tensorflow__variant_tensor_data_proto__descriptor, bytes, size), WEFT_INVALID_ARGUMENT,
             "too much memory");
  weft__free(bytes);
}

TEST(a_failed_allocation_is_distinguished_from_bad_bytes) {
  static const char bytes[] = "\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02\x22\x02\x01\x02";
  for (long n = 1; n < 20; n++) {
    ProtobufCMessage *m;
    weft__alloc_fail_after(n);
    weft_err err = weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, bytes, sizeof bytes - 1);
    weft__alloc_fail_after(0);
    EXPECT(err == WEFT_OK || err == WEFT_RESOURCE_EXHAUSTED);
    if (n == 1) EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
    if (m) protobuf_c_message_free_unpacked(m, NULL);
  }
}
