/* idx.c - reads idx files, whose numbers are big-endian. */
#include "io/idx.h"

#include "base/alloc.h"
#include "base/progress.h"
#include "io/input.h"
#include <string.h>

enum { PIECE = 4 << 20 };

static weft_err idx_invalid(const input *in, const char *what) {
  return weft__fail(WEFT_DATA_LOSS, "%s is no idx file: %s (at byte %llu)", weft__input_path(in), what,
                    (unsigned long long)weft__input_offset(in));
}

static weft_err read_exactly(input *in, void *to, size_t size) {
  size_t got;
  WEFT_TRY(weft__input_read(in, to, size, &got));
  return got == size ? WEFT_OK : idx_invalid(in, "it ends early");
}

static weft_err read_elements(input *in, char *to, size_t size) {
  progress p = {0};
  for (size_t done = 0, piece; done < size; done += piece) {
    piece = size - done < PIECE ? size - done : PIECE;
    WEFT_TRY(read_exactly(in, to + done, piece));
    weft__progress_log(&p, weft__input_path(in), (done + piece) >> 20, size >> 20, "MB read");
  }
  return WEFT_OK;
}

static weft_dtype idx_type_of(unsigned char code) {
  switch (code) {
  case 0x08: return WEFT_UINT8;
  case 0x09: return WEFT_INT8;
  case 0x0b: return WEFT_INT16;
  case 0x0c: return WEFT_INT32;
  case 0x0d: return WEFT_FLOAT;
  case 0x0e: return WEFT_DOUBLE;
  default: return WEFT_INVALID;
  }
}

static weft_err read_header(input *in, weft_dtype *dtype, shape *s) {
  unsigned char magic[4], dim[4];
  WEFT_TRY(read_exactly(in, magic, 4));
  *dtype = idx_type_of(magic[2]);
  if (magic[0] || magic[1] || *dtype == WEFT_INVALID || magic[3] > WEFT_MAX_RANK)
    return idx_invalid(in, "its magic number is unknown");
  s->rank = magic[3];
  for (int i = 0; i < s->rank; i++) {
    WEFT_TRY(read_exactly(in, dim, 4));
    s->dim[i] = (int64_t)((uint32_t)dim[0] << 24 | (uint32_t)dim[1] << 16 | (uint32_t)dim[2] << 8 | dim[3]);
  }
  int64_t count = weft__shape_count(s);
  return count >= 0 && count <= (int64_t)1 << 36 ? WEFT_OK : idx_invalid(in, "its dimensions are too large");
}

/* Reverses the bytes of each element on a little-endian machine. */
static void swap_bytes(unsigned char *p, size_t size, int64_t count) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (int64_t i = 0; size > 1 && i < count; i++, p += size)
    for (size_t j = 0; j < size / 2; j++) {
      unsigned char b = p[j];
      p[j] = p[size - 1 - j];
      p[size - 1 - j] = b;
    }
#else
  (void)p, (void)size, (void)count;
#endif
}

static weft_err read_from(input *in, weft_tensor **out) {
  weft_dtype dtype;
  shape s;
  weft_tensor *t = NULL;
  unsigned char more;
  size_t got;
  WEFT_TRY(read_header(in, &dtype, &s));
  const uint64_t wanted = (uint64_t)weft__shape_count(&s) * weft__dtype_size(dtype), most = weft__input_limit(in);
  if (wanted > most)
    return weft__fail(WEFT_DATA_LOSS,
                      "%s is no idx file: it ends early: %llu bytes at most instead of %llu (at byte %llu)",
                      weft__input_path(in), (unsigned long long)most, (unsigned long long)wanted,
                      (unsigned long long)weft__input_offset(in));
  WEFT_TRY(weft__tensor_create(&t, dtype, &s));
  weft_err err = read_elements(in, t->data, weft__tensor_bytes(t));
  if (err == WEFT_OK) err = weft__input_read(in, &more, 1, &got);
  if (err == WEFT_OK && got) err = idx_invalid(in, "there are bytes after its last element");
  if (err != WEFT_OK) {
    weft_tensor_destroy(t);
    return err;
  }
  swap_bytes(t->data, weft__dtype_size(dtype), weft__tensor_count(t));
  *out = t;
  return WEFT_OK;
}

weft_err weft__idx_read(weft_tensor **out, const char *path) {
  input *in = NULL;
  char *zipped = weft__sprintf("%s.gz", path);
  if (!zipped) return WEFT_OOM;
  bool plain = weft__file_exists(path) || !weft__file_exists(zipped);
  weft_err err = weft__input_open(&in, plain ? path : zipped, COMPRESSION_GUESS);
  weft__free(zipped);
  if (err == WEFT_OK) err = read_from(in, out);
  weft__input_close(in);
  return err;
}
