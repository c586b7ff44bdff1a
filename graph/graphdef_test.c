/* graphdef_test.c - tests import and export; where TensorFlow has an error message, ours must be the same. */
#include "graph/graphdef.h"
#include "base/alloc.h"
#include "graph/attr_proto.h"
#include "graph/scope.h"
#include "graph/test_ops.h"
#include "tensor/tensor_proto.h"
#include <stdlib.h>

/* A GraphDef under construction. */
typedef struct draft {
  arena a;
  Tensorflow__GraphDef def;
} draft;

static void *take(draft *d, size_t size) {
  void *p = weft__arena_alloc(&d->a, size);
  EXPECT(p != NULL);
  return p;
}

static draft *draft_new(void) {
  draft *d = calloc(1, sizeof *d);
  EXPECT(d != NULL);
  tensorflow__graph_def__init(&d->def);
  d->def.node = take(d, 64 * sizeof *d->def.node);
  return d;
}

static void draft_free(draft *d) {
  weft__arena_finish(&d->a);
  free(d);
}

static Tensorflow__AttrValue *draft_attr(draft *d, Tensorflow__NodeDef *n, const char *key) {
  Tensorflow__NodeDefAttrEntry *e = take(d, sizeof *e);
  tensorflow__node_def_attr_entry__init(e);
  e->key = weft__arena_strdup(&d->a, key);
  e->value = take(d, sizeof *e->value);
  tensorflow__attr_value__init(e->value);
  n->attr[n->n_attr++] = e;
  return e->value;
}

/* inputs: "a b:1 ^c"; a type attribute T is added when type is not 0. */
static Tensorflow__NodeDef *draft_node(draft *d, const char *name, const char *type, const char *inputs, int T) {
  Tensorflow__NodeDef *n = take(d, sizeof *n);
  tensorflow__node_def__init(n);
  d->def.node[d->def.n_node++] = n;
  n->name = weft__arena_strdup(&d->a, name);
  n->op = weft__arena_strdup(&d->a, type);
  n->input = take(d, 16 * sizeof *n->input);
  n->attr = take(d, 16 * sizeof *n->attr);
  char *copy = weft__arena_strdup(&d->a, inputs), *save = NULL;
  for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) n->input[n->n_input++] = s;
  if (T) {
    Tensorflow__AttrValue *v = draft_attr(d, n, "T");
    v->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
    v->type = T;
  }
  return n;
}

static Tensorflow__NodeDef *draft_const(draft *d, const char *name, float value) {
  Tensorflow__NodeDef *n = draft_node(d, name, "Const", "", 0);
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, value));
  EXPECT_OK(weft__attr_to_proto(draft_attr(d, n, "value"), &A_TENSOR("value", t), &d->a));
  EXPECT_OK(weft__attr_to_proto(draft_attr(d, n, "dtype"), &A_TYPE("dtype", WEFT_FLOAT), &d->a));
  /* tensor_content points into t: copy it. */
  ProtobufCBinaryData *content = &n->attr[0]->value->tensor->tensor_content;
  content->data = weft__arena_copy(&d->a, content->data, content->len);
  weft_tensor_destroy(t);
  return n;
}

static void put_attr(draft *d, Tensorflow__NodeDef *n, const attr *a) {
  EXPECT_OK(weft__attr_to_proto(draft_attr(d, n, a->name), a, &d->a));
}

/* Imports it as bytes, as from a file. */
static weft_err import(weft_graph *g, draft *d, const import_opts *o) {
  size_t size = tensorflow__graph_def__get_packed_size(&d->def);
  uint8_t *bytes = malloc(size + 1);
  EXPECT(bytes != NULL);
  tensorflow__graph_def__pack(&d->def, bytes);
  weft_err err = weft__graph_import(g, bytes, size, o);
  free(bytes);
  draft_free(d);
  return err;
}

static void expect_refused(draft *d, const char *message) {
  weft_graph *g = test_graph();
  test_no_op(g, "there_before");
  int generation = g->generation;
  EXPECT_ERR(import(g, d, NULL), WEFT_INVALID_ARGUMENT, message);
  EXPECT_EQ_INT(g->n_node, 1);
  EXPECT_EQ_INT(g->generation, generation);
  EXPECT(weft__graph_find(g, "a") == NULL);
  EXPECT_EQ_STR(test_no_op(g, "a")->name, "a"); /* its name is not taken any more */
  test_graph_destroy(g);
}

TEST(nodes_may_come_in_any_order) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_node(d, "c", "AddV2", "b a", WEFT_FLOAT);
  draft_node(d, "b", "Identity", "a ^n", WEFT_FLOAT);
  draft_const(d, "a", 1);
  draft_node(d, "n", "NoOp", "", 0);
  EXPECT_OK(import(g, d, NULL));
  EXPECT_EQ_INT(g->n_node, 4);
  const weft_node *c = weft__graph_find(g, "c"), *b = weft__graph_find(g, "b");
  EXPECT_EQ_INT(c->in[0].node, b->id);
  EXPECT_EQ_INT(b->n_control, 1);
  EXPECT_EQ_INT(c->out_shape[0].rank, 0);
  test_graph_destroy(g);
}

TEST(a_sorted_graph_keeps_its_order) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  const char *const names[] = {"z", "b", "y", "a"};
  for (int i = 0; i < 4; i++) draft_const(d, names[i], 1);
  draft_node(d, "c", "AddV2", "y b", WEFT_FLOAT);
  draft_node(d, "x", "NoOp", "", 0);
  EXPECT_OK(import(g, d, NULL));
  for (int i = 0; i < 4; i++) EXPECT_EQ_STR(g->node[i]->name, names[i]);
  EXPECT_EQ_STR(g->node[5]->name, "x");
  test_graph_destroy(g);
}

TEST(bad_graphs_are_refused_whole_with_tensorflows_words) {
  draft *d = draft_new();
  draft_const(d, "a", 1), draft_const(d, "a", 1);
  expect_refused(d, "Node 'a' is not unique");
  d = draft_new();
  draft_const(d, "a", 1), draft_const(d, "_b", 1);
  expect_refused(d, "Node '_b': Node name contains invalid characters");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "", "", 0);
  expect_refused(d, "Node 'b' does not specify an operation");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "zz", WEFT_FLOAT);
  expect_refused(d, "Node 'b': Unknown input node 'zz'");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "a:x", WEFT_FLOAT);
  expect_refused(d, "Node 'b': Unknown input node 'a:x'");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "a:1", WEFT_FLOAT);
  expect_refused(d, "Node 'b': Connecting to invalid output 1 of source node a which has 1 outputs.");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "^a a", WEFT_FLOAT);
  expect_refused(d, "Node 'b': Control dependencies must come after regular dependencies");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "c", WEFT_FLOAT),
      draft_node(d, "c", "Identity", "b", WEFT_FLOAT);
  expect_refused(d, "2 nodes in a cycle");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "NoOp", "^b", 0);
  expect_refused(d, "1 nodes in a cycle");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "Identity", "a", WEFT_INT32);
  expect_refused(d, "was passed float from a:0 incompatible with expected int32");
  d = draft_new();
  draft_const(d, "a", 1), draft_node(d, "b", "NoOp", "", 0)->device = (char[]){"garbage"};
  expect_refused(d, "garbage");
}

TEST(versions_are_checked_and_kept) {
  weft_graph *g = test_graph();
  Tensorflow__VersionDef v = TENSORFLOW__VERSION_DEF__INIT;
  v.producer = 20000, v.min_consumer = 10000;
  draft *d = draft_new();
  d->def.versions = &v;
  EXPECT_ERR(import(g, d, NULL), WEFT_INVALID_ARGUMENT, "GraphDef min consumer version 10000 above current version");
  v.producer = -1, v.min_consumer = 0;
  d = draft_new();
  d->def.versions = &v;
  EXPECT_ERR(import(g, d, NULL), WEFT_INVALID_ARGUMENT, "GraphDef producer version -1 below min producer 0");
  EXPECT_EQ_INT(g->version_producer, WEFT_GRAPH_VERSION);
  v.producer = 24;
  d = draft_new();
  d->def.versions = &v;
  EXPECT_OK(import(g, d, NULL));
  EXPECT_EQ_INT(g->version_producer, 24);
  test_graph_destroy(g);
}

TEST(an_old_placeholder_without_a_shape_is_not_a_scalar) {
  weft_graph *g = test_graph();
  Tensorflow__VersionDef v = TENSORFLOW__VERSION_DEF__INIT;
  shape scalar = SHAPE_SCALAR;
  for (v.producer = 21; v.producer <= 22; v.producer++) {
    draft *d = draft_new();
    d->def.versions = &v;
    Tensorflow__NodeDef *p = draft_node(d, v.producer == 21 ? "old" : "new", "Placeholder", "", 0);
    put_attr(d, p, &A_TYPE("dtype", WEFT_FLOAT));
    put_attr(d, p, &A_SHAPE("shape", &scalar));
    EXPECT_OK(import(g, d, NULL));
  }
  EXPECT_EQ_INT(weft__graph_find(g, "old")->out_shape[0].rank, -1);
  EXPECT_EQ_INT(weft__graph_find(g, "new")->out_shape[0].rank, 0);
  test_graph_destroy(g);
}

static draft *prefix_draft(void) {
  draft *d = draft_new();
  draft_const(d, "a", 1);
  Tensorflow__NodeDef *b = draft_node(d, "b", "Identity", "a", WEFT_FLOAT);
  attr_str groups[] = {{"loc:@a", 6}, {"other", 5}};
  put_attr(d, b, &A_STRS("_class", groups, 2));
  return d;
}

TEST(a_prefix_reaches_names_inputs_and_colocation) {
  weft_graph *g = test_graph();
  EXPECT_ERR(import(g, prefix_draft(), &(import_opts){.prefix = "a b"}), WEFT_INVALID_ARGUMENT,
             "prefix 'a b/' would lead to invalid node names");
  EXPECT_OK(import(g, prefix_draft(), &(import_opts){.prefix = "p"}));
  const attr *class = weft__node_attr(weft__graph_find(g, "p/b"), "_class");
  EXPECT_EQ_STR(class->ss[0].data, "loc:@p/a");
  EXPECT_EQ_STR(class->ss[1].data, "other");
  EXPECT_ERR(import(g, prefix_draft(), &(import_opts){.prefix = "p"}), WEFT_INVALID_ARGUMENT,
             "Node name 'p/a' already exists in the Graph");
  EXPECT_OK(import(g, prefix_draft(), &(import_opts){.prefix = "p", .unique = true}));
  const weft_node *b = weft__graph_find(g, "p/b_1");
  EXPECT_EQ_STR(g->node[b->in[0].node]->name, "p/a_1");
  EXPECT_EQ_STR(weft__node_attr(b, "_class")->ss[0].data, "loc:@p/a_1");
  draft *d = prefix_draft();
  attr_str group = {"loc:@zzz", 8};
  put_attr(d, draft_node(d, "c", "NoOp", "", 0), &A_STRS("_class", &group, 1));
  EXPECT_ERR(import(g, d, &(import_opts){.prefix = "q"}), WEFT_INVALID_ARGUMENT,
             "Node 'c' expects to be colocated with unknown node 'zzz'");
  test_graph_destroy(g);
}

TEST(inputs_are_mapped_and_elements_returned) {
  weft_graph *g = test_graph();
  weft_out ext = {test_const(g, "ext", 5)->id, 0}, got[3];
  import_map swap = {"a:0", ext};
  EXPECT_OK(import(
      g, prefix_draft(),
      &(import_opts){
          .n_map = 1, .map = &swap, .n_return = 3, .returns = (const char *[]){"b:0", "a:0", "b"}, .returned = got}));
  int b = weft__graph_find(g, "b")->id;
  EXPECT_EQ_INT(g->node[b]->in[0].node, ext.node);
  EXPECT_EQ_INT(got[0].node, b);
  EXPECT_EQ_INT(got[1].node, ext.node);
  EXPECT_EQ_INT(got[2].node, b);
  swap.name = "q";
  EXPECT_ERR(import(g, prefix_draft(), &(import_opts){.prefix = "p", .n_map = 1, .map = &swap}), WEFT_INVALID_ARGUMENT,
             "Attempted to map inputs that were not found in graph_def: [q]");
  const char *const wanted[][2] = {{"q", "Requested return node 'q' not found"},
                                   {"q:0", "Requested return tensor 'q:0' not found"},
                                   {"a:1", "Invalid return output 1 of node 'a', which has 1 output(s)"}};
  for (int i = 0; i < 3; i++)
    EXPECT_ERR(
        import(g, prefix_draft(), &(import_opts){.prefix = "p", .n_return = 1, .returns = wanted[i], .returned = got}),
        WEFT_INVALID_ARGUMENT, wanted[i][1]);
  EXPECT_EQ_INT(g->n_node, 3);
  test_graph_destroy(g);
}

TEST(scopes_reach_imported_nodes) {
  weft_graph *g = test_graph();
  int a = test_no_op(g, "wait")->id;
  EXPECT_OK(weft__scope_push_device(g, "/job:x"));
  EXPECT_OK(weft__scope_push_control(g, 1, &a));
  draft *d = prefix_draft();
  draft_node(d, "n", "NoOp", "", 0)->device = (char[]){"/cpu:0"};
  EXPECT_OK(import(g, d, NULL));
  EXPECT_EQ_STR(weft__graph_find(g, "n")->device, "/job:x/device:CPU:0");
  EXPECT_EQ_STR(weft__graph_find(g, "a")->device, "/job:x");
  EXPECT_EQ_INT(weft__graph_find(g, "b")->n_control, 1); /* although its input already waits, as in TF */
  test_graph_destroy(g);
}

static void draft_loop(draft *d) {
  Tensorflow__NodeDef *n;
  draft_node(d, "m", "Merge", "e next", WEFT_FLOAT);
  put_attr(d, d->def.node[d->def.n_node - 1], &A_INT("N", 2));
  draft_const(d, "x", 1);
  n = draft_node(d, "e", "Enter", "x", WEFT_FLOAT);
  put_attr(d, n, &A_STR("frame_name", "f"));
  draft_const(d, "limit", 10);
  n = draft_node(d, "le", "Enter", "limit", WEFT_FLOAT);
  put_attr(d, n, &A_STR("frame_name", "f"));
  draft_node(d, "less", "Less", "m le", WEFT_FLOAT);
  draft_node(d, "cond", "LoopCond", "less", 0);
  draft_node(d, "s", "Switch", "m cond", WEFT_FLOAT);
  draft_node(d, "add", "AddV2", "s:1 s:1", WEFT_FLOAT);
  draft_node(d, "next", "NextIteration", "add", WEFT_FLOAT);
  draft_node(d, "out", "Exit", "s", WEFT_FLOAT);
}

TEST(a_loop_is_closed_and_its_shapes_stay_open) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_loop(d);
  EXPECT_OK(import(g, d, NULL));
  const weft_node *m = weft__graph_find(g, "m");
  EXPECT_EQ_INT(m->in[0].node, weft__graph_find(g, "e")->id);
  EXPECT_EQ_INT(m->in[1].node, weft__graph_find(g, "next")->id);
  EXPECT_EQ_INT(m->out_shape[0].rank, -1);
  EXPECT_EQ_INT(weft__graph_find(g, "e")->out_shape[0].rank, 0);
  test_graph_destroy(g);
}

static void expect_same_nodes(const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b) {
  EXPECT_EQ_INT(a->n_node, b->n_node);
  for (size_t i = 0; i < a->n_node; i++) {
    const Tensorflow__NodeDef *x = a->node[i], *y = NULL;
    for (size_t j = 0; j < b->n_node && !y; j++) y = strcmp(b->node[j]->name, x->name) == 0 ? b->node[j] : NULL;
    EXPECT(y != NULL);
    EXPECT_EQ_STR(x->op, y->op);
    EXPECT_EQ_STR(x->device, y->device);
    EXPECT_EQ_INT(x->n_input, y->n_input);
    for (size_t j = 0; j < x->n_input; j++) EXPECT_EQ_STR(x->input[j], y->input[j]);
    EXPECT_EQ_INT(x->n_attr, y->n_attr);
  }
}

/* Exports g, imports the result into a new graph, and exports again. */
static void expect_round_trip(weft_graph *g) {
  uint8_t *bytes[2];
  size_t size[2];
  weft_graph *again = test_graph();
  Tensorflow__GraphDef *def[2];
  EXPECT_OK(weft__graph_export(g, NULL, &bytes[0], &size[0]));
  EXPECT_OK(weft__graph_import(again, bytes[0], size[0], NULL));
  EXPECT_OK(weft__graph_export(again, NULL, &bytes[1], &size[1]));
  for (int i = 0; i < 2; i++) def[i] = tensorflow__graph_def__unpack(NULL, size[i], bytes[i]);
  expect_same_nodes(def[0], def[1]);
  EXPECT_EQ_INT(def[0]->versions->producer, def[1]->versions->producer);
  for (int i = 0; i < 2; i++) {
    tensorflow__graph_def__free_unpacked(def[i], NULL);
    weft__free(bytes[i]);
  }
  test_graph_destroy(again);
}

TEST(what_is_exported_imports_to_the_same_nodes) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_loop(d);
  draft_node(d, "two", "Two", "", 0);
  draft_node(d, "i", "Identity", "two:1 ^out ^x", WEFT_INT32)->device = (char[]){"/job:ps/task:1"};
  EXPECT_OK(import(g, d, NULL));
  expect_round_trip(g);
  test_graph_destroy(g);
}

TEST(an_export_may_begin_at_a_later_node_and_show_shapes) {
  weft_graph *g = test_graph();
  test_const(g, "a", 1);
  test_const(g, "b", 1);
  arena a = {0};
  Tensorflow__GraphDef def;
  EXPECT_OK(weft__graph_export_proto(g, &(export_opts){.first = 1, .output_shapes = true}, &def, &a));
  EXPECT_EQ_INT(def.n_node, 1);
  EXPECT_EQ_STR(def.node[0]->name, "b");
  EXPECT_EQ_STR(def.node[0]->attr[def.node[0]->n_attr - 1]->key, "_output_shapes");
  weft__arena_finish(&a);
  test_graph_destroy(g);
}

TEST(zero_values_are_written) {
  weft_graph *g = test_graph();
  weft_node *v = test_variable(g, "v", 0);
  test_node(g, "Assign", "as", 2, (weft_out[]){{v->id, 0}, {test_const(g, "c", 0)->id, 0}}, 1,
            &A_BOOL("use_locking", false));
  uint8_t *bytes;
  size_t size;
  EXPECT_OK(weft__graph_export(g, NULL, &bytes, &size));
  Tensorflow__GraphDef *def = tensorflow__graph_def__unpack(NULL, size, bytes);
  const Tensorflow__NodeDef *n = def->node[def->n_node - 1];
  bool found = false;
  for (size_t i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i]->key, "use_locking") == 0)
      found = n->attr[i]->value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_B && !n->attr[i]->value->b;
  EXPECT(found);
  tensorflow__graph_def__free_unpacked(def, NULL);
  weft__free(bytes);
  test_graph_destroy(g);
}

/* Adds a node of an unknown op, with a function attribute and an unknown field. */
static void draft_mystery(draft *d) {
  static const uint8_t future[] = {3, 'a', 'b', 'c'}; /* length-prefixed */
  Tensorflow__NodeDef *m = draft_node(d, "mystery", "Mystery", "a", 0);
  Tensorflow__AttrValue *f = draft_attr(d, m, "f");
  f->value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  f->func = take(d, sizeof *f->func);
  tensorflow__name_attr_list__init(f->func);
  f->func->name = weft__arena_strdup(&d->a, "body");
  m->base.n_unknown_fields = 1;
  m->base.unknown_fields = take(d, sizeof *m->base.unknown_fields);
  m->base.unknown_fields[0] = (ProtobufCMessageUnknownField){.tag = 77,
                                                             .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
                                                             .len = sizeof future,
                                                             .data = (uint8_t *)(uintptr_t)future};
  draft_node(d, "i", "Identity", "mystery:3", WEFT_FLOAT);
}

TEST(an_unknown_op_is_exported_unchanged) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_const(d, "a", 1);
  draft_mystery(d);
  EXPECT_OK(import(g, d, NULL));
  const weft_node *m = weft__graph_find(g, "mystery");
  EXPECT(m->op == NULL);
  EXPECT_EQ_INT(m->n_out, 4);
  expect_round_trip(g);
  arena a = {0};
  Tensorflow__GraphDef def;
  EXPECT_OK(weft__graph_export_proto(g, NULL, &def, &a));
  EXPECT_EQ_INT(def.node[1]->base.n_unknown_fields, 1);
  EXPECT_EQ_INT(def.node[1]->base.unknown_fields[0].tag, 77);
  EXPECT_EQ_MEM(def.node[1]->base.unknown_fields[0].data, "\3abc", 4);
  EXPECT_EQ_STR(def.node[1]->attr[0]->value->func->name, "body");
  weft__arena_finish(&a);
  test_graph_destroy(g);
}

static draft *function_draft(const char *function, const char *body) {
  draft *d = draft_new();
  Tensorflow__FunctionDefLibrary *l = d->def.library = take(d, sizeof *l);
  tensorflow__function_def_library__init(l);
  l->function = take(d, sizeof *l->function);
  l->n_function = 1;
  Tensorflow__FunctionDef *f = l->function[0] = take(d, sizeof *f);
  tensorflow__function_def__init(f);
  f->signature = take(d, sizeof *f->signature);
  tensorflow__op_def__init(f->signature);
  f->signature->name = weft__arena_strdup(&d->a, function);
  f->signature->summary = weft__arena_strdup(&d->a, body);
  return d;
}

TEST(a_value_that_the_graph_cannot_read_is_refused) {
  draft *d = draft_new();
  Tensorflow__AttrValue *dtype = draft_attr(d, draft_node(d, "a", "Placeholder", "", 0), "dtype");
  dtype->value_case = TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER;
  dtype->placeholder = weft__arena_strdup(&d->a, "T");
  expect_refused(d, "AttrValue of 'dtype' has a value of another kind than the op Placeholder defines");
  d = draft_new();
  draft_const(d, "c", 1);
  Tensorflow__AttrValue *types = draft_attr(d, draft_node(d, "a", "IdentityN", "c c c c c c c c", 0), "T");
  types->value_case = TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER; /* its bytes are no list of eight types */
  types->placeholder = weft__arena_strdup(&d->a, "T");
  expect_refused(d, "AttrValue of 'T' has a value of another kind than the op IdentityN defines");
}

TEST(function_libraries_are_joined) {
  weft_graph *g = test_graph();
  EXPECT_OK(import(g, function_draft("f", "x"), NULL));
  EXPECT_OK(import(g, function_draft("f", "x"), NULL));
  EXPECT_OK(import(g, function_draft("g", "y"), NULL));
  EXPECT_ERR(import(g, function_draft("g", "z"), NULL), WEFT_INVALID_ARGUMENT,
             "Cannot add function 'g' because a different function with the same name already exists.");
  arena a = {0};
  Tensorflow__GraphDef def;
  EXPECT_OK(weft__graph_export_proto(g, NULL, &def, &a));
  EXPECT_EQ_INT(def.library->n_function, 2);
  weft__arena_finish(&a);
  test_graph_destroy(g);
}

TEST(shapes_the_writer_knew_are_used_and_contradictions_refused) {
  for (int size = 3; size <= 4; size++) {
    weft_graph *g = test_graph();
    shape known = SHAPE1(size), said = SHAPE1(3), vague = SHAPE_UNKNOWN;
    draft *d = draft_new();
    Tensorflow__NodeDef *p = draft_node(d, "p", "Placeholder", "", 0);
    put_attr(d, p, &A_TYPE("dtype", WEFT_FLOAT));
    put_attr(d, p, &A_SHAPE("shape", size == 3 ? &vague : &known));
    put_attr(d, p, &A_SHAPES("_output_shapes", &said, 1));
    if (size == 3) {
      EXPECT_OK(import(g, d, NULL));
      EXPECT_EQ_INT(g->node[0]->out_shape[0].dim[0], 3);
      EXPECT(weft__node_attr(g->node[0], "_output_shapes") == NULL);
    } else {
      EXPECT_ERR(import(g, d, NULL), WEFT_INVALID_ARGUMENT,
                 "Node 'p' has an _output_shapes attribute inconsistent with the GraphDef for output #0");
    }
    test_graph_destroy(g);
  }
}

TEST(attributes_survive_the_trip_through_bytes) {
  arena a = {0};
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_DOUBLE, 2.5));
  shape s = SHAPE2(2, -1), shapes[] = {SHAPE_SCALAR, SHAPE_UNKNOWN, SHAPE1(0)};
  int64_t ints[] = {0, -1, INT64_MAX};
  weft_dtype types[] = {WEFT_FLOAT, WEFT_STRING};
  attr_str strs[] = {{"", 0}, {"a\0b", 3}};
  float floats[] = {0, -1.5f};
  bool bools[] = {true, false};
  const attr all[] = {
      A_INT("i", 0),
      A_FLOAT("f", 0),
      A_BOOL("b", false),
      A_TYPE("t", WEFT_INT64),
      A_STR("s", ""),
      A_SHAPE("shape", &s),
      A_TENSOR("tensor", t),
      A_INTS("is", ints, 3),
      A_TYPES("ts", types, 2),
      A_SHAPES("shapes", shapes, 3),
      A_STRS("ss", strs, 2),
      A_INTS("empty", ints, 0),
      {.name = "fs", .kind = ATTR_FLOAT, .is_list = true, .n = 2, .fs = floats},
      {.name = "bs", .kind = ATTR_BOOL, .is_list = true, .n = 2, .bs = bools},
      {.name = "tensors", .kind = ATTR_TENSOR, .is_list = true, .n = 1, .tensors = &t},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    Tensorflow__AttrValue v, *u;
    attr back, copy;
    EXPECT_OK(weft__attr_to_proto(&v, &all[i], &a));
    uint8_t bytes[256];
    size_t size = tensorflow__attr_value__pack(&v, bytes);
    EXPECT(size > 0);
    u = tensorflow__attr_value__unpack(NULL, size, bytes);
    EXPECT_OK(weft__attr_from_proto(&back, all[i].name, u, &a));
    EXPECT(weft__attr_equal(&back, &all[i]));
    EXPECT_OK(weft__attr_copy(&copy, &back, &a));
    EXPECT(weft__attr_equal(&copy, &all[i]));
    EXPECT(!weft__attr_equal(&copy, &A_INT("i", 99)));
    weft__attr_release(&copy);
    weft__attr_release(&back);
    tensorflow__attr_value__free_unpacked(u, NULL);
  }
  weft_tensor_destroy(t);
  weft__arena_finish(&a);
}

TEST(a_few_bytes_cannot_ask_for_all_the_memory) {
  arena a = {0};
  Tensorflow__AttrValue v = TENSORFLOW__ATTR_VALUE__INIT;
  Tensorflow__TensorProto t = TENSORFLOW__TENSOR_PROTO__INIT;
  Tensorflow__TensorShapeProto s = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  shape huge = SHAPE2(1 << 20, 1 << 20);
  EXPECT_OK(weft__shape_to_proto(&s, &huge, &a));
  t.dtype = WEFT_FLOAT;
  t.tensor_shape = &s;
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  v.tensor = &t;
  attr out;
  EXPECT_ERR(weft__attr_from_proto(&out, "value", &v, &a), WEFT_RESOURCE_EXHAUSTED, "too big for its bytes");
  weft__arena_finish(&a);
}

/* Lets the n-th allocation of an import fail, for every n.  The graph stays unchanged until an import succeeds. */
TEST_WITHIN(60, every_failed_allocation_of_an_import_is_an_error) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_loop(d);
  draft_mystery(d);
  draft_const(d, "a", 1);
  size_t size = tensorflow__graph_def__get_packed_size(&d->def);
  uint8_t *bytes = malloc(size + 1);
  EXPECT(bytes != NULL);
  tensorflow__graph_def__pack(&d->def, bytes);
  draft_free(d);
  test_no_op(g, "before");
  weft_err err = WEFT_RESOURCE_EXHAUSTED;
  int failures = 0;
  for (long n = 1; err != WEFT_OK && n < 100000; n++) {
    weft__alloc_fail_after(n);
    err = weft__graph_import(g, bytes, size, NULL);
    weft__alloc_fail_after(0);
    failures += err != WEFT_OK;
    if (err == WEFT_OK) break;
    EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
    EXPECT_EQ_INT(g->n_node, 1);
  }
  EXPECT_OK(err);
  EXPECT(failures > 50);
  EXPECT_EQ_INT(g->n_node, 15);
  free(bytes);
  test_graph_destroy(g);
}

TEST_WITHIN(60, every_failed_allocation_of_an_export_is_an_error) {
  weft_graph *g = test_graph();
  draft *d = draft_new();
  draft_loop(d);
  draft_const(d, "a", 1);
  draft_mystery(d);
  EXPECT_OK(import(g, d, NULL));
  weft_err err = WEFT_RESOURCE_EXHAUSTED;
  uint8_t *bytes;
  size_t size;
  for (long n = 1; err != WEFT_OK && n < 100000; n++) {
    weft__alloc_fail_after(n);
    err = weft__graph_export(g, NULL, &bytes, &size);
    weft__alloc_fail_after(0);
    if (err != WEFT_OK) EXPECT_ERR(err, WEFT_RESOURCE_EXHAUSTED, "");
  }
  EXPECT_OK(err);
  weft__free(bytes);
  test_graph_destroy(g);
}
