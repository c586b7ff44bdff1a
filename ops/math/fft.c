/* fft.c - discrete Fourier transforms over the last one, two or three dimensions, of complex and of real numbers.
 *
 * Each transform of a batch is computed in double, axis by axis (kernels/fft/fft.h); lines along other axes than the
 * last are copied out and back.  Of a transform of real numbers only the first half of the last axis is computed,
 * because the rest is its conjugate.  So that axis comes first, or last in the inverse transform. */
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "kernels/fft/fft_real.h"
#include "kernels/work/long_work.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MAX_AXES = 3 };

typedef struct transform {
  int axes;                              /* the number of dimensions that are transformed, the last ones */
  bool inverse, real_in, real_out, wide; /* wide: the tensors are double or complex128 */
  int64_t length[MAX_AXES];              /* size of the transform */
  int64_t in[MAX_AXES], work[MAX_AXES], out[MAX_AXES]; /* sizes of the input, of the work array and of the output */
  int64_t batch, in_count, work_count, out_count, longest, scratch;
  fft *plan[MAX_AXES]; /* NULL for the last axis if it is real */
  fft_real *real;      /* of the last axis */
  const void *x;
  void *y;
  atomic_bool no_memory;
} transform;

/* Reads the properties from the op's name: "IRFFT2D" or "BatchIFFT2D". */
static void read_name(const char *name, transform *t) {
  if (strncmp(name, "Batch", 5) == 0) name += 5;
  t->inverse = name[0] == 'I';
  const char *rest = name + t->inverse;
  const bool real = rest[0] == 'R';
  const char *digit = strstr(rest, "FFT") + 3;
  t->real_in = real && !t->inverse, t->real_out = real && t->inverse;
  t->axes = *digit ? *digit - '0' : 1;
}

/* ---- one transform ---- */

/* Reads n complex numbers of the input, from number i on. */
static void load_line(const transform *t, int64_t i, int64_t n, fft_complex *to) {
  const float *x = t->x;
  if (t->wide)
    memcpy(to, (const fft_complex *)t->x + i, (size_t)n * sizeof *to);
  else
    for (int64_t k = 0; k < n; k++) to[k] = (fft_complex){(double)x[2 * (i + k)], (double)x[2 * (i + k) + 1]};
}

static void load_reals(const transform *t, int64_t i, int64_t n, double *to) {
  const float *x = t->x;
  if (t->wide)
    memcpy(to, (const double *)t->x + i, (size_t)n * sizeof *to);
  else
    for (int64_t k = 0; k < n; k++) to[k] = (double)x[i + k];
}

/* Writes n complex numbers of the output, from number i on. */
static void store_line(const transform *t, int64_t i, int64_t n, const fft_complex *from) {
  float *y = t->y;
  if (t->wide)
    memcpy((fft_complex *)t->y + i, from, (size_t)n * sizeof *from);
  else
    for (int64_t k = 0; k < n; k++) y[2 * (i + k)] = (float)from[k].re, y[2 * (i + k) + 1] = (float)from[k].im;
}

static void store_reals(const transform *t, int64_t i, int64_t n, const double *from) {
  float *y = t->y;
  if (t->wide)
    memcpy((double *)t->y + i, from, (size_t)n * sizeof *from);
  else
    for (int64_t k = 0; k < n; k++) y[i + k] = (float)from[k];
}

/* Advances the index of an array of `dims`, last dimension fastest. */
static void fft_advance(int axes, const int64_t *dims, int64_t *at) {
  for (int a = axes - 1; a >= 0 && ++at[a] == dims[a]; a--) at[a] = 0;
}

static int64_t fft_offset(int axes, const int64_t *dims, const int64_t *at) {
  int64_t i = 0;
  for (int a = 0; a < axes; a++) i = i * dims[a] + at[a];
  return i;
}

/* Transforms all lines along one axis of the work array that is not the last. */
static void run_axis(const transform *t, int axis, fft_complex *work, fft_complex *line, fft_complex *scratch) {
  int64_t stride = 1;
  for (int a = axis + 1; a < t->axes; a++) stride *= t->work[a];
  const int64_t have = t->work[axis];
  for (fft_complex *block = work; block < work + t->work_count; block += have * stride)
    for (fft_complex *first = block; first < block + stride; first++) {
      for (int64_t i = 0; i < have; i++) line[i] = first[i * stride];
      weft__fft_run(t->plan[axis], line, t->inverse, scratch);
      for (int64_t i = 0; i < have; i++) first[i * stride] = line[i];
    }
}

/* Transforms item b of the batch.  work, line and scratch have room for the work array, the longest axis and the
 * transforms. */
static void run_item(const transform *t, int64_t b, fft_complex *work, fft_complex *line, fft_complex *scratch) {
  int64_t at[MAX_AXES] = {0};
  const int last = t->axes - 1;
  const int64_t have = t->work[last], n = t->length[last];
  double *reals = &line->re;
  for (int64_t i = 0; i < t->work_count; i += have, fft_advance(last, t->work, at)) {
    const int64_t from = b * t->in_count + fft_offset(t->axes, t->in, at);
    if (t->real_in) {
      load_reals(t, from, n, reals);
      weft__fft_real_forward(t->real, reals, work + i, scratch);
    } else {
      load_line(t, from, have, work + i);
    }
  }
  for (int a = 0; a < last; a++) run_axis(t, a, work, line, scratch);
  for (int64_t row = 0; row < t->work_count / have; row++) {
    const int64_t to = b * t->out_count + row * t->out[last];
    fft_complex *each = work + row * have;
    if (t->real_out) {
      weft__fft_real_backward(t->real, each, reals, scratch);
      store_reals(t, to, n, reals);
    } else {
      if (!t->real_in) weft__fft_run(t->plan[last], each, t->inverse, scratch);
      store_line(t, to, t->out[last], each);
    }
  }
}

static void run_items(void *arg, int64_t begin, int64_t end) {
  transform *t = arg;
  fft_complex *room = weft__alloc_zero((size_t)(t->work_count + t->longest + t->scratch + 1), sizeof *room);
  if (!room) {
    atomic_store(&t->no_memory, true);
    return;
  }
  for (int64_t b = begin; b < end; b++) run_item(t, b, room, room + t->work_count, room + t->work_count + t->longest);
  weft__free(room);
}

/* ---- the kernel ---- */

/* Reads the lengths from the input fft_length, and computes how much of the input is read. */
static weft_err read_lengths(const kernel *k, transform *t) {
  const weft_tensor *given = k->in[1];
  if (given->shape.rank != 1 || given->shape.dim[0] != t->axes)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "fft_length must have shape [%d], got %s", t->axes,
                             weft__shape_text(&given->shape));
  for (int a = 0; a < t->axes; a++) {
    const int64_t n = TENSOR_DATA(given, int32_t)[a], half = n == 0 ? 0 : n / 2 + 1;
    if (n < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "fft_length[%d] must >= 0, but got: %lld", a, (long long)n);
    const bool last = a == t->axes - 1;
    t->length[a] = n;
    t->work[a] = last ? half : n;
    t->out[a] = last && t->real_in ? half : n;
    const int64_t needed = last && t->real_out ? half : n;
    if (t->in[a] < needed && t->in_count > 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Input dimension %d must have length of at least %lld but got: %lld",
                               k->in[0]->shape.rank - t->axes + a, (long long)needed, (long long)t->in[a]);
  }
  return WEFT_OK;
}

static weft_err read_shapes(const kernel *k, transform *t, shape *out) {
  const shape *s = &k->in[0]->shape;
  if (s->rank < t->axes)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must have rank of at least %d but got: %s", t->axes,
                             weft__shape_text(s));
  const int outer = s->rank - t->axes;
  t->batch = weft__shape_product(s, 0, outer), t->in_count = weft__shape_product(s, outer, s->rank);
  for (int a = 0; a < t->axes; a++) t->in[a] = t->length[a] = t->work[a] = t->out[a] = s->dim[outer + a];
  if (t->real_in || t->real_out) WEFT_TRY(read_lengths(k, t));
  *out = *s;
  t->work_count = t->out_count = 1;
  for (int a = 0; a < t->axes; a++) {
    out->dim[outer + a] = t->out[a];
    t->work_count *= t->work[a], t->out_count *= t->out[a];
    if (t->length[a] > t->longest) t->longest = t->length[a];
  }
  return WEFT_OK;
}

static weft_err make_plans(transform *t, long_work *work) {
  const bool real = t->real_in || t->real_out;
  if (real) {
    WEFT_TRY(weft__fft_real_create(&t->real, t->length[t->axes - 1], work));
    t->scratch = weft__fft_real_scratch(t->real);
  }
  for (int a = 0; a < t->axes - real; a++) {
    WEFT_TRY(weft__fft_create(&t->plan[a], t->length[a], work));
    if (weft__fft_scratch(t->plan[a]) > t->scratch) t->scratch = weft__fft_scratch(t->plan[a]);
  }
  return WEFT_OK;
}

static weft_err fft_cpu(kernel *k) {
  transform t = {0};
  shape out;
  read_name(k->op->opdef.name, &t);
  WEFT_TRY(read_shapes(k, &t, &out));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return weft__out_refused(&out);
  const weft_dtype in = k->in[0]->dtype;
  t.wide = in == WEFT_DOUBLE || in == WEFT_COMPLEX128;
  if (t.wide != (y->dtype == WEFT_DOUBLE || y->dtype == WEFT_COMPLEX128))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Wrong types for FFT: in=%s out=%s", weft__dtype_name(in),
                             weft__dtype_name(y->dtype));
  if (t.batch * t.out_count == 0) return WEFT_OK;
  if (t.in_count == 0) {
    memset(y->data, 0, weft__tensor_bytes(y));
    return WEFT_OK;
  }
  t.x = k->in[0]->data, t.y = y->data;
  long_work work = weft__long_work(k);
  weft_err err = make_plans(&t, &work);
  if (!err) err = weft__long_work_end(&work);
  if (!err) err = weft__long_loop(k, t.batch, t.work_count * 40, run_items, &t);
  if (!err && atomic_load(&t.no_memory))
    err = weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for a transform of %lld numbers",
                            (long long)t.work_count);
  if (!err) err = weft__long_work_end(&work);
  for (int a = 0; a < t.axes; a++) weft__fft_destroy(t.plan[a]);
  weft__fft_real_destroy(t.real);
  return err;
}

/* ---- shapes ---- */

static weft_err fft_infer(infer *s) {
  transform t = {0};
  read_name(s->node->op->opdef.name, &t);
  if (s->in[0].rank < 0) return WEFT_OK;
  WEFT_TRY(weft__infer_rank_at_least(s, 0, t.axes));
  s->out[0] = s->in[0];
  return WEFT_OK;
}

static weft_err rfft_infer(infer *s) {
  transform t = {0};
  shape given;
  WEFT_TRY(fft_infer(s));
  read_name(s->node->op->opdef.name, &t);
  WEFT_TRY(weft__infer_rank(s, 1, 1, &given));
  if (given.dim[0] >= 0 && given.dim[0] != t.axes)
    return weft__infer_fail(s, "Dimension must be %d but is %lld", t.axes, (long long)given.dim[0]);
  if (s->in[0].rank < 0) return WEFT_OK;
  WEFT_TRY(weft__infer_shape_value(s, 1, &given));
  for (int a = 0; a < t.axes; a++) {
    const int64_t n = given.rank == t.axes ? given.dim[a] : -1;
    s->out[0].dim[s->in[0].rank - t.axes + a] = n > 0 && t.real_in && a == t.axes - 1 ? n / 2 + 1 : n;
  }
  return WEFT_OK;
}

/* ---- gradients ---- */

/* Returns the number of elements of one transform as a scalar of the complex type of x. */
static weft_out transform_size(weft_graph *g, weft_out lengths, weft_dtype type) {
  const weft_out in[] = {lengths, weft__b_ints(g, (int64_t[]){0}, 1)};
  const attr attrs[] = {A_BOOL("keep_dims", false)};
  return weft__b_cast(g, weft__b_node(g, "Prod", NULL, 2, in, 1, attrs), type);
}

/* Returns the last `axes` elements of the shape of x. */
static weft_out inner_shape(weft_graph *g, weft_out x, int axes) {
  const shape *s = weft__out_shape(g, x);
  if (s->rank >= axes && weft__shape_known(s)) return weft__b_ints(g, s->dim + s->rank - axes, axes);
  const weft_out from = weft__b_sub(g, weft__b_rank(g, x), weft__b_scalar(g, WEFT_INT32, axes));
  const weft_out begin = weft__b_reshape(g, from, weft__b_ints(g, (int64_t[]){1}, 1));
  const weft_out in[] = {weft__b_shape(g, x), begin, weft__b_ints(g, (int64_t[]){axes}, 1)};
  return weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

/* Pads x with zeros at the end of every dimension, to a given shape. */
static weft_out padded_to(weft_graph *g, weft_out x, weft_out wanted) {
  const weft_out missing = weft__b_sub(g, wanted, weft__b_shape(g, x));
  const weft_out pair[] = {weft__b_zeros_like(g, missing), missing};
  const attr attrs[] = {A_INT("N", 2), A_INT("axis", 1)};
  const weft_out in[] = {x, weft__b_node(g, "Pack", NULL, 2, pair, 2, attrs)};
  return weft__b_node(g, "Pad", NULL, 2, in, 0, NULL);
}

/* Builds the op name, such as "IFFT2D" from "IFFT" and 2. */
static void fft_name_of(char name[16], const char *kind, int axes) {
  if (axes == 1)
    snprintf(name, 16, "%s", kind);
  else
    snprintf(name, 16, "%s%dD", kind, axes);
}

static weft_err fft_grad(backprop *b) {
  transform t = {0};
  char name[16];
  read_name(b->node->op->opdef.name, &t);
  fft_name_of(name, t.inverse ? "FFT" : "IFFT", t.axes);
  weft_graph *g = b->graph;
  const weft_out size = transform_size(g, inner_shape(g, b->in[0], t.axes), weft__out_type(g, b->in[0]));
  const weft_out dx = weft__b_unary(g, name, b->dout[0]);
  b->din[0] = GRAD_DENSE(t.inverse ? weft__b_div(g, dx, size) : weft__b_mul(g, dx, size));
  return weft__b_ok(g);
}

/* dx = real part of (n times the inverse transform of dy), with zeros in place of the half that was dropped. */
static weft_err rfft_grad(backprop *b) {
  transform t = {0};
  char name[16];
  read_name(b->node->op->opdef.name, &t);
  fft_name_of(name, "IFFT", t.axes);
  weft_graph *g = b->graph;
  const weft_dtype type = weft__out_type(g, b->in[0]);
  const weft_dtype wide = type == WEFT_DOUBLE ? WEFT_COMPLEX128 : WEFT_COMPLEX64;
  const weft_out shape_y = weft__b_shape(g, b->dout[0]);
  const weft_out outer_rank = weft__b_sub(g, weft__b_rank(g, b->dout[0]), weft__b_scalar(g, WEFT_INT32, t.axes));
  const weft_out one = weft__b_ints(g, (int64_t[]){1}, 1);
  const weft_out slice[] = {shape_y, weft__b_ints(g, (int64_t[]){0}, 1), weft__b_reshape(g, outer_rank, one)};
  const weft_out parts[] = {weft__b_node(g, "Slice", NULL, 3, slice, 0, NULL), b->in[1]};
  const weft_out whole = weft__b_concat(g, 2, parts, weft__b_scalar(g, WEFT_INT32, 0));
  const weft_out back = weft__b_unary(g, name, padded_to(g, b->dout[0], whole));
  const weft_out scaled = weft__b_mul(g, back, transform_size(g, b->in[1], wide));
  const attr attrs[] = {A_TYPE("T", wide), A_TYPE("Tout", type)};
  const weft_out real = weft__b_node(g, "Real", NULL, 1, &scaled, 2, attrs);
  b->din[0] = GRAD_DENSE(padded_to(g, real, weft__b_shape(g, b->in[0])));
  return weft__b_ok(g);
}

/* dy = transform of dx / n, doubled for the elements that also stand for their conjugates. */
static weft_err irfft_grad(backprop *b) {
  transform t = {0};
  char name[16];
  read_name(b->node->op->opdef.name, &t);
  fft_name_of(name, "RFFT", t.axes);
  weft_graph *g = b->graph;
  const weft_dtype type = weft__out_type(g, b->in[0]), real = type == WEFT_COMPLEX128 ? WEFT_DOUBLE : WEFT_FLOAT;
  const weft_out in[] = {b->dout[0], b->in[1]};
  const attr types[] = {A_TYPE("Treal", real), A_TYPE("Tcomplex", type)};
  const weft_out y = weft__b_node(g, name, NULL, 2, in, 2, types);
  const weft_out zero = weft__b_scalar(g, WEFT_INT32, 0), two = weft__b_scalar(g, WEFT_INT32, 2);
  const weft_out scalar = weft__b_ints(g, NULL, 0);
  const weft_out range[] = {zero, weft__b_reshape(g, inner_shape(g, y, 1), scalar), weft__b_scalar(g, WEFT_INT32, 1)};
  const weft_out at = weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
  const weft_out cut[] = {b->in[1], weft__b_ints(g, (int64_t[]){t.axes - 1}, 1), weft__b_ints(g, (int64_t[]){1}, 1)};
  const weft_out length = weft__b_node(g, "Slice", NULL, 3, cut, 0, NULL);
  const weft_out own = weft__b_binary(g, "LogicalOr", weft__b_binary(g, "Equal", at, zero),
                                      weft__b_binary(g, "Equal", weft__b_mul(g, at, two), length));
  const weft_out ones = weft__b_ones_like(g, at);
  const weft_out times = weft__b_cast(g, weft__b_select(g, own, ones, weft__b_add(g, ones, ones)), type);
  const weft_out scaled = weft__b_div(g, weft__b_mul(g, y, times), transform_size(g, b->in[1], type));
  b->din[0] = GRAD_DENSE(padded_to(g, scaled, weft__b_shape(g, b->in[0])));
  return weft__b_ok(g);
}

/* ---- cases ---- */

static const op_case line_cases[] = {
    {"c64[4] 1 2 3 4", NULL, NULL, CASE_NO_GRAD},
    {"c64[8] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[3,7] normal", NULL, NULL, CASE_NO_GRAD},
    {"c128[2,12] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[2,3,30] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[1] 3", NULL, NULL, CASE_NO_GRAD},
    {"c64[0,4] 0", NULL, NULL, CASE_NO_GRAD},
    {"c64[] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case plane_cases[] = {
    {"c64[4,4] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[2,3,5] normal", NULL, NULL, CASE_NO_GRAD},
    {"c128[2,6,8] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[4] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case space_cases[] = {
    {"c64[2,4,3] normal", NULL, NULL, CASE_NO_GRAD},
    {"c128[2,3,5,2] normal", NULL, NULL, CASE_NO_GRAD},
    {"c64[4,4] 1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
#define F64 "Treal=double Tcomplex=complex128"
static const op_case real_cases[] = {
    {"f32[2,8] normal; i32[1] 8", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[3,9] normal; i32[1] 7", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[2,10] normal; i32[1] 10", NULL, F64, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4] normal; i32[1] 8", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,4] normal; i32[1] -1", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case real_back_cases[] = {
    {"c64[2,5] normal; i32[1] 8", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c64[3,6] normal; i32[1] 9", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c128[2,6] normal; i32[1] 10", NULL, F64, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c64[2,4] normal; i32[1] 8", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case real_plane_cases[] = {
    {"f32[2,4,6] normal; i32[2] 4 6", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f64[5,7] normal; i32[2] 3 7", NULL, F64, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case real_plane_back_cases[] = {
    {"c64[2,4,4] normal; i32[2] 4 6", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"c128[5,4] normal; i32[2] 5 7", NULL, F64, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case real_space_cases[] = {
    {"f32[2,4,2,6] normal; i32[3] 4 2 6", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case real_space_back_cases[] = {
    {"c64[3,4,4] normal; i32[3] 3 4 6", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

#define COMPLEX_DEF(name) name "(input:Tcomplex) -> (output:Tcomplex) | Tcomplex:type{complex64,complex128}=complex64"
#define REAL_TYPES " | Treal:type{float,double}=float Tcomplex:type{complex64,complex128}=complex64"
#define REAL_DEF(name) name "(input:Treal, fft_length:int32) -> (output:Tcomplex)" REAL_TYPES
#define BACK_DEF(name) name "(input:Tcomplex, fft_length:int32) -> (output:Treal)" REAL_TYPES

static const op_case old_line_cases[] = {{"c64[2,1] 3 4", "c64[2,1] 3 4", NULL, CASE_NO_PARITY}, {0}};
static const op_case old_plane_cases[] = {{"c64[2,1,1] 3 4", "c64[2,1,1] 3 4", NULL, CASE_NO_PARITY}, {0}};
static const op_case old_space_cases[] = {{"c64[1,1,1] 3", "c64[1,1,1] 3", NULL, CASE_NO_PARITY}, {0}};

static weft_err fft_nd_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  return weft__infer_same(s);
}

OPS(fft) = {
    {COMPLEX_DEF("FFT"), "The Fourier transform over the last dimension.", .infer = fft_infer, .cpu = fft_cpu,
     .grad = fft_grad, .cases = line_cases},
    {COMPLEX_DEF("IFFT"), "The inverse Fourier transform over the last dimension.", .infer = fft_infer, .cpu = fft_cpu,
     .grad = fft_grad, .cases = line_cases},
    {COMPLEX_DEF("FFT2D"), "The Fourier transform over the last two dimensions.", .infer = fft_infer, .cpu = fft_cpu,
     .grad = fft_grad, .cases = plane_cases},
    {COMPLEX_DEF("IFFT2D"), "The inverse Fourier transform over the last two dimensions.", .infer = fft_infer,
     .cpu = fft_cpu, .grad = fft_grad, .cases = plane_cases},
    {COMPLEX_DEF("FFT3D"), "The Fourier transform over the last three dimensions.", .infer = fft_infer, .cpu = fft_cpu,
     .grad = fft_grad, .cases = space_cases},
    {COMPLEX_DEF("IFFT3D"), "The inverse Fourier transform over the last three dimensions.", .infer = fft_infer,
     .cpu = fft_cpu, .grad = fft_grad, .cases = space_cases},
    {REAL_DEF("RFFT"), "The Fourier transform of real numbers over the last dimension.", .infer = rfft_infer,
     .cpu = fft_cpu, .grad = rfft_grad, .cases = real_cases},
    {BACK_DEF("IRFFT"), "The inverse of RFFT.", .infer = rfft_infer, .cpu = fft_cpu, .grad = irfft_grad,
     .cases = real_back_cases},
    {REAL_DEF("RFFT2D"), "The Fourier transform of real numbers over the last two dimensions.", .infer = rfft_infer,
     .cpu = fft_cpu, .grad = rfft_grad, .cases = real_plane_cases},
    {BACK_DEF("IRFFT2D"), "The inverse of RFFT2D.", .infer = rfft_infer, .cpu = fft_cpu, .grad = irfft_grad,
     .cases = real_plane_back_cases},
    {REAL_DEF("RFFT3D"), "The Fourier transform of real numbers over the last three dimensions.", .infer = rfft_infer,
     .cpu = fft_cpu, .cases = real_space_cases},
    {BACK_DEF("IRFFT3D"), "The inverse of RFFT3D.", .infer = rfft_infer, .cpu = fft_cpu,
     .cases = real_space_back_cases},
    {"BatchFFT(input:complex64) -> (output:complex64)", "FFT under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_line_cases},
    {"BatchIFFT(input:complex64) -> (output:complex64)", "IFFT under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_line_cases},
    {"BatchFFT2D(input:complex64) -> (output:complex64)", "FFT2D under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_plane_cases},
    {"BatchIFFT2D(input:complex64) -> (output:complex64)", "IFFT2D under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_plane_cases},
    {"BatchFFT3D(input:complex64) -> (output:complex64)", "FFT3D under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_space_cases},
    {"BatchIFFT3D(input:complex64) -> (output:complex64)", "IFFT3D under its name in graphs before version 15.",
     .infer = fft_infer, .cpu = fft_cpu, .cases = old_space_cases},
    /* TensorFlow has no kernel for the next four. */
    {"FFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Tcomplex) | "
     "Tcomplex:type{complex64,complex128}=complex64",
     "The Fourier transform over some dimensions.", .infer = fft_nd_infer},
    {"IFFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Tcomplex) | "
     "Tcomplex:type{complex64,complex128}=complex64",
     "The inverse Fourier transform over some dimensions.", .infer = fft_nd_infer},
    {"RFFTND(input:Treal, fft_length:int32, axes:int32) -> (output:Tcomplex) | Treal:type{float,double}=float "
     "Tcomplex:type{complex64,complex128}=complex64",
     "The Fourier transform of real numbers over some dimensions.", .infer = fft_nd_infer},
    {"IRFFTND(input:Tcomplex, fft_length:int32, axes:int32) -> (output:Treal) | "
     "Treal:type{float,double}=float Tcomplex:type{complex64,complex128}=complex64",
     "The inverse of RFFTND.", .infer = fft_nd_infer},
    {0},
};
