/* bundle_fuzz.c - parses the bytes as a checkpoint: every listed tensor is read or fails.
 *
 * An input that begins with 'r' is a complete index file.  Any other input is a list of keys and values (each with a
 * length byte), from which an index with correct checksums is built, so that damaged entries get past the checksums.
 * The input itself is the data file. */
#include "io/bundle.h"
#include "tests/fuzz_file.h"
#include "tests/fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 };

typedef struct listed { /* copies of the names: they are borrowed for the call, and reading would move the iteration */
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
  /* slices may claim a huge shape, and the reader does not allocate the tensor */
  if (weft__shape_count(&e.shape) > 1 << 20) return;
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
    fuzz_table(&index, data, data + size);
  const char *path = fuzz_write("b.index", index.data, index.size);
  fuzz_write("b.data-00000-of-00001", data, size);
  weft__text_add(&prefix, path, strlen(path) - strlen(".index"));
  if (weft__bundle_open(&r, weft__text_get(&prefix)) == WEFT_OK) read_all(r);
  weft__bundle_close(r);
  weft__text_finish(&index);
  weft__text_finish(&prefix);
  return 0;
}
