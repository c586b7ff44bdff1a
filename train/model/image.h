/* image.h - the functions of tf.image, for input pipelines.
 *
 * Images are (height, width, channels) or, unless a function is random, batches of such images.  Integers are
 * converted to floats in [0, 1] for arithmetic, and back.  A NULL name means TensorFlow's.  The functions only add
 * nodes: on failure they return WEFT_NONE, and the graph keeps the error (graph/build.h). */
#ifndef WEFT_TRAIN_MODEL_IMAGE_H
#define WEFT_TRAIN_MODEL_IMAGE_H

#include "train/model/named.h"

/* ---- types ---- */

/* Casts x; values outside the range of the type become its nearest value.  weft__saturate_here names the node after
 * the current scope. */
weft_out weft__saturate_cast(weft_graph *g, const char *name, weft_out x, weft_dtype to);
weft_out weft__saturate_here(weft_graph *g, weft_out x, weft_dtype to);
double weft__type_largest(weft_dtype type); /* returns 0 if the type has none */
/* Converts between types; values are scaled by the largest values of the two types. */
weft_out weft__image_convert(weft_graph *g, const char *name, weft_out x, weft_dtype to, bool saturate);

/* ---- size ---- */

/* Checks that x has three axes or more, the last three of which are not empty, and returns x behind an Identity.  What
 * is unknown is checked when the graph runs. */
weft_out weft__image_checked(weft_graph *g, const char *what, weft_out x);
weft_out weft__image_as_batch(weft_graph *g, weft_out x); /* makes an image a batch of one */
weft_out weft__image_as_image(weft_graph *g, weft_out x); /* and back */
/* Resizes images.  size is (height, width); method is "bilinear" (NULL), "nearest_neighbor", "bicubic" or "area". */
weft_out weft__image_resize(weft_graph *g, weft_out x, const char *name, term size, const char *method,
                            bool align_corners);
/* A rectangle inside an image, or around it: numbers or int32 tensors.  An image of unknown rank is one image. */
typedef struct image_box {
  term top, left, height, width;
} image_box;
weft_out weft__image_crop(weft_graph *g, weft_out x, const char *name, const image_box *b);
weft_out weft__image_pad(weft_graph *g, weft_out x, const char *name, const image_box *b);
weft_out weft__image_crop_or_pad(weft_graph *g, weft_out x, const char *name, term height, term width);
weft_out weft__image_central_crop(weft_graph *g, weft_out x, const char *name, term fraction);
weft_out weft__image_flip(weft_graph *g, weft_out x, const char *name, bool up_down);

/* ---- colors ---- */

/* tf.image.adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue and per_image_standardization. */
weft_out weft__image_brightness(weft_graph *g, weft_out x, const char *name, term delta);
weft_out weft__image_contrast(weft_graph *g, weft_out x, const char *name, term factor);
weft_out weft__image_saturation(weft_graph *g, weft_out x, const char *name, term factor);
weft_out weft__image_hue(weft_graph *g, weft_out x, const char *name, term delta);
weft_out weft__image_standardize(weft_graph *g, weft_out x, const char *name);

/* ---- random functions ---- */

/* A NULL seed means the graph's seed. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, const char *name, term size, const int64_t *seed);
/* Flips an image, or each image of a batch by itself. */
weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed);
/* The same without its scope and checks. */
weft_out weft__image_flip_at_random(weft_graph *g, weft_out x, bool up_down, bool each, const int64_t *seed);
/* Adds a uniform random number, or one for each row. */
weft_out weft__image_draw(weft_graph *g, weft_out rows, double low, double high, const int64_t *seed);

#endif
