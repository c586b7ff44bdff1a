/* cross.c - Cross: the cross product of 3-vectors, along the last dimension. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/simd/widen.h"

#define DEFINE_CROSS(name, T)                                                                                          \
  static void name(const void *as, const void *bs, void *zs, int64_t n) {                                              \
    const T *a = as, *b = bs;                                                                                          \
    T *z = zs;                                                                                                         \
    for (int64_t i = 0; i < n; i++, a += 3, b += 3, z += 3) {                                                          \
      z[0] = (T)(a[1] * b[2] - a[2] * b[1]);                                                                           \
      z[1] = (T)(a[2] * b[0] - a[0] * b[2]);                                                                           \
      z[2] = (T)(a[0] * b[1] - a[1] * b[0]);                                                                           \
    }                                                                                                                  \
  }
DEFINE_CROSS(cross_f32, float)
DEFINE_CROSS(cross_f64, double)
DEFINE_CROSS(cross_8, uint8_t)
DEFINE_CROSS(cross_32, uint32_t)
DEFINE_CROSS(cross_64, uint64_t)

/* the products need a wider type, or they overflow */
static void cross_16(const void *as, const void *bs, void *zs, int64_t n) {
  const uint16_t *a = as, *b = bs;
  uint16_t *z = zs;
  for (int64_t i = 0; i < n; i++, a += 3, b += 3, z += 3)
    for (int c = 0; c < 3; c++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      z[c] = (uint16_t)((uint32_t)a[d] * b[e] - (uint32_t)a[e] * b[d]);
    }
}

typedef void cross_fn(const void *a, const void *b, void *z, int64_t n);

static cross_fn *cross_for(weft_dtype t) {
  if (t == WEFT_FLOAT || weft__is_16bit(t)) return cross_f32;
  if (t == WEFT_DOUBLE) return cross_f64;
  switch (weft__dtype_size(t)) {
  case 1: return cross_8;
  case 2: return cross_16;
  case 4: return cross_32;
  default: return cross_64;
  }
}

static weft_err cross_widened(const kernel *k, weft_tensor *out, int64_t n) {
  widened a = {0}, b = {0}, z = {0};
  weft_err err = weft__widened_load(&a, k->in[0]);
  if (!err) err = weft__widened_load(&b, k->in[1]);
  if (!err) err = weft__widened_output(&z, out);
  if (!err) {
    cross_f32(a.data, b.data, z.data, n);
    weft__widened_store(&z, out);
  }
  weft__widened_finish(&a);
  weft__widened_finish(&b);
  weft__widened_finish(&z);
  return err;
}

static weft_err cross_cpu(kernel *k) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  if (!weft__shape_equal(a, b))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Both inputs must be of same shape: %s vs. %s",
                             weft__shape_text(a), weft__shape_text(b));
  if (a->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input must be at least 1D, got a scalar");
  if (a->dim[a->rank - 1] != 3)
    return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "Cross-products are only defined for 3-element vectors.");
  weft_tensor *out = weft__out(k, 0, a);
  if (!out) return WEFT_OOM;
  const int64_t n = weft__tensor_count(out) / 3;
  if (weft__is_16bit(out->dtype)) return cross_widened(k, out, n);
  cross_for(out->dtype)(k->in[0]->data, k->in[1]->data, out->data, n);
  return WEFT_OK;
}

static weft_err cross_infer(infer *s) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 1));
  WEFT_TRY(weft__infer_merge_all(s));
  const shape *z = &s->out[0];
  if (z->rank > 0 && z->dim[z->rank - 1] >= 0 && z->dim[z->rank - 1] != 3)
    return weft__infer_fail(s, "Dimension must be 3 but is %lld", (long long)z->dim[z->rank - 1]);
  return WEFT_OK;
}

static weft_err cross_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(weft__b_binary(b->graph, "Cross", b->in[1], b->dout[0]));
  b->din[1] = GRAD_DENSE(weft__b_binary(b->graph, "Cross", b->dout[0], b->in[0]));
  return WEFT_OK;
}

static const op_case cross_cases[] = {
    {"f32[3] 1 0 0; f32[3] 0 1 0", "f32[3] 0 0 1"},
    {"f32[2,4,3] rand; f32[2,4,3] normal"},
    {"f32[0,3]; f32[0,3]", "f32[0,3]"},
    {"f32[2] 1 2; f32[2] 1 2", "error INVALID_ARGUMENT"},
    {"f32[3] 1; f32[2,3] 1", "error INVALID_ARGUMENT"},
    {0},
};

OPS(cross) = {
    {"Cross(a:T, b:T) -> (product:T) | T:type{real}", "The cross product of vectors of three.", .infer = cross_infer,
     .cpu = cross_cpu, .grad = cross_grad, .cases = cross_cases},
    {0},
};
