/* dataset_flat.c - flat_map and interleave: they concatenate or interleave the data sets that a function returns.
 *
 * Flat_map is an interleave with cycle_length 1.  TensorFlow's parallel ops keep the order of the plain op unless
 * they are sloppy.  Here they are the plain op, over inputs that a parallel map computes ahead. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

typedef struct interleave {
  dataset base;
  captured f;
  int64_t cycle, block;
} interleave;

typedef struct interleave_at {
  walk base;
  iterator **open; /* the open iterators, `cycle` of them */
  int64_t at, taken, n_open;
  bool input_over;
} interleave_at;

static void interleave_destroy(dataset *d) { weft__captured_finish(&((interleave *)d)->f); }

static weft_err interleave_begin(iterator *it) {
  const interleave *s = (interleave *)it->set;
  interleave_at *i = (interleave_at *)it;
  if (!(i->open = weft__alloc_zero((size_t)s->cycle, sizeof *i->open))) return WEFT_OOM;
  return weft__dataset_walk_begin(it);
}

static void interleave_finish(iterator *it) {
  interleave_at *i = (interleave_at *)it;
  for (int64_t j = 0; i->open && j < ((interleave *)it->set)->cycle; j++) weft__iterator_destroy(i->open[j]);
  weft__free(i->open);
  weft__dataset_walk_finish(it);
}

/* Opens the data set that the function returns for the element in w->got. */
static weft_err open_one(iterator *it, const step *st, iterator **out) {
  walk *w = (walk *)it;
  weft_tensor made = {0};
  dataset *d = NULL;
  int n = it->set->input[0]->n_part;
  weft_err err = weft__captured_call(&((interleave *)it->set)->f, it->pass, st, w->got, n, &made, 1);
  weft__components_clear(w->got, n);
  if (!err) err = weft__dataset_get(&made, &d);
  if (!err && d->n_part != it->set->n_part)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "the function's data set has elements of %d tensors, not %d", d->n_part,
                     it->set->n_part);
  if (!err) err = weft__iterator_create(out, d, it->pass);
  weft__tensor_clear(&made);
  return err;
}

static void dataset_flat_advance(interleave_at *i, int64_t cycle) {
  i->at = (i->at + 1) % cycle;
  i->taken = 0;
}

static weft_err dataset_flat_open_next(iterator *it, const step *st) {
  interleave_at *i = (interleave_at *)it;
  bool end = false;
  WEFT_TRY(weft__iterator_next(i->base.from, st, i->base.got, &end));
  i->input_over = end;
  if (end) return WEFT_OK;
  WEFT_TRY(open_one(it, st, &i->open[i->at]));
  i->n_open++;
  return WEFT_OK;
}

static weft_err interleave_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const interleave *s = (interleave *)it->set;
  interleave_at *i = (interleave_at *)it;
  while (!i->input_over || i->n_open > 0) {
    bool over = false;
    if (!i->open[i->at] && !i->input_over) {
      WEFT_TRY(dataset_flat_open_next(it, st));
      continue;
    }
    if (!i->open[i->at]) {
      dataset_flat_advance(i, s->cycle);
      continue;
    }
    WEFT_TRY(weft__iterator_next(i->open[i->at], st, out, &over));
    if (!over) {
      if (++i->taken == s->block) dataset_flat_advance(i, s->cycle);
      return WEFT_OK;
    }
    weft__iterator_destroy(i->open[i->at]);
    i->open[i->at] = NULL;
    i->n_open--;
    dataset_flat_advance(i, s->cycle);
  }
  *end = true;
  return WEFT_OK;
}

static const dataset_kind interleave_kind = {"Interleave",
                                             sizeof(interleave),
                                             sizeof(interleave_at),
                                             .destroy = interleave_destroy,
                                             .begin = interleave_begin,
                                             .next = interleave_next,
                                             .finish = interleave_finish};

static weft_err dataset_flat_make(kernel *k, int64_t cycle, int64_t block) {
  dataset *d = NULL;
  if (cycle == -1) cycle = k->step->inter ? weft__pool_threads(k->step->inter) : 1;
  if (cycle < 1 || cycle > 1 << 20)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "cycle_length must be greater than zero.");
  if (block < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "block_length must be greater than zero.");
  WEFT_TRY(weft__dataset_of(k, &interleave_kind, 1, &d));
  interleave *s = (interleave *)d;
  s->cycle = cycle, s->block = block;
  return weft__dataset_out(k, d, weft__dataset_capture_f(k, &s->f));
}

/* Checks cycle_length and num_parallel_calls, on which the order of the elements does not depend; -1 lets TensorFlow
 * choose. */
static weft_err check_calls(const kernel *k, int64_t cycle) {
  int64_t calls;
  int at, count;
  if (cycle < -1 || cycle == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is %lld",
                             (long long)cycle);
  WEFT_TRY(weft__node_in_range(k->node, "num_parallel_calls", &at, &count));
  WEFT_TRY(weft__dataset_int(k, at, "num_parallel_calls", &calls));
  if (calls != -1 && calls < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_parallel_calls must be greater than zero.");
  if (cycle < 0 || calls <= cycle) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
                           "`tf.data.AUTOTUNE` or a value less than or equal to `cycle_length`. However, "
                           "`num_parallel_calls` is %lld and `cycle_length` is %lld",
                           (long long)calls, (long long)cycle);
}

static weft_err flat_cpu(kernel *k) { return dataset_flat_make(k, 1, INT64_MAX); }

static weft_err interleave_cpu(kernel *k) {
  int64_t cycle, block;
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, "cycle_length", &first, &count));
  WEFT_TRY(weft__dataset_int(k, first, "cycle_length", &cycle));
  WEFT_TRY(weft__dataset_int(k, first + 1, "block_length", &block));
  return dataset_flat_make(k, cycle, block);
}

static weft_err interleave_calls_cpu(kernel *k) {
  int64_t cycle;
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, "cycle_length", &first, &count));
  WEFT_TRY(weft__dataset_int(k, first, "cycle_length", &cycle));
  WEFT_TRY(check_calls(k, cycle));
  return interleave_cpu(k);
}

#define ROW(NAME, ARGS, ATTRS, DOC, FN)                                                                                \
  {                                                                                                                    \
    NAME "(input_dataset:variant, other_arguments:@Targuments" ARGS ") -> (handle:variant) | " ATTRS, DOC,             \
        DATASET_FLAGS, .cpu = FN, .prepare = weft__dataset_prepare_f, .unprepare = weft__dataset_unprepare             \
  }
#define F "f:func Targuments:list(type)>=0 " OUTPUTS
#define F_ORDER "f:func deterministic:string='default' Targuments:list(type)>=0 " OUTPUTS METADATA
#define CYCLE ", cycle_length:int64, block_length:int64"
#define TURNS "Elements of some data sets in turns."

OPS(dataset_flat) = {
    ROW("FlatMapDataset", "", F METADATA, "The elements of the data sets that a function makes.", flat_cpu),
    ROW("InterleaveDataset", CYCLE, F METADATA, TURNS, interleave_cpu),
    ROW("ParallelInterleaveDataset", CYCLE ", sloppy:bool, buffer_output_elements:int64, prefetch_input_elements:int64",
        F METADATA, TURNS, interleave_cpu),
    ROW("ExperimentalParallelInterleaveDataset",
        CYCLE ", sloppy:bool, buffer_output_elements:int64, prefetch_input_elements:int64", F, TURNS, interleave_cpu),
    ROW("LegacyParallelInterleaveDatasetV2", CYCLE ", buffer_output_elements:int64, prefetch_input_elements:int64",
        F_ORDER, TURNS, interleave_cpu),
    ROW("ParallelInterleaveDatasetV2", CYCLE ", num_parallel_calls:int64", F " sloppy:bool=false" METADATA, TURNS,
        interleave_calls_cpu),
    ROW("ParallelInterleaveDatasetV3", CYCLE ", num_parallel_calls:int64", F_ORDER, TURNS, interleave_calls_cpu),
    ROW("ParallelInterleaveDatasetV4",
        CYCLE ", buffer_output_elements:int64, prefetch_input_elements:int64, num_parallel_calls:int64", F_ORDER, TURNS,
        interleave_calls_cpu),
    {.scenario = "tests/parity/test_data.py"},
};
