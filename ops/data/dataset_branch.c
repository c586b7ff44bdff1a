/* dataset_branch.c - ChooseFastestBranchDataset: functions that make equal data sets of one input are timed, and the
 * fastest one makes the rest.
 *
 * The functions take turns: each makes num_elements_per_branch elements, of at most as many elements of the input as
 * the ratio says.  All read the input where the one before stopped.  `feed` is that input.  A function may keep the
 * data set that it was given, for example in an iterator's resource; so the feed is reference-counted, and closed with
 * its iterator.  Its lock, a leaf, guards its fields; an element is computed without it, by one thread at a time. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "ops/data/dataset.h"

/* ---- the shared input ---- */

typedef struct feed {
  object base;
  pthread_mutex_t lock;
  pthread_cond_t idle;
  iterator *input; /* NULL: closed */
  bool busy;
} feed;

static void feed_destroy(object *o) {
  feed *f = (feed *)o;
  pthread_cond_destroy(&f->idle);
  pthread_mutex_destroy(&f->lock);
  weft__free(f);
}

static weft_err feed_create(feed **out) {
  feed *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  atomic_init(&f->base.refs, 1);
  f->base.destroy = feed_destroy;
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->idle, NULL);
  *out = f;
  return WEFT_OK;
}

static weft_err feed_next(feed *f, const step *st, weft_tensor *out, bool *end) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&f->lock);
  while (f->busy && !err) err = weft__step_wait(st, &f->idle, &f->lock);
  iterator *input = err ? NULL : f->input;
  f->busy = f->busy || input;
  pthread_mutex_unlock(&f->lock);
  if (err) return err;
  if (!input) return weft__fail(WEFT_FAILED_PRECONDITION, "the input of ChooseFastestBranchDataset has been closed");
  err = weft__iterator_next(input, st, out, end);
  pthread_mutex_lock(&f->lock);
  f->busy = false;
  pthread_cond_broadcast(&f->idle);
  pthread_mutex_unlock(&f->lock);
  return err;
}

static void feed_close(feed *f) {
  if (!f) return;
  pthread_mutex_lock(&f->lock);
  while (f->busy) pthread_cond_wait(&f->idle, &f->lock);
  iterator *input = f->input;
  f->input = NULL;
  pthread_mutex_unlock(&f->lock);
  weft__iterator_destroy(input);
  weft__object_release(&f->base);
}

/* ---- the data set that a function gets ---- */

typedef struct wrapper {
  dataset base;
  feed *feed;
  int64_t limit; /* elements; < 0: all */
  atomic_bool used;
} wrapper;

typedef struct wrapper_at {
  iterator base;
  int64_t taken;
} wrapper_at;

static void wrapper_destroy(dataset *d) {
  feed *f = ((wrapper *)d)->feed;
  weft__object_release(f ? &f->base : NULL);
}

static weft_err wrapper_begin(iterator *it) {
  if (!atomic_exchange(&((wrapper *)it->set)->used, true)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the branches to "
                    "ChooseFastestDataset do not expect the input to repeat.");
}

static weft_err wrapper_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  const wrapper *w = (wrapper *)it->set;
  wrapper_at *at = (wrapper_at *)it;
  *end = w->limit >= 0 && at->taken >= w->limit;
  if (*end) return WEFT_OK;
  at->taken++;
  return feed_next(w->feed, st, out, end);
}

static const dataset_kind wrapper_kind = {
    "Wrapper",           sizeof(wrapper), sizeof(wrapper_at), .destroy = wrapper_destroy, .begin = wrapper_begin,
    .next = wrapper_next};

/* ---- the choice ---- */

typedef struct branching {
  dataset base;
  int64_t numerator, denominator; /* elements of the input for one of the output, as a ratio */
  int64_t per_branch;
  int n;
  captured *branch;
} branching;

typedef struct branching_at {
  iterator base;
  feed *feed;
  iterator *open; /* of the function that is being read */
  int at;         /* the function that is being timed; n: one was chosen */
  int best;
  int64_t given, ns, best_ns; /* elements and time of that function; the time of the best */
  bool over;
} branching_at;

static void branching_destroy(dataset *d) {
  branching *b = (branching *)d;
  for (int i = 0; i < b->n; i++) weft__captured_finish(&b->branch[i]);
  weft__free(b->branch);
}

static int64_t branching_scaled(const branching *b, int64_t n) {
  int64_t product;
  return __builtin_mul_overflow(n, b->numerator, &product) ? INT64_MAX / b->denominator : product / b->denominator;
}

static int64_t branching_count(const dataset *d) {
  const int64_t n = weft__dataset_count(d->input[0]);
  return n < 0 ? n : branching_scaled((const branching *)d, n);
}

static weft_err branching_begin(iterator *it) {
  branching_at *at = (branching_at *)it;
  WEFT_TRY(feed_create(&at->feed));
  return weft__iterator_create(&at->feed->input, it->set->input[0], it->pass);
}

static void branching_finish(iterator *it) {
  branching_at *at = (branching_at *)it;
  weft__iterator_destroy(at->open);
  feed_close(at->feed);
}

/* Opens the data set that a function makes of the input. */
static weft_err branch_open(iterator *it, const step *st, int which, int64_t limit) {
  branching_at *at = (branching_at *)it;
  const branching *b = (branching *)it->set;
  const dataset *in = it->set->input[0];
  weft_tensor made = {0};
  weft_tensor *arg = NULL;
  dataset *d = NULL, *result = NULL;
  WEFT_TRY(weft__dataset_create(&d, &wrapper_kind, 0, NULL, in->n_part, in->type));
  wrapper *w = (wrapper *)d;
  weft__object_retain(&at->feed->base);
  w->feed = at->feed;
  w->limit = limit;
  weft_err err = weft__variant_create(&arg, &d->base);
  if (!err) err = weft__captured_call(&b->branch[which], it->pass, st, arg, 1, &made, 1);
  if (!err) err = weft__dataset_get(&made, &result);
  if (!err && result->n_part != it->set->n_part)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "a branch's data set has elements of %d tensors, not %d", result->n_part,
                     it->set->n_part);
  if (!err) err = weft__iterator_create(&at->open, result, it->pass);
  weft__tensor_clear(&made);
  weft_tensor_destroy(arg);
  return err;
}

/* Ends the turn of a function. */
static void branch_timed(branching_at *at) {
  weft__iterator_destroy(at->open);
  at->open = NULL;
  if (at->at == 0 || at->ns < at->best_ns) at->best = at->at, at->best_ns = at->ns;
  at->at++;
  at->given = at->ns = 0;
}

static weft_err branching_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  branching_at *at = (branching_at *)it;
  const branching *b = (branching *)it->set;
  const bool timed = at->at < b->n;
  *end = at->over;
  if (*end) return WEFT_OK;
  if (!at->open)
    WEFT_TRY(branch_open(it, st, timed ? at->at : at->best, timed ? branching_scaled(b, b->per_branch) : -1));
  const int64_t began = weft__clock_now_ns();
  WEFT_TRY(weft__iterator_next(at->open, st, out, end));
  at->ns += weft__clock_now_ns() - began;
  at->over = *end; /* a function that ends early ends the data set, as in TensorFlow */
  if (timed && !*end && ++at->given == b->per_branch) branch_timed(at);
  return WEFT_OK;
}

static const dataset_kind branching_kind = {
    "ChooseFastestBranch",    sizeof(branching),      sizeof(branching_at),       .destroy = branching_destroy,
    .begin = branching_begin, .next = branching_next, .finish = branching_finish, .count = branching_count};

/* ---- the op ---- */

typedef struct branch_functions {
  int n;
  function *f[];
} branch_functions;

static void branch_unprepare(void *state) {
  branch_functions *s = state;
  for (int i = 0; s && i < s->n; i++) weft__function_release(s->f[i]);
  weft__free(s);
}

static weft_err branch_prepare(const weft_node *n, void **state) {
  const int count = weft__function_count(n, "branches");
  branch_functions *s = weft__alloc_zero(1, sizeof *s + sizeof s->f[0] * (size_t)count);
  if (!s) return WEFT_OOM;
  weft_err err = WEFT_OK;
  for (; s->n < count && !err; s->n += !err) err = weft__function_create(&s->f[s->n], n, "branches", s->n);
  if (err)
    branch_unprepare(s);
  else
    *state = s;
  return err;
}

/* Gives each function its share of other_arguments. */
static weft_err branch_capture(kernel *k, branching *b) {
  const branch_functions *s = k->state;
  const attr *length = weft__node_attr(k->node, "other_arguments_lengths");
  int first, count;
  WEFT_TRY(weft__node_in_range(k->node, "other_arguments", &first, &count));
  if (!length || length->n != s->n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "other_arguments_lengths has %d elements for %d branches",
                      length ? length->n : 0, s->n);
  if (!(b->branch = weft__alloc_zero((size_t)s->n + 1, sizeof *b->branch))) return WEFT_OOM;
  int left = count;
  for (int i = 0; i < s->n; i++) {
    if (length->is[i] < 0 || length->is[i] > left)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "other_arguments_lengths[%d] is %lld, but %d of other_arguments are left", i,
                        (long long)length->is[i], left);
    const int n = weft__int_sat(length->is[i]); /* at most left */
    b->n++;
    WEFT_TRY(weft__captured_init(&b->branch[i], s->f[i], k->in + first + count - left, n));
    left -= n;
  }
  if (left) return weft__fail(WEFT_INVALID_ARGUMENT, "other_arguments_lengths leaves out %d of other_arguments", left);
  return WEFT_OK;
}

static weft_err branching_fill(kernel *k, branching *b) {
  WEFT_TRY(weft__dataset_int(k, 1, "ratio_numerator", &b->numerator));
  WEFT_TRY(weft__dataset_int(k, 2, "ratio_denominator", &b->denominator));
  if (b->numerator < 1) return weft__fail(WEFT_INVALID_ARGUMENT, "`ratio_numerator` must be greater than zero.");
  if (b->denominator < 1) return weft__fail(WEFT_INVALID_ARGUMENT, "`ratio_denominator` must be greater than zero.");
  b->per_branch = weft__node_int(k->node, "num_elements_per_branch", 1);
  return branch_capture(k, b);
}

static weft_err branching_cpu(kernel *k) {
  dataset *d = NULL;
  WEFT_TRY(weft__dataset_of(k, &branching_kind, 1, &d));
  ((branching *)d)->denominator = 1;
  return weft__dataset_out(k, d, branching_fill(k, (branching *)d));
}

OPS(dataset_branch) = {
    {"ChooseFastestBranchDataset(input_dataset:variant, ratio_numerator:int64, ratio_denominator:int64, "
     "other_arguments:@Targuments) -> (handle:variant) | Targuments:list(type)>=0 num_elements_per_branch:int>=1 "
     "branches:list(func)>=1 other_arguments_lengths:list(int)>=1 " OUTPUTS,
     "What the fastest of several functions makes of a data set.", DATASET_FLAGS, .cpu = branching_cpu,
     .prepare = branch_prepare, .unprepare = branch_unprepare},
    {.scenario = "tests/python/test_branches.py"},
};
