/* saved_model_describe.c - describes a SavedModel as text or as JSON: its graphs by their tags, and the inputs and
 * outputs of each signature. */
#include "base/alloc.h"
#include "tensor/dtype.h"
#include "tensor/tensor_proto.h"
#include "tf.pb-c.h"
#include "train/checkpoint/saved_model.h"
#include <string.h>

static void describe_shape(text *t, const Tensorflow__TensorShapeProto *proto) {
  shape s;
  if (!proto || proto->unknown_rank)
    weft__text_puts(t, " of any shape");
  else if (weft__shape_from_proto(&s, proto) == WEFT_OK)
    weft__text_printf(t, " %s", weft__shape_text(&s));
  else
    weft__text_puts(t, " of an invalid shape");
}

/* Writes a line such as "  input  'x': float32 [?,784], tensor x:0". */
static void describe_tensor(text *t, const char *side, const char *key, const Tensorflow__TensorInfo *info) {
  weft__text_printf(t, "    %-6s '%s'", side, key);
  if (!info) {
    weft__text_puts(t, ": no tensor\n");
    return;
  }
  weft__text_printf(t, ": %s", weft__dtype_name((weft_dtype)info->dtype));
  describe_shape(t, info->tensor_shape);
  if (info->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_NAME)
    weft__text_printf(t, ", tensor %s\n", info->name);
  else if (info->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE)
    weft__text_printf(t, ", sparse: %s, %s, %s\n", info->coo_sparse->indices_tensor_name,
                      info->coo_sparse->values_tensor_name, info->coo_sparse->dense_shape_tensor_name);
  else
    weft__text_puts(t, ", composite\n");
}

static void describe_signature(text *t, const char *key, const Tensorflow__SignatureDef *d) {
  weft__text_printf(t, "  signature '%s'%s%s\n", key, d && *d->method_name ? ", " : "", d ? d->method_name : "");
  for (size_t i = 0; d && i < d->n_inputs; i++) describe_tensor(t, "input", d->inputs[i]->key, d->inputs[i]->value);
  for (size_t i = 0; d && i < d->n_outputs; i++) describe_tensor(t, "output", d->outputs[i]->key, d->outputs[i]->value);
}

static void describe_graph(text *t, const Tensorflow__MetaGraphDef *m) {
  const Tensorflow__MetaGraphDefMetaInfoDef *info = m->meta_info_def;
  weft__text_puts(t, "graph with the tags");
  for (size_t i = 0; info && i < info->n_tags; i++) weft__text_printf(t, " '%s'", info->tags[i]);
  weft__text_printf(t, "%s: %zu nodes, %zu functions, %zu assets\n", info && info->n_tags ? "" : " (none)",
                    m->graph_def ? m->graph_def->n_node : 0,
                    m->graph_def && m->graph_def->library ? m->graph_def->library->n_function : 0, m->n_asset_file_def);
  for (size_t i = 0; i < m->n_signature_def; i++)
    if (strcmp(m->signature_def[i]->key, "__saved_model_init_op") != 0)
      describe_signature(t, m->signature_def[i]->key, m->signature_def[i]->value);
  for (size_t i = 0; i < m->n_asset_file_def; i++) weft__text_printf(t, "  asset %s\n", m->asset_file_def[i]->filename);
}

/* ---- JSON ---- */

static void json_put(text *t, const char *s) { weft__text_json(t, s, strlen(s)); }

static void json_shape(text *t, const Tensorflow__TensorShapeProto *proto) {
  shape s;
  weft__text_puts(t, ", \"shape\": ");
  if (!proto || proto->unknown_rank || weft__shape_from_proto(&s, proto) != WEFT_OK) {
    weft__text_puts(t, "null");
    return;
  }
  weft__text_puts(t, "[");
  for (int i = 0; i < s.rank; i++) {
    weft__text_puts(t, i ? ", " : "");
    if (s.dim[i] < 0)
      weft__text_puts(t, "null");
    else
      weft__text_printf(t, "%lld", (long long)s.dim[i]);
  }
  weft__text_puts(t, "]");
}

/* Writes a tensor: "tensor" is the name of a dense one, and null for others. */
static void json_tensor(text *t, const char *key, const Tensorflow__TensorInfo *info) {
  weft__text_puts(t, "{\"name\": ");
  json_put(t, key);
  weft__text_puts(t, ", \"type\": ");
  json_put(t, info ? weft__dtype_name((weft_dtype)info->dtype) : "");
  json_shape(t, info ? info->tensor_shape : NULL);
  weft__text_puts(t, ", \"tensor\": ");
  if (info && info->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_NAME)
    json_put(t, info->name);
  else
    weft__text_puts(t, "null");
  weft__text_puts(t, "}");
}

static void json_signature(text *t, const char *key, const Tensorflow__SignatureDef *d) {
  weft__text_puts(t, "{\"key\": ");
  json_put(t, key);
  weft__text_puts(t, ", \"method\": ");
  json_put(t, d ? d->method_name : "");
  weft__text_puts(t, ", \"inputs\": [");
  for (size_t i = 0; d && i < d->n_inputs; i++) {
    weft__text_puts(t, i ? ", " : "");
    json_tensor(t, d->inputs[i]->key, d->inputs[i]->value);
  }
  weft__text_puts(t, "], \"outputs\": [");
  for (size_t i = 0; d && i < d->n_outputs; i++) {
    weft__text_puts(t, i ? ", " : "");
    json_tensor(t, d->outputs[i]->key, d->outputs[i]->value);
  }
  weft__text_puts(t, "]}");
}

static void json_graph(text *t, const Tensorflow__MetaGraphDef *m) {
  const Tensorflow__MetaGraphDefMetaInfoDef *info = m->meta_info_def;
  const char *comma = "";
  weft__text_puts(t, t->size ? ", {\"tags\": [" : "{\"tags\": [");
  for (size_t i = 0; info && i < info->n_tags; i++) {
    weft__text_puts(t, i ? ", " : "");
    json_put(t, info->tags[i]);
  }
  weft__text_printf(t, "], \"nodes\": %zu, \"functions\": %zu, \"assets\": [", m->graph_def ? m->graph_def->n_node : 0,
                    m->graph_def && m->graph_def->library ? m->graph_def->library->n_function : 0);
  for (size_t i = 0; i < m->n_asset_file_def; i++) {
    weft__text_puts(t, i ? ", " : "");
    json_put(t, m->asset_file_def[i]->filename);
  }
  weft__text_puts(t, "], \"signatures\": [");
  for (size_t i = 0; i < m->n_signature_def; i++) {
    if (strcmp(m->signature_def[i]->key, "__saved_model_init_op") == 0) continue;
    weft__text_puts(t, comma);
    json_signature(t, m->signature_def[i]->key, m->signature_def[i]->value);
    comma = ", ";
  }
  weft__text_puts(t, "]}");
}

weft_err weft__saved_model_describe(char **out, const char *dir, bool as_json) {
  text file = {0}, t = {0};
  const uint8_t *bytes;
  size_t size;
  weft_err err = weft__saved_model_read(dir, &file);
  const uint8_t *p = (const uint8_t *)(file.data ? file.data : ""), *end = p + file.size;
  for (ProtobufCMessage *m = NULL; !err; protobuf_c_message_free_unpacked(m, NULL)) {
    err = weft__saved_model_next(&p, end, &m, &bytes, &size);
    if (err || !m) break;
    (as_json ? json_graph : describe_graph)(&t, (const Tensorflow__MetaGraphDef *)m);
  }
  if (!err && !t.size) err = weft__fail(WEFT_INVALID_ARGUMENT, "%s/saved_model.pb has no readable graph", dir);
  if (!err && !(*out = as_json ? weft__sprintf("[%s]", weft__text_get(&t)) : weft__text_take(&t))) err = WEFT_OOM;
  weft__text_finish(&t);
  weft__text_finish(&file);
  return err;
}
