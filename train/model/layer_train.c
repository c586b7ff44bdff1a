/* layer_train.c - dropout, which has an effect only in training.
 *
 * The mode may be known while the graph is built, or be a tensor.  A tensor makes a cond. */
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
  weft_out yes, cond = weft__named_cond(g, when, &yes, NULL), o = WEFT_NONE;
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
