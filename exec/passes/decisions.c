/* decisions.c - walks from the conditions of loops and branches to the values outside of loops that they depend on. */
#include "exec/passes/decisions.h"

#include "base/alloc.h"
#include "base/array.h"
#include "exec/feeds.h"
#include "graph/fold.h"

enum { MAX_DECISIONS = 32, MAX_NODES = 512, MAX_DEPTH = 64 };

typedef struct argument { /* a feed, a value that follows from the graph's shapes, or output `slot` of a listed node */
  int feed, constant, from, slot; /* feed, constant: -1 if it is none */
} argument;

typedef struct step_node { /* a node that computes */
  const weft_node *node;
  argument in[FOLD_MAX_IN];
} step_node;

struct decisions {
  weft_out *out;
  argument *source; /* per decision */
  int n;
  step_node *node; /* inputs before readers */
  int n_node;
  weft_tensor **constant;
  int n_constant;
  int64_t room_constant, room_out, room_source, room_node;
};

typedef struct finder {
  decisions *d;
  const weft_graph *g;
  const frames *f;
  feeds feeds;
  int *place;    /* per node: 1 + its place in the list; 0: not seen; -1: it cannot be computed from feeds */
  bool *visited; /* per node: the walk from the conditions has been there */
  int *todo, n_todo;
  bool uses_feed;
} finder;

/* ---- what can be computed from feeds ---- */

static weft_err list_node(finder *w, const weft_node *n, int depth, bool *is);

/* *is: the graph's shapes say the value, although what computes it is no function of the feeds. */
static weft_err list_constant(finder *w, weft_out o, argument *out, bool *is) {
  decisions *d = w->d;
  const weft_dtype t = weft__out_type(w->g, o);
  weft_tensor *known = t == WEFT_INT32 || t == WEFT_INT64 ? weft__graph_constant(w->g, o) : NULL;
  *is = known;
  if (!known) return WEFT_OK;
  const weft_err err = WEFT_ARRAY_RESERVE(d->constant, d->room_constant, d->n_constant + 1);
  if (err) {
    weft_tensor_destroy(known);
    return err;
  }
  out->constant = d->n_constant;
  d->constant[d->n_constant++] = known;
  return WEFT_OK;
}

static weft_err list_argument(finder *w, weft_out o, int depth, argument *out, bool *is) {
  *out = (argument){.feed = weft__feeds_find(&w->feeds, o), .constant = -1, .slot = o.slot};
  *is = out->feed >= 0;
  if (*is) {
    w->uses_feed = true;
    return WEFT_OK;
  }
  WEFT_TRY(list_node(w, w->g->node[o.node], depth + 1, is));
  out->from = w->place[o.node] - 1;
  return *is ? WEFT_OK : list_constant(w, o, out, is);
}

/* *is: the node and all that it reads only compute, outside of loops, from feeds and constants.  They are then in the
 * list. */
static weft_err list_node(finder *w, const weft_node *n, int depth, bool *is) {
  const bool constant = weft__node_is(n, KIND_CONST);
  *is = w->place[n->id] > 0;
  if (w->place[n->id] != 0) return WEFT_OK;
  w->place[n->id] = -1;
  if (depth > MAX_DEPTH || w->d->n_node >= MAX_NODES || w->f->home[n->id] != 0) return WEFT_OK;
  if (!n->op || (!constant && (n->n_in == 0 || !weft__node_may_fold(w->g, n)))) return WEFT_OK;
  step_node made = {.node = n};
  for (int i = 0; i < n->n_in; i++) {
    bool computed;
    WEFT_TRY(list_argument(w, n->in[i], depth, &made.in[i], &computed));
    if (!computed) return WEFT_OK;
  }
  WEFT_TRY(WEFT_ARRAY_RESERVE(w->d->node, w->d->room_node, w->d->n_node + 1));
  w->d->node[w->d->n_node++] = made;
  w->place[n->id] = w->d->n_node;
  *is = true;
  return WEFT_OK;
}

/* ---- the walk from the conditions ---- */

static weft_err add_decision(finder *w, weft_out o) {
  decisions *d = w->d;
  const weft_dtype t = weft__out_type(w->g, o);
  argument source;
  bool is;
  if (t != WEFT_INT32 && t != WEFT_INT64 && t != WEFT_BOOL) return WEFT_OK;
  for (int i = 0; i < d->n; i++)
    if (d->out[i].node == o.node && d->out[i].slot == o.slot) return WEFT_OK;
  if (d->n >= MAX_DECISIONS) return WEFT_OK;
  WEFT_TRY(list_argument(w, o, 0, &source, &is));
  if (!is) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(d->out, d->room_out, d->n + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(d->source, d->room_source, d->n + 1));
  d->out[d->n] = o;
  d->source[d->n++] = source;
  return WEFT_OK;
}

static void walk_to(finder *w, int node) {
  if (w->visited[node]) return;
  w->visited[node] = true;
  w->todo[w->n_todo++] = node;
}

/* A value that decides: one outside of loops may be computed from feeds; for another, its node's inputs decide. */
static weft_err decides(finder *w, weft_out o) {
  if (w->f->home[o.node] == 0) return add_decision(w, o);
  walk_to(w, o.node);
  return WEFT_OK;
}

static weft_err walk(finder *w, const int *order, int n_order) {
  for (int i = 0; i < n_order; i++) {
    const weft_node *n = w->g->node[order[i]];
    if (weft__node_is(n, KIND_LOOP_COND)) walk_to(w, n->id);
    if (weft__node_is(n, KIND_SWITCH)) WEFT_TRY(decides(w, n->in[1]));
    if (weft__node_is(n, KIND_ARRAY)) WEFT_TRY(decides(w, n->in[0]));
  }
  while (w->n_todo) {
    const weft_node *n = w->g->node[w->todo[--w->n_todo]];
    for (int i = 0; i < n->n_in; i++) WEFT_TRY(decides(w, n->in[i]));
  }
  return WEFT_OK;
}

weft_err weft__decisions_find(decisions **out, const weft_graph *g, const plan_request *r, const frames *f,
                              const int *order, int n_order) {
  const size_t n = (size_t)g->n_node + 1;
  finder w = {.g = g, .f = f};
  *out = NULL;
  w.d = weft__alloc_zero(1, sizeof *w.d);
  w.place = weft__alloc_zero(n, sizeof *w.place);
  w.visited = weft__alloc_zero(n, sizeof *w.visited);
  w.todo = weft__alloc(n * sizeof *w.todo);
  weft_err err = w.d && w.place && w.visited && w.todo ? weft__feeds_init(&w.feeds, r->n_feed, r->feed) : WEFT_OOM;
  if (!err) err = walk(&w, order, n_order);
  weft__feeds_finish(&w.feeds);
  weft__free(w.place);
  weft__free(w.visited);
  weft__free(w.todo);
  if (err || !w.uses_feed || w.d->n == 0)
    weft__decisions_destroy(w.d);
  else
    *out = w.d;
  return err;
}

void weft__decisions_destroy(decisions *d) {
  if (!d) return;
  for (int i = 0; i < d->n_constant; i++) weft_tensor_destroy(d->constant[i]);
  weft__free(d->constant);
  weft__free(d->out);
  weft__free(d->source);
  weft__free(d->node);
  weft__free(d);
}

int weft__decisions_count(const decisions *d) { return d->n; }
weft_out weft__decisions_out(const decisions *d, int i) { return d->out[i]; }

/* ---- computing ---- */

typedef struct outputs {
  value out[FOLD_MAX_OUT];
} outputs;

static const weft_tensor *argument_value(const decisions *d, const argument *a, const outputs *made,
                                         const weft_tensor *const *feed) {
  if (a->constant >= 0) return d->constant[a->constant];
  return a->feed >= 0 ? feed[a->feed] : &made[a->from].out[a->slot].t;
}

static weft_err run_node(const decisions *d, int at, outputs *made, const weft_tensor *const *feed) {
  const step_node *s = &d->node[at];
  outputs *out = &made[at];
  const weft_tensor *in[FOLD_MAX_IN];
  for (int i = 0; i < s->node->n_in; i++) in[i] = argument_value(d, &s->in[i], made, feed);
  WEFT_TRY(weft__node_fold(s->node, in, out->out, 0));
  for (int o = 0; o < s->node->n_out; o++)
    if (!out->out[o].t.buf) return weft__fail(WEFT_INTERNAL, "'%s' has no value", s->node->name);
  return WEFT_OK;
}

weft_err weft__decisions_compute(const decisions *d, const weft_tensor *const *feed, int64_t *values) {
  outputs *made = weft__alloc_zero((size_t)d->n_node + 1, sizeof *made);
  weft_err err = made ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < d->n_node && !err; i++) err = run_node(d, i, made, feed);
  for (int i = 0; i < d->n && !err; i++) {
    const weft_tensor *t = argument_value(d, &d->source[i], made, feed);
    if (weft__tensor_count(t) != 1) err = weft__fail(WEFT_UNIMPLEMENTED, "a value that decides is no scalar");
    if (!err) values[i] = t->dtype == WEFT_BOOL ? TENSOR_DATA(t, bool)[0] : weft__tensor_int(t, 0);
  }
  for (int i = 0; i < d->n_node && made; i++)
    for (int o = 0; o < d->node[i].node->n_out && o < FOLD_MAX_OUT; o++) weft__tensor_clear(&made[i].out[o].t);
  weft__free(made);
  return err;
}
