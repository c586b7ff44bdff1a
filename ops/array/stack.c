/* stack.c - the stacks of V1 while loops: each iteration pushes values that the loop's gradient pops.
 *
 * V2 has resource handles, which own the stack.  A stack that holds handles itself is emptied when the step ends.
 * V1 has references to {container, name}, which are looked up among the objects of the step.  One mutex guards each
 * stack. */
#include "base/alloc.h"
#include "base/array.h"
#include "graph/build.h"
#include "state/step_objects.h"
#include "state/variable.h"

#define STACK_TYPE "stack"
#define CONTAINER "_stacks"

typedef struct stack {
  resource base;
  pthread_mutex_t lock;
  char *name;
  int64_t limit;     /* < 0: no limit */
  bool closed, ends; /* ends: emptied at the end of the step, because it holds handles */
  weft_tensor *t;
  int64_t n, room;
} stack;

static void stack_destroy(object *o) {
  stack *s = (stack *)o;
  for (int64_t i = 0; i < s->n; i++) weft__tensor_clear(&s->t[i]);
  weft__free(s->t);
  weft__free(s->name);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

static weft_err stack_create(stack **out, const char *name, int64_t limit) {
  stack *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.base.refs, 1);
  s->base.base.destroy = stack_destroy;
  s->base.type = STACK_TYPE;
  s->limit = limit;
  pthread_mutex_init(&s->lock, NULL);
  if (!(s->name = weft__strdup(name))) {
    stack_destroy(&s->base.base);
    return WEFT_OOM;
  }
  *out = s;
  return WEFT_OK;
}

/* Releases all values on the stack. */
static void stack_end(object *o) {
  stack *s = (stack *)o;
  pthread_mutex_lock(&s->lock);
  weft_tensor *t = s->t;
  const int64_t n = s->n;
  s->t = NULL;
  s->n = s->room = 0;
  s->closed = true;
  pthread_mutex_unlock(&s->lock);
  for (int64_t i = 0; i < n; i++) weft__tensor_clear(&t[i]); /* may drop a handle of this same stack */
  weft__free(t);
}

/* ---- handles ---- */

static weft_err stack_find(const kernel *k, stack **out) {
  if (!k->ref[0]) return weft__kernel_in(k, weft__handle_get(k->in[0], STACK_TYPE, (resource **)out));
  weft_tensor t = {0};
  WEFT_TRY(weft__variable_read(k->ref[0], &t));
  bool is_handle = t.dtype == WEFT_STRING && weft__tensor_count(&t) == 2;
  const str *s = TENSOR_DATA(&t, str);
  char *name = is_handle ? weft__strndup(s[1].size ? s[1].data : "", s[1].size) : NULL;
  weft_err err = !is_handle ? weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                                                "Stack handle must have two strings, but is %s of shape %s",
                                                weft__dtype_name(t.dtype), weft__shape_text(&t.shape))
                 : !name    ? WEFT_OOM
                            : weft__step_object_find(k, STACK_TYPE, name, (resource **)out);
  weft__free(name);
  weft__tensor_clear(&t);
  return err;
}

static weft_err out_resource(kernel *k, stack *s) {
  weft_tensor *h = NULL;
  WEFT_TRY(weft__handle_create(&h, CONTAINER, s->name, &s->base));
  weft_err err = weft__out_share(k, 0, h);
  weft_tensor_destroy(h);
  return err;
}

/* Makes output 0 a reference.  The step owns both the reference and the strings. */
static weft_err out_reference(kernel *k, const char *name) {
  weft_tensor t = {0};
  variable *v = NULL;
  weft_err err = weft__tensor_init(&t, WEFT_STRING, &SHAPE1(2));
  if (err == WEFT_OK) err = weft__str_set(&TENSOR_DATA(&t, str)[0], CONTAINER, strlen(CONTAINER));
  if (err == WEFT_OK) err = weft__str_set(&TENSOR_DATA(&t, str)[1], name, strlen(name));
  if (err == WEFT_OK) err = weft__variable_create(&v, WEFT_STRING, &SHAPE1(2), name);
  if (err == WEFT_OK) err = weft__variable_assign(v, &t);
  weft__tensor_clear(&t);
  if (err != WEFT_OK) {
    weft__object_release((object *)v);
    return err;
  }
  WEFT_TRY(weft__step_object_add(k, "handle", (resource *)v, NULL));
  weft__out_ref(k, 0, v);
  return WEFT_OK;
}

/* ---- kernels ---- */

static weft_err stack_cpu(kernel *k) {
  stack *s = NULL;
  attr_str given = weft__node_str(k->node, "stack_name");
  const char *name = given.size ? given.data : k->node->name;
  if (k->n_in) WEFT_TRY(weft__kernel_scalar(k, 0, "max_size"));
  WEFT_TRY(stack_create(&s, name, k->n_in ? weft__tensor_int(k->in[0], 0) : -1));
  if (k->node->out_type[0] == WEFT_RESOURCE) {
    weft_err err = out_resource(k, s);
    weft__object_release(&s->base.base);
    return err;
  }
  WEFT_TRY(weft__step_object_add(k, name, &s->base, &name));
  return out_reference(k, name);
}

static weft_err push_locked(kernel *k, stack *s, const weft_tensor *t) {
  if (s->closed) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Stack[%s] has already been closed.", s->name);
  if (s->limit >= 0 && s->n > s->limit) /* allows one element more than the limit: TF compares before it pushes */
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Stack[%s] overflowed its max_size (%lld)", s->name,
                             (long long)s->limit);
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->t, s->room, s->n + 1));
  if (!s->ends && !weft__dtype_is_plain(t->dtype) && t->dtype != WEFT_STRING) {
    WEFT_TRY(weft__step_object_on_end(k, &s->base.base, stack_end));
    s->ends = true;
  }
  s->t[s->n] = (weft_tensor){0};
  WEFT_TRY(weft__tensor_keep(&s->t[s->n], t));
  s->n++;
  return WEFT_OK;
}

static weft_err push_cpu(kernel *k) {
  stack *s = NULL;
  WEFT_TRY(stack_find(k, &s));
  pthread_mutex_lock(&s->lock);
  weft_err err = push_locked(k, s, k->in[1]);
  pthread_mutex_unlock(&s->lock);
  return err == WEFT_OK ? weft__forward(k, 0, 1, &k->in[1]->shape) : err;
}

static weft_err pop_locked(kernel *k, stack *s, weft_tensor *out) {
  if (s->closed) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Stack[%s] has already been closed.", s->name);
  if (!s->n) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Stack[%s] is empty when calling Pop().", s->name);
  if (s->t[s->n - 1].dtype != k->node->out_type[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Stack[%s] holds a %s but a %s is to be popped", s->name,
                             weft__dtype_short(s->t[s->n - 1].dtype), weft__dtype_short(k->node->out_type[0]));
  *out = s->t[--s->n];
  return WEFT_OK;
}

static weft_err pop_cpu(kernel *k) {
  stack *s = NULL;
  weft_tensor t = {0};
  WEFT_TRY(stack_find(k, &s));
  pthread_mutex_lock(&s->lock);
  weft_err err = pop_locked(k, s, &t);
  pthread_mutex_unlock(&s->lock);
  if (err == WEFT_OK) err = weft__out_share(k, 0, &t);
  weft__tensor_clear(&t);
  return err;
}

static weft_err stack_close_cpu(kernel *k) {
  stack *s = NULL;
  WEFT_TRY(stack_find(k, &s));
  pthread_mutex_lock(&s->lock);
  s->closed = true;
  for (int64_t i = 0; i < s->n; i++) weft__tensor_clear(&s->t[i]);
  s->n = 0;
  pthread_mutex_unlock(&s->lock);
  return WEFT_OK;
}

/* ---- shape rules and table ---- */

static weft_err stack_handle_infer(infer *s) {
  s->out[0] = s->node->out_type[0] == WEFT_RESOURCE ? SHAPE_SCALAR : SHAPE1(2);
  return WEFT_OK;
}

static weft_err push_infer(infer *s) {
  s->out[0] = s->in[1];
  return WEFT_OK;
}

#define ASKS(NAME, ARGS, RESULT, ATTRS, DOC, KIND, INFER, FN, HOST)                                                    \
  {NAME "V2(handle:resource" ARGS ") -> (" RESULT ")" ATTRS " ; stateful",                                             \
   DOC,                                                                                                                \
   .kind = KIND,                                                                                                       \
   .flags = OP_STEP_OBJECT,                                                                                            \
   .infer = INFER,                                                                                                     \
   .cpu = FN,                                                                                                          \
   .anywhere = HOST,                                                                                                   \
   .narrow = NARROW_ALL},                                                                                              \
  {                                                                                                                    \
    NAME "(handle:&string" ARGS ") -> (" RESULT ")" ATTRS, DOC, .kind = KIND, .flags = OP_STEP_OBJECT, .infer = INFER, \
                                                                .cpu = FN, .no_grad = true, .narrow = NARROW_ALL       \
  }

OPS(stack) = {
    {"StackV2(max_size:int32) -> (handle:resource) | elem_type:type stack_name:string='' ; stateful",
     "A stack for this step.", .kind = KIND_STACK, .flags = OP_STEP_OBJECT, .infer = stack_handle_infer,
     .cpu = stack_cpu, .anywhere = "max_size", .narrow = NARROW_ALL},
    {"Stack() -> (handle:&string) | elem_type:type stack_name:string='' ; stateful",
     "A stack for this step, by reference.", .flags = OP_STEP_OBJECT, .infer = stack_handle_infer, .cpu = stack_cpu,
     .no_grad = true, .narrow = NARROW_ALL},
    ASKS("StackPush", ", elem:T", "output:T", " | T:type swap_memory:bool=false", "Pushes a value and hands it on.",
         KIND_PUSH, push_infer, push_cpu, "elem? output?"),
    ASKS("StackPop", "", "elem:elem_type", " | elem_type:type", "Takes the value pushed last.", KIND_POP,
         weft__infer_none, pop_cpu, "elem?"),
    ASKS("StackClose", "", "", "", "Lets go of the values.", KIND_CLOSE, weft__infer_none, stack_close_cpu, ""),
    {.scenario = "tests/parity/test_old_names.py"},
};
