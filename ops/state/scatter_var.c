/* scatter_var.c - updates and reads rows or single elements of a variable.
 *
 * All indices are checked before the first write, so an update that fails leaves the variable unchanged.  The rows
 * of the variable are divided among the threads.  Each thread applies the updates of its own rows in input order, so
 * repeated indices give the same result with any number of threads.  A gather holds the variable's lock and does not
 * share its buffer.  If it shared the buffer, the next update of a large table would have to copy the whole table. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/prefetch.h"
#include "base/row_parts.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "state/combine.h"
#include "state/deferred.h"
#include <stdio.h>

/* ---- places: a list of offsets into the variable, each the start of `width` elements ---- */

typedef struct places {
  int64_t count, width, limit; /* limit: the number of places of that width in the variable */
  int64_t *at;                 /* place numbers, 0 <= at[i] < limit */
} places;

static inline int64_t scatter_var_index_at(const weft_tensor *t, int64_t i) {
  return t->dtype == WEFT_INT64 ? TENSOR_DATA(t, int64_t)[i] : TENSOR_DATA(t, int32_t)[i];
}

/* Reads indices of any shape as row numbers along axis 0 of params. */
static weft_err row_places(kernel *k, const weft_tensor *indices, const shape *params, places *out) {
  *out = (places){weft__tensor_count(indices), weft__shape_product(params, 1, params->rank), params->dim[0], NULL};
  if (!(out->at = weft__alloc((size_t)out->count * sizeof *out->at + 1))) return WEFT_OOM;
  for (int64_t i = 0; i < out->count; i++) {
    out->at[i] = scatter_var_index_at(indices, i);
    if (out->at[i] < 0 || out->at[i] >= out->limit)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = %lld is not in [0, %lld)", (long long)i,
                               (long long)out->at[i], (long long)out->limit);
  }
  return WEFT_OK;
}

static weft_err bad_place(kernel *k, const weft_tensor *indices, int64_t i, int depth, const shape *params) {
  char text[256];
  size_t used = 0;
  for (int d = 0; d < depth && used + 24 < sizeof text; d++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", d ? ", " : "",
                             (long long)scatter_var_index_at(indices, i * depth + d));
  text[used] = 0;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = [%s] does not index into %sshape %s",
                           (long long)i, text, k->n_out && k->n_in == 2 ? "param " : "", weft__shape_text(params));
}

/* Reads the last axis of indices as coordinates in the leading `depth` axes of params. */
static weft_err nd_places(kernel *k, const weft_tensor *indices, const shape *params, places *out) {
  int depth = weft__int_sat(indices->shape.dim[indices->shape.rank - 1]);
  *out = (places){weft__shape_product(&indices->shape, 0, indices->shape.rank - 1),
                  weft__shape_product(params, depth, params->rank), weft__shape_product(params, 0, depth), NULL};
  if (!(out->at = weft__alloc((size_t)out->count * sizeof *out->at + 1))) return WEFT_OOM;
  for (int64_t i = 0; i < out->count; i++) {
    int64_t at = 0;
    for (int d = 0; d < depth; d++) {
      int64_t x = scatter_var_index_at(indices, i * depth + d);
      if (x < 0 || x >= params->dim[d]) return bad_place(k, indices, i, depth, params);
      at = at * params->dim[d] + x;
    }
    out->at[i] = at;
  }
  return WEFT_OK;
}

/* ---- writing ---- */

typedef struct scatter {
  combine_op what;
  weft_dtype dtype;
  const places *p;
  char *params;
  const char *updates;
  int stride; /* 0 if one scalar updates all places */
  row_parts parts;
} scatter;

static weft_err scatter_one(const scatter *s, int64_t i) {
  size_t size = weft__dtype_size(s->dtype), width = (size_t)s->p->width;
  char *row = s->params + (size_t)s->p->at[i] * width * size;
  const char *from = s->updates + (s->stride ? (size_t)i * width * size : 0);
  if (!weft__dtype_is_plain(s->dtype))
    return s->stride ? weft__elements_copy(s->dtype, row, from, s->p->width)
                     : weft__elements_fill(s->dtype, row, from, s->p->width);
  weft__combine(s->what, s->dtype, row, row, from, s->stride, s->p->width);
  return WEFT_OK;
}

/* Asks for the memory of place i + PREFETCH_ROWS, if there is one. */
static inline void prefetch_later(const places *p, int64_t i, const char *params, size_t row) {
  if (i + PREFETCH_ROWS < p->count) weft__prefetch(params + (size_t)p->at[i + PREFETCH_ROWS] * row, row);
}

static void scatter_parts(void *arg, int64_t begin, int64_t end) {
  scatter *s = arg;
  const size_t row = (size_t)s->p->width * weft__dtype_size(s->dtype);
  for (int64_t part = begin; part < end; part++)
    for (int64_t i = 0; i < s->p->count; i++) {
      if (!weft__row_parts_owns(s->parts, part, s->p->at[i])) continue;
      prefetch_later(s->p, i, s->params, row);
      scatter_one(s, i);
    }
}

static weft_err scatter_places(kernel *k, weft_tensor *params, combine_op what, const places *p,
                               const weft_tensor *updates) {
  int stride = updates->shape.rank > 0 || p->count * p->width <= 1;
  scatter s = {what, params->dtype, p, params->data, updates->data, stride, {.parts = 1}};
  int64_t work = p->count * p->width;
  if (weft__dtype_is_plain(params->dtype)) {
    pool *threads = work > 1 << 15 ? k->step->intra : NULL;
    s.parts = weft__row_parts(weft__pool_threads(threads), (size_t)p->width * weft__dtype_size(params->dtype));
    weft__pool_loop(threads, s.parts.parts, 1, scatter_parts, &s);
    return WEFT_OK;
  }
  for (int64_t i = 0; i < p->count; i++) WEFT_TRY(scatter_one(&s, i));
  return WEFT_OK;
}

static weft_err rows_fit(kernel *k, const shape *params, const shape *indices, const shape *updates) {
  bool fits = updates->rank == 0 || updates->rank == indices->rank + params->rank - 1;
  for (int d = 0; fits && updates->rank && d < updates->rank; d++)
    fits = updates->dim[d] == (d < indices->rank ? indices->dim[d] : params->dim[d - indices->rank + 1]);
  if (params->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1-D, got shape %s",
                             weft__shape_text(params));
  if (fits) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                           "updates.shape %s, indices.shape %s, params.shape %s",
                           weft__shape_text(updates), weft__shape_text(indices), weft__shape_text(params));
}

static weft_err nd_fits(kernel *k, const shape *params, const shape *indices, const shape *updates) {
  if (params->rank < 1 || indices->rank < 1 || updates->rank < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Output, indices and updates must each be at least 1-D, got shapes %s, %s and %s",
                             weft__shape_text(params), weft__shape_text(indices), weft__shape_text(updates));
  int outer = indices->rank - 1;
  int64_t depth = indices->dim[outer];
  if (depth == 0 && weft__shape_count(updates) > 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Indices and updates specified for empty output.  indices shape: %s",
                             weft__shape_text(indices));
  for (int d = 0; d < outer; d++)
    if (d >= updates->rank || updates->dim[d] != indices->dim[d])
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", outer,
          weft__shape_text(indices), outer, weft__shape_text(updates));
  bool fits = depth <= params->rank && updates->rank - outer == params->rank - depth;
  for (int d = 0; fits && d < updates->rank - outer; d++) fits = updates->dim[outer + d] == params->dim[depth + d];
  if (fits) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]",
                           (long long)depth, params->rank, weft__shape_text(params), outer, updates->rank,
                           weft__shape_text(updates));
}

static weft_err scatter_locked(kernel *k, variable *v, combine_op what, bool nd) {
  const weft_tensor *indices = k->in[1], *updates = k->in[2];
  weft_tensor *params = NULL;
  places p = {0};
  if (!v->value.buf) return weft__variable_fail_uninitialized(k, v);
  if (updates->dtype != v->dtype || (what != COMBINE_SET && !weft__combine_has(what, v->dtype)))
    return weft__kernel_no_type(k, updates->dtype);
  shape now = v->value.shape;
  WEFT_TRY((nd ? nd_fits : rows_fit)(k, &now, &indices->shape, &updates->shape));
  weft_err err = (nd ? nd_places : row_places)(k, indices, &now, &p);
  if (err == WEFT_OK) err = weft__variable_writable(v, &params);
  if (err == WEFT_OK) err = scatter_places(k, params, what, &p, updates);
  weft__free(p.at);
  return err;
}

static weft_err scatter_variable(kernel *k, combine_op what, bool nd) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft__variable_lock(1, &v);
  weft_err err = scatter_locked(k, v, what, nd);
  weft__variable_unlock(1, &v);
  if (err == WEFT_OK && k->n_out) weft__out_ref(k, 0, v);
  return err;
}

#define SCATTER(name, what)                                                                                            \
  static weft_err name##_cpu(kernel *k) { return scatter_variable(k, what, false); }                                   \
  static weft_err name##_nd_cpu(kernel *k) { return scatter_variable(k, what, true); }
SCATTER(set, COMBINE_SET)
SCATTER(add, COMBINE_ADD)
SCATTER(sub, COMBINE_SUB)
SCATTER(min, COMBINE_MIN)
SCATTER(max, COMBINE_MAX)
static weft_err scatter_var_mul_cpu(kernel *k) { return scatter_variable(k, COMBINE_MUL, false); }
static weft_err scatter_var_div_cpu(kernel *k) { return scatter_variable(k, COMBINE_DIV, false); }

/* ---- reading ---- */

typedef struct gather {
  const places *p;
  size_t row; /* bytes */
  const char *params;
  char *out;
} gather;

static void gather_range(void *arg, int64_t begin, int64_t end) {
  const gather *g = arg;
  for (int64_t i = begin; i < end; i++) {
    prefetch_later(g->p, i, g->params, g->row);
    memcpy(g->out + (size_t)i * g->row, g->params + (size_t)g->p->at[i] * g->row, g->row);
  }
}

static weft_err gather_places(kernel *k, const weft_tensor *params, const places *p, weft_tensor *out) {
  size_t size = weft__dtype_size(params->dtype);
  gather g = {p, (size_t)p->width * size, params->data, out->data};
  if (weft__dtype_is_plain(params->dtype)) {
    weft__kernel_loop(k, p->count, (int64_t)(g.row / 16) + 2, gather_range, &g);
    return WEFT_OK;
  }
  for (int64_t i = 0; i < p->count; i++)
    WEFT_TRY(
        weft__elements_copy(params->dtype, g.out + (size_t)i * g.row, g.params + (size_t)p->at[i] * g.row, p->width));
  return WEFT_OK;
}

/* Turns row numbers within a batch into row numbers of the whole tensor. */
static void add_batch_offsets(places *p, int64_t batches, int64_t rows) {
  int64_t each = batches ? p->count / batches : 0;
  for (int64_t i = 0; i < p->count; i++) p->at[i] += i / each * rows;
}

/* If `joined` is set, deferred steps of the rows are applied before the rows are read (state/deferred.h).  Then
 * batch_dims is 0. */
static weft_err scatter_var_gather_rows(kernel *k, const weft_tensor *params, deferred_updates *joined) {
  const weft_tensor *indices = k->in[1];
  int batch = weft__int_sat(weft__node_int(k->node, "batch_dims", 0));
  if (batch < 0) batch += indices->shape.rank;
  if (params->shape.rank <= batch || indices->shape.rank < batch || batch < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least %lld dimensional, got shape %s",
                             (long long)batch + 1, weft__shape_text(&params->shape));
  shape of = {params->shape.rank - batch, {0}}, result = indices->shape;
  memcpy(of.dim, params->shape.dim + batch, (size_t)of.rank * sizeof *of.dim);
  for (int d = 0; d < batch; d++)
    if (indices->shape.dim[d] != params->shape.dim[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Batch dimensions of params %s and indices %s must match in axis %d",
                               weft__shape_text(&params->shape), weft__shape_text(&indices->shape), d);
  if (result.rank + of.rank - 1 > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have rank %d", result.rank + of.rank - 1);
  for (int d = 1; d < of.rank; d++) result.dim[result.rank++] = of.dim[d];
  weft_tensor *out = weft__out(k, 0, &result);
  if (!out) return WEFT_OOM;
  places p = {0};
  weft_err err = row_places(k, indices, &of, &p);
  if (err == WEFT_OK) {
    if (batch && p.count) add_batch_offsets(&p, weft__shape_product(&indices->shape, 0, batch), of.dim[0]);
    if (joined) weft__deferred_catch_up(joined, indices, k->step->intra);
    err = gather_places(k, params, &p, out);
  }
  weft__free(p.at);
  return err;
}

static weft_err gather_nd(kernel *k, const weft_tensor *params) {
  const weft_tensor *indices = k->in[1];
  int outer = indices->shape.rank - 1;
  if (outer < 0 || indices->shape.dim[outer] > params->shape.rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "index innermost dimension length must be <= params rank; saw: %s vs. %d",
                             weft__shape_text(&indices->shape), params->shape.rank);
  shape result = indices->shape;
  result.rank = outer;
  for (int d = weft__int_sat(indices->shape.dim[outer]); d < params->shape.rank && result.rank < WEFT_MAX_RANK; d++)
    result.dim[result.rank++] = params->shape.dim[d];
  weft_tensor *out = weft__out(k, 0, &result);
  if (!out) return WEFT_OOM;
  places p = {0};
  weft_err err = nd_places(k, indices, &params->shape, &p);
  if (err == WEFT_OK) err = gather_places(k, params, &p, out);
  weft__free(p.at);
  return err;
}

static weft_err scatter_var_gather_cpu(kernel *k) {
  variable *v = NULL;
  deferred_updates *joined = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (v->dtype != k->node->out_type[0]) return weft__kernel_no_type(k, v->dtype);
  if (weft__node_int(k->node, "batch_dims", 0) == 0)
    weft__deferred_lock_rows(v, &joined);
  else
    weft__variable_lock(1, &v);
  weft_err err = v->value.buf ? scatter_var_gather_rows(k, &v->value, joined) : weft__variable_fail_uninitialized(k, v);
  weft__deferred_unlock_rows(v, joined);
  return err;
}

static weft_err gather_nd_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (v->dtype != k->node->out_type[0]) return weft__kernel_no_type(k, v->dtype);
  weft__variable_lock(1, &v);
  weft_err err = v->value.buf ? gather_nd(k, &v->value) : weft__variable_fail_uninitialized(k, v);
  weft__variable_unlock(1, &v);
  return err;
}

/* ---- shape rules ---- */

static weft_err scatter_infer(infer *s) {
  weft_dtype type;
  shape var, rows, merged;
  weft__infer_variable(s, 0, &type, &var);
  if (s->n_out) s->out[0] = s->in[0];
  if (var.rank == 0) return weft__infer_fail(s, "Shape must be at least rank 1 but is rank 0");
  if (var.rank < 0 || s->in[1].rank < 0 || s->in[2].rank <= 0) return WEFT_OK;
  rows = s->in[1];
  for (int d = 1; d < var.rank && rows.rank < WEFT_MAX_RANK; d++) rows.dim[rows.rank++] = var.dim[d];
  if (weft__shape_merge(&merged, &s->in[2], &rows) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

static weft_err scatter_nd_infer(infer *s) {
  weft_dtype type;
  shape var;
  weft__infer_variable(s, 0, &type, &var);
  if (s->n_out) s->out[0] = s->in[0];
  const shape *indices = &s->in[1], *updates = &s->in[2];
  if (var.rank < 0 || indices->rank < 1 || updates->rank < 0) return WEFT_OK;
  int outer = indices->rank - 1;
  int64_t depth = indices->dim[outer];
  for (int d = 0; d < outer && d < updates->rank; d++)
    if (indices->dim[d] >= 0 && updates->dim[d] >= 0 && indices->dim[d] != updates->dim[d])
      return weft__infer_fail(
          s, "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", outer,
          weft__shape_text(indices), outer, weft__shape_text(updates));
  if (depth >= 0 && (depth > var.rank || updates->rank != outer + var.rank - depth))
    return weft__infer_fail(
        s, "Dimensions [%lld,%d) of input[shape=%s] must match dimensions [%d,%d) of updates[shape=%s]",
        (long long)depth, var.rank, weft__shape_text(&var), outer, updates->rank, weft__shape_text(updates));
  return WEFT_OK;
}

static weft_err scatter_var_gather_infer(infer *s) {
  weft_dtype type;
  shape var;
  weft__infer_variable(s, 0, &type, &var);
  if (type != WEFT_INVALID && type != s->node->out_type[0])
    return weft__infer_fail(s, "Trying to read variable with wrong dtype. Expected %s got %s", weft__dtype_short(type),
                            weft__dtype_short(s->node->out_type[0]));
  int batch = weft__int_sat(weft__node_int(s->node, "batch_dims", 0));
  if (var.rank == 0) return weft__infer_fail(s, "Shape must be at least rank 1 but is rank 0");
  if (var.rank < 0 || s->in[1].rank < 0) return WEFT_OK;
  if (batch < 0) batch += s->in[1].rank;
  if (batch < 0 || batch >= var.rank || batch > s->in[1].rank)
    return weft__infer_fail(s, "batch_dims %d does not fit a variable of rank %d", batch, var.rank);
  s->out[0] = s->in[1];
  for (int d = batch + 1; d < var.rank && s->out[0].rank < WEFT_MAX_RANK; d++)
    s->out[0].dim[s->out[0].rank++] = var.dim[d];
  return WEFT_OK;
}

static weft_err gather_nd_infer(infer *s) {
  weft_dtype type;
  shape var;
  weft__infer_variable(s, 0, &type, &var);
  const shape *indices = &s->in[1];
  if (var.rank < 0 || indices->rank < 1 || indices->dim[indices->rank - 1] < 0) return WEFT_OK;
  int64_t depth = indices->dim[indices->rank - 1];
  if (depth > var.rank)
    return weft__infer_fail(s,
                            "indices.shape[-1] must be <= params.rank, but saw indices shape: %s and params shape: %s",
                            weft__shape_text(indices), weft__shape_text(&var));
  s->out[0] = *indices;
  s->out[0].rank--;
  for (int64_t d = depth; d < var.rank && s->out[0].rank < WEFT_MAX_RANK; d++)
    s->out[0].dim[s->out[0].rank++] = var.dim[d];
  return WEFT_OK;
}

/* ---- gradients ---- */

/* Returns the shape of the variable as a vector: a constant if the shape is known. */
static weft_out variable_shape(backprop *b) {
  weft_dtype type;
  shape var;
  weft__variable_declared(b->graph, b->in[0], &type, &var);
  if (weft__shape_known(&var)) return weft__b_ints(b->graph, var.dim, var.rank);
  return weft__b_node(b->graph, "VariableShape", NULL, 1, b->in, 1, (attr[]){A_TYPE("out_type", WEFT_INT32)});
}

/* Returns x[1:] of a vector. */
static weft_out scatter_var_tail(weft_graph *g, weft_out x) {
  const int64_t zero = 0, one = 1;
  weft_out in[4] = {x, weft__b_ints(g, &one, 1), weft__b_ints(g, &zero, 1), weft__b_ints(g, &one, 1)};
  return weft__b_node(g, "StridedSlice", NULL, 4, in, 1, (attr[]){A_INT("end_mask", 1)});
}

static weft_err scatter_var_gather_grad(backprop *b) {
  weft_graph *g = b->graph;
  const int64_t zero = 0, minus_one = -1;
  weft_out all = weft__b_reshape(g, weft__b_size(g, b->in[1]), weft__b_ints(g, (int64_t[]){1}, 1));
  weft_out of = variable_shape(b), rows[2] = {all, scatter_var_tail(g, of)};
  weft_out to = weft__b_concat(g, 2, rows, weft__b_scalar(g, WEFT_INT32, (double)zero));
  b->din[0] = (grad_value){WEFT_NONE, weft__b_reshape(g, b->in[1], weft__b_ints(g, &minus_one, 1)),
                           weft__b_reshape(g, b->dout[0], to), of};
  return WEFT_OK;
}

static weft_err gather_nd_grad(backprop *b) {
  weft_graph *g = b->graph;
  const shape *indices = weft__out_shape(g, b->in[1]);
  weft_out of = variable_shape(b);
  const int64_t minus_one = -1;
  if (indices->rank == 2 && indices->dim[1] == 1) {
    b->din[0] = (grad_value){WEFT_NONE, weft__b_reshape(g, b->in[1], weft__b_ints(g, &minus_one, 1)), b->dout[0], of};
    return WEFT_OK;
  }
  weft_out in[3] = {b->in[1], b->dout[0], weft__b_cast(g, of, weft__out_type(g, b->in[1]))};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "ScatterNd", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

/* ---- cases and table ---- */

static const op_case scatter_cases[] = {
    {"&f32[3,2] seq; i32[2] 0 2; f32[2,2] 1 2 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i64[3] 1 1 1; f32[3,2] pos", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[] 1; f32[2] 7 8", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2,2] 0 1 1 0; f32[2,2,2] pos", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2] 0 2; f32[] 9", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[0] 0; f32[0,2] 0", NULL, NULL, CASE_NO_GRAD},
    {"&f32[500,200] seq; i32[400] below:500; f32[400,200] pos", NULL, NULL, CASE_NO_GRAD},
    {"&i32[4] 7 8 9 10; i32[3] 3 0 3; i32[3] 2 3 4", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&f32[3,2] seq; i32[2] 0 3; f32[2,2] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2] 0 1; f32[4] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case update_cases[] = {
    {"&f32[3,2] seq; i32[2] 0 2; f32[2,2] 1 2 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i64[2] 0 2; f32[] 9", NULL, NULL, CASE_NO_GRAD},
    {"&bool[3] true; i32[1] 1; bool[1] false", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&f32[3,2] seq; i32[2] 0 -1; f32[2,2] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case string_cases[] = {
    {"&f32[3,2] seq; i32[2] 0 2; f32[2,2] 1 2 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&str[3] \"a\" \"b\" \"c\"; i32[2] 2 0; str[2] \"yy\" \"z\"", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case nd_cases[] = {
    {"&f32[3,2] seq; i32[2,2] 0 1 2 0; f32[2] 7 8", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i64[2,1] 2 0; f32[2,2] pos", NULL, NULL, CASE_NO_GRAD},
    {"&f32[8] seq; i32[3,1] 1 5 7; f32[3] 1 2 3", NULL, NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2,2] 0 1 3 0; f32[2] 7 8", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2,1] 0 1; f32[2] 7 8", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case gather_cases[] = {
    {"&f32[3,2] seq; i32[4] 2 0 0 1", NULL, "dtype=float", 0},
    {"&f32[3,2] seq; i64[2,2] 2 0 0 1", NULL, "dtype=float", 0},
    {"&f32[4] seq; i32[] 2", NULL, "dtype=float", 0},
    {"&f32[3,2] seq; i32[0] 0", NULL, "dtype=float", 0},
    {"&f32[3,2,2] seq; i32[3,2] 0 1 1 0 1 1", NULL, "dtype=float batch_dims=1", CASE_NO_GRAD},
    {"&f32[3,2] seq; i32[2] 2 3", "error INVALID_ARGUMENT", "dtype=float", 0},
    {0},
};
static const op_case gather_nd_cases[] = {
    {"&f32[3,2] seq; i32[2,2] 0 1 2 0", NULL, "dtype=float", 0},
    {"&f32[3,2] seq; i32[2,1] 2 2", NULL, "dtype=float", 0},
    {"&f32[3,2] seq; i32[1,2] 3 0", "error INVALID_ARGUMENT", "dtype=float", 0},
    {0},
};

static const fusion adds_rows = {ROLE_ADD_ROWS};
static const fusion gather_fusion = {.role = ROLE_LOOKUP};

#define REF(NAME, TYPES, LOCK, DOC, FN, INFER, CASES, STOPS)                                                           \
  {                                                                                                                    \
    NAME "(ref:&T, indices:Tindices, updates:T) -> (output_ref:&T) | T:type" TYPES                                     \
         " Tindices:type{int32,int64} use_locking:bool=" LOCK,                                                         \
        DOC, .infer = INFER, .cpu = FN, .no_grad = STOPS, .cases = CASES                                               \
  }
#define RESOURCE(NAME, TYPES, DOC, FN, CASES)                                                                          \
  {                                                                                                                    \
    NAME "(resource:resource, indices:Tindices, updates:dtype) -> () | dtype:type" TYPES                               \
         " Tindices:type{int32,int64} ; stateful",                                                                     \
        DOC, .infer = scatter_infer, .cpu = FN, .cases = CASES                                                         \
  }
#define RESOURCE_ND(NAME, DOC, FN)                                                                                     \
  {                                                                                                                    \
    NAME                                                                                                               \
        "(ref:resource, indices:Tindices, updates:T) -> () | T:type Tindices:type{int32,int64} use_locking:bool=true " \
        "; stateful",                                                                                                  \
        DOC, .infer = scatter_nd_infer, .cpu = FN, .cases = nd_cases                                                   \
  }
#define ADD_ROWS add_cpu, .fusion = &adds_rows
#define ORDERED "{half,bfloat16,float,double,int32,int64}"

OPS(scatter_var) = {
    REF("ScatterUpdate", "", "true", "Replaces rows of a variable.", set_cpu, scatter_infer, update_cases, false),
    REF("ScatterAdd", "{number}", "false", "Adds to rows of a variable.", ADD_ROWS, scatter_infer, scatter_cases, true),
    REF("ScatterSub", "{number}", "false", "Subtracts from rows of a variable.", sub_cpu, scatter_infer, scatter_cases,
        true),
    REF("ScatterMul", "{number}", "false", "Multiplies rows of a variable.", scatter_var_mul_cpu, scatter_infer,
        scatter_cases, true),
    REF("ScatterDiv", "{number}", "false", "Divides rows of a variable.", scatter_var_div_cpu, scatter_infer,
        scatter_cases, true),
    REF("ScatterMin", ORDERED, "false", "Lowers rows of a variable.", min_cpu, scatter_infer, scatter_cases, false),
    REF("ScatterMax", ORDERED, "false", "Raises rows of a variable.", max_cpu, scatter_infer, scatter_cases, false),
    REF("ScatterNdUpdate", "", "true", "Replaces places of a variable.", set_nd_cpu, scatter_nd_infer, nd_cases, true),
    REF("ScatterNdAdd", "{number}", "false", "Adds to places of a variable.", add_nd_cpu, scatter_nd_infer, nd_cases,
        true),
    REF("ScatterNdSub", "{number}", "false", "Subtracts from places of a variable.", sub_nd_cpu, scatter_nd_infer,
        nd_cases, true),
    REF("ScatterNdMin", "{number}", "false", "Lowers places of a variable.", min_nd_cpu, scatter_nd_infer, nd_cases,
        false),
    REF("ScatterNdMax", "{number}", "false", "Raises places of a variable.", max_nd_cpu, scatter_nd_infer, nd_cases,
        false),
    RESOURCE("ResourceScatterUpdate", "", "Replaces rows of a variable.", set_cpu, string_cases),
    RESOURCE("ResourceScatterAdd", "{number}", "Adds to rows of a variable.", ADD_ROWS, scatter_cases),
    RESOURCE("ResourceScatterSub", "{number}", "Subtracts from rows of a variable.", sub_cpu, scatter_cases),
    RESOURCE("ResourceScatterMul", "{number}", "Multiplies rows of a variable.", scatter_var_mul_cpu, scatter_cases),
    RESOURCE("ResourceScatterDiv", "{number}", "Divides rows of a variable.", scatter_var_div_cpu, scatter_cases),
    RESOURCE("ResourceScatterMin", "{number}", "Lowers rows of a variable.", min_cpu, scatter_cases),
    RESOURCE("ResourceScatterMax", "{number}", "Raises rows of a variable.", max_cpu, scatter_cases),
    RESOURCE_ND("ResourceScatterNdUpdate", "Replaces places of a variable.", set_nd_cpu),
    RESOURCE_ND("ResourceScatterNdAdd", "Adds to places of a variable.", add_nd_cpu),
    RESOURCE_ND("ResourceScatterNdSub", "Subtracts from places of a variable.", sub_nd_cpu),
    RESOURCE_ND("ResourceScatterNdMin", "Lowers places of a variable.", min_nd_cpu),
    RESOURCE_ND("ResourceScatterNdMax", "Raises places of a variable.", max_nd_cpu),
    {"ResourceGather(resource:resource, indices:Tindices) -> (output:dtype) | batch_dims:int=0 "
     "validate_indices:bool=true dtype:type Tindices:type{int32,int64} ; stateful",
     "Rows of a variable.", .infer = scatter_var_gather_infer, .cpu = scatter_var_gather_cpu,
     .grad = scatter_var_gather_grad, .cases = gather_cases, .fusion = &gather_fusion},
    {"ResourceGatherNd(resource:resource, indices:Tindices) -> (output:dtype) | dtype:type Tindices:type{int32,int64} "
     "; stateful",
     "Places of a variable.", .infer = gather_nd_infer, .cpu = gather_nd_cpu, .grad = gather_nd_grad,
     .cases = gather_nd_cases},
    {0},
};
