/* saved_model.c - writes a SavedModel.
 *
 * The file has two fields, a version and the graphs, so it is assembled from bytes.  An added graph gets its tags
 * and signatures in a shallow copy of its message. */
#include "train/checkpoint/saved_model.h"
#include "base/alloc.h"
#include "base/log.h"
#include "graph/collection.h"
#include "graph/metagraph.h"
#include "io/file.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include "tf.pb-c.h"
#include "train/checkpoint/path.h"
#include "train/checkpoint/saver.h"
#include <string.h>

struct weft_saved_model {
  char *dir;
  text graphs;
  bool has_variables;
};

static void saved_model_put_varint(text *t, uint64_t v) {
  char byte;
  for (; v > 127; v >>= 7) {
    byte = (char)(v | 128);
    weft__text_add(t, &byte, 1);
  }
  byte = (char)v;
  weft__text_add(t, &byte, 1);
}

static weft_err saved_model_oom(void) { return weft__fail(WEFT_OOM, "no memory for a SavedModel"); }

weft_err weft__saved_model_create(weft_saved_model **out, const char *dir) {
  path_list found = {0};
  char *all = weft__path_below(dir, "*");
  weft_err err = all ? weft__file_match(all, &found) : saved_model_oom();
  if (!err && found.n)
    err = weft__fail(WEFT_ALREADY_EXISTS,
                     "Export directory %s already exists, and isn't empty. Please choose a different export directory, "
                     "or delete all the contents of the specified directory.",
                     dir);
  weft__path_list_finish(&found);
  weft__free(all);
  if (err) return err;
  weft_saved_model *m = weft__alloc_zero(1, sizeof *m);
  if (m) m->dir = weft__strdup(dir);
  if (!m || !m->dir) {
    weft__free(m);
    return saved_model_oom();
  }
  *out = m;
  return WEFT_OK;
}

void weft__saved_model_destroy(weft_saved_model *m) {
  if (!m) return;
  weft__text_finish(&m->graphs);
  weft__free(m->dir);
  weft__free(m);
}

/* ---- signatures ---- */

typedef struct signing {
  const weft_graph *g;
  arena a; /* owns everything below */
  Tensorflow__MetaGraphDefSignatureDefEntry **entry;
  size_t n;
} signing;

static char *saved_model_string(signing *s, const char *t) { return weft__arena_strdup(&s->a, t ? t : ""); }

static weft_err tensor_info(signing *s, weft_out o, Tensorflow__TensorInfo *info) {
  tensorflow__tensor_info__init(info);
  if (o.node < 0 || o.node >= s->g->n_node || o.slot >= s->g->node[o.node]->n_out)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a signature names %d:%d, which is no output of the graph", o.node,
                      o.slot);
  const weft_node *n = s->g->node[o.node];
  char *name = weft__sprintf("%s:%d", n->name, o.slot);
  info->name = name ? saved_model_string(s, name) : NULL;
  weft__free(name);
  info->encoding_case = TENSORFLOW__TENSOR_INFO__ENCODING_NAME;
  info->dtype = (int32_t)weft__dtype_base(n->out_type[o.slot]);
  info->tensor_shape = weft__arena_alloc(&s->a, sizeof *info->tensor_shape);
  if (!info->name || !info->tensor_shape) return saved_model_oom();
  tensorflow__tensor_shape_proto__init(info->tensor_shape);
  return weft__shape_to_proto(info->tensor_shape, weft__out_shape(s->g, o), &s->a);
}

static weft_err sign_inputs(signing *s, const weft_signature *w, Tensorflow__SignatureDef *d) {
  Tensorflow__SignatureDefInputsEntry *e = weft__arena_alloc(&s->a, sizeof *e * (size_t)(w->n_in + 1));
  Tensorflow__TensorInfo *info = weft__arena_alloc(&s->a, sizeof *info * (size_t)(w->n_in + 1));
  d->inputs = weft__arena_alloc(&s->a, sizeof *d->inputs * (size_t)(w->n_in + 1));
  if (!e || !info || !d->inputs) return saved_model_oom();
  for (int i = 0; i < w->n_in; i++) {
    tensorflow__signature_def_inputs_entry__init(&e[i]);
    WEFT_TRY(tensor_info(s, w->in[i], &info[i]));
    e[i].key = saved_model_string(s, w->in_names[i]), e[i].value = &info[i];
    if (!e[i].key) return saved_model_oom();
    d->inputs[d->n_inputs++] = &e[i];
  }
  return WEFT_OK;
}

static weft_err sign_outputs(signing *s, const weft_signature *w, Tensorflow__SignatureDef *d) {
  Tensorflow__SignatureDefOutputsEntry *e = weft__arena_alloc(&s->a, sizeof *e * (size_t)(w->n_out + 1));
  Tensorflow__TensorInfo *info = weft__arena_alloc(&s->a, sizeof *info * (size_t)(w->n_out + 1));
  d->outputs = weft__arena_alloc(&s->a, sizeof *d->outputs * (size_t)(w->n_out + 1));
  if (!e || !info || !d->outputs) return saved_model_oom();
  for (int i = 0; i < w->n_out; i++) {
    tensorflow__signature_def_outputs_entry__init(&e[i]);
    WEFT_TRY(tensor_info(s, w->out[i], &info[i]));
    e[i].key = saved_model_string(s, w->out_names[i]), e[i].value = &info[i];
    if (!e[i].key) return saved_model_oom();
    d->outputs[d->n_outputs++] = &e[i];
  }
  return WEFT_OK;
}

/* Returns the signature as a message in the arena.  A serialized one is unpacked to *given, which the caller frees. */
static weft_err saved_model_sign(signing *s, const weft_signature *w, ProtobufCMessage **given) {
  Tensorflow__MetaGraphDefSignatureDefEntry *e = weft__arena_alloc(&s->a, sizeof *e);
  Tensorflow__SignatureDef *d = weft__arena_alloc(&s->a, sizeof *d);
  if (!e || !d) return saved_model_oom();
  tensorflow__meta_graph_def_signature_def_entry__init(e);
  tensorflow__signature_def__init(d);
  e->key = saved_model_string(s, w->key);
  if (!e->key) return saved_model_oom();
  if (w->def) {
    WEFT_TRY(weft__proto_unpack(given, &tensorflow__signature_def__descriptor, w->def, w->def_size));
    e->value = (Tensorflow__SignatureDef *)*given;
  } else {
    d->method_name = saved_model_string(s, w->method);
    if (!d->method_name) return saved_model_oom();
    WEFT_TRY(sign_inputs(s, w, d));
    WEFT_TRY(sign_outputs(s, w, d));
    e->value = d;
  }
  s->entry[s->n++] = e;
  return WEFT_OK;
}

/* ---- graphs ---- */

static void clear_devices(Tensorflow__GraphDef *g) {
  for (size_t i = 0; g && i < g->n_node; i++)
    if (*g->node[i]->device) *g->node[i]->device = '\0';
}

/* Appends the MetaGraphDef, with tags and signatures in place of its own. */
static weft_err saved_model_append(weft_saved_model *m, Tensorflow__MetaGraphDef *meta, signing *s,
                                   const weft_saved_model_opts *o) {
  Tensorflow__MetaGraphDef changed = *meta;
  Tensorflow__MetaGraphDefMetaInfoDef info = TENSORFLOW__META_GRAPH_DEF_META_INFO_DEF__INIT;
  if (meta->meta_info_def) info = *meta->meta_info_def;
  info.n_tags = (size_t)o->n_tag;
  info.tags = (char **)(uintptr_t)o->tags;
  changed.meta_info_def = &info;
  changed.n_signature_def = s->n;
  changed.signature_def = s->entry;
  if (o->clear_devices) clear_devices(changed.graph_def);
  size_t size = tensorflow__meta_graph_def__get_packed_size(&changed);
  saved_model_put_varint(&m->graphs, 2 << 3 | 2);
  saved_model_put_varint(&m->graphs, size);
  char *to = weft__text_reserve(&m->graphs, size);
  if (!to || m->graphs.failed) return saved_model_oom();
  m->graphs.size += tensorflow__meta_graph_def__pack(&changed, (uint8_t *)to);
  return WEFT_OK;
}

static weft_err sign_and_append(weft_saved_model *m, weft_graph *g, Tensorflow__MetaGraphDef *meta,
                                const weft_saved_model_opts *o) {
  signing s = {.g = g};
  size_t room = (size_t)o->n_signature + 1;
  ProtobufCMessage **given = weft__alloc_zero(room, sizeof(void *));
  s.entry = weft__arena_alloc(&s.a, sizeof *s.entry * room);
  weft_err err = given && s.entry ? WEFT_OK : saved_model_oom();
  for (int i = 0; !err && i < o->n_signature; i++) err = saved_model_sign(&s, &o->signatures[i], &given[i]);
  if (!err) err = saved_model_append(m, meta, &s, o);
  for (size_t i = 0; given && i < room; i++)
    if (given[i]) protobuf_c_message_free_unpacked(given[i], NULL);
  weft__free(given);
  weft__arena_finish(&s.a);
  return err;
}

static weft_err add_graph(weft_saved_model *m, weft_graph *g, weft_saver *saver, const weft_saved_model_opts *o) {
  void *def = NULL;
  size_t def_size = 0, size;
  uint8_t *bytes = NULL;
  ProtobufCMessage *meta = NULL;
  weft_err err = saver ? weft__saver_def(saver, &def, &def_size) : WEFT_OK;
  if (!err) err = weft__metagraph_export(g, &(metagraph_opts){.saver_def = def, .saver_size = def_size}, &bytes, &size);
  if (!err) err = weft__proto_unpack(&meta, &tensorflow__meta_graph_def__descriptor, bytes, size);
  if (!err) err = sign_and_append(m, g, (Tensorflow__MetaGraphDef *)meta, o);
  if (meta) protobuf_c_message_free_unpacked(meta, NULL);
  weft__free(bytes);
  weft__free(def);
  return err;
}

static weft_err save_variables(weft_saved_model *m, weft_saver *saver, weft_session *sess) {
  char *path = weft__path_below(m->dir, "variables/variables");
  if (!path) return saved_model_oom();
  weft_err err =
      weft__saver_save(saver, sess, path, &(weft_save_opts){.write_meta_graph = WEFT_NO, .write_state = WEFT_NO}, NULL);
  weft__free(path);
  m->has_variables = !err;
  return err;
}

/* The folder is there even if the model has no variables. */
static weft_err create_variables_folder(const weft_saved_model *m) {
  char *path = weft__path_below(m->dir, "variables");
  weft_err err = path ? weft__dir_create_all(path) : saved_model_oom();
  weft__free(path);
  return err;
}

weft_err weft__saved_model_add(weft_saved_model *m, weft_graph *g, weft_session *sess, const weft_saved_model_opts *o) {
  weft_saver *made = NULL, *saver = o->saver;
  const collection *variables = weft__collection_get(g, "variables");
  weft_err err = WEFT_OK;
  if (sess && m->graphs.size)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "Graph state including variables and assets has already been saved. Please "
                      "invoke `add_meta_graph()` instead.");
  if (o->init && (o->init->node < 0 || o->init->node >= g->n_node))
    return weft__fail(WEFT_INVALID_ARGUMENT, "what is to be run after loading is no node of the graph");
  if (!saver && variables && variables->n) {
    err = weft__saver_create(&made, g, &(weft_saver_opts){.sharded = true});
    saver = made;
  }
  if (!err && o->init) err = weft__collection_add_name(g, "saved_model_main_op", g->node[o->init->node]->name);
  if (!err && sess) err = create_variables_folder(m);
  if (!err && sess && saver) err = save_variables(m, saver, sess);
  if (!err) err = add_graph(m, g, saver, o);
  weft__saver_destroy(made);
  if (err) return weft__fail_in(err, "adding a graph to the SavedModel in %s", m->dir);
  weft__log(LOG_INFO, "Assets added to graph.");
  weft__log(LOG_INFO, "No assets to write.");
  return WEFT_OK;
}

weft_err weft__saved_model_write(weft_saved_model *m) {
  static const char version[] = {1 << 3, 1}; /* saved_model_schema_version: 1 */
  text all = {0};
  char *path = weft__path_below(m->dir, "saved_model.pb");
  weft__text_add(&all, version, sizeof version);
  weft__text_add(&all, m->graphs.data ? m->graphs.data : "", m->graphs.size);
  weft_err err = path && !all.failed ? weft__dir_create_all(m->dir) : saved_model_oom();
  if (!err) err = weft__file_write(path, all.data, all.size);
  if (!err) weft__log(LOG_INFO, "SavedModel written to: %s", path);
  weft__text_finish(&all);
  weft__free(path);
  return err;
}
