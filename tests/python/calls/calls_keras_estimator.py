"""tf.keras.estimator.model_to_estimator: steps, evaluations, predictions and variables."""
import numpy as np

from calls_keras_models import X, Y
from machine import case


def estimated(tf, model, key, **kwargs):
    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({key: X}, Y[:, None])).batch(5).repeat(2)
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir="model", **kwargs)
    estimator.train(input_fn, steps=6)
    found = estimator.evaluate(input_fn, steps=4)
    predicted = [list(p.values())[0] for p in estimator.predict(lambda: tf.data.Dataset.from_tensors({key: X}))]
    estimator.train(input_fn, steps=2)
    names = [n for n in estimator.get_variable_names()]
    return {k: np.float32(v) for k, v in found.items()}, predicted, names, [estimator.get_variable_value(n) for n in names if "kernel" in n]


@case(nodes=False, tolerance=1e-4)
def a_sequential_model(tf):
    k = tf.keras
    model = k.Sequential([k.layers.Dense(4, input_shape=(3,), activation="relu"), k.layers.BatchNormalization(), k.layers.Dense(1)])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse", metrics=["mae"])
    model.get_weights()
    return estimated(tf, model, "dense_input")


@case(nodes=False, tolerance=1e-4)
def a_functional_model(tf):
    k = tf.keras
    x = k.Input((3,), name="x")
    model = k.Model(x, k.layers.Dense(1, activation="sigmoid", name="out")(k.layers.Dense(3)(x)))
    model.compile(k.optimizers.SGD(0.1, momentum=0.5), "binary_crossentropy", metrics=["accuracy"])
    model.get_weights()  # from now on the model has weights, which the estimator starts with
    return estimated(tf, model, "x")


@case(nodes=False)
def refused(tf):
    k, said = tf.keras, []
    model = k.Sequential([k.layers.Dense(1, input_shape=(3,))])
    for given in ({}, {"keras_model": model}, {"keras_model": model, "keras_model_path": "x"}):
        try:
            tf.keras.estimator.model_to_estimator(**given)
        except ValueError as e:
            said.append(str(e)[:60])
    return said
