"""Keras models on batches of other sizes than the input layer declares, and on a smaller last batch."""
import numpy as np
import pytest

import weft
from both import compare, oracle, outcome

X = np.arange(30, dtype=np.float32).reshape(10, 3) / 30
Y = X.sum(1, keepdims=True)
IMAGES = np.arange(10 * 36, dtype=np.float32).reshape(10, 6, 6, 1) / 360
SERIES = np.arange(150, dtype=np.float32).reshape(10, 5, 3) / 150


def dense(tf, size=4):
    layers = tf.keras.layers
    first = layers.Dense(4, activation="relu", kernel_initializer="ones", batch_input_shape=(size, 3))
    made = tf.keras.Sequential([first, layers.Dense(1, kernel_initializer="ones")])
    made.compile(tf.keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    return made


def convolution(tf):
    layers = tf.keras.layers
    x = tf.keras.Input(batch_shape=(4, 6, 6, 1))
    y = layers.MaxPooling2D()(layers.Conv2D(2, 3, kernel_initializer="ones")(x))
    y = layers.Dropout(0.5)(layers.Flatten()(layers.BatchNormalization()(y)))
    return tf.keras.Model(x, layers.Dense(2, kernel_initializer="ones")(layers.Lambda(lambda t: t * 2)(y)))


def recurrent(tf):
    x = tf.keras.Input(batch_shape=(4, 5, 3))
    return tf.keras.Model(x, tf.keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")(x))


def rows(tf):
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


CALLS = {
    "predict, a smaller last batch": lambda tf: dense(tf).predict(X),
    "predict one": lambda tf: dense(tf).predict(X[:1]),
    "predict a larger batch": lambda tf: dense(tf).predict_on_batch(X),
    "evaluate": lambda tf: dense(tf).evaluate(X, Y, verbose=0),
    "test one batch, then others": lambda tf: [(m.test_on_batch(X[:n], Y[:n]), m.predict(X[:n])) for m in [dense(tf)]
                                               for n in (3, 4, 10, 3)],
    "train, then predict": lambda tf: [(m.train_on_batch(X[:4], Y[:4]), m.predict(X)) for m in [dense(tf)]],
    "a data set": lambda tf: dense(tf).evaluate(rows(tf), steps=3, verbose=0),
    "convolution": lambda tf: convolution(tf).predict(IMAGES),
    "function": lambda tf: [tf.keras.backend.function([m.inputs[0]], [m.outputs[0], m.layers[0].output])([X[:3]]) for m in [dense(tf)]],
    "any size": lambda tf: [(m.predict(X, batch_size=3), m.evaluate(X, Y, batch_size=7, verbose=0), m.train_on_batch(X[:1], Y[:1]))
                            for m in [dense(tf, None)]],
}
REFUSED = {
    "train on fewer rows": lambda tf: dense(tf).train_on_batch(X[:3], Y[:3]),
    "fit, a smaller last batch": lambda tf: dense(tf).fit(X, Y, batch_size=4, verbose=0),
    "states of a declared size": lambda tf: recurrent(tf).predict(SERIES),
    "another batch size": lambda tf: dense(tf).predict(X, batch_size=5),
}


def called(tf, call):
    with tf.Graph().as_default(), tf.Session().as_default():
        return call(tf)


@pytest.mark.parametrize("name", CALLS)
def test_batches_of_other_sizes_are_computed(name):
    ours, theirs = called(weft, CALLS[name]), called(oracle, CALLS[name])
    compare(*(np.concatenate([np.ravel(v) for v in flat(found)]) for found in (ours, theirs)), tolerance=1e-4)


def flat(found):
    if isinstance(found, dict):
        return [v for k in sorted(found) for v in flat(found[k])]
    return [v for f in found for v in flat(f)] if isinstance(found, (list, tuple)) else [np.asarray(found, np.float64)]


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_that_the_graph_has_as_constants_are_refused(name):
    said = [outcome(lambda tf=tf: called(tf, REFUSED[name])) for tf in (weft, oracle)]
    assert said[0] == said[1]
    assert "Incompatible shapes" in said[0] or "incompatible with the specified batch size" in said[0]


def test_a_model_of_two_replicas_takes_a_smaller_last_batch():
    """The session of Keras places what has no device of its own, such as a second CPU, on one that is there."""
    def fitted(tf):
        tf.reset_default_graph()
        tf.keras.backend.clear_session()
        with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
            model = dense(tf, None)
        data = [rows(tf), rows(tf).repeat()]
        found = [model.fit(data[0], epochs=1, verbose=0).history, model.fit(data[1], epochs=1, steps_per_epoch=5, verbose=0).history,
                 model.predict(rows(tf))]
        tf.keras.backend.clear_session()
        return flat(found)
    for a, b in zip(fitted(weft), fitted(oracle), strict=True):
        compare(a, b, 1e-4)
