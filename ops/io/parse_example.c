/* parse_example.c - ParseExample, ParseExampleV2, ParseSingleExample: features of Examples as tensors.
 *
 * Two passes run over the batch, both split over the threads by example.  The first pass finds every wanted feature
 * in each message, checks its type and counts its values.  Then the outputs are allocated with their exact sizes.
 * The second pass decodes the values directly into them.  If several examples are malformed, the first one is
 * reported. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/example.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum form { FORM_DENSE, FORM_SPARSE, FORM_RAGGED } form;

typedef struct column { /* a wanted feature */
  bytes key;
  form form;
  weft_dtype type;
  const weft_tensor *fallback; /* dense: the default; without elements the feature is required */
  shape shape;                 /* dense: shape in one example */
  bool variable;               /* dense: the first dimension is unknown */
  int64_t stride;              /* dense: elements of one example, or of one row if variable */
  int64_t total, most;         /* values in the batch; maximum in one example */
  void *values;                /* the output's elements */
  int64_t *indices;            /* sparse */
} column;

typedef struct cell { /* one feature in one example */
  feature found;
  int64_t count, offset;
} cell;

typedef struct parse {
  kernel *k;
  const str *example, *name; /* name: NULL if none are given */
  int64_t n;
  bool batch; /* false: one example, outputs without the batch dimension */
  bool terse; /* ParseSingleExample's error messages */
  int columns, sparse, dense, ragged;
  column *column; /* dense ones, then sparse, then ragged */
  cell *cell;     /* n rows of `columns` */
  key_table keys;
  pthread_mutex_t lock; /* guards the next three */
  int64_t bad;          /* index of the first malformed example */
  status why;
} parse;

/* ---- errors ---- */

static void keep_error(parse *p, int64_t example, weft_err code) {
  pthread_mutex_lock(&p->lock);
  if (example < p->bad) {
    weft__status_finish(&p->why);
    p->why = (status){0};
    weft__status_update(&p->why, code);
    p->bad = example;
  }
  pthread_mutex_unlock(&p->lock);
}

/* Reports "Name: n, Key: k, Index: 3.  what", or "Key: k.  what" for a single example. */
static weft_err bad_feature(const parse *p, int64_t i, const column *c, const char *fmt, ...) WEFT_PRINTF(4, 5);
static weft_err bad_feature(const parse *p, int64_t i, const column *c, const char *fmt, ...) {
  text what = {0};
  char detail[300];
  va_list args;
  va_start(args, fmt);
  vsnprintf(detail, sizeof detail, fmt, args);
  va_end(args);
  if (!p->terse) {
    const char *name = p->name ? p->name[i].data : "<unknown>";
    weft__text_printf(&what, "Name: %.*s, ", p->name ? weft__int_sat(p->name[i].size) : 9, name ? name : "");
  }
  weft__text_printf(&what, "Key: %.*s", weft__int_sat(c->key.end - c->key.at), (const char *)c->key.at);
  if (!p->terse) weft__text_printf(&what, ", Index: %lld", (long long)i);
  const weft_err err = weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "%s.  %s", weft__text_get(&what), detail);
  weft__text_finish(&what);
  return err;
}

static weft_err parse_example_missing(const parse *p, int64_t i, const column *c) {
  const char *name = p->name ? p->name[i].data : "<unknown>";
  const int length = p->terse ? 0 : p->name ? weft__int_sat(p->name[i].size) : 9;
  return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                           "%s%.*s%sFeature: %.*s (data type: %s) is required but could not be found.",
                           p->terse ? "" : "Name: ", length, name ? name : "", p->terse ? "" : ", ",
                           weft__int_sat(c->key.end - c->key.at), (const char *)c->key.at, weft__dtype_short(c->type));
}

/* ---- the first pass ---- */

static weft_err check_dense(const parse *p, int64_t i, const column *c, const cell *f) {
  const char *kind = c->type == WEFT_STRING ? "bytes" : weft__dtype_short(c->type);
  const bool right = c->variable ? c->stride > 0 && f->count % c->stride == 0 : f->count == c->stride;
  if (right) return WEFT_OK;
  if (p->terse) return bad_feature(p, i, c, "Can't parse serialized Example.");
  if (c->variable)
    return bad_feature(
        p, i, c, "Number of %s values is not a multiple of stride length. Saw %lld values but output shape is: %s",
        kind, (long long)f->count, weft__shape_text(&c->shape));
  return bad_feature(p, i, c, "Number of %s values != expected.  Values size: %lld but output shape: %s", kind,
                     (long long)f->count, weft__shape_text(&c->shape));
}

static weft_err check_cell(const parse *p, int64_t i, const column *c, cell *f) {
  const weft_dtype got = f->found.type;
  if (got == WEFT_INVALID) {
    const bool required = c->form == FORM_DENSE && !c->variable && weft__tensor_count(c->fallback) == 0 && c->stride;
    return required ? parse_example_missing(p, i, c) : WEFT_OK;
  }
  if (got != c->type && c->form == FORM_DENSE)
    return bad_feature(p, i, c, "Data types don't match. Data type: %s but expected type: %s", weft__dtype_short(got),
                       weft__dtype_short(c->type));
  if (got != c->type)
    return bad_feature(p, i, c, "Data types don't match. Expected type: %s, Actual type: %s",
                       weft__dtype_short(c->type), weft__dtype_short(got));
  f->count = weft__feature_count(&f->found);
  if (f->count < 0) return bad_feature(p, i, c, "Can't parse serialized Example.");
  return c->form == FORM_DENSE ? check_dense(p, i, c, f) : WEFT_OK;
}

typedef struct row {
  const parse *p;
  cell *cell;
  bool malformed;
} row;

static void note_entry(void *arg, bytes key, bytes message) {
  row *r = arg;
  const int wanted_as = weft__keys_find(&r->p->keys, key);
  if (wanted_as >= 0 && !weft__feature_read(message, &r->cell[wanted_as].found)) r->malformed = true;
}

static weft_err scan_example(parse *p, int64_t i) {
  row r = {p, p->cell + i * p->columns, false};
  const str *s = &p->example[i];
  if (!weft__example_scan(weft__bytes(s), 1, note_entry, &r) || r.malformed)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "Could not parse example input, value: '%.*s'",
                             weft__int_sat(s->size < 500 ? s->size : 500), s->data ? s->data : "");
  for (int c = 0; c < p->columns; c++) WEFT_TRY(check_cell(p, i, &p->column[c], &r.cell[c]));
  return WEFT_OK;
}

static void scan_range(void *arg, int64_t begin, int64_t end) {
  parse *p = arg;
  for (int64_t i = begin; i < end; i++) {
    const weft_err err = scan_example(p, i);
    if (err == WEFT_OK) continue;
    keep_error(p, i, err);
    return;
  }
}

/* Computes totals, and where the values of each example begin. */
static void add_up(parse *p) {
  for (int64_t i = 0; i < p->n; i++)
    for (int c = 0; c < p->columns; c++) {
      cell *f = &p->cell[i * p->columns + c];
      column *col = &p->column[c];
      f->offset = col->total;
      col->total += f->count;
      if (f->count > col->most) col->most = f->count;
    }
}

/* ---- the outputs, in the order of the definition: sparse (three each), dense, ragged (two each) ---- */

static weft_err make_dense(parse *p, column *c, int slot) {
  shape s = c->shape;
  if (c->variable) s.dim[0] = c->stride > 0 ? c->most / c->stride : 0;
  if (p->batch) {
    if (s.rank + 1 > WEFT_MAX_RANK) return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "too many dimensions");
    memmove(s.dim + 1, s.dim, (size_t)s.rank * sizeof *s.dim);
    s.dim[0] = p->n;
    s.rank++;
  }
  weft_tensor *t = weft__out(p->k, slot, &s);
  if (!t) return WEFT_OOM;
  c->values = t->data;
  return WEFT_OK;
}

static weft_err make_sparse(parse *p, column *c, int slot) {
  weft_tensor *indices = weft__out(p->k, slot, &SHAPE2(c->total, p->batch ? 2 : 1));
  weft_tensor *values = weft__out(p->k, slot + p->sparse, &SHAPE1(c->total));
  weft_tensor *dims = weft__out(p->k, slot + 2 * p->sparse, &SHAPE1(p->batch ? 2 : 1));
  if (!indices || !values || !dims) return WEFT_OOM;
  c->indices = indices->data;
  c->values = values->data;
  int64_t *d = dims->data;
  if (p->batch) *d++ = p->n;
  *d = c->most;
  return WEFT_OK;
}

static weft_err make_ragged(parse *p, int number, column *c, int slot) {
  weft_tensor *values = weft__out(p->k, slot, &SHAPE1(c->total));
  weft_tensor *splits = weft__out(p->k, slot + p->ragged, &SHAPE1(p->batch ? p->n + 1 : 0));
  if (!values || !splits) return WEFT_OOM;
  if (splits->dtype == WEFT_INT32 && c->total > INT32_MAX)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "a ragged feature has %lld values, too many for int32 splits",
                             (long long)c->total);
  c->values = values->data;
  for (int64_t i = 0; p->batch && i <= p->n; i++) {
    const int64_t at = i < p->n ? p->cell[i * p->columns + number].offset : c->total;
    if (splits->dtype == WEFT_INT32)
      TENSOR_DATA(splits, int32_t)[i] = (int32_t)at;
    else
      TENSOR_DATA(splits, int64_t)[i] = at;
  }
  return WEFT_OK;
}

static weft_err parse_example_make_outputs(parse *p) {
  const int first_dense = 3 * p->sparse, first_ragged = first_dense + p->dense;
  int done[3] = {0};
  for (int c = 0; c < p->columns; c++) {
    column *col = &p->column[c];
    const int i = done[col->form]++;
    switch (col->form) {
    case FORM_DENSE: WEFT_TRY(make_dense(p, col, first_dense + i)); break;
    case FORM_SPARSE: WEFT_TRY(make_sparse(p, col, i)); break;
    case FORM_RAGGED: WEFT_TRY(make_ragged(p, c, col, first_ragged + i)); break;
    }
  }
  return WEFT_OK;
}

/* ---- the second pass ---- */

static weft_err parse_example_read_dense(const column *c, int64_t i, const cell *f) {
  const size_t size = weft__dtype_size(c->type);
  const int64_t room = c->variable ? c->most : c->stride;
  char *at = (char *)c->values + (size_t)(i * room) * size;
  if (f->found.type != WEFT_INVALID)
    WEFT_TRY(weft__feature_values(&f->found, at));
  else if (!c->variable)
    return weft__elements_copy(c->type, at, c->fallback->data, room);
  if (f->count == room) return WEFT_OK;
  return weft__elements_fill(c->type, at + (size_t)f->count * size, c->fallback->data, room - f->count);
}

static weft_err read_list(const parse *p, const column *c, int64_t i, const cell *f) {
  int64_t *at = c->indices ? c->indices + f->offset * (p->batch ? 2 : 1) : NULL;
  for (int64_t v = 0; at && v < f->count; v++) {
    if (p->batch) *at++ = i;
    *at++ = v;
  }
  if (f->found.type == WEFT_INVALID) return WEFT_OK;
  return weft__feature_values(&f->found, (char *)c->values + (size_t)f->offset * weft__dtype_size(c->type));
}

static void read_range(void *arg, int64_t begin, int64_t end) {
  parse *p = arg;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < p->columns; c++) {
      const column *col = &p->column[c];
      const cell *f = &p->cell[i * p->columns + c];
      const weft_err err = col->form == FORM_DENSE ? parse_example_read_dense(col, i, f) : read_list(p, col, i, f);
      if (err == WEFT_OK) continue;
      keep_error(p, i, err);
      return;
    }
}

static weft_err parse_example_run(parse *p) {
  int64_t size = 0;
  for (int64_t i = 0; i < p->n; i++) size += (int64_t)p->example[i].size;
  const int64_t cost = p->n > 0 ? 50 + size / p->n : 1;
  p->cell = weft__alloc_zero((size_t)(p->n * p->columns) + 1, sizeof *p->cell);
  if (!p->cell) return WEFT_OOM;
  weft__kernel_loop(p->k, p->n, cost, scan_range, p);
  WEFT_TRY(weft__status_raise(&p->why));
  add_up(p);
  WEFT_TRY(parse_example_make_outputs(p));
  weft__kernel_loop(p->k, p->n, cost, read_range, p);
  return weft__status_raise(&p->why);
}

/* ---- the wanted features ---- */

static weft_err read_fallback(const parse *p, column *c, int number, const weft_tensor *fallback, const shape *s) {
  c->fallback = fallback;
  c->shape = *s;
  c->variable = s->rank > 0 && s->dim[0] == -1;
  c->stride = weft__shape_product(s, c->variable ? 1 : 0, s->rank < 0 ? 0 : s->rank);
  bool inner_known = s->rank >= 0;
  for (int i = 1; i < s->rank; i++) inner_known = inner_known && s->dim[i] >= 0;
  if (!inner_known)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                             "dense_shapes[%d] has unknown rank or unknown inner dimensions: %s", number,
                             weft__shape_text(s));
  if (c->variable && weft__tensor_count(fallback) != 1)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                             "dense_shape[%d] is a variable length shape: %s, therefore def_value[%d] must contain a "
                             "single element (the padding element).  But its shape is: %s",
                             number, weft__shape_text(s), number, weft__shape_text(&fallback->shape));
  if (!c->variable && weft__tensor_count(fallback) > 0 && !weft__shape_equal(&fallback->shape, s))
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                             "def_value[%d].shape() == %s is not compatible with dense_shapes_[%d] == %s", number,
                             weft__shape_text(&fallback->shape), number, weft__shape_text(s));
  if (fallback->dtype != c->type)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "dense_defaults[%d].dtype() == %s != dense_types_[%d] == %s",
                             number, weft__dtype_short(fallback->dtype), number, weft__dtype_short(c->type));
  return WEFT_OK;
}

static const attr *list_attr(const kernel *k, const char *name, int *n) {
  const attr *a = weft__node_attr(k->node, name);
  *n = a && a->is_list ? a->n : 0;
  return a;
}

/* The source of the keys of one form: a string vector, single string inputs, or an attribute. */
typedef struct key_source {
  const weft_tensor *vector;
  const weft_tensor *const *scalars;
  const attr *strings;
} key_source;

static bytes key_at(const key_source *from, int i) {
  if (from->strings) {
    const uint8_t *data = (const uint8_t *)from->strings->ss[i].data;
    return (bytes){data, data + from->strings->ss[i].size};
  }
  return weft__bytes(from->vector ? TENSOR_DATA(from->vector, const str) + i : (const str *)from->scalars[i]->data);
}

static weft_err add_columns(parse *p, form of, int n, const attr *types, const key_source *keys,
                            const weft_tensor *const *defaults, const attr *shapes) {
  for (int i = 0; i < n; i++) {
    column *c = &p->column[p->columns];
    *c = (column){.key = key_at(keys, i), .form = of, .type = types->types[i]};
    if (of == FORM_DENSE) WEFT_TRY(read_fallback(p, c, i, defaults[i], &shapes->shapes[i]));
    weft__keys_put(&p->keys, c->key, p->columns++);
  }
  return WEFT_OK;
}

static weft_err same_count(const kernel *k, const char *a, int64_t n, const char *b, int64_t m) {
  if (n == m) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected len(%s) == len(%s) but got: %lld vs. %lld", a, b,
                           (long long)n, (long long)m);
}

static weft_err take_names(parse *p, const weft_tensor *serialized, const weft_tensor *names) {
  if (weft__tensor_count(names) == 0) return WEFT_OK;
  if (!weft__shape_equal(&names->shape, &serialized->shape))
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                             "Expected names have the same shape as serialized: name.shape=%s, serialized.shape=%s",
                             weft__shape_text(&names->shape), weft__shape_text(&serialized->shape));
  p->name = names->data;
  return WEFT_OK;
}

typedef struct wanted { /* the keys of each form, and the index of the first default */
  key_source sparse, dense, ragged;
  int first_default;
} wanted;

static weft_err parse_all(parse *p, const wanted *w) {
  const kernel *k = p->k;
  int n_shapes = 0;
  const attr *sparse = list_attr(k, "sparse_types", &p->sparse), *dense = list_attr(k, "Tdense", &p->dense);
  const attr *ragged = list_attr(k, "ragged_value_types", &p->ragged),
             *shapes = list_attr(k, "dense_shapes", &n_shapes);
  WEFT_TRY(same_count(k, "dense_shapes", n_shapes, "dense_types", p->dense));
  const int all = p->sparse + p->dense + p->ragged;
  p->column = weft__alloc_zero((size_t)all + 1, sizeof *p->column);
  if (!p->column) return WEFT_OOM;
  WEFT_TRY(weft__keys_create(&p->keys, all));
  WEFT_TRY(add_columns(p, FORM_DENSE, p->dense, dense, &w->dense, k->in + w->first_default, shapes));
  WEFT_TRY(add_columns(p, FORM_SPARSE, p->sparse, sparse, &w->sparse, NULL, NULL));
  WEFT_TRY(add_columns(p, FORM_RAGGED, p->ragged, ragged, &w->ragged, NULL, NULL));
  return parse_example_run(p);
}

static weft_err parse_and_finish(parse *p, const wanted *w) {
  pthread_mutex_init(&p->lock, NULL);
  p->bad = INT64_MAX;
  const weft_err err = parse_all(p, w);
  pthread_mutex_destroy(&p->lock);
  weft__status_finish(&p->why);
  if (p->keys.slot) weft__keys_finish(&p->keys);
  weft__free(p->column);
  weft__free(p->cell);
  return err;
}

/* ---- the three ops ---- */

static weft_err expect_rank(const kernel *k, int low, int high, const char *what) {
  const shape *s = &k->in[0]->shape;
  if (s->rank >= low && s->rank <= high) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected serialized to be a %s, got shape: %s", what,
                           weft__shape_text(s));
}

static weft_err parse_example_cpu(kernel *k) {
  WEFT_TRY(expect_rank(k, 1, 1, "vector"));
  parse p = {.k = k, .example = k->in[0]->data, .n = weft__tensor_count(k->in[0]), .batch = true};
  WEFT_TRY(take_names(&p, k->in[0], k->in[1]));
  int sparse = 0, dense = 0, first_sparse = 0, first_dense = 0, n_dense = 0;
  WEFT_TRY(weft__node_in_range(k->node, "sparse_keys", &first_sparse, &sparse));
  WEFT_TRY(weft__node_in_range(k->node, "dense_keys", &first_dense, &dense));
  list_attr(k, "Tdense", &n_dense);
  if (dense != n_dense) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "len(dense_keys) != len(dense_types)");
  for (int i = first_sparse; i < first_dense + dense; i++) WEFT_TRY(weft__kernel_scalar(k, i, "a key"));
  const wanted w = {.sparse = {.scalars = k->in + first_sparse},
                    .dense = {.scalars = k->in + first_dense},
                    .first_default = first_dense + dense};
  return parse_and_finish(&p, &w);
}

static weft_err parse_example_v2_cpu(kernel *k) {
  static const char *const keys[] = {"sparse_keys", "dense_keys", "ragged_keys"};
  static const char *const types[] = {"sparse_types", "Tdense", "ragged_value_types"};
  static const char *const called[] = {"sparse_types", "dense_types", "ragged_value_types"};
  WEFT_TRY(expect_rank(k, 0, 1, "scalar or vector"));
  parse p = {.k = k, .example = k->in[0]->data, .n = weft__tensor_count(k->in[0])};
  p.batch = k->in[0]->shape.rank == 1;
  p.terse = !p.batch;
  WEFT_TRY(take_names(&p, k->in[0], k->in[1]));
  for (int i = 0; i < 3; i++) {
    int n = 0;
    list_attr(k, types[i], &n);
    WEFT_TRY(weft__kernel_vector(k, i + 2, keys[i]));
    WEFT_TRY(same_count(k, keys[i], weft__tensor_count(k->in[i + 2]), called[i], n));
  }
  const wanted w = {.sparse = {.vector = k->in[2]},
                    .dense = {.vector = k->in[3]},
                    .ragged = {.vector = k->in[4]},
                    .first_default = 5};
  return parse_and_finish(&p, &w);
}

static weft_err parse_single_cpu(kernel *k) {
  WEFT_TRY(expect_rank(k, 0, 0, "scalar"));
  parse p = {.k = k, .example = k->in[0]->data, .n = 1, .terse = true};
  int sparse = 0, dense = 0, sparse_types = 0, dense_types = 0;
  wanted w = {.first_default = 1};
  w.sparse.strings = list_attr(k, "sparse_keys", &sparse);
  w.dense.strings = list_attr(k, "dense_keys", &dense);
  list_attr(k, "sparse_types", &sparse_types);
  list_attr(k, "Tdense", &dense_types);
  WEFT_TRY(same_count(k, "sparse_keys", sparse, "sparse_types", sparse_types));
  WEFT_TRY(same_count(k, "dense_keys", dense, "dense_types", dense_types));
  return parse_and_finish(&p, &w);
}

/* ---- shapes ---- */

/* `batch` has the leading dimensions of dense outputs.  The indices of sparse outputs have one column more than
 * batch has dimensions. */
static weft_err infer_outputs(infer *s, const shape *batch) {
  const attr *shapes = weft__node_attr(s->node, "dense_shapes");
  int first = 0, n = 0, n_value = 0;
  const int64_t columns = batch->rank < 0 ? -1 : batch->rank + 1;
  WEFT_TRY(weft__node_out_range(s->node, "sparse_indices", &first, &n));
  WEFT_TRY(weft__node_out_range(s->node, "sparse_values", &first, &n_value));
  if (n != n_value) /* otherwise outputs would be confused, and more written than exist */
    return weft__infer_fail(s, "there are %d sparse features but %d sparse_types", n, n_value);
  for (int i = 0; i < n; i++) {
    s->out[i] = SHAPE2(-1, columns);
    s->out[i + n] = SHAPE1(-1);
    s->out[i + 2 * n] = SHAPE1(columns);
  }
  WEFT_TRY(weft__node_out_range(s->node, "dense_values", &first, &n));
  if (!shapes || shapes->n != n) return weft__infer_fail(s, "len(dense_keys) != len(dense_shapes)");
  for (int i = 0; i < n; i++) {
    const shape *one = &shapes->shapes[i];
    if (batch->rank < 0 || one->rank < 0 || one->rank + batch->rank > WEFT_MAX_RANK) continue;
    s->out[first + i] = *batch;
    memcpy(s->out[first + i].dim + batch->rank, one->dim, (size_t)one->rank * sizeof *one->dim);
    s->out[first + i].rank += one->rank;
  }
  for (int i = first + n; i < s->n_out; i++) s->out[i] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err parse_example_infer(infer *s) {
  shape batch, unused;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &batch));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &unused));
  return infer_outputs(s, &batch);
}

static weft_err parse_example_v2_infer(infer *s) {
  int first = 0, n_value = 0, n_split = 0;
  if (s->in[0].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[0].rank);
  WEFT_TRY(weft__node_out_range(s->node, "ragged_values", &first, &n_value));
  WEFT_TRY(weft__node_out_range(s->node, "ragged_row_splits", &first, &n_split));
  if (n_value != n_split) /* otherwise the kernel would write more outputs than exist */
    return weft__infer_fail(s, "len(ragged_value_types) != len(ragged_split_types): %d and %d", n_value, n_split);
  return infer_outputs(s, &s->in[0]);
}

static weft_err parse_single_infer(infer *s) {
  shape scalar;
  WEFT_TRY(weft__infer_rank(s, 0, 0, &scalar));
  return infer_outputs(s, &scalar);
}

/* Serialized Examples: a = [1, 300]; s = ["x", "yy"]. */
#define EXAMPLE_A "\"\\x0a\\x0e\\x0a\\x0c\\x0a\\x01\\x61\\x12\\x07\\x1a\\x05\\x0a\\x03\\x01\\xac\\x02\""
#define EXAMPLE_S "\"\\x0a\\x10\\x0a\\x0e\\x0a\\x01\\x73\\x12\\x09\\x0a\\x07\\x0a\\x01\\x78\\x0a\\x02\\x79\\x79\""
#define FORMS "sparse_types=[string] dense_shapes=[[2]]"

static const op_case example_cases[] = {
    {"str[2] " EXAMPLE_A " " EXAMPLE_S "; str[0]; str[] \"s\"; str[] \"a\"; i64[2] 7 8",
     "i64[2,2] 1 0 1 1; str[2] \"x\" \"yy\"; i64[2] 2 2; i64[2,2] 1 300 7 8", "Nsparse=1 Ndense=1 " FORMS,
     CASE_FIXED_TYPE},
    {"str[1] " EXAMPLE_S "; str[0]; str[] \"s\"; str[] \"a\"; i64[0]", "error INVALID_ARGUMENT",
     "Nsparse=1 Ndense=1 " FORMS, CASE_FIXED_TYPE},
    {"str[1] \"not one\"; str[0]; str[] \"s\"; str[] \"a\"; i64[0]", "error INVALID_ARGUMENT",
     "Nsparse=1 Ndense=1 " FORMS, CASE_FIXED_TYPE},
    {0},
};
static const op_case example_v2_cases[] = {
    {"str[2] " EXAMPLE_A " " EXAMPLE_S "; str[0]; str[1] \"s\"; str[0]; str[1] \"a\"",
     "i64[2,2] 1 0 1 1; str[2] \"x\" \"yy\"; i64[2] 2 2; i64[2] 1 300; i32[3] 0 2 2",
     "Tdense=[] num_sparse=1 sparse_types=[string] ragged_value_types=[int64] ragged_split_types=[int32] "
     "dense_shapes=[]",
     CASE_FIXED_TYPE},
    {"str[1] " EXAMPLE_A "; str[0]; str[0]; str[0]; str[1] \"a\"", "error INVALID_ARGUMENT",
     "Tdense=[] num_sparse=0 sparse_types=[] ragged_value_types=[int64] ragged_split_types=[] dense_shapes=[]",
     CASE_FIXED_TYPE},
    {"str[1] " EXAMPLE_A "; str[0]; str[0]; str[0]; str[1] \"a\"", "error INVALID_ARGUMENT",
     "Tdense=[] num_sparse=0 sparse_types=[] ragged_value_types=[int64] ragged_split_types=[int32,int64] "
     "dense_shapes=[]",
     CASE_FIXED_TYPE},
    {0},
};
static const op_case single_cases[] = {
    {"str[] " EXAMPLE_A "; i64[0]", "i64[0,1]; str[0]; i64[1] 0; i64[2] 1 300",
     "num_sparse=1 sparse_keys=['s'] dense_keys=['a'] " FORMS, CASE_FIXED_TYPE},
    {"str[] " EXAMPLE_S "; i64[2] 5 6", "i64[2,1] 0 1; str[2] \"x\" \"yy\"; i64[1] 2; i64[2] 5 6",
     "num_sparse=1 sparse_keys=['s'] dense_keys=['a'] " FORMS, CASE_FIXED_TYPE},
    {"str[] " EXAMPLE_S "; i64[0]", "error INVALID_ARGUMENT", "num_sparse=1 sparse_keys=['s'] dense_keys=['a'] " FORMS,
     CASE_FIXED_TYPE},
    {0},
};

OPS(parse_example) = {
    {"ParseExample(serialized:string, names:string, sparse_keys:Nsparse*string, dense_keys:Ndense*string, "
     "dense_defaults:@Tdense) -> (sparse_indices:Nsparse*int64, sparse_values:@sparse_types, "
     "sparse_shapes:Nsparse*int64, dense_values:@Tdense) | Nsparse:int>=0 Ndense:int>=0 "
     "sparse_types:list(type){float,int64,string}>=0 Tdense:list(type){float,int64,string}>=0 "
     "dense_shapes:list(shape)>=0",
     "Features of a batch of serialized Examples.", .infer = parse_example_infer, .cpu = parse_example_cpu,
     .cases = example_cases},
    {"ParseExampleV2(serialized:string, names:string, sparse_keys:string, dense_keys:string, ragged_keys:string, "
     "dense_defaults:@Tdense) -> (sparse_indices:num_sparse*int64, sparse_values:@sparse_types, "
     "sparse_shapes:num_sparse*int64, dense_values:@Tdense, ragged_values:@ragged_value_types, "
     "ragged_row_splits:@ragged_split_types) | Tdense:list(type){float,int64,string}>=0 num_sparse:int>=0 "
     "sparse_types:list(type){float,int64,string}>=0 ragged_value_types:list(type){float,int64,string}>=0 "
     "ragged_split_types:list(type){int32,int64}>=0 dense_shapes:list(shape)>=0",
     "Features of one serialized Example or a batch of them.", .infer = parse_example_v2_infer,
     .cpu = parse_example_v2_cpu, .cases = example_v2_cases},
    {"ParseSingleExample(serialized:string, dense_defaults:@Tdense) -> (sparse_indices:num_sparse*int64, "
     "sparse_values:@sparse_types, sparse_shapes:num_sparse*int64, dense_values:@Tdense) | num_sparse:int>=0 "
     "sparse_keys:list(string)>=0 dense_keys:list(string)>=0 sparse_types:list(type){float,int64,string}>=0 "
     "Tdense:list(type){float,int64,string}>=0 dense_shapes:list(shape)>=0",
     "Features of one serialized Example.", .infer = parse_single_infer, .cpu = parse_single_cpu,
     .cases = single_cases},
    {0},
};
