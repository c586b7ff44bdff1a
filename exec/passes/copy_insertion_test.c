/* copy_insertion_test.c - plans over several devices, on simulated cards.
 *
 * Simulated cards reveal two faults of a plan.  Host code that reads or writes a card's memory crashes, because only
 * the card's own work can access it.  And a copy arrives late, so a reader that does not wait for it gets old bytes. */
#include "exec/session.h"
#include "exec/passes/copy_insertion.h"

#include "base/log.h"
#include "graph/build.h"
#include "ops/all.h"
#include "kernels/gpu/gpu_host.h"
#include "tests/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU0 "/device:GPU:0"
#define GPU1 "/device:GPU:1"
#define CPU0 "/device:CPU:0"

typedef struct rig {
  const op_table *ops;
  weft_graph *g;
  weft_session *s;
} rig;

static rig begin(void) {
  rig r = {0};
  setenv("WEFT_CUDA_PLUGIN", "simulated", 1);
  setenv("WEFT_VIRTUAL_GPUS", "2", 1);
  EXPECT_OK(weft__ops_table(&r.ops));
  EXPECT_OK(weft__graph_create(&r.g, r.ops));
  return r;
}

static void open_session(rig *r, bool soft) {
  EXPECT_OK(weft__session_create(&r->s, r->g, &(session_opts){.allow_soft_placement = soft}));
}

static void end(rig *r) {
  weft__session_destroy(r->s);
  weft__graph_destroy(r->g);
}

static weft_out at(rig *r, const char *where, const char *op_name, const char *name, int n_in, const weft_out *in,
                   int n_attr, const attr *attrs) {
  weft_node *n = NULL;
  node_spec spec = {.op = op_name,
                    .name = name,
                    .device = where,
                    .exact = true,
                    .n_in = n_in,
                    .in = in,
                    .n_attr = n_attr,
                    .attr = attrs};
  EXPECT_OK(weft__graph_add(r->g, &spec, &n));
  return (weft_out){n->id, 0};
}

static weft_out binary(rig *r, const char *where, const char *op_name, const char *name, weft_out x, weft_out y) {
  return at(r, where, op_name, name, 2, (weft_out[]){x, y}, 0, NULL);
}

static weft_out input(rig *r, const char *name) {
  shape any = {.rank = -1};
  return at(r, "", "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &any)});
}

static weft_out variable_at(rig *r, const char *where, const char *name, double initial, int *init) {
  shape s = SHAPE_SCALAR;
  weft_out v =
      at(r, where, "VariableV2", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
  *init = weft__b_binary(r->g, "Assign", v, weft__b_scalar(r->g, WEFT_FLOAT, initial)).node;
  return v;
}

static float run(rig *r, int n_feed, const weft_out *feed, const float *fed, weft_out fetch) {
  weft_tensor *t[4] = {0}, *out = NULL;
  for (int i = 0; i < n_feed; i++) EXPECT_OK(weft__tensor_scalar(&t[i], WEFT_FLOAT, (double)fed[i]));
  plan_request q = {.n_feed = n_feed, .n_fetch = 1, .feed = feed, .fetch = &fetch};
  EXPECT_OK(weft__session_run(r->s, &q, (const weft_tensor *const *)t, &out, NULL));
  EXPECT(out->buf->memory == NULL);
  float got = TENSOR_DATA(out, float)[0];
  for (int i = 0; i < n_feed; i++) weft_tensor_destroy(t[i]);
  weft_tensor_destroy(out);
  return got;
}

static weft_err run_target(rig *r, int target) {
  return weft__session_run(r->s, &(plan_request){.n_target = 1, .target = &target}, NULL, NULL, NULL);
}

TEST(a_session_lists_the_parts_of_a_card_after_the_cpu) {
  rig r = begin();
  device_info *info;
  int n;
  open_session(&r, false);
  EXPECT_OK(weft__session_devices(r.s, &info, &n));
  EXPECT_EQ_INT(n, 3);
  EXPECT_EQ_STR(info[1].name, "/job:localhost/replica:0/task:0/device:GPU:0");
  EXPECT_EQ_STR(info[2].name, "/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ_STR(info[2].description, "device: 0, name: Simulated GPU, pci bus id: 0000:00:00.0");
  weft__place_infos_free(info, n);
  end(&r);
}

TEST(values_travel_between_the_host_and_two_gpus) {
  rig r = begin();
  weft_out x = input(&r, "x"), two = weft__b_scalar(r.g, WEFT_FLOAT, 2);
  weft_out a = binary(&r, GPU0, "Mul", "a", x, two), b = binary(&r, GPU1, "AddV2", "b", a, x);
  weft_out c = binary(&r, CPU0, "Sub", "c", b, a), d = binary(&r, GPU0, "Mul", "d", c, b);
  open_session(&r, false);
  for (int i = 1; i < 6; i++) { /* learning a layout, and using it */
    float fed = (float)i;
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, d), i * 3 * i);
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, b), 3 * i);
  }
  end(&r);
}

TEST(a_variable_on_a_gpu_is_initialized_updated_and_read) {
  rig r = begin();
  int init;
  weft_out v = variable_at(&r, GPU1, "v", 5, &init), x = input(&r, "x");
  weft_out more = weft__b_binary(r.g, "AssignAdd", v, x), read = weft__b_identity(r.g, v);
  weft_out sum = binary(&r, CPU0, "AddV2", "sum", read, x);
  float fed = 2;
  open_session(&r, false);
  EXPECT_OK(run_target(&r, init));
  for (int i = 1; i < 5; i++) {
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, more), 5 + 2 * i);
    EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, v), 5 + 2 * i);
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, sum), 7 + 2 * i);
  }
  end(&r);
}

TEST(a_variable_that_shares_its_first_value_is_copied_before_it_is_updated) {
  rig r = begin();
  int init, once;
  weft_out v = variable_at(&r, GPU0, "v", 5, &init), first = weft__b_identity(r.g, v);
  weft_out other = variable_at(&r, GPU0, "other", 0, &once), x = input(&r, "x");
  const int share = weft__b_binary(r.g, "Assign", other, first).node; /* both have one buffer now */
  weft_out more = weft__b_binary(r.g, "AssignAdd", v, x);
  float fed = 2;
  open_session(&r, false);
  EXPECT_OK(run_target(&r, init));
  EXPECT_OK(run_target(&r, share));
  EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, more), 7);
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, v), 7);
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, other), 5);
  end(&r);
}

TEST(a_node_without_a_gpu_kernel_is_refused_or_softly_placed_elsewhere) {
  rig r = begin();
  weft_tensor *t = NULL, *out = NULL;
  EXPECT_OK(weft__tensor_string(&t, "17", 2));
  weft_out text = weft__b_const_adopt(r.g, t);
  weft_out n = at(&r, GPU0, "StringToNumber", "n", 1, &text, 0, NULL);
  plan_request q = {.n_fetch = 1, .fetch = &n};
  open_session(&r, false);
  EXPECT_ERR(weft__session_run(r.s, &q, NULL, &out, NULL), WEFT_INVALID_ARGUMENT,
             "no supported kernel for GPU devices is available");
  weft__session_destroy(r.s);
  open_session(&r, true);
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, n), 17);
  end(&r);
}

TEST(a_value_on_its_way_to_the_host_is_not_written_over) {
  rig r = begin();
  weft_out x = input(&r, "x"), two = weft__b_scalar(r.g, WEFT_FLOAT, 2), a = binary(&r, GPU0, "Mul", "a", x, two);
  weft_out down = binary(&r, CPU0, "AddV2", "down", a, x); /* reads a, which b could take over */
  weft_out b = binary(&r, GPU0, "Mul", "b", a, two), c = binary(&r, GPU0, "Mul", "c", b, two);
  weft_out up = binary(&r, GPU0, "AddV2", "up", down, c), sum = binary(&r, CPU0, "AddV2", "sum", up, b);
  open_session(&r, false);
  for (int i = 1; i < 6; i++) {
    float fed = (float)i;
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, sum), (3 + 8 + 4) * i);
  }
  end(&r);
}

TEST(values_on_two_cards_are_added_where_they_are) {
  setenv("WEFT_SIMULATED_CARDS", "2", 1);
  rig r = begin();
  setenv("WEFT_VIRTUAL_GPUS", "1", 1);
  weft_out x = input(&r, "x"), two = weft__b_scalar(r.g, WEFT_FLOAT, 2);
  weft_out part[] = {binary(&r, GPU0, "Mul", "a", x, two), binary(&r, GPU1, "AddV2", "b", x, two)};
  weft_out sum = at(&r, GPU1, "AddN", "sum", 2, part, 0, NULL);
  weft_out more = binary(&r, GPU0, "Mul", "more", sum, part[0]);
  open_session(&r, false);
  for (int i = 1; i < 5; i++) {
    float fed = (float)i;
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, more), (3 * i + 2) * 2 * i);
  }
  end(&r);
}

static char said[4096];
static void listen(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg, (void)file, (void)line;
  if (level >= LOG_WARNING) snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", message);
}

static void expect_no_gpu(const char *trouble, const char *words) {
  setenv("WEFT_SIMULATED_TROUBLE", trouble, 1);
  weft__log_set_callback(listen, NULL);
  rig r = begin();
  device_info *info;
  int n;
  open_session(&r, false);
  EXPECT_OK(weft__session_devices(r.s, &info, &n));
  EXPECT_EQ_INT(n, 1);
  EXPECT_CONTAINS(said, words);
  weft__place_infos_free(info, n);
  end(&r);
}

TEST(a_driver_that_is_too_old_leaves_the_cpu_and_a_warning) {
  expect_no_gpu("driver", "No GPU is used: the driver is too old for this build");
}

TEST(a_card_for_which_there_is_no_code_is_left_alone_with_a_warning) {
  expect_no_gpu("code",
                "GPU 0 (Simulated GPU) is not used: this build has no machine code for the card's architecture");
}

TEST(an_error_of_a_kernel_has_its_nodes_name_and_the_card_stays_lost) {
  setenv("WEFT_SIMULATED_TROUBLE", "lost:2", 1);
  rig r = begin();
  weft_out x = input(&r, "x"), good = binary(&r, GPU0, "Mul", "good", x, x);
  weft_out bad = binary(&r, GPU0, "AddV2", "bad", good, x), next = binary(&r, GPU0, "Mul", "next", bad, x);
  weft_tensor *t, *out = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 1));
  plan_request q = {.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &next};
  open_session(&r, false);
  EXPECT_ERR(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, &out, NULL), WEFT_INTERNAL,
             "AddV2 {{node bad}}: running on the GPU: an illegal memory access was encountered: the GPU is lost");
  EXPECT_ERR(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, &out, NULL), WEFT_INTERNAL, "the GPU is lost");
  weft_tensor_destroy(t);
  end(&r);
}

/* The card is lost in the second run of a request, which fetches nothing.  If that is the first run that ends while its
 * kernels may run, the error is the next run's. */
static void lose_later(const char *words, bool next) {
  setenv("WEFT_SIMULATED_TROUBLE", "lost:6", 1);
  rig r = begin();
  weft_out x = input(&r, "x"), first = binary(&r, GPU0, "Mul", "first", x, x);
  weft_out last = binary(&r, GPU0, "AddV2", "last", first, x);
  weft_tensor *t;
  float fed = 3;
  open_session(&r, false);
  EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, last), 12);
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 1));
  plan_request q = {.n_feed = 1, .n_target = 1, .feed = &x, .target = &last.node};
  EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, NULL, NULL)); /* the first run of this request */
  if (next) EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, NULL, NULL));
  EXPECT_ERR(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, NULL, NULL), WEFT_INTERNAL, words);
  weft_tensor_destroy(t);
  end(&r);
}

TEST(a_later_error_says_among_whose_kernels_it_is) { lose_later("{{node x}} to {{node last}}", false); }

TEST(an_error_has_its_nodes_name_while_runs_are_careful) {
  setenv("WEFT_GPU_CAREFUL", "2", 1);
  lose_later("AddV2 {{node last}}: running on the GPU", false);
}

TEST(runs_are_careful_as_often_as_was_asked_for) {
  setenv("WEFT_GPU_CAREFUL", "1", 1);
  lose_later("the GPU is lost to this process", true);
}

/* Runs that fetch nothing end early and take turns with two frames.  The last run's fetch sees all of them. */
TEST(a_feed_may_be_written_as_soon_as_its_run_ends) {
  rig r = begin();
  int init;
  weft_out v = variable_at(&r, GPU0, "v", 0, &init), x = input(&r, "x");
  weft_out add = binary(&r, GPU0, "AssignAdd", "add", v, binary(&r, GPU0, "Mul", "square", x, x));
  weft_out read = at(&r, GPU0, "Identity", "read", 1, &v, 0, NULL);
  open_session(&r, false);
  EXPECT_OK(weft__session_run(r.s, &(plan_request){.n_target = 1, .target = &init}, NULL, NULL, NULL));
  plan_request q = {.n_feed = 1, .n_target = 1, .feed = &x, .target = &add.node};
  weft_tensor *t;
  float sum = 0;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 0));
  for (int i = 1; i <= 20; i++) {
    *(float *)t->data = (float)i;
    EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, NULL, NULL));
    *(float *)t->data = -1000;
    sum += (float)(i * i);
  }
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, read), (int)sum);
  weft_tensor_destroy(t);
  end(&r);
}

/* v -= 2 x and v += 3 x, by a handle, are one kernel each. */
TEST(an_update_by_a_handle_takes_what_computes_its_change) {
  rig r = begin();
  shape s = SHAPE_SCALAR;
  const attr type = A_TYPE("dtype", WEFT_FLOAT);
  const weft_out v = at(&r, GPU0, "VarHandleOp", "v", 0, NULL, 2, (attr[]){type, A_SHAPE("shape", &s)});
  const weft_out x = input(&r, "x"), two = weft__b_scalar(r.g, WEFT_FLOAT, 2),
                 three = weft__b_scalar(r.g, WEFT_FLOAT, 3);
  const int init = at(&r, GPU0, "AssignVariableOp", "init", 2, (weft_out[]){v, two}, 1, &type).node;
  const weft_out down = binary(&r, GPU0, "Mul", "twice", x, two), up = binary(&r, GPU0, "Mul", "thrice", x, three);
  const int less = at(&r, GPU0, "AssignSubVariableOp", "less", 2, (weft_out[]){v, down}, 1, &type).node;
  const int more = at(&r, GPU0, "AssignAddVariableOp", "more", 2, (weft_out[]){v, up}, 1, &type).node;
  const weft_out read = at(&r, GPU0, "ReadVariableOp", "read", 1, &v, 1, &type);
  open_session(&r, false);
  EXPECT_OK(run_target(&r, init));
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 5));
  for (int i = 0; i < 4; i++) {
    const plan_request q = {.n_feed = 1, .n_target = 1, .feed = &x, .target = i % 2 ? &more : &less};
    EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, NULL, NULL));
  }
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, read), 2 - 10 + 15 - 10 + 15);
  weft_tensor_destroy(t);
  end(&r);
}

/* What only passes through a GPU: the copy back comes behind the copy there. */
TEST(a_feed_that_a_gpu_hands_on_comes_back) {
  rig r = begin();
  const weft_out x = input(&r, "x"), same = at(&r, GPU0, "Identity", "same", 1, &x, 0, NULL);
  const weft_out twice = binary(&r, CPU0, "AddV2", "twice", same, same);
  open_session(&r, false);
  const float fed = 3;
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, same), 3);
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, twice), 6);
  }
  end(&r);
}

/* Small feeds are copied together, and a large one by itself. */
TEST(feeds_that_are_copied_together_arrive) {
  rig r = begin();
  enum { N = 12 };
  const weft_out axis = weft__b_scalar(r.g, WEFT_INT32, 0);
  weft_out x[N], sum = {0};
  weft_tensor *fed[N], *out;
  for (int i = 0; i < N; i++) {
    char name[16], total[16], added[16];
    snprintf(name, sizeof name, "x%d", i), snprintf(total, sizeof total, "total%d", i);
    snprintf(added, sizeof added, "sum%d", i);
    x[i] = input(&r, name);
    const int n = i == 5 ? 5000 : i == 7 ? 0 : i + 1; /* 20,000 bytes are not small */
    EXPECT_OK(weft__tensor_create(&fed[i], WEFT_FLOAT, &(shape){.rank = 1, .dim = {n}}));
    const weft_out part = at(&r, GPU0, "Sum", total, 2, (weft_out[]){x[i], axis}, 0, NULL);
    sum = i ? binary(&r, GPU0, "AddV2", added, sum, part) : part;
  }
  open_session(&r, false);
  const plan_request q = {.n_feed = N, .n_fetch = 1, .feed = x, .fetch = &sum};
  for (int turn = 1; turn <= 4; turn++) { /* from the second on there is an arena */
    float want = 0;
    for (int i = 0; i < N; i++)
      for (int64_t j = 0; j < weft__tensor_count(fed[i]); j++)
        want += TENSOR_DATA(fed[i], float)[j] = (float)(turn + i);
    EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)fed, &out, NULL));
    EXPECT_EQ_INT((int)TENSOR_DATA(out, float)[0], (int)want);
    weft_tensor_destroy(out);
  }
  for (int i = 0; i < N; i++) weft_tensor_destroy(fed[i]);
  end(&r);
}

/* As before, with a feed in pinned memory, which the card reads directly: a value that was fetched from the card. */
TEST(a_fetched_value_may_be_fed_and_written_again) {
  rig r = begin();
  enum { N = 50000 };
  int init;
  weft_out v = variable_at(&r, GPU0, "v", 0, &init), x = input(&r, "x"), big = input(&r, "big");
  const weft_out axis = weft__b_scalar(r.g, WEFT_INT32, 0), twice = binary(&r, GPU0, "AddV2", "twice", big, big);
  weft_out total = at(&r, GPU0, "Sum", "total", 2, (weft_out[]){x, axis}, 0, NULL);
  weft_out add = binary(&r, GPU0, "AssignAdd", "add", v, total),
           read = at(&r, GPU0, "Identity", "read", 1, &v, 0, NULL);
  open_session(&r, false);
  EXPECT_OK(weft__session_run(r.s, &(plan_request){.n_target = 1, .target = &init}, NULL, NULL, NULL));
  weft_tensor *given, *fetched;
  EXPECT_OK(weft__tensor_create(&given, WEFT_FLOAT, &(shape){.rank = 1, .dim = {N}}));
  for (int i = 0; i < N; i++) ((float *)given->data)[i] = 0.5f;
  plan_request fetch = {.n_feed = 1, .n_fetch = 1, .feed = &big, .fetch = &twice};
  EXPECT_OK(weft__session_run(r.s, &fetch, (const weft_tensor *const *)&given, &fetched, NULL));
  plan_request q = {.n_feed = 1, .n_target = 1, .feed = &x, .target = &add.node};
  for (int turn = 1; turn <= 4; turn++) {
    for (int i = 0; i < N; i++) ((float *)fetched->data)[i] = (float)turn;
    EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&fetched, NULL, NULL));
  }
  EXPECT_EQ_INT((int)run(&r, 0, NULL, NULL, read), 10 * N);
  weft_tensor_destroy(given);
  weft_tensor_destroy(fetched);
  end(&r);
}

TEST(a_card_without_memory_left_is_an_error_that_says_so) {
  rig r = begin();
  weft_out dims = weft__b_ints(r.g, (int64_t[]){1 << 15, 1 << 14}, 2), x = input(&r, "x");
  weft_out big = at(&r, GPU0, "Fill", "big", 2, (weft_out[]){dims, x}, 0, NULL);
  weft_out sum = binary(&r, GPU0, "AddV2", "sum", big, x);
  weft_tensor *t, *out = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 1));
  plan_request q = {.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &sum};
  open_session(&r, false);
  EXPECT_ERR(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, &out, NULL), WEFT_RESOURCE_EXHAUSTED,
             "OOM when allocating tensor");
  weft_tensor_destroy(t);
  end(&r);
}

TEST(an_op_with_more_arguments_than_can_be_marked_is_the_hosts) {
  rig r = begin();
  enum { MANY = 70 };
  weft_out dims = weft__b_ints(r.g, (int64_t[]){3, 2}, 2), x = input(&r, "x"), in[MANY];
  for (int i = 0; i < MANY; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    in[i] = at(&r, GPU0, "Fill", name, 2, (weft_out[]){dims, x}, 0, NULL);
  }
  weft_out shapes = at(&r, GPU0, "ShapeN", "shapes", MANY, in, 0, NULL), last = weft__b_slot(shapes, MANY - 1);
  weft_tensor *t, *out = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, 1));
  plan_request q = {.n_feed = 1, .n_fetch = 1, .feed = &x, .fetch = &last};
  open_session(&r, true);
  EXPECT_OK(weft__session_run(r.s, &q, (const weft_tensor *const *)&t, &out, NULL));
  EXPECT_EQ_INT(TENSOR_DATA(out, int32_t)[0], 3);
  EXPECT_EQ_INT(TENSOR_DATA(out, int32_t)[1], 2);
  weft_tensor_destroy(out);
  weft_tensor_destroy(t);
  end(&r);
}

/* A tensor array on a GPU: its flow, and how to write to it and read from it there. */
typedef struct array {
  weft_out handle, flow;
} array;

static void array_write(rig *r, array *a, const char *name, int64_t i, weft_out v) {
  weft_out in[] = {a->handle, weft__b_scalar(r->g, WEFT_INT32, (double)i), v, a->flow};
  a->flow = at(r, GPU0, "TensorArrayWriteV3", name, 4, in, 0, NULL);
}

static weft_out array_read(rig *r, const array *a, const char *name, int64_t i) {
  weft_out in[] = {a->handle, weft__b_scalar(r->g, WEFT_INT32, (double)i), a->flow};
  return at(r, GPU0, "TensorArrayReadV3", name, 3, in, 1, (attr[]){A_TYPE("dtype", WEFT_FLOAT)});
}

TEST(a_tensor_array_and_its_gradient_keep_values_on_the_gpu) {
  rig r = begin();
  weft_out x = input(&r, "x"), y = binary(&r, GPU0, "Mul", "y", x, x), two = weft__b_scalar(r.g, WEFT_INT32, 2);
  array a = {.handle = at(&r, GPU0, "TensorArrayV3", "a", 1, &two, 1, (attr[]){A_TYPE("dtype", WEFT_FLOAT)})};
  a.flow = weft__b_slot(a.handle, 1);
  array_write(&r, &a, "a0", 0, x);
  array_write(&r, &a, "a1", 1, y);
  weft_out all_in[] = {a.handle, weft__b_ints(r.g, (int64_t[]){0, 1}, 2), a.flow};
  weft_out all = at(&r, GPU0, "TensorArrayGatherV3", "all", 3, all_in, 1, (attr[]){A_TYPE("dtype", WEFT_FLOAT)});
  weft_out sum = binary(&r, GPU0, "Sum", "sum", all, weft__b_ints(r.g, (int64_t[]){0}, 1));
  array d = {.handle = at(&r, GPU0, "TensorArrayGradV3", "d", 2, (weft_out[]){a.handle, a.flow}, 1,
                          (attr[]){A_STR("source", "gradients")})};
  d.flow = weft__b_slot(d.handle, 1);
  array_write(&r, &d, "d0", 0, sum);
  array_write(&r, &d, "again", 0, y);
  weft_out twice = array_read(&r, &d, "twice", 0), none = array_read(&r, &d, "none", 1);
  weft_out got = binary(&r, GPU0, "AddV2", "got", twice, none);
  open_session(&r, false);
  for (int i = 1; i < 6; i++) {
    float fed = (float)i;
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, got), i + 2 * i * i);
  }
  end(&r);
}

TEST(a_stack_keeps_values_on_the_gpu) {
  rig r = begin();
  weft_out x = input(&r, "x"), y = binary(&r, GPU0, "Mul", "y", x, x), most = weft__b_scalar(r.g, WEFT_INT32, 4);
  weft_out stack = at(&r, GPU0, "StackV2", "s", 1, &most, 1, (attr[]){A_TYPE("elem_type", WEFT_FLOAT)});
  weft_out pushed = binary(&r, GPU0, "StackPushV2", "push", stack, y);
  node_spec pop = {.op = "StackPopV2",
                   .name = "pop",
                   .device = GPU0,
                   .exact = true,
                   .n_in = 1,
                   .in = &stack,
                   .n_control = 1,
                   .control = &pushed.node,
                   .n_attr = 1,
                   .attr = (attr[]){A_TYPE("elem_type", WEFT_FLOAT)}};
  weft_node *popped = NULL;
  EXPECT_OK(weft__graph_add(r.g, &pop, &popped));
  weft_out got = binary(&r, GPU0, "AddV2", "got", (weft_out){popped->id, 0}, x);
  open_session(&r, false);
  for (int i = 1; i < 6; i++) {
    float fed = (float)i;
    EXPECT_EQ_INT((int)run(&r, 1, &x, &fed, got), i + i * i);
  }
  end(&r);
}

TEST(counters_are_computed_and_stacked_in_host_memory) {
  rig r = begin();
  weft_out one = weft__b_scalar(r.g, WEFT_INT32, 1), half = weft__b_scalar(r.g, WEFT_FLOAT, 0.5);
  weft_out next = binary(&r, GPU0, "AddV2", "next", one, one), less = binary(&r, GPU0, "Less", "less", next, one);
  weft_out sum = binary(&r, GPU0, "AddV2", "sum", half, half);
  EXPECT_EQ_STR(weft__gpu_kernel(weft__node(r.g, next.node)).host, "*");
  EXPECT_EQ_STR(weft__gpu_kernel(weft__node(r.g, less.node)).host, "*");
  EXPECT(weft__gpu_kernel(weft__node(r.g, sum.node)).host == NULL);
  weft_out most = weft__b_scalar(r.g, WEFT_INT32, 4);
  weft_out stack = at(&r, GPU0, "StackV2", "s", 1, &most, 1, (attr[]){A_TYPE("elem_type", WEFT_INT32)});
  static const weft_dtype types[] = {WEFT_INT32, WEFT_BOOL, WEFT_FLOAT};
  for (int i = 0; i < 3; i++) {
    char name[16];
    snprintf(name, sizeof name, "pop%d", i);
    weft_out pop = at(&r, GPU0, "StackPopV2", name, 1, &stack, 1, (attr[]){A_TYPE("elem_type", types[i])});
    const weft_node *n = weft__node(r.g, pop.node);
    gpu_kernel g = weft__gpu_kernel(n);
    EXPECT_EQ_STR(g.op, "StackPopV2");
    EXPECT_EQ_INT(weft__gpu_host_out(&g, n, 0), types[i] != WEFT_FLOAT);
  }
  end(&r);
}
