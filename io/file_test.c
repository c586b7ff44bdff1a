/* file_test.c - tests that files are written whole or not at all, and the words of errors. */
#include "io/file.h"

#include "base/alloc.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int matches(const char *pattern) {
  path_list l;
  EXPECT_OK(weft__file_match(test_path(pattern), &l));
  int n = l.n;
  weft__path_list_finish(&l);
  return n;
}

TEST(a_file_is_written_whole_and_read_back) {
  text t = {0};
  EXPECT_OK(weft__file_write(test_path("a"), "hello\0", 6));
  EXPECT_OK(weft__file_read(test_path("a"), &t));
  EXPECT_EQ_INT(t.size, 6);
  EXPECT_EQ_INT(matches("*"), 1);
  weft__text_finish(&t);
}

TEST(an_abandoned_file_leaves_nothing_and_the_old_one_in_place) {
  file_writer *w = NULL;
  text t = {0};
  EXPECT_OK(weft__file_write(test_path("a"), "old", 3));
  EXPECT_OK(weft__writer_create(&w, test_path("a")));
  weft__writer_append(w, "new", 3);
  EXPECT_OK(weft__writer_sync(w));
  EXPECT_EQ_INT(matches("a*"), 2);
  weft__writer_destroy(w);
  EXPECT_EQ_INT(matches("a*"), 1);
  EXPECT_OK(weft__file_read(test_path("a"), &t));
  EXPECT_EQ_MEM(t.data, "old", 3);
  weft__text_finish(&t);
}

TEST(what_a_killed_writer_left_is_swept_and_what_is_being_written_is_not) {
  file_writer *w = NULL;
  EXPECT_OK(weft__dir_create(test_path("x_temp_1")));
  pid_t child = fork();
  if (child == 0) {
    if (weft__writer_create(&w, test_path("dead")) || weft__writer_create(&w, test_path("x_temp_1/part"))) _exit(1);
    kill(getpid(), SIGKILL);
  }
  EXPECT(waitpid(child, NULL, 0) == child);
  EXPECT_OK(weft__file_write(test_path("mine.tempstate"), "1", 1)); /* without a number: not a temporary file */
  EXPECT_OK(weft__writer_create(&w, test_path("live")));
  weft__writer_append(w, "new", 3);
  EXPECT_OK(weft__writer_sync(w));
  EXPECT_EQ_INT(matches("dead.tempstate*") + matches("x_temp_1/part.tempstate*"), 2);
  weft__file_sweep(test_path("."));
  EXPECT_EQ_INT(matches("dead*") + matches("x_temp_1/*"), 0);
  EXPECT_EQ_INT(matches("mine.tempstate") + matches("live.tempstate*"), 2);
  EXPECT_OK(weft__writer_place(w));
  weft__writer_destroy(w);
  EXPECT_EQ_INT(matches("live"), 1);
}

TEST(a_large_write_goes_around_the_buffer_in_order) {
  file_writer *w = NULL;
  text t = {0};
  char *big = malloc(1 << 20);
  EXPECT(big != NULL);
  memset(big, 'b', 1 << 20);
  EXPECT_OK(weft__writer_create(&w, test_path("b")));
  weft__writer_append(w, "a", 1);
  weft__writer_append(w, big, 1 << 20);
  weft__writer_append(w, "c", 1);
  EXPECT_EQ_INT(weft__writer_offset(w), (1 << 20) + 2);
  EXPECT_OK(weft__writer_sync(w));
  EXPECT_OK(weft__writer_place(w));
  weft__writer_destroy(w);
  EXPECT_OK(weft__file_read(test_path("b"), &t));
  EXPECT_EQ_INT(t.size, (1 << 20) + 2);
  EXPECT(t.data[0] == 'a' && t.data[1] == 'b' && t.data[(1 << 20) + 1] == 'c');
  weft__text_finish(&t);
  free(big);
}

TEST(errors_have_tensorflows_codes_and_words) {
  text t = {0};
  EXPECT_ERR(weft__file_read("/no/such/file", &t), WEFT_NOT_FOUND, "/no/such/file; No such file or directory");
  EXPECT_ERR(weft__file_read("/tmp", &t), WEFT_FAILED_PRECONDITION, "/tmp; Is a directory");
  EXPECT_ERR(weft__file_write("/no/such/file", "", 0), WEFT_NOT_FOUND, "No such file or directory");
  EXPECT_ERR(weft__file_delete("/no/such/file"), WEFT_NOT_FOUND, "/no/such/file");
}

TEST(a_pattern_finds_dotfiles_but_not_the_dots) {
  EXPECT_OK(weft__file_write(test_path("a.txt"), "", 0));
  EXPECT_OK(weft__file_write(test_path(".hidden"), "", 0));
  EXPECT_OK(weft__dir_create_all(test_path("x/y")));
  EXPECT_OK(weft__file_write(test_path("x/y/a.txt"), "", 0));
  EXPECT_EQ_INT(matches("*"), 3);
  EXPECT_EQ_INT(matches("*.txt"), 1);
  EXPECT_EQ_INT(matches("*/*/a.txt"), 1);
  EXPECT_EQ_INT(matches("x/../a.*"), 1);
  EXPECT_EQ_INT(matches("none*"), 0);
}

TEST(the_directory_of_a_path) {
  static const char *const cases[][2] = {{"a", "."},
                                         {"/a", "/"},
                                         {"a/b", "a"},
                                         {"/a/b/c", "/a/b"},
                                         {"file:///a", "file:///"},
                                         {"file://host/a/b", "file://host/a"}};
  for (int i = 0; i < 6; i++) {
    char *d = weft__file_dir(cases[i][0]);
    EXPECT_EQ_STR(d, cases[i][1]);
    weft__free(d);
  }
}

TEST(a_scheme_is_file_or_unknown) {
  const char *local;
  EXPECT_OK(weft__path_local("file:///a/b", &local));
  EXPECT_EQ_STR(local, "/a/b");
  EXPECT_OK(weft__path_local("file://host/a", &local));
  EXPECT_EQ_STR(local, "/a");
  EXPECT_OK(weft__path_local("file:/a", &local)); /* this has no scheme */
  EXPECT_EQ_STR(local, "file:/a");
  EXPECT_OK(weft__path_local("a/x://b", &local));
  EXPECT_EQ_STR(local, "a/x://b");
  EXPECT_ERR(
      weft__path_local("gs://b/c", &local), WEFT_UNIMPLEMENTED,
      "File system scheme 'gs' not implemented (file: 'gs://b/c'): mount it as a directory, for example with gcsfuse");
}
