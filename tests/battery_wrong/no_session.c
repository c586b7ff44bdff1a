/* no_session.c - an op whose first run leaves too little memory for a second session.
 * Expected: NoSession .*: no session: Out of memory */
#include "base/alloc.h"
#include "graph/kernel.h"

enum { SESSION_HAS_MORE_BYTES = 256 };

static weft_err no_session_cpu(kernel *k) {
  weft__alloc_fail_above(SESSION_HAS_MORE_BYTES);
  return weft__forward(k, 0, 0, &k->in[0]->shape);
}

static const op_case no_session_cases[] = {
    {"f32[] 1", "f32[] 1"},
    {0},
};

OPS(no_session) = {
    {"NoSession(x:float) -> (y:float)", "What it is given.", .infer = weft__infer_same, .cpu = no_session_cpu,
     .cases = no_session_cases},
    {0},
};
