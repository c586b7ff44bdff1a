/* embedding_sparse.c - combines rows of a table by the rows of a sparse matrix of ids: their sum, mean, or sum divided
 * by the root of the squared weights.
 *
 * A table that is one tensor is read by SparseSegmentSum itself.  Of other tables each id is looked up once.  The safe
 * form drops ids below 0 and ids without weight, and gives rows without ids a value. */
#include "train/model/embedding.h"
#include "train/model/variable_nodes.h"
#include "base/alloc.h"
#include "base/cast.h"
#include <string.h>

/* Returns the kind of combiner: 0 sum, 1 mean, 2 sqrtn; -1 if there is none of that name, and the graph keeps the
 * failure. */
static int combiner_kind(weft_graph *g, const char *name) {
  static const char *const names[] = {"sum", "mean", "sqrtn"};
  for (int i = 0; i < 3; i++)
    if (strcmp(name ? name : "mean", names[i]) == 0) return i;
  weft__named_keep(g,
                   weft__fail(WEFT_INVALID_ARGUMENT, "combiner must be one of 'mean', 'sqrtn' or 'sum', got %s", name));
  return -1;
}

/* x[:, 0] */
static weft_out first_column(weft_graph *g, weft_out x) {
  weft__b_push_name(g, "strided_slice");
  weft_out in[] = {x, weft__named_ints(g, "stack", (int64_t[]){0, 0}, 2),
                   weft__named_ints(g, "stack_1", (int64_t[]){0, 1}, 2),
                   weft__named_ints(g, "stack_2", (int64_t[]){1, 1}, 2)};
  weft_out o = weft__n_scope_node(g, "StridedSlice", 4, in, 3,
                                  (attr[]){A_INT("begin_mask", 1), A_INT("end_mask", 1), A_INT("shrink_axis_mask", 2)});
  weft__b_pop(g);
  return o;
}

/* Returns the one tensor that holds the whole table; WEFT_NONE if it is in parts, in a resource, or its rows are
 * clipped. */
static weft_out whole_table(weft_graph *g, const sparse_lookup *l) {
  if (l->n != 1 || l->opts.max_norm) return WEFT_NONE;
  if (weft__variable_is(g, l->parts[0]) && weft__variable_is_resource(g, l->parts[0])) return WEFT_NONE;
  weft_out table = weft__variable_or_value(g, l->parts[0]);
  return weft__type_of(g, table) == WEFT_RESOURCE ? WEFT_NONE : table;
}

/* Builds the weights, with an axis of length 1 for each axis of a row. */
static weft_out spread_weights(weft_graph *g, weft_out weights, weft_out rows) {
  weights = weft__b_cast(g, weights, weft__type_of(g, rows));
  weft_out axes = weft__named_binary(g, "Sub", "sub", OUT(weft__named_rank(g, rows)), NUM(1));
  weft__b_push_name(g, "ExpandDims");
  weft_out in[] = {axes, weft__n_scalar(g, "dim", WEFT_INT32, 0)};
  axes = weft__n_scope_node(g, "ExpandDims", 2, in, 0, NULL);
  weft__b_pop(g);
  weft__b_push_name(g, "ones");
  weft_out one = weft__n_scalar(g, "Const", WEFT_INT32, 1);
  weft_out ones = weft__n_scope_node(g, "Fill", 2, (weft_out[]){axes, one}, 0, NULL);
  weft__b_pop(g);
  weft_out dims = weft__named_concat(g, weft__named_shape(g, weights), ones, 0);
  return weft__b_reshape(g, weights, dims);
}

/* Builds the rows times their weights, added by segment; the mean is divided by the weights, sqrtn by the root of their
 * squares. */
static weft_out weighted_rows(weft_graph *g, weft_out rows, weft_out weights, weft_out segments, int kind) {
  weights = spread_weights(g, weights, rows);
  rows = weft__named_binary_of(g, "Mul", "mul", rows, weights);
  if (kind == 0) return weft__n_scope_node(g, "SegmentSum", 2, (weft_out[]){rows, segments}, 0, NULL);
  weft_out total = weft__b_binary(g, "SegmentSum", rows, segments);
  if (kind == 2) weights = weft__named_binary(g, "Pow", "Pow", OUT(weights), NUM(2));
  weft_out by = weft__b_binary(g, "SegmentSum", weights, segments);
  if (kind == 2) by = weft__named_unary(g, "Sqrt", "Sqrt", by);
  return weft__n_scope_node(g, "DivNoNan", 2, (weft_out[]){total, by}, 0, NULL);
}

static weft_out lookup_in_scope(weft_graph *g, const sparse_lookup *l, int kind) {
  static const char *const segments[] = {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"};
  const bool weighted = l->weights.node >= 0;
  weft_out of = first_column(g, l->indices), at = l->ids;
  weft_out table = weighted && !l->fast ? WEFT_NONE : whole_table(g, l), found = table;
  if (table.node < 0) {
    weft_out unique = weft__named_unary(g, "Unique", "Unique", l->ids);
    lookup_opts opts = l->opts;
    opts.name = NULL;
    found = weft__embedding_lookup(g, l->n, l->parts, unique, &opts);
    at = weft__b_slot(unique, 1);
  }
  if (weighted) {
    of = weft__b_cast(g, of, WEFT_INT32);
    return weighted_rows(g, weft__named_gather(g, found, at), l->weights, of, kind);
  }
  return weft__n_scope_node(g, segments[kind], 3, (weft_out[]){found, at, of}, 1,
                            &A_BOOL("sparse_gradient", table.node >= 0));
}

weft_out weft__embedding_lookup_sparse(weft_graph *g, const sparse_lookup *l) {
  if (g->sticky.code) return WEFT_NONE;
  const int kind = combiner_kind(g, l->combiner);
  if (kind < 0) return WEFT_NONE;
  weft__named_push(g, l->opts.name, "embedding_lookup_sparse");
  weft_out o = lookup_in_scope(g, l, kind);
  weft__b_pop(g);
  return o;
}

/* ---- the safe form ---- */

/* The sizes of all axes but the last, and of the last. */
typedef struct outer_sizes {
  weft_out dense_shape;
  int rank;      /* -1: known when the graph runs */
  weft_out size; /* the rank then */
} outer_sizes;

static weft_out outer_rank(weft_graph *g, const outer_sizes *s) {
  return s->rank >= 0 ? WEFT_NONE : weft__named_binary(g, "Sub", "sub", OUT(s->size), NUM(1));
}

/* x[0:rank-1] of a vector with an element for each axis. */
static weft_out outer_slice(weft_graph *g, const outer_sizes *s, weft_out x) {
  weft_out count = outer_rank(g, s);
  weft__b_push_name(g, "Slice");
  weft_out begin = weft__named_ints(g, "begin", (int64_t[]){0}, 1);
  weft_out size = s->rank >= 0 ? weft__named_ints(g, "size", (int64_t[]){s->rank - 1}, 1)
                               : weft__named_pack(g, "size", 1, &count, 0);
  weft_out o = weft__n_scope_node(g, "Slice", 3, (weft_out[]){x, begin, size}, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out last_size(weft_graph *g, const outer_sizes *s) {
  weft_out at = outer_rank(g, s);
  weft__b_push_name(g, "GatherV2");
  if (s->rank >= 0) at = weft__n_scalar(g, "indices", WEFT_INT32, s->rank - 1);
  weft_out in[] = {s->dense_shape, at, weft__n_scalar(g, "axis", WEFT_INT32, 0)};
  weft_out o = weft__n_scope_node(g, "GatherV2", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

typedef struct entries { /* of a sparse matrix */
  weft_out indices, values, dense_shape;
} entries;

/* Builds the ids as a matrix: all axes but the last become one. */
static entries as_matrix(weft_graph *g, const sparse_lookup *l, const outer_sizes *s) {
  weft_out sizes[2] = {weft__named_reduce(g, "Prod", "Prod", outer_slice(g, s, s->dense_shape))};
  sizes[1] = last_size(g, s);
  weft__b_push_name(g, "Cast");
  weft_out to = weft__named_pack(g, "x", 2, sizes, 0);
  weft__b_pop(g);
  weft__b_push_name(g, "SparseReshape");
  weft_out o = weft__n_scope_node(g, "SparseReshape", 3, (weft_out[]){l->indices, s->dense_shape, to}, 0, NULL);
  entries m = {o, weft__named_unary(g, "Identity", "Identity", l->ids), weft__b_slot(o, 1)};
  weft__b_pop(g);
  return m;
}

/* tf.sparse.retain */
static entries entries_retain(weft_graph *g, entries m, weft_out keep) {
  weft_out at = weft__named_reshape(g, weft__named_unary(g, "Where", "Where", keep), 1, (int64_t[]){-1});
  entries kept = {weft__named_gather(g, m.indices, at), WEFT_NONE, WEFT_NONE};
  kept.values = weft__named_gather(g, m.values, at);
  kept.dense_shape = weft__named_unary(g, "Identity", "Identity", m.dense_shape);
  return kept;
}

/* Drops entries that are not valid; weights.values is WEFT_NONE if there are none. */
static void retain_valid(weft_graph *g, entries *ids, entries *weights, bool positive) {
  const bool weighted = weights->values.node >= 0;
  weft_out valid = weft__named_binary(g, "GreaterEqual", "GreaterEqual", OUT(ids->values), NUM(0));
  if (weighted) /* the ones are TensorFlow's: the seeds of what is drawn later count nodes */
    valid = weft__b_binary(g, "LogicalAnd", valid, weft__named_ones_like(g, weights->values, WEFT_BOOL));
  *ids = entries_retain(g, *ids, valid);
  if (!weighted) return;
  *weights = entries_retain(g, *weights, valid);
  if (!positive) return;
  valid = weft__named_binary(g, "Greater", "Greater", OUT(weights->values), NUM(0));
  *ids = entries_retain(g, *ids, valid);
  *weights = entries_retain(g, *weights, valid);
}

/* tf.sparse.fill_empty_rows; returns which rows were empty. */
static weft_out fill_empty_rows(weft_graph *g, entries *m, term value) {
  weft__b_push_name(g, "SparseFillEmptyRows");
  weft_out in[] = {m->indices, m->values, m->dense_shape,
                   weft__named_term(g, "Const", value, weft__type_of(g, m->values))};
  weft_out o = weft__b_node(g, "SparseFillEmptyRows", NULL, 4, in, 0, NULL);
  weft__b_pop(g);
  *m = (entries){o, weft__b_slot(o, 1), m->dense_shape};
  return weft__b_slot(o, 2);
}

/* Builds the rows, with zeros for those that were empty. */
static weft_out clear_rows(weft_graph *g, weft_out rows, weft_out empty) {
  empty = weft__named_reshape(g, empty, 2, (int64_t[]){-1, 1});
  weft_out width = weft__named_element(g, weft__named_shape(g, rows), 1);
  weft__b_push_name(g, "stack");
  weft_out times[] = {weft__n_scalar(g, "0", WEFT_INT32, 1), width};
  weft_out multiples = weft__n_scope_node(g, "Pack", 2, times, 1, &A_INT("N", 2));
  weft__b_pop(g);
  empty = weft__b_binary(g, "Tile", empty, multiples);
  weft_out zeros = weft__named_unary(g, "ZerosLike", "zeros_like", rows);
  return weft__n_scope_node(g, "Select", 3, (weft_out[]){empty, zeros, rows}, 0, NULL);
}

/* Builds the rows in the shape that the ids had without their last axis. */
static weft_out restore_axes(weft_graph *g, weft_out rows, const outer_sizes *s, const shape *row) {
  weft_out outer = outer_slice(g, s, weft__b_cast(g, s->dense_shape, WEFT_INT32));
  weft_out dims = weft__named_shape(g, rows);
  weft__b_push_name(g, "Slice");
  weft_out in[] = {dims, weft__named_ints(g, "begin", (int64_t[]){1}, 1),
                   weft__named_ints(g, "size", (int64_t[]){-1}, 1)};
  weft_out inner = weft__n_scope_node(g, "Slice", 3, in, 0, NULL);
  weft__b_pop(g);
  weft_out o = weft__b_reshape(g, rows, weft__named_concat(g, outer, inner, 0));
  shape known = {.rank = row->rank < 1 || s->rank < 0 ? -1 : s->rank + row->rank - 2};
  if (known.rank < 0 || known.rank > WEFT_MAX_RANK) return o;
  for (int i = 0; i < known.rank; i++) known.dim[i] = i < s->rank - 1 ? -1 : row->dim[i - s->rank + 2];
  weft__named_set_shape(g, o, &known);
  return o;
}

static weft_out safe_in_scope(weft_graph *g, const sparse_lookup *l) {
  const shape sizes = *weft__shape_of(g, l->dense_shape);
  const bool known = sizes.rank == 1 && sizes.dim[0] > 0 && sizes.dim[0] <= WEFT_MAX_RANK;
  outer_sizes s = {l->dense_shape, known ? weft__int_sat(sizes.dim[0]) : -1, WEFT_NONE};
  if (s.rank < 0) s.size = weft__named_unary(g, "Size", "Size", l->dense_shape);
  entries ids = as_matrix(g, l, &s), weights = {ids.indices, l->weights, ids.dense_shape};
  retain_valid(g, &ids, &weights, !l->combiner || strcmp(l->combiner, "sum") != 0);
  weft_out empty = fill_empty_rows(g, &ids, l->default_id ? *l->default_id : NUM(0));
  if (weights.values.node >= 0) fill_empty_rows(g, &weights, NUM(1));
  char *exact = l->default_id ? weft__named_scope_exact(g) : NULL;
  sparse_lookup inner = *l;
  inner.opts.name = exact;
  inner.indices = ids.indices, inner.ids = ids.values, inner.weights = weights.values;
  weft_out rows = weft__embedding_lookup_sparse(g, &inner);
  weft__free(exact);
  const shape row = *weft__shape_of(g, rows);
  if (!l->default_id) rows = clear_rows(g, rows, empty);
  return restore_axes(g, rows, &s, &row);
}

/* TensorFlow converts the table to the type of the weights, which it refuses unless they are equal. */
static bool same_types(weft_graph *g, const sparse_lookup *l) {
  for (int i = 0; i < l->n && l->weights.node >= 0; i++) {
    const bool variable = weft__variable_is(g, l->parts[i]);
    weft_dtype table = variable ? weft__variable_type(g, l->parts[i]) : weft__type_of(g, l->parts[i]);
    weft_dtype weights = weft__type_of(g, l->weights);
    if (table != weights)
      return weft__named_keep(g,
                              weft__fail(WEFT_INVALID_ARGUMENT,
                                         "safe_embedding_lookup_sparse: the weights are %s but the table is %s: cast "
                                         "the weights",
                                         weft__dtype_name(weights), weft__dtype_name(table)));
  }
  return true;
}

weft_out weft__safe_embedding_lookup_sparse(weft_graph *g, const sparse_lookup *l) {
  if (g->sticky.code || combiner_kind(g, l->combiner) < 0 || !same_types(g, l)) return WEFT_NONE;
  weft__named_push(g, l->opts.name, "embedding_lookup");
  weft_out o = safe_in_scope(g, l);
  weft__b_pop(g);
  return o;
}
