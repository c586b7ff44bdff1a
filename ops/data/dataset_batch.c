/* dataset_batch.c - combines elements into batches, and splits batches into elements.
 *
 * The first element of a batch determines the shapes.  Each element is copied to its row as soon as it is read,
 * while it is in the cache.  A batch of at most FIRST_BYTES is allocated once; a larger one grows as elements come,
 * because programs ask for batches of 2^31 elements to get all there are. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "ops/data/dataset.h"

enum { FIRST_BYTES = 256 << 20 };

typedef struct batch {
  dataset base;
  int64_t size;
  bool drop_remainder;
} batch;

weft_err weft__dataset_batch_set(dataset *d, int64_t size, bool drop_remainder) {
  if (size <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Batch size must be greater than zero.");
  ((batch *)d)->size = size;
  ((batch *)d)->drop_remainder = drop_remainder;
  return WEFT_OK;
}

/* Allocates n rows of the shape of t. */
static weft_err rows_like(weft_tensor *out, const weft_tensor *t, int64_t n) {
  shape s = {.rank = t->shape.rank + 1, .dim = {n}};
  if (s.rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a batch of tensors of rank %d is too deep", t->shape.rank);
  memcpy(s.dim + 1, t->shape.dim, sizeof *s.dim * (size_t)t->shape.rank);
  return weft__tensor_init(out, t->dtype, &s);
}

/* Copies t into row i.  A string that has no other owner is moved. */
static weft_err dataset_batch_put(weft_tensor *out, int64_t i, weft_tensor *t) {
  int64_t count = weft__tensor_count(t);
  char *to = (char *)out->data + (size_t)i * weft__tensor_bytes(t);
  if (t->dtype != WEFT_STRING || !weft__tensor_writable(t)) return weft__elements_copy(t->dtype, to, t->data, count);
  memcpy(to, t->data, (size_t)count * sizeof(str));
  memset(t->data, 0, (size_t)count * sizeof(str));
  return WEFT_OK;
}

static bool row_fits(const weft_tensor *out, const weft_tensor *t) {
  return out->dtype == t->dtype && out->shape.rank == t->shape.rank + 1 &&
         memcmp(out->shape.dim + 1, t->shape.dim, sizeof *t->shape.dim * (size_t)t->shape.rank) == 0;
}

static weft_err dataset_batch_misfit(const weft_tensor *out, const weft_tensor *t, int part, int64_t i) {
  shape first = {.rank = out->shape.rank - 1};
  memcpy(first.dim, out->shape.dim + 1, sizeof *first.dim * (size_t)first.rank);
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Cannot batch tensors with different shapes in component %d. First element had shape %s and "
                    "element %lld had shape %s.",
                    part, weft__shape_text(&first), (long long)i, weft__shape_text(&t->shape));
}

/* Allocates the first rows of a batch of `size` elements like t. */
static weft_err dataset_batch_begin(weft_tensor *out, const weft_tensor *t, int64_t size) {
  const size_t row = weft__tensor_bytes(t);
  const int64_t most = row ? (int64_t)(FIRST_BYTES / row) : size;
  return rows_like(out, t, size <= most ? size : most ? most : 1);
}

/* Doubles the rows of a batch, up to `size`. */
static weft_err dataset_batch_grow(weft_tensor *out, const weft_tensor *t, int64_t size) {
  weft_tensor more = {0};
  const int64_t n = out->shape.dim[0];
  WEFT_TRY(rows_like(&more, t, n <= size / 2 ? 2 * n : size));
  const size_t bytes = weft__tensor_bytes(out);
  memcpy(more.data, out->data, bytes);
  if (!weft__dtype_is_plain(out->dtype)) memset(out->data, 0, bytes); /* what elements own has moved */
  weft__tensor_clear(out);
  *out = more;
  return WEFT_OK;
}

static weft_err dataset_batch_put_element(iterator *it, weft_tensor *out, int64_t i, weft_tensor *got) {
  const int64_t size = ((batch *)it->set)->size;
  for (int p = 0; p < it->set->n_part; p++) {
    if (i == 0)
      WEFT_TRY(dataset_batch_begin(&out[p], &got[p], size));
    else if (i == out[p].shape.dim[0] && row_fits(&out[p], &got[p]))
      WEFT_TRY(dataset_batch_grow(&out[p], &got[p], size));
    if (!row_fits(&out[p], &got[p])) return dataset_batch_misfit(&out[p], &got[p], p, i);
    WEFT_TRY(dataset_batch_put(&out[p], i, &got[p]));
  }
  return WEFT_OK;
}

/* Reduces the batch to its first `rows` rows, as a view. */
static void dataset_batch_cut(weft_tensor *out, int n_part, int64_t rows) {
  for (int p = 0; p < n_part; p++) out[p].shape.dim[0] = rows;
}

static weft_err batch_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  walk *w = (walk *)it;
  const batch *b = (batch *)it->set;
  int64_t n = 0;
  bool over = false;
  weft_err err = WEFT_OK;
  while (n < b->size && !err) {
    err = weft__iterator_next(w->from, st, w->got, &over);
    if (err || over) break;
    err = dataset_batch_put_element(it, out, n++, w->got);
    weft__components_clear(w->got, it->set->n_part);
  }
  *end = !err && (n == 0 || (n < b->size && b->drop_remainder));
  if (err || *end)
    weft__components_clear(out, it->set->n_part);
  else
    dataset_batch_cut(out, it->set->n_part, n);
  return err;
}

static int64_t batch_count(const dataset *d) {
  const batch *b = (const batch *)d;
  int64_t n = weft__dataset_count_of_input(d);
  return n < 0 ? n : n / b->size + (!b->drop_remainder && n % b->size != 0);
}

static int64_t batch_rows(const dataset *d) { return ((const batch *)d)->size; }

const dataset_kind weft__batch_kind = {"Batch",
                                       sizeof(batch),
                                       sizeof(walk),
                                       .rows = batch_rows,
                                       .begin = weft__dataset_walk_begin,
                                       .next = batch_next,
                                       .count = batch_count,
                                       .finish = weft__dataset_walk_finish,
                                       .passes = true};

static weft_err dataset_batch_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t size, drop = 0;
  int last, count;
  WEFT_TRY(weft__dataset_int(k, 1, "batch_size", &size));
  if (weft__node_in_range(k->node, "drop_remainder", &last, &count) == WEFT_OK && count)
    WEFT_TRY(weft__dataset_int(k, last, "drop_remainder", &drop));
  WEFT_TRY(weft__dataset_of(k, &weft__batch_kind, 1, &d));
  return weft__dataset_out(k, d, weft__dataset_batch_set(d, size, drop != 0));
}

/* MapAndBatch: a parallel map whose results are batched. */
static weft_err map_and_batch_cpu(kernel *k) {
  dataset *mapped = NULL, *d = NULL;
  int64_t size, calls, drop;
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, "batch_size", &first, &count));
  WEFT_TRY(weft__dataset_int(k, first, "batch_size", &size));
  WEFT_TRY(weft__dataset_int(k, first + 1, "num_parallel_calls", &calls));
  WEFT_TRY(weft__dataset_int(k, first + 2, "drop_remainder", &drop));
  WEFT_TRY(weft__dataset_of(k, &weft__parallel_map_kind, 1, &mapped));
  weft_err err = weft__dataset_capture_f(
      k, weft__dataset_parallel_map_set(mapped, calls, weft__node_bool(k->node, "preserve_cardinality", false)));
  if (!err) err = weft__dataset_create(&d, &weft__batch_kind, 1, &mapped, mapped->n_part, mapped->type);
  weft__dataset_release(mapped);
  return weft__dataset_out(k, d, err ? err : weft__dataset_batch_set(d, size, drop != 0));
}

/* ---- padded ---- */

typedef struct padded {
  batch base;
  shape *to;          /* per part; -1: the size of the longest element */
  weft_tensor *value; /* per part: a scalar that fills the padding */
} padded;

static void padded_destroy(dataset *d) {
  weft__free(((padded *)d)->to);
  weft__components_free(((padded *)d)->value, d->n_part);
}

typedef struct padded_at {
  walk base;
  weft_tensor *rows; /* size elements, stored one after the other */
} padded_at;

static weft_err padded_shape(const padded *s, const weft_tensor *row, int n_part, int64_t n, int part, shape *out) {
  const shape *to = &s->to[part];
  *out = (shape){.rank = to->rank + 1, .dim = {n}};
  for (int d = 0; d < to->rank; d++) out->dim[d + 1] = to->dim[d] < 0 ? 0 : to->dim[d];
  for (int64_t i = 0; i < n; i++) {
    const shape *have = &row[i * n_part + part].shape;
    if (have->rank != to->rank)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "All elements in a batch must have the same rank as the padded shape for component%d: expected "
                        "rank %d but got element with rank %d",
                        part, to->rank, have->rank);
    for (int d = 0; d < to->rank; d++) {
      if (to->dim[d] >= 0 && have->dim[d] > to->dim[d])
        return weft__fail(WEFT_DATA_LOSS, "Attempted to pad to a smaller size than the input element.");
      if (have->dim[d] > out->dim[d + 1]) out->dim[d + 1] = have->dim[d];
    }
  }
  return WEFT_OK;
}

/* Copies t into the first corner of the block at `to`, which has shape s without its first dimension. */
static weft_err put_corner(char *to, const shape *s, const weft_tensor *t) {
  int rank = t->shape.rank;
  size_t each = weft__dtype_size(t->dtype);
  int64_t run = rank ? t->shape.dim[rank - 1] : 1, lines = run ? weft__tensor_count(t) / run : 0;
  int64_t at[WEFT_MAX_RANK] = {0};
  for (int64_t i = 0; i < lines; i++) {
    int64_t offset = 0;
    for (int d = 0; d < rank; d++) offset = offset * s->dim[d + 1] + (d < rank - 1 ? at[d] : 0);
    WEFT_TRY(
        weft__elements_copy(t->dtype, to + (size_t)offset * each, (char *)t->data + (size_t)(i * run) * each, run));
    for (int d = rank - 2; d >= 0 && ++at[d] == t->shape.dim[d]; d--) at[d] = 0;
  }
  return WEFT_OK;
}

static weft_err pad_part(const dataset *d, const weft_tensor *row, int64_t n, int part, weft_tensor *out) {
  const padded *s = (const padded *)d;
  shape all;
  WEFT_TRY(padded_shape(s, row, d->n_part, n, part, &all));
  WEFT_TRY(weft__tensor_init(out, d->type[part], &all));
  WEFT_TRY(weft__elements_fill(out->dtype, out->data, s->value[part].data, weft__tensor_count(out)));
  size_t bytes = n ? weft__tensor_bytes(out) / (size_t)n : 0;
  for (int64_t i = 0; i < n; i++)
    WEFT_TRY(put_corner((char *)out->data + (size_t)i * bytes, &all, &row[i * d->n_part + part]));
  return WEFT_OK;
}

static weft_err padded_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  padded_at *at = (padded_at *)it;
  const batch *b = (batch *)it->set;
  int width = it->set->n_part;
  int64_t n = 0, room = 0;
  bool over = false;
  weft_err err = WEFT_OK;
  for (; n < b->size && !err && !over; n += !over && !err) {
    err = weft__array_reserve(&at->rows, &room, n + 1, sizeof *at->rows * (size_t)width, true);
    if (!err) err = weft__iterator_next(at->base.from, st, at->rows + n * width, &over);
  }
  *end = !err && (n == 0 || (n < b->size && b->drop_remainder));
  for (int p = 0; p < width && !err && !*end; p++) err = pad_part(it->set, at->rows, n, p, &out[p]);
  if (at->rows) weft__components_clear(at->rows, weft__int_sat(n * width));
  weft__free(at->rows);
  at->rows = NULL;
  if (err) weft__components_clear(out, width);
  return err;
}

static const dataset_kind padded_kind = {"PaddedBatch",
                                         sizeof(padded),
                                         sizeof(padded_at),
                                         .destroy = padded_destroy,
                                         .begin = weft__dataset_walk_begin,
                                         .count = batch_count,
                                         .rows = batch_rows,
                                         .next = padded_next,
                                         .finish = weft__dataset_walk_finish};

/* Checks that there is a shape and a value for each part of an element, with matching types. */
static weft_err dataset_batch_check_padding(const dataset *d, int n_shape, int n_value) {
  const dataset *in = d->input[0];
  if (d->n_part != in->n_part || n_shape != d->n_part || n_value != d->n_part)
    return weft__fail(
        WEFT_INVALID_ARGUMENT,
        "Toutput_types has %d entries, padded_shapes %d and padding_values %d; the input's elements have %d "
        "components",
        d->n_part, n_shape, n_value, in->n_part);
  for (int i = 0; i < d->n_part; i++)
    if (d->type[i] != in->type[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "component %d of the input is of type %s, but its padding value of %s",
                        i, weft__dtype_name(in->type[i]), weft__dtype_name(d->type[i]));
  return WEFT_OK;
}

static weft_err read_padding(kernel *k, dataset *d) {
  padded *s = (padded *)d;
  int shapes, values, n, n_shape;
  WEFT_TRY(weft__node_in_range(k->node, "padded_shapes", &shapes, &n_shape));
  WEFT_TRY(weft__node_in_range(k->node, "padding_values", &values, &n));
  WEFT_TRY(dataset_batch_check_padding(d, n_shape, n));
  s->to = weft__alloc_zero((size_t)d->n_part, sizeof *s->to);
  s->value = weft__components_alloc(d->n_part);
  if (!s->to || !s->value) return WEFT_OOM;
  for (int i = 0; i < d->n_part; i++) {
    const weft_tensor *t = k->in[shapes + i];
    int64_t rank = weft__tensor_count(t);
    if (t->shape.rank != 1 || rank >= WEFT_MAX_RANK)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All padded shapes must be vectors");
    s->to[i].rank = weft__int_sat(rank);
    for (int j = 0; j < rank; j++) s->to[i].dim[j] = TENSOR_DATA(t, int64_t)[j] < 0 ? -1 : TENSOR_DATA(t, int64_t)[j];
    if (k->in[values + i]->shape.rank != 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All padding values must be scalars");
    WEFT_TRY(weft__tensor_keep(&s->value[i], k->in[values + i]));
  }
  return WEFT_OK;
}

static weft_err padded_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t size, drop = 0;
  int last, count;
  WEFT_TRY(weft__dataset_int(k, 1, "batch_size", &size));
  if (weft__node_in_range(k->node, "drop_remainder", &last, &count) == WEFT_OK && count)
    WEFT_TRY(weft__dataset_int(k, last, "drop_remainder", &drop));
  WEFT_TRY(weft__dataset_of(k, &padded_kind, 1, &d));
  weft_err err = weft__dataset_batch_set(d, size, drop != 0);
  return weft__dataset_out(k, d, err ? err : read_padding(k, d));
}

/* ---- rows of batches ---- */

typedef struct unbatch_at {
  walk base;
  bool have;
  int64_t next, rows;
} unbatch_at;

static weft_err open_batch(iterator *it) {
  unbatch_at *at = (unbatch_at *)it;
  const weft_tensor *got = at->base.got;
  for (int i = 0; i < it->set->n_part; i++)
    if (got[i].shape.rank < 1 || got[i].shape.dim[0] != got[0].shape.dim[0])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Input element must have the same batch size in each component.");
  at->have = true;
  at->next = 0;
  at->rows = got[0].shape.dim[0];
  return WEFT_OK;
}

static weft_err unbatch_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  unbatch_at *at = (unbatch_at *)it;
  walk *w = &at->base;
  int n = it->set->n_part;
  while (!at->have || at->next >= at->rows) {
    weft__components_clear(w->got, n);
    at->have = false;
    WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
    if (*end) return WEFT_OK;
    WEFT_TRY(open_batch(it));
  }
  for (int i = 0; i < n; i++) {
    weft__tensor_share(&out[i], &w->got[i]);
    out[i].shape.rank--;
    memmove(out[i].shape.dim, out[i].shape.dim + 1, sizeof *out[i].shape.dim * (size_t)out[i].shape.rank);
    out[i].data = (char *)w->got[i].data + (size_t)at->next * weft__tensor_bytes(&out[i]);
  }
  at->next++;
  return WEFT_OK;
}

static const dataset_kind unbatch_kind = {"Unbatch",
                                          sizeof(dataset),
                                          sizeof(unbatch_at),
                                          .begin = weft__dataset_walk_begin,
                                          .next = unbatch_next,
                                          .rows = weft__dataset_rows_unknown,
                                          .finish = weft__dataset_walk_finish,
                                          .passes = true};

static weft_err unbatch_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &unbatch_kind, 1, &d));
  return weft__dataset_out(k, d, WEFT_OK);
}

#define PADDING "(input_dataset:variant, batch_size:int64, padded_shapes:N*int64, padding_values:@Toutput_types"
#define PADDED_ATTRS "Toutput_types:list(type)>=1 output_shapes:list(shape)>=1 N:int>=1" METADATA
#define MAP_AND_BATCH                                                                                                  \
  "(input_dataset:variant, other_arguments:@Targuments, batch_size:int64, num_parallel_calls:int64, "                  \
  "drop_remainder:bool) -> (handle:variant) | f:func Targuments:list(type)>=0 " OUTPUTS                                \
  " preserve_cardinality:bool=false"
#define WITH_F .prepare = weft__dataset_prepare_f, .unprepare = weft__dataset_unprepare

OPS(dataset_batch) = {
    {"BatchDataset(input_dataset:variant, batch_size:int64) -> (handle:variant) | " OUTPUTS METADATA,
     "Elements in batches.", DATASET_FLAGS, .cpu = dataset_batch_cpu},
    {"BatchDatasetV2(input_dataset:variant, batch_size:int64, drop_remainder:bool) -> (handle:variant) | "
     "parallel_copy:bool=false " OUTPUTS METADATA,
     "Elements in batches.", DATASET_FLAGS, .cpu = dataset_batch_cpu},
    {"ParallelBatchDataset(input_dataset:variant, batch_size:int64, num_parallel_calls:int64, drop_remainder:bool) -> "
     "(handle:variant) | parallel_copy:bool=false " OUTPUTS " deterministic:string='default'" METADATA,
     "Elements in batches.", DATASET_FLAGS, .cpu = dataset_batch_cpu},
    {"MapAndBatchDataset" MAP_AND_BATCH METADATA, "What a function makes of elements, in batches.", DATASET_FLAGS,
     .cpu = map_and_batch_cpu, WITH_F},
    {"ExperimentalMapAndBatchDataset" MAP_AND_BATCH, "What a function makes of elements, in batches.", DATASET_FLAGS,
     .cpu = map_and_batch_cpu, WITH_F},
    {"PaddedBatchDataset" PADDING ") -> (handle:variant) | " PADDED_ATTRS, "Elements in batches, made equal in shape.",
     DATASET_FLAGS, .cpu = padded_cpu},
    {"PaddedBatchDatasetV2" PADDING
     ", drop_remainder:bool) -> (handle:variant) | parallel_copy:bool=false " PADDED_ATTRS,
     "Elements in batches, made equal in shape.", DATASET_FLAGS, .cpu = padded_cpu},
    {"UnbatchDataset(input_dataset:variant) -> (handle:variant) | " OUTPUTS METADATA, "The rows of batches.",
     DATASET_FLAGS, .cpu = unbatch_cpu},
    {"ExperimentalUnbatchDataset(input_dataset:variant) -> (handle:variant) | " OUTPUTS, "The rows of batches.",
     DATASET_FLAGS, .cpu = unbatch_cpu},
    {.scenario = "tests/parity/test_data.py"},
};
