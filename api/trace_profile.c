/* trace_profile.c - step stats as files for TensorBoard's profile plug-in: an XSpace for each task, in
 * DIR/plugins/profile/TIME.
 *
 * An XSpace has a plane for each device, a plane has a line for each thread, and a line has an event for each node
 * that ran.  The messages are few and flat, so this file writes them byte by byte, without a .proto file. */
#include "api/argument.h"
#include "api/trace.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "io/file.h"
#include "proto/put.h"
#include "proto/scan.h"
#include "train/checkpoint/path.h"
#include "weft/train.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAT_BYTES = 1 }; /* the only stat of an event: bytes that the node allocated */

/* Writes an entry of a map from numbers to named messages. */
static void put_named(text *t, int field, int64_t id, const char *name, size_t size) {
  text entry = {0}, value = {0};
  weft__put_int(&value, 1, id);
  weft__put_bytes(&value, 2, name, size);
  weft__put_int(&entry, 1, id);
  weft__put_message(&entry, 2, &value);
  weft__put_message(t, field, &entry);
}

/* ---- planes ---- */

typedef struct event {
  span span;
  const Tensorflow__NodeExecStats *node;
  int64_t id; /* number of its metadata */
} event;

static int by_thread_and_time(const void *x, const void *y) {
  const event *a = x, *b = y;
  if (a->node->thread_id != b->node->thread_id) return a->node->thread_id < b->node->thread_id ? -1 : 1;
  return a->span.begin_ns < b->span.begin_ns ? -1 : a->span.begin_ns > b->span.begin_ns;
}

static void put_event(text *line, const event *e, int64_t begin_ns) {
  text one = {0}, stat = {0};
  weft__put_int(&one, 1, e->id);
  weft__put_int(&one, 2, (e->span.begin_ns - begin_ns) * 1000);
  weft__put_int(&one, 3, e->span.length_ns * 1000);
  weft__put_int(&stat, 1, STAT_BYTES);
  weft__put_int(&stat, 4, weft__trace_bytes(e->node));
  weft__put_message(&one, 4, &stat);
  weft__put_message(line, 4, &one);
}

/* Writes the n events of one thread, in order. */
static void put_line(text *plane, const event *e, size_t n, int64_t begin_ns) {
  text line = {0}, name = {0};
  weft__put_int(&line, 1, e->node->thread_id);
  weft__text_printf(&name, "thread %u", e->node->thread_id);
  weft__put_message(&line, 2, &name);
  weft__put_int(&line, 3, begin_ns);
  for (size_t i = 0; i < n; i++) put_event(&line, &e[i], begin_ns);
  weft__put_message(plane, 3, &line);
}

/* Writes the name "node:Op", by which TensorBoard recognizes ops. */
static void put_event_name(text *plane, const event *e) {
  text name = {0};
  weft__text_printf(&name, "%s:%.*s", e->node->node_name, e->span.op_size, e->span.op);
  put_named(plane, 4, e->id, weft__text_get(&name), name.size);
  weft__text_finish(&name);
}

static weft_err put_plane(text *space, const Tensorflow__DeviceStepStats *dev, int id) {
  const size_t n = dev->n_node_stats;
  const char *gpu = strstr(dev->device, "GPU:");
  text plane = {0}, name = {0};
  int64_t begin = INT64_MAX;
  event *e = weft__alloc(sizeof *e * (n + 1));
  if (!e) return WEFT_OOM;
  for (size_t i = 0; i < n; i++) {
    e[i] = (event){weft__trace_span(dev->node_stats[i]), dev->node_stats[i], (int64_t)i + 1};
    if (e[i].span.begin_ns < begin) begin = e[i].span.begin_ns;
  }
  qsort(e, n, sizeof *e, by_thread_and_time);
  weft__text_puts(&name, gpu ? "/device:" : "/host:CPU");
  weft__text_puts(&name, gpu ? gpu : "");
  weft__put_int(&plane, 1, id);
  weft__put_message(&plane, 2, &name);
  for (size_t i = 0, k; i < n; i = k) {
    for (k = i + 1; k < n && e[k].node->thread_id == e[i].node->thread_id;) k++;
    put_line(&plane, &e[i], k - i, begin);
  }
  for (size_t i = 0; i < n; i++) put_event_name(&plane, &e[i]);
  put_named(&plane, 5, STAT_BYTES, "bytes_allocated", strlen("bytes_allocated"));
  weft__put_message(space, 1, &plane);
  weft__free(e);
  return WEFT_OK;
}

/* ---- files ---- */

/* Returns the length of "/job:worker/replica:0/task:0" in the name of a device. */
static int task_length(const char *device) {
  const char *end = strstr(device, "/device:");
  return weft__int_sat(end ? (size_t)(end - device) : strlen(device));
}

static bool same_task(const char *a, const char *b) {
  return task_length(a) == task_length(b) && strncmp(a, b, (size_t)task_length(a)) == 0;
}

/* Writes a file such as "job_worker_replica_0_task_0.xplane.pb". */
static weft_err write_space(const char *folder, const char *device, text *space) {
  const int n = task_length(device);
  char *name = weft__sprintf("%.*s.xplane.pb", n ? n - 1 : 4, n ? device + 1 : "host");
  for (int i = 0; name && i < n - 1; i++)
    if (name[i] == '/' || name[i] == ':') name[i] = '_';
  if (name) weft__put_bytes(space, 4, name, (size_t)(n ? n - 1 : 4));
  char *path = name ? weft__path_below(folder, name) : NULL;
  weft_err err = path && !space->failed ? weft__file_write(path, weft__text_get(space), space->size) : WEFT_OOM;
  weft__free(path);
  weft__free(name);
  return err;
}

static weft_err write_tasks(const char *folder, const Tensorflow__StepStats *stats) {
  for (size_t d = 0; d < stats->n_dev_stats; d++) {
    const char *task = stats->dev_stats[d]->device;
    bool done = false;
    for (size_t i = 0; i < d && !done; i++) done = same_task(stats->dev_stats[i]->device, task);
    text space = {0};
    weft_err err = WEFT_OK;
    for (size_t i = d; i < stats->n_dev_stats && !done && !err; i++)
      if (same_task(stats->dev_stats[i]->device, task))
        err = put_plane(&space, stats->dev_stats[i], weft__int_sat(i) + 1);
    if (!err && !done) err = write_space(folder, task, &space);
    weft__text_finish(&space);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

/* Writes an empty events file, because TensorBoard looks for profiles only in folders that have one. */
static weft_err write_empty_events(const char *dir) {
  weft_event_writer *w;
  WEFT_TRY(weft_event_writer_create(&w, dir, &(weft_event_writer_opts){.suffix = ".profile-empty"}));
  weft_err err = weft_event_writer_flush(w);
  weft_event_writer_destroy(w);
  return err;
}

static weft_err write_profile(const char *dir, const Tensorflow__StepStats *stats) {
  char when[32];
  time_t now = time(NULL);
  struct tm parts;
  strftime(when, sizeof when, "%Y_%m_%d_%H_%M_%S", localtime_r(&now, &parts));
  char *folder = weft__sprintf("%s/plugins/profile/%s", dir, when);
  weft_err err = folder ? weft__dir_create_all(folder) : WEFT_OOM;
  if (!err) err = write_tasks(folder, stats);
  if (!err) err = write_empty_events(dir);
  weft__free(folder);
  return err;
}

weft_err weft_trace_profile(const void *metadata, size_t size, const char *dir) {
  API_ITEMS(size, metadata);
  API_NEED(dir);

  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__run_metadata__descriptor, metadata, size));
  const Tensorflow__StepStats *stats = ((const Tensorflow__RunMetadata *)m)->step_stats;
  weft_err err = stats && stats->n_dev_stats
                     ? write_profile(dir, stats)
                     : weft__fail(WEFT_NOT_FOUND, "the RunMetadata has no step stats: was the step run with a trace?");
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}
