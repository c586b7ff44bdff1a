/* train_summary.c - the public functions of summaries and events files. */
#include "api/argument.h"
#include "train/session/event_writer.h"
#include "train/model/summary.h"

weft_out weft_summary_scalar(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_scalar(g, name, x, opts);
}
weft_out weft_summary_histogram(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_histogram(g, name, x, opts);
}
weft_out weft_summary_image(weft_graph *g, const char *name, weft_out x, int max_outputs,
                            const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_image(g, name, x, max_outputs, opts);
}
weft_out weft_summary_audio(weft_graph *g, const char *name, weft_out x, weft_out sample_rate, int max_outputs,
                            const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_audio(g, name, x, sample_rate, max_outputs, opts);
}
weft_out weft_summary_text(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_text(g, name, x, opts);
}
weft_out weft_summary_tensor(weft_graph *g, const char *name, weft_out x, const void *metadata, size_t size,
                             const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_ITEMS_OUT(g, size, metadata);
  API_OF_OUT(g, x);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_tensor(g, name, x, metadata, size, opts);
}
weft_out weft_summary_merge(weft_graph *g, const char *name, int n, const weft_out *in, const weft_summary_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, in);
  API_OPTS_OUT(g, weft_summary_opts, opts);

  return weft__summary_merge(g, name, n, in, opts);
}
weft_out weft_summary_merge_all(weft_graph *g, const char *list, const char *within, const char *name) {
  API_NEED_OUT(NULL, g);

  return weft__summary_merge_all(g, list, within, name);
}
weft_err weft_event_writer_create(weft_event_writer **out, const char *dir, const weft_event_writer_opts *opts) {
  API_NEED(out);
  API_NEED(dir);
  API_OPTS(weft_event_writer_opts, opts);

  return weft__event_writer_create(out, dir, opts);
}
void weft_event_writer_destroy(weft_event_writer *w) { weft__event_writer_destroy(w); }
const char *weft_event_writer_dir(const weft_event_writer *w) {
  API_NEED_OR(w, NULL);
  return weft__event_writer_dir(w);
}
weft_err weft_event_writer_add_summary(weft_event_writer *w, const void *summary, size_t size, int64_t step) {
  API_NEED(w);
  API_ITEMS(size, summary);

  return weft__event_writer_add_summary(w, summary, size, step);
}
weft_err weft_event_writer_add_scalar(weft_event_writer *w, const char *tag, double value, int64_t step) {
  API_NEED(w);
  API_NEED(tag);

  return weft__event_writer_add_scalar(w, tag, value, step);
}
weft_err weft_event_writer_add_event(weft_event_writer *w, const void *event, size_t size) {
  API_NEED(w);
  API_ITEMS(size, event);

  return weft__event_writer_add_bytes(w, event, size);
}
weft_err weft_event_writer_add_graph(weft_event_writer *w, weft_graph *g, int64_t step) {
  API_NEED(w);
  API_NEED(g);

  return weft__event_writer_add_graph(w, g, step);
}
weft_err weft_event_writer_add_meta_graph(weft_event_writer *w, const void *meta_graph_def, size_t size, int64_t step) {
  API_NEED(w);
  API_ITEMS(size, meta_graph_def);

  return weft__event_writer_add_meta_graph(w, meta_graph_def, size, step);
}
weft_err weft_event_writer_add_run_metadata(weft_event_writer *w, const void *run_metadata, size_t size,
                                            const char *tag, int64_t step) {
  API_NEED(w);
  API_ITEMS(size, run_metadata);
  API_NEED(tag);

  return weft__event_writer_add_run_metadata(w, run_metadata, size, tag, step);
}
weft_err weft_event_writer_add_session_log(weft_event_writer *w, int state, const char *checkpoint_path,
                                           const char *message, int64_t step) {
  API_NEED(w);

  return weft__event_writer_add_session_log(w, state, checkpoint_path, message, step);
}
weft_err weft_event_writer_flush(weft_event_writer *w) {
  API_NEED(w);
  return weft__event_writer_flush(w);
}
weft_err weft_event_writer_close(weft_event_writer *w) {
  API_NEED(w);
  return weft__event_writer_close(w);
}
weft_err weft_event_writer_reopen(weft_event_writer *w) {
  API_NEED(w);
  return weft__event_writer_reopen(w);
}
