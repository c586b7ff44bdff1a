/* argument.c - what a program is told that passes NULL or a negative count where it must not. */
#include "api/argument.h"
#include "graph/graph.h"

weft_err weft__argument_null(const char *function, const char *parameter) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the parameter '%s' must not be NULL", function, parameter);
}

weft_err weft__argument_count(const char *function, const char *parameter, int64_t n) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the parameter '%s' is %lld; a count must not be negative", function,
                    parameter, (long long)n);
}

weft_out weft__argument_fail(weft_graph *g, weft_err err) {
  if (g) weft__status_update(&g->sticky, err);
  return WEFT_NONE;
}
