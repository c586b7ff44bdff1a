"""What draws in networks: the same seeds give TensorFlow's masks and weights."""
import numpy as np

from machine import case

X = np.random.RandomState(0).randn(4, 5, 3).astype(np.float32)


@case(tolerance=1e-4, nodes=False)
def networks_drop(tf):
    """Cells that drop inputs, states and outputs: alone and in networks, of one seed and of the graph's."""
    made = []
    for i, options in enumerate((dict(input_keep_prob=0.5, output_keep_prob=0.6, state_keep_prob=0.7, seed=5),
                                 dict(input_keep_prob=0.5, output_keep_prob=0.6, state_keep_prob=0.7),
                                 dict(output_keep_prob=0.5), dict(state_keep_prob=0.4, seed=9), dict(input_keep_prob=0.3))):
        for j, kind in enumerate((tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.GRUCell, tf.nn.rnn_cell.BasicRNNCell)):
            cell = tf.nn.rnn_cell.DropoutWrapper(kind(3), **options)
            made.append(tf.nn.static_rnn(cell, tf.unstack(X, axis=1), dtype=tf.float32, scope="s%d%d" % (i, j))[0])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(3), output_keep_prob=0.5, seed=3)
    loop = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32)[0]  # TensorFlow draws its steps in any order
    return made + [loop.name, loop.get_shape()]


@case(tolerance=1e-4, nodes=False)
def networks_drop_the_same_in_every_step(tf):
    made = []
    for i, options in enumerate((dict(input_keep_prob=0.5, output_keep_prob=0.6, state_keep_prob=0.7, seed=5, input_size=3),
                                 dict(input_keep_prob=tf.constant(0.5), state_keep_prob=0.7, input_size=tf.TensorShape([3])),
                                 dict(output_keep_prob=0.5), dict(state_keep_prob=0.4, seed=9))):
        for j, kind in enumerate((tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.GRUCell)):
            cell = tf.nn.rnn_cell.DropoutWrapper(kind(3), variational_recurrent=True, dtype=tf.float32, **options)
            made.append(tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float32, scope="s%d%d" % (i, j)))
    return made


@case(tolerance=1e-4, nodes=False)
def networks_drop_some_states(tf):
    pair = tf.nn.rnn_cell.LSTMStateTuple(True, False)
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(3), state_keep_prob=0.5, seed=4,
                                         dropout_state_filter_visitor=lambda state: pair if isinstance(state, tuple) else True)
    stack = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(3), 0.5, 0.5, seed=i) for i in range(3)])
    outputs, state = tf.nn.dynamic_rnn(stack, tf.constant(X), [1, 2, 5, 3], dtype=tf.float32, scope="b")
    rows, _ = tf.nn.static_rnn(stack, tf.unstack(X, axis=1), dtype=tf.float32, sequence_length=[1, 2, 5, 3], scope="c")
    return [tf.nn.static_rnn(cell, tf.unstack(X, axis=1), dtype=tf.float32, scope="a")[0], outputs.name, [s.c.name for s in state],
            [tf.identity(r, name="r") for r in rows]]


@case(tolerance=1e-4, nodes=False)
def layers_draw(tf):
    x, images = tf.constant(X), tf.constant(np.random.RandomState(1).rand(2, 6, 6, 3).astype(np.float32))
    d = tf.layers.dense(x, 4, kernel_initializer=tf.orthogonal_initializer())
    c = tf.layers.conv2d(images, 4, 3, kernel_initializer=tf.initializers.he_normal())
    k = tf.keras.layers.Dropout(0.5, seed=3)(tf.keras.layers.Dense(3)(x))
    return [d, c, k, tf.layers.dense(x, 2), tf.layers.conv2d_transpose(images, 2, 3), tf.layers.separable_conv2d(images, 2, 3),
            tf.get_variable("v", [3, 3]), tf.get_variable("i", [2], tf.int32)]
