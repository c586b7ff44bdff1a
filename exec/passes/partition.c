/* partition.c - walks the needed nodes in order, copies each to its task's graph, and puts a pair of
 * _Send and _Recv on every edge between tasks.  A constant is copied to every task that reads it: it would
 * travel again with each step.
 *
 * A loop over several tasks runs on each of them.  Where a value crosses inside it, both tasks get a small loop of
 * their own, driven by the condition, which begins every iteration and has the _Recv nodes run in it.  An Enter is
 * copied to its readers' tasks: what goes into a loop travels once, not with each iteration. */
#include "exec/passes/partition.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "exec/passes/distinct_rows.h"
#include "exec/passes/late_reads.h"
#include "exec/passes/order.h"
#include "exec/passes/part_nodes.h"
#include "exec/passes/relocate.h"
#include "exec/passes/stages.h"
#include "exec/executors/staged.h"
#include "graph/attr_proto.h"
#include "graph/frames.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct cutter {
  const cut *c;
  parts *out;
  feeds feeds;
  int *order, n_order;
  waits waits;
  late_reads late;
  relocation moved;
  distinct_rows distinct;
  bool straight;              /* no control flow, and neither by_name nor shown */
  Tensorflow__GraphDef whole; /* the graph's nodes as messages */
  task_part **of_task;        /* per task: its part, or NULL */
  map pairs;                  /* "node:slot:task" -> name of the node that receives it there */
  frames loops;               /* home is NULL: the graph has none */
  stages stages;              /* .at is NULL: the step cannot be run in stages */
  int edges;                  /* pairs made so far: makes their names unique */
} cutter;

static void *partition_alloc(cutter *k, size_t size) { return weft__arena_alloc(&k->out->arena, size); }

/* ---- parts ------------------------------------------------------------------------------------- */

static weft_err partition_part_of(cutter *k, int at, task_part **out) {
  int t = k->c->task[at];
  if (!k->of_task[t]) {
    task_part *p = k->of_task[t] = &k->out->part[k->out->n_part++];
    tensorflow__graph_def__init(&p->def);
    p->def.versions = k->whole.versions;
    p->def.library = k->whole.library;
    p->task = t;
  }
  *out = k->of_task[t];
  return WEFT_OK;
}

static weft_err add_node(cutter *k, int at, node_def *n) {
  task_part *p;
  WEFT_TRY(partition_part_of(k, at, &p));
  WEFT_TRY(WEFT_ARENA_RESERVE(&k->out->arena, p->def.node, p->room, (int64_t)p->def.n_node + 1));
  n->device = k->c->device[at].name;
  p->def.node[p->def.n_node++] = n;
  return WEFT_OK;
}

/* For a Weft task on the other side: when the value may be waited for, and its shape.  Others skip such attributes. */
static weft_err attr_hints(cutter *k, node_def *n, int stage, const shape *s) {
  if (k->c->shown) return WEFT_OK;
  if (k->stages.at) WEFT_TRY(weft__part_attr_int(&k->out->arena, n, WEFT_STAGE_ATTR, stage));
  Tensorflow__NodeDefAttrEntry *e = partition_alloc(k, sizeof *e);
  Tensorflow__AttrValue *v = partition_alloc(k, sizeof *v);
  if (!e || !v) return weft__part_oom();
  tensorflow__node_def_attr_entry__init(e);
  e->key = (char *)(uintptr_t) "_output_shapes";
  e->value = v;
  n->attr[n->n_attr++] = e;
  return weft__attr_to_proto(v, &A_SHAPES("_output_shapes", (shape *)(uintptr_t)s, 1), &k->out->arena);
}

/* What both ends of a pair say of it. */
static weft_err attr_pair(cutter *k, node_def *n, const char *tensor_name, int from, int to, bool by_client) {
  Tensorflow__AttrValue *incarnation, *client;
  WEFT_TRY(weft__part_attr_text(&k->out->arena, n, "tensor_name", tensor_name));
  WEFT_TRY(weft__part_attr_text(&k->out->arena, n, "send_device", k->c->device[from].name));
  WEFT_TRY(weft__part_attr_text(&k->out->arena, n, "recv_device", k->c->device[to].name));
  if (!(incarnation = weft__part_attr(&k->out->arena, n, "send_device_incarnation"))) return weft__part_oom();
  incarnation->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
  incarnation->i = (int64_t)k->c->device[from].incarnation;
  if (!(client = weft__part_attr(&k->out->arena, n, "client_terminated"))) return weft__part_oom();
  client->value_case = TENSORFLOW__ATTR_VALUE__VALUE_B;
  client->b = by_client;
  return WEFT_OK;
}

/* The value that a control edge sends: no elements, made after its sources have run. */
static weft_err add_signal(cutter *k, int at, int n_source, char *const *source, char **name) {
  node_def *n;
  Tensorflow__TensorProto *t = partition_alloc(k, sizeof *t);
  Tensorflow__TensorShapeProto *s = partition_alloc(k, sizeof *s);
  Tensorflow__TensorShapeProtoDim *d = partition_alloc(k, sizeof *d), **dims = partition_alloc(k, sizeof *dims);
  if (!t || !s || !d || !dims) return weft__part_oom();
  WEFT_TRY(weft__part_node(&k->out->arena, &n, *name, "Const", NULL, 2));
  if (!(n->input = partition_alloc(k, sizeof *n->input * (size_t)(n_source + 1)))) return weft__part_oom();
  for (int i = 0; i < n_source; i++)
    if (!(n->input[n->n_input++] = weft__part_format(&k->out->arena, "^%s", source[i]))) return weft__part_oom();
  tensorflow__tensor_proto__init(t);
  tensorflow__tensor_shape_proto__init(s);
  tensorflow__tensor_shape_proto_dim__init(d);
  dims[0] = d;
  s->n_dim = 1;
  s->dim = dims;
  t->dtype = WEFT_FLOAT;
  t->tensor_shape = s;
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "dtype", WEFT_FLOAT));
  Tensorflow__AttrValue *v = weft__part_attr(&k->out->arena, n, "value");
  if (!v) return weft__part_oom();
  v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  v->tensor = t;
  return add_node(k, at, n);
}

/* ---- edges ------------------------------------------------------------------------------------- */

typedef struct edge { /* a value, or with slot -1 only the news that its sources have run */
  int node, slot;
  int device;   /* where it is */
  char *source; /* the input that reads it there: "name:1" */
  int n_source; /* with slot -1: the names of the nodes that have run; `node` is the one of the last stage */
  char **sources;
  weft_dtype type;
  const shape *shape;
  bool is_ref;
  int stage; /* of its receive; 0: the one after its node's */
} edge;

/* after: NULL, or the node that begins an iteration of the loop on the receiver's task. */
static weft_err pair_nodes(cutter *k, const edge *e, int to, const char *after, char **received) {
  const char *base = k->c->graph->node[e->node]->name;
  char *source = e->source, *tensor_name = weft__part_format(&k->out->arena, "edge_%s_%d", base, k->edges);
  node_def *send, *recv;
  if (!tensor_name) return weft__part_oom();
  if (e->slot < 0) {
    char *signal = weft__part_format(&k->out->arena, "%s_S%d", base, k->edges++);
    WEFT_TRY(add_signal(k, e->device, e->n_source, e->sources, &signal));
    source = signal;
  }
  WEFT_TRY(weft__part_node(&k->out->arena, &send, weft__part_format(&k->out->arena, "%s_S%d", base, k->edges++),
                           "_Send", source, 6));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, send, "T", e->type));
  WEFT_TRY(attr_pair(k, send, tensor_name, e->device, to, false));
  WEFT_TRY(add_node(k, e->device, send));
  char *begun = after ? weft__part_format(&k->out->arena, "^%s", after) : NULL;
  WEFT_TRY(weft__part_node(&k->out->arena, &recv, weft__part_format(&k->out->arena, "%s_S%d", base, k->edges++),
                           "_Recv", begun, 8));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, recv, "tensor_type", e->type));
  WEFT_TRY(attr_pair(k, recv, tensor_name, e->device, to, false));
  WEFT_TRY(attr_hints(k, recv, k->stages.at && !e->stage ? k->stages.at[e->node] + 1 : e->stage, e->shape));
  WEFT_TRY(add_node(k, to, recv));
  *received = recv->name;
  return WEFT_OK;
}

static weft_err loop_at(cutter *k, int loop, int at, char **begun);

static int home_of(const cutter *k, int node) { return k->loops.home ? k->loops.home[node] : 0; }

enum { SMALL_ELEMENTS = 16 };

static bool is_small(const shape *s) {
  int64_t n = weft__shape_count(s);
  return n >= 0 && n <= SMALL_ELEMENTS;
}

static weft_err receive_value(cutter *k, const edge *e, int to, char **received);

/* Receives a small value where something else crosses anyway. */
static weft_err receive_small(cutter *k, const edge *e, int to, char **received) {
  const int *task = k->c->task;
  stage_route r = weft__stages_route(&k->stages, e->node, task[e->device], task[to], task[k->c->client]);
  edge hop = *e, relay = *e;
  relay.stage = r.relay;
  if (r.relay) {
    WEFT_TRY(receive_value(k, &relay, k->c->client, &hop.source));
    hop.device = k->c->client;
  }
  hop.stage = r.stage;
  return pair_nodes(k, &hop, to, NULL, received);
}

/* The name of the node that has e's value on the task of device `to`. */
static weft_err receive_value(cutter *k, const edge *e, int to, char **received) {
  char key[64], *begun = NULL;
  int loop = home_of(k, e->node);
  snprintf(key, sizeof key, "%d:%d:%d", e->node, e->slot, k->c->task[to]);
  *received = e->is_ref ? NULL : weft__map_get(&k->pairs, key);
  if (*received) return WEFT_OK;
  if (loop) WEFT_TRY(loop_at(k, loop, e->device, &begun));
  if (loop) WEFT_TRY(loop_at(k, loop, to, &begun));
  if (k->stages.at && !e->stage && e->slot >= 0 && !e->is_ref && is_small(e->shape))
    WEFT_TRY(receive_small(k, e, to, received));
  else
    WEFT_TRY(pair_nodes(k, e, to, begun, received));
  return e->is_ref ? WEFT_OK : weft__map_put(&k->pairs, key, *received);
}

/* Returns true if entry i of the list is equal to an earlier one. */
static bool listed_before(const weft_out *list, int i) {
  for (int j = 0; j < i; j++)
    if (list[j].node == list[i].node && list[j].slot == list[i].slot) return true;
  return false;
}

/* "name:slot", which is how the client calls it. */
static char *tensor_name(cutter *k, weft_out o) {
  return weft__part_format(&k->out->arena, "%s:%d", k->c->graph->node[o.node]->name, o.slot);
}

static weft_err recv_from_client(cutter *k, weft_out o, char **name) {
  node_def *n;
  char *called = tensor_name(k, o);
  if (!called) return weft__part_oom();
  WEFT_TRY(weft__part_node(&k->out->arena, &n,
                           weft__part_format(&k->out->arena, "_recv_%s_%d", k->c->graph->node[o.node]->name, o.slot),
                           "_Recv", NULL, 6));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "tensor_type", weft__out_type(k->c->graph, o)));
  WEFT_TRY(attr_pair(k, n, called, k->c->client, k->c->client, true));
  *name = n->name;
  return add_node(k, k->c->client, n);
}

static weft_err send_to_client(cutter *k, weft_out o, char *source) {
  node_def *n;
  char *called = tensor_name(k, o);
  if (!called) return weft__part_oom();
  WEFT_TRY(weft__part_node(&k->out->arena, &n,
                           weft__part_format(&k->out->arena, "_send_%s_%d", k->c->graph->node[o.node]->name, o.slot),
                           "_Send", source, 6));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "T", weft__out_type(k->c->graph, o)));
  WEFT_TRY(attr_pair(k, n, called, k->c->client, k->c->client, true));
  return add_node(k, k->c->client, n);
}

/* Orders outputs as the strings "name:slot" are ordered. */
static int compare_names(const weft_graph *g, weft_out a, weft_out b) {
  const char *p = g->node[a.node]->name, *q = g->node[b.node]->name;
  char own[16], other[16];
  while (*p && *p == *q) p++, q++;
  if (*p || *q) return (*p ? (unsigned char)*p : ':') - (*q ? (unsigned char)*q : ':');
  snprintf(own, sizeof own, "%d", a.slot);
  snprintf(other, sizeof other, "%d", b.slot);
  return strcmp(own, other);
}

/* Returns the position of an output among the distinct ones of a list that is sorted by name, as TensorFlow numbers
 * them. */
static int sorted_position(const weft_graph *g, weft_out o, int n, const weft_out *list) {
  int before = 0;
  for (int i = 0; i < n; i++) before += compare_names(g, list[i], o) < 0 && !listed_before(list, i);
  return before;
}

/* An _Arg for a feed; with a source: a _Retval for a fetch. */
static weft_err argument_node(cutter *k, weft_out o, char *source, char **name) {
  const plan_request *r = k->c->request;
  const char *base = k->c->graph->node[o.node]->name;
  node_def *n;
  int index = source ? sorted_position(k->c->graph, o, r->n_fetch, r->fetch)
                     : sorted_position(k->c->graph, o, r->n_feed, r->feed);
  char *called = weft__part_format(&k->out->arena, source ? "_retval_%s_%d_%d" : "_arg_%s_%d_%d", base, o.slot, index);
  WEFT_TRY(weft__part_node(&k->out->arena, &n, called, source ? "_Retval" : "_Arg", source, 2));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "T", weft__out_type(k->c->graph, o)));
  WEFT_TRY(weft__part_attr_int(&k->out->arena, n, "index", index));
  *name = n->name;
  return add_node(k, k->c->client, n);
}

char *weft__partition_client_key(const device_info *client, const char *name) {
  return weft__sprintf("%s;%016llx;%s;%s;0:0", client->name, (unsigned long long)client->incarnation, client->name,
                       name);
}

/* The node that brings a feed, on the client's device, made when first read. */
static weft_err feed_node(cutter *k, int feed, char **name) {
  const weft_graph *g = k->c->graph;
  weft_out o = k->c->request->feed[feed];
  if (!k->out->feed_name[feed] && k->c->arguments) WEFT_TRY(argument_node(k, o, NULL, &k->out->feed_name[feed]));
  if (!k->out->feed_name[feed] && k->c->by_name) WEFT_TRY(recv_from_client(k, o, &k->out->feed_name[feed]));
  if (!k->out->feed_name[feed]) {
    node_def *n;
    WEFT_TRY(weft__part_node(&k->out->arena, &n,
                             weft__part_format(&k->out->arena, "_recv_%s_%d", g->node[o.node]->name, o.slot),
                             "Placeholder", NULL, 2));
    WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "dtype", weft__out_type(g, o)));
    Tensorflow__AttrValue *v = weft__part_attr(&k->out->arena, n, "shape");
    if (!v) return weft__part_oom();
    WEFT_TRY(weft__attr_to_proto(v, &A_SHAPE("shape", (shape *)(uintptr_t)weft__out_shape(g, o)), &k->out->arena));
    WEFT_TRY(add_node(k, k->c->client, n));
    k->out->feed_name[feed] = n->name;
  }
  *name = k->out->feed_name[feed];
  return WEFT_OK;
}

/* Where an output comes from: a feed, or its node. */
static weft_err find_edge(cutter *k, weft_out o, edge *e) {
  const weft_graph *g = k->c->graph;
  int feed = weft__feeds_find(&k->feeds, o);
  *e = (edge){.node = o.node,
              .slot = o.slot,
              .device = k->c->where[o.node],
              .type = weft__out_type(g, o),
              .shape = weft__out_shape(g, o)};
  if (feed >= 0) {
    e->device = k->c->client;
    return feed_node(k, feed, &e->source);
  }
  e->is_ref = weft__out_is_ref(g, o);
  e->source = o.slot ? weft__part_format(&k->out->arena, "%s:%d", g->node[o.node]->name, o.slot)
                     : (char *)(uintptr_t)g->node[o.node]->name;
  return e->source ? WEFT_OK : weft__part_oom();
}

static weft_err partition_copy_node(cutter *k, const weft_node *n, int at);
static weft_err input_at(cutter *k, weft_out o, int to, char **out);

static bool is_constant(const cutter *k, int node) {
  const weft_node *n = k->c->graph->node[node];
  return weft__node_is(n, KIND_CONST) && n->n_control == 0 && weft__feeds_find(&k->feeds, (weft_out){node, 0}) < 0;
}

/* Into a loop, and not as a reference, which cannot leave its task. */
static bool is_enter(const cutter *k, int node) {
  const weft_node *n = k->c->graph->node[node];
  return weft__node_is(n, KIND_ENTER) && !weft__out_is_ref(n->graph, (weft_out){node, 0}) &&
         weft__feeds_find(&k->feeds, (weft_out){node, 0}) < 0;
}

/* The node on the task of device `to`, copied there when first read. */
static weft_err copy_at(cutter *k, int node, int to, char **out) {
  char key[64];
  const weft_node *n = k->c->graph->node[node];
  *out = (char *)(uintptr_t)n->name;
  snprintf(key, sizeof key, "%d:copy:%d", node, k->c->task[to]);
  if (weft__map_get(&k->pairs, key)) return WEFT_OK;
  WEFT_TRY(partition_copy_node(k, n, k->c->task[to] == k->c->task[k->c->where[node]] ? k->c->where[node] : to));
  return weft__map_put(&k->pairs, key, *out);
}

static bool is_received(const cutter *k, weft_out o, int to) {
  char key[64];
  snprintf(key, sizeof key, "%d:%d:%d", o.node, o.slot, k->c->task[to]);
  return weft__map_get(&k->pairs, key) != NULL;
}

/* Returns true if the op only gives its input another shape, or returns its input's shape. */
static bool makes_view(const cutter *k, const weft_node *n) {
  const op *o = n->op;
  if (!o || !o->anywhere || o->opdef.stateful || o->flags & ~(unsigned)(OP_INPLACE | OP_SHAPE_ONLY)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__out_is_ref(k->c->graph, n->in[i]) || weft__out_type(k->c->graph, n->in[i]) == WEFT_RESOURCE) return false;
  return n->n_in > 0 && n->n_out == 1 && n->n_control == 0;
}

enum { VIEWS_MAX = 4 }; /* the longest chain of views that is computed again */

/* Returns true if the task of `to` can compute the output at no cost from values that it has or receives.  The indices
 * of a gradient, for instance, are the ids of the lookup with another shape, and need not travel again. */
static bool is_view_at(const cutter *k, weft_out o, int to, int depth) {
  const weft_node *n = k->c->graph->node[o.node];
  if (!k->straight || depth == 0 || weft__feeds_find(&k->feeds, o) >= 0 || !makes_view(k, n)) return false;
  for (int i = 0; i < n->n_in; i++) {
    bool fed = weft__feeds_find(&k->feeds, n->in[i]) >= 0;
    int at = fed ? k->c->client : k->c->where[n->in[i].node];
    bool has = k->c->task[at] == k->c->task[to] || is_constant(k, n->in[i].node) ||
               (is_received(k, n->in[i], to) && !is_small(weft__out_shape(k->c->graph, n->in[i]))); /* maybe later */
    if (!has && !is_view_at(k, n->in[i], to, depth - 1)) return false;
  }
  return true;
}

/* ---- lookups of distinct ids ------------------------------------------------------------------- */

/* The shape of the rows that the ps sends: one for each distinct id. */
static weft_err distinct_shape(cutter *k, const edge *e, const shape *ids, const shape **out) {
  shape *s = partition_alloc(k, sizeof *s);
  if (!s) return weft__part_oom();
  *s = SHAPE_UNKNOWN;
  if (ids->rank >= 0 && e->shape->rank >= ids->rank) {
    *s = (shape){.rank = 1 + e->shape->rank - ids->rank, .dim[0] = -1};
    for (int i = 1; i < s->rank; i++) s->dim[i] = e->shape->dim[i - 1 + ids->rank];
  }
  *out = s;
  return WEFT_OK;
}

/* A node of the client's task with two inputs and up to two types. */
static weft_err client_node(cutter *k, const char *type, char *in, char *other, const attr *types, char **name) {
  node_def *n;
  arena *a = &k->out->arena;
  WEFT_TRY(weft__part_node(a, &n, weft__part_format(a, "_rows%d", k->edges++), type, in, 2));
  if (other) n->input[n->n_input++] = other;
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__part_attr_type(a, n, types[i].name, types[i].type));
  *name = n->name;
  return add_node(k, k->c->client, n);
}

/* The numbers of the lookup's ids among the distinct ones, in the shape of the ids. */
static weft_err numbers_of_ids(cutter *k, int distinct, weft_out ids, char **out) {
  char *flat, *in, *dims;
  weft_dtype number = weft__out_type(k->c->graph, (weft_out){distinct, 1});
  WEFT_TRY(input_at(k, (weft_out){distinct, 1}, k->c->client, &flat));
  *out = flat;
  if (weft__out_shape(k->c->graph, ids)->rank == 1) return WEFT_OK;
  WEFT_TRY(input_at(k, ids, k->c->client, &in));
  const attr of_shape[] = {A_TYPE("T", weft__out_type(k->c->graph, ids)), A_TYPE("out_type", WEFT_INT32)};
  const attr of_reshape[] = {A_TYPE("T", number), A_TYPE("Tshape", WEFT_INT32)};
  WEFT_TRY(client_node(k, "Shape", in, NULL, of_shape, &dims));
  return client_node(k, "Reshape", flat, dims, of_reshape, out);
}

/* Receives the rows of distinct ids and repeats them for all ids, on the client's task. */
static weft_err receive_rows(cutter *k, const edge *e, char **out) {
  char key[64], *rows, *numbers;
  const int distinct = k->distinct.ids[e->node];
  const weft_out ids = k->c->graph->node[k->distinct.lookup[e->node]]->in[1];
  edge few = *e;
  snprintf(key, sizeof key, "%d:rows", e->node);
  if ((*out = weft__map_get(&k->pairs, key))) return WEFT_OK;
  WEFT_TRY(distinct_shape(k, e, weft__out_shape(k->c->graph, ids), &few.shape));
  WEFT_TRY(receive_value(k, &few, k->c->client, &rows));
  WEFT_TRY(numbers_of_ids(k, distinct, ids, &numbers));
  const attr types[] = {A_TYPE("Tparams", e->type),
                        A_TYPE("Tindices", weft__out_type(k->c->graph, (weft_out){distinct, 1}))};
  WEFT_TRY(client_node(k, "Gather", rows, numbers, types, out));
  return weft__map_put(&k->pairs, key, *out);
}

/* The input string that reads output o on device `to`. */
static weft_err input_at(cutter *k, weft_out o, int to, char **out) {
  edge e;
  if (is_constant(k, o.node)) return copy_at(k, o.node, to, out);
  WEFT_TRY(find_edge(k, o, &e));
  *out = e.source;
  if (k->c->task[e.device] == k->c->task[to]) return WEFT_OK;
  if (is_enter(k, o.node) || (!is_received(k, o, to) && is_view_at(k, o, to, VIEWS_MAX)))
    return copy_at(k, o.node, to, out);
  if (k->distinct.ids && k->distinct.ids[o.node] >= 0) return receive_rows(k, &e, out);
  return receive_value(k, &e, to, out);
}

static int by_id(const void *a, const void *b) {
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* As receive_value, for one value that says that several nodes have run.  Nodes that wait for the same share it. */
static weft_err receive_joined(cutter *k, const edge *e, const int *from, int to, char **received) {
  text key = {0};
  weft__text_printf(&key, "join:%d", k->c->task[to]);
  for (int i = 0; i < e->n_source; i++) weft__text_printf(&key, ",%d", from[i]);
  *received = key.failed ? NULL : weft__map_get(&k->pairs, weft__text_get(&key));
  weft_err err = key.failed ? weft__part_oom() : WEFT_OK;
  if (!err && !*received) err = pair_nodes(k, e, to, NULL, received);
  if (!err) err = weft__map_put(&k->pairs, weft__text_get(&key), *received);
  weft__text_finish(&key);
  return err;
}

/* The input with which a node on device `to` waits for n nodes of another task. */
static weft_err control_at(cutter *k, int n, const int *from, int to, char **out) {
  static const shape nothing = {.rank = 1};
  edge e = {.node = from[0], .slot = -1, .device = k->c->where[from[0]], .type = WEFT_FLOAT, .shape = &nothing};
  char *name;
  if (!(e.sources = partition_alloc(k, sizeof *e.sources * (size_t)n))) return weft__part_oom();
  for (int i = 0; i < n; i++) {
    e.sources[e.n_source++] = (char *)(uintptr_t)k->c->graph->node[from[i]]->name;
    if (k->stages.at && k->stages.at[from[i]] > k->stages.at[e.node]) e.node = from[i];
  }
  WEFT_TRY(n == 1 ? receive_value(k, &e, to, &name) : receive_joined(k, &e, from, to, &name));
  *out = weft__part_format(&k->out->arena, "^%s", name);
  return *out ? WEFT_OK : weft__part_oom();
}

/* ---- loops ------------------------------------------------------------------------------------- */

static int parallel_of(const cutter *k, const loop_frame *f) {
  return weft__int_sat(weft__node_int(k->c->graph->node[f->enter[0]], "parallel_iterations", 10));
}

/* The Enter of a loop that only iterates; what enters is made once for each time that the loop is begun. */
static weft_err iterating_enter(cutter *k, int loop, int at, char *name) {
  const loop_frame *f = &k->loops.frame[loop];
  char *first = weft__part_format(&k->out->arena, "%s_first", name), *outer = NULL;
  node_def *n;
  if (f->parent > 0) {
    WEFT_TRY(loop_at(k, f->parent, at, &outer));
    outer = weft__part_format(&k->out->arena, "%s_again", outer); /* only in iterations that are not the last */
  }
  if (!first || (f->parent > 0 && !outer)) return weft__part_oom();
  WEFT_TRY(add_signal(k, at, outer != NULL, &outer, &first));
  WEFT_TRY(weft__part_node(&k->out->arena, &n, name, "Enter", first, 3));
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "T", WEFT_FLOAT));
  WEFT_TRY(weft__part_attr_text(&k->out->arena, n, "frame_name", f->name));
  WEFT_TRY(weft__part_attr_int(&k->out->arena, n, "parallel_iterations", parallel_of(k, f)));
  return add_node(k, at, n);
}

static weft_err iterating_node(cutter *k, int at, const char *type, char *name, char *in, char *other) {
  node_def *n;
  if (!in) return weft__part_oom();
  WEFT_TRY(weft__part_node(&k->out->arena, &n, name, type, in, 2));
  if (other) n->input[n->n_input++] = other;
  WEFT_TRY(weft__part_attr_type(&k->out->arena, n, "T", WEFT_FLOAT));
  if (strcmp(type, "Merge") == 0) WEFT_TRY(weft__part_attr_int(&k->out->arena, n, "N", 2));
  return add_node(k, at, n);
}

/* A frame that is entered and left without iterating. */
static weft_err single_iteration_at(cutter *k, int loop, int at, char *begun) {
  char *again = weft__part_format(&k->out->arena, "%s_again", begun);
  WEFT_TRY(iterating_enter(k, loop, at, begun));
  return again ? iterating_node(k, at, "Identity", again, begun, NULL) : weft__part_oom();
}

/* A loop on the task of device `at` that iterates as the loop does; *begun is the node that runs in each iteration. */
static weft_err loop_at(cutter *k, int loop, int at, char **begun) {
  char key[64], *pred;
  snprintf(key, sizeof key, "loop:%d:%d", loop, k->c->task[at]);
  if ((*begun = weft__map_get(&k->pairs, key))) return WEFT_OK;
  const loop_frame *f = &k->loops.frame[loop];
  if (f->n_enter == 0 || (f->iterates && f->loop_cond < 0))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "The loop '%s' is on several tasks, iterates, and has no LoopCond: place it on one task",
                      f->name);
  int number = k->edges++;
  if (!f->iterates) {
    if (!(*begun = weft__part_format(&k->out->arena, "_loop%d", number))) return weft__part_oom();
    WEFT_TRY(weft__map_put(&k->pairs, key, *begun));
    return single_iteration_at(k, loop, at, *begun);
  }
  char *merge = *begun = weft__part_format(&k->out->arena, "_loop%d", number),
       *enter = weft__part_format(&k->out->arena, "_loop%d_enter", number);
  char *sw = weft__part_format(&k->out->arena, "_loop%d_switch", number),
       *next = weft__part_format(&k->out->arena, "_loop%d_next", number);
  char *again = weft__part_format(&k->out->arena, "_loop%d_again", number),
       *live = weft__part_format(&k->out->arena, "_loop%d_switch:1", number);
  if (!merge || !enter || !sw || !next || !again || !live) return weft__part_oom();
  WEFT_TRY(weft__map_put(&k->pairs, key, merge));
  WEFT_TRY(iterating_enter(k, loop, at, enter));
  WEFT_TRY(iterating_node(k, at, "Merge", merge, enter, next));
  WEFT_TRY(input_at(k, (weft_out){f->loop_cond, 0}, at, &pred));
  WEFT_TRY(iterating_node(k, at, "Switch", sw, merge, pred));
  WEFT_TRY(iterating_node(k, at, "NextIteration", next, live, NULL));
  return iterating_node(k, at, "Identity", again, live, NULL);
}

/* ---- nodes ------------------------------------------------------------------------------------- */

/* Returns true if every output of the node is fed.  It does not run then, so no node waits for it. */
static bool all_fed(const cutter *k, int node) {
  const weft_node *n = k->c->graph->node[node];
  for (int i = 0; i < n->n_out; i++)
    if (weft__feeds_find(&k->feeds, (weft_out){node, (uint16_t)i}) < 0) return false;
  return n->n_out > 0;
}

static bool is_class(const Tensorflow__NodeDefAttrEntry *e) { return strcmp(e->key, "_class") == 0; }

/* Colocation has done its work, and its partners may be elsewhere. */
static weft_err partition_copy_attrs(cutter *k, node_def *n, const node_def *from) {
  n->n_attr = 0;
  n->attr = partition_alloc(k, sizeof *n->attr * (from->n_attr + 1));
  if (!n->attr) return weft__part_oom();
  for (size_t i = 0; i < from->n_attr; i++)
    if (k->c->shown || !is_class(from->attr[i])) n->attr[n->n_attr++] = from->attr[i];
  return WEFT_OK;
}

/* The nodes that n waits for and that run, into k->waits. */
static void find_waits(cutter *k, int node) {
  waits *w = &k->waits;
  const cut *c = k->c;
  bool unread = k->straight && k->moved.unread[node]; /* the request waits for the parts of all tasks */
  int kept = 0;
  weft__waits_of(w, node);
  for (int i = 0; i < w->n; i++) {
    bool here = c->task[c->where[w->from[i]]] == c->task[c->where[node]];
    if (!all_fed(k, w->from[i]) && !is_constant(k, w->from[i]) && (here || !unread)) w->from[kept++] = w->from[i];
  }
  w->n = kept;
  if (k->late.token >= 0 && k->late.late[node]) w->from[w->n++] = k->late.token; /* which it did not wait for before */
}

/* Moves the nodes of the first one's task to the front; returns their number. */
static int gather_task(const cutter *k, int n, int *from) {
  const cut *c = k->c;
  int same = 1;
  for (int i = 1; i < n; i++) {
    if (c->task[c->where[from[i]]] != c->task[c->where[from[0]]]) continue;
    int swap = from[same];
    from[same++] = from[i];
    from[i] = swap;
  }
  return same;
}

/* Adds the control inputs of a node on device `at`.  Without control flow, what it waits for on another task is one
 * value; else each is one, since it may be dead. */
static weft_err copy_waits(cutter *k, node_def *def, int at) {
  int n = k->waits.n, *from = partition_alloc(k, sizeof *from * (size_t)(n + 1));
  if (!from) return weft__part_oom();
  memcpy(from, k->waits.from, sizeof *from * (size_t)n);
  if (k->straight) qsort(from, (size_t)n, sizeof *from, by_id);
  for (int i = 0, more; i < n; i += more) {
    char **in = &def->input[def->n_input++];
    bool here = k->c->task[k->c->where[from[i]]] == k->c->task[at];
    more = k->straight && !here ? gather_task(k, n - i, from + i) : 1;
    if (!here) {
      WEFT_TRY(control_at(k, more, from + i, at, in));
    } else if (!(*in = weft__part_format(&k->out->arena, "^%s", k->c->graph->node[from[i]]->name))) {
      return weft__part_oom();
    }
  }
  return WEFT_OK;
}

static weft_err partition_copy_node(cutter *k, const weft_node *n, int at) {
  node_def *def = weft__arena_copy(&k->out->arena, k->whole.node[n->id], sizeof *def);
  if (!def) return weft__part_oom();
  WEFT_TRY(partition_copy_attrs(k, def, k->whole.node[n->id]));
  find_waits(k, n->id);
  def->input = partition_alloc(k, sizeof *def->input * (size_t)(n->n_in + k->waits.n + 1));
  if (!def->input) return weft__part_oom();
  def->n_input = (size_t)n->n_in;
  WEFT_TRY(copy_waits(k, def, at));
  for (int i = 0; i < n->n_in; i++)
    WEFT_TRY(input_at(k, weft__distinct_rows_input(&k->distinct, n, i), at, &def->input[i]));
  return add_node(k, at, def);
}

static weft_err bring_fetches(cutter *k) {
  const plan_request *r = k->c->request;
  for (int i = 0; i < r->n_fetch; i++) {
    WEFT_TRY(input_at(k, r->fetch[i], k->c->client, &k->out->fetch_name[i]));
    if (listed_before(r->fetch, i)) continue;
    if (k->c->arguments) WEFT_TRY(argument_node(k, r->fetch[i], k->out->fetch_name[i], &k->out->fetch_name[i]));
    if (k->c->by_name) WEFT_TRY(send_to_client(k, r->fetch[i], k->out->fetch_name[i]));
  }
  return WEFT_OK;
}

/* ---- stages ------------------------------------------------------------------------------------ */

static bool is_straight(const cutter *k) {
  if (k->c->by_name || k->c->shown) return false;
  for (int i = 0; i < k->n_order; i++) {
    const weft_node *n = k->c->graph->node[k->order[i]];
    if (!n->op || n->op->flags & OP_CONTROL_FLOW) return false;
  }
  return true;
}

/* Branches may leave values dead, and a queue that one node fills for another in the same step orders them without an
 * edge: such steps have no stages. */
static bool may_have_stages(const cutter *k) {
  if (!k->straight) return false;
  bool fills = false, takes = false;
  for (int i = 0; i < k->n_order; i++) {
    const weft_node *n = k->c->graph->node[k->order[i]];
    if (!(n->op->flags & OP_ASYNC)) continue;
    if (n->op->flags & OP_TAKES)
      takes = true;
    else
      fills = true;
  }
  return !(fills && takes);
}

static weft_err find_stages(cutter *k) {
  const cut *c = k->c;
  if (!may_have_stages(k)) return WEFT_OK;
  WEFT_TRY(weft__stages_init(&k->stages, c->graph->n_node));
  for (int i = 0; i < k->n_order; i++) {
    const weft_node *n = c->graph->node[k->order[i]];
    stage_edge e = {.to = n->id, .to_task = c->task[c->where[n->id]]};
    for (int j = 0; j < n->n_in; j++) {
      if (is_constant(k, n->in[j].node)) continue;
      bool fed = weft__feeds_find(&k->feeds, n->in[j]) >= 0;
      e.from = n->in[j].node;
      e.from_task = c->task[fed ? c->client : c->where[e.from]];
      e.small = is_small(weft__out_shape(c->graph, n->in[j]));
      WEFT_TRY(weft__stages_add(&k->stages, e));
    }
    find_waits(k, n->id);
    e.small = true;
    for (int j = 0; j < k->waits.n; j++) {
      e.from = k->waits.from[j];
      e.from_task = c->task[c->where[e.from]];
      WEFT_TRY(weft__stages_add(&k->stages, e));
    }
  }
  weft__stages_find_latest(&k->stages, c->graph->n_node);
  return WEFT_OK;
}

static weft_err partition_find_loops(cutter *k) {
  const weft_graph *g = k->c->graph;
  bool loops = false;
  for (int i = 0; i < k->n_order && !loops; i++) loops = weft__node_is(g->node[k->order[i]], KIND_ENTER);
  if (!loops) return WEFT_OK;
  return weft__frames_find(&k->loops, g, false, &k->out->arena);
}

/* Constants that no node reads run in the part whose targets name them. */
static weft_err keep_targets(cutter *k) {
  const plan_request *r = k->c->request;
  char *name;
  for (int i = 0; i < r->n_target; i++)
    if (is_constant(k, r->target[i])) WEFT_TRY(copy_at(k, r->target[i], k->c->where[r->target[i]], &name));
  return WEFT_OK;
}

/* Finds what runs, in which order and where; `moved` is the cut with other places. */
static weft_err find_work(cutter *k, cut *moved) {
  const cut *c = k->c;
  WEFT_TRY(weft__feeds_init(&k->feeds, c->request->n_feed, c->request->feed));
  WEFT_TRY(weft__order(c->graph, c->request, &k->order, &k->n_order));
  WEFT_TRY(weft__waits_init(&k->waits, c->graph, k->order, k->n_order));
  WEFT_TRY(weft__late_reads_find(&k->late, c, &k->waits, k->order, k->n_order));
  k->straight = is_straight(k);
  if (!k->straight) return WEFT_OK;
  WEFT_TRY(weft__relocate(&k->moved, c, &k->waits, k->order, k->n_order));
  if (c->weft_only)
    WEFT_TRY(weft__distinct_rows_find(&k->distinct, c, k->moved.where, &k->feeds, &k->waits, k->order, k->n_order));
  *moved = *c;
  moved->where = k->moved.where;
  k->c = moved;
  return WEFT_OK;
}

/* With the graph's lock held. */
static weft_err cut_all(cutter *k) {
  cut moved;
  WEFT_TRY(find_work(k, &moved));
  const cut *c = k->c;
  WEFT_TRY(partition_find_loops(k));
  WEFT_TRY(find_stages(k));
  WEFT_TRY(weft__graph_export_proto(c->graph, NULL, &k->whole, &k->out->arena));
  k->of_task = partition_alloc(k, sizeof *k->of_task * (size_t)(c->n_task + 1));
  k->out->part = partition_alloc(k, sizeof *k->out->part * (size_t)(c->n_task + 1));
  k->out->feed_name = partition_alloc(k, sizeof(char *) * (size_t)(c->request->n_feed + 1));
  k->out->fetch_name = partition_alloc(k, sizeof(char *) * (size_t)(c->request->n_fetch + 1));
  if (!k->of_task || !k->out->part || !k->out->feed_name || !k->out->fetch_name) return weft__part_oom();
  for (int i = 0; i < k->n_order; i++) {
    int node = k->order[i];
    if (!all_fed(k, node) && !is_constant(k, node))
      WEFT_TRY(partition_copy_node(k, c->graph->node[node], c->where[node]));
  }
  WEFT_TRY(keep_targets(k));
  WEFT_TRY(bring_fetches(k));
  k->out->client = -1;
  for (int i = 0; i < k->out->n_part; i++)
    if (k->out->part[i].task == c->task[c->client]) k->out->client = i;
  return WEFT_OK;
}

weft_err weft__partition(parts *out, const cut *c) {
  cutter k = {.c = c, .out = out, .late.token = -1};
  *out = (parts){.client = -1};
  pthread_mutex_lock(&c->graph->lock);
  weft_err err = cut_all(&k);
  pthread_mutex_unlock(&c->graph->lock);
  weft__feeds_finish(&k.feeds);
  weft__free(k.order);
  weft__waits_finish(&k.waits);
  weft__late_reads_finish(&k.late);
  weft__relocation_finish(&k.moved);
  weft__distinct_rows_finish(&k.distinct);
  weft__stages_finish(&k.stages);
  weft__map_finish(&k.pairs);
  if (err) weft__partition_parts_finish(out);
  return err;
}

void weft__partition_parts_finish(parts *p) {
  weft__arena_finish(&p->arena);
  *p = (parts){.client = -1};
}
