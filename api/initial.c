/* initial.c - checks an initial value that a program passes and converts it to the graph's type. */
#include "api/initial.h"
#include "weft/train.h"

static const initializer_kind kinds[] = {
    [WEFT_INIT_DEFAULT] = INIT_DEFAULT,       [WEFT_INIT_ZEROS] = INIT_ZEROS,       [WEFT_INIT_ONES] = INIT_ONES,
    [WEFT_INIT_CONSTANT] = INIT_CONSTANT,     [WEFT_INIT_UNIFORM] = INIT_UNIFORM,   [WEFT_INIT_NORMAL] = INIT_NORMAL,
    [WEFT_INIT_TRUNCATED] = INIT_TRUNCATED,   [WEFT_INIT_VALUE] = INIT_TENSOR,      [WEFT_INIT_SCALING] = INIT_SCALING,
    [WEFT_INIT_ORTHOGONAL] = INIT_ORTHOGONAL, [WEFT_INIT_IDENTITY] = INIT_IDENTITY, [WEFT_INIT_UNIT] = INIT_UNIT};
static const scaling_fan fans[] = {[WEFT_FAN_IN] = FAN_IN, [WEFT_FAN_OUT] = FAN_OUT, [WEFT_FAN_AVG] = FAN_AVG};
static const scaling_shape spreads[] = {[WEFT_SPREAD_TRUNCATED] = SCALE_TRUNCATED,
                                        [WEFT_SPREAD_UNIFORM] = SCALE_UNIFORM,
                                        [WEFT_SPREAD_NORMAL] = SCALE_NORMAL};

static weft_err initial_check(const weft_initial *init) {
  if (init->kind < WEFT_INIT_DEFAULT || init->kind > WEFT_INIT_UNIT)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is no kind of initializer", (int)init->kind);
  if (init->kind == WEFT_INIT_VALUE && !init->value)
    return weft__fail(WEFT_INVALID_ARGUMENT, "an initializer by value has no value");
  if (init->kind == WEFT_INIT_SCALING && (init->fan < WEFT_FAN_IN || init->fan > WEFT_FAN_AVG ||
                                          init->spread < WEFT_SPREAD_TRUNCATED || init->spread > WEFT_SPREAD_NORMAL))
    return weft__fail(WEFT_INVALID_ARGUMENT, "an initializer by scale has fan %d and spread %d", (int)init->fan,
                      (int)init->spread);
  return WEFT_OK;
}

weft_err weft__api_initializer(initializer *out, const weft_initial *init) {
  *out = (initializer){0};
  if (!init) return WEFT_OK;
  WEFT_TRY(initial_check(init));
  *out = (initializer){.kind = kinds[init->kind],
                       .a = init->a,
                       .b = init->b,
                       .has_seed = init->has_seed,
                       .seed = init->seed,
                       .tensor = init->value};
  if (init->kind >= WEFT_INIT_SCALING && init->a == 0) out->a = 1;
  if (init->kind != WEFT_INIT_SCALING) return WEFT_OK;
  out->fan = fans[init->fan];
  out->spread = spreads[init->spread];
  return WEFT_OK;
}
