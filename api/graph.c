/* graph.c - the public functions of graphs: creating, importing, reading, scopes. */
#include "api/argument.h"
#include "graph/graph.h"
#include "ops/all.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/build.h"
#include "graph/graphdef.h"
#include "graph/metagraph.h"
#include "graph/scope.h"
#include <stdatomic.h>

weft_err weft_graph_create(weft_graph **out) {
  API_NEED(out);

  const op_table *ops;
  WEFT_TRY(weft__ops_table(&ops));
  WEFT_TRY(weft__graph_create(out, ops));
  static atomic_uint graphs; /* tags repeat after 65535 graphs; 0 means no tag */
  (*out)->tag = (uint16_t)(atomic_fetch_add(&graphs, 1) % UINT16_MAX + 1);
  WEFT_ASSERT((*out)->tag != 0);
  return WEFT_OK;
}

void weft_graph_destroy(weft_graph *g) { weft__graph_destroy(g); }
weft_err weft_graph_error(const weft_graph *g) {
  API_NEED(g);
  return weft__b_ok(g);
}
void weft_graph_clear_error(weft_graph *g) {
  API_NEED_OR(g, );
  weft__b_clear(g);
}

void weft_graph_set_seed(weft_graph *g, int64_t seed) {
  API_NEED_OR(g, );

  g->seed = seed;
  g->has_seed = true;
}

weft_err weft_graph_import(weft_graph *g, const void *graph_def, size_t size, const char *prefix) {
  API_NEED(g);
  API_ITEMS(size, graph_def);

  return weft__graph_import(g, graph_def, size, &(import_opts){.prefix = prefix});
}

weft_err weft_graph_export(void **out, size_t *size, const weft_graph *g) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(g);

  return weft__graph_export((weft_graph *)(uintptr_t)g, NULL, (uint8_t **)out, size);
}

weft_err weft_graph_import_meta(weft_graph *g, const void *meta_graph_def, size_t size, const char *prefix) {
  API_NEED(g);
  API_ITEMS(size, meta_graph_def);

  return weft__metagraph_import(g, meta_graph_def, size, &(import_opts){.prefix = prefix});
}

typedef weft_err mapped_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts);

static weft_err import_with_map(mapped_import *import, weft_graph *g, const void *bytes, size_t size, import_opts *opts,
                                const char *const *names, const weft_out *to) {
  import_map *rows = weft__alloc(sizeof *rows * (size_t)(opts->n_map + 1));
  if (!rows) return weft__fail(WEFT_OOM, "no memory to map %d inputs of an import", opts->n_map);
  for (int i = 0; i < opts->n_map; i++) rows[i] = (import_map){names[i], to[i]};
  opts->map = rows;
  weft_err err = import(g, bytes, size, opts);
  weft__free(rows);
  return err;
}

weft_err weft_graph_import_mapped(weft_graph *g, const void *graph_def, size_t size, const char *prefix, int n,
                                  const char *const *names, const weft_out *to) {
  API_NEED(g);
  API_ITEMS(size, graph_def);
  API_ARRAY(n, names);
  API_ITEMS(n, to);
  API_ALL_OF(g, n, to);

  return import_with_map(weft__graph_import, g, graph_def, size, &(import_opts){.prefix = prefix, .n_map = n}, names,
                         to);
}

weft_err weft_graph_import_meta_mapped(weft_graph *g, const void *meta_graph_def, size_t size, const char *prefix,
                                       int n, const char *const *names, const weft_out *to) {
  API_NEED(g);
  API_ITEMS(size, meta_graph_def);
  API_ARRAY(n, names);
  API_ITEMS(n, to);
  API_ALL_OF(g, n, to);

  return import_with_map(weft__metagraph_import, g, meta_graph_def, size, &(import_opts){.prefix = prefix, .n_map = n},
                         names, to);
}

weft_err weft_graph_export_meta(void **out, size_t *size, const weft_graph *g) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(g);

  return weft__metagraph_export((weft_graph *)(uintptr_t)g, NULL, (uint8_t **)out, size);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

weft_out weft_graph_find(const weft_graph *g, const char *tensor_name) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(NULL, tensor_name);

  weft_out o;
  return weft__graph_find_out(g, tensor_name, &o) == WEFT_OK ? o : WEFT_NONE;
}

int weft_graph_size(const weft_graph *g) {
  API_NEED_OR(g, 0);
  return g->n_node;
}

const weft_node *weft_graph_node(const weft_graph *g, int i) {
  API_NEED_OR(g, NULL);
  return i >= 0 && i < g->n_node ? g->node[i] : NULL;
}

const char *weft_node_name(const weft_node *n) {
  API_NEED_OR(n, NULL);
  return n->name;
}
const char *weft_node_op(const weft_node *n) {
  API_NEED_OR(n, NULL);
  return n->op_name;
}
const char *weft_node_device(const weft_node *n) {
  API_NEED_OR(n, NULL);
  return n->device;
}
int weft_node_output_count(const weft_node *n) {
  API_NEED_OR(n, 0);
  return n->n_out;
}
int weft_node_input_count(const weft_node *n) {
  API_NEED_OR(n, 0);
  return n->n_in;
}
weft_out weft_node_input(const weft_node *n, int i) {
  API_NEED_OUT(NULL, n);
  return i >= 0 && i < n->n_in ? weft__graph_out(n->graph, n->in[i].node, n->in[i].slot) : WEFT_NONE;
}

weft_out weft_out_at(weft_out o, int slot) {
  if (o.node < 0 || slot < 0 || slot > UINT16_MAX) return WEFT_NONE;
  return (weft_out){o.node, (uint16_t)slot, o.graph};
}

weft_dtype weft_out_dtype(const weft_graph *g, weft_out o) {
  API_NEED_OR(g, WEFT_INVALID);

  return weft__out_belongs(g, o) ? weft__out_type(g, o) : WEFT_INVALID;
}

int weft_out_shape(const weft_graph *g, weft_out o, int64_t *dims) {
  API_NEED_OR(g, 0);

  if (!weft__out_belongs(g, o)) return -1;
  const shape *s = weft__out_shape(g, o);
  for (int d = 0; d < s->rank; d++) dims[d] = s->dim[d];
  return s->rank;
}

/* ---- scopes ------------------------------------------------------------------------------------------ */

static void graph_keep_error(weft_graph *g, weft_err err) { weft__status_update(&g->sticky, err); }

void weft_scope_push_name(weft_graph *g, const char *name) {
  API_NEED_OR(g, );
  weft__b_pushed(g, weft__scope_push_name(g, name));
}
void weft_scope_push_device(weft_graph *g, const char *name) {
  API_NEED_OR(g, );
  weft__b_pushed(g, weft__scope_push_device(g, name));
}
static void push_colocate(weft_graph *g, weft_out with, bool only) {
  weft_err err = weft__out_foreign(g, with)
                     ? weft__fail(WEFT_INVALID_ARGUMENT, "the node to colocate with is from another graph")
                     : weft__scope_push_colocate(g, with.node, only);
  weft__b_pushed(g, err);
}
void weft_scope_push_colocate(weft_graph *g, weft_out with) {
  API_NEED_OR(g, );

  push_colocate(g, with, false);
}
void weft_scope_push_colocate_only(weft_graph *g, weft_out with) {
  API_NEED_OR(g, );

  push_colocate(g, with, true);
}
void weft_scope_push_belong(weft_graph *g, const char *node) {
  API_NEED_OR(g, );
  API_NEED_ON(g, node);
  weft__b_pushed(g, weft__scope_push_class(g, node));
}
void weft_scope_push_container(weft_graph *g, const char *name) {
  API_NEED_OR(g, );
  API_NEED_ON(g, name);
  weft__b_pushed(g, weft__scope_push_container(g, name));
}
void weft_scope_push_gradient(weft_graph *g, const char *op_type, const char *gradient) {
  API_NEED_OR(g, );
  API_NEED_ON(g, op_type);
  API_NEED_ON(g, gradient);

  weft__b_pushed(g, weft__scope_push_gradient(g, op_type, gradient));
}
void weft_scope_pop(weft_graph *g) {
  API_NEED_OR(g, );
  if (weft__scope_depth(g) == 0)
    graph_keep_error(
        g, weft__fail(WEFT_FAILED_PRECONDITION,
                      "weft_scope_pop: the graph has no open scope; each pop needs a weft_scope_push_... before it"));
  weft__scope_pop(g);
}
int weft_scope_depth(const weft_graph *g) {
  API_NEED_OR(g, 0);
  return weft__scope_depth(g);
}

weft_parked *weft_scope_park(weft_graph *g, int depth) {
  API_NEED_OR(g, NULL);
  parked_scopes *p = NULL;
  graph_keep_error(g, weft__scope_park(g, depth, &p));
  return (weft_parked *)p;
}

void weft_scope_unpark(weft_graph *g, weft_parked *p) {
  API_NEED_OR(g, );
  if (p) graph_keep_error(g, weft__scope_unpark(g, (parked_scopes *)p));
}

/* ---- functions of the program that are called while nodes are added ---- */

/* Lets the program change the edges of a new node.  The arrays belong to the graph's arena, because they are read
 * after this call returns. */
static weft_err adapt_edges(void *arg, node_spec *spec) {
  weft_graph *g = arg;
  WEFT_ASSERT(g->adapt == adapt_edges && g->adapt_fn);
  weft_err (*hook)(void *, node_spec *) = g->adapt;
  void *hook_arg = g->adapt_arg;
  weft_out *in = weft__arena_alloc(&g->arena, (size_t)(spec->n_in + 1) * sizeof *in);
  int n_control = spec->n_control, *control = weft__arena_alloc(&g->arena, (size_t)(n_control + 1) * sizeof *control);
  if (!in || !control) return WEFT_OOM;
  if (spec->n_in) memcpy(in, spec->in, (size_t)spec->n_in * sizeof *in);
  if (n_control) memcpy(control, spec->control, (size_t)n_control * sizeof *control);
  g->adapt = NULL;
  const weft_err err = g->adapt_fn(g->adapt_fn_arg, spec->op, spec->n_in, in, &n_control, control);
  g->adapt = hook;
  g->adapt_arg = hook_arg;
  spec->in = in;
  spec->control = control;
  spec->n_control = n_control;
  return err;
}

void weft_graph_set_adapter(weft_graph *g, weft_adapt_fn *fn, void *arg) {
  API_NEED_OR(g, );

  g->adapt_fn = fn;
  g->adapt_fn_arg = arg;
  g->adapt = fn ? adapt_edges : NULL;
  g->adapt_arg = g;
}

void weft_graph_set_gradient_fn(weft_graph *g, weft_gradient_fn *fn, void *arg) {
  API_NEED_OR(g, );

  g->gradient_fn = fn;
  g->gradient_arg = arg;
}

const char *weft_scope_prefix(const weft_graph *g) {
  API_NEED_OR(g, NULL);
  return weft__scope_prefix(g);
}

const char *weft_scope_unique(weft_graph *g, const char *name, bool take) {
  API_NEED_OR(g, NULL);
  API_NEED_OR(name, NULL);

  const char *full = NULL;
  weft_err err = take ? weft__scope_unique(g, name, &full) : weft__scope_name(g, name, &full);
  graph_keep_error(g, err);
  return err ? NULL : full;
}

void weft_scope_push_control(weft_graph *g, int n, const weft_out *before) {
  API_NEED_OR(g, );
  API_ITEMS_ON(g, n, before);

  int *ids = weft__alloc(sizeof *ids * (size_t)(n < 0 ? 1 : n + 1));
  if (!ids) {
    graph_keep_error(g, WEFT_OOM);
    return;
  }
  weft_err err = WEFT_OK;
  for (int i = 0; i < n && !err; i++) {
    ids[i] = before[i].node;
    err = weft__out_of(g, before[i], "control input", i);
  }
  weft__b_pushed(g, err ? err : weft__scope_push_control(g, n, ids));
  weft__free(ids);
}
