/* dataset_access.c - ops that read a data set themselves: into a file, into a lookup table, or one element by its
 * index.  Also the sizes of batches, and an element compressed into one variant. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "io/confine.h"
#include "io/record.h"
#include "ops/data/dataset.h"
#include "state/held_tensors.h"
#include "state/lookup.h"
#include <string.h>

/* ---- reading a data set from its beginning ---- */

typedef struct reading {
  const step *step;
  dataset *set;
  dataset_pass pass;
  iterator *at;
  weft_tensor *part; /* the current element */
  bool begun, over;
} reading;

static weft_err reading_begin(reading *r, const kernel *k, int arg) {
  r->step = k->step;
  WEFT_TRY(weft__dataset_get(k->in[arg], &r->set));
  WEFT_TRY(weft__dataset_pass_init(&r->pass, k->step));
  r->begun = true;
  if (!(r->part = weft__components_alloc(r->set->n_part))) return WEFT_OOM;
  return weft__iterator_create(&r->at, r->set, &r->pass);
}

static weft_err reading_next(reading *r) {
  weft__components_clear(r->part, r->set->n_part);
  return weft__iterator_next(r->at, r->step, r->part, &r->over);
}

static void reading_finish(reading *r) {
  if (!r->begun) return;
  weft__cancel_fire(&r->pass.cancel, WEFT_CANCELLED, "The data set was read.");
  weft__iterator_destroy(r->at);
  weft__components_free(r->part, r->set->n_part);
  weft__dataset_pass_finish(&r->pass);
}

/* ---- into a file of records ---- */

static weft_err dataset_access_write_all(reading *r, const kernel *k, record_writer *w) {
  if (r->set->n_part != 1 || r->set->type[0] != WEFT_STRING)
    return weft__fail(WEFT_INVALID_ARGUMENT, "DatasetToTFRecord: elements must be scalars of string");
  for (;;) {
    WEFT_TRY(weft__step_check_time(k->step));
    WEFT_TRY(reading_next(r));
    if (r->over) return WEFT_OK;
    if (r->part[0].shape.rank != 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "DatasetToTFRecord: an element has shape %s, but must be a scalar",
                        weft__shape_text(&r->part[0].shape));
    const str *s = &TENSOR_DATA(&r->part[0], str)[0];
    WEFT_TRY(weft__record_write(w, s->size ? s->data : "", s->size));
  }
}

static weft_err to_file(reading *r, const kernel *k, const char *path, const char *packing) {
  record_writer *w = NULL;
  const compression c = weft__compression_of(packing);
  if (packing[0] && strcmp(packing, "ZLIB") != 0 && strcmp(packing, "GZIP") != 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "compression_type must be \"\", \"ZLIB\" or \"GZIP\", not \"%s\"",
                      packing);
  WEFT_TRY(weft__path_allowed(path));
  WEFT_TRY(weft__record_writer_create(&w, path, c));
  const weft_err err = dataset_access_write_all(r, k, w);
  if (!err) return weft__record_writer_destroy(w);
  text said = {0};
  weft__text_add(&said, weft__error_message(), strlen(weft__error_message()));
  weft_err closed = weft__record_writer_destroy(w);
  if (closed && said.data) closed = weft__fail(err, "%.*s", weft__int_sat(said.size), said.data);
  weft__text_finish(&said);
  return closed ? closed : err;
}

static weft_err to_file_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "filename"));
  WEFT_TRY(weft__kernel_scalar(k, 2, "compression_type"));
  char *path = weft__kernel_strdup(k, 1), *packing = weft__kernel_strdup(k, 2);
  reading r = {0};
  weft_err err = path && packing ? reading_begin(&r, k, 0) : WEFT_OOM;
  if (!err) err = to_file(&r, k, path, packing);
  reading_finish(&r);
  weft__free(path);
  weft__free(packing);
  return weft__kernel_in(k, err);
}

/* ---- into a lookup table ---- */

typedef struct entries {
  weft_tensor t[2]; /* keys, values */
  int64_t n, room;
} entries;

static weft_err entries_grow(entries *e, const lookup_spec *spec) {
  const int64_t room = e->room ? 2 * e->room : 64;
  const weft_dtype type[] = {spec->key, spec->value};
  for (int i = 0; i < 2; i++) {
    weft_tensor grown = {0};
    WEFT_TRY(weft__tensor_init(&grown, type[i], &SHAPE1(room)));
    const weft_err err = e->n ? weft__elements_copy(type[i], grown.data, e->t[i].data, e->n) : WEFT_OK;
    weft__tensor_clear(&e->t[i]);
    e->t[i] = grown; /* moved, so not cleared */
    if (err) return err;
  }
  e->room = room;
  return WEFT_OK;
}

static weft_err check_entry(const reading *r, const lookup_spec *spec) {
  if (r->set->n_part != 2 || r->set->type[0] != spec->key || r->set->type[1] != spec->value)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "the data set must have elements of a key of type %s and a value of type %s",
                      weft__dtype_name(spec->key), weft__dtype_name(spec->value));
  return WEFT_OK;
}

static weft_err fill_table(reading *r, lookup *t, entries *e) {
  const lookup_spec *spec = weft__lookup_spec(t);
  if (!spec->fixed) return weft__fail(WEFT_INVALID_ARGUMENT, "the table is not initializable");
  WEFT_TRY(check_entry(r, spec));
  for (;;) {
    WEFT_TRY(weft__step_check_time(r->step));
    WEFT_TRY(reading_next(r));
    if (r->over) break;
    if (e->n == e->room) WEFT_TRY(entries_grow(e, spec));
    for (int i = 0; i < 2; i++) {
      if (weft__tensor_count(&r->part[i]) != 1)
        return weft__fail(WEFT_INVALID_ARGUMENT, "keys and values of a table must be scalars, not of shape %s",
                          weft__shape_text(&r->part[i].shape));
      const weft_dtype type = r->part[i].dtype;
      char *to = (char *)e->t[i].data + (size_t)e->n * weft__dtype_size(type);
      WEFT_TRY(weft__elements_copy(type, to, r->part[i].data, 1));
    }
    e->n++;
  }
  if (!e->room) WEFT_TRY(entries_grow(e, spec));
  e->t[0].shape.dim[0] = e->t[1].shape.dim[0] = e->n;
  return weft__lookup_fill(t, &e->t[0], &e->t[1]);
}

static weft_err fill_table_cpu(kernel *k) {
  resource *table = NULL;
  reading r = {0};
  entries e = {0};
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, LOOKUP_TYPE, &table)));
  weft_err err = reading_begin(&r, k, 1);
  if (!err) err = fill_table(&r, (lookup *)table, &e);
  reading_finish(&r);
  weft__tensor_clear(&e.t[0]);
  weft__tensor_clear(&e.t[1]);
  weft__object_release(&table->base);
  return weft__kernel_in(k, err);
}

/* ---- one element by its index ---- */

static weft_err dataset_access_check_index(const dataset *d, int64_t index) {
  const int64_t n = weft__dataset_count(d);
  if (n < 0)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "Dataset of type %s has %s cardinality, which does not support random access.", d->kind->name,
                      n == DATASET_INFINITE ? "infinite" : "unknown");
  if (index >= 0 && index < n) return WEFT_OK;
  return weft__fail(WEFT_OUT_OF_RANGE, "Index out of range [0, %lld):%lld", (long long)n, (long long)index);
}

static weft_err dataset_access_return(kernel *k, const reading *r) {
  if (k->n_out != r->set->n_part)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Number of components does not match: expected %d types but got %d.",
                      k->n_out, r->set->n_part);
  for (int i = 0; i < k->n_out; i++) {
    if (r->part[i].dtype != k->node->out_type[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Data type mismatch at component %d: expected %s but got %s.", i,
                        weft__dtype_short(k->node->out_type[i]), weft__dtype_short(r->part[i].dtype));
    if (!weft__shape_compatible(&k->node->out_shape[i], &r->part[i].shape))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Incompatible shapes at component %d: expected %s but got %s.", i,
                        weft__shape_text(&k->node->out_shape[i]), weft__shape_text(&r->part[i].shape));
    WEFT_TRY(weft__out_share(k, i, &r->part[i]));
  }
  return WEFT_OK;
}

static weft_err at_index_cpu(kernel *k) {
  int64_t index;
  reading r = {0};
  WEFT_TRY(weft__dataset_int(k, 1, "index", &index));
  weft_err err = reading_begin(&r, k, 0);
  if (!err) err = dataset_access_check_index(r.set, index);
  for (int64_t i = 0; i <= index && !err && !r.over; i++) err = reading_next(&r);
  if (!err && r.over) err = weft__fail(WEFT_OUT_OF_RANGE, "the data set ended before element %lld", (long long)index);
  if (!err) err = dataset_access_return(k, &r);
  reading_finish(&r);
  return weft__kernel_in(k, err);
}

/* ---- sizes of batches ---- */

static weft_err batch_size_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  weft_tensor *t = weft__out(k, 0, &SHAPE_SCALAR);
  if (!t) return WEFT_OOM;
  TENSOR_DATA(t, int64_t)[0] = weft__dataset_rows(d);
  return WEFT_OK;
}

/* ---- an element in one variant ---- */

static weft_err compress_cpu(kernel *k) {
  held_tensors *v = NULL;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  WEFT_TRY(weft__held_tensors_create(&v, HELD_COMPRESSED, k->n_in));
  weft__held_tensors_put(out, 0, v);
  for (int i = 0; i < k->n_in; i++) WEFT_TRY(weft__tensor_keep(&v->t[i], k->in[i]));
  return WEFT_OK;
}

static weft_err uncompress_cpu(kernel *k) {
  const held_tensors *v = weft__held_tensors_at(k->in[0], 0, HELD_COMPRESSED);
  if (!v) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Tensor does not contain a compressed element");
  if (v->n != k->n_out)
    return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "Expected %d outputs from uncompress, but got %d", k->n_out,
                             v->n);
  for (int i = 0; i < v->n; i++) {
    if (v->t[i].dtype != k->node->out_type[i])
      return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "Expected a tensor of type %s but got a tensor of type %s",
                               weft__dtype_name(k->node->out_type[i]), weft__dtype_name(v->t[i].dtype));
    WEFT_TRY(weft__out_share(k, i, &v->t[i]));
  }
  return WEFT_OK;
}

#define TO_FILE "(input_dataset:variant, filename:string, compression_type:string) -> () ; stateful"
#define READS(DEF, DOC, FN)                                                                                            \
  { DEF, DOC, .flags = OP_BLOCKING, .infer = weft__infer_output_shapes, .cpu = FN }

OPS(dataset_access) = {
    READS("DatasetToTFRecord" TO_FILE, "Writes the elements to a file of records.", to_file_cpu),
    READS("ExperimentalDatasetToTFRecord" TO_FILE, "Writes the elements to a file of records.", to_file_cpu),
    READS("InitializeTableFromDataset(table_handle:resource, dataset:variant) -> () ; stateful",
          "Fills a table with the keys and values of a data set.", fill_table_cpu),
    READS("GetElementAtIndex(dataset:variant, index:int64) -> (components:@output_types) | " OUTPUTS,
          "The element of that number.", at_index_cpu),
    {"ComputeBatchSize(input_dataset:variant) -> (batch_size:int64)", "The number of rows of batches; -1: unknown.",
     DATASET_FLAGS, .cpu = batch_size_cpu},
    {"CompressElement(components:@input_types) -> (compressed:variant) | input_types:list(type)>=1",
     "Tensors in one variant.", DATASET_FLAGS, .cpu = compress_cpu},
    {"UncompressElement(compressed:variant) -> (components:@output_types) | " OUTPUTS, "The tensors of one variant.",
     .flags = OP_NO_FOLD, .infer = weft__infer_output_shapes, .cpu = uncompress_cpu},
    {.scenario = "tests/python/test_data_ops.py"},
};
