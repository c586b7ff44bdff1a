/* late_reads.c - finds the token, what it depends on, and the fetched reads that it does not depend on. */
#include "exec/passes/late_reads.h"

#include "base/alloc.h"
#include "state/sync_token.h"
#include <string.h>

static bool takes_token(const weft_graph *g, const weft_node *n) {
  if (!n->op || !(n->op->flags & OP_TAKES) || n->n_in != 1) return false; /* one element, not n of them */
  const attr *name = weft__node_attr(g->node[n->in[0].node], "shared_name");
  return name && name->kind == ATTR_STRING && name->s.size == strlen(SYNC_TOKEN_QUEUE) &&
         memcmp(name->s.data, SYNC_TOKEN_QUEUE, name->s.size) == 0;
}

/* Returns the only node that takes a token, or -1. */
static int find_token(const weft_graph *g, const int *order, int n_order) {
  int found = -1, n = 0;
  for (int i = 0; i < n_order; i++)
    if (takes_token(g, g->node[order[i]])) found = order[i], n++;
  return n == 1 ? found : -1;
}

static bool is_read(const weft_graph *g, const weft_node *n) {
  if (weft__node_is(n, KIND_VARIABLE) || weft__node_is(n, KIND_READ)) return true;
  return weft__node_is(n, KIND_IDENTITY) && !weft__out_is_ref(g, (weft_out){n->id, 0}) &&
         weft__node_is(g->node[n->in[0].node], KIND_VARIABLE);
}

/* Marks all that a node depends on, and itself; todo has room for every node. */
static void mark_before(const weft_graph *g, int node, bool *before, int *todo) {
  int depth = 0;
  before[node] = true;
  todo[depth++] = node;
  while (depth) {
    const weft_node *n = g->node[todo[--depth]];
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      int from = e < n->n_in ? n->in[e].node : n->control[e - n->n_in];
      if (before[from]) continue;
      before[from] = true;
      todo[depth++] = from;
    }
  }
}

static bool mark_late(late_reads *l, const cut *c, const bool *before) {
  const plan_request *r = c->request;
  bool any = false;
  for (int i = 0; i < r->n_fetch; i++) {
    int node = r->fetch[i].node;
    bool there = c->task[c->where[node]] == c->task[c->where[l->token]];
    for (int j = 0; j < r->n_feed; j++) there = there && r->feed[j].node != node;
    if (!there || before[node] || !is_read(c->graph, c->graph->node[node])) continue;
    any = l->late[node] = true;
  }
  return any;
}

static bool is_after(const weft_graph *g, waits *w, int node, const bool *after) {
  const weft_node *n = g->node[node];
  for (int i = 0; i < n->n_in; i++)
    if (after[n->in[i].node]) return true;
  weft__waits_of(w, node);
  for (int i = 0; i < w->n; i++)
    if (after[w->from[i]]) return true;
  return false;
}

/* Moves the nodes that wait, and those that read them, to the end of the order; both parts keep their order. */
static void late_reads_reorder(const late_reads *l, const weft_graph *g, waits *w, int *order, int n_order, bool *after,
                               int *last) {
  int n_first = 0, n_last = 0;
  memset(after, 0, sizeof *after * (size_t)g->n_node);
  for (int i = 0; i < n_order; i++) {
    int node = order[i];
    after[node] = l->late[node] || is_after(g, w, node, after);
    if (after[node])
      last[n_last++] = node;
    else
      order[n_first++] = node;
  }
  memcpy(order + n_first, last, sizeof *last * (size_t)n_last);
}

weft_err weft__late_reads_find(late_reads *l, const cut *c, waits *w, int *order, int n_order) {
  const weft_graph *g = c->graph;
  *l = (late_reads){.token = c->by_name || c->shown ? -1 : find_token(g, order, n_order)};
  if (l->token < 0) return WEFT_OK;
  size_t n = (size_t)g->n_node + 1;
  bool *before = weft__alloc_zero(n, sizeof *before);
  int *todo = weft__alloc(n * sizeof *todo);
  l->late = weft__alloc_zero(n, sizeof *l->late);
  weft_err err = before && todo && l->late ? WEFT_OK : WEFT_OOM;
  if (!err) {
    mark_before(g, l->token, before, todo);
    if (mark_late(l, c, before))
      late_reads_reorder(l, g, w, order, n_order, before, todo);
    else
      l->token = -1;
  }
  weft__free(before);
  weft__free(todo);
  return err;
}

void weft__late_reads_finish(late_reads *l) { weft__free(l->late); }
