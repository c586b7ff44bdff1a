"""tf.contrib.legacy_seq2seq: attention against numpy, and models whose feeding back a tensor decides."""
import numpy as np

import weft as tf

legacy, rnn = tf.contrib.legacy_seq2seq, tf.contrib.rnn
ROWS, SIZE, UNITS, WIDTH = 2, 4, 5, 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_attention_reads_what_numpy_reads():
    rng = np.random.RandomState(0)
    memory, inputs = rng.randn(ROWS, 3, SIZE).astype(np.float32), rng.randn(2, ROWS, WIDTH).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        outs, _ = legacy.attention_decoder([tf.constant(x) for x in inputs], tf.zeros([ROWS, UNITS]), tf.constant(memory),
                                           rnn.BasicRNNCell(UNITS), num_heads=2, output_size=6, initial_state_attention=True)
        sess.run([v.assign(rng.randn(*v.shape.as_list())) for v in tf.trainable_variables()])
        w = dict(zip([v.op.name.removeprefix("attention_decoder/") for v in tf.trainable_variables()],
                     sess.run(tf.trainable_variables())))
        outs = sess.run(outs)

    def read(state):
        found = []
        for a in range(2):
            keys = memory @ w["AttnW_%d" % a][0, 0]
            y = state @ w["Attention_%d/kernel" % a] + w["Attention_%d/bias" % a]
            share = softmax((w["AttnV_%d" % a] * np.tanh(keys + y[:, None])).sum(2))
            found.append((share[:, :, None] * memory).sum(1))
        return found
    state = np.zeros((ROWS, UNITS))
    seen = read(state)
    for t in range(2):
        x = np.concatenate([inputs[t]] + seen, 1) @ w["kernel"] + w["bias"]
        state = np.tanh(np.concatenate([x, state], 1) @ w["basic_rnn_cell/kernel"] + w["basic_rnn_cell/bias"])
        seen = read(state)
        want = np.concatenate([state] + seen, 1) @ w["AttnOutputProjection/kernel"] + w["AttnOutputProjection/bias"]
        np.testing.assert_allclose(outs[t], want, rtol=1e-3, atol=1e-4)


def build(kind, feed_previous):
    """A model in two buckets with a loss for each, as the translation tutorial builds it."""
    sizes = [tf.constant([1, 2]), tf.constant([3, 1])]
    cell = rnn.MultiRNNCell([rnn.BasicLSTMCell(UNITS)])

    def model(encoder, decoder):
        if kind == "embedding_tied_rnn_seq2seq":
            return legacy.embedding_tied_rnn_seq2seq(encoder, decoder, cell, 6, WIDTH, feed_previous=feed_previous)
        return getattr(legacy, kind)(encoder, decoder, cell, 6, 6, WIDTH, feed_previous=feed_previous)
    weights = [tf.ones([ROWS])] * 2
    return legacy.model_with_buckets(sizes, sizes, sizes, weights, [(1, 1), (2, 2)], model)


def test_a_tensor_says_whether_outputs_are_fed_back():
    for kind in ("embedding_attention_seq2seq", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq"):
        found = []
        for feed_previous in (True, False, None):
            with tf.Graph().as_default(), tf.Session() as sess:
                tf.get_variable_scope().set_initializer(lambda shape, dtype=None, partition_info=None: tf.constant(
                    np.sin(np.arange(np.prod([int(n) for n in shape]))).reshape(shape), dtype))
                flag = tf.placeholder(tf.bool, [])
                outs, losses = build(kind, flag if feed_previous is None else feed_previous)
                names = [v.op.name for v in tf.trainable_variables()]
                sess.run(tf.global_variables_initializer())
                values = [sess.run([outs, losses], {flag: given}) for given in ((True, False) if feed_previous is None else (True,))]
                found.append((names, values))
        (names, (back,)), (same, (ahead,)), (chosen, (first, second)) = found
        assert names == same == chosen
        for want, got in ((back, first), (ahead, second)):
            np.testing.assert_allclose(want[0][1], got[0][1], rtol=1e-5)
            np.testing.assert_allclose(want[1], got[1], rtol=1e-5)
        assert abs(np.array(back[1]) - ahead[1]).max() > 0, kind
