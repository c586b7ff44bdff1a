/* partition.c - variables that are partitions of one tensor.
 *
 * The VariableDef of a variable says which part of which tensor it is (SaveSliceInfoDef).  Savers read it and write
 * one tensor of slices.  Concatenated protobuf messages are merged, so the information is simply appended to the
 * definition. */
#include "train/model/partition.h"
#include "base/alloc.h"
#include "graph/collection.h"
#include "proto/scan.h"
#include "tf.pb-c.h"
#include "train/model/variable_nodes.h"
#include <string.h>

static const char *const lists[] = {"variables", "local_variables", "trainable_variables", "model_variables",
                                    "moving_average_variables"};

/* Appends bytes to every definition of a variable. */
static weft_err partition_extend(weft_graph *g, weft_out v, const uint8_t *more, size_t size) {
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    attr_str *def = weft__variable_definition(g, lists[l], v);
    if (!def) continue;
    char *grown = weft__arena_alloc(&g->arena, def->size + size + 1);
    if (!grown) return WEFT_OOM;
    memcpy(grown, def->data, def->size);
    memcpy(grown + def->size, more, size);
    *def = (attr_str){grown, def->size + size};
  }
  return WEFT_OK;
}

static weft_err put_slice(weft_graph *g, weft_out v, Tensorflow__SaveSliceInfoDef *slice) {
  Tensorflow__VariableDef def = TENSORFLOW__VARIABLE_DEF__INIT;
  def.save_slice_info_def = slice;
  uint8_t *bytes = weft__arena_alloc(&g->arena, tensorflow__variable_def__get_packed_size(&def) + 1);
  if (!bytes) return WEFT_OOM;
  return partition_extend(g, v, bytes, tensorflow__variable_def__pack(&def, bytes));
}

weft_err weft__variable_slice_set(weft_graph *g, weft_out v, const variable_slice *s) {
  Tensorflow__SaveSliceInfoDef slice = TENSORFLOW__SAVE_SLICE_INFO_DEF__INIT;
  WEFT_TRY(weft__variable_check(g, "slice", v));
  shape own = weft__variable_shape(g, v);
  if (own.rank != s->rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "variable '%s' of rank %d is no piece of '%s' of rank %d",
                      weft__variable_name(g, v), own.rank, s->full_name, s->rank);
  for (int i = 0; i < s->rank; i++)
    if (s->offset[i] < 0 || s->offset[i] + own.dim[i] > s->full[i])
      return weft__fail(WEFT_OUT_OF_RANGE,
                        "variable '%s' lies in '%s' from %lld to %lld in dimension %d, which has %lld",
                        weft__variable_name(g, v), s->full_name, (long long)s->offset[i],
                        (long long)(s->offset[i] + own.dim[i]), i, (long long)s->full[i]);
  slice.full_name = (char *)(uintptr_t)s->full_name;
  slice.n_full_shape = slice.n_var_offset = slice.n_var_shape = (size_t)s->rank;
  slice.full_shape = (int64_t *)(uintptr_t)s->full;
  slice.var_offset = (int64_t *)(uintptr_t)s->offset;
  slice.var_shape = own.dim;
  return put_slice(g, v, &slice);
}

/* The full name is that of the whole plus the rest of the new variable's name after the length of the partition's
 * name: "e/part_0/Adam_1" of "e/part_0" belongs to "e/Adam_1".  TensorFlow counts characters even if an outer scope
 * precedes the name, so that "dnn/e/part_0/Adam" belongs to "e/t_0/Adam"; its checkpoints have such keys. */
static weft_err partition_slot(weft_graph *g, weft_out piece, weft_out made, Tensorflow__SaveSliceInfoDef *slice) {
  const char *name = weft__variable_name(g, made), *old = weft__variable_name(g, piece);
  size_t shared = strlen(old);
  if (strlen(name) <= shared + 1) return WEFT_OK; /* not created for it */
  size_t whole = strlen(slice->full_name), size = whole + strlen(name + shared) + 1;
  char *full = weft__arena_alloc(&g->arena, size), *given = slice->full_name;
  if (!full) return WEFT_OOM;
  memcpy(full, given, whole);
  memcpy(full + whole, name + shared, size - whole);
  full[whole] = '/';
  slice->full_name = full;
  weft_err err = put_slice(g, made, slice);
  slice->full_name = given;
  return err;
}

weft_err weft__variable_slice_like(weft_graph *g, weft_out piece, weft_out made) {
  const attr_str *def = NULL;
  ProtobufCMessage *m;
  for (size_t l = 0; l < sizeof lists / sizeof *lists && !def; l++) def = weft__variable_definition(g, lists[l], piece);
  if (!def || made.node < 0) return WEFT_OK;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__variable_def__descriptor, def->data, def->size));
  Tensorflow__SaveSliceInfoDef *slice = ((Tensorflow__VariableDef *)m)->save_slice_info_def;
  weft_err err = slice ? partition_slot(g, piece, made, slice) : WEFT_OK;
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* ---- get_variable ---- */

static weft_err check_cut(const variable_spec *whole, int axis, int n) {
  const shape *s = &whole->shape;
  if (!whole->has_shape)
    return weft__fail(WEFT_INVALID_ARGUMENT, "variable '%s' cannot be cut: its initial value is one tensor",
                      whole->name);
  if (axis < 0 || axis >= s->rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "variable '%s' of shape %s has no axis %d to be cut along", whole->name,
                      weft__shape_text(s), axis);
  if (n < 1 || s->dim[axis] < n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "axis %d of variable '%s' of shape %s cannot be cut into %d pieces", axis,
                      whole->name, weft__shape_text(s), n);
  return WEFT_OK;
}

/* Creates or finds partition i, which begins at `offset`. */
static weft_err get_part(weft_graph *g, const variable_spec *piece, const shape *full, const int64_t *offset,
                         weft_out *out) {
  variable_nodes v;
  WEFT_TRY(weft__variable_get(g, piece, &v));
  *out = v.variable;
  if (v.found) return WEFT_OK;
  const char *name = weft__variable_name(g, v.variable);
  char *whole = weft__arena_strdup(&g->arena, name);
  if (!whole) return WEFT_OOM;
  *strrchr(whole, '/') = 0; /* including its scopes */
  return weft__variable_slice_set(g, v.variable, &(variable_slice){whole, full->rank, full->dim, offset});
}

weft_err weft__variable_get_parts(weft_graph *g, const variable_spec *whole, int axis, int n, weft_out *out) {
  WEFT_TRY(check_cut(whole, axis, n));
  const int64_t all = whole->shape.dim[axis];
  int64_t offset[WEFT_MAX_RANK] = {0};
  for (int i = 0; i < n; i++) {
    variable_spec piece = *whole;
    char *name = weft__sprintf("%s/part_%d", whole->name, i);
    if (!name) return WEFT_OOM;
    piece.name = name;
    piece.whole = &whole->shape;
    piece.shape.dim[axis] = all / n + (i < all % n);
    weft_err err = get_part(g, &piece, &whole->shape, offset, &out[i]);
    weft__free(name);
    WEFT_TRY(err);
    offset[axis] += piece.shape.dim[axis];
  }
  return WEFT_OK;
}
