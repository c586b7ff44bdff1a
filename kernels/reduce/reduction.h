/* reduction.h - reduces a tensor along some of its dimensions; used by Sum, Max, All and others.
 *
 * Adjacent dimensions that are all kept or all reduced are merged, so that kept and reduced dimensions alternate.
 * Each reduced dimension is then one pass over (outer, reduce, inner).  Long reductions are divided into pieces
 * whose size depends only on the shape.  The pieces run on different threads, sums stay accurate, and the result is
 * the same for any number of threads. */
#ifndef WEFT_KERNELS_REDUCE_REDUCTION_H
#define WEFT_KERNELS_REDUCE_REDUCTION_H

#include "base/target_clones.h"
#include "graph/kernel.h"
#include "kernels/simd/vmath.h"

/* For each o: acc[o*cols + j] = the reduction over r < rows of x[(o*rows + r)*ld + j].  Without rows the result is
 * the neutral element.  outer is 1 if ld != cols. */
typedef void reduction_fn(const void *x, int64_t outer, int64_t rows, int64_t cols, int64_t ld, void *acc);

typedef struct reduction_kind {
  weft_dtype acc;      /* the type of the accumulator; WEFT_INVALID: the type is not supported */
  reduction_fn *first; /* reduces elements of the tensor */
  reduction_fn *more;  /* reduces accumulators */
} reduction_kind;

/* Reduces x, whose type is that of kind->first, along the dimensions whose bit d is set in `reduced`.  acc gets the
 * kept dimensions in order.  Returns RESOURCE_EXHAUSTED if there is no scratch memory. */
weft_err weft__reduce_axes(kernel *k, const reduction_kind *kind, const weft_tensor *x, uint32_t reduced, void *acc);

enum { REDUCTION_LANES = 64, REDUCTION_BLOCK = 256 }; /* parallel lanes; steps before they are combined */

/* Defines a reduction_fn in plain loops, for rare types.  In `step`, a is the accumulator and v the value; `load`
 * converts an element e to a value. */
#define DEFINE_REDUCTION_PLAIN(name, T_, A_, init, load, step)                                                         \
  VMATH A_ name##_step(A_ a, A_ v) { return (A_)(step); }                                                              \
  VMATH A_ name##_load(T_ e) { return (A_)(load); }                                                                    \
  static void name(const void *xs, int64_t outer, int64_t rows, int64_t cols, int64_t ld, void *accs) {                \
    const T_ *x = xs;                                                                                                  \
    A_ *acc = accs;                                                                                                    \
    for (int64_t o = 0; o < outer; o++, acc += cols) {                                                                 \
      for (int64_t j = 0; j < cols; j++) acc[j] = (A_)(init);                                                          \
      for (int64_t r = 0; r < rows; r++, x += ld)                                                                      \
        for (int64_t j = 0; j < cols; j++) acc[j] = name##_step(acc[j], name##_load(x[j]));                            \
    }                                                                                                                  \
  }

/* Four values added to an accumulator: as a tree, which rounds less, or one after the other, the only form in which the
 * compiler vectorizes comparisons. */
#define REDUCTION_TREE(step, a, p, q, r, s) step(a, step(step(p, q), step(r, s)))
#define REDUCTION_CHAIN(step, a, p, q, r, s) step(step(step(step(a, p), q), r), s)

/* Parts of DEFINE_REDUCTION: one step, one short row, one block of lanes, and rows of many columns. */
#define DEFINE_REDUCTION_PARTS(FOUR, name, T_, A_, init, load, step)                                                   \
  VMATH A_ name##_step(A_ a, A_ v) { return (A_)(step); }                                                              \
  VMATH A_ name##_load(T_ e) { return (A_)(load); }                                                                    \
  /* One short row.  From eight elements on there are eight sums, as one long sum rounds more. */                      \
  VMATH A_ name##_short(const T_ *x, int64_t n) {                                                                      \
    A_ lane[8];                                                                                                        \
    int64_t i = 0;                                                                                                     \
    for (int l = 0; l < 8; l++) lane[l] = (A_)(init);                                                                  \
    for (; i + 8 <= n; i += 8)                                                                                         \
      for (int l = 0; l < 8; l++) lane[l] = name##_step(lane[l], name##_load(x[i + l]));                               \
    for (; i < n; i++) lane[n < 8 ? 0 : i % 8] = name##_step(lane[n < 8 ? 0 : i % 8], name##_load(x[i]));              \
    if (n < 8) return lane[0];                                                                                         \
    for (int half = 4; half > 0; half /= 2)                                                                            \
      for (int l = 0; l < half; l++) lane[l] = name##_step(lane[l], lane[l + half]);                                   \
    return lane[0];                                                                                                    \
  }                                                                                                                    \
  /* A block of `steps` times `width` elements, lane by lane. */                                                       \
  VMATH void name##_lanes(const T_ *x, int64_t steps, int width, A_ *restrict lane) {                                  \
    for (int l = 0; l < width; l++) lane[l] = (A_)(init);                                                              \
    for (int64_t s = 0; s < steps; s++)                                                                                \
      for (int l = 0; l < width; l++) lane[l] = name##_step(lane[l], name##_load(x[s * width + l]));                   \
  }                                                                                                                    \
  VMATH void name##_broad(const T_ *x, int64_t rows, int64_t cols, int64_t ld, A_ *restrict acc) {                     \
    for (int64_t j = 0; j < cols; j++) acc[j] = (A_)(init);                                                            \
    for (; rows >= 4; rows -= 4, x += 4 * ld)                                                                          \
      for (int64_t j = 0; j < cols; j++)                                                                               \
        acc[j] = FOUR(name##_step, acc[j], name##_load(x[j]), name##_load(x[j + ld]), name##_load(x[j + 2 * ld]),      \
                      name##_load(x[j + 3 * ld]));                                                                     \
    for (; rows > 0; rows--, x += ld)                                                                                  \
      for (int64_t j = 0; j < cols; j++) acc[j] = name##_step(acc[j], name##_load(x[j]));                              \
  }

/* As DEFINE_REDUCTION_PLAIN, for common types: vectorized, with several short rows in the lanes of a vector. */
#define DEFINE_REDUCTION(...) DEFINE_REDUCTION_BY(REDUCTION_TREE, __VA_ARGS__)
#define DEFINE_REDUCTION_CHAINED(...) DEFINE_REDUCTION_BY(REDUCTION_CHAIN, __VA_ARGS__)
#define DEFINE_REDUCTION_BY(FOUR, name, T_, A_, init, load, step)                                                      \
  DEFINE_REDUCTION_PARTS(FOUR, name, T_, A_, init, load, step)                                                         \
  /* Rows of few columns, several of them side by side in the lanes; at the end as many as are left. */                \
  VMATH void name##_narrow(const T_ *x, int64_t rows, int cols, A_ *acc) {                                             \
    A_ lane[REDUCTION_LANES];                                                                                          \
    for (int j = 0; j < cols; j++) acc[j] = (A_)(init);                                                                \
    while (rows > 0) {                                                                                                 \
      /* fits: fewer than the lanes */                                                                                 \
      const int together = rows < REDUCTION_LANES / cols ? (int)rows : REDUCTION_LANES / cols,                         \
                width = together * cols;                                                                               \
      const int64_t all = rows / together, steps = all < REDUCTION_BLOCK ? all : REDUCTION_BLOCK;                      \
      if (width == REDUCTION_LANES)                                                                                    \
        name##_lanes(x, steps, REDUCTION_LANES, lane);                                                                 \
      else                                                                                                             \
        name##_lanes(x, steps, width, lane);                                                                           \
      for (int half = together; half > 1; half -= half / 2)                                                            \
        for (int l = 0; l < half / 2 * cols; l++) lane[l] = name##_step(lane[l], lane[l + (half - half / 2) * cols]);  \
      for (int j = 0; j < cols; j++) acc[j] = name##_step(acc[j], lane[j]);                                            \
      x += steps * width;                                                                                              \
      rows -= steps * together;                                                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void name(const void *xs, int64_t outer, int64_t rows, int64_t cols, int64_t ld,           \
                                      void *accs) {                                                                    \
    const T_ *x = xs;                                                                                                  \
    A_ *acc = accs;                                                                                                    \
    for (int64_t o = 0; o < outer; o++, x += rows * ld, acc += cols) {                                                 \
      if (cols == 1 && ld == 1 && rows < REDUCTION_LANES)                                                              \
        *acc = name##_short(x, rows);                                                                                  \
      else if (cols == ld && cols <= REDUCTION_LANES / 2) /* fits: at most REDUCTION_LANES / 2 */                      \
        name##_narrow(x, rows, (int)cols, acc);                                                                        \
      else                                                                                                             \
        name##_broad(x, rows, cols, ld, acc);                                                                          \
    }                                                                                                                  \
  }

#endif
