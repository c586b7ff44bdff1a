/* clip.h - gradient clipping. */
#ifndef WEFT_TRAIN_MODEL_CLIP_H
#define WEFT_TRAIN_MODEL_CLIP_H

#include "graph/gradient.h"
#include "train/model/named.h"

/* These functions add nodes to the graph; name may be NULL.  They return the result, or WEFT_NONE after an error, which
 * the graph keeps (weft__b_ok returns it). */
weft_out weft__clip_by_value(weft_graph *g, const char *name, weft_out x, term low, term high);
/* If axes is NULL, the norm is over all axes. */
weft_out weft__clip_by_norm(weft_graph *g, const char *name, weft_out x, term norm, const term *axes);
weft_out weft__clip_by_average_norm(weft_graph *g, const char *name, weft_out x, term norm);
weft_out weft__global_norm(weft_graph *g, const char *name, int n, const grad_value *d);
/* clipped and d may be the same array.  If use_norm is WEFT_NONE, the norm is computed.  Returns the norm. */
weft_out weft__clip_by_global_norm(weft_graph *g, const char *name, int n, const grad_value *d, term limit,
                                   weft_out use_norm, grad_value *clipped);

#endif
