/* dataset_given.c - WindowOp: a data set of given elements.
 *
 * The inputs are the components of the elements, one element after the other. */
#include "ops/data/dataset.h"

static weft_err window_cpu(kernel *k) {
  const attr *types = weft__node_attr(k->node, "output_types");
  const int width = types ? types->n : 0;
  if (width < 1 || k->n_in % width)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%d inputs are not whole elements of %d components", k->n_in,
                             width);
  for (int i = 0; i < k->n_in; i++)
    if (k->in[i]->dtype != types->types[i % width])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input %d is %s, but output_types says %s", i,
                               weft__dtype_name(k->in[i]->dtype), weft__dtype_name(types->types[i % width]));
  return weft__dataset_stored_out(k, width, types->types);
}

OPS(dataset_given) = {
    {"WindowOp(inputs:@Tinputs) -> (handle:variant) | " OUTPUTS " Tinputs:list(type)>=1",
     "A data set of the given elements.", DATASET_FLAGS, .cpu = window_cpu},
    {.scenario = "tests/python/test_rare_inputs.py"},
};
