/* summary_writer.c - SummaryWriter and the ops that write to it: a graph writes its own events file, without a
 * fetch.
 *
 * The handle of the writer exists before its file. state/summary_writer.h says when the file is created. */
#include "state/summary_writer.h"
#include "base/clock.h"
#include "ops/summary/summary.h"
#include "proto/scan.h"
#include "tf.pb-c.h"

static weft_err make_writer(resource **out, void *arg) {
  (void)arg;
  return weft__summary_writer_create((summary_writer **)out);
}

static const resource_kind writer_resource = {SUMMARY_WRITER_TYPE, true, make_writer};

static weft_err writer_cpu(kernel *k) { return weft__kernel_in(k, weft__resource_output(k, &writer_resource, NULL)); }

/* ---- creating and closing ---- */

static weft_err own_number(const kernel *k, int i, const char *arg, int64_t *out) {
  if (k->in[i]->shape.rank != 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar", arg);
  *out = TENSOR_DATA(k->in[i], const int32_t)[0];
  return WEFT_OK;
}

static weft_err create_cpu(kernel *k) {
  summary_writer *w = NULL;
  summary_writer_spec spec = {0};
  char *dir = NULL, *suffix = NULL;
  WEFT_TRY(weft__summary_find_writer(k, &w));
  weft_err err = weft__summary_own_text(k, 1, "logdir", &dir);
  if (!err) err = own_number(k, 2, "max_queue", &spec.max_queue);
  if (!err) err = own_number(k, 3, "flush_millis", &spec.flush_ms);
  if (!err) err = weft__summary_own_text(k, 4, "filename_suffix", &suffix);
  spec.dir = dir;
  spec.suffix = suffix;
  if (!err) err = weft__kernel_in(k, weft__summary_writer_open(w, &spec));
  weft__free(dir);
  weft__free(suffix);
  return err;
}

static weft_err flush_cpu(kernel *k) {
  summary_writer *w = NULL;
  WEFT_TRY(weft__summary_find_writer(k, &w));
  return weft__kernel_in(k, weft__summary_writer_flush(w));
}

static weft_err summary_writer_close_cpu(kernel *k) {
  summary_writer *w = NULL;
  WEFT_TRY(weft__summary_find_writer(k, &w));
  return weft__kernel_in(k, weft__summary_writer_close(w));
}

/* ---- writing ---- */

/* Appends an Event with this message as `field` (5: a Summary, 4: a GraphDef). */
static weft_err write_event(const kernel *k, int field, const void *data, size_t size) {
  summary_writer *w = NULL;
  text event = {0};
  WEFT_TRY(weft__summary_find_writer(k, &w));
  weft__put_double(&event, 1, (double)weft__clock_wall_us() / 1e6);
  const int64_t at = TENSOR_DATA(k->in[1], const int64_t)[0];
  if (at) weft__put_number(&event, 2, (uint64_t)at);
  weft__put_bytes(&event, field, data, size);
  weft_err err = event.failed ? WEFT_OOM : WEFT_OK;
  if (!err) err = weft__kernel_in(k, weft__summary_writer_add(w, weft__text_get(&event), event.size));
  weft__text_finish(&event);
  return err;
}

static weft_err write_summary(const kernel *k, text *summary, weft_err err) {
  if (!err && summary->failed) err = WEFT_OOM;
  if (!err) err = write_event(k, 5, weft__text_get(summary), summary->size);
  weft__text_finish(summary);
  return err;
}

/* TensorFlow takes the first element of any tensor.  Here a tensor without elements is an error. */
static weft_err check_elements(const kernel *k, const char *const *arg) {
  for (int i = 1; arg[i - 1]; i++)
    if (weft__tensor_count(k->in[i]) < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, got shape %s", arg[i - 1],
                               weft__shape_text(&k->in[i]->shape));
  return WEFT_OK;
}

/* Writes a tensor to the writer's database, if it has one. */
static weft_err write_to_db(const kernel *k, const str *name, const weft_tensor *x, const summary_tag *more,
                            bool *done) {
  summary_writer *w = NULL;
  summary_tag tag = *more;
  WEFT_TRY(weft__summary_find_writer(k, &w));
  tag.name = name->size ? name->data : "";
  tag.size = name->size;
  return weft__kernel_in(k, weft__summary_writer_add_tensor(w, &tag, TENSOR_DATA(k->in[1], const int64_t)[0], x, done));
}

static weft_err scalar_to_db(const kernel *k, bool *done) {
  weft_tensor first = *k->in[3]; /* a view of the first element, which borrows the buffer */
  first.shape = SHAPE_SCALAR;
  return write_to_db(k, k->in[2]->data, &first, &(summary_tag){.plugin = "scalars"}, done);
}

static weft_err tensor_to_db(const kernel *k, const str *metadata, bool *done) {
  ProtobufCMessage *m = NULL;
  if (weft__proto_unpack(&m, &tensorflow__summary_metadata__descriptor, metadata->size ? metadata->data : "",
                         metadata->size))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Bad serialized_metadata");
  const summary_tag more = {.metadata = (Tensorflow__SummaryMetadata *)m, .plugin = ""};
  const weft_err err = write_to_db(k, k->in[3]->data, k->in[2], &more, done);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

static weft_err scalar_cpu(kernel *k) {
  bool done = false;
  WEFT_TRY(check_elements(k, (const char *const[]){"step", "tag", "value", NULL}));
  WEFT_TRY(scalar_to_db(k, &done));
  if (done) return WEFT_OK;
  const str *tag = k->in[2]->data;
  text one = {0}, summary = {0};
  weft__put_bytes(&one, 1, tag->data, tag->size);
  weft__put_float(&one, 2, (float)weft__tensor_double(k->in[3], 0));
  weft__put_message(&summary, 1, &one);
  weft__text_finish(&one);
  return write_summary(k, &summary, WEFT_OK);
}

static weft_err write_histogram_cpu(kernel *k) {
  WEFT_TRY(check_elements(k, (const char *const[]){"step", "tag", NULL}));
  const str *tag = k->in[2]->data;
  text summary = {0};
  char *name = weft__strndup(tag->size ? tag->data : "", tag->size);
  if (!name) return WEFT_OOM;
  const weft_err err = weft__summary_put_histogram(k, &summary, tag, k->in[3], name);
  weft__free(name);
  return write_summary(k, &summary, err);
}

static weft_err write_image_cpu(kernel *k) {
  WEFT_TRY(check_elements(k, (const char *const[]){"step", "tag", NULL}));
  text summary = {0};
  const weft_err err = weft__summary_put_images(k, &summary, k->in[2]->data, k->in[3], k->in[4]);
  return write_summary(k, &summary, err);
}

static weft_err write_audio_cpu(kernel *k) {
  WEFT_TRY(check_elements(k, (const char *const[]){"step", "tag", NULL}));
  text summary = {0};
  if (weft__tensor_count(k->in[4]) < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sample_rate must be a scalar, got shape %s",
                             weft__shape_text(&k->in[4]->shape));
  const weft_err err =
      weft__summary_put_sounds(k, &summary, k->in[2]->data, k->in[3], TENSOR_DATA(k->in[4], const float)[0]);
  return write_summary(k, &summary, err);
}

static weft_err write_tensor_cpu(kernel *k) { /* inputs: writer, step, tensor, tag, metadata */
  WEFT_TRY(check_elements(k, (const char *const[]){"step", NULL}));
  for (int i = 3; i < 5; i++)
    if (weft__tensor_count(k->in[i]) < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, got shape %s",
                               i == 3 ? "tag" : "summary_metadata", weft__shape_text(&k->in[i]->shape));
  const str *metadata = k->in[4]->data;
  bool done = false;
  WEFT_TRY(tensor_to_db(k, metadata, &done));
  if (done) return WEFT_OK;
  text summary = {0};
  const weft_err err = weft__summary_put_tensor(&summary, k->in[3]->data, k->in[2], metadata->size ? metadata : NULL);
  return write_summary(k, &summary, err);
}

static weft_err write_raw_cpu(kernel *k) {
  WEFT_TRY(check_elements(k, (const char *const[]){"step", NULL}));
  text summary = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(k->in[2]) && !err; i++) { /* concatenated messages are their union */
    const str *s = TENSOR_DATA(k->in[2], const str) + i;
    if (weft__proto_scan(&tensorflow__summary__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
      err = weft__kernel_fail(k, WEFT_DATA_LOSS, "Bad tf.compat.v1.Summary binary proto tensor string at index %lld",
                              (long long)i);
    else if (s->size)
      weft__text_add(&summary, s->data, s->size);
  }
  return write_summary(k, &summary, err);
}

static weft_err write_graph_cpu(kernel *k) {
  WEFT_TRY(check_elements(k, (const char *const[]){"step", "tensor", NULL}));
  const str *s = k->in[2]->data;
  if (weft__proto_scan(&tensorflow__graph_def__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_DATA_LOSS, "Bad tf.GraphDef binary proto tensor string");
  return write_event(k, 4, s->data, s->size);
}

static weft_err import_cpu(kernel *k) {
  summary_writer *w = NULL;
  WEFT_TRY(weft__summary_find_writer(k, &w));
  WEFT_TRY(check_elements(k, (const char *const[]){"event", NULL}));
  const str *s = k->in[1]->data;
  if (weft__proto_scan(&tensorflow__event__descriptor, s->size ? s->data : "", s->size) != WEFT_OK)
    return weft__kernel_fail(k, WEFT_DATA_LOSS, "Bad tf.Event binary proto tensor string");
  return weft__kernel_in(k, weft__summary_writer_add(w, s->size ? s->data : "", s->size));
}

OPS(summary_writer) = {
    {"SummaryWriter() -> (writer:resource) | shared_name:string='' container:string='' ; stateful",
     "The handle of a summary writer.", OP_ONCE, .infer = weft__infer_scalar, .cpu = writer_cpu,
     .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare},
    {"CreateSummaryFileWriter(writer:resource, logdir:string, max_queue:int32, flush_millis:int32, "
     "filename_suffix:string) -> () ; stateful",
     "Gives the writer an event file in logdir, unless it has one.", .infer = weft__infer_none, .cpu = create_cpu},
    {"WriteScalarSummary(writer:resource, step:int64, tag:string, value:T) -> () | T:type{real} ; stateful",
     "Writes a simple value.", .infer = weft__infer_none, .cpu = scalar_cpu},
    {"WriteHistogramSummary(writer:resource, step:int64, tag:string, values:T) -> () | "
     "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,bool}=float ; stateful",
     "Writes a histogram of the values.", .infer = weft__infer_none, .cpu = write_histogram_cpu},
    {"WriteImageSummary(writer:resource, step:int64, tag:string, tensor:T, bad_color:uint8) -> () | "
     "max_images:int>=1=3 T:type{uint8,double,float,half}=float ; stateful",
     "Writes pictures, at most max_images of them.", .infer = weft__infer_none, .cpu = write_image_cpu},
    {"WriteAudioSummary(writer:resource, step:int64, tag:string, tensor:float, sample_rate:float) -> () | "
     "max_outputs:int>=1=3 ; stateful",
     "Writes sounds, at most max_outputs of them.", .infer = weft__infer_none, .cpu = write_audio_cpu},
    {"WriteSummary(writer:resource, step:int64, tensor:T, tag:string, summary_metadata:string) -> () | T:type ; "
     "stateful",
     "Writes a tensor with metadata.", .infer = weft__infer_none, .cpu = write_tensor_cpu, .narrow = NARROW_ALL},
    {"WriteRawProtoSummary(writer:resource, step:int64, tensor:string) -> () ; stateful",
     "Writes serialized Summary messages as one event.", .infer = weft__infer_none, .cpu = write_raw_cpu},
    {"WriteGraphSummary(writer:resource, step:int64, tensor:string) -> () ; stateful", "Writes a GraphDef.",
     .infer = weft__infer_none, .cpu = write_graph_cpu},
    {"ImportEvent(writer:resource, event:string) -> () ; stateful", "Writes a serialized Event as it is.",
     .infer = weft__infer_none, .cpu = import_cpu},
    {"FlushSummaryWriter(writer:resource) -> () ; stateful", "Writes all events to the disk.",
     .infer = weft__infer_none, .cpu = flush_cpu},
    {"CloseSummaryWriter(writer:resource) -> () ; stateful", "Closes the event file.", .infer = weft__infer_none,
     .cpu = summary_writer_close_cpu},
    {.scenario = "tests/parity/test_summary_writer.py"},
};
