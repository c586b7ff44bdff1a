/* composite.c - composite tensors as variants: the components of a value, and the description of its type.
 *
 * The description is a serialized CompositeTensorVariantMetadata.  It says which class of values this is, and a value
 * is taken apart only as a value of the same class. */
#include "base/alloc.h"
#include "codec/example.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "state/held_tensors.h"
#include <string.h>

#define HELD_COMPOSITE "composite tensor" /* its components, and then its description, a string */

/* Stores the number of the class that a description names.  Returns false if it is malformed. */
static bool composite_class(bytes in, uint64_t *out) {
  uint32_t field = 0;
  int wire = 0;
  bytes part = {0};
  uint64_t number = 0;
  *out = 0;
  while (in.at < in.end) {
    if (!weft__wire_next(&in, &field, &wire, &part, &number)) return false;
    while (field == 1 && wire == WIRE_BYTES && part.at < part.end) { /* the TypeSpecProto */
      if (!weft__wire_next(&part, &field, &wire, &(bytes){0}, &number)) return false;
      if (field == 1 && wire == WIRE_VARINT) *out = number;
      field = 1, wire = WIRE_BYTES;
    }
  }
  return true;
}

static weft_err composite_metadata(const kernel *k, bytes *out, uint64_t *class_of) {
  const attr_str s = weft__node_str(k->node, "metadata");
  *out = (bytes){(const uint8_t *)s.data, (const uint8_t *)s.data + s.size};
  return composite_class(*out, class_of) ? WEFT_OK
                                         : weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Error parsing metadata");
}

static weft_err from_components_cpu(kernel *k) {
  held_tensors *v = NULL;
  bytes metadata;
  uint64_t unused;
  WEFT_TRY(composite_metadata(k, &metadata, &unused));
  WEFT_TRY(weft__held_tensors_create(&v, HELD_COMPOSITE, k->n_in + 1));
  weft_err err = WEFT_OK;
  for (int i = 0; i < k->n_in && !err; i++) err = weft__tensor_keep(&v->t[i], k->in[i]);
  if (!err) err = weft__tensor_init(&v->t[k->n_in], WEFT_STRING, &SHAPE_SCALAR);
  if (!err) err = weft__str_set(TENSOR_DATA(&v->t[k->n_in], str), metadata.at, (size_t)(metadata.end - metadata.at));
  if (!err) return weft__variant_output(k, 0, &v->base);
  weft__object_release(&v->base.base);
  return err;
}

static weft_err to_components_cpu(kernel *k) {
  bytes metadata;
  uint64_t wanted, is;
  WEFT_TRY(composite_metadata(k, &metadata, &wanted));
  const held_tensors *v = weft__tensor_count(k->in[0]) == 1 ? weft__held_tensors_at(k->in[0], 0, HELD_COMPOSITE) : NULL;
  if (!v) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The input is not a composite tensor");
  composite_class(weft__bytes(TENSOR_DATA(&v->t[v->n - 1], str)), &is);
  if (is != wanted)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Expected a composite tensor of type spec class %llu, but got one of class %llu",
                             (unsigned long long)wanted, (unsigned long long)is);
  if (v->n - 1 != k->n_out)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Encoded value has %d tensor components; expected %d", v->n - 1,
                             k->n_out);
  for (int i = 0; i < k->n_out; i++) {
    if (v->t[i].dtype != k->node->out_type[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor component %d has dtype %s; expected %s", i,
                               weft__dtype_name(v->t[i].dtype), weft__dtype_name(k->node->out_type[i]));
    WEFT_TRY(weft__out_share(k, i, &v->t[i]));
  }
  return WEFT_OK;
}

/* The gradient of a composite tensor is a composite tensor with the gradients of its components. */
static weft_err from_components_grad(backprop *b) {
  weft_dtype *type = weft__alloc_zero((size_t)b->n_in + 1, sizeof *type);
  if (!type) return WEFT_OOM;
  for (int i = 0; i < b->n_in; i++) type[i] = weft__out_type(b->graph, b->in[i]);
  const attr attrs[] = {*weft__node_attr(b->node, "metadata"), A_TYPES("Tcomponents", type, b->n_in)};
  const weft_out d = weft__b_node(b->graph, "CompositeTensorVariantToComponents", NULL, 1, b->dout, 2, attrs);
  for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(weft__b_slot(d, i));
  weft__free(type);
  return weft__b_ok(b->graph);
}

static weft_err to_components_grad(backprop *b) {
  weft_out *d = weft__alloc_zero((size_t)b->n_out + 1, sizeof *d);
  if (!d) return WEFT_OOM;
  for (int i = 0; i < b->n_out; i++) d[i] = weft__backprop_dout(b, i);
  b->din[0] = GRAD_DENSE(weft__b_node(b->graph, "CompositeTensorVariantFromComponents", NULL, b->n_out, d, 1,
                                      weft__node_attr(b->node, "metadata")));
  weft__free(d);
  return weft__b_ok(b->graph);
}

OPS(composite) = {
    {"CompositeTensorVariantFromComponents(components:@Tcomponents) -> (encoded:variant) | metadata:string "
     "Tcomponents:list(type)>=0",
     "The components of a composite tensor as one variant.", .flags = OP_NO_FOLD, .infer = weft__infer_scalar,
     .cpu = from_components_cpu, .grad = from_components_grad},
    {"CompositeTensorVariantToComponents(encoded:variant) -> (components:@Tcomponents) | metadata:string "
     "Tcomponents:list(type)>=0",
     "The components of a composite tensor.", .flags = OP_NO_FOLD, .infer = weft__infer_none, .cpu = to_components_cpu,
     .grad = to_components_grad},
    {.scenario = "tests/python/test_rare_inputs.py"},
};
