/* apply.h - optimizer updates: one element loop per optimizer, four kinds of op around it.
 *
 * ApplyX and SparseApplyX take references, ResourceApplyX and ResourceSparseApplyX take handles; all
 * of them update a variable and its slots with the same arithmetic.  An optimizer states that once,
 * as a loop over a span of elements; which argument is a variable, the gradient, the indices or a
 * scalar is read from the op's definition. */
#ifndef WEFT_KERNELS_TRAINING_APPLY_H
#define WEFT_KERNELS_TRAINING_APPLY_H

#include "graph/kernel.h"
#include <tgmath.h>

enum { APPLY_MAX_VARS = 4, APPLY_MAX_SCALARS = 8 };

/* A span of elements to update.  Everything is of the loop's type. */
typedef struct apply_span {
  void *var[APPLY_MAX_VARS]; /* the variable and its slots, in argument order */
  const void *grad;
  const void *scalar; /* the scalar arguments, in argument order */
  int64_t n;
  bool option; /* the optimizer's boolean attribute */
} apply_span;
typedef void apply_loop(const apply_span *s);

typedef struct optimizer {
  apply_loop *of_float, *of_double;         /* required; half and bfloat16 run through float */
  apply_loop *of_complex64, *of_complex128; /* NULL: real numbers only */
  const char *option;                       /* a boolean attribute the loop wants to know; or NULL */
  enum { SIGNS_FREE, SIGNS_CHECKED, SIGNS_CHECKED_SPARSE } signs; /* lr > 0, l1 and l2 >= 0, lr_power <= 0 */
} optimizer;

weft_err weft__apply_infer(infer *s);
weft_err weft__apply_prepare(const weft_node *node, void **state);
void weft__apply_unprepare(void *state);
weft_err weft__apply(kernel *k, const optimizer *of); /* every form */
/* Which arguments of a prepared kernel are what, for those who run the loop elsewhere. */
struct gpu_roles;
weft_err weft__apply_roles(const kernel *k, struct gpu_roles *r);

/* The fields of a row that all forms share. */
#define APPLY(cpu_, cases_)                                                                                            \
  .flags = OP_UPDATES, .infer = weft__apply_infer, .prepare = weft__apply_prepare, .unprepare = weft__apply_unprepare, \
  .cpu = (cpu_), .cases = (cases_)

/* LOOP(T, suffix) defines one loop; these make it for all numbers an optimizer works on. */
#define APPLY_REAL(LOOP) LOOP(float, float) LOOP(double, double)
#define APPLY_NUMBER(LOOP) APPLY_REAL(LOOP) LOOP(float _Complex, complex64) LOOP(double _Complex, complex128)
#define APPLY_LOOPS_REAL(name) .of_float = name##_float, .of_double = name##_double
#define APPLY_LOOPS_NUMBER(name)                                                                                       \
  APPLY_LOOPS_REAL(name), .of_complex64 = name##_complex64, .of_complex128 = name##_complex128

#endif
