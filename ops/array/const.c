/* const.c - ops whose value comes from outside the graph (Const, Placeholder), and ops that pass a value on
 * unchanged.
 *
 * A Const shares the tensor of its attribute with every step, without a copy.  The pass-through ops forward the
 * buffer of their input.  Placeholder has a kernel only for the error that TensorFlow gives: it names the value that
 * was not fed. */
#include "graph/build.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "proto/scan.h"
#include "state/variant_proto.h"
#include "tf.pb-c.h"

/* ---- Const, Placeholder ---- */

/* Unpacks an attribute that is held as bytes; returns its tensor if that is one of variants.  The caller frees *m. */
static const Tensorflow__TensorProto *variants_in(const attr *a, ProtobufCMessage **m) {
  *m = NULL;
  if (!a || a->kind != ATTR_OPAQUE) return NULL;
  if (weft__proto_unpack(m, &tensorflow__attr_value__descriptor, a->s.data, a->s.size) != WEFT_OK) return NULL;
  const Tensorflow__AttrValue *v = (const Tensorflow__AttrValue *)*m;
  const bool holds = v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR && v->tensor->dtype == WEFT_VARIANT;
  return holds ? v->tensor : NULL;
}

static weft_err const_prepare(const weft_node *node, void **state) {
  ProtobufCMessage *m;
  const Tensorflow__TensorProto *p = variants_in(weft__node_attr(node, "value"), &m);
  weft_tensor *t = NULL;
  const weft_err err = p ? weft__variants_from_proto(&t, p) : WEFT_OK;
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  *state = t;
  return err;
}

static void const_unprepare(void *state) { weft_tensor_destroy(state); }

static weft_err const_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "value");
  ProtobufCMessage *m;
  const Tensorflow__TensorProto *p = variants_in(a, &m);
  shape own = SHAPE_SCALAR;
  if (p && (!p->tensor_shape || weft__shape_from_proto(&own, p->tensor_shape) == WEFT_OK)) s->out[0] = own;
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  if (!a || a->kind != ATTR_TENSOR || !a->tensor) return WEFT_OK;
  weft_dtype type = weft__node_type(s->node, "dtype");
  if (a->tensor->dtype != type)
    return weft__infer_fail(s, "dtype is %s but the value is of type %s", weft__dtype_name(type),
                            weft__dtype_name(a->tensor->dtype));
  s->out[0] = a->tensor->shape;
  return WEFT_OK;
}

static weft_err const_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "value");
  if (k->state) return weft__out_share(k, 0, k->state);
  if (!a || a->kind != ATTR_TENSOR || !a->tensor)
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "constants of type %s cannot be held",
                             weft__dtype_name(k->node->out_type[0]));
  return weft__out_share(k, 0, a->tensor);
}

static weft_err placeholder_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "shape");
  if (!a || a->kind != ATTR_SHAPE) return WEFT_OK;
  s->out[0] = *a->shape;
  return WEFT_OK;
}

static weft_err placeholder_cpu(kernel *k) {
  const char *type = weft__dtype_short(k->node->out_type[0]);
  const shape *s = &k->node->out_shape[0];
  if (s->rank <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "You must feed a value for placeholder tensor '%s' with dtype %s", k->node->name, type);
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s",
                           k->node->name, type, weft__shape_text(s));
}

/* Checks that the declared shape fits the shape of the default.  Unknown dimensions stay unknown, because a feed may
 * have another size. */
static weft_err default_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "shape");
  if (!a || a->kind != ATTR_SHAPE) return WEFT_OK;
  shape merged;
  WEFT_TRY(weft__shape_merge(&merged, &s->in[0], a->shape));
  s->out[0] = *a->shape;
  return WEFT_OK;
}

/* ---- passing on ---- */

static weft_err each_infer(infer *s) {
  for (int i = 0; i < s->n_out; i++) s->out[i] = s->in[i];
  return WEFT_OK;
}

static weft_err each_cpu(kernel *k) {
  for (int i = 0; i < k->n_out; i++) WEFT_TRY(weft__forward(k, i, i, &k->in[i]->shape));
  return WEFT_OK;
}

static weft_err each_grad(backprop *b) {
  for (int i = 0; i < b->n_out; i++) b->din[i] = GRAD_DENSE(b->dout[i]);
  return WEFT_OK;
}

static weft_err ref_identity_cpu(kernel *k) {
  weft__out_ref(k, 0, k->ref[0]);
  return WEFT_OK;
}

static weft_err prevent_grad(backprop *b) {
  return weft__fail_fact(WEFT_NOT_FOUND, WEFT_FACT_NO_GRADIENT, "Gradient explicitly disabled. Reason: b'%s'",
                         weft__node_str(b->node, "message").data);
}

/* TensorFlow raises RuntimeError here; UNIMPLEMENTED becomes NotImplementedError in Python, which is one. */
static weft_err cluster_output_grad(backprop *b) {
  (void)b;
  return weft__fail(WEFT_UNIMPLEMENTED,
                    "Gradient computation of graph in xla.compile() is prohibited because it can cause performance "
                    "degradation.Please move gradient computation inside xla.compile().");
}

static weft_err no_op_cpu(kernel *k) {
  (void)k;
  return WEFT_OK;
}

/* ---- cases ---- */

static const op_case placeholder_cases[] = {
    {"", "error INVALID_ARGUMENT", "dtype=float shape=[2]", CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

static const op_case default_cases[] = {
    {"f32[2,3] rand", NULL, "shape=[-1,3]", 0},
    {"i64[] 3", "i64[] 3", "shape=[]", 0},
    {"str[2] \"a\" \"\"", "str[2] \"a\" \"\"", "shape=?", 0},
    {0},
};

static const op_case identity_cases[] = {
    {"f32[2,3] rand", NULL, NULL, 0},
    {"f32[] 1.5", "f32[] 1.5", NULL, 0},
    {"f64[0,4] 0", "f64[0,4] 0", NULL, 0},
    {"c64[2] 1 2", NULL, NULL, 0},
    {"bool[3] true false true", "bool[3] true false true", NULL, 0},
    {"str[2] \"one\" \"two\"", "str[2] \"one\" \"two\"", NULL, 0},
    {"f32[1000,17] rand", NULL, NULL, CASE_NO_GRAD},
    {0},
};

static const op_case identity_n_cases[] = {
    {"f32[2] 1 2; i32[] 3; str[1] \"x\"", "f32[2] 1 2; i32[] 3; str[1] \"x\"", NULL, 0},
    {"f64[2,2] rand; f32[3] rand", NULL, NULL, 0},
    {0},
};

static const op_case ref_identity_cases[] = {
    {"&f32[3] 1 2 3", "f32[3] 1 2 3", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case debug_cases[] = {
    {"f32[2,3] rand", NULL, NULL, CASE_NO_GRAD},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_NO_GRAD},
    {0},
};

static const op_case cluster_output_cases[] = {
    {"f32[2,3] rand", NULL, NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {"str[2] \"a\" \"bc\"", NULL, NULL, CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

static const op_case prevent_cases[] = {
    {"f32[2,3] rand", NULL, "message='not this way'", CASE_NO_GRAD},
    {0},
};

static const op_case no_op_cases[] = {
    {"", "", NULL, CASE_NO_GRAD},
    {0},
};

OPS(const) = {
    {"Const() -> (output:dtype) | value:tensor dtype:type", "A value written into the graph.", .kind = KIND_CONST,
     .infer = const_infer, .cpu = const_cpu, .prepare = const_prepare, .unprepare = const_unprepare, .no_grad = true,
     .anywhere = "*", .narrow = NARROW_ALL},
    {"Placeholder() -> (output:dtype) | dtype:type shape:shape=?", "A value that every run must feed.",
     .flags = OP_NO_FOLD, .kind = KIND_PLACEHOLDER, .infer = placeholder_infer, .cpu = placeholder_cpu,
     .cases = placeholder_cases, .anywhere = "*", .narrow = NARROW_ALL},
    {"PlaceholderV2() -> (output:dtype) | dtype:type shape:shape", "A value that every run must feed.",
     .flags = OP_NO_FOLD, .kind = KIND_PLACEHOLDER, .infer = placeholder_infer, .cpu = placeholder_cpu,
     .cases = placeholder_cases, .anywhere = "*", .narrow = NARROW_ALL},
    {"PlaceholderWithDefault(input:dtype) -> (output:dtype) | dtype:type shape:shape",
     "A value that a run may feed; its input otherwise.", .flags = OP_NO_FOLD, .infer = default_infer, .cpu = each_cpu,
     .grad = each_grad, .cases = default_cases, .anywhere = "", .narrow = NARROW_ALL},
    {"Identity(input:T) -> (output:T) | T:type", "The input.", .flags = OP_FORWARDS, .kind = KIND_IDENTITY,
     .known = weft__known_input, .infer = each_infer, .cpu = each_cpu, .grad = each_grad, .cases = identity_cases,
     .anywhere = "", .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"IdentityN(input:@T) -> (output:@T) | T:list(type)>=1", "The inputs, once all have come.", .infer = each_infer,
     .cpu = each_cpu, .grad = each_grad, .cases = identity_n_cases, .anywhere = "", .amp = AMP_CLEAR},
    {"Snapshot(input:T) -> (output:T) | T:type", "The input.", .infer = each_infer, .cpu = each_cpu,
     .cases = identity_cases, .anywhere = "", .amp = AMP_CLEAR},
    {"XlaClusterOutput(input:T) -> (outputs:T) | T:type", "The input: a result of a computation of tf.xla.",
     .flags = OP_FORWARDS, .infer = each_infer, .cpu = each_cpu, .grad = cluster_output_grad,
     .cases = cluster_output_cases, .anywhere = ""},
    {"GuaranteeConst(input:T) -> (output:T) | T:type ; stateful", "The input, which the program says never changes.",
     .infer = each_infer, .cpu = each_cpu, .cases = identity_cases, .anywhere = "", .narrow = NARROW_ALL},
    {"StopGradient(input:T) -> (output:T) | T:type", "The input; gradients end here.", .flags = OP_FORWARDS,
     .infer = each_infer, .cpu = each_cpu, .no_grad = true, .cases = identity_cases, .anywhere = "", .amp = AMP_CLEAR,
     .narrow = NARROW_ALL},
    {"PreventGradient(input:T) -> (output:T) | T:type message:string=''",
     "The input; asking for a gradient through it is an error.", .flags = OP_FORWARDS, .infer = each_infer,
     .cpu = each_cpu, .grad = prevent_grad, .cases = prevent_cases, .anywhere = "", .amp = AMP_CLEAR,
     .narrow = NARROW_ALL},
    {"RefIdentity(input:&T) -> (output:&T) | T:type ; uninit", "The variable itself.", .flags = OP_FORWARDS,
     .kind = KIND_IDENTITY, .infer = each_infer, .cpu = ref_identity_cpu, .grad = each_grad,
     .cases = ref_identity_cases, .anywhere = "", .narrow = NARROW_ALL},
    {"DebugGradientIdentity(input:T) -> (output:T) | T:type ; uninit", "The input, for debuggers of gradients.",
     .flags = OP_FORWARDS, .infer = each_infer, .cpu = each_cpu, .grad = each_grad, .cases = debug_cases,
     .anywhere = "", .narrow = NARROW_ALL},
    {"DebugGradientRefIdentity(input:&T) -> (output:&T) | T:type ; uninit",
     "The variable itself, for debuggers of gradients.", .flags = OP_FORWARDS, .infer = each_infer,
     .cpu = ref_identity_cpu, .grad = each_grad, .cases = ref_identity_cases, .anywhere = "", .narrow = NARROW_ALL},
    {"NoOp() -> ()", "Nothing: a place to hang control edges on.", .kind = KIND_NO_OP, .infer = weft__infer_none,
     .cpu = no_op_cpu, .cases = no_op_cases, .anywhere = "*"},
    {0},
};
