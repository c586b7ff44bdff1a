/* input.c - reads a file through two buffers: the bytes on disk and the decompressed bytes. */
#include "io/input.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "io/file_wait.h"
#include "io/snappy.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

enum {
  BUFFER = 128 << 10,
  ZLIB_HEADER = 15, /* zlib options: the largest window, and this header only */
  GZIP_HEADER = 15 + 16,
  MOST_INFLATED = 1032 /* the maximum expansion of deflate, per byte */
};

struct input {
  char *path;
  int fd;
  bool packed, disk_end, snappy, unsized;
  uint64_t piece; /* unsized: disk_offset when the last record began */
  text block;     /* SNAPPY: the decoded block, of which block_at bytes are in `plain` or consumed */
  size_t block_at;
  uint64_t offset, disk_offset; /* of plain[at]; of the next byte to read from disk */
  size_t at, have;              /* plain[at..have) is not consumed yet */
  status failed;
#ifdef WEFT_HAVE_ZLIB
  z_stream z;
  bool member_end; /* a gzip member has ended; another may follow */
  unsigned char disk[BUFFER];
#endif
  unsigned char plain[BUFFER];
};

compression weft__compression_of(const char *name) {
  return !strcmp(name, "ZLIB") ? COMPRESSION_ZLIB : !strcmp(name, "GZIP") ? COMPRESSION_GZIP : COMPRESSION_NONE;
}

static weft_err start_inflating(input *in, compression c) {
  if (c == COMPRESSION_GUESS) {
    unsigned char magic[2];
    ssize_t n = pread(in->fd, magic, 2, 0);
    if (n < 2 || magic[0] != 0x1f || magic[1] != 0x8b) return WEFT_OK;
  }
  in->snappy = c == COMPRESSION_SNAPPY;
  if (c == COMPRESSION_NONE || in->snappy) return WEFT_OK;
#ifdef WEFT_HAVE_ZLIB
  if (inflateInit2(&in->z, c == COMPRESSION_ZLIB ? ZLIB_HEADER : GZIP_HEADER) != Z_OK)
    return weft__fail(WEFT_OOM, "%s: no memory to inflate it", in->path);
  in->packed = true;
  return WEFT_OK;
#else
  return weft__fail(WEFT_UNIMPLEMENTED, "%s is compressed, and this build has no zlib", in->path);
#endif
}

weft_err weft__input_open(input **out, const char *path, compression c) {
  input *in = weft__alloc_zero(1, sizeof *in);
  if (!in) return WEFT_OOM;
  in->fd = -1;
  weft_err err = (in->path = weft__strdup(path)) ? weft__file_open(path, &in->fd, NULL) : WEFT_OOM;
  if (err != WEFT_OK) in->fd = -1;
  in->unsized = !err && weft__file_is_unsized(in->fd);
  if (err == WEFT_OK) err = start_inflating(in, c);
  if (err == WEFT_OK)
    *out = in;
  else
    weft__input_close(in);
  return err;
}

void weft__input_close(input *in) {
  if (!in) return;
#ifdef WEFT_HAVE_ZLIB
  if (in->packed) inflateEnd(&in->z);
#endif
  if (in->fd >= 0) close(in->fd);
  weft__status_finish(&in->failed);
  weft__text_finish(&in->block);
  weft__free(in->path);
  weft__free(in);
}

void weft__input_begin(input *in) { in->piece = in->disk_offset; }

/* Returns true if a read will not wait, and may read on.  Otherwise the error is kept. */
static bool disk_ready(input *in) {
  if (!in->unsized) return true;
  weft__status_update(&in->failed, in->disk_offset - in->piece < UNSIZED_MOST ? weft__file_wait(in->fd, in->path)
                                                                              : weft__file_endless(in->path));
  return in->failed.code == WEFT_OK;
}

/* Reads from disk until there are bytes, the end of the file or an error. */
static size_t disk_read(input *in, unsigned char *to) {
  WEFT_ASSERT(in->fd >= 0);
  for (;;) {
    ssize_t n = disk_ready(in) ? read(in->fd, to, BUFFER) : 0;
    if (n < 0 && (errno == EINTR || (in->unsized && errno == EAGAIN))) continue;
    if (n < 0) weft__status_update(&in->failed, weft__file_fail(in->path, errno));
    if (n <= 0) in->disk_end = true;
    in->disk_offset += n > 0 ? (uint64_t)n : 0;
    return n > 0 ? (size_t)n : 0;
  }
}

#ifdef WEFT_HAVE_ZLIB
/* Fails with the offset in the file on disk. */
static void input_damaged(input *in, const char *what) {
  weft__status_update(&in->failed, weft__fail(WEFT_DATA_LOSS, "%s: %s (at byte %llu of the file)", in->path, what,
                                              (unsigned long long)(in->disk_offset - in->z.avail_in)));
}

static void inflate_some(input *in) {
  WEFT_ASSERT(in->packed && in->at == 0);
  in->z.next_out = in->plain;
  in->z.avail_out = BUFFER;
  while (in->z.avail_out == BUFFER && in->failed.code == WEFT_OK) {
    if (!in->z.avail_in) {
      in->z.next_in = in->disk;
      in->z.avail_in = (unsigned)disk_read(in, in->disk);
      const bool whole = in->member_end || in->disk_offset == 0; /* an empty file is whole */
      if (!in->z.avail_in && in->failed.code == WEFT_OK && !whole) input_damaged(in, "the compressed data ends early");
      if (!in->z.avail_in) break;
    }
    if (in->member_end) inflateReset(&in->z);
    int r = inflate(&in->z, Z_NO_FLUSH);
    in->member_end = r == Z_STREAM_END;
    char what[100];
    snprintf(what, sizeof what, "inflate() failed with error %d: %s", r, in->z.msg ? in->z.msg : "damaged data");
    if (r != Z_OK && r != Z_STREAM_END) input_damaged(in, what);
  }
  in->have = BUFFER - in->z.avail_out;
  WEFT_ASSERT(in->have <= BUFFER);
}
#endif

/* Reads `size` bytes of the file.  Returns false at its end or after an error. */
static bool disk_exactly(input *in, void *to, size_t size) {
  for (size_t done = 0; done < size;) {
    if (!disk_ready(in)) return false;
    const ssize_t n = read(in->fd, (char *)to + done, size - done);
    if (n < 0 && (errno == EINTR || (in->unsized && errno == EAGAIN))) continue;
    if (n < 0) weft__status_update(&in->failed, weft__file_fail(in->path, errno));
    in->disk_offset += n > 0 ? (uint64_t)n : 0;
    if (n == 0 && done)
      weft__status_update(&in->failed, weft__fail(WEFT_DATA_LOSS, "%s: the compressed data ends early", in->path));
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

/* Reads and decodes the next block.  Returns false at the end of the file or after an error. */
static bool snappy_block(input *in) {
  WEFT_ASSERT(in->snappy && in->block_at == in->block.size);
  unsigned char head[4];
  text packed = {0};
  struct stat st;
  in->block.size = in->block_at = 0;
  if (!disk_exactly(in, head, sizeof head)) return false;
  const size_t size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
  weft_err err = WEFT_OK;
  if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode) && size > (uint64_t)st.st_size)
    err = weft__fail(WEFT_DATA_LOSS, "%s: a block of %zu bytes is longer than the file", in->path, size);
  if (!err && in->unsized && size > UNSIZED_MOST) err = weft__file_endless(in->path);
  char *to = err ? NULL : weft__text_reserve(&packed, size + 1);
  if (!err && !to) err = WEFT_OOM;
  if (!err && size && !disk_exactly(in, to, size) && in->failed.code == WEFT_OK)
    err = weft__fail(WEFT_DATA_LOSS, "%s: the compressed data ends early", in->path);
  if (!err && in->failed.code == WEFT_OK) err = weft__snappy_decode((const uint8_t *)to, size, &in->block);
  weft__text_finish(&packed);
  if (err) weft__status_update(&in->failed, err);
  return in->failed.code == WEFT_OK;
}

static void snappy_some(input *in) {
  WEFT_ASSERT(in->block_at <= in->block.size);
  while (in->block_at == in->block.size)
    if (!snappy_block(in)) return;
  in->have = in->block.size - in->block_at < BUFFER ? in->block.size - in->block_at : BUFFER;
  memcpy(in->plain, in->block.data + in->block_at, in->have);
  in->block_at += in->have;
}

/* Makes plain[at..have) nonempty.  Returns false at the end of the input. */
static bool input_refill(input *in) {
  WEFT_ASSERT(in->at <= in->have && in->have <= BUFFER);
  if (in->at < in->have) return true;
  in->at = in->have = 0;
  if (in->failed.code != WEFT_OK) return false;
  if (in->snappy) {
    snappy_some(in);
    return in->have > 0;
  }
#ifdef WEFT_HAVE_ZLIB
  if (in->packed) {
    inflate_some(in);
    return in->have > 0;
  }
#endif
  in->have = disk_read(in, in->plain);
  return in->have > 0;
}

weft_err weft__input_read(input *in, void *to, size_t size, size_t *got) {
  size_t done = 0;
  while (done < size && input_refill(in)) {
    size_t n = in->have - in->at < size - done ? in->have - in->at : size - done;
    WEFT_ASSERT(n > 0); /* input_refill left some */
    memcpy((char *)to + done, in->plain + in->at, n);
    in->at += n;
    in->offset += n;
    done += n;
  }
  *got = done;
  return done == size ? WEFT_OK : weft__status_raise(&in->failed);
}

int weft__input_byte(input *in) {
  if (!input_refill(in)) return -1;
  in->offset++;
  return in->plain[in->at++];
}

weft_err weft__input_status(const input *in) { return weft__status_raise(&in->failed); }

uint64_t weft__input_offset(const input *in) { return in->offset; }

uint64_t weft__input_limit(const input *in) {
  struct stat st;
  if (fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode)) return UINT64_MAX;
  uint64_t most = (uint64_t)st.st_size * (in->packed || in->snappy ? MOST_INFLATED : 1);
  return most > in->offset ? most - in->offset : 0;
}
const char *weft__input_path(const input *in) { return in->path; }
