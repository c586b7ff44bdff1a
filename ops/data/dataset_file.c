/* dataset_file.c - data sets that read files: records, lines, or records of fixed length. */
#include "base/alloc.h"
#include "io/confine.h"
#include "io/file_wait.h"
#include "io/record.h"
#include "kernels/array/strided_copy.h"
#include "ops/data/dataset.h"
#include <unistd.h>

typedef enum file_kind { FILE_RECORDS, FILE_LINES, FILE_FIXED } file_kind;

typedef struct files {
  dataset base;
  file_kind kind;
  compression compression;
  int64_t header, record, footer;
  weft_tensor names, offsets; /* offsets: for TFRecordDatasetV2, where to begin in each file; otherwise empty */
} files;

typedef struct files_at {
  iterator base;
  int64_t next; /* index of the next file */
  char *path;
  record_reader *records;
  input *in;
  text line;    /* the last line or record */
  int64_t left; /* FILE_FIXED: bytes before the footer; < 0: unknown, because the file is compressed */
  text ahead;   /* if unknown: bytes that may belong to the footer */
} files_at;

static void files_destroy(dataset *d) {
  weft__tensor_clear(&((files *)d)->names);
  weft__tensor_clear(&((files *)d)->offsets);
}

static void close_file(files_at *at) {
  weft__records_close(at->records);
  weft__input_close(at->in);
  weft__free(at->path);
  at->records = NULL;
  at->in = NULL;
  at->path = NULL;
}

static void files_finish(iterator *it) {
  files_at *at = (files_at *)it;
  close_file(at);
  weft__text_finish(&at->line);
  weft__text_finish(&at->ahead);
}

/* ---- opening ---- */

static weft_err dataset_file_skip(files_at *at, int64_t n) {
  char piece[4096];
  while (n > 0) {
    size_t got = 0, want = n < (int64_t)sizeof piece ? (size_t)n : sizeof piece;
    WEFT_TRY(weft__input_read(at->in, piece, want, &got));
    if (got < want) return weft__fail(WEFT_OUT_OF_RANGE, "%s ends before %lld more bytes", at->path, (long long)n);
    n -= (int64_t)got;
  }
  return WEFT_OK;
}

/* Checks that an uncompressed file consists of header, whole records and footer. */
static weft_err dataset_file_measure(const files *s, files_at *at) {
  at->left = -1;
  if (s->compression != COMPRESSION_NONE) return WEFT_OK;
  int fd;
  uint64_t size;
  WEFT_TRY(weft__file_open(at->path, &fd, &size));
  close(fd);
  at->left = (int64_t)size - s->header - s->footer;
  if (at->left >= 0 && at->left % s->record == 0) return WEFT_OK;
  return weft__fail(
      WEFT_INVALID_ARGUMENT,
      "Excess bytes in input file \"%s\" after reading %lld records (%lld bytes of header, %lld of footer)", at->path,
      (long long)(at->left < 0 ? 0 : at->left / s->record), (long long)s->header, (long long)s->footer);
}

static weft_err open_fixed(const files *s, files_at *at) {
  WEFT_TRY(dataset_file_measure(s, at));
  WEFT_TRY(weft__input_open(&at->in, at->path, s->compression));
  at->ahead.size = 0;
  return dataset_file_skip(at, s->header);
}

/* Skips the records that begin before the offset. */
static weft_err seek_record(const files *s, files_at *at, int64_t file) {
  uint64_t to = s->offsets.buf ? (uint64_t)TENSOR_DATA(&s->offsets, int64_t)[file] : 0, offset = 0;
  bool end = false;
  if (to == 0) return WEFT_OK;
  while (!end && offset < to) {
    WEFT_TRY(weft__record_next(at->records, &at->line, &offset, &end));
    offset += at->line.size + 16;
  }
  return WEFT_OK;
}

static weft_err dataset_file_open_next(files_at *at) {
  const files *s = (files *)at->base.set;
  int64_t file = at->next;
  const str *name = &TENSOR_DATA(&s->names, str)[file];
  at->path = weft__strndup(name->size ? name->data : "", name->size);
  if (!at->path) return WEFT_OOM;
  WEFT_TRY(weft__path_allowed(at->path));
  switch (s->kind) {
  case FILE_RECORDS:
    WEFT_TRY(weft__records_open(&at->records, at->path, s->compression));
    return seek_record(s, at, file);
  case FILE_LINES: return weft__input_open(&at->in, at->path, s->compression);
  case FILE_FIXED: return open_fixed(s, at);
  }
  return WEFT_OK;
}

/* ---- reading ---- */

static weft_err next_line(files_at *at, bool *end) {
  int c;
  at->line.size = 0;
  weft__input_begin(at->in);
  while ((c = weft__input_byte(at->in)) >= 0 && c != '\n') {
    char byte = (char)c;
    weft__text_add(&at->line, &byte, 1);
  }
  if (at->line.failed) return WEFT_OOM;
  if (c < 0) {
    WEFT_TRY(weft__input_status(at->in));
    *end = at->line.size == 0;
  }
  if (at->line.size && at->line.data[at->line.size - 1] == '\r') at->line.size--;
  return WEFT_OK;
}

/* Reads a record of a compressed file.  Only the end of such a file shows where the footer begins, so as many bytes
 * as the footer has are always read ahead. */
static weft_err next_unmeasured(const files *s, files_at *at, bool *end) {
  size_t want = (size_t)(s->record + s->footer), got = 0;
  weft__input_begin(at->in);
  char *room = weft__text_reserve(&at->ahead, want);
  if (!room) return WEFT_OOM;
  WEFT_TRY(weft__input_read(at->in, room, want - at->ahead.size, &got));
  at->ahead.size += got;
  *end = at->ahead.size < want;
  if (*end) return WEFT_OK;
  at->line.size = 0;
  weft__text_add(&at->line, at->ahead.data, (size_t)s->record);
  memmove(at->ahead.data, at->ahead.data + s->record, (size_t)s->footer);
  at->ahead.size = (size_t)s->footer;
  return at->line.failed ? WEFT_OOM : WEFT_OK;
}

static weft_err next_fixed(const files *s, files_at *at, bool *end) {
  if (at->left < 0) return next_unmeasured(s, at, end);
  *end = at->left == 0;
  if (*end) return WEFT_OK;
  size_t got = 0;
  at->line.size = 0;
  char *room = weft__text_reserve(&at->line, (size_t)s->record);
  if (!room) return WEFT_OOM;
  WEFT_TRY(weft__input_read(at->in, room, (size_t)s->record, &got));
  at->line.size = got;
  at->left -= s->record;
  return got == (size_t)s->record ? WEFT_OK : weft__fail(WEFT_DATA_LOSS, "%s became shorter", at->path);
}

static weft_err next_piece(const files *s, files_at *at, bool *end) {
  uint64_t offset;
  switch (s->kind) {
  case FILE_RECORDS: return weft__record_next(at->records, &at->line, &offset, end);
  case FILE_LINES: return next_line(at, end);
  case FILE_FIXED: return next_fixed(s, at, end);
  }
  return WEFT_OK;
}

static weft_err dataset_file_return(files_at *at, weft_tensor *out) {
  WEFT_TRY(weft__tensor_init(out, WEFT_STRING, &SHAPE_SCALAR));
  return weft__str_set(&TENSOR_DATA(out, str)[0], at->line.data, at->line.size);
}

static weft_err files_read(iterator *it, weft_tensor *out, bool *end) {
  files_at *at = (files_at *)it;
  const files *s = (files *)it->set;
  for (;;) {
    bool over = false;
    if (!at->path) {
      *end = at->next >= weft__tensor_count(&s->names);
      if (*end) return WEFT_OK;
      weft_err err = dataset_file_open_next(at);
      if (err) { /* the next call tries the same file again */
        close_file(at);
        return err;
      }
      at->next++;
    }
    weft_err err = next_piece(s, at, &over);
    if (!err && !over) return dataset_file_return(at, out);
    close_file(at); /* a corrupt file ends where the damage is */
    if (err) return err;
  }
}

static weft_err files_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const file_wait until = {st->cancel, st->deadline_ns}, *before = weft__file_wait_set(&until);
  const weft_err err = files_read(it, out, end);
  weft__file_wait_set(before);
  return err;
}

static const dataset_kind files_dataset = {
    "Files", sizeof(files), sizeof(files_at), .destroy = files_destroy, .next = files_next, .finish = files_finish};

/* ---- sharing the files among workers ---- */

bool weft__dataset_is_files(const dataset *d) { return d->kind == &files_dataset; }

/* Sets `to` to every count-th element of a vector, from `index` on. */
static weft_err files_every(weft_tensor *to, const weft_tensor *from, int64_t count, int64_t index) {
  const int64_t n = weft__tensor_count(from);
  if (!from->buf) return WEFT_OK;
  WEFT_TRY(weft__tensor_init(to, from->dtype, &SHAPE1(n > index ? (n - index + count - 1) / count : 0)));
  for (int64_t i = 0; i < weft__tensor_count(to); i++)
    WEFT_TRY(weft__elements_copy(to->dtype, weft__element(to->dtype, to->data, i),
                                 weft__element_const(from->dtype, from->data, index + i * count), 1));
  return WEFT_OK;
}

weft_err weft__dataset_files_share(dataset **out, const dataset *d, int64_t count, int64_t index) {
  const files *from = (const files *)d;
  const int64_t n = weft__tensor_count(&from->names);
  if (n < count && index < n)
    return weft__fail(
        WEFT_INVALID_ARGUMENT,
        "Could not apply FILE based sharding: the dataset only has %lld file(s), which is not enough for the "
        "required %lld shards/workers. If no worker needs files of its own, use AutoShardPolicy.DATA or "
        "AutoShardPolicy.OFF",
        (long long)n, (long long)count);
  WEFT_TRY(weft__dataset_create(out, d->kind, 0, NULL, d->n_part, d->type));
  files *to = (files *)*out;
  to->kind = from->kind, to->compression = from->compression;
  to->header = from->header, to->record = from->record, to->footer = from->footer;
  weft_err err = files_every(&to->names, &from->names, count, index);
  if (!err) err = files_every(&to->offsets, &from->offsets, count, index);
  if (err) weft__dataset_release(*out), *out = NULL;
  return err;
}

/* ---- kernels ---- */

static weft_err dataset_file_read_args(kernel *k, files *s) {
  int at, count;
  if (k->in[0]->shape.rank > 1) return weft__fail(WEFT_INVALID_ARGUMENT, "`filenames` must be a scalar or a vector.");
  WEFT_TRY(weft__tensor_keep(&s->names, k->in[0]));
  if (weft__node_in_range(k->node, "compression_type", &at, &count) == WEFT_OK && count) {
    WEFT_TRY(weft__kernel_scalar(k, at, "compression_type"));
    const str *c = &TENSOR_DATA(k->in[at], str)[0];
    char name[8] = "";
    memcpy(name, c->size ? c->data : "", c->size < sizeof name ? c->size : sizeof name - 1);
    s->compression = weft__compression_of(name);
    if (c->size && s->compression == COMPRESSION_NONE)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Unsupported compression_type.");
  }
  if (weft__node_in_range(k->node, "byte_offsets", &at, &count) == WEFT_OK && count &&
      weft__tensor_count(k->in[at]) == weft__tensor_count(k->in[0]))
    WEFT_TRY(weft__tensor_keep(&s->offsets, k->in[at]));
  return WEFT_OK;
}

static weft_err read_lengths(kernel *k, files *s) {
  WEFT_TRY(weft__dataset_int(k, 1, "header_bytes", &s->header));
  WEFT_TRY(weft__dataset_int(k, 2, "record_bytes", &s->record));
  WEFT_TRY(weft__dataset_int(k, 3, "footer_bytes", &s->footer));
  if (s->header < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "`header_bytes` must be >= 0");
  if (s->record <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "`record_bytes` must be > 0");
  if (s->footer < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "`footer_bytes` must be >= 0");
  return WEFT_OK;
}

static weft_err dataset_file_make(kernel *k, file_kind kind) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &files_dataset, 0, &d));
  ((files *)d)->kind = kind;
  weft_err err = dataset_file_read_args(k, (files *)d);
  if (!err && kind == FILE_FIXED) err = read_lengths(k, (files *)d);
  return weft__dataset_out(k, d, err);
}

static weft_err records_cpu(kernel *k) { return dataset_file_make(k, FILE_RECORDS); }
static weft_err lines_cpu(kernel *k) { return dataset_file_make(k, FILE_LINES); }
static weft_err fixed_cpu(kernel *k) { return dataset_file_make(k, FILE_FIXED); }

#define ROW(NAME, ARGS, DOC, FN)                                                                                       \
  {                                                                                                                    \
    NAME "(filenames:string" ARGS ") -> (handle:variant) | metadata:string='' ; stateful", DOC, DATASET_FLAGS,         \
        .cpu = FN                                                                                                      \
  }
#define LENGTHS ", header_bytes:int64, record_bytes:int64, footer_bytes:int64, buffer_size:int64"

OPS(dataset_file) = {
    ROW("TFRecordDataset", ", compression_type:string, buffer_size:int64", "The records of files.", records_cpu),
    ROW("TFRecordDatasetV2", ", compression_type:string, buffer_size:int64, byte_offsets:int64",
        "The records of files, from offsets on.", records_cpu),
    ROW("TextLineDataset", ", compression_type:string, buffer_size:int64", "The lines of files.", lines_cpu),
    ROW("FixedLengthRecordDataset", LENGTHS, "Pieces of files, all of one length.", fixed_cpu),
    ROW("FixedLengthRecordDatasetV2", LENGTHS ", compression_type:string", "Pieces of files, all of one length.",
        fixed_cpu),
    {.scenario = "tests/parity/test_data.py"},
};
