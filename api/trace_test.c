/* trace_test.c - tests step stats as tables and as JSON, through the public header. */
#include "tests/check.h"
#include "tf.pb-c.h"
#include "weft/train.h"

/* Packs a RunMetadata of one device into a tensor of bytes. */
static weft_tensor *pack(size_t *size, Tensorflow__NodeExecStats *node, size_t n) {
  Tensorflow__RunMetadata meta = TENSORFLOW__RUN_METADATA__INIT;
  Tensorflow__StepStats stats = TENSORFLOW__STEP_STATS__INIT;
  Tensorflow__DeviceStepStats dev = TENSORFLOW__DEVICE_STEP_STATS__INIT, *devs[] = {&dev};
  Tensorflow__NodeExecStats *nodes[8];
  for (size_t i = 0; i < n; i++) nodes[i] = &node[i];
  dev.device = "/device:CPU:0";
  dev.n_node_stats = n, dev.node_stats = nodes;
  stats.n_dev_stats = 1, stats.dev_stats = devs;
  meta.step_stats = &stats;
  *size = tensorflow__run_metadata__get_packed_size(&meta);
  weft_tensor *t;
  EXPECT_OK(weft_tensor_create(&t, WEFT_UINT8, WEFT_DIMS((int64_t)*size + 1), NULL));
  tensorflow__run_metadata__pack(&meta, weft_tensor_data(t));
  return t;
}

static Tensorflow__NodeExecStats ran(char *name, char *label, int64_t begin_ns, int64_t ns) {
  Tensorflow__NodeExecStats s = TENSORFLOW__NODE_EXEC_STATS__INIT;
  s.node_name = name, s.timeline_label = label;
  s.all_start_nanos = begin_ns, s.all_end_rel_nanos = ns;
  return s;
}

static char *table(Tensorflow__NodeExecStats *node, size_t n, int max_nodes) {
  size_t size;
  weft_tensor *meta = pack(&size, node, n);
  char *out;
  EXPECT_OK(weft_trace_table(&out, weft_tensor_data(meta), size, max_nodes));
  weft_tensor_destroy(meta);
  return out;
}

TEST(times_are_summed_by_op_and_by_node) {
  Tensorflow__NodeExecStats node[] = {ran("a", "a = MatMul(x, w)", 1000, 6000), ran("b", "b = Relu(a)", 8000, 1000),
                                      ran("c", "c = MatMul(b, v)", 9000, 2000), ran("b", "b = Relu(a)", 11000, 1000)};
  char *out = table(node, 4, 0);
  EXPECT_CONTAINS(out, "/device:CPU:0: 4 nodes in 11.0 us, 10.0 us of work\n");
  EXPECT_CONTAINS(out, "  MatMul                         2          8.0   80.0%              0\n"
                       "  Relu                           2          2.0   20.0%              0\n");
  EXPECT_CONTAINS(out, "  a                              1          6.0   60.0%              0\n"
                       "  b                              2          2.0   20.0%              0\n"
                       "  c                              1          2.0   20.0%              0\n");
  weft_free(out);
  out = table(node, 4, 1);
  EXPECT_CONTAINS(out, "(2 more)");
  EXPECT(strstr(out, "  c  ") == NULL);
  weft_free(out);
}

TEST(the_table_as_json_has_the_same_sums) {
  Tensorflow__NodeExecStats node[] = {ran("a", "a = MatMul(x, w)", 1000, 6000), ran("b", "b = Relu(a)", 8000, 1000)};
  size_t size;
  weft_tensor *meta = pack(&size, node, 2);
  char *out;
  EXPECT_OK(weft_trace_table_json(&out, weft_tensor_data(meta), size, 1));
  EXPECT_CONTAINS(out, "{\"devices\": [{\"device\": ");
  EXPECT_CONTAINS(out, "\"executed\": 2, \"span_us\": 8.000, \"work_us\": 7.000, "
                       "\"ops\": [{\"op\": \"MatMul\", \"count\": 1, \"us\": 6.000, \"bytes\": 0}, "
                       "{\"op\": \"Relu\", \"count\": 1, \"us\": 1.000, \"bytes\": 0}], "
                       "\"nodes\": [{\"node\": \"a\", \"count\": 1, \"us\": 6.000, \"bytes\": 0}]}]}\n");
  weft_free(out);
  weft_tensor_destroy(meta);
}

TEST(writers_without_nanoseconds_are_read_by_their_microseconds) {
  Tensorflow__NodeExecStats old = ran("a", "no label of an op", 0, 0);
  old.all_start_micros = 5, old.all_end_rel_micros = 7;
  char *out = table(&old, 1, 0);
  EXPECT_CONTAINS(out, "1 nodes in 7.0 us, 7.0 us of work");
  EXPECT_CONTAINS(out, "  op                             1          7.0  100.0%");
  weft_free(out);
}

TEST(json_quotes_names_and_bounds_times) {
  Tensorflow__NodeExecStats odd = ran("a\"b", "a = \"Op\\(", INT64_MAX, INT64_MIN);
  size_t size;
  char *out;
  weft_tensor *meta = pack(&size, &odd, 1);
  EXPECT_OK(weft_trace_json(&out, weft_tensor_data(meta), size));
  EXPECT_CONTAINS(out, "\"name\": \"\\\"Op\\\\\"");
  EXPECT_CONTAINS(out, "\"name\": \"a\\\"b\"");
  EXPECT_CONTAINS(out, "\"dur\": 0.000");
  weft_free(out);
  weft_tensor_destroy(meta);
}

TEST(what_has_no_step_stats_is_refused) {
  char *out;
  EXPECT_ERR(weft_trace_table(&out, "", 0, 0), WEFT_NOT_FOUND, "no step stats");
  EXPECT(out == NULL);
  EXPECT_ERR(weft_trace_table(&out, "\xff\xff", 2, 0), WEFT_INVALID_ARGUMENT, "RunMetadata");
}
