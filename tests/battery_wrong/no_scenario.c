/* no_scenario.c - an op without cases, in a file that names a test which does not exist.
 * Expected: no_scenario.c: the scenario tests/parity/test_absent.py cannot be read */
#include "graph/kernel.h"

static weft_err nothing_cpu(kernel *k) { return weft__forward(k, 0, 0, &k->in[0]->shape); }

OPS(no_scenario) = {
    {"NoScenario(x:float) -> (y:float)", "What it is given.", .infer = weft__infer_same, .cpu = nothing_cpu},
    {.scenario = "tests/parity/test_absent.py"},
};
