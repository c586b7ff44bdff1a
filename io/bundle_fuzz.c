/* bundle_fuzz.c - bytes read as a checkpoint: every tensor it lists is read or refused.
 *
 * An input that begins with 'r' is an index file as it is.  Any other is a list of keys and values (each with a length
 * in one byte) put into an index whose checksums are right, so that damage gets past them to what the entries say.  The
 * input itself is the data file. */
#include "io/bundle.h"
#include "io/crc32c.h"
#include "io/table.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add32(text *t, uint32_t v) {
  unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24)};
  weft__text_add(t, (const char *)b, 4);
}

static void add_varint(text *t, uint64_t v) {
  unsigned char b[10];
  weft__text_add(t, (const char *)b, weft__varint_put(b, v));
}

static void add_entry(text *t, const void *key, size_t key_size, const void *val, size_t val_size) {
  add_varint(t, 0), add_varint(t, key_size), add_varint(t, val_size);
  weft__text_add(t, key, key_size);
  weft__text_add(t, val, val_size);
}

/* Ends the block that began at `from`: one restart, no compression, the checksum. */
static size_t end_block(text *t, size_t from) {
  add32(t, 0), add32(t, 1);
  size_t size = t->size - from;
  weft__text_add(t, "", 1);
  add32(t, weft__crc32c_mask(weft__crc32c(0, t->data + from, size + 1)));
  return size;
}

static void make_index(text *t, const uint8_t *p, const uint8_t *end) {
  static const unsigned char magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
  text handle = {0};
  while (end - p >= 2) {
    size_t key = p[0], val = p[1];
    p += 2;
    if (key + val > (size_t)(end - p)) break;
    add_entry(t, p, key, p + key, val);
    p += key + val;
  }
  size_t size = end_block(t, 0), index = t->size;
  add_varint(&handle, 0), add_varint(&handle, size);
  add_entry(t, "\xff\xff", 2, handle.data, handle.size);
  size = end_block(t, index);
  size_t footer = t->size;
  add_varint(t, 0), add_varint(t, 0), add_varint(t, index), add_varint(t, size);
  while (t->size < footer + 40) weft__text_add(t, "", 1);
  weft__text_add(t, (const char *)magic, 8);
  weft__text_finish(&handle);
}

enum { MOST = 64 };

typedef struct listed { /* names are borrowed for the call, and reading would move the walk */
  text names;
  size_t size[MOST];
  int n;
} listed;

static weft_err list_one(void *arg, bytes name, const bundle_entry *e) {
  listed *l = arg;
  (void)e;
  if (l->n == MOST) return WEFT_OK;
  weft__text_add(&l->names, name.data, name.size);
  l->size[l->n++] = name.size;
  return WEFT_OK;
}

static void read_one(bundle_reader *r, bytes name) {
  bundle_entry e;
  weft_tensor *t = NULL;
  if (weft__bundle_find(r, name, &e) != WEFT_OK) return;
  if (weft__shape_count(&e.shape) > 1 << 20) return; /* slices may say so, and the reader makes no room by itself */
  if (weft__tensor_create(&t, e.dtype, &e.shape) == WEFT_OK) weft__bundle_read(r, name, NULL, t);
  weft_tensor_destroy(t);
}

static void read_all(bundle_reader *r) {
  listed l = {0};
  weft__bundle_each(r, list_one, &l);
  const char *name = l.names.data;
  for (int i = 0; i < l.n; name += l.size[i++]) read_one(r, (bytes){name, l.size[i]});
  weft__text_finish(&l.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  text index = {0}, prefix = {0};
  bundle_reader *r = NULL;
  if (size && data[0] == 'r')
    weft__text_add(&index, (const char *)data + 1, size - 1);
  else
    make_index(&index, data, data + size);
  const char *path = fuzz_write("b.index", index.data, index.size);
  fuzz_write("b.data-00000-of-00001", data, size);
  weft__text_add(&prefix, path, strlen(path) - strlen(".index"));
  if (weft__bundle_open(&r, weft__text_get(&prefix)) == WEFT_OK) read_all(r);
  weft__bundle_close(r);
  weft__text_finish(&index);
  weft__text_finish(&prefix);
  return 0;
}
