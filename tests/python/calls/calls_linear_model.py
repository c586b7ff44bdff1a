"""tf.keras.experimental.LinearModel, and tf.user_ops: values, names of weights, configurations and training."""
import numpy as np

from machine import case

X = np.arange(6.0).reshape(2, 3).astype(np.float32)


def built(tf, inputs, **given):
    model = tf.keras.experimental.LinearModel(kernel_initializer=tf.keras.initializers.RandomUniform(seed=3), name="line", **given)
    out = model(inputs)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(out), [w.name for w in model.weights], [w.shape.as_list() for w in model.trainable_weights],
                sorted(k for k in model.get_config() if k not in ("name", "trainable", "dtype")), len(model.losses)]


@case(nodes=False)
def one_input(tf):
    return built(tf, tf.constant(X), units=2, activation="relu", kernel_regularizer="l2")


@case(nodes=False)
def inputs(tf):
    return [built(tf, [tf.constant(X), tf.constant(X[:, :1])], use_bias=False),
            built(tf, {"b": tf.constant(X), "a": tf.constant(X[:, :1])}, bias_initializer="ones")]


@case(nodes=False)
def fit(tf):
    model = tf.keras.experimental.LinearModel(units=2, kernel_initializer="ones")
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    found = model.fit(X, np.ones((2, 2)), epochs=3, verbose=0).history["loss"]
    return [found, model.predict(X), tf.keras.models.LinearModel is tf.keras.experimental.LinearModel]


@case(nodes=False)
def user_op(tf):
    fact = tf.user_ops.my_fact()
    with tf.Session() as sess:
        return [fact.op.type, fact.name, sess.run(fact)]
