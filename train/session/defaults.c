/* defaults.c - the usual ops of a supervised graph, found in collections or created. */
#include "train/session/defaults.h"

#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/graphdef.h"
#include "io/file.h"
#include "proto/text.h"
#include "train/model/nodes.h"
#include "train/checkpoint/path.h"
#include "train/model/variable_nodes.h"

weft_out weft__default_first_of(const weft_graph *g, const char *list) {
  const collection *c = weft__collection_get(g, list);
  weft_out o = WEFT_NONE;
  if (!c || c->kind != COLLECTION_NAMES || c->n == 0) return o;
  if (strchr(c->s[0].data, ':')) return weft__graph_find_out(g, c->s[0].data, &o) == WEFT_OK ? o : WEFT_NONE;
  const weft_node *n = weft__graph_find(g, c->s[0].data);
  return n ? (weft_out){n->id, 0} : o;
}

void weft__default_list_node(weft_graph *g, const char *list, weft_out node) {
  if (node.node >= 0) weft__status_update(&g->sticky, weft__collection_add_name(g, list, g->node[node.node]->name));
}

void weft__default_list_out(weft_graph *g, const char *list, weft_out o) {
  const char *name = o.node >= 0 ? weft__n_out_name(g, o) : NULL;
  if (name) weft__status_update(&g->sticky, weft__collection_add_name(g, list, name));
}

/* Lists the variables of up to two collections, one after the other; the caller frees the list. */
static int variables_of(weft_graph *g, const char *list, const char *more, weft_out **out) {
  int n = weft__variables_in(g, list, NULL, 0), m = more ? weft__variables_in(g, more, NULL, 0) : 0;
  *out = weft__alloc(sizeof **out * (size_t)(n + m + 1));
  if (!*out) {
    weft__status_update(&g->sticky, WEFT_OOM);
    return 0;
  }
  weft__variables_in(g, list, *out, n);
  if (more) weft__variables_in(g, more, *out + n, m);
  return n + m;
}

weft_out weft__default_init_of(weft_graph *g, const char *list, const char *name) {
  weft_out *v;
  int n = variables_of(g, list, NULL, &v);
  weft_out init = v ? weft__variables_init(g, name, n, v) : WEFT_NONE;
  weft__free(v);
  return init;
}

weft_out weft__default_tables_init(weft_graph *g) {
  const collection *c = weft__collection_get(g, "table_initializer");
  int n = c && c->kind == COLLECTION_NAMES ? c->n : 0, *ids = weft__alloc(sizeof *ids * (size_t)(n + 1));
  weft_err err = ids ? WEFT_OK : WEFT_OOM;
  for (int i = 0; !err && i < n; i++) err = weft__n_find(g, c->s[i].data, &ids[i]);
  weft__status_update(&g->sticky, err);
  weft_out init = err ? WEFT_NONE : weft__n_group(g, "init_all_tables", n, ids);
  weft__free(ids);
  return init;
}

weft_out weft__default_report_of(weft_graph *g, const char *name, bool with_local) {
  weft_out *v;
  int n = variables_of(g, "variables", with_local ? "local_variables" : NULL, &v);
  weft_out report = v ? weft__variables_report(g, name, n, v) : WEFT_NONE;
  weft__free(v);
  return report;
}

weft_err weft__default_saver(weft_graph *g, bool sharded, weft_saver **saver) {
  const collection *c = weft__collection_get(g, "savers");
  void *def;
  size_t size;
  *saver = NULL;
  if (c && c->kind == COLLECTION_BYTES && c->n > 0) return weft__saver_adopt(saver, g, c->s[0].data, c->s[0].size);
  if (weft__variables_in(g, "variables", NULL, 0) == 0) return WEFT_OK;
  WEFT_TRY(weft__saver_create(saver, g, &(weft_saver_opts){.sharded = sharded}));
  WEFT_TRY(weft__saver_def(*saver, &def, &size));
  weft_err err = weft__collection_add_bytes(g, "savers", def, size);
  weft__free(def);
  return err;
}

weft_err weft__default_write_graph(weft_graph *g, const char *dir) {
  arena a = {0};
  text t = {0};
  Tensorflow__GraphDef def;
  char *path = weft__path_below(dir, "graph.pbtxt");
  weft_err err = path ? weft__dir_create_all(dir) : WEFT_OOM;
  pthread_mutex_lock(&g->lock);
  if (!err) err = weft__graph_export_proto(g, &(export_opts){.output_shapes = true}, &def, &a);
  if (!err) weft__proto_text(&t, &def.base, false);
  pthread_mutex_unlock(&g->lock);
  if (!err && t.failed) err = WEFT_OOM;
  if (!err) err = weft__file_write(path, weft__text_get(&t), t.size);
  weft__text_finish(&t);
  weft__arena_finish(&a);
  weft__free(path);
  return err;
}

weft_out weft__default_given_or_first(const weft_graph *g, const weft_out *given, const char *list, bool *make) {
  *make = false;
  if (given) return *given;
  weft_out there = weft__default_first_of(g, list);
  *make = there.node < 0;
  return there;
}
