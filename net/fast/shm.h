/* shm.h - memory that two processes of one host see, for what is too large to push through a socket.
 *
 * Each side of a connection has one that it writes to; its descriptor travels with the greeting.  A sender copies bytes into a
 * free block and sends their place; the receiver uses them where they lie and frees the block by clearing one word
 * of shared memory.  So a tensor is copied once, and nobody waits. */
#ifndef WEFT_NET_FAST_SHM_H
#define WEFT_NET_FAST_SHM_H

#include "net/message.h"

typedef struct window window;

enum { WINDOW_MIN = 32 << 10 }; /* bytes; less is as fast through the socket */

/* A window to write to, and the descriptor that the peer needs (the caller's to close). */
weft_err weft__window_create(window **out, int *fd);
/* A peer's window, to read from; fd stays the caller's.  INVALID_ARGUMENT: it could shrink under us, or is of another size. */
weft_err weft__window_open(window **out, int fd);
void weft__window_release(window *w); /* NULL is fine; what was taken from it holds it too */

/* A place is never the size of something that travels by itself: its highest bit is set. */
static inline bool weft__window_is_place(uint64_t place) { return place >> 63; }
static inline size_t weft__window_place_size(uint64_t place) { return (uint32_t)place; }

/* Copies the bytes into the window; 0: there is no room, now or ever. */
uint64_t weft__window_put(window *w, const void *data, size_t size);
/* Adds to m what lies there, which is the receiver's to write to as well, until m or whoever took it over releases it. */
weft_err weft__window_get(window *w, uint64_t place, message *m);
bool weft__window_has(const piece *p); /* such a piece */

#endif
