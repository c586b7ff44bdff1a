/* checkpoint_reader.c - a bundle as a list of named tensors. */
#include "train/checkpoint/checkpoint_reader.h"

#include "base/alloc.h"
#include <string.h>

static weft_err add_item(void *arg, bytes name, const bundle_entry *e) {
  weft_checkpoint *c = arg;
  checkpoint_item *grown = weft__realloc(c->item, sizeof *grown * (size_t)(c->n + 1));
  if (!grown) return WEFT_OOM;
  c->item = grown;
  if (!(grown[c->n].name = weft__strndup(name.data, name.size))) return WEFT_OOM;
  grown[c->n++].entry = *e;
  return WEFT_OK;
}

weft_err weft__checkpoint_open(weft_checkpoint **out, const char *prefix) {
  weft_checkpoint *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  weft_err err = weft__bundle_open(&c->bundle, prefix);
  if (!err) err = weft__bundle_each(c->bundle, add_item, c);
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
  weft__free(c);
}

weft_err weft__checkpoint_read(weft_checkpoint *c, const char *name, weft_tensor **out) {
  bytes key = {name, strlen(name)};
  bundle_entry e;
  weft_tensor *t = NULL;
  WEFT_TRY(weft__bundle_find(c->bundle, key, &e));
  WEFT_TRY(weft__tensor_create(&t, e.dtype, &e.shape));
  weft_err err = weft__bundle_read(c->bundle, key, NULL, t);
  if (err)
    weft_tensor_destroy(t);
  else
    *out = t;
  return err;
}
