/* sparse_map.c - ops that store sparse tensors under handles (state/sparse_map.h), so that a queue can carry the
 * handles. */
#include "base/alloc.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "state/sparse_map.h"
#include <string.h>

static weft_err make_map(resource **out, void *arg) {
  (void)arg;
  return weft__sparse_map_create((sparse_map **)out);
}

static const resource_kind map_resource = {SPARSE_MAP_TYPE, false, make_map};

static weft_err map_of(kernel *k, sparse_map **out) {
  return weft__kernel_in(k, weft__resource_of_node(k, &map_resource, (resource **)out, NULL));
}

/* ---- adding ---- */

static weft_err check_input(kernel *k, sparse_map **kept) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  WEFT_TRY(weft__sparse_inside(k, k->in[0], k->in[2]));
  return map_of(k, kept);
}

static weft_err sparse_map_add_cpu(kernel *k) {
  sparse_map *kept = NULL;
  sparse_map_entry s = {0};
  WEFT_TRY(check_input(k, &kept));
  weft_tensor *number = weft__out(k, 0, &SHAPE_SCALAR);
  if (!number) return WEFT_OOM;
  weft_err err = weft__tensor_keep(&s.indices, k->in[0]);
  if (!err) err = weft__tensor_keep(&s.values, k->in[1]);
  if (!err) err = weft__tensor_keep(&s.dims, k->in[2]);
  if (!err) err = weft__sparse_map_add(kept, &s, TENSOR_DATA(number, int64_t));
  weft__sparse_map_entry_clear(&s);
  return err;
}

/* Sorts entry numbers by row into `order`. begin[r] is where the entries of row r begin. */
static void order_rows(const weft_tensor *indices, int64_t rows, int64_t *begin, int64_t *order) {
  const int64_t depth = indices->shape.dim[1], n = indices->shape.dim[0], *at = TENSOR_DATA(indices, int64_t);
  for (int64_t i = 0; i < n; i++) begin[at[i * depth] + 1]++;
  for (int64_t r = 0; r < rows; r++) begin[r + 1] += begin[r];
  for (int64_t i = 0; i < n; i++) order[begin[at[i * depth]]++] = i;
  for (int64_t r = rows; r > 0; r--) begin[r] = begin[r - 1]; /* each begin had advanced to that of the next row */
  begin[0] = 0;
}

/* Copies entries `which` of the input without their first index. */
static weft_err cut_row(kernel *k, const int64_t *which, int64_t n, sparse_map_entry *s) {
  const weft_tensor *values = k->in[1];
  const int64_t depth = k->in[0]->shape.dim[1], *at = TENSOR_DATA(k->in[0], int64_t);
  WEFT_TRY(weft__tensor_init(&s->indices, WEFT_INT64, &SHAPE2(n, depth - 1)));
  WEFT_TRY(weft__tensor_init(&s->values, values->dtype, &SHAPE1(n)));
  WEFT_TRY(weft__tensor_init(&s->dims, WEFT_INT64, &SHAPE1(depth - 1)));
  memcpy(s->dims.data, TENSOR_DATA(k->in[2], int64_t) + 1, weft__tensor_bytes(&s->dims));
  for (int64_t i = 0; i < n; i++) {
    memcpy(TENSOR_DATA(&s->indices, int64_t) + i * (depth - 1), at + which[i] * depth + 1,
           (size_t)(depth - 1) * sizeof *at);
    WEFT_TRY(weft__elements_copy(values->dtype, weft__element(values->dtype, s->values.data, i),
                                 weft__element_const(values->dtype, values->data, which[i]), 1));
  }
  return WEFT_OK;
}

static weft_err add_rows(kernel *k, sparse_map *kept, int64_t rows, int64_t *numbers) {
  int64_t *begin = weft__alloc_zero((size_t)rows + 1, sizeof *begin);
  int64_t *order = weft__alloc((size_t)(k->in[0]->shape.dim[0] + 1) * sizeof *order);
  weft_err err = begin && order ? WEFT_OK : WEFT_OOM;
  if (!err) order_rows(k->in[0], rows, begin, order);
  for (int64_t i = 0; i < rows && !err; i++) {
    sparse_map_entry s = {0};
    err = cut_row(k, order + begin[i], begin[i + 1] - begin[i], &s);
    if (!err) err = weft__sparse_map_add(kept, &s, &numbers[i]);
    weft__sparse_map_entry_clear(&s);
  }
  weft__free(begin), weft__free(order);
  return err;
}

static weft_err add_many_cpu(kernel *k) {
  sparse_map *kept = NULL;
  WEFT_TRY(check_input(k, &kept));
  if (k->in[0]->shape.dim[1] < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Rank of input SparseTensor should be > 1, but saw rank: %lld",
                             (long long)k->in[0]->shape.dim[1]);
  const int64_t rows = TENSOR_DATA(k->in[2], int64_t)[0];
  if (rows < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the input has %lld rows", (long long)rows);
  weft_tensor *numbers = weft__out(k, 0, &SHAPE1(rows));
  return numbers ? add_rows(k, kept, rows, numbers->data) : weft__out_refused(&SHAPE1(rows));
}

/* ---- taking: n stored tensors become the rows of one ---- */

static weft_err sparse_map_fits(kernel *k, const sparse_map_entry *s, int64_t i, int64_t *depth, int64_t *dims) {
  const weft_dtype wanted = weft__node_type(k->node, "dtype");
  const int64_t own = s->dims.shape.dim[0];
  if (s->values.dtype != wanted)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Requested SparseTensor of type %s but SparseTensor[%lld].values.dtype() == %s",
                             weft__dtype_short(wanted), (long long)i, weft__dtype_short(s->values.dtype));
  if ((i && own != *depth) || own >= WEFT_MAX_RANK)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "Inconsistent rank across SparseTensors: rank prior to SparseTensor[%lld] was: %lld but rank "
        "of SparseTensor[%lld] is: %lld",
        (long long)i, (long long)*depth + 1, (long long)i, (long long)own + 1);
  for (int64_t d = 0; d < own; d++) {
    const int64_t size = TENSOR_DATA(&s->dims, int64_t)[d];
    dims[d] = i && dims[d] > size ? dims[d] : size;
  }
  *depth = own;
  return WEFT_OK;
}

static weft_err sparse_map_stack(kernel *k, const sparse_map_entry *all, int64_t n) {
  int64_t depth = 0, dims[WEFT_MAX_RANK], total = 0, at = 0;
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(sparse_map_fits(k, &all[i], i, &depth, dims));
    total += all[i].values.shape.dim[0];
  }
  weft_tensor *places = weft__out(k, 0, &SHAPE2(total, depth + 1)), *values = weft__out(k, 1, &SHAPE1(total));
  weft_tensor *whole = weft__out(k, 2, &SHAPE1(depth + 1));
  if (!places || !values || !whole) return WEFT_OOM;
  TENSOR_DATA(whole, int64_t)[0] = n;
  memcpy(TENSOR_DATA(whole, int64_t) + 1, dims, (size_t)depth * sizeof *dims);
  for (int64_t i = 0; i < n; i++) {
    const int64_t own = all[i].values.shape.dim[0];
    for (int64_t j = 0; j < own; j++) {
      int64_t *row = TENSOR_DATA(places, int64_t) + (at + j) * (depth + 1);
      row[0] = i;
      memcpy(row + 1, TENSOR_DATA(&all[i].indices, int64_t) + j * depth, (size_t)depth * sizeof *row);
    }
    WEFT_TRY(
        weft__elements_copy(values->dtype, weft__element(values->dtype, values->data, at), all[i].values.data, own));
    at += own;
  }
  return WEFT_OK;
}

static weft_err sparse_map_take_cpu(kernel *k) {
  sparse_map *kept = NULL;
  WEFT_TRY(weft__kernel_vector(k, 0, "sparse_handles"));
  WEFT_TRY(map_of(k, &kept));
  const int64_t n = k->in[0]->shape.dim[0];
  if (!n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  sparse_map_entry *all = weft__alloc_zero((size_t)n, sizeof *all);
  if (!all) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) {
    const int64_t number = TENSOR_DATA(k->in[0], int64_t)[i];
    if (!weft__sparse_map_take(kept, number, &all[i]))
      err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Unable to find SparseTensor: %lld in map: %s",
                              (long long)number, weft__node_str(k->node, "shared_name").data);
  }
  if (!err) err = sparse_map_stack(k, all, n);
  for (int64_t i = 0; i < n; i++) weft__sparse_map_entry_clear(&all[i]);
  weft__free(all);
  return err;
}

/* ---- shapes ---- */

static weft_err add_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  s->out[0] = strstr(s->node->op_name, "Many") ? SHAPE1(-1) : SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err take_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  s->out[0] = SHAPE2(-1, -1);
  s->out[1] = s->out[2] = SHAPE1(-1);
  return WEFT_OK;
}

#define STATE " container:string='' shared_name:string='' ; stateful"
#define KEEPS .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare

OPS(sparse_map) = {
    {"AddSparseToTensorsMap(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (sparse_handle:int64) | "
     "T:type" STATE,
     "Keeps a sparse tensor under a number.", .infer = add_infer, .cpu = sparse_map_add_cpu, KEEPS,
     .narrow = NARROW_ALL},
    {"AddManySparseToTensorsMap(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (sparse_handles:int64) | "
     "T:type" STATE,
     "Keeps each row of a sparse tensor under a number.", .infer = add_infer, .cpu = add_many_cpu, KEEPS},
    {"TakeManySparseFromTensorsMap(sparse_handles:int64) -> (sparse_indices:int64, sparse_values:dtype, "
     "sparse_shape:int64) | "
     "dtype:type" STATE,
     "The sparse tensors kept under numbers, as rows of one; they are kept no longer.", .infer = take_infer,
     .cpu = sparse_map_take_cpu, KEEPS},
    {.scenario = "tests/parity/test_sparse_maps.py"},
};
