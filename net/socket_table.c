/* socket_table.c - reads /proc/net/tcp and /proc/net/tcp6 once and compares every row with the peers.
 *
 * An address is kept as the 16 bytes of IPv6.  An IPv4 address is kept as the mapped one, ::ffff:a.b.c.d, which is
 * also how a socket that listens for both shows it.  The table prints addresses as words in the host's byte order.
 * No state, no locks. */
#include "net/socket_table.h"

#include "base/alloc.h"
#include "base/cast.h"
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ESTABLISHED = 1, WORDS = 4 };

static void peer_address_map_ipv4(peer_address *e, uint32_t address) {
  e->word[0] = e->word[1] = 0;
  e->word[2] = htonl(0xffff);
  e->word[3] = address;
}

/* Strips the brackets of "%5B::1%5D" or "[::1]", and a zone. */
static void host_strip_brackets(char *host) {
  size_t skip = strncmp(host, "%5B", 3) == 0 ? 3 : *host == '[';
  memmove(host, host + skip, strlen(host + skip) + 1);
  char *end = strstr(host, "%5D");
  if (!end) end = strchr(host, ']');
  if (end) *end = 0;
  if ((end = strchr(host, '%'))) *end = 0; /* a zone */
}

peer_address weft__peer_address_parse(const char *peer) {
  peer_address e = {.valid = false};
  char host[128];
  const bool six = strncmp(peer, "ipv6:", 5) == 0;
  const char *colon = strrchr(peer, ':');
  if ((!six && strncmp(peer, "ipv4:", 5) != 0) || !colon || colon < peer + 5) return e;
  snprintf(host, sizeof host, "%.*s", weft__int_sat(colon - peer - 5), peer + 5);
  host_strip_brackets(host);
  e.port = (unsigned)strtoul(colon + 1, NULL, 10);
  struct in_addr four;
  if (six) {
    e.valid = inet_pton(AF_INET6, host, e.word) == 1;
  } else if (inet_pton(AF_INET, host, &four) == 1) {
    peer_address_map_ipv4(&e, four.s_addr);
    e.valid = true;
  }
  return e;
}

bool weft__peer_address_equals(const peer_address *a, const peer_address *b) {
  return a->valid && b->valid && a->port == b->port && memcmp(a->word, b->word, sizeof a->word) == 0;
}

/* Reads the remote address of a row; returns false unless the connection is established. */
static bool peer_address_parse_row(const char *row, bool six, peer_address *remote) {
  char address[33];
  unsigned state;
  const int width = six ? 32 : 8;
  if (sscanf(row, " %*d: %*[0-9A-Fa-f]:%*x %32[0-9A-Fa-f]:%x %x", address, &remote->port, &state) != 3) return false;
  if (state != ESTABLISHED || strlen(address) != (size_t)width) return false;
  uint32_t word[WORDS] = {0};
  for (int i = 0; i < width / 8; i++) {
    char digits[9];
    snprintf(digits, sizeof digits, "%.8s", address + 8 * (size_t)i);
    word[i] = (uint32_t)strtoul(digits, NULL, 16);
  }
  if (six)
    memcpy(remote->word, word, sizeof word);
  else
    peer_address_map_ipv4(remote, word[0]);
  return remote->valid = true;
}

static bool socket_table_read(const char *path, bool six, int n, const peer_address *want, connection_state *state) {
  char row[512];
  peer_address remote;
  FILE *f = fopen(path, "re");
  if (!f) return false;
  while (fgets(row, sizeof row, f)) {
    if (!peer_address_parse_row(row, six, &remote)) continue;
    for (int i = 0; i < n; i++)
      if (weft__peer_address_equals(&want[i], &remote)) state[i] = CONNECTION_OPEN;
  }
  fclose(f);
  return true;
}

void weft__socket_table_find(int n, const char *const *peer, connection_state *state) {
  peer_address *want = n > 0 ? weft__alloc_zero((size_t)n, sizeof *want) : NULL;
  for (int i = 0; i < n; i++) {
    if (want) want[i] = weft__peer_address_parse(peer[i]);
    state[i] = want && want[i].valid ? CONNECTION_CLOSED : CONNECTION_UNKNOWN;
  }
  if (!want) return;
  const bool four = socket_table_read("/proc/self/net/tcp", false, n, want, state);
  const bool six = socket_table_read("/proc/self/net/tcp6", true, n, want, state);
  for (int i = 0; i < n && !four && !six; i++) state[i] = CONNECTION_UNKNOWN;
  weft__free(want);
}
