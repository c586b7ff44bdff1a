/* summary_writer.c - an event file and a count of the events that are not flushed, or a database.
 *
 * `lock`, a leaf, guards everything.  It is held while the file is written: events of one writer are appended one after
 * another. */
#include "state/summary_writer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "io/event.h"
#include <pthread.h>
#include <unistd.h>

struct summary_writer {
  resource base;
  pthread_mutex_t lock;
  event_file *file; /* NULL: not open, or a database */
  summary_db *db;   /* NULL: not open, or an event file */
  int64_t max_queue, flush_ns;
  int64_t queued, flushed_ns; /* events since the last flush, and its time */
};

static void summary_writer_destroy(object *o) {
  summary_writer *w = (summary_writer *)o;
  weft__event_file_destroy(w->file);
  weft__summary_db_destroy(w->db);
  pthread_mutex_destroy(&w->lock);
  weft__free(w);
}

weft_err weft__summary_writer_create(summary_writer **out) {
  summary_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  atomic_init(&w->base.base.refs, 1);
  w->base.base.destroy = summary_writer_destroy;
  w->base.type = SUMMARY_WRITER_TYPE;
  pthread_mutex_init(&w->lock, NULL);
  *out = w;
  return WEFT_OK;
}

static weft_err not_open(void) {
  return weft__fail(WEFT_NOT_FOUND, "this summary writer has no file: run CreateSummaryFileWriter first "
                                    "(tf.contrib.summary.initialize or the writer's init())");
}

/* Returns "TIME.HOST.PID.N" with the suffix, as TensorFlow names the files of one process. */
static weft_err create_file(event_file **out, const summary_writer_spec *spec) {
  static atomic_int made;
  char *suffix = weft__sprintf(".%d.%d%s", (int)getpid(), atomic_fetch_add(&made, 1), spec->suffix);
  if (!suffix) return WEFT_OOM;
  const weft_err err = weft__event_file_create(out, spec->dir, suffix);
  weft__free(suffix);
  return err;
}

weft_err weft__summary_writer_open(summary_writer *w, const summary_writer_spec *spec) {
  pthread_mutex_lock(&w->lock);
  weft_err err = WEFT_OK;
  if (!w->file && !w->db && (err = create_file(&w->file, spec)) == WEFT_OK) {
    w->max_queue = spec->max_queue;
    w->flush_ns = spec->flush_ms * 1000000;
    w->queued = 0;
    w->flushed_ns = weft__clock_now_ns();
  }
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__summary_writer_open_db(summary_writer *w, const summary_db_spec *spec) {
  pthread_mutex_lock(&w->lock);
  const weft_err err = w->file || w->db ? WEFT_OK : weft__summary_db_create(&w->db, spec);
  pthread_mutex_unlock(&w->lock);
  return err;
}

static weft_err flush_locked(summary_writer *w) {
  w->queued = 0;
  w->flushed_ns = weft__clock_now_ns();
  return weft__event_flush(w->file);
}

weft_err weft__summary_writer_add(summary_writer *w, const void *event, size_t size) {
  pthread_mutex_lock(&w->lock);
  weft_err err = w->file ? weft__event_write(w->file, event, size)
                 : w->db ? weft__summary_db_event(w->db, event, size)
                         : not_open();
  if (!err && w->file && (++w->queued > w->max_queue || weft__clock_now_ns() - w->flushed_ns > w->flush_ns))
    err = flush_locked(w);
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__summary_writer_add_tensor(summary_writer *w, const summary_tag *tag, int64_t at, const weft_tensor *x,
                                         bool *done) {
  pthread_mutex_lock(&w->lock);
  *done = w->db != NULL;
  const weft_err err = w->db ? weft__summary_db_tensor(w->db, tag, at, x) : WEFT_OK;
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__summary_writer_flush(summary_writer *w) {
  pthread_mutex_lock(&w->lock);
  const weft_err err = w->file ? flush_locked(w) : w->db ? WEFT_OK : not_open(); /* a database keeps nothing back */
  pthread_mutex_unlock(&w->lock);
  return err;
}

weft_err weft__summary_writer_close(summary_writer *w) {
  pthread_mutex_lock(&w->lock);
  event_file *file = w->file;
  summary_db *db = w->db;
  w->file = NULL;
  w->db = NULL;
  pthread_mutex_unlock(&w->lock);
  return file ? weft__event_file_destroy(file) : db ? weft__summary_db_destroy(db) : not_open();
}
