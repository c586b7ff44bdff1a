/* inspect_checkpoint.c - a checkpoint as a table, one tensor of it with its statistics, and what differs between two.
 */
#include "inspect.h"
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 20, MAX_RANK = 16, PATH_ROOM = 4096 };

const char *inspect_shape(char *to, size_t room, int rank, const int64_t *dims) {
  size_t used = (size_t)snprintf(to, room, "[");
  for (int i = 0; i < rank && used < room; i++)
    used += (size_t)snprintf(to + used, room - used, "%s%" PRId64, i ? "," : "", dims[i]);
  if (used < room) snprintf(to + used, room - used, "]");
  return to;
}

/* ---- JSON ---- */

cli_json *inspect_json;

void inspect_json_open(const char *path, const char *kind) {
  cli_json_open(inspect_json, NULL, '{');
  cli_json_text(inspect_json, "path", path);
  cli_json_text(inspect_json, "kind", kind);
}

void inspect_json_tensor(const char *type, int rank, const int64_t *dims, int64_t bytes) {
  cli_json_text(inspect_json, "type", type);
  cli_json_open(inspect_json, "shape", '[');
  for (int i = 0; i < rank; i++) cli_json_integer(inspect_json, NULL, dims[i]);
  cli_json_close(inspect_json, ']');
  if (bytes < 0)
    cli_json_raw(inspect_json, "bytes", "null");
  else
    cli_json_integer(inspect_json, "bytes", bytes);
}

static int checkpoint_failed(const char *prefix) { return cli_failed(prefix, weft_error_message()); }

static const char *inspect_checkpoint_shape_of(char *to, const weft_checkpoint *c, int i) {
  int64_t dims[MAX_RANK];
  const int rank = weft_checkpoint_shape(c, i, dims);
  return inspect_shape(to, SHAPE_TEXT, rank, dims);
}

/* Strings have no size of their own: 0. */
static uint64_t inspect_checkpoint_bytes_of(const weft_checkpoint *c, int i, uint64_t *elements) {
  int64_t dims[MAX_RANK];
  const int rank = weft_checkpoint_shape(c, i, dims);
  *elements = 1;
  for (int k = 0; k < rank; k++) *elements *= (uint64_t)dims[k];
  return *elements * weft_dtype_size(weft_checkpoint_dtype(c, i));
}

/* ---- the files of the data ---- */

/* Returns the bytes of all files PREFIX.data-*, and stores their number in *files. */
static uint64_t data_bytes(const char *prefix, int *files) {
  char folder[PATH_ROOM], start[PATH_ROOM];
  const char *slash = strrchr(prefix, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - prefix) + 1 : 1, slash ? prefix : ".");
  const size_t length = (size_t)snprintf(start, sizeof start, "%s.data-", slash ? slash + 1 : prefix);
  uint64_t sum = 0;
  struct stat st;
  DIR *d = opendir(folder);
  *files = 0;
  for (const struct dirent *e; d && (e = readdir(d));) {
    if (strncmp(e->d_name, start, length) != 0 || fstatat(dirfd(d), e->d_name, &st, 0) != 0) continue;
    sum += (uint64_t)st.st_size;
    ++*files;
  }
  if (d) closedir(d);
  return sum;
}

/* Fails if the files of the data, which are beside the index, are too small for the tensors.  A checkpoint of one file,
 * as older programs wrote it, is read whole when it is opened. */
static int check_data(const char *prefix, uint64_t needed) {
  char path[PATH_ROOM], why[160];
  int files;
  snprintf(path, sizeof path, "%s.index", prefix);
  const uint64_t there = data_bytes(prefix, &files);
  if (access(path, F_OK) != 0 || there >= needed) return DONE;
  if (files == 0) return cli_failed(prefix, "the files of its data (.data-...) are missing");
  snprintf(why, sizeof why, "its data is damaged: the tensors need %" PRIu64 " bytes, and the %s %" PRIu64, needed,
           files == 1 ? "data file has" : "data files have", there);
  return cli_failed(prefix, why);
}

/* ---- the table ---- */

/* Prints the table and returns how many bytes the tensors have; so does print_json_table. */
static uint64_t print_table(const char *prefix, const weft_checkpoint *c) {
  char shape[SHAPE_TEXT];
  const int n = weft_checkpoint_size(c);
  int width = 4;
  uint64_t elements, total = 0, bytes = 0;
  for (int i = 0; i < n; i++) {
    const int length = (int)strlen(weft_checkpoint_name(c, i));
    if (length > width) width = length;
  }
  printf("%s: a checkpoint\n%-*s  %-9s %-16s %12s\n", prefix, width, "name", "type", "shape", "bytes");
  for (int i = 0; i < n; i++) {
    const uint64_t own = inspect_checkpoint_bytes_of(c, i, &elements);
    total += elements;
    bytes += own;
    printf("%-*s  %-9s %-16s ", width, weft_checkpoint_name(c, i), weft_dtype_name(weft_checkpoint_dtype(c, i)),
           inspect_checkpoint_shape_of(shape, c, i));
    if (weft_dtype_size(weft_checkpoint_dtype(c, i)))
      printf("%12" PRIu64 "\n", own);
    else
      printf("%12s\n", "-");
  }
  printf("%d tensors, %" PRIu64 " elements, %" PRIu64 " bytes\n", n, total, bytes);
  return bytes;
}

static uint64_t print_json_table(const char *prefix, const weft_checkpoint *c) {
  uint64_t elements, total = 0, bytes = 0;
  int64_t dims[MAX_RANK];
  inspect_json_open(prefix, "checkpoint");
  cli_json_open(inspect_json, "tensors", '[');
  for (int i = 0; i < weft_checkpoint_size(c); i++) {
    const weft_dtype type = weft_checkpoint_dtype(c, i);
    const uint64_t own = inspect_checkpoint_bytes_of(c, i, &elements);
    total += elements;
    bytes += own;
    cli_json_open(inspect_json, NULL, '{');
    cli_json_text(inspect_json, "name", weft_checkpoint_name(c, i));
    inspect_json_tensor(weft_dtype_name(type), weft_checkpoint_shape(c, i, dims), dims,
                        weft_dtype_size(type) ? (int64_t)own : -1);
    cli_json_close(inspect_json, '}');
  }
  cli_json_close(inspect_json, ']');
  cli_json_integer(inspect_json, "elements", (int64_t)total);
  cli_json_integer(inspect_json, "bytes", (int64_t)bytes);
  cli_json_close(inspect_json, '}');
  return bytes;
}

/* ---- one tensor ---- */

typedef struct statistics {
  double min, max, mean, deviation;
  int64_t wrong; /* NaNs and infinities, which the others leave out */
} statistics;

/* Welford's: one pass, and exact enough for a mean far from zero. */
static statistics tensor_statistics(const weft_tensor *t) {
  statistics s = {.min = INFINITY, .max = -INFINITY};
  double squares = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < weft_tensor_count(t); i++) {
    const double v = weft_tensor_number(t, i);
    if (!isfinite(v)) {
      s.wrong++;
      continue;
    }
    const double off = v - s.mean;
    s.mean += off / (double)++n;
    squares += off * (v - s.mean);
    if (v < s.min) s.min = v;
    if (v > s.max) s.max = v;
  }
  s.deviation = n ? sqrt(squares / (double)n) : 0;
  return s;
}

static void print_json_values(const char *prefix, const char *name, const weft_tensor *t, const char *shown) {
  const bool numbers = weft_tensor_data(t) && weft_tensor_count(t) > 0;
  const statistics s = numbers ? tensor_statistics(t) : (statistics){0};
  const bool any = numbers && s.wrong < weft_tensor_count(t);
  inspect_json_open(prefix, "tensor");
  cli_json_text(inspect_json, "name", name);
  inspect_json_tensor(weft_dtype_name(weft_tensor_dtype(t)), weft_tensor_rank(t), weft_tensor_dims(t),
                      weft_tensor_data(t) ? (int64_t)weft_tensor_bytes(t) : -1);
  cli_json_number(inspect_json, "min", any ? s.min : NAN);
  cli_json_number(inspect_json, "max", any ? s.max : NAN);
  cli_json_number(inspect_json, "mean", any ? s.mean : NAN);
  cli_json_number(inspect_json, "std", any ? s.deviation : NAN);
  cli_json_integer(inspect_json, "not_finite", s.wrong);
  cli_json_text(inspect_json, "text", shown);
  cli_json_close(inspect_json, '}');
}

static void print_text_values(const char *name, const weft_tensor *t, const char *shown) {
  char shape[SHAPE_TEXT];
  printf("%s  %s %s\n", name, weft_dtype_name(weft_tensor_dtype(t)),
         inspect_shape(shape, sizeof shape, weft_tensor_rank(t), weft_tensor_dims(t)));
  if (weft_tensor_data(t) && weft_tensor_count(t) > 0) {
    const statistics s = tensor_statistics(t);
    if (s.wrong < weft_tensor_count(t))
      printf("min %.8g  max %.8g  mean %.8g  std %.8g\n", s.min, s.max, s.mean, s.deviation);
    if (s.wrong) printf("%" PRId64 " of %" PRId64 " are not finite\n", s.wrong, weft_tensor_count(t));
  }
  if (shown) printf("%s\n", shown);
}

static int print_values(const char *prefix, weft_checkpoint *c, const char *name) {
  weft_tensor *t;
  char *shown = NULL;
  if (weft_checkpoint_read(&t, c, name) != WEFT_OK) return checkpoint_failed(prefix);
  const bool shows = weft_tensor_text(&shown, t, FIRST) == WEFT_OK;
  if (inspect_json)
    print_json_values(prefix, name, t, shown);
  else
    print_text_values(name, t, shown);
  weft_free(shown);
  weft_tensor_destroy(t);
  return shows ? DONE : checkpoint_failed(prefix);
}

int inspect_checkpoint(const char *prefix, const char *name) {
  weft_checkpoint *c;
  int code = DONE;
  if (weft_checkpoint_open(&c, prefix) != WEFT_OK) return checkpoint_failed(prefix);
  if (name)
    code = print_values(prefix, c, name);
  else
    code = check_data(prefix, (inspect_json ? print_json_table : print_table)(prefix, c));
  weft_checkpoint_close(c);
  return code;
}

/* ---- two ---- */

/* "  name: what differs", or {"name", "difference"}. */
__attribute__((format(printf, 2, 3))) static void say_difference(const char *name, const char *format, ...) {
  char line[2 * SHAPE_TEXT + 256];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (!inspect_json) {
    printf("  %s: %s\n", name, line);
    return;
  }
  cli_json_open(inspect_json, NULL, '{');
  cli_json_text(inspect_json, "name", name);
  cli_json_text(inspect_json, "difference", line);
  cli_json_close(inspect_json, '}');
}

static bool same_element(const weft_tensor *a, const weft_tensor *b, int64_t i) {
  const char *x, *y;
  size_t n, m, size = weft_dtype_size(weft_tensor_dtype(a));
  if (size && weft_tensor_data(a))
    return memcmp((char *)weft_tensor_data(a) + (size_t)i * size, (char *)weft_tensor_data(b) + (size_t)i * size,
                  size) == 0;
  return weft_tensor_string(a, i, &x, &n) == WEFT_OK && weft_tensor_string(b, i, &y, &m) == WEFT_OK && n == m &&
         memcmp(x, y, n) == 0;
}

static bool compare_values(const char *name, const weft_tensor *a, const weft_tensor *b) {
  int64_t differ = 0;
  double most = 0;
  for (int64_t i = 0; i < weft_tensor_count(a); i++) {
    if (same_element(a, b, i)) continue;
    const double by = fabs(weft_tensor_number(a, i) - weft_tensor_number(b, i));
    differ++;
    if (by > most) most = by;
  }
  if (differ)
    say_difference(name, "%" PRId64 " of %" PRId64 " elements differ, by at most %.6g", differ, weft_tensor_count(a),
                   most);
  return !differ;
}

/* Tensor i of a and k of b have one name.  WEFT_OK: *same says whether all else is the same too. */
static weft_err checkpoint_compare_tensor(weft_checkpoint *a, int i, weft_checkpoint *b, int k, bool *same) {
  char ours[SHAPE_TEXT], theirs[SHAPE_TEXT];
  const char *name = weft_checkpoint_name(a, i);
  const weft_dtype x = weft_checkpoint_dtype(a, i), y = weft_checkpoint_dtype(b, k);
  weft_tensor *s = NULL, *t = NULL;
  *same = x == y && strcmp(inspect_checkpoint_shape_of(ours, a, i), inspect_checkpoint_shape_of(theirs, b, k)) == 0;
  if (!*same) {
    say_difference(name, "%s %s, and %s %s", weft_dtype_name(x), inspect_checkpoint_shape_of(ours, a, i),
                   weft_dtype_name(y), inspect_checkpoint_shape_of(theirs, b, k));
    return WEFT_OK;
  }
  weft_err err = weft_checkpoint_read(&s, a, name);
  if (err == WEFT_OK) err = weft_checkpoint_read(&t, b, name);
  if (err == WEFT_OK) *same = compare_values(name, s, t);
  weft_tensor_destroy(s);
  weft_tensor_destroy(t);
  return err;
}

/* Both are in the order of their names: one walk over the two.  Gives the number that differ; -1: one cannot be read.
 */
static int checkpoint_compare(const char *prefix_a, weft_checkpoint *a, const char *prefix_b, weft_checkpoint *b,
                              int *same) {
  int i = 0, k = 0, differ = 0;
  while (i < weft_checkpoint_size(a) || k < weft_checkpoint_size(b)) {
    const char *x = weft_checkpoint_name(a, i), *y = weft_checkpoint_name(b, k);
    const int order = !x ? 1 : !y ? -1 : strcmp(x, y);
    bool equal = false;
    if (order)
      say_difference(order < 0 ? x : y, "only in %s", order < 0 ? prefix_a : prefix_b);
    else if (checkpoint_compare_tensor(a, i, b, k, &equal) != WEFT_OK)
      return checkpoint_failed(x), -1;
    *same += equal;
    differ += !equal;
    i += order <= 0;
    k += order >= 0;
  }
  return differ;
}

static int print_differences(const char *prefix_a, weft_checkpoint *a, const char *prefix_b, weft_checkpoint *b) {
  int same = 0;
  if (inspect_json) {
    inspect_json_open(prefix_a, "comparison");
    cli_json_text(inspect_json, "with", prefix_b);
    cli_json_open(inspect_json, "tensors", '[');
  }
  const int differ = checkpoint_compare(prefix_a, a, prefix_b, b, &same);
  if (inspect_json) {
    cli_json_close(inspect_json, ']');
    cli_json_integer(inspect_json, "differ", differ);
    cli_json_integer(inspect_json, "same", same);
    cli_json_close(inspect_json, '}');
  } else if (differ >= 0) {
    printf("%d tensors differ, %d are the same\n", differ, same);
  }
  return differ ? FAILED : DONE;
}

int inspect_difference(const char *prefix_a, const char *prefix_b) {
  weft_checkpoint *a = NULL, *b = NULL;
  int code = DONE;
  if (weft_checkpoint_open(&a, prefix_a) != WEFT_OK)
    code = checkpoint_failed(prefix_a);
  else if (weft_checkpoint_open(&b, prefix_b) != WEFT_OK)
    code = checkpoint_failed(prefix_b);
  else
    code = print_differences(prefix_a, a, prefix_b, b);
  weft_checkpoint_close(a);
  weft_checkpoint_close(b);
  return code;
}
