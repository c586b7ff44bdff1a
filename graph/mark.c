/* mark.c - removes the newest nodes of a graph. */
#include "graph/mark.h"
#include "base/assert.h"
#include "graph/scope.h"

graph_mark weft__graph_mark(const weft_graph *g) {
  return (graph_mark){
      g->n_node, g->generation, weft__scope_names(g), weft__scope_depth(g), g->seeds_drawn, weft__library_mark(g),
      g->changes};
}

void weft__graph_rewind(weft_graph *g, const graph_mark *m) {
  WEFT_ASSERT(m->n_node <= g->n_node && m->depth <= weft__scope_depth(g));
  weft__scope_pop_to(g, m->depth);
  weft__scope_forget(g, m->names, m->n_node);
  for (int i = m->n_node; i < g->n_node; i++) {
    weft__map_remove(&g->by_name, g->node[i]->name);
    for (int j = 0; j < g->node[i]->n_attr; j++) weft__attr_release(&g->node[i]->attr[j]);
  }
  for (; g->changes != m->changes; g->changes = g->changes->next) *g->changes->node = g->changes->before;
  g->n_node = m->n_node;
  g->generation = m->generation;
  g->seeds_drawn = m->seeds_drawn;
  weft__library_rewind(g, m->library);
}
