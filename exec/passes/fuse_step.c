/* fuse_step.c - which items work element by element, and which step of a program each of them is. */
#include "exec/passes/fuse_step.h"

#include "base/alloc.h"
#include "kernels/gpu/gpu_host.h"

const fusion *weft__fuse_fusion_of(const plan_item *it) {
  static const fusion none = {0};
  return it->node->op->fusion ? it->node->op->fusion : &none;
}

weft_dtype weft__step_type(const plan_item *it) {
  const weft_dtype t = it->n_out == 1 ? weft__dtype_base(it->node->out_type[0]) : WEFT_INVALID;
  const bool narrow = it->device && (t == WEFT_HALF || t == WEFT_BFLOAT16);
  if (t != WEFT_FLOAT && t != WEFT_DOUBLE && !narrow) return WEFT_INVALID;
  for (int i = 0; i < it->node->n_in; i++)
    if (weft__dtype_base(weft__out_type(it->node->graph, it->node->in[i])) != t) return WEFT_INVALID;
  return t;
}

static bool updates_by_handle(const plan_item *it) {
  return weft__fuse_fusion_of(it)->updates && weft__out_type(it->node->graph, it->node->in[0]) == WEFT_RESOURCE;
}

bool weft__updates_variable(const plan_item *it) {
  return weft__fuse_fusion_of(it)->updates && (updates_by_handle(it) || (it->in[0].wants_ref && it->in[0].from_ref));
}

weft_dtype weft__update_type(const plan_item *it) {
  if (!updates_by_handle(it)) return weft__step_type(it);
  const weft_dtype t = weft__dtype_base(weft__out_type(it->node->graph, it->node->in[1]));
  const bool narrow = it->device && (t == WEFT_HALF || t == WEFT_BFLOAT16);
  return t == WEFT_FLOAT || t == WEFT_DOUBLE || narrow ? t : WEFT_INVALID; /* the op gives all inputs one type */
}

const shape *weft__step_shape(const plan_item *it) {
  const weft_node *n = it->node;
  return updates_by_handle(it) ? weft__out_shape(n->graph, n->in[weft__fuse_fusion_of(it)->updates->change])
                               : &n->out_shape[0];
}

bool weft__step_named(const plan_item *it, const char *name, const op *o, int n_in, weft_dtype t, fused_step *s) {
  const gpu_chains *chains = it->device ? weft__gpu_chains() : NULL;
  *s = (fused_step){.n_in = n_in, .function = chains ? chains->step(name, n_in) : -1};
  if (chains) return s->function >= 0;
  s->loop = o && o->elem ? o->elem->loop[t] : NULL;
  return s->loop != NULL;
}

bool weft__step_of(const plan_item *it, fused_step *s) {
  const weft_dtype t = weft__step_type(it);
  if (t == WEFT_INVALID || it->n_in < 1 || it->n_in > 2 || it->in[0].wants_ref) return false;
  const fusion *f = weft__fuse_fusion_of(it);
  if (f->elementwise && !f->elementwise(it->node)) return false;
  return weft__step_named(it, it->node->op_name, it->op, it->n_in, t, s);
}

const weft_tensor *weft__plan_known(const plan *p, int slot) {
  for (int i = 0; i < p->n_constant; i++)
    if (p->constant_slot[i] == slot) return &p->constant[i];
  return NULL;
}

bool weft__step_in(const plan *p, const plan_item *it, fused_step *s) {
  const fusion *f = weft__fuse_fusion_of(it);
  const weft_dtype t = weft__step_type(it);
  if (!f->given || it->device || it->n_in != 2 || t == WEFT_INVALID) return weft__step_of(it, s);
  const weft_tensor *y = weft__plan_known(p, it->in[1].slot);
  const elem_op *e = y ? f->given(y) : NULL;
  *s = (fused_step){.n_in = 1, .function = -1, .loop = e ? e->loop[t] : NULL};
  return s->loop || weft__step_of(it, s);
}

/* Returns true if the item changes the variable that `slot` refers to, or one that is not known. */
static bool may_change(const plan *p, const plan_item *it, int slot) {
  if (it->op->flags & (OP_ONCE | OP_SEED)) return false; /* a random op has a counter of its own */
  bool refers = false;
  for (int i = 0; i < it->n_in; i++) {
    if (!it->in[i].wants_ref) continue;
    const int maker = p->slot_item[it->in[i].slot];
    if (it->in[i].slot == slot || maker < 0 || !(p->item[maker].op->flags & OP_ONCE)) return true;
    refers = true;
  }
  return !refers && it->op->opdef.stateful;
}

bool weft__fuse_writes_between(const plan *p, int j, const plan_item *root, int slot) {
  for (const plan_item *it = &p->item[j] + 1; it < root; it++)
    if (may_change(p, it, slot)) return true;
  return false;
}

weft_err weft__fuse_join_controls(plan *p, plan_item *root, int n, const int *member) {
  int count = 0;
  for (int m = 0; m < n; m++) count += p->item[member[m]].n_control;
  if (count == root->n_control) return WEFT_OK;
  int *all = weft__arena_alloc(&p->arena, sizeof *all * (size_t)count);
  if (!all) return WEFT_OOM;
  count = 0;
  for (int m = 0; m < n; m++) {
    const plan_item *it = &p->item[member[m]];
    for (int i = 0; i < it->n_control; i++) all[count++] = it->control[i];
  }
  root->control = all;
  root->n_control = count;
  return WEFT_OK;
}
