/* record.c - TFRecord framing over inputs and plain or compressed files.
 *
 * Memory is not allocated for a length only because its checksum is correct.  The bytes are read in pieces, so a
 * record that claims more than the file has fails at the end of the file. */
#include "io/record.h"
#include "io/snappy.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "io/crc32c.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#ifdef WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

enum { HEADER = 12, PIECE = 1 << 20 };

struct record_reader {
  input *in;
  status failed;
};

static uint32_t record_get_uint32(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void record_put_uint32(unsigned char *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (8 * i));
}

weft_err weft__records_open(record_reader **out, const char *path, compression c) {
  record_reader *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  weft_err err = weft__input_open(&r->in, path, c);
  if (err == WEFT_OK)
    *out = r;
  else
    weft__free(r);
  return err;
}

void weft__records_close(record_reader *r) {
  if (!r) return;
  weft__input_close(r->in);
  weft__status_finish(&r->failed);
  weft__free(r);
}

static weft_err record_truncated(const record_reader *r, uint64_t at) {
  return weft__fail(WEFT_DATA_LOSS, "truncated record at %llu' failed with Read less bytes than requested, in %s",
                    (unsigned long long)at, weft__input_path(r->in));
}

static weft_err record_corrupted(const record_reader *r, uint64_t at) {
  return weft__fail(WEFT_DATA_LOSS, "corrupted record at %llu%s in %s", (unsigned long long)at,
                    at ? "" : " (Is this even a TFRecord file?)", weft__input_path(r->in));
}

static weft_err read_body(record_reader *r, uint64_t at, uint64_t size, text *out) {
  unsigned char crc[4];
  size_t got;
  out->size = 0;
  for (uint64_t left = size; left;) {
    size_t piece = left < PIECE ? (size_t)left : PIECE, had = out->size;
    char *room = weft__text_reserve(out, piece);
    if (!room) return weft__fail(WEFT_OOM, "no memory for a record of %llu bytes", (unsigned long long)size);
    WEFT_TRY(weft__input_read(r->in, room, piece, &got));
    if (got < piece) return record_truncated(r, at);
    WEFT_ASSERT(piece > 0 && piece <= left);
    out->size = had + piece;
    left -= piece;
  }
  WEFT_TRY(weft__input_read(r->in, crc, 4, &got));
  if (got < 4) return record_truncated(r, at);
  if (weft__crc32c_unmask(record_get_uint32(crc)) != weft__crc32c(0, out->data, out->size))
    return record_corrupted(r, at + HEADER);
  return WEFT_OK;
}

weft_err weft__record_next(record_reader *r, text *out, uint64_t *offset, bool *end) {
  unsigned char header[HEADER];
  size_t got;
  uint64_t at = weft__input_offset(r->in);
  *offset = at;
  *end = false;
  if (r->failed.code != WEFT_OK) return weft__status_raise(&r->failed);
  weft__input_begin(r->in);
  weft_err err = weft__input_read(r->in, header, HEADER, &got);
  if (err == WEFT_OK && got < HEADER) { /* also a few extra bytes at the end, which TF ignores */
    *end = true;
    return WEFT_OK;
  }
  if (err == WEFT_OK && weft__crc32c_unmask(record_get_uint32(header + 8)) != weft__crc32c(0, header, 8))
    err = record_corrupted(r, at);
  if (err == WEFT_OK)
    err = read_body(r, at, record_get_uint32(header) | (uint64_t)record_get_uint32(header + 4) << 32, out);
  weft__status_update(&r->failed, err);
  return err;
}

/* ---- writing ---- */

void weft__record_frame_make(weft_record_frame *out, const void *data, size_t size) {
  record_put_uint32(out->head, (uint32_t)size);
  record_put_uint32(out->head + 4, (uint32_t)((uint64_t)size >> 32));
  record_put_uint32(out->head + 8, weft__crc32c_mask(weft__crc32c(0, out->head, 8)));
  record_put_uint32(out->tail, weft__crc32c_mask(weft__crc32c(0, data, size)));
}

void weft__record_frame(text *out, const void *data, size_t size) {
  weft_record_frame f;
  weft__record_frame_make(&f, data, size);
  weft__text_add(out, (const char *)f.head, sizeof f.head);
  weft__text_add(out, data, size);
  weft__text_add(out, (const char *)f.tail, sizeof f.tail);
}

struct record_writer {
  char *path;
  int fd;
  text held;
  status failed;
#ifdef WEFT_HAVE_ZLIB
  z_stream z;
#endif
  bool packed, snappy;
};

static weft_err start_deflating(record_writer *w, compression c) {
  w->snappy = c == COMPRESSION_SNAPPY;
  if (c == COMPRESSION_NONE || c == COMPRESSION_GUESS || w->snappy) return WEFT_OK;
#ifdef WEFT_HAVE_ZLIB
  int window = c == COMPRESSION_GZIP ? 15 + 16 : 15;
  if (deflateInit2(&w->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return weft__fail(WEFT_OOM, "%s: no memory to compress it", w->path);
  w->packed = true;
  return WEFT_OK;
#else
  return weft__fail(WEFT_UNIMPLEMENTED, "%s cannot be compressed: this build has no zlib", w->path);
#endif
}

weft_err weft__record_writer_create(record_writer **out, const char *path, compression c) {
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  record_writer *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  w->fd = -1;
  weft_err err = (w->path = weft__strdup(path)) ? start_deflating(w, c) : WEFT_OOM;
  if (err == WEFT_OK && (w->fd = open(local, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
    err = weft__file_fail(path, errno);
  if (err == WEFT_OK)
    *out = w;
  else
    weft__record_writer_destroy(w);
  return err;
}

static void record_write_all(record_writer *w, const void *data, size_t size) {
  const char *p = data;
  while (size && w->failed.code == WEFT_OK) {
    ssize_t n = write(w->fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      weft__status_update(&w->failed, weft__file_fail(w->path, errno));
      return;
    }
    p += n;
    size -= (size_t)n;
  }
}

/* Writes the buffered bytes. `last` ends the compressed stream. */
static void record_send(record_writer *w, bool last) {
  WEFT_ASSERT(w->fd >= 0 && !(w->snappy && w->packed));
  if (w->held.failed) weft__status_update(&w->failed, weft__fail(WEFT_OOM, "%s: no memory for a record", w->path));
  if (w->snappy && w->held.size) {
    text block = {0};
    weft__snappy_encode(w->held.data, w->held.size, &block);
    const unsigned char head[] = {(unsigned char)(block.size >> 24), (unsigned char)(block.size >> 16),
                                  (unsigned char)(block.size >> 8), (unsigned char)block.size};
    if (block.failed) weft__status_update(&w->failed, weft__fail(WEFT_OOM, "%s: no memory for a block", w->path));
    record_write_all(w, head, sizeof head);
    record_write_all(w, weft__text_get(&block), block.size);
    weft__text_finish(&block);
    w->held.size = 0;
    return;
  }
#ifdef WEFT_HAVE_ZLIB
  if (w->packed) {
    unsigned char room[16 << 10];
    w->z.next_in = (unsigned char *)w->held.data;
    w->z.avail_in = (unsigned)w->held.size;
    do {
      w->z.next_out = room;
      w->z.avail_out = sizeof room;
      deflate(&w->z, last ? Z_FINISH : Z_SYNC_FLUSH);
      record_write_all(w, room, sizeof room - w->z.avail_out);
    } while (!w->z.avail_out && w->failed.code == WEFT_OK);
    w->held.size = 0;
    return;
  }
#endif
  (void)last;
  record_write_all(w, w->held.data ? w->held.data : "", w->held.size);
  w->held.size = 0;
}

weft_err weft__record_write(record_writer *w, const void *data, size_t size) {
  weft__record_frame(&w->held, data, size);
  if (w->held.size >= PIECE) record_send(w, false);
  return weft__status_raise(&w->failed);
}

weft_err weft__record_flush(record_writer *w) {
  record_send(w, false);
  return weft__status_raise(&w->failed);
}

weft_err weft__record_writer_destroy(record_writer *w) {
  if (!w) return WEFT_OK;
  if (w->fd >= 0) {
    record_send(w, true);
    if (close(w->fd) != 0) weft__status_update(&w->failed, weft__file_fail(w->path, errno));
  }
#ifdef WEFT_HAVE_ZLIB
  if (w->packed) deflateEnd(&w->z);
#endif
  weft_err err = weft__status_raise(&w->failed);
  weft__status_finish(&w->failed);
  weft__text_finish(&w->held);
  weft__free(w->path);
  weft__free(w);
  return err;
}
