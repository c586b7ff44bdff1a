/* saver.c - saves and restores through the nodes that a SaverDef names, and keeps the last few checkpoints.
 *
 * No lock is held while nodes run.  A run may wait for a lost task to come back, and the thread that recovers it
 * restores, and saves, with the same saver.
 *
 * The nodes get an absolute path, because the tasks that write and read may have other working directories.  A save
 * runs the nodes (whose files are complete or absent), writes the MetaGraphDef, names the checkpoint in the state
 * file, and only then deletes old ones.  So a kill at any moment leaves a checkpoint that can be restored. */
#include "train/checkpoint/saver.h"

#include "base/assert.h"
#include "base/choice.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "graph/mark.h"
#include "graph/metagraph.h"
#include "io/bundle_entry.h"
#include "io/file.h"
#include "proto/scan.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/model/nodes.h"
#include "train/checkpoint/path.h"
#include "train/session/run.h"
#include <math.h>
#include <sys/stat.h>

typedef struct kept {
  char *path;
  double time;   /* time of the save, in seconds since 1970 */
  int64_t order; /* order in which saves began: a slow save is not newer because it ends late */
} kept;

typedef struct saving { /* a save in progress */
  const char *prefix;
  struct saving *next;
} saving;

struct weft_saver {
  weft_graph *graph;
  uint8_t *def; /* serialized, for MetaGraphDefs */
  size_t def_size;
  Tensorflow__SaverDef *names;
  bool relative_paths, pad_step;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t ended; /* signaled when a save ends */
  saving *saving;
  int64_t order;
  kept *last; /* oldest first */
  int n_last;
  int64_t last_capacity;
  char *restored;      /* the checkpoint of restore_latest, until the next save */
  double next_to_keep; /* the next checkpoint that is deleted after this time is kept forever */
};

static double wall_seconds(void) { return (double)weft__clock_wall_us() / 1e6; }

/* ---- creating and destroying ---- */

weft_err weft__saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__saver_def__descriptor, saver_def, size));
  weft_saver *s = weft__alloc_zero(1, sizeof *s);
  uint8_t *def = weft__alloc(size + 1);
  if (!s || !def) {
    protobuf_c_message_free_unpacked(m, NULL);
    weft__free(s);
    weft__free(def);
    return WEFT_OOM;
  }
  memcpy(def, saver_def, size);
  *s = (weft_saver){.graph = g, .def = def, .def_size = size, .names = (Tensorflow__SaverDef *)m};
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->ended, NULL);
  s->next_to_keep = wall_seconds() + (double)s->names->keep_checkpoint_every_n_hours * 3600;
  *out = s;
  return WEFT_OK;
}

weft_err weft__saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *opts) {
  uint8_t *def;
  size_t size;
  graph_mark before = weft__graph_mark(g);
  WEFT_TRY(weft__saver_build(g, opts, &def, &size));
  weft_err err = weft__saver_adopt(out, g, def, size);
  if (err) weft__graph_rewind(g, &before);
  weft__free(def);
  if (!err && opts) (*out)->relative_paths = opts->relative_paths, (*out)->pad_step = opts->pad_step;
  return err;
}

static void forget_all(weft_saver *s) {
  for (int i = 0; i < s->n_last; i++) weft__free(s->last[i].path);
  weft__free(s->last);
  s->last = NULL;
  s->n_last = 0;
  s->last_capacity = 0;
}

void weft__saver_destroy(weft_saver *s) {
  if (!s) return;
  forget_all(s);
  weft__free(s->restored);
  pthread_cond_destroy(&s->ended);
  pthread_mutex_destroy(&s->lock);
  tensorflow__saver_def__free_unpacked(s->names, NULL);
  weft__free(s->def);
  weft__free(s);
}

weft_err weft__saver_def(const weft_saver *s, void **out, size_t *size) {
  if (!(*out = weft__alloc(s->def_size + 1))) return WEFT_OOM;
  memcpy(*out, s->def, *size = s->def_size);
  return WEFT_OK;
}

/* ---- the list of kept checkpoints ---- */

/* Inserts an entry in the order in which the saves began. */
static weft_err add_kept(weft_saver *s, const char *path, double time, int64_t order) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && s->n_last <= s->last_capacity);
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->last, s->last_capacity, s->n_last + 1));
  char *copy = weft__strdup(path);
  int at = s->n_last;
  if (!copy) return WEFT_OOM;
  while (at > 0 && s->last[at - 1].order > order) at--;
  memmove(&s->last[at + 1], &s->last[at], sizeof *s->last * (size_t)(s->n_last++ - at));
  s->last[at] = (kept){copy, time, order};
  return WEFT_OK;
}

/* Removes entry i from the list; the caller owns its path. */
static kept take_kept(weft_saver *s, int i) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && i >= 0 && i < s->n_last);
  kept k = s->last[i];
  s->n_last--;
  memmove(&s->last[i], &s->last[i + 1], sizeof *s->last * (size_t)(s->n_last - i));
  return k;
}

static void delete_matching(const char *prefix, const char *pattern) {
  path_list found = {0};
  char *p = weft__sprintf("%s%s", prefix, pattern);
  if (p && weft__file_match(p, &found) == WEFT_OK)
    for (int i = 0; i < found.n; i++)
      if (weft__file_delete(found.path[i]) != WEFT_OK)
        weft__log(LOG_WARNING, "an old checkpoint stays: %s", weft__error_message());
  weft__path_list_finish(&found);
  weft__free(p);
}

/* Returns the length of a prefix without "-?????-of-00002", the pattern for the shards of a V1 checkpoint. */
static size_t unsharded_length(const char *prefix) {
  static const char mark[] = "-\?\?\?\?\?-of-";
  size_t n = strlen(prefix), tail = sizeof mark - 1 + 5;
  return n > tail && strncmp(prefix + n - tail, mark, sizeof mark - 1) == 0 ? n - tail : n;
}

static char *meta_path(const char *prefix, const char *suffix) {
  return weft__sprintf("%.*s.%s", weft__int_sat(unsharded_length(prefix)), prefix, suffix && *suffix ? suffix : "meta");
}

/* Deletes the index first: without it, the rest is not a checkpoint. */
static void delete_checkpoint(const weft_saver *s, const char *prefix, const char *meta_suffix) {
  char *meta = meta_path(prefix, meta_suffix);
  if (s->names->version == 1) {
    delete_matching(prefix, "");
  } else {
    delete_matching(prefix, ".index");
    delete_matching(prefix, ".data-\?\?\?\?\?-of-\?\?\?\?\?");
  }
  if (meta) delete_matching(meta, "");
  weft__free(meta);
}

/* Adds `path` to the kept checkpoints. *old is the one that is no longer kept (path NULL: none). */
static weft_err note_saved(weft_saver *s, const char *path, int64_t order, kept *old) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && order <= s->order);
  *old = (kept){0};
  if (s->names->max_to_keep <= 0) return WEFT_OK;
  for (int i = s->n_last - 1; i >= 0; i--)
    if (weft__path_same(s->last[i].path, path)) weft__free(take_kept(s, i).path);
  WEFT_TRY(add_kept(s, path, wall_seconds(), order));
  if (s->n_last > s->names->max_to_keep) *old = take_kept(s, 0);
  return WEFT_OK;
}

static void drop_old(weft_saver *s, const kept *old, const char *meta_suffix) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock) && old->path);
  if (old->time > s->next_to_keep)
    s->next_to_keep += (double)s->names->keep_checkpoint_every_n_hours * 3600;
  else
    delete_checkpoint(s, old->path, meta_suffix);
}

weft_err weft__saver_kept(weft_saver *s, weft_checkpoint_state **out) {
  weft_checkpoint_state *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  pthread_mutex_lock(&s->lock);
  weft_err err = (c->all = weft__alloc_zero((size_t)s->n_last + 1, sizeof *c->all)) ? WEFT_OK : WEFT_OOM;
  for (; !err && c->n < s->n_last; c->n++)
    if (!(c->all[c->n] = weft__strdup(s->last[c->n].path))) {
      err = WEFT_OOM;
      break;
    }
  pthread_mutex_unlock(&s->lock);
  if (!err && c->n && !(c->latest = weft__strdup(c->all[c->n - 1]))) err = WEFT_OOM;
  if (err)
    weft__checkpoint_state_destroy(c);
  else
    *out = c;
  return err;
}

weft_err weft__saver_set_kept(weft_saver *s, int n, const char *const *paths, const double *times) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  forget_all(s);
  for (int i = 0; !err && i < n; i++) err = add_kept(s, paths[i], times ? times[i] : INFINITY, s->order);
  pthread_mutex_unlock(&s->lock);
  return err;
}

static double saved_at(const char *prefix) {
  struct stat st;
  char *index = weft__sprintf("%s.index", prefix);
  const char *at_index = "", *at_prefix = "";
  const bool known = index && !weft__path_local(index, &at_index) && !weft__path_local(prefix, &at_prefix);
  double at = known && (stat(at_index, &st) == 0 || stat(at_prefix, &st) == 0)
                  ? (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec / (double)NS_PER_S
                  : wall_seconds();
  weft__free(index);
  return at;
}

weft_err weft__saver_recover_kept(weft_saver *s, int n, const char *const *paths) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  forget_all(s);
  for (int i = 0; !err && i < n; i++)
    if (weft__checkpoint_exists(paths[i])) err = add_kept(s, paths[i], saved_at(paths[i]), s->order);
  pthread_mutex_unlock(&s->lock);
  return err;
}

/* ---- running the nodes ---- */

/* Returns the absolute form of a prefix.  A prefix that ends in a slash keeps it; then its file names start with a
 * dot. */
static char *absolute_prefix(const char *prefix) {
  char *full = weft__path_absolute(prefix);
  const size_t n = full ? strlen(full) : 0;
  if (!n || !*prefix || prefix[strlen(prefix) - 1] != '/' || full[n - 1] == '/') return full;
  char *ended = weft__sprintf("%s/", full);
  weft__free(full);
  return ended;
}

/* Feeds the absolute form of `path` to the filename node and runs a node, or the node of an output.  If result is
 * not NULL, *result is that output. */
static weft_err run_with_path(const weft_saver *s, weft_session *sess, const char *path, const char *goal,
                              weft_tensor **result) {
  const weft_graph *g = sess->graph;
  weft_out filename;
  int node;
  weft_tensor *fed = NULL;
  WEFT_TRY(weft__graph_find_out(g, s->names->filename_tensor_name, &filename));
  WEFT_TRY(weft__n_find(g, goal, &node));
  char *full = absolute_prefix(path);
  weft_err err = full ? weft__tensor_string(&fed, full, strlen(full)) : WEFT_OOM;
  if (!err) {
    weft_out out = {node, 0};
    plan_request r = {.n_feed = 1, .feed = &filename, .n_target = 1, .target = &node};
    if (result) r.n_fetch = 1, r.fetch = &out;
    err = weft__session_run(sess, &r, (const weft_tensor *const *)&fed, result, NULL);
  }
  weft_tensor_destroy(fed);
  weft__free(full);
  return err;
}

static weft_err checkpoint_name(const weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *o,
                                char **out, int64_t *number) {
  *number = o->step ? *o->step : 0;
  if (o->global_step) WEFT_TRY(weft__run_int(sess, *o->global_step, number));
  if (!o->step && !o->global_step)
    *out = weft__strdup(path);
  else
    *out = weft__sprintf(s->pad_step || o->pad_step ? "%s-%08lld" : "%s-%lld", path, (long long)*number);
  return *out ? WEFT_OK : WEFT_OOM;
}

static weft_err write_meta_graph(const weft_saver *s, const char *prefix, const char *suffix) {
  uint8_t *packed = NULL;
  size_t size;
  char *path = meta_path(prefix, suffix);
  metagraph_opts opts = {.saver_def = s->def, .saver_size = s->def_size};
  weft_err err = path ? weft__metagraph_export(s->graph, &opts, &packed, &size) : WEFT_OOM;
  if (!err) err = weft__file_write(path, packed, size);
  weft__free(packed);
  weft__free(path);
  return err;
}

static weft_err write_state(weft_saver *s, const char *dir, const char *prefix, const weft_save_opts *o) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  const char **paths = weft__alloc(sizeof *paths * (size_t)(s->n_last + 1));
  if (!paths) return WEFT_OOM;
  for (int i = 0; i < s->n_last; i++) prefix = paths[i] = s->last[i].path;
  weft_err err = weft__checkpoint_state_write(dir, prefix, s->n_last, paths, o->latest_filename,
                                              s->relative_paths || o->relative_paths);
  weft__free((void *)(uintptr_t)paths);
  return err;
}

/* Names the checkpoint in the state file and deletes the oldest one. */
static weft_err saver_record(weft_saver *s, const char *prefix, const char *dir, int64_t order,
                             const weft_save_opts *o) {
  kept old = {0};
  pthread_mutex_lock(&s->lock);
  weft_err err = note_saved(s, prefix, order, &old);
  if (!err) err = write_state(s, dir, prefix, o);
  if (!err && old.path) drop_old(s, &old, o->meta_suffix);
  pthread_mutex_unlock(&s->lock);
  weft__free(old.path);
  return err;
}

static bool in_progress(const weft_saver *s, const char *prefix) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  for (const saving *w = s->saving; w; w = w->next)
    if (weft__path_same(w->prefix, prefix)) return true;
  return false;
}

/* Returns true if the graph has collective ops, perhaps in the save itself.  Then each task of the job has to make each
 * save that the others make: they have read the same checkpoint but may save under other names. */
static bool saves_together(const weft_saver *s) {
  for (int i = 0; i < s->graph->n_node; i++)
    if (!strncmp(s->graph->node[i]->op_name, "Collective", strlen("Collective"))) return true;
  return false;
}

/* Claims the name.  Two saves under one name would mix their files, so the second waits. *skip is set if `progress`
 * was asked for and the checkpoint was just restored or is being saved. */
static weft_err saver_claim(weft_saver *s, saving *mine, bool progress, bool *skip) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  *skip = progress && s->restored && weft__path_same(s->restored, mine->prefix) && !saves_together(s);
  weft__free(s->restored);
  s->restored = NULL;
  *skip = *skip || (progress && in_progress(s, mine->prefix));
  while (!*skip && !err && in_progress(s, mine->prefix)) {
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    pthread_cond_clockwait(&s->ended, &s->lock, CLOCK_MONOTONIC, &until);
    if (weft__interrupt_pending()) err = weft__fail(WEFT_CANCELLED, "interrupted while another save of it ran");
  }
  if (!err && !*skip) {
    WEFT_ASSERT(!mine->next && mine->prefix);
    mine->next = s->saving;
    s->saving = mine;
  }
  pthread_mutex_unlock(&s->lock);
  return err;
}

static void saver_unclaim(weft_saver *s, saving *mine) {
  pthread_mutex_lock(&s->lock);
  for (saving **at = &s->saving; *at; at = &(*at)->next)
    if (*at == mine) {
      *at = mine->next;
      break;
    }
  pthread_cond_broadcast(&s->ended);
  pthread_mutex_unlock(&s->lock);
}

/* Writes V1 shards, which stay separate files: *prefix becomes the pattern that names them. */
static weft_err write_shards(const weft_saver *s, weft_session *sess, char **prefix) {
  weft_tensor *spec = NULL;
  WEFT_TRY(run_with_path(s, sess, *prefix, s->names->save_tensor_name, &spec));
  const str *made = &TENSOR_DATA(spec, str)[0];
  char *full = weft__strndup(made->data, made->size);
  char *named = full ? weft__sprintf("%s%s", *prefix, full + unsharded_length(full)) : NULL;
  if (named) weft__free(*prefix), *prefix = named;
  weft__free(full);
  weft_tensor_destroy(spec);
  return named ? WEFT_OK : WEFT_OOM;
}

/* Writes the files. *outdated is set if a lost task came back with an older state in the meantime, so that the name
 * is wrong. */
static weft_err write_files(const weft_saver *s, weft_session *sess, char **prefix, int64_t number,
                            const weft_save_opts *o, bool *outdated) {
  int64_t now = number;
  if (s->names->version == 1 && s->names->sharded)
    WEFT_TRY(write_shards(s, sess, prefix));
  else
    WEFT_TRY(run_with_path(s, sess, *prefix, s->names->save_tensor_name, NULL));
  if (o->global_step) WEFT_TRY(weft__run_int(sess, *o->global_step, &now));
  *outdated = now < number;
  if (*outdated) delete_checkpoint(s, *prefix, o->meta_suffix);
  return *outdated || !weft__choice_yes(o->write_meta_graph) ? WEFT_OK : write_meta_graph(s, *prefix, o->meta_suffix);
}

static weft_err save_once(weft_saver *s, weft_session *sess, const char *path, const char *dir, const weft_save_opts *o,
                          bool progress, char **prefix, bool *outdated) {
  saving mine = {0};
  int64_t number, order;
  bool skip;
  *outdated = false;
  pthread_mutex_lock(&s->lock);
  order = ++s->order;
  pthread_mutex_unlock(&s->lock);
  WEFT_TRY(checkpoint_name(s, sess, path, o, prefix, &number));
  char *claimed = weft__strdup(*prefix); /* the pattern of shards may replace *prefix while others read the claim */
  if (!claimed) return WEFT_OOM;
  mine.prefix = claimed;
  weft_err err = saver_claim(s, &mine, progress, &skip);
  if (err || skip) {
    weft__free(claimed);
    return err;
  }
  err = weft__dir_create_all(dir);
  if (!err) weft__file_sweep(*dir ? dir : "."); /* removes files of killed saves */
  if (!err) err = write_files(s, sess, prefix, number, o, outdated);
  if (!err && !*outdated && weft__choice_yes(o->write_state)) err = saver_record(s, *prefix, dir, order, o);
  saver_unclaim(s, &mine);
  weft__free(claimed);
  return err;
}

static weft_err saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                           bool progress, char **saved) {
  static const weft_save_opts none = {0};
  const weft_save_opts *o = opts ? opts : &none;
  char *prefix = NULL;
  bool outdated = true;
  if (saved) *saved = NULL;
  if (!path || !*path) return weft__fail(WEFT_INVALID_ARGUMENT, "no path specified");
  if (o->latest_filename && strchr(o->latest_filename, '/'))
    return weft__fail(WEFT_INVALID_ARGUMENT, "'latest_filename' must not contain path components");
  const char *slash = strrchr(path, '/');
  char *dir = slash ? weft__file_dir(path) : weft__strdup("");
  weft_err err = dir ? WEFT_OK : WEFT_OOM;
  while (!err && outdated) {
    weft__free(prefix);
    prefix = NULL;
    err = save_once(s, sess, path, dir, o, progress, &prefix, &outdated);
  }
  if (!err) weft__metrics_set_checkpoint(prefix);
  if (!err && saved)
    *saved = prefix;
  else
    weft__free(prefix);
  weft__free(dir);
  return err ? weft__fail_in(err, "saving %s", path) : WEFT_OK;
}

weft_err weft__saver_save(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts,
                          char **saved) {
  return saver_save(s, sess, path, opts, false, saved);
}

weft_err weft__saver_save_progress(weft_saver *s, weft_session *sess, const char *path, const weft_save_opts *opts) {
  return saver_save(s, sess, path, opts, true, NULL);
}

/* ---- restoring ---- */

weft_err weft__saver_restore(weft_saver *s, weft_session *sess, const char *path) {
  if (!path) return weft__fail(WEFT_INVALID_ARGUMENT, "Can't load save_path when it is None.");
  if (!weft__checkpoint_exists(path))
    return weft__fail_fact(WEFT_INVALID_ARGUMENT, WEFT_FACT_NO_CHECKPOINT,
                           "The passed save_path is not a valid checkpoint: %s", path);
  weft__log(LOG_INFO, "Restoring parameters from %s", path);
  weft_err err = run_with_path(s, sess, path, s->names->restore_op_name, NULL);
  if (err == WEFT_NOT_FOUND)
    return weft__fail_in(err, "Restoring from checkpoint failed. This is most likely due to a Variable name or other "
                              "graph key that is missing from the checkpoint. Please ensure that you have not altered "
                              "the graph expected based on the checkpoint. Original error");
  if (err == WEFT_INVALID_ARGUMENT)
    return weft__fail_in(err,
                         "Restoring from checkpoint failed. This is most likely due to a mismatch between the "
                         "current graph and the graph from the checkpoint. Please ensure that you have not altered "
                         "the graph expected based on the checkpoint. Original error");
  return err;
}

/* Returns true if the index can be read and every file that it names exists. */
static bool checkpoint_is_complete(const char *prefix) {
  table_reader *t = NULL;
  char *index = weft__bundle_index_path(prefix);
  int shards = 0;
  bool ok = index && weft__table_open(&t, index) == WEFT_OK && weft__bundle_header(t, index, &shards) == WEFT_OK;
  for (int i = 0; ok && i < shards; i++) {
    char *data = weft__bundle_data_path(prefix, i, shards);
    ok = data && weft__file_exists(data);
    weft__free(data);
  }
  weft__table_close(t);
  weft__free(index);
  return ok;
}

/* Returns true if the files are at fault.  If the graph differs, it is the program's error, and an older checkpoint
 * would not help. */
static bool checkpoint_is_damaged(weft_err err, const char *prefix) {
  if (err == WEFT_DATA_LOSS || err == WEFT_OUT_OF_RANGE) return true;
  return err == WEFT_NOT_FOUND && weft__bundle_exists(prefix) && !checkpoint_is_complete(prefix);
}

/* Restores `path`. *done is set if it was restored or failed for good.  Otherwise the failure is logged, and stored
 * in *why if there are files of that name. */
static weft_err try_restore(weft_saver *s, weft_session *sess, const char *path, status *why, char **restored,
                            bool *done) {
  if (!weft__checkpoint_exists(path)) {
    weft__log(LOG_ERROR, "Couldn't match files for checkpoint %s", path);
    *done = false;
    return WEFT_OK;
  }
  weft_err err = weft__saver_restore(s, sess, path);
  *done = true;
  if (!err) return (*restored = weft__strdup(path)) ? WEFT_OK : WEFT_OOM;
  weft__status_update(why, err);
  if (!checkpoint_is_damaged(err, path)) return err;
  *done = false;
  weft__log(LOG_WARNING, "checkpoint %s cannot be restored, the one before it is tried: %s", path,
            weft__error_message());
  return WEFT_OK;
}

weft_err weft__saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir, const char *latest_filename,
                                    char **restored) {
  weft_checkpoint_state *state;
  status why = {0};
  bool done = false;
  *restored = NULL;
  WEFT_TRY(weft__checkpoint_state_read(&state, dir, latest_filename));
  if (!state) return WEFT_OK;
  weft_err err = try_restore(s, sess, state->latest, &why, restored, &done);
  for (int i = state->n - 1; !err && !done && i >= 0; i--)
    if (!weft__path_same(state->all[i], state->latest))
      err = try_restore(s, sess, state->all[i], &why, restored, &done);
  if (!err && !done) err = weft__status_raise(&why); /* no error: there are no files at all, so nothing to restore */
  if (!err) err = weft__saver_recover_kept(s, state->n, (const char *const *)state->all);
  if (!err && *restored) {
    pthread_mutex_lock(&s->lock);
    weft__free(s->restored);
    s->restored = weft__strdup(*restored);
    pthread_mutex_unlock(&s->lock);
  }
  weft__status_finish(&why);
  weft__checkpoint_state_destroy(state);
  return err;
}
