/* dataset_parse.c - ParseExampleDataset: the features of serialized Examples, in the order of their keys.
 *
 * It is a map whose function contains a ParseExampleV2 node and, for sparse and ragged features, nodes that convert
 * them to variants.  The function is built when the node is prepared. */
#include "base/alloc.h"
#include "graph/build.h"
#include "ops/data/dataset.h"
#include <stdlib.h>
#include <string.h>

typedef struct feature_key {
  attr_str key;
  weft_out out;
} feature_key;

typedef struct parser {
  const weft_node *node;
  weft_graph *g;
  int n_sparse, n_dense, n_ragged, n;
  weft_out *arg;    /* the serialized Examples, then the defaults of dense features */
  feature_key *key; /* the keys of all features */
} parser;

static int dataset_parse_by_key(const void *a, const void *b) {
  const attr_str *x = &((const feature_key *)a)->key, *y = &((const feature_key *)b)->key;
  const int c = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
  return c ? c : (x->size > y->size) - (x->size < y->size);
}

static int dataset_parse_count_of(const weft_node *n, const char *name) {
  const attr *a = weft__node_attr(n, name);
  return a ? a->n : 0;
}

static weft_err same_count(const weft_node *n, const char *a, const char *b) {
  if (dataset_parse_count_of(n, a) == dataset_parse_count_of(n, b)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: %s has %d entries, but %s has %d", n->name, a,
                    dataset_parse_count_of(n, a), b, dataset_parse_count_of(n, b));
}

static weft_err dataset_parse_check_counts(const weft_node *n) {
  WEFT_TRY(same_count(n, "sparse_keys", "sparse_types"));
  WEFT_TRY(same_count(n, "dense_keys", "Tdense"));
  WEFT_TRY(same_count(n, "dense_keys", "dense_shapes"));
  WEFT_TRY(same_count(n, "ragged_keys", "ragged_value_types"));
  return same_count(n, "ragged_keys", "ragged_split_types");
}

/* Returns a vector of the keys that an attribute lists. */
static weft_out keys_of(const parser *p, const char *name) {
  const attr *a = weft__node_attr(p->node, name);
  weft_tensor *t = NULL;
  weft_err err = weft__tensor_create(&t, WEFT_STRING, &SHAPE1(a ? a->n : 0));
  for (int i = 0; a && i < a->n && !err; i++)
    err = weft__str_set(&TENSOR_DATA(t, str)[i], a->ss[i].data, a->ss[i].size);
  if (!err) return weft__b_const_adopt(p->g, t);
  weft_tensor_destroy(t);
  weft__status_update(&p->g->sticky, err);
  return WEFT_NONE;
}

static weft_out dataset_parse_placeholder(const parser *p, weft_dtype type) {
  return weft__b_node(p->g, "Placeholder", NULL, 0, NULL, 1, &A_TYPE("dtype", type));
}

static attr dataset_parse_copied(const parser *p, const char *from, const char *to, attr otherwise) {
  const attr *a = weft__node_attr(p->node, from);
  attr made = a ? *a : otherwise;
  made.name = to;
  return made;
}

static weft_out add_parse(parser *p) {
  weft_out *in = weft__alloc((size_t)(p->n_dense + 5) * sizeof *in);
  const attr *dense = weft__node_attr(p->node, "Tdense");
  weft_tensor *none = NULL;
  if (!in || weft__tensor_create(&none, WEFT_STRING, &SHAPE1(0))) {
    weft__free(in);
    return WEFT_NONE;
  }
  p->arg[0] = in[0] = dataset_parse_placeholder(p, WEFT_STRING);
  in[1] = weft__b_const_adopt(p->g, none);
  in[2] = keys_of(p, "sparse_keys");
  in[3] = keys_of(p, "dense_keys");
  in[4] = keys_of(p, "ragged_keys");
  for (int i = 0; i < p->n_dense; i++) p->arg[1 + i] = in[5 + i] = dataset_parse_placeholder(p, dense->types[i]);
  const attr attrs[] = {
      dataset_parse_copied(p, "Tdense", "Tdense", A_TYPES("Tdense", NULL, 0)),
      A_INT("num_sparse", p->n_sparse),
      dataset_parse_copied(p, "sparse_types", "sparse_types", A_TYPES("sparse_types", NULL, 0)),
      dataset_parse_copied(p, "ragged_value_types", "ragged_value_types", A_TYPES("ragged_value_types", NULL, 0)),
      dataset_parse_copied(p, "ragged_split_types", "ragged_split_types", A_TYPES("ragged_split_types", NULL, 0)),
      dataset_parse_copied(p, "dense_shapes", "dense_shapes", A_SHAPES("dense_shapes", NULL, 0))};
  const weft_out made = weft__b_node(p->g, "ParseExampleV2", NULL, 5 + p->n_dense, in, 6, attrs);
  weft__free(in);
  return made;
}

static void add_key(parser *p, const char *keys, int i, weft_out out) {
  p->key[p->n++] = (feature_key){weft__node_attr(p->node, keys)->ss[i], out};
}

/* Adds the outputs of ParseExampleV2 as components: dense ones unchanged, the others as variants. */
static void add_components(parser *p, weft_out made) {
  const int s = p->n_sparse, d = p->n_dense, r = p->n_ragged;
  for (int i = 0; i < s; i++) {
    const weft_out in[] = {weft__b_slot(made, i), weft__b_slot(made, s + i), weft__b_slot(made, 2 * s + i)};
    add_key(p, "sparse_keys", i,
            weft__b_node(p->g, "SerializeSparse", NULL, 3, in, 1, &A_TYPE("out_type", WEFT_VARIANT)));
  }
  for (int i = 0; i < d; i++) add_key(p, "dense_keys", i, weft__b_slot(made, 3 * s + i));
  for (int i = 0; i < r; i++) {
    const weft_out in[] = {weft__b_slot(made, 3 * s + d + r + i), weft__b_slot(made, 3 * s + d + i)};
    const attr attrs[] = {A_INT("RAGGED_RANK", 1), A_BOOL("batched_input", false)};
    add_key(p, "ragged_keys", i, weft__b_node(p->g, "RaggedTensorToVariant", NULL, 2, in, 2, attrs));
  }
  qsort(p->key, (size_t)p->n, sizeof *p->key, dataset_parse_by_key);
}

static weft_err dataset_parse_build(parser *p, function **out) {
  WEFT_TRY(weft__graph_create(&p->g, p->node->graph->ops));
  const weft_out made = add_parse(p);
  if (made.node >= 0) add_components(p, made);
  weft_err err = made.node >= 0 ? weft__b_ok(p->g) : WEFT_OOM;
  if (weft__b_ok(p->g)) err = weft__b_ok(p->g);
  weft_out *ret = err ? NULL : weft__alloc((size_t)(p->n + 1) * sizeof *ret);
  if (!err && !ret) err = WEFT_OOM;
  if (err) {
    weft__graph_destroy(p->g);
    return err;
  }
  for (int i = 0; i < p->n; i++) ret[i] = p->key[i].out;
  err = weft__function_of_body(out, p->node, p->g, 1 + p->n_dense, p->arg, p->n, ret);
  weft__free(ret);
  return err;
}

static weft_err parse_prepare(const weft_node *n, void **state) {
  WEFT_TRY(dataset_parse_check_counts(n));
  parser p = {.node = n,
              .n_sparse = dataset_parse_count_of(n, "sparse_keys"),
              .n_dense = dataset_parse_count_of(n, "dense_keys"),
              .n_ragged = dataset_parse_count_of(n, "ragged_keys")};
  p.arg = weft__alloc((size_t)(p.n_dense + 1) * sizeof *p.arg);
  p.key = weft__alloc((size_t)(p.n_sparse + p.n_dense + p.n_ragged + 1) * sizeof *p.key);
  const weft_err err = p.arg && p.key ? dataset_parse_build(&p, (function **)state) : WEFT_OOM;
  weft__free(p.arg);
  weft__free(p.key);
  return err;
}

static weft_err parse_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t calls;
  function *f = k->state;
  WEFT_TRY(weft__dataset_int(k, 1, "num_parallel_calls", &calls));
  if (calls < 1 && calls != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_parallel_calls must be greater than zero.");
  WEFT_TRY(weft__dataset_of(k, &weft__parallel_map_kind, 1, &d));
  const dataset *in = d->input[0];
  weft_err err = WEFT_OK;
  if (in->n_part != 1 || in->type[0] != WEFT_STRING)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Input dataset must be a string");
  else if (d->n_part != f->n_ret)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "output_types has %d entries, but there are %d keys", d->n_part, f->n_ret);
  captured *c = weft__dataset_parallel_map_set(d, calls, true);
  return weft__dataset_out(k, d, err ? err : weft__dataset_capture(k, c, f, "dense_defaults"));
}

#define PARSE_ARGS                                                                                                     \
  "(input_dataset:variant, num_parallel_calls:int64, dense_defaults:@Tdense) -> (handle:variant) | "                   \
  "sparse_keys:list(string)>=0 dense_keys:list(string)>=0 sparse_types:list(type){float,int64,string}>=0 "             \
  "Tdense:list(type){float,int64,string}>=0 dense_shapes:list(shape)>=0 " OUTPUTS
#define RAGGED                                                                                                         \
  " ragged_keys:list(string)>=0=[] ragged_value_types:list(type){float,int64,string}>=0=[] "                           \
  "ragged_split_types:list(type){int32,int64}>=0=[]"
#define PARSE(NAME, MORE)                                                                                              \
  {                                                                                                                    \
    NAME PARSE_ARGS MORE, "The features of serialized Examples.", DATASET_FLAGS,                                       \
        .cpu = parse_cpu, .prepare = parse_prepare, .unprepare = weft__dataset_unprepare                               \
  }

OPS(dataset_parse) = {
    PARSE("ParseExampleDataset", " sloppy:bool=false" RAGGED),
    PARSE("ParseExampleDatasetV2", " deterministic:string='default'" RAGGED),
    PARSE("ExperimentalParseExampleDataset", " sloppy:bool=false"),
    {.scenario = "tests/python/test_data_ops.py"},
};
