/* text_test.c - the text format against what protobuf prints for the same messages. */
#include "proto/text.h"

#include "tests/check.h"
#include "tf.pb-c.h"

static void shown(const ProtobufCMessage *m, bool one_line, const char *want) {
  text t = {0};
  weft__proto_text(&t, m, one_line);
  EXPECT_EQ_STR(weft__text_get(&t), want);
  weft__text_finish(&t);
}

TEST(an_empty_message_is_an_empty_text) {
  Tensorflow__ConfigProto c = TENSORFLOW__CONFIG_PROTO__INIT;
  shown(&c.base, true, "");
  shown(&c.base, false, "");
}

TEST(a_config_is_shown_in_one_line_as_logs_have_it) {
  Tensorflow__ConfigProto c = TENSORFLOW__CONFIG_PROTO__INIT;
  Tensorflow__GPUOptions gpu = TENSORFLOW__GPUOPTIONS__INIT;
  char *filters[] = {"/job:ps", "/job:worker/task:0"};
  gpu.allow_growth = true;
  c.allow_soft_placement = true;
  c.gpu_options = &gpu;
  c.device_filters = filters;
  c.n_device_filters = 2;
  shown(&c.base, true,
        "device_filters: \"/job:ps\" device_filters: \"/job:worker/task:0\" gpu_options { allow_growth: true } "
        "allow_soft_placement: true");
}

TEST(a_node_is_shown_in_lines_with_its_bytes_escaped) {
  Tensorflow__NodeDef n = TENSORFLOW__NODE_DEF__INIT;
  Tensorflow__AttrValue v = TENSORFLOW__ATTR_VALUE__INIT;
  Tensorflow__NodeDefAttrEntry e = TENSORFLOW__NODE_DEF_ATTR_ENTRY__INIT, *list = &e;
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_B; /* set although zero: a oneof */
  e.key = "transpose \"a\"\x01";
  e.value = &v;
  n.name = "y";
  n.attr = &list;
  n.n_attr = 1;
  shown(&n.base, false, "name: \"y\"\nattr {\n  key: \"transpose \\\"a\\\"\\001\"\n  value {\n    b: false\n  }\n}\n");
}
