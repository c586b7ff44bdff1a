/* op.c - the public functions that list the op table, for programs and tests. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/text.h"
#include "ops/all.h"
#include <string.h>

static const op *op_at(int i) {
  const op_table *t;
  if (weft__ops_table(&t) != WEFT_OK || i < 0 || i >= t->by_name.used) return NULL;
  return t->by_name.entries[i].value;
}

int weft_op_count(void) {
  const op_table *t;
  return weft__ops_table(&t) == WEFT_OK ? t->by_name.used : 0;
}

const char *weft_op_name(int i) {
  const op *o = op_at(i);
  return o ? o->opdef.name : NULL;
}

const char *weft_op_definition(int i) {
  const op *o = op_at(i);
  return o ? o->def : NULL;
}

const char *weft_op_doc(int i) {
  const op *o = op_at(i);
  return o ? o->doc : NULL;
}

static bool op_is_in(const op *list, const char *name) {
  const size_t n = strlen(name);
  for (const op *o = list; o->def; o++)
    if (strncmp(o->def, name, n) == 0 && o->def[n] == '(') return true;
  return false;
}

const char *weft_op_source(int i) {
  const op *o = op_at(i);
  const op *const *list = weft__ops_all();
  for (int f = 0; o && list[f]; f++)
    if (op_is_in(list[f], o->opdef.name)) return weft__ops_files()[f];
  return NULL;
}

static void op_put_string(text *t, const char *s) {
  if (!s) {
    weft__text_puts(t, "null");
    return;
  }
  weft__text_puts(t, "\"");
  for (; *s; s++) {
    if (*s == '"' || *s == '\\')
      weft__text_printf(t, "\\%c", *s);
    else if ((unsigned char)*s < 0x20)
      weft__text_printf(t, "\\u%04x", (unsigned)*s);
    else
      weft__text_add(t, s, 1);
  }
  weft__text_puts(t, "\"");
}

static void op_put_field(text *t, const char *name, const char *value) {
  weft__text_printf(t, ", \"%s\": ", name);
  op_put_string(t, value);
}

static void put_cases(text *t, const op *o) {
  weft__text_puts(t, ", \"cases\": [");
  for (const op_case *c = o->cases; c && (c->in || c->attr || c->out); c++) {
    weft__text_printf(t, "%s{\"flags\": %d", c == o->cases ? "" : ", ", c->flags);
    op_put_field(t, "in", c->in ? c->in : "");
    op_put_field(t, "attr", c->attr ? c->attr : "");
    op_put_field(t, "out", c->out);
    weft__text_puts(t, "}");
  }
  weft__text_puts(t, "]");
}

const char *weft_op_gradient(int i) {
  const op *o = op_at(i);
  return !o ? NULL : o->grad ? "yes" : o->no_grad ? "none" : "missing";
}

weft_err weft_op_json(char **out, int i) {
  API_NEED(out);

  const op *o = op_at(i);
  if (!o) return weft__fail(WEFT_NOT_FOUND, "there is no op %d", i);
  text t = {0};
  weft__text_puts(&t, "{\"name\": ");
  op_put_string(&t, o->opdef.name);
  op_put_field(&t, "definition", o->def);
  op_put_field(&t, "doc", o->doc);
  op_put_field(&t, "source", weft_op_source(i));
  weft__text_printf(&t, ", \"kernel\": %s, \"stateful\": %s", o->cpu ? "true" : "false",
                    o->opdef.stateful ? "true" : "false");
  op_put_field(&t, "gradient", weft_op_gradient(i));
  op_put_field(&t, "scenario", o->scenario);
  put_cases(&t, o);
  weft__text_puts(&t, "}");
  *out = weft__text_take(&t);
  return *out ? WEFT_OK : WEFT_OOM;
}
