/* collective.h - what several cards do together. */
#ifndef WEFT_DEVICE_COLLECTIVE_H
#define WEFT_DEVICE_COLLECTIVE_H

#include "device/device.h"

/* Can these GPUs add up tensors of that type by themselves?  They must be on cards that differ. */
bool weft__devices_can_sum(int n, device *const *d, weft_dtype type);
/* Queues the sum of in[i], in the memory of d[i], all of out's type and size; out is in that of d[root]. */
weft_err weft__devices_sum(int n, device *const *d, const weft_tensor *const *in, int root, weft_tensor *out);

#endif
