/* server.c - starts, queries, stops and restarts the server that is fuzzed. */
#include "tests/opfuzz/server.h"
#include "base/clock.h"
#include "tests/ports.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_S = 60, ASK_MS = 20000 };
#define SECOND INT64_C(1000000000)

static pid_t server;
static const char *program;
static char address[64];

static void launch(void) {
  char cluster[80];
  snprintf(cluster, sizeof cluster, "ps=%s", address);
  fflush(stdout);
  server = fork();
  if (server != 0) return;
  int fd = open(SERVER_LOG, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0) dup2(fd, 1), dup2(fd, 2);
  setenv("ASAN_OPTIONS",
         "allocator_may_return_null=1:max_allocation_size_mb=600:quarantine_size_mb=16:handle_abort=1:detect_leaks=0:"
         "hard_rss_limit_mb=4096",
         1);
  setenv("WEFT_MEMORY", "256M", 1);
  setenv("UBSAN_OPTIONS", "print_stacktrace=1", 1);
  execl(program, program, "serve", "--cluster", cluster, "--job", "ps", "--task", "0", (char *)NULL);
  _exit(127);
}

const char *server_start(const char *weft) {
  if (!weft) {
    printf("no such program to serve\n");
    exit(2);
  }
  program = weft;
  snprintf(address, sizeof address, "127.0.0.1:%d", free_port());
  launch();
  return address;
}

void server_stop(void) {
  int ending;
  if (server <= 0) return;
  kill(server, SIGKILL);
  waitpid(server, &ending, 0);
  server = 0;
}

/* Ends the program if the server failed twice at the same graph: it does not start, and later graphs would fail too. */
static void exit_if_repeated(int64_t index) {
  static int64_t last = -1;
  if (index == last) {
    printf("FAILED: the server does not start, or dies again at graph %lld\n", (long long)index);
    exit(2);
  }
  last = index;
}

void server_revive(const options *o, int64_t index) {
  int ending;
  exit_if_repeated(index);
  if (!o->serve) return;          /* somebody else's */
  for (int i = 0; i < 100; i++) { /* one that is dying writes its report first */
    if (waitpid(server, &ending, WNOHANG) == server) {
      server = 0;
      break;
    }
    nanosleep(&(struct timespec){0, 50000000}, NULL);
  }
  if (server) kill(server, SIGABRT), nanosleep(&(struct timespec){2, 0}, NULL);
  server_stop();
  rename(SERVER_LOG, SERVER_LOG_BEFORE);
  launch();
}

bool server_answers(channel *c) {
  message m = {0}, reply = {0};
  weft_err err =
      weft__channel_call_wait(c, "/tensorflow.WorkerService/GetStatus", &m, &(call_opts){.timeout_ms = ASK_MS}, &reply);
  weft__message_finish(&m);
  weft__message_finish(&reply);
  return err == WEFT_OK;
}

weft_err server_connect(channel **c, const char *at) {
  WEFT_TRY(weft__channel_create(c, at, NULL));
  for (int64_t until = weft__clock_now_ns() + CONNECT_S * SECOND; weft__clock_now_ns() < until;) {
    if (server_answers(*c)) return WEFT_OK;
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  return weft__fail(WEFT_UNAVAILABLE, "no server answers at %s", at);
}
