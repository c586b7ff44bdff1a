/* peer_test.c - tests calls to other tasks, and when a task counts as lost. */
#include "cluster/membership/peer.h"

#include "base/clock.h"
#include "base/status.h"
#include "tests/check.h"
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

typedef struct outcome {
  pthread_mutex_t lock;
  int answers;
  weft_err err;
  char why[300];
} outcome;
static outcome result = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_reply(void *arg, weft_err err, message *reply) {
  (void)arg, (void)reply;
  pthread_mutex_lock(&result.lock);
  result.err = err;
  snprintf(result.why, sizeof result.why, "%s", weft__error_message());
  result.answers++;
  pthread_mutex_unlock(&result.lock);
}

/* Waits for n answers, at most `limit` ms.  Returns how long that took, in ms. */
static int64_t wait_for(int n, int64_t limit) {
  int64_t began = weft__clock_now_ns(), waited = 0;
  for (int have = -1; have < n && waited < limit; waited = (weft__clock_now_ns() - began) / NS_PER_MS) {
    pthread_mutex_lock(&result.lock);
    have = result.answers;
    pthread_mutex_unlock(&result.lock);
    usleep(2000);
  }
  return waited;
}

static call *held[300];
static int n_held;
static bool holds_no_more; /* these three are guarded by result.lock */

/* Answers Hello if it plays a Weft task (arg), holds Wait until answer_held_calls, and answers all else at once. */
static void handle_call(void *arg, call *c) {
  const char *method = weft__call_method(c);
  if (strcmp(method, "/test/Wait") == 0) {
    pthread_mutex_lock(&result.lock);
    const bool late = holds_no_more;
    if (!late) held[n_held++] = c;
    pthread_mutex_unlock(&result.lock);
    if (late) weft__call_respond(c, WEFT_OK, NULL);
    return;
  }
  bool hello = strcmp(method, WEFT_HELLO_METHOD) == 0;
  weft__call_respond(c, hello && !arg ? weft__fail(WEFT_UNIMPLEMENTED, "what?") : WEFT_OK, NULL);
}

static void await_held(int n) {
  int have = -1;
  for (int i = 0; i < 5000 && have < n; i++) {
    pthread_mutex_lock(&result.lock);
    have = n_held;
    pthread_mutex_unlock(&result.lock);
    usleep(1000);
  }
  EXPECT_EQ_INT(have, n);
}

/* Calls that arrive later are answered at once. */
static void answer_held_calls(listener *l) {
  pthread_mutex_lock(&result.lock);
  holds_no_more = true;
  for (int i = 0; i < n_held; i++) weft__call_respond(held[i], WEFT_OK, NULL);
  n_held = 0;
  pthread_mutex_unlock(&result.lock);
  weft__listener_destroy(l);
}

static weft_err write_hello(void *arg, peer *to, message *hello) {
  (void)arg, (void)to;
  return weft__message_add_varint(hello, 1, 1);
}

static peers *create_peers(int port, peer **other) {
  cluster c;
  peers *all;
  char address[40];
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  weft__cluster_init(&c);
  EXPECT_OK(weft__cluster_add(&c, "ps", 0, address));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, "127.0.0.1:1"));
  EXPECT_OK(weft__peers_create(&all, &c, "/job:worker/replica:0/task:0", &(security){0}));
  weft__peers_set_hooks(all, &(peer_hooks){.write_hello = write_hello});
  EXPECT_OK(weft__peers_find(all, "/job:ps/replica:0/task:0/device:CPU:0", other));
  weft__cluster_finish(&c);
  return all;
}

static void call_peer(peer *p, const char *method) {
  message m = {0};
  weft__peer_call(p, method, &m, &(call_opts){0}, count_reply, NULL);
}

TEST(peers_are_found_by_task_and_by_device) {
  peer *p, *self;
  peers *all = create_peers(1, &p);
  EXPECT_EQ_STR(weft__peer_task(p), "/job:ps/replica:0/task:0");
  EXPECT_OK(weft__peers_find(all, "/job:worker/replica:0/task:0", &self));
  EXPECT(weft__peer_is_self(self) && !weft__peer_is_self(p));
  EXPECT_ERR(weft__peers_find(all, "/job:ps/replica:0/task:1", &p), WEFT_NOT_FOUND, "no task");
  EXPECT_ERR(weft__peers_find(all, "", &p), WEFT_NOT_FOUND, "no task");
  weft__peers_destroy(all);
}

static void expect_kind(void *is_weft, peer_kind kind) {
  listener *l;
  peer *p;
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle_call, is_weft));
  peers *all = create_peers(weft__listener_port(l), &p);
  call_peer(p, "/test/Echo");
  wait_for(1, 5000);
  EXPECT_EQ_INT(result.answers, 1);
  EXPECT_EQ_INT(result.err, WEFT_OK);
  for (int i = 0; i < 1000 && weft__peer_kind(p) == PEER_UNKNOWN; i++) usleep(2000);
  EXPECT_EQ_INT(weft__peer_kind(p), kind);
  call_peer(p, "/test/Echo");
  wait_for(2, 5000);
  EXPECT_EQ_INT(result.err, WEFT_OK);
  weft__peers_destroy(all);
  weft__listener_destroy(l);
}

TEST(a_weft_task_is_recognized) { expect_kind(&result, PEER_WEFT); }
TEST(a_tensorflow_task_is_recognized) { expect_kind(NULL, PEER_TF); }

TEST(a_port_without_a_server_is_unavailable_at_once) {
  peer *p;
  peers *all = create_peers(1, &p);
  call_peer(p, "/test/Echo");
  EXPECT(wait_for(1, 9000) < 8000);
  EXPECT_EQ_INT(result.err, WEFT_UNAVAILABLE);
  EXPECT_CONTAINS(result.why, "/job:ps/replica:0/task:0");
  weft__peers_destroy(all);
}

TEST(the_callers_cancel_reaches_the_call) {
  listener *l;
  peer *p;
  cancel c;
  message m = {0};
  weft__cancel_init(&c);
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle_call, &result));
  peers *all = create_peers(weft__listener_port(l), &p);
  weft__peer_call(p, "/test/Wait", &m, &(call_opts){.cancel = &c}, count_reply, NULL);
  await_held(1);
  weft__cancel_fire(&c, WEFT_ABORTED, "enough");
  wait_for(1, 5000);
  EXPECT_EQ_INT(result.err, WEFT_ABORTED);
  EXPECT_EQ_STR(result.why, "enough");
  weft__peer_call(p, "/test/Echo", &m, &(call_opts){.cancel = &c}, count_reply, NULL);
  EXPECT_EQ_INT(result.answers, 2);
  EXPECT_EQ_INT(result.err, WEFT_ABORTED);
  weft__peers_destroy(all);
  weft__cancel_finish(&c);
  answer_held_calls(l);
}

TEST(destroying_ends_the_pending_calls) {
  listener *l;
  peer *p;
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle_call, &result));
  peers *all = create_peers(weft__listener_port(l), &p);
  for (int i = 0; i < 200; i++) call_peer(p, "/test/Wait");
  weft__peers_destroy(all);
  EXPECT_EQ_INT(result.answers, 200);
  EXPECT_EQ_INT(result.err, WEFT_CANCELLED);
  answer_held_calls(l);
}

TEST(a_server_that_accepts_connections_but_does_not_answer_is_unavailable) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  EXPECT(bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 10) == 0);
  EXPECT(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
  peer *p;
  peers *all = create_peers(ntohs(at.sin_port), &p);
  call_peer(p, "/test/Echo");
  EXPECT(wait_for(1, 9000) < 8000); /* a second; more on a busy machine */
  EXPECT_EQ_INT(result.err, WEFT_UNAVAILABLE);
  weft__peers_destroy(all);
  close(fd);
}

/* Starts a server in another process and returns its port. */
static int start_server_process(pid_t *pid) {
  int ends[2], port = 0;
  EXPECT(pipe(ends) == 0);
  *pid = fork();
  if (*pid == 0) {
    listener *l;
    if (weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle_call, &result) != WEFT_OK) _exit(1);
    port = weft__listener_port(l);
    if (write(ends[1], &port, sizeof port) != sizeof port) _exit(1);
    sleep(60);
    _exit(0);
  }
  EXPECT(read(ends[0], &port, sizeof port) == sizeof port);
  return port;
}

static void expect_loss_noticed(int signal_number) {
  pid_t pid;
  peer *p;
  peers *all = create_peers(start_server_process(&pid), &p);
  for (int i = 0; i < 3; i++) call_peer(p, "/test/Wait");
  wait_for(1, 1000);
  EXPECT_EQ_INT(result.answers, 0); /* calls may take any time while the task is alive */
  kill(pid, signal_number);
  EXPECT(wait_for(3, 5000) < 2200);
  EXPECT_EQ_INT(result.answers, 3);
  EXPECT_EQ_INT(result.err, WEFT_UNAVAILABLE);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  weft__peers_destroy(all);
}

TEST(a_killed_task_is_noticed) { expect_loss_noticed(SIGKILL); }
TEST(a_frozen_task_is_noticed_within_two_seconds) { expect_loss_noticed(SIGSTOP); }

#endif
