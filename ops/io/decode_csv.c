/* decode_csv.c - DecodeCSV: records of comma-separated fields, with one output for each column.
 *
 * A field is quoted as in RFC 4180 or contains neither quotes nor line ends.  One pass over a record cuts and
 * converts its fields.  One buffer holds a quoted field without its quotes. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/number.h"
#include "kernels/work/long_work.h"
#include "tensor/tensor.h"
#include <string.h>

typedef struct reader {
  const kernel *k;
  const char *at, *end;
  text field;  /* the last field; the buffer is reused for all records */
  text number; /* scratch */
  char delim;
  bool quotes;
} reader;

static weft_err read_unquoted(reader *r) {
  const char *begin = r->at;
  for (; r->at < r->end && *r->at != r->delim; r->at++)
    if (*r->at == '\n' || *r->at == '\r' || (r->quotes && *r->at == '"'))
      return weft__kernel_fail(r->k, WEFT_INVALID_ARGUMENT, "Unquoted fields cannot have quotes/CRLFs inside");
  weft__text_add(&r->field, begin, (size_t)(r->at - begin));
  return WEFT_OK;
}

static weft_err read_quoted(reader *r) {
  for (r->at++; r->at < r->end; r->at++) {
    if (*r->at != '"') {
      weft__text_add(&r->field, r->at, 1);
      continue;
    }
    if (r->at + 1 == r->end || r->at[1] == r->delim) { /* the closing quote */
      r->at++;
      return WEFT_OK;
    }
    if (r->at[1] != '"')
      return weft__kernel_fail(r->k, WEFT_INVALID_ARGUMENT, "Quote inside a string has to be escaped by another quote");
    weft__text_add(&r->field, r->at++, 1);
  }
  return weft__kernel_fail(r->k, WEFT_INVALID_ARGUMENT, "Quoted field has to end with quote followed by delim or end");
}

/* Reads the next field of the record; *found is false at its end. *comma says whether a delimiter ended the previous
 * field, and is updated for this one. */
static weft_err next_field(reader *r, bool *comma, bool *found) {
  r->field.size = 0;
  while (r->at < r->end && (*r->at == '\n' || *r->at == '\r')) r->at++, *comma = false;
  *found = r->at < r->end || *comma;
  if (!*found) return WEFT_OK;
  if (r->quotes && r->at < r->end && *r->at == '"')
    WEFT_TRY(read_quoted(r));
  else
    WEFT_TRY(read_unquoted(r));
  *comma = r->at < r->end;
  if (*comma) r->at++;
  return r->field.failed ? WEFT_OOM : WEFT_OK;
}

/* ---- columns ---- */

static weft_err put_default(const kernel *k, int column, int64_t record) {
  const weft_tensor *d = k->in[column + 1];
  if (weft__tensor_count(d) == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Field %d is required but missing in record %lld!", column,
                             (long long)record);
  weft_tensor *out = &k->out[column].t;
  char *at = (char *)out->data + (size_t)record * weft__dtype_size(out->dtype);
  return weft__elements_copy(out->dtype, at, d->data, 1);
}

static weft_err decode_csv_put_field(reader *r, int column, int64_t record, attr_str na) {
  const char *field = weft__text_get(&r->field);
  const size_t n = r->field.size;
  if (n == 0 || (n == na.size && !memcmp(field, na.data, n))) return put_default(r->k, column, record);
  weft_tensor *out = &r->k->out[column].t;
  if (out->dtype == WEFT_STRING) return weft__str_set(TENSOR_DATA(out, str) + record, field, n);
  char *at = (char *)out->data + (size_t)record * weft__dtype_size(out->dtype);
  if (weft__number_read(&r->number, field, n, out->dtype, at)) return WEFT_OK;
  return weft__kernel_fail(r->k, WEFT_INVALID_ARGUMENT, "Field %d in record %lld is not a valid %s: %.*s", column,
                           (long long)record, weft__dtype_short(out->dtype), weft__int_sat(n < 200 ? n : 200), field);
}

/* Reads one record. `select` lists the wanted columns in order; NULL means all. */
static weft_err read_record(reader *r, int64_t record, const attr *select, attr_str na) {
  int column = 0;
  bool comma = false, found = true;
  for (int64_t i = 0;; i++) {
    WEFT_TRY(next_field(r, &comma, &found));
    if (!found) break;
    if (select && (column >= select->n || select->is[column] != i)) continue;
    if (column < r->k->n_out) WEFT_TRY(decode_csv_put_field(r, column, record, na));
    column++;
  }
  if (column == r->k->n_out) return WEFT_OK;
  return weft__kernel_fail(r->k, WEFT_INVALID_ARGUMENT, "Expect %d fields but have %d in record %lld", r->k->n_out,
                           column, (long long)record);
}

static weft_err decode_csv_check_options(const kernel *k, attr_str delim, const attr *select) {
  if (delim.size != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "field_delim should be only 1 char");
  if (!select) return WEFT_OK;
  if (select->n != k->n_out) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "select_cols should match output size");
  for (int i = 0; i < select->n; i++)
    if (select->is[i] <= (i ? select->is[i - 1] : -1))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "select_cols should be strictly increasing indices");
  return WEFT_OK;
}

static weft_err decode_csv_cpu(kernel *k) {
  const weft_tensor *records = k->in[0];
  const attr_str delim = weft__node_str(k->node, "field_delim"), na = weft__node_str(k->node, "na_value");
  const attr *select = weft__node_attr(k->node, "select_cols");
  if (select && select->n == 0) select = NULL;
  WEFT_TRY(decode_csv_check_options(k, delim, select));
  for (int i = 0; i < k->n_out; i++) {
    const int64_t n = weft__tensor_count(k->in[i + 1]);
    if (n > 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "There should only be 1 default per field but field %d has %lld", i, (long long)n);
    if (!weft__out(k, i, &records->shape)) return WEFT_OOM;
  }
  reader r = {.k = k, .delim = delim.data[0], .quotes = weft__node_bool(k->node, "use_quote_delim", true)};
  weft_err err = WEFT_OK;
  plain_locale l;
  weft__locale_begin(&l);
  for (int64_t i = 0; i < weft__tensor_count(records) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    const str *s = TENSOR_DATA(records, const str) + i;
    r.at = s->size ? s->data : "";
    r.end = r.at + s->size;
    err = read_record(&r, i, select, na);
  }
  weft__locale_end(&l);
  weft__text_finish(&r.number);
  weft__text_finish(&r.field);
  return err;
}

static weft_err decode_csv_infer(infer *s) {
  for (int i = 1; i < s->n_in; i++) {
    const shape *d = &s->in[i];
    if (d->rank > 1 || (d->rank == 1 && d->dim[0] > 1))
      return weft__infer_fail(s, "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
  }
  for (int i = 0; i < s->n_out; i++) s->out[i] = s->in[0];
  return WEFT_OK;
}

static const op_case csv_cases[] = {
    {"str[1] \"1,2.5,abc\"; i32[0]; f32[0]; str[0]", "i32[1] 1; f32[1] 2.5; str[1] \"abc\"", NULL, CASE_FIXED_TYPE},
    {"str[2] \"1,2\" \"3,\"; i64[0]; f64[1] 7", "i64[2] 1 3; f64[2] 2 7", NULL, CASE_FIXED_TYPE},
    {"str[] \"a,b\"; str[0]; str[0]", "str[] \"a\"; str[] \"b\"", NULL, CASE_FIXED_TYPE},
    {"str[1] \"x;NA;3\"; str[0]; i32[1] 9; i32[0]", NULL, "field_delim=';' na_value='NA'", CASE_FIXED_TYPE},
    {"str[1] \"a,b,c,d\"; str[0]; str[0]", "str[1] \"b\"; str[1] \"d\"", "select_cols=[1,3]", CASE_FIXED_TYPE},
    {"str[1] \" 1, 2 ,\"; i32[0]; i32[0]; i32[] 5", "i32[1] 1; i32[1] 2; i32[1] 5", NULL, CASE_FIXED_TYPE},
    {"str[1] \"1,2\"; i32[0]", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[1] \"1,\"; i32[0]; i32[0]", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[1] \"x\"; i32[0]", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[1] \"99999999999\"; i32[0]", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"str[1] \"a,b\"; str[0]", "error INVALID_ARGUMENT", "select_cols=[2]", CASE_FIXED_TYPE},
    {0},
};

OPS(decode_csv) = {
    {"DecodeCSV(records:string, record_defaults:@OUT_TYPE) -> (output:@OUT_TYPE) | "
     "OUT_TYPE:list(type){float,double,int32,int64,string}>=1 field_delim:string=',' use_quote_delim:bool=true "
     "na_value:string='' select_cols:list(int)=[]",
     "The columns of comma-separated records.", .infer = decode_csv_infer, .cpu = decode_csv_cpu, .cases = csv_cases},
    {0},
};
