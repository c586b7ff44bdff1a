/* string_format.c - StringFormat: inserts tensors into a template, in the format of numpy. */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/array/strided_copy.h"
#include <string.h>

static int count_places(attr_str text_of, attr_str mark) {
  int n = 0;
  if (mark.size == 0) return 0;
  for (const char *at = text_of.data; (at = strstr(at, mark.data)); at += mark.size) n++;
  return n;
}

static weft_err format_infer(infer *s) {
  int places = count_places(weft__node_str(s->node, "template"), weft__node_str(s->node, "placeholder"));
  if (places != s->n_in)
    return weft__infer_fail(s, "num placeholders in template and num inputs must match: %d vs. %d", places, s->n_in);
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* Writes one element in the format of Assert and Print, with strings in quotes. */
static void string_format_put_element(text *out, const weft_tensor *x, int64_t i) {
  weft_tensor one = {
      .dtype = x->dtype, .shape = SHAPE_SCALAR, .buf = x->buf, .data = weft__element(x->dtype, x->data, i)};
  text t = {0};
  weft__tensor_print(&t, &one, 1);
  const char *quote = x->dtype == WEFT_STRING ? "\"" : "";
  weft__text_puts(out, quote);
  if (t.size > 2) weft__text_add(out, weft__text_get(&t) + 1, t.size - 2); /* without the brackets */
  weft__text_puts(out, quote);
  out->failed |= t.failed;
  weft__text_finish(&t);
}

/* Writes the separator between two parts of axis d: a space in a row, otherwise newlines and the indentation of the
 * axis. */
static void put_gap(text *out, int rank, int d) {
  if (d == rank - 1) {
    weft__text_puts(out, " ");
    return;
  }
  for (int i = d; i < rank - 1; i++) weft__text_puts(out, "\n");
  for (int i = 0; i <= d; i++) weft__text_puts(out, " ");
}

/* Writes axis d and the axes inside it, from element `first` on.  Long axes show only `ends` parts at either end. */
static void put_axis(text *out, const weft_tensor *x, int d, int64_t first, int64_t ends) {
  const shape *s = &x->shape;
  int64_t n = s->dim[d], inner = weft__shape_product(s, d + 1, s->rank);
  bool short_form = ends >= 0 && n - ends > ends;
  weft__text_puts(out, "[");
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) put_gap(out, s->rank, d);
    if (short_form && i == ends) {
      weft__text_puts(out, "...");
      i = n - ends - 1;
    } else if (d == s->rank - 1) {
      string_format_put_element(out, x, first + i);
    } else {
      put_axis(out, x, d + 1, first + i * inner, ends);
    }
  }
  weft__text_puts(out, "]");
}

static void string_format_put_tensor(text *out, const weft_tensor *x, int64_t ends) {
  if (x->shape.rank == 0)
    string_format_put_element(out, x, 0);
  else
    put_axis(out, x, 0, 0, ends);
}

static weft_err format_cpu(kernel *k) {
  attr_str template = weft__node_str(k->node, "template"), mark = weft__node_str(k->node, "placeholder");
  int64_t ends = weft__node_int(k->node, "summarize", 3);
  const char *at = template.data, *hit;
  text t = {0};
  for (int i = 0; i < k->n_in && (hit = strstr(at, mark.data)); i++) {
    weft__text_add(&t, at, (size_t)(hit - at));
    string_format_put_tensor(&t, k->in[i], ends);
    at = hit + mark.size;
  }
  weft__text_puts(&t, at);
  weft_tensor *y = weft__out(k, 0, &SHAPE_SCALAR);
  weft_err err = y && !t.failed ? weft__str_set(y->data, weft__text_get(&t), t.size) : WEFT_OOM;
  weft__text_finish(&t);
  return err;
}

static const op_case format_cases[] = {
    {"i32[8] seq", "str[] \"x [0 1 2 ... 5 6 7]\"", "template='x %s'", CASE_NO_GRAD},
    {"i32[8] seq; str[2] \"a\" \"b\"", NULL, "template='x %s, y %s'", CASE_NO_GRAD},
    {"f32[2,2,2] seq", NULL, "template='{}' placeholder='{}'", CASE_NO_GRAD},
    {"i64[7,1] seq", NULL, "template='{}!' placeholder='{}' summarize=2", CASE_NO_GRAD},
    {"f64[3] 0.1 1e10 -2.5; bool[] true", NULL, "template='{}{}' placeholder='{}' summarize=-1", CASE_NO_GRAD},
    {"f32[0] 0; f32[] 1.5", NULL, "template='%s %s'", CASE_NO_GRAD},
    {"f32[] 1", "error INVALID_ARGUMENT", "template='none'", CASE_NO_GRAD},
    {0},
};

OPS(string_format) = {
    {"StringFormat(inputs:@T) -> (output:string) | T:list(type)>=0 template:string='%s' placeholder:string='%s' "
     "summarize:int=3",
     "A template with tensors written into it.", .infer = format_infer, .cpu = format_cpu, .cases = format_cases},
    {0},
};
