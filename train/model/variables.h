/* variables.h - the variables of a graph, out of the VariableDefs in its collections. */
#ifndef WEFT_TRAIN_MODEL_VARIABLES_H
#define WEFT_TRAIN_MODEL_VARIABLES_H

#include "graph/graph.h"

typedef struct variable_item {
  const char *name; /* of its node */
  weft_out variable;
  weft_out read, initial; /* WEFT_NONE where the definition names none */
  int initializer;        /* node id; -1 likewise */
  bool resource;
  const char *full_name; /* of the tensor it is a slice of; its own name when it is none */
  const char *slice;     /* "4 3 0,2:0,3"; "" when it is none */
} variable_item;

typedef struct variable_list {
  variable_item *item;
  int n;
  arena arena;
} variable_list;

/* Those of collection `list` ("variables", "local_variables", ...); none when there is no such list. */
weft_err weft__variables_read(const weft_graph *g, const char *list, variable_list *out);
/* The item of a node that is a variable, listed anywhere or not at all; the arena is out's. */
weft_err weft__variables_find(const weft_graph *g, weft_out variable, arena *a, variable_item *out);
void weft__variables_finish(variable_list *l);

#endif
