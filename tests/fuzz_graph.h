/* fuzz_graph.h - a small graph that fuzz targets run: a constant, a feed, a variable, a sum. */
#ifndef WEFT_TESTS_FUZZ_GRAPH_H
#define WEFT_TESTS_FUZZ_GRAPH_H

#include "base/alloc.h"
#include "graph/build.h"
#include "graph/graphdef.h"
#include "graph/scope.h"
#include "ops/all.h"
#include <stdlib.h>

/* x, a placeholder; w, a variable set by `init`; sum = x + w, w and init on another device if one is given.  To be
 * destroyed with its ops. */
static inline weft_graph *fuzz_graph_build(op_table **ops, const char *place) {
  weft_graph *g;
  shape any = SHAPE_UNKNOWN, one = SHAPE1(2);
  if (weft__op_table_create(ops, weft__ops_all()) || weft__graph_create(&g, *ops)) abort();
  weft_out x =
      weft__b_node(g, "Placeholder", "x", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &any)});
  if (weft__scope_push_device(g, place)) abort();
  weft_out w =
      weft__b_node(g, "VariableV2", "w", 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &one)});
  weft_out dims = weft__b_ints(g, (int64_t[]){2}, 1);
  weft_out ones = weft__b_node(g, "Fill", "ones", 2, (weft_out[]){dims, weft__b_scalar(g, WEFT_FLOAT, 1)}, 0, NULL);
  weft__b_node(g, "Assign", "init", 2, (weft_out[]){w, ones}, 0, NULL);
  weft__scope_pop(g);
  weft__b_node(g, "AddV2", "sum", 2, (weft_out[]){x, w}, 0, NULL);
  if (weft__b_ok(g)) abort();
  return g;
}

/* The same as a GraphDef, to be freed. */
static inline uint8_t *fuzz_graph(size_t *size) {
  uint8_t *bytes;
  op_table *ops;
  weft_graph *g = fuzz_graph_build(&ops, "");
  if (weft__graph_export(g, NULL, &bytes, size)) abort();
  weft__graph_destroy(g);
  weft__op_table_destroy(ops);
  return bytes;
}

#endif
