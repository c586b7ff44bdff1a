"""tf.contrib.model_pruning: masks against numpy, and masked layers against plain ones."""
import numpy as np
import pytest

import weft as tf

RNG = np.random.RandomState(5)
X = RNG.rand(2, 6, 6, 3).astype(np.float32)


def hparams(**given):
    made = tf.contrib.model_pruning.get_pruning_hparams()
    for name, value in given.items():
        made.set_hparam(name, value)
    return made


def masked(weights, sparsity):
    """The mask of the largest sizes."""
    sizes = np.abs(weights).ravel()
    kept = int(np.round(sizes.size * np.float32(1 - sparsity)))
    limit = np.sort(sizes)[::-1][kept - 1]
    return (np.abs(weights) >= limit).astype(np.float32), limit


def test_layers_compute_with_masked_weights_and_have_the_names_of_tensorflow():
    pruning, layers = tf.contrib.model_pruning, tf.contrib.layers
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        given = dict(weights_regularizer=layers.l2_regularizer(0.5), stride=2, padding="VALID")
        a = pruning.masked_conv2d(X, 4, 3, **given)
        b = pruning.masked_fully_connected(tf.layers.flatten(a), 3, activation_fn=None)
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            c = layers.conv2d(X, 4, 3, scope="Conv", **given)
            d = layers.fully_connected(tf.layers.flatten(c), 3, activation_fn=None, scope="fully_connected")
        names = ["%s/%s:0" % (s, v) for s in ("Conv", "fully_connected") for v in ("weights", "mask", "threshold", "biases")]
        assert [v.name for v in tf.global_variables()] == names
        assert [v.name for v in tf.trainable_variables()] == [names[i] for i in (0, 3, 4, 7)]
        assert [v.name for v in pruning.get_weights()] == [names[0], names[4]]
        assert [t.op.name for t in pruning.get_masked_weights()] == ["Conv/weights/masked_weight", "fully_connected/weights/masked_weight"]
        sess.run(tf.global_variables_initializer())
        before, plain = sess.run([b, d])
        np.testing.assert_allclose(before, plain, rtol=1e-5)  # masks begin as ones
        mask = (np.arange(108).reshape(3, 3, 3, 4) % 3 > 0).astype(np.float32)
        pruning.get_masks()[0].load(mask, sess)
        pruned, loss, w = sess.run([b, tf.losses.get_regularization_losses()[0], pruning.get_weights()[0]])
        pruning.get_weights()[0].load(w * mask, sess)
        np.testing.assert_allclose(pruned, sess.run(d), rtol=1e-5)
        np.testing.assert_allclose(loss, 0.25 * (w**2).sum(), rtol=1e-5)  # of the weights without their mask
        np.testing.assert_allclose(sess.run(pruning.get_weight_sparsity()), [1 / 3, 0], atol=1e-6)


@pytest.mark.parametrize("cell, plain", [("MaskedBasicLSTMCell", "BasicLSTMCell"), ("MaskedLSTMCell", "LSTMCell")])
def test_cells_have_a_masked_kernel(cell, plain):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(X[0, :, :, :])
        with tf.variable_scope("a", initializer=tf.constant_initializer(0.2)):
            out, _ = tf.nn.dynamic_rnn(getattr(tf.contrib.model_pruning, cell)(4, name="cell"), x, dtype=tf.float32)
        with tf.variable_scope("b", initializer=tf.constant_initializer(0.2)):
            want, _ = tf.nn.dynamic_rnn(getattr(tf.nn.rnn_cell, plain)(4, name="cell"), x, dtype=tf.float32)
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*sess.run([out, want]), rtol=1e-6)
        mask = (np.arange(7 * 16).reshape(7, 16) % 2).astype(np.float32)
        tf.contrib.model_pruning.get_masks()[0].load(mask, sess)
        [kernel] = [v for v in tf.global_variables() if v.name == "b/rnn/cell/kernel:0"]
        kernel.load(0.2 * mask, sess)
        np.testing.assert_allclose(*sess.run([out, want]), rtol=1e-6)


def test_masks_follow_the_sparsity_of_the_step():
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=RNG.randn(10, 20).astype(np.float32))
        own = tf.get_variable("own", initializer=RNG.randn(10, 10).astype(np.float32))
        product = tf.contrib.model_pruning.apply_mask(w, "w")
        tf.contrib.model_pruning.apply_mask(own, "own")
        step = tf.train.get_or_create_global_step()
        pruning = tf.contrib.model_pruning.Pruning(hparams(
            begin_pruning_step=2, end_pruning_step=8, pruning_frequency=3, initial_sparsity=0.1, target_sparsity=0.8,
            sparsity_function_begin_step=1, sparsity_function_end_step=7, sparsity_function_exponent=2.0, threshold_decay=0.25,
            weight_sparsity_map=["own:0.4"]), step)
        update, move = pruning.conditional_mask_update_op(), tf.assign_add(step, 1)
        pruning.add_pruning_summaries()
        summary = tf.summary.merge_all()
        sess.run(tf.global_variables_initializer())
        values, last, limits = sess.run([w, own]), 0, [0.0, 0.0]
        want = [np.ones_like(v) for v in values]
        for i in range(1, 12):
            sess.run(move)
            sess.run(update)
            if 2 <= i <= 8 and last + 3 <= i:
                last, sparsity = i, (0.1 - 0.8) * (1 - min(1, (i - 1) / 6))**2 + 0.8
                for k, part in enumerate((sparsity, sparsity * 0.4 / 0.8)):
                    limits[k] = 0.75 * masked(values[k], part)[1] + 0.25 * limits[k]
                    want[k] = np.abs(values[k]) >= limits[k]
            for mask, expected in zip(sess.run(tf.contrib.model_pruning.get_masks()), want, strict=True):
                np.testing.assert_array_equal(mask, expected)
            np.testing.assert_allclose(sess.run(tf.contrib.model_pruning.get_thresholds()), limits, rtol=1e-5)
        np.testing.assert_array_equal(sess.run(product), values[0] * want[0])
        tags = {v.tag for v in tf.Summary.FromString(sess.run(summary)).value}
        assert {"model_pruning_summaries/sparsity", "model_pruning_summaries/w/mask/sparsity"} <= tags
        assert last == 6


@pytest.mark.parametrize("kind, reduce", [("AVG", np.mean), ("MAX", np.max)])
def test_blocks_are_kept_or_masked_as_a_whole(kind, reduce):
    with tf.Graph().as_default(), tf.Session() as sess:
        value = RNG.randn(8, 12).astype(np.float32)
        tf.contrib.model_pruning.apply_mask(tf.get_variable("w", initializer=value))
        made = tf.contrib.model_pruning.Pruning(hparams(block_height=2, block_width=3, block_pooling_function=kind),
                                                sparsity=tf.constant(0.5))
        sess.run(tf.global_variables_initializer())
        sess.run(made.mask_update_op())
        pooled = reduce(np.abs(value).reshape(4, 2, 4, 3), axis=(1, 3))
        want = np.kron(masked(pooled, 0.5)[0], np.ones([2, 3]))
        np.testing.assert_array_equal(sess.run(tf.contrib.model_pruning.get_masks()[0]), want)


def test_training_and_stripping(tmp_path):
    """train() updates the masks; a stripped graph has constants in place of weights and masks, and the same outputs."""
    pruning, name = tf.contrib.model_pruning, "out"
    with tf.Graph().as_default():
        x = tf.placeholder_with_default(X.reshape(2, -1), [None, 108], name="x")
        y = pruning.masked_fully_connected(x, 3, activation_fn=None)
        tf.identity(y, name)
        loss = tf.reduce_sum(tf.square(y - 1.0))
        tf.losses.add_loss(loss)
        train_op = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01))
        made = pruning.Pruning(hparams(pruning_frequency=1, sparsity_function_end_step=5, target_sparsity=0.5))
        final = pruning.train(train_op, str(tmp_path), made.conditional_mask_update_op(), number_of_steps=8, log_every_n_steps=0)
        assert final < 1.0
    frozen = pruning.graph_def_from_checkpoint(str(tmp_path), [name])
    stripped = pruning.strip_pruning_vars_fn(frozen, [name])
    results = []
    for graph_def in (frozen, stripped):
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            tf.import_graph_def(graph_def, name="")
            results.append(sess.run(name + ":0"))
            masks = [n for n in graph_def.node if "mask" in n.name]
            assert [n.op for n in masks] == ["Const"] if graph_def is stripped else len(masks) > 1
            kept = sess.run(graph.get_tensor_by_name("fully_connected/weights/masked_weight:0"))
            assert np.mean(kept == 0) == 0.5
    np.testing.assert_array_equal(*results)


def test_what_is_wrong_is_said():
    with tf.Graph().as_default():
        for given, said in ((dict(prune_option="first_order_gradient"), "prune_option"), (dict(pruning_frequency=0), "pruning_frequency"),
                            (dict(block_pooling_function="SUM"), "Unknown pooling function"),
                            (dict(sparsity_function_end_step=0), "begin before it can end"),
                            (dict(weight_sparsity_map=["a"]), "NAME:VALUE"), (dict(weight_sparsity_map=["a:2"]), "between 0 and 1")):
            with pytest.raises((ValueError, NotImplementedError), match=said):
                tf.contrib.model_pruning.Pruning(hparams(**given))
