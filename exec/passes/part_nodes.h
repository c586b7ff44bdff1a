/* part_nodes.h - makes the nodes that partitioning adds to the parts of a step.  Their memory is an arena's. */
#ifndef WEFT_EXEC_PASSES_PART_NODES_H
#define WEFT_EXEC_PASSES_PART_NODES_H

#include "base/arena.h"
#include "base/status.h"
#include "graph/graphdef.h"

typedef Tensorflow__NodeDef node_def;

/* Returns the text, or NULL if memory is short. */
char *weft__part_format(arena *a, const char *fmt, ...) WEFT_PRINTF(2, 3);
/* Makes a node with up to one input (and room for another) and room for n_attr attributes.  The type is not copied. */
weft_err weft__part_node(arena *a, node_def **out, char *name, const char *type, char *input, int n_attr);
/* Adds an attribute, whose value the caller sets; NULL if memory is short.  The name is not copied. */
Tensorflow__AttrValue *weft__part_attr(arena *a, node_def *n, const char *name);
weft_err weft__part_attr_type(arena *a, node_def *n, const char *name, weft_dtype type);
weft_err weft__part_attr_int(arena *a, node_def *n, const char *name, int64_t number);
weft_err weft__part_attr_text(arena *a, node_def *n, const char *name, const char *s);
weft_err weft__part_oom(void); /* RESOURCE_EXHAUSTED, with a message */

#endif
