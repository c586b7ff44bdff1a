/* image.h - tf.image: what input pipelines do to pictures.  Images are (height, width, channels), or batches of such
 * where that makes sense; integers become floats in [0, 1] where arithmetic needs it, and go back.  A name of NULL is
 * TensorFlow's. */
#ifndef WEFT_TRAIN_MODEL_IMAGE_H
#define WEFT_TRAIN_MODEL_IMAGE_H

#include "train/model/named.h"

/* ---- types ---- */

/* What does not fit into the type becomes the nearest that does; "here": the node has the name of the present scope. */
weft_out weft__saturate_cast(weft_graph *g, const char *name, weft_out x, weft_dtype to);
weft_out weft__saturate_here(weft_graph *g, weft_out x, weft_dtype to);
double weft__type_largest(weft_dtype type); /* 0 if it has none */
/* Scaled by the types' largest values. */
weft_out weft__image_convert(weft_graph *g, const char *name, weft_out x, weft_dtype to, bool saturate);

/* ---- size ---- */

/* The image behind an Identity, once its static shape is found to have three axes that are not empty.  One of unknown rank
 * comes back as it is. */
weft_out weft__image_checked(weft_graph *g, const char *what, weft_out x);
/* size is (height, width); method: "bilinear" (NULL), "nearest_neighbor", "bicubic" or "area". */
weft_out weft__image_resize(weft_graph *g, weft_out x, const char *name, term size, const char *method,
                            bool align_corners);
/* A rectangle in an image, or around it. */
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

/* ---- chance ---- */

/* seed NULL: the graph's seed.  One random number decides for all images of x. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *size, const int64_t *seed);
weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed);
weft_out weft__image_draw(weft_graph *g, double low, double high, const int64_t *seed); /* a uniform number */

#endif
