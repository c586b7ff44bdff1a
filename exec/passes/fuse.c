/* fuse.c - finds ops that may run as one, by what their rows declare (graph/fusion.h).
 *
 * A value that goes from one elementwise op to another and nowhere else need not be written to memory: both loops run
 * on a block that stays in the cache.  A group is a tree of such ops, and becomes a program
 * (kernels/elementwise/program.h).  A group that begins with the result of an op that takes an epilogue becomes part of
 * that op's kernel.  A product that is only added to a variable is computed by the kernel that changes the variable.
 *
 * On a GPU a group is one kernel that interprets its steps (kernels/elementwise/chain.cu).  There an elementwise update
 * of a variable can end a group too: gradients, their decay and the update itself are then one launch. */
#include "exec/passes/fuse.h"

#include "base/alloc.h"
#include "exec/passes/fuse_step.h"
#include "kernels/elementwise/program.h"
#include "kernels/gpu/gpu_host.h"

/* ---- finding groups ------------------------------------------------------------------------------ */

typedef struct finder {
  plan *p;
  int *uses;     /* per slot: how often it is read; fetched ones count double */
  int *steps;    /* per slot: how many items of the host that may be steps read it, before any group was made */
  bool *ordered; /* per item: a control edge leaves it; for an item of the host also if one enters it */
  bool *gone;    /* per item: it became part of a group and is removed */
} finder;

typedef struct group {
  program prog;
  plan_input in[ELEM_MAX_IN];
  int n_in;
  int member[PROGRAM_STEPS], n_member;
  int repeated[PROGRAM_STEPS], n_repeated; /* items that are steps of this group and may also run by themselves */
  bool updates;                            /* input 0 is a variable, which takes the result */
} group;

/* Returns true if both items have outputs of the same known shape.  A smaller value is broadcast by its reader: inside
 * the group it would be computed more than once. */
static bool same_size(const plan_item *a, const plan_item *b) {
  const shape *x = weft__step_shape(a), *y = weft__step_shape(b);
  return x->rank >= 0 && weft__shape_equal(x, y);
}

static bool input_is_absorbable(const finder *f, const plan_item *root, const plan_input *in) {
  int j = f->p->slot_item[in->slot];
  fused_step s;
  if (j < 0 || f->gone[j] || f->ordered[j] || f->uses[in->slot] != 1) return false;
  const plan_item *it = &f->p->item[j];
  if (it->device != root->device || !weft__step_in(f->p, it, &s) || !same_size(it, root)) return false;
  for (int i = 0; i < it->n_in; i++) /* the item reads its inputs now, the group would later */
    if (it->in[i].from_ref && weft__fuse_writes_between(f->p, j, root, it->in[i].slot)) return false;
  return true;
}

static int add_input(group *g, const plan_input *in) {
  for (int i = 0; i < g->n_in; i++)
    if (g->in[i].slot == in->slot) return i;
  if (g->n_in == ELEM_MAX_IN) return -1;
  g->in[g->n_in] = *in;
  return g->n_in++;
}

/* Appends a step.  *operand is how later steps name its result: -1 for that of step 0, -2 for step 1 and so on.
 * Numbers from 0 on name inputs of the group. */
static bool add_step(group *g, const fused_step *s, int *operand) {
  if (g->prog.n_step == PROGRAM_STEPS) return false;
  *operand = -1 - g->prog.n_step;
  g->prog.step[g->prog.n_step++] = *s;
  return true;
}

static bool group_grow(const finder *f, group *g, int i, const plan_item *root, int *operand);

/* Returns the only tensor that a cheap item of the host reads besides scalars that are known: its slot, or -1. */
static int only_tensor(const finder *f, const plan_item *it) {
  int tensor = -1;
  if (it->device || !it->op->elem || it->op->elem->cost > COST_CHEAP) return -1;
  for (int i = 0; i < it->n_in; i++) {
    const weft_tensor *known = weft__plan_known(f->p, it->in[i].slot);
    if (known && weft__tensor_count(known) == 1) continue;
    if (tensor >= 0) return -1;
    tensor = it->in[i].slot;
  }
  return tensor;
}

/* Computes again what several groups read, where that takes no more memory traffic: the value is cheap and made of one
 * tensor of its size, and all who read it are elementwise.  With the last of them the item itself becomes a member. */
static bool group_repeat(const finder *f, group *g, const plan_input *in, const plan_item *root, int *operand) {
  const int j = f->p->slot_item[in->slot];
  fused_step s;
  if (j < 0 || f->gone[j] || f->ordered[j] || root->device) return false;
  if (f->uses[in->slot] < 2 || f->uses[in->slot] != f->steps[in->slot]) return false;
  const plan_item *it = &f->p->item[j];
  const int tensor = only_tensor(f, it), maker = tensor >= 0 ? f->p->slot_item[tensor] : -1;
  if (maker < 0 || !same_size(&f->p->item[maker], it) || !same_size(it, root)) return false;
  if (g->n_repeated == PROGRAM_STEPS || !weft__step_in(f->p, it, &s) || !s.loop) return false;
  for (int i = 0; i < it->n_in; i++)
    if (it->in[i].from_ref) return false;
  for (int i = 0; i < s.n_in; i++)
    if ((s.arg[i] = add_input(g, &it->in[i])) < 0) return false;
  g->repeated[g->n_repeated++] = j;
  g->prog.cost += it->op->elem->cost;
  return add_step(g, &s, operand);
}

/* *operand becomes how a step of the group names this input: as the result of a step, if the item that makes it can
 * become a member, else as an input of the group.  Returns false if the group is full. */
static bool take_operand(const finder *f, group *g, const plan_input *in, const plan_item *root, int *operand) {
  group before = *g;
  if (input_is_absorbable(f, root, in) && group_grow(f, g, f->p->slot_item[in->slot], root, operand)) return true;
  *g = before;
  if (group_repeat(f, g, in, root, operand)) return true;
  *g = before;
  *operand = add_input(g, in);
  return *operand >= 0;
}

/* Adds item i to the group, after those of its inputs that can become members; *operand is how a reader names its
 * result.  Returns false if the group is full: the caller then restores the group as it was before. */
static bool group_grow(const finder *f, group *g, int i, const plan_item *root, int *operand) {
  const plan_item *it = &f->p->item[i];
  fused_step s;
  if (g->n_member == PROGRAM_STEPS || !weft__step_in(f->p, it, &s))
    return false; /* each member adds at least one step */
  g->member[g->n_member++] = i;
  for (int j = 0; j < s.n_in; j++)
    if (!take_operand(f, g, &it->in[j], root, &s.arg[j])) return false;
  if (s.loop) g->prog.cost += it->op->elem ? it->op->elem->cost : COST_VECTOR;
  return add_step(g, &s, operand);
}

/* Adds the steps of an elementwise update of a variable; only on GPUs. */
static bool grow_update(const finder *f, group *g, int i) {
  const plan_item *it = &f->p->item[i];
  const update_form *u = weft__fuse_fusion_of(it)->updates;
  if (!it->device || !weft__updates_variable(it)) return false;
  g->prog.type = weft__update_type(it);
  if (g->prog.type == WEFT_INVALID) return false;
  const op_table *ops = it->node->graph->ops;
  fused_step times, last;
  if (!weft__step_named(it, "Mul", weft__op_find(ops, "Mul"), 2, g->prog.type, &times) ||
      !weft__step_named(it, u->combine, weft__op_find(ops, u->combine), 2, g->prog.type, &last))
    return false;
  g->in[g->n_in++] = it->in[0];
  g->member[g->n_member++] = i;
  g->updates = true;
  g->prog.cost += COST_CHEAP;
  int ignored;
  last.arg[0] = 0;
  const plan_input *change = &it->in[u->change];
  if (!u->factor) return take_operand(f, g, change, it, &last.arg[1]) && add_step(g, &last, &ignored);
  times.arg[0] = add_input(g, &it->in[u->factor]);
  return times.arg[0] >= 0 && take_operand(f, g, change, it, &times.arg[1]) && add_step(g, &times, &last.arg[1]) &&
         add_step(g, &last, &ignored);
}

/* Returns how many results of steps are alive at the same time, at most; each is alive until the step that reads it. */
static int depth_of(const program *p) {
  int now = 0, most = 0;
  for (int s = 0; s < p->n_step; s++) {
    for (int i = 0; i < p->step[s].n_in; i++) now -= p->step[s].arg[i] < 0;
    if (++now > most) most = now;
  }
  return most;
}

/* Converts the group to the form that the GPU kernel reads.  There, results of steps have no numbers: they lie on a
 * stack, and -1 pops one.  This works because each result is read once, in post-order. */
static void *chain_of(const group *g) {
  gpu_chain *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return NULL;
  c->updates = g->updates;
  c->n_step = g->prog.n_step;
  for (int s = 0; s < c->n_step; s++) {
    const fused_step *from = &g->prog.step[s];
    c->step[s] = (gpu_step){(uint8_t)from->function, (int8_t)from->n_in, {-1, -1}};
    for (int i = 0; i < from->n_in; i++)
      if (from->arg[i] >= 0) c->step[s].arg[i] = (int8_t)from->arg[i];
  }
  return c;
}

/* Makes item i the group: its op becomes the program, and the other members are marked as gone. */
static weft_err group_replace_root(finder *f, int i, const group *g) {
  plan_item *it = &f->p->item[i];
  const gpu_chains *chains = it->device ? weft__gpu_chains() : NULL;
  plan_input *in = weft__arena_copy(&f->p->arena, g->in, sizeof *in * (size_t)g->n_in);
  void *state = chains ? chain_of(g) : weft__alloc(sizeof g->prog);
  weft_err err = state && in ? weft__fuse_join_controls(f->p, it, g->n_member, g->member) : WEFT_OOM;
  if (err) {
    weft__free(state);
    return err;
  }
  if (!chains) memcpy(state, &g->prog, sizeof g->prog);
  for (int m = 0; m < g->n_member; m++) {
    if (g->member[m] == i) continue;
    plan_item *gone = &f->p->item[g->member[m]];
    if (gone->op->unprepare) gone->op->unprepare(gone->state);
    f->gone[g->member[m]] = true;
  }
  for (int r = 0; r < g->n_repeated; r++) { /* the group reads what the item reads */
    const plan_item *again = &f->p->item[g->repeated[r]];
    f->uses[again->first_out]--, f->steps[again->first_out]--;
    for (int n = 0; n < again->n_in; n++) f->uses[again->in[n].slot]++;
  }
  if (it->op->unprepare) it->op->unprepare(it->state);
  it->op = g->updates ? &weft__program_update_op : &weft__program_op;
  it->run = chains ? chains->run : it->device ? weft__program_simulated : it->op->cpu;
  it->state = state;
  it->in = in;
  it->n_in = g->n_in;
  return WEFT_OK;
}

static weft_err fuse_find_groups(finder *f) {
  for (int i = f->p->n_item - 1; i >= 0; i--) { /* readers before what they read: groups end at their root */
    const plan_item *it = &f->p->item[i];
    group g = {.prog.type = weft__dtype_base(it->n_out ? it->node->out_type[0] : WEFT_INVALID)};
    int operand;
    if (f->gone[i]) continue;
    const bool update = it->n_in && (it->in[0].wants_ref || weft__updates_variable(it));
    const bool found = update ? grow_update(f, &g, i) : group_grow(f, &g, i, it, &operand);
    if (!found || g.n_member + g.n_repeated < 2 || (it->device && depth_of(&g.prog) > GPU_CHAIN_DEPTH)) continue;
    WEFT_TRY(group_replace_root(f, i, &g));
  }
  return WEFT_OK;
}

/* Returns the inferred shape of a slot; NULL for feeds and constants. */
static const shape *fuse_shape_of(const plan *p, int slot) {
  const int i = p->slot_item[slot];
  return i < 0 ? NULL : &p->item[i].node->out_shape[slot - p->item[i].first_out];
}

/* Returns the item that makes what `in` reads, if nothing else reads it, it runs on the host, no pass has given it
 * another op, and its op may be fused with its reader; else -1. */
static int lone_maker(const finder *f, const plan_input *in) {
  const int j = f->p->slot_item[in->slot];
  if (j < 0 || f->gone[j] || f->ordered[j] || f->uses[in->slot] != 1) return -1;
  const plan_item *it = &f->p->item[j];
  const fusion *how = weft__fuse_fusion_of(it);
  return !it->device && it->op == it->node->op && how->fits && how->fits(it->node) ? j : -1;
}

static fused_node fused_of(const plan_item *it) { return (fused_node){it->node, it->op, it->state, it->n_in}; }

/* ---- epilogues ----------------------------------------------------------------------------------- */

/* Returns true if the group can be the epilogue of the op that makes its input `from`.  Its other inputs must then be
 * vectors [n] along the last axis of the result [..., n]. */
static bool group_is_epilogue(const finder *f, const plan_item *root, int from) {
  const plan *p = f->p;
  const shape *out = &root->node->out_shape[0];
  const int c = lone_maker(f, &root->in[from]);
  if (c < 0 || !weft__fuse_fusion_of(&p->item[c])->with_epilogue || !same_size(&p->item[c], root)) return false;
  const plan_item *it = &p->item[c];
  for (int i = 0; i < it->n_in; i++)
    if (it->in[i].from_ref && weft__fuse_writes_between(f->p, c, root, it->in[i].slot))
      return false; /* the item reads its inputs now, the group would read them later */
  for (int i = 0; i < root->n_in; i++) {
    const shape *s = fuse_shape_of(p, root->in[i].slot);
    if (i != from && (!s || s->rank != 1 || s->dim[0] < 0 || s->dim[0] != out->dim[out->rank - 1])) return false;
  }
  return true;
}

/* Makes `root`, which runs a program, also run the item that makes its input `from`.  It takes over the item's
 * state. */
static weft_err join_epilogue(plan *p, plan_item *root, const plan_item *it, int from) {
  fused_epilogue *e = weft__alloc(sizeof *e);
  plan_input *in = weft__arena_alloc(&p->arena, sizeof *in * (size_t)(root->n_in + it->n_in));
  if (!e || !in) {
    weft__free(e);
    return WEFT_OOM;
  }
  *e = (fused_epilogue){fused_of(it), from, *(const program *)root->state};
  int n = 0;
  for (int i = 0; i < it->n_in; i++) in[n++] = it->in[i];
  for (int i = 0; i < root->n_in; i++)
    if (i != from) in[n++] = root->in[i];
  root->op->unprepare(root->state);
  root->op = weft__fuse_fusion_of(it)->with_epilogue;
  root->run = root->op->cpu, root->state = e, root->in = in, root->n_in = n;
  return WEFT_OK;
}

static weft_err join_epilogues(finder *f) {
  for (int i = 0; i < f->p->n_item; i++) {
    plan_item *root = &f->p->item[i];
    if (root->op != &weft__program_op || root->device || f->gone[i]) continue;
    for (int from = 0; from < root->n_in; from++) {
      if (!group_is_epilogue(f, root, from)) continue;
      const int c = f->p->slot_item[root->in[from].slot];
      WEFT_TRY(join_epilogue(f->p, root, &f->p->item[c], from));
      f->gone[c] = true;
      break;
    }
  }
  return WEFT_OK;
}

/* ---- updates ------------------------------------------------------------------------------------- */

/* Returns the item that computes what `root` adds to a variable, if one kernel can do both; else -1. */
static int maker_of_change(const finder *f, const plan_item *root) {
  const update_form *u = weft__fuse_fusion_of(root)->updates;
  if (root->device || !root->n_in || !weft__updates_variable(root)) return -1;
  const int j = lone_maker(f, &root->in[u->change]);
  if (j < 0 || !weft__fuse_fusion_of(&f->p->item[j])->with_update || weft__fuse_fusion_of(&f->p->item[j])->update != u)
    return -1;
  for (int i = 0; i < f->p->item[j].n_in; i++)
    if (f->p->item[j].in[i].from_ref) return -1;
  return j;
}

/* Makes `root`, which changes a variable, also run the item that computes the change.  It takes over that item's
 * state. */
static weft_err join_update(plan *p, plan_item *root, const plan_item *it) {
  const int change = weft__fuse_fusion_of(root)->updates->change;
  fused_update *u = weft__alloc(sizeof *u);
  plan_input *in = weft__arena_alloc(&p->arena, sizeof *in * (size_t)(root->n_in + it->n_in));
  if (!u || !in) {
    weft__free(u);
    return WEFT_OOM;
  }
  *u = (fused_update){fused_of(it), root->op, root->state};
  int n = 0;
  for (int i = 0; i < root->n_in; i++)
    if (i != change) in[n++] = root->in[i];
  for (int i = 0; i < it->n_in; i++) in[n++] = it->in[i];
  root->op = weft__fuse_fusion_of(it)->with_update;
  root->run = root->op->cpu, root->state = u, root->in = in, root->n_in = n;
  return WEFT_OK;
}

static weft_err join_updates(finder *f) {
  for (int i = 0; i < f->p->n_item; i++) {
    const int j = f->gone[i] ? -1 : maker_of_change(f, &f->p->item[i]);
    if (j < 0) continue;
    WEFT_TRY(join_update(f->p, &f->p->item[i], &f->p->item[j]));
    f->gone[j] = true;
  }
  return WEFT_OK;
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static void count_uses(finder *f) {
  const plan *p = f->p;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    fused_step s;
    for (int j = 0; j < it->n_in; j++) f->uses[it->in[j].slot]++;
    const bool works = !it->device && weft__step_in(p, it, &s);
    for (int j = 0; works && j < s.n_in; j++) f->steps[it->in[j].slot]++;
    for (int j = 0; j < it->n_control; j++) f->ordered[it->control[j]] = true;
    if (it->n_control && !it->device) f->ordered[i] = true;
  }
  for (int i = 0; i < p->n_fetch; i++) f->uses[p->fetch_slot[i]] += 2;
}

weft_err weft__fuse(plan *p) {
  size_t items = (size_t)p->n_item + 1;
  finder f = {.p = p, .ordered = weft__alloc_zero(items, 1), .gone = weft__alloc_zero(items, 1)};
  f.uses = weft__alloc_zero((size_t)p->n_slot + 1, sizeof(int));
  f.steps = weft__alloc_zero((size_t)p->n_slot + 1, sizeof(int));
  int *to = weft__alloc(items * sizeof *to);
  weft_err err = f.uses && f.steps && f.ordered && f.gone && to ? WEFT_OK : WEFT_OOM;
  if (!err) {
    count_uses(&f);
    err = fuse_find_groups(&f);
    if (!err) err = join_epilogues(&f);
    if (!err) err = join_updates(&f);
    weft__plan_remove_items(p, f.gone, to); /* also after a failure: what was absorbed so far is gone */
  }
  weft__free(f.uses);
  weft__free(f.steps);
  weft__free(f.ordered);
  weft__free(f.gone);
  weft__free(to);
  return err;
}
