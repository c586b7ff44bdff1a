/* train_given_test.c - tests that invalid outputs and failing allocations give errors and nothing worse. */
#include "base/alloc.h"
#include "tests/check.h"
#include "weft/train.h"

/* Calls every function that takes outputs with an output that the graph does not have. */
TEST(outputs_of_nowhere_are_refused) {
  weft_graph *g;
  weft_optimizer *o;
  weft_average *a;
  const weft_out far = {99999, 0}, slot = {0, 77};
  EXPECT_OK(weft_graph_create(&g));
  weft_out w = weft_variable(g, "w", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(2, 3)), true), value, update, state[2];
  weft_gradient d = {far, WEFT_NONE, WEFT_NONE, WEFT_NONE};
  EXPECT_OK(weft_optimizer_create(&o, g, "Adam", NULL));
  EXPECT_ERR(weft_optimizer_set_output(o, "learning_rate", far), WEFT_INVALID_ARGUMENT, "99999:0 is no output");
  EXPECT_OK(weft_average_create(&a, g, NULL, .9, WEFT_NONE, false));
#define REFUSED(call)                                                                                                  \
  do {                                                                                                                 \
    EXPECT((call).node < 0);                                                                                           \
    EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "");                                                        \
    weft_graph_clear_error(g);                                                                                         \
  } while (0)
  for (int i = 0; i < 2; i++) {
    weft_out bad = i ? slot : far;
    d.dense = bad;
    REFUSED(weft_layer_dense(g, bad, 3, NULL));
    REFUSED(weft_layer_conv2d(g, bad, 3, 2, 2, NULL));
    REFUSED(weft_layer_max_pooling2d(g, bad, 2, 2, NULL));
    REFUSED(weft_layer_flatten(g, NULL, bad));
    REFUSED(weft_layer_dropout(g, bad, .5, NULL));
    REFUSED(weft_layer_batch_normalization(g, bad, NULL));
    REFUSED(weft_embedding_lookup(g, NULL, 1, &w, bad, false));
    REFUSED(weft_embedding_lookup(g, NULL, 1, &bad, w, false));
    REFUSED(weft_embedding_lookup_sparse(g, 1, &bad, w, w, NULL));
    REFUSED(weft_embedding_lookup_sparse(g, 1, &w, w, bad, NULL));
    REFUSED(weft_embedding_lookup_sparse(g, 1, &w, w, w, &(weft_lookup_opts){.weights = &bad}));
    REFUSED(weft_safe_embedding_lookup_sparse(g, 1, &w, w, w, bad, NULL));
    REFUSED(weft_l2_regularizer(g, .1, bad));
    REFUSED(weft_loss(g, "mean_squared_error", w, bad, NULL));
    REFUSED(weft_clip_by_norm(g, NULL, bad, 1));
    REFUSED(weft_global_norm(g, NULL, 1, &d));
    REFUSED(weft_exponential_decay(g, NULL, .1, bad, 10, .5, false));
    REFUSED(weft_piecewise_constant(g, NULL, bad, 0, NULL, &(double){1}));
    REFUSED(weft_average_apply(a, 1, &bad));
    REFUSED(weft_optimizer_apply(o, 1, &w, &d, WEFT_NONE, NULL));
    REFUSED(weft_optimizer_apply(o, 1, &bad, &d, WEFT_NONE, NULL));
    REFUSED(weft_optimizer_minimize(o, bad, WEFT_NONE, 0, NULL, NULL, NULL));
    REFUSED(weft_optimizer_minimize(o, w, bad, 0, NULL, NULL, NULL));
    REFUSED(weft_variables_initializer(g, NULL, 1, &bad));
    REFUSED(weft_report_uninitialized(g, NULL, 1, &bad));
    EXPECT(weft_metric(g, "mean", WEFT_NONE, bad, NULL, &value, &update) != WEFT_OK);
    weft_graph_clear_error(g);
    EXPECT(weft_dynamic_rnn(g, WEFT_CELL_GRU, 2, bad, NULL, &value, state) != WEFT_OK);
    weft_graph_clear_error(g);
  }
  weft_average_destroy(a);
  weft_optimizer_destroy(o);
  weft_graph_destroy(g);
}

/* Builds a small network with everything that makes variables. */
static weft_out network(weft_graph *g, weft_optimizer **o, weft_average **a) {
  weft_layer_opts relu = {.activation = "Relu", .l2 = .01};
  weft_out x = weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(2, 3)), y = weft_layer_dense(g, x, 4, &relu), state[2];
  if (weft_dynamic_rnn(g, WEFT_CELL_BASIC_LSTM, 2, weft_reshape(g, y, WEFT_DIMS(1, 2, 4)), NULL, &y, state))
    y = WEFT_NONE;
  y = weft_layer_batch_normalization(g, y, &(weft_batch_norm_opts){.training = true});
  weft_loss(g, "mean_squared_error", weft_mul(g, y, y), y, NULL);
  weft_out loss = weft_total_loss(g, NULL, true), step = weft_global_step_make(g);
  if (weft_average_create(a, g, NULL, .9, step, false) == WEFT_OK) weft_average_apply(*a, 0, NULL);
  if (weft_optimizer_create(o, g, "Adam", NULL) != WEFT_OK) return WEFT_NONE;
  return weft_optimizer_minimize(*o, loss, step, 0, NULL, NULL, NULL);
}

/* Lets the n-th allocation fail, for many n: the call reports it, and everything can be destroyed. */
TEST_WITHIN(120, memory_may_run_out_anywhere) {
  bool done = false;
  for (long n = 1; !done && n < 40000; n = n < 300 ? n + 1 : n + n / 20) {
    weft_graph *g;
    weft_optimizer *o = NULL;
    weft_average *a = NULL;
    EXPECT_OK(weft_graph_create(&g));
    weft__alloc_fail_after(n);
    weft_out train = network(g, &o, &a);
    weft__alloc_fail_after(0);
    done = train.node >= 0 && weft_graph_error(g) == WEFT_OK;
    if (!done && o && a) EXPECT(weft_graph_error(g) != WEFT_OK);
    weft_average_destroy(a);
    weft_optimizer_destroy(o);
    weft_graph_destroy(g);
  }
  EXPECT(done);
}
