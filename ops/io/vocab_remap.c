/* vocab_remap.c - GenerateVocabRemapping and LoadAndRemapMatrix: they load the rows of a checkpoint's matrix for a
 * new vocabulary.
 *
 * A warm start uses them if the vocabulary has changed. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "io/bundle.h"
#include "io/confine.h"
#include "io/file.h"
#include <stdio.h>
#include <string.h>

static weft_err read_path(const kernel *k, int i, const char *arg, char **out) {
  WEFT_TRY(weft__kernel_scalar(k, i, arg));
  const str *s = k->in[i]->data;
  if (!(*out = weft__strndup(s->size ? s->data : "", s->size))) return WEFT_OOM;
  const weft_err err = weft__path_allowed(*out);
  if (err) {
    weft__free(*out);
    *out = NULL;
  }
  return weft__kernel_in(k, err);
}

/* ---- GenerateVocabRemapping ---- */

/* Splits the text into lines in place, and returns their number.  If `lines` is NULL, the lines are only counted. */
static int64_t vocab_lines(text *t, char **lines) {
  int64_t n = 0;
  for (size_t at = 0; at < t->size; n++) {
    char *end = memchr(t->data + at, '\n', t->size - at);
    const size_t stop = end ? (size_t)(end - t->data) : t->size;
    if (lines) {
      lines[n] = t->data + at;
      t->data[stop] = '\0'; /* terminates the line: the text has a NUL behind its end */
    }
    at = stop + 1;
  }
  return n;
}

static weft_err vocab_read(const kernel *k, int i, const char *arg, text *t, char ***lines, int64_t *n) {
  char *path = NULL;
  WEFT_TRY(read_path(k, i, arg, &path));
  weft_err err = weft__file_read(path, t);
  weft__free(path);
  if (err) return weft__kernel_in(k, err);
  *n = vocab_lines(t, NULL);
  if (!(*lines = weft__alloc_zero((size_t)*n + 1, sizeof **lines))) return WEFT_OOM;
  vocab_lines(t, *lines);
  return WEFT_OK;
}

/* Maps each line to its number + 1, because a map cannot store NULL. */
static weft_err vocab_index(const kernel *k, char **lines, int64_t n, map *out) {
  for (int64_t i = 0; i < n; i++) {
    const void *before = weft__map_get(out, lines[i]);
    if (before)
      return weft__kernel_fail(
          k, WEFT_FAILED_PRECONDITION,
          "HashTable has different value for same key. Key %.100s has %lld and trying to add value "
          "%lld",
          lines[i], (long long)((intptr_t)before - 1), (long long)i);
    WEFT_TRY(weft__map_put(out, lines[i], (void *)(intptr_t)(i + 1)));
  }
  return WEFT_OK;
}

typedef struct vocab {
  text text;
  char **lines;
  int64_t n;
} vocab;

static void vocab_finish(vocab *v) {
  weft__text_finish(&v->text);
  weft__free(v->lines);
}

static weft_err vocab_remap_ids(kernel *k, const vocab *new_vocab, const map *old) {
  const int64_t offset = weft__node_int(k->node, "new_vocab_offset", 0),
                n = weft__node_int(k->node, "num_new_vocab", 0);
  if (n < 0 || offset < 0 || offset > new_vocab->n || n > new_vocab->n - offset)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "lookup table size must be larger than last new vocab entry's line: new_vocab_file has %lld "
        "lines, new_vocab_offset is %lld and num_new_vocab %lld",
        (long long)new_vocab->n, (long long)offset, (long long)n);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(n)), *present = weft__out(k, 1, &SHAPE_SCALAR);
  if (!out || !present) return WEFT_OOM;
  int64_t found = 0;
  for (int64_t i = 0; i < n; i++) {
    const intptr_t at = (intptr_t)weft__map_get(old, new_vocab->lines[offset + i]);
    TENSOR_DATA(out, int64_t)[i] = at - 1;
    found += at > 0;
  }
  TENSOR_DATA(present, int32_t)[0] = weft__int_sat(found);
  return WEFT_OK;
}

static weft_err generate_cpu(kernel *k) {
  vocab new_vocab = {0}, old_vocab = {0};
  map index = {0};
  weft_err err = vocab_read(k, 0, "new_vocab_file", &new_vocab.text, &new_vocab.lines, &new_vocab.n);
  if (!err) err = vocab_read(k, 1, "old_vocab_file", &old_vocab.text, &old_vocab.lines, &old_vocab.n);
  const int64_t limit = weft__node_int(k->node, "old_vocab_size", -1);
  if (!err && limit > old_vocab.n)
    err =
        weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid vocab_size in old_vocab_file: expected %lld but got %lld",
                          (long long)limit, (long long)old_vocab.n);
  if (!err) err = vocab_index(k, old_vocab.lines, limit >= 0 ? limit : old_vocab.n, &index);
  if (!err) err = vocab_remap_ids(k, &new_vocab, &index);
  weft__map_finish(&index);
  vocab_finish(&new_vocab);
  vocab_finish(&old_vocab);
  return err;
}

static weft_err generate_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = SHAPE1(weft__node_int(s->node, "num_new_vocab", 0));
  s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* ---- LoadAndRemapMatrix ---- */

/* Checks that input i is a vector of n old row (or column) numbers.  A negative number means that the row is new.
 * No old row may appear twice. */
static weft_err check_remapping(const kernel *k, int i, const char *arg, const char *size_name, int64_t n) {
  const weft_tensor *t = k->in[i];
  WEFT_TRY(weft__kernel_vector(k, i, arg));
  if (t->shape.dim[0] != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Size of %s is %lld instead of being equal to %s=%lld", arg,
                             (long long)t->shape.dim[0], size_name, (long long)n);
  map seen = {0};
  weft_err err = WEFT_OK;
  for (int64_t j = 0; j < n && !err; j++) {
    const int64_t old = TENSOR_DATA(t, int64_t)[j];
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)old);
    const void *before = old < 0 ? NULL : weft__map_get(&seen, key);
    if (before)
      err = weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                              "Old ID %lld is mapped to both new ID %lld and %lld, which is not supported.",
                              (long long)old, (long long)((intptr_t)before - 1), (long long)j);
    else if (old >= 0)
      err = weft__map_put(&seen, key, (void *)(intptr_t)(j + 1));
  }
  weft__map_finish(&seen);
  return err;
}

typedef struct remap_work {
  const weft_tensor *rows, *cols, *init;
  int64_t n_rows, n_cols, used; /* used: how many of the initializing values are used */
  weft_tensor *out;
} remap_work;

static weft_err next_value(const kernel *k, remap_work *j, float *to) {
  const int64_t n = weft__tensor_count(j->init);
  if (j->used >= n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "initializing_values contained %lld elements, but more missing values remain.",
                             (long long)n);
  *to = TENSOR_DATA(j->init, float)[j->used++];
  return WEFT_OK;
}

/* Fills row i of the output from a row of the old matrix, or with initializing values if `from` is NULL. */
static weft_err remap_row(const kernel *k, remap_work *j, int64_t i, const float *from, int64_t old_cols) {
  float *to = TENSOR_DATA(j->out, float) + i * j->n_cols;
  const bool moved = weft__tensor_count(j->cols) > 0;
  for (int64_t c = 0; c < j->n_cols; c++) {
    const int64_t old = moved ? TENSOR_DATA(j->cols, int64_t)[c] : c;
    if (old >= old_cols)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "col_remapping has column %lld, but the matrix has %lld",
                               (long long)old, (long long)old_cols);
    if (from && old >= 0)
      to[c] = from[old];
    else
      WEFT_TRY(next_value(k, j, &to[c]));
  }
  return WEFT_OK;
}

static weft_err check_matrix(const kernel *k, const char *name, const bundle_entry *e, const remap_work *j) {
  if (e->dtype != WEFT_FLOAT)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor %s has invalid type %s instead of expected type float",
                             name, weft__dtype_short(e->dtype));
  if (e->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Tensor %s has shape %s of invalid rank %d instead of expected rank 2", name,
                             weft__shape_text(&e->shape), e->shape.rank);
  if (!weft__tensor_count(j->cols) && e->shape.dim[1] != j->n_cols)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Tensor %s has shape %s, where the size of its 2nd dimension is %lld instead of being equal "
        "to num_cols=%lld",
        name, weft__shape_text(&e->shape), (long long)e->shape.dim[1], (long long)j->n_cols);
  return WEFT_OK;
}

/* Reads the rows one by one, because the matrix may be larger than memory.  TensorFlow has max_rows_in_memory for
 * this case. */
static weft_err remap_rows(const kernel *k, remap_work *j, bundle_reader *r, bytes name, const bundle_entry *e) {
  weft_tensor row = {0};
  WEFT_TRY(weft__tensor_init(&row, WEFT_FLOAT, &SHAPE2(1, e->shape.dim[1])));
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < j->n_rows && !err; i++) {
    const int64_t old = TENSOR_DATA(j->rows, int64_t)[i];
    slice s = weft__slice_full(2);
    s.start[0] = old, s.length[0] = 1;
    if (old >= e->shape.dim[0])
      err = weft__kernel_fail(k, WEFT_INTERNAL, "row_remapping has row %lld, but the matrix has %lld", (long long)old,
                              (long long)e->shape.dim[0]);
    if (!err && old >= 0) err = weft__kernel_in(k, weft__bundle_read(r, name, &s, &row));
    if (!err) err = remap_row(k, j, i, old >= 0 ? row.data : NULL, e->shape.dim[1]);
    if (!err && weft__cancel_fired(k->step->cancel)) err = weft__cancel_raise(k->step->cancel);
  }
  weft__tensor_clear(&row);
  return err;
}

static weft_err load_matrix(const kernel *k, remap_work *j, const char *prefix) {
  bundle_reader *r = NULL;
  bundle_entry e;
  const str *given = k->in[1]->data;
  const bytes name = {given->size ? given->data : "", given->size};
  char *text_name = weft__strndup(name.data, name.size);
  weft_err err = text_name ? weft__kernel_in(k, weft__bundle_open(&r, prefix)) : WEFT_OOM;
  if (!err) err = weft__kernel_in(k, weft__bundle_find(r, name, &e));
  if (!err) err = check_matrix(k, text_name, &e, j);
  if (!err) err = remap_rows(k, j, r, name, &e);
  if (r) weft__bundle_close(r);
  weft__free(text_name);
  if (err || j->used == weft__tensor_count(j->init)) return err;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "initializing_values contained %lld elements, but only %lld elements were used to fill in "
                           "missing values.",
                           (long long)weft__tensor_count(j->init), (long long)j->used);
}

static weft_err load_cpu(kernel *k) {
  remap_work j = {
      k->in[2], k->in[3], k->in[4], weft__node_int(k->node, "num_rows", 0), weft__node_int(k->node, "num_cols", 1),
      0,        NULL};
  char *prefix = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "old_tensor_name"));
  WEFT_TRY(check_remapping(k, 2, "row_remapping", "num_rows", j.n_rows));
  if (weft__tensor_count(j.cols)) WEFT_TRY(check_remapping(k, 3, "col_remapping", "num_cols", j.n_cols));
  if (!(j.out = weft__out(k, 0, &SHAPE2(j.n_rows, j.n_cols)))) return WEFT_RESOURCE_EXHAUSTED;
  WEFT_TRY(read_path(k, 0, "ckpt_path", &prefix));
  const weft_err err = load_matrix(k, &j, prefix);
  weft__free(prefix);
  return err;
}

static weft_err load_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 3, 1, NULL));
  s->out[0] = SHAPE2(weft__node_int(s->node, "num_rows", -1), weft__node_int(s->node, "num_cols", -1));
  return WEFT_OK;
}

OPS(vocab_remap) = {
    {"GenerateVocabRemapping(new_vocab_file:string, old_vocab_file:string) -> (remapping:int64, num_present:int32) | "
     "new_vocab_offset:int>=0 num_new_vocab:int>=0 old_vocab_size:int>=-1=-1",
     "Where the lines of one vocabulary are in another.", OP_NO_FOLD, .infer = generate_infer, .cpu = generate_cpu,
     .no_grad = true},
    {"LoadAndRemapMatrix(ckpt_path:string, old_tensor_name:string, row_remapping:int64, col_remapping:int64, "
     "initializing_values:float) -> (output_matrix:float) | num_rows:int>=0 num_cols:int>=1 max_rows_in_memory:int=-1 "
     "; "
     "stateful",
     "Rows and columns of a checkpoint's matrix in another order.", .infer = load_infer, .cpu = load_cpu,
     .no_grad = true},
    {.scenario = "tests/parity/test_vocab_remap.py"},
};
