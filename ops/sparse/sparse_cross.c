/* sparse_cross.c - all combinations of features, one from each column: SparseCross, SparseCrossV2, RaggedCross.
 *
 * A column has some features for each example: the entries of a row of a sparse or ragged tensor, or a row of a
 * dense one.  The result of an example is the product of its columns, with the last column varying fastest.  A
 * combination is the text of its features joined, or the hash of their hashes. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "kernels/array/index.h"
#include "codec/hash.h"
#include "kernels/ragged/ragged.h"
#include "kernels/sparse/sparse.h"
#include "kernels/work/long_work.h"
#include <string.h>

typedef struct column {
  const weft_tensor *values;
  int64_t *first; /* sparse and ragged: splits [batch + 1], owned, because a peer may write to the inputs */
  int64_t width;  /* dense: features per example */
} column;

typedef struct crossing {
  kernel *k;
  int n;
  column *columns;
  int64_t batch; /* number of examples; -1: no column yet */
  const char *separator;
  size_t separator_size;
  bool hashed, strong, keyed; /* strong: features are hashed with SipHash and salt; keyed: the hash begins with `key` */
  uint64_t key, salt[2];
  int64_t buckets;
} crossing;

static int64_t column_from(const column *c, int64_t row) { return c->first ? c->first[row] : row * c->width; }

static int64_t column_count(const column *c, int64_t row) { return column_from(c, row + 1) - column_from(c, row); }

/* ---- columns from inputs ---- */

static weft_err check_batch(crossing *x, int64_t rows, int at) {
  if (x->batch < 0) x->batch = rows;
  if (rows == x->batch) return WEFT_OK;
  return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT, "Expected batch size %lld got %lld at position %d",
                           (long long)x->batch, (long long)rows, at);
}

static weft_err add_sparse(crossing *x, const weft_tensor *indices, const weft_tensor *values,
                           const weft_tensor *dims) {
  kernel *k = x->k;
  WEFT_TRY(weft__sparse_check(k, indices, values, dims));
  if (indices->shape.dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected D2 of index to be 2 got %lld at position %d",
                             (long long)indices->shape.dim[1], x->n);
  const int64_t n = indices->shape.dim[0], rows = TENSOR_DATA(dims, int64_t)[0];
  if (rows < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a sparse input has %lld rows", (long long)rows);
  WEFT_TRY(check_batch(x, rows, x->n));
  column *c = &x->columns[x->n];
  *c = (column){.values = values, .first = weft__alloc_zero((size_t)(rows > 0 ? rows : 0) + 2, sizeof(int64_t))};
  if (!c->first) return WEFT_OOM;
  x->n++;
  int64_t before = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t row = weft__index_at(indices, 2 * i);
    if (row < before || row >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "indices must be sorted by rows below %lld: row %lld of the indices is in row %lld",
                               (long long)rows, (long long)i, (long long)row);
    c->first[row + 1]++;
    before = row;
  }
  for (int64_t r = 0; r < rows; r++) c->first[r + 1] += c->first[r];
  return WEFT_OK;
}

static weft_err add_dense(crossing *x, const weft_tensor *values) {
  if (values->shape.rank != 2)
    return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT,
                             "Dense inputs should be a matrix but received shape %s at position %d",
                             weft__shape_text(&values->shape), x->n);
  WEFT_TRY(check_batch(x, values->shape.dim[0], x->n));
  x->columns[x->n++] = (column){.values = values, .width = values->shape.dim[1]};
  return WEFT_OK;
}

static weft_err add_ragged(crossing *x, const weft_tensor *values, const weft_tensor *splits) {
  if (values->shape.rank != 1)
    return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT,
                             "the values of ragged inputs must be vectors, not of shape %s",
                             weft__shape_text(&values->shape));
  WEFT_TRY(weft__ragged_check_splits(x->k, splits, values->shape.dim[0]));
  const int64_t rows = splits->shape.dim[0] - 1, n = values->shape.dim[0];
  WEFT_TRY(check_batch(x, rows, x->n));
  column *c = &x->columns[x->n];
  *c = (column){.values = values, .first = weft__alloc_zero((size_t)rows + 1, sizeof(int64_t))};
  if (!c->first) return WEFT_OOM;
  x->n++;
  for (int64_t r = 1; r <= rows; r++) { /* the copy is checked again, because it is what the kernel uses */
    c->first[r] = weft__index_at(splits, r);
    if (c->first[r] < c->first[r - 1] || c->first[r] > n)
      return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT, "row splits changed while they were read");
  }
  return WEFT_OK;
}

/* ---- combinations ---- */

static weft_err add_text(text *out, const column *c, int64_t i) {
  if (c->values->dtype == WEFT_STRING) {
    const str *s = TENSOR_DATA(c->values, str) + i;
    weft__text_add(out, s->size ? s->data : "", s->size);
  } else {
    weft__text_printf(out, "%lld", (long long)weft__tensor_int(c->values, i));
  }
  return WEFT_OK;
}

/* Returns the hash of a feature; a number is its own.  SparseCrossHashed hashes the low four bytes of the numbers in
 * sparse columns, as TensorFlow does. */
static uint64_t feature_hash(const crossing *x, const column *c, int64_t i) {
  const bool is_text = c->values->dtype == WEFT_STRING;
  int64_t number = is_text ? 0 : weft__tensor_int(c->values, i);
  if (!is_text && (x->keyed || !c->first)) return (uint64_t)number;
  const str low = {(char *)&number, 4}, *s = is_text ? TENSOR_DATA(c->values, str) + i : &low;
  if (x->strong) return weft__hash_sip(s->size ? s->data : "", s->size, x->salt[0], x->salt[1]);
  return weft__hash_farm(s->size ? s->data : "", s->size);
}

/* Writes combination `number` of an example to element `to` of the output. */
static weft_err put_one(const crossing *x, int64_t row, int64_t number, weft_tensor *out, int64_t to) {
  int64_t stride = 1, which[256];
  for (int i = x->n - 1; i >= 0; i--) {
    const int64_t n = column_count(&x->columns[i], row);
    which[i] = column_from(&x->columns[i], row) + number / stride % n;
    stride *= n;
  }
  if (x->hashed) {
    uint64_t h = x->key;
    for (int i = 0; i < x->n; i++) {
      const uint64_t feature = feature_hash(x, &x->columns[i], which[i]);
      h = i || x->keyed ? weft__hash_join(h, feature) : feature;
    }
    TENSOR_DATA(out, int64_t)[to] = (int64_t)(h % (uint64_t)(x->buckets > 0 ? x->buckets : INT64_MAX));
    return WEFT_OK;
  }
  text joined = {0};
  for (int i = 0; i < x->n; i++) {
    if (i) weft__text_add(&joined, x->separator, x->separator_size);
    WEFT_TRY(add_text(&joined, &x->columns[i], which[i]));
  }
  const weft_err err = joined.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(out, str) + to, joined.data, joined.size);
  weft__text_finish(&joined);
  return err;
}

/* Counts the combinations of each example: computes splits [batch + 1] and the largest count. */
static weft_err count_all(const crossing *x, int64_t *splits, int64_t *most) {
  *most = 0;
  splits[0] = 0;
  for (int64_t r = 0; r < x->batch; r++) {
    int64_t n = x->n > 0;
    for (int i = 0; i < x->n; i++)
      if (__builtin_mul_overflow(n, column_count(&x->columns[i], r), &n) || n > INT64_MAX / 64)
        return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT, "example %lld has more combinations than can be counted",
                                 (long long)r);
    if (__builtin_add_overflow(splits[r], n, &splits[r + 1]) || splits[r + 1] > INT64_MAX / 64)
      return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT, "there are more combinations than can be counted");
    if (n > *most) *most = n;
  }
  return WEFT_OK;
}

static weft_err put_sparse(crossing *x, const int64_t *splits, int64_t most) {
  const int64_t total = splits[x->batch];
  weft_tensor *indices = weft__out(x->k, 0, &SHAPE2(total, 2)), *values = weft__out(x->k, 1, &SHAPE1(total)),
              *dims = weft__out(x->k, 2, &SHAPE1(2));
  if (!indices || !values || !dims) return weft__out_refused(&SHAPE2(total, 2));
  TENSOR_DATA(dims, int64_t)[0] = x->batch;
  TENSOR_DATA(dims, int64_t)[1] = most;
  for (int64_t r = 0; r < x->batch; r++)
    for (int64_t i = splits[r]; i < splits[r + 1]; i++) {
      WEFT_TRY(weft__long_turn(x->k, i));
      TENSOR_DATA(indices, int64_t)[2 * i] = r;
      TENSOR_DATA(indices, int64_t)[2 * i + 1] = i - splits[r];
      WEFT_TRY(put_one(x, r, i - splits[r], values, i));
    }
  return WEFT_OK;
}

static weft_err put_ragged(crossing *x, const int64_t *splits, int64_t most) {
  (void)most;
  const int64_t total = splits[x->batch];
  weft_tensor *values = weft__out(x->k, 0, &SHAPE1(total)), *rows = weft__out(x->k, 1, &SHAPE1(x->batch + 1));
  if (!values || !rows) return weft__out_refused(&SHAPE1(total));
  if (rows->dtype == WEFT_INT32 && total > INT32_MAX)
    return weft__kernel_fail(x->k, WEFT_INVALID_ARGUMENT, "%lld combinations do not fit int32 row splits",
                             (long long)total);
  for (int64_t r = 0; r < x->batch; r++) {
    weft__index_put(rows, r + 1, splits[r + 1]);
    for (int64_t i = splits[r]; i < splits[r + 1]; i++) {
      WEFT_TRY(weft__long_turn(x->k, i));
      WEFT_TRY(put_one(x, r, i - splits[r], values, i));
    }
  }
  weft__index_put(rows, 0, 0);
  return WEFT_OK;
}

/* Adds the columns with `collect`, and writes the combinations. */
static weft_err sparse_cross_run(crossing *x, weft_err (*collect)(crossing *),
                                 weft_err (*put)(crossing *, const int64_t *, int64_t)) {
  kernel *k = x->k;
  int64_t *splits = NULL, most = 0;
  x->columns = weft__alloc_zero((size_t)k->n_in + 1, sizeof *x->columns);
  x->batch = -1;
  if (!x->columns) return WEFT_OOM;
  weft_err err = collect(x);
  if (!err && x->n > 256)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%d columns; at most 256 are supported", x->n);
  if (x->batch < 0) x->batch = 0;
  if (!err && !(splits = weft__alloc((size_t)(x->batch + 1) * sizeof *splits))) err = WEFT_OOM;
  if (!err) err = count_all(x, splits, &most);
  if (!err) err = put(x, splits, most);
  for (int i = 0; i < x->n; i++) weft__free(x->columns[i].first);
  weft__free(x->columns);
  weft__free(splits);
  return err;
}

/* ---- the ops ---- */

static weft_err collect_sparse(crossing *x) {
  kernel *k = x->k;
  const int n = weft__int_sat(weft__node_int(k->node, "N", 0));
  const attr *dense = weft__node_attr(k->node, "dense_types"), *sparse = weft__node_attr(k->node, "sparse_types");
  if ((sparse ? sparse->n : 0) != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "there are %d values for %d indices", sparse ? sparse->n : 0, n);
  for (int i = 0; i < n; i++) WEFT_TRY(add_sparse(x, k->in[i], k->in[n + i], k->in[2 * n + i]));
  for (int i = 0; i < (dense ? dense->n : 0); i++) WEFT_TRY(add_dense(x, k->in[3 * n + i]));
  return WEFT_OK;
}

static weft_err cross_cpu(kernel *k) {
  crossing x = {.k = k, .separator = "_X_", .separator_size = 3};
  x.hashed = weft__node_bool(k->node, "hashed_output", false);
  x.keyed = true;
  x.key = (uint64_t)weft__node_int(k->node, "hash_key", 0);
  x.buckets = weft__node_int(k->node, "num_buckets", 0);
  const attr *dense = weft__node_attr(k->node, "dense_types");
  const bool text_only = weft__node_type(k->node, "internal_type") == WEFT_STRING;
  for (int i = 0; text_only && dense && i < dense->n; i++)
    if (dense->types[i] != WEFT_STRING)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dense inputs should be of internal type %d but received %d",
                               WEFT_STRING, dense->types[i]);
  if (x.hashed != (weft__node_type(k->node, "out_type") == WEFT_INT64))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "hashed_output needs out_type int64, text needs out_type string");
  return sparse_cross_run(&x, collect_sparse, put_sparse);
}

static weft_err cross_v2_cpu(kernel *k) {
  const weft_tensor *sep = k->in[k->n_in - 1];
  WEFT_TRY(weft__kernel_scalar(k, k->n_in - 1, "sep"));
  const str *s = TENSOR_DATA(sep, str);
  crossing x = {.k = k, .separator = s->size ? s->data : "", .separator_size = s->size};
  return sparse_cross_run(&x, collect_sparse, put_sparse);
}

static weft_err cross_hashed_cpu(kernel *k) {
  const int at = k->n_in - 3; /* num_buckets, strong_hash, salt */
  WEFT_TRY(weft__kernel_scalar(k, at, "num_buckets"));
  WEFT_TRY(weft__kernel_scalar(k, at + 1, "strong_hash"));
  if (weft__tensor_count(k->in[at + 2]) != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "salt must have two elements, but has shape %s",
                             weft__shape_text(&k->in[at + 2]->shape));
  crossing x = {.k = k, .hashed = true, .buckets = TENSOR_DATA(k->in[at], int64_t)[0]};
  x.strong = TENSOR_DATA(k->in[at + 1], bool)[0];
  for (int i = 0; i < 2; i++) x.salt[i] = (uint64_t)TENSOR_DATA(k->in[at + 2], int64_t)[i];
  return sparse_cross_run(&x, collect_sparse, put_sparse);
}

typedef struct ragged_inputs { /* the first input of each kind */
  int ragged, splits, indices, values, dims, dense;
} ragged_inputs;

static weft_err collect_ragged(crossing *x) {
  kernel *k = x->k;
  const attr *ragged = weft__node_attr(k->node, "ragged_values_types"),
             *dense = weft__node_attr(k->node, "dense_types"),
             *splits = weft__node_attr(k->node, "ragged_splits_types");
  const attr *sparse = weft__node_attr(k->node, "sparse_values_types");
  const int n_ragged = ragged ? ragged->n : 0, n = weft__int_sat(weft__node_int(k->node, "Nsparse", 0));
  if ((splits ? splits->n : 0) != n_ragged || (sparse ? sparse->n : 0) != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the numbers of values and of splits or indices differ");
  const attr_str order = weft__node_str(k->node, "input_order");
  ragged_inputs at = {0, n_ragged, 2 * n_ragged, 2 * n_ragged + n, 2 * n_ragged + 2 * n, 2 * n_ragged + 3 * n};
  const int end_ragged = n_ragged, end_sparse = at.values, end_dense = at.dense + (dense ? dense->n : 0);
  for (size_t i = 0; i < order.size; i++) {
    if (order.data[i] == 'R' && at.ragged < end_ragged)
      WEFT_TRY(add_ragged(x, k->in[at.ragged++], k->in[at.splits++]));
    else if (order.data[i] == 'S' && at.indices < end_sparse)
      WEFT_TRY(add_sparse(x, k->in[at.indices++], k->in[at.values++], k->in[at.dims++]));
    else if (order.data[i] == 'D' && at.dense < end_dense)
      WEFT_TRY(add_dense(x, k->in[at.dense++]));
    else
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_order '%s' does not fit the inputs", order.data);
  }
  if (at.ragged == end_ragged && at.indices == end_sparse && at.dense == end_dense) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input_order '%s' does not name all inputs", order.data);
}

static weft_err ragged_cross_cpu(kernel *k) {
  crossing x = {.k = k, .separator = "_X_", .separator_size = 3};
  x.hashed = weft__node_bool(k->node, "hashed_output", false);
  x.keyed = true;
  x.key = (uint64_t)weft__node_int(k->node, "hash_key", 0);
  x.buckets = weft__node_int(k->node, "num_buckets", 0);
  if (x.hashed != (weft__node_type(k->node, "out_values_type") == WEFT_INT64))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "hashed_output needs out_values_type int64, text needs out_values_type string");
  return sparse_cross_run(&x, collect_ragged, put_ragged);
}

static weft_err ragged_cross_infer(infer *s) {
  s->out[0] = s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

/* ---- cases ---- */

#define A "i64[3,2] 0 0 0 1 1 0"
#define ABC "str[3] \"a\" \"b\" \"c\""
#define XYZ "str[2,2] \"x\" \"y\" \"z\" \"w\""
#define TEXT "hashed_output=false num_buckets=0 hash_key=1 out_type=string internal_type=string"
#define HASH "hashed_output=true hash_key=956888297470 out_type=int64 internal_type=int64"

static const op_case cross_cases[] = {
    {A "; " ABC "; i64[2] 2 2; " XYZ, NULL, "N=1 sparse_types=[string] dense_types=[string] " TEXT, 0},
    {A "; " ABC "; i64[2] 2 2; " XYZ, NULL, "N=1 sparse_types=[string] dense_types=[string] num_buckets=0 " HASH, 0},
    {A "; i64[3] 1 -2 3; i64[2] 2 2; i64[2,1] 7 8", NULL,
     "N=1 sparse_types=[int64] dense_types=[int64] num_buckets=1000 " HASH, 0},
    {A "; i64[3] 1 2 3; i64[2] 2 2; " XYZ, NULL, "N=1 sparse_types=[int64] dense_types=[string] num_buckets=7 " HASH,
     0},
    {A "; " ABC "; i64[2] 2 2; i64[2,1] 7 8", "error INVALID_ARGUMENT",
     "N=1 sparse_types=[string] dense_types=[int64] " TEXT, 0},
    {0},
};

static const op_case cross_v2_cases[] = {
    {A "; " ABC "; i64[2] 2 2; " XYZ "; str[] \"-\"", NULL, "N=1 sparse_types=[string] dense_types=[string]", 0},
    {A "; i64[2,2] 0 0 1 0; " ABC "; i64[2] 5 6; i64[2] 2 2; i64[2] 2 1; str[] \"_X_\"", NULL,
     "N=2 sparse_types=[string,int64] dense_types=[]", 0},
    {A "; " ABC "; i64[2] 2 2; str[3,1] \"x\"; str[] \"-\"", "error INVALID_ARGUMENT",
     "N=1 sparse_types=[string] dense_types=[string]", 0},
    {0},
};

#define SALT "; i64[2] 1 2"
static const op_case cross_hashed_cases[] = {
    {A "; " ABC "; i64[2] 2 2; " XYZ "; i64[] 0; bool[] false" SALT, NULL,
     "N=1 sparse_types=[string] dense_types=[string]", 0},
    {A "; " ABC "; i64[2] 2 2; " XYZ "; i64[] 100; bool[] true" SALT, NULL,
     "N=1 sparse_types=[string] dense_types=[string]", 0},
    {A "; i64[3] 1 2 3; i64[2] 2 2; i64[2,1] 7 8; i64[] 0; bool[] false" SALT, NULL,
     "N=1 sparse_types=[int64] dense_types=[int64]", 0},
    {0},
};

static const op_case ragged_cross_cases[] = {
    {ABC "; i64[3] 0 2 3; " XYZ, NULL,
     "Nsparse=0 input_order='RD' hashed_output=false num_buckets=0 hash_key=1 ragged_values_types=[string] "
     "ragged_splits_types=[int64] sparse_values_types=[] dense_types=[string] out_values_type=string "
     "out_row_splits_type=int64",
     0},
    {"i64[3] 1 2 3; i32[3] 0 2 3; " A "; " ABC "; i64[2] 2 2; " XYZ, NULL,
     "Nsparse=1 input_order='SDR' hashed_output=true num_buckets=100 hash_key=956888297470 ragged_values_types=[int64] "
     "ragged_splits_types=[int32] sparse_values_types=[string] dense_types=[string] out_values_type=int64 "
     "out_row_splits_type=int32",
     0},
    {ABC "; i64[4] 0 2 3 3; " XYZ, "error INVALID_ARGUMENT",
     "Nsparse=0 input_order='RD' hashed_output=false num_buckets=0 hash_key=1 ragged_values_types=[string] "
     "ragged_splits_types=[int64] sparse_values_types=[] dense_types=[string] out_values_type=string "
     "out_row_splits_type=int64",
     0},
    {0},
};

#define COLUMNS "(indices:N*int64, values:@sparse_types, shapes:N*int64, dense_inputs:@dense_types"
#define KINDS "sparse_types:list(type){int64,string}>=0 dense_types:list(type){int64,string}>=0"

OPS(sparse_cross) = {
    {"SparseCross" COLUMNS ") -> (output_indices:int64, output_values:out_type, output_shape:int64) | N:int>=0 "
     "hashed_output:bool num_buckets:int>=0 hash_key:int " KINDS " out_type:type{int64,string} "
     "internal_type:type{int64,string}",
     "All combinations of features, one from each column.", .infer = weft__sparse_matrix_infer, .cpu = cross_cpu,
     .cases = cross_cases},
    {"SparseCrossV2" COLUMNS ", sep:string) -> (output_indices:int64, output_values:string, output_shape:int64) | "
     "N:int>=0 " KINDS,
     "All combinations of features, one from each column, as text.", .infer = weft__sparse_matrix_infer,
     .cpu = cross_v2_cpu, .cases = cross_v2_cases},
    {"SparseCrossHashed" COLUMNS ", num_buckets:int64, strong_hash:bool, salt:int64) -> (output_indices:int64, "
     "output_values:int64, output_shape:int64) | N:int>=0 " KINDS,
     "All combinations of features, one from each column, as hashes.", .infer = weft__sparse_matrix_infer,
     .cpu = cross_hashed_cpu, .cases = cross_hashed_cases},
    {"RaggedCross(ragged_values:@ragged_values_types, ragged_row_splits:@ragged_splits_types, "
     "sparse_indices:Nsparse*int64, sparse_values:@sparse_values_types, sparse_shape:Nsparse*int64, "
     "dense_inputs:@dense_types) -> (output_values:out_values_type, output_row_splits:out_row_splits_type) | "
     "Nsparse:int>=0 input_order:string hashed_output:bool num_buckets:int>=0 hash_key:int "
     "ragged_values_types:list(type){int64,string}>=0 ragged_splits_types:list(type){int32,int64}>=0 "
     "sparse_values_types:list(type){int64,string}>=0 dense_types:list(type){int64,string}>=0 "
     "out_values_type:type{int64,string} out_row_splits_type:type{int32,int64}",
     "All combinations of features of ragged, sparse and dense columns.", .infer = ragged_cross_infer,
     .cpu = ragged_cross_cpu, .cases = ragged_cross_cases},
    {0},
};
