/* saved_model_assets.c - the files that belong to a SavedModel, such as the vocabularies of its tables.
 *
 * A graph names a file by a constant whose value is the path on the machine that wrote the model.  The model lists
 * the name of a copy below assets/. As in TensorFlow, the path of the copy is fed to the constant while the init op
 * that fills the tables runs; the constant itself keeps its value. */
#include "train/checkpoint/saved_model_assets.h"
#include "base/alloc.h"
#include "base/array.h"
#include "graph/graph.h"
#include "proto/scan.h"
#include "train/checkpoint/path.h"
#include <string.h>

/* Returns the index of the feed for a tensor, which may be a new one at the end. */
static int saved_model_assets_place_of(const asset_feeds *f, weft_out tensor) {
  for (int i = 0; i < f->n; i++)
    if (f->tensor[i].node == tensor.node && f->tensor[i].slot == tensor.slot) return i;
  return f->n;
}

static weft_err assets_put_path(asset_feeds *f, weft_out tensor, const char *path) {
  weft_tensor *fed = NULL;
  const int at = saved_model_assets_place_of(f, tensor);
  WEFT_TRY(WEFT_ARRAY_RESERVE(f->tensor, f->cap_tensor, f->n + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(f->path, f->cap_path, f->n + 1));
  WEFT_TRY(weft__tensor_string(&fed, path, strlen(path)));
  if (at < f->n)
    weft_tensor_destroy(f->path[at]); /* the last one wins */
  else
    f->n++;
  f->tensor[at] = tensor;
  f->path[at] = fed;
  return WEFT_OK;
}

static weft_err assets_add_file(asset_feeds *f, const weft_graph *g, const Tensorflow__AssetFileDef *def,
                                const char *dir, const char *prefix) {
  const Tensorflow__TensorInfo *info = def->tensor_info;
  if (!info || info->encoding_case != TENSORFLOW__TENSOR_INFO__ENCODING_NAME)
    return weft__fail(WEFT_INVALID_ARGUMENT, "the asset %s of the SavedModel in %s has no tensor", def->filename, dir);
  weft_out tensor;
  char *name = prefix && *prefix ? weft__sprintf("%s/%s", prefix, info->name) : weft__strdup(info->name);
  char *below = weft__sprintf("assets/%s", def->filename), *path = below ? weft__path_below(dir, below) : NULL;
  weft_err err = name && path ? weft__graph_find_out(g, name, &tensor) : WEFT_OOM;
  if (!err) err = assets_put_path(f, tensor, path);
  weft__free(path);
  weft__free(below);
  weft__free(name);
  return err;
}

/* Adds the assets of TensorFlow 1, which lists them in a collection of packed messages. */
static weft_err saved_model_assets_add_packed(asset_feeds *f, const weft_graph *g,
                                              const Tensorflow__CollectionDefAnyList *list, const char *dir,
                                              const char *prefix) {
  for (size_t i = 0; i < list->n_value; i++) {
    const ProtobufCBinaryData *bytes = &list->value[i]->value;
    ProtobufCMessage *def = NULL;
    WEFT_TRY(weft__proto_unpack(&def, &tensorflow__asset_file_def__descriptor, bytes->data, bytes->len));
    weft_err err = assets_add_file(f, g, (const Tensorflow__AssetFileDef *)def, dir, prefix);
    protobuf_c_message_free_unpacked(def, NULL);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

weft_err weft__saved_model_assets(asset_feeds *f, const weft_graph *g, const Tensorflow__MetaGraphDef *m,
                                  const char *dir, const char *prefix) {
  for (size_t i = 0; i < m->n_asset_file_def; i++) WEFT_TRY(assets_add_file(f, g, m->asset_file_def[i], dir, prefix));
  for (size_t i = 0; i < m->n_collection_def && !m->n_asset_file_def; i++) {
    const Tensorflow__MetaGraphDefCollectionDefEntry *e = m->collection_def[i];
    if (strcmp(e->key, "saved_model_assets") == 0 && e->value &&
        e->value->kind_case == TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST)
      WEFT_TRY(saved_model_assets_add_packed(f, g, e->value->any_list, dir, prefix));
  }
  return WEFT_OK;
}

void weft__saved_model_assets_finish(asset_feeds *f) {
  for (int i = 0; i < f->n; i++) weft_tensor_destroy(f->path[i]);
  weft__free(f->tensor);
  weft__free(f->path);
  *f = (asset_feeds){0};
}
