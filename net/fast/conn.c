/* conn.c - reads and writes frames without waiting.
 *
 * A sender writes to the socket at once; only what does not fit is left to the loop.  The kernel reads a large body
 * straight into the memory it will stay in, unless it is in the peer's shared memory.  While the rest of such a body
 * comes by TCP, the reader is woken for LOW_WATER_MAX bytes at a time, not for every few packets.  A connection is
 * removed from its loop in dispatch alone, so that no event can come for one that is gone.
 *
 * Lock: the connection's, over everything that sends.  Under it the socket is written, which does not wait, and the
 * source is rearmed or migrated.  Frames are freed without it, since that may release tensors. */
#include "net/fast/conn.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/metrics.h"
#include "device/pinned.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  IOVECS_MAX = 64,
  LOW_WATER_MIN =
      64 << 10, /* bytes; for less, two system calls that change the low-water mark cost more than they save */
  LOW_WATER_MAX = 512 << 10, /* with more, the sender fills its buffer and then waits for the reader */
};

typedef struct out_frame {
  struct out_frame *next;
  message body;
  size_t sent; /* bytes of prefix and body together */
  size_t prefix_size;
  uint8_t prefix[];
} out_frame;

typedef union fd_control { /* the control part of a socket message that carries a descriptor */
  struct cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))]; /* with its padding, in which the kernel may put a second descriptor */
} fd_control;

/* ---- life ---- */

void weft__conn_retain(conn *c) {
  WEFT_ASSERT(atomic_load(&c->refs) > 0);
  atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void weft__conn_release(conn *c) {
  WEFT_ASSERT(atomic_load(&c->refs) > 0);
  if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) c->callbacks->destroy(c);
}

void weft__conn_finish(conn *c) {
  WEFT_ASSERT(!c->first && !c->last);
  weft__message_finish(&c->body);
  weft__shm_release(c->own_shm);
  weft__shm_release(c->peer_shm);
  if (c->fd_to_send >= 0) close(c->fd_to_send);
  if (c->received_fd >= 0) close(c->received_fd);
  pthread_mutex_destroy(&c->lock);
}

static void frames_free(out_frame *f) {
  while (f) {
    out_frame *next = f->next;
    weft__message_finish(&f->body);
    weft__free(f);
    f = next;
  }
}

/* Ends the connection, in dispatch of its loop. */
static void conn_lose(conn *c, const char *why) {
  pthread_mutex_lock(&c->lock);
  out_frame *unsent = c->first;
  c->first = c->last = NULL;
  c->queued = 0;
  c->broken = true;
  weft__loop_remove(&c->source);
  close(c->source.fd);
  pthread_mutex_unlock(&c->lock);
  frames_free(unsent);
  c->callbacks->on_lost(c, why);
  weft__conn_release(c); /* the loop's reference */
}

void weft__conn_close(conn *c) {
  pthread_mutex_lock(&c->lock);
  if (!c->broken) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
}

/* ---- writing ---- */

/* Fills iovecs with what is still to be sent of a frame; returns how many. */
static int frame_fill_iovecs(struct iovec *v, int room, const uint8_t *prefix, size_t prefix_size, const message *m,
                             size_t sent) {
  int n = 0;
  for (int i = -1; i < m->n_piece && n < room; i++) {
    const piece *p = i < 0 ? &(piece){prefix, prefix_size, NULL, NULL} : weft__message_piece(m, i);
    if (sent >= p->size) {
      sent -= p->size;
      continue;
    }
    v[n++] = (struct iovec){(void *)(uintptr_t)(p->data + sent), p->size - sent};
    sent = 0;
  }
  return n;
}

/* Writes once, with the descriptor if there is one to send.  Returns the bytes written, 0: the socket is full, -1:
 * it is broken.  Locked. */
static ssize_t conn_sendmsg(conn *c, struct iovec *v, int n) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock) && n > 0);
  struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
  fd_control control = {0};
  if (c->fd_to_send >= 0) {
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &c->fd_to_send, sizeof(int));
    m.msg_control = &control, m.msg_controllen = sizeof control;
  }
  ssize_t size;
  do size = sendmsg(c->source.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (size < 0 && errno == EINTR);
  if (size > 0) {
    weft__metrics_add(METRICS_BYTES_OUT, (uint64_t)size);
    if (c->fd_to_send >= 0) close(c->fd_to_send);
    c->fd_to_send = -1;
  }
  return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : size;
}

/* Asks the loop to report room for output, or not to.  Locked. */
static void conn_want_output(conn *c, bool wanted) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  if (c->wants_output != wanted) weft__loop_rearm(&c->source, wanted);
  c->wants_output = wanted;
}

/* Copies the prefix and takes the body over, to be sent later.  Locked. */
static weft_err conn_queue_frame(conn *c, const uint8_t *prefix, size_t prefix_size, message *body, size_t sent) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock) && sent <= prefix_size + body->size);
  out_frame *f = weft__alloc(sizeof *f + prefix_size);
  if (!f) return WEFT_OOM;
  *f = (out_frame){.sent = sent, .prefix_size = prefix_size};
  memcpy(f->prefix, prefix, prefix_size);
  weft__message_move(&f->body, body);
  if (c->last)
    c->last->next = f;
  else
    c->first = f;
  c->last = f;
  c->queued += prefix_size + f->body.size - sent;
  if (!c->corked && !c->delayed) conn_want_output(c, true);
  return WEFT_OK;
}

/* Drops sent bytes from the queue.  Frames that are done go to *done, to be freed without the lock.  Locked. */
static void conn_drop_sent(conn *c, size_t sent, out_frame **done) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock) && sent <= c->queued);
  c->queued -= sent;
  while (c->first) {
    out_frame *f = c->first;
    size_t remaining = f->prefix_size + f->body.size - f->sent;
    if (sent < remaining) {
      f->sent += sent;
      break;
    }
    sent -= remaining;
    c->first = f->next;
    f->next = *done;
    *done = f;
  }
  WEFT_ASSERT(c->first || (sent == 0 && c->queued == 0));
  if (!c->first) c->last = NULL;
}

/* Writes the queue.  If the socket does not take all, the loop will report when it has room.  The caller holds the
 * lock, and frees *done after it has released it.  Returns false if the socket is broken. */
static bool conn_write_queue(conn *c, out_frame **done) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock) && !c->first == !c->last);
  ssize_t sent = 1;
  while (c->first && sent > 0) { /* until the socket is full: only then does epoll report room */
    struct iovec v[IOVECS_MAX];
    int n = 0;
    for (out_frame *f = c->first; f && n < IOVECS_MAX; f = f->next)
      n += frame_fill_iovecs(v + n, IOVECS_MAX - n, f->prefix, f->prefix_size, &f->body, f->sent);
    sent = conn_sendmsg(c, v, n);
    if (sent > 0) conn_drop_sent(c, (size_t)sent, done);
  }
  c->delayed = false;
  conn_want_output(c, c->first != NULL);
  if (c->read_paused &&
      c->queued <= c->callbacks->max_queued / 2) { /* half: not to pause and resume with every frame */
    c->read_paused = false;
    weft__loop_rearm(&c->source, c->wants_output);
  }
  return sent >= 0;
}

/* Pauses reading if too much is queued; conn_write_queue resumes it.  Returns true if reading is paused. */
static bool conn_pause_reading(conn *c) {
  if (!c->callbacks->max_queued) return false;
  pthread_mutex_lock(&c->lock);
  c->read_paused = !c->broken && c->queued > c->callbacks->max_queued;
  bool paused = c->read_paused;
  pthread_mutex_unlock(&c->lock);
  return paused;
}

/* Sends what the socket takes and queues the rest.  Returns false if the socket is broken.  Locked. */
static bool conn_send_or_queue(conn *c, const uint8_t *prefix, size_t prefix_size, message *body, bool more,
                               out_frame **done) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  size_t all = prefix_size + body->size, sent = 0;
  if (more && !c->first) c->delayed = true;
  while (!c->first && !c->corked && !c->delayed && sent < all) {
    struct iovec v[IOVECS_MAX];
    ssize_t n = conn_sendmsg(c, v, frame_fill_iovecs(v, IOVECS_MAX, prefix, prefix_size, body, sent));
    if (n < 0) return false;
    if (n == 0) break;
    sent += (size_t)n;
  }
  if (sent == all) return true;
  if (weft__message_own(body) != WEFT_OK || conn_queue_frame(c, prefix, prefix_size, body, sent) != WEFT_OK)
    return false;
  return !c->delayed || more || conn_write_queue(c, done);
}

/* A greeting to a peer on this host carries a shared memory segment; without one, all goes through the socket. */
static void conn_create_shm(conn *c) {
  if (c->unix_socket && weft__shm_create(&c->own_shm, &c->fd_to_send) != WEFT_OK)
    weft__log(LOG_DEBUG, "large tensors go through the socket, not through shared memory: %s", weft__error_message());
}

/* Returns what the prefix says of a piece: its size, or a reference if it was moved to shared memory, which leaves it
 * empty. */
static uint64_t conn_write_piece_to_shm(conn *c, message *body, int i) {
  piece *p = (piece *)(uintptr_t)weft__message_piece(body, i);
  size_t size = p->size;
  uint64_t ref = c->own_shm && size >= SHM_PIECE_MIN ? weft__shm_write(c->own_shm, p->data, size) : 0;
  if (!ref) return size;
  weft__metrics_add(METRICS_BYTES_OUT, size);
  if (p->release) p->release(p->arg);
  *p = (piece){0};
  body->size -= size;
  return ref;
}

void weft__conn_send(conn *c, frame_head *h, const char *text, message *body, bool more) {
  uint8_t prefix[sizeof *h + FRAME_PREFIX_MAX];
  message none = {0};
  if (!body) body = &none;
  bool in_pieces = body->size > FRAME_JOINED_MAX && body->n_piece <= FRAME_PIECES_MAX;
  size_t text_size = strlen(text);
  h->magic = FRAME_MAGIC;
  h->text = (uint32_t)(text_size < FRAME_TEXT_MAX ? text_size : FRAME_TEXT_MAX);
  h->body = body->size;
  h->n_piece = (uint16_t)(in_pieces ? body->n_piece : body->size > 0);
  memcpy(prefix, h, sizeof *h);
  size_t at = sizeof *h;
  if (h->kind == FRAME_GREETING) conn_create_shm(c);
  for (int i = 0; i < h->n_piece; i++, at += 8) {
    uint64_t size = in_pieces ? conn_write_piece_to_shm(c, body, i) : body->size;
    memcpy(prefix + at, &size, 8);
  }
  memcpy(prefix + at, text, h->text);
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  if (!c->broken && !conn_send_or_queue(c, prefix, at + h->text, body, more, &done)) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
  frames_free(done);
  weft__message_finish(body);
}

/* Ends the cork, and writes the queue as far as the socket takes it.  Returns false if the socket is broken. */
static bool conn_uncork_and_write(conn *c) {
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  c->corked = false;
  bool ok = conn_write_queue(c, &done);
  pthread_mutex_unlock(&c->lock);
  frames_free(done);
  return ok;
}

void weft__conn_flush(conn *c) {
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  if (c->delayed && !c->broken && !conn_write_queue(c, &done)) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
  frames_free(done);
}

/* From now on frames are queued, until conn_uncork_and_write sends them together. */
static void conn_cork(conn *c) {
  pthread_mutex_lock(&c->lock);
  c->corked = !c->first; /* else the loop is writing already */
  pthread_mutex_unlock(&c->lock);
}

/* ---- reading ---- */

static bool conn_head_is_valid(const conn *c) {
  const frame_head *h = &c->head;
  if (h->magic != FRAME_MAGIC || h->text > FRAME_TEXT_MAX || h->n_piece > FRAME_PIECES_MAX) return false;
  if ((h->n_piece == 0) != (h->body == 0) || h->body >= (uint64_t)MESSAGE_LIMIT_MIB << 20) return false;
  return c->authenticated || h->body == 0;
}

static weft_err body_add_buffer(message *m, size_t size) {
  buffer *b;
  WEFT_TRY(weft__pinned_receive_buffer(&b, size));
  weft_err err = weft__message_add_buffer(m, b, b->data, size);
  weft__buffer_release(b);
  return err;
}

static weft_err conn_add_shm_piece(conn *c, uint64_t ref) {
  if (!c->peer_shm) return weft__fail(WEFT_INVALID_ARGUMENT, "a reference to shared memory that was never attached");
  weft__metrics_add(METRICS_BYTES_IN, weft__shm_ref_size(ref));
  return weft__shm_read(c->peer_shm, ref, &c->body);
}

/* Returns the size of piece i; *ref is its reference if it is in shared memory, else 0. */
static uint64_t frame_piece_size(const uint8_t *sizes, int i, uint64_t *ref) {
  uint64_t size;
  memcpy(&size, sizes + 8 * (size_t)i, 8);
  *ref = weft__shm_is_ref(size) ? size : 0;
  return *ref ? weft__shm_ref_size(size) : size;
}

/* Returns true if the sizes of the pieces add up to the body.  *socket_bytes: those of them that come through the
 * socket. */
static bool conn_sizes_are_valid(const conn *c, const uint8_t *sizes, uint64_t *socket_bytes) {
  uint64_t remaining = c->head.body, ref;
  *socket_bytes = 0;
  for (int i = 0; i < c->head.n_piece; i++) {
    uint64_t size = frame_piece_size(sizes, i, &ref);
    if (size == 0 || size > remaining) return false;
    remaining -= size;
    if (!ref) *socket_bytes += size;
  }
  return remaining == 0;
}

/* Makes memory for the body, piece by piece; pieces in shared memory are there already. */
static weft_err conn_make_body(conn *c, const uint8_t *sizes) {
  for (int i = 0; i < c->head.n_piece; i++) {
    uint64_t ref, size = frame_piece_size(sizes, i, &ref);
    WEFT_TRY(ref ? conn_add_shm_piece(c, ref) : body_add_buffer(&c->body, size));
  }
  return WEFT_OK;
}

/* Without memory for the body of a call or a response, this call fails and the connection stays.  The body is read and
 * dropped; then the frame is dispatched with the error in its code, and for a response also in its text. */
static bool conn_discard_body(conn *c, uint64_t socket_bytes) {
  if (c->head.kind != FRAME_CALL && c->head.kind != FRAME_RESPONSE) return false;
  weft__message_finish(&c->body);
  c->discard = socket_bytes;
  c->head.code = WEFT_RESOURCE_EXHAUSTED;
  if (c->head.kind == FRAME_RESPONSE) {
    snprintf(c->text, sizeof c->text, "Out of memory for a response of %llu bytes%s", (unsigned long long)c->head.body,
             weft__memory_limit_text());
    c->head.text = (uint32_t)strlen(c->text);
  }
  c->head.n_piece = 0, c->head.body = 0;
  return true;
}

/* Skips pieces in shared memory, which need not be read. */
static void conn_skip_shm_pieces(conn *c) {
  while (c->piece < c->body.n_piece && weft__shm_has_piece(weft__message_piece(&c->body, c->piece))) c->piece++;
}

/* Parses head and prefix once the buffer has them.  Returns false if they are not those of a frame. */
static bool conn_parse_head(conn *c) {
  size_t have = c->in_end - c->in_begin;
  if (have < sizeof c->head) return true;
  memcpy(&c->head, c->in + c->in_begin, sizeof c->head);
  if (!conn_head_is_valid(c)) return false;
  size_t sizes = 8 * (size_t)c->head.n_piece, prefix = sizes + c->head.text;
  if (have < sizeof c->head + prefix) return true;
  const uint8_t *at = c->in + c->in_begin + sizeof c->head;
  uint64_t socket_bytes;
  if (!conn_sizes_are_valid(c, at, &socket_bytes)) return false;
  memcpy(c->text, at + sizes, c->head.text);
  c->text[c->head.text] = 0;
  weft_err err = conn_make_body(c, at);
  if (err != WEFT_OK && (err != WEFT_RESOURCE_EXHAUSTED || !conn_discard_body(c, socket_bytes))) return false;
  c->in_begin += sizeof c->head + prefix;
  c->has_head = true;
  c->piece = 0, c->piece_offset = 0;
  conn_skip_shm_pieces(c);
  return true;
}

static uint8_t *conn_piece_data(const conn *c, int i) {
  return (uint8_t *)(uintptr_t)weft__message_piece(&c->body, i)->data;
}

/* Counts n bytes of the body as read. */
static void conn_advance_body(conn *c, size_t n) {
  while (n > 0) {
    size_t remaining = weft__message_piece(&c->body, c->piece)->size - c->piece_offset,
           take = n < remaining ? n : remaining;
    c->piece_offset += take;
    n -= take;
    if (take < remaining) continue;
    c->piece++, c->piece_offset = 0;
    conn_skip_shm_pieces(c);
  }
}

/* Copies what the buffer has of the body to its pieces. */
static void conn_copy_body(conn *c) {
  if (c->discard) {
    size_t have = c->in_end - c->in_begin, drop = have < c->discard ? have : (size_t)c->discard;
    c->in_begin += drop;
    c->discard -= drop;
  }
  while (c->piece < c->body.n_piece && c->in_begin < c->in_end) {
    size_t remaining = weft__message_piece(&c->body, c->piece)->size - c->piece_offset, have = c->in_end - c->in_begin;
    size_t take = have < remaining ? have : remaining;
    memcpy(conn_piece_data(c, c->piece) + c->piece_offset, c->in + c->in_begin, take);
    c->in_begin += take;
    conn_advance_body(c, take);
  }
}

/* Attaches the shared memory whose descriptor came with the greeting, if one did.  Returns false if it is not valid. */
static bool conn_attach_peer_shm(conn *c) {
  if (c->received_fd < 0) return true;
  weft_err err = weft__shm_attach(&c->peer_shm, c->received_fd);
  close(c->received_fd);
  c->received_fd = -1;
  if (err != WEFT_OK)
    weft__log(LOG_DEBUG, "cannot attach the shared memory of a task on this host: %s", weft__error_message());
  return err == WEFT_OK;
}

/* Calls on_frame for every whole frame; *corked: there was more than one, and what is sent is held back.  Returns
 * false if the connection must end. */
static bool conn_dispatch_frames(conn *c, bool *corked) {
  for (;;) {
    if (!c->has_head && !conn_parse_head(c)) return false;
    if (!c->has_head) break;
    conn_copy_body(c);
    if (c->discard || c->piece < c->body.n_piece) break;
    message body;
    c->has_head = false;
    weft__message_move(&body, &c->body);
    if (!*corked && c->in_end - c->in_begin >= sizeof c->head) conn_cork(c), *corked = true;
    bool expected = c->callbacks->on_frame(c, &c->head, c->text, &body);
    weft__message_finish(&body);
    if (!expected || (c->head.kind == FRAME_GREETING && !conn_attach_peer_shm(c))) return false;
  }
  memmove(c->in, c->in + c->in_begin, c->in_end - c->in_begin);
  c->in_end -= c->in_begin;
  c->in_begin = 0;
  return true;
}

/* Keeps the one descriptor that may come with the greeting and closes every other.  Returns false if there were
 * others. */
static bool conn_take_received_fds(conn *c, struct msghdr *m) {
  bool allowed = !(m->msg_flags & MSG_CTRUNC);
  for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
      allowed = allowed && n == 1 && c->received_fd < 0;
      if (allowed)
        c->received_fd = fd;
      else
        close(fd);
    }
  }
  return allowed;
}

/* As readv.  An unauthenticated peer may pass one descriptor along, with the greeting; later the kernel drops them. */
static ssize_t conn_recvmsg(conn *c, struct iovec *v, int n) {
  fd_control control = {0};
  struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
  bool unauthenticated = !c->authenticated;
  if (unauthenticated) m.msg_control = &control, m.msg_controllen = sizeof control;
  ssize_t size;
  do size = recvmsg(c->source.fd, &m, MSG_CMSG_CLOEXEC);
  while (size < 0 && errno == EINTR);
  if (size < 0 || !unauthenticated || conn_take_received_fds(c, &m)) return size;
  errno = EPROTO;
  return -1;
}

/* Reads once: the rest of the body into its pieces, what follows into the buffer.  *full: there may be more to read. */
static ssize_t conn_read(conn *c, bool *full) {
  struct iovec v[IOVECS_MAX];
  int n = 0;
  size_t body = 0, room = 0;
  int i = c->has_head ? c->piece : c->body.n_piece;
  for (; i < c->body.n_piece && n < IOVECS_MAX - 1; i++) {
    if (weft__shm_has_piece(weft__message_piece(&c->body, i))) continue;
    size_t at = i == c->piece ? c->piece_offset : 0, remaining = weft__message_piece(&c->body, i)->size - at;
    v[n++] = (struct iovec){conn_piece_data(c, i) + at, remaining};
    body += remaining;
  }
  if (i == c->body.n_piece) room = sizeof c->in - c->in_end;
  if (room) v[n++] = (struct iovec){c->in + c->in_end, room};
  ssize_t size = conn_recvmsg(c, v, n);
  if (size <= 0) return size;
  weft__metrics_add(METRICS_BYTES_IN, (uint64_t)size);
  *full = (size_t)size == body + room || !c->authenticated; /* recvmsg stops behind a descriptor */
  size_t of_body = (size_t)size < body ? (size_t)size : body;
  conn_advance_body(c, of_body);
  c->in_end += (size_t)size - of_body;
  return size;
}

/* Reads once and dispatches the frames; *more: there may be more to read.  Returns false if the connection was lost. */
static bool conn_read_and_dispatch(conn *c, bool *more) {
  bool corked = false;
  const char *why = NULL;
  *more = false;
  ssize_t n = conn_read(c, more);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  if (n <= 0)
    why = n < 0 ? strerror(errno) : "the other side closed the connection";
  else if (!conn_dispatch_frames(c, &corked))
    why = "it sent bytes that are not a frame of Weft";
  else if (corked && !conn_uncork_and_write(c))
    why = strerror(errno);
  if (why) conn_lose(c, why);
  return !why;
}

/* Returns true if the connection moved to the primary loop, which reads its frames from now on. */
static bool conn_migrate(conn *c) {
  if (!weft__loop_must_migrate(&c->source)) return false;
  weft__conn_retain(c); /* the other loop may lose it before the lock is released */
  pthread_mutex_lock(&c->lock);
  weft_err err = weft__loop_migrate(&c->source, c->wants_output);
  pthread_mutex_unlock(&c->lock);
  if (err) conn_lose(c, weft__error_message());
  weft__conn_release(c);
  return true;
}

/* Returns how many bytes of the body are still to come through the socket; counts no further than LOW_WATER_MAX. */
static size_t conn_body_remaining(const conn *c) {
  size_t remaining = 0;
  for (int i = c->piece; c->has_head && i < c->body.n_piece && remaining < LOW_WATER_MAX; i++) {
    const piece *p = weft__message_piece(&c->body, i);
    if (!weft__shm_has_piece(p)) remaining += p->size - (i == c->piece ? c->piece_offset : 0);
  }
  return remaining < LOW_WATER_MAX ? remaining : LOW_WATER_MAX;
}

/* Says for how many bytes the loop reports input: never for more than are sure to come, so that none is left unread.
 * The kernel reports less where its own buffer is full or the peer is gone.  Called last in each callback, since a mark
 * that was set for an earlier body may be higher than what is to come now.  Unix sockets have no such mark. */
static void conn_set_low_water(conn *c) {
  size_t remaining = c->unix_socket ? 0 : conn_body_remaining(c);
  int mark = remaining < LOW_WATER_MIN ? 1 : weft__int_sat(remaining);
  if (mark == c->low_water) return;
  setsockopt(c->source.fd, SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof mark);
  c->low_water = mark;
}

/* Reads all there is, since events are edge-triggered; after READS reads other sources come first. */
static void conn_on_ready(source *s, uint32_t events) {
  enum { READS = 16 };
  conn *c = (conn *)s;
  if (conn_migrate(c)) return;
  bool more = events & ~(uint32_t)EPOLLOUT;
  if (events & EPOLLOUT && !conn_uncork_and_write(c)) {
    conn_lose(c, strerror(errno));
    return;
  }
  bool ends = events & ~(uint32_t)(EPOLLIN | EPOLLOUT); /* the peer closed; what it sent before may still be unread */
  bool paused = false;
  for (int i = 0; more && i < READS; i++) {
    paused = !ends && conn_pause_reading(c);
    if (paused) break;
    if (!conn_read_and_dispatch(c, &more)) return;
  }
  conn_set_low_water(c);
  if (paused || (!more && !ends)) return;
  pthread_mutex_lock(&c->lock);
  weft__loop_rearm_deferred(&c->source, c->wants_output);
  pthread_mutex_unlock(&c->lock);
}

void weft__conn_init(conn *c, const conn_callbacks *callbacks, int fd) {
  int family = 0;
  socklen_t n = sizeof family;
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n);
  c->source = (source){.fd = fd, .on_ready = conn_on_ready};
  c->callbacks = callbacks;
  c->unix_socket = family == AF_UNIX;
  c->low_water = 1;
  c->fd_to_send = c->received_fd = -1;
  atomic_init(&c->refs, 2);
  pthread_mutex_init(&c->lock, NULL);
}

weft_err weft__conn_start(conn *c, loop_group *loops) {
  weft_err err = weft__loop_add_balanced(loops, &c->source);
  if (err == WEFT_OK) return WEFT_OK;
  pthread_mutex_lock(&c->lock);
  c->broken = true;
  close(c->source.fd);
  pthread_mutex_unlock(&c->lock);
  weft__conn_release(c);
  return err;
}
