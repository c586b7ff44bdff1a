/* held_tensors.c - creates variants that hold tensors. */
#include "state/held_tensors.h"

#include "base/alloc.h"
#include <string.h>

static void held_tensors_destroy(object *o) {
  held_tensors *v = (held_tensors *)o;
  for (int i = 0; i < v->n; i++) weft__tensor_clear(&v->t[i]);
  weft__free(v);
}

weft_err weft__held_tensors_create(held_tensors **out, const char *type, int n) {
  held_tensors *v = weft__alloc_zero(1, sizeof *v + sizeof v->t[0] * (size_t)n);
  if (!v) return WEFT_OOM;
  atomic_init(&v->base.base.refs, 1);
  v->base.base.destroy = held_tensors_destroy;
  v->base.type = type;
  v->n = n;
  *out = v;
  return WEFT_OK;
}

void weft__held_tensors_put(weft_tensor *t, int64_t i, held_tensors *v) { TENSOR_DATA(t, object *)[i] = &v->base.base; }

held_tensors *weft__held_tensors_at(const weft_tensor *t, int64_t i, const char *type) {
  resource *r = t->dtype == WEFT_VARIANT && i < weft__tensor_count(t) ? (resource *)TENSOR_DATA(t, object *)[i] : NULL;
  return r && strcmp(r->type, type) == 0 ? (held_tensors *)r : NULL;
}
