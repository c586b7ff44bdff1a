/* dataset_graph.c - data sets as GraphDefs: DatasetToGraph writes the nodes that create a data set, with the values of
 * their inputs as constants, and DatasetFromGraph runs such a graph.
 *
 * The nodes are named and ordered as TensorFlow does it.  They have no device, whatever strip_device_assignment says,
 * and the nodes of functions keep theirs: TensorFlow 2.15 does the same.  A data set that several others read is
 * written once. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/log.h"
#include "base/map.h"
#include "graph/function.h"
#include "graph/graphdef.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_origin.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GRAPH_DEPTH = 1000 };
enum { STATE_WARNS, STATE_IGNORED, STATE_FAILS }; /* external_state_policy */

/* ---- writing ---- */

typedef struct graph_writer {
  arena arena;
  Tensorflow__NodeDef **node;
  int64_t n_node, room_node;
  Tensorflow__FunctionDef **function;
  int64_t n_function, room_function;
  map names; /* of functions */
  map made;  /* address of a data set -> its node's name */
  int policy;
} graph_writer;

static const char *writer_name(graph_writer *w, const char *op_name) {
  const size_t room = strlen(op_name) + 24;
  char *name = weft__arena_alloc(&w->arena, room);
  if (name) snprintf(name, room, "%s/_%" PRId64, op_name, w->n_node);
  return name;
}

/* Appends a node; its name and inputs are the arena's. */
static weft_err writer_add(graph_writer *w, Tensorflow__NodeDef *n) {
  WEFT_TRY(weft__arena_reserve(&w->arena, &w->node, &w->room_node, w->n_node + 1, sizeof(Tensorflow__NodeDef *)));
  w->node[w->n_node++] = n;
  return WEFT_OK;
}

static weft_err writer_attr(graph_writer *w, Tensorflow__NodeDef *n, const char *key, Tensorflow__AttrValue **out) {
  Tensorflow__NodeDefAttrEntry *e = weft__arena_alloc(&w->arena, sizeof *e);
  Tensorflow__AttrValue *v = weft__arena_alloc(&w->arena, sizeof *v);
  if (!e || !v) return WEFT_OOM;
  tensorflow__node_def_attr_entry__init(e);
  tensorflow__attr_value__init(v);
  if (!(e->key = weft__arena_strdup(&w->arena, key))) return WEFT_OOM;
  e->value = v;
  n->attr[n->n_attr++] = e;
  *out = v;
  return WEFT_OK;
}

/* Makes a node with room for inputs and attributes. */
static Tensorflow__NodeDef *writer_node(graph_writer *w, const char *name, const char *op_name, int n_in, int n_attr) {
  Tensorflow__NodeDef *n = weft__arena_alloc(&w->arena, sizeof *n);
  if (!n || !name) return NULL;
  tensorflow__node_def__init(n);
  n->name = weft__arena_strdup(&w->arena, name);
  n->op = weft__arena_strdup(&w->arena, op_name);
  n->input = weft__arena_alloc(&w->arena, sizeof *n->input * (size_t)(n_in + 1));
  n->attr = weft__arena_alloc(&w->arena, sizeof(Tensorflow__NodeDefAttrEntry *) * (size_t)(n_attr + 1));
  return n->name && n->op && n->input && n->attr ? n : NULL;
}

static weft_err writer_const(graph_writer *w, const weft_tensor *t, const char **name) {
  Tensorflow__AttrValue *content = NULL, *type = NULL;
  Tensorflow__NodeDef *n = writer_node(w, writer_name(w, "Const"), "Const", 0, 2);
  Tensorflow__TensorProto *p = weft__arena_alloc(&w->arena, sizeof *p);
  if (!n || !p) return WEFT_OOM;
  tensorflow__tensor_proto__init(p);
  WEFT_TRY(weft__tensor_to_proto(p, t, &w->arena));
  WEFT_TRY(writer_attr(w, n, "value", &content));
  WEFT_TRY(writer_attr(w, n, "dtype", &type));
  content->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  content->tensor = p;
  type->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  type->type = (int32_t)t->dtype;
  *name = n->name;
  return writer_add(w, n);
}

static weft_err writer_functions(graph_writer *w, const Tensorflow__FunctionDefLibrary *more) {
  for (size_t i = 0; more && i < more->n_function; i++) {
    Tensorflow__FunctionDef *f = more->function[i];
    if (weft__map_get(&w->names, f->signature->name)) continue;
    WEFT_TRY(weft__map_put(&w->names, f->signature->name, f));
    WEFT_TRY(weft__arena_reserve(&w->arena, &w->function, &w->room_function, w->n_function + 1,
                                 sizeof(Tensorflow__FunctionDef *)));
    w->function[w->n_function++] = f;
  }
  return WEFT_OK;
}

static weft_err writer_check(const graph_writer *w, const dataset *d) {
  const dataset_origin *origin = (dataset_origin *)d->origin;
  if (!origin)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "Failed to serialize the input pipeline graph: %s has no node that creates it.", d->kind->name);
  if (!origin->stateful || w->policy == STATE_IGNORED) return WEFT_OK;
  if (w->policy == STATE_FAILS)
    return weft__fail(WEFT_FAILED_PRECONDITION, "Failed to serialize the input pipeline graph: %s is stateful.",
                      origin->stateful);
  weft__log(LOG_WARNING, "DatasetToGraph: %s is stateful, and its state is not in the graph", origin->stateful);
  return WEFT_OK;
}

static weft_err writer_dataset(graph_writer *w, dataset *d, int depth, const char **name);

static weft_err writer_input(graph_writer *w, const dataset *d, int i, int depth, const char **name) {
  const weft_tensor *t = &d->given[i];
  dataset *from = NULL;
  if (t->dtype == WEFT_VARIANT && t->shape.rank == 0 && weft__dataset_get(t, &from) == WEFT_OK)
    return writer_dataset(w, from, depth + 1, name);
  if (t->dtype == WEFT_VARIANT || t->dtype == WEFT_RESOURCE)
    return weft__fail(
        WEFT_FAILED_PRECONDITION,
        "Failed to serialize the input pipeline graph: input %d of %s is a %s, and a graph cannot hold its "
        "value.",
        i, ((dataset_origin *)d->origin)->node->op, weft__dtype_name(t->dtype));
  return writer_const(w, t, name);
}

/* Appends the nodes that create a data set, its own last. */
static weft_err writer_dataset(graph_writer *w, dataset *d, int depth, const char **name) {
  char key[32];
  snprintf(key, sizeof key, "%p", (void *)d);
  if ((*name = weft__map_get(&w->made, key)) != NULL) return WEFT_OK;
  if (depth > GRAPH_DEPTH)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Failed to serialize the input pipeline graph: more than %d data sets read one another.",
                      GRAPH_DEPTH);
  WEFT_TRY(writer_check(w, d));
  const dataset_origin *origin = (dataset_origin *)d->origin;
  const char **input = weft__arena_alloc(&w->arena, sizeof *input * (size_t)(d->n_given + 1));
  if (!input) return WEFT_OOM;
  for (int i = 0; i < d->n_given; i++) WEFT_TRY(writer_input(w, d, i, depth, &input[i]));
  Tensorflow__NodeDef *n = writer_node(w, writer_name(w, origin->node->op), origin->node->op, d->n_given, 0);
  if (!n) return WEFT_OOM;
  for (int i = 0; i < d->n_given; i++)
    if (!(n->input[n->n_input++] = weft__arena_strdup(&w->arena, input[i]))) return WEFT_OOM;
  n->attr = origin->node->attr;
  n->n_attr = origin->node->n_attr;
  WEFT_TRY(writer_functions(w, origin->library));
  *name = n->name;
  WEFT_TRY(weft__map_put(&w->made, key, n->name));
  return writer_add(w, n);
}

static weft_err writer_result(graph_writer *w, const char *from) {
  Tensorflow__AttrValue *index = NULL, *type = NULL;
  Tensorflow__NodeDef *n = writer_node(w, "dataset", "_Retval", 1, 2);
  if (!n || !(n->input[n->n_input++] = weft__arena_strdup(&w->arena, from))) return WEFT_OOM;
  WEFT_TRY(writer_attr(w, n, "index", &index));
  WEFT_TRY(writer_attr(w, n, "T", &type));
  index->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
  type->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  type->type = WEFT_VARIANT;
  return writer_add(w, n);
}

static weft_err writer_pack(graph_writer *w, int producer, void **packed, size_t *size) {
  Tensorflow__GraphDef g;
  Tensorflow__VersionDef versions;
  Tensorflow__FunctionDefLibrary library;
  tensorflow__graph_def__init(&g);
  tensorflow__version_def__init(&versions);
  tensorflow__function_def_library__init(&library);
  versions.producer = producer;
  library.function = w->function;
  library.n_function = (size_t)w->n_function;
  g.node = w->node;
  g.n_node = (size_t)w->n_node;
  g.versions = &versions;
  g.library = &library;
  return weft__proto_pack(&g.base, packed, size);
}

/* Writes the graph of a data set; the caller frees *packed, also on failure. */
static weft_err pack_graph(dataset *d, int policy, int producer, void **packed, size_t *size) {
  graph_writer w = {.policy = policy};
  const char *name = NULL;
  weft_err err = writer_dataset(&w, d, 0, &name);
  if (!err) err = writer_result(&w, name);
  if (!err) err = writer_pack(&w, producer, packed, size);
  weft__map_finish(&w.names);
  weft__map_finish(&w.made);
  weft__arena_finish(&w.arena);
  return err;
}

weft_err weft__dataset_hash(dataset *d, uint64_t *out) {
  void *packed = NULL;
  size_t size = 0;
  const weft_err err = pack_graph(d, STATE_IGNORED, 0, &packed, &size);
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; !err && i < size; i++) h = (h ^ ((const uint8_t *)packed)[i]) * 1099511628211u;
  weft__free(packed);
  *out = h;
  return err;
}

static weft_err dataset_graph_write(kernel *k, int policy) {
  dataset *d = NULL;
  void *packed = NULL;
  size_t size = 0;
  WEFT_TRY(weft__kernel_scalar(k, 0, "input_dataset"));
  weft_err err = weft__dataset_get(k->in[0], &d);
  if (!err) err = pack_graph(d, policy, k->node->graph->version_producer, &packed, &size);
  weft_tensor *out = err ? NULL : weft__out(k, 0, &SHAPE_SCALAR);
  if (!err) err = out ? weft__str_set(out->data, packed, size) : WEFT_OOM;
  weft__free(packed);
  return weft__kernel_in(k, err);
}

static weft_err to_graph_cpu(kernel *k) {
  return dataset_graph_write(k, weft__node_bool(k->node, "allow_stateful", false) ? STATE_IGNORED : STATE_FAILS);
}

static weft_err to_graph_v2_cpu(kernel *k) {
  const int64_t policy = weft__node_int(k->node, "external_state_policy", 0);
  if (policy < STATE_WARNS || policy > STATE_FAILS)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "external_state_policy must be 0, 1 or 2, got %lld",
                             (long long)policy);
  return dataset_graph_write(k, weft__int_sat(policy));
}

/* ---- reading ---- */

/* Takes the result out of the message and returns the name of what it returns, or NULL. */
static const char *take_result(Tensorflow__GraphDef *g) {
  const char *found = NULL;
  size_t kept = 0;
  for (size_t i = 0; i < g->n_node; i++) {
    Tensorflow__NodeDef *n = g->node[i];
    if (!strcmp(n->op, "_Retval") && n->n_input == 1 && !found)
      found = n->input[0];
    else
      g->node[kept++] = n;
  }
  g->n_node = kept;
  return found;
}

/* Makes a function without arguments of the graph. */
static weft_err function_of(const kernel *k, const Tensorflow__GraphDef *g, const char *result, function **out) {
  weft_graph *body = NULL;
  weft_out returned = {0};
  const import_opts opts = {.n_return = 1, .returns = &result, .returned = &returned};
  WEFT_TRY(weft__graph_create(&body, k->node->graph->ops));
  const weft_err err = weft__graph_import_proto(body, g, &opts);
  if (!err) return weft__function_of_body(out, k->node, body, 0, NULL, 1, &returned);
  weft__graph_destroy(body);
  return err;
}

static weft_err call_graph(kernel *k, Tensorflow__GraphDef *g) {
  dataset *d = NULL;
  weft_tensor *made = NULL;
  function *f = NULL;
  Tensorflow__NodeDef **all = g->node;
  const size_t n = g->n_node;
  Tensorflow__NodeDef **copy = weft__alloc((n + 1) * sizeof(Tensorflow__NodeDef *));
  if (!copy) return WEFT_OOM;
  if (n) memcpy(copy, all, n * sizeof(Tensorflow__NodeDef *));
  g->node = copy; /* the message frees its own array */
  const char *result = take_result(g);
  weft_err err = result ? function_of(k, g, result, &f)
                        : weft__fail(WEFT_INVALID_ARGUMENT, "graph_def has no node _Retval that returns a data set");
  g->node = all;
  g->n_node = n;
  weft__free(copy);
  if (!err) err = weft__function_call(f, k->step, 0, NULL, 1, &made);
  if (!err) err = weft__dataset_get(made, &d);
  if (!err) weft__object_retain(&d->base.base);
  weft_tensor_destroy(made);
  weft__function_release(f);
  return err ? weft__kernel_in(k, err) : weft__variant_output(k, 0, &d->base);
}

static weft_err from_graph_cpu(kernel *k) {
  ProtobufCMessage *m = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 0, "graph_def"));
  const str *s = k->in[0]->data;
  if (weft__proto_unpack(&m, &tensorflow__graph_def__descriptor, s->size ? s->data : "", s->size))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Could not parse the graph of a data set from its %zu bytes",
                             s->size);
  const weft_err err = call_graph(k, (Tensorflow__GraphDef *)m);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

OPS(dataset_graph) = {
    {"DatasetToGraph(input_dataset:variant) -> (graph:string) | stateful_whitelist:list(string)>=0=[] "
     "allow_stateful:bool=false strip_device_assignment:bool=false",
     "The graph that creates a data set.", DATASET_FLAGS, .cpu = to_graph_cpu},
    {"DatasetToGraphV2(input_dataset:variant) -> (graph:string) | external_state_policy:int=0 "
     "strip_device_assignment:bool=false",
     "The graph that creates a data set.", DATASET_FLAGS, .cpu = to_graph_v2_cpu},
    {"DatasetFromGraph(graph_def:string) -> (handle:variant)", "The data set that a graph creates.",
     .flags = OP_NO_FOLD | OP_BLOCKING, .infer = weft__infer_scalar, .cpu = from_graph_cpu},
    {.scenario = "tests/python/test_data_graphs.py"},
};
