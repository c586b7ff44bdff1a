/* accumulator.c - a sum, a count, a step and a queue of waiting takes under one lock.
 *
 * The division happens without the lock, on the sum that was taken.  Sparse sums are merged as TensorFlow merges them:
 * both lists are treated as sorted, and rows with equal indices that meet are added.  `lock` guards everything that
 * changes; functions of callers run without it. */
#include "state/accumulator.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/combine.h"
#include "state/wait_queue.h"
#include <pthread.h>

typedef struct take {
  waiter base;
  accumulator *a;
  int64_t required, count;
  accumulator_fn *fn;
  void *arg;
  status result;
  accumulated got;
  int64_t *row_counts;
} take;

struct accumulator {
  resource base;
  char *name;
  accumulator_spec spec;
  pthread_mutex_t lock;
  int64_t step, count;
  weft_tensor sum;     /* empty while count is 0 */
  weft_tensor indices; /* sparse */
  int64_t *row_counts; /* sparse: how many gradients had each row */
  wait_queue takes;
};

const accumulator_spec *weft__accumulator_spec(const accumulator *a) { return &a->spec; }

/* ---- dense ---- */

static weft_err accumulator_add_dense(accumulator *a, const weft_tensor *g) {
  weft_tensor fresh = {0}, *to = &a->sum;
  if (!a->count) {
    if (!weft__shape_compatible(&a->spec.declared, &g->shape))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected %s, got %s",
                        weft__shape_text(&a->spec.declared), weft__shape_text(&g->shape));
    return weft__tensor_keep(&a->sum, g);
  }
  if (!weft__shape_equal(&a->sum.shape, &g->shape))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected %s, got %s", weft__shape_text(&a->sum.shape),
                      weft__shape_text(&g->shape));
  if (!weft__tensor_writable(&a->sum)) {
    WEFT_TRY(weft__tensor_init(&fresh, g->dtype, &g->shape));
    to = &fresh;
  }
  weft__combine(COMBINE_ADD, g->dtype, to->data, a->sum.data, g->data, 1, weft__tensor_count(g));
  if (to == &fresh) {
    weft__tensor_clear(&a->sum);
    a->sum = fresh;
  }
  return WEFT_OK;
}

/* ---- sparse ---- */

typedef struct rows {            /* one side of a merge */
  const int64_t *index, *counts; /* counts NULL: one each */
  const char *data;
  int64_t n;
} rows;

/* The declared shape of the gradient may have more dimensions than the accumulator's. */
static weft_err accumulator_check_declared(const accumulator *a, const weft_tensor *declared) {
  const shape *want = &a->spec.declared;
  if (!declared || want->rank < 0) return WEFT_OK;
  if (weft__tensor_count(declared) < want->rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected shape rank at least %d, got %lld", want->rank,
                      (long long)weft__tensor_count(declared));
  for (int d = 0; d < want->rank; d++)
    if (want->dim[d] >= 0 && weft__tensor_int(declared, d) != want->dim[d])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected shape dim %d to be %lld, got %lld", d,
                        (long long)want->dim[d], (long long)weft__tensor_int(declared, d));
  return WEFT_OK;
}

/* Checks the rows against the sum, or against the declared shape while there is no sum. */
static weft_err accumulator_check_rows(const accumulator *a, const weft_tensor *indices, const weft_tensor *values) {
  const shape *want = a->count ? &a->sum.shape : &a->spec.declared;
  if (indices->shape.rank != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Input indices should be vector but received shape: %s",
                      weft__shape_text(&indices->shape));
  if (values->shape.rank < 1) return weft__fail(WEFT_INVALID_ARGUMENT, "Values cannot be 0-dimensional.");
  if (values->shape.dim[0] != indices->shape.dim[0])
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected %lld non-empty input values, got %lld",
                      (long long)indices->shape.dim[0], (long long)values->shape.dim[0]);
  if (values->shape.rank < want->rank || (a->count && values->shape.rank != want->rank))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected values rank %s%d, got %d",
                      a->count ? "" : "at least ", want->rank, values->shape.rank);
  for (int d = 1; d < want->rank; d++)
    if (want->dim[d] >= 0 && want->dim[d] != values->shape.dim[d])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape mismatch: expected values dim %d to be %lld, got %lld", d,
                        (long long)want->dim[d], (long long)values->shape.dim[d]);
  int64_t limit = a->spec.declared.rank > 0 ? a->spec.declared.dim[0] : -1;
  for (int64_t i = 0; limit >= 0 && i < indices->shape.dim[0]; i++)
    if (TENSOR_DATA(indices, int64_t)[i] >= limit)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Shape mismatch: index of slice %lld exceeded limits of shape; index is %lld exceeded %lld",
                        (long long)i, (long long)TENSOR_DATA(indices, int64_t)[i], (long long)limit);
  return WEFT_OK;
}

/* Merges both sides by index and returns the number of rows; if `to` is NULL, it only counts them. */
static int64_t accumulator_merge_rows(const rows *x, const rows *y, weft_dtype dtype, int64_t width, weft_tensor *index,
                                      weft_tensor *to, int64_t *counts) {
  size_t bytes = (size_t)width * weft__dtype_size(dtype);
  int64_t i = 0, j = 0, n = 0;
  for (; i < x->n || j < y->n; n++) {
    bool from_x = j == y->n || (i < x->n && x->index[i] <= y->index[j]);
    bool from_y = i == x->n || (j < y->n && y->index[j] <= x->index[i]);
    if (to) {
      char *row = (char *)to->data + (size_t)n * bytes;
      const char *a = from_x ? x->data + (size_t)i * bytes : NULL; /* an empty sum has no data */
      const char *b = from_y ? y->data + (size_t)j * bytes : NULL;
      TENSOR_DATA(index, int64_t)[n] = from_x ? x->index[i] : y->index[j];
      counts[n] = (from_x ? (x->counts ? x->counts[i] : 1) : 0) + (from_y ? (y->counts ? y->counts[j] : 1) : 0);
      if (from_x && from_y)
        weft__combine(COMBINE_ADD, dtype, row, a, b, 1, width);
      else
        memcpy(row, from_x ? a : b, bytes);
    }
    i += from_x;
    j += from_y;
  }
  return n;
}

static weft_err accumulator_add_sparse(accumulator *a, const weft_tensor *indices, const weft_tensor *values) {
  weft_tensor index = {0}, sum = {0};
  rows x = {a->count ? TENSOR_DATA(&a->indices, int64_t) : NULL, a->row_counts, a->sum.data,
            a->count ? a->indices.shape.dim[0] : 0};
  rows y = {TENSOR_DATA(indices, int64_t), NULL, values->data, indices->shape.dim[0]};
  shape of = values->shape;
  int64_t width = weft__shape_product(&of, 1, of.rank);
  of.dim[0] = accumulator_merge_rows(&x, &y, values->dtype, width, NULL, NULL, NULL);
  int64_t *counts = weft__alloc((size_t)of.dim[0] * sizeof *counts + 1);
  weft_err err = counts ? weft__tensor_init(&index, WEFT_INT64, &SHAPE1(of.dim[0])) : WEFT_OOM;
  if (err == WEFT_OK) err = weft__tensor_init(&sum, values->dtype, &of);
  if (err != WEFT_OK) {
    weft__tensor_clear(&index);
    weft__free(counts);
    return err;
  }
  accumulator_merge_rows(&x, &y, values->dtype, width, &index, &sum, counts);
  weft__tensor_clear(&a->sum);
  weft__tensor_clear(&a->indices);
  weft__free(a->row_counts);
  a->sum = sum;
  a->indices = index;
  a->row_counts = counts;
  return WEFT_OK;
}

/* ---- taking ---- */

/* Divides `width` elements at offset `at` of g by count, and stores them at the same offset of `to`. */
static weft_err take_divide_rows(weft_tensor *to, const weft_tensor *g, size_t at, int64_t width, int64_t count) {
  weft_tensor *by = NULL;
  if (count == 1 && to == g) return WEFT_OK;
  WEFT_TRY(weft__tensor_scalar(&by, g->dtype, (double)count));
  weft__combine(COMBINE_DIV, g->dtype, (char *)to->data + at, (const char *)g->data + at, by->data, 0, width);
  weft_tensor_destroy(by);
  return WEFT_OK;
}

/* Divides a dense sum by the number of gradients, and a sparse one row by row. */
static weft_err take_divide(take *t) {
  weft_tensor *g = &t->got.gradient, fresh = {0};
  bool sparse = t->a->spec.sparse;
  if (t->a->spec.sum) return WEFT_OK;
  if (!weft__tensor_writable(g)) WEFT_TRY(weft__tensor_init(&fresh, g->dtype, &g->shape));
  weft_tensor *to = fresh.buf ? &fresh : g;
  int64_t n = sparse ? g->shape.dim[0] : 1, width = n ? weft__tensor_count(g) / n : 0;
  size_t bytes = (size_t)width * weft__dtype_size(g->dtype);
  weft_err err = WEFT_OK;
  for (int64_t i = 0; err == WEFT_OK && i < n; i++)
    err = take_divide_rows(to, g, (size_t)i * bytes, width, sparse ? t->row_counts[i] : t->count);
  if (!fresh.buf) return err;
  weft__tensor_clear(err == WEFT_OK ? g : &fresh);
  if (err == WEFT_OK) *g = fresh;
  return err;
}

static void take_complete(take *t) {
  weft__waiter_stop(&t->base);
  if (t->result.code == WEFT_OK) weft__status_update(&t->result, take_divide(t));
  weft_err err = weft__status_raise(&t->result);
  t->fn(t->arg, err, err == WEFT_OK ? &t->got : NULL);
  weft__tensor_clear(&t->got.gradient);
  weft__tensor_clear(&t->got.indices);
  weft__free(t->row_counts);
  weft__status_finish(&t->result);
  weft__object_release(&t->a->base.base);
  weft__free(t);
}

static void takes_complete(wait_queue *done) {
  for (waiter *w = done->first, *next; w; w = next) {
    next = w->next;
    take_complete((take *)w);
  }
}

/* Gives the sum to the first take if there are enough gradients.  The lock is held. */
static void accumulator_serve(accumulator *a, wait_queue *done) {
  WEFT_ASSERT(weft__lock_is_held(&a->lock));
  take *t = (take *)a->takes.first;
  if (!t || a->count < t->required) return;
  WEFT_ASSERT(a->count > 0 && a->sum.buf);
  WEFT_ASSERT(!a->spec.sparse || (a->indices.buf && a->row_counts));
  weft__wait_queue_remove(&a->takes, &t->base);
  weft__wait_queue_push(done, &t->base);
  t->count = a->count;
  t->got.gradient = a->sum;
  t->got.indices = a->indices;
  t->row_counts = a->row_counts;
  t->got.full = a->sum.shape;
  if (a->spec.sparse) t->got.full.dim[0] = a->spec.declared.rank > 0 ? a->spec.declared.dim[0] : -1;
  a->sum = a->indices = (weft_tensor){0};
  a->row_counts = NULL;
  a->count = 0;
  a->step++;
}

static void take_set_cancelled(take *t) {
  weft__status_update(&t->result, weft__fail(WEFT_CANCELLED, "TakeGrad operation was cancelled"));
}

static void take_on_cancel(void *arg) {
  take *t = arg;
  accumulator *a = t->a;
  wait_queue done;
  weft__wait_queue_init(&done);
  weft__object_retain(&a->base.base);
  pthread_mutex_lock(&a->lock);
  t->base.cancelled = true;
  if (t->base.listed) {
    weft__wait_queue_remove(&a->takes, &t->base);
    take_set_cancelled(t);
    weft__wait_queue_push(&done, &t->base);
    accumulator_serve(a, &done);
  }
  pthread_mutex_unlock(&a->lock);
  takes_complete(&done);
  weft__object_release(&a->base.base);
}

void weft__accumulator_take(accumulator *a, int64_t required, cancel *c, accumulator_fn *fn, void *arg) {
  wait_queue done;
  weft__wait_queue_init(&done);
  weft_err err = required > 0 ? WEFT_OK
                              : weft__fail(WEFT_INVALID_ARGUMENT,
                                           "Argument num_required must be positive, but was %lld", (long long)required);
  take *t = err == WEFT_OK ? weft__alloc_zero(1, sizeof *t) : NULL;
  if (!t) {
    fn(arg, err == WEFT_OK ? WEFT_OOM : err, NULL);
    return;
  }
  *t = (take){.a = a, .required = required, .fn = fn, .arg = arg};
  weft__object_retain(&a->base.base);
  if ((err = weft__waiter_start(&t->base, c, take_on_cancel)) != WEFT_OK) {
    t->base.cancel = NULL;
    weft__status_update(&t->result, err);
    take_complete(t);
    return;
  }
  pthread_mutex_lock(&a->lock);
  if (weft__wait_queue_enter(&a->takes, &t->base)) {
    accumulator_serve(a, &done);
  } else {
    take_set_cancelled(t);
    weft__wait_queue_push(&done, &t->base);
  }
  pthread_mutex_unlock(&a->lock);
  takes_complete(&done);
}

/* ---- applying ---- */

static weft_err accumulator_check_type(const accumulator *a, const weft_tensor *g, bool sparse) {
  if (a->spec.sparse != sparse)
    return weft__fail(WEFT_INVALID_ARGUMENT, "The accumulator %s takes %s gradients", a->name,
                      a->spec.sparse ? "sparse" : "dense");
  if (g->dtype == a->spec.dtype) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Expected a gradient of type %s, got %s", weft__dtype_short(a->spec.dtype),
                    weft__dtype_short(g->dtype));
}

/* Adds the gradient unless it is stale, and serves the waiting takes. */
static weft_err accumulator_apply(accumulator *a, int64_t local_step, const weft_tensor *g, const weft_tensor *indices,
                                  const weft_tensor *declared) {
  wait_queue done;
  weft__wait_queue_init(&done);
  weft_err err = WEFT_OK;
  weft__object_retain(&a->base.base);
  pthread_mutex_lock(&a->lock);
  if (local_step >= a->step) {
    if (indices) err = accumulator_check_declared(a, declared);
    if (indices && err == WEFT_OK) err = accumulator_check_rows(a, indices, g);
    if (err == WEFT_OK) err = indices ? accumulator_add_sparse(a, indices, g) : accumulator_add_dense(a, g);
    if (err == WEFT_OK) a->count++;
    if (err == WEFT_OK) accumulator_serve(a, &done);
  }
  pthread_mutex_unlock(&a->lock);
  takes_complete(&done);
  weft__object_release(&a->base.base);
  return err;
}

weft_err weft__accumulator_apply(accumulator *a, int64_t local_step, const weft_tensor *gradient) {
  WEFT_TRY(accumulator_check_type(a, gradient, false));
  return accumulator_apply(a, local_step, gradient, NULL, NULL);
}

weft_err weft__accumulator_apply_sparse(accumulator *a, int64_t local_step, const weft_tensor *indices,
                                        const weft_tensor *values, const weft_tensor *declared) {
  WEFT_TRY(accumulator_check_type(a, values, true));
  return accumulator_apply(a, local_step, values, indices, declared);
}

void weft__accumulator_set_step(accumulator *a, int64_t step_number) {
  pthread_mutex_lock(&a->lock);
  a->step = step_number;
  pthread_mutex_unlock(&a->lock);
}

int64_t weft__accumulator_count(accumulator *a) {
  pthread_mutex_lock(&a->lock);
  int64_t n = a->count;
  pthread_mutex_unlock(&a->lock);
  return n;
}

/* ---- making ---- */

static void accumulator_destroy(object *o) {
  accumulator *a = (accumulator *)o;
  weft__tensor_clear(&a->sum);
  weft__tensor_clear(&a->indices);
  weft__free(a->row_counts);
  weft__free(a->name);
  pthread_mutex_destroy(&a->lock);
  weft__free(a);
}

/* No gradient will come again, so the waiting takes are canceled. */
static void accumulator_dropped(resource *r) {
  accumulator *a = (accumulator *)r;
  wait_queue done;
  weft__wait_queue_init(&done);
  pthread_mutex_lock(&a->lock);
  while (a->takes.first) {
    take *t = (take *)a->takes.first;
    weft__wait_queue_remove(&a->takes, &t->base);
    take_set_cancelled(t);
    weft__wait_queue_push(&done, &t->base);
  }
  pthread_mutex_unlock(&a->lock);
  takes_complete(&done);
}

weft_err weft__accumulator_create(accumulator **out, const accumulator_spec *spec, const char *name) {
  if (!weft__combine_has(COMBINE_ADD, spec->dtype) || !weft__combine_has(COMBINE_DIV, spec->dtype))
    return weft__fail(WEFT_INVALID_ARGUMENT, "gradients of type %s cannot be accumulated",
                      weft__dtype_name(spec->dtype));
  accumulator *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return WEFT_OOM;
  atomic_init(&a->base.base.refs, 1);
  a->base.base.destroy = accumulator_destroy;
  a->base.type = ACCUMULATOR_TYPE;
  a->base.dropped = accumulator_dropped;
  a->spec = *spec;
  weft__wait_queue_init(&a->takes);
  pthread_mutex_init(&a->lock, NULL);
  if (!(a->name = weft__strdup(name))) {
    accumulator_destroy(&a->base.base);
    return WEFT_OOM;
  }
  *out = a;
  return WEFT_OK;
}

weft_err weft__accumulator_matches(const accumulator *a, const accumulator_spec *s) {
  if (a->spec.dtype != s->dtype)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Shared conditional accumulator '%s' has dtype %s but requested dtype was %s", a->name,
                      weft__dtype_short(a->spec.dtype), weft__dtype_short(s->dtype));
  if (!weft__shape_equal(&a->spec.declared, &s->declared))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Shared conditional accumulator '%s' has shape %s but requested shape was %s", a->name,
                      weft__shape_text(&a->spec.declared), weft__shape_text(&s->declared));
  if (a->spec.sparse != s->sparse || a->spec.sum != s->sum)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shared conditional accumulator '%s' is of another kind", a->name);
  return WEFT_OK;
}
