/* relu_pool_swap.c - computes the gradient of a relu in front of a max pooling on the pooled gradient.
 *
 * y = MaxPool(x), where x is the result of a relu.  x has the shape [batch, height, width, channels], and y and dy have
 * that of the windows, such as [batch, height/2, width/2, channels].  The gradients that TensorFlow builds first
 * scatter dy over x and then multiply all of it with x > 0.  But a window's gradient goes to an element that equals its
 * y, so
 *
 *   ReluGrad(MaxPoolGrad(x, y, dy), x)  is  MaxPoolGrad(x, y, ReluGrad(dy, y)),
 *
 * to the bit, and the second form multiplies a quarter as many elements where windows are two by two.  The same holds
 * for every op whose row says that it masks, and every pair whose rows share a selection (graph/fusion.h). */
#include "exec/passes/relu_pool_swap.h"

#include "base/alloc.h"
#include "graph/fusion.h"

/* Returns what the op of an item declares, if the item is on this device, has n_in values as inputs and no control
 * edges; else NULL. */
static const fusion *item_fusion(const plan_item *it, const device *where, int n_in) {
  if (it->device != where || it->op != it->node->op || it->n_in != n_in || it->n_out != 1 || it->n_control) return NULL;
  for (int i = 0; i < n_in; i++)
    if (it->in[i].from_ref) return NULL;
  return it->op->fusion;
}

static bool same_attrs(const selection *s, const weft_node *a, const weft_node *b) {
  for (const char *const *name = s->attrs; *name; name++) {
    const attr *x = weft__node_attr(a, *name), *y = weft__node_attr(b, *name);
    if (x && y ? !weft__attr_equal(x, y) : x != y) return false;
  }
  return true;
}

/* Returns true if the item is a mask of this form; *back is then the gradient of the selection. */
static bool mask_matches(const plan *p, const int *uses, plan_item *slope, plan_item **back) {
  const device *where = slope->device;
  const fusion *mask = item_fusion(slope, where, 2);
  if (!mask || !mask->masks) return false;
  const int spread = slope->in[0].slot, from = p->slot_item[spread];
  const fusion *grad = from < 0 || uses[spread] != 1 ? NULL : item_fusion(&p->item[from], where, 3);
  if (!grad || !grad->selects_grad) return false;
  *back = &p->item[from];
  const int x = (*back)->in[0].slot, y = (*back)->in[1].slot, made = p->slot_item[y];
  if (slope->in[1].slot != x || made < 0) return false;
  const fusion *forward = item_fusion(&p->item[made], where, 1);
  if (!forward || forward->selects != grad->selects_grad) return false;
  return p->item[made].in[0].slot == x && same_attrs(forward->selects, p->item[made].node, (*back)->node);
}

/* Exchanges the two items; each keeps the slot of its output. */
static weft_err swap_items(plan *p, plan_item *slope, plan_item *back) {
  const plan_input x = back->in[0], y = back->in[1], dy = back->in[2], between = slope->in[0];
  const plan_input first[] = {dy, y}, second[] = {x, y, between};
  plan_input *a = weft__arena_copy(&p->arena, first, sizeof first);
  plan_input *b = weft__arena_copy(&p->arena, second, sizeof second);
  if (!a || !b) return WEFT_OOM;
  const plan_item was = *slope;
  slope->node = back->node, slope->op = back->op, slope->run = back->run, slope->state = back->state;
  back->node = was.node, back->op = was.op, back->run = was.run, back->state = was.state;
  back->in = a, back->n_in = 2;
  slope->in = b, slope->n_in = 3;
  return WEFT_OK;
}

weft_err weft__swap_relu_pool(plan *p) {
  int *uses = weft__alloc_zero((size_t)p->n_slot + 1, sizeof *uses); /* readers of a slot; a fetch counts double */
  weft_err err = uses ? WEFT_OK : WEFT_OOM;
  for (int i = 0; !err && i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    for (int j = 0; j < it->n_in; j++) uses[it->in[j].slot]++;
    for (int j = 0; j < it->n_control; j++) /* what others wait for keeps its place */
      for (int o = 0; o < p->item[it->control[j]].n_out; o++) uses[p->item[it->control[j]].first_out + o] += 2;
  }
  for (int i = 0; !err && i < p->n_fetch; i++) uses[p->fetch_slot[i]] += 2;
  for (int i = 0; !err && i < p->n_item; i++) {
    plan_item *back;
    if (mask_matches(p, uses, &p->item[i], &back)) err = swap_items(p, &p->item[i], back);
  }
  weft__free(uses);
  return err;
}
