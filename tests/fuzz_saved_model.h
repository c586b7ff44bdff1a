/* fuzz_saved_model.h - loads bytes as a SavedModel, for the fuzz targets of its two forms of file. */
#ifndef WEFT_TESTS_FUZZ_SAVED_MODEL_H
#define WEFT_TESTS_FUZZ_SAVED_MODEL_H

#include "base/alloc.h"
#include "exec/session.h"
#include "ops/all.h"
#include "tests/fuzz_file.h"
#include "train/checkpoint/saved_model.h"

/* Writes the bytes as a file of this name, and loads the folder: its graph is loaded, with no variables beside it, or
 * refused. */
static inline void fuzz_saved_model(const char *name, const uint8_t *data, size_t size) {
  static op_table *ops;
  weft_graph *g;
  weft_session *s = NULL;
  uint8_t *meta = NULL;
  size_t meta_size = 0;
  char dir[64];
  const char *path = fuzz_write(name, data, size);
  snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (!ops && weft__op_table_create(&ops, weft__ops_all()) != WEFT_OK) abort();
  if (weft__graph_create(&g, ops) != WEFT_OK) return;
  if (weft__session_create(&s, g, &(session_opts){.intra_threads = 1, .inter_threads = 1}) == WEFT_OK)
    weft__saved_model_load(dir, g, s, 1, (const char *const[]){"serve"}, "", &meta, &meta_size);
  weft__free(meta);
  weft__session_destroy(s);
  weft__graph_destroy(g);
}

#endif
