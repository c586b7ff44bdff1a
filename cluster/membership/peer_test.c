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

static void note(void *arg, weft_err err, message *reply) {
  (void)arg, (void)reply;
  pthread_mutex_lock(&result.lock);
  result.err = err;
  snprintf(result.why, sizeof result.why, "%s", weft__error_message());
  result.answers++;
  pthread_mutex_unlock(&result.lock);
}

/* How long until there are n answers; gives up after `limit` ms. */
static int64_t wait_for(int n, int64_t limit) {
  int64_t began = weft__clock_now_ns(), waited = 0;
  for (int have = -1; have < n && waited < limit; waited = (weft__clock_now_ns() - began) / 1000000) {
    pthread_mutex_lock(&result.lock);
    have = result.answers;
    pthread_mutex_unlock(&result.lock);
    usleep(2000);
  }
  return waited;
}

static call *held[300];
static int n_held;

/* Answers Hello if it is Weft, Wait when let_go is called, and everything else at once. */
static void handle(void *arg, call *c) {
  const char *method = weft__call_method(c);
  if (strcmp(method, "/test/Wait") == 0) {
    pthread_mutex_lock(&result.lock);
    held[n_held++] = c;
    pthread_mutex_unlock(&result.lock);
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

static void let_go(listener *l) {
  usleep(100000); /* those on their way have come */
  pthread_mutex_lock(&result.lock);
  for (int i = 0; i < n_held; i++) weft__call_respond(held[i], WEFT_OK, NULL);
  n_held = 0;
  pthread_mutex_unlock(&result.lock);
  weft__listener_destroy(l);
}

static weft_err say_little(void *arg, peer *to, message *hello) {
  (void)arg, (void)to;
  return weft__message_add_varint(hello, 1, 1);
}

static peers *peers_of(int port, peer **other) {
  cluster c;
  peers *all;
  char address[40];
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  weft__cluster_init(&c);
  EXPECT_OK(weft__cluster_add(&c, "ps", 0, address));
  EXPECT_OK(weft__cluster_add(&c, "worker", 0, "127.0.0.1:1"));
  EXPECT_OK(weft__peers_create(&all, &c, "/job:worker/replica:0/task:0", &(security){0}));
  weft__peers_hook(all, &(peer_hooks){.say = say_little});
  EXPECT_OK(weft__peers_find(all, "/job:ps/replica:0/task:0/device:CPU:0", other));
  weft__cluster_finish(&c);
  return all;
}

static void call_peer(peer *p, const char *method) {
  message m = {0};
  weft__peer_call(p, method, &m, &(call_opts){0}, note, NULL);
}

TEST(peers_are_found_by_task_and_by_device) {
  peer *p, *self;
  peers *all = peers_of(1, &p);
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
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle, is_weft));
  peers *all = peers_of(weft__listener_port(l), &p);
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

TEST(a_weft_task_is_recognised) { expect_kind(&result, PEER_WEFT); }
TEST(a_tensorflow_task_is_recognised) { expect_kind(NULL, PEER_TF); }

TEST(nobody_there_is_unavailable_at_once) {
  peer *p;
  peers *all = peers_of(1, &p);
  call_peer(p, "/test/Echo");
  EXPECT(wait_for(1, 5000) < 2000);
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
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle, &result));
  peers *all = peers_of(weft__listener_port(l), &p);
  weft__peer_call(p, "/test/Wait", &m, &(call_opts){.cancel = &c}, note, NULL);
  await_held(1);
  weft__cancel_fire(&c, WEFT_ABORTED, "enough");
  wait_for(1, 5000);
  EXPECT_EQ_INT(result.err, WEFT_ABORTED);
  EXPECT_EQ_STR(result.why, "enough");
  weft__peer_call(p, "/test/Echo", &m, &(call_opts){.cancel = &c}, note, NULL);
  EXPECT_EQ_INT(result.answers, 2);
  EXPECT_EQ_INT(result.err, WEFT_ABORTED);
  weft__peers_destroy(all);
  weft__cancel_finish(&c);
  let_go(l);
}

TEST(destroying_ends_what_is_in_flight) {
  listener *l;
  peer *p;
  EXPECT_OK(weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle, &result));
  peers *all = peers_of(weft__listener_port(l), &p);
  for (int i = 0; i < 200; i++) call_peer(p, "/test/Wait");
  weft__peers_destroy(all);
  EXPECT_EQ_INT(result.answers, 200);
  EXPECT_EQ_INT(result.err, WEFT_CANCELLED);
  let_go(l);
}

TEST(a_host_that_takes_connections_and_says_nothing_is_unavailable) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  EXPECT(bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 10) == 0);
  EXPECT(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
  peer *p;
  peers *all = peers_of(ntohs(at.sin_port), &p);
  call_peer(p, "/test/Echo");
  EXPECT(wait_for(1, 5000) < 2500);
  EXPECT_EQ_INT(result.err, WEFT_UNAVAILABLE);
  weft__peers_destroy(all);
  close(fd);
}

/* A server in a process of its own; returns its port. */
static int serve_apart(pid_t *pid) {
  int ends[2], port = 0;
  EXPECT(pipe(ends) == 0);
  *pid = fork();
  if (*pid == 0) {
    listener *l;
    if (weft__listener_create(&l, &(listener_opts){"127.0.0.1", 0, {0}}, handle, &result) != WEFT_OK) _exit(1);
    port = weft__listener_port(l);
    if (write(ends[1], &port, sizeof port) != sizeof port) _exit(1);
    sleep(60);
    _exit(0);
  }
  EXPECT(read(ends[0], &port, sizeof port) == sizeof port);
  return port;
}

static void expect_noticed(int signal_number) {
  pid_t pid;
  peer *p;
  peers *all = peers_of(serve_apart(&pid), &p);
  for (int i = 0; i < 3; i++) call_peer(p, "/test/Wait");
  wait_for(1, 1000);
  EXPECT_EQ_INT(result.answers, 0); /* as long as it lives, calls may take their time */
  kill(pid, signal_number);
  EXPECT(wait_for(3, 5000) < 2200);
  EXPECT_EQ_INT(result.answers, 3);
  EXPECT_EQ_INT(result.err, WEFT_UNAVAILABLE);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  weft__peers_destroy(all);
}

TEST(a_killed_task_is_noticed) { expect_noticed(SIGKILL); }
TEST(a_frozen_task_is_noticed_within_two_seconds) { expect_noticed(SIGSTOP); }

#endif
