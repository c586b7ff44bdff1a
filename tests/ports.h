/* ports.h - a port for a task of a test.
 *
 * The port is held until the process ends, by a socket that is bound to it and does not listen.  The system gives it to
 * no outgoing connection, and no other test draws it.  A task may listen on it, and do so again after it was killed,
 * because tasks set SO_REUSEADDR.  Ports lie below those of outgoing connections where there is room. */
#ifndef WEFT_TESTS_PORTS_H
#define WEFT_TESTS_PORTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS_LOWEST = 10000 };

static inline unsigned ports_end(void) {
  unsigned end = 32768;
  FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
  if (f && fscanf(f, "%u", &end) != 1) end = 32768;
  if (f) fclose(f);
  return end > PORTS_LOWEST + 1000 ? end : 65536;
}

/* Binds a socket that nobody else has bound, and only then lets a task share it. */
static inline bool port_hold(int port) {
  struct sockaddr_in at = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int yes = 1;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0)
    return true;
  close(fd);
  return false;
}

static inline int free_port(void) {
  const unsigned count = ports_end() - PORTS_LOWEST;
  for (int tries = 0; tries < 1000; tries++) {
    unsigned drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) break;
    const int port = (int)(PORTS_LOWEST + drawn % count);
    if (port_hold(port)) return port;
  }
  fprintf(stderr, "no free port\n");
  exit(2);
}

#endif
