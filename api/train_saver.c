/* train_saver.c - the public functions of savers and checkpoints. */
#include "api/argument.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/saver.h"
#include "io/file.h"

weft_err weft_saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_OPTS(weft_saver_opts, opts);

  return weft__saver_create(out, g, opts);
}
weft_err weft_saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size) {
  API_NEED(out);
  API_NEED(g);
  API_ITEMS(size, saver_def);

  return weft__saver_adopt(out, g, saver_def, size);
}
void weft_saver_destroy(weft_saver *s) { weft__saver_destroy(s); }
weft_err weft_saver_def(void **out, size_t *size, const weft_saver *s) {
  API_NEED(out);
  API_NEED(size);
  API_NEED(s);
  return weft__saver_def(s, out, size);
}

weft_err weft_saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                         char **saved) {
  API_NEED(s);
  API_NEED(sess);
  API_NEED(path);
  API_OPTS(weft_save_opts, opts);

  return weft__saver_save(s, sess, path, opts, saved);
}
weft_err weft_saver_restore(weft_saver *s, weft_session *sess, const char *path) {
  API_NEED(s);
  API_NEED(sess);
  API_NEED(path);

  return weft__saver_restore(s, sess, path);
}
weft_err weft_saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir, const char *latest_filename,
                                   char **restored) {
  API_NEED(s);
  API_NEED(sess);
  API_NEED(dir);
  API_NEED(restored);

  return weft__saver_restore_latest(s, sess, dir, latest_filename, restored);
}

weft_err weft_saver_kept(weft_checkpoint_state **out, weft_saver *s) {
  API_NEED(out);
  API_NEED(s);
  return weft__saver_kept(s, out);
}
weft_err weft_saver_set_kept(weft_saver *s, int n, const char *const *paths, const double *times) {
  API_NEED(s);
  API_ARRAY(n, paths);

  return weft__saver_set_kept(s, n, paths, times);
}
weft_err weft_saver_recover_kept(weft_saver *s, int n, const char *const *paths) {
  API_NEED(s);
  API_ARRAY(n, paths);

  return weft__saver_recover_kept(s, n, paths);
}

weft_err weft_checkpoint_state_read(weft_checkpoint_state **out, const char *dir, const char *latest_filename) {
  API_NEED(out);
  API_NEED(dir);

  return weft__checkpoint_state_read(out, dir, latest_filename);
}
weft_err weft_checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                     const char *latest_filename, bool relative_paths) {
  API_NEED(dir);
  API_NEED(latest);
  API_ARRAY(n, all);

  return weft__checkpoint_state_write(dir, latest, n, all, latest_filename, relative_paths);
}
void weft_checkpoint_state_destroy(weft_checkpoint_state *s) { weft__checkpoint_state_destroy(s); }
const char *weft_checkpoint_state_latest(const weft_checkpoint_state *s) {
  API_NEED_OR(s, NULL);
  return s->latest;
}
int weft_checkpoint_state_size(const weft_checkpoint_state *s) {
  API_NEED_OR(s, 0);
  return s->n;
}
const char *weft_checkpoint_state_path(const weft_checkpoint_state *s, int i) {
  API_NEED_OR(s, NULL);

  return i >= 0 && i < s->n ? s->all[i] : NULL;
}
weft_err weft_checkpoint_latest(char **out, const char *dir, const char *latest_filename) {
  API_NEED(out);
  API_NEED(dir);

  return weft__checkpoint_latest(out, dir, latest_filename);
}
weft_err weft_path_local(const char *path, const char **local) {
  API_NEED(path);
  API_NEED(local);
  return weft__path_local(path, local);
}
bool weft_checkpoint_exists(const char *prefix) {
  API_NEED_OR(prefix, false);
  return weft__checkpoint_exists(prefix);
}

weft_err weft_checkpoint_open(weft_checkpoint **out, const char *prefix) {
  API_NEED(out);
  API_NEED(prefix);
  return weft__checkpoint_open(out, prefix);
}
void weft_checkpoint_close(weft_checkpoint *c) { weft__checkpoint_close(c); }
int weft_checkpoint_size(const weft_checkpoint *c) {
  API_NEED_OR(c, 0);
  return c->n;
}

static const checkpoint_item *checkpoint_item_at(const weft_checkpoint *c, int i) {
  return i >= 0 && i < c->n ? &c->item[i] : NULL;
}

const char *weft_checkpoint_name(const weft_checkpoint *c, int i) {
  API_NEED_OR(c, NULL);
  return checkpoint_item_at(c, i) ? checkpoint_item_at(c, i)->name : NULL;
}
weft_dtype weft_checkpoint_dtype(const weft_checkpoint *c, int i) {
  API_NEED_OR(c, WEFT_INVALID);

  return checkpoint_item_at(c, i) ? checkpoint_item_at(c, i)->entry.dtype : WEFT_INVALID;
}
int weft_checkpoint_shape(const weft_checkpoint *c, int i, int64_t *dims) {
  API_NEED_OR(c, 0);

  const checkpoint_item *it = checkpoint_item_at(c, i);
  for (int d = 0; it && d < it->entry.shape.rank; d++) dims[d] = it->entry.shape.dim[d];
  return it ? it->entry.shape.rank : -1;
}
weft_err weft_checkpoint_read(weft_tensor **out, weft_checkpoint *c, const char *name) {
  API_NEED(out);
  API_NEED(c);
  API_NEED(name);

  return weft__checkpoint_read(c, name, out);
}
