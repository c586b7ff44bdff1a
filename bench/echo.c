/* echo.c - what this machine can do at best: N processes that only send 200 bytes to one and wait for 64 back.
 *
 *   echo N SECONDS     prints the answers per second, all together
 *
 * bench/many_workers.py holds it beside the same number of workers: what more processes than cores lose by themselves,
 * to cold caches and the scheduler, a ps cannot win back. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 200, ANSWER = 64, CLIENTS_MAX = 1000 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ask_on(int fd) {
  char bytes[REQUEST] = {0};
  while (write(fd, bytes, REQUEST) == REQUEST && read(fd, bytes, ANSWER) > 0) continue;
  _exit(0);
}

/* Its end of the connection. */
static int start(pid_t *client) {
  int end[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, end)) fail("socketpair");
  if ((*client = fork()) < 0) fail("fork");
  if (*client == 0) {
    close(end[0]);
    ask_on(end[1]);
  }
  close(end[1]);
  return end[0];
}

static long serve(int epoll, double until) {
  struct epoll_event ready[64];
  char bytes[REQUEST];
  long answered = 0;
  while (now() < until) {
    int n = epoll_wait(epoll, ready, 64, 100);
    for (int i = 0; i < n; i++) {
      if (read(ready[i].data.fd, bytes, REQUEST) != REQUEST) fail("a client has ended");
      if (write(ready[i].data.fd, bytes, ANSWER) != ANSWER) fail("write");
      answered++;
    }
  }
  return answered;
}

int main(int argc, char **argv) {
  int n = argc == 3 ? atoi(argv[1]) : 0;
  double seconds = argc == 3 ? atof(argv[2]) : 0;
  if (n < 1 || n > CLIENTS_MAX || seconds <= 0) {
    fprintf(stderr, "usage: %s N SECONDS\n", argv[0]);
    return 2;
  }
  pid_t client[CLIENTS_MAX];
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) fail("epoll_create1");
  for (int i = 0; i < n; i++) {
    struct epoll_event e = {.events = EPOLLIN, .data.fd = start(&client[i])};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, e.data.fd, &e)) fail("epoll_ctl");
  }
  serve(epoll, now() + seconds / 4);
  double begin = now();
  long answered = serve(epoll, begin + seconds);
  printf("%.0f\n", (double)answered / (now() - begin));
  for (int i = 0; i < n; i++) kill(client[i], SIGKILL);
  while (wait(NULL) > 0) continue;
  return 0;
}
