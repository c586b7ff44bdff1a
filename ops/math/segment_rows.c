/* segment_rows.c - combines rows into the rows of their segments, over threads.
 *
 * Long rows are split into strips of columns.  If the ids ascend, the rows are also split between segments.  Either way
 * one thread combines all rows of a segment in their order, so that the bits do not depend on the number of threads.
 *
 * Rows that follow one another in one segment, as in the lookups of embeddings, are summed in registers. */
#include "base/prefetch.h"
#include "kernels/work/long_work.h"
#include "ops/math/segment.h"

enum {
  STRIP = 512,            /* columns of one task */
  MOST_VECTORS = 16,      /* that are summed in registers */
  FEW_ELEMENTS = 1 << 14, /* that one thread combines sooner than two */
  ROW_WORK = 8,           /* of long_work, beside the columns of a row */
  MOST_ROWS = 1 << 14     /* that are combined at once */
};

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* As long as the registers of every processor: GCC keeps longer vectors on the stack where registers are shorter. */
typedef float sum_lanes __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));

typedef struct row_work {
  const segment_work *job;
  int64_t parts; /* that the rows are split into */
  int64_t strips;
  bool sums; /* of floats */
  long_work *work;
  void (*numbers)(const segment_work *j, int64_t begin, int64_t end); /* for sums of rows of one number, or NULL */
} row_work;

static int64_t source_row(const segment_work *j, int64_t i) { return j->from ? j->from[i] : i; }

/* The rows of a job on floats: row i of the job in x, and its segment's row in z. */
static const float *float_source(const segment_work *j, int64_t i) {
  const float *x = (const void *)j->x;
  return x + source_row(j, i) * j->inner;
}

static float *float_sum(const segment_work *j, int64_t i) {
  float *z = (void *)j->z;
  return z + j->id[i] * j->inner;
}

/* Adds rows [begin, end) to their row of z, both of floats: `vectors` * 4 columns from `at` on. */
static inline __attribute__((always_inline)) void sum_columns(const segment_work *j, int64_t begin, int64_t end,
                                                              int64_t at, const int vectors) {
  sum_lanes *to = (sum_lanes *)(float_sum(j, begin) + at), sum[MOST_VECTORS];
  UNROLL for (int v = 0; v < vectors; v++) sum[v] = to[v];
  for (int64_t i = begin; i < end; i++) {
    const sum_lanes *row = (const sum_lanes *)(float_source(j, i) + at);
    UNROLL for (int v = 0; v < vectors; v++) sum[v] += row[v];
  }
  UNROLL for (int v = 0; v < vectors; v++) to[v] = sum[v];
}

static void sum_rows(const segment_work *j, int64_t begin, int64_t end, int64_t first, int64_t last) {
  enum { LANES = sizeof(sum_lanes) / sizeof(float) };
  int64_t at = first;
  for (; at + MOST_VECTORS * LANES <= last; at += MOST_VECTORS * LANES) sum_columns(j, begin, end, at, MOST_VECTORS);
  for (; at + 4 * LANES <= last; at += 4 * LANES) sum_columns(j, begin, end, at, 4);
  for (; at + LANES <= last; at += LANES) sum_columns(j, begin, end, at, 1);
  float *z = float_sum(j, begin);
  for (int64_t i = begin; i < end && at < last; i++) {
    const float *row = float_source(j, i);
    for (int64_t c = at; c < last; c++) z[c] += row[c];
  }
}

/* Adds rows [begin, end) of one number each; those of one segment that follow one another in a register. */
#define DEFINE_SUM_NUMBERS(T, U)                                                                                       \
  static void sum_numbers_##T(const segment_work *j, int64_t begin, int64_t end) {                                     \
    const T *x = (const void *)j->x;                                                                                   \
    T *z = (void *)j->z;                                                                                               \
    for (int64_t i = begin; i < end;) {                                                                                \
      const int64_t id = j->id[i];                                                                                     \
      if (id < 0) {                                                                                                    \
        i++;                                                                                                           \
        continue;                                                                                                      \
      }                                                                                                                \
      U sum = (U)z[id];                                                                                                \
      for (; i < end && j->id[i] == id; i++) sum += (U)x[source_row(j, i)];                                            \
      z[id] = (T)sum;                                                                                                  \
    }                                                                                                                  \
  }
DEFINE_SUM_NUMBERS(float, float)
DEFINE_SUM_NUMBERS(double, double)
DEFINE_SUM_NUMBERS(int32_t, uint32_t)
DEFINE_SUM_NUMBERS(int64_t, uint64_t)

/* Sets what w sums by itself instead of calling the loop of an op for every row. */
static void choose_sums(row_work *w) {
  const segment_work *j = w->job;
  elem_loop *const *add = weft__add_op.loop;
  w->sums = j->loop == add[WEFT_FLOAT];
  if (j->inner > 1) return;
  if (j->loop == add[WEFT_FLOAT]) w->numbers = sum_numbers_float;
  if (j->loop == add[WEFT_DOUBLE]) w->numbers = sum_numbers_double;
  if (j->loop == add[WEFT_INT32]) w->numbers = sum_numbers_int32_t;
  if (j->loop == add[WEFT_INT64]) w->numbers = sum_numbers_int64_t;
}

/* Combines the rows of one segment, [begin, end). */
static inline void combine_rows(const segment_work *j, int64_t begin, int64_t end, int64_t first, int64_t last) {
  char *z = j->z + (size_t)(j->id[begin] * j->inner + first) * j->size;
  for (int64_t i = begin; i < end; i++) {
    const void *in[2] = {z, j->x + (size_t)(source_row(j, i) * j->inner + first) * j->size};
    j->loop(z, in, last - first, NULL);
  }
}

static void run_rows(const row_work *w, int64_t begin, int64_t stop, int64_t first, int64_t last) {
  const segment_work *j = w->job;
  const size_t bytes = (size_t)(last - first) * j->size;
  int64_t spent = 0;
  for (int64_t i = begin, end, ahead = begin; i < stop; i = end) {
    const int64_t id = j->id[i];
    const int64_t most = stop - i < MOST_ROWS ? stop : i + MOST_ROWS;
    for (end = i + 1; end < most && j->id[end] == id;) end++;
    if (weft__long_work_spent(w->work, &spent, (end - i) * (last - first + ROW_WORK))) return;
    for (; j->from && ahead < end + PREFETCH_ROWS && ahead < stop; ahead++)
      weft__prefetch(j->x + (size_t)(j->from[ahead] * j->inner + first) * j->size, bytes);
    if (id < 0) continue;
    if (w->sums && end - i > 1)
      sum_rows(j, i, end, first, last);
    else
      combine_rows(j, i, end, first, last);
  }
}

/* The first row of a part: a part begins with a segment. */
static int64_t row_cut(const row_work *w, int64_t part) {
  const segment_work *j = w->job;
  int64_t i = j->rows / w->parts * part;
  if (part == w->parts) return j->rows;
  while (i > 0 && i < j->rows && j->id[i] == j->id[i - 1]) i++;
  return i;
}

static void run_row_work(void *arg, int64_t begin, int64_t end) {
  const row_work *w = arg;
  for (int64_t at = begin; at < end; at++) {
    const int64_t part = at / w->strips, first = at % w->strips * STRIP, inner = w->job->inner;
    if (w->numbers)
      w->numbers(w->job, row_cut(w, part), row_cut(w, part + 1));
    else
      run_rows(w, row_cut(w, part), row_cut(w, part + 1), first, first + STRIP < inner ? first + STRIP : inner);
  }
}

static bool ids_ascend(const segment_work *j) {
  for (int64_t i = 1; i < j->rows; i++)
    if (j->id[i] < j->id[i - 1]) return false;
  return true;
}

weft_err weft__segment_run(const kernel *k, const segment_work *j) {
  if (j->rows <= 0 || j->inner <= 0) return WEFT_OK;
  const int threads = k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
  const int64_t strips = (j->inner + STRIP - 1) / STRIP, width = j->inner < STRIP ? j->inner : STRIP;
  long_work work = weft__long_work(k);
  row_work w = {.job = j, .strips = strips, .parts = 1, .work = &work};
  choose_sums(&w);
  if (strips < threads && j->rows > FEW_ELEMENTS / width && ids_ascend(j)) w.parts = threads;
  weft__kernel_loop(k, w.parts * strips, j->rows / w.parts * (2 + width / 8) + 1, run_row_work, &w);
  return weft__kernel_in(k, weft__long_work_end(&work));
}
