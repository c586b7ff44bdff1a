/* einsum.c - Einsum: sums of products, described by labels: "bij,bjk->bik".
 *
 * A label has one of five kinds: in both operands and in the result (batch); in both operands only (inner); in one
 * operand and in the result (outer); in one operand only (summed first); or a dimension of "...", which broadcasts
 * and counts as batch.  One strided copy brings each operand into the order batch, outer, inner, unless it already
 * has that order, or the transposed one: batch, inner, outer.  Then one matrix product per batch computes the sums, and
 * one copy permutes the result.  A label that appears twice in an operand selects its diagonal; that only changes the
 * strides.
 *
 * On a GPU, this code runs on the host: einsum.cu has the products and the sums, and strided copies are made there too.
 */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/build.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include "kernels/gemm/gemm_long.h"
#include "kernels/gpu/gpu_host.h"
#include "kernels/simd/widen.h"
#include "state/combine.h"
#include <string.h>

enum { ELLIPSIS = 256, MAX_LABELS = ELLIPSIS + WEFT_MAX_RANK }; /* ELLIPSIS + d: dimension d of "...", from the right */

/* ---- the equation ---- */

/* The labels of one operand or of the result, and the position of "..." (-1: there is none). */
typedef struct labels {
  int n, dots;
  int label[WEFT_MAX_RANK];
} labels;

typedef struct equation {
  int n_in;
  labels in[2], out;
} equation;

/* Reads labels up to a comma or the end.  Returns NULL after an error. */
static const char *einsum_read_labels(labels *l, const char *at, const char *end) {
  *l = (labels){.dots = -1};
  for (; at < end && *at != ','; at++) {
    if (*at == '.') {
      if (end - at < 3 || at[1] != '.' || at[2] != '.' || l->dots >= 0) {
        weft__fail(WEFT_INVALID_ARGUMENT, "Periods found in subscripts that are no single '...'");
        return NULL;
      }
      l->dots = l->n;
      at += 2;
    } else if (l->n == WEFT_MAX_RANK) {
      weft__fail(WEFT_INVALID_ARGUMENT, "more than %d subscripts of one operand", WEFT_MAX_RANK);
      return NULL;
    } else {
      l->label[l->n++] = (unsigned char)*at;
    }
  }
  return at;
}

static bool has_label(const labels *l, int label) {
  for (int i = 0; i < l->n; i++)
    if (l->label[i] == label) return true;
  return false;
}

static weft_err read_equation(equation *e, const weft_node *node) {
  const attr_str s = weft__node_str(node, "equation");
  const char *arrow = strstr(s.data, "->"), *end = s.data + s.size;
  if (!arrow || strstr(arrow + 2, "->"))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expecting exactly one '->' in einsum equation: %s", s.data);
  int commas = 0;
  for (const char *at = s.data; at < arrow; at++) commas += *at == ',';
  if (commas > 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expecting 1 or 2 input subscripts in equation '%s' but got: %d", s.data,
                      commas + 1);
  e->n_in = commas + 1;
  const char *at = s.data;
  for (int i = 0; i < e->n_in; i++, at++)
    if (!(at = einsum_read_labels(&e->in[i], at, arrow))) return WEFT_INVALID_ARGUMENT;
  if (!(at = einsum_read_labels(&e->out, arrow + 2, end))) return WEFT_INVALID_ARGUMENT;
  if (at < end) return weft__fail(WEFT_INVALID_ARGUMENT, "Expecting one result in einsum equation: %s", s.data);
  for (int i = 0; i < e->out.n; i++)
    if (!has_label(&e->in[0], e->out.label[i]) && !(e->n_in > 1 && has_label(&e->in[1], e->out.label[i])))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Einsum output subscripts for equation '%s' has label '%c' which is not present in the input "
                        "subscripts",
                        s.data, e->out.label[i]);
  return WEFT_OK;
}

/* Inserts the `rank` dimensions of "..." into the list. */
static weft_err spell_dots(labels *l, int rank) {
  if (l->dots < 0) return WEFT_OK;
  if (l->n + rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "more than %d dimensions of one operand", WEFT_MAX_RANK);
  memmove(l->label + l->dots + rank, l->label + l->dots, sizeof *l->label * (size_t)(l->n - l->dots));
  for (int i = 0; i < rank; i++) l->label[l->dots + i] = ELLIPSIS + rank - 1 - i;
  l->n += rank;
  return WEFT_OK;
}

/* The size of each label: -1 if it is unknown, ABSENT if no operand has it. */
enum { ABSENT = -2 };
typedef struct sizes {
  int64_t of[MAX_LABELS];
} sizes;

/* Checks that a label has one size everywhere.  A dimension of "..." may be 1 in one operand and larger in the
 * other. */
static weft_err einsum_meet(sizes *z, int label, int64_t dim) {
  int64_t *has = &z->of[label];
  if (*has == dim || dim == -1) {
    if (*has == ABSENT) *has = dim;
    return WEFT_OK;
  }
  if (*has < 0 || (label >= ELLIPSIS && *has == 1)) {
    *has = dim;
    return WEFT_OK;
  }
  if (label >= ELLIPSIS && dim == 1) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Dimensions must be equal, but are %lld and %lld", (long long)*has,
                    (long long)dim);
}

/* Expands "..." in the operands and in the result, and finds all sizes. *known is false if an unknown rank leaves
 * the number of dimensions of "..." open. */
static weft_err einsum_fit(equation *e, const shape *const *in, sizes *z, bool *known) {
  int dots = 0;
  *known = true;
  for (int l = 0; l < MAX_LABELS; l++) z->of[l] = ABSENT;
  for (int i = 0; i < e->n_in; i++) {
    labels *l = &e->in[i];
    if (in[i]->rank < 0) {
      *known = *known && l->dots < 0;
      for (int d = 0; d < l->n; d++) WEFT_TRY(einsum_meet(z, l->label[d], -1));
      continue;
    }
    const int own = in[i]->rank - l->n;
    if (own < 0 || (own > 0 && l->dots < 0))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Expected input %d to have rank %s%d but got: %d", i,
                        l->dots < 0 ? "" : "at least ", l->n, in[i]->rank);
    if (own > 0 && e->out.dots < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape must be at most rank %d but is rank %d", l->n, in[i]->rank);
    WEFT_TRY(spell_dots(l, own));
    dots = own > dots ? own : dots;
    for (int d = 0; d < l->n; d++) WEFT_TRY(einsum_meet(z, l->label[d], in[i]->dim[d]));
  }
  return *known ? spell_dots(&e->out, dots) : WEFT_OK;
}

static weft_err einsum_infer(infer *s) {
  equation e;
  sizes z;
  bool known;
  const shape *in[2] = {&s->in[0], s->n_in > 1 ? &s->in[1] : NULL};
  if (read_equation(&e, s->node) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  if (e.n_in != s->n_in) return weft__infer_fail(s, "Expected %d inputs but got: %d", e.n_in, s->n_in);
  if (einsum_fit(&e, in, &z, &known) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  if (!known) return WEFT_OK;
  s->out[0].rank = e.out.n;
  for (int d = 0; d < e.out.n; d++) s->out[0].dim[d] = z.of[e.out.label[d]];
  return WEFT_OK;
}

/* ---- permuting the operands ---- */

/* A list of distinct labels in the chosen order, and the product of their sizes. */
typedef struct group {
  int n, label[2 * WEFT_MAX_RANK];
  int64_t size;
} group;

static void group_add(group *g, const sizes *z, int label) {
  for (int i = 0; i < g->n; i++)
    if (g->label[i] == label) return;
  g->label[g->n++] = label;
  g->size *= z->of[label];
}

/* Returns the stride of a label: a repeated label has the stride of the diagonal, an absent or broadcast one 0. */
static int64_t step_of(const labels *l, const shape *s, int label) {
  int64_t steps[WEFT_MAX_RANK], sum = 0;
  weft__shape_steps(s, steps);
  for (int d = 0; d < l->n; d++)
    if (l->label[d] == label && (label < ELLIPSIS || s->dim[d] != 1)) sum += steps[d];
  return sum;
}

typedef struct operand {
  const void *data; /* in the order of the groups */
  bool transposed;  /* as [batch, inner, outer] for operand 0, [batch, outer, inner] for operand 1 */
  weft_tensor copy; /* empty if the operand already had that order */
} operand;

/* Returns the GPU's functions if the kernel runs on one; NULL if the host's memory is used. */
static const gpu_products *einsum_gpu(const kernel *k) { return k->device ? weft__gpu_products() : NULL; }

/* Stores memory for `count` elements: t's, which the caller clears, or on a GPU that of this run. */
static weft_err einsum_room(kernel *k, weft_dtype type, int64_t count, weft_tensor *t, void **data) {
  if (einsum_gpu(k)) return weft__gpu_scratch(k, (size_t)count * weft__dtype_size(type), data);
  WEFT_TRY(weft__scratch(k, t, type, &SHAPE1(count)));
  *data = t->data;
  return WEFT_OK;
}

/* An operand with its labels and shape. */
typedef struct labeled {
  const labels *l;
  const shape *s;
} labeled;

/* Describes the copy of an operand into the order of the groups, and returns the number of elements; -1: too many.
 * Sets *in_place if the operand has that order. */
static int64_t einsum_order(strided_copy *b, labeled from, const sizes *z, const group *const *groups, int n_groups,
                            bool *in_place) {
  int64_t count = 1, next = 1;
  *b = (strided_copy){.rank = 0};
  *in_place = true;
  for (int g = n_groups - 1; g >= 0; g--)
    for (int i = groups[g]->n - 1; i >= 0; i--) count = weft__shape_dim_mul(count, z->of[groups[g]->label[i]]);
  if (count < 0) return -1;
  for (int g = 0; g < n_groups; g++)
    for (int i = 0; i < groups[g]->n; i++)
      weft__strided_copy_axis(b, z->of[groups[g]->label[i]], step_of(from.l, from.s, groups[g]->label[i]), 0);
  for (int d = b->rank - 1; d >= 0; d--) {
    b->dst[d] = next;
    *in_place = *in_place && (b->src[d] == next || b->dim[d] == 1);
    next *= b->dim[d];
  }
  return count;
}

/* Brings an operand into the order of the groups, or of `other` if it has that one. */
static weft_err einsum_bring(kernel *k, weft_dtype type, operand *o, labeled from, const sizes *z,
                             const group *const order[4], const group *const other[4]) {
  strided_copy b;
  bool in_place;
  if (einsum_order(&b, from, z, other, 4, &o->transposed) >= 0 && o->transposed) {
    einsum_order(&b, from, z, order, 4, &in_place);
    o->transposed = !in_place;
    return WEFT_OK;
  }
  void *data = NULL;
  const int64_t count = einsum_order(&b, from, z, order, 4, &in_place);
  o->transposed = false;
  if (count < 0) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "an operand broadcast to its labels is too large");
  if (in_place) return WEFT_OK;
  WEFT_TRY(einsum_room(k, type, count, &o->copy, &data));
  WEFT_TRY(weft__strided_copy_run(k, type, data, o->data, &b));
  o->data = data;
  return WEFT_OK;
}

static weft_err sum_runs_there(kernel *k, weft_dtype type, operand *o, int64_t rows, int64_t n) {
  void *sums = NULL;
  WEFT_TRY(weft__gpu_scratch(k, (size_t)rows * weft__dtype_size(type), &sums));
  WEFT_TRY(einsum_gpu(k)->sum_rows(k, type, o->data, rows, n, sums));
  o->data = sums;
  return WEFT_OK;
}

/* Sums each run of n elements as a product with a vector of ones. */
static weft_err sum_runs(kernel *k, weft_dtype type, operand *o, int64_t rows, int64_t n) {
  if (einsum_gpu(k)) return sum_runs_there(k, type, o, rows, n);
  weft_tensor ones = {0}, sums = {0}, *one = NULL;
  weft_err err = weft__tensor_scalar(&one, type, 1);
  if (!err) err = weft__scratch(k, &ones, type, &SHAPE1(n));
  if (!err) err = weft__scratch(k, &sums, type, &SHAPE1(rows));
  if (!err) err = weft__elements_fill(type, ones.data, one->data, n);
  if (!err) {
    memset(sums.data, 0, weft__tensor_bytes(&sums));
    const gemm g = {.type = type,
                    .m = rows,
                    .n = 1,
                    .k = n,
                    .a = o->data,
                    .b = ones.data,
                    .c = sums.data,
                    .lda = n,
                    .ldb = 1,
                    .ldc = 1};
    if (rows && n) weft__gemm(k, &g);
    weft__tensor_clear(&o->copy);
    o->copy = sums;
    o->data = sums.data;
    sums = (weft_tensor){0};
  }
  weft_tensor_destroy(one);
  weft__tensor_clear(&ones);
  weft__tensor_clear(&sums);
  return err;
}

/* ---- the product ---- */

typedef struct products {
  gemm each;
  size_t size;
  long_work work;
} products;

static void multiply_some(void *arg, int64_t begin, int64_t end) {
  products *p = arg;
  int64_t spent = 0;
  for (int64_t i = begin; i < end && !weft__long_work_spent(&p->work, &spent, p->each.m * p->each.n * p->each.k); i++) {
    gemm g = p->each;
    g.a = (const char *)g.a + (size_t)(i * g.m * g.k) * p->size;
    g.b = (const char *)g.b + (size_t)(i * g.k * g.n) * p->size;
    g.c = (char *)g.c + (size_t)(i * g.m * g.n) * p->size;
    weft__gemm_serial(&g);
  }
}

/* g is the first of `batch` products of a [batch, m, k] and b [batch, k, n]. */
static weft_err einsum_multiply(kernel *k, int64_t batch, const gemm *g) {
  products p = {*g, weft__dtype_size(g->type), weft__long_work(k)};
  const gpu_product there = {g->type, g->ta, g->tb, batch, g->m, g->n, g->k, g->a, g->b, g->c};
  if (!batch || !g->m || !g->n) return WEFT_OK;
  if (einsum_gpu(k)) return einsum_gpu(k)->multiply(k, &there);
  if (!g->k)
    memset(g->c, 0, (size_t)(batch * g->m * g->n) * p.size);
  else if (g->m * g->n * g->k == 1)
    weft__combine(COMBINE_MUL, g->type, g->c, g->a, g->b, 1, batch);
  else if (batch == 1)
    weft__gemm_long(&p.work, &p.each);
  else
    weft__kernel_loop(k, batch, g->m * g->n * g->k / 16 + 50, multiply_some, &p);
  return weft__kernel_in(k, weft__long_work_end(&p.work));
}

typedef struct einsum_plan {
  group batch, outer[2], inner, summed[2];
} einsum_plan;

/* Finds the kind of each label.  Labels of the result are in the result's order. */
static void sort_labels(einsum_plan *p, const equation *e, const sizes *z) {
  *p = (einsum_plan){
      .batch.size = 1, .outer = {{.size = 1}, {.size = 1}}, .inner.size = 1, .summed = {{.size = 1}, {.size = 1}}};
  for (int d = 0; d < e->out.n; d++) {
    const int l = e->out.label[d];
    const bool a = has_label(&e->in[0], l), b = e->n_in > 1 && has_label(&e->in[1], l);
    group_add((a && b) || l >= ELLIPSIS ? &p->batch : &p->outer[!a], z, l);
  }
  for (int i = 0; i < e->n_in; i++)
    for (int d = 0; d < e->in[i].n; d++) {
      const int l = e->in[i].label[d];
      if (has_label(&e->out, l)) continue;
      group_add(e->n_in > 1 && has_label(&e->in[1 - i], l) ? &p->inner : &p->summed[i], z, l);
    }
}

/* Brings operand 0 into the order [batch, outer, inner], and operand 1 into [batch, inner, outer].  A factor may also
 * be transposed. */
static weft_err einsum_arrange(kernel *k, weft_dtype type, int i, operand *o, const equation *e, const sizes *z,
                               const einsum_plan *p) {
  const group *const order[] = {&p->batch, i ? &p->inner : &p->outer[0], i ? &p->outer[1] : &p->inner, &p->summed[i]};
  const group *const other[] = {order[0], order[2], order[1], order[3]};
  const bool flips = e->n_in > 1 && !p->summed[i].n;
  WEFT_TRY(einsum_bring(k, type, o, (labeled){&e->in[i], &k->in[i]->shape}, z, order, flips ? other : order));
  if (!p->summed[i].n) return WEFT_OK;
  return sum_runs(k, type, o, p->batch.size * p->outer[i].size * p->inner.size, p->summed[i].size);
}

/* Copies the product [batch, outer, outer] into the result's order.  A repeated label fills a diagonal; the rest is
 * zeros. */
static weft_err einsum_put(kernel *k, weft_dtype type, void *out, const shape *s, const void *from, const equation *e,
                           const sizes *z, const einsum_plan *p) {
  const group *const order[] = {&p->batch, &p->outer[0], &p->outer[1]};
  const int64_t count = p->batch.size * p->outer[0].size * p->outer[1].size;
  int64_t from_step = count;
  strided_copy b = {0};
  weft_tensor whole = {.dtype = type, .shape = *s, .data = out};
  if (weft__shape_count(s) != count) WEFT_TRY(weft__strided_zero(k, &whole));
  for (int g = 0; g < 3 && count; g++)
    for (int i = 0; i < order[g]->n; i++) {
      const int label = order[g]->label[i];
      int64_t steps[WEFT_MAX_RANK], to = 0;
      weft__shape_steps(s, steps);
      for (int d = 0; d < e->out.n; d++) to += e->out.label[d] == label ? steps[d] : 0;
      from_step /= z->of[label];
      weft__strided_copy_axis(&b, z->of[label], from_step, to);
    }
  return count ? weft__strided_copy_run(k, type, out, from, &b) : WEFT_OK;
}

/* Returns true if the result has the axis order in which it is computed. */
static bool einsum_straight(const equation *e, const einsum_plan *p) {
  const group *const order[] = {&p->batch, &p->outer[0], &p->outer[1]};
  int d = 0;
  for (int g = 0; g < 3; g++)
    for (int i = 0; i < order[g]->n; i++)
      if (d >= e->out.n || e->out.label[d++] != order[g]->label[i]) return false;
  return d == e->out.n;
}

/* Computes the result. in and out hold elements of `type`, as many as the tensors have. */
static weft_err einsum_compute(kernel *k, weft_dtype type, const equation *e, const sizes *z, const shape *s,
                               const void *const *in, void *out) {
  einsum_plan p;
  operand o[2] = {{.data = in[0]}, {.data = in[1]}};
  weft_tensor made = {0};
  weft_err err = WEFT_OK;
  sort_labels(&p, e, z);
  for (int i = 0; i < e->n_in && !err; i++) err = einsum_arrange(k, type, i, &o[i], e, z, &p);
  const int64_t m = p.outer[0].size, n = p.outer[1].size;
  const void *result = o[0].data;
  const bool direct = einsum_straight(e, &p);
  if (!err && e->n_in > 1) {
    void *product = out;
    if (!err && !direct) err = einsum_room(k, type, p.batch.size * m * n, &made, &product);
    gemm g = {.type = type, .m = m, .n = n, .k = p.inner.size, .a = o[0].data, .b = o[1].data, .c = product, .ldc = n};
    g.ta = o[0].transposed, g.lda = g.ta ? m : g.k;
    g.tb = o[1].transposed, g.ldb = g.tb ? g.k : n;
    if (!err) err = einsum_multiply(k, p.batch.size, &g);
    result = product;
  }
  if (!err && result != out) err = einsum_put(k, type, out, s, result, e, z, &p);
  for (int i = 0; i < 2; i++) weft__tensor_clear(&o[i].copy);
  weft__tensor_clear(&made);
  return err;
}

static weft_err wide_compute(kernel *k, const equation *e, const sizes *z, weft_tensor *out) {
  widened in[2] = {{.data = NULL}, {.data = NULL}}, to = {.data = NULL};
  weft_err err = weft__widened_output(&to, out);
  for (int i = 0; i < e->n_in && !err; i++) err = weft__widened_load(&in[i], k->in[i]);
  if (!err) err = einsum_compute(k, WEFT_FLOAT, e, z, &out->shape, (const void *[]){in[0].data, in[1].data}, to.data);
  if (!err) weft__widened_store(&to, out);
  weft__widened_finish(&in[0]), weft__widened_finish(&in[1]), weft__widened_finish(&to);
  return err;
}

/* Returns true if the result is a sum over no elements and therefore 0.  If one operand is empty, the product of the
 * sizes of both may overflow. */
static bool nothing_to_add(const kernel *k) {
  for (int i = 0; i < k->n_in; i++)
    if (weft__tensor_count(k->in[i]) == 0) return true;
  return false;
}

static weft_err einsum_cpu(kernel *k) {
  equation e;
  sizes z;
  bool known;
  shape s;
  const weft_dtype type = k->in[0]->dtype;
  if (!weft__is_16bit(type) && !weft__gemm_has(type)) return weft__kernel_no_type(k, type);
  WEFT_TRY(weft__kernel_in(k, read_equation(&e, k->node)));
  if (e.n_in != k->n_in)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Expected %d inputs but got: %d", e.n_in, k->n_in);
  const shape *in[2] = {&k->in[0]->shape, k->n_in > 1 ? &k->in[1]->shape : NULL};
  WEFT_TRY(weft__kernel_in(k, einsum_fit(&e, in, &z, &known)));
  s.rank = e.out.n;
  for (int d = 0; d < e.out.n; d++) s.dim[d] = z.of[e.out.label[d]];
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  if (nothing_to_add(k)) return weft__strided_zero(k, out);
  if (weft__is_16bit(type) && !einsum_gpu(k)) return wide_compute(k, &e, &z, out);
  const void *data[2] = {k->in[0]->data, k->n_in > 1 ? k->in[1]->data : NULL};
  return einsum_compute(k, type, &e, &z, &s, data, out->data);
}

/* ---- gradient: an Einsum in which the result's gradient replaces an operand ---- */

static void write_labels(text *t, const labels *l) {
  for (int d = 0; d <= l->n; d++) {
    if (d == l->dots) weft__text_puts(t, "...");
    const char label = d < l->n ? (char)l->label[d] : 0;
    if (d < l->n) weft__text_add(t, &label, 1);
  }
}

static weft_out einsum_node(weft_graph *g, int n, const weft_out *in, const labels *const *of, const labels *to) {
  text t = {0};
  for (int i = 0; i < n; i++) {
    if (i) weft__text_puts(&t, ",");
    write_labels(&t, of[i]);
  }
  weft__text_puts(&t, "->");
  write_labels(&t, to);
  const weft_out made = weft__b_node(g, "Einsum", NULL, n, in, 1, (attr[]){A_STR("equation", weft__text_get(&t))});
  if (t.failed) weft__status_update(&g->sticky, WEFT_OOM);
  weft__text_finish(&t);
  return made;
}

/* Returns the size of dimension d of x as an int32 [1]. */
static weft_out einsum_size_of(weft_graph *g, weft_out x, const labels *l, int d) {
  const shape *s = weft__out_shape(g, x);
  const int64_t from_right = l->n - d, one = 1;
  const bool behind = l->dots >= 0 && d >= l->dots;
  if (s->rank >= 0) {
    const int64_t at = behind ? s->rank - from_right : d, known = s->dim[at];
    if (known >= 0) return weft__b_ints(g, &known, 1);
  }
  weft_out at = weft__b_scalar(g, WEFT_INT32, behind ? -(double)from_right : (double)d);
  if (behind) at = weft__b_add(g, weft__b_rank(g, x), at);
  const weft_out dims = weft__b_shape(g, x), found = weft__b_gather(g, dims, at, weft__b_scalar(g, WEFT_INT32, 0));
  return weft__b_reshape(g, found, weft__b_ints(g, &one, 1));
}

/* Returns ones for the labels that only operand i has, because its gradient does not depend on them; WEFT_NONE if
 * there are none. */
static weft_out ones_of(backprop *b, const equation *e, int i, labels *own) {
  weft_graph *g = b->graph;
  weft_out dims[WEFT_MAX_RANK];
  *own = (labels){.dots = -1};
  for (int d = 0; d < e->in[i].n; d++) {
    const int l = e->in[i].label[d];
    if (has_label(&e->out, l) || (e->n_in > 1 && has_label(&e->in[1 - i], l)) || has_label(own, l)) continue;
    dims[own->n] = einsum_size_of(g, b->in[i], &e->in[i], d);
    own->label[own->n++] = l;
  }
  if (!own->n) return WEFT_NONE;
  const weft_out all = own->n == 1 ? dims[0] : weft__b_concat(g, own->n, dims, weft__b_scalar(g, WEFT_INT32, 0));
  return weft__b_fill(g, all, weft__b_scalar_like(g, b->in[i], 1));
}

/* Sums dx, whose "..." dimensions come first, over those along which operand i was broadcast, and permutes it to the
 * order of operand i. */
static weft_out einsum_unbroadcast(backprop *b, const labels *l, const labels *front, weft_out dx, int i) {
  weft_graph *g = b->graph;
  const bool moved = l->dots > 0;
  const weft_out like = moved ? einsum_node(g, 1, &b->in[i], &l, front) : b->in[i];
  weft__b_unbroadcast(g, like, dx, &dx, NULL);
  return moved ? einsum_node(g, 1, &dx, &front, l) : dx;
}

static weft_out einsum_towards(backprop *b, const equation *e, int i) {
  weft_graph *g = b->graph;
  labels own, front = e->in[i], together = e->out;
  weft_out in[2] = {b->dout[0], ones_of(b, e, i, &own)};
  const labels *of[2] = {&e->out, &own};
  if (e->out.dots >= 0) front.dots = 0;
  if (own.n && e->n_in > 1) { /* first the gradient for these labels, then the product */
    for (int d = 0; d < own.n && together.n < WEFT_MAX_RANK; d++) together.label[together.n++] = own.label[d];
    in[0] = einsum_node(g, 2, in, of, &together);
    of[0] = &together;
  }
  if (e->n_in > 1) {
    in[1] = weft__b_conj(g, b->in[1 - i]);
    of[1] = &e->in[1 - i];
  }
  const weft_out dx = einsum_node(g, e->n_in > 1 || own.n ? 2 : 1, in, of, &front);
  return e->out.dots >= 0 ? einsum_unbroadcast(b, &e->in[i], &front, dx, i) : dx;
}

static weft_err einsum_grad(backprop *b) {
  equation e;
  WEFT_TRY(read_equation(&e, b->node));
  for (int i = 0; i < e.n_in && i < b->n_in; i++) b->din[i] = GRAD_DENSE(einsum_towards(b, &e, i));
  return WEFT_OK;
}

static const op_case einsum_cases[] = {
    {"f32[2,3] seq; f32[3,2] 1", "f32[2,2] 3 3 12 12", "equation='ij,jk->ik' N=2", 0},
    {"f32[2,3] rand", NULL, "equation='ij->ji' N=1", 0},
    {"f32[3,3] rand", NULL, "equation='ii->i' N=1", 0},
    {"f32[3,3] rand", NULL, "equation='ii->' N=1", 0},
    {"f32[3] rand", NULL, "equation='i->ii' N=1", 0},
    {"f32[2,3] rand", NULL, "equation='ij->' N=1", 0},
    {"f32[2,2,3] rand", NULL, "equation='aab->ba' N=1", 0},
    {"f32[2,3,4] rand", NULL, "equation='i...->...i' N=1", 0},
    {"f32[2,3,4] rand", NULL, "equation='...j->...' N=1", 0},
    {"f32[5,2,3] rand; f32[3,4] rand", NULL, "equation='...ij,...jk->...ik' N=2", 0},
    {"f32[2,5,3] rand; f32[3,1,4] rand", NULL, "equation='i...j,j...k->ik...' N=2", 0},
    {"f32[5,2,3] rand; f32[5,3,4] rand", NULL, "equation='bij,bjk->bik' N=2", 0},
    {"f32[2] rand; f32[3] rand", NULL, "equation='i,j->ij' N=2", 0},
    {"f32[5,3,2] rand; f32[5,3,4] rand", NULL, "equation='bji,bjk->bik' N=2", 0},
    {"f32[5,2,3] rand; f32[5,4,3] rand", NULL, "equation='bij,bkj->bik' N=2", 0},
    {"f32[2,1,2] 1 2 3 4; f32[2,1,3] 1 0 2 0 1 1", "f32[2,3] 1 3 5 2 4 8", "equation='abc,abd->cd' N=2", 0},
    {"f32[2,3,4] rand; f32[2,3,5] rand", NULL, "equation='abc,abd->cd' N=2", 0},
    {"f32[2,2] 1 2 3 4; f32[1,2] 1 10", "f32[1,2] 31 42", "equation='ji,kj->ki' N=2", 0},
    {"f32[7] rand; f32[7] rand", NULL, "equation='i,i->i' N=2", 0},
    {"f32[7] rand; f32[7] rand", NULL, "equation='i,i->' N=2", 0},
    {"f32[2,3] rand; f32[4] rand", NULL, "equation='ab,c->a' N=2", 0},
    {"f32[2,3,4] rand; f32[2,5,4] rand", NULL, "equation='abc,adc->dba' N=2", 0},
    {"f32[2,3,4,5] rand; f32[2,3,4,6] rand", NULL, "equation='abcd,aecf->acbe' N=2", 0},
    {"f32[2,2,3] rand; f32[3,4] rand", NULL, "equation='aab,bc->ac' N=2", 0},
    {"f32[4,2,3] rand; f32[2,3] rand", NULL, "equation='...i,...i->...' N=2", 0},
    {"f32[] 2; f32[] 3", "f32[] 6", "equation=',->' N=2", 0},
    {"f32[0,3] 0; f32[3,4] rand", NULL, "equation='ij,jk->ik' N=2", CASE_NO_GRAD},
    {"f32[2,0] 0; f32[0,4] 0", "f32[2,4] 0", "equation='ij,jk->ik' N=2", CASE_NO_GRAD},
    {"i32[2,3] rand; i32[3,4] rand", NULL, "equation='ij,jk->ki' N=2", CASE_NO_GRAD},
    {"c64[2,3] rand; c64[3,4] rand", NULL, "equation='ij,jk->ki' N=2", CASE_FIXED_TYPE},
    {"f32[2,3] rand; f32[4,4] rand", "error INVALID_ARGUMENT", "equation='ij,jk->ik' N=2", 0},
    {"f32[2,3] rand", "error INVALID_ARGUMENT", "equation='ijk->ij' N=1", 0},
    {"f32[2,3] rand", "error INVALID_ARGUMENT", "equation='ij->ik' N=1", 0},
    {"f32[2,3] rand", "error INVALID_ARGUMENT", "equation='ij' N=1", 0},
    {0},
};

OPS(einsum) = {
    {"Einsum(inputs:N*T) -> (output:T) | equation:string N:int>=1 T:type", "Sums of products, told by labels.",
     .infer = einsum_infer, .cpu = einsum_cpu, .grad = einsum_grad, .cases = einsum_cases, .amp = AMP_ALLOW},
    {0},
};
