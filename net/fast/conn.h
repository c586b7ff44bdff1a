/* conn.h - one connection of the fast transport: whole frames in, whole frames out.
 *
 * A frame is a head, the sizes of the body's pieces, a text (method or error) and the body.  The pieces arrive as
 * they were sent, each in aligned memory of its own, so that a tensor's content can be used where it was read.  On
 * one host the large pieces are in shared memory (shm.h), and a reference is sent instead of a size.  Numbers are in
 * the byte order of the processor, which the magic number of the greeting checks.
 *
 * A connection is unauthenticated until its greeting was accepted, and may not send bodies before that.
 *
 * Owner: client.c or server.c, whose struct begins with a conn.  Input is read in dispatch of the connection's loop;
 * anything may be sent on any thread. */
#ifndef WEFT_NET_FAST_CONN_H
#define WEFT_NET_FAST_CONN_H

#include "net/fast/loop.h"
#include "net/fast/shm.h"
#include "net/internal.h"
#include <stdatomic.h>

typedef enum frame_kind { FRAME_GREETING = 1, FRAME_CALL, FRAME_RESPONSE, FRAME_CANCEL } frame_kind;

typedef struct frame_head {
  uint32_t magic;
  uint8_t kind, code; /* code: a weft_err, in responses; also set by the receiver when it had no memory for the body */
  uint16_t n_piece;
  uint32_t text;       /* bytes */
  uint32_t timeout_ms; /* 0: none */
  uint64_t id;         /* of the call */
  uint64_t body;       /* bytes, with those in shared memory */
} frame_head;

enum {
  FRAME_MAGIC = 0x32544657, /* "WFT2" */
  FRAME_PIECES_MAX = 512,
  FRAME_TEXT_MAX = 4096,
  FRAME_PREFIX_MAX = FRAME_PIECES_MAX * 8 + FRAME_TEXT_MAX,
  FRAME_JOINED_MAX = 32 << 10, /* a body up to this size arrives as one piece */
};

typedef struct conn conn;

/* What the owner is told, always in dispatch of the connection's loop. */
typedef struct conn_callbacks {
  /* A frame has arrived; the callback may take the body.  Returns false if this side does not expect it: then the
   * connection is lost. */
  bool (*on_frame)(conn *c, const frame_head *h, const char *text, message *body);
  void (*on_lost)(conn *c, const char *why); /* once, and the last callback but destroy */
  /* Any thread, with the last reference.  The owner first removes c from where other threads find it, then calls
   * weft__conn_finish and frees c. */
  void (*destroy)(conn *c);
  /* Back-pressure: while more bytes than this are queued for a peer that reads too slowly, no more of its frames are
   * read.  Only servers set it: if both sides did, each could wait for the other.  0: no limit. */
  size_t max_queued;
} conn_callbacks;

struct conn {
  source source;
  const conn_callbacks *callbacks;
  atomic_int refs;
  atomic_bool authenticated; /* the greeting was accepted: the peer may send bodies */
  bool unix_socket;          /* the peer is on this host; constant.  Else TCP */
  /* input, in dispatch only */
  uint8_t in[sizeof(frame_head) + FRAME_PREFIX_MAX];
  size_t in_begin, in_end;
  bool has_head;
  frame_head head;
  char text[FRAME_TEXT_MAX + 1];
  message body;
  int received_fd;     /* came with the bytes read so far; -1: none */
  shm *peer_shm;       /* attached with the peer's greeting; NULL: none */
  int piece;           /* the one that is being read */
  size_t piece_offset; /* bytes of it that have arrived */
  int low_water;       /* the loop reports input from so many bytes on; 1 but for the rest of a large body */
  uint64_t discard;    /* bytes of a body for which there was no memory: they are read and dropped */
  /* output */
  pthread_mutex_t lock; /* guards what follows, and the use of source */
  struct out_frame *first, *last;
  size_t queued;     /* bytes of these frames that are still to be sent */
  bool read_paused;  /* until fewer bytes are queued: see conn_callbacks.max_queued */
  bool corked;       /* more frames were read at once: what their handlers send goes out together */
  bool delayed;      /* what is queued waits for the next frame, or for weft__conn_flush */
  bool wants_output; /* the loop waits until the socket takes more */
  bool broken;       /* nothing can be sent any more */
  int fd_to_send;    /* goes with the next bytes; -1: none */
  shm *own_shm;      /* created with the greeting, then constant; NULL: none */
};

/* Takes over a connected socket.  From here on other threads may call weft__conn_close.  Two references are made: the
 * caller's, and the loop's, which weft__conn_start takes over. */
void weft__conn_init(conn *c, const conn_callbacks *callbacks, int fd);
/* Registers the connection with the least busy loop, which keeps its reference until on_lost has returned.  On failure
 * the socket is closed and the loop's reference is released; no callback but destroy comes. */
weft_err weft__conn_start(conn *c, loop_group *loops);
void weft__conn_finish(conn *c); /* frees what c holds, but not c: see conn_callbacks.destroy */
void weft__conn_retain(conn *c);
void weft__conn_release(conn *c);
/* Sends a frame, or queues what the socket does not take; never waits.  The body is emptied.  On a broken connection
 * nothing is sent: on_lost has come or follows.  more: another frame follows at once, and both go out together. */
void weft__conn_send(conn *c, frame_head *h, const char *text, message *body, bool more);
void weft__conn_flush(conn *c); /* sends frames that still wait for another */
void weft__conn_close(conn *c); /* shuts the socket down; on_lost follows in dispatch */

#endif
