/* candidate.c - the shape rule of candidate samplers. */
#include "kernels/random/candidate.h"

weft_err weft__candidate_infer(infer *s) {
  shape classes;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &classes));
  s->out[0] = s->out[2] = SHAPE1(weft__node_int(s->node, "num_sampled", 0));
  s->out[1] = SHAPE2(classes.dim[0], weft__node_int(s->node, "num_true", 1));
  return WEFT_OK;
}
