/* image.c - resizes, crops, pads and flips images.
 *
 * Names and nodes are tf.image's.  Sizes that are unknown while the graph is built are not checked here: the ops check them
 * when it runs.  A random flip chooses between both pictures, where TensorFlow builds a cond. */
#include "train/model/image.h"

#include "graph/scope.h"
#include <string.h>

static weft_out image_fail(weft_graph *g, weft_err err) {
  weft__named_keep(g, err);
  return WEFT_NONE;
}

static weft_out image_refuse(weft_graph *g, const char *what, weft_out x) {
  return image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: images are (height, width, channels) or batches, got %s",
                                  what, weft__shape_text(weft__shape_of(g, x))));
}

static bool is_batch(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 4; }
static bool is_image(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 3 || is_batch(g, x); }

weft_out weft__image_checked(weft_graph *g, const char *what, weft_out x) {
  const shape s = *weft__shape_of(g, x);
  if (x.node < 0 || g->sticky.code || s.rank < 0) return x;
  if (s.rank < 3)
    return image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: 'image' (shape %s) must be at least three-dimensional.",
                                    what, weft__shape_text(&s)));
  for (int i = s.rank - 3; i < s.rank; i++)
    if (s.dim[i] == 0)
      return image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: inner 3 dims of 'image.shape' must be > 0: %s", what,
                                      weft__shape_text(&s)));
  return weft__named_after(g, "control_dependency", 0, NULL, x);
}

/* ---- size ---- */

/* An image as a batch of one. */
static weft_out as_batch(weft_graph *g, weft_out x) {
  weft__b_push_name(g, "ExpandDims");
  weft_out in[] = {x, weft__n_scalar(g, "dim", WEFT_INT32, 0)};
  weft_out o = weft__n_scope_node(g, "ExpandDims", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out as_image(weft_graph *g, weft_out x) {
  int64_t first = 0;
  return weft__b_node(g, "Squeeze", NULL, 1, &x, 1, &A_INTS("squeeze_dims", &first, 1));
}

static const char *resize_type(const char *method) {
  static const struct {
    const char *method, *type;
  } kinds[] = {{"bilinear", "ResizeBilinear"},
               {"nearest_neighbor", "ResizeNearestNeighbor"},
               {"bicubic", "ResizeBicubic"},
               {"area", "ResizeArea"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].method, method ? method : "bilinear") == 0) return kinds[i].type;
  return NULL;
}

/* True if the images have this size already, as far as both are known. */
static bool has_size(const weft_graph *g, weft_out images, weft_out size) {
  shape wanted;
  const shape *s = weft__shape_of(g, images);
  return size.node >= 0 && weft__graph_constant_shape(g, size, &wanted) && wanted.rank == 2 && wanted.dim[0] >= 0 &&
         wanted.dim[0] == s->dim[1] && wanted.dim[1] == s->dim[2];
}

weft_out weft__image_resize(weft_graph *g, weft_out x, const char *name, term size, const char *method,
                            bool align_corners) {
  const char *type = resize_type(method);
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "resize", x);
  if (!type) return image_fail(g, weft__fail(WEFT_UNIMPLEMENTED, "Resize method %s is not implemented.", method));
  const bool alone = !is_batch(g, x);
  weft__named_push(g, name, "resize");
  weft_out images = alone ? as_batch(g, x) : x, to = weft__named_term(g, "size", size, WEFT_INT32);
  const shape s = *weft__shape_of(g, to);
  if (s.rank >= 0 && (s.rank != 1 || (s.dim[0] >= 0 && s.dim[0] != 2))) {
    x = image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                 "'size' must be a 1-D Tensor of 2 elements: new_height, new_width, got shape %s",
                                 weft__shape_text(&s)));
  } else {
    if (!has_size(g, images, to))
      images = weft__b_node(g, type, NULL, 2, (weft_out[]){images, to}, 1, &A_BOOL("align_corners", align_corners));
    x = alone ? as_image(g, images) : images;
  }
  weft__b_pop(g);
  return x;
}

/* ---- rectangles ---- */

/* Fails unless a condition on sizes holds.  A size that is unknown is -1. */
static bool box_holds(weft_graph *g, bool holds, const char *condition, const image_box *b, weft_out x) {
  if (holds) return !g->sticky.code;
  return weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                        "%s Got offset (%lld, %lld), target (%lld, %lld), images %s", condition,
                                        (long long)b->top, (long long)b->left, (long long)b->height,
                                        (long long)b->width, weft__shape_text(weft__shape_of(g, x))));
}

static bool crop_fits(weft_graph *g, weft_out x, const image_box *b) {
  const shape *s = weft__shape_of(g, x);
  const int64_t height = s->dim[s->rank - 3], width = s->dim[s->rank - 2];
  return box_holds(g, b->left >= 0, "offset_width must be >= 0.", b, x) &&
         box_holds(g, b->top >= 0, "offset_height must be >= 0.", b, x) &&
         box_holds(g, b->width > 0, "target_width must be > 0.", b, x) &&
         box_holds(g, b->height > 0, "target_height must be > 0.", b, x) &&
         box_holds(g, width < 0 || width - b->left >= b->width, "width must be >= target + offset.", b, x) &&
         box_holds(g, height < 0 || height - b->top >= b->height, "height must be >= target + offset.", b, x);
}

static weft_out dim_of(weft_graph *g, weft_out x, int axis) {
  return weft__named_element(g, weft__named_shape(g, x), axis);
}

static weft_out crop_batch(weft_graph *g, weft_out x, const image_box *b) {
  x = weft__named_after(g, "control_dependency", 0, NULL, x);
  weft_out begin = weft__named_ints(g, "stack", (int64_t[]){0, b->top, b->left, 0}, 4);
  weft_out size[4] = {dim_of(g, x, 0), WEFT_NONE, WEFT_NONE, WEFT_NONE};
  size[3] = dim_of(g, x, 3);
  weft__b_push_name(g, "stack");
  size[1] = weft__n_scalar(g, "1", WEFT_INT32, (double)b->height);
  size[2] = weft__n_scalar(g, "2", WEFT_INT32, (double)b->width);
  weft_out sizes = weft__n_scope_node(g, "Pack", 4, size, 1, &A_INT("N", 4));
  weft__b_pop(g);
  return weft__b_node(g, "Slice", NULL, 3, (weft_out[]){x, begin, sizes}, 0, NULL);
}

/* Sets height and width of a batch, which no shape rule can know. */
static void box_shape(weft_graph *g, weft_out made, weft_out from, const image_box *b) {
  shape s = *weft__shape_of(g, from);
  if (s.rank != 4) return;
  s.dim[1] = b->height, s.dim[2] = b->width;
  weft__named_set_shape(g, made, &s);
}

/* Builds on a batch in a scope, for an image as a batch of one. */
static weft_out on_batch(weft_graph *g, weft_out x, const image_box *b,
                         weft_out build(weft_graph *g, weft_out x, const image_box *b)) {
  const bool alone = !is_batch(g, x);
  weft_out images = alone ? as_batch(g, x) : x, made = build(g, images, b);
  box_shape(g, made, images, b);
  return alone ? as_image(g, made) : made;
}

weft_out weft__image_crop(weft_graph *g, weft_out x, const char *name, const image_box *b) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "crop_to_bounding_box", x);
  if (!crop_fits(g, x, b)) return WEFT_NONE;
  weft__named_push(g, name, "crop_to_bounding_box");
  x = on_batch(g, x, b, crop_batch);
  weft__b_pop(g);
  return x;
}

static weft_out pad_batch(weft_graph *g, weft_out x, const image_box *b) {
  const shape s = *weft__shape_of(g, x);
  const int64_t pads[] = {0, 0, b->top, b->height - b->top - s.dim[1], b->left, b->width - b->left - s.dim[2], 0, 0};
  x = weft__named_after(g, "control_dependency", 0, NULL, x);
  weft_out all = weft__named_reshape(g, weft__named_ints(g, "stack", pads, 8), 2, (int64_t[]){4, 2});
  return weft__b_node(g, "Pad", NULL, 2, (weft_out[]){x, all}, 0, NULL);
}

static bool pad_fits(weft_graph *g, weft_out x, const image_box *b) {
  const shape *s = weft__shape_of(g, x);
  const int64_t height = s->dim[s->rank - 3], width = s->dim[s->rank - 2];
  return box_holds(g, height >= 0 && width >= 0, "height and width of images must be known.", b, x) &&
         box_holds(g, b->top >= 0, "offset_height must be >= 0.", b, x) &&
         box_holds(g, b->left >= 0, "offset_width must be >= 0.", b, x) &&
         box_holds(g, b->width >= width && b->width - width >= b->left, "width must be <= target - offset.", b, x) &&
         box_holds(g, b->height >= height && b->height - height >= b->top, "height must be <= target - offset.", b, x);
}

weft_out weft__image_pad(weft_graph *g, weft_out x, const char *name, const image_box *b) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "pad_to_bounding_box", x);
  if (!pad_fits(g, x, b)) return WEFT_NONE;
  weft__named_push(g, name, "pad_to_bounding_box");
  x = on_batch(g, x, b, pad_batch);
  weft__b_pop(g);
  return x;
}

static int64_t at_least_0(int64_t x) { return x > 0 ? x : 0; }
static int64_t less_of(int64_t a, int64_t b) { return a < b ? a : b; }

static weft_out fit_batch(weft_graph *g, weft_out x, const image_box *b) {
  const shape s = *weft__shape_of(g, x);
  const int64_t more = s.dim[1] - b->height, wider = s.dim[2] - b->width;
  x = weft__named_after(g, "control_dependency", 0, NULL, x);
  x = weft__image_crop(g, x, NULL,
                       &(image_box){at_least_0(more) / 2, at_least_0(wider) / 2, less_of(b->height, s.dim[1]),
                                    less_of(b->width, s.dim[2])});
  x = weft__image_pad(g, x, NULL, &(image_box){at_least_0(-more) / 2, at_least_0(-wider) / 2, b->height, b->width});
  return x.node < 0 ? x : weft__named_after(g, "control_dependency", 0, NULL, x);
}

weft_out weft__image_crop_or_pad(weft_graph *g, weft_out x, const char *name, int64_t height, int64_t width) {
  const image_box b = {0, 0, height, width};
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "resize_image_with_crop_or_pad", x);
  const shape s = *weft__shape_of(g, x);
  if (!box_holds(g, width > 0, "target_width must be > 0.", &b, x) ||
      !box_holds(g, height > 0, "target_height must be > 0.", &b, x) ||
      !box_holds(g, s.dim[s.rank - 3] >= 0 && s.dim[s.rank - 2] >= 0, "height and width of images must be known.", &b,
                 x))
    return WEFT_NONE;
  weft__named_push(g, name, "resize_image_with_crop_or_pad");
  x = on_batch(g, x, &b, fit_batch);
  weft__b_pop(g);
  return x;
}

weft_out weft__image_central_crop(weft_graph *g, weft_out x, const char *name, double fraction) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const shape s = *weft__shape_of(g, x);
  const int at = s.rank - 3;
  if (!is_image(g, x) || s.dim[at] < 0 || s.dim[at + 1] < 0)
    return image_refuse(g, "central_crop (of a known size)", x);
  if (!(fraction > 0 && fraction <= 1))
    return image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "central_fraction must be within (0, 1], got %g", fraction));
  if (fraction == 1) return x;
  int64_t begin[4] = {0}, size[4] = {-1, -1, -1, -1};
  for (int i = at; i < at + 2; i++) {
    begin[i] = (int64_t)(((double)s.dim[i] - (double)s.dim[i] * fraction) / 2);
    size[i] = s.dim[i] - 2 * begin[i];
  }
  weft__named_push(g, name, "central_crop");
  weft__image_checked(g, "central_crop", x);
  weft_out in[] = {x, weft__named_ints(g, "stack", begin, s.rank), WEFT_NONE};
  in[2] = weft__named_ints(g, "stack", size, s.rank);
  weft_out o = weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* ---- flips ---- */

static weft_out reversed(weft_graph *g, weft_out x, bool up_down) {
  const int64_t axis = weft__shape_of(g, x)->rank - 3 + !up_down;
  weft__b_push_name(g, "ReverseV2");
  weft_out in[] = {x, weft__named_ints(g, "axis", &axis, 1)}, o = weft__n_scope_node(g, "ReverseV2", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__image_flip(weft_graph *g, weft_out x, const char *name, bool up_down) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (weft__shape_of(g, x)->rank < 0) return image_refuse(g, "flip", x);
  weft__named_push(g, name, up_down ? "flip_up_down" : "flip_left_right");
  x = weft__image_checked(g, "flip", x);
  if (x.node >= 0) x = reversed(g, x, up_down);
  weft__b_pop(g);
  return x;
}

weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (weft__shape_of(g, x)->rank != 3) return image_refuse(g, "random_flip (of one image)", x);
  weft__b_push_name(g, up_down ? "random_flip_up_down" : "random_flip_left_right");
  weft_out low = weft__named_binary(g, "Less", "Less", OUT(weft__image_draw(g, 0, 1, seed)), NUM(.5));
  weft_out in[] = {low, weft__image_flip(g, x, NULL, up_down), x};
  weft_out o = weft__b_node(g, "SelectV2", NULL, 3, in, 0, NULL);
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
  if (low == 0) {
    o = weft__named_binary_of(g, "Mul", "Mul", o, max);
  } else {
    o = weft__named_binary_of(g, "Mul", "mul", o, weft__named_binary_of(g, "Sub", "sub", max, min));
    o = weft__n_scope_node(g, "AddV2", 2, (weft_out[]){o, min}, 0, NULL);
  }
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
