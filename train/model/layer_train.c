/* layer_train.c - the layers that do something else in training: dropout and batch normalization.
 *
 * Whether it is training may be known while building, or only from step to step.  TensorFlow builds conds for the
 * latter; dropout does so too here, batch normalization chooses between both results. */
#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "train/model/layer.h"

/* ---- dropout ---- */

static weft_out uniform_like(weft_graph *g, weft_out x, bool has_seed, int64_t seed) {
  int64_t seed1, seed2;
  const shape *s = weft__shape_of(g, x);
  weft_out dims =
      weft__shape_known(s) ? weft__named_ints(g, "Shape", s->dim, s->rank) : weft__named_unary(g, "Shape", "Shape", x);
  weft__b_push_name(g, "random_uniform");
  weft__graph_seeds(g, has_seed, seed, &seed1, &seed2);
  weft_out o =
      weft__b_node(g, "RandomUniform", NULL, 1, &dims, 3,
                   (attr[]){A_TYPE("dtype", weft__type_of(g, x)), A_INT("seed", seed1), A_INT("seed2", seed2)});
  weft__b_pop(g);
  return o;
}

weft_out weft__dropout(weft_graph *g, weft_out x, double rate, bool has_seed, int64_t seed, const char *name) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (rate < 0 || rate >= 1) {
    weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                   "`rate` must be a scalar tensor or a float in the range [0, 1), got %g", rate));
    return WEFT_NONE;
  }
  if (rate == 0) return x;
  weft_dtype type = weft__type_of(g, x);
  weft__named_push(g, name, "dropout");
  weft_out scaled = weft__named_binary(g, "Mul", "Mul", OUT(x), OUT(weft__n_scalar(g, "Const", type, 1 / (1 - rate))));
  weft_out u = uniform_like(g, x, has_seed, seed);
  weft_out kept = weft__named_binary(g, "GreaterEqual", "GreaterEqual", OUT(u), NUM(rate));
  weft_out in[] = {kept, scaled, weft__n_scalar(g, "Const", type, 0)};
  weft_out o = weft__b_node(g, "SelectV2", NULL, 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out dropout_when(weft_graph *g, weft_out x, double rate, weft_out when, bool has_seed, int64_t seed) {
  weft__b_push_name(g, "cond");
  weft_out yes, cond = weft__named_cond(g, when, &yes), o = WEFT_NONE;
  if (cond.node >= 0) {
    weft_out there = weft__named_branch(g, "Switch", "dropout/Mul/Switch", x, cond, true);
    weft__b_push_control(g, 1, &yes.node); /* constants belong to the branch as well */
    weft_out dropped = weft__dropout(g, there, rate, has_seed, seed, NULL);
    weft__b_pop(g);
    weft_out same = weft__named_unary(g, "Identity", "Identity",
                                      weft__named_branch(g, "Switch", "Identity/Switch", x, cond, false));
    o = weft__b_node(g, "Merge", NULL, 2, (weft_out[]){same, dropped}, 0, NULL);
  }
  weft__b_pop(g);
  return o;
}

weft_out weft__dropout_layer(weft_graph *g, weft_out x, double rate, training t, bool has_seed, int64_t seed,
                             const char *name) {
  if (x.node < 0 || !weft__layer_enter(g, name, "dropout", REUSE_INHERIT)) return WEFT_NONE;
  weft_out o = t.when.node >= 0 ? dropout_when(g, x, rate, t.when, has_seed, seed)
               : t.on           ? weft__dropout(g, x, rate, has_seed, seed, NULL)
                                : weft__named_unary(g, "Identity", "Identity", x);
  weft__b_pop(g);
  return o;
}

/* ---- batch normalization ---- */

typedef struct statistics {
  weft_out gamma, beta;    /* values; WEFT_NONE: 1 and 0 */
  weft_out mean, variance; /* moving: variables */
  weft_out mean_now, variance_now;
} statistics;

static weft_out make_weight(weft_graph *g, const char *name, const shape *s, weft_dtype type, double fill,
                            bool untrainable, weft_out *variable) {
  weight w = {.name = name,
              .shape = *s,
              .dtype = type,
              .init = {.kind = fill == 1 ? INIT_ONES : INIT_ZEROS},
              .untrainable = untrainable};
  return weft__layer_variable(g, &w, variable);
}

static bool make_statistics(weft_graph *g, weft_out x, const batch_norm *b, statistics *out) {
  shape s = SHAPE1(weft__shape_of(g, x)->dim[b->channels_first ? 1 : weft__shape_of(g, x)->rank - 1]);
  weft_dtype type = weft__type_of(g, x);
  out->gamma = out->beta = WEFT_NONE;
  if (!b->no_scale) out->gamma = make_weight(g, "gamma", &s, type, 1, b->untrainable, NULL);
  if (!b->no_center) out->beta = make_weight(g, "beta", &s, type, 0, b->untrainable, NULL);
  out->mean_now = make_weight(g, "moving_mean", &s, type, 0, true, &out->mean);
  out->variance_now = make_weight(g, "moving_variance", &s, type, 1, true, &out->variance);
  return !g->sticky.code;
}

static weft_out filled(weft_graph *g, weft_out like, double v) {
  return weft__named_full(g, "Const", weft__type_of(g, like), weft__shape_of(g, like), v);
}

static weft_out select(weft_graph *g, weft_out when, weft_out x, weft_out y) {
  return weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){when, x, y}, 0, NULL);
}

/* moving -= (moving - now) * (1 - momentum); momentum is an output or a number. */
static void update_moving(weft_graph *g, weft_out variable, weft_out moving, weft_out now, term momentum) {
  if (now.node < 0) return;
  weft__b_push_name(g, "AssignMovingAvg");
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__named_keep(g, WEFT_OOM);
  weft__b_push_colocate(g, variable.node);
  weft_out rate = momentum.out.node >= 0
                      ? weft__named_binary(g, "Sub", "sub", NUM(1), momentum)
                      : weft__n_scalar(g, "decay", weft__variable_type(g, variable), 1 - momentum.number);
  weft_out d = weft__named_binary(g, "Sub", "sub", OUT(moving), OUT(now));
  d = weft__named_binary(g, "Mul", "mul", OUT(d), OUT(rate));
  weft__b_pop(g);
  int node;
  weft__variable_change(g, CHANGE_SUB, exact, variable, OUT(d), false, &node);
  weft__b_pop(g);
  weft__free(exact);
  if (node >= 0) weft__named_keep(g, weft__collection_add_name(g, "update_ops", g->node[node]->name));
}

/* When a value decides whether it is training, all of the moving value is kept if not. */
static void update_both(weft_graph *g, const statistics *s, training t, term momentum, weft_out mean,
                        weft_out variance) {
  if (t.when.node >= 0) {
    weft_dtype type = weft__variable_type(g, s->mean);
    weft_out keep = weft__n_scalar(g, "Const", type, momentum.number), all = weft__n_scalar(g, "Const", type, 1);
    momentum = OUT(select(g, t.when, keep, all));
  }
  update_moving(g, s->mean, s->mean_now, mean, momentum);
  update_moving(g, s->variance, s->variance_now, variance, momentum);
}

static weft_out fused(weft_graph *g, weft_out x, const statistics *s, const batch_norm *b, bool on) {
  weft_out in[] = {x, s->gamma, s->beta, s->mean_now, s->variance_now};
  if (in[1].node < 0) in[1] = filled(g, s->mean_now, 1);
  if (in[2].node < 0) in[2] = filled(g, s->mean_now, 0);
  return weft__b_node(g, "FusedBatchNormV3", NULL, 5, in, 3,
                      (attr[]){A_FLOAT("epsilon", (float)b->epsilon), A_BOOL("is_training", on),
                               A_STR("data_format", b->channels_first ? "NCHW" : "NHWC")});
}

static weft_out normalize_images(weft_graph *g, weft_out x, const statistics *s, training t, const batch_norm *b) {
  bool decide = t.when.node >= 0;
  weft_out o = fused(g, x, s, b, t.on || decide), after = WEFT_NONE;
  if (o.node < 0) return o;
  if (decide) after = select(g, t.when, o, fused(g, x, s, b, false));
  term momentum = NUM(b->momentum);
  if (t.on && !decide) momentum = OUT(weft__n_scalar(g, "Const", weft__variable_type(g, s->mean), b->momentum));
  if (t.on || decide) update_both(g, s, t, momentum, weft__b_slot(o, 1), weft__b_slot(o, 2));
  return decide ? after : o;
}

/* Mean and variance over all axes but the last. */
static void moments(weft_graph *g, weft_out x, weft_out *mean, weft_out *variance) {
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
static weft_out normalize(weft_graph *g, weft_out x, const statistics *s, weft_out mean, weft_out variance,
                          double epsilon) {
  weft__b_push_name(g, "batchnorm");
  weft_out v = weft__named_binary(g, "AddV2", "add", OUT(variance), NUM(epsilon));
  weft_out scale = weft__named_unary(g, "Rsqrt", "Rsqrt", v);
  if (s->gamma.node >= 0) scale = weft__named_binary(g, "Mul", "mul", OUT(scale), OUT(s->gamma));
  weft_out y = weft__named_binary(g, "Mul", "mul", OUT(x), OUT(scale));
  weft_out shift = weft__named_binary(g, "Mul", "mul", OUT(mean), OUT(scale));
  shift = s->beta.node >= 0 ? weft__named_binary(g, "Sub", "sub", OUT(s->beta), OUT(shift))
                            : weft__named_unary(g, "Neg", "Neg", shift);
  y = weft__named_binary(g, "AddV2", "add", OUT(y), OUT(shift));
  weft__b_pop(g);
  return y;
}

static weft_out normalize_rows(weft_graph *g, weft_out x, const statistics *s, training t, const batch_norm *b) {
  weft_out mean = s->mean_now, variance = s->variance_now;
  if (t.on || t.when.node >= 0) {
    moments(g, x, &mean, &variance);
    if (mean.node >= 0) update_both(g, s, t, NUM(b->momentum), mean, variance);
    if (t.when.node >= 0) {
      mean = select(g, t.when, mean, s->mean_now);
      variance = select(g, t.when, variance, s->variance_now);
    }
  }
  return normalize(g, x, s, mean, variance, b->epsilon);
}

weft_out weft__batch_normalization(weft_graph *g, weft_out x, training t, const batch_norm *b) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const shape *s = weft__shape_of(g, x);
  statistics have;
  weft_err err = WEFT_OK;
  if (b->channels_first && s->rank != 4)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "batch_normalization: images have 4 axes (NCHW), got %s",
                     weft__shape_text(s));
  else if (s->rank < 2 || s->dim[b->channels_first ? 1 : s->rank - 1] < 0)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "batch_normalization: the %s dimension should be defined. Found: %s",
                     b->channels_first ? "channel" : "last", weft__shape_text(s));
  if (!weft__named_keep(g, err)) return WEFT_NONE;
  if (!weft__layer_enter(g, b->name, "batch_normalization", b->reuse)) return WEFT_NONE;
  weft_out o = WEFT_NONE;
  if (make_statistics(g, x, b, &have))
    o = s->rank == 4 ? normalize_images(g, x, &have, t, b) : normalize_rows(g, x, &have, t, b);
  weft__b_pop(g);
  return o;
}
