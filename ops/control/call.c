/* call.c - ops that call functions of the graph's library: calls, conditionals, loops.
 *
 * TensorFlow's newer control flow consists of these ops.  Their gradients are functions of the library too. */
#include "base/alloc.h"
#include "base/cast.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/function.h"
#include "graph/gradient/body_gradient.h"
#include "state/dataset.h"
#include <stdio.h>

typedef struct functions { /* the functions that the attributes of a node name, in that order */
  int n;
  function *f[];
} functions;

static void call_unprepare(void *state) {
  functions *s = state;
  for (int i = 0; s && i < s->n; i++) weft__function_release(s->f[i]);
  weft__free(s);
}

static weft_err prepare_named(const weft_node *n, int n_name, const char *const *name, void **state) {
  functions *s = weft__alloc_zero(1, sizeof *s + sizeof s->f[0] * (size_t)n_name);
  if (!s) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int i = 0; i < n_name && !err; i++) err = weft__function_create(&s->f[s->n++], n, name[i], 0);
  if (err)
    call_unprepare(s);
  else
    *state = s;
  return err;
}

static weft_err prepare_call(const weft_node *n, void **state) {
  return prepare_named(n, 1, (const char *const[]){"f"}, state);
}
static weft_err prepare_gradient(const weft_node *n, void **state) {
  functions *s = weft__alloc_zero(1, sizeof *s + sizeof s->f[0]);
  if (!s) return WEFT_OOM;
  s->n = 1;
  const weft_err err = weft__function_gradient(&s->f[0], n, "f");
  if (err)
    call_unprepare(s);
  else
    *state = s;
  return err;
}
static weft_err prepare_if(const weft_node *n, void **state) {
  return prepare_named(n, 2, (const char *const[]){"then_branch", "else_branch"}, state);
}
static weft_err prepare_while(const weft_node *n, void **state) {
  return prepare_named(n, 2, (const char *const[]){"cond", "body"}, state);
}

static weft_err prepare_for(const weft_node *n, void **state) {
  return prepare_named(n, 1, (const char *const[]){"body"}, state);
}

static weft_err prepare_case(const weft_node *n, void **state) {
  int count = weft__function_count(n, "branches");
  functions *s = weft__alloc_zero(1, sizeof *s + sizeof s->f[0] * (size_t)count);
  if (!s) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int i = 0; i < count && !err; i++) err = weft__function_create(&s->f[s->n++], n, "branches", i);
  if (err)
    call_unprepare(s);
  else
    *state = s;
  return err;
}

/* ---- calls ---- */

static void destroy_all(weft_tensor **t, int n) {
  for (int i = 0; i < n; i++) weft_tensor_destroy(t[i]);
}

/* Calls f with the inputs from `first` on.  Its results become the outputs of the node. */
static weft_err function_call(kernel *k, function *f, int first) {
  weft_tensor **ret = weft__alloc_zero((size_t)k->n_out + 1, sizeof *ret);
  if (!ret) return WEFT_OOM;
  weft_err err = weft__function_call(f, k->step, k->n_in - first, k->in + first, k->n_out, ret);
  for (int i = 0; i < k->n_out && !err; i++) err = weft__out_share(k, i, ret[i]);
  destroy_all(ret, k->n_out);
  weft__free(ret);
  return err;
}

static weft_err call_cpu(kernel *k) { return function_call(k, ((functions *)k->state)->f[0], 0); }

/* ---- RemoteCall: a call on the device that input 0 names ---- */

/* Returns the kernel's own device by its full name. */
static weft_err own_device(const kernel *k, device_spec *out) {
  const char *name = k->device ? k->device->name : k->node->device;
  WEFT_TRY(weft__device_parse(out, "/job:localhost/replica:0/task:0/device:CPU:0"));
  device_spec given;
  WEFT_TRY(weft__device_parse(&given, name ? name : ""));
  weft__device_merge(out, &given);
  return WEFT_OK;
}

/* Checks the target device.  Fields that it omits are those of the node.  Functions run on the CPU of the calling
 * task. */
static weft_err check_target(const kernel *k) {
  device_spec target, here, full;
  char text[WEFT_DEVICE_TEXT];
  if (weft__tensor_count(k->in[0]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "target must be a scalar, but has shape %s",
                             weft__shape_text(&k->in[0]->shape));
  const str *given = TENSOR_DATA(k->in[0], str);
  snprintf(text, sizeof text, "%.*s", weft__int_sat(given->size), given->data ? given->data : "");
  if (given->size >= sizeof text || weft__device_parse(&target, text))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse %s into a device specification.", text);
  WEFT_TRY(own_device(k, &here));
  snprintf(here.type, sizeof here.type, "CPU");
  here.id = 0;
  full = here;
  weft__device_merge(&full, &target);
  if (weft__device_matches(&target, &here)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INTERNAL,
                           "Currently don't support instantiating functions on device: %s (place the call there "
                           "with tf.device, and name that device as its target)",
                           weft__device_text(&full, text, sizeof text));
}

static weft_err remote_cpu(kernel *k) {
  WEFT_TRY(check_target(k));
  return function_call(k, ((functions *)k->state)->f[0], 1);
}

/* Finds the types of the gradients of the inputs.  The gradient of a resource has the type of its variable, or is a
 * resource itself if there is no variable. */
static weft_err gradient_types(const backprop *b, weft_dtype *type) {
  function *f = NULL;
  bool any = false;
  for (int i = 0; i < b->n_in; i++) any |= type[i] == WEFT_RESOURCE;
  if (!any) return WEFT_OK;
  WEFT_TRY(weft__function_gradient(&f, b->node, "f"));
  for (int i = 0; i < b->n_in && i < f->n_ret; i++) type[i] = weft__out_type(f->body, f->ret[i]);
  weft__function_release(f);
  return WEFT_OK;
}

/* The gradient of a call is a call of the function's gradient, with the inputs of the call and the output gradients. */
static weft_err call_grad(backprop *b) {
  const size_t n = (size_t)(b->n_in + b->n_out);
  weft_out *in = weft__alloc_zero(n + 1, sizeof *in);
  weft_dtype *type = weft__alloc_zero(n + 1, sizeof *type), *made = weft__alloc_zero(n + 1, sizeof *made);
  arena tmp = {0};
  attr f = {0};
  weft_err err = in && type && made ? weft__function_attr(&f, "f", b->node, &tmp) : WEFT_OOM;
  for (int i = 0; !err && i < weft__int_sat(n); i++) {
    in[i] = i < b->n_in ? b->in[i] : weft__backprop_dout(b, i - b->n_in);
    if (in[i].node >= 0) made[i] = type[i] = weft__dtype_base(weft__out_type(b->graph, in[i]));
  }
  if (!err) err = gradient_types(b, made);
  if (!err) {
    const attr attrs[] = {A_TYPES("Tin", type, weft__int_sat(n)), A_TYPES("Tout", made, b->n_in), f};
    const weft_out d = weft__b_node(b->graph, "SymbolicGradient", NULL, weft__int_sat(n), in, 3, attrs);
    for (int i = 0; i < b->n_in; i++) {
      const dtype_class c = weft__dtype_class(made[i]);
      if (c == CLASS_FLOAT || c == CLASS_COMPLEX) b->din[i] = GRAD_DENSE(weft__b_slot(d, i));
    }
  }
  weft__free(in);
  weft__free(type);
  weft__free(made);
  weft__arena_finish(&tmp);
  return err;
}

static weft_err gradient_infer(infer *s) {
  for (int i = 0; i < s->n_out && i < s->n_in; i++)
    if (weft__out_type(s->node->graph, s->node->in[i]) != WEFT_RESOURCE) s->out[i] = s->in[i];
  return WEFT_OK;
}

/* Returns true for a scalar that is neither zero nor an empty string, and for any other tensor that has elements. */
static bool is_true(const weft_tensor *t) {
  if (t->shape.rank > 0) return weft__tensor_count(t) > 0;
  if (t->dtype == WEFT_STRING) return TENSOR_DATA(t, str)[0].size > 0;
  if (t->dtype == WEFT_BOOL) return TENSOR_DATA(t, bool)[0];
  return weft__tensor_double(t, 0) != 0;
}

static weft_err if_cpu(kernel *k) { return function_call(k, ((functions *)k->state)->f[is_true(k->in[0]) ? 0 : 1], 1); }

static weft_err case_cpu(kernel *k) {
  const functions *s = k->state;
  WEFT_TRY(weft__kernel_scalar(k, 0, "branch_index"));
  int32_t i = TENSOR_DATA(k->in[0], int32_t)[0];
  if (s->n == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "there are no branches");
  return function_call(k, s->f[i < 0 || i >= s->n ? s->n - 1 : i], 1);
}

/* ---- loops ---- */

typedef struct call_loop {
  kernel *k;
  int n;
  const weft_tensor **now; /* the loop variables: at first the inputs, then the tensors of `made` */
  weft_tensor **made, **next;
} call_loop;

static weft_err goes_on(call_loop *l, bool *yes) {
  weft_tensor *answer = NULL;
  const functions *s = l->k->state;
  WEFT_TRY(weft__function_call(s->f[0], l->k->step, l->n, l->now, 1, &answer));
  *yes = is_true(answer);
  weft_tensor_destroy(answer);
  return WEFT_OK;
}

static weft_err while_iteration(call_loop *l) {
  const functions *s = l->k->state;
  WEFT_TRY(weft__step_check_time(l->k->step)); /* a body without nodes to run does not check the deadline itself */
  memset(l->next, 0, sizeof *l->next * (size_t)l->n);
  WEFT_TRY(weft__function_call(s->f[1], l->k->step, l->n, l->now, l->n, l->next));
  destroy_all(l->made, l->n);
  for (int i = 0; i < l->n; i++) l->now[i] = l->made[i] = l->next[i];
  return WEFT_OK;
}

static weft_err while_cpu(kernel *k) {
  size_t n = (size_t)k->n_in;
  void **memory = weft__alloc_zero(3 * n + 1, sizeof *memory);
  if (!memory) return WEFT_OOM;
  call_loop l = {k, k->n_in, (const weft_tensor **)memory, (weft_tensor **)(memory + n),
                 (weft_tensor **)(memory + 2 * n)};
  for (int i = 0; i < l.n; i++) l.now[i] = k->in[i];
  bool more = false;
  weft_err err = goes_on(&l, &more);
  while (!err && more) {
    err = while_iteration(&l);
    if (!err) err = goes_on(&l, &more);
  }
  for (int i = 0; i < l.n && !err; i++)
    err = l.made[i] ? weft__out_share(k, i, l.made[i]) : weft__forward(k, i, i, &k->in[i]->shape);
  destroy_all(l.made, l.n);
  weft__free(memory);
  return err;
}

/* Calls the body with the iteration number and the loop variables. */
static weft_err for_iteration(call_loop *l, const weft_tensor *number, const weft_tensor **args) {
  const functions *s = l->k->state;
  WEFT_TRY(weft__step_check_time(l->k->step));
  memset(l->next, 0, sizeof *l->next * (size_t)l->n);
  args[0] = number;
  for (int i = 0; i < l->n; i++) args[i + 1] = l->now[i];
  WEFT_TRY(weft__function_call(s->f[0], l->k->step, l->n + 1, args, l->n, l->next));
  destroy_all(l->made, l->n);
  for (int i = 0; i < l->n; i++) l->now[i] = l->made[i] = l->next[i];
  return WEFT_OK;
}

static weft_err for_run(call_loop *l, int64_t start, int64_t limit, int64_t delta, const weft_tensor **args) {
  weft_err err = WEFT_OK;
  for (int64_t i = start; !err && (delta > 0 ? i < limit : i > limit); i += delta) {
    weft_tensor *number = NULL;
    err = weft__tensor_scalar(&number, WEFT_INT32, (double)i);
    if (!err) err = for_iteration(l, number, args);
    weft_tensor_destroy(number);
  }
  return err;
}

static weft_err for_cpu(kernel *k) {
  static const char *const names[] = {"start", "limit", "delta"};
  int64_t range[3];
  for (int i = 0; i < 3; i++) {
    WEFT_TRY(weft__kernel_scalar(k, i, names[i]));
    range[i] = TENSOR_DATA(k->in[i], int32_t)[0];
  }
  const int64_t start = range[0], limit = range[1], delta = range[2];
  if ((start < limit && delta <= 0) || (start > limit && delta >= 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Invalid start/limit/delta: %lld %lld %lld", (long long)start,
                             (long long)limit, (long long)delta);
  const size_t n = (size_t)(k->n_in - 3);
  void **memory = weft__alloc_zero(4 * n + 1, sizeof *memory);
  if (!memory) return WEFT_OOM;
  call_loop l = {k, k->n_in - 3, (const weft_tensor **)memory, (weft_tensor **)(memory + n),
                 (weft_tensor **)(memory + 2 * n)};
  for (int i = 0; i < l.n; i++) l.now[i] = k->in[i + 3];
  weft_err err = for_run(&l, start, limit, delta, (const weft_tensor **)(memory + 3 * n));
  for (int i = 0; i < l.n && !err; i++)
    err = l.made[i] ? weft__out_share(k, i, l.made[i]) : weft__forward(k, i, i + 3, &k->in[i + 3]->shape);
  destroy_all(l.made, l.n);
  weft__free(memory);
  return err;
}

/* ---- FakeParam: a value that is never read ---- */

static weft_err fake_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "shape");
  shape s = SHAPE1(0);
  if (a && a->kind == ATTR_SHAPE && a->shape->rank >= 0) s = *a->shape;
  for (int i = 0; i < s.rank; i++)
    if (s.dim[i] < 0) s.dim[i] = 0;
  weft_tensor *t = weft__out(k, 0, &s);
  if (!t) return WEFT_OOM;
  if (weft__dtype_is_plain(t->dtype)) memset(t->data, 0, weft__tensor_bytes(t));
  return WEFT_OK;
}

#define CALL(NAME, ATTRS, DOC, PREPARE, FN, GRAD, STATE)                                                               \
  {                                                                                                                    \
    NAME ATTRS STATE, DOC, .flags = OP_BLOCKING | OP_NO_FOLD, .infer = weft__infer_output_shapes, .cpu = FN,           \
                           .prepare = PREPARE, .unprepare = call_unprepare, .grad = GRAD, .narrow = NARROW_ALL         \
  }
#define CALLS(which)                                                                                                   \
  .flags = OP_BLOCKING | OP_NO_FOLD, .infer = weft__infer_output_shapes, .cpu = which##_cpu,                           \
  .prepare = prepare_##which, .unprepare = call_unprepare
#define CALL_ATTRS                                                                                                     \
  "(args:@Tin) -> (output:@Tout) | Tin:list(type)>=0 Tout:list(type)>=0 f:func config:string='' "                      \
  "config_proto:string='' "                                                                                            \
  "executor_type:string=''"
#define IF_ATTRS                                                                                                       \
  "(cond:Tcond, input:@Tin) -> (output:@Tout) | Tcond:type Tin:list(type)>=0 Tout:list(type)>=0 then_branch:func "     \
  "else_branch:func output_shapes:list(shape)=[]"
#define WHILE_ATTRS                                                                                                    \
  "(input:@T) -> (output:@T) | T:list(type)>=0 cond:func body:func output_shapes:list(shape)=[] "                      \
  "parallel_iterations:int=10"
#define CASE_ATTRS                                                                                                     \
  "(branch_index:int32, input:@Tin) -> (output:@Tout) | Tin:list(type)>=0 Tout:list(type)>=0 branches:list(func)>=1 "  \
  "output_shapes:list(shape)=[]"

OPS(call) = {
    {"PartitionedCall" CALL_ATTRS, "What a function gives.", CALLS(call), .grad = call_grad},
    {"StatefulPartitionedCall" CALL_ATTRS " ; stateful", "What a function that acts gives.", CALLS(call),
     .grad = call_grad},
    {"RemoteCall(target:string, args:@Tin) -> (output:@Tout) | Tin:list(type)>=1 Tout:list(type)>=1 f:func ; stateful",
     "What a function gives on a device.", .flags = OP_BLOCKING | OP_NO_FOLD, .infer = weft__infer_none,
     .cpu = remote_cpu, .prepare = prepare_call, .unprepare = call_unprepare},
    {"SymbolicGradient(input:@Tin) -> (output:@Tout) | Tin:list(type)>=1 Tout:list(type)>=1 f:func",
     "The gradient of a function: its arguments and a gradient for each result give one for each argument.",
     .flags = OP_BLOCKING | OP_NO_FOLD, .infer = gradient_infer, .cpu = call_cpu, .prepare = prepare_gradient,
     .unprepare = call_unprepare},
    CALL("StatelessIf", IF_ATTRS, "What one of two functions gives.", prepare_if, if_cpu, weft__gradient_if, ""),
    CALL("If", IF_ATTRS, "What one of two functions that act gives.", prepare_if, if_cpu, weft__gradient_if,
         " ; stateful"),
    CALL("StatelessWhile", WHILE_ATTRS, "Applies a function as long as another says so.", prepare_while, while_cpu,
         weft__gradient_while, ""),
    CALL("While", WHILE_ATTRS, "Applies a function that acts as long as another says so.", prepare_while, while_cpu,
         weft__gradient_while, " ; stateful"),
    CALL("StatelessCase", CASE_ATTRS, "What the function of that number gives.", prepare_case, case_cpu,
         weft__gradient_case, ""),
    CALL("Case", CASE_ATTRS, "What the function of that number, which acts, gives.", prepare_case, case_cpu,
         weft__gradient_case, " ; stateful"),
    {"For(start:int32, limit:int32, delta:int32, input:@T) -> (output:@T) | T:list(type)>=0 body:func",
     "Applies a function to each number of a range.", CALLS(for)},
    {"FakeParam() -> (output:dtype) | dtype:type shape:shape", "Stands in for a value that nobody reads.",
     .flags = OP_NO_FOLD, .infer = weft__infer_attr_shape, .cpu = fake_cpu, .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_functions.py"},
};
