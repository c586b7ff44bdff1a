/* npz.c - writes .npy headers and the few records of a zip file. */
#include "npz.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_ALIGN = 64, LOCAL = 30, CENTRAL = 46, ENDING = 22, NAME_MAX_BYTES = 60000, ENTRIES_MAX = 65535 };

/* ---- bytes ---- */

uint32_t npz_checksum(uint32_t crc, const void *data, size_t size) {
  static uint32_t table[256];
  if (!table[1])
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t v = i;
      for (int k = 0; k < 8; k++) v = v >> 1 ^ (v & 1 ? 0xEDB88320u : 0);
      table[i] = v;
    }
  crc = ~crc;
  for (const uint8_t *p = data, *end = p + size; p < end; p++) crc = crc >> 8 ^ table[(crc ^ *p) & 255];
  return ~crc;
}

static void npz_put(uint8_t *to, int bytes, uint32_t v) {
  for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> (8 * i));
}

static weft_err fail_errno(void) { return weft_fail(WEFT_INTERNAL, strerror(errno)); }

static weft_err npz_emit(npz *z, const void *data, size_t size) {
  if (size && fwrite(data, 1, size, z->file) != size) return fail_errno();
  z->offset += (uint32_t)size;
  return WEFT_OK;
}

static weft_err npz_remember(npz *z, const void *data, size_t size) {
  if (z->list_size + size > z->list_room) {
    const size_t room = 2 * (z->list_size + size);
    char *grown = realloc(z->list, room);
    if (!grown) return weft_fail(WEFT_RESOURCE_EXHAUSTED, "out of memory");
    z->list = grown;
    z->list_room = room;
  }
  memcpy(z->list + z->list_size, data, size);
  z->list_size += size;
  return WEFT_OK;
}

/* ---- arrays ---- */

typedef struct array { /* what goes into a .npy: a header and the elements */
  char header[512];
  size_t header_size, size;
  const void *data;
  void *made; /* data, if it had to be made */
} array;

static const char *numpy_type(weft_dtype t) {
  switch (t) {
  case WEFT_FLOAT:
  case WEFT_BFLOAT16: return "<f4";
  case WEFT_DOUBLE: return "<f8";
  case WEFT_HALF: return "<f2";
  case WEFT_BOOL: return "|b1";
  case WEFT_INT8:
  case WEFT_QINT8: return "|i1";
  case WEFT_UINT8:
  case WEFT_QUINT8: return "|u1";
  case WEFT_INT16:
  case WEFT_QINT16: return "<i2";
  case WEFT_UINT16:
  case WEFT_QUINT16: return "<u2";
  case WEFT_INT32:
  case WEFT_QINT32: return "<i4";
  case WEFT_UINT32: return "<u4";
  case WEFT_INT64: return "<i8";
  case WEFT_UINT64: return "<u8";
  case WEFT_COMPLEX64: return "<c8";
  case WEFT_COMPLEX128: return "<c16";
  default: return NULL;
  }
}

static weft_err widen_strings(array *a, const weft_tensor *t, size_t *width) {
  const char *data;
  size_t size;
  const int64_t n = weft_tensor_count(t);
  *width = 1;
  for (int64_t i = 0; i < n; i++) {
    const weft_err err = weft_tensor_string(t, i, &data, &size);
    if (err != WEFT_OK) return err;
    if (size > *width) *width = size;
  }
  if (*width > UINT32_MAX || *width * (size_t)n > UINT32_MAX)
    return weft_fail(WEFT_OUT_OF_RANGE, "strings of more than 4 GiB do not fit a .npz");
  a->size = *width * (size_t)n;
  a->data = a->made = calloc(a->size + 1, 1);
  for (int64_t i = 0; a->made && i < n; i++)
    if (weft_tensor_string(t, i, &data, &size) == WEFT_OK && size)
      memcpy((char *)a->made + (size_t)i * *width, data, size);
  return a->made ? WEFT_OK : weft_fail(WEFT_RESOURCE_EXHAUSTED, "out of memory");
}

static weft_err widen_floats(array *a, const weft_tensor *t) {
  const int64_t n = weft_tensor_count(t);
  float *wide = malloc((size_t)n * sizeof *wide + 1);
  for (int64_t i = 0; wide && i < n; i++) wide[i] = (float)weft_tensor_number(t, i);
  a->data = a->made = wide;
  a->size = (size_t)n * sizeof *wide;
  return wide ? WEFT_OK : weft_fail(WEFT_RESOURCE_EXHAUSTED, "out of memory");
}

/* "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }", padded so that the elements are aligned. */
static void npz_describe(array *a, const char *type, const weft_tensor *t) {
  char *h = a->header;
  size_t n = 10;
  const size_t room = sizeof a->header - HEADER_ALIGN;
  n += (size_t)snprintf(h + n, room - n, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (int i = 0; i < weft_tensor_rank(t) && n < room; i++)
    n += (size_t)snprintf(h + n, room - n, "%" PRId64 ", ", weft_tensor_dims(t)[i]);
  if (n < room) n += (size_t)snprintf(h + n, room - n, "), }");
  while ((n + 1) % HEADER_ALIGN) h[n++] = ' ';
  h[n++] = '\n';
  memcpy(h, "\x93NUMPY\x01\x00", 8);
  npz_put((uint8_t *)h + 8, 2, (uint32_t)(n - 10));
  a->header_size = n;
}

static weft_err make_array(array *a, const weft_tensor *t) {
  char string_type[32];
  const char *type = numpy_type(weft_tensor_dtype(t));
  size_t width;
  weft_err err = WEFT_OK;
  a->data = weft_tensor_data(t);
  a->size = weft_tensor_bytes(t);
  if (weft_tensor_dtype(t) == WEFT_STRING) {
    err = widen_strings(a, t, &width);
    snprintf(string_type, sizeof string_type, "|S%zu", width);
    type = string_type;
  } else if (weft_tensor_dtype(t) == WEFT_BFLOAT16)
    err = widen_floats(a, t);
  else if (!type)
    err = weft_fail(WEFT_UNIMPLEMENTED, "numpy has no such type as this tensor's");
  if (err == WEFT_OK) npz_describe(a, type, t);
  return err;
}

/* ---- the archive ---- */

weft_err npz_open(npz *z, const char *path) {
  *z = (npz){.file = fopen(path, "wb")};
  return z->file ? WEFT_OK : fail_errno();
}

/* The fields that an entry's head and its line in the directory share, from the version on. */
static void put_common(uint8_t *to, uint32_t crc, uint32_t size, uint32_t name) {
  npz_put(to, 2, 20);
  npz_put(to + 8, 2, 33); /* 1 January 1980, the first date there is */
  npz_put(to + 10, 4, crc);
  npz_put(to + 14, 4, size);
  npz_put(to + 18, 4, size);
  npz_put(to + 22, 2, name);
}

static weft_err write_entry(npz *z, const char *name, const array *a) {
  uint8_t local[LOCAL] = "PK\x03\x04", central[CENTRAL] = "PK\x01\x02";
  const size_t length = strlen(name) + strlen(".npy");
  const uint32_t crc = npz_checksum(npz_checksum(0, a->header, a->header_size), a->data, a->size);
  const uint32_t size = (uint32_t)(a->header_size + a->size);
  put_common(local + 4, crc, size, (uint32_t)length);
  npz_put(central + 4, 2, 20);
  put_common(central + 6, crc, size, (uint32_t)length);
  npz_put(central + 42, 4, z->offset);
  weft_err err = npz_remember(z, central, CENTRAL);
  if (err == WEFT_OK) err = npz_remember(z, name, strlen(name));
  if (err == WEFT_OK) err = npz_remember(z, ".npy", 4);
  if (err == WEFT_OK) err = npz_emit(z, local, LOCAL);
  if (err == WEFT_OK) err = npz_emit(z, name, strlen(name));
  if (err == WEFT_OK) err = npz_emit(z, ".npy", 4);
  if (err == WEFT_OK) err = npz_emit(z, a->header, a->header_size);
  if (err == WEFT_OK) err = npz_emit(z, a->data, a->size);
  z->n++;
  return err;
}

weft_err npz_add(npz *z, const char *name, const weft_tensor *t) {
  array a = {.made = NULL};
  const size_t length = strlen(name);
  weft_err err = make_array(&a, t);
  if (err == WEFT_OK && (length > NAME_MAX_BYTES || z->n == ENTRIES_MAX ||
                         (uint64_t)z->offset + z->list_size + a.size + 4 * length + 1024 > UINT32_MAX))
    err = weft_fail(WEFT_OUT_OF_RANGE, "more than a .npz holds: 4 GiB, 65535 arrays");
  if (err == WEFT_OK) err = write_entry(z, name, &a);
  free(a.made);
  return err;
}

weft_err npz_close(npz *z, weft_err err) {
  uint8_t ending[ENDING] = "PK\x05\x06";
  npz_put(ending + 8, 2, z->n);
  npz_put(ending + 10, 2, z->n);
  npz_put(ending + 12, 4, (uint32_t)z->list_size);
  npz_put(ending + 16, 4, z->offset);
  if (err == WEFT_OK) err = npz_emit(z, z->list, z->list_size);
  if (err == WEFT_OK) err = npz_emit(z, ending, ENDING);
  if (fclose(z->file) != 0 && err == WEFT_OK) err = fail_errno();
  free(z->list);
  return err;
}
