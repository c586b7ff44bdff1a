/* inspect.c - the public functions that read and write files of records, Events and Examples. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/cast.h"
#include "base/progress.h"
#include "graph/graphdef.h"
#include "graph/metagraph.h"
#include "io/file.h"
#include "io/record.h"
#include "proto/scan.h"
#include "proto/text.h"
#include "tensor/enum_name.h"
#include "tensor/tensor_proto.h"
#include "weft/train.h"
#include <string.h>

/* ---- records ---- */

weft_err weft_records_each(const char *path, weft_record_fn *fn, void *arg) {
  API_NEED(path);
  API_NEED(fn);

  record_reader *r;
  text record = {0};
  uint64_t offset, n = 0;
  bool end = false;
  progress p = {0};
  WEFT_TRY(weft__records_open(&r, path, COMPRESSION_GUESS));
  weft_err err = weft__record_next(r, &record, &offset, &end);
  while (!err && !end) {
    err = fn(arg, weft__text_get(&record), record.size);
    if (err) err = weft__fail_in(err, "%s: the record at byte %llu", path, (unsigned long long)offset);
    weft__progress_log(&p, path, ++n, 0, "records read");
    if (!err) err = weft__record_next(r, &record, &offset, &end);
  }
  weft__text_finish(&record);
  weft__records_close(r);
  return err;
}

/* A public writer is a writer of io/record.h under another name. */
weft_err weft_record_writer_create(weft_record_writer **out, const char *path) {
  API_NEED(out);
  API_NEED(path);

  return weft__record_writer_create((record_writer **)out, path, COMPRESSION_NONE);
}
weft_err weft_record_write(weft_record_writer *w, const void *record, size_t size) {
  API_NEED(w);
  API_ITEMS(size, record);

  return weft__record_write((record_writer *)w, record, size);
}
weft_err weft_record_writer_close(weft_record_writer *w) { return weft__record_writer_destroy((record_writer *)w); }

weft_err weft_record_frame_make(weft_record_frame *out, const void *record, size_t size) {
  API_NEED(out);
  API_ITEMS(size, record);

  weft__record_frame_make(out, record, size);
  return WEFT_OK;
}

/* ---- graphs as text ---- */

weft_err weft_graph_def_parse(void **out, size_t *size, const char *source, size_t length) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(source);

  text bytes = {0};
  weft_err err = weft__proto_from_text(&bytes, &tensorflow__graph_def__descriptor, source, length, weft__enum_number);
  *size = bytes.size;
  *out = err == WEFT_OK ? weft__text_take(&bytes) : NULL;
  weft__text_finish(&bytes);
  return err == WEFT_OK && !*out && *size ? WEFT_OOM : err;
}

/* ---- files with graphs ---- */

static bool ends_with(const char *s, const char *end) {
  const size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

/* Returns true if the file is text: it has no control characters except white space.  A binary GraphDef always has
 * others, in its tags and lengths. */
static bool is_text(const char *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)data[i] < ' ' && !strchr("\t\n\r", data[i])) return false;
  return size > 0;
}

static weft_err import_bytes(weft_graph *g, bool is_meta, const text *bytes, const char *prefix) {
  const uint8_t *data = (const uint8_t *)weft__text_get(bytes);
  return is_meta ? weft__metagraph_import(g, data, bytes->size, &(import_opts){.prefix = prefix})
                 : weft__graph_import(g, data, bytes->size, &(import_opts){.prefix = prefix});
}

static weft_err import_file(weft_graph *g, bool is_meta, const text *file, const char *prefix) {
  if (!is_text(weft__text_get(file), file->size)) return import_bytes(g, is_meta, file, prefix);
  text bytes = {0};
  weft_err err = weft__proto_from_text(
      &bytes, is_meta ? &tensorflow__meta_graph_def__descriptor : &tensorflow__graph_def__descriptor,
      weft__text_get(file), file->size, weft__enum_number);
  if (err)
    err = weft__fail_in(err, "the text is not a %s", is_meta ? "MetaGraphDef" : "GraphDef");
  else
    err = import_bytes(g, is_meta, &bytes, prefix);
  weft__text_finish(&bytes);
  return err;
}

weft_err weft_graph_import_file(weft_graph *g, const char *path, const char *prefix) {
  API_NEED(g);
  API_NEED(path);

  text file = {0};
  weft_err err = weft__file_read(path, &file);
  if (!err && (err = import_file(g, ends_with(path, ".meta"), &file, prefix))) err = weft__fail_in(err, "%s", path);
  weft__text_finish(&file);
  return err;
}

/* ---- events ---- */

/* Reads a scalar of a Summary: a number, or a tensor of one number as TensorFlow 2 writes it. *is_scalar is false
 * for anything else. */
static weft_err read_scalar(const Tensorflow__SummaryValue *v, double *value, bool *is_scalar) {
  *is_scalar = v->value_case == TENSORFLOW__SUMMARY_VALUE__VALUE_SIMPLE_VALUE;
  if (*is_scalar) *value = (double)v->simple_value;
  if (v->value_case != TENSORFLOW__SUMMARY_VALUE__VALUE_TENSOR) return WEFT_OK;
  weft_tensor *t;
  WEFT_TRY(weft__tensor_from_proto(&t, v->tensor));
  *is_scalar = t->shape.rank == 0 && weft__dtype_is_plain(t->dtype);
  if (*is_scalar) *value = weft__tensor_double(t, 0);
  weft_tensor_destroy(t);
  return WEFT_OK;
}

weft_err weft_event_scalars(const void *event, size_t size, weft_event_scalar_fn *fn, void *arg) {
  API_ITEMS(size, event);
  API_NEED(fn);

  ProtobufCMessage *m;
  weft_err err = WEFT_OK;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__event__descriptor, event, size));
  const Tensorflow__Event *e = (const Tensorflow__Event *)m;
  const size_t n = e->what_case == TENSORFLOW__EVENT__WHAT_SUMMARY ? e->summary->n_value : 0;
  for (size_t i = 0; !err && i < n; i++) {
    weft_event_scalar s = {.tag = e->summary->value[i]->tag, .step = e->step, .wall_time = e->wall_time};
    bool is_scalar;
    err = read_scalar(e->summary->value[i], &s.value, &is_scalar);
    if (!err && is_scalar) err = fn(arg, &s);
  }
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* ---- examples ---- */

static weft_err numbers_tensor(weft_tensor **out, weft_dtype dtype, size_t n, const void *data) {
  return weft_tensor_create(out, dtype, 1, (const int64_t[]){(int64_t)n}, n ? data : NULL);
}

static weft_err strings_tensor(weft_tensor **out, const Tensorflow__BytesList *l) {
  WEFT_TRY(numbers_tensor(out, WEFT_STRING, l->n_value, NULL));
  for (size_t i = 0; i < l->n_value; i++) {
    weft_err err = weft_tensor_set_string(*out, (int64_t)i, (const char *)l->value[i].data, l->value[i].len);
    if (err) return weft_tensor_destroy(*out), err;
  }
  return WEFT_OK;
}

static weft_err read_feature(weft_tensor **out, const Tensorflow__Feature *f) {
  switch (f ? f->kind_case : TENSORFLOW__FEATURE__KIND__NOT_SET) {
  case TENSORFLOW__FEATURE__KIND_BYTES_LIST: return strings_tensor(out, f->bytes_list);
  case TENSORFLOW__FEATURE__KIND_FLOAT_LIST:
    return numbers_tensor(out, WEFT_FLOAT, f->float_list->n_value, f->float_list->value);
  case TENSORFLOW__FEATURE__KIND_INT64_LIST:
    return numbers_tensor(out, WEFT_INT64, f->int64_list->n_value, f->int64_list->value);
  default: return numbers_tensor(out, WEFT_FLOAT, 0, NULL);
  }
}

static weft_err each_feature(const Tensorflow__Features *all, weft_feature_fn *fn, void *arg) {
  weft_err err = WEFT_OK;
  for (size_t i = 0; !err && all && i < all->n_feature; i++) {
    weft_tensor *value;
    WEFT_TRY(read_feature(&value, all->feature[i]->value));
    err = fn(arg, all->feature[i]->key, value);
    weft_tensor_destroy(value);
  }
  return err;
}

weft_err weft_example_features(const void *example, size_t size, weft_feature_fn *fn, void *arg) {
  API_ITEMS(size, example);
  API_NEED(fn);

  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__example__descriptor, example, size));
  const weft_err err = each_feature(((const Tensorflow__Example *)m)->features, fn, arg);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* Calls fn with the steps of one list, as tensors that are valid until it returns. */
static weft_err show_list(const Tensorflow__FeatureListsFeatureListEntry *entry, weft_feature_list_fn *fn, void *arg) {
  const size_t n = entry->value ? entry->value->n_feature : 0;
  weft_tensor **steps = weft__alloc_zero(n + 1, sizeof *steps);
  weft_err err = !steps ? WEFT_OOM : WEFT_OK;
  size_t made = 0;
  while (!err && made < n) {
    err = read_feature(&steps[made], entry->value->feature[made]);
    if (!err) made++;
  }
  if (!err) err = fn(arg, entry->key, weft__int_sat(n), (const weft_tensor *const *)steps);
  for (size_t i = 0; i < made; i++) weft_tensor_destroy(steps[i]);
  weft__free(steps);
  return err;
}

weft_err weft_sequence_example_features(const void *example, size_t size, weft_feature_fn *context,
                                        weft_feature_list_fn *list, void *arg) {
  API_ITEMS(size, example);

  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__sequence_example__descriptor, example, size));
  const Tensorflow__SequenceExample *s = (const Tensorflow__SequenceExample *)m;
  weft_err err = context ? each_feature(s->context, context, arg) : WEFT_OK;
  for (size_t i = 0; !err && list && s->feature_lists && i < s->feature_lists->n_feature_list; i++)
    err = show_list(s->feature_lists->feature_list[i], list, arg);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

typedef struct feature { /* the source of one packed feature */
  Tensorflow__FeaturesFeatureEntry entry;
  Tensorflow__Feature value;
  Tensorflow__BytesList strings;
  Tensorflow__FloatList floats;
  Tensorflow__Int64List ints;
} feature;

static weft_err list_strings(Tensorflow__BytesList *l, const weft_tensor *t, arena *a) {
  l->value = weft__arena_alloc(a, l->n_value * sizeof *l->value + 1);
  if (!l->value) return WEFT_OOM;
  for (size_t i = 0; i < l->n_value; i++) {
    const char *data;
    WEFT_TRY(weft_tensor_string(t, (int64_t)i, &data, &l->value[i].len));
    l->value[i].data = (uint8_t *)data;
  }
  return WEFT_OK;
}

static weft_err fill_feature(feature *f, const char *name, const weft_tensor *t, arena *a) {
  const size_t n = (size_t)weft__tensor_count(t);
  tensorflow__features_feature_entry__init(&f->entry);
  tensorflow__feature__init(&f->value);
  f->entry.key = (char *)name;
  f->entry.value = &f->value;
  switch (t->dtype) {
  case WEFT_STRING:
    tensorflow__bytes_list__init(&f->strings);
    f->value.kind_case = TENSORFLOW__FEATURE__KIND_BYTES_LIST;
    f->value.bytes_list = &f->strings;
    f->strings.n_value = n;
    return list_strings(&f->strings, t, a);
  case WEFT_FLOAT:
    tensorflow__float_list__init(&f->floats);
    f->value.kind_case = TENSORFLOW__FEATURE__KIND_FLOAT_LIST;
    f->value.float_list = &f->floats;
    f->floats.n_value = n;
    f->floats.value = t->data;
    return WEFT_OK;
  case WEFT_INT64:
    tensorflow__int64_list__init(&f->ints);
    f->value.kind_case = TENSORFLOW__FEATURE__KIND_INT64_LIST;
    f->value.int64_list = &f->ints;
    f->ints.n_value = n;
    f->ints.value = t->data;
    return WEFT_OK;
  default:
    return weft__fail(WEFT_INVALID_ARGUMENT, "feature %s: an Example holds strings, float32 and int64, not %s", name,
                      weft__dtype_name(t->dtype));
  }
}

weft_err weft_example_create(void **out, size_t *size, int n, const char *const *names,
                             const weft_tensor *const *values) {
  API_NEED(out);
  API_NEED(size);
  API_ARRAY(n, names);
  API_ARRAY(n, values);

  arena a = {0};
  Tensorflow__Example example = TENSORFLOW__EXAMPLE__INIT;
  Tensorflow__Features features = TENSORFLOW__FEATURES__INIT;
  feature *all = weft__arena_alloc(&a, (size_t)n * sizeof *all + 1);
  features.feature = weft__arena_alloc(&a, (size_t)n * sizeof *features.feature + 1);
  features.n_feature = (size_t)n;
  example.features = &features;
  weft_err err = all && features.feature ? WEFT_OK : WEFT_OOM;
  for (int i = 0; !err && i < n; i++) {
    features.feature[i] = &all[i].entry;
    err = fill_feature(&all[i], names[i], values[i], &a);
  }
  if (!err) {
    *size = tensorflow__example__get_packed_size(&example);
    *out = weft__alloc(*size + 1);
    if (*out)
      tensorflow__example__pack(&example, *out);
    else
      err = WEFT_OOM;
  }
  weft__arena_finish(&a);
  return err;
}

/* ---- tensors ---- */

double weft_tensor_number(const weft_tensor *t, int64_t i) {
  API_NEED_OR(t, 0);
  return i >= 0 && i < weft__tensor_count(t) ? weft__tensor_double(t, i) : 0;
}

weft_err weft_tensor_text(char **out, const weft_tensor *t, int limit) {
  API_NEED(out);
  API_NEED(t);

  text shown = {0};
  weft__tensor_print(&shown, t, limit);
  *out = weft__text_take(&shown);
  return *out ? WEFT_OK : WEFT_OOM;
}
