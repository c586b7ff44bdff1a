/* sparse_serialize.c - sparse tensors as three serialized TensorProtos or three variants: SerializeSparse,
 * SerializeManySparse, DeserializeSparse, DeserializeManySparse.
 *
 * The "Many" ops cut a tensor along its first dimension, with one row of three strings for each part.  Joining parts
 * adds dimensions in front and takes the largest shape of the parts. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "kernels/array/strided_copy.h"
#include "kernels/sparse/sparse.h"
#include "proto/scan.h"
#include "state/held_tensors.h"
#include "tensor/tensor_proto.h"
#include <string.h>

/* ---- serializing ---- */

/* Writes strings in TensorFlow's format: their lengths as varints, then all bytes. */
static void add_content(const weft_tensor *t, text *out) {
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    size_t n = TENSOR_DATA(t, str)[i].size;
    for (; n >= 0x80; n >>= 7) weft__text_add(out, &(char){(char)(0x80 | (n & 0x7F))}, 1);
    weft__text_add(out, &(char){(char)n}, 1);
  }
  for (int64_t i = 0; i < weft__tensor_count(t); i++) {
    const str *s = TENSOR_DATA(t, str) + i;
    if (s->size) weft__text_add(out, s->data, s->size);
  }
}

static weft_err pack_with(const weft_tensor *t, str *to, text *content) {
  arena a = {0};
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  weft_err err = weft__tensor_to_proto(&proto, t, &a);
  if (!err && t->dtype == WEFT_STRING) {
    add_content(t, content);
    if (content->failed) err = WEFT_OOM;
    proto.n_string_val = 0;
    proto.tensor_content = (ProtobufCBinaryData){content->size, (uint8_t *)content->data};
  }
  if (!err) {
    uint8_t *packed = weft__alloc(tensorflow__tensor_proto__get_packed_size(&proto) + 1);
    err = packed ? weft__str_set(to, packed, tensorflow__tensor_proto__pack(&proto, packed)) : WEFT_OOM;
    weft__free(packed);
  }
  weft__arena_finish(&a);
  return err;
}

static weft_err sparse_serialize_pack(const weft_tensor *t, str *to) {
  text content = {0};
  const weft_err err = pack_with(t, to, &content);
  weft__text_finish(&content);
  return err;
}

/* Stores the tensor as a string or a variant in element i of the output. */
static weft_err sparse_serialize_put_tensor(weft_tensor *out, int64_t i, const weft_tensor *t) {
  if (out->dtype == WEFT_STRING) return sparse_serialize_pack(t, TENSOR_DATA(out, str) + i);
  held_tensors *v = NULL;
  WEFT_TRY(weft__held_tensors_create(&v, HELD_TENSOR, 1));
  weft__held_tensors_put(out, i, v);
  return weft__tensor_keep(&v->t[0], t);
}

static weft_err sparse_serialize_cpu(kernel *k) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  weft_tensor *out = weft__out(k, 0, &SHAPE1(3));
  if (!out) return WEFT_OOM;
  for (int i = 0; i < 3; i++) WEFT_TRY(sparse_serialize_put_tensor(out, i, k->in[i]));
  return WEFT_OK;
}

/* Writes entries [from, to) without their first index, and the shape without its first dimension. */
static weft_err put_part(const kernel *k, int64_t from, int64_t to, weft_tensor *out, int64_t first) {
  const int64_t depth = k->in[0]->shape.dim[1], n = to - from;
  weft_tensor at = {0}, values = {0}, dims = {0};
  weft_err err = weft__tensor_init(&at, WEFT_INT64, &SHAPE2(n, depth - 1));
  if (!err) err = weft__tensor_init(&values, k->in[1]->dtype, &SHAPE1(n));
  if (!err) err = weft__tensor_init(&dims, WEFT_INT64, &SHAPE1(depth - 1));
  for (int64_t i = 0; i < n && !err && depth > 1; i++)
    memcpy(TENSOR_DATA(&at, int64_t) + i * (depth - 1), TENSOR_DATA(k->in[0], int64_t) + (from + i) * depth + 1,
           (size_t)(depth - 1) * sizeof(int64_t));
  if (!err)
    err = weft__elements_copy(values.dtype, values.data, weft__element_const(values.dtype, k->in[1]->data, from), n);
  if (!err && depth > 1) memcpy(dims.data, TENSOR_DATA(k->in[2], int64_t) + 1, (size_t)(depth - 1) * sizeof(int64_t));
  const weft_tensor *all[] = {&at, &values, &dims};
  for (int i = 0; i < 3 && !err; i++) err = sparse_serialize_put_tensor(out, first + i, all[i]);
  weft__tensor_clear(&at);
  weft__tensor_clear(&values);
  weft__tensor_clear(&dims);
  return err;
}

static weft_err many_cpu(kernel *k) {
  WEFT_TRY(weft__sparse_check(k, k->in[0], k->in[1], k->in[2]));
  const int64_t depth = k->in[0]->shape.dim[1], n = k->in[0]->shape.dim[0], *at = TENSOR_DATA(k->in[0], int64_t);
  if (depth < 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Rank of input SparseTensor should be > 1, but saw rank: %lld",
                             (long long)depth);
  WEFT_TRY(weft__sparse_inside(k, k->in[0], k->in[2]));
  const int64_t rows = TENSOR_DATA(k->in[2], int64_t)[0];
  for (int64_t i = 1; i < n; i++)
    if (at[i * depth] < at[(i - 1) * depth])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the indices are not in order at row %lld", (long long)i);
  weft_tensor *out = weft__out(k, 0, &SHAPE2(rows, 3));
  if (!out) return weft__out_refused(&SHAPE2(rows, 3));
  for (int64_t r = 0, from = 0; r < rows; r++) {
    int64_t to = from;
    while (to < n && at[to * depth] == r) to++;
    WEFT_TRY(put_part(k, from, to, out, 3 * r));
    from = to;
  }
  return WEFT_OK;
}

/* ---- deserializing ---- */

typedef struct sparse_part {
  weft_tensor *t[3]; /* indices, values, shape */
} sparse_part;

static weft_err sparse_serialize_unpack(const kernel *k, const str *s, weft_tensor **out) {
  ProtobufCMessage *proto = NULL;
  if (weft__proto_unpack(&proto, &tensorflow__tensor_proto__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse serialized_sparse: %s", weft__error_message());
  const weft_err err = weft__tensor_from_proto(out, (const Tensorflow__TensorProto *)proto);
  protobuf_c_message_free_unpacked(proto, NULL);
  return err ? weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not construct a tensor of serialized_sparse: %s",
                                 weft__error_message())
             : WEFT_OK;
}

/* Reads tensor `at` of the three tensors of part i, from a string or a variant. */
static weft_err read_tensor(const kernel *k, int64_t i, int at, weft_tensor **out) {
  if (k->in[0]->dtype == WEFT_STRING) return sparse_serialize_unpack(k, TENSOR_DATA(k->in[0], str) + 3 * i + at, out);
  const held_tensors *v = weft__held_tensors_at(k->in[0], 3 * i + at, HELD_TENSOR);
  if (v) return weft__tensor_create_like(out, &v->t[0]);
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not get a tensor from serialized_sparse[%lld, %d]",
                           (long long)i, at);
}

static weft_err sparse_serialize_read_part(const kernel *k, int64_t at, sparse_part *p) {
  for (int i = 0; i < 3; i++) WEFT_TRY(read_tensor(k, at, i, &p->t[i]));
  const weft_dtype want = weft__node_type(k->node, "dtype");
  if (p->t[0]->dtype != WEFT_INT64 || p->t[2]->dtype != WEFT_INT64)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices and shape must be int64, not %s and %s",
                             weft__dtype_name(p->t[0]->dtype), weft__dtype_name(p->t[2]->dtype));
  if (p->t[1]->dtype != want)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Requested SparseTensor of type %s but the serialized values are %s",
                             weft__dtype_name(want), weft__dtype_name(p->t[1]->dtype));
  return weft__sparse_check(k, p->t[0], p->t[1], p->t[2]);
}

/* Computes the sizes of the result: the number of entries and the largest shape. */
static weft_err measure_parts(const kernel *k, const sparse_part *parts, int64_t n, int64_t *total, int64_t *depth,
                              int64_t *dims) {
  *total = 0;
  *depth = n ? parts[0].t[0]->shape.dim[1] : 0;
  if (*depth > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "a part has rank %lld", (long long)*depth);
  memset(dims, 0, WEFT_MAX_RANK * sizeof *dims);
  for (int64_t i = 0; i < n; i++) {
    if (parts[i].t[0]->shape.dim[1] != *depth)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Inconsistent shape across SparseTensors: rank prior to SparseTensor[%lld] was: %lld but rank of "
          "SparseTensor[%lld] is: %lld",
          (long long)i, (long long)*depth, (long long)i, (long long)parts[i].t[0]->shape.dim[1]);
    *total += parts[i].t[0]->shape.dim[0];
    for (int64_t d = 0; d < *depth; d++) {
      const int64_t size = TENSOR_DATA(parts[i].t[2], int64_t)[d];
      if (size > dims[d]) dims[d] = size;
    }
  }
  return WEFT_OK;
}

/* Joins the parts. `outer` has the dimensions in front; part i has the row-major position i in them. */
static weft_err put_parts(kernel *k, const sparse_part *parts, int64_t n, const shape *outer) {
  int64_t total, depth, dims[WEFT_MAX_RANK], to = 0;
  WEFT_TRY(measure_parts(k, parts, n, &total, &depth, dims));
  const int64_t all = outer->rank + depth;
  weft_tensor *at = weft__out(k, 0, &SHAPE2(total, all)), *values = weft__out(k, 1, &SHAPE1(total)),
              *whole = weft__out(k, 2, &SHAPE1(all));
  if (!at || !values || !whole) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) {
    const int64_t count = parts[i].t[0]->shape.dim[0];
    for (int64_t j = 0; j < count; j++) {
      int64_t *row = TENSOR_DATA(at, int64_t) + (to + j) * all, rest = i;
      for (int d = outer->rank - 1; d >= 0; d--) {
        row[d] = rest % outer->dim[d];
        rest /= outer->dim[d];
      }
      if (depth)
        memcpy(row + outer->rank, TENSOR_DATA(parts[i].t[0], int64_t) + j * depth, (size_t)depth * sizeof *row);
    }
    WEFT_TRY(
        weft__elements_copy(values->dtype, weft__element(values->dtype, values->data, to), parts[i].t[1]->data, count));
    to += count;
  }
  for (int d = 0; d < outer->rank; d++) TENSOR_DATA(whole, int64_t)[d] = outer->dim[d];
  for (int64_t d = 0; d < depth; d++) TENSOR_DATA(whole, int64_t)[outer->rank + d] = dims[d];
  return WEFT_OK;
}

static weft_err sparse_serialize_read_all(kernel *k, int rank) {
  const shape *s = &k->in[0]->shape;
  if (s->rank < 1 || (rank && s->rank != rank) || s->dim[s->rank - 1] != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Serialized sparse should have 3 as the last dimension, and be a %s, but has shape %s",
                             rank ? "matrix" : "tensor", weft__shape_text(s));
  shape outer = *s;
  outer.rank--;
  const int64_t n = weft__shape_count(&outer);
  if (n == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  sparse_part *parts = weft__alloc_zero((size_t)n, sizeof *parts);
  if (!parts) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) err = sparse_serialize_read_part(k, i, &parts[i]);
  if (!err) err = put_parts(k, parts, n, &outer);
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; j < 3; j++) weft_tensor_destroy(parts[i].t[j]);
  weft__free(parts);
  return err;
}

static weft_err sparse_serialize_read_cpu(kernel *k) { return sparse_serialize_read_all(k, 0); }
static weft_err read_many_cpu(kernel *k) { return sparse_serialize_read_all(k, 2); }

static weft_err serialize_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 1, NULL));
  s->out[0] = SHAPE1(3);
  return WEFT_OK;
}

static weft_err sparse_serialize_many_infer(infer *s) {
  WEFT_TRY(serialize_infer(s));
  s->out[0] = SHAPE2(-1, 3);
  return WEFT_OK;
}

static const op_case serialize_cases[] = {
    {"i64[2,2] 0 0 1 2; f32[2] 1 2; i64[2] 2 3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[1,1] 2; str[1] \"ab\"; i64[1] 4", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[1,1] 2; i32[2] 1; i64[1] 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE | CASE_NO_PARITY},
    {0},
};
static const op_case many_cases[] = {
    {"i64[3,2] 0 0 0 2 2 1; f32[3] 1 2 3; i64[2] 3 3", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[2,3] 0 0 1 1 2 0; i64[2] 1 2; i64[3] 2 3 2", NULL, NULL, CASE_FIXED_TYPE},
    {"i64[1,1] 2; i32[1] 1; i64[1] 4", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};
static const op_case read_cases[] = {
    {"str[3] \"a\" \"b\" \"c\"", "error INVALID_ARGUMENT", "dtype=float", CASE_FIXED_TYPE},
    {"str[2] \"a\" \"b\"", "error INVALID_ARGUMENT", "dtype=float", CASE_FIXED_TYPE},
    {0},
};

#define SPARSE "(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (serialized_sparse:out_type) | T:type "
#define RESULT "-> (sparse_indices:int64, sparse_values:dtype, sparse_shape:int64) | dtype:type"

OPS(sparse_serialize) = {
    {"SerializeSparse" SPARSE "out_type:type{string,variant}=string", "A sparse tensor as three strings.",
     .infer = serialize_infer, .cpu = sparse_serialize_cpu, .cases = serialize_cases, .narrow = NARROW_ALL},
    {"SerializeManySparse" SPARSE "out_type:type{string,variant}=string",
     "Each row of a sparse tensor as three strings.", .infer = sparse_serialize_many_infer, .cpu = many_cpu,
     .cases = many_cases},
    {"DeserializeSparse(serialized_sparse:Tserialized) " RESULT " Tserialized:type{string,variant}=string",
     "Sparse tensors out of strings, stacked.", .infer = weft__sparse_infer, .cpu = sparse_serialize_read_cpu,
     .cases = read_cases, .narrow = NARROW_ALL},
    {"DeserializeManySparse(serialized_sparse:string) " RESULT, "A batch of sparse tensors out of strings.",
     .infer = weft__sparse_infer, .cpu = read_many_cpu, .cases = read_cases, .narrow = NARROW_ALL},
    {0},
};
