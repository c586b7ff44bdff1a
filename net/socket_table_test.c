/* socket_table_test.c - the state of real connections over loopback. */
#include "net/socket_table.h"

#include "tests/check.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* A connection over loopback; peer: the name of the caller, as gRPC writes it. */
static void connect_pair(int family, int fd[2], char *peer, size_t room) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr *at = family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
  socklen_t size = family == AF_INET ? sizeof four : sizeof six;
  int listener = socket(family, SOCK_STREAM, 0);
  EXPECT(bind(listener, at, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, at, &size) == 0);
  fd[0] = socket(family, SOCK_STREAM, 0);
  EXPECT(connect(fd[0], at, size) == 0);
  fd[1] = accept(listener, NULL, NULL);
  EXPECT(fd[1] >= 0 && getsockname(fd[0], at, &size) == 0);
  if (family == AF_INET)
    snprintf(peer, room, "ipv4:127.0.0.1:%d", ntohs(four.sin_port));
  else
    snprintf(peer, room, "ipv6:%%5B::1%%5D:%d", ntohs(six.sin6_port));
  close(listener);
}

static connection_state state_of(const char *peer) {
  connection_state s;
  weft__socket_table_find(1, &peer, &s);
  return s;
}

TEST(a_connection_is_open_until_it_is_closed) {
  const int families[] = {AF_INET, AF_INET6};
  for (int i = 0; i < 2; i++) {
    int fd[2];
    char peer[64];
    connect_pair(families[i], fd, peer, sizeof peer);
    EXPECT_EQ_INT(state_of(peer), CONNECTION_OPEN);
    close(fd[0]);
    EXPECT_EQ_INT(state_of(peer), CONNECTION_CLOSED); /* though this end is not */
    close(fd[1]);
    EXPECT_EQ_INT(state_of(peer), CONNECTION_CLOSED);
  }
}

TEST(many_are_found_with_one_read) {
  int fd[2][2];
  char peer[2][64];
  connect_pair(AF_INET, fd[0], peer[0], sizeof peer[0]);
  connect_pair(AF_INET, fd[1], peer[1], sizeof peer[1]);
  const char *all[] = {peer[0], "ipv4:127.0.0.1:1", peer[1]};
  connection_state state[3];
  weft__socket_table_find(3, all, state);
  EXPECT_EQ_INT(state[0], CONNECTION_OPEN);
  EXPECT_EQ_INT(state[1], CONNECTION_CLOSED);
  EXPECT_EQ_INT(state[2], CONNECTION_OPEN);
  for (int i = 0; i < 4; i++) close(fd[i / 2][i % 2]);
}

TEST(names_of_another_form_are_unknown) {
  EXPECT_EQ_INT(state_of("unix:/tmp/x"), CONNECTION_UNKNOWN);
  EXPECT_EQ_INT(state_of("process 7 of this host"), CONNECTION_UNKNOWN);
  EXPECT_EQ_INT(state_of(""), CONNECTION_UNKNOWN);
  EXPECT_EQ_INT(state_of("ipv4:"), CONNECTION_UNKNOWN);
  EXPECT_EQ_INT(state_of("ipv4:no.host:3"), CONNECTION_UNKNOWN);
  EXPECT_EQ_INT(state_of("ipv6:%5Bxyz%5D:3"), CONNECTION_UNKNOWN);
  weft__socket_table_find(0, NULL, NULL);
}

TEST(both_forms_of_an_address_are_equal) {
  const peer_address six = weft__peer_address_parse("ipv6:%5Bfe80::1%252%5D:40312");
  const peer_address plain = weft__peer_address_parse("ipv6:[fe80::1%eth0]:40312");
  const peer_address other_port = weft__peer_address_parse("ipv6:[fe80::1]:40313");
  const peer_address four = weft__peer_address_parse("ipv4:10.0.0.7:40312");
  const peer_address mapped = weft__peer_address_parse("ipv6:[::ffff:10.0.0.7]:40312");
  const peer_address none = weft__peer_address_parse("fd:12");
  EXPECT(weft__peer_address_equals(&six, &plain) && weft__peer_address_equals(&four, &mapped));
  EXPECT(!weft__peer_address_equals(&six, &other_port) && !weft__peer_address_equals(&six, &four));
  EXPECT(!weft__peer_address_equals(&none, &none)); /* not an address */
}
