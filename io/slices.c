/* slices.c - version 1 checkpoints.  As TensorFlow writes them, values are TensorProtos with typed lists only. */
#include "io/slices.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/cast.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

typedef struct packed_row {
  bytes key, val; /* both in the arena */
} packed_row;

struct slices_writer {
  char *path;
  arena arena;
  packed_row *row;
  int n_row;
  int64_t room;
  Tensorflow__SavedSliceMeta **meta; /* one per tensor */
  int n_meta;
  int64_t room_meta;
};

weft_err weft__slices_create(slices_writer **out, const char *path) {
  slices_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  if (!(w->path = weft__strdup(path))) {
    weft__free(w);
    return WEFT_OOM;
  }
  *out = w;
  return WEFT_OK;
}

void weft__slices_destroy(slices_writer *w) {
  if (!w) return;
  weft__arena_finish(&w->arena);
  weft__free(w->row);
  weft__free(w->meta);
  weft__free(w->path);
  weft__free(w);
}

static weft_err slices_add_row(slices_writer *w, bytes key, const ProtobufCMessage *m) {
  WEFT_ASSERT(w->n_row <= w->room);
  WEFT_TRY(WEFT_ARRAY_RESERVE(w->row, w->room, w->n_row + 1));
  size_t size = protobuf_c_message_get_packed_size(m);
  char *k = weft__arena_strndup(&w->arena, key.data, key.size);
  char *v = weft__arena_alloc(&w->arena, size + 1);
  if (!k || !v) return WEFT_OOM;
  protobuf_c_message_pack(m, (uint8_t *)v);
  w->row[w->n_row++] = (packed_row){{k, key.size}, {v, size}};
  return WEFT_OK;
}

/* Widens small integers and 16-bit floats to lists of int32. */
static weft_err slices_widen(const weft_tensor *t, arena *a, size_t *n, int32_t **list) {
  int64_t count = weft__tensor_count(t);
  if (!(*list = weft__arena_alloc(a, (size_t)count * sizeof **list + 1))) return WEFT_OOM;
  *n = (size_t)count;
  bool bits = t->dtype == WEFT_HALF || t->dtype == WEFT_BFLOAT16;
  for (int64_t i = 0; i < count; i++)
    (*list)[i] = bits ? weft__int_sat(TENSOR_DATA(t, uint16_t)[i]) : weft__int_sat(weft__tensor_int(t, i));
  return WEFT_OK;
}

static weft_err list_strings(const weft_tensor *t, arena *a, Tensorflow__TensorProto *p) {
  int64_t count = weft__tensor_count(t);
  if (!(p->string_val = weft__arena_alloc(a, (size_t)count * sizeof *p->string_val + 1))) return WEFT_OOM;
  p->n_string_val = (size_t)count;
  for (int64_t i = 0; i < count; i++)
    p->string_val[i] = (ProtobufCBinaryData){TENSOR_DATA(t, str)[i].size, (uint8_t *)TENSOR_DATA(t, str)[i].data};
  return WEFT_OK;
}

static weft_err list_bools(const weft_tensor *t, arena *a, Tensorflow__TensorProto *p) {
  int64_t count = weft__tensor_count(t);
  if (!(p->bool_val = weft__arena_alloc(a, (size_t)count * sizeof *p->bool_val + 1))) return WEFT_OOM;
  p->n_bool_val = (size_t)count;
  for (int64_t i = 0; i < count; i++) p->bool_val[i] = TENSOR_DATA(t, bool)[i];
  return WEFT_OK;
}

/* Makes the list of the tensor's type point to its values; numbers are not copied. */
static weft_err list_values(const weft_tensor *t, arena *a, Tensorflow__TensorProto *p) {
  size_t n = (size_t)weft__tensor_count(t);
  *p = (Tensorflow__TensorProto)TENSORFLOW__TENSOR_PROTO__INIT;
#define POINT(field, count) p->field = t->data, p->n_##field = (count)
  switch (t->dtype) {
  case WEFT_FLOAT: POINT(float_val, n); return WEFT_OK;
  case WEFT_DOUBLE: POINT(double_val, n); return WEFT_OK;
  case WEFT_COMPLEX64: POINT(scomplex_val, 2 * n); return WEFT_OK;
  case WEFT_COMPLEX128: POINT(dcomplex_val, 2 * n); return WEFT_OK;
  case WEFT_INT32:
  case WEFT_QINT32: POINT(int_val, n); return WEFT_OK;
  case WEFT_INT64: POINT(int64_val, n); return WEFT_OK;
  case WEFT_UINT32: POINT(uint32_val, n); return WEFT_OK;
  case WEFT_UINT64: POINT(uint64_val, n); return WEFT_OK;
  case WEFT_BOOL: return list_bools(t, a, p);
  case WEFT_STRING: return list_strings(t, a, p);
  case WEFT_HALF:
  case WEFT_BFLOAT16: return slices_widen(t, a, &p->n_half_val, &p->half_val);
  case WEFT_INT8:
  case WEFT_INT16:
  case WEFT_UINT8:
  case WEFT_UINT16:
  case WEFT_QINT8:
  case WEFT_QUINT8:
  case WEFT_QINT16:
  case WEFT_QUINT16: return slices_widen(t, a, &p->n_int_val, &p->int_val);
  default: break;
  }
#undef POINT
  return weft__fail(WEFT_UNIMPLEMENTED, "a %s cannot be saved", weft__dtype_name(t->dtype));
}

static Tensorflow__SavedSliceMeta *find_meta(const slices_writer *w, bytes name) {
  WEFT_ASSERT(w->n_meta <= w->room_meta);
  for (int i = w->n_meta; i-- > 0;)
    if (strlen(w->meta[i]->name) == name.size && !memcmp(w->meta[i]->name, name.data, name.size)) return w->meta[i];
  return NULL;
}

/* Adds a slice of a known tensor, or the first slice of a new one. */
static weft_err add_meta(slices_writer *w, bytes name, const shape *full, weft_dtype type,
                         Tensorflow__TensorSliceProto *s) {
  Tensorflow__SavedSliceMeta *m = find_meta(w, name);
  if (!m) {
    WEFT_TRY(WEFT_ARRAY_RESERVE(w->meta, w->room_meta, w->n_meta + 1));
    if (!(m = weft__arena_alloc(&w->arena, sizeof *m))) return WEFT_OOM;
    *m = (Tensorflow__SavedSliceMeta)TENSORFLOW__SAVED_SLICE_META__INIT;
    m->name = weft__arena_strndup(&w->arena, name.data, name.size);
    m->shape = weft__arena_alloc(&w->arena, sizeof *m->shape);
    if (!m->name || !m->shape) return WEFT_OOM;
    *m->shape = (Tensorflow__TensorShapeProto)TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
    WEFT_TRY(weft__shape_to_proto(m->shape, full, &w->arena));
    m->type = (int32_t)type;
    w->meta[w->n_meta++] = m;
  }
  Tensorflow__TensorSliceProto **more = weft__arena_alloc(&w->arena, (m->n_slice + 1) * sizeof *more);
  if (!more) return WEFT_OOM;
  if (m->n_slice) memcpy(more, m->slice, m->n_slice * sizeof *more);
  more[m->n_slice++] = s;
  m->slice = more;
  return WEFT_OK;
}

weft_err weft__slices_add(slices_writer *w, bytes name, const shape *full, const slice *s, const weft_tensor *t) {
  Tensorflow__TensorProto values;
  Tensorflow__SavedSlice data = TENSORFLOW__SAVED_SLICE__INIT;
  Tensorflow__SavedTensorSlices row = TENSORFLOW__SAVED_TENSOR_SLICES__INIT;
  arena scratch = {0};
  text key = {0};
  Tensorflow__TensorSliceProto *p = weft__arena_alloc(&w->arena, sizeof *p);
  if (!p) return WEFT_OOM;
  weft_err err = weft__slice_to_proto(p, s, &w->arena);
  if (err == WEFT_OK) err = add_meta(w, name, full, t->dtype, p);
  if (err == WEFT_OK) err = list_values(t, &scratch, &values);
  if (err == WEFT_OK) {
    data.name = weft__arena_strndup(&scratch, name.data, name.size);
    data.slice = p;
    data.data = &values;
    row.data = &data;
    weft__slice_key(&key, name, s);
    err = data.name && !key.failed ? slices_add_row(w, (bytes){key.data, key.size}, &row.base) : WEFT_OOM;
  }
  weft__text_finish(&key);
  weft__arena_finish(&scratch);
  return err;
}

static int slices_by_key(const void *a, const void *b) {
  return weft__bytes_compare(((const packed_row *)a)->key, ((const packed_row *)b)->key);
}

static weft_err add_meta_row(slices_writer *w) {
  Tensorflow__VersionDef version = TENSORFLOW__VERSION_DEF__INIT;
  Tensorflow__SavedTensorSliceMeta meta = TENSORFLOW__SAVED_TENSOR_SLICE_META__INIT;
  Tensorflow__SavedTensorSlices row = TENSORFLOW__SAVED_TENSOR_SLICES__INIT;
  version.producer = 1;
  meta.n_tensor = (size_t)w->n_meta;
  meta.tensor = w->meta;
  meta.versions = &version;
  row.meta = &meta;
  return slices_add_row(w, (bytes){"", 0}, &row.base);
}

static weft_err slices_write_rows(slices_writer *w, file_writer *file) {
  table_writer *t = NULL;
  WEFT_TRY(weft__table_create(&t, file));
  weft_err err = WEFT_OK;
  for (int i = 0; err == WEFT_OK && i < w->n_row; i++)
    err = i && slices_by_key(&w->row[i - 1], &w->row[i]) == 0
              ? weft__fail(WEFT_INVALID_ARGUMENT, "a slice is saved twice to %s", w->path)
              : weft__table_add(t, w->row[i].key, w->row[i].val);
  if (err == WEFT_OK) err = weft__table_finish(t);
  weft__table_destroy(t);
  return err;
}

weft_err weft__slices_finish(slices_writer *w) {
  file_writer *file = NULL;
  WEFT_TRY(add_meta_row(w));
  qsort(w->row, (size_t)w->n_row, sizeof *w->row, slices_by_key);
  char *dir = weft__file_dir(w->path);
  weft_err err = dir ? weft__writer_create(&file, w->path) : WEFT_OOM;
  if (err == WEFT_OK) err = slices_write_rows(w, file);
  if (err == WEFT_OK) err = weft__writer_sync(file);
  if (err == WEFT_OK) err = weft__writer_place(file);
  if (err == WEFT_OK) err = weft__dir_sync(dir);
  weft__writer_destroy(file);
  weft__free(dir);
  return err;
}

/* ---- reading ---- */

typedef struct shard {
  table_reader *table;
  Tensorflow__SavedTensorSlices *meta;
} shard;

struct slices_reader {
  char *pattern;
  shard *shard;
  int n_shard;
};

static weft_err open_shard(shard *s, const char *path) {
  bytes packed;
  WEFT_TRY(weft__table_open(&s->table, path));
  WEFT_TRY(weft__table_find(s->table, (bytes){"", 0}, &packed));
  WEFT_TRY(weft__proto_unpack((ProtobufCMessage **)&s->meta, &tensorflow__saved_tensor_slices__descriptor, packed.data,
                              packed.size));
  return s->meta->meta ? WEFT_OK : weft__fail(WEFT_DATA_LOSS, "%s has no list of its tensors", path);
}

weft_err weft__slices_open(slices_reader **out, const char *pattern) {
  path_list files;
  WEFT_TRY(weft__file_match(pattern, &files));
  slices_reader *r = weft__alloc_zero(1, sizeof *r);
  weft_err err = r && (r->pattern = weft__strdup(pattern)) ? WEFT_OK : WEFT_OOM;
  if (err == WEFT_OK && !files.n)
    err = weft__fail(WEFT_NOT_FOUND,
                     "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for %s", pattern);
  if (err == WEFT_OK && !(r->shard = weft__alloc_zero((size_t)files.n, sizeof *r->shard))) err = WEFT_OOM;
  for (int i = 0; err == WEFT_OK && i < files.n; i++) {
    r->n_shard = i + 1;
    err = open_shard(&r->shard[i], files.path[i]);
    if (err != WEFT_OK) weft__fail_in(err, "Unable to open table file %s", files.path[i]);
  }
  weft__path_list_finish(&files);
  if (err == WEFT_OK)
    *out = r;
  else
    weft__slices_close(r);
  return err;
}

void weft__slices_close(slices_reader *r) {
  if (!r) return;
  for (int i = 0; i < r->n_shard; i++) {
    if (r->shard[i].meta) protobuf_c_message_free_unpacked(&r->shard[i].meta->base, NULL);
    weft__table_close(r->shard[i].table);
  }
  weft__free(r->shard);
  weft__free(r->pattern);
  weft__free(r);
}

static const Tensorflow__SavedSliceMeta *meta_of(const shard *s, bytes name) {
  WEFT_ASSERT(s->meta && s->meta->meta); /* open_shard checked it */
  for (size_t i = 0; i < s->meta->meta->n_tensor; i++) {
    const Tensorflow__SavedSliceMeta *m = s->meta->meta->tensor[i];
    if (m->name && strlen(m->name) == name.size && !memcmp(m->name, name.data, name.size)) return m;
  }
  return NULL;
}

weft_err weft__slices_find(slices_reader *r, bytes name, bundle_entry *out) {
  bool found = false;
  for (int i = 0; i < r->n_shard; i++) {
    const Tensorflow__SavedSliceMeta *m = meta_of(&r->shard[i], name);
    shape here = SHAPE_SCALAR;
    if (!m) continue;
    if (m->shape) WEFT_TRY(weft__shape_from_proto(&here, m->shape));
    if (!weft__shape_known(&here) || weft__shape_count(&here) < 0 || !weft__dtype_is_known(m->type))
      return weft__fail(WEFT_DATA_LOSS, "%s: %s has the type %d and the shape %s", r->pattern, m->name, m->type,
                        weft__shape_text(&here));
    if (found && (!weft__shape_equal(&here, &out->shape) || m->type != (int32_t)out->dtype))
      return weft__fail(WEFT_INTERNAL, "Incompatible tensor shapes detected for tensor %s: existing = %s, new = %s",
                        m->name, weft__shape_text(&out->shape), weft__shape_text(&here));
    *out = (bundle_entry){(weft_dtype)m->type, here, (found ? out->n_slice : 0) + weft__int_sat(m->n_slice)};
    found = true;
  }
  if (found) return WEFT_OK;
  return weft__fail(WEFT_NOT_FOUND, "Tensor name \"%.*s\" not found in checkpoint files %s", weft__int_sat(name.size),
                    name.data, r->pattern);
}

weft_err weft__slices_each(slices_reader *r, bundle_fn *fn, void *arg) {
  for (int i = 0; i < r->n_shard; i++) {
    const Tensorflow__SavedTensorSliceMeta *all = r->shard[i].meta->meta;
    for (size_t j = 0; j < all->n_tensor; j++) {
      bytes name = {all->tensor[j]->name, strlen(all->tensor[j]->name)};
      bundle_entry e;
      bool again = false; /* an earlier shard has slices of it too */
      for (int k = 0; k < i && !again; k++) again = meta_of(&r->shard[k], name) != NULL;
      if (again) continue;
      WEFT_TRY(weft__slices_find(r, name, &e));
      WEFT_TRY(fn(arg, name, &e));
    }
  }
  return WEFT_OK;
}

/* Converts one stored slice to a tensor: the values of the proto's list, with the given type and shape. */
static weft_err piece_tensor(const slices_reader *r, bytes packed, weft_dtype dtype, const shape *s,
                             weft_tensor **out) {
  Tensorflow__SavedTensorSlices *row = NULL;
  Tensorflow__TensorShapeProto of = TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  arena scratch = {0};
  WEFT_TRY(weft__proto_unpack((ProtobufCMessage **)&row, &tensorflow__saved_tensor_slices__descriptor, packed.data,
                              packed.size));
  weft_err err = row->data && row->data->data ? weft__shape_to_proto(&of, s, &scratch)
                                              : weft__fail(WEFT_DATA_LOSS, "%s: a slice has no values", r->pattern);
  if (err == WEFT_OK) {
    Tensorflow__TensorProto *p = row->data->data;
    Tensorflow__TensorShapeProto *was = p->tensor_shape;
    p->dtype = (int32_t)dtype;
    p->tensor_shape = &of;
    err = weft__tensor_from_proto(out, p);
    p->tensor_shape = was;
  }
  protobuf_c_message_free_unpacked(&row->base, NULL);
  weft__arena_finish(&scratch);
  return err;
}

static weft_err read_piece(slices_reader *r, shard *from, bytes name, const bundle_entry *whole, const slice *piece,
                           const slice *want, weft_tensor *t) {
  text key = {0};
  bytes packed;
  shape of;
  weft_tensor *part = NULL;
  WEFT_TRY(weft__slice_shape(piece, &whole->shape, &of));
  weft__slice_key(&key, name, piece);
  weft_err err = key.failed ? WEFT_OOM : weft__table_find(from->table, (bytes){key.data, key.size}, &packed);
  if (err == WEFT_NOT_FOUND)
    err = weft__fail(WEFT_DATA_LOSS, "%s: a slice of %.*s is missing", r->pattern, weft__int_sat(name.size), name.data);
  if (err == WEFT_OK) err = piece_tensor(r, packed, whole->dtype, &of, &part);
  if (err == WEFT_OK) err = weft__slice_copy(t->dtype, &whole->shape, want, t->data, piece, part->data);
  weft_tensor_destroy(part);
  weft__text_finish(&key);
  return err;
}

weft_err weft__slices_read(slices_reader *r, bytes name, const slice *s, weft_tensor *t) {
  bundle_entry whole;
  WEFT_TRY(weft__slices_find(r, name, &whole));
  slice full = weft__slice_full(whole.shape.rank), piece, both;
  const slice *want = s ? s : &full;
  int64_t covered = 0;
  for (int i = 0; i < r->n_shard; i++) {
    const Tensorflow__SavedSliceMeta *m = meta_of(&r->shard[i], name);
    for (size_t j = 0; m && j < m->n_slice; j++) {
      WEFT_TRY(weft__slice_from_proto(&piece, m->slice[j]));
      if (piece.rank != whole.shape.rank || !weft__slice_meet(&piece, want, &whole.shape, &both)) continue;
      WEFT_TRY(read_piece(r, &r->shard[i], name, &whole, &piece, want, t));
      int64_t count = 1;
      for (int d = 0; d < both.rank; d++) count *= both.length[d];
      covered += count;
    }
  }
  if (covered >= weft__tensor_count(t)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "The checkpoint files %s do not hold all of the tensor %.*s", r->pattern,
                    weft__int_sat(name.size), name.data);
}
