/* two_task.c - a cluster of two equal tasks: each runs a session over both, then joins until the other is done too.
 *
 *     two_task --hosts=localhost:2222,localhost:2223 --task_index=0
 *     two_task --hosts=localhost:2222,localhost:2223 --task_index=1
 *
 * in two terminals, in any order: a task that needs the other waits for it and says so.  Those hosts are the default;
 * other machines will do as well.  The placement of every node is printed; both programs end by themselves. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL); /* the second one leaves at once */
}

static weft_out text(weft_graph *g, const char *bytes) {
  weft_tensor *t;
  weft_must(weft_tensor_create(&t, WEFT_STRING, WEFT_SCALAR, NULL));
  weft_must(weft_tensor_set_string(t, 0, bytes, strlen(bytes)));
  weft_out constant = weft_constant(g, t);
  weft_tensor_destroy(t);
  return constant;
}

static void say_hello(weft_server *server) {
  char words[100];
  weft_graph *g;
  weft_session *sess;
  weft_tensor *said;
  const char *bytes;
  size_t size;
  snprintf(words, sizeof words, "Hello from server%d!", weft_server_task(server) + 1);
  weft_must(weft_graph_create(&g));
  weft_out hello = text(g, words);
  weft_session_opts opts = {.target = weft_server_target(server), .log_device_placement = true};
  weft_must(weft_session_create(&sess, g, &opts));
  weft_must(weft_session_fetch(&said, sess, hello));
  weft_must(weft_tensor_string(said, 0, &bytes, &size));
  printf("b'%.*s'\n", (int)size, bytes);
  fflush(stdout);
  weft_tensor_destroy(said), weft_session_destroy(sess), weft_graph_destroy(g);
}

int main(int argc, char **argv) {
  const char *hosts = "localhost:2222,localhost:2223";
  weft_cluster *cluster;
  weft_server *server;
  weft_server_opts opts = {.job = "local"};
  for (int i = 1; i < argc; i++) {
    sscanf(argv[i], "--task_index=%d", &opts.task);
    if (strncmp(argv[i], "--hosts=", 8) == 0) hosts = argv[i] + 8;
  }
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
  weft_must(weft_cluster_create(&cluster));
  weft_must(weft_cluster_add_hosts(cluster, opts.job, hosts));
  weft_must(weft_server_create(&server, cluster, &opts));
  say_hello(server);
  int code = weft_server_join(server) != WEFT_OK; /* until the other task has joined or left */
  weft_server_destroy(server), weft_cluster_destroy(cluster);
  return code;
}
