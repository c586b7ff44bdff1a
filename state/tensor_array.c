/* tensor_array.c - an array of slots under one lock.
 *
 * An array owns the arrays of its gradients.  The lock is held while an element is zeroed or summed. */
#include "state/tensor_array.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "state/combine.h"
#include <pthread.h>

typedef struct slot {
  weft_tensor t;
  shape was; /* shape of what was written here, or to the forward array; rank -1: nothing */
  bool written, read, cleared;
} slot;

struct tensor_array {
  resource base;
  pthread_mutex_t lock;
  char *name, *source;
  tensor_array_spec spec;
  bool aggregates; /* a gradient */
  bool closed;
  slot *slot; /* spec.size of them, of `capacity` */
  int64_t capacity;
  tensor_array *gradients, *next; /* a list by source */
};

enum { MAX_SIZE = 1 << 28 };

/* ---- elements in host memory ---- */

static weft_err tensor_array_host_zero(void *arg, weft_tensor *t) {
  (void)arg;
  if (weft__dtype_is_plain(t->dtype)) memset(t->data, 0, weft__tensor_bytes(t));
  return WEFT_OK;
}

static weft_err tensor_array_host_add(void *arg, weft_tensor *to, const weft_tensor *x, const weft_tensor *y) {
  (void)arg;
  weft__combine(COMBINE_ADD, x->dtype, to->data, x->data, y->data, 1, weft__tensor_count(x));
  return WEFT_OK;
}

static const tensor_array_ops host_ops = {NULL, NULL, tensor_array_host_zero, tensor_array_host_add};

static void tensor_array_destroy(object *o) {
  tensor_array *a = (tensor_array *)o;
  for (int64_t i = 0; a->slot && i < a->spec.size; i++) weft__tensor_clear(&a->slot[i].t);
  for (tensor_array *g = a->gradients, *next; g; g = next) {
    next = g->next;
    weft__object_release(&g->base.base);
  }
  weft__free(a->slot);
  weft__free(a->name);
  weft__free(a->source);
  pthread_mutex_destroy(&a->lock);
  weft__free(a);
}

static weft_err tensor_array_reserve(tensor_array *a, int64_t size) {
  if (size <= a->capacity) return WEFT_OK;
  const int64_t before = a->capacity;
  slot *grown = weft__array_grow(a->slot, &a->capacity, size, sizeof *grown);
  if (!grown) return WEFT_OOM;
  for (int64_t i = before; i < a->capacity; i++) grown[i] = (slot){.was = {.rank = -1}};
  a->slot = grown;
  return WEFT_OK;
}

weft_err weft__tensor_array_create(tensor_array **out, const tensor_array_spec *spec, const char *name) {
  if (spec->size < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Size should be >= 0.");
  if (spec->size > MAX_SIZE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray %s: the size %lld is too large", name, (long long)spec->size);
  tensor_array *a = weft__alloc_zero(1, sizeof *a);
  if (!a) return WEFT_OOM;
  atomic_init(&a->base.base.refs, 1);
  a->base.base.destroy = tensor_array_destroy;
  a->base.type = TENSOR_ARRAY_TYPE;
  pthread_mutex_init(&a->lock, NULL);
  a->spec = *spec;
  a->spec.size = 0;
  weft_err err = (a->name = weft__strdup(name)) ? tensor_array_reserve(a, spec->size) : WEFT_OOM;
  if (err != WEFT_OK) {
    tensor_array_destroy(&a->base.base);
    return err;
  }
  a->spec.size = spec->size;
  *out = a;
  return WEFT_OK;
}

static weft_err tensor_array_check_open(const tensor_array *a) {
  if (!a->closed) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray %s has already been closed.", a->name);
}

/* ---- writing ---- */

static weft_err tensor_array_fail_write(const tensor_array *a, int64_t i, const char *why) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray %s: Could not write to TensorArray index %lld%s", a->name,
                    (long long)i, why);
}

static weft_err tensor_array_check_write(tensor_array *a, int64_t i, const weft_tensor *t) {
  WEFT_TRY(tensor_array_check_open(a));
  if (t->dtype != a->spec.dtype)
    return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray dtype is %s but Op is trying to write dtype %s.",
                      weft__dtype_short(a->spec.dtype), weft__dtype_short(t->dtype));
  if (i < 0 || (i >= a->spec.size && !a->spec.dynamic))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "TensorArray %s: Tried to write to index %lld but array is not resizeable and size is: %lld",
                      a->name, (long long)i, (long long)a->spec.size);
  if (i >= MAX_SIZE) return tensor_array_fail_write(a, i, ": too large");
  if (!weft__shape_compatible(&a->spec.element, &t->shape))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "TensorArray %s: Could not write to TensorArray index %lld because the value shape is %s which "
                      "is incompatible with the TensorArray's inferred element shape: %s (consider setting "
                      "infer_shape=False).",
                      a->name, (long long)i, weft__shape_text(&t->shape), weft__shape_text(&a->spec.element));
  if (i >= a->spec.size) {
    WEFT_TRY(tensor_array_reserve(a, i + 1));
    a->spec.size = i + 1;
  }
  const slot *p = &a->slot[i];
  if (p->read) return tensor_array_fail_write(a, i, " because it has already been read.");
  if (p->written && !a->aggregates) return tensor_array_fail_write(a, i, " because it has already been written to.");
  if (p->written && !weft__shape_equal(&p->t.shape, &t->shape))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "TensorArray %s: Could not aggregate to TensorArray index %lld because the existing shape is %s "
                      "but the new input shape is %s.",
                      a->name, (long long)i, weft__shape_text(&p->t.shape), weft__shape_text(&t->shape));
  return WEFT_OK;
}

/* Adds t to the slot, in place if no other tensor shares the buffer. */
static weft_err tensor_array_aggregate(const tensor_array *a, slot *p, const weft_tensor *t,
                                       const tensor_array_ops *ops) {
  weft_tensor fresh = {0}, *to = &p->t;
  if (!weft__combine_has(COMBINE_ADD, t->dtype))
    return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray %s: values of type %s cannot be added up", a->name,
                      weft__dtype_name(t->dtype));
  if (!weft__tensor_writable(&p->t)) {
    WEFT_TRY(weft__tensor_init_in(&fresh, ops->memory, t->dtype, &t->shape));
    to = &fresh;
  }
  const weft_err err = ops->add(ops->arg, to, &p->t, t);
  if (to == &fresh) {
    weft__tensor_clear(&p->t);
    p->t = fresh;
  }
  return err;
}

static weft_err tensor_array_write_locked(tensor_array *a, int64_t i, const weft_tensor *t,
                                          const tensor_array_ops *ops) {
  WEFT_TRY(tensor_array_check_write(a, i, t));
  WEFT_ASSERT(i < a->spec.size && a->spec.size <= a->capacity);
  slot *p = &a->slot[i];
  if (p->written) return tensor_array_aggregate(a, p, t, ops);
  WEFT_TRY(weft__tensor_keep(&p->t, t));
  p->written = true;
  p->was = t->shape;
  if (a->spec.identical) return weft__shape_merge(&a->spec.element, &a->spec.element, &t->shape);
  return WEFT_OK;
}

weft_err weft__tensor_array_write(tensor_array *a, int64_t i, const weft_tensor *t, const tensor_array_ops *ops) {
  pthread_mutex_lock(&a->lock);
  weft_err err = tensor_array_write_locked(a, i, t, ops ? ops : &host_ops);
  pthread_mutex_unlock(&a->lock);
  return err;
}

/* ---- reading ---- */

static weft_err tensor_array_check_read(const tensor_array *a, weft_dtype dtype, int64_t i) {
  WEFT_TRY(tensor_array_check_open(a));
  if (dtype != a->spec.dtype)
    return weft__fail(WEFT_INVALID_ARGUMENT, "TensorArray dtype is %s but Op requested dtype %s.",
                      weft__dtype_short(a->spec.dtype), weft__dtype_short(dtype));
  if (i < 0 || i >= a->spec.size)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Tried to read from index %lld but array size is: %lld", (long long)i,
                      (long long)a->spec.size);
  if (a->slot[i].cleared)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "TensorArray %s: Could not read index %lld twice because it was cleared after a previous read "
                      "(perhaps try setting clear_after_read = false?).",
                      a->name, (long long)i);
  return WEFT_OK;
}

static weft_err tensor_array_make_zeros(const tensor_array *a, slot *p, int64_t i, const tensor_array_ops *ops) {
  const shape *of = p->was.rank >= 0 ? &p->was : &a->spec.element;
  if (!weft__shape_known(of))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "TensorArray %s: Could not read from TensorArray index %lld.  Furthermore, the element shape is "
                      "not fully defined: %s.  It is possible you are working with a resizeable TensorArray and "
                      "stop_gradients is not allowing the gradients to be written.  If you set the full element_shape "
                      "property on the forward TensorArray, the proper all-zeros tensor will be returned instead of "
                      "incurring this error.",
                      a->name, (long long)i, weft__shape_text(of));
  WEFT_TRY(weft__tensor_init_in(&p->t, ops->memory, a->spec.dtype, of));
  p->written = true;
  return ops->zero(ops->arg, &p->t);
}

static weft_err tensor_array_read_locked(tensor_array *a, weft_dtype dtype, int64_t i, weft_tensor *out,
                                         const tensor_array_ops *ops) {
  WEFT_TRY(tensor_array_check_read(a, dtype, i));
  WEFT_ASSERT(i < a->spec.size && a->spec.size <= a->capacity);
  slot *p = &a->slot[i];
  if (!p->written) WEFT_TRY(tensor_array_make_zeros(a, p, i, ops));
  p->read = true;
  weft__tensor_share(out, &p->t);
  if (a->spec.clear_after_read) {
    weft__tensor_clear(&p->t);
    p->cleared = true;
  }
  return WEFT_OK;
}

weft_err weft__tensor_array_read(tensor_array *a, weft_dtype dtype, int64_t i, weft_tensor *out,
                                 const tensor_array_ops *ops) {
  pthread_mutex_lock(&a->lock);
  weft_err err = tensor_array_read_locked(a, dtype, i, out, ops ? ops : &host_ops);
  pthread_mutex_unlock(&a->lock);
  return err;
}

weft_err weft__tensor_array_size(tensor_array *a, int64_t *size, bool *dynamic) {
  pthread_mutex_lock(&a->lock);
  weft_err err = tensor_array_check_open(a);
  *size = a->spec.size;
  if (dynamic) *dynamic = a->spec.dynamic;
  pthread_mutex_unlock(&a->lock);
  return err;
}

shape weft__tensor_array_element(tensor_array *a) {
  pthread_mutex_lock(&a->lock);
  shape element = a->spec.element;
  pthread_mutex_unlock(&a->lock);
  return element;
}

void weft__tensor_array_close(tensor_array *a) {
  pthread_mutex_lock(&a->lock);
  for (int64_t i = 0; i < a->spec.size; i++) weft__tensor_clear(&a->slot[i].t);
  a->closed = true;
  pthread_mutex_unlock(&a->lock);
}

/* ---- gradients ---- */

/* Stores prepend followed by s; an unknown s stays unknown. */
static weft_err shape_prepend(shape *out, const shape *prepend, const shape *s) {
  *out = *s;
  if (!prepend || s->rank < 0) return WEFT_OK;
  if (prepend->rank + s->rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "the shape %s in front of %s gives too many dimensions",
                      weft__shape_text(prepend), weft__shape_text(s));
  memcpy(out->dim, prepend->dim, (size_t)prepend->rank * sizeof *out->dim);
  memcpy(out->dim + prepend->rank, s->dim, (size_t)s->rank * sizeof *out->dim);
  out->rank = prepend->rank + s->rank;
  return WEFT_OK;
}

static weft_err tensor_array_make_gradient(tensor_array *a, const char *source, const shape *prepend,
                                           tensor_array **out) {
  tensor_array_spec spec = a->spec;
  spec.dynamic = false;
  spec.clear_after_read = true;
  WEFT_TRY(shape_prepend(&spec.element, prepend, &a->spec.element));
  char *name = weft__sprintf("%s@%s", a->name, source);
  tensor_array *g = NULL;
  weft_err err = name ? weft__tensor_array_create(&g, &spec, name) : WEFT_OOM;
  if (err == WEFT_OK && !(g->source = weft__strdup(source))) err = WEFT_OOM;
  for (int64_t i = 0; err == WEFT_OK && i < spec.size; i++)
    err = shape_prepend(&g->slot[i].was, prepend, &a->slot[i].was);
  weft__free(name);
  if (err != WEFT_OK) {
    weft__object_release((object *)g);
    return err;
  }
  g->aggregates = true;
  *out = g;
  return WEFT_OK;
}

weft_err weft__tensor_array_gradient(tensor_array *a, const char *source, const shape *prepend, tensor_array **out) {
  pthread_mutex_lock(&a->lock);
  weft_err err = tensor_array_check_open(a);
  tensor_array *g = a->gradients;
  while (err == WEFT_OK && g && strcmp(g->source, source) != 0) g = g->next;
  if (err == WEFT_OK && !g && (err = tensor_array_make_gradient(a, source, prepend, &g)) == WEFT_OK) {
    g->next = a->gradients;
    a->gradients = g;
    a->spec.dynamic = false; /* its gradient has as many slots */
  }
  pthread_mutex_unlock(&a->lock);
  *out = g;
  return err;
}
