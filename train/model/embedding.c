/* embedding.c - looks up rows of a table, which may be partitioned over several ps.
 *
 * Each part's rows are gathered on the ps that holds the part, so that only rows are sent.  Gradients are
 * IndexedSlices. */
#include "train/model/embedding.h"
#include "base/alloc.h"
#include "train/model/clip.h"
#include "train/model/variable_nodes.h"
#include <stdio.h>

/* Gathers on the device of the part, in a scope of the node's name or under a name of its own.  Of a resource variable
 * only the rows are read. */
static weft_out embedding_gather_rows(weft_graph *g, weft_out part, weft_out ids, bool here) {
  const bool resource = weft__variable_is(g, part) && weft__variable_is_resource(g, part);
  weft_out table = resource ? part : weft__variable_or_value(g, part), o;
  weft__b_push_colocate(g, part.node);
  if (!here) weft__b_push_name(g, resource ? "Gather" : "GatherV2");
  if (resource) {
    attr type = A_TYPE("dtype", weft__variable_type(g, part));
    o = weft__n_scope_node(g, "ResourceGather", 2, (weft_out[]){table, ids}, 1, &type);
  } else {
    weft_out in[] = {table, ids, weft__n_scalar(g, "axis", WEFT_INT32, 0)};
    o = weft__n_scope_node(g, "GatherV2", 3, in, 0, NULL);
  }
  if (!here) weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

static weft_out embedding_binary(weft_graph *g, const char *type, const char *name, term x, term y) {
  return weft__named_binary(g, type, name, x, y);
}

static void split_mod(weft_graph *g, int n, weft_out flat, weft_out *part, weft_out *row) {
  *part = embedding_binary(g, "FloorMod", "mod", OUT(flat), NUM(n));
  *row = embedding_binary(g, "FloorDiv", "floordiv", OUT(flat), NUM(n));
}

static shape part_shape(const weft_graph *g, weft_out part) {
  return weft__variable_is(g, part) ? weft__variable_shape(g, part) : *weft__shape_of(g, part);
}

/* Returns the number of rows of all parts, or -1 if it is unknown. */
static int64_t embedding_count_rows(const weft_graph *g, int n, const weft_out *parts) {
  int64_t rows = 0;
  for (int i = 0; i < n; i++) {
    const shape s = part_shape(g, parts[i]);
    if (s.rank < 1 || s.dim[0] < 0) return -1;
    rows = weft__shape_dim_add(rows, s.dim[0]);
  }
  return rows;
}

/* Returns an output with the number of rows of one part, for a part whose shape is unknown while the graph is built. */
static weft_out part_rows(weft_graph *g, weft_out part) {
  weft_out table = weft__variable_or_value(g, part);
  weft__b_push_colocate(g, part.node);
  weft_out rows = weft__named_element(g, weft__named_unary(g, "Shape", "Shape", table), 0);
  weft__b_pop(g);
  return rows;
}

/* Builds the number of rows of all parts, with the type of ids. */
static weft_out all_rows(weft_graph *g, int n, const weft_out *parts, weft_dtype type, weft_out *room) {
  const int64_t known = embedding_count_rows(g, n, parts);
  if (known >= 0) return weft__n_scalar(g, "Const", type, (double)known);
  for (int i = 0; i < n; i++) room[i] = embedding_count_rows(g, 1, &parts[i]) < 0 ? part_rows(g, parts[i]) : WEFT_NONE;
  weft__b_push_name(g, "stack");
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    if (room[i].node < 0) room[i] = weft__n_scalar(g, name, WEFT_INT32, (double)embedding_count_rows(g, 1, &parts[i]));
  }
  weft_out sizes = weft__n_scope_node(g, "Pack", n, room, 1, &A_INT("N", n));
  weft__b_pop(g);
  return weft__named_reduce(g, "Sum", "Sum", weft__b_cast(g, sizes, type));
}

/* The first (rows mod n) parts hold one row more than the others. */
static void split_div(weft_graph *g, int n, weft_out all, weft_out flat, weft_out *part, weft_out *row) {
  weft_out each = embedding_binary(g, "FloorDiv", "floordiv", OUT(all), NUM(n));
  weft_out more = embedding_binary(g, "FloorMod", "mod", OUT(all), NUM(n));
  weft_out larger = embedding_binary(g, "AddV2", "add", OUT(each), NUM(1));
  weft_out in_larger = embedding_binary(g, "FloorDiv", "floordiv", OUT(flat), OUT(larger));
  weft_out after = embedding_binary(g, "Sub", "sub", OUT(flat), OUT(more));
  weft_out in_other = embedding_binary(g, "FloorDiv", "floordiv", OUT(after), OUT(each));
  *part = embedding_binary(g, "Maximum", "Maximum", OUT(in_larger), OUT(in_other));
  weft_out first = embedding_binary(g, "Less", "Less", OUT(*part), OUT(more));
  larger = embedding_binary(g, "AddV2", "add", OUT(each), NUM(1));
  weft_out row_larger = embedding_binary(g, "FloorMod", "mod", OUT(flat), OUT(larger));
  after = embedding_binary(g, "Sub", "sub", OUT(flat), OUT(more));
  weft_out row_other = embedding_binary(g, "FloorMod", "mod", OUT(after), OUT(each));
  *row = weft__b_node(g, "Select", NULL, 3, (weft_out[]){first, row_larger, row_other}, 0, NULL);
}

/* Builds the shape of a row: known, or read from the first part. */
static weft_out row_shape(weft_graph *g, weft_out part) {
  weft_out table = weft__variable_or_value(g, part);
  weft__b_push_colocate(g, part.node);
  weft_out dims = weft__named_unary(g, "Shape", "Shape", table);
  dims = weft__named_slice(g, dims, (slice_bounds){.has_begin = true, .begin = 1});
  weft__b_pop(g);
  return dims;
}

/* Builds the size as TensorFlow does: a constant if it is known. */
static weft_out embedding_size_of(weft_graph *g, weft_out x) {
  const shape s = *weft__out_shape(g, x);
  if (!weft__shape_known(&s)) return weft__named_unary(g, "Size", "Size", x);
  return weft__n_scalar(g, "Size", WEFT_INT32, (double)weft__shape_count(&s));
}

/* Builds the rows in the shape of ids. */
static weft_out shape_rows(weft_graph *g, weft_out rows, weft_out ids, weft_out part) {
  const shape s = part_shape(g, part);
  const bool known = weft__shape_rows_known(&s);
  weft_out row = known ? WEFT_NONE : row_shape(g, part), dims = weft__named_shape(g, ids);
  weft__b_push_name(g, "concat");
  if (known) row = weft__named_ints(g, "values_1", s.dim + 1, s.rank - 1);
  weft_out in[] = {dims, row, weft__n_scalar(g, "axis", WEFT_INT32, 0)};
  weft_out to = weft__n_scope_node(g, "ConcatV2", 3, in, 1, &A_INT("N", 2));
  weft__b_pop(g);
  return weft__b_node(g, "Reshape", NULL, 2, (weft_out[]){rows, to}, 0, NULL);
}

static weft_out lookup_parts(weft_graph *g, int n, const weft_out *parts, weft_out ids, bool div, weft_out *stitch) {
  weft_out flat = weft__named_reshape(g, ids, 1, (int64_t[]){-1}), part, row;
  weft_out order = weft__named_range(g, embedding_size_of(g, flat));
  if (g->sticky.code) return WEFT_NONE;
  if (div)
    split_div(g, n, all_rows(g, n, parts, weft__type_of(g, flat), stitch), flat, &part, &row);
  else
    split_mod(g, n, flat, &part, &row);
  part = weft__b_cast(g, part, WEFT_INT32);
  attr count = A_INT("num_partitions", n);
  weft_out rows = weft__b_node(g, "DynamicPartition", NULL, 2, (weft_out[]){row, part}, 1, &count);
  weft_out places = weft__b_node(g, "DynamicPartition", NULL, 2, (weft_out[]){order, part}, 1, &count);
  for (int i = 0; i < n && !g->sticky.code; i++) {
    stitch[i] = weft__b_slot(places, i);
    stitch[n + i] = embedding_gather_rows(g, parts[i], weft__b_slot(rows, i), false);
  }
  if (g->sticky.code) return WEFT_NONE;
  weft_out all = weft__n_scope_node(g, "ParallelDynamicStitch", 2 * n, stitch, 1, &A_INT("N", n));
  return shape_rows(g, all, ids, parts[0]);
}

/* Builds the axes of a row where a rank is not known yet. */
static weft_out axes_of_rows(weft_graph *g, weft_out rows, weft_out ids) {
  const int first = weft__shape_of(g, ids)->rank;
  weft_out begin = first < 0 ? weft__named_unary(g, "Rank", "Rank", ids) : WEFT_NONE;
  weft_out end = weft__named_unary(g, "Rank", "Rank", rows);
  weft__b_push_name(g, "range");
  if (begin.node < 0) begin = weft__n_scalar(g, "start", WEFT_INT32, first);
  weft_out in[] = {begin, end, weft__n_scalar(g, "delta", WEFT_INT32, 1)};
  weft_out o = weft__n_scope_node(g, "Range", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* Clips rows to the norm max_norm.  The axes of a row are those behind the axes of ids. */
static weft_out clip_rows(weft_graph *g, weft_out rows, weft_out ids, const term *max_norm) {
  if (!max_norm || g->sticky.code) return rows;
  const int first = weft__shape_of(g, ids)->rank, rank = weft__shape_of(g, rows)->rank;
  weft_tensor *axes = NULL;
  int64_t axis[WEFT_MAX_RANK];
  if (first < 0 || rank < 0) return weft__clip_by_norm(g, NULL, rows, *max_norm, &OUT(axes_of_rows(g, rows, ids)));
  for (int i = first; i < rank; i++) axis[i - first] = i;
  if (!weft__named_keep(g, weft__tensor_ints(&axes, WEFT_INT32, axis, rank > first ? rank - first : 0)))
    return WEFT_NONE;
  weft_out o = weft__clip_by_norm(g, NULL, rows, *max_norm, &(term){WEFT_NONE, 0, axes});
  weft_tensor_destroy(axes);
  return o;
}

static weft_out lookup_one(weft_graph *g, weft_out part, weft_out ids, const term *max_norm) {
  weft_out rows = embedding_gather_rows(g, part, ids, true);
  weft__b_push_colocate(g, part.node);
  rows = clip_rows(g, rows, ids, max_norm);
  weft__b_pop(g);
  return weft__named_unary(g, "Identity", "Identity", rows);
}

static weft_err check_parts(const weft_graph *g, int n, const weft_out *parts) {
  if (n < 1) return weft__fail(WEFT_INVALID_ARGUMENT, "embedding_lookup: there are no params");
  for (int i = 0; i < n; i++)
    if (parts[i].node < 0 || parts[i].node >= g->n_node)
      return weft__fail(WEFT_INVALID_ARGUMENT, "embedding_lookup: part %d is no output of the graph", i);
  return WEFT_OK;
}

weft_out weft__embedding_lookup(weft_graph *g, int n, const weft_out *parts, weft_out ids, const lookup_opts *opts) {
  if (g->sticky.code || ids.node < 0) return WEFT_NONE;
  weft_err err = check_parts(g, n, parts);
  weft_out *stitch = err ? NULL : weft__alloc((2 * (size_t)n + 1) * sizeof *stitch), o = WEFT_NONE;
  if (!weft__named_keep(g, err ? err : stitch ? WEFT_OK : WEFT_OOM)) return WEFT_NONE;
  weft__named_push(g, opts->name, "embedding_lookup");
  if (n == 1)
    o = lookup_one(g, parts[0], ids, opts->max_norm);
  else
    o = clip_rows(g, lookup_parts(g, n, parts, ids, opts->div, stitch), ids, opts->max_norm);
  weft__b_pop(g);
  weft__free(stitch);
  return o;
}
