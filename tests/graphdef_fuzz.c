/* graphdef_fuzz.c - imports any bytes as a graph, which gives a graph or an error; a graph is exported and imported
 * again. */
#include "base/alloc.h"
#include "graph/gradient.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static op_table *table(void) {
  static op_table *t; /* parsed once: it takes longer than an import */
  if (!t && weft__op_table_create(&t, weft__ops_all()) != WEFT_OK) abort();
  return t;
}

/* The last output by the first: an answer or an error. */
static void differentiate(weft_graph *g) {
  weft_out y = {g->n_node - 1, 0}, x = {0, 0};
  grad_value d;
  if (g->n_node == 0 || g->node[y.node]->n_out == 0 || g->node[0]->n_out == 0) return;
  int n = g->n_node;
  if (weft__gradients(g, 1, &y, 1, &x, NULL, NULL, &d) != WEFT_OK && g->n_node != n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft_graph *g, *again;
  uint8_t *bytes;
  size_t written;
  if (weft__graph_create(&g, table()) != WEFT_OK) return 0;
  if (weft__graph_import(g, data, size, NULL) != WEFT_OK) {
    if (g->n_node != 0) abort(); /* all or nothing */
  } else if (weft__graph_export(g, NULL, &bytes, &written) == WEFT_OK) {
    if (weft__graph_create(&again, table()) == WEFT_OK) {
      if (weft__graph_import(again, bytes, written, NULL) != WEFT_OK || again->n_node != g->n_node) abort();
      weft__graph_destroy(again);
    }
    weft__free(bytes);
    differentiate(g);
  }
  weft__graph_destroy(g);
  return 0;
}
