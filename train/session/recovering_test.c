/* recovering_test.c - tests a session whose tasks are lost on command: runs wait, are retried, and fail when told to
 * stop. */
#include "train/session/recovering.h"

#include "train/session/test_bench.h"
#include <stdatomic.h>

/* A real session that can be switched off: while it is off, runs fail as if a task were lost. */
typedef struct flaky {
  weft_session base;
  weft_session *real;
  atomic_bool down;
} flaky;

static weft_err flaky_run(weft_session *s, const plan_request *r, const weft_tensor *const *feed, weft_tensor **fetched,
                          const run_opts *opts) {
  flaky *f = (flaky *)s;
  if (atomic_load(&f->down)) return weft__fail(WEFT_UNAVAILABLE, "the ps is gone");
  return weft__session_run(f->real, r, feed, fetched, opts);
}
static weft_err flaky_close(weft_session *s) { return weft__session_close(((flaky *)s)->real); }
static void flaky_destroy(weft_session *s) {
  weft__session_destroy(((flaky *)s)->real);
  weft__free(s);
}
static weft_err flaky_devices(weft_session *s, device_info **out, int *n) {
  return weft__session_devices(((flaky *)s)->real, out, n);
}

typedef struct place {
  bench b;
  flaky *now;
  int opened, to_fail;
  weft_session *sess;
} place;

static weft_err open_flaky(void *arg, weft_session **out) {
  static const session_ops ops = {flaky_run, flaky_close, flaky_destroy, flaky_devices};
  place *p = arg;
  if (p->to_fail > 0 && p->to_fail-- == 1) return weft__fail(WEFT_DEADLINE_EXCEEDED, "nobody came back");
  flaky *f = weft__alloc_zero(1, sizeof *f);
  EXPECT_OK(weft__session_create(&f->real, p->b.g, NULL));
  EXPECT_OK(weft__run_target(f->real, p->b.w_init));
  int init;
  EXPECT_OK(weft__graph_find(p->b.g, "global_step/Assign") ? WEFT_OK : WEFT_NOT_FOUND);
  init = weft__graph_find(p->b.g, "global_step/Assign")->id;
  EXPECT_OK(weft__run_target(f->real, init));
  f->base = (weft_session){&ops, p->b.g};
  p->now = f;
  p->opened++;
  *out = &f->base;
  return WEFT_OK;
}

static place begin(void) { return (place){.b = bench_begin()}; }

static void open_place(place *p) {
  weft_session *first;
  EXPECT_OK(open_flaky(p, &first));
  EXPECT_OK(weft__recovering_create(&p->sess, first, &(recovery){.reopen = open_flaky, .arg = p}));
}

static void end(place *p) {
  weft__session_destroy(p->sess);
  bench_end(&p->b);
}

TEST(a_lost_task_costs_a_wait_and_the_step_is_tried_again) {
  place p = begin();
  open_place(&p);
  bench_train(p.sess, &p.b, 3);
  atomic_store(&p.now->down, true);
  bench_train(p.sess, &p.b, 2); /* on a new session, which started at step 0 */
  EXPECT_EQ_INT(bench_step(p.sess, &p.b), 2);
  EXPECT_EQ_INT(p.opened, 2);
  EXPECT_CONTAINS(bench_log, "An error was raised. This may be due to a preemption in a connected worker or parameter "
                             "server. The current session will be closed and a new session will be created. Error: "
                             "the ps is gone");
  end(&p);
}

TEST(other_errors_are_the_programs_own) {
  place p = begin();
  weft_out bad =
      weft__b_node(p.b.g, "CheckNumerics", NULL, 1, (weft_out[]){weft__b_scalar(p.b.g, WEFT_FLOAT, (double)NAN)}, 1,
                   &A_STR("message", "bad"));
  weft_tensor *t;
  open_place(&p);
  EXPECT_ERR(weft__run_fetch(p.sess, bad, &t), WEFT_INVALID_ARGUMENT, "bad");
  EXPECT_EQ_INT(p.opened, 1);
  end(&p);
}

TEST(a_session_that_cannot_be_replaced_says_why_ever_after) {
  place p = begin();
  open_place(&p);
  p.to_fail = 1;
  atomic_store(&p.now->down, true);
  EXPECT_ERR(weft__run_target(p.sess, p.b.train.node), WEFT_DEADLINE_EXCEEDED, "nobody came back");
  EXPECT_ERR(weft__run_target(p.sess, p.b.train.node), WEFT_DEADLINE_EXCEEDED, "nobody came back");
  end(&p);
}

static weft_err lose_once_more(void *arg, weft_session *sess) {
  place *p = arg;
  (void)sess;
  return p->opened == 2 ? weft__fail(WEFT_UNAVAILABLE, "it is gone again") : WEFT_OK;
}

TEST(a_task_that_is_lost_again_while_the_new_session_is_prepared_costs_another) {
  place p = begin();
  weft_session *first;
  EXPECT_OK(open_flaky(&p, &first));
  EXPECT_OK(weft__recovering_create(&p.sess, first,
                                    &(recovery){.reopen = open_flaky, .reopened = lose_once_more, .arg = &p}));
  atomic_store(&p.now->down, true);
  EXPECT_OK(weft__run_target(p.sess, p.b.train.node));
  EXPECT_EQ_INT(p.opened, 3);
  end(&p);
}

static void *train_many(void *arg) {
  place *p = arg;
  for (int i = 0; i < 200; i++) EXPECT_OK(weft__run_target(p->sess, p->b.train.node));
  return NULL;
}

TEST_WITHIN(20, threads_that_share_a_session_all_come_through_its_losses) {
  place p = begin();
  pthread_t thread[4];
  open_place(&p);
  for (int i = 0; i < 4; i++) EXPECT(pthread_create(&thread[i], NULL, train_many, &p) == 0);
  for (int i = 0; i < 5; i++) {
    usleep(2000);
    weft__run_target(p.sess, p.b.train.node);
    atomic_store(&p.now->down, true);
    weft__run_target(p.sess, p.b.train.node); /* waits for the replacement */
  }
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  EXPECT(p.opened >= 2 && p.opened <= 6);
  end(&p);
}

static bool yes(void *arg, weft_session *sess) {
  (void)arg, (void)sess;
  return true;
}

TEST(a_variable_that_lost_its_value_counts_when_the_model_says_so) {
  place p = begin();
  variable_nodes nodes;
  variable_spec spec = {.name = "late", .has_shape = true, .shape = SHAPE_SCALAR, .dtype = WEFT_FLOAT};
  EXPECT_OK(weft__variable_get(p.b.g, &spec, &nodes));
  weft_session *first;
  weft_tensor *t;
  EXPECT_OK(open_flaky(&p, &first));
  p.to_fail = 3;
  EXPECT_OK(weft__recovering_create(&p.sess, first, &(recovery){.reopen = open_flaky, .state_lost = yes, .arg = &p}));
  EXPECT_ERR(weft__run_fetch(p.sess, nodes.read, &t), WEFT_DEADLINE_EXCEEDED, "nobody came back");
  EXPECT_EQ_INT(p.opened, 3); /* retried as long as a task could be found */
  end(&p);
}
