/* uniform.h - the scales and zero points of uniformly quantized integers: one for a tensor, or one for each index of an
 * axis.  An integer stands for (integer - zero point) * scale. */
#ifndef WEFT_OPS_MATH_UNIFORM_H
#define WEFT_OPS_MATH_UNIFORM_H

#include "graph/kernel.h"

typedef struct uniform_scale {
  const float *scale;
  const int32_t *zero;
  int64_t n, inner; /* n: how many there are; inner: the elements between two indices of the axis */
} uniform_scale;

/* Returns the index of the scale of element i. */
static inline int64_t weft__uniform_place(const uniform_scale *u, int64_t i) { return i / u->inner % u->n; }
/* Reads the scales and zero points at inputs `at` and at + 1 of a tensor of shape x, along the axis that an attribute
 * names.  Returns INVALID_ARGUMENT if they do not fit x. */
weft_err weft__uniform_read(const kernel *k, const shape *x, int at, const char *attr_name, uniform_scale *u);
/* Returns INVALID_ARGUMENT unless all scales at input `at` are finite and positive. */
weft_err weft__uniform_check(const kernel *k, int at);
/* Returns the integer x, which is rounded toward zero, or the nearer of low and high if x is not between them. */
int64_t weft__uniform_clamp(double x, int64_t low, int64_t high);

/* Numbers that are quantized to 8 bits over their range, which always has zero in it. */
typedef struct uniform_range {
  float low, high, scale, inverse;
  double zero; /* the zero point */
} uniform_range;

/* Adds a number to a range that was zeroed. */
void weft__uniform_range_add(uniform_range *r, float x);
/* Chooses the scale for the numbers that were added, and returns it. */
float weft__uniform_range_end(uniform_range *r);
/* Returns the integer for a number, less the zero point. */
int64_t weft__uniform_near(const uniform_range *r, float x);

#endif
