/* function.c - the ends of a function's body.  Whoever runs the body feeds the arguments and reads the
 * results off the inputs of the nodes that return them. */
#include "graph/build.h"
#include "graph/kernel.h"

static weft_err retval_cpu(kernel *k) {
  (void)k;
  return WEFT_OK;
}

OPS(function) = {
    {"_Arg() -> (output:T) | T:type index:int>=0 ; stateful", "An argument of a function; it must be fed.",
     .infer = weft__infer_none, .no_grad = true},
    {"_Retval(input:T) -> () | T:type index:int>=0 ; stateful", "A result of a function.", .infer = weft__infer_none,
     .cpu = retval_cpu, .no_grad = true},
    {0},
};
