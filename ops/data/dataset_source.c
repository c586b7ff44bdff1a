/* dataset_source.c - data sets from tensors, ranges and generator functions. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

/* ---- tensors: one element, or one for each row ---- */

typedef struct tensors {
  dataset base;
  weft_tensor *part;
  int64_t rows;
} tensors;

typedef struct tensors_at {
  iterator base;
  int64_t next;
} tensors_at;

static void tensors_destroy(dataset *d) {
  tensors *t = (tensors *)d;
  weft__components_free(t->part, d->n_part);
}

static weft_err whole_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  const tensors *t = (tensors *)it->set;
  tensors_at *at = (tensors_at *)it;
  *end = at->next > 0;
  if (!*end) weft__components_share(out, t->part, it->set->n_part);
  at->next = 1;
  return WEFT_OK;
}

/* Makes *out a view of row i. */
static void dataset_source_row(weft_tensor *out, const weft_tensor *t, int64_t i) {
  weft__tensor_share(out, t);
  out->shape.rank--;
  memmove(out->shape.dim, out->shape.dim + 1, sizeof *out->shape.dim * (size_t)out->shape.rank);
  out->data = (char *)t->data + (size_t)i * weft__tensor_bytes(out);
}

static weft_err rows_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  const tensors *t = (tensors *)it->set;
  tensors_at *at = (tensors_at *)it;
  *end = at->next >= t->rows;
  if (*end) return WEFT_OK;
  for (int i = 0; i < it->set->n_part; i++) dataset_source_row(&out[i], &t->part[i], at->next);
  at->next++;
  return WEFT_OK;
}

static int64_t whole_count(const dataset *d) {
  (void)d;
  return 1;
}
static int64_t rows_count(const dataset *d) { return ((const tensors *)d)->rows; }

static const dataset_kind whole_kind = {"Tensor",           sizeof(tensors),
                                        sizeof(tensors_at), .destroy = tensors_destroy,
                                        .next = whole_next, .count = whole_count};
static const dataset_kind rows_kind = {"TensorSlice",      sizeof(tensors),
                                       sizeof(tensors_at), .destroy = tensors_destroy,
                                       .next = rows_next,  .count = rows_count};

static weft_err keep_parts(kernel *k, tensors *t) {
  if (!(t->part = weft__components_alloc(k->n_in))) return WEFT_OOM;
  for (int i = 0; i < k->n_in; i++) WEFT_TRY(weft__tensor_keep(&t->part[i], k->in[i]));
  return WEFT_OK;
}

static weft_err dataset_source_check_rows(kernel *k, tensors *t) {
  for (int i = 0; i < k->n_in; i++) {
    if (k->in[i]->shape.rank < 1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All components must be at least 1-dimensional");
    if (k->in[i]->shape.dim[0] != k->in[0]->shape.dim[0])
      return weft__fail(WEFT_INVALID_ARGUMENT, "All components must have the same size in the 0th dimension");
    t->rows = k->in[i]->shape.dim[0];
  }
  return WEFT_OK;
}

static weft_err whole_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &whole_kind, 0, &d));
  return weft__dataset_out(k, d, keep_parts(k, (tensors *)d));
}

static weft_err dataset_source_rows_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &rows_kind, 0, &d));
  weft_err err = keep_parts(k, (tensors *)d);
  if (!err) err = dataset_source_check_rows(k, (tensors *)d);
  return weft__dataset_out(k, d, err);
}

/* ---- numbers ---- */

typedef struct range {
  dataset base;
  int64_t start, stop, step;
} range;

typedef struct range_at {
  iterator base;
  int64_t next;
  bool over; /* the next number would overflow */
} range_at;

static weft_err range_begin(iterator *it) {
  ((range_at *)it)->next = ((range *)it->set)->start;
  return WEFT_OK;
}

static weft_err dataset_source_number(weft_tensor *out, weft_dtype type, int64_t v) {
  if (type == WEFT_INT64) {
    WEFT_TRY(weft__tensor_init(out, type, &SHAPE_SCALAR));
    TENSOR_DATA(out, int64_t)[0] = v;
    return WEFT_OK;
  }
  weft_tensor *t = NULL;
  WEFT_TRY(weft__tensor_scalar(&t, type, (double)v));
  weft__tensor_share(out, t);
  weft_tensor_destroy(t);
  return WEFT_OK;
}

static weft_err range_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  const range *r = (range *)it->set;
  range_at *at = (range_at *)it;
  *end = at->over || (r->step > 0 ? at->next >= r->stop : at->next <= r->stop);
  if (*end) return WEFT_OK;
  WEFT_TRY(dataset_source_number(out, it->set->type[0], at->next));
  at->over = __builtin_add_overflow(at->next, r->step, &at->next);
  return WEFT_OK;
}

static int64_t range_count(const dataset *d) {
  const range *r = (const range *)d;
  bool up = r->step > 0;
  if (up ? r->start >= r->stop : r->start <= r->stop) return 0;
  uint64_t span = up ? (uint64_t)r->stop - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)r->stop;
  uint64_t by = up ? (uint64_t)r->step : 0 - (uint64_t)r->step;
  uint64_t n = (span - 1) / by + 1;
  return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static const dataset_kind range_kind = {
    "Range", sizeof(range), sizeof(range_at), .begin = range_begin, .next = range_next, .count = range_count};

static weft_err dataset_source_range_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t start, stop, by;
  WEFT_TRY(weft__dataset_int(k, 0, "start", &start));
  WEFT_TRY(weft__dataset_int(k, 1, "stop", &stop));
  WEFT_TRY(weft__dataset_int(k, 2, "step", &by));
  if (by == 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "step must be a non-zero integer.");
  WEFT_TRY(weft__dataset_of(k, &range_kind, 0, &d));
  range *r = (range *)d;
  r->start = start, r->stop = stop, r->step = by;
  return weft__dataset_out(
      k, d,
      d->n_part == 1
          ? WEFT_OK
          : weft__fail(WEFT_INVALID_ARGUMENT, "a range has elements of one component, output_types has %d", d->n_part));
}

/* ---- generators: functions for init, next and finalize; next runs until it reports the end ---- */

enum { F_INIT, F_NEXT, F_FINALIZE, F_COUNT };
static const char *const f_names[] = {"init_func", "next_func", "finalize_func"};
static const char *const f_args[] = {"init_func_other_args", "next_func_other_args", "finalize_func_other_args"};

typedef struct generator {
  dataset base;
  captured f[F_COUNT];
} generator;

typedef struct generator_at {
  iterator base;
  bool begun, over;
  weft_tensor *state; /* the result of init */
} generator_at;

static void generator_destroy(dataset *d) {
  for (int i = 0; i < F_COUNT; i++) weft__captured_finish(&((generator *)d)->f[i]);
}

static int dataset_source_states(const generator *g) { return g->f[F_INIT].f->n_ret; }

/* Calls finalize.  Its results are discarded and a failure is ignored. */
static void dataset_source_finalize(iterator *it, const step *st) {
  const generator *g = (generator *)it->set;
  generator_at *at = (generator_at *)it;
  int n = g->f[F_FINALIZE].f->n_ret;
  weft_tensor *out = weft__components_alloc(n);
  step calm = *st; /* must run even if the step is canceled */
  calm.cancel = NULL;
  calm.deadline_ns = 0;
  at->over = true;
  if (out) (void)weft__captured_call(&g->f[F_FINALIZE], it->pass, &calm, at->state, dataset_source_states(g), out, n);
  weft__components_free(out, n);
}

static void generator_finish(iterator *it) {
  generator_at *at = (generator_at *)it;
  if (at->begun && !at->over) dataset_source_finalize(it, &it->pass->step);
  weft__components_free(at->state, dataset_source_states((generator *)it->set));
}

static weft_err generator_start(iterator *it, const step *st) {
  const generator *g = (generator *)it->set;
  generator_at *at = (generator_at *)it;
  if (!at->state && !(at->state = weft__components_alloc(dataset_source_states(g)))) return WEFT_OOM;
  WEFT_TRY(weft__captured_call(&g->f[F_INIT], it->pass, st, NULL, 0, at->state, dataset_source_states(g)));
  at->begun = true;
  return WEFT_OK;
}

static weft_err generator_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const generator *g = (generator *)it->set;
  generator_at *at = (generator_at *)it;
  *end = at->over;
  if (at->over) return WEFT_OK;
  if (!at->begun) WEFT_TRY(generator_start(it, st));
  weft_err err =
      weft__captured_call(&g->f[F_NEXT], it->pass, st, at->state, dataset_source_states(g), out, it->set->n_part);
  if (err != WEFT_OUT_OF_RANGE) return err;
  dataset_source_finalize(it, st);
  *end = true;
  return WEFT_OK;
}

static const dataset_kind generator_kind = {"Generator",
                                            sizeof(generator),
                                            sizeof(generator_at),
                                            .destroy = generator_destroy,
                                            .next = generator_next,
                                            .finish = generator_finish};

static void generator_unprepare(void *state) {
  function **f = state;
  for (int i = 0; f && i < F_COUNT; i++) weft__function_release(f[i]);
  weft__free(f);
}

static weft_err generator_prepare(const weft_node *n, void **state) {
  function **f = weft__alloc_zero(F_COUNT, sizeof *f);
  if (!f) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++) err = weft__function_create(&f[i], n, f_names[i], 0);
  if (err)
    generator_unprepare(f);
  else
    *state = f;
  return err;
}

static weft_err generator_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &generator_kind, 0, &d));
  weft_err err = WEFT_OK;
  for (int i = 0; i < F_COUNT && !err; i++)
    err = weft__dataset_capture(k, &((generator *)d)->f[i], ((function **)k->state)[i], f_args[i]);
  return weft__dataset_out(k, d, err);
}

#define PARTS "Toutput_types:list(type)>=1 output_shapes:list(shape)>=1"

OPS(dataset_source) = {
    {"TensorDataset(components:@Toutput_types) -> (handle:variant) | " PARTS METADATA " ; stateful",
     "One element: the tensors.", DATASET_FLAGS, .cpu = whole_cpu},
    {"TensorSliceDataset(components:@Toutput_types) -> (handle:variant) | " PARTS " is_files:bool=false" METADATA
     " replicate_on_split:bool=false ; stateful",
     "The rows of tensors.", DATASET_FLAGS, .cpu = dataset_source_rows_cpu},
    {"RangeDataset(start:int64, stop:int64, step:int64) -> (handle:variant) | " OUTPUTS METADATA
     " replicate_on_split:bool=false ; stateful",
     "Numbers in steps.", DATASET_FLAGS, .cpu = dataset_source_range_cpu},
    {"GeneratorDataset(init_func_other_args:@Tinit_func_args, next_func_other_args:@Tnext_func_args, "
     "finalize_func_other_args:@Tfinalize_func_args) -> (handle:variant) | init_func:func next_func:func "
     "finalize_func:func Tinit_func_args:list(type)>=0 Tnext_func_args:list(type)>=0 "
     "Tfinalize_func_args:list(type)>=0 " OUTPUTS METADATA " ; stateful",
     "What a function gives until it ends the sequence.", DATASET_FLAGS, .cpu = generator_cpu,
     .prepare = generator_prepare, .unprepare = generator_unprepare},
    {.scenario = "tests/parity/test_data.py"},
};
