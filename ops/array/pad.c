/* pad.c - adds a border to a tensor: Pad, PadV2, MirrorPad, MirrorPadGrad.
 *
 * A constant border is written slab by slab around the copied middle, so that no element is written twice.  A
 * mirrored border consists of up to three strided copies along each axis, two of them backwards. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "state/combine.h"

typedef struct border {
  int64_t before[WEFT_MAX_RANK], after[WEFT_MAX_RANK];
} border;

/* ---- shape rules ---- */

/* Computes the shape of the input with its border (sign 1) or without it (sign -1). */
static weft_err pad_infer_by(infer *s, int sign) {
  shape x = s->in[0], p;
  WEFT_TRY(weft__infer_rank(s, 1, 2, &p));
  if (p.dim[1] >= 0 && p.dim[1] != 2)
    return weft__infer_fail(s, "Dimension must be 2 but is %lld", (long long)p.dim[1]);
  if (p.dim[0] >= 0) {
    if (p.dim[0] > WEFT_MAX_RANK) return weft__infer_fail(s, "Cannot pad %lld axes", (long long)p.dim[0]);
    WEFT_TRY(weft__infer_rank(s, 0, weft__int_sat(p.dim[0]), &x));
  }
  if (x.rank < 0) return WEFT_OK;
  const weft_tensor *v = weft__infer_value(s, 1);
  shape *out = &s->out[0];
  out->rank = x.rank;
  for (int d = 0; d < x.rank; d++) {
    int64_t before = v ? weft__tensor_int(v, 2 * d) : 0, after = v ? weft__tensor_int(v, 2 * d + 1) : 0;
    if (before < 0 || after < 0) return weft__infer_fail(s, "Paddings must be non-negative");
    int64_t border_of = weft__shape_dim_add(before, after);
    out->dim[d] = -1;
    if (!v || x.dim[d] < 0 || border_of < 0) continue;
    if (sign < 0 && border_of > x.dim[d]) return weft__infer_fail(s, "Paddings are larger than dimension %d", d);
    out->dim[d] = sign > 0 ? weft__shape_dim_add(x.dim[d], border_of) : x.dim[d] - border_of;
  }
  return WEFT_OK;
}

static weft_err pad_infer(infer *s) { return pad_infer_by(s, 1); }
static weft_err unpad_infer(infer *s) { return pad_infer_by(s, -1); }

static weft_err pad_v2_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  return pad_infer_by(s, 1);
}

/* ---- reading the border ---- */

static weft_err read_border(kernel *k, border *b) {
  const shape *x = &k->in[0]->shape, *p = &k->in[1]->shape;
  if (p->rank != 2 || p->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "paddings must be a matrix with 2 columns: %s",
                             weft__shape_text(p));
  if (p->dim[0] != x->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "The first dimension of paddings must be the rank of inputs%s %s", weft__shape_text(p),
                             weft__shape_text(x));
  for (int d = 0; d < x->rank; d++) {
    b->before[d] = weft__tensor_int(k->in[1], 2 * d);
    b->after[d] = weft__tensor_int(k->in[1], 2 * d + 1);
    if (b->before[d] < 0 || b->after[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Paddings must be non-negative: %lld %lld",
                               (long long)b->before[d], (long long)b->after[d]);
  }
  return WEFT_OK;
}

static weft_err padded_shape(kernel *k, const border *b, shape *out) {
  const shape *x = &k->in[0]->shape;
  out->rank = x->rank;
  for (int d = 0; d < x->rank; d++)
    if (__builtin_add_overflow(b->before[d], b->after[d], &out->dim[d]) ||
        __builtin_add_overflow(out->dim[d], x->dim[d], &out->dim[d]))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Paddings %lld %lld make dimension %d too large",
                               (long long)b->before[d], (long long)b->after[d], d);
  return WEFT_OK;
}

/* ---- Pad, PadV2 ---- */

/* Fills n positions of axis `at`, starting at `from`.  It covers only the middle of the outer axes, and the inner
 * axes completely. */
static weft_err fill_slab(kernel *k, weft_tensor *y, const border *b, const shape *x, int at, int64_t from, int64_t n,
                          const void *fill) {
  int64_t to[WEFT_MAX_RANK], offset = 0;
  strided_copy copy;
  copy.rank = 0;
  weft__shape_steps(&y->shape, to);
  for (int d = 0; d < at; d++) {
    weft__strided_copy_axis(&copy, x->dim[d], 0, to[d]);
    offset += b->before[d] * to[d];
  }
  weft__strided_copy_axis(&copy, n, 0, to[at]);
  for (int d = at + 1; d < x->rank; d++) weft__strided_copy_axis(&copy, y->shape.dim[d], 0, to[d]);
  offset += from * to[at];
  return weft__strided_copy_run(k, y->dtype, weft__element(y->dtype, y->data, offset), fill, &copy);
}

static weft_err copy_middle(kernel *k, weft_tensor *y, const border *b, const weft_tensor *x) {
  int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK], offset = 0;
  strided_copy copy;
  copy.rank = 0;
  weft__shape_steps(&x->shape, from);
  weft__shape_steps(&y->shape, to);
  for (int d = 0; d < x->shape.rank; d++) {
    weft__strided_copy_axis(&copy, x->shape.dim[d], from[d], to[d]);
    offset += b->before[d] * to[d];
  }
  return weft__strided_copy_run(k, x->dtype, weft__element(y->dtype, y->data, offset), x->data, &copy);
}

static weft_err pad_with(kernel *k, const void *fill) {
  const weft_tensor *x = k->in[0];
  border b;
  shape out;
  WEFT_TRY(read_border(k, &b));
  WEFT_TRY(padded_shape(k, &b, &out));
  if (weft__shape_equal(&out, &x->shape)) return weft__forward(k, 0, 0, &out);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  for (int d = 0; d < out.rank; d++) {
    WEFT_TRY(fill_slab(k, y, &b, &x->shape, d, 0, b.before[d], fill));
    WEFT_TRY(fill_slab(k, y, &b, &x->shape, d, b.before[d] + x->shape.dim[d], b.after[d], fill));
  }
  return copy_middle(k, y, &b, x);
}

static weft_err pad_cpu(kernel *k) { return pad_with(k, NULL); }

static weft_err pad_v2_cpu(kernel *k) {
  if (k->in[2]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "constant_values must be a scalar. Found: %s",
                             weft__shape_text(&k->in[2]->shape));
  return pad_with(k, k->in[2]->data);
}

/* The gradient is the middle of the output gradient. */
static weft_err pad_grad(backprop *b) {
  weft_graph *g = b->graph;
  weft_dtype type = weft__out_type(g, b->in[1]);
  weft_out column[] = {b->in[1], weft__b_ints(g, (int64_t[]){0, 0}, 2), weft__b_ints(g, (int64_t[]){-1, 1}, 2)};
  weft_out before = weft__b_node(g, "Slice", NULL, 3, column, 0, NULL);
  weft_out in[] = {b->dout[0], weft__b_reshape(g, before, weft__b_ints(g, &(int64_t){-1}, 1)),
                   weft__b_cast(g, weft__b_shape(g, b->in[0]), type)};
  b->din[0] = GRAD_DENSE(weft__b_node(g, "Slice", NULL, 3, in, 0, NULL));
  return WEFT_OK;
}

/* ---- MirrorPad ---- */

typedef struct mirror {
  const weft_tensor *x;
  weft_tensor *y;
  border b;
  int64_t edge; /* 1: REFLECT omits the edge element; 0: SYMMETRIC repeats it */
  int64_t from[WEFT_MAX_RANK], to[WEFT_MAX_RANK];
} mirror;

static int64_t edge_of(const weft_node *n) { return weft__node_str_is(n, "mode", "REFLECT") ? 1 : 0; }

/* One part of one axis: `n` elements, read from source index `src` on in steps of `step`, written from index `dst`
 * on. */
typedef struct mirror_part {
  int64_t n, src, step, dst;
} mirror_part;

static void mirror_parts(const mirror *m, int d, mirror_part *part) {
  int64_t n = m->x->shape.dim[d], before = m->b.before[d], after = m->b.after[d];
  part[0] = (mirror_part){before, before - 1 + m->edge, -1, 0};
  part[1] = (mirror_part){n, 0, 1, before};
  part[2] = (mirror_part){after, n - 1 - m->edge, -1, before + n};
}

/* Copies every combination of parts.  The parts of the axes before d are already chosen. */
static weft_err mirror_copy(kernel *k, const mirror *m, int d, strided_copy *copy, int64_t src, int64_t dst) {
  weft_dtype type = m->x->dtype;
  if (d == m->x->shape.rank)
    return weft__strided_copy_run(k, type, weft__element(type, m->y->data, dst),
                                  weft__element_const(type, m->x->data, src), copy);
  mirror_part part[3];
  mirror_parts(m, d, part);
  for (int p = 0; p < 3; p++) {
    if (part[p].n == 0) continue;
    int rank = copy->rank;
    weft__strided_copy_axis(copy, part[p].n, m->from[d] * part[p].step, m->to[d]);
    WEFT_TRY(mirror_copy(k, m, d + 1, copy, src + part[p].src * m->from[d], dst + part[p].dst * m->to[d]));
    copy->rank = rank;
  }
  return WEFT_OK;
}

static weft_err mirror_check(kernel *k, const border *b, const shape *s, int64_t edge) {
  for (int d = 0; d < s->rank; d++) {
    int64_t most = s->dim[d] - edge;
    if (b->before[d] <= most && b->after[d] <= most) continue;
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             edge ? "paddings must be less than the dimension size: %lld, %lld not less than %lld"
                                  : "paddings must be no greater than the dimension size: %lld, %lld greater than %lld",
                             (long long)b->before[d], (long long)b->after[d], (long long)s->dim[d]);
  }
  return WEFT_OK;
}

static weft_err mirror_cpu(kernel *k) {
  mirror m = {.x = k->in[0], .edge = edge_of(k->node)};
  shape out;
  strided_copy copy;
  copy.rank = 0;
  WEFT_TRY(read_border(k, &m.b));
  WEFT_TRY(padded_shape(k, &m.b, &out));
  WEFT_TRY(mirror_check(k, &m.b, &m.x->shape, m.edge));
  if (weft__shape_equal(&out, &m.x->shape)) return weft__forward(k, 0, 0, &out);
  if (!(m.y = weft__out(k, 0, &out))) return weft__out_refused(&out);
  if (weft__tensor_count(m.y) == 0) return WEFT_OK;
  weft__shape_steps(&m.x->shape, m.from);
  weft__shape_steps(&out, m.to);
  return mirror_copy(k, &m, 0, &copy, 0, 0);
}

/* ---- MirrorPadGrad: every element of the border is added to the one it mirrors ---- */

/* Maps index i of a padded axis back to the index in the axis of n elements that it mirrors. */
static int64_t pad_fold(int64_t i, int64_t before, int64_t n, int64_t edge) {
  i -= before;
  if (i < 0)
    i = -i - 1 + edge;
  else if (i >= n)
    i = 2 * n - 1 - edge - i;
  return i;
}

static weft_err unmirror_shape(kernel *k, border *b, int64_t edge, shape *out) {
  const shape *x = &k->in[0]->shape;
  WEFT_TRY(read_border(k, b));
  out->rank = x->rank;
  for (int d = 0; d < x->rank; d++) {
    int64_t sum = weft__shape_dim_add(b->before[d], b->after[d]);
    out->dim[d] = x->dim[d] - sum;
    if (sum < 0 || out->dim[d] <= 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Total paddings must be less than the input dimension size: %lld was not less than %lld",
                               (long long)sum, (long long)x->dim[d]);
  }
  return mirror_check(k, b, out, edge);
}

static weft_err unmirror_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  border b;
  shape out;
  int64_t edge = edge_of(k->node), to[WEFT_MAX_RANK], at[WEFT_MAX_RANK] = {0};
  WEFT_TRY(unmirror_shape(k, &b, edge, &out));
  if (!weft__combine_has(COMBINE_ADD, x->dtype)) return weft__kernel_no_type(k, x->dtype);
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  memset(y->data, 0, weft__tensor_bytes(y));
  weft__shape_steps(&out, to);
  int64_t n = weft__tensor_count(x);
  for (int64_t i = 0; i < n; i++) {
    int64_t place = 0;
    for (int d = 0; d < out.rank; d++) place += pad_fold(at[d], b.before[d], out.dim[d], edge) * to[d];
    void *sum = weft__element(y->dtype, y->data, place);
    weft__combine(COMBINE_ADD, y->dtype, sum, sum, weft__element_const(x->dtype, x->data, i), 1, 1);
    for (int d = out.rank - 1; d >= 0 && ++at[d] == x->shape.dim[d]; d--) at[d] = 0;
  }
  return WEFT_OK;
}

static weft_err pad_turned(backprop *b, const char *name) {
  attr mode = *weft__node_attr(b->node, "mode");
  weft_out in[] = {b->dout[0], b->in[1]};
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, name, NULL, 2, in, 1, &mode));
  return WEFT_OK;
}
static weft_err mirror_grad(backprop *b) { return pad_turned(b, "MirrorPadGrad"); }
static weft_err unmirror_grad(backprop *b) { return pad_turned(b, "MirrorPad"); }

/* ---- cases ---- */

static const op_case pad_cases[] = {
    {"f32[1,2] 1 2; i32[2,2] 1 0 0 1", "f32[2,3] 0 0 0 1 2 0", NULL, 0},
    {"f64[2,3,2] rand; i64[3,2] 1 2 0 0 2 1", NULL, NULL, 0},
    {"f32[2,3] rand; i32[2,2] 0 0 0 0", NULL, NULL, 0},
    {"f32[] 5; i32[0,2] 0", "f32[] 5", NULL, 0},
    {"f32[0,2] 0; i32[2,2] 1 1 0 0", "f32[2,2] 0", NULL, 0},
    {"i32[2] 7 8; i32[1,2] 2 1", "i32[5] 0 0 7 8 0", NULL, 0},
    {"bool[1] true; i32[1,2] 1 0", "bool[2] false true", NULL, 0},
    {"f32[8,28,28,3] rand; i32[4,2] 0 0 2 2 1 2 0 0", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,3] 0; i32[1,2] 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[1,2] -1 1", "error INVALID_ARGUMENT", NULL, 0},
    {"f32[2] 0; i32[1,3] 1 1 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case pad_v2_cases[] = {
    {"f32[1,2] 1 2; i32[2,2] 1 0 0 1; f32[] 9", "f32[2,3] 9 9 9 1 2 9", NULL, 0},
    {"f64[2,3] rand; i64[2,2] 1 2 0 3; f64[] 0.5", NULL, NULL, 0},
    {"c64[2] 1 2; i32[1,2] 1 0; c64[] 3", "c64[3] 3 1 2", NULL, 0},
    {"str[1] \"a\"; i32[1,2] 1 1; str[] \"-\"", "str[3] \"-\" \"a\" \"-\"", NULL, CASE_NO_PARITY},
    {"f32[2] 0; i32[1,2] 1 1; f32[1] 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case mirror_cases[] = {
    {"f32[3] 1 2 3; i32[1,2] 2 1", "f32[6] 3 2 1 2 3 2", "mode='REFLECT'", 0},
    {"f32[3] 1 2 3; i32[1,2] 2 1", "f32[6] 2 1 1 2 3 3", "mode='SYMMETRIC'", 0},
    {"f64[3,4] rand; i64[2,2] 2 1 3 2", NULL, "mode='REFLECT'", 0},
    {"f64[3,4] rand; i32[2,2] 3 1 0 2", NULL, "mode='SYMMETRIC'", 0},
    {"i32[2,2] 1 2 3 4; i32[2,2] 0 0 0 0", "i32[2,2] 1 2 3 4", "mode='REFLECT'", 0},
    {"f32[2] 0; i32[1,2] 2 0", "error INVALID_ARGUMENT", "mode='REFLECT'", 0},
    {"f32[2] 0; i32[1,2] 3 0", "error INVALID_ARGUMENT", "mode='SYMMETRIC'", 0},
    {"f32[2] 0; i32[1,2] -1 0", "error INVALID_ARGUMENT", "mode='SYMMETRIC'", 0},
    {0},
};

static const op_case unmirror_cases[] = {
    {"f32[6] 1 2 3 4 5 6; i32[1,2] 2 1", "f32[3] 3 12 6", "mode='REFLECT'", 0},
    {"f32[6] 1 2 3 4 5 6; i32[1,2] 2 1", "f32[3] 5 5 11", "mode='SYMMETRIC'", 0},
    {"f64[6,9] rand; i64[2,2] 2 1 3 2", NULL, "mode='REFLECT'", 0},
    {"f64[7,6] rand; i32[2,2] 3 1 0 2", NULL, "mode='SYMMETRIC'", 0},
    {"f32[3] 0; i32[1,2] 2 1", "error INVALID_ARGUMENT", "mode='SYMMETRIC'", 0},
    {0},
};

#define MODE "T:type Tpaddings:type{int32,int64}=int32 mode:string{'REFLECT','SYMMETRIC'}"

OPS(pad) = {
    {"Pad(input:T, paddings:Tpaddings) -> (output:T) | T:type Tpaddings:type{int32,int64}=int32",
     "The input with a border of zeros.", .infer = pad_infer, .cpu = pad_cpu, .grad = pad_grad, .cases = pad_cases,
     .amp = AMP_CLEAR},
    {"PadV2(input:T, paddings:Tpaddings, constant_values:T) -> (output:T) | T:type Tpaddings:type{int32,int64}=int32",
     "The input with a border of one value.", .infer = pad_v2_infer, .cpu = pad_v2_cpu, .grad = pad_grad,
     .cases = pad_v2_cases, .amp = AMP_CLEAR},
    {"MirrorPad(input:T, paddings:Tpaddings) -> (output:T) | " MODE, "The input with a border that mirrors it.",
     .infer = pad_infer, .cpu = mirror_cpu, .grad = mirror_grad, .cases = mirror_cases, .amp = AMP_CLEAR},
    {"MirrorPadGrad(input:T, paddings:Tpaddings) -> (output:T) | " MODE, "The border added to the elements it mirrors.",
     .infer = unpad_infer, .cpu = unmirror_cpu, .grad = unmirror_grad, .cases = unmirror_cases, .amp = AMP_CLEAR},
    {0},
};
