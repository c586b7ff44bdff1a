/* fuse.c - chains of elementwise ops become one pass over memory.
 *
 * Where a value goes from one elementwise op to another and nowhere else, it need not be written to
 * memory: both loops run on a block that stays in the cache.  A group is a tree of such ops; what
 * it takes from outside broadcasts to its result exactly as it did through the tree, so the group
 * is itself one elementwise loop with more inputs.  A group that begins with a convolution's result is
 * run on its parts as they are made (exec/fuse_conv.c). */
#include "exec/fuse.h"

#include "base/alloc.h"
#include "exec/program.h"

/* ---- running a group --------------------------------------------------------------------------- */

void weft__program_run(void *z, const void *const *in, int64_t n, const void *arg) {
  const program *p = arg;
  const size_t size = weft__dtype_size(p->type);
  _Alignas(WEFT_ALIGN) char temp[PROGRAM_STEPS][PROGRAM_BLOCK * sizeof(double)];
  for (int64_t at = 0; at < n; at += PROGRAM_BLOCK) {
    int64_t count = n - at < PROGRAM_BLOCK ? n - at : PROGRAM_BLOCK;
    for (int s = 0; s < p->n_step; s++) {
      const fused_step *f = &p->step[s];
      const void *from[2];
      for (int i = 0; i < f->n_in; i++)
        from[i] = f->arg[i] >= 0 ? (const char *)in[f->arg[i]] + (size_t)at * size : temp[-1 - f->arg[i]];
      f->loop(s == p->n_step - 1 ? (char *)z + (size_t)at * size : temp[s], from, count, NULL);
    }
  }
}

static weft_err fused_cpu(kernel *k) {
  const program *p = k->state;
  shape s = k->in[0]->shape;
  for (int i = 1; i < k->n_in; i++) {
    weft_err err = weft__shape_broadcast(&s, &s, &k->in[i]->shape);
    if (err) return weft__kernel_fail(k, err, "%s", weft__error_message());
  }
  weft_tensor *out = weft__elementwise_out(k, &s);
  if (!out) return WEFT_RESOURCE_EXHAUSTED;
  weft__elementwise_run(k, weft__program_run, p->cost, p, false, k->n_in, k->in, out);
  return WEFT_OK;
}

static const op fused_op = {.def = "_Fused", .cpu = fused_cpu, .unprepare = weft__free, .flags = OP_INPLACE};

/* ---- finding groups ------------------------------------------------------------------------------ */

typedef struct finder {
  plan *p;
  int *uses;     /* per slot: how often it is read; fetched ones count double */
  bool *ordered; /* per item: others wait for it, or it for others, by control edges */
  bool *gone;    /* per item: absorbed into a group */
} finder;

typedef struct group {
  program prog;
  plan_input in[ELEM_MAX_IN];
  int n_in;
  int member[PROGRAM_STEPS], n_member;
} group;

/* BiasAdd is an addition with broadcasting where the channels are last and a vector of them is known to be added. */
static bool adds_last(const weft_node *n) {
  const weft_graph *g = n->graph;
  const shape *x = weft__out_shape(g, n->in[0]), *b = weft__out_shape(g, n->in[1]);
  return !weft__node_str_is(n, "data_format", "NCHW") && x->rank > 1 && b->rank == 1 && b->dim[0] >= 0 &&
         x->dim[x->rank - 1] == b->dim[0];
}

static elem_loop *loop_of(const plan_item *it) {
  if (it->device || !it->op->elem || it->n_out != 1 || it->n_in < 1 || it->n_in > 2) return NULL;
  if (strncmp(it->node->op_name, "BiasAdd", 7) == 0 && !adds_last(it->node)) return NULL;
  weft_dtype t = weft__dtype_base(it->node->out_type[0]);
  if (t != WEFT_FLOAT && t != WEFT_DOUBLE) return NULL;
  for (int i = 0; i < it->node->n_in; i++)
    if (weft__out_type(it->node->graph, it->node->in[i]) != t) return NULL;
  return it->op->elem->loop[t];
}

/* Its value would have to be computed more than once if it were broadcast inside the group. */
static bool same_size(const plan_item *a, const plan_item *b) {
  const shape *x = &a->node->out_shape[0], *y = &b->node->out_shape[0];
  return x->rank >= 0 && weft__shape_equal(x, y);
}

/* May anything that runs between items j and root change a variable? */
static bool writes_between(const finder *f, int j, const plan_item *root) {
  for (const plan_item *it = &f->p->item[j] + 1; it < root; it++)
    if (it->op->opdef.stateful || (it->n_in && it->in[0].wants_ref)) return true;
  return false;
}

static bool absorbable(const finder *f, const plan_item *root, const plan_input *in) {
  int j = f->p->slot_item[in->slot];
  if (j < 0 || f->gone[j] || f->ordered[j] || f->uses[in->slot] != 1) return false;
  const plan_item *it = &f->p->item[j];
  if (!loop_of(it) || !same_size(it, root)) return false;
  for (int i = 0; i < it->n_in; i++)
    if (it->in[i].from_ref && writes_between(f, j, root)) return false; /* it reads now, the group later */
  return true;
}

static int add_input(group *g, const plan_input *in) {
  for (int i = 0; i < g->n_in; i++)
    if (g->in[i].slot == in->slot) return i;
  if (g->n_in == ELEM_MAX_IN) return -1;
  g->in[g->n_in] = *in;
  return g->n_in++;
}

/* Adds item i and what it can absorb, inputs first; *operand is how a reader names its result.  False if there is no
 * room: the caller then leaves the group as it was before. */
static bool grow(const finder *f, group *g, int i, const plan_item *root, int *operand) {
  const plan_item *it = &f->p->item[i];
  if (g->n_member == PROGRAM_STEPS) return false;
  fused_step s = {loop_of(it), it->n_in, {0, 0}};
  g->member[g->n_member++] = i;
  for (int j = 0; j < it->n_in; j++) {
    group before = *g;
    if (absorbable(f, root, &it->in[j]) && grow(f, g, f->p->slot_item[it->in[j].slot], root, &s.arg[j])) continue;
    *g = before;
    s.arg[j] = add_input(g, &it->in[j]);
    if (s.arg[j] < 0) return false;
  }
  if (g->prog.n_step == PROGRAM_STEPS) return false;
  g->prog.cost += it->op->elem->cost;
  *operand = -1 - g->prog.n_step;
  g->prog.step[g->prog.n_step++] = s;
  return true;
}

/* Steps are counted when they are complete, members when they are entered: both bound the group. */
static weft_err replace(finder *f, int i, const group *g) {
  plan_item *it = &f->p->item[i];
  program *prog = weft__alloc(sizeof *prog);
  plan_input *in = weft__arena_copy(&f->p->arena, g->in, sizeof *in * (size_t)g->n_in);
  if (!prog || !in) {
    weft__free(prog);
    return WEFT_OOM;
  }
  *prog = g->prog;
  for (int m = 0; m < g->n_member; m++) {
    if (g->member[m] == i) continue;
    plan_item *gone = &f->p->item[g->member[m]];
    if (gone->op->unprepare) gone->op->unprepare(gone->state);
    f->gone[g->member[m]] = true;
  }
  if (it->op->unprepare) it->op->unprepare(it->state);
  it->op = &fused_op;
  it->run = fused_cpu;
  it->state = prog;
  it->in = in;
  it->n_in = g->n_in;
  return WEFT_OK;
}

static weft_err find_groups(finder *f) {
  for (int i = f->p->n_item - 1; i >= 0; i--) { /* readers before what they read: groups end at their root */
    const plan_item *it = &f->p->item[i];
    group g = {.prog.type = weft__dtype_base(it->n_out ? it->node->out_type[0] : WEFT_INVALID)};
    int operand;
    if (f->gone[i] || !loop_of(it) || !grow(f, &g, i, it, &operand) || g.n_member < 2) continue;
    WEFT_TRY(replace(f, i, &g));
  }
  return WEFT_OK;
}

/* The shape that a slot is known to have; NULL for feeds and constants. */
static const shape *shape_of(const plan *p, int slot) {
  const int i = p->slot_item[slot];
  return i < 0 ? NULL : &p->item[i].node->out_shape[slot - p->item[i].first_out];
}

/* Does the input of a group come from a convolution that only the group reads, and are its others vectors along the
 * channels? */
static bool follows_conv(const finder *f, const plan_item *root, int from) {
  const plan *p = f->p;
  const shape *out = &root->node->out_shape[0];
  const int c = p->slot_item[root->in[from].slot];
  if (c < 0 || f->gone[c] || f->ordered[c] || f->uses[root->in[from].slot] != 1) return false;
  const plan_item *it = &p->item[c];
  if (it->device || strcmp(it->node->op_name, "Conv2D") != 0 || out->rank != 4 || !same_size(it, root)) return false;
  if (weft__node_str_is(it->node, "data_format", "NCHW")) return false;
  for (int i = 0; i < it->n_in; i++)
    if (it->in[i].from_ref && writes_between(f, c, root)) return false; /* it reads now, the group later */
  for (int i = 0; i < root->n_in; i++) {
    const shape *s = shape_of(p, root->in[i].slot);
    if (i != from && (!s || s->rank != 1 || s->dim[0] < 0 || s->dim[0] != out->dim[3])) return false;
  }
  return true;
}

static weft_err join_convs(finder *f) {
  for (int i = 0; i < f->p->n_item; i++) {
    plan_item *root = &f->p->item[i];
    if (root->op != &fused_op || f->gone[i] || ((const program *)root->state)->type != WEFT_FLOAT) continue;
    for (int from = 0; from < root->n_in; from++) {
      if (!follows_conv(f, root, from)) continue;
      const int c = f->p->slot_item[root->in[from].slot];
      WEFT_TRY(weft__fuse_conv(f->p, root, &f->p->item[c], from));
      f->gone[c] = true;
      break;
    }
  }
  return WEFT_OK;
}

/* Closes the gaps that absorbed items leave. */
static void compact(finder *f, int *to) {
  plan *p = f->p;
  int n = 0;
  for (int i = 0; i < p->n_item; i++) {
    to[i] = n;
    if (!f->gone[i]) p->item[n++] = p->item[i];
  }
  p->n_item = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < p->item[i].n_control; j++) p->item[i].control[j] = to[p->item[i].control[j]];
  for (int s = 0; s < p->n_slot; s++) p->slot_item[s] = -1;
  for (int i = 0; i < n; i++)
    for (int o = 0; o < p->item[i].n_out; o++) p->slot_item[p->item[i].first_out + o] = i;
}

static void count_uses(finder *f) {
  const plan *p = f->p;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    for (int j = 0; j < it->n_in; j++) f->uses[it->in[j].slot]++;
    for (int j = 0; j < it->n_control; j++) f->ordered[it->control[j]] = true;
    if (it->n_control) f->ordered[i] = true;
  }
  for (int i = 0; i < p->n_fetch; i++) f->uses[p->fetch_slot[i]] += 2;
}

weft_err weft__fuse(plan *p) {
  size_t items = (size_t)p->n_item + 1;
  finder f = {p, weft__alloc_zero((size_t)p->n_slot + 1, sizeof(int)), weft__alloc_zero(items, 1),
              weft__alloc_zero(items, 1)};
  int *to = weft__alloc(items * sizeof *to);
  weft_err err = f.uses && f.ordered && f.gone && to ? WEFT_OK : WEFT_OOM;
  if (!err) {
    count_uses(&f);
    err = find_groups(&f);
    if (!err) err = join_convs(&f);
    compact(&f, to); /* also after a failure: what was absorbed so far is gone */
  }
  weft__free(f.uses);
  weft__free(f.ordered);
  weft__free(f.gone);
  weft__free(to);
  return err;
}
