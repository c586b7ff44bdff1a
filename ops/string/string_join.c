/* string_join.c - concatenates strings: StringJoin, ReduceJoin. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"

/* ---- StringJoin ---- */

/* Scalars broadcast to any shape; the other inputs must have equal shapes. */
static weft_err string_join_infer(infer *s) {
  shape out = SHAPE_SCALAR;
  bool unknown = false;
  for (int i = 0; i < s->n_in; i++) {
    shape before = out;
    if (s->in[i].rank < 0) unknown = true;
    if (s->in[i].rank <= 0) continue;
    if (out.rank == 0)
      out = s->in[i];
    else if (weft__shape_merge(&out, &before, &s->in[i]) != WEFT_OK)
      return weft__infer_fail(s, "%s", weft__error_message());
  }
  s->out[0] = unknown && out.rank == 0 ? SHAPE_UNKNOWN : out;
  return WEFT_OK;
}

static weft_err join_shape(kernel *k, shape *out) {
  *out = SHAPE_SCALAR;
  for (int i = 0; i < k->n_in; i++) {
    const shape *s = &k->in[i]->shape;
    if (s->rank == 0) continue;
    if (out->rank == 0)
      *out = *s;
    else if (!weft__shape_equal(out, s))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Input shapes do not match: %s vs. %s", weft__shape_text(out),
                               weft__shape_text(s));
  }
  return WEFT_OK;
}

static void add_str(text *t, const str *s) {
  if (s->size) weft__text_add(t, s->data, s->size);
}

static weft_err take_text(str *to, text *t) {
  weft_err err = t->failed ? WEFT_OOM : weft__str_set(to, weft__text_get(t), t->size);
  t->size = 0;
  return err;
}

static weft_err string_join_cpu(kernel *k) {
  attr_str sep = weft__node_str(k->node, "separator");
  shape out;
  WEFT_TRY(join_shape(k, &out));
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t e = 0; e < weft__tensor_count(y) && err == WEFT_OK; e++) {
    if ((err = weft__long_turn(k, e))) break;
    for (int i = 0; i < k->n_in; i++) {
      if (i > 0) weft__text_add(&t, sep.data, sep.size);
      add_str(&t, TENSOR_DATA(k->in[i], str) + (k->in[i]->shape.rank ? e : 0));
    }
    err = take_text(TENSOR_DATA(y, str) + e, &t);
  }
  weft__text_finish(&t);
  return err;
}

/* ---- ReduceJoin: joins the given axes, the first of them varying fastest ---- */

static weft_err string_join_reduce_infer(infer *s) {
  const shape *x = &s->in[0];
  const weft_tensor *axes = weft__infer_value(s, 1);
  bool gone[WEFT_MAX_RANK] = {false}, keep = weft__node_bool(s->node, "keep_dims", false);
  if (x->rank < 0) return WEFT_OK;
  if (!axes) {
    if (!keep) return WEFT_OK;
    s->out[0].rank = x->rank;
    for (int d = 0; d < x->rank; d++) s->out[0].dim[d] = -1;
    return WEFT_OK;
  }
  for (int64_t i = 0; i < weft__tensor_count(axes); i++) {
    int64_t a = weft__tensor_int(axes, i);
    if (a < -x->rank || a >= x->rank)
      return weft__infer_fail(s, "Invalid reduction dimension %lld for input with %d dimensions.", (long long)a,
                              x->rank);
    gone[a < 0 ? a + x->rank : a] = true;
  }
  s->out[0].rank = 0;
  for (int d = 0; d < x->rank; d++)
    if (!gone[d] || keep) s->out[0].dim[s->out[0].rank++] = gone[d] ? 1 : x->dim[d];
  return WEFT_OK;
}

typedef struct reduction {
  int n_gone, n_kept;
  int gone[WEFT_MAX_RANK], kept[WEFT_MAX_RANK]; /* axes, the last varying fastest */
} reduction;

static weft_err read_reduction(kernel *k, reduction *r) {
  const shape *x = &k->in[0]->shape;
  bool seen[WEFT_MAX_RANK] = {false};
  *r = (reduction){.n_gone = 0};
  if (k->in[1]->shape.rank > 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "reduction_indices must be a scalar or a vector, not %s",
                             weft__shape_text(&k->in[1]->shape));
  for (int64_t i = weft__tensor_count(k->in[1]) - 1; i >= 0; i--) {
    int64_t a = weft__tensor_int(k->in[1], i);
    if (a < -x->rank || a >= x->rank)
      return weft__kernel_fail(k, WEFT_OUT_OF_RANGE, "Invalid reduction dimension %lld for input with %d dimension(s)",
                               (long long)a, x->rank);
    int d = weft__int_sat(a < 0 ? a + x->rank : a);
    if (seen[d]) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Duplicate reduction dimension %d", d);
    seen[d] = true;
    r->gone[r->n_gone++] = d;
  }
  for (int d = 0; d < x->rank; d++)
    if (!seen[d]) r->kept[r->n_kept++] = d;
  return WEFT_OK;
}

/* Returns the offset of item i of the elements along the given axes, the last varying fastest. */
static int64_t offset_of(const shape *x, const int *axes, int n, int64_t i) {
  int64_t offset = 0;
  for (int j = n - 1; j >= 0; j--) {
    offset += i % x->dim[axes[j]] * weft__shape_product(x, axes[j] + 1, x->rank);
    i /= x->dim[axes[j]];
  }
  return offset;
}

static int64_t items_of(const shape *x, const int *axes, int n) {
  int64_t items = 1;
  for (int j = 0; j < n; j++) items *= x->dim[axes[j]];
  return items;
}

static weft_err string_join_reduce_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  attr_str sep = weft__node_str(k->node, "separator");
  reduction r;
  WEFT_TRY(read_reduction(k, &r));
  shape out = {.rank = r.n_kept};
  for (int d = 0; d < r.n_kept; d++) out.dim[d] = x->shape.dim[r.kept[d]];
  if (weft__node_bool(k->node, "keep_dims", false)) {
    out = x->shape;
    for (int d = 0; d < r.n_gone; d++) out.dim[r.gone[d]] = 1;
  }
  weft_tensor *y = weft__out(k, 0, &out);
  if (!y) return WEFT_OOM;
  int64_t n = items_of(&x->shape, r.gone, r.n_gone);
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t e = 0; e < weft__tensor_count(y) && err == WEFT_OK; e++) {
    if ((err = weft__long_turn(k, e))) break;
    const str *from = TENSOR_DATA(x, str) + offset_of(&x->shape, r.kept, r.n_kept, e);
    for (int64_t i = 0; i < n; i++) {
      if (i > 0) weft__text_add(&t, sep.data, sep.size);
      add_str(&t, from + offset_of(&x->shape, r.gone, r.n_gone, i));
    }
    err = take_text(TENSOR_DATA(y, str) + e, &t);
  }
  weft__text_finish(&t);
  return err;
}

/* ---- cases ---- */

static const op_case join_cases[] = {
    {"str[2] \"a\" \"b\"; str[] \"-\"; str[2] \"c\" \"d\"", "str[2] \"a-c\" \"b-d\"", NULL, 0},
    {"str[] \"c\"; str[] \"d\"", "str[] \"c+d\"", "separator='+'", 0},
    {"str[1,2] \"\" \"b\"", "str[1,2] \"\" \"b\"", NULL, 0},
    {"str[0] \"\"; str[] \"x\"", "str[0] \"\"", NULL, 0},
    {"str[2] \"a\"; str[3] \"b\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case reduce_cases[] = {
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[] 0", "str[2] \"ac\" \"bd\"", NULL, 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[2] 1 0", "str[] \"a-b-c-d\"", "separator='-'", 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[2] 0 1", NULL, "separator='-' keep_dims=true", 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[1] -1", "str[2,1] \"ab\" \"cd\"", "keep_dims=true", 0},
    {"str[2] \"a\" \"b\"; i32[0] 0", "str[2] \"a\" \"b\"", NULL, 0},
    {"str[0,2] \"\"; i32[1] 0", "str[2] \"\"", NULL, 0},
    {"str[2,2] \"a\"; i32[2] 0 0", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(string_join) = {
    {"StringJoin(inputs:N*string) -> (output:string) | N:int>=0 separator:string=''",
     "Strings joined element by element.", .infer = string_join_infer, .cpu = string_join_cpu, .no_grad = true,
     .cases = join_cases},
    {"ReduceJoin(inputs:string, reduction_indices:int32) -> (output:string) | keep_dims:bool=false separator:string=''",
     "Strings joined along axes.", .infer = string_join_reduce_infer, .cpu = string_join_reduce_cpu, .no_grad = true,
     .cases = reduce_cases},
    {0},
};
