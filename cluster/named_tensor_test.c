/* named_tensor_test.c - tests the readers and the writer of NamedTensorProto. */
#include "cluster/named_tensor.h"

#include "net/message_reader.h"
#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include "tests/check.h"

static void add_tensor(message *m, const char *name, weft_tensor *t) {
  EXPECT_OK(weft__message_add_named_tensor(m, 2, name, t));
  weft_tensor_destroy(t);
}

TEST(named_tensors_and_the_other_fields_are_read_separately) {
  message m = {0}, rest = {0};
  named_tensor_list l;
  weft_tensor *t;
  EXPECT_OK(weft__message_add_string(&m, 1, "session", 7));
  EXPECT_OK(weft__tensor_ints(&t, WEFT_INT64, (int64_t[]){4, 5, 6}, 3));
  add_tensor(&m, "numbers:0", t);
  EXPECT_OK(weft__message_add_varint(&m, 8, 77));
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_BOOL, 1)); /* not in the usual form: protobuf-c reads it */
  add_tensor(&m, "yes:0", t);
  EXPECT_OK(weft__named_tensors_read(&l, &m, 2));
  EXPECT_EQ_INT(l.n, 2);
  EXPECT_EQ_STR(l.item[0].name, "numbers:0");
  EXPECT_EQ_INT(weft__tensor_int(l.item[0].tensor, 2), 6);
  EXPECT_EQ_STR(l.item[1].name, "yes:0");
  EXPECT_EQ_INT(*(bool *)l.item[1].tensor->data, 1);
  weft__named_tensors_finish(&l);
  EXPECT_OK(weft__message_copy_without(&rest, &m, 2));
  ProtobufCMessage *read;
  EXPECT_OK(weft__message_unpack(&read, &rest, &tensorflow__run_step_request__descriptor));
  const Tensorflow__RunStepRequest *r = (Tensorflow__RunStepRequest *)read;
  EXPECT_EQ_STR(r->session_handle, "session");
  EXPECT_EQ_INT(r->request_id, 77);
  EXPECT_EQ_INT(r->n_feed, 0);
  protobuf_c_message_free_unpacked(read, NULL);
  weft__message_finish(&rest);
  weft__message_finish(&m);
}

TEST(a_truncated_message_is_rejected_by_both_readers) {
  message whole = {0};
  named_tensor_list l;
  weft_tensor *t;
  EXPECT_OK(weft__tensor_ints(&t, WEFT_INT64, (int64_t[]){4, 5, 6}, 3));
  add_tensor(&whole, "numbers:0", t);
  const uint8_t *bytes = weft__message_flatten(&whole);
  for (size_t size = 1; size < whole.size; size++) {
    message m = {0}, rest = {0};
    EXPECT_OK(weft__message_add(&m, (piece){bytes, size, NULL, NULL}));
    EXPECT_ERR(weft__named_tensors_read(&l, &m, 2), WEFT_INVALID_ARGUMENT, "malformed");
    EXPECT_ERR(weft__message_copy_without(&rest, &m, 2), WEFT_INVALID_ARGUMENT, "malformed");
    weft__message_finish(&rest);
    weft__message_finish(&m);
  }
  weft__message_finish(&whole);
}

TEST(named_tensors_of_all_sizes_are_read_back) {
  enum { BIG = 100000 };
  static int64_t numbers[BIG];
  int sizes[] = {0, 1, 3, BIG};
  const char *names[] = {"a:0", "", "scope/b:1", "c:0"};
  message m = {0};
  for (int i = 0; i < BIG; i++) numbers[i] = i;
  for (int i = 0; i < 4; i++) {
    weft_tensor *t;
    EXPECT_OK(weft__tensor_ints(&t, WEFT_INT64, numbers, sizes[i]));
    EXPECT_OK(weft__message_add_named_tensor(&m, 2, names[i], t));
    weft_tensor_destroy(t);
  }
  ProtobufCMessage *read;
  EXPECT_OK(weft__message_unpack(&read, &m, &tensorflow__run_step_request__descriptor));
  const Tensorflow__RunStepRequest *r = (Tensorflow__RunStepRequest *)read;
  EXPECT_EQ_INT(r->n_feed, 4);
  for (int i = 0; i < 4; i++) {
    weft_tensor *t;
    EXPECT_EQ_STR(r->feed[i]->name, names[i]);
    EXPECT_OK(weft__tensor_from_proto(&t, r->feed[i]->tensor));
    EXPECT_EQ_INT(t->shape.dim[0], sizes[i]);
    EXPECT_EQ_INT(sizes[i] ? weft__tensor_int(t, sizes[i] - 1) : -1, sizes[i] - 1);
    weft_tensor_destroy(t);
  }
  protobuf_c_message_free_unpacked(read, NULL);
  weft__message_finish(&m);
}
