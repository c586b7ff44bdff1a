/* function.h - functions: graphs that ops of another graph call.
 *
 * A body is built like any graph, with a placeholder for each argument; weft_function_add puts it into the library of
 * the graph that calls it, by name.  Ops that take functions are PartitionedCall, If, While, MapDataset and their kin;
 * the library travels with the graph. */
#ifndef WEFT_FUNCTION_H
#define WEFT_FUNCTION_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the nodes of `body` to g's library as function `name`: n_in outputs of it are the arguments (what computes them
 * is left out), n_out the results.  Functions that the body calls come along.  INVALID_ARGUMENT if the library has
 * another function of that name.  The body is only read. */
WEFT_CHECKED weft_err weft_function_add(weft_graph *g, const char *name, weft_graph *body, int n_in, const weft_out *in,
                                        int n_out, const weft_out *out);
/* A function without arguments that computes `out` of g as g does: the nodes it needs are copied. */
WEFT_CHECKED weft_err weft_function_of(weft_graph *g, const char *name, weft_out out);
/* Sets attribute `attr` of a node being built to the function of that name. */
WEFT_API void weft_builder_function(weft_builder *WEFT_OPTIONAL b, const char *attr_name, const char *name);

#ifdef __cplusplus
}
#endif
#endif
