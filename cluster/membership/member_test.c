/* member_test.c - tests when join returns: tasks that come late, leave, die or are TensorFlow's. */
#include "cluster/membership/member.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "tests/check.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

enum { TASKS_MAX = 4 };

typedef struct test_task { /* a task in this process: a port, its peers and its membership */
  listener *listener;
  peers *peers;
  members *members;
  atomic_bool up, ran, busy;
  int sessions;
  atomic_int lost, replaced; /* how many tasks the hooks reported */
  pthread_t thread;
  weft_err joined;
  char why[300];
} test_task;

static test_task tasks[TASKS_MAX];
static cluster cluster_spec;

static bool idle(void *arg) { return !((test_task *)arg)->busy; }
static bool ran(void *arg) { return ((test_task *)arg)->ran; }
static int sessions(void *arg) { return ((test_task *)arg)->sessions; }
static void lost(void *arg, const char *task) {
  EXPECT_CONTAINS(task, "/replica:0/task:");
  if (strstr(task, "/job:worker/"))
    atomic_fetch_add(&((test_task *)arg)->lost, 1); /* on a busy machine the ps may be late and seem lost */
}

static void replaced(void *arg, const char *task, uint64_t incarnation) {
  if (strstr(task, "/job:worker/") && incarnation == 0) atomic_fetch_add(&((test_task *)arg)->replaced, 1);
}

static void handle(void *arg, call *c) {
  test_task *s = arg;
  if (s->up)
    weft__members_handle(s->members, c);
  else
    weft__call_respond(c, weft__fail(WEFT_UNAVAILABLE, "not up"), NULL);
}

/* Opens ports for ps 0 and workers 0, 1, ...; no task is up yet. */
static void open_ports(int n) {
  weft__cluster_init(&cluster_spec);
  for (int i = 0; i < n; i++) {
    char address[40];
    EXPECT_OK(weft__listener_create(&tasks[i].listener, &(listener_opts){"127.0.0.1", 0, {0}}, handle, &tasks[i]));
    snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(tasks[i].listener));
    EXPECT_OK(weft__cluster_add(&cluster_spec, i ? "worker" : "ps", i ? i - 1 : 0, address));
  }
}

static void start_task(int i, bool serve) {
  test_task *s = &tasks[i];
  char name[WEFT_TASK_NAME_SIZE];
  weft__task_name(name, sizeof name, i ? "worker" : "ps", i ? i - 1 : 0);
  EXPECT_OK(weft__peers_create(&s->peers, &cluster_spec, name, &(security){0}));
  EXPECT_OK(weft__members_create(&s->members, s->peers, (uint64_t)i + 100, serve,
                                 &(member_hooks){s, idle, ran, sessions, lost, replaced}));
  s->up = true;
}

static void stop_task(int i) {
  test_task *s = &tasks[i];
  weft__members_goodbye(s->members);
  s->up = false;
  weft__listener_destroy(s->listener);
  weft__peers_destroy(s->peers);
  weft__members_destroy(s->members);
}

static void *join_thread(void *arg) {
  test_task *s = arg;
  s->joined = weft__members_join(s->members);
  snprintf(s->why, sizeof s->why, "%s", s->joined ? weft__error_message() : "");
  return NULL;
}

static void start_join(int i) { pthread_create(&tasks[i].thread, NULL, join_thread, &tasks[i]); }

enum { SOON = 20 }; /* seconds: much longer than it takes, for a busy machine */

static bool joins_within(int i, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  int64_t ns = until.tv_nsec + (int64_t)(seconds * 1e9);
  until.tv_sec += ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  return pthread_timedjoin_np(tasks[i].thread, NULL, &until) == 0;
}

/* The hooks may report a goodbye late: the task that leaves does not wait long for the answer. */
static bool reaches(atomic_int *n, int value) {
  for (int ms = 0; ms < SOON * 1000 && *n < value; ms++) usleep(1000);
  return *n == value;
}

/* Waits until task i has reached task 0.  A goodbye to a task that was never reached is given up after half a second,
 * which is too short for the first connection on a busy machine. */
static void reach_first_task(int i) {
  peer *first = NULL;
  for (int j = 0; j < weft__peers_count(tasks[i].peers); j++)
    if (strstr(weft__peer_task(weft__peers_at(tasks[i].peers, j)), "/job:ps/"))
      first = weft__peers_at(tasks[i].peers, j);
  EXPECT(first != NULL);
  for (int ms = 0; ms < SOON * 500 && weft__peer_kind(first) != PEER_WEFT; ms += 10) {
    weft__peer_greet(first, SOON * 100);
    usleep(10000);
  }
  EXPECT_EQ_INT(weft__peer_kind(first), PEER_WEFT);
}

TEST(two_tasks_that_ran_and_joined_both_return) {
  open_ports(2);
  start_task(0, false);
  start_task(1, false);
  tasks[1].ran = true;
  start_join(0);
  EXPECT(!joins_within(0, 0.3));
  start_join(1);
  EXPECT(joins_within(0, SOON) && joins_within(1, SOON));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_OK);
  EXPECT_EQ_INT(tasks[1].joined, WEFT_OK);
  stop_task(1);
  stop_task(0);
}

TEST(a_ps_returns_when_its_workers_have_left) {
  open_ports(3);
  start_task(0, false);
  start_join(0);
  start_task(1, false);
  start_task(2, false);
  tasks[1].ran = true;
  reach_first_task(1);
  reach_first_task(2);
  stop_task(1);
  EXPECT(reaches(&tasks[0].lost, 1));
  EXPECT(reaches(&tasks[0].replaced, 1));
  EXPECT(!joins_within(0, 0.5));
  stop_task(2);
  EXPECT(joins_within(0, SOON));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_OK);
  stop_task(0);
}

TEST(a_late_worker_learns_which_tasks_have_left) {
  open_ports(3);
  start_task(0, false);
  start_join(0);
  start_task(1, false);
  tasks[1].ran = true;
  reach_first_task(1);
  stop_task(1);
  start_task(2, false); /* it has never seen worker 0 */
  start_join(2);
  EXPECT(joins_within(2, SOON) && joins_within(0, SOON));
  EXPECT_EQ_INT(tasks[2].joined, WEFT_OK);
  stop_task(2);
  stop_task(0);
}

TEST(join_does_not_wait_for_an_evaluator_that_is_not_a_task) {
  open_ports(2);
  EXPECT_OK(weft__cluster_add(&cluster_spec, "evaluator", 0, "127.0.0.1:1"));
  start_task(0, false);
  start_join(0);
  start_task(1, false);
  tasks[1].ran = true;
  stop_task(1);
  EXPECT(joins_within(0, SOON));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_OK);
  stop_task(0);
}

TEST(join_waits_for_sessions_that_are_not_idle) {
  open_ports(2);
  start_task(0, false);
  start_task(1, false);
  tasks[1].ran = tasks[1].busy = true;
  start_join(0);
  start_join(1);
  EXPECT(!joins_within(0, 1.5));
  tasks[1].busy = false;
  EXPECT(joins_within(0, SOON) && joins_within(1, SOON));
  stop_task(1);
  stop_task(0);
}

TEST(join_waits_until_interrupted_if_no_task_ran_a_session) {
  open_ports(2);
  start_task(0, false);
  start_task(1, false);
  start_join(0);
  start_join(1);
  EXPECT(!joins_within(0, 1.5));
  weft__interrupt_raise();
  EXPECT(joins_within(0, SOON) && joins_within(1, SOON));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_CANCELLED);
  stop_task(1);
  stop_task(0);
}

TEST(a_bare_server_counts_as_finished_and_stays) {
  open_ports(2);
  start_task(0, true);
  start_task(1, false);
  tasks[1].ran = true;
  start_join(0);
  start_join(1);
  EXPECT(joins_within(1, SOON));
  stop_task(1);
  EXPECT(!joins_within(0, 0.5));
  weft__interrupt_raise();
  EXPECT(joins_within(0, SOON));
  stop_task(0);
}

TEST(tasks_that_never_came_are_named_at_the_timeout) {
  setenv("WEFT_JOIN_TIMEOUT", "0.5", 1);
  open_ports(3);
  start_task(0, false);
  start_task(1, false);
  tasks[1].ran = true;
  stop_task(1);
  start_join(0);
  EXPECT(joins_within(0, SOON));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_DEADLINE_EXCEEDED);
  EXPECT_CONTAINS(tasks[0].why, "/job:worker/replica:0/task:1 (not seen yet)");
  stop_task(0);
}

static void answer_unimplemented(void *arg, call *c) {
  (void)arg;
  weft__call_respond(c, weft__fail(WEFT_UNIMPLEMENTED, "unknown"), NULL);
}

TEST_WITHIN(30, a_tensorflow_worker_has_left_when_its_port_is_closed_for_a_while) {
  open_ports(2);
  weft__listener_destroy(tasks[1].listener);
  char host[WEFT_HOST_SIZE];
  int port;
  EXPECT_OK(weft__address_split(weft__cluster_address(&cluster_spec, "worker", 0), host, &port));
  EXPECT_OK(weft__listener_create(&tasks[1].listener, &(listener_opts){host, port, {0}}, answer_unimplemented, NULL));
  start_task(0, false);
  start_join(0);
  EXPECT(!joins_within(0, 2));
  weft__listener_destroy(tasks[1].listener);
  EXPECT(!joins_within(0, 3));
  EXPECT(joins_within(0, 6));
  EXPECT_EQ_INT(tasks[0].joined, WEFT_OK);
  stop_task(0);
}

TEST(a_greeting_for_another_cluster_is_refused) {
  open_ports(2);
  start_task(0, false);
  channel *c;
  message m = {0}, reply = {0};
  EXPECT_OK(weft__channel_create(&c, weft__cluster_address(&cluster_spec, "ps", 0), &(channel_opts){0}));
  const char *from = "/job:worker/replica:0/task:0", *to = "/job:ps/replica:0/task:9";
  EXPECT_OK(weft__message_add_string(&m, 1, from, strlen(from)));
  EXPECT_OK(weft__message_add_string(&m, 2, to, strlen(to)));
  EXPECT_ERR(weft__channel_call_wait(c, WEFT_HELLO_METHOD, &m, &(call_opts){0}, &reply), WEFT_FAILED_PRECONDITION,
             "not /job:ps/replica:0/task:9");
  EXPECT_OK(weft__message_add_copy(&m, "\xff\xff\xff", 3));
  EXPECT_ERR(weft__channel_call_wait(c, WEFT_HELLO_METHOD, &m, &(call_opts){0}, &reply), WEFT_INVALID_ARGUMENT, "");
  weft__channel_destroy(c);
  stop_task(0);
}

#endif
