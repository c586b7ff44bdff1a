/* tensor_list.c - lists of tensors.  TensorFlow's newer while loops carry gradients and results in them.
 *
 * An op that changes a list returns a new list that shares the tensors. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "state/tensor_list.h"

/* ---- arguments ---- */

/* Reads input i as a shape: a vector with -1 for unknown dimensions, or the scalar -1 for an unknown rank. */
static weft_err shape_in(const kernel *k, int i, shape *out) {
  const weft_tensor *t = k->in[i];
  int64_t n = weft__tensor_count(t);
  *out = SHAPE_UNKNOWN;
  if (t->shape.rank == 0) return WEFT_OK;
  if (t->shape.rank != 1 || n > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "element_shape must be a vector, got %s",
                             weft__shape_text(&t->shape));
  out->rank = weft__int_sat(n);
  for (int j = 0; j < out->rank; j++) out->dim[j] = weft__tensor_int(t, j) < 0 ? -1 : weft__tensor_int(t, j);
  return WEFT_OK;
}

static weft_err list_in(const kernel *k, int i, tensor_list **out) {
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_get(k->in[i], out)));
  const attr *a = weft__node_attr(k->node, "element_dtype");
  if (!a || a->type == (*out)->dtype) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid data types; op elements %s but list elements %s",
                           weft__dtype_short(a->type), weft__dtype_short((*out)->dtype));
}

static weft_err int_in(const kernel *k, int i, const char *name, int64_t *out) {
  WEFT_TRY(weft__kernel_scalar(k, i, name));
  *out = weft__tensor_int(k->in[i], 0);
  return WEFT_OK;
}

static weft_err check_shape(const kernel *k, const tensor_list *l, const weft_tensor *t) {
  if (weft__shape_compatible(&l->element, &t->shape)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Tried to set a tensor with incompatible shape at a list index. Item element shape: %s list "
                           "shape: %s",
                           weft__shape_text(&t->shape), weft__shape_text(&l->element));
}

/* ---- making ---- */

static weft_err empty_cpu(kernel *k) {
  shape s;
  tensor_list *l = NULL;
  int64_t max;
  WEFT_TRY(shape_in(k, 0, &s));
  WEFT_TRY(int_in(k, 1, "max_num_elements", &max));
  WEFT_TRY(weft__tensor_list_create(&l, weft__node_type(k->node, "element_dtype"), &s, 0));
  l->max = max;
  return weft__variant_output(k, 0, &l->base);
}

static weft_err reserve_cpu(kernel *k) {
  shape s;
  tensor_list *l = NULL;
  int64_t n;
  WEFT_TRY(shape_in(k, 0, &s));
  WEFT_TRY(int_in(k, 1, "num_elements", &n));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_create(&l, weft__node_type(k->node, "element_dtype"), &s, n)));
  return weft__variant_output(k, 0, &l->base);
}

/* Makes *out a tensor of row i of t. */
static weft_err tensor_list_row(weft_tensor *out, const weft_tensor *t, int64_t i) {
  shape s = {.rank = t->shape.rank - 1};
  memcpy(s.dim, t->shape.dim + 1, sizeof *s.dim * (size_t)s.rank);
  int64_t count = weft__shape_count(&s);
  WEFT_TRY(weft__tensor_init(out, t->dtype, &s));
  return weft__elements_copy(t->dtype, out->data, (char *)t->data + (size_t)(i * count) * weft__dtype_size(t->dtype),
                             count);
}

static weft_err tensor_list_check_rows(const kernel *k, int i) {
  if (k->in[i]->shape.rank > 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor must be at least a vector, but saw shape: []");
}

static weft_err from_tensor_cpu(kernel *k) {
  shape s;
  tensor_list *l = NULL;
  WEFT_TRY(tensor_list_check_rows(k, 0));
  WEFT_TRY(shape_in(k, 1, &s));
  WEFT_TRY(weft__tensor_list_create(&l, k->in[0]->dtype, &s, k->in[0]->shape.dim[0]));
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < l->n && !err; i++) {
    err = tensor_list_row(&l->t[i], k->in[0], i);
    if (!err) err = check_shape(k, l, &l->t[i]);
  }
  if (!err) return weft__variant_output(k, 0, &l->base);
  weft__object_release(&l->base.base);
  return err;
}

/* Stores the rows of input `rows` at the indices in input `at`.  The list takes over the reference to each row. */
static weft_err tensor_list_scatter(kernel *k, tensor_list *l, int rows, int at) {
  int64_t n = weft__tensor_count(k->in[at]);
  weft_err err = tensor_list_check_rows(k, rows);
  if (!err && k->in[rows]->shape.dim[0] != n)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected len(indices) == tensor.shape[0]. Got: %lld vs %lld",
                            (long long)n, (long long)k->in[rows]->shape.dim[0]);
  for (int64_t i = 0; i < n && !err; i++) {
    int64_t to = weft__tensor_int(k->in[at], i);
    if (to < 0 || to >= l->n) {
      err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "TensorListScatter: Indices in the list must fall in [0, %lld)",
                              (long long)l->n);
      break;
    }
    weft__tensor_clear(&l->t[to]);
    err = tensor_list_row(&l->t[to], k->in[rows], i);
    if (!err) err = check_shape(k, l, &l->t[to]);
  }
  if (!err) return weft__variant_output(k, 0, &l->base);
  weft__object_release(&l->base.base);
  return err;
}

static weft_err tensor_list_scatter_cpu(kernel *k) {
  shape s;
  tensor_list *l = NULL;
  int64_t given = -1;
  if (k->n_in > 3) WEFT_TRY(int_in(k, 3, "num_elements", &given));
  int64_t n = given;
  WEFT_TRY(shape_in(k, 2, &s));
  for (int64_t i = 0; n < 0 && i < weft__tensor_count(k->in[1]); i++)
    if (weft__tensor_int(k->in[1], i) < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Indices in TensorListScatter must all be non-negative.");
  for (int64_t i = 0; given < 0 && i < weft__tensor_count(k->in[1]); i++) {
    if (weft__tensor_int(k->in[1], i) >= n) n = weft__tensor_int(k->in[1], i) + 1;
  }
  WEFT_TRY(weft__tensor_list_create(&l, k->in[0]->dtype, &s, n < 0 ? 0 : n));
  return tensor_list_scatter(k, l, 0, 1);
}

static weft_err scatter_into_cpu(kernel *k) {
  tensor_list *from = NULL, *l = NULL;
  int64_t n = 0;
  WEFT_TRY(list_in(k, 0, &from));
  for (int64_t i = 0; i < weft__tensor_count(k->in[2]); i++)
    if (weft__tensor_int(k->in[2], i) >= n) n = weft__tensor_int(k->in[2], i) + 1;
  WEFT_TRY(weft__tensor_list_copy(&l, from, n > from->n ? n : from->n));
  return tensor_list_scatter(k, l, 1, 2);
}

/* ---- one element ---- */

static weft_err push_cpu(kernel *k) {
  tensor_list *from = NULL, *l = NULL;
  WEFT_TRY(list_in(k, 0, &from));
  WEFT_TRY(check_shape(k, from, k->in[1]));
  if (from->max >= 0 && from->n >= from->max)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Tried to push item into a full list list size: %lld max_num_elements: %lld",
                             (long long)from->n, (long long)from->max);
  WEFT_TRY(weft__tensor_list_copy(&l, from, from->n + 1));
  weft_err err = weft__tensor_keep(&l->t[l->n - 1], k->in[1]);
  if (!err) return weft__variant_output(k, 0, &l->base);
  weft__object_release(&l->base.base);
  return err;
}

/* Returns a copy of list i of the vector in input 0, with row i of input 1 added. */
static weft_err push_row(const kernel *k, int64_t i, tensor_list **out) {
  const weft_tensor one = {.dtype = WEFT_VARIANT, .shape = SHAPE_SCALAR, .data = TENSOR_DATA(k->in[0], object *) + i};
  tensor_list *from = NULL;
  weft_tensor row = {0};
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_get(&one, &from)));
  if (from->dtype != k->in[1]->dtype)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Invalid data type at index %lld op elements %s but list elements %s", (long long)i,
                             weft__dtype_short(k->in[1]->dtype), weft__dtype_short(from->dtype));
  WEFT_TRY(tensor_list_row(&row, k->in[1], i));
  weft_err err = WEFT_OK;
  if (!weft__shape_compatible(&from->element, &row.shape))
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                            "Tried to append a tensor with incompatible shape to a list at index %lld. Op element "
                            "shape: %s list shape: %s",
                            (long long)i, weft__shape_text(&row.shape), weft__shape_text(&from->element));
  else
    err = weft__tensor_list_copy(out, from, from->n + 1);
  if (err)
    weft__tensor_clear(&row);
  else
    (*out)->t[(*out)->n - 1] = row;
  return err;
}

static weft_err push_batch_cpu(kernel *k) {
  const shape *h = &k->in[0]->shape, *rows = &k->in[1]->shape;
  if (h->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected input_handles to be a vector, but saw shape: %s",
                             weft__shape_text(h));
  WEFT_TRY(tensor_list_check_rows(k, 1));
  if (rows->dim[0] != h->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Expected tensor.shape[0] == input_handles.size, but saw %lld vs. %lld",
                             (long long)rows->dim[0], (long long)h->dim[0]);
  weft_tensor *out = weft__out(k, 0, h);
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < h->dim[0]; i++) {
    tensor_list *l = NULL;
    WEFT_TRY(push_row(k, i, &l));
    TENSOR_DATA(out, object *)[i] = &l->base.base;
  }
  return WEFT_OK;
}

static weft_err push_batch_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, &s->out[0]));
  if (s->in[1].rank == 0) return weft__infer_fail(s, "Shape must be at least rank 1 but is rank 0");
  const int64_t lists = s->out[0].dim[0], rows = s->in[1].rank > 0 ? s->in[1].dim[0] : -1;
  if (lists >= 0 && rows >= 0 && lists != rows)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)rows, (long long)lists);
  if (lists < 0) s->out[0].dim[0] = rows;
  return WEFT_OK;
}

/* Finds the shape of an element that was never set, from the list, the caller and perhaps other elements. */
static weft_err unset_shape(const kernel *k, const tensor_list *l, const shape *wanted, shape *out) {
  WEFT_TRY(weft__kernel_in(k, weft__shape_merge(out, &l->element, wanted)));
  for (int64_t i = 0; i < l->n && !weft__shape_known(out); i++)
    if (l->t[i].buf) WEFT_TRY(weft__kernel_in(k, weft__shape_merge(out, out, &l->t[i].shape)));
  if (weft__shape_known(out)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Trying to read an uninitialized tensor but element_shape is not fully defined: %s",
                           weft__shape_text(out));
}

/* Makes element i the node's output `to`.  An element that was never set is zeros. */
static weft_err out_element(kernel *k, int to, const tensor_list *l, int64_t i, const shape *wanted) {
  if (l->t[i].buf) return weft__out_share(k, to, &l->t[i]);
  shape s;
  WEFT_TRY(unset_shape(k, l, wanted, &s));
  weft_tensor *t = weft__out(k, to, &s);
  if (!t) return weft__out_refused(&s);
  if (weft__dtype_is_plain(t->dtype)) memset(t->data, 0, weft__tensor_bytes(t));
  return WEFT_OK;
}

static weft_err pop_cpu(kernel *k) {
  tensor_list *from = NULL, *l = NULL;
  shape s;
  WEFT_TRY(list_in(k, 0, &from));
  WEFT_TRY(shape_in(k, 1, &s));
  if (from->n == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Trying to pop from an empty list.");
  WEFT_TRY(out_element(k, 1, from, from->n - 1, &s));
  WEFT_TRY(weft__tensor_list_copy(&l, from, from->n - 1));
  return weft__variant_output(k, 0, &l->base);
}

static weft_err tensor_list_check_index(const kernel *k, const tensor_list *l, int64_t i) {
  if (i >= 0 && i < l->n) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Trying to access element %lld in a list with %lld elements.",
                           (long long)i, (long long)l->n);
}

static weft_err tensor_list_get_cpu(kernel *k) {
  tensor_list *l = NULL;
  shape s;
  int64_t i;
  WEFT_TRY(list_in(k, 0, &l));
  WEFT_TRY(int_in(k, 1, "index", &i));
  WEFT_TRY(shape_in(k, 2, &s));
  WEFT_TRY(tensor_list_check_index(k, l, i));
  return out_element(k, 0, l, i, &s);
}

static weft_err tensor_list_set_cpu(kernel *k) {
  tensor_list *from = NULL, *l = NULL;
  int64_t i;
  WEFT_TRY(list_in(k, 0, &from));
  WEFT_TRY(int_in(k, 1, "index", &i));
  bool grows = weft__node_bool(k->node, "resize_if_index_out_of_bounds", false) && i >= from->n;
  if (!grows) WEFT_TRY(tensor_list_check_index(k, from, i));
  WEFT_TRY(check_shape(k, from, k->in[2]));
  WEFT_TRY(weft__tensor_list_copy(&l, from, grows ? i + 1 : from->n));
  weft__tensor_clear(&l->t[i]);
  weft_err err = weft__tensor_keep(&l->t[i], k->in[2]);
  if (!err) return weft__variant_output(k, 0, &l->base);
  weft__object_release(&l->base.base);
  return err;
}

/* ---- many elements ---- */

static weft_err out_rows(kernel *k, const tensor_list *l, int64_t n, const weft_tensor *which, const shape *wanted) {
  shape s, all;
  WEFT_TRY(weft__kernel_in(k, weft__shape_merge(&s, &l->element, wanted)));
  for (int64_t i = 0; i < l->n; i++) {
    if (!l->t[i].buf) continue;
    if (weft__shape_merge(&s, &s, &l->t[i].shape) != WEFT_OK)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tried to stack list whose elements have different shapes");
  }
  if (!weft__shape_known(&s) || s.rank >= WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Tried to stack elements of an empty list with non-fully-defined element_shape: %s",
                             weft__shape_text(&s));
  all = (shape){.rank = s.rank + 1, .dim = {n}};
  memcpy(all.dim + 1, s.dim, sizeof *s.dim * (size_t)s.rank);
  weft_tensor *t = weft__out(k, 0, &all);
  if (!t) return weft__out_refused(&all);
  int64_t count = weft__shape_count(&s);
  size_t bytes = (size_t)count * weft__dtype_size(t->dtype);
  for (int64_t i = 0; i < n; i++) {
    int64_t from = which ? weft__tensor_int(which, i) : i;
    WEFT_TRY(tensor_list_check_index(k, l, from));
    char *at = (char *)t->data + (size_t)i * bytes;
    if (l->t[from].buf)
      WEFT_TRY(weft__elements_copy(t->dtype, at, l->t[from].data, count));
    else if (weft__dtype_is_plain(t->dtype))
      memset(at, 0, bytes);
  }
  return WEFT_OK;
}

static weft_err tensor_list_stack_cpu(kernel *k) {
  tensor_list *l = NULL;
  shape s;
  int64_t want = weft__node_int(k->node, "num_elements", -1);
  WEFT_TRY(list_in(k, 0, &l));
  WEFT_TRY(shape_in(k, 1, &s));
  if (want >= 0 && want != l->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Operation expected a list with %lld elements but got a list with "
                             "%lld elements.",
                             (long long)want, (long long)l->n);
  return out_rows(k, l, l->n, NULL, &s);
}

static weft_err tensor_list_gather_cpu(kernel *k) {
  tensor_list *l = NULL;
  shape s;
  WEFT_TRY(list_in(k, 0, &l));
  WEFT_TRY(shape_in(k, 2, &s));
  return out_rows(k, l, weft__tensor_count(k->in[1]), k->in[1], &s);
}

static weft_err length_cpu(kernel *k) {
  tensor_list *l = NULL;
  WEFT_TRY(list_in(k, 0, &l));
  weft_tensor *t = weft__out(k, 0, &SHAPE_SCALAR);
  if (!t) return WEFT_OOM;
  TENSOR_DATA(t, int32_t)[0] = (int32_t)l->n;
  return WEFT_OK;
}

static weft_err resize_cpu(kernel *k) {
  tensor_list *from = NULL, *l = NULL;
  int64_t n;
  WEFT_TRY(list_in(k, 0, &from));
  WEFT_TRY(int_in(k, 1, "size", &n));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_copy(&l, from, n)));
  return weft__variant_output(k, 0, &l->base);
}

static weft_err element_shape_cpu(kernel *k) {
  tensor_list *l = NULL;
  WEFT_TRY(list_in(k, 0, &l));
  bool known = l->element.rank >= 0;
  weft_tensor *t = weft__out(k, 0, known ? &SHAPE1(l->element.rank) : &SHAPE_SCALAR);
  if (!t) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    int64_t d = known ? l->element.dim[i] : -1;
    if (t->dtype == WEFT_INT64)
      TENSOR_DATA(t, int64_t)[i] = d;
    else
      TENSOR_DATA(t, int32_t)[i] = (int32_t)d;
  }
  return WEFT_OK;
}

static weft_err tensor_list_join_cpu(kernel *k) {
  tensor_list *a = NULL, *b = NULL, *l = NULL;
  WEFT_TRY(list_in(k, 0, &a));
  WEFT_TRY(list_in(k, 1, &b));
  WEFT_TRY(weft__tensor_list_copy(&l, a, a->n + b->n));
  for (int64_t i = 0; i < b->n; i++)
    if (b->t[i].buf) weft__tensor_share(&l->t[a->n + i], &b->t[i]);
  return weft__variant_output(k, 0, &l->base);
}

/* ---- along the first dimension ---- */

static weft_err tensor_list_concat_shape(kernel *k, const tensor_list *l, shape *out) {
  *out = SHAPE_UNKNOWN;
  int64_t rows = 0;
  for (int64_t i = 0; i < l->n; i++) {
    const weft_tensor *t = &l->t[i];
    if (!t->buf || t->shape.rank < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Concat saw a scalar or unset element at index %lld",
                               (long long)i);
    shape s = t->shape;
    rows += s.dim[0];
    s.dim[0] = -1;
    if (weft__shape_merge(out, out, &s) != WEFT_OK)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tried to concat tensors with unequal shapes");
  }
  if (l->n == 0) {
    *out = l->element;
    if (out->rank < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Concat of an empty list with unknown element shape");
  }
  out->dim[0] = rows;
  return WEFT_OK;
}

static weft_err tensor_list_concat_cpu(kernel *k) {
  tensor_list *l = NULL;
  shape s;
  WEFT_TRY(list_in(k, 0, &l));
  WEFT_TRY(tensor_list_concat_shape(k, l, &s));
  weft_tensor *t = weft__out(k, 0, &s), *lengths = weft__out(k, 1, &SHAPE1(l->n));
  if (!t || !lengths) return weft__out_refused(&s);
  char *at = t->data;
  for (int64_t i = 0; i < l->n; i++) {
    WEFT_TRY(weft__elements_copy(t->dtype, at, l->t[i].data, weft__tensor_count(&l->t[i])));
    at += weft__tensor_bytes(&l->t[i]);
    TENSOR_DATA(lengths, int64_t)[i] = l->t[i].shape.dim[0];
  }
  return WEFT_OK;
}

static weft_err tensor_list_split_cpu(kernel *k) {
  tensor_list *l = NULL;
  shape s;
  const weft_tensor *all = k->in[0];
  int64_t n = weft__tensor_count(k->in[2]), sum = 0;
  WEFT_TRY(tensor_list_check_rows(k, 0));
  WEFT_TRY(shape_in(k, 1, &s));
  for (int64_t i = 0; i < n; i++) {
    const int64_t length = TENSOR_DATA(k->in[2], int64_t)[i];
    if (length < 0 || length > INT64_MAX - sum)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid value in lengths: %lld", (long long)length);
    sum += length;
  }
  if (sum != all->shape.dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected sum of lengths to be equal to values.shape[0]");
  WEFT_TRY(weft__tensor_list_create(&l, all->dtype, &s, n));
  const char *from = all->data;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) {
    shape piece = all->shape;
    piece.dim[0] = TENSOR_DATA(k->in[2], int64_t)[i];
    err = weft__tensor_init(&l->t[i], all->dtype, &piece);
    if (!err) err = weft__elements_copy(all->dtype, l->t[i].data, from, weft__tensor_count(&l->t[i]));
    if (!err) from += weft__tensor_bytes(&l->t[i]);
  }
  if (!err) return weft__variant_output(k, 0, &l->base);
  weft__object_release(&l->base.base);
  return err;
}

/* ---- shape rules ---- */

static weft_err value_infer(infer *s) { /* the last output has the element shape that the last input gives */
  s->out[0] = s->n_out > 1 ? SHAPE_SCALAR : SHAPE_UNKNOWN;
  return weft__infer_shape_value(s, s->n_in - 1, &s->out[s->n_out - 1]);
}

static weft_err rows_infer(infer *s) {
  shape e;
  WEFT_TRY(weft__infer_shape_value(s, s->n_in - 1, &e));
  if (e.rank < 0 || e.rank >= WEFT_MAX_RANK) return WEFT_OK;
  s->out[0] = (shape){.rank = e.rank + 1, .dim = {s->n_in > 2 ? -1 : weft__node_int(s->node, "num_elements", -1)}};
  memcpy(s->out[0].dim + 1, e.dim, sizeof *e.dim * (size_t)e.rank);
  return WEFT_OK;
}

static weft_err tensor_list_concat_infer(infer *s) {
  s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

/* ---- gradients: the gradient of a list is a list of gradients ---- */

static weft_out list_node(backprop *b, const char *type, int n_in, const weft_out *in, weft_dtype element) {
  return weft__b_node(b->graph, type, NULL, n_in, in, 1, &A_TYPE("element_dtype", element));
}

/* Returns the shape of x without its first n dimensions. */
static weft_out shape_behind(backprop *b, weft_out x, int64_t n) {
  weft_graph *g = b->graph;
  const weft_out in[] = {weft__b_shape(g, x), weft__b_ints(g, &n, 1), weft__b_ints(g, (int64_t[]){-1}, 1)};
  return n == 0 ? in[0] : weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

static weft_dtype tensor_list_type_of(const backprop *b, weft_out x) { return weft__out_type(b->graph, x); }

static weft_out length_of(backprop *b, weft_out list) { return weft__b_unary(b->graph, "TensorListLength", list); }

static weft_out element_shape_of(backprop *b, weft_out list) {
  return weft__b_node(b->graph, "TensorListElementShape", NULL, 1, &list, 1, &A_TYPE("shape_type", WEFT_INT32));
}

/* Returns a list without values that has the length of another list. */
static weft_out reserve_like(backprop *b, weft_out list, weft_dtype element) {
  const weft_out in[] = {element_shape_of(b, list), length_of(b, list)};
  return list_node(b, "TensorListReserve", 2, in, element);
}

static weft_err from_tensor_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], shape_behind(b, b->in[0], 1)};
  const shape *s = weft__out_shape(b->graph, b->in[0]);
  const attr attrs[] = {A_TYPE("element_dtype", tensor_list_type_of(b, b->in[0])),
                        A_INT("num_elements", s->rank > 0 ? s->dim[0] : -1)};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "TensorListStack", NULL, 2, in, 2, attrs));
  return WEFT_OK;
}

static weft_err stack_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], shape_behind(b, b->dout[0], 1)};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListFromTensor", 2, in, tensor_list_type_of(b, b->out[0])));
  return WEFT_OK;
}

static weft_err push_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], weft__b_shape(b->graph, b->in[1])};
  const weft_out popped = list_node(b, "TensorListPopBack", 2, in, tensor_list_type_of(b, b->in[1]));
  b->din[0] = GRAD_DENSE(popped);
  b->din[1] = GRAD_DENSE(weft__b_slot(popped, 1));
  return WEFT_OK;
}

static weft_err pop_grad(backprop *b) {
  const weft_out in[] = {weft__backprop_dout(b, 0), weft__backprop_dout(b, 1)};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListPushBack", 2, in, tensor_list_type_of(b, b->out[1])));
  return WEFT_OK;
}

static weft_err get_grad(backprop *b) {
  const weft_dtype element = tensor_list_type_of(b, b->out[0]);
  const weft_out in[] = {reserve_like(b, b->in[0], element), b->in[1], b->dout[0]};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListSetItem", 3, in, element));
  return WEFT_OK;
}

static weft_err tensor_list_set_grad(backprop *b) {
  const weft_dtype element = tensor_list_type_of(b, b->in[2]);
  const weft_out set[] = {b->dout[0], b->in[1], weft__b_zeros_like(b->graph, b->in[2])};
  const weft_out get[] = {b->dout[0], b->in[1], weft__b_shape(b->graph, b->in[2])};
  weft_out rest = list_node(b, "TensorListSetItem", 3, set, element);
  if (weft__node_bool(b->node, "resize_if_index_out_of_bounds", false))
    rest = weft__b_binary(b->graph, "TensorListResize", rest, length_of(b, b->in[0]));
  b->din[0] = GRAD_DENSE(rest);
  b->din[2] = GRAD_DENSE(list_node(b, "TensorListGetItem", 3, get, element));
  return WEFT_OK;
}

/* Like TF, this sets the gradients and does not add them: if an element was gathered twice, its last gradient
 * counts. */
static weft_err tensor_list_gather_grad(backprop *b) {
  const weft_dtype element = tensor_list_type_of(b, b->out[0]);
  const weft_out in[] = {reserve_like(b, b->in[0], element), b->dout[0], b->in[1]};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListScatterIntoExistingList", 3, in, element));
  return WEFT_OK;
}

static grad_value tensor_list_gathered(backprop *b, weft_out rows, weft_out indices) {
  const weft_out in[] = {b->dout[0], indices, shape_behind(b, rows, 1)};
  return GRAD_DENSE(list_node(b, "TensorListGather", 3, in, tensor_list_type_of(b, rows)));
}

static weft_err tensor_list_scatter_grad(backprop *b) {
  b->din[0] = tensor_list_gathered(b, b->in[0], b->in[1]);
  return WEFT_OK;
}

static weft_err scatter_into_grad(backprop *b) {
  const weft_out in[] = {b->dout[0], weft__b_zeros_like(b->graph, b->in[1]), b->in[2]};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListScatterIntoExistingList", 3, in, tensor_list_type_of(b, b->in[1])));
  b->din[1] = tensor_list_gathered(b, b->in[1], b->in[2]);
  return WEFT_OK;
}

static weft_err tensor_list_concat_grad(backprop *b) {
  if (b->dout[0].node < 0) return WEFT_OK;
  const weft_out in[] = {b->dout[0], element_shape_of(b, b->in[0]), b->out[1]};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListSplit", 3, in, tensor_list_type_of(b, b->out[0])));
  return WEFT_OK;
}

static weft_err tensor_list_split_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out dims[] = {weft__b_ints(g, (int64_t[]){-1}, 1), shape_behind(b, b->in[0], 1)};
  const weft_out in[] = {b->dout[0], weft__b_concat(g, 2, dims, weft__b_scalar(g, WEFT_INT32, 0)), b->in[2]};
  b->din[0] = GRAD_DENSE(list_node(b, "TensorListConcatV2", 3, in, tensor_list_type_of(b, b->in[0])));
  return WEFT_OK;
}

static weft_err resize_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_binary(b->graph, "TensorListResize", b->dout[0], length_of(b, b->in[0])));
  return WEFT_OK;
}

#define LIST(DEF, DOC, INFER, FN, ...)                                                                                 \
  { DEF, DOC, .flags = OP_NO_FOLD, .infer = INFER, .cpu = FN, __VA_ARGS__ }
#define TYPES " | element_dtype:type shape_type:type{int32,int64}"

OPS(tensor_list) = {
    LIST("EmptyTensorList(element_shape:shape_type, max_num_elements:int32) -> (handle:variant)" TYPES,
         "A list without elements.", weft__infer_scalar, empty_cpu, .narrow = NARROW_ALL),
    LIST("TensorListReserve(element_shape:shape_type, num_elements:int32) -> (handle:variant)" TYPES,
         "A list whose elements have no values yet.", weft__infer_scalar, reserve_cpu, .narrow = NARROW_ALL),
    LIST("TensorListFromTensor(tensor:element_dtype, element_shape:shape_type) -> (output_handle:variant)" TYPES,
         "The rows of a tensor.", weft__infer_scalar, from_tensor_cpu, .grad = from_tensor_grad),
    LIST("TensorListScatter(tensor:element_dtype, indices:int32, element_shape:shape_type) -> "
         "(output_handle:variant)" TYPES,
         "Rows of a tensor put at indices.", weft__infer_scalar, tensor_list_scatter_cpu,
         .grad = tensor_list_scatter_grad),
    LIST("TensorListScatterV2(tensor:element_dtype, indices:int32, element_shape:shape_type, num_elements:int32) -> "
         "(output_handle:variant)" TYPES,
         "Rows of a tensor put at indices of a list of that length.", weft__infer_scalar, tensor_list_scatter_cpu,
         .grad = tensor_list_scatter_grad),
    LIST("TensorListScatterIntoExistingList(input_handle:variant, tensor:element_dtype, indices:int32) -> "
         "(output_handle:variant) | element_dtype:type",
         "A list with rows of a tensor put at indices.", weft__infer_scalar, scatter_into_cpu,
         .grad = scatter_into_grad),
    LIST("TensorListPushBack(input_handle:variant, tensor:element_dtype) -> (output_handle:variant) | "
         "element_dtype:type",
         "A list with one more element.", weft__infer_scalar, push_cpu, .grad = push_grad, .narrow = NARROW_ALL),
    LIST("TensorListPushBackBatch(input_handles:variant, tensor:element_dtype) -> (output_handles:variant) | "
         "element_dtype:type",
         "Lists with one more element each, a row of the tensor.", push_batch_infer, push_batch_cpu, .no_grad = true),
    LIST("TensorListPopBack(input_handle:variant, element_shape:int32) -> (output_handle:variant, "
         "tensor:element_dtype) | "
         "element_dtype:type",
         "The last element, and the list without it.", value_infer, pop_cpu, .grad = pop_grad),
    LIST("TensorListGetItem(input_handle:variant, index:int32, element_shape:int32) -> (item:element_dtype) | "
         "element_dtype:type",
         "An element.", value_infer, tensor_list_get_cpu, .grad = get_grad),
    LIST("TensorListSetItem(input_handle:variant, index:int32, item:element_dtype) -> (output_handle:variant) | "
         "element_dtype:type resize_if_index_out_of_bounds:bool=false",
         "A list with one element replaced.", weft__infer_scalar, tensor_list_set_cpu, .grad = tensor_list_set_grad,
         .narrow = NARROW_ALL),
    LIST("TensorListStack(input_handle:variant, element_shape:int32) -> (tensor:element_dtype) | element_dtype:type "
         "num_elements:int=-1",
         "The elements as rows of a tensor.", rows_infer, tensor_list_stack_cpu, .grad = stack_grad),
    LIST("TensorListGather(input_handle:variant, indices:int32, element_shape:int32) -> (values:element_dtype) | "
         "element_dtype:type",
         "Chosen elements as rows of a tensor.", rows_infer, tensor_list_gather_cpu, .grad = tensor_list_gather_grad),
    LIST("TensorListConcat(input_handle:variant) -> (tensor:element_dtype, lengths:int64) | element_dtype:type "
         "element_shape:shape=?",
         "The elements one behind the other.", tensor_list_concat_infer, tensor_list_concat_cpu,
         .grad = tensor_list_concat_grad),
    LIST("TensorListConcatV2(input_handle:variant, element_shape:shape_type, leading_dims:int64) -> "
         "(tensor:element_dtype, lengths:int64)" TYPES,
         "The elements one behind the other.", tensor_list_concat_infer, tensor_list_concat_cpu,
         .grad = tensor_list_concat_grad),
    LIST("TensorListSplit(tensor:element_dtype, element_shape:shape_type, lengths:int64) -> "
         "(output_handle:variant)" TYPES,
         "A tensor cut along its first dimension.", weft__infer_scalar, tensor_list_split_cpu,
         .grad = tensor_list_split_grad),
    LIST("TensorListConcatLists(input_a:variant, input_b:variant) -> (output:variant) | element_dtype:type",
         "Two lists as one.", weft__infer_scalar, tensor_list_join_cpu, .no_grad = true, .narrow = NARROW_ALL),
    LIST("TensorListLength(input_handle:variant) -> (length:int32)", "How many elements.", weft__infer_scalar,
         length_cpu, .no_grad = true),
    LIST("TensorListResize(input_handle:variant, size:int32) -> (output_handle:variant)", "A list of another length.",
         weft__infer_scalar, resize_cpu, .grad = resize_grad),
    LIST("TensorListElementShape(input_handle:variant) -> (element_shape:shape_type) | shape_type:type{int32,int64}",
         "What is known of the shape of its elements.", weft__infer_none, element_shape_cpu, .no_grad = true),
    {.scenario = "tests/parity/test_functions.py tests/parity/test_rare_ops.py"},
};
