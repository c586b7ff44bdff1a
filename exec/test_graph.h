/* test_graph.h - an empty graph with every op, and perhaps a session on it: what tests of functions and folding begin
 * with. */
#ifndef WEFT_EXEC_TEST_GRAPH_H
#define WEFT_EXEC_TEST_GRAPH_H

#include "exec/session.h"
#include "ops/all.h"
#include "tests/check.h"

typedef struct bench {
  op_table *ops;
  weft_graph *g;
  weft_session *s; /* the test's to create; NULL: none */
} bench;

static inline bench begin(void) {
  bench b = {0};
  EXPECT_OK(weft__op_table_create(&b.ops, weft__ops_all()));
  EXPECT_OK(weft__graph_create(&b.g, b.ops));
  return b;
}

static inline void end(bench *b) {
  weft__session_destroy(b->s);
  weft__graph_destroy(b->g);
  weft__op_table_destroy(b->ops);
}

#endif
