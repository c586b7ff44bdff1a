/* table.c - a table file: data blocks, an index block with their last keys, and a footer that points to the index.
 *
 * A block has entries with shared key prefixes, then the offsets of the entries that share none (restarts).  Writing
 * uses TensorFlow's sizes.  Reading trusts nothing: every length is checked against its block, and every block
 * against its checksum. */
#include "io/table.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "io/crc32c.h"
#include <string.h>
#include <unistd.h>

#define MAGIC 0xdb4775248b80fb57ull
enum { BLOCK_SIZE = 262144, RESTART_EVERY = 16, TRAILER = 5, FOOTER = 48, MAX_BLOCK = 1 << 30 };

int weft__bytes_compare(bytes a, bytes b) {
  size_t n = a.size < b.size ? a.size : b.size;
  int c = n ? memcmp(a.data, b.data, n) : 0;
  return c ? c : (a.size > b.size) - (a.size < b.size);
}

size_t weft__varint_put(unsigned char *to, uint64_t v) {
  size_t n = 0;
  for (; v >= 128; v >>= 7) to[n++] = (unsigned char)(v | 128);
  to[n++] = (unsigned char)v;
  return n;
}

const unsigned char *weft__varint_get(const unsigned char *p, const unsigned char *end, uint64_t *v) {
  WEFT_ASSERT(p && p <= end);
  *v = 0;
  for (int shift = 0; shift < 64 && p < end; shift += 7) {
    *v |= (uint64_t)(*p & 127) << shift;
    if (!(*p++ & 128)) return p;
  }
  return NULL;
}

static void put_fixed32(text *t, uint32_t v) {
  const char b[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
  weft__text_add(t, b, 4);
}

static uint32_t get_fixed32(const void *from) {
  const unsigned char *p = from;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void table_put_varint(text *t, uint64_t v) {
  unsigned char b[10];
  weft__text_add(t, (const char *)b, weft__varint_put(b, v));
}

/* ---- writing ---- */

typedef struct block_writer {
  text body, last_key;
  text restarts; /* fixed32 each */
  int since, every;
} block_writer;

struct table_writer {
  file_writer *to;
  block_writer data, index;
  bool pending; /* a block was written; its index entry is added with the next key */
  text pending_key;
  uint64_t pending_offset, pending_size;
};

static void text_set(text *t, bytes b) {
  t->size = 0;
  weft__text_add(t, b.data, b.size);
}

static bytes text_bytes(const text *t) { return (bytes){t->data ? t->data : "", t->size}; }

static void block_add(block_writer *b, bytes key, bytes val) {
  WEFT_ASSERT(b->every > 0 && b->since <= b->every);
  size_t shared = 0;
  bool restart = b->body.size == 0 || b->since >= b->every;
  if (restart) {
    put_fixed32(&b->restarts, (uint32_t)b->body.size);
    b->since = 0;
  } else {
    while (shared < key.size && shared < b->last_key.size && key.data[shared] == b->last_key.data[shared]) shared++;
  }
  b->since++;
  WEFT_ASSERT(shared <= key.size && b->restarts.size % 4 == 0);
  table_put_varint(&b->body, shared);
  table_put_varint(&b->body, key.size - shared);
  table_put_varint(&b->body, val.size);
  weft__text_add(&b->body, key.data + shared, key.size - shared);
  weft__text_add(&b->body, val.data, val.size);
  text_set(&b->last_key, key);
}

static void block_clear(block_writer *b) {
  b->body.size = b->restarts.size = b->last_key.size = 0;
  b->since = 0;
}

static void block_finish(block_writer *b) {
  weft__text_finish(&b->body);
  weft__text_finish(&b->restarts);
  weft__text_finish(&b->last_key);
}

static bool block_failed(const block_writer *b) { return b->body.failed || b->restarts.failed || b->last_key.failed; }

/* Writes body, restarts, their number, type byte and checksum. */
static weft_err block_write(table_writer *t, block_writer *b, uint64_t *offset, uint64_t *size) {
  WEFT_ASSERT(b->restarts.size % 4 == 0);
  if (!b->restarts.size) put_fixed32(&b->restarts, 0);
  uint32_t count = (uint32_t)(b->restarts.size / 4);
  weft__text_add(&b->body, b->restarts.data ? b->restarts.data : "", b->restarts.size);
  put_fixed32(&b->body, count);
  *offset = weft__writer_offset(t->to);
  *size = b->body.size;
  weft__text_add(&b->body, "", 1); /* not compressed */
  if (block_failed(b)) return weft__fail(WEFT_OOM, "no memory for a table block");
  put_fixed32(&b->body, weft__crc32c_mask(weft__crc32c(0, b->body.data, b->body.size)));
  if (block_failed(b)) return weft__fail(WEFT_OOM, "no memory for a table block");
  weft__writer_append(t->to, b->body.data, b->body.size);
  block_clear(b);
  return WEFT_OK;
}

weft_err weft__table_create(table_writer **out, file_writer *to) {
  table_writer *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  t->to = to;
  t->data.every = RESTART_EVERY;
  t->index.every = 1;
  *out = t;
  return WEFT_OK;
}

void weft__table_destroy(table_writer *t) {
  if (!t) return;
  block_finish(&t->data);
  block_finish(&t->index);
  weft__text_finish(&t->pending_key);
  weft__free(t);
}

static size_t handle_put(unsigned char *to, uint64_t offset, uint64_t size) {
  size_t n = weft__varint_put(to, offset);
  return n + weft__varint_put(to + n, size);
}

/* Returns a short key that is not less than `last` and, if there is a next key, less than it. */
static void table_separator(text *last, const bytes *next) {
  size_t at = 0;
  unsigned char *k = (unsigned char *)last->data;
  if (next) {
    while (at < last->size && at < next->size && k[at] == (unsigned char)next->data[at]) at++;
    if (at < last->size && at < next->size && k[at] < 255 && k[at] + 1 < (unsigned char)next->data[at]) {
      k[at]++;
      last->size = at + 1;
    }
    return;
  }
  while (at < last->size && k[at] == 255) at++;
  if (at < last->size) {
    k[at]++;
    last->size = at + 1;
  }
}

static void index_pending(table_writer *t, const bytes *next) {
  unsigned char h[20];
  if (!t->pending) return;
  table_separator(&t->pending_key, next);
  size_t n = handle_put(h, t->pending_offset, t->pending_size);
  WEFT_ASSERT(n <= sizeof h);
  block_add(&t->index, text_bytes(&t->pending_key), (bytes){(const char *)h, n});
  t->pending = false;
}

static weft_err flush_block(table_writer *t) {
  if (!t->data.body.size) return WEFT_OK;
  text_set(&t->pending_key, text_bytes(&t->data.last_key));
  WEFT_ASSERT(!t->pending); /* the entry of the block before was added with the first key of this one */
  if (t->pending_key.failed) return weft__fail(WEFT_OOM, "no memory for a table key");
  t->pending = true;
  return block_write(t, &t->data, &t->pending_offset, &t->pending_size);
}

weft_err weft__table_add(table_writer *t, bytes key, bytes val) {
  if (key.size + val.size >= 2 * BLOCK_SIZE) WEFT_TRY(flush_block(t));
  index_pending(t, &key);
  block_add(&t->data, key, val);
  if (block_failed(&t->data)) return weft__fail(WEFT_OOM, "no memory for a table block");
  return t->data.body.size + t->data.restarts.size + 4 >= BLOCK_SIZE ? flush_block(t) : WEFT_OK;
}

weft_err weft__table_finish(table_writer *t) {
  uint64_t meta_at, meta_size, index_at, index_size;
  unsigned char footer[FOOTER] = {0};
  block_writer meta = {.every = RESTART_EVERY};
  WEFT_TRY(flush_block(t));
  weft_err err = block_write(t, &meta, &meta_at, &meta_size);
  block_finish(&meta);
  if (err != WEFT_OK) return err;
  index_pending(t, NULL);
  WEFT_TRY(block_write(t, &t->index, &index_at, &index_size));
  size_t n = handle_put(footer, meta_at, meta_size);
  handle_put(footer + n, index_at, index_size);
  for (int i = 0; i < 8; i++) footer[40 + i] = (unsigned char)(MAGIC >> (8 * i));
  weft__writer_append(t->to, footer, sizeof footer);
  return WEFT_OK;
}

/* ---- reading ---- */

typedef struct block {
  uint64_t at;
  unsigned char *data; /* NULL: no block is loaded */
  size_t size;         /* bytes of the entries, without the restarts */
} block;

struct table_reader {
  char *path;
  int fd;
  uint64_t size;
  block index, data;
  text key; /* key of the current entry of an iteration */
};

static weft_err table_damaged(const table_reader *t, uint64_t at, const char *what) {
  return weft__fail(WEFT_DATA_LOSS, "%s: %s (at byte %llu)", t->path, what, (unsigned long long)at);
}

static weft_err block_load(table_reader *t, block *b, uint64_t at, uint64_t size) {
  if (b->data && b->at == at) return WEFT_OK;
  weft__free(b->data);
  b->data = NULL;
  if (size < 4 || size > MAX_BLOCK || at > t->size || size + TRAILER > t->size - at)
    return table_damaged(t, at, "a block lies outside the file");
  unsigned char *data = weft__alloc((size_t)size + TRAILER);
  if (!data) return WEFT_OOM;
  weft_err err = weft__file_read_at(t->fd, t->path, at, data, (size_t)size + TRAILER);
  if (err == WEFT_OK && weft__crc32c_unmask(get_fixed32(data + size + 1)) != weft__crc32c(0, data, (size_t)size + 1))
    err = table_damaged(t, at, "block checksum mismatch");
  if (err == WEFT_OK && data[size] != 0)
    err = weft__fail(WEFT_UNIMPLEMENTED, "%s: a block is compressed (type %d), which is not supported", t->path,
                     data[size]);
  uint64_t restarts = err == WEFT_OK ? (uint64_t)get_fixed32(data + size - 4) * 4 + 4 : 0;
  if (err == WEFT_OK && restarts > size) err = table_damaged(t, at, "a block has more restarts than bytes");
  if (err != WEFT_OK) {
    weft__free(data);
    return err;
  }
  *b = (block){at, data, (size_t)(size - restarts)};
  WEFT_ASSERT(b->size <= size);
  return WEFT_OK;
}

/* Reads the entry at *pos: copies its key to t->key, returns its value as a view, and advances *pos. */
static weft_err entry_next(table_reader *t, const block *b, size_t *pos, text *key, bytes *val) {
  WEFT_ASSERT(b->data && *pos < b->size);
  const unsigned char *p = b->data + *pos, *end = b->data + b->size;
  uint64_t shared, fresh, size;
  if (!(p = weft__varint_get(p, end, &shared)) || !(p = weft__varint_get(p, end, &fresh)) ||
      !(p = weft__varint_get(p, end, &size)) || shared > key->size || fresh > (uint64_t)(end - p) ||
      size > (uint64_t)(end - p) - fresh)
    return table_damaged(t, b->at + *pos, "an entry is damaged");
  key->size = (size_t)shared;
  weft__text_add(key, (const char *)p, (size_t)fresh);
  if (key->failed) return weft__fail(WEFT_OOM, "no memory for a table key");
  *val = (bytes){(const char *)p + fresh, (size_t)size};
  *pos = (size_t)(p + fresh + size - b->data);
  WEFT_ASSERT(*pos <= b->size);
  return WEFT_OK;
}

/* Loads the data block of an index entry. */
static weft_err load_named(table_reader *t, bytes h) {
  uint64_t at, size;
  const unsigned char *p = (const unsigned char *)h.data, *end = p + h.size;
  if (!(p = weft__varint_get(p, end, &at)) || !weft__varint_get(p, end, &size))
    return table_damaged(t, t->index.at, "a block handle is damaged");
  return block_load(t, &t->data, at, size);
}

static weft_err read_footer(table_reader *t) {
  unsigned char f[FOOTER];
  uint64_t meta_at, meta_size, at, size, magic = 0;
  if (t->size < FOOTER) return table_damaged(t, t->size, "file is too short to be an sstable");
  WEFT_TRY(weft__file_read_at(t->fd, t->path, t->size - FOOTER, f, FOOTER));
  for (int i = 7; i >= 0; i--) magic = magic << 8 | f[40 + i];
  if (magic != MAGIC) return table_damaged(t, t->size - 8, "not an sstable (bad magic number)");
  const unsigned char *p = f, *end = f + 40;
  if (!(p = weft__varint_get(p, end, &meta_at)) || !(p = weft__varint_get(p, end, &meta_size)) ||
      !(p = weft__varint_get(p, end, &at)) || !weft__varint_get(p, end, &size))
    return table_damaged(t, t->size - FOOTER, "the footer is damaged");
  return block_load(t, &t->index, at, size);
}

weft_err weft__table_open(table_reader **out, const char *path) {
  table_reader *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  t->fd = -1;
  weft_err err = (t->path = weft__strdup(path)) ? weft__file_open(path, &t->fd, &t->size) : WEFT_OOM;
  if (err != WEFT_OK) t->fd = -1;
  if (err == WEFT_OK) err = read_footer(t);
  if (err == WEFT_OK)
    *out = t;
  else
    weft__table_close(t);
  return err;
}

void weft__table_close(table_reader *t) {
  if (!t) return;
  if (t->fd >= 0) close(t->fd);
  weft__free(t->index.data);
  weft__free(t->data.data);
  weft__text_finish(&t->key);
  weft__free(t->path);
  weft__free(t);
}

/* Finds the first index entry whose key is >= `key`.  Only its block may have the key. */
static weft_err find_block(table_reader *t, bytes key, bytes *h) {
  t->key.size = 0;
  for (size_t pos = 0; pos < t->index.size;) {
    WEFT_TRY(entry_next(t, &t->index, &pos, &t->key, h));
    if (weft__bytes_compare(text_bytes(&t->key), key) >= 0) return WEFT_OK;
  }
  return weft__fail(WEFT_NOT_FOUND, "no such key");
}

weft_err weft__table_find(table_reader *t, bytes key, bytes *val) {
  bytes h;
  WEFT_TRY(find_block(t, key, &h));
  WEFT_TRY(load_named(t, h));
  t->key.size = 0;
  for (size_t pos = 0; pos < t->data.size;) {
    WEFT_TRY(entry_next(t, &t->data, &pos, &t->key, val));
    int c = weft__bytes_compare(text_bytes(&t->key), key);
    if (c == 0) return WEFT_OK;
    if (c > 0) break;
  }
  return weft__fail(WEFT_NOT_FOUND, "no such key");
}

weft_err weft__table_each(table_reader *t, table_fn *fn, void *arg) {
  text index_key = {0};
  weft_err err = WEFT_OK;
  for (size_t at = 0; err == WEFT_OK && at < t->index.size;) {
    bytes h, val;
    if ((err = entry_next(t, &t->index, &at, &index_key, &h)) != WEFT_OK) break;
    if ((err = load_named(t, h)) != WEFT_OK) break;
    t->key.size = 0;
    for (size_t pos = 0; err == WEFT_OK && pos < t->data.size;) {
      err = entry_next(t, &t->data, &pos, &t->key, &val);
      if (err == WEFT_OK) err = fn(arg, text_bytes(&t->key), val);
    }
  }
  weft__text_finish(&index_key);
  return err;
}
