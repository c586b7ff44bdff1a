/* tile.c - Tile: repeats the input along each axis.
 *
 * Each axis of the output is two axes of the strided copy: the repetition, with source stride 0, and the position in
 * it. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

static weft_err tile_infer(infer *s) {
  const shape *x = &s->in[0];
  shape times, length;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &length));
  WEFT_TRY(weft__infer_shape_value(s, 1, &times));
  int64_t rank = length.dim[0] >= 0 ? length.dim[0] : x->rank;
  if (x->rank >= 0 && rank != x->rank)
    return weft__infer_fail(s, "Shape must be rank %d but is rank %lld", x->rank, (long long)rank);
  if (rank < 0 || rank > WEFT_MAX_RANK) return WEFT_OK;
  s->out[0].rank = weft__int_sat(rank);
  for (int d = 0; d < rank; d++) {
    int64_t n = times.rank < 0 ? -1 : times.dim[d], dim = x->rank < 0 ? -1 : x->dim[d];
    s->out[0].dim[d] = weft__shape_dim_mul(n, dim);
  }
  return WEFT_OK;
}

static weft_err tile_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  const shape *in = &x->shape, *m = &k->in[1]->shape;
  int64_t times[WEFT_MAX_RANK], from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];
  if (m->rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected multiples to be 1-D, but got shape %s",
                             weft__shape_text(m));
  if (m->dim[0] != in->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Expected multiples argument to be a vector of length %d but got length %lld", in->rank,
                             (long long)m->dim[0]);
  shape out = {.rank = in->rank};
  for (int d = 0; d < in->rank; d++) {
    times[d] = weft__tensor_int(k->in[1], d);
    if (times[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected multiples[%d] >= 0, but got %lld", d,
                               (long long)times[d]);
    if (__builtin_mul_overflow(in->dim[d], times[d], &out.dim[d]))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "multiples[%d] = %lld makes the result too large", d,
                               (long long)times[d]);
  }
  if (weft__shape_equal(&out, in)) return weft__forward(k, 0, 0, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  weft__shape_steps(in, from);
  weft__shape_steps(&out, to);
  strided_copy copy;
  copy.rank = 0;
  for (int d = 0; d < in->rank; d++) {
    weft__strided_copy_axis(&copy, times[d], 0, to[d] * in->dim[d]);
    weft__strided_copy_axis(&copy, in->dim[d], from[d], to[d]);
  }
  return weft__strided_copy_run(k, x->dtype, y->data, x->data, &copy);
}

/* Reshapes the gradient to (times0, dim0, times1, dim1, ...) and sums over the repetitions. */
static weft_err tile_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_out dims = weft__b_shape(g, b->in[0]), zero = weft__b_scalar(g, WEFT_INT32, 0), flat;
  weft_out pair[] = {weft__b_cast(g, b->in[1], WEFT_INT32), dims};
  attr axis = A_INT("axis", 1);
  weft_out both = weft__b_node(g, "Pack", NULL, 2, pair, 1, &axis);
  flat = weft__b_reshape(g, both, weft__b_ints(g, &(int64_t){-1}, 1));
  weft_out range[] = {zero, weft__b_size(g, flat), weft__b_scalar(g, WEFT_INT32, 2)};
  int rank = weft__out_shape(g, b->in[0])->rank;
  int64_t even[WEFT_MAX_RANK];
  for (int d = 0; d < rank; d++) even[d] = 2 * d;
  weft_out axes = rank >= 0 ? weft__b_ints(g, even, rank) : weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
  weft_out sum = weft__b_sum(g, weft__b_reshape(g, b->dout[0], flat), axes, false);
  b->din[0] = GRAD_DENSE(weft__b_reshape(g, sum, dims));
  return WEFT_OK;
}

static const op_case tile_cases[] = {
    {"f32[2,2] 1 2 3 4; i32[2] 1 2", "f32[2,4] 1 2 1 2 3 4 3 4", NULL, 0},
    {"f32[2] 1 2; i32[1] 3", "f32[6] 1 2 1 2 1 2", NULL, 0},
    {"f64[2,1,3] rand; i64[3] 2 3 2", NULL, NULL, 0},
    {"f32[] 3; i32[0] 0", "f32[] 3", NULL, 0},
    {"f32[2,3] rand; i32[2] 0 2", "f32[0,6] 0", NULL, CASE_NO_GRAD},
    {"str[1,2] \"a\" \"b\"; i32[2] 2 1", "str[2,2] \"a\" \"b\" \"a\" \"b\"", NULL, 0},
    {"bool[1] true; i32[1] 2", "bool[2] true true", NULL, 0},
    {"f32[1,300] rand; i32[2] 40 1", NULL, NULL, CASE_NO_GRAD},
    {"u8[30,1] rand; i32[2] 1 100", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] 0; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[1] -1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(tile) = {
    {"Tile(input:T, multiples:Tmultiples) -> (output:T) | T:type Tmultiples:type{int32,int64}=int32",
     "The input repeated along each axis.", .infer = tile_infer, .cpu = tile_cpu, .grad = tile_grad,
     .cases = tile_cases, .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {0},
};
