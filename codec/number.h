/* number.h - parses numbers in the C locale, regardless of the program's locale. */
#ifndef WEFT_CODEC_NUMBER_H
#define WEFT_CODEC_NUMBER_H

#include "base/text.h"
#include "weft/core.h"
#include <locale.h>

/* Sets this thread's locale to "C" while a kernel reads or writes numbers. */
typedef struct plain_locale {
  locale_t c, before;
} plain_locale;
void weft__locale_begin(plain_locale *l);
void weft__locale_end(plain_locale *l);

/* Parses a number as TensorFlow does: skips white space around it and accepts "inf" and "nan".  Supports float,
 * double, int32 and int64.  Returns false if the text is not a number, does not fit, or memory is short
 * (room->failed). room is a scratch buffer for many calls. */
bool weft__number_read(text *room, const char *data, size_t size, weft_dtype type, void *out);

#endif
