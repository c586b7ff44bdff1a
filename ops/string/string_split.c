/* string_split.c - splits strings: StringSplit, StringSplitV2.
 *
 * The result is a sparse matrix: each piece has the row of its string and its number in the string. */
#include "base/alloc.h"
#include "base/array.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/work/long_work.h"
#include <string.h>

static weft_err string_split_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = SHAPE2(-1, 2);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(2);
  return WEFT_OK;
}

/* ---- pieces: views of the input, found first so that the outputs are allocated once ---- */

typedef struct piece {
  const char *data;
  size_t size;
  int64_t row, column;
} piece;

typedef struct pieces {
  piece *at;
  int64_t n, capacity, row, columns, widest;
  bool failed;
  bool skip_empty, ends[256]; /* of StringSplit: whether a byte is a delimiter */
} pieces;

static void add_piece(pieces *p, const char *data, size_t size) {
  if (WEFT_ARRAY_RESERVE(p->at, p->capacity, p->n + 1)) {
    p->failed = true;
    return;
  }
  p->at[p->n++] = (piece){data, size, p->row, p->columns++};
  if (p->columns > p->widest) p->widest = p->columns;
}

static weft_err put_pieces(kernel *k, const pieces *p, int64_t rows) {
  if (p->failed) return WEFT_OOM;
  weft_tensor *index = weft__out(k, 0, &SHAPE2(p->n, 2)), *values = weft__out(k, 1, &SHAPE1(p->n)),
              *dense = weft__out(k, 2, &SHAPE1(2));
  if (!index || !values || !dense) return WEFT_OOM;
  for (int64_t i = 0; i < p->n; i++) {
    WEFT_TRY(weft__long_turn(k, i));
    TENSOR_DATA(index, int64_t)[2 * i] = p->at[i].row;
    TENSOR_DATA(index, int64_t)[2 * i + 1] = p->at[i].column;
    WEFT_TRY(weft__str_set(TENSOR_DATA(values, str) + i, p->at[i].data, p->at[i].size));
  }
  TENSOR_DATA(dense, int64_t)[0] = rows;
  TENSOR_DATA(dense, int64_t)[1] = p->widest;
  return WEFT_OK;
}

/* ---- StringSplit: splits at every character of the delimiter; an empty delimiter splits into bytes ---- */

static void cut_at_any(kernel *k, pieces *p, const str *s) {
  if (TENSOR_DATA(k->in[1], str)->size == 0) {
    for (size_t i = 0; i < s->size; i++) add_piece(p, s->data + i, 1);
    return;
  }
  for (size_t from = 0, i = 0; s->size && i <= s->size; i++) {
    if (i < s->size && !p->ends[(unsigned char)s->data[i]]) continue;
    if (i > from || !p->skip_empty) add_piece(p, s->data + from, i - from);
    from = i + 1;
  }
}

/* ---- StringSplitV2: splits at the whole separator, or at runs of white space, at most `most` times ---- */

static bool string_split_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void cut_at_space(pieces *p, const str *s, int64_t most) {
  size_t i = 0;
  for (int64_t cuts = 0;; cuts++) {
    while (i < s->size && string_split_is_space(s->data[i])) i++;
    if (i == s->size) { /* after the last split TensorFlow adds the rest, even if it is empty */
      if (most > 0 && cuts == most) add_piece(p, s->data, 0);
      return;
    }
    size_t from = i;
    if (most >= 0 && cuts == most) i = s->size;
    while (i < s->size && !string_split_is_space(s->data[i])) i++;
    add_piece(p, s->data + from, i - from);
  }
}

static void cut_at(pieces *p, const str *s, const str *sep, int64_t most) {
  const char *from = s->size ? s->data : "", *end = from + s->size, *hit;
  for (int64_t cuts = 0; most < 0 || cuts < most; cuts++) {
    hit = memmem(from, (size_t)(end - from), sep->data, sep->size);
    if (!hit) break;
    add_piece(p, from, (size_t)(hit - from));
    from = hit + sep->size;
  }
  add_piece(p, from, (size_t)(end - from));
}

/* ---- kernels ---- */

static weft_err check_inputs(kernel *k, const char *name) {
  if (k->in[0]->shape.rank != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must be a vector, got shape: %s",
                             weft__shape_text(&k->in[0]->shape));
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, got shape: %s", name,
                             weft__shape_text(&k->in[1]->shape));
  return WEFT_OK;
}

static weft_err split_by(kernel *k, pieces *p, void (*cut)(kernel *, pieces *, const str *)) {
  int64_t rows = k->in[0]->shape.dim[0];
  for (p->row = 0; p->row < rows && !p->failed; p->row++) {
    p->columns = 0;
    cut(k, p, TENSOR_DATA(k->in[0], str) + p->row);
  }
  weft_err err = put_pieces(k, p, rows);
  weft__free(p->at);
  return err;
}

static void cut_v2(kernel *k, pieces *p, const str *s) {
  const str *sep = TENSOR_DATA(k->in[1], str);
  int64_t most = weft__node_int(k->node, "maxsplit", -1);
  if (most == 0)
    add_piece(p, s->size ? s->data : "", s->size);
  else if (sep->size == 0)
    cut_at_space(p, s, most);
  else
    cut_at(p, s, sep, most);
}

static weft_err string_split_cpu(kernel *k) {
  WEFT_TRY(check_inputs(k, "delimiter"));
  const str *delimiter = k->in[1]->data;
  pieces p = {.skip_empty = weft__node_bool(k->node, "skip_empty", true)};
  for (size_t i = 0; i < delimiter->size; i++) p.ends[(unsigned char)delimiter->data[i]] = true;
  return split_by(k, &p, cut_at_any);
}

static weft_err split_v2_cpu(kernel *k) {
  WEFT_TRY(check_inputs(k, "sep"));
  pieces p = {.at = NULL};
  return split_by(k, &p, cut_v2);
}

/* ---- cases ---- */

static const op_case split_cases[] = {
    {"str[3] \"a b c\" \"  d  e \" \"\"; str[] \" \"",
     "i64[5,2] 0 0 0 1 0 2 1 0 1 1; str[5] \"a\" \"b\" \"c\" \"d\" \"e\"; i64[2] 3 3", NULL, 0},
    {"str[3] \"a b c\" \"  d  e \" \"\"; str[] \" \"", NULL, "skip_empty=false", 0},
    {"str[2] \"a,b.c\" \"ab\"; str[] \",.\"", NULL, NULL, 0},
    {"str[2] \"abc\" \"\"; str[] \"\"", NULL, NULL, 0},
    {"str[0] \"\"; str[] \" \"", NULL, NULL, 0},
    {"str[] \"a\"; str[] \" \"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"a\"; str[1] \" \"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case split_v2_cases[] = {
    {"str[3] \" a  b c \" \"d\" \"\"; str[] \"\"", NULL, NULL, 0},
    {"str[3] \"a--b--c\" \"d\" \"\"; str[] \"--\"",
     "i64[5,2] 0 0 0 1 0 2 1 0 2 0; str[5] \"a\" \"b\" \"c\" \"d\" \"\"; i64[2] 3 3", NULL, 0},
    {"str[2] \"a--b--c\" \"d\"; str[] \"--\"", NULL, "maxsplit=1", 0},
    {"str[1] \" a  b  c \"; str[] \"\"", NULL, "maxsplit=1", 0},
    {"str[2] \" a  b c\" \"\"; str[] \"\"", NULL, "maxsplit=0", 0},
    {"str[3] \"a b\" \"a\" \" a b \"; str[] \"\"", NULL, "maxsplit=2", 0},
    {"str[] \"a\"; str[] \" \"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(string_split) = {
    {"StringSplit(input:string, delimiter:string) -> (indices:int64, values:string, shape:int64) | "
     "skip_empty:bool=true",
     "Strings cut at any character of the delimiter.", .infer = string_split_infer, .cpu = string_split_cpu,
     .no_grad = true, .cases = split_cases},
    {"StringSplitV2(input:string, sep:string) -> (indices:int64, values:string, shape:int64) | maxsplit:int=-1",
     "Strings cut at the separator, or at white space.", .infer = string_split_infer, .cpu = split_v2_cpu,
     .cases = split_v2_cases},
    {0},
};
