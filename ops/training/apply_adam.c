/* apply_adam.c - optimizers that scale by running moments of the gradient: Adam, AdaMax, Adam with Amsgrad. */
#include "base/target_clones.h"
#include "kernels/training/apply.h"

/* Scalars: beta1_power, beta2_power, lr, beta1, beta2, epsilon. */
#define ADAM(T, S)                                                                                                     \
  WEFT_TARGET_CLONES static void adam_##S(const apply_span *s) {                                                       \
    T *restrict var = s->var[0], *restrict m = s->var[1], *restrict v = s->var[2];                                     \
    const T *restrict g = s->grad, *h = s->scalar, alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]);                         \
    const T beta1 = h[3], keep1 = 1 - h[3], keep2 = 1 - h[4], epsilon = h[5];                                          \
    const bool nesterov = s->option;                                                                                   \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T mean = m[i] = m[i] + (g[i] - m[i]) * keep1, square = v[i] = v[i] + (g[i] * g[i] - v[i]) * keep2;         \
      const T ahead = nesterov ? g[i] * keep1 + beta1 * mean : mean;                                                   \
      var[i] -= ahead * alpha / (sqrt(square) + epsilon);                                                              \
    }                                                                                                                  \
  }
APPLY_NUMBER(ADAM)

/* Scalars: beta1_power, lr, beta1, beta2, epsilon. */
#define ADAMAX(T, S)                                                                                                   \
  WEFT_TARGET_CLONES static void adamax_##S(const apply_span *s) {                                                     \
    T *restrict var = s->var[0], *restrict m = s->var[1], *restrict v = s->var[2];                                     \
    const T *restrict g = s->grad, *h = s->scalar, rate = h[1] / (1 - h[0]);                                           \
    const T keep1 = 1 - h[2], beta2 = h[3], epsilon = h[4];                                                            \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T old = v[i] * beta2, now = fabs(g[i]), most = v[i] = old > now ? old : now;                               \
      const T mean = m[i] = m[i] + (g[i] - m[i]) * keep1;                                                              \
      var[i] -= rate * (mean / (most + epsilon));                                                                      \
    }                                                                                                                  \
  }
APPLY_REAL(ADAMAX)

/* Adam, but divides by the largest second moment so far. */
#define AMSGRAD(T, S)                                                                                                  \
  WEFT_TARGET_CLONES static void amsgrad_##S(const apply_span *s) {                                                    \
    T *restrict var = s->var[0], *restrict m = s->var[1], *restrict v = s->var[2], *restrict vhat = s->var[3];         \
    const T *restrict g = s->grad, *h = s->scalar, alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]);                         \
    const T keep1 = 1 - h[3], keep2 = 1 - h[4], epsilon = h[5];                                                        \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T mean = m[i] = m[i] + (g[i] - m[i]) * keep1, square = v[i] = v[i] + (g[i] * g[i] - v[i]) * keep2;         \
      const T most = vhat[i] = vhat[i] > square ? vhat[i] : square;                                                    \
      var[i] -= mean * alpha / (sqrt(most) + epsilon);                                                                 \
    }                                                                                                                  \
  }
APPLY_REAL(AMSGRAD)

static weft_err adam_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_NUMBER(adam), .option = "use_nesterov"};
  return weft__apply(k, &of);
}

static weft_err adamax_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(adamax)};
  return weft__apply(k, &of);
}

static weft_err amsgrad_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(amsgrad)};
  return weft__apply(k, &of);
}

static const op_case adam_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] 0; &f32[4] 0; f32[] .9; f32[] .999; f32[] .1; f32[] .9; f32[] .999; f32[] 1e-8; "
     "f32[4] 1 -1 .5 0",
     NULL, NULL, 0},
    {"&f32[3,200] rand; &f32[3,200] rand; &f32[3,200] pos; f32[] .81; f32[] .99; f32[] .01; f32[] .9; f32[] .999; "
     "f32[] .001; f32[3,200] rand",
     NULL, "use_nesterov=true", 0},
    {"&f32[2] 1; &f32[2] 0; &f32[3] 0; f32[] .9; f32[] .9; f32[] .1; f32[] .9; f32[] .9; f32[] .1; f32[2] 1",
     "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case adamax_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] 0; &f32[4] .2; f32[] .9; f32[] .1; f32[] .9; f32[] .999; f32[] 1e-3; f32[4] 1 -1 .5 0",
     NULL, NULL, 0},
    {"&f32[40] rand; &f32[40] rand; &f32[40] pos; f32[] .8; f32[] .1; f32[] .9; f32[] .99; f32[] 1e-3; f32[40] rand",
     NULL, NULL, 0},
    {0},
};
static const op_case amsgrad_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .1; &f32[4] .2; &f32[4] .5 0 .1 .3; f32[] .9; f32[] .99; f32[] .1; f32[] .9; f32[] .9; "
     "f32[] 1e-3; f32[4] 1 -1 .5 0",
     NULL, NULL, 0},
    {0},
};

OPS(apply_adam) = {
    {"ApplyAdam(var:&T, m:&T, v:&T, beta1_power:T, beta2_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T) "
     "-> (out:&T) | T:type{number} use_locking:bool=false use_nesterov:bool=false",
     "Adam: a step along the mean gradient over the root of its mean square.", APPLY(adam_cpu, adam_cases)},
    {"ResourceApplyAdam(var:resource, m:resource, v:resource, beta1_power:T, beta2_power:T, lr:T, beta1:T, "
     "beta2:T, epsilon:T, grad:T) -> () | T:type{number} use_locking:bool=false use_nesterov:bool=false ; "
     "stateful",
     "Adam: a step along the mean gradient over the root of its mean square.", APPLY(adam_cpu, adam_cases)},
    {"ApplyAdaMax(var:&T, m:&T, v:&T, beta1_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T) -> (out:&T) | "
     "T:type{number} use_locking:bool=false",
     "Adam with the largest gradient in place of the mean square.", APPLY(adamax_cpu, adamax_cases)},
    {"ResourceApplyAdaMax(var:resource, m:resource, v:resource, beta1_power:T, lr:T, beta1:T, beta2:T, "
     "epsilon:T, grad:T) -> () | T:type{number} use_locking:bool=false ; stateful",
     "Adam with the largest gradient in place of the mean square.", APPLY(adamax_cpu, adamax_cases)},
    {"ResourceApplyAdamWithAmsgrad(var:resource, m:resource, v:resource, vhat:resource, beta1_power:T, "
     "beta2_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T) -> () | T:type{number} use_locking:bool=false "
     "; stateful",
     "Adam over the largest mean square so far.", APPLY(amsgrad_cpu, amsgrad_cases)},
    {0},
};
