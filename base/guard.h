/* guard.h - bytes around tensors that no kernel may write to.
 *
 * Off unless a test enables it.  Then GUARD_BYTES lie before and after the elements of every tensor on the heap and of
 * every value in a plan's arena.  They are checked when a heap tensor is freed (tensor/buffer.c), and after the kernel
 * that made a value of the arena (exec/executors/guarded.c).  Elements start out as guard bytes too, so that a kernel
 * that leaves some of them unwritten does not find zeros there.
 *
 * A build with AddressSanitizer has no guard behind heap tensors: there the sanitizer itself sees the first wrong byte. */
#ifndef WEFT_BASE_GUARD_H
#define WEFT_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_BYTES = 64 };

extern size_t weft__guard_size; /* GUARD_BYTES, or 0 while guards are off */

/* Tests: turns guards on for the process; to be called before there are tensors or other threads. */
void weft__guard_enable(void);
/* Writes guard bytes: `before` and `after` many around the `size` bytes of data, and over those. */
void weft__guard_fill(void *data, size_t size, size_t before, size_t after);
/* Checks those around the `size` bytes of data.  A changed one is counted, with the name of its owner. */
void weft__guard_check(const void *data, size_t size, size_t before, size_t after, const char *owner);
/* How many checks have failed so far, and in `text` what the last one found. */
long weft__guard_failures(char *text, size_t size);

#endif
