/* image.c - resizes and flips images, and draws what random changes need.
 *
 * Names and nodes are tf.image's. */
#include "train/model/image.h"

#include "graph/scope.h"
#include "train/model/image_check.h"
#include <string.h>

static weft_out image_refuse(weft_graph *g, const char *what, weft_out x) {
  return weft__image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                        "%s: images are (height, width, channels) or batches, got %s", what,
                                        weft__shape_text(weft__shape_of(g, x))));
}

static bool is_batch(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 4; }
static bool is_image(const weft_graph *g, weft_out x) { return weft__shape_of(g, x)->rank == 3 || is_batch(g, x); }

weft_out weft__image_checked(weft_graph *g, const char *what, weft_out x) {
  image_checks c = {.g = g, .what = what};
  weft__image_check_shape(&c, x);
  return weft__image_after(&c, x);
}

/* ---- size ---- */

weft_out weft__image_as_batch(weft_graph *g, weft_out x) {
  weft__b_push_name(g, "ExpandDims");
  weft_out in[] = {x, weft__n_scalar(g, "dim", WEFT_INT32, 0)};
  weft_out o = weft__n_scope_node(g, "ExpandDims", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__image_as_image(weft_graph *g, weft_out x) {
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
  if (!type) return weft__image_fail(g, weft__fail(WEFT_UNIMPLEMENTED, "Resize method %s is not implemented.", method));
  const bool alone = !is_batch(g, x);
  weft__named_push(g, name, "resize");
  weft_out images = alone ? weft__image_as_batch(g, x) : x, to = weft__named_term(g, "size", size, WEFT_INT32);
  const shape s = *weft__shape_of(g, to);
  if (s.rank >= 0 && (s.rank != 1 || (s.dim[0] >= 0 && s.dim[0] != 2))) {
    x = weft__image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                       "'size' must be a 1-D Tensor of 2 elements: new_height, new_width, got shape %s",
                                       weft__shape_text(&s)));
  } else {
    if (!has_size(g, images, to))
      images = weft__b_node(g, type, NULL, 2, (weft_out[]){images, to}, 1, &A_BOOL("align_corners", align_corners));
    x = alone ? weft__image_as_image(g, images) : images;
  }
  weft__b_pop(g);
  return x;
}

/* ---- flips ---- */

static weft_out image_reverse_axis(weft_graph *g, weft_out x, int64_t axis) {
  weft__b_push_name(g, "ReverseV2");
  weft_out in[] = {x, weft__named_ints(g, "axis", &axis, 1)}, o = weft__n_scope_node(g, "ReverseV2", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__image_flip(weft_graph *g, weft_out x, const char *name, bool up_down) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const int rank = weft__shape_of(g, x)->rank;
  if (rank < 0) return image_refuse(g, "flip", x);
  weft__named_push(g, name, up_down ? "flip_up_down" : "flip_left_right");
  x = weft__image_checked(g, "flip", x);
  if (x.node >= 0) x = image_reverse_axis(g, x, rank - 3 + !up_down);
  weft__b_pop(g);
  return x;
}

/* Builds the branch of tf.cond where the image is flipped. */
static weft_out reversed_if(weft_graph *g, weft_out x, int64_t axis, weft_out pred, weft_out yes) {
  weft__b_push_name(g, "ReverseV2");
  weft_out in[] = {weft__named_branch(g, "Switch", "Switch", x, pred, true), WEFT_NONE};
  weft__b_push_control(g, yes.node >= 0, &yes.node);
  in[1] = weft__named_ints(g, "axis", &axis, 1);
  weft__b_pop(g);
  weft_out o = weft__n_scope_node(g, "ReverseV2", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out flip_one(weft_graph *g, weft_out x, int64_t axis, const int64_t *seed) {
  weft_out drawn = weft__image_draw(g, WEFT_NONE, 0, 1, seed), yes;
  weft_out pred = weft__named_cond(g, weft__named_binary(g, "Less", "Less", OUT(drawn), NUM(.5)), &yes, NULL);
  weft_out flipped = reversed_if(g, x, axis, pred, yes);
  weft_out in[] = {weft__named_branch(g, "Switch", "Switch", x, pred, false), flipped};
  weft_out o = weft__b_node(g, "Merge", NULL, 2, in, 1, &A_INT("N", 2));
  weft__named_set_shape(g, o, weft__shape_of(g, x));
  return o;
}

/* Flips each image by a number that is drawn for it: flips is 0 or 1. */
static weft_out flip_each(weft_graph *g, weft_out x, int64_t axis, const int64_t *seed) {
  weft_out rows = weft__named_element(g, weft__named_shape(g, x), 0);
  weft_out drawn = weft__image_draw(g, rows, 0, 1, seed), dims[4] = {rows};
  weft__b_push_name(g, "Reshape");
  weft__b_push_name(g, "shape");
  for (int i = 1; i < 4; i++) dims[i] = weft__n_scalar(g, (char[]){(char)('0' + i), '\0'}, WEFT_INT32, 1);
  weft_out to = weft__n_scope_node(g, "Pack", 4, dims, 1, &A_INT("N", 4));
  weft__b_pop(g);
  drawn = weft__n_scope_node(g, "Reshape", 2, (weft_out[]){drawn, to}, 0, NULL);
  weft__b_pop(g);
  weft_out flips = weft__b_cast(g, weft__named_unary(g, "Round", "Round", drawn), weft__type_of(g, x));
  weft_out flipped = weft__named_binary_of(g, "Mul", "mul", flips, image_reverse_axis(g, x, axis));
  weft_out kept = weft__named_binary(g, "Sub", "sub", NUM(1), OUT(flips));
  return weft__named_binary_of(g, "AddV2", "add", flipped, weft__named_binary_of(g, "Mul", "mul", kept, x));
}

weft_out weft__image_flip_at_random(weft_graph *g, weft_out x, bool up_down, bool each, const int64_t *seed) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  return each ? flip_each(g, x, 1 + !up_down, seed) : flip_one(g, x, !up_down, seed);
}

weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  if (!is_image(g, x)) return image_refuse(g, "random_flip", x);
  weft__b_push_name(g, up_down ? "random_flip_up_down" : "random_flip_left_right");
  x = weft__image_flip_at_random(g, weft__image_checked(g, "random_flip", x), up_down, is_batch(g, x), seed);
  weft__b_pop(g);
  return x;
}

/* ---- chance ---- */

weft_out weft__image_draw(weft_graph *g, weft_out rows, double low, double high, const int64_t *seed) {
  int64_t seed1, seed2;
  weft__b_push_name(g, "random_uniform");
  weft_out dims = rows.node < 0 ? weft__named_ints(g, "shape", NULL, 0) : weft__named_pack(g, "shape", 1, &rows, 0);
  weft_out min = weft__n_scalar(g, "min", WEFT_FLOAT, low), max = weft__n_scalar(g, "max", WEFT_FLOAT, high);
  weft__graph_seeds(g, seed != NULL, seed ? *seed : 0, &seed1, &seed2);
  weft_out o = weft__b_node(g, "RandomUniform", NULL, 1, &dims, 3,
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

/* Builds an int32 for each element of `like`, drawn from [0, 2^31 - 1). */
static weft_out draw_offsets(weft_graph *g, weft_out like, const int64_t *seed) {
  int64_t seed1, seed2;
  weft_out dims = weft__named_shape(g, like);
  weft__b_push_name(g, "random_uniform");
  weft_out in[] = {dims, weft__n_scalar(g, "min", WEFT_INT32, 0), weft__n_scalar(g, "max", WEFT_INT32, 2147483647)};
  weft__graph_seeds(g, seed != NULL, seed ? *seed : 0, &seed1, &seed2);
  weft_out o =
      weft__n_scope_node(g, "RandomUniformInt", 3, in, 2, (attr[]){A_INT("seed", seed1), A_INT("seed2", seed2)});
  weft__b_pop(g);
  return o;
}

/* The offset of a crop: a random int32 modulo the number of possible offsets. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, const char *name, term size, const int64_t *seed) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  weft__named_push(g, name, "random_crop");
  weft_out sizes = weft__named_term(g, "size", size, WEFT_INT32), dims = weft__named_shape(g, x);
  weft_out fits = weft__named_binary_of(g, "GreaterEqual", "GreaterEqual", dims, sizes);
  fits = weft__named_reduce(g, "All", "All", fits);
  weft_out check = weft__named_assert(
      g, fits, 3, (assert_data[]){{"Need value.shape >= size, got ", WEFT_NONE}, {NULL, dims}, {NULL, sizes}}, 1000);
  dims = weft__named_after(g, "control_dependency", check.node >= 0, &check.node, dims);
  weft_out room = weft__named_binary_of(g, "Sub", "sub", dims, sizes);
  room = weft__named_binary(g, "AddV2", "add", OUT(room), NUM(1));
  weft_out from = weft__named_binary_of(g, "FloorMod", "mod", draw_offsets(g, dims, seed), room);
  weft_out o = weft__n_scope_node(g, "Slice", 3, (weft_out[]){x, from, sizes}, 0, NULL);
  weft__b_pop(g);
  return o;
}
