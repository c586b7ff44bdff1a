/* average.h - exponential moving averages of variables and of other values. */
#ifndef WEFT_TRAIN_MODEL_AVERAGE_H
#define WEFT_TRAIN_MODEL_AVERAGE_H

#include "base/map.h"
#include "train/model/variable_nodes.h"

typedef struct weft_average weft_average;
struct weft_average {
  weft_graph *g;
  char *name; /* of its scope, and of each average below what it is of */
  double decay;
  weft_out updates; /* how often it was updated; WEFT_NONE: decay is the same from the beginning */
  bool zero_debias;
  map kept; /* name of what is averaged -> average_ref */
};

weft_err weft__average_create(weft_average **out, weft_graph *g, double decay, weft_out updates, bool zero_debias,
                              const char *name);
void weft__average_destroy(weft_average *a);
/* The node that brings the averages of these up to date. */
weft_out weft__average_apply(weft_average *a, int n, const weft_out *values);
weft_out weft__average_of(const weft_average *a, weft_out value); /* WEFT_NONE if there is none */
/* The name the average has or would have; the arena's. */
weft_err weft__average_name(weft_average *a, weft_out value, const char **name);

#endif
