/* aliases.c - finds the nodes that forward a variable, its updates, and which of the two can meet.
 *
 * A candidate is a node that forwards and whose source is a variable.  Candidates that can have the same source form a
 * group; so do the variables behind one Merge.  A group is marked unless each of its updates runs outside of all loops
 * and, for each reader of a candidate, either after the reader or before the candidate.  Both are questions about the
 * ancestors of a node; the work for them is bounded, and a group that is beyond the bound is marked: that is slower,
 * and right. */
#include "exec/passes/aliases.h"

#include "base/alloc.h"

enum { MAX_SEARCHES = 256 }; /* over the graph, in one plan */

typedef struct finder {
  const alias_request *r;
  const weft_graph *g;
  int *group;          /* per node: a variable or a candidate of its group, or itself; -1: neither */
  int *depth;          /* per node: in how many loops it is */
  bool *read;          /* per group: a node reads a candidate's output, or it is fetched */
  bool *marked;        /* per group: its candidates pass the reference on */
  int *todo;           /* a stack of nodes to visit */
  int *before, *after; /* per node: the number of the last search that found it before or after an update */
  int searches;        /* made so far */
} finder;

/* ---- groups ------------------------------------------------------------------------------------ */

static int group_of(finder *f, int node) {
  if (f->group[node] < 0) return -1;
  while (f->group[node] != node) node = f->group[node] = f->group[f->group[node]];
  return node;
}

/* Puts the node in the group of its source; the groups of two sources become one. */
static void join_group(finder *f, int node, int group) {
  const int own = group_of(f, node);
  f->group[own < 0 ? node : own] = group;
}

static bool is_ref(const finder *f, weft_out o) { return weft__out_is_ref(f->g, o); }

static bool is_candidate(const finder *f, const weft_node *n) {
  const weft_out out = {n->id, 0, 0};
  if (!n->op || !(n->op->flags & OP_FORWARDS) || is_ref(f, out)) return false;
  if (!weft__dtype_is_plain(weft__out_type(f->g, out)) || (f->r->stays && f->r->stays[n->id])) return false;
  for (int o = 0; o < n->n_out; o++)
    if (weft__feeds_find(f->r->feeds, (weft_out){n->id, (uint16_t)o, 0}) >= 0) return false;
  return true;
}

/* Returns the group of what an edge carries, if it carries a variable or a candidate's output. */
static int group_of_edge(finder *f, weft_out o) {
  const weft_node *n = f->g->node[o.node];
  if (weft__feeds_find(f->r->feeds, o) >= 0) return -1;
  return is_ref(f, o) || weft__output_is_forwarded(n, o.slot) ? group_of(f, o.node) : -1;
}

/* Gives a node with references its group: a variable its own, an update or a node that forwards that of its input.
 * Returns true if that changed something. */
static bool find_group(finder *f, const weft_node *n) {
  bool changed = false;
  const bool refers = n->n_out > 0 && is_ref(f, (weft_out){n->id, 0, 0});
  if (refers && f->group[n->id] < 0 && (n->n_in == 0 || !is_ref(f, n->in[0]))) {
    f->group[n->id] = n->id;
    changed = true;
  }
  if (!refers && !is_candidate(f, n)) return changed;
  for (int i = 0; i < n->n_in; i++) {
    const bool passed_on = refers
                               ? is_ref(f, n->in[i]) && (i == 0 || !is_ref(f, n->in[0]) || weft__node_is(n, KIND_MERGE))
                               : weft__input_is_forwarded(n, i);
    const int from = passed_on ? group_of_edge(f, n->in[i]) : -1;
    if (from < 0 || from == group_of(f, n->id)) continue;
    join_group(f, n->id, from);
    changed = true;
  }
  return changed;
}

/* A loop's Merge comes before what its back edge brings, so the passes are repeated until nothing changes. */
static void find_groups(finder *f) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < f->r->n_order; i++) again = find_group(f, f->g->node[f->r->order[i]]) || again;
  }
}

static void find_depths(finder *f) {
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    int depth = 0;
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      const int from = f->depth[e < n->n_in ? n->in[e].node : n->control[e - n->n_in]];
      if (from > depth) depth = from;
    }
    f->depth[n->id] = depth + weft__node_is(n, KIND_ENTER) - (depth > 0 && weft__node_is(n, KIND_EXIT));
  }
}

/* ---- updates ----------------------------------------------------------------------------------- */

/* Returns the group of the variable that the node changes by its input i; else -1. */
static int group_updated(finder *f, const weft_node *n, int i) {
  return n->op && !(n->op->flags & OP_FORWARDS) && weft__takes_ref(n, i) ? group_of_edge(f, n->in[i]) : -1;
}

/* Returns the group of a value that a candidate passed on; -1 if o is something else, or a variable or its plain read,
 * whose readers read the variable anyway. */
static int group_of_value(finder *f, weft_out o) {
  return is_ref(f, o) || weft__is_plain_read(f->g, f->g->node[o.node], f->r->stays) ? -1 : group_of_edge(f, o);
}

/* Returns the group of the value that the node reads by input i, and does not merely pass on; else -1. */
static int group_read(finder *f, const weft_node *n, int i) {
  return is_candidate(f, n) && weft__input_is_forwarded(n, i) ? -1 : group_of_value(f, n->in[i]);
}

/* Marks the node and all that it depends on as `before`. */
static void search_before(finder *f, int node) {
  int depth = 0;
  f->before[node] = f->searches;
  f->todo[depth++] = node;
  while (depth) {
    const weft_node *n = f->g->node[f->todo[--depth]];
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      const int from = e < n->n_in ? n->in[e].node : n->control[e - n->n_in];
      if (f->before[from] == f->searches) continue;
      f->before[from] = f->searches;
      f->todo[depth++] = from;
    }
  }
}

/* Marks the node and all that depends on it as `after`. */
static void search_after(finder *f, int node) {
  f->after[node] = f->searches;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    for (int e = 0; e < n->n_in + n->n_control; e++)
      if (f->after[e < n->n_in ? n->in[e].node : n->control[e - n->n_in]] == f->searches) f->after[n->id] = f->searches;
  }
}

/* Takes the mark from candidates that get a value from a candidate without it: that one took the value before the
 * update.  What the back edge of a loop brings was looked at where it came into the loop. */
static void drop_stale(finder *f) {
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    if (f->after[n->id] != f->searches || !is_candidate(f, n)) continue;
    for (int j = 0; j < n->n_in; j++)
      if (weft__input_is_forwarded(n, j) && group_of_value(f, n->in[j]) >= 0 &&
          f->after[n->in[j].node] != f->searches && !weft__node_is(f->g->node[n->in[j].node], KIND_NEXT_ITERATION))
        f->after[n->id] = 0;
  }
}

/* Returns true if the update can run between a candidate of its group and a reader of the candidate. */
static bool update_meets_reader(finder *f, int update, int group) {
  if (f->depth[update] > 0 || f->searches == MAX_SEARCHES) return true;
  f->searches++;
  search_before(f, update);
  search_after(f, update);
  drop_stale(f);
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    if (f->before[n->id] == f->searches) continue;
    for (int j = 0; j < n->n_in; j++)
      if (group_read(f, n, j) == group && f->after[n->in[j].node] != f->searches) return true;
  }
  const plan_request *q = f->r->request;
  for (int i = 0; i < q->n_fetch; i++)
    if (group_of_value(f, q->fetch[i]) == group && f->after[q->fetch[i].node] != f->searches) return true;
  return false;
}

/* Finds the groups that have candidates with readers.  Returns true if there is one. */
static bool find_readers(finder *f) {
  bool any = false;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    for (int j = 0; j < n->n_in; j++) {
      const int group = group_read(f, n, j);
      if (group >= 0) any = f->read[group] = true;
    }
  }
  const plan_request *q = f->r->request;
  for (int i = 0; i < q->n_fetch; i++) {
    const int group = group_of_value(f, q->fetch[i]);
    if (group >= 0) any = f->read[group] = true;
  }
  return any;
}

static bool mark_groups(finder *f) {
  bool any = false;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    for (int j = 0; j < n->n_in; j++) {
      const int group = group_updated(f, n, j);
      if (group < 0 || !f->read[group] || f->marked[group] || !update_meets_reader(f, n->id, group)) continue;
      any = f->marked[group] = true;
    }
  }
  return any;
}

/* ---- the pass ---------------------------------------------------------------------------------- */

static weft_err finder_init(finder *f, const alias_request *r) {
  const size_t n = (size_t)r->graph->n_node + 1;
  *f = (finder){.r = r,
                .g = r->graph,
                .group = weft__alloc(n * sizeof(int)),
                .depth = weft__alloc_zero(n, sizeof(int)),
                .read = weft__alloc_zero(n, sizeof(bool)),
                .marked = weft__alloc_zero(n, sizeof(bool)),
                .todo = weft__alloc(n * sizeof(int)),
                .before = weft__alloc_zero(n, sizeof(int)),
                .after = weft__alloc_zero(n, sizeof(int))};
  if (!f->group || !f->depth || !f->read || !f->marked || !f->todo || !f->before || !f->after) return WEFT_OOM;
  for (size_t i = 0; i < n; i++) f->group[i] = -1;
  return WEFT_OK;
}

static void finder_finish(finder *f) {
  weft__free(f->group);
  weft__free(f->depth);
  weft__free(f->read);
  weft__free(f->marked);
  weft__free(f->todo);
  weft__free(f->before);
  weft__free(f->after);
}

static weft_err store_marks(finder *f, bool **out) {
  *out = weft__alloc_zero((size_t)f->g->n_node + 1, sizeof **out);
  if (!*out) return WEFT_OOM;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    (*out)[n->id] = is_candidate(f, n) && f->group[n->id] >= 0 && f->marked[group_of(f, n->id)];
  }
  return WEFT_OK;
}

/* Returns true if the node forwards a variable or its plain read. */
static bool forwards_variable(const alias_request *r, const weft_node *n) {
  const weft_graph *g = r->graph;
  if (!n->op || !(n->op->flags & OP_FORWARDS) || weft__is_plain_read(g, n, r->stays)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__input_is_forwarded(n, i) &&
        (weft__out_is_ref(g, n->in[i]) || weft__is_plain_read(g, g->node[n->in[i].node], r->stays)))
      return true;
  return false;
}

/* Most plans do not update variables, or do not pass them on: they are left after one look at each node. */
static bool is_worth_a_search(const alias_request *r) {
  bool updates = false, forwards = false;
  for (int i = 0; i < r->n_order && !(updates && forwards); i++) {
    const weft_node *n = r->graph->node[r->order[i]];
    forwards = forwards || forwards_variable(r, n);
    for (int j = 0; j < n->n_in && !updates; j++)
      updates = n->op && !(n->op->flags & OP_FORWARDS) && weft__takes_ref(n, j);
  }
  return updates && forwards;
}

weft_err weft__aliases_find(const alias_request *r, bool **out) {
  *out = NULL;
  if (!is_worth_a_search(r)) return WEFT_OK;
  finder f;
  weft_err err = finder_init(&f, r);
  if (!err) {
    find_groups(&f);
    find_depths(&f);
    if (find_readers(&f) && mark_groups(&f)) err = store_marks(&f, out);
  }
  finder_finish(&f);
  return err;
}
