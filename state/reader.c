/* reader.c - serves one request at a time, without a thread of its own.
 *
 * `lock` guards the queue of waiting requests and the counters.  The request that is being served (`current`) is not in
 * that queue.  One thread at a time serves it, and uses it and the open file without the lock: the thread that made the
 * request current, or, after a wait for a file name, the thread that delivered the name.  Of these two, the one that
 * sets `arrived` last continues. */
#include "state/reader.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "io/confine.h"
#include "io/file_wait.h"
#include "io/lmdb.h"
#include "io/record.h"
#include "io/table.h"
#include "state/wait_queue.h"
#include <pthread.h>

typedef struct request {
  waiter base; /* listed while other requests are before it */
  reader *r;
  queue *names;
  int64_t wanted, n;
  str *keys, *values; /* n of them */
  int64_t key_capacity, value_capacity;
  reader_fn *fn;
  void *arg;
  status result;
} request;

struct reader {
  resource base;
  char *name;
  reader_spec spec;
  pthread_mutex_t lock;
  wait_queue waiting;
  request *current; /* NULL: no request is being served */
  bool reset_wanted;
  int64_t started, finished, produced;
  text last_file; /* the name of the file started last: part of a saved state */

  char *file; /* being read; NULL: none.  Only the thread that serves the request uses this field and those below */
  record_reader *records;
  lmdb_reader *pairs;
  input *in;
  int64_t index; /* line or record number within the file */
  text window;   /* fixed records: bytes that were read ahead */
  atomic_int arrived;
  bool name_arrived; /* name_result and file are set */
  status name_result;
};

/* ---- files ---- */

static void reader_close_file(reader *r) {
  weft__records_close(r->records);
  weft__lmdb_close(r->pairs);
  weft__input_close(r->in);
  weft__free(r->file);
  r->records = NULL;
  r->pairs = NULL;
  r->in = NULL;
  r->file = NULL;
  r->index = 0;
  r->window.size = 0;
}

static weft_err reader_skip_lines(reader *r) {
  for (int c; r->index < r->spec.skip_header_lines && (c = weft__input_byte(r->in)) >= 0;)
    if (c == '\n') r->index++;
  return weft__input_status(r->in);
}

static weft_err reader_skip_bytes(reader *r, int64_t n) {
  while (n-- > 0 && weft__input_byte(r->in) >= 0) {}
  return weft__input_status(r->in);
}

static weft_err reader_open_file(reader *r) {
  if (r->spec.kind != READER_IDENTITY) WEFT_TRY(weft__path_allowed(r->file));
  switch (r->spec.kind) {
  case READER_RECORDS: return weft__records_open(&r->records, r->file, r->spec.compression);
  case READER_LINES: WEFT_TRY(weft__input_open(&r->in, r->file, COMPRESSION_NONE)); return reader_skip_lines(r);
  case READER_FIXED:
    WEFT_TRY(weft__input_open(&r->in, r->file, r->spec.compression));
    return reader_skip_bytes(r, r->spec.header_bytes);
  case READER_LMDB: return weft__lmdb_open(&r->pairs, r->file);
  default: return WEFT_OK;
  }
}

/* ---- records: value, and a key "FILE:number"; *end: none was left ---- */

static weft_err reader_next_record(reader *r, text *val, uint64_t *number, bool *end) {
  return weft__record_next(r->records, val, number, end);
}

/* Removes one carriage return at the end of a line. */
static weft_err reader_next_line(reader *r, text *val, uint64_t *number, bool *end) {
  weft__input_begin(r->in);
  int c = weft__input_byte(r->in);
  *end = c < 0;
  for (; c >= 0 && c != '\n'; c = weft__input_byte(r->in)) weft__text_add(val, &(char){(char)c}, 1);
  if (val->size && val->data[val->size - 1] == '\r') val->size--;
  if (c < 0) WEFT_TRY(weft__input_status(r->in));
  *number = (uint64_t)++r->index;
  return WEFT_OK;
}

/* A record is complete only if the footer follows it. */
static weft_err reader_next_fixed(reader *r, text *val, uint64_t *number, bool *end) {
  size_t record = (size_t)r->spec.record_bytes, need = record + (size_t)r->spec.footer_bytes;
  size_t hop = r->spec.hop_bytes ? (size_t)r->spec.hop_bytes : record, got = 0;
  if (r->window.size < need) {
    char *room = weft__text_reserve(&r->window, need - r->window.size);
    if (!room) return WEFT_OOM;
    weft__input_begin(r->in);
    WEFT_TRY(weft__input_read(r->in, room, need - r->window.size, &got));
    r->window.size += got;
  }
  *end = r->window.size < need || !record;
  if (*end) return WEFT_OK;
  weft__text_add(val, r->window.data, record);
  size_t drop = hop < r->window.size ? hop : r->window.size;
  memmove(r->window.data, r->window.data + drop, r->window.size - drop);
  r->window.size -= drop;
  *number = (uint64_t)r->index++;
  return reader_skip_bytes(r, (int64_t)(hop - drop));
}

static weft_err request_add_pair(request *q, const char *key, size_t key_size, const char *val, size_t val_size) {
  str *keys = weft__array_grow(q->keys, &q->key_capacity, q->n + 1, sizeof *keys);
  if (!keys) return WEFT_OOM;
  q->keys = keys;
  str *values = weft__array_grow(q->values, &q->value_capacity, q->n + 1, sizeof *values);
  if (!values) return WEFT_OOM;
  q->values = values;
  WEFT_ASSERT(q->n < q->key_capacity && q->n < q->value_capacity);
  q->keys[q->n] = q->values[q->n] = (str){0};
  q->n++;
  WEFT_TRY(weft__str_set(&q->keys[q->n - 1], key, key_size));
  return weft__str_set(&q->values[q->n - 1], val, val_size);
}

/* Adds the whole file, or its name, as one record. */
static weft_err reader_produce_whole(reader *r, request *q) {
  text val = {0};
  weft_err err = WEFT_OK;
  if (r->spec.kind == READER_IDENTITY)
    weft__text_puts(&val, r->file);
  else
    err = weft__file_read(r->file, &val);
  if (err == WEFT_OK) err = request_add_pair(q, r->file, strlen(r->file), weft__text_get(&val), val.size);
  weft__text_finish(&val);
  return err;
}

/* Adds the next key and value as they are in the file. */
static weft_err reader_produce_pair(reader *r, request *q, bool *end) {
  text key = {0}, val = {0};
  weft_err err = weft__lmdb_next(r->pairs, &key, &val, end);
  if (err == WEFT_OK && !*end)
    err = request_add_pair(q, weft__text_get(&key), key.size, weft__text_get(&val), val.size);
  weft__text_finish(&val);
  weft__text_finish(&key);
  return err;
}

static weft_err reader_produce_next(reader *r, request *q, bool *end) {
  if (r->spec.kind == READER_LMDB) return reader_produce_pair(r, q, end);
  static weft_err (*const next[])(reader *, text *, uint64_t *, bool *) = {
      [READER_RECORDS] = reader_next_record, [READER_LINES] = reader_next_line, [READER_FIXED] = reader_next_fixed};
  text val = {0}, key = {0};
  uint64_t number = 0;
  weft_err err = next[r->spec.kind](r, &val, &number, end);
  if (err == WEFT_OK && !*end) {
    weft__text_printf(&key, "%s:%llu", r->file, (unsigned long long)number);
    err = val.failed || key.failed ? WEFT_OOM : request_add_pair(q, key.data, key.size, weft__text_get(&val), val.size);
  }
  weft__text_finish(&val);
  weft__text_finish(&key);
  return err;
}

/* Adds the next record of the open file to the request; closes the file at its end. */
static weft_err reader_produce(reader *r, request *q) {
  bool whole = r->spec.kind == READER_WHOLE || r->spec.kind == READER_IDENTITY, end = whole;
  int64_t before = q->n;
  WEFT_TRY(whole ? reader_produce_whole(r, q) : reader_produce_next(r, q, &end));
  pthread_mutex_lock(&r->lock);
  r->produced += q->n - before;
  r->finished += end;
  pthread_mutex_unlock(&r->lock);
  if (end) reader_close_file(r);
  return WEFT_OK;
}

/* ---- names of files ---- */

static void reader_serve_requests(reader *r);

static weft_err reader_take_name(reader *r, element *const *got) {
  const weft_tensor *t = &got[0]->part[0];
  if (weft__tensor_count(t) != 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected to dequeue a one-element string tensor");
  const str *s = TENSOR_DATA(t, str);
  r->file = weft__strndup(s->size ? s->data : "", s->size);
  return r->file ? WEFT_OK : WEFT_OOM;
}

static void reader_on_name(void *arg, weft_err err, element *const *got, int64_t n) {
  reader *r = arg;
  (void)n;
  weft__status_update(&r->name_result, err == WEFT_OK ? reader_take_name(r, got) : err);
  r->name_arrived = true;
  if (atomic_exchange(&r->arrived, 1) == 1) reader_serve_requests(r); /* the requesting thread has left */
}

static weft_err reader_check_queue(const queue *names) {
  const queue_spec *s = weft__queue_spec(names);
  if (s->n_component != 1) return weft__fail(WEFT_INVALID_ARGUMENT, "Expected single component queue");
  if (s->types[0] != WEFT_STRING)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected queue with single string component");
  return WEFT_OK;
}

/* Requests a file name.  Returns false if it is not there yet; the thread that delivers it then continues. */
static bool reader_request_name(reader *r, request *q) {
  atomic_store(&r->arrived, 0);
  weft__queue_dequeue(q->names, 1, false, q->base.cancel, reader_on_name, r);
  return atomic_exchange(&r->arrived, 1) == 1;
}

static weft_err reader_start_file(reader *r) {
  weft_err err = weft__status_raise(&r->name_result);
  weft__status_finish(&r->name_result);
  r->name_result = (status){0};
  r->name_arrived = false;
  if (err != WEFT_OK) return err;
  pthread_mutex_lock(&r->lock);
  r->started++;
  r->last_file.size = 0;
  weft__text_puts(&r->last_file, r->file);
  pthread_mutex_unlock(&r->lock);
  err = reader_open_file(r);
  if (err != WEFT_OK) reader_close_file(r);
  return err;
}

/* ---- serving requests ---- */

static void request_destroy(request *q) {
  for (int64_t i = 0; i < q->n; i++) {
    weft__free(q->keys[i].data);
    weft__free(q->values[i].data);
  }
  weft__free(q->keys);
  weft__free(q->values);
  weft__status_finish(&q->result);
  weft__object_release((object *)q->names);
  weft__object_release(&q->r->base.base);
  weft__free(q);
}

static void request_complete(request *q) {
  weft__waiter_stop(&q->base);
  weft_err err = weft__status_raise(&q->result);
  q->fn(q->arg, err, q->keys, q->values, err == WEFT_OK ? q->n : 0);
  request_destroy(q);
}

static void reader_reset_now(reader *r) {
  reader_close_file(r);
  r->started = r->finished = r->produced = 0;
  r->last_file.size = 0;
  r->reset_wanted = false;
}

/* Completes the current request and makes the next waiting one current; returns false if there is none. */
static bool reader_advance(reader *r) {
  pthread_mutex_lock(&r->lock);
  request *done = r->current;
  WEFT_ASSERT(done && !done->base.listed);
  if (r->reset_wanted) reader_reset_now(r);
  r->current = (request *)r->waiting.first;
  if (r->current) weft__wait_queue_remove(&r->waiting, &r->current->base);
  bool more = r->current != NULL;
  pthread_mutex_unlock(&r->lock);
  request_complete(done);
  return more;
}

/* Serves the current request; returns false if it waits for a name and another thread will continue. */
static bool reader_serve(reader *r, request *q) {
  WEFT_ASSERT(q == r->current && q->n <= q->wanted);
  const file_wait until = {.cancel = q->base.cancel}, *before = weft__file_wait_set(&until);
  weft_err err = r->name_arrived ? reader_start_file(r) : WEFT_OK;
  while (err == WEFT_OK && q->n < q->wanted) {
    if (r->file) {
      err = reader_produce(r, q);
    } else if (q->n) {
      break; /* all records of a request are from one file */
    } else {
      weft__file_wait_set(before);
      if (!reader_request_name(r, q)) return false;
      weft__file_wait_set(&until);
      err = reader_start_file(r);
    }
  }
  weft__file_wait_set(before);
  weft__status_update(&q->result, err);
  return true;
}

static void reader_serve_requests(reader *r) {
  weft__object_retain(&r->base.base);
  while (reader_serve(r, r->current) && reader_advance(r)) {}
  weft__object_release(&r->base.base);
}

/* ---- requests ---- */

static void request_complete_cancelled(request *q) {
  weft__status_update(&q->result, weft__fail(WEFT_CANCELLED, "Read operation was cancelled"));
  request_complete(q);
}

/* Completes a waiting request; the current one is canceled through its dequeue of a name. */
static void request_on_cancel(void *arg) {
  request *q = arg;
  reader *r = q->r;
  pthread_mutex_lock(&r->lock);
  q->base.cancelled = true;
  bool mine = q->base.listed;
  if (mine) weft__wait_queue_remove(&r->waiting, &q->base);
  pthread_mutex_unlock(&r->lock);
  if (mine) request_complete_cancelled(q);
}

static void reader_submit(reader *r, request *q, cancel *c) {
  weft_err err = weft__waiter_start(&q->base, c, request_on_cancel);
  if (err != WEFT_OK) {
    q->base.cancel = NULL;
    weft__status_update(&q->result, err);
    request_complete(q);
    return;
  }
  pthread_mutex_lock(&r->lock);
  bool cancelled = q->base.cancelled, mine = !cancelled && !r->current;
  if (mine)
    r->current = q;
  else if (!cancelled)
    weft__wait_queue_enter(&r->waiting, &q->base);
  pthread_mutex_unlock(&r->lock);
  if (cancelled) request_complete_cancelled(q);
  if (mine) reader_serve_requests(r);
}

void weft__reader_read(reader *r, queue *names, int64_t n, cancel *c, reader_fn *fn, void *arg) {
  weft_err err =
      n < 0 ? weft__fail(WEFT_INVALID_ARGUMENT, "num_records is %lld", (long long)n) : reader_check_queue(names);
  request *q = err == WEFT_OK ? weft__alloc_zero(1, sizeof *q) : NULL;
  if (!q) {
    fn(arg, err == WEFT_OK ? WEFT_OOM : err, NULL, NULL, 0);
    return;
  }
  *q = (request){.r = r, .names = names, .wanted = n, .fn = fn, .arg = arg};
  weft__object_retain((object *)names);
  weft__object_retain(&r->base.base);
  reader_submit(r, q, c);
}

int64_t weft__reader_records(reader *r) {
  pthread_mutex_lock(&r->lock);
  int64_t n = r->produced;
  pthread_mutex_unlock(&r->lock);
  return n;
}

int64_t weft__reader_files(reader *r) {
  pthread_mutex_lock(&r->lock);
  int64_t n = r->finished;
  pthread_mutex_unlock(&r->lock);
  return n;
}

void weft__reader_reset(reader *r) {
  pthread_mutex_lock(&r->lock);
  if (r->current)
    r->reset_wanted = true;
  else
    reader_reset_now(r);
  pthread_mutex_unlock(&r->lock);
}

/* ---- saved state: a protobuf message of four fields ---- */

static bool reader_can_save(const reader *r) { return r->spec.kind == READER_WHOLE || r->spec.kind == READER_IDENTITY; }

static void state_put_field(text *t, int field, uint64_t v) {
  unsigned char b[11] = {(unsigned char)(field << 3)};
  if (v) weft__text_add(t, (const char *)b, 1 + weft__varint_put(b + 1, v));
}

weft_err weft__reader_save(reader *r, text *out) {
  if (!reader_can_save(r)) return weft__fail(WEFT_UNIMPLEMENTED, "Reader SerializeState");
  pthread_mutex_lock(&r->lock);
  state_put_field(out, 1, (uint64_t)r->started);
  state_put_field(out, 2, (uint64_t)r->finished);
  state_put_field(out, 3, (uint64_t)r->produced);
  if (r->last_file.size) {
    unsigned char b[11] = {4 << 3 | 2};
    weft__text_add(out, (const char *)b, 1 + weft__varint_put(b + 1, r->last_file.size));
    weft__text_add(out, r->last_file.data, r->last_file.size);
  }
  pthread_mutex_unlock(&r->lock);
  return out->failed ? WEFT_OOM : WEFT_OK;
}

/* Parses a saved state; returns false if the bytes are not such a message. */
static bool reader_parse_state(const unsigned char *p, size_t size, uint64_t number[4], bytes *file) {
  const unsigned char *end = p + size;
  *file = (bytes){"", 0};
  while (p < end) {
    uint64_t tag, v;
    if (!(p = weft__varint_get(p, end, &tag)) || !(p = weft__varint_get(p, end, &v))) return false;
    if (tag == (4 << 3 | 2)) {
      if (v > (uint64_t)(end - p)) return false;
      *file = (bytes){(const char *)p, (size_t)v};
      p += v;
    } else if (tag == 1 << 3 || tag == 2 << 3 || tag == 3 << 3) {
      number[tag >> 3] = v;
    } else {
      return false;
    }
  }
  return true;
}

/* "work_started: 2\nwork_finished: 1", zeros left out. */
static void reader_describe_state(text *t, const uint64_t number[4], bytes file) {
  static const char *const field[] = {"", "work_started", "work_finished", "num_records_produced"};
  for (int i = 1; i < 4; i++)
    if (number[i]) weft__text_printf(t, "%s%s: %lld", t->size ? "\n" : "", field[i], (long long)number[i]);
  if (file.size)
    weft__text_printf(t, "%scurrent_work: \"%.*s\"", t->size ? "\n" : "", weft__int_sat(file.size), file.data);
}

static weft_err reader_check_state(const reader *r, const uint64_t number[4], bytes file) {
  bool negative = number[1] > INT64_MAX || number[2] > INT64_MAX || number[3] > INT64_MAX;
  if (!negative && number[1] <= number[2]) return WEFT_OK;
  text t = {0};
  reader_describe_state(&t, number, file);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "%s when restoring in %s: %s",
                            negative ? "Unexpected negative value" : "Inconsistent work started vs. finished", r->name,
                            weft__text_get(&t));
  weft__text_finish(&t);
  return err;
}

/* An invalid state leaves the reader reset. */
weft_err weft__reader_restore(reader *r, const void *data, size_t size) {
  uint64_t number[4] = {0};
  bytes file;
  if (!reader_can_save(r)) return weft__fail(WEFT_UNIMPLEMENTED, "Reader RestoreState");
  weft_err err = reader_parse_state(data, size, number, &file)
                     ? reader_check_state(r, number, file)
                     : weft__fail(WEFT_INVALID_ARGUMENT, "Could not parse state for %s: %zu bytes", r->name, size);
  pthread_mutex_lock(&r->lock);
  bool busy = r->current != NULL;
  if (!busy) reader_reset_now(r);
  if (!busy && err == WEFT_OK) {
    r->started = (int64_t)number[1];
    r->finished = (int64_t)number[2];
    r->produced = (int64_t)number[3];
    weft__text_add(&r->last_file, file.data, file.size);
  }
  pthread_mutex_unlock(&r->lock);
  return busy ? weft__fail(WEFT_FAILED_PRECONDITION, "%s is being read from and cannot be restored", r->name) : err;
}

/* ---- making ---- */

static void reader_destroy(object *o) {
  reader *r = (reader *)o;
  reader_close_file(r);
  weft__text_finish(&r->window);
  weft__text_finish(&r->last_file);
  weft__status_finish(&r->name_result);
  pthread_mutex_destroy(&r->lock);
  weft__free(r->name);
  weft__free(r);
}

weft_err weft__reader_create(reader **out, const reader_spec *spec, const char *name) {
  if (spec->header_bytes < 0 || spec->record_bytes < 0 || spec->footer_bytes < 0 || spec->hop_bytes < 0 ||
      spec->record_bytes > INT32_MAX || spec->footer_bytes > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "header_bytes, record_bytes, footer_bytes and hop_bytes must be >= 0: %lld, %lld, %lld, %lld",
                      (long long)spec->header_bytes, (long long)spec->record_bytes, (long long)spec->footer_bytes,
                      (long long)spec->hop_bytes);
  reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  atomic_init(&r->base.base.refs, 1);
  r->base.base.destroy = reader_destroy;
  r->base.type = READER_TYPE;
  r->spec = *spec;
  weft__wait_queue_init(&r->waiting);
  pthread_mutex_init(&r->lock, NULL);
  if (!(r->name = weft__strdup(name))) {
    reader_destroy(&r->base.base);
    return WEFT_OOM;
  }
  *out = r;
  return WEFT_OK;
}
