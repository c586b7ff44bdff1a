/* dataset_map.c - data sets that call a function for each element: map, filter, take_while, scan, reduce. */
#include "base/alloc.h"
#include "ops/data/dataset.h"

typedef struct mapped {
  dataset base;
  captured f;
  bool keeps_cardinality;
} mapped;

static void mapped_destroy(dataset *d) { weft__captured_finish(&((mapped *)d)->f); }

weft_err weft__dataset_map_ended(weft_err err, bool keeps_cardinality, bool *end) {
  if (err != WEFT_OUT_OF_RANGE) return err;
  if (keeps_cardinality)
    return weft__fail_again(WEFT_INVALID_ARGUMENT, "Function invocation produced OutOfRangeError: %s",
                            weft__error_message());
  *end = true;
  return WEFT_OK;
}

/* ---- map ---- */

static weft_err map_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  walk *w = (walk *)it;
  const mapped *m = (mapped *)it->set;
  int n = it->set->input[0]->n_part;
  WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
  if (*end) return WEFT_OK;
  weft_err err = weft__captured_call(&m->f, it->pass, st, w->got, n, out, it->set->n_part);
  weft__components_clear(w->got, n);
  return weft__dataset_map_ended(err, m->keeps_cardinality, end);
}

static int64_t map_count(const dataset *d) {
  return ((const mapped *)d)->keeps_cardinality ? weft__dataset_count_of_input(d) : DATASET_UNKNOWN;
}

static const dataset_kind map_kind = {"Map",
                                      sizeof(mapped),
                                      sizeof(walk),
                                      .destroy = mapped_destroy,
                                      .begin = weft__dataset_walk_begin,
                                      .next = map_next,
                                      .count = map_count,
                                      .finish = weft__dataset_walk_finish};

static weft_err dataset_map_make(kernel *k, const dataset_kind *kind) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, kind, 1, &d));
  ((mapped *)d)->keeps_cardinality = weft__node_bool(k->node, "preserve_cardinality", false);
  return weft__dataset_out(k, d, weft__dataset_capture_f(k, &((mapped *)d)->f));
}

static weft_err dataset_map_cpu(kernel *k) { return dataset_map_make(k, &map_kind); }

/* ---- filter, take while ---- */

static weft_err dataset_map_ask(iterator *it, const step *st, bool *yes) {
  walk *w = (walk *)it;
  weft_tensor answer = {0};
  WEFT_TRY(weft__captured_call(&((mapped *)it->set)->f, it->pass, st, w->got, it->set->n_part, &answer, 1));
  bool fits = answer.dtype == WEFT_BOOL && weft__tensor_count(&answer) == 1;
  *yes = fits && TENSOR_DATA(&answer, bool)[0];
  weft__tensor_clear(&answer);
  return fits ? WEFT_OK : weft__fail(WEFT_INVALID_ARGUMENT, "Predicate function must return a scalar bool.");
}

static weft_err filter_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  walk *w = (walk *)it;
  int n = it->set->n_part;
  for (bool yes = false;;) {
    WEFT_TRY(weft__step_check(st));
    WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
    if (*end) return WEFT_OK;
    weft_err err = dataset_map_ask(it, st, &yes);
    if (yes && !err) weft__components_share(out, w->got, n);
    weft__components_clear(w->got, n);
    if (yes || err) return weft__dataset_map_ended(err, false, end);
  }
}

typedef struct until {
  walk base;
  bool over;
} until;

static weft_err while_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  until *u = (until *)it;
  walk *w = &u->base;
  bool yes = false;
  *end = u->over;
  if (u->over) return WEFT_OK;
  WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
  if (*end) return WEFT_OK;
  weft_err err = dataset_map_ask(it, st, &yes);
  if (yes && !err) weft__components_share(out, w->got, it->set->n_part);
  weft__components_clear(w->got, it->set->n_part);
  u->over = *end = !err && !yes;
  return err;
}

static const dataset_kind filter_kind = {"Filter",
                                         sizeof(mapped),
                                         sizeof(walk),
                                         .destroy = mapped_destroy,
                                         .begin = weft__dataset_walk_begin,
                                         .next = filter_next,
                                         .finish = weft__dataset_walk_finish,
                                         .passes = true};
static const dataset_kind while_kind = {"TakeWhile",
                                        sizeof(mapped),
                                        sizeof(until),
                                        .destroy = mapped_destroy,
                                        .begin = weft__dataset_walk_begin,
                                        .next = while_next,
                                        .finish = weft__dataset_walk_finish,
                                        .passes = true};

static weft_err filter_cpu(kernel *k) { return dataset_map_make(k, &filter_kind); }
static weft_err while_cpu(kernel *k) { return dataset_map_make(k, &while_kind); }

/* ---- scan: a state passes from element to element ---- */

typedef struct scan {
  mapped base;
  int n_state;
  weft_tensor *initial;
} scan;

typedef struct scan_at {
  walk base;
  weft_tensor *state, *all; /* all: the arguments, followed by the results */
} scan_at;

static void scan_destroy(dataset *d) {
  weft__components_free(((scan *)d)->initial, ((scan *)d)->n_state);
  mapped_destroy(d);
}

static int scan_width(const dataset *d) {
  int n = ((scan *)d)->n_state, in = d->input[0]->n_part;
  return n + (in > d->n_part ? in : d->n_part);
}

static weft_err scan_begin(iterator *it) {
  scan_at *at = (scan_at *)it;
  const scan *s = (scan *)it->set;
  at->state = weft__components_alloc(s->n_state);
  at->all = weft__components_alloc(scan_width(it->set));
  if (!at->state || !at->all) return WEFT_OOM;
  weft__components_share(at->state, s->initial, s->n_state);
  return weft__dataset_walk_begin(it);
}

static void scan_finish(iterator *it) {
  scan_at *at = (scan_at *)it;
  weft__components_free(at->state, ((scan *)it->set)->n_state);
  weft__components_free(at->all, scan_width(it->set));
  weft__dataset_walk_finish(it);
}

static weft_err scan_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  scan_at *at = (scan_at *)it;
  const scan *s = (scan *)it->set;
  walk *w = &at->base;
  int n = s->n_state, in = it->set->input[0]->n_part, width = scan_width(it->set);
  WEFT_TRY(weft__iterator_next(w->from, st, w->got, end));
  if (*end) return WEFT_OK;
  weft_tensor *arg = weft__components_alloc(n + in);
  if (!arg) return WEFT_OOM;
  weft__components_share(arg, at->state, n);
  weft__components_move(arg + n, w->got, in);
  weft_err err = weft__captured_call(&s->base.f, it->pass, st, arg, n + in, at->all, n + it->set->n_part);
  weft__components_free(arg, n + in);
  if (!err) {
    weft__components_clear(at->state, n);
    weft__components_move(at->state, at->all, n);
    weft__components_move(out, at->all + n, it->set->n_part);
  }
  weft__components_clear(at->all, width);
  return weft__dataset_map_ended(err, s->base.keeps_cardinality, end);
}

static const dataset_kind scan_kind = {"Scan",
                                       sizeof(scan),
                                       sizeof(scan_at),
                                       .destroy = scan_destroy,
                                       .begin = scan_begin,
                                       .next = scan_next,
                                       .count = map_count,
                                       .finish = scan_finish};

static weft_err keep_initial(kernel *k, scan *s) {
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, "initial_state", &first, &count));
  if (!(s->initial = weft__components_alloc(count))) return WEFT_OOM;
  for (; s->n_state < count; s->n_state++)
    WEFT_TRY(weft__tensor_keep(&s->initial[s->n_state], k->in[first + s->n_state]));
  return weft__dataset_capture_f(k, &s->base.f);
}

static weft_err scan_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &scan_kind, 1, &d));
  ((scan *)d)->base.keeps_cardinality = weft__node_bool(k->node, "preserve_cardinality", false);
  return weft__dataset_out(k, d, keep_initial(k, (scan *)d));
}

/* ---- reduce: all elements into one value ---- */

typedef struct reduction {
  kernel *k;
  dataset_pass pass;
  iterator *at;
  captured f;
  int n_state, n_part;
  weft_tensor *arg, *ret; /* arg: the state, followed by an element */
} reduction;

static weft_err reduce_all(reduction *r) {
  for (bool end = false;;) {
    WEFT_TRY(weft__iterator_next(r->at, r->k->step, r->arg + r->n_state, &end));
    if (end) return WEFT_OK;
    WEFT_TRY(weft__captured_call(&r->f, &r->pass, r->k->step, r->arg, r->n_state + r->n_part, r->ret, r->n_state));
    weft__components_clear(r->arg, r->n_state + r->n_part);
    weft__components_move(r->arg, r->ret, r->n_state);
  }
}

/* Returns the final state if it agrees with output_types and output_shapes. */
static weft_err give_state(const reduction *r) {
  kernel *k = r->k;
  if (k->n_out != r->n_state)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Number of components does not match: expected %d types but got %d.",
                      k->n_out, r->n_state);
  for (int i = 0; i < k->n_out; i++) {
    const weft_tensor *t = &r->arg[i];
    const shape *want = &k->node->out_shape[i];
    if (t->dtype != k->node->out_type[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Data type mismatch at component %d: expected %s but got %s.", i,
                        weft__dtype_short(k->node->out_type[i]), weft__dtype_short(t->dtype));
    if (!weft__shape_compatible(want, &t->shape))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Incompatible shapes at component %d: expected %s but got %s.", i,
                        weft__shape_text(want), weft__shape_text(&t->shape));
    WEFT_TRY(weft__out_share(k, i, t));
  }
  return WEFT_OK;
}

static weft_err reduce_begun(reduction *r, dataset *d, int first) {
  kernel *k = r->k;
  r->arg = weft__components_alloc(r->n_state + r->n_part);
  r->ret = weft__components_alloc(r->n_state);
  if (!r->arg || !r->ret) return WEFT_OOM;
  WEFT_TRY(weft__dataset_capture_f(k, &r->f));
  for (int i = 0; i < r->n_state; i++) WEFT_TRY(weft__tensor_keep(&r->arg[i], k->in[first + i]));
  WEFT_TRY(weft__iterator_create(&r->at, d, &r->pass));
  WEFT_TRY(reduce_all(r));
  return give_state(r);
}

static weft_err dataset_map_reduce_cpu(kernel *k) {
  dataset *d = NULL;
  reduction r = {.k = k};
  int first;
  WEFT_TRY(weft__kernel_in(k, weft__dataset_get(k->in[0], &d)));
  WEFT_TRY(weft__node_in_range(k->node, "initial_state", &first, &r.n_state));
  r.n_part = d->n_part;
  WEFT_TRY(weft__dataset_pass_init(&r.pass, k->step));
  weft_err err = reduce_begun(&r, d, first);
  weft__iterator_destroy(r.at);
  weft__components_free(r.arg, r.n_state + r.n_part);
  weft__components_free(r.ret, r.n_state);
  weft__captured_finish(&r.f);
  weft__dataset_pass_finish(&r.pass);
  return weft__kernel_in(k, err);
}

#define F_ARGS "(input_dataset:variant, other_arguments:@Targuments) -> (handle:variant) | "
#define PREDICATE "predicate:func Targuments:list(type)>=0 " OUTPUTS
#define MAP                                                                                                            \
  "f:func Targuments:list(type)>=0 " OUTPUTS " use_inter_op_parallelism:bool=true preserve_cardinality:bool=false"
#define SCAN_ARGS                                                                                                      \
  "(input_dataset:variant, initial_state:@Tstate, other_arguments:@Targuments) -> (handle:variant) | f:func "          \
  "Tstate:list(type)>=1 Targuments:list(type)>=0 " OUTPUTS " preserve_cardinality:bool=false"
#define WITH_F .prepare = weft__dataset_prepare_f, .unprepare = weft__dataset_unprepare
#define WITH_PREDICATE .prepare = weft__dataset_prepare_predicate, .unprepare = weft__dataset_unprepare

OPS(dataset_map) = {
    {"MapDataset" F_ARGS MAP METADATA, "What a function makes of each element.", DATASET_FLAGS, .cpu = dataset_map_cpu,
     WITH_F},
    {"ExperimentalMapDataset" F_ARGS MAP, "What a function makes of each element.", DATASET_FLAGS,
     .cpu = dataset_map_cpu, WITH_F},
    {"ParallelFilterDataset(input_dataset:variant, other_arguments:@Targuments, num_parallel_calls:int64) -> "
     "(handle:variant) | predicate:func deterministic:string='default' Targuments:list(type)>=0 " OUTPUTS METADATA,
     "The elements that a function accepts.", DATASET_FLAGS, .cpu = filter_cpu, WITH_PREDICATE},
    {"FilterDataset" F_ARGS PREDICATE METADATA, "The elements that a function accepts.", DATASET_FLAGS,
     .cpu = filter_cpu, WITH_PREDICATE},
    {"TakeWhileDataset" F_ARGS PREDICATE METADATA, "The elements before the first that a function refuses.",
     DATASET_FLAGS, .cpu = while_cpu, WITH_PREDICATE},
    {"ExperimentalTakeWhileDataset" F_ARGS PREDICATE, "The elements before the first that a function refuses.",
     DATASET_FLAGS, .cpu = while_cpu, WITH_PREDICATE},
    {"ExperimentalScanDataset" SCAN_ARGS, "What a function makes of each element and of what it made before.",
     DATASET_FLAGS, .cpu = scan_cpu, WITH_F},
    {"ScanDataset" SCAN_ARGS " use_default_device:bool=true" METADATA,
     "What a function makes of each element and of what it made before.", DATASET_FLAGS, .cpu = scan_cpu, WITH_F},
    {"ReduceDataset(input_dataset:variant, initial_state:@Tstate, other_arguments:@Targuments) -> "
     "(components:@output_types) | f:func Tstate:list(type)>=1 Targuments:list(type)>=0 " OUTPUTS
     " use_inter_op_parallelism:bool=true" METADATA " ; stateful",
     "What a function makes of all elements, one after the other.", .flags = OP_BLOCKING,
     .infer = weft__infer_output_shapes, .cpu = dataset_map_reduce_cpu, .no_grad = true, WITH_F},
    {.scenario = "tests/parity/test_data.py"},
};
