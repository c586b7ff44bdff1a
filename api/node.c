/* node.c - reads nodes and outputs and changes existing nodes, for front ends in other languages. */
#include "api/argument.h"
#include "base/alloc.h"
#include "graph/attr_proto.h"
#include "graph/graph.h"
#include "graph/graphdef.h"
#include "graph/scope.h"
#include "proto/scan.h"

static weft_err no_node(const weft_graph *g, int node) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "there is no node %d in a graph of %d", node, g->n_node);
}

static bool is_node(const weft_graph *g, int node) { return node >= 0 && node < g->n_node; }

static weft_err no_out(weft_out o) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%d:%d is no output of the graph", o.node, o.slot);
}

/* ---- outputs --------------------------------------------------------------------------------------- */

bool weft_out_is_ref(const weft_graph *g, weft_out o) {
  API_NEED_OR(g, false);
  return weft__out_belongs(g, o) && weft__out_is_ref(g, o);
}

weft_err weft_out_set_shape(weft_graph *g, weft_out o, int rank, const int64_t *dims) {
  API_NEED(g);
  API_ITEMS(rank, dims);
  API_OF(g, o);

  shape more = SHAPE_UNKNOWN;
  if (!weft__out_belongs(g, o)) return no_out(o);
  if (rank >= 0) WEFT_TRY(weft__shape_make(&more, rank, dims));
  return weft__out_merge_shape(g, o, &more);
}

weft_err weft_out_constant(weft_tensor **out, const weft_graph *g, weft_out o) {
  API_NEED(out);
  API_NEED(g);
  API_OF(g, o);

  *out = NULL;
  if (!weft__out_belongs(g, o)) return no_out(o);
  *out = weft__graph_constant(g, o);
  return WEFT_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

int weft_node_control_count(const weft_node *n) {
  API_NEED_OR(n, 0);
  return n->n_control;
}

weft_out weft_node_control(const weft_node *n, int i) {
  API_NEED_OUT(NULL, n);

  return i >= 0 && i < n->n_control ? weft__graph_out(n->graph, n->control[i], 0) : WEFT_NONE;
}

weft_err weft_node_export(void **out, size_t *size, const weft_node *n) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(n);

  arena a = {0};
  Tensorflow__NodeDef def;
  pthread_mutex_lock(&n->graph->lock);
  weft_err err = weft__node_export_proto(n, &def, &a);
  if (!err) err = weft__proto_pack(&def.base, out, size);
  pthread_mutex_unlock(&n->graph->lock);
  weft__arena_finish(&a);
  return err;
}

weft_err weft_node_attr(void **out, size_t *size, const weft_node *n, const char *name) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(n);
  API_NEED(name);

  const attr *found = weft__node_attr(n, name);
  if (!found) return weft__fail(WEFT_NOT_FOUND, "Operation '%s' has no attr named '%s'.", n->name, name);
  arena a = {0};
  Tensorflow__AttrValue v;
  weft_err err = weft__attr_to_proto(&v, found, &a);
  if (!err) err = weft__proto_pack(&v.base, out, size);
  weft__arena_finish(&a);
  return err;
}

weft_err weft_node_set_attr(weft_graph *g, int node, const char *name, const void *attr_value, size_t size) {
  API_NEED(g);
  API_NEED(name);
  API_ITEMS(size, attr_value);

  ProtobufCMessage *m;
  arena a = {0};
  attr made = {0};
  if (!is_node(g, node)) return no_node(g, node);
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__attr_value__descriptor, attr_value, size));
  weft_err err = weft__attr_from_proto(&made, name, (const Tensorflow__AttrValue *)m, &a);
  if (!err) err = weft__graph_set_attr(g, g->node[node], &made);
  if (!err) weft__attr_release(&made);
  protobuf_c_message_free_unpacked(m, NULL);
  weft__arena_finish(&a);
  return err;
}

weft_err weft_node_set_device(weft_graph *g, int node, const char *device) {
  API_NEED(g);

  if (!is_node(g, node)) return no_node(g, node);
  pthread_mutex_lock(&g->lock);
  const char *copy = weft__arena_strdup(&g->arena, device ? device : "");
  if (copy) g->node[node]->device = copy;
  if (copy) g->generation++;
  pthread_mutex_unlock(&g->lock);
  return copy ? WEFT_OK : WEFT_OOM;
}

weft_err weft_node_add_control(weft_graph *g, int node, weft_out before) {
  API_NEED(g);
  API_OF(g, before);

  return is_node(g, node) ? weft__graph_add_control(g, g->node[node], before.node) : no_node(g, node);
}

weft_err weft_loop_options(weft_graph *g, weft_out output, bool back_prop, bool swap_memory) {
  API_NEED(g);
  API_OF(g, output);

  if (!is_node(g, output.node)) return no_node(g, output.node);
  weft_node *n = g->node[output.node];
  if (strcmp(n->op_name, "Exit") != 0 && strcmp(n->op_name, "RefExit") != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is a %s, not the output of a loop (an Exit)", n->name, n->op_name);
  n->no_back_prop = !back_prop, n->swap_memory = swap_memory;
  return WEFT_OK;
}

weft_err weft_node_set_input(weft_graph *g, int node, int i, weft_out from) {
  API_NEED(g);

  return is_node(g, node) ? weft__graph_set_input(g, g->node[node], i, from) : no_node(g, node);
}
