/* average.h - exponential moving averages of variables and of other values. */
#ifndef WEFT_TRAIN_MODEL_AVERAGE_H
#define WEFT_TRAIN_MODEL_AVERAGE_H

#include "base/map.h"
#include "train/model/variable_nodes.h"

typedef struct weft_average weft_average;
struct weft_average {
  weft_graph *g;
  char *name; /* name of its scope, and of each average below the averaged value's name */
  double decay;
  weft_out updates; /* the number of updates; WEFT_NONE: the decay is constant */
  bool zero_debias;
  map kept; /* name of the averaged value -> average_ref */
};

/* Copies the name (NULL: TensorFlow's).  The caller destroys *out before the graph; the nodes stay. */
weft_err weft__average_create(weft_average **out, weft_graph *g, double decay, weft_out updates, bool zero_debias,
                              const char *name);
void weft__average_destroy(weft_average *a);
/* Returns the node that updates the averages of these values. */
weft_out weft__average_apply(weft_average *a, int n, const weft_out *values);
weft_out weft__average_of(const weft_average *a, weft_out value); /* WEFT_NONE if there is none */
/* Returns the name that the average has or would have; the arena owns it. */
weft_err weft__average_name(weft_average *a, weft_out value, const char **name);

#endif
