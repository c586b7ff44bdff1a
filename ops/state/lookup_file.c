/* lookup_file.c - fills a lookup table from a text file: InitializeTableFromTextFile.
 *
 * Index -1 selects the line number, -2 the whole line, and n >= 0 column n.  The file is read into memory at once,
 * because a vocabulary file is smaller than the table that it fills. */
#include "base/alloc.h"
#include "base/cast.h"
#include "io/confine.h"
#include "io/file.h"
#include "codec/number.h"
#include "state/lookup.h"
#include <string.h>

enum { LINE_NUMBER = -1, WHOLE_LINE = -2 };

typedef struct vocabulary {
  const char *path;
  text bytes;
  int64_t key_index, value_index, size, offset; /* size: the number of lines to read, or -1 for all */
  char delimiter;
  text room; /* scratch buffer for weft__number_read */
} vocabulary;

/* Stores the next line without its line end in *line.  Returns false at the end of the file. */
static bool next_line(const text *bytes, size_t *at, str *line) {
  if (*at >= bytes->size) return false;
  char *begin = bytes->data + *at, *end = memchr(begin, '\n', bytes->size - *at);
  size_t n = end ? (size_t)(end - begin) : bytes->size - *at;
  *at += n + 1;
  if (n && begin[n - 1] == '\r') n--;
  *line = (str){begin, n};
  return true;
}

static int64_t count_lines(const vocabulary *v) {
  int64_t n = 0;
  size_t at = 0;
  for (str line; (v->size < 0 || n < v->size) && next_line(&v->bytes, &at, &line);) n++;
  return n;
}

static weft_err lookup_file_column(const vocabulary *v, str line, int64_t number, int64_t index, str *out) {
  const int64_t most = v->key_index > v->value_index ? v->key_index : v->value_index;
  int64_t n = 0;
  for (char *at = line.data, *end = line.data + line.size;; n++) {
    char *cut = at < end ? memchr(at, v->delimiter, (size_t)(end - at)) : NULL;
    if (n == index) *out = (str){at, (size_t)((cut ? cut : end) - at)};
    if (!cut) break;
    at = cut + 1;
  }
  if (n >= most) return WEFT_OK;
  return weft__fail(
      WEFT_INVALID_ARGUMENT, "Invalid number of columns in %s line %lld (%.*s) : expected at least %llu got %lld",
      v->path, (long long)number, weft__int_sat(line.size), line.data, (unsigned long long)most + 1, (long long)n + 1);
}

/* Stores the part of a line that one index selects as element `number` of the tensor. */
static weft_err lookup_file_take(vocabulary *v, str line, int64_t number, int64_t index, weft_tensor *to) {
  if (index == LINE_NUMBER) {
    /* Wraps around, as TensorFlow's sum does: any offset is allowed. */
    TENSOR_DATA(to, int64_t)[number] = (int64_t)((uint64_t)number + (uint64_t)v->offset);
    return WEFT_OK;
  }
  str part = line;
  if (index != WHOLE_LINE) WEFT_TRY(lookup_file_column(v, line, number, index, &part));
  if (to->dtype == WEFT_STRING) return weft__str_set(&TENSOR_DATA(to, str)[number], part.data, part.size);
  void *place = (char *)to->data + (size_t)number * weft__dtype_size(to->dtype);
  if (weft__number_read(&v->room, part.data, part.size, to->dtype, place)) return WEFT_OK;
  return v->room.failed
             ? WEFT_OOM
             : weft__fail(WEFT_INVALID_ARGUMENT, "Field %.*s in line %lld is not a valid %s.", weft__int_sat(part.size),
                          part.data, (long long)number, weft__dtype_short(to->dtype));
}

static weft_err take_all(vocabulary *v, int64_t n, weft_tensor *keys, weft_tensor *values) {
  size_t at = 0;
  str line;
  for (int64_t i = 0; i < n && next_line(&v->bytes, &at, &line); i++) {
    WEFT_TRY(lookup_file_take(v, line, i, v->key_index, keys));
    WEFT_TRY(lookup_file_take(v, line, i, v->value_index, values));
  }
  return WEFT_OK;
}

static weft_err lookup_file_check_index(const char *what, const char *lower, int64_t index, weft_dtype type) {
  const bool number = type == WEFT_INT64 || type == WEFT_INT32 || type == WEFT_FLOAT || type == WEFT_DOUBLE;
  if (index == LINE_NUMBER && type != WEFT_INT64)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s index for line number requires table %s dtype of int64, got %s", what,
                      lower, weft__dtype_short(type));
  if (index != LINE_NUMBER && !number && type != WEFT_STRING)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s index for a column cannot be read as %s", what,
                      weft__dtype_short(type));
  return WEFT_OK;
}

static weft_err lookup_file_fill(vocabulary *v, lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  weft_tensor keys = {0}, values = {0};
  plain_locale plain;
  WEFT_TRY(lookup_file_check_index("Key", "key", v->key_index, spec->key));
  WEFT_TRY(lookup_file_check_index("Value", "value", v->value_index, spec->value));
  WEFT_TRY(weft__path_allowed(v->path));
  WEFT_TRY(weft__file_read(v->path, &v->bytes));
  const int64_t n = count_lines(v);
  if (n < v->size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid vocab_size in %s: expected %lld but got %lld", v->path,
                      (long long)v->size, (long long)n);
  if (!n) return weft__fail(WEFT_OUT_OF_RANGE, "Read less bytes than requested: %s has no line", v->path);
  weft_err err = weft__tensor_init(&keys, spec->key, &SHAPE1(n));
  if (!err) err = weft__tensor_init(&values, spec->value, &SHAPE1(n));
  weft__locale_begin(&plain);
  if (!err) err = take_all(v, n, &keys, &values);
  weft__locale_end(&plain);
  if (!err) err = weft__lookup_fill(t, &keys, &values);
  weft__tensor_clear(&keys);
  weft__tensor_clear(&values);
  return err;
}

static weft_err lookup_file_fill_cpu(kernel *k) {
  resource *r = NULL;
  const attr_str delimiter = weft__node_str(k->node, "delimiter");
  if (delimiter.size != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "delimiter should be only 1 char");
  if (weft__tensor_count(k->in[1]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "filename should be a single string, but got %s",
                             weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, LOOKUP_TYPE, &r)));
  const str *name = TENSOR_DATA(k->in[1], str);
  char *path = weft__strndup(name->size ? name->data : "", name->size);
  vocabulary v = {.path = path,
                  .key_index = weft__node_int(k->node, "key_index", WHOLE_LINE),
                  .value_index = weft__node_int(k->node, "value_index", LINE_NUMBER),
                  .size = weft__node_int(k->node, "vocab_size", -1),
                  .offset = weft__node_int(k->node, "offset", 0),
                  .delimiter = delimiter.data[0]};
  weft_err err = path ? WEFT_OK : WEFT_OOM;
  if (!err && !weft__lookup_spec((lookup *)r)->fixed)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "the table is not initializable");
  if (!err) err = lookup_file_fill(&v, (lookup *)r);
  weft__text_finish(&v.bytes);
  weft__text_finish(&v.room);
  weft__free(path);
  weft__object_release(&r->base);
  return weft__kernel_in(k, err);
}

static weft_err lookup_file_fill_infer(infer *s) { return weft__infer_rank(s, 1, 0, NULL); }

#define FILE_ATTRS " | key_index:int>=-2 value_index:int>=-2 vocab_size:int>=-1=-1 delimiter:string='\t' offset:int=0"

OPS(lookup_file) = {
    {"InitializeTableFromTextFileV2(table_handle:resource, filename:string) -> ()" FILE_ATTRS " ; stateful",
     "Fills a table from a text file.", .infer = lookup_file_fill_infer, .cpu = lookup_file_fill_cpu, .no_grad = true},
    {"InitializeTableFromTextFile(table_handle:&string, filename:string) -> ()" FILE_ATTRS,
     "Fills a table from a text file.", .infer = lookup_file_fill_infer, .cpu = lookup_file_fill_cpu, .no_grad = true},
    {.scenario = "tests/parity/test_tables.py"},
};
