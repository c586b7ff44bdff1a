/* file_wait_test.c - tests that the reading of pipes and devices ends. */
#include "io/file_wait.h"

#include "base/clock.h"
#include "io/input.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_WITHIN(60, a_device_without_end_is_read_up_to_a_bound) {
  text t = {0};
  EXPECT_ERR(weft__file_read("/dev/zero", &t), WEFT_RESOURCE_EXHAUSTED,
             "/dev/zero is no regular file, and had no end after 268435456 bytes");
  weft__text_finish(&t);
}

TEST_WITHIN(60, a_record_of_a_device_is_read_up_to_a_bound) {
  input *in;
  static char piece[1 << 16];
  size_t got, total = 0;
  EXPECT_OK(weft__input_open(&in, "/dev/zero", COMPRESSION_NONE));
  for (int i = 0; i < 8000; i++) { /* each is one record: there may be any number of them */
    weft__input_begin(in);
    EXPECT_OK(weft__input_read(in, piece, sizeof piece, &got));
  }
  weft_err err = WEFT_OK;
  for (; !err && total < UNSIZED_MOST * 2; total += got) err = weft__input_read(in, piece, sizeof piece, &got);
  EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "/dev/zero is no regular file");
  weft__input_close(in);
}

TEST(the_wait_for_a_pipe_without_a_writer_ends_with_the_token_or_at_the_deadline) {
  text t = {0};
  cancel c;
  weft__cancel_init(&c);
  EXPECT(mkfifo(test_path("p"), 0600) == 0);
  const file_wait until = {.cancel = &c, .deadline_ns = weft__clock_now_ns() + 100000000};
  EXPECT(weft__file_wait_set(&until) == NULL);
  EXPECT_ERR(weft__file_read(test_path("p"), &t), WEFT_DEADLINE_EXCEEDED, test_path("p"));
  weft__cancel_fire(&c, WEFT_ABORTED, "enough");
  EXPECT_ERR(weft__file_read(test_path("p"), &t), WEFT_ABORTED, test_path("p"));
  EXPECT(weft__file_wait_set(NULL) == &until);
  weft__cancel_finish(&c);
  weft__text_finish(&t);
}

static void *write_late(void *arg) {
  FILE *f = fopen(arg, "w"); /* waits for the reader */
  for (int i = 0; f && i < 3; i++) {
    usleep(80000);
    fputs("abc", f);
    fflush(f);
  }
  if (f) fclose(f);
  return NULL;
}

TEST(a_pipe_is_read_to_its_end_however_slow_its_writer_is) {
  text t = {0};
  pthread_t id;
  char path[256];
  snprintf(path, sizeof path, "%s", test_path("p"));
  EXPECT(mkfifo(path, 0600) == 0);
  EXPECT_EQ_INT(pthread_create(&id, NULL, write_late, path), 0);
  EXPECT_OK(weft__file_read(path, &t));
  pthread_join(id, NULL);
  EXPECT_EQ_STR(weft__text_get(&t), "abcabcabc");
  weft__text_finish(&t);
}
