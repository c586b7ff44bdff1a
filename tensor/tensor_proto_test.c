/* tensor_proto_test.c - TensorProtos as TensorFlow writes them, as it accepts them, and hostile ones. */
#include "tensor/tensor_proto.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "proto/scan.h"
#include "tests/check.h"
#include <stdio.h>

static size_t unhex(uint8_t *out, const char *hex) {
  size_t n = strlen(hex) / 2;
  for (size_t i = 0; i < n; i++) {
    unsigned byte;
    EXPECT_EQ_INT(sscanf(hex + 2 * i, "%2x", &byte), 1);
    out[i] = (uint8_t)byte;
  }
  return n;
}

static weft_err read_bytes(weft_tensor **out, const void *bytes, size_t size) {
  ProtobufCMessage *m;
  *out = NULL;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__tensor_proto__descriptor, bytes, size));
  weft_err err = weft__tensor_from_proto(out, (Tensorflow__TensorProto *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err read_hex(weft_tensor **out, const char *hex) {
  uint8_t bytes[512];
  EXPECT(strlen(hex) / 2 <= sizeof bytes);
  return read_bytes(out, bytes, unhex(bytes, hex));
}

static void expect_tensor(const weft_tensor *t, const char *dtype, const char *dims, const char *want) {
  text out = {0};
  EXPECT_EQ_STR(weft__dtype_name(t->dtype), dtype);
  EXPECT_EQ_STR(weft__shape_text(&t->shape), dims);
  weft__tensor_print(&out, t, -1);
  EXPECT_EQ_STR(weft__text_get(&out), want);
  weft__text_finish(&out);
}

/* Writes t, packs it, reads it back: the same tensor. */
static void expect_round_trip(const weft_tensor *t) {
  arena a = {0};
  Tensorflow__TensorProto proto;
  EXPECT_OK(weft__tensor_to_proto(&proto, t, &a));
  size_t size = protobuf_c_message_get_packed_size(&proto.base);
  uint8_t *bytes = weft__alloc(size);
  protobuf_c_message_pack(&proto.base, bytes);
  weft_tensor *again;
  EXPECT_OK(read_bytes(&again, bytes, size));
  EXPECT(weft__shape_equal(&t->shape, &again->shape) && t->dtype == again->dtype);
  if (weft__dtype_is_plain(t->dtype)) EXPECT_EQ_MEM(t->data, again->data, weft__tensor_bytes(t));
  weft_tensor_destroy(again);
  weft__free(bytes);
  weft__arena_finish(&a);
}

/* make_tensor_proto(...).SerializeToString() of TensorFlow 2.15.1, or bytes it was seen to accept. */
static const struct {
  const char *dtype, *dims, *value, *hex;
} rows[] = {
    {"float32", "[2,2]", "[[1.5 2][3 4]]", "08011208120208021202080222100000c03f000000400000404000008040"},
    {"float32", "[]", "[2.5]", "080112002a0400002040"},
    {"int32", "[3]", "[1 -2 3]", "0803120412020803220c01000000feffffff03000000"},
    {"int32", "[]", "[7]", "080312003a0107"},
    {"int64", "[3]", "[1 -2 3]", "080912041202080322180100000000000000feffffffffffffff0300000000000000"},
    {"string", "[2,2]", "[[a ][xyz \\000b]]", "0807120812020802120208024201614200420378797a42020062"},
    {"string", "[]", "[hello]", "08071200420568656c6c6f"},
    {"bool", "[3]", "[1 0 1]", "080a1204120208035a03010001"},
    {"bool", "[]", "[1]", "080a12005a0101"},
    {"float16", "[3]", "[1 0.5 65504]", "08131204120208032206003c0038ff7b"},
    {"bfloat16", "[3]", "[1 0.5 3]", "080e1204120208032206803f003f4040"},
    {"complex64", "[2]", "[? ?]", "08081204120208024a100000803f0000004000004040000080c0"},
    {"complex128", "[]", "[?]", "081212006210000000000000f03f0000000000000040"},
    {"int8", "[2]", "[-1 2]", "08061204120208022202ff02"},
    {"uint8", "[2]", "[255 2]", "08041204120208022202ff02"},
    {"uint16", "[2]", "[65535 2]", "08111204120208023a04ffff0302"},
    {"uint32", "[2]", "[4294967295 2]", "08161204120208022208ffffffff02000000"},
    {"uint64", "[2]", "[18446744073709551615 2]", "08171204120208022210ffffffffffffffff0200000000000000"},
    {"float64", "[2]", "[1.1 2.2]", "080212041202080222109a9999999999f13f9a99999999990140"},
    {"int16", "[2]", "[-1 2]", "08051204120208022204ffff0200"},
    {"float32", "[0,3]", "[]", "08011206120012020803"},
    /* a short list repeats its last value; none at all is zero; too many are ignored */
    {"int32", "[4]", "[5 6 6 6]", "08031204120208043a020506"},
    {"int64", "[2]", "[0 0]", "0809120412020802"},
    {"string", "[3]", "[a b b]", "0807120412020803420161420162"},
    {"string", "[2]", "[ ]", "0807120412020802"},
    {"int32", "[2]", "[1 2]", "08031204120208023a0401020304"},
    {"float16", "[2]", "[1 1]", "08131204120208026a028078"},
    /* no shape is a scalar; strings in tensor_content are lengths, then bytes */
    {"int32", "[]", "[9]", "08033a0109"},
    {"string", "[3]", "[ab  c]",
     "0807120412020803220602000161"
     "6263"},
};

TEST(every_encoding_is_read_and_survives_a_round_trip) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    weft_tensor *t;
    EXPECT_OK(read_hex(&t, rows[i].hex));
    expect_tensor(t, rows[i].dtype, rows[i].dims, rows[i].value);
    expect_round_trip(t);
    weft_tensor_destroy(t);
  }
}

TEST(complex_numbers_keep_both_parts) {
  weft_tensor *t;
  EXPECT_OK(read_hex(&t, "08081204120208024a100000803f0000004000004040000080c0"));
  EXPECT_EQ_MEM(t->data, ((float[]){1, 2, 3, -4}), 16);
  weft_tensor_destroy(t);
}

TEST(a_proto_that_contradicts_itself_is_refused) {
  static const struct {
    const char *hex;
    weft_err code;
    const char *part;
  } bad[] = {
      {"0803120412020803220401000000", WEFT_INVALID_ARGUMENT, "has 4 bytes, want 12"},
      {"08071204120208032203020001", WEFT_INVALID_ARGUMENT, "add up to 3"},
      {"080712041202080322028001", WEFT_INVALID_ARGUMENT, "2 bytes of tensor_content cannot hold the 3 strings"},
      /* bytes that would be pointers: a resource and a variant */
      {"0814120022080100000000000000", WEFT_INVALID_ARGUMENT, "tensor_content of a resource tensor"},
      {"0815120022080100000000000000", WEFT_INVALID_ARGUMENT, "tensor_content of a variant tensor"},
      {"0807120412020802220480808080", WEFT_INVALID_ARGUMENT, "end after 0 of 2"},
      {"0803120d120b08ffffffffffffffffff01", WEFT_INVALID_ARGUMENT, "fully known"},
      {"0803120d120b08feffffffffffffffff01", WEFT_INVALID_ARGUMENT, "-2"},
      {"080312021801", WEFT_INVALID_ARGUMENT, "fully known"},
      {"08631200", WEFT_INVALID_ARGUMENT, "unknown type 99"},
      {"08651200", WEFT_INVALID_ARGUMENT, "unknown type 101"},
      {"1200", WEFT_INVALID_ARGUMENT, "unknown type 0"},
      {"08141200", WEFT_UNIMPLEMENTED, "resource"},
      /* sizes nobody can have: 2^62 floats, 2^50 x 2^50 */
      {"0801120c120a088080808080808080403a0101", WEFT_RESOURCE_EXHAUSTED, "does not fit"},
      {"080112161209088080808080808002"
       "1209088080808080808002",
       WEFT_INVALID_ARGUMENT, "too large"},
      {"080112441202080112020801120208011202080112020801120208011202080112020801120208011202080112020801120208011202"
       "08011202080112020801120208011202"
       "0801",
       WEFT_UNIMPLEMENTED, "rank 17"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    weft_tensor *t;
    EXPECT_ERR(read_hex(&t, bad[i].hex), bad[i].code, bad[i].part);
    EXPECT(t == NULL);
  }
}

TEST(shapes_go_to_proto_and_back) {
  static const shape shapes[] = {{.rank = -1}, {.rank = 0}, {3, {2, -1, 0}}};
  for (size_t i = 0; i < 3; i++) {
    arena a = {0};
    Tensorflow__TensorShapeProto proto;
    shape again;
    EXPECT_OK(weft__shape_to_proto(&proto, &shapes[i], &a));
    EXPECT_OK(weft__shape_from_proto(&again, &proto));
    EXPECT(weft__shape_equal(&again, &shapes[i]));
    weft__arena_finish(&a);
  }
}

TEST(every_failed_allocation_of_reading_and_writing_is_an_error) {
  const char *strings = "0807120812020802120208024201614200420378797a42020062";
  for (long n = 1;; n++) {
    weft_tensor *t;
    arena a = {0};
    Tensorflow__TensorProto proto;
    weft__alloc_fail_after(n);
    weft_err err = read_hex(&t, strings);
    if (err == WEFT_OK) err = weft__tensor_to_proto(&proto, t, &a);
    weft__alloc_fail_after(0);
    weft_tensor_destroy(t);
    weft__arena_finish(&a);
    if (err == WEFT_OK) break;
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
    EXPECT(n < 100);
  }
}
