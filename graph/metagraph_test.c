/* metagraph_test.c - tests that import and export keep the parts of a MetaGraphDef besides its graph. */
#include "graph/metagraph.h"
#include "base/alloc.h"
#include "graph/collection.h"
#include "graph/test_ops.h"

static Tensorflow__MetaGraphDef *export_and_unpack(weft_graph *g, const metagraph_opts *o) {
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__metagraph_export(g, o, &bytes, &size));
  Tensorflow__MetaGraphDef *m = tensorflow__meta_graph_def__unpack(NULL, size, bytes);
  EXPECT(m != NULL);
  weft__free(bytes);
  return m;
}

/* Makes a graph with one list of each kind. */
static weft_graph *filled(void) {
  weft_graph *g = test_graph();
  Tensorflow__VariableDef v = TENSORFLOW__VARIABLE_DEF__INIT;
  uint8_t bytes[64];
  test_variable(g, "w", 2);
  v.variable_name = (char[]){"w:0"};
  v.initializer_name = (char[]){"w/Assign"};
  size_t size = tensorflow__variable_def__pack(&v, bytes);
  EXPECT_OK(weft__collection_add_bytes(g, "variables", bytes, size));
  EXPECT_OK(weft__collection_add_name(g, "losses", "w:0"));
  EXPECT_OK(weft__collection_add_name(g, "losses", "w"));
  EXPECT_OK(weft__collection_add_int(g, "steps", -5));
  EXPECT_OK(weft__collection_add_float(g, "rates", 0.5f));
  collection *empty;
  EXPECT_OK(weft__collection_make(g, "empty", COLLECTION_NAMES, &empty));
  return g;
}

TEST(a_collection_holds_one_kind) {
  weft_graph *g = filled();
  EXPECT_ERR(weft__collection_add_int(g, "losses", 1), WEFT_INVALID_ARGUMENT, "'losses' holds names, not integers");
  for (int i = 0; i < 100; i++) EXPECT_OK(weft__collection_add_int(g, "steps", i));
  EXPECT_EQ_INT(weft__collection_get(g, "steps")->n, 101);
  EXPECT_EQ_INT(weft__collection_get(g, "steps")->i[100], 99);
  weft__collection_clear(g, "steps");
  EXPECT(weft__collection_get(g, "steps") == NULL);
  test_graph_destroy(g);
}

/* Adds an entry of while_context whose loop is nested in another, with back_prop and swap_memory of the nested one. */
static void add_loops(weft_graph *g, bool back_prop, bool swap_memory) {
  Tensorflow__WhileContextDef inner = TENSORFLOW__WHILE_CONTEXT_DEF__INIT, outer = inner;
  Tensorflow__ControlFlowContextDef nested = TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__INIT, *list = &nested;
  Tensorflow__ValuesDefExternalValuesEntry entry = TENSORFLOW__VALUES_DEF_EXTERNAL_VALUES_ENTRY__INIT,
                                           *entries = &entry;
  Tensorflow__ValuesDef values = TENSORFLOW__VALUES_DEF__INIT;
  char exit_name[] = "w:0", *exits = exit_name;
  uint8_t bytes[256];
  entry.key = (char[]){"w:0"}, entry.value = (char[]){"w:1"};
  values.n_external_values = 1, values.external_values = &entries;
  values.n_values = 1, values.values = &exits;
  inner.context_name = (char[]){"inner"};
  inner.back_prop = back_prop, inner.swap_memory = swap_memory;
  inner.n_loop_exit_names = 1, inner.loop_exit_names = &exits;
  inner.values_def = &values;
  nested.ctxt_case = TENSORFLOW__CONTROL_FLOW_CONTEXT_DEF__CTXT_WHILE_CTXT, nested.while_ctxt = &inner;
  outer.context_name = (char[]){"outer"};
  outer.n_nested_contexts = 1, outer.nested_contexts = &list;
  EXPECT(tensorflow__while_context_def__get_packed_size(&outer) <= sizeof bytes);
  size_t size = tensorflow__while_context_def__pack(&outer, bytes);
  EXPECT_OK(weft__collection_add_bytes(g, "while_context", bytes, size));
}

TEST(loops_get_the_prefix_and_their_options_back) {
  weft_graph *g = filled(), *back = test_graph();
  uint8_t *bytes;
  size_t size;
  add_loops(g, false, true);
  EXPECT_OK(weft__metagraph_export(g, NULL, &bytes, &size));
  EXPECT_OK(weft__metagraph_import(back, bytes, size, &(import_opts){.prefix = "p"}));
  const weft_node *w = weft__graph_find(back, "p/w");
  EXPECT(w->no_back_prop && w->swap_memory);
  const collection *c = weft__collection_get(back, "while_context");
  Tensorflow__WhileContextDef *m =
      tensorflow__while_context_def__unpack(NULL, c->s[0].size, (const uint8_t *)c->s[0].data);
  const Tensorflow__WhileContextDef *inner = m->nested_contexts[0]->while_ctxt;
  EXPECT_EQ_STR(m->context_name, "p/outer");
  EXPECT_EQ_STR(inner->context_name, "p/inner");
  EXPECT_EQ_STR(inner->loop_exit_names[0], "p/w:0");
  EXPECT_EQ_STR(inner->values_def->values[0], "p/w:0");
  EXPECT_EQ_STR(inner->values_def->external_values[0]->key, "p/w:0");
  EXPECT_EQ_STR(inner->values_def->external_values[0]->value, "p/w:1");
  tensorflow__while_context_def__free_unpacked(m, NULL);
  weft__free(bytes);
  test_graph_destroy(g);
  test_graph_destroy(back);
}

TEST(an_entry_that_is_no_context_is_refused) {
  weft_graph *g = filled(), *back = test_graph();
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__collection_add_bytes(g, "cond_context", "\xff\xff", 2));
  EXPECT_OK(weft__metagraph_export(g, NULL, &bytes, &size));
  EXPECT_ERR(weft__metagraph_import(back, bytes, size, NULL), WEFT_INVALID_ARGUMENT,
             "collection 'cond_context' holds an entry that is no CondContextDef");
  EXPECT_EQ_INT(back->n_node, 0);
  weft__free(bytes);
  test_graph_destroy(g);
  test_graph_destroy(back);
}

TEST(collections_come_back_as_they_went) {
  weft_graph *g = filled(), *back = test_graph();
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__metagraph_export(g, NULL, &bytes, &size));
  EXPECT_OK(weft__metagraph_import(back, bytes, size, NULL));
  EXPECT_EQ_INT(back->n_node, 1);
  const collection *c = weft__collection_get(back, "losses");
  EXPECT_EQ_INT(c->n, 2);
  EXPECT_EQ_STR(c->s[1].data, "w");
  EXPECT_EQ_INT(weft__collection_get(back, "steps")->i[0], -5);
  EXPECT_NEAR(weft__collection_get(back, "rates")->f[0], 0.5, 0);
  EXPECT_EQ_INT(weft__collection_get(back, "empty")->n, 0);
  EXPECT_EQ_INT(weft__collection_get(back, "variables")->n, 1);
  weft__free(bytes);
  test_graph_destroy(g);
  test_graph_destroy(back);
}

TEST(a_prefix_reaches_the_names_inside_lists_and_definitions) {
  weft_graph *g = filled(), *back = test_graph();
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__metagraph_export(g, NULL, &bytes, &size));
  EXPECT_OK(weft__metagraph_import(back, bytes, size, &(import_opts){.prefix = "p"}));
  EXPECT_EQ_STR(weft__collection_get(back, "losses")->s[0].data, "p/w:0");
  const attr_str *b = &weft__collection_get(back, "variables")->s[0];
  Tensorflow__VariableDef *v = tensorflow__variable_def__unpack(NULL, b->size, (const uint8_t *)b->data);
  EXPECT_EQ_STR(v->variable_name, "p/w:0");
  EXPECT_EQ_STR(v->initializer_name, "p/w/Assign");
  EXPECT_EQ_STR(v->snapshot_name, "");
  tensorflow__variable_def__free_unpacked(v, NULL);
  weft__free(bytes);
  test_graph_destroy(g);
  test_graph_destroy(back);
}

TEST(the_rest_is_kept_and_ops_are_described) {
  weft_graph *g = filled();
  Tensorflow__MetaGraphDef *m = export_and_unpack(g, NULL);
  EXPECT_EQ_INT(m->meta_info_def->stripped_op_list->n_op, 1);
  const Tensorflow__OpDef *d = m->meta_info_def->stripped_op_list->op[0];
  EXPECT_EQ_STR(d->name, "VariableV2");
  EXPECT(d->is_stateful && d->output_arg[0]->is_ref);
  EXPECT_EQ_STR(d->output_arg[0]->type_attr, "dtype");
  EXPECT_EQ_STR(d->attr[0]->type, "shape");
  Tensorflow__SaverDef s = TENSORFLOW__SAVER_DEF__INIT;
  Tensorflow__MetaGraphDefMetaInfoDef info = TENSORFLOW__META_GRAPH_DEF_META_INFO_DEF__INIT;
  char *tag = (char[]){"serve"};
  s.restore_op_name = (char[]){"save/restore_all"};
  info.n_tags = 1, info.tags = &tag;
  tensorflow__meta_graph_def__free_unpacked(m, NULL);
  Tensorflow__MetaGraphDef in = TENSORFLOW__META_GRAPH_DEF__INIT;
  in.saver_def = &s, in.meta_info_def = &info;
  uint8_t bytes[128];
  size_t size = tensorflow__meta_graph_def__pack(&in, bytes);
  EXPECT_OK(weft__metagraph_import(g, bytes, size, NULL));
  m = export_and_unpack(g, &(metagraph_opts){.strip_ops = true});
  EXPECT_EQ_STR(m->saver_def->restore_op_name, "save/restore_all");
  EXPECT_EQ_STR(m->meta_info_def->tags[0], "serve");
  EXPECT(m->meta_info_def->stripped_op_list == NULL);
  EXPECT_EQ_INT(m->graph_def->n_node, 1);
  tensorflow__meta_graph_def__free_unpacked(m, NULL);
  test_graph_destroy(g);
}

TEST(a_failed_import_leaves_graph_and_lists_alone) {
  weft_graph *g = filled(), *other = test_graph();
  test_no_op(other, "n");
  EXPECT_OK(weft__collection_add_name(other, "losses", "n"));
  EXPECT_OK(weft__collection_add_name(other, "fresh", "n"));
  EXPECT_OK(weft__collection_add_int(other, "rates", 7)); /* g has floats there */
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__metagraph_export(other, NULL, &bytes, &size));
  EXPECT_ERR(weft__metagraph_import(g, bytes, size, NULL), WEFT_INVALID_ARGUMENT, "'rates'");
  EXPECT_EQ_INT(g->n_node, 1);
  EXPECT_EQ_INT(weft__collection_get(g, "losses")->n, 2);
  EXPECT(weft__collection_get(g, "fresh") == NULL);
  weft__free(bytes);
  test_graph_destroy(g);
  test_graph_destroy(other);
}

TEST(bytes_that_are_no_metagraph_are_refused) {
  weft_graph *g = test_graph();
  EXPECT_ERR(weft__metagraph_import(g, "\x0a\xff\xff", 3, NULL), WEFT_INVALID_ARGUMENT, "");
  test_graph_destroy(g);
}
