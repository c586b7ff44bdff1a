/* train_saved_model.c - the public functions of SavedModels. */
#include "api/argument.h"
#include "train/checkpoint/saved_model.h"

static weft_err no_folder(void) { return weft__fail(WEFT_INVALID_ARGUMENT, "a SavedModel needs a folder"); }

weft_err weft_saved_model_create(weft_saved_model **out, const char *dir) {
  API_NEED(out);
  API_NEED(dir);

  return dir && *dir ? weft__saved_model_create(out, dir) : no_folder();
}

void weft_saved_model_destroy(weft_saved_model *m) { weft__saved_model_destroy(m); }

weft_err weft_saved_model_add(weft_saved_model *m, weft_graph *g, weft_session *sess,
                              const weft_saved_model_opts *opts) {
  API_NEED(m);
  API_NEED(g);
  API_NEED(opts);
  API_OPTS(weft_saved_model_opts, opts);

  return weft__saved_model_add(m, g, sess, opts);
}

weft_err weft_saved_model_write(weft_saved_model *m) {
  API_NEED(m);
  return weft__saved_model_write(m);
}

weft_err weft_saved_model_describe(char **out, const char *dir) {
  API_NEED(out);
  API_NEED(dir);

  *out = NULL;
  return *dir ? weft__saved_model_describe(out, dir, false) : no_folder();
}

weft_err weft_saved_model_json(char **out, const char *dir) {
  API_NEED(out);
  API_NEED(dir);

  *out = NULL;
  return *dir ? weft__saved_model_describe(out, dir, true) : no_folder();
}

weft_err weft_saved_model_load(const char *dir, weft_graph *g, weft_session *sess, int n_tag, const char *const *tags,
                               const char *prefix, void **meta_graph_def, size_t *size) {
  API_NEED(dir);
  API_NEED(g);
  API_ARRAY(n_tag, tags);

  uint8_t *bytes = NULL;
  if (!dir || !*dir) return no_folder();
  weft_err err = weft__saved_model_load(dir, g, sess, n_tag, tags, prefix, meta_graph_def ? &bytes : NULL, size);
  if (!err && meta_graph_def) *meta_graph_def = bytes;
  return err;
}
