/* card.h - a card, or a part of one, as this process uses it: streams, one pool of its memory, staging.
 *
 * Kernels run on one stream, copies from and to the host on one each.  All sessions of a process share them, so what is
 * queued by one thread runs in order with the work of the others, and memory may be used again as soon as the last kernel
 * that reads it is queued. */
#ifndef WEFT_DEVICE_CARD_H
#define WEFT_DEVICE_CARD_H

#include "device/device.h"
#include "device/gpu_api.h"
#include "device/memory_pool.h"

typedef struct card card;

/* Of physical card `number`; limit: bytes it may take; pinned: host memory that cards read directly, which outlives it. */
weft_err weft__card_create(card **out, const gpu_api *api, int number, size_t limit, memory_pool *pinned);
void weft__card_destroy(card *c);
/* A task's device over it. */
weft_err weft__card_device(device **out, card *c, const char *task, int id, const gpu_properties *p);
/* "what: why", with the code that fits. */
weft_err weft__gpu_fail(const gpu_api *api, int code, const char *what);

#endif
