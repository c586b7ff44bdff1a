/* buffer.c - the memory of tensors: one 64-byte aligned block holds the header and the elements.
 *
 * Blocks come from base/block.h, which caches freed blocks for the next step.  Reference counts are atomic; there is no
 * lock. */
#include "base/alloc.h"
#include "base/block.h"
#include "base/guard.h"
#include "base/piece.h"
#include "base/sanitizer.h"
#include "tensor/tensor.h"
#include <string.h>

enum { HEADER = WEFT_ALIGN };
_Static_assert(sizeof(buffer) <= HEADER, "a buffer's header fits in front of its aligned data");

/* Frees what the elements own. */
static void buffer_finish_elements(buffer *b) {
  if (b->dtype == WEFT_STRING) {
    str *s = b->data;
    for (size_t i = 0; i < b->size / sizeof *s; i++) weft__piece_free(s[i].data);
  } else if (!weft__dtype_is_plain(b->dtype)) {
    object **o = b->data;
    for (size_t i = 0; i < b->size / sizeof(object *); i++) weft__object_release(o[i]);
  }
}

/* ---- on the heap: header, guard bytes where a test wants them, elements, guard bytes ---- */

static size_t buffer_guard_before(const buffer *b) { return (size_t)((char *)b->data - (char *)b) - HEADER; }

/* With AddressSanitizer the block ends with the last element, so that it sees what is written or read behind. */
static size_t buffer_guard_after(size_t before) {
#ifdef WEFT_SANITIZED_ADDRESS
  return (void)before, 0;
#else
  return before;
#endif
}

static void buffer_release_heap(buffer *b) {
  const size_t before = buffer_guard_before(b), after = buffer_guard_after(before);
  buffer_finish_elements(b);
  if (before) weft__guard_check(b->data, b->size, before, after, "a tensor");
  weft__block_free(b, HEADER + before + b->size + after);
}

weft_err weft__buffer_create(buffer **out, weft_dtype dtype, int64_t count) {
  *out = NULL;
  dtype = weft__dtype_base(dtype);
  size_t element = weft__dtype_size(dtype), size;
  if (count < 0 || element == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "A buffer of %lld elements of type %s", (long long)count,
                      weft__dtype_name(dtype));
  if (__builtin_mul_overflow((size_t)count, element, &size) || size > weft__block_limit())
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "OOM when allocating a tensor of %lld elements of type %s",
                      (long long)count, weft__dtype_name(dtype));
  const size_t before = weft__guard_size, after = buffer_guard_after(before);
  buffer *b = weft__block_alloc(HEADER + before + size + after);
  if (!b) return WEFT_RESOURCE_EXHAUSTED;
  *b = (buffer){.dtype = dtype, .size = size, .data = (char *)b + HEADER + before, .release = buffer_release_heap};
  if (before) weft__guard_fill(b->data, size, before, after);
  atomic_init(&b->refs, 1);
  if (!weft__dtype_is_plain(dtype) && size > 0) memset(b->data, 0, size);
  *out = b;
  return WEFT_OK;
}

typedef struct foreign {
  buffer buffer;
  void (*release)(void *arg);
} foreign;

static void buffer_release_foreign(buffer *b) {
  foreign *f = (foreign *)b;
  if (f->release) f->release(b->arg);
  weft__free(f);
}

weft_err weft__buffer_adopt(buffer **out, weft_dtype dtype, void *data, size_t size, void (*release)(void *arg),
                            void *arg) {
  *out = NULL;
  foreign *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_RESOURCE_EXHAUSTED;
  f->buffer = (buffer){
      .dtype = weft__dtype_base(dtype), .size = size, .data = data, .release = buffer_release_foreign, .arg = arg};
  atomic_init(&f->buffer.refs, 1);
  f->release = release;
  *out = &f->buffer;
  return WEFT_OK;
}

void weft__buffer_release(buffer *b) {
  if (!b) return;
  const int before = atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before == 1) b->release(b);
}

weft_err weft__str_set(str *s, const void *data, size_t size) {
  char *copy = NULL;
  if (size > 0) {
    copy = weft__piece_alloc(size);
    if (!copy) return WEFT_RESOURCE_EXHAUSTED;
    memcpy(copy, data, size);
  }
  weft__piece_free(s->data);
  *s = (str){copy, size};
  return WEFT_OK;
}

void weft__object_release(object *o) {
  if (!o) return;
  const int before = atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel);
  WEFT_ASSERT(before > 0);
  if (before == 1) o->destroy(o);
}

/* ---- elements ---- */

static void object_assign(object **dst, object *o) {
  weft__object_retain(o);
  weft__object_release(*dst);
  *dst = o;
}

weft_err weft__elements_copy(weft_dtype dtype, void *dst, const void *src, int64_t count) {
  WEFT_ASSERT(weft__dtype_size(dtype) > 0);
  if (weft__dtype_is_plain(dtype)) {
    if (count > 0) memcpy(dst, src, (size_t)count * weft__dtype_size(dtype));
  } else if (dtype == WEFT_STRING) {
    const str *s = src;
    for (int64_t i = 0; i < count; i++) WEFT_TRY(weft__str_set((str *)dst + i, s[i].data, s[i].size));
  } else {
    object *const *o = src;
    for (int64_t i = 0; i < count; i++) object_assign((object **)dst + i, o[i]);
  }
  return WEFT_OK;
}

/* Copies what is filled already, twice as much each time: as fast as memcpy for any element size. */
static void elements_fill_plain(char *dst, const char *src, size_t element, size_t total) {
  memcpy(dst, src, element);
  for (size_t done = element; done < total;) {
    size_t n = done < total - done ? done : total - done;
    if (n > 65536) n = 65536 / element * element; /* so that the source stays in the L1 cache */
    memcpy(dst + done, dst, n);
    done += n;
  }
}

weft_err weft__elements_fill(weft_dtype dtype, void *dst, const void *src, int64_t count) {
  if (count <= 0) return WEFT_OK;
  size_t element = weft__dtype_size(dtype);
  if (weft__dtype_is_plain(dtype)) {
    elements_fill_plain(dst, src, element, (size_t)count * element);
    return WEFT_OK;
  }
  for (int64_t i = 0; i < count; i++) WEFT_TRY(weft__elements_copy(dtype, (char *)dst + (size_t)i * element, src, 1));
  return WEFT_OK;
}
