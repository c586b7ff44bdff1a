/* conn.c - reading and writing frames without waiting.
 *
 * Whoever sends writes to the socket at once, and only what does not fit is left to the loop.
 * A large body is read by the kernel straight into the memory it will stay in, or lies in the peer's window.  A connection leaves the
 * loop at its wheel alone, so no event can come for one that is gone. */
#include "net/fast/conn.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/pulse.h"
#include "device/pinned.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { IOV_FEW = 64 };

typedef struct out_frame {
  struct out_frame *next;
  message body;
  size_t sent; /* of prefix and body together */
  size_t prefix_size;
  uint8_t prefix[];
} out_frame;

typedef union one_fd { /* the control part of a message that carries a descriptor */
  struct cmsghdr head;
  char room[CMSG_SPACE(sizeof(int))]; /* with the padding: the kernel may put a second one into it */
} one_fd;

/* ---- life ---- */

void weft__conn_retain(conn *c) { atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed); }

void weft__conn_release(conn *c) {
  if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  weft__message_finish(&c->body);
  weft__window_release(c->own);
  weft__window_release(c->seen);
  if (c->pass_fd >= 0) close(c->pass_fd);
  if (c->passed_fd >= 0) close(c->passed_fd);
  pthread_mutex_destroy(&c->lock);
  c->kind->destroy(c);
}

static void free_frames(out_frame *f) {
  while (f) {
    out_frame *next = f->next;
    weft__message_finish(&f->body);
    weft__free(f);
    f = next;
  }
}

static void lose(conn *c, const char *why) {
  pthread_mutex_lock(&c->lock);
  out_frame *unsent = c->first;
  c->first = c->last = NULL;
  c->queued = 0;
  c->broken = true;
  weft__loop_remove(&c->source);
  close(c->source.fd);
  pthread_mutex_unlock(&c->lock);
  free_frames(unsent);
  c->kind->lost(c, why);
  weft__conn_release(c); /* the loop's */
}

void weft__conn_close(conn *c) {
  pthread_mutex_lock(&c->lock);
  if (!c->broken) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
}

/* ---- writing ---- */

/* What is left of a frame, as iovecs; returns how many were filled. */
static int fill(struct iovec *v, int room, const uint8_t *prefix, size_t prefix_size, const message *m, size_t sent) {
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

/* Bytes written, 0 if the socket is full, -1 if it is broken. */
static ssize_t write_some(conn *c, struct iovec *v, int n) {
  struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
  one_fd control = {0};
  if (c->pass_fd >= 0) {
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &c->pass_fd, sizeof(int));
    m.msg_control = &control, m.msg_controllen = sizeof control;
  }
  ssize_t size;
  do size = sendmsg(c->source.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (size < 0 && errno == EINTR);
  if (size > 0) {
    weft__pulse_add(PULSE_OUT, (uint64_t)size);
    if (c->pass_fd >= 0) close(c->pass_fd);
    c->pass_fd = -1;
  }
  return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : size;
}

static void arm(conn *c, bool wanted) {
  if (c->armed != wanted) weft__loop_again(&c->source, wanted);
  c->armed = wanted;
}

static weft_err queue(conn *c, const uint8_t *prefix, size_t prefix_size, message *body, size_t sent) {
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
  if (!c->corked && !c->held) arm(c, true);
  return WEFT_OK;
}

/* Drops what is sent from the queue; the frames taken off are added to *done, to be freed without the lock. */
static void advance(conn *c, size_t sent, out_frame **done) {
  c->queued -= sent;
  while (c->first) {
    out_frame *f = c->first;
    size_t left = f->prefix_size + f->body.size - f->sent;
    if (sent < left) {
      f->sent += sent;
      break;
    }
    sent -= left;
    c->first = f->next;
    f->next = *done;
    *done = f;
  }
  if (!c->first) c->last = NULL;
}

/* Sends what is queued; the loop sees to what the socket does not take.  *done is to be freed without the lock.  Locked;
 * false: broken. */
static bool write_all(conn *c, out_frame **done) {
  ssize_t sent = 1;
  while (c->first && sent > 0) { /* until the socket is full, or nobody would say when there is room */
    struct iovec v[IOV_FEW];
    int n = 0;
    for (out_frame *f = c->first; f && n < IOV_FEW; f = f->next)
      n += fill(v + n, IOV_FEW - n, f->prefix, f->prefix_size, &f->body, f->sent);
    sent = write_some(c, v, n);
    if (sent > 0) advance(c, (size_t)sent, done);
  }
  c->held = false;
  arm(c, c->first != NULL);
  if (c->stalled && c->queued <= c->kind->queue_most / 2) { /* half: not to stop and go with every frame */
    c->stalled = false;
    weft__loop_again(&c->source, c->armed);
  }
  return sent >= 0;
}

/* Does so much wait to be sent that no more is read?  Then write_all sees to it that reading goes on. */
static bool is_behind(conn *c) {
  if (!c->kind->queue_most) return false;
  pthread_mutex_lock(&c->lock);
  c->stalled = !c->broken && c->queued > c->kind->queue_most;
  bool behind = c->stalled;
  pthread_mutex_unlock(&c->lock);
  return behind;
}

/* Sends what the socket takes and queues the rest.  Locked; false: broken. */
static bool send_or_queue(conn *c, const uint8_t *prefix, size_t prefix_size, message *body, bool more,
                          out_frame **done) {
  size_t all = prefix_size + body->size, sent = 0;
  if (more && !c->first) c->held = true;
  while (!c->first && !c->corked && !c->held && sent < all) {
    struct iovec v[IOV_FEW];
    ssize_t n = write_some(c, v, fill(v, IOV_FEW, prefix, prefix_size, body, sent));
    if (n < 0) return false;
    if (n == 0) break;
    sent += (size_t)n;
  }
  if (sent == all) return true;
  if (weft__message_own(body) != WEFT_OK || queue(c, prefix, prefix_size, body, sent) != WEFT_OK) return false;
  return !c->held || more || write_all(c, done);
}

/* A peer on this host is greeted with a window; without one, all goes through the socket. */
static void open_window(conn *c) {
  int family = 0;
  socklen_t n = sizeof family;
  getsockopt(c->source.fd, SOL_SOCKET, SO_DOMAIN, &family, &n);
  if (family == AF_UNIX && weft__window_create(&c->own, &c->pass_fd) != WEFT_OK)
    weft__log(LOG_DEBUG, "Tensors go through a socket: %s", weft__error_message());
}

/* What the prefix says of a piece: its size, or its place if it went into the window, which leaves it empty. */
static uint64_t put_aside(conn *c, message *body, int i) {
  piece *p = (piece *)(uintptr_t)weft__message_piece(body, i);
  size_t size = p->size;
  uint64_t place = c->own && size >= WINDOW_MIN ? weft__window_put(c->own, p->data, size) : 0;
  if (!place) return size;
  weft__pulse_add(PULSE_OUT, size);
  if (p->release) p->release(p->arg);
  *p = (piece){0};
  body->size -= size;
  return place;
}

void weft__conn_send(conn *c, frame_head *h, const char *text, message *body, bool more) {
  uint8_t prefix[sizeof *h + FRAME_PREFIX_MAX];
  message none = {0};
  if (!body) body = &none;
  bool apart = body->size > FRAME_JOINED_MAX && body->n_piece <= FRAME_PIECES_MAX;
  size_t text_size = strlen(text);
  h->magic = FRAME_MAGIC;
  h->text = (uint32_t)(text_size < FRAME_TEXT_MAX ? text_size : FRAME_TEXT_MAX);
  h->body = body->size;
  h->n_piece = (uint16_t)(apart ? body->n_piece : body->size > 0);
  memcpy(prefix, h, sizeof *h);
  size_t at = sizeof *h;
  if (h->kind == FRAME_GREETING) open_window(c);
  for (int i = 0; i < h->n_piece; i++, at += 8) {
    uint64_t size = apart ? put_aside(c, body, i) : body->size;
    memcpy(prefix + at, &size, 8);
  }
  memcpy(prefix + at, text, h->text);
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  if (!c->broken && !send_or_queue(c, prefix, at + h->text, body, more, &done)) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
  free_frames(done);
  weft__message_finish(body);
}

/* Sends what is queued, as far as the socket takes it. */
static bool write_queued(conn *c) {
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  c->corked = false;
  bool well = write_all(c, &done);
  pthread_mutex_unlock(&c->lock);
  free_frames(done);
  return well;
}

void weft__conn_flush(conn *c) {
  out_frame *done = NULL;
  pthread_mutex_lock(&c->lock);
  if (c->held && !c->broken && !write_all(c, &done)) shutdown(c->source.fd, SHUT_RDWR);
  pthread_mutex_unlock(&c->lock);
  free_frames(done);
}

static void cork(conn *c) {
  pthread_mutex_lock(&c->lock);
  c->corked = !c->first; /* else the loop is writing already */
  pthread_mutex_unlock(&c->lock);
}

/* ---- reading ---- */

static bool valid_head(const conn *c) {
  const frame_head *h = &c->head;
  if (h->magic != FRAME_MAGIC || h->text > FRAME_TEXT_MAX || h->n_piece > FRAME_PIECES_MAX) return false;
  if ((h->n_piece == 0) != (h->body == 0) || h->body >= (uint64_t)MESSAGE_LIMIT_MIB << 20) return false;
  return c->trusted || h->body == 0;
}

static weft_err add_memory(message *m, size_t size) {
  buffer *b;
  WEFT_TRY(weft__receiving_memory(&b, size));
  weft_err err = weft__message_add_buffer(m, b, b->data, size);
  weft__buffer_release(b);
  return err;
}

static weft_err add_seen(conn *c, uint64_t place) {
  if (!c->seen) return weft__fail(WEFT_INVALID_ARGUMENT, "a place in a window that was never shown");
  weft__pulse_add(PULSE_IN, weft__window_place_size(place));
  return weft__window_get(c->seen, place, &c->body);
}

/* The size of piece i, and its place if it lies in the window, else 0. */
static uint64_t size_of_piece(const uint8_t *sizes, int i, uint64_t *place) {
  uint64_t size;
  memcpy(&size, sizes + 8 * (size_t)i, 8);
  *place = weft__window_is_place(size) ? size : 0;
  return *place ? weft__window_place_size(size) : size;
}

/* Do the pieces make up the body?  *to_read: bytes of them that come through the socket. */
static bool valid_sizes(const conn *c, const uint8_t *sizes, uint64_t *to_read) {
  uint64_t left = c->head.body, place;
  *to_read = 0;
  for (int i = 0; i < c->head.n_piece; i++) {
    uint64_t size = size_of_piece(sizes, i, &place);
    if (size == 0 || size > left) return false;
    left -= size;
    if (!place) *to_read += size;
  }
  return left == 0;
}

/* Memory for the body, in the pieces it was sent in; those in the window are there already. */
static weft_err make_body(conn *c, const uint8_t *sizes) {
  for (int i = 0; i < c->head.n_piece; i++) {
    uint64_t place, size = size_of_piece(sizes, i, &place);
    WEFT_TRY(place ? add_seen(c, place) : add_memory(&c->body, size));
  }
  return WEFT_OK;
}

/* There is no memory for the body of a call or an answer: that costs this call, not the connection.  The frame is handed
 * out with the error in its code, an answer's also in its text, once the body has been read and dropped. */
static bool refuse_body(conn *c, uint64_t to_read) {
  if (c->head.kind != FRAME_CALL && c->head.kind != FRAME_ANSWER) return false;
  weft__message_finish(&c->body);
  c->skip = to_read;
  c->head.code = WEFT_RESOURCE_EXHAUSTED;
  if (c->head.kind == FRAME_ANSWER) {
    snprintf(c->text, sizeof c->text, "Out of memory for an answer of %llu bytes%s", (unsigned long long)c->head.body,
             weft__memory_text());
    c->head.text = (uint32_t)strlen(c->text);
  }
  c->head.n_piece = 0, c->head.body = 0;
  return true;
}

/* Passes over the pieces that need not be read. */
static void skip_seen(conn *c) {
  while (c->piece < c->body.n_piece && weft__window_has(weft__message_piece(&c->body, c->piece))) c->piece++;
}

/* Takes head and prefix from the buffer once they are there.  False: not a frame. */
static bool take_head(conn *c) {
  size_t have = c->in_end - c->in_begin;
  if (have < sizeof c->head) return true;
  memcpy(&c->head, c->in + c->in_begin, sizeof c->head);
  if (!valid_head(c)) return false;
  size_t sizes = 8 * (size_t)c->head.n_piece, prefix = sizes + c->head.text;
  if (have < sizeof c->head + prefix) return true;
  const uint8_t *at = c->in + c->in_begin + sizeof c->head;
  uint64_t to_read;
  if (!valid_sizes(c, at, &to_read)) return false;
  memcpy(c->text, at + sizes, c->head.text);
  c->text[c->head.text] = 0;
  weft_err err = make_body(c, at);
  if (err != WEFT_OK && (err != WEFT_RESOURCE_EXHAUSTED || !refuse_body(c, to_read))) return false;
  c->in_begin += sizeof c->head + prefix;
  c->has_head = true;
  c->piece = 0, c->piece_at = 0;
  skip_seen(c);
  return true;
}

static uint8_t *body_place(const conn *c, int i) {
  return (uint8_t *)(uintptr_t)weft__message_piece(&c->body, i)->data;
}

/* Counts n bytes of the body as there. */
static void got_body(conn *c, size_t n) {
  while (n > 0) {
    size_t left = weft__message_piece(&c->body, c->piece)->size - c->piece_at, take = n < left ? n : left;
    c->piece_at += take;
    n -= take;
    if (take < left) continue;
    c->piece++, c->piece_at = 0;
    skip_seen(c);
  }
}

static void copy_body(conn *c) { /* what the buffer has of it */
  if (c->skip) {
    size_t have = c->in_end - c->in_begin, drop = have < c->skip ? have : (size_t)c->skip;
    c->in_begin += drop;
    c->skip -= drop;
  }
  while (c->piece < c->body.n_piece && c->in_begin < c->in_end) {
    size_t left = weft__message_piece(&c->body, c->piece)->size - c->piece_at, have = c->in_end - c->in_begin;
    size_t take = have < left ? have : left;
    memcpy(body_place(c, c->piece) + c->piece_at, c->in + c->in_begin, take);
    c->in_begin += take;
    got_body(c, take);
  }
}

/* Opens what came with the greeting. */
static bool see_window(conn *c) {
  if (c->passed_fd < 0) return true;
  weft_err err = weft__window_open(&c->seen, c->passed_fd);
  close(c->passed_fd);
  c->passed_fd = -1;
  if (err != WEFT_OK) weft__log(LOG_DEBUG, "A task of this host cannot be read: %s", weft__error_message());
  return err == WEFT_OK;
}

/* Hands out every whole frame; with more than one, *corked.  False: the connection is to be lost. */
static bool take_frames(conn *c, bool *corked) {
  for (;;) {
    if (!c->has_head && !take_head(c)) return false;
    if (!c->has_head) break;
    copy_body(c);
    if (c->skip || c->piece < c->body.n_piece) break;
    message body;
    c->has_head = false;
    weft__message_move(&body, &c->body);
    if (!*corked && c->in_end - c->in_begin >= sizeof c->head) cork(c), *corked = true;
    bool expected = c->kind->frame(c, &c->head, c->text, &body);
    weft__message_finish(&body);
    if (!expected || (c->head.kind == FRAME_GREETING && !see_window(c))) return false;
  }
  memmove(c->in, c->in + c->in_begin, c->in_end - c->in_begin);
  c->in_end -= c->in_begin;
  c->in_begin = 0;
  return true;
}

/* Keeps the one descriptor that may come with the greeting and closes every other.  False: there were others. */
static bool take_descriptors(conn *c, struct msghdr *m) {
  bool allowed = !(m->msg_flags & MSG_CTRUNC);
  for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
      allowed = allowed && n == 1 && c->passed_fd < 0;
      if (allowed)
        c->passed_fd = fd;
      else
        close(fd);
    }
  }
  return allowed;
}

/* As readv; a stranger may pass one descriptor along, with the greeting.  What comes later the kernel drops. */
static ssize_t receive(conn *c, struct iovec *v, int n) {
  one_fd control = {0};
  struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
  bool stranger = !c->trusted;
  if (stranger) m.msg_control = &control, m.msg_controllen = sizeof control;
  ssize_t size;
  do size = recvmsg(c->source.fd, &m, MSG_CMSG_CLOEXEC);
  while (size < 0 && errno == EINTR);
  if (size < 0 || !stranger || take_descriptors(c, &m)) return size;
  errno = EPROTO;
  return -1;
}

/* Reads once: the rest of the body to its place, what follows into the buffer.  *full: there may be more. */
static ssize_t read_some(conn *c, bool *full) {
  struct iovec v[IOV_FEW];
  int n = 0;
  size_t body = 0, room = 0;
  int i = c->has_head ? c->piece : c->body.n_piece;
  for (; i < c->body.n_piece && n < IOV_FEW - 1; i++) {
    if (weft__window_has(weft__message_piece(&c->body, i))) continue;
    size_t at = i == c->piece ? c->piece_at : 0, left = weft__message_piece(&c->body, i)->size - at;
    v[n++] = (struct iovec){body_place(c, i) + at, left};
    body += left;
  }
  if (i == c->body.n_piece) room = sizeof c->in - c->in_end;
  if (room) v[n++] = (struct iovec){c->in + c->in_end, room};
  ssize_t size = receive(c, v, n);
  if (size <= 0) return size;
  weft__pulse_add(PULSE_IN, (uint64_t)size);
  *full = (size_t)size == body + room || !c->trusted; /* a descriptor ends what is read at once */
  size_t of_body = (size_t)size < body ? (size_t)size : body;
  got_body(c, of_body);
  c->in_end += (size_t)size - of_body;
  return size;
}

/* Reads and hands out once; *more: there may be more than that.  False: the connection is lost. */
static bool take_some(conn *c, bool *more) {
  bool corked = false;
  const char *why = NULL;
  *more = false;
  ssize_t n = read_some(c, more);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  if (n <= 0)
    why = n < 0 ? strerror(errno) : "the other side closed the connection";
  else if (!take_frames(c, &corked))
    why = "it sent what is no frame of Weft's";
  else if (corked && !write_queued(c))
    why = strerror(errno);
  if (why) lose(c, why);
  return !why;
}

/* Whether its frames are read elsewhere from now on. */
static bool goes_home(conn *c) {
  if (!weft__loop_is_astray(&c->source)) return false;
  weft__conn_retain(c); /* or it could be lost there before the lock is free */
  pthread_mutex_lock(&c->lock);
  weft_err err = weft__loop_bring_home(&c->source, c->armed);
  pthread_mutex_unlock(&c->lock);
  if (err) lose(c, weft__error_message());
  weft__conn_release(c);
  return true;
}

/* All that is there is read, since only what comes later is told; but the others have their turn too. */
static void ready(source *s, uint32_t events) {
  enum { READS = 16 };
  conn *c = (conn *)s;
  if (goes_home(c)) return;
  bool more = events & ~(uint32_t)EPOLLOUT;
  if (events & EPOLLOUT && !write_queued(c)) {
    lose(c, strerror(errno));
    return;
  }
  bool ends = events & ~(uint32_t)(EPOLLIN | EPOLLOUT); /* and what came before the end may have been read just now */
  for (int i = 0; more && i < READS; i++) {
    if (!ends && is_behind(c)) return;
    if (!take_some(c, &more)) return;
  }
  if (!more && !ends) return;
  pthread_mutex_lock(&c->lock);
  weft__loop_later(&c->source, c->armed);
  pthread_mutex_unlock(&c->lock);
}

weft_err weft__conn_start(conn *c, const conn_kind *kind, int fd) {
  c->source = (source){.fd = fd, .ready = ready};
  c->kind = kind;
  c->pass_fd = c->passed_fd = -1;
  atomic_init(&c->refs, 2);
  pthread_mutex_init(&c->lock, NULL);
  return weft__loop_spread(&c->source);
}
