/* reader.c - the ops of readers. state/reader.h describes their behavior.  Each op exists twice: with a resource
 * handle (V2) and with a reference to a string. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "state/reader.h"

/* ---- making ---- */

static reader_kind reader_kind_of(const weft_node *n) {
  static const struct {
    const char *prefix;
    reader_kind kind;
  } kinds[] = {{"TextLine", READER_LINES},
               {"WholeFile", READER_WHOLE},
               {"FixedLength", READER_FIXED},
               {"Identity", READER_IDENTITY},
               {"LMDB", READER_LMDB}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strncmp(n->op_name, kinds[i].prefix, strlen(kinds[i].prefix))) return kinds[i].kind;
  return READER_RECORDS;
}

static weft_err make_reader(resource **out, void *arg) {
  const resource_maker *m = arg;
  const weft_node *n = m->node;
  reader_kind kind = reader_kind_of(n);
  attr_str packing = weft__node_str(n, kind == READER_FIXED ? "encoding" : "compression_type");
  reader_spec spec = {.kind = kind,
                      .compression = weft__compression_of(packing.data),
                      .skip_header_lines = weft__node_int(n, "skip_header_lines", 0),
                      .header_bytes = weft__node_int(n, "header_bytes", 0),
                      .record_bytes = weft__node_int(n, "record_bytes", 0),
                      .footer_bytes = weft__node_int(n, "footer_bytes", 0),
                      .hop_bytes = weft__node_int(n, "hop_bytes", 0)};
  size_t base = strlen(n->op_name), v2 = base > 2 && !strcmp(n->op_name + base - 2, "V2") ? 2 : 0;
  char *name = weft__sprintf("%.*s '%s'", weft__int_sat(base - v2), n->op_name, n->name);
  if (!name) return WEFT_OOM;
  weft_err err = weft__reader_create((reader **)out, &spec, name);
  weft__free(name);
  return err;
}

static const resource_kind reader_resource = {READER_TYPE, true, make_reader};

static weft_err reader_cpu(kernel *k) { return weft__kernel_in(k, weft__resource_output(k, &reader_resource, NULL)); }

/* ---- reading ---- */

/* Moves the strings into output i. */
static weft_err out_strings(kernel *k, int i, const shape *s, const str *from, int64_t n) {
  weft_tensor *out = weft__out(k, i, s);
  if (!out) return WEFT_OOM;
  for (int64_t j = 0; j < n; j++) WEFT_TRY(weft__str_set(&TENSOR_DATA(out, str)[j], from[j].data, from[j].size));
  return WEFT_OK;
}

static void reader_finish(kernel *k, weft_err err, const shape *s, const str *keys, const str *values, int64_t n) {
  if (err == WEFT_OK) err = out_strings(k, 0, s, keys, n);
  if (err == WEFT_OK) err = out_strings(k, 1, s, values, n);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static void one_done(void *arg, weft_err err, const str *keys, const str *values, int64_t n) {
  reader_finish(arg, err, &SHAPE_SCALAR, keys, values, n);
}

static void many_done(void *arg, weft_err err, const str *keys, const str *values, int64_t n) {
  reader_finish(arg, err, &SHAPE1(n), keys, values, n);
}

static weft_err reader_ask(kernel *k, int64_t n, reader_fn *fn) {
  resource *r = NULL, *names = NULL;
  weft_err err = weft__kernel_in(k, weft__kernel_resource(k, 0, READER_TYPE, &r));
  if (err == WEFT_OK) err = weft__kernel_in(k, weft__kernel_resource(k, 1, QUEUE_TYPE, &names));
  if (err == WEFT_OK) {
    weft__kernel_defer(k);
    weft__reader_read((reader *)r, (queue *)names, n, k->step->cancel, fn, k);
  }
  weft__object_release((object *)r);
  weft__object_release((object *)names);
  return err;
}

static weft_err reader_read_cpu(kernel *k) { return reader_ask(k, 1, one_done); }

static weft_err read_up_to_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 2, "num_records"));
  return reader_ask(k, weft__tensor_int(k->in[2], 0), many_done);
}

/* ---- asking and setting ---- */

static weft_err with_reader(kernel *k, weft_err (*act)(kernel *, reader *)) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, READER_TYPE, &r)));
  weft_err err = act(k, (reader *)r);
  weft__object_release((object *)r);
  return weft__kernel_in(k, err);
}

static weft_err out_count(kernel *k, int64_t n) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int64_t)[0] = n;
  return WEFT_OK;
}

static weft_err do_records(kernel *k, reader *r) { return out_count(k, weft__reader_records(r)); }
static weft_err do_files(kernel *k, reader *r) { return out_count(k, weft__reader_files(r)); }

static weft_err do_reset(kernel *k, reader *r) {
  (void)k;
  weft__reader_reset(r);
  return WEFT_OK;
}

static weft_err do_save(kernel *k, reader *r) {
  text t = {0};
  weft_err err = weft__reader_save(r, &t);
  if (err == WEFT_OK) err = out_strings(k, 0, &SHAPE_SCALAR, &(str){t.data, t.size}, 1);
  weft__text_finish(&t);
  return err;
}

static weft_err do_restore(kernel *k, reader *r) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "state"));
  const str *s = TENSOR_DATA(k->in[1], str);
  return weft__reader_restore(r, s->size ? s->data : "", s->size);
}

static weft_err records_cpu(kernel *k) { return with_reader(k, do_records); }
static weft_err files_cpu(kernel *k) { return with_reader(k, do_files); }
static weft_err reset_cpu(kernel *k) { return with_reader(k, do_reset); }
static weft_err reader_save_cpu(kernel *k) { return with_reader(k, do_save); }
static weft_err restore_cpu(kernel *k) { return with_reader(k, do_restore); }

static weft_err vectors_infer(infer *s) {
  s->out[0] = s->out[1] = SHAPE1(-1);
  return WEFT_OK;
}

/* ---- table: every row twice, but for LMDBReader, which TensorFlow has only with a reference ---- */

#define STATE "container:string='' shared_name:string=''"
#define OLD_READER(NAME, ATTRS, AFTER, DOC, ...)                                                                       \
  {                                                                                                                    \
    NAME "() -> (reader_handle:&string) | " ATTRS STATE AFTER " ; stateful", DOC,                                      \
        .infer = weft__resource_infer, .cpu = reader_cpu, .no_grad = true, .prepare = weft__resource_prepare,          \
        .unprepare = weft__resource_unprepare __VA_ARGS__                                                              \
  }
#define READER(NAME, ATTRS, ATTRS_V2, AFTER, DOC)                                                                      \
  {NAME "V2() -> (reader_handle:resource) | " ATTRS STATE ATTRS_V2 AFTER " ; stateful",                                \
   DOC,                                                                                                                \
   .infer = weft__resource_infer,                                                                                      \
   .cpu = reader_cpu,                                                                                                  \
   .prepare = weft__resource_prepare,                                                                                  \
   .unprepare = weft__resource_unprepare},                                                                             \
      OLD_READER(NAME, ATTRS, AFTER, DOC, )
#define ASKS(NAME, ARGS_V2, ARGS, RESULT, DOC, FLAGS, INFER, FN)                                                       \
  {NAME "V2(reader_handle:resource" ARGS_V2 ") -> (" RESULT ") ; stateful", DOC, .flags = FLAGS, .infer = INFER,       \
   .cpu = FN},                                                                                                         \
  {                                                                                                                    \
    NAME "(reader_handle:&string" ARGS ") -> (" RESULT ")", DOC, .flags = FLAGS, .infer = INFER, .cpu = FN,            \
                                                                 .no_grad = true                                       \
  }

OPS(reader) = {
    READER("TFRecordReader", "", "", " compression_type:string=''", "Reads TFRecords."),
    READER("TextLineReader", "skip_header_lines:int=0 ", "", "", "Reads lines of text."),
    READER("WholeFileReader", "", "", "", "Reads whole files."),
    READER("FixedLengthRecordReader", "header_bytes:int=0 record_bytes:int footer_bytes:int=0 hop_bytes:int=0 ",
           " encoding:string=''", "", "Reads records of one length."),
    READER("IdentityReader", "", "", "", "Gives back the names themselves."),
    OLD_READER("LMDBReader", "", "", "Reads keys and values of LMDB databases.", ,
               .scenario = "tests/python/test_lmdb.py"),
    ASKS("ReaderRead", ", queue_handle:resource", ", queue_handle:&string", "key:string, value:string",
         "The next record, of the next file if need be.", OP_ASYNC, weft__infer_scalar, reader_read_cpu),
    ASKS("ReaderReadUpTo", ", queue_handle:resource, num_records:int64", ", queue_handle:&string, num_records:int64",
         "keys:string, values:string", "Up to so many records of one file.", OP_ASYNC, vectors_infer, read_up_to_cpu),
    ASKS("ReaderNumRecordsProduced", "", "", "records_produced:int64", "How many records were read.", 0,
         weft__infer_scalar, records_cpu),
    ASKS("ReaderNumWorkUnitsCompleted", "", "", "units_completed:int64", "How many files were finished.", 0,
         weft__infer_scalar, files_cpu),
    ASKS("ReaderReset", "", "", "", "Makes the reader as new.", 0, weft__infer_none, reset_cpu),
    ASKS("ReaderSerializeState", "", "", "state:string", "Where the reader stands, as a string.", 0, weft__infer_scalar,
         reader_save_cpu),
    ASKS("ReaderRestoreState", ", state:string", ", state:string", "", "Puts the reader where it stood.", 0,
         weft__infer_none, restore_cpu),
    {.scenario = "tests/parity/test_readers.py tests/parity/test_old_names.py"},
};
