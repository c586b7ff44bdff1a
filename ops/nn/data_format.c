/* data_format.c - DataFormatVecPermute, DataFormatDimMap: convert sizes and dimension numbers between formats such
 * as NHWC and NCHW.
 *
 * A format names each dimension by a letter.  A vector of sizes (or of pairs, for paddings) may omit batch and
 * channels; then only the letters of the spatial dimensions remain. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include <string.h>

typedef struct formats {
  char from[6], to[6];
  int n;
} formats;

static weft_err read_formats(const kernel *k, formats *f) {
  const attr_str from = weft__node_str(k->node, "src_format"), to = weft__node_str(k->node, "dst_format");
  if ((from.size != 4 && from.size != 5) || from.size != to.size)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Source and destination format must be of length 4 or 5, got '%s' and '%s'", from.data,
                             to.data);
  bool same = true;
  for (size_t i = 0; i < from.size; i++)
    same = same && memchr(to.data, from.data[i], to.size) && memchr(from.data, to.data[i], from.size) &&
           !memchr(to.data + i + 1, to.data[i], to.size - i - 1);
  if (!same)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Destination and source format must determine a permutation, got %s and %s", from.data,
                             to.data);
  f->n = weft__int_sat(from.size);
  memcpy(f->from, from.data, from.size);
  memcpy(f->to, to.data, to.size);
  return WEFT_OK;
}

static int data_format_place(const char *format, int n, char letter) {
  const char *at = memchr(format, letter, (size_t)n);
  return at ? weft__int_sat(at - format) : 0;
}

static int64_t data_format_get(const weft_tensor *t, int64_t i) { return weft__tensor_int(t, i); }

static void data_format_set(weft_tensor *t, int64_t i, int64_t x) {
  if (t->dtype == WEFT_INT32)
    TENSOR_DATA(t, int32_t)[i] = (int32_t)x;
  else
    TENSOR_DATA(t, int64_t)[i] = x;
}

/* Removes all letters but those of spatial dimensions. */
static void drop_ends(char *format, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (format[i] != 'N' && format[i] != 'C') format[kept++] = format[i];
}

static weft_err permute_cpu(kernel *k) {
  formats f = {0};
  const weft_tensor *x = k->in[0];
  const shape *s = &x->shape;
  WEFT_TRY(read_formats(k, &f));
  if (s->rank != 1 && s->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be a vector or 2D tensor, but got shape %s",
                             weft__shape_text(s));
  if (s->rank == 2 && s->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Second dimension of 2D input must be of size 2, but got shape %s", weft__shape_text(s));
  const bool space = s->dim[0] == f.n - 2;
  if (s->dim[0] != f.n && !space)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%dD input must be of size %d or %d, but got shape %s", s->rank,
                             f.n - 2, f.n, weft__shape_text(s));
  if (space) {
    drop_ends(f.from, f.n);
    drop_ends(f.to, f.n);
    f.n -= 2;
  }
  weft_tensor *y = weft__out(k, 0, s);
  if (!y) return WEFT_OOM;
  const int64_t width = s->rank == 2 ? 2 : 1;
  for (int i = 0; i < f.n; i++)
    for (int64_t j = 0; j < width; j++)
      data_format_set(y, i * width + j, data_format_get(x, data_format_place(f.from, f.n, f.to[i]) * width + j));
  return WEFT_OK;
}

static weft_err data_format_map_cpu(kernel *k) {
  formats f = {0};
  const weft_tensor *x = k->in[0];
  WEFT_TRY(read_formats(k, &f));
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0, n = weft__tensor_count(x); i < n; i++)
    data_format_set(y, i, data_format_place(f.to, f.n, f.from[(data_format_get(x, i) % f.n + f.n) % f.n]));
  return WEFT_OK;
}

static weft_err permute_infer(infer *s) {
  if (s->in[0].rank == 0 || s->in[0].rank > 2)
    return weft__infer_fail(s, "Shape must be at least rank 1 and at most rank 2 but is rank %d", s->in[0].rank);
  return weft__infer_same(s);
}

static const op_case permute_cases[] = {
    {"i32[4] 7 4 9 3", "i32[4] 7 3 4 9"},
    {"i64[4,2] 7 4 9 3 4 5 5 1", "i64[4,2] 7 4 5 1 9 3 4 5"},
    {"i32[2] 7 4", "i32[2] 4 7", "dst_format='NCWH'"},
    {"i32[2,2] 7 4 1 2", "i32[2,2] 7 4 1 2"},
    {"i32[5] 1 2 3 4 5", "i32[5] 1 5 2 3 4", "src_format='NDHWC' dst_format='NCDHW'"},
    {"i32[3] 1 2 3", "i32[3] 1 2 3", "src_format='NDHWC' dst_format='NCDHW'"},
    {"i32[4] 1 2 3 4", "i32[4] 3 2 4 1", "dst_format='WHCN'"},
    {"i32[3] 1 2 3", "error INVALID_ARGUMENT"},
    {"i32[] 1", "error INVALID_ARGUMENT"},
    {"i32[4] 1 2 3 4", "error INVALID_ARGUMENT", "dst_format='NCHX'"},
    {"i32[4] 1 2 3 4", "error INVALID_ARGUMENT", "dst_format='NNHW'"},
    {0},
};
static const op_case map_cases[] = {
    {"i32[4] 0 1 2 3", "i32[4] 0 2 3 1"},
    {"i64[2,2] -4 -3 -2 -1", "i64[2,2] 0 2 3 1"},
    {"i32[] 1", "i32[] 2"},
    {"i32[0]", "i32[0]"},
    {"i32[5] 0 1 2 3 4", "i32[5] 0 2 3 4 1", "src_format='NDHWC' dst_format='NCDHW'"},
    {"i32[1] 1", "error INVALID_ARGUMENT", "dst_format='NCHX'"},
    {"i32[1] 1", "error INVALID_ARGUMENT", "src_format='NHW'"},
    {0},
};

#define FORMATS "(x:T) -> (y:T) | T:type{int32,int64}=int32 src_format:string='NHWC' dst_format:string='NCHW'"

OPS(data_format) = {
    {"DataFormatVecPermute" FORMATS, "One number for each dimension, in another order of dimensions.",
     .infer = permute_infer, .cpu = permute_cpu, .cases = permute_cases},
    {"DataFormatDimMap" FORMATS, "Numbers of dimensions, in another order of them.", .infer = weft__infer_same,
     .cpu = data_format_map_cpu, .cases = map_cases},
    {0},
};
