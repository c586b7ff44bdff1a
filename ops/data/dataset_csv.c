/* dataset_csv.c - the records of files of comma-separated values, with one component for each column.
 *
 * A file is read byte by byte through the buffer of io/. A quoted field may contain line ends, so a record may span
 * several lines. */
#include "base/alloc.h"
#include "base/cast.h"
#include "codec/number.h"
#include "io/confine.h"
#include "io/file_wait.h"
#include "io/record.h"
#include "ops/data/dataset.h"

typedef struct csv {
  dataset base;
  compression compression;
  bool header, quotes, excludes; /* excludes: `columns` lists the columns to leave out */
  char delim;
  str na;
  weft_tensor names, columns; /* columns: int64, ascending; without a buffer all columns are wanted */
  weft_tensor *defaults;      /* per component: one value, or none if the field is required */
} csv;

typedef struct csv_at {
  iterator base;
  int64_t next; /* index of the next file */
  char *path;   /* path of the open file */
  input *in;
  int byte;           /* one byte of lookahead; -1: end of file */
  text field, number; /* the last field; scratch */
} csv_at;

static void csv_destroy(dataset *d) {
  csv *s = (csv *)d;
  weft__tensor_clear(&s->names);
  weft__tensor_clear(&s->columns);
  weft__free(s->na.data);
  if (s->defaults) weft__components_free(s->defaults, d->n_part);
}

static void close_file(csv_at *at) {
  weft__input_close(at->in);
  weft__free(at->path);
  at->in = NULL;
  at->path = NULL;
}

static void csv_finish(iterator *it) {
  csv_at *at = (csv_at *)it;
  close_file(at);
  weft__text_finish(&at->field);
  weft__text_finish(&at->number);
}

/* ---- fields ---- */

static void dataset_csv_advance(csv_at *at) { at->byte = weft__input_byte(at->in); }

static void keep_byte(csv_at *at) {
  char byte = (char)at->byte;
  weft__text_add(&at->field, &byte, 1);
  dataset_csv_advance(at);
}

static bool ends_field(const csv_at *at, char delim) {
  return at->byte < 0 || at->byte == '\n' || at->byte == '\r' || (char)at->byte == delim;
}

static weft_err read_quoted(csv_at *at, char delim) {
  for (dataset_csv_advance(at);;) {
    if (at->byte < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Reached end of file without closing quoted field in record");
    if (at->byte != '"') {
      keep_byte(at);
      continue;
    }
    dataset_csv_advance(at);
    if (ends_field(at, delim)) return WEFT_OK;
    if (at->byte != '"')
      return weft__fail(WEFT_INVALID_ARGUMENT, "Quote inside a string has to be escaped by another quote");
    keep_byte(at);
  }
}

static weft_err read_unquoted(csv_at *at, const csv *s) {
  while (!ends_field(at, s->delim)) {
    if (s->quotes && at->byte == '"')
      return weft__fail(WEFT_INVALID_ARGUMENT, "Unquoted fields cannot have quotes inside");
    keep_byte(at);
  }
  return WEFT_OK;
}

/* Reads a field and the delimiter or line end after it. *last is set if the record ends here. */
static weft_err dataset_csv_read_field(csv_at *at, const csv *s, bool *last) {
  at->field.size = 0;
  WEFT_TRY(s->quotes && at->byte == '"' ? read_quoted(at, s->delim) : read_unquoted(at, s));
  if (at->field.failed) return WEFT_OOM;
  if (at->byte < 0) WEFT_TRY(weft__input_status(at->in)); /* an error, and no end of the field */
  *last = at->byte < 0 || (char)at->byte != s->delim;
  if (at->byte == '\r') {
    dataset_csv_advance(at);
    if (at->byte == '\n') dataset_csv_advance(at);
  } else if (at->byte >= 0) {
    dataset_csv_advance(at);
  }
  return WEFT_OK;
}

/* ---- records ---- */

static weft_err put_default(const csv *s, int column, weft_tensor *out) {
  const weft_tensor *d = &s->defaults[column];
  if (weft__tensor_count(d) == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Field %d is required but missing in record!", column);
  return weft__elements_copy(out->dtype, out->data, d->data, 1);
}

static weft_err dataset_csv_put_field(csv_at *at, const csv *s, int column, weft_tensor *out) {
  const char *field = weft__text_get(&at->field);
  size_t n = at->field.size;
  WEFT_TRY(weft__tensor_init(out, s->base.type[column], &SHAPE_SCALAR));
  if (n == 0 || (n == s->na.size && memcmp(field, s->na.data, n) == 0)) return put_default(s, column, out);
  if (out->dtype == WEFT_STRING) return weft__str_set(TENSOR_DATA(out, str), field, n);
  if (weft__number_read(&at->number, field, n, out->dtype, out->data)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Field %d in record is not a valid %s: %.*s", column,
                    weft__dtype_short(out->dtype), weft__int_sat(n < 200 ? n : 200), field);
}

/* Returns true if column i of the file is wanted. *listed is the number of entries of `columns` before it. */
static bool is_wanted(const csv *s, int64_t i, int64_t *listed) {
  if (!s->columns.buf) return true;
  int64_t n = weft__tensor_count(&s->columns);
  bool found = *listed < n && TENSOR_DATA(&s->columns, int64_t)[*listed] == i;
  if (found) ++*listed;
  return found != s->excludes;
}

static weft_err read_record(iterator *it, weft_tensor *out) {
  csv_at *at = (csv_at *)it;
  const csv *s = (csv *)it->set;
  int column = 0;
  int64_t listed = 0;
  bool last = false;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; !last; i++) { /* after an error, the rest of the record is skipped */
    weft_err why = dataset_csv_read_field(at, s, &last);
    if (why && !err) err = why;
    if (why && at->byte < 0) break;
    if (err || !is_wanted(s, i, &listed)) continue;
    if (column < it->set->n_part) err = dataset_csv_put_field(at, s, column, &out[column]);
    column++;
  }
  if (!err && column != it->set->n_part)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Expect %d fields but have %d in record", it->set->n_part, column);
  if (err) weft__components_clear(out, it->set->n_part);
  return err;
}

/* ---- files ---- */

static weft_err dataset_csv_open_next(csv_at *at) {
  const csv *s = (csv *)at->base.set;
  const str *name = &TENSOR_DATA(&s->names, str)[at->next];
  if (!(at->path = weft__strndup(name->size ? name->data : "", name->size))) return WEFT_OOM;
  WEFT_TRY(weft__path_allowed(at->path));
  WEFT_TRY(weft__input_open(&at->in, at->path, s->compression));
  dataset_csv_advance(at);
  for (bool last = !s->header || at->byte < 0; !last;) WEFT_TRY(dataset_csv_read_field(at, s, &last));
  return WEFT_OK;
}

static weft_err csv_read(iterator *it, weft_tensor *out, bool *end) {
  csv_at *at = (csv_at *)it;
  for (;;) {
    weft_err err = WEFT_OK;
    if (!at->path) {
      *end = at->next >= weft__tensor_count(&((csv *)it->set)->names);
      if (*end) return WEFT_OK;
      err = dataset_csv_open_next(at);
      at->next += !err;
    }
    if (!err && at->byte >= 0) {
      plain_locale l;
      weft__input_begin(at->in);
      weft__locale_begin(&l);
      err = read_record(it, out);
      weft__locale_end(&l);
      if (!err || at->byte >= 0 || weft__input_status(at->in) == WEFT_OK) return err;
    }
    if (!err) err = weft__input_status(at->in);
    close_file(at);
    WEFT_TRY(err);
  }
}

static weft_err csv_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const file_wait until = {st->cancel, st->deadline_ns}, *before = weft__file_wait_set(&until);
  const weft_err err = csv_read(it, out, end);
  weft__file_wait_set(before);
  return err;
}

static const dataset_kind csv_kind = {
    "CSV", sizeof(csv), sizeof(csv_at), .destroy = csv_destroy, .next = csv_next, .finish = csv_finish};

/* ---- kernel ---- */

enum { IN_NAMES, IN_COMPRESSION, IN_BUFFER, IN_HEADER, IN_DELIM, IN_QUOTES, IN_NA, IN_SELECT, IN_DEFAULTS };

static weft_err string_of(const kernel *k, int i, const char *name, const str **out) {
  WEFT_TRY(weft__kernel_scalar(k, i, name));
  *out = &TENSOR_DATA(k->in[i], str)[0];
  return WEFT_OK;
}

static weft_err dataset_csv_read_options(kernel *k, csv *s) {
  const str *packing, *delim, *na;
  int64_t header, quotes;
  WEFT_TRY(string_of(k, IN_COMPRESSION, "compression_type", &packing));
  WEFT_TRY(weft__dataset_int(k, IN_HEADER, "header", &header));
  WEFT_TRY(string_of(k, IN_DELIM, "field_delim", &delim));
  WEFT_TRY(weft__dataset_int(k, IN_QUOTES, "use_quote_delim", &quotes));
  WEFT_TRY(string_of(k, IN_NA, "na_value", &na));
  char name[8] = "";
  memcpy(name, packing->size ? packing->data : "", packing->size < sizeof name ? packing->size : sizeof name - 1);
  s->compression = weft__compression_of(name);
  if (packing->size && s->compression == COMPRESSION_NONE)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unsupported compression_type: %s.", name);
  if (delim->size != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "field_delim should be only 1 char");
  s->delim = delim->data[0];
  s->header = header != 0, s->quotes = quotes != 0;
  return weft__str_set(&s->na, na->size ? na->data : "", na->size);
}

static weft_err read_columns(kernel *k, csv *s, int select, int exclude) {
  bool selects = weft__tensor_count(k->in[select]) > 0;
  s->excludes = exclude >= 0 && weft__tensor_count(k->in[exclude]) > 0;
  if (selects && s->excludes)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Either select_cols or exclude_cols should be empty");
  if (!selects && !s->excludes) return WEFT_OK;
  WEFT_TRY(weft__tensor_keep(&s->columns, k->in[s->excludes ? exclude : select]));
  int64_t n = weft__tensor_count(&s->columns), before = -1;
  if (selects && n != s->base.n_part)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "select_cols should match output size");
  for (int64_t i = 0; i < n; before = TENSOR_DATA(&s->columns, int64_t)[i++])
    if (TENSOR_DATA(&s->columns, int64_t)[i] <= before)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s should be strictly increasing indices",
                               selects ? "select_cols" : "exclude_cols");
  return WEFT_OK;
}

static weft_err read_defaults(kernel *k, csv *s, int first, int count) {
  if (count != s->base.n_part)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "record_defaults has %d values for %d columns", count,
                             s->base.n_part);
  if (!(s->defaults = weft__components_alloc(count))) return WEFT_OOM;
  for (int i = 0; i < count; i++) {
    const weft_tensor *d = k->in[first + i];
    if (d->shape.rank > 1 || weft__tensor_count(d) > 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Each record default should be at most rank 1 with one value");
    if (d->dtype != s->base.type[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "record default %d has another type than output_types", i);
    WEFT_TRY(weft__tensor_keep(&s->defaults[i], d));
  }
  return WEFT_OK;
}

static weft_err csv_cpu(kernel *k) {
  dataset *d = NULL;
  int first, count, exclude = -1, excludes = 0;
  if (k->in[IN_NAMES]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`filenames` must be a scalar or a vector.");
  WEFT_TRY(weft__node_in_range(k->node, "record_defaults", &first, &count));
  if (weft__node_in_range(k->node, "exclude_cols", &exclude, &excludes) || !excludes) exclude = -1;
  WEFT_TRY(weft__dataset_of(k, &csv_kind, 0, &d));
  csv *s = (csv *)d;
  weft_err err = weft__tensor_keep(&s->names, k->in[IN_NAMES]);
  if (!err) err = dataset_csv_read_options(k, s);
  if (!err) err = read_columns(k, s, IN_SELECT, exclude);
  if (!err) err = read_defaults(k, s, first, count);
  return weft__dataset_out(k, d, err);
}

#define CSV(NAME, MORE)                                                                                                \
  {                                                                                                                    \
    NAME "(filenames:string, compression_type:string, buffer_size:int64, header:bool, field_delim:string, "            \
         "use_quote_delim:bool, na_value:string, select_cols:int64, record_defaults:@output_types" MORE                \
         ") -> (handle:variant) | output_types:list(type){float,double,int32,int64,string}>=1 "                        \
         "output_shapes:list(shape)>=1 ; stateful",                                                                    \
        "The records of files of comma-separated values.", DATASET_FLAGS, .cpu = csv_cpu                               \
  }

OPS(dataset_csv) = {
    CSV("CSVDataset", ""),
    CSV("ExperimentalCSVDataset", ""),
    CSV("CSVDatasetV2", ", exclude_cols:int64"),
    {.scenario = "tests/parity/test_data.py"},
};
