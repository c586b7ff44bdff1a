/* collective.h - sums over the memory of several cards, without a copy to the host.  Any thread may call these
 * functions. */
#ifndef WEFT_DEVICE_COLLECTIVE_H
#define WEFT_DEVICE_COLLECTIVE_H

#include "device/device.h"

/* Returns true if these devices can sum tensors of that type: GPUs on different cards whose plug-in supports it. */
bool weft__devices_can_sum(int n, device *const *d, weft_dtype type);
/* Queues the sum of in[i], which is in the memory of d[i], to `out` in the memory of d[root].  All have the same type
 * and size.  weft__devices_can_sum has returned true. */
weft_err weft__devices_sum(int n, device *const *d, const weft_tensor *const *in, int root, weft_tensor *out);

#endif
