/* apply_rmsprop.c - optimizers that scale by a running mean of squared gradients: RMSProp, CenteredRMSProp,
 * Adadelta. */
#include "base/target_clones.h"
#include "kernels/training/apply.h"

/* Scalars: lr, rho, momentum, epsilon. */
#define RMSPROP(T, S)                                                                                                  \
  WEFT_TARGET_CLONES static void rmsprop_##S(const apply_span *s) {                                                    \
    T *restrict var = s->var[0], *restrict ms = s->var[1], *restrict mom = s->var[2];                                  \
    const T *restrict g = s->grad, *h = s->scalar, lr = h[0], keep = 1 - h[1], momentum = h[2], epsilon = h[3];        \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T square = ms[i] = ms[i] + (g[i] * g[i] - ms[i]) * keep;                                                   \
      const T move = mom[i] = mom[i] * momentum + g[i] * lr / sqrt(square + epsilon);                                  \
      var[i] -= move;                                                                                                  \
    }                                                                                                                  \
  }
APPLY_NUMBER(RMSPROP)

/* Scalars: lr, rho, momentum, epsilon.  The scale is an estimate of the variance: mean square minus squared mean. */
#define CENTERED(T, S)                                                                                                 \
  WEFT_TARGET_CLONES static void centered_##S(const apply_span *s) {                                                   \
    T *restrict var = s->var[0], *restrict mg = s->var[1], *restrict ms = s->var[2], *restrict mom = s->var[3];        \
    const T *restrict g = s->grad, *h = s->scalar, lr = h[0], keep = 1 - h[1], momentum = h[2], epsilon = h[3];        \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T square = ms[i] = ms[i] + (g[i] * g[i] - ms[i]) * keep, mean = mg[i] = mg[i] + (g[i] - mg[i]) * keep;     \
      const T move = mom[i] = mom[i] * momentum + g[i] * lr / sqrt(square - mean * mean + epsilon);                    \
      var[i] -= move;                                                                                                  \
    }                                                                                                                  \
  }
APPLY_NUMBER(CENTERED)

/* Scalars: lr, rho, epsilon.  The size of a step follows earlier steps, not the size of the gradient. */
#define ADADELTA(T, S)                                                                                                 \
  WEFT_TARGET_CLONES static void adadelta_##S(const apply_span *s) {                                                   \
    T *restrict var = s->var[0], *restrict accum = s->var[1], *restrict steps = s->var[2];                             \
    const T *restrict g = s->grad, *h = s->scalar, lr = h[0], rho = h[1], keep = 1 - h[1], epsilon = h[2];             \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T square = accum[i] = accum[i] * rho + g[i] * g[i] * keep;                                                 \
      const T move = sqrt(steps[i] + epsilon) / sqrt(square + epsilon) * g[i];                                         \
      var[i] -= move * lr;                                                                                             \
      steps[i] = steps[i] * rho + move * move * keep;                                                                  \
    }                                                                                                                  \
  }
APPLY_NUMBER(ADADELTA)

static weft_err rmsprop_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(rmsprop)};
  return weft__apply(k, &of);
}

static weft_err centered_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(centered)};
  return weft__apply(k, &of);
}

static weft_err adadelta_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(adadelta)};
  return weft__apply(k, &of);
}

static const op_case rmsprop_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] 1; &f32[4] 0; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] pos; &f32[3,90] rand; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[3,90] rand", NULL,
     NULL, 0},
    {"&f32[2] 1; &f32[2] 1; &f32[2] 0; f32[2] .1; f32[] .9; f32[] .5; f32[] .01; f32[2] 1", "error INVALID_ARGUMENT",
     NULL, 0},
    {0},
};
static const op_case sparse_rmsprop_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; &f32[4,3] rand; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[3,3] rand; "
     "i32[3] 1 3 1",
     NULL, NULL, 0},
    {"&f32[4,3] rand; &f32[4,3] pos; &f32[4,3] rand; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[1,3] rand; i64[1] 2",
     NULL, NULL, 0},
    {"&f32[4] 1; &f32[4] 1; &f32[4] 0; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[1] 1; i32[1] -1",
     "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case centered_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .1; &f32[4] 1; &f32[4] 0; f32[] .1; f32[] .9; f32[] .5; f32[] .01; f32[4] 1 -1 .5 0",
     NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] .1; &f32[3,90] 1.5; &f32[3,90] rand; f32[] .1; f32[] .9; f32[] .5; f32[] .01; "
     "f32[3,90] rand",
     NULL, NULL, 0},
    {0},
};
static const op_case sparse_centered_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] .1; &f32[4,3] 1.5; &f32[4,3] rand; f32[] .1; f32[] .9; f32[] .5; f32[] .01; "
     "f32[3,3] rand; i32[3] 1 3 1",
     NULL, NULL, 0},
    {0},
};
static const op_case adadelta_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] 1; &f32[4] .5; f32[] .1; f32[] .9; f32[] .01; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] pos; &f32[3,90] pos; f32[] .1; f32[] .9; f32[] .01; f32[3,90] rand", NULL, NULL, 0},
    {0},
};
static const op_case sparse_adadelta_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; &f32[4,3] pos; f32[] .1; f32[] .9; f32[] .01; f32[3,3] rand; i32[3] 1 3 1", NULL,
     NULL, 0},
    {0},
};

OPS(apply_rmsprop) = {
    {"ApplyRMSProp(var:&T, ms:&T, mom:&T, lr:T, rho:T, momentum:T, epsilon:T, grad:T) -> (out:&T) | "
     "T:type{number} use_locking:bool=false",
     "A step over the root of the mean squared gradient, with momentum.", APPLY(rmsprop_cpu, rmsprop_cases)},
    {"ResourceApplyRMSProp(var:resource, ms:resource, mom:resource, lr:T, rho:T, momentum:T, epsilon:T, "
     "grad:T) -> () | T:type{number} use_locking:bool=false ; stateful",
     "A step over the root of the mean squared gradient, with momentum.", APPLY(rmsprop_cpu, rmsprop_cases)},
    {"SparseApplyRMSProp(var:&T, ms:&T, mom:&T, lr:T, rho:T, momentum:T, epsilon:T, grad:T, indices:Tindices) "
     "-> (out:&T) | T:type{number} Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyRMSProp of the rows of var named by indices.", APPLY(rmsprop_cpu, sparse_rmsprop_cases)},
    {"ResourceSparseApplyRMSProp(var:resource, ms:resource, mom:resource, lr:T, rho:T, momentum:T, epsilon:T, "
     "grad:T, indices:Tindices) -> () | T:type{number} Tindices:type{int32,int64} use_locking:bool=false ; "
     "stateful",
     "ApplyRMSProp of the rows of var named by indices.", APPLY(rmsprop_cpu, sparse_rmsprop_cases)},
    {"ApplyCenteredRMSProp(var:&T, mg:&T, ms:&T, mom:&T, lr:T, rho:T, momentum:T, epsilon:T, grad:T) -> "
     "(out:&T) | T:type{number} use_locking:bool=false",
     "A step over the deviation of the gradient, with momentum.", APPLY(centered_cpu, centered_cases)},
    {"ResourceApplyCenteredRMSProp(var:resource, mg:resource, ms:resource, mom:resource, lr:T, rho:T, "
     "momentum:T, epsilon:T, grad:T) -> () | T:type{number} use_locking:bool=false ; stateful",
     "A step over the deviation of the gradient, with momentum.", APPLY(centered_cpu, centered_cases)},
    {"SparseApplyCenteredRMSProp(var:&T, mg:&T, ms:&T, mom:&T, lr:T, rho:T, momentum:T, epsilon:T, grad:T, "
     "indices:Tindices) -> (out:&T) | T:type{number} Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyCenteredRMSProp of the rows of var named by indices.", APPLY(centered_cpu, sparse_centered_cases)},
    {"ResourceSparseApplyCenteredRMSProp(var:resource, mg:resource, ms:resource, mom:resource, lr:T, rho:T, "
     "momentum:T, epsilon:T, grad:T, indices:Tindices) -> () | T:type{number} Tindices:type{int32,int64} "
     "use_locking:bool=false ; stateful",
     "ApplyCenteredRMSProp of the rows of var named by indices.", APPLY(centered_cpu, sparse_centered_cases)},
    {"ApplyAdadelta(var:&T, accum:&T, accum_update:&T, lr:T, rho:T, epsilon:T, grad:T) -> (out:&T) | "
     "T:type{number} use_locking:bool=false",
     "A step as large as the steps before it.", APPLY(adadelta_cpu, adadelta_cases)},
    {"ResourceApplyAdadelta(var:resource, accum:resource, accum_update:resource, lr:T, rho:T, epsilon:T, "
     "grad:T) -> () | T:type{number} use_locking:bool=false ; stateful",
     "A step as large as the steps before it.", APPLY(adadelta_cpu, adadelta_cases)},
    {"SparseApplyAdadelta(var:&T, accum:&T, accum_update:&T, lr:T, rho:T, epsilon:T, grad:T, indices:Tindices) "
     "-> (out:&T) | T:type{number} Tindices:type{int32,int64} use_locking:bool=false",
     "ApplyAdadelta of the rows of var named by indices.", APPLY(adadelta_cpu, sparse_adadelta_cases)},
    {"ResourceSparseApplyAdadelta(var:resource, accum:resource, accum_update:resource, lr:T, rho:T, epsilon:T, "
     "grad:T, indices:Tindices) -> () | T:type{number} Tindices:type{int32,int64} use_locking:bool=false ; "
     "stateful",
     "ApplyAdadelta of the rows of var named by indices.", APPLY(adadelta_cpu, sparse_adadelta_cases)},
    {0},
};
