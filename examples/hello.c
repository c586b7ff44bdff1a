/* hello.c - the smallest program that learns: finds w and b of y = 3x + 2 from four points. */
#include <stdio.h>
#include <weft/weft.h>

int main(void) {
  weft_graph *g;
  weft_session *sess;
  weft_must(weft_graph_create(&g));

  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1));
  weft_out y = weft_input(g, "y", WEFT_FLOAT, WEFT_DIMS(-1));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out b = weft_variable(g, "b", weft_scalar(g, WEFT_FLOAT, 0), true);
  weft_out loss = weft_mean(g, weft_square(g, weft_sub(g, weft_add(g, weft_mul(g, w, x), b), y)));

  weft_out variables[] = {w, b}, gradients[2], rate = weft_scalar(g, WEFT_FLOAT, 0.1);
  weft_must(weft_gradients(g, 1, &loss, NULL, 2, variables, gradients));
  weft_out updates[] = {weft_apply_gradient_descent(g, w, rate, gradients[0]),
                        weft_apply_gradient_descent(g, b, rate, gradients[1])};
  weft_out train = weft_group(g, "train", 2, updates), init = weft_initializer(g);

  weft_tensor *xs, *ys, *found[3];
  weft_must(weft_tensor_create(&xs, WEFT_FLOAT, WEFT_DIMS(4), (float[]){0, 1, 2, 3}));
  weft_must(weft_tensor_create(&ys, WEFT_FLOAT, WEFT_DIMS(4), (float[]){2, 5, 8, 11}));
  weft_feed feeds[] = {{x, xs}, {y, ys}};

  weft_must(weft_session_create(&sess, g, NULL)); /* reports what was wrong with the graph, if anything was */
  weft_must(weft_session_run(sess, 0, NULL, 0, NULL, NULL, 1, &init));
  for (int step = 0; step < 300; step++) weft_must(weft_session_run(sess, 2, feeds, 0, NULL, NULL, 1, &train));
  weft_must(weft_session_run(sess, 2, feeds, 3, (weft_out[]){w, b, loss}, found, 0, NULL));
  float *value[3];
  for (int i = 0; i < 3; i++) value[i] = weft_tensor_data(found[i]);
  printf("y = %.3f x + %.3f, loss %.1e\n", (double)*value[0], (double)*value[1], (double)*value[2]);

  for (int i = 0; i < 3; i++) weft_tensor_destroy(found[i]);
  weft_tensor_destroy(xs);
  weft_tensor_destroy(ys);
  weft_session_destroy(sess);
  weft_graph_destroy(g);
  return 0;
}
