/* variables.h - the variables of a graph, from the VariableDefs in its collections. */
#ifndef WEFT_TRAIN_MODEL_VARIABLES_H
#define WEFT_TRAIN_MODEL_VARIABLES_H

#include "graph/graph.h"

typedef struct variable_item {
  const char *name; /* of its node */
  weft_out variable;
  weft_out read, initial; /* WEFT_NONE if the definition names none */
  int initializer;        /* node id; -1 if it names none */
  bool resource;
  const char *full_name; /* the name of the tensor of which it is a slice; otherwise its own name */
  const char *slice;     /* "4 3 0,2:0,3"; "" if it is not a slice */
} variable_item;

typedef struct variable_list {
  variable_item *item;
  int n;
  arena arena;
} variable_list;

/* Reads the variables of collection `list` ("variables", "local_variables", ...); none if there is no such list. */
weft_err weft__variables_read(const weft_graph *g, const char *list, variable_list *out);
/* Finds the item of a variable's node, which may be in any list or in none; uses the arena of out. */
weft_err weft__variables_find(const weft_graph *g, weft_out variable, arena *a, variable_item *out);
void weft__variables_finish(variable_list *l);

#endif
