/* guard.h - guard bytes around tensors, which detect kernels that write out of bounds.
 *
 * They are off unless a test enables them.  Then GUARD_BYTES bytes are before and after the elements of every tensor
 * on the heap and of every value in a plan's arena.  They are checked when a heap tensor is freed (tensor/buffer.c),
 * and after the kernel that computed a value of the arena (exec/executors/guarded.c).  Elements start out as guard
 * bytes too, so that a kernel that leaves some of them unwritten does not find zeros there.
 *
 * A build with AddressSanitizer has no guard behind heap tensors, because there the sanitizer detects the first
 * wrong byte. */
#ifndef WEFT_BASE_GUARD_H
#define WEFT_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { GUARD_BYTES = 64 };

extern size_t weft__guard_size; /* GUARD_BYTES, or 0 while guards are off */

/* For tests: enables guards for the process.  Call it before there are tensors or other threads. */
void weft__guard_enable(void);
/* Writes guard bytes over the `size` bytes of data, the `before` bytes in front of them and the `after` bytes behind
 * them. */
void weft__guard_fill(void *data, size_t size, size_t before, size_t after);
/* Checks the guard bytes around the `size` bytes of data.  If one has changed, counts a failure with the name of the
 * owner. */
void weft__guard_check(const void *data, size_t size, size_t before, size_t after, const char *owner);
/* Returns how many checks have failed so far, and stores a description of the last failure in `text`. */
long weft__guard_failures(char *text, size_t size);

#endif
