/* parse_sequence.c - ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample: features of
 * SequenceExamples as tensors.
 *
 * A SequenceExample has a context, whose features are those of an Example, and feature lists, with one feature per
 * step.  One scan finds the wanted features in each message.  Then the values of each feature are counted, its
 * outputs are allocated, and its values are decoded directly into them. */
#include "base/alloc.h"
#include "base/cast.h"
#include "codec/example.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/ragged/ragged.h"
#include "kernels/array/index.h"
#include <string.h>

typedef enum form { FORM_SPARSE, FORM_DENSE, FORM_RAGGED } form;

typedef struct wanted {
  bytes key;
  form form;
  bool in_lists; /* a feature list, not a feature of the context */
  weft_dtype type;
  shape shape; /* dense: shape in one example or step */
  int64_t stride;
  const weft_tensor *fallback; /* dense in the context: the default; without elements the feature is required */
  bool may_miss;               /* dense feature lists: if it is missing, it is empty */
  int slot;                    /* its first output; each further one is `gap` later */
  int gap, lengths;            /* lengths: the output for the numbers of steps, or -1 */
} wanted;

typedef struct sequences {
  kernel *k;
  const str *example;
  int64_t n;
  bool batch;
  const str *name; /* the name of each example, or NULL */
  wanted *want;
  int count;
  bytes *cell; /* (n, count): the Feature or FeatureList; at is NULL if it is missing */
  key_table keys[2];
} sequences;

static weft_err fail_at(const sequences *p, int64_t i, const wanted *w, const char *what) {
  const str *name = p->name ? &p->name[i] : NULL;
  return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "Name: %.*s, %s: %.*s (data type: %s): %s",
                           name ? weft__int_sat(name->size) : 9, name && name->size ? name->data : "<unknown>",
                           w->in_lists ? "Feature list" : "Context feature", weft__int_sat(w->key.end - w->key.at),
                           (const char *)w->key.at, weft__dtype_short(w->type), what);
}

/* ---- scanning ---- */

typedef struct scan_row {
  const sequences *p;
  bytes *cell;
  int which;
} scan_row;

static void note_entry(void *arg, bytes key, bytes found) {
  scan_row *r = arg;
  const int at = weft__keys_find(&r->p->keys[r->which], key);
  if (at >= 0) r->cell[at] = found;
}

static weft_err scan_all(const sequences *p) {
  for (int64_t i = 0; i < p->n; i++) {
    scan_row r = {p, p->cell + i * p->count, 0};
    const bytes message = weft__bytes(&p->example[i]);
    bool fine = weft__example_scan(message, 1, note_entry, &r);
    r.which = 1;
    fine = fine && weft__example_scan(message, 2, note_entry, &r);
    if (!fine)
      return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "Could not parse example %lld as a SequenceExample",
                               (long long)i);
  }
  return WEFT_OK;
}

/* Reads the next feature of a list.  Returns false at its end, or if it is malformed (*bad is then set). */
static bool next_step(bytes *list, feature *f, bool *bad) {
  uint32_t field;
  int wire;
  uint64_t number;
  bytes held;
  while (list->at < list->end) {
    if (!weft__wire_next(list, &field, &wire, &held, &number)) return !(*bad = true);
    if (field != 1) continue;
    if (wire == WIRE_BYTES && weft__feature_read(held, f)) return true;
    return !(*bad = true);
  }
  return false;
}

/* ---- one wanted feature of one example: its steps; a context feature has one step ---- */

typedef struct steps {
  bytes list;
  feature only;
  bool is_list, first, bad;
} steps;

static bool start_steps(const sequences *p, int64_t i, int c, steps *s) {
  const bytes found = p->cell[i * p->count + c];
  *s = (steps){.list = found, .is_list = p->want[c].in_lists, .first = true};
  if (!found.at) return false;
  if (!s->is_list && !weft__feature_read(found, &s->only)) s->bad = true;
  return true;
}

static bool next_of(steps *s, feature *f) {
  if (s->is_list) return next_step(&s->list, f, &s->bad);
  if (!s->first) return false;
  s->first = false;
  *f = s->only;
  return true;
}

/* Checks the type of a step and returns the number of its values. */
static weft_err count_step(const sequences *p, int64_t i, const wanted *w, const feature *f, int64_t *n) {
  *n = 0;
  if (f->type == WEFT_INVALID)
    return w->form == FORM_DENSE && w->in_lists ? fail_at(p, i, w, "a step has no values") : WEFT_OK;
  if (f->type != w->type) return fail_at(p, i, w, "Data types don't match.");
  *n = weft__feature_count(f);
  if (*n < 0) return fail_at(p, i, w, "its values cannot be read");
  if (w->form == FORM_DENSE && *n != w->stride) return fail_at(p, i, w, "Number of values != expected.");
  return WEFT_OK;
}

typedef struct totals {
  int64_t values, steps, most_steps, most_values; /* most_values: maximum in one step */
} totals;

static weft_err count_example(const sequences *p, int64_t i, int c, totals *t, int64_t *n_steps) {
  const wanted *w = &p->want[c];
  steps s;
  feature f;
  int64_t n = 0;
  *n_steps = 0;
  if (!start_steps(p, i, c, &s)) {
    if (w->form != FORM_DENSE) return WEFT_OK;
    if (w->in_lists ? w->may_miss : weft__tensor_count(w->fallback) > 0) return WEFT_OK;
    return fail_at(p, i, w,
                   w->in_lists ? "is required but could not be found.  Did you mean to include it in "
                                 "feature_list_dense_missing_assumed_empty?"
                               : "is required but could not be found.");
  }
  while (next_of(&s, &f)) {
    if (!w->in_lists && f.type == WEFT_INVALID && w->form == FORM_DENSE) {
      if (weft__tensor_count(w->fallback) > 0) return WEFT_OK;
      return fail_at(p, i, w, "is required but could not be found.");
    }
    WEFT_TRY(count_step(p, i, w, &f, &n));
    (*n_steps)++;
    t->values += n;
    if (n > t->most_values) t->most_values = n;
  }
  if (s.bad) return fail_at(p, i, w, "it cannot be parsed");
  t->steps += *n_steps;
  if (*n_steps > t->most_steps) t->most_steps = *n_steps;
  return WEFT_OK;
}

static weft_err count_all(const sequences *p, int c, totals *t) {
  int64_t unused;
  for (int64_t i = 0; i < p->n; i++) WEFT_TRY(count_example(p, i, c, t, &unused));
  return WEFT_OK;
}

/* ---- outputs ---- */

static void *value_at(const wanted *w, weft_tensor *t, int64_t i) {
  return (char *)t->data + (size_t)i * weft__dtype_size(w->type);
}

static weft_err put_dense(const sequences *p, int c, const totals *t) {
  const wanted *w = &p->want[c];
  const int outer = p->batch + w->in_lists;
  shape s = w->shape;
  if (s.rank + outer > WEFT_MAX_RANK) return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "too many dimensions");
  memmove(s.dim + outer, s.dim, (size_t)s.rank * sizeof *s.dim);
  s.rank += outer;
  if (p->batch) s.dim[0] = p->n;
  if (w->in_lists) s.dim[outer - 1] = t->most_steps;
  weft_tensor *out = weft__out(p->k, w->slot, &s), *lengths = NULL;
  if (!out) return weft__out_refused(&s);
  if (w->lengths >= 0 && !(lengths = weft__out(p->k, w->lengths, p->batch ? &SHAPE1(p->n) : &SHAPE_SCALAR)))
    return WEFT_OOM;
  if (out->dtype != WEFT_STRING) memset(out->data, 0, weft__tensor_bytes(out));
  const int64_t room = w->in_lists ? t->most_steps * w->stride : w->stride;
  for (int64_t i = 0; i < p->n; i++) {
    steps it;
    feature f;
    int64_t n = 0;
    for (bool there = start_steps(p, i, c, &it); there && next_of(&it, &f); n++)
      if (f.type != WEFT_INVALID) WEFT_TRY(weft__feature_values(&f, value_at(w, out, i * room + n * w->stride)));
    const bool empty = !w->in_lists && (n == 0 || f.type == WEFT_INVALID);
    if (empty) WEFT_TRY(weft__elements_copy(w->type, value_at(w, out, i * room), w->fallback->data, w->stride));
    if (lengths) TENSOR_DATA(lengths, int64_t)[i] = n;
  }
  return WEFT_OK;
}

static weft_err put_sparse(const sequences *p, int c, const totals *t) {
  const wanted *w = &p->want[c];
  const int64_t depth = p->batch + w->in_lists + 1;
  weft_tensor *at = weft__out(p->k, w->slot, &SHAPE2(t->values, depth)),
              *values = weft__out(p->k, w->slot + w->gap, &SHAPE1(t->values)),
              *dims = weft__out(p->k, w->slot + 2 * w->gap, &SHAPE1(depth));
  if (!at || !values || !dims) return WEFT_OOM;
  int64_t *index = TENSOR_DATA(at, int64_t), *d = TENSOR_DATA(dims, int64_t), done = 0;
  if (p->batch) *d++ = p->n;
  if (w->in_lists) *d++ = t->most_steps;
  *d = t->most_values;
  for (int64_t i = 0; i < p->n; i++) {
    steps it;
    feature f;
    int64_t number = 0;
    for (bool there = start_steps(p, i, c, &it); there && next_of(&it, &f); number++) {
      const int64_t n = f.type == WEFT_INVALID ? 0 : weft__feature_count(&f);
      if (n > 0) WEFT_TRY(weft__feature_values(&f, value_at(w, values, done)));
      for (int64_t v = 0; v < n; v++) {
        if (p->batch) *index++ = i;
        if (w->in_lists) *index++ = number;
        *index++ = v;
      }
      done += n;
    }
  }
  return WEFT_OK;
}

/* Writes the values and the splits: for lists those of examples and of steps, for the context only those of
 * examples. */
static weft_err put_ragged(const sequences *p, int c, const totals *t) {
  const wanted *w = &p->want[c];
  weft_tensor *values = weft__out(p->k, w->slot, &SHAPE1(t->values)),
              *outer = weft__out(p->k, w->slot + w->gap, &SHAPE1(p->batch ? p->n + 1 : 0)),
              *inner = w->in_lists ? weft__out(p->k, w->slot + 2 * w->gap, &SHAPE1(t->steps + 1)) : NULL;
  if (!values || !outer || (w->in_lists && !inner)) return WEFT_OOM;
  const int64_t most = t->values > t->steps ? t->values : t->steps;
  if (most > INT32_MAX && (outer->dtype == WEFT_INT32 || (inner && inner->dtype == WEFT_INT32)))
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "a ragged feature has %lld values, too many for int32 splits",
                             (long long)most);
  int64_t done = 0, number = 0;
  if (p->batch) weft__index_put(outer, 0, 0);
  if (inner) weft__index_put(inner, 0, 0);
  for (int64_t i = 0; i < p->n; i++) {
    steps it;
    feature f;
    for (bool there = start_steps(p, i, c, &it); there && next_of(&it, &f);) {
      const int64_t n = f.type == WEFT_INVALID ? 0 : weft__feature_count(&f);
      if (n > 0) WEFT_TRY(weft__feature_values(&f, value_at(w, values, done)));
      done += n;
      number++;
      if (inner) weft__index_put(inner, number, done);
    }
    if (p->batch) weft__index_put(outer, i + 1, inner ? number : done);
  }
  return WEFT_OK;
}

static weft_err parse_all(sequences *p) {
  WEFT_TRY(scan_all(p));
  for (int c = 0; c < p->count; c++) {
    totals t = {0};
    WEFT_TRY(count_all(p, c, &t));
    switch (p->want[c].form) {
    case FORM_DENSE: WEFT_TRY(put_dense(p, c, &t)); break;
    case FORM_SPARSE: WEFT_TRY(put_sparse(p, c, &t)); break;
    case FORM_RAGGED: WEFT_TRY(put_ragged(p, c, &t)); break;
    }
  }
  return WEFT_OK;
}

/* ---- the wanted features: six groups of keys ---- */

typedef struct group {
  const char *types, *shapes; /* attributes */
  form form;
  bool in_lists;
  const char *keys; /* an attribute, or NULL */
  int first;        /* or the input: a vector, or with `many` the first of several strings */
  bool many;
} group;

static const attr *list_of(const kernel *k, const char *name, int *n) {
  const attr *a = name ? weft__node_attr(k->node, name) : NULL;
  *n = a && a->is_list ? a->n : 0;
  return a;
}

static weft_err group_key(const sequences *p, const group *g, int i, int n, bytes *key) {
  int have;
  const attr *a = list_of(p->k, g->keys, &have);
  if (a || g->keys) {
    if (have != n)
      return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "%s has %d keys for %d features", g->keys, have, n);
    *key = (bytes){(const uint8_t *)a->ss[i].data, (const uint8_t *)a->ss[i].data + a->ss[i].size};
    return WEFT_OK;
  }
  const weft_tensor *t = p->k->in[g->first + (g->many ? i : 0)];
  if (!g->many && weft__tensor_count(t) != n)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "there are %lld keys for %d features",
                             (long long)weft__tensor_count(t), n);
  if (g->many && t->shape.rank != 0) return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "a key must be a scalar");
  *key = weft__bytes(TENSOR_DATA(t, const str) + (g->many ? 0 : i));
  return WEFT_OK;
}

static weft_err parse_sequence_read_dense(const sequences *p, const group *g, int i, int first_default, wanted *w) {
  int n;
  const attr *shapes = list_of(p->k, g->shapes, &n);
  if (i >= n) return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "%s is too short", g->shapes);
  w->shape = shapes->shapes[i];
  w->stride = weft__shape_count(&w->shape);
  if (w->stride < 0)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT, "%s[%d] must be known, not %s", g->shapes, i,
                             weft__shape_text(&w->shape));
  if (g->in_lists) return WEFT_OK;
  w->fallback = p->k->in[first_default + i];
  const int64_t has = weft__tensor_count(w->fallback);
  if (has > 0 && has != w->stride)
    return weft__kernel_fail(p->k, WEFT_INVALID_ARGUMENT,
                             "context_dense_defaults[%d] of shape %s does not fit the shape %s", i,
                             weft__shape_text(&w->fallback->shape), weft__shape_text(&w->shape));
  return WEFT_OK;
}

/* Adds the features of a group, and advances *slot past its outputs. */
static weft_err add_group(sequences *p, const group *g, int first_default, bool lengths, int *slot) {
  int n;
  const attr *types = list_of(p->k, g->types, &n);
  const int outputs = g->form == FORM_SPARSE  ? 3
                      : g->form == FORM_DENSE ? 1 + (g->in_lists && lengths)
                                              : 2 + g->in_lists;
  for (int i = 0; i < n; i++) {
    wanted *w = &p->want[p->count];
    *w = (wanted){.form = g->form, .in_lists = g->in_lists, .type = types->types[i], .slot = *slot + i, .gap = n};
    w->lengths = g->form == FORM_DENSE && g->in_lists && lengths ? *slot + n + i : -1;
    WEFT_TRY(group_key(p, g, i, n, &w->key));
    if (g->form == FORM_DENSE) WEFT_TRY(parse_sequence_read_dense(p, g, i, first_default, w));
    weft__keys_put(&p->keys[g->in_lists], w->key, p->count++);
  }
  *slot += outputs * n;
  return WEFT_OK;
}

static weft_err parse_sequence_start(sequences *p, const group *groups, int n_groups, int first_default, bool lengths) {
  int most = 1, n, slot = 0;
  for (int i = 0; i < n_groups; i++) {
    list_of(p->k, groups[i].types, &n);
    most += n;
  }
  p->want = weft__alloc_zero((size_t)most, sizeof *p->want);
  if (!p->want) return WEFT_OOM;
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__keys_create(&p->keys[i], most));
  for (int i = 0; i < n_groups; i++) WEFT_TRY(add_group(p, &groups[i], first_default, lengths, &slot));
  p->cell = weft__alloc_zero((size_t)(p->n * p->count) + 1, sizeof *p->cell);
  return p->cell ? WEFT_OK : WEFT_OOM;
}

static void parse_sequence_finish(sequences *p) {
  for (int i = 0; i < 2; i++)
    if (p->keys[i].slot) weft__keys_finish(&p->keys[i]);
  weft__free(p->want);
  weft__free(p->cell);
}

/* Marks the dense feature lists whose keys are in a vector of strings or an attribute. */
static void mark_missing(sequences *p, bytes key) {
  for (int c = 0; c < p->count; c++) {
    wanted *w = &p->want[c];
    const size_t n = (size_t)(key.end - key.at);
    if (w->in_lists && w->form == FORM_DENSE && n == (size_t)(w->key.end - w->key.at) &&
        (!n || !memcmp(key.at, w->key.at, n)))
      w->may_miss = true;
  }
}

static weft_err take_input(sequences *p, kernel *k, int names) {
  const weft_tensor *in = k->in[0];
  p->k = k;
  p->batch = in->shape.rank == 1;
  p->n = weft__tensor_count(in);
  p->example = in->data;
  if (in->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected serialized to be a scalar or vector, got shape: %s",
                             weft__shape_text(&in->shape));
  if (weft__tensor_count(k->in[names]) == p->n && p->n) p->name = k->in[names]->data;
  return WEFT_OK;
}

/* ---- the ops ---- */

#define CONTEXT_SPARSE "context_sparse_types", NULL, FORM_SPARSE, false
#define CONTEXT_DENSE "Tcontext_dense", "context_dense_shapes", FORM_DENSE, false
#define CONTEXT_RAGGED "context_ragged_value_types", NULL, FORM_RAGGED, false
#define LISTS_SPARSE "feature_list_sparse_types", NULL, FORM_SPARSE, true
#define LISTS_DENSE "feature_list_dense_types", "feature_list_dense_shapes", FORM_DENSE, true
#define LISTS_RAGGED "feature_list_ragged_value_types", NULL, FORM_RAGGED, true

static weft_err many_cpu(kernel *k) {
  static const group groups[] = {{CONTEXT_SPARSE, "context_sparse_keys", 0, false},
                                 {CONTEXT_DENSE, "context_dense_keys", 0, false},
                                 {LISTS_SPARSE, "feature_list_sparse_keys", 0, false},
                                 {LISTS_DENSE, "feature_list_dense_keys", 0, false}};
  sequences p = {0};
  int n;
  WEFT_TRY(weft__kernel_vector(k, 0, "serialized"));
  WEFT_TRY(take_input(&p, k, 1));
  weft_err err = parse_sequence_start(&p, groups, 4, 2, true);
  const attr *missing = list_of(k, "feature_list_dense_missing_assumed_empty", &n);
  for (int i = 0; i < n && !err; i++)
    mark_missing(
        &p, (bytes){(const uint8_t *)missing->ss[i].data, (const uint8_t *)missing->ss[i].data + missing->ss[i].size});
  if (!err) err = parse_all(&p);
  parse_sequence_finish(&p);
  return err;
}

static weft_err v2_cpu(kernel *k) {
  static const group groups[] = {{CONTEXT_SPARSE, NULL, 2, false}, {CONTEXT_DENSE, NULL, 3, false},
                                 {CONTEXT_RAGGED, NULL, 4, false}, {LISTS_SPARSE, NULL, 5, false},
                                 {LISTS_DENSE, NULL, 6, false},    {LISTS_RAGGED, NULL, 7, false}};
  sequences p = {0};
  WEFT_TRY(take_input(&p, k, 1));
  weft_err err = parse_sequence_start(&p, groups, 6, 9, true);
  int dense = 0;
  for (int c = 0; c < p.count && !err; c++) {
    wanted *w = &p.want[c];
    if (!w->in_lists || w->form != FORM_DENSE) continue;
    if (dense < weft__tensor_count(k->in[8])) w->may_miss = TENSOR_DATA(k->in[8], bool)[dense];
    dense++;
  }
  if (!err) err = parse_all(&p);
  parse_sequence_finish(&p);
  return err;
}

static weft_err single_cpu(kernel *k) {
  int n[4];
  list_of(k, "context_sparse_types", &n[0]);
  list_of(k, "Tcontext_dense", &n[1]);
  list_of(k, "feature_list_sparse_types", &n[2]);
  list_of(k, "feature_list_dense_types", &n[3]);
  const group groups[] = {{CONTEXT_SPARSE, NULL, 2, true},
                          {CONTEXT_DENSE, NULL, 2 + n[0], true},
                          {LISTS_SPARSE, NULL, 2 + n[0] + n[1], true},
                          {LISTS_DENSE, NULL, 2 + n[0] + n[1] + n[2], true}};
  sequences p = {0};
  WEFT_TRY(weft__kernel_scalar(k, 0, "serialized"));
  WEFT_TRY(take_input(&p, k, k->n_in - 1));
  weft_err err = parse_sequence_start(&p, groups, 4, 2 + n[0] + n[1] + n[2] + n[3], false);
  for (int64_t i = 0; i < weft__tensor_count(k->in[1]) && !err; i++)
    mark_missing(&p, weft__bytes(TENSOR_DATA(k->in[1], const str) + i));
  if (!err) err = parse_all(&p);
  parse_sequence_finish(&p);
  return err;
}

/* ---- shapes ---- */

typedef struct shapes_at {
  infer *s;
  int slot;
  int64_t batch; /* -2: there is no batch dimension */
} shapes_at;

static void add_sparse_shapes(shapes_at *a, const char *types, bool lists) {
  int n;
  const attr *list = weft__node_attr(a->s->node, types);
  n = list && list->is_list ? list->n : 0;
  const int64_t depth = (a->batch != -2) + lists + 1;
  for (int i = 0; i < n; i++) {
    a->s->out[a->slot + i] = SHAPE2(-1, depth);
    a->s->out[a->slot + n + i] = SHAPE1(-1);
    a->s->out[a->slot + 2 * n + i] = SHAPE1(depth);
  }
  a->slot += 3 * n;
}

static void add_dense_shapes(shapes_at *a, const char *shapes, bool lists, bool lengths) {
  const attr *list = weft__node_attr(a->s->node, shapes);
  const int n = list && list->is_list ? list->n : 0, outer = (a->batch != -2) + lists;
  for (int i = 0; i < n; i++) {
    shape s = list->shapes[i];
    if (s.rank >= 0 && s.rank + outer <= WEFT_MAX_RANK) {
      memmove(s.dim + outer, s.dim, (size_t)s.rank * sizeof *s.dim);
      s.rank += outer;
      if (lists) s.dim[outer - 1] = -1;
      if (a->batch != -2) s.dim[0] = a->batch;
      a->s->out[a->slot + i] = s;
    }
    if (lengths) a->s->out[a->slot + n + i] = a->batch == -2 ? SHAPE_SCALAR : SHAPE1(a->batch);
  }
  a->slot += n * (1 + lengths);
}

static void add_ragged_shapes(shapes_at *a, const char *types, bool lists) {
  const attr *list = weft__node_attr(a->s->node, types);
  const int n = list && list->is_list ? list->n : 0;
  for (int i = 0; i < n * (2 + lists); i++) a->s->out[a->slot + i] = SHAPE1(-1);
  for (int i = 0; i < n && a->batch >= 0; i++) a->s->out[a->slot + n + i] = SHAPE1(a->batch + 1);
  a->slot += n * (2 + lists);
}

static weft_err sequence_infer(infer *s, bool batch, bool lengths, bool ragged) {
  shapes_at a = {s, 0, batch ? s->in[0].rank == 1 ? s->in[0].dim[0] : -1 : -2};
  add_sparse_shapes(&a, "context_sparse_types", false);
  add_dense_shapes(&a, "context_dense_shapes", false, false);
  if (ragged) add_ragged_shapes(&a, "context_ragged_value_types", false);
  add_sparse_shapes(&a, "feature_list_sparse_types", true);
  add_dense_shapes(&a, "feature_list_dense_shapes", true, lengths);
  if (ragged) add_ragged_shapes(&a, "feature_list_ragged_value_types", true);
  return WEFT_OK;
}

/* Checks the lengths of the lists.  The attributes determine the number of outputs, so a mismatch must fail before
 * anything is written. */
static weft_err parse_sequence_check_counts(infer *s) {
  static const char *const pairs[][2] = {{"Tcontext_dense", "context_dense_shapes"},
                                         {"feature_list_dense_types", "feature_list_dense_shapes"}};
  for (int i = 0; i < 2; i++) {
    const attr *a = weft__node_attr(s->node, pairs[i][0]), *b = weft__node_attr(s->node, pairs[i][1]);
    if ((a ? a->n : 0) != (b ? b->n : 0))
      return weft__infer_fail(s, "len(%s) is %d, but len(%s) is %d", pairs[i][0], a ? a->n : 0, pairs[i][1],
                              b ? b->n : 0);
  }
  static const char *const counts[][2] = {{"Ncontext_sparse", "context_sparse_types"},
                                          {"Nfeature_list_sparse", "feature_list_sparse_types"},
                                          {"Nfeature_list_dense", "feature_list_dense_types"}};
  for (int i = 0; i < 3; i++) {
    const attr *types = weft__node_attr(s->node, counts[i][1]);
    if (weft__node_int(s->node, counts[i][0], 0) != (types ? types->n : 0))
      return weft__infer_fail(s, "%s is %lld, but len(%s) is %d", counts[i][0],
                              (long long)weft__node_int(s->node, counts[i][0], 0), counts[i][1], types ? types->n : 0);
  }
  return WEFT_OK;
}

static weft_err parse_sequence_many_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(parse_sequence_check_counts(s));
  return sequence_infer(s, true, true, false);
}

static weft_err check_ragged(infer *s) {
  static const char *const pairs[][2] = {{"context_ragged_value_types", "context_ragged_split_types"},
                                         {"feature_list_ragged_value_types", "feature_list_ragged_split_types"}};
  for (int i = 0; i < 2; i++) {
    const attr *a = weft__node_attr(s->node, pairs[i][0]), *b = weft__node_attr(s->node, pairs[i][1]);
    if ((a ? a->n : 0) != (b ? b->n : 0))
      return weft__infer_fail(s, "%s and %s differ in length", pairs[i][0], pairs[i][1]);
  }
  return WEFT_OK;
}

static weft_err v2_infer(infer *s) {
  if (s->in[0].rank > 1) return weft__infer_fail(s, "Shape must be at most rank 1 but is rank %d", s->in[0].rank);
  WEFT_TRY(parse_sequence_check_counts(s));
  WEFT_TRY(check_ragged(s));
  if (s->in[0].rank < 0) return WEFT_OK;
  return sequence_infer(s, s->in[0].rank == 1, true, true);
}

static weft_err single_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  WEFT_TRY(parse_sequence_check_counts(s));
  return sequence_infer(s, false, false, false);
}

#define KIND "{float,int64,string}>=0=[]"
#define CONTEXT_OUT                                                                                                    \
  "context_sparse_indices:Ncontext_sparse*int64, context_sparse_values:@context_sparse_types, "                        \
  "context_sparse_shapes:Ncontext_sparse*int64, context_dense_values:@Tcontext_dense, "
#define LISTS_OUT                                                                                                      \
  "feature_list_sparse_indices:Nfeature_list_sparse*int64, feature_list_sparse_values:@feature_list_sparse_types, "    \
  "feature_list_sparse_shapes:Nfeature_list_sparse*int64, feature_list_dense_values:@feature_list_dense_types"
#define LENGTHS_OUT ", feature_list_dense_lengths:Nfeature_list_dense*int64"
#define COUNTS                                                                                                         \
  "Ncontext_sparse:int>=0=0 Ncontext_dense:int>=0=0 Nfeature_list_sparse:int>=0=0 Nfeature_list_dense:int>=0=0 "       \
  "context_sparse_types:list(type)" KIND " Tcontext_dense:list(type)" KIND " feature_list_dense_types:list(type)" KIND \
  " context_dense_shapes:list(shape)>=0=[] feature_list_sparse_types:list(type)" KIND                                  \
  " feature_list_dense_shapes:list(shape)>=0=[]"
#define KEYS_V2                                                                                                        \
  "context_sparse_keys:string, context_dense_keys:string, context_ragged_keys:string, "                                \
  "feature_list_sparse_keys:string, feature_list_dense_keys:string, feature_list_ragged_keys:string, "                 \
  "feature_list_dense_missing_assumed_empty:bool, "
#define RAGGED_OUT                                                                                                     \
  ", feature_list_ragged_values:@feature_list_ragged_value_types, "                                                    \
  "feature_list_ragged_outer_splits:@feature_list_ragged_split_types, "                                                \
  "feature_list_ragged_inner_splits:@feature_list_ragged_split_types"
#define ATTRIBUTES_V2                                                                                                  \
  "Ncontext_sparse:int>=0=0 Tcontext_dense:list(type)" KIND " context_sparse_types:list(type)" KIND                    \
  " context_ragged_value_types:list(type)" KIND                                                                        \
  " context_ragged_split_types:list(type){int32,int64}>=0=[] context_dense_shapes:list(shape)>=0=[] "                  \
  "Nfeature_list_sparse:int>=0=0 Nfeature_list_dense:int>=0=0 feature_list_dense_types:list(type)" KIND                \
  " feature_list_sparse_types:list(type)" KIND " feature_list_ragged_value_types:list(type)" KIND                      \
  " feature_list_ragged_split_types:list(type){int32,int64}>=0=[] feature_list_dense_shapes:list(shape)>=0=[]"

OPS(parse_sequence) = {
    {"ParseSequenceExample(serialized:string, debug_name:string, context_dense_defaults:@Tcontext_dense) -> "
     "(" CONTEXT_OUT LISTS_OUT LENGTHS_OUT
     ") | feature_list_dense_missing_assumed_empty:list(string)>=0 context_sparse_keys:list(string)>=0 "
     "context_dense_keys:list(string)>=0 feature_list_sparse_keys:list(string)>=0 "
     "feature_list_dense_keys:list(string)>=0 " COUNTS,
     "The features of a batch of SequenceExamples.", .infer = parse_sequence_many_infer, .cpu = many_cpu},
    {"ParseSequenceExampleV2(serialized:string, debug_name:string, " KEYS_V2
     "context_dense_defaults:@Tcontext_dense) -> (" CONTEXT_OUT "context_ragged_values:@context_ragged_value_types, "
     "context_ragged_row_splits:@context_ragged_split_types, " LISTS_OUT LENGTHS_OUT RAGGED_OUT ") | " ATTRIBUTES_V2,
     "The features of SequenceExamples, ragged ones too.", .infer = v2_infer, .cpu = v2_cpu},
    {"ParseSingleSequenceExample(serialized:string, feature_list_dense_missing_assumed_empty:string, "
     "context_sparse_keys:Ncontext_sparse*string, context_dense_keys:Ncontext_dense*string, "
     "feature_list_sparse_keys:Nfeature_list_sparse*string, feature_list_dense_keys:Nfeature_list_dense*string, "
     "context_dense_defaults:@Tcontext_dense, debug_name:string) -> (" CONTEXT_OUT LISTS_OUT ") | " COUNTS,
     "The features of one SequenceExample.", .infer = single_infer, .cpu = single_cpu},
    {.scenario = "tests/parity/test_parse.py"},
};
