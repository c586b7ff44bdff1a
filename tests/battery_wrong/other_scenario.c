/* other_scenario.c - an op without cases, in a file that names a test of other things.
 * Expected: other_scenario.c: the scenario base/map_test.c mentions none of the ops */
#include "graph/kernel.h"

static weft_err nothing_cpu(kernel *k) { return weft__forward(k, 0, 0, &k->in[0]->shape); }

OPS(other_scenario) = {
    {"OtherScenario(x:float) -> (y:float)", "What it is given.", .infer = weft__infer_same, .cpu = nothing_cpu},
    {.scenario = "base/map_test.c"},
};
