/* alloc.h - the heap, with the failure reported as an error and a test hook that makes it fail.
 *
 * Every function returns NULL on failure with this thread's message set (RESOURCE_EXHAUSTED). */
#ifndef WEFT_BASE_ALLOC_H
#define WEFT_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *weft__alloc(size_t size);
void *weft__alloc_zero(size_t count, size_t size);
void *weft__alloc_aligned(size_t size); /* 64-byte aligned; freed with weft__free */
void *weft__realloc(void *p, size_t size);
char *weft__strdup(const char *s);
char *weft__strndup(const char *s, size_t n);
char *weft__sprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void weft__free(void *p);

/* Tests: the n-th allocation from now (counting from 1) on this thread and all later ones fail; 0 turns it off. */
void weft__alloc_fail_after(long n);
/* Tests: an allocation of more bytes fails, on every thread; to be called before there are others. */
void weft__alloc_fail_above(size_t size);
/* For allocators with memory of their own: must this allocation fail?  Counts nothing. */
bool weft__alloc_must_fail(void);

#define WEFT_OOM WEFT_RESOURCE_EXHAUSTED

#endif
