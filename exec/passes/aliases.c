/* aliases.c - finds the nodes that pass on a variable, the updates of variables, and which updates can run between such
 * a node and its readers.
 *
 * A candidate is a node that passes an input on and could be an alias.  A group is a variable with the updates whose
 * output refers to it and the candidates that pass it on; variables that come to one Merge share a group.  The readers
 * of a group are the nodes that read a candidate's output, and the fetches of it.
 *
 * A group becomes one of aliases unless each of its updates runs outside of all loops and, for each reader, either
 * after the reader, or before every candidate through which the value came to it.  So an update is searched for its
 * ancestors and its descendants.  That takes the time of one look at the whole plan, so there is a limit for the number
 * of searches; a group beyond it becomes one of aliases too, which is right, only a little slower. */
#include "exec/passes/aliases.h"

#include "base/alloc.h"

enum { MAX_SEARCHES = 256 }; /* in one plan: about 30 ms for 10,000 nodes */

typedef struct finder {
  const alias_request *r;
  const weft_graph *g;
  int *group;          /* per node: its parent in the tree of its group; a root names the group; -1: in no group */
  int *depth;          /* per node: in how many loops it is */
  bool *read;          /* per root: the group has a reader */
  bool *aliased;       /* per root: its candidates are aliases */
  int *todo;           /* a stack of nodes to visit */
  int *before, *after; /* per node: the number of the last search whose update comes after it, or before it */
  int searches;        /* made so far */
} finder;

/* ---- groups ------------------------------------------------------------------------------------ */

/* Returns the root of the node's group, or -1; shortens the way to it. */
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

static bool aliases_is_fed(const finder *f, weft_out o) { return weft__feeds_find(f->r->feeds, o) >= 0; }

/* Returns true if the node could be an alias, were it in a group.  One with a fed output is left as it is. */
static bool is_candidate(const finder *f, const weft_node *n) {
  const weft_out out = {n->id, 0, 0};
  if (!n->op || !(n->op->flags & OP_FORWARDS) || is_ref(f, out)) return false;
  if (f->r->needs_value && f->r->needs_value[n->id]) return false;
  for (int o = 0; o < n->n_out; o++)
    if (aliases_is_fed(f, (weft_out){n->id, (uint16_t)o, 0})) return false;
  return true;
}

/* Returns the node that edge e of n comes from, data before control; -1 if a feed replaces the value. */
static int aliases_edge_source(const finder *f, const weft_node *n, int e) {
  if (e >= n->n_in) return n->control[e - n->n_in];
  return aliases_is_fed(f, n->in[e]) ? -1 : n->in[e].node;
}

/* Returns the group of what an edge carries, if it carries a variable or a candidate's output. */
static int group_of_edge(finder *f, weft_out o) {
  const weft_node *n = f->g->node[o.node];
  if (aliases_is_fed(f, o)) return -1;
  return is_ref(f, o) || weft__output_is_forwarded(n, o.slot) ? group_of(f, o.node) : -1;
}

/* Returns true if the node's output is the variable or the value of its input i.  An update returns the variable of its
 * input 0; RefSelect's references begin at input 1, and its output is any of them. */
static bool input_is_passed_on(const finder *f, const weft_node *n, int i) {
  if (!is_ref(f, (weft_out){n->id, 0, 0})) return weft__input_is_forwarded(n, i);
  return is_ref(f, n->in[i]) && (i == 0 || !is_ref(f, n->in[0]) || weft__node_is(n, KIND_MERGE));
}

/* Puts the node in its group: a variable in its own, a node that passes something on in the group of that.  Returns
 * true if that changed something. */
static bool aliases_find_group(finder *f, const weft_node *n) {
  bool changed = false;
  const bool refers = n->n_out > 0 && is_ref(f, (weft_out){n->id, 0, 0});
  if (refers && f->group[n->id] < 0 && (n->n_in == 0 || !is_ref(f, n->in[0]))) {
    f->group[n->id] = n->id;
    changed = true;
  }
  if (!refers && !is_candidate(f, n)) return changed;
  for (int i = 0; i < n->n_in; i++) {
    const int from = input_is_passed_on(f, n, i) ? group_of_edge(f, n->in[i]) : -1;
    if (from < 0 || from == group_of(f, n->id)) continue;
    join_group(f, n->id, from);
    changed = true;
  }
  return changed;
}

/* A loop's Merge comes before what its back edge brings, so this is repeated until nothing changes: at most once for
 * each loop around another, and once more. */
static void aliases_find_groups(finder *f) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < f->r->n_order; i++) again = aliases_find_group(f, f->g->node[f->r->order[i]]) || again;
  }
}

/* A back edge comes later in the order and counts as 0: the depth of a Merge is that of its Enter. */
static void find_depths(finder *f) {
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    int depth = 0;
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      const int from = aliases_edge_source(f, n, e);
      if (from >= 0 && f->depth[from] > depth) depth = f->depth[from];
    }
    f->depth[n->id] = depth + weft__node_is(n, KIND_ENTER) - (depth > 0 && weft__node_is(n, KIND_EXIT));
  }
}

/* ---- updates ----------------------------------------------------------------------------------- */

/* Returns the group of the variable that the node may change, by its input i; else -1.  An op that takes a reference
 * and only looks at it counts too. */
static int group_updated(finder *f, const weft_node *n, int i) {
  return n->op && !(n->op->flags & OP_FORWARDS) && weft__node_takes_ref(n, i) ? group_of_edge(f, n->in[i]) : -1;
}

/* Returns the group of a value that a candidate passed on; -1 if o is something else, or a variable or its plain read,
 * whose readers read the variable anyway. */
static int group_of_value(finder *f, weft_out o) {
  return is_ref(f, o) || weft__is_plain_read(f->g, f->g->node[o.node], f->r->needs_value) ? -1 : group_of_edge(f, o);
}

/* Returns the group of the value that the node reads by input i; -1 if there is none, or if the node passes it on: then
 * the node's own readers count. */
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
      const int from = aliases_edge_source(f, n, e);
      if (from < 0 || f->before[from] == f->searches) continue;
      f->before[from] = f->searches;
      f->todo[depth++] = from;
    }
  }
}

/* Marks the node and all that depends on it as `after`.  Inputs come first in the order, so one look at each node is
 * enough; back edges are not followed, so that fewer are `after`, which is right too. */
static void search_after(finder *f, int node) {
  f->after[node] = f->searches;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    for (int e = 0; e < n->n_in + n->n_control; e++) {
      const int from = aliases_edge_source(f, n, e);
      if (from >= 0 && f->after[from] == f->searches) f->after[n->id] = f->searches;
    }
  }
}

/* Takes `after` from each candidate that passes on a value from a candidate without it, which may have taken the value
 * before the update.  What comes over a back edge came into the loop by the Merge's other input, which is looked at. */
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

/* Returns true if the update may run between a candidate of its group and a reader of the candidate, also if that is
 * not known: the update is in a loop, or there were too many searches.  A fetch reads when all updates are done. */
static bool update_meets_reader(finder *f, int update, int group) {
  if (f->depth[update] > 0 || f->searches == MAX_SEARCHES) return true;
  f->searches++;
  search_before(f, update);
  search_after(f, update);
  drop_stale(f);
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    if (f->before[n->id] == f->searches) continue; /* the update waits for it */
    for (int j = 0; j < n->n_in; j++)
      if (group_read(f, n, j) == group && f->after[n->in[j].node] != f->searches) return true;
  }
  const plan_request *q = f->r->request;
  for (int i = 0; i < q->n_fetch; i++)
    if (group_of_value(f, q->fetch[i]) == group && f->after[q->fetch[i].node] != f->searches) return true;
  return false;
}

/* Finds the groups that have candidates with readers.  Returns true if there is one. */
static bool aliases_find_readers(finder *f) {
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

/* Finds the groups of aliases.  Returns true if there is one. */
static bool alias_groups(finder *f) {
  bool any = false;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    for (int j = 0; j < n->n_in; j++) {
      const int group = group_updated(f, n, j);
      if (group < 0 || !f->read[group] || f->aliased[group] || !update_meets_reader(f, n->id, group)) continue;
      any = f->aliased[group] = true;
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
                .aliased = weft__alloc_zero(n, sizeof(bool)),
                .todo = weft__alloc(n * sizeof(int)),
                .before = weft__alloc_zero(n, sizeof(int)),
                .after = weft__alloc_zero(n, sizeof(int))};
  if (!f->group || !f->depth || !f->read || !f->aliased || !f->todo || !f->before || !f->after) return WEFT_OOM;
  for (size_t i = 0; i < n; i++) f->group[i] = -1;
  return WEFT_OK;
}

static void finder_finish(finder *f) {
  weft__free(f->group);
  weft__free(f->depth);
  weft__free(f->read);
  weft__free(f->aliased);
  weft__free(f->todo);
  weft__free(f->before);
  weft__free(f->after);
}

static weft_err store_aliases(finder *f, bool **out) {
  *out = weft__alloc_zero((size_t)f->g->n_node + 1, sizeof **out);
  if (!*out) return WEFT_OOM;
  for (int i = 0; i < f->r->n_order; i++) {
    const weft_node *n = f->g->node[f->r->order[i]];
    if (weft__is_plain_read(f->g, n, f->r->needs_value)) continue; /* it does not run */
    (*out)[n->id] = is_candidate(f, n) && f->group[n->id] >= 0 && f->aliased[group_of(f, n->id)];
  }
  return WEFT_OK;
}

/* Returns true if the node passes on a variable or its plain read. */
static bool forwards_variable(const alias_request *r, const weft_node *n) {
  const weft_graph *g = r->graph;
  if (!n->op || !(n->op->flags & OP_FORWARDS) || weft__is_plain_read(g, n, r->needs_value)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__input_is_forwarded(n, i) &&
        (weft__out_is_ref(g, n->in[i]) || weft__is_plain_read(g, g->node[n->in[i].node], r->needs_value)))
      return true;
  return false;
}

/* Most plans do not update variables, or do not pass them on: for them one look at each node is enough.  Each chain of
 * candidates begins with a node that passes on a variable or its plain read. */
static bool is_worth_a_search(const alias_request *r) {
  bool updates = false, forwards = false;
  for (int i = 0; i < r->n_order && !(updates && forwards); i++) {
    const weft_node *n = r->graph->node[r->order[i]];
    forwards = forwards || forwards_variable(r, n);
    for (int j = 0; j < n->n_in && !updates; j++)
      updates = n->op && !(n->op->flags & OP_FORWARDS) && weft__node_takes_ref(n, j);
  }
  return updates && forwards;
}

weft_err weft__aliases_find(const alias_request *r, bool **out) {
  *out = NULL;
  if (!is_worth_a_search(r)) return WEFT_OK;
  finder f;
  weft_err err = finder_init(&f, r);
  if (!err) {
    aliases_find_groups(&f);
    find_depths(&f);
    if (aliases_find_readers(&f) && alias_groups(&f)) err = store_aliases(&f, out);
  }
  finder_finish(&f);
  return err;
}
