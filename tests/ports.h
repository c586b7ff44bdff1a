/* ports.h - a port for a task of a test.
 *
 * Below those that the system gives to outgoing connections, so that a task which is started later, or again, finds it
 * still free. */
#ifndef WEFT_TESTS_PORTS_H
#define WEFT_TESTS_PORTS_H

#include "tests/check.h"
#include <netinet/in.h>
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

static inline int free_port(void) {
  const unsigned count = ports_end() - PORTS_LOWEST;
  for (int tries = 0; tries < 1000; tries++) {
    unsigned drawn;
    EXPECT(getrandom(&drawn, sizeof drawn, 0) == sizeof drawn);
    const uint16_t port = (uint16_t)(PORTS_LOWEST + drawn % count);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool free = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    if (free) return port;
  }
  FAIL("no free port");
  return 0;
}

#endif
