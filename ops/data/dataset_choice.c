/* dataset_choice.c - data sets that sample elements, delay them or keep them by their last component; data sets of a
 * list of tensors and of file names. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/philox.h"
#include "base/text.h"
#include "io/confine.h"
#include "io/file.h"
#include "ops/data/dataset.h"
#include <string.h>

/* ---- at random ---- */

typedef struct sampling {
  dataset base;
  float rate;
  uint64_t seed, seed2;
} sampling;

typedef struct sampling_at {
  walk base;
  philox_reader random;
} sampling_at;

static weft_err sampling_begin(iterator *it) {
  const sampling *s = (sampling *)it->set;
  uint64_t seed[2] = {s->seed, s->seed2};
  if (!seed[0] && !seed[1]) WEFT_TRY(weft__dataset_pass_seeds(it->pass, seed));
  ((sampling_at *)it)->random = weft__philox_reader(weft__philox(seed[0], seed[1]));
  return weft__dataset_walk_begin(it);
}

static weft_err sampling_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  sampling_at *at = (sampling_at *)it;
  for (;;) {
    WEFT_TRY(weft__step_check_time(st));
    WEFT_TRY(weft__iterator_next(at->base.from, st, out, end));
    if (*end || weft__philox_to_float(weft__philox_word(&at->random)) < ((sampling *)it->set)->rate) return WEFT_OK;
    weft__components_clear(out, it->set->n_part);
  }
}

static const dataset_kind sampling_kind = {"Sampling",
                                           sizeof(sampling),
                                           sizeof(sampling_at),
                                           .begin = sampling_begin,
                                           .next = sampling_next,
                                           .finish = weft__dataset_walk_finish,
                                           .passes = true};

static weft_err sampling_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t seed, seed2;
  WEFT_TRY(weft__kernel_scalar(k, 1, "rate"));
  WEFT_TRY(weft__dataset_int(k, 2, "seed", &seed));
  WEFT_TRY(weft__dataset_int(k, 3, "seed2", &seed2));
  WEFT_TRY(weft__dataset_of(k, &sampling_kind, 1, &d));
  sampling *s = (sampling *)d;
  s->rate = TENSOR_DATA(k->in[1], float)[0];
  s->seed = (uint64_t)seed, s->seed2 = (uint64_t)seed2;
  return weft__dataset_out(k, d, WEFT_OK);
}

/* ---- after a pause ---- */

typedef struct pause {
  dataset base;
  int64_t microseconds;
} pause;

/* Sleeps in short slices, so that canceling the step ends the wait early. */
static weft_err wait_until(const step *st, int64_t end_ns) {
  enum { SLICE_NS = 10000000 };
  for (int64_t left; (left = end_ns - weft__clock_now_ns()) > 0;) {
    WEFT_TRY(weft__step_check(st));
    nanosleep(&(struct timespec){.tv_nsec = left < SLICE_NS ? left : SLICE_NS}, NULL);
  }
  return WEFT_OK;
}

static weft_err pause_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  WEFT_TRY(wait_until(st, weft__clock_now_ns() + ((pause *)it->set)->microseconds * 1000));
  return weft__iterator_next(((walk *)it)->from, st, out, end);
}

static const dataset_kind pause_kind = {"Sleep",
                                        sizeof(pause),
                                        sizeof(walk),
                                        .begin = weft__dataset_walk_begin,
                                        .next = pause_next,
                                        .finish = weft__dataset_walk_finish,
                                        .count = weft__dataset_count_of_input,
                                        .passes = true};

static weft_err pause_cpu(kernel *k) {
  dataset *d = NULL;
  int64_t microseconds;
  WEFT_TRY(weft__dataset_int(k, 1, "sleep_microseconds", &microseconds));
  if (microseconds < 0 || microseconds > INT64_MAX / 4000)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "sleep_microseconds must not be negative or huge, but is %lld",
                             (long long)microseconds);
  WEFT_TRY(weft__dataset_of(k, &pause_kind, 1, &d));
  ((pause *)d)->microseconds = microseconds;
  return weft__dataset_out(k, d, WEFT_OK);
}

/* ---- by the last component ---- */

static weft_err last_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  walk *w = (walk *)it;
  const int n = it->set->n_part;
  for (bool yes = false; !yes;) {
    WEFT_TRY(weft__step_check_time(st));
    WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
    if (*end) return WEFT_OK;
    const weft_tensor *last = &w->got[n];
    if (weft__tensor_count(last) != 1) {
      weft__components_clear(w->got, n + 1);
      return weft__fail(WEFT_INVALID_ARGUMENT, "the last component of an element must be a scalar of bool");
    }
    yes = TENSOR_DATA(last, bool)[0];
    if (yes) weft__components_share(out, w->got, n);
    weft__components_clear(w->got, n + 1);
  }
  return WEFT_OK;
}

static const dataset_kind last_kind = {
    "FilterByLastComponent",           sizeof(dataset),   sizeof(walk),
    .begin = weft__dataset_walk_begin, .next = last_next, .finish = weft__dataset_walk_finish};

static weft_err last_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &last_kind, 1, &d));
  const dataset *in = d->input[0];
  const bool fits = in->n_part == d->n_part + 1 && in->type[d->n_part] == WEFT_BOOL;
  return weft__dataset_out(k, d,
                           fits ? WEFT_OK
                                : weft__fail(WEFT_INVALID_ARGUMENT,
                                             "the last component of the input must be of type bool, and output_types "
                                             "must name the %d others",
                                             in->n_part - 1));
}

/* ---- the elements of a list ---- */

typedef struct list {
  dataset base;
  weft_tensor *t;
  int n; /* number of tensors: a multiple of the components of an element */
} list;

typedef struct list_at {
  iterator base;
  int next;
} list_at;

static void list_destroy(dataset *d) { weft__components_free(((list *)d)->t, ((list *)d)->n); }
static int64_t list_count(const dataset *d) { return ((const list *)d)->n / d->n_part; }

static weft_err list_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  list_at *at = (list_at *)it;
  const list *l = (list *)it->set;
  *end = at->next >= l->n;
  if (*end) return WEFT_OK;
  weft__components_share(out, l->t + at->next, it->set->n_part);
  at->next += it->set->n_part;
  return WEFT_OK;
}

static const dataset_kind list_kind = {
    "List", sizeof(list), sizeof(list_at), .destroy = list_destroy, .next = list_next, .count = list_count};

static weft_err list_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &list_kind, 0, &d));
  list *l = (list *)d;
  const int n = k->n_in - k->n_in % d->n_part;
  weft_err err = (l->t = weft__components_alloc(n)) ? WEFT_OK : WEFT_OOM;
  for (; l->n < n && !err; l->n++) err = weft__tensor_keep(&l->t[l->n], k->in[l->n]);
  return weft__dataset_out(k, d, err);
}

/* ---- names of files ---- */

typedef struct files_at {
  iterator base;
  path_list found;
  int64_t pattern; /* the next pattern */
  int next;
  bool any;
} files_at;

static void files_finish(iterator *it) { weft__path_list_finish(&((files_at *)it)->found); }

/* Finds the files of the next pattern. */
static weft_err next_pattern(files_at *at, const list *l) {
  const str *pattern = &TENSOR_DATA(&l->t[0], str)[at->pattern++];
  /* for a pattern without a folder, TensorFlow's names begin with "./" */
  const bool here = !pattern->size || !memchr(pattern->data, '/', pattern->size);
  char *p = weft__sprintf("%s%.*s", here ? "./" : "", weft__int_sat(pattern->size), pattern->size ? pattern->data : "");
  if (!p) return WEFT_OOM;
  weft__path_list_finish(&at->found);
  at->found = (path_list){0};
  at->next = 0;
  const weft_err err = weft__file_match(p, &at->found);
  weft__free(p);
  return err;
}

static weft_err files_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  (void)st;
  files_at *at = (files_at *)it;
  const list *l = (list *)it->set;
  for (;;) {
    while (at->next >= at->found.n) {
      if (at->pattern >= weft__tensor_count(&l->t[0])) {
        *end = true;
        return at->any || !at->pattern ? WEFT_OK : weft__fail(WEFT_NOT_FOUND, "Don't find any matched files");
      }
      WEFT_TRY(next_pattern(at, l));
    }
    const char *path = at->found.path[at->next++];
    if (weft__path_allowed(path) != WEFT_OK) continue;
    at->any = true;
    WEFT_TRY(weft__tensor_init(out, WEFT_STRING, &SHAPE_SCALAR));
    return weft__str_set(&TENSOR_DATA(out, str)[0], path, strlen(path));
  }
}

static const dataset_kind files_kind = {"MatchingFiles",         sizeof(list),       sizeof(files_at),
                                        .destroy = list_destroy, .next = files_next, .finish = files_finish};

static weft_err files_cpu(kernel *k) {
  dataset *d = NULL;
  if (k->in[0]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "`patterns` must be a scalar or a vector.");
  WEFT_TRY(weft__dataset_of(k, &files_kind, 0, &d));
  list *l = (list *)d;
  weft_err err = (l->t = weft__components_alloc(1)) ? weft__tensor_keep(&l->t[0], k->in[0]) : WEFT_OOM;
  l->n = l->t != NULL;
  return weft__dataset_out(k, d, err);
}

#define ROW(DEF, DOC, FN)                                                                                              \
  { DEF, DOC, DATASET_FLAGS, .cpu = FN }
#define PAUSE "(input_dataset:variant, sleep_microseconds:int64) -> (handle:variant) | " OUTPUTS

OPS(dataset_choice) = {
    ROW("SamplingDataset(input_dataset:variant, rate:float, seed:int64, seed2:int64) -> (handle:variant) | " OUTPUTS,
        "Elements taken at random.", sampling_cpu),
    ROW("SleepDataset" PAUSE, "Each element after a pause.", pause_cpu),
    ROW("ExperimentalSleepDataset" PAUSE, "Each element after a pause.", pause_cpu),
    ROW("FilterByLastComponentDataset(input_dataset:variant) -> (output:variant) | " OUTPUTS,
        "The elements whose last component is true, without it.", last_cpu),
    ROW("ListDataset(tensors:@Tinput_types) -> (handle:variant) | Tinput_types:list(type)>=1 " OUTPUTS METADATA
        " ; stateful",
        "The elements of a list.", list_cpu),
    ROW("MatchingFilesDataset(patterns:string) -> (handle:variant) ; stateful", "The files that match patterns.",
        files_cpu),
    ROW("ExperimentalMatchingFilesDataset(patterns:string) -> (handle:variant) ; stateful",
        "The files that match patterns.", files_cpu),
    {.scenario = "tests/python/test_data_ops.py"},
};
