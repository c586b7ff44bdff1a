"""tf.keras.experimental: LinearModel, a weighted sum of the inputs, and WideDeepModel, its sum with a network."""
from weft._core.keras import activations, initializers, regularizers, serialization
from weft._core.keras.base_layer import unique_name
from weft._core.keras.models import Model
from weft._core.ops import math_ops


class LinearModel(Model):
    """Computes activation(sum over the inputs of input x kernel + bias); each input has its own kernel."""

    def __init__(self, units=1, activation=None, use_bias=True, kernel_initializer="zeros", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, **kwargs):
        """Takes the parameters of tf.keras.layers.Dense.

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
        unique_name("dense", from_zero=True)  # Keras makes a Dense layer here, which uses up a name.
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


class WideDeepModel(Model):
    """Computes activation(linear_model(inputs) + dnn_model(inputs)).

    compile() takes a list of two optimizers, or one for both.
    """

    def __init__(self, linear_model, dnn_model, activation=None, **kwargs):
        """Joins two models.

        Args:
          linear_model: a LinearModel, or another model or layer.
          dnn_model: a model; its output has the shape of the linear model's.
          activation: a function of the sum; None is the sum itself.
          **kwargs: name, trainable and dtype of a model.
        """
        super().__init__(**kwargs)
        self.linear_model, self.dnn_model, self.activation = linear_model, dnn_model, activations.get(activation)

    def call(self, inputs, training=None):
        wide, deep = inputs if isinstance(inputs, (list, tuple)) and len(inputs) == 2 else (inputs, inputs)
        total = self.linear_model(wide) + (self.dnn_model(deep) if training is None else self.dnn_model(deep, training=training))
        return total if self.activation is None else self.activation(total)

    def _optimizer_updates(self, params, loss):
        optimizers = self.optimizer if isinstance(self.optimizer, list) else [self.optimizer, self.optimizer]
        updates, wanted = [], {id(v) for v in params}
        for optimizer, model in ((optimizers[0], self.linear_model), (optimizers[1], self.dnn_model)):
            updates += optimizer.get_updates(params=[v for v in model.trainable_weights if id(v) in wanted], loss=loss)
        return updates

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype,
                "linear_model": serialization.serialize_keras_object(self.linear_model),
                "dnn_model": serialization.serialize_keras_object(self.dnn_model),
                "activation": activations.serialize(self.activation)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        from weft._core.keras.cloning import deserialized
        models = [deserialized(config.pop(key), custom_objects) for key in ("linear_model", "dnn_model")]
        return cls(*models, activation=activations.deserialize(config.pop("activation", None), custom_objects), **config)
