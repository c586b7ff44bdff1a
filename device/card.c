/* card.c - memory, copies and graph capture of a card.
 *
 * A copy from the host goes through pinned memory.  The caller's bytes are copied there at once, and the card reads
 * them when its stream reaches the copy.  The staging buffer is used again when an event behind the copy has passed.
 * Bytes that are in pinned memory already, such as a tensor received from the network, are read from there.
 * A small copy needs no staging buffer, because the driver copies its bytes at once.  If no pinned memory is left, the
 * copy reads the caller's bytes, and the caller waits for it.
 *
 * Copies run in parallel with kernels.  A copy from the host waits for kernels only if memory was allocated since the
 * last copy, because the former user of that memory may still run; later kernels wait for the copy.  A copy to the host
 * waits for the kernels so far.  Later kernels wait for it, unless its source is in the arena of a step, where it is
 * not overwritten before the end of the step (exec/passes/arena_layout.c).
 *
 * A step may end while its kernels run (gpu_end_step).  Events behind the last two ends bound how far the host is
 * ahead: an end waits for the one before it.
 *
 * `lock` guards the staging buffers, order_event, peer_event and the ends of steps.  `capture_lock` is held by the
 * thread that captures a step, from capture_begin to capture_end. */
#include "device/card.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "device/collective.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { STAGING_PIECE = 160 << 10 }; /* bytes: smaller copies are not worth splitting */

typedef struct staged { /* a staging buffer that a queued copy reads */
  buffer *buffer;
  void *event;
  struct staged *next;
} staged;

struct card {
  const gpu_api *api;
  int number;
  void *stream, *in, *out; /* for kernels, copies from the host, copies to the host */
  atomic_bool handed_out;  /* the next copy from the host waits for kernels: memory was allocated since the last one */
  atomic_bool reads_given; /* a queued copy may read memory that the caller gave */
  _Atomic uint64_t ended;  /* the steps up to this end are known to be over */
  memory_pool *pinned;
  size_t limit;
  memory_pool *pool;
  void *capture_stream[CAPTURE_STREAMS]; /* streams of a capture */
  bool joined[CAPTURE_STREAMS];
  int current, captured; /* the stream and the number of the item that is being captured */
  void **event;          /* one behind each captured item; the first one is at the beginning */
  int n_event;
  int64_t event_capacity;
  pthread_mutex_t capture_lock; /* held by the thread that captures */
  pthread_mutex_t lock;         /* guards what follows */
  void *order_event;            /* makes one stream wait for another */
  void *peer_event;             /* orders copies between cards */
  void *end_event[2];           /* behind the last two steps that ended early */
  uint64_t n_end;               /* how many have */
  staged *first, **last, *spare;
};

typedef struct gpu_device {
  device base;
  card *card;
} gpu_device;

/* The card that this thread captures on; its work goes to the capture streams. */
static _Thread_local const card *captured_card;

static card *card_of(const device *d) { return ((const gpu_device *)d)->card; }

weft_err weft__gpu_fail(const gpu_api *api, int code, const char *what) {
  switch (api->error_kind(code)) {
  case GPU_ERROR_NO_MEMORY: return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: %s", what, api->error_text(code));
  case GPU_ERROR_LOST:
    return weft__fail(WEFT_INTERNAL, "%s: %s: the GPU is lost to this process", what, api->error_text(code));
  default: return weft__fail(WEFT_INTERNAL, "%s: %s", what, api->error_text(code));
  }
}

const gpu_api *weft__device_api(const device *d) {
  return d && strcmp(d->ops->type, "GPU") == 0 ? card_of(d)->api : NULL;
}

static void *stream_of(const card *c) { return c == captured_card ? c->capture_stream[c->current] : c->stream; }

static weft_err card_check(const card *c, int code, const char *what) {
  return code ? weft__gpu_fail(c->api, code, what) : WEFT_OK;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static weft_err card_get_memory(void *arg, size_t bytes, void **out) {
  card *c = arg;
  int code = c->api->alloc(c->number, bytes, out);
  if (code && c->api->error_kind(code) == GPU_ERROR_NO_MEMORY) return WEFT_RESOURCE_EXHAUSTED;
  return card_check(c, code, "allocating GPU memory");
}

static void card_give_memory(void *arg, void *at) {
  card *c = arg;
  c->api->free(c->number, at);
}

static weft_err card_memory_alloc(memory_space *m, buffer **out, weft_dtype dtype, int64_t count) {
  const device *d = weft__memory_device(m);
  card *c = card_of(d);
  size_t bytes;
  if (count < 0 || __builtin_mul_overflow((size_t)count, weft__dtype_size(dtype), &bytes)) bytes = SIZE_MAX;
  weft_err err = bytes == SIZE_MAX ? WEFT_RESOURCE_EXHAUSTED : weft__memory_pool_alloc(c->pool, out, dtype, bytes);
  if (!err) (*out)->memory = m;
  atomic_store(&c->handed_out, true);
  if (err != WEFT_RESOURCE_EXHAUSTED) return err;
  const memory_pool_stats s = weft__memory_pool_stats(c->pool);
  return weft__fail(err,
                    "OOM when allocating tensor with %lld elements of type %s on %s by allocator GPU_%d_bfc (%zu bytes "
                    "asked, %zu in use, %zu taken, limit %zu)",
                    (long long)count, weft__dtype_short(dtype), d->name, d->id, bytes, s.in_use, s.taken, s.limit);
}

static weft_err card_memory_copy(memory_space *m, void *dst, const void *src, size_t bytes) {
  const card *c = card_of(weft__memory_device(m));
  return card_check(c, bytes ? c->api->copy(stream_of(c), dst, src, bytes, GPU_DEVICE_TO_DEVICE) : 0,
                    "copying on the GPU");
}

/* Pinned memory if there is some left, else plain memory. */
static weft_err gpu_alloc_host(device *d, buffer **out, weft_dtype dtype, int64_t count) {
  size_t bytes = (size_t)count * weft__dtype_size(dtype);
  if (weft__memory_pool_alloc(card_of(d)->pinned, out, dtype, bytes) == WEFT_OK) return WEFT_OK;
  return weft__buffer_create(out, dtype, count);
}

/* ---- copies ------------------------------------------------------------------------------------ */

/* Work queued on `later` from now on waits for the work queued on `first` so far.  The lock is held. */
static int stream_follow_locked(card *c, void *later, void *first) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  int code = c->api->event_record(c->order_event, first);
  return code ? code : c->api->event_wait(later, c->order_event);
}

static int stream_follow(card *c, void *later, void *first) {
  pthread_mutex_lock(&c->lock);
  int code = stream_follow_locked(c, later, first);
  pthread_mutex_unlock(&c->lock);
  return code;
}

/* Makes copies from the host wait for the former users of memory that was allocated since. */
static int card_wait_former_users(card *c) {
  pthread_mutex_lock(&c->lock);
  int code = atomic_exchange(&c->handed_out, false) ? stream_follow_locked(c, c->in, c->stream) : 0;
  pthread_mutex_unlock(&c->lock);
  return code;
}

/* Releases the staging buffers whose copies are done.  The lock is held. */
static void card_collect_staged(card *c) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  bool passed = true;
  while (c->first && c->api->event_passed(c->first->event, &passed) == 0 && passed) {
    staged *s = c->first;
    c->first = s->next;
    if (!c->first) c->last = &c->first;
    weft__buffer_release(s->buffer);
    s->buffer = NULL;
    s->next = c->spare;
    c->spare = s;
  }
}

/* Returns a record with its event; NULL: no memory.  The lock is held. */
static staged *card_staged_create(card *c) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  staged *s = c->spare;
  if (s) {
    c->spare = s->next;
    return s;
  }
  s = weft__alloc_zero(1, sizeof *s);
  if (s && c->api->event_create(c->number, &s->event) == 0) return s;
  weft__free(s);
  return NULL;
}

/* Keeps the staging buffer until the work queued on the stream so far is done.  The lock is held, so that the events of
 * a stream pass in list order. */
static weft_err card_keep_staged(card *c, buffer *pinned, void *stream) {
  WEFT_ASSERT(weft__lock_is_held(&c->lock));
  card_collect_staged(c);
  staged *s = card_staged_create(c);
  if (!s) return WEFT_RESOURCE_EXHAUSTED;
  int code = c->api->event_record(s->event, stream);
  s->buffer = code ? NULL : pinned;
  s->next = code ? c->spare : NULL;
  if (code)
    c->spare = s;
  else
    *c->last = s, c->last = &s->next;
  return card_check(c, code, "copying to the GPU");
}

/* Leaves the staging buffer to the copy that was queued on the stream, with the result err.  On an error it waits and
 * releases the buffer.  RESOURCE_EXHAUSTED is not returned: the caller takes that for a copy that was not queued. */
static weft_err card_leave_staged(card *c, buffer *pinned, void *stream, weft_err err) {
  pthread_mutex_lock(&c->lock);
  if (!err) err = card_keep_staged(c, pinned, stream);
  pthread_mutex_unlock(&c->lock);
  if (!err) return WEFT_OK;
  c->api->sync(stream);
  weft__buffer_release(pinned);
  return err == WEFT_RESOURCE_EXHAUSTED ? WEFT_INTERNAL : err;
}

/* Copies in pieces, so that the card reads one while the next is copied to the staging buffer. */
static weft_err card_copy_pieces(const card *c, char *dst, char *pinned, const char *src, size_t bytes) {
  size_t piece = bytes / 16 > STAGING_PIECE ? bytes / 16 : STAGING_PIECE;
  for (size_t at = 0; at < bytes; at += piece) {
    if (piece > bytes - at) piece = bytes - at;
    memcpy(pinned + at, src + at, piece);
    WEFT_TRY(
        card_check(c, c->api->copy(c->in, dst + at, pinned + at, piece, GPU_HOST_TO_DEVICE), "copying to the GPU"));
  }
  return WEFT_OK;
}

/* Copies through pinned memory, which is kept until the card has read it. */
static weft_err card_copy_staged(card *c, char *dst, const weft_tensor *src, size_t bytes) {
  buffer *pinned = src->buf;
  const bool there = weft__memory_pool_contains(c->pinned, src->data);
  if (there) {
    weft__buffer_retain(pinned);
    atomic_store(&c->reads_given, true);
  } else
    WEFT_TRY(weft__memory_pool_alloc(c->pinned, &pinned, src->dtype, bytes));
  weft_err err =
      there ? card_check(c, c->api->copy(c->in, dst, src->data, bytes, GPU_HOST_TO_DEVICE), "copying to the GPU")
            : card_copy_pieces(c, dst, pinned->data, src->data, bytes);
  return card_leave_staged(c, pinned, c->in, err);
}

static bool copy_is_small(const card *c, const weft_tensor *src) {
  return weft__tensor_bytes(src) <= GPU_SMALL_COPY && !weft__memory_pool_contains(c->pinned, src->data);
}

static weft_err gpu_copy_in(device *d, weft_tensor *dst, const weft_tensor *src) {
  card *c = card_of(d);
  const char *what = "copying to the GPU";
  const size_t bytes = weft__tensor_bytes(src);
  if (!bytes) return WEFT_OK;
  WEFT_TRY(card_check(c, card_wait_former_users(c), what));
  weft_err err = copy_is_small(c, src) ? card_check(c, c->api->copy_small(c->in, dst->data, src->data, bytes), what)
                                       : card_copy_staged(c, dst->data, src, bytes);
  if (err == WEFT_RESOURCE_EXHAUSTED) { /* no pinned memory is left */
    err = card_check(c, c->api->copy(c->in, dst->data, src->data, bytes, GPU_HOST_TO_DEVICE), what);
    if (!err) err = card_check(c, c->api->sync(c->in), what);
  }
  return err ? err : card_check(c, stream_follow(c, c->stream, c->in), what);
}

/* Puts the small ones of n tensors into pinned memory: the pieces, then their bytes. */
static void fill_pieces(const card *c, buffer *pinned, int n_piece, int n, weft_tensor *const *dst,
                        const weft_tensor *const *src) {
  gpu_piece *piece = pinned->data;
  char *data = (char *)(piece + n_piece);
  size_t used = 0;
  for (int i = 0; i < n; i++) {
    const size_t bytes = weft__tensor_bytes(src[i]);
    if (!bytes || !copy_is_small(c, src[i])) continue;
    *piece++ = (gpu_piece){dst[i]->data, used, bytes};
    memcpy(data + used, src[i]->data, bytes);
    used += (bytes + 7) / 8 * 8;
  }
}

/* The small ones are fetched by one kernel, which the stream of kernels orders with all others. */
static weft_err gpu_copy_in_many(device *d, int n, weft_tensor *const *dst, const weft_tensor *const *src) {
  card *c = card_of(d);
  int n_piece = 0;
  size_t total = 0;
  buffer *pinned;
  for (int i = 0; i < n; i++) {
    const size_t bytes = weft__tensor_bytes(src[i]);
    const bool small = copy_is_small(c, src[i]);
    if (!small) WEFT_TRY(gpu_copy_in(d, dst[i], src[i]));
    if (small && bytes) n_piece++, total += (bytes + 7) / 8 * 8;
  }
  if (!n_piece) return WEFT_OK;
  if (weft__memory_pool_alloc(c->pinned, &pinned, WEFT_UINT8, (size_t)n_piece * sizeof(gpu_piece) + total)) {
    for (int i = 0; i < n; i++)
      if (copy_is_small(c, src[i])) WEFT_TRY(gpu_copy_in(d, dst[i], src[i]));
    return WEFT_OK;
  }
  fill_pieces(c, pinned, n_piece, n, dst, src);
  const gpu_piece *piece = pinned->data;
  weft_err err = card_check(c, c->api->copy_pieces(c->stream, piece, n_piece, piece + n_piece), "copying to the GPU");
  return card_leave_staged(c, pinned, c->stream, err);
}

static weft_err gpu_copy_out(device *d, weft_tensor *dst, const weft_tensor *src) {
  card *c = card_of(d);
  const size_t bytes = weft__tensor_bytes(src);
  if (!bytes) return WEFT_OK;
  int code = stream_follow(c, c->out, c->stream);
  if (!code) code = c->api->copy(c->out, dst->data, src->data, bytes, GPU_DEVICE_TO_HOST);
  if (!code && !src->buf->transient) code = stream_follow(c, c->stream, c->out);
  return card_check(c, code, "copying from the GPU");
}

/* The copy waits for the value, and later work on `from` waits for the copy. */
static weft_err gpu_copy_over(device *d, weft_tensor *dst, device *from, const weft_tensor *src) {
  const card *c = card_of(d), *f = card_of(from);
  const size_t bytes = weft__tensor_bytes(src);
  const char *what = "copying between GPUs";
  if (!bytes) return WEFT_OK;
  pthread_mutex_lock(&card_of(from)->lock);
  int code = f->api->event_record(f->peer_event, f->stream);
  if (!code) code = c->api->event_wait(c->stream, f->peer_event);
  pthread_mutex_unlock(&card_of(from)->lock);
  if (!code) code = c->api->copy(c->stream, dst->data, src->data, bytes, GPU_DEVICE_TO_DEVICE);
  pthread_mutex_lock(&card_of(d)->lock);
  if (!code) code = c->api->event_record(c->peer_event, c->stream);
  if (!code) code = f->api->event_wait(f->stream, c->peer_event);
  pthread_mutex_unlock(&card_of(d)->lock);
  return card_check(c, code, what);
}

static weft_err gpu_sync_copies_out(device *d) {
  const card *c = card_of(d);
  return card_check(c, c->api->sync(c->out), "copying from the GPU");
}

static weft_err gpu_sync(device *d) {
  const card *c = card_of(d);
  int code = c->api->sync(c->stream); /* c->stream waits for c->in: gpu_copy_in */
  return code ? card_check(c, code, "running on the GPU") : gpu_sync_copies_out(d);
}

/* ---- ends of steps ----------------------------------------------------------------------------- */

/* Records end n behind the work queued so far, in the event that end n - 2 had. */
static int card_record_end(card *c, uint64_t *n) {
  pthread_mutex_lock(&c->lock);
  *n = ++c->n_end;
  void **event = &c->end_event[*n % 2];
  int code = *event ? 0 : c->api->event_create(c->number, event);
  if (!code) code = c->api->event_record(*event, c->stream);
  pthread_mutex_unlock(&c->lock);
  return code;
}

/* Another thread may record end n + 1 in the event of end n - 1 meanwhile; then this one waits longer than it must. */
static weft_err gpu_end_step(device *d, uint64_t *mark) {
  card *c = card_of(d);
  uint64_t n;
  int code = card_record_end(c, &n);
  *mark = n;
  void *before = n > 1 ? c->end_event[(n - 1) % 2] : NULL;
  if (!code && before) code = c->api->event_sync(before);
  if (!code && atomic_exchange(&c->reads_given, false)) code = c->api->sync(c->in);
  if (code) return card_check(c, code, "running on the GPU");
  for (uint64_t ended = c->ended; ended < n - 1 && !atomic_compare_exchange_weak(&c->ended, &ended, n - 1);) continue;
  return WEFT_OK;
}

static bool gpu_step_runs(device *d, uint64_t mark) { return atomic_load(&card_of(d)->ended) < mark; }

static void gpu_order_copies_in(device *d) { atomic_store(&card_of(d)->handed_out, true); }

/* ---- capture ----------------------------------------------------------------------------------- */

/* Finds or creates the event behind a captured item; number -1 is the beginning. */
static int capture_item_event(card *c, int number, void **out) {
  while (c->n_event <= number + 1) {
    void **grown = weft__array_grow(c->event, &c->event_capacity, c->n_event + 1, sizeof *grown);
    if (!grown) return c->api->alloc(c->number, SIZE_MAX / 2, out); /* fails with the plug-in's code for no memory */
    c->event = grown;
    int code = c->api->event_create(c->number, &c->event[c->n_event]);
    if (code) return code;
    c->n_event++;
  }
  WEFT_ASSERT(number >= -1 && number + 1 < c->n_event && c->n_event <= c->event_capacity);
  *out = c->event[number + 1];
  return 0;
}

static int capture_mark_item(card *c, int number) {
  void *event;
  int code = capture_item_event(c, number, &event);
  return code ? code : c->api->event_record(event, c->capture_stream[c->current]);
}

static int capture_wait_item(card *c, int number) {
  void *event;
  int code = capture_item_event(c, number, &event);
  return code ? code : c->api->event_wait(c->capture_stream[c->current], event);
}

static int capture_open_streams(card *c) {
  int code = 0;
  for (int i = 0; i < CAPTURE_STREAMS; i++) {
    if (!c->capture_stream[i]) code = c->api->stream_create(c->number, &c->capture_stream[i]);
    if (code) return code;
    c->joined[i] = i == 0;
  }
  c->current = 0;
  c->captured = -1;
  return c->api->capture_begin(c->capture_stream[0]);
}

bool weft__device_thread_captures(void) { return captured_card != NULL; }

static weft_err gpu_capture_begin(device *d) {
  card *c = card_of(d);
  WEFT_ASSERT(!captured_card); /* a thread captures one card at a time */
  pthread_mutex_lock(&c->capture_lock);
  int code = capture_open_streams(c);
  if (code)
    pthread_mutex_unlock(&c->capture_lock);
  else
    captured_card = c;
  return card_check(c, code, "capturing a step");
}

static weft_err gpu_capture_item(device *d, int number, int stream, const int after[CAPTURE_STREAMS]) {
  card *c = card_of(d);
  WEFT_ASSERT(captured_card == c && stream >= 0 && stream < CAPTURE_STREAMS);
  int code = capture_mark_item(c, c->captured); /* the work queued so far */
  c->current = stream;
  c->captured = number;
  if (!code && !c->joined[stream]) code = capture_wait_item(c, -1);
  c->joined[stream] = true;
  for (int i = 0; i < CAPTURE_STREAMS && !code; i++)
    if (i != stream && after[i] >= 0) code = capture_wait_item(c, after[i]);
  return card_check(c, code, "capturing a step");
}

/* Makes the first stream wait for all others, as CUDA demands of a capture. */
static int capture_join_streams(card *c) {
  int code = capture_mark_item(c, c->captured);
  for (int i = 1; i < CAPTURE_STREAMS; i++) {
    if (!c->joined[i]) continue;
    void *event;
    if (!code) code = capture_item_event(c, c->captured + i, &event);
    if (!code) code = c->api->event_record(event, c->capture_stream[i]);
    if (!code) code = c->api->event_wait(c->capture_stream[0], event);
  }
  return code;
}

static weft_err gpu_capture_end(device *d, void **graph) {
  card *c = card_of(d);
  int code = capture_join_streams(c), ended = c->api->capture_end(c->capture_stream[0], graph);
  WEFT_ASSERT(captured_card == c);
  captured_card = NULL;
  pthread_mutex_unlock(&c->capture_lock);
  return card_check(c, code ? code : ended, "capturing a step");
}

static weft_err gpu_graph_launch(device *d, void *graph) {
  const card *c = card_of(d);
  return card_check(c, c->api->launch(graph, c->stream), "running on the GPU");
}

static void gpu_graph_destroy(device *d, void *graph) {
  if (graph) card_of(d)->api->graph_destroy(graph);
}

/* ---- sums over cards --------------------------------------------------------------------------- */

bool weft__devices_can_sum(int n, device *const *d, weft_dtype type) {
  int number[GPU_MAX_CARDS];
  bool can = false;
  const gpu_api *api = n > 0 ? weft__device_api(d[0]) : NULL;
  if (!api || !api->can_sum || n > GPU_MAX_CARDS) return false;
  for (int i = 0; i < n; i++) {
    if (!weft__device_api(d[i])) return false;
    number[i] = card_of(d[i])->number;
    for (int j = 0; j < i; j++)
      if (number[j] == number[i]) return false;
  }
  return api->can_sum(n, number, type, &can) == 0 && can;
}

weft_err weft__devices_sum(int n, device *const *d, const weft_tensor *const *in, int root, weft_tensor *out) {
  int number[GPU_MAX_CARDS];
  void *stream[GPU_MAX_CARDS];
  const void *data[GPU_MAX_CARDS];
  const card *c = card_of(d[root]);
  for (int i = 0; i < n; i++) {
    number[i] = card_of(d[i])->number;
    stream[i] = card_of(d[i])->stream;
    data[i] = in[i]->data;
  }
  const size_t count = (size_t)weft__tensor_count(out);
  const int code = count ? c->api->sum(n, number, stream, data, root, out->data, count, out->dtype) : 0;
  return card_check(c, code, "summing over GPUs");
}

/* ---- creation and destruction ------------------------------------------------------------------ */

static device_memory gpu_count_memory(device *d) {
  const memory_pool_stats s = weft__memory_pool_stats(card_of(d)->pool);
  return (device_memory){.in_use = (int64_t)s.in_use, .peak = (int64_t)s.peak, .limit = (int64_t)s.limit};
}

static const device_ops gpu_ops = {
    .type = "GPU",
    .alloc_host = gpu_alloc_host,
    .copy_in = gpu_copy_in,
    .copy_in_many = gpu_copy_in_many,
    .copy_out = gpu_copy_out,
    .copy_over = gpu_copy_over,
    .sync_copies_out = gpu_sync_copies_out,
    .sync = gpu_sync,
    .end_step = gpu_end_step,
    .step_runs = gpu_step_runs,
    .order_copies_in = gpu_order_copies_in,
    .destroy = weft__device_free,
    .capture_begin = gpu_capture_begin,
    .capture_item = gpu_capture_item,
    .capture_end = gpu_capture_end,
    .graph_launch = gpu_graph_launch,
    .graph_destroy = gpu_graph_destroy,
    .count_memory = gpu_count_memory,
};

void *weft__device_stream(const device *d) { return weft__device_api(d) ? stream_of(card_of(d)) : NULL; }

bool weft__device_can_capture(const device *d) {
  const gpu_api *api = weft__device_api(d);
  return api && api->capture_begin;
}

weft_err weft__card_device(device **out, card *c, const char *task, int id, const gpu_properties *p) {
  gpu_device *d = weft__alloc_zero(1, sizeof *d);
  if (!d) return WEFT_RESOURCE_EXHAUSTED;
  d->base = (device){.memory = {card_memory_alloc, card_memory_copy},
                     .ops = &gpu_ops,
                     .id = id,
                     .memory_limit = (int64_t)c->limit,
                     .incarnation = weft__device_incarnation()};
  d->card = c;
  d->base.name = weft__sprintf("%s/device:GPU:%d", task, id);
  d->base.description = weft__sprintf("device: %d, name: %s, pci bus id: %s", c->number, p->name, p->bus);
  if (!d->base.name || !d->base.description) {
    weft__device_free(&d->base);
    return WEFT_RESOURCE_EXHAUSTED;
  }
  *out = &d->base;
  return WEFT_OK;
}

weft_err weft__card_create(card **out, const gpu_api *api, int number, size_t limit, memory_pool *pinned) {
  card *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_RESOURCE_EXHAUSTED;
  *c = (card){.api = api, .number = number, .limit = limit, .pinned = pinned, .last = &c->first};
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->capture_lock, NULL);
  int code = api->stream_create(number, &c->stream);
  if (!code) code = api->stream_create(number, &c->in);
  if (!code) code = api->stream_create(number, &c->out);
  if (!code) code = api->event_create(number, &c->order_event);
  if (!code) code = api->event_create(number, &c->peer_event);
  weft_err err = card_check(c, code, "opening the GPU");
  if (!err) err = weft__memory_pool_create(&c->pool, (memory_source){c, card_get_memory, card_give_memory}, limit);
  if (err)
    weft__card_destroy(c);
  else
    *out = c;
  return err;
}

void weft__card_destroy(card *c) {
  if (!c) return;
  if (c->stream) c->api->sync(c->stream);
  pthread_mutex_lock(&c->lock);
  card_collect_staged(c);
  pthread_mutex_unlock(&c->lock);
  weft__memory_pool_destroy(c->pool);
  for (staged *s = c->spare, *next; s; s = next) {
    next = s->next;
    c->api->event_destroy(s->event);
    weft__free(s);
  }
  if (c->order_event) c->api->event_destroy(c->order_event);
  if (c->peer_event) c->api->event_destroy(c->peer_event);
  for (int i = 0; i < 2; i++)
    if (c->end_event[i]) c->api->event_destroy(c->end_event[i]);
  for (int i = 0; i < c->n_event; i++) c->api->event_destroy(c->event[i]);
  weft__free(c->event);
  pthread_mutex_destroy(&c->lock);
  pthread_mutex_destroy(&c->capture_lock);
  weft__free(c);
}
