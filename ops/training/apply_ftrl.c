/* apply_ftrl.c - Ftrl: recomputes the variable from a linear sum of gradients; l1 makes small elements exactly zero.
 *
 * lr_power is nearly always -0.5, so the power is a square root; any other value uses pow. */
#include "base/target_clones.h"
#include "kernels/training/apply.h"

/* Scalars: lr, l1, l2. `scaled` means that the linear term is stored multiplied by lr. */
#define FTRL(T, S)                                                                                                     \
  static inline __attribute__((always_inline)) void ftrl_step_##S(const apply_span *s, T shrink, T power, bool scaled, \
                                                                  bool root) {                                         \
    T *restrict var = s->var[0], *restrict accum = s->var[1], *restrict linear = s->var[2];                            \
    const T *restrict g = s->grad, *h = s->scalar, lr = scaled ? 1 : h[0], times = scaled ? h[0] : 1;                  \
    const T l1 = h[1] * times, l2 = 2 * h[2] * times;                                                                  \
    for (int64_t i = 0; i < s->n; i++) {                                                                               \
      const T old = accum[i], now = old + g[i] * g[i];                                                                 \
      const T was = root ? sqrt(old) : pow(old, -power), is = root ? sqrt(now) : pow(now, -power);                     \
      const T x = linear[i] + (g[i] + 2 * shrink * var[i]) * times - (is - was) / lr * var[i];                         \
      var[i] = fabs(x) > l1 ? (copysign(l1, x) - x) / (is / lr + l2) : 0;                                              \
      linear[i] = x;                                                                                                   \
      accum[i] = now;                                                                                                  \
    }                                                                                                                  \
  }                                                                                                                    \
  WEFT_TARGET_CLONES static void ftrl_both_##S(const apply_span *s, T shrink, T power) {                               \
    if (power == (T)-0.5)                                                                                              \
      ftrl_step_##S(s, shrink, power, s->option, true);                                                                \
    else                                                                                                               \
      ftrl_step_##S(s, shrink, power, s->option, false);                                                               \
  }                                                                                                                    \
  /* lr, l1, l2, lr_power; lr, l1, l2, l2_shrinkage, lr_power */                                                       \
  static void ftrl_##S(const apply_span *s) { ftrl_both_##S(s, 0, ((const T *)s->scalar)[3]); }                        \
  static void ftrl_v2_##S(const apply_span *s) {                                                                       \
    ftrl_both_##S(s, ((const T *)s->scalar)[3], ((const T *)s->scalar)[4]);                                            \
  }
APPLY_REAL(FTRL)

static weft_err ftrl_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(ftrl), .option = "multiply_linear_by_lr",
                               .signs = SIGNS_CHECKED_SPARSE};
  return weft__apply(k, &of);
}

static weft_err ftrl_v2_cpu(kernel *k) {
  static const optimizer of = {APPLY_LOOPS_REAL(ftrl_v2), .option = "multiply_linear_by_lr",
                               .signs = SIGNS_CHECKED_SPARSE};
  return weft__apply(k, &of);
}

static const op_case ftrl_cases[] = {
    {"&f32[4] 1 2 3 0; &f32[4] .1; &f32[4] .3 -4 0 0; f32[4] 1 -1 .5 0; f32[] .5; f32[] .1; f32[] .2; f32[] -.5", NULL,
     NULL, 0},
    {"&f32[40] rand; &f32[40] pos; &f32[40] rand; f32[40] rand; f32[] .5; f32[] .1; f32[] .2; f32[] -.7", NULL, NULL,
     0},
    {"&f32[40] rand; &f32[40] pos; &f32[40] rand; f32[40] rand; f32[] .5; f32[] .1; f32[] .2; f32[] -.5", NULL,
     "multiply_linear_by_lr=true", 0},
    {0},
};
static const op_case sparse_ftrl_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; &f32[4,3] rand; f32[3,3] rand; i32[3] 1 3 1; f32[] .5; f32[] .1; f32[] .2; "
     "f32[] -.5",
     NULL, NULL, 0},
    {"&f32[4] rand; &f32[4] pos; &f32[4] rand; f32[3] rand; i64[3] 1 3 0; f32[] .5; f32[] .1; f32[] .2; f32[] -.7",
     NULL, "multiply_linear_by_lr=true", 0},
    {"&f32[2] 1; &f32[2] 1; &f32[2] 1; f32[1] 1; i32[1] 1; f32[] .5; f32[] -.1; f32[] .2; f32[] -.5",
     "error INVALID_ARGUMENT", NULL, 0},
    {0},
};
static const op_case ftrl_v2_cases[] = {
    {"&f32[4] 1 2 3 0; &f32[4] .1; &f32[4] .3 -4 0 0; f32[4] 1 -1 .5 0; f32[] .5; f32[] .1; f32[] .2; f32[] .3; "
     "f32[] -.5",
     NULL, NULL, 0},
    {"&f32[40] rand; &f32[40] pos; &f32[40] rand; f32[40] rand; f32[] .5; f32[] .1; f32[] .2; f32[] .3; f32[] -.5",
     NULL, "multiply_linear_by_lr=true", 0},
    {0},
};
static const op_case sparse_ftrl_v2_cases[] = {
    {"&f32[4,3] rand; &f32[4,3] pos; &f32[4,3] rand; f32[3,3] rand; i32[3] 1 3 1; f32[] .5; f32[] .1; f32[] .2; "
     "f32[] .3; f32[] -.5",
     NULL, NULL, 0},
    {0},
};

OPS(apply_ftrl) = {
    {"ApplyFtrl(var:&T, accum:&T, linear:&T, grad:T, lr:T, l1:T, l2:T, lr_power:T) -> (out:&T) | "
     "T:type{number} use_locking:bool=false multiply_linear_by_lr:bool=false",
     "Follow the regularised leader.", APPLY(ftrl_cpu, ftrl_cases)},
    {"ResourceApplyFtrl(var:resource, accum:resource, linear:resource, grad:T, lr:T, l1:T, l2:T, lr_power:T) "
     "-> () | T:type{number} use_locking:bool=false multiply_linear_by_lr:bool=false ; stateful",
     "Follow the regularised leader.", APPLY(ftrl_cpu, ftrl_cases)},
    {"SparseApplyFtrl(var:&T, accum:&T, linear:&T, grad:T, indices:Tindices, lr:T, l1:T, l2:T, lr_power:T) -> "
     "(out:&T) | T:type{number} Tindices:type{int32,int64} use_locking:bool=false "
     "multiply_linear_by_lr:bool=false",
     "ApplyFtrl of the rows of var named by indices.", APPLY(ftrl_cpu, sparse_ftrl_cases)},
    {"ResourceSparseApplyFtrl(var:resource, accum:resource, linear:resource, grad:T, indices:Tindices, lr:T, "
     "l1:T, l2:T, lr_power:T) -> () | T:type{number} Tindices:type{int32,int64} use_locking:bool=false "
     "multiply_linear_by_lr:bool=false ; stateful",
     "ApplyFtrl of the rows of var named by indices.", APPLY(ftrl_cpu, sparse_ftrl_cases)},
    {"ApplyFtrlV2(var:&T, accum:&T, linear:&T, grad:T, lr:T, l1:T, l2:T, l2_shrinkage:T, lr_power:T) -> "
     "(out:&T) | T:type{number} use_locking:bool=false multiply_linear_by_lr:bool=false",
     "Ftrl with l2 shrinkage of the gradient.", APPLY(ftrl_v2_cpu, ftrl_v2_cases)},
    {"ResourceApplyFtrlV2(var:resource, accum:resource, linear:resource, grad:T, lr:T, l1:T, l2:T, "
     "l2_shrinkage:T, lr_power:T) -> () | T:type{number} use_locking:bool=false "
     "multiply_linear_by_lr:bool=false ; stateful",
     "Ftrl with l2 shrinkage of the gradient.", APPLY(ftrl_v2_cpu, ftrl_v2_cases)},
    {"SparseApplyFtrlV2(var:&T, accum:&T, linear:&T, grad:T, indices:Tindices, lr:T, l1:T, l2:T, "
     "l2_shrinkage:T, lr_power:T) -> (out:&T) | T:type{number} Tindices:type{int32,int64} "
     "use_locking:bool=false multiply_linear_by_lr:bool=false",
     "ApplyFtrlV2 of the rows of var named by indices.", APPLY(ftrl_v2_cpu, sparse_ftrl_v2_cases)},
    {"ResourceSparseApplyFtrlV2(var:resource, accum:resource, linear:resource, grad:T, indices:Tindices, lr:T, "
     "l1:T, l2:T, l2_shrinkage:T, lr_power:T) -> () | T:type{number} Tindices:type{int32,int64} "
     "use_locking:bool=false multiply_linear_by_lr:bool=false ; stateful",
     "ApplyFtrlV2 of the rows of var named by indices.", APPLY(ftrl_v2_cpu, sparse_ftrl_v2_cases)},
    {0},
};
