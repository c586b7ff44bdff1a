/* decode_raw.c - DecodeRaw and DecodePaddedRaw: reinterpret the bytes of strings as numbers.
 *
 * Weft runs only on little-endian machines, so only big-endian input needs its bytes swapped. */
#include "base/alloc.h"
#include "graph/op.h"
#include "graph/kernel.h"
#include "tensor/tensor.h"
#include <string.h>

static void reverse_words(char *data, size_t bytes, size_t word) {
  for (char *w = data; w < data + bytes; w += word)
    for (size_t i = 0; i < word / 2; i++) {
      const char low = w[i];
      w[i] = w[word - 1 - i];
      w[word - 1 - i] = low;
    }
}

/* Converts the copied bytes to the byte order of this machine. */
static void decode_raw_settle(const kernel *k, weft_tensor *t, size_t bytes) {
  size_t word = weft__dtype_size(t->dtype);
  if (weft__dtype_class(t->dtype) == CLASS_COMPLEX) word /= 2;
  if (word > 1 && !weft__node_bool(k->node, "little_endian", true)) reverse_words(t->data, bytes, word);
  if (t->dtype == WEFT_BOOL)
    for (size_t i = 0; i < bytes; i++) TENSOR_DATA(t, uint8_t)[i] = TENSOR_DATA(t, uint8_t)[i] != 0;
}

static weft_err append_dim(const kernel *k, const shape *in, int64_t dim, shape *out) {
  if (in->rank + 1 > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the result would have more than %d dimensions", WEFT_MAX_RANK);
  *out = *in;
  out->dim[out->rank++] = dim;
  return WEFT_OK;
}

static weft_err decode_raw_cpu(kernel *k) {
  const weft_tensor *in = k->in[0];
  const str *bytes = in->data;
  const int64_t n = weft__tensor_count(in);
  const weft_dtype type = weft__node_type(k->node, "out_type");
  const size_t size = weft__dtype_size(type), each = n > 0 ? bytes[0].size : 0;
  for (int64_t i = 1; i < n; i++)
    if (bytes[i].size != each)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "DecodeRaw requires input strings to all be the same size, but element %lld has size "
                               "%zu != %zu",
                               (long long)i, bytes[i].size, each);
  if (each % size)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Input to DecodeRaw has length %zu that is not a multiple of %zu, the size of %s", each,
                             size, weft__dtype_short(type));
  shape s;
  WEFT_TRY(append_dim(k, &in->shape, (int64_t)(each / size), &s));
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < n && each > 0; i++) memcpy((char *)out->data + (size_t)i * each, bytes[i].data, each);
  decode_raw_settle(k, out, (size_t)n * each);
  return WEFT_OK;
}

static weft_err decode_padded_cpu(kernel *k) {
  const weft_tensor *in = k->in[0];
  const str *bytes = in->data;
  const int64_t n = weft__tensor_count(in);
  const weft_dtype type = weft__node_type(k->node, "out_type");
  const size_t size = weft__dtype_size(type);
  WEFT_TRY(weft__kernel_scalar(k, 1, "fixed_length"));
  const int64_t fixed = weft__tensor_int(k->in[1], 0);
  if (fixed <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "fixed_length (%lld) must be greater than zero.",
                             (long long)fixed);
  const size_t each = (size_t)fixed;
  if (each % size)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "fixed_length (%zu) must be a multiple of the size of out_type (%zu)", each, size);
  shape s;
  WEFT_TRY(append_dim(k, &in->shape, (int64_t)(each / size), &s));
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return WEFT_OOM;
  memset(out->data, 0, (size_t)n * each);
  for (int64_t i = 0; i < n; i++) {
    const size_t take = bytes[i].size < each ? bytes[i].size : each;
    if (take) memcpy((char *)out->data + (size_t)i * each, bytes[i].data, take);
  }
  decode_raw_settle(k, out, (size_t)n * each);
  return WEFT_OK;
}

static weft_err decode_raw_infer(infer *s) {
  shape out = s->in[0];
  if (out.rank >= 0 && out.rank < WEFT_MAX_RANK)
    out.dim[out.rank++] = -1;
  else
    out = SHAPE_UNKNOWN;
  s->out[0] = out;
  return WEFT_OK;
}

static const op_case raw_cases[] = {
    {"str[2] \"abcd\" \"efgh\"", "i16[2,2] 25185 25699 26213 26727", "out_type=int16", CASE_FIXED_TYPE},
    {"str[2] \"abcd\" \"efgh\"", "i16[2,2] 24930 25444 25958 26472", "out_type=int16 little_endian=false",
     CASE_FIXED_TYPE},
    {"str[] \"abcdefgh\"", "u8[8] 97 98 99 100 101 102 103 104", "out_type=uint8", CASE_FIXED_TYPE},
    {"str[] \"abcdefgh\"", NULL, "out_type=complex64 little_endian=false", CASE_FIXED_TYPE},
    {"str[] \"abcdefgh\"", NULL, "out_type=double", CASE_FIXED_TYPE},
    {"str[] \"abcdefgh\"", NULL, "out_type=half", CASE_FIXED_TYPE},
    {"str[1,1] \"ab\"", "bool[1,1,2] true true", "out_type=bool", CASE_FIXED_TYPE},
    {"str[2] \"\"", "i32[2,0]", "out_type=int32", CASE_FIXED_TYPE},
    {"str[0]", "u8[0,0]", "out_type=uint8", CASE_FIXED_TYPE},
    {"str[] \"abc\"", "error INVALID_ARGUMENT", "out_type=int16", CASE_FIXED_TYPE},
    {"str[2] \"abc\" \"ab\"", "error INVALID_ARGUMENT", "out_type=uint8", CASE_FIXED_TYPE},
    {0},
};
static const op_case padded_cases[] = {
    {"str[2] \"abc\" \"a\"; i32[] 4", "u8[2,4] 97 98 99 0 97 0 0 0", "out_type=uint8", CASE_FIXED_TYPE},
    {"str[2] \"abc\" \"a\"; i32[] 2", "i16[2,1] 25185 97", "out_type=int16", CASE_FIXED_TYPE},
    {"str[2] \"abc\" \"a\"; i32[] 4", "i16[2,2] 24930 25344 24832 0", "out_type=int16 little_endian=false",
     CASE_FIXED_TYPE},
    {"str[1] \"abc\"; i32[] 3", "error INVALID_ARGUMENT", "out_type=int16", CASE_FIXED_TYPE},
    {"str[1] \"abc\"; i32[] 0", "error INVALID_ARGUMENT", "out_type=uint8", CASE_FIXED_TYPE},
    {0},
};

OPS(decode_raw) = {
    {"DecodeRaw(bytes:string) -> (output:out_type) | "
     "out_type:type{half,float,double,int32,uint16,uint8,int16,int8,int64,complex64,complex128,bool,bfloat16} "
     "little_endian:bool=true",
     "The bytes of strings of one length as numbers.", .infer = decode_raw_infer, .cpu = decode_raw_cpu,
     .no_grad = true, .cases = raw_cases},
    {"DecodePaddedRaw(input_bytes:string, fixed_length:int32) -> (output:out_type) | "
     "out_type:type{half,float,double,int32,uint16,uint8,int16,int8,int64,bfloat16} little_endian:bool=true",
     "The bytes of strings, cut or padded with zeros to one length, as numbers.", .infer = decode_raw_infer,
     .cpu = decode_padded_cpu, .no_grad = true, .cases = padded_cases},
    {0},
};
