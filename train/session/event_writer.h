/* event_writer.h - a FileWriter: events go into a queue, and a separate thread writes them.
 *
 * Any thread may add.  The next call that adds or flushes returns a failure of the file. */
#ifndef WEFT_TRAIN_SESSION_EVENT_WRITER_H
#define WEFT_TRAIN_SESSION_EVENT_WRITER_H

#include "tf.pb-c.h"
#include "weft/train.h"

/* Creates the folder and its first file.  The caller destroys *out, which writes what is queued and closes the file. */
weft_err weft__event_writer_create(weft_event_writer **out, const char *dir, const weft_event_writer_opts *opts);
void weft__event_writer_destroy(weft_event_writer *w);
const char *weft__event_writer_dir(const weft_event_writer *w);
/* Sets the wall time if there is none. */
weft_err weft__event_writer_add(weft_event_writer *w, Tensorflow__Event *e);
weft_err weft__event_writer_add_bytes(weft_event_writer *w, const void *event, size_t size);
weft_err weft__event_writer_add_summary(weft_event_writer *w, const void *summary, size_t size, int64_t at);
weft_err weft__event_writer_add_scalar(weft_event_writer *w, const char *tag, double v, int64_t at);
weft_err weft__event_writer_add_graph(weft_event_writer *w, weft_graph *g, int64_t at);
weft_err weft__event_writer_add_meta_graph(weft_event_writer *w, const void *meta, size_t size, int64_t at);
weft_err weft__event_writer_add_run_metadata(weft_event_writer *w, const void *metadata, size_t size, const char *tag,
                                             int64_t at);
weft_err weft__event_writer_add_session_log(weft_event_writer *w, int state, const char *path, const char *msg,
                                            int64_t at);
weft_err weft__event_writer_flush(weft_event_writer *w);
weft_err weft__event_writer_close(weft_event_writer *w);  /* may be called again */
weft_err weft__event_writer_reopen(weft_event_writer *w); /* opens a new file */

#endif
