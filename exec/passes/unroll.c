/* unroll.c - runs the dataflow of a request with symbols: which node runs in which iteration.
 *
 * This follows exec/executors/dataflow.h: a node runs once per iteration when its inputs have arrived, and dead values
 * propagate.  Each visit leads to nodes of the new graph (unroll_emit.c), to known values, or to nothing. */
#include "exec/passes/unroll.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/log.h"
#include "exec/passes/unroll_state.h"
#include "exec/variants.h"
#include "graph/graph.h"
#include "graph/library.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VISITS = 2000000 };

typedef struct node_at { /* a node in one iteration */
  int wait;              /* edges that have not arrived */
  int dead_inputs;       /* of a Merge */
  int winner;            /* of a Merge: 1 + the input that is alive */
  int after;             /* effects that its control edges carry */
  bool dead;
} node_at;

typedef struct iteration {
  struct activation *of;
  int number;
  symbol *value; /* of the nodes whose outputs are in this frame */
  node_at *node;
  struct activation *inner;
} iteration;

typedef struct activation { /* one run of a loop */
  int frame;
  iteration *outer;
  iteration **iteration;
  int n_iteration, n_constant;
  int64_t room;
  int *constant;                   /* the Enters marked constant that have arrived; their values are in iteration 0 */
  struct activation *next, *older; /* of the same outer iteration; of all */
} activation;

typedef struct visit {
  iteration *at;
  const weft_node *node;
} visit;

typedef struct visits { /* a queue */
  visit *list;
  int64_t head, tail, room;
} visits;

typedef struct edge {
  int to, input; /* input: -1 for a control edge */
} edge;

typedef struct runner { /* the dataflow */
  unroller u;
  int *own;               /* per node: the frame in whose iterations it runs */
  int *place;             /* per node: its number among those */
  int *first_value;       /* per node: its outputs among the values of its home */
  int *n_place, *n_value; /* per frame */
  int *first_edge;        /* per node: its edges are edge[first_edge[id]] up to first_edge[id + 1] */
  edge *edge;
  int *waits_for;        /* per node: how many edges it waits for */
  visits ready, updates; /* updates: nodes outside of loops that change variables, which come after all that is ready */
  iteration *root;
  activation *all;
  bool *is_free; /* per node: a constant that waits for nothing, which every iteration can read */
} runner;

weft_err weft__unroll_stuck(const char *fmt, ...) {
  char why[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(why, sizeof why, fmt, args);
  va_end(args);
  return weft__fail(WEFT_UNIMPLEMENTED, "%s", why);
}

/* ---- the graph ---- */

static void find_free(runner *w) {
  for (int i = 0; i < w->u.n_order; i++) {
    const weft_node *n = w->u.g->node[w->u.order[i]];
    if (!weft__node_is(n, KIND_CONST)) continue;
    weft__waits_of(&w->u.waits, n->id);
    w->is_free[n->id] = w->u.waits.n == 0;
  }
}

static bool is_constant_enter(const weft_node *n) {
  return weft__node_is(n, KIND_ENTER) && weft__node_bool(n, "is_constant", false);
}

static int own_frame(const runner *w, const weft_node *n) {
  const frames *f = &w->u.frames;
  if (weft__node_is(n, KIND_ENTER)) return f->frame[f->home[n->id]].parent;
  return weft__node_is(n, KIND_EXIT) ? f->home[n->in[0].node] : f->home[n->id];
}

static weft_err number_nodes(runner *w) {
  const unroller *u = &w->u;
  arena *a = &w->u.arena;
  const size_t n = (size_t)u->g->n_node + 2, n_frame = (size_t)u->frames.n_frame + 1;
  w->own = weft__arena_alloc(a, sizeof(int) * n);
  w->place = weft__arena_alloc(a, sizeof(int) * n);
  w->first_value = weft__arena_alloc(a, sizeof(int) * n);
  w->first_edge = weft__arena_alloc(a, sizeof(int) * n);
  w->waits_for = weft__arena_alloc(a, sizeof(int) * n);
  w->n_place = weft__arena_alloc(a, sizeof(int) * n_frame);
  w->n_value = weft__arena_alloc(a, sizeof(int) * n_frame);
  if (!w->own || !w->place || !w->first_value || !w->first_edge || !w->waits_for || !w->n_place || !w->n_value)
    return WEFT_OOM;
  for (int i = 0; i < u->n_order; i++) {
    const weft_node *node = u->g->node[u->order[i]];
    const int home = u->frames.home[node->id];
    w->own[node->id] = own_frame(w, node);
    w->place[node->id] = w->n_place[w->own[node->id]]++;
    w->first_value[node->id] = w->n_value[home];
    w->n_value[home] += node->n_out;
  }
  return WEFT_OK;
}

/* Calls for each edge into node n; with `edges`, stores it, else counts it at its source. */
static weft_err edges_into(runner *w, const weft_node *n, edge *edges, int *at) {
  const unroller *u = &w->u;
  const bool merge = weft__node_is(n, KIND_MERGE);
  int count = 0;
  for (int i = 0; i < n->n_in; i++) {
    const int from = n->in[i].node;
    if (weft__feeds_find(&u->feeds, n->in[i]) >= 0 || w->is_free[from]) continue;
    if (u->frames.home[from] != w->own[n->id])
      return weft__unroll_stuck("'%s' and its input '%s' are in different frames", n->name, u->g->node[from]->name);
    if (edges) edges[at[from]] = (edge){n->id, i};
    at[from]++;
    count += !merge;
  }
  weft__waits_of(&w->u.waits, n->id);
  for (int i = 0; i < u->waits.n; i++) {
    const int from = u->waits.from[i];
    if (w->is_free[from]) continue;
    if (u->frames.home[from] != w->own[n->id])
      return weft__unroll_stuck("'%s' waits for '%s' in a different frame", n->name, u->g->node[from]->name);
    if (edges) edges[at[from]] = (edge){n->id, -1};
    at[from]++;
    count++;
  }
  w->waits_for[n->id] = count + merge;
  return WEFT_OK;
}

static weft_err list_edges(runner *w) {
  const unroller *u = &w->u;
  int *at = weft__arena_alloc(&w->u.arena, sizeof *at * ((size_t)u->g->n_node + 2));
  if (!at) return WEFT_OOM;
  for (int i = 0; i < u->n_order; i++) WEFT_TRY(edges_into(w, u->g->node[u->order[i]], NULL, at));
  int total = 0;
  for (int i = 0; i <= u->g->n_node; i++) {
    w->first_edge[i] = total;
    total += at[i];
    at[i] = w->first_edge[i];
  }
  w->edge = weft__arena_alloc(&w->u.arena, sizeof *w->edge * ((size_t)total + 1));
  if (!w->edge) return WEFT_OOM;
  for (int i = 0; i < u->n_order; i++) WEFT_TRY(edges_into(w, u->g->node[u->order[i]], w->edge, at));
  return WEFT_OK;
}

/* ---- iterations ---- */

static weft_err runner_enqueue(runner *w, iteration *at, int id) {
  const weft_node *n = w->u.g->node[id];
  bool updates = false;
  for (int i = 0; i < n->n_in && w->own[id] == 0; i++) updates = updates || weft__node_takes_ref(n, i);
  visits *q = updates ? &w->updates : &w->ready;
  if (q->tail >= MAX_VISITS) return weft__unroll_stuck("its iterations run more than %d nodes", MAX_VISITS);
  WEFT_TRY(WEFT_ARRAY_RESERVE(q->list, q->room, q->tail + 1));
  q->list[q->tail++] = (visit){at, n};
  return WEFT_OK;
}

static weft_err edge_arrive(runner *w, iteration *at, const edge *e, bool dead, int after) {
  const weft_node *n = w->u.g->node[e->to];
  node_at *s = &at->node[w->place[e->to]];
  if (e->input >= 0 && weft__node_is(n, KIND_MERGE)) {
    if (dead ? ++s->dead_inputs < n->n_in : s->winner != 0) return WEFT_OK;
    if (!dead) s->winner = e->input + 1;
  }
  if (e->input < 0) WEFT_TRY(weft__unroll_union(&w->u, s->after, after, &s->after));
  s->dead = s->dead || (dead && !weft__node_is(n, KIND_CONTROL_TRIGGER));
  return --s->wait == 0 ? runner_enqueue(w, at, e->to) : WEFT_OK;
}

/* Stores the outputs of a node in an iteration and lets its edges arrive there. */
static weft_err runner_deliver(runner *w, iteration *at, const weft_node *n, const symbol *out, bool dead, int done) {
  symbol *to = &at->value[w->first_value[n->id]];
  for (int o = 0; o < n->n_out; o++) {
    to[o] = out[o];
    to[o].there = true;
  }
  for (int i = w->first_edge[n->id]; i < w->first_edge[n->id + 1]; i++) {
    const edge *e = &w->edge[i];
    const bool gone = e->input >= 0 ? out[w->u.g->node[e->to]->in[e->input].slot].dead : dead;
    WEFT_TRY(edge_arrive(w, at, e, gone, done));
  }
  return WEFT_OK;
}

static weft_err iteration_create(runner *w, activation *of, iteration **out) {
  arena *a = &w->u.arena;
  iteration *it = weft__arena_alloc(a, sizeof *it);
  WEFT_TRY(WEFT_ARRAY_RESERVE(of->iteration, of->room, of->n_iteration + 1));
  if (!it) return WEFT_OOM;
  it->of = of;
  it->number = of->n_iteration;
  it->value = weft__arena_alloc(a, sizeof *it->value * ((size_t)w->n_value[of->frame] + 1));
  it->node = weft__arena_alloc(a, sizeof *it->node * ((size_t)w->n_place[of->frame] + 1));
  if (!it->value || !it->node) return WEFT_OOM;
  for (int i = 0; i < w->u.n_order; i++) {
    const int id = w->u.order[i];
    if (w->own[id] == of->frame) it->node[w->place[id]].wait = w->waits_for[id];
  }
  of->iteration[of->n_iteration++] = it;
  for (int i = 0; it->number && i < of->n_constant; i++) {
    const int id = of->constant[i];
    const symbol *s = &of->iteration[0]->value[w->first_value[id]];
    WEFT_TRY(runner_deliver(w, it, w->u.g->node[id], s, false, s->after));
  }
  *out = it;
  return WEFT_OK;
}

static weft_err activation_find(runner *w, iteration *outer, int number, activation **out) {
  activation *a = outer ? outer->inner : NULL;
  while (a && a->frame != number) a = a->next;
  *out = a;
  if (a) return WEFT_OK;
  a = weft__arena_alloc(&w->u.arena, sizeof *a);
  const size_t n = (size_t)w->u.frames.frame[number].n_enter + 1;
  int *constant = weft__arena_alloc(&w->u.arena, sizeof *constant * n);
  if (!a || !constant) return WEFT_OOM;
  *a = (activation){.frame = number, .outer = outer, .constant = constant, .older = w->all};
  w->all = a;
  if (outer) a->next = outer->inner;
  if (outer) outer->inner = a;
  *out = a;
  iteration *first;
  return iteration_create(w, a, &first);
}

/* ---- visits ---- */

static weft_err input_symbol(runner *w, const iteration *at, const weft_node *n, int i, symbol *out) {
  const int feed = weft__feeds_find(&w->u.feeds, n->in[i]);
  const weft_node *from = w->u.g->node[n->in[i].node];
  if (feed >= 0)
    *out = w->u.fed[feed];
  else if (w->is_free[from->id])
    return weft__unroll_node(&w->u, from, NULL, 0, out, &(int){0});
  else
    *out = at->value[w->first_value[from->id] + n->in[i].slot];
  return WEFT_OK;
}

/* Sets the value of an output outside of loops if the plan may take it for granted. */
static weft_err assume_value(runner *w, weft_out o, symbol *s) {
  const assumptions *a = w->u.where->assumed;
  for (int i = 0; a && a->of && i < weft__decisions_count(a->of) && !s->known; i++) {
    const weft_out of = weft__decisions_out(a->of, i);
    weft_tensor *t;
    if (of.node != o.node || of.slot != o.slot) continue;
    WEFT_TRY(weft__tensor_scalar(&t, weft__out_type(w->u.g, o), (double)a->value[i]));
    const weft_err err = weft__unroll_keep(&w->u, t, &s->known);
    weft_tensor_destroy(t);
    return err;
  }
  return WEFT_OK;
}

static weft_err visit_enter(runner *w, iteration *at, const weft_node *n, symbol s) {
  activation *a;
  WEFT_TRY(activation_find(w, at, w->u.frames.home[n->id], &a));
  if (s.variable >= 0 && (int)n->out_type[0] < WEFT_REF_BASE && s.version == 0)
    s.version = w->u.use[s.variable].version + 1;
  const bool constant = is_constant_enter(n);
  const int so_far = a->n_iteration;
  if (constant) a->constant[a->n_constant++] = n->id;
  for (int i = 0; i < (constant ? so_far : 1); i++) WEFT_TRY(runner_deliver(w, a->iteration[i], n, &s, false, s.after));
  return WEFT_OK;
}

static weft_err visit_next(runner *w, const iteration *at, const weft_node *n, const symbol *s) {
  iteration *next;
  if (at->number + 1 < at->of->n_iteration)
    next = at->of->iteration[at->number + 1];
  else
    WEFT_TRY(iteration_create(w, at->of, &next));
  return runner_deliver(w, next, n, s, false, s->after);
}

static weft_err visit_switch(const weft_node *n, const symbol *in, symbol *out) {
  if (!in[1].known)
    return weft__unroll_stuck("the condition '%s' depends on data", n->graph->node[n->in[1].node]->name);
  const bool taken = TENSOR_DATA(in[1].known, bool)[0];
  out[0] = out[1] = in[0];
  out[!taken].dead = true;
  return WEFT_OK;
}

static weft_err visit_merge(runner *w, const node_at *s, const symbol *in, symbol *out) {
  weft_tensor *index;
  out[0] = in[s->winner - 1];
  out[1] = (symbol){.out = WEFT_NONE, .variable = -1};
  WEFT_TRY(weft__tensor_scalar(&index, WEFT_INT32, s->winner - 1));
  const weft_err err = weft__unroll_keep(&w->u, index, &out[1].known);
  weft_tensor_destroy(index);
  return err;
}

/* A live node.  out has room for its outputs, which are delivered where they belong. */
static weft_err visit_live(runner *w, iteration *at, const weft_node *n, symbol *in, symbol *out) {
  const node_at *s = &at->node[w->place[n->id]];
  const bool merge = weft__node_is(n, KIND_MERGE);
  int after = s->after, done;
  for (int i = 0; i < n->n_in; i++) {
    if (merge && i != s->winner - 1) continue;
    WEFT_TRY(input_symbol(w, at, n, i, &in[i]));
    WEFT_TRY(weft__unroll_union(&w->u, after, in[i].after, &after));
  }
  done = after;
  if (n->n_in) in[merge ? s->winner - 1 : 0].after = after;
  switch (n->op->kind) {
  case KIND_ENTER: return visit_enter(w, at, n, in[0]);
  case KIND_EXIT: return runner_deliver(w, at->of->outer, n, in, false, after);
  case KIND_NEXT_ITERATION: return visit_next(w, at, n, in);
  case KIND_LOOP_COND: out[0] = in[0]; break;
  case KIND_MERGE: WEFT_TRY(visit_merge(w, s, in, out)); break;
  case KIND_SWITCH: WEFT_TRY(visit_switch(n, in, out)); break;
  default:
    if (n->op->flags & OP_CONTROL_FLOW && !weft__node_is(n, KIND_CONTROL_TRIGGER))
      return weft__unroll_stuck("'%s' is a %s", n->name, n->op_name);
    WEFT_TRY(weft__unroll_node(&w->u, n, in, after, out, &done));
    for (int o = 0; o < n->n_out && at == w->root; o++)
      WEFT_TRY(assume_value(w, (weft_out){n->id, (uint16_t)o, 0}, &out[o]));
  }
  for (int o = 0; o < n->n_out; o++) WEFT_TRY(weft__unroll_union(&w->u, out[o].after, done, &out[o].after));
  return runner_deliver(w, at, n, out, false, done);
}

static weft_err visit_node(runner *w, iteration *at, const weft_node *n) {
  const bool dead = at->node[w->place[n->id]].dead;
  symbol *in = weft__alloc_zero((size_t)n->n_in + (size_t)n->n_out + 2, sizeof *in);
  if (!in) return WEFT_OOM;
  symbol *out = in + n->n_in;
  weft_err err = WEFT_OK;
  if (!dead)
    err = visit_live(w, at, n, in, out);
  else if (!weft__node_is(n, KIND_ENTER) && !weft__node_is(n, KIND_EXIT) && !weft__node_is(n, KIND_NEXT_ITERATION)) {
    for (int o = 0; o < n->n_out; o++) out[o] = (symbol){.out = WEFT_NONE, .variable = -1, .dead = true};
    err = runner_deliver(w, at, n, out, true, 0);
  }
  weft__free(in);
  return err;
}

static bool next_visit(runner *w, visit *out) {
  visits *q = w->ready.head < w->ready.tail ? &w->ready : &w->updates;
  if (q->head == q->tail) return false;
  *out = q->list[q->head++];
  return true;
}

/* A node outside of loops that was never reached would be missing from the plan. */
static weft_err check_all_ran(const runner *w) {
  for (int i = 0; i < w->u.n_order; i++) {
    const int id = w->u.order[i];
    if (w->own[id] == 0 && !w->is_free[id] && w->root->node[w->place[id]].wait > 0)
      return weft__unroll_stuck("'%s' waits for %d inputs that do not come", w->u.g->node[id]->name,
                                w->root->node[w->place[id]].wait);
  }
  return WEFT_OK;
}

static weft_err run_dataflow(runner *w) {
  activation *root;
  WEFT_TRY(activation_find(w, NULL, 0, &root));
  w->root = root->iteration[0];
  for (int i = 0; i < w->u.n_order; i++) {
    const int id = w->u.order[i];
    if (w->own[id] == 0 && w->waits_for[id] == 0 && !w->is_free[id]) WEFT_TRY(runner_enqueue(w, w->root, id));
  }
  for (visit v; next_visit(w, &v);) WEFT_TRY(visit_node(w, v.at, v.node));
  return check_all_ran(w);
}

/* ---- the request ---- */

static weft_err make_feeds(runner *w) {
  unroller *u = &w->u;
  u->fed = weft__arena_alloc(&u->arena, sizeof *u->fed * ((size_t)u->r->n_feed + 1));
  if (!u->fed) return WEFT_OOM;
  for (int i = 0; i < u->r->n_feed; i++) {
    const weft_out o = u->r->feed[i];
    const weft_node *n = u->g->node[o.node];
    if (u->ordered[o.node] || u->feeds.twice >= 0) return weft__unroll_stuck("'%s' is fed and also runs", n->name);
    shape s = u->where->assumed ? u->where->assumed->feed_shape[i] : n->out_shape[o.slot];
    const attr attrs[] = {A_TYPE("dtype", weft__out_type(u->g, o)), A_SHAPE("shape", &s)};
    weft_node *made;
    WEFT_TRY(weft__unroll_helper(u, n, "Placeholder", 0, NULL, 2, attrs, &made));
    u->fed[i] = (symbol){.out = {made->id, 0, 0}, .variable = -1};
    WEFT_TRY(assume_value(w, o, &u->fed[i]));
  }
  return WEFT_OK;
}

static weft_err make_fetch(runner *w, weft_out o, weft_out *out) {
  const int feed = weft__feeds_find(&w->u.feeds, o);
  const weft_node *n = w->u.g->node[o.node];
  symbol s;
  if (feed >= 0)
    s = w->u.fed[feed];
  else if (w->is_free[n->id])
    WEFT_TRY(weft__unroll_node(&w->u, n, NULL, 0, &s, &(int){0}));
  else
    s = w->root->value[w->first_value[o.node] + o.slot];
  if (s.dead || (feed < 0 && !w->is_free[n->id] && !s.there)) return weft__unroll_stuck("'%s' has no value", n->name);
  WEFT_TRY(weft__unroll_materialize(&w->u, &s, w->u.where->of_node[o.node]));
  *out = s.out;
  return WEFT_OK;
}

static weft_err make_request(runner *w) {
  const unroller *u = &w->u;
  plan_request *q = &u->made->request;
  arena *a = &u->made->arena;
  weft_out *feed = weft__arena_alloc(a, sizeof *feed * ((size_t)u->r->n_feed + 1));
  weft_out *fetch = weft__arena_alloc(a, sizeof *fetch * ((size_t)u->r->n_fetch + 1));
  int *target = weft__arena_copy(a, u->effect, sizeof *target * (size_t)u->n_effect);
  if (!feed || !fetch || !target) return WEFT_OOM;
  for (int i = 0; i < u->r->n_feed; i++) feed[i] = u->fed[i].out;
  for (int i = 0; i < u->r->n_fetch; i++) WEFT_TRY(make_fetch(w, u->r->fetch[i], &fetch[i]));
  if (u->r->n_fetch + u->n_effect == 0) return weft__unroll_stuck("nothing is fetched, and nothing acts");
  *q = (plan_request){.n_feed = u->r->n_feed,
                      .n_fetch = u->r->n_fetch,
                      .n_target = u->n_effect,
                      .feed = feed,
                      .fetch = fetch,
                      .target = target};
  return WEFT_OK;
}

/* ---- the pass ---- */

/* Returns true if unrolling is of use: a loop has a node on a GPU, or the request has branches and a node on a GPU. */
static bool control_flow_on_gpu(const unroller *u) {
  bool branches = false, gpu = false;
  for (int i = 0; i < u->n_order; i++) {
    const weft_node *n = u->g->node[u->order[i]];
    if (!n->op) return false; /* the plan will report the unknown op */
    const bool here = !weft__device_is_host(u->where->device[u->where->of_node[n->id]]);
    if (here && u->frames.home[n->id]) return true;
    gpu = gpu || here;
    branches = branches || weft__node_is(n, KIND_SWITCH);
  }
  return branches && gpu;
}

static bool has_control_flow(const unroller *u) {
  for (int i = 0; i < u->n_order; i++) {
    const weft_node *n = u->g->node[u->order[i]];
    if (weft__node_is(n, KIND_ENTER) || weft__node_is(n, KIND_SWITCH)) return true;
  }
  return false;
}

static weft_err unroll_prepare(runner *w) {
  unroller *u = &w->u;
  const size_t n = (size_t)u->g->n_node + 1;
  u->ordered = weft__arena_alloc(&u->arena, n);
  u->use = weft__arena_alloc(&u->arena, sizeof *u->use * n);
  w->is_free = weft__arena_alloc(&u->arena, n);
  u->copies = weft__arena_alloc(&u->arena, sizeof(int) * n);
  u->last_copy = weft__arena_alloc(&u->arena, sizeof(int) * n);
  u->made = weft__alloc_zero(1, sizeof *u->made);
  if (!w->is_free || !u->ordered || !u->use || !u->copies || !u->last_copy || !u->made) return WEFT_OOM;
  for (int i = 0; i < u->n_order; i++) u->ordered[u->order[i]] = true;
  for (int i = 0; i < u->g->n_node; i++) u->last_copy[i] = -1;
  WEFT_TRY(WEFT_ARRAY_RESERVE(u->set, u->room_set, 16));
  u->set[u->n_set++] = (effects){NULL, 0};
  WEFT_TRY(weft__graph_create(&u->made->graph, u->g->ops));
  WEFT_TRY(weft__library_share(u->made->graph, u->g));
  WEFT_TRY(weft__waits_init(&u->waits, u->g, u->order, u->n_order));
  find_free(w);
  return WEFT_OK;
}

static weft_err unroll_run(runner *w) {
  WEFT_TRY(unroll_prepare(w));
  WEFT_TRY(make_feeds(w));
  WEFT_TRY(number_nodes(w));
  WEFT_TRY(list_edges(w));
  WEFT_TRY(run_dataflow(w));
  WEFT_TRY(make_request(w));
  return weft__unroll_sums(&w->u);
}

static void runner_finish(runner *w) {
  unroller *u = &w->u;
  for (int i = 0; i < u->n_known; i++) weft_tensor_destroy(u->known[i]);
  for (step_store *s = u->stores; s; s = s->next) {
    weft__free(s->element);
    weft__free(s->written);
    weft__free(s->taken);
  }
  for (int i = 0; u->use && i < u->g->n_node; i++) weft__free(u->use[i].reader);
  for (activation *a = w->all; a; a = a->older) weft__free(a->iteration);
  weft__waits_finish(&u->waits);
  weft__feeds_finish(&u->feeds);
  weft__free(u->known);
  weft__free(u->set);
  weft__free(u->constant);
  weft__free(u->effect);
  weft__free(u->order);
  weft__free(w->ready.list);
  weft__free(w->updates.list);
  weft__arena_finish(&u->arena);
}

/* The request keeps its control flow.  Finds what feeds decide, or says why. */
static weft_err keep_control_flow(const unroller *u, decisions **on_feeds) {
  static atomic_bool said; /* a program that has one such request often has many */
  char why[512];
  snprintf(why, sizeof why, "%s", weft__error_message());
  if (on_feeds && !u->where->assumed)
    WEFT_TRY(weft__decisions_find(on_feeds, u->g, u->r, &u->frames, u->order, u->n_order));
  if (has_control_flow(u) && !u->where->host_only && (!on_feeds || !*on_feeds) && !atomic_exchange(&said, true))
    weft__log(LOG_INFO, "the loops of a step on a GPU run iteration by iteration, for they cannot be unrolled: %s",
              why);
  return WEFT_OK;
}

weft_err weft__unroll(unrolled_graph **out, weft_graph *g, const plan_request *r, const plan_devices *where,
                      decisions **on_feeds) {
  runner w = {.u = {.g = g, .r = r, .where = where}};
  unroller *u = &w.u;
  *out = NULL;
  if (on_feeds) *on_feeds = NULL;
  if (getenv("WEFT_GPU_NO_REPLAY")) return WEFT_OK;
  weft_err err = weft__order(g, r, &u->order, &u->n_order);
  const bool flow = !err && has_control_flow(u), host = where->host_only;
  const bool wanted = !err && (!host || where->assumed || flow);
  bool pads = false;
  u->most = flow && host ? UNROLL_MAX_HOST_NODES : UNROLL_MAX_NODES;
  if (wanted) err = weft__feeds_init(&u->feeds, r->n_feed, r->feed);
  if (wanted && !err) err = weft__frames_find(&u->frames, g, false, &u->arena);
  if (wanted && !err && !host) err = weft__unroll_distinct(u, &pads);
  if (wanted && !err && host && !where->assumed) {
    if (on_feeds) err = weft__decisions_find(on_feeds, g, r, &u->frames, u->order, u->n_order);
  } else if (wanted && !err && (where->assumed || pads || (flow && control_flow_on_gpu(u)))) {
    err = unroll_run(&w);
    if (!err) {
      *out = u->made;
    } else {
      if (err != WEFT_OOM && flow && keep_control_flow(u, on_feeds) == WEFT_OOM) err = WEFT_OOM;
      weft__unrolled_graph_destroy(u->made);
    }
  }
  runner_finish(&w);
  return err == WEFT_OOM ? err : WEFT_OK; /* the plan reports what is wrong with the graph */
}

void weft__unrolled_graph_destroy(unrolled_graph *m) {
  if (!m) return;
  weft__graph_destroy(m->graph);
  weft__arena_finish(&m->arena);
  weft__free(m->of_node);
  weft__free(m->first_copy);
  weft__free(m->padded);
  weft__free(m);
}
