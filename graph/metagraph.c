/* metagraph.c - imports and exports MetaGraphDefs.
 *
 * The graph and the collections are imported.  Everything else stays one serialized MetaGraphDef (g->meta), which an
 * export completes again. */
#include "graph/metagraph.h"
#include "base/alloc.h"
#include "graph/attr_proto.h"
#include "graph/collection.h"
#include "graph/mark.h"
#include "proto/scan.h"
#include <stdio.h>
#include <string.h>

static weft_err metagraph_oom(void) { return weft__fail(WEFT_OOM, "no memory for a MetaGraphDef"); }

static char *metagraph_string(const char *s) { return (char *)(uintptr_t)s; }

/* ---- prefixes ---- */

/* Adds the prefix: "a:0" becomes "p/a:0", and "^a" becomes "^p/a"; "" stays. */
static weft_err with_prefix(const char *prefix, char **name, arena *a) {
  const char *caret = **name == '^' ? "^" : "", *rest = *name + strlen(caret);
  if (!*prefix || !*rest) return WEFT_OK;
  char *full = weft__arena_alloc(a, strlen(prefix) + strlen(*name) + 2);
  if (!full) return metagraph_oom();
  sprintf(full, "%s%s/%s", caret, prefix, rest);
  *name = full;
  return WEFT_OK;
}

static weft_err prefix_variable(Tensorflow__VariableDef *v, const char *prefix, arena *a) {
  WEFT_TRY(with_prefix(prefix, &v->variable_name, a));
  WEFT_TRY(with_prefix(prefix, &v->initial_value_name, a));
  WEFT_TRY(with_prefix(prefix, &v->initializer_name, a));
  return with_prefix(prefix, &v->snapshot_name, a);
}

static weft_err prefix_names(char **names, size_t n, const char *prefix, arena *a) {
  for (size_t i = 0; i < n; i++) WEFT_TRY(with_prefix(prefix, &names[i], a));
  return WEFT_OK;
}

static weft_err prefix_runner(Tensorflow__QueueRunnerDef *q, const char *prefix, arena *a) {
  WEFT_TRY(with_prefix(prefix, &q->queue_name, a));
  WEFT_TRY(with_prefix(prefix, &q->close_op_name, a));
  WEFT_TRY(with_prefix(prefix, &q->cancel_op_name, a));
  return prefix_names(q->enqueue_op_name, q->n_enqueue_op_name, prefix, a);
}

static weft_err prefix_saver(Tensorflow__SaverDef *s, const char *prefix, arena *a) {
  WEFT_TRY(with_prefix(prefix, &s->filename_tensor_name, a));
  WEFT_TRY(with_prefix(prefix, &s->save_tensor_name, a));
  return with_prefix(prefix, &s->restore_op_name, a);
}

static weft_err prefix_values(const Tensorflow__ValuesDef *v, const char *prefix, arena *a) {
  if (!v) return WEFT_OK;
  for (size_t i = 0; i < v->n_external_values; i++) {
    WEFT_TRY(with_prefix(prefix, &v->external_values[i]->key, a));
    WEFT_TRY(with_prefix(prefix, &v->external_values[i]->value, a));
  }
  return prefix_names(v->values, v->n_values, prefix, a);
}

static weft_err prefix_contexts(Tensorflow__ControlFlowContextDef *const *list, size_t n, const char *prefix, arena *a);

static weft_err prefix_cond(Tensorflow__CondContextDef *c, const char *prefix, arena *a) {
  WEFT_TRY(with_prefix(prefix, &c->context_name, a));
  WEFT_TRY(with_prefix(prefix, &c->pred_name, a));
  WEFT_TRY(with_prefix(prefix, &c->pivot_name, a));
  WEFT_TRY(prefix_values(c->values_def, prefix, a));
  return prefix_contexts(c->nested_contexts, c->n_nested_contexts, prefix, a);
}

static weft_err prefix_while(Tensorflow__WhileContextDef *w, const char *prefix, arena *a) {
  WEFT_TRY(with_prefix(prefix, &w->context_name, a));
  WEFT_TRY(with_prefix(prefix, &w->pivot_name, a));
  WEFT_TRY(with_prefix(prefix, &w->pivot_for_pred_name, a));
  WEFT_TRY(with_prefix(prefix, &w->pivot_for_body_name, a));
  WEFT_TRY(with_prefix(prefix, &w->maximum_iterations_name, a));
  WEFT_TRY(prefix_names(w->loop_exit_names, w->n_loop_exit_names, prefix, a));
  WEFT_TRY(prefix_names(w->loop_enter_names, w->n_loop_enter_names, prefix, a));
  WEFT_TRY(prefix_values(w->values_def, prefix, a));
  return prefix_contexts(w->nested_contexts, w->n_nested_contexts, prefix, a);
}

/* Messages nest at most as deep as weft__proto_scan allows. */
static weft_err prefix_contexts(Tensorflow__ControlFlowContextDef *const *list, size_t n, const char *prefix,
                                arena *a) {
  for (size_t i = 0; i < n; i++) {
    if (list[i]->ctxt_case == TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__CTXT_COND_CTXT)
      WEFT_TRY(prefix_cond(list[i]->cond_ctxt, prefix, a));
    if (list[i]->ctxt_case == TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__CTXT_WHILE_CTXT)
      WEFT_TRY(prefix_while(list[i]->while_ctxt, prefix, a));
  }
  return WEFT_OK;
}

static const ProtobufCMessageDescriptor *message_of(const char *list) {
  static const char *const variables[] = {
      "variables",        "trainable_variables", "local_variables",         "model_variables",
      "metric_variables", "global_step",         "moving_average_variables"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (strcmp(list, variables[i]) == 0) return &tensorflow__variable_def__descriptor;
  if (strcmp(list, "queue_runners") == 0) return &tensorflow__queue_runner_def__descriptor;
  if (strcmp(list, "savers") == 0) return &tensorflow__saver_def__descriptor;
  if (strcmp(list, "cond_context") == 0) return &tensorflow__cond_context_def__descriptor;
  if (strcmp(list, "while_context") == 0) return &tensorflow__while_context_def__descriptor;
  return NULL;
}

static weft_err prefix_message(ProtobufCMessage *m, const char *prefix, arena *a) {
  if (m->descriptor == &tensorflow__variable_def__descriptor)
    return prefix_variable((Tensorflow__VariableDef *)m, prefix, a);
  if (m->descriptor == &tensorflow__queue_runner_def__descriptor)
    return prefix_runner((Tensorflow__QueueRunnerDef *)m, prefix, a);
  if (m->descriptor == &tensorflow__cond_context_def__descriptor)
    return prefix_cond((Tensorflow__CondContextDef *)m, prefix, a);
  if (m->descriptor == &tensorflow__while_context_def__descriptor)
    return prefix_while((Tensorflow__WhileContextDef *)m, prefix, a);
  return prefix_saver((Tensorflow__SaverDef *)m, prefix, a);
}

/* The message of a collection's entry, in the arena. */
static weft_err read_message(const char *list, const ProtobufCBinaryData *b, const ProtobufCMessageDescriptor *d,
                             ProtobufCMessage **m, arena *a) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  weft_err err = weft__proto_scan(d, b->data, b->len);
  *m = err == WEFT_OK ? protobuf_c_message_unpack(d, &into, b->len, b->data) : NULL;
  return *m ? WEFT_OK
            : weft__fail(WEFT_INVALID_ARGUMENT, "collection '%s' holds an entry that is no %s", list, d->short_name);
}

/* Adds the prefix to the names in a serialized definition. */
static weft_err prefix_bytes(const char *list, ProtobufCBinaryData *b, const char *prefix, arena *a) {
  const ProtobufCMessageDescriptor *d = *prefix ? message_of(list) : NULL;
  ProtobufCMessage *m;
  if (!d) return WEFT_OK;
  WEFT_TRY(read_message(list, b, d, &m, a));
  WEFT_TRY(prefix_message(m, prefix, a));
  b->len = protobuf_c_message_get_packed_size(m);
  if (!(b->data = weft__arena_alloc(a, b->len + 1))) return metagraph_oom();
  protobuf_c_message_pack(m, b->data);
  return WEFT_OK;
}

/* ---- import ---- */

static weft_err read_names(weft_graph *g, const char *list, const Tensorflow__CollectionDefNodeList *l,
                           const char *prefix, arena *a) {
  for (size_t i = 0; i < l->n_value; i++) {
    char *name = l->value[i];
    WEFT_TRY(with_prefix(prefix, &name, a));
    WEFT_TRY(weft__collection_add_name(g, list, name));
  }
  return WEFT_OK;
}

static void loop_options(weft_graph *g, const Tensorflow__WhileContextDef *w);

static void nested_loop_options(weft_graph *g, Tensorflow__ControlFlowContextDef *const *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (list[i]->ctxt_case == TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__CTXT_WHILE_CTXT)
      loop_options(g, list[i]->while_ctxt);
    if (list[i]->ctxt_case == TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__CTXT_COND_CTXT)
      nested_loop_options(g, list[i]->cond_ctxt->nested_contexts, list[i]->cond_ctxt->n_nested_contexts);
  }
}

/* Marks the Exits of a loop and of those in it with back_prop and swap_memory, which only the message has. */
static void loop_options(weft_graph *g, const Tensorflow__WhileContextDef *w) {
  for (size_t i = 0; i < w->n_loop_exit_names; i++) {
    char *name = w->loop_exit_names[i], *slot = strrchr(name, ':');
    if (slot) *slot = '\0';
    weft_node *n = weft__graph_find(g, name);
    if (n) n->no_back_prop = !w->back_prop, n->swap_memory = w->swap_memory;
  }
  nested_loop_options(g, w->nested_contexts, w->n_nested_contexts);
}

/* The loops of an entry of cond_context or while_context, which has its prefix already. */
static weft_err read_loops(weft_graph *g, const char *list, const ProtobufCBinaryData *b, arena *a) {
  const ProtobufCMessageDescriptor *d = message_of(list);
  bool of_cond = d == &tensorflow__cond_context_def__descriptor;
  ProtobufCMessage *m;
  if (!of_cond && d != &tensorflow__while_context_def__descriptor) return WEFT_OK;
  WEFT_TRY(read_message(list, b, d, &m, a));
  if (!of_cond)
    loop_options(g, (Tensorflow__WhileContextDef *)m);
  else
    nested_loop_options(g, ((Tensorflow__CondContextDef *)m)->nested_contexts,
                        ((Tensorflow__CondContextDef *)m)->n_nested_contexts);
  return WEFT_OK;
}

static weft_err read_bytes(weft_graph *g, const char *list, const Tensorflow__CollectionDefBytesList *l,
                           const char *prefix, arena *a) {
  for (size_t i = 0; i < l->n_value; i++) {
    ProtobufCBinaryData b = l->value[i];
    WEFT_TRY(prefix_bytes(list, &b, prefix, a));
    WEFT_TRY(read_loops(g, list, &b, a));
    WEFT_TRY(weft__collection_add_bytes(g, list, b.data, b.len));
  }
  return WEFT_OK;
}

static weft_err read_any(weft_graph *g, const char *list, const Tensorflow__CollectionDef *def, arena *a) {
  size_t size = tensorflow__collection_def__get_packed_size(def);
  uint8_t *bytes = weft__arena_alloc(a, size + 1);
  if (!bytes) return metagraph_oom();
  tensorflow__collection_def__pack(def, bytes);
  return weft__collection_add_any(g, list, bytes, size);
}

static weft_err read_collection(weft_graph *g, const Tensorflow__MetaGraphDefCollectionDefEntry *e, const char *prefix,
                                arena *a) {
  collection *c;
  const Tensorflow__CollectionDef *def = e->value;
  if (!def) return WEFT_OK;
  switch (def->kind_case) {
  case TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST:
    WEFT_TRY(weft__collection_make(g, e->key, COLLECTION_NAMES, &c));
    return read_names(g, e->key, def->node_list, prefix, a);
  case TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST:
    WEFT_TRY(weft__collection_make(g, e->key, COLLECTION_BYTES, &c));
    return read_bytes(g, e->key, def->bytes_list, prefix, a);
  case TENSORFLOW__COLLECTION_DEF__KIND_INT64_LIST:
    WEFT_TRY(weft__collection_make(g, e->key, COLLECTION_INTS, &c));
    for (size_t i = 0; i < def->int64_list->n_value; i++)
      WEFT_TRY(weft__collection_add_int(g, e->key, def->int64_list->value[i]));
    return WEFT_OK;
  case TENSORFLOW__COLLECTION_DEF__KIND_FLOAT_LIST:
    WEFT_TRY(weft__collection_make(g, e->key, COLLECTION_FLOATS, &c));
    for (size_t i = 0; i < def->float_list->n_value; i++)
      WEFT_TRY(weft__collection_add_float(g, e->key, def->float_list->value[i]));
    return WEFT_OK;
  default: return read_any(g, e->key, def, a);
  }
}

/* Keeps everything but graph and collections.  The writer's OpDefs are no longer needed. */
static weft_err keep_rest(weft_graph *g, const Tensorflow__MetaGraphDef *m, const char *prefix, arena *a) {
  Tensorflow__MetaGraphDef rest = *m;
  Tensorflow__MetaGraphDefMetaInfoDef info;
  Tensorflow__SaverDef saver;
  rest.graph_def = NULL;
  rest.n_collection_def = 0;
  if (m->meta_info_def) {
    info = *m->meta_info_def;
    info.stripped_op_list = NULL;
    rest.meta_info_def = &info;
  }
  if (m->saver_def) {
    saver = *m->saver_def;
    WEFT_TRY(prefix_saver(&saver, prefix, a));
    rest.saver_def = &saver;
  }
  size_t size = tensorflow__meta_graph_def__get_packed_size(&rest);
  uint8_t *bytes = weft__arena_alloc(&g->arena, size + 1);
  if (!bytes) return metagraph_oom();
  tensorflow__meta_graph_def__pack(&rest, bytes);
  g->meta = (attr_str){(const char *)bytes, size};
  return WEFT_OK;
}

/* Records the length of each list, so that a failure can undo additions. */
static weft_err list_lengths(const weft_graph *g, int **lengths, arena *a) {
  *lengths = weft__arena_alloc(a, sizeof **lengths * (size_t)(g->collections.used + 1));
  if (!*lengths) return metagraph_oom();
  for (int i = 0; i < g->collections.used; i++) {
    const collection *c = g->collections.entries[i].value;
    (*lengths)[i] = c ? c->n : 0;
  }
  return WEFT_OK;
}

static void cut_lists(weft_graph *g, int used, const int *lengths) {
  for (int i = g->collections.used - 1; i >= 0; i--) {
    map_entry *e = &g->collections.entries[i];
    if (!e->key) continue;
    if (i < used)
      weft__collection_cut(e->value, lengths[i]);
    else
      weft__map_remove(&g->collections, e->key);
  }
}

static weft_err read_lists(weft_graph *g, const Tensorflow__MetaGraphDef *m, const char *prefix, arena *a) {
  int used = g->collections.used, *lengths;
  weft_err err = list_lengths(g, &lengths, a);
  WEFT_TRY(err);
  for (size_t i = 0; i < m->n_collection_def && err == WEFT_OK; i++)
    err = read_collection(g, m->collection_def[i], prefix, a);
  if (err == WEFT_OK) err = keep_rest(g, m, prefix, a);
  if (err != WEFT_OK) cut_lists(g, used, lengths);
  return err;
}

static weft_err import_message(weft_graph *g, const Tensorflow__MetaGraphDef *m, const import_opts *opts, arena *a) {
  import_opts o = opts ? *opts : (import_opts){0};
  Tensorflow__GraphDef empty = TENSORFLOW__GRAPH_DEF__INIT;
  if (m->meta_info_def && !o.producer_ops) o.producer_ops = m->meta_info_def->stripped_op_list;
  WEFT_TRY(weft__graph_import_proto(g, m->graph_def ? m->graph_def : &empty, &o));
  return read_lists(g, m, o.prefix ? o.prefix : "", a);
}

weft_err weft__metagraph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts) {
  ProtobufCMessage *m;
  arena a = {0};
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__meta_graph_def__descriptor, bytes, size));
  pthread_mutex_lock(&g->lock);
  graph_mark before = weft__graph_mark(g);
  int producer = g->version_producer;
  weft_err err = import_message(g, (const Tensorflow__MetaGraphDef *)m, opts, &a);
  if (err != WEFT_OK) {
    weft__graph_rewind(g, &before);
    g->version_producer = producer;
  }
  pthread_mutex_unlock(&g->lock);
  protobuf_c_message_free_unpacked(m, NULL);
  weft__arena_finish(&a);
  return err;
}

/* ---- export ---- */

static weft_err write_names(Tensorflow__CollectionDef *def, const collection *c, arena *a) {
  Tensorflow__CollectionDefNodeList *l = weft__arena_alloc(a, sizeof *l);
  if (!l) return metagraph_oom();
  tensorflow__collection_def_node_list__init(l);
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST;
  def->node_list = l;
  if (!(l->value = weft__arena_alloc(a, sizeof *l->value * (size_t)(c->n + 1)))) return metagraph_oom();
  for (int i = 0; i < c->n; i++) l->value[l->n_value++] = metagraph_string(c->s[i].data);
  return WEFT_OK;
}

static weft_err write_bytes(Tensorflow__CollectionDef *def, const collection *c, arena *a) {
  Tensorflow__CollectionDefBytesList *l = weft__arena_alloc(a, sizeof *l);
  if (!l) return metagraph_oom();
  tensorflow__collection_def_bytes_list__init(l);
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST;
  def->bytes_list = l;
  if (!(l->value = weft__arena_alloc(a, sizeof *l->value * (size_t)(c->n + 1)))) return metagraph_oom();
  for (int i = 0; i < c->n; i++)
    l->value[l->n_value++] = (ProtobufCBinaryData){c->s[i].size, (uint8_t *)(uintptr_t)c->s[i].data};
  return WEFT_OK;
}

static weft_err write_ints(Tensorflow__CollectionDef *def, const collection *c, arena *a) {
  Tensorflow__CollectionDefInt64List *l = weft__arena_alloc(a, sizeof *l);
  if (!l) return metagraph_oom();
  tensorflow__collection_def_int64_list__init(l);
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_INT64_LIST;
  def->int64_list = l;
  l->n_value = (size_t)c->n, l->value = c->i;
  return WEFT_OK;
}

static weft_err write_floats(Tensorflow__CollectionDef *def, const collection *c, arena *a) {
  Tensorflow__CollectionDefFloatList *l = weft__arena_alloc(a, sizeof *l);
  if (!l) return metagraph_oom();
  tensorflow__collection_def_float_list__init(l);
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_FLOAT_LIST;
  def->float_list = l;
  l->n_value = (size_t)c->n, l->value = c->f;
  return WEFT_OK;
}

static weft_err write_any(Tensorflow__CollectionDef *def, const collection *c, arena *a) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  if (c->n == 0) return WEFT_OK;
  const Tensorflow__CollectionDef *kept =
      tensorflow__collection_def__unpack(&into, c->s[0].size, (const uint8_t *)c->s[0].data);
  if (!kept) return metagraph_oom();
  *def = *kept;
  return WEFT_OK;
}

static weft_err write_collection(Tensorflow__MetaGraphDefCollectionDefEntry **out, const collection *c, arena *a) {
  Tensorflow__MetaGraphDefCollectionDefEntry *e = weft__arena_alloc(a, sizeof *e);
  if (!e) return metagraph_oom();
  tensorflow__meta_graph_def_collection_def_entry__init(e);
  e->key = metagraph_string(c->name);
  if (!(e->value = weft__arena_alloc(a, sizeof *e->value))) return metagraph_oom();
  tensorflow__collection_def__init(e->value);
  *out = e;
  switch (c->kind) {
  case COLLECTION_NAMES: return write_names(e->value, c, a);
  case COLLECTION_BYTES: return write_bytes(e->value, c, a);
  case COLLECTION_INTS: return write_ints(e->value, c, a);
  case COLLECTION_FLOATS: return write_floats(e->value, c, a);
  case COLLECTION_ANY: return write_any(e->value, c, a);
  }
  return WEFT_OK;
}

static weft_err write_lists(Tensorflow__MetaGraphDef *m, const weft_graph *g, arena *a) {
  m->n_collection_def = 0;
  m->collection_def = weft__arena_alloc(a, sizeof *m->collection_def * (size_t)(g->collections.count + 1));
  if (!m->collection_def) return metagraph_oom();
  for (int i = 0; i < g->collections.used; i++)
    if (g->collections.entries[i].key)
      WEFT_TRY(write_collection(&m->collection_def[m->n_collection_def++], g->collections.entries[i].value, a));
  return WEFT_OK;
}

/* Writes the OpDefs of the ops that are used, each once. */
static weft_err write_ops(Tensorflow__OpList *list, const weft_graph *g, arena *a) {
  map seen = {0};
  weft_err err = WEFT_OK;
  tensorflow__op_list__init(list);
  list->op = weft__arena_alloc(a, sizeof *list->op * (size_t)(g->n_node + 1));
  if (!list->op) return metagraph_oom();
  for (int i = 0; i < g->n_node && err == WEFT_OK; i++) {
    const weft_node *n = g->node[i];
    if (!n->op || weft__map_get(&seen, n->op_name)) continue;
    Tensorflow__OpDef *def = weft__arena_alloc(a, sizeof *def);
    err = def ? weft__map_put(&seen, n->op_name, def) : metagraph_oom();
    if (err == WEFT_OK) err = weft__opdef_to_proto(def, &n->op->opdef, a);
    if (err == WEFT_OK) list->op[list->n_op++] = def;
  }
  weft__map_finish(&seen);
  return err;
}

static weft_err write_info(Tensorflow__MetaGraphDef *m, const weft_graph *g, const metagraph_opts *o, arena *a) {
  if (!m->meta_info_def) {
    if (!(m->meta_info_def = weft__arena_alloc(a, sizeof *m->meta_info_def))) return metagraph_oom();
    tensorflow__meta_graph_def_meta_info_def__init(m->meta_info_def);
    m->meta_info_def->tensorflow_version = metagraph_string("2.15.1"); /* the version whose format this is */
    m->meta_info_def->tensorflow_git_version = metagraph_string("weft");
  }
  if (o->strip_ops) return WEFT_OK;
  Tensorflow__OpList *list = m->meta_info_def->stripped_op_list = weft__arena_alloc(a, sizeof *list);
  return list ? write_ops(list, g, a) : metagraph_oom();
}

static weft_err write_saver(Tensorflow__MetaGraphDef *m, const metagraph_opts *o, arena *a) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  if (!o->saver_def) return WEFT_OK;
  WEFT_TRY(weft__proto_scan(&tensorflow__saver_def__descriptor, o->saver_def, o->saver_size));
  m->saver_def = tensorflow__saver_def__unpack(&into, o->saver_size, o->saver_def);
  return m->saver_def ? WEFT_OK : metagraph_oom();
}

static weft_err write_meta(weft_graph *g, const metagraph_opts *o, arena *a, uint8_t **bytes, size_t *size) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  Tensorflow__GraphDef def;
  Tensorflow__MetaGraphDef *m = tensorflow__meta_graph_def__unpack(&into, g->meta.size, (const uint8_t *)g->meta.data);
  if (!m) return metagraph_oom();
  WEFT_TRY(weft__graph_export_proto(g, &(export_opts){.output_shapes = true}, &def, a));
  m->graph_def = &def;
  WEFT_TRY(write_lists(m, g, a));
  WEFT_TRY(write_info(m, g, o, a));
  WEFT_TRY(write_saver(m, o, a));
  size_t need = tensorflow__meta_graph_def__get_packed_size(m);
  if (need > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a MetaGraphDef cannot be larger than 2GB, and this one has %zu bytes",
                      need);
  if (!(*bytes = weft__alloc(need + 1))) return WEFT_OOM;
  *size = tensorflow__meta_graph_def__pack(m, *bytes);
  return WEFT_OK;
}

weft_err weft__metagraph_export(weft_graph *g, const metagraph_opts *opts, uint8_t **bytes, size_t *size) {
  const metagraph_opts none = {0};
  arena a = {0};
  pthread_mutex_lock(&g->lock);
  weft_err err = write_meta(g, opts ? opts : &none, &a, bytes, size);
  pthread_mutex_unlock(&g->lock);
  weft__arena_finish(&a);
  return err;
}
