/* round_operands.c - finds tensors that several products read, and adds the items that round them. */
#include "exec/passes/round_operands.h"

#include "base/alloc.h"
#include "exec/passes/fuse_step.h"
#include "kernels/gpu/gpu_host.h"
#include <limits.h>

enum {
  LEAST_ROUNDED = 1 << 16, /* elements; with fewer, one more kernel takes longer than rounding them in each product */
  ROW = 8                  /* elements of 16 bytes, in the rounded type */
};

typedef struct rounder {
  plan *p;
  int *reads;   /* per slot: how many operands of products it is */
  int *first;   /* per slot: the first of these products */
  int *rounded; /* per slot: the slot of the rounded tensor; -1: none yet */
  int *moved;   /* per item: its new number */
  plan_item *item;
  int n_item, n_slot;
} rounder;

static const op round_op = {.def = "_Round"};

bool weft__plan_is_rounding(const plan_item *it) { return it->op == &round_op; }

static const shape *operand_shape(const plan_item *it, int j) {
  return weft__out_shape(it->node->graph, it->node->in[j]);
}

static bool is_product(const plan_item *it) {
  const fusion_role role = weft__fuse_fusion_of(it)->role;
  if (!it->device || it->op != it->node->op || (role != ROLE_MATMUL && role != ROLE_MATMULS)) return false;
  for (int j = 0; j < 2; j++)
    if (weft__dtype_base(weft__out_type(it->node->graph, it->node->in[j])) != WEFT_FLOAT) return false;
  return weft__dtype_base(it->node->out_type[0]) == WEFT_FLOAT;
}

/* Returns true if the rows of an operand are known to have a multiple of 8 elements.  Then every row of the rounded
 * tensor begins at a multiple of 16 bytes, which the matrix units of a GPU need to run at full speed. */
static bool has_aligned_rows(const shape *s) {
  return weft__shape_known(s) && s->rank > 1 && s->dim[s->rank - 1] % ROW == 0;
}

static bool may_round(const plan_item *it, int j) {
  if (!has_aligned_rows(operand_shape(it, 0)) || !has_aligned_rows(operand_shape(it, 1))) return false;
  return weft__shape_count(operand_shape(it, j)) >= LEAST_ROUNDED;
}

/* Counts how many operands of products each slot is.  A variable that may change between two products counts as none,
 * so each of them rounds it. */
static void count_reads(rounder *r) {
  for (int s = 0; s < r->p->n_slot; s++) r->rounded[s] = r->first[s] = -1;
  for (int i = 0; i < r->p->n_item; i++) {
    const plan_item *it = &r->p->item[i];
    for (int j = 0; j < 2 && is_product(it); j++) {
      const int slot = it->in[j].slot;
      if (!may_round(it, j) || r->reads[slot] < 0) continue;
      if (it->in[j].from_ref && r->first[slot] >= 0 && weft__fuse_writes_between(r->p, r->first[slot], it, slot)) {
        r->reads[slot] = INT_MIN;
        continue;
      }
      if (r->first[slot] < 0) r->first[slot] = i;
      r->reads[slot]++;
    }
  }
}

/* Makes the node that names the item in errors and traces: the product that reads it first, with another output. */
static weft_node *round_node(plan *p, const plan_item *it, int j) {
  weft_node *n = weft__arena_copy(&p->arena, it->node, sizeof *n);
  weft_dtype *type = weft__arena_alloc(&p->arena, sizeof *type);
  if (!n || !type) return NULL;
  *type = WEFT_BFLOAT16;
  n->op = &round_op, n->op_name = round_op.def;
  n->n_in = n->n_control = 0, n->in = NULL;
  n->n_out = 1, n->out_type = type;
  n->out_shape = weft__arena_copy(&p->arena, operand_shape(it, j), sizeof *n->out_shape);
  return n->out_shape ? n : NULL;
}

static weft_err add_rounding(rounder *r, const plan_item *reader, int j) {
  plan *p = r->p;
  plan_item it = {.node = round_node(p, reader, j),
                  .op = &round_op,
                  .run = weft__gpu_chains()->round,
                  .device = reader->device,
                  .in = weft__arena_copy(&p->arena, &reader->in[j], sizeof *reader->in),
                  .n_in = 1,
                  .n_out = 1,
                  .first_out = r->n_slot,
                  .stage = reader->stage};
  if (!it.node || !it.in) return WEFT_OOM;
  r->rounded[reader->in[j].slot] = r->n_slot++;
  r->item[r->n_item++] = it;
  return WEFT_OK;
}

static weft_err copy_items(rounder *r) {
  for (int i = 0; i < r->p->n_item; i++) {
    plan_item *it = &r->p->item[i];
    for (int j = 0; j < 2 && is_product(it); j++) {
      if (!may_round(it, j) || r->reads[it->in[j].slot] < 2) continue;
      if (r->rounded[it->in[j].slot] < 0) WEFT_TRY(add_rounding(r, it, j));
      it->in[j].slot = r->rounded[it->in[j].slot];
      it->in[j].from_ref = false;
    }
    r->moved[i] = r->n_item;
    r->item[r->n_item++] = *it;
  }
  return WEFT_OK;
}

/* Gives the plan the new items and slots; a rounded tensor is where its reader runs. */
static weft_err replace_items(rounder *r) {
  plan *p = r->p;
  int *maker = weft__arena_alloc(&p->arena, sizeof *maker * (size_t)(r->n_slot + 1));
  int *memory = weft__arena_alloc(&p->arena, sizeof *memory * (size_t)(r->n_slot + 1));
  plan_item *item = weft__arena_copy(&p->arena, r->item, sizeof *item * (size_t)r->n_item);
  if (!maker || !memory || !item) return WEFT_OOM;
  for (int s = 0; s < r->n_slot; s++) maker[s] = -1;
  for (int s = 0; s < p->n_slot; s++) {
    memory[s] = p->slot_memory[s];
    if (r->rounded[s] >= 0) memory[r->rounded[s]] = memory[s];
  }
  for (int i = 0; i < r->n_item; i++) {
    for (int j = 0; j < item[i].n_control; j++) item[i].control[j] = r->moved[item[i].control[j]];
    for (int o = 0; o < item[i].n_out; o++) maker[item[i].first_out + o] = i;
  }
  p->item = item, p->n_item = r->n_item;
  p->slot_item = maker, p->slot_memory = memory, p->n_slot = r->n_slot;
  return WEFT_OK;
}

static weft_err round_operands(rounder *r) {
  int n = 0;
  count_reads(r);
  for (int s = 0; s < r->p->n_slot; s++) n += r->reads[s] > 1;
  if (n == 0) return WEFT_OK;
  r->item = weft__alloc_zero((size_t)(r->p->n_item + n), sizeof *r->item);
  if (!r->item) return WEFT_OOM;
  WEFT_TRY(copy_items(r));
  return replace_items(r);
}

weft_err weft__round_operands(plan *p) {
  const gpu_chains *chains = weft__gpu_chains();
  if (!p->n_device || !chains || !chains->rounds()) return WEFT_OK;
  const size_t slots = (size_t)p->n_slot + 1;
  rounder r = {.p = p,
               .reads = weft__alloc_zero(slots, sizeof(int)),
               .first = weft__alloc_zero(slots, sizeof(int)),
               .rounded = weft__alloc_zero(slots, sizeof(int)),
               .moved = weft__alloc_zero((size_t)p->n_item + 1, sizeof(int)),
               .n_slot = p->n_slot};
  const weft_err err = r.reads && r.first && r.rounded && r.moved ? round_operands(&r) : WEFT_OOM;
  weft__free(r.reads);
  weft__free(r.first);
  weft__free(r.rounded);
  weft__free(r.moved);
  weft__free(r.item);
  return err;
}
