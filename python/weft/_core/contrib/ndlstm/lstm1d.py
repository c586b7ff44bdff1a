"""LSTMs over sequences: tensors of (length, examples, numbers)."""
import weft as tf
from weft._core.contrib.layers import fully_connected


def ndlstm_base_unrolled(inputs, noutput, scope=None, reverse=False):
    """Returns the outputs of an LSTM with nodes for each step.

    Args:
      inputs: (length, examples, numbers), the length known.
      noutput: how many outputs a step has.
      scope: the scope of the variables.
      reverse: whether it goes from the last step to the first one.
    """
    with tf.variable_scope(scope, "SeqLstmUnrolled", [inputs]):
        cell = tf.nn.rnn_cell.BasicLSTMCell(noutput, state_is_tuple=False)
        steps = tf.unstack(tf.convert_to_tensor(inputs))
        state = cell.zero_state(tf.shape(steps[0])[0], steps[0].dtype)
        outputs = []
        for i, x in enumerate(reversed(steps) if reverse else steps):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(x, state)
            outputs.append(output)
        return tf.stack(outputs[::-1] if reverse else outputs)


def ndlstm_base_dynamic(inputs, noutput, scope=None, reverse=False):
    """Returns the same with a loop, so that the length need not be known."""
    with tf.variable_scope(scope, "SeqLstm", [inputs]):
        x = tf.convert_to_tensor(inputs)
        cell = tf.nn.rnn_cell.BasicLSTMCell(noutput, state_is_tuple=False)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.reverse(x, [0]) if reverse else x, time_major=True, dtype=x.dtype)
        return tf.reverse(outputs, [0]) if reverse else outputs


def ndlstm_base(inputs, noutput, scope=None, reverse=False, dynamic=True):
    """Returns one of the two: with a loop if `dynamic`."""
    return (ndlstm_base_dynamic if dynamic else ndlstm_base_unrolled)(inputs, noutput, scope=scope, reverse=reverse)


def sequence_to_final(inputs, noutput, scope=None, name=None, reverse=False):
    """Returns the last output of an LSTM: (examples, noutput).

    Args:
      inputs: (length, examples, numbers), the length known.
      noutput: how many outputs there are.
      scope: the scope of the variables.
      name: the name of the output.
      reverse: whether it goes from the last step to the first one.
    """
    with tf.variable_scope(scope, "SequenceToFinal", [inputs]):
        x = tf.convert_to_tensor(inputs)
        cell = tf.nn.rnn_cell.BasicLSTMCell(noutput, state_is_tuple=False)
        state = cell.zero_state(tf.shape(x)[1], x.dtype)
        steps = tf.unstack(x)
        for i, step in enumerate(reversed(steps) if reverse else steps):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(step, state)
        return tf.identity(output, name=name or "LastState")


def sequence_softmax(inputs, noutput, scope=None, name=None, linear_name=None):
    """Returns the same softmax layer for each step: (length, examples, noutput).

    Args:
      inputs: (length, examples, numbers), the length known.
      noutput: how many classes there are.
      scope: the scope of the variables.
      name: the name of the output.
      linear_name: the scope of the layer; "SoftmaxLinear" if None.
    """
    with tf.variable_scope(scope, "SequenceSoftmax", [inputs]):
        outputs = [tf.nn.softmax(fully_connected(x, noutput, activation_fn=None, scope=linear_name or "SoftmaxLinear",
                                                 reuse=True if i else None)) for i, x in enumerate(tf.unstack(inputs))]
        return tf.stack(outputs, name=name or "SequenceSoftmax")
