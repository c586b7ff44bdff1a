/* dataset.c - what all data sets share: creation, passes, iterators, waits and calls of functions.
 *
 * The lock of a pass guards its list of objects; creating an object under it only allocates. */
#include "state/dataset.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "state/step_objects.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { IDLE_S = 600 };

/* ---- data sets ---- */

static void dataset_destroy(object *o) {
  dataset *d = (dataset *)o;
  if (d->copied)
    weft__dataset_release(d->copied);
  else if (d->kind->destroy)
    d->kind->destroy(d);
  for (int i = 0; i < d->n_input; i++) weft__dataset_release(d->input[i]);
  weft__object_release(d->origin);
  weft__components_free(d->given, d->n_given);
  weft__free(d->input);
  weft__free(d->type);
  weft__free(d);
}

weft_err weft__dataset_create(dataset **out, const dataset_kind *kind, int n_input, dataset *const *input, int n_part,
                              const weft_dtype *type) {
  dataset *d = weft__alloc_zero(1, kind->size);
  if (!d) return WEFT_OOM;
  d->kind = kind;
  d->input = weft__alloc_zero((size_t)n_input + 1, sizeof *d->input);
  d->type = weft__alloc_zero((size_t)n_part + 1, sizeof *d->type);
  if (!d->input || !d->type) {
    weft__free(d->input);
    weft__free(d->type);
    weft__free(d);
    return WEFT_OOM;
  }
  atomic_init(&d->base.base.refs, 1);
  d->base.base.destroy = dataset_destroy;
  d->base.type = DATASET_TYPE;
  for (int i = 0; i < n_input; i++) weft__object_retain(&input[i]->base.base), d->input[i] = input[i];
  d->n_input = n_input;
  for (int i = 0; i < n_part; i++) d->type[i] = type[i];
  d->n_part = n_part;
  *out = d;
  return WEFT_OK;
}

weft_err weft__dataset_copy(dataset **out, dataset *d, dataset *const *input) {
  WEFT_TRY(weft__dataset_create(out, d->kind, d->n_input, input, d->n_part, d->type));
  memcpy((char *)*out + sizeof **out, (char *)d + sizeof *d, d->kind->size - sizeof *d);
  weft__object_retain(&d->base.base);
  (*out)->copied = d;
  return WEFT_OK;
}

void weft__dataset_release(dataset *d) { weft__object_release(d ? &d->base.base : NULL); }

weft_err weft__dataset_get(const weft_tensor *t, dataset **out) {
  return weft__variant_get(t, DATASET_TYPE, (resource **)out);
}

int64_t weft__dataset_count(const dataset *d) { return d->kind->count ? d->kind->count(d) : DATASET_UNKNOWN; }

int64_t weft__dataset_count_of_input(const dataset *d) { return weft__dataset_count(d->input[0]); }

int64_t weft__dataset_rows(const dataset *d) {
  if (d->kind->rows) return d->kind->rows(d);
  return d->kind->passes && d->n_input ? weft__dataset_rows(d->input[0]) : -1;
}

int64_t weft__dataset_rows_of_inputs(const dataset *d) {
  const int64_t rows = d->n_input ? weft__dataset_rows(d->input[0]) : -1;
  for (int i = 1; i < d->n_input; i++)
    if (weft__dataset_rows(d->input[i]) != rows) return -1;
  return rows;
}

int64_t weft__dataset_rows_unknown(const dataset *d) {
  (void)d;
  return -1;
}

/* ---- iterators ---- */

weft_err weft__dataset_pass_init(dataset_pass *p, const step *st) {
  static atomic_llong passes;
  p->session =
      weft__sprintf("%s\x1fpass %lld", st->session ? st->session : "", (long long)atomic_fetch_add(&passes, 1));
  if (!p->session) return WEFT_OOM;
  weft__cancel_init(&p->cancel);
  pthread_mutex_init(&p->lock, NULL);
  p->memory = NULL;
  p->n_memory = p->n_kept = 0;
  p->root = NULL;
  p->stats = NULL;
  p->entropy = p->n_seeds = 0;
  atomic_init(&p->asked_ns, INT64_MAX);
  p->step = (step){.cancel = &p->cancel,
                   .asked_ns = &p->asked_ns,
                   .intra = st->intra,
                   .inter = st->inter,
                   .caller = st->caller,
                   .resources = st->resources,
                   .session = p->session};
  return WEFT_OK;
}

void weft__dataset_pass_request_begin(dataset_pass *p) { atomic_store(&p->asked_ns, INT64_MAX); }
void weft__dataset_pass_request_end(dataset_pass *p) { atomic_store(&p->asked_ns, weft__clock_now_ns()); }

static int64_t dataset_idle_limit_ns(void) {
  static atomic_llong known;
  int64_t limit = atomic_load_explicit(&known, memory_order_relaxed);
  if (limit) return limit;
  const char *text = getenv("WEFT_DATASET_IDLE_SECS");
  const double seconds = text ? strtod(text, NULL) : 0;
  limit = (int64_t)((seconds > 0 && seconds < 1e9 ? seconds : IDLE_S) * (double)NS_PER_S);
  atomic_store_explicit(&known, limit, memory_order_relaxed);
  return limit;
}

/* Returns the time since the last request; 0 while one runs. */
static int64_t ns_since_request(const atomic_llong *asked_ns) {
  const int64_t asked = atomic_load_explicit((atomic_llong *)(uintptr_t)asked_ns, memory_order_relaxed);
  return asked == INT64_MAX ? 0 : weft__clock_now_ns() - asked;
}

bool weft__dataset_pass_is_idle(const dataset_pass *p) {
  return ns_since_request(&p->asked_ns) > dataset_idle_limit_ns() / 10;
}

struct dataset_pass_entry {
  object *of; /* a reference */
  object *object;
  struct dataset_pass_entry *next;
};

static void dataset_pass_release(struct dataset_pass_entry *list) {
  for (struct dataset_pass_entry *m = list, *next; m; m = next) {
    next = m->next;
    weft__object_release(m->object);
    weft__object_release(m->of);
    weft__free(m);
  }
}

enum { SWEEP_AT = 64 };

/* Takes out the entries of data sets and functions to which only the pass refers: nobody can ask for their objects any
 * more.  A data set that a function makes for each element ends so.  The caller releases them without the lock. */
static struct dataset_pass_entry *dataset_pass_sweep(dataset_pass *p) {
  struct dataset_pass_entry *gone = NULL;
  if (p->n_memory < SWEEP_AT || p->n_memory / 2 < p->n_kept) return NULL;
  for (struct dataset_pass_entry **at = &p->memory, *m; (m = *at);) {
    if (atomic_load(&m->of->refs) > 1) {
      at = &m->next;
      continue;
    }
    *at = m->next;
    m->next = gone, gone = m;
    p->n_memory--;
  }
  p->n_kept = p->n_memory;
  return gone;
}

static weft_err dataset_pass_add_object(dataset_pass *p, object *of, dataset_pass_make *make, object **out) {
  struct dataset_pass_entry *m = weft__alloc(sizeof *m);
  if (!m) return WEFT_OOM;
  weft_err err = make(of, out);
  if (err) {
    weft__free(m);
    return err;
  }
  weft__object_retain(of);
  *m = (struct dataset_pass_entry){of, *out, p->memory};
  p->memory = m;
  p->n_memory++;
  return WEFT_OK;
}

weft_err weft__dataset_pass_object(dataset_pass *p, object *of, dataset_pass_make *make, object **out) {
  *out = NULL;
  pthread_mutex_lock(&p->lock);
  for (const struct dataset_pass_entry *m = p->memory; m && !*out; m = m->next)
    if (m->of == of) *out = m->object;
  struct dataset_pass_entry *gone = *out ? NULL : dataset_pass_sweep(p);
  weft_err err = *out ? WEFT_OK : dataset_pass_add_object(p, of, make, out);
  pthread_mutex_unlock(&p->lock);
  dataset_pass_release(gone);
  return err;
}

weft_err weft__dataset_pass_entropy(dataset_pass *p, uint64_t *out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&p->lock);
  if (!p->entropy) {
    if (getrandom(&p->entropy, sizeof p->entropy, 0) != (ssize_t)sizeof p->entropy)
      err = weft__fail(WEFT_INTERNAL, "the system gave no random seed");
    p->entropy |= 1; /* 0 means that there is none */
  }
  *out = p->entropy;
  pthread_mutex_unlock(&p->lock);
  return err;
}

weft_err weft__dataset_pass_seeds(dataset_pass *p, uint64_t seed[2]) {
  WEFT_TRY(weft__dataset_pass_entropy(p, &seed[0]));
  pthread_mutex_lock(&p->lock);
  seed[1] = ++p->n_seeds;
  pthread_mutex_unlock(&p->lock);
  return WEFT_OK;
}

dataset *weft__dataset_pass_stats(dataset_pass *p, dataset *set) {
  pthread_mutex_lock(&p->lock);
  dataset *before = p->stats;
  if (set)
    p->stats = set, weft__object_retain(&set->base.base);
  else if (before)
    weft__object_retain(&before->base.base);
  pthread_mutex_unlock(&p->lock);
  return before;
}

void weft__dataset_pass_finish(dataset_pass *p) {
  dataset_pass_release(p->memory);
  if (p->stats) weft__object_release(&p->stats->base.base);
  weft__dataset_release(p->root);
  if (p->step.resources) weft__resources_end_session(p->step.resources, p->session); /* the state of its functions */
  pthread_mutex_destroy(&p->lock);
  weft__cancel_finish(&p->cancel);
  weft__free(p->session);
}

weft_err weft__iterator_create(iterator **out, dataset *d, dataset_pass *p) {
  iterator *it = weft__alloc_zero(1, d->kind->iterator_size);
  if (!it) return WEFT_OOM;
  weft__object_retain(&d->base.base);
  it->set = d;
  it->pass = p;
  if (!p->root) p->root = d, weft__object_retain(&d->base.base);
  weft_err err = d->kind->begin ? d->kind->begin(it) : WEFT_OK;
  if (err)
    weft__iterator_destroy(it);
  else
    *out = it;
  return err;
}

static weft_err iterator_check_types(const dataset *d, weft_tensor *part) {
  for (int i = 0; i < d->n_part; i++) {
    const weft_dtype is = part[i].dtype;
    if (is == d->type[i]) continue;
    weft__components_clear(part, d->n_part);
    return weft__fail(WEFT_INVALID_ARGUMENT, "%sDataset: component %d of an element is %s, but output_types says %s",
                      d->kind->name, i, is == WEFT_INVALID ? "missing" : weft__dtype_name(is),
                      weft__dtype_name(d->type[i]));
  }
  return WEFT_OK;
}

weft_err weft__iterator_next(iterator *it, const step *st, weft_tensor *out, bool *end) {
  *end = false;
  WEFT_TRY(weft__step_check_time(st));
  WEFT_TRY(it->set->kind->next(it, st, out, end));
  return *end ? WEFT_OK : iterator_check_types(it->set, out);
}

void weft__iterator_destroy(iterator *it) {
  if (!it) return;
  dataset *d = it->set;
  if (d->kind->finish) d->kind->finish(it);
  weft__free(it);
  weft__dataset_release(d);
}

/* ---- components ---- */

weft_tensor *weft__components_alloc(int n) { return weft__alloc_zero((size_t)n + 1, sizeof(weft_tensor)); }

void weft__components_clear(weft_tensor *t, int n) {
  for (int i = 0; i < n; i++) weft__tensor_clear(&t[i]);
}

void weft__components_free(weft_tensor *t, int n) {
  if (t) weft__components_clear(t, n);
  weft__free(t);
}

void weft__components_share(weft_tensor *to, const weft_tensor *from, int n) {
  for (int i = 0; i < n; i++) weft__tensor_share(&to[i], &from[i]);
}

void weft__components_move(weft_tensor *to, weft_tensor *from, int n) {
  weft__components_share(to, from, n);
  weft__components_clear(from, n);
}

/* ---- waiting ---- */

weft_err weft__step_check_time(const step *st) {
  if (st->cancel && weft__cancel_fired(st->cancel)) return weft__cancel_raise(st->cancel);
  if (st->deadline_ns && weft__clock_now_ns() > st->deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out waiting for the step to finish");
  if (st->asked_ns && ns_since_request(st->asked_ns) > dataset_idle_limit_ns())
    return weft__fail(WEFT_CANCELLED,
                      "An element was given up: for %lld s nobody has asked for one "
                      "(WEFT_DATASET_IDLE_SECS sets how long it is worked on)",
                      (long long)(dataset_idle_limit_ns() / NS_PER_S));
  return WEFT_OK;
}

weft_err weft__step_check(const step *st) {
  WEFT_TRY(weft__step_check_time(st));
  if (st->id && weft__interrupt_pending())
    return weft__fail(WEFT_CANCELLED, "The step was interrupted while it waited");
  return WEFT_OK;
}

weft_err weft__step_wait(const step *st, pthread_cond_t *cond, pthread_mutex_t *lock) {
  WEFT_TRY(weft__step_check(st));
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
  pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
  return WEFT_OK;
}

/* ---- functions ---- */

weft_err weft__captured_init(captured *c, function *f, const weft_tensor *const *more, int n) {
  c->more = weft__components_alloc(n);
  if (!c->more) return WEFT_OOM;
  weft__object_retain(&f->base);
  c->f = f;
  for (; c->n < n; c->n++) WEFT_TRY(weft__tensor_keep(&c->more[c->n], more[c->n]));
  return WEFT_OK;
}

void weft__captured_finish(captured *c) {
  weft__function_release(c->f);
  weft__components_free(c->more, c->n);
}

enum { FEW = 16 };

static weft_err captured_clone_function(const void *of, object **out) {
  return weft__function_clone((function **)out, (function *)(uintptr_t)of);
}

static weft_err captured_call_function(const captured *c, function *f, const step *st, const weft_tensor *arg,
                                       int n_arg, weft_tensor *out, int n_out, void **memory) {
  const weft_tensor **in = (const weft_tensor **)memory;
  weft_tensor **ret = (weft_tensor **)(memory + n_arg + c->n);
  for (int i = 0; i < n_arg; i++) in[i] = &arg[i];
  for (int i = 0; i < c->n; i++) in[n_arg + i] = &c->more[i];
  step own = *st;
  step_objects objects; /* objects of a step live for one call */
  weft__step_objects_init(&objects);
  own.objects = &objects;
  weft_err err = weft__function_call(f, &own, n_arg + c->n, in, n_out, ret);
  for (int i = 0; i < n_out && !err; i++) weft__tensor_share(&out[i], ret[i]);
  for (int i = 0; i < n_out; i++) weft_tensor_destroy(ret[i]);
  weft__step_objects_finish(&objects);
  return err;
}

weft_err weft__captured_call(const captured *c, dataset_pass *p, const step *st, const weft_tensor *arg, int n_arg,
                             weft_tensor *out, int n_out) {
  function *f = c->f;
  if (f->n_target) WEFT_TRY(weft__dataset_pass_object(p, &f->base, captured_clone_function, (object **)&f));
  int n = n_arg + c->n + n_out;
  void *few[FEW] = {NULL}, **memory = n <= FEW ? few : weft__alloc_zero((size_t)n, sizeof *memory);
  if (!memory) return WEFT_OOM;
  step named = *st;
  named.session = p->session;
  weft_err err = captured_call_function(c, f, &named, arg, n_arg, out, n_out, memory);
  if (memory != few) weft__free(memory);
  return err;
}
