"""tf.keras.Model and Sequential: what loops print and return, weights after training, configurations, data of all kinds."""
import contextlib
import io
import re

import numpy as np

from machine import case

X = np.random.RandomState(0).rand(20, 3).astype("float32")
Y = (X.sum(1) > 1.5).astype("float32")
CLASSES = (X.sum(1) * 1.3).astype("int32")
HOT = np.eye(4, dtype=np.float32)[CLASSES]


def printed(function):
    """(what it returns, what it prints without times)"""
    text = io.StringIO()
    np.random.seed(5)
    with contextlib.redirect_stdout(text):
        found = function()
    said = text.getvalue().replace("\b", "").replace("\r", "\n")
    lines = [line.rstrip() for line in said.split("\n") if "ETA" not in line]
    return found, [re.sub(r"\d+(s|ms|us)(/\w+)?\b", r"#\2", line) for line in lines]


def small(tf, *outputs, **kwargs):
    k = tf.keras
    return k.Sequential([k.layers.Dense(5, activation="relu", input_shape=(3,)), *outputs], **kwargs)


@case(nodes=False, tolerance=2e-3)  # Adam makes whole steps of gradients that are rounding only
def fit_with_validation(tf):
    k = tf.keras
    model = small(tf, k.layers.BatchNormalization(), k.layers.Dense(1, activation="sigmoid"))
    model.compile("adam", "binary_crossentropy", metrics=["accuracy", "mae", k.metrics.AUC(num_thresholds=20)])
    first = printed(lambda: model.fit(X, Y, epochs=2, batch_size=8, validation_split=0.2))
    second = printed(lambda: model.fit(X, Y, epochs=3, initial_epoch=1, batch_size=7, validation_data=(X, Y), verbose=2, shuffle=False))
    third = printed(lambda: model.fit(X, Y, validation_data=(X, Y), shuffle="batch", batch_size=6))
    histories = [(h.history, h.epoch, h.params) for h in (first[0], second[0], third[0])]
    return [histories, first[1], second[1], third[1], model.metrics_names, model.get_weights(), model.optimizer.get_weights(),
            model.evaluate(X, Y), model.predict(X), [v.name for v in tf.global_variables()], [v.name for v in model.weights]]


@case(nodes=False, tolerance=1e-4)
def batches_one_by_one(tf):
    k = tf.keras
    model = small(tf, k.layers.Dense(4, activation="softmax"), name="given")
    model.compile(k.optimizers.SGD(0.1, momentum=0.9), "sparse_categorical_crossentropy", metrics=["acc", "sparse_categorical_accuracy"])
    found = [model.train_on_batch(X, CLASSES), model.train_on_batch(X, CLASSES, sample_weight=Y + 0.5),
             model.train_on_batch(X, CLASSES, class_weight={0: 1.0, 1: 2.0, 2: 0.5, 3: 0.1}), model.test_on_batch(X, CLASSES),
             model.test_on_batch(X, CLASSES, sample_weight=Y), model.predict_on_batch(X[:3]),
             model.train_on_batch(X, CLASSES, reset_metrics=False), model.train_on_batch(X, CLASSES, reset_metrics=False)]
    return found, model.metrics_names, model.get_weights(), model.name, [layer.name for layer in model.layers]


def two_outputs(tf):
    k = tf.keras
    a, b = k.Input((3,), name="a"), k.Input((3,), name="b")
    h = k.layers.Dense(4, kernel_regularizer=k.regularizers.l2(0.1))(k.layers.Concatenate()([a, b]))
    h = k.layers.BatchNormalization()(h)
    return k.Model([a, b], [k.layers.Dense(1, name="o1")(h), k.layers.Dense(4, activation="softmax", name="o2")(h)])


@case(nodes=False, tolerance=1e-4)
def several_inputs_and_outputs(tf):
    model = two_outputs(tf)
    model.compile("sgd", {"o1": "mse", "o2": "categorical_crossentropy"},
                  metrics={"o1": "mae", "o2": ["acc", "top_k_categorical_accuracy"]}, loss_weights=[1.0, 0.5], weighted_metrics=["mse"])
    first = printed(lambda: model.fit({"a": X, "b": X * 2}, {"o1": Y, "o2": HOT}, epochs=2, batch_size=8))
    classes = {"o2": {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0}}
    second = printed(lambda: model.fit([X, X], [Y, HOT], sample_weight=[Y + 1, Y + 2], class_weight=classes, verbose=2))
    return [first[0].history, first[1], second[0].history, second[1], model.metrics_names, model.evaluate([X, X], [Y, HOT], verbose=0),
            model.predict([X, X]), model.get_weights(), [v.name for v in model.trainable_weights], [layer.name for layer in model.layers],
            model.input_names, model.output_names, model.input_shape, model.output_shape, model.count_params()]


@case(nodes=False, tolerance=1e-4)
def tables(tf):
    k = tf.keras
    model = two_outputs(tf)
    outer = k.Sequential([k.layers.Dense(3, input_dim=2), k.Sequential([k.layers.Dense(2, input_shape=(3,))], name="inner")])
    outer.layers[0].trainable = False
    own = Own(tf)
    own.predict(X)
    return [printed(model.summary)[1], printed(lambda: model.summary(line_length=120))[1], printed(outer.summary)[1],
            printed(lambda: outer.summary(expand_nested=True, show_trainable=True))[1], printed(own.summary)[1]]


def Own(tf, **kwargs):
    k = tf.keras

    class Network(k.Model):
        def __init__(self):
            super().__init__(**kwargs)
            self.first, self.second = k.layers.Dense(3, activation="relu"), k.layers.Dense(1)
            self.drop = k.layers.Dropout(0.5)

        def call(self, x, training=None):
            return self.second(self.drop(self.first(x), training=training))
    return Network()


@case(nodes=False, tolerance=1e-4)
def subclassed(tf):
    model = Own(tf)
    model.compile("rmsprop", "mse", metrics=["mae"])
    found = printed(lambda: model.fit(X, Y, epochs=2, verbose=2, validation_data=(X, Y)))
    return [sorted(found[0].history), model.metrics_names, [v.name for v in model.weights], model.output_names,
            [t.name for t in model.outputs], model.predict(X).shape, len(model.layers)]


@case(nodes=False, tolerance=1e-4)
def built_late(tf):
    k = tf.keras
    model = k.Sequential([k.layers.Dense(2, kernel_initializer="ones"), k.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    found = printed(lambda: model.fit(X, Y, verbose=0))[0]
    return found.history, [v.name for v in model.weights], model.predict(X), model.get_config()


@case(nodes=False, tolerance=1e-4)
def data_sets(tf):
    k = tf.keras
    model = small(tf, k.layers.Dense(1))
    model.compile("sgd", "mse", metrics=["mae"])
    data = tf.data.Dataset.from_tensor_slices((X, Y[:, None])).batch(5)
    first = printed(lambda: model.fit(data, epochs=2))
    second = printed(lambda: model.fit(data.repeat(), epochs=2, steps_per_epoch=3, validation_data=data, validation_steps=2))
    return [first[0].history, first[1], second[0].history, second[1], model.evaluate(data), model.evaluate(data, steps=2),
            model.predict(data), model.get_weights()]


@case(nodes=False, tolerance=1e-4)
def generators(tf):
    k = tf.keras

    def batches():
        while True:
            for i in range(0, 20, 5):
                yield X[i:i + 5], Y[i:i + 5]

    class Rows(k.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return X[index * 7:index * 7 + 7], Y[index * 7:index * 7 + 7]
    model = small(tf, k.layers.Dense(1))
    model.compile("sgd", "mse", metrics=["mae"])
    first = printed(lambda: model.fit_generator(batches(), steps_per_epoch=4, epochs=2, validation_data=(X, Y)))
    second = printed(lambda: model.fit_generator(Rows(), epochs=2, shuffle=False, verbose=2, validation_data=Rows()))
    third = printed(lambda: model.fit(batches(), steps_per_epoch=2))
    return [first[0].history, first[1], second[0].history, second[1], third[0].history, third[1], model.evaluate_generator(batches(), 2),
            model.predict_generator(batches(), 2), model.evaluate(Rows()), model.get_weights()]


@case(nodes=False, tolerance=1e-4)
def optimizers_of_train(tf):
    k = tf.keras
    found = []
    for optimizer in (tf.train.AdamOptimizer(0.01), tf.train.GradientDescentOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9)):
        model = small(tf, k.layers.Dense(1))
        model.compile(optimizer, "mse")
        history = printed(lambda m=model: m.fit(X, Y, epochs=2, verbose=0))[0]
        found.append([history.history, model.get_weights(), k.backend.get_value(model.optimizer.iterations)])
    return found, [v.name for v in tf.global_variables()]


@case(nodes=False, tolerance=1e-4)
def layers_in_a_session(tf):
    """Keras layers in a program that has its own session, loss and optimizer."""
    k = tf.keras
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    model = small(tf, k.layers.BatchNormalization(), k.layers.Dropout(0.5), k.layers.Dense(1))
    loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    with tf.control_dependencies(model.get_updates_for(x)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train, {x: X, y: Y[:, None]})
        values = sess.run([loss, model.output], {x: X, y: Y[:, None], model.input: X})[1]
        k.backend.set_session(sess)
        return values, sess.run(model.variables), [v.name for v in tf.global_variables()], model.predict(X), [
            u.name for u in model.updates], len(model.losses)


@case(nodes=False, tolerance=1e-4)
def phases(tf):
    k = tf.keras
    model = small(tf, k.layers.BatchNormalization(momentum=0.5), k.layers.Dropout(0.9))
    K = k.backend
    fn = K.function([model.input, K.learning_phase()], [model.output])
    session = K.get_session()
    before = fn([X, 0])[0]
    zeros = float((fn([X, 1])[0] == 0).mean()) > 0.5
    return [before, zeros, session is K.get_session(), model.predict(X), K.get_value(model.layers[1].moving_mean)]


@case(nodes=False, tolerance=1e-4)
def configurations(tf):
    k = tf.keras
    model = two_outputs(tf)
    again = k.Model.from_config(model.get_config())
    sequential = small(tf, k.layers.Dropout(0.5), k.layers.Dense(1))
    json = k.models.model_from_json(sequential.to_json())
    copied = k.models.clone_model(model)
    copied.set_weights(model.get_weights())
    other = k.models.clone_model(sequential)
    return [model.get_config(), sequential.to_json(), model.to_json(), again.get_config() == model.get_config(),
            json.get_config() == sequential.get_config(), [v.name for v in copied.weights], copied.predict([X, X]),
            model.predict([X, X]), [v.name for v in other.weights], [v.name for v in again.weights]]


@case(nodes=False, tolerance=1e-4)
def shared_layers(tf):
    k = tf.keras
    shared = k.layers.Dense(4, activation="tanh")
    a, b = k.Input((3,)), k.Input((3,))
    made = k.layers.Add()([shared(a), shared(b) * 2.0])
    model = k.models.Model(inputs=[a, b], outputs=k.layers.Dense(1)(made))
    inner = k.Model(a, shared(a))
    model.compile("sgd", "mse")
    history = printed(lambda: model.fit([X, X * 2], Y, verbose=0, epochs=2))[0].history
    return [history, model.get_weights(), inner.predict(X), [layer.name for layer in model.layers], printed(model.summary)[1],
            model.get_layer(index=2).name, model.get_layer("dense").name]


@case(nodes=False, tolerance=1e-4)
def losses_of_layers(tf):
    k = tf.keras
    x = k.Input((3,))
    h = k.layers.Dense(4, activity_regularizer=k.regularizers.l1(0.1), kernel_regularizer=k.regularizers.l2(0.2))(x)
    model = k.Model(x, k.layers.Dense(1)(h))
    model.add_loss(tf.reduce_mean(h))
    model.add_metric(tf.reduce_mean(h), name="mean_of_h", aggregation="mean")
    model.compile("sgd", "mse")
    history = printed(lambda: model.fit(X, Y, epochs=2, batch_size=10))
    return history[0].history, history[1], model.get_weights(), model.metrics_names, len(model.losses), model.evaluate(X, Y, verbose=0)


@case(nodes=False)
def refusals(tf):
    model, one = two_outputs(tf), small(tf, tf.keras.layers.Dense(4))
    said = []
    for attempt in (lambda: one.fit(X, Y), lambda: one.evaluate(X, Y), lambda: tf.keras.Sequential([3]), lambda: one.get_layer("none"),
                    lambda: one.get_layer(index=9), lambda: one.compile("none", "mse"), lambda: one.compile("sgd", "none"),
                    lambda: model.compile("sgd", {"o3": "mse"}), lambda: model.compile("sgd", ["mse"]),
                    lambda: tf.keras.Sequential([tf.keras.layers.Dense(1)]).summary()):
        said.append(told(attempt))
    model.compile("sgd", "mse")
    one.compile("sgd", "categorical_crossentropy")
    for attempt in (lambda: model.fit([X], [Y, HOT]), lambda: model.fit([X, X[:, :2]], [Y, HOT]), lambda: model.fit({"a": X}, [Y, HOT]),
                    lambda: model.fit([X, X[:3]], [Y, HOT]), lambda: model.fit([X, X], [Y[:3], HOT]), lambda: model.fit([X, X], Y),
                    lambda: one.fit(X[:, :2], HOT), lambda: one.fit(X, CLASSES), lambda: one.fit(X, HOT[:, :3]),
                    lambda: one.fit(X[:2], HOT), lambda: one.fit(X, HOT, class_weight={0: 1.0}),
                    lambda: one.fit(X, HOT, sample_weight=HOT)):
        said.append(told(attempt))
    return said


def told(function):
    """The class and the first words of an error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            function()
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, str(e)[:60]
    return "nothing"
