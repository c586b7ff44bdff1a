/* function.h - functions: graphs that ops of another graph call.
 *
 * A body is built like any graph, with a placeholder for each argument.  weft_function_add adds it by name to the
 * library of the graph that calls it.  Ops such as PartitionedCall, If, While and MapDataset call functions.  An
 * exported graph contains its library. */
#ifndef WEFT_FUNCTION_H
#define WEFT_FUNCTION_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the nodes of `body` to g's library as function `name`.  The n_in outputs `in` are the arguments (the nodes
 * that compute them are left out), and the n_out outputs `out` are the results.  Functions that the body calls are
 * added too.  Returns INVALID_ARGUMENT if the library has another function of that name.  The body is not changed. */
WEFT_CHECKED weft_err weft_function_add(weft_graph *g, const char *name, weft_graph *body, int n_in, const weft_out *in,
                                        int n_out, const weft_out *out);
/* Adds a function without arguments that computes `out` as g does; the nodes that it needs are copied. */
WEFT_CHECKED weft_err weft_function_of(weft_graph *g, const char *name, weft_out out);
/* Sets attribute `attr_name` of a node that is being built to the function `name`. */
WEFT_API void weft_builder_function(weft_builder *WEFT_OPTIONAL b, const char *attr_name, const char *name);

#ifdef __cplusplus
}
#endif
#endif
