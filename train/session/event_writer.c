/* event_writer.c - a bounded queue of serialized events, and the thread that writes them.
 *
 * A step that logs must not wait for a disk: adding copies the event and returns, unless the queue is full.  The
 * thread also flushes periodically, even if nothing was added. */
#include "train/session/event_writer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/map.h"
#include "graph/graphdef.h"
#include "graph/metagraph.h"
#include "io/event.h"
#include "proto/scan.h"
#include <pthread.h>

enum { QUEUE = 10, FLUSH_SECONDS = 120 }; /* TensorFlow's */

typedef struct queued {
  struct queued *next;
  size_t size;
  char data[];
} queued;

struct weft_event_writer {
  char *dir, *suffix;
  int room;
  int64_t flush_ns;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  queued *first, **last;
  int n;           /* waiting, plus the one being written */
  bool open, ends; /* ends: the thread writes the rest and exits */
  bool flush;      /* requested now */
  bool warned;     /* it was logged that the writer is closed */
  status failed;
  map tags;      /* tags whose metadata has been written */
  map run_tags;  /* tags of run metadata */
  event_file *f; /* only the thread uses it while it runs */
  pthread_t thread;
};

/* ---- the thread ---- */

static void write_one(weft_event_writer *w, queued *q) {
  pthread_mutex_unlock(&w->lock);
  weft_err err = weft__event_write(w->f, q->data, q->size);
  pthread_mutex_lock(&w->lock);
  weft__status_update(&w->failed, err);
  weft__free(q);
  w->n--;
  pthread_cond_broadcast(&w->changed);
}

static void flush_now(weft_event_writer *w) {
  pthread_mutex_unlock(&w->lock);
  weft_err err = weft__event_flush(w->f);
  pthread_mutex_lock(&w->lock);
  weft__status_update(&w->failed, err);
  w->flush = false;
  pthread_cond_broadcast(&w->changed);
}

static void *writer_work(void *arg) {
  weft_event_writer *w = arg;
  int64_t next = weft__clock_now_ns() + w->flush_ns;
  pthread_mutex_lock(&w->lock);
  while (!w->ends || w->first) {
    if (w->first) {
      queued *q = w->first;
      if (!(w->first = q->next)) w->last = &w->first;
      write_one(w, q);
    } else if (w->flush || weft__clock_now_ns() >= next) {
      flush_now(w);
      next = weft__clock_now_ns() + w->flush_ns;
    } else {
      struct timespec until = weft__clock_deadline(next - weft__clock_now_ns());
      pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
    }
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* Waits briefly for the writer thread.  The thread waits only for the disk, so the whole wait ends. */
static void wait_a_bit(weft_event_writer *w) {
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
  pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until);
}

/* ---- opening and closing ---- */

static weft_err open_file(weft_event_writer *w) {
  WEFT_TRY(weft__event_file_create(&w->f, w->dir, w->suffix));
  pthread_mutex_lock(&w->lock);
  w->ends = w->flush = w->warned = false;
  int error = pthread_create(&w->thread, NULL, writer_work, w);
  w->open = !error;
  pthread_mutex_unlock(&w->lock);
  if (!error) return WEFT_OK;
  weft__event_file_destroy(w->f);
  w->f = NULL;
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no thread to write events to %s (error %d)", w->dir, error);
}

weft_err weft__event_writer_create(weft_event_writer **out, const char *dir, const weft_event_writer_opts *opts) {
  weft_event_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->room = opts && opts->max_queue > 0 ? opts->max_queue : QUEUE;
  w->flush_ns = (int64_t)((opts && opts->flush_secs > 0 ? opts->flush_secs : FLUSH_SECONDS) * (double)NS_PER_S);
  w->last = &w->first;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, NULL);
  w->dir = weft__strdup(dir);
  w->suffix = weft__strdup(opts && opts->suffix ? opts->suffix : "");
  weft_err err = w->dir && w->suffix ? open_file(w) : WEFT_OOM;
  if (!err && opts && opts->graph) err = weft__event_writer_add_graph(w, opts->graph, 0);
  if (err)
    weft__event_writer_destroy(w);
  else
    *out = w;
  return err;
}

weft_err weft__event_writer_close(weft_event_writer *w) {
  pthread_mutex_lock(&w->lock);
  bool was_open = w->open;
  w->open = false;
  w->ends = true;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
  weft_err err = WEFT_OK;
  if (was_open) {
    pthread_join(w->thread, NULL);
    err = weft__event_file_destroy(w->f);
    w->f = NULL;
  }
  pthread_mutex_lock(&w->lock); /* other threads may still be adding */
  weft__status_update(&w->failed, err);
  err = weft__status_raise(&w->failed);
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__event_writer_reopen(weft_event_writer *w) {
  pthread_mutex_lock(&w->lock);
  bool is_open = w->open;
  if (!is_open) weft__status_finish(&w->failed);
  pthread_mutex_unlock(&w->lock);
  return is_open ? WEFT_OK : open_file(w);
}

void weft__event_writer_destroy(weft_event_writer *w) {
  if (!w) return;
  weft__event_writer_close(w);
  weft__status_finish(&w->failed);
  weft__map_finish(&w->tags);
  weft__map_finish(&w->run_tags);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  weft__free(w->dir);
  weft__free(w->suffix);
  weft__free(w);
}

const char *weft__event_writer_dir(const weft_event_writer *w) { return w->dir; }

/* ---- adding ---- */

static weft_err writer_put(weft_event_writer *w, queued *q) {
  pthread_mutex_lock(&w->lock);
  while (w->open && w->n >= w->room && !w->failed.code) wait_a_bit(w);
  weft_err err = weft__status_raise(&w->failed);
  if (!err && w->open) {
    *w->last = q;
    w->last = &q->next;
    w->n++;
    pthread_cond_broadcast(&w->changed);
  } else {
    if (!err && !w->warned)
      weft__log(LOG_WARNING,
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                "is explicitly reopened.");
    w->warned = w->warned || !err;
    weft__free(q);
  }
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__event_writer_add_bytes(weft_event_writer *w, const void *event, size_t size) {
  queued *q = weft__alloc(sizeof *q + size);
  if (!q) return WEFT_OOM;
  *q = (queued){.size = size};
  memcpy(q->data, event, size);
  return writer_put(w, q);
}

weft_err weft__event_writer_add(weft_event_writer *w, Tensorflow__Event *e) {
  if (!(e->wall_time > 0)) e->wall_time = (double)weft__clock_wall_us() / 1e6;
  size_t size = tensorflow__event__get_packed_size(e);
  queued *q = weft__alloc(sizeof *q + size);
  if (!q) return WEFT_OOM;
  *q = (queued){.size = size};
  tensorflow__event__pack(e, (uint8_t *)q->data);
  return writer_put(w, q);
}

/* Notes a tag, whose metadata is written once. *seen is unchanged if memory is short. */
static weft_err note_tag(weft_event_writer *w, map *tags, const char *tag, bool *seen) {
  pthread_mutex_lock(&w->lock);
  *seen = weft__map_get(tags, tag) != NULL;
  weft_err err = *seen ? WEFT_OK : weft__map_put(tags, tag, w);
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__event_writer_add_summary(weft_event_writer *w, const void *summary, size_t size, int64_t at) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__summary__descriptor, summary, size));
  Tensorflow__Summary *s = (Tensorflow__Summary *)m;
  weft_err err = WEFT_OK;
  for (size_t i = 0; !err && i < s->n_value; i++) {
    bool seen;
    if (!s->value[i]->metadata) continue;
    err = note_tag(w, &w->tags, s->value[i]->tag, &seen);
    if (err || !seen) continue;
    tensorflow__summary_metadata__free_unpacked(s->value[i]->metadata, NULL);
    s->value[i]->metadata = NULL;
  }
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  e.step = at;
  e.what_case = TENSORFLOW__EVENT__WHAT_SUMMARY;
  e.summary = s;
  if (!err) err = weft__event_writer_add(w, &e);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

weft_err weft__event_writer_add_scalar(weft_event_writer *w, const char *tag, double v, int64_t at) {
  Tensorflow__SummaryValue one = TENSORFLOW__SUMMARY_VALUE__INIT, *list = &one;
  Tensorflow__Summary s = TENSORFLOW__SUMMARY__INIT;
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  one.tag = (char *)(uintptr_t)tag;
  one.value_case = TENSORFLOW__SUMMARY_VALUE__VALUE_SIMPLE_VALUE;
  one.simple_value = (float)v;
  s.n_value = 1;
  s.value = &list;
  e.step = at;
  e.what_case = TENSORFLOW__EVENT__WHAT_SUMMARY;
  e.summary = &s;
  return weft__event_writer_add(w, &e);
}

static weft_err add_blob(weft_event_writer *w, Tensorflow__Event__WhatCase what, const void *data, size_t size,
                         int64_t at) {
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  e.step = at;
  e.what_case = what;
  e.graph_def = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)data}; /* the two fields are at the same offset */
  return weft__event_writer_add(w, &e);
}

weft_err weft__event_writer_add_meta_graph(weft_event_writer *w, const void *meta, size_t size, int64_t at) {
  return add_blob(w, TENSORFLOW__EVENT__WHAT_META_GRAPH_DEF, meta, size, at);
}

/* Adds the graph alone, which TensorBoard draws, and then with its collections. */
weft_err weft__event_writer_add_graph(weft_event_writer *w, weft_graph *g, int64_t at) {
  uint8_t *packed = NULL;
  size_t size;
  WEFT_TRY(weft__graph_export(g, &(export_opts){.output_shapes = true}, &packed, &size));
  weft_err err = add_blob(w, TENSORFLOW__EVENT__WHAT_GRAPH_DEF, packed, size, at);
  weft__free(packed);
  packed = NULL;
  if (!err) err = weft__metagraph_export(g, NULL, &packed, &size);
  if (!err) err = weft__event_writer_add_meta_graph(w, packed, size, at);
  weft__free(packed);
  return err;
}

weft_err weft__event_writer_add_run_metadata(weft_event_writer *w, const void *metadata, size_t size, const char *tag,
                                             int64_t at) {
  bool seen;
  Tensorflow__TaggedRunMetadata tagged = TENSORFLOW__TAGGED_RUN_METADATA__INIT;
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  WEFT_TRY(note_tag(w, &w->run_tags, tag, &seen));
  if (seen) return weft__fail(WEFT_INVALID_ARGUMENT, "The provided tag was already used for this event type: %s", tag);
  tagged.tag = (char *)(uintptr_t)tag;
  tagged.run_metadata = (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)metadata};
  e.step = at;
  e.what_case = TENSORFLOW__EVENT__WHAT_TAGGED_RUN_METADATA;
  e.tagged_run_metadata = &tagged;
  return weft__event_writer_add(w, &e);
}

weft_err weft__event_writer_add_session_log(weft_event_writer *w, int state, const char *path, const char *msg,
                                            int64_t at) {
  Tensorflow__SessionLog log = TENSORFLOW__SESSION_LOG__INIT;
  Tensorflow__Event e = TENSORFLOW__EVENT__INIT;
  log.status = state;
  if (path) log.checkpoint_path = (char *)(uintptr_t)path;
  if (msg) log.msg = (char *)(uintptr_t)msg;
  e.step = at;
  e.what_case = TENSORFLOW__EVENT__WHAT_SESSION_LOG;
  e.session_log = &log;
  return weft__event_writer_add(w, &e);
}

weft_err weft__event_writer_flush(weft_event_writer *w) {
  pthread_mutex_lock(&w->lock);
  if (w->open) {
    w->flush = true;
    pthread_cond_broadcast(&w->changed);
    while (w->open && (w->flush || w->n) && !w->failed.code) wait_a_bit(w);
  }
  weft_err err = weft__status_raise(&w->failed);
  pthread_mutex_unlock(&w->lock);
  return err;
}
