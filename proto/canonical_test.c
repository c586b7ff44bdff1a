/* canonical_test.c - maps are sorted at every depth; lists keep their order. */
#include "proto/canonical.h"

#include "tests/check.h"
#include "tf.pb-c.h"

TEST(maps_are_sorted_by_key_at_every_depth) {
  Tensorflow__AttrValue v = TENSORFLOW__ATTR_VALUE__INIT, w = TENSORFLOW__ATTR_VALUE__INIT;
  Tensorflow__NameAttrList func = TENSORFLOW__NAME_ATTR_LIST__INIT;
  Tensorflow__NameAttrListAttrEntry x = TENSORFLOW__NAME_ATTR_LIST_ATTR_ENTRY__INIT, y = x, *inner[] = {&y, &x};
  Tensorflow__NodeDefAttrEntry a = TENSORFLOW__NODE_DEF_ATTR_ENTRY__INIT, b = a, *outer[] = {&b, &a};
  Tensorflow__NodeDef n = TENSORFLOW__NODE_DEF__INIT;
  x.key = "x", y.key = "y", a.key = "a", b.key = "b";
  x.value = y.value = &w;
  func.n_attr = 2, func.attr = inner;
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  v.func = &func;
  a.value = b.value = &v;
  n.n_attr = 2, n.attr = outer;
  weft__proto_canonical(&n.base);
  EXPECT(outer[0] == &a && outer[1] == &b);
  EXPECT(inner[0] == &x && inner[1] == &y);
}

TEST(numbers_are_keys_too_and_lists_keep_their_order) {
  Tensorflow__FunctionDefResourceArgUniqueIdEntry one = TENSORFLOW__FUNCTION_DEF_RESOURCE_ARG_UNIQUE_ID_ENTRY__INIT;
  Tensorflow__FunctionDefResourceArgUniqueIdEntry two = one, *ids[] = {&two, &one};
  Tensorflow__NodeDef p = TENSORFLOW__NODE_DEF__INIT, q = p, *nodes[] = {&q, &p};
  Tensorflow__FunctionDef f = TENSORFLOW__FUNCTION_DEF__INIT;
  one.key = 1, two.key = 2;
  p.name = "p", q.name = "q";
  f.n_resource_arg_unique_id = 2, f.resource_arg_unique_id = ids;
  f.n_node_def = 2, f.node_def = nodes;
  weft__proto_canonical(&f.base);
  EXPECT(ids[0] == &one && ids[1] == &two);
  EXPECT(nodes[0] == &q && nodes[1] == &p);
}

TEST(unknown_fields_are_dropped) {
  ProtobufCMessageUnknownField u = {.tag = 77};
  Tensorflow__NodeDef n = TENSORFLOW__NODE_DEF__INIT;
  n.base.n_unknown_fields = 1;
  n.base.unknown_fields = &u;
  weft__proto_canonical(&n.base);
  EXPECT_EQ_INT(n.base.n_unknown_fields, 0);
}
