/* defer_updates.c - recognizes the ops of sparse Adam.
 *
 * TensorFlow's optimizer builds, for slices of a gradient:
 *
 *   m = Assign(m, m * beta1);  m_t = ScatterAdd(m, indices, mean_rows), after the Assign
 *   v = Assign(v, v * beta2);  v_t = ScatterAdd(v, indices, square_rows), after the Assign
 *   AssignSub(var, rate * m_t / (Sqrt(v_t) + epsilon))
 *
 * or the same with resource variables, where m_t is a read after the ResourceScatterAdd.  The four numbers are scalars.
 * The chain becomes one item in the place of the last op, its root.  That is right if nothing else uses a value of the
 * chain, and if whatever waits for one of its items comes after the root: then every order that the graph demands still
 * holds.  A chain that is fetched, fed or read elsewhere stays as it is. */
#include "exec/passes/defer_updates.h"

#include "base/alloc.h"
#include "graph/fusion.h"
#include "kernels/training/deferred_adam.h"
#include <stdlib.h>
#include <string.h>

enum { SLOT_MEMBERS = 5, CHAIN_MEMBERS = 2 * SLOT_MEMBERS + 5 };

typedef struct finder {
  plan *p;
  int *uses;  /* per slot: how often it is read or fetched */
  bool *gone; /* per item: replaced by a root */
} finder;

typedef struct chain {
  plan_input in[ADAM_INPUTS];
  int member[CHAIN_MEMBERS], n_member; /* without the root */
} chain;

/* Returns the item on the host that makes what `in` reads, if nothing else reads it; else -1. */
static int lone_maker(const finder *f, const plan_input *in) {
  const int j = f->p->slot_item[in->slot];
  if (j < 0 || f->gone[j] || f->uses[in->slot] != 1) return -1;
  const plan_item *it = &f->p->item[j];
  return !it->device && it->op == it->node->op ? j : -1;
}

static bool has_role(const plan_item *it, fusion_role role) {
  return it->node->op->fusion && it->node->op->fusion->role == role;
}

static const plan_item *take_member(const finder *f, chain *c, int j) {
  if (j < 0 || c->n_member == CHAIN_MEMBERS) return NULL;
  c->member[c->n_member++] = j;
  return &f->p->item[j];
}

/* Returns the item that reads a variable, if `in` is its value and nothing else reads that; it becomes a member of the
 * chain. */
static const plan_item *take_read(const finder *f, chain *c, const plan_input *in, op_kind kind) {
  const int j = lone_maker(f, in);
  return j >= 0 && weft__node_is(f->p->item[j].node, kind) ? take_member(f, c, j) : NULL;
}

/* The same for an item whose op has this role (graph/fusion.h). */
static const plan_item *take_maker(const finder *f, chain *c, const plan_input *in, fusion_role role) {
  const int j = lone_maker(f, in);
  return j >= 0 && has_role(&f->p->item[j], role) ? take_member(f, c, j) : NULL;
}

static const shape *slot_shape(const plan *p, int slot) {
  const int i = p->slot_item[slot];
  if (i >= 0) return &p->item[i].node->out_shape[slot - p->item[i].first_out];
  if (slot < p->n_feed) return &p->feed_node[slot]->out_shape[p->feed_out[slot]];
  for (int c = 0; c < p->n_constant; c++)
    if (p->constant_slot[c] == slot) return &p->constant[c].shape;
  return NULL;
}

static bool is_scalar(const plan *p, const plan_input *in) {
  const shape *s = slot_shape(p, in->slot);
  return s && s->rank == 0;
}

/* Returns true if both inputs read one variable, by reference or by handle. */
static bool same_table(const plan_input *a, const plan_input *b) { return a->slot == b->slot; }

/* Returns true if the input is the value of the table: a reference that is read here, or the output of an item that
 * reads it.  That item then becomes a member of the chain. */
static bool takes_value(const finder *f, chain *c, const plan_input *in, const plan_input *table) {
  if (in->from_ref) return !in->wants_ref && same_table(in, table);
  const plan_item *read = take_read(f, c, in, table->wants_ref ? KIND_IDENTITY : KIND_READ);
  return read && same_table(&read->in[0], table);
}

/* Returns the only item of this role that `it` waits for and that changes the table; else -1. */
static int waits_for(const finder *f, const plan_item *it, const plan_input *table, fusion_role role) {
  int found = -1;
  for (int i = 0; i < it->n_control; i++) {
    const int j = it->control[i];
    const plan_item *w = &f->p->item[j];
    if (j == found || f->gone[j] || w->device || !has_role(w, role) || !same_table(&w->in[0], table)) continue;
    if (found >= 0) return -1;
    found = j;
  }
  return found;
}

/* Matches table = table * beta: adds both items to the chain and stores beta. */
static bool match_decay(const finder *f, chain *c, int assign, const plan_input *table, plan_input *beta) {
  const plan_item *it = &f->p->item[assign];
  if ((it->n_out && f->uses[it->first_out]) || !take_member(f, c, assign)) return false;
  const plan_item *mul = take_maker(f, c, &it->in[1], ROLE_PRODUCT);
  if (!mul) return false;
  for (int o = 0; o < 2; o++) {
    const int before = c->n_member;
    *beta = mul->in[1 - o];
    if (is_scalar(f->p, beta) && takes_value(f, c, &mul->in[o], table)) return true;
    c->n_member = before;
  }
  return false;
}

/* Returns the item that adds rows to a slot whose new value `in` reads; else NULL. */
static const plan_item *match_scatter(const finder *f, chain *c, const plan_input *in) {
  if (in->from_ref && !in->wants_ref) return take_maker(f, c, in, ROLE_ADD_ROWS);
  const plan_item *read = take_read(f, c, in, KIND_READ);
  return read ? take_member(f, c, waits_for(f, read, &read->in[0], ROLE_ADD_ROWS)) : NULL;
}

/* Matches an input that reads a slot after it was multiplied by beta and got new rows. */
static bool match_slot(const finder *f, chain *c, const plan_input *in, int table, int beta, int rows) {
  const plan_item *scatter = match_scatter(f, c, in);
  if (!scatter) return false;
  const int assign = waits_for(f, scatter, &scatter->in[0], ROLE_ASSIGN);
  if (assign < 0) return false;
  c->in[table] = scatter->in[0];
  c->in[rows] = scatter->in[2];
  if (table == ADAM_MEAN) c->in[ADAM_INDICES] = scatter->in[1];
  return c->in[ADAM_INDICES].slot == scatter->in[1].slot && match_decay(f, c, assign, &c->in[table], &c->in[beta]);
}

/* Matches rate * m_t, in either order. */
static bool match_dividend(const finder *f, chain *c, const plan_input *in) {
  const plan_item *mul = take_maker(f, c, in, ROLE_PRODUCT);
  const chain before = *c;
  for (int o = 0; mul && o < 2; o++) {
    *c = before;
    c->in[ADAM_RATE] = mul->in[1 - o];
    if (is_scalar(f->p, &mul->in[1 - o]) && match_slot(f, c, &mul->in[o], ADAM_MEAN, ADAM_BETA1, ADAM_MEAN_ROWS))
      return true;
  }
  return false;
}

/* Matches Sqrt(v_t) + epsilon, in either order. */
static bool match_divisor(const finder *f, chain *c, const plan_input *in) {
  const plan_item *add = take_maker(f, c, in, ROLE_PLUS);
  const chain before = *c;
  for (int o = 0; add && o < 2; o++) {
    *c = before;
    c->in[ADAM_EPSILON] = add->in[1 - o];
    if (!is_scalar(f->p, &add->in[1 - o])) continue;
    const plan_item *root = take_maker(f, c, &add->in[o], ROLE_ROOT);
    if (root && match_slot(f, c, &root->in[0], ADAM_SQUARE, ADAM_BETA2, ADAM_SQUARE_ROWS)) return true;
  }
  return false;
}

static bool is_member(const chain *c, int item) {
  for (int m = 0; m < c->n_member; m++)
    if (c->member[m] == item) return true;
  return false;
}

/* Returns true if every item that waits for a member comes after the root or is a member itself. */
static bool waiters_follow(const finder *f, const chain *c, int root) {
  for (int i = 0; i < root; i++) {
    const plan_item *it = &f->p->item[i];
    for (int j = 0; j < it->n_control; j++)
      if (!f->gone[i] && is_member(c, it->control[j]) && !is_member(c, i)) return false;
  }
  return true;
}

static bool match_chain(const finder *f, int root, chain *c) {
  const plan_item *it = &f->p->item[root];
  *c = (chain){0};
  if (f->gone[root] || it->device || it->op != it->node->op || !has_role(it, ROLE_SUBTRACT)) return false;
  const plan_item *div = take_maker(f, c, &it->in[1], ROLE_QUOTIENT);
  if (!div || weft__dtype_base(div->node->out_type[0]) != WEFT_FLOAT) return false;
  c->in[ADAM_VALUE] = it->in[0];
  if (!match_dividend(f, c, &div->in[0]) || !match_divisor(f, c, &div->in[1])) return false;
  const plan_input *x = &c->in[ADAM_VALUE], *m = &c->in[ADAM_MEAN], *v = &c->in[ADAM_SQUARE];
  return !same_table(x, m) && !same_table(x, v) && !same_table(m, v) && waiters_follow(f, c, root);
}

/* Makes the root wait for all that its members waited for, and all that waited for a member wait for the root. */
static weft_err join_controls(finder *f, const chain *c, int root) {
  plan_item *it = &f->p->item[root];
  int n = it->n_control;
  for (int m = 0; m < c->n_member; m++) n += f->p->item[c->member[m]].n_control;
  int *all = weft__arena_alloc(&f->p->arena, sizeof *all * (size_t)(n + 1));
  if (!all) return WEFT_OOM;
  n = 0;
  for (int m = -1; m < c->n_member; m++) {
    const plan_item *from = m < 0 ? it : &f->p->item[c->member[m]];
    for (int i = 0; i < from->n_control; i++)
      if (!is_member(c, from->control[i])) all[n++] = from->control[i];
  }
  it->control = all;
  it->n_control = n;
  for (int i = root + 1; i < f->p->n_item; i++)
    for (int j = 0; j < f->p->item[i].n_control; j++)
      if (is_member(c, f->p->item[i].control[j])) f->p->item[i].control[j] = root;
  return WEFT_OK;
}

static weft_err replace_chain(finder *f, const chain *c, int root) {
  plan_item *it = &f->p->item[root];
  plan_input *in = weft__arena_copy(&f->p->arena, c->in, sizeof c->in);
  if (!in) return WEFT_OOM;
  WEFT_TRY(join_controls(f, c, root));
  for (int m = 0; m < c->n_member; m++) {
    plan_item *gone = &f->p->item[c->member[m]];
    if (gone->op->unprepare) gone->op->unprepare(gone->state);
    f->gone[c->member[m]] = true;
  }
  if (it->op->unprepare) it->op->unprepare(it->state);
  it->op = &weft__deferred_adam_op;
  it->run = it->op->cpu, it->state = NULL, it->in = in, it->n_in = ADAM_INPUTS;
  return WEFT_OK;
}

/* Makes an item that reads rows of a reference variable take the reference: it then reads those rows only. */
static void reach_variable(plan_item *it) {
  const fusion *how = it->node->op->fusion;
  if (it->device || it->op != it->node->op || !how || !how->on_variable) return;
  if (!it->in[0].from_ref || it->in[0].wants_ref || weft__dtype_base(it->node->out_type[0]) != WEFT_FLOAT) return;
  it->op = how->on_variable;
  it->run = it->op->cpu;
  it->in[0].wants_ref = true;
}

static weft_err defer_all(finder *f, int *to) {
  plan *p = f->p;
  for (int i = 0; i < p->n_item; i++) {
    for (int j = 0; j < p->item[i].n_in; j++) f->uses[p->item[i].in[j].slot]++;
    reach_variable(&p->item[i]);
  }
  for (int i = 0; i < p->n_fetch; i++) f->uses[p->fetch_slot[i]]++;
  weft_err err = WEFT_OK;
  for (int i = 0; i < p->n_item && !err; i++) {
    chain c;
    if (match_chain(f, i, &c)) err = replace_chain(f, &c, i);
  }
  weft__plan_remove_items(p, f->gone, to); /* also after a failure: what was replaced so far is gone */
  return err;
}

weft_err weft__defer_updates(plan *p) {
  const char *off = getenv("WEFT_DENSE_UPDATES");
  if (off && !strcmp(off, "1")) return WEFT_OK;
  const size_t items = (size_t)p->n_item + 1;
  finder f = {p, weft__alloc_zero((size_t)p->n_slot + 1, sizeof(int)), weft__alloc_zero(items, 1)};
  int *to = weft__alloc(items * sizeof *to);
  const weft_err err = f.uses && f.gone && to ? defer_all(&f, to) : WEFT_OOM;
  weft__free(f.uses);
  weft__free(f.gone);
  weft__free(to);
  return err;
}
