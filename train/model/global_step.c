/* global_step.c - the global step: an int64 variable with a fixed name. */
#include "train/model/global_step.h"
#include "graph/scope.h"

#define NAME "global_step"

weft_out weft__global_step(const weft_graph *g) {
  weft_out v = WEFT_NONE;
  if (weft__variables_in(g, NAME, &v, 1) > 0) return v;
  const weft_node *n = weft__graph_find(g, NAME);
  v = n ? (weft_out){n->id, 0} : WEFT_NONE;
  return n && weft__variable_check(g, NAME, v) == WEFT_OK ? v : WEFT_NONE;
}

weft_out weft__global_step_make(weft_graph *g) {
  weft_out there = weft__global_step(g);
  variable_spec spec = {.name = NAME,
                        .has_shape = true,
                        .shape = SHAPE_SCALAR,
                        .dtype = WEFT_INT64,
                        .init = {.kind = INIT_ZEROS},
                        .untrainable = true,
                        .resource = weft__variable_scope_resource(g)};
  variable_nodes nodes;
  if (there.node >= 0) return there;
  int depth = weft__scope_depth(g);
  weft_err err = weft__scope_push_control(g, -1, NULL);
  if (err == WEFT_OK) err = weft__scope_push_name(g, NULL);
  if (err == WEFT_OK) err = weft__variable_get(g, &spec, &nodes);
  weft__scope_pop_to(g, depth);
  if (err == WEFT_OK) err = weft__variable_add_to(g, NAME, nodes.variable);
  return weft__named_keep(g, err) ? nodes.variable : WEFT_NONE;
}
