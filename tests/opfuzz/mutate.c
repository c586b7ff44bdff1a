/* mutate.c - changes types, shapes, values, attributes and edges of a model at random. */
#include "tests/opfuzz/opfuzz.h"
#include <math.h>
#include <stdio.h>

enum { MOST_ELEMENTS = 3000 };

static const weft_dtype all_types[] = {
    WEFT_FLOAT, WEFT_DOUBLE, WEFT_INT32,  WEFT_INT64,     WEFT_HALF,       WEFT_BFLOAT16, WEFT_INT8,   WEFT_INT16,
    WEFT_UINT8, WEFT_UINT16, WEFT_UINT32, WEFT_UINT64,    WEFT_BOOL,       WEFT_STRING,   WEFT_FLOAT,  WEFT_INT32,
    WEFT_QINT8, WEFT_QUINT8, WEFT_QINT32, WEFT_COMPLEX64, WEFT_COMPLEX128, WEFT_QINT16,   WEFT_QUINT16};
enum { ALL_TYPES = sizeof all_types / sizeof *all_types };

static const int64_t odd_ints[] = {-1,
                                   0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   -2,
                                   7,
                                   64,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_C(1) << 31,
                                   (INT64_C(1) << 32) + 5,
                                   INT64_C(1) << 40,
                                   INT64_C(1) << 62,
                                   INT64_MAX,
                                   INT64_MIN,
                                   -3,
                                   1000000,
                                   65536,
                                   INT32_MAX - 1,
                                   INT64_C(1) << 33,
                                   4,
                                   -5};
enum { ODD_INTS = sizeof odd_ints / sizeof *odd_ints };

static int64_t odd_int(fuzz_random *r) {
  return fuzz_one_in(r, 3) ? fuzz_below(r, 12) - 4 : odd_ints[fuzz_below(r, ODD_INTS)];
}

static double odd_float(fuzz_random *r) {
  static const double list[] = {NAN,   INFINITY, -INFINITY, 0,     -0.0, 1,  -1,  0.5,          1e30,
                                -1e30, 1e-40,    3e38,      1e300, 2,    -2, 100, 2147483648.0, 1e19};
  return list[fuzz_below(r, (int)(sizeof list / sizeof *list))];
}

static void odd_string(str *s, fuzz_random *r) {
  static const char *const list[] = {"",
                                     "a",
                                     "abc",
                                     "text.txt",
                                     "no/such",
                                     "-1",
                                     "1e999",
                                     "%s%n",
                                     "\xff\xfe",
                                     "a,b,c",
                                     "(((",
                                     "[a-",
                                     "*",
                                     "{}",
                                     "0 0",
                                     "a\tb",
                                     "\x89PNG\r\n\x1a\n",
                                     "\xff\xd8\xff\xe0",
                                     "GIF89a\xff\xff\xff\xff",
                                     "BM",
                                     "3 4 0,9:-1,2",
                                     "4 5 2,2:0,99999999999",
                                     "99999999999999999999"};
  const char *text = list[fuzz_below(r, (int)(sizeof list / sizeof *list))];
  char bytes[200];
  size_t n = strlen(text);
  memcpy(bytes, text, n);
  if (fuzz_one_in(r, 6))
    for (n = (size_t)fuzz_below(r, 200), text = bytes; text < bytes + n; text++)
      bytes[text - bytes] = (char)fuzz_next(r);
  (void)!weft__str_set(s, bytes, n);
}

static void set_float(weft_tensor *t, int64_t i, double v) {
  switch (t->dtype) {
  case WEFT_HALF: TENSOR_DATA(t, uint16_t)[i] = weft__half_from_float((float)v); break;
  case WEFT_BFLOAT16: TENSOR_DATA(t, uint16_t)[i] = weft__bfloat16_from_float((float)v); break;
  case WEFT_FLOAT: TENSOR_DATA(t, float)[i] = (float)v; break;
  case WEFT_DOUBLE: TENSOR_DATA(t, double)[i] = v; break;
  case WEFT_COMPLEX64: TENSOR_DATA(t, float)[2 * i] = TENSOR_DATA(t, float)[2 * i + 1] = (float)v; break;
  case WEFT_COMPLEX128: TENSOR_DATA(t, double)[2 * i] = TENSOR_DATA(t, double)[2 * i + 1] = v; break;
  default: break;
  }
}

static bool is_float(weft_dtype t) {
  return t == WEFT_HALF || t == WEFT_BFLOAT16 || t == WEFT_FLOAT || t == WEFT_DOUBLE || t == WEFT_COMPLEX64 ||
         t == WEFT_COMPLEX128;
}

static void set_element(weft_tensor *t, int64_t i, fuzz_random *r, bool odd) {
  if (t->dtype == WEFT_STRING)
    odd_string(&TENSOR_DATA(t, str)[i], r);
  else if (is_float(t->dtype))
    set_float(t, i, odd ? odd_float(r) : (double)fuzz_below(r, 2000) / 500 - 2);
  else {
    int64_t v = odd ? odd_int(r) : fuzz_below(r, 4);
    if (t->dtype == WEFT_BOOL) v &= 1;
    memcpy((char *)t->data + (size_t)i * weft__dtype_size(t->dtype), &v, weft__dtype_size(t->dtype));
  }
}

static void fill(weft_tensor *t, fuzz_random *r, bool odd) {
  for (int64_t i = 0, n = weft__tensor_count(t); i < n; i++) set_element(t, i, r, odd);
}

static bool is_small(const shape *s) {
  int64_t n = weft__shape_count(s);
  return n >= 0 && n <= MOST_ELEMENTS;
}

static bool plain(weft_dtype t) { return t != WEFT_RESOURCE && t != WEFT_VARIANT && weft__dtype_size(t) > 0; }

/* The value of `in` in another type and shape: what there was as far as it goes, then random. */
static void remake(model *m, fuzz_in *in, weft_dtype type, const shape *s, fuzz_random *r) {
  if (!plain(type) || !is_small(s)) return;
  weft_tensor *old = in->value, *t = model_tensor(m, type, s);
  if (!t) return;
  fill(t, r, false);
  int64_t n = weft__tensor_count(t), had = weft__tensor_count(old);
  for (int64_t i = 0; i < n && i < had; i++) {
    if (type == WEFT_STRING || old->dtype == WEFT_STRING) {
      if (type == old->dtype)
        (void)!weft__str_set(&TENSOR_DATA(t, str)[i], TENSOR_DATA(old, str)[i].data, TENSOR_DATA(old, str)[i].size);
    } else if (type == old->dtype)
      memcpy((char *)t->data + (size_t)i * weft__dtype_size(type),
             (char *)old->data + (size_t)i * weft__dtype_size(type), weft__dtype_size(type));
    else if (is_float(type) && !is_float(old->dtype) && old->dtype < WEFT_QINT8)
      set_float(t, i, weft__tensor_double(old, i));
  }
  in->value = t;
}

static bool has_value(const fuzz_in *in) { return in->kind == IN_VALUE || in->kind == IN_VARIABLE; }

static fuzz_in *any_value(fuzz_node *n, fuzz_random *r) {
  for (int tries = 0; tries < 8 && n->n_in; tries++) {
    fuzz_in *in = &n->in[fuzz_below(r, n->n_in)];
    if (has_value(in)) return in;
  }
  return NULL;
}

static shape random_shape(fuzz_random *r) {
  shape s = {.rank = fuzz_below(r, 6)};
  const int64_t dims[] = {0, 1, 1, 2, 3, 2, 4, 5, 7, 16};
  for (int i = 0; i < s.rank; i++) s.dim[i] = dims[fuzz_below(r, 10)];
  if (s.rank > 1 && fuzz_one_in(r, 20)) { /* nothing in it, yet huge */
    const int64_t huge[] = {INT64_C(1) << 31, (INT64_C(1) << 32) + 5, INT64_C(1) << 40, INT64_C(1) << 52};
    const int at = fuzz_below(r, 2);
    s.dim[at] = huge[fuzz_below(r, 4)];
    s.dim[1 - at] = 0;
  }
  return s;
}

/* ---- values ---- */

static void change_type(model *m, fuzz_node *n, fuzz_random *r) {
  fuzz_in *in = any_value(n, r);
  if (in) remake(m, in, all_types[fuzz_below(r, ALL_TYPES)], &in->value->shape, r);
}

void model_change_types(model *m, fuzz_random *r, int node) {
  fuzz_node *n = &m->node[node];
  const fuzz_in *one = any_value(n, r);
  if (!one) return;
  const weft_dtype from = one->value->dtype, to = all_types[fuzz_below(r, ALL_TYPES)];
  for (int i = 0; i < n->n_in; i++)
    if (has_value(&n->in[i]) && n->in[i].value->dtype == from) remake(m, &n->in[i], to, &n->in[i].value->shape, r);
  for (int i = 0; i < n->n_attr; i++)
    if (n->attr[i].kind == ATTR_TYPE && !n->attr[i].is_list && n->attr[i].type == from) n->attr[i].type = to;
}

static void change_types(model *m, fuzz_node *n, fuzz_random *r) { model_change_types(m, r, (int)(n - m->node)); }

static void change_shape(model *m, fuzz_node *n, fuzz_random *r) {
  fuzz_in *in = any_value(n, r);
  shape s = random_shape(r);
  if (in) remake(m, in, in->value->dtype, &s, r);
}

static void change_dim(model *m, fuzz_node *n, fuzz_random *r) {
  fuzz_in *in = any_value(n, r);
  if (!in) return;
  shape s = in->value->shape;
  if (s.rank > 0 && !fuzz_one_in(r, 4))
    s.dim[fuzz_below(r, s.rank)] = (int64_t[]){0, 1, 2, 3, 8, 17}[fuzz_below(r, 6)];
  else if (s.rank > 0 && fuzz_one_in(r, 2))
    s.rank--;
  else if (s.rank < 6)
    s.dim[s.rank++] = 1 + fuzz_below(r, 2);
  remake(m, in, in->value->dtype, &s, r);
}

/* All inputs of one shape get another: valid for many ops. */
static void change_shapes(model *m, fuzz_node *n, fuzz_random *r) {
  const fuzz_in *one = any_value(n, r);
  if (!one) return;
  const shape from = one->value->shape, to = random_shape(r);
  for (int i = 0; i < n->n_in; i++)
    if (has_value(&n->in[i]) && weft__shape_equal(&n->in[i].value->shape, &from))
      remake(m, &n->in[i], n->in[i].value->dtype, &to, r);
}

static void change_values(model *m, fuzz_node *n, fuzz_random *r) {
  fuzz_in *in = any_value(n, r);
  if (!in) return;
  remake(m, in, in->value->dtype, &in->value->shape, r); /* a copy */
  int64_t count = weft__tensor_count(in->value);
  if (count > MOST_ELEMENTS || count <= 0) return;
  if (fuzz_one_in(r, 3))
    fill(in->value, r, fuzz_one_in(r, 2));
  else
    for (int k = 1 + fuzz_below(r, 3); k > 0; k--) set_element(in->value, fuzz_below(r, (int)count), r, true);
}

static void swell_constant(model *m, fuzz_node *n, fuzz_random *r) {
  fuzz_in *in = any_value(n, r);
  (void)m;
  if (!in || in->kind != IN_VALUE) return;
  in->fed = false;
  in->swollen = true;
  in->swell = fuzz_one_in(r, 2) ? fuzz_below(r, 100000) : odd_int(r);
}

/* ---- attributes ---- */

static shape odd_shape(fuzz_random *r) {
  shape s = random_shape(r);
  if (fuzz_one_in(r, 4)) return SHAPE_UNKNOWN;
  for (int i = 0; i < s.rank; i++) {
    if (fuzz_one_in(r, 4)) s.dim[i] = -1;
    if (fuzz_one_in(r, 8)) s.dim[i] = odd_int(r);
  }
  return s;
}

static attr_str odd_word(fuzz_random *r) {
  static const char *const words[] = {
      "",   "SAME",  "VALID",   "EXPLICIT",  "NHWC",  "NCHW",      "NHWC_VECT", "SUM",       "MEAN",
      "x",  "LEFT",  "REFLECT", "SYMMETRIC", "UTF-8", "UTF-16-BE", "default",   "ij,jk->ik", "...ij->...",
      "->", "a->aa", "GZIP",    "ZLIB",      ",",     "max",       "body",      "HWNC",      "prod"};
  const char *w = words[fuzz_below(r, (int)(sizeof words / sizeof *words))];
  return (attr_str){w, strlen(w)};
}

static void *copied(model *m, const void *list, int n, size_t size) {
  char *copy = weft__arena_alloc(&m->arena, (size_t)(n + 8) * size);
  if (copy && n) memcpy(copy, list, (size_t)n * size);
  return copy;
}

/* One element of a list changes, or its length. */
static void change_list(model *m, attr *a, fuzz_random *r) {
  static const size_t sizes[] = {
      [ATTR_STRING] = sizeof(attr_str), [ATTR_INT] = sizeof(int64_t),     [ATTR_FLOAT] = sizeof(float),
      [ATTR_BOOL] = sizeof(bool),       [ATTR_TYPE] = sizeof(weft_dtype), [ATTR_SHAPE] = sizeof(shape)};
  if (a->kind < ATTR_STRING || a->kind > ATTR_SHAPE || a->n > 60) return;
  if (!(a->is = copied(m, a->is, a->n, sizes[a->kind]))) return;
  int how = fuzz_below(r, 8), at = fuzz_below(r, a->n);
  if (how == 0 && a->n > 0) {
    a->n--;
    return;
  }
  if (how == 1 || a->n == 0) at = a->n++;
  if (how == 2) {
    a->n = 0;
    return;
  }
  switch (a->kind) {
  case ATTR_STRING: a->ss[at] = odd_word(r); break;
  case ATTR_INT: a->is[at] = odd_int(r); break;
  case ATTR_FLOAT: a->fs[at] = (float)odd_float(r); break;
  case ATTR_BOOL: a->bs[at] = fuzz_one_in(r, 2); break;
  case ATTR_TYPE: a->types[at] = all_types[fuzz_below(r, ALL_TYPES)]; break;
  default: a->shapes[at] = odd_shape(r);
  }
}

static void change_scalar(model *m, attr *a, const attr_def *d, fuzz_random *r) {
  shape *s;
  switch (a->kind) {
  case ATTR_STRING:
    if (d && d->allowed.kind == ATTR_STRING && d->allowed.n && !fuzz_one_in(r, 4))
      a->s = d->allowed.ss[fuzz_below(r, d->allowed.n)];
    else
      a->s = odd_word(r);
    break;
  case ATTR_INT: a->i = odd_int(r); break;
  case ATTR_FLOAT: a->f = (float)odd_float(r); break;
  case ATTR_BOOL: a->b = !a->b; break;
  case ATTR_TYPE:
    if (d && d->allowed.kind == ATTR_TYPE && d->allowed.n && !fuzz_one_in(r, 4))
      a->type = d->allowed.types[fuzz_below(r, d->allowed.n)];
    else
      a->type = all_types[fuzz_below(r, ALL_TYPES)];
    break;
  case ATTR_SHAPE:
    if (!(s = weft__arena_alloc(&m->arena, sizeof *s))) return;
    *s = odd_shape(r);
    a->shape = s;
    break;
  default: break;
  }
}

/* An attribute that is given, or one of the definition that is not. */
static attr *any_attr(fuzz_node *n, const attr_def *d) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, d->name) == 0) return &n->attr[i];
  if (n->n_attr == MAX_ATTRS) return NULL;
  attr *a = &n->attr[n->n_attr];
  static shape unknown = {.rank = -1};
  *a = (attr){.name = d->name, .kind = d->kind, .is_list = d->is_list};
  if (d->has_default) *a = d->default_value, a->name = d->name, a->kind = d->kind;
  if (d->kind == ATTR_SHAPE && !a->is_list && !d->has_default) a->shape = &unknown;
  if (d->kind == ATTR_STRING && !a->is_list && !d->has_default) a->s = (attr_str){"", 0};
  if (d->kind == ATTR_TYPE && !a->is_list && !d->has_default) a->type = WEFT_FLOAT;
  if (d->kind == ATTR_TENSOR || d->kind == ATTR_FUNC) return NULL;
  n->n_attr++;
  return a;
}

static void change_attr(model *m, fuzz_node *n, fuzz_random *r) {
  if (n->op->opdef.n_attr == 0) return;
  const attr_def *d = &n->op->opdef.attr[fuzz_below(r, n->op->opdef.n_attr)];
  attr *a = any_attr(n, d);
  if (!a || a->kind == ATTR_TENSOR || a->kind == ATTR_OPAQUE) return;
  if (a->kind == ATTR_FUNC) { /* another function, or none of that name */
    int k = 0;
    while (fuzz_functions[k]) k++;
    const char *text = fuzz_functions[fuzz_below(r, k)] + 3;
    if (!a->is_list) a->s = (attr_str){weft__arena_strndup(&m->arena, text, strcspn(text, " ")), strcspn(text, " ")};
  } else if (a->is_list)
    change_list(m, a, r);
  else
    change_scalar(m, a, d, r);
}

static void drop_attr(model *m, fuzz_node *n, fuzz_random *r) {
  (void)m;
  if (n->n_attr == 0) return;
  int i = fuzz_below(r, n->n_attr);
  weft__attr_release(&n->attr[i]);
  n->attr[i] = n->attr[--n->n_attr];
}

/* ---- edges ---- */

static void change_edge(model *m, fuzz_node *n, fuzz_random *r) {
  int self = (int)(n - m->node), how = fuzz_below(r, 5);
  if (n->n_in == 0) return;
  fuzz_in *in = &n->in[fuzz_below(r, n->n_in)];
  if (how == 0)
    n->n_in--;
  else if (how == 1 && n->n_in < MAX_IN)
    n->in[n->n_in++] = *in;
  else if (how == 2) {
    fuzz_in kept = *in, *other = &n->in[fuzz_below(r, n->n_in)];
    *in = *other;
    *other = kept;
  } else if (self > 0)
    *in = (fuzz_in){.kind = IN_EDGE, .node = fuzz_below(r, self), .slot = fuzz_below(r, 2)};
}

typedef void change(model *m, fuzz_node *n, fuzz_random *r);
static change *const changes[] = {change_type,   change_types,   change_types,  change_shape,  change_dim,  change_dim,
                                  change_shapes, change_shapes,  change_values, change_values, change_attr, change_attr,
                                  change_values, swell_constant, drop_attr,     change_edge};

static int any_node(const model *m, fuzz_random *r, const op *wanted) {
  if (wanted && !fuzz_one_in(r, 4))
    for (int i = m->n_node - 1; i >= 0; i--)
      if (m->node[i].op == wanted) return i;
  return fuzz_below(r, m->n_node);
}

void model_mutate(model *m, fuzz_random *r, const op *wanted) {
  const int kinds = (int)(sizeof changes / sizeof *changes);
  const int counts[] = {0, 1, 1, 1, 2, 2, 3, 5};
  for (int k = counts[fuzz_below(r, 8)]; k > 0; k--)
    changes[fuzz_below(r, kinds)](m, &m->node[any_node(m, r, wanted)], r);
  int fed = fuzz_below(r, 3); /* all, none, or some */
  for (int i = 0; i < m->n_node; i++)
    for (int k = 0; k < m->node[i].n_in; k++) {
      fuzz_in *in = &m->node[i].in[k];
      in->fed = !in->swollen && (fed == 0 || (fed == 1 && fuzz_one_in(r, 2)));
      in->says = fuzz_one_in(r, 2) ? SHAPE_ANY : fuzz_one_in(r, 4) ? SHAPE_LIE : SHAPE_SAME;
    }
}
