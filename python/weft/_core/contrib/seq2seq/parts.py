"""Helper functions of decoders, helpers and attention: a layer without a bias, and a transposition."""
import weft as tf
from weft._core.nn.rnn import _time_first as transpose_batch_time  # noqa: F401 - used by the modules beside this one


class Projection(tf.layers.Layer):
    """A dense layer without bias or activation, with the variable of tf.layers.Dense(units, use_bias=False)."""

    def __init__(self, units, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.units = units

    def build(self, input_shape):
        depth = tf.TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.kernel = self.add_weight("kernel", [depth, self.units])
        self.built = True

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel) if inputs.shape.ndims == 2 else tf.tensordot(inputs, self.kernel, 1)

    def compute_output_shape(self, input_shape):
        return tf.TensorShape(tf.TensorShape(input_shape).as_list()[:-1] + [self.units])


def layer_output_size(layer, width):
    """Returns the size of the last axis of a layer's output for rows of `width` numbers."""
    if hasattr(layer, "compute_output_shape"):
        return tf.TensorShape(layer.compute_output_shape(tf.TensorShape([None]).concatenate(width)))[1:]
    for key in ("units", "num_outputs", "filters"):
        if getattr(layer, key, None) is not None:
            return tf.TensorShape([getattr(layer, key)])
    raise ValueError("cannot tell how wide the outputs of %r are: write its compute_output_shape(input_shape)" % (layer,))


def check_layer(layer, what):
    if not callable(layer) or not hasattr(layer, "variables"):
        raise TypeError("%s must be a tf.layers.Layer, received: %s" % (what, layer))
    return layer


def check_cell(cell, what="cell"):
    """Raises TypeError for an object that is not a recurrent cell."""
    if not (hasattr(cell, "output_size") and hasattr(cell, "state_size") and callable(cell)):
        raise TypeError("The argument %r (%s) is not an RNNCell: 'output_size' property, 'state_size' property and a callable are "
                        "required" % (what, cell))
    return cell


def size_of(tensor, axis):
    """Returns the size of an axis: a number if it is known, otherwise a tensor."""
    known = tensor.shape.as_list()[axis] if tensor.shape.ndims is not None else None
    return tf.shape(tensor)[axis] if known is None else known
