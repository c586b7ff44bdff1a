"""tf.nn and training steps: nodes and numbers are TensorFlow's."""
import numpy as np
import pytest

import weft
from both import both, compare, oracle

LOGITS = np.random.RandomState(0).randn(6, 4).astype(np.float32)
LABELS = np.eye(4, dtype=np.float32)[[0, 1, 3, 2, 2, 0]]


def test_losses_of_logits():
    def program(tf):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.placeholder(tf.float32, [None, 4], name="y")
        return [tf.nn.softmax_cross_entropy_with_logits(logits=x, labels=y),
                tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=tf.argmax(y, 1)),
                tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=y), tf.nn.softmax(x), tf.nn.log_softmax(x)]
    both(program, {"x": LOGITS, "y": LABELS})


def test_layers_by_hand():
    def program(tf):
        x = tf.placeholder(tf.float32, [6, 4], name="x")
        w, b = tf.Variable(tf.truncated_normal([4, 3], stddev=0.1)), tf.Variable(tf.zeros([3]))
        h = tf.nn.relu(tf.nn.xw_plus_b(x, w, b))
        return [h, tf.nn.dropout(x, 0.5), tf.nn.l2_loss(w), tf.nn.embedding_lookup(w, [1, 2]), tf.clip_by_value(x, -1., 1.)]
    both(program, {"x": LOGITS})


def test_convolutions():
    def program(tf):
        x = tf.placeholder(tf.float32, [2, 8, 8, 1], name="x")
        k = tf.Variable(tf.truncated_normal([3, 3, 1, 4], stddev=0.1))
        c = tf.nn.conv2d(x, k, strides=[1, 1, 1, 1], padding="SAME")
        p = tf.nn.max_pool(tf.nn.bias_add(c, tf.ones([4])), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        return [c, p, tf.nn.lrn(p, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)]
    both(program, {"x": np.random.RandomState(1).randn(2, 8, 8, 1).astype(np.float32)}, tolerance=1e-4)


OPTIMIZERS = {
    "descent": lambda tf, s: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf, s: tf.train.MomentumOptimizer(learning_rate=0.1, momentum=0.9),
    "nesterov": lambda tf, s: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda tf, s: tf.train.AdamOptimizer(0.01),
    "adagrad": lambda tf, s: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda tf, s: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "ftrl": lambda tf, s: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "decay": lambda tf, s: tf.train.GradientDescentOptimizer(tf.train.exponential_decay(0.5, s, 2, 0.7, staircase=True)),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_optimizers_learn_alike(kind):
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 4])
            y = tf.placeholder(tf.float32, [None, 4])
            w = tf.Variable(tf.ones([4, 4]) * 0.1, name="w")
            step = tf.Variable(0, trainable=False, name="step")
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=tf.matmul(x, w), labels=y))
            train = OPTIMIZERS[kind](tf, step).minimize(loss, global_step=step)
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                losses = [sess.run([train, loss], {x: LOGITS, y: LABELS})[1] for _ in range(10)]
                found.append([losses, sess.run([w, step]), sorted(v.name for v in tf.global_variables()), train.name])
    compare(found[0][0], found[1][0], 1e-4)
    compare(found[0][1], found[1][1], 1e-4)
    assert found[0][2:] == found[1][2:]


def test_moving_averages_are_named_and_computed_alike():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            w = tf.Variable([1.0, 2.0], name="w")
            step = tf.Variable(3, trainable=False, name="step")
            ema = tf.train.ExponentialMovingAverage(0.9, step)
            with tf.control_dependencies([tf.assign_add(w, [1.0, 1.0])]):
                update = ema.apply([w])
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                sess.run(update)
                found.append([sess.run(ema.average(w)), ema.average_name(w), [v.name for v in tf.global_variables()],
                              [v.name for v in tf.moving_average_variables()], sorted(ema.variables_to_restore())])
    compare(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]


def test_each_restores_what_the_other_saved(tmp_path):
    for writer, reader in ((weft, oracle), (oracle, weft)):
        path = str(tmp_path / writer.__name__ / "model.ckpt")
        (tmp_path / writer.__name__).mkdir()
        with writer.Graph().as_default():
            writer.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
            writer.Variable(7, name="n")
            with writer.Session() as sess:
                sess.run(writer.global_variables_initializer())
                saved = writer.train.Saver().save(sess, path, global_step=12)
        assert saved == path + "-12"
        with reader.Graph().as_default():
            w, n = reader.Variable(np.zeros((2, 3), np.float32), name="w"), reader.Variable(0, name="n")
            with reader.Session() as sess:
                assert reader.train.latest_checkpoint(str(tmp_path / writer.__name__)) == saved
                reader.train.Saver().restore(sess, saved)
                np.testing.assert_array_equal(sess.run(w), np.arange(6).reshape(2, 3))
                assert sess.run(n) == 7


def test_summaries_and_events(tmp_path):
    with weft.Graph().as_default() as graph:
        x = weft.Variable(2.5)
        weft.summary.scalar("loss", x)
        weft.summary.histogram("h", [1.0, 2.0])
        merged = weft.summary.merge_all()
        with weft.Session() as sess:
            sess.run(weft.global_variables_initializer())
            writer = weft.summary.FileWriter(str(tmp_path), graph)
            writer.add_summary(sess.run(merged), 4)
            writer.close()
    file, = tmp_path.glob("events*")
    events = list(oracle.train.summary_iterator(str(file)))
    assert [e.step for e in events if e.HasField("summary")] == [4]
    assert {v.tag for e in events for v in e.summary.value} == {"loss", "h"}
    assert any(e.HasField("graph_def") for e in events)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_the_norm_of_transforms_along_axes_scales_their_input(norm):
    """TensorFlow has no kernels of them for CPUs, so the scale and what goes into the op are compared."""
    def program(tf):
        x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
        made = [getattr(tf.signal, name)(x if name == "rfftnd" else tf.cast(x, tf.complex64), [2, 6], [0, 2], norm)
                for name in ("rfftnd", "irfftnd", "fftnd", "ifftnd")]
        made.append(tf.signal.irfftnd(tf.cast(x, tf.complex128), axes=[0, 1, 2], norm=norm))
        scales = [(m.op.inputs[0].op.type, t.name, complex(tf.get_static_value(t).ravel()[0])) for m in made
                  for t in m.op.inputs[0].op.inputs if t.op.type == "Const" and t is not x]
        return [scales, [m.op.inputs[0].name for m in made[1:]], [list(tf.get_static_value(m.op.inputs[1])) for m in made]]
    with weft.Graph().as_default():
        ours = program(weft)
    with oracle.Graph().as_default():
        assert ours == program(oracle)


def test_softmax_along_an_axis_needs_a_rank():
    """TensorFlow raises a TypeError too; ours says what to do as well."""
    tf = weft
    for softmax in (tf.nn.softmax, tf.nn.log_softmax):
        with pytest.raises(TypeError, match="for -: 'NoneType' and 'int': .*along axis 1 needs the rank of .*set_shape"):
            softmax(tf.placeholder(tf.float32), axis=1)
        assert softmax(tf.placeholder(tf.float32), axis=-1).shape.ndims is None
