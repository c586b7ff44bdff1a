/* checkpoint_reader.c - reads a checkpoint of either version as a list of named tensors. */
#include "train/checkpoint/checkpoint_reader.h"

#include "base/alloc.h"
#include "base/array.h"
#include "train/checkpoint/checkpoint_state.h"
#include <stdlib.h>
#include <string.h>

static weft_err checkpoint_reader_add_item(void *arg, bytes name, const bundle_entry *e) {
  weft_checkpoint *c = arg;
  WEFT_TRY(WEFT_ARRAY_RESERVE(c->item, c->capacity, c->n + 1));
  if (!(c->item[c->n].name = weft__strndup(name.data, name.size))) return WEFT_OOM;
  c->item[c->n++].entry = *e;
  return WEFT_OK;
}

static int checkpoint_reader_by_name(const void *a, const void *b) {
  return strcmp(((const checkpoint_item *)a)->name, ((const checkpoint_item *)b)->name);
}

static weft_err open_slices(weft_checkpoint *c, const char *prefix) {
  WEFT_TRY(weft__slices_open(&c->slices, prefix));
  WEFT_TRY(weft__slices_each(c->slices, checkpoint_reader_add_item, c));
  if (c->n > 1) qsort(c->item, (size_t)c->n, sizeof *c->item, checkpoint_reader_by_name);
  return WEFT_OK;
}

static weft_err open_bundle(weft_checkpoint *c, const char *prefix) {
  WEFT_TRY(weft__bundle_open(&c->bundle, prefix));
  return weft__bundle_each(c->bundle, checkpoint_reader_add_item, c);
}

weft_err weft__checkpoint_open(weft_checkpoint **out, const char *prefix) {
  weft_checkpoint *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  bool old = !weft__bundle_exists(prefix) && weft__checkpoint_exists(prefix);
  weft_err err = old ? open_slices(c, prefix) : open_bundle(c, prefix);
  if (err)
    weft__checkpoint_close(c);
  else
    *out = c;
  return err;
}

void weft__checkpoint_close(weft_checkpoint *c) {
  if (!c) return;
  for (int i = 0; i < c->n; i++) weft__free(c->item[i].name);
  weft__free(c->item);
  weft__bundle_close(c->bundle);
  weft__slices_close(c->slices);
  weft__free(c);
}

weft_err weft__checkpoint_read(weft_checkpoint *c, const char *name, weft_tensor **out) {
  bytes key = {name, strlen(name)};
  bundle_entry e;
  weft_tensor *t = NULL;
  WEFT_TRY(c->slices ? weft__slices_find(c->slices, key, &e) : weft__bundle_find(c->bundle, key, &e));
  WEFT_TRY(weft__tensor_create(&t, e.dtype, &e.shape));
  weft_err err = c->slices ? weft__slices_read(c->slices, key, NULL, t) : weft__bundle_read(c->bundle, key, NULL, t);
  if (err)
    weft_tensor_destroy(t);
  else
    *out = t;
  return err;
}
