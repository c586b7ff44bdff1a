/* split_nd.c - cuts a tensor into a grid of equal blocks, and joins such blocks: XlaSplitND, XlaConcatND, and the same
 * on the value of a resource variable.
 *
 * Blocks are in row-major order of the grid.  paddings has zeros that are added at the upper end of each axis before
 * the cut, or left out after the join. */
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "state/variable.h"

typedef struct grid {
  int rank;
  int64_t count[WEFT_MAX_RANK], padding[WEFT_MAX_RANK];
  shape block, whole; /* whole: without the paddings */
} grid;

/* Reads the attributes for blocks of a tensor of that rank.  Checks that they describe n blocks. */
static weft_err read_grid(const kernel *k, const char *name, int n, int rank, grid *g) {
  const attr *count = weft__node_attr(k->node, name), *padding = weft__node_attr(k->node, "paddings");
  int64_t blocks = 1;
  g->rank = rank;
  if (!count || count->n != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'%s' length %d, but expected rank %d", name,
                             count ? count->n : 0, rank);
  if (padding && padding->n != 0 && padding->n != rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'paddings' length %d, but expected rank %d", padding->n, rank);
  for (int d = 0; d < rank; d++) {
    g->count[d] = count->is[d];
    g->padding[d] = padding && padding->n ? padding->is[d] : 0;
    if (g->count[d] <= 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'%s' at index %d must be positive, but got %lld", name, d,
                               (long long)g->count[d]);
    if (g->padding[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'paddings' at index %d must be non-negative, but got %lld", d,
                               (long long)g->padding[d]);
    if (__builtin_mul_overflow(blocks, g->count[d], &blocks)) blocks = -1;
    if (blocks < 0) break;
  }
  if (blocks != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'N' must match number of slices %lld, but got %d",
                             (long long)blocks, n);
  return WEFT_OK;
}

/* Finds the place of block i, and its size without what lies in the paddings. */
static bool place_block(const grid *g, int64_t i, int64_t *begin, shape *inner) {
  bool whole = true;
  *inner = g->block;
  for (int d = g->rank - 1; d >= 0; i /= g->count[d], d--) {
    begin[d] = i % g->count[d] * g->block.dim[d];
    const int64_t left = g->whole.dim[d] - begin[d];
    inner->dim[d] = left < 0 ? 0 : left < g->block.dim[d] ? left : g->block.dim[d];
    whole &= inner->dim[d] == g->block.dim[d];
  }
  return whole;
}

/* Copies the part of a block that lies in the whole, into the block or out of it. */
static weft_err copy_block(const kernel *k, const grid *g, const int64_t *begin, const shape *inner, weft_dtype type,
                           void *whole, void *block, bool join) {
  int64_t outer[WEFT_MAX_RANK], own[WEFT_MAX_RANK], offset = 0;
  strided_copy copy;
  copy.rank = 0;
  if (weft__shape_count(inner) == 0) return WEFT_OK;
  weft__shape_steps(&g->whole, outer);
  weft__shape_steps(&g->block, own);
  for (int d = 0; d < g->rank; d++) {
    offset += begin[d] * outer[d];
    weft__strided_copy_axis(&copy, inner->dim[d], join ? own[d] : outer[d], join ? outer[d] : own[d]);
  }
  void *at = weft__element(type, whole, offset);
  return weft__strided_copy_run(k, type, join ? at : block, join ? block : at, &copy);
}

/* ---- cutting ---- */

static weft_err split_tensor(kernel *k, const weft_tensor *x) {
  grid g;
  int64_t begin[WEFT_MAX_RANK];
  shape inner;
  if (!weft__dtype_is_plain(x->dtype)) return weft__kernel_no_type(k, x->dtype);
  WEFT_TRY(read_grid(k, "num_splits", k->n_out, x->shape.rank, &g));
  g.whole = g.block = x->shape;
  for (int d = 0; d < g.rank; d++) {
    int64_t padded = 0;
    if (__builtin_add_overflow(x->shape.dim[d], g.padding[d], &padded))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'paddings' at index %d makes the input too large", d);
    if (padded % g.count[d] != 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Input shape dimension %d with paddings, %lld, must be evenly divisible by its "
                               "'num_splits', %lld",
                               d, (long long)padded, (long long)g.count[d]);
    g.block.dim[d] = padded / g.count[d];
  }
  for (int i = 0; i < k->n_out; i++) {
    weft_tensor *y = weft__out(k, i, &g.block);
    if (!y) return weft__out_refused(&g.block);
    if (!place_block(&g, i, begin, &inner)) WEFT_TRY(weft__strided_zero(k, y));
    WEFT_TRY(copy_block(k, &g, begin, &inner, x->dtype, x->data, y->data, false));
  }
  return WEFT_OK;
}

static weft_err split_nd_cpu(kernel *k) { return split_tensor(k, k->in[0]); }

static weft_err read_split_nd_cpu(kernel *k) {
  variable *v = NULL;
  weft_tensor now = {0};
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (weft__variable_read(v, &now) != WEFT_OK) return weft__variable_fail_uninitialized(k, v);
  weft_err err =
      now.dtype == k->node->out_type[0]
          ? split_tensor(k, &now)
          : weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'T' must match the type of variable %s: %s, got %s", v->name,
                              weft__dtype_short(now.dtype), weft__dtype_short(k->node->out_type[0]));
  weft__tensor_clear(&now);
  return err;
}

/* ---- joining ---- */

/* Finds the shape of the n blocks from input `first` on, once they are joined. */
static weft_err joined_shape(const kernel *k, int first, int n, grid *g) {
  WEFT_TRY(read_grid(k, "num_concats", n, k->in[first]->shape.rank, g));
  g->whole = g->block = k->in[first]->shape;
  for (int i = 1; i < n; i++)
    if (!weft__shape_equal(&k->in[first + i]->shape, &g->block))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Inputs must all have the same expected shape %s, but got %s at index %d",
                               weft__shape_text(&g->block), weft__shape_text(&k->in[first + i]->shape), i);
  for (int d = 0; d < g->rank; d++) {
    int64_t merged = 0;
    if (__builtin_mul_overflow(g->block.dim[d], g->count[d], &merged))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "'num_concats' at index %d makes the result too large", d);
    if (g->padding[d] > merged)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "'paddings' at index %d must not exceed the merged size %lld, but got %lld", d,
                               (long long)merged, (long long)g->padding[d]);
    g->whole.dim[d] = merged - g->padding[d];
  }
  return WEFT_OK;
}

static weft_err join_blocks(const kernel *k, int first, int n, const grid *g, weft_tensor *y) {
  int64_t begin[WEFT_MAX_RANK];
  shape inner;
  for (int i = 0; i < n; i++) {
    (void)place_block(g, i, begin, &inner);
    WEFT_TRY(copy_block(k, g, begin, &inner, y->dtype, y->data, k->in[first + i]->data, true));
  }
  return WEFT_OK;
}

static weft_err concat_nd_cpu(kernel *k) {
  grid g;
  if (!weft__dtype_is_plain(k->in[0]->dtype)) return weft__kernel_no_type(k, k->in[0]->dtype);
  WEFT_TRY(joined_shape(k, 0, k->n_in, &g));
  weft_tensor *y = weft__out(k, 0, &g.whole);
  if (!y) return weft__out_refused(&g.whole);
  return join_blocks(k, 0, k->n_in, &g, y);
}

static weft_err assign_concat_nd_infer(infer *s) {
  weft_dtype type, got = weft__node_type(s->node, "T");
  shape declared;
  weft__infer_variable(s, 0, &type, &declared);
  if (type != WEFT_INVALID && type != got)
    return weft__infer_fail(s, "'T' must match the type of the variable: %s, got %s", weft__dtype_short(type),
                            weft__dtype_short(got));
  return WEFT_OK;
}

static weft_err assign_concat_nd_cpu(kernel *k) {
  variable *v = NULL;
  grid g;
  weft_tensor *y = NULL;
  if (!weft__dtype_is_plain(k->in[1]->dtype)) return weft__kernel_no_type(k, k->in[1]->dtype);
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  WEFT_TRY(joined_shape(k, 1, k->n_in - 1, &g));
  if (!weft__shape_compatible(&v->declared, &g.whole))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the shape of variable %s is %s, but the joined value has %s",
                             v->name, weft__shape_text(&v->declared), weft__shape_text(&g.whole));
  WEFT_TRY(weft__tensor_create(&y, k->in[1]->dtype, &g.whole));
  weft_err err = join_blocks(k, 1, k->n_in - 1, &g, y);
  if (!err) err = weft__variable_assign(v, y);
  weft_tensor_destroy(y);
  return err;
}

/* ---- the rows; TensorFlow 2.15 has kernels of these ops for TPUs only ---- */

#define VALUES (CASE_NO_GRAD | CASE_NO_PARITY)

static const op_case split_nd_cases[] = {
    {"f32[2,4] seq", "f32[1,2] 0 1; f32[1,2] 2 3; f32[1,2] 4 5; f32[1,2] 6 7", "N=4 num_splits=[2,2]", VALUES},
    {"i32[3,2] seq", "i32[2,1] 0 2; i32[2,1] 1 3; i32[2,1] 4 0; i32[2,1] 5 0", "N=4 num_splits=[2,2] paddings=[1,0]",
     VALUES},
    {"f64[1,2] 7 8", "f64[2,2] 7 8 0 0; f64[2,2] 0; f64[2,2] 0", "N=3 num_splits=[3,1] paddings=[5,0]", VALUES},
    {"bool[3] true false true", "bool[2] true false; bool[2] true false", "N=2 num_splits=[2] paddings=[1]", VALUES},
    {"f32[] 3", "f32[] 3", "N=1 num_splits=[]", VALUES},
    {"f32[0,2] 0", "f32[0,1] 0; f32[0,1] 0", "N=2 num_splits=[1,2]", VALUES},
    {"f32[2,2,2] seq", "f32[2,1,1] 0 4; f32[2,1,1] 1 5; f32[2,1,1] 2 6; f32[2,1,1] 3 7", "N=4 num_splits=[1,2,2]",
     VALUES},
    {"f32[3,4] 0", "error INVALID_ARGUMENT", "N=4 num_splits=[2,2]", CASE_NO_PARITY},
    {"f32[2,4] 0", "error INVALID_ARGUMENT", "N=3 num_splits=[2,2]", CASE_NO_PARITY},
    {"f32[2,4] 0", "error INVALID_ARGUMENT", "N=2 num_splits=[2]", CASE_NO_PARITY},
    {"f32[2,4] 0", "error INVALID_ARGUMENT", "N=2 num_splits=[0,2]", CASE_NO_PARITY},
    {"f32[2,4] 0", "error INVALID_ARGUMENT", "N=2 num_splits=[1,2] paddings=[2]", CASE_NO_PARITY},
    {"f32[2,4] 0", "error INVALID_ARGUMENT", "N=2 num_splits=[1,2] paddings=[-1,0]", CASE_NO_PARITY},
    {"f32[2] 0", "error INVALID_ARGUMENT", "N=2 num_splits=[2] paddings=[9223372036854775807]", CASE_NO_PARITY},
    {0},
};

static const op_case read_split_nd_cases[] = {
    {"&f32[3,2] seq", "f32[2,2] 0 1 2 3; f32[2,2] 4 5 0 0", "T=float N=2 num_splits=[2,1] paddings=[1,0]", VALUES},
    {"&f32[3,2] seq", "error INVALID_ARGUMENT", "T=float N=2 num_splits=[2,1]", CASE_NO_PARITY},
    {"&f32[2] 1 2", "error INVALID_ARGUMENT", "T=int32 N=1 num_splits=[1]", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {0},
};

static const op_case concat_nd_cases[] = {
    {"f32[1,2] 1 2; f32[1,2] 3 4", "f32[2,2] 1 2 3 4", "num_concats=[2,1]", VALUES},
    {"f32[2,1] 1 2; f32[2,1] 3 4; f32[2,1] 5 6; f32[2,1] 7 8", "f32[3,2] 1 3 2 4 5 7",
     "num_concats=[2,2] paddings=[1,0]", VALUES},
    {"i32[2] 1 2; i32[2] 3 4; i32[2] 5 6", "i32[1] 1", "num_concats=[3] paddings=[5]", VALUES},
    {"f32[2] 1 2", "f32[0] 0", "num_concats=[1] paddings=[2]", VALUES},
    {"f32[] 3", "f32[] 3", "num_concats=[]", VALUES},
    {"f32[2] 0; f32[2] 0", "error INVALID_ARGUMENT", "num_concats=[2] paddings=[5]", CASE_NO_PARITY},
    {"f32[2] 0; f32[1] 0", "error INVALID_ARGUMENT", "num_concats=[2]", CASE_NO_PARITY},
    {"f32[2] 0; f32[2] 0", "error INVALID_ARGUMENT", "num_concats=[3]", CASE_NO_PARITY},
    {"f32[2] 0; f32[2] 0", "error INVALID_ARGUMENT", "num_concats=[2,1]", CASE_NO_PARITY},
    {"f32[2] 0; f32[2] 0", "error INVALID_ARGUMENT", "num_concats=[-2]", CASE_NO_PARITY},
    {0},
};

static const op_case assign_concat_nd_cases[] = {
    {"&f32[3] 0; f32[2] 1 2; f32[2] 3 4", "", "num_concats=[2] paddings=[1]", VALUES},
    {"&f32[3] 0; f32[2] 1 2; f32[2] 3 4", "error INVALID_ARGUMENT", "num_concats=[2]", CASE_NO_PARITY},
    {"&f32[3] 0; i32[3] 1 2 3", "error INVALID_ARGUMENT", "num_concats=[1]", CASE_FIXED_TYPE | CASE_NO_PARITY},
    {0},
};

OPS(split_nd) = {
    {"XlaSplitND(input:T) -> (outputs:N*T) | T:type N:int>=1 num_splits:list(int) paddings:list(int)=[]",
     "The blocks of a grid that cuts the input, padded with zeros first.", .infer = weft__infer_none,
     .cpu = split_nd_cpu, .cases = split_nd_cases},
    {"XlaConcatND(inputs:N*T) -> (output:T) | T:type N:int>=1 num_concats:list(int) paddings:list(int)=[]",
     "The blocks of a grid as one tensor, without the paddings.", .infer = weft__infer_none, .cpu = concat_nd_cpu,
     .cases = concat_nd_cases},
    {"ReadVariableXlaSplitND(resource:resource) -> (outputs:N*T) | T:type N:int>=1 num_splits:list(int) "
     "paddings:list(int)=[] ; stateful",
     "The blocks of a grid that cuts the variable's value, padded with zeros first.", .infer = weft__infer_none,
     .cpu = read_split_nd_cpu, .cases = read_split_nd_cases},
    {"AssignVariableXlaConcatND(resource:resource, inputs:N*T) -> () | T:type N:int>=1 num_concats:list(int) "
     "paddings:list(int)=[] ; stateful",
     "Gives the variable the blocks of a grid as one tensor, without the paddings.", .flags = OP_UPDATES,
     .infer = assign_concat_nd_infer, .cpu = assign_concat_nd_cpu, .cases = assign_concat_nd_cases},
    {0},
};
