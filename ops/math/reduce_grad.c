/* reduce_grad.c - the gradients of reductions.
 *
 * All need the shape of the result with the reduced dimensions kept as ones.  If rank and axes are known when the
 * graph is built, the shape is a constant.  Otherwise nodes of the graph compute the mask of reduced dimensions. */
#include "graph/build.h"
#include "ops/math/reduce.h"

#define G b->graph
#define X b->in[0]
#define AXES b->in[1]
#define DY b->dout[0]

static weft_out int_list(weft_graph *g, const int64_t *v, int n) { return weft__b_ints(g, v, n); }

/* Sets mask[d] to 1 for each reduced dimension and 0 for the others.  Returns the rank, or -1 if it is not known. */
static int static_mask(backprop *b, int64_t *mask) {
  const shape *s = weft__out_shape(G, X);
  weft_tensor *axes = s->rank < 0 ? NULL : weft__graph_constant(G, AXES);
  if (!axes) return -1;
  for (int d = 0; d < s->rank; d++) mask[d] = 0;
  const int64_t n = weft__tensor_count(axes);
  for (int64_t i = 0; i < n; i++) {
    const int64_t axis = weft__tensor_int(axes, i);
    if (axis >= -s->rank && axis < s->rank) mask[axis < 0 ? axis + s->rank : axis] = 1;
  }
  weft_tensor_destroy(axes);
  return s->rank;
}

/* Returns the same mask as int32 [rank], computed by nodes of the graph. */
static weft_out mask_of(backprop *b) {
  int64_t mask[WEFT_MAX_RANK];
  const int rank_known = static_mask(b, mask);
  if (rank_known >= 0) return int_list(G, mask, rank_known);
  const int64_t column[] = {-1, 1}, row[] = {1, -1}, last = 1;
  const weft_out rank = weft__b_rank(G, X), zero = weft__b_scalar(G, WEFT_INT32, 0),
                 one = weft__b_scalar(G, WEFT_INT32, 1);
  const weft_out range = weft__b_node(G, "Range", NULL, 3, (weft_out[]){zero, rank, one}, 0, NULL);
  const weft_out axes = weft__b_binary(G, "FloorMod", weft__b_add(G, weft__b_cast(G, AXES, WEFT_INT32), rank), rank);
  const weft_out same = weft__b_binary(G, "Equal", weft__b_reshape(G, range, int_list(G, column, 2)),
                                       weft__b_reshape(G, axes, int_list(G, row, 2)));
  return weft__b_cast(G, weft__b_binary(G, "Any", same, int_list(G, &last, 1)), WEFT_INT32);
}

/* Returns the shape of x with ones in the reduced dimensions: s - (s - 1) mask. */
static weft_out kept_shape(backprop *b) {
  const shape *s = weft__out_shape(G, X);
  int64_t mask[WEFT_MAX_RANK];
  const int rank = static_mask(b, mask);
  if (rank >= 0 && weft__shape_known(s)) {
    for (int d = 0; d < rank; d++) mask[d] = mask[d] ? 1 : s->dim[d];
    return int_list(G, mask, rank);
  }
  const weft_out dims = weft__b_shape(G, X), one = weft__b_scalar(G, WEFT_INT32, 1);
  return weft__b_sub(G, dims, weft__b_mul(G, weft__b_sub(G, dims, one), mask_of(b)));
}

static bool keeps_dims(const backprop *b) { return weft__node_bool(b->node, "keep_dims", false); }

/* Reshapes y, which has the shape of the result, so that it broadcasts with x. */
static weft_out as_kept(backprop *b, weft_out y) { return keeps_dims(b) ? y : weft__b_reshape(G, y, kept_shape(b)); }

static weft_out reduce_grad_spread(backprop *b) {
  const shape *s = weft__out_shape(G, b->out[0]);
  const bool tiles = weft__shape_known(weft__out_shape(G, X)) || s->rank == 0; /* where TF's node is a Tile */
  weft_out in[] = {as_kept(b, DY), weft__b_shape(G, X)};
  return weft__b_node(G, "BroadcastTo", tiles ? "Tile" : NULL, 2, in, 0, NULL);
}

static weft_err reduce_grad_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

weft_err weft__sum_grad(backprop *b) { return reduce_grad_set_dx(b, reduce_grad_spread(b)); }

/* Returns the number of elements of x for one element of y. */
static weft_out reduce_grad_ratio(backprop *b) {
  const weft_dtype type = weft__out_type(G, X);
  const int64_t nx = weft__shape_count(weft__out_shape(G, X)), ny = weft__shape_count(weft__out_shape(G, b->out[0]));
  if (nx >= 0 && ny >= 0) return weft__b_scalar(G, type, (double)(nx / (ny > 0 ? ny : 1)));
  const weft_out one = weft__b_scalar(G, WEFT_INT32, 1);
  const weft_out outputs = weft__b_binary(G, "Maximum", weft__b_size(G, b->out[0]), one);
  return weft__b_cast(G, weft__b_binary(G, "FloorDiv", weft__b_size(G, X), outputs), type);
}

weft_err weft__mean_grad(backprop *b) {
  const dtype_class c = weft__dtype_class(weft__out_type(G, X));
  const bool is_int = c != CLASS_FLOAT && c != CLASS_COMPLEX;
  const weft_out spread = reduce_grad_spread(b), ratio = reduce_grad_ratio(b);
  return reduce_grad_set_dx(b, is_int ? weft__b_binary(G, "FloorDiv", spread, ratio) : weft__b_div(G, spread, ratio));
}

/* The gradient is divided equally among all elements that equal the extreme. */
weft_err weft__extreme_grad(backprop *b) {
  const weft_out y = as_kept(b, b->out[0]), dy = as_kept(b, DY);
  const weft_out hit = weft__b_cast(G, weft__b_binary(G, "Equal", y, X), weft__out_type(G, DY));
  const weft_out hits = weft__b_reshape(G, weft__b_sum(G, hit, AXES, false), kept_shape(b));
  return reduce_grad_set_dx(b, weft__b_mul(G, weft__b_div(G, hit, hits), dy));
}

weft_err weft__norm_grad(backprop *b) {
  return reduce_grad_set_dx(b, weft__b_div(G, X, weft__b_div(G, as_kept(b, b->out[0]), as_kept(b, DY))));
}

/* ---- products ---- */

static weft_out prod_of(weft_graph *g, weft_out ints) {
  const int64_t zero = 0;
  return weft__b_binary(g, "Prod", ints, weft__b_ints(g, &zero, 1));
}

static weft_out reduce_grad_cumulate(weft_graph *g, weft_out x, bool reverse) {
  return weft__b_node(g, "Cumprod", NULL, 2, (weft_out[]){x, weft__b_scalar(g, WEFT_INT32, 0)}, 2,
                      (attr[]){A_BOOL("exclusive", true), A_BOOL("reverse", reverse)});
}

/* Computes lists of the reduced and of the kept dimensions, for a permutation with the reduced ones first. */
static void reduced_and_kept(backprop *b, weft_out *reduced, weft_out *kept) {
  int64_t mask[WEFT_MAX_RANK], first[WEFT_MAX_RANK], rest[WEFT_MAX_RANK];
  const int rank = static_mask(b, mask);
  int n = 0, m = 0;
  for (int d = 0; d < rank; d++)
    if (mask[d])
      first[n++] = d;
    else
      rest[m++] = d;
  if (rank >= 0) {
    *reduced = int_list(G, first, n);
    *kept = int_list(G, rest, m);
    return;
  }
  const int64_t flat = -1;
  const weft_out on = mask_of(b), zero = weft__b_scalar(G, WEFT_INT32, 0);
  const weft_out is_on = weft__b_binary(G, "NotEqual", on, zero), is_off = weft__b_binary(G, "Equal", on, zero);
  *reduced = weft__b_reshape(G, weft__b_cast(G, weft__b_unary(G, "Where", is_on), WEFT_INT32), int_list(G, &flat, 1));
  *kept = weft__b_reshape(G, weft__b_cast(G, weft__b_unary(G, "Where", is_off), WEFT_INT32), int_list(G, &flat, 1));
}

/* dx[i] = dy times the product of all other elements, computed as (product before i) * (product after i), so zeros
 * are correct. */
weft_err weft__prod_grad(backprop *b) {
  weft_out reduced, kept;
  reduced_and_kept(b, &reduced, &kept);
  const weft_out zero = weft__b_scalar(G, WEFT_INT32, 0), dims = weft__b_shape(G, X);
  const weft_out order = weft__b_concat(G, 2, (weft_out[]){reduced, kept}, zero);
  const weft_out turned = weft__b_transpose(G, X, order), turned_shape = weft__b_shape(G, turned);
  const weft_out sides[] = {prod_of(G, weft__b_gather(G, dims, reduced, zero)),
                            prod_of(G, weft__b_gather(G, dims, kept, zero))};
  const weft_out matrix = weft__b_reshape(G, turned, weft__b_node(G, "Pack", NULL, 2, sides, 0, NULL));
  const weft_out others = weft__b_mul(G, weft__b_conj(G, reduce_grad_cumulate(G, matrix, false)),
                                      weft__b_conj(G, reduce_grad_cumulate(G, matrix, true)));
  const weft_out back =
      weft__b_transpose(G, weft__b_reshape(G, others, turned_shape), weft__b_unary(G, "InvertPermutation", order));
  return reduce_grad_set_dx(b, weft__b_reshape(G, weft__b_mul(G, reduce_grad_spread(b), back), dims));
}
