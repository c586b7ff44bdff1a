/* hello.c - the smallest cluster there is: one server in this process, and a session that goes through it.
 *
 *     hello
 *
 * The server listens on a free port of this host; what is run through its target travels as it would between machines.
 * The log (on stderr) says who serves where. */
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

int main(void) {
  weft_graph *g;
  weft_server *server;
  weft_session *sess;
  weft_tensor *said;
  const char *bytes;
  size_t size;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_log_set(weft_log_stderr, NULL);
  weft_must(weft_graph_create(&g));
  weft_out hello = text(g, "Hello, distributed TensorFlow!");

  weft_must(weft_server_create_local(&server, NULL));
  weft_must(weft_session_create(&sess, g, &(weft_session_opts){.target = weft_server_target(server)}));
  weft_must(weft_session_fetch(&said, sess, hello));
  weft_must(weft_tensor_string(said, 0, &bytes, &size));
  printf("b'%.*s'\n", (int)size, bytes);

  weft_tensor_destroy(said), weft_session_destroy(sess), weft_server_destroy(server), weft_graph_destroy(g);
  return 0;
}
