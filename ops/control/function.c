/* function.c - the argument and return nodes of a function's body.  The caller of a body feeds the argument nodes
 * and fetches the inputs of the return nodes. */
#include "graph/build.h"
#include "graph/kernel.h"

static weft_err retval_cpu(kernel *k) {
  (void)k;
  return WEFT_OK;
}

static const op_case arg_cases[] = {
    {"", "error INVALID_ARGUMENT", "T=float index=0", CASE_NO_PARITY},
    {0},
};

static const op_case retval_cases[] = {
    {"f32[2] 1 2", "", "index=0", CASE_NO_PARITY},
    {"str[] \"a\"", "", "index=1", CASE_NO_PARITY},
    {0},
};

OPS(function) = {
    {"_Arg() -> (output:T) | T:type index:int>=0 ; stateful", "An argument of a function; it must be fed.",
     .kind = KIND_ARGUMENT, .infer = weft__infer_none, .cases = arg_cases},
    {"_Retval(input:T) -> () | T:type index:int>=0 ; stateful", "A result of a function.", .infer = weft__infer_none,
     .cpu = retval_cpu, .cases = retval_cases},
    {0},
};
