/* mark.h - undoes the additions of a call that fails half-way.
 *
 * Additions and weft__graph_extend_node are undone.  Between mark and rewind, existing nodes must not be changed in
 * other ways. */
#ifndef WEFT_GRAPH_MARK_H
#define WEFT_GRAPH_MARK_H

#include "graph/library.h"

typedef struct graph_mark {
  int n_node, generation, names, depth, seeds_drawn;
  library_mark library;
  struct node_change *changes;
} graph_mark;

/* Returns what the graph has now.  The mark owns nothing.  No other thread adds to the
 * graph from mark to rewind. */
graph_mark weft__graph_mark(const weft_graph *g);
/* Removes nodes, names, scopes and functions added since the mark; their ids and names are free again. */
void weft__graph_rewind(weft_graph *g, const graph_mark *m);

#endif
