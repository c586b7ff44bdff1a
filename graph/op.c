/* op.c - the table of ops: every row of every file, with its definition parsed once. */
#include "graph/op.h"

#include "base/alloc.h"

static weft_err op_add_row(op_table *t, const op *row, const char *scenario) {
  op *o = weft__arena_copy(&t->arena, row, sizeof *row);
  if (!o) return WEFT_OOM;
  if (!o->scenario) o->scenario = scenario;
  WEFT_TRY(weft__opdef_parse(&o->opdef, row->def, &t->arena));
  if (!o->infer) return weft__fail(WEFT_INTERNAL, "op %s has no shape rule", o->opdef.name);
  if (weft__map_get(&t->by_name, o->opdef.name))
    return weft__fail(WEFT_INTERNAL, "op %s is defined twice", o->opdef.name);
  return weft__map_put(&t->by_name, o->opdef.name, o);
}

weft_err weft__op_table_create(op_table **out, const op *const *lists) {
  op_table *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  for (; *lists; lists++) {
    const op *end = *lists;
    while (end->def) end++;
    for (const op *row = *lists; row->def; row++) {
      weft_err err = op_add_row(t, row, end->scenario);
      if (err) {
        weft__op_table_destroy(t);
        return err;
      }
    }
  }
  *out = t;
  return WEFT_OK;
}

void weft__op_table_destroy(op_table *t) {
  if (!t) return;
  for (int i = 0; i < t->by_name.used; i++) {
    op *o = t->by_name.entries[i].value;
    if (o) weft__opdef_release(&o->opdef);
  }
  weft__map_finish(&t->by_name);
  weft__arena_finish(&t->arena);
  weft__free(t);
}

const op *weft__op_find(const op_table *t, const char *name) { return weft__map_get(&t->by_name, name); }
