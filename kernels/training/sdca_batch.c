/* sdca_batch.c - reads the inputs of the SDCA ops; margins and changes of weights. */
#include "kernels/training/sdca_batch.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_WIDTH = 4 };

/* ---- where the arguments are ---- */

typedef struct layout {
  int sparse, valued, dense;                        /* numbers of groups */
  int examples, features, values, x, weight, label; /* the first input of each argument */
  int indices, sparse_weights, dense_weights, state;
} layout;

static weft_err layout_of(const kernel *k, layout *l) {
  int one = 0;
  const weft_node *n = k->node;
  WEFT_TRY(weft__node_in_range(n, "sparse_example_indices", &l->examples, &l->sparse));
  WEFT_TRY(weft__node_in_range(n, "sparse_feature_indices", &l->features, &l->sparse));
  WEFT_TRY(weft__node_in_range(n, "sparse_feature_values", &l->values, &l->valued));
  WEFT_TRY(weft__node_in_range(n, "dense_features", &l->x, &l->dense));
  WEFT_TRY(weft__node_in_range(n, "example_weights", &l->weight, &one));
  WEFT_TRY(weft__node_in_range(n, "example_labels", &l->label, &one));
  WEFT_TRY(weft__node_in_range(n, "sparse_indices", &l->indices, &l->sparse));
  WEFT_TRY(weft__node_in_range(n, "sparse_weights", &l->sparse_weights, &l->sparse));
  WEFT_TRY(weft__node_in_range(n, "dense_weights", &l->dense_weights, &l->dense));
  WEFT_TRY(weft__node_in_range(n, "example_state_data", &l->state, &one));
  return WEFT_OK;
}

/* ---- sparse groups ---- */

typedef struct sdca_place {
  int64_t index, slot;
} sdca_place;

static int place_order(const void *a, const void *b) {
  const sdca_place *x = a, *y = b;
  if (x->index != y->index) return x->index < y->index ? -1 : 1;
  return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Of equal indices the last one counts. */
static int64_t find_slot(const sdca_place *p, int64_t n, int64_t index) {
  int64_t low = 0, high = n; /* the first place above `index` is in low .. high */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (p[middle].index <= index)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && p[low - 1].index == index ? p[low - 1].slot : -1;
}

static void mark_starts(int64_t *start, int64_t n, const int64_t *example, int64_t entries) {
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    start[i] = at;
    while (at < entries && example[at] == i) at++;
  }
  start[n] = at;
}

static weft_err fill_slots(const kernel *k, sdca_sparse *g, int64_t used, const int64_t *feature,
                           const sdca_place *places, int64_t n_places) {
  for (int64_t e = 0; e < used; e++) {
    g->slot[e] = find_slot(places, n_places, feature[e]);
    if (g->slot[e] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Found sparse feature indices out of valid range: %lld",
                               (long long)feature[e]);
  }
  return WEFT_OK;
}

/* last[w]: the last example with an entry for weight w, plus one */
static weft_err check_distinct(const kernel *k, const sdca_sparse *g, int64_t n, int64_t *last) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
      if (last[g->slot[e]] == i + 1)
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Duplicate index in sparse vector.");
      last[g->slot[e]] = i + 1;
    }
  return WEFT_OK;
}

static weft_err read_entries(const kernel *k, sdca_sparse *g, int64_t n, const int64_t *feature,
                             const weft_tensor *index, int64_t n_weights) {
  const int64_t n_places = weft__tensor_count(index);
  sdca_place *places = weft__alloc_zero((size_t)n_places + 1, sizeof *places);
  int64_t *last = weft__alloc_zero((size_t)n_weights + 1, sizeof *last);
  weft_err err = places && last ? WEFT_OK : WEFT_OOM;
  if (!err) {
    for (int64_t i = 0; i < n_places; i++) places[i] = (sdca_place){TENSOR_DATA(index, int64_t)[i], i};
    qsort(places, (size_t)n_places, sizeof *places, place_order);
    err = fill_slots(k, g, g->start[n], feature, places, n_places);
  }
  for (int64_t e = 0; e < g->start[n] && !err; e++)
    if (g->slot[e] >= n_weights)
      err = weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Sparse feature %lld has place %lld among sparse_indices, but there are %lld sparse_weights",
          (long long)feature[e], (long long)g->slot[e], (long long)n_weights);
  if (!err) err = check_distinct(k, g, n, last);
  weft__free(places);
  weft__free(last);
  return err;
}

static weft_err read_sparse(const kernel *k, const layout *l, int i, sdca_batch *b) {
  sdca_sparse *g = &b->sparse[i];
  const weft_tensor *example = k->in[l->examples + i], *feature = k->in[l->features + i];
  const weft_tensor *weights = k->in[l->sparse_weights + i];
  const int64_t entries = weft__tensor_count(example);
  if (entries != weft__tensor_count(feature))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Found mismatched example_indices and feature_indices in sparse group %d: %lld vs %lld", i,
                             (long long)entries, (long long)weft__tensor_count(feature));
  g->start = weft__alloc_zero((size_t)b->n + 1, sizeof *g->start);
  g->slot = weft__alloc_zero((size_t)entries + 1, sizeof *g->slot);
  if (!g->start || !g->slot) return WEFT_OOM;
  mark_starts(g->start, b->n, TENSOR_DATA(example, int64_t), entries);
  if (i < l->valued) {
    const weft_tensor *values = k->in[l->values + i];
    if (weft__tensor_count(values) < entries)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Sparse group %d has %lld feature values for %lld entries", i,
                               (long long)weft__tensor_count(values), (long long)entries);
    g->values = TENSOR_DATA(values, float);
  }
  g->weights = TENSOR_DATA(weights, float);
  return read_entries(k, g, b->n, TENSOR_DATA(feature, int64_t), k->in[l->indices + i], weft__tensor_count(weights));
}

/* ---- dense groups ---- */

static weft_err check_dense(const kernel *k, const layout *l, int i, int64_t n) {
  const shape *s = &k->in[l->x + i]->shape;
  if (s->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dense features at index %d must be rank 2 but is rank %d", i,
                             s->rank);
  if (s->dim[0] < n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dense features at index %d have %lld rows for %lld examples", i,
                             (long long)s->dim[0], (long long)n);
  return WEFT_OK;
}

static weft_err sdca_batch_read_dense(const kernel *k, const layout *l, int i, sdca_batch *b) {
  const weft_tensor *x = k->in[l->x + i], *weights = k->in[l->dense_weights + i];
  const int64_t width = x->shape.dim[1];
  if (b->n > 0 && (width < 1 || width > weft__tensor_count(weights)))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "More dense features than we have parameters for: %lld",
                             (long long)width);
  b->dense[i] = (sdca_dense){.x = TENSOR_DATA(x, float), .width = width, .weights = TENSOR_DATA(weights, float)};
  return WEFT_OK;
}

/* ---- the batch ---- */

static weft_err sdca_batch_check_counts(const kernel *k, const layout *l, sdca_batch *b) {
  if (l->sparse == 0 && l->dense == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Requires at least one feature to train.");
  b->n = weft__tensor_count(k->in[l->weight]);
  if (weft__tensor_count(k->in[l->label]) != b->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected %lld example labels but got %lld", (long long)b->n,
                             (long long)weft__tensor_count(k->in[l->label]));
  for (int i = 0; i < l->dense; i++) WEFT_TRY(check_dense(k, l, i, b->n));
  return WEFT_OK;
}

static weft_err read_state(const kernel *k, const layout *l, sdca_batch *b) {
  const weft_tensor *t = k->in[l->state];
  if (t->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "example_state_data must be rank 2 but is rank %d",
                             t->shape.rank);
  if (t->shape.dim[0] != b->n || t->shape.dim[1] != STATE_WIDTH)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected shape [%lld,%d] for example_state_data, got %s",
                             (long long)b->n, STATE_WIDTH, weft__shape_text(&t->shape));
  b->state = TENSOR_DATA(t, float);
  b->weights = TENSOR_DATA(k->in[l->weight], float);
  b->labels = TENSOR_DATA(k->in[l->label], float);
  return WEFT_OK;
}

static weft_err make_zeros(kernel *k, int out, const weft_tensor *like, float **data) {
  weft_tensor *t = weft__out(k, out, &like->shape);
  if (!t) return WEFT_OOM;
  *data = TENSOR_DATA(t, float);
  const int64_t n = weft__tensor_count(t);
  if (n > 0) memset(*data, 0, (size_t)n * sizeof **data);
  return WEFT_OK;
}

static weft_err sdca_batch_make_outputs(kernel *k, const layout *l, sdca_batch *b) {
  weft_tensor *state = weft__out(k, 0, &SHAPE2(b->n, STATE_WIDTH));
  if (!state) return WEFT_OOM;
  b->out_state = TENSOR_DATA(state, float);
  if (b->n > 0) memcpy(b->out_state, b->state, (size_t)b->n * STATE_WIDTH * sizeof(float));
  for (int i = 0; i < l->sparse; i++) WEFT_TRY(make_zeros(k, 1 + i, k->in[l->sparse_weights + i], &b->sparse[i].delta));
  for (int i = 0; i < l->dense; i++)
    WEFT_TRY(make_zeros(k, 1 + l->sparse + i, k->in[l->dense_weights + i], &b->dense[i].delta));
  return WEFT_OK;
}

weft_err weft__sdca_batch_init(sdca_batch *b, kernel *k) {
  *b = (sdca_batch){0};
  layout l = {0};
  WEFT_TRY(layout_of(k, &l));
  WEFT_TRY(sdca_batch_check_counts(k, &l, b));
  b->sparse = weft__alloc_zero((size_t)l.sparse + 1, sizeof *b->sparse);
  b->dense = weft__alloc_zero((size_t)l.dense + 1, sizeof *b->dense);
  if (!b->sparse || !b->dense) return WEFT_OOM;
  b->n_sparse = l.sparse;
  b->n_dense = l.dense;
  for (int i = 0; i < l.sparse; i++) WEFT_TRY(read_sparse(k, &l, i, b));
  for (int i = 0; i < l.dense; i++) WEFT_TRY(sdca_batch_read_dense(k, &l, i, b));
  WEFT_TRY(read_state(k, &l, b));
  return sdca_batch_make_outputs(k, &l, b);
}

void weft__sdca_batch_finish(sdca_batch *b) {
  for (int i = 0; i < b->n_sparse; i++) {
    weft__free(b->sparse[i].start);
    weft__free(b->sparse[i].slot);
  }
  weft__free(b->sparse);
  weft__free(b->dense);
}

/* ---- margins ---- */

/* A comparison instead of fmax: NaN stays NaN. */
static double shrunk(double w, double by) {
  const double left = fabs(w) - by;
  return left < 0 ? 0 : copysign(left, w);
}

static void add_feature(sdca_margin *m, double x, double w, double delta, double shrink, double times) {
  m->before += x * shrunk(w, shrink);
  m->now += x * shrunk(w + delta * times, shrink);
  m->norm += x * x;
}

sdca_margin weft__sdca_margin(const sdca_batch *b, int64_t example, double shrink, double times) {
  sdca_margin m = {0};
  for (int i = 0; i < b->n_sparse; i++) {
    const sdca_sparse *g = &b->sparse[i];
    for (int64_t e = g->start[example]; e < g->start[example + 1]; e++)
      add_feature(&m, g->values ? (double)g->values[e] : 1, (double)g->weights[g->slot[e]],
                  (double)g->delta[g->slot[e]], shrink, times);
  }
  for (int i = 0; i < b->n_dense; i++) {
    const sdca_dense *g = &b->dense[i];
    const float *x = g->x + example * g->width;
    for (int64_t j = 0; j < g->width; j++)
      add_feature(&m, (double)x[j], (double)g->weights[j], (double)g->delta[j], shrink, times);
  }
  return m;
}

void weft__sdca_add(const sdca_batch *b, int64_t example, double by) {
  for (int i = 0; i < b->n_sparse; i++) {
    const sdca_sparse *g = &b->sparse[i];
    for (int64_t e = g->start[example]; e < g->start[example + 1]; e++)
      g->delta[g->slot[e]] += (float)(by * (g->values ? (double)g->values[e] : 1));
  }
  for (int i = 0; i < b->n_dense; i++) {
    const sdca_dense *g = &b->dense[i];
    const float *x = g->x + example * g->width;
    for (int64_t j = 0; j < g->width; j++) g->delta[j] += (float)(by * (double)x[j]);
  }
}
