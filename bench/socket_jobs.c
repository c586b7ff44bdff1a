/* socket_jobs.c - the bench's smallest cluster jobs over plain TCP sockets: the floor under any transport.
 *
 *     socket_jobs JOB serve PORT    answers one client, until it leaves
 *     socket_jobs JOB HOST PORT     a client, which run.py asks in turns
 *
 * A step sends 64 bytes and waits for as many bytes as the job moves: 8 for null, 4 and 64 MiB for recv4 and recv64.
 * They are read into one buffer of that size, as a tensor is. */
#include "converse.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, MIB = 1 << 20, CONNECT_TRIES = 500, CONNECT_PAUSE_US = 20000 };

typedef struct peer {
  int fd;
  size_t size; /* of an answer */
  char *answer;
} peer;

static const struct {
  const char *name;
  size_t size;
} jobs[] = {{"null", 8}, {"recv4", (size_t)4 * MIB}, {"recv64", (size_t)64 * MIB}};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static size_t size_of(const char *job) {
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
    if (!strcmp(jobs[i].name, job)) return jobs[i].size;
  return 0;
}

/* Returns false at the end of the stream. */
static bool read_all(int fd, char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = read(fd, bytes, size);
    if (n < 0 && errno != EINTR) fail("read");
    if (n == 0) return false;
    if (n > 0) bytes += n, size -= (size_t)n;
  }
  return true;
}

static void write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno != EINTR) fail("write");
    if (n > 0) bytes += n, size -= (size_t)n;
  }
}

static int open_socket(void) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0) fail("socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return fd;
}

static void send_at_once(int fd) {
  const int yes = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes)) fail("TCP_NODELAY");
}

static void serve(peer *p, uint16_t port) {
  const struct sockaddr_in here = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
  const int listener = open_socket();
  if (bind(listener, (const struct sockaddr *)&here, sizeof here) || listen(listener, 1)) fail("bind");
  if ((p->fd = accept(listener, NULL, NULL)) < 0) fail("accept");
  send_at_once(p->fd);
  char request[REQUEST];
  while (read_all(p->fd, request, REQUEST)) write_all(p->fd, p->answer, p->size);
}

static void take_step(void *arg, long i) {
  const peer *p = arg;
  (void)i;
  write_all(p->fd, (char[REQUEST]){0}, REQUEST);
  if (!read_all(p->fd, p->answer, p->size)) fail("the server has left");
}

/* The server may start later, so refused connections are tried again. */
static void connect_to(peer *p, const char *host, uint16_t port) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, host, &there.sin_addr) != 1) fail(host);
  for (int tries = 0; tries < CONNECT_TRIES; tries++) {
    p->fd = open_socket();
    if (!connect(p->fd, (const struct sockaddr *)&there, sizeof there)) {
      send_at_once(p->fd);
      return;
    }
    close(p->fd);
    usleep(CONNECT_PAUSE_US);
  }
  fail("connect");
}

int main(int argc, char **argv) {
  peer p = {.fd = -1, .size = argc == 4 ? size_of(argv[1]) : 0};
  const long port = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
  if (!p.size || port < 1 || port > UINT16_MAX) {
    fprintf(stderr, "usage: %s null|recv4|recv64 serve PORT\n       %s null|recv4|recv64 HOST PORT\n", argv[0],
            argv[0]);
    return 2;
  }
  p.answer = calloc(1, p.size);
  if (!p.answer) fail("calloc");
  if (!strcmp(argv[2], "serve")) {
    serve(&p, (uint16_t)port);
    return 0;
  }
  connect_to(&p, argv[2], (uint16_t)port);
  converse(&(turns){.step = take_step, .arg = &p, .warmup = 5, .chunk = 1});
  return 0;
}
