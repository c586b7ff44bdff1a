/* inflate.c - unpacks a message with zlib, one chunk after the other.
 *
 * A message may grow a hundredfold, and any message to INFLATE_ALWAYS bytes: the size of what tasks tell each other
 * besides tensors.  No locks. */
#include "net/grpc/inflate.h"

#ifdef WEFT_HAVE_GRPC
#ifdef WEFT_HAVE_ZLIB
#include "base/alloc.h"
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <zlib.h>

enum { INFLATE_ALWAYS = 4 << 20, INFLATE_FACTOR = 100, CHUNK = 64 << 10 };

typedef struct inflation {
  message *out;
  z_stream z;
  uint8_t *chunk; /* being filled; z knows how far */
  size_t done;    /* bytes in earlier chunks */
  size_t packed;  /* bytes of the whole message */
  bool ended;
} inflation;

bool weft__inflate_available(void) { return true; }

static size_t inflation_limit(const inflation *i) {
  return i->packed > INFLATE_ALWAYS / INFLATE_FACTOR ? i->packed * INFLATE_FACTOR : INFLATE_ALWAYS;
}

/* Hands the chunk to the message. */
static weft_err inflation_flush(inflation *i) {
  const size_t size = CHUNK - i->z.avail_out;
  uint8_t *full = i->chunk;
  i->chunk = NULL;
  if (!full || size == 0) {
    weft__free(full);
    return WEFT_OK;
  }
  i->done += size;
  if (i->done > inflation_limit(i)) {
    weft__free(full);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED,
                      "A compressed message of %zu bytes grows beyond %zu (set WEFT_TOKEN in all tasks, or send it "
                      "uncompressed)",
                      i->packed, inflation_limit(i));
  }
  return weft__message_add(i->out, (piece){full, size, weft__free, full});
}

static weft_err inflation_next_chunk(inflation *i) {
  WEFT_TRY(inflation_flush(i));
  i->chunk = weft__alloc(CHUNK);
  i->z.next_out = i->chunk, i->z.avail_out = CHUNK;
  return i->chunk ? WEFT_OK : WEFT_OOM;
}

/* The next bytes of the packed message. */
static weft_err inflation_add(inflation *i, const grpc_slice *s) {
  i->z.next_in = (Bytef *)(uintptr_t)GRPC_SLICE_START_PTR(*s);
  i->z.avail_in = (uInt)GRPC_SLICE_LENGTH(*s); /* fits: a message has less than 2 GiB */
  while (i->z.avail_in && !i->ended) {
    if (!i->chunk || i->z.avail_out == 0) WEFT_TRY(inflation_next_chunk(i));
    const int code = inflate(&i->z, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return weft__fail(WEFT_INVALID_ARGUMENT, "A compressed message could not be decompressed");
    i->ended = code == Z_STREAM_END;
  }
  return WEFT_OK;
}

/* What zlib holds back when the last chunk was full. */
static weft_err inflation_end(inflation *i) {
  while (!i->ended && i->chunk && i->z.avail_out == 0) {
    WEFT_TRY(inflation_next_chunk(i));
    i->ended = inflate(&i->z, Z_FINISH) == Z_STREAM_END;
  }
  if (!i->ended) return weft__fail(WEFT_INVALID_ARGUMENT, "A compressed message ends early");
  return inflation_flush(i);
}

weft_err weft__inflate_to_message(message *out, grpc_byte_buffer *b) {
  grpc_byte_buffer_reader reader;
  inflation i = {.out = out, .packed = grpc_byte_buffer_length(b)};
  enum { GZIP_OR_ZLIB = 32 + MAX_WBITS };
  if (!grpc_byte_buffer_reader_init(&reader, b)) return weft__fail(WEFT_INTERNAL, "A message could not be read");
  weft_err err = inflateInit2(&i.z, GZIP_OR_ZLIB) == Z_OK ? WEFT_OK : WEFT_OOM;
  grpc_slice *s;
  while (!err && grpc_byte_buffer_reader_peek(&reader, &s)) err = inflation_add(&i, s);
  if (!err) err = inflation_end(&i);
  inflateEnd(&i.z);
  weft__free(i.chunk);
  grpc_byte_buffer_reader_destroy(&reader);
  if (err) weft__message_finish(out);
  return err;
}

#else

bool weft__inflate_available(void) { return false; }

weft_err weft__inflate_to_message(message *out, grpc_byte_buffer *b) {
  (void)out, (void)b;
  return weft__fail(WEFT_UNIMPLEMENTED, "A compressed message: this build has no zlib");
}

#endif
#endif
