/* string_number.c - StringToNumber and AsString: convert strings to numbers and back.
 *
 * Both use the C locale, regardless of the program's locale. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "codec/number.h"
#include "kernels/work/long_work.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- StringToNumber ---- */

static weft_err string_number_read_all(kernel *k, weft_tensor *y) {
  text room = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(y) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    const str *s = TENSOR_DATA(k->in[0], str) + i;
    if (!weft__number_read(&room, s->data, s->size, y->dtype, (char *)y->data + (size_t)i * weft__dtype_size(y->dtype)))
      err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "StringToNumberOp could not correctly convert string: %.*s",
                              weft__int_sat(s->size), s->size ? s->data : "");
  }
  if (room.failed) err = WEFT_OOM;
  weft__text_finish(&room);
  return err;
}

static weft_err number_cpu(kernel *k) {
  plain_locale l;
  weft_tensor *y = weft__out(k, 0, &k->in[0]->shape);
  if (!y) return WEFT_OOM;
  weft__locale_begin(&l);
  weft_err err = string_number_read_all(k, y);
  weft__locale_end(&l);
  return err;
}

/* ---- AsString ---- */

typedef struct number_format {
  char flag[2];                                   /* "", "0", " ", "+" or "-" */
  int width;                                      /* 0: none */
  int precision;                                  /* -1: none */
  char kind;                                      /* for floats: f, e or g */
  char of_float[16], of_int[16], of_unsigned[16]; /* for printf, with the width and the precision as arguments */
} number_format;

static weft_err read_format(kernel *k, weft_dtype type, number_format *f) {
  attr_str fill = weft__node_str(k->node, "fill");
  int64_t width = weft__node_int(k->node, "width", -1), precision = weft__node_int(k->node, "precision", -1);
  bool scientific = weft__node_bool(k->node, "scientific", false),
       shortest = weft__node_bool(k->node, "shortest", false);
  dtype_class c = weft__dtype_class(type);
  const char *name = weft__dtype_short(type);
  if (scientific && shortest)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Cannot select both scientific and shortest notation");
  if (fill.size > 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Fill string must be one or fewer characters");
  if (fill.size == 1 && !strchr(" +-0#", fill.data[0]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Fill argument not supported: \"%s\"", fill.data);
  if (precision != -1 && c != CLASS_FLOAT && c != CLASS_COMPLEX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "precision not supported for datatype %s", name);
  if ((scientific || shortest) && c != CLASS_FLOAT && c != CLASS_COMPLEX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "scientific and shortest format not supported for datatype %s",
                             name);
  *f = (number_format){.width = width > 0 ? weft__int_sat(width > 4096 ? 4096 : width) : 0,
                       .precision = precision > 4096 ? 4096 : weft__int_sat(precision),
                       .kind = scientific ? 'e'
                               : shortest ? 'g'
                                          : 'f'};
  if (fill.size) f->flag[0] = fill.data[0];
  snprintf(f->of_float, sizeof f->of_float, f->precision < 0 ? "%%%s*%c" : "%%%s*.*%c", f->flag, f->kind);
  snprintf(f->of_int, sizeof f->of_int, "%%%s*%s", f->flag, PRId64);
  snprintf(f->of_unsigned, sizeof f->of_unsigned, "%%%s*%s", f->flag, PRIu64);
  return WEFT_OK;
}

static void string_number_put_float(text *t, const number_format *f, double v) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  if (f->precision < 0)
    weft__text_printf(t, f->of_float, f->width, v);
  else
    weft__text_printf(t, f->of_float, f->width, f->precision, v);
#pragma GCC diagnostic pop
}

static void put_int(text *t, const number_format *f, int64_t v, bool is_unsigned) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  weft__text_printf(t, is_unsigned ? f->of_unsigned : f->of_int, f->width, v);
#pragma GCC diagnostic pop
}

static void string_number_put(text *t, const number_format *f, const str *s) {
  size_t pad = (size_t)f->width > s->size ? (size_t)f->width - s->size : 0;
  bool left = f->flag[0] == '-';
  for (size_t i = 0; i < pad && !left; i++) weft__text_puts(t, " ");
  if (s->size) weft__text_add(t, s->data, s->size);
  for (size_t i = 0; i < pad && left; i++) weft__text_puts(t, " ");
}

static void put_complex(text *t, const number_format *f, const weft_tensor *x, int64_t i) {
  bool narrow = x->dtype == WEFT_COMPLEX64;
  weft__text_puts(t, "(");
  string_number_put_float(t, f, narrow ? TENSOR_DATA(x, float)[2 * i] : TENSOR_DATA(x, double)[2 * i]);
  weft__text_puts(t, ",");
  string_number_put_float(t, f, narrow ? TENSOR_DATA(x, float)[2 * i + 1] : TENSOR_DATA(x, double)[2 * i + 1]);
  weft__text_puts(t, ")");
}

static void string_number_put_element(text *t, const number_format *f, const weft_tensor *x, int64_t i) {
  switch (weft__dtype_class(x->dtype)) {
  case CLASS_FLOAT: string_number_put_float(t, f, weft__tensor_double(x, i)); break;
  case CLASS_COMPLEX: put_complex(t, f, x, i); break;
  case CLASS_BOOL: weft__text_puts(t, TENSOR_DATA(x, bool)[i] ? "true" : "false"); break;
  case CLASS_STRING: string_number_put(t, f, TENSOR_DATA(x, str) + i); break;
  case CLASS_UINT: put_int(t, f, weft__tensor_int(x, i), true); break;
  default: put_int(t, f, weft__tensor_int(x, i), false); break;
  }
}

static weft_err string_number_write_all(kernel *k, const number_format *f) {
  const weft_tensor *x = k->in[0];
  weft_tensor *y = weft__out(k, 0, &x->shape);
  if (!y) return WEFT_OOM;
  text t = {0};
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < weft__tensor_count(x) && err == WEFT_OK; i++) {
    if ((err = weft__long_turn(k, i))) break;
    t.size = 0;
    string_number_put_element(&t, f, x, i);
    err = t.failed ? WEFT_OOM : weft__str_set(TENSOR_DATA(y, str) + i, weft__text_get(&t), t.size);
  }
  weft__text_finish(&t);
  return err;
}

static weft_err string_cpu(kernel *k) {
  number_format f;
  plain_locale l;
  if (weft__dtype_class(k->in[0]->dtype) == CLASS_OBJECT) return weft__kernel_no_type(k, k->in[0]->dtype);
  WEFT_TRY(read_format(k, k->in[0]->dtype, &f));
  weft__locale_begin(&l);
  weft_err err = string_number_write_all(k, &f);
  weft__locale_end(&l);
  return err;
}

/* ---- cases ---- */

static const op_case number_cases[] = {
    {"str[5] \"1.5\" \"-2e3\" \" 7 \" \"inf\" \"0x10\"", "f32[5] 1.5 -2000 7 inf 16", NULL, 0},
    {"str[2] \"1e300\" \"0.1\"", "f64[2] 1e300 0.1", "out_type=double", 0},
    {"str[3] \"12\" \" -7 \" \"00012\"", "i32[3] 12 -7 12", "out_type=int32", 0},
    {"str[] \"9223372036854775807\"", NULL, "out_type=int64", 0},
    {"str[1] \"2147483648\"", "error INVALID_ARGUMENT", "out_type=int32", 0},
    {"str[1] \"+3\"", "error INVALID_ARGUMENT", "out_type=int64", 0},
    {"str[1] \"1.5x\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"infinity\"", "error INVALID_ARGUMENT", NULL, 0},
    {"str[1] \"\"", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

static const op_case string_cases[] = {
    {"f32[5] 1.5 -2 0.1 100000 0", "str[5] \"1.500000\" \"-2.000000\" \"0.100000\" \"100000.000000\" \"0.000000\"",
     NULL, CASE_NO_GRAD},
    {"f64[3] 1.5 -2e20 0.3333333333", NULL, "precision=3", CASE_NO_GRAD},
    {"f64[3] 1.5 -2e20 nan", NULL, "scientific=true", CASE_NO_GRAD},
    {"f32[3] 1.5 -2e20 inf", NULL, "shortest=true width=10", CASE_NO_GRAD},
    {"i32[2] 1 -20", "str[2] \"00001\" \"-0020\"", "width=5 fill='0'", 0},
    {"i64[2] 1 -20", NULL, "width=5 fill='-'", 0},
    {"i32[2] 1 -20", NULL, "width=5 fill='+'", 0},
    {"bool[2] true false", "str[2] \"true\" \"false\"", NULL, 0},
    {"c64[1] 1", "str[1] \"(1.000000,0.000000)\"", NULL, CASE_NO_GRAD},
    {"str[1] \"ab\"", "str[1] \"   ab\"", "width=5", 0},
    {"i32[1] 1", "error INVALID_ARGUMENT", "fill='x'", CASE_FIXED_TYPE},
    {"i32[1] 1", "error INVALID_ARGUMENT", "precision=2", CASE_FIXED_TYPE},
    {"f32[1] 1", "error INVALID_ARGUMENT", "scientific=true shortest=true", CASE_FIXED_TYPE},
    {0},
};

OPS(string_number) = {
    {"StringToNumber(string_tensor:string) -> (output:out_type) | out_type:type{float,double,int32,int64}=float",
     "The numbers that strings spell.", .infer = weft__infer_same, .cpu = number_cpu, .no_grad = true,
     .cases = number_cases},
    {"AsString(input:T) -> (output:string) | "
     "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,complex64,complex128,bool,"
     "variant,string} precision:int=-1 scientific:bool=false shortest:bool=false width:int=-1 fill:string=''",
     "Numbers spelt as strings.", .infer = weft__infer_same, .cpu = string_cpu, .no_grad = true, .cases = string_cases},
    {0},
};
