"""Differences found by programs: what Python values become, slices through a concatenation, and features of Examples."""
import numpy as np

from calls_differences_texts import text
from machine import case


def named(call):
    """What a call gives, or the class of what it raises."""
    got = text(call)
    return got[0] if isinstance(got, tuple) and got and isinstance(got[0], str) and got[0].endswith("Error") else got


@case(nodes=False)
def what_python_values_become(tf):
    values = [True, [True, 2], [True, False], [np.bool_(True)], 1.5, [np.float32(1.5)], [np.float64(1.5)], [np.int64(2)], [np.int64(2**40)],
              [np.array(3), 4], [np.float64(2), 1], [1j], "a", [None], [1, None], 300, [-1, 300], 2**31, 2**63, [2**63, -1], [2**63, 1.5],
              np.array([300, -1]), np.array([1.7, -1.2]), [np.uint8(3)], [[1, 2.5], np.array([1, 2])], [2**70]]
    types = [None, tf.int32, tf.int64, tf.uint8, tf.uint64, tf.float32, tf.float16, tf.bool, tf.complex64, tf.string]
    other = [(3, tf.bool), (len(values) - 1, None)]  # refused in both, or only in TensorFlow, with another class
    with tf.Session() as session:
        return [named(lambda: session.run(tf.constant(v, t))) for i, v in enumerate(values) for t in types if (i, t) not in other]


@case(nodes=False)
def what_a_tensor_takes_as_its_other_operand(tf):
    small, number, real = tf.constant([44], tf.uint8), tf.constant(1), tf.constant([2.0, 3.0])
    calls = [lambda: number + True, lambda: real * [True, False], lambda: number + [np.float32(2.5)], lambda: real + [np.float64(2), 1],
             lambda: tf.equal(small, 300), lambda: small + 300, lambda: tf.pad(small, [[1, 1]], constant_values=300),
             lambda: tf.concat([small, [300]], 0), lambda: tf.one_hot([0], 2, 300, -1, dtype=tf.uint8), lambda: real * 2**70,
             lambda: number / True, lambda: tf.equal(number, True), lambda: tf.reshape(tf.ones([1]), [True]),
             lambda: tf.convert_to_tensor(True, preferred_dtype=tf.float32), lambda: tf.reshape(real, [np.int64(2), np.float32(1)]),
             lambda: tf.fill([True, 2], 1), lambda: tf.less(number, 2.5), lambda: tf.constant_initializer(300)([2], tf.uint8),
             lambda: tf.Variable([np.int64(3)]).initial_value, lambda: tf.reduce_mean([np.float64(2)]), lambda: tf.stack([1, True])]
    with tf.Session() as session:
        return [named(lambda: session.run(call())) for call in calls]


@case(nodes=False)
def how_often_fractions_and_truths_occur(tf):
    with tf.Session() as session:
        return [session.run(tf.bincount(v)) for v in ([1.5, 2.0, 2.9], np.array([1.0, 2.7]), [True, False], tf.constant([1.0, 3.0]))]


def parts(session, gradients, feed=None):
    return [session.run([g.values, g.indices, g.dense_shape], feed) if isinstance(g, tuple) or hasattr(g, "dense_shape")
            else session.run(g, feed) for g in gradients]


@case(nodes=False)
def slices_through_a_concatenation(tf):
    p, q = tf.constant(np.arange(10.0).reshape(5, 2), tf.float32), tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    wide = tf.ones([5, 1])
    f, g = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    feed = {f: np.ones([5, 2]), g: np.ones([4, 2])}
    rows = tf.constant([[1.0], [2.0], [3.0], [4.0]])
    with tf.Session() as session:
        return [parts(session, tf.gradients(tf.gather(tf.concat([p, q], 0), [0, 6, 4, 5]) * rows, [p, q])),
                parts(session, tf.gradients(tf.gather(tf.concat([p, q], -2), tf.constant([0, 1], tf.int64)), [p, q])),
                parts(session, tf.gradients(tf.gather(tf.concat([p, wide], 1), [0, 3]) * [[1.0, 2, 3], [5, 6, 7]], [p, wide])),
                parts(session, tf.gradients(tf.gather(tf.concat([f, g, f], 0), [0, 6, 10]), [f, g]), feed),
                parts(session, tf.gradients([tf.gather(tf.concat([p, q], 0), [0, 6]), p * 2], [p, q]))]


@case(nodes=False)
def a_table_with_a_row_of_zeros_before_it(tf):
    """Momentum moves only the rows that were read, as the gradient of the variable is slices."""
    found = []
    for optimizer in (tf.train.MomentumOptimizer(0.1, 0.9), tf.train.RMSPropOptimizer(0.1), tf.train.AdagradOptimizer(0.1)):
        table = tf.Variable(tf.ones([4, 2]))
        ids = tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(tf.concat([tf.zeros([1, 2]), table], 0), ids) ** 2)
        step = optimizer.minimize(loss, var_list=[table])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for read in ([0, 1], [2, 2], [0, 3]):
                session.run(step, {ids: read})
            found.append(session.run(table))
    return found


@case(nodes=False)
def transposed_convolutions_that_do_not_fit(tf):
    def made(depth, rows=8, batch=1, sizes=None):
        y = tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 2, 3]), sizes if sizes is not None else [batch, rows, 8, depth],
                                   [1, 2, 2, 1])
        return str(y.shape).replace("None", "?"), y
    with tf.Session() as session:
        return [named(lambda: made(d)[0]) for d in (1, 2, 4, 5)] + [named(lambda: session.run(made(d)[1])) for d in (1, 2, 5)] + [
            named(lambda: made(2, batch=2)[0]), made(2, sizes=tf.placeholder(tf.int32, [4]))[0], made(2, sizes=tf.placeholder(tf.int32))[0]]


@case(nodes=False)
def features_that_no_example_has(tf):
    fixed, sequence = tf.FixedLenFeature, tf.FixedLenSequenceFeature
    features = [fixed([None], tf.float32), fixed([2, None], tf.float32), fixed(None, tf.float32), fixed([None], tf.float32, 0.0), [2],
                fixed([2], tf.int32), fixed([2], None), tf.VarLenFeature(tf.int32), sequence([None], tf.float32, allow_missing=True),
                sequence([], tf.float32)]
    one, many = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [None])
    kinds = [lambda f: tf.parse_single_example(one, f), lambda f: tf.parse_example(many, f),
             lambda f: tf.parse_single_sequence_example(one, context_features=f)]
    return [named(lambda: sorted(kind({"a": feature}))) for feature in features for kind in kinds] + [
        text(lambda: tf.parse_example(many, {"a": feature})) for feature in features[:3]]


@case(nodes=False)
def averages_of_what_is_no_float(tf):
    def averaged(kind):
        v = tf.get_variable("v" + kind.name, [2], kind, initializer=tf.zeros_initializer())
        return tf.train.ExponentialMovingAverage(0.9).apply([v]).name
    return [text(lambda: averaged(kind)) for kind in (tf.int32, tf.float16, tf.complex64)]


@case(nodes=False)
def summaries_of_narrow_lines(tf):
    first, second = tf.keras.Input((3,), name="first"), tf.keras.Input((2,), name="second")
    joined = tf.keras.layers.concatenate([first, second], name="joined")
    joined = tf.keras.layers.Dense(128, name="a_long_name_of_a_layer_that_wraps")(joined)
    model, lines = tf.keras.Model([first, second], tf.keras.layers.Dense(2, name="last")(joined), name="model"), []
    for length in (50, 60, 80, 97, 120):
        model.summary(line_length=length, print_fn=lines.append)
    return lines


@case(nodes=False)
def the_order_of_a_sequence(tf):
    import random

    class Batches(tf.keras.utils.Sequence):
        def __init__(self):
            self.asked = []

        def __len__(self):
            return 6

        def __getitem__(self, number):
            self.asked.append(number)
            return np.ones([2, 3]), np.ones([2, 1])

        def on_epoch_end(self):
            self.asked.append("end")

    model, found = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))]), []
    model.compile("sgd", "mse")
    for given in (dict(), dict(shuffle=False), dict(workers=0)):
        random.seed(1)
        batches = Batches()
        model.fit_generator(batches, epochs=3, verbose=0, **given)
        found.append(batches.asked[:20])  # TensorFlow may call on_epoch_end once more when it stops
    return found


@case(nodes=False)
def batches_of_a_size_that_the_model_fixes(tf):
    model, x = tf.keras.Sequential([tf.keras.layers.LSTM(2, stateful=True, batch_input_shape=(2, 3, 1))]), np.ones([6, 3, 1])
    model.compile("sgd", "mse")
    elements = tf.data.Dataset.from_tensor_slices((x, np.ones([6, 2]))).batch(2)
    return [text(lambda: model.fit(x[:3], np.ones([3, 2]), batch_size=2, verbose=0)),
            named(lambda: model.fit(x, np.ones([6, 2]), batch_size=3)),
            model.fit(x, np.ones([6, 2]), verbose=0).epoch, model.predict(x).shape, named(lambda: model.predict(x[:3])),
            named(lambda: model.fit(elements, batch_size=2, verbose=0))]


@case(nodes=False)
def lists_that_are_too_short(tf):
    return [text(lambda: tf.summary.merge([])), text(lambda: tf.concat([], 0)), text(lambda: tf.dynamic_stitch([], [])),
            text(lambda: tf.raw_ops.AddN(inputs=[])), tf.meshgrid()]


@case(nodes=False)
def mistakes_that_raise_classes_of_python(tf):
    with tf.Graph().as_default() as graph:
        tf.nn.relu(tf.placeholder(tf.float32, [2], name="x"), name="y")
    made = graph.as_graph_def()
    described = tf.raw_ops.TensorSummary(tensor=tf.zeros([]), description='{"typeHint": "x"}').op.node_def
    return [named(lambda: tf.import_graph_def(made, {"x:0": tf.constant([1, 2])})),
            text(lambda: tf.import_graph_def(made, return_elements=["z:0"])),
            named(lambda: tf.gradients(tf.constant("a"), tf.constant(1.0))),
            text(lambda: tf.while_loop(lambda i: i, lambda i: i + 1, [0])), tf.summary.get_summary_description(described).type_hint,
            text(lambda: tf.summary.get_summary_description(tf.zeros([]).op.node_def))]


@case(nodes=False)
def assets_of_a_simple_model(tf):
    with open("words.txt", "w") as f:
        f.write("a")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tf.constant("words.txt"))
    x, v = tf.placeholder(tf.float32, []), tf.Variable(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        tf.saved_model.simple_save(session, "model", {"x": x}, {"y": x * v})
    return sorted(tf.gfile.ListDirectory("model/assets"))
