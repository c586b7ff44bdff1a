"""Files of Keras models: what one system writes, the other reads, with the same weights and the same state of training."""
import numpy as np
import pytest

import weft
from both import compare, oracle

X = np.random.RandomState(0).rand(20, 3).astype("float32")
Y = (X.sum(1) > 1.5).astype("float32")


def sequential(tf):
    """The layer before the normalization has no bias: its gradient is rounding only, and Adam would make a step of it."""
    k = tf.keras
    model = k.Sequential([k.layers.Dense(2, use_bias=False, input_shape=(3,)), k.layers.BatchNormalization(), k.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


def functional(tf):
    k = tf.keras
    x = k.Input((3,), name="x")
    h = k.layers.Dense(4, activation="relu", name="h")(x)
    model = k.Model(x, k.layers.Dense(1, name="y")(k.layers.Concatenate(name="c")([h, x])))
    model.compile(tf.train.AdamOptimizer(0.01), "mse")
    return model


def subclassed(tf):
    k = tf.keras

    class Network(k.Model):
        def __init__(self):
            super().__init__()
            self.first, self.rest = k.layers.Dense(3, activation="relu"), [k.layers.Dense(1)]

        def call(self, x):
            return self.rest[0](self.first(x))
    model = Network()
    model.compile("sgd", "mse")
    return model


def in_graph(tf, make, act):
    """act(model) of a model that was trained for a step, in a graph and a session of its own."""
    with tf.Graph().as_default(), tf.Session().as_default():
        model = make(tf)
        model.train_on_batch(X, Y)
        return act(model)


@pytest.mark.parametrize("make, name", [(sequential, "folder/weights"), (functional, "folder/weights"), (subclassed, "folder/weights"),
                                        (functional, "weights.h5")])
def test_weights_go_both_ways(make, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for writer, reader in ((weft, oracle), (oracle, weft)):
        path = writer.__name__ + name

        def written(model, path=path):
            model.save_weights(path)
            return model.get_weights(), model.predict(X)

        def read(model, path=path):
            model.load_weights(path)
            return model.get_weights(), model.predict(X)
        kept = in_graph(writer, make, written)
        compare(in_graph(reader, make, read), kept, 1e-5)
    if name == "folder/weights":
        ours, theirs = ([k for k, _ in oracle.train.list_variables(tf.__name__ + name)] for tf in (weft, oracle))
        assert ours == theirs


def test_whole_models_go_both_ways(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for writer, reader in ((weft, oracle), (oracle, weft)):
        def written(model):
            model.save("model.h5")
            return model.get_weights(), model.optimizer.get_weights(), model.train_on_batch(X, Y), model.get_weights()

        def read(reader=reader):
            with reader.Graph().as_default(), reader.Session().as_default():
                model = reader.keras.models.load_model("model.h5")
                return model.get_weights(), model.optimizer.get_weights(), model.train_on_batch(X, Y), model.get_weights()
        before = in_graph(writer, sequential, written)
        compare(read(), before, 1e-4)


def test_folders(tmp_path, monkeypatch):
    """Weft reads the SavedModel of TensorFlow and its own; TensorFlow serves Weft's."""
    monkeypatch.chdir(tmp_path)

    def written(model):
        model.save("model", save_format="tf")
        return model.get_weights(), model.optimizer.get_weights(), model.predict(X)

    def read():
        with weft.Graph().as_default(), weft.Session().as_default():
            model = weft.keras.models.load_model("model")
            return model.get_weights(), model.optimizer.get_weights(), model.predict(X)
    for writer in (oracle, weft):
        kept = in_graph(writer, sequential, written)
        compare(read(), kept, 1e-4)
    with oracle.Graph().as_default(), oracle.Session() as sess:
        found = oracle.saved_model.loader.load(sess, ["serve"], "model").signature_def["serving_default"]
        made = sess.run(list(found.outputs.values())[0].name, {list(found.inputs.values())[0].name: X})
    compare(made, read()[2], 1e-5)
