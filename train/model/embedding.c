/* embedding.c - rows of a table, which may be cut into parts that lie on several ps.
 *
 * Each part is asked for its rows where it is, so that only rows travel; their gradients are slices. */
#include "base/alloc.h"
#include "train/model/layer.h"

/* Gathers beside the part; inside a scope of the node's name, or under a name of its own. */
static weft_out embedding_gather(weft_graph *g, weft_out part, weft_out ids, bool here) {
  weft_out table = weft__variable_or_value(g, part);
  weft__b_push_colocate(g, part.node);
  if (!here) weft__b_push_name(g, "GatherV2");
  weft_out in[] = {table, ids, weft__n_scalar(g, "axis", WEFT_INT32, 0)};
  weft_out o = weft__n_scope_node(g, "GatherV2", 3, in, 0, NULL);
  if (!here) weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

static weft_out op2(weft_graph *g, const char *type, const char *name, term x, term y) {
  return weft__named_binary(g, type, name, x, y);
}

static void split_mod(weft_graph *g, int n, weft_out flat, weft_out *part, weft_out *row) {
  *part = op2(g, "FloorMod", "mod", OUT(flat), NUM(n));
  *row = op2(g, "FloorDiv", "floordiv", OUT(flat), NUM(n));
}

/* The first (rows mod n) parts hold one row more than the others. */
static void split_div(weft_graph *g, int n, int64_t rows, weft_out flat, weft_out *part, weft_out *row) {
  weft_dtype type = weft__type_of(g, flat);
  weft_out all = weft__n_scalar(g, "Const", type, (double)rows);
  weft_out each = op2(g, "FloorDiv", "floordiv", OUT(all), NUM(n));
  weft_out more = op2(g, "FloorMod", "mod", OUT(all), NUM(n));
  weft_out larger = op2(g, "AddV2", "add", OUT(each), NUM(1));
  weft_out in_larger = op2(g, "FloorDiv", "floordiv", OUT(flat), OUT(larger));
  weft_out in_other = op2(g, "FloorDiv", "floordiv", OUT(op2(g, "Sub", "sub", OUT(flat), OUT(more))), OUT(each));
  *part = op2(g, "Maximum", "Maximum", OUT(in_larger), OUT(in_other));
  weft_out first = op2(g, "Less", "Less", OUT(*part), OUT(more));
  larger = op2(g, "AddV2", "add", OUT(each), NUM(1));
  weft_out row_larger = op2(g, "FloorMod", "mod", OUT(flat), OUT(larger));
  weft_out row_other = op2(g, "FloorMod", "mod", OUT(op2(g, "Sub", "sub", OUT(flat), OUT(more))), OUT(each));
  *row = weft__b_node(g, "Select", NULL, 3, (weft_out[]){first, row_larger, row_other}, 0, NULL);
}

/* How many rows the parts have together; -1 if that is not known. */
static int64_t count_rows(const weft_graph *g, int n, const weft_out *parts) {
  int64_t rows = 0;
  for (int i = 0; i < n; i++) {
    shape s = *weft__shape_of(g, parts[i]);
    if (weft__variable_is_resource(g, parts[i])) s = weft__variable_shape(g, parts[i]);
    rows = s.rank < 1 ? -1 : weft__shape_dim_add(rows, s.dim[0]);
  }
  return rows;
}

/* The rows in the shape of ids. */
static weft_out shape_rows(weft_graph *g, weft_out rows, weft_out ids, const shape *row) {
  weft_out dims = weft__named_unary(g, "Shape", "Shape", ids);
  weft__b_push_name(g, "concat");
  weft_out in[] = {dims, weft__named_ints(g, "values_1", row->dim + 1, row->rank - 1),
                   weft__n_scalar(g, "axis", WEFT_INT32, 0)};
  weft_out to = weft__n_scope_node(g, "ConcatV2", 3, in, 1, &A_INT("N", 2));
  weft__b_pop(g);
  return weft__b_node(g, "Reshape", NULL, 2, (weft_out[]){rows, to}, 0, NULL);
}

static weft_out lookup_parts(weft_graph *g, int n, const weft_out *parts, weft_out ids, bool div, weft_out *stitch) {
  weft_out flat = weft__named_reshape(g, ids, 1, (int64_t[]){-1}), part, row;
  weft_out order = weft__named_range(g, weft__named_unary(g, "Size", "Size", flat));
  if (g->sticky.code) return WEFT_NONE;
  if (div)
    split_div(g, n, count_rows(g, n, parts), flat, &part, &row);
  else
    split_mod(g, n, flat, &part, &row);
  part = weft__b_cast(g, part, WEFT_INT32);
  attr count = A_INT("num_partitions", n);
  weft_out rows = weft__b_node(g, "DynamicPartition", NULL, 2, (weft_out[]){row, part}, 1, &count);
  weft_out places = weft__b_node(g, "DynamicPartition", NULL, 2, (weft_out[]){order, part}, 1, &count);
  for (int i = 0; i < n && !g->sticky.code; i++) {
    stitch[i] = weft__b_slot(places, i);
    stitch[n + i] = embedding_gather(g, parts[i], weft__b_slot(rows, i), false);
  }
  if (g->sticky.code) return WEFT_NONE;
  weft_out all = weft__n_scope_node(g, "ParallelDynamicStitch", 2 * n, stitch, 1, &A_INT("N", n));
  shape of = *weft__shape_of(g, stitch[n]);
  return shape_rows(g, all, ids, &of);
}

weft_out weft__embedding_lookup(weft_graph *g, int n, const weft_out *parts, weft_out ids, bool div, const char *name) {
  if (g->sticky.code || ids.node < 0) return WEFT_NONE;
  weft_err err = n < 1 ? weft__fail(WEFT_INVALID_ARGUMENT, "embedding_lookup: there are no params") : WEFT_OK;
  for (int i = 0; i < n && !err; i++)
    if (parts[i].node < 0 || parts[i].node >= g->n_node)
      err = weft__fail(WEFT_INVALID_ARGUMENT, "embedding_lookup: part %d is no output of the graph", i);
  if (!err && div && n > 1 && count_rows(g, n, parts) < 0)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "embedding_lookup: 'div' needs parts of known shapes");
  weft_out *stitch = weft__alloc((2 * (size_t)n + 1) * sizeof *stitch), o = WEFT_NONE;
  if (!weft__named_keep(g, err ? err : stitch ? WEFT_OK : WEFT_OOM)) {
    weft__free(stitch);
    return WEFT_NONE;
  }
  weft__named_push(g, name, "embedding_lookup");
  if (n == 1)
    o = weft__named_unary(g, "Identity", "Identity", embedding_gather(g, parts[0], ids, true));
  else
    o = lookup_parts(g, n, parts, ids, div, stitch);
  weft__b_pop(g);
  weft__free(stitch);
  return o;
}
