/* reverse.c - reverses or shifts axes: ReverseV2, Reverse, ReverseSequence, Roll. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

/* ---- ReverseV2, Reverse ---- */

/* Copies x with the axes in `flip` reversed. */
static weft_err reverse_axes(kernel *k, const bool *flip) {
  const weft_tensor *x = k->in[0];
  int64_t steps[WEFT_MAX_RANK], offset = 0;
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  weft__shape_steps(&x->shape, steps);
  strided_copy copy;
  copy.rank = 0;
  for (int d = 0; d < x->shape.rank; d++) {
    weft__strided_copy_axis(&copy, x->shape.dim[d], flip[d] ? -steps[d] : steps[d], steps[d]);
    if (flip[d]) offset += (x->shape.dim[d] - 1) * steps[d];
  }
  if (weft__tensor_count(x) == 0) return WEFT_OK;
  return weft__strided_copy_run(k, x->dtype, y->data, weft__element_const(x->dtype, x->data, offset), &copy);
}

static weft_err v2_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  const weft_tensor *axes = weft__infer_value(s, 1);
  int rank = s->in[0].rank;
  bool flip[WEFT_MAX_RANK] = {false};
  s->out[0] = s->in[0];
  for (int64_t i = 0; axes && rank >= 0 && i < weft__tensor_count(axes); i++) {
    int64_t a = weft__tensor_int(axes, i), d = a < 0 ? a + rank : a;
    if (d < 0 || d >= rank)
      return weft__infer_fail(s, "'axis'[%lld] = %lld is out of valid range [0, %d", (long long)i, (long long)a,
                              rank - 1);
    if (flip[d]) return weft__infer_fail(s, "axis %lld specified more than once.", (long long)d);
    flip[d] = true;
  }
  return WEFT_OK;
}

static weft_err v2_cpu(kernel *k) {
  int rank = k->in[0]->shape.rank;
  const shape *a = &k->in[1]->shape;
  bool flip[WEFT_MAX_RANK] = {false}, any = false;
  if (a->rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'dims' must be 1-dimension, not %d", a->rank);
  for (int64_t i = 0; i < a->dim[0]; i++) {
    int64_t v = weft__tensor_int(k->in[1], i), d = v < 0 ? v + rank : v;
    if (d < 0 || d >= rank)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'axis'[%lld] = %lld is out of valid range [0, %d",
                               (long long)i, (long long)v, rank - 1);
    if (flip[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis %lld specified more than once.", (long long)d);
    flip[d] = any = true;
  }
  return any ? reverse_axes(k, flip) : weft__forward(k, 0, 0, &k->in[0]->shape);
}

static weft_err dims_infer(infer *s) {
  shape dims;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &dims));
  s->out[0] = s->in[0];
  if (s->in[0].rank >= 0 && dims.dim[0] >= 0 && dims.dim[0] != s->in[0].rank)
    return weft__infer_fail(s, "Shape must be rank %lld but is rank %d", (long long)dims.dim[0], s->in[0].rank);
  return WEFT_OK;
}

static weft_err dims_cpu(kernel *k) {
  int rank = k->in[0]->shape.rank;
  if (k->in[1]->shape.rank != 1 || k->in[1]->shape.dim[0] != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "'dims' must have the same number of values as 'input' has dimensions. 'input' has %d"
                             "'dims' has %lld values",
                             rank, (long long)weft__tensor_count(k->in[1]));
  return reverse_axes(k, TENSOR_DATA(k->in[1], bool));
}

/* The gradient applies the op again, because reversing twice gives the original. */
static weft_err reverse_again(backprop *b, int n_attr, const attr *attrs) {
  weft_out in[] = {b->dout[0], b->in[1]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, b->node->op_name, NULL, 2, in, n_attr, attrs));
  return WEFT_OK;
}
static weft_err reverse_grad(backprop *b) { return reverse_again(b, 0, NULL); }

/* ---- ReverseSequence: in each batch entry, the first seq_lengths[b] steps are read backwards ---- */

static weft_err sequence_infer(infer *s) {
  shape x = s->in[0], lengths;
  int64_t batch = weft__node_int(s->node, "batch_dim", 0), seq = weft__node_int(s->node, "seq_dim", 0);
  WEFT_TRY(weft__infer_rank(s, 1, 1, &lengths));
  if (x.rank < 0) return WEFT_OK;
  if (batch < 0 || batch >= x.rank)
    return weft__infer_fail(s, "batch_dim must be < input rank: %lld vs. %d", (long long)batch, x.rank);
  if (seq < 0 || seq >= x.rank)
    return weft__infer_fail(s, "seq_dim must be < input rank: %lld vs. %d", (long long)seq, x.rank);
  if (x.dim[batch] >= 0 && lengths.dim[0] >= 0 && x.dim[batch] != lengths.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[batch],
                            (long long)lengths.dim[0]);
  if (x.dim[batch] < 0) x.dim[batch] = lengths.dim[0];
  s->out[0] = x;
  return WEFT_OK;
}

static weft_err sequence_check(kernel *k, int64_t batch, int64_t seq) {
  const shape *x = &k->in[0]->shape, *n = &k->in[1]->shape;
  if (batch == seq) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "batch_dim == seq_dim == %lld", (long long)seq);
  if (seq < 0 || seq >= x->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_dim must be < input rank ( %lld vs. %d)", (long long)seq,
                             x->rank);
  if (batch < 0 || batch >= x->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "batch_dim must be < input rank ( %lld vs. %d)",
                             (long long)batch, x->rank);
  if (n->rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_lengths must be 1-dim, not %d", n->rank);
  if (n->dim[0] != x->dim[batch])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Length of seq_lengths != input.dims(%lld), (%lld vs. %lld)",
                             (long long)batch, (long long)n->dim[0], (long long)x->dim[batch]);
  for (int64_t i = 0; i < n->dim[0]; i++) {
    int64_t v = weft__tensor_int(k->in[1], i);
    if (v < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_lens(%lld) < 0", (long long)i);
    if (v > x->dim[seq])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_lens(%lld) > input.dims(%lld)", (long long)i,
                               (long long)seq);
  }
  return WEFT_OK;
}

/* Copies steps [begin, begin + n) of one batch entry, backwards or not. */
static weft_err sequence_part(kernel *k, weft_tensor *y, int64_t batch, int64_t entry, int64_t seq, int64_t begin,
                              int64_t n, bool backwards) {
  const weft_tensor *x = k->in[0];
  int64_t steps[WEFT_MAX_RANK];
  weft__shape_steps(&x->shape, steps);
  strided_copy copy;
  copy.rank = 0;
  for (int d = 0; d < x->shape.rank; d++) {
    if (d == seq)
      weft__strided_copy_axis(&copy, n, backwards ? -steps[d] : steps[d], steps[d]);
    else if (d != batch)
      weft__strided_copy_axis(&copy, x->shape.dim[d], steps[d], steps[d]);
  }
  int64_t to = entry * steps[batch] + begin * steps[seq], from = backwards ? to + (n - 1) * steps[seq] : to;
  return weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, y->data, to),
                                weft__element_const(x->dtype, x->data, from), &copy);
}

static weft_err sequence_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  int64_t batch = weft__node_int(k->node, "batch_dim", 0), seq = weft__node_int(k->node, "seq_dim", 0);
  WEFT_TRY(sequence_check(k, batch, seq));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  if (weft__tensor_count(x) == 0) return WEFT_OK;
  for (int64_t i = 0; i < x->shape.dim[batch]; i++) {
    int64_t n = weft__tensor_int(k->in[1], i), rest = x->shape.dim[seq] - n;
    if (n > 0) WEFT_TRY(sequence_part(k, y, batch, i, seq, 0, n, true));
    if (rest > 0) WEFT_TRY(sequence_part(k, y, batch, i, seq, n, rest, false));
  }
  return WEFT_OK;
}

static weft_err sequence_grad(backprop *b) {
  attr attrs[] = {A_INT("seq_dim", weft__node_int(b->node, "seq_dim", 0)),
                  A_INT("batch_dim", weft__node_int(b->node, "batch_dim", 0))};
  return reverse_again(b, 2, attrs);
}

/* ---- Roll: shifts each axis; elements that leave at one end enter at the other ---- */

static weft_err roll_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

/* Computes the total shift of each axis, in [0, dim). */
static weft_err read_shifts(kernel *k, int64_t *shift) {
  const shape *x = &k->in[0]->shape, *s = &k->in[1]->shape, *a = &k->in[2]->shape;
  if (x->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be 1-D or higher");
  if (s->rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shift must be a scalar or a 1-D vector. Found: %s",
                             weft__shape_text(s));
  if (a->rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis must be a scalar or a 1-D vector. Found: %s",
                             weft__shape_text(a));
  if (!weft__shape_equal(s, a))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shift and axis must have the same size");
  for (int d = 0; d < x->rank; d++) shift[d] = 0;
  for (int64_t i = 0; i < weft__tensor_count(k->in[1]); i++) {
    int64_t v = weft__tensor_int(k->in[2], i), d = v < 0 ? v + x->rank : v;
    if (d < 0 || d >= x->rank)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "axis %lld is out of range", (long long)v);
    int64_t dim = x->dim[d] > 0 ? x->dim[d] : 1;
    shift[d] = (shift[d] + weft__tensor_int(k->in[1], i) % dim + dim) % dim;
  }
  return WEFT_OK;
}

/* Splits each axis into two runs.  Every combination of runs is one strided copy. */
static weft_err roll_copy(kernel *k, weft_tensor *y, const int64_t *shift, const int64_t *steps, int d,
                          strided_copy *copy, int64_t src, int64_t dst) {
  const weft_tensor *x = k->in[0];
  if (d == x->shape.rank)
    return weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, y->data, dst),
                                  weft__element_const(x->dtype, x->data, src), copy);
  int64_t n = x->shape.dim[d], head = n - shift[d];
  for (int p = 0; p < 2; p++) {
    int64_t count = p ? shift[d] : head, from = p ? head : 0, to = p ? 0 : shift[d];
    if (count == 0) continue;
    int rank = copy->rank;
    weft__strided_copy_axis(copy, count, steps[d], steps[d]);
    WEFT_TRY(roll_copy(k, y, shift, steps, d + 1, copy, src + from * steps[d], dst + to * steps[d]));
    copy->rank = rank;
  }
  return WEFT_OK;
}

static weft_err roll_cpu(kernel *k) {
  int64_t shift[WEFT_MAX_RANK], steps[WEFT_MAX_RANK];
  strided_copy copy;
  copy.rank = 0;
  WEFT_TRY(read_shifts(k, shift));
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  if (weft__tensor_count(y) == 0) return WEFT_OK;
  weft__shape_steps(&y->shape, steps);
  return roll_copy(k, y, shift, steps, 0, &copy, 0, 0);
}

static weft_err roll_grad(backprop *b) {
  weft_out in[] = {b->dout[0], weft__b_neg(b->graph, b->in[1]), b->in[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "Roll", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case v2_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i32[1] 1", "f32[2,3] 3 2 1 6 5 4", NULL, 0},
    {"f32[2,3] 1 2 3 4 5 6; i32[2] 0 -1", "f32[2,3] 6 5 4 3 2 1", NULL, 0},
    {"f64[3,2,4] rand; i64[1] 1", NULL, NULL, 0},
    {"f32[4] rand; i32[0] 0", NULL, NULL, 0},
    {"f32[0,3] 0; i32[1] 0", "f32[0,3] 0", NULL, 0},
    {"str[2] \"a\" \"b\"; i32[1] 0", "str[2] \"b\" \"a\"", NULL, 0},
    {"u8[40,50,3] rand; i32[2] 0 1", NULL, NULL, 0},
    {"f32[2,3] 0; i32[1] 2", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2,3] 0; i32[2] 1 -1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case dims_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; bool[2] false true", "f32[2,3] 3 2 1 6 5 4", NULL, 0},
    {"f64[3,2,4] rand; bool[3] true false true", NULL, NULL, 0},
    {"i32[2] 1 2; bool[1] true", "i32[2] 2 1", NULL, 0},
    {"f32[2,3] 0; bool[1] true", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case sequence_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; i64[2] 2 3", "f32[2,3] 2 1 3 6 5 4", "seq_dim=1", 0},
    {"f64[4,2,3] rand; i32[2] 0 4", NULL, "seq_dim=0 batch_dim=1", 0},
    {"f64[2,3,4] rand; i32[2] 1 3", NULL, "seq_dim=2 batch_dim=0", 0},
    {"str[1,2] \"a\" \"b\"; i64[1] 2", "str[1,2] \"b\" \"a\"", "seq_dim=1", 0},
    {"f32[2,3] 0; i64[2] 4 1", "error INVALID_ARGUMENT", "seq_dim=1", 0},
    {"f32[2,3] 0; i64[1] 1", "error INVALID_ARGUMENT", "seq_dim=1", 0},
    {"f32[2,3] 0; i64[2] 1 1", "error INVALID_ARGUMENT", "seq_dim=0", 0},
    {0},
};

static const op_case roll_cases[] = {
    {"f32[5] 0 1 2 3 4; i32[] 2; i32[] 0", "f32[5] 3 4 0 1 2", NULL, 0},
    {"f64[3,4] rand; i32[2] 1 -2; i64[2] 0 1", NULL, NULL, 0},
    {"f64[3,4] rand; i32[2] 5 9; i32[2] -1 -1", NULL, NULL, 0},
    {"str[2] \"a\" \"b\"; i32[] 1; i32[] 0", "str[2] \"b\" \"a\"", NULL, 0},
    {"f32[0] 0; i32[] 1; i32[] 0", "f32[0] 0", NULL, 0},
    {"f32[2] 0; i32[] 1; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[2] 1 1; i32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(reverse) = {
    {"ReverseV2(tensor:T, axis:Tidx) -> (output:T) | Tidx:type{int32,int64}=int32 "
     "T:type{uint8,int8,uint16,int16,int32,uint32,int64,uint64,bool,bfloat16,half,float,double,complex64,complex128,"
     "string}",
     "The input with some axes reversed.", .infer = v2_infer, .cpu = v2_cpu, .grad = reverse_grad, .cases = v2_cases,
     .amp = AMP_CLEAR},
    {"Reverse(tensor:T, dims:bool) -> (output:T) | "
     "T:type{uint8,int8,uint16,int16,uint32,int32,uint64,int64,bool,bfloat16,half,float,double,complex64,complex128,"
     "string}",
     "The input with some axes reversed.", .infer = dims_infer, .cpu = dims_cpu, .grad = reverse_grad,
     .cases = dims_cases, .amp = AMP_CLEAR},
    {"ReverseSequence(input:T, seq_lengths:Tlen) -> (output:T) | seq_dim:int batch_dim:int=0 T:type "
     "Tlen:type{int32,int64}=int64",
     "The input with the beginning of each sequence reversed.", .infer = sequence_infer, .cpu = sequence_cpu,
     .grad = sequence_grad, .cases = sequence_cases, .amp = AMP_CLEAR},
    {"Roll(input:T, shift:Tshift, axis:Taxis) -> (output:T) | T:type Tshift:type{int32,int64} Taxis:type{int32,int64}",
     "The input shifted along axes, ends joined.", .infer = roll_infer, .cpu = roll_cpu, .grad = roll_grad,
     .cases = roll_cases},
    {0},
};
