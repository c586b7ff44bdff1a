/* saved_model_text_fuzz.c - bytes read as saved_model.pbtxt: its graph is loaded, with no variables beside it, or
 * refused. fuzz runs: 3000 */
#include "base/alloc.h"
#include "exec/session.h"
#include "ops/all.h"
#include "tests/fuzz_file.h"
#include "train/checkpoint/saved_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static op_table *ops;
  weft_graph *g;
  weft_session *s = NULL;
  uint8_t *meta = NULL;
  size_t meta_size = 0;
  char dir[64];
  const char *path = fuzz_write("saved_model.pbtxt", data, size);
  snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (!ops && weft__op_table_create(&ops, weft__ops_all()) != WEFT_OK) abort();
  if (weft__graph_create(&g, ops) != WEFT_OK) return 0;
  if (weft__session_create(&s, g, &(session_opts){.intra_threads = 1, .inter_threads = 1}) == WEFT_OK)
    weft__saved_model_load(dir, g, s, 1, (const char *const[]){"serve"}, "", &meta, &meta_size);
  weft__free(meta);
  weft__session_destroy(s);
  weft__graph_destroy(g);
  return 0;
}
