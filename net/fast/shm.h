/* shm.h - memory that two processes of one host share, for pieces that are too large to push through a socket.
 *
 * Each side of a connection creates one segment, which it writes to; the descriptor travels with the greeting, and
 * the peer attaches it.  A sender copies a piece into a free block and sends a reference of 64 bits.  The receiver
 * uses the bytes where they are and frees the block by clearing one word of the shared memory.  So a tensor is
 * copied once, and neither side waits for the other.
 *
 * A segment is counted; functions may be called on any thread. */
#ifndef WEFT_NET_FAST_SHM_H
#define WEFT_NET_FAST_SHM_H

#include "net/message.h"

typedef struct shm shm;

enum { SHM_PIECE_MIN = 32 << 10 }; /* bytes; a smaller piece is as fast through the socket */

/* A segment to write to, and the descriptor that the peer attaches (the caller's to close).  RESOURCE_EXHAUSTED: the
 * system has no shared memory or address space for it. */
weft_err weft__shm_create(shm **out, int *fd);
/* A peer's segment, to read from; fd stays the caller's.  INVALID_ARGUMENT: the memory is not sealed against
 * shrinking, or has another size. */
weft_err weft__shm_attach(shm **out, int fd);
void weft__shm_release(shm *s); /* NULL is fine; pieces that were read hold a reference of their own */

/* A reference is told from the size of a piece by its highest bit. */
static inline bool weft__shm_is_ref(uint64_t ref) { return ref >> 63; }
static inline size_t weft__shm_ref_size(uint64_t ref) { return (uint32_t)ref; }

/* Copies the bytes into a block; returns its reference, or 0 if no block is free. */
uint64_t weft__shm_write(shm *s, const void *data, size_t size);
/* Adds the block of a reference to m as a piece, without copying.  The receiver may write to it, until m or whoever
 * took the piece over releases it.  INVALID_ARGUMENT: the peer sent a reference to nothing. */
weft_err weft__shm_read(shm *s, uint64_t ref, message *m);
bool weft__shm_has_piece(const piece *p); /* was the piece added by weft__shm_read? */

#endif
