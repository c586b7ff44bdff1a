/* reduction.c - reductions over (outer, reduce, inner), divided into tasks for the threads. */
#include "kernels/reduce/reduction.h"

enum {
  COLUMNS = 4096,     /* columns of the inner dimension per task */
  PIECE = 16384,      /* approximate elements in a piece of a long reduction */
  ENOUGH_TASKS = 16,  /* with this many tasks, a reduction is not cut into pieces */
  ROWS_AT_LEAST = 32, /* minimum rows of a piece */
};

typedef struct pass {
  reduction_fn *fn;
  const char *x;
  char *out;
  size_t x_size, out_size;
  int64_t outer, reduce, inner;
  int64_t pieces, rows;    /* pieces of the reduced dimension, and rows in each */
  int64_t strips, columns; /* strips of the inner dimension, and columns in each */
} pass;

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t reduction_min(int64_t a, int64_t b) { return a < b ? a : b; }

static void run_tasks(void *arg, int64_t begin, int64_t end) {
  const pass *p = arg;
  if (p->pieces == 1 && p->strips == 1) {
    p->fn(p->x + (size_t)(begin * p->reduce * p->inner) * p->x_size, end - begin, p->reduce, p->inner, p->inner,
          p->out + (size_t)(begin * p->inner) * p->out_size);
    return;
  }
  for (int64_t t = begin; t < end; t++) {
    const int64_t strip = t % p->strips, row = t / p->strips, piece = row % p->pieces, o = row / p->pieces;
    const int64_t r0 = piece * p->rows, j0 = strip * p->columns;
    p->fn(p->x + (size_t)((o * p->reduce + r0) * p->inner + j0) * p->x_size, 1, reduction_min(p->rows, p->reduce - r0),
          reduction_min(p->columns, p->inner - j0), p->inner, p->out + (size_t)(row * p->inner + j0) * p->out_size);
  }
}

static void run_pass(const kernel *k, pass *p) {
  const int64_t tasks = p->outer * p->pieces * p->strips;
  const int64_t each = reduction_min(p->rows, p->reduce) * reduction_min(p->columns, p->inner);
  weft__kernel_loop(k, tasks, 5 + each / 8, run_tasks, p);
}

/* Divides the work into tasks.  A reduction with too few tasks is cut into pieces, whose results are reduced once
 * more. */
static void plan_pass(pass *p) {
  p->columns = COLUMNS;
  p->strips = p->inner > 0 ? ceil_div(p->inner, COLUMNS) : 1;
  p->rows = p->reduce > 0 ? p->reduce : 1;
  p->pieces = 1;
  const int64_t wide = p->inner < COLUMNS ? p->inner : COLUMNS;
  if (p->outer * p->strips >= ENOUGH_TASKS || wide == 0 || p->reduce < 2 * ROWS_AT_LEAST) return;
  if (p->reduce <= 2 * PIECE / wide) return;
  const int64_t rows = PIECE / wide > ROWS_AT_LEAST ? PIECE / wide : ROWS_AT_LEAST;
  p->rows = rows;
  p->pieces = ceil_div(p->reduce, rows);
}

/* Reduces one run: x (outer, reduce, inner) to out (outer, inner).  The caller sets these members of p, and x_size. */
static weft_err reduce_run(kernel *k, const reduction_kind *kind, bool first, pass p) {
  void *out = p.out;
  p.fn = first ? kind->first : kind->more;
  p.out_size = weft__dtype_size(kind->acc);
  plan_pass(&p);
  if (p.pieces == 1) {
    run_pass(k, &p);
    return WEFT_OK;
  }
  weft_tensor partial = {0};
  WEFT_TRY(weft__scratch(k, &partial, kind->acc, &SHAPE3(p.outer, p.pieces, p.inner)));
  p.out = partial.data;
  run_pass(k, &p);
  const weft_err err = reduce_run(
      k, kind, false,
      (pass){
          .x = partial.data, .x_size = p.out_size, .outer = p.outer, .reduce = p.pieces, .inner = p.inner, .out = out});
  weft__tensor_clear(&partial);
  return err;
}

typedef struct runs { /* merged dimensions: alternating reduced and kept ones */
  int n;
  int64_t size[WEFT_MAX_RANK];
  bool reduced[WEFT_MAX_RANK];
} runs;

static void merge_runs(runs *r, const shape *s, uint32_t reduced) {
  r->n = 0;
  for (int d = 0; d < s->rank; d++) {
    const bool gone = reduced >> d & 1;
    if (s->dim[d] == 1) continue;
    if (r->n > 0 && r->reduced[r->n - 1] == gone) {
      r->size[r->n - 1] *= s->dim[d];
      continue;
    }
    r->size[r->n] = s->dim[d];
    r->reduced[r->n++] = gone;
  }
}

static int64_t reduction_span(const runs *r, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; i++) n *= r->size[i];
  return n;
}

static int last_reduced(const runs *r) {
  int i = r->n - 1;
  while (i >= 0 && !r->reduced[i]) i--;
  return i;
}

/* Removes run i, which was just reduced, and merges its two neighbors, which are kept. */
static void drop_run(runs *r, int i) {
  if (i > 0 && i + 1 < r->n) r->size[i - 1] *= r->size[i + 1];
  r->n = i; /* only one kept run came after it */
  if (r->n == 0) {
    r->n = 1;
    r->size[0] = 1;
    r->reduced[0] = false;
  }
}

/* The input is empty, so every result is the neutral element. */
static void fold_nothing(const reduction_kind *kind, const shape *s, uint32_t reduced, void *acc) {
  int64_t n = 1;
  for (int d = 0; d < s->rank; d++) n *= reduced >> d & 1 ? 1 : s->dim[d];
  if (n > 0) kind->first(acc, 1, 0, n, n, acc); /* no row is read */
}

weft_err weft__reduce_axes(kernel *k, const reduction_kind *kind, const weft_tensor *x, uint32_t reduced, void *acc) {
  runs r;
  if (weft__tensor_count(x) == 0) {
    fold_nothing(kind, &x->shape, reduced, acc);
    return WEFT_OK;
  }
  merge_runs(&r, &x->shape, reduced);
  weft_tensor held = {0}; /* the result of the last pass */
  const void *from = x->data;
  weft_dtype type = x->dtype;
  weft_err err = WEFT_OK;
  for (bool first = true, done = false; !done && !err; first = false) {
    const int i = last_reduced(&r);
    const int64_t outer = i < 0 ? 1 : reduction_span(&r, 0, i), reduce = i < 0 ? 1 : r.size[i],
                  inner = reduction_span(&r, i + 1, r.n);
    if (i >= 0) drop_run(&r, i);
    done = last_reduced(&r) < 0;
    weft_tensor next = {0};
    if (!done) err = weft__scratch(k, &next, kind->acc, &SHAPE2(outer, inner));
    pass p = {.x = from, .x_size = weft__dtype_size(type), .outer = outer, .reduce = reduce, .inner = inner};
    p.out = done ? acc : next.data;
    if (!err) err = reduce_run(k, kind, first, p);
    weft__tensor_clear(&held);
    held = next;
    from = held.data;
    type = kind->acc;
  }
  weft__tensor_clear(&held);
  return err;
}
