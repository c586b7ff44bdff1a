/* rpc_test.c - calls over real sockets on loopback, by gRPC and by the fast transport. */
#include "net/rpc.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "tests/check.h"
#include "tests/ports.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef WEFT_HAVE_GRPC

/* A test of both transports: `fast` says which. */
static bool fast;
#define TEST_BOTH(seconds, name)                                                                                       \
  static void name##_by(void);                                                                                         \
  TEST_WITHIN(seconds, name##_by_grpc) { name##_by(); }                                                                \
  TEST_WITHIN(seconds, name##_by_the_fast_transport) {                                                                 \
    fast = true;                                                                                                       \
    name##_by();                                                                                                       \
  }                                                                                                                    \
  static void name##_by(void)

/* ---- a server whose methods are named for what they do ---- */

typedef struct service {
  listener *listener;
  char address[64];
  pthread_mutex_t lock;
  call *held; /* by /hold */
  atomic_int answered, cancelled;
  atomic_bool working, rest; /* by /work, and until when */
} service;

static void on_cancelled(void *arg) { atomic_fetch_add(&((service *)arg)->cancelled, 1); }

static void *answer_when_cancelled(void *arg) { /* /hold: as a handler that waits would */
  call *c = ((void **)arg)[0];
  service *s = ((void **)arg)[1];
  weft__free(arg);
  cancel_watch w;
  if (weft__cancel_watch_add(weft__call_cancel(c), &w, on_cancelled, s) == WEFT_OK) {
    while (!weft__cancel_fired(weft__call_cancel(c))) usleep(1000);
    weft__cancel_watch_remove(weft__call_cancel(c), &w);
  } else {
    on_cancelled(s);
  }
  weft__call_respond(c, weft__cancel_raise(weft__call_cancel(c)), NULL);
  return NULL;
}

static void hold(service *s, call *c) {
  void **both = weft__alloc(2 * sizeof *both);
  pthread_t t;
  both[0] = c, both[1] = s;
  pthread_create(&t, NULL, answer_when_cancelled, both);
  pthread_detach(t);
}

static void handle(void *arg, call *c) {
  service *s = arg;
  const char *method = weft__call_method(c);
  message response = {0};
  atomic_fetch_add(&s->answered, 1);
  if (strcmp(method, "/test/echo") == 0) {
    weft__message_move(&response, weft__call_request(c));
    weft__call_respond(c, WEFT_OK, &response);
  } else if (strcmp(method, "/test/fail") == 0) {
    weft__call_respond(c, weft__fail(WEFT_NOT_FOUND, "no such thing: %d%%", 7), NULL);
  } else if (strcmp(method, "/test/fail_long") == 0) {
    char text[5000];
    memset(text, 'x', sizeof text);
    weft__call_respond(c, weft__fail(WEFT_ABORTED, "%.*s", (int)sizeof text, text), NULL);
  } else if (strcmp(method, "/test/hold") == 0) {
    hold(s, c);
  } else if (strcmp(method, "/test/work") == 0) {
    atomic_store(&s->working, true); /* on the transport's own thread, which it should not */
    for (int i = 0; i < 60000 && !atomic_load(&s->rest); i++) usleep(1000);
    weft__call_respond(c, WEFT_OK, NULL);
  } else if (strcmp(method, "/test/deadline") == 0) {
    int64_t left_ms = (weft__call_deadline_ns(c) - weft__clock_now_ns()) / NS_PER_MS;
    weft__message_add_varint(&response, 1, weft__call_deadline_ns(c) ? (uint64_t)left_ms : 0);
    weft__call_respond(c, WEFT_OK, &response);
  } else if (strcmp(method, "/test/peer") == 0) {
    weft__message_add_string(&response, 1, weft__call_peer(c), strlen(weft__call_peer(c)));
    weft__call_respond(c, WEFT_OK, &response);
  } else {
    weft__call_respond(c, weft__fail(WEFT_UNIMPLEMENTED, "%s", method), NULL);
  }
}

static void serve(service *s, int port, const security *how) {
  listener_opts opts = {.host = "127.0.0.1", .port = port, .security = how ? *how : (security){0}};
  memset(s, 0, sizeof *s);
  EXPECT_OK(weft__listener_create(&s->listener, &opts, handle, s));
  snprintf(s->address, sizeof s->address, "127.0.0.1:%d", weft__listener_port(s->listener));
}

static channel *connect_to(const char *address, const security *how) {
  channel *c;
  channel_opts opts = {.security = how ? *how : (security){0}, .fast = fast};
  EXPECT_OK(weft__channel_create(&c, address, &opts));
  return c;
}

/* A channel that is connected by the transport that the test is about. */
static channel *reach(const service *s, const security *how) {
  channel *c = connect_to(s->address, how);
  for (int i = 0; fast && i < 5000 && !weft__channel_is_fast(c); i++) usleep(1000);
  EXPECT(weft__channel_is_fast(c) == fast);
  return c;
}

static message bytes(const void *data, size_t size) {
  message m = {0};
  EXPECT_OK(weft__message_add_copy(&m, data, size));
  return m;
}

static weft_err ask(channel *c, const char *method, const call_opts *opts) {
  message request = bytes("hi", 2), reply = {0};
  weft_err err = weft__channel_call_wait(c, method, &request, opts, &reply);
  weft__message_finish(&reply);
  return err;
}

#ifdef __SANITIZE_THREAD__ /* looks at all that is left to send at each sendmsg */
enum { LARGE = 2 << 20 };
#else
enum { LARGE = 64 << 20 };
#endif

enum { BUSY_MS = 6000 }; /* for what takes milliseconds on an idle machine */

static int64_t since_ms(int64_t start_ns) { return (weft__clock_now_ns() - start_ns) / NS_PER_MS; }

/* ---- what they do ---- */

TEST_BOTH(10, an_answer_comes_back) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  for (int i = 0; i < 100; i++) {
    message request = bytes("hello", 5), reply = {0};
    EXPECT_OK(weft__channel_call_wait(c, "/test/echo", &request, NULL, &reply));
    EXPECT_EQ_INT(reply.size, 5);
    EXPECT_EQ_MEM(weft__message_flatten(&reply), "hello", 5);
    weft__message_finish(&reply);
  }
  EXPECT_OK(ask(c, "/test/peer", NULL));
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, an_empty_message_is_a_message) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  message request = {0}, reply = {0};
  EXPECT_OK(weft__channel_call_wait(c, "/test/echo", &request, NULL, &reply));
  EXPECT_EQ_INT(reply.size, 0);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(30, sixty_four_mebibytes_go_and_come_back) {
  enum { SIZE = LARGE };
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_UINT8, &SHAPE1(SIZE)));
  for (int i = 0; i < SIZE; i++) TENSOR_DATA(t, uint8_t)[i] = (uint8_t)(i ^ i >> 8 ^ i >> 17);
  message request = {0}, reply = {0};
  received_tensor r;
  EXPECT_OK(weft__received_tensor_write(&request, t, false));
  EXPECT_OK(weft__channel_call_wait(c, "/test/echo", &request, NULL, &reply));
  EXPECT_OK(weft__received_tensor_read(&r, &reply));
  EXPECT(memcmp(r.tensor->data, t->data, SIZE) == 0);
  weft__message_finish(&reply);
  weft_tensor_destroy(r.tensor);
  weft__channel_destroy(c);
  EXPECT(weft__buffer_is_unique(t->buf));
  weft_tensor_destroy(t);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, an_error_keeps_its_code_and_words) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  EXPECT_ERR(ask(c, "/test/fail", NULL), WEFT_NOT_FOUND, "no such thing: 7%");
  EXPECT_ERR(ask(c, "/test/fail_long", NULL), WEFT_ABORTED, "... [truncated]");
  EXPECT_ERR(ask(c, "/test/nothing", NULL), WEFT_UNIMPLEMENTED, "/test/nothing");
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, a_deadline_ends_a_call_and_is_known_to_the_handler) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  message request = {0}, reply = {0};
  EXPECT_OK(weft__channel_call_wait(c, "/test/deadline", &request, &(call_opts){.timeout_ms = 5000}, &reply));
  EXPECT_EQ_INT(reply.size, 3); /* a tag and two bytes: between 128 and 16383 ms */
  weft__message_finish(&reply);
  EXPECT_OK(weft__channel_call_wait(c, "/test/deadline", &request, NULL, &reply));
  EXPECT_EQ_INT(reply.size, 0);
  int64_t start = weft__clock_now_ns();
  EXPECT_ERR(ask(c, "/test/hold", &(call_opts){.timeout_ms = 100}), WEFT_DEADLINE_EXCEEDED, "within 100 ms");
  EXPECT(since_ms(start) < BUSY_MS);
  for (int i = 0; i < 2000 && !atomic_load(&s.cancelled); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&s.cancelled), 1);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

typedef struct canceller {
  cancel *cancel;
  service *service;
} canceller;
static void *fire_when_held(void *arg) {
  canceller *c = arg;
  while (!atomic_load(&c->service->answered)) usleep(1000);
  if (c->cancel)
    weft__cancel_fire(c->cancel, WEFT_ABORTED, "the other part failed");
  else
    weft__interrupt_raise();
  return NULL;
}

static void end_while_held(cancel *token, weft_err code, const char *words) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  pthread_t t;
  canceller later = {token, &s};
  pthread_create(&t, NULL, fire_when_held, &later);
  EXPECT_ERR(ask(c, "/test/hold", &(call_opts){.cancel = token}), code, words);
  pthread_join(t, NULL);
  for (int i = 0; i < 2000 && !atomic_load(&s.cancelled); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&s.cancelled), 1); /* the handler heard of it */
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, a_token_that_fires_ends_the_call_on_both_sides) {
  cancel token;
  weft__cancel_init(&token);
  end_while_held(&token, WEFT_ABORTED, "the other part failed");
  weft__cancel_finish(&token);
}

TEST_BOTH(10, an_interrupt_ends_a_wait) { end_while_held(NULL, WEFT_CANCELLED, "interrupted"); }

TEST_BOTH(10, a_fired_token_begins_nothing) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  cancel token;
  weft__cancel_init(&token);
  weft__cancel_fire(&token, WEFT_CANCELLED, "too late");
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.cancel = &token}), WEFT_CANCELLED, "too late");
  EXPECT_EQ_INT(atomic_load(&s.answered), 0);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
  weft__cancel_finish(&token);
}

typedef struct counted {
  atomic_int ok, failed;
} counted;
static void count_reply(void *arg, weft_err err, message *reply) {
  counted *n = arg;
  (void)reply;
  atomic_fetch_add(err == WEFT_OK ? &n->ok : &n->failed, 1);
}

TEST_BOTH(30, a_thousand_calls_are_in_flight_at_once) {
  enum { MANY = 1000 };
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  counted n = {0};
  uint8_t body[1000] = {0};
  for (int i = 0; i < MANY; i++) {
    message request = bytes(body, sizeof body);
    weft__channel_call(c, "/test/echo", &request, NULL, count_reply, &n);
  }
  for (int i = 0; i < 20000 && atomic_load(&n.ok) + atomic_load(&n.failed) < MANY; i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&n.ok), MANY);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, a_destroyed_channel_has_answered_all_its_calls) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  counted n = {0};
  for (int i = 0; i < 20; i++) weft__channel_call(c, "/test/hold", &(message){0}, NULL, count_reply, &n);
  for (int i = 0; i < 8000 && atomic_load(&s.answered) < 20; i++) usleep(1000);
  EXPECT(atomic_load(&s.answered) >= 20); /* all are held */
  weft__channel_destroy(c);
  EXPECT_EQ_INT(atomic_load(&n.failed), 20);
  weft__listener_destroy(s.listener);
}

TEST_BOTH(10, a_destroyed_listener_ends_what_it_holds) {
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  counted n = {0};
  for (int i = 0; i < 5; i++) weft__channel_call(c, "/test/hold", &(message){0}, NULL, count_reply, &n);
  for (int i = 0; i < 2000 && atomic_load(&s.answered) < 5; i++) usleep(1000);
  int64_t start = weft__clock_now_ns();
  weft__listener_destroy(s.listener);
  EXPECT(since_ms(start) < BUSY_MS);
  for (int i = 0; i < 2000 && atomic_load(&n.failed) < 5; i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&n.failed), 5);
  weft__channel_destroy(c);
}

/* ---- no server, or not yet ---- */

TEST(no_server_is_unavailable_and_says_where) {
  char address[64];
  snprintf(address, sizeof address, "127.0.0.1:%d", free_port());
  channel *c = connect_to(address, NULL);
  int64_t start = weft__clock_now_ns();
  EXPECT_ERR(ask(c, "/test/echo", NULL), WEFT_UNAVAILABLE, address);
  EXPECT_CONTAINS(weft__error_message(), "Connection refused");
  EXPECT(since_ms(start) < BUSY_MS);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true, .timeout_ms = 200}), WEFT_DEADLINE_EXCEEDED,
             address);
  weft__channel_destroy(c);
}

#ifndef __SANITIZE_THREAD__ /* c-ares and OpenSSL are not instrumented, nor are they suppressed */
TEST(a_name_that_does_not_resolve_is_unavailable) {
  channel *c = connect_to("no-such-host.invalid:2222", NULL);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.timeout_ms = 8000}), WEFT_UNAVAILABLE, "no-such-host.invalid");
  weft__channel_destroy(c);
}
#endif

typedef struct late {
  service service;
  int port, after_ms;
  int64_t came_ns;
} late;
static void *serve_later(void *arg) {
  late *l = arg;
  usleep((unsigned)l->after_ms * 1000);
  serve(&l->service, l->port, NULL);
  l->came_ns = weft__clock_now_ns();
  return NULL;
}

TEST_WITHIN(20, a_task_that_appears_is_used_within_a_fifth_of_a_second) {
  char address[64];
  late l = {.port = free_port(), .after_ms = 1500};
  snprintf(address, sizeof address, "localhost:%d", l.port);
  channel *c = connect_to(address, NULL);
  pthread_t t;
  pthread_create(&t, NULL, serve_later, &l);
  EXPECT_OK(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true}));
  pthread_join(t, NULL);
  EXPECT(since_ms(l.came_ns) < 1000); /* 0.2 s, and the load of a busy machine */
  /* It dies and comes back at the same place. */
  weft__listener_destroy(l.service.listener);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.timeout_ms = 5000}), WEFT_UNAVAILABLE, address);
  serve(&l.service, l.port, NULL);
  int64_t start = weft__clock_now_ns();
  EXPECT_OK(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true}));
  EXPECT(since_ms(start) < 1000);
  weft__channel_destroy(c);
  weft__listener_destroy(l.service.listener);
}

/* ---- names: in capitals localhost is one, and has addresses of both families where the host has them ---- */

TEST_BOTH(10, a_name_is_resolved) {
  service s;
  serve(&s, 0, NULL);
  snprintf(s.address, sizeof s.address, "LOCALHOST:%d", weft__listener_port(s.listener));
  channel *c = reach(&s, NULL);
  for (int i = 0; i < 100; i++) EXPECT_OK(ask(c, "/test/echo", NULL));
  EXPECT_ERR(ask(c, "/test/fail", NULL), WEFT_NOT_FOUND, "no such thing");
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST_WITHIN(20, a_task_with_a_name_appears_and_comes_back) {
  char address[64];
  late l = {.port = free_port(), .after_ms = 1000};
  snprintf(address, sizeof address, "LOCALHOST:%d", l.port);
  channel *c = connect_to(address, NULL);
  EXPECT_ERR(ask(c, "/test/echo", NULL), WEFT_UNAVAILABLE, "Connection refused");
  EXPECT_CONTAINS(weft__error_message(), address);
  pthread_t t;
  pthread_create(&t, NULL, serve_later, &l);
  EXPECT_OK(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true}));
  pthread_join(t, NULL);
  EXPECT(since_ms(l.came_ns) < 3000);
  weft__listener_destroy(l.service.listener);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.timeout_ms = 5000}), WEFT_UNAVAILABLE, address);
  serve(&l.service, l.port, NULL);
  EXPECT_OK(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true}));
  weft__channel_destroy(c);
  weft__listener_destroy(l.service.listener);
}

TEST(calls_that_wait_for_a_name_end_by_token_deadline_and_channel) {
  char address[64];
  counted n = {0};
  cancel token;
  call_opts waits = {.wait_for_ready = true, .cancel = &token};
  weft__cancel_init(&token);
  snprintf(address, sizeof address, "LOCALHOST:%d", free_port());
  channel *c = connect_to(address, NULL);
  weft__channel_call(c, "/test/echo", &(message){0}, &waits, count_reply, &n);
  usleep(20000); /* a call that does not wait is refused meanwhile, and the test fails */
  EXPECT_EQ_INT(atomic_load(&n.failed), 0);
  weft__cancel_fire(&token, WEFT_ABORTED, "enough");
  EXPECT_EQ_INT(atomic_load(&n.failed), 1);
  weft__channel_call(c, "/test/echo", &(message){0}, &waits, count_reply, &n); /* fired before */
  EXPECT_EQ_INT(atomic_load(&n.failed), 2);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true, .timeout_ms = 200}), WEFT_DEADLINE_EXCEEDED,
             address);
  for (int i = 0; i < 10; i++)
    weft__channel_call(c, "/test/echo", &(message){0}, &(call_opts){.wait_for_ready = true}, count_reply, &n);
  weft__channel_destroy(c);
  EXPECT_EQ_INT(atomic_load(&n.failed), 12);
  EXPECT_EQ_INT(atomic_load(&n.ok), 0);
  weft__cancel_finish(&token);
}

TEST_WITHIN(20, a_lost_fast_way_is_found_again) {
  service s;
  fast = true;
  serve(&s, 0, NULL);
  int port = weft__listener_port(s.listener);
  channel *c = reach(&s, NULL);
  counted n = {0};
  weft__channel_call(c, "/test/hold", &(message){0}, NULL, count_reply, &n);
  for (int i = 0; i < 2000 && !atomic_load(&s.answered); i++) usleep(1000);
  weft__listener_destroy(s.listener);
  for (int i = 0; i < 2000 && !atomic_load(&n.failed); i++) usleep(1000);
  EXPECT_EQ_INT(atomic_load(&n.failed), 1);
  for (int i = 0; i < 2000 && weft__channel_is_fast(c); i++) usleep(1000);
  EXPECT_ERR(ask(c, "/test/echo", &(call_opts){.timeout_ms = 5000}), WEFT_UNAVAILABLE, s.address);
  serve(&s, port, NULL);
  for (int i = 0; i < 200 && !weft__channel_is_fast(c); i++) {
    EXPECT_OK(ask(c, "/test/echo", &(call_opts){.wait_for_ready = true, .timeout_ms = 5000}));
    usleep(10000);
  }
  EXPECT(weft__channel_is_fast(c));
  EXPECT_OK(ask(c, "/test/echo", NULL));
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST(a_listener_without_the_fast_way_is_called_by_grpc) {
  service s;
  channel *c;
  memset(&s, 0, sizeof s);
  EXPECT_OK(weft__listener_create(&s.listener, &(listener_opts){.host = "127.0.0.1", .only_grpc = true}, handle, &s));
  snprintf(s.address, sizeof s.address, "127.0.0.1:%d", weft__listener_port(s.listener));
  EXPECT_OK(weft__channel_create(&c, s.address, &(channel_opts){.fast = true}));
  for (int i = 0; i < 20; i++) EXPECT_OK(ask(c, "/test/echo", NULL));
  EXPECT(!weft__channel_is_fast(c));
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

static void count_end(void *arg, weft_err err, message *reply) {
  (void)reply;
  atomic_fetch_add((atomic_int *)arg, err == WEFT_OK ? 1 : 100);
}

/* By gRPC and, and by gRPC while the fast transport is busy. */
static void expect_others_are_answered(bool by_fast) {
  service s;
  atomic_int ends = 0;
  message m = {0};
  fast = by_fast;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  weft__channel_call(c, "/test/work", &m, NULL, count_end, &ends);
  while (!atomic_load(&s.working)) usleep(1000);
  EXPECT_OK(ask(c, "/test/echo", &(call_opts){.timeout_ms = 30000, .only_grpc = true}));
  EXPECT_EQ_INT(ends, 0);
  atomic_store(&s.rest, true);
  while (!ends) usleep(10000);
  EXPECT_EQ_INT(ends, 1);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST(a_handler_that_takes_long_does_not_hold_up_grpc) { expect_others_are_answered(false); }
TEST(a_call_apart_is_answered_while_the_fast_way_is_busy) { expect_others_are_answered(true); }

TEST(a_port_that_is_taken_says_so) {
  service s;
  serve(&s, 0, NULL);
  listener *second;
  listener_opts opts = {.host = "127.0.0.1", .port = weft__listener_port(s.listener)};
  EXPECT_ERR(weft__listener_create(&second, &opts, handle, &s), WEFT_UNKNOWN, "Address already in use");
  EXPECT(second == NULL);
  opts.host = "no-such-host.invalid";
  EXPECT_ERR(weft__listener_create(&second, &opts, handle, &s), WEFT_UNKNOWN, "no-such-host.invalid");
  weft__listener_destroy(s.listener);
}

/* ---- authorization ---- */

TEST(the_token_is_required_before_the_fast_endpoint_is_revealed) {
  service s;
  security with = {.token = "s3cret"};
  fast = true;
  serve(&s, 0, &with);
  channel *good = reach(&s, &with), *bad = connect_to(s.address, NULL);
  EXPECT_OK(ask(good, "/test/echo", NULL));
  for (int i = 0; i < 5; i++) EXPECT_ERR(ask(bad, "/test/echo", NULL), WEFT_UNAUTHENTICATED, "token");
  EXPECT(!weft__channel_is_fast(bad));
  weft__channel_destroy(good), weft__channel_destroy(bad);
  weft__listener_destroy(s.listener);
}

TEST(without_the_token_nothing_is_answered) {
  service s;
  security with = {.token = "s3cret"}, wrong = {.token = "s3creT"};
  serve(&s, 0, &with);
  channel *good = connect_to(s.address, &with), *none = connect_to(s.address, NULL),
          *bad = connect_to(s.address, &wrong);
  EXPECT_OK(ask(good, "/test/echo", NULL));
  EXPECT_ERR(ask(none, "/test/echo", NULL), WEFT_UNAUTHENTICATED, "token");
  EXPECT_ERR(ask(bad, "/test/echo", NULL), WEFT_UNAUTHENTICATED, "token");
  EXPECT_EQ_INT(atomic_load(&s.answered), 1);
  weft__channel_destroy(good), weft__channel_destroy(none), weft__channel_destroy(bad);
  weft__listener_destroy(s.listener);
}

#ifndef __SANITIZE_THREAD__
/* A CA and a certificate for localhost and 127.0.0.1 made with it for this test, valid for a hundred years. */
static const char test_ca[] = "-----BEGIN CERTIFICATE-----\n"
                              "MIIBhDCCASugAwIBAgIUJkK2nCtNyiVpXP+W6RnKS7s70SYwCgYIKoZIzj0EAwIw\n"
                              "FzEVMBMGA1UEAwwMd2VmdCB0ZXN0IGNhMCAXDTI2MTExNTIxNTY0OVoYDzIxMjYx\n"
                              "MDIyMjE1NjQ5WjAXMRUwEwYDVQQDDAx3ZWZ0IHRlc3QgY2EwWTATBgcqhkjOPQIB\n"
                              "BggqhkjOPQMBBwNCAASzTwc58FMk7uCM+ZafuGnn+/pc600yRVflsHQYOqL4vYPY\n"
                              "O0qMsJpv80OyaprI1wqtPx5F93mKGDMH9xVkzzSEo1MwUTAdBgNVHQ4EFgQUtRi8\n"
                              "rIKkU64CofN+gHrqPVWm5+AwHwYDVR0jBBgwFoAUtRi8rIKkU64CofN+gHrqPVWm\n"
                              "5+AwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAbAymW2Zdkqb4L\n"
                              "UoLB2D5bT1edvOdWHQKEa5FBGiU6fgIgbPnVtdtSFnkGnFSXzxFnKtfRtYEhHjfd\n"
                              "rU5mHWi27Sk=\n"
                              "-----END CERTIFICATE-----\n";
static const char test_certificate[] = "-----BEGIN CERTIFICATE-----\n"
                                       "MIIBkjCCATigAwIBAgIUGNqib19LmMamw6FmCTFBLa+Rp8wwCgYIKoZIzj0EAwIw\n"
                                       "FzEVMBMGA1UEAwwMd2VmdCB0ZXN0IGNhMCAXDTI2MTExNTIxNTY0OVoYDzIxMjYx\n"
                                       "MDIyMjE1NjQ5WjAZMRcwFQYDVQQDDA53ZWZ0IHRlc3QgdGFzazBZMBMGByqGSM49\n"
                                       "AgEGCCqGSM49AwEHA0IABLWqznGpfeisVdRmvXwedzSGz2ot6MKthyHGA/tUCNI2\n"
                                       "7ZOuMMjTBDEKN+PHQIAPc+DQREa/4e3E3fSh/uKoJOmjXjBcMBoGA1UdEQQTMBGC\n"
                                       "CWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUFuCbgO4ZR99s/4D5aCKTdcOe5ogw\n"
                                       "HwYDVR0jBBgwFoAUtRi8rIKkU64CofN+gHrqPVWm5+AwCgYIKoZIzj0EAwIDSAAw\n"
                                       "RQIhANEgY6xWNoWJh/Od8dfvo73lOx9+M5pl8J51KcgYoI3JAiBt+n+Zd5Ux4ws8\n"
                                       "KTOXVbxhtdldD6nL5RPzPeCiZ3I3dQ==\n"
                                       "-----END CERTIFICATE-----\n";
static const char test_key[] = "-----BEGIN PRIVATE KEY-----\n"
                               "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgybfIUI3xznRsV+xM\n"
                               "5U0ISczPD5YUjnu+mIURKaHNDc6hRANCAAS1qs5xqX3orFXUZr18Hnc0hs9qLejC\n"
                               "rYchxgP7VAjSNu2TrjDI0wQxCjfjx0CAD3Pg0ERGv+HtxN30of7iqCTp\n"
                               "-----END PRIVATE KEY-----\n";

TEST(mutual_tls_accepts_clients_with_a_certificate) {
  service s;
  security with = {.certificate = test_certificate, .key = test_key, .ca = test_ca};
  char name[64];
  serve(&s, 0, &with);
  snprintf(name, sizeof name, "localhost:%d", weft__listener_port(s.listener));
  channel *good = connect_to(s.address, &with), *named = connect_to(name, &with), *plain = connect_to(s.address, NULL);
  EXPECT_OK(ask(good, "/test/echo", NULL));
  EXPECT_OK(ask(named, "/test/echo", NULL));
  EXPECT_ERR(ask(plain, "/test/echo", &(call_opts){.timeout_ms = 8000}), WEFT_UNAVAILABLE, s.address);
  EXPECT_EQ_INT(atomic_load(&s.answered), 2);
  weft__channel_destroy(good), weft__channel_destroy(named), weft__channel_destroy(plain);
  weft__listener_destroy(s.listener);
}

TEST(a_certificate_that_cannot_be_read_is_refused) {
  security bad = {.certificate = "no", .key = "such", .ca = "thing"};
  listener *l;
  EXPECT_ERR(weft__listener_create(&l, &(listener_opts){.host = "127.0.0.1", .security = bad}, handle, NULL),
             WEFT_INVALID_ARGUMENT, "certificate");
}
#endif

/* How often the thread was put to sleep; 0 for gRPC's own threads, which have names of their own. */
static int thread_switches(const char *tid, const char *program) {
  char path[300], line[200] = "", name[64] = "";
  int n, switches = 0;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f)) {
    (void)sscanf(line, "Name: %63s", name);
    if (sscanf(line, "voluntary_ctxt_switches: %d", &n) == 1) switches = n;
  }
  if (f) fclose(f);
  return strcmp(name, program) == 0 ? switches : 0;
}

static int our_switches(void) {
  char program[64] = "";
  int all = 0;
  FILE *f = fopen("/proc/self/comm", "r");
  if (f && fscanf(f, "%63s", program) != 1) program[0] = 0;
  if (f) fclose(f);
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *e; tasks && (e = readdir(tasks));)
    if (e->d_name[0] != '.') all += thread_switches(e->d_name, program);
  if (tasks) closedir(tasks);
  return all;
}

static void *thread_that_ends(void *arg) { return arg; }

static int our_switches_in_800_ms(void) {
  const int before = our_switches();
  usleep(800000);
  return our_switches() - before;
}

/* Both ends are in this process: the polling threads of both transports, the backup poller, the acceptor, this thread.
 * The thread sanitizer has a thread too, from the first pthread_create on, which wakes ten times a second; so switches
 * are also counted before there is a connection.  gRPC's keepalive woke a task 24 times a second. */
TEST_BOTH(20, an_idle_connection_wakes_few_threads) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, thread_that_ends, NULL) == 0 && pthread_join(thread, NULL) == 0);
  const int without = our_switches_in_800_ms();
  service s;
  serve(&s, 0, NULL);
  channel *c = reach(&s, NULL);
  EXPECT_OK(ask(c, "/test/echo", NULL));
  usleep(500000);
  EXPECT(our_switches_in_800_ms() <= without + 8);
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

TEST(garbage_on_the_port_does_no_harm) {
  service s;
  serve(&s, 0, NULL);
  channel *c = connect_to(s.address, NULL);
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons((uint16_t)weft__listener_port(s.listener)),
                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  uint8_t junk[4096];
  uint32_t seed = 1;
  for (int round = 0; round < 50; round++) {
    int sock = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(connect(sock, (struct sockaddr *)&a, sizeof a) == 0);
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    if (round % 2) memcpy(junk, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    (void)!send(sock, junk, sizeof junk, MSG_NOSIGNAL);
    close(sock);
    if (round % 10 == 0) EXPECT_OK(ask(c, "/test/echo", NULL));
  }
  EXPECT_OK(ask(c, "/test/echo", NULL));
  weft__channel_destroy(c);
  weft__listener_destroy(s.listener);
}

#else

TEST(a_build_without_grpc_says_so) {
  listener *l;
  channel *c;
  EXPECT_ERR(weft__listener_create(&l, &(listener_opts){.host = "127.0.0.1"}, NULL, NULL), WEFT_UNIMPLEMENTED, "gRPC");
  EXPECT_ERR(weft__channel_create(&c, "localhost:1", NULL), WEFT_UNIMPLEMENTED, "gRPC");
}

#endif
