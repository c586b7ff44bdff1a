/* kernel.c - how a kernel gets its outputs.
 *
 * An output goes to the buffer planned for it if it fits and is free; otherwise it is allocated on the heap.  An
 * output may always take over an input's heap buffer that nothing else references.  It may take over a place in the
 * step's arena only if the plan knew that when it laid out the arena: k->alias. */
#include "graph/kernel.h"
#include "graph/kernel_memory.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include <stdarg.h>
#include <stdio.h>

enum { TARGET_NS = 20000 }; /* minimum time of a piece of a loop that is worth giving to another thread */

static bool arena_free(const buffer *b) { return weft__buffer_is_unique(b); } /* only the frame references it */

/* Returns the memory of output i. */
static memory_space *kernel_memory_of(const kernel *k, int i) {
  WEFT_ASSERT(i >= 0 && i < k->n_out);
  if (!k->device || (i < 64 && k->host_out >> i & 1) || !weft__dtype_is_plain(weft__dtype_base(k->node->out_type[i])))
    return NULL;
  return &k->device->memory;
}

/* Limits folding, which must not allocate gigabytes for a value that may never be used. */
static weft_err check_limit(const kernel *k, weft_dtype type, const shape *s) {
  const int64_t count = weft__shape_count(s);
  if (!k->limit || count < 0 || (size_t)count <= k->limit / weft__dtype_size(type)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED,
                           "a %s of shape %s takes more than the %zu bytes of a folded value", weft__dtype_name(type),
                           weft__shape_text(s), k->limit);
}

weft_tensor *weft__out(kernel *k, int i, const shape *s) {
  WEFT_ASSERT(i >= 0 && i < k->n_out);
  weft_tensor *t = &k->out[i].t;
  weft_dtype type = weft__dtype_base(k->node->out_type[i]);
  int64_t count = weft__shape_count(s);
  if (count < 0) {
    weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Shape %s %s (output %d)", weft__shape_text(s),
                      count == -2 ? weft__shape_excess(s) : "is not fully known", i);
    return NULL;
  }
  if (check_limit(k, type, s)) return NULL;
  buffer *place = k->planned ? k->planned[i] : NULL;
  size_t size = weft__dtype_size(type);
  if (place && weft__dtype_is_plain(type) && (size_t)count <= place->size / size && arena_free(place)) {
    weft__buffer_retain(place);
    t->dtype = type;
    t->shape = *s;
    t->buf = place;
    t->data = place->data;
    return t;
  }
  if (weft__tensor_init_in(t, kernel_memory_of(k, i), type, s) == WEFT_OK) return t;
  weft__fail_in(WEFT_RESOURCE_EXHAUSTED, "%s '%s': output %d of shape %s", k->node->op_name, k->node->name, i,
                weft__shape_text(s));
  return NULL;
}

/* Returns true if only this kernel's input slot (and, for a planned place, the frame) references the buffer. */
static bool buffer_is_sole(const buffer *b) {
  int refs = atomic_load_explicit(&((buffer *)(uintptr_t)b)->refs, memory_order_acquire);
  WEFT_ASSERT(refs > 0);
  return refs == (b->transient ? 2 : 1);
}

static bool known_to_plan(const kernel *k, int i, int from, const buffer *b) {
  return !b->transient || (k->alias && k->alias[i] == from);
}

static void share_as(kernel *k, int i, const weft_tensor *in, const shape *s) {
  WEFT_ASSERT(i >= 0 && i < k->n_out && in->buf);
  WEFT_ASSERT(weft__shape_count(s) == weft__tensor_count(in));
  weft__tensor_share(&k->out[i].t, in);
  k->out[i].t.shape = *s;
}

weft_tensor *weft__out_over(kernel *k, int i, int from, const shape *s) {
  WEFT_ASSERT(i >= 0 && i < k->n_out && from >= 0 && from < k->n_in);
  const weft_tensor *in = k->in[from];
  bool dying = from < 64 && (k->dying >> from & 1);
  if (dying && in && in->dtype == weft__dtype_base(k->node->out_type[i]) && weft__dtype_is_plain(in->dtype) &&
      weft__shape_count(s) == weft__tensor_count(in) && in->buf->memory == kernel_memory_of(k, i) &&
      buffer_is_sole(in->buf) && known_to_plan(k, i, from, in->buf)) {
    share_as(k, i, in, s);
    return &k->out[i].t;
  }
  return weft__out(k, i, s);
}

weft_err weft__forward(kernel *k, int i, int from, const shape *s) {
  WEFT_ASSERT(i >= 0 && i < k->n_out && from >= 0 && from < k->n_in && k->in[from]);
  const weft_tensor *in = k->in[from];
  if (known_to_plan(k, i, from, in->buf)) {
    share_as(k, i, in, s);
    return WEFT_OK;
  }
  weft_tensor *out = weft__out(k, i, s);
  if (!out) return WEFT_RESOURCE_EXHAUSTED;
  if (in->buf->memory) return weft__tensor_copy(out, in);
  return weft__elements_copy(in->dtype, out->data, in->data, weft__tensor_count(in));
}

weft_err weft__out_share(kernel *k, int i, const weft_tensor *t) { return weft__tensor_keep(&k->out[i].t, t); }

void weft__out_ref(kernel *k, int i, variable *v) { k->out[i].ref = v; }

static _Thread_local size_t scratch_bytes; /* see weft__scratch_taken */

size_t weft__scratch_taken(void) {
  const size_t bytes = scratch_bytes;
  scratch_bytes = 0;
  return bytes;
}

weft_err weft__scratch(kernel *k, weft_tensor *t, weft_dtype dtype, const shape *s) {
  WEFT_TRY(check_limit(k, dtype, s));
  WEFT_TRY(weft__tensor_init_in(t, k->device ? &k->device->memory : NULL, dtype, s));
  scratch_bytes += t->buf ? weft__tensor_bytes(t) : 0;
  return WEFT_OK;
}

void weft__kernel_loop(const kernel *k, int64_t n, int64_t cost, pool_loop *fn, void *arg) {
  if (n <= 0) return;
  int64_t grain = TARGET_NS / (cost > 0 ? cost : 1);
  pool *p = k->step ? k->step->intra : NULL;
  if (!p || n <= grain)
    fn(arg, 0, n);
  else
    weft__pool_loop(p, n, grain > 0 ? grain : 1, fn, arg);
}

void weft__kernel_defer(kernel *k) { k->pending = true; }

void weft__kernel_done(kernel *k, weft_err err) { k->done(k, err); }

/* ---- errors ------------------------------------------------------------------------------------ */

#undef weft__kernel_fail
weft_err weft__kernel_fail(const kernel *k, weft_err code, const char *fmt, ...) {
  char what[6144]; /* a check of numbers tells the stack of its op */
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  (void)weft__fail(code, "%s", what);
  return weft__kernel_in(k, code);
}

weft_err weft__kernel_in(const kernel *k, weft_err err) {
  if (err == WEFT_OK) return WEFT_OK;
  (void)weft__fail_again(err, "%s\n\t [[{{node %s}}]]", weft__error_message(), k->node->name);
  return weft__error_add_facts(err, ERROR_NAMES_NODE);
}

weft_err weft__kernel_no_type(const kernel *k, weft_dtype t) {
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "No OpKernel was registered to support Op '%s' with the type %s",
                           k->node->op_name, weft__dtype_name(t));
}

weft_err weft__kernel_scalar(const kernel *k, int i, const char *arg) {
  WEFT_ASSERT(i >= 0 && i < k->n_in && k->in[i]);
  if (k->in[i]->shape.rank == 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s is not a scalar: %s", arg, weft__shape_text(&k->in[i]->shape));
}

weft_err weft__kernel_vector(const kernel *k, int i, const char *arg) {
  WEFT_ASSERT(i >= 0 && i < k->n_in && k->in[i]);
  if (k->in[i]->shape.rank == 1) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a vector, but its shape is %s", arg,
                           weft__shape_text(&k->in[i]->shape));
}

char *weft__kernel_strdup(const kernel *k, int i) {
  WEFT_ASSERT(i >= 0 && i < k->n_in && k->in[i]->dtype == WEFT_STRING && weft__tensor_count(k->in[i]) > 0);
  const str *s = &TENSOR_DATA(k->in[i], str)[0];
  return weft__strndup(s->size ? s->data : "", s->size);
}

weft_err weft__kernel_ints(const kernel *k, int i, const char *arg, int64_t *out, int *n) {
  WEFT_ASSERT(i >= 0 && i < k->n_in && k->in[i]);
  const weft_tensor *t = k->in[i];
  int64_t count = weft__tensor_count(t);
  if (t->shape.rank > 1 || count > WEFT_MAX_RANK)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "%s must be a vector of at most %d elements, but its shape is %s", arg, WEFT_MAX_RANK,
                             weft__shape_text(&t->shape));
  *n = weft__int_sat(count);
  for (int j = 0; j < *n; j++) out[j] = weft__tensor_int(t, j);
  return WEFT_OK;
}

weft_err weft__kernel_dims(const kernel *k, int i, const char *arg, shape *out) {
  WEFT_TRY(weft__kernel_ints(k, i, arg, out->dim, &out->rank));
  for (int d = 0; d < out->rank; d++)
    if (out->dim[d] < 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dimension %lld must be >= 0", (long long)out->dim[d]);
  return WEFT_OK;
}
