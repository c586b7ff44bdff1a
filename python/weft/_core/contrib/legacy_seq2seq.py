"""tf.contrib.legacy_seq2seq: losses of sequences given as lists, and a decoder unrolled over one."""
from weft._core.framework.graph import name_scope
from weft._core.nn import nn
from weft._core.nn.rnn import static_rnn
from weft._core.ops import array_ops, math_ops
from weft._core.ops.variable_scope import get_variable_scope, variable_scope


def sequence_loss_by_example(logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None, name=None):
    """Returns the cross entropy of each row, over all steps."""
    if not len(logits) == len(targets) == len(weights):
        raise ValueError("Lengths of logits, weights, and targets must be the same %d, %d, %d." % (
            len(logits), len(weights), len(targets)))
    with name_scope(name, "sequence_loss_by_example", list(logits) + list(targets) + list(weights)):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = array_ops.reshape(target, [-1])
                loss = nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = math_ops.add_n(losses)
        return total / (math_ops.add_n(list(weights)) + 1e-12) if average_across_timesteps else total


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  softmax_loss_function=None, name=None):
    with name_scope(name, "sequence_loss", list(logits) + list(targets) + list(weights)):
        cost = math_ops.reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps,
                                                            softmax_loss_function))
        return cost / math_ops.cast(array_ops.shape(targets[0])[0], cost.dtype) if average_across_batch else cost


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Returns (outputs, state); loop_function(output, i) makes the next input of an output."""
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, before = initial_state, [], None
        for i, x in enumerate(decoder_inputs):
            if loop_function is not None and before is not None:
                with variable_scope("loop_function", reuse=True):
                    x = loop_function(before, i)
            if i > 0:
                get_variable_scope().reuse_variables()
            out, state = cell(x, state)
            outputs.append(out)
            before = out
        return outputs, state


def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=None, scope=None):
    from weft._core.framework.dtypes import float32
    with variable_scope(scope or "basic_rnn_seq2seq"):
        from weft._core.contrib.rnn.parts import fresh_copy
        _, state = static_rnn(fresh_copy(cell), encoder_inputs, dtype=dtype or float32)
        return rnn_decoder(decoder_inputs, state, cell)
