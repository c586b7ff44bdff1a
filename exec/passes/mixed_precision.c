/* mixed_precision.c - copies what a request needs into a graph of its own, with half nodes and casts.
 *
 * The original stays as it is: other requests of the session, and the program, see its types.  Shapes are taken from
 * the original, since the rewrite changes none; so a loop's Merge can be added before the node that its back edge comes
 * from. */
#include "exec/passes/mixed_precision.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/feeds.h"
#include "exec/passes/order.h"
#include "graph/graph.h"
#include "graph/library.h"
#include <stdio.h>
#include <string.h>

typedef struct cast_made { /* a cast of an output to the other type, on one device */
  int slot, place;
  int node; /* in the copy */
  struct cast_made *next;
} cast_made;

typedef struct copier {
  weft_graph *g;
  const plan_request *r;
  const plan_devices *where;
  mixed_graph *m;
  feeds feeds;
  waits waits;
  int *order, n_order;
  bool *half;        /* per node of g */
  int *to;           /* per node of g: its id in the copy; -1: none yet */
  int *fed;          /* per feed: the node of the copy that stands for it, if to has none */
  cast_made **casts; /* per node of g */
} copier;

/* ---- nodes ---- */

/* Adds a node to the copy and notes its device; the arrays have room for it. */
static weft_err copy_add(copier *c, const node_spec *spec, int place, weft_node **out) {
  WEFT_TRY(weft__graph_add(c->m->graph, spec, out));
  c->m->of_node[(*out)->id] = place;
  return WEFT_OK;
}

static weft_err copy_cast(copier *c, weft_out old, int place, weft_dtype want, weft_out *io) {
  for (cast_made *k = c->casts[old.node]; k; k = k->next)
    if (k->slot == old.slot && k->place == place) {
      *io = (weft_out){k->node, 0, 0};
      return WEFT_OK;
    }
  int same = 0;
  for (cast_made *k = c->casts[old.node]; k; k = k->next) same += k->slot == old.slot;
  const weft_node *from = c->g->node[old.node];
  cast_made *k = weft__arena_alloc(&c->m->arena, sizeof *k);
  const size_t room = strlen(from->name) + 64;
  char *name = weft__arena_alloc(&c->m->arena, room);
  if (!k || !name) return WEFT_OOM;
  snprintf(name, room, "%s-%d-CastTo%s-%d-AutoMixedPrecision", from->name, old.slot,
           want == WEFT_HALF ? "Fp16" : "Fp32", same);
  const attr types[] = {A_TYPE("SrcT", want == WEFT_HALF ? WEFT_FLOAT : WEFT_HALF), A_TYPE("DstT", want)};
  weft_node *made;
  WEFT_TRY(copy_add(c,
                    &(node_spec){.op = "Cast",
                                 .name = name,
                                 .device = from->device,
                                 .exact = true,
                                 .n_in = 1,
                                 .in = io,
                                 .n_attr = 2,
                                 .attr = types},
                    place, &made));
  made->out_shape[0] = from->out_shape[old.slot];
  *k = (cast_made){old.slot, place, made->id, c->casts[old.node]};
  c->casts[old.node] = k;
  *io = (weft_out){made->id, 0, 0};
  return WEFT_OK;
}

/* Returns the output of the copy that has the value of `old`; WEFT_NONE if its node is not there yet. */
static weft_out copy_source(const copier *c, weft_out old) {
  if (c->to[old.node] >= 0) return (weft_out){c->to[old.node], old.slot, 0};
  const int feed = weft__feeds_find(&c->feeds, old);
  return feed >= 0 && c->fed[feed] >= 0 ? (weft_out){c->fed[feed], 0, 0} : WEFT_NONE;
}

/* Returns true if input i of the node becomes half. */
static bool wants_half(const weft_node *n, int i) {
  const opdef *d = &n->op->opdef;
  for (int a = 0; a < d->n_in; a++) {
    int first, count;
    if (weft__node_in_range(n, d->in[a].name, &first, &count) || i < first || i >= first + count) continue;
    const attr *type = d->in[a].type_attr ? weft__node_attr(n, d->in[a].type_attr) : NULL;
    return type && weft__mixed_changes(n, type);
  }
  return false;
}

static weft_err copy_input(copier *c, const weft_node *n, int i, weft_out *in) {
  *in = copy_source(c, n->in[i]);
  if (in->node < 0) return WEFT_OK; /* a back edge, which is closed at the end */
  const weft_dtype have = weft__out_type(c->m->graph, *in), was = weft__out_type(c->g, n->in[i]);
  const weft_dtype want = c->half[n->id] && wants_half(n, i) ? WEFT_HALF : was;
  if (have == want) return WEFT_OK;
  const int place = c->where->of_node[want == WEFT_HALF ? n->id : n->in[i].node];
  return copy_cast(c, n->in[i], place, want, in);
}

static int mixed_precision_copy_attrs(const copier *c, const weft_node *n, attr *to) {
  int count = 0;
  for (int i = 0; i < n->n_attr; i++) {
    if (strcmp(n->attr[i].name, "_class") == 0) continue; /* every node has its device by now */
    to[count] = n->attr[i];
    if (c->half[n->id] && weft__mixed_changes(n, &n->attr[i])) to[count].type = WEFT_HALF;
    count++;
  }
  return count;
}

static weft_err mixed_precision_copy_node(copier *c, const weft_node *n) {
  weft_out *in = weft__arena_alloc(&c->m->arena, sizeof *in * ((size_t)n->n_in + 1));
  attr *attrs = weft__arena_alloc(&c->m->arena, sizeof *attrs * ((size_t)n->n_attr + 1));
  if (!in || !attrs) return WEFT_OOM;
  node_spec spec = {
      .op = n->op_name, .name = n->name, .device = n->device, .exact = true, .n_in = n->n_in, .in = in, .attr = attrs};
  for (int i = 0; i < n->n_in; i++) WEFT_TRY(copy_input(c, n, i, &in[i]));
  for (int i = 0; i < n->n_in; i++)
    if (in[i].node < 0) in[i] = in[0];
  spec.n_attr = mixed_precision_copy_attrs(c, n, attrs);
  weft__waits_of(&c->waits, n->id);
  int *control = weft__arena_alloc(&c->m->arena, sizeof *control * ((size_t)c->waits.n + 1));
  if (!control) return WEFT_OOM;
  for (int i = 0; i < c->waits.n; i++)
    if (c->to[c->waits.from[i]] >= 0) control[spec.n_control++] = c->to[c->waits.from[i]];
  spec.control = control;
  weft_node *made;
  WEFT_TRY(copy_add(c, &spec, c->where->of_node[n->id], &made));
  WEFT_ASSERT(made->n_out == n->n_out);
  for (int i = 0; i < n->n_out; i++) made->out_shape[i] = n->out_shape[i];
  c->to[n->id] = made->id;
  return WEFT_OK;
}

/* ---- the request ---- */

/* Adds a placeholder for each fed output whose node the request does not need otherwise. */
static weft_err copy_feeds(copier *c, const bool *ordered) {
  for (int i = 0; i < c->r->n_feed; i++) {
    const weft_out o = c->r->feed[i];
    const weft_node *n = c->g->node[o.node];
    c->fed[i] = -1;
    if (ordered[o.node] || weft__feeds_find(&c->feeds, o) != i) continue; /* fed twice: the plan reports it */
    const size_t room = strlen(n->name) + 24;
    char *name = weft__arena_alloc(&c->m->arena, room);
    if (!name) return WEFT_OOM;
    snprintf(name, room, o.slot ? "%s-%d-Feed" : "%s", n->name, o.slot);
    attr attrs[] = {A_TYPE("dtype", weft__out_type(c->g, o)), A_SHAPE("shape", &n->out_shape[o.slot])};
    weft_node *made;
    WEFT_TRY(copy_add(
        c,
        &(node_spec){.op = "Placeholder", .name = name, .device = n->device, .exact = true, .n_attr = 2, .attr = attrs},
        c->where->of_node[o.node], &made));
    made->out_shape[0] = n->out_shape[o.slot];
    c->fed[i] = made->id;
  }
  return WEFT_OK;
}

static weft_err close_loops(copier *c) {
  for (int i = 0; i < c->n_order; i++) {
    const weft_node *n = c->g->node[c->order[i]];
    for (int j = 0; j < n->n_in && weft__node_is(n, KIND_MERGE); j++)
      if (weft__node_is(c->g->node[n->in[j].node], KIND_NEXT_ITERATION))
        WEFT_TRY(weft__graph_set_input(c->m->graph, c->m->graph->node[c->to[n->id]], j, copy_source(c, n->in[j])));
  }
  return WEFT_OK;
}

static weft_err copy_request(copier *c) {
  plan_request *q = &c->m->request;
  arena *a = &c->m->arena;
  weft_out *feed = weft__arena_alloc(a, sizeof *feed * ((size_t)c->r->n_feed + 1));
  weft_out *fetch = weft__arena_alloc(a, sizeof *fetch * ((size_t)c->r->n_fetch + 1));
  int *target = weft__arena_alloc(a, sizeof *target * ((size_t)c->r->n_target + 1));
  if (!feed || !fetch || !target) return WEFT_OOM;
  for (int i = 0; i < c->r->n_feed; i++) feed[i] = copy_source(c, c->r->feed[i]);
  for (int i = 0; i < c->r->n_fetch; i++) fetch[i] = copy_source(c, c->r->fetch[i]);
  *q = (plan_request){.n_feed = c->r->n_feed, .n_fetch = c->r->n_fetch, .feed = feed, .fetch = fetch, .target = target};
  for (int i = 0; i < c->r->n_target; i++)
    if (c->to[c->r->target[i]] >= 0) target[q->n_target++] = c->to[c->r->target[i]];
  return WEFT_OK;
}

static weft_err copy_all(copier *c) {
  arena *a = &c->m->arena;
  size_t room = (size_t)c->n_order + (size_t)c->r->n_feed + 1;
  bool *ordered = weft__arena_alloc(a, (size_t)c->g->n_node + 1);
  for (int i = 0; i < c->n_order; i++) room += (size_t)c->g->node[c->order[i]]->n_in;
  c->m->of_node = weft__arena_alloc(a, room * sizeof(int));
  c->to = weft__arena_alloc(a, sizeof(int) * ((size_t)c->g->n_node + 1));
  c->fed = weft__arena_alloc(a, sizeof(int) * ((size_t)c->r->n_feed + 1));
  c->casts = weft__arena_alloc(a, sizeof *c->casts * ((size_t)c->g->n_node + 1));
  if (!ordered || !c->m->of_node || !c->to || !c->fed || !c->casts) return WEFT_OOM;
  for (int i = 0; i < c->g->n_node; i++) c->to[i] = -1;
  for (int i = 0; i < c->n_order; i++) ordered[c->order[i]] = true;
  WEFT_TRY(weft__graph_create(&c->m->graph, c->g->ops));
  WEFT_TRY(weft__library_share(c->m->graph, c->g));
  WEFT_TRY(weft__feeds_init(&c->feeds, c->r->n_feed, c->r->feed));
  WEFT_TRY(weft__waits_init(&c->waits, c->g, c->order, c->n_order));
  WEFT_TRY(copy_feeds(c, ordered));
  for (int i = 0; i < c->n_order; i++) WEFT_TRY(mixed_precision_copy_node(c, c->g->node[c->order[i]]));
  WEFT_TRY(close_loops(c));
  return copy_request(c);
}

static bool needs_copy(const copier *c) {
  bool any = false;
  for (int i = 0; i < c->n_order; i++) {
    if (!c->g->node[c->order[i]]->op) return false; /* the plan will report the unknown op */
    any = any || c->half[c->order[i]];
  }
  return any;
}

weft_err weft__mixed_precision(mixed_graph **out, weft_graph *g, const plan_request *r, const plan_devices *where) {
  copier c = {.g = g, .r = r, .where = where};
  *out = NULL;
  weft_err err = weft__order(g, r, &c.order, &c.n_order);
  if (!err) err = weft__mixed_choose(g, r, where, c.order, c.n_order, &c.half);
  if (!err && needs_copy(&c)) {
    c.m = weft__alloc_zero(1, sizeof *c.m);
    err = c.m ? copy_all(&c) : WEFT_OOM;
    if (err)
      weft__mixed_graph_destroy(c.m);
    else
      *out = c.m;
  }
  weft__waits_finish(&c.waits);
  weft__feeds_finish(&c.feeds);
  weft__free(c.half);
  weft__free(c.order);
  return err;
}

void weft__mixed_graph_destroy(mixed_graph *m) {
  if (!m) return;
  weft__graph_destroy(m->graph);
  weft__arena_finish(&m->arena);
  weft__free(m);
}
