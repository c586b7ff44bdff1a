/* optimizer_kinds.c - the table of optimizers: TensorFlow's names of their parameters and slots, and the op of each. */
#include "train/model/adam.h"
#include "train/model/optimizer.h"
#include <math.h>

#define LEARNING_RATE                                                                                                  \
  { "learning_rate", NAN, "learning_rate" }
#define L1                                                                                                             \
  { "l1_regularization_strength", 0, "l1_regularization_strength" }
#define L2                                                                                                             \
  { "l2_regularization_strength", 0, "l2_regularization_strength" }

/* ---- gradient descent ---- */

/* An index may occur twice.  Its rows are subtracted one after the other, with the same result. */
static weft_out descend_slices(update *u) {
  weft_graph *g = u->o->g;
  weft_out values = u->gradient.values, rate = weft__update_param(u, 0);
  if (u->resource) values = weft__named_unary(g, "Neg", "Neg", values);
  values = weft__named_binary(g, "Mul", "mul", OUT(values), OUT(rate));
  weft_out in[] = {u->variable, u->gradient.indices, values};
  if (u->resource) return weft__b_node(g, "ResourceScatterAdd", NULL, 3, in, 0, NULL);
  return weft__b_node(g, "ScatterSub", NULL, 3, in, 1, &A_BOOL("use_locking", u->o->locked));
}

static const optimizer_kind gradient_descent = {
    "GradientDescent", {LEARNING_RATE}, .op = "GradientDescent", .dense = "vAg", .sparse_update = descend_slices};

static const optimizer_kind proximal_gradient_descent = {"ProximalGradientDescent",
                                                         {LEARNING_RATE, L1, L2},
                                                         .op = "ProximalGradientDescent",
                                                         .dense = "vABCg",
                                                         .sparse = "vABCgi"};

/* ---- momentum ---- */

static const optimizer_kind momentum = {"Momentum",
                                        {LEARNING_RATE, {"momentum", NAN, "momentum"}, {"use_nesterov", 0, NULL}},
                                        {{"momentum", SLOT_ZEROS, NULL}},
                                        .op = "Momentum",
                                        .dense = "v0AgB",
                                        .sparse = "v0AgiB",
                                        .flag = "use_nesterov"};

#define RMSPROP_PARAMS                                                                                                 \
  {                                                                                                                    \
    LEARNING_RATE, {"decay", .9, "decay"}, {"momentum", 0, "momentum"}, {"epsilon", 1e-10, "epsilon"},                 \
        {"centered", 0, NULL},                                                                                         \
  }
static const optimizer_kind centered_rmsprop = {
    "RMSProp",
    RMSPROP_PARAMS,
    {{"rms", SLOT_ONES, NULL}, {"mg", SLOT_ZEROS, NULL}, {"momentum", SLOT_ZEROS, NULL}},
    .op = "CenteredRMSProp",
    .dense = "v102ABCDg",
    .sparse = "v102ABCDgi"};
static const optimizer_kind rmsprop = {"RMSProp",
                                       RMSPROP_PARAMS,
                                       {{"rms", SLOT_ONES, NULL}, {"momentum", SLOT_ZEROS, NULL}},
                                       .op = "RMSProp",
                                       .dense = "v01ABCDg",
                                       .sparse = "v01ABCDgi",
                                       .chooser = "centered",
                                       .instead = &centered_rmsprop};

static const optimizer_kind adam = {"Adam",
                                    {{"learning_rate", .001, "learning_rate"},
                                     {"beta1", .9, "beta1"},
                                     {"beta2", .999, "beta2"},
                                     {"epsilon", 1e-8, "epsilon"}},
                                    {{"m", SLOT_ZEROS, NULL}, {"v", SLOT_ZEROS, NULL}},
                                    .op = "Adam",
                                    .dense = "v01pqABCDg",
                                    .slots = weft__adam_slots,
                                    .sparse_update = weft__adam_slices,
                                    .finish = weft__adam_finish};

/* ---- sums of squares ---- */

#define ACCUMULATOR                                                                                                    \
  { "initial_accumulator_value", .1, NULL }
static const optimizer_kind adagrad = {"Adagrad",
                                       {LEARNING_RATE, ACCUMULATOR},
                                       {{"accumulator", SLOT_CONSTANT, "initial_accumulator_value"}},
                                       .op = "Adagrad",
                                       .dense = "v0Ag",
                                       .sparse = "v0Agi"};

static const optimizer_kind proximal_adagrad = {"ProximalAdagrad",
                                                {LEARNING_RATE, L1, L2, ACCUMULATOR},
                                                {{"accumulator", SLOT_VALUE, "initial_accumulator_value"}},
                                                .op = "ProximalAdagrad",
                                                .dense = "v0ABCg",
                                                .sparse = "v0ABCgi"};

static const optimizer_kind adadelta = {
    "Adadelta",
    {{"learning_rate", .001, "lr"}, {"rho", .95, "rho"}, {"epsilon", 1e-8, "epsilon"}},
    {{"accum", SLOT_ZEROS, NULL}, {"accum_update", SLOT_ZEROS, NULL}},
    .op = "Adadelta",
    .dense = "v01ABCg",
    .sparse = "v01ABCgi"};

/* The op counts from 1: its step is the number of the current step.  The regularization strengths are constants on
 * the device of each variable. */
static weft_err count_ahead(weft_optimizer *o) {
  weft_graph *g = o->g;
  if (o->step.node < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "AdagradDA needs 'global_step', an output");
  weft_out step = weft__variable_value(g, o->step);
  weft__b_push_colocate(g, o->node[0].node);
  o->extra[0] = weft__named_binary(g, "AddV2", "add", OUT(weft__named_unary(g, "Identity", "Identity", step)), NUM(1));
  weft__b_pop(g);
  return weft__b_ok(g);
}

static const optimizer_kind adagrad_da = {
    "AdagradDA",
    {LEARNING_RATE,
     {"l1_regularization_strength", 0, BESIDE},
     {"l2_regularization_strength", 0, BESIDE},
     {"initial_gradient_squared_accumulator_value", .1, NULL}},
    {{"gradient_accumulator", SLOT_VALUE, NULL},
     {"gradient_squared_accumulator", SLOT_VALUE, "initial_gradient_squared_accumulator_value"}},
    .op = "AdagradDA",
    .dense = "v01gABCs",
    .sparse = "v01giABCs",
    .prepare = count_ahead};

/* ---- follow the regularized leader ---- */

static term setting_term(const setting *s) { return s->output.node >= 0 ? OUT(s->output) : NUM(s->number); }

/* The op's l2 strength includes beta: l2 + beta / (2 * rate). */
static weft_err adjust_l2(weft_optimizer *o) {
  enum { RATE = 0, L2_STRENGTH = 2, SHRINKAGE = 3, POWER = 4, BETA = 6 };
  weft_graph *g = o->g;
  weft_out top = weft__named_binary(g, "Maximum", "Maximum", setting_term(&o->value[RATE]), NUM(1e-36));
  weft_out twice = weft__named_binary(g, "Mul", "mul", NUM(2), OUT(top));
  weft_out share = weft__named_binary(g, "RealDiv", "truediv", setting_term(&o->value[BETA]), OUT(twice));
  o->node[L2_STRENGTH] = weft__named_binary(g, "AddV2", "add", setting_term(&o->value[L2_STRENGTH]), OUT(share));
  static const int constants[] = {BETA, SHRINKAGE, POWER};
  for (int i = 0; i < 3; i++)
    o->node[constants[i]] =
        weft__named_term(g, o->kind->param[constants[i]].name, setting_term(&o->value[constants[i]]), WEFT_FLOAT);
  return weft__b_ok(g);
}

#define FTRL_PARAMS                                                                                                    \
  {                                                                                                                    \
    LEARNING_RATE, L1, {"l2_regularization_strength", 0, ""}, {"l2_shrinkage_regularization_strength", 0, ""},         \
        {"learning_rate_power", -.5, ""}, ACCUMULATOR, {"beta", 0, ""},                                                \
  }
#define FTRL_SLOTS                                                                                                     \
  {                                                                                                                    \
    {"accum", SLOT_SCALED, "initial_accumulator_value"}, { "linear", SLOT_ZEROS, NULL }                                \
  }
static const optimizer_kind ftrl_shrunk = {"Ftrl",
                                           FTRL_PARAMS,
                                           FTRL_SLOTS,
                                           .op = "FtrlV2",
                                           .dense = "v01gABCDE",
                                           .sparse = "v01giABCDE",
                                           .prepare = adjust_l2};
static const optimizer_kind ftrl = {"Ftrl",
                                    FTRL_PARAMS,
                                    FTRL_SLOTS,
                                    .op = "Ftrl",
                                    .dense = "v01gABCE",
                                    .sparse = "v01giABCE",
                                    .prepare = adjust_l2,
                                    .chooser = "l2_shrinkage_regularization_strength",
                                    .instead = &ftrl_shrunk};

const optimizer_kind *const weft__optimizer_kinds[] = {&gradient_descent,
                                                       &proximal_gradient_descent,
                                                       &momentum,
                                                       &rmsprop,
                                                       &adam,
                                                       &adagrad,
                                                       &proximal_adagrad,
                                                       &adadelta,
                                                       &adagrad_da,
                                                       &ftrl,
                                                       NULL};
