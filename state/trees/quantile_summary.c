/* quantile_summary.c - summaries of quantiles: making, merging and pruning. */
#include "base/alloc.h"
#include "state/trees/quantile_stream.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void weft__quantile_clear(quantile_summary *s) {
  weft__free(s->entry);
  *s = (quantile_summary){0};
}

static int compare_entries(const void *a, const void *b) {
  const float x = ((const quantile_entry *)a)->value, y = ((const quantile_entry *)b)->value;
  return (x > y) - (x < y);
}

static weft_err summary_alloc(quantile_summary *s, int64_t n) {
  *s = (quantile_summary){0};
  s->entry = weft__alloc((size_t)(n + 1) * sizeof *s->entry);
  return s->entry ? WEFT_OK : WEFT_OOM;
}

weft_err weft__quantile_make(quantile_summary *out, const float *values, const float *weights, int64_t n) {
  WEFT_TRY(summary_alloc(out, n));
  int64_t used = 0, kept = 0;
  for (int64_t i = 0; i < n; i++) { /* each element is read once: another process may write to it */
    const quantile_entry e = {.value = *(const volatile float *)&values[i],
                              .weight = (double)*(const volatile float *)&weights[i]};
    if (!isnan(e.value) && e.weight > 0 && isfinite(e.weight)) out->entry[used++] = e;
  }
  qsort(out->entry, (size_t)used, sizeof *out->entry, compare_entries);
  double rank = 0;
  for (int64_t i = 0; i < used;) {
    quantile_entry e = out->entry[i];
    for (i++; i < used && out->entry[i].value == e.value; i++) e.weight += out->entry[i].weight;
    e.min_rank = rank;
    e.max_rank = rank += e.weight;
    out->entry[kept++] = e;
  }
  out->n = kept;
  return WEFT_OK;
}

weft_err weft__quantile_read(quantile_summary *out, const float *rows, int64_t n) {
  WEFT_TRY(summary_alloc(out, n));
  const volatile float *at = rows;
  for (int64_t i = 0; i < n; i++, at += 4) {
    const quantile_entry e = {at[0], (double)at[1], (double)at[2], (double)at[3]};
    const quantile_entry *last = i ? &out->entry[i - 1] : NULL;
    if (isnan(e.value) || !(e.weight >= 0 && e.min_rank >= 0 && e.max_rank >= e.min_rank && isfinite(e.max_rank)) ||
        !isfinite(e.weight) ||
        (last && (e.value <= last->value || e.min_rank < last->min_rank || e.max_rank < last->max_rank))) {
      weft__quantile_clear(out);
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "row %lld of a summary, (%g, %g, %g, %g), must have a larger value than the row before, and "
                        "ranks that grow",
                        (long long)i, (double)e.value, e.weight, e.min_rank, e.max_rank);
    }
    out->entry[i] = e;
  }
  out->n = n;
  return WEFT_OK;
}

/* The least rank of values above entry i of s (i may be -1), and the most rank of values below entry i (i may be n). */
static double rank_after(const quantile_summary *s, int64_t i) {
  return i < 0 ? 0 : s->entry[i].min_rank + s->entry[i].weight;
}
static double rank_before(const quantile_summary *s, int64_t i) {
  if (i < s->n) return s->entry[i].max_rank - s->entry[i].weight;
  return s->n ? s->entry[s->n - 1].max_rank : 0;
}

weft_err weft__quantile_merge(quantile_summary *out, const quantile_summary *a, const quantile_summary *b) {
  WEFT_TRY(summary_alloc(out, a->n + b->n));
  for (int64_t i = 0, j = 0; i < a->n || j < b->n;) {
    quantile_entry e;
    const bool from_a = i < a->n && (j >= b->n || a->entry[i].value <= b->entry[j].value);
    const bool from_b = j < b->n && (i >= a->n || b->entry[j].value <= a->entry[i].value);
    if (from_a && from_b) {
      e = a->entry[i];
      e.weight += b->entry[j].weight;
      e.min_rank += b->entry[j].min_rank, e.max_rank += b->entry[j].max_rank;
    } else if (from_a) {
      e = a->entry[i];
      e.min_rank += rank_after(b, j - 1), e.max_rank += rank_before(b, j);
    } else {
      e = b->entry[j];
      e.min_rank += rank_after(a, i - 1), e.max_rank += rank_before(a, i);
    }
    i += from_a, j += from_b;
    out->entry[out->n++] = e;
  }
  return WEFT_OK;
}

/* Returns the entry at or after `from` whose rank is nearest to `rank`.  Twice the rank is compared, that is the sum of
 * its bounds.  Ranks grow with the entries. */
static int64_t summary_nearest(const quantile_summary *s, int64_t from, double rank) {
  int64_t i = from;
  while (i + 1 < s->n) {
    const quantile_entry *e = &s->entry[i], *next = e + 1;
    const double own = e->min_rank + e->max_rank, after = next->min_rank + next->max_rank;
    if (fabs(own - 2 * rank) <= fabs(after - 2 * rank)) break;
    i++;
  }
  return i;
}

float weft__quantile_find(const quantile_summary *s, double rank, int64_t *from) {
  if (rank <= 0) return s->entry[0].value;
  if (rank >= s->entry[s->n - 1].max_rank) return s->entry[s->n - 1].value;
  *from = summary_nearest(s, *from, rank);
  return s->entry[*from].value;
}

void weft__quantile_prune(quantile_summary *s, int64_t size) {
  if (s->n <= size + 1) return;
  const double total = s->entry[s->n - 1].max_rank;
  int64_t kept = 1, at = 0;
  for (int64_t i = 1; i < size; i++) {
    const int64_t found = summary_nearest(s, at, total * (double)i / (double)size);
    if (found == at || found == s->n - 1) continue;
    at = found;
    s->entry[kept++] = s->entry[at]; /* kept never passes `at`, and entries before it are not read again */
  }
  s->entry[kept++] = s->entry[s->n - 1];
  s->n = kept;
  quantile_entry *smaller = weft__realloc(s->entry, (size_t)kept * sizeof *smaller);
  if (smaller) s->entry = smaller;
}

int64_t weft__quantile_size(double epsilon, int prunings) {
  const double size = ceil(prunings / epsilon);
  return size < QUANTILE_SIZE_MAX ? (int64_t)size : QUANTILE_SIZE_MAX;
}
