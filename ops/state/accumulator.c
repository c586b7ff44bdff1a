/* accumulator.c - the ops of conditional accumulators. state/accumulator.h describes their behavior. */
#include "base/alloc.h"
#include "graph/build.h"
#include "state/accumulator.h"

/* ---- creating ---- */

static accumulator_spec accumulator_read_spec(const weft_node *n) {
  const attr *s = weft__node_attr(n, "shape");
  return (accumulator_spec){.dtype = weft__node_type(n, "dtype"),
                            .declared = s && s->kind == ATTR_SHAPE && !s->is_list ? *s->shape : SHAPE_UNKNOWN,
                            .sparse = !strncmp(n->op_name, "Sparse", 6),
                            .sum = weft__node_str_is(n, "reduction_type", "SUM")};
}

static weft_err make_accumulator(resource **out, void *arg) {
  const resource_maker *m = arg;
  accumulator_spec spec = accumulator_read_spec(m->node);
  return weft__accumulator_create((accumulator **)out, &spec, m->name);
}

static const resource_kind accumulator_resource = {ACCUMULATOR_TYPE, true, make_accumulator};

static weft_err accumulator_cpu(kernel *k) {
  resource *r = NULL;
  accumulator_spec spec = accumulator_read_spec(k->node);
  WEFT_TRY(weft__kernel_in(k, weft__resource_output(k, &accumulator_resource, &r)));
  return weft__kernel_in(k, weft__accumulator_matches((accumulator *)r, &spec));
}

/* ---- applying and counting ---- */

static weft_err with_accumulator(kernel *k, weft_err (*act)(kernel *, accumulator *)) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, ACCUMULATOR_TYPE, &r)));
  weft_err err = act(k, (accumulator *)r);
  weft__object_release((object *)r);
  return err;
}

static weft_err do_apply(kernel *k, accumulator *a) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "local_step"));
  return weft__kernel_in(k, weft__accumulator_apply(a, weft__tensor_int(k->in[1], 0), k->in[2]));
}

static weft_err do_apply_sparse(kernel *k, accumulator *a) {
  bool known = weft__node_bool(k->node, "has_known_shape", false);
  WEFT_TRY(weft__kernel_scalar(k, 1, "local_step"));
  return weft__kernel_in(
      k, weft__accumulator_apply_sparse(a, weft__tensor_int(k->in[1], 0), k->in[2], k->in[3], known ? k->in[4] : NULL));
}

static weft_err do_set_step(kernel *k, accumulator *a) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "new_global_step"));
  weft__accumulator_set_step(a, weft__tensor_int(k->in[1], 0));
  return WEFT_OK;
}

static weft_err do_count(kernel *k, accumulator *a) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = (int32_t)weft__accumulator_count(a);
  return WEFT_OK;
}

/* ---- taking the mean or the sum ---- */

static void dense_done(void *arg, weft_err err, const accumulated *got) {
  kernel *k = arg;
  if (err == WEFT_OK) err = weft__out_share(k, 0, &got->gradient);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static weft_err out_sparse(kernel *k, const accumulated *got) {
  WEFT_TRY(weft__out_share(k, 0, &got->indices));
  WEFT_TRY(weft__out_share(k, 1, &got->gradient));
  weft_tensor *out = weft__out(k, 2, &SHAPE1(got->full.rank));
  if (!out) return WEFT_OOM;
  for (int d = 0; d < got->full.rank; d++) TENSOR_DATA(out, int64_t)[d] = got->full.dim[d];
  return WEFT_OK;
}

static void sparse_done(void *arg, weft_err err, const accumulated *got) {
  kernel *k = arg;
  if (err == WEFT_OK) err = out_sparse(k, got);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static weft_err do_take(kernel *k, accumulator *a) {
  const accumulator_spec *spec = weft__accumulator_spec(a);
  bool sparse = k->n_out == 3;
  WEFT_TRY(weft__kernel_scalar(k, 1, "num_required"));
  if (spec->sparse != sparse || spec->dtype != weft__node_type(k->node, "dtype"))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s cannot take a gradient of type %s", k->node->op_name,
                             weft__dtype_short(spec->dtype));
  weft__kernel_defer(k);
  weft__accumulator_take(a, weft__tensor_int(k->in[1], 0), k->step->cancel, sparse ? sparse_done : dense_done, k);
  return WEFT_OK;
}

static weft_err apply_cpu(kernel *k) { return with_accumulator(k, do_apply); }
static weft_err apply_sparse_cpu(kernel *k) { return with_accumulator(k, do_apply_sparse); }
static weft_err set_step_cpu(kernel *k) { return with_accumulator(k, do_set_step); }
static weft_err count_cpu(kernel *k) { return with_accumulator(k, do_count); }
static weft_err accumulator_take_cpu(kernel *k) { return with_accumulator(k, do_take); }

/* ---- table: the ops of dense accumulators exist with either kind of handle ---- */

#define SPEC                                                                                                           \
  " | dtype:type{number} shape:shape container:string='' shared_name:string='' reduction_type:string{'MEAN','SUM'}="   \
  "'MEAN' ; stateful"
#define MAKES(NAME, TYPE, DOC)                                                                                         \
  {                                                                                                                    \
    NAME "() -> (handle:" TYPE ")" SPEC, DOC, .infer = weft__resource_infer, .cpu = accumulator_cpu,                   \
                                              .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare \
  }
#define ASKS(NAME, ARGS, RESULT, ATTRS, DOC, FLAGS, INFER, FN)                                                         \
  {"Resource" NAME "(handle:resource" ARGS ") -> (" RESULT ")" ATTRS " ; stateful", DOC, .flags = FLAGS,               \
   .infer = INFER, .cpu = FN},                                                                                         \
  {                                                                                                                    \
    NAME "(handle:&string" ARGS ") -> (" RESULT ")" ATTRS, DOC, .flags = FLAGS, .infer = INFER, .cpu = FN              \
  }
#define NUMBER " | dtype:type{number}"

OPS(accumulator) = {
    MAKES("ResourceConditionalAccumulator", "resource", "Adds up gradients until enough have come."),
    MAKES("ConditionalAccumulator", "&string", "Adds up gradients until enough have come."),
    MAKES("SparseConditionalAccumulator", "&string", "Adds up sparse gradients until enough have come."),
    ASKS("AccumulatorApplyGradient", ", local_step:int64, gradient:dtype", "", NUMBER,
         "Adds a gradient unless it is stale.", 0, weft__infer_none, apply_cpu),
    ASKS("AccumulatorTakeGradient", ", num_required:int32", "average:dtype", NUMBER,
         "Waits for so many gradients and takes their mean.", OP_ASYNC | OP_TAKES, weft__infer_none,
         accumulator_take_cpu),
    ASKS("AccumulatorSetGlobalStep", ", new_global_step:int64", "", "", "Sets the step that tells what is stale.", 0,
         weft__infer_none, set_step_cpu),
    ASKS("AccumulatorNumAccumulated", "", "num_accumulated:int32", "", "How many gradients have come.", 0,
         weft__infer_scalar, count_cpu),
    {"SparseAccumulatorApplyGradient(handle:&string, local_step:int64, gradient_indices:int64, gradient_values:dtype, "
     "gradient_shape:int64) -> () | dtype:type{number} has_known_shape:bool",
     "Adds a sparse gradient unless it is stale.", .infer = weft__infer_none, .cpu = apply_sparse_cpu},
    {"SparseAccumulatorTakeGradient(handle:&string, num_required:int32) -> (indices:int64, values:dtype, shape:int64) "
     "| dtype:type{number}",
     "Waits for so many sparse gradients and takes their mean.", .flags = OP_ASYNC | OP_TAKES,
     .infer = weft__infer_none, .cpu = accumulator_take_cpu},
    {.scenario = "tests/parity/test_accumulators.py"},
};
