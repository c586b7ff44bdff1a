/* proto_test.c - messages that are too large for the types of DecodeProtoV2's outputs.  The other cases are in
 * tests/parity. */
#include "graph/build.h"
#include "graph/fold.h"
#include "ops/all.h"
#include "proto/put.h"
#include "tests/check.h"
#include <sys/mman.h>

/* The bytes of the message are address space, of which only the first page has memory. */
static void decode_floats(size_t count, weft_err code, const char *words) {
  const size_t size = count * sizeof(float), room = size + 4096;
  op_table *ops;
  weft_graph *g;
  EXPECT_OK(weft__op_table_create(&ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&g, ops));
  char *data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(data != MAP_FAILED);
  text head = {0};
  weft__put_varint(&head, 1 << 3 | 2); /* field 1, of bytes: packed numbers */
  weft__put_varint(&head, size);
  memcpy(data, weft__text_get(&head), head.size);
  weft_dtype type = WEFT_FLOAT;
  attr_str names[] = {{"value", 5}};
  shape one = SHAPE1(1);
  weft_out x =
      weft__b_node(g, "Placeholder", NULL, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_STRING), A_SHAPE("shape", &one)});
  attr attrs[] = {A_STR("message_type", "tensorflow.FloatList"), A_STRS("field_names", names, 1),
                  A_TYPES("output_types", &type, 1)};
  const weft_out out = weft__b_node(g, "DecodeProtoV2", NULL, 1, &x, 3, attrs);
  EXPECT_OK(weft__b_ok(g));
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_STRING, &SHAPE1(1)));
  *TENSOR_DATA(t, str) = (str){data, head.size + size};
  value made[2] = {{.dead = false}};
  EXPECT_ERR(weft__node_fold(g->node[out.node], (const weft_tensor *const[]){t}, made, 1 << 20), code, words);
  for (int i = 0; i < 2; i++) weft__tensor_clear(&made[i].t);
  *TENSOR_DATA(t, str) = (str){0};
  weft_tensor_destroy(t);
  weft__text_finish(&head);
  munmap(data, room);
  weft__graph_destroy(g);
  weft__op_table_destroy(ops);
}

TEST(more_values_than_an_int32_counts_are_refused) {
  decode_floats((size_t)INT32_MAX + 1, WEFT_INVALID_ARGUMENT,
                "field value of message 0 has more than 2147483647 values");
  decode_floats(UINT32_MAX, WEFT_INVALID_ARGUMENT, "has more than 2147483647 values");
}

TEST(as_many_values_as_an_int32_counts_are_not) {
  decode_floats(INT32_MAX, WEFT_RESOURCE_EXHAUSTED, "more than the 1048576 bytes of a folded value");
}
