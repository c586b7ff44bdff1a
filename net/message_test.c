/* message_test.c - pieces, fields, and RecvTensorResponse against protobuf-c. */
#include "net/message.h"
#include "base/alloc.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include "tests/check.h"

static int released;
static void count_release(void *arg) {
  (void)arg;
  released++;
}

/* The same bytes in pieces of `size`. */
static message chop(const uint8_t *data, size_t total, size_t size) {
  message m = {0};
  for (size_t at = 0; at < total; at += size)
    EXPECT_OK(weft__message_add(&m, (piece){data + at, total - at < size ? total - at : size, count_release, NULL}));
  return m;
}

static weft_tensor *counting(weft_dtype dtype, shape s) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, dtype, &s));
  uint8_t *data = t->data;
  for (size_t i = 0; i < weft__tensor_bytes(t); i++) data[i] = (uint8_t)(i * 7 + 1);
  return t;
}

static weft_tensor *two_strings(void) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(2)));
  EXPECT_OK(weft__str_set(TENSOR_DATA(t, str), "a", 1));
  EXPECT_OK(weft__str_set(TENSOR_DATA(t, str) + 1, "bc", 2));
  return t;
}

TEST(small_fields_share_a_piece_and_a_buffer_is_only_referred_to) {
  message m = {0};
  weft_tensor *t = counting(WEFT_FLOAT, SHAPE1(1000));
  EXPECT_OK(weft__message_add_varint(&m, 2, 5));
  EXPECT_OK(weft__message_add_varint(&m, 3, 0));
  EXPECT_OK(weft__message_add_string(&m, 4, "abc", 3));
  EXPECT_EQ_INT(m.n_piece, 1);
  EXPECT_EQ_INT(m.size, 2 + 5);
  EXPECT_OK(weft__message_add_tensor(&m, 1, t));
  EXPECT_EQ_INT(m.n_piece, 2);
  EXPECT(weft__message_piece(&m, 1)->data == (const uint8_t *)t->data);
  EXPECT(!weft__buffer_is_unique(t->buf));
  weft__message_finish(&m);
  EXPECT(weft__buffer_is_unique(t->buf));
  weft_tensor_destroy(t);
}

TEST(many_pieces_grow_move_and_are_released_once) {
  uint8_t data[100] = {1, 2, 3};
  released = 0;
  message m = chop(data, sizeof data, 1), moved = {0};
  EXPECT_EQ_INT(m.n_piece, 100);
  weft__message_move(&moved, &m);
  EXPECT(m.size == 0 && m.n_piece == 0);
  EXPECT_EQ_MEM(weft__message_flatten(&moved), data, sizeof data);
  EXPECT_EQ_INT(released, 100);
  EXPECT_EQ_INT(moved.size, 100);
  weft__message_finish(&moved);
  EXPECT_EQ_INT(released, 100);
}

TEST(a_brief_message_that_is_kept_becomes_its_own) {
  uint8_t data[] = {1, 2, 3, 4, 5, 6};
  released = 0;
  message m = chop(data, 3, 3);
  m.borrows = true;
  EXPECT_OK(weft__message_add(&m, (piece){data + 3, 3, NULL, NULL}));
  EXPECT_OK(weft__message_own(&m));
  EXPECT(weft__message_piece(&m, 0)->data == data);
  memset(data + 3, 0, 3);
  EXPECT_EQ_MEM(weft__message_flatten(&m), ((uint8_t[]){1, 2, 3, 4, 5, 6}), 6);
  weft__message_finish(&m);
  EXPECT_EQ_INT(released, 1);
}

TEST(a_piece_that_cannot_be_added_is_released) {
  uint8_t data[4] = {0};
  released = 0;
  message m = chop(data, 4, 1);
  weft__alloc_fail_after(1);
  weft_err err = weft__message_add(&m, (piece){data, 4, count_release, NULL});
  weft__alloc_fail_after(0);
  EXPECT(err == WEFT_RESOURCE_EXHAUSTED);
  EXPECT_EQ_INT(released, 1);
  weft__message_finish(&m);
  EXPECT_EQ_INT(released, 5);
}

TEST(a_tensor_is_written_as_tf_writes_it) {
  static const uint8_t numbers[] = {0x08, 0x01, 0x12, 0x04, 0x12, 0x02, 0x08, 0x02, 0x22,
                                    0x08, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0x40};
  static const uint8_t strings[] = {0x08, 0x07, 0x12, 0x04, 0x12, 0x02, 0x08, 0x02,
                                    0x22, 0x05, 0x01, 0x02, 0x61, 0x62, 0x63};
  weft_tensor *t, *s = two_strings();
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(2)));
  TENSOR_DATA(t, float)[0] = 1, TENSOR_DATA(t, float)[1] = 2;
  message m = {0}, n = {0};
  EXPECT_OK(weft__message_add_tensor(&m, 0, t));
  EXPECT_OK(weft__message_add_tensor(&n, 0, s));
  EXPECT_EQ_INT(m.size, sizeof numbers);
  EXPECT_EQ_MEM(weft__message_flatten(&m), numbers, sizeof numbers);
  EXPECT_EQ_INT(n.size, sizeof strings);
  EXPECT_EQ_MEM(weft__message_flatten(&n), strings, sizeof strings);
  weft__message_finish(&m), weft__message_finish(&n);
  weft_tensor_destroy(t), weft_tensor_destroy(s);
}

/* Written, cut into pieces of every size, read; and read by protobuf-c. */
static void round_trip(const weft_tensor *t) {
  message out = {0};
  EXPECT_OK(weft__received_tensor_write(&out, t, false));
  const uint8_t *flat = weft__message_flatten(&out);
  for (size_t size = 1; size <= out.size; size = size < 40 ? size + 1 : 3 * size) {
    message in = chop(flat, out.size, size);
    received_tensor r;
    EXPECT_OK(weft__received_tensor_read(&r, &in));
    EXPECT(!r.dead && r.tensor->dtype == t->dtype && weft__shape_equal(&r.tensor->shape, &t->shape));
    if (t->dtype != WEFT_STRING) EXPECT_EQ_MEM(r.tensor->data, t->data, weft__tensor_bytes(t));
    weft_tensor_destroy(r.tensor);
    weft__message_finish(&in);
  }
  ProtobufCMessage *proto;
  weft_tensor *slow;
  EXPECT_OK(weft__message_unpack(&proto, &out, &tensorflow__recv_tensor_response__descriptor));
  EXPECT_OK(weft__tensor_from_proto(&slow, ((Tensorflow__RecvTensorResponse *)proto)->tensor));
  EXPECT(weft__shape_equal(&slow->shape, &t->shape));
  weft_tensor_destroy(slow);
  protobuf_c_message_free_unpacked(proto, NULL);
  weft__message_finish(&out);
}

TEST(a_received_tensor_survives_any_cut_into_pieces) {
  weft_tensor *all[] = {
      counting(WEFT_FLOAT, ((shape){.rank = 3, .dim = {3, 50, 2}})), counting(WEFT_INT64, SHAPE_SCALAR),
      counting(WEFT_DOUBLE, ((shape){.rank = 2, .dim = {0, 7}})),    counting(WEFT_UINT8, SHAPE1(700)),
      counting(WEFT_HALF, ((shape){.rank = 2, .dim = {300, 1}})),    two_strings()};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    round_trip(all[i]);
    weft_tensor_destroy(all[i]);
  }
}

TEST(a_dead_value_has_no_tensor) {
  message m = {0};
  received_tensor r;
  EXPECT_OK(weft__received_tensor_write(&m, NULL, true));
  EXPECT_OK(weft__received_tensor_read(&r, &m));
  EXPECT(r.dead && !r.tensor && !r.require_ack);
  weft__message_finish(&m);
}

static weft_err read_bytes(received_tensor *r, const char *bytes, size_t size) {
  message m = chop((const uint8_t *)bytes, size, 3);
  weft_err err = weft__received_tensor_read(r, &m);
  weft__message_finish(&m);
  return err;
}

TEST(other_encodings_go_through_protobuf) {
  received_tensor r;
  EXPECT_OK(read_bytes(&r, "\x0a\x08\x08\x03\x12\x00\x3a\x02\x07\x08\x10\x00", 12)); /* int_val, then is_dead false */
  EXPECT(r.tensor->dtype == WEFT_INT32 && TENSOR_DATA(r.tensor, int32_t)[0] == 7);
  weft_tensor_destroy(r.tensor);
  EXPECT_OK(read_bytes(&r, "\x28\x01\x0a\x08\x22\x04\x01\x00\x00\x00\x08\x03", 12)); /* content before the type */
  EXPECT(r.require_ack && TENSOR_DATA(r.tensor, int32_t)[0] == 1);
  weft_tensor_destroy(r.tensor);
}

TEST(what_is_no_response_is_refused) {
  received_tensor r;
  EXPECT_ERR(read_bytes(&r, "", 0), WEFT_INVALID_ARGUMENT, "no tensor");
  EXPECT_ERR(read_bytes(&r, "\x0a\x7f\x08", 3), WEFT_INVALID_ARGUMENT, "RecvTensorResponse");
  EXPECT_ERR(read_bytes(&r, "\x0a\x09\x08\x03\x12\x00\x22\x03\x01\x00\x00", 11), WEFT_INVALID_ARGUMENT, "3 bytes");
  EXPECT_ERR(read_bytes(&r, "\x0a\x02\x08\x63", 4), WEFT_INVALID_ARGUMENT, "unknown type 99");
}

TEST(an_aligned_piece_becomes_the_tensor_itself) {
  weft_tensor *t = counting(WEFT_FLOAT, SHAPE1(1000));
  message m = {0};
  received_tensor r;
  EXPECT_OK(weft__received_tensor_write(&m, t, false));
  EXPECT_OK(weft__received_tensor_read(&r, &m));
  EXPECT(r.tensor->data == t->data);
  weft__message_finish(&m);
  weft_tensor_destroy(t);
  EXPECT_EQ_INT(TENSOR_DATA(r.tensor, uint8_t)[3], 22);
  weft_tensor_destroy(r.tensor);
}

TEST(every_failed_allocation_comes_back) {
  weft_tensor *t = counting(WEFT_FLOAT, SHAPE1(600));
  for (long n = 1;; n++) {
    message m = {0};
    received_tensor r = {0};
    weft__alloc_fail_after(n);
    weft_err err = weft__received_tensor_write(&m, t, false);
    if (err == WEFT_OK) err = weft__received_tensor_read(&r, &m);
    weft__alloc_fail_after(0);
    weft_tensor_destroy(r.tensor);
    weft__message_finish(&m);
    if (err == WEFT_OK) break;
    EXPECT(err == WEFT_RESOURCE_EXHAUSTED);
    EXPECT(n < 50);
  }
  EXPECT(weft__buffer_is_unique(t->buf));
  weft_tensor_destroy(t);
}

TEST(a_message_inside_another_is_cut_out_again) {
  for (size_t chop_size = 1; chop_size < 40; chop_size += 6) {
    weft_tensor *t = counting(WEFT_FLOAT, SHAPE1(1000));
    message inner = {0}, outer = {0}, flat = {0}, out = {0};
    EXPECT_OK(weft__message_add_tensor(&inner, 1, t));
    size_t size = inner.size;
    EXPECT_OK(weft__message_add_message(&outer, 3, &inner));
    EXPECT_EQ_INT(inner.size, 0);
    EXPECT_EQ_INT(outer.size, size + 3);
    EXPECT(!weft__buffer_is_unique(t->buf)); /* referred to, not copied */
    EXPECT_OK(weft__message_add_copy(&flat, weft__message_flatten(&outer), outer.size));
    message m = chop(weft__message_flatten(&flat), flat.size, chop_size);
    EXPECT_OK(weft__message_move_bytes(&out, &m, 3));
    weft__message_finish(&out);
    EXPECT_OK(weft__message_move_bytes(&out, &m, size));
    EXPECT_EQ_INT(m.size, 0);
    EXPECT_EQ_INT(out.size, size);
    EXPECT_EQ_MEM(weft__message_flatten(&out), weft__message_flatten(&flat) + 3, size);
    weft__message_finish(&out);
    weft__message_finish(&m);
    weft__message_finish(&flat);
    weft__message_finish(&outer);
    EXPECT(weft__buffer_is_unique(t->buf));
    weft_tensor_destroy(t);
  }
}
