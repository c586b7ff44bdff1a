/* image_box.c - crops and pads images: rectangles in an image, or around it.
 *
 * Names and nodes are tf.image's.  A size is a number or a tensor, and so are the sizes of an image: arithmetic on
 * numbers is done at once, that on tensors by nodes. */
#include "graph/scope.h"
#include "train/model/image.h"
#include "train/model/image_check.h"
#include <limits.h>
#include <math.h>

/* ---- arithmetic on sizes ---- */

static term size_add(weft_graph *g, term x, term y) {
  double a, b;
  if (weft__term_known(x, &a) && weft__term_known(y, &b)) return NUM(a + b);
  return OUT(weft__named_binary(g, "AddV2", "add", x, y));
}

static term size_sub(weft_graph *g, term x, term y) {
  double a, b;
  if (weft__term_known(x, &a) && weft__term_known(y, &b)) return NUM(a - b);
  return OUT(weft__named_binary(g, "Sub", "sub", x, y));
}

static term size_neg(weft_graph *g, term x) {
  double a;
  return weft__term_known(x, &a) ? NUM(-a) : OUT(weft__named_unary(g, "Neg", "Neg", x.out));
}

/* max(x // 2, 0) */
static term size_half(weft_graph *g, term x) {
  double a;
  if (weft__term_known(x, &a)) return NUM(fmax(floor(a / 2), 0));
  weft_out half = weft__named_binary(g, "FloorDiv", "floordiv", x, NUM(2));
  return OUT(weft__named_binary(g, "Maximum", "Maximum", OUT(half), NUM(0)));
}

static term size_least(weft_graph *g, term x, term y) {
  double a, b;
  if (weft__term_known(x, &a) && weft__term_known(y, &b)) return NUM(fmin(a, b));
  return OUT(weft__named_binary(g, "Minimum", "Minimum", x, y));
}

enum { PACKED_SIZES = 8 };

/* Builds a vector of sizes: one constant "stack" of numbers, or a Pack with a constant for each number. */
static weft_out pack_sizes(weft_graph *g, int n, const term *size) {
  int64_t number[PACKED_SIZES];
  weft_out in[PACKED_SIZES];
  double v;
  int known = 0;
  for (int i = 0; i < n; i++)
    if (weft__term_known(size[i], &v)) number[i] = (int64_t)v, known++;
  if (known == n) return weft__named_ints(g, "stack", number, n);
  weft__b_push_name(g, "stack");
  for (int i = 0; i < n; i++) in[i] = weft__named_term(g, (char[]){(char)('0' + i), '\0'}, size[i], WEFT_INT32);
  weft_out o = weft__n_scope_node(g, "Pack", n, in, 1, &A_INT("N", n));
  weft__b_pop(g);
  return o;
}

static bool sizes_fit(weft_graph *g, const char *what, int n, const term *size) {
  double v;
  for (int i = 0; i < n; i++)
    if (weft__term_known(size[i], &v) && !(v >= INT_MIN && v <= INT_MAX))
      return weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: sizes must be int32, got %g", what, v));
  return !g->sticky.code;
}

/* ---- images as batches ---- */

/* Height and width of a batch, tensors where they are unknown. */
static void batch_sizes(weft_graph *g, weft_out x, term *height, term *width) {
  const shape s = *weft__shape_of(g, x);
  weft_out all = WEFT_NONE;
  if (!weft__shape_known(&s)) {
    weft_out dims = weft__named_shape(g, x);
    all = weft__b_node(g, "Unpack", "unstack", 1, &dims, 2, (attr[]){A_INT("num", 4), A_INT("axis", 0)});
  }
  const bool has_rank = s.rank == 4;
  *height = has_rank && s.dim[1] >= 0 ? NUM((double)s.dim[1]) : OUT(weft__b_slot(all, 1));
  *width = has_rank && s.dim[2] >= 0 ? NUM((double)s.dim[2]) : OUT(weft__b_slot(all, 2));
}

/* Sets height and width of a batch as far as they are numbers, which no shape rule can know. */
static void box_shape(weft_graph *g, weft_out made, weft_out from, const image_box *b) {
  shape s = *weft__shape_of(g, from);
  double v;
  if (s.rank != 4) return;
  s.dim[1] = weft__term_known(b->height, &v) ? (int64_t)v : -1;
  s.dim[2] = weft__term_known(b->width, &v) ? (int64_t)v : -1;
  weft__named_set_shape(g, made, &s);
}

typedef weft_out box_builder(weft_graph *g, weft_out x, const image_box *b);

/* Builds on a batch in a scope, for an image as a batch of one.  Images of unknown rank are taken for one image. */
static weft_out on_batch(weft_graph *g, weft_out x, const char *name, const char *standard, const image_box *b,
                         box_builder *build) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const int rank = weft__shape_of(g, x)->rank;
  if (rank >= 0 && rank != 3 && rank != 4)
    return weft__image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                          "%s: 'image' (shape %s) must have either 3 or 4 dimensions.", standard,
                                          weft__shape_text(weft__shape_of(g, x))));
  if (!sizes_fit(g, standard, 4, (term[]){b->top, b->left, b->height, b->width})) return WEFT_NONE;
  weft__named_push(g, name, standard);
  weft_out images = rank == 4 ? x : weft__image_as_batch(g, x);
  if (rank < 0) weft__named_set_shape(g, images, &(shape){.rank = 4, .dim = {-1, -1, -1, -1}});
  weft_out made = build(g, images, b);
  box_shape(g, made, images, b);
  if (rank != 4) made = weft__image_as_image(g, made);
  weft__b_pop(g);
  return made;
}

/* ---- crops and pads ---- */

static term dim_of(weft_graph *g, weft_out x, int axis) {
  return OUT(weft__named_element(g, weft__named_shape(g, x), axis));
}

static weft_out crop_batch(weft_graph *g, weft_out x, const image_box *b) {
  image_checks c = {.g = g, .what = "crop_to_bounding_box"};
  term height, width;
  weft__image_check_shape(&c, x);
  batch_sizes(g, x, &height, &width);
  weft__image_check(&c, b->left, AT_LEAST, NUM(0), "offset_width must be >= 0.");
  weft__image_check(&c, b->top, AT_LEAST, NUM(0), "offset_height must be >= 0.");
  weft__image_check(&c, b->width, MORE_THAN, NUM(0), "target_width must be > 0.");
  weft__image_check(&c, b->height, MORE_THAN, NUM(0), "target_height must be > 0.");
  weft__image_check(&c, width, AT_LEAST, size_add(g, b->width, b->left), "width must be >= target + offset.");
  weft__image_check(&c, height, AT_LEAST, size_add(g, b->height, b->top), "height must be >= target + offset.");
  x = weft__image_after(&c, x);
  weft_out in[] = {x, pack_sizes(g, 4, (term[]){NUM(0), b->top, b->left, NUM(0)}), WEFT_NONE};
  term batch = dim_of(g, x, 0), depth = dim_of(g, x, 3);
  in[2] = pack_sizes(g, 4, (term[]){batch, b->height, b->width, depth});
  return weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
}

weft_out weft__image_crop(weft_graph *g, weft_out x, const char *name, const image_box *b) {
  return on_batch(g, x, name, "crop_to_bounding_box", b, crop_batch);
}

static weft_out pad_batch(weft_graph *g, weft_out x, const image_box *b) {
  image_checks c = {.g = g, .what = "pad_to_bounding_box"};
  term height, width;
  batch_sizes(g, x, &height, &width);
  term right = size_sub(g, size_sub(g, b->width, b->left), width);
  term below = size_sub(g, size_sub(g, b->height, b->top), height);
  weft__image_check_shape(&c, x);
  weft__image_check(&c, b->top, AT_LEAST, NUM(0), "offset_height must be >= 0");
  weft__image_check(&c, b->left, AT_LEAST, NUM(0), "offset_width must be >= 0");
  weft__image_check(&c, right, AT_LEAST, NUM(0), "width must be <= target - offset");
  weft__image_check(&c, below, AT_LEAST, NUM(0), "height must be <= target - offset");
  x = weft__image_after(&c, x);
  weft_out pads = pack_sizes(g, 8, (term[]){NUM(0), NUM(0), b->top, below, b->left, right, NUM(0), NUM(0)});
  pads = weft__named_reshape(g, pads, 2, (int64_t[]){4, 2});
  return weft__b_node(g, "Pad", NULL, 2, (weft_out[]){x, pads}, 0, NULL);
}

weft_out weft__image_pad(weft_graph *g, weft_out x, const char *name, const image_box *b) {
  return on_batch(g, x, name, "pad_to_bounding_box", b, pad_batch);
}

static term term_after(const image_checks *c, term x) { return x.out.node < 0 ? x : OUT(weft__image_after(c, x.out)); }

static weft_out fit_batch(weft_graph *g, weft_out x, const image_box *b) {
  image_checks c = {.g = g, .what = "resize_image_with_crop_or_pad"}, last = c;
  term have_height, have_width;
  weft__image_check_shape(&c, x);
  weft__image_check(&c, b->width, MORE_THAN, NUM(0), "target_width must be > 0.");
  weft__image_check(&c, b->height, MORE_THAN, NUM(0), "target_height must be > 0.");
  x = weft__image_after(&c, x);
  term height = term_after(&c, b->height), width = term_after(&c, b->width);
  batch_sizes(g, x, &have_height, &have_width);
  term wider = size_sub(g, width, have_width);
  term left = size_half(g, size_neg(g, wider)), pad_left = size_half(g, wider);
  term higher = size_sub(g, height, have_height);
  term top = size_half(g, size_neg(g, higher)), pad_top = size_half(g, higher);
  image_box crop = {top, left, size_least(g, height, have_height), NUM(0)};
  crop.width = size_least(g, width, have_width);
  x = weft__image_crop(g, x, NULL, &crop);
  x = weft__image_pad(g, x, NULL, &(image_box){pad_top, pad_left, height, width});
  if (x.node < 0) return x;
  batch_sizes(g, x, &have_height, &have_width);
  weft__image_check(&last, have_height, EQUAL_TO, height, "resized height is not correct.");
  weft__image_check(&last, have_width, EQUAL_TO, width, "resized width is not correct.");
  return weft__image_after(&last, x);
}

weft_out weft__image_crop_or_pad(weft_graph *g, weft_out x, const char *name, term height, term width) {
  return on_batch(g, x, name, "resize_image_with_crop_or_pad", &(image_box){NUM(0), NUM(0), height, width}, fit_batch);
}

/* ---- the middle ---- */

/* tf.cast of a fraction to double; a number is float first. */
static weft_out fraction_double(weft_graph *g, term fraction) {
  double v;
  if (weft__term_known(fraction, &v)) return weft__named_number(g, v, WEFT_FLOAT, WEFT_DOUBLE);
  return weft__b_cast(g, fraction.out, WEFT_DOUBLE);
}

/* Builds the index of the first pixel of the centered part. */
static term middle_begin(weft_graph *g, term n, term fraction) {
  double size, part;
  if (weft__term_known(n, &size) && weft__term_known(fraction, &part)) return NUM(trunc((size - size * part) / 2));
  weft_out whole = weft__term_known(n, &size) ? weft__named_number(g, size, WEFT_INT32, WEFT_DOUBLE)
                                              : weft__b_cast(g, n.out, WEFT_DOUBLE);
  weft_out inside = weft__named_binary_of(g, "Mul", "mul", whole, fraction_double(g, fraction));
  weft_out outside = weft__named_binary_of(g, "Sub", "sub", whole, inside);
  outside = weft__named_binary(g, "RealDiv", "truediv", OUT(outside), NUM(2));
  return OUT(weft__b_cast(g, outside, WEFT_INT32));
}

static term middle_size(weft_graph *g, term n, term begin) {
  double b;
  if (weft__term_known(begin, &b)) return size_sub(g, n, NUM(2 * b));
  return size_sub(g, n, OUT(weft__named_binary(g, "Mul", "mul", begin, NUM(2))));
}

static weft_out crop_middle(weft_graph *g, weft_out x, term fraction) {
  shape s = *weft__shape_of(g, x);
  const int at = s.rank - 3;
  image_checks c = {.g = g, .what = "central_crop"};
  weft__image_check_shape(&c, x);
  weft__image_after(&c, x); /* TensorFlow slices the image without it */
  term n[2], begin[4], size[4];
  double v;
  for (int i = 0; i < 2; i++) n[i] = s.dim[at + i] >= 0 ? NUM((double)s.dim[at + i]) : dim_of(g, x, at + i);
  for (int i = 0; i < s.rank; i++) begin[i] = NUM(0), size[i] = NUM(-1);
  for (int i = 0; i < 2; i++) begin[at + i] = middle_begin(g, n[i], fraction);
  for (int i = 0; i < 2; i++) size[at + i] = middle_size(g, n[i], begin[at + i]);
  weft_out in[] = {x, pack_sizes(g, s.rank, begin), WEFT_NONE};
  in[2] = pack_sizes(g, s.rank, size);
  weft_out o = weft__b_node(g, "Slice", NULL, 3, in, 0, NULL);
  for (int i = at; i < at + 2; i++) s.dim[i] = weft__term_known(size[i], &v) ? (int64_t)v : -1;
  weft__named_set_shape(g, o, &s);
  return o;
}

weft_out weft__image_central_crop(weft_graph *g, weft_out x, const char *name, term fraction) {
  double v;
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const int rank = weft__shape_of(g, x)->rank;
  if (rank != 3 && rank != 4)
    return weft__image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                          "central_crop: 'image' must have either 3 or 4 dimensions, got shape %s",
                                          weft__shape_text(weft__shape_of(g, x))));
  const bool known = weft__term_known(fraction, &v);
  if (known && !(v > 0 && v <= 1))
    return weft__image_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "central_fraction must be within (0, 1], got %g", v));
  if (known && v == 1) return x;
  weft__named_push(g, name, "central_crop");
  x = crop_middle(g, x, fraction);
  weft__b_pop(g);
  return x;
}
