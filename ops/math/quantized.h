/* quantized.h - what ops on quantized integers share: the numbers that the integers of a type stand for.
 *
 * A range [min, max] lies evenly over all integers of a type.  The number of the lowest integer is min rounded to a whole
 * step, so that zero is a whole number of steps too. */
#ifndef WEFT_OPS_MATH_QUANTIZED_H
#define WEFT_OPS_MATH_QUANTIZED_H

#include "graph/kernel.h"

typedef struct quantized {
  int64_t low, high; /* the integers of the type */
  float min, max;    /* the numbers at its ends */
} quantized;

/* The range of input i, whose ends are the scalars at inputs at and at + 1.  UNIMPLEMENTED for types that are not quantized,
 * INVALID_ARGUMENT where an end is not a scalar. */
weft_err weft__quantized_read(const kernel *k, int i, int at, quantized *q);
/* Output i over [min, max], written to outputs i + 1 and i + 2. */
weft_err weft__quantized_write(kernel *k, int i, float min, float max, quantized *q);
/* Inputs at and at + 1 are scalars, and outputs from `out` on too. */
weft_err weft__quantized_infer(infer *s, int at, int out);

int64_t weft__quantized_get(const weft_tensor *t, int64_t i);
void weft__quantized_put(weft_tensor *t, int64_t i, int64_t v);
/* The number that v stands for, and the integer for a number: any, or one of the type. */
float weft__quantized_number(const quantized *q, int64_t v);
int64_t weft__quantized_near(const quantized *q, float x);
int64_t weft__quantized_within(const quantized *q, float x);
/* By how much the number grows from one integer to the next. */
float weft__quantized_step(const quantized *q);
/* The ends of the range over qint32 in which the product of two integers is the product of their numbers. */
void weft__quantized_product(const quantized *a, const quantized *b, float *min, float *max);

#endif
