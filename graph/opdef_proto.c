/* opdef_proto.c - converts our op definitions to TensorFlow's OpDef messages. */
#include "graph/attr_proto.h"
#include "graph/metagraph.h"

static weft_err opdef_proto_oom(void) { return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory for an OpDef"); }

/* Casts a string for protobuf-c, which only reads it. */
static char *opdef_proto_string(const char *s) { return (char *)(uintptr_t)(s ? s : ""); }

static weft_err write_args(Tensorflow__OpDefArgDef ***out, size_t *count, const arg_def *args, int n, arena *a) {
  Tensorflow__OpDefArgDef *each = weft__arena_alloc(a, sizeof *each * (size_t)(n + 1));
  *out = weft__arena_alloc(a, sizeof **out * (size_t)(n + 1));
  if (!each || !*out) return opdef_proto_oom();
  *count = (size_t)n;
  for (int i = 0; i < n; i++) {
    tensorflow__op_def_arg_def__init(&each[i]);
    each[i].name = opdef_proto_string(args[i].name);
    each[i].type = (int32_t)args[i].type;
    each[i].type_attr = opdef_proto_string(args[i].type_attr);
    each[i].number_attr = opdef_proto_string(args[i].number_attr);
    each[i].type_list_attr = opdef_proto_string(args[i].list_attr);
    each[i].is_ref = args[i].is_ref;
    (*out)[i] = &each[i];
  }
  return WEFT_OK;
}

static const char *kind_text(attr_kind kind, bool is_list) {
  switch (kind) {
  case ATTR_STRING: return is_list ? "list(string)" : "string";
  case ATTR_INT: return is_list ? "list(int)" : "int";
  case ATTR_FLOAT: return is_list ? "list(float)" : "float";
  case ATTR_BOOL: return is_list ? "list(bool)" : "bool";
  case ATTR_TYPE: return is_list ? "list(type)" : "type";
  case ATTR_SHAPE: return is_list ? "list(shape)" : "shape";
  case ATTR_TENSOR: return is_list ? "list(tensor)" : "tensor";
  default: return is_list ? "list(func)" : "func";
  }
}

static weft_err write_value(Tensorflow__AttrValue **out, const attr *from, arena *a) {
  *out = weft__arena_alloc(a, sizeof **out);
  return *out ? weft__attr_to_proto(*out, from, a) : opdef_proto_oom();
}

static weft_err write_attr(Tensorflow__OpDefAttrDef *out, const attr_def *d, arena *a) {
  tensorflow__op_def_attr_def__init(out);
  out->name = opdef_proto_string(d->name);
  out->type = opdef_proto_string(kind_text(d->kind, d->is_list));
  out->has_minimum = d->has_min;
  out->minimum = d->has_min ? d->min : 0;
  if (d->has_default) WEFT_TRY(write_value(&out->default_value, &d->default_value, a));
  if (d->allowed.kind != ATTR_NONE) WEFT_TRY(write_value(&out->allowed_values, &d->allowed, a));
  return WEFT_OK;
}

weft_err weft__opdef_to_proto(Tensorflow__OpDef *out, const opdef *d, arena *a) {
  tensorflow__op_def__init(out);
  out->name = opdef_proto_string(d->name);
  WEFT_TRY(write_args(&out->input_arg, &out->n_input_arg, d->in, d->n_in, a));
  WEFT_TRY(write_args(&out->output_arg, &out->n_output_arg, d->out, d->n_out, a));
  Tensorflow__OpDefAttrDef *each = weft__arena_alloc(a, sizeof *each * (size_t)(d->n_attr + 1));
  out->attr = weft__arena_alloc(a, sizeof *out->attr * (size_t)(d->n_attr + 1));
  if (!each || !out->attr) return opdef_proto_oom();
  for (int i = 0; i < d->n_attr; i++) {
    out->attr[out->n_attr++] = &each[i];
    WEFT_TRY(write_attr(&each[i], &d->attr[i], a));
  }
  out->is_stateful = d->stateful;
  out->is_commutative = d->commutative;
  out->is_aggregate = d->aggregate;
  out->allows_uninitialized_input = d->uninit_ok;
  return WEFT_OK;
}
