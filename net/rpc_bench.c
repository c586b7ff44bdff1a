/* rpc_bench.c - a server in another process, called as fast as it answers: round trips and bytes per second.
 *
 *     bench.net.rpc [SECONDS]
 *
 * First by gRPC, then by the fast transport.  Prints the best, the median and the 99th percentile of an empty call,
 * waited for and chained from its callback, and the rate at which tensors of 4 and 64 MiB are pulled. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/rpc.h"
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static weft_tensor *small, *large;

static void must(weft_err err) {
  if (err == WEFT_OK) return;
  fprintf(stderr, "%s: %s\n", weft__error_name(err), weft__error_message());
  exit(1);
}

static void handle(void *arg, call *c) {
  (void)arg;
  message response = {0};
  const char *method = weft__call_method(c);
  if (strcmp(method, "/bench/4") == 0) must(weft__received_tensor_write(&response, small, false));
  if (strcmp(method, "/bench/64") == 0) must(weft__received_tensor_write(&response, large, false));
  weft__call_respond(c, WEFT_OK, &response);
}

static void serve(int report) {
  listener *l;
  must(weft__tensor_create(&small, WEFT_UINT8, &SHAPE1(4 << 20)));
  must(weft__tensor_create(&large, WEFT_UINT8, &SHAPE1(64 << 20)));
  memset(small->data, 1, weft__tensor_bytes(small));
  memset(large->data, 1, weft__tensor_bytes(large));
  must(weft__listener_create(&l, &(listener_opts){.host = "127.0.0.1"}, handle, NULL));
  int port = weft__listener_port(l);
  if (write(report, &port, sizeof port) != sizeof port) exit(1);
  for (;;) pause();
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void print(const char *what, int64_t *ns, int n, size_t size) {
  qsort(ns, (size_t)n, sizeof *ns, by_value);
  double median = (double)ns[n / 2] / 1e3, p99 = (double)ns[n * 99 / 100] / 1e3;
  printf("%-12s %9.1f us best %9.1f us median %9.1f us p99", what, (double)ns[0] / 1e3, median, p99);
  if (size) printf("  %6.2f GB/s at best", (double)size / (double)ns[0]);
  printf("  (%d)\n", n);
}

enum { RUNS_MAX = 200000 };
static int64_t ns[RUNS_MAX];

static void pull(channel *c, const char *what, const char *method, double seconds, size_t size) {
  int n = 0;
  for (int64_t end = weft__clock_now_ns() + (int64_t)(seconds * 1e9); n < RUNS_MAX && weft__clock_now_ns() < end; n++) {
    message request = {0}, reply = {0};
    int64_t start = weft__clock_now_ns();
    must(weft__channel_call_wait(c, method, &request, NULL, &reply));
    received_tensor r = {0};
    if (size) must(weft__received_tensor_read(&r, &reply));
    weft_tensor_destroy(r.tensor);
    weft__message_finish(&reply);
    ns[n] = weft__clock_now_ns() - start;
  }
  print(what, ns, n, size);
}

typedef struct chain {
  channel *channel;
  int64_t start, end;
  int n;
  sem_t done;
} chain;

static void next_link(void *arg, weft_err err, message *reply) {
  (void)reply;
  chain *c = arg;
  must(err);
  int64_t now = weft__clock_now_ns();
  if (c->start) ns[c->n++] = now - c->start;
  c->start = now;
  if (now > c->end || c->n == RUNS_MAX)
    sem_post(&c->done);
  else
    weft__channel_call(c->channel, "/bench/0", &(message){0}, NULL, next_link, c);
}

static void run_chain(channel *to, double seconds) {
  chain c = {.channel = to, .end = weft__clock_now_ns() + (int64_t)(seconds * 1e9)};
  sem_init(&c.done, 0, 0);
  next_link(&c, WEFT_OK, NULL);
  sem_wait(&c.done);
  print("chained", ns, c.n, 0);
}

typedef struct burst {
  channel *channel;
  int64_t start, end;
  int n, left;
  sem_t done;
} burst;

enum { BURST = 10 };

static void begin_burst(burst *b);

static void burst_reply(void *arg, weft_err err, message *reply) {
  (void)reply;
  burst *b = arg;
  must(err);
  if (--b->left > 0) return;
  ns[b->n++] = weft__clock_now_ns() - b->start;
  if (b->start > b->end || b->n == RUNS_MAX)
    sem_post(&b->done);
  else
    begin_burst(b);
}

static void begin_burst(burst *b) {
  b->start = weft__clock_now_ns();
  b->left = BURST;
  for (int i = 0; i < BURST; i++) weft__channel_call(b->channel, "/bench/0", &(message){0}, NULL, burst_reply, b);
}

static void run_bursts(channel *to, double seconds) {
  burst b = {.channel = to, .end = weft__clock_now_ns() + (int64_t)(seconds * 1e9)};
  sem_init(&b.done, 0, 0);
  weft__channel_call(to, "/bench/0", &(message){0}, NULL, burst_reply, &b); /* on to the transport's thread */
  sem_wait(&b.done);
  print("ten at once", ns + 1, b.n - 1, 0);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  int ends[2], port = 0;
  if (pipe(ends) != 0) return 1;
  pid_t child = fork();
  if (child == 0) serve(ends[1]);
  if (read(ends[0], &port, sizeof port) != sizeof port) return 1;
  char address[64];
  snprintf(address, sizeof address, "127.0.0.1:%d", port);
  for (int fast = 0; fast < 2; fast++) {
    channel *c;
    must(weft__channel_create(&c, address, &(channel_opts){.fast = fast}));
    while (weft__channel_is_fast(c) != fast) usleep(1000);
    printf("%s\n", fast ? "the fast transport" : "gRPC");
    pull(c, "empty", "/bench/0", seconds, 0);
    run_chain(c, seconds);
    run_bursts(c, seconds);
    pull(c, "4 MiB", "/bench/4", seconds, 4 << 20);
    pull(c, "64 MiB", "/bench/64", seconds, 64 << 20);
    weft__channel_destroy(c);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}
