/* obtain_next.c - the strings of a list in turn, from a counter that several workers share. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "state/variable.h"

static weft_err next_infer(infer *s) {
  shape list;
  WEFT_TRY(weft__infer_rank(s, 0, 1, &list));
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* Moves the counter to the next place of n and returns it.  The caller holds the lock. */
static weft_err next_locked(kernel *k, variable *v, int64_t n, int64_t *at) {
  weft_tensor *t = NULL;
  WEFT_TRY(weft__variable_writable(v, &t));
  if (t->dtype != WEFT_INT64 || weft__tensor_count(t) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the counter must have one int64, got %s of shape %s",
                             weft__dtype_name(t->dtype), weft__shape_text(&t->shape));
  int64_t now = TENSOR_DATA(t, int64_t)[0];
  *at = now < -1 || now >= n - 1 ? 0 : now + 1;
  TENSOR_DATA(t, int64_t)[0] = *at;
  return WEFT_OK;
}

static weft_err obtain_next_cpu(kernel *k) {
  const weft_tensor *list = k->in[0];
  variable *v = NULL;
  int64_t at = 0, n = weft__tensor_count(list);
  if (list->shape.rank != 1 || n < 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "the list must be a vector of at least one string, its shape is %s",
                             weft__shape_text(&list->shape));
  WEFT_TRY(weft__kernel_variable(k, 1, &v));
  weft__variable_lock(1, &v);
  weft_err err = next_locked(k, v, n, &at);
  weft__variable_unlock(1, &v);
  if (err != WEFT_OK) return err;
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  const str *from = &TENSOR_DATA(list, str)[at];
  return weft__str_set(&TENSOR_DATA(out, str)[0], from->data, from->size);
}

static const op_case next_cases[] = {
    {"str[3] \"a\" \"b\" \"c\"; &i64[] -1", "str[] \"a\"", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"str[3] \"a\" \"b\" \"c\"; &i64[1] 1", "str[] \"c\"", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"str[3] \"a\" \"b\" \"c\"; &i64[] 2", "str[] \"a\"", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"str[2] \"a\" \"b\"; &i64[] -7", "str[] \"a\"", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"str[0]; &i64[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {"str[2] \"a\" \"b\"; &i64[2] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY | CASE_NO_GRAD},
    {0},
};

OPS(obtain_next) = {
    {"ObtainNext(list:string, counter:&int64) -> (out_element:string)",
     "The string after the one that the counter names; the first one comes after the last.", .infer = next_infer,
     .cpu = obtain_next_cpu, .flags = OP_UPDATES, .cases = next_cases},
    {0},
};
