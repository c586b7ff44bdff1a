"""Layers of tf.keras and tf.layers in both systems: values, gradients, variables, masks, configurations and errors."""
import numpy as np
import pytest

import weft
from both import both, compare, oracle

MASK = [[True, True, False, True], [False, True, False, False]]


def plain(x):
    """A configuration in Python's own types."""
    if isinstance(x, (list, tuple)) or type(x).__name__ in ("ListWrapper", "_TupleWrapper"):
        return [plain(v) for v in x]
    if isinstance(x, dict) or type(x).__name__ == "_DictWrapper":
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (np.ndarray, np.generic)):
        return x.tolist()
    return x if x is None or isinstance(x, (str, int, float, bool)) else str(x)


def tensors(x):
    return [t for v in x for t in tensors(v)] if isinstance(x, (list, tuple)) else [x]


def described(tf, text, shapes, dtype, phase, given):
    """What a layer is and computes: plain values first, arrays second."""
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        if phase is not None:
            tf.keras.backend.set_learning_phase(phase)
        layer = eval(text, {"L": tf.keras.layers, "T": tf.layers, "tf": tf})
        inputs = [tf.placeholder(dtype, s, name="x") for s in shapes]
        made = tensors(layer(inputs[0] if len(inputs) == 1 else inputs, **{k: v(tf) for k, v in given.items()}))
        config, is_keras = plain(layer.get_config()), text.startswith("L.")
        again = plain(type(layer).from_config(layer.get_config()).get_config()) if is_keras else config
        said = [[(t.name, str(t.shape), str(getattr(t, "_keras_mask", None))) for t in made], config, again == config,
                [(v.name, str(v.shape)) for v in layer.weights],
                [v.name for v in layer.trainable_weights], [v.name for v in tf.global_variables()], str(layer.input_spec)]
        if is_keras and len(shapes) == 1:
            try:
                said.append(str(layer.compute_output_shape(tuple(shapes[0]))))
            except (NotImplementedError, TypeError) as e:
                said.append(type(e).__name__)
        of = inputs + layer.trainable_weights
        slopes = [tf.convert_to_tensor(g) for g in tf.gradients([tf.reduce_sum(tf.square(t)) for t in made], of) if g is not None]
        rs = np.random.RandomState(3)
        feeds = {x: (rs.randint(0, 3, d) if "int" in dtype else rs.randn(*d)).astype(dtype) for x, d in zip(
            inputs, [[2 if n is None else n for n in s] for s in shapes])}
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run([made, slopes, layer.losses], feeds)
            if layer.updates:
                sess.run(layer.updates, feeds)
                found.append(sess.run(layer.weights))
        return said, found


def alike(text, *shapes, dtype="float32", phase=None, names=True, **given):
    ours, theirs = (described(tf, text, shapes, dtype, phase, given) for tf in (weft, oracle))
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert a == b or not names, text
    compare(ours[1], theirs[1], 1e-4)


def test_core_layers():
    alike('L.Dense(3, "relu", kernel_regularizer="l2", bias_constraint="non_neg", activity_regularizer="l1")', [None, 4])
    alike("L.Dense(3, use_bias=False)", [None, 2, 4])
    alike('L.Activation("hard_sigmoid")', [None, 3])
    alike('L.Flatten("channels_first")', [None, 3, 4, 5])
    alike("L.Flatten()", [None, 3, None])
    alike("L.Reshape((2, -1))", [None, 4])
    alike("L.Permute((2, 1))", [None, 3, 4])
    alike("L.RepeatVector(3)", [None, 4])
    alike('L.Embedding(5, 2, mask_zero=True, embeddings_regularizer="l2")', [None, 3], dtype="int32")
    alike("L.Embedding(5, 2, input_length=3)", [None, 3], dtype="int64")
    alike("L.Masking(2.0)", [None, 3, 4])
    alike("L.ActivityRegularization(0.1, 0.2)", [None, 3])


def test_activation_layers():
    for text in ("L.ReLU()", "L.ReLU(6.0)", "L.ReLU(5.0, 0.1, 1.0)", "L.LeakyReLU()", "L.ELU(0.5)", "L.PReLU(shared_axes=[1])",
                 "L.Softmax((1, 2))", "L.ThresholdedReLU()"):
        alike(text, [None, 3, 4])
    alike("L.Softmax()", [None, 3], mask=lambda tf: tf.constant([[True, False, True]]))


def test_merge_layers():
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        alike("L.%s()" % name, [None, 3], [None, 3])
    alike("L.Add()", [None, 4, 3], [None, 3])
    alike("L.Concatenate(axis=1)", [None, 3, 2], [None, 4, 2])
    alike("L.Dot(1)", [None, 3], [None, 3])
    alike("L.Dot((2, 1), normalize=True)", [None, 4, 3], [None, 3, 5])


def test_dropout_and_noise():
    for text in ("L.Dropout(0.5, noise_shape=(None, 1, 4), seed=3)", "L.SpatialDropout1D(0.5)", "L.GaussianNoise(0.5)",
                 "L.GaussianDropout(0.5, seed=2)", "L.AlphaDropout(0.5, seed=2)"):
        alike(text, [None, 3, 4], phase=1)
        alike(text, [None, 3, 4])
    alike("L.SpatialDropout2D(0.5)", [None, 3, 4, 5], phase=1)
    alike('L.SpatialDropout3D(0.5, "channels_first")', [None, 3, 4, 5, 2], phase=1)


def test_convolutions():
    alike('L.Conv1D(3, 2, padding="causal", dilation_rate=2)', [None, 6, 2])
    alike('L.Conv2D(3, (2, 3), strides=2, padding="same", activation="relu", kernel_regularizer="l2")', [None, 5, 5, 2])
    alike("L.Conv2D(4, 2, dilation_rate=2)", [None, 5, 5, 2])
    alike("L.Conv2D(4, 2, groups=2)", [None, 5, 5, 2])
    alike("L.Conv3D(3, 2)", [None, 4, 4, 4, 2])
    alike("L.Conv1DTranspose(3, 3, strides=2)", [None, 4, 2])
    alike('L.Conv2DTranspose(3, 2, strides=2, padding="same")', [None, 4, 4, 2])
    alike("L.Conv2DTranspose(3, (3, 2), strides=(1, 2), output_padding=(0, 1))", [None, 4, 4, 2])
    alike("L.Conv3DTranspose(3, 2, strides=2)", [None, 2, 2, 2, 2])
    alike('L.DepthwiseConv2D(2, depth_multiplier=2, activation="relu")', [None, 4, 4, 3])
    alike("L.DepthwiseConv1D(2, depth_multiplier=2)", [None, 4, 3])
    alike("L.SeparableConv2D(4, 2, dilation_rate=2)", [None, 5, 5, 3])
    alike('L.SeparableConv1D(4, 2, strides=2, padding="same")', [None, 6, 3])
    alike("L.LocallyConnected1D(3, 2)", [None, 4, 2])
    alike("L.LocallyConnected1D(3, 2, implementation=2)", [None, 4, 2])
    alike("L.LocallyConnected2D(3, 2, implementation=3)", [None, 3, 3, 2])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pooling_and_padding(axes):
    shape = [None] + [4] * axes + [2]
    for text in ("MaxPooling%dD()", 'AveragePooling%dD(3, 2, "same")', "GlobalMaxPooling%dD()", "GlobalAveragePooling%dD(keepdims=True)",
                 "UpSampling%dD(2)", "ZeroPadding%dD(2)", "Cropping%dD(1)"):
        alike("L." + text % axes, shape)


def test_normalization():
    alike("L.BatchNormalization()", [None, 4])
    alike("L.BatchNormalization(scale=False, momentum=0.5)", [None, 3, 3, 4], phase=1)
    alike("L.BatchNormalization(axis=[1, 2])", [None, 3, 3, 4], phase=1)
    alike("L.LayerNormalization()", [None, 3, 4])
    alike("L.LayerNormalization(axis=[1, 2])", [None, 3, 4])
    alike("L.LayerNormalization(axis=1, scale=False)", [None, 3, 4])


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU", "LSTM"])
def test_recurrent_layers(kind):
    alike("L.%s(3)" % kind, [None, None, 2])
    alike("L.%s(3, dropout=0.5, recurrent_dropout=0.5, unroll=True)" % kind, [None, 2, 2], phase=1)
    alike("L.%s(3, return_sequences=True, return_state=True, go_backwards=True, unroll=True)" % kind, [None, 3, 2],
          mask=lambda tf: tf.constant(MASK)[:, :3])


def test_states_and_masks_of_loops():
    alike("L.SimpleRNN(3, stateful=True, return_state=True)", [2, 3, 2])
    alike("L.LSTM(3, return_sequences=True)", [None, 4, 2], mask=lambda tf: tf.constant(MASK))


def test_cells_and_wrappers():
    alike("L.RNN([L.LSTMCell(3), L.GRUCell(2)], return_state=True, unroll=True)", [None, 2, 2])
    alike("L.GRU(3, reset_after=True, implementation=2, unroll=True)", [None, 2, 2])
    alike("L.LSTM(3, implementation=2, unit_forget_bias=False, unroll=True)", [None, 2, 2])
    alike("L.Bidirectional(L.LSTM(3, return_sequences=True, unroll=True))", [None, 2, 2])
    alike('L.Bidirectional(L.SimpleRNN(3, return_state=True, unroll=True), merge_mode="sum", name="bi")', [None, 2, 2])
    alike("L.TimeDistributed(L.Conv2D(3, 2))", [None, None, 4, 4, 2])
    alike("L.ConvLSTM1D(2, 2, return_sequences=True, return_state=True)", [None, 2, 3, 2])


def test_attention():
    alike("L.Attention(use_scale=True, causal=True)", [None, 3, 4], [None, 3, 4])
    alike('L.Attention(score_mode="concat")', [None, 3, 4], [None, 5, 4])
    alike("L.AdditiveAttention()", [None, 3, 4], [None, 5, 4])
    alike("L.MultiHeadAttention(2, 3, value_dim=5, output_shape=6)", [None, 3, 4], value=lambda tf: tf.ones([2, 5, 4]), names=False)
    alike('L.EinsumDense("...x,xy->...y", output_shape=3)', [None, 2, 4])


def test_classes_of_tf_layers():
    alike("T.Dense(3, tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)", [None, 4])
    alike("T.Conv1D(3, 2)", [None, 6, 2])
    alike('T.Conv2D(3, 2, strides=2, padding="same", name="c")', [None, 5, 5, 2])
    alike("T.Conv3D(3, 2)", [None, 4, 4, 4, 2])
    alike("T.Conv2DTranspose(3, 2, strides=2)", [None, 4, 4, 2])
    alike("T.Conv3DTranspose(3, 2, strides=2)", [None, 2, 2, 2, 2])
    alike("T.SeparableConv1D(4, 2)", [None, 6, 3])
    alike("T.SeparableConv2D(4, 2)", [None, 5, 5, 3])
    alike("T.Flatten()", [None, 3, 4])
    alike("T.BatchNormalization()", [None, 3, 3, 4], training=lambda tf: True)
    for axes in (1, 2, 3):
        alike("T.MaxPooling%dD(2, 2)" % axes, [None] + [4] * axes + [2])
        alike('T.AveragePooling%dD(3, 2, "same")' % axes, [None] + [4] * axes + [2])


def test_functions_of_tf_layers():
    def program(tf):
        line, image, volume = (tf.ones(s) for s in ([2, 5, 3], [2, 4, 4, 3], [2, 4, 4, 4, 2]))
        made = [tf.layers.dense(line, 2, tf.nn.relu, name="d"), tf.layers.dense(line, 2, name="d", reuse=True)]
        with tf.variable_scope("s", regularizer=tf.nn.l2_loss):
            made += [tf.layers.conv1d(line, 2, 2), tf.layers.conv2d(image, 2, 3, name="c"), tf.layers.conv3d(volume, 2, 2),
                     tf.layers.separable_conv1d(line, 2, 2), tf.layers.separable_conv2d(image, 2, 2)]
        made += [tf.layers.conv2d_transpose(image, 2, 2), tf.layers.conv3d_transpose(volume, 2, 2), tf.layers.max_pooling1d(line, 2, 2),
                 tf.layers.max_pooling3d(volume, 2, 2), tf.layers.average_pooling1d(line, 2, 2),
                 tf.layers.average_pooling3d(volume, 2, 2), tf.layers.flatten(volume), tf.layers.dropout(line, seed=3, training=True)]
        return made + [[v.name for v in tf.trainable_variables()], [m.name for m in made],
                       [x.op.name for x in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]]
    both(program, same_nodes=False, tolerance=1e-4)


def test_layers_that_prepare_inputs():
    alike("L.Rescaling(2.0, 1.0)", [None, 3])
    alike('L.Resizing(3, 2, "nearest")', [None, 4, 4, 2])
    alike("L.CenterCrop(2, 3)", [None, 4, 4, 2])
    alike("L.CenterCrop(6, 6)", [None, 4, 4, 2])
    alike("L.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 1.0, 2.0], invert=True)", [None, 3])
    alike("L.Normalization()", [None, 3])


def test_categories_as_numbers_and_rows():
    def program(tf):
        L, ids = tf.keras.layers, tf.constant([[1, 2, 1], [0, 3, 3]])
        return [L.CategoryEncoding(4)(ids), L.CategoryEncoding(4, "count")(ids), L.CategoryEncoding(4, "one_hot")(ids[:, :1]),
                L.CategoryEncoding(4, "count")(ids, count_weights=tf.cast(ids, tf.float32)),
                L.Discretization([0.5, 2.0])(tf.cast(ids, tf.float32)),
                L.Hashing(5)(ids), L.Hashing(5, salt=3)(ids), L.Hashing(5, mask_value=1)(ids), L.Hashing(9)(tf.constant(["a", "b"]))]
    both(program, same_nodes=False)


def test_dense_features():
    def program(tf):
        L, fc = tf.keras.layers, tf.feature_column
        n, c = fc.numeric_column("n"), fc.categorical_column_with_vocabulary_list("c", ["a", "b", "d"])
        e, h = fc.embedding_column(c, 2), fc.embedding_column(fc.categorical_column_with_identity("h", 5), 3, combiner="sum")
        layer = L.DenseFeatures([n, fc.numeric_column("m", (2,)), fc.bucketized_column(n, [0.0, 1.0]), e, fc.indicator_column(c), h])
        features = {"n": tf.constant([[1.0], [2.0]]), "m": tf.ones([2, 2]), "c": tf.constant([["a"], ["d"]]),
                    "h": tf.constant([[1, 2], [3, 4]])}
        fixed, columns = L.DenseFeatures([n, e], name="q", trainable=False), {}
        made = [layer(features), layer(features), fixed(features, cols_to_output_tensors=columns)]
        slopes = [tf.convert_to_tensor(g) for g in tf.gradients(made[0], layer.trainable_weights)]
        return made + slopes + [[v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()],
                                [m.name for m in made], sorted(c.name for c in columns), [v.op.type for v in layer.weights]]
    both(program, same_nodes=False)


def test_cudnn_layers_compute_what_the_usual_ones_do():
    """TensorFlow has no kernel of them for processors; the usual layers with the same weights are the oracle."""
    tf, L = weft, weft.keras.layers
    with tf.Graph().as_default():
        x = tf.constant(np.random.RandomState(0).randn(2, 4, 3).astype(np.float32))
        lstm, gru = L.CuDNNLSTM(2, bias_initializer="ones"), L.CuDNNGRU(2, bias_initializer="ones")
        usual = [L.LSTM(2, recurrent_activation="sigmoid"), L.GRU(2, recurrent_activation="sigmoid", reset_after=True)]
        made, others = [lstm(x), gru(x)], [layer(x) for layer in usual]
        k, r, b = lstm.get_weights()
        usual[0].set_weights([k, r, b[:8] + b[8:]])
        k, r, b = gru.get_weights()
        usual[1].set_weights([k, r, b.reshape(2, 6)])
        compare(tf.keras.backend.get_session().run(made), tf.keras.backend.get_session().run(others))


def test_a_layer_of_the_program_tracks_what_it_holds():
    def program(tf):
        L = tf.keras.layers

        class Block(L.Layer):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.first, self.rest = L.Dense(2, kernel_regularizer="l2"), [L.Dense(3)]
                self.rest.append(L.Dense(4))

            def build(self, shape):
                self.w = self.add_weight("w", shape=[4, 4])
                self.b = self.add_weight(shape=(4,), initializer="zeros", trainable=False)
                super().build(shape)

            def call(self, x, training=None):
                self.seen = training
                self.add_loss(tf.reduce_sum(self.w))
                self.add_update(tf.assign(self.b, self.b + 1.0))
                x = self.first(tf.matmul(x, self.w) + self.b)
                for layer in self.rest:
                    x = layer(x)
                return x
        block, x = Block(), L.Input((4,))
        y, said = block(x, training=True), []
        said += [[v.name for v in block.weights], [v.name for v in block.trainable_weights], len(block.losses), len(block.updates),
                 block.count_params(), block.dtype, block.seen, y._keras_history[1:], block.input_shape, block.output_shape,
                 [layer.name for layer in block._flatten_layers()]]
        block.trainable = False
        said += [[v.name for v in block.trainable_weights], len(block.non_trainable_weights), block.first.trainable]
        values = block.get_weights()
        block.set_weights([v * 0 + 1 for v in values])
        return said + [[v.shape for v in values], [v.sum() for v in block.get_weights()]]
    both(program, same_nodes=False)


def test_operations_between_keras_tensors_become_layers():
    def program(tf):
        L = tf.keras.layers
        x = L.Input((4,))
        y = tf.split(tf.nn.relu(x) * tf.constant([1.0, 2.0, 3.0, 4.0]) + 1.0, 2, axis=1)[1]
        z = L.Dense(2, kernel_initializer="ones")(y)
        layer = y._keras_history.layer
        node = z._keras_history.layer.inbound_nodes[0]
        again = layer(tf.ones([2, 4]))
        return [layer.name, layer.get_config(), list(y._keras_history[1:]), node.inbound_layers.name, node.input_shapes, node.is_input,
                [t.name for t in node.keras_inputs], [t.name for t in again], again[0],
                type(layer).from_config(layer.get_config()).get_config() == layer.get_config()]
    both(program)


def test_masks_travel_through_layers():
    def program(tf):
        L = tf.keras.layers
        e = L.Embedding(3, 2, mask_zero=True, embeddings_initializer="ones")(L.Input(tensor=tf.constant([[1, 2, 0], [1, 0, 0]])))
        made = [L.Dense(3)(e), L.Flatten()(e), L.LSTM(2, return_sequences=True, unroll=True)(e), L.Concatenate()([e, e]), L.Add()([e, e]),
                L.TimeDistributed(L.Dense(2))(e), L.GlobalAveragePooling1D()(e), L.Lambda(lambda t: t)(e)]
        masks = [getattr(m, "_keras_mask", None) for m in made]
        return [m is not None for m in masks] + [m for m in masks if m is not None] + [made[6]]
    both(program, same_nodes=False)


def outcome(call):
    """What a call gives, or the error and the first words that it says."""
    try:
        return call()
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, str(e)[:60]


@pytest.mark.parametrize("call", [
    lambda tf, L, x: L.Dense(3)(x(3)), lambda tf, L, x: L.Dense(-1), lambda tf, L, x: L.Dense(2, foo=3),
    lambda tf, L, x: L.Dense(2)(None), lambda tf, L, x: L.Dense(2)(), lambda tf, L, x: L.Dense(2).input,
    lambda tf, L, x: L.Dense(2).output_shape, lambda tf, L, x: L.Dense(2).count_params(), lambda tf, L, x: L.Dense(2).set_weights([1]),
    lambda tf, L, x: L.Conv2D(4, 9)(x(2, 5, 5, 2)), lambda tf, L, x: L.Conv2D(4, 2)(x(2, 5, 5, None)),
    lambda tf, L, x: L.Conv2D(4, 2, padding="foo"), lambda tf, L, x: L.Conv2D(4, (1, 2, 3)), lambda tf, L, x: L.Conv2D(4, 0),
    lambda tf, L, x: L.Add()(x(2, 3)), lambda tf, L, x: L.Add()([x(2, 3), x(2, 2)]), lambda tf, L, x: L.Dropout(2),
    lambda tf, L, x: L.Concatenate()([x(2, 3, 2), x(2, 4, 2)]), lambda tf, L, x: L.Dot(1)([x(2, 3), x(2, 4)]),
    lambda tf, L, x: L.Reshape((3,))(x(None, 4)), lambda tf, L, x: L.Permute((2, 3)), lambda tf, L, x: L.RepeatVector("a"),
    lambda tf, L, x: L.Cropping2D(3)(x(2, 4, 4, 2)), lambda tf, L, x: L.LSTM(3)(x(2, 3)), lambda tf, L, x: L.RNN(3),
    lambda tf, L, x: L.LSTM(3, stateful=True)(x(None, 3, 2)), lambda tf, L, x: L.TimeDistributed(3), lambda tf, L, x: L.Input(),
    lambda tf, L, x: L.Input((3,), foo=1), lambda tf, L, x: tf.keras.activations.get("foo"), lambda tf, L, x: tf.keras.activations.get(3),
    lambda tf, L, x: tf.keras.regularizers.get(3), lambda tf, L, x: tf.keras.constraints.get("foo"),
    lambda tf, L, x: tf.keras.regularizers.l1(l="a"), lambda tf, L, x: L.LayerNormalization(axis=5)(x(2, 3)),
    lambda tf, L, x: tf.layers.Dense(2, _reuse=True, name="z")(x(2, 3)), lambda tf, L, x: tf.keras.initializers.get("foo"),
])
def test_errors_are_the_same(call):
    said = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            said.append(outcome(lambda: call(tf, tf.keras.layers, lambda *s: tf.placeholder(tf.float32, s))))
    assert said[0] == said[1] and isinstance(said[0], tuple)


def test_a_layer_that_the_program_builds_has_the_type_of_its_variables():
    with weft.Graph().as_default():
        layer = weft.layers.Dense(3)
        assert layer.dtype is None
        layer.build([None, 2])
        assert layer.dtype == "float32" and layer(weft.zeros([1, 2])).dtype == weft.float32
        cell = weft.nn.rnn_cell.GRUCell(3)
        cell.build([None, 2])
        assert cell.dtype == "float32"
