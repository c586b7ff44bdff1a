/* accept_test.c - which connections are refused when descriptors run out, and what is logged. */
#include "net/accept.h"
#include "tests/check.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 64 };

static int listen_here(struct sockaddr_in *at) {
  socklen_t size = sizeof *at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  EXPECT(fd >= 0 && bind(fd, (struct sockaddr *)at, size) == 0 && listen(fd, 100) == 0);
  EXPECT(getsockname(fd, (struct sockaddr *)at, &size) == 0);
  return fd;
}

static int connect_to(const struct sockaddr_in *at) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0);
  return fd;
}

static bool is_closed(int fd) {
  char c;
  ssize_t n = recv(fd, &c, 1, 0);
  return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* Takes every descriptor below `end` that is free. */
static void use_up(int end) {
  for (int fd = 0; fd >= 0 && fd < end - 1;) fd = open("/dev/null", O_RDONLY);
}

static void limit_to(int n) {
  struct rlimit r = {(rlim_t)n, (rlim_t)n};
  EXPECT(setrlimit(RLIMIT_NOFILE, &r) == 0);
}

TEST(a_connection_that_would_use_the_reserve_is_refused) {
  struct sockaddr_in at;
  int listen_fd = listen_here(&at), first = connect_to(&at), second = connect_to(&at);
  limit_to(LIMIT);
  weft__accept_retain();
  int fd = weft__accept(listen_fd);
  EXPECT(fd >= 0);
  use_up(LIMIT - LIMIT / 8);
  EXPECT_EQ_INT(weft__accept(listen_fd), -1);
  EXPECT_EQ_INT(errno, EAGAIN); /* the second was refused, and the backlog is empty */
  EXPECT(is_closed(second));
  EXPECT(send(first, "x", 1, 0) == 1 && write(fd, "x", 1) == 1);
  int file = open("/dev/null", O_RDONLY);
  EXPECT(file >= 0); /* which is what the reserve is for */
  close(file);
  weft__accept_release();
}

TEST(a_connection_is_refused_when_no_descriptor_is_left) {
  struct sockaddr_in at;
  int listen_fd = listen_here(&at), waits = connect_to(&at);
  limit_to(LIMIT);
  weft__accept_retain();
  use_up(LIMIT);
  EXPECT_EQ_INT(open("/dev/null", O_RDONLY), -1);
  EXPECT_EQ_INT(weft__accept(listen_fd), -1);
  EXPECT_EQ_INT(errno, EAGAIN);
  EXPECT(is_closed(waits));
  weft__accept_release();
}

TEST(the_log_reports_at_once_and_then_rarely) {
  accept_log l = {0};
  EXPECT_EQ_INT(weft__accept_log_add(&l, 0), 0);
  EXPECT_EQ_INT(weft__accept_log_add(&l, 3), 3);
  for (int i = 0; i < 100; i++) EXPECT_EQ_INT(weft__accept_log_add(&l, 1), 0);
}
