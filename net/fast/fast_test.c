/* fast_test.c - what only the fast transport can get wrong: unauthenticated peers, TCP, invalid frames. */
#include "net/fast/fast.h"
#include "base/clock.h"
#include "base/memory_limit.h"
#include "net/fast/conn.h"
#include "net/fast/socket.h"
#include "net/transport.h"
#include "peer.pb-c.h"
#include "tests/check.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static uint8_t huge[32 << 20];

static void keep(void *arg) { (void)arg; } /* static memory stays */

static void echo(void *arg, call *c) {
  message response = {0};
  (void)arg;
  if (strcmp(weft__call_method(c), "/test/large") == 0)
    EXPECT_OK(weft__message_add(&response, (piece){huge, sizeof huge, keep, NULL}));
  else
    weft__message_move(&response, weft__call_request(c));
  weft__call_respond(c, WEFT_OK, &response);
}

typedef struct rig {
  loop_group *loops;
  fast_listener *listener;
  message packed;
  Weft__FastEndpoint *endpoint;
} rig;

static rig open_rig(void) {
  rig r = {0};
  EXPECT_OK(weft__transport_retain_loops(&r.loops));
  EXPECT_OK(weft__fast_listener_create(&r.listener, r.loops, &(listener_opts){.host = "127.0.0.1"}, echo, NULL));
  EXPECT_OK(weft__fast_listener_endpoint(r.listener, &r.packed));
  ProtobufCMessage *m;
  EXPECT_OK(weft__message_unpack(&m, &r.packed, &weft__fast_endpoint__descriptor));
  r.endpoint = (Weft__FastEndpoint *)m;
  return r;
}

static void close_rig(rig *r) {
  EXPECT(weft__fast_listener_destroy(r->listener));
  weft__transport_release_loops(r->loops);
  weft__message_finish(&r->packed);
  protobuf_c_message_free_unpacked(&r->endpoint->base, NULL);
}

typedef struct state {
  atomic_int usable, lost, ok, failed, code; /* code: of the last that failed */
  message last;
} state;

static void note(void *arg, fast_client *client, bool usable) {
  state *s = arg;
  (void)client;
  atomic_store(usable ? &s->usable : &s->lost, 1);
}

static void note_reply(void *arg, weft_err err, message *reply) {
  state *s = arg;
  weft__message_finish(&s->last);
  if (reply) weft__message_move(&s->last, reply);
  if (err != WEFT_OK) atomic_store(&s->code, (int)err);
  atomic_fetch_add(err == WEFT_OK ? &s->ok : &s->failed, 1);
}

static bool soon(atomic_int *n, int want) {
  for (int i = 0; i < 60000 && atomic_load(n) < want; i++) usleep(1000);
  return atomic_load(n) >= want;
}

static fast_client *connect_client(rig *r, state *s) {
  fast_client *client;
  EXPECT_OK(weft__fast_client_create(&client, r->loops, "test:1", "127.0.0.1", &r->packed, note, s));
  EXPECT(soon(&s->usable, 1));
  return client;
}

static void call_with(fast_client *client, state *s, message *request) {
  EXPECT(weft__fast_client_call(client, "/test/echo", request, &(call_opts){0}, note_reply, s));
}

static void call_delayed(fast_client *client, state *s) {
  EXPECT(weft__fast_client_call(client, "/test/echo", &(message){0}, &(call_opts){.more = true}, note_reply, s));
}

TEST(delayed_calls_go_out_with_the_next_or_on_flush) {
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  call_delayed(client, &s);
  call_delayed(client, &s);
  call_with(client, &s, &(message){0});
  EXPECT(soon(&s.ok, 3));
  call_delayed(client, &s);
  weft__fast_client_flush(client);
  EXPECT(soon(&s.ok, 4));
  call_delayed(client, &s);
  weft__fast_client_destroy(client);
  EXPECT_EQ_INT(atomic_load(&s.ok) + atomic_load(&s.failed), 5);
  close_rig(&r);
}

TEST(another_host_comes_by_tcp) {
  rig r = open_rig();
  EXPECT(r.endpoint->port > 0);
  r.endpoint->local[0] = 0; /* as if the socket of this host were out of reach */
  weft__message_finish(&r.packed);
  EXPECT_OK(weft__message_pack(&r.packed, &r.endpoint->base));
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  call_with(client, &s, &(message){0});
  EXPECT(soon(&s.ok, 1));
  weft__fast_client_destroy(client);
  EXPECT_EQ_INT(atomic_load(&s.lost), 1);
  close_rig(&r);
}

TEST(a_tensor_arrives_in_memory_it_can_keep) {
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  weft_tensor *t;
  EXPECT_OK(weft__tensor_create(&t, WEFT_FLOAT, &SHAPE1(100000)));
  memset(t->data, 7, weft__tensor_bytes(t));
  message request = {0};
  received_tensor got;
  EXPECT_OK(weft__received_tensor_write(&request, t, false));
  call_with(client, &s, &request);
  EXPECT(soon(&s.ok, 1));
  EXPECT(weft__shm_has_piece(weft__message_piece(&s.last, s.last.n_piece - 1)));
  const uint8_t *read_to = weft__message_piece(&s.last, s.last.n_piece - 1)->data;
  EXPECT_OK(weft__received_tensor_read(&got, &s.last));
  EXPECT(got.tensor->data == (const void *)read_to);
  EXPECT_EQ_MEM(got.tensor->data, t->data, weft__tensor_bytes(t));
  weft_tensor_destroy(got.tensor);
  weft_tensor_destroy(t);
  weft__message_finish(&s.last);
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST(many_small_pieces_arrive_as_one_and_many_large_ones_apart) {
  enum { SMALL = 700, LARGE = 40 };
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  static uint8_t bytes[4096];
  message small = {0}, large = {0};
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 13);
  for (int i = 0; i < SMALL; i++) EXPECT_OK(weft__message_add(&small, (piece){bytes + i, 3, NULL, NULL}));
  for (int i = 0; i < LARGE; i++) EXPECT_OK(weft__message_add(&large, (piece){bytes, sizeof bytes, NULL, NULL}));
  call_with(client, &s, &small);
  EXPECT(soon(&s.ok, 1));
  EXPECT_EQ_INT(s.last.n_piece, 1);
  EXPECT_EQ_INT(s.last.size, 3 * SMALL);
  for (int i = 0; i < SMALL; i++) EXPECT_EQ_MEM(weft__message_piece(&s.last, 0)->data + 3 * i, bytes + i, 3);
  call_with(client, &s, &large);
  EXPECT(soon(&s.ok, 2));
  EXPECT_EQ_INT(s.last.n_piece, LARGE);
  for (int i = 0; i < LARGE; i++) EXPECT_EQ_MEM(weft__message_piece(&s.last, i)->data, bytes, sizeof bytes);
  weft__message_finish(&s.last);
  weft__fast_client_destroy(client);
  close_rig(&r);
}

/* Pieces of these sizes arrive whole, in this order, through the socket or shared memory. */
static void send_pieces(fast_client *client, state *s, const uint8_t *bytes, const size_t *size, int n) {
  message m = {.borrows = true};
  int before = atomic_load(&s->ok);
  for (int i = 0; i < n; i++) EXPECT_OK(weft__message_add(&m, (piece){bytes + i, size[i], NULL, NULL}));
  call_with(client, s, &m);
  EXPECT(soon(&s->ok, before + 1));
  EXPECT_EQ_INT(s->last.n_piece, n);
  for (int i = 0; i < n; i++) {
    EXPECT_EQ_INT(weft__message_piece(&s->last, i)->size, size[i]);
    EXPECT_EQ_MEM(weft__message_piece(&s->last, i)->data, bytes + i, size[i]);
  }
}

TEST(pieces_in_shared_memory_and_in_the_socket_keep_their_order) {
  static uint8_t bytes[200000];
  static const size_t last_shared[] = {10, 40000, 5000, 150000}, first_shared[] = {40000, 10, 150000, 7},
                      all_shared[] = {40000, 50000, 60000}, between[] = {30000, 90000, 31000};
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 13 + i / 256);
  for (int round = 0; round < 50; round++) {
    send_pieces(client, &s, bytes, last_shared, 4);
    send_pieces(client, &s, bytes, first_shared, 4);
    send_pieces(client, &s, bytes, all_shared, 3);
    send_pieces(client, &s, bytes, between, 3);
  }
  weft__message_finish(&s.last);
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST(what_does_not_fit_shared_memory_goes_through_the_socket) {
  enum { PIECES = 400, ROUNDS = 3, BLOCKS = 1024 };
  static uint8_t bytes[SHM_PIECE_MIN];
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  message held[ROUNDS] = {0};
  int n_shared = 0;
  memset(bytes, 5, sizeof bytes);
  for (int round = 0; round < ROUNDS; round++) {
    message request = {0};
    for (int i = 0; i < PIECES; i++) EXPECT_OK(weft__message_add(&request, (piece){bytes, SHM_PIECE_MIN, NULL, NULL}));
    call_with(client, &s, &request);
    EXPECT(soon(&s.ok, round + 1));
    weft__message_move(&held[round], &s.last);
  }
  for (int i = 0; i < ROUNDS * PIECES; i++) {
    const piece *p = weft__message_piece(&held[i / PIECES], i % PIECES);
    n_shared += weft__shm_has_piece(p);
    EXPECT_EQ_MEM(p->data, bytes, SHM_PIECE_MIN);
  }
  EXPECT_EQ_INT(n_shared, BLOCKS);
  for (int round = 0; round < ROUNDS; round++) weft__message_finish(&held[round]);
  weft__fast_client_destroy(client);
  close_rig(&r);
}

/* ---- peers that are not Weft's ---- */

static int connect_raw(const rig *r, bool tcp) {
  int fd = -1;
  EXPECT_OK(tcp ? weft__socket_connect_tcp(&fd, "127.0.0.1", r->endpoint->port)
                : weft__socket_connect_unix(&fd, r->endpoint->local));
  if (tcp) poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 2000);
  return fd;
}

static void put(int fd, const void *data, size_t size) { (void)!send(fd, data, size, MSG_NOSIGNAL); }

static void greet(int fd, const rig *r) {
  uint8_t bytes[sizeof(frame_head) + 2 * FAST_KEY_SIZE + 1];
  frame_head h = {.magic = FRAME_MAGIC, .kind = FRAME_GREETING, .text = 2 * FAST_KEY_SIZE};
  memcpy(bytes, &h, sizeof h);
  weft__socket_key_text((char *)bytes + sizeof h, r->endpoint->key.data);
  put(fd, bytes, sizeof bytes - 1);
  EXPECT(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 2000) == 1);
  EXPECT_EQ_INT(recv(fd, &h, sizeof h, 0), sizeof h);
  EXPECT_EQ_INT(h.kind, FRAME_GREETING);
}

/* The other side closes the connection. */
static bool is_closed_by_peer(int fd) {
  char byte;
  if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 2000) != 1) return false;
  ssize_t n = recv(fd, &byte, 1, 0);
  close(fd);
  return n <= 0;
}

TEST(a_peer_without_the_key_is_disconnected) {
  rig r = open_rig();
  frame_head greeting = {.magic = FRAME_MAGIC, .kind = FRAME_GREETING};
  frame_head early = {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .id = 1};
  for (int tcp = 0; tcp < 2; tcp++) {
    int fd = connect_raw(&r, tcp);
    put(fd, &greeting, sizeof greeting);
    EXPECT(is_closed_by_peer(fd));
    fd = connect_raw(&r, tcp);
    put(fd, &early, sizeof early);
    EXPECT(is_closed_by_peer(fd));
  }
  state s = {0};
  r.endpoint->key.data[3] ^= 1;
  weft__message_finish(&r.packed);
  EXPECT_OK(weft__message_pack(&r.packed, &r.endpoint->base));
  fast_client *client;
  EXPECT_OK(weft__fast_client_create(&client, r.loops, "test:1", "127.0.0.1", &r.packed, note, &s));
  EXPECT(soon(&s.lost, 1));
  EXPECT(!atomic_load(&s.usable));
  EXPECT(!weft__fast_client_call(client, "/test/echo", &(message){0}, &(call_opts){0}, note_reply, &s));
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST(a_peer_of_another_protocol_is_not_talked_to) {
  rig r = open_rig();
  EXPECT_EQ_INT(r.endpoint->protocol, FAST_PROTOCOL);
  state s = {0};
  fast_client *client;
  for (uint32_t protocol = 0; protocol <= 2; protocol += 2) { /* 0: a version that did not say it, which is 1 */
    r.endpoint->protocol = protocol;
    weft__message_finish(&r.packed);
    EXPECT_OK(weft__message_pack(&r.packed, &r.endpoint->base));
    const weft_err err = weft__fast_client_create(&client, r.loops, "test:1", "127.0.0.1", &r.packed, note, &s);
    if (protocol == 0)
      EXPECT_OK(err);
    else
      EXPECT_ERR(err, WEFT_FAILED_PRECONDITION, "protocol 2 of the fast transport, this task has 1; they use gRPC");
    if (err == WEFT_OK) weft__fast_client_destroy(client);
  }
  close_rig(&r);
}

TEST(an_invalid_frame_costs_one_connection) {
  static const frame_head bad[] = {
      {.magic = 1, .kind = FRAME_CALL},
      {.magic = FRAME_MAGIC, .kind = 77},
      {.magic = FRAME_MAGIC, .kind = FRAME_RESPONSE, .id = 5},
      {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .text = 1u << 30},
      {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .body = 1ull << 60, .n_piece = 1},
      {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .body = 100},
      {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .n_piece = 60000},
      {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .body = 8, .n_piece = 1}, /* its piece's size, zero, follows */
  };
  static const uint8_t zeros[64];
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int fd = connect_raw(&r, i % 2);
    greet(fd, &r);
    put(fd, &bad[i], sizeof bad[i]);
    put(fd, zeros, sizeof zeros);
    EXPECT(is_closed_by_peer(fd));
  }
  call_with(client, &s, &(message){0});
  EXPECT(soon(&s.ok, 1));
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST(random_bytes_around_the_key_do_no_harm) {
  rig r = open_rig();
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  uint8_t junk[3000];
  uint32_t seed = 7;
  for (int round = 0; round < 60; round++) {
    int fd = connect_raw(&r, round % 2);
    if (round % 3) greet(fd, &r);
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
    frame_head h = {.magic = FRAME_MAGIC, .kind = (uint8_t)(1 + round % 4), .text = junk[0], .id = junk[1]};
    if (round % 2) memcpy(junk, &h, sizeof h);
    put(fd, junk, sizeof junk);
    close(fd);
  }
  call_with(client, &s, &(message){0});
  EXPECT(soon(&s.ok, 1));
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST(without_memory_for_a_body_the_call_fails_and_the_connection_stays) {
  rig r = open_rig();
  char ceiling[32];
  r.endpoint->local[0] = 0; /* by TCP: a piece in shared memory needs no memory here */
  weft__message_finish(&r.packed);
  EXPECT_OK(weft__message_pack(&r.packed, &r.endpoint->base));
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  EXPECT_OK(weft__memory_limit_set("4G"));
  snprintf(ceiling, sizeof ceiling, "%zu", weft__memory_limit_used() + (16 << 20));
  EXPECT_OK(weft__memory_limit_set(ceiling));
  for (int i = 1; i <= 3; i++) {
    message request = {0};
    EXPECT_OK(weft__message_add(&request, (piece){huge, sizeof huge, keep, NULL}));
    call_with(client, &s, &request);
    EXPECT(soon(&s.failed, 2 * i - 1));
    EXPECT(weft__fast_client_call(client, "/test/large", &(message){0}, &(call_opts){0}, note_reply, &s));
    EXPECT(soon(&s.failed, 2 * i));
    EXPECT_EQ_INT(atomic_load(&s.code), WEFT_RESOURCE_EXHAUSTED);
    call_with(client, &s, &(message){0});
    EXPECT(soon(&s.ok, i));
  }
  EXPECT_EQ_INT(atomic_load(&s.lost), 0);
  weft__fast_client_destroy(client);
  close_rig(&r);
}

/* Writes until the socket has taken nothing for two seconds; bytes written, at most `most`. */
static size_t write_until_full(int fd, const uint8_t *data, size_t size, size_t most) {
  size_t all = 0;
  while (all < most && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 2000) == 1) {
    const size_t at = all % size, left = most - all < size - at ? most - all : size - at;
    ssize_t n = send(fd, data + at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) break;
    all += (size_t)n;
  }
  return all;
}

static size_t read_until_quiet(int fd) {
  static uint8_t bytes[1 << 20];
  size_t all = 0;
  while (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 4000) == 1) {
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n <= 0) break;
    all += (size_t)n;
  }
  return all;
}

TEST_WITHIN(60, a_caller_that_reads_no_responses_is_read_no_further) {
  enum { BODY = 1 << 20, CALL = sizeof(frame_head) + 8 + BODY };
  static uint8_t one[CALL];
  rig r = open_rig();
  frame_head h = {.magic = FRAME_MAGIC, .kind = FRAME_CALL, .n_piece = 1, .id = 1, .body = BODY};
  memcpy(one, &h, sizeof h);
  memcpy(one + sizeof h, &(uint64_t){BODY}, 8);
  int fd = connect_raw(&r, true), local = connect_raw(&r, false);
  greet(fd, &r);
  greet(local, &r);
  size_t sent = write_until_full(fd, one, CALL, 400 << 20), whole = (sent + CALL - 1) / CALL * CALL;
  EXPECT(sent > 64 << 20 && sent < 200 << 20); /* read on within 5 s, or TCP gives this side up */
  size_t got = read_until_quiet(fd);           /* and it goes on as responses are read */
  EXPECT_EQ_INT(write_until_full(fd, one + sent % CALL, CALL, whole - sent), whole - sent);
  EXPECT_EQ_INT(got + read_until_quiet(fd), whole);
  close(fd);
  EXPECT(write_until_full(local, one, CALL, 800 << 20) < 500 << 20); /* 256 MiB of responses fit the shared memory */
  close(local);
  state s = {0};
  fast_client *client = connect_client(&r, &s);
  call_with(client, &s, &(message){0});
  EXPECT(soon(&s.ok, 1));
  weft__fast_client_destroy(client);
  close_rig(&r);
}

TEST_WITHIN(20, a_peer_that_sends_nothing_is_disconnected) {
  rig r = open_rig();
  int fd = connect_raw(&r, false);
  char byte;
  EXPECT(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 9000) == 1);
  EXPECT_EQ_INT(recv(fd, &byte, 1, 0), 0);
  close(fd);
  close_rig(&r);
}

/* ---- a connection alone, with a peer that writes to a TCP socket ---- */

typedef struct lone_conn {
  conn conn;
  atomic_int frames, gone;
  uint64_t bytes; /* of the last body */
} lone_conn;

static bool lone_frame(conn *c, const frame_head *h, const char *text, message *body) {
  lone_conn *l = (lone_conn *)c;
  EXPECT_EQ_INT(h->body, body->size);
  EXPECT_EQ_MEM(text, "/", 2);
  for (int i = 0; i < body->n_piece; i++) EXPECT_EQ_INT(weft__message_piece(body, i)->data[0], i + 1);
  l->bytes = body->size;
  atomic_fetch_add(&l->frames, 1);
  return true;
}

static void lone_lost(conn *c, const char *why) {
  (void)why;
  weft__conn_release(c);
}

static void lone_destroy(conn *c) {
  weft__conn_finish(c);
  atomic_store(&((lone_conn *)c)->gone, 1);
}

static void connect_tcp_pair(int *ours, int *theirs) {
  int port, fd;
  EXPECT_OK(weft__socket_listen_tcp(&fd, "127.0.0.1", &port));
  EXPECT_OK(weft__socket_connect_tcp(theirs, "127.0.0.1", port));
  EXPECT(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5000) == 1);
  EXPECT((*ours = weft__socket_accept(fd)) >= 0);
  close(fd);
}

static void write_slowly(int fd, const void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t n = send(fd, (const uint8_t *)data + done, size - done, MSG_NOSIGNAL);
    if (n > 0)
      done += (size_t)n;
    else
      usleep(1000);
  }
}

/* Writes head and prefix of a frame with a body of n pieces. */
static void write_head(int fd, const uint64_t *size, int n) {
  frame_head h = {.magic = FRAME_MAGIC, .kind = FRAME_RESPONSE, .n_piece = (uint16_t)n, .text = 1};
  for (int i = 0; i < n; i++) h.body += size[i];
  write_slowly(fd, &h, sizeof h);
  if (n) write_slowly(fd, size, 8 * (size_t)n);
  write_slowly(fd, "/", 1);
}

static int low_water(int fd) {
  int mark = 0;
  socklen_t n = sizeof mark;
  EXPECT_EQ_INT(getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &mark, &n), 0);
  return mark;
}

static bool low_water_soon(int fd, int least, int most) {
  for (int i = 0; i < 5000 && (low_water(fd) < least || low_water(fd) > most); i++) usleep(1000);
  return low_water(fd) >= least && low_water(fd) <= most;
}

/* The reader is woken for many bytes of a large body at once, but for any byte of what follows it. */
TEST(the_rest_of_a_large_body_by_tcp_wakes_the_reader_seldom) {
  enum { LARGE = 3 << 20, REST = 100 << 10 };
  const uint64_t sizes[] = {LARGE, REST};
  static const conn_callbacks callbacks = {lone_frame, lone_lost, lone_destroy};
  static lone_conn l;
  static uint8_t first[LARGE] = {1}, second[REST] = {2};
  int ours, theirs;
  loop_group *loops;
  EXPECT_OK(weft__transport_retain_loops(&loops));
  connect_tcp_pair(&ours, &theirs);
  l.conn.authenticated = true;
  weft__conn_init(&l.conn, &callbacks, ours);
  EXPECT_OK(weft__conn_start(&l.conn, loops));
  for (int turn = 1; turn < 4; turn++) {
    write_head(theirs, sizes, 2);
    EXPECT(low_water_soon(ours, 256 << 10, LARGE));
    write_slowly(theirs, first, LARGE);
    write_slowly(theirs, second, 10);
    write_slowly(theirs, second + 10, REST - 10);
    EXPECT(soon(&l.frames, 2 * turn - 1));
    EXPECT_EQ_INT(l.bytes, LARGE + REST);
    EXPECT(low_water_soon(ours, 1, 1));
    write_head(theirs, NULL, 0);
    EXPECT(soon(&l.frames, 2 * turn));
    EXPECT_EQ_INT(l.bytes, 0);
  }
  write_head(theirs, sizes, 2); /* the peer leaves in the middle of a body */
  write_slowly(theirs, first, 100);
  EXPECT(low_water_soon(ours, 256 << 10, LARGE));
  close(theirs);
  EXPECT(soon(&l.gone, 1));
  weft__transport_release_loops(loops);
}

static void *close_sockets(void *arg) {
  for (int *fd = arg; *fd >= 0; fd++) close(*fd);
  return NULL;
}

/* The loop frees connections whose peers leave while the listener shuts down those it still lists. */
TEST(a_listener_is_destroyed_while_its_peers_disconnect) {
  for (int turn = 0; turn < 40; turn++) {
    rig r = open_rig();
    int fds[17];
    for (int i = 0; i < 16; i++) greet(fds[i] = connect_raw(&r, i % 2), &r);
    fds[16] = -1;
    pthread_t thread;
    EXPECT_EQ_INT(pthread_create(&thread, NULL, close_sockets, fds), 0);
    close_rig(&r);
    pthread_join(thread, NULL);
  }
}
