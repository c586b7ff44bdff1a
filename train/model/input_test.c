/* input_test.c - tests input pipelines with queue runners in real threads. */
#include "train/model/input.h"

#include "base/alloc.h"
#include "graph/build.h"
#include "graph/collection.h"
#include "ops/all.h"
#include "tests/check.h"
#include "train/session/coordinator.h"
#include "train/model/nodes.h"
#include "train/session/queue_runner.h"
#include "train/session/run.h"
#include "train/model/variables.h"

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *sess;
  weft_coordinator *c;
} bench;

static bench begin(void) {
  bench b = {0};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  EXPECT_OK(weft__coordinator_create(&b.c, 0, NULL));
  return b;
}

static int start(bench *b) {
  int started;
  variable_list local;
  EXPECT_OK(weft__b_ok(b->g));
  EXPECT_OK(weft__session_create(&b->sess, b->g, NULL));
  EXPECT_OK(weft__variables_read(b->g, "local_variables", &local));
  for (int i = 0; i < local.n; i++) EXPECT_OK(weft__run_target(b->sess, local.item[i].initializer));
  weft__variables_finish(&local);
  EXPECT_OK(weft__queue_runners_start(b->sess, b->c, NULL, &started));
  return started;
}

static void end(bench *b) {
  weft__coordinator_destroy(b->c);
  weft__session_destroy(b->sess);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

static weft_out dequeue(weft_graph *g, weft_out q, weft_dtype type) {
  return weft__b_node(g, "QueueDequeueV2", NULL, 1, &q, 1, &A_TYPES("component_types", &type, 1));
}

static weft_out ints(weft_graph *g, int64_t n) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_INT32, &SHAPE1(n)));
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(t, int32_t)[i] = (int32_t)i;
  return weft__n_const(g, "numbers", t);
}

TEST(files_come_in_order_for_as_many_epochs_as_asked) {
  bench b = begin();
  const char *const files[] = {"a", "b"};
  weft_producer_opts opts = {.num_epochs = 2, .shuffle = WEFT_NO};
  weft_out next = dequeue(b.g, weft__input_string_producer(b.g, WEFT_NONE, 2, files, &opts), WEFT_STRING);
  EXPECT_EQ_INT(start(&b), 2);
  weft_tensor *t;
  for (int i = 0; i < 4; i++) {
    EXPECT_OK(weft__run_fetch(b.sess, next, &t));
    EXPECT_EQ_MEM(TENSOR_DATA(t, str)[0].data, files[i % 2], 1);
    weft_tensor_destroy(t);
  }
  EXPECT_ERR(weft__run_fetch(b.sess, next, &t), WEFT_OUT_OF_RANGE, "is closed and has insufficient elements");
  weft__coordinator_request_stop(b.c, WEFT_OK);
  EXPECT_OK(weft__coordinator_join(b.c, 5, false));
  end(&b);
}

TEST_WITHIN(60, a_batch_has_rows_that_belong_together) {
  bench b = begin();
  weft_out x = ints(b.g, 64), twice = weft__b_add(b.g, x, x), row[2];
  weft__input_slice_producer(b.g, 2, (weft_out[]){x, twice}, row, &(weft_producer_opts){.has_seed = true, .seed = 5});
  weft_batch_opts opts = {.batch_size = 8, .num_threads = 3, .capacity = 50, .min_after_dequeue = 20};
  weft_out batch = weft__input_batch(b.g, 1, 2, row, &opts, true);
  start(&b);
  for (int i = 0; i < 10; i++) {
    weft_tensor *t[2];
    weft_out fetch[] = {batch, weft__b_slot(batch, 1)};
    EXPECT_OK(weft__session_run(b.sess, &(plan_request){.n_fetch = 2, .fetch = fetch}, NULL, t, NULL));
    EXPECT_EQ_INT(weft__tensor_count(t[0]), 8);
    for (int j = 0; j < 8; j++) EXPECT_EQ_INT(TENSOR_DATA(t[1], int32_t)[j], 2 * TENSOR_DATA(t[0], int32_t)[j]);
    weft_tensor_destroy(t[0]), weft_tensor_destroy(t[1]);
  }
  weft__coordinator_request_stop(b.c, WEFT_OK);
  EXPECT_OK(weft__coordinator_join(b.c, 50, false)); /* cancels enqueues that wait for room */
  end(&b);
}

TEST(a_smaller_last_batch_comes_when_it_is_allowed) {
  bench b = begin();
  weft_out q =
      weft__input_range_producer(b.g, WEFT_NONE, 7, &(weft_producer_opts){.num_epochs = 1, .shuffle = WEFT_NO});
  weft_out next = dequeue(b.g, q, WEFT_INT32);
  weft_batch_opts opts = {.batch_size = 5, .allow_smaller_final_batch = true};
  weft_out batch = weft__input_batch(b.g, 1, 1, &next, &opts, false);
  start(&b);
  const int sizes[] = {5, 2};
  weft_tensor *t;
  for (int i = 0; i < 2; i++) {
    EXPECT_OK(weft__run_fetch(b.sess, batch, &t));
    EXPECT_EQ_INT(weft__tensor_count(t), sizes[i]);
    EXPECT_EQ_INT(TENSOR_DATA(t, int32_t)[0], 5 * i);
    weft_tensor_destroy(t);
  }
  EXPECT_ERR(weft__run_fetch(b.sess, batch, &t), WEFT_OUT_OF_RANGE, "closed");
  weft__coordinator_request_stop(b.c, WEFT_OK);
  EXPECT_OK(weft__coordinator_join(b.c, 5, false));
  end(&b);
}

TEST(an_enqueue_that_fails_stops_the_coordinator) {
  bench b = begin();
  weft_out q = weft__input_range_producer(b.g, WEFT_NONE, 7, &(weft_producer_opts){.num_epochs = 1});
  (void)q;
  int started;
  EXPECT_OK(weft__session_create(&b.sess, b.g, NULL)); /* the epoch counter is not initialized */
  EXPECT_OK(weft__queue_runners_start(b.sess, b.c, NULL, &started));
  EXPECT_ERR(weft__coordinator_join(b.c, 5, false), WEFT_FAILED_PRECONDITION, "uninitialized value");
  end(&b);
}

TEST(a_session_goes_before_its_runners_are_stopped) {
  bench b = begin();
  weft_out q = weft__input_range_producer(b.g, WEFT_NONE, 7, &(weft_producer_opts){.num_epochs = 0});
  weft_out next = dequeue(b.g, q, WEFT_INT32);
  weft__input_batch(b.g, 1, 1, &next, &(weft_batch_opts){.batch_size = 2, .num_threads = 3}, false);
  start(&b);
  weft__session_destroy(b.sess); /* programs forget to stop the coordinator */
  b.sess = NULL;
  /* too late: the session is gone, so the queues cannot be closed in it */
  weft__coordinator_request_stop(b.c, WEFT_OK);
  /* the error of the session, or of an enqueue that waited */
  EXPECT_EQ_INT(weft__coordinator_join(b.c, 60, false), WEFT_CANCELLED);
  end(&b);
}

TEST(bad_pipelines_are_refused_with_the_reason) {
  bench b = begin();
  shape unknown = SHAPE1(-1);
  weft_out open = weft__b_node(b.g, "Placeholder", "open", 0, NULL, 2,
                               (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &unknown)});
  weft__input_batch(b.g, 1, 1, &open, &(weft_batch_opts){.batch_size = 2}, false);
  EXPECT_ERR(weft__b_ok(b.g), WEFT_INVALID_ARGUMENT, "All shapes must be fully defined");
  weft__b_clear(b.g);
  weft__input_batch(b.g, 1, 1, &open, &(weft_batch_opts){.batch_size = 2, .capacity = 5, .min_after_dequeue = 5}, true);
  EXPECT_ERR(weft__b_ok(b.g), WEFT_INVALID_ARGUMENT, "must be bigger than min_after_dequeue");
  weft__b_clear(b.g);
  weft__input_limit_epochs(b.g, open, 0, NULL);
  EXPECT_ERR(weft__b_ok(b.g), WEFT_INVALID_ARGUMENT, "num_epochs must be > 0 not 0.");
  weft__b_clear(b.g);
  weft__input_producer(b.g, weft__b_scalar(b.g, WEFT_FLOAT, 1), NULL);
  EXPECT_ERR(weft__b_ok(b.g), WEFT_INVALID_ARGUMENT, "has the shape []");
  end(&b);
}
