#include "dist/named.h"

#include "rpc.pb-c.h"
#include "tensor/tensor_proto.h"
#include "tests/check.h"

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
    EXPECT_OK(weft__message_add_named(&m, 2, names[i], t));
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
