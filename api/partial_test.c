/* partial_test.c - tests partial runs and callables: in this process, on a server of this process, and over the
 * network. */
#include "weft/weft.h"

#include "tests/check.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct program { /* v += count runs before r1 = a + b; r2 = r1 * c; other = a + a */
  weft_graph *g;
  weft_out a, b, c, v, count, r1, r2, other, init;
} program;

static weft_out make(weft_graph *g, const char *op, const char *name, weft_out x, weft_out y, weft_out after) {
  weft_builder *b = weft_node_begin(g, op, name);
  weft_builder_input(b, x);
  if (y.node >= 0) weft_builder_input(b, y);
  if (after.node >= 0) weft_builder_control(b, after);
  return weft_builder_finish(b);
}

static program program_create(void) {
  program p;
  EXPECT_OK(weft_graph_create(&p.g));
  p.a = weft_input(p.g, "a", WEFT_FLOAT, 0, NULL);
  p.b = weft_input(p.g, "b", WEFT_FLOAT, 0, NULL);
  p.c = weft_input(p.g, "c", WEFT_FLOAT, 0, NULL);
  p.v = weft_variable(p.g, "v", weft_scalar(p.g, WEFT_FLOAT, 0), true);
  p.init = weft_initializer(p.g);
  p.count = make(p.g, "AssignAdd", "count", p.v, weft_scalar(p.g, WEFT_FLOAT, 1), WEFT_NONE);
  p.r1 = make(p.g, "AddV2", "r1", p.a, p.b, p.count);
  p.r2 = make(p.g, "Mul", "r2", p.r1, p.c, WEFT_NONE);
  p.other = make(p.g, "AddV2", "other", p.a, p.a, WEFT_NONE);
  return p;
}

static weft_feed feed(weft_out to, float value) {
  weft_tensor *t;
  EXPECT_OK(weft_tensor_create(&t, WEFT_FLOAT, 0, NULL, &value));
  return (weft_feed){to, t};
}

static void drop(int n, const weft_feed *f) {
  for (int i = 0; i < n; i++) weft_tensor_destroy((weft_tensor *)(uintptr_t)f[i].value);
}

/* Feeds n values and fetches one output. */
static weft_err step(weft_partial_run *run, int n, const weft_feed *f, weft_out o, float *out) {
  weft_tensor *t = NULL;
  weft_err err = weft_session_partial_run(
      run, &(weft_request){.n_feed = n, .feeds = f, .n_fetch = 1, .fetches = &o, .fetched = &t});
  if (!err) *out = *(float *)weft_tensor_data(t);
  weft_tensor_destroy(t);
  drop(n, f);
  return err;
}

static float value_of(weft_session *s, weft_out o) {
  weft_tensor *t;
  EXPECT_OK(weft_session_fetch(&t, s, o));
  float x = *(float *)weft_tensor_data(t);
  weft_tensor_destroy(t);
  return x;
}

static weft_partial_run *setup(weft_session *s, const program *p) {
  weft_partial_run *run;
  const weft_request all = {.n_feed = 3,
                            .feeds = (weft_feed[]){{.to = p->a}, {.to = p->b}, {.to = p->c}},
                            .n_fetch = 2,
                            .fetches = (weft_out[]){p->r1, p->r2}};
  EXPECT_OK(weft_session_partial_setup(&run, s, &all));
  return run;
}

/* ---- checks for every kind of session ---- */

static void each_node_runs_once(weft_session *s, const program *p) {
  float x = 0;
  weft_partial_run *run = setup(s, p);
  EXPECT_OK(step(run, 2, (weft_feed[]){feed(p->a, 1), feed(p->b, 2)}, p->r1, &x));
  EXPECT_NEAR(x, 3, 0);
  EXPECT(!weft_session_partial_over(run));
  EXPECT_OK(step(run, 1, (weft_feed[]){feed(p->c, 17)}, p->r2, &x));
  EXPECT_NEAR(x, 51, 0);
  EXPECT(weft_session_partial_over(run));
  EXPECT_NEAR(value_of(s, p->v), 1, 0);
  EXPECT_ERR(step(run, 0, NULL, p->r2, &x), WEFT_INVALID_ARGUMENT, "before performing partial runs");
  weft_session_partial_destroy(run);
}

static void a_wrong_call_changes_nothing(weft_session *s, const program *p) {
  float x = 0;
  weft_partial_run *run = setup(s, p);
  EXPECT_ERR(step(run, 1, (weft_feed[]){feed(p->a, 1)}, p->r1, &x), WEFT_INVALID_ARGUMENT,
             "Fetch b:0 can't be computed from the feeds that have been fed so far.");
  EXPECT_ERR(step(run, 1, (weft_feed[]){feed(p->v, 1)}, p->r1, &x), WEFT_INVALID_ARGUMENT,
             "The feed v:0 was not specified in partial_run_setup.");
  EXPECT_ERR(step(run, 0, NULL, p->other, &x), WEFT_INVALID_ARGUMENT,
             "The fetch other:0 was not specified in partial_run_setup.");
  EXPECT_OK(step(run, 2, (weft_feed[]){feed(p->a, 1), feed(p->b, 2)}, p->r1, &x));
  EXPECT_ERR(step(run, 1, (weft_feed[]){feed(p->a, 1)}, p->r2, &x), WEFT_INVALID_ARGUMENT,
             "The feed a:0 has already been fed.");
  EXPECT_ERR(step(run, 1, (weft_feed[]){feed(p->c, 1)}, p->r1, &x), WEFT_INVALID_ARGUMENT,
             "The fetch r1:0 has already been fetched.");
  EXPECT_OK(step(run, 1, (weft_feed[]){feed(p->c, 2)}, p->r2, &x));
  EXPECT_NEAR(x, 6, 0);
  weft_session_partial_destroy(run);
}

static void a_wrong_setup_is_refused(weft_session *s, const program *p) {
  weft_partial_run *run;
  weft_request wrong = {
      .n_feed = 2, .feeds = (weft_feed[]){{.to = p->a}, {.to = p->a}}, .n_fetch = 1, .fetches = &p->r1};
  EXPECT_ERR(weft_session_partial_setup(&run, s, &wrong), WEFT_INVALID_ARGUMENT,
             "Endpoint \"a:0\" fed more than once.");
  wrong.n_feed = 1, wrong.fetches = &p->a;
  EXPECT_ERR(weft_session_partial_setup(&run, s, &wrong), WEFT_INVALID_ARGUMENT, "a:0 is both fed and fetched.");
  wrong.n_fetch = 0;
  EXPECT_ERR(weft_session_partial_setup(&run, s, &wrong), WEFT_INVALID_ARGUMENT,
             "Must specify at least one target to fetch or execute.");
}

static void two_runs_at_a_time_and_one_left_behind(weft_session *s, const program *p) {
  float x = 0;
  weft_partial_run *one = setup(s, p), *two = setup(s, p), *left = setup(s, p);
  EXPECT_OK(step(one, 2, (weft_feed[]){feed(p->a, 1), feed(p->b, 2)}, p->r1, &x));
  EXPECT_OK(step(two, 2, (weft_feed[]){feed(p->a, 10), feed(p->b, 20)}, p->r1, &x));
  EXPECT_OK(step(one, 1, (weft_feed[]){feed(p->c, 2)}, p->r2, &x));
  EXPECT_NEAR(x, 6, 0);
  EXPECT_OK(step(two, 1, (weft_feed[]){feed(p->c, 2)}, p->r2, &x));
  EXPECT_NEAR(x, 60, 0);
  weft_session_partial_destroy(one);
  weft_session_partial_destroy(two);
  weft_session_partial_destroy(left); /* it waits for its feeds */
}

static void a_callable_runs_often(weft_session *s, const program *p) {
  weft_callable *c;
  weft_tensor *got[2];
  weft_request q = {.n_feed = 3,
                    .feeds = (weft_feed[]){{.to = p->c}, {.to = p->a}, {.to = p->b}},
                    .n_fetch = 2,
                    .fetches = (weft_out[]){p->r2, p->r1},
                    .fetched = got,
                    .n_target = 1,
                    .targets = &p->count};
  EXPECT_OK(weft_session_callable_create(&c, s, &q));
  const float before = value_of(s, p->v);
  for (int i = 0; i < 3; i++) {
    weft_feed f[] = {feed(p->c, 2), feed(p->a, (float)i), feed(p->b, 1)};
    q.feeds = f, q.n_feed = 3;
    EXPECT_OK(weft_session_callable_run(c, &q));
    EXPECT_NEAR(*(float *)weft_tensor_data(got[0]), (float)(2 * i + 2), 0);
    EXPECT_NEAR(*(float *)weft_tensor_data(got[1]), (float)(i + 1), 0);
    weft_tensor_destroy(got[0]);
    weft_tensor_destroy(got[1]);
    q.n_feed = 2;
    EXPECT_ERR(weft_session_callable_run(c, &q), WEFT_INVALID_ARGUMENT, "Expected 3 feed tensors, but got 2");
    q.feeds = (weft_feed[]){f[1], f[0]};
    EXPECT_ERR(weft_session_callable_run(c, &q), WEFT_INVALID_ARGUMENT, "feed 0 of the callable is c:0");
    drop(3, f);
  }
  EXPECT_NEAR(value_of(s, p->v), before + 3, 0);
  weft_session_callable_destroy(c);
}

static void in_session(const char *target) {
  program p = program_create();
  weft_session *s;
  EXPECT_OK(weft_session_create(&s, p.g, &(weft_session_opts){.target = target}));
  EXPECT_OK(weft_session_run_target(s, p.init));
  each_node_runs_once(s, &p);
  a_wrong_call_changes_nothing(s, &p);
  a_wrong_setup_is_refused(s, &p);
  two_runs_at_a_time_and_one_left_behind(s, &p);
  a_callable_runs_often(s, &p);
  weft_session_destroy(s);
  weft_graph_destroy(p.g);
}

TEST(in_one_process) { in_session(NULL); }

TEST(a_session_that_is_closed_ends_its_partial_runs) {
  program p = program_create();
  weft_session *s;
  float x = 0;
  EXPECT_OK(weft_session_create(&s, p.g, NULL));
  EXPECT_OK(weft_session_run_target(s, p.init));
  weft_partial_run *run = setup(s, &p), *late;
  EXPECT_OK(weft_session_close(s));
  EXPECT(step(run, 2, (weft_feed[]){feed(p.a, 1), feed(p.b, 2)}, p.r1, &x) != WEFT_OK);
  EXPECT(weft_session_partial_over(run));
  EXPECT_ERR(weft_session_partial_setup(&late, s, &(weft_request){.n_fetch = 1, .fetches = &p.v}), WEFT_CANCELLED,
             "Session has been closed.");
  weft_session_partial_destroy(run);
  weft_session_destroy(s);
  weft_graph_destroy(p.g);
}

TEST(a_failing_node_ends_the_partial_run_with_its_error) {
  program p = program_create();
  weft_session *s;
  float x = 0;
  weft_builder *b = weft_node_begin(p.g, "CheckNumerics", "bad");
  weft_builder_input(b, make(p.g, "RealDiv", "ratio", p.a, p.b, WEFT_NONE));
  weft_builder_string(b, "message", "here", 4);
  weft_out bad = weft_builder_finish(b);
  EXPECT_OK(weft_session_create(&s, p.g, NULL));
  EXPECT_OK(weft_session_run_target(s, p.init));
  weft_partial_run *run;
  EXPECT_OK(weft_session_partial_setup(&run, s,
                                       &(weft_request){.n_feed = 2,
                                                       .feeds = (weft_feed[]){{.to = p.a}, {.to = p.b}},
                                                       .n_fetch = 2,
                                                       .fetches = (weft_out[]){bad, p.r1}}));
  EXPECT_ERR(step(run, 2, (weft_feed[]){feed(p.a, 0), feed(p.b, 0)}, bad, &x), WEFT_INVALID_ARGUMENT,
             "Tensor had NaN values");
  EXPECT_ERR(step(run, 0, NULL, p.r1, &x), WEFT_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
  weft_session_partial_destroy(run);
  weft_session_destroy(s);
  weft_graph_destroy(p.g);
}

#ifdef WEFT_HAVE_GRPC
TEST(on_a_server_of_this_process_and_by_its_protocol) {
  weft_server *server;
  char target[100];
  EXPECT_OK(weft_server_create_local(&server, NULL));
  in_session(weft_server_target(server));
  snprintf(target, sizeof target, "grpc://127.0.0.1:%s", strrchr(weft_server_target(server), ':') + 1);
  in_session(target);
  weft_server_destroy(server);
}
#endif
