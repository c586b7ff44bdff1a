/* kernel_memory.h - how much scratch memory kernels took, for traces. */
#ifndef WEFT_GRAPH_KERNEL_MEMORY_H
#define WEFT_GRAPH_KERNEL_MEMORY_H

#include <stddef.h>

/* Returns the bytes that weft__scratch gave on this thread since the last call, and begins anew. */
size_t weft__scratch_taken(void);

#endif
