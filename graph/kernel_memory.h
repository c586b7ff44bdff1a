/* kernel_memory.h - counts the scratch memory of kernels, for traces. */
#ifndef WEFT_GRAPH_KERNEL_MEMORY_H
#define WEFT_GRAPH_KERNEL_MEMORY_H

#include <stddef.h>

/* Returns the bytes that weft__scratch allocated on this thread since the last call, and resets the count. */
size_t weft__scratch_taken(void);

#endif
