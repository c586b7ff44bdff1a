/* saved_model_load.c - loads a SavedModel: the graph with the requested tags and its variables; then runs its init
 * op. */
#include "base/alloc.h"
#include "base/log.h"
#include "graph/metagraph.h"
#include "io/file.h"
#include "proto/scan.h"
#include "proto/text.h"
#include "tensor/enum_name.h"
#include "saved_model.pb-c.h"
#include "tf.pb-c.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/path.h"
#include "train/checkpoint/saved_model.h"
#include "train/checkpoint/saved_model_assets.h"
#include "train/checkpoint/saver.h"
#include <string.h>

/* Reads the next field of the file: its number and, for bytes, their position.  Returns false at the end or if it is
 * damaged. */
static bool next_field(const uint8_t **p, const uint8_t *end, uint64_t *number, const uint8_t **data, size_t *size) {
  uint64_t v[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    unsigned shift = 0;
    for (; *p < end && shift < 63; shift += 7) {
      v[k] |= (uint64_t)(**p & 127) << shift;
      if (*(*p)++ < 128) break;
    }
    if (k == 0 && (v[0] & 7) != 0 && (v[0] & 7) != 2) return false;
  }
  *number = v[0] >> 3, *data = *p, *size = 0;
  if ((v[0] & 7) == 0) return *p <= end && v[0] != 0;
  if (v[1] > (uint64_t)(end - *p)) return false;
  *size = (size_t)v[1];
  *p += *size;
  return true;
}

static bool has_tag(size_t n, const char *const *tags, const char *tag) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(tags[i], tag) == 0) return true;
  return false;
}

/* Compares as sets: neither the order nor a tag that is named twice matters. */
static bool same_tags(const Tensorflow__MetaGraphDef *m, int n, const char *const *tags) {
  size_t have = m->meta_info_def ? m->meta_info_def->n_tags : 0;
  for (size_t i = 0; i < have; i++)
    if (!has_tag((size_t)n, tags, m->meta_info_def->tags[i])) return false;
  for (int k = 0; k < n; k++)
    if (!have || !has_tag(have, (const char *const *)m->meta_info_def->tags, tags[k])) return false;
  return true;
}

static void list_tags(text *t, size_t n, char *const *tags) {
  weft__text_puts(t, t->size ? ", {" : "{");
  for (size_t i = 0; i < n; i++) weft__text_printf(t, "%s'%s'", i ? ", " : "", tags[i]);
  weft__text_puts(t, "}");
}

static weft_err read_text(const char *path, text *file) {
  text source = {0};
  weft_err err = weft__file_read(path, &source);
  if (!err)
    err = weft__proto_from_text(file, &tensorflow__saved_model__descriptor, weft__text_get(&source), source.size,
                                weft__enum_number);
  weft__text_finish(&source);
  return err ? weft__fail_in(err, "%s", path) : WEFT_OK;
}

weft_err weft__saved_model_read(const char *dir, text *file) {
  char *path = weft__path_below(dir, "saved_model.pb");
  char *as_text = weft__path_below(dir, "saved_model.pbtxt");
  weft_err err = path && as_text ? WEFT_OK : WEFT_OOM;
  if (!err && weft__file_exists(path))
    err = weft__file_read(path, file);
  else if (!err && weft__file_exists(as_text))
    err = read_text(as_text, file);
  else if (!err)
    err = weft__fail_fact(WEFT_NOT_FOUND, WEFT_FACT_NO_SAVED_MODEL,
                          "SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}", dir);
  weft__free(as_text);
  weft__free(path);
  return err;
}

weft_err weft__saved_model_next(const uint8_t **p, const uint8_t *end, ProtobufCMessage **meta, const uint8_t **bytes,
                                size_t *size) {
  enum { META_GRAPHS = 2 };
  uint64_t number;
  *meta = NULL;
  while (*p < end && next_field(p, end, &number, bytes, size))
    if (number == META_GRAPHS) return weft__proto_unpack(meta, &tensorflow__meta_graph_def__descriptor, *bytes, *size);
  return WEFT_OK;
}

/* Finds the graph with exactly these tags. */
static weft_err saved_model_find(const char *dir, const text *file, int n, const char *const *tags,
                                 ProtobufCMessage **out, const uint8_t **bytes, size_t *size) {
  const uint8_t *p = (const uint8_t *)(file->data ? file->data : ""), *end = p + file->size;
  text had = {0}, asked = {0};
  for (;;) {
    const weft_err err = weft__saved_model_next(&p, end, out, bytes, size);
    const Tensorflow__MetaGraphDef *m = (const Tensorflow__MetaGraphDef *)*out;
    if (!err && !m) break;
    if (err || same_tags(m, n, tags)) {
      weft__text_finish(&had);
      if (err) *out = NULL;
      return err ? weft__fail_in(err, "%s/saved_model.pb", dir) : WEFT_OK;
    }
    list_tags(&had, m->meta_info_def ? m->meta_info_def->n_tags : 0, m->meta_info_def ? m->meta_info_def->tags : NULL);
    protobuf_c_message_free_unpacked(*out, NULL);
  }
  list_tags(&asked, (size_t)n, (char *const *)(uintptr_t)tags);
  weft_err err = weft__fail_fact(WEFT_INVALID_ARGUMENT, WEFT_FACT_NO_SUCH_TAGS,
                                 "MetaGraphDef associated with tags %s could not be found in SavedModel %s; it has %s",
                                 weft__text_get(&asked), dir, had.size ? weft__text_get(&had) : "no readable graph");
  weft__text_finish(&had);
  weft__text_finish(&asked);
  return err;
}

/* ---- ops that run after loading ---- */

static const char *in_collection(const Tensorflow__MetaGraphDef *m, const char *list) {
  for (size_t i = 0; i < m->n_collection_def; i++) {
    const Tensorflow__MetaGraphDefCollectionDefEntry *e = m->collection_def[i];
    if (strcmp(e->key, list) == 0 && e->value && e->value->kind_case == TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST &&
        e->value->node_list->n_value > 0)
      return e->value->node_list->value[0];
  }
  return NULL;
}

static const char *in_signature(const Tensorflow__MetaGraphDef *m) {
  for (size_t i = 0; i < m->n_signature_def; i++) {
    const Tensorflow__SignatureDef *d = m->signature_def[i]->value;
    if (strcmp(m->signature_def[i]->key, "__saved_model_init_op") == 0 && d && d->n_outputs && d->outputs[0]->value &&
        d->outputs[0]->value->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_NAME)
      return d->outputs[0]->value->name;
  }
  return NULL;
}

static const char *first_run(const Tensorflow__MetaGraphDef *m) {
  const char *name = in_collection(m, "saved_model_main_op");
  if (!name) name = in_collection(m, "legacy_init_op");
  return name ? name : in_signature(m);
}

static char *prefix_join(const char *prefix, const char *name) {
  return prefix && *prefix ? weft__sprintf("%s/%s", prefix, name) : weft__strdup(name);
}

static weft_err run_first(weft_graph *g, weft_session *sess, const char *prefix, const char *name,
                          const asset_feeds *assets) {
  char *full = prefix_join(prefix, name), *slot = full ? strchr(full, ':') : NULL;
  if (!full) return WEFT_OOM;
  if (slot) *slot = '\0';
  const weft_node *n = weft__graph_find(g, full);
  weft_err err;
  if (!n) {
    err = weft__fail(WEFT_NOT_FOUND, "'%s', which is to be run after loading, is not in the graph", full);
  } else {
    const plan_request r = {.n_feed = assets->n, .feed = assets->tensor, .n_target = 1, .target = &n->id};
    err = weft__session_run(sess, &r, (const weft_tensor *const *)assets->path, NULL, NULL);
  }
  weft__free(full);
  return err;
}

/* ---- variables ---- */

static weft_err saved_model_saver(weft_saver **out, weft_graph *g, const Tensorflow__SaverDef *given,
                                  const char *prefix) {
  Tensorflow__SaverDef def = *given;
  char *names[] = {prefix_join(prefix, given->filename_tensor_name), prefix_join(prefix, given->save_tensor_name),
                   prefix_join(prefix, given->restore_op_name)};
  def.filename_tensor_name = names[0], def.save_tensor_name = names[1], def.restore_op_name = names[2];
  uint8_t *bytes = NULL;
  weft_err err = names[0] && names[1] && names[2] ? WEFT_OK : WEFT_OOM;
  if (!err) err = (bytes = weft__alloc(tensorflow__saver_def__get_packed_size(&def) + 1)) ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__saver_adopt(out, g, bytes, tensorflow__saver_def__pack(&def, bytes));
  weft__free(bytes);
  for (size_t i = 0; i < 3; i++) weft__free(names[i]);
  return err;
}

static weft_err saved_model_restore(const char *dir, weft_graph *g, weft_session *sess, const Tensorflow__SaverDef *def,
                                    const char *prefix) {
  weft_saver *saver = NULL;
  char *path = weft__path_below(dir, "variables/variables");
  if (!path) return WEFT_OOM;
  weft_err err = WEFT_OK;
  if (!def || !weft__checkpoint_exists(path)) {
    weft__log(LOG_INFO, "The specified SavedModel has no variables; no checkpoints were restored.");
  } else {
    err = saved_model_saver(&saver, g, def, prefix);
    if (!err) err = weft__saver_restore(saver, sess, path);
  }
  weft__saver_destroy(saver);
  weft__free(path);
  return err;
}

static weft_err saved_model_import(const char *dir, weft_graph *g, weft_session *sess,
                                   const Tensorflow__MetaGraphDef *m, const uint8_t *bytes, size_t size,
                                   const char *prefix) {
  WEFT_TRY(weft__metagraph_import(g, bytes, size, &(import_opts){.prefix = prefix, .unique = !prefix || !*prefix}));
  if (!sess) return WEFT_OK;
  WEFT_TRY(saved_model_restore(dir, g, sess, m->saver_def, prefix));
  const char *name = first_run(m);
  if (!name) return WEFT_OK;
  asset_feeds assets = {0};
  weft_err err = weft__saved_model_assets(&assets, g, m, dir, prefix);
  if (!err) err = run_first(g, sess, prefix, name, &assets);
  weft__saved_model_assets_finish(&assets);
  return err;
}

weft_err weft__saved_model_load(const char *dir, weft_graph *g, weft_session *sess, int n_tag, const char *const *tags,
                                const char *prefix, uint8_t **meta, size_t *size) {
  text file = {0};
  ProtobufCMessage *m = NULL;
  const uint8_t *bytes = NULL;
  size_t n = 0;
  weft_err err = weft__saved_model_read(dir, &file);
  if (!err) err = saved_model_find(dir, &file, n_tag, tags, &m, &bytes, &n);
  if (!err) err = saved_model_import(dir, g, sess, (const Tensorflow__MetaGraphDef *)m, bytes, n, prefix);
  if (!err && meta) {
    *meta = weft__alloc(n + 1), *size = n;
    err = *meta ? WEFT_OK : WEFT_OOM;
    if (!err) memcpy(*meta, bytes, n);
  }
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  weft__text_finish(&file);
  return err;
}
