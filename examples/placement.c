/* placement.c - where do nodes run?  Adds two vectors and prints the device of every node.
 *
 *     placement           on the CPU
 *     placement --gpu     a second sum that asks for /gpu:1; where there is none, the run is refused and says what is
 *     placement --soft    the same, but a node goes to a device that exists when the one it asks for does not */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static void on_signal(int number) {
  weft_interrupt();
  signal(number, SIG_DFL); /* the second one leaves at once */
}

static weft_out vector(weft_graph *g, const char *name) {
  weft_tensor *t;
  weft_must(weft_tensor_create(&t, WEFT_FLOAT, WEFT_DIMS(3), (float[]){1, 2, 3}));
  weft_builder *b = weft_node_begin(g, "Const", name);
  weft_builder_tensor(b, "value", t);
  weft_builder_type(b, "dtype", WEFT_FLOAT);
  weft_tensor_destroy(t);
  return weft_builder_finish(b);
}

static weft_out sum(weft_graph *g, weft_out x, weft_out y) {
  return weft_op(g, "Add", "add", 2, (weft_out[]){x, y}, NULL);
}

static weft_err print(weft_session *sess, weft_out what) {
  weft_tensor *got;
  weft_err err = weft_session_fetch(&got, sess, what);
  if (err) return err;
  const float *v = weft_tensor_data(got);
  printf("[ %g.  %g.  %g.]\n", (double)v[0], (double)v[1], (double)v[2]);
  weft_tensor_destroy(got);
  return WEFT_OK;
}

int main(int argc, char **argv) {
  bool soft = argc > 1 && strcmp(argv[1], "--soft") == 0, gpu = soft || (argc > 1 && strcmp(argv[1], "--gpu") == 0);
  weft_graph *g;
  weft_session *sess;
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  weft_must(weft_graph_create(&g));
  weft_out c = sum(g, vector(g, "a"), vector(g, "b")), f = WEFT_NONE;
  if (gpu) {
    weft_scope_push_device(g, "/cpu:0");
    weft_out d = vector(g, "d"), e = vector(g, "e");
    weft_scope_pop(g);
    weft_scope_push_device(g, "/gpu:1");
    f = sum(g, d, e);
    weft_scope_pop(g);
  }
  weft_must(
      weft_session_create(&sess, g, &(weft_session_opts){.allow_soft_placement = soft, .log_device_placement = true}));
  weft_err err = print(sess, c);
  if (!err && gpu) err = print(sess, f);
  if (err) fprintf(stderr, "%s: %s\n", weft_error_name(err), weft_error_message());
  weft_session_destroy(sess), weft_graph_destroy(g);
  return err != WEFT_OK;
}
