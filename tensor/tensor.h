/* tensor.h - tensors: a reference-counted buffer, and views of it.
 *
 * A `buffer` is memory with an owner.  A `weft_tensor` is a type, a shape and an address inside a buffer.  Several
 * tensors may share one buffer.  Code that writes to a tensor must hold the only reference to its buffer
 * (weft__tensor_writable).  A tensor is either on the heap (weft__tensor_create, weft_tensor_destroy) or inside another
 * struct (weft__tensor_init, weft__tensor_clear), as the executor's slots are.
 *
 * A transient buffer belongs to the arena of a running step.  It may be read until the step releases it.  Code that
 * keeps a value beyond the step copies the buffer and does not share it (weft__tensor_keep).
 *
 * Reference counts are atomic, so that buffers, objects and heap tensors may be retained and released on any thread.
 * Everything else about a tensor belongs to its owner. */
#ifndef WEFT_TENSOR_TENSOR_H
#define WEFT_TENSOR_TENSOR_H

#include "base/assert.h"
#include "base/status.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include <stdatomic.h>

#define WEFT_ALIGN 64

/* The memory of a device: how to allocate it, and how to copy within it.  NULL stands for host memory. */
typedef struct buffer buffer;
typedef struct memory_space memory_space;
struct memory_space {
  weft_err (*alloc)(memory_space *m, buffer **out, weft_dtype dtype, int64_t count); /* plain types only */
  weft_err (*copy)(memory_space *m, void *dst, const void *src, size_t bytes); /* ordered with other work on both */
};

struct buffer {
  atomic_int refs;
  bool transient;   /* belongs to the arena of a running step */
  bool peer_writes; /* shared memory: another process can write to it while it is read */
  weft_dtype dtype; /* of its elements: strings and objects are destroyed with the buffer */
  size_t size;      /* bytes */
  void *data;
  void (*release)(struct buffer *); /* called with the last reference; frees data and the struct */
  void *arg;                        /* for release */
  memory_space *memory;             /* NULL: host memory */
};

/* Allocates host memory for `count` elements, 64-byte aligned, and zeroed only for strings and objects.  The caller
 * owns the one reference.  Returns INVALID_ARGUMENT or RESOURCE_EXHAUSTED. */
weft_err weft__buffer_create(buffer **out, weft_dtype dtype, int64_t count);
/* Wraps memory that the caller owns; release(arg), unless NULL, is called with the last reference, on any thread.  On
 * failure it is not called. */
weft_err weft__buffer_adopt(buffer **out, weft_dtype dtype, void *data, size_t size, void (*release)(void *arg),
                            void *arg);
static inline void weft__buffer_retain(buffer *b) {
  const int before = atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
  WEFT_ASSERT(before > 0); /* only an owner of a reference may add one */
  (void)before;
}
void weft__buffer_release(buffer *b); /* does nothing for NULL */
/* Returns true if the caller holds the only reference. */
static inline bool weft__buffer_is_unique(const buffer *b) {
  return atomic_load_explicit(&((buffer *)(uintptr_t)b)->refs, memory_order_acquire) == 1;
}

/* A string element, changed with weft__str_set; {0} is the empty string. */
typedef struct str {
  char *data; /* owned, not NUL-terminated; NULL when size is 0 */
  size_t size;
} str;
/* Replaces the string by a copy of `size` bytes.  On RESOURCE_EXHAUSTED it stays as it was. */
weft_err weft__str_set(str *s, const void *data, size_t size);

/* A resource or variant element points to an object: the first member of any reference-counted struct. */
typedef struct object {
  atomic_int refs;
  void (*destroy)(struct object *);
} object;
static inline void weft__object_retain(object *o) {
  const int before = o ? atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed) : 1;
  WEFT_ASSERT(before > 0);
  (void)before;
}
void weft__object_release(object *o); /* the last reference calls destroy on this thread; does nothing for NULL */

struct weft_tensor {
  atomic_int refs; /* of this header, if it is on the heap */
  weft_dtype dtype;
  shape shape;
  buffer *buf; /* NULL: an empty slot */
  void *data;  /* inside buf */
};

/* Typed access: the elements of t. */
#define TENSOR_DATA(t, T) ((T *)(t)->data)

/* -- embedded tensors -- */
/* Makes an uninitialized tensor in host memory, or in the memory m.  Returns INVALID_ARGUMENT or RESOURCE_EXHAUSTED; t
 * is then empty. */
weft_err weft__tensor_init(weft_tensor *t, weft_dtype dtype, const shape *s);
weft_err weft__tensor_init_in(weft_tensor *t, memory_space *m, weft_dtype dtype, const shape *s);
/* Makes dst, which is empty, another view of the buffer of src. */
void weft__tensor_share(weft_tensor *dst, const weft_tensor *src);
/* As weft__tensor_share, but copies a transient buffer, so that the result may outlive the step. */
weft_err weft__tensor_keep(weft_tensor *dst, const weft_tensor *src);
/* Makes dst, which is empty, a deep copy in the same kind of memory. */
weft_err weft__tensor_clone(weft_tensor *dst, const weft_tensor *src);
void weft__tensor_clear(weft_tensor *t); /* releases the buffer; t is empty afterwards */
/* Returns true if the caller may write to the elements: no other tensor shares them. */
static inline bool weft__tensor_writable(const weft_tensor *t) {
  return t->buf && !t->buf->transient && weft__buffer_is_unique(t->buf);
}
static inline int64_t weft__tensor_count(const weft_tensor *t) { return weft__shape_count(&t->shape); }
static inline size_t weft__tensor_bytes(const weft_tensor *t) {
  return (size_t)weft__shape_count(&t->shape) * weft__dtype_size(t->dtype);
}
/* Copies `count` elements of any type in host memory: strings are copied deeply, objects are retained. */
weft_err weft__elements_copy(weft_dtype dtype, void *dst, const void *src, int64_t count);
/* Copies the elements of src over those of dst: a plain type, equal sizes, the same kind of memory. */
weft_err weft__tensor_copy(weft_tensor *dst, const weft_tensor *src);
/* Sets `count` elements at dst to the value at src. */
weft_err weft__elements_fill(weft_dtype dtype, void *dst, const void *src, int64_t count);

/* -- heap tensors -- */
/* The caller owns the one reference and releases it with weft_tensor_destroy. */
weft_err weft__tensor_create(weft_tensor **out, weft_dtype dtype, const shape *s);
weft_err weft__tensor_create_like(weft_tensor **out, const weft_tensor *src); /* as weft__tensor_keep */

/* -- scalars and small vectors, for ops and gradients -- */
weft_err weft__tensor_scalar(weft_tensor **out, weft_dtype dtype, double value); /* any number type, or bool */
weft_err weft__tensor_string(weft_tensor **out, const char *data, size_t size);
weft_err weft__tensor_ints(weft_tensor **out, weft_dtype dtype, const int64_t *v, int n); /* int32/int64 [n] */
/* As weft__tensor_ints, for sizes: int32 if all of them fit, else int64, as TensorFlow does for constant shapes. */
weft_err weft__tensor_dims(weft_tensor **out, const int64_t *v, int n);
/* Returns element i of a number tensor as double, or as int64 (floats are truncated). */
double weft__tensor_double(const weft_tensor *t, int64_t i);
int64_t weft__tensor_int(const weft_tensor *t, int64_t i);
/* Sets element i of a tensor of float or double. */
static inline void weft__tensor_set_real(weft_tensor *t, int64_t i, double x) {
  if (t->dtype == WEFT_DOUBLE)
    TENSOR_DATA(t, double)[i] = x;
  else
    TENSOR_DATA(t, float)[i] = (float)x;
}
/* Appends "[1 2 3...]", as TensorFlow prints `limit` elements of a tensor in Assert and Print. */
struct text;
void weft__tensor_print(struct text *out, const weft_tensor *t, int limit);

#endif
