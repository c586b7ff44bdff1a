/* segment_grad.c - the gradients of the segment ops: each row gets the gradient of its segment.
 *
 * Sorted and unsorted ops differ in two places only: in how rows are combined again, and in that rows with a
 * negative id get no gradient in the unsorted ops. */
#include "ops/math/segment_grad.h"
#include "graph/build.h"

#define G b->graph
#define DATA b->in[0]
#define IDS b->in[1]
#define DY b->dout[0]

static bool is_unsorted(const backprop *b) { return b->n_in == 3; }

static weft_out segment_grad_combine(backprop *b, const char *sorted, const char *unsorted, weft_out x) {
  const weft_out in[] = {x, IDS, is_unsorted(b) ? b->in[2] : WEFT_NONE};
  return weft__b_node(G, is_unsorted(b) ? unsorted : sorted, NULL, b->n_in, in, 0, NULL);
}

static weft_out segment_grad_pick(backprop *b, weft_out rows, weft_out ids) {
  return weft__b_gather(G, rows, ids, weft__b_scalar(G, WEFT_INT32, 0));
}

static weft_out segment_grad_clipped(backprop *b) {
  return is_unsorted(b) ? weft__b_binary(G, "Maximum", IDS, weft__b_scalar_like(G, IDS, 0)) : IDS;
}

/* Returns true for each row that is not dropped, with the shape of ids plus dimensions of 1 to broadcast with data. */
static weft_out segment_grad_counted(backprop *b) {
  const weft_out yes = weft__b_binary(G, "GreaterEqual", IDS, weft__b_scalar_like(G, IDS, 0));
  const weft_out more = weft__b_sub(G, weft__b_rank(G, DATA), weft__b_rank(G, IDS));
  const int64_t one[] = {1};
  const weft_out ones =
      weft__b_fill(G, weft__b_reshape(G, more, weft__b_ints(G, one, 1)), weft__b_scalar(G, WEFT_INT32, 1));
  const weft_out dims =
      weft__b_concat(G, 2, (weft_out[]){weft__b_shape(G, IDS), ones}, weft__b_scalar(G, WEFT_INT32, 0));
  return weft__b_reshape(G, yes, dims);
}

static weft_out segment_grad_choose(weft_graph *g, weft_out c, weft_out x, weft_out y) {
  return weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){c, x, y}, 0, NULL);
}

/* Returns, for each row, the row of y of its segment, or 0 if the row was dropped. */
static weft_out segment_grad_spread(backprop *b, weft_out y) {
  const weft_out rows = segment_grad_pick(b, y, segment_grad_clipped(b));
  return is_unsorted(b) ? segment_grad_choose(G, segment_grad_counted(b), rows, weft__b_scalar_like(G, rows, 0)) : rows;
}

static weft_err segment_grad_set_dx(backprop *b, weft_out dx) {
  b->din[0] = GRAD_DENSE(dx);
  return WEFT_OK;
}

weft_err weft__segment_sum_grad(backprop *b) { return segment_grad_set_dx(b, segment_grad_spread(b, DY)); }
weft_err weft__unsorted_sum_grad(backprop *b) { return segment_grad_set_dx(b, segment_grad_spread(b, DY)); }

weft_err weft__segment_mean_grad(backprop *b) { /* dy divided by the size of the segment */
  const int64_t first[] = {-1}, one[] = {1};
  const weft_out ones = weft__b_ones_like(G, weft__b_cast(G, IDS, weft__out_type(G, DY)));
  const weft_out sizes = weft__b_binary(G, "SegmentSum", ones, IDS);
  const weft_out more = weft__b_sub(G, weft__b_rank(G, DATA), weft__b_scalar(G, WEFT_INT32, 1));
  const weft_out tail =
      weft__b_fill(G, weft__b_reshape(G, more, weft__b_ints(G, one, 1)), weft__b_scalar(G, WEFT_INT32, 1));
  const weft_out dims =
      weft__b_concat(G, 2, (weft_out[]){weft__b_ints(G, first, 1), tail}, weft__b_scalar(G, WEFT_INT32, 0));
  return segment_grad_set_dx(b, segment_grad_pick(b, weft__b_div(G, DY, weft__b_reshape(G, sizes, dims)), IDS));
}

/* The gradient is divided equally among the rows that equal the extreme. */
static weft_err segment_grad_extreme_grad(backprop *b) {
  weft_out hit = weft__b_binary(G, "Equal", DATA, segment_grad_pick(b, b->out[0], segment_grad_clipped(b)));
  if (is_unsorted(b)) hit = weft__b_binary(G, "LogicalAnd", hit, segment_grad_counted(b));
  const weft_out hits =
      segment_grad_combine(b, "SegmentSum", "UnsortedSegmentSum", weft__b_cast(G, hit, weft__out_type(G, DY)));
  const weft_out shares = segment_grad_pick(b, weft__b_div(G, DY, hits), segment_grad_clipped(b));
  return segment_grad_set_dx(b, segment_grad_choose(G, hit, shares, weft__b_scalar_like(G, shares, 0)));
}

weft_err weft__segment_extreme_grad(backprop *b) { return segment_grad_extreme_grad(b); }
weft_err weft__unsorted_extreme_grad(backprop *b) { return segment_grad_extreme_grad(b); }

/* The product divided by the element.  Where the element is 0, it is the product of the others, or 0 if another is 0
 * too. */
static weft_err prod_grad(backprop *b) {
  const weft_out zero = weft__b_scalar_like(G, DATA, 0), one = weft__b_scalar_like(G, DATA, 1);
  const weft_out is_zero = weft__b_binary(G, "Equal", DATA, zero);
  const weft_out zeros =
      segment_grad_combine(b, "SegmentSum", "UnsortedSegmentSum", weft__b_cast(G, is_zero, WEFT_INT32));
  const weft_out many = weft__b_binary(G, "Greater", zeros, weft__b_scalar(G, WEFT_INT32, 1));
  const weft_out dy = segment_grad_choose(G, many, weft__b_scalar_like(G, DY, 0), DY);
  const weft_out others =
      segment_grad_combine(b, "SegmentProd", "UnsortedSegmentProd", segment_grad_choose(G, is_zero, one, DATA));
  const weft_out ids = segment_grad_clipped(b);
  const weft_out quotient = weft__b_div(G, segment_grad_pick(b, b->out[0], ids), DATA);
  return segment_grad_set_dx(b,
                             weft__b_mul(G, segment_grad_spread(b, dy),
                                         segment_grad_choose(G, is_zero, segment_grad_pick(b, others, ids), quotient)));
}

weft_err weft__segment_prod_grad(backprop *b) { return prod_grad(b); }
weft_err weft__unsorted_prod_grad(backprop *b) { return prod_grad(b); }
