/* image_check.h - conditions on images and their sizes.
 *
 * What is known while the graph is built is checked then.  The rest is checked by Assert nodes when it runs, with the
 * names and messages of tf.image. */
#ifndef WEFT_TRAIN_MODEL_IMAGE_CHECK_H
#define WEFT_TRAIN_MODEL_IMAGE_CHECK_H

#include "train/model/named.h"

enum { IMAGE_CHECKS = 10 };

/* The checks of one function; the nodes run before what `after` returns.  Begin with {.g = g, .what = "crop"}. */
typedef struct image_checks {
  weft_graph *g;
  const char *what; /* the function, for messages */
  int n, node[IMAGE_CHECKS];
} image_checks;

typedef enum image_relation { AT_LEAST, MORE_THAN, EQUAL_TO } image_relation;

/* Checks that images have three axes or more, the last three of which are not empty. */
void weft__image_check_shape(image_checks *c, weft_out x);
/* Checks a relation of two sizes. */
void weft__image_check(image_checks *c, term x, image_relation relation, term y, const char *message);
/* Returns x behind an Identity that waits for the checks. */
weft_out weft__image_after(const image_checks *c, weft_out x);
/* Records a failure and returns WEFT_NONE. */
weft_out weft__image_fail(weft_graph *g, weft_err err);

#endif
