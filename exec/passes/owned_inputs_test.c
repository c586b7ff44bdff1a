/* owned_inputs_test.c - in which memory a kernel finds integers that came through shared memory, in both executors. */
#include "exec/passes/owned_inputs.h"
#include "base/alloc.h"
#include "exec/session.h"
#include "graph/build.h"
#include "graph/op.h"
#include "ops/all.h"
#include "tests/check.h"

static bool index_exposed, data_exposed; /* what the kernel below last saw */

static weft_err look_cpu(kernel *k) {
  data_exposed = k->in[0]->buf->peer_writes;
  index_exposed = k->in[1]->buf->peer_writes;
  weft_tensor *y = weft__out(k, 0, &SHAPE_SCALAR);
  if (!y) return WEFT_OOM;
  *TENSOR_DATA(y, int32_t) = *TENSOR_DATA(k->in[1], int32_t);
  return WEFT_OK;
}

#define LOOK "(data:T, index:I) -> (y:int32) | T:type{float,int32} I:type{int32,int64}"
static OPS(own_test) = {
    {"TestLook" LOOK, "Notes where its inputs lie.", .flags = OP_NO_FOLD, .infer = weft__infer_same, .cpu = look_cpu},
    {0},
};

typedef struct rig {
  op_table *ops;
  weft_graph *g;
  weft_session *sess;
  weft_out data, index, branch, look;
} rig;

/* With a branch the dataflow executor runs it, else the straight one. */
static void rig_init(rig *r, bool branch) {
  const op *const *all = weft__ops_all();
  int n = 0;
  while (all[n]) n++;
  const op **lists = weft__alloc_zero((size_t)n + 2, sizeof *lists);
  for (int i = 0; i < n; i++) lists[i] = all[i];
  lists[n] = weft__ops_own_test;
  *r = (rig){0};
  EXPECT_OK(weft__op_table_create(&r->ops, lists));
  EXPECT_OK(weft__graph_create(&r->g, r->ops));
  weft__free(lists);
  attr type[] = {A_TYPE("dtype", WEFT_INT32), A_SHAPE("shape", &SHAPE_SCALAR)};
  r->data = weft__b_node(r->g, "Placeholder", NULL, 0, NULL, 2, type);
  r->index = weft__b_node(r->g, "Placeholder", NULL, 0, NULL, 2, type);
  weft_out data = r->data;
  if (branch) {
    weft_out sw = weft__b_binary(r->g, "Switch", r->data, weft__b_scalar(r->g, WEFT_BOOL, 1));
    data = weft__b_slot(sw, 1);
  }
  r->look = weft__b_binary(r->g, "TestLook", data, r->index);
  EXPECT_OK(weft__b_ok(r->g));
  EXPECT_OK(weft__session_create(&r->sess, r->g, &(session_opts){.intra_threads = 1, .inter_threads = 2}));
}

static void expect_look(rig *r, bool shared, int number) {
  weft_tensor *in[2], *out = NULL;
  for (int i = 0; i < 2; i++) {
    EXPECT_OK(weft__tensor_scalar(&in[i], WEFT_INT32, number));
    in[i]->buf->peer_writes = shared;
  }
  plan_request q = {.n_feed = 2, .feed = (weft_out[]){r->data, r->index}, .n_fetch = 1, .fetch = &r->look};
  index_exposed = data_exposed = true;
  EXPECT_OK(weft__session_run(r->sess, &q, (const weft_tensor *const *)in, &out, NULL));
  EXPECT_EQ_INT(weft__tensor_int(out, 0), number);
  EXPECT(!index_exposed);
  EXPECT(data_exposed == shared); /* data is not copied: it is exposed if the feed was */
  EXPECT(in[1]->buf->peer_writes == shared);
  for (int i = 0; i < 2; i++) weft_tensor_destroy(in[i]);
  weft_tensor_destroy(out);
}

TEST(a_kernel_gets_a_copy_of_its_index_input_and_data_as_it_is) {
  for (int branch = 0; branch < 2; branch++) {
    rig r;
    rig_init(&r, branch);
    /* Runs share a frame, but each decides anew whether it copies: every second run has inputs in shared memory. */
    for (int i = 0; i < 6; i++) expect_look(&r, i % 2, i);
    weft__session_destroy(r.sess);
    weft__graph_destroy(r.g);
    weft__op_table_destroy(r.ops);
  }
}

TEST(an_input_that_takes_only_integers_is_an_index) {
  rig r;
  rig_init(&r, false);
  const weft_node *n = r.g->node[r.look.node];
  EXPECT(!weft__input_is_index(n, 0));
  EXPECT(weft__input_is_index(n, 1));
  weft__session_destroy(r.sess);
  weft__graph_destroy(r.g);
  weft__op_table_destroy(r.ops);
}
