/* quantile_stream.c - streams: a counter in base two, whose digits are summaries.  One lock, a leaf, guards all. */
#include "state/trees/quantile_stream.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/dataset.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { DIGITS = 63 };

typedef struct one_stream {
  quantile_summary *digit; /* [DIGITS], made with the first summary; digit i stands for 2^i batches or is empty */
  float *boundary;
  int64_t n_boundary;
} one_stream;

struct quantile_stream {
  resource base;
  pthread_mutex_t lock;
  one_stream *stream;
  int64_t n;    /* 0: not set */
  int64_t size; /* summaries are pruned to it */
};

static void digits_clear(one_stream *s) {
  for (int i = 0; s->digit && i < DIGITS; i++) weft__quantile_clear(&s->digit[i]);
  weft__free(s->digit);
  s->digit = NULL;
}

static void quantile_stream_destroy(object *o) {
  quantile_stream *q = (quantile_stream *)o;
  for (int64_t i = 0; i < q->n; i++) {
    digits_clear(&q->stream[i]);
    weft__free(q->stream[i].boundary);
  }
  weft__free(q->stream);
  pthread_mutex_destroy(&q->lock);
  weft__free(q);
}

weft_err weft__quantile_stream_create(quantile_stream **out) {
  quantile_stream *q = weft__alloc_zero(1, sizeof *q);
  if (!q) return WEFT_OOM;
  atomic_init(&q->base.base.refs, 1);
  q->base.base.destroy = quantile_stream_destroy;
  q->base.type = QUANTILE_STREAM_TYPE;
  pthread_mutex_init(&q->lock, NULL);
  *out = q;
  return WEFT_OK;
}

bool weft__quantile_stream_is_set(quantile_stream *q) {
  pthread_mutex_lock(&q->lock);
  const bool set = q->n > 0;
  pthread_mutex_unlock(&q->lock);
  return set;
}

weft_err weft__quantile_stream_set(quantile_stream *q, float epsilon, int64_t n, int64_t max_elements) {
  if (!(epsilon > 0 && epsilon < 1))
    return weft__fail(WEFT_INVALID_ARGUMENT, "epsilon is %g, but must be between 0 and 1", (double)epsilon);
  if (n < 1 || n > QUANTILE_STREAMS_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "num_streams is %lld, but must be from 1 to %d", (long long)n,
                      QUANTILE_STREAMS_MAX);
  if (max_elements < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "max_elements is %lld, but must be positive", (long long)max_elements);
  one_stream *made = weft__alloc_zero((size_t)n, sizeof *made);
  if (!made) return WEFT_OOM;
  const double prunings = log2((double)max_elements * (double)epsilon);
  pthread_mutex_lock(&q->lock);
  if (q->n == 0) {
    q->stream = made, q->n = n;
    q->size = weft__quantile_size((double)epsilon, prunings > 1 ? (int)prunings + 1 : 1);
    made = NULL;
  }
  pthread_mutex_unlock(&q->lock);
  weft__free(made);
  return WEFT_OK;
}

/* Fails unless there are n streams (any number: n < 0).  The lock is held. */
static weft_err stream_check(const quantile_stream *q, int64_t n) {
  WEFT_ASSERT(weft__lock_is_held(&q->lock));
  if (q->n == 0)
    return weft__fail(WEFT_FAILED_PRECONDITION,
                      "the quantile stream is not initialized (run BoostedTreesCreateQuantileStreamResource)");
  if (n < 0 || n == q->n) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "there are %lld streams, not %lld", (long long)q->n, (long long)n);
}

/* ---- collecting ---- */

/* Adds two summaries into `to`, which may be one of them; both are empty afterwards unless memory is short. */
static weft_err summary_join(quantile_summary *to, quantile_summary *a, quantile_summary *b, int64_t size) {
  quantile_summary sum;
  WEFT_TRY(weft__quantile_merge(&sum, a, b));
  weft__quantile_prune(&sum, size);
  weft__quantile_clear(a), weft__quantile_clear(b);
  *to = sum;
  return WEFT_OK;
}

/* If memory is short, what was joined so far stays in *s, and is lost. */
static weft_err stream_add(one_stream *q, quantile_summary *s, int64_t size) {
  if (s->n == 0) return WEFT_OK;
  if (!q->digit && !(q->digit = weft__alloc_zero(DIGITS, sizeof *q->digit))) return WEFT_OOM;
  weft__quantile_prune(s, size);
  int i = 0;
  for (; i < DIGITS - 1 && q->digit[i].n; i++) WEFT_TRY(summary_join(s, &q->digit[i], s, size));
  if (q->digit[i].n) WEFT_TRY(summary_join(s, &q->digit[i], s, size));
  q->digit[i] = *s;
  *s = (quantile_summary){0};
  return WEFT_OK;
}

weft_err weft__quantile_stream_add(quantile_stream *q, quantile_summary *s, int64_t n) {
  pthread_mutex_lock(&q->lock);
  weft_err err = stream_check(q, n);
  for (int64_t i = 0; i < n && !err; i++) err = stream_add(&q->stream[i], &s[i], q->size);
  pthread_mutex_unlock(&q->lock);
  for (int64_t i = 0; i < n; i++) weft__quantile_clear(&s[i]);
  return err;
}

/* Moves all that the stream has collected to *out. */
static weft_err stream_take(one_stream *q, quantile_summary *out) {
  *out = (quantile_summary){0};
  for (int i = 0; q->digit && i < DIGITS; i++) {
    quantile_summary sum;
    if (q->digit[i].n == 0) continue;
    const weft_err err = weft__quantile_merge(&sum, out, &q->digit[i]);
    weft__quantile_clear(out);
    if (err) return err;
    *out = sum;
  }
  digits_clear(q);
  return WEFT_OK;
}

weft_err weft__quantile_stream_take(quantile_stream *q, quantile_summary *s, int64_t n) {
  pthread_mutex_lock(&q->lock);
  weft_err err = stream_check(q, n);
  for (int64_t i = 0; i < n && !err; i++) err = stream_take(&q->stream[i], &s[i]);
  pthread_mutex_unlock(&q->lock);
  return err;
}

/* ---- boundaries ---- */

static weft_err stream_flush(one_stream *q, int64_t buckets, bool quantiles) {
  quantile_summary s;
  WEFT_TRY(stream_take(q, &s));
  if (!quantiles && buckets > 1) weft__quantile_prune(&s, buckets - 1);
  const int64_t n = s.n == 0 ? 0 : quantiles ? buckets + 1 : buckets > 1 ? s.n : 1;
  float *boundary = weft__alloc((size_t)(n + 1) * sizeof *boundary);
  if (boundary) {
    const double total = s.n ? s.entry[s.n - 1].max_rank : 0;
    int64_t from = 0;
    for (int64_t i = 0; i < n; i++)
      boundary[i] = quantiles     ? weft__quantile_find(&s, total * (double)i / (double)buckets, &from)
                    : buckets > 1 ? s.entry[i].value
                                  : s.entry[s.n - 1].value;
    weft__free(q->boundary);
    q->boundary = boundary, q->n_boundary = n;
  }
  weft__quantile_clear(&s);
  return boundary ? WEFT_OK : WEFT_OOM;
}

weft_err weft__quantile_stream_flush(quantile_stream *q, int64_t buckets, bool quantiles, const step *st) {
  if (buckets < 1 || buckets > QUANTILE_SIZE_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "num_buckets is %lld, but must be from 1 to %d", (long long)buckets,
                      QUANTILE_SIZE_MAX);
  pthread_mutex_lock(&q->lock);
  weft_err err = stream_check(q, -1);
  for (int64_t i = 0; i < q->n && !err; i++) {
    if (st) err = weft__step_check_time(st);
    if (!err) err = stream_flush(&q->stream[i], buckets, quantiles);
  }
  pthread_mutex_unlock(&q->lock);
  return err;
}

weft_err weft__quantile_stream_boundaries(quantile_stream *q, int64_t n, quantile_visit *fn, void *arg) {
  pthread_mutex_lock(&q->lock);
  weft_err err = stream_check(q, n);
  for (int64_t i = 0; i < n && !err; i++) err = fn(arg, i, q->stream[i].boundary, q->stream[i].n_boundary);
  pthread_mutex_unlock(&q->lock);
  return err;
}

static weft_err boundary_copy(float **out, const weft_tensor *t, int64_t stream) {
  const int64_t n = weft__tensor_count(t);
  const volatile float *from = t->data;
  float *to = weft__alloc((size_t)(n + 1) * sizeof *to);
  if (!to) return WEFT_OOM;
  *out = to;
  for (int64_t i = 0; i < n; i++) {
    to[i] = from[i];
    if (isnan(to[i]) || (i && to[i] < to[i - 1]))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "boundary %lld of stream %lld is %g, but boundaries must be sorted numbers", (long long)i,
                        (long long)stream, (double)to[i]);
  }
  return WEFT_OK;
}

weft_err weft__quantile_stream_restore(quantile_stream *q, const weft_tensor *const *boundary, int64_t n) {
  float **copy = weft__alloc_zero((size_t)(n + 1), sizeof(float *));
  if (!copy) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < n && !err; i++) err = boundary_copy(&copy[i], boundary[i], i);
  pthread_mutex_lock(&q->lock);
  if (!err) err = stream_check(q, n);
  for (int64_t i = 0; i < n && !err; i++) {
    float *old = q->stream[i].boundary;
    q->stream[i].boundary = copy[i], q->stream[i].n_boundary = weft__tensor_count(boundary[i]);
    copy[i] = old;
  }
  pthread_mutex_unlock(&q->lock);
  for (int64_t i = 0; i < n; i++) weft__free(copy[i]);
  weft__free(copy);
  return err;
}
