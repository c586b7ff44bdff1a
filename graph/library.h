/* library.h - the functions of a graph, found by name.
 *
 * Each function is kept as bytes (a FunctionDef).  A graph and the bodies of all functions called from it share one
 * library, which grows as functions are added to the graph.  Thread safe. */
#ifndef WEFT_GRAPH_LIBRARY_H
#define WEFT_GRAPH_LIBRARY_H

#include "graph/node.h"
#include "tf.pb-c.h"

typedef struct library_function {
  const char *name;
  attr_str def; /* a serialised FunctionDef */
  const op *op; /* for nodes that call it by its name; NULL if its arguments are lists */
} library_function;

/* The function of that name; NULL if there is none.  Lives as long as the graph. */
const library_function *weft__library_find(const weft_graph *g, const char *name);
/* An op of the table, or a function of the graph's library as one, for nodes that call it by name; NULL if there is
 * neither.  The graph's lock is held. */
const op *weft__graph_op(const weft_graph *g, const char *name);
/* The function that the library names as the gradient of another; NULL if it names none.  Lives as long as the graph. */
const char *weft__library_gradient(const weft_graph *g, const char *name);
/* Adds the functions of a library to the graph's; one of the same name must be the same.  On failure some may have been
 * added (see graph/mark.h). */
weft_err weft__library_merge(weft_graph *g, const Tensorflow__FunctionDefLibrary *more);
/* The whole library as a message in the arena's memory; *out is NULL if there are no functions. */
weft_err weft__library_export(const weft_graph *g, arena *a, Tensorflow__FunctionDefLibrary **out);
/* Gives `to`, which has none, the library of `from`. */
weft_err weft__library_share(weft_graph *to, weft_graph *from);
void weft__library_release(weft_graph *g); /* when the graph ends */

/* How much there is, and going back to that. */
typedef struct library_mark {
  int n_function, n_gradient;
} library_mark;
library_mark weft__library_mark(const weft_graph *g);
void weft__library_rewind(weft_graph *g, library_mark m);

/* The op for nodes that call a function by its name, in the arena's memory; *out is NULL if it has lists of arguments. */
weft_err weft__function_op(const op **out, const op_table *ops, const Tensorflow__OpDef *signature, arena *a);

#endif
