/* batch_norm.c - batch normalization as in tf.layers.
 *
 * Images and volumes of float, half or bfloat16 use the fused op, whose moving variance is N/(N-1) times the
 * batch's.  Other inputs use separate ops.  If a tensor says whether the model is training, TensorFlow builds conds,
 * one for each choice.  The names of the updates ("update_ops") and of the variables are TensorFlow's. */
#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "train/model/layer.h"

typedef struct norm {
  weft_graph *g;
  const batch_norm *opts;
  training when;
  weft_out x;
  int axis;
  weft_dtype type;         /* type of the variables */
  weft_out gamma, beta;    /* values; WEFT_NONE: 1 and 0 */
  weft_out mean, variance; /* moving: variables */
  weft_out mean_read, variance_read;
} norm;

typedef struct branches {
  weft_out pred, yes, no;
} branches;

static bool norm_decides(const norm *n) { return n->when.when.node >= 0; }
static bool norm_trains(const norm *n) { return n->when.on || norm_decides(n); }

static bool norm_narrow(const norm *n) {
  weft_dtype type = weft__type_of(n->g, n->x);
  return type == WEFT_HALF || type == WEFT_BFLOAT16;
}

/* ---- conds ---- */

static branches norm_cond(const norm *n) {
  branches c;
  weft__b_push_name(n->g, "cond");
  c.pred = weft__named_cond(n->g, n->when.when, &c.yes, &c.no);
  return c;
}

static weft_out norm_merge(weft_graph *g, weft_out no, weft_out yes) {
  return weft__b_node(g, "Merge", NULL, 2, (weft_out[]){no, yes}, 0, NULL);
}

/* tf.cond(when, lambda: yes, lambda: no) */
static weft_out norm_choose(const norm *n, weft_out yes, weft_out no) {
  branches c = norm_cond(n);
  weft_out a = weft__named_branch(n->g, "Switch", "Switch", yes, c.pred, true);
  weft_out b = weft__named_branch(n->g, "Switch", "Switch", no, c.pred, false);
  weft_out o = norm_merge(n->g, b, a);
  weft__b_pop(n->g);
  return o;
}

static weft_out scalar_in(weft_graph *g, weft_out pivot, const char *name, weft_dtype type, double v) {
  weft__b_push_control(g, pivot.node >= 0, &pivot.node);
  weft_out o = weft__n_scalar(g, name, type, v);
  weft__b_pop(g);
  return o;
}

/* Returns the momentum in training, and otherwise 1, which keeps the moving values unchanged. */
static weft_out norm_momentum(const norm *n) {
  if (!norm_decides(n)) return weft__n_scalar(n->g, "Const", WEFT_FLOAT, n->opts->momentum);
  branches c = norm_cond(n);
  weft_out yes = scalar_in(n->g, c.yes, "Const", WEFT_FLOAT, n->opts->momentum);
  weft_out no = scalar_in(n->g, c.no, "Const", WEFT_FLOAT, 1);
  weft_out o = norm_merge(n->g, no, yes);
  weft__b_pop(n->g);
  return o;
}

/* ---- variables ---- */

static weft_out make_weight(const norm *n, const char *name, double fill, bool untrainable, weft_out *variable) {
  weight w = {.name = name,
              .shape = SHAPE1(weft__shape_of(n->g, n->x)->dim[n->axis]),
              .dtype = n->type,
              .init = {.kind = fill == 1 ? INIT_ONES : INIT_ZEROS},
              .untrainable = untrainable};
  return weft__layer_variable(n->g, &w, variable);
}

static bool make_weights(norm *n) {
  n->gamma = n->beta = WEFT_NONE;
  n->type = norm_narrow(n) ? WEFT_FLOAT : weft__type_of(n->g, n->x);
  if (!n->opts->no_scale) n->gamma = make_weight(n, "gamma", 1, n->opts->untrainable, NULL);
  if (!n->opts->no_center) n->beta = make_weight(n, "beta", 0, n->opts->untrainable, NULL);
  n->mean_read = make_weight(n, "moving_mean", 0, true, &n->mean);
  n->variance_read = make_weight(n, "moving_variance", 1, true, &n->variance);
  return !n->g->sticky.code;
}

/* ---- updates ---- */

static void list_update(const norm *n, int node) {
  if (node >= 0 && !n->opts->untrainable)
    weft__named_keep(n->g, weft__collection_add_name(n->g, "update_ops", n->g->node[node]->name));
}

/* variable -= (moving - now) * (1 - momentum); momentum is an output or a number. */
static void update_moving(const norm *n, weft_out variable, weft_out moving, weft_out now, term momentum) {
  weft_graph *g = n->g;
  if (now.node < 0) return;
  weft__b_push_name(g, "AssignMovingAvg");
  char *exact = weft__named_scope_exact(g);
  weft__b_push_colocate(g, variable.node);
  weft_out rate = momentum.out.node >= 0 ? weft__named_binary(g, "Sub", "sub", NUM(1), momentum)
                                         : weft__n_scalar(g, "decay", WEFT_FLOAT, 1 - momentum.number);
  rate = weft__b_cast(g, rate, n->type);
  weft_out d = weft__named_binary(g, "Sub", "sub", OUT(moving), OUT(now));
  d = weft__named_binary(g, "Mul", "mul", OUT(d), OUT(rate));
  weft__b_pop(g);
  int node;
  bool resource = weft__variable_is_resource(g, variable);
  weft__variable_change(g, CHANGE_SUB, resource ? NULL : exact, variable, OUT(d), false, &node);
  weft__b_pop(g);
  weft__free(exact);
  list_update(n, node);
}

/* Updates the moving value in the training branch.  The variable enters the branch through a Switch too. */
static weft_out change_in(const norm *n, const branches *c, weft_out variable, weft_out d, const char *exact) {
  weft_graph *g = n->g;
  bool resource = weft__variable_is_resource(g, variable);
  weft_out in[] = {weft__named_branch(g, resource ? "Switch" : "RefSwitch", "Switch", variable, c->pred, true), d};
  if (!resource) return weft__b_node(g, "AssignSub", exact, 2, in, 0, NULL);
  weft_out changed = weft__b_node(g, "AssignSubVariableOp", NULL, 2, in, 0, NULL);
  weft__b_push_control(g, changed.node >= 0, &changed.node);
  weft_out o = weft__b_node(g, "ReadVariableOp", NULL, 1, in, 1, &A_TYPE("dtype", n->type));
  weft__b_pop(g);
  return o;
}

/* The same inside a cond.  The value after the cond is added to the collection. */
static void update_when(const norm *n, weft_out variable, weft_out moving, weft_out now) {
  weft_graph *g = n->g;
  branches c = norm_cond(n);
  weft__b_push_name(g, "AssignMovingAvg");
  char *exact = weft__named_scope_exact(g);
  weft__b_push_colocate(g, variable.node);
  weft_out rate = weft__b_cast(g, scalar_in(g, c.yes, "decay", WEFT_FLOAT, 1 - n->opts->momentum), n->type);
  weft_out a = weft__named_branch(g, "Switch", "sub/Switch", moving, c.pred, true);
  weft_out b = weft__named_branch(g, "Switch", "sub/Switch", now, c.pred, true);
  weft_out d = weft__named_binary(g, "Sub", "sub", OUT(a), OUT(b));
  d = weft__named_binary(g, "Mul", "mul", OUT(d), OUT(rate));
  weft_out changed = exact && d.node >= 0 ? change_in(n, &c, variable, d, exact) : WEFT_NONE;
  weft__b_pop(g);
  weft__b_pop(g);
  weft__free(exact);
  weft_out kept = weft__named_branch(g, "Switch", "Switch", moving, c.pred, false);
  weft_out o = norm_merge(g, kept, changed);
  weft__b_pop(g);
  list_update(n, o.node);
}

/* ---- the fused op ---- */

static const char *norm_layout(const norm *n) {
  int rank = weft__shape_of(n->g, n->x)->rank;
  bool first = n->axis == 1;
  return rank == 4 ? (first ? "NCHW" : "NHWC") : rank == 5 ? (first ? "NCDHW" : "NDHWC") : NULL;
}

static weft_out batch_norm_fill(const norm *n, double v) {
  return weft__named_full(n->g, "Const", n->type, weft__shape_of(n->g, n->mean_read), v);
}

/* c is NULL outside conds. */
static weft_out batch_norm_fused(const norm *n, bool on, const branches *c) {
  weft_graph *g = n->g;
  weft_out in[] = {n->x, n->gamma, n->beta, n->mean_read, n->variance_read};
  const char *name = on ? "FusedBatchNormV3/Switch" : "FusedBatchNormV3_1/Switch";
  for (int i = 0; i < 5 && c; i++) in[i] = weft__named_branch(g, "Switch", name, in[i], c->pred, on);
  return weft__b_node(g, "FusedBatchNormV3", NULL, 5, in, 3,
                      (attr[]){A_FLOAT("epsilon", (float)n->opts->epsilon), A_BOOL("is_training", on),
                               A_STR("data_format", norm_layout(n))});
}

static weft_out norm_fuse(norm *n) {
  weft_graph *g = n->g;
  if (n->beta.node < 0) n->beta = batch_norm_fill(n, 0);
  if (n->gamma.node < 0) n->gamma = batch_norm_fill(n, 1);
  weft_out o, mean, variance;
  if (norm_decides(n)) {
    branches c = norm_cond(n);
    weft_out yes = batch_norm_fused(n, true, &c), no = batch_norm_fused(n, false, &c);
    o = norm_merge(g, no, yes);
    mean = norm_merge(g, weft__b_slot(no, 1), weft__b_slot(yes, 1));
    variance = norm_merge(g, weft__b_slot(no, 2), weft__b_slot(yes, 2));
    weft__b_pop(g);
  } else {
    o = batch_norm_fused(n, n->when.on, NULL);
    mean = weft__b_slot(o, 1);
    variance = weft__b_slot(o, 2);
  }
  if (o.node < 0 || !norm_trains(n)) return o;
  weft_out momentum = norm_momentum(n);
  update_moving(n, n->mean, n->mean_read, mean, OUT(momentum));
  update_moving(n, n->variance, n->variance_read, variance, OUT(momentum));
  return o;
}

/* ---- separate ops ---- */

/* Computes mean and variance over all axes but the last. */
static void batch_norm_moments(weft_graph *g, weft_out x, weft_out *mean, weft_out *variance) {
  int n = weft__shape_of(g, x)->rank - 1;
  int64_t axes[WEFT_MAX_RANK];
  for (int i = 0; i < n; i++) axes[i] = i;
  weft__b_push_name(g, "moments");
  weft_out m = weft__named_reduce_axes(g, "Mean", "mean", x, n, axes, true);
  weft_out still = weft__named_unary(g, "StopGradient", "StopGradient", m);
  weft_out d = weft__named_binary(g, "SquaredDifference", "SquaredDifference", OUT(x), OUT(still));
  weft_out v = weft__named_reduce_axes(g, "Mean", "variance", d, n, axes, true);
  *mean = weft__b_node(g, "Squeeze", NULL, 1, &m, 1, &A_INTS("squeeze_dims", axes, n));
  *variance = weft__b_node(g, "Squeeze", NULL, 1, &v, 1, &A_INTS("squeeze_dims", axes, n));
  weft__b_pop(g);
}

/* x * (gamma / sqrt(variance + epsilon)) + (beta - mean * that). */
static weft_out batch_norm_normalize(const norm *n, weft_out x, weft_out mean, weft_out variance) {
  weft_graph *g = n->g;
  weft__b_push_name(g, "batchnorm");
  weft_out v = weft__named_binary(g, "AddV2", "add", OUT(variance), NUM(n->opts->epsilon));
  weft_out scale = weft__named_unary(g, "Rsqrt", "Rsqrt", v);
  if (n->gamma.node >= 0) scale = weft__named_binary(g, "Mul", "mul", OUT(scale), OUT(n->gamma));
  weft_out y = weft__named_binary(g, "Mul", "mul", OUT(x), OUT(scale));
  weft_out shift = weft__named_binary(g, "Mul", "mul", OUT(mean), OUT(scale));
  shift = n->beta.node >= 0 ? weft__named_binary(g, "Sub", "sub", OUT(n->beta), OUT(shift))
                            : weft__named_unary(g, "Neg", "Neg", shift);
  y = weft__named_binary(g, "AddV2", "add", OUT(y), OUT(shift));
  weft__b_pop(g);
  return y;
}

static weft_out norm_compute(const norm *n) {
  weft_graph *g = n->g;
  weft_out x = norm_narrow(n) ? weft__b_cast(g, n->x, WEFT_FLOAT) : n->x;
  weft_out mean = n->mean_read, variance = n->variance_read;
  if (norm_trains(n)) batch_norm_moments(g, x, &mean, &variance);
  if (norm_decides(n)) {
    mean = norm_choose(n, mean, n->mean_read);
    variance = norm_choose(n, variance, n->variance_read);
    update_when(n, n->mean, n->mean_read, mean);
    update_when(n, n->variance, n->variance_read, variance);
  } else if (norm_trains(n)) {
    update_moving(n, n->mean, n->mean_read, mean, NUM(n->opts->momentum));
    update_moving(n, n->variance, n->variance_read, variance, NUM(n->opts->momentum));
  }
  weft_out y = batch_norm_normalize(n, x, mean, variance);
  return norm_narrow(n) ? weft__b_cast(g, y, weft__type_of(g, n->x)) : y;
}

static bool norm_can_fuse(const norm *n) {
  return !n->opts->unfused && norm_layout(n) && (norm_narrow(n) || weft__type_of(n->g, n->x) == WEFT_FLOAT);
}

static weft_err batch_norm_check(const weft_graph *g, weft_out x, const batch_norm *b) {
  const shape *s = weft__shape_of(g, x);
  if (b->channels_first && s->rank != 4 && s->rank != 5)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "batch_normalization: channels_first needs images of 4 axes (NCHW) or volumes of 5, got %s",
                      weft__shape_text(s));
  if (s->rank < 2 || s->dim[b->channels_first ? 1 : s->rank - 1] < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "batch_normalization: the %s dimension should be defined. Found: %s",
                      b->channels_first ? "channel" : "last", weft__shape_text(s));
  weft_dtype type = weft__type_of(g, x);
  bool fits = type == WEFT_FLOAT || type == WEFT_HALF || type == WEFT_BFLOAT16;
  if (b->channels_first && (b->unfused || !fits))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "batch_normalization: channels_first needs the fused op, which takes float, half and bfloat16; "
                      "got %s%s",
                      weft__dtype_name(type), b->unfused ? " with unfused set" : "");
  return WEFT_OK;
}

weft_out weft__batch_normalization(weft_graph *g, weft_out x, training t, const batch_norm *b) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!weft__named_keep(g, batch_norm_check(g, x, b))) return WEFT_NONE;
  if (!weft__layer_enter(g, b->name, "batch_normalization", b->reuse)) return WEFT_NONE;
  norm n = {.g = g, .opts = b, .when = t, .x = x};
  n.axis = b->channels_first ? 1 : weft__shape_of(g, x)->rank - 1;
  weft_out o = WEFT_NONE;
  if (make_weights(&n)) o = norm_can_fuse(&n) ? norm_fuse(&n) : norm_compute(&n);
  weft__b_pop(g);
  return o;
}
