/* loss.c - the losses of tf.losses.
 *
 * The scope, the last node's name, the collection and the numbers are TensorFlow's.  Checks that TensorFlow adds to
 * the graph are made while the graph is built, from static shapes. */
#include "train/model/loss.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include <stdio.h>
#include <string.h>

typedef struct loss { /* the inputs of one loss */
  weft_graph *g;
  weft_out labels, x; /* x: predictions or logits */
  const weft_loss_opts *o;
} loss;

static weft_out loss_binary(loss *l, const char *type, term x, term y) {
  return weft__named_binary(l->g, type, type, x, y);
}
/* TensorFlow writes some terms with functions, whose nodes have capitals, and some with Python's operators. */
static weft_out loss_mul(loss *l, term x, term y) { return loss_binary(l, "Mul", x, y); }
static weft_out loss_sub(loss *l, term x, term y) { return loss_binary(l, "Sub", x, y); }
static weft_out loss_times(loss *l, term x, term y) { return weft__named_binary(l->g, "Mul", "mul", x, y); }
static weft_out loss_plus(loss *l, term x, term y) { return weft__named_binary(l->g, "AddV2", "add", x, y); }
static weft_out loss_minus(loss *l, term x, term y) { return weft__named_binary(l->g, "Sub", "sub", x, y); }
static weft_out loss_unary(loss *l, const char *type, weft_out x) { return weft__named_unary(l->g, type, type, x); }

static void to_float(loss *l) {
  l->x = weft__b_cast(l->g, l->x, WEFT_FLOAT);
  l->labels = weft__b_cast(l->g, l->labels, WEFT_FLOAT);
}

/* ---- the loss of each element ---- */

static weft_out loss_absolute(loss *l) {
  to_float(l);
  return loss_unary(l, "Abs", loss_sub(l, OUT(l->x), OUT(l->labels)));
}

static weft_out loss_squared(loss *l) {
  to_float(l);
  return loss_binary(l, "SquaredDifference", OUT(l->x), OUT(l->labels));
}

static weft_out loss_hinge(loss *l) { /* labels 0 and 1 become -1 and 1 */
  to_float(l);
  weft_out sign = loss_sub(l, OUT(loss_times(l, NUM(2), OUT(l->labels))), NUM(1));
  return loss_unary(l, "Relu", loss_sub(l, NUM(1), OUT(loss_mul(l, OUT(sign), OUT(l->x)))));
}

static weft_out loss_huber(loss *l) { /* quadratic up to delta, linear beyond */
  double delta = l->o->delta != 0 ? l->o->delta : 1;
  to_float(l);
  weft_out size = loss_unary(l, "Abs", loss_sub(l, OUT(l->x), OUT(l->labels)));
  weft_out near = loss_binary(l, "Minimum", OUT(size), NUM(delta)), far = loss_sub(l, OUT(size), OUT(near));
  weft_out parabola = loss_mul(l, NUM(.5), OUT(loss_mul(l, OUT(near), OUT(near))));
  return weft__named_binary(l->g, "AddV2", "Add", OUT(parabola), OUT(loss_mul(l, NUM(delta), OUT(far))));
}

static weft_out loss_log(loss *l) {
  double epsilon = l->o->epsilon != 0 ? l->o->epsilon : 1e-7;
  to_float(l);
  weft_out yes = loss_unary(l, "Log", loss_plus(l, OUT(l->x), NUM(epsilon)));
  weft_out first = loss_unary(l, "Neg", loss_mul(l, OUT(l->labels), OUT(yes)));
  weft_out rest = loss_minus(l, NUM(1), OUT(l->labels));
  weft_out no = loss_unary(l, "Log", loss_plus(l, OUT(loss_minus(l, NUM(1), OUT(l->x))), NUM(epsilon)));
  return loss_minus(l, OUT(first), OUT(loss_mul(l, OUT(rest), OUT(no))));
}

static weft_out loss_cosine(loss *l) {
  to_float(l);
  weft_out product = loss_mul(l, OUT(l->labels), OUT(l->x));
  int64_t axis = l->o->axis;
  return loss_minus(l, NUM(1), OUT(weft__named_reduce_axes(l->g, "Sum", "Sum", product, 1, &axis, true)));
}

static weft_out loss_select(loss *l, weft_out condition, weft_out yes, weft_out no) {
  return weft__b_node(l->g, "Select", "Select", 3, (weft_out[]){condition, yes, no}, 0, NULL);
}

/* max(x, 0) - x * z + log(1 + exp(-|x|)), which never overflows.  Select by x >= 0 computes both parts: the
 * gradients of Relu and Abs are 0 at x = 0, but that of the whole is not, and weights often start at 0. */
static weft_out loss_sigmoid(loss *l) {
  double s = l->o->label_smoothing;
  if (l->x.node < 0) return WEFT_NONE;
  l->labels = weft__b_cast(l->g, l->labels, weft__type_of(l->g, l->x));
  if (s > 0) l->labels = loss_plus(l, OUT(loss_times(l, OUT(l->labels), NUM(1 - s))), NUM(.5 * s));
  weft_out zeros = weft__named_unary(l->g, "ZerosLike", "zeros_like", l->x);
  weft_out positive = weft__named_binary(l->g, "GreaterEqual", "GreaterEqual", OUT(l->x), OUT(zeros));
  weft_out high = loss_select(l, positive, l->x, zeros);
  weft_out minus = loss_select(l, positive, loss_unary(l, "Neg", l->x), l->x);
  weft_out rest = loss_sub(l, OUT(high), OUT(loss_mul(l, OUT(l->x), OUT(l->labels))));
  return loss_plus(l, OUT(rest), OUT(loss_unary(l, "Log1p", loss_unary(l, "Exp", minus))));
}

/* Reshapes logits (..., classes) to (rows, classes); a matrix stays unchanged. */
static weft_out as_rows(loss *l, weft_out x) {
  const shape *of = weft__shape_of(l->g, x);
  if (of->rank == 2) return x;
  if (of->rank > 0 && of->dim[of->rank - 1] >= 0)
    return weft__named_reshape(l->g, x, 2, (int64_t[]){-1, of->dim[of->rank - 1]});
  weft_out last = weft__named_slice(l->g, weft__b_shape(l->g, x), (slice_bounds){.has_begin = true, .begin = -1});
  weft_out parts[] = {weft__b_ints(l->g, (int64_t[]){-1}, 1), last};
  return weft__b_reshape(l->g, x, weft__b_concat(l->g, 2, parts, weft__b_scalar(l->g, WEFT_INT32, 0)));
}

/* Returns s divided by the number of classes, which is known only when a step runs. */
static weft_out smooth_share(loss *l, double s) {
  weft_out last =
      weft__named_slice(l->g, weft__b_shape(l->g, l->labels), (slice_bounds){.has_begin = true, .begin = -1});
  return loss_binary(l, "RealDiv", NUM(s), OUT(weft__b_cast(l->g, last, weft__type_of(l->g, l->x))));
}

static weft_out loss_softmax(loss *l) {
  double s = l->o->label_smoothing;
  if (l->x.node < 0 || l->labels.node < 0) return WEFT_NONE;
  l->labels = weft__b_cast(l->g, l->labels, weft__type_of(l->g, l->x));
  const shape *of = weft__shape_of(l->g, l->x);
  const int rank = of->rank;
  const int64_t classes = rank > 0 ? of->dim[rank - 1] : -1;
  if (s > 0) {
    weft_out scaled = loss_times(l, OUT(l->labels), NUM(1 - s));
    l->labels = loss_plus(l, OUT(scaled), classes > 0 ? NUM(s / (double)classes) : OUT(smooth_share(l, s)));
  }
  l->labels = weft__named_unary(l->g, "StopGradient", "labels_stop_gradient", l->labels);
  weft_out in[] = {as_rows(l, l->x), as_rows(l, l->labels)};
  weft_out each = weft__b_node(l->g, "SoftmaxCrossEntropyWithLogits", "xentropy", 2, in, 0, NULL);
  if (rank == 2 || each.node < 0) return each;
  slice_bounds without_last = {.has_end = true, .end = -1};
  return weft__b_reshape(l->g, each, weft__named_slice(l->g, weft__b_shape(l->g, l->x), without_last));
}

/* Removes a last axis of size 1 if x has `more` axes than wanted: (batch, 1) becomes (batch). */
static weft_out loss_squeeze(loss *l, weft_out x, int more) {
  const shape *of = weft__shape_of(l->g, x);
  if (more != 1 || of->rank < 1 || (of->dim[of->rank - 1] >= 0 && of->dim[of->rank - 1] != 1)) return x;
  return weft__b_node(l->g, "Squeeze", "Squeeze", 1, &x, 1, &A_INTS("squeeze_dims", ((int64_t[]){-1}), 1));
}

static weft_out sparse_softmax(loss *l) {
  if (l->x.node < 0 || l->labels.node < 0) return WEFT_NONE;
  const int rank = weft__shape_of(l->g, l->x)->rank, known = weft__shape_of(l->g, l->labels)->rank;
  if (rank >= 1 && known >= 1) l->labels = loss_squeeze(l, l->labels, known - (rank - 1));
  weft_out labels = rank == 2 ? l->labels : weft__named_reshape(l->g, l->labels, 1, (int64_t[]){-1});
  weft_out in[] = {as_rows(l, l->x), labels};
  weft_out each = weft__b_node(l->g, "SparseSoftmaxCrossEntropyWithLogits", "xentropy", 2, in, 0, NULL);
  return rank == 2 || each.node < 0 ? each : weft__b_reshape(l->g, each, weft__b_shape(l->g, l->labels));
}

static weft_out loss_pairwise(loss *l);

/* tf.losses.compute_weighted_loss: the program passes the loss of each element. */
static weft_out loss_given(loss *l) { return weft__b_cast(l->g, l->x, WEFT_FLOAT); }

static const struct loss_kind {
  const char *name, *scope;
  weft_out (*each)(loss *l);
  weft_out (*whole)(loss *l); /* used if the loss is not a sum over elements */
} kinds[] = {
    {"absolute_difference", "absolute_difference", .each = loss_absolute},
    {"mean_squared_error", "mean_squared_error", .each = loss_squared},
    {"hinge_loss", "hinge_loss", .each = loss_hinge},
    {"huber_loss", "huber_loss", .each = loss_huber},
    {"log_loss", "log_loss", .each = loss_log},
    {"cosine_distance", "cosine_distance_loss", .each = loss_cosine},
    {"sigmoid_cross_entropy", "sigmoid_cross_entropy_loss", .each = loss_sigmoid},
    {"softmax_cross_entropy", "softmax_cross_entropy_loss", .each = loss_softmax},
    {"sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_loss", .each = sparse_softmax},
    {"mean_pairwise_squared_error", "mean_pairwise_squared_error", .whole = loss_pairwise},
    {"weighted_loss", "weighted_loss", .each = loss_given},
};

/* ---- weights and reductions ---- */

/* Returns weights of one.  TensorFlow casts the number 1.  Only the constant stays, but the cast has taken a name all
 * the same. */
static weft_out default_weights(weft_graph *g) {
  const char *full = NULL;
  char name[64];
  if (!weft__named_keep(g, weft__scope_unique(g, "Cast", &full))) return WEFT_NONE;
  const char *slash = strrchr(full, '/');
  snprintf(name, sizeof name, "%s/x", slash ? slash + 1 : full);
  return weft__n_scalar(g, name, WEFT_FLOAT, 1);
}

/* Returns 1 where a weight is not 0.  The name takes none from the casts of the loss, as in TensorFlow. */
static weft_out weights_present(weft_graph *g, weft_out weights, weft_dtype type) {
  const weft_out there = weft__named_binary(g, "NotEqual", "NotEqual", OUT(weights), NUM(0));
  const attr types[] = {A_TYPE("SrcT", WEFT_BOOL), A_TYPE("DstT", type)};
  return there.node < 0 ? WEFT_NONE : weft__b_node(g, "Cast", "num_present/Select", 1, &there, 2, types);
}

static weft_out ones_like(weft_graph *g, weft_out x) { return weft__named_unary(g, "OnesLike", "ones_like", x); }

/* Returns the divisor of the sum. */
static weft_out loss_divisor(weft_graph *g, weft_out each, weft_out weights, weft_reduction reduction) {
  weft_dtype type = weft__type_of(g, each);
  if (reduction == WEFT_SUM_OVER_BATCH_SIZE)
    return weft__b_cast(g, weft__named_unary(g, "Size", "num_elements", each), type);
  if (reduction == WEFT_SUM_BY_NONZERO_WEIGHTS) weights = weights_present(g, weights, type);
  weft_out all = weft__named_binary(g, "Mul", "Mul", OUT(weights), OUT(ones_like(g, each)));
  return weft__named_reduce(g, "Sum", "num_present", all);
}

/* Checks that the weights are one number, or have the rank of the losses and, in each axis, their size or 1. */
static weft_err check_weights(const weft_graph *g, weft_out each, weft_out weights) {
  if (weights.node < 0) return WEFT_OK;
  const shape *e = weft__shape_of(g, each), *w = weft__shape_of(g, weights);
  bool fits = w->rank <= 0 || e->rank < 0 || w->rank == e->rank;
  for (int i = 0; fits && w->rank > 0 && i < e->rank; i++)
    fits = w->dim[i] < 0 || w->dim[i] == 1 || e->dim[i] < 0 || w->dim[i] == e->dim[i];
  if (fits) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "weights can not be broadcast to values. values.rank=%d. weights.rank=%d. values.shape=%s. "
                    "weights.shape=%s.",
                    e->rank, w->rank, weft__shape_text(e), weft__shape_text(w));
}

/* Losses of any type are weighed and summed as float32, as TensorFlow does; weft__loss casts the result back. */
static weft_out loss_reduce(weft_graph *g, weft_out each, weft_out weights, weft_reduction reduction) {
  if (each.node < 0 || !weft__named_keep(g, check_weights(g, each, weights))) return WEFT_NONE;
  each = weft__b_cast(g, each, WEFT_FLOAT);
  weights = weights.node >= 0 ? weft__b_cast(g, weights, WEFT_FLOAT) : default_weights(g);
  weft_out weighted = weft__named_binary(g, "Mul", "Mul", OUT(each), OUT(weights));
  if (reduction == WEFT_REDUCE_NONE) return weighted;
  weft_out sum = weft__named_reduce(g, "Sum", "Sum", weighted);
  if (reduction == WEFT_REDUCE_SUM || sum.node < 0) return sum;
  weft_out in[] = {sum, loss_divisor(g, each, weights, reduction)};
  return weft__b_node(g, "DivNoNan", "value", 2, in, 0, NULL);
}

/* Returns 2 * a / b, or 0 where b is 0. */
static weft_out twice_ratio(loss *l, weft_out a, weft_out b) {
  weft_out at_least_0 = loss_binary(l, "Maximum", OUT(b), NUM(0));
  weft_out ratio = weft__b_node(l->g, "DivNoNan", "value", 2, (weft_out[]){a, at_least_0}, 0, NULL);
  return weft__named_binary(l->g, "Mul", "mul", NUM(2), OUT(ratio));
}

/* Sums x over all axes but the first, and keeps the axes.  Where the rank is unknown, each step finds the axes. */
static weft_out row_sums(loss *l, const char *name, weft_out x) {
  if (x.node < 0) return WEFT_NONE;
  int64_t axes[WEFT_MAX_RANK];
  const int rank = weft__shape_of(l->g, x)->rank;
  for (int i = 1; i < rank; i++) axes[i - 1] = i;
  if (rank > 0) return weft__named_reduce_axes(l->g, "Sum", name, x, rank - 1, axes, true);
  weft_out one = weft__b_scalar(l->g, WEFT_INT32, 1), end = weft__named_unary(l->g, "Rank", "Rank", x);
  weft_out range = weft__b_node(l->g, "Range", "range", 3, (weft_out[]){one, end, one}, 0, NULL);
  return weft__b_node(l->g, "Sum", name, 2, (weft_out[]){x, range}, 1, &A_BOOL("keep_dims", true));
}

/* The mean over all pairs of elements of a row of the squared difference of their errors.  With n elements and
 * errors d, it is 2 * sum(d^2) / (n - 1) - 2 * sum(d)^2 / (n * (n - 1)).  Rows are summed with their weights. */
static weft_out loss_pairwise(loss *l) {
  to_float(l);
  weft_out d = loss_sub(l, OUT(l->x), OUT(l->labels));
  weft_out w =
      l->o->weights ? weft__b_cast(l->g, *l->o->weights, WEFT_FLOAT) : weft__n_scalar(l->g, "Cast/x", WEFT_FLOAT, 1);
  weft_out there = weft__b_cast(l->g, weft__named_binary(l->g, "NotEqual", "NotEqual", OUT(w), NUM(0)), WEFT_FLOAT);
  there = loss_mul(l, OUT(there), OUT(ones_like(l->g, d)));
  weft_out count = row_sums(l, "num_present", there);
  weft_out squares = row_sums(l, "Sum", loss_unary(l, "Square", d));
  weft_out sum = row_sums(l, "Sum", d), less = loss_sub(l, OUT(count), NUM(1));
  weft_out first = twice_ratio(l, squares, less),
           second = twice_ratio(l, loss_unary(l, "Square", sum), loss_mul(l, OUT(count), OUT(less)));
  weft_out all = weft__named_reduce(l->g, "Sum", "Sum", loss_mul(l, OUT(loss_sub(l, OUT(first), OUT(second))), OUT(w)));
  weft_out any =
      weft__named_binary(l->g, "Greater", "Greater", OUT(weft__named_reduce(l->g, "Sum", "Sum", count)), NUM(0));
  weft_out in[] = {any, all, weft__n_scalar(l->g, "zeros_like", WEFT_FLOAT, 0)};
  return weft__b_node(l->g, "SelectV2", "value", 3, in, 0, NULL);
}

static weft_err unknown_loss(const char *kind) {
  suggestion s = {.what = "loss", .name = kind};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) weft__suggest_offer(&s, kinds[i].name);
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

static weft_err loss_check(const weft_graph *g, const char *kind, const struct loss_kind **k, weft_out labels,
                           weft_out x, const weft_loss_opts *o) {
  *k = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].name, kind) == 0) *k = &kinds[i];
  WEFT_TRY(weft__b_ok(g));
  if (!*k) return unknown_loss(kind);
  if (o->reduction < WEFT_SUM_BY_NONZERO_WEIGHTS || o->reduction > WEFT_SUM_OVER_BATCH_SIZE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is no reduction", (int)o->reduction);
  if (labels.node < 0 || x.node < 0 || labels.node >= g->n_node || x.node >= g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: labels and predictions must be outputs of the graph", kind);
  shape merged;
  bool rows = strcmp(kind, "sparse_softmax_cross_entropy") == 0;
  return rows ? WEFT_OK : weft__shape_merge(&merged, weft__shape_of(g, labels), weft__shape_of(g, x));
}

weft_out weft__loss(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_loss_opts *o) {
  const struct loss_kind *k;
  if (!weft__named_keep(g, loss_check(g, kind, &k, labels, predictions, o))) return WEFT_NONE;
  weft__named_push(g, o->name, k->scope);
  loss l = {g, labels, predictions, o};
  weft_out each = k->whole ? k->whole(&l) : k->each(&l), weights = o->weights ? *o->weights : WEFT_NONE;
  if (k->each == sparse_softmax && each.node >= 0 && weights.node >= 0)
    weights = loss_squeeze(&l, weights, weft__shape_of(g, weights)->rank - weft__shape_of(g, each)->rank);
  weft_out value = k->whole ? each : loss_reduce(g, each, weights, o->reduction);
  if (value.node >= 0) value = weft__b_cast(g, value, weft__type_of(g, k->each == loss_given ? predictions : each));
  weft__b_pop(g);
  const char *name = value.node < 0 ? NULL : weft__n_out_name(g, value);
  const char *list = o->collection ? o->collection : "losses";
  if (name && *list) weft__named_keep(g, weft__collection_add_name(g, list, name));
  return value;
}

/* ---- all losses ---- */

static int loss_listed(const weft_graph *g, const char *list, weft_out *out) {
  const collection *c = weft__collection_get(g, list);
  int n = 0;
  for (int i = 0; c && c->kind == COLLECTION_NAMES && i < c->n; i++) {
    weft_out o;
    if (weft__graph_find_out(g, c->s[i].data, &o) != WEFT_OK) continue;
    if (out) out[n] = o;
    n++;
  }
  return n;
}

weft_out weft__total_loss(weft_graph *g, const char *name, bool regularization) {
  int n = loss_listed(g, "losses", NULL), more = regularization ? loss_listed(g, "regularization_losses", NULL) : 0;
  weft_out *all = weft__alloc(((size_t)(n + more) + 1) * sizeof *all), o = WEFT_NONE;
  if (!name) name = "total_loss";
  if (!all) {
    weft__named_keep(g, WEFT_OOM);
  } else if (n + more == 0) {
    weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "there are no losses to add up"));
  } else {
    loss_listed(g, "losses", all);
    if (more) loss_listed(g, "regularization_losses", all + n);
    o = n + more == 1 ? weft__named_unary(g, "Identity", name, all[0])
                      : weft__b_node(g, "AddN", name, n + more, all, 1, &A_INT("N", n + more));
  }
  weft__free(all);
  return o;
}
