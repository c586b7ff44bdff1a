/* optimizer.c - the common part of all optimizers: gradients, slots, one update for each variable, the step count.
 *
 * The nodes and their order are TensorFlow's.  Slots are colocated with their variable, so they are on its ps and do
 * not advance a round-robin placement.  Updates are placed there too, so that only gradients are sent. */
#include "train/model/optimizer.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/suggest.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "train/model/partition.h"
#include <math.h>
#include <string.h>

typedef struct slot_ref {
  weft_out out;
} slot_ref;

/* ---- creation and parameters ---- */

static const optimizer_kind *find_kind(const char *name) {
  for (int i = 0; weft__optimizer_kinds[i]; i++)
    if (strcmp(weft__optimizer_kinds[i]->name, name) == 0) return weft__optimizer_kinds[i];
  return NULL;
}

static weft_err unknown_kind(const char *name) {
  suggestion s = {.what = "optimizer", .name = name};
  for (int i = 0; weft__optimizer_kinds[i]; i++) weft__suggest_offer(&s, weft__optimizer_kinds[i]->name);
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

static weft_err unknown_param(const weft_optimizer *o, const char *name) {
  suggestion s = {.what = "parameter", .name = name};
  for (int i = 0; i < OPTIMIZER_PARAMS && o->kind->param[i].name; i++) weft__suggest_offer(&s, o->kind->param[i].name);
  weft__suggest_offer(&s, "use_locking");
  return weft__fail_in(weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT), "%s", o->kind->name);
}

weft_err weft__optimizer_create(weft_optimizer **out, weft_graph *g, const char *kind, const char *name) {
  const optimizer_kind *k = kind ? find_kind(kind) : NULL;
  *out = NULL;
  if (!k) return unknown_kind(kind ? kind : "");
  weft_optimizer *o = weft__alloc_zero(1, sizeof *o);
  char *copy = weft__strdup(name ? name : k->name);
  if (!o || !copy) {
    weft__free(o);
    weft__free(copy);
    return WEFT_OOM;
  }
  o->g = g;
  o->kind = k;
  o->name = copy;
  o->step = WEFT_NONE;
  for (int i = 0; i < OPTIMIZER_PARAMS; i++) o->value[i] = (setting){false, k->param[i].standard, WEFT_NONE};
  *out = o;
  return WEFT_OK;
}

void weft__optimizer_destroy(weft_optimizer *o) {
  if (!o) return;
  for (int i = 0; i < OPTIMIZER_SLOTS; i++) weft__map_finish(&o->slot[i]); /* the graph owns the values */
  weft__free(o->name);
  weft__free(o);
}

int weft__optimizer_param(const weft_optimizer *o, const char *name) {
  for (int i = 0; i < OPTIMIZER_PARAMS && o->kind->param[i].name; i++)
    if (strcmp(o->kind->param[i].name, name) == 0) return i;
  return -1;
}

double weft__optimizer_number(const weft_optimizer *o, const char *name) {
  int i = weft__optimizer_param(o, name);
  return i < 0 ? 0 : o->value[i].number;
}

weft_err weft__optimizer_set(weft_optimizer *o, const char *param, const setting *value) {
  int i = weft__optimizer_param(o, param);
  if (i < 0 && strcmp(param, "use_locking") == 0) {
    o->locked = value->number != 0;
    return WEFT_OK;
  }
  if (i < 0 && value->output.node >= 0 && strcmp(param, "global_step") == 0) {
    o->step = value->output;
    return WEFT_OK;
  }
  if (i < 0) return unknown_param(o, param);
  if (value->output.node >= 0 && !o->kind->param[i].node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' of %s must be a number, not an output", param, o->kind->name);
  o->value[i] = *value;
  o->value[i].set = true;
  return WEFT_OK;
}

/* Returns the row to use for these parameters. */
static const optimizer_kind *optimizer_chosen(const weft_optimizer *o) {
  const optimizer_kind *k = o->kind;
  return k->chooser && weft__optimizer_number(o, k->chooser) != 0 ? k->instead : k;
}

static weft_err check_params(const weft_optimizer *o) {
  for (int i = 0; i < OPTIMIZER_PARAMS && o->kind->param[i].name; i++)
    if (o->value[i].output.node < 0 && isnan(o->value[i].number))
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s needs '%s'", o->kind->name, o->kind->param[i].name);
  return WEFT_OK;
}

/* ---- gradients ---- */

grad_value weft__gradient_in(const weft_gradient *d) {
  return (grad_value){d->dense, d->indices, d->values, d->dense_shape};
}

weft_gradient weft__gradient_out(const grad_value *d) {
  return (weft_gradient){d->dense, d->indices, d->values, d->dense_shape};
}

static weft_out *optimizer_value_of(grad_value *d) { return d->indices.node >= 0 ? &d->values : &d->dense; }

/* GATE_GRAPH: no gradient is used before all are computed. */
static weft_err gate_graph(weft_graph *g, int n, grad_value *d) {
  int count = 0, *ids = weft__alloc(((size_t)n + 1) * sizeof *ids);
  if (!ids) return WEFT_OOM;
  for (int i = 0; i < n; i++)
    if (optimizer_value_of(&d[i])->node >= 0) ids[count++] = optimizer_value_of(&d[i])->node;
  weft__b_push_name(g, "tuple");
  weft_out all = weft__n_group(g, NULL, count, ids);
  for (int i = 0; i < n && all.node >= 0; i++) {
    weft_out *v = optimizer_value_of(&d[i]);
    if (v->node >= 0) *v = weft__named_after(g, "control_dependency", 1, &all.node, *v);
  }
  weft__b_pop(g);
  weft__free(ids);
  return weft__b_ok(g);
}

weft_err weft__optimizer_compute(weft_graph *g, weft_out loss, int n, const weft_out *vars,
                                 const weft_minimize_opts *opts, grad_value *out) {
  const weft_minimize_opts standard = {.gate = WEFT_GATE_OP}, *p = opts ? opts : &standard;
  gradient_opts how = {.colocate = p->colocate, .gate = p->gate == WEFT_GATE_OP, .sum = p->tree ? SUM_TREE : SUM_ADD_N};
  WEFT_TRY(weft__gradients(g, 1, &loss, n, vars, p->grad_loss, &how, out));
  return p->gate == WEFT_GATE_GRAPH ? gate_graph(g, n, out) : WEFT_OK;
}

/* ---- slots ---- */

static weft_out scaled_ones(weft_graph *g, const char *slot, weft_dtype type, const shape *s, double v) {
  char *exact = weft__sprintf("%s/Initializer/", slot);
  if (!exact) weft__named_keep(g, WEFT_OOM);
  weft__b_push_name(g, exact);
  weft_out ones = weft__named_full(g, "ones", type, s, 1);
  weft_out o = weft__named_binary(g, "Mul", "mul", OUT(ones), NUM(v));
  weft__b_pop(g);
  weft__free(exact);
  return o;
}

/* Creates a slot in the variable scope "w/SLOT", colocated with w.  The scope names the slot: "w/Adam", then
 * "w/Adam_1". */
static weft_err make_slot(weft_optimizer *o, const optimizer_slot *slot, weft_out v, weft_out value, weft_out *out) {
  weft_graph *g = o->g;
  const variable_scope *entered;
  double number = slot->param ? weft__optimizer_number(o, slot->param) : 0;
  variable_spec spec = {.name = "",
                        .has_shape = true,
                        .shape = weft__variable_shape(g, v),
                        .dtype = weft__variable_type(g, v),
                        .untrainable = true,
                        .resource = weft__variable_is_resource(g, v)};
  variable_nodes nodes = {.variable = WEFT_NONE};
  char *name = weft__sprintf("%s/%s", weft__variable_name(g, v), o->name);
  if (!name) return WEFT_OOM;
  weft_err err = weft__variable_scope_push(g, &(variable_scope_opts){.default_name = name}, &entered);
  weft__free(name);
  if (err != WEFT_OK) return err;
  if (slot->fill == SLOT_SCALED) value = scaled_ones(g, entered->name, spec.dtype, &spec.shape, number);
  spec.init.kind = slot->fill == SLOT_ONES ? INIT_ONES : slot->fill == SLOT_CONSTANT ? INIT_CONSTANT : INIT_ZEROS;
  spec.init.a = number;
  if (slot->fill == SLOT_SCALED || slot->fill == SLOT_VALUE) {
    spec.init = (initializer){.kind = INIT_OUTPUT, .output = value};
    spec.has_shape = false;
  }
  err = weft__b_ok(g);
  if (err == WEFT_OK) err = weft__variable_get(g, &spec, &nodes);
  weft__b_pop(g);
  *out = nodes.variable;
  return err ? err : weft__variable_slice_like(g, v, nodes.variable);
}

static weft_err keep_slot(weft_optimizer *o, int i, weft_out v, weft_out slot) {
  slot_ref *ref = weft__arena_alloc(&o->g->arena, sizeof *ref);
  if (!ref) return weft__fail(WEFT_OOM, "no memory for a slot");
  ref->out = slot;
  return weft__map_put(&o->slot[i], weft__variable_name(o->g, v), ref);
}

weft_out weft__optimizer_slot(const weft_optimizer *o, weft_out v, const char *slot) {
  const optimizer_kind *k = optimizer_chosen(o);
  if (v.node < 0 || v.node >= o->g->n_node) return WEFT_NONE;
  for (int i = 0; i < OPTIMIZER_SLOTS && k->slot[i].name; i++) {
    const slot_ref *ref = weft__map_get(&o->slot[i], weft__variable_name(o->g, v));
    if (strcmp(k->slot[i].name, slot) == 0) return ref ? ref->out : WEFT_NONE;
  }
  return WEFT_NONE;
}

int weft__optimizer_variables(const weft_optimizer *o, weft_out *out, int room) {
  int n = 0;
  for (int i = 0; i < 2 && o->powers; i++, n++)
    if (n < room) out[n] = o->extra[i];
  for (int i = 0; i < OPTIMIZER_SLOTS; i++)
    for (int j = 0; j < o->slot[i].used; j++, n++)
      if (n < room) out[n] = ((const slot_ref *)o->slot[i].entries[j].value)->out;
  return n;
}

const char *weft__optimizer_slot_name(const weft_optimizer *o, int i) {
  return i >= 0 && i < OPTIMIZER_SLOTS ? optimizer_chosen(o)->slot[i].name : NULL;
}

/* Creates the missing slots of one variable.  Initial values that are tensors, not initializers, come first. */
static weft_err slots_of(weft_optimizer *o, weft_out v) {
  const optimizer_kind *k = optimizer_chosen(o);
  weft_graph *g = o->g;
  weft_out value[OPTIMIZER_SLOTS], made;
  shape s = weft__variable_shape(g, v);
  for (int i = 0; i < OPTIMIZER_SLOTS && k->slot[i].name; i++)
    if (k->slot[i].fill == SLOT_VALUE)
      value[i] = weft__named_full(g, "Const", weft__variable_type(g, v), &s,
                                  k->slot[i].param ? weft__optimizer_number(o, k->slot[i].param) : 0);
  WEFT_TRY(weft__b_ok(g));
  for (int i = 0; i < OPTIMIZER_SLOTS && k->slot[i].name; i++) {
    if (weft__map_get(&o->slot[i], weft__variable_name(g, v))) continue;
    WEFT_TRY(make_slot(o, &k->slot[i], v, k->slot[i].fill == SLOT_VALUE ? value[i] : WEFT_NONE, &made));
    WEFT_TRY(keep_slot(o, i, v, made));
  }
  return WEFT_OK;
}

static weft_err make_slots(weft_optimizer *o, int n, const weft_out *vars) {
  const optimizer_kind *k = optimizer_chosen(o);
  WEFT_TRY(weft__scope_push_control(o->g, -1, NULL));
  weft_err err = k->slots ? k->slots(o, n, vars) : WEFT_OK;
  for (int i = 0; i < n && err == WEFT_OK; i++) {
    err = weft__scope_push_colocate(o->g, vars[i].node, false);
    if (err != WEFT_OK) break;
    err = slots_of(o, vars[i]);
    weft__scope_pop(o->g);
  }
  weft__scope_pop(o->g);
  return err;
}

/* ---- one update ---- */

weft_out weft__update_param(update *u, int i) {
  weft_optimizer *o = u->o;
  if (strcmp(o->kind->param[i].node, BESIDE) == 0 && o->value[i].output.node >= 0)
    return weft__b_cast(o->g, o->value[i].output, u->dtype);
  if (strcmp(o->kind->param[i].node, BESIDE) == 0)
    return weft__named_number(o->g, o->value[i].number, WEFT_FLOAT, u->dtype);
  return weft__b_cast(o->g, o->node[i], u->dtype);
}

weft_out weft__update_slot(const update *u, int i) {
  const slot_ref *ref = weft__map_get(&u->o->slot[i], weft__variable_name(u->o->g, u->variable));
  return ref ? ref->out : WEFT_NONE;
}

weft_out weft__update_read(update *u, weft_out v) { return weft__variable_value(u->o->g, v); }

void weft__update_unique(update *u) {
  weft_graph *g = u->o->g;
  grad_value *d = &u->gradient;
  weft_out unique = weft__b_node(g, "Unique", NULL, 1, &d->indices, 0, NULL);
  weft_out rows = weft__named_element(g, weft__named_unary(g, "Shape", "Shape", unique), 0);
  weft_out in[] = {d->values, weft__b_slot(unique, 1), rows};
  d->values = weft__b_node(g, "UnsortedSegmentSum", NULL, 3, in, 0, NULL);
  d->indices = unique;
}

static weft_out optimizer_argument(update *u, char which, bool sparse) {
  weft_optimizer *o = u->o;
  switch (which) {
  case 'v': return u->variable;
  case 'g': return sparse ? u->gradient.values : u->gradient.dense;
  case 'i': return u->gradient.indices;
  case 'p': return weft__b_cast(o->g, weft__update_read(u, o->extra[0]), u->dtype);
  case 'q': return weft__b_cast(o->g, weft__update_read(u, o->extra[1]), u->dtype);
  case 's': return weft__named_unary(o->g, "Identity", "Identity", o->extra[0]);
  case '0':
  case '1':
  case '2': return weft__update_slot(u, which - '0');
  default: return weft__update_param(u, which - 'A');
  }
}

/* Adds the op of the row, in a scope of its name if arguments have to be read first. */
static weft_out apply_row(update *u, bool sparse) {
  const optimizer_kind *k = optimizer_chosen(u->o);
  weft_graph *g = u->o->g;
  const char *args = sparse ? k->sparse : k->dense;
  weft_out in[16];
  int n = weft__int_sat(strlen(args));
  attr attrs[2] = {A_BOOL("use_locking", u->o->locked)};
  if (k->flag) attrs[1] = A_BOOL(k->flag, weft__optimizer_number(u->o, k->flag) != 0);
  char *type = weft__sprintf("%s%sApply%s", u->resource ? "Resource" : "", sparse ? "Sparse" : "", k->op);
  if (!type) weft__named_keep(g, WEFT_OOM);
  bool scoped = type && u->resource && strchr(args, 'p');
  if (scoped) weft__b_push_name(g, type);
  for (int i = 0; i < n; i++) in[i] = optimizer_argument(u, args[i], sparse);
  weft_out o = !type    ? WEFT_NONE
               : scoped ? weft__n_scope_node(g, type, n, in, k->flag ? 2 : 1, attrs)
                        : weft__b_node(g, type, NULL, n, in, k->flag ? 2 : 1, attrs);
  if (scoped) weft__b_pop(g);
  weft__free(type);
  return o;
}

static weft_out update_variable(update *u) {
  const optimizer_kind *k = optimizer_chosen(u->o);
  if (u->gradient.indices.node < 0) return apply_row(u, false);
  if (k->sparse_update) return k->sparse_update(u);
  weft__update_unique(u);
  return apply_row(u, true);
}

static weft_out update_one(weft_optimizer *o, weft_out v, const grad_value *d) {
  weft_graph *g = o->g;
  update u = {o, v, weft__variable_type(g, v), weft__variable_is_resource(g, v), *d};
  char *name = weft__sprintf("update_%s", weft__variable_name(g, v));
  if (!name) weft__named_keep(g, WEFT_OOM);
  weft__b_push_name(g, name ? name : "update");
  weft__b_push_colocate(g, v.node);
  weft_out done = update_variable(&u);
  weft__b_pop(g);
  weft__b_pop(g);
  weft__free(name);
  return done;
}

/* ---- the whole update ---- */

/* Makes constants for the parameters that are tensors, in the optimizer's scope. */
static void make_params(weft_optimizer *o) {
  const optimizer_kind *k = optimizer_chosen(o);
  for (int i = 0; i < OPTIMIZER_PARAMS && k->param[i].name; i++)
    if (k->param[i].node && *k->param[i].node && strcmp(k->param[i].node, BESIDE) != 0)
      o->node[i] = o->value[i].output.node >= 0
                       ? o->value[i].output
                       : weft__n_scalar(o->g, k->param[i].node, WEFT_FLOAT, o->value[i].number);
  if (k->prepare) weft__named_keep(o->g, k->prepare(o));
}

static weft_out optimizer_finish(weft_optimizer *o, const char *name, int n, const int *updates) {
  const optimizer_kind *k = optimizer_chosen(o);
  return k->finish ? k->finish(o, name, n, updates) : weft__n_group(o->g, name, n, updates);
}

/* Increments the step after all updates; the node has the optimizer's name. */
static weft_out count_step(weft_optimizer *o, const char *exact, weft_out step, int n, const int *updates) {
  weft_graph *g = o->g;
  weft_out done = optimizer_finish(o, "update", n, updates);
  if (done.node < 0) return WEFT_NONE;
  weft__b_push_control(g, 1, &done.node);
  weft__b_push_colocate(g, step.node);
  weft_dtype type = weft__variable_type(g, step);
  bool resource = weft__variable_is_resource(g, step);
  weft_out in[] = {step, weft__n_scalar(g, resource ? "Const" : "value", type, 1)};
  weft_out counted = weft__b_node(g, resource ? "AssignAddVariableOp" : "AssignAdd", exact, 2, in, 0, NULL);
  weft__b_pop(g);
  weft__b_pop(g);
  return counted;
}

static weft_out optimizer_build(weft_optimizer *o, int n, const weft_out *vars, const grad_value *d, weft_out step,
                                int *done) {
  weft_graph *g = o->g;
  make_params(o);
  for (int i = 0; i < n && !g->sticky.code; i++) done[i] = update_one(o, vars[i], &d[i]).node;
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__named_keep(g, WEFT_OOM);
  weft_out train = WEFT_NONE;
  if (!g->sticky.code)
    train = step.node < 0 ? optimizer_finish(o, exact, n, done) : count_step(o, exact, step, n, done);
  weft__free(exact);
  return train;
}

/* Moves the variables that have a gradient to the front. */
static weft_err with_gradient(const weft_graph *g, int *n, weft_out *vars, grad_value *d) {
  int used = 0;
  for (int i = 0; i < *n; i++) {
    WEFT_TRY(weft__variable_check(g, "apply_gradients", vars[i]));
    if (optimizer_value_of(&d[i])->node < 0) continue;
    vars[used] = vars[i];
    d[used++] = d[i];
  }
  if (used == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "No gradients provided for any variable (of %d, the first '%s')", *n,
                      *n ? weft__variable_name(g, vars[0]) : "");
  *n = used;
  return WEFT_OK;
}

static weft_out optimizer_apply(weft_optimizer *o, int n, weft_out *vars, grad_value *d, weft_out step,
                                const char *name, int *done) {
  weft_graph *g = o->g;
  weft_err err = check_params(o);
  if (err == WEFT_OK) err = with_gradient(g, &n, vars, d);
  if (err == WEFT_OK && step.node >= 0) err = weft__variable_check(g, "global_step", step);
  if (err == WEFT_OK) err = make_slots(o, n, vars);
  if (!weft__named_keep(g, err)) return WEFT_NONE;
  weft__named_push(g, name, o->name);
  weft_out train = optimizer_build(o, n, vars, d, step, done);
  weft__b_pop(g);
  if (train.node >= 0) weft__named_keep(g, weft__collection_add_name(g, "train_op", g->node[train.node]->name));
  return train;
}

weft_out weft__optimizer_apply(weft_optimizer *o, int n, const weft_out *vars, const grad_value *d, weft_out step,
                               const char *name) {
  size_t room = (size_t)n + 1;
  weft_out *v = weft__alloc(room * sizeof *v), train = WEFT_NONE;
  grad_value *dv = weft__alloc(room * sizeof *dv);
  int *done = weft__alloc(room * sizeof *done);
  if (v && dv && done && !o->g->sticky.code) {
    memcpy(v, vars, (size_t)n * sizeof *v);
    memcpy(dv, d, (size_t)n * sizeof *dv);
    train = optimizer_apply(o, n, v, dv, step, name, done);
  } else {
    weft__named_keep(o->g, WEFT_OOM);
  }
  weft__free(v);
  weft__free(dv);
  weft__free(done);
  return train;
}
