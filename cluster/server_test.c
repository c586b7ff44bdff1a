/* server_test.c - tests the start of a server: its log lines, warnings and refusals. */
#include "cluster/server.h"

#include "base/log.h"
#include "tests/check.h"
#include <stdio.h>
#include <stdlib.h>

#ifdef WEFT_HAVE_GRPC

static char lines[20][300];
static int n_line;

static void keep_line(void *arg, int level, const char *file, int line, const char *what) {
  (void)arg, (void)level, (void)file, (void)line;
  if (n_line < 20) snprintf(lines[n_line++], sizeof lines[0], "%s", what);
}

static bool logged(const char *words) {
  for (int i = 0; i < n_line; i++)
    if (strstr(lines[i], words)) return true;
  return false;
}

static weft_server *start_server(const char *spec, const char *job, int index) {
  cluster c;
  weft_server *s;
  EXPECT_OK(weft__cluster_parse(&c, spec));
  EXPECT_OK(weft__server_create(&s, &c, &(server_opts){.job = job, .task = index}));
  EXPECT_OK(weft__server_start(s));
  EXPECT_OK(weft__server_start(s)); /* a second start does nothing */
  weft__cluster_finish(&c);
  return s;
}

TEST(a_server_logs_its_start_as_tensorflow_does) {
  char expected[200];
  weft__log_set_callback(keep_line, NULL);
  weft_server *s = start_server(
      "{\"ps\": [\"localhost:0\"], \"worker\": {\"0\": \"localhost:1\", \"2\": \"localhost:3\"}}", "ps", 0);
  const char *port = strrchr(weft__server_target(s), ':') + 1;
  EXPECT(atoi(port) > 0);
  snprintf(expected, sizeof expected, "Initialize GrpcChannelCache for job ps -> {0 -> localhost:%s}", port);
  EXPECT(logged(expected));
  EXPECT(logged("Initialize GrpcChannelCache for job worker -> {0 -> localhost:1, 2 -> localhost:3}"));
  snprintf(expected, sizeof expected, "Started server with target: grpc://localhost:%s", port);
  EXPECT(logged(expected));
  EXPECT(!logged("without a token"));
  weft__server_destroy(s);
}

TEST(an_open_port_beyond_loopback_is_warned_about) {
  weft__log_set_callback(keep_line, NULL);
  weft_server *s = start_server("ps=0.0.0.0:0;worker=10.255.255.1:1", "ps", 0);
  EXPECT(logged("without a token or TLS"));
  weft__server_destroy(s);
}

TEST(several_servers_live_in_one_process) {
  weft_server *a = start_server("local=localhost:0", "local", 0), *b = start_server("local=localhost:0", "local", 0);
  EXPECT(strcmp(weft__server_target(a), weft__server_target(b)) != 0);
  EXPECT(weft__server_find(weft__server_target(a)) == a);
  EXPECT(weft__server_find(weft__server_target(b)) == b);
  weft__server_destroy(a);
  EXPECT(weft__server_find(weft__server_target(b)) == b);
  EXPECT(!weft__server_find("grpc://localhost:1"));
  weft__server_destroy(b);
}

TEST(unknown_tasks_and_ports_in_use_are_rejected) {
  cluster c;
  weft_server *s = NULL, *first = start_server("local=localhost:0", "local", 0);
  char spec[100];
  EXPECT_OK(weft__cluster_parse(&c, "ps=localhost:0"));
  EXPECT_ERR(weft__server_create(&s, &c, &(server_opts){.job = "worker"}), WEFT_INTERNAL,
             "Job \"worker\" was not defined in cluster, whose jobs are: ps");
  EXPECT_ERR(weft__server_create(&s, &c, &(server_opts){.job = "ps", .task = 1}), WEFT_INTERNAL,
             "Task 1 was not defined in job \"ps\"");
  weft__cluster_finish(&c);
  snprintf(spec, sizeof spec, "ps=localhost:%s", strrchr(weft__server_target(first), ':') + 1);
  EXPECT_OK(weft__cluster_parse(&c, spec));
  EXPECT_OK(weft__server_create(&s, &c, &(server_opts){.job = "ps"}));
  weft_err err = weft__server_start(s);
  EXPECT(err != WEFT_OK);
  EXPECT_CONTAINS(weft__error_message(), "/job:ps/replica:0/task:0: cannot listen on 127.0.0.1:");
  EXPECT_CONTAINS(weft__error_message(), ": Address already in use (another process holds the port: stop it, or");
  EXPECT_ERR(weft__server_join(s), WEFT_FAILED_PRECONDITION, "before it has started");
  weft__server_destroy(s);
  weft__server_destroy(first);
  weft__cluster_finish(&c);
}

#endif
