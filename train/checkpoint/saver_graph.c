/* saver_graph.c - the nodes of a saver, named and placed as TensorFlow 2.15 does it.
 *
 * Plain: one SaveV2, one RestoreV2 and an Assign for each variable.  Sharded: the same for each device that has
 * variables, saved into a temporary folder, and a MergeV2Checkpoints that makes one bundle of the parts.  Files of
 * version 1 are written by SaveSlices; sharded ones stay apart, and ShardedFilespec names them.
 *
 * A lookup table that may change is given by its LookupTableExport node.  It is two tensors, NAME-keys and NAME-values,
 * and a LookupTableImport restores both.
 *
 * An iterator is given by the OptionalGetValue of its SerializeIterator: the number of elements that were taken.  A
 * DeserializeIterator restores it. */
#include "base/alloc.h"
#include "device/device.h"
#include "graph/mark.h"
#include "graph/scope.h"
#include "tf.pb-c.h"
#include "train/model/nodes.h"
#include "train/checkpoint/saver.h"
#include "train/model/variables.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum save_kind { SAVE_VARIABLE, SAVE_TABLE, SAVE_ITERATOR } save_kind;

typedef struct save_item {
  const char *key;  /* key in the checkpoint */
  const char *name; /* sort key: the key, or that of the table */
  variable_item v;  /* of a table or an iterator: `variable` is its handle, `read` the tensor that is saved */
  save_kind kind;
  const char *device;
  int order;
} save_item;

typedef struct build {
  weft_graph *g;
  const weft_saver_opts *opts;
  variable_list all; /* also owns the data of the items */
  save_item *item;
  int n;
  weft_out filename;
  weft_out *outs; /* room for n + 3 */
  int *ids;       /* room for 2 n */
  const char **texts;
} build;

static int saver_graph_by_key(const void *a, const void *b) {
  const save_item *x = a, *y = b;
  int c = strcmp(x->name, y->name);
  return c ? c : x->order - y->order;
}

static int by_device(const void *a, const void *b) {
  const save_item *x = a, *y = b;
  int c = strcmp(x->device, y->device);
  return c ? c : saver_graph_by_key(a, b);
}

/* ---- the items to save ---- */

static bool is_export(const weft_graph *g, weft_out o) {
  return o.node >= 0 && o.node < g->n_node && !strncmp(g->node[o.node]->op_name, "LookupTableExport", 17);
}

/* Adds the two tensors of a table: keys and values. */
static weft_err take_table(build *b, weft_out exported, const char *name) {
  static const char *const suffix[] = {"-keys", "-values"};
  const weft_node *export = b->g->node[exported.node];
  const char *last = strrchr(b->g->node[export->in[0].node]->name, '/');
  if (!name) name = last ? last + 1 : b->g->node[export->in[0].node]->name;
  for (int i = 0; i < 2; i++) {
    const size_t room = strlen(name) + 8;
    char *key = weft__arena_alloc(&b->all.arena, room);
    if (!key) return WEFT_OOM;
    snprintf(key, room, "%s%s", name, suffix[i]);
    b->item[b->n++] = (save_item){.key = key, .name = name, .kind = SAVE_TABLE, .v = {.slice = ""}};
    b->item[b->n - 1].v.variable = export->in[0];
    b->item[b->n - 1].v.read = (weft_out){exported.node, (uint16_t)i, exported.graph};
  }
  return WEFT_OK;
}

static bool is_position(const weft_graph *g, weft_out o) {
  if (o.node < 0 || o.node >= g->n_node || strcmp(g->node[o.node]->op_name, "OptionalGetValue") != 0) return false;
  return strcmp(g->node[g->node[o.node]->in[0].node]->op_name, "SerializeIterator") == 0;
}

static void take_iterator(build *b, weft_out position, const char *name) {
  const weft_node *serialize = b->g->node[b->g->node[position.node]->in[0].node];
  if (!name) name = serialize->name;
  b->item[b->n++] = (save_item){.key = name, .name = name, .kind = SAVE_ITERATOR, .v = {.slice = ""}};
  b->item[b->n - 1].v.variable = serialize->in[0];
  b->item[b->n - 1].v.read = position;
}

static weft_err take_given(build *b) {
  for (int i = 0; i < b->opts->n_variable; i++) {
    const char *name = b->opts->names ? b->opts->names[i] : NULL;
    if (is_export(b->g, b->opts->variables[i])) {
      WEFT_TRY(take_table(b, b->opts->variables[i], name));
      continue;
    }
    if (is_position(b->g, b->opts->variables[i])) {
      take_iterator(b, b->opts->variables[i], name);
      continue;
    }
    save_item *it = &b->item[b->n++];
    WEFT_TRY(weft__variables_find(b->g, b->opts->variables[i], &b->all.arena, &it->v));
    it->key = it->name = name ? name : it->v.full_name;
  }
  return WEFT_OK;
}

static void take_all(build *b) {
  for (int i = 0; i < b->all.n; i++)
    b->item[b->n++] =
        (save_item){.key = b->all.item[i].full_name, .name = b->all.item[i].full_name, .v = b->all.item[i]};
}

static weft_err check_keys(const build *b) {
  for (int i = 1; i < b->n; i++)
    if (strcmp(b->item[i - 1].key, b->item[i].key) == 0 && !*b->item[i].v.slice)
      return weft__fail(WEFT_INVALID_ARGUMENT, "At least two variables have the same name: %s", b->item[i].key);
  return WEFT_OK;
}

static weft_err saver_gather(build *b) {
  bool given = b->opts->n_variable > 0;
  if (given)
    b->all = (variable_list){0};
  else
    WEFT_TRY(weft__variables_read(b->g, "variables", &b->all));
  size_t most = (size_t)(given ? 2 * b->opts->n_variable : b->all.n) + 1;
  b->item = weft__alloc_zero(most, sizeof *b->item);
  b->outs = weft__alloc((most + 3) * sizeof *b->outs);
  b->ids = weft__alloc(2 * most * sizeof *b->ids);
  b->texts = weft__alloc(most * sizeof *b->texts);
  if (!b->item || !b->outs || !b->ids || !b->texts) return WEFT_OOM;
  if (given)
    WEFT_TRY(take_given(b));
  else
    take_all(b);
  if (b->n == 0) return weft__fail(WEFT_INVALID_ARGUMENT, "No variables to save");
  for (int i = 0; i < b->n; i++) {
    b->item[i].order = i;
    b->item[i].device = b->g->node[b->item[i].v.variable.node]->device;
  }
  qsort(b->item, (size_t)b->n, sizeof *b->item, saver_graph_by_key);
  return check_keys(b);
}

/* ---- nodes for a run of items [first, first + n) ---- */

/* Adds the inputs of SaveV2 and RestoreV2 with the names and slices. */
static void name_inputs(build *b, const char *type, const char *label, int first, int n, weft_out *names,
                        weft_out *slices) {
  weft__b_push_name(b->g, type);
  for (int i = 0; i < n; i++) b->texts[i] = b->item[first + i].key;
  *names = weft__n_strings(b->g, "tensor_names", n, b->texts);
  for (int i = 0; i < n; i++) b->texts[i] = b->item[first + i].v.slice;
  *slices = weft__n_strings(b->g, label, n, b->texts);
}

static weft_out saved_value(weft_graph *g, const variable_item *v) {
  if (!v->resource && !*v->slice) return v->variable;
  if (v->read.node >= 0 || !v->resource) return v->read;
  weft_dtype type = weft__node_type(g->node[v->variable.node], "dtype");
  return weft__b_node(g, "ReadVariableOp", NULL, 1, &v->variable, 1, &A_TYPE("dtype", type));
}

/* Adds SaveV2 (or SaveSlices for V1 files), and returns the file name after it is written. */
static weft_out add_save(build *b, weft_out filename, int first, int n) {
  weft_out names, slices;
  bool old = b->opts->version == 1;
  name_inputs(b, old ? "save" : "SaveV2", old ? "shapes_and_slices" : "shape_and_slices", first, n, &names, &slices);
  b->outs[0] = filename, b->outs[1] = names, b->outs[2] = slices;
  for (int i = 0; i < n; i++) {
    const save_item *it = &b->item[first + i];
    b->outs[3 + i] = it->kind != SAVE_VARIABLE ? it->v.read : saved_value(b->g, &it->v);
  }
  weft_out save = weft__n_scope_node(b->g, old ? "SaveSlices" : "SaveV2", 3 + n, b->outs, 0, NULL);
  weft__b_pop(b->g);
  if (save.node < 0) return WEFT_NONE;
  weft__b_push_control(b->g, 1, &save.node);
  weft__b_push_colocate(b->g, filename.node);
  weft_out done = weft__b_node(b->g, "Identity", "control_dependency", 1, &filename, 0, NULL);
  weft__b_pop(b->g);
  weft__b_pop(b->g);
  return done;
}

static weft_out add_restore(build *b, int first, int n) {
  weft_out names, slices, made = WEFT_NONE;
  weft_dtype *types = weft__alloc(sizeof *types * (size_t)(n + 1));
  if (!types) {
    weft__status_update(&b->g->sticky, WEFT_OOM);
    return made;
  }
  for (int i = 0; i < n; i++) {
    const variable_item *v = &b->item[first + i].v;
    const weft_node *node = b->g->node[v->variable.node];
    if (b->item[first + i].kind != SAVE_VARIABLE)
      types[i] = weft__out_type(b->g, v->read);
    else
      types[i] = v->resource ? weft__node_type(node, "dtype") : weft__dtype_base(node->out_type[v->variable.slot]);
  }
  name_inputs(b, "RestoreV2", "shape_and_slices", first, n, &names, &slices);
  made = weft__n_scope_node(b->g, "RestoreV2", 3, (weft_out[]){b->filename, names, slices}, 1,
                            &A_TYPES("dtypes", types, n));
  weft__b_pop(b->g);
  weft__free(types);
  return made;
}

static shape variable_shape(const weft_graph *g, const variable_item *v) {
  if (!v->resource) return *weft__out_shape(g, v->variable);
  const attr *a = weft__node_attr(g->node[v->variable.node], "shape");
  return a && a->kind == ATTR_SHAPE ? *a->shape : SHAPE_UNKNOWN;
}

static weft_out saver_reshape(build *b, const variable_item *v, weft_out from) {
  shape s = variable_shape(b->g, v);
  weft_tensor *t = NULL;
  weft__b_push_name(b->g, "Reshape");
  weft_out dims;
  if (weft__shape_known(&s)) {
    weft__status_update(&b->g->sticky, weft__tensor_dims(&t, s.dim, s.rank));
    dims = weft__n_const(b->g, "shape", t);
  } else {
    dims = weft__b_shape(b->g, v->variable);
  }
  weft_out o = weft__n_scope_node(b->g, "Reshape", 2, (weft_out[]){from, dims}, 0, NULL);
  weft__b_pop(b->g);
  return o;
}

static int add_assign(build *b, const save_item *it, weft_out from) {
  weft_graph *g = b->g;
  weft_out o;
  if (b->opts->reshape) from = saver_reshape(b, &it->v, from);
  if (it->v.resource) {
    weft__n_push_device(g, it->device);
    from = weft__b_node(g, "Identity", NULL, 1, &from, 0, NULL);
    o = weft__b_node(g, "AssignVariableOp", NULL, 2, (weft_out[]){it->v.variable, from}, 0, NULL);
  } else {
    shape s = variable_shape(g, &it->v);
    bool validate = !b->opts->reshape && weft__shape_known(&s);
    weft__b_push_colocate(g, it->v.variable.node);
    o = weft__b_node(g, "Assign", NULL, 2, (weft_out[]){it->v.variable, from}, 1, &A_BOOL("validate_shape", validate));
  }
  weft__b_pop(g);
  return o.node;
}

/* Adds a node that fills a table with the two tensors from `from` on. */
static int add_import(build *b, const save_item *it, weft_out from) {
  char label[256];
  const weft_node *handle = b->g->node[it->v.variable.node];
  const bool old = (int)handle->out_type[it->v.variable.slot] > WEFT_REF_BASE;
  snprintf(label, sizeof label, "%s_table_restore", it->name);
  weft__b_push_colocate(b->g, it->v.variable.node);
  weft__b_push_name(b->g, label);
  const weft_out in[] = {it->v.variable, from, weft__b_slot(from, from.slot + 1)};
  const weft_out o = weft__b_node(b->g, old ? "LookupTableImport" : "LookupTableImportV2", NULL, 3, in, 0, NULL);
  weft__b_pop(b->g);
  weft__b_pop(b->g);
  return o.node;
}

/* Adds a node that sets an iterator to the restored position. */
static int add_move(build *b, const save_item *it, weft_out from) {
  weft__b_push_colocate(b->g, it->v.variable.node);
  const weft_out state = weft__b_node(b->g, "OptionalFromValue", NULL, 1, &from, 0, NULL);
  const weft_out in[] = {it->v.variable, state};
  const weft_out o = weft__b_node(b->g, "DeserializeIterator", NULL, 2, in, 0, NULL);
  weft__b_pop(b->g);
  return o.node;
}

static weft_out add_assigns(build *b, const char *group, weft_out restored, int first, int n) {
  int made = 0;
  for (int i = 0; i < n; i++) {
    const save_item *it = &b->item[first + i];
    const weft_out from = weft__b_slot(restored, i);
    b->ids[made++] = it->kind == SAVE_TABLE      ? add_import(b, it, from)
                     : it->kind == SAVE_ITERATOR ? add_move(b, it, from)
                                                 : add_assign(b, it, from);
    i += it->kind == SAVE_TABLE;
  }
  return weft__n_group(b->g, group, made, b->ids);
}

/* ---- plain and sharded ---- */

static weft_out add_filename(build *b) {
  const char *name = b->opts->filename ? b->opts->filename : "model";
  shape scalar = SHAPE_SCALAR;
  weft__b_push_name(b->g, "filename");
  weft_out given = weft__n_string(b->g, "input", name);
  weft_out file = weft__n_scope_node(b->g, "PlaceholderWithDefault", 1, &given, 1, &A_SHAPE("shape", &scalar));
  weft__b_pop(b->g);
  return weft__b_node(b->g, "PlaceholderWithDefault", "Const", 1, &file, 1, &A_SHAPE("shape", &scalar));
}

static void build_plain(build *b, weft_out *save, weft_out *restore) {
  *save = add_save(b, b->filename, 0, b->n);
  weft__n_push_device(b->g, "/device:CPU:0");
  weft_out restored = add_restore(b, 0, b->n);
  weft__b_pop(b->g);
  *restore = add_assigns(b, "restore_all", restored, 0, b->n);
}

/* Returns the folder for the parts, beside the checkpoint; s3 has no folders. */
static weft_out part_prefix(build *b) {
  weft_graph *g = b->g;
  weft__n_push_device(g, "/device:CPU:*");
  weft_out far = weft__b_node(g, "StaticRegexFullMatch", NULL, 1, &b->filename, 1, &A_STR("pattern", "^s3://.*"));
  weft_out far_part = weft__n_string(g, "Const", ".part"), near_part = weft__n_string(g, "Const", "_temp/part");
  weft_out part = weft__b_node(g, "Select", NULL, 3, (weft_out[]){far, far_part, near_part}, 0, NULL);
  weft_out prefix = weft__b_node(g, "StringJoin", NULL, 2, (weft_out[]){b->filename, part}, 0, NULL);
  weft__b_pop(g);
  return prefix;
}

/* Opens a scope for CPU 0 of the device, where files are read and written. */
static void push_cpu0(build *b, const char *where) {
  device_spec spec;
  char name[WEFT_DEVICE_TEXT] = "";
  weft_err err = weft__device_parse(&spec, where);
  weft__status_update(&b->g->sticky, err);
  if (!err) {
    weft__device_merge(&spec, &(device_spec){.type = "CPU", .has_type = true, .id = 0, .task = -1, .replica = -1});
    weft__device_text(&spec, name, sizeof name);
  }
  weft__n_push_device(b->g, name);
}

static int shard_size(const build *b, int first) {
  int n = 1;
  while (first + n < b->n && strcmp(b->item[first + n].device, b->item[first].device) == 0) n++;
  return n;
}

static weft_out shard_name(build *b, weft_out prefix, weft_out shards, int shard) {
  weft__b_push_name(b->g, "ShardedFilename");
  weft_out number = weft__n_scalar(b->g, "shard", WEFT_INT32, shard);
  weft_out o = weft__n_scope_node(b->g, "ShardedFilename", 3, (weft_out[]){prefix, number, shards}, 0, NULL);
  weft__b_pop(b->g);
  return o;
}

/* Merges all parts into one; returns the name after the merge. */
static weft_out merge_shards(build *b, int n, const weft_out *parts, const int *saves) {
  weft_graph *g = b->g;
  weft__b_push_control(g, n, saves);
  weft__b_push_name(g, "MergeV2Checkpoints");
  weft_out all = weft__b_node(g, "Pack", "checkpoint_prefixes", n, parts, 0, NULL);
  weft_out merge = weft__n_scope_node(g, "MergeV2Checkpoints", 2, (weft_out[]){all, b->filename}, 1,
                                      &A_BOOL("delete_old_dirs", true));
  weft__b_pop(g);
  weft_out done = WEFT_NONE;
  if (merge.node >= 0) {
    weft__b_push_control(g, 1, &merge.node);
    done = weft__b_node(g, "Identity", NULL, 1, &b->filename, 0, NULL);
    weft__b_pop(g);
  }
  weft__b_pop(g);
  return done;
}

/* Returns the pattern for all shards after they are written; V1 files stay separate. */
static weft_out name_shards(build *b, weft_out number, int n, const int *saves) {
  weft__b_push_control(b->g, n, saves);
  weft_out made = weft__b_node(b->g, "ShardedFilespec", NULL, 2, (weft_out[]){b->filename, number}, 0, NULL);
  weft__b_pop(b->g);
  return made;
}

/* Opens a scope for the device that writes a shard: that of its variables, or its CPU 0 for V2. */
static void push_shard_device(build *b, const char *where) {
  if (b->opts->version == 1)
    weft__n_push_device(b->g, where);
  else
    push_cpu0(b, where);
}

static weft_out save_shards(build *b, int shards) {
  weft_out *parts = weft__alloc(sizeof *parts * (size_t)(shards + 1)), done = WEFT_NONE;
  int *saves = weft__alloc(sizeof *saves * (size_t)(shards + 1)), shard = 0;
  if (!parts || !saves) weft__status_update(&b->g->sticky, WEFT_OOM);
  bool old = b->opts->version == 1;
  weft_out prefix = old ? b->filename : part_prefix(b);
  weft_out number = weft__n_scalar(b->g, "num_shards", WEFT_INT32, shards);
  for (int first = 0, n; parts && saves && first < b->n; first += n, shard++) {
    n = shard_size(b, first);
    push_shard_device(b, b->item[first].device);
    parts[shard] = shard_name(b, prefix, number, shard);
    saves[shard] = add_save(b, parts[shard], first, n).node;
    weft__b_pop(b->g);
  }
  if (!b->g->sticky.code && old) {
    done = name_shards(b, number, shards, saves);
  } else if (!b->g->sticky.code) {
    push_cpu0(b, b->item[b->n - 1].device);
    done = merge_shards(b, shards, parts, saves);
    weft__b_pop(b->g);
  }
  weft__free(parts);
  weft__free(saves);
  return done;
}

static weft_out restore_shards(build *b, int shards) {
  int *parts = b->ids + b->n, shard = 0;
  for (int first = 0, n; first < b->n; first += n, shard++) {
    n = shard_size(b, first);
    push_cpu0(b, b->item[first].device);
    weft_out restored = add_restore(b, first, n);
    weft__b_pop(b->g);
    parts[shard] = add_assigns(b, "restore_shard", restored, first, n).node;
  }
  return weft__n_group(b->g, "restore_all", shards, parts);
}

static void build_sharded(build *b, weft_out *save, weft_out *restore) {
  int shards = 0;
  qsort(b->item, (size_t)b->n, sizeof *b->item, by_device);
  for (int first = 0; first < b->n; first += shard_size(b, first)) shards++;
  *save = save_shards(b, shards);
  *restore = restore_shards(b, shards);
}

/* ---- the whole saver ---- */

static weft_err pack_def(build *b, weft_out save, weft_out restore, uint8_t **def, size_t *size) {
  Tensorflow__SaverDef d = TENSORFLOW__SAVER_DEF__INIT;
  const weft_saver_opts *o = b->opts;
  d.filename_tensor_name = (char *)(uintptr_t)weft__n_out_name(b->g, b->filename);
  d.save_tensor_name = (char *)(uintptr_t)weft__n_out_name(b->g, save);
  d.restore_op_name = (char *)(uintptr_t)b->g->node[restore.node]->name;
  if (!d.filename_tensor_name || !d.save_tensor_name) return WEFT_OOM;
  d.max_to_keep = o->max_to_keep < 0 ? 0 : o->max_to_keep ? o->max_to_keep : 5;
  d.sharded = o->sharded;
  d.keep_checkpoint_every_n_hours = o->keep_every_hours != 0 ? (float)fmax(o->keep_every_hours, 0) : 10000;
  d.version = o->version == 1 ? 1 : 2;
  *size = tensorflow__saver_def__get_packed_size(&d);
  if (!(*def = weft__alloc(*size + 1))) return WEFT_OOM;
  tensorflow__saver_def__pack(&d, *def);
  return WEFT_OK;
}

static weft_err build_nodes(build *b, uint8_t **def, size_t *size) {
  weft_out save = WEFT_NONE, restore = WEFT_NONE;
  weft__b_push_name(b->g, b->opts->name ? b->opts->name : "save");
  b->filename = add_filename(b);
  if (b->opts->sharded)
    build_sharded(b, &save, &restore);
  else
    build_plain(b, &save, &restore);
  weft__b_pop(b->g);
  WEFT_TRY(weft__b_ok(b->g));
  return pack_def(b, save, restore, def, size);
}

weft_err weft__saver_build(weft_graph *g, const weft_saver_opts *opts, uint8_t **def, size_t *size) {
  static const weft_saver_opts none = {0};
  build b = {.g = g, .opts = opts ? opts : &none};
  WEFT_TRY(weft__b_ok(g));
  weft_err err = saver_gather(&b);
  if (!err) {
    graph_mark before = weft__graph_mark(g);
    err = build_nodes(&b, def, size);
    if (err) {
      weft__graph_rewind(g, &before);
      weft__b_clear(g); /* the recorded error is what we return */
    }
  }
  weft__free(b.item);
  weft__free(b.outs);
  weft__free(b.ids);
  weft__free(b.texts);
  weft__variables_finish(&b.all);
  return err;
}
