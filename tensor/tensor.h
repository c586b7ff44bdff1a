/* tensor.h - values: a refcounted buffer, and views on it.
 *
 * A `buffer` is memory with an owner; a `weft_tensor` is a type, a shape and a place in a buffer.
 * Several tensors may share one buffer; whoever wants to write must be the only one that does
 * (weft__tensor_writable).  A tensor may live on the heap (weft_tensor_create ... destroy) or
 * inside another struct (init ... clear), as the executor's slots do.
 *
 * A transient buffer belongs to a running step's arena: it may be read until the step releases it
 * and is copied, never shared, by anything that outlives the step (weft__tensor_keep). */
#ifndef WEFT_TENSOR_TENSOR_H
#define WEFT_TENSOR_TENSOR_H

#include "base/assert.h"
#include "base/status.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include <stdatomic.h>

#define WEFT_ALIGN 64

/* Memory that is not the host's: how to get some, and to copy within it.  NULL stands for the host's. */
typedef struct buffer buffer;
typedef struct memory_space memory_space;
struct memory_space {
  weft_err (*alloc)(memory_space *m, buffer **out, weft_dtype dtype, int64_t count); /* of plain types */
  weft_err (*copy)(memory_space *m, void *dst, const void *src, size_t bytes); /* in order with what uses either */
};

struct buffer {
  atomic_int refs;
  bool transient;
  bool peer_writes; /* another process can write to it while it is read: shared memory */
  weft_dtype dtype; /* of its elements: strings and objects are destroyed with the buffer */
  size_t size;      /* bytes */
  void *data;
  void (*release)(struct buffer *); /* called at the last reference; frees data and the struct */
  void *arg;                        /* for release */
  memory_space *memory;             /* whose; NULL: the host's */
};

/* Heap memory for `count` elements: 64-byte aligned, zeroed only for strings and objects. */
weft_err weft__buffer_create(buffer **out, weft_dtype dtype, int64_t count);
/* Wraps foreign memory; release(arg) is called at the end. */
weft_err weft__buffer_adopt(buffer **out, weft_dtype dtype, void *data, size_t size, void (*release)(void *arg),
                            void *arg);
static inline void weft__buffer_retain(buffer *b) {
  const int before = atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  WEFT_ASSERT(before > 0); /* only an owner of a reference may add one */
  (void)before;
}
void weft__buffer_release(buffer *b); /* NULL is fine */
static inline bool weft__buffer_is_unique(const buffer *b) {
  return atomic_load_explicit(&((buffer *)(uintptr_t)b)->refs, memory_order_acquire) == 1;
}

/* A string element.  Set through weft__str_set; {0} is the empty string. */
typedef struct str {
  char *data; /* owned, not NUL-terminated; NULL when size is 0 */
  size_t size;
} str;
weft_err weft__str_set(str *s, const void *data, size_t size);

/* What a resource or variant element points at: anything refcounted. */
typedef struct object {
  atomic_int refs;
  void (*destroy)(struct object *);
} object;
static inline void weft__object_retain(object *o) {
  const int before = o ? atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed) : 1;
  WEFT_ASSERT(before > 0);
  (void)before;
}
void weft__object_release(object *o); /* NULL is fine */

struct weft_tensor {
  atomic_int refs; /* of this header, when on the heap */
  weft_dtype dtype;
  shape shape;
  buffer *buf; /* NULL: an empty slot */
  void *data;  /* inside buf */
};

/* Typed access: the elements of t. */
#define TENSOR_DATA(t, T) ((T *)(t)->data)

/* -- embedded tensors -- */
weft_err weft__tensor_init(weft_tensor *t, weft_dtype dtype, const shape *s); /* allocates on the heap */
weft_err weft__tensor_init_in(weft_tensor *t, memory_space *m, weft_dtype dtype, const shape *s);
void weft__tensor_share(weft_tensor *dst, const weft_tensor *src); /* dst was empty; same buffer */
/* As share, but a transient buffer is copied: the result outlives the step. */
weft_err weft__tensor_keep(weft_tensor *dst, const weft_tensor *src);
/* dst (empty) becomes a fresh deep copy, in the same memory. */
weft_err weft__tensor_clone(weft_tensor *dst, const weft_tensor *src);
void weft__tensor_clear(weft_tensor *t);
static inline bool weft__tensor_writable(const weft_tensor *t) {
  return t->buf && !t->buf->transient && weft__buffer_is_unique(t->buf);
}
static inline int64_t weft__tensor_count(const weft_tensor *t) { return weft__shape_count(&t->shape); }
static inline size_t weft__tensor_bytes(const weft_tensor *t) {
  return (size_t)weft__shape_count(&t->shape) * weft__dtype_size(t->dtype);
}
/* Copies `count` elements of any type between places of equal type (strings deep, objects retained). */
weft_err weft__elements_copy(weft_dtype dtype, void *dst, const void *src, int64_t count);
/* As many elements of src, a plain type, over those of dst, in the same memory. */
weft_err weft__tensor_copy(weft_tensor *dst, const weft_tensor *src);
/* Sets `count` elements at dst to the one at src. */
weft_err weft__elements_fill(weft_dtype dtype, void *dst, const void *src, int64_t count);

/* -- heap tensors -- */
weft_err weft__tensor_create(weft_tensor **out, weft_dtype dtype, const shape *s);
weft_err weft__tensor_create_like(weft_tensor **out, const weft_tensor *src); /* shares the buffer (kept) */

/* -- scalars and small vectors, for ops and gradients -- */
weft_err weft__tensor_scalar(weft_tensor **out, weft_dtype dtype, double value); /* any number type or bool */
weft_err weft__tensor_string(weft_tensor **out, const char *data, size_t size);
weft_err weft__tensor_ints(weft_tensor **out, weft_dtype dtype, const int64_t *v, int n); /* int32/int64 [n] */
/* As weft__tensor_ints, of sizes: int32 while all of them fit, else int64, as TensorFlow makes the constant of a shape. */
weft_err weft__tensor_dims(weft_tensor **out, const int64_t *v, int n);
/* Element i of a number tensor as double / int64 (floats truncated). */
double weft__tensor_double(const weft_tensor *t, int64_t i);
int64_t weft__tensor_int(const weft_tensor *t, int64_t i);
/* "[1 2 3...]" as TF prints `limit` elements of a tensor in Assert and Print. */
struct text;
void weft__tensor_print(struct text *out, const weft_tensor *t, int limit);

#endif
