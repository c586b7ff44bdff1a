/* inspect_records.c - TFRecords, as `weft inspect` shows them: the features of the first Examples and SequenceExamples.
 */
#include "inspect.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { EXAMPLES = 3, STEPS = 3, ELEMENTS = 8, FRAME = 16 }; /* FRAME: the bytes around a record */

static int file_failed(const char *path) { return cli_failed(path, weft_error_message()); }

typedef struct record_view {
  const char *path;
  int64_t records, bytes;
} record_view;

/* ---- what a record is ---- */

typedef enum record_kind { OTHER, EXAMPLE, SEQUENCE_EXAMPLE } record_kind;

static weft_err count_feature(void *arg, const char *name, const weft_tensor *value) {
  (void)name, (void)value;
  ++*(int *)arg;
  return WEFT_OK;
}

static weft_err count_list(void *arg, const char *name, int n_steps, const weft_tensor *const *steps) {
  (void)name, (void)n_steps, (void)steps;
  ++*(int *)arg;
  return WEFT_OK;
}

/* The two messages have no name of their own, and an Example is read as a SequenceExample without lists. */
static record_kind inspect_records_kind_of(const void *record, size_t size) {
  int lists = 0, features = 0;
  if (weft_sequence_example_features(record, size, NULL, count_list, &lists) == WEFT_OK && lists > 0)
    return SEQUENCE_EXAMPLE;
  const bool reads = weft_example_features(record, size, count_feature, &features) == WEFT_OK;
  return reads && (features > 0 || size == 0) ? EXAMPLE : OTHER;
}

/* ---- text ---- */

static weft_err show_feature(void *arg, const char *name, const weft_tensor *value) {
  char *shown;
  const char *data;
  size_t size;
  const int64_t n = weft_tensor_count(value);
  (void)arg;
  printf("    %-20s %s[%" PRId64 "]", name, weft_dtype_name(weft_tensor_dtype(value)), n);
  if (weft_tensor_dtype(value) == WEFT_STRING) {
    if (n == 1 && weft_tensor_string(value, 0, &data, &size) == WEFT_OK) printf("  %zu bytes", size);
  } else {
    const weft_err err = weft_tensor_text(&shown, value, ELEMENTS);
    if (err != WEFT_OK) return err;
    printf("  %s", shown);
    weft_free(shown);
  }
  printf("\n");
  return WEFT_OK;
}

/* Returns the type of the first step that has values, WEFT_INVALID if none has, and stores the number of all values in
 * *count. */
static weft_dtype list_type(int n_steps, const weft_tensor *const *steps, int64_t *count) {
  weft_dtype type = WEFT_INVALID;
  *count = 0;
  for (int i = 0; i < n_steps; i++) {
    const int64_t n = weft_tensor_count(steps[i]);
    if (type == WEFT_INVALID && n > 0) type = weft_tensor_dtype(steps[i]);
    *count += n;
  }
  return type;
}

static weft_err show_list(void *arg, const char *name, int n_steps, const weft_tensor *const *steps) {
  int64_t count;
  const weft_dtype type = list_type(n_steps, steps, &count);
  (void)arg;
  printf("    %-20s %d steps, %s[%" PRId64 "]", name, n_steps, type == WEFT_INVALID ? "" : weft_dtype_name(type),
         count);
  for (int i = 0; i < n_steps && i < STEPS && type != WEFT_STRING; i++) {
    char *shown;
    const weft_err err = weft_tensor_text(&shown, steps[i], ELEMENTS);
    if (err != WEFT_OK) return err;
    printf("  %s", shown);
    weft_free(shown);
  }
  printf("%s\n", n_steps > STEPS && type != WEFT_STRING ? "  ..." : "");
  return WEFT_OK;
}

/* ---- JSON ---- */

static weft_err show_json_feature(void *arg, const char *name, const weft_tensor *value) {
  char *shown = NULL;
  const bool text = weft_tensor_dtype(value) == WEFT_STRING;
  const weft_err err = text ? WEFT_OK : weft_tensor_text(&shown, value, ELEMENTS);
  (void)arg;
  cli_json_open(inspect_json, NULL, '{');
  cli_json_text(inspect_json, "name", name);
  cli_json_text(inspect_json, "type", weft_dtype_name(weft_tensor_dtype(value)));
  cli_json_integer(inspect_json, "count", weft_tensor_count(value));
  cli_json_text(inspect_json, "text", shown);
  cli_json_close(inspect_json, '}');
  weft_free(shown);
  return err;
}

static weft_err show_json_list(void *arg, const char *name, int n_steps, const weft_tensor *const *steps) {
  int64_t count;
  const weft_dtype type = list_type(n_steps, steps, &count);
  (void)arg;
  cli_json_open(inspect_json, NULL, '{');
  cli_json_text(inspect_json, "name", name);
  cli_json_text(inspect_json, "type", type == WEFT_INVALID ? NULL : weft_dtype_name(type));
  cli_json_integer(inspect_json, "steps", n_steps);
  cli_json_integer(inspect_json, "count", count);
  cli_json_close(inspect_json, '}');
  return WEFT_OK;
}

/* The object of the file, before the first record. */
static void open_json_records(const char *path) {
  inspect_json_open(path, "tfrecords");
  cli_json_open(inspect_json, "first", '[');
}

static weft_err show_json_record(void *arg, const void *record, size_t size) {
  record_view *v = arg;
  if (v->records == 0) open_json_records(v->path);
  v->bytes += (int64_t)size;
  if (v->records++ >= EXAMPLES) return WEFT_OK;
  const record_kind kind = inspect_records_kind_of(record, size);
  cli_json_open(inspect_json, NULL, '{');
  cli_json_integer(inspect_json, "bytes", (int64_t)size);
  cli_json_bool(inspect_json, "example", kind == EXAMPLE);
  cli_json_bool(inspect_json, "sequence_example", kind == SEQUENCE_EXAMPLE);
  cli_json_open(inspect_json, "features", '[');
  weft_err err = WEFT_OK;
  if (kind != OTHER) err = weft_sequence_example_features(record, size, show_json_feature, NULL, NULL);
  cli_json_close(inspect_json, ']');
  cli_json_open(inspect_json, "lists", '[');
  if (err == WEFT_OK && kind == SEQUENCE_EXAMPLE)
    err = weft_sequence_example_features(record, size, NULL, show_json_list, NULL);
  cli_json_close(inspect_json, ']');
  cli_json_close(inspect_json, '}');
  return err;
}

static void close_json_records(const record_view *v, weft_err err) {
  if (v->records == 0) open_json_records(v->path);
  cli_json_close(inspect_json, ']');
  cli_json_integer(inspect_json, "records", v->records);
  cli_json_integer(inspect_json, "bytes", v->bytes);
  cli_json_text(inspect_json, "problem", err == WEFT_OK ? NULL : weft_error_message());
  cli_json_close(inspect_json, '}');
}

static weft_err show_record(void *arg, const void *record, size_t size) {
  record_view *v = arg;
  v->bytes += (int64_t)size;
  if (v->records++ >= EXAMPLES) return WEFT_OK;
  const record_kind kind = inspect_records_kind_of(record, size);
  printf("  record %" PRId64 ", %zu bytes%s\n", v->records - 1, size,
         kind == SEQUENCE_EXAMPLE ? ", a SequenceExample" : "");
  if (kind == OTHER) printf("    no Example\n");
  return kind == OTHER ? WEFT_OK : weft_sequence_example_features(record, size, show_feature, show_list, NULL);
}

/* Fails if bytes follow the last record, too few to be the head of another: readers pass over them, as TensorFlow's
 * do.  What follows in a compressed file is not known. */
static weft_err check_tail(const record_view *v) {
  char why[160];
  unsigned char magic[2] = {0};
  struct stat st;
  FILE *f = fopen(v->path, "rb");
  const bool known =
      f && fread(magic, 1, 2, f) == 2 && !(magic[0] == 0x1f && magic[1] == 0x8b) && fstat(fileno(f), &st) == 0;
  if (f) fclose(f);
  const int64_t left = known && S_ISREG(st.st_mode) ? st.st_size - v->bytes - FRAME * v->records : 0;
  if (left <= 0) return WEFT_OK;
  snprintf(why, sizeof why, "%" PRId64 " bytes follow the last record: another one was cut off", left);
  return weft_fail(WEFT_DATA_LOSS, why);
}

int inspect_records(const char *path) {
  record_view v = {.path = path};
  weft_err err = weft_records_each(path, inspect_json ? show_json_record : show_record, &v);
  if (err == WEFT_OK && v.records > 0) err = check_tail(&v);
  struct stat st = {0};
  if (v.records == 0 && (err != WEFT_OK || (stat(path, &st) == 0 && st.st_size > 0))) {
    fprintf(stderr,
            "weft inspect: %s: neither a checkpoint, graph (.pb, .pbtxt, .meta), SavedModel, event file, .npz or idx "
            "file, nor TFRecords, plain or gzipped: %s\n",
            path, err != WEFT_OK ? weft_error_message() : "the file ends inside the first record");
    return FAILED;
  }
  if (inspect_json) {
    close_json_records(&v, err);
    return err == WEFT_OK ? DONE : file_failed(path);
  }
  printf("%s: %" PRId64 " TFRecords, %" PRId64 " bytes of data, %s\n", path, v.records, v.bytes,
         err == WEFT_OK ? "every checksum is right" : "then it breaks off");
  return err == WEFT_OK ? DONE : file_failed(path);
}
