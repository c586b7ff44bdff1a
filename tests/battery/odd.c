/* odd.c - feeds inputs with shapes that no case has; each must give an error or a value, and never a crash.
 *
 * A kernel may expect a scalar or a vector, but a client can feed another shape, because shape rules see only what
 * is known while the graph is built.  Every input of every case is replaced in turn by an empty vector, a scalar, a
 * vector of one element, and itself with one more axis; the last round makes all inputs empty.  An op without cases
 * gets ones of the types that it accepts first, if its arguments are plain.
 *
 * Floating-point inputs and attributes are scaled, too, all of a case by one factor: they keep their order and signs,
 * so that they pass checks such as low < high, but the integers that a kernel makes of them do not fit.
 *
 * The values are fed first, so that the shape rule knows nothing and the kernel sees them.  Then they are constants,
 * so that the shape rule and constant folding see them. */
#include "base/alloc.h"
#include "base/text.h"
#include "io/confine.h"
#include "tests/battery/battery.h"
#include <math.h>
#include <string.h>

enum odd_shape { ODD_EMPTY, ODD_SCALAR, ODD_ONE, ODD_DEEPER, ODD_NEGATIVE, ODD_HUGE, ODD_LAST };

static shape odd_shape_of(const weft_tensor *t, int which) {
  shape s = t->shape;
  switch (which) {
  case ODD_EMPTY: return SHAPE1(0);
  case ODD_SCALAR: return SHAPE_SCALAR;
  case ODD_ONE: return SHAPE1(1);
  case ODD_DEEPER:
    if (s.rank == WEFT_MAX_RANK) return s;
    memmove(s.dim + 1, s.dim, sizeof s.dim[0] * (size_t)s.rank);
    s.dim[0] = 1;
    s.rank++;
    return s;
  default: return s;
  }
}

static void odd_scale(weft_tensor *t, double by) {
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) {
    if (t->dtype == WEFT_FLOAT)
      TENSOR_DATA(t, float)[i] = (float)((double)TENSOR_DATA(t, float)[i] * by);
    else if (t->dtype == WEFT_DOUBLE)
      TENSOR_DATA(t, double)[i] *= by;
  }
}

/* t's elements, the last one repeated, under another shape; all bits set for ODD_NEGATIVE: -1, NaN, true. */
static weft_err odd_value(weft_tensor **out, const weft_tensor *t, int which) {
  const shape s = odd_shape_of(t, which);
  const int64_t had = weft__tensor_count(t);
  WEFT_TRY(weft__tensor_create(out, t->dtype, &s));
  const size_t size = weft__dtype_size(t->dtype);
  for (int64_t i = 0, n = weft__tensor_count(*out); i < n; i++) {
    const int64_t from = i < had ? i : had - 1;
    if (had == 0 || (t->dtype != WEFT_STRING && which == ODD_NEGATIVE))
      memset((char *)(*out)->data + (size_t)i * size, had && t->dtype != WEFT_BOOL ? 0xff : 0, size);
    else
      WEFT_TRY(weft__elements_copy(t->dtype, (char *)(*out)->data + (size_t)i * size,
                                   (const char *)t->data + (size_t)from * size, 1));
  }
  if (which == ODD_HUGE) odd_scale(*out, 1e30);
  return WEFT_OK;
}

/* Scales the floating-point attributes of a node that was built; the factor itself stands for 0.  Returns true if there
 * is one. */
static bool odd_scale_attrs(weft_node *n, double by) {
  bool any = false;
  for (int i = 0; i < n->n_attr; i++) {
    attr *a = &n->attr[i];
    float *list = a->is_list ? (float *)(uintptr_t)a->fs : &a->f;
    if (a->kind != ATTR_FLOAT) continue;
    for (int j = 0; j < (a->is_list ? a->n : 1); j++, any = true)
      list[j] = (float)((list[j] != 0 ? (double)list[j] : 1) * by);
  }
  return any;
}

/* Builds and runs the case as it is now; what comes of it does not matter, except that nothing breaks.  The attributes
 * are scaled unless the factor is 1; returns true if there are any. */
static bool odd_run(const op_table *ops, const test_case *c, bool constant, double attrs_by) {
  case_graph cg;
  weft_session *s = NULL;
  weft_out fetch[MAX_INPUTS];
  weft_tensor *got[MAX_INPUTS] = {NULL};
  weft_err err = case_build_as(&cg, ops, c, constant ? CASE_CONSTANTS : CASE_UNKNOWN);
  const bool scaled = attrs_by != 1 && !err && odd_scale_attrs(cg.node, attrs_by);
  if (!err) s = battery_session(&cg, c, 1);
  if (s) err = battery_init(&cg, s, c);
  const int n = err || !s ? 0 : battery_outputs(&cg, fetch);
  const bool may_wait = !err && s && cg.node->op->flags & OP_ASYNC; /* for something that no other node does */
  if (!err && s) err = battery_run_for(&cg, s, c, n, fetch, got, may_wait ? 20 : 2000);
  for (int i = 0; i < n; i++) weft_tensor_destroy(got[i]);
  weft__session_destroy(s);
  weft__graph_destroy(cg.g);
  return scaled;
}

/* Replaces the inputs from `first` to before `last`. */
static void odd_ask(const op_table *ops, test_case *c, int first, int last, int which) {
  weft_tensor *kept[MAX_INPUTS];
  for (int i = first; i < last; i++) {
    kept[i] = c->in[i].value;
    if (odd_value(&c->in[i].value, kept[i], which)) battery_fail(c, "input %d: %s", i, weft__error_message());
  }
  for (int constant = 0; constant < 2; constant++) odd_run(ops, c, constant, 1);
  for (int i = first; i < last; i++) {
    weft_tensor_destroy(c->in[i].value);
    c->in[i].value = kept[i];
  }
}

void ask_odd(test_case *c, const op_table *ops) {
  static const double factors[] = {1e30, 1e36, -1e30, 1e-30, INFINITY, NAN};
  odd_run(ops, c, true, 1);
  for (size_t i = 0; i < sizeof factors / sizeof *factors && odd_run(ops, c, false, factors[i]); i++) continue;
  for (int which = 0; which < ODD_LAST; which++) {
    for (int i = 0; i < c->n_in; i++) odd_ask(ops, c, i, i + 1, which);
    if (c->n_in > 1) odd_ask(ops, c, 0, c->n_in, which);
  }
}

/* ---- ops without cases ---- */

/* The type that an argument takes first; WEFT_INVALID for what no constant can be. */
static weft_dtype plain_type(const op *o, const arg_def *d) {
  const char *by = d->type_attr ? d->type_attr : d->list_attr;
  const attr_def *a = by ? weft__opdef_attr(&o->opdef, by) : NULL;
  weft_dtype t = a ? WEFT_FLOAT : d->type;
  if (a && a->allowed.kind == ATTR_TYPE && a->allowed.n > 0) t = a->allowed.types[0];
  return d->is_ref || t == WEFT_RESOURCE || t == WEFT_VARIANT ? WEFT_INVALID : t;
}

/* The attributes that no input decides and that have no default. */
static void add_plain_attrs(text *t, const opdef *d) {
  for (int i = 0; i < d->n_attr; i++) {
    const attr_def *a = &d->attr[i];
    const char *given = a->kind == ATTR_STRING  ? "'x'"
                        : a->kind == ATTR_INT   ? "1"
                        : a->kind == ATTR_TYPE  ? "float"
                        : a->kind == ATTR_SHAPE ? "[]"
                                                : NULL;
    bool of_input = false;
    for (int j = 0; j < d->n_in; j++) {
      const char *const by[] = {d->in[j].type_attr, d->in[j].list_attr, d->in[j].number_attr};
      for (int k = 0; k < 3; k++) of_input |= by[k] && strcmp(by[k], a->name) == 0;
    }
    if (a->has_default || of_input || !given) continue;
    weft__text_printf(t, "%s=%s%s%s ", a->name, a->is_list ? "[" : "", given, a->is_list ? "]" : "");
  }
}

void ask_odd_without_cases(const op *o, const op_table *ops) {
  test_case c = {.op = o};
  op_case none = {.flags = 0};
  text attrs = {0};
  bool plain = o->cpu != NULL && o->opdef.n_in > 0 && o->opdef.n_in <= MAX_INPUTS;
  for (int i = 0; plain && i < o->opdef.n_in; i++) {
    const weft_dtype type = plain_type(o, &o->opdef.in[i]);
    plain = type != WEFT_INVALID && weft__tensor_create(&c.in[i].value, type, &SHAPE_SCALAR) == WEFT_OK;
    if (!plain) break;
    c.n_in++;
    if (type != WEFT_STRING) /* those are empty */
      memset(c.in[i].value->data, type == WEFT_BOOL, weft__tensor_bytes(c.in[i].value));
  }
  add_plain_attrs(&attrs, &o->opdef);
  none.attr = weft__text_get(&attrs);
  c.from = &none;
  if (plain && weft__confine("") == WEFT_OK) { /* an op that saves shall write no file */
    ask_odd(&c, ops);
    weft__confine(NULL);
  }
  case_finish(&c);
  weft__text_finish(&attrs);
}
