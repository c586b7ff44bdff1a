/* mark.h - going back: what a call added to a graph is taken out again when it fails half-way.
 *
 * Additions and weft__graph_extend_node are undone; nobody may have changed a node that was there in another way. */
#ifndef WEFT_GRAPH_MARK_H
#define WEFT_GRAPH_MARK_H

#include "graph/library.h"

typedef struct graph_mark {
  int n_node, generation, names, depth, seeds_drawn;
  library_mark library;
  struct node_change *changes;
} graph_mark;

graph_mark weft__graph_mark(const weft_graph *g);
/* Nodes, names, scopes and functions since the mark are gone; their ids and names are free again. */
void weft__graph_rewind(weft_graph *g, const graph_mark *m);

#endif
