/* reader_test.c - tests readers of lines and records whose file names come from a queue. */
#include "state/reader.h"

#include "tests/check.h"
#include "tests/scratch.h"
#include <stdio.h>
#include <stdlib.h>

static const char *file(const void *data, size_t size) {
  const char *path = test_path("file");
  EXPECT_OK(weft__file_write(path, data, size));
  return path;
}

typedef struct answer {
  int calls;
  weft_err err;
  char message[160], key[160], val[160];
  int64_t n;
} answer;

static void take(void *arg, weft_err err, const str *keys, const str *values, int64_t n) {
  answer *a = arg;
  a->calls++;
  a->err = err;
  a->n = n;
  if (err != WEFT_OK) snprintf(a->message, sizeof a->message, "%s", weft__error_message());
  if (n) snprintf(a->key, sizeof a->key, "%.*s", (int)keys[n - 1].size, keys[n - 1].data);
  if (n) snprintf(a->val, sizeof a->val, "%.*s", (int)values[n - 1].size, values[n - 1].data);
}

static queue *names(void) {
  queue *q = NULL;
  weft_dtype type = WEFT_STRING;
  EXPECT_OK(weft__queue_create(&q, &(queue_spec){QUEUE_FIFO, 1, &type, 1, &SHAPE_SCALAR, -1, 0, 0, 0}, "q"));
  return q;
}

static void ignore(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)arg, (void)got, (void)n;
  EXPECT_OK(err);
}

static void put(queue *q, const char *name) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_string(&t, name, strlen(name)));
  weft__queue_enqueue(q, (const weft_tensor *const *)&t, false, NULL, ignore, NULL);
  weft_tensor_destroy(t);
}

static reader *make(reader_spec spec) {
  reader *r = NULL;
  EXPECT_OK(weft__reader_create(&r, &spec, "r"));
  return r;
}

static answer ask(reader *r, queue *q, int64_t n) {
  answer a = {0};
  weft__reader_read(r, q, n, NULL, take, &a);
  EXPECT_EQ_INT(a.calls, 1);
  return a;
}

static void drop(reader *r, queue *q) {
  weft__object_release((object *)r);
  weft__object_release((object *)q);
}

TEST(lines_lose_their_ends_and_are_numbered) {
  reader *r = make((reader_spec){.kind = READER_LINES});
  queue *q = names();
  put(q, file("one\ntwo\r\n\nfour", 14));
  EXPECT_EQ_STR(ask(r, q, 1).val, "one");
  answer a = ask(r, q, 1);
  EXPECT_EQ_STR(a.val, "two");
  EXPECT_CONTAINS(a.key, ":2");
  a = ask(r, q, 10);
  EXPECT_EQ_INT(a.n, 2);
  EXPECT_EQ_STR(a.val, "four");
  EXPECT_EQ_INT(weft__reader_records(r), 4);
  EXPECT_EQ_INT(weft__reader_files(r), 1);
  drop(r, q);
}

TEST(header_lines_are_skipped_and_count) {
  reader *r = make((reader_spec){.kind = READER_LINES, .skip_header_lines = 1});
  queue *q = names();
  put(q, file("one\ntwo\n", 8));
  answer a = ask(r, q, 1);
  EXPECT_EQ_STR(a.val, "two");
  EXPECT_CONTAINS(a.key, ":2");
  drop(r, q);
}

TEST(fixed_records_stop_before_the_footer) {
  reader *r = make((reader_spec){.kind = READER_FIXED, .header_bytes = 1, .record_bytes = 2, .footer_bytes = 2});
  queue *q = names();
  put(q, file("haabbccff", 9));
  answer a = ask(r, q, 10);
  EXPECT_EQ_INT(a.n, 3);
  EXPECT_EQ_STR(a.val, "cc");
  EXPECT_CONTAINS(a.key, ":2");
  drop(r, q);
  r = make((reader_spec){.kind = READER_FIXED, .record_bytes = 2, .hop_bytes = 3});
  q = names();
  put(q, file("aa.bb.cc", 8));
  a = ask(r, q, 10);
  EXPECT_EQ_INT(a.n, 3);
  EXPECT_EQ_STR(a.val, "cc");
  drop(r, q);
}

TEST(a_request_waits_for_a_name_and_others_wait_behind_it) {
  reader *r = make((reader_spec){.kind = READER_IDENTITY});
  queue *q = names();
  answer a = {0}, b = {0}, c = {0};
  cancel stop;
  weft__cancel_init(&stop);
  weft__reader_read(r, q, 1, NULL, take, &a);
  weft__reader_read(r, q, 1, &stop, take, &b);
  weft__reader_read(r, q, 1, NULL, take, &c);
  EXPECT_EQ_INT(a.calls + b.calls + c.calls, 0);
  weft__cancel_fire(&stop, WEFT_CANCELLED, "enough");
  EXPECT_EQ_INT(b.err, WEFT_CANCELLED);
  put(q, "x");
  EXPECT_EQ_STR(a.val, "x");
  EXPECT_EQ_INT(c.calls, 0);
  put(q, "y");
  EXPECT_EQ_STR(c.val, "y");
  weft__cancel_finish(&stop);
  drop(r, q);
}

TEST(the_request_being_served_can_be_cancelled_and_the_next_goes_on) {
  reader *r = make((reader_spec){.kind = READER_IDENTITY});
  queue *q = names();
  answer a = {0}, b = {0};
  cancel stop;
  weft__cancel_init(&stop);
  weft__reader_read(r, q, 1, &stop, take, &a);
  weft__reader_read(r, q, 1, NULL, take, &b);
  weft__cancel_fire(&stop, WEFT_CANCELLED, "enough");
  EXPECT_EQ_INT(a.err, WEFT_CANCELLED);
  put(q, "x");
  EXPECT_EQ_STR(b.val, "x");
  weft__cancel_finish(&stop);
  drop(r, q);
}

TEST(the_end_of_the_names_is_the_end_of_the_records) {
  reader *r = make((reader_spec){.kind = READER_WHOLE});
  queue *q = names();
  put(q, "/no/such/file");
  weft__queue_close(q, false, NULL, ignore, NULL);
  EXPECT_EQ_STR(ask(r, q, 1).message, "/no/such/file; No such file or directory");
  weft__reader_reset(r);
  EXPECT_EQ_INT(ask(r, q, 1).err, WEFT_OUT_OF_RANGE);
  drop(r, q);
}

TEST(a_file_that_cannot_be_opened_is_passed_over) {
  reader *r = make((reader_spec){.kind = READER_RECORDS});
  queue *q = names();
  put(q, "/no/such/file");
  put(q, file("\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
              "foo\x61\x8a\xbe\xfe",
              19));
  EXPECT_EQ_INT(ask(r, q, 1).err, WEFT_NOT_FOUND);
  answer a = ask(r, q, 1);
  EXPECT_EQ_STR(a.val, "foo");
  EXPECT_CONTAINS(a.key, ":0");
  drop(r, q);
}

TEST(a_reader_without_a_position_can_be_saved_and_restored) {
  reader *r = make((reader_spec){.kind = READER_IDENTITY}), *s = make((reader_spec){.kind = READER_IDENTITY});
  queue *q = names();
  text t = {0};
  put(q, "y");
  ask(r, q, 1);
  EXPECT_OK(weft__reader_save(r, &t));
  EXPECT_EQ_MEM(t.data, "\x08\x01\x10\x01\x18\x01\"\x01y", 9);
  EXPECT_OK(weft__reader_restore(s, t.data, t.size));
  EXPECT_EQ_INT(weft__reader_records(s), 1);
  EXPECT_ERR(weft__reader_restore(s, "zz", 2), WEFT_INVALID_ARGUMENT, "Could not parse state");
  EXPECT_ERR(weft__reader_restore(s, "\x08\x02\x10\x01", 4), WEFT_INVALID_ARGUMENT,
             "work_started: 2\nwork_finished: 1");
  EXPECT_EQ_INT(weft__reader_records(s), 0);
  weft__object_release((object *)s);
  s = make((reader_spec){.kind = READER_LINES});
  EXPECT_ERR(weft__reader_save(s, &t), WEFT_UNIMPLEMENTED, "Reader SerializeState");
  weft__object_release((object *)s);
  weft__text_finish(&t);
  drop(r, q);
}

TEST(the_queue_must_hold_single_strings) {
  reader *r = make((reader_spec){.kind = READER_IDENTITY});
  queue *q = NULL;
  weft_dtype type = WEFT_INT32;
  EXPECT_OK(weft__queue_create(&q, &(queue_spec){QUEUE_FIFO, 1, &type, 1, &SHAPE_SCALAR, -1, 0, 0, 0}, "q"));
  EXPECT_EQ_STR(ask(r, q, 1).message, "Expected queue with single string component");
  drop(r, q);
}
