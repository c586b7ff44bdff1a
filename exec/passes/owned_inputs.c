/* owned_inputs.c - finds the inputs that are indices, sizes or counts, and copies them. */
#include "exec/passes/owned_inputs.h"

static bool all_integers(const attr *allowed) {
  if (allowed->kind != ATTR_TYPE || allowed->n == 0) return false;
  for (int i = 0; i < allowed->n; i++)
    if (!weft__dtype_is_integer(allowed->types[i])) return false;
  return true;
}

static bool arg_is_integer(const opdef *o, const arg_def *d) {
  if (d->is_ref || d->list_attr) return false;
  if (d->type_attr) {
    const attr_def *a = weft__opdef_attr(o, d->type_attr);
    return a && all_integers(&a->allowed);
  }
  return weft__dtype_is_integer(d->type);
}

bool weft__input_is_index(const weft_node *n, int input) {
  int first = 0, count;
  for (int i = 0; i < n->op->opdef.n_in; i++) {
    const arg_def *d = &n->op->opdef.in[i];
    if (weft__node_in_range(n, d->name, &first, &count) == WEFT_OK && input >= first && input < first + count)
      return arg_is_integer(&n->op->opdef, d);
  }
  return false;
}

weft_err weft__item_own_inputs(const plan_item *it, kernel *k) {
  for (int j = 0; j < it->n_in; j++) {
    if (!weft__input_exposed(it, k, j)) continue;
    weft_tensor *t = (weft_tensor *)(uintptr_t)k->in[j], ours = {0};
    WEFT_TRY(weft__tensor_clone(&ours, t));
    weft__tensor_clear(t);
    *t = ours;
  }
  return WEFT_OK;
}
