/* lookup.c - the ops of lookup tables. state/lookup.h describes their behavior.  Each op exists twice: with a
 * resource handle (V2) and with a reference to a string. */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/build.h"
#include "state/lookup.h"
#include "state/variable.h"

/* ---- making ---- */

static weft_err lookup_read_spec(const weft_node *n, lookup_spec *spec) {
  const attr *row = weft__node_attr(n, "value_shape");
  *spec = (lookup_spec){.fixed = !strstr(n->op_name, "Mutable"),
                        .key = weft__node_type(n, "key_dtype"),
                        .value = weft__node_type(n, "value_dtype"),
                        .row = row ? *row->shape : SHAPE_SCALAR};
  spec->key_row = SHAPE_SCALAR;
  if (row && row->shape->rank != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Default value must be a vector, got shape %s",
                      weft__shape_text(row->shape));
  return WEFT_OK;
}

/* Fills the spec of a dense table.  Its keys have the shape of the empty key, which is an input and known only at
 * run time. */
static weft_err read_dense_spec(const kernel *k, lookup_spec *spec) {
  const weft_node *n = k->node;
  const attr *row = weft__node_attr(n, "value_shape");
  *spec = (lookup_spec){.key = weft__node_type(n, "key_dtype"),
                        .value = weft__node_type(n, "value_dtype"),
                        .row = row ? *row->shape : SHAPE_SCALAR,
                        .dense = true,
                        .key_row = k->in[0]->shape,
                        .buckets = weft__node_int(n, "initial_num_buckets", 131072),
                        .load = weft__node_float(n, "max_load_factor", 0.8f)};
  if (spec->row.rank > 1 || spec->key_row.rank > 1)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Empty key and value_shape must be scalars or vectors, got shapes %s and %s",
                      weft__shape_text(&spec->key_row), weft__shape_text(&spec->row));
  if (k->n_in > 1 && !weft__shape_equal(&k->in[0]->shape, &k->in[1]->shape))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Empty and deleted keys must have same shape, got shapes: %s and %s",
                      weft__shape_text(&k->in[0]->shape), weft__shape_text(&k->in[1]->shape));
  return WEFT_OK;
}

static weft_err lookup_make_table(resource **out, void *arg) {
  const resource_maker *m = arg;
  lookup_spec spec;
  WEFT_TRY(lookup_read_spec(m->node, &spec));
  return weft__lookup_create((lookup **)out, &spec);
}

static const resource_kind table_resource = {LOOKUP_TYPE, true, lookup_make_table};

static weft_err table_cpu(kernel *k) {
  resource *r = NULL;
  lookup_spec want;
  WEFT_TRY(weft__kernel_in(k, weft__resource_output(k, &table_resource, &r)));
  WEFT_TRY(weft__kernel_in(k, lookup_read_spec(k->node, &want)));
  const lookup_spec *is = weft__lookup_spec((lookup *)r);
  if (is->key == want.key && is->value == want.value) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Conflicting key/value dtypes %s->%s with %s-%s for table %s",
                           weft__dtype_short(want.key), weft__dtype_short(want.value), weft__dtype_short(is->key),
                           weft__dtype_short(is->value), weft__node_str(k->node, "shared_name").data);
}

/* The spec of the table that this thread is creating. weft__resource_output passes only the node to its callback,
 * not the inputs. */
static _Thread_local const lookup_spec *dense_spec;

static weft_err make_dense(resource **out, void *arg) {
  (void)arg;
  return weft__lookup_create((lookup **)out, dense_spec);
}

static const resource_kind dense_resource = {LOOKUP_TYPE, true, make_dense};

static weft_err lookup_dense_cpu(kernel *k) {
  resource *r = NULL;
  lookup_spec want;
  WEFT_TRY(weft__kernel_in(k, read_dense_spec(k, &want)));
  dense_spec = &want;
  const weft_err err = weft__kernel_in(k, weft__resource_output(k, &dense_resource, &r));
  dense_spec = NULL;
  if (err) return err;
  const lookup_spec *is = weft__lookup_spec((lookup *)r);
  if (is->key != want.key || is->value != want.value || !is->dense || !weft__shape_equal(&is->key_row, &want.key_row))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Conflicting key/value dtypes %s->%s with %s-%s for table %s",
                             weft__dtype_short(want.key), weft__dtype_short(want.value), weft__dtype_short(is->key),
                             weft__dtype_short(is->value), k->node->name);
  return weft__kernel_in(k, weft__lookup_mark((lookup *)r, k->in[0], k->n_in > 1 ? k->in[1] : NULL));
}

static weft_err anonymous_dense_cpu(kernel *k) {
  lookup *t = NULL;
  lookup_spec want;
  weft_tensor *made = NULL;
  WEFT_TRY(weft__kernel_in(k, read_dense_spec(k, &want)));
  WEFT_TRY(weft__kernel_in(k, weft__lookup_create(&t, &want)));
  weft_err err = weft__kernel_in(k, weft__lookup_mark(t, k->in[0], k->in[1]));
  if (!err) err = weft__handle_create(&made, "", k->node->name, (resource *)t);
  if (!err) err = weft__out_share(k, 0, made);
  weft_tensor_destroy(made);
  weft__object_release((object *)t);
  return err;
}

/* Creates a new table in every run.  The table is freed with its handle. */
static weft_err anonymous_cpu(kernel *k) {
  resource *r = NULL;
  weft_tensor *made = NULL;
  WEFT_TRY(weft__kernel_in(k, lookup_make_table(&r, &(resource_maker){k->node, k->node->name})));
  weft_err err = weft__handle_create(&made, "", k->node->name, r);
  if (!err) err = weft__out_share(k, 0, made);
  weft_tensor_destroy(made);
  weft__object_release(&r->base);
  return err;
}

/* ---- types and shapes ---- */

static void add_types(text *t, bool ref, const weft_dtype *in, int n_in, const weft_dtype *out, int n_out) {
  weft__text_puts(t, ref ? "string_ref" : "resource");
  for (int i = 0; i < n_in; i++) weft__text_printf(t, ", %s", weft__dtype_short(in[i]));
  weft__text_puts(t, "->");
  for (int i = 0; i < n_out; i++) weft__text_printf(t, "%s%s", i ? ", " : "", weft__dtype_short(out[i]));
}

/* Checks the types of the node's arguments after the handle, and of its results, against those of the table.  A list
 * that is NULL is not compared. */
static weft_err check_types(const kernel *k, const weft_dtype *in, const weft_dtype *out) {
  weft_dtype has[2] = {WEFT_INVALID, WEFT_INVALID};
  bool same = true;
  for (int i = 1; in && i < k->n_in && i < 3; i++) same &= (has[i - 1] = k->in[i]->dtype) == in[i - 1];
  for (int i = 0; out && i < k->n_out; i++) same &= k->node->out_type[i] == out[i];
  if (same) return WEFT_OK;
  text is = {0}, wants = {0};
  add_types(&is, k->ref[0], has, k->n_in - 1, k->node->out_type, k->n_out);
  add_types(&wants, k->ref[0], in, k->n_in - 1, out, k->n_out);
  const weft_err err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Signature mismatch, have: %s expected: %s",
                                         weft__text_get(&is), weft__text_get(&wants));
  weft__text_finish(&is);
  weft__text_finish(&wants);
  return err;
}

static weft_err check_pairs(const kernel *k, const lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  shape want;
  WEFT_TRY(check_types(k, (weft_dtype[]){spec->key, spec->value}, NULL));
  WEFT_TRY(weft__lookup_values_shape(t, &k->in[1]->shape, &want));
  if (weft__shape_equal(&want, &k->in[2]->shape)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected shape %s for value, got %s", weft__shape_text(&want),
                           weft__shape_text(&k->in[2]->shape));
}

/* Takes the shape of a value from the node that created the table, if the graph shows that node and it declares the
 * shape. */
static weft_err find_infer(infer *s) {
  const weft_node *origin = weft__handle_origin(s->graph, s->node->in[0]);
  lookup_spec spec;
  if (!origin || strncmp(origin->op_name, "MutableHashTable", 16) != 0 || s->in[1].rank < 0) return WEFT_OK;
  WEFT_TRY(lookup_read_spec(origin, &spec));
  if (s->node->out_type[0] != spec.value)
    return weft__infer_fail(s, "Trying to read value with wrong dtype. Expected %s got %s",
                            weft__dtype_short(spec.value), weft__dtype_short(s->node->out_type[0]));
  if (s->in[1].rank + spec.row.rank > WEFT_MAX_RANK) return WEFT_OK;
  s->out[0] = s->in[1];
  for (int i = 0; i < spec.row.rank; i++) s->out[0].dim[s->out[0].rank++] = spec.row.dim[i];
  return WEFT_OK;
}

static weft_err lookup_fill_infer(infer *s) {
  shape keys, merged;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &keys));
  if (s->in[2].rank < 1 || keys.dim[0] < 0 || s->in[2].dim[0] < 0) return WEFT_OK;
  if (weft__shape_merge(&merged, &keys, &SHAPE1(s->in[2].dim[0])) == WEFT_OK) return WEFT_OK;
  return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)keys.dim[0],
                          (long long)s->in[2].dim[0]);
}

/* ---- asking and changing ---- */

static weft_err do_find(kernel *k, lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  const weft_tensor *keys = k->in[1], *otherwise = k->in[2];
  shape want;
  WEFT_TRY(check_types(k, (weft_dtype[]){spec->key, spec->value}, &spec->value));
  WEFT_TRY(weft__lookup_values_shape(t, &keys->shape, &want));
  if (!weft__shape_equal(&otherwise->shape, &spec->row) && !weft__shape_equal(&otherwise->shape, &want))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected shape %s or %s for default value, got %s",
                             weft__shape_text(&spec->row), weft__shape_text(&want),
                             weft__shape_text(&otherwise->shape));
  WEFT_TRY(weft__lookup_check_count(t, &keys->shape));
  weft_tensor *out = weft__out(k, 0, &want);
  return out ? weft__lookup_find(t, keys, otherwise, out) : WEFT_OOM;
}

/* Checks the buckets of a dense table: keys [n, elements of a key] and values [n, elements of a value]. */
static weft_err check_buckets(const kernel *k, const lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  const shape *keys = &k->in[1]->shape, *values = &k->in[2]->shape;
  WEFT_TRY(check_types(k, (weft_dtype[]){spec->key, spec->value}, NULL));
  const int64_t n = keys->rank > 0 ? keys->dim[0] : -1;
  if (n > 0 && values->rank > 0 && values->dim[0] == n && !(n & (n - 1)) &&
      weft__shape_count(keys) == n * weft__shape_count(&spec->key_row) &&
      weft__shape_count(values) == n * weft__shape_count(&spec->row))
    return WEFT_OK;
  return weft__kernel_fail(
      k, WEFT_INVALID_ARGUMENT,
      "keys of shape %s and values of shape %s are not the buckets of a table with keys of shape %s "
      "and values of shape %s",
      weft__shape_text(keys), weft__shape_text(values), weft__shape_text(&spec->key_row), weft__shape_text(&spec->row));
}

static weft_err do_import(kernel *k, lookup *t) {
  WEFT_TRY(weft__lookup_spec(t)->dense ? check_buckets(k, t) : check_pairs(k, t));
  return weft__lookup_fill(t, k->in[1], k->in[2]);
}

static weft_err do_initialize(kernel *k, lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  if (!spec->fixed) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the table is not initializable");
  WEFT_TRY(check_types(k, (weft_dtype[]){spec->key, spec->value}, NULL));
  const int64_t n = weft__tensor_count(k->in[1]), m = weft__tensor_count(k->in[2]);
  if (n != m)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Keys and values must have the same size %lld vs %lld",
                             (long long)n, (long long)m);
  return weft__lookup_fill(t, k->in[1], k->in[2]);
}

static weft_err do_insert(kernel *k, lookup *t) {
  WEFT_TRY(check_pairs(k, t));
  WEFT_TRY(weft__lookup_check_count(t, &k->in[1]->shape));
  return weft__lookup_insert(t, k->in[1], k->in[2]);
}

static weft_err do_remove(kernel *k, lookup *t) {
  shape values;
  WEFT_TRY(check_types(k, &weft__lookup_spec(t)->key, NULL));
  WEFT_TRY(weft__lookup_values_shape(t, &k->in[1]->shape, &values));
  WEFT_TRY(weft__lookup_check_count(t, &k->in[1]->shape));
  return weft__lookup_remove(t, k->in[1]);
}

static weft_err do_size(kernel *k, lookup *t) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int64_t)[0] = weft__lookup_size(t);
  return WEFT_OK;
}

static weft_err do_export(kernel *k, lookup *t) {
  const lookup_spec *spec = weft__lookup_spec(t);
  weft_tensor keys = {0}, values = {0};
  WEFT_TRY(check_types(k, NULL, (weft_dtype[]){spec->key, spec->value}));
  WEFT_TRY(weft__lookup_export(t, &keys, &values));
  weft_err err = weft__out_share(k, 0, &keys);
  if (!err) err = weft__out_share(k, 1, &values);
  weft__tensor_clear(&keys);
  weft__tensor_clear(&values);
  return err;
}

static weft_err with_table(kernel *k, weft_err (*act)(kernel *, lookup *)) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, LOOKUP_TYPE, &r)));
  const weft_err err = act(k, (lookup *)r);
  weft__object_release(&r->base);
  return weft__kernel_in(k, err);
}

static weft_err find_cpu(kernel *k) { return with_table(k, do_find); }
static weft_err import_cpu(kernel *k) { return with_table(k, do_import); }
static weft_err initialize_cpu(kernel *k) { return with_table(k, do_initialize); }
static weft_err lookup_insert_cpu(kernel *k) { return with_table(k, do_insert); }
static weft_err remove_cpu(kernel *k) { return with_table(k, do_remove); }
static weft_err lookup_size_cpu(kernel *k) { return with_table(k, do_size); }
static weft_err export_cpu(kernel *k) { return with_table(k, do_export); }

static weft_err export_infer(infer *s) {
  if (s->in[0].rank == 1) s->out[0] = SHAPE1(-1); /* the older ops know that keys are a vector */
  return WEFT_OK;
}

/* ---- table: every row twice ---- */

#define TYPES "key_dtype:type value_dtype:type"
#define STATE "container:string='' shared_name:string='' use_node_name_sharing:bool=false " TYPES
#define TABLE(NAME, ATTRS, DOC)                                                                                        \
  {NAME "V2() -> (table_handle:resource) | " STATE ATTRS " ; stateful",                                                \
   DOC,                                                                                                                \
   .infer = weft__resource_infer,                                                                                      \
   .cpu = table_cpu,                                                                                                   \
   .no_grad = true,                                                                                                    \
   .prepare = weft__resource_prepare,                                                                                  \
   .unprepare = weft__resource_unprepare},                                                                             \
  {                                                                                                                    \
    NAME "() -> (table_handle:&string) | " STATE ATTRS " ; stateful", DOC,                                             \
        .infer = weft__resource_infer, .cpu = table_cpu, .no_grad = true, .prepare = weft__resource_prepare,           \
        .unprepare = weft__resource_unprepare                                                                          \
  }
#define ANONYMOUS(NAME, ATTRS, DOC)                                                                                    \
  {                                                                                                                    \
    NAME "() -> (table_handle:resource) | " TYPES ATTRS " ; stateful", DOC, .infer = weft__resource_infer,             \
                                                                            .cpu = anonymous_cpu                       \
  }
#define ASKS(NAME, ARGS, RESULT, ATTRS, DOC, INFER, FN, ...)                                                           \
  {NAME "V2(table_handle:resource" ARGS ") -> (" RESULT ")" ATTRS " ; stateful", DOC, .infer = INFER, .cpu = FN,       \
   __VA_ARGS__},                                                                                                       \
  {                                                                                                                    \
    NAME "(table_handle:&string" ARGS ") -> (" RESULT ")" ATTRS, DOC, .infer = INFER, .cpu = FN, __VA_ARGS__           \
  }
#define PAIRS " | Tin:type Tout:type"
#define DENSE TYPES " value_shape:shape=[] initial_num_buckets:int=131072 max_load_factor:float=0.800000012 ; stateful"

OPS(lookup) = {
    TABLE("HashTable", "", "A table that is filled once."),
    TABLE("MutableHashTable", "", "A table that may change."),
    TABLE("MutableHashTableOfTensors", " value_shape:shape=[]", "A table from keys to rows that may change."),
    {"MutableDenseHashTableV2(empty_key:key_dtype, deleted_key:key_dtype) -> (table_handle:resource) | "
     "container:string='' shared_name:string='' use_node_name_sharing:bool=false " DENSE,
     "A table that may change, with keys of any shape.", .infer = weft__resource_infer, .cpu = lookup_dense_cpu,
     .no_grad = true, .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare},
    {"MutableDenseHashTable(empty_key:key_dtype) -> (table_handle:&string) | container:string='' "
     "shared_name:string='' use_node_name_sharing:bool=false " DENSE,
     "A table that may change, with keys of any shape.", .infer = weft__resource_infer, .cpu = lookup_dense_cpu,
     .no_grad = true, .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare},
    {"AnonymousMutableDenseHashTable(empty_key:key_dtype, deleted_key:key_dtype) -> (table_handle:resource) | " DENSE,
     "A table that may change, with keys of any shape, known by its handle alone.", .infer = weft__resource_infer,
     .cpu = anonymous_dense_cpu},
    ANONYMOUS("AnonymousHashTable", "", "A table that is filled once, known by its handle alone."),
    ANONYMOUS("AnonymousMutableHashTable", "", "A table that may change, known by its handle alone."),
    ANONYMOUS("AnonymousMutableHashTableOfTensors", " value_shape:shape=[]",
              "A table from keys to rows that may change, known by its handle alone."),
    ASKS("LookupTableFind", ", keys:Tin, default_value:Tout", "values:Tout", PAIRS, "The values of keys.", find_infer,
         find_cpu, .no_grad = true, .narrow = NARROW_ALL),
    ASKS("LookupTableImport", ", keys:Tin, values:Tout", "", PAIRS, "Fills a table with these alone.",
         lookup_fill_infer, import_cpu, .narrow = NARROW_ALL),
    ASKS("LookupTableInsert", ", keys:Tin, values:Tout", "", PAIRS, "Adds entries to a table, or replaces them.",
         weft__infer_none, lookup_insert_cpu, .no_grad = true, .narrow = NARROW_ALL),
    ASKS("InitializeTable", ", keys:Tkey, values:Tval", "", " | Tkey:type Tval:type", "Fills a table.",
         lookup_fill_infer, initialize_cpu, .no_grad = true, .narrow = NARROW_ALL),
    ASKS("LookupTableSize", "", "size:int64", "", "How many entries a table has.", weft__infer_scalar, lookup_size_cpu,
         .no_grad = true),
    ASKS("LookupTableExport", "", "keys:Tkeys, values:Tvalues", " | Tkeys:type Tvalues:type",
         "All keys of a table, and their values.", export_infer, export_cpu, .narrow = NARROW_ALL),
    {"LookupTableRemoveV2(table_handle:resource, keys:Tin) -> () | Tin:type ; stateful", "Drops entries of a table.",
     .infer = weft__infer_none, .cpu = remove_cpu, .narrow = NARROW_ALL},
    {.scenario = "tests/parity/test_tables.py"},
};
