/* special.h - special functions of ops/math/special.c that other kernels use. */
#ifndef WEFT_OPS_MATH_SPECIAL_H
#define WEFT_OPS_MATH_SPECIAL_H

double weft__digamma(double x); /* the derivative of log gamma; NaN at its poles */

#endif
