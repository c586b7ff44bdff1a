/* inspect_test.c - writes Examples and Events to files and reads them back. */
#include "tests/check.h"
#include "tests/scratch.h"
#include "weft/train.h"
#include <stdio.h>
#include <string.h>

typedef struct seen {
  int records, features;
  char names[64];
  double sum;
} seen;

static weft_err on_feature(void *arg, const char *name, const weft_tensor *value) {
  seen *s = arg;
  s->features++;
  strncat(s->names, name, sizeof s->names - strlen(s->names) - 1);
  EXPECT_EQ_INT(weft_tensor_rank(value), 1);
  for (int64_t i = 0; i < weft_tensor_count(value); i++) s->sum += weft_tensor_number(value, i);
  if (weft_tensor_dtype(value) == WEFT_STRING) {
    const char *data;
    size_t size;
    EXPECT_OK(weft_tensor_string(value, 0, &data, &size));
    EXPECT_EQ_INT(size, 3);
    EXPECT_EQ_MEM(data, "a\0b", 3);
  }
  return WEFT_OK;
}

static weft_err on_record(void *arg, const void *record, size_t size) {
  ((seen *)arg)->records++;
  return weft_example_features(record, size, on_feature, arg);
}

static weft_err stop(void *arg, const void *record, size_t size) {
  (void)arg, (void)record, (void)size;
  return weft_fail(WEFT_CANCELLED, "enough");
}

TEST(examples_go_through_a_file_and_come_back) {
  weft_tensor *value[3];
  weft_record_writer *w;
  void *example;
  size_t size;
  seen s = {0};
  const char *path = test_path("some.tfrecords");
  EXPECT_OK(weft_tensor_create(&value[0], WEFT_STRING, 0, NULL, NULL));
  EXPECT_OK(weft_tensor_set_string(value[0], 0, "a\0b", 3));
  EXPECT_OK(weft_tensor_create(&value[1], WEFT_INT64, 2, (int64_t[]){1, 2}, (int64_t[]){-7, 9}));
  EXPECT_OK(weft_tensor_create(&value[2], WEFT_FLOAT, 1, (int64_t[]){2}, (float[]){.5f, .25f}));
  EXPECT_OK(weft_example_create(&example, &size, 3, (const char *[]){"x", "y", "z"}, (const weft_tensor **)value));
  EXPECT_OK(weft_record_writer_create(&w, path));
  for (int i = 0; i < 2; i++) EXPECT_OK(weft_record_write(w, example, size));
  EXPECT_OK(weft_record_writer_close(w));
  EXPECT_OK(weft_records_each(path, on_record, &s));
  weft_record_frame f;
  char file[16];
  FILE *in = fopen(path, "rb");
  EXPECT_OK(weft_record_frame_make(&f, example, size));
  EXPECT(in && fread(file, 1, 12, in) == 12 && memcmp(file, f.head, 12) == 0);
  EXPECT(fseek(in, (long)size, SEEK_CUR) == 0 && fread(file, 1, 4, in) == 4 && memcmp(file, f.tail, 4) == 0);
  fclose(in);
  EXPECT_EQ_INT(s.records, 2);
  EXPECT_EQ_INT(s.features, 6);
  EXPECT_EQ_STR(s.names, "xyzxyz");
  EXPECT_NEAR(s.sum, 2 * 2.75, 0);
  EXPECT_ERR(weft_records_each(path, stop, NULL), WEFT_CANCELLED, "enough");
  EXPECT_ERR(weft_records_each(test_path("none"), stop, NULL), WEFT_NOT_FOUND, "none");
  EXPECT_ERR(weft_example_features("\xff", 1, on_feature, &s), WEFT_INVALID_ARGUMENT, "");
  for (int i = 0; i < 3; i++) weft_tensor_destroy(value[i]);
  weft_free(example);
}

static weft_err on_list(void *arg, const char *name, int n_steps, const weft_tensor *const *steps) {
  seen *s = arg;
  s->records += n_steps;
  strncat(s->names, name, sizeof s->names - strlen(s->names) - 1);
  for (int i = 0; i < n_steps; i++) s->sum += weft_tensor_number(steps[i], weft_tensor_count(steps[i]) - 1);
  return WEFT_OK;
}

static weft_err stop_list(void *arg, const char *name, int n_steps, const weft_tensor *const *steps) {
  (void)arg, (void)name, (void)n_steps, (void)steps;
  return weft_fail(WEFT_CANCELLED, "enough");
}

TEST(a_sequence_example_gives_its_context_and_its_lists) {
  /* context {n: [3]}, feature lists {e: [], t: [[1], [2, 4]]}, as TensorFlow serializes them */
  static const char message[] = "\x0a\x0c\x0a\x0a\x0a\x01n\x12\x05\x1a\x03\x0a\x01\x03"
                                "\x12\x1d\x0a\x05\x0a\x01\x65\x12\x00\x0a\x14\x0a\x01t\x12\x0f"
                                "\x0a\x05\x1a\x03\x0a\x01\x01\x0a\x06\x1a\x04\x0a\x02\x02\x04";
  const size_t size = sizeof message - 1;
  seen s = {0}, context = {0}, lists = {0};
  EXPECT_OK(weft_sequence_example_features(message, size, on_feature, on_list, &s));
  EXPECT_EQ_STR(s.names, "net");
  EXPECT_EQ_INT(s.records, 2);
  EXPECT_EQ_INT(s.features, 1);
  EXPECT_NEAR(s.sum, 3 + 1 + 4, 0);
  EXPECT_OK(weft_sequence_example_features(message, size, on_feature, NULL, &context));
  EXPECT_EQ_STR(context.names, "n");
  EXPECT_OK(weft_sequence_example_features(message, size, NULL, on_list, &lists));
  EXPECT_EQ_STR(lists.names, "et");
  EXPECT_ERR(weft_sequence_example_features(message, size, NULL, stop_list, NULL), WEFT_CANCELLED, "enough");
  EXPECT_ERR(weft_sequence_example_features(message, size - 1, NULL, on_list, &s), WEFT_INVALID_ARGUMENT, "");
}

TEST(an_example_refuses_other_types) {
  weft_tensor *t;
  void *example;
  size_t size;
  EXPECT_OK(weft_tensor_create(&t, WEFT_INT32, 0, NULL, NULL));
  EXPECT_ERR(weft_example_create(&example, &size, 1, (const char *[]){"x"}, (const weft_tensor *[]){t}),
             WEFT_INVALID_ARGUMENT, "feature x: an Example holds strings, float32 and int64, not int32");
  weft_tensor_destroy(t);
}

static weft_err on_scalar(void *arg, const weft_event_scalar *e) {
  seen *s = arg;
  s->features++;
  s->sum += e->value * (double)e->step;
  EXPECT_EQ_STR(e->tag, "loss");
  return WEFT_OK;
}

static weft_err on_event(void *arg, const void *record, size_t size) {
  ((seen *)arg)->records++;
  return weft_event_scalars(record, size, on_scalar, arg);
}

TEST(scalars_of_events) {
  /* {step: 3, summary: {value: {tag: "loss", simple_value: 0.5}}}; the same with a scalar tensor; a truncated one */
  static const char plain[] = "\x10\x03\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f",
                    tensor[] = "\x10\x05\x2a\x12\x0a\x10\x0a\x04loss\x42\x08\x08\x01\x22\x04\0\0\0\x3f",
                    broken[] = "\x10\x05\x2a\x10\x0a\x0e\x0a\x04loss\x42\x06\x08\x01\x22\x02\0\0";
  weft_record_writer *w;
  seen s = {0};
  EXPECT_OK(weft_record_writer_create(&w, test_path("events")));
  EXPECT_OK(weft_record_write(w, plain, sizeof plain - 1));
  EXPECT_OK(weft_record_write(w, "\x1a\x01x", 3)); /* an Event with a file_version */
  EXPECT_OK(weft_record_writer_close(w));
  EXPECT_OK(weft_records_each(test_path("events"), on_event, &s));
  EXPECT_EQ_INT(s.records, 2);
  EXPECT_EQ_INT(s.features, 1);
  EXPECT_NEAR(s.sum, 1.5, 0);
  EXPECT_OK(weft_event_scalars(tensor, sizeof tensor - 1, on_scalar, &s));
  EXPECT_NEAR(s.sum, 1.5 + 2.5, 0);
  EXPECT_ERR(weft_event_scalars(broken, sizeof broken - 1, on_scalar, &s), WEFT_INVALID_ARGUMENT, "");
}

TEST(tensors_as_text) {
  weft_tensor *t;
  char *shown;
  EXPECT_OK(weft_tensor_create(&t, WEFT_INT32, 1, (int64_t[]){3}, (int32_t[]){4, 5, 6}));
  EXPECT_OK(weft_tensor_text(&shown, t, 2));
  EXPECT_EQ_STR(shown, "[4 5...]");
  weft_free(shown);
  weft_tensor_destroy(t);
}

TEST(an_events_file_of_another_program_is_reported_with_the_offset) {
  const char *path = test_path("events.out.tfevents.1.other");
  weft_record_writer *w;
  seen s = {0};
  EXPECT_OK(weft_record_writer_create(&w, path));
  EXPECT_OK(weft_record_write(w,
                              "\x1a\x0d"
                              "brain.Event:2",
                              15)); /* the version field of an Event */
  EXPECT_OK(weft_record_write(w, "{\"loss\": 0.5}", 13));
  EXPECT_OK(weft_record_writer_close(w));
  EXPECT_ERR(weft_records_each(path, on_event, &s), WEFT_INVALID_ARGUMENT, "other: the record at byte 31");
  EXPECT_EQ_INT(s.features, 0);
  FILE *f = fopen(path, "w");
  EXPECT(f && fputs("step,loss\n100,0.5\n200,0.25\n", f) >= 0 && fclose(f) == 0);
  EXPECT_ERR(weft_records_each(path, on_event, &s), WEFT_DATA_LOSS, "corrupted record at 0");
  EXPECT_CONTAINS(weft_error_message(), path);
}
