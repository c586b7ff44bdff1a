/* partition_test.c - what each task gets of a graph that is cut in two. */
#include "exec/passes/partition.h"

#include "base/alloc.h"
#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

enum { PS, WORKER, SECOND_PS };

static const device_info devices[] = {
    {.name = "/job:ps/replica:0/task:0/device:CPU:0", .type = "CPU", .incarnation = UINT64_C(0xfedcba9876543210)},
    {.name = "/job:worker/replica:0/task:0/device:CPU:0", .type = "CPU", .incarnation = 7},
    {.name = "/job:ps/replica:0/task:1/device:CPU:0", .type = "CPU", .incarnation = 8},
};

typedef struct rig {
  weft_graph *g;
  bool weft_only;
  int where[64];
} rig;

static rig begin(void) {
  rig r = {0};
  const op_table *ops;
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&r.g, ops));
  return r;
}

static weft_out node(rig *r, int at, const char *op_name, const char *name, int n_in, const weft_out *in, int n_attr,
                     const attr *attrs) {
  weft_node *n = NULL;
  node_spec spec = {
      .op = op_name, .name = name, .exact = true, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = attrs};
  EXPECT_OK(weft__graph_add(r->g, &spec, &n));
  r->where[n->id] = at;
  return (weft_out){n->id, 0};
}

static weft_out input(rig *r, int at, const char *name) {
  return node(r, at, "Placeholder", name, 0, NULL, 1, (attr[]){A_TYPE("dtype", WEFT_FLOAT)});
}

static weft_err cut_at(rig *r, const plan_request *q, parts *out) {
  static const int task_of[] = {PS, WORKER, SECOND_PS};
  return weft__partition(out, &(cut){.graph = r->g,
                                     .request = q,
                                     .where = r->where,
                                     .device = devices,
                                     .task = task_of,
                                     .n_task = 3,
                                     .client = WORKER,
                                     .weft_only = r->weft_only});
}

static const task_part *part_of(const parts *p, int task) {
  for (int i = 0; i < p->n_part; i++)
    if (p->part[i].task == task) return &p->part[i];
  FAIL("task %d has no part", task);
  return NULL;
}

static int count(const task_part *p, const char *op_name) {
  int n = 0;
  for (size_t i = 0; i < p->def.n_node; i++) n += strcmp(p->def.node[i]->op, op_name) == 0;
  return n;
}

static const Tensorflow__NodeDef *find(const task_part *p, const char *name) {
  for (size_t i = 0; i < p->def.n_node; i++)
    if (strcmp(p->def.node[i]->name, name) == 0) return p->def.node[i];
  FAIL("no node %s", name);
  return NULL;
}

static const Tensorflow__AttrValue *attr_of(const Tensorflow__NodeDef *n, const char *name) {
  for (size_t i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i]->key, name) == 0) return n->attr[i]->value;
  FAIL("%s has no attr %s", n->name, name);
  return NULL;
}

/* Every part must be a graph of its own that imports without its other half. */
static void expect_whole(const parts *p) {
  const op_table *ops;
  EXPECT_OK(weft__ops_table(&ops));
  for (int i = 0; i < p->n_part; i++) {
    weft_graph *g;
    EXPECT_OK(weft__graph_create(&g, ops));
    EXPECT_OK(weft__graph_import_proto(g, &p->part[i].def, &(import_opts){.part = true}));
    weft__graph_destroy(g);
  }
}

static weft_out variable_at(rig *r, int at, const char *name) {
  shape one = SHAPE_SCALAR;
  return node(r, at, "VariableV2", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &one)});
}

static weft_out variable_at_ps(rig *r, const char *name) { return variable_at(r, PS, name); }

static weft_out token_queue(rig *r, const char *name) {
  weft_dtype type = WEFT_FLOAT;
  attr attrs[] = {A_TYPES("component_types", &type, 1), A_STR("shared_name", name)};
  return node(r, PS, "FIFOQueueV2", "queue", 0, NULL, 2, attrs);
}

/* A step that takes a token once the gradient of w is there, and fetches the global step, a read of it, and w. */
static void cut_synchronous(rig *r, const char *queue_name, parts *p) {
  weft_dtype type = WEFT_FLOAT;
  weft_out at = variable_at_ps(r, "at"), w = variable_at_ps(r, "w"), q = token_queue(r, queue_name);
  weft_out read = node(r, PS, "Identity", "read", 1, &at, 0, NULL);
  weft_out gradient = node(r, WORKER, "Neg", "gradient", 1, &w, 0, NULL);
  weft_node *n = NULL;
  node_spec take = {.op = "QueueDequeueV2",
                    .name = "take",
                    .exact = true,
                    .n_in = 1,
                    .in = &q,
                    .n_control = 1,
                    .control = &gradient.node,
                    .n_attr = 1,
                    .attr = (attr[]){A_TYPES("component_types", &type, 1)}};
  EXPECT_OK(weft__graph_add(r->g, &take, &n));
  r->where[n->id] = PS;
  weft_out fetch[] = {{n->id, 0}, at, read, w};
  EXPECT_OK(cut_at(r, &(plan_request){.n_fetch = 4, .fetch = fetch}, p));
}

static bool waits_for(const Tensorflow__NodeDef *n, const char *input_text) {
  for (size_t i = 0; i < n->n_input; i++)
    if (strcmp(n->input[i], input_text) == 0) return true;
  return false;
}

TEST(what_a_synchronous_step_fetches_is_read_after_its_token) {
  rig r = begin(), other = begin();
  parts p;
  cut_synchronous(&r, "sync_token_q", &p);
  EXPECT(waits_for(find(part_of(&p, PS), "at"), "^take"));
  EXPECT(waits_for(find(part_of(&p, PS), "read"), "^take"));
  EXPECT(!waits_for(find(part_of(&p, PS), "w"), "^take")); /* its gradient comes before the token */
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  cut_synchronous(&other, "some_queue", &p); /* only tokens are waited for */
  EXPECT(!waits_for(find(part_of(&p, PS), "at"), "^take"));
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g), weft__graph_destroy(other.g);
}

TEST(two_readers_on_one_task_share_one_pair) {
  rig r = begin();
  parts p;
  weft_out x = input(&r, PS, "x");
  weft_out v = node(&r, PS, "Neg", "v", 1, &x, 0, NULL);
  weft_out a = node(&r, WORKER, "Neg", "a", 1, &v, 0, NULL), b = node(&r, WORKER, "Neg", "b", 1, &v, 0, NULL);
  plan_request q = {.n_feed = 1, .feed = &x, .n_fetch = 2, .fetch = (weft_out[]){a, b}};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(p.n_part, 2);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Send"), 1);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Recv"), 1);     /* the feed comes from the client's task */
  EXPECT_EQ_INT(count(part_of(&p, WORKER), "_Recv"), 1); /* for both readers */
  EXPECT_EQ_STR(p.feed_name[0], "_recv_x_0");
  EXPECT_EQ_STR(p.fetch_name[0], "a");
  EXPECT_EQ_STR(find(part_of(&p, WORKER), "a")->input[0], find(part_of(&p, WORKER), "b")->input[0]);
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(both_ends_of_a_pair_agree_on_its_name) {
  rig r = begin();
  parts p;
  weft_out x = input(&r, WORKER, "x");
  weft_out v = node(&r, PS, "Neg", "v", 1, &x, 0, NULL);
  plan_request q = {.n_feed = 1, .feed = &x, .n_fetch = 1, .fetch = &v};
  EXPECT_OK(cut_at(&r, &q, &p));
  const Tensorflow__NodeDef *recv = find(part_of(&p, WORKER), p.fetch_name[0]), *send = NULL;
  const task_part *ps = part_of(&p, PS);
  for (size_t i = 0; i < ps->def.n_node; i++)
    if (strcmp(ps->def.node[i]->op, "_Send") == 0) send = ps->def.node[i];
  EXPECT(send != NULL);
  static const char *const same[] = {"tensor_name", "send_device", "recv_device"};
  for (int i = 0; i < 3; i++) {
    ProtobufCBinaryData one = attr_of(send, same[i])->s, other = attr_of(recv, same[i])->s;
    EXPECT_EQ_INT(one.len, other.len);
    EXPECT_EQ_MEM(one.data, other.data, one.len);
  }
  EXPECT_EQ_INT(attr_of(send, "send_device_incarnation")->i, (int64_t)devices[PS].incarnation);
  EXPECT_EQ_STR(send->device, devices[PS].name);
  EXPECT_EQ_STR(recv->device, devices[WORKER].name);
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(a_control_edge_between_tasks_becomes_an_empty_value) {
  rig r = begin();
  parts p;
  weft_out first = node(&r, PS, "NoOp", "first", 0, NULL, 0, NULL);
  weft_out then = variable_at(&r, WORKER, "then");
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then.node], first.node));
  plan_request q = {.n_target = 1, .target = &then.node};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(count(part_of(&p, PS), "Const"), 1);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Send"), 1);
  const Tensorflow__NodeDef *n = find(part_of(&p, WORKER), "then");
  EXPECT_EQ_INT(n->n_input, 1);
  EXPECT_EQ_STR(find(part_of(&p, WORKER), n->input[0] + 1)->op, "_Recv");
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

/* A NoOp of the worker that waits for one update on each ps. */
static weft_out group_of_updates(rig *r) {
  weft_out one = variable_at(r, PS, "one"), other = variable_at(r, SECOND_PS, "other");
  weft_out group = node(r, WORKER, "NoOp", "group", 0, NULL, 0, NULL);
  EXPECT_OK(weft__graph_add_control(r->g, r->g->node[group.node], one.node));
  EXPECT_OK(weft__graph_add_control(r->g, r->g->node[group.node], other.node));
  return group;
}

TEST(a_group_of_updates_goes_to_the_task_that_waits_for_it) {
  rig r = begin();
  parts p;
  weft_out group = group_of_updates(&r), then = variable_at_ps(&r, "step");
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then.node], group.node));
  EXPECT_OK(cut_at(&r, &(plan_request){.n_target = 1, .target = &then.node}, &p));
  EXPECT_EQ_INT(p.n_part, 2);
  EXPECT_EQ_INT(p.client, -1);
  EXPECT_EQ_INT(count(part_of(&p, SECOND_PS), "_Send"), 1);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Recv"), 1);
  EXPECT_EQ_INT(find(part_of(&p, PS), "group")->n_input, 2);
  EXPECT_EQ_STR(find(part_of(&p, PS), "step")->input[0], "^group");
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(what_only_the_request_waits_for_needs_no_message) {
  rig r = begin();
  parts p;
  weft_out group = group_of_updates(&r), outer = node(&r, WORKER, "NoOp", "outer", 0, NULL, 0, NULL);
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[outer.node], group.node));
  EXPECT_OK(cut_at(&r, &(plan_request){.n_target = 1, .target = &outer.node}, &p));
  EXPECT_EQ_INT(p.n_part, 3);
  for (int i = 0; i < p.n_part; i++) EXPECT_EQ_INT(count(&p.part[i], "_Send") + count(&p.part[i], "_Recv"), 0);
  EXPECT_EQ_STR(find(part_of(&p, WORKER), "outer")->input[0], "^group");
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(waits_for_several_nodes_of_a_task_are_one_message) {
  rig r = begin();
  parts p;
  weft_out a = variable_at(&r, SECOND_PS, "a"), b = variable_at(&r, SECOND_PS, "b"), c = variable_at_ps(&r, "c");
  int then[2];
  for (int i = 0; i < 2; i++) {
    then[i] = variable_at_ps(&r, i ? "second" : "first").node;
    EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then[i]], i ? a.node : b.node));
    EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then[i]], c.node));
    EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then[i]], i ? b.node : a.node));
  }
  EXPECT_OK(cut_at(&r, &(plan_request){.n_target = 2, .target = then}, &p));
  EXPECT_EQ_INT(count(part_of(&p, SECOND_PS), "_Send"), 1);
  EXPECT_EQ_INT(count(part_of(&p, SECOND_PS), "Const"), 1);
  const Tensorflow__NodeDef *send = find(part_of(&p, SECOND_PS), "a_S1");
  EXPECT_EQ_INT(find(part_of(&p, SECOND_PS), send->input[0])->n_input, 2);
  EXPECT_EQ_INT(find(part_of(&p, PS), "first")->n_input, 2);
  EXPECT_EQ_INT(find(part_of(&p, PS), "second")->n_input, 2);
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(waiting_for_an_unread_value_waits_for_its_inputs) {
  rig r = begin();
  parts p;
  weft_out x = input(&r, PS, "x"), first = node(&r, PS, "NoOp", "first", 0, NULL, 0, NULL);
  weft_out unread = node(&r, PS, "Neg", "unread", 1, &x, 0, NULL);
  weft_out more = node(&r, WORKER, "Neg", "more", 1, &unread, 0, NULL);
  weft_out then = variable_at(&r, WORKER, "then");
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[unread.node], first.node));
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[then.node], more.node));
  plan_request q = {.n_feed = 1, .feed = &x, .n_target = 1, .target = &then.node};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(count(part_of(&p, PS), "Neg"), 0);
  EXPECT_EQ_INT(count(part_of(&p, WORKER), "Neg"), 0);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Send"), 1);
  const Tensorflow__NodeDef *n = find(part_of(&p, WORKER), "then");
  EXPECT_EQ_INT(n->n_input, 1);
  EXPECT_EQ_STR(find(part_of(&p, WORKER), n->input[0] + 1)->op, "_Recv");
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

/* The worker flattens x, and a node on the ps reads the result; another one reads x if `both`. */
static void cut_flattened(rig *r, bool both, parts *p) {
  weft_out x = input(r, WORKER, "x"), axis = weft__b_ints(r->g, (int64_t[]){0}, 1);
  r->where[axis.node] = WORKER;
  weft_out size = node(r, WORKER, "Size", "size", 1, &x, 0, NULL);
  weft_out wide = node(r, WORKER, "ExpandDims", "wide", 2, (weft_out[]){size, axis}, 0, NULL);
  weft_out flat = node(r, WORKER, "Reshape", "flat", 2, (weft_out[]){x, wide}, 0, NULL);
  int target[2] = {both ? node(r, PS, "Neg", "reads_x", 1, &x, 0, NULL).node : -1};
  target[both] = node(r, PS, "Neg", "reads_flat", 1, &flat, 0, NULL).node;
  EXPECT_OK(cut_at(r, &(plan_request){.n_feed = 1, .feed = &x, .n_target = both + 1, .target = target}, p));
  expect_whole(p);
}

TEST(a_view_of_a_value_that_a_task_receives_does_not_travel) {
  for (int both = 0; both < 2; both++) {
    rig r = begin();
    parts p;
    cut_flattened(&r, both, &p);
    EXPECT_EQ_INT(count(part_of(&p, WORKER), "_Send"), 1);
    EXPECT_EQ_INT(count(part_of(&p, PS), "Reshape"), both);
    EXPECT_EQ_INT(count(part_of(&p, PS), "Size"), both);
    weft__partition_parts_finish(&p);
    weft__graph_destroy(r.g);
  }
}

static const Tensorflow__NodeDef *feeder(const task_part *p, const char *name, int input) {
  return find(p, find(p, name)->input[input]);
}

TEST(a_scalar_between_two_ps_travels_through_the_worker) {
  rig r = begin();
  parts p;
  weft_out x = input(&r, WORKER, "x"), large = input(&r, PS, "large"), power = variable_at_ps(&r, "power");
  weft_out read = node(&r, PS, "Identity", "read", 1, &power, 0, NULL);
  weft_out copy = node(&r, PS, "Neg", "copy", 1, &large, 0, NULL);
  weft_out rows = node(&r, SECOND_PS, "Neg", "rows", 1, &x, 0, NULL);
  weft_out gradient = node(&r, WORKER, "Add", "gradient", 2, (weft_out[]){rows, copy}, 0, NULL);
  weft_out update = node(&r, SECOND_PS, "Mul", "update", 2, (weft_out[]){gradient, read}, 0, NULL);
  weft_out fed[] = {x, large};
  EXPECT_OK(cut_at(&r, &(plan_request){.n_feed = 2, .feed = fed, .n_target = 1, .target = &update.node}, &p));
  const task_part *worker = part_of(&p, WORKER), *second = part_of(&p, SECOND_PS);
  const Tensorflow__NodeDef *received = feeder(second, "update", 1);
  EXPECT_EQ_INT(attr_of(received, "_weft_stage")->i, attr_of(feeder(second, "update", 0), "_weft_stage")->i);
  EXPECT_EQ_INT(memcmp(attr_of(received, "send_device")->s.data, "/job:worker", 11), 0);
  EXPECT_EQ_INT(count(worker, "_Recv"), 3);
  EXPECT_EQ_INT(count(second, "_Recv"), 3);
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(a_request_that_needs_one_task_has_one_part) {
  rig r = begin();
  parts p;
  weft_out only = node(&r, PS, "NoOp", "only", 0, NULL, 0, NULL);
  node(&r, WORKER, "NoOp", "other", 0, NULL, 0, NULL);
  plan_request q = {.n_target = 1, .target = &only.node};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(p.n_part, 1);
  EXPECT_EQ_INT(p.client, -1);
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(a_loop_over_two_tasks_iterates_on_both) {
  rig r = begin();
  parts p;
  weft_out x = input(&r, WORKER, "x");
  weft_out enter = node(&r, WORKER, "Enter", "enter", 1, &x, 1, (attr[]){A_STR("frame_name", "loop")});
  weft_out merge = node(&r, WORKER, "Merge", "merge", 2, (weft_out[]){enter, enter}, 0, NULL);
  weft_out less = node(&r, WORKER, "Less", "less", 2, (weft_out[]){merge, merge}, 0, NULL);
  weft_out cond = node(&r, WORKER, "LoopCond", "cond", 1, &less, 0, NULL);
  weft_out sw = node(&r, WORKER, "Switch", "switch", 2, (weft_out[]){merge, cond}, 0, NULL);
  weft_out there = node(&r, PS, "Neg", "there", 1, &(weft_out){sw.node, 1}, 0, NULL);
  weft_out next = node(&r, WORKER, "NextIteration", "next", 1, &there, 0, NULL);
  EXPECT_OK(weft__graph_set_input(r.g, r.g->node[merge.node], 1, next));
  weft_out out = node(&r, WORKER, "Exit", "out", 1, &sw, 0, NULL);
  plan_request q = {.n_feed = 1, .feed = &x, .n_fetch = 1, .fetch = &out};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(p.n_part, 2);
  for (int i = 0; i < p.n_part; i++) {
    const Tensorflow__GraphDef *d = &p.part[i].def;
    const char *again = NULL;
    int received = 0;
    for (size_t j = 0; j < d->n_node; j++)
      if (strcmp(d->node[j]->op, "Merge") == 0 && strcmp(d->node[j]->name, "merge") != 0) again = d->node[j]->name;
    EXPECT(again);
    for (size_t j = 0; j < d->n_node; j++) {
      if (strcmp(d->node[j]->op, "_Recv") != 0) continue;
      EXPECT_EQ_INT(d->node[j]->n_input, 1); /* once in each iteration */
      EXPECT_EQ_STR(d->node[j]->input[0] + 1, again);
      received++;
    }
    EXPECT_EQ_INT(received, i == p.client ? 1 : 2); /* `there`; the condition and what is negated */
  }
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(a_constant_is_copied_to_its_readers_and_never_travels) {
  rig r = begin();
  parts p;
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 2));
  weft_out c = node(&r, WORKER, "Const", "c", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_TENSOR("value", t)});
  weft_tensor_destroy(t);
  weft_out a = node(&r, PS, "Neg", "a", 1, &c, 0, NULL), b = node(&r, PS, "Neg", "b", 1, &c, 0, NULL);
  EXPECT_OK(weft__graph_add_control(r.g, r.g->node[b.node], c.node));
  plan_request q = {.n_target = 2, .target = (int[]){a.node, b.node}};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(p.n_part, 1); /* the worker has nothing to do */
  EXPECT_EQ_INT(count(part_of(&p, PS), "Const"), 1);
  EXPECT_EQ_INT(count(part_of(&p, PS), "_Recv"), 0);
  EXPECT_EQ_STR(find(part_of(&p, PS), "c")->device, devices[PS].name);
  expect_whole(&p);
  weft__partition_parts_finish(&p);
  q = (plan_request){.n_target = 1, .target = &c.node, .n_fetch = 1, .fetch = &c};
  EXPECT_OK(cut_at(&r, &q, &p));
  EXPECT_EQ_INT(p.n_part, 1);
  EXPECT_EQ_STR(p.fetch_name[0], "c");
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

/* A lookup of fed ids in a table of the ps, and an update by a gradient of the worker.  Fetches the worker's use of the
 * rows and runs the update. */
static void cut_lookup(rig *r, bool numbers_are_read, parts *p) {
  shape rows = {.rank = 2, .dim = {20, 4}};
  attr attrs[] = {A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &rows)};
  weft_out table = node(r, PS, "VariableV2", "table", 0, NULL, 2, attrs);
  shape some = {.rank = 1, .dim = {-1}}, slices = {.rank = 2, .dim = {-1, 4}};
  attr of_ids[] = {A_TYPE("dtype", WEFT_INT64), A_SHAPE("shape", &some)};
  attr of_slices[] = {A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &slices)};
  weft_out fed[] = {node(r, WORKER, "Placeholder", "ids", 0, NULL, 2, of_ids),
                    node(r, WORKER, "Placeholder", "slices", 0, NULL, 2, of_slices)};
  weft_out found = node(r, PS, "Gather", "found", 2, (weft_out[]){table, fed[0]}, 0, NULL);
  weft_out same = node(r, PS, "Identity", "same", 1, &found, 0, NULL);
  weft_out use = node(r, WORKER, "Neg", "use", 1, &same, 0, NULL);
  weft_out distinct = node(r, PS, "Unique", "distinct", 1, &fed[0], 0, NULL);
  weft_out numbers = {distinct.node, 1};
  weft_out n = node(r, PS, "Size", "n", 1, &distinct, 0, NULL);
  weft_out sums = node(r, PS, "UnsortedSegmentSum", "sums", 3, (weft_out[]){fed[1], numbers, n}, 0, NULL);
  weft_out update = node(r, PS, "ScatterSub", "update", 3, (weft_out[]){table, distinct, sums}, 0, NULL);
  weft_out other = node(r, PS, "Neg", "other", 1, &numbers, 0, NULL);
  plan_request q = {.n_feed = 2, .feed = fed, .n_fetch = 1, .fetch = &use, .n_target = numbers_are_read ? 2 : 1};
  q.target = (int[]){update.node, other.node};
  EXPECT_OK(cut_at(r, &q, p));
  expect_whole(p);
}

TEST(distinct_ids_rows_and_gradients_travel_between_weft_tasks) {
  rig r = begin();
  parts p;
  r.weft_only = true;
  cut_lookup(&r, false, &p);
  const task_part *ps = part_of(&p, PS), *worker = part_of(&p, WORKER);
  EXPECT_EQ_INT(count(ps, "Unique"), 0);
  EXPECT_EQ_INT(count(ps, "UnsortedSegmentSum"), 0);
  EXPECT_EQ_INT(count(ps, "_Recv"), 2); /* distinct ids, for the lookup and the update, and sums of gradients */
  EXPECT_EQ_STR(find(ps, "found")->input[1], find(ps, "update")->input[1]);
  EXPECT_EQ_INT(count(worker, "Unique"), 1);
  EXPECT_EQ_INT(count(worker, "Gather"), 1); /* which repeats the rows */
  EXPECT_EQ_STR(find(worker, find(worker, "use")->input[0])->op, "Gather");
  weft__partition_parts_finish(&p);
  weft__graph_destroy(r.g);
}

TEST(all_ids_travel_to_other_peers_and_where_their_numbers_are_read) {
  for (int i = 0; i < 2; i++) {
    rig r = begin();
    parts p;
    r.weft_only = i == 1;
    cut_lookup(&r, i == 1, &p);
    EXPECT_EQ_INT(count(part_of(&p, PS), "Unique"), 1);
    EXPECT_EQ_INT(count(part_of(&p, PS), "UnsortedSegmentSum"), 1);
    EXPECT_EQ_INT(count(part_of(&p, WORKER), "Gather"), 0);
    weft__partition_parts_finish(&p);
    weft__graph_destroy(r.g);
  }
}
