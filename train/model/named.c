/* named.c - operators, constants and groups with the names that TensorFlow's Python API gives them. */
#include "train/model/named.h"
#include "base/alloc.h"
#include "graph/scope.h"

bool weft__named_keep(weft_graph *g, weft_err err) {
  weft__status_update(&g->sticky, err);
  return g->sticky.code == WEFT_OK;
}

bool weft__named_given(weft_graph *g, const char *what, int n, const weft_out *x) {
  if (g->sticky.code) return false;
  for (int i = 0; i < n; i++)
    if (weft__out_foreign(g, x[i]))
      return weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: input %d is from another graph", what, i));
    else if (!weft__out_exists(g, x[i]))
      return weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: %d:%d is no output of the graph", what,
                                            (int)x[i].node, (int)x[i].slot));
  return true;
}

void weft__named_push(weft_graph *g, const char *name, const char *standard) {
  weft__b_push_name(g, name ? name : standard);
}

void weft__named_push_anywhere(weft_graph *g) { weft__b_pushed(g, weft__scope_push_colocate(g, -1, true)); }

weft_out weft__named_unary(weft_graph *g, const char *type, const char *name, weft_out x) {
  return weft__b_node(g, type, name, 1, &x, 0, NULL);
}

/* ---- constants ---- */

weft_out weft__named_ints(weft_graph *g, const char *name, const int64_t *v, int n) {
  weft_tensor *t = NULL;
  weft__named_keep(g, weft__tensor_dims(&t, v, n));
  return weft__n_const(g, name, t);
}

weft_out weft__named_full(weft_graph *g, const char *name, weft_dtype type, const shape *s, double v) {
  weft_tensor *t = NULL, *one = NULL;
  weft_err err = weft__tensor_create(&t, type, s);
  if (err == WEFT_OK) err = weft__tensor_scalar(&one, type, v);
  if (err == WEFT_OK) err = weft__elements_fill(type, t->data, one->data, weft__tensor_count(t));
  weft_tensor_destroy(one);
  if (weft__named_keep(g, err)) return weft__n_const(g, name, t);
  weft_tensor_destroy(t);
  return WEFT_NONE;
}

weft_out weft__named_number(weft_graph *g, double v, weft_dtype from, weft_dtype to) {
  weft__b_push_name(g, "Cast");
  weft_out x = weft__n_scalar(g, "x", from, v);
  if (from != to) x = weft__n_scope_node(g, "Cast", 1, &x, 1, &A_TYPE("DstT", to));
  weft__b_pop(g);
  return x;
}

/* ---- operators ---- */

weft_dtype weft__term_type(const weft_graph *g, term x) {
  if (x.out.node >= 0) return weft__type_of(g, x.out);
  return x.constant ? x.constant->dtype : (weft_dtype)0;
}

bool weft__term_known(term x, double *value) {
  if (x.out.node >= 0 || (x.constant && weft__tensor_count(x.constant) != 1)) return false;
  *value = x.constant ? weft__tensor_double(x.constant, 0) : x.number;
  return true;
}

weft_out weft__named_term(weft_graph *g, const char *name, term x, weft_dtype type) {
  if (x.out.node >= 0) return x.out;
  if (!x.constant) return weft__n_scalar(g, name, type ? type : WEFT_FLOAT, x.number);
  if (type && x.constant->dtype != type && weft__tensor_count(x.constant) == 1 && x.constant->shape.rank == 0)
    return weft__n_scalar(g, name, type, weft__tensor_double(x.constant, 0));
  weft_tensor *copy = NULL;
  weft__named_keep(g, weft__tensor_create_like(&copy, x.constant));
  return weft__n_const(g, name, copy);
}

/* Returns the type of a number next to another operand. */
static weft_dtype number_type(const weft_graph *g, term x, term y) {
  weft_dtype type = x.out.node >= 0 || (x.constant && y.out.node < 0) ? weft__term_type(g, x) : weft__term_type(g, y);
  return type ? type : WEFT_FLOAT;
}

weft_out weft__named_binary(weft_graph *g, const char *type, const char *name, term x, term y) {
  if (g->sticky.code) return WEFT_NONE;
  weft__b_push_name(g, name);
  weft_dtype number = number_type(g, x, y);
  weft_out in[2] = {weft__named_term(g, "x", x, number)};
  in[1] = weft__named_term(g, "y", y, number);
  weft_out o = weft__n_scope_node(g, type, 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out strided_slice(weft_graph *g, weft_out x, int64_t begin, int64_t end, int n_attr, const attr *attrs) {
  weft__b_push_name(g, "strided_slice");
  weft_out in[4] = {x, weft__named_ints(g, "stack", &begin, 1), weft__named_ints(g, "stack_1", &end, 1),
                    weft__named_ints(g, "stack_2", (int64_t[]){1}, 1)};
  weft_out o = weft__n_scope_node(g, "StridedSlice", 4, in, n_attr, attrs);
  weft__b_pop(g);
  return o;
}

weft_out weft__named_element(weft_graph *g, weft_out x, int64_t index) {
  return strided_slice(g, x, index, index + 1, 1, &A_INT("shrink_axis_mask", 1));
}

weft_out weft__named_slice(weft_graph *g, weft_out x, slice_bounds b) {
  return strided_slice(g, x, b.has_begin ? b.begin : 0, b.has_end ? b.end : 0, 2,
                       (attr[]){A_INT("begin_mask", !b.has_begin), A_INT("end_mask", !b.has_end)});
}

weft_out weft__named_range(weft_graph *g, weft_out n) {
  weft__b_push_name(g, "range");
  weft_out in[] = {weft__n_scalar(g, "start", WEFT_INT32, 0), n, weft__n_scalar(g, "delta", WEFT_INT32, 1)};
  weft_out o = weft__n_scope_node(g, "Range", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* Returns the axes 0 .. rank-1 of x.  TensorFlow computes those of a scalar, too. */
static weft_out every_axis(weft_graph *g, weft_out x) {
  int rank = weft__shape_of(g, x)->rank;
  int64_t axes[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) axes[i] = i;
  if (rank > 0) return weft__named_ints(g, "Const", axes, rank);
  return weft__named_range(g, weft__named_rank(g, x));
}

weft_out weft__named_reduce(weft_graph *g, const char *type, const char *name, weft_out x) {
  if (x.node < 0) return WEFT_NONE;
  weft_out in[] = {x, every_axis(g, x)};
  weft_out made = weft__b_node(g, type, name, 2, in, 0, NULL);
  weft__named_set_shape(g, made, &SHAPE_SCALAR); /* also if the rank of x is unknown */
  return made;
}

weft_out weft__named_reduce_keep(weft_graph *g, const char *type, const char *name, weft_out x) {
  if (x.node < 0) return WEFT_NONE;
  weft_out in[] = {x, every_axis(g, x)};
  return weft__b_node(g, type, name, 2, in, 1, &A_BOOL("keep_dims", true));
}

weft_out weft__named_reduce_term(weft_graph *g, const char *type, const char *name, weft_out x, term axes, bool keep) {
  if (x.node < 0) return WEFT_NONE;
  weft__b_push_name(g, name);
  weft_out in[] = {x, weft__named_term(g, "reduction_indices", axes, 0)};
  weft_out o = weft__n_scope_node(g, type, 2, in, 1, &A_BOOL("keep_dims", keep));
  weft__b_pop(g);
  return o;
}

weft_out weft__named_reduce_axes(weft_graph *g, const char *type, const char *name, weft_out x, int n,
                                 const int64_t *axes, bool keep) {
  if (x.node < 0) return WEFT_NONE;
  weft__b_push_name(g, name);
  weft_out in[] = {x, weft__named_ints(g, "reduction_indices", axes, n)};
  weft_out o = weft__n_scope_node(g, type, 2, in, 1, &A_BOOL("keep_dims", keep));
  weft__b_pop(g);
  return o;
}

weft_out weft__named_reshape(weft_graph *g, weft_out x, int n, const int64_t *dims) {
  weft__b_push_name(g, "Reshape");
  weft_out in[] = {x, weft__named_ints(g, "shape", dims, n)};
  weft_out o = weft__n_scope_node(g, "Reshape", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__named_pack(weft_graph *g, const char *name, int n, const weft_out *x, int axis) {
  return weft__b_node(g, "Pack", name, n, x, 2, (attr[]){A_INT("N", n), A_INT("axis", axis)});
}

weft_out weft__named_shape(weft_graph *g, weft_out x) {
  const shape s = *weft__shape_of(g, x);
  if (!weft__shape_known(&s)) return weft__named_unary(g, "Shape", "Shape", x);
  return weft__named_ints(g, "Shape", s.dim, s.rank);
}

weft_out weft__named_rank(weft_graph *g, weft_out x) {
  const int rank = weft__shape_of(g, x)->rank;
  return rank >= 0 ? weft__n_scalar(g, "Rank", WEFT_INT32, rank) : weft__named_unary(g, "Rank", "Rank", x);
}

weft_out weft__named_gather(weft_graph *g, weft_out x, weft_out indices) {
  weft__b_push_name(g, "GatherV2");
  weft_out in[] = {x, indices, weft__n_scalar(g, "axis", WEFT_INT32, 0)};
  weft_out o = weft__n_scope_node(g, "GatherV2", 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__named_concat(weft_graph *g, weft_out x, weft_out y, int axis) {
  weft__b_push_name(g, "concat");
  weft_out in[] = {x, y, weft__n_scalar(g, "axis", WEFT_INT32, axis)};
  weft_out o = weft__n_scope_node(g, "ConcatV2", 3, in, 1, &A_INT("N", 2));
  weft__b_pop(g);
  return o;
}

weft_out weft__named_ones_like(weft_graph *g, weft_out x, weft_dtype type) {
  const shape s = *weft__shape_of(g, x);
  weft__b_push_name(g, "ones_like");
  weft_out dims;
  if (weft__shape_known(&s)) {
    weft__b_push_name(g, "Shape");
    dims = weft__named_ints(g, "shape_as_tensor", s.dim, s.rank);
    weft__b_pop(g);
  } else {
    dims = weft__named_unary(g, "Shape", "Shape", x);
  }
  weft_out in[] = {dims, weft__n_scalar(g, "Const", type, 1)};
  weft_out o = weft__n_scope_node(g, "Fill", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

void weft__named_set_shape(weft_graph *g, weft_out x, const shape *more) {
  if (x.node >= 0) weft__named_keep(g, weft__out_merge_shape(g, x, more));
}

/* ---- control ---- */

weft_out weft__named_after(weft_graph *g, const char *name, int n, const int *node_ids, weft_out x) {
  if (x.node < 0) return WEFT_NONE;
  weft__b_push_colocate(g, x.node);
  weft__b_push_control(g, n, node_ids);
  weft_out o = weft__named_unary(g, "Identity", name, x);
  weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

weft_out weft__named_assert(weft_graph *g, weft_out holds, int n, const assert_data *data, int summarize) {
  weft_out in[9] = {holds};
  if (holds.node < 0) return WEFT_NONE;
  weft__b_push_name(g, "Assert");
  for (int i = 0; i < n; i++)
    if (data[i].text) weft__n_string(g, "Const", data[i].text);
  weft__b_push_name(g, "Assert");
  for (int i = 0; i < n; i++)
    in[i + 1] = data[i].text ? weft__n_string(g, (char[]){'d', 'a', 't', 'a', '_', (char)('0' + i), '\0'}, data[i].text)
                             : data[i].out;
  weft_out o = weft__n_scope_node(g, "Assert", n + 1, in, 1, &A_INT("summarize", summarize));
  weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

weft_out weft__named_cond(weft_graph *g, weft_out pred, weft_out *yes, weft_out *no) {
  weft_out both = weft__b_node(g, "Switch", NULL, 2, (weft_out[]){pred, pred}, 0, NULL);
  weft_out holds = weft__named_unary(g, "Identity", "switch_t", weft__b_slot(both, 1));
  weft_out fails = weft__named_unary(g, "Identity", "switch_f", both);
  if (yes) *yes = holds;
  if (no) *no = fails;
  return weft__named_unary(g, "Identity", "pred_id", pred);
}

weft_out weft__named_branch(weft_graph *g, const char *type, const char *name, weft_out x, weft_out cond, bool then) {
  if (x.node < 0) return WEFT_NONE;
  weft__b_pushed(g, weft__scope_push_colocate(g, x.node, true));
  weft_out o = weft__b_node(g, type, name, 2, (weft_out[]){x, cond}, 0, NULL);
  weft__b_pop(g);
  return weft__b_slot(o, then);
}

char *weft__named_scope_exact(weft_graph *g) {
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__named_keep(g, WEFT_OOM);
  return exact;
}
