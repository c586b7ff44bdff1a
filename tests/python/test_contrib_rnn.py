"""The cells of tf.contrib.rnn and tf.contrib.cudnn_rnn against numpy, against TensorFlow's block ops, and against other cells."""
import numpy as np
import pytest

import weft as tf
from both import oracle

rnn = tf.contrib.rnn
ROWS, STEPS, WIDTH, N = 3, 4, 6, 4
X = np.random.RandomState(0).randn(ROWS, STEPS, WIDTH).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def norm(x, gamma, beta):
    return gamma * (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12) + beta


def run(make, lengths=None):
    """(outputs, last state, {name: value}) of a cell; the variables are random, so that no bias is zero."""
    with tf.Graph().as_default(), tf.Session() as sess:
        out, state = tf.nn.dynamic_rnn(make(), tf.constant(X), lengths, dtype=tf.float32)
        rng, variables = np.random.RandomState(1), tf.trainable_variables()
        grads = tf.gradients(tf.reduce_sum(out ** 2), variables)
        sess.run(tf.global_variables_initializer())
        sess.run([v.assign(rng.randn(*v.shape.as_list()) * 0.5) for v in variables])
        found = sess.run([out, state, [g for g in grads if g is not None]])
        assert all(np.isfinite(g).all() for g in found[2])
        return found[0], found[1], dict(zip([v.op.name.split("/", 2)[-1] for v in variables], sess.run(variables)))


def stepped(step, state, w):
    outs = []
    for t in range(STEPS):
        out, state = step(X[:, t].astype(np.float64), state, w)
        outs.append(out)
    return np.stack(outs, 1), state


def zeros(*sizes):
    return tuple(np.zeros((ROWS, n)) for n in sizes) if len(sizes) > 1 else np.zeros((ROWS, sizes[0]))


def layer_norm_lstm(x, state, w):
    c, h = state
    parts = np.split(np.concatenate([x, h], 1) @ w["kernel"], 4, 1)
    i, j, f, o = (norm(p, w[k + "/gamma"], w[k + "/beta"]) for p, k in zip(parts, ("input", "transform", "forget", "output")))
    c = norm(c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j), w["state/gamma"], w["state/beta"])
    h = np.tanh(c) * sigmoid(o)
    return h, (c, h)


def coupled(x, state, w):
    c, m = state
    j, f, o = np.split(np.concatenate([x, m], 1) @ w["W_0"] + w["B"], 3, 1)
    keep = sigmoid(f + 1 + w["W_F_diag"] * c)
    c = keep * c + (1 - keep) * np.tanh(j)
    m = np.clip(sigmoid(o + w["W_O_diag"] * c) * np.tanh(c) @ w["W_P_0"], -0.5, 0.5)
    return m, (c, m)


def grouped(x, state, w):
    c, m = state
    rows = [np.split(np.concatenate([a, b], 1) @ w["group%d/kernel" % g], 4, 1)
            for g, (a, b) in enumerate(zip(np.split(x, 2, 1), np.split(m, 2, 1)))]
    i, j, f, o = (np.concatenate(p, 1) + w["bias_" + k] for p, k in zip(zip(*rows), "ijfo"))
    c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
    m = sigmoid(o) * np.tanh(c)
    return m, (c, m)


def searched(x, state, w):
    c, m = state
    a, b = np.split(x @ w["kernel"], 8, 1), np.split(m @ w["recurrent_kernel"] + w["bias"], 8, 1)
    up = [sigmoid(a[0] + b[0]), np.maximum(a[1] + b[1], 0), sigmoid(a[2] + b[2]), np.maximum(a[3] * b[3], 0), np.tanh(a[4] + b[4]),
          sigmoid(a[5] + b[5]), np.tanh(a[6] + b[6]), sigmoid(a[7] + b[7])]
    c = np.tanh(np.tanh(up[0] * up[1]) + c) * np.tanh(up[2] + up[3])
    m = np.tanh(c * np.tanh(np.tanh(up[4] * up[5]) + sigmoid(up[6] + up[7])))
    return m, (c, m)


def one_gate(x, h, w):
    g, c = np.split(np.concatenate([x, h], 1) @ w["kernel"] + w["bias"], 2, 1)
    h = sigmoid(g + 1) * h + (1 - sigmoid(g + 1)) * np.tanh(c)
    return h, h


def intersection(x, h, w):
    x = x @ w["in_projection/kernel"] + w["in_projection/bias"]
    gh, a, gy, y = np.split(np.concatenate([x, h], 1) @ w["kernel"] + w["bias"], 4, 1)
    h = sigmoid(gh + 1) * h + (1 - sigmoid(gh + 1)) * np.tanh(a)
    return sigmoid(gy + 1) * x + (1 - sigmoid(gy + 1)) * np.maximum(y, 0), h


def simple(x, c, w):
    new, f, r, through = np.split(x @ w["kernel"], 4, 1)
    f, r = sigmoid(f + w["bias"][:N]), sigmoid(r + w["bias"][N:])
    c = f * c + (1 - f) * new
    return r * np.tanh(c) + (1 - r) * through, c


def alone(x, h, w):
    h = np.tanh(x @ w["kernel_w"] + h * w["kernel_u"] + w["bias"])
    return h, h


def alone_lstm(x, state, w):
    c, h = state
    i, j, f, o = np.split(x @ w["kernel_w"] + np.tile(h, (1, 4)) * w["kernel_u"] + w["bias"], 4, 1)
    c = c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), (c, np.tanh(c) * sigmoid(o))


def cudnn_gru(x, h, w):
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ w["gates/kernel"] + w["gates/bias"]), 2, 1)
    side = "candidate/%s_projection/%s"
    new = np.tanh(r * (h @ w[side % ("hidden", "kernel")] + w[side % ("hidden", "bias")]) + x @ w[side % ("input", "kernel")]
                  + w[side % ("input", "bias")])
    h = (1 - u) * new + u * h
    return h, h


def cudnn_lstm(x, state, w):
    c, h = state
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w["kernel"] + w["bias"], 4, 1)
    c = c * sigmoid(f) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), (c, np.tanh(c) * sigmoid(o))


CELLS = {
    "LayerNormBasicLSTMCell": (lambda: rnn.LayerNormBasicLSTMCell(N), layer_norm_lstm, (N, N)),
    "CoupledInputForgetGateLSTMCell": (lambda: rnn.CoupledInputForgetGateLSTMCell(N, True, num_proj=3, proj_clip=0.5), coupled, (N, 3)),
    "GLSTMCell": (lambda: rnn.GLSTMCell(N, number_of_groups=2), grouped, (N, N)),
    "NASCell": (lambda: rnn.NASCell(N, use_bias=True), searched, (N, N)),
    "UGRNNCell": (lambda: rnn.UGRNNCell(N), one_gate, (N,)),
    "IntersectionRNNCell": (lambda: rnn.IntersectionRNNCell(N, N), intersection, (N,)),
    "SRUCell": (lambda: rnn.SRUCell(N), simple, (N,)),
    "IndRNNCell": (lambda: rnn.IndRNNCell(N), alone, (N,)),
    "IndyLSTMCell": (lambda: rnn.IndyLSTMCell(N), alone_lstm, (N, N)),
    "CudnnCompatibleGRUCell": (lambda: tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(N), cudnn_gru, (N,)),
    "CudnnCompatibleLSTMCell": (lambda: tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(N), cudnn_lstm, (N, N)),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_compute_their_formulas(name):
    make, step, sizes = CELLS[name]
    out, state, weights = run(make)
    want, last = stepped(step, zeros(*sizes), weights)
    np.testing.assert_allclose(out, want, rtol=1e-3, atol=1e-4)
    for ours, theirs in zip(state if isinstance(state, tuple) else [state], last if isinstance(last, tuple) else [last]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_block_cells_are_tensorflows_ops():
    """One step of each, with the variables in the order of the op's arguments."""
    for peephole in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            cell = rnn.LSTMBlockCell(N, forget_bias=0.5, cell_clip=0.8, use_peephole=peephole)
            state = (X[:, 1, :N], X[:, 2, :N])
            out, new = cell(tf.constant(X[:, 0]), tuple(map(tf.constant, state)))
            sess.run([v.assign(np.sin(np.arange(v.shape.num_elements())).reshape(v.shape.as_list())) for v in tf.trainable_variables()])
            found, new, w = sess.run([out, new, tf.trainable_variables()])
        with oracle.Graph().as_default(), oracle.Session() as sess:
            diagonals = dict(wci=w[2], wcf=w[3], wco=w[4]) if peephole else dict.fromkeys(("wci", "wcf", "wco"), np.zeros(N, np.float32))
            made = oracle.raw_ops.LSTMBlockCell(x=X[:, 0], cs_prev=state[0], h_prev=state[1], w=w[0], b=w[1], forget_bias=0.5,
                                                cell_clip=0.8, use_peephole=peephole, **diagonals)
            c, h = sess.run([made[1], made[6]])
        np.testing.assert_allclose(found, h, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(new[0], c, rtol=1e-4, atol=1e-5)
    with tf.Graph().as_default(), tf.Session() as sess:
        out, _ = rnn.GRUBlockCell(N)(tf.constant(X[:, 0]), tf.constant(X[:, 1, :N]))
        sess.run([v.assign(np.sin(np.arange(v.shape.num_elements())).reshape(v.shape.as_list())) for v in tf.trainable_variables()])
        found, w = sess.run([out, tf.trainable_variables()])
    with oracle.Graph().as_default(), oracle.Session() as sess:
        h = sess.run(oracle.raw_ops.GRUBlockCell(x=X[:, 0], h_prev=X[:, 1, :N], w_ru=w[0], w_c=w[2], b_ru=w[1], b_c=w[3])[3])
    np.testing.assert_allclose(found, h, rtol=1e-4, atol=1e-5)


def test_a_fused_lstm_is_a_loop_of_cells():
    lengths = [4, 2, 3]
    with tf.Graph().as_default(), tf.Session() as sess:
        turned = tf.constant(X.transpose(1, 0, 2))
        fused, last = rnn.LSTMBlockFusedCell(N)(turned, dtype=tf.float32, sequence_length=lengths)
        cell = rnn.BasicLSTMCell(N)
        loop, state = tf.nn.dynamic_rnn(cell, turned, lengths, dtype=tf.float32, time_major=True)
        back, _ = rnn.TimeReversedFusedRNN(rnn.FusedRNNCellAdaptor(cell, use_dynamic_rnn=True))(
            turned, dtype=tf.float32, sequence_length=lengths, scope="rnn/back")
        ahead, _ = tf.nn.dynamic_rnn(cell, tf.reverse_sequence(turned, lengths, seq_axis=0, batch_axis=1), lengths, dtype=tf.float32,
                                     time_major=True)
        ahead = tf.reverse_sequence(ahead, lengths, seq_axis=0, batch_axis=1)
        sess.run(tf.global_variables_initializer())
        names = [v.op.name for v in tf.trainable_variables()]
        assert names[:2] == ["lstm_fused_cell/kernel", "lstm_fused_cell/bias"]
        sess.run([a.assign(b) for a, b in zip(tf.trainable_variables()[2:4], tf.trainable_variables()[:2])])
        fused, last, loop, state, back, ahead = sess.run([fused, last, loop, state, back, ahead])
    np.testing.assert_allclose(fused, loop, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last, state, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(back, ahead, rtol=1e-4, atol=1e-5)


def test_a_cudnn_layer_saves_what_compatible_cells_restore(tmp_path):
    """As programs do that train on GPUs and serve on processors: the second graph has the cells in the layer's scope."""
    for direction in ("unidirectional", "bidirectional"):
        path = str(tmp_path / direction)
        with tf.Graph().as_default(), tf.Session() as sess:
            out, (h, c) = tf.contrib.cudnn_rnn.CudnnLSTM(2, N, direction=direction)(tf.constant(X.transpose(1, 0, 2)))
            sess.run(tf.global_variables_initializer())
            want, h, c = sess.run([out, h, c])
            tf.train.Saver().save(sess, path)
        with tf.Graph().as_default(), tf.Session() as sess:
            make, x = lambda: tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(N), tf.constant(X.transpose(1, 0, 2))
            with tf.variable_scope("cudnn_lstm"):
                if direction == "unidirectional":
                    out, last = tf.nn.dynamic_rnn(rnn.MultiRNNCell([make(), make()]), x, dtype=tf.float32, time_major=True)
                else:
                    out, _, _ = rnn.stack_bidirectional_dynamic_rnn([make(), make()], [make(), make()], x, dtype=tf.float32,
                                                                   time_major=True)
            tf.train.Saver().restore(sess, path)
            np.testing.assert_allclose(sess.run(out), want, rtol=1e-4, atol=1e-5)
            if direction == "unidirectional":
                np.testing.assert_allclose([s.h for s in sess.run(last)], h, rtol=1e-4, atol=1e-5)


def test_a_convolutional_lstm_with_a_kernel_of_one_is_a_cell_for_each_pixel():
    image = np.random.RandomState(3).randn(2, 3, 5, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        cell = rnn.Conv2DLSTMCell(input_shape=[3, 5, 2], output_channels=3, kernel_shape=[1, 1])
        out, _ = tf.nn.static_rnn(cell, [tf.constant(image), tf.constant(image + 1)], dtype=tf.float32)
        flat, _ = tf.nn.static_rnn(rnn.BasicLSTMCell(3), [tf.constant(image.reshape(-1, 2) + i) for i in (0, 1)], dtype=tf.float32,
                                   scope="flat")
        sess.run(tf.global_variables_initializer())
        a, b = tf.trainable_variables()[:2], tf.trainable_variables()[2:]
        sess.run([b[0].assign(tf.reshape(a[0], b[0].shape)), b[1].assign(a[1])])
        out, flat = sess.run([out, flat])
    np.testing.assert_allclose(np.array(out).reshape(2, -1, 3), flat, rtol=1e-4, atol=1e-5)


def test_wrappers_stand_around_their_cells():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = [tf.constant(X[:, t]) for t in range(2)]
        found = {}
        for name, cell in (("high", rnn.HighwayWrapper(rnn.BasicRNNCell(WIDTH))),
                           ("in", rnn.InputProjectionWrapper(rnn.BasicRNNCell(N), 3)),
                           ("out", rnn.OutputProjectionWrapper(rnn.BasicRNNCell(N), 3)),
                           ("look", rnn.AttentionCellWrapper(rnn.BasicLSTMCell(N), 3))):
            found[name] = tf.nn.static_rnn(cell, x, dtype=tf.float32, scope=name)[0]
        ids = tf.nn.static_rnn(rnn.EmbeddingWrapper(rnn.BasicRNNCell(N), 9, 5), [tf.constant([1, 2, 3])], dtype=tf.float32, scope="ids")[0]
        sess.run(tf.global_variables_initializer())
        w = dict(zip([v.op.name for v in tf.trainable_variables()], sess.run(tf.trainable_variables())))
        found, ids = sess.run([found, ids])

    def plain(x, h, scope):
        return np.tanh(np.concatenate([x, h], 1) @ w[scope + "/basic_rnn_cell/kernel"] + w[scope + "/basic_rnn_cell/bias"])
    first = plain(X[:, 0], np.zeros((ROWS, WIDTH)), "high")
    carry = sigmoid(X[:, 0] @ w["high/carry_w"] + w["high/carry_b"])
    np.testing.assert_allclose(found["high"][0], X[:, 0] * carry + first * (1 - carry), rtol=1e-4, atol=1e-5)
    scope = "in/input_projection_wrapper"
    want = plain(X[:, 0] @ w[scope + "/kernel"] + w[scope + "/bias"], np.zeros((ROWS, N)), scope)
    np.testing.assert_allclose(found["in"][0], want, rtol=1e-4, atol=1e-5)
    scope = "out/output_projection_wrapper"
    want = plain(X[:, 0], np.zeros((ROWS, N)), scope) @ w[scope + "/kernel"] + w[scope + "/bias"]
    np.testing.assert_allclose(found["out"][0], want, rtol=1e-4, atol=1e-5)
    scope = "ids/embedding_wrapper"
    want = plain(w[scope + "/embedding"][[1, 2, 3]], np.zeros((ROWS, N)), scope)
    np.testing.assert_allclose(ids[0], want, rtol=1e-4, atol=1e-5)
    assert {"look/attention_cell_wrapper/attention/attn_w", "look/attention_cell_wrapper/attn_output_projection/kernel"} <= set(w)


def test_a_grid_lstm_is_two_lstms_in_numpy():
    x, n = X[:, 0], 2
    with tf.Graph().as_default(), tf.Session() as sess:
        cell = rnn.GridLSTMCell(n, use_peepholes=True, feature_size=2, frequency_skip=2, num_frequency_blocks=[3])
        state = cell.state_tuple_type(*[tf.constant(RNG_STATE[i]) for i in range(6)])
        out, new = cell(tf.constant(x), state)
        sess.run([v.assign(np.sin(np.arange(v.shape.num_elements()) + i).reshape(v.shape.as_list()))
                  for i, v in enumerate(tf.trainable_variables())])
        w = dict(zip([v.op.name.removeprefix("grid_lstm_cell/") for v in tf.trainable_variables()], sess.run(tf.trainable_variables())))
        out, new = sess.run([out, new])
    assert {"W_f_0_0", "B_t_0", "W_F_diag_freqt_0", "W_O_diag_timef_0"} <= set(w)
    m_freq = c_freq = np.zeros((ROWS, n))
    outs, states = [], []
    for k in range(3):
        c_time, m_time = RNG_STATE[2 * k], RNG_STATE[2 * k + 1]
        both = np.concatenate([x[:, 2 * k:2 * k + 2], m_time, m_freq], 1)
        made = {}
        for side, kind, c in (("f", "freq", c_freq), ("t", "time", c_time)):
            i, j, f, o = np.split(both @ w["W_%s_0_0" % side] + w["B_%s_0" % side], 4, 1)

            def seen(gate, a, b, kind=kind):
                return w["W_%s_diag_%sf_0" % (gate, kind)] * a + w["W_%s_diag_%st_0" % (gate, kind)] * b
            keep, take = sigmoid(f + 1 + seen("F", c_freq, c_time)), sigmoid(i + seen("I", c_freq, c_time))
            made[side] = (keep * c + take * np.tanh(j), o, seen)
        (new_freq, o_freq, by_freq), (new_time, o_time, by_time) = made["f"], made["t"]
        m_freq = sigmoid(o_freq + by_freq("O", new_freq, new_time)) * np.tanh(new_freq)
        m_time = sigmoid(o_time + by_time("O", new_freq, new_time)) * np.tanh(new_time)
        c_freq = new_freq
        outs += [m_time, m_freq]
        states += [new_time, m_time]
    np.testing.assert_allclose(out, np.concatenate(outs, 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new, states, rtol=1e-4, atol=1e-5)


RNG_STATE = np.random.RandomState(9).randn(6, ROWS, 2).astype(np.float32)


def test_a_fused_lstm_has_the_gradient_of_its_steps():
    """BlockLSTM and a loop of steps, with a look at c and a limit of it."""
    for peephole, limit in ((False, None), (True, 0.2)):
        found = []
        for looped in (False, True):
            with tf.Graph().as_default(), tf.Session() as sess:
                cell, x = rnn.LSTMBlockFusedCell(N, use_peephole=peephole, cell_clip=limit), tf.constant(X.transpose(1, 0, 2))
                if looped:
                    cell._call_cell = lambda i, c, h, dtype, lengths, cell=cell: cell._loop(i, c, h, dtype)
                out, state = cell(x, dtype=tf.float32, sequence_length=[4, 3, 1])
                variables = tf.trainable_variables()
                grads = tf.gradients(tf.reduce_sum(out ** 2) + tf.reduce_sum(state[0]), variables + [x])
                sess.run([v.assign(np.cos(np.arange(v.shape.num_elements())).reshape(v.shape.as_list())) for v in variables])
                found.append(sess.run([out, *state, *grads]))
        for ours, theirs in zip(*found):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
