#include "cluster/membership/member.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "tests/check.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

enum { MOST = 4 };

typedef struct seat { /* a task of its own: a port, the peers, the membership */
  listener *listener;
  peers *peers;
  members *members;
  atomic_bool up, ran, busy;
  int sessions;
  atomic_int lost, replaced; /* how many were reported */
  pthread_t thread;
  weft_err joined;
  char why[300];
} seat;

static seat seats[MOST];
static cluster everybody;

static bool idle(void *arg) { return !((seat *)arg)->busy; }
static bool ran(void *arg) { return ((seat *)arg)->ran; }
static int sessions(void *arg) { return ((seat *)arg)->sessions; }
static void lost(void *arg, const char *task) {
  EXPECT_CONTAINS(task, "/replica:0/task:");
  if (strstr(task, "/job:worker/"))
    atomic_fetch_add(&((seat *)arg)->lost, 1); /* a busy machine may keep the ps silent */
}

static void replaced(void *arg, const char *task, uint64_t incarnation) {
  if (strstr(task, "/job:worker/") && incarnation == 0) atomic_fetch_add(&((seat *)arg)->replaced, 1);
}

static void handle(void *arg, call *c) {
  seat *s = arg;
  if (s->up)
    weft__member_handle(s->members, c);
  else
    weft__call_respond(c, weft__fail(WEFT_UNAVAILABLE, "not up"), NULL);
}

/* Ports for ps 0 and workers 0, 1, ...; nobody is up yet. */
static void lay_table(int n) {
  weft__cluster_init(&everybody);
  for (int i = 0; i < n; i++) {
    char address[40];
    EXPECT_OK(weft__listener_create(&seats[i].listener, &(listener_opts){"127.0.0.1", 0, {0}}, handle, &seats[i]));
    snprintf(address, sizeof address, "127.0.0.1:%d", weft__listener_port(seats[i].listener));
    EXPECT_OK(weft__cluster_add(&everybody, i ? "worker" : "ps", i ? i - 1 : 0, address));
  }
}

static void come(int i, bool serve) {
  seat *s = &seats[i];
  char name[WEFT_TASK_NAME_SIZE];
  weft__task_name(name, sizeof name, i ? "worker" : "ps", i ? i - 1 : 0);
  EXPECT_OK(weft__peers_create(&s->peers, &everybody, name, &(security){0}));
  EXPECT_OK(weft__members_create(&s->members, s->peers, (uint64_t)i + 100, serve,
                                 &(member_hooks){s, idle, ran, sessions, lost, replaced}));
  s->up = true;
}

static void leave(int i) {
  seat *s = &seats[i];
  weft__members_goodbye(s->members);
  s->up = false;
  weft__listener_destroy(s->listener);
  weft__peers_destroy(s->peers);
  weft__members_destroy(s->members);
}

static void *join(void *arg) {
  seat *s = arg;
  s->joined = weft__members_join(s->members);
  snprintf(s->why, sizeof s->why, "%s", s->joined ? weft__error_message() : "");
  return NULL;
}

static void begin_join(int i) { pthread_create(&seats[i].thread, NULL, join, &seats[i]); }

static bool ends_within(int i, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  int64_t ns = until.tv_nsec + (int64_t)(seconds * 1e9);
  until.tv_sec += ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  return pthread_timedjoin_np(seats[i].thread, NULL, &until) == 0;
}

TEST(two_tasks_that_ran_and_joined_both_return) {
  lay_table(2);
  come(0, false);
  come(1, false);
  seats[1].ran = true;
  begin_join(0);
  EXPECT(!ends_within(0, 0.3));
  begin_join(1);
  EXPECT(ends_within(0, 3) && ends_within(1, 3));
  EXPECT_EQ_INT(seats[0].joined, WEFT_OK);
  EXPECT_EQ_INT(seats[1].joined, WEFT_OK);
  leave(1);
  leave(0);
}

TEST(a_ps_returns_when_its_workers_have_left) {
  lay_table(3);
  come(0, false);
  begin_join(0);
  come(1, false);
  come(2, false);
  seats[1].ran = true;
  leave(1);
  EXPECT_EQ_INT(seats[0].lost, 1);
  EXPECT_EQ_INT(seats[0].replaced, 1);
  EXPECT(!ends_within(0, 0.5));
  leave(2);
  EXPECT(ends_within(0, 3));
  EXPECT_EQ_INT(seats[0].joined, WEFT_OK);
  leave(0);
}

TEST(a_late_worker_is_told_who_has_left) {
  lay_table(3);
  come(0, false);
  begin_join(0);
  come(1, false);
  seats[1].ran = true;
  leave(1);
  come(2, false); /* has never seen worker 0 */
  begin_join(2);
  EXPECT(ends_within(2, 4) && ends_within(0, 3));
  EXPECT_EQ_INT(seats[2].joined, WEFT_OK);
  leave(2);
  leave(0);
}

TEST(an_evaluator_that_is_no_task_holds_nobody) {
  lay_table(2);
  EXPECT_OK(weft__cluster_add(&everybody, "evaluator", 0, "127.0.0.1:1"));
  come(0, false);
  begin_join(0);
  come(1, false);
  seats[1].ran = true;
  leave(1);
  EXPECT(ends_within(0, 3));
  EXPECT_EQ_INT(seats[0].joined, WEFT_OK);
  leave(0);
}

TEST(sessions_at_work_hold_everybody) {
  lay_table(2);
  come(0, false);
  come(1, false);
  seats[1].ran = seats[1].busy = true;
  begin_join(0);
  begin_join(1);
  EXPECT(!ends_within(0, 1.5));
  seats[1].busy = false;
  EXPECT(ends_within(0, 3) && ends_within(1, 3));
  leave(1);
  leave(0);
}

TEST(a_pool_where_nobody_ran_waits_until_interrupted) {
  lay_table(2);
  come(0, false);
  come(1, false);
  begin_join(0);
  begin_join(1);
  EXPECT(!ends_within(0, 1.5));
  weft__interrupt_raise();
  EXPECT(ends_within(0, 1) && ends_within(1, 1));
  EXPECT_EQ_INT(seats[0].joined, WEFT_CANCELLED);
  leave(1);
  leave(0);
}

TEST(a_bare_server_counts_as_settled_and_stays) {
  lay_table(2);
  come(0, true);
  come(1, false);
  seats[1].ran = true;
  begin_join(0);
  begin_join(1);
  EXPECT(ends_within(1, 3));
  leave(1);
  EXPECT(!ends_within(0, 0.5));
  weft__interrupt_raise();
  EXPECT(ends_within(0, 1));
  leave(0);
}

TEST(those_who_never_came_are_named_at_the_timeout) {
  setenv("WEFT_JOIN_TIMEOUT", "0.5", 1);
  lay_table(3);
  come(0, false);
  come(1, false);
  seats[1].ran = true;
  leave(1);
  begin_join(0);
  EXPECT(ends_within(0, 4));
  EXPECT_EQ_INT(seats[0].joined, WEFT_DEADLINE_EXCEEDED);
  EXPECT_CONTAINS(seats[0].why, "/job:worker/replica:0/task:1 (not seen yet)");
  leave(0);
}

static void answer_unimplemented(void *arg, call *c) {
  (void)arg;
  weft__call_respond(c, weft__fail(WEFT_UNIMPLEMENTED, "unknown"), NULL);
}

TEST_WITHIN(30, a_tensorflow_worker_has_left_when_its_port_is_closed_for_a_while) {
  lay_table(2);
  weft__listener_destroy(seats[1].listener);
  char host[WEFT_HOST_SIZE];
  int port;
  EXPECT_OK(weft__address_split(weft__cluster_address(&everybody, "worker", 0), host, &port));
  EXPECT_OK(weft__listener_create(&seats[1].listener, &(listener_opts){host, port, {0}}, answer_unimplemented, NULL));
  come(0, false);
  begin_join(0);
  EXPECT(!ends_within(0, 2));
  weft__listener_destroy(seats[1].listener);
  EXPECT(!ends_within(0, 3));
  EXPECT(ends_within(0, 6));
  EXPECT_EQ_INT(seats[0].joined, WEFT_OK);
  leave(0);
}

TEST(a_greeting_for_another_cluster_is_refused) {
  lay_table(2);
  come(0, false);
  channel *c;
  message m = {0}, reply = {0};
  EXPECT_OK(weft__channel_create(&c, weft__cluster_address(&everybody, "ps", 0), &(channel_opts){0}));
  const char *from = "/job:worker/replica:0/task:0", *to = "/job:ps/replica:0/task:9";
  EXPECT_OK(weft__message_add_string(&m, 1, from, strlen(from)));
  EXPECT_OK(weft__message_add_string(&m, 2, to, strlen(to)));
  EXPECT_ERR(weft__channel_call_wait(c, WEFT_HELLO_METHOD, &m, &(call_opts){0}, &reply), WEFT_FAILED_PRECONDITION,
             "not /job:ps/replica:0/task:9");
  EXPECT_OK(weft__message_add_copy(&m, "\xff\xff\xff", 3));
  EXPECT_ERR(weft__channel_call_wait(c, WEFT_HELLO_METHOD, &m, &(call_opts){0}, &reply), WEFT_INVALID_ARGUMENT, "");
  weft__channel_destroy(c);
  leave(0);
}

#endif
