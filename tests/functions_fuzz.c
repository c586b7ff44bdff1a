/* functions_fuzz.c - bytes read as a GraphDef with a function library: its nodes are run, and what they call.
 *
 * A run has 100 ms: a function that never ends, or waits, is no finding; one that ignores its deadline is.
 * fuzz runs: 2000 */
#include "base/alloc.h"
#include "exec/session.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_RUNS = 16 };

/* The last nodes first: they need most of the others. */
static void run_nodes(const weft_graph *g, weft_session *s) {
  for (int i = g->n_node - 1; i >= 0 && i >= g->n_node - MOST_RUNS; i--) {
    const plan_request r = {.n_target = 1, .target = &i};
    s->ops->run(s, &r, NULL, NULL, &(run_opts){.timeout_ms = 100});
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static op_table *ops;
  weft_graph *g;
  weft_session *s = NULL;
  if (!ops && weft__op_table_create(&ops, weft__ops_all()) != WEFT_OK) abort();
  if (weft__graph_create(&g, ops) != WEFT_OK) return 0;
  if (weft__graph_import(g, data, size, NULL) == WEFT_OK &&
      weft__session_create(&s, g, &(session_opts){.intra_threads = 1, .inter_threads = 1}) == WEFT_OK)
    run_nodes(g, s);
  weft__session_destroy(s);
  weft__graph_destroy(g);
  return 0;
}
