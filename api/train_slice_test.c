/* train_slice_test.c - tests that the partitions of a variable and of its slots are saved as one tensor and restored
 * into another partitioning. */
#include "tests/check.h"
#include "tests/scratch.h"
#include "weft/supervise.h"
#include <stdio.h>

/* Creates "e", 5 rows of 2, in partitions with these numbers of rows. */
static void cut(weft_graph *g, int n, const int64_t *rows, weft_out *piece) {
  int64_t at = 0, full[] = {5, 2};
  weft_initial init = {.kind = WEFT_INIT_CONSTANT, .a = 3};
  for (int i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "e/part_%d", i);
    piece[i] = weft_get_variable(g, name, WEFT_FLOAT, WEFT_DIMS(rows[i], 2), &init, true);
    EXPECT_OK(weft_variable_set_slice(g, piece[i], "e", 2, full, (int64_t[]){at, 0}));
    at += rows[i];
  }
}

static weft_session *started(weft_graph *g) {
  weft_session *sess;
  weft_out init = weft_initializer(g);
  EXPECT_OK(weft_session_create(&sess, g, NULL));
  EXPECT_OK(weft_session_run_target(sess, init));
  return sess;
}

static void save_in_two(const char *path) {
  weft_graph *g;
  weft_saver *saver;
  weft_optimizer *o;
  weft_out piece[2];
  EXPECT_OK(weft_graph_create(&g));
  weft_initial three = {.kind = WEFT_INIT_CONSTANT, .a = 3};
  EXPECT_OK(weft_get_variable_parts(g, "e", WEFT_FLOAT, WEFT_DIMS(5, 2), 0, 2, &three, true, piece)); /* 3 and 2 rows */
  weft_out loss = weft_add(g, weft_sum(g, weft_square(g, piece[0])), weft_sum(g, weft_square(g, piece[1])));
  EXPECT_OK(weft_optimizer_create(&o, g, "Adagrad", NULL));
  EXPECT_OK(weft_optimizer_set(o, "learning_rate", 0.5));
  weft_out train = weft_optimizer_minimize(o, loss, WEFT_NONE, 0, NULL, NULL, NULL);
  EXPECT_OK(weft_saver_create(&saver, g, NULL));
  weft_session *sess = started(g);
  EXPECT_OK(weft_session_run_target(sess, train));
  EXPECT_OK(weft_saver_save(saver, sess, path, NULL, NULL));
  weft_saver_destroy(saver), weft_session_destroy(sess), weft_optimizer_destroy(o), weft_graph_destroy(g);
}

TEST(pieces_and_their_slots_are_whole_tensors_in_a_checkpoint) {
  weft_checkpoint *c;
  weft_tensor *t;
  const char *path = test_path("m");
  save_in_two(path);
  EXPECT_OK(weft_checkpoint_open(&c, path));
  EXPECT_EQ_INT(weft_checkpoint_size(c), 2);
  EXPECT_EQ_STR(weft_checkpoint_name(c, 0), "e");
  EXPECT_EQ_STR(weft_checkpoint_name(c, 1), "e/Adagrad");
  EXPECT_OK(weft_checkpoint_read(&t, c, "e/Adagrad"));
  EXPECT_EQ_INT(weft_tensor_count(t), 10);
  for (int i = 0; i < 10; i++) EXPECT_NEAR(((const float *)weft_tensor_data(t))[i], 36.1, 1e-4);
  weft_tensor_destroy(t);
  weft_checkpoint_close(c);
}

TEST(a_checkpoint_of_pieces_is_read_into_another_cut) {
  weft_graph *g;
  weft_saver *saver;
  weft_out piece[3];
  weft_tensor *found[3];
  const char *path = test_path("m");
  save_in_two(path);
  EXPECT_OK(weft_graph_create(&g));
  cut(g, 3, (int64_t[]){1, 3, 1}, piece);
  EXPECT_OK(weft_saver_create(&saver, g, NULL));
  weft_session *sess = started(g);
  EXPECT_OK(weft_saver_restore(saver, sess, path));
  EXPECT_OK(weft_session_run(sess, &(weft_request){.n_fetch = 3, .fetches = piece, .fetched = found}));
  for (int i = 0; i < 3; i++) {
    EXPECT(((const float *)weft_tensor_data(found[i]))[0] < 2.6);
    weft_tensor_destroy(found[i]);
  }
  weft_saver_destroy(saver), weft_session_destroy(sess), weft_graph_destroy(g);
}

TEST(a_variable_is_cut_only_as_its_shape_allows) {
  weft_graph *g;
  weft_out piece[6];
  EXPECT_OK(weft_graph_create(&g));
  EXPECT_ERR(weft_get_variable_parts(g, "e", WEFT_FLOAT, WEFT_DIMS(5, 2), 0, 6, NULL, true, piece),
             WEFT_INVALID_ARGUMENT, "axis 0 of variable 'e' of shape [5,2] cannot be cut into 6 pieces");
  EXPECT_ERR(weft_get_variable_parts(g, "e", WEFT_FLOAT, WEFT_DIMS(5, 2), 2, 2, NULL, true, piece),
             WEFT_INVALID_ARGUMENT, "no axis 2");
  weft_graph_destroy(g);
}

TEST(pieces_are_found_again_where_the_scope_says_reuse) {
  weft_graph *g;
  weft_out first[2], again[2];
  EXPECT_OK(weft_graph_create(&g));
  for (int i = 0; i < 2; i++) {
    weft_scope_push_variables(g, "s", WEFT_REUSE_AUTO, NULL);
    EXPECT_OK(weft_get_variable_parts(g, "e", WEFT_FLOAT, WEFT_DIMS(5, 2), 1, 2, NULL, true, i ? again : first));
    weft_scope_pop(g);
  }
  EXPECT_EQ_INT(first[1].node, again[1].node);
  EXPECT_EQ_STR(weft_node_name(weft_graph_node(g, first[1].node)), "s/e/part_1");
  weft_graph_destroy(g);
}

TEST(a_piece_that_reaches_beyond_the_whole_is_refused) {
  weft_graph *g;
  weft_out piece;
  EXPECT_OK(weft_graph_create(&g));
  cut(g, 1, (int64_t[]){5}, &piece);
  int64_t full[] = {5, 2}, late[] = {1, 0};
  EXPECT_ERR(weft_variable_set_slice(g, piece, "e", 2, full, late), WEFT_OUT_OF_RANGE, "from 1 to 6 in dimension 0");
  EXPECT_ERR(weft_variable_set_slice(g, piece, "e", 1, full, late), WEFT_INVALID_ARGUMENT, "of rank 2 is no piece");
  EXPECT_ERR(weft_variable_set_slice(g, piece, NULL, 2, full, late), WEFT_INVALID_ARGUMENT,
             "'full_name' must not be NULL");
  weft_graph_destroy(g);
}
