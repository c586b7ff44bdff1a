/* choose.h - the choice that gradients make between a gradient and zeros, element by element. */
#ifndef WEFT_OPS_MATH_CHOOSE_H
#define WEFT_OPS_MATH_CHOOSE_H

#include "graph/build.h"

/* Select if the static shapes of c and x are known to be equal, else SelectV2, which broadcasts: a program may give
 * tf.gradients a gradient of another shape than the operands have. */
static inline weft_out gradient_choose(weft_graph *g, weft_out c, weft_out x, weft_out y) {
  if (c.node < 0 || x.node < 0 || y.node < 0) return WEFT_NONE;
  const shape *sc = weft__out_shape(g, c);
  if (weft__shape_known(sc) && weft__shape_equal(sc, weft__out_shape(g, x)) &&
      weft__shape_equal(sc, weft__out_shape(g, y)))
    return weft__b_node(g, "Select", "SelectV2", 3, (weft_out[]){c, x, y}, 0, NULL);
  return weft__b_node(g, "SelectV2", NULL, 3, (weft_out[]){c, x, y}, 0, NULL);
}

#endif
