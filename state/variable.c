/* variable.c - readers share the buffer, writers copy it and swap.
 *
 * `lock` guards `value`: the tensor header and, while a kernel writes in place, its elements.  A reader holds it only
 * to take a reference to the buffer.  A writer that finds more references than the variable's own copies the buffer
 * first, so that the value that a reader got never changes.
 *
 * Rows of the value may lack steps that were deferred (state/deferred.h, which calls back here for the locks).  Every
 * way to the value leads through variable_lock_settled, which applies them. */
#include "state/variable.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/deferred.h"

static void variable_destroy(object *o) {
  variable *v = (variable *)o;
  weft__tensor_clear(&v->value);
  pthread_mutex_destroy(&v->lock);
  weft__free(v->name);
  weft__free(v);
}

static void variable_dropped(resource *r) {
  variable *v = (variable *)r;
  weft_tensor old = {0};
  pthread_mutex_lock(&v->lock);
  if (v->deferred) {
    weft__deferred_drop(v);
    return;
  }
  old = v->value;
  v->value = (weft_tensor){0};
  pthread_mutex_unlock(&v->lock);
  weft__tensor_clear(&old);
}

weft_err weft__variable_create(variable **out, weft_dtype dtype, const shape *declared, const char *name) {
  variable *v = weft__alloc_zero(1, sizeof *v);
  if (!v) return WEFT_OOM;
  if (!(v->name = weft__strdup(name))) {
    weft__free(v);
    return WEFT_OOM;
  }
  atomic_init(&v->base.base.refs, 1);
  v->base.base.destroy = variable_destroy;
  v->base.type = VARIABLE_TYPE;
  v->base.dropped = variable_dropped;
  pthread_mutex_init(&v->lock, NULL);
  v->dtype = dtype;
  v->declared = *declared;
  *out = v;
  return WEFT_OK;
}

weft_err weft__variable_uninitialized_error(const variable *v) {
  weft_err err = weft__fail(WEFT_FAILED_PRECONDITION, "Attempting to use uninitialized value %s", v->name);
  return weft__error_add_facts(err, ERROR_UNINITIALIZED);
}

/* Locks the variable, and brings its value up to date. */
static void variable_lock_settled(variable *v) {
  pthread_mutex_lock(&v->lock);
  if (v->deferred) weft__deferred_settle(v);
}

weft_err weft__variable_read(variable *v, weft_tensor *out) {
  variable_lock_settled(v);
  bool set = v->value.buf != NULL;
  if (set) weft__tensor_share(out, &v->value);
  pthread_mutex_unlock(&v->lock);
  return set ? WEFT_OK : weft__variable_uninitialized_error(v);
}

bool weft__variable_initialized(variable *v) {
  pthread_mutex_lock(&v->lock);
  const bool set = v->value.buf && !v->dropped;
  pthread_mutex_unlock(&v->lock);
  return set;
}

bool weft__variable_value_shape(variable *v, shape *out) {
  pthread_mutex_lock(&v->lock);
  const bool set = v->value.buf && !v->dropped;
  if (set) *out = v->value.shape;
  pthread_mutex_unlock(&v->lock);
  return set;
}

/* Fails on a thread that captures a CUDA graph.  If the capture is given up, the copy that fills the new buffer is
 * never made, and the value would be lost. */
static weft_err variable_may_move(const variable *v) {
  if (!weft__device_thread_captures()) return WEFT_OK;
  return weft__fail(WEFT_ABORTED, "%s cannot get another buffer while its step is captured as a CUDA graph", v->name);
}

weft_err weft__variable_assign(variable *v, const weft_tensor *t) {
  if (t->dtype != v->dtype)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Trying to assign variable with wrong dtype. Expected %s got %s: %s",
                      weft__dtype_short(v->dtype), weft__dtype_short(t->dtype), v->name);
  weft_err err = WEFT_OK;
  weft_tensor old = {0};
  variable_lock_settled(v);
  if (t->buf == v->value.buf && t->data == v->value.data && v->value.buf) {
    v->value.shape = t->shape;
  } else if (weft__tensor_writable(&v->value) && weft__dtype_is_plain(v->dtype) &&
             v->value.buf->memory == t->buf->memory && weft__tensor_bytes(&v->value) == weft__tensor_bytes(t)) {
    err = weft__tensor_copy(&v->value, t);
    v->value.shape = t->shape;
  } else {
    weft_tensor kept = {0};
    err = variable_may_move(v);
    if (err == WEFT_OK) err = weft__tensor_keep(&kept, t);
    if (err == WEFT_OK) {
      old = v->value;
      v->value = kept;
    }
  }
  pthread_mutex_unlock(&v->lock);
  weft__tensor_clear(&old);
  return err;
}

/* Locks (or unlocks) each distinct variable once, in the order of their addresses. */
static void variables_each_distinct(int n, variable *const *v, int (*act)(pthread_mutex_t *)) {
  variable *last = NULL;
  for (int done = 0; done < n; done++) {
    variable *next = NULL;
    for (int i = 0; i < n; i++)
      if ((uintptr_t)v[i] > (uintptr_t)last && (!next || (uintptr_t)v[i] < (uintptr_t)next)) next = v[i];
    if (!next) return;
    act(&next->lock);
    last = next;
  }
}

void weft__variable_lock_deferred(int n, variable *const *v) { variables_each_distinct(n, v, pthread_mutex_lock); }
void weft__variable_unlock(int n, variable *const *v) { variables_each_distinct(n, v, pthread_mutex_unlock); }

static int variables_first_deferred(int n, variable *const *v) {
  int i = 0;
  while (i < n && !v[i]->deferred) i++;
  return i;
}

void weft__variable_lock(int n, variable *const *v) {
  if (n == 1) {
    variable_lock_settled(v[0]);
    return;
  }
  weft__variable_lock_deferred(n, v);
  for (int i = variables_first_deferred(n, v); i < n; i = variables_first_deferred(n, v)) {
    weft__variable_unlock(n, v); /* its tables are locked in the order of their addresses, too */
    variable_lock_settled(v[i]);
    weft__variable_unlock(1, &v[i]);
    weft__variable_lock_deferred(n, v);
  }
}

weft_err weft__variable_writable(variable *v, weft_tensor **out) {
  if (!v->value.buf) return weft__variable_uninitialized_error(v);
  if (!weft__tensor_writable(&v->value)) {
    weft_tensor copy = {0};
    WEFT_TRY(variable_may_move(v));
    WEFT_TRY(weft__tensor_clone(&copy, &v->value));
    weft__tensor_clear(&v->value);
    v->value = copy;
  }
  WEFT_ASSERT(weft__tensor_writable(&v->value));
  *out = &v->value;
  return WEFT_OK;
}

weft_err weft__kernel_variable(const kernel *k, int i, variable **v) {
  if (k->ref[i]) {
    *v = k->ref[i];
    return WEFT_OK;
  }
  return weft__handle_get(k->in[i], VARIABLE_TYPE, (resource **)v);
}

/* For TensorFlow a resource variable without a value does not exist. */
weft_err weft__variable_fail_uninitialized(const kernel *k, const variable *v) {
  const handle *h = k->ref[0] ? NULL : weft__handle_of(k->in[0]);
  if (!h) return weft__kernel_in(k, weft__variable_uninitialized_error(v));
  return weft__kernel_fail(k, WEFT_NOT_FOUND, "Resource %s/%s/N10tensorflow3VarE does not exist.", h->container,
                           v->name);
}

const weft_node *weft__handle_origin(const weft_graph *g, weft_out o) {
  for (int hops = 0; o.node >= 0 && hops <= g->n_node; hops++) {
    const weft_node *n = weft__node(g, o.node);
    if (!n->op || !(n->op->flags & OP_FORWARDS) || n->n_in < 1) return n;
    o = n->in[0];
  }
  return NULL;
}

void weft__variable_declared(const weft_graph *g, weft_out from, weft_dtype *dtype, shape *out) {
  *dtype = WEFT_INVALID;
  *out = SHAPE_UNKNOWN;
  if (from.node >= 0 && weft__out_is_ref(g, from)) {
    *dtype = weft__out_type(g, from);
    *out = *weft__out_shape(g, from);
    return;
  }
  const weft_node *origin = weft__handle_origin(g, from);
  if (!origin || !weft__node_is(origin, KIND_HANDLE)) return;
  *dtype = weft__node_type(origin, "dtype");
  const attr *a = weft__node_attr(origin, "shape");
  if (a && a->kind == ATTR_SHAPE && !a->is_list) *out = *a->shape;
}

void weft__infer_variable(const infer *s, int i, weft_dtype *dtype, shape *out) {
  weft__variable_declared(s->graph, s->node->in[i], dtype, out);
}
