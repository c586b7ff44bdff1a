/* candidate.c - the shape rule and the check of candidate samplers. */
#include "kernels/random/candidate.h"

weft_err weft__candidate_infer(infer *s) {
  shape classes;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &classes));
  s->out[0] = s->out[2] = SHAPE1(weft__node_int(s->node, "num_sampled", 0));
  s->out[1] = SHAPE2(classes.dim[0], weft__node_int(s->node, "num_true", 1));
  return WEFT_OK;
}

weft_err weft__candidate_check(const kernel *k, int64_t range) {
  const weft_tensor *t = k->in[0];
  const int64_t num_true = weft__node_int(k->node, "num_true", 1);
  if (t->shape.rank != 2 || t->shape.dim[1] != num_true)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "true_classes must be a matrix of %lld columns (num_true), but is %s", (long long)num_true,
                             weft__shape_text(&t->shape));
  for (int64_t i = 0; i < weft__tensor_count(t); i++)
    if (TENSOR_DATA(t, int64_t)[i] < 0 || TENSOR_DATA(t, int64_t)[i] >= range)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`true_candidate` out of range [0, %lld), received %lld",
                               (long long)range, (long long)TENSOR_DATA(t, int64_t)[i]);
  return WEFT_OK;
}
