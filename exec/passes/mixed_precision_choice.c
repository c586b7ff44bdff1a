/* mixed_precision_choice.c - chooses the nodes that compute in half.
 *
 * TensorFlow's rules, in their order, along edges that carry float:
 * 1. An AMP_DENY op keeps what is computed from it in float, through AMP_INFER and AMP_CLEAR ops that lead to such ops.
 * 2. AMP_ALLOW ops become half, and the AMP_INFER and AMP_CLEAR ops on paths between two of them.
 * 3. AMP_CLEAR ops beside a half op become half.
 * 4. The two ends of a loop's back edge have the same type.
 * A node can only change if it is on a GPU with a kernel for half, and is neither fed nor fetched. */
#include "exec/passes/mixed_precision.h"

#include "base/alloc.h"
#include "device/device.h"
#include "exec/feeds.h"
#include "kernels/gpu/gpu_host.h"
#include <string.h>

enum { MAY_CHANGE = 1, LEADS_ON = 2, DENIED = 4, AFTER_ALLOW = 8, HALF = 16, ORDERED = 32 };
enum { TO_INPUTS = 1, TO_READERS = 2 };

typedef struct chooser {
  const weft_graph *g;
  const int *order;
  int n_order;
  feeds feeds;
  unsigned char *mark;        /* per node */
  int *first_reader, *reader; /* node id's readers: reader[first_reader[id]] up to first_reader[id + 1] */
  int *stack;
  arena arena; /* of all of these but the feeds, and of drafts */
} chooser;

/* ---- which nodes may change ---- */

static bool allows_half(const attr_def *d) {
  if (d->allowed.kind == ATTR_NONE) return true;
  for (int i = 0; i < d->allowed.n; i++)
    if (d->allowed.types[i] == WEFT_HALF) return true;
  return false;
}

bool weft__mixed_changes(const weft_node *n, const attr *a) {
  if (a->kind != ATTR_TYPE || a->is_list || a->type != WEFT_FLOAT) return false;
  const attr_def *d = weft__opdef_attr(&n->op->opdef, a->name);
  return d && d->kind == ATTR_TYPE && allows_half(d);
}

static const attr *changed_attr(const weft_node *n, const arg_def *d) {
  const attr *a = d->type_attr ? weft__node_attr(n, d->type_attr) : NULL;
  return a && weft__mixed_changes(n, a) ? a : NULL;
}

/* Sets the types of a draft of n's arguments to half where the rewrite would.  Returns whether there is such an
 * argument. */
static bool draft_types(const weft_node *n, weft_dtype *in, weft_dtype *out) {
  bool any = false;
  const opdef *d = &n->op->opdef;
  for (int i = 0; i < d->n_in + d->n_out; i++) {
    const bool is_in = i < d->n_in;
    const arg_def *arg = is_in ? &d->in[i] : &d->out[i - d->n_in];
    int first, count;
    if ((is_in ? weft__node_in_range : weft__node_out_range)(n, arg->name, &first, &count)) return false;
    if (!changed_attr(n, arg)) continue;
    any = true;
    for (int j = first; j < first + count; j++) (is_in ? in : out)[j] = WEFT_HALF;
  }
  return any;
}

/* Asks for the GPU kernel of a draft of n, whose inputs come from drafts that have nothing but a type. */
static weft_err draft_has_kernel(chooser *c, const weft_node *n, bool *has) {
  const size_t n_in = (size_t)n->n_in + 1, n_out = (size_t)n->n_out + 1;
  weft_node draft = *n;
  weft_graph *g = weft__arena_alloc(&c->arena, sizeof *g);
  weft_node *from = weft__arena_alloc(&c->arena, n_in * sizeof *from);
  weft_dtype *in = weft__arena_alloc(&c->arena, n_in * sizeof *in);
  draft.out_type = weft__arena_alloc(&c->arena, n_out * sizeof *draft.out_type);
  draft.in = weft__arena_alloc(&c->arena, n_in * sizeof *draft.in);
  if (!g || !from || !in || !draft.out_type || !draft.in) return WEFT_OOM;
  if (!(g->node = weft__arena_alloc(&c->arena, n_in * sizeof *g->node))) return WEFT_OOM;
  for (int i = 0; i < n->n_in; i++) {
    in[i] = weft__out_type(n->graph, n->in[i]);
    from[i] = (weft_node){.graph = g, .n_out = 1, .out_type = &in[i]};
    g->node[i] = &from[i];
    draft.in[i] = (weft_out){i, 0, 0};
  }
  for (int i = 0; i < n->n_out; i++) draft.out_type[i] = n->out_type[i];
  draft.graph = g;
  *has = draft_types(n, in, draft.out_type) && weft__gpu_kernel(&draft).op;
  return WEFT_OK;
}

static bool touches_reference(const weft_node *n) {
  for (int i = 0; i < n->n_in; i++)
    if (weft__out_is_ref(n->graph, n->in[i])) return true;
  for (int i = 0; i < n->n_out; i++)
    if (weft__out_is_ref(n->graph, (weft_out){n->id, (uint16_t)i, 0})) return true;
  return false;
}

static bool mixed_precision_choice_is_fed(const chooser *c, const weft_node *n) {
  for (int i = 0; i < n->n_out; i++)
    if (weft__feeds_find(&c->feeds, (weft_out){n->id, (uint16_t)i, 0}) >= 0) return true;
  return false;
}

static weft_err find_changeable(chooser *c, const plan_request *r, const plan_devices *where) {
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    const device *d = where->device[where->of_node[n->id]];
    bool has = false;
    c->mark[n->id] |= ORDERED;
    if (!n->op || n->op->amp == AMP_NONE || n->op->amp == AMP_DENY || strcmp(d->ops->type, "GPU") != 0) continue;
    if (touches_reference(n) || mixed_precision_choice_is_fed(c, n)) continue;
    WEFT_TRY(draft_has_kernel(c, n, &has));
    if (has) c->mark[n->id] |= MAY_CHANGE;
  }
  for (int i = 0; i < r->n_fetch; i++) c->mark[r->fetch[i].node] &= (unsigned char)~MAY_CHANGE;
  return WEFT_OK;
}

/* ---- walks ---- */

static bool carries_float(const chooser *c, const weft_node *n, int i) {
  const weft_out o = n->in[i];
  return c->mark[o.node] & ORDERED && weft__out_type(c->g, o) == WEFT_FLOAT && weft__feeds_find(&c->feeds, o) < 0;
}

static weft_err mixed_precision_choice_find_readers(chooser *c) {
  int *first = weft__arena_alloc(&c->arena, sizeof *first * ((size_t)c->g->n_node + 2)), total = 0;
  if (!first) return WEFT_OOM;
  c->first_reader = first;
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    for (int j = 0; j < n->n_in; j++) first[n->in[j].node + 2] += carries_float(c, n, j);
  }
  for (int i = 0; i < c->g->n_node; i++) first[i + 2] += first[i + 1];
  total = first[c->g->n_node + 1];
  if (!(c->reader = weft__arena_alloc(&c->arena, sizeof(int) * ((size_t)total + 1)))) return WEFT_OOM;
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    for (int j = 0; j < n->n_in; j++)
      if (carries_float(c, n, j)) c->reader[first[n->in[j].node + 1]++] = n->id;
  }
  return WEFT_OK; /* first[id + 1] has moved on to where the readers of id end, which is where those of id + 1 begin */
}

typedef bool walk_enters(const chooser *c, const weft_node *n);

static void walk_push(chooser *c, int id, unsigned bit, walk_enters *enters, int *depth) {
  if (c->mark[id] & bit || !enters(c, c->g->node[id])) return;
  c->mark[id] = (unsigned char)(c->mark[id] | bit);
  c->stack[(*depth)++] = id;
}

/* Sets `bit` on the root and on the nodes that can be reached from it through nodes that `enters` accepts. */
static void walk_from(chooser *c, int root, int ways, unsigned bit, walk_enters *enters) {
  int depth = 0;
  c->mark[root] = (unsigned char)(c->mark[root] | bit);
  c->stack[depth++] = root;
  while (depth) {
    const weft_node *n = c->g->node[c->stack[--depth]];
    for (int i = 0; i < n->n_in && ways & TO_INPUTS; i++)
      if (carries_float(c, n, i)) walk_push(c, n->in[i].node, bit, enters, &depth);
    for (int i = c->first_reader[n->id]; i < c->first_reader[n->id + 1] && ways & TO_READERS; i++)
      walk_push(c, c->reader[i], bit, enters, &depth);
  }
}

static op_amp amp_of(const weft_node *n) { return n->op ? n->op->amp : AMP_NONE; }
static bool enters_clear(const chooser *c, const weft_node *n) {
  (void)c;
  return amp_of(n) == AMP_CLEAR;
}
static bool enters_leading(const chooser *c, const weft_node *n) { return c->mark[n->id] & LEADS_ON; }
static bool enters_after(const chooser *c, const weft_node *n) {
  return !(c->mark[n->id] & DENIED) && c->mark[n->id] & MAY_CHANGE &&
         (amp_of(n) == AMP_CLEAR || amp_of(n) == AMP_INFER);
}
static bool enters_between(const chooser *c, const weft_node *n) {
  return c->mark[n->id] & AFTER_ALLOW && enters_after(c, n);
}
static bool enters_beside(const chooser *c, const weft_node *n) { return enters_after(c, n) && enters_clear(c, n); }

/* ---- the rules ---- */

static void walk_from_all(chooser *c, op_amp amp, unsigned needs, int ways, unsigned bit, walk_enters *enters) {
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    if (amp_of(n) == amp && (c->mark[n->id] & needs) == needs) walk_from(c, n->id, ways, bit, enters);
  }
}

static void match_back_edges(chooser *c) {
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    for (int j = 0; j < n->n_in && weft__node_is(n, KIND_MERGE); j++) {
      const int from = n->in[j].node;
      if (!weft__node_is(c->g->node[from], KIND_NEXT_ITERATION) || !((c->mark[from] ^ c->mark[n->id]) & HALF)) continue;
      c->mark[from] &= (unsigned char)~HALF;
      c->mark[n->id] &= (unsigned char)~HALF;
    }
  }
}

static void choose_half(chooser *c) {
  walk_from_all(c, AMP_DENY, 0, TO_INPUTS, LEADS_ON, enters_clear);
  walk_from_all(c, AMP_INFER, 0, TO_INPUTS, LEADS_ON, enters_clear);
  walk_from_all(c, AMP_DENY, 0, TO_READERS, DENIED, enters_leading);
  walk_from_all(c, AMP_ALLOW, MAY_CHANGE, TO_READERS, AFTER_ALLOW, enters_after);
  walk_from_all(c, AMP_ALLOW, MAY_CHANGE, TO_INPUTS, HALF, enters_between);
  for (int i = 0; i < c->n_order; i++)
    if (c->mark[c->order[i]] & HALF) walk_from(c, c->order[i], TO_INPUTS | TO_READERS, HALF, enters_beside);
  match_back_edges(c);
}

weft_err weft__mixed_choose(const weft_graph *g, const plan_request *r, const plan_devices *where, const int *order,
                            int n_order, bool **half) {
  const size_t n = (size_t)g->n_node + 1;
  chooser c = {.g = g, .order = order, .n_order = n_order};
  weft_err err = weft__feeds_init(&c.feeds, r->n_feed, r->feed);
  c.mark = weft__arena_alloc(&c.arena, n);
  c.stack = weft__arena_alloc(&c.arena, n * sizeof *c.stack);
  *half = weft__alloc_zero(n, sizeof **half);
  if (!err && (!c.mark || !c.stack || !*half)) err = WEFT_OOM;
  if (!err) err = find_changeable(&c, r, where);
  if (!err) err = mixed_precision_choice_find_readers(&c);
  if (!err) {
    choose_half(&c);
    for (int i = 0; i < g->n_node; i++) (*half)[i] = c.mark[i] & HALF;
  }
  weft__feeds_finish(&c.feeds);
  weft__arena_finish(&c.arena);
  return err;
}
