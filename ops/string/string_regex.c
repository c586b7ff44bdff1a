/* string_regex.c - matches and replaces by regular expressions; see regex.h. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/regex.h"
#include "kernels/work/long_work.h"

#include <stdio.h>

/* Compiles a pattern attribute once.  As in TensorFlow, an invalid pattern is an error of the run. */
static weft_err static_prepare(const weft_node *node, void **state) {
  attr_str pattern = weft__node_str(node, "pattern");
  regex *r = NULL;
  weft_err err = weft__regex_create(&r, pattern.data, pattern.size);
  *state = r;
  return err == WEFT_OOM ? err : WEFT_OK;
}

static void static_unprepare(void *state) { weft__regex_destroy(state); }

static weft_err string_regex_compiled(kernel *k, const char *pattern, size_t size, regex **out) {
  weft_err err = weft__regex_create(out, pattern, size);
  if (err != WEFT_INVALID_ARGUMENT) return err;
  char why[512];
  snprintf(why, sizeof why, "%s", weft__error_message());
  return weft__kernel_fail(k, err, "%s", why);
}

/* Returns the prepared regex of the attribute, or the error of its compilation. */
static weft_err static_regex(kernel *k, regex **out) {
  *out = k->state;
  attr_str pattern = weft__node_str(k->node, "pattern");
  return *out ? WEFT_OK : string_regex_compiled(k, pattern.data, pattern.size, out);
}

static weft_err scalar_input(kernel *k, int i, const char *name, const str **out) {
  *out = k->in[i]->data;
  if (k->in[i]->shape.rank == 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be scalar, but received %s", name,
                           weft__shape_text(&k->in[i]->shape));
}

/* ---- full matches ---- */

static weft_err match_all(kernel *k, regex *r) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  for (int64_t i = 0; i < weft__tensor_count(x); i++) {
    WEFT_TRY(weft__long_turn(k, i));
    const str *s = TENSOR_DATA(x, str) + i;
    WEFT_TRY(weft__regex_full(r, s->size ? s->data : "", s->size, TENSOR_DATA(y, bool) + i));
  }
  return WEFT_OK;
}

static weft_err static_match_cpu(kernel *k) {
  regex *r;
  WEFT_TRY(static_regex(k, &r));
  return match_all(k, r);
}

static weft_err match_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  return weft__infer_same(s);
}

static weft_err match_cpu(kernel *k) {
  const str *pattern;
  regex *r;
  WEFT_TRY(scalar_input(k, 1, "Pattern", &pattern));
  WEFT_TRY(string_regex_compiled(k, pattern->size ? pattern->data : "", pattern->size, &r));
  weft_err err = match_all(k, r);
  weft__regex_destroy(r);
  return err;
}

/* ---- replacing ---- */

static weft_err replace_in(kernel *k, regex *r, const char *rewrite, size_t size) {
  const weft_tensor *x = k->in[0];
  bool all = weft__node_bool(k->node, "replace_global", true);
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(x) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    const str *s = TENSOR_DATA(x, str) + i;
    t.size = 0;
    err = weft__regex_replace(r, s->size ? s->data : "", s->size, rewrite, size, all, &t);
    if (err == WEFT_OK) err = weft__str_set(TENSOR_DATA(y, str) + i, weft__text_get(&t), t.size);
  }
  weft__text_finish(&t);
  return err;
}

static weft_err static_replace_cpu(kernel *k) {
  attr_str rewrite = weft__node_str(k->node, "rewrite");
  regex *r;
  WEFT_TRY(static_regex(k, &r));
  return replace_in(k, r, rewrite.data, rewrite.size);
}

static weft_err replace_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 0, NULL));
  return weft__infer_same(s);
}

static weft_err replace_cpu(kernel *k) {
  const str *pattern, *rewrite;
  regex *r;
  WEFT_TRY(scalar_input(k, 1, "Pattern", &pattern));
  WEFT_TRY(scalar_input(k, 2, "Rewrite", &rewrite));
  WEFT_TRY(string_regex_compiled(k, pattern->size ? pattern->data : "", pattern->size, &r));
  weft_err err = replace_in(k, r, rewrite->size ? rewrite->data : "", rewrite->size);
  weft__regex_destroy(r);
  return err;
}

/* ---- cases ---- */

static const op_case static_match_cases[] = {
    {"str[3] \"s3://b/k\" \"/tmp/x\" \"\"", "bool[3] true false false", "pattern='^s3://.*'", 0},
    {"str[] \"ab\"", "bool[] true", "pattern='(a|ab)(c|bcd)?b*'", 0},
    {"str[2,1] \"abc\" \"abd\"", NULL, "pattern='[a-c]+'", 0},
    {"str[0] \"\"", "bool[0] false", "pattern='.'", 0},
    {"str[1] \"a\"", "error INVALID_ARGUMENT", "pattern='a('", 0},
    {0},
};

static const op_case match_cases[] = {
    {"str[2] \"abc\" \"xabc\"; str[] \"a.*\"", "bool[2] true false", NULL, 0},
    {"str[1] \"2016-07\"; str[] \"[0-9]{4}-[0-9][0-9]\"", "bool[1] true", NULL, 0},
    {"str[1] \"a\"; str[] \"a**\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"a\"; str[1] \"a\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case static_replace_cases[] = {
    {"str[2] \"abcabc\" \"\"", "str[2] \"a-ca-c\" \"-\"", "pattern='b|^$' rewrite='-'", 0},
    {"str[1] \"abcabc\"", "str[1] \"a-cabc\"", "pattern='b' rewrite='-' replace_global=false", 0},
    {"str[1] \"abc\"", NULL, "pattern='b*' rewrite='-'", 0},
    {"str[1] \"a\"", "error INVALID_ARGUMENT", "pattern='(' rewrite='-'", 0},
    {0},
};

static const op_case replace_cases[] = {
    {"str[1] \"abcabc\"; str[] \"x*\"; str[] \"-\"", "str[1] \"-a-b-c-a-b-c-\"", NULL, 0},
    {"str[1] \"abcabc\"; str[] \"b\"; str[] \"\"", "str[1] \"acabc\"", "replace_global=false", 0},
    {"str[1] \"a\"; str[] \"[a\"; str[] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"a\"; str[] \"a\"; str[1] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(string_regex) = {
    {"StaticRegexFullMatch(input:string) -> (output:bool) | pattern:string", "Does all of each string match?",
     .infer = weft__infer_same, .cpu = static_match_cpu, .prepare = static_prepare, .unprepare = static_unprepare,
     .cases = static_match_cases},
    {"RegexFullMatch(input:string, pattern:string) -> (output:bool)", "Does all of each string match?",
     .infer = match_infer, .cpu = match_cpu, .cases = match_cases},
    {"StaticRegexReplace(input:string) -> (output:string) | pattern:string rewrite:string replace_global:bool=true",
     "Replaces what matches.", .infer = weft__infer_same, .cpu = static_replace_cpu, .prepare = static_prepare,
     .unprepare = static_unprepare, .cases = static_replace_cases},
    {"RegexReplace(input:string, pattern:string, rewrite:string) -> (output:string) | replace_global:bool=true",
     "Replaces what matches.", .infer = replace_infer, .cpu = replace_cpu, .no_grad = true, .cases = replace_cases},
    {0},
};
