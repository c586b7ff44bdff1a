/* average.c - ExponentialMovingAverage.
 *
 * The average of a variable is colocated with it and starts with its value.  The average of any other value starts
 * with 0, and may be divided by its total weight so far (zero_debias).  The initial value of a variable's average is
 * a cond: the variable's value if it is initialized, otherwise its initial value. */
#include "train/model/average.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/scope.h"
#include "train/model/partition.h"

typedef struct average_ref {
  weft_out average;
} average_ref;

weft_err weft__average_create(weft_average **out, weft_graph *g, double decay, weft_out updates, bool zero_debias,
                              const char *name) {
  weft_average *a = weft__alloc_zero(1, sizeof *a);
  char *copy = weft__strdup(name ? name : "ExponentialMovingAverage");
  *out = NULL;
  if (!a || !copy) {
    weft__free(a);
    weft__free(copy);
    return WEFT_OOM;
  }
  *a = (weft_average){g, copy, decay, updates, zero_debias, {0}};
  *out = a;
  return WEFT_OK;
}

void weft__average_destroy(weft_average *a) {
  if (!a) return;
  weft__map_finish(&a->kept);
  weft__free(a->name);
  weft__free(a);
}

weft_out weft__average_of(const weft_average *a, weft_out value) {
  if (value.node < 0 || value.node >= a->g->n_node) return WEFT_NONE;
  const average_ref *ref = weft__map_get(&a->kept, a->g->node[value.node]->name);
  return ref ? ref->average : WEFT_NONE;
}

weft_err weft__average_name(weft_average *a, weft_out value, const char **name) {
  weft_out average = weft__average_of(a, value);
  if (value.node < 0 || value.node >= a->g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "average_name: node %d is not one of the graph's %d", value.node,
                      a->g->n_node);
  if (average.node >= 0) {
    *name = weft__variable_name(a->g, average);
    return WEFT_OK;
  }
  char *full = weft__sprintf("%s/%s", a->g->node[value.node]->name, a->name);
  if (!full) return WEFT_OOM;
  weft_err err = weft__scope_free_name(a->g, full, name);
  weft__free(full);
  return err;
}

/* ---- the variable of an average ---- */

static weft_out average_ready(weft_graph *g, weft_out v) {
  if (weft__variable_is_resource(g, v)) return weft__b_node(g, "VarIsInitializedOp", NULL, 1, &v, 0, NULL);
  weft__b_push_colocate(g, v.node);
  weft_out o = weft__b_node(g, "IsVariableInitialized", NULL, 1, &v, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* Returns the variable's value inside the branch in which it is initialized. */
static weft_out value_there(weft_graph *g, weft_out v, weft_out cond) {
  if (weft__variable_is_resource(g, v)) {
    weft_out handle = weft__named_branch(g, "Switch", "Read/ReadVariableOp/Switch", v, cond, true);
    weft__b_push_name(g, "Read");
    weft_out x = weft__b_node(g, "ReadVariableOp", NULL, 1, &handle, 1, &A_TYPE("dtype", weft__variable_type(g, v)));
    weft__b_pop(g);
    return weft__named_unary(g, "Identity", "Identity", x);
  }
  return weft__named_unary(g, "Identity", "read", weft__named_branch(g, "RefSwitch", "read/Switch", v, cond, true));
}

/* tf.Variable.initialized_value() */
static weft_out initialized_value(weft_graph *g, weft_out v, weft_out initial) {
  weft_out there = average_ready(g, v);
  if (there.node < 0) return WEFT_NONE;
  weft__b_push_name(g, "cond");
  weft_out cond = weft__named_cond(g, there, NULL, NULL);
  weft_out now = value_there(g, v, cond);
  weft_out later = cond.node < 0 ? WEFT_NONE : weft__named_branch(g, "Switch", "Switch", initial, cond, false);
  weft_out o = weft__b_node(g, "Merge", NULL, 2, (weft_out[]){later, now}, 0, NULL);
  weft__b_pop(g);
  if (o.node >= 0) g->node[o.node]->out_shape[0] = weft__variable_shape(g, v);
  return o;
}

static weft_err average_variable(weft_average *a, weft_out v, variable_nodes *out) {
  weft_graph *g = a->g;
  weft_out initial;
  WEFT_TRY(weft__variable_initial(g, v, &initial));
  weft__n_push_device(g, g->node[v.node]->device);
  weft_out value = initialized_value(g, v, initial);
  weft__b_pop(g);
  WEFT_TRY(weft__b_ok(g));
  variable_spec spec = {.name = "",
                        .init = {.kind = INIT_OUTPUT, .output = value},
                        .dtype = weft__variable_type(g, v),
                        .untrainable = true,
                        .resource = weft__variable_is_resource(g, v)};
  char *name = weft__sprintf("%s/%s", weft__variable_name(g, v), a->name);
  if (!name) return WEFT_OOM;
  weft_err err = weft__variable_scope_push(g, &(variable_scope_opts){.default_name = name}, NULL);
  weft__free(name);
  if (err != WEFT_OK) return err;
  weft__b_push_colocate(g, v.node);
  err = weft__variable_get(g, &spec, out);
  weft__b_pop(g);
  weft__b_pop(g);
  if (err == WEFT_OK) err = weft__variable_slice_like(g, v, out->variable);
  if (err == WEFT_OK) err = weft__variable_add_to(g, "moving_average_variables", v);
  return err;
}

static weft_err zeros_in(weft_graph *g, const variable_scope_opts *where, const char *name, const shape *s,
                         weft_dtype type, variable_nodes *out) {
  variable_spec spec = {.name = name,
                        .has_shape = true,
                        .shape = *s,
                        .dtype = type,
                        .init = {.kind = INIT_ZEROS},
                        .untrainable = true,
                        .resource = weft__variable_scope_resource(g)};
  WEFT_TRY(weft__variable_scope_push(g, where, NULL));
  weft_err err = weft__variable_get(g, &spec, out);
  weft__b_pop(g);
  return err;
}

static weft_err average_value(weft_average *a, weft_out value, variable_nodes *out) {
  weft_graph *g = a->g;
  char *name = weft__sprintf("%s/%s", g->node[value.node]->name, a->name);
  if (!name) return WEFT_OOM;
  weft_err err = zeros_in(g, &(variable_scope_opts){.default_name = name}, "", weft__shape_of(g, value),
                          weft__type_of(g, value), out);
  weft__free(name);
  return err;
}

static weft_err keep_average(weft_average *a, weft_out value) {
  weft_graph *g = a->g;
  variable_nodes made;
  if (value.node < 0 || value.node >= g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "average: node %d is not one of the graph's %d", value.node, g->n_node);
  if (weft__average_of(a, value).node >= 0) return WEFT_OK;
  WEFT_TRY(weft__scope_push_control(g, -1, NULL));
  weft_err err = weft__variable_is(g, value) ? average_variable(a, value, &made) : average_value(a, value, &made);
  weft__scope_pop(g);
  WEFT_TRY(err);
  average_ref *ref = weft__arena_alloc(&g->arena, sizeof *ref);
  if (!ref) return weft__fail(WEFT_OOM, "no memory for an average");
  ref->average = made.variable;
  return weft__map_put(&a->kept, g->node[value.node]->name, ref);
}

/* ---- the updates ---- */

/* Returns min(decay, (1 + updates) / (10 + updates)), so that the first values count for more. */
static weft_out decay_of(const weft_average *a) {
  weft_graph *g = a->g;
  weft_out decay = weft__n_scalar(g, "decay", WEFT_FLOAT, a->decay), n = a->updates;
  if (n.node < 0) return decay;
  n = weft__variable_or_value(g, n);
  if (n.node >= 0 && weft__type_of(g, n) != WEFT_FLOAT)
    n = weft__b_node(g, "Cast", "num_updates", 1, &n, 1, &A_TYPE("DstT", WEFT_FLOAT));
  weft_out above = weft__named_binary(g, "AddV2", "add", NUM(1), OUT(n));
  weft_out below = weft__named_binary(g, "AddV2", "add", NUM(10), OUT(n));
  weft_out most = weft__named_binary(g, "RealDiv", "truediv", OUT(above), OUT(below));
  return weft__named_binary(g, "Minimum", "Minimum", OUT(decay), OUT(most));
}

/* Returns average - value.  Variables among the two are read where Python reads them. */
static weft_out average_difference(weft_graph *g, weft_out average, weft_out value) {
  weft_out now = weft__variable_value(g, average);
  weft__b_push_name(g, "sub");
  value = weft__variable_or_value(g, value);
  weft_out o = weft__n_scope_node(g, "Sub", 2, (weft_out[]){now, value}, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* "biased" has the weighted sum so far and "local_step" the number of updates.  The average is the sum divided by the
 * total weight so far. */
static int update_unbiased(weft_graph *g, weft_out average, weft_out value, weft_out rate, const char *exact) {
  variable_scope_opts below = {.name = weft__variable_name(g, average)};
  shape s = weft__variable_shape(g, average);
  weft_dtype type = weft__variable_type(g, average);
  variable_nodes sum, count;
  int done = -1;
  weft__b_pushed(g, weft__scope_push_control(g, -1, NULL));
  weft__b_push_colocate(g, average.node);
  weft_err err = zeros_in(g, &below, "biased", &s, type, &sum);
  if (err == WEFT_OK) err = zeros_in(g, &below, "local_step", &SHAPE_SCALAR, type, &count);
  weft__b_pop(g);
  weft__b_pop(g);
  if (!weft__named_keep(g, err)) return -1;
  weft_out d = weft__named_binary(g, "Mul", "mul", OUT(average_difference(g, sum.variable, value)), OUT(rate));
  weft_out biased = weft__variable_change(g, CHANGE_SUB, NULL, sum.variable, OUT(d), false, NULL);
  weft_out n = weft__variable_change(g, CHANGE_ADD, NULL, count.variable, NUM(1), false, NULL);
  weft_out decay = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(rate));
  weft_out weight = weft__named_binary(g, "Pow", "Pow", OUT(decay), OUT(n));
  weight = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(weight));
  weft_out unbiased = weft__named_binary(g, "RealDiv", "truediv", OUT(biased), OUT(weight));
  weft__variable_change(g, CHANGE_SET, exact, average, OUT(unbiased), true, &done);
  return done;
}

/* Only the updates of the call that makes an average take the weight of its first zero into account. */
static int update_one(weft_average *a, weft_out value, weft_out decay, bool is_new) {
  WEFT_ASSERT(value.node >= 0 && value.node < a->g->n_node);
  weft_graph *g = a->g;
  weft_out average = weft__average_of(a, value);
  int done = -1;
  weft__b_push_name(g, "AssignMovingAvg");
  char *exact = weft__named_scope_exact(g);
  /* Colocated with the average, so that neither variable is sent.  Later versions of TensorFlow send both. */
  weft__b_push_colocate(g, average.node);
  weft_out rate = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(decay));
  if (rate.node >= 0 && weft__variable_type(g, average) != WEFT_FLOAT)
    rate = weft__b_cast(g, rate, weft__variable_type(g, average));
  if (exact && a->zero_debias && is_new && !weft__variable_is(g, value)) {
    done = update_unbiased(g, average, value, rate, exact);
  } else if (exact) {
    weft_out d = weft__named_binary(g, "Mul", "mul", OUT(average_difference(g, average, value)), OUT(rate));
    bool resource = weft__variable_is_resource(g, average);
    weft__variable_change(g, CHANGE_SUB, resource ? NULL : exact, average, OUT(d), false, &done);
  }
  weft__b_pop(g);
  weft__free(exact);
  weft__b_pop(g);
  return done;
}

/* done[i] is not 0 if the average of values[i] is new; it becomes the node of its update. */
static weft_out update_all(weft_average *a, int n, const weft_out *values, int *done) {
  weft_graph *g = a->g;
  weft_out o = WEFT_NONE;
  weft__b_push_name(g, a->name);
  weft_out decay = decay_of(a);
  for (int i = 0; i < n && !g->sticky.code; i++) done[i] = update_one(a, values[i], decay, done[i] != 0);
  char *exact = weft__named_scope_exact(g);
  if (exact && !g->sticky.code) o = weft__n_group(g, exact, n, done);
  weft__free(exact);
  weft__b_pop(g);
  return o;
}

weft_out weft__average_apply(weft_average *a, int n, const weft_out *values) {
  weft_graph *g = a->g;
  int *done = weft__alloc(((size_t)n + 1) * sizeof *done);
  weft_err err = done ? weft__b_ok(g) : WEFT_OOM;
  for (int i = 0; i < n && err == WEFT_OK; i++) {
    done[i] = values[i].node >= 0 && values[i].node < g->n_node && weft__average_of(a, values[i]).node < 0;
    err = keep_average(a, values[i]);
  }
  weft_out o = weft__named_keep(g, err) ? update_all(a, n, values, done) : WEFT_NONE;
  weft__free(done);
  return o;
}
