/* iterator_resource.c - one iterator that any number of threads use, one at a time.
 *
 * `lock` guards only the flag that a thread uses the iterator, and is not held while an element is computed.  That may
 * take long, and a waiting thread must notice that its own step was canceled. */
#include "state/iterator_resource.h"

#include "base/alloc.h"
#include "base/assert.h"

struct iterator_resource {
  resource base;
  pthread_mutex_t lock; /* guards busy and dropped */
  pthread_cond_t wake;
  bool busy, dropped;
  /* Owned by the thread that has set `busy`: */
  bool set;
  dataset_pass pass;
  iterator *at;  /* NULL if not set */
  int64_t taken; /* elements of this pass */
};

static void iterator_resource_stop(iterator_resource *s) {
  WEFT_ASSERT(s->set || !s->at);
  if (!s->set) return;
  weft__cancel_fire(&s->pass.cancel, WEFT_CANCELLED, "The iterator was closed.");
  weft__iterator_destroy(s->at);
  weft__dataset_pass_finish(&s->pass);
  s->at = NULL;
  s->set = false;
}

static void iterator_resource_destroy(object *o) {
  iterator_resource *s = (iterator_resource *)o;
  iterator_resource_stop(s);
  pthread_cond_destroy(&s->wake);
  pthread_mutex_destroy(&s->lock);
  weft__free(s);
}

/* Stops its threads when it leaves the table, although plans may still refer to it. */
static void iterator_resource_dropped(resource *r) {
  iterator_resource *s = (iterator_resource *)r;
  pthread_mutex_lock(&s->lock);
  s->dropped = true;
  bool now = !s->busy;
  pthread_mutex_unlock(&s->lock);
  if (now) iterator_resource_stop(s);
}

weft_err weft__iterator_resource_create(iterator_resource **out) {
  iterator_resource *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->base.base.refs, 1);
  s->base.base.destroy = iterator_resource_destroy;
  s->base.type = ITERATOR_TYPE;
  s->base.dropped = iterator_resource_dropped;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->wake, NULL);
  *out = s;
  return WEFT_OK;
}

static weft_err iterator_resource_acquire(iterator_resource *s, const step *st) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&s->lock);
  while (s->busy && !err) err = weft__step_wait(st, &s->wake, &s->lock);
  if (!err && s->dropped) err = weft__fail(WEFT_CANCELLED, "The iterator was closed.");
  if (!err) s->busy = true;
  pthread_mutex_unlock(&s->lock);
  return err;
}

static void iterator_resource_release(iterator_resource *s) {
  pthread_mutex_lock(&s->lock);
  WEFT_ASSERT(s->busy);
  s->busy = false;
  bool dropped = s->dropped; /* then nobody can acquire it any more, and this thread stops it */
  pthread_cond_signal(&s->wake);
  pthread_mutex_unlock(&s->lock);
  if (dropped) iterator_resource_stop(s);
}

static weft_err iterator_resource_begin(iterator_resource *s, dataset *d, const step *st, uint64_t entropy) {
  iterator_resource_stop(s);
  WEFT_TRY(weft__dataset_pass_init(&s->pass, st));
  s->pass.entropy = entropy;
  s->set = true;
  s->taken = 0;
  weft_err err = weft__iterator_create(&s->at, d, &s->pass);
  if (err) iterator_resource_stop(s);
  return err;
}

weft_err weft__iterator_resource_set(iterator_resource *s, dataset *d, const step *st) {
  WEFT_TRY(iterator_resource_acquire(s, st));
  weft_err err = iterator_resource_begin(s, d, st, 0);
  iterator_resource_release(s);
  return err;
}

weft_err weft__iterator_resource_set_once(iterator_resource *s, const step *st, iterator_resource_make *make,
                                          void *arg) {
  dataset *d = NULL;
  WEFT_TRY(iterator_resource_acquire(s, st));
  weft_err err = s->set ? WEFT_OK : make(arg, &d);
  if (d) err = iterator_resource_begin(s, d, st, 0);
  weft__dataset_release(d);
  iterator_resource_release(s);
  return err;
}

static weft_err iterator_resource_check_types(const dataset *d, int n, const weft_dtype *type) {
  if (n != d->n_part)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Number of components does not match: expected %d types but the iterator's elements have %d", n,
                      d->n_part);
  for (int i = 0; i < n; i++)
    if (type[i] != d->type[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Data type mismatch at component %d: expected %s but got %s.", i,
                        weft__dtype_short(type[i]), weft__dtype_short(d->type[i]));
  return WEFT_OK;
}

weft_err weft__iterator_resource_next(iterator_resource *s, const step *st, int n, const weft_dtype *type,
                                      weft_tensor *out) {
  bool end = false;
  WEFT_TRY(iterator_resource_acquire(s, st));
  weft_err err = s->set ? iterator_resource_check_types(s->at->set, n, type)
                        : weft__fail(WEFT_FAILED_PRECONDITION,
                                     "GetNext() failed because the iterator has not been initialized. Ensure that you "
                                     "have run the initializer operation for this iterator before getting the next "
                                     "element.");
  if (!err) {
    weft__dataset_pass_request_begin(&s->pass);
    err = weft__iterator_next(s->at, st, out, &end);
    weft__dataset_pass_request_end(&s->pass);
  }
  if (!err && end) err = weft__fail(WEFT_OUT_OF_RANGE, "End of sequence");
  if (!err) s->taken++;
  iterator_resource_release(s);
  return err;
}

weft_err weft__iterator_resource_position(iterator_resource *s, const step *st, iterator_position *out) {
  WEFT_TRY(iterator_resource_acquire(s, st));
  weft_err err =
      s->set ? WEFT_OK
             : weft__fail(WEFT_FAILED_PRECONDITION,
                          "Save() failed because the iterator has not been initialized. Ensure that you have run the "
                          "initializer operation for this iterator before saving it.");
  out->taken = s->taken;
  if (!err) err = weft__dataset_pass_entropy(&s->pass, &out->entropy);
  iterator_resource_release(s);
  return err;
}

/* Takes and drops elements, up to the position or the end. */
static weft_err iterator_resource_skip(iterator_resource *s, const step *st, int64_t position) {
  const int n = s->at->set->n_part;
  weft_tensor *part = weft__components_alloc(n);
  bool end = false;
  weft_err err = part ? WEFT_OK : WEFT_OOM;
  for (; s->taken < position && !err && !end; s->taken += !end && !err) {
    err = weft__step_check(st);
    if (!err) err = weft__iterator_next(s->at, st, part, &end);
    weft__components_clear(part, n);
  }
  weft__components_free(part, n);
  return err;
}

weft_err weft__iterator_resource_move(iterator_resource *s, const step *st, iterator_position to) {
  WEFT_TRY(iterator_resource_acquire(s, st));
  weft_err err = WEFT_OK;
  if (s->set) {
    dataset *d = s->at->set;
    weft__object_retain(&d->base.base);
    err = iterator_resource_begin(s, d, st, to.entropy);
    weft__dataset_release(d);
    if (!err) err = iterator_resource_skip(s, st, to.taken);
  } else {
    err = weft__fail(WEFT_FAILED_PRECONDITION,
                     "Restore() failed because the iterator has not been initialized. Ensure that you have run the "
                     "initializer operation for this iterator before restoring it.");
  }
  iterator_resource_release(s);
  return err;
}
