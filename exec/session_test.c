/* session_test.c - plans and frames under use: threads, shapes, fetches, errors, time. */
#include "exec/compile.h"
#include "exec/local.h"
#include "exec/session.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory_limit.h"
#include "graph/build.h"
#include "ops/all.h"
#include "proto/scan.h"
#include "tests/check.h"
#include "tf.pb-c.h"
#include <pthread.h>
#include <unistd.h>

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *s;
} bench;

static bench begin(void) {
  bench b = {0};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  return b;
}

static void open_session(bench *b, const session_opts *opts) {
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_create(&b->s, b->g, opts));
}

static void end(bench *b) {
  weft__session_destroy(b->s);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

static weft_out placeholder(weft_graph *g, const char *name, shape s) {
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

static weft_out variable_of(weft_graph *g, const char *name, weft_dtype type, weft_out initial, int *init) {
  shape s = SHAPE_SCALAR;
  weft_out v = weft__b_node(g, "VariableV2", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", type), A_SHAPE("shape", &s)});
  *init = weft__b_binary(g, "Assign", v, initial).node;
  return v;
}

static weft_tensor *vector(int64_t n, float first) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(n)));
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(t, float)[i] = first + (float)i;
  return t;
}

static weft_err run1(weft_session *s, weft_out feed, const weft_tensor *fed, weft_out fetch, weft_tensor **out) {
  plan_request r = {.n_feed = fed ? 1 : 0, .n_fetch = 1, .feed = &feed, .fetch = &fetch};
  return weft__session_run(s, &r, &fed, out, NULL);
}

static weft_err run_target(weft_session *s, int target, const run_opts *opts) {
  return weft__session_run(s, &(plan_request){.n_target = 1, .target = &target}, NULL, NULL, opts);
}

static weft_err run_init(weft_session *s, weft_out feed, const weft_tensor *fed, int target) {
  plan_request r = {.n_feed = 1, .feed = &feed, .n_target = 1, .target = &target};
  return weft__session_run(s, &r, &fed, NULL, NULL);
}

TEST(one_plan_serves_feeds_of_many_shapes) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE1(-1));
  weft_out y = weft__b_mul(b.g, weft__b_add(b.g, x, x), weft__b_neg(b.g, x));
  open_session(&b, NULL);
  for (int round = 0; round < 4; round++)
    for (int64_t n = 0; n < 40; n += 13) {
      weft_tensor *in = vector(n, (float)round), *out;
      EXPECT_OK(run1(b.s, x, in, y, &out));
      EXPECT_EQ_INT(weft__tensor_count(out), n);
      for (int64_t i = 0; i < n; i++) {
        float v = TENSOR_DATA(in, float)[i];
        EXPECT_NEAR((double)TENSOR_DATA(out, float)[i], (double)(-2 * v * v), 1e-3);
      }
      weft_tensor_destroy(in);
      weft_tensor_destroy(out);
    }
  end(&b);
}

TEST(a_fetched_value_is_not_touched_by_later_runs_nor_shared_with_a_feed) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE1(-1)), y = weft__b_identity(b.g, x), z = weft__b_neg(b.g, x);
  open_session(&b, NULL);
  weft_tensor *in = vector(5, 1), *first, *kept;
  EXPECT_OK(run1(b.s, x, in, y, &first));
  EXPECT_OK(run1(b.s, x, in, z, &kept));
  for (int i = 0; i < 5; i++) {
    weft_tensor *other = vector(5, 100), *out;
    EXPECT_OK(run1(b.s, x, other, z, &out));
    weft_tensor_destroy(out);
    weft_tensor_destroy(other);
  }
  TENSOR_DATA(in, float)[0] = 77;
  EXPECT_NEAR((double)TENSOR_DATA(first, float)[0], 1.0, 0);
  EXPECT_NEAR((double)TENSOR_DATA(kept, float)[4], -5.0, 0);
  weft_tensor_destroy(in);
  weft_tensor_destroy(first);
  weft_tensor_destroy(kept);
  end(&b);
}

TEST(idle_frames_release_a_variable_that_was_destroyed) {
  enum { ELEMENTS = 4 << 20 }; /* 16 MiB */
  EXPECT_OK(weft__memory_limit_set("1G"));
  bench b = begin();
  shape s = SHAPE1(ELEMENTS);
  weft_out x = placeholder(b.g, "x", SHAPE1(-1));
  weft_out v = weft__b_node(b.g, "VarHandleOp", "v", 0, NULL, 3,
                            (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s), A_STR("shared_name", "v")});
  const weft_out init[] = {v, weft__b_neg(b.g, x)};
  const int assign = weft__b_node(b.g, "AssignVariableOp", NULL, 2, init, 0, NULL).node;
  const weft_out first[] = {v, weft__b_ints(b.g, (int64_t[]){0}, 1)};
  weft_out row = weft__b_node(b.g, "ResourceGather", NULL, 2, first, 1, &A_TYPE("dtype", WEFT_FLOAT));
  weft_out y = weft__b_add(b.g, x, row);
  const int destroy = weft__b_node(b.g, "DestroyResourceOp", NULL, 1, &v, 0, NULL).node;
  open_session(&b, NULL);
  weft_tensor *start = vector(ELEMENTS, 0);
  for (int i = 0; i < 3; i++)
    EXPECT_OK(run_init(b.s, x, start, assign)); /* also those runs have a frame with an arena */
  for (int64_t n = 1; n <= 6; n++) {            /* each number of elements has frames of its own */
    weft_tensor *in = vector(n, 1), *out;
    EXPECT_OK(run1(b.s, x, in, y, &out));
    weft_tensor_destroy(out);
    EXPECT_OK(run1(b.s, x, in, y, &out));
    weft_tensor_destroy(out);
    weft_tensor_destroy(in);
  }
  const size_t before = weft__memory_limit_used();
  EXPECT_OK(run_target(b.s, destroy, NULL));
  weft_tensor *in = vector(7, 1), *out;
  EXPECT_EQ_INT(run1(b.s, x, in, y, &out), WEFT_NOT_FOUND); /* the variable is uninitialized again */
  weft_tensor_destroy(in);
  EXPECT_OK(run_init(b.s, x, start, assign)); /* every value of the first variable is free, so there are no two */
  EXPECT(weft__memory_limit_used() < before + (ELEMENTS * sizeof(float)) / 2);
  weft_tensor_destroy(start);
  end(&b);
}

TEST(a_read_ordered_after_an_update_sees_the_new_value) {
  bench b = begin();
  int init;
  weft_out v = variable_of(b.g, "v", WEFT_FLOAT, weft__b_scalar(b.g, WEFT_FLOAT, 1), &init);
  weft_out read = weft__b_identity(b.g, v);
  weft_out add = weft__b_binary(b.g, "AssignAdd", v, weft__b_scalar(b.g, WEFT_FLOAT, 10));
  weft__b_push_control(b.g, 1, &add.node);
  weft_out after = weft__b_neg(b.g, read);
  weft__b_pop(b.g);
  open_session(&b, NULL);
  EXPECT_OK(run_target(b.s, init, NULL));
  weft_tensor *out;
  EXPECT_OK(run1(b.s, WEFT_NONE, NULL, after, &out));
  EXPECT_NEAR((double)TENSOR_DATA(out, float)[0], -11.0, 0);
  weft_tensor_destroy(out);
  end(&b);
}

TEST(an_unread_value_is_not_computed_for_a_control_edge) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", (shape){.rank = -1}); /* not fed: computing anything of it would fail */
  weft_out y = weft__b_neg(b.g, x), one = weft__b_scalar(b.g, WEFT_FLOAT, 1), z, out;
  weft__b_push_control(b.g, 1, &y.node);
  z = weft__b_neg(b.g, one);
  weft__b_pop(b.g);
  out = weft__b_neg(b.g, z);
  weft_tensor *t;
  open_session(&b, NULL);
  EXPECT_ERR(run1(b.s, WEFT_NONE, NULL, out, &t), WEFT_INVALID_ARGUMENT, "You must feed a value for placeholder");
  weft_tensor *fed = vector(3, 0), *other;
  weft_out bad = weft__b_binary(b.g, "MatMul", x, x); /* of vectors */
  weft__b_push_control(b.g, 1, &bad.node);
  z = weft__b_neg(b.g, one);
  weft__b_pop(b.g);
  EXPECT_OK(weft__b_ok(b.g));
  EXPECT_ERR(run1(b.s, x, fed, bad, &other), WEFT_INVALID_ARGUMENT, "MatMul");
  EXPECT_OK(run1(b.s, x, fed, z, &t));
  EXPECT_NEAR((double)TENSOR_DATA(t, float)[0], -1.0, 0);
  weft_tensor_destroy(t);
  weft_tensor_destroy(fed);
  end(&b);
}

TEST(inputs_of_an_unread_value_run_before_nodes_that_wait_for_it) {
  bench b = begin();
  int init;
  weft_out v = variable_of(b.g, "v", WEFT_FLOAT, weft__b_scalar(b.g, WEFT_FLOAT, 1), &init);
  weft_out read = weft__b_identity(b.g, v);
  weft_out add = weft__b_binary(b.g, "AssignAdd", v, weft__b_scalar(b.g, WEFT_FLOAT, 10));
  weft_out unread = weft__b_neg(b.g, weft__b_neg(b.g, add));
  weft__b_push_control(b.g, 1, &unread.node);
  weft_out after = weft__b_neg(b.g, read);
  weft__b_pop(b.g);
  open_session(&b, NULL);
  EXPECT_OK(run_target(b.s, init, NULL));
  weft_tensor *out;
  EXPECT_OK(run1(b.s, WEFT_NONE, NULL, after, &out));
  EXPECT_NEAR((double)TENSOR_DATA(out, float)[0], -11.0, 0);
  weft_tensor_destroy(out);
  end(&b);
}

typedef struct hammer {
  weft_session *s;
  int target, runs;
  weft_err err;
} hammer;

static void *hit(void *arg) {
  hammer *h = arg;
  for (int i = 0; i < h->runs && !h->err; i++) h->err = run_target(h->s, h->target, NULL);
  return NULL;
}

TEST_WITHIN(60, many_threads_update_one_variable_and_no_update_is_lost) {
  bench b = begin();
  int init;
  weft_out v = variable_of(b.g, "v", WEFT_INT64, weft__b_scalar(b.g, WEFT_INT64, 0), &init);
  weft_out add = weft__b_binary(b.g, "AssignAdd", v, weft__b_scalar(b.g, WEFT_INT64, 1));
  open_session(&b, NULL);
  EXPECT_OK(run_target(b.s, init, NULL));
  enum { THREADS = 4, RUNS = 500 };
  pthread_t id[THREADS];
  hammer h[THREADS];
  for (int i = 0; i < THREADS; i++) {
    h[i] = (hammer){b.s, add.node, RUNS, WEFT_OK};
    EXPECT(pthread_create(&id[i], NULL, hit, &h[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(id[i], NULL);
    EXPECT_EQ_INT(h[i].err, WEFT_OK);
  }
  weft_tensor *out;
  EXPECT_OK(run1(b.s, WEFT_NONE, NULL, v, &out));
  EXPECT_EQ_INT(TENSOR_DATA(out, int64_t)[0], THREADS * RUNS);
  weft_tensor_destroy(out);
  end(&b);
}

TEST(errors_name_what_is_wrong) {
  bench b = begin();
  int init;
  weft_out x = placeholder(b.g, "x", SHAPE1(3)), y = weft__b_neg(b.g, x);
  weft_out v = variable_of(b.g, "w", WEFT_FLOAT, weft__b_scalar(b.g, WEFT_FLOAT, 1), &init);
  open_session(&b, NULL);
  weft_tensor *out, *four = vector(4, 0), *whole;
  EXPECT_OK(weft__tensor_ints(&whole, WEFT_INT32, (int64_t[]){1, 2, 3}, 3));
  EXPECT_ERR(run1(b.s, WEFT_NONE, NULL, y, &out), WEFT_INVALID_ARGUMENT,
             "You must feed a value for placeholder tensor 'x'");
  EXPECT_ERR(run1(b.s, x, four, y, &out), WEFT_INVALID_ARGUMENT, "Cannot feed value of shape [4] for Tensor 'x:0'");
  EXPECT_ERR(run1(b.s, x, whole, y, &out), WEFT_INVALID_ARGUMENT, "type int32");
  EXPECT_ERR(run1(b.s, WEFT_NONE, NULL, v, &out), WEFT_FAILED_PRECONDITION, "uninitialized value w");
  EXPECT_ERR(run1(b.s, WEFT_NONE, NULL, (weft_out){99, 0}, &out), WEFT_INVALID_ARGUMENT, "not an output");
  EXPECT_ERR(weft__session_run(b.s, &(plan_request){0}, NULL, NULL, NULL), WEFT_INVALID_ARGUMENT,
             "at least one target");
  EXPECT_OK(weft__session_close(b.s));
  EXPECT_ERR(run_target(b.s, init, NULL), WEFT_CANCELLED, "closed");
  weft_tensor_destroy(four);
  weft_tensor_destroy(whole);
  end(&b);
}

TEST(a_node_for_a_device_that_is_not_there_is_refused_unless_placement_is_soft) {
  bench b = begin();
  weft_node *n;
  weft_tensor *one;
  EXPECT_OK(weft__tensor_scalar(&one, WEFT_FLOAT, 1));
  attr a[] = {A_TENSOR("value", one), A_TYPE("dtype", WEFT_FLOAT)};
  EXPECT_OK(
      weft__graph_add(b.g, &(node_spec){.op = "Const", .name = "c", .device = "/gpu:1", .n_attr = 2, .attr = a}, &n));
  weft_tensor_destroy(one);
  open_session(&b, NULL);
  weft_tensor *out;
  EXPECT_ERR(run1(b.s, WEFT_NONE, NULL, (weft_out){n->id, 0}, &out), WEFT_INVALID_ARGUMENT,
             "Cannot assign a device for operation c: {{node c}} was explicitly assigned to /device:GPU:1");
  weft__session_destroy(b.s);
  open_session(&b, &(session_opts){.allow_soft_placement = true});
  EXPECT_OK(run1(b.s, WEFT_NONE, NULL, (weft_out){n->id, 0}, &out));
  weft_tensor_destroy(out);
  end(&b);
}

/* A dequeue from a queue nobody fills. */
static int stuck_node(weft_graph *g) {
  weft_dtype type = WEFT_FLOAT;
  weft_out q = weft__b_node(g, "FIFOQueueV2", "q", 0, NULL, 1, &A_TYPES("component_types", &type, 1));
  return weft__b_node(g, "QueueDequeueV2", "stuck", 1, &q, 1, &A_TYPES("component_types", &type, 1)).node;
}

TEST(a_timeout_ends_a_dequeue) {
  bench b = begin();
  int stuck = stuck_node(b.g);
  open_session(&b, NULL);
  int64_t start = weft__clock_now_ns();
  EXPECT_ERR(run_target(b.s, stuck, &(run_opts){.timeout_ms = 100}), WEFT_DEADLINE_EXCEEDED, "Timed out");
  EXPECT(weft__clock_now_ns() - start < INT64_C(3000000000));
  end(&b);
}

TEST(a_timeout_ends_a_kernel_that_would_try_billions_of_times) {
  bench b = begin();
  weft_out boxes = weft__b_binary(b.g, "Fill", weft__b_ints(b.g, (int64_t[]){1, 2, 4}, 3),
                                  weft__b_scalar(b.g, WEFT_FLOAT, 0.5)); /* without area: no rectangle covers one */
  weft_out in[] = {weft__b_ints(b.g, (int64_t[]){100, 80, 3}, 3), boxes};
  int tries =
      weft__b_node(b.g, "SampleDistortedBoundingBox", "tries", 2, in, 1, &A_INT("max_attempts", INT32_MAX)).node;
  open_session(&b, NULL);
  int64_t start = weft__clock_now_ns();
  EXPECT_ERR(run_target(b.s, tries, &(run_opts){.timeout_ms = 100}), WEFT_DEADLINE_EXCEEDED, "Timed out");
  EXPECT(weft__clock_now_ns() - start < INT64_C(3000000000));
  end(&b);
}

/* Returns once the session has a run in flight. */
static void await_a_run(weft_session *sess) {
  local *s = (local *)sess;
  int n = 0;
  for (int i = 0; i < 10000 && n == 0; i++, usleep(1000)) {
    pthread_mutex_lock(&s->lock);
    n = s->runs.n;
    pthread_mutex_unlock(&s->lock);
  }
  EXPECT_EQ_INT(n, 1);
}

static void *interrupt_the_run(void *sess) {
  await_a_run(sess);
  weft__interrupt_raise();
  return NULL;
}

TEST(an_interrupt_ends_a_dequeue) {
  bench b = begin();
  int stuck = stuck_node(b.g);
  open_session(&b, NULL);
  pthread_t id;
  EXPECT(pthread_create(&id, NULL, interrupt_the_run, b.s) == 0);
  EXPECT_ERR(run_target(b.s, stuck, NULL), WEFT_CANCELLED, "interrupted");
  pthread_join(id, NULL);
  weft__interrupt_clear();
  end(&b);
}

static void *close_during_the_run(void *sess) {
  await_a_run(sess);
  weft__session_close(sess);
  return NULL;
}

TEST(closing_a_session_ends_what_waits_in_it) {
  bench b = begin();
  int stuck = stuck_node(b.g);
  open_session(&b, NULL);
  pthread_t id;
  EXPECT(pthread_create(&id, NULL, close_during_the_run, b.s) == 0);
  EXPECT_ERR(run_target(b.s, stuck, NULL), WEFT_CANCELLED, ""); /* the dequeue, or the run before it came to that */
  pthread_join(id, NULL);
  end(&b);
}

TEST(a_chain_of_elementwise_ops_is_one_item_and_computes_the_same) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE2(-1, 3)), bias = placeholder(b.g, "b", SHAPE1(3));
  weft_out sum = weft__b_add(b.g, weft__b_unary(b.g, "Square", x), bias);
  weft_out y = weft__b_mul(b.g, weft__b_unary(b.g, "Relu", sum), x);
  EXPECT_OK(weft__b_ok(b.g));
  plan *p;
  weft_out feeds[] = {x, bias};
  EXPECT_OK(weft__plan_create(&p, b.g, &(plan_request){.n_feed = 2, .n_fetch = 1, .feed = feeds, .fetch = &y}));
  EXPECT_EQ_INT(p->n_item, 1);
  weft__plan_destroy(p);
  weft_out both[] = {sum, y}; /* a value somebody fetches is written */
  EXPECT_OK(weft__plan_create(&p, b.g, &(plan_request){.n_feed = 2, .n_fetch = 2, .feed = feeds, .fetch = both}));
  EXPECT_EQ_INT(p->n_item, 2);
  weft__plan_destroy(p);
  end(&b);
}

TEST(a_power_is_part_of_a_chain_if_its_exponent_is_known) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE2(-1, 3)), three = weft__b_scalar(b.g, WEFT_FLOAT, 3);
  weft_out y = weft__b_mul(b.g, weft__b_binary(b.g, "Pow", x, three), x);
  EXPECT_OK(weft__b_ok(b.g));
  plan *p;
  weft_out feeds[] = {x, three};
  EXPECT_OK(weft__plan_create(&p, b.g, &(plan_request){.n_feed = 1, .n_fetch = 1, .feed = feeds, .fetch = &y}));
  EXPECT_EQ_INT(p->n_item, 1);
  EXPECT_EQ_INT(p->item[0].n_in, 1);
  weft__plan_destroy(p);
  EXPECT_OK(weft__plan_create(&p, b.g, &(plan_request){.n_feed = 2, .n_fetch = 1, .feed = feeds, .fetch = &y}));
  EXPECT_EQ_INT(p->n_item, 2);
  weft__plan_destroy(p);
  end(&b);
}

TEST(a_cheap_value_that_several_chains_read_is_computed_in_each) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE2(2, 3)), h = weft__b_unary(b.g, "Softmax", x);
  weft_out half = weft__b_mul(b.g, h, weft__b_scalar(b.g, WEFT_FLOAT, 0.5));
  weft_out all[] = {weft__b_unary(b.g, "Tanh", half), weft__b_unary(b.g, "Exp", half), half};
  EXPECT_OK(weft__b_ok(b.g));
  const int items[] = {2, 3, 4}; /* softmax with none of them, then with the chain of one, and of two */
  weft_tensor *in = NULL, *out[3][3] = {{NULL}};
  EXPECT_OK(weft__tensor_create(&in, WEFT_FLOAT, &SHAPE2(2, 3)));
  for (int i = 0; i < 6; i++) TENSOR_DATA(in, float)[i] = (float)i / 3;
  const weft_tensor *fed = in;
  open_session(&b, NULL);
  for (int n = 0; n < 3; n++) {
    plan *p;
    const plan_request r = {.n_feed = 1, .n_fetch = n + 1, .feed = &x, .fetch = all};
    EXPECT_OK(weft__plan_create(&p, b.g, &r));
    EXPECT_EQ_INT(p->n_item, items[n]);
    weft__plan_destroy(p);
    EXPECT_OK(weft__session_run(b.s, &r, &fed, out[n], NULL));
    for (int i = 0; i <= n; i++) EXPECT_EQ_MEM(out[n][i]->data, out[i][i]->data, 6 * sizeof(float));
  }
  for (int n = 0; n < 3; n++)
    for (int i = 0; i <= n; i++) weft_tensor_destroy(out[n][i]);
  weft_tensor_destroy(in);
  end(&b);
}

TEST(a_cycle_is_refused_with_the_names_of_its_nodes) {
  bench b = begin();
  weft_out a = weft__b_node(b.g, "NoOp", "a", 0, NULL, 0, NULL);
  weft_out c = weft__b_add_node(b.g, &(node_spec){.op = "NoOp", .name = "c", .n_control = 1, .control = &a.node});
  EXPECT_OK(weft__graph_add_control(b.g, b.g->node[a.node], c.node));
  open_session(&b, NULL);
  EXPECT_ERR(run_target(b.s, c.node, NULL), WEFT_INVALID_ARGUMENT, "cycle through the nodes");
  end(&b);
}

TEST(a_traced_run_tells_when_each_node_ran) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE1(-1));
  weft_out y = weft__b_sum(b.g, x, weft__b_ints(b.g, (int64_t[]){0}, 1), false);
  open_session(&b, NULL);
  weft_tensor *in = vector(9, 0), *out;
  const weft_tensor *fed = in;
  uint8_t *meta = NULL;
  size_t size = 0;
  run_opts o = {.trace = true, .metadata = &meta, .metadata_size = &size};
  EXPECT_OK(
      weft__session_run(b.s, &(plan_request){.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &y}, &fed, &out, &o));
  EXPECT(size > 20);
  EXPECT(memmem(meta, size, "Sum = Sum(x", 11) != NULL);
  weft__free(meta);
  weft_tensor_destroy(in);
  weft_tensor_destroy(out);
  end(&b);
}

/* The metadata of a run, unpacked; the caller frees it. */
static Tensorflow__RunMetadata *metadata_of(weft_session *s, const plan_request *r, run_opts o) {
  weft_tensor *in = vector(2, 1), *out[3];
  const weft_tensor *fed[] = {in, in};
  uint8_t *meta = NULL;
  size_t size = 0;
  ProtobufCMessage *m;
  o.metadata = &meta;
  o.metadata_size = &size;
  EXPECT_OK(weft__session_run(s, r, fed, out, &o));
  EXPECT_OK(weft__proto_unpack(&m, &tensorflow__run_metadata__descriptor, meta, size));
  for (int i = 0; i < r->n_fetch; i++) weft_tensor_destroy(out[i]);
  weft_tensor_destroy(in);
  weft__free(meta);
  return (Tensorflow__RunMetadata *)m;
}

static void expect_node(const Tensorflow__GraphDef *g, size_t i, const char *name, const char *type,
                        const char *input) {
  EXPECT(i < g->n_node);
  EXPECT_EQ_STR(g->node[i]->name, name);
  EXPECT_EQ_STR(g->node[i]->op, type);
  EXPECT_EQ_INT(g->node[i]->n_input, input ? 1 : 0);
  if (input) EXPECT_EQ_STR(g->node[i]->input[0], input);
}

TEST(partition_graphs_number_feeds_and_fetches_by_name) {
  bench b = begin();
  weft_out a = placeholder(b.g, "a", SHAPE1(2)), c = placeholder(b.g, "a/c", SHAPE1(2));
  weft_out y = weft__b_node(b.g, "Neg", "y", 1, &a, 0, NULL), z = weft__b_node(b.g, "Neg", "z", 1, &c, 0, NULL);
  open_session(&b, NULL);
  plan_request r = {.n_feed = 2, .n_fetch = 3, .feed = (weft_out[]){a, c}, .fetch = (weft_out[]){z, y, z}};
  Tensorflow__RunMetadata *m = metadata_of(b.s, &r, (run_opts){.partition_graphs = true});
  EXPECT(!m->step_stats && !m->cost_graph);
  EXPECT_EQ_INT(m->n_partition_graphs, 1);
  const Tensorflow__GraphDef *g = m->partition_graphs[0];
  EXPECT_EQ_INT(g->n_node, 6);
  size_t at = strcmp(g->node[1]->name, "z") == 0 ? 0 : 2; /* either branch may come first */
  expect_node(g, at, "_arg_a/c_0_0", "_Arg", NULL);       /* "a/c:0" is before "a:0" */
  expect_node(g, at + 1, "z", "Neg", "_arg_a/c_0_0");
  expect_node(g, 2 - at, "_arg_a_0_1", "_Arg", NULL);
  expect_node(g, 3 - at, "y", "Neg", "_arg_a_0_1");
  expect_node(g, 4, "_retval_z_0_1", "_Retval", "z");
  expect_node(g, 5, "_retval_y_0_0", "_Retval", "y");
  protobuf_c_message_free_unpacked(&m->base, NULL);
  end(&b);
}

TEST(a_cost_graph_comes_in_the_runs_that_are_measured) {
  bench b = begin();
  weft_out x = placeholder(b.g, "x", SHAPE1(-1));
  weft_out y = weft__b_node(b.g, "Neg", "y", 1, &x, 0, NULL);
  open_session(&b, &(session_opts){.build_cost_model = 2, .build_cost_model_after = 1});
  plan_request r = {.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &y};
  static const bool measured[] = {false, false, true, false, true};
  for (int i = 0; i < 5; i++) {
    Tensorflow__RunMetadata *m = metadata_of(b.s, &r, (run_opts){0});
    EXPECT(measured[i] == (m->cost_graph != NULL));
    if (m->cost_graph) {
      EXPECT_EQ_INT(m->cost_graph->n_node, 5);
      const Tensorflow__CostGraphNode *n = m->cost_graph->node[3];
      EXPECT_EQ_STR(n->name, "y");
      EXPECT_EQ_INT(n->n_input_info, 1);
      EXPECT_EQ_INT(n->input_info[0]->preceding_node, 2);
      EXPECT_EQ_INT(n->n_output_info, 1);
      EXPECT_EQ_INT(n->output_info[0]->size, 8); /* the shape of this run, which the graph does not know */
    }
    protobuf_c_message_free_unpacked(&m->base, NULL);
  }
  end(&b);
}
