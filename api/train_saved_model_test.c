/* train_saved_model_test.c - writes a SavedModel and loads it, with its variables, into another graph. */
#include "tests/check.h"
#include "tests/scratch.h"
#include "weft/supervise.h"
#include <stdio.h>

static const char *const serve[] = {"serve"};

static void write_model(const char *dir) {
  weft_graph *g;
  weft_session *sess;
  weft_saved_model *m;
  EXPECT_OK(weft_graph_create(&g));
  weft_out x = weft_input(g, "x", WEFT_FLOAT, WEFT_DIMS(-1));
  weft_out w = weft_variable(g, "w", weft_scalar(g, WEFT_FLOAT, 3), true), y = weft_mul(g, x, w);
  weft_out init = weft_initializer(g);
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  EXPECT_OK(weft_session_run_target(sess, init));
  weft_signature s = {.key = "serving_default",
                      .method = "tensorflow/serving/predict",
                      .n_in = 1,
                      .n_out = 1,
                      .in_names = (const char *[]){"x"},
                      .out_names = (const char *[]){"y"},
                      .in = &x,
                      .out = &y};
  weft_saved_model_opts o = {.n_tag = 1, .tags = serve, .n_signature = 1, .signatures = &s};
  EXPECT_OK(weft_saved_model_create(&m, dir));
  EXPECT_OK(weft_saved_model_add(m, g, sess, &o));
  EXPECT_ERR(weft_saved_model_add(m, g, sess, &o), WEFT_FAILED_PRECONDITION, "already been saved");
  EXPECT_OK(weft_saved_model_write(m));
  weft_saved_model_destroy(m), weft_session_destroy(sess), weft_graph_destroy(g);
}

TEST(a_model_is_loaded_with_its_variables) {
  weft_graph *g;
  weft_session *sess;
  weft_tensor *x, *y;
  const char *dir = test_path("model");
  write_model(dir);
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  EXPECT_OK(weft_saved_model_load(dir, g, sess, 1, serve, "served", NULL, NULL));
  EXPECT_OK(weft_tensor_create(&x, WEFT_FLOAT, WEFT_DIMS(1), (float[]){2}));
  weft_out in = weft_graph_find(g, "served/x:0"), out = weft_graph_find(g, "served/Mul:0");
  EXPECT_OK(weft_session_run(
      sess, &(weft_request){.n_feed = 1, .feeds = &(weft_feed){in, x}, .n_fetch = 1, .fetches = &out, .fetched = &y}));
  EXPECT_NEAR(*(const float *)weft_tensor_data(y), 6, 0);
  weft_tensor_destroy(x), weft_tensor_destroy(y), weft_session_destroy(sess), weft_graph_destroy(g);
}

TEST(a_model_that_is_not_there_or_has_other_tags_says_so) {
  weft_graph *g;
  weft_saved_model *m;
  const char *dir = test_path("model"), *other[] = {"train"};
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_ERR(weft_saved_model_load(dir, g, NULL, 1, serve, NULL, NULL, NULL), WEFT_NOT_FOUND,
             "SavedModel file does not");
  write_model(dir);
  EXPECT_ERR(weft_saved_model_load(dir, g, NULL, 1, other, NULL, NULL, NULL), WEFT_INVALID_ARGUMENT,
             "tags {'train'} could not be found");
  EXPECT_ERR(weft_saved_model_create(&m, dir), WEFT_ALREADY_EXISTS, "isn't empty");
  EXPECT_ERR(weft_saved_model_create(&m, ""), WEFT_INVALID_ARGUMENT, "needs a folder");
  weft_graph_destroy(g);
}

TEST(a_damaged_model_is_refused) {
  weft_graph *g;
  const char *dir = test_path("model");
  char path[512];
  write_model(dir);
  snprintf(path, sizeof path, "%s/saved_model.pb", dir);
  FILE *f = fopen(path, "r+b");
  EXPECT(f && fseek(f, 40, SEEK_SET) == 0);
  for (int i = 0; i < 64; i++) fputc(0xff, f);
  fclose(f);
  EXPECT_OK(weft_graph_create(&g));
  EXPECT(weft_saved_model_load(dir, g, NULL, 1, serve, NULL, NULL, NULL) != WEFT_OK);
  weft_graph_destroy(g);
}
