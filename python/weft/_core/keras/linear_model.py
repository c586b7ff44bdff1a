"""tf.keras.experimental.LinearModel: a weighted sum of the inputs."""
from weft._core.keras import activations, initializers, regularizers
from weft._core.keras.models import Model
from weft._core.ops import math_ops


class LinearModel(Model):
    """activation(sum over the inputs of input x kernel + bias): each input has a kernel."""

    def __init__(self, units=1, activation=None, use_bias=True, kernel_initializer="zeros", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, **kwargs):
        """The parameters of tf.keras.layers.Dense.

        Args:
          units: the number of outputs.
          activation: a function of the sum; None is the sum itself.
          use_bias: whether a vector is added.
          kernel_initializer: of the kernels.
          bias_initializer: of the vector.
          kernel_regularizer: of the kernels.
          bias_regularizer: of the vector.
          **kwargs: name, trainable and dtype of a model.
        """
        super().__init__(**kwargs)
        self.units, self.use_bias, self.activation = units, use_bias, activations.get(activation)
        self.kernel_initializer, self.bias_initializer = initializers.get(kernel_initializer), initializers.get(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = regularizers.get(kernel_regularizer), regularizers.get(bias_regularizer)

    def _kernel(self, shape):
        return self.add_weight("kernel", shape=[shape[-1], self.units], initializer=self.kernel_initializer,
                               regularizer=self.kernel_regularizer, trainable=True)

    def build(self, input_shape):
        if isinstance(input_shape, dict):
            names = sorted(input_shape)
            self.kernels = [self._kernel(input_shape[name]) for name in names]
            self._input_names = names
        elif isinstance(input_shape, list) and input_shape and not isinstance(input_shape[0], (int, type(None))):
            self.kernels = [self._kernel(shape) for shape in input_shape]
        else:
            self.kernels = [self._kernel(input_shape)]
        self.bias = self.add_weight("bias", shape=(self.units,), initializer=self.bias_initializer,
                                    regularizer=self.bias_regularizer, trainable=True) if self.use_bias else None
        self.built = True

    def call(self, inputs):
        if isinstance(inputs, dict):
            if set(inputs) != set(self._input_names):
                raise ValueError("LinearModel: the inputs are %s, and the model was built for %s" % (sorted(inputs), self._input_names))
            parts = [inputs[name] for name in self._input_names]
        else:
            parts = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        total = math_ops.add_n([math_ops.matmul(x, kernel) for x, kernel in zip(parts, self.kernels)]) if len(parts) > 1 else \
            math_ops.matmul(parts[0], self.kernels[0])
        total = total + self.bias if self.use_bias else total
        return total if self.activation is None else self.activation(total)

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype, "units": self.units,
                "activation": activations.serialize(self.activation), "use_bias": self.use_bias,
                "kernel_initializer": initializers.serialize(self.kernel_initializer),
                "bias_initializer": initializers.serialize(self.bias_initializer),
                "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
                "bias_regularizer": regularizers.serialize(self.bias_regularizer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)
