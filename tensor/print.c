/* print.c - the short text of a tensor that Assert and Print show: "[[0 1][2...]...]".
 *
 * The format is TensorFlow's.  Rows follow one another without a separator.  A truncated row ends in "...", and so does
 * the outermost list.  Types without a text are printed as "?". */
#include "base/text.h"
#include "tensor/small_types.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints with the lower of two precisions that reads back as the same number. */
static void print_float(text *out, float f) {
  char buf[32];
  snprintf(buf, sizeof buf, "%.6g", (double)f);
  if (strtof(buf, NULL) != f && f == f) snprintf(buf, sizeof buf, "%.9g", (double)f);
  weft__text_puts(out, f == f ? buf : "nan");
}

static void print_double(text *out, double d) {
  char buf[40];
  snprintf(buf, sizeof buf, "%.15g", d);
  if (strtod(buf, NULL) != d && d == d) snprintf(buf, sizeof buf, "%.17g", d);
  weft__text_puts(out, d == d ? buf : "nan");
}

/* Escapes bytes that are not printable, as C does; bytes of UTF-8 are not escaped. */
static void print_string(text *out, const str *s) {
  for (size_t i = 0; i < s->size; i++) {
    unsigned char c = (unsigned char)s->data[i];
    switch (c) {
    case '\n': weft__text_puts(out, "\\n"); break;
    case '\r': weft__text_puts(out, "\\r"); break;
    case '\t': weft__text_puts(out, "\\t"); break;
    case '"':
    case '\'':
    case '\\': weft__text_printf(out, "\\%c", c); break;
    default:
      if (c < 0x20 || c == 0x7f)
        weft__text_printf(out, "\\%03o", c);
      else
        weft__text_add(out, (const char *)&c, 1);
    }
  }
}

static void print_element(text *out, const weft_tensor *t, int64_t i) {
  switch (t->dtype) {
  case WEFT_FLOAT: print_float(out, TENSOR_DATA(t, float)[i]); break;
  case WEFT_HALF: print_float(out, weft__half_to_float(TENSOR_DATA(t, uint16_t)[i])); break;
  case WEFT_BFLOAT16: print_float(out, weft__bfloat16_to_float(TENSOR_DATA(t, uint16_t)[i])); break;
  case WEFT_DOUBLE: print_double(out, TENSOR_DATA(t, double)[i]); break;
  case WEFT_STRING: print_string(out, &TENSOR_DATA(t, str)[i]); break;
  case WEFT_UINT64: weft__text_printf(out, "%" PRIu64, TENSOR_DATA(t, uint64_t)[i]); break;
  case WEFT_BOOL:
  case WEFT_INT8:
  case WEFT_INT16:
  case WEFT_INT32:
  case WEFT_INT64:
  case WEFT_UINT8:
  case WEFT_UINT16:
  case WEFT_UINT32:
  case WEFT_QINT8:
  case WEFT_QINT16:
  case WEFT_QUINT8:
  case WEFT_QUINT16: weft__text_printf(out, "%" PRId64, weft__tensor_int(t, i)); break;
  case WEFT_FLOAT8_E5M2:
  case WEFT_FLOAT8_E4M3FN: print_float(out, (float)weft__float8_to_double(t->dtype, TENSOR_DATA(t, uint8_t)[i])); break;
  case WEFT_INT4:
  case WEFT_UINT4: weft__text_printf(out, "%d", weft__int4_to_int(t->dtype, TENSOR_DATA(t, uint8_t)[i])); break;
  default: weft__text_puts(out, "?"); break;
  }
}

/* Prints dimension `dim` from element *next on; stops at element `end`. */
static void print_dim(text *out, const weft_tensor *t, int dim, int64_t *next, int64_t end) {
  bool last = dim == t->shape.rank - 1;
  int64_t i = 0, n = t->shape.dim[dim];
  weft__text_puts(out, "[");
  for (; i < n && *next < end; i++) {
    if (!last) {
      print_dim(out, t, dim + 1, next, end);
      continue;
    }
    if (i > 0) weft__text_puts(out, " ");
    print_element(out, t, (*next)++);
  }
  bool cut = dim == 0 ? end < weft__tensor_count(t) : last && i < n;
  weft__text_puts(out, cut ? "...]" : "]");
}

void weft__tensor_print(text *out, const weft_tensor *t, int limit) {
  int64_t count = weft__tensor_count(t), next = 0;
  int64_t end = limit < 0 || limit > count ? count : limit;
  if (count <= 0) {
    weft__text_puts(out, "[]");
  } else if (end == 0) {
    weft__text_puts(out, "[...]");
  } else if (t->shape.rank == 0) {
    weft__text_puts(out, "[");
    print_element(out, t, 0);
    weft__text_puts(out, "]");
  } else {
    print_dim(out, t, 0, &next, end);
  }
}
