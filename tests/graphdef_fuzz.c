/* graphdef_fuzz.c - any bytes are a graph or an error; a graph goes out and comes in again. */
#include "base/alloc.h"
#include "graph/graphdef.h"
#include "ops/all.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static op_table *table(void) {
  static op_table *t; /* parsed once: it takes longer than an import */
  if (!t && weft__op_table_create(&t, weft__ops_all()) != WEFT_OK) abort();
  return t;
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
  }
  weft__graph_destroy(g);
  return 0;
}
