/* quantile_stream.h - approximate quantiles of weighted values that arrive in batches, for several streams.
 *
 * A summary is a sorted list of some of the values, each with bounds of its rank: the weight of all values below it
 * lies in [min_rank, max_rank - weight].  Merging keeps the bounds exact; pruning to b + 1 entries widens them by at
 * most 1/b of the total weight (T. Chen and C. Guestrin, "XGBoost", 2016, appendix).
 *
 * A stream keeps one summary per power of two of batches, so that it needs memory for the logarithm of their number,
 * and a value is pruned as often.  Any thread may call the functions of streams, which are a reference-counted
 * resource; summaries belong to one thread. */
#ifndef WEFT_STATE_TREES_QUANTILE_STREAM_H
#define WEFT_STATE_TREES_QUANTILE_STREAM_H

#include "state/resource.h"

#define QUANTILE_STREAM_TYPE "quantile stream"
enum { QUANTILE_STREAMS_MAX = 1 << 20, QUANTILE_SIZE_MAX = 1 << 20 };

typedef struct quantile_entry {
  float value;
  double weight, min_rank, max_rank;
} quantile_entry;
typedef struct quantile_summary { /* {0} is empty */
  quantile_entry *entry;
  int64_t n;
} quantile_summary;

void weft__quantile_clear(quantile_summary *s);
/* Makes the exact summary of n values.  Values that are NaN and weights that are not positive count for nothing. */
weft_err weft__quantile_make(quantile_summary *out, const float *values, const float *weights, int64_t n);
/* Reads rows of value, weight, min_rank, max_rank; INVALID_ARGUMENT if they are no summary. */
weft_err weft__quantile_read(quantile_summary *out, const float *rows, int64_t n);
weft_err weft__quantile_merge(quantile_summary *out, const quantile_summary *a, const quantile_summary *b);
/* Drops entries so that at most size + 1 (size > 0) stay. */
void weft__quantile_prune(quantile_summary *s, int64_t size);
/* Returns the value whose rank is nearest to `rank`; s is not empty.  *from, 0 at first, makes a series of growing
 * ranks one walk. */
float weft__quantile_find(const quantile_summary *s, double rank, int64_t *from);
/* Returns the size to prune to for an error of epsilon, in (0, 1), over this many prunings. */
int64_t weft__quantile_size(double epsilon, int prunings);

typedef struct quantile_stream quantile_stream;

/* The caller owns the one reference; fails only if memory is short. */
weft_err weft__quantile_stream_create(quantile_stream **out);
bool weft__quantile_stream_is_set(quantile_stream *q);
/* Makes `n` empty streams, unless there are some already. */
weft_err weft__quantile_stream_set(quantile_stream *q, float epsilon, int64_t n, int64_t max_elements);

/* The functions below return FAILED_PRECONDITION if there are no streams, and INVALID_ARGUMENT if there are not n. */
/* Adds a summary to each stream; the summaries are empty afterwards. */
weft_err weft__quantile_stream_add(quantile_stream *q, quantile_summary *s, int64_t n);
/* Moves what each stream has collected to s, n empty summaries. */
weft_err weft__quantile_stream_take(quantile_stream *q, quantile_summary *s, int64_t n);
/* Computes the boundaries of each stream from what it has collected, which is then forgotten: `buckets` + 1 quantiles,
 * where values may repeat, or at most `buckets` different values.  Ends early with the step, unless that is NULL. */
weft_err weft__quantile_stream_flush(quantile_stream *q, int64_t buckets, bool quantiles, const step *st);
/* Calls fn for each stream with its boundaries, under the lock; stops at the first error. */
typedef weft_err quantile_visit(void *arg, int64_t stream, const float *boundary, int64_t n);
weft_err weft__quantile_stream_boundaries(quantile_stream *q, int64_t n, quantile_visit *fn, void *arg);
/* Sets the boundaries of all streams: sorted numbers. */
weft_err weft__quantile_stream_restore(quantile_stream *q, const weft_tensor *const *boundary, int64_t n);

#endif
