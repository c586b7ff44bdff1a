"""What the tables count once and no oracle has: contrib's names that 2.15 and tf-slim lack.  A case says what it expects."""
import numpy as np

from machine import case

X = {"a": np.float32([[1], [2], [3], [4]]), "b": np.array([["x"], ["y"], ["x"], ["z"]])}
Y = np.array([0, 1, 1, 0])


def inputs(tf):
    return tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=4, num_epochs=None, shuffle=False)


@case(alone=True)
def old_columns(tf):
    number = tf.contrib.layers.real_valued_column("a")
    hashed = tf.contrib.layers.sparse_column_with_hash_bucket("b", hash_bucket_size=7)
    listed = tf.contrib.layers.sparse_column_with_keys(column_name="b", keys=["x", "y", "z"])
    cut = tf.contrib.layers.bucketized_column(number, boundaries=[1.5, 2.5])
    config = tf.contrib.learn.python.learn.estimators.run_config.RunConfig(master="")
    model = tf.contrib.learn.DNNLinearCombinedClassifier(
        model_dir="m", config=config, linear_feature_columns=[hashed, cut], dnn_hidden_units=[4],
        dnn_feature_columns=[number, tf.contrib.layers.embedding_column(listed, dimension=2)])
    model.fit(input_fn=inputs(tf), steps=5)
    steps = model.evaluate(input_fn=inputs(tf), steps=1)["global_step"]
    assert steps == 6, steps  # each of the two optimizers counts a step, unless fix_global_step_increment_bug is given


@case(alone=True)
def crossed(tf):
    words = {"b": tf.constant([["x"], ["y"]]), "c": tf.constant([["p"], ["q"]])}
    old = tf.contrib.layers.crossed_column([tf.contrib.layers.sparse_column_with_keys(k, ["x", "y"]) for k in "bc"], hash_bucket_size=11)
    same = tf.feature_column.crossed_column([tf.feature_column.categorical_column_with_vocabulary_list(k, ["x", "y"]) for k in "bc"], 11)
    made = [tf.feature_column.input_layer(words, [tf.feature_column.indicator_column(c)]) for c in (old, same)]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        a, b = session.run(made)
    assert (a == b).all() and a.sum() == 2 and a.shape == (2, 11), (a, b)


@case(alone=True)
def experiments(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [])
        loss = tf.reduce_mean(tf.square(w * features["a"][:, 0] - tf.to_float(labels)))
        assert mode in (tf.contrib.learn.python.learn.estimators.model_fn.ModeKeys.TRAIN,
                        tf.contrib.learn.python.learn.estimators.model_fn.ModeKeys.EVAL)
        assert tf.contrib.learn.python.learn.estimators.model_fn.ModeKeys.INFER == "infer"
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tf.contrib.learn.ModelFnOps(mode, {"w": w}, loss, train)

    def experiment(output_dir):
        estimator = tf.contrib.learn.Estimator(model_fn=model_fn, model_dir=output_dir)
        return tf.contrib.learn.Experiment(estimator, inputs(tf), inputs(tf), train_steps=3, eval_steps=1)

    def of_config(config, params):
        assert params.rate == 0.5
        return experiment(config.model_dir)
    runner = tf.contrib.learn.python.learn.learn_runner
    assert callable(tf.contrib.learn.python.learn.estimators.run_config.RunConfig)
    tf.contrib.learn.python.learn.learn_runner.run(experiment_fn=experiment, output_dir="o", schedule="train_and_evaluate")
    assert runner.run is tf.contrib.learn.learn_runner.run and tf.contrib.learn.TaskType.PS == "ps"
    tf.contrib.learn.learn_runner.run(of_config, run_config=tf.contrib.learn.RunConfig(model_dir="r"),
                                      hparams=tf.contrib.training.HParams(rate=0.5))
    assert tf.train.latest_checkpoint("r").endswith("model.ckpt-3")


@case(alone=True)
def small_things(tf):
    assert tf.contrib.training.HParams(is_chief=True).is_chief is True
    tf.summary.scalar("s", tf.constant(1.0))
    with tf.Session() as sess:
        assert b"s" in sess.run(tf.contrib.deprecated.merge_all_summaries())
    chooser = tf.contrib.framework.VariableDeviceChooser(2)
    assert [chooser(None) for _ in range(3)] == ["/job:ps/task:%d/device:CPU:0" % i for i in (0, 1, 0)]
    try:
        tf.enable_eager_execution(tf.ConfigProto())
    except NotImplementedError as e:
        assert "tf.Session" in str(e) and "calls_alone.py, line" in str(e), e
    else:
        raise AssertionError("eager execution was accepted")


@case(alone=True)
def helpers(tf):
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]})
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(cluster=cluster, ps_strategy=strategy)):
        made = [tf.get_variable("v%d" % i, [n]) for i, n in enumerate((100, 1, 1, 100))]
    assert [v.device for v in made] == ["/job:ps/task:%d" % i for i in (0, 1, 1, 1)], [v.device for v in made]
    values, updates = tf.contrib.metrics.aggregate_metric_map({"a": tf.metrics.mean([1.0, 2.0])})
    assert list(values) == list(updates) == ["a"]


@case(alone=True)
def images(tf):
    """Channels first, whose convolution the oracle's CPU lacks: the same as channels last, transposed."""
    image = np.random.RandomState(3).rand(2, 5, 6, 3).astype(np.float32)
    made = []
    for i, form in enumerate(("channels_last", "channels_first")):
        x = tf.constant(image if i == 0 else image.transpose(0, 3, 1, 2))
        with tf.variable_scope("net", reuse=i > 0):
            y = tf.layers.conv2d(x, 4, 3, padding="same", data_format=form, kernel_initializer=tf.constant_initializer(0.1), name="c")
            y = tf.layers.max_pooling2d(y, 2, 2, data_format=form)
            y = tf.layers.batch_normalization(y, axis=1 if i else -1, training=True, name="b")
            y = tf.contrib.layers.conv2d(y, 2, 3, data_format="NCHW" if i else "NHWC",
                                         weights_initializer=tf.constant_initializer(0.2), scope="d")
            y = tf.contrib.layers.batch_norm(y, decay=0.9, center=True, scale=True, is_training=True, updates_collections=None,
                                             reuse=i > 0, scope="bn", data_format="NCHW" if i else "NHWC")
            made.append(tf.transpose(y, [0, 2, 3, 1]) if i else y)
    assert len(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)) == 6
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        last, first = sess.run(made)
    assert np.allclose(last, first, atol=1e-5)
    try:
        tf.image.resize_bicubic(image, [4, 4], align_corners=True)
    except NotImplementedError as e:
        assert "use tf.image.resize_bilinear" in str(e) and "calls_alone.py, line" in str(e), e


@case(alone=True)
def tutorial(tf):
    import calls_mnist
    calls_mnist.write_idx("data")
    data = tf.contrib.learn.datasets.mnist.read_data_sets("data")
    assert data.train.images.shape == (60, 784)
    net = tf.examples.tutorials.mnist.mnist
    logits = net.inference(tf.constant(data.train.images[:10]), 8, 4)
    op = tf.examples.tutorials.mnist.mnist.training(net.loss(logits, tf.constant(data.train.labels[:10].astype(np.int32))), 0.1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op)


@case(alone=True)
def synchronous(tf):
    """Of before 1.0: the optimizer's own runner, and what V2 was called."""
    opt = tf.train.SyncReplicasOptimizerV2(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1, total_num_replicas=1)
    w, step = tf.Variable(1.0), tf.train.get_or_create_global_step()
    opt.minimize(tf.square(w), global_step=step)
    assert opt.get_chief_queue_runner() and opt.get_init_tokens_op() is not None
    for kind in (tf.train.RMSPropOptimizer(0.01), tf.train.MomentumOptimizer(0.1, 0.9)):
        kind.apply_gradients(kind.compute_gradients(tf.square(w)))


@case(alone=True)
def contrib_dropout(tf):
    """The mask is that of tf.nn.dropout with the same seed."""
    x = tf.ones([8, 8])
    with tf.Session() as sess:
        one, two = sess.run([tf.contrib.layers.dropout(x, 0.4, seed=3), tf.nn.dropout(x, 0.4, seed=3)])
    np.testing.assert_array_equal(one, two)


@case(alone=True)
def monitors_of_the_first_tutorials(tf):
    learn = tf.contrib.learn
    spec = learn.metric_spec.MetricSpec(metric_fn=tf.contrib.metrics.streaming_accuracy,
                                        prediction_key=learn.prediction_key.PredictionKey.CLASSES)
    x, y = np.float32([[0, 1], [1, 0], [0, 2], [2, 0]]), np.array([0, 1, 0, 1])
    monitor = learn.monitors.ValidationMonitor(x, y, every_n_steps=5, metrics={"right": spec})
    model = learn.DNNClassifier(feature_columns=[tf.contrib.layers.real_valued_column("", dimension=2)], hidden_units=[8], model_dir="m",
                                optimizer=tf.train.AdamOptimizer(0.1), config=learn.RunConfig(save_checkpoints_secs=1, tf_random_seed=1))
    model.fit(input_fn=lambda: (x, y), steps=60, monitors=[monitor])
    assert list(model.predict(input_fn=lambda: x)) == [0, 1, 0, 1]  # features alone, as an array
    assert list(model.predict(input_fn=lambda: tf.constant(x))) == [0, 1, 0, 1]


@case(alone=True)
def paths_inside_contrib(tf):
    learn, contrib = tf.contrib.learn.python.learn, tf.contrib
    assert learn.metric_spec.MetricSpec is contrib.learn.MetricSpec
    assert learn.estimators.estimator.SKCompat is contrib.learn.SKCompat
    assert learn.estimators.dnn.DNNClassifier is contrib.learn.DNNClassifier
    assert learn.estimators.constants.ProblemType is contrib.learn.ProblemType
    assert learn.estimators.prediction_key.PredictionKey is contrib.learn.PredictionKey
    assert learn.utils.saved_model_export_utils.make_export_strategy is contrib.learn.make_export_strategy
    assert contrib.losses.python.losses.loss_ops.absolute_difference is contrib.losses.absolute_difference
    assert contrib.rnn.python.ops.core_rnn.static_rnn is contrib.rnn.static_rnn
    assert contrib.distribute.python.mirrored_strategy.MirroredStrategy is contrib.distribute.MirroredStrategy
    assert contrib.data.python.ops.dataset_ops.Dataset is contrib.data.Dataset
    assert tf.models.rnn.rnn_cell.GRUCell is tf.nn.rnn_cell.GRUCell and tf.models.rnn.rnn.dynamic_rnn is tf.nn.dynamic_rnn
    assert tf.models.rnn.seq2seq.rnn_decoder is tf.python.ops.seq2seq.rnn_decoder is contrib.legacy_seq2seq.rnn_decoder


@case(alone=True)
def networks_of_before_1_0(tf):
    x = [tf.ones([2, 3])] * 4
    cell = tf.nn.rnn_cell.GRUCell(5)
    rows, _ = tf.nn.rnn(cell, x, dtype=tf.float32)
    both, _, _ = tf.nn.bidirectional_rnn(tf.nn.rnn_cell.GRUCell(5), tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32)
    more, _ = tf.nn.seq2seq.basic_rnn_seq2seq(x, x, tf.nn.rnn_cell.GRUCell(5))
    assert len(rows) == len(both) == len(more) == 4 and rows[0].shape == (2, 5) and both[0].shape == (2, 10)
    assert tf.nn.state_saving_rnn is tf.nn.static_state_saving_rnn and callable(tf.python.ops.rnn_cell._linear)
    assert tf.image.per_image_whitening is tf.image.per_image_standardization


@case(alone=True)
def metrics_of_an_experiment(tf):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(w * features - labels))
        return {"y": w * features}, loss, tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())

    def ones():
        return tf.ones([4]), 3 * tf.ones([4])
    spec = tf.contrib.learn.MetricSpec(lambda predictions, labels: tf.metrics.mean_absolute_error(labels, predictions), prediction_key="y")
    model = tf.contrib.learn.Estimator(model_fn, model_dir="m")
    monitor = tf.contrib.learn.monitors.ValidationMonitor(input_fn=ones, eval_steps=1, every_n_steps=1)
    made = tf.contrib.learn.Experiment(model, ones, ones, eval_metrics={"far": spec}, train_steps=2, eval_steps=1,
                                       train_monitors=[monitor]).train_and_evaluate()
    assert made[0]["far"] == 2 and made[0]["loss"] == 4, made
    try:
        tf.contrib.learn.Experiment(tf.estimator.Estimator(model_fn, "n"), ones, ones, eval_metrics={"far": spec})
    except ValueError as e:
        assert "eval_metrics" in str(e)
    else:
        raise AssertionError("accepted")
