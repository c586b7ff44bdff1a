/* distinct_rows.c - groups what can move with each node that makes ids distinct, and drops a group if an outside reader
 * forbids it.
 *
 * A group is that node, the sums of gradient rows by its second output, and small values computed from them, such as
 * the number of distinct ids. */
#include "exec/passes/distinct_rows.h"

#include "base/alloc.h"
#include "graph/fusion.h"
#include <string.h>

enum { SMALL_ELEMENTS = 16, NONE = -1 };

typedef struct grouping {
  distinct_rows *out;
  const cut *c;
  int *where;
  const feeds *feeds;
  waits *waits;
  int *group;    /* per node: the node whose group it belongs to, or NONE */
  int *first;    /* per node: the number of its output 0 among all outputs of the graph */
  int *of_ids;   /* per output: the first group whose ids it is, or NONE */
  bool *refused; /* per node that is a group or a lookup */
  bool *used;    /* per group: a lookup takes its ids */
} grouping;

/* Returns the entry of the first group whose ids are this output; it is NONE if there is no group. */
static int *group_of_ids(const grouping *g, weft_out ids) { return &g->of_ids[g->first[ids.node] + ids.slot]; }

static const weft_node *node_at(const grouping *g, int id) { return g->c->graph->node[id]; }

static bool distinct_rows_is_fed(const grouping *g, weft_out o) { return weft__feeds_find(g->feeds, o) >= 0; }

static bool has_role(const weft_node *n, fusion_role role) {
  return n->op && n->op->fusion && n->op->fusion->role == role;
}

static bool is_remote(const grouping *g, int node) { return g->c->task[g->where[node]] != g->c->task[g->c->client]; }

static bool is_at_client(const grouping *g, weft_out o) { return distinct_rows_is_fed(g, o) || !is_remote(g, o.node); }

/* Returns true if the output has the elements of input 0 in their order: Identity, Reshape. */
static bool keeps_elements(const weft_node *n) {
  const op *o = n->op;
  if (!o || !o->anywhere || !strcmp(o->anywhere, "*") || o->opdef.stateful) return false;
  if (o->flags & (OP_SHAPE_ONLY | OP_CONTROL_FLOW) || n->n_in == 0 || n->n_out != 1 || n->n_control) return false;
  return n->out_type[0] == weft__out_type(n->graph, n->in[0]);
}

/* Returns the output that o is a view of, by views of the client's task; WEFT_NONE if it is not of that task. */
static weft_out find_source(const grouping *g, weft_out o) {
  while (!distinct_rows_is_fed(g, o) && !is_remote(g, o.node) && keeps_elements(node_at(g, o.node)))
    o = node_at(g, o.node)->in[0];
  return is_at_client(g, o) ? o : WEFT_NONE;
}

/* ---- groups ---- */

/* Returns true if a node of the ps can move, as far as it alone decides that. */
static bool may_move(const grouping *g, const weft_node *n) {
  if (!n->op || n->op->opdef.stateful || n->op->flags & (OP_CONTROL_FLOW | OP_ASYNC | OP_STEP_OBJECT)) return false;
  if (!is_remote(g, n->id)) return false;
  weft__waits_of(g->waits, n->id);
  if (g->waits->n) return false;
  for (int i = 0; i < n->n_out; i++)
    if (weft__out_is_ref(g->c->graph, (weft_out){n->id, (uint16_t)i}) ||
        distinct_rows_is_fed(g, (weft_out){n->id, (uint16_t)i}))
      return false;
  return true;
}

static bool is_constant(const grouping *g, weft_out o) {
  return weft__node_is(node_at(g, o.node), KIND_CONST) && node_at(g, o.node)->n_control == 0 &&
         !distinct_rows_is_fed(g, o);
}

/* The ids of a node that makes them distinct: at the client, and not distinct already. */
static bool begins_group(const grouping *g, const weft_node *n) {
  if (!has_role(n, ROLE_DISTINCT)) return false;
  weft_out ids = find_source(g, n->in[0]);
  return ids.node >= 0 && !is_constant(g, ids) && (ids.slot != 0 || !has_role(node_at(g, ids.node), ROLE_DISTINCT));
}

static bool has_small_outputs(const weft_node *n) {
  for (int i = 0; i < n->n_out; i++) {
    int64_t count = weft__shape_count(&n->out_shape[i]);
    if (count < 0 || count > SMALL_ELEMENTS) return false;
  }
  return n->n_out > 0;
}

/* Returns the only group whose values the node reads from input `first` on, besides constants; else NONE. */
static int group_of_inputs(const grouping *g, const weft_node *n, int first) {
  int found = NONE;
  for (int i = first; i < n->n_in; i++) {
    if (is_constant(g, n->in[i])) continue;
    int group = distinct_rows_is_fed(g, n->in[i]) ? NONE : g->group[n->in[i].node];
    if (group == NONE || (found != NONE && group != found)) return NONE;
    found = group;
  }
  return found;
}

/* Returns true if the node adds rows of the client's task by the numbers of distinct ids. */
static bool sums_rows(const grouping *g, const weft_node *n) {
  return has_role(n, ROLE_SUM_ROWS) && is_at_client(g, n->in[0]) && n->in[1].slot == 1 &&
         !distinct_rows_is_fed(g, n->in[1]) && has_role(node_at(g, n->in[1].node), ROLE_DISTINCT);
}

static void group_node(grouping *g, const weft_node *n) {
  if (!may_move(g, n)) return;
  if (begins_group(g, n)) {
    int *first = group_of_ids(g, find_source(g, n->in[0]));
    g->group[n->id] = n->id;
    if (*first == NONE) *first = n->id;
  } else if (sums_rows(g, n)) {
    g->group[n->id] = group_of_inputs(g, n, 1);
  } else if (has_small_outputs(n)) {
    g->group[n->id] = group_of_inputs(g, n, 0);
  }
}

/* Refuses the groups that the node makes impossible: the numbers of the ids are read on a ps, or another node waits. */
static void check_group_reader(grouping *g, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    int group = distinct_rows_is_fed(g, n->in[i]) ? NONE : g->group[n->in[i].node];
    if (group != NONE && group != g->group[n->id] && n->in[i].node == group && n->in[i].slot == 1 &&
        is_remote(g, n->id))
      g->refused[group] = true;
  }
  weft__waits_of(g->waits, n->id);
  for (int i = 0; i < g->waits->n; i++)
    if (g->group[g->waits->from[i]] != NONE) g->refused[g->group[g->waits->from[i]]] = true;
}

/* ---- lookups ---- */

/* Returns true if the node reads whole rows, by ids of any shape. */
static bool looks_up_rows(const grouping *g, const weft_node *n) {
  if (!has_role(n, ROLE_LOOKUP) || weft__node_int(n, "batch_dims", 0) != 0) return false;
  if (n->n_in < 3) return true;
  weft_tensor *axis = is_constant(g, n->in[2]) ? weft__graph_constant(g->c->graph, n->in[2]) : NULL;
  bool first = axis && weft__tensor_int(axis, 0) == 0;
  weft_tensor_destroy(axis);
  return first;
}

static void note_lookup(grouping *g, const weft_node *n) {
  weft_out out = {n->id, 0};
  if (!is_remote(g, n->id) || distinct_rows_is_fed(g, out)) return;
  if (weft__node_is(n, KIND_IDENTITY) && !distinct_rows_is_fed(g, n->in[0])) {
    g->out->lookup[n->id] = g->out->lookup[n->in[0].node];
  } else if (looks_up_rows(g, n)) {
    weft_out ids = find_source(g, n->in[1]);
    int group = ids.node < 0 ? NONE : *group_of_ids(g, ids);
    if (group != NONE && !g->refused[group]) g->out->lookup[n->id] = n->id;
  }
  if (g->out->lookup[n->id] == NONE) return;
  g->out->ids[n->id] = *group_of_ids(g, find_source(g, node_at(g, g->out->lookup[n->id])->in[1]));
}

/* Refuses the lookup whose rows the node reads on a ps: they must be those of the batch there. */
static void check_row_reader(grouping *g, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    int lookup = distinct_rows_is_fed(g, n->in[i]) ? NONE : g->out->lookup[n->in[i].node];
    if (lookup != NONE && g->out->lookup[n->id] != lookup && is_remote(g, n->id)) g->refused[lookup] = true;
  }
}

static void distinct_rows_decide(grouping *g, const int *order, int n_order) {
  distinct_rows *d = g->out;
  for (int i = 0; i < n_order; i++) group_node(g, node_at(g, order[i]));
  for (int i = 0; i < n_order; i++) check_group_reader(g, node_at(g, order[i]));
  for (int i = 0; i < n_order; i++) note_lookup(g, node_at(g, order[i]));
  for (int i = 0; i < n_order; i++) check_row_reader(g, node_at(g, order[i]));
  for (int i = 0; i < n_order; i++) {
    int n = order[i];
    if (d->lookup[n] != NONE && g->refused[d->lookup[n]]) d->ids[n] = NONE;
    if (d->ids[n] != NONE) g->used[d->ids[n]] = true;
  }
  for (int i = 0; i < n_order; i++) {
    int group = g->group[order[i]];
    if (group != NONE && g->used[group]) g->where[order[i]] = g->c->client;
  }
}

static int count_outputs(const weft_graph *g) {
  int n = 0;
  for (int i = 0; i < g->n_node; i++) n += g->node[i]->n_out;
  return n;
}

static void number_outputs(grouping *g) {
  int n = 0;
  for (int i = 0; i < g->c->graph->n_node; i++) {
    g->first[i] = n;
    n += node_at(g, i)->n_out;
  }
}

static void set_none(int *list, size_t n) {
  for (size_t i = 0; i < n; i++) list[i] = NONE;
}

weft_err weft__distinct_rows_find(distinct_rows *d, const cut *c, int *where, const feeds *f, waits *w,
                                  const int *order, int n_order) {
  const size_t n = (size_t)c->graph->n_node + 1, outputs = (size_t)count_outputs(c->graph) + 1;
  grouping g = {d, c, where, f, w, .group = weft__alloc(n * sizeof(int)), .first = weft__alloc(n * sizeof(int))};
  g.of_ids = weft__alloc(outputs * sizeof(int));
  g.refused = weft__alloc_zero(n, sizeof *g.refused);
  g.used = weft__alloc_zero(n, sizeof *g.used);
  *d = (distinct_rows){weft__alloc(n * sizeof(int)), weft__alloc(n * sizeof(int))};
  weft_err err = d->ids && d->lookup && g.group && g.first && g.of_ids && g.refused && g.used ? WEFT_OK : WEFT_OOM;
  if (!err) {
    set_none(d->ids, n), set_none(d->lookup, n), set_none(g.group, n), set_none(g.of_ids, outputs);
    number_outputs(&g);
    distinct_rows_decide(&g, order, n_order);
  }
  weft__free(g.group);
  weft__free(g.first);
  weft__free(g.of_ids);
  weft__free(g.refused);
  weft__free(g.used);
  return err;
}

void weft__distinct_rows_finish(distinct_rows *d) {
  weft__free(d->ids);
  weft__free(d->lookup);
}

weft_out weft__distinct_rows_input(const distinct_rows *d, const weft_node *n, int i) {
  bool takes = d->ids && i == 1 && d->lookup[n->id] == n->id && d->ids[n->id] != NONE;
  return takes ? (weft_out){d->ids[n->id], 0} : n->in[i];
}
