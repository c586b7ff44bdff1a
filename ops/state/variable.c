/* variable.c - reference and resource variables: creating, reading, assigning and adding.
 *
 * An update writes in place if nothing else shares the buffer.  Otherwise it writes the result directly into a new
 * buffer, so both cases cost one pass.  Every update takes the variable's lock, even if use_locking is false, so
 * that no reader sees a half-written value. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/fusion.h"
#include "state/combine.h"
#include "state/variable.h"

/* ---- making ---- */

static weft_err declared_shape(const weft_node *n, bool scalar_is_unknown, shape *out) {
  const attr *a = weft__node_attr(n, "shape");
  *out = a && a->kind == ATTR_SHAPE && !a->is_list ? *a->shape : SHAPE_UNKNOWN;
  if (scalar_is_unknown && out->rank == 0) *out = SHAPE_UNKNOWN;
  return WEFT_OK;
}

static bool is_old(const weft_node *n) { return !strcmp(n->op_name, "Variable"); }

static weft_err variable_infer(infer *s) { return declared_shape(s->node, is_old(s->node), &s->out[0]); }

static weft_err make_variable(resource **out, void *arg) {
  const resource_maker *m = arg;
  shape declared;
  WEFT_TRY(declared_shape(m->node, is_old(m->node), &declared));
  return weft__variable_create((variable **)out, weft__node_type(m->node, "dtype"), &declared, m->name);
}

static const resource_kind variable_kind = {VARIABLE_TYPE, false, make_variable};

/* Another node with the same shared name may have created the variable with another type. */
static weft_err variable_check_type(kernel *k, const variable *v) {
  weft_dtype want = weft__node_type(k->node, "dtype");
  if (v->dtype == want) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INTERNAL, "Output 0 of type %s_ref does not match declared output type %s_ref",
                           weft__dtype_short(v->dtype), weft__dtype_short(want));
}

static weft_err variable_cpu(kernel *k) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(k, &variable_kind, &r, NULL)));
  WEFT_TRY(variable_check_type(k, (variable *)r));
  weft__out_ref(k, 0, (variable *)r);
  return WEFT_OK;
}

static weft_err handle_cpu(kernel *k) {
  resource *r = NULL;
  const weft_tensor *h = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(k, &variable_kind, &r, &h)));
  WEFT_TRY(variable_check_type(k, (variable *)r));
  return weft__out_share(k, 0, h);
}

/* ---- asking ---- */

static weft_err initialized_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, bool)[0] = weft__variable_initialized(v);
  return WEFT_OK;
}

/* DisableCopyOnRead does nothing here: readers always share the value until somebody writes to it. */
static weft_err shared_read_cpu(kernel *k) {
  variable *v = NULL;
  return weft__kernel_variable(k, 0, &v);
}

/* Returns TensorFlow's error for a missing resource.  For TensorFlow, a variable without a value does not exist. */
static weft_err missing_read(const kernel *k, const variable *v) {
  const handle *h = weft__handle_of(k->in[0]);
  const char *container = h ? h->container : "localhost";
  weft_err err =
      weft__kernel_fail(k, WEFT_FAILED_PRECONDITION,
                        "Could not find variable %s. This could mean that the variable has been deleted. In TF1, it "
                        "can also mean the variable is uninitialized. Debug info: container=%s, status error "
                        "message=Resource %s/%s/N10tensorflow3VarE does not exist.",
                        v->name, container, container, v->name);
  return weft__error_add_facts(err, ERROR_UNINITIALIZED);
}

static weft_err variable_read_infer(infer *s) {
  weft_dtype type, want = weft__node_type(s->node, "dtype");
  weft__infer_variable(s, 0, &type, &s->out[0]);
  if (type != WEFT_INVALID && type != want)
    return weft__infer_fail(s, "Trying to read variable with wrong dtype. Expected %s got %s", weft__dtype_short(type),
                            weft__dtype_short(want));
  return WEFT_OK;
}

static weft_err variable_read_cpu(kernel *k) {
  variable *v = NULL;
  weft_tensor now = {0};
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (weft__variable_read(v, &now) != WEFT_OK) return missing_read(k, v);
  weft_err err =
      now.dtype == k->node->out_type[0]
          ? weft__out_share(k, 0, &now)
          : weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                              "Trying to read variable %s from Container: localhost with wrong dtype. "
                              "Expected %s got %s",
                              v->name, weft__dtype_short(k->node->out_type[0]), weft__dtype_short(now.dtype));
  weft__tensor_clear(&now);
  return err;
}

static weft_err read_grad(backprop *b) {
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err variable_shape_infer(infer *s) {
  weft_dtype type;
  shape of;
  weft__infer_variable(s, 0, &type, &of);
  s->out[0] = SHAPE1(of.rank < 0 ? -1 : of.rank);
  return WEFT_OK;
}

static weft_err shape_cpu(kernel *k) {
  variable *v = NULL;
  shape of;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (!weft__variable_value_shape(v, &of)) return weft__variable_fail_uninitialized(k, v);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(of.rank));
  if (!out) return WEFT_OOM;
  for (int i = 0; i < of.rank; i++) {
    if (out->dtype == WEFT_INT64)
      TENSOR_DATA(out, int64_t)[i] = of.dim[i];
    else if (weft__fits_int(of.dim[i]))
      TENSOR_DATA(out, int32_t)[i] = weft__int_sat(of.dim[i]);
    else
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape output type is 32-bit but dim %d is %lld", i,
                               (long long)of.dim[i]);
  }
  return WEFT_OK;
}

/* ---- assigning ---- */

static weft_err merge_infer(infer *s, const shape *var, const shape *with, shape *out) {
  if (weft__shape_merge(out, var, with) == WEFT_OK) return WEFT_OK;
  return weft__infer_fail(s, "%s", weft__error_message());
}

static weft_err assign_infer(infer *s) {
  s->out[0] = s->in[1];
  return weft__node_bool(s->node, "validate_shape", true) ? merge_infer(s, &s->in[0], &s->in[1], &s->out[0]) : WEFT_OK;
}

/* Returns the shape that validate_shape compares with: that of the value, or, if there is no value yet, the declared
 * one.  Like TF, we treat a declared shape of unknown rank as a scalar. */
static shape present_shape(variable *v) {
  shape s = v->declared.rank < 0 ? SHAPE_SCALAR : v->declared;
  weft__variable_value_shape(v, &s);
  return s;
}

static weft_err assign_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  const weft_tensor *t = k->in[1];
  if (weft__node_bool(k->node, "validate_shape", true)) {
    shape have = present_shape(v);
    if (!weft__shape_compatible(&have, &t->shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Assign requires shapes of both tensors to match. lhs shape= %s rhs shape= %s",
                               weft__shape_text(&have), weft__shape_text(&t->shape));
  }
  WEFT_TRY(weft__variable_assign(v, t));
  weft__out_ref(k, 0, v);
  return WEFT_OK;
}

/* Checks the type and the shape of a resource variable against the value of an Assign*VariableOp. */
static weft_err resource_assign_infer(infer *s) {
  weft_dtype type, got = weft__node_type(s->node, "dtype");
  shape declared, merged;
  weft__infer_variable(s, 0, &type, &declared);
  if (type != WEFT_INVALID && type != got)
    return weft__infer_fail(s, "Trying to read variable with wrong dtype. Expected %s got %s", weft__dtype_short(type),
                            weft__dtype_short(got));
  return merge_infer(s, &declared, &s->in[1], &merged);
}

static weft_err resource_assign_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  return weft__variable_assign(v, k->in[1]);
}

/* ---- adding to ---- */

typedef struct update {
  combine_op op;
  weft_dtype dtype;
  char *dst;
  const char *a, *b;
} update;

static void update_range(void *arg, int64_t begin, int64_t end) {
  const update *u = arg;
  int64_t at = begin * (int64_t)weft__dtype_size(u->dtype);
  weft__combine(u->op, u->dtype, u->dst + at, u->a + at, u->b + at, 1, end - begin);
}

/* Computes value = value OP delta, in place or into a new buffer.  The caller holds the lock. */
static weft_err combine_locked(kernel *k, variable *v, combine_op what, const weft_tensor *delta) {
  weft_tensor fresh = {0}, *target = &v->value;
  if (!weft__tensor_writable(&v->value)) {
    WEFT_TRY(weft__tensor_init(&fresh, v->dtype, &v->value.shape));
    target = &fresh;
  }
  update u = {what, v->dtype, target->data, v->value.data, delta->data};
  weft__kernel_loop(k, weft__tensor_count(delta), 1, update_range, &u);
  if (target == &fresh) {
    weft__tensor_clear(&v->value);
    v->value = fresh;
  }
  return WEFT_OK;
}

static weft_err update_variable(kernel *k, combine_op what, bool is_resource) {
  variable *v = NULL;
  const weft_tensor *delta = k->in[1];
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (!weft__combine_has(what, v->dtype)) return weft__kernel_no_type(k, v->dtype);
  weft__variable_lock(1, &v);
  weft_err err;
  if (!v->value.buf)
    err = weft__variable_fail_uninitialized(k, v);
  else if (delta->dtype != v->dtype)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot update variable %s of type %s with a %s", v->name,
                            weft__dtype_name(v->dtype), weft__dtype_name(delta->dtype));
  else if (weft__shape_equal(&v->value.shape, &delta->shape))
    err = combine_locked(k, v, what, delta);
  else if (is_resource)
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                            "Cannot update variable with shape %s using a Tensor with shape %s, shapes must be equal.",
                            weft__shape_text(&v->value.shape), weft__shape_text(&delta->shape));
  else
    err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Parameters and update must be the same size");
  weft__variable_unlock(1, &v);
  if (err == WEFT_OK && !is_resource) weft__out_ref(k, 0, v);
  return err;
}

static weft_err variable_add_cpu(kernel *k) { return update_variable(k, COMBINE_ADD, false); }
static weft_err sub_cpu(kernel *k) { return update_variable(k, COMBINE_SUB, false); }
static weft_err resource_add_cpu(kernel *k) { return update_variable(k, COMBINE_ADD, true); }
static weft_err resource_sub_cpu(kernel *k) { return update_variable(k, COMBINE_SUB, true); }

static weft_err variable_update_infer(infer *s) { return merge_infer(s, &s->in[0], &s->in[1], &s->out[0]); }

/* ---- counting ---- */

static weft_err count_infer(infer *s) { return weft__infer_rank(s, 0, 0, &s->out[0]); }

static weft_err resource_count_infer(infer *s) {
  weft_dtype type;
  shape of;
  weft__infer_variable(s, 0, &type, &of);
  if (of.rank > 0) return weft__infer_fail(s, "Shape must be rank 0 but is rank %d", of.rank);
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* Returns the old value and increments the stored one; fails with OUT_OF_RANGE at the limit.  The caller holds the
 * lock. */
static weft_err count_locked(kernel *k, variable *v, int64_t *before) {
  int64_t limit = weft__node_int(k->node, "limit", 0);
  weft_tensor *t = NULL;
  WEFT_TRY(weft__variable_writable(v, &t));
  if (t->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input is not a scalar: %s", weft__shape_text(&t->shape));
  *before = weft__tensor_int(t, 0);
  if (*before >= limit) return weft__kernel_fail(k, WEFT_OUT_OF_RANGE, "Reached limit of %lld", (long long)limit);
  if (t->dtype == WEFT_INT64)
    TENSOR_DATA(t, int64_t)[0]++;
  else
    TENSOR_DATA(t, int32_t)[0]++;
  return WEFT_OK;
}

static weft_err count_cpu(kernel *k) {
  variable *v = NULL;
  int64_t before = 0;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  if (v->dtype != k->node->out_type[0]) return weft__kernel_no_type(k, v->dtype);
  weft__variable_lock(1, &v);
  weft_err err = count_locked(k, v, &before);
  weft__variable_unlock(1, &v);
  if (err != WEFT_OK) return err;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  if (out->dtype == WEFT_INT64)
    TENSOR_DATA(out, int64_t)[0] = before;
  else
    TENSOR_DATA(out, int32_t)[0] = (int32_t)before;
  return WEFT_OK;
}

/* ---- forgetting ---- */

static weft_err destroy_cpu(kernel *k) {
  const handle *h = weft__handle_of(k->in[0]);
  if (!h) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the handle is empty");
  bool exists = strcmp(h->target->type, VARIABLE_TYPE) != 0 || weft__variable_initialized((variable *)h->target);
  weft_err err = weft__resource_delete(k->step->resources, h->container, h->target->type, h->name);
  if (err == WEFT_OK && !exists) /* TF creates the variable at its first assignment, not with its handle */
    err = weft__kernel_fail(k, WEFT_NOT_FOUND, "Resource %s/%s/<unknown> does not exist.", h->container, h->name);
  return err == WEFT_NOT_FOUND && weft__node_bool(k->node, "ignore_lookup_error", true) ? WEFT_OK : err;
}

/* ---- cases and table ---- */

static const op_case assign_cases[] = {
    {"&f32[2] 1 2; f32[2] 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&f32[2,0] 0; f32[2,0] 0", NULL, NULL, CASE_NO_GRAD},
    {"&i64[] 1; i64[] 7", NULL, NULL, CASE_NO_GRAD},
    {"&str[2] \"a\" \"b\"; str[2] \"c\" \"\"", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&f32[2] 1 2; f32[3] 3 4 5", NULL, "validate_shape=false", CASE_NO_GRAD},
    {"&f32[2] 1 2; f32[3] 3 4 5", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case resource_assign_cases[] = {
    {"&f32[2] 1 2; f32[2] 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&bool[3] true; bool[3] false", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&str[2] \"a\" \"b\"; str[2] \"c\" \"\"", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&f32[2] 1 2; f32[3] 3 4 5", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case update_cases[] = {
    {"&f32[2] 1 2; f32[2] 3 4", NULL, NULL, CASE_NO_GRAD},
    {"&f32[] 1; f32[] 3", NULL, NULL, CASE_NO_GRAD},
    {"&i32[2,3] seq; i32[2,3] rand", NULL, NULL, CASE_NO_GRAD},
    {"&f32[0] 0; f32[0] 0", NULL, NULL, CASE_NO_GRAD},
    {"&f32[300,301] rand; f32[300,301] rand", NULL, NULL, CASE_NO_GRAD},
    {"&f32[2] 1 2; f32[3] 3 4 5", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case read_cases[] = {
    {"&f32[2] 1 2", NULL, "dtype=float", CASE_NO_GRAD},
    {"&str[2] \"a\" \"b\"", NULL, "dtype=string", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&i32[2] 1 2", "error INVALID_ARGUMENT", "dtype=float", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case shared_read_cases[] = {
    {"&f32[2] 1 2", NULL, NULL, CASE_FIXED_TYPE},
    {0},
};

static const op_case initialized_cases[] = {
    {"&f32[2] 1 2", "bool[] true", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case shape_cases[] = {
    {"&f32[2,0,3] 0", "i32[3] 2 0 3", NULL, CASE_NO_GRAD},
    {"&f32[] 0", "i64[0] 0", "out_type=int64", CASE_NO_GRAD},
    {0},
};
static const op_case count_cases[] = {
    {"&i32[] 4", "i32[] 4", "limit=5 T=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&i64[] -4", "i64[] -4", "limit=5 T=int64", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&i32[] 5", "error OUT_OF_RANGE", "limit=5 T=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"&i32[1] 4", "error INVALID_ARGUMENT", "limit=5 T=int32", CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};

#define IS_RESOURCE .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare

static const fusion adds = {.updates = &weft__update_add}, assigns = {ROLE_ASSIGN};
static const fusion subtracts = {ROLE_SUBTRACT, .updates = &weft__update_sub};

OPS(variable) = {
    {"VariableV2() -> (ref:&dtype) | shape:shape dtype:type container:string='' shared_name:string='' ; stateful",
     "A tensor that outlives steps, by reference.", .kind = KIND_VARIABLE, .infer = variable_infer, .cpu = variable_cpu,
     .flags = OP_ONCE, IS_RESOURCE, .anywhere = "", .narrow = NARROW_ALL},
    {"Variable() -> (ref:&dtype) | shape:shape dtype:type container:string='' shared_name:string='' ; stateful",
     "VariableV2 in the graphs of TF 0.x, where the shape [] means unknown.", .kind = KIND_VARIABLE,
     .infer = variable_infer, .cpu = variable_cpu, .flags = OP_ONCE, IS_RESOURCE, .anywhere = "", .narrow = NARROW_ALL},
    {"VarHandleOp() -> (resource:resource) | container:string='' shared_name:string='' debug_name:string='' dtype:type "
     "shape:shape allowed_devices:list(string)=[] ; stateful",
     "A handle of a variable.", .kind = KIND_HANDLE, .infer = weft__infer_scalar, .cpu = handle_cpu, .flags = OP_ONCE,
     IS_RESOURCE, .anywhere = "", .narrow = NARROW_ALL},
    {"IsVariableInitialized(ref:&dtype) -> (is_initialized:bool) | dtype:type ; uninit",
     "Has the variable got a value yet?", .infer = weft__infer_scalar, .cpu = initialized_cpu,
     .cases = initialized_cases, .anywhere = "is_initialized", .narrow = NARROW_ALL},
    {"VarIsInitializedOp(resource:resource) -> (is_initialized:bool) ; stateful", "Has the variable got a value yet?",
     .infer = weft__infer_scalar, .cpu = initialized_cpu, .no_grad = true, .cases = initialized_cases,
     .anywhere = "is_initialized"},
    {"DisableCopyOnRead(resource:resource) -> () ; stateful", "Lets reads of the variable share its value.",
     .infer = weft__infer_none, .cpu = shared_read_cpu, .cases = shared_read_cases},
    {"ReadVariableOp(resource:resource) -> (value:dtype) | dtype:type ; stateful", "The variable's value now.",
     .kind = KIND_READ, .infer = variable_read_infer, .cpu = variable_read_cpu, .grad = read_grad, .cases = read_cases,
     .anywhere = "", .narrow = NARROW_ALL},
    {"VariableShape(input:resource) -> (output:out_type) | out_type:type{int32,int64}=int32 ; stateful",
     "The shape of the variable's value.", .infer = variable_shape_infer, .cpu = shape_cpu, .no_grad = true,
     .cases = shape_cases, .flags = OP_SHAPE_ONLY, .anywhere = "output"},
    {"Assign(ref:&T, value:T) -> (output_ref:&T) | T:type validate_shape:bool=true use_locking:bool=true ; uninit",
     "Gives the variable a value.", .flags = OP_UPDATES, .infer = assign_infer, .cpu = assign_cpu, .fusion = &assigns,
     .no_grad = true, .cases = assign_cases, .anywhere = ""},
    {"AssignVariableOp(resource:resource, value:dtype) -> () | dtype:type validate_shape:bool=false ; stateful",
     "Gives the variable a value.", .flags = OP_UPDATES, .infer = resource_assign_infer, .cpu = resource_assign_cpu,
     .fusion = &assigns, .cases = resource_assign_cases, .anywhere = "", .narrow = NARROW_ALL},
    {"AssignAdd(ref:&T, value:T) -> (output_ref:&T) | T:type{number} use_locking:bool=false", "Adds to the variable.",
     .flags = OP_UPDATES, .infer = variable_update_infer, .cpu = variable_add_cpu, .no_grad = true, .fusion = &adds,
     .cases = update_cases},
    {"AssignSub(ref:&T, value:T) -> (output_ref:&T) | T:type{number} use_locking:bool=false",
     "Subtracts from the variable.", .flags = OP_UPDATES, .infer = variable_update_infer, .cpu = sub_cpu,
     .no_grad = true, .fusion = &subtracts, .cases = update_cases},
    {"AssignAddVariableOp(resource:resource, value:dtype) -> () | dtype:type ; stateful", "Adds to the variable.",
     .flags = OP_UPDATES, .infer = resource_assign_infer, .cpu = resource_add_cpu, .fusion = &adds,
     .cases = update_cases},
    {"AssignSubVariableOp(resource:resource, value:dtype) -> () | dtype:type ; stateful",
     "Subtracts from the variable.", .flags = OP_UPDATES, .infer = resource_assign_infer, .cpu = resource_sub_cpu,
     .fusion = &subtracts, .cases = update_cases},
    {"CountUpTo(ref:&T) -> (output:T) | limit:int T:type{int32,int64}", "Counts up; OUT_OF_RANGE at the limit.",
     .infer = count_infer, .cpu = count_cpu, .cases = count_cases},
    {"ResourceCountUpTo(resource:resource) -> (output:T) | limit:int T:type{int32,int64} ; stateful",
     "Counts up; OUT_OF_RANGE at the limit.", .infer = resource_count_infer, .cpu = count_cpu, .cases = count_cases},
    {"DestroyResourceOp(resource:resource) -> () | ignore_lookup_error:bool=true ; stateful",
     "Takes the resource out of its container.", .infer = weft__infer_none, .cpu = destroy_cpu, .anywhere = ""},
    {0},
};
