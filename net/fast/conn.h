/* conn.h - one connection of the fast transport: whole frames in, whole frames out.
 *
 * A frame is a head, the sizes of the body's pieces, a text (method or error) and the body.  The pieces
 * arrive as they were sent, each in aligned memory of its own, so that a tensor's content can be used
 * where it was read; on one host the large ones lie in a window, and their place is sent instead.  Numbers are in the order of the processor, which the greeting checks. */
#ifndef WEFT_NET_FAST_CONN_H
#define WEFT_NET_FAST_CONN_H

#include "net/fast/loop.h"
#include "net/fast/shm.h"
#include "net/internal.h"
#include <stdatomic.h>

typedef enum frame_kind { FRAME_GREETING = 1, FRAME_CALL, FRAME_ANSWER, FRAME_CANCEL } frame_kind;

typedef struct frame_head {
  uint32_t magic;
  uint8_t kind, code; /* a weft_err, in answers; and set by the receiver when it had no memory for the body */
  uint16_t n_piece;
  uint32_t text;       /* bytes */
  uint32_t timeout_ms; /* 0: none */
  uint64_t id;         /* of the call */
  uint64_t body;       /* bytes, those in the window too */
} frame_head;

enum {
  FRAME_MAGIC = 0x32544657, /* "WFT2" */
  FRAME_PIECES_MAX = 512,
  FRAME_TEXT_MAX = 4096,
  FRAME_PREFIX_MAX = FRAME_PIECES_MAX * 8 + FRAME_TEXT_MAX,
  FRAME_JOINED_MAX = 32 << 10, /* a body up to this size comes in one piece */
};

typedef struct conn conn;
typedef struct conn_kind {
  /* The body may be taken.  False: not what this side expects; the connection is lost. */
  bool (*frame)(conn *c, const frame_head *h, const char *text, message *body);
  void (*lost)(conn *c, const char *why); /* once, the last thing called */
  void (*destroy)(conn *c);               /* with the last reference; frees c */
  /* Back-pressure: while more bytes than this are queued for a peer that reads too slowly, no more of its frames are
   * read.  Of servers only: if both sides did so, each could wait for the other.  0: no bound. */
  size_t queue_most;
} conn_kind;

struct conn { /* the owner's struct begins with it */
  source source;
  const conn_kind *kind;
  atomic_int refs;
  atomic_bool trusted; /* greeted: may send bodies */
  /* input, at the loop's wheel only */
  uint8_t in[sizeof(frame_head) + FRAME_PREFIX_MAX];
  size_t in_begin, in_end;
  bool has_head;
  frame_head head;
  char text[FRAME_TEXT_MAX + 1];
  message body;
  int passed_fd;   /* came with the bytes read so far, -1: none */
  window *seen;    /* the peer's, once it greeted; NULL: it has none */
  int piece;       /* being read */
  size_t piece_at; /* bytes of it that are there */
  uint64_t skip;   /* bytes of a body for which there was no memory: they are read and dropped */
  /* output */
  pthread_mutex_t lock; /* guards what follows */
  struct out_frame *first, *last;
  size_t queued; /* bytes of these frames that are still to be sent */
  bool stalled;  /* reads nothing until the queue is short again: see conn_kind.queue_most */
  bool corked;   /* more frames are here already: what their handlers send goes together */
  bool held;     /* what is queued waits for the next frame, or for weft__conn_flush */
  bool armed;    /* the loop waits for the socket to take more */
  bool broken;   /* nothing can be sent any more */
  int pass_fd;   /* goes with the next bytes, -1: none */
  window *own;   /* made for the greeting, then left alone; NULL: none */
};

/* Takes a connected socket and waits for frames on it; kind->lost comes later.  One reference is the caller's. */
weft_err weft__conn_start(conn *c, const conn_kind *kind, int fd);
void weft__conn_retain(conn *c);
void weft__conn_release(conn *c);
/* Sends or queues; the body is emptied.  Nothing is sent on a broken connection.  With more, another frame is expected
 * at once, and both go together. */
void weft__conn_send(conn *c, frame_head *h, const char *text, message *body, bool more);
void weft__conn_flush(conn *c); /* sends what still waits for another frame */
void weft__conn_close(conn *c); /* any thread: `lost` follows at the wheel */

#endif
