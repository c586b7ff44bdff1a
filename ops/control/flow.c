/* flow.c - the kernels of control flow: Switch, Merge, Enter, Exit and the other ops of V1 loops and conditionals.
 *
 * The dataflow executor decides which of them run, when, and in which iteration, and gives the kernels live values.
 * An input that has not arrived is NULL (and no reference).  An output that is not taken is marked dead. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/kernel.h"
#include "graph/op.h"

/* ---- passing on: Enter, Exit, NextIteration, LoopCond ---- */

/* Makes output i the value or the reference of input `from`. */
static weft_err flow_pass(kernel *k, int i, int from) {
  if (!k->in[from]) {
    weft__out_ref(k, i, k->ref[from]);
    return WEFT_OK;
  }
  return weft__forward(k, i, from, &k->in[from]->shape);
}

static weft_err pass_cpu(kernel *k) { return flow_pass(k, 0, 0); }

/* The body of a loop may change the shape of a loop variable, so only a loop constant keeps its shape. */
static weft_err enter_infer(infer *s) {
  if (weft__node_bool(s->node, "is_constant", false)) s->out[0] = s->in[0];
  return WEFT_OK;
}

static weft_err loop_cond_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* ---- Switch ---- */

static weft_err switch_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 1, 0, NULL));
  s->out[0] = s->out[1] = s->in[0];
  return WEFT_OK;
}

static weft_err switch_cpu(kernel *k) {
  if (k->in[1]->shape.rank != 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The second input must be a scalar, but it has shape %s",
                             weft__shape_text(&k->in[1]->shape));
  int taken = TENSOR_DATA(k->in[1], bool)[0] ? 1 : 0;
  k->out[!taken].dead = true;
  return flow_pass(k, taken, 0);
}

/* ---- Merge ---- */

/* Computes what the shapes of all inputs have in common: their rank and the dimensions in which they agree. */
static weft_err merge_infer(infer *s) {
  shape out = s->in[0];
  for (int i = 1; i < s->n_in && out.rank >= 0; i++) {
    if (s->in[i].rank != out.rank) out = SHAPE_UNKNOWN;
    for (int d = 0; d < out.rank; d++)
      if (s->in[i].dim[d] != out.dim[d]) out.dim[d] = -1;
  }
  s->out[0] = out;
  s->out[1] = SHAPE_SCALAR;
  return WEFT_OK;
}

static weft_err flow_merge_cpu(kernel *k) {
  for (int i = 0; i < k->n_in; i++) {
    if (!k->in[i] && !(k->ref && k->ref[i])) continue;
    WEFT_TRY(flow_pass(k, 0, i));
    weft_tensor *index = weft__out(k, 1, &SHAPE_SCALAR);
    if (!index) return WEFT_OOM;
    TENSOR_DATA(index, int32_t)[0] = i;
    return WEFT_OK;
  }
  return weft__kernel_fail(k, WEFT_INTERNAL, "Merge has no input that is alive");
}

/* ---- RefSelect ---- */

static weft_err select_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 0, 0, NULL));
  shape first = s->in[1];
  for (int i = 2; i < s->n_in; i++)
    if (!weft__shape_known(&first) || !weft__shape_equal(&first, &s->in[i])) return WEFT_OK;
  s->out[0] = first;
  return WEFT_OK;
}

static weft_err select_cpu(kernel *k) {
  WEFT_TRY(weft__kernel_scalar(k, 0, "Index"));
  int64_t i = weft__tensor_int(k->in[0], 0);
  if (i < 0 || i >= k->n_in - 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Index must be in the range [0, %d) but got %lld", k->n_in - 1,
                             (long long)i);
  return flow_pass(k, 0, weft__int_sat(i) + 1);
}

/* ---- ControlTrigger, Abort ---- */

static weft_err trigger_cpu(kernel *k) {
  (void)k;
  return WEFT_OK;
}

/* The step fails, because a library must not end its process. */
static weft_err abort_cpu(kernel *k) {
  return weft__kernel_fail(k, WEFT_ABORTED, "Abort: %s", weft__node_str(k->node, "error_msg").data);
}

static const op_case select_cases[] = {
    {"i32[] 1; &f32[2] 1 2; &f32[2] 3 4", "f32[2] 3 4", NULL, CASE_NO_GRAD},
    {"i32[] 2; &f32[2] 1 2; &f32[2] 3 4", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

static const op_case abort_cases[] = {
    {"", "error ABORTED", "error_msg='enough'", CASE_NO_GRAD | CASE_NO_PARITY},
    {0},
};

/* The gradient of a loop constant, while the loop is still being built: the code that asks for the gradient is in
 * the loop too, so the gradient passes through unchanged. */
static weft_err enter_grad(backprop *b) {
  if (!weft__node_bool(b->node, "is_constant", false))
    return weft__fail(
        WEFT_INVALID_ARGUMENT,
        "Cannot compute gradient inside while loop with respect to op '%s'. We do not support taking the gradient wrt "
        "or "
        "through the initial value of a loop variable. Gradients can be computed through loop invariants or wrt the "
        "input parameters to the loop body.",
        weft__node(b->graph, b->in[0].node)->name);
  b->din[0] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

#define FRAME " | T:type frame_name:string is_constant:bool=false parallel_iterations:int=10"

OPS(flow) = {
    {"Switch(data:T, pred:bool) -> (output_false:T, output_true:T) | T:type",
     "Sends a value to one of two outputs; the other is dead.", .flags = OP_CONTROL_FLOW | OP_FORWARDS,
     .kind = KIND_SWITCH, .infer = switch_infer, .cpu = switch_cpu, .grad = weft__gradient_switch, .anywhere = "pred",
     .amp = AMP_CLEAR},
    {"RefSwitch(data:&T, pred:bool) -> (output_false:&T, output_true:&T) | T:type ; uninit",
     "Sends a variable to one of two outputs; the other is dead.", .flags = OP_CONTROL_FLOW | OP_FORWARDS,
     .kind = KIND_SWITCH, .infer = switch_infer, .cpu = switch_cpu, .grad = weft__gradient_switch, .anywhere = "pred"},
    {"Merge(inputs:N*T) -> (output:T, value_index:int32) | T:type N:int>=1",
     "The first value that comes, and whose it is.", .flags = OP_CONTROL_FLOW | OP_FORWARDS, .kind = KIND_MERGE,
     .infer = merge_infer, .cpu = flow_merge_cpu, .grad = weft__gradient_merge, .anywhere = "value_index",
     .amp = AMP_CLEAR, .narrow = NARROW_ALL},
    {"RefMerge(inputs:&N*T) -> (output:&T, value_index:int32) | T:type N:int>=1",
     "The first variable that comes, and whose it is.", .flags = OP_CONTROL_FLOW | OP_FORWARDS, .kind = KIND_MERGE,
     .infer = merge_infer, .cpu = flow_merge_cpu, .grad = weft__gradient_merge, .anywhere = "value_index",
     .narrow = NARROW_ALL},
    {"Enter(data:T) -> (output:T)" FRAME, "Brings a value into a loop.", .flags = OP_CONTROL_FLOW | OP_FORWARDS,
     .kind = KIND_ENTER, .infer = enter_infer, .cpu = pass_cpu, .grad = enter_grad, .anywhere = "", .amp = AMP_CLEAR},
    {"RefEnter(data:&T) -> (output:&T)" FRAME, "Brings a variable into a loop.", .flags = OP_CONTROL_FLOW | OP_FORWARDS,
     .kind = KIND_ENTER, .infer = weft__infer_same, .cpu = pass_cpu, .grad = enter_grad, .anywhere = "",
     .narrow = NARROW_ALL},
    {"Exit(data:T) -> (output:T) | T:type", "Brings a value out of a loop.", .flags = OP_CONTROL_FLOW | OP_FORWARDS,
     .kind = KIND_EXIT, .infer = weft__infer_same, .cpu = pass_cpu, .grad = weft__gradient_loop_part, .anywhere = "",
     .amp = AMP_CLEAR},
    {"RefExit(data:&T) -> (output:&T) | T:type", "Brings a variable out of a loop.",
     .flags = OP_CONTROL_FLOW | OP_FORWARDS, .kind = KIND_EXIT, .infer = weft__infer_same, .cpu = pass_cpu,
     .grad = weft__gradient_loop_part, .anywhere = "", .narrow = NARROW_ALL},
    {"NextIteration(data:T) -> (output:T) | T:type", "Hands a value to the loop's next iteration.",
     .flags = OP_CONTROL_FLOW | OP_FORWARDS, .kind = KIND_NEXT_ITERATION, .infer = weft__infer_same, .cpu = pass_cpu,
     .grad = weft__gradient_loop_part, .anywhere = "", .amp = AMP_CLEAR},
    {"RefNextIteration(data:&T) -> (output:&T) | T:type", "Hands a variable to the loop's next iteration.",
     .flags = OP_CONTROL_FLOW | OP_FORWARDS, .kind = KIND_NEXT_ITERATION, .infer = weft__infer_same, .cpu = pass_cpu,
     .grad = weft__gradient_loop_part, .anywhere = "", .narrow = NARROW_ALL},
    {"LoopCond(input:bool) -> (output:bool)", "Whether the loop runs another iteration.", .flags = OP_CONTROL_FLOW,
     .kind = KIND_LOOP_COND, .infer = loop_cond_infer, .cpu = pass_cpu, .grad = weft__backprop_none, .anywhere = "*"},
    {"ControlTrigger() -> ()", "Nothing: runs even where its control inputs are dead.", .flags = OP_CONTROL_FLOW,
     .kind = KIND_CONTROL_TRIGGER, .infer = weft__infer_none, .cpu = trigger_cpu, .anywhere = "*"},
    {"RefSelect(index:int32, inputs:&N*T) -> (output:&T) | T:type N:int>=1", "One of several variables.",
     .infer = select_infer, .cpu = select_cpu, .cases = select_cases},
    {"Abort() -> () | error_msg:string='' exit_without_error:bool=false", "Fails the step.", .flags = OP_NO_FOLD,
     .infer = weft__infer_none, .cpu = abort_cpu, .cases = abort_cases},
    {0},
};
