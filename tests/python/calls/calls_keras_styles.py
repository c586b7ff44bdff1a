"""Models and optimizers of Keras that few programs use, and tf.layers in the style of Keras: names, values and training."""
import numpy as np

from machine import case

X = np.arange(12.0).reshape(4, 3).astype(np.float32) / 10


def outcome(function):
    try:
        return function()
    except (TypeError, ValueError) as e:
        return type(e).__name__, str(e)[:60]


def wide_deep(tf, optimizer, x):
    layers = tf.keras.layers
    deep = tf.keras.Sequential([layers.Dense(2, kernel_initializer="ones"), layers.Dense(1, kernel_initializer="ones")])
    model = tf.keras.experimental.WideDeepModel(tf.keras.experimental.LinearModel(kernel_initializer="ones"), deep, name="wd")
    model.compile(optimizer, "mse", metrics=["mse"])
    found = model.fit(x, np.ones((4, 1)), epochs=2, verbose=0).history
    steps = model.optimizer if isinstance(model.optimizer, list) else [model.optimizer]
    return [found, model.predict(x), [w.name for w in model.weights], [tf.keras.backend.get_value(o.iterations) for o in steps],
            [w.name for o in steps for w in o.weights]]


@case(nodes=False)
def wide_and_deep(tf):
    sgd = tf.keras.optimizers.SGD
    return [wide_deep(tf, ["sgd", "adam"], X), wide_deep(tf, [sgd(0.1), sgd(0.01)], [X[:, :2], X])]


@case(nodes=False)
def wide_and_deep_with_one_optimizer(tf):
    found = wide_deep(tf, "sgd", X)
    model = tf.keras.experimental.WideDeepModel(tf.keras.experimental.LinearModel(), tf.keras.Sequential([tf.keras.layers.Dense(1)]),
                                                activation="relu")
    again = tf.keras.models.model_from_config({"class_name": "WideDeepModel", "config": model.get_config()})
    return [found, sorted(again.get_config()), again.get_config()["activation"], model(tf.constant(X)).op.type,
            tf.keras.models.WideDeepModel is tf.keras.experimental.WideDeepModel]


def scaled(tf, inner, feeds, **given):
    with tf.Graph().as_default():
        w = tf.Variable([1.0, 2.0], use_resource=True, name="w")
        factor = tf.placeholder(tf.float32, [])
        opt = tf.keras.mixed_precision.LossScaleOptimizer(inner, **given)
        train = opt.minimize(lambda: tf.reduce_sum(w * w) * factor, [w])
        state = [w, opt.loss_scale, opt.iterations] + ([opt.dynamic_counter] if opt.dynamic else [])
        found = [[v.name for v in tf.global_variables()], [v.name for v in opt.weights], opt.get_slot_names()]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for x in feeds:
                sess.run(train, {factor: x})
                found.append(sess.run(state))
        return found


@case(nodes=False)
def loss_scales(tf):
    opt = tf.keras.optimizers
    out = [scaled(tf, opt.SGD(0.1, momentum=0.5), [1, np.inf, 1, 1, 1], initial_scale=8, dynamic_growth_steps=2),
           scaled(tf, opt.Adam(0.1), [1, 1], dynamic=False, initial_scale=4)]
    out += [scaled(tf, opt.SGD(0.1, **clip), [1], initial_scale=8) for clip in ({"clipvalue": 0.5}, {"clipnorm": 0.5},
                                                                             {"global_clipnorm": 0.5})]
    return out


@case(nodes=False)
def loss_scale_options(tf):
    make, sgd = tf.keras.mixed_precision.LossScaleOptimizer, tf.keras.optimizers.SGD
    out = [outcome(lambda: make(3)), outcome(lambda: make(sgd(0.1), "x")), outcome(lambda: make(sgd(0.1), dynamic=False)),
           outcome(lambda: make(sgd(0.1), dynamic=False, initial_scale=8, dynamic_growth_steps=3)), outcome(lambda: make(make(sgd(0.1))))]
    opt = make(sgd(0.1), initial_scale=8)
    opt.learning_rate = 0.25
    again = tf.keras.optimizers.deserialize(tf.keras.optimizers.serialize(opt))
    rates = [float(o.get_config()["inner_optimizer"]["config"].pop("learning_rate")) for o in (opt, again)]
    return out + [rates, sorted(opt.get_config()), again.get_config()["dynamic_growth_steps"], type(again).__name__, opt.initial_scale,
                  opt.dynamic_growth_steps, opt.dynamic, hasattr(opt, "momentum"), hasattr(opt, "rho")]


@case(nodes=False)
def loss_scale_of_a_model(tf):
    keras, found = tf.keras, []
    for opt in (keras.optimizers.Adam(0.1), keras.optimizers.SGD(0.1, clipvalue=0.5)):
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
        model.compile(keras.mixed_precision.LossScaleOptimizer(opt, initial_scale=4.0), "mse")
        found += [model.fit(X, X[:, :1], epochs=3, verbose=0).history, model.get_weights(), model.optimizer.get_weights()]
    model.save("m.h5")
    again = keras.models.load_model("m.h5")
    return found + [again.optimizer.get_config(), again.optimizer.get_weights()]


@case(nodes=False)
def layers_in_the_style_of_keras(tf):
    x, layers, cells, out = tf.constant(X), tf.layers, tf.nn.rnn_cell, []
    with tf.layers.experimental.keras_style_scope():
        for make in (lambda: layers.Dense(2, name="a"), lambda: layers.Dense(2, name="a"), lambda: layers.Dense(2),
                     layers.BatchNormalization):
            layer = make()
            out += [layer(x).name, [v.name for v in layer.weights], layer.name]
        for cell in (cells.BasicLSTMCell(4), cells.MultiRNNCell([cells.GRUCell(4) for _ in range(2)])):
            out += [cell(x, cell.zero_state(4, tf.float32))[0].name, [v.name for v in cell.weights]]
        out += [outcome(lambda: layers.dense(x, 2, name="b")), outcome(lambda: layers.dense(x, 2, reuse=True, name="q")),
                outcome(lambda: layers.Dense(2, _reuse=True)), outcome(lambda: layers.Dense(2)(x, scope="z")),
                layers.dense(x, 2).name]
    after = layers.Dense(2)
    return out + [after(x).name, [v.name for v in after.weights], [v.name for v in tf.trainable_variables()]]


@case(nodes=False)
def advice_on_a_run(tf):
    x = tf.placeholder(tf.float32, [3, 3], name="x")
    y = tf.matmul(x, x, name="only")
    meta = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(y, {x: np.ones([3, 3])}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=meta)
    every = tf.profiler.advise(tf.get_default_graph(), meta)
    some = tf.profiler.advise(run_meta=meta, options={"ExpensiveOperationChecker": {}, "other": {}})
    first = some.checkers["ExpensiveOperationChecker"].reports[0].split(",")[0]
    return [sorted(every.checkers), sorted(some.checkers), first, outcome(lambda: sorted(tf.profiler.advise().checkers)),
            [list(c.reports) for c in tf.profiler.advise().checkers.values()]]


@case(nodes=False)
def memory_of_devices(tf):
    config = tf.config.experimental
    return [outcome(lambda: config.get_memory_info("CPU:0")), outcome(lambda: config.get_memory_usage("/device:CPU:0")),
            outcome(lambda: config.reset_memory_stats("CPU:0")), outcome(lambda: config.get_memory_info("CPU:7")),
            outcome(lambda: config.get_memory_usage("cpu")),
            outcome(lambda: config.reset_memory_stats("x"))]
