/* run_metadata.c - cuts a request into one graph per device, and packs these graphs and their costs. */
#include "exec/run_metadata.h"

#include "base/alloc.h"
#include "exec/requests.h"

static weft_err run_metadata_add_part(text *out, const task_part *p) {
  Tensorflow__RunMetadata meta = TENSORFLOW__RUN_METADATA__INIT;
  Tensorflow__GraphDef *def[1] = {(Tensorflow__GraphDef *)(uintptr_t)&p->def};
  meta.n_partition_graphs = 1;
  meta.partition_graphs = def;
  uint8_t *to = (uint8_t *)weft__text_reserve(out, tensorflow__run_metadata__get_packed_size(&meta));
  if (!to) return WEFT_OOM;
  out->size += tensorflow__run_metadata__pack(&meta, to);
  return WEFT_OK;
}

weft_err weft__run_metadata_add(text *out, const text *stats, const cut *c, int n_device, const metadata_graphs *what) {
  parts p;
  int *own = weft__alloc(sizeof *own * ((size_t)n_device + 1));
  if (!own) return WEFT_OOM;
  for (int i = 0; i < n_device; i++) own[i] = i;
  cut by_device = *c;
  by_device.task = own;
  by_device.n_task = n_device;
  by_device.shown = true;
  weft_err err = weft__partition(&p, &by_device);
  if (!err) {
    for (int i = 0; i < p.n_part && !err && what->partition_graphs; i++) err = run_metadata_add_part(out, &p.part[i]);
    if (!err && what->costs)
      err = weft__cost_graph_add(out, stats, &p, c->graph, what->costs, weft__request_hash(c->request));
    weft__partition_parts_finish(&p);
  }
  weft__free(own);
  return err;
}

weft_err weft__run_metadata_finish(text *t, weft_err err, const run_opts *opts, int n_fetch, weft_tensor **fetched) {
  if (!err && t->failed) err = WEFT_OOM;
  *opts->metadata_size = err ? 0 : t->size;
  *opts->metadata = err || !t->size ? NULL : (uint8_t *)weft__text_take(t);
  weft__text_finish(t);
  for (int i = 0; i < n_fetch && err; i++) {
    weft_tensor_destroy(fetched[i]);
    fetched[i] = NULL;
  }
  return err;
}
