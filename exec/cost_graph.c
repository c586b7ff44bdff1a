/* cost_graph.c - makes a CostGraphDef of a GraphDef and the StepStats of a run.
 *
 * Each part has its own numbers, as in TensorFlow: node 0 is _SOURCE, node 1 is _SINK, and the nodes of the GraphDef
 * follow.  A node costs the longest time of its measured runs.  The lock of a model guards its maps; it is a leaf. */
#include "exec/cost_graph.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "graph/library.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef Tensorflow__CostGraphNode cost_node;
typedef Tensorflow__NodeExecStats node_stats;

struct cost_model {
  cost_schedule when;
  pthread_mutex_t lock; /* guards what follows */
  map runs;             /* request -> the number of its runs */
  map longest;          /* request and node -> microseconds + 1 */
};

weft_err weft__cost_model_create(cost_model **out, cost_schedule when) {
  cost_model *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  m->when = when;
  pthread_mutex_init(&m->lock, NULL);
  *out = m;
  return WEFT_OK;
}

void weft__cost_model_destroy(cost_model *m) {
  if (!m) return;
  weft__map_finish(&m->runs);
  weft__map_finish(&m->longest);
  pthread_mutex_destroy(&m->lock);
  weft__free(m);
}

bool weft__cost_model_count(cost_model *m, uint64_t request) {
  char key[24];
  if (!m) return false;
  snprintf(key, sizeof key, "%016" PRIx64, request);
  pthread_mutex_lock(&m->lock);
  uintptr_t count = (uintptr_t)weft__map_get(&m->runs, key) + 1;
  weft_err err = weft__map_put(&m->runs, key, (void *)count);
  pthread_mutex_unlock(&m->lock);
  int64_t measured = (int64_t)count - m->when.after;
  return !err && !(m->when.skips_first && measured <= 0) && measured % m->when.every == 0;
}

/* Returns the longest time so far, this one included. */
static int64_t cost_model_longest(cost_model *m, uint64_t request, const char *node, int64_t us) {
  char *key = m ? weft__sprintf("%016" PRIx64 "/%s", request, node) : NULL;
  if (!key) return us;
  pthread_mutex_lock(&m->lock);
  int64_t before = (int64_t)(uintptr_t)weft__map_get(&m->longest, key) - 1;
  if (before > us)
    us = before;
  else if (weft__map_put(&m->longest, key, (void *)(uintptr_t)(us + 1)) != WEFT_OK)
    us = before > us ? before : us; /* without memory the next run forgets this one */
  pthread_mutex_unlock(&m->lock);
  weft__free(key);
  return us;
}

/* ---- one graph ---------------------------------------------------------------------------------- */

typedef struct coster {
  const Tensorflow__GraphDef *def;
  const weft_graph *graph;
  cost_model *model;
  uint64_t request;
  map stats;  /* node name -> its node_stats that took longest */
  map number; /* node name -> 1 + its position in def */
  int *n_out; /* per node of def: outputs that are read */
  bool *read; /* per node of def: does another one read it or wait for it? */
  arena arena;
  Tensorflow__CostGraphDef out;
} coster;

enum { SOURCE, SINK, FIRST };

static int64_t op_micros(const node_stats *s) { return s->op_end_rel_micros - s->op_start_rel_micros; }

static weft_err find_stats(coster *c, const Tensorflow__StepStats *stats) {
  for (size_t d = 0; stats && d < stats->n_dev_stats; d++)
    for (size_t i = 0; i < stats->dev_stats[d]->n_node_stats; i++) {
      node_stats *s = stats->dev_stats[d]->node_stats[i];
      const node_stats *other = weft__map_get(&c->stats, s->node_name);
      if (!other || op_micros(other) < op_micros(s)) WEFT_TRY(weft__map_put(&c->stats, s->node_name, s));
    }
  return WEFT_OK;
}

/* Splits "name:1", "name" or "^name"; *slot is -1 for a control input.  Returns the position of the node, or -1. */
static int find_input(const coster *c, const char *input, int *slot) {
  char *name = weft__strdup(input + (*input == '^')), *colon = name ? strrchr(name, ':') : NULL;
  *slot = *input == '^' ? -1 : 0;
  if (!name) return -1;
  if (colon && *slot == 0) {
    *colon = '\0';
    *slot = weft__int_sat(strtoul(colon + 1, NULL, 10));
  }
  int number = weft__int_sat((uintptr_t)weft__map_get(&c->number, name)) - 1;
  weft__free(name);
  return number;
}

static weft_err cost_graph_find_readers(coster *c) {
  size_t n = c->def->n_node;
  c->n_out = weft__arena_alloc(&c->arena, sizeof *c->n_out * (n + 1));
  c->read = weft__arena_alloc(&c->arena, sizeof *c->read * (n + 1));
  if (!c->n_out || !c->read) return WEFT_OOM;
  for (size_t i = 0; i < n; i++) WEFT_TRY(weft__map_put(&c->number, c->def->node[i]->name, (void *)(uintptr_t)(i + 1)));
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < c->def->node[i]->n_input; j++) {
      int slot, from = find_input(c, c->def->node[i]->input[j], &slot);
      if (from < 0) continue;
      c->read[from] = true;
      if (slot >= c->n_out[from]) c->n_out[from] = slot + 1;
    }
  return WEFT_OK;
}

static const Tensorflow__TensorDescription *find_description(const node_stats *s, int slot) {
  for (size_t i = 0; s && i < s->n_output; i++)
    if (s->output[i]->slot == slot) return s->output[i]->tensor_description;
  return NULL;
}

static weft_err cost_graph_add_output(coster *c, cost_node *to, const weft_node *n, const node_stats *s, int slot) {
  Tensorflow__CostGraphOutputInfo *o = weft__arena_alloc(&c->arena, sizeof *o);
  Tensorflow__TensorShapeProto *proto = weft__arena_alloc(&c->arena, sizeof *proto);
  const Tensorflow__TensorDescription *d = find_description(s, slot);
  shape known = {.rank = -1};
  if (!o || !proto) return WEFT_OOM;
  tensorflow__cost_graph_output_info__init(o);
  tensorflow__tensor_shape_proto__init(proto);
  if (n) o->dtype = (int32_t)n->out_type[slot];
  if (n) known = n->out_shape[slot];
  if (d && !o->dtype) o->dtype = d->dtype;
  if (d && d->shape) WEFT_TRY(weft__shape_from_proto(&known, d->shape));
  WEFT_TRY(weft__shape_to_proto(proto, &known, &c->arena));
  int64_t count = weft__shape_count(&known);
  o->size = count < 0 || !o->dtype ? -1 : count * (int64_t)weft__dtype_size(weft__dtype_base((weft_dtype)o->dtype));
  o->alias_input_port = -1;
  o->shape = proto;
  to->output_info[to->n_output_info++] = o;
  return WEFT_OK;
}

static weft_err add_inputs(coster *c, cost_node *to, const Tensorflow__NodeDef *def) {
  to->input_info = weft__arena_alloc(&c->arena, sizeof *to->input_info * (def->n_input + 1));
  to->control_input = weft__arena_alloc(&c->arena, sizeof *to->control_input * (def->n_input + 1));
  if (!to->input_info || !to->control_input) return WEFT_OOM;
  for (size_t i = 0; i < def->n_input; i++) {
    int slot, from = find_input(c, def->input[i], &slot);
    if (from < 0) continue;
    if (slot < 0) {
      to->control_input[to->n_control_input++] = FIRST + from;
      continue;
    }
    Tensorflow__CostGraphInputInfo *in = weft__arena_alloc(&c->arena, sizeof *in);
    if (!in) return WEFT_OOM;
    tensorflow__cost_graph_input_info__init(in);
    in->preceding_node = FIRST + from;
    in->preceding_port = slot;
    to->input_info[to->n_input_info++] = in;
  }
  if (def->n_input == 0) to->control_input[to->n_control_input++] = SOURCE;
  return WEFT_OK;
}

static weft_err new_cost_node(coster *c, const char *name, cost_node **out) {
  cost_node *n = weft__arena_alloc(&c->arena, sizeof *n);
  if (!n) return WEFT_OOM;
  tensorflow__cost_graph_node__init(n);
  n->name = (char *)(uintptr_t)name;
  n->id = weft__int_sat(c->out.n_node);
  c->out.node[c->out.n_node++] = n;
  *out = n;
  return WEFT_OK;
}

static weft_err add_cost(coster *c, int at) {
  const Tensorflow__NodeDef *def = c->def->node[at];
  const weft_node *n = weft__graph_find(c->graph, def->name);
  const op *row = weft__graph_op(c->graph, def->op); /* a partition's own nodes are not in the graph */
  const op_kind kind = row ? row->kind : KIND_PLAIN;
  const node_stats *s = weft__map_get(&c->stats, def->name);
  int n_out = n ? n->n_out : c->n_out[at];
  cost_node *to;
  WEFT_TRY(new_cost_node(c, def->name, &to));
  to->device = def->device;
  to->is_final = kind == KIND_SEND;
  to->compute_cost = cost_model_longest(c->model, c->request, def->name, s ? op_micros(s) : 0);
  to->output_info = weft__arena_alloc(&c->arena, sizeof *to->output_info * (size_t)(n_out + 1));
  if (!to->output_info) return WEFT_OOM;
  for (int slot = 0; slot < n_out; slot++) WEFT_TRY(cost_graph_add_output(c, to, n, s, slot));
  if (n_out > 0 && (kind == KIND_CONST || kind == KIND_VARIABLE) && to->output_info[0]->size > 0)
    to->persistent_memory_size = to->output_info[0]->size;
  return add_inputs(c, to, def);
}

static weft_err add_ends(coster *c) {
  cost_node *source, *sink;
  size_t n = c->def->n_node;
  WEFT_TRY(new_cost_node(c, "_SOURCE", &source));
  WEFT_TRY(new_cost_node(c, "_SINK", &sink));
  sink->control_input = weft__arena_alloc(&c->arena, sizeof *sink->control_input * (n + 1));
  if (!sink->control_input) return WEFT_OOM;
  sink->control_input[sink->n_control_input++] = SOURCE;
  for (size_t i = 0; i < n; i++)
    if (!c->read[i]) sink->control_input[sink->n_control_input++] = FIRST + (int)i /* fits: a position in a list */;
  return WEFT_OK;
}

static weft_err cost_all(coster *c, const Tensorflow__StepStats *stats) {
  tensorflow__cost_graph_def__init(&c->out);
  c->out.node = weft__arena_alloc(&c->arena, sizeof *c->out.node * (c->def->n_node + FIRST));
  if (!c->out.node) return WEFT_OOM;
  WEFT_TRY(find_stats(c, stats));
  WEFT_TRY(cost_graph_find_readers(c));
  WEFT_TRY(add_ends(c));
  for (size_t i = 0; i < c->def->n_node; i++) WEFT_TRY(add_cost(c, (int)i /* fits: a position in a list */));
  return WEFT_OK;
}

static void coster_finish(coster *c) {
  weft__map_finish(&c->stats);
  weft__map_finish(&c->number);
  weft__arena_finish(&c->arena);
}

/* ---- metadata ----------------------------------------------------------------------------------- */

static weft_err cost_graph_add_part(text *out, const Tensorflow__StepStats *stats, const Tensorflow__GraphDef *def,
                                    const weft_graph *g, cost_model *m, uint64_t request) {
  coster c = {.def = def, .graph = g, .model = m, .request = request};
  Tensorflow__RunMetadata meta = TENSORFLOW__RUN_METADATA__INIT;
  weft_err err = cost_all(&c, stats);
  meta.cost_graph = &c.out;
  char *to = err ? NULL : weft__text_reserve(out, tensorflow__run_metadata__get_packed_size(&meta));
  if (to) out->size += tensorflow__run_metadata__pack(&meta, (uint8_t *)to);
  if (!err && !to) err = WEFT_OOM;
  coster_finish(&c);
  return err;
}

weft_err weft__cost_graph_add(text *out, const text *metadata, const parts *p, const weft_graph *g, cost_model *m,
                              uint64_t request) {
  ProtobufCMessage *unpacked;
  weft_err err = WEFT_OK;
  WEFT_TRY(
      weft__proto_unpack(&unpacked, &tensorflow__run_metadata__descriptor, weft__text_get(metadata), metadata->size));
  const Tensorflow__StepStats *stats = ((Tensorflow__RunMetadata *)unpacked)->step_stats;
  for (int i = 0; i < p->n_part && !err; i++) err = cost_graph_add_part(out, stats, &p->part[i].def, g, m, request);
  protobuf_c_message_free_unpacked(unpacked, NULL);
  return err;
}

weft_err weft__cost_graph_pack(const weft_graph *g, const uint8_t *stats, size_t stats_size, uint8_t **out,
                               size_t *size) {
  Tensorflow__GraphDef def;
  ProtobufCMessage *unpacked;
  coster c = {.def = &def, .graph = g};
  WEFT_TRY(weft__proto_unpack(&unpacked, &tensorflow__step_stats__descriptor, stats, stats_size));
  weft_err err = weft__graph_export_proto((weft_graph *)(uintptr_t)g, NULL, &def, &c.arena);
  if (!err) err = cost_all(&c, (const Tensorflow__StepStats *)unpacked);
  if (!err) {
    *size = tensorflow__cost_graph_def__get_packed_size(&c.out);
    *out = weft__alloc(*size + 1);
    if (!*out) err = WEFT_OOM;
    if (!err) tensorflow__cost_graph_def__pack(&c.out, *out);
  }
  protobuf_c_message_free_unpacked(unpacked, NULL);
  coster_finish(&c);
  return err;
}
