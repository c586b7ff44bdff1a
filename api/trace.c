/* trace.c - step stats as JSON for Chrome's trace viewer: a row for each thread, a span for each node. */
#include "base/alloc.h"
#include "base/text.h"
#include "proto/scan.h"
#include "tf.pb-c.h"
#include <string.h>

static void put_quoted(text *t, const char *s) {
  weft__text_puts(t, "\"");
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      weft__text_printf(t, "\\%c", *s);
    else if ((unsigned char)*s >= 0x20)
      weft__text_add(t, s, 1);
  }
  weft__text_puts(t, "\"");
}

/* The op's name out of "node = Op(inputs)". */
static void put_op(text *t, const char *label) {
  const char *begin = strstr(label, " = "), *end = begin ? strchr(begin, '(') : NULL;
  if (!end) {
    weft__text_puts(t, "\"op\"");
    return;
  }
  weft__text_printf(t, "\"%.*s\"", (int)(end - begin - 3), begin + 3);
}

static void put_node(text *t, const Tensorflow__NodeExecStats *n, int pid) {
  weft__text_puts(t, ",\n{\"ph\": \"X\", \"cat\": \"Op\", \"name\": ");
  put_op(t, n->timeline_label);
  weft__text_printf(t,
                    ", \"pid\": %d, \"tid\": %u, \"ts\": %lld.%03lld, \"dur\": %lld.%03lld, \"args\": {\"name\": ", pid,
                    n->thread_id, (long long)(n->all_start_nanos / 1000), (long long)(n->all_start_nanos % 1000),
                    (long long)(n->all_end_rel_nanos / 1000), (long long)(n->all_end_rel_nanos % 1000));
  put_quoted(t, n->node_name);
  weft__text_puts(t, ", \"label\": ");
  put_quoted(t, n->timeline_label);
  weft__text_puts(t, "}}");
}

weft_err weft_trace_json(char **out, const void *metadata, size_t size) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__run_metadata__descriptor, metadata, size));
  const Tensorflow__StepStats *stats = ((const Tensorflow__RunMetadata *)m)->step_stats;
  text t = {0};
  weft__text_puts(&t,
                  "{\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": "
                  "\"weft\"}}");
  for (size_t d = 0; stats && d < stats->n_dev_stats; d++) {
    const Tensorflow__DeviceStepStats *dev = stats->dev_stats[d];
    weft__text_printf(&t,
                      ",\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": {\"name\": ", (int)d + 1);
    put_quoted(&t, dev->device);
    weft__text_puts(&t, "}}");
    for (size_t i = 0; i < dev->n_node_stats; i++) put_node(&t, dev->node_stats[i], (int)d + 1);
  }
  weft__text_puts(&t, "\n]}\n");
  protobuf_c_message_free_unpacked(m, NULL);
  if (t.failed) {
    weft__text_finish(&t);
    return WEFT_OOM;
  }
  *out = t.data;
  return WEFT_OK;
}
