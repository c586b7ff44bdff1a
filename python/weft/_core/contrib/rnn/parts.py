"""Helper functions of the cells of tf.contrib.rnn: linear maps, partitioned variables, and normalization of gates."""
import weft as tf
from weft._core.nn.rnn_cell import LayerRNNCell, LSTMStateTuple, RNNCell  # noqa: F401 - used by the modules beside this one


def linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """Returns [args] * kernel + bias, with the variables `kernel` and `bias` of the current scope."""
    args = list(args) if isinstance(args, (list, tuple)) else [args]
    width = sum(known_width(a) for a in args)
    kind = args[0].dtype.base_dtype
    kernel = tf.get_variable("kernel", [width, output_size], dtype=kind, initializer=kernel_initializer)
    made = tf.matmul(args[0] if len(args) == 1 else tf.concat(args, 1), kernel)
    if not bias:
        return made
    return tf.nn.bias_add(made, tf.get_variable("bias", [output_size], dtype=kind, initializer=bias_initializer or
                                                tf.zeros_initializer()))


def known_width(x):
    """Returns the last size of a tensor, which the variables of a cell need."""
    width = x.shape.as_list()[-1]
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]: %s has shape %s" % (x.name, x.shape))
    return width


def concat_variable(name, shape, dtype, num_shards):
    """Returns one tensor for a variable that is divided by rows into parts name_0, name_1 and so on."""
    if num_shards > shape[0]:
        raise ValueError("Too many shards: shape=%s, num_shards=%d" % (shape, num_shards))
    rows, more = divmod(shape[0], num_shards)
    parts = [tf.get_variable("%s_%d" % (name, i), [rows + (i < more)] + list(shape[1:]), dtype=dtype) for i in range(num_shards)]
    return parts[0] if len(parts) == 1 else tf.concat(parts, 0, name=name + "/concat")


def normalized(x, scope, gain, shift):
    """Returns each row with mean zero and variance one, times gamma plus beta; both are variables of a scope of this
    name.
    """
    size = [known_width(x)]
    with tf.variable_scope(scope):
        gamma = tf.get_variable("gamma", size, dtype=x.dtype.base_dtype, initializer=tf.constant_initializer(gain))
        beta = tf.get_variable("beta", size, dtype=x.dtype.base_dtype, initializer=tf.constant_initializer(shift))
    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3 if x.dtype.base_dtype == tf.float16 else 1e-12)


def clipped(x, limit):
    return x if limit is None else tf.clip_by_value(x, -limit, limit)


def lstm_state(state, num_units, width, state_is_tuple):
    """Returns (c, h) of a state that is a tuple or one tensor."""
    if state_is_tuple:
        return state
    return tf.slice(state, [0, 0], [-1, num_units]), tf.slice(state, [0, num_units], [-1, width])



def fresh_copy(cell):
    """Returns a cell with the same settings that was never called: it will have variables of its own."""
    if isinstance(cell, (list, tuple)) and not hasattr(cell, "_fields"):
        return type(cell)(fresh_copy(c) for c in cell)
    if not isinstance(cell, tf.layers.Layer):
        return cell
    made = object.__new__(type(cell))
    tf.layers.Layer.__init__(made, name=cell.name, dtype=cell._dtype, trainable=cell.trainable)
    for key in ("_name", "_base_name", "_reuse"):
        made.__dict__[key] = getattr(cell, key)
    for key, value in vars(cell).items():
        if key not in made.__dict__ and key not in ("_first_scope", "_scope", "_current_scope") and not isinstance(value, tf.Variable):
            made.__dict__[key] = fresh_copy(value)
    return made
