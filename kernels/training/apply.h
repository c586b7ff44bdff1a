/* apply.h - optimizer updates: one element loop per optimizer, and the four kinds of op that use it.
 *
 * ApplyX and SparseApplyX take references; ResourceApplyX and ResourceSparseApplyX take handles.  All of them update
 * a variable and its slots with the same arithmetic.  An optimizer defines it once, as a loop over a span of
 * elements.  The op's definition tells which arguments are variables, the gradient, the indices and scalars. */
#ifndef WEFT_KERNELS_TRAINING_APPLY_H
#define WEFT_KERNELS_TRAINING_APPLY_H

#include "graph/kernel.h"
#include <tgmath.h>

enum { APPLY_MAX_VARS = 4, APPLY_MAX_SCALARS = 8 };

/* A span of elements to update.  All numbers have the loop's type. */
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
  const char *option;                       /* the boolean attribute that is passed to the loop, or NULL */
  enum { SIGNS_FREE, SIGNS_CHECKED, SIGNS_CHECKED_SPARSE } signs; /* lr > 0, l1 and l2 >= 0, lr_power <= 0 */
} optimizer;

/* Callbacks of a row, for all four kinds of op: APPLY below sets them. */
weft_err weft__apply_infer(infer *s);
weft_err weft__apply_prepare(const weft_node *node, void **state);
void weft__apply_unprepare(void *state);
weft_err weft__apply(kernel *k, const optimizer *of); /* all four kinds */
/* Stores the roles of a prepared kernel's arguments, for kernels that run the loop on a GPU. */
struct gpu_roles;
weft_err weft__apply_roles(const kernel *k, struct gpu_roles *r);

/* The fields of a row that all four kinds share. */
#define APPLY(cpu_, cases_)                                                                                            \
  .flags = OP_UPDATES, .infer = weft__apply_infer, .prepare = weft__apply_prepare, .unprepare = weft__apply_unprepare, \
  .cpu = (cpu_), .cases = (cases_)

/* LOOP(T, suffix) defines one loop; these macros define it for all number types of an optimizer. */
#define APPLY_REAL(LOOP) LOOP(float, float) LOOP(double, double)
#define APPLY_NUMBER(LOOP) APPLY_REAL(LOOP) LOOP(float _Complex, complex64) LOOP(double _Complex, complex128)
#define APPLY_LOOPS_REAL(name) .of_float = name##_float, .of_double = name##_double
#define APPLY_LOOPS_NUMBER(name)                                                                                       \
  APPLY_LOOPS_REAL(name), .of_complex64 = name##_complex64, .of_complex128 = name##_complex128

#endif
