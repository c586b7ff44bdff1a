/* number.h - numbers written as text, in C's locale whatever the program has set. */
#ifndef WEFT_CODEC_NUMBER_H
#define WEFT_CODEC_NUMBER_H

#include "base/text.h"
#include "weft/core.h"
#include <locale.h>

/* This thread's locale while a kernel reads or writes numbers. */
typedef struct plain_locale {
  locale_t c, before;
} plain_locale;
void weft__locale_begin(plain_locale *l);
void weft__locale_end(plain_locale *l);

/* Reads a number as TensorFlow does: white space around it is passed over, "inf" and "nan" are taken; float, double,
 * int32 and int64 only.  False if it is none, does not fit, or there is no memory (room->failed).  room is scratch
 * that may serve many calls. */
bool weft__number_read(text *room, const char *data, size_t size, weft_dtype type, void *out);

#endif
