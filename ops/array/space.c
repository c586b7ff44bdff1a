/* space.c - moves blocks of space into the depth or the batch, and back.
 *
 * SpaceToDepth and DepthToSpace permute axes.  SpaceToBatch and BatchToSpace relate a big tensor (batch, space,
 * rest) to a small one whose batch axis is (offset in the block, batch):
 *   small[o, n, i] = big[n, i * block + o - before]
 * Each offset o is one strided copy. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"

/* ---- SpaceToDepth, DepthToSpace ---- */

typedef struct image { /* the positions of the axes of a batch of images */
  int height, width, depth;
} image;

static image image_axes(const weft_node *n) {
  return weft__node_str_is(n, "data_format", "NCHW") ? (image){2, 3, 1} : (image){1, 2, 3};
}

static int64_t space_divided(int64_t v, int64_t by) { return v < 0 ? -1 : v / by; }

static weft_err depth_infer(infer *s, bool to_depth) {
  shape x;
  image a = image_axes(s->node);
  int64_t b = weft__node_int(s->node, "block_size", 2);
  if (weft__node_str_is(s->node, "data_format", "NCHW_VECT_C"))
    return weft__infer_fail(s, "data_format NCHW_VECT_C is only for quantized images on a GPU");
  if (b > INT32_MAX) return weft__infer_fail(s, "block_size %lld is too large", (long long)b);
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  int64_t cut = to_depth ? b : b * b;
  int axes[] = {to_depth ? a.height : a.depth, to_depth ? a.width : a.depth};
  for (int i = 0; i < 2; i++)
    if (x.dim[axes[i]] % cut > 0)
      return weft__infer_fail(s, "Dimension size must be evenly divisible by %lld but is %lld", (long long)cut,
                              (long long)x.dim[axes[i]]);
  s->out[0] = x;
  s->out[0].dim[a.height] = to_depth ? space_divided(x.dim[a.height], b) : weft__shape_dim_mul(x.dim[a.height], b);
  s->out[0].dim[a.width] = to_depth ? space_divided(x.dim[a.width], b) : weft__shape_dim_mul(x.dim[a.width], b);
  s->out[0].dim[a.depth] = to_depth ? weft__shape_dim_mul(x.dim[a.depth], b * b) : space_divided(x.dim[a.depth], b * b);
  return WEFT_OK;
}

static weft_err to_depth_infer(infer *s) { return depth_infer(s, true); }
static weft_err from_depth_infer(infer *s) { return depth_infer(s, false); }

/* Describes the strided copy of both ops with six axes, between the wide images (height, width) and the deep ones
 * (depth). */
static void depth_box(strided_copy *copy, const shape *wide, const shape *deep, image a, int64_t b, bool to_depth) {
  int64_t w[4], d[4];
  weft__shape_steps(wide, w);
  weft__shape_steps(deep, d);
  int64_t inner = d[a.depth] * wide->dim[a.depth]; /* distance in depth between neighbors in a block */
  struct {
    int64_t n, wide, deep;
  } axis[] = {{wide->dim[0], w[0], d[0]},
              {deep->dim[a.height], w[a.height] * b, d[a.height]},
              {deep->dim[a.width], w[a.width] * b, d[a.width]},
              {b, w[a.height], inner * b},
              {b, w[a.width], inner},
              {wide->dim[a.depth], w[a.depth], d[a.depth]}};
  bool channels_first = a.depth == 1;
  static const int orders[4][6] = {{0, 1, 3, 2, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 5, 1, 3, 2, 4}, {0, 3, 4, 5, 1, 2}};
  const int *order = orders[2 * channels_first + to_depth];
  copy->rank = 0;
  for (int i = 0; i < 6; i++) {
    int64_t wide_step = axis[order[i]].wide, deep_step = axis[order[i]].deep;
    weft__strided_copy_axis(copy, axis[order[i]].n, to_depth ? wide_step : deep_step, to_depth ? deep_step : wide_step);
  }
}

static weft_err depth_cpu(kernel *k, bool to_depth) {
  const weft_tensor *x = k->in[0];
  image a = image_axes(k->node);
  int64_t b = weft__node_int(k->node, "block_size", 2);
  if (x->shape.rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input rank should be 4 instead of %d", x->shape.rank);
  shape out = x->shape;
  int64_t *h = &out.dim[a.height], *w = &out.dim[a.width], *d = &out.dim[a.depth];
  if (to_depth && (*h % b || *w % b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Image width %lld and height %lld should be divisible by block_size: %lld", (long long)*w,
                             (long long)*h, (long long)b);
  if (!to_depth && *d % (b * b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input depth dimension %lld should be divisible by: %lld",
                             (long long)*d, (long long)(b * b));
  *h = to_depth ? *h / b : *h * b;
  *w = to_depth ? *w / b : *w * b;
  *d = to_depth ? *d * b * b : *d / (b * b);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  strided_copy copy;
  depth_box(&copy, to_depth ? &x->shape : &out, to_depth ? &out : &x->shape, a, b, to_depth);
  return weft__strided_copy_run(k, x->dtype, y->data, x->data, &copy);
}

static weft_err to_depth_cpu(kernel *k) { return depth_cpu(k, true); }
static weft_err from_depth_cpu(kernel *k) { return depth_cpu(k, false); }

static weft_err depth_grad(backprop *b, const char *inverse) {
  attr attrs[] = {*weft__node_attr(b->node, "block_size"), *weft__node_attr(b->node, "data_format")};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, inverse, NULL, 1, b->dout, 2, attrs));
  return WEFT_OK;
}
static weft_err to_depth_grad(backprop *b) { return depth_grad(b, "DepthToSpace"); }
static weft_err from_depth_grad(backprop *b) { return depth_grad(b, "SpaceToDepth"); }

/* ---- SpaceToBatchND, BatchToSpaceND ---- */

typedef struct blocks {
  int m; /* the axes of space are 1 .. m */
  int64_t size[WEFT_MAX_RANK], before[WEFT_MAX_RANK], after[WEFT_MAX_RANK];
  int64_t count; /* product of the sizes */
} blocks;

/* Returns the dimension of axis d in the other tensor: divided by the block size (to_batch) or multiplied by it,
 * with the border added or removed.  Returns -1 if the dimension is unknown and -2 if it does not fit. */
static int64_t other_dim(const blocks *b, int d, int64_t dim, bool to_batch) {
  int64_t border_of = weft__shape_dim_add(b->before[d], b->after[d]);
  if (dim < 0) return -1;
  if (border_of < 0) return -2;
  if (to_batch) {
    int64_t padded = weft__shape_dim_add(dim, border_of);
    return padded < 0 || padded % b->size[d] ? -2 : padded / b->size[d];
  }
  int64_t whole = weft__shape_dim_mul(dim, b->size[d]);
  return whole < border_of ? -2 : whole - border_of;
}

/* Reads block sizes and borders from tensors.  The older ops have the attribute block_size in place of a tensor. */
static const char *read_blocks(blocks *b, const weft_tensor *sizes, int64_t size, const weft_tensor *border) {
  b->count = 1;
  if (border->shape.rank != 2 || border->shape.dim[0] != b->m || border->shape.dim[1] != 2)
    return "paddings and crops must have one row of two for each block size";
  for (int d = 0; d < b->m; d++) {
    b->size[d] = sizes ? weft__tensor_int(sizes, d) : size;
    b->before[d] = weft__tensor_int(border, 2 * d);
    b->after[d] = weft__tensor_int(border, 2 * d + 1);
    if (b->size[d] < 1) return "block_shape must be positive";
    if (b->before[d] < 0 || b->after[d] < 0) return "paddings and crops cannot be negative";
    if (__builtin_mul_overflow(b->count, b->size[d], &b->count)) return "block_shape is too large";
  }
  return NULL;
}

static weft_err batch_infer_with(infer *s, int m, int at_sizes, int at_border, bool to_batch) {
  const shape *x = &s->in[0];
  shape *out = &s->out[0];
  const weft_tensor *sizes = at_sizes >= 0 ? weft__infer_value(s, at_sizes) : NULL;
  const weft_tensor *border = weft__infer_value(s, at_border);
  blocks b = {.m = m};
  WEFT_TRY(weft__infer_rank_at_least(s, 0, m + 1));
  bool given = border && (at_sizes < 0 || sizes);
  const char *wrong = given ? read_blocks(&b, sizes, weft__node_int(s->node, "block_size", 2), border) : NULL;
  if (wrong) return weft__infer_fail(s, "%s", wrong);
  if (x->rank < 0) return WEFT_OK;
  *out = *x;
  for (int d = 0; d <= m; d++) out->dim[d] = -1;
  if (!given) return WEFT_OK;
  if (!to_batch && x->dim[0] % b.count > 0)
    return weft__infer_fail(s, "Dimension size must be evenly divisible by %lld but is %lld", (long long)b.count,
                            (long long)x->dim[0]);
  out->dim[0] = to_batch ? weft__shape_dim_mul(x->dim[0], b.count) : space_divided(x->dim[0], b.count);
  for (int d = 0; d < m; d++) {
    out->dim[d + 1] = other_dim(&b, d, x->dim[d + 1], to_batch);
    if (out->dim[d + 1] == -2)
      return weft__infer_fail(s,
                              to_batch ? "Dimension size must be evenly divisible by %lld but is %lld"
                                       : "Crops take more than there is: blocks of %lld, dimension %lld",
                              (long long)b.size[d], (long long)x->dim[d + 1]);
  }
  return WEFT_OK;
}

static weft_err space_nd_infer(infer *s, bool to_batch) {
  shape sizes;
  if (s->in[1].rank >= 0 && s->in[1].rank != 1) return weft__infer_fail(s, "block_shape must have rank 1.");
  WEFT_TRY(weft__infer_rank(s, 1, 1, &sizes));
  if (sizes.dim[0] < 0) return WEFT_OK;
  if (sizes.dim[0] >= WEFT_MAX_RANK) return weft__infer_fail(s, "block_shape has too many elements");
  return batch_infer_with(s, weft__int_sat(sizes.dim[0]), 1, 2, to_batch);
}

static weft_err nd_to_batch_infer(infer *s) { return space_nd_infer(s, true); }
static weft_err nd_from_batch_infer(infer *s) { return space_nd_infer(s, false); }

static weft_err two_infer(infer *s, bool to_batch) {
  WEFT_TRY(weft__infer_rank(s, 0, 4, NULL));
  WEFT_TRY(batch_infer_with(s, 2, -1, 1, to_batch));
  if (s->out[0].rank < 0) s->out[0] = SHAPE4(-1, -1, -1, -1);
  return WEFT_OK;
}
static weft_err to_batch_infer(infer *s) { return two_infer(s, true); }
static weft_err from_batch_infer(infer *s) { return two_infer(s, false); }

/* Copies the elements at offset o of every block between the big and the small tensor. */
static weft_err copy_offset(kernel *k, const blocks *b, weft_tensor *y, const shape *big, const shape *small, int64_t o,
                            bool to_batch) {
  const weft_tensor *x = k->in[0];
  int64_t bs[WEFT_MAX_RANK], ss[WEFT_MAX_RANK], at_big = 0, at_small;
  weft__shape_steps(big, bs);
  weft__shape_steps(small, ss);
  strided_copy copy;
  copy.rank = 0;
  at_small = o * big->dim[0] * ss[0];
  weft__strided_copy_axis(&copy, big->dim[0], to_batch ? bs[0] : ss[0], to_batch ? ss[0] : bs[0]);
  int64_t offset[WEFT_MAX_RANK] = {0};
  for (int d = b->m - 1; d >= 0; d--) {
    offset[d] = o % b->size[d];
    o /= b->size[d];
  }
  for (int d = 0; d < b->m; d++) { /* start at the first i for which i * size + shift is in [0, dim) */
    int64_t shift = offset[d] - b->before[d], size = b->size[d], dim = big->dim[d + 1];
    int64_t first = shift < 0 ? (-shift + size - 1) / size : 0, last = dim > shift ? (dim - 1 - shift) / size : -1;
    if (last >= small->dim[d + 1]) last = small->dim[d + 1] - 1;
    if (last < first) return WEFT_OK;
    at_big += (first * size + shift) * bs[d + 1];
    at_small += first * ss[d + 1];
    weft__strided_copy_axis(&copy, last - first + 1, to_batch ? bs[d + 1] * size : ss[d + 1],
                            to_batch ? ss[d + 1] : bs[d + 1] * size);
  }
  weft__strided_copy_axis(&copy, weft__shape_product(big, b->m + 1, big->rank), 1, 1);
  return weft__strided_copy_run(k, x->dtype, weft__element(x->dtype, y->data, to_batch ? at_small : at_big),
                                weft__element_const(x->dtype, x->data, to_batch ? at_big : at_small), &copy);
}

static weft_err batch_with(kernel *k, blocks *b, const weft_tensor *sizes, const weft_tensor *border, bool to_batch) {
  const weft_tensor *x = k->in[0];
  if (x->shape.rank < b->m + 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input rank should be >= %d instead of %d", b->m + 1,
                             x->shape.rank);
  const char *wrong = read_blocks(b, sizes, weft__node_int(k->node, "block_size", 2), border);
  if (wrong) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s", wrong);
  shape out = x->shape;
  if (!to_batch && out.dim[0] % b->count)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input batch dimension (%lld) is not divisible by product of block sizes (%lld)",
                             (long long)out.dim[0], (long long)b->count);
  out.dim[0] = to_batch ? weft__shape_dim_mul(out.dim[0], b->count) : out.dim[0] / b->count;
  bool bordered = false;
  for (int d = 0; d < b->m; d++) {
    out.dim[d + 1] = other_dim(b, d, x->shape.dim[d + 1], to_batch);
    bordered = bordered || b->before[d] || b->after[d];
    if (out.dim[d + 1] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s[%d]=%lld does not fit block_shape[%d]=%lld",
                               to_batch ? "padded_shape" : "cropped_shape", d, (long long)x->shape.dim[d + 1], d,
                               (long long)b->size[d]);
  }
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  if (to_batch && bordered && weft__dtype_is_plain(y->dtype)) WEFT_TRY(weft__strided_zero(k, y));
  for (int64_t o = 0; o < b->count && weft__tensor_count(y) > 0; o++)
    WEFT_TRY(copy_offset(k, b, y, to_batch ? &x->shape : &out, to_batch ? &out : &x->shape, o, to_batch));
  return WEFT_OK;
}

static weft_err nd_batch(kernel *k, bool to_batch) {
  WEFT_TRY(weft__kernel_vector(k, 1, "block_shape"));
  if (k->in[1]->shape.dim[0] >= WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "block_shape has too many elements");
  blocks b = {.m = weft__int_sat(k->in[1]->shape.dim[0])};
  return batch_with(k, &b, k->in[1], k->in[2], to_batch);
}
static weft_err nd_to_batch_cpu(kernel *k) { return nd_batch(k, true); }
static weft_err nd_from_batch_cpu(kernel *k) { return nd_batch(k, false); }

static weft_err two_batch(kernel *k, bool to_batch) {
  blocks b = {.m = 2};
  if (k->in[0]->shape.rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input rank should be: 4instead of: %d", k->in[0]->shape.rank);
  return batch_with(k, &b, NULL, k->in[1], to_batch);
}
static weft_err to_batch_cpu(kernel *k) { return two_batch(k, true); }
static weft_err from_batch_cpu(kernel *k) { return two_batch(k, false); }

static weft_err nd_batch_grad(backprop *b, const char *inverse) {
  weft_out in[] = {b->dout[0], b->in[1], b->in[2]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, inverse, NULL, 3, in, 0, NULL));
  return WEFT_OK;
}
static weft_err nd_to_batch_grad(backprop *b) { return nd_batch_grad(b, "BatchToSpaceND"); }
static weft_err nd_from_batch_grad(backprop *b) { return nd_batch_grad(b, "SpaceToBatchND"); }

static weft_err batch_grad(backprop *b, const char *inverse) {
  weft_out in[] = {b->dout[0], b->in[1]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, inverse, NULL, 2, in, 1, weft__node_attr(b->node, "block_size")));
  return WEFT_OK;
}
static weft_err to_batch_grad(backprop *b) { return batch_grad(b, "BatchToSpace"); }
static weft_err from_batch_grad(backprop *b) { return batch_grad(b, "SpaceToBatch"); }

/* ---- cases ---- */

static const op_case to_depth_cases[] = {
    {"f32[1,2,2,1] 1 2 3 4", "f32[1,1,1,4] 1 2 3 4", "block_size=2", 0},
    {"f64[2,4,6,3] rand", NULL, "block_size=2", 0},
    {"u8[1,3,3,2] rand", NULL, "block_size=3", 0},
    {"f32[1,1,2,2] 1 2 3 4", "f32[1,4,1,1] 1 2 3 4", "block_size=2 data_format='NCHW'", CASE_NO_PARITY},
    {"f32[1,2,2,2] seq", "f32[1,8,1,1] 0 4 1 5 2 6 3 7", "block_size=2 data_format='NCHW'", CASE_NO_PARITY},
    {"f32[1,3,4,1] 0", "error INVALID_ARGUMENT", "block_size=2", 0},
    {"f32[4,4] 0", "error INVALID_ARGUMENT", "block_size=2", 0},
    {0},
};

static const op_case from_depth_cases[] = {
    {"f32[1,1,1,4] 1 2 3 4", "f32[1,2,2,1] 1 2 3 4", "block_size=2", 0},
    {"f64[2,2,3,12] rand", NULL, "block_size=2", 0},
    {"f32[1,8,1,1] 0 4 1 5 2 6 3 7", "f32[1,2,2,2] seq", "block_size=2 data_format='NCHW'", CASE_NO_PARITY},
    {"f32[1,1,1,3] 0", "error INVALID_ARGUMENT", "block_size=2", 0},
    {0},
};

static const op_case nd_to_batch_cases[] = {
    {"f32[1,4,1] 1 2 3 4; i32[1] 2; i32[1,2] 1 1", "f32[2,3,1] 0 2 4 1 3 0", NULL, 0},
    {"f64[2,4,6,3] rand; i32[2] 2 3; i64[2,2] 0 0 1 2", NULL, NULL, 0},
    {"f64[2,3] rand; i32[0] 0; i32[0,2] 0", NULL, NULL, 0},
    {"f32[1,4,1] 0; i32[1] 3; i32[1,2] 0 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,4,1] 0; i32[1] 0; i32[1,2] 0 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[1,4,1] 0; i32[1] 2; i32[1,2] -1 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case nd_from_batch_cases[] = {
    {"f32[2,3,1] 0 2 4 1 3 0; i32[1] 2; i32[1,2] 1 1", "f32[1,4,1] 1 2 3 4", NULL, 0},
    {"f64[6,2,3,2] rand; i64[2] 2 3; i32[2,2] 0 1 2 1", NULL, NULL, 0},
    {"f32[3,2,1] 0; i32[1] 2; i32[1,2] 0 0", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[4,2,1] 0; i32[1] 2; i32[1,2] 3 2", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case to_batch_cases[] = {
    {"f32[1,2,2,1] 1 2 3 4; i32[2,2] 0 0 0 0", "f32[4,1,1,1] 1 2 3 4", "block_size=2", 0},
    {"f64[2,4,4,3] rand; i32[2,2] 0 0 1 1", NULL, "block_size=2", 0},
    {"f32[1,3,4,1] 0; i32[2,2] 0 0 0 0", "error INVALID_ARGUMENT", "block_size=2", 0},
    {0},
};

static const op_case from_batch_cases[] = {
    {"f32[4,1,1,1] 1 2 3 4; i32[2,2] 0 0 0 0", "f32[1,2,2,1] 1 2 3 4", "block_size=2", 0},
    {"f64[8,2,3,2] rand; i64[2,2] 0 1 1 1", NULL, "block_size=2", 0},
    {"f32[4,2,2] 0; i32[2,2] 0 0 0 0", "error INVALID_ARGUMENT", "block_size=2", 0},
    {0},
};

#define FORMAT "T:type block_size:int>=2 data_format:string{'NHWC','NCHW','NCHW_VECT_C'}='NHWC'"
#define INDEX(name) #name ":type{int32,int64}=int32"

OPS(space) = {
    {"SpaceToDepth(input:T) -> (output:T) | " FORMAT, "Blocks of pixels become depth.", .infer = to_depth_infer,
     .cpu = to_depth_cpu, .grad = to_depth_grad, .cases = to_depth_cases, .amp = AMP_CLEAR},
    {"DepthToSpace(input:T) -> (output:T) | " FORMAT, "Depth becomes blocks of pixels.", .infer = from_depth_infer,
     .cpu = from_depth_cpu, .grad = from_depth_grad, .cases = from_depth_cases, .amp = AMP_CLEAR},
    {"SpaceToBatchND(input:T, block_shape:Tblock_shape, paddings:Tpaddings) -> (output:T) | T:type " INDEX(
         Tblock_shape) " " INDEX(Tpaddings),
     "Places inside blocks of space become batch entries.", .infer = nd_to_batch_infer, .cpu = nd_to_batch_cpu,
     .grad = nd_to_batch_grad, .cases = nd_to_batch_cases, .amp = AMP_CLEAR},
    {"BatchToSpaceND(input:T, block_shape:Tblock_shape, crops:Tcrops) -> (output:T) | T:type " INDEX(
         Tblock_shape) " " INDEX(Tcrops),
     "Batch entries become places inside blocks of space.", .infer = nd_from_batch_infer, .cpu = nd_from_batch_cpu,
     .grad = nd_from_batch_grad, .cases = nd_from_batch_cases, .amp = AMP_CLEAR},
    {"SpaceToBatch(input:T, paddings:Tpaddings) -> (output:T) | T:type " INDEX(Tpaddings) " block_size:int>=2",
     "Places inside blocks of pixels become batch entries.", .infer = to_batch_infer, .cpu = to_batch_cpu,
     .grad = to_batch_grad, .cases = to_batch_cases, .amp = AMP_CLEAR},
    {"BatchToSpace(input:T, crops:Tidx) -> (output:T) | T:type block_size:int>=2 " INDEX(Tidx),
     "Batch entries become places inside blocks of pixels.", .infer = from_batch_infer, .cpu = from_batch_cpu,
     .grad = from_batch_grad, .cases = from_batch_cases, .amp = AMP_CLEAR},
    {0},
};
