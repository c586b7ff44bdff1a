/* event_test.c - tests that events files are TFRecords that begin with their version. */
#include "io/event.h"

#include "base/alloc.h"
#include "base/text.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tf.pb-c.h"
#include <stdlib.h>
#include <unistd.h>

static void expect_record(record_reader *r, text *t, const char *part) {
  uint64_t offset;
  bool last;
  EXPECT_OK(weft__record_next(r, t, &offset, &last));
  EXPECT(!last);
  EXPECT(memmem(t->data, t->size, part, strlen(part)) != NULL);
}

TEST(a_file_begins_with_its_version_and_holds_what_was_written) {
  const char *dir = test_path("a/b");
  event_file *f;
  record_reader *r;
  text t = {0};
  EXPECT_OK(weft__event_file_create(&f, dir, ".mine"));
  char *path = weft__strdup(weft__event_file_path(f));
  EXPECT_CONTAINS(path, "/a/b/events.out.tfevents.");
  EXPECT_CONTAINS(path, ".mine");
  EXPECT_OK(weft__event_write(f, "hello", 5));
  EXPECT_OK(weft__event_file_destroy(f));
  EXPECT_OK(weft__records_open(&r, path, COMPRESSION_NONE));
  expect_record(r, &t, "brain.Event:2");
  expect_record(r, &t, "hello");
  weft__records_close(r);
  weft__text_finish(&t);
  weft__free(path);
}

TEST(two_writers_of_one_second_have_a_file_each) {
  const char *dir = test_path("events");
  event_file *a, *b;
  EXPECT_OK(weft__event_file_create(&a, dir, NULL));
  EXPECT_OK(weft__event_file_create(&b, dir, NULL));
  EXPECT(strcmp(weft__event_file_path(a), weft__event_file_path(b)) != 0);
  EXPECT_OK(weft__event_file_destroy(a));
  EXPECT_OK(weft__event_file_destroy(b));
}

TEST(a_folder_that_cannot_be_made_is_an_error) {
  event_file *f;
  EXPECT_ERR(weft__event_file_create(&f, "/proc/none", NULL), WEFT_NOT_FOUND, "/proc/none");
}
