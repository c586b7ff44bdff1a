/* image_color.c - types and colors of images.
 *
 * Integers become floats in [0, 1] for arithmetic, and go back.  Names and nodes are tf.image's. */
#include "train/model/image.h"

#include <math.h>

/* ---- types ---- */

static weft_out scaled_in_scope(weft_graph *g, weft_out x, double by) {
  weft_out in[] = {x, weft__n_scalar(g, "y", weft__type_of(g, x), by)};
  return weft__n_scope_node(g, "Mul", 2, in, 0, NULL);
}

static weft_out cast_here(weft_graph *g, weft_out x, weft_dtype to, bool saturate) {
  if (saturate) return weft__saturate_here(g, x, to);
  return weft__n_scope_node(g, "Cast", 1, &x, 1, &A_TYPE("DstT", to));
}

/* Each integer type stands for the same range of brightness, so values are scaled by a power of two. */
static weft_out between_integers(weft_graph *g, weft_out x, weft_dtype to, bool saturate) {
  const double have = weft__type_largest(weft__type_of(g, x)), want = weft__type_largest(to);
  if (have > want) {
    x = weft__named_binary(g, "FloorDiv", "floordiv", OUT(x), NUM(floor((have + 1) / (want + 1))));
    return cast_here(g, x, to, saturate);
  }
  x = saturate ? weft__saturate_cast(g, NULL, x, to) : weft__b_cast(g, x, to);
  return scaled_in_scope(g, x, floor((want + 1) / (have + 1)));
}

weft_out weft__image_convert(weft_graph *g, const char *name, weft_out x, weft_dtype to, bool saturate) {
  const weft_dtype from = weft__type_of(g, x);
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (from == to) return weft__named_unary(g, "Identity", name, x);
  const bool was_integer = weft__dtype_is_integer(from), is_integer = weft__dtype_is_integer(to);
  weft__named_push(g, name, "convert_image");
  if (was_integer && is_integer)
    x = between_integers(g, x, to, saturate);
  else if (was_integer)
    x = scaled_in_scope(g, weft__b_cast(g, x, to), 1 / weft__type_largest(from));
  else if (is_integer)
    x = cast_here(g, weft__named_binary(g, "Mul", "Mul", OUT(x), NUM(weft__type_largest(to) + .5)), to, saturate);
  else
    x = cast_here(g, x, to, false);
  weft__b_pop(g);
  return x;
}

/* ---- light and colors ---- */

/* Converts an image for arithmetic: to float32, unless it is float16 or float32. */
static weft_out as_float(weft_graph *g, weft_out x) {
  const weft_dtype type = weft__type_of(g, x);
  return type == WEFT_HALF || type == WEFT_FLOAT ? x : weft__image_convert(g, NULL, x, WEFT_FLOAT, false);
}

/* Converts the result of arithmetic back to the type of the image. */
static weft_out to_type(weft_graph *g, weft_out x, weft_dtype type, bool saturate) {
  return weft__image_convert(g, NULL, x, type, saturate);
}

/* Builds tf.cast of a parameter; a constant is named Cast/x. */
static weft_out cast_term(weft_graph *g, term x, weft_dtype to) {
  if (x.out.node >= 0) return weft__b_cast(g, x.out, to);
  weft__b_push_name(g, "Cast");
  weft_out o = weft__named_term(g, "x", x, 0);
  if (o.node >= 0 && weft__type_of(g, o) != to) o = weft__n_scope_node(g, "Cast", 1, &o, 1, &A_TYPE("DstT", to));
  weft__b_pop(g);
  return o;
}

weft_out weft__image_brightness(weft_graph *g, weft_out x, const char *name, term delta) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const weft_dtype type = weft__type_of(g, x);
  weft__named_push(g, name, "adjust_brightness");
  x = as_float(g, x);
  weft_out in[] = {x, cast_term(g, delta, weft__type_of(g, x))};
  x = to_type(g, weft__n_scope_node(g, "AddV2", 2, in, 0, NULL), type, true);
  weft__b_pop(g);
  return x;
}

weft_out weft__image_contrast(weft_graph *g, weft_out x, const char *name, term factor) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const weft_dtype type = weft__type_of(g, x);
  weft__named_push(g, name, "adjust_contrast");
  x = as_float(g, x);
  weft_out in[] = {x, weft__named_term(g, "contrast_factor", factor, WEFT_FLOAT)};
  x = to_type(g, weft__n_scope_node(g, "AdjustContrastv2", 2, in, 0, NULL), type, true);
  weft__b_pop(g);
  return x;
}

/* Builds tf.image.NAME by one op of a float image and a number; the number is a constant in the scope of the op. */
static weft_out image_adjust(weft_graph *g, weft_out x, const char *name, const char *standard_name,
                             const char *op_name, const char *parameter, term by) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const weft_dtype type = weft__type_of(g, x);
  weft__named_push(g, name, standard_name);
  x = as_float(g, x);
  weft__b_push_name(g, op_name);
  weft_out in[] = {x, weft__named_term(g, parameter, by, WEFT_FLOAT)};
  x = weft__n_scope_node(g, op_name, 2, in, 0, NULL);
  weft__b_pop(g);
  x = to_type(g, x, type, false);
  weft__b_pop(g);
  return x;
}

weft_out weft__image_saturation(weft_graph *g, weft_out x, const char *name, term factor) {
  return image_adjust(g, x, name, "adjust_saturation", "AdjustSaturation", "scale", factor);
}

weft_out weft__image_hue(weft_graph *g, weft_out x, const char *name, term delta) {
  return image_adjust(g, x, name, "adjust_hue", "AdjustHue", "delta", delta);
}

/* Builds (x - mean) / deviation.  The deviation is at least 1 / sqrt(pixels), so an image of one color becomes 0. */
weft_out weft__image_standardize(weft_graph *g, weft_out x, const char *name) {
  static const int64_t axes[] = {-1, -2, -3};
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  weft__named_push(g, name, "per_image_standardization");
  x = weft__image_checked(g, "per_image_standardization", x);
  x = weft__b_cast(g, x, WEFT_FLOAT);
  weft_out sizes = weft__named_slice(g, weft__named_shape(g, x), (slice_bounds){.has_begin = true, .begin = -3});
  weft_out pixels = weft__named_reduce(g, "Prod", "Prod", sizes);
  weft_out mean = weft__named_reduce_axes(g, "Mean", "Mean", x, 3, axes, true);
  weft__b_push_name(g, "reduce_std");
  weft__b_push_name(g, "reduce_variance");
  weft_out center = weft__named_reduce_axes(g, "Mean", "Mean", x, 3, axes, true);
  weft_out square = weft__named_unary(g, "Square", "Square", weft__named_binary_of(g, "Sub", "sub", x, center));
  weft_out variance = weft__named_reduce_axes(g, "Mean", "Mean", square, 3, axes, true);
  weft__b_pop(g);
  weft_out deviation = weft__named_unary(g, "Sqrt", "Sqrt", variance);
  weft__b_pop(g);
  weft_out least = weft__named_unary(g, "Rsqrt", "Rsqrt", weft__b_cast(g, pixels, WEFT_FLOAT));
  deviation = weft__named_binary_of(g, "Maximum", "Maximum", deviation, least);
  weft_out in[] = {weft__named_binary_of(g, "Sub", "sub", x, mean), deviation};
  weft_out o = weft__n_scope_node(g, "RealDiv", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}
