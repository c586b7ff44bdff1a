/* alloc.c - malloc with an error message, a limit for the process (base/memory_limit.h) and a per-thread countdown that
 * makes it fail for tests.
 *
 * While a limit is set, every piece is counted with malloc_usable_size, so that weft__free knows its size.  Nothing
 * here has a lock: the countdown is thread-local and the count of bytes is atomic.
 *
 * Include cycle with base/block, base/memory_limit, base/status: an allocation that fails reports an error, the limit
 * gives cached blocks back, and a stored error keeps its message on the heap. */
#include "base/alloc.h"
#include "base/sanitizer.h"
#include "base/memory_limit.h"
#include "base/status.h"
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20, LARGE = 64 << 20 };

static _Thread_local long fail_after; /* 0: off; 1: the next allocation and all later ones fail */
static size_t largest = PTRDIFF_MAX / 2;

void weft__alloc_fail_after(long n) { fail_after = n; }

void weft__alloc_fail_above(size_t size) { largest = size; }

bool weft__alloc_must_fail(void) { return fail_after == 1; }

/* Refuses sizes that no machine has, because some allocators end the process for them.  Counts down for tests. */
static bool alloc_is_made_to_fail(size_t size) {
  if (size > largest) return true;
  if (fail_after == 0) return false;
  if (fail_after == 1) return true;
  fail_after--;
  return false;
}

static void *alloc_or_fail(void *p, size_t size) {
  if (!p) weft__fail(WEFT_RESOURCE_EXHAUSTED, "Out of memory allocating %zu bytes", size);
  return p;
}

/* ---- allocation with malloc, counted while a limit is set ---- */

typedef void *alloc_fn(size_t size);

/* glibc's calloc does not use the thread's cache of small pieces, so they are faster by malloc and memset.  Large
 * pieces come zeroed from the kernel. */
static void *alloc_zeroed(size_t size) {
  enum { CACHED = 1024 };
  if (size > CACHED) return calloc(size, 1);
  void *p = malloc(size ? size : 1);
  return p ? memset(p, 0, size) : NULL;
}

static void *alloc_any(size_t size) { return malloc(size ? size : 1); }

#ifndef WEFT_SANITIZED
/* A large block asks for huge pages.  Rows of a large table are far apart, and with small pages each costs a walk
 * through the page tables.  If the kernel has no huge pages to give, the advice does nothing. */
static void *alloc_huge_pages(size_t size) {
  void *p = aligned_alloc(HUGE_PAGE, (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
  if (p) (void)madvise(p, size, MADV_HUGEPAGE);
  return p;
}
#endif

static void *alloc_aligned(size_t size) {
#ifdef WEFT_SANITIZED /* not one byte more, so that ASan sees a read past the end */
  void *p;
  return posix_memalign(&p, ALIGN, size ? size : 1) == 0 ? p : NULL;
#else
  if (size >= LARGE) return alloc_huge_pages(size);
  return aligned_alloc(ALIGN, size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN);
#endif
}

/* Reserves the bytes first, and counts the few that malloc adds afterwards. */
static void *alloc_counted(alloc_fn *get, size_t size) {
  if (!weft__memory_limit_reserve(size)) return NULL;
  void *p = get(size);
  weft__memory_limit_release((int64_t)size - (p ? (int64_t)malloc_usable_size(p) : 0));
  return alloc_or_fail(p, size);
}

static inline void *alloc_checked(alloc_fn *get, size_t size) {
  if (alloc_is_made_to_fail(size)) return alloc_or_fail(NULL, size);
  return weft__memory_limit_is_set() ? alloc_counted(get, size) : alloc_or_fail(get(size), size);
}

void *weft__alloc(size_t size) { return alloc_checked(alloc_any, size); }

void *weft__alloc_zero(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) return alloc_or_fail(NULL, SIZE_MAX);
  return alloc_checked(alloc_zeroed, total);
}

void *weft__alloc_aligned(size_t size) { return alloc_checked(alloc_aligned, size); }

static void *realloc_counted(void *p, size_t size) {
  const int64_t before = p ? (int64_t)malloc_usable_size(p) : 0;
  if (!weft__memory_limit_reserve(size)) return NULL; /* both exist while realloc copies */
  void *q = realloc(p, size ? size : 1);
  weft__memory_limit_release((int64_t)size + (q ? before - (int64_t)malloc_usable_size(q) : 0));
  return alloc_or_fail(q, size);
}

void *weft__realloc(void *p, size_t size) {
  if (alloc_is_made_to_fail(size)) return alloc_or_fail(NULL, size);
  return weft__memory_limit_is_set() ? realloc_counted(p, size) : alloc_or_fail(realloc(p, size ? size : 1), size);
}

char *weft__strndup(const char *s, size_t n) {
  char *copy = weft__alloc(n + 1);
  if (!copy) return NULL;
  if (n) memcpy(copy, s, n);
  copy[n] = 0;
  return copy;
}

char *weft__strdup(const char *s) { return weft__strndup(s, strlen(s)); }

char *weft__sprintf(const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  char *s = n < 0 ? NULL : weft__alloc((size_t)n + 1);
  if (s) vsnprintf(s, (size_t)n + 1, fmt, again);
  va_end(again);
  return s;
}

void weft__free(void *p) {
  if (p && weft__memory_limit_is_set()) weft__memory_limit_release((int64_t)malloc_usable_size(p));
  free(p);
}
