/* npz_read.c - what numpy.savez and savez_compressed wrote: the directory of a zip file, and the header of each .npy in
 * it.
 *
 * Sizes and places come from the directory at the end and are checked against the file before anything is read. */
#include "command.h"
#include "npz.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef WEFT_HAVE_ZLIB
#include <zlib.h>
#endif

enum { LOCAL = 30, CENTRAL = 46, ENDING = 22, NPY_HEAD = 10, MAX_RANK = 16, HEADER_MAX = 4096 };

static uint32_t npz_get(const uint8_t *p, int bytes) {
  uint32_t v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
  return v;
}

static weft_err npz_invalid(const char *what) { return weft_fail(WEFT_DATA_LOSS, what); }

/* ---- .npy ---- */

typedef struct array {
  weft_dtype dtype;
  size_t width; /* of a string; else of an element */
  int rank;
  int64_t dims[MAX_RANK];
} array;

static bool find_type(array *a, const char *descr) {
  static const struct {
    const char *name;
    weft_dtype dtype;
  } types[] = {{"<f4", WEFT_FLOAT},     {"<f8", WEFT_DOUBLE},     {"<f2", WEFT_HALF},  {"|b1", WEFT_BOOL},
               {"|i1", WEFT_INT8},      {"|u1", WEFT_UINT8},      {"<i2", WEFT_INT16}, {"<u2", WEFT_UINT16},
               {"<i4", WEFT_INT32},     {"<u4", WEFT_UINT32},     {"<i8", WEFT_INT64}, {"<u8", WEFT_UINT64},
               {"<c8", WEFT_COMPLEX64}, {"<c16", WEFT_COMPLEX128}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(descr, types[i].name) != 0) continue;
    a->dtype = types[i].dtype;
    a->width = weft_dtype_size(a->dtype);
    return true;
  }
  a->dtype = WEFT_STRING;
  int width;
  if (strncmp(descr, "|S", 2) != 0 || !cli_number(descr + 2, 0, 1 << 30, &width)) return false;
  a->width = (size_t)width;
  return true;
}

/* Returns the text after a key of the header: "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ". */
static const char *npz_read_value_of(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at) return NULL;
  at += strlen(key);
  return at + strspn(at, ": ");
}

static weft_err read_header(array *a, const char *header) {
  const char *descr = npz_read_value_of(header, "'descr'"), *order = npz_read_value_of(header, "'fortran_order'");
  const char *shape = npz_read_value_of(header, "'shape'");
  char type[32];
  if (!descr || !order || !shape || sscanf(descr, "'%31[^']'", type) != 1 || *shape != '(')
    return npz_invalid("no .npy header");
  if (!find_type(a, type)) {
    char why[100];
    snprintf(why, sizeof why, "an array of numpy's type '%s', which tensors do not have", type);
    return weft_fail(WEFT_UNIMPLEMENTED, why);
  }
  a->rank = 0;
  for (const char *at = shape + 1; *at && *at != ')';) {
    char *end;
    const long long n = strtoll(at, &end, 10);
    if (end == at || n < 0 || a->rank == MAX_RANK) return npz_invalid("no shape in a .npy header");
    a->dims[a->rank++] = n;
    at = end + strspn(end, "L, ");
  }
  if (strncmp(order, "True", 4) == 0 && a->rank > 1)
    return weft_fail(WEFT_UNIMPLEMENTED, "an array in Fortran's order; numpy.ascontiguousarray makes one in C's");
  return WEFT_OK;
}

static weft_err fill_strings(weft_tensor *t, const uint8_t *data, size_t width) {
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft_tensor_count(t) && err == WEFT_OK; i++) {
    const char *s = (const char *)data + (size_t)i * width;
    size_t n = width;
    while (n && !s[n - 1]) n--; /* numpy pads with zeros */
    err = weft_tensor_set_string(t, i, s, n);
  }
  return err;
}

static weft_err read_npy(weft_tensor **out, const uint8_t *data, size_t size) {
  array a = {0};
  char header[HEADER_MAX + 1];
  if (size < NPY_HEAD + 2 || memcmp(data, "\x93NUMPY", 6) != 0) return npz_invalid("an entry that is no .npy");
  const size_t head = data[6] == 1 ? NPY_HEAD : NPY_HEAD + 2, length = npz_get(data + 8, data[6] == 1 ? 2 : 4);
  if (length > HEADER_MAX || head + length > size) return npz_invalid("a .npy header that does not end");
  memcpy(header, data + head, length);
  header[length] = 0;
  weft_err err = read_header(&a, header);
  if (err != WEFT_OK) return err;
  size_t left = size - head - length, count = 1;
  for (int i = 0; i < a.rank; i++)
    if (__builtin_mul_overflow(count, (size_t)a.dims[i], &count)) return npz_invalid("a .npy that is too large");
  if (__builtin_mul_overflow(count, a.width, &count) || count != left)
    return npz_invalid("a .npy whose data does not fit its shape");
  const uint8_t *elements = data + head + length;
  err = weft_tensor_create(out, a.dtype, a.rank, a.dims, a.dtype == WEFT_STRING ? NULL : elements);
  if (err == WEFT_OK && a.dtype == WEFT_STRING) err = fill_strings(*out, elements, a.width);
  return err;
}

/* ---- the archive ---- */

typedef struct npz_user {
  npz_fn *fn;
  npz_other_fn *other;
  void *arg;
} npz_user;

enum { STORED = 0, DEFLATED = 8, DEFLATE_AT_MOST = 1032 }; /* methods; how many bytes one byte can stand for */

static weft_err read_checked(weft_tensor **out, const uint8_t *data, size_t size, uint32_t crc) {
  if (npz_checksum(0, data, size) != crc) return npz_invalid("an entry whose checksum is wrong");
  return read_npy(out, data, size);
}

/* The same of what the entry was before it was deflated. */
static weft_err read_deflated(weft_tensor **out, const uint8_t *data, size_t size, size_t whole, uint32_t crc) {
#ifdef WEFT_HAVE_ZLIB
  if (whole / DEFLATE_AT_MOST > size) return npz_invalid("an entry that claims more than it can hold");
  uint8_t *plain = malloc(whole + 1);
  z_stream z = {
      .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = plain, .avail_out = (uInt)whole};
  if (!plain || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
    free(plain);
    return weft_fail(WEFT_RESOURCE_EXHAUSTED, "no memory to decompress an entry");
  }
  const bool right = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == whole;
  inflateEnd(&z);
  const weft_err err =
      right ? read_checked(out, plain, whole, crc) : npz_invalid("an entry that does not decompress to its size");
  free(plain);
  return err;
#else
  (void)out, (void)data, (void)size, (void)whole, (void)crc;
  return weft_fail(WEFT_UNIMPLEMENTED,
                   "it is compressed, and this weft was built without zlib; numpy.savez writes plain ones");
#endif
}

static weft_err read_entry(const uint8_t *file, size_t size, const uint8_t *central, const npz_user *to) {
  char name[HEADER_MAX];
  const size_t at = npz_get(central + 42, 4), stored = npz_get(central + 20, 4), length = npz_get(central + 28, 2);
  const uint32_t method = npz_get(central + 10, 2);
  if (method != STORED && method != DEFLATED)
    return weft_fail(WEFT_UNIMPLEMENTED, "it is compressed in a way that numpy does not use");
  if (length < 5 || length >= sizeof name || at + LOCAL > size || memcmp(file + at, "PK\x03\x04", 4) != 0)
    return npz_invalid("a directory that does not fit the file");
  const size_t begin = at + LOCAL + npz_get(file + at + 26, 2) + npz_get(file + at + 28, 2);
  if (begin > size || stored > size - begin) return npz_invalid("an entry that ends beyond the file");
  memcpy(name, central + CENTRAL, length);
  name[length] = 0;
  if (cli_ends_with(name, ".npy")) name[length - 4] = 0;
  weft_tensor *t = NULL;
  const uint32_t crc = npz_get(central + 16, 4);
  weft_err err = method == STORED ? read_checked(&t, file + begin, stored, crc)
                                  : read_deflated(&t, file + begin, stored, npz_get(central + 24, 4), crc);
  if (err == WEFT_UNIMPLEMENTED && to->other) return to->other(to->arg, name, weft_error_message());
  if (err == WEFT_OK) err = to->fn(to->arg, name, t);
  if (err != WEFT_OK) weft_tensor_destroy(t);
  return err;
}

static weft_err read_directory(const uint8_t *file, size_t size, const npz_user *to) {
  size_t ending = size >= ENDING ? size - ENDING : 0;
  while (ending && memcmp(file + ending, "PK\x05\x06", 4) != 0) ending--;
  if (!ending) return npz_invalid("no .npz: it does not end as a zip file does");
  const uint32_t n = npz_get(file + ending + 10, 2);
  size_t at = npz_get(file + ending + 16, 4);
  for (uint32_t i = 0; i < n; i++) {
    if (at + CENTRAL > ending || memcmp(file + at, "PK\x01\x02", 4) != 0)
      return npz_invalid("a directory that breaks off");
    const size_t entry =
        (size_t)CENTRAL + npz_get(file + at + 28, 2) + npz_get(file + at + 30, 2) + npz_get(file + at + 32, 2);
    if (entry > ending - at) return npz_invalid("a directory that breaks off");
    const weft_err err = read_entry(file, size, file + at, to);
    if (err != WEFT_OK) return err;
    at += entry;
  }
  return WEFT_OK;
}

weft_err npz_each(const char *path, npz_fn *fn, npz_other_fn *other, void *arg) {
  size_t size;
  char *file = cli_read_file(path, &size);
  if (!file) return weft_fail(WEFT_NOT_FOUND, strerror(errno));
  const weft_err err = read_directory((const uint8_t *)file, size, &(npz_user){fn, other, arg});
  free(file);
  return err;
}
