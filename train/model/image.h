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

/* Checks that the static shape of x has three axes that are not empty, and returns x behind an Identity.  An image
 * of unknown rank is returned as it is. */
weft_out weft__image_checked(weft_graph *g, const char *what, weft_out x);
/* Resizes images.  size is (height, width); method is "bilinear" (NULL), "nearest_neighbor", "bicubic" or "area". */
weft_out weft__image_resize(weft_graph *g, weft_out x, const char *name, term size, const char *method,
                            bool align_corners);
/* A rectangle inside an image, or around it. */
typedef struct image_box {
  int64_t top, left, height, width;
} image_box;
weft_out weft__image_crop(weft_graph *g, weft_out x, const char *name, const image_box *b);
weft_out weft__image_pad(weft_graph *g, weft_out x, const char *name, const image_box *b);
weft_out weft__image_crop_or_pad(weft_graph *g, weft_out x, const char *name, int64_t height, int64_t width);
weft_out weft__image_central_crop(weft_graph *g, weft_out x, const char *name, double fraction);
weft_out weft__image_flip(weft_graph *g, weft_out x, const char *name, bool up_down);

/* ---- colors ---- */

weft_out weft__image_brightness(weft_graph *g, weft_out x, const char *name, term delta);
weft_out weft__image_contrast(weft_graph *g, weft_out x, const char *name, term factor);
weft_out weft__image_saturation(weft_graph *g, weft_out x, const char *name, term factor);
weft_out weft__image_hue(weft_graph *g, weft_out x, const char *name, term delta);
weft_out weft__image_standardize(weft_graph *g, weft_out x, const char *name);

/* ---- random functions ---- */

/* A NULL seed means the graph's seed.  One random number decides for all images of x. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *size, const int64_t *seed);
weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed);
weft_out weft__image_draw(weft_graph *g, double low, double high,
                          const int64_t *seed); /* adds a uniform random number */

#endif
