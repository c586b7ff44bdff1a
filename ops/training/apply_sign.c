/* apply_sign.c - optimizers that take larger steps where gradient and mean gradient have the same sign: AddSign,
 * PowerSign.
 *
 * The agreement of signs is -1, 0 or 1, so a step is the gradient times one of three factors. */
#include "base/target_clones.h"
#include "kernels/training/apply.h"

#define SIGN_STEP(T, S)                                                                                                \
  WEFT_TARGET_CLONES static void sign_step_##S(const apply_span *s, T beta, T against, T neither, T with) {            \
    T *restrict var = s->var[0], *restrict m = s->var[1];                                                              \
    const T *restrict g = s->grad, keep = 1 - beta;                                                                    \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T mean = m[i] = m[i] * beta + g[i] * keep, agree = g[i] > 0 ? mean : g[i] < 0 ? -mean : 0;                 \
      var[i] -= (agree > 0 ? with : agree < 0 ? against : neither) * g[i];                                             \
    }                                                                                                                  \
  }
APPLY_REAL(SIGN_STEP)

/* Scalars: lr, alpha, sign_decay, beta. */
#define ADD_SIGN(T, S)                                                                                                 \
  static void add_sign_##S(const apply_span *s) {                                                                      \
    const T *h = s->scalar;                                                                                            \
    sign_step_##S(s, h[3], h[0] * (h[1] - h[2]), h[0] * h[1], h[0] * (h[1] + h[2]));                                   \
  }
APPLY_REAL(ADD_SIGN)

/* Scalars: lr, logbase, sign_decay, beta. */
#define POWER_SIGN(T, S)                                                                                               \
  static void power_sign_##S(const apply_span *s) {                                                                    \
    const T *h = s->scalar;                                                                                            \
    sign_step_##S(s, h[3], h[0] * exp(-h[1] * h[2]), h[0], h[0] * exp(h[1] * h[2]));                                   \
  }
APPLY_REAL(POWER_SIGN)

static weft_err add_sign_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(add_sign)};
  return weft__apply(k, &of);
}

static weft_err power_sign_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(power_sign)};
  return weft__apply(k, &of);
}

static const op_case sign_cases[] = {
    {"&f32[4] 1 2 3 4; &f32[4] .5 3 0 1; f32[] .1; f32[] 1.5; f32[] .9; f32[] .8; f32[4] 1 -1 .5 0", NULL, NULL, 0},
    {"&f32[3,90] rand; &f32[3,90] rand; f32[] .1; f32[] 1; f32[] .5; f32[] .9; f32[3,90] rand", NULL, NULL, 0},
    {"&f32[2] 1; &f32[3] 1; f32[] .1; f32[] 1; f32[] .5; f32[] .9; f32[2] 1", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

OPS(apply_sign) = {
    {"ApplyAddSign(var:&T, m:&T, lr:T, alpha:T, sign_decay:T, beta:T, grad:T) -> (out:&T) | T:type{number} "
     "use_locking:bool=false",
     "var -= lr * (alpha + sign_decay * agreement) * grad.", APPLY(add_sign_cpu, sign_cases)},
    {"ResourceApplyAddSign(var:resource, m:resource, lr:T, alpha:T, sign_decay:T, beta:T, grad:T) -> () | "
     "T:type{number} use_locking:bool=false ; stateful",
     "var -= lr * (alpha + sign_decay * agreement) * grad.", APPLY(add_sign_cpu, sign_cases)},
    {"ApplyPowerSign(var:&T, m:&T, lr:T, logbase:T, sign_decay:T, beta:T, grad:T) -> (out:&T) | T:type{number} "
     "use_locking:bool=false",
     "var -= lr * exp(logbase * sign_decay * agreement) * grad.", APPLY(power_sign_cpu, sign_cases)},
    {"ResourceApplyPowerSign(var:resource, m:resource, lr:T, logbase:T, sign_decay:T, beta:T, grad:T) -> () | "
     "T:type{number} use_locking:bool=false ; stateful",
     "var -= lr * exp(logbase * sign_decay * agreement) * grad.", APPLY(power_sign_cpu, sign_cases)},
    {0},
};
