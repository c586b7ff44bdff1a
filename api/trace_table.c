/* trace_table.c - step stats as a table or as JSON: for each device the ops that took the most time, then the nodes. */
#include "api/argument.h"
#include "api/trace.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "proto/scan.h"
#include "weft/train.h"
#include <stdlib.h>
#include <string.h>

/* The total of all spans with one key: the name of an op or of a node. */
typedef struct row {
  const char *key;
  int size;
  int64_t count, bytes; /* bytes: allocated by the kernels */
  double us;
} row;

static int trace_table_by_key(const void *a, const void *b) {
  const row *x = a, *y = b;
  const int order = memcmp(x->key, y->key, (size_t)(x->size < y->size ? x->size : y->size));
  return order ? order : x->size - y->size;
}

static int longest_first(const void *a, const void *b) {
  const row *x = a, *y = b;
  return x->us != y->us ? (x->us < y->us ? 1 : -1) : trace_table_by_key(a, b);
}

/* Makes one row for each key, the longest time first.  Returns the number of rows. */
static size_t rows_by_key(row *r, size_t n) {
  size_t kept = 0;
  if (n) qsort(r, n, sizeof *r, trace_table_by_key);
  for (size_t i = 0; i < n; i++) {
    if (kept && trace_table_by_key(&r[kept - 1], &r[i]) == 0)
      r[kept - 1].count++, r[kept - 1].us += r[i].us, r[kept - 1].bytes += r[i].bytes;
    else
      r[kept++] = r[i];
  }
  if (kept) qsort(r, kept, sizeof *r, longest_first);
  return kept;
}

static void trace_table_put_rows(text *t, const char *title, const row *r, size_t n, size_t limit, double total_us) {
  const size_t shown = limit && limit < n ? limit : n;
  int width = 24;
  for (size_t i = 0; i < shown; i++)
    if (r[i].size > width) width = r[i].size;
  weft__text_printf(t, "\n  %-*s %7s %12s %7s %14s\n", width, title, "count", "us", "share", "bytes");
  for (size_t i = 0; i < shown; i++)
    weft__text_printf(t, "  %-*.*s %7lld %12.1f %6.1f%% %14lld\n", width, r[i].size, r[i].key, (long long)r[i].count,
                      r[i].us, total_us > 0 ? 100 * r[i].us / total_us : 0.0, (long long)r[i].bytes);
  if (shown < n) weft__text_printf(t, "  (%zu more)\n", n - shown);
}

static void put_json_rows(text *t, const char *list, const char *key, const row *r, size_t n, size_t limit) {
  weft__text_printf(t, ", \"%s\": [", list);
  for (size_t i = 0; i < n && (!limit || i < limit); i++) {
    weft__text_printf(t, "%s{\"%s\": ", i ? ", " : "", key);
    weft__text_json(t, r[i].key, (size_t)r[i].size);
    weft__text_printf(t, ", \"count\": %lld, \"us\": %.3f, \"bytes\": %lld}", (long long)r[i].count, r[i].us,
                      (long long)r[i].bytes);
  }
  weft__text_puts(t, "]");
}

typedef struct table_form {
  bool json;
  size_t limit; /* number of nodes to list; 0: none */
} table_form;

static void put_head(text *t, const table_form *form, const char *device, size_t n, double span_us, double total_us) {
  if (!form->json) {
    weft__text_printf(t, "%s%s: %zu nodes in %.1f us, %.1f us of work\n", t->size ? "\n" : "", device, n, span_us,
                      total_us);
    return;
  }
  weft__text_printf(t, "%s{\"device\": ", t->size ? ", " : "");
  weft__text_json(t, device, strlen(device));
  weft__text_printf(t, ", \"executed\": %zu, \"span_us\": %.3f, \"work_us\": %.3f", n, span_us, total_us);
}

static void put_device(text *t, const Tensorflow__DeviceStepStats *dev, const table_form *form, row *r) {
  const size_t n = dev->n_node_stats;
  int64_t begin = INT64_MAX, end = 0;
  double total = 0;
  for (size_t i = 0; i < n; i++) {
    const span s = weft__trace_span(dev->node_stats[i]);
    r[i] = (row){s.op, s.op_size, 1, weft__trace_bytes(dev->node_stats[i]), (double)s.length_ns / 1e3};
    total += r[i].us;
    if (s.begin_ns < begin) begin = s.begin_ns;
    if (s.begin_ns + s.length_ns > end) end = s.begin_ns + s.length_ns;
  }
  put_head(t, form, dev->device, n, n ? (double)(end - begin) / 1e3 : 0.0, total);
  const size_t ops = rows_by_key(r, n);
  if (form->json)
    put_json_rows(t, "ops", "op", r, ops, 0);
  else
    trace_table_put_rows(t, "op", r, ops, 0, total);
  for (size_t i = 0; i < n; i++) {
    const Tensorflow__NodeExecStats *node = dev->node_stats[i];
    r[i] = (row){node->node_name, weft__int_sat(strlen(node->node_name)), 1, weft__trace_bytes(node),
                 (double)weft__trace_span(node).length_ns / 1e3};
  }
  const size_t nodes = rows_by_key(r, n);
  if (form->json)
    put_json_rows(t, "nodes", "node", r, nodes, form->limit);
  else
    trace_table_put_rows(t, "node", r, nodes, form->limit, total);
  if (form->json) weft__text_puts(t, "}");
}

static weft_err put_stats(text *t, const Tensorflow__StepStats *stats, const table_form *form) {
  size_t most = 0;
  for (size_t d = 0; d < stats->n_dev_stats; d++)
    if (stats->dev_stats[d]->n_node_stats > most) most = stats->dev_stats[d]->n_node_stats;
  row *r = weft__alloc(sizeof *r * (most + 1));
  if (!r) return WEFT_OOM;
  for (size_t d = 0; d < stats->n_dev_stats; d++) put_device(t, stats->dev_stats[d], form, r);
  weft__free(r);
  return WEFT_OK;
}

static weft_err trace_table_make(char **out, const void *metadata, size_t size, const table_form *form) {
  ProtobufCMessage *m;
  text t = {0};
  *out = NULL;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__run_metadata__descriptor, metadata, size));
  const Tensorflow__StepStats *stats = ((const Tensorflow__RunMetadata *)m)->step_stats;
  weft_err err = stats && stats->n_dev_stats
                     ? put_stats(&t, stats, form)
                     : weft__fail(WEFT_NOT_FOUND, "the RunMetadata has no step stats: was the step run with a trace?");
  protobuf_c_message_free_unpacked(m, NULL);
  if (!err && form->json) *out = weft__sprintf("{\"devices\": [%s]}\n", weft__text_get(&t));
  if (!err && !form->json) *out = weft__text_take(&t);
  weft__text_finish(&t);
  return err || *out ? err : WEFT_OOM;
}

weft_err weft_trace_table(char **out, const void *metadata, size_t size, int max_nodes) {
  API_NEED(out);
  API_ITEMS(size, metadata);

  return trace_table_make(out, metadata, size, &(table_form){.limit = max_nodes > 0 ? (size_t)max_nodes : 0});
}

weft_err weft_trace_table_json(char **out, const void *metadata, size_t size, int max_nodes) {
  API_NEED(out);
  API_ITEMS(size, metadata);

  return trace_table_make(out, metadata, size,
                          &(table_form){.json = true, .limit = max_nodes > 0 ? (size_t)max_nodes : 0});
}
