"""Layers of tf.compat.v2.keras: recurrent ones with other defaults, and batch normalization that can be frozen."""
import functools
import inspect

from weft._core.keras.layers import normalization, recurrent, recurrent_cells


def _with_defaults(base, doc, **changed):
    """Returns a subclass whose constructor has other defaults."""
    signature = inspect.signature(base.__init__)
    parameters = [p.replace(default=changed[n]) if n in changed else p for n, p in signature.parameters.items()]
    places = [p.name for p in parameters]

    @functools.wraps(base.__init__)
    def __init__(self, *args, **kwargs):
        given = {**changed, **dict(zip(places[1:], args)), **kwargs}
        base.__init__(self, **given)
    __init__.__signature__ = signature.replace(parameters=parameters)
    return type(base)(base.__name__, (base,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


LSTMCell = _with_defaults(recurrent_cells.LSTMCell, "A long short-term memory cell; its gates are sigmoids.",
                          recurrent_activation="sigmoid", implementation=2)
GRUCell = _with_defaults(recurrent_cells.GRUCell, "A gated recurrent unit that resets after the product.",
                         recurrent_activation="sigmoid", reset_after=True, implementation=2)
LSTM = _with_defaults(recurrent.LSTM, "The long short-term memory; its gates are sigmoids.", recurrent_activation="sigmoid")
GRU = _with_defaults(recurrent.GRU, "The gated recurrent unit that resets after the product.",
                     recurrent_activation="sigmoid", reset_after=True)


class BatchNormalization(normalization.BatchNormalization):
    """Normalizes by the mean and variance of the batch; a layer with trainable=False uses the moving averages."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, **kwargs):
        for name in ("renorm", "renorm_clipping", "renorm_momentum", "virtual_batch_size", "adjustment"):
            if name in kwargs:
                raise TypeError("tf.compat.v2.keras.layers.BatchNormalization has no %s: use that of tf.compat.v1" % name)
        super().__init__(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
                         moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint,
                         **kwargs)

    def call(self, inputs, training=None):
        return super().call(inputs, training if self.trainable else False)


LAYERS = {"keras.layers." + c.__name__: c for c in (LSTMCell, GRUCell, LSTM, GRU, BatchNormalization)}
