/* fold.c - runs kernels outside steps, for plans and shape rules. */
#include "graph/fold.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/denormal.h"

/* A kernel that computes for longer is left for the program's step, which has a deadline and can be canceled. */
#define FOLD_NS NS_PER_S

/* Returns true if a value of this type stands for an object that lives in a step or on a device. */
static bool is_object(weft_dtype type) {
  return (int)type > WEFT_REF_BASE || type == WEFT_RESOURCE || type == WEFT_VARIANT;
}

static bool has_object(const arg_def *list, int n) {
  for (int i = 0; i < n; i++)
    if (list[i].is_ref || is_object(list[i].type)) return true;
  return false;
}

bool weft__op_may_fold(const op *o) {
  if (!o || !o->cpu || o->opdef.stateful) return false;
  if (o->flags & (OP_CONTROL_FLOW | OP_ASYNC | OP_BLOCKING | OP_ONCE | OP_NO_FOLD | OP_SEED)) return false;
  for (int i = 0; i < o->opdef.n_attr; i++)
    if (o->opdef.attr[i].kind == ATTR_FUNC) return false;
  return !has_object(o->opdef.in, o->opdef.n_in) && !has_object(o->opdef.out, o->opdef.n_out);
}

bool weft__node_may_fold(const weft_graph *g, const weft_node *n) {
  if (!weft__op_may_fold(n->op) || n->n_out == 0) return false;
  if (n->n_in > FOLD_MAX_IN || n->n_out > FOLD_MAX_OUT) return false;
  for (int i = 0; i < n->n_in; i++)
    if (is_object(weft__out_type(g, n->in[i]))) return false;
  for (int i = 0; i < n->n_out; i++)
    if (is_object(n->out_type[i])) return false;
  return true;
}

weft_err weft__node_fold(const weft_node *n, const weft_tensor *const *in, value *out, size_t limit) {
  WEFT_ASSERT(n->op && n->op->cpu && n->n_in <= FOLD_MAX_IN && n->n_out <= FOLD_MAX_OUT);
  const weft_tensor *given[FOLD_MAX_IN];
  variable *ref[FOLD_MAX_IN] = {NULL};
  for (int i = 0; i < n->n_in; i++) given[i] = in[i];
  step none = {.deadline_ns = limit ? weft__clock_now_ns() + FOLD_NS : 0};
  kernel k = {.node = n,
              .op = n->op,
              .step = &none,
              .n_in = n->n_in,
              .n_out = n->n_out,
              .in = given,
              .ref = ref,
              .out = out,
              .limit = limit};
  weft_err err = n->op->prepare ? n->op->prepare(n, &k.state) : WEFT_OK;
  const uint64_t mode = weft__denormal_flush(); /* the same mode as in a step */
  if (!err) err = n->op->cpu(&k);
  weft__denormal_restore(mode);
  if (n->op->unprepare) n->op->unprepare(k.state);
  return err;
}
