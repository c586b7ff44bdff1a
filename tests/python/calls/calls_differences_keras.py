"""Differences that Keras's own unit tests showed: models without trainable variables, losses that are numbers, and cells that are
no layers."""
import numpy as np

from machine import case


@case(nodes=False)
def training_without_variables(tf):
    found = []
    for optimizer in ("sgd", "adam", "rmsprop", "adagrad", "ftrl"):
        x = tf.keras.Input((3,))
        model = tf.keras.Model(x, tf.keras.layers.GaussianNoise(0.0)(x))
        model.compile(optimizer, "mse")
        found += [float(model.train_on_batch(np.zeros((2, 3)), np.ones((2, 3)))), [v.name for v in model.optimizer.weights],
                  int(tf.keras.backend.get_value(model.optimizer.iterations))]
    return found


@case(nodes=False)
def training_a_frozen_model(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,))])
    model.trainable = False
    model.compile("sgd", "mse")
    return [float(model.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))), [w.tolist() for w in model.get_weights()]]


@case(nodes=False)
def losses_that_are_numbers(tf):
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(2, kernel_initializer="ones")(x))
    model.add_loss(tf.reduce_mean(model.output))
    for number in (1, 2.5, np.float64(1)):
        model.add_loss(number)
    model.compile("sgd", "mse")
    return [[loss.dtype.name for loss in model.losses], float(model.train_on_batch(np.ones((2, 3)), np.ones((2, 2))))]


@case(nodes=False)
def losses_that_do_not_depend_on_the_inputs(tf):
    """A model of functions trains none that were added to it; a layer's, and those of a model without inputs, count."""
    found = []
    for kind in ("function", "sequence", "sequence without inputs", "layer"):
        dense = tf.keras.layers.Dense(2, kernel_initializer="ones")
        if kind == "sequence without inputs":
            model = tf.keras.Sequential([dense])
        elif kind == "sequence":
            model = tf.keras.Sequential([tf.keras.layers.InputLayer((3,)), dense])
        else:
            x = tf.keras.Input((3,))
            model = tf.keras.Model(x, dense(x))
        (dense if kind == "layer" else model).add_loss(tf.constant(7.0))
        model.compile("sgd", "mse")
        found.append((len(model.losses), float(model.train_on_batch(np.ones((2, 3)), np.ones((2, 2))))))
    return found


@case(nodes=False)
def cells_that_are_no_layers(tf):
    class Cell:
        def __init__(self, units, size):
            self.units = self.state_size = units
            self.kernel = tf.keras.backend.variable(np.ones((size, units)))

        def call(self, inputs, states):
            made = tf.keras.backend.dot(inputs, self.kernel)
            return made + states[0], [made]

    found = []
    for cell in (Cell(2, 3), [Cell(2, 3), Cell(4, 2)]):
        x = tf.keras.Input((None, 3))
        model = tf.keras.Model(x, tf.keras.layers.RNN(cell)(x))
        model.compile("sgd", "mse")
        units = model.output.shape.as_list()[1]
        found += [model.predict(np.ones((2, 2, 3))), len(model.trainable_weights),
                  float(model.train_on_batch(np.ones((2, 2, 3)), np.ones((2, units))))]
    return found
