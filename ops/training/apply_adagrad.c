/* apply_adagrad.c - optimizers that scale by the sum of squared gradients: Adagrad, AdagradV2, AdagradDA,
 * ProximalAdagrad. */
#include "base/target_clones.h"
#include "kernels/training/apply.h"

/* Scalars: lr.  The option update_slots says whether the sum grows. */
#define ADAGRAD(T, S)                                                                                                  \
  WEFT_TARGET_CLONES static void adagrad_##S(const apply_span *s) {                                                    \
    T *restrict var = s->var[0], *restrict accum = s->var[1];                                                          \
    const T *restrict g = s->grad, lr = *(const T *)s->scalar;                                                         \
    const bool grow = s->option;                                                                                       \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T sum = accum[i] = grow ? accum[i] + g[i] * g[i] : accum[i];                                               \
      var[i] -= g[i] * lr / sqrt(sum);                                                                                 \
    }                                                                                                                  \
  }
APPLY_NUMBER(ADAGRAD)

/* Scalars: lr, epsilon. */
#define ADAGRAD_V2(T, S)                                                                                               \
  WEFT_TARGET_CLONES static void adagrad_v2_##S(const apply_span *s) {                                                 \
    T *restrict var = s->var[0], *restrict accum = s->var[1];                                                          \
    const T *restrict g = s->grad, lr = ((const T *)s->scalar)[0], epsilon = ((const T *)s->scalar)[1];                \
    const bool grow = s->option;                                                                                       \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T sum = accum[i] = grow ? accum[i] + g[i] * g[i] : accum[i];                                               \
      var[i] -= g[i] * lr / (sqrt(sum) + epsilon);                                                                     \
    }                                                                                                                  \
  }
APPLY_NUMBER(ADAGRAD_V2)

/* Scalars: lr, l1, l2, global_step.  The variable is recomputed from the sum of all gradients (dual averaging). */
#define ADAGRAD_DA(T, S)                                                                                               \
  WEFT_TARGET_CLONES static void adagrad_da_##S(const apply_span *s) {                                                 \
    T *restrict var = s->var[0], *restrict sum = s->var[1], *restrict squares = s->var[2];                             \
    const T *restrict g = s->grad, *h = s->scalar, lr = h[0], l1 = h[1] * h[3], l2 = h[2] * h[3] * h[0];               \
    const bool shrink = h[1] > 0;                                                                                      \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T x = sum[i] = sum[i] + g[i], square = squares[i] = squares[i] + g[i] * g[i], size = fabs(x) - l1;         \
      const T left = shrink ? (size > 0 ? copysign(size, x) : 0) : x;                                                  \
      var[i] = -lr * left / (l2 + sqrt(square));                                                                       \
    }                                                                                                                  \
  }
APPLY_REAL(ADAGRAD_DA)

/* Scalars: lr, l1, l2.  A step of Adagrad, then shrinkage toward zero. */
#define PROXIMAL(T, S)                                                                                                 \
  WEFT_TARGET_CLONES static void proximal_##S(const apply_span *s) {                                                   \
    T *restrict var = s->var[0], *restrict accum = s->var[1];                                                          \
    const T *restrict g = s->grad, *h = s->scalar, lr = h[0], l1 = h[1], l2 = h[2];                                    \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T sum = accum[i] = accum[i] + g[i] * g[i], rate = lr / sqrt(sum);                                          \
      const T x = var[i] - g[i] * rate, size = fabs(x) - rate * l1;                                                    \
      var[i] = (l1 > 0 ? (size > 0 ? copysign(size, x) : 0) : x) / (1 + l2 * rate);                                    \
    }                                                                                                                  \
  }
APPLY_REAL(PROXIMAL)

static weft_err adagrad_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(adagrad), .option = "update_slots"};
  return weft__apply(k, &of);
}

static weft_err adagrad_v2_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(adagrad_v2), .option = "update_slots"};
  return weft__apply(k, &of);
}

static weft_err adagrad_da_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(adagrad_da)};
  return weft__apply(k, &of);
}

static weft_err proximal_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(proximal), .signs = SIGNS_CHECKED};
  return weft__apply(k, &of);
}

static const op_case adagrad_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .1; f32[] .5; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] pos; f32[] .5; f32[3,90] rand", NULL, "update_slots=false", 0},
    {"&f32[4] 1; &f32[4] .1; f32[] .5; f32[2,2] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case sparse_adagrad_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; f32[] .5; f32[3,3] rand; i32[3] 1 3 1", NULL, NULL, 0},
    {"&f32[4] rand; &f32[4] pos; f32[] .5; f32[3] rand; i64[3] 1 3 0", NULL, "update_slots=false", 0},
    {"&f32[4] 1; &f32[4] 1; f32[] .5; f32[2] 1; i32[1] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case adagrad_v2_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .1; f32[] .5; f32[] .01; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] pos; f32[] .5; f32[] .01; f32[3,90] rand", NULL, "update_slots=false", 0},
    {0},
};
static const op_case sparse_adagrad_v2_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; f32[] .5; f32[] .01; f32[3,3] rand; i32[3] 1 3 1", NULL, NULL, 0},
    {0},
};
static const op_case adagrad_da_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .1 0 -2 1; &f32[4] .5; f32[4] 1 -1 .5 0; f32[] .1; f32[] .05; f32[] .2; i64[] 3", NULL,
     NULL, 0},
    {"&f32[40] rand; &f32[40] rand; &f32[40] pos; f32[40] rand; f32[] .1; f32[] 0; f32[] .2; i64[] 7", NULL, NULL, 0},
    {0},
};
static const op_case sparse_adagrad_da_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] rand; &f32[4,3] pos; f32[3,3] rand; i32[3] 1 3 1; f32[] .1; f32[] .05; f32[] .2; "
     "i64[] 3",
     NULL, NULL, 0},
    {0},
};
static const op_case proximal_cases[] = {
    {"&f32[4] 1 2 .01 4; &f32[4] .1; f32[] .5; f32[] .1; f32[] .2; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[40] rand; &f32[40] pos; f32[] .5; f32[] 0; f32[] .2; f32[40] rand", NULL, NULL, 0},
    {"&f32[2] 1; &f32[2] 1; f32[] -.5; f32[] 0; f32[] .2; f32[2] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case sparse_proximal_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; f32[] .5; f32[] .1; f32[] .2; f32[3,3] rand; i32[3] 1 3 1", NULL, NULL, 0},
    {0},
};

OPS(apply_adagrad) = {
    {"ApplyAdagrad(var:&T, accum:&T, lr:T, grad:T) -> (out:&T) | T:type{number} use_locking:bool=false "
     "update_slots:bool=true",
     "A step over the root of the sum of squared gradients.", APPLY(adagrad_cpu, adagrad_cases)},
    {"ResourceApplyAdagrad(var:resource, accum:resource, lr:T, grad:T) -> () | T:type{number} "
     "use_locking:bool=false update_slots:bool=true ; stateful",
     "A step over the root of the sum of squared gradients.", APPLY(adagrad_cpu, adagrad_cases)},
    {"SparseApplyAdagrad(var:&T, accum:&T, lr:T, grad:T, indices:Tindices) -> (out:&T) | T:type{number} "
     "Tindices:type{int32,int64} use_locking:bool=false update_slots:bool=true",
     "ApplyAdagrad of the rows of var named by indices.", APPLY(adagrad_cpu, sparse_adagrad_cases)},
    {"ResourceSparseApplyAdagrad(var:resource, accum:resource, lr:T, grad:T, indices:Tindices) -> () | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false update_slots:bool=true ; stateful",
     "ApplyAdagrad of the rows of var named by indices.", APPLY(adagrad_cpu, sparse_adagrad_cases)},
    {"ApplyAdagradV2(var:&T, accum:&T, lr:T, epsilon:T, grad:T) -> (out:&T) | T:type{number} "
     "use_locking:bool=false update_slots:bool=true",
     "Adagrad with epsilon added to the root.", APPLY(adagrad_v2_cpu, adagrad_v2_cases)},
    {"ResourceApplyAdagradV2(var:resource, accum:resource, lr:T, epsilon:T, grad:T) -> () | T:type{number} "
     "use_locking:bool=false update_slots:bool=true ; stateful",
     "Adagrad with epsilon added to the root.", APPLY(adagrad_v2_cpu, adagrad_v2_cases)},
    {"SparseApplyAdagradV2(var:&T, accum:&T, lr:T, epsilon:T, grad:T, indices:Tindices) -> (out:&T) | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false update_slots:bool=true",
     "ApplyAdagradV2 of the rows of var named by indices.", APPLY(adagrad_v2_cpu, sparse_adagrad_v2_cases)},
    {"ResourceSparseApplyAdagradV2(var:resource, accum:resource, lr:T, epsilon:T, grad:T, indices:Tindices) -> "
     "() | T:type{number} Tindices:type{int32,int64} use_locking:bool=false update_slots:bool=true ; stateful",
     "ApplyAdagradV2 of the rows of var named by indices.", APPLY(adagrad_v2_cpu, sparse_adagrad_v2_cases)},
    {"ApplyAdagradDA(var:&T, gradient_accumulator:&T, gradient_squared_accumulator:&T, grad:T, lr:T, l1:T, "
     "l2:T, global_step:int64) -> (out:&T) | T:type{number} use_locking:bool=false",
     "The variable anew from the sum of all gradients, with l1 and l2 regularisation.",
     APPLY(adagrad_da_cpu, adagrad_da_cases)},
    {"ResourceApplyAdagradDA(var:resource, gradient_accumulator:resource, "
     "gradient_squared_accumulator:resource, grad:T, lr:T, l1:T, l2:T, global_step:int64) -> () | "
     "T:type{number} use_locking:bool=false ; stateful",
     "The variable anew from the sum of all gradients, with l1 and l2 regularisation.",
     APPLY(adagrad_da_cpu, adagrad_da_cases)},
    {"SparseApplyAdagradDA(var:&T, gradient_accumulator:&T, gradient_squared_accumulator:&T, grad:T, "
     "indices:Tindices, lr:T, l1:T, l2:T, global_step:int64) -> (out:&T) | T:type{number} "
     "Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyAdagradDA of the rows of var named by indices.", APPLY(adagrad_da_cpu, sparse_adagrad_da_cases)},
    {"ResourceSparseApplyAdagradDA(var:resource, gradient_accumulator:resource, "
     "gradient_squared_accumulator:resource, grad:T, indices:Tindices, lr:T, l1:T, l2:T, global_step:int64) -> "
     "() | T:type{number} Tindices:type{int32,int64} use_locking:bool=false ; stateful",
     "ApplyAdagradDA of the rows of var named by indices.", APPLY(adagrad_da_cpu, sparse_adagrad_da_cases)},
    {"ApplyProximalAdagrad(var:&T, accum:&T, lr:T, l1:T, l2:T, grad:T) -> (out:&T) | T:type{number} "
     "use_locking:bool=false",
     "A step of Adagrad, then l1 and l2 regularisation.", APPLY(proximal_cpu, proximal_cases)},
    {"ResourceApplyProximalAdagrad(var:resource, accum:resource, lr:T, l1:T, l2:T, grad:T) -> () | "
     "T:type{number} use_locking:bool=false ; stateful",
     "A step of Adagrad, then l1 and l2 regularisation.", APPLY(proximal_cpu, proximal_cases)},
    {"SparseApplyProximalAdagrad(var:&T, accum:&T, lr:T, l1:T, l2:T, grad:T, indices:Tindices) -> (out:&T) | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyProximalAdagrad of the rows of var named by indices.", APPLY(proximal_cpu, sparse_proximal_cases)},
    {"ResourceSparseApplyProximalAdagrad(var:resource, accum:resource, lr:T, l1:T, l2:T, grad:T, "
     "indices:Tindices) -> () | T:type{number} Tindices:type{int32,int64} use_locking:bool=false ; stateful",
     "ApplyProximalAdagrad of the rows of var named by indices.", APPLY(proximal_cpu, sparse_proximal_cases)},
    {0},
};
