/* metric.c - means, counts of hits and misses, and metrics computed from them.
 *
 * Every sum is a local variable (also in "metric_variables"), so that tf.local_variables_initializer resets it.  A
 * metric has two results: its value from the current variables, and its value from the updated ones. */
#include "train/model/metric.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "graph/scope.h"
#include <string.h>

typedef struct sum { /* a variable that accumulates: its value, and its value after the update */
  weft_out now, after;
} sum;

typedef struct metric {
  weft_graph *g;
  weft_out labels, x, weights; /* weights: WEFT_NONE, all 1 */
  int thresholds;
  weft_out value, update;
} metric;

static weft_out metric_binary(metric *m, const char *type, const char *name, term x, term y) {
  return weft__named_binary(m->g, type, name, x, y);
}

/* Adds a variable named after the current name scope.  Metrics never share variables, even in a scope that reuses. */
static weft_err new_variable_here(weft_graph *g, const variable_spec *spec, variable_nodes *out) {
  const char *prefix = weft__scope_prefix(g);
  char *full = weft__sprintf("%s%s%s", prefix, *prefix ? "/" : "", spec->name);
  if (!full) return WEFT_OOM;
  weft_err err = weft__variable_build(g, full, spec, out);
  weft__free(full);
  return err;
}

/* Adds the variable `name` in the current scope; each update adds v to it. */
static sum add_up(metric *m, const char *name, weft_out v) {
  weft_graph *g = m->g;
  sum s = {WEFT_NONE, WEFT_NONE};
  if (v.node < 0) return s;
  variable_spec spec = {.name = name,
                        .has_shape = true,
                        .shape = *weft__shape_of(g, v),
                        .dtype = WEFT_FLOAT,
                        .init = {.kind = INIT_ZEROS},
                        .untrainable = true,
                        .local = true,
                        .resource = weft__variable_scope_resource(g)};
  variable_nodes nodes;
  weft_err err = new_variable_here(g, &spec, &nodes);
  if (err == WEFT_OK) err = weft__variable_add_to(g, "metric_variables", nodes.variable);
  if (!weft__named_keep(g, err)) return s;
  s.now = weft__variable_value(g, nodes.variable);
  s.after = weft__variable_change(g, CHANGE_ADD, NULL, nodes.variable, OUT(v), false, NULL);
  return s;
}

static bool metric_enter(metric *m, const char *name, const char *standard) {
  return weft__named_keep(
      m->g, weft__variable_scope_push(m->g, &(variable_scope_opts){.name = name, .default_name = standard}, NULL));
}

/* ---- means ---- */

static weft_out metric_quotient(metric *m, const char *name, weft_out total, weft_out count) {
  weft_out n = metric_binary(m, "Maximum", "Maximum", OUT(count), NUM(0));
  return weft__b_node(m->g, "DivNoNan", name, 2, (weft_out[]){total, n}, 0, NULL);
}

static weft_out metric_weigh(metric *m, weft_out v) {
  return m->weights.node < 0 ? v : metric_binary(m, "Mul", "Mul", OUT(v), OUT(m->weights));
}

static weft_out metric_count(metric *m, weft_out v) {
  if (m->weights.node < 0) return weft__b_cast(m->g, weft__named_unary(m->g, "Size", "Size", v), WEFT_FLOAT);
  weft_out each = metric_binary(m, "Mul", "broadcast_weights", OUT(m->weights),
                                OUT(weft__named_unary(m->g, "OnesLike", "ones_like", v)));
  return weft__named_reduce(m->g, "Sum", "Sum", each);
}

static void mean_of(metric *m, weft_out v) {
  v = weft__b_cast(m->g, v, WEFT_FLOAT);
  if (v.node < 0) return;
  sum total = add_up(m, "total", weft__named_reduce(m->g, "Sum", "Sum", metric_weigh(m, v)));
  sum count = add_up(m, "count", metric_count(m, v));
  m->value = metric_quotient(m, "value", total.now, count.now);
  m->update = metric_quotient(m, "update_op", total.after, count.after);
}

static void metric_mean(metric *m) { mean_of(m, m->x); }

static void metric_accuracy(metric *m) {
  weft_out x = weft__b_cast(m->g, m->x, weft__type_of(m->g, m->labels));
  mean_of(m, metric_binary(m, "Equal", "Equal", OUT(x), OUT(m->labels)));
}

static weft_out metric_difference(metric *m, const char *type) {
  weft_out x = weft__b_cast(m->g, m->x, WEFT_FLOAT), y = weft__b_cast(m->g, m->labels, WEFT_FLOAT);
  return metric_binary(m, type, type, OUT(y), OUT(x));
}

static void squared_error(metric *m) { mean_of(m, metric_difference(m, "SquaredDifference")); }

static void absolute_error(metric *m) {
  mean_of(m, weft__named_unary(m->g, "Abs", "Abs", metric_difference(m, "Sub")));
}

/* ---- hits and misses ---- */

/* Counts the elements that have this label and this prediction. */
static sum count_here(metric *m, bool label, bool prediction) {
  weft_graph *g = m->g;
  weft_out y = weft__b_cast(g, m->labels, WEFT_BOOL), x = weft__b_cast(g, m->x, WEFT_BOOL);
  y = metric_binary(m, "Equal", "Equal", OUT(y), NUM(label));
  x = metric_binary(m, "Equal", "Equal", OUT(x), NUM(prediction));
  weft_out both = weft__b_cast(g, metric_binary(m, "LogicalAnd", "LogicalAnd", OUT(y), OUT(x)), WEFT_FLOAT);
  return add_up(m, "count", both.node < 0 ? both : weft__named_reduce(g, "Sum", "Sum", metric_weigh(m, both)));
}

/* As count_here, in a scope of its own. */
static sum count_where(metric *m, const char *scope_name, bool label, bool prediction) {
  sum s = {WEFT_NONE, WEFT_NONE};
  if (m->g->sticky.code || !metric_enter(m, scope_name, NULL)) return s;
  s = count_here(m, label, prediction);
  weft__b_pop(m->g);
  return s;
}

static void one_count(metric *m, bool label, bool prediction) {
  sum s = count_here(m, label, prediction);
  m->value = weft__named_unary(m->g, "Identity", "Identity", s.now);
  m->update = s.after;
}

static void true_positives(metric *m) { one_count(m, true, true); }
static void false_positives(metric *m) { one_count(m, false, true); }
static void false_negatives(metric *m) { one_count(m, true, false); }
static void true_negatives(metric *m) { one_count(m, false, false); }

/* Returns x / (x + y), or 0 if both are 0. */
static weft_out metric_share(metric *m, const char *name, weft_out x, weft_out y) {
  weft_out all = metric_binary(m, "AddV2", "add", OUT(x), OUT(y));
  return weft__b_node(m->g, "DivNoNan", name, 2, (weft_out[]){x, all}, 0, NULL);
}

static void metric_fraction(metric *m, sum hits, sum misses) {
  m->value = metric_share(m, "value", hits.now, misses.now);
  m->update = metric_share(m, "update_op", hits.after, misses.after);
}

static void metric_precision(metric *m) {
  sum hits = count_where(m, "true_positives", true, true);
  metric_fraction(m, hits, count_where(m, "false_positives", false, true));
}

static void metric_recall(metric *m) {
  sum hits = count_where(m, "true_positives", true, true);
  metric_fraction(m, hits, count_where(m, "false_negatives", true, false));
}

/* ---- the area under the curve ---- */

static weft_out metric_thresholds(metric *m) {
  const double epsilon = 1e-7; /* the first is below 0, the last above 1 */
  weft_tensor *t = NULL;
  int n = m->thresholds;
  if (!weft__named_keep(m->g, weft__tensor_create(&t, WEFT_FLOAT, &SHAPE2(n, 1)))) return WEFT_NONE;
  for (int i = 0; i < n; i++) TENSOR_DATA(t, float)[i] = (float)(i / (double)(n - 1));
  TENSOR_DATA(t, float)[0] = (float)(0 - epsilon);
  TENSOR_DATA(t, float)[n - 1] = (float)(1 + epsilon);
  return weft__n_const(m->g, "thresholds", t);
}

static weft_out is_not(metric *m, weft_out x) { return weft__named_unary(m->g, "LogicalNot", "LogicalNot", x); }

/* Counts for each threshold the elements with a given label and side of the threshold. */
static sum curve_count(metric *m, const char *name, weft_out labelled, weft_out above, weft_out weights) {
  weft_graph *g = m->g;
  weft_out both = weft__b_cast(g, metric_binary(m, "LogicalAnd", "LogicalAnd", OUT(labelled), OUT(above)), WEFT_FLOAT);
  if (weights.node >= 0) both = metric_binary(m, "Mul", "Mul", OUT(both), OUT(weights));
  return add_up(m, name, weft__named_reduce_axes(g, "Sum", "Sum", both, 1, (int64_t[]){1}, false));
}

static weft_out metric_ratio(metric *m, weft_out x, weft_out y, bool smooth) {
  const double epsilon = 1e-6;
  weft_out above = smooth ? metric_binary(m, "AddV2", "add", OUT(x), NUM(epsilon)) : x;
  weft_out below =
      metric_binary(m, "AddV2", "add", OUT(metric_binary(m, "AddV2", "add", OUT(x), OUT(y))), NUM(epsilon));
  return metric_binary(m, "RealDiv", "truediv", OUT(above), OUT(below));
}

/* Returns the area of the trapezoids between neighboring thresholds. */
static weft_out metric_area(metric *m, const char *name, weft_out tp, weft_out fn, weft_out tn, weft_out fp) {
  weft_out y = metric_ratio(m, tp, fn, true), x = metric_ratio(m, fp, tn, false);
  slice_bounds left = {.has_end = true, .end = m->thresholds - 1}, right = {.has_begin = true, .begin = 1};
  weft_out width =
      metric_binary(m, "Sub", "sub", OUT(weft__named_slice(m->g, x, left)), OUT(weft__named_slice(m->g, x, right)));
  weft_out height =
      metric_binary(m, "AddV2", "add", OUT(weft__named_slice(m->g, y, left)), OUT(weft__named_slice(m->g, y, right)));
  height = metric_binary(m, "RealDiv", "truediv", OUT(height), NUM(2));
  return weft__named_reduce(m->g, "Sum", name, metric_binary(m, "Mul", "Mul", OUT(width), OUT(height)));
}

static void metric_auc(metric *m) {
  weft_graph *g = m->g;
  weft_out x = weft__named_reshape(g, weft__b_cast(g, m->x, WEFT_FLOAT), 2, (int64_t[]){1, -1});
  weft_out y = weft__named_reshape(g, weft__b_cast(g, m->labels, WEFT_BOOL), 2, (int64_t[]){1, -1});
  weft_out w = m->weights;
  if (w.node >= 0) w = weft__named_reshape(g, w, 2, (int64_t[]){1, -1});
  weft_out above = metric_binary(m, "Greater", "Greater", OUT(x), OUT(metric_thresholds(m)));
  weft_out below = is_not(m, above), not_y = is_not(m, y);
  sum tp = curve_count(m, "true_positives", y, above, w), fn = curve_count(m, "false_negatives", y, below, w);
  sum tn = curve_count(m, "true_negatives", not_y, below, w), fp = curve_count(m, "false_positives", not_y, above, w);
  m->value = metric_area(m, "value", tp.now, fn.now, tn.now, fp.now);
  m->update = metric_area(m, "update_op", tp.after, fn.after, tn.after, fp.after);
}

static const struct metric_kind {
  const char *name;
  void (*make)(metric *m);
  bool no_labels;
  bool root; /* the results are square roots, which are outside of the metric's scope, as in TensorFlow */
} kinds[] = {
    {"mean", metric_mean, true, false},
    {"accuracy", metric_accuracy, false, false},
    {"mean_squared_error", squared_error, false, false},
    {"mean_absolute_error", absolute_error, false, false},
    {"root_mean_squared_error", squared_error, false, true},
    {"true_positives", true_positives, false, false},
    {"false_positives", false_positives, false, false},
    {"false_negatives", false_negatives, false, false},
    {"true_negatives", true_negatives, false, false},
    {"precision", metric_precision, false, false},
    {"recall", metric_recall, false, false},
    {"auc", metric_auc, false, false},
};

static const struct metric_kind *find_kind(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  return NULL;
}

static weft_err unknown_metric(const char *kind) {
  suggestion s = {.what = "metric", .name = kind};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) weft__suggest_offer(&s, kinds[i].name);
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

weft_err weft__metric(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_metric_opts *o,
                      weft_out *value, weft_out *update) {
  const struct metric_kind *k = find_kind(kind);
  metric m = {g, labels, predictions, WEFT_NONE, o->thresholds > 0 ? o->thresholds : 200, WEFT_NONE, WEFT_NONE};
  WEFT_TRY(weft__b_ok(g));
  if (!k) return unknown_metric(kind);
  if (m.x.node < 0 || (!k->no_labels && m.labels.node < 0))
    return weft__fail(WEFT_INVALID_ARGUMENT, "metric %s: labels and predictions must be outputs of the graph", kind);
  if (m.thresholds < 2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "metric %s: needs at least 2 thresholds, got %d", kind, m.thresholds);
  if (!metric_enter(&m, o->name, kind)) return weft__b_ok(g);
  if (o->weights) m.weights = weft__b_cast(g, *o->weights, WEFT_FLOAT);
  k->make(&m);
  weft__b_pop(g);
  if (k->root) m.value = weft__named_unary(g, "Sqrt", "Sqrt", m.value);
  if (k->root) m.update = weft__named_unary(g, "Sqrt", "Sqrt", m.update);
  *value = m.value;
  *update = m.update;
  return weft__b_ok(g);
}
