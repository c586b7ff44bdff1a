/* variable_nodes.c - nodes that read, assign, initialize and report variables, as TensorFlow builds them. */
#include "train/model/variable_nodes.h"
#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "train/model/variables.h"
#include <string.h>

bool weft__variable_is_resource(const weft_graph *g, weft_out v) {
  return v.node >= 0 && weft__node_is(g->node[v.node], KIND_HANDLE);
}

bool weft__variable_is(const weft_graph *g, weft_out x) {
  if (x.node < 0) return false;
  const weft_node *n = g->node[x.node];
  return weft__node_is(n, KIND_VARIABLE) || weft__node_is(n, KIND_HANDLE);
}

weft_out weft__variable_or_value(weft_graph *g, weft_out x) {
  return weft__variable_is(g, x) ? weft__variable_value(g, x) : x;
}

weft_err weft__variable_check(const weft_graph *g, const char *what, weft_out v) {
  if (v.node < 0 || v.node >= g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: node %d is not one of the graph's %d", what, v.node, g->n_node);
  if (!weft__variable_is(g, v))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: '%s' (op: %s) is not a variable", what, g->node[v.node]->name,
                      g->node[v.node]->op_name);
  return WEFT_OK;
}

weft_dtype weft__variable_type(const weft_graph *g, weft_out v) {
  return v.node < 0 ? WEFT_FLOAT : weft__node_type(g->node[v.node], "dtype");
}

shape weft__variable_shape(const weft_graph *g, weft_out v) {
  const attr *a = v.node < 0 ? NULL : weft__node_attr(g->node[v.node], "shape");
  return a && a->kind == ATTR_SHAPE && a->shape ? *a->shape : SHAPE_UNKNOWN;
}

const char *weft__variable_name(const weft_graph *g, weft_out v) { return v.node < 0 ? "" : g->node[v.node]->name; }

/* ---- lists ---- */

int weft__variables_in(const weft_graph *g, const char *list, weft_out *out, int room) {
  variable_list l;
  if (weft__variables_read(g, list, &l) != WEFT_OK) return 0;
  int n = l.n;
  for (int i = 0; i < n && i < room; i++) out[i] = l.item[i].variable;
  weft__variables_finish(&l);
  return n;
}

attr_str *weft__variable_definition(const weft_graph *g, const char *list, weft_out v) {
  const collection *c = weft__collection_get(g, list);
  const int i = c ? weft__collection_find(c, weft__variable_name(g, v)) : -1;
  return i < 0 ? NULL : &c->s[i];
}

bool weft__variable_listed(const weft_graph *g, const char *list, weft_out v) {
  return weft__variable_definition(g, list, v) != NULL;
}

weft_err weft__variable_add_to(weft_graph *g, const char *list, weft_out v) {
  static const char *const lists[] = {"variables", "local_variables", "trainable_variables",
                                      "moving_average_variables"};
  const attr_str *def = NULL;
  WEFT_TRY(weft__variable_check(g, list, v));
  if (weft__variable_listed(g, list, v)) return WEFT_OK;
  for (size_t i = 0; i < sizeof lists / sizeof *lists && !def; i++) def = weft__variable_definition(g, lists[i], v);
  if (!def)
    return weft__fail(WEFT_NOT_FOUND, "variable '%s' is in no collection of variables", weft__variable_name(g, v));
  return weft__collection_add_bytes(g, list, def->data, def->size);
}

/* ---- the nodes of one variable ---- */

/* Returns NAME/Assign, the usual initializer of a variable, or NULL if that node does not assign it. */
static const weft_node *assign_of(const weft_graph *g, weft_out v) {
  char *name = weft__sprintf("%s/Assign", weft__variable_name(g, v));
  const weft_node *n = name ? weft__graph_find(g, name) : NULL;
  weft__free(name);
  return n && n->n_in == 2 && n->in[0].node == v.node ? n : NULL;
}

/* Finds the initializer in the variable's definition, if it does not have the usual name. */
static weft_err find_item(const weft_graph *g, weft_out v, variable_item *item) {
  arena a = {0};
  weft_err err = weft__variables_find(g, v, &a, item);
  weft__arena_finish(&a);
  if (err == WEFT_OK && item->initializer < 0)
    err = weft__fail(WEFT_NOT_FOUND, "variable '%s' is in no collection of variables", weft__variable_name(g, v));
  return err;
}

weft_err weft__variable_initializer(const weft_graph *g, weft_out v, weft_out *assign) {
  variable_item item;
  WEFT_TRY(weft__variable_check(g, "initializer", v));
  const weft_node *usual = assign_of(g, v);
  if (!usual) WEFT_TRY(find_item(g, v, &item));
  *assign = (weft_out){usual ? usual->id : item.initializer, 0};
  return WEFT_OK;
}

weft_err weft__variable_initial(const weft_graph *g, weft_out v, weft_out *value) {
  variable_item item;
  WEFT_TRY(weft__variable_check(g, "initial value", v));
  const weft_node *usual = assign_of(g, v);
  if (!usual) WEFT_TRY(find_item(g, v, &item));
  *value = usual ? usual->in[1] : item.initial;
  return WEFT_OK;
}

static weft_out read_resource(weft_graph *g, weft_out v) {
  shape s = weft__variable_shape(g, v);
  weft_out o = weft__b_node(g, "ReadVariableOp", NULL, 1, &v, 1, &A_TYPE("dtype", weft__variable_type(g, v)));
  if (o.node >= 0) g->node[o.node]->out_shape[0] = s;
  return o;
}

weft_out weft__variable_value(weft_graph *g, weft_out v) {
  if (v.node < 0 || !weft__named_keep(g, weft__variable_check(g, "value", v))) return WEFT_NONE;
  if (weft__variable_is_resource(g, v)) {
    weft__named_push_anywhere(g);
    weft_out o = read_resource(g, v);
    weft__b_pop(g);
    return o;
  }
  char *name = weft__sprintf("%s/read", weft__variable_name(g, v));
  if (!name) weft__named_keep(g, WEFT_OOM);
  const weft_node *read = name ? weft__graph_find(g, name) : NULL;
  weft__free(name);
  return read ? (weft_out){read->id, 0}
              : v; /* an imported variable may have no read node; then the reference is returned */
}

/* ---- new variables ---- */

weft_out weft__variable_new(weft_graph *g, const new_variable *v) {
  if (g->sticky.code) return WEFT_NONE;
  const char *prefix = weft__scope_prefix(g);
  char *full = *prefix ? weft__sprintf("%s/%s", prefix, v->name) : weft__strdup(v->name);
  variable_spec spec = {.name = v->name, .untrainable = !v->trainable, .local = v->local, .resource = v->resource};
  variable_nodes nodes = {.variable = WEFT_NONE};
  weft_tensor *t = NULL;
  weft_err err = full ? WEFT_OK : WEFT_OOM;
  if (v->initial.out.node >= 0) {
    spec.init = (initializer){.kind = INIT_OUTPUT, .output = v->initial.out};
  } else if (err == WEFT_OK) {
    err = weft__tensor_scalar(&t, v->dtype, v->initial.number);
    spec.init = (initializer){.kind = INIT_TENSOR, .tensor = t};
  }
  if (err == WEFT_OK) err = weft__variable_build(g, full, &spec, &nodes);
  weft_tensor_destroy(t);
  weft__free(full);
  return weft__named_keep(g, err) ? nodes.variable : WEFT_NONE;
}

/* ---- changing ---- */

static weft_out change_ref(weft_graph *g, change how, const char *name, weft_out v, term value, bool locked) {
  static const char *const types[] = {"Assign", "AssignAdd", "AssignSub"};
  weft__named_push(g, name, types[how]);
  weft_out in[] = {v, value.out};
  if (in[1].node < 0) in[1] = weft__n_scalar(g, "value", weft__variable_type(g, v), value.number);
  weft__b_push_colocate(g, v.node);
  weft_out o = weft__n_scope_node(g, types[how], 2, in, 1, &A_BOOL("use_locking", locked));
  weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

static weft_out change_resource(weft_graph *g, change how, const char *name, weft_out v, term value, int *node) {
  static const char *const types[] = {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"};
  weft_out in[] = {v, value.out};
  if (in[1].node < 0) in[1] = weft__n_scalar(g, "Const", weft__variable_type(g, v), value.number);
  weft_out changed = weft__b_node(g, types[how], name, 2, in, how == CHANGE_SET, &A_BOOL("validate_shape", true));
  if (changed.node < 0) return WEFT_NONE;
  *node = changed.node;
  weft__b_push_control(g, 1, node);
  weft_out o = read_resource(g, v);
  weft__b_pop(g);
  return o;
}

weft_out weft__variable_change(weft_graph *g, change how, const char *name, weft_out v, term value, bool locked,
                               int *node) {
  int made = -1;
  if (!node) node = &made;
  *node = -1;
  if (g->sticky.code || !weft__named_keep(g, weft__variable_check(g, "assign", v))) return WEFT_NONE;
  if (weft__variable_is_resource(g, v)) return change_resource(g, how, name, v, value, node);
  weft_out o = change_ref(g, how, name, v, value, locked);
  *node = o.node;
  return o;
}

/* ---- all variables ---- */

weft_out weft__variables_init(weft_graph *g, const char *name, int n, const weft_out *v) {
  int *ids = weft__alloc(((size_t)n + 1) * sizeof *ids);
  weft_err err = ids ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n && err == WEFT_OK; i++) {
    weft_out assign = WEFT_NONE;
    err = weft__variable_initializer(g, v[i], &assign);
    ids[i] = assign.node;
  }
  weft_out o = weft__named_keep(g, err) ? weft__n_group(g, name ? name : "init", n, ids) : WEFT_NONE;
  weft__free(ids);
  return o;
}

static weft_out is_initialized(weft_graph *g, weft_out v) {
  if (!weft__named_keep(g, weft__variable_check(g, "report_uninitialized_variables", v))) return WEFT_NONE;
  if (weft__variable_is_resource(g, v)) return weft__b_node(g, "VarIsInitializedOp", NULL, 1, &v, 0, NULL);
  weft__b_push_colocate(g, v.node);
  weft_out o = weft__b_node(g, "IsVariableInitialized", NULL, 1, &v, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out names_const(weft_graph *g, int n, const weft_out *v) {
  const char **names = weft__alloc(((size_t)n + 1) * sizeof *names);
  if (!names) weft__named_keep(g, WEFT_OOM);
  for (int i = 0; i < n && names; i++) names[i] = weft__variable_name(g, v[i]);
  weft_out o = names ? weft__n_strings(g, "Const", n, names) : WEFT_NONE;
  weft__free(names);
  return o;
}

/* Returns the names whose mask is set. */
static weft_out mask_names(weft_graph *g, weft_out names, weft_out mask) {
  weft__b_push_name(g, "boolean_mask");
  weft_out where = weft__named_unary(g, "Where", "Where", mask);
  int64_t axis = 1;
  weft_out at = weft__b_node(g, "Squeeze", NULL, 1, &where, 1, &A_INTS("squeeze_dims", &axis, 1));
  weft_out o = weft__named_gather(g, names, at);
  weft__b_pop(g);
  return o;
}

weft_out weft__variables_report(weft_graph *g, const char *name, int n, const weft_out *v) {
  if (g->sticky.code) return WEFT_NONE;
  weft_out *ready = weft__alloc(((size_t)n + 1) * sizeof *ready);
  if (!ready) weft__named_keep(g, WEFT_OOM);
  weft__named_push(g, name, "report_uninitialized_variables");
  for (int i = 0; i < n && ready && !g->sticky.code; i++) ready[i] = is_initialized(g, v[i]);
  weft__n_push_device(g, "/device:CPU:0");
  weft_out o = WEFT_NONE, mask = WEFT_NONE;
  if (ready && !g->sticky.code) {
    if (n) mask = weft__named_unary(g, "LogicalNot", "LogicalNot", weft__named_pack(g, "stack", n, ready, 0));
    o = names_const(g, n, v);
    if (n) o = mask_names(g, o, mask);
  }
  weft__b_pop(g);
  weft__b_pop(g);
  weft__free(ready);
  return o;
}
