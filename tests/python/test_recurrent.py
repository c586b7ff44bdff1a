"""Recurrent networks and control flow in loops: the same values and gradients as TensorFlow's."""
import numpy as np

from both import both

X = np.random.RandomState(0).randn(5, 4, 3).astype(np.float32)  # batch, time, depth
LENGTHS = [1, 4, 2, 3, 4]


def half(tf):
    return tf.random_uniform_initializer(-0.5, 0.5, seed=7)


def values(program, tolerance=1e-4):
    both(program, same_nodes=False, tolerance=tolerance)


def test_a_long_cell_has_all_its_options():
    def program(tf):
        made = []
        for i, options in enumerate((dict(use_peepholes=True), dict(cell_clip=0.3, forget_bias=0.5), dict(num_proj=2, proj_clip=0.1),
                                     dict(initializer=tf.constant_initializer(0.2)), dict(state_is_tuple=False))):
            with tf.variable_scope("s%d" % i, initializer=half(tf)):
                cell = tf.nn.rnn_cell.LSTMCell(6, **options)
                out, state = tf.nn.dynamic_rnn(cell, tf.constant(X), LENGTHS, dtype=tf.float32)
            made += [out] + (list(state) if isinstance(state, tuple) else [state])
        return made + [sorted(v.name for v in tf.trainable_variables())]
    values(program)


def test_a_long_cell_stores_its_weights_in_shards():
    def program(tf):
        with tf.variable_scope("s", initializer=half(tf)):
            cell = tf.nn.rnn_cell.LSTMCell(6, num_proj=4, num_unit_shards=3, num_proj_shards=2)
            out, state = tf.nn.dynamic_rnn(cell, tf.constant(X), LENGTHS, dtype=tf.float32)
        names = [v.name for v in tf.trainable_variables()]
        assert "s/rnn/lstm_cell/kernel/part_2:0" in names and "s/rnn/lstm_cell/projection/kernel/part_1:0" in names
        return [out, *state, names, *tf.gradients(tf.reduce_sum(out), tf.trainable_variables())]
    values(program)


def test_cells_around_cells():
    def program(tf):
        cells = [tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(3, kernel_initializer=half(tf))),
                 tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicRNNCell(2), "/cpu:0"),
                 tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(2), state_keep_prob=1.0, output_keep_prob=1.0)]
        with tf.variable_scope("s", initializer=half(tf)):
            out, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.constant(X), dtype=tf.float32)
        return [out, state[0], state[1], state[2].c]
    values(program)


def test_both_directions():
    def program(tf):
        x, cell = tf.constant(X), tf.nn.rnn_cell.GRUCell
        with tf.variable_scope("s", initializer=half(tf)):
            outs, states = tf.nn.bidirectional_dynamic_rnn(cell(2), cell(3), x, LENGTHS, dtype=tf.float32)
            turned, _ = tf.nn.bidirectional_dynamic_rnn(cell(2), cell(3), tf.transpose(x, [1, 0, 2]), dtype=tf.float32,
                                                        time_major=True, scope="turned")
            rows, fw, bw = tf.nn.static_bidirectional_rnn(cell(2), cell(2), tf.unstack(x, axis=1), dtype=tf.float32,
                                                          sequence_length=LENGTHS, scope="static")
        grads = tf.gradients(tf.reduce_sum(outs[0]) + tf.reduce_sum(tf.square(outs[1])), tf.trainable_variables()[:4])
        return list(outs) + list(states) + list(turned) + rows + [fw, bw] + grads
    values(program)


def test_a_loop_that_feeds_itself():
    def program(tf):
        with tf.variable_scope("s", initializer=half(tf)):
            cell = tf.nn.rnn_cell.LSTMCell(4)
            w = tf.get_variable("w", [4, 3])
        lengths, pad = tf.constant(LENGTHS), tf.constant(X[:, 0]) * 0.5

        def loop(time, output, state, loop_state):
            if output is None:
                return time >= lengths, tf.constant(X[:, 1]), cell.zero_state(5, tf.float32), None, None
            done = time >= lengths
            following = tf.cond(tf.reduce_all(done), lambda: pad, lambda: tf.nn.relu(tf.matmul(output, w)))
            return done, following, state, output, None
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE, initializer=half(tf)):
            outs, state, _ = tf.nn.raw_rnn(cell, loop)
        out = outs.stack()
        return [out, state.c, state.h, tf.gradients(tf.reduce_sum(tf.square(out)), w)[0]]
    values(program)


def test_a_branch_in_a_loop_gives_what_lies_outside():
    def program(tf):
        outside, w = tf.constant(5.0) * 2, tf.Variable(3.0)
        made = []
        for other in (lambda x: x * 2, lambda x: x * w, lambda x: outside * w, lambda x: w):
            def body(i, x, other=other):
                return i + 1, x + tf.cond(i > 1, lambda: outside, lambda: other(x))
            found = tf.while_loop(lambda i, x: i < 4, body, [tf.constant(0), w * 1.0])[1]
            made += [found, tf.gradients(found, w)[0]]
        return made
    values(program)


def test_a_state_is_fed_whole():
    def program(tf):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.BasicLSTMCell(2)])
        start = cell.zero_state(1, tf.float32)
        with tf.variable_scope("s", initializer=half(tf)):
            _, last = tf.nn.dynamic_rnn(cell, tf.constant(X[:1]), initial_state=start)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            state = sess.run(last)
            again = sess.run(last, {start: state})
        return [tf.constant(again[1].h), tf.constant(state[0].c)]
    values(program)


def test_losses_of_sequences():
    import weft
    with weft.Graph().as_default(), weft.Session() as sess:
        logits = [weft.constant(X[:, t]) for t in (0, 1)]
        targets = [weft.constant([0, 1, 2, 0, 1])] * 2
        by_row = weft.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, [weft.ones([5]), weft.zeros([5])])
        one = weft.nn.sparse_softmax_cross_entropy_with_logits(labels=targets[0], logits=logits[0])
        whole = weft.contrib.legacy_seq2seq.sequence_loss(logits, targets, [weft.ones([5]), weft.zeros([5])])
        got, want, mean = sess.run([by_row, one, whole])
    np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(mean, want.mean(), rtol=1e-5)
