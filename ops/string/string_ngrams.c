/* string_ngrams.c - joins neighboring words: StringNGrams, UnsortedSegmentJoin. */
#include "base/alloc.h"
#include "base/text.h"
#include "kernels/array/index.h"
#include "kernels/ragged/ragged.h"
#include "kernels/work/long_work.h"
#include <string.h>

/* ---- StringNGrams: for each row, the words of every window of a width, with padding around the row ---- */

typedef struct ngrams {
  const attr *widths;
  attr_str separator, left, right;
  int64_t pad; /* negative: the width of the window less one */
  bool keep_short;
} ngrams;

static int64_t pad_of(const ngrams *g, int64_t width) { return g->pad < 0 || g->pad > width - 1 ? width - 1 : g->pad; }

static int64_t string_ngrams_windows(const ngrams *g, int64_t words, int64_t width) {
  const int64_t n = words + 2 * pad_of(g, width) - width + 1;
  return n > 0 ? n : 0;
}

/* With keep_short, a row that is shorter than every window is one window. */
static int64_t row_windows(const ngrams *g, int64_t words) {
  int64_t n = 0;
  for (int i = 0; g->widths && i < g->widths->n; i++) n += string_ngrams_windows(g, words, g->widths->is[i]);
  return n || !g->keep_short || !words ? n : 1;
}

/* Writes one window: `width` words from `from` on, where -pad is the first padding word.  Words outside the row are
 * padding. */
static weft_err put_window(const ngrams *g, const str *row, int64_t words, int64_t from, int64_t width, str *to) {
  text t = {0};
  for (int64_t i = from; i < from + width; i++) {
    if (i > from) weft__text_add(&t, g->separator.data, g->separator.size);
    if (i < 0)
      weft__text_add(&t, g->left.data, g->left.size);
    else if (i >= words)
      weft__text_add(&t, g->right.data, g->right.size);
    else
      weft__text_add(&t, row[i].size ? row[i].data : "", row[i].size);
  }
  const weft_err err = t.failed ? WEFT_OOM : weft__str_set(to, t.data, t.size);
  weft__text_finish(&t);
  return err;
}

static weft_err put_row(const ngrams *g, const str *row, int64_t words, str *to) {
  int64_t made = 0;
  for (int i = 0; g->widths && i < g->widths->n; i++) {
    const int64_t width = g->widths->is[i], n = string_ngrams_windows(g, words, width), pad = pad_of(g, width);
    for (int64_t j = 0; j < n; j++) WEFT_TRY(put_window(g, row, words, j - pad, width, &to[made++]));
  }
  if (made || !g->keep_short || !words) return WEFT_OK;
  const int64_t pad = g->pad < 0 ? 0 : g->pad;
  return put_window(g, row, words, -pad, words + 2 * pad, to);
}

static weft_err read_ngrams(kernel *k, ngrams *g) {
  *g = (ngrams){.widths = weft__node_attr(k->node, "ngram_widths")};
  g->separator = weft__node_str(k->node, "separator");
  g->left = weft__node_str(k->node, "left_pad");
  g->right = weft__node_str(k->node, "right_pad");
  g->pad = weft__node_int(k->node, "pad_width", 0);
  g->keep_short = weft__node_bool(k->node, "preserve_short_sequences", false);
  for (int i = 0; g->widths && i < g->widths->n; i++)
    if (g->widths->is[i] <= 0 || g->widths->is[i] > (1 << 20))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "ngram_widths must contain positive values up to 2^20, not %lld",
                               (long long)g->widths->is[i]);
  if (g->pad > (1 << 20))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "pad_width %lld is too large", (long long)g->pad);
  return WEFT_OK;
}

static weft_err ngrams_cpu(kernel *k) {
  ngrams g;
  const weft_tensor *data = k->in[0], *rows = k->in[1];
  WEFT_TRY(read_ngrams(k, &g));
  WEFT_TRY(weft__kernel_vector(k, 0, "data"));
  if (rows->shape.rank == 1 && rows->shape.dim[0] == 0 && data->shape.dim[0] == 0) {
    weft_tensor *none = weft__out(k, 0, &SHAPE1(0)), *no_rows = weft__out(k, 1, &SHAPE1(0));
    return none && no_rows ? WEFT_OK : WEFT_OOM;
  }
  WEFT_TRY(weft__ragged_check_splits(k, rows, data->shape.dim[0]));
  const int64_t n = rows->shape.dim[0] - 1;
  weft_tensor *splits = weft__out(k, 1, &rows->shape);
  if (!splits) return WEFT_OOM;
  int64_t total = 0;
  weft__index_put(splits, 0, 0);
  for (int64_t r = 0; r < n; r++) {
    total += row_windows(&g, weft__index_at(rows, r + 1) - weft__index_at(rows, r));
    weft__index_put(splits, r + 1, total);
  }
  if (splits->dtype == WEFT_INT32 && total > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%lld n-grams do not fit int32 row splits", (long long)total);
  weft_tensor *out = weft__out(k, 0, &SHAPE1(total));
  if (!out) return weft__out_refused(&SHAPE1(total));
  for (int64_t r = 0; r < n; r++) {
    WEFT_TRY(weft__long_turn(k, r));
    const int64_t from = weft__index_at(rows, r), words = weft__index_at(rows, r + 1) - from;
    WEFT_TRY(put_row(&g, TENSOR_DATA(data, str) + from, words, TENSOR_DATA(out, str) + weft__index_at(splits, r)));
  }
  return WEFT_OK;
}

static weft_err ngrams_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &s->out[1]));
  s->out[0] = SHAPE1(-1);
  return WEFT_OK;
}

/* ---- UnsortedSegmentJoin ---- */

static weft_err string_ngrams_join_infer(infer *s) {
  const weft_tensor *n = weft__infer_value(s, 2);
  const shape *in = &s->in[0], *ids = &s->in[1];
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  if (in->rank < 0 || ids->rank < 0) return WEFT_OK;
  if (ids->rank > in->rank) return weft__infer_fail(s, "segment_ids have rank %d, more than inputs", ids->rank);
  s->out[0].rank = in->rank - ids->rank + 1;
  if (s->out[0].rank > WEFT_MAX_RANK) return weft__infer_fail(s, "the result has too many dimensions");
  s->out[0].dim[0] = n && weft__tensor_int(n, 0) >= 0 ? weft__tensor_int(n, 0) : -1;
  for (int i = ids->rank; i < in->rank; i++) s->out[0].dim[i - ids->rank + 1] = in->dim[i];
  return WEFT_OK;
}

static weft_err join_shape(const kernel *k, shape *out) {
  const shape *in = &k->in[0]->shape, *ids = &k->in[1]->shape;
  WEFT_TRY(weft__kernel_scalar(k, 2, "num_segments"));
  const int64_t n = weft__tensor_int(k->in[2], 0);
  bool prefix = ids->rank <= in->rank && ids->rank > 0 && in->rank - ids->rank < WEFT_MAX_RANK;
  for (int i = 0; prefix && i < ids->rank; i++) prefix = ids->dim[i] == in->dim[i];
  if (!prefix)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "segment_ids of shape %s is not a prefix of the shape %s of inputs", weft__shape_text(ids),
                             weft__shape_text(in));
  if (n < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_segments %lld must not be negative", (long long)n);
  for (int64_t i = 0; i < weft__tensor_count(k->in[1]); i++) {
    const int64_t id = weft__index_at(k->in[1], i);
    if (id < 0 || id >= n)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "segment_ids are not allowed to exceed num_segments or to have negative values: %lld of %lld", (long long)id,
          (long long)n);
  }
  *out = SHAPE1(n);
  for (int i = ids->rank; i < in->rank; i++) out->dim[out->rank++] = in->dim[i];
  return WEFT_OK;
}

static weft_err string_ngrams_join_cpu(kernel *k) {
  shape s;
  WEFT_TRY(join_shape(k, &s));
  const attr_str separator = weft__node_str(k->node, "separator");
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  const int64_t n = weft__tensor_count(out), inner = weft__shape_product(&s, 1, s.rank);
  text *texts = weft__alloc_zero((size_t)n + 1, sizeof *texts);
  bool *begun = weft__alloc_zero((size_t)n + 1, sizeof *begun);
  weft_err err = texts && begun ? WEFT_OK : WEFT_OOM;
  for (int64_t i = 0; !err && i < weft__tensor_count(k->in[0]); i++) {
    const int64_t to = weft__index_at(k->in[1], i / inner) * inner + i % inner;
    const str *from = TENSOR_DATA(k->in[0], str) + i;
    if (begun[to]) weft__text_add(&texts[to], separator.data, separator.size);
    begun[to] = true;
    weft__text_add(&texts[to], from->size ? from->data : "", from->size);
  }
  for (int64_t i = 0; texts && i < n; i++) {
    if (!err) err = texts[i].failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(out, str) + i, texts[i].data, texts[i].size);
    weft__text_finish(&texts[i]);
  }
  weft__free(texts);
  weft__free(begun);
  return err;
}

/* ---- cases ---- */

#define WORDS "str[5] \"a\" \"b\" \"c\" \"d\" \"e\"; i64[5] 0 3 3 4 5"
#define TOLD "separator='|' left_pad='L' right_pad='R' "

static const op_case ngrams_cases[] = {
    {WORDS, NULL, TOLD "ngram_widths=[2] pad_width=0 preserve_short_sequences=false", 0},
    {WORDS, NULL, TOLD "ngram_widths=[1,3] pad_width=0 preserve_short_sequences=false", 0},
    {WORDS, NULL, TOLD "ngram_widths=[2] pad_width=-1 preserve_short_sequences=false", 0},
    {WORDS, NULL, TOLD "ngram_widths=[3] pad_width=1 preserve_short_sequences=false", 0},
    {WORDS, NULL, TOLD "ngram_widths=[2] pad_width=5 preserve_short_sequences=false", 0},
    {WORDS, NULL, TOLD "ngram_widths=[2,3] pad_width=0 preserve_short_sequences=true", 0},
    {WORDS, NULL, TOLD "ngram_widths=[6] pad_width=1 preserve_short_sequences=true", 0},
    {WORDS, "error INVALID_ARGUMENT", TOLD "ngram_widths=[0] pad_width=0 preserve_short_sequences=false", 0},
    {"str[1] \"a\"; i64[2] 0 3", "error INVALID_ARGUMENT",
     TOLD "ngram_widths=[2] pad_width=0 preserve_short_sequences=false", 0},
    {0},
};

static const op_case join_cases[] = {
    {"str[4] \"a\" \"b\" \"c\" \"d\"; i32[4] 2 0 2 1; i32[] 4", "str[4] \"b\" \"d\" \"a-c\" \"\"", "separator='-'", 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i64[2] 1 1; i64[] 2", NULL, "separator=','", 0},
    {"str[2,2] \"a\" \"b\" \"c\" \"d\"; i32[2,2] 1 0 0 1; i32[] 2", NULL, NULL, 0},
    {"str[2] \"a\" \"b\"; i32[2] -1 0; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"str[2] \"a\" \"b\"; i32[2] 5 0; i32[] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(string_ngrams) = {
    {"StringNGrams(data:string, data_splits:Tsplits) -> (ngrams:string, ngrams_splits:Tsplits) | separator:string "
     "ngram_widths:list(int)>=0 left_pad:string right_pad:string pad_width:int preserve_short_sequences:bool "
     "Tsplits:type{int32,int64}=int64",
     "Words that stand together in ragged rows.", .infer = ngrams_infer, .cpu = ngrams_cpu, .cases = ngrams_cases},
    {"UnsortedSegmentJoin(inputs:string, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:string) | "
     "separator:string='' Tindices:type{int32,int64} Tnumsegments:type{int32,int64}=int32",
     "Strings of equal segments joined.", .infer = string_ngrams_join_infer, .cpu = string_ngrams_join_cpu,
     .cases = join_cases},
    {0},
};
