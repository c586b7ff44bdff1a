/* first.c - the smallest program that learns: finds w and b of y = 3x + 2 from four points. */
#include <stdio.h>
#include <weft/weft.h>

int main(void) {
  weft_graph *g;
  weft_must(weft_graph_create(&g));
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1)), y = weft_input(g, "y", WEFT_FLOAT, WEFT_DIMS(-1));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out b = weft_variable(g, "b", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out error = weft_sub(g, weft_add(g, weft_mul(g, w, x), b), y), loss = weft_mean(g, weft_square(g, error));

  weft_out variables[] = {w, b}, d[2], rate = weft_scalar(g, WEFT_FLOAT, 0.1);
  weft_must(weft_gradients(g, 1, &loss, NULL, 2, variables, d));
  weft_out updates[] = {weft_apply_gradient_descent(g, w, rate, d[0]), weft_apply_gradient_descent(g, b, rate, d[1])};
  weft_out train = weft_group(g, "train", 2, updates), init = weft_initializer(g);

  weft_tensor *xs, *ys, *found[2];
  weft_must(weft_tensor_create(&xs, WEFT_FLOAT, WEFT_DIMS(4), (float[]){0, 1, 2, 3}));
  weft_must(weft_tensor_create(&ys, WEFT_FLOAT, WEFT_DIMS(4), (float[]){2, 5, 8, 11}));
  weft_feed feeds[] = {{x, xs}, {y, ys}};

  weft_session *sess;
  weft_must(weft_session_create(&sess, g, NULL)); /* says what is wrong with the graph, if anything is */
  weft_must(weft_session_run_target(sess, init));
  for (int step = 0; step < 300; step++)
    weft_must(weft_session_run(sess, &(weft_request){.n_feed = 2, .feeds = feeds, .n_target = 1, .targets = &train}));
  weft_must(weft_session_run(sess, &(weft_request){.n_fetch = 2, .fetches = variables, .fetched = found}));
  printf("y = %.3f x + %.3f\n", *(float *)weft_tensor_data(found[0]), *(float *)weft_tensor_data(found[1]));

  for (int i = 0; i < 2; i++) weft_tensor_destroy(found[i]);
  weft_tensor_destroy(xs), weft_tensor_destroy(ys);
  weft_session_destroy(sess), weft_graph_destroy(g);
  return 0;
}
