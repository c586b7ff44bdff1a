/* export.c - converts nodes of a graph to a GraphDef. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/attr_proto.h"
#include "graph/graphdef.h"
#include "graph/library.h"
#include <stdio.h>

static weft_err export_oom(void) { return weft__fail(WEFT_OOM, "no memory to export a graph"); }

/* Casts a C string for protobuf-c, which only reads it. */
static char *export_string(const char *s) { return (char *)(uintptr_t)s; }

/* Formats an input: "a", "a:1" or, with slot -1, "^a". */
static char *input_text(const char *name, int slot, arena *a) {
  if (slot == 0) return export_string(name);
  char *s = weft__arena_alloc(a, strlen(name) + 16);
  if (s && slot < 0) sprintf(s, "^%s", name);
  if (s && slot > 0) sprintf(s, "%s:%d", name, slot);
  return s;
}

static weft_err write_inputs(Tensorflow__NodeDef *def, const weft_node *n, arena *a) {
  WEFT_ASSERT(n->graph && n->n_in >= 0 && n->n_control >= 0);
  const weft_graph *g = n->graph;
  def->n_input = (size_t)(n->n_in + n->n_control);
  def->input = weft__arena_alloc(a, sizeof *def->input * (def->n_input + 1));
  if (!def->input) return export_oom();
  for (int i = 0; i < n->n_in; i++) {
    def->input[i] = input_text(g->node[n->in[i].node]->name, n->in[i].slot, a);
    if (!def->input[i]) return export_oom();
  }
  for (int i = 0; i < n->n_control; i++) {
    def->input[n->n_in + i] = input_text(g->node[n->control[i]]->name, -1, a);
    if (!def->input[n->n_in + i]) return export_oom();
  }
  return WEFT_OK;
}

static weft_err write_attr(Tensorflow__NodeDef *def, const attr *from, arena *a) {
  Tensorflow__NodeDefAttrEntry *e = weft__arena_alloc(a, sizeof *e);
  if (!e) return export_oom();
  tensorflow__node_def_attr_entry__init(e);
  e->key = export_string(from->name);
  e->value = weft__arena_alloc(a, sizeof *e->value);
  if (!e->value) return export_oom();
  def->attr[def->n_attr++] = e;
  return weft__attr_to_proto(e->value, from, a);
}

static weft_err write_unknown(Tensorflow__NodeDef *def, const weft_node *n, arena *a) {
  if (n->unknown.size == 0) return WEFT_OK;
  ProtobufCAllocator into = weft__arena_allocator(a);
  const Tensorflow__NodeDef *rest =
      tensorflow__node_def__unpack(&into, n->unknown.size, (const uint8_t *)n->unknown.data);
  if (!rest) return export_oom();
  def->base.n_unknown_fields = rest->base.n_unknown_fields;
  def->base.unknown_fields = rest->base.unknown_fields;
  return WEFT_OK;
}

static weft_err write_node(Tensorflow__NodeDef *def, const weft_node *n, const export_opts *opts, arena *a) {
  tensorflow__node_def__init(def);
  def->name = export_string(n->name);
  def->op = export_string(n->op_name);
  def->device = export_string(n->device);
  WEFT_TRY(write_inputs(def, n, a));
  def->attr = weft__arena_alloc(a, sizeof *def->attr * (size_t)(n->n_attr + 1));
  if (!def->attr) return export_oom();
  for (int i = 0; i < n->n_attr; i++) WEFT_TRY(write_attr(def, &n->attr[i], a));
  if (opts->output_shapes && n->op && n->n_out > 0)
    WEFT_TRY(write_attr(def, &A_SHAPES("_output_shapes", n->out_shape, n->n_out), a));
  return write_unknown(def, n, a);
}

weft_err weft__node_export_proto(const weft_node *n, Tensorflow__NodeDef *out, arena *a) {
  return write_node(out, n, &(export_opts){0}, a);
}

static weft_err write_rest(Tensorflow__GraphDef *out, const weft_graph *g, arena *a) {
  out->versions = weft__arena_alloc(a, sizeof *out->versions);
  if (!out->versions) return export_oom();
  tensorflow__version_def__init(out->versions);
  out->versions->producer = g->version_producer;
  out->versions->min_consumer = g->version_min_consumer;
  return weft__library_export(g, a, &out->library);
}

static weft_err write_graph(Tensorflow__GraphDef *out, const weft_graph *g, const export_opts *opts, arena *a) {
  int first = opts->first < 0 ? 0 : opts->first;
  tensorflow__graph_def__init(out);
  size_t n = first < g->n_node ? (size_t)(g->n_node - first) : 0;
  Tensorflow__NodeDef *def = weft__arena_alloc(a, sizeof *def * (n + 1));
  out->node = weft__arena_alloc(a, sizeof *out->node * (n + 1));
  if (!def || !out->node) return export_oom();
  for (out->n_node = 0; out->n_node < n; out->n_node++) {
    out->node[out->n_node] = &def[out->n_node];
    WEFT_TRY(write_node(&def[out->n_node], g->node[(size_t)first + out->n_node], opts, a));
  }
  return write_rest(out, g, a);
}

weft_err weft__graph_export_proto(weft_graph *g, const export_opts *opts, Tensorflow__GraphDef *out, arena *a) {
  const export_opts none = {0};
  pthread_mutex_lock(&g->lock);
  weft_err err = write_graph(out, g, opts ? opts : &none, a);
  pthread_mutex_unlock(&g->lock);
  return err;
}

static weft_err export_pack(const Tensorflow__GraphDef *def, uint8_t **bytes, size_t *size) {
  size_t need = tensorflow__graph_def__get_packed_size(def);
  if (need > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "GraphDef cannot be larger than 2GB, and this one has %zu bytes", need);
  if (!(*bytes = weft__alloc(need + 1))) return WEFT_OOM;
  *size = tensorflow__graph_def__pack(def, *bytes);
  return WEFT_OK;
}

weft_err weft__graph_export(weft_graph *g, const export_opts *opts, uint8_t **bytes, size_t *size) {
  arena tmp = {0};
  Tensorflow__GraphDef def;
  pthread_mutex_lock(&g->lock);
  weft_err err = weft__graph_export_proto(g, opts, &def, &tmp);
  if (err == WEFT_OK) err = export_pack(&def, bytes, size);
  pthread_mutex_unlock(&g->lock);
  weft__arena_finish(&tmp);
  return err;
}
