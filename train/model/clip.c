/* clip.c - gradient clipping with exactly TensorFlow's nodes, so that infinities and NaN in a norm give the same
 * result. */
#include "train/model/clip.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/scope.h"

weft_out weft__clip_by_value(weft_graph *g, const char *name, weft_out x, term low, term high) {
  weft__named_push(g, name, "clip_by_value");
  weft_out below = weft__named_binary(g, "Minimum", "Minimum", OUT(x), high);
  weft_out in[] = {below, weft__named_term(g, "y", low, weft__type_of(g, x))};
  weft_out o = weft__n_scope_node(g, "Maximum", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out sum_of_squares(weft_graph *g, weft_out x, const term *axes) {
  weft_out squared = weft__named_binary(g, "Mul", "mul", OUT(x), OUT(x));
  if (axes) return weft__named_reduce_term(g, "Sum", "Sum", squared, *axes, true);
  return weft__named_reduce_keep(g, "Sum", "Sum", squared);
}

weft_out weft__clip_by_norm(weft_graph *g, const char *name, weft_out x, term norm, const term *axes) {
  if (g->sticky.code || x.node < 0) return WEFT_NONE;
  weft__named_push(g, name, "clip_by_norm");
  weft_out sum = sum_of_squares(g, x, axes), o = WEFT_NONE;
  weft_out positive = weft__named_binary(g, "Greater", "Greater", OUT(sum), NUM(0));
  if (positive.node >= 0) {
    weft_out safe = weft__b_select(g, positive, sum, weft__named_ones_like(g, sum, weft__type_of(g, sum)));
    weft_out length = weft__b_select(g, positive, weft__named_unary(g, "Sqrt", "Sqrt", safe), sum);
    weft_out scaled = weft__named_binary(g, "Mul", "mul", OUT(x), norm);
    weft_out most = weft__named_binary(g, "Maximum", "Maximum", OUT(length), norm);
    weft_out clipped = weft__named_binary(g, "RealDiv", "truediv", OUT(scaled), OUT(most));
    o = weft__n_scope_node(g, "Identity", 1, &clipped, 0, NULL);
  }
  weft__b_pop(g);
  return o;
}

static weft_out all_axes_range(weft_graph *g, weft_out x) { return weft__named_range(g, weft__named_rank(g, x)); }

weft_out weft__clip_by_average_norm(weft_graph *g, const char *name, weft_out x, term norm) {
  if (g->sticky.code || x.node < 0) return WEFT_NONE;
  weft_dtype type = weft__type_of(g, x);
  int64_t count = weft__shape_count(weft__shape_of(g, x));
  weft__named_push(g, name, "clip_by_average_norm");
  weft_out size = count >= 0 ? weft__n_scalar(g, "Size", WEFT_INT32, (double)count) : weft__b_size(g, x);
  weft_out n = weft__b_cast(g, size, type);
  weft_out squared = weft__named_binary(g, "Mul", "mul", OUT(x), OUT(x));
  weft_out sum = weft__b_sum(g, squared, all_axes_range(g, x), false);
  weft_out inverse = weft__named_unary(g, "Rsqrt", "Rsqrt", sum);
  weft_out scaled = weft__named_binary(g, "Mul", "mul", OUT(x), norm);
  weft_out mean = weft__named_binary(g, "Mul", "mul", OUT(inverse), OUT(n));
  weft_out one = weft__n_scalar(g, "Const", type, 1);
  weft_out least = weft__named_binary(g, "Minimum", "Minimum", OUT(mean),
                                      OUT(weft__named_binary(g, "RealDiv", "truediv", OUT(one), norm)));
  weft_out clipped = weft__named_binary(g, "Mul", "mul", OUT(scaled), OUT(least));
  weft_out o = weft__n_scope_node(g, "Identity", 1, &clipped, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* ---- all gradients together ---- */

static weft_out values_of(const grad_value *d) { return d->indices.node >= 0 ? d->values : d->dense; }

static weft_out half_square(weft_graph *g, weft_out x) {
  weft__b_push_colocate(g, x.node);
  weft_out o = weft__named_unary(g, "L2Loss", "L2Loss", x);
  weft__b_pop(g);
  return o;
}

weft_out weft__global_norm(weft_graph *g, const char *name, int n, const grad_value *d) {
  weft_out *half = weft__alloc(((size_t)n + 1) * sizeof *half);
  if (!half) weft__named_keep(g, WEFT_OOM);
  int used = 0;
  weft__named_push(g, name, "global_norm");
  for (int i = 0; i < n && half && !g->sticky.code; i++)
    if (values_of(&d[i]).node >= 0) half[used++] = half_square(g, values_of(&d[i]));
  weft_out o = WEFT_NONE;
  if (half && !g->sticky.code) {
    weft_out all =
        used ? weft__named_pack(g, "stack", used, half, 0) : weft__named_full(g, "stack", WEFT_FLOAT, &SHAPE1(0), 0);
    weft_out sum = weft__named_reduce(g, "Sum", "Sum", all);
    weft_out two = weft__n_scalar(g, "Const", weft__type_of(g, sum), 2);
    o = weft__named_unary(g, "Sqrt", "global_norm", weft__named_binary(g, "Mul", "mul", OUT(sum), OUT(two)));
  }
  weft__b_pop(g);
  weft__free(half);
  return o;
}

/* limit * min(1 / norm, 1 / limit).  The norm minus itself is added: it is 0, or NaN if the norm is not finite. */
static weft_out global_scale(weft_graph *g, weft_out norm, term limit) {
  weft_out inverse = weft__named_binary(g, "RealDiv", "truediv", NUM(1), OUT(norm));
  weft_out one = weft__n_scalar(g, "Const", weft__type_of(g, norm), 1);
  weft_out bound = weft__named_binary(g, "RealDiv", "truediv", OUT(one), limit);
  weft_out least = weft__named_binary(g, "Minimum", "Minimum", OUT(inverse), OUT(bound));
  weft_out scale = weft__named_binary(g, "Mul", "mul", limit, OUT(least));
  weft_out nothing = weft__named_binary(g, "Sub", "sub", OUT(norm), OUT(norm));
  return weft__named_binary(g, "AddV2", "add", OUT(scale), OUT(nothing));
}

/* The node's name begins with the full name of its scope, as in TensorFlow. */
static weft_out scale_one(weft_graph *g, int i, weft_out x, weft_out scale) {
  char *name = weft__sprintf("%s/_%d", weft__scope_prefix(g), i);
  if (!name) weft__named_keep(g, WEFT_OOM);
  weft__b_push_colocate(g, x.node);
  weft_out scaled = weft__named_binary(g, "Mul", "mul", OUT(x), OUT(scale));
  weft__b_pop(g);
  weft__b_push_colocate(g, x.node);
  scaled = weft__named_unary(g, "Identity", name, scaled);
  weft__b_pop(g);
  weft__free(name);
  return scaled;
}

weft_out weft__clip_by_global_norm(weft_graph *g, const char *name, int n, const grad_value *d, term limit,
                                   weft_out use_norm, grad_value *clipped) {
  if (use_norm.node < 0) use_norm = weft__global_norm(g, name, n, d);
  if (g->sticky.code) return WEFT_NONE;
  weft__named_push(g, name, "clip_by_global_norm");
  weft_out scale = global_scale(g, use_norm, limit);
  for (int i = 0; i < n && !g->sticky.code; i++) {
    clipped[i] = d[i];
    if (values_of(&d[i]).node < 0) continue;
    weft_out scaled = scale_one(g, i, values_of(&d[i]), scale);
    *(d[i].indices.node >= 0 ? &clipped[i].values : &clipped[i].dense) = scaled;
  }
  weft__b_pop(g);
  return use_norm;
}
