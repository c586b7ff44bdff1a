// program.cpp - a C++ program against the public headers: it must compile with -Wpedantic -Werror, link, and train.
#include <cstdio>
#include <vector>
#include <weft/ops.h>
#include <weft/weft.h>

// y = 2 x - 1 is learned from four points.
int main() {
  weft_graph *g = nullptr;
  weft_must(weft_graph_create(&g));
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, 1));
  weft_out y = weft_input(g, "y", WEFT_FLOAT, WEFT_DIMS(-1, 1));
  weft_out w = weft_variable(g, "w", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(1, 1)), true);
  weft_out b = weft_variable(g, "b", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(1)), true);
  weft_out guess = weft_op_AddV2(g, weft_op_MatMul(g, x, w, "transpose_b=true"), b, nullptr);
  weft_out loss = weft_mean(g, weft_square(g, weft_sub(g, guess, y)));
  weft_optimizer *o = nullptr;
  weft_must(weft_optimizer_create(&o, g, "GradientDescent", nullptr));
  weft_must(weft_optimizer_set(o, "learning_rate", 0.1));
  weft_out train = weft_optimizer_minimize(o, loss, WEFT_NONE, 0, nullptr, nullptr, nullptr);

  weft_session_opts opts{}; // field by field: C++17 has no designated initializers
  opts.intra_op_threads = 1;
  weft_session *sess = nullptr;
  weft_must(weft_session_create(&sess, g, &opts));
  weft_must(weft_session_run_target(sess, weft_initializer(g)));

  std::vector<float> xs{0, 1, 2, 3}, ys{-1, 1, 3, 5};
  weft_tensor *tx = nullptr, *ty = nullptr, *got = nullptr;
  weft_must(weft_tensor_create(&tx, WEFT_FLOAT, WEFT_DIMS(4, 1), xs.data()));
  weft_must(weft_tensor_create(&ty, WEFT_FLOAT, WEFT_DIMS(4, 1), ys.data()));
  weft_feed feeds[] = {{x, tx}, {y, ty}};
  weft_request request{};
  request.n_feed = 2;
  request.feeds = feeds;
  request.n_target = 1;
  request.targets = &train;
  for (int i = 0; i < 300; i++) weft_must(weft_session_run(sess, &request));
  request.n_target = 0;
  request.n_fetch = 1;
  request.fetches = &loss;
  request.fetched = &got;
  weft_must(weft_session_run(sess, &request));
  float left = *static_cast<const float *>(weft_tensor_data(got));
  std::printf("loss %g\n", static_cast<double>(left));

  weft_tensor_destroy(got);
  weft_tensor_destroy(tx);
  weft_tensor_destroy(ty);
  weft_session_destroy(sess);
  weft_optimizer_destroy(o);
  weft_graph_destroy(g);
  return left < 1e-4f ? 0 : 1;
}
