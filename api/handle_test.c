/* handle_test.c - tests handles of another graph, option structs of other versions, invalid names, scopes and graph
 * files. */
#include "weft/weft.h"

#include "tests/check.h"
#include "tests/scratch.h"
#include <stdio.h>
#include <string.h>

/* ---- handles know their graph ---- */

typedef struct two { /* a graph, and an output of another graph with the same number */
  weft_graph *g, *other;
  weft_out own, foreign;
} two;

static two two_graphs(void) {
  two t;
  EXPECT_OK(weft_graph_create(&t.g));
  EXPECT_OK(weft_graph_create(&t.other));
  t.own = weft_scalar(t.g, WEFT_FLOAT, 1);
  t.foreign = weft_scalar(t.other, WEFT_FLOAT, 2);
  EXPECT_EQ_INT(t.own.node, t.foreign.node);
  return t;
}

static void two_destroy(two *t) {
  weft_graph_destroy(t->g);
  weft_graph_destroy(t->other);
}

TEST(an_input_from_another_graph_is_refused) {
  two t = two_graphs();
  EXPECT_EQ_INT(sizeof(weft_out), 8);
  EXPECT_EQ_INT(weft_add(t.g, t.own, t.foreign).node, -1);
  EXPECT_ERR(weft_graph_error(t.g), WEFT_INVALID_ARGUMENT, "input 1 of AddV2 is from another graph");
  weft_graph_clear_error(t.g);
  EXPECT_EQ_INT((int)weft_out_dtype(t.g, t.foreign), WEFT_INVALID);
  weft_scope_push_control(t.g, 1, &t.foreign);
  EXPECT_ERR(weft_graph_error(t.g), WEFT_INVALID_ARGUMENT, "control input 0 is from another graph");
  two_destroy(&t);
}

TEST(a_handle_that_a_program_writes_is_not_checked) {
  two t = two_graphs();
  const weft_out written = {t.own.node, 0};
  EXPECT(weft_add(t.g, t.own, written).node >= 0);
  EXPECT_OK(weft_graph_error(t.g));
  EXPECT_EQ_INT(weft_out_at(t.own, 3).slot, 3);
  EXPECT_EQ_INT(weft_out_at(t.own, 3).graph, t.own.graph);
  EXPECT_EQ_INT(weft_out_at(t.own, -1).node, -1);
  two_destroy(&t);
}

TEST(a_session_refuses_feeds_fetches_and_targets_of_another_graph) {
  two t = two_graphs();
  weft_session *s;
  weft_tensor *got = NULL, *one;
  EXPECT_OK(weft_session_create(&s, t.g, NULL));
  EXPECT_OK(weft_session_fetch(&got, s, t.own)); /* its plan is cached and must not be used for the other handle */
  weft_tensor_destroy(got);
  EXPECT_ERR(weft_session_fetch(&got, s, t.foreign), WEFT_INVALID_ARGUMENT, "fetch 0 is from another graph");
  EXPECT(got == NULL);
  EXPECT_ERR(weft_session_run_target(s, t.foreign), WEFT_INVALID_ARGUMENT, "target 0 is from another graph");
  EXPECT_OK(weft_tensor_create(&one, WEFT_FLOAT, 0, NULL, NULL));
  const weft_request fed = {.n_feed = 1, .feeds = &(weft_feed){t.foreign, one}, .n_target = 1, .targets = &t.own};
  EXPECT_ERR(weft_session_run(s, &fed), WEFT_INVALID_ARGUMENT, "feed 0 is from another graph");
  weft_tensor_destroy(one);
  weft_session_destroy(s);
  two_destroy(&t);
}

/* ---- the first error ---- */

TEST(a_fetch_of_a_refused_op_says_why_it_was_refused) {
  weft_graph *g;
  weft_session *s;
  weft_tensor *got;
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_OK(weft_session_create(&s, g, NULL));
  weft_out product =
      weft_matmul(g, weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(2, 3)), weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(2, 3)));
  EXPECT_ERR(weft_session_fetch(&got, s, weft_square(g, product)), WEFT_INVALID_ARGUMENT,
             "fetch 0 is no output, because the graph refused an op: ");
  EXPECT(strstr(weft_error_message(), "3") != NULL);
  weft_graph_clear_error(g);
  EXPECT_ERR(weft_session_fetch(&got, s, product), WEFT_INVALID_ARGUMENT, "fetch 0 is not an output");
  weft_session_destroy(s);
  weft_graph_destroy(g);
}

TEST(a_pop_without_a_push_is_reported) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  weft_scope_push_name(g, "a");
  weft_scope_pop(g);
  EXPECT_OK(weft_graph_error(g));
  weft_scope_pop(g);
  EXPECT_ERR(weft_graph_error(g), WEFT_FAILED_PRECONDITION, "weft_scope_pop: the graph has no open scope");
  weft_graph_destroy(g);
}

TEST(unknown_names_suggest_the_right_ones) {
  weft_graph *g;
  weft_optimizer *o;
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_ERR(weft_optimizer_create(&o, g, "adam", NULL), WEFT_INVALID_ARGUMENT,
             "unknown optimizer 'adam'; did you mean 'Adam'?");
  EXPECT_ERR(weft_optimizer_create(&o, g, "SGD", NULL), WEFT_INVALID_ARGUMENT,
             "unknown optimizer 'SGD'; known are 'GradientDescent', ");
  EXPECT_OK(weft_optimizer_create(&o, g, "Adam", NULL));
  EXPECT_ERR(weft_optimizer_set(o, "learningrate", .1), WEFT_INVALID_ARGUMENT,
             "Adam: unknown parameter 'learningrate'; did you mean 'learning_rate'?");
  weft_optimizer_destroy(o);
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, 3));
  weft_layer_dense(g, x, 4, &(weft_layer_opts){.activation = "relu"});
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "unknown activation 'relu'; did you mean 'Relu'?");
  weft_graph_clear_error(g);
  weft_loss(g, "MeanSquaredError", x, x, NULL);
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT,
             "unknown loss 'MeanSquaredError'; did you mean 'mean_squared_error'?");
  weft_graph_clear_error(g);
  weft_op(g, "Matmul", NULL, 1, &x, NULL);
  EXPECT_ERR(weft_graph_error(g), WEFT_NOT_FOUND, "did you mean 'MatMul'?");
  weft_graph_destroy(g);
}

/* ---- option structs of other versions ---- */

typedef struct later_opts { /* a struct of a later version */
  weft_session_opts now;
  int64_t added;
} later_opts;

TEST(option_structs_of_other_versions_are_read) {
  weft_graph *g;
  weft_session *s;
  later_opts later = {.now = {.size = sizeof later}};
  weft_session_opts older = {.size = offsetof(weft_session_opts, target), .target = "grpc://not read"};
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_OK(weft_session_create(&s, g, &later.now));
  weft_session_destroy(s);
  EXPECT_OK(weft_session_create(&s, g, &older));
  weft_session_destroy(s);
  later.added = 1;
  EXPECT_ERR(weft_session_create(&s, g, &later.now), WEFT_INVALID_ARGUMENT, "a later field is set");
  later.now.size = 3;
  EXPECT_ERR(weft_session_create(&s, g, &later.now), WEFT_INVALID_ARGUMENT,
             "weft_session_opts.size is 3; set it to sizeof(weft_session_opts), or to 0");
  weft_layer_dense(g, weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(1, 1)), 1, &(weft_layer_opts){.size = 1});
  EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, "weft_layer_opts.size is 1");
  weft_graph_destroy(g);
}

TEST(a_partial_run_refuses_what_it_has_not) {
  weft_graph *g;
  weft_session *s;
  weft_partial_run *run;
  EXPECT_OK(weft_graph_create(&g));
  weft_out x = weft_scalar(g, WEFT_FLOAT, 1);
  EXPECT_OK(weft_session_create(&s, g, NULL));
  EXPECT_OK(weft_session_partial_setup(&run, s, &(weft_request){.n_fetch = 1, .fetches = &x}));
  EXPECT_ERR(weft_session_partial_run(run, &(weft_request){.timeout_ms = 5}), WEFT_INVALID_ARGUMENT, "'timeout_ms'");
  EXPECT_ERR(weft_session_partial_run(run, &(weft_request){.n_target = 1, .targets = &x}), WEFT_INVALID_ARGUMENT,
             "'n_target'");
  weft_session_partial_destroy(run);
  weft_session_destroy(s);
  weft_graph_destroy(g);
}

/* ---- graph files ---- */

static void put(const char *path, const void *data, size_t size) {
  FILE *f = fopen(path, "wb");
  EXPECT(f != NULL);
  EXPECT(fwrite(data, 1, size, f) == size);
  EXPECT_EQ_INT(fclose(f), 0);
}

TEST(a_graph_comes_from_a_file_of_any_form) {
  static const char text[] = "node { name: 'c' op: 'NoOp' }\nnode { name: 'd' op: 'NoOp' input: '^c' }\n";
  weft_graph *g, *to;
  void *bytes, *meta;
  size_t size, meta_size;
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_OK(weft_graph_create(&to));
  weft_out c = weft_scalar(g, WEFT_FLOAT, 1);
  EXPECT_OK(weft_collection_add(g, "kept", "Const:0"));
  EXPECT(c.node >= 0);
  EXPECT_OK(weft_graph_export(&bytes, &size, g));
  EXPECT_OK(weft_graph_export_meta(&meta, &meta_size, g));
  put(test_path("g.pb"), bytes, size);
  put(test_path("g.meta"), meta, meta_size);
  put(test_path("g.pbtxt"), text, sizeof text - 1);
  put(test_path("bad.pb"), "\x0a\xff", 2);
  put(test_path("notes.txt"), "- buy milk\n", 11);
  EXPECT_OK(weft_graph_import_file(to, test_path("g.pb"), "a"));
  EXPECT_OK(weft_graph_import_file(to, test_path("g.meta"), "b"));
  EXPECT_OK(weft_graph_import_file(to, test_path("g.pbtxt"), NULL));
  EXPECT(weft_graph_find(to, "a/Const").node >= 0 && weft_graph_find(to, "b/Const").node >= 0);
  EXPECT(weft_graph_find(to, "^d").node >= 0);
  EXPECT_EQ_INT(weft_collection_size(to, "kept"), 1);
  EXPECT_ERR(weft_graph_import_file(to, "none.pb", NULL), WEFT_NOT_FOUND, "none.pb");
  EXPECT_ERR(weft_graph_import_file(to, test_path("bad.pb"), NULL), WEFT_INVALID_ARGUMENT, "bad.pb: ");
  EXPECT_ERR(weft_graph_import_file(to, test_path("notes.txt"), NULL), WEFT_INVALID_ARGUMENT,
             "notes.txt: the text is not a GraphDef: line 1");
  weft_free(bytes);
  weft_free(meta);
  weft_graph_destroy(g);
  weft_graph_destroy(to);
}

/* Adds a layer that must be refused with these words, and checks that the graph has not grown. */
#define REFUSED_WHOLE(g, call, words)                                                                                  \
  do {                                                                                                                 \
    const int had_ = weft_graph_size(g), variables_ = weft_collection_size(g, "variables");                            \
    EXPECT((call).node < 0);                                                                                           \
    EXPECT_ERR(weft_graph_error(g), WEFT_INVALID_ARGUMENT, words);                                                     \
    EXPECT_EQ_INT(weft_graph_size(g), had_);                                                                           \
    EXPECT_EQ_INT(weft_collection_size(g, "variables"), variables_);                                                   \
    weft_graph_clear_error(g);                                                                                         \
  } while (0)

TEST(a_refused_layer_leaves_the_graph_as_it_was) {
  weft_graph *g;
  EXPECT_OK(weft_graph_create(&g));
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1, 3));
  weft_out image = weft_input(g, "image", WEFT_FLOAT, WEFT_DIMS(-1, 8, 8, 3));
#define L(...) (&(weft_layer_opts){__VA_ARGS__})
  REFUSED_WHOLE(g, weft_layer_dense(g, x, 4, L(.activation = "relu")), "did you mean 'Relu'?");
  REFUSED_WHOLE(g, weft_layer_dense(g, x, 4, L(.activation = "MatMul")), "unknown activation 'MatMul'");
  REFUSED_WHOLE(g, weft_layer_dense(g, x, -4, NULL), "dense: units is -4; it must not be negative");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, 4, 3, 3, L(.activation = "relu")), "did you mean 'Relu'?");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, 4, 3, 3, L(.padding = "same")),
                "unknown padding 'same'; did you mean 'SAME'?");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, -1, 3, 3, NULL), "conv2d: filters is -1");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, 4, 3, -3, NULL), "conv2d: width is -3");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, 4, 3, 3, L(.stride_h = -2)), "conv2d: stride_h is -2");
  REFUSED_WHOLE(g, weft_layer_conv2d(g, image, 4, 3, 3, L(.dilation_w = -2)), "conv2d: dilation_w is -2");
  REFUSED_WHOLE(g, weft_layer_max_pooling2d(g, image, -2, 2, NULL), "max_pooling2d: height is -2");
  REFUSED_WHOLE(g, weft_layer_average_pooling2d(g, image, 2, 2, L(.padding = "full")), "unknown padding 'full'");
#undef L
  EXPECT(weft_layer_dense(g, x, 4, NULL).node >= 0);
  EXPECT(weft_graph_find(g, "dense/kernel").node >= 0); /* the refused layers did not use up the name */
  weft_graph_destroy(g);
}

/* ---- images with channels ---- */

TEST(images_get_the_channels_that_are_asked_for) {
  weft_tensor *images, *labels, *x, *y;
  weft_samples *d;
  EXPECT_OK(weft_tensor_create(&images, WEFT_UINT8, WEFT_DIMS(2, 4, 5), NULL));
  EXPECT_OK(weft_tensor_create(&labels, WEFT_UINT8, WEFT_DIMS(2), NULL));
  EXPECT_OK(weft_samples_create(&d, images, labels, &(weft_samples_opts){.channels = 1}));
  EXPECT_OK(weft_samples_next(d, 2, &x, &y));
  EXPECT_EQ_INT(weft_tensor_rank(x), 4);
  EXPECT_EQ_INT((int)weft_tensor_dims(x)[3], 1);
  weft_tensor_destroy(x);
  weft_tensor_destroy(y);
  weft_samples_destroy(d);
  EXPECT_ERR(weft_samples_create(&d, images, labels, &(weft_samples_opts){.channels = 3}), WEFT_INVALID_ARGUMENT,
             "do not have 3 channels");
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
}
