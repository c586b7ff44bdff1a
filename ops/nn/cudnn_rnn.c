/* cudnn_rnn.c - recurrent layers of NVIDIA's cuDNN and their packed weights, as definitions with gradients.
 *
 * TensorFlow has kernels for GPUs only.  tf.contrib.cudnn_rnn and the Keras layers of that name compute the same with
 * other ops in Weft. */
#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"

/* ---- shape rules ---- */

/* Inputs: input [time,batch,features], input_h [layers,batch,units], input_c.  Only an LSTM has a cell state;
 * its shape is that of input_h, but in version 3 that of input_c. */
static weft_err rnn_infer(infer *s) {
  shape x, h;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &h));
  const int ways = weft__node_str_is(s->node, "direction", "bidirectional") ? 2 : 1;
  s->out[0] = SHAPE3(x.dim[0], x.dim[1], h.dim[2] < 0 ? -1 : h.dim[2] * ways);
  s->out[1] = s->in[1];
  s->out[2] = weft__node_str_is(s->node, "rnn_mode", "lstm") ? s->in[s->n_in > 4 ? 2 : 1] : SHAPE_SCALAR;
  return WEFT_OK;
}

/* The gradients have the shapes of input, input_h, input_c and params. */
static weft_err backprop_infer(infer *s) {
  for (int i = 0; i < s->n_out; i++) s->out[i] = s->in[i];
  return WEFT_OK;
}

static weft_err packed_infer(infer *s) {
  s->out[0] = SHAPE1(-1);
  return WEFT_OK;
}

static weft_err size_infer(infer *s) {
  s->out[0] = SHAPE1(1);
  return WEFT_OK;
}

/* The weights are matrices and the biases vectors. */
static weft_err unpacked_infer(infer *s) {
  const int64_t both = weft__node_int(s->node, "num_params", 0);
  const int64_t weights = both ? both : weft__node_int(s->node, "num_params_weights", 0);
  for (int i = 0; i < s->n_out; i++) s->out[i] = i < weights ? SHAPE2(-1, -1) : SHAPE1(-1);
  return WEFT_OK;
}

/* ---- gradients ---- */

/* Adds the op that takes the n_in inputs, the three outputs, their gradients and the rest of the outputs. */
static weft_err rnn_backprop(backprop *b, const char *type) {
  static const char *const names[] = {"rnn_mode", "input_mode", "direction", "dropout",
                                      "seed",     "seed2",      "num_proj",  "time_major"};
  weft_out in[16];
  attr attrs[sizeof names / sizeof *names];
  int n = 0, count = 0;
  for (int i = 0; i < b->n_in; i++) in[n++] = b->in[i];
  for (int i = 0; i < 3; i++) in[n++] = b->out[i];
  for (int i = 0; i < 3; i++) in[n++] = weft__backprop_dout(b, i);
  for (int i = 3; i < b->n_out; i++) in[n++] = b->out[i];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const attr *a = weft__node_attr(b->node, names[i]);
    if (a) attrs[count++] = *a;
  }
  const weft_out made = weft__b_node(b->graph, type, NULL, n, in, count, attrs);
  for (int i = 0; i < 4; i++) b->din[i] = GRAD_DENSE(weft__b_slot(made, i));
  return weft__b_ok(b->graph);
}

static weft_err rnn_grad(backprop *b) { return rnn_backprop(b, "CudnnRNNBackprop"); }
static weft_err rnn_v2_grad(backprop *b) { return rnn_backprop(b, "CudnnRNNBackpropV2"); }
static weft_err rnn_v3_grad(backprop *b) { return rnn_backprop(b, "CudnnRNNBackpropV3"); }

#define RNN_TYPE "T:type{bfloat16,half,float,double} "
#define RNN_MODE                                                                                                       \
  "rnn_mode:string{'rnn_relu','rnn_tanh','lstm','gru'}='lstm' "                                                        \
  "input_mode:string{'linear_input','skip_input','auto_select'}='linear_input' "                                       \
  "direction:string{'unidirectional','bidirectional'}='unidirectional' dropout:float=0 seed:int=0 seed2:int=0"

OPS(cudnn_rnn) = {
    {"CudnnRNN(input:T, input_h:T, input_c:T, params:T) -> (output:T, output_h:T, output_c:T, "
     "reserve_space:T) | " RNN_TYPE RNN_MODE " is_training:bool=true ; stateful",
     "A recurrent layer over all time steps.", .infer = rnn_infer, .grad = rnn_grad},
    {"CudnnRNNV2(input:T, input_h:T, input_c:T, params:T) -> (output:T, output_h:T, output_c:T, "
     "reserve_space:T, host_reserved:int8) | " RNN_TYPE RNN_MODE " is_training:bool=true ; stateful",
     "CudnnRNN that may choose its algorithm.", .infer = rnn_infer, .grad = rnn_v2_grad},
    {"CudnnRNNV3(input:T, input_h:T, input_c:T, params:T, sequence_lengths:int32) -> (output:T, output_h:T, "
     "output_c:T, reserve_space:T, host_reserved:int8) | " RNN_TYPE RNN_MODE
     " num_proj:int=0 is_training:bool=true time_major:bool=true ; stateful",
     "CudnnRNN of sequences that differ in length.", .infer = rnn_infer, .grad = rnn_v3_grad},
    {"CudnnRNNBackprop(input:T, input_h:T, input_c:T, params:T, output:T, output_h:T, output_c:T, "
     "output_backprop:T, output_h_backprop:T, output_c_backprop:T, reserve_space:T) -> (input_backprop:T, "
     "input_h_backprop:T, input_c_backprop:T, params_backprop:T) | " RNN_TYPE RNN_MODE " ; stateful",
     "The gradient of CudnnRNN.", .infer = backprop_infer},
    {"CudnnRNNBackpropV2(input:T, input_h:T, input_c:T, params:T, output:T, output_h:T, output_c:T, "
     "output_backprop:T, output_h_backprop:T, output_c_backprop:T, reserve_space:T, host_reserved:int8) -> "
     "(input_backprop:T, input_h_backprop:T, input_c_backprop:T, params_backprop:T) | " RNN_TYPE RNN_MODE " ; stateful",
     "The gradient of CudnnRNNV2.", .infer = backprop_infer},
    {"CudnnRNNBackpropV3(input:T, input_h:T, input_c:T, params:T, sequence_lengths:int32, output:T, "
     "output_h:T, output_c:T, output_backprop:T, output_h_backprop:T, output_c_backprop:T, reserve_space:T, "
     "host_reserved:int8) -> (input_backprop:T, input_h_backprop:T, input_c_backprop:T, params_backprop:T) | " RNN_TYPE
         RNN_MODE " num_proj:int=0 time_major:bool=true ; stateful",
     "The gradient of CudnnRNNV3.", .infer = backprop_infer},
    {"CudnnRNNParamsSize(num_layers:int32, num_units:int32, input_size:int32) -> (params_size:S) | " RNN_TYPE
     "S:type{int32,int64} " RNN_MODE " num_proj:int=0",
     "The number of packed weights.", .infer = size_infer},
    {"CudnnRNNCanonicalToParams(num_layers:int32, num_units:int32, input_size:int32, weights:num_params*T, "
     "biases:num_params*T) -> (params:T) | " RNN_TYPE "num_params:int>=1 " RNN_MODE,
     "Packs weights and biases.", .infer = packed_infer},
    {"CudnnRNNCanonicalToParamsV2(num_layers:int32, num_units:int32, input_size:int32, "
     "weights:num_params_weights*T, biases:num_params_biases*T) -> (params:T) | " RNN_TYPE
     "num_params_weights:int>=1 num_params_biases:int>=1 " RNN_MODE " num_proj:int=0",
     "Packs weights and biases.", .infer = packed_infer},
    {"CudnnRNNParamsToCanonical(num_layers:int32, num_units:int32, input_size:int32, params:T) -> "
     "(weights:num_params*T, biases:num_params*T) | " RNN_TYPE "num_params:int>=1 " RNN_MODE,
     "Unpacks weights and biases.", .infer = unpacked_infer},
    {"CudnnRNNParamsToCanonicalV2(num_layers:int32, num_units:int32, input_size:int32, params:T) -> "
     "(weights:num_params_weights*T, biases:num_params_biases*T) | " RNN_TYPE
     "num_params_weights:int>=1 num_params_biases:int>=1 " RNN_MODE " num_proj:int=0",
     "Unpacks weights and biases.", .infer = unpacked_infer},
    {.scenario = "tests/parity/test_no_kernel.py"},
};
