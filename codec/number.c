/* number.c - parses numbers from text. */
#include "codec/number.h"
#include "base/cast.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void weft__locale_begin(plain_locale *l) {
  l->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  l->before = l->c ? uselocale(l->c) : (locale_t)0;
}

void weft__locale_end(plain_locale *l) {
  if (!l->c) return;
  uselocale(l->before);
  freelocale(l->c);
}

static bool number_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_digits(const char *s) {
  while (is_digit(*s)) s++;
  return s;
}

/* Returns true if TensorFlow accepts the text as a float. strtod accepts more ("infinity", "nan(1)", "0x1p3"). */
static bool is_float(const char *s) {
  if (*s == '+' || *s == '-') s++;
  if (strcasecmp(s, "inf") == 0 || strcasecmp(s, "nan") == 0) return true;
  if (s[0] == '0' && (s[1] | 0x20) == 'x') return s[2] && s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] == '\0';
  const char *whole = s;
  s = skip_digits(s);
  bool any = s > whole;
  if (*s == '.') {
    const char *fraction = ++s;
    s = skip_digits(s);
    any = any || s > fraction;
  }
  if (any && (*s | 0x20) == 'e') {
    s++;
    if (*s == '+' || *s == '-') s++;
    if (!is_digit(*s)) return false;
    s = skip_digits(s);
  }
  return any && *s == '\0';
}

static bool is_int(const char *s) {
  if (*s == '-') s++;
  return is_digit(*s) && *skip_digits(s) == '\0';
}

static bool read_int(const char *s, weft_dtype type, void *out) {
  if (!is_int(s)) return false;
  errno = 0;
  const long long v = strtoll(s, NULL, 10);
  if (errno || (type == WEFT_INT32 && !weft__fits_int(v))) return false;
  if (type == WEFT_INT32)
    *(int32_t *)out = weft__int_sat(v);
  else
    *(int64_t *)out = v;
  return true;
}

/* The digits of a number without an exponent. */
typedef struct decimal {
  uint64_t digits;
  int fraction; /* how many of them are behind the point */
  bool is_negative, has_sign;
} decimal;

/* Returns false for other forms, and for more than 15 digits. */
static bool read_decimal(const char *s, size_t n, decimal *d) {
  *d = (decimal){.fraction = -1, .is_negative = *s == '-', .has_sign = *s == '-' || *s == '+'};
  size_t i = d->has_sign ? 1 : 0, digits = 0;
  for (; i < n && digits <= 15; i++) {
    if (s[i] == '.' && d->fraction < 0) {
      d->fraction = 0;
      continue;
    }
    if (!is_digit(s[i])) return false;
    d->digits = d->digits * 10 + (uint64_t)(s[i] - '0');
    digits++;
    if (d->fraction >= 0) d->fraction++;
  }
  return i == n && digits > 0 && digits <= 15;
}

/* Reads common numbers without the C library.  The digits and the power of ten are exact, so the quotient is rounded
 * once, as the C library rounds.  Returns false if a number has to be read in the general way. */
static bool read_common(const char *s, size_t n, weft_dtype type, void *out) {
  static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  decimal d;
  if (!read_decimal(s, n, &d)) return false;
  const int64_t whole = d.is_negative ? -(int64_t)d.digits : (int64_t)d.digits;
  const double power = powers[d.fraction < 0 ? 0 : d.fraction];
  const bool is_int = d.fraction < 0 && d.has_sign == d.is_negative;
  switch (type) {
  case WEFT_INT32: return is_int && weft__fits_int(whole) && (*(int32_t *)out = weft__int_sat(whole), true);
  case WEFT_INT64: return is_int && (*(int64_t *)out = whole, true);
  case WEFT_DOUBLE: *(double *)out = (d.is_negative ? -(double)d.digits : (double)d.digits) / power; return true;
  case WEFT_FLOAT:
    if (d.digits > 1 << 24 || power > 1e10) return false;
    *(float *)out = (d.is_negative ? -(float)d.digits : (float)d.digits) / (float)power;
    return true;
  default: return false;
  }
}

bool weft__number_read(text *room, const char *data, size_t size, weft_dtype type, void *out) {
  size_t from = 0, to = size;
  while (from < to && number_is_space(data[from])) from++;
  while (to > from && number_is_space(data[to - 1])) to--;
  room->size = 0;
  if (from == to) return false;
  if (read_common(data + from, to - from, type, out)) return true;
  weft__text_add(room, data + from, to - from); /* for the terminating NUL */
  const char *s = weft__text_get(room);
  if (room->failed || strlen(s) != room->size) return false;
  if (type == WEFT_INT32 || type == WEFT_INT64) return read_int(s, type, out);
  if (!is_float(s)) return false;
  if (type == WEFT_FLOAT)
    *(float *)out = strtof(s, NULL);
  else
    *(double *)out = strtod(s, NULL);
  return true;
}
