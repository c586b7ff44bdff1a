/* place_test.c - where nodes go, held against what TensorFlow's placer does with the same graphs. */
#include "exec/passes/place.h"

#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

enum { PS0, PS1, WORKER0, WORKER1, DEVICES };

static const device_info devices[DEVICES] = {
    {.name = "/job:ps/replica:0/task:0/device:CPU:0", .type = "CPU"},
    {.name = "/job:ps/replica:0/task:1/device:CPU:0", .type = "CPU"},
    {.name = "/job:worker/replica:0/task:0/device:CPU:0", .type = "CPU"},
    {.name = "/job:worker/replica:0/task:1/device:CPU:0", .type = "CPU"},
};

typedef struct rig {
  const op_table *ops;
  weft_graph *g;
  int where[64];
} rig;

static rig begin(void) {
  rig r = {0};
  EXPECT_OK(weft__ops_table(&r.ops));
  EXPECT_OK(weft__graph_create(&r.g, r.ops));
  return r;
}

static weft_err place(rig *r, bool soft) {
  EXPECT_OK(weft__b_ok(r->g));
  return weft__place(r->g, 0, &(placement){.n_device = DEVICES, .device = devices, .soft = soft}, r->where);
}

/* A node of any op, placed as asked. */
static weft_out node(rig *r, const char *op_name, const char *name, const char *at, int n_in, const weft_out *in,
                     int n_attr, const attr *attrs) {
  weft_node *n = NULL;
  node_spec spec = {.op = op_name,
                    .name = name,
                    .device = at,
                    .exact = true,
                    .n_in = n_in,
                    .in = in,
                    .n_attr = n_attr,
                    .attr = attrs};
  EXPECT_OK(weft__graph_add(r->g, &spec, &n));
  return (weft_out){n->id, 0};
}

static weft_out variable_at(rig *r, const char *name, const char *at) {
  shape s = SHAPE_SCALAR;
  return node(r, "VariableV2", name, at, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

static weft_out value_at(rig *r, const char *name, const char *at) {
  weft_tensor *one;
  EXPECT_OK(weft__tensor_scalar(&one, WEFT_FLOAT, 1));
  weft_out o = node(r, "Const", name, at, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_TENSOR("value", one)});
  weft_tensor_destroy(one);
  return o;
}

TEST(a_node_goes_where_it_asks_to_be) {
  rig r = begin();
  weft_out a = variable_at(&r, "a", "/job:ps/task:1"), b = variable_at(&r, "b", "/job:worker/task:1/cpu:0");
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[a.node], PS1);
  EXPECT_EQ_INT(r.where[b.node], WORKER1);
  weft__graph_destroy(r.g);
}

TEST(a_data_set_is_where_its_iterator_is) {
  rig r = begin();
  shape s = SHAPE_SCALAR;
  weft_dtype type = WEFT_FLOAT;
  const attr out[] = {A_TYPES("output_types", &type, 1), A_SHAPES("output_shapes", &s, 1), A_STR("shared_name", ""),
                      A_STR("container", "")};
  weft_out x = value_at(&r, "x", "");
  weft_out set = node(&r, "TensorDataset", "set", "", 1, &x, 2,
                      (attr[]){A_TYPES("Toutput_types", &type, 1), A_SHAPES("output_shapes", &s, 1)});
  weft_out it = node(&r, "IteratorV2", "it", "/job:worker/task:1", 0, NULL, 4, out);
  weft_out make = node(&r, "MakeIterator", "make", "", 2, (weft_out[]){set, it}, 0, NULL);
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[set.node], WORKER1);
  EXPECT_EQ_INT(r.where[make.node], WORKER1);
  weft__graph_destroy(r.g);
}

TEST(a_node_that_asks_for_nothing_goes_to_the_first_device_by_name) {
  rig r = begin();
  weft_out a = variable_at(&r, "a", ""), b = variable_at(&r, "b", "/job:worker");
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[a.node], PS0);
  EXPECT_EQ_INT(r.where[b.node], WORKER0);
  weft__graph_destroy(r.g);
}

TEST(an_assignment_goes_to_its_variable_and_a_constant_to_its_reader) {
  rig r = begin();
  weft_out v = variable_at(&r, "v", "/job:ps/task:1"), one = value_at(&r, "one", "");
  weft_out set = node(&r, "Assign", "set", "", 2, (weft_out[]){v, one}, 0, NULL);
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[set.node], PS1);
  EXPECT_EQ_INT(r.where[one.node], PS1);
  weft__graph_destroy(r.g);
}

TEST(a_constant_with_readers_on_two_devices_stays) {
  rig r = begin();
  weft_out one = value_at(&r, "one", "");
  node(&r, "Neg", "here", "/job:worker/task:0", 1, &one, 0, NULL);
  node(&r, "Neg", "there", "/job:worker/task:1", 1, &one, 0, NULL);
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[one.node], PS0);
  weft__graph_destroy(r.g);
}

TEST(a_class_holds_nodes_together) {
  rig r = begin();
  attr_str with[] = {{"loc:@v", 6}};
  weft_out v = variable_at(&r, "v", "/job:ps/task:1");
  weft_out one = value_at(&r, "one", "/job:worker/task:0");
  weft_out read = node(&r, "Neg", "read", "", 1, &one, 1, (attr[]){A_STRS("_class", with, 1)});
  EXPECT_OK(place(&r, false));
  EXPECT_EQ_INT(r.where[read.node], PS1);
  EXPECT_EQ_INT(r.where[one.node], WORKER0);
  (void)v;
  weft__graph_destroy(r.g);
}

TEST(a_class_that_contradicts_is_refused) {
  rig r = begin();
  attr_str with[] = {{"loc:@v", 6}};
  variable_at(&r, "v", "/job:ps/task:1");
  weft_out one = value_at(&r, "one", "");
  node(&r, "Neg", "read", "/job:worker/task:0", 1, &one, 1, (attr[]){A_STRS("_class", with, 1)});
  EXPECT_ERR(place(&r, false), WEFT_INVALID_ARGUMENT, "Cannot colocate nodes");
  weft__graph_destroy(r.g);
}

TEST(a_device_that_is_not_there_is_refused_or_replaced_on_its_task) {
  rig r = begin();
  weft_out a = value_at(&r, "a", "/job:worker/task:1/gpu:3");
  EXPECT_ERR(place(&r, false), WEFT_INVALID_ARGUMENT, "Cannot assign a device for operation a");
  EXPECT_OK(place(&r, true));
  EXPECT_EQ_INT(r.where[a.node], WORKER1);
  value_at(&r, "b", "/job:evaluator/task:0");
  EXPECT_ERR(place(&r, true), WEFT_INVALID_ARGUMENT, "/job:evaluator/task:0");
  weft__graph_destroy(r.g);
}

TEST(placed_nodes_keep_their_device_and_new_ones_follow) {
  rig r = begin();
  weft_out v = variable_at(&r, "v", "/job:ps/task:1");
  EXPECT_OK(place(&r, false));
  weft_out one = value_at(&r, "one", "");
  weft_out set = node(&r, "Assign", "set", "/job:worker/task:0", 2, (weft_out[]){v, one}, 0, NULL);
  EXPECT_OK(weft__place(r.g, 1, &(placement){.n_device = DEVICES, .device = devices}, r.where));
  EXPECT_EQ_INT(r.where[v.node], PS1);
  EXPECT_EQ_INT(r.where[set.node], PS1); /* the producer of a reference wins */
  weft__graph_destroy(r.g);
}
