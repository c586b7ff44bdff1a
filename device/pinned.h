/* pinned.h - host memory that cards read and write directly.
 *
 * What comes over the network for a GPU is received into it, so that it goes up without being copied once more. */
#ifndef WEFT_DEVICE_PINNED_H
#define WEFT_DEVICE_PINNED_H

#include "tensor/tensor.h"

/* Memory to receive so many bytes into: pinned if this process has opened a card and the bytes are worth it. */
weft_err weft__pinned_receive_buffer(buffer **out, size_t bytes);

#endif
