/* set.c - sets in the rows of tensors: differences, intersections, unions and sizes.
 *
 * The last dimension holds the elements of a set; the other indices identify the set.  Each element becomes an item
 * with the number of its set.  Items are sorted by set and value, duplicates are dropped, and two such lists are
 * merged. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/array/index.h"
#include "kernels/sparse/sparse.h"
#include "kernels/work/long_sort.h"
#include "kernels/work/long_work.h"
#include <string.h>
#include <strings.h>

/* ---- items ---- */

typedef struct item {
  int64_t set;    /* the set's number, in row-major order */
  int64_t number; /* the value of an integer */
  const str *text;
  const void *value;
} item;

typedef struct items {
  int64_t n;
  item *at;
} items;

static int set_compare(const void *a, const void *b) {
  const item *x = a, *y = b;
  if (x->set != y->set) return x->set < y->set ? -1 : 1;
  if (!x->text) return x->number < y->number ? -1 : x->number > y->number;
  const size_t least = x->text->size < y->text->size ? x->text->size : y->text->size;
  const int order = least ? memcmp(x->text->data, y->text->data, least) : 0;
  return order ? order : x->text->size < y->text->size ? -1 : x->text->size > y->text->size;
}

static weft_err items_alloc(items *i, int64_t n) {
  i->n = n;
  i->at = weft__alloc((size_t)(n + 1) * sizeof *i->at);
  return i->at ? WEFT_OK : WEFT_OOM;
}

static void item_set(item *i, int64_t set, const weft_tensor *values, int64_t at) {
  const bool words = values->dtype == WEFT_STRING;
  *i = (item){set, words ? 0 : weft__tensor_int(values, at), words ? TENSOR_DATA(values, str) + at : NULL,
              weft__element_const(values->dtype, values->data, at)};
}

static weft_err items_order(const kernel *k, items *i) {
  WEFT_TRY(weft__long_sort(k, i->at, i->n, sizeof *i->at, set_compare));
  int64_t n = 0;
  for (int64_t j = 0; j < i->n; j++) {
    WEFT_TRY(weft__long_turn(k, j));
    if (!n || set_compare(&i->at[n - 1], &i->at[j]) != 0) i->at[n++] = i->at[j];
  }
  i->n = n;
  return WEFT_OK;
}

/* ---- operands: `sets` is the shape without the last dimension ---- */

static weft_err check_sets(kernel *k, const shape *sets) {
  for (int d = 0; d < sets->rank; d++)
    if (sets->dim[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "dimension %d of a set's shape is %lld", d,
                               (long long)sets->dim[d]);
  if (weft__shape_count(sets) >= 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "more sets than can be counted: %s", weft__shape_text(sets));
}

static weft_err set_read_dense(kernel *k, int in, shape *sets, items *out) {
  const weft_tensor *t = k->in[in];
  if (t->shape.rank < 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid rank %d.", t->shape.rank);
  *sets = t->shape;
  const int64_t n = weft__tensor_count(t), row = sets->dim[--sets->rank];
  WEFT_TRY(items_alloc(out, n));
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    item_set(&out->at[i], i / row, t, i);
  }
  return items_order(k, out);
}

static weft_err check_order(kernel *k, const weft_tensor *indices) {
  const int64_t depth = indices->shape.dim[1], *row = TENSOR_DATA(indices, int64_t);
  char where[128];
  for (int64_t i = 1; i < indices->shape.dim[0]; i++)
    if (weft__sparse_compare(row + (i - 1) * depth, row + i * depth, depth) > 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "indices[%lld] = %s is out of order. Many sparse ops require sorted indices.",
                               (long long)i, weft__index_tight_text(indices, i, depth, where, sizeof where));
  return WEFT_OK;
}

static weft_err read_sparse(kernel *k, int in, shape *sets, items *out) {
  const weft_tensor *indices = k->in[in], *values = k->in[in + 1], *dims = k->in[in + 2];
  WEFT_TRY(weft__sparse_check(k, indices, values, dims));
  const int64_t depth = indices->shape.dim[1], n = indices->shape.dim[0];
  if (depth < 2 || depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid rank %lld.", (long long)depth);
  sets->rank = weft__int_sat(depth) - 1;
  memcpy(sets->dim, dims->data, (size_t)sets->rank * sizeof *sets->dim);
  WEFT_TRY(check_sets(k, sets));
  WEFT_TRY(weft__sparse_inside(k, indices, dims));
  if (weft__node_bool(k->node, "validate_indices", true)) WEFT_TRY(check_order(k, indices));
  WEFT_TRY(items_alloc(out, n));
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    int64_t set = 0;
    for (int d = 0; d < sets->rank; d++) set = set * sets->dim[d] + TENSOR_DATA(indices, int64_t)[i * depth + d];
    item_set(&out->at[i], set, values, i);
  }
  return items_order(k, out);
}

/* ---- merging two lists ---- */

enum { ONLY_A = 1, ONLY_B = 2, BOTH = 4 };

static weft_err read_operation(kernel *k, int *takes) {
  static const struct {
    const char *name;
    int takes;
  } kinds[] = {{"a-b", ONLY_A}, {"b-a", ONLY_B}, {"intersection", BOTH}, {"union", ONLY_A | ONLY_B | BOTH}};
  const char *name = weft__node_str(k->node, "set_operation").data;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcasecmp(name, kinds[i].name)) {
      *takes = kinds[i].takes;
      return WEFT_OK;
    }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid set_operation %s.", name);
}

static weft_err set_walk(const kernel *k, const items *a, const items *b, int takes, items *out) {
  for (int64_t i = 0, j = 0, turn = 0; i < a->n || j < b->n; turn++) {
    WEFT_TRY(weft__long_turn(k, turn));
    const int order = i == a->n ? 1 : j == b->n ? -1 : set_compare(&a->at[i], &b->at[j]);
    const item *next = order <= 0 ? &a->at[i] : &b->at[j];
    if (takes & (order < 0 ? ONLY_A : order > 0 ? ONLY_B : BOTH)) out->at[out->n++] = *next;
    i += order <= 0;
    j += order >= 0;
  }
  return WEFT_OK;
}

/* Returns sorted items as a sparse tensor; the last index counts the items of a set. */
static weft_err set_return(kernel *k, const shape *sets, const items *all) {
  const item *got = all->at;
  const int64_t depth = sets->rank + 1, n = all->n;
  weft_tensor *places = weft__out(k, 0, &SHAPE2(n, depth)), *values = weft__out(k, 1, &SHAPE1(n));
  weft_tensor *dims = weft__out(k, 2, &SHAPE1(depth));
  if (!places || !values || !dims) return WEFT_OOM;
  int64_t at = 0, most = 0;
  for (int64_t i = 0; i < n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    at = i && got[i].set == got[i - 1].set ? at + 1 : 0;
    most = at + 1 > most ? at + 1 : most;
    int64_t *row = TENSOR_DATA(places, int64_t) + i * depth, set = got[i].set;
    row[depth - 1] = at;
    for (int d = sets->rank - 1; d >= 0; set /= sets->dim[d--]) row[d] = set % sets->dim[d];
    WEFT_TRY(weft__elements_copy(values->dtype, weft__element(values->dtype, values->data, i), got[i].value, 1));
  }
  memcpy(dims->data, sets->dim, (size_t)sets->rank * sizeof *sets->dim);
  TENSOR_DATA(dims, int64_t)[sets->rank] = most;
  return WEFT_OK;
}

typedef weft_err reader_fn(kernel *k, int in, shape *sets, items *out);

static weft_err set_operate(kernel *k, reader_fn *first, reader_fn *second, int second_in) {
  shape sets, other;
  items a = {0}, b = {0}, got = {0};
  int takes;
  WEFT_TRY(read_operation(k, &takes));
  weft_err err = first(k, 0, &sets, &a);
  if (!err) err = second(k, second_in, &other, &b);
  if (!err && !weft__shape_equal(&sets, &other))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Mismatched shapes %s vs %s", weft__shape_text(&sets),
                            weft__shape_text(&other));
  if (!err) err = items_alloc(&got, a.n + b.n);
  got.n = 0;
  if (!err) err = set_walk(k, &a, &b, takes, &got);
  if (!err) err = set_return(k, &sets, &got);
  weft__free(got.at), weft__free(a.at), weft__free(b.at);
  return err;
}

static weft_err dense_dense_cpu(kernel *k) { return set_operate(k, set_read_dense, set_read_dense, 1); }
static weft_err dense_sparse_cpu(kernel *k) { return set_operate(k, set_read_dense, read_sparse, 1); }
static weft_err sparse_sparse_cpu(kernel *k) { return set_operate(k, read_sparse, read_sparse, 3); }

static weft_err set_size_cpu(kernel *k) {
  shape sets;
  items a = {0};
  weft_err err = read_sparse(k, 0, &sets, &a);
  weft_tensor *out = err ? NULL : weft__out(k, 0, &sets);
  if (!err && !out) err = weft__out_refused(&sets);
  if (!err) {
    memset(out->data, 0, weft__tensor_bytes(out));
    for (int64_t i = 0; i < a.n; i++) TENSOR_DATA(out, int32_t)[a.at[i].set]++;
  }
  weft__free(a.at);
  return err;
}

/* ---- shapes ---- */

static weft_err give_shapes(infer *s, int64_t depth) {
  s->out[0] = SHAPE2(-1, depth);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(depth);
  return WEFT_OK;
}

static weft_err sparse_depth(infer *s, int in, int64_t *depth) {
  shape indices, dims;
  WEFT_TRY(weft__infer_rank(s, in, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, in + 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, in + 2, 1, &dims));
  *depth = dims.dim[0] >= 0 ? dims.dim[0] : indices.dim[1];
  return WEFT_OK;
}

static weft_err dense_dense_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  shape a = s->in[0], b = s->in[1], merged;
  if (a.rank > 0 && b.rank > 0) {
    a.rank--, b.rank--;
    if (weft__shape_merge(&merged, &a, &b) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  }
  const int rank = s->in[0].rank >= 0 ? s->in[0].rank : s->in[1].rank;
  return give_shapes(s, rank >= 0 ? rank : -1);
}

static weft_err dense_sparse_infer(infer *s) {
  int64_t depth;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 2));
  WEFT_TRY(sparse_depth(s, 1, &depth));
  if (s->in[0].rank >= 0 && depth >= 0 && depth != s->in[0].rank)
    return weft__infer_fail(s, "Shape must be rank %lld but is rank %d", (long long)depth, s->in[0].rank);
  return give_shapes(s, s->in[0].rank >= 0 ? s->in[0].rank : depth);
}

static weft_err sparse_sparse_infer(infer *s) {
  int64_t first, second;
  WEFT_TRY(sparse_depth(s, 0, &first));
  WEFT_TRY(sparse_depth(s, 3, &second));
  return give_shapes(s, first >= 0 ? first : second);
}

static const op_case dense_dense_cases[] = {
    {"i32[2,3] 1 2 2 5 4 4; i32[2,2] 2 3 4 5", "i64[1,2] 0 0; i32[1] 1; i64[2] 2 1", "set_operation='a-b'",
     CASE_NO_GRAD},
    {"i64[2,3] 1 2 2 5 4 4; i64[2,2] 2 3 4 5", NULL, "set_operation='b-a'", CASE_NO_GRAD},
    {"i32[2,3] 1 2 2 5 4 4; i32[2,2] 2 3 4 5", NULL, "set_operation='Intersection'", CASE_NO_GRAD},
    {"u8[2,3] 1 2 2 5 4 4; u8[2,2] 2 3 4 5", NULL, "set_operation='union'", CASE_NO_GRAD},
    {"str[1,3] \"b\" \"a\" \"A\"; str[1,2] \"c\" \"a\"", NULL, "set_operation='union'", CASE_NO_GRAD},
    {"i32[2,2,2] 1 2 3 4 5 6 7 8; i32[2,2,1] 1 3 5 7", NULL, "set_operation='a-b'", CASE_NO_GRAD},
    {"i32[2,1] 1 2; i32[2,1] 1 2", NULL, "set_operation='a-b'", CASE_NO_GRAD},
    {"i32[2,1] 1 2; i32[2,1] 1 2", "error INVALID_ARGUMENT", "set_operation='foo'", CASE_NO_GRAD},
    {"i32[2,1] 1 2; i32[3,1] 1 2", "error INVALID_ARGUMENT", "set_operation='union'", CASE_NO_GRAD},
    {"i32[2] 1 2; i32[3] 1 2", "error INVALID_ARGUMENT", "set_operation='union'", CASE_NO_GRAD},
    {0},
};
static const op_case dense_sparse_cases[] = {
    {"i32[2,3] 1 2 2 5 4 4; i64[3,2] 0 0 0 1 1 0; i32[3] 2 3 4; i64[2] 2 2", NULL, "set_operation='a-b'", CASE_NO_GRAD},
    {"i32[2,3] 1 2 2 5 4 4; i64[3,2] 0 0 0 1 1 0; i32[3] 2 3 4; i64[2] 2 2", NULL, "set_operation='union'",
     CASE_NO_GRAD},
    {"i32[2,3] 1 2 2 5 4 4; i64[3,2] 0 0 0 1 1 0; i32[3] 2 3 4; i64[2] 3 2", "error INVALID_ARGUMENT",
     "set_operation='union'", CASE_NO_GRAD},
    {0},
};
static const op_case sparse_sparse_cases[] = {
    {"i64[3,2] 0 0 1 1 1 2; i32[3] 2 4 9; i64[2] 2 3; i64[3,2] 0 0 0 1 1 0; i32[3] 2 3 4; i64[2] 2 2", NULL,
     "set_operation='b-a'", CASE_NO_GRAD},
    {"i64[3,2] 0 0 1 1 1 2; i32[3] 2 4 9; i64[2] 2 3; i64[3,2] 0 0 0 1 1 0; i32[3] 2 3 4; i64[2] 2 2", NULL,
     "set_operation='intersection'", CASE_NO_GRAD},
    {"i64[3,3] 0 0 0 0 0 1 1 1 0; i32[3] 2 4 9; i64[3] 2 2 3; i64[2,3] 0 0 0 1 0 0; i32[2] 2 7; i64[3] 2 2 1", NULL,
     "set_operation='union'", CASE_NO_GRAD},
    {"i64[2,2] 1 1 0 0; i32[2] 2 4; i64[2] 2 3; i64[1,2] 0 0; i32[1] 2; i64[2] 2 2", "error INVALID_ARGUMENT",
     "set_operation='union'", CASE_NO_GRAD},
    {0},
};
static const op_case size_cases[] = {
    {"i64[3,2] 0 0 0 1 1 0; i32[3] 2 2 3; i64[2] 2 2", "i32[2] 1 1", NULL, CASE_NO_GRAD},
    {"i64[2,3] 0 1 0 1 0 1; str[2] \"a\" \"b\"; i64[3] 2 2 2", NULL, NULL, CASE_NO_GRAD},
    {"i64[2,1] 0 1; i32[2] 2; i64[1] 2", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define RESULT                                                                                                         \
  ") -> (result_indices:int64, result_values:T, result_shape:int64) | set_operation:string "                           \
  "validate_indices:bool=true " TYPES
#define TYPES "T:type{int8,int16,int32,int64,uint8,uint16,string}"

OPS(set) = {
    {"DenseToDenseSetOperation(set1:T, set2:T" RESULT, "Sets in the rows of two tensors, combined.",
     .infer = dense_dense_infer, .cpu = dense_dense_cpu, .no_grad = true, .cases = dense_dense_cases},
    {"DenseToSparseSetOperation(set1:T, set2_indices:int64, set2_values:T, set2_shape:int64" RESULT,
     "Sets in the rows of a tensor and a sparse one, combined.", .infer = dense_sparse_infer, .cpu = dense_sparse_cpu,
     .no_grad = true, .cases = dense_sparse_cases},
    {"SparseToSparseSetOperation(set1_indices:int64, set1_values:T, set1_shape:int64, set2_indices:int64, "
     "set2_values:T, "
     "set2_shape:int64" RESULT,
     "Sets in the rows of two sparse tensors, combined.", .infer = sparse_sparse_infer, .cpu = sparse_sparse_cpu,
     .no_grad = true, .cases = sparse_sparse_cases},
    {"SetSize(set_indices:int64, set_values:T, set_shape:int64) -> (size:int32) | validate_indices:bool=true " TYPES,
     "How many different elements each set has.", .infer = weft__infer_none, .cpu = set_size_cpu, .no_grad = true,
     .cases = size_cases},
    {0},
};
