/* order.c - which nodes a request needs, and an order in which they can run.
 *
 * Nodes are visited depth first from the oldest to the newest, inputs before their readers.  The only cycle allowed is
 * a loop's, which NextIteration closes into Merge.
 *
 * The gradients of a node have control edges between them.  So the gradient of a batch of images, which no node reads,
 * would be computed only because of a control edge.  Such nodes are left out, as TensorFlow's optimizer does.  In a
 * graph with branches they stay, because there a control edge can also make its reader dead. */
#include "exec/passes/order.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/feeds.h"
#include "graph/frames.h"

enum { UNSEEN, OPEN, DONE };
enum { UNNEEDED, WAITED, NEEDED };

typedef struct walk {
  const weft_graph *g;
  const plan_request *r;
  feeds feeds;
  unsigned char *needed, *mark; /* needed is WAITED for a node that only control edges reach */
  int *stack, *next;            /* nodes being visited, and which edge of each comes next */
  int depth;
  bool branches; /* does the graph have control flow? */
} walk;

static bool order_is_fed(const walk *w, weft_out o) { return weft__feeds_find(&w->feeds, o) >= 0; }

static bool closes_loop(const weft_node *n) { return weft__node_is(n, KIND_NEXT_ITERATION); }

/* Returns true if the node is a placeholder that is fed: what waits for it waits for nothing. */
static bool is_fed_placeholder(const walk *w, int id) {
  return weft__node_is(w->g->node[id], KIND_PLACEHOLDER) && order_is_fed(w, weft__graph_out(w->g, id, 0));
}

/* Edge e of node n: its data inputs first, then its control inputs.  -1: cut by a feed. */
static int order_edge_source(const walk *w, const weft_node *n, int e) {
  if (e >= n->n_in) return is_fed_placeholder(w, n->control[e - n->n_in]) ? -1 : n->control[e - n->n_in];
  return order_is_fed(w, n->in[e]) ? -1 : n->in[e].node;
}

/* Returns true if the node only computes outputs from inputs.  A placeholder does more: it fails if it was not fed. */
static bool only_computes(const walk *w, const weft_node *n) {
  const op *o = n->op;
  if (n->n_in == 0 && !weft__node_is(n, KIND_CONST)) return false;
  if (w->branches || !o || !o->cpu || o->opdef.stateful || n->n_out == 0 || o->flags & OP_ASYNC) return false;
  for (int i = 0; i < n->n_out; i++)
    if (weft__out_is_ref(w->g, weft__graph_out(w->g, n->id, i)) || order_is_fed(w, weft__graph_out(w->g, n->id, i)))
      return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__node_takes_ref(n, i) || weft__out_type(w->g, n->in[i]) == WEFT_RESOURCE) return false;
  return true;
}

/* Marks and pushes a node.  Every node is pushed at most twice: as WAITED and as NEEDED. */
static void walk_need(walk *w, int id, unsigned char how) {
  WEFT_ASSERT(id >= 0 && id < w->g->n_node && w->depth < 2 * w->g->n_node);
  if (w->needed[id] >= how) return;
  w->needed[id] = how;
  w->stack[w->depth++] = id;
}

static void wait_for(walk *w, int id) {
  const weft_node *n = w->g->node[id];
  walk_need(w, id, only_computes(w, n) ? WAITED : NEEDED);
}

/* Marks the source of edge e of n.  The inputs of a node that is only waited for are only waited for as well, but the
 * creation of a variable need not be waited for. */
static void need_edge(walk *w, const weft_node *n, int e) {
  int from = order_edge_source(w, n, e);
  if (from < 0) return;
  if (w->needed[n->id] == NEEDED && e < n->n_in)
    walk_need(w, from, NEEDED);
  else if (e >= n->n_in || !(w->g->node[from]->op && w->g->node[from]->op->flags & OP_ONCE))
    wait_for(w, from);
}

static void mark_needed(walk *w) {
  for (int i = 0; i < w->g->n_node && !w->branches; i++)
    w->branches = w->g->node[i]->op && w->g->node[i]->op->flags & OP_CONTROL_FLOW;
  for (int i = 0; i < w->r->n_fetch; i++)
    if (!order_is_fed(w, w->r->fetch[i])) walk_need(w, w->r->fetch[i].node, NEEDED);
  for (int i = 0; i < w->r->n_target; i++) walk_need(w, w->r->target[i], NEEDED);
  while (w->depth) {
    const weft_node *n = w->g->node[w->stack[--w->depth]];
    for (int e = 0; e < n->n_in + n->n_control; e++) need_edge(w, n, e);
  }
}

/* Appends what root depends on to the order, then root. */
static weft_err walk_visit(walk *w, int root, int *order, int *n_order) {
  w->depth = 0;
  w->stack[w->depth] = root;
  w->next[w->depth++] = 0;
  w->mark[root] = OPEN;
  while (w->depth) {
    const weft_node *n = w->g->node[w->stack[w->depth - 1]];
    int e = w->next[w->depth - 1]++;
    if (e == n->n_in + n->n_control) {
      w->mark[n->id] = DONE;
      if (w->needed[n->id] == NEEDED) order[(*n_order)++] = n->id;
      w->depth--;
      continue;
    }
    int from = order_edge_source(w, n, e);
    if (from < 0 || w->mark[from] == DONE || closes_loop(w->g->node[from])) continue;
    if (w->mark[from] == OPEN)
      return weft__fail(WEFT_INVALID_ARGUMENT, "The graph has a cycle through the nodes '%s' and '%s'", n->name,
                        w->g->node[from]->name);
    w->mark[from] = OPEN;
    w->stack[w->depth] = from;
    w->next[w->depth++] = 0;
  }
  return WEFT_OK;
}

weft_err weft__order(const weft_graph *g, const plan_request *r, int **order, int *n_order) {
  size_t n = (size_t)g->n_node + 1;
  walk w = {.g = g,
            .r = r,
            .needed = weft__alloc_zero(n, 1),
            .mark = weft__alloc_zero(n, 1),
            .stack = weft__alloc(2 * n * sizeof(int)),
            .next = weft__alloc(n * sizeof(int))};
  *order = weft__alloc(n * sizeof(int));
  *n_order = 0;
  weft_err err = w.needed && w.mark && w.stack && w.next && *order ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__feeds_init(&w.feeds, r->n_feed, r->feed);
  if (!err) {
    mark_needed(&w);
    WEFT_ASSERT(w.depth == 0);
    for (int id = 0; id < g->n_node && !err; id++)
      if (w.needed[id] == NEEDED && w.mark[id] == UNSEEN) err = walk_visit(&w, id, *order, n_order);
  }
  weft__feeds_finish(&w.feeds);
  weft__free(w.needed);
  weft__free(w.mark);
  weft__free(w.stack);
  weft__free(w.next);
  if (err) {
    weft__free(*order);
    *order = NULL;
  }
  return err;
}

weft_err weft__waits_init(waits *w, const weft_graph *g, const int *order, int n_order) {
  size_t n = (size_t)g->n_node + 1;
  *w = (waits){.g = g,
               .ordered = weft__alloc_zero(n, sizeof *w->ordered),
               .seen = weft__alloc_zero(n, sizeof(int)),
               .todo = weft__alloc(n * sizeof(int)),
               .from = weft__alloc(n * sizeof(int))};
  if (!w->ordered || !w->seen || !w->todo || !w->from) return WEFT_OOM;
  for (int i = 0; i < n_order; i++) w->ordered[order[i]] = true;
  return WEFT_OK;
}

void weft__waits_finish(waits *w) {
  weft__free(w->ordered);
  weft__free(w->seen);
  weft__free(w->todo);
  weft__free(w->from);
}

void weft__waits_of(waits *w, int node) {
  const weft_node *n = w->g->node[node];
  int depth = 0;
  w->n = 0;
  w->asked++;
  for (bool first = true; first || depth; first = false) {
    if (!first) n = w->g->node[w->todo[--depth]];
    for (int e = first && !w->folded ? n->n_in : 0; e < n->n_in + n->n_control; e++) {
      int from = e < n->n_in ? n->in[e].node : n->control[e - n->n_in];
      const bool folded = w->folded && w->folded[from];
      if (w->seen[from] == w->asked || (first && e < n->n_in && !folded)) continue;
      w->seen[from] = w->asked;
      if (w->ordered[from] && !folded)
        w->from[w->n++] = from;
      else
        w->todo[depth++] = from;
    }
  }
}
