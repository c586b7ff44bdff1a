/* apply_descent.c - gradient descent: GradientDescent, Momentum, ProximalGradientDescent. */
#include "base/target_clones.h"
#include "graph/fusion.h"
#include "kernels/training/apply.h"

/* Scalars: alpha. */
#define DESCEND(T, S)                                                                                                  \
  WEFT_TARGET_CLONES static void descend_##S(const apply_span *s) {                                                    \
    T *restrict var = s->var[0];                                                                                       \
    const T *restrict g = s->grad, alpha = *(const T *)s->scalar;                                                      \
    for (int64_t i = 0; i < s->n; i++) var[i] -= alpha * g[i];                                                         \
  }
APPLY_NUMBER(DESCEND)

/* Scalars: lr, momentum.  The Nesterov variant looks one step ahead. */
#define MOMENTUM(T, S)                                                                                                 \
  WEFT_TARGET_CLONES static void momentum_##S(const apply_span *s) {                                                   \
    T *restrict var = s->var[0], *restrict accum = s->var[1];                                                          \
    const T *restrict g = s->grad, lr = ((const T *)s->scalar)[0], momentum = ((const T *)s->scalar)[1];               \
    const bool nesterov = s->option;                                                                                   \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T a = accum[i] = accum[i] * momentum + g[i];                                                               \
      var[i] -= nesterov ? g[i] * lr + a * momentum * lr : a * lr;                                                     \
    }                                                                                                                  \
  }
APPLY_NUMBER(MOMENTUM)

/* Scalars: lr, momentum.  The same, but the accumulator already contains the learning rate. */
#define KERAS_MOMENTUM(T, S)                                                                                           \
  WEFT_TARGET_CLONES static void keras_momentum_##S(const apply_span *s) {                                             \
    T *restrict var = s->var[0], *restrict accum = s->var[1];                                                          \
    const T *restrict g = s->grad, lr = ((const T *)s->scalar)[0], momentum = ((const T *)s->scalar)[1];               \
    const bool nesterov = s->option;                                                                                   \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T a = accum[i] = accum[i] * momentum - g[i] * lr;                                                          \
      var[i] += nesterov ? a * momentum - g[i] * lr : a;                                                               \
    }                                                                                                                  \
  }
APPLY_NUMBER(KERAS_MOMENTUM)

/* Scalars: alpha, l1, l2.  A step, then shrinkage toward zero. */
#define PROXIMAL(T, S)                                                                                                 \
  WEFT_TARGET_CLONES static void proximal_##S(const apply_span *s) {                                                   \
    T *restrict var = s->var[0];                                                                                       \
    const T *restrict g = s->grad, *h = s->scalar, alpha = h[0], l1 = h[1], scale = 1 + alpha * h[2];                  \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T x = var[i] - alpha * g[i], size = fabs(x) - alpha * l1;                                                  \
      var[i] = l1 > 0 ? (size > 0 ? copysign(size, x) : 0) / scale : x / scale;                                        \
    }                                                                                                                  \
  }
APPLY_REAL(PROXIMAL)

static weft_err descend_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(descend)};
  return weft__apply(k, &of);
}

static weft_err momentum_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(momentum), .option = "use_nesterov"};
  return weft__apply(k, &of);
}

static weft_err keras_momentum_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(keras_momentum), .option = "use_nesterov"};
  return weft__apply(k, &of);
}

static weft_err proximal_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(proximal)};
  return weft__apply(k, &of);
}

static const op_case descend_cases[] = {
    {"&f32[3] 1 2 3; f32[] .5; f32[3] 1 1 -2", NULL, NULL, 0},
    {"&f32[7,300] normal; f32[] .01; f32[7,300] rand", NULL, NULL, 0},
    {"&f32[0] 0; f32[] .01; f32[0] 0", NULL, NULL, 0},
    {"&f32[3] 1; f32[] .5; f32[4] 1", "error INVALID_ARGUMENT", NULL, 0},
    {"&f32[3] 1; f32[1] .5; f32[3] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case momentum_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .5 -1 0 2; f32[] .1; f32[4] 1 -1 .5 2; f32[] .9", NULL, NULL, 0},
    {"&f32[5,100] rand; &f32[5,100] rand; f32[] .1; f32[5,100] rand; f32[] .9", NULL, "use_nesterov=true", 0},
    {"&f32[4] 1; &f32[3] 0; f32[] .1; f32[4] 1; f32[] .9", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case sparse_momentum_cases[] = {
    {"&f32[4,2] rand; &f32[4,2] rand; f32[] .1; f32[3,2] rand; i32[3] 1 3 1; f32[] .9", NULL, NULL, 0},
    {"&f32[4,2] rand; &f32[4,2] rand; f32[] .1; f32[3,2] rand; i64[3] 0 3 2; f32[] .9", NULL, "use_nesterov=true", 0},
    {"&f32[40] rand; &f32[40] rand; f32[] .1; f32[9] rand; i32[9] below:40; f32[] .9", NULL, NULL, 0},
    {"&f32[4,2] rand; &f32[4,2] rand; f32[] .1; f32[0,2] 0; i32[0] 0; f32[] .9", NULL, NULL, 0},
    {"&f32[4,2] 1; &f32[4,2] 0; f32[] .1; f32[1,2] 1; i32[1] 4; f32[] .9", "error INVALID_ARGUMENT", NULL, 0},
    {"&f32[4,2] 1; &f32[4,2] 0; f32[] .1; f32[1,3] 1; i32[1] 1; f32[] .9", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case proximal_cases[] = {
    {"&f32[5] 1 -2 3 .01 0; f32[] .5; f32[] .1; f32[] .2; f32[5] 1 -1 .5 .01 0", NULL, NULL, 0},
    {"&f32[5,9] rand; f32[] .5; f32[] 0; f32[] .2; f32[5,9] rand", NULL, NULL, 0},
    {0},
};
static const op_case sparse_proximal_cases[] = {
    {"&f32[4,2] rand; f32[] .5; f32[] .1; f32[] .2; f32[3,2] rand; i32[3] 1 3 1", NULL, NULL, 0},
    {"&f32[4,2] rand; f32[] .5; f32[] 0; f32[] .2; f32[2,2] rand; i64[2] 1 0", NULL, NULL, 0},
    {0},
};

static const fusion descends = {.updates = &weft__update_descend};

OPS(apply_descent) = {
    {"ApplyGradientDescent(var:&T, alpha:T, delta:T) -> (out:&T) | T:type{number} use_locking:bool=false",
     "var -= alpha * delta.", APPLY(descend_cpu, descend_cases), .fusion = &descends},
    {"ResourceApplyGradientDescent(var:resource, alpha:T, delta:T) -> () | T:type{number} use_locking:bool=false ; "
     "stateful",
     "var -= alpha * delta.", APPLY(descend_cpu, descend_cases), .fusion = &descends},
    {"ApplyMomentum(var:&T, accum:&T, lr:T, grad:T, momentum:T) -> (out:&T) | T:type{number} use_locking:bool=false "
     "use_nesterov:bool=false",
     "accum = accum * momentum + grad; var -= lr * accum.", APPLY(momentum_cpu, momentum_cases)},
    {"ResourceApplyMomentum(var:resource, accum:resource, lr:T, grad:T, momentum:T) -> () | T:type{number} "
     "use_locking:bool=false use_nesterov:bool=false ; stateful",
     "accum = accum * momentum + grad; var -= lr * accum.", APPLY(momentum_cpu, momentum_cases)},
    {"SparseApplyMomentum(var:&T, accum:&T, lr:T, grad:T, indices:Tindices, momentum:T) -> (out:&T) | T:type{number} "
     "Tindices:type{int32,int64} use_locking:bool=false use_nesterov:bool=false",
     "ApplyMomentum of the rows of var named by indices.", APPLY(momentum_cpu, sparse_momentum_cases)},
    {"ResourceSparseApplyMomentum(var:resource, accum:resource, lr:T, grad:T, indices:Tindices, momentum:T) -> () | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false use_nesterov:bool=false ; stateful",
     "ApplyMomentum of the rows of var named by indices.", APPLY(momentum_cpu, sparse_momentum_cases)},
    {"ResourceApplyKerasMomentum(var:resource, accum:resource, lr:T, grad:T, momentum:T) -> () | T:type{number} "
     "use_locking:bool=false use_nesterov:bool=false ; stateful",
     "accum = accum * momentum - lr * grad; var += accum.", APPLY(keras_momentum_cpu, momentum_cases)},
    {"ResourceSparseApplyKerasMomentum(var:resource, accum:resource, lr:T, grad:T, indices:Tindices, momentum:T) -> () "
     "| T:type{number} Tindices:type{int32,int64} use_locking:bool=false use_nesterov:bool=false ; stateful",
     "ResourceApplyKerasMomentum of the rows of var named by indices.",
     APPLY(keras_momentum_cpu, sparse_momentum_cases)},
    {"ApplyProximalGradientDescent(var:&T, alpha:T, l1:T, l2:T, delta:T) -> (out:&T) | T:type{number} "
     "use_locking:bool=false",
     "A step down delta, then l1 and l2 regularisation.", APPLY(proximal_cpu, proximal_cases)},
    {"ResourceApplyProximalGradientDescent(var:resource, alpha:T, l1:T, l2:T, delta:T) -> () | T:type{number} "
     "use_locking:bool=false ; stateful",
     "A step down delta, then l1 and l2 regularisation.", APPLY(proximal_cpu, proximal_cases)},
    {"SparseApplyProximalGradientDescent(var:&T, alpha:T, l1:T, l2:T, grad:T, indices:Tindices) -> (out:&T) | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyProximalGradientDescent of the rows of var named by indices.", APPLY(proximal_cpu, sparse_proximal_cases)},
    {"ResourceSparseApplyProximalGradientDescent(var:resource, alpha:T, l1:T, l2:T, grad:T, indices:Tindices) -> () | "
     "T:type{number} Tindices:type{int32,int64} use_locking:bool=false ; stateful",
     "ApplyProximalGradientDescent of the rows of var named by indices.", APPLY(proximal_cpu, sparse_proximal_cases)},
    {0},
};
