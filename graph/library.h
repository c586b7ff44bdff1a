/* library.h - the functions of a graph, found by name.
 *
 * Each function is stored as bytes (a FunctionDef).  A graph and the bodies of all functions called from it share
 * one library, which grows as functions are added to the graph.  Thread safe. */
#ifndef WEFT_GRAPH_LIBRARY_H
#define WEFT_GRAPH_LIBRARY_H

#include "graph/node.h"
#include "tf.pb-c.h"

typedef struct library_function {
  const char *name;
  attr_str def; /* a serialized FunctionDef */
  const op *op; /* for nodes that call it by name; NULL if its arguments are lists */
} library_function;

/* Returns the function of that name, or NULL.  It lives as long as the graph. */
const library_function *weft__library_find(const weft_graph *g, const char *name);
/* Returns the op of that name: from the op table, or a function of the graph's library as an op; NULL if there is
 * neither.  The caller holds the graph's lock. */
const op *weft__graph_op(const weft_graph *g, const char *name);
/* Returns the name of the function that the library names as the gradient of another, or NULL.  It lives as long as
 * the graph. */
const char *weft__library_gradient(const weft_graph *g, const char *name);
/* Adds the functions of a library to the graph's.  A function of the same name must be equal.  On failure some may
 * have been added (see graph/mark.h). */
weft_err weft__library_merge(weft_graph *g, const Tensorflow__FunctionDefLibrary *more);
/* Exports the whole library as a message in the arena; *out is NULL if there are no functions. */
weft_err weft__library_export(const weft_graph *g, arena *a, Tensorflow__FunctionDefLibrary **out);
/* Makes `to`, which has no library, share that of `from`. */
weft_err weft__library_share(weft_graph *to, weft_graph *from);
void weft__library_release(weft_graph *g); /* called when the graph is destroyed */

/* The size of the library, for undoing additions. */
typedef struct library_mark {
  int n_function, n_gradient;
} library_mark;
library_mark weft__library_mark(const weft_graph *g);
void weft__library_rewind(weft_graph *g, library_mark m);

/* Makes the op for nodes that call a function by name, in the arena; *out is NULL if its arguments are lists. */
weft_err weft__function_op(const op **out, const op_table *ops, const Tensorflow__OpDef *signature, arena *a);

#endif
