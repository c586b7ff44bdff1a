"""tf.keras's layers as parts of a graph: the values, gradients and names of TensorFlow's; what is missing says so."""
import numpy as np
import pytest

import weft
from both import both, both_raise, compare, oracle

IMAGE = np.random.RandomState(1).rand(2, 8, 8, 1).astype(np.float32)


def network(tf, x):
    k = tf.keras
    h = k.layers.Conv2D(filters=4, kernel_size=(3, 3), padding="same", activation="relu",
                        kernel_initializer=tf.random_normal_initializer(seed=1))(x)
    h = k.layers.MaxPool2D(pool_size=(2, 2))(h)
    h = k.layers.Flatten()(h)
    return k.layers.Dense(5, activation="softmax", kernel_initializer=tf.random_normal_initializer(seed=2, stddev=0.1))(h)


def test_a_network_of_layers_trains_alike():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            tf.keras.backend.set_learning_phase(1)
            image = tf.placeholder(tf.float32, [None, 8, 8, 1], name="image")
            start = tf.keras.layers.Input(tensor=image, name="start")
            model = tf.keras.models.Model(inputs=start, outputs=network(tf, start))
            labels = tf.constant([[1., 0, 0, 0, 0], [0, 0, 1, 0, 0]])
            loss = tf.reduce_mean(tf.keras.backend.categorical_crossentropy(labels, model.output))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            again = model(image * 2)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                values = [sess.run([train, loss, model.outputs[0]], {image: IMAGE})[1:] for _ in range(3)]
                values.append(sess.run(again, {image: IMAGE}))
            names = [v.op.name for v in tf.trainable_variables()]
            found.append((values, names, [v.op.name for v in model.trainable_weights]))
    assert found[0][1:] == found[1][1:]
    compare(found[0][0], found[1][0], 1e-4)


def test_categories_and_inputs():
    both(lambda tf: [tf.keras.utils.to_categorical([1, 3], 5).tolist(), tf.keras.layers.Input(shape=(3,), name="in").shape.as_list()],
         same_nodes=False)


@pytest.mark.parametrize("program, text", [
    (lambda k: k.layers.TextVectorization(3), "tf.keras.layers.TextVectorization is not in Weft .*test_keras.py"),
])
def test_what_is_missing_names_itself_and_the_line(program, text):
    with pytest.raises(AttributeError, match=text):
        program(weft.keras)


@pytest.mark.parametrize("argument", [{"run_eagerly": True}, {"jit_compile": True}, {"steps_per_execution": 1}, {"other": 0}])
def test_an_argument_of_compile_that_graphs_cannot_have_is_refused(argument):
    def program(tf):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse", run_eagerly=False, distribute=None)
        model.compile("sgd", "mse", **argument)
        return model.predict(np.ones([2, 2]))  # where TensorFlow looks at some of them
    both_raise(program)


def test_a_model_needs_a_loss_and_a_connected_graph():
    with weft.Graph().as_default():
        x = weft.keras.layers.Input(shape=(3,))
        model = weft.keras.models.Model(inputs=x, outputs=weft.keras.layers.Dense(2)(x))
        assert model.count_params() == 8 and [type(x).__name__ for x in model.layers] == ["InputLayer", "Dense"]
        with pytest.raises(ValueError, match="no loss to optimize"):
            model.compile("sgd")
        with pytest.raises(ValueError, match="Graph disconnected"):
            weft.keras.models.Model(inputs=x, outputs=weft.keras.layers.Input(shape=(3,)) * 2)
