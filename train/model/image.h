/* image.h - tf.image: what input pipelines do to pictures.  Images are (height, width, channels), or batches of such
 * where that makes sense; integers become floats in [0, 1] where arithmetic needs it, and go back. */
#ifndef WEFT_TRAIN_MODEL_IMAGE_H
#define WEFT_TRAIN_MODEL_IMAGE_H

#include "train/model/named.h"

/* Scaled by the types' largest values; saturate: what does not fit becomes the nearest that does. */
weft_out weft__image_convert(weft_graph *g, weft_out x, weft_dtype to, bool saturate);
/* method: "bilinear", "nearest_neighbor", "bicubic" or "area". */
weft_out weft__image_resize(weft_graph *g, weft_out x, const int64_t *size, const char *method, bool align_corners);
weft_out weft__image_crop(weft_graph *g, weft_out x, const int64_t *from, const int64_t *size);
weft_out weft__image_central_crop(weft_graph *g, weft_out x, double fraction);
weft_out weft__image_flip(weft_graph *g, weft_out x, bool up_down);
weft_out weft__image_brightness(weft_graph *g, weft_out x, weft_out delta);
weft_out weft__image_contrast(weft_graph *g, weft_out x, weft_out factor);
weft_out weft__image_standardize(weft_graph *g, weft_out x);

/* seed NULL: the graph's seed.  One random number decides for all images of x. */
weft_out weft__image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *size, const int64_t *seed);
weft_out weft__image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *seed);
weft_out weft__image_draw(weft_graph *g, double low, double high, const int64_t *seed); /* a uniform number */

#endif
