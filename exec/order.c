/* order.c - which nodes a request needs, and an order in which they can run.
 *
 * Nodes are visited depth first from the oldest to the newest, inputs before their readers; the
 * only cycle allowed is a loop's, closed by NextIteration into Merge. */
#include "exec/order.h"

#include "base/alloc.h"

enum { UNSEEN, OPEN, DONE };

typedef struct walk {
  const weft_graph *g;
  const plan_request *r;
  unsigned char *needed, *mark;
  int *stack, *next; /* nodes being visited, and which edge of each comes next */
  int depth;
} walk;

static bool is_fed(const plan_request *r, weft_out o) {
  for (int i = 0; i < r->n_feed; i++)
    if (r->feed[i].node == o.node && r->feed[i].slot == o.slot) return true;
  return false;
}

static bool closes_loop(const weft_node *n) {
  return strcmp(n->op_name, "NextIteration") == 0 || strcmp(n->op_name, "RefNextIteration") == 0;
}

/* Edge e of node n: its data inputs first, then its control inputs.  -1: cut by a feed. */
static int edge_source(const walk *w, const weft_node *n, int e) {
  if (e >= n->n_in) return n->control[e - n->n_in];
  return is_fed(w->r, n->in[e]) ? -1 : n->in[e].node;
}

static void need(walk *w, int id) {
  if (w->needed[id]) return;
  w->needed[id] = 1;
  w->stack[w->depth++] = id;
}

static void mark_needed(walk *w) {
  for (int i = 0; i < w->r->n_fetch; i++)
    if (!is_fed(w->r, w->r->fetch[i])) need(w, w->r->fetch[i].node);
  for (int i = 0; i < w->r->n_target; i++) need(w, w->r->target[i]);
  while (w->depth) {
    const weft_node *n = w->g->node[w->stack[--w->depth]];
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      int from = edge_source(w, n, e);
      if (from >= 0) need(w, from);
    }
  }
}

/* Visits what root stands on, then root. */
static weft_err visit(walk *w, int root, int *order, int *n_order) {
  w->depth = 0;
  w->stack[w->depth] = root;
  w->next[w->depth++] = 0;
  w->mark[root] = OPEN;
  while (w->depth) {
    const weft_node *n = w->g->node[w->stack[w->depth - 1]];
    int e = w->next[w->depth - 1]++;
    if (e == n->n_in + n->n_control) {
      w->mark[n->id] = DONE;
      order[(*n_order)++] = n->id;
      w->depth--;
      continue;
    }
    int from = edge_source(w, n, e);
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
  walk w = {
      g, r, weft__alloc_zero(n, 1), weft__alloc_zero(n, 1), weft__alloc(n * sizeof(int)), weft__alloc(n * sizeof(int)),
      0};
  *order = weft__alloc(n * sizeof(int));
  *n_order = 0;
  weft_err err = w.needed && w.mark && w.stack && w.next && *order ? WEFT_OK : WEFT_OOM;
  if (!err) {
    mark_needed(&w);
    for (int id = 0; id < g->n_node && !err; id++)
      if (w.needed[id] && w.mark[id] == UNSEEN) err = visit(&w, id, *order, n_order);
  }
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
