/* quantized.h - the numbers that quantized integers represent.
 *
 * A range [min, max] is divided evenly into all integers of a type.  The number of the lowest integer is min rounded
 * to a whole step, so that zero is a whole number of steps too. */
#ifndef WEFT_OPS_MATH_QUANTIZED_H
#define WEFT_OPS_MATH_QUANTIZED_H

#include "graph/kernel.h"

typedef struct quantized {
  int64_t low, high; /* lowest and highest integer of the type */
  float min, max;    /* the numbers that they represent */
} quantized;

/* Reads the range of input i from the scalars at inputs at and at + 1.  Returns UNIMPLEMENTED for types that are not
 * quantized, and INVALID_ARGUMENT if one of the two is not a scalar. */
weft_err weft__quantized_read(const kernel *k, int i, int at, quantized *q);
/* Sets the range of output i to [min, max], and stores the two in outputs i + 1 and i + 2. */
weft_err weft__quantized_write(kernel *k, int i, float min, float max, quantized *q);
/* A part of shape rules: inputs at and at + 1 must be scalars, and the outputs from `out` on are scalars. */
weft_err weft__quantized_infer(infer *s, int at, int out);
/* Stores the shape of output 0: the product of inputs 0 and 1, which transpose_a and transpose_b may transpose. */
weft_err weft__quantized_matmul_infer(infer *s);

/* Read and write element i, which exists, of a tensor of a quantized type.  A value that is written fits the type. */
int64_t weft__quantized_get(const weft_tensor *t, int64_t i);
void weft__quantized_put(weft_tensor *t, int64_t i, int64_t v);
/* Return the number that v represents, and the integer nearest to a number: any integer, or one of the type. */
float weft__quantized_number(const quantized *q, int64_t v);
int64_t weft__quantized_near(const quantized *q, float x);
int64_t weft__quantized_within(const quantized *q, float x);
/* Returns the difference between the numbers of adjacent integers. */
float weft__quantized_step(const quantized *q);
/* Stores the range of qint32 in which the product of two integers represents the product of their numbers. */
void weft__quantized_product(const quantized *a, const quantized *b, float *min, float *max);

#endif
