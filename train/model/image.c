/* image.c - flips, crops, resizes and color-adjusts images, built from ops.
 *
 * The numbers are tf.image's, those of a seed too.  A random flip chooses between both pictures, where TensorFlow
 * builds a cond. */
#include "train/model/image.h"

#include "graph/scope.h"
#include <string.h>

static weft_out image_refuse(weft_graph *g, const char *what, weft_out x) {
  weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: images are (height, width, channels) or batches, got %s",
                                 what, weft__shape_text(weft__shape_of(g, x))));
  return WEFT_NONE;
}

static bool is_batch(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 4; }
static bool is_image(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 3 || is_batch(g, x); }

/* ---- types ---- */

static double image_largest(weft_dtype type) {
  switch (type) {
  case WEFT_UINT8: return 255;
  case WEFT_INT8: return 127;
  case WEFT_UINT16: return 65535;
  case WEFT_INT16: return 32767;
  case WEFT_INT32: return 2147483647;
  default: return 1; /* a float's 1 is white */
  }
}

static weft_out image_saturate(weft_graph *g, weft_out x, weft_dtype type) {
  double low = type == WEFT_UINT8 || type == WEFT_UINT16 ? 0 : -image_largest(type) - 1;
  x = weft__named_binary(g, "Minimum", "Minimum", OUT(x), NUM(image_largest(type)));
  return weft__named_binary(g, "Maximum", "Maximum", OUT(x), NUM(low));
}

weft_out weft__image_convert(weft_graph *g, weft_out x, weft_dtype to, bool saturate) {
  weft_dtype from = weft__type_of(g, x);
  if (x.node < 0 || from == to) return x;
  weft__b_push_name(g, "convert_image");
  bool was_float = image_largest(from) == 1, is_float = image_largest(to) == 1;
  if (was_float && !is_float) {
    x = weft__named_binary(g, "Mul", "Mul", OUT(x), NUM(image_largest(to) + .5));
    if (saturate) x = image_saturate(g, x, to);
    x = weft__b_cast(g, x, to);
  } else if (is_float) {
    x = weft__b_cast(g, x, to);
    if (!was_float) x = weft__named_binary(g, "Mul", "Mul", OUT(x), NUM(1 / image_largest(from)));
  } else { /* between integers: by the ratio of their ranges, which is an integer */
    bool down = image_largest(from) > image_largest(to);
    double ratio = down ? (image_largest(from) + 1) / (image_largest(to) + 1)
                        : (image_largest(to) + 1) / (image_largest(from) + 1);
    if (!down) x = weft__b_cast(g, x, to);
    x = weft__named_binary(g, down ? "FloorDiv" : "Mul", "scaled", OUT(x), NUM(ratio));
    x = weft__b_cast(g, x, to);
  }
  weft__b_pop(g);
  return x;
}

/* ---- size ---- */

weft_out weft__image_resize(weft_graph *g, weft_out x, const int64_t *size, const char *method, bool align_corners) {
  static const struct {
    const char *method, *type;
  } kinds[] = {{"bilinear", "ResizeBilinear"},
               {"nearest_neighbor", "ResizeNearestNeighbor"},
               {"bicubic", "ResizeBicubic"},
               {"area", "ResizeArea"}};
  const char *type = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].method, method ? method : "bilinear") == 0) type = kinds[i].type;
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "resize", x);
  if (!type && !weft__named_keep(g, weft__fail(WEFT_UNIMPLEMENTED, "Resize method %s is not implemented.", method)))
    return WEFT_NONE;
  bool alone = !is_batch(g, x);
  weft__b_push_name(g, "resize");
  if (alone) x = weft__b_node(g, "ExpandDims", NULL, 2, (weft_out[]){x, weft__b_scalar(g, WEFT_INT32, 0)}, 0, NULL);
  x = weft__b_node(g, type, NULL, 2, (weft_out[]){x, weft__named_ints(g, "size", size, 2)}, 1,
                   &A_BOOL("align_corners", align_corners));
  int64_t first = 0;
  if (alone) x = weft__b_node(g, "Squeeze", NULL, 1, &x, 1, &A_INTS("squeeze_dims", &first, 1));
  weft__b_pop(g);
  return x;
}

weft_out weft__image_crop(weft_graph *g, weft_out x, const int64_t *from, const int64_t *size) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "crop", x);
  const int batch = is_batch(g, x);
  int64_t begin[4] = {0}, length[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 2; i++) begin[batch + i] = from[i], length[batch + i] = size[i];
  weft__b_push_name(g, "crop");
  weft_out in[] = {x, weft__named_ints(g, "begin", begin, 3 + batch), weft__named_ints(g, "size", length, 3 + batch)};
  weft_out o = weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__image_central_crop(weft_graph *g, weft_out x, double fraction) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const shape *s = weft__shape_of(g, x);
  const int at = s->rank - 3;
  if (!is_image(g, x) || s->dim[at] < 0 || s->dim[at + 1] < 0)
    return image_refuse(g, "central_crop (of a known size)", x);
  if (!(fraction > 0 && fraction <= 1)) {
    weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "central_fraction must be within (0, 1], got %g", fraction));
    return WEFT_NONE;
  }
  if (fraction == 1) return x;
  int64_t from[2], size[2];
  for (int i = 0; i < 2; i++) {
    from[i] = (int64_t)(((double)s->dim[at + i] - (double)s->dim[at + i] * fraction) / 2);
    size[i] = s->dim[at + i] - 2 * from[i];
  }
  return weft__image_crop(g, x, from, size);
}

/* ---- flips and rotations ---- */

weft_out weft__image_flip(weft_graph *g, weft_out x, bool up_down) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "flip", x);
  int64_t axis = is_batch(g, x) + !up_down;
  weft__b_push_name(g, up_down ? "flip_up_down" : "flip_left_right");
  weft_out in[] = {x, weft__named_ints(g, "axis", &axis, 1)}, o = weft__b_node(g, "ReverseV2", NULL, 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (weft__shape_of(g, x)->rank != 3) return image_refuse(g, "random_flip (of one image)", x);
  weft__b_push_name(g, up_down ? "random_flip_up_down" : "random_flip_left_right");
  weft_out low = weft__named_binary(g, "Less", "Less", OUT(weft__image_draw(g, 0, 1, seed)), NUM(.5));
  weft_out in[] = {low, weft__image_flip(g, x, up_down), x};
  weft_out o = weft__b_node(g, "SelectV2", NULL, 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* ---- light ---- */

weft_out weft__image_brightness(weft_graph *g, weft_out x, weft_out delta) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  weft_dtype type = weft__type_of(g, x);
  weft__b_push_name(g, "adjust_brightness");
  weft_out light = weft__image_convert(g, x, WEFT_FLOAT, false);
  light = weft__named_binary(g, "AddV2", "add", OUT(light), OUT(weft__b_cast(g, delta, WEFT_FLOAT)));
  light = weft__image_convert(g, light, type, true);
  weft__b_pop(g);
  return light;
}

weft_out weft__image_contrast(weft_graph *g, weft_out x, weft_out factor) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "adjust_contrast", x);
  weft_dtype type = weft__type_of(g, x);
  weft__b_push_name(g, "adjust_contrast");
  weft_out in[] = {weft__image_convert(g, x, WEFT_FLOAT, false), factor};
  weft_out o = weft__b_node(g, "AdjustContrastv2", NULL, 2, in, 0, NULL);
  o = weft__image_convert(g, o, type, true);
  weft__b_pop(g);
  return o;
}

/* (x - mean) / deviation, which is held at 1 / sqrt(pixels): an image of one color becomes 0. */
weft_out weft__image_standardize(weft_graph *g, weft_out x) {
  static const int64_t axes[] = {-1, -2, -3};
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const shape *s = weft__shape_of(g, x);
  if (!is_image(g, x)) return image_refuse(g, "per_image_standardization", x);
  weft__b_push_name(g, "per_image_standardization");
  x = weft__b_cast(g, x, WEFT_FLOAT);
  weft_out mean = weft__named_reduce_axes(g, "Mean", "Mean", x, 3, axes, true);
  weft_out d = weft__named_binary(g, "Sub", "sub", OUT(x), OUT(mean));
  weft_out variance =
      weft__named_reduce_axes(g, "Mean", "variance", weft__named_unary(g, "Square", "Square", d), 3, axes, true);
  weft_out dims = weft__named_unary(g, "Shape", "Shape", x);
  dims = weft__named_slice(g, dims, (slice_bounds){.has_begin = true, .begin = s->rank - 3});
  weft_out pixels = weft__b_cast(g, weft__named_reduce(g, "Prod", "Prod", dims), WEFT_FLOAT);
  weft_out deviation = weft__named_binary(g, "Maximum", "Maximum", OUT(weft__named_unary(g, "Sqrt", "Sqrt", variance)),
                                          OUT(weft__named_unary(g, "Rsqrt", "Rsqrt", pixels)));
  weft_out o = weft__named_binary(g, "RealDiv", "truediv", OUT(d), OUT(deviation));
  weft__b_pop(g);
  return o;
}

/* ---- chance ---- */

weft_out weft__image_draw(weft_graph *g, double low, double high, const int64_t *seed) {
  int64_t seed1, seed2;
  weft__b_push_name(g, "random_uniform");
  weft_out scalar = weft__named_ints(g, "shape", NULL, 0), min = weft__n_scalar(g, "min", WEFT_FLOAT, low);
  weft_out max = weft__n_scalar(g, "max", WEFT_FLOAT, high);
  weft__graph_seeds(g, seed != NULL, seed ? *seed : 0, &seed1, &seed2);
  weft_out o = weft__b_node(g, "RandomUniform", NULL, 1, &scalar, 3,
                            (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_INT("seed", seed1), A_INT("seed2", seed2)});
  o = weft__named_binary(g, "Mul", "mul", OUT(o), OUT(weft__named_binary(g, "Sub", "sub", OUT(max), OUT(min))));
  o = weft__n_scope_node(g, "AddV2", 2, (weft_out[]){o, min}, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* The offset of a crop: a random int32 modulo the number of possible offsets. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *size, const int64_t *seed) {
  int64_t seed1, seed2, count = n;
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (weft__shape_of(g, x)->rank != n) return image_refuse(g, "random_crop (with a size for every axis)", x);
  weft__b_push_name(g, "random_crop");
  weft_out sizes = weft__named_ints(g, "size", size, n), dims = weft__named_unary(g, "Shape", "Shape", x);
  weft_out room = weft__named_binary(g, "Sub", "sub", OUT(dims), OUT(sizes));
  room = weft__named_binary(g, "AddV2", "add", OUT(room), NUM(1));
  weft_out low = weft__n_scalar(g, "min", WEFT_INT32, 0), high = weft__n_scalar(g, "max", WEFT_INT32, 2147483647);
  weft__graph_seeds(g, seed != NULL, seed ? *seed : 0, &seed1, &seed2);
  weft_out drawn[] = {weft__named_ints(g, "shape", &count, 1), low, high};
  weft_out from =
      weft__b_node(g, "RandomUniformInt", NULL, 3, drawn, 2, (attr[]){A_INT("seed", seed1), A_INT("seed2", seed2)});
  from = weft__named_binary(g, "FloorMod", "mod", OUT(from), OUT(room));
  weft_out o = weft__b_node(g, "Slice", NULL, 3, (weft_out[]){x, from, sizes}, 0, NULL);
  weft__b_pop(g);
  return o;
}
