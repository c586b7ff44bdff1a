/* trace.c - step stats as JSON for Chrome's trace viewer: one row per thread, one span per node. */
#include "api/argument.h"
#include "api/trace.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "proto/scan.h"
#include <string.h>

/* Clamps a time of a file, so that the sum of two does not overflow. */
static int64_t within_reason(int64_t ns) { return ns < 0 ? 0 : ns > INT64_MAX / 2 ? INT64_MAX / 2 : ns; }

/* Reads the span of a node.  Older writers leave the times in nanoseconds zero.  The op's name is in "node =
 * Op(inputs)". */
span weft__trace_span(const Tensorflow__NodeExecStats *n) {
  const char *begin = strstr(n->timeline_label, " = "), *end = begin ? strchr(begin, '(') : NULL;
  span s = {.op = end ? begin + 3 : "op", .op_size = end ? weft__int_sat(end - begin - 3) : 2};
  s.begin_ns = n->all_start_nanos ? n->all_start_nanos : (int64_t)((uint64_t)n->all_start_micros * 1000);
  s.length_ns = n->all_end_rel_nanos ? n->all_end_rel_nanos : (int64_t)((uint64_t)n->all_end_rel_micros * 1000);
  s.begin_ns = within_reason(s.begin_ns), s.length_ns = within_reason(s.length_ns);
  return s;
}

int64_t weft__trace_bytes(const Tensorflow__NodeExecStats *n) {
  uint64_t total = 0;
  for (size_t i = 0; i < n->n_memory; i++) total += (uint64_t)n->memory[i]->total_bytes;
  return (int64_t)(total & INT64_MAX);
}

/* Writes microseconds with three decimals.  A double would lose the last digits of a wall clock time in nanoseconds. */
static void put_us(text *t, const char *key, int64_t ns) {
  weft__text_printf(t, "\"%s\": %lld.%03lld, ", key, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void put_node(text *t, const Tensorflow__NodeExecStats *n, int pid) {
  const span s = weft__trace_span(n);
  weft__text_puts(t, ",\n{\"ph\": \"X\", \"cat\": \"Op\", \"name\": ");
  weft__text_json(t, s.op, (size_t)s.op_size);
  weft__text_printf(t, ", \"pid\": %d, \"tid\": %u, ", pid, n->thread_id);
  put_us(t, "ts", s.begin_ns);
  put_us(t, "dur", s.length_ns);
  weft__text_puts(t, "\"args\": {\"name\": ");
  weft__text_json(t, n->node_name, strlen(n->node_name));
  weft__text_puts(t, ", \"label\": ");
  weft__text_json(t, n->timeline_label, strlen(n->timeline_label));
  weft__text_puts(t, "}}");
}

weft_err weft_trace_json(char **out, const void *metadata, size_t size) {
  API_NEED(out);
  API_ITEMS(size, metadata);

  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__run_metadata__descriptor, metadata, size));
  const Tensorflow__StepStats *stats = ((const Tensorflow__RunMetadata *)m)->step_stats;
  text t = {0};
  weft__text_puts(&t,
                  "{\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": "
                  "\"weft\"}}");
  for (size_t d = 0; stats && d < stats->n_dev_stats; d++) {
    const Tensorflow__DeviceStepStats *dev = stats->dev_stats[d];
    weft__text_printf(
        &t, ",\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"args\": {\"name\": ", weft__int_sat(d) + 1);
    weft__text_json(&t, dev->device, strlen(dev->device));
    weft__text_puts(&t, "}}");
    for (size_t i = 0; i < dev->n_node_stats; i++) put_node(&t, dev->node_stats[i], weft__int_sat(d) + 1);
  }
  weft__text_puts(&t, "\n]}\n");
  protobuf_c_message_free_unpacked(m, NULL);
  *out = weft__text_take(&t);
  return *out ? WEFT_OK : WEFT_OOM;
}
