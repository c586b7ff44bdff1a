/* pinned.h - host memory that cards read and write directly.
 *
 * Tensors for a GPU are received from the network into pinned memory, so that they are not copied once more on their
 * way to the card.  Any thread may call this. */
#ifndef WEFT_DEVICE_PINNED_H
#define WEFT_DEVICE_PINNED_H

#include "tensor/tensor.h"

/* Allocates a buffer for a message of that many bytes: pinned if this process has opened a card and the message is
 * large enough, else plain.  The caller owns the one reference.  Returns RESOURCE_EXHAUSTED. */
weft_err weft__pinned_receive_buffer(buffer **out, size_t bytes);

#endif
