/* dataset_stats.c - statistics of a pipeline: how long an element takes and how many bytes it has.
 *
 * SetStatsAggregatorDataset names the aggregator that the data sets before it report to.  LatencyStatsDataset and
 * BytesProducedStatsDataset report numbers, of which the aggregator keeps a histogram for each tag.  The first version
 * of the handle returns its histograms by StatsAggregatorSummary.  The second version writes a histogram to a summary
 * writer after each number, with the number of elements before it as the step. */
#include "base/alloc.h"
#include "base/clock.h"
#include "ops/data/dataset.h"
#include "ops/summary/histogram.h"
#include "ops/summary/summary.h"
#include "state/summary_writer.h"

#define STATS_TYPE "stats aggregator"

typedef struct stats_aggregator {
  resource base;
  bool writes;          /* the second version */
  pthread_mutex_t lock; /* guards what follows */
  map histograms;       /* tag -> histogram */
  summary_writer *writer;
} stats_aggregator;

static void stats_destroy(object *o) {
  stats_aggregator *a = (stats_aggregator *)o;
  for (int i = 0; i < a->histograms.used; i++) weft__free(a->histograms.entries[i].value);
  weft__map_finish(&a->histograms);
  weft__object_release((object *)a->writer);
  pthread_mutex_destroy(&a->lock);
  weft__free(a);
}

static weft_err stats_make(resource **out, void *arg) {
  const resource_maker *m = arg;
  stats_aggregator *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return WEFT_OOM;
  atomic_init(&a->base.base.refs, 1);
  a->base.base.destroy = stats_destroy;
  a->base.type = STATS_TYPE;
  a->writes = strstr(m->node->op_name, "V2") != NULL;
  pthread_mutex_init(&a->lock, NULL);
  *out = &a->base;
  return WEFT_OK;
}

static const resource_kind stats_resource = {STATS_TYPE, true, stats_make};

static weft_err handle_cpu(kernel *k) { return weft__kernel_in(k, weft__resource_output(k, &stats_resource, NULL)); }

/* Writes the histogram as an event.  The caller holds the lock. */
static weft_err stats_write(const stats_aggregator *a, const histogram *h, const char *tag, int64_t count) {
  text summary = {0}, event = {0};
  weft__histogram_put(h, &summary, tag, strlen(tag));
  weft__put_double(&event, 1, (double)weft__clock_wall_us() / 1e6);
  if (count) weft__put_number(&event, 2, (uint64_t)count);
  weft__put_message(&event, 5, &summary);
  const weft_err err =
      event.failed ? WEFT_OOM : weft__summary_writer_add(a->writer, weft__text_get(&event), event.size);
  weft__text_finish(&summary);
  weft__text_finish(&event);
  return err;
}

static weft_err stats_add(stats_aggregator *a, const char *tag, double v, int64_t count) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&a->lock);
  histogram *h = weft__map_get(&a->histograms, tag);
  if (!h) {
    h = weft__histogram_create();
    err = h ? weft__map_put(&a->histograms, tag, h) : WEFT_OOM;
    if (err) weft__free(h);
  }
  if (!err) weft__histogram_add(h, v);
  if (!err && a->writes && a->writer) err = stats_write(a, h, tag, count);
  pthread_mutex_unlock(&a->lock);
  return err;
}

/* ---- reading ---- */

static weft_err summary_cpu(kernel *k) {
  stats_aggregator *a = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[0], STATS_TYPE, (resource **)&a)));
  text summary = {0};
  pthread_mutex_lock(&a->lock);
  for (int i = 0; i < a->histograms.used && !a->writes; i++)
    weft__histogram_put(a->histograms.entries[i].value, &summary, a->histograms.entries[i].key,
                        strlen(a->histograms.entries[i].key));
  pthread_mutex_unlock(&a->lock);
  const weft_err err = weft__summary_out(k, &summary);
  weft__text_finish(&summary);
  return err;
}

static weft_err set_writer_cpu(kernel *k) {
  stats_aggregator *a = NULL;
  summary_writer *w = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[0], STATS_TYPE, (resource **)&a)));
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[1], SUMMARY_WRITER_TYPE, (resource **)&w)));
  weft__object_retain((object *)w);
  pthread_mutex_lock(&a->lock);
  summary_writer *before = a->writer;
  a->writer = w;
  pthread_mutex_unlock(&a->lock);
  weft__object_release((object *)before);
  return WEFT_OK;
}

/* ---- the data set that names the aggregator ---- */

typedef struct stats_target {
  dataset base;
  stats_aggregator *to; /* a reference */
  char *tag, *prefix;
} stats_target;

static void target_destroy(dataset *d) {
  stats_target *t = (stats_target *)d;
  weft__object_release((object *)t->to);
  weft__free(t->tag);
  weft__free(t->prefix);
}

static weft_err target_begin(iterator *it) {
  dataset *outer = weft__dataset_pass_stats(it->pass, it->set);
  const weft_err err = weft__dataset_walk_begin(it);
  if (outer) weft__dataset_release(weft__dataset_pass_stats(it->pass, outer));
  weft__dataset_release(outer);
  return err;
}

static weft_err same_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  return weft__iterator_next(((walk *)it)->from, st, out, end);
}

static const dataset_kind target_kind = {"SetStatsAggregator",
                                         sizeof(stats_target),
                                         sizeof(walk),
                                         .destroy = target_destroy,
                                         .begin = target_begin,
                                         .next = same_next,
                                         .finish = weft__dataset_walk_finish,
                                         .count = weft__dataset_count_of_input,
                                         .passes = true};

static weft_err target_cpu(kernel *k) {
  stats_aggregator *a = NULL;
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[1], STATS_TYPE, (resource **)&a)));
  WEFT_TRY(weft__kernel_scalar(k, 2, "tag"));
  WEFT_TRY(weft__kernel_scalar(k, 3, "counter_prefix"));
  WEFT_TRY(weft__dataset_of(k, &target_kind, 1, &d));
  stats_target *t = (stats_target *)d;
  weft__object_retain(&a->base.base);
  t->to = a;
  t->tag = weft__kernel_strdup(k, 2);
  t->prefix = weft__kernel_strdup(k, 3);
  return weft__dataset_out(k, d, t->tag && t->prefix ? WEFT_OK : WEFT_OOM);
}

/* ---- the data sets that report ---- */

typedef struct stats_source {
  dataset base;
  char *tag;
} stats_source;

typedef struct stats_source_at {
  walk base;
  stats_target *target; /* a reference */
  int64_t count;
} stats_source_at;

static void source_destroy(dataset *d) { weft__free(((stats_source *)d)->tag); }

static weft_err source_begin(iterator *it) {
  ((stats_source_at *)it)->target = (stats_target *)weft__dataset_pass_stats(it->pass, NULL);
  return weft__dataset_walk_begin(it);
}

static void source_finish(iterator *it) {
  weft__dataset_walk_finish(it);
  weft__dataset_release((dataset *)((stats_source_at *)it)->target);
}

static weft_err source_report(iterator *it, double v) {
  stats_source_at *at = (stats_source_at *)it;
  const char *tag = ((stats_source *)it->set)->tag;
  const int64_t before = at->count++;
  if (!at->target) return WEFT_OK;
  if (!*at->target->tag) return stats_add(at->target->to, tag, v, before);
  char *full = weft__sprintf("%s::%s", at->target->tag, tag);
  if (!full) return WEFT_OOM;
  const weft_err err = stats_add(at->target->to, full, v, before);
  weft__free(full);
  return err;
}

static weft_err latency_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const int64_t begin = weft__clock_now_ns();
  WEFT_TRY(same_next(it, st, out, end));
  return *end ? WEFT_OK : source_report(it, (double)((weft__clock_now_ns() - begin) / NS_PER_US));
}

static double dataset_stats_bytes_of(const weft_tensor *t) {
  double n = (double)weft__tensor_bytes(t);
  if (t->dtype != WEFT_STRING) return n;
  n = 24 * (double)weft__tensor_count(t); /* TensorFlow's strings, which hold up to 22 bytes themselves */
  for (int64_t i = 0; i < weft__tensor_count(t); i++) n += (double)TENSOR_DATA(t, str)[i].size;
  return n;
}

static weft_err bytes_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  WEFT_TRY(same_next(it, st, out, end));
  if (*end) return WEFT_OK;
  double n = 0;
  for (int i = 0; i < it->set->n_part; i++) n += dataset_stats_bytes_of(&out[i]);
  return source_report(it, n);
}

#define SOURCE_KIND(NAME, NEXT)                                                                                        \
  {                                                                                                                    \
    NAME, sizeof(stats_source), sizeof(stats_source_at), .destroy = source_destroy, .begin = source_begin,             \
                                                         .next = (NEXT), .finish = source_finish,                      \
                                                         .count = weft__dataset_count_of_input, .passes = true         \
  }

static const dataset_kind latency_kind = SOURCE_KIND("LatencyStats", latency_next),
                          bytes_kind = SOURCE_KIND("BytesProducedStats", bytes_next);

static weft_err source_make(kernel *k, const dataset_kind *kind) {
  dataset *d = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "tag"));
  WEFT_TRY(weft__dataset_of(k, kind, 1, &d));
  ((stats_source *)d)->tag = weft__kernel_strdup(k, 1);
  return weft__dataset_out(k, d, ((stats_source *)d)->tag ? WEFT_OK : WEFT_OOM);
}

static weft_err latency_cpu(kernel *k) { return source_make(k, &latency_kind); }
static weft_err bytes_cpu(kernel *k) { return source_make(k, &bytes_kind); }

#define TARGET(NAME)                                                                                                   \
  {                                                                                                                    \
    NAME "(input_dataset:variant, stats_aggregator:resource, tag:string, counter_prefix:string) -> (handle:variant) "  \
         "| " OUTPUTS " ; stateful",                                                                                   \
        "The same data set, whose statistics go to an aggregator.", DATASET_FLAGS, .cpu = target_cpu                   \
  }
#define SOURCE(NAME, WHAT, FN)                                                                                         \
  {                                                                                                                    \
    NAME "(input_dataset:variant, tag:string) -> (handle:variant) | " OUTPUTS,                                         \
        "The same data set, which reports " WHAT " of its elements.", DATASET_FLAGS, .cpu = FN                         \
  }
#define HANDLE(NAME)                                                                                                   \
  {                                                                                                                    \
    NAME "() -> (handle:resource) | container:string='' shared_name:string='' ; stateful",                             \
        "The handle of an aggregator of statistics.", .infer = weft__infer_scalar, .cpu = handle_cpu,                  \
                                                      .prepare = weft__resource_prepare,                               \
                                                      .unprepare = weft__resource_unprepare                            \
  }
#define SUMMARY(NAME)                                                                                                  \
  {                                                                                                                    \
    NAME "(iterator:resource) -> (summary:string) ; stateful", "A Summary with the histograms of an aggregator.",      \
        .infer = weft__infer_scalar, .cpu = summary_cpu                                                                \
  }

OPS(dataset_stats) = {
    TARGET("SetStatsAggregatorDataset"),
    TARGET("ExperimentalSetStatsAggregatorDataset"),
    SOURCE("LatencyStatsDataset", "the microseconds", latency_cpu),
    SOURCE("ExperimentalLatencyStatsDataset", "the microseconds", latency_cpu),
    SOURCE("BytesProducedStatsDataset", "the bytes", bytes_cpu),
    SOURCE("ExperimentalBytesProducedStatsDataset", "the bytes", bytes_cpu),
    HANDLE("StatsAggregatorHandle"),
    HANDLE("ExperimentalStatsAggregatorHandle"),
    HANDLE("StatsAggregatorHandleV2"),
    SUMMARY("StatsAggregatorSummary"),
    SUMMARY("ExperimentalStatsAggregatorSummary"),
    {"StatsAggregatorSetSummaryWriter(stats_aggregator:resource, summary:resource) -> () ; stateful",
     "Lets an aggregator write its histograms to a summary writer.", .infer = weft__infer_none, .cpu = set_writer_cpu},
    {.scenario = "tests/python/test_data_stats.py"},
};
