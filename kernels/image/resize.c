/* resize.c - the shape rules of the ops that resize images; see resize.h. */
#include "kernels/image/resize.h"

weft_err weft__resize_infer(infer *s) {
  shape x, size;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &size));
  if (size.dim[0] >= 0 && size.dim[0] != 2)
    return weft__infer_fail(s, "Dimension must be 2 but is %lld", (long long)size.dim[0]);
  for (int i = 2; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 1, NULL));
  WEFT_TRY(weft__infer_shape_value(s, 1, &size));
  const bool known = size.rank == 2;
  s->out[0] = SHAPE4(x.dim[0], known ? size.dim[0] : -1, known ? size.dim[1] : -1, x.dim[3]);
  return WEFT_OK;
}

weft_err weft__resize_grad_infer(infer *s) {
  shape g, x;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &g));
  WEFT_TRY(weft__infer_rank(s, 1, 4, &x));
  s->out[0] = SHAPE4(g.dim[0], x.dim[1], x.dim[2], g.dim[3]);
  return WEFT_OK;
}
