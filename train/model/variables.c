/* variables.c - parses VariableDefs.  A node that a definition names but the graph lacks is an error that names it. */
#include "train/model/variables.h"

#include "base/alloc.h"
#include "base/text.h"
#include "graph/collection.h"
#include "proto/scan.h"
#include "tf.pb-c.h"
#include "train/model/nodes.h"

/* Formats a slice like TF: the full shape, then start and length of each dimension. */
static weft_err slice_text(const Tensorflow__SaveSliceInfoDef *d, arena *a, const char **out) {
  text t = {0};
  if (d->n_var_offset != d->n_full_shape || d->n_var_shape != d->n_full_shape)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a slice of '%s' has %zu offsets and %zu lengths for %zu dimensions",
                      d->full_name, d->n_var_offset, d->n_var_shape, d->n_full_shape);
  for (size_t i = 0; i < d->n_full_shape; i++) weft__text_printf(&t, "%lld ", (long long)d->full_shape[i]);
  for (size_t i = 0; i < d->n_var_offset; i++)
    weft__text_printf(&t, "%s%lld,%lld", i ? ":" : "", (long long)d->var_offset[i], (long long)d->var_shape[i]);
  *out = t.failed ? NULL : weft__arena_strdup(a, weft__text_get(&t));
  weft__text_finish(&t);
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err optional_out(const weft_graph *g, const char *name, weft_out *out) {
  *out = WEFT_NONE;
  return *name ? weft__graph_find_out(g, name, out) : WEFT_OK;
}

static weft_err from_def(const weft_graph *g, const Tensorflow__VariableDef *d, arena *a, variable_item *out) {
  *out = (variable_item){.slice = "", .initializer = -1, .resource = d->is_resource};
  WEFT_TRY(weft__graph_find_out(g, d->variable_name, &out->variable));
  WEFT_TRY(optional_out(g, d->snapshot_name, &out->read));
  WEFT_TRY(optional_out(g, d->initial_value_name, &out->initial));
  if (*d->initializer_name) WEFT_TRY(weft__n_find(g, d->initializer_name, &out->initializer));
  out->name = out->full_name = g->node[out->variable.node]->name;
  if (!d->save_slice_info_def) return WEFT_OK;
  out->full_name = weft__arena_strdup(a, d->save_slice_info_def->full_name);
  return out->full_name ? slice_text(d->save_slice_info_def, a, &out->slice) : WEFT_OOM;
}

static weft_err variable_unpack(const collection *c, int i, ProtobufCMessage **m) {
  weft_err err = weft__proto_unpack(m, &tensorflow__variable_def__descriptor, c->s[i].data, c->s[i].size);
  return err ? weft__fail_in(err, "entry %d of collection '%s'", i, c->name) : WEFT_OK;
}

static const collection *variable_definitions(const weft_graph *g, const char *list) {
  const collection *c = weft__collection_get(g, list);
  return c && c->kind == COLLECTION_BYTES ? c : NULL;
}

weft_err weft__variables_read(const weft_graph *g, const char *list, variable_list *out) {
  const collection *c = variable_definitions(g, list);
  *out = (variable_list){0};
  if (!c) return WEFT_OK;
  weft_err err =
      (out->item = weft__arena_alloc(&out->arena, sizeof *out->item * (size_t)(c->n + 1))) ? WEFT_OK : WEFT_OOM;
  for (int i = 0; !err && i < c->n; i++) {
    ProtobufCMessage *m;
    err = variable_unpack(c, i, &m);
    if (err) break;
    err = from_def(g, (const Tensorflow__VariableDef *)m, &out->arena, &out->item[out->n++]);
    protobuf_c_message_free_unpacked(m, NULL);
  }
  if (err) weft__variables_finish(out);
  return err;
}

/* Finds the definition of a variable in any of the usual lists. */
static weft_err find_def(const weft_graph *g, weft_out variable, arena *a, variable_item *out, bool *found) {
  static const char *const lists[] = {"variables", "local_variables", "trainable_variables", "model_variables",
                                      "moving_average_variables"};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    const collection *c = variable_definitions(g, lists[l]);
    const int i = c ? weft__collection_find(c, g->node[variable.node]->name) : -1;
    if (i < 0) continue;
    ProtobufCMessage *m;
    WEFT_TRY(variable_unpack(c, i, &m));
    weft_err err = from_def(g, (const Tensorflow__VariableDef *)m, a, out);
    protobuf_c_message_free_unpacked(m, NULL);
    *found = true;
    return err;
  }
  return WEFT_OK;
}

weft_err weft__variables_find(const weft_graph *g, weft_out variable, arena *a, variable_item *out) {
  bool found = false;
  if (variable.node < 0 || variable.node >= g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d:%d is no output of the graph", variable.node, variable.slot);
  const weft_node *n = g->node[variable.node];
  WEFT_TRY(find_def(g, variable, a, out, &found));
  if (found) return WEFT_OK;
  bool resource = weft__node_is(n, KIND_HANDLE);
  if (!resource && (n->n_out == 0 || !weft__out_is_ref(g, variable)))
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is a %s and no variable", n->name, n->op_name);
  *out = (variable_item){n->name, variable, WEFT_NONE, WEFT_NONE, -1, resource, n->name, ""};
  return WEFT_OK;
}

void weft__variables_finish(variable_list *l) {
  weft__arena_finish(&l->arena);
  *l = (variable_list){0};
}
