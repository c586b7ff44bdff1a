/* card.h - a GPU card, or a virtual device on one: its streams, the pool of its memory, and its staging buffers.
 *
 * Kernels run on one stream; copies from the host and to the host have a stream each.  All sessions of a process share
 * them.  So the work of one thread is ordered with the work of the others, and memory may be used again as soon as the
 * last kernel that reads it is queued.  Any thread may use a card. */
#ifndef WEFT_DEVICE_CARD_H
#define WEFT_DEVICE_CARD_H

#include "device/device.h"
#include "device/gpu_api.h"
#include "device/memory_pool.h"

typedef struct card card;

/* Opens physical card `number`, with at most `limit` bytes of its memory.  `pinned` is host memory that cards read
 * directly; it must outlive the card.  The caller destroys *out. */
weft_err weft__card_create(card **out, const gpu_api *api, int number, size_t limit, memory_pool *pinned);
void weft__card_destroy(card *c); /* waits for its kernels; does nothing for NULL */
/* Creates a device of a task on the card, which must outlive it. */
weft_err weft__card_device(device **out, card *c, const char *task, int id, const gpu_properties *p);
/* Sets the message "what: error text" for a code of the plug-in, and returns the error that fits it. */
weft_err weft__gpu_fail(const gpu_api *api, int code, const char *what);

#endif
