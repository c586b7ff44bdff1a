/* cuda_graph_streams_test.c - tests which kernels are captured on parallel streams, depending on what they read and
 * write. */
#include "exec/executors/cuda_graph_streams.h"

#include "graph/build.h"
#include "ops/all.h"
#include "tests/check.h"

enum { ITEMS = 4 };

static struct { int n, stream[ITEMS], after[ITEMS][CAPTURE_STREAMS]; } noted;

static weft_err note_item(device *d, int number, int stream, const int after[CAPTURE_STREAMS]) {
  (void)d;
  EXPECT_EQ_INT(number, noted.n);
  noted.stream[noted.n] = stream;
  memcpy(noted.after[noted.n++], after, sizeof noted.after[0]);
  return WEFT_OK;
}

static weft_err queues(kernel *k) {
  (void)k;
  return WEFT_OK;
}

typedef struct rig {
  weft_graph *g;
  device_ops ops;
  device card;
  char memory[ITEMS][64];
  buffer place[ITEMS + 1], *planned[ITEMS + 1];
  value slot[ITEMS + 1];
  int alias[ITEMS + 1];
  plan_input in[ITEMS][2];
  plan_item item[ITEMS];
  plan plan;
  layout layout;
  frame frame;
} rig;

/* Item i makes slot i + 1 out of slots a and b; slot 0 is a value from outside. */
static void item(rig *r, int i, const weft_node *n, int a, int b) {
  r->in[i][0] = (plan_input){a, false, false};
  r->in[i][1] = (plan_input){b, false, false};
  r->item[i] = (plan_item){.node = n,
                           .op = n->op,
                           .run = queues,
                           .device = &r->card,
                           .in = r->in[i],
                           .n_in = 2,
                           .n_out = 1,
                           .first_out = i + 1};
}

/* Slot s lies in a piece of memory. */
static void put(rig *r, int s, int piece) {
  r->place[s] = (buffer){.dtype = WEFT_FLOAT, .size = 64, .data = r->memory[piece], .memory = &r->card.memory};
  r->planned[s] = &r->place[s];
  r->slot[s].t = (weft_tensor){.dtype = WEFT_FLOAT, .shape = SHAPE1(16), .buf = &r->place[s], .data = r->memory[piece]};
}

static const weft_node *begin(rig *r) {
  const op_table *ops;
  *r = (rig){.ops = {.type = "GPU", .capture_item = note_item}};
  r->card.ops = &r->ops;
  EXPECT_OK(weft__ops_table(&ops));
  EXPECT_OK(weft__graph_create(&r->g, ops));
  weft_out one = weft__b_scalar(r->g, WEFT_FLOAT, 1), sum = weft__b_binary(r->g, "AddV2", one, one);
  for (int s = 0; s <= ITEMS; s++) r->alias[s] = -1;
  r->layout.alias = r->alias;
  r->plan = (plan){.item = r->item, .n_item = ITEMS};
  r->frame = (frame){.plan = &r->plan, .layout = &r->layout, .slot = r->slot, .planned = r->planned};
  return r->g->node[sum.node];
}

static void walk(rig *r, int n) {
  graph_streams l;
  weft__graph_streams_init(&l);
  for (int i = 0; i < n; i++) EXPECT_OK(weft__graph_streams_assign(&l, &r->frame, i));
  weft__graph_streams_finish(&l);
  weft__graph_destroy(r->g);
  EXPECT_EQ_INT(noted.n, n);
}

TEST(kernels_that_share_nothing_run_beside_each_other_and_their_reader_waits_for_both) {
  rig r;
  const weft_node *n = begin(&r);
  for (int s = 0; s < ITEMS; s++) put(&r, s, s);
  item(&r, 0, n, 0, 0);
  item(&r, 1, n, 0, 0);
  item(&r, 2, n, 1, 2);
  walk(&r, 3);
  EXPECT(noted.stream[0] != noted.stream[1]);
  for (int i = 0; i < CAPTURE_STREAMS; i++) EXPECT_EQ_INT(noted.after[1][i], -1);
  EXPECT(noted.stream[2] == noted.stream[0] || noted.stream[2] == noted.stream[1]); /* behind one of them */
  EXPECT_EQ_INT(noted.after[2][noted.stream[0]], 0);
  EXPECT_EQ_INT(noted.after[2][noted.stream[1]], 1);
}

TEST(a_chain_stays_in_one_stream) {
  rig r;
  const weft_node *n = begin(&r);
  for (int s = 0; s < ITEMS; s++) put(&r, s, s);
  for (int i = 0; i < 3; i++) item(&r, i, n, i, i);
  walk(&r, 3);
  EXPECT(noted.stream[1] == noted.stream[0] && noted.stream[2] == noted.stream[0]);
}

TEST(memory_that_serves_again_is_written_after_it_was_read) {
  rig r;
  const weft_node *n = begin(&r);
  put(&r, 0, 0);
  put(&r, 1, 1);
  put(&r, 2, 2);
  put(&r, 3, 1); /* where slot 1 was */
  item(&r, 0, n, 0, 0);
  item(&r, 1, n, 1, 1);
  item(&r, 2, n, 0, 0);
  walk(&r, 3);
  EXPECT_EQ_INT(noted.after[2][noted.stream[1]], 1);
}

TEST(what_is_written_over_an_input_waits_for_its_other_readers) {
  rig r;
  const weft_node *n = begin(&r);
  for (int s = 0; s < ITEMS; s++) put(&r, s, s);
  item(&r, 0, n, 0, 0);
  item(&r, 1, n, 1, 1); /* reads slot 1 */
  item(&r, 2, n, 1, 1); /* takes it over */
  r.alias[3] = 0;
  walk(&r, 3);
  EXPECT_EQ_INT(noted.after[2][noted.stream[1]], 1);
}

/* Ops that only move elements have no kernel of the card's: the host's kernel queues the copies. */
TEST(a_host_kernel_that_queues_copies_is_ordered_as_a_kernel_and_one_that_hands_on_a_value_is_not) {
  rig r;
  const weft_node *n = begin(&r);
  for (int s = 0; s < ITEMS; s++) put(&r, s, s);
  item(&r, 0, n, 0, 0);
  item(&r, 1, n, 1, 1);
  item(&r, 2, n, 2, 2);
  r.item[1].run = r.item[2].run = n->op->cpu;
  r.alias[3] = 0;
  graph_streams l;
  weft__graph_streams_init(&l);
  for (int i = 0; i < 3; i++) EXPECT_OK(weft__graph_streams_assign(&l, &r.frame, i));
  weft__graph_streams_finish(&l);
  weft__graph_destroy(r.g);
  EXPECT_EQ_INT(noted.n, 2);
  EXPECT_EQ_INT(noted.after[1][noted.stream[0]], 0);
}
