/* no_cases.c - an op without cases, in a file that names no scenario.
 * Expected: no_cases.c: no op has a case, and the list.s last row names no scenario */
#include "graph/kernel.h"

static weft_err nothing_cpu(kernel *k) { return weft__forward(k, 0, 0, &k->in[0]->shape); }

OPS(no_cases) = {
    {"NoCases(x:float) -> (y:float)", "What it is given.", .infer = weft__infer_same, .cpu = nothing_cpu},
    {0},
};
