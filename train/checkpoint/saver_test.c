/* saver_test.c - tests checkpoints that real sessions write and read in a temporary folder. */
#include "train/checkpoint/saver.h"

#include "base/alloc.h"
#include "base/log.h"
#include "graph/build.h"
#include "graph/collection.h"
#include "graph/metagraph.h"
#include "graph/variable_scope.h"
#include "io/file.h"
#include "ops/all.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/path.h"
#include "train/session/run.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *sess;
  weft_out w, b;
  int init;
} bench;

static char logged[8192];

static void note(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg, (void)level, (void)file, (void)line;
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
  strncat(logged, "\n", sizeof logged - strlen(logged) - 1);
}

static void enter_folder(void) {
  EXPECT(chdir(test_path(".")) == 0);
  weft__log_set_callback(note, NULL);
}

static weft_out variable_of(weft_graph *g, const char *name, shape s, double v, int *init) {
  variable_nodes nodes;
  variable_spec spec = {.name = name, .has_shape = true, .shape = s, .dtype = WEFT_FLOAT};
  spec.init = (initializer){.kind = INIT_CONSTANT, .a = v};
  EXPECT_OK(weft__variable_get(g, &spec, &nodes));
  *init = nodes.assign;
  return nodes.variable;
}

static bench begin_with(double w, double b) {
  bench t = {0};
  int init[2];
  enter_folder();
  EXPECT_OK(weft__op_table_create(&t.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&t.g, t.ops));
  t.w = variable_of(t.g, "w", SHAPE2(2, 3), w, &init[0]);
  t.b = variable_of(t.g, "b", SHAPE1(3), b, &init[1]);
  t.init = weft__b_add_node(t.g, &(node_spec){.op = "NoOp", .name = "init", .n_control = 2, .control = init}).node;
  return t;
}

static bench begin(void) { return begin_with(1.5, -2); }

static void open_session(bench *t) {
  EXPECT_OK(weft__session_create(&t->sess, t->g, NULL));
  EXPECT_OK(weft__run_target(t->sess, t->init));
}

static void end(bench *t) {
  weft__session_destroy(t->sess);
  weft__graph_destroy(t->g);
  weft__op_table_destroy(t->ops);
}

static float first_of(weft_session *sess, weft_out o) {
  weft_tensor *t;
  EXPECT_OK(weft__run_fetch(sess, o, &t));
  float v = TENSOR_DATA(t, float)[0];
  weft_tensor_destroy(t);
  return v;
}

static const char *content(const char *path) {
  static char held[4096];
  text t = {0};
  EXPECT_OK(weft__file_read(path, &t));
  snprintf(held, sizeof held, "%s", weft__text_get(&t));
  weft__text_finish(&t);
  return held;
}

static void save_step(weft_saver *s, weft_session *sess, const char *path, int64_t at) {
  EXPECT_OK(weft__saver_save(s, sess, path, &(weft_save_opts){.step = &at}, NULL));
}

/* Restores into a new session of the same program whose variables have other initial values. */
static float restored_by_another(const char *path) {
  bench t = begin_with(0, 0);
  weft_saver *s;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__saver_restore(s, t.sess, path));
  float v = first_of(t.sess, t.w);
  weft__saver_destroy(s);
  weft__session_destroy(t.sess);
  weft__graph_destroy(t.g);
  weft__op_table_destroy(t.ops);
  return v;
}

TEST(what_was_saved_is_restored_by_another_graph) {
  bench t = begin();
  weft_saver *s;
  char *saved;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__saver_save(s, t.sess, "deep/er/model.ckpt", NULL, &saved));
  EXPECT_EQ_STR(saved, "deep/er/model.ckpt");
  EXPECT(weft__file_exists("deep/er/model.ckpt.index"));
  EXPECT(weft__file_exists("deep/er/model.ckpt.meta"));
  EXPECT_EQ_STR(content("deep/er/checkpoint"),
                "model_checkpoint_path: \"model.ckpt\"\nall_model_checkpoint_paths: \"model.ckpt\"\n");
  EXPECT_NEAR(restored_by_another("deep/er/model.ckpt"), 1.5, 0);
  weft__free(saved);
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_sharded_saver_makes_one_bundle_of_its_parts) {
  bench t = begin();
  weft_saver *s;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.sharded = true}));
  open_session(&t);
  save_step(s, t.sess, "m", 7);
  EXPECT(weft__file_exists("m-7.index"));
  EXPECT(!weft__file_exists("m-7_temp"));
  EXPECT_NEAR(restored_by_another("m-7"), 1.5, 0);
  weft__saver_destroy(s);
  end(&t);
}

static void save_old(bool sharded, const char *named) {
  bench t = begin();
  weft_saver *s;
  weft_checkpoint *c;
  weft_tensor *w;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.version = 1, .sharded = sharded, .max_to_keep = 1}));
  open_session(&t);
  save_step(s, t.sess, "m", 7);
  save_step(s, t.sess, "m", 8);
  EXPECT(!weft__file_exists("m-8.index"));
  EXPECT(!weft__checkpoint_exists("m-7") && !weft__file_exists("m-7.meta") && weft__file_exists("m-8.meta"));
  EXPECT(weft__checkpoint_exists(named));
  EXPECT_NEAR(restored_by_another(named), 1.5, 0);
  EXPECT_OK(weft__checkpoint_open(&c, named));
  EXPECT_EQ_INT(c->n, 2);
  EXPECT_EQ_STR(c->item[0].name, "b");
  EXPECT_OK(weft__checkpoint_read(c, "w", &w));
  EXPECT_NEAR(TENSOR_DATA(w, float)[5], 1.5, 0);
  weft_tensor_destroy(w);
  weft__checkpoint_close(c);
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_saver_of_version_1_writes_one_file) { save_old(false, "m-8"); }
TEST(shards_of_version_1_stay_apart) { save_old(true, "m-8-\?\?\?\?\?-of-00001"); }

TEST(a_variable_may_have_another_name_and_shape_in_the_file) {
  bench t = begin();
  weft_saver *s, *other;
  int init;
  const char *names[] = {"old/w"};
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.n_variable = 1, .variables = &t.w, .names = names}));
  weft_out flat = variable_of(t.g, "flat", SHAPE1(6), 0, &init);
  weft_saver_opts opts = {.n_variable = 1, .variables = &flat, .names = names, .reshape = true};
  EXPECT_OK(weft__saver_create(&other, t.g, &opts));
  open_session(&t);
  EXPECT_OK(weft__saver_save(s, t.sess, "m", NULL, NULL));
  EXPECT_OK(weft__saver_restore(other, t.sess, "m"));
  EXPECT_NEAR(first_of(t.sess, flat), 1.5, 0);
  weft__saver_destroy(s);
  weft__saver_destroy(other);
  end(&t);
}

TEST(the_last_few_are_kept_and_the_state_file_lists_them) {
  bench t = begin();
  weft_saver *s;
  weft_checkpoint_state *state;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.max_to_keep = 2}));
  open_session(&t);
  save_step(s, t.sess, "m", 1);
  save_step(s, t.sess, "./m", 2);
  save_step(s, t.sess, "m", 3);
  EXPECT(!weft__file_exists("m-1.index") && !weft__file_exists("m-1.meta"));
  EXPECT(!weft__file_exists("m-1.data-00000-of-00001"));
  EXPECT_EQ_STR(content("checkpoint"), "model_checkpoint_path: \"m-3\"\nall_model_checkpoint_paths: \"m-2\"\n"
                                       "all_model_checkpoint_paths: \"m-3\"\n");
  save_step(s, t.sess, "m", 2); /* TensorFlow treats "./m-2" as another file and deletes what it has just written */
  EXPECT(weft__file_exists("m-2.index"));
  EXPECT_OK(weft__saver_kept(s, &state));
  EXPECT_EQ_INT(state->n, 2);
  EXPECT_EQ_STR(state->all[0], "m-3");
  EXPECT_EQ_STR(state->latest, "m-2");
  weft__checkpoint_state_destroy(state);
  weft__saver_destroy(s);
  end(&t);
}

TEST(one_for_each_span_of_hours_is_kept_for_ever) {
  bench t = begin();
  weft_saver *s, *first;
  double now = (double)time(NULL), times[] = {now, now + 3700};
  EXPECT_OK(weft__saver_create(&first, t.g, NULL));
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.max_to_keep = 2, .keep_every_hours = 1}));
  open_session(&t);
  save_step(first, t.sess, "m", 0);
  save_step(first, t.sess, "m", 1);
  EXPECT_OK(weft__saver_set_kept(s, 2, (const char *const[]){"m-0", "m-1"}, times));
  for (int i = 2; i < 6; i++) save_step(s, t.sess, "m", i);
  EXPECT(!weft__file_exists("m-0.index"));
  EXPECT(weft__file_exists("m-1.index")); /* saved more than an hour after the saver was created */
  EXPECT(!weft__file_exists("m-2.index") && !weft__file_exists("m-3.index"));
  EXPECT(weft__file_exists("m-5.index"));
  weft__saver_destroy(s);
  weft__saver_destroy(first);
  end(&t);
}

TEST(a_new_saver_goes_on_with_the_files_it_finds) {
  bench t = begin();
  weft_saver *s;
  weft_checkpoint_state *state;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.max_to_keep = 2}));
  open_session(&t);
  save_step(s, t.sess, "m", 1);
  save_step(s, t.sess, "m", 2);
  weft__saver_destroy(s);
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.max_to_keep = 2}));
  EXPECT_OK(weft__saver_recover_kept(s, 3, (const char *const[]){"m-1", "gone", "m-2"}));
  save_step(s, t.sess, "m", 3);
  EXPECT(!weft__file_exists("m-1.index"));
  EXPECT_OK(weft__saver_kept(s, &state));
  EXPECT_EQ_INT(state->n, 2);
  weft__checkpoint_state_destroy(state);
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_damaged_newest_checkpoint_falls_back_to_the_one_before) {
  bench t = begin();
  weft_saver *s;
  char *from;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  save_step(s, t.sess, "log/m", 1);
  save_step(s, t.sess, "log/m", 2);
  save_step(s, t.sess, "log/m", 3);
  FILE *f = fopen("log/m-3.data-00000-of-00001", "r+b"); /* damages one byte */
  EXPECT(f && fseek(f, 5, SEEK_SET) == 0 && fputc(99, f) == 99 && fclose(f) == 0);
  EXPECT_OK(weft__file_delete("log/m-2.data-00000-of-00001")); /* removes a file */
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "log", NULL, &from));
  EXPECT_EQ_STR(from, "log/m-1");
  EXPECT_CONTAINS(logged, "checkpoint log/m-3 cannot be restored, the one before it is tried");
  EXPECT_CONTAINS(logged, "checkpoint log/m-2 cannot be restored");
  EXPECT_CONTAINS(logged, "Restoring parameters from log/m-1");
  weft__free(from);
  EXPECT_OK(weft__file_delete("log/m-1.index"));
  weft__saver_destroy(s);
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  EXPECT_ERR(weft__saver_restore_latest(s, t.sess, "log", NULL, &from), WEFT_DATA_LOSS, "m-3");
  EXPECT(from == NULL);
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "nowhere", NULL, &from));
  EXPECT(from == NULL);
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_state_file_without_any_of_its_files_is_as_good_as_none) {
  bench t = begin();
  weft_saver *s;
  char *from;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__dir_create("log"));
  EXPECT_OK(weft__checkpoint_state_write("log", "log/m-0", 0, NULL, NULL, false));
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "log", NULL, &from));
  EXPECT(from == NULL);
  EXPECT_CONTAINS(logged, "Couldn't match files for checkpoint log/m-0");
  weft__saver_destroy(s);
  end(&t);
}

TEST(what_was_just_restored_is_not_written_over) {
  bench t = begin();
  weft_saver *s;
  char *from;
  struct stat before, after;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  save_step(s, t.sess, "log/m", 4);
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "log", NULL, &from));
  EXPECT(stat("log/m-4.index", &before) == 0);
  EXPECT_OK(weft__saver_save_progress(s, t.sess, "log/m", &(weft_save_opts){.step = &(int64_t){4}}));
  EXPECT(stat("log/m-4.index", &after) == 0 && before.st_ino == after.st_ino);
  EXPECT_OK(weft__saver_save_progress(s, t.sess, "log/m", &(weft_save_opts){.step = &(int64_t){4}}));
  EXPECT(stat("log/m-4.index", &after) == 0 && before.st_ino != after.st_ino);
  weft__free(from);
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_checkpoint_of_another_graph_is_an_error_not_a_reason_to_fall_back) {
  bench t = begin();
  weft_saver *s, *more;
  char *from;
  int init;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  variable_of(t.g, "new", SHAPE1(3), 0, &init);
  EXPECT_OK(weft__saver_create(&more, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__run_target(t.sess, init));
  EXPECT_OK(weft__saver_save(more, t.sess, "log/m-1", NULL, NULL));
  EXPECT_OK(weft__saver_save(s, t.sess, "log/m-2", NULL, NULL));
  EXPECT_ERR(weft__saver_restore_latest(more, t.sess, "log", NULL, &from), WEFT_NOT_FOUND,
             "Restoring from checkpoint failed. This is most likely due to a Variable name");
  EXPECT_ERR(weft__saver_restore(more, t.sess, "log/m-2"), WEFT_NOT_FOUND, "Key new not found in checkpoint");
  weft__saver_destroy(s);
  weft__saver_destroy(more);
  end(&t);
}

TEST(a_checkpoint_can_be_looked_into_without_a_graph) {
  bench t = begin();
  weft_saver *s;
  weft_checkpoint *c;
  weft_tensor *w;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__saver_save(s, t.sess, "m", NULL, NULL));
  EXPECT_OK(weft__checkpoint_open(&c, "m"));
  EXPECT_EQ_INT(c->n, 2);
  EXPECT_EQ_STR(c->item[0].name, "b");
  EXPECT_EQ_STR(c->item[1].name, "w");
  EXPECT_EQ_INT(c->item[1].entry.shape.dim[1], 3);
  EXPECT_OK(weft__checkpoint_read(c, "w", &w));
  EXPECT_NEAR(TENSOR_DATA(w, float)[5], 1.5, 0);
  weft_tensor_destroy(w);
  EXPECT_ERR(weft__checkpoint_read(c, "none", &w), WEFT_NOT_FOUND, "Key none not found in checkpoint");
  weft__checkpoint_close(c);
  EXPECT(weft__checkpoint_open(&c, "nowhere") == WEFT_NOT_FOUND);
  weft__saver_destroy(s);
  end(&t);
}

TEST(any_failed_allocation_leaves_the_graph_as_it_was) {
  bench t = begin();
  weft_saver *s = NULL;
  weft_saver_opts opts = {.sharded = true, .reshape = true};
  int before = t.g->n_node;
  weft_err err = WEFT_OOM;
  for (long n = 1; err; n++) {
    weft__alloc_fail_after(n);
    err = weft__saver_create(&s, t.g, &opts);
    weft__alloc_fail_after(0);
    if (!err) break;
    EXPECT_EQ_INT(err, WEFT_OOM);
    EXPECT_EQ_INT(t.g->n_node, before);
    EXPECT_OK(weft__b_ok(t.g));
  }
  open_session(&t);
  EXPECT_OK(weft__saver_save(s, t.sess, "m", NULL, NULL));
  EXPECT_NEAR(restored_by_another("m"), 1.5, 0);
  weft__saver_destroy(s);
  end(&t);
}

TEST(bad_calls_say_what_is_wrong_and_leave_the_graph_alone) {
  bench t = begin();
  weft_saver *s;
  weft_out two[] = {t.w, t.b};
  int before = t.g->n_node;
  EXPECT_ERR(
      weft__saver_create(
          &s, t.g, &(weft_saver_opts){.n_variable = 2, .variables = two, .names = (const char *const[]){"x", "x"}}),
      WEFT_INVALID_ARGUMENT, "At least two variables have the same name: x");
  weft_out no_variable = weft__b_scalar(t.g, WEFT_FLOAT, 1);
  EXPECT_ERR(weft__saver_create(&s, t.g, &(weft_saver_opts){.n_variable = 1, .variables = &no_variable}),
             WEFT_INVALID_ARGUMENT, "is a Const and no variable");
  EXPECT_ERR(weft__saver_create(&s, t.g, &(weft_saver_opts){.name = "no name"}), WEFT_INVALID_ARGUMENT, "no name");
  EXPECT_EQ_INT(t.g->n_node, before + 1);
  EXPECT_OK(weft__b_ok(t.g));
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_ERR(weft__saver_save(s, t.sess, "", NULL, NULL), WEFT_INVALID_ARGUMENT, "no path specified");
  EXPECT_ERR(weft__saver_save(s, t.sess, "m", &(weft_save_opts){.latest_filename = "a/b"}, NULL), WEFT_INVALID_ARGUMENT,
             "'latest_filename' must not contain path components");
  EXPECT_ERR(weft__saver_restore(s, t.sess, NULL), WEFT_INVALID_ARGUMENT, "Can't load save_path when it is None.");
  EXPECT_ERR(weft__saver_restore(s, t.sess, "none"), WEFT_INVALID_ARGUMENT,
             "The passed save_path is not a valid checkpoint: none");
  weft__saver_destroy(s);
  end(&t);
}

TEST(a_meta_graph_brings_its_saver_along) {
  bench t = begin(), other = {0};
  weft_saver *s, *again;
  void *def;
  size_t size;
  text meta = {0};
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  EXPECT_OK(weft__saver_save(s, t.sess, "m", NULL, NULL));
  EXPECT_OK(weft__saver_def(s, &def, &size));
  EXPECT_OK(weft__op_table_create(&other.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&other.g, other.ops));
  EXPECT_OK(weft__file_read("m.meta", &meta));
  EXPECT_OK(weft__metagraph_import(other.g, meta.data, meta.size, NULL));
  EXPECT_OK(weft__saver_adopt(&again, other.g, def, size));
  EXPECT_OK(weft__session_create(&other.sess, other.g, NULL));
  EXPECT_OK(weft__saver_restore(again, other.sess, "m"));
  weft_out w;
  EXPECT_OK(weft__graph_find_out(other.g, "w", &w));
  EXPECT_NEAR(first_of(other.sess, w), 1.5, 0);
  weft__text_finish(&meta);
  weft__free(def);
  weft__saver_destroy(s);
  weft__saver_destroy(again);
  weft__session_destroy(other.sess);
  weft__graph_destroy(other.g);
  weft__op_table_destroy(other.ops);
  end(&t);
}

/* Restores, reports that it saves now, and saves until it is killed. */
static void save_for_ever(int64_t first, int tell) {
  char *from;
  bench t = begin();
  weft_saver *s;
  weft_out one = weft__b_scalar(t.g, WEFT_FLOAT, 1);
  weft_out ones = weft__b_fill(t.g, weft__b_ints(t.g, (int64_t[]){2, 3}, 2), one);
  int grow = weft__b_binary(t.g, "AssignAdd", t.w, ones).node;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.max_to_keep = 2, .sharded = true}));
  open_session(&t);
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "log", NULL, &from));
  EXPECT(write(tell, "s", 1) == 1);
  for (int64_t i = first;; i++) {
    EXPECT_OK(weft__run_target(t.sess, grow));
    save_step(s, t.sess, "log/m", i);
  }
}

/* Reports whether the latest checkpoint is restored without an error. */
static void restore_once(int64_t unused, int tell) {
  char *from = NULL;
  bench t = begin();
  weft_saver *s;
  (void)unused;
  EXPECT_OK(weft__saver_create(&s, t.g, NULL));
  open_session(&t);
  logged[0] = 0;
  EXPECT_OK(weft__saver_restore_latest(s, t.sess, "log", NULL, &from));
  bool good = !weft__file_exists("log/checkpoint") || (from && !strstr(logged, "cannot be restored"));
  EXPECT(write(tell, good ? "y" : "n", 1) == 1);
  pause();
}

/* Saves once. */
static void save_once_more(int64_t number, int tell) {
  bench t = begin();
  weft_saver *s;
  EXPECT_OK(weft__saver_create(&s, t.g, &(weft_saver_opts){.sharded = true}));
  open_session(&t);
  save_step(s, t.sess, "log/m", number);
  EXPECT(write(tell, "d", 1) == 1);
  pause();
}

static int temporaries(void) {
  path_list in_log, in_shards;
  EXPECT_OK(weft__file_match("log/*.tempstate*", &in_log));
  EXPECT_OK(weft__file_match("log/*_temp_*/*.tempstate*", &in_shards));
  int n = in_log.n + in_shards.n;
  weft__path_list_finish(&in_log);
  weft__path_list_finish(&in_shards);
  return n;
}

/* Detaches from the test framework: a process that is killed while it reports an expectation would corrupt the
 * report. */
static void leave_check(int keep) {
  int nobody = open("/dev/null", O_WRONLY);
  for (int fd = 3; fd < 256; fd++)
    if (fd != keep && fd != nobody && fcntl(fd, F_GETFD) >= 0) dup2(nobody, fd);
}

/* Runs `work` in a separate process and returns what it reports; the process is killed `after` microseconds later. */
static char told_by(void (*work)(int64_t n, int tell), int64_t n, useconds_t after) {
  char byte = 0;
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    leave_check(ends[1]);
    work(n, ends[1]);
    _exit(1);
  }
  close(ends[1]);
  EXPECT(read(ends[0], &byte, 1) == 1);
  close(ends[0]);
  usleep(after);
  kill(child, SIGKILL);
  EXPECT(waitpid(child, NULL, 0) == child);
  return byte;
}

/* Savers and readers are processes, because a process with threads must not fork under the sanitizer. */
TEST_WITHIN(180, a_kill_at_any_moment_leaves_a_checkpoint_that_restores) {
  enter_folder(); /* created here, so that all processes share this folder */
  for (int round = 0; round < 200; round++) {
    EXPECT_EQ_INT(told_by(save_for_ever, 1000 * round, (useconds_t)(7919 * round % 40000)), 's');
    EXPECT_EQ_INT(told_by(restore_once, 0, 0), 'y');
  }
  EXPECT_EQ_INT(told_by(save_once_more, 1000000, 0), 'd'); /* also removes the files of the killed ones */
  EXPECT_EQ_INT(temporaries(), 0);
}

TEST(paths_are_compared_and_joined_as_text) {
  EXPECT(weft__path_same("./a//b", "a/c/../b"));
  EXPECT(!weft__path_same("a", "/a"));
  char *p = weft__path_relative("/x/y/m", "/x/z");
  EXPECT_EQ_STR(p, "../y/m");
  weft__free(p);
  p = weft__path_relative("/x/ym", "/x/y");
  EXPECT_EQ_STR(p, "../ym");
  weft__free(p);
  p = weft__path_relative("/x/y", "/x/y/");
  EXPECT_EQ_STR(p, ".");
  weft__free(p);
  p = weft__path_below("a/", "b");
  EXPECT_EQ_STR(p, "a/b");
  weft__free(p);
}

TEST(a_state_file_survives_odd_names_and_garbage) {
  enter_folder();
  weft_checkpoint_state *s;
  const char *all[] = {"a \"b\"\\\n", "\xc3\xa9"};
  EXPECT_OK(weft__checkpoint_state_write(".", all[1], 2, all, NULL, false));
  EXPECT_OK(weft__checkpoint_state_read(&s, "", NULL));
  EXPECT_EQ_INT(s->n, 2);
  EXPECT_EQ_STR(s->all[0], all[0]);
  EXPECT_EQ_STR(s->latest, all[1]);
  weft__checkpoint_state_destroy(s);
  EXPECT_OK(weft__file_write("checkpoint", "garbage", 7));
  EXPECT_OK(weft__checkpoint_state_read(&s, ".", NULL));
  EXPECT(s == NULL);
  EXPECT_CONTAINS(logged, "Checkpoint ignored");
  const char newer[] = "model_checkpoint_path: 'x'\nall_model_checkpoint_paths: \"x\"\n"
                       "all_model_checkpoint_timestamps: 1.5e9\nlast_preserved_timestamp: 3";
  EXPECT_OK(weft__file_write("checkpoint", newer, strlen(newer)));
  EXPECT_OK(weft__checkpoint_state_read(&s, test_path("."), NULL));
  EXPECT_EQ_INT(s->n, 1);
  EXPECT_CONTAINS(s->latest, "/x");
  weft__checkpoint_state_destroy(s);
}
