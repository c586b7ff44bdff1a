"""Variables have TensorFlow's names, so that its checkpoints restore here and ours there: cells, layers, Keras."""
import numpy as np
import pytest

import weft
from both import compare, oracle

X = np.random.RandomState(0).randn(4, 5, 3).astype(np.float32)
IMAGES = np.random.RandomState(1).rand(2, 6, 6, 3).astype(np.float32)


def cell_of(tf, kind):
    c = tf.nn.rnn_cell
    return {"basic": lambda: c.BasicRNNCell(3), "lstm": lambda: c.BasicLSTMCell(3), "full": lambda: c.LSTMCell(3),
            "projected": lambda: c.LSTMCell(4, num_proj=3, use_peepholes=True), "gru": lambda: c.GRUCell(3)}[kind]()


KINDS = ("basic", "lstm", "full", "projected", "gru")


def alone(tf, kind):
    cell = cell_of(tf, kind)
    out, state = cell(tf.constant(X[:, 0]), cell.zero_state(4, tf.float32))
    out, _ = cell(out, state)
    return [out], [v.name for v in cell.variables], [v.name for v in cell.trainable_weights], cell.name, cell.built, out.name


def looped(tf, kind):
    with tf.variable_scope("encoder"):
        out, _ = tf.nn.dynamic_rnn(cell_of(tf, kind), tf.constant(X), [5, 2, 3, 1], dtype=tf.float32)
    return [out], out.name


def unrolled(tf, kind):
    outs, _ = tf.nn.static_rnn(cell_of(tf, kind), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, scope="net")
    return outs, [o.name for o in outs]


def both_ways(tf, kind):
    outs, _ = tf.nn.bidirectional_dynamic_rnn(cell_of(tf, kind), cell_of(tf, kind), tf.constant(X), dtype=tf.float32)
    rows, _, _ = tf.nn.static_bidirectional_rnn(cell_of(tf, kind), cell_of(tf, kind), tf.unstack(tf.constant(X), axis=1),
                                                dtype=tf.float32, scope="rows")
    return list(outs) + rows, None


def stacked(tf, kind):
    c = tf.nn.rnn_cell
    cells = [cell_of(tf, kind), c.DropoutWrapper(cell_of(tf, kind), output_keep_prob=1.0),
             c.ResidualWrapper(c.DeviceWrapper(cell_of(tf, kind), "/cpu:0"))]
    stack = c.MultiRNNCell(cells)
    out, state = tf.nn.dynamic_rnn(stack, tf.constant(X), dtype=tf.float32)
    return [out], [v.name for v in stack.variables], [v.name for v in cells[2].weights]


def in_scopes(tf, kind):
    made = []
    with tf.variable_scope("a"):
        made += [tf.nn.dynamic_rnn(cell_of(tf, kind), tf.constant(X), dtype=tf.float32, scope="in")[0]]
    with tf.variable_scope("a", reuse=True):
        made += [tf.nn.dynamic_rnn(cell_of(tf, kind), tf.constant(X), dtype=tf.float32, scope="in")[0]]
    with tf.variable_scope("b"):
        cell = cell_of(tf, kind)
        state = cell.zero_state(4, tf.float32)
        for t in range(3):
            if t:
                tf.get_variable_scope().reuse_variables()
            out, state = cell(tf.constant(X[:, t]), state)
    other = cell_of(tf, kind)
    made += [out, other(tf.constant(X[:, 0]), state, "given")[0], other(tf.constant(X[:, 1]), state, "given")[0]]
    return made, None


def shared(tf, kind):
    """A cell keeps its variables in other scopes; the second cell of a kind has its own."""
    first, second = cell_of(tf, kind), cell_of(tf, kind)
    state, x = first.zero_state(4, tf.float32), tf.constant(X[:, 0])
    made = [first(x, state)[0], second(x, state)[0], first(x, state)[0]]
    with tf.variable_scope("z"):
        made.append(second(x, state)[0])
    with tf.variable_scope("y"):
        made.append(cell_of(tf, kind)(x, state)[0])
    cell = cell_of(tf, kind)
    made += [tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32, scope=s)[0] for s in ("p", "q")]
    return made, None


def custom(tf, kind):
    """Cells as programs write them: by call and get_variable, by build and add_variable, by __call__, as a subclass."""
    base = tf.nn.rnn_cell.RNNCell

    class MyCell(base):
        def __init__(self, n, reuse=None, name=None):
            super(MyCell, self).__init__(_reuse=reuse, name=name)
            self._n = n

        state_size = output_size = property(lambda self: self._n)

        def call(self, inputs, state):
            w = tf.get_variable("w", [inputs.get_shape()[1], self._n])
            out = tf.tanh(tf.matmul(inputs, w) + tf.layers.dense(state, self._n, name="fc"))
            return out, out

    class Built(MyCell):
        def build(self, shape):
            self.k = self.add_variable("k", shape=[int(shape[-1]), self._n])
            self.b = self.add_weight("b", [self._n], initializer=tf.zeros_initializer(), trainable=False)
            self.built = True

        def call(self, inputs, state):
            return (tf.tanh(tf.matmul(inputs, self.k) + self.b + state),) * 2

    class OldStyle(base):
        def __init__(self, n):
            self._n = n

        state_size = output_size = property(lambda self: self._n)

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                return (tf.matmul(inputs, tf.get_variable("w", [inputs.get_shape()[1], self._n])) + state,) * 2

    class Around(base):
        def __init__(self, cell):
            super(Around, self).__init__()
            self._inner = cell

        state_size = property(lambda self: self._inner.state_size)
        output_size = property(lambda self: 2)

        def call(self, inputs, state):
            out, state = self._inner(inputs, state)
            return tf.layers.dense(out, 2), state

    class MyLSTM(tf.nn.rnn_cell.BasicLSTMCell):
        def call(self, inputs, state):
            out, state = super(MyLSTM, self).call(inputs, state)
            return out * 2, state

    stack = tf.nn.rnn_cell.MultiRNNCell
    cells = [MyCell(3), MyCell(3, reuse=True), MyCell(3, name="named"), Built(3), Built(3, name="built_too"), OldStyle(3),
             Around(tf.nn.rnn_cell.LSTMCell(3)), MyLSTM(3), stack([MyCell(3), Built(3)]), stack([OldStyle(3), OldStyle(3)]),
             stack([Around(tf.nn.rnn_cell.GRUCell(3)) for _ in range(2)]), tf.nn.rnn_cell.DropoutWrapper(OldStyle(3), 1.0)]
    scopes = ["s", "s", "s", "s", "s", "s", "t", "t", "m", "n", "o", "d"]
    made = [tf.nn.dynamic_rnn(c, tf.constant(X), dtype=tf.float32, scope=s)[0] for c, s in zip(cells, scopes)]
    return made, [[v.name for v in c.variables] for c in cells[:5] + cells[6:9]]


def layers(tf, kind):
    x, images, made = tf.constant(X[:, 0]), tf.constant(IMAGES), []
    for _ in range(2):
        made += [tf.layers.dense(x, 2), tf.layers.conv2d(images, 2, 3), tf.layers.conv2d_transpose(images, 2, 3),
                 tf.layers.separable_conv2d(images, 2, 3), tf.layers.batch_normalization(x), tf.layers.dense(tf.constant(X), 2)]
    with tf.variable_scope("a"):
        made += [tf.layers.dense(x, 2), tf.layers.dense(x, 2, name="fc"), tf.layers.dense(x, 2)]
        with tf.name_scope("n"):
            made.append(tf.layers.dense(x, 2))
    with tf.variable_scope("a", reuse=True):
        made += [tf.layers.dense(x, 2), tf.layers.dense(x, 2, name="fc")]
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        made += [tf.layers.dense(x, 2, name="fc"), tf.layers.dense(x, 2, name="new")]
    return made, [m.name for m in made]


def own_layers(tf, kind):
    class MyScale(tf.layers.Layer):
        def build(self, shape):
            self.w = self.add_variable("w", shape=[shape[-1]], initializer=tf.truncated_normal_initializer(seed=3))
            self.c = self.add_weight("c", [2], initializer=tf.ones_initializer(), trainable=False)
            self.built = True

        def call(self, inputs, times=1.0):
            return inputs * self.w * times

    x, layer, named = tf.constant(X[:, 0]), MyScale(), MyScale(name="given")
    made = [MyScale()(x), layer(x), layer(x, times=3.0), named(x)]
    with tf.variable_scope("a"):
        made += [MyScale()(x), layer.apply(x)]
    return made, [m.name for m in made], layer.name, layer.scope_name, [v.name for v in layer.weights], layer.count_params(), \
        [v.name for v in layer.non_trainable_variables], named.scope_name


def keras(tf, kind):
    x, images, k, made = tf.constant(X[:, 0]), tf.constant(IMAGES), tf.keras.layers, []
    made.append(tf.layers.dense(x, 2))
    for layer, to in ((k.Dense(2), x), (k.Conv2D(2, 3), images), (k.MaxPool2D(), images), (k.Flatten(), images), (k.Dense(2), x),
                      (k.AveragePooling2D(), images), (k.Activation("relu"), x)):
        made.append(layer(to))
    with tf.variable_scope("a"):
        made += [k.Dense(2)(x), k.Dense(2, name="fc")(x)]
    with tf.name_scope("b"):
        made.append(k.Dense(2)(x))
    with tf.variable_scope("a", reuse=True):
        made.append(k.Dense(2)(x))
    layer = k.Dense(2)
    made += [layer(x), layer(x), tf.layers.dense(x, 2)]
    with tf.variable_scope("c"):
        made.append(layer(x))
    return made, [m.name for m in made], [v.name for v in layer.weights], layer.name


def optimizers(tf, kind):
    w, e, train = tf.get_variable("w", [3]), tf.get_variable("e", [4, 2]), tf.train
    loss = tf.reduce_sum(w * w) + tf.reduce_sum(tf.nn.embedding_lookup(e, [1, 2]))
    for o in (train.AdamOptimizer(), train.AdagradOptimizer(.1), train.FtrlOptimizer(.1), train.RMSPropOptimizer(.1),
              train.RMSPropOptimizer(.1, centered=True, name="centered"), train.MomentumOptimizer(.1, .9), train.AdadeltaOptimizer(),
              train.AdamOptimizer(name="Second")):
        o.minimize(loss)
    with tf.variable_scope("scope"):
        train.AdamOptimizer(name="Third").minimize(loss)
    average = train.ExponentialMovingAverage(.9, train.get_or_create_global_step())
    average.apply([w])
    return [loss], sorted(average.variables_to_restore())


def metrics(tf, kind):
    """Each has its own variables, named by the name scope: also where a variable scope is entered again or reused."""
    labels, made, m = tf.constant([1, 0]), tf.constant([1, 1]), tf.metrics
    m.accuracy(labels, made), m.mean(tf.constant([1.])), m.auc(labels, tf.constant([.5, .7])), m.precision(labels, made)
    m.recall(labels, made), m.mean(tf.constant([1.]), name="own"), m.accuracy(labels, made)
    for reuse in (None, None, True):
        with tf.variable_scope("e", reuse=reuse):
            m.accuracy(labels, made)
    with tf.name_scope("n"), tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        m.accuracy(labels, made)
    return [tf.get_variable("w", [2])], [[v.name for v in tf.get_collection(k)] for k in ("local_variables", "metric_variables")]


def columns(tf, kind):
    f = tf.feature_column
    words = f.categorical_column_with_hash_bucket("w", 10)
    number = f.numeric_column("x")
    dense = [number, f.embedding_column(words, 3), f.indicator_column(words), f.bucketized_column(f.numeric_column("y"), [1., 2.])]
    given = {"w": tf.constant([["a"], ["b"]]), "x": tf.constant([[1.], [2.]]), "y": tf.constant([[1.], [2.]])}
    made = [f.input_layer(given, dense), f.linear_model(given, [number, words, dense[3]])]
    with tf.variable_scope("s"):
        made.append(f.input_layer(given, dense))
    with tf.variable_scope("s", reuse=True):
        made.append(f.input_layer(given, dense))
    with tf.variable_scope("t"):
        made.append(f.linear_model(given, [number, words], units=2))
    return made, None


def learnt(tf):
    return [(v.op.name, v.shape.as_list(), any(v is t for t in tf.trainable_variables())) for v in tf.global_variables()]


def save(tf, program, kind, path):
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        tensors, *said = program(tf, kind)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, path)
            return learnt(tf), said, sess.run(tensors)


def restore(tf, program, kind, path):
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        tensors, *_ = program(tf, kind)
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, path)
            return sess.run(tensors)


CASES = [(p, k) for p in (alone, looped, unrolled, both_ways, stacked, in_scopes, shared) for k in KINDS] + [
    (p, None) for p in (custom, layers, own_layers, keras, optimizers, metrics, columns)]


@pytest.mark.parametrize("program, kind", CASES, ids=lambda x: getattr(x, "__name__", x))
def test_names_are_the_same_and_checkpoints_restore(program, kind, tmp_path):
    ours, theirs = (save(tf, program, kind, str(tmp_path / tf.__name__)) for tf in (weft, oracle))
    assert ours[0] == theirs[0] and ours[1] == theirs[1]
    compare(ours[2], theirs[2], 1e-4)
    compare(restore(weft, program, kind, str(tmp_path / oracle.__name__)), theirs[2], 1e-4)
    compare(restore(oracle, program, kind, str(tmp_path / weft.__name__)), ours[2], 1e-4)


def reuse_modes(tf):
    """What a scope's reuse is inside another: by name, by an object of it, after reuse_variables, with a default name."""
    modes = (None, False, True, tf.AUTO_REUSE)
    seen = []
    for outer, inner, kind in ((o, i, k) for o in modes for i in modes for k in range(7)):
        with tf.Graph().as_default():
            with tf.variable_scope("auto", reuse=tf.AUTO_REUSE) as auto, tf.name_scope("x"):
                pass
            with tf.variable_scope("plain") as plain:
                pass
            with tf.variable_scope("p", reuse=outer) as p:
                if kind == 6:
                    p.reuse_variables()
                name = ("n", p, tf.get_variable_scope(), auto, plain, None, "n")[kind]
                try:
                    with tf.variable_scope(name, "d", reuse=inner) as made:
                        seen.append((kind, made.name, str(made.reuse).split(".")[-1]))
                        with tf.variable_scope("z") as z:
                            seen.append(str(z.reuse).split(".")[-1])
                        seen.append(tf.get_variable("v", [1]).name)
                except ValueError as e:
                    seen.append(str(e)[:60])
    return seen


def test_reuse_of_a_scope_inside_another():
    assert reuse_modes(weft) == reuse_modes(oracle)
