/* variable.c - the public functions that create variables, and nodes that use all variables at once.
 *
 * A variable has TensorFlow's form: a VariableV2 `name`, its `name/Assign` and its `name/read`, listed as a
 * VariableDef in the collections that savers and other programs read.  So weft_trainable and weft_initializer also
 * find the variables of an imported MetaGraphDef. */
#include "api/argument.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "proto/scan.h"
#include "tf.pb-c.h"
#include "train/model/variable_nodes.h"

#define ALL "variables"
#define TRAINABLE "trainable_variables"

static void variable_keep_error(weft_graph *g, weft_err err) { weft__status_update(&g->sticky, err); }

static char *out_name(const weft_graph *g, weft_out o) {
  return weft__sprintf("%s:%d", g->node[o.node]->name, (int)o.slot);
}

static weft_err variable_add_packed(weft_graph *g, const Tensorflow__VariableDef *def) {
  size_t size = tensorflow__variable_def__get_packed_size(def);
  uint8_t *bytes = weft__alloc(size + 1);
  if (!bytes) return WEFT_OOM;
  tensorflow__variable_def__pack(def, bytes);
  weft_err err = weft__collection_add_bytes(g, ALL, bytes, size);
  if (err == WEFT_OK && def->trainable) err = weft__collection_add_bytes(g, TRAINABLE, bytes, size);
  weft__free(bytes);
  return err;
}

static weft_err list_variable(weft_graph *g, weft_out variable, weft_out initial, weft_out assign, weft_out read,
                              bool trainable) {
  Tensorflow__VariableDef def = TENSORFLOW__VARIABLE_DEF__INIT;
  char *names[] = {out_name(g, variable), out_name(g, initial), out_name(g, read)};
  weft_err err = WEFT_OOM;
  if (names[0] && names[1] && names[2]) {
    def.variable_name = names[0];
    def.initial_value_name = names[1];
    def.snapshot_name = names[2];
    def.initializer_name = (char *)(uintptr_t)g->node[assign.node]->name;
    def.trainable = trainable;
    err = variable_add_packed(g, &def);
  }
  for (int i = 0; i < 3; i++) weft__free(names[i]);
  return err;
}

weft_out weft_variable(weft_graph *g, const char *name, weft_out initial, bool trainable) {
  API_NEED_OUT(NULL, g);

  if (initial.node < 0) return WEFT_NONE;
  if (weft__variable_scope_resource(g))
    return weft__variable_new(
        g, &(new_variable){
               .name = name ? name : "Variable", .initial = OUT(initial), .resource = true, .trainable = trainable});
  shape s = *weft__out_shape(g, initial);
  weft_dtype type = weft__dtype_base(weft__out_type(g, initial));
  weft_out v = weft__b_node(g, "VariableV2", name ? name : "Variable", 0, NULL, 2,
                            (attr[]){A_SHAPE("shape", &s), A_TYPE("dtype", type)});
  if (v.node < 0) return v;
  char *inside = weft__sprintf("%s/", g->node[v.node]->name);
  if (!inside) {
    variable_keep_error(g, WEFT_OOM);
    return WEFT_NONE;
  }
  weft__b_push_name(g, inside);
  weft__b_push_colocate(g, v.node);
  weft_out assign = weft__b_node(g, "Assign", NULL, 2, (weft_out[]){v, initial}, 0, NULL);
  weft_out read = weft__b_node(g, "Identity", "read", 1, &v, 0, NULL);
  weft__b_pop(g);
  weft__b_pop(g);
  weft__free(inside);
  if (assign.node < 0 || read.node < 0) return WEFT_NONE;
  variable_keep_error(g, list_variable(g, v, initial, assign, read, trainable));
  return v;
}

/* Returns variable i of a list, or NULL if it cannot be parsed. */
static Tensorflow__VariableDef *variable_def(const collection *list, int i) {
  ProtobufCMessage *m = NULL;
  if (weft__proto_unpack(&m, &tensorflow__variable_def__descriptor, list->s[i].data, list->s[i].size) != WEFT_OK)
    return NULL;
  return (Tensorflow__VariableDef *)m;
}

static const collection *variables_of(const weft_graph *g, const char *name) {
  const collection *list = weft__collection_get(g, name);
  return list && list->kind == COLLECTION_BYTES ? list : NULL;
}

int weft_trainable(const weft_graph *g, weft_out *out, int room) {
  API_NEED_OR(g, 0);
  if (!out) room = 0;

  const collection *list = variables_of(g, TRAINABLE);
  int found = 0;
  for (int i = 0; list && i < list->n; i++) {
    Tensorflow__VariableDef *def = variable_def(list, i);
    if (!def) continue;
    weft_out v = weft_graph_find(g, def->variable_name);
    tensorflow__variable_def__free_unpacked(def, NULL);
    if (v.node < 0) continue;
    if (found < room) out[found] = v;
    found++;
  }
  return found;
}

/* Adds a NoOp that runs after these nodes. */
static weft_out run_after(weft_graph *g, const char *name, int n, const int *ids) {
  return weft__b_add_node(g, &(node_spec){.op = "NoOp", .name = name, .n_control = n, .control = ids});
}

weft_out weft_initializer(weft_graph *g) {
  API_NEED_OUT(NULL, g);

  const collection *list = variables_of(g, ALL);
  int n = 0, *ids = weft__alloc(sizeof *ids * (size_t)((list ? list->n : 0) + 1));
  if (!ids) variable_keep_error(g, WEFT_OOM);
  for (int i = 0; ids && list && i < list->n; i++) {
    Tensorflow__VariableDef *def = variable_def(list, i);
    weft_out assign = def ? weft_graph_find(g, def->initializer_name) : WEFT_NONE;
    if (assign.node >= 0) ids[n++] = assign.node;
    if (def) tensorflow__variable_def__free_unpacked(def, NULL);
  }
  weft_out init = ids ? run_after(g, "init", n, ids) : WEFT_NONE;
  weft__free(ids);
  return init;
}

weft_out weft_group(weft_graph *g, const char *name, int n, const weft_out *all) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, all);
  API_ALL_OF_OUT(g, n, all);

  int *ids = weft__alloc(sizeof *ids * (size_t)(n + 1));
  if (!ids) variable_keep_error(g, WEFT_OOM);
  weft_err err = ids ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n && err == WEFT_OK; i++) {
    ids[i] = all[i].node;
    if (ids[i] < 0 || ids[i] >= g->n_node)
      err = weft__fail(WEFT_INVALID_ARGUMENT, "group '%s': input %d of %d is no node of the graph", name ? name : "", i,
                       n);
  }
  variable_keep_error(g, err);
  weft_out made = err == WEFT_OK ? run_after(g, name ? name : "group_deps", n, ids) : WEFT_NONE;
  weft__free(ids);
  return made;
}
