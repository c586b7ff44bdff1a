/* dataset_sparse.c - data sets of the rows of a sparse tensor, and dense elements combined into sparse batches. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "ops/data/dataset.h"
#include "state/held_tensors.h"
#include <string.h>

enum { INDICES, VALUES, DIMS, PARTS };

/* ---- rows of a sparse tensor ---- */

typedef struct sparse_rows {
  dataset base;
  weft_tensor t[PARTS];
} sparse_rows;

typedef struct sparse_rows_at {
  iterator base;
  int64_t row, entry;
} sparse_rows_at;

static void sparse_rows_destroy(dataset *d) {
  for (int i = 0; i < PARTS; i++) weft__tensor_clear(&((sparse_rows *)d)->t[i]);
}

static int64_t sparse_rows_count(const dataset *d) {
  return TENSOR_DATA(&((const sparse_rows *)d)->t[DIMS], int64_t)[0];
}

/* Returns entries [from, to) without their first index, and the shape without its first dimension. */
static weft_err sparse_row(const sparse_rows *s, int64_t from, int64_t to, weft_tensor *out) {
  const weft_tensor *indices = &s->t[INDICES], *values = &s->t[VALUES];
  const int64_t depth = indices->shape.dim[1], n = to - from;
  WEFT_TRY(weft__tensor_init(&out[INDICES], WEFT_INT64, &SHAPE2(n, depth - 1)));
  WEFT_TRY(weft__tensor_init(&out[VALUES], values->dtype, &SHAPE1(n)));
  WEFT_TRY(weft__tensor_init(&out[DIMS], WEFT_INT64, &SHAPE1(depth - 1)));
  if (depth > 1) {
    for (int64_t i = 0; i < n; i++)
      memcpy(TENSOR_DATA(&out[INDICES], int64_t) + i * (depth - 1),
             TENSOR_DATA(indices, int64_t) + (from + i) * depth + 1, (size_t)(depth - 1) * sizeof(int64_t));
    memcpy(out[DIMS].data, TENSOR_DATA(&s->t[DIMS], int64_t) + 1, (size_t)(depth - 1) * sizeof(int64_t));
  }
  return weft__elements_copy(values->dtype, out[VALUES].data, weft__element_const(values->dtype, values->data, from),
                             n);
}

static weft_err sparse_rows_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  const sparse_rows *s = (sparse_rows *)it->set;
  sparse_rows_at *at = (sparse_rows_at *)it;
  const int64_t depth = s->t[INDICES].shape.dim[1], n = s->t[INDICES].shape.dim[0];
  *end = at->row >= sparse_rows_count(it->set);
  if (*end) return WEFT_OK;
  int64_t to = at->entry;
  while (to < n && TENSOR_DATA(&s->t[INDICES], int64_t)[to * depth] == at->row) to++;
  weft_err err = sparse_row(s, at->entry, to, out);
  if (err) weft__components_clear(out, PARTS);
  at->entry = to;
  at->row++;
  return err;
}

static const dataset_kind sparse_rows_kind = {"SparseTensorSlice",      sizeof(sparse_rows),
                                              sizeof(sparse_rows_at),   .destroy = sparse_rows_destroy,
                                              .next = sparse_rows_next, .count = sparse_rows_count};

/* Checks that the entries are inside the shape and that their first indices do not decrease. */
static weft_err check_order(const kernel *k) {
  const int64_t depth = k->in[INDICES]->shape.dim[1], n = k->in[INDICES]->shape.dim[0];
  const int64_t *at = TENSOR_DATA(k->in[INDICES], int64_t);
  if (depth < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a sparse tensor of rank 0 has no rows");
  WEFT_TRY(weft__sparse_inside(k, k->in[INDICES], k->in[DIMS]));
  for (int64_t i = 1; i < n; i++)
    if (at[i * depth] < at[(i - 1) * depth])
      return weft__kernel_fail(k, WEFT_UNIMPLEMENTED,
                               "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
                               "input is not currently supported.");
  return WEFT_OK;
}

static weft_err sparse_rows_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__sparse_check(k, k->in[INDICES], k->in[VALUES], k->in[DIMS]));
  WEFT_TRY(check_order(k));
  const weft_dtype types[] = {WEFT_INT64, k->in[VALUES]->dtype, WEFT_INT64};
  WEFT_TRY(weft__dataset_create(&d, &sparse_rows_kind, 0, NULL, PARTS, types));
  weft_err err = WEFT_OK;
  for (int i = 0; i < PARTS && !err; i++) err = weft__tensor_keep(&((sparse_rows *)d)->t[i], k->in[i]);
  return weft__dataset_out(k, d, err);
}

/* ---- dense elements combined into sparse batches ---- */

typedef struct sparse_batch {
  dataset base;
  int64_t size;
  shape row; /* -1: the size of the longest element */
} sparse_batch;

static weft_err check_element(const sparse_batch *b, const weft_tensor *t) {
  if (t->shape.rank != b->row.rank)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Input element had shape (%s) that is incompatible with the row shape (%s).",
                      weft__shape_text(&t->shape), weft__shape_text(&b->row));
  for (int i = 0; i < b->row.rank; i++)
    if (b->row.dim[i] >= 0 && t->shape.dim[i] > b->row.dim[i])
      return weft__fail(WEFT_DATA_LOSS, "Input element had shape (%s) that is larger than the row shape (%s).",
                        weft__shape_text(&t->shape), weft__shape_text(&b->row));
  return WEFT_OK;
}

/* Writes the indices of the elements of t, which is row r of the batch. */
static void put_indices(int64_t *to, const weft_tensor *t, int64_t r) {
  const int rank = t->shape.rank;
  for (int64_t i = 0; i < weft__tensor_count(t); i++, to += rank + 1) {
    int64_t rest = i;
    to[0] = r;
    for (int d = rank - 1; d >= 0; d--) {
      to[d + 1] = rest % t->shape.dim[d];
      rest /= t->shape.dim[d];
    }
  }
}

/* Builds the three tensors of the sparse batch of n elements. */
static weft_err join_elements(const sparse_batch *b, const weft_tensor *element, int64_t n, weft_tensor *part) {
  int64_t total = 0, at = 0;
  const int rank = b->row.rank;
  for (int64_t i = 0; i < n; i++) total += weft__tensor_count(&element[i]);
  WEFT_TRY(weft__tensor_init(&part[INDICES], WEFT_INT64, &SHAPE2(total, rank + 1)));
  WEFT_TRY(weft__tensor_init(&part[VALUES], element[0].dtype, &SHAPE1(total)));
  WEFT_TRY(weft__tensor_init(&part[DIMS], WEFT_INT64, &SHAPE1(rank + 1)));
  int64_t *dims = TENSOR_DATA(&part[DIMS], int64_t);
  dims[0] = n;
  for (int d = 0; d < rank; d++) dims[d + 1] = b->row.dim[d] < 0 ? 0 : b->row.dim[d];
  for (int64_t i = 0; i < n; i++) {
    const weft_tensor *t = &element[i];
    put_indices(TENSOR_DATA(&part[INDICES], int64_t) + at * (rank + 1), t, i);
    WEFT_TRY(
        weft__elements_copy(t->dtype, weft__element(t->dtype, part[VALUES].data, at), t->data, weft__tensor_count(t)));
    at += weft__tensor_count(t);
    for (int d = 0; d < rank; d++)
      if (t->shape.dim[d] > dims[d + 1]) dims[d + 1] = t->shape.dim[d];
  }
  return WEFT_OK;
}

static weft_err put_batch(const sparse_batch *b, const weft_tensor *element, int64_t n, weft_tensor *out) {
  WEFT_TRY(weft__tensor_init(out, WEFT_VARIANT, &SHAPE1(PARTS)));
  weft_tensor *part[PARTS], made[PARTS] = {{0}};
  for (int i = 0; i < PARTS; i++) {
    held_tensors *v = NULL;
    WEFT_TRY(weft__held_tensors_create(&v, HELD_TENSOR, 1));
    weft__held_tensors_put(out, i, v);
    part[i] = &v->t[0];
  }
  const weft_err err = join_elements(b, element, n, made);
  for (int i = 0; i < PARTS; i++) *part[i] = made[i]; /* moved */
  return err;
}

static weft_err sparse_batch_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  walk *w = (walk *)it;
  const sparse_batch *b = (sparse_batch *)it->set;
  weft_tensor *element = NULL;
  int64_t n = 0, room = 0;
  bool over = false;
  weft_err err = WEFT_OK;
  while (n < b->size && !err) {
    if ((err = WEFT_ARRAY_RESERVE(element, room, n + 1))) break;
    memset(&element[n], 0, sizeof *element);
    err = weft__iterator_next(w->from, st, &element[n], &over);
    if (err || over) break;
    err = check_element(b, &element[n++]);
  }
  *end = !err && n == 0;
  if (!err && n) err = put_batch(b, element, n, out);
  for (int64_t i = 0; i < n; i++) weft__tensor_clear(&element[i]);
  weft__free(element);
  if (err) weft__tensor_clear(out);
  return err;
}

static int64_t sparse_batch_count(const dataset *d) {
  const int64_t n = weft__dataset_count_of_input(d), size = ((const sparse_batch *)d)->size;
  return n < 0 ? n : n / size + (n % size != 0);
}

static const dataset_kind sparse_batch_kind = {"DenseToSparseBatch",
                                               sizeof(sparse_batch),
                                               sizeof(walk),
                                               .begin = weft__dataset_walk_begin,
                                               .next = sparse_batch_next,
                                               .count = sparse_batch_count,
                                               .finish = weft__dataset_walk_finish};

static weft_err read_row_shape(const kernel *k, sparse_batch *b) {
  const weft_tensor *t = k->in[2];
  if (t->shape.rank != 1) return weft__fail(WEFT_INVALID_ARGUMENT, "row_shape must be a vector");
  if (t->shape.dim[0] >= WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "row_shape has %lld dimensions, more than %d", (long long)t->shape.dim[0],
                      WEFT_MAX_RANK - 1);
  b->row.rank = weft__int_sat(t->shape.dim[0]);
  for (int i = 0; i < b->row.rank; i++) {
    b->row.dim[i] = TENSOR_DATA(t, int64_t)[i];
    if (b->row.dim[i] < -1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Dimension %lld must be >= -1", (long long)b->row.dim[i]);
  }
  if (b->base.input[0]->n_part != 1)
    return weft__fail(
        WEFT_INVALID_ARGUMENT,
        "DenseToSparseBatchDataset only supports inputs with a single component, but the elements have %d",
        b->base.input[0]->n_part);
  return WEFT_OK;
}

static weft_err sparse_batch_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t size;
  WEFT_TRY(weft__dataset_int(k, 1, "batch_size", &size));
  if (size <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Batch size must be greater than zero.");
  WEFT_TRY(weft__dataset_of(k, &sparse_batch_kind, 1, &d));
  ((sparse_batch *)d)->size = size;
  return weft__dataset_out(k, d, read_row_shape(k, (sparse_batch *)d));
}

#define SPARSE_BATCH(NAME)                                                                                             \
  {                                                                                                                    \
    NAME "(input_dataset:variant, batch_size:int64, row_shape:int64) -> (handle:variant) | " OUTPUTS,                  \
        "Elements of different sizes in sparse batches.", DATASET_FLAGS, .cpu = sparse_batch_cpu                       \
  }

OPS(dataset_sparse) = {
    {"SparseTensorSliceDataset(indices:int64, values:Tvalues, dense_shape:int64) -> (handle:variant) | Tvalues:type ; "
     "stateful",
     "The rows of a sparse tensor.", DATASET_FLAGS, .cpu = sparse_rows_cpu},
    SPARSE_BATCH("DenseToSparseBatchDataset"),
    SPARSE_BATCH("ExperimentalDenseToSparseBatchDataset"),
    {.scenario = "tests/python/test_composite_elements.py tests/python/test_data_ops.py"},
};
