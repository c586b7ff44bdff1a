"""What the tables count once, and works: compared with TensorFlow like the rest."""
import os

import numpy as np

from machine import case

X = np.random.RandomState(2).rand(4, 6).astype(np.float32)
IMAGE = np.random.RandomState(3).rand(2, 8, 8, 3).astype(np.float32)


@case(nodes=False)
def arithmetic(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        v = tf.get_variable("v", [6], initializer=tf.glorot_uniform_initializer())
    tf.get_variable("w", [2, 3], initializer=tf.glorot_normal_initializer())
    made = [tf.div(7, 2), tf.div([7.0], 2.0), tf.pow(X, 2.0), tf.round(X * 10), tf.scalar_mul(2.0, X), tf.sigmoid(X),
            tf.math.sigmoid(X), tf.to_int64(X * 9), tf.transpose(X, [1, 0]), tf.zeros_like(X), tf.ones([2], tf.int32),
            tf.range(1, 9, 3), tf.parallel_stack([X[0], X[1]]), tf.nn.zero_fraction([0.0, 1.0]), tf.nn.log_softmax(X),
            tf.unpack(X), tf.scatter_update(tf.Variable([1.0, 2.0]), [1], [5.0]), tf.cast(X, tf.float16),
            tf.cast(tf.cast(X, tf.bfloat16), tf.float32),
            tf.placeholder_with_default(X, shape=[None, 6], name="x"), v]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made) + [v.dtype, v.get_shape()]


@case(nodes=False)
def clipping(tf):
    clipped, norm = tf.clip_by_global_norm([X, X[0]], 1.0)
    return [clipped, norm, tf.global_norm([X, X[0]])]


@case(nodes=False)
def sparse(tf):
    s = tf.SparseTensor([[0, 1], [2, 0]], [3, 4], [3, 2])
    weights = tf.SparseTensor([[0, 1], [2, 0]], [0.5, 2.0], [3, 2])
    return [tf.sparse_tensor_to_dense(s, default_value=-1), tf.sparse_to_dense([1, 3], [5], 7, 0),
            tf.nn.embedding_lookup_sparse(tf.Variable(X[:, :2], name="t"),
                                          tf.SparseTensor([[0, 0], [1, 0]], np.int64([3, 1]), [2, 1]), None, combiner="mean"),
            weights]


@case(nodes=False)
def images(tf):
    made = [tf.image.central_crop(IMAGE[0], central_fraction=0.5),
            tf.image.resize_images(IMAGE, [4, 4], method=tf.image.ResizeMethod.BILINEAR),
            tf.image.convert_image_dtype(np.uint8([[[0], [255]]]), dtype=tf.float32),
            tf.nn.lrn(IMAGE, 2, bias=1.0, alpha=0.1, beta=0.5, name="norm")]
    with tf.Session() as sess:
        jpeg = sess.run(tf.image.encode_jpeg(np.full((8, 8, 3), 100, np.uint8)))
        return sess.run(made + [tf.image.decode_jpeg(jpeg, channels=3)])


@case(nodes=False)
def parsing(tf):
    example = tf.train.Example(features=tf.train.Features(feature={
        "v": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))})).SerializeToString()
    with tf.Session() as sess:
        parsed = sess.run(tf.parse_single_example(example, {"v": tf.VarLenFeature(tf.int64)}))
    return [tuple(parsed["v"]), tf.io.decode_csv("1,b", record_defaults=[[0], [""]]), tf.TensorShape([1, None])]


@case(nodes=False)
def losses(tf):
    return [tf.losses.mean_squared_error(X, X * 2), tf.losses.sigmoid_cross_entropy(
        np.round(X), X, reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE, scope="l"), tf.get_collection(
            tf.GraphKeys.REGULARIZATION_LOSSES), tf.GraphKeys.SUMMARIES]


@case(nodes=False)
def rates(tf):
    step = tf.train.create_global_step(tf.get_default_graph())
    made = [tf.train.piecewise_constant(step, [2, 5], [1.0, 0.5, 0.1]), tf.train.cosine_decay_restarts(0.5, step, 3, t_mul=1.5, m_mul=0.9),
            tf.train.linear_cosine_decay(0.5, step, 5, num_periods=1.5), tf.train.cosine_decay(0.5, step, 4)]
    with tf.Session() as sess:
        sess.run(step.initializer)
        return [step.name] + [(sess.run(made), sess.run(tf.assign_add(step, 1)))[0] for _ in range(8)]


@case(nodes=False)
def recurrent(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(3, forget_bias=0.5, state_is_tuple=True)
    state = cell.zero_state(4, tf.float32)
    with tf.variable_scope("r", initializer=tf.constant_initializer(0.1)):
        out, last = tf.nn.dynamic_rnn(cell, tf.constant(X.reshape(2, 4, 3)), initial_state=state, time_major=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [np.array(v) for v in (sess.run(out), *sess.run(last))]


@case(nodes=False)
def variables(tf):
    parts = tf.create_partitioned_variables(shape=[6, 2], slicing=[3, 1], initializer=tf.zeros_initializer(), dtype=tf.float32,
                                            trainable=True, name="parts")
    split = tf.python.ops.partitioned_variables.min_max_variable_partitioner(max_partitions=2, min_slice_size=4)
    table = tf.get_variable("table", [4, 2], partitioner=split, initializer=tf.ones_initializer())
    with tf.Session() as sess:
        before = sess.run(tf.report_uninitialized_variables(tf.global_variables()))
        sess.run(tf.initialize_variables(parts))
        sess.run(tf.python.ops.variables.local_variables_initializer())
        sess.run(tf.python.ops.lookup_ops.tables_initializer())
        after = sess.run(tf.report_uninitialized_variables(tf.global_variables()))
    return [[p.name for p in parts], sorted(before), sorted(after), [p.get_shape() for p in table],
            tf.python.ops.control_flow_ops.group(parts[0].initializer, parts[1].initializer)]


@case(nodes=False)
def interactive(tf):
    sess = tf.InteractiveSession()
    found = [(tf.constant(2) * 3).eval(), sess.run(tf.constant(1)), sess.graph is tf.get_default_graph()]
    sess.close()
    with tf.Session().as_default() as sess:
        found.append(tf.constant(4).eval())
        sess.close()
    return found + [tf.executing_eagerly(), tf.test.is_gpu_available(), len(tf.__git_version__) > 0]


@case
def messages(tf):
    summary = tf.Summary()
    summary.value.add(tag="t", simple_value=1.5)
    spec = tf.train.ServerDef(cluster=tf.train.ClusterSpec({"worker": ["localhost:0"]}).as_cluster_def(), job_name="worker",
                              task_index=0, protocol="grpc")
    return [summary, tf.Summary.FromString(summary.SerializeToString()), tf.compat.as_str(b"a"), spec.cluster, spec.task_index,
            [tf.python.framework.errors.OutOfRangeError is tf.errors.OutOfRangeError,
             issubclass(tf.errors.AbortedError, tf.errors.OpError), issubclass(tf.errors.CancelledError, tf.errors.OpError)],
            [tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
             tf.python.saved_model.signature_constants.PREDICT_METHOD_NAME,
             tf.python.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY],
            [callable(f) for f in (tf.python.framework.ops.convert_to_tensor, tf.python.ops.data_flow_ops.FIFOQueue,
                                   tf.python.ops.state_ops.assign, tf.python.platform.tf_logging.info)]]


@case
def programs(tf):
    tf.flags.DEFINE_boolean("once_switch", True, "text")
    tf.flags.DEFINE_float("once_rate", 0.25, "text")
    tf.flags.FLAGS(["program"])
    tf.gfile.MkDir("d")
    with tf.gfile.Open("d/f", mode="w") as f:
        f.write("text")
    tf.logging.debug("a")
    tf.logging.error("b")
    return [tf.flags.FLAGS.once_switch, tf.flags.FLAGS.once_rate, tf.gfile.Open("d/f").read(), "info" in tf.logging.__dict__,
            [os.path.basename(p) for p in tf.python.lib.io.file_io.get_matching_files("d/*")]]


@case
def printing(tf):
    return [tf.python.ops.logging_ops.Print(tf.constant([1.0, 2.0]), [tf.constant("seen")], message="once ")]


def drained(tf, one):
    seen = []
    with tf.Session() as sess:
        try:
            while len(seen) < 100:
                seen.append(sess.run(one))
        except tf.errors.OutOfRangeError:
            return seen
    return "no end"


@case(nodes=False)
def datasets(tf):
    os.mkdir("d")
    for name in ("d/a.txt", "d/b.txt"):
        with open(name, "w") as f:
            f.write("%s1\n%s2\n" % (name, name))

    def rows():
        for i in range(3):
            yield i, [float(i)]
    files = tf.data.Dataset.list_files("d/*.txt")
    lines = files.interleave(tf.data.TextLineDataset, cycle_length=2)
    numbers = tf.data.Dataset.from_generator(rows, (tf.int32, tf.float32), (tf.TensorShape([]), tf.TensorShape([1])))
    pairs = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(X), tf.data.Dataset.from_tensor_slices([1, 2, 3, 4])))
    text = tf.data.TextLineDataset("d/a.txt").prefetch(1)
    return [sorted(drained(tf, lines.make_one_shot_iterator().get_next())),
            sorted(drained(tf, files.map(lambda s: s + "!").make_one_shot_iterator().get_next())),
            len(drained(tf, files.shard(2, 0).make_one_shot_iterator().get_next())),
            drained(tf, numbers.make_one_shot_iterator().get_next()), drained(tf, pairs.make_one_shot_iterator().get_next()),
            len(drained(tf, pairs.shuffle(4).make_one_shot_iterator().get_next())), pairs.output_types, pairs.output_shapes,
            tf.data.get_output_types(pairs), tf.data.get_output_shapes(pairs), drained(
                tf, text.make_one_shot_iterator().get_next())]


@case(nodes=False)
def records(tf):
    with tf.python_io.TFRecordWriter("r") as out:
        for i in range(4):
            out.write(b"%d" % i)
    data = tf.data.TFRecordDataset("r")
    old = tf.contrib.data.TFRecordDataset("r")
    return [drained(tf, data.repeat(2).prefetch(2).make_one_shot_iterator().get_next()),
            sorted(drained(tf, data.shuffle(4).make_one_shot_iterator().get_next())),
            drained(tf, old.batch(3).make_one_shot_iterator().get_next())]


@case(nodes=False)
def iterators(tf):
    first, second = tf.data.Dataset.from_tensor_slices([1, 2]), tf.data.Dataset.from_tensor_slices([7])
    either = tf.data.Iterator.from_structure(tf.data.get_output_types(first), tf.data.get_output_shapes(first))
    handle = tf.placeholder(tf.string, [])
    named = tf.data.Iterator.from_string_handle(handle, tf.data.get_output_types(first), tf.data.get_output_shapes(first))
    one, other = either.get_next(), named.get_next()
    start = tf.data.Dataset.zip((first, second)).make_initializable_iterator()
    seen = []
    with tf.Session() as sess:
        for data in (first, second):
            sess.run(either.make_initializer(data))
            seen.append(sess.run(one))
        seen.append(sess.run(other, {handle: sess.run(second.make_one_shot_iterator().string_handle())}))
        sess.run(start.initializer)
        seen.append(sess.run(start.get_next()))
    return seen


@case(nodes=False)
def queues(tf):
    x, = tf.train.batch([tf.constant(X[0])], batch_size=2, capacity=4),
    names = tf.train.match_filenames_once("*.none")
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with coord.stop_on_exception():
            got = [sess.run(x), sess.run(names)]
        coord.request_stop()
        coord.join(threads)
    return got


@case(nodes=False)
def monitored(tf):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))
    loss = tf.square(w)
    with tf.control_dependencies([loss]):  # else it may see the new w
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    saver = tf.train.Saver()
    hooks = [tf.train.CheckpointSaverHook(checkpoint_dir="c", save_steps=2, saver=saver), tf.train.NanTensorHook(loss),
             tf.train.StopAtStepHook(last_step=5), tf.train.StepCounterHook(every_n_steps=2, output_dir="c"),
             tf.train.ProfilerHook(save_steps=3, output_dir="p")]
    creator = tf.train.ChiefSessionCreator(scaffold=tf.train.Scaffold(), config=tf.ConfigProto(), checkpoint_dir="c")
    seen = []
    with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as sess:
        while not sess.should_stop():
            seen.append(sess.run([train, loss])[1])
    return [seen, os.path.basename(tf.train.latest_checkpoint("c")), len([n for n in os.listdir("p") if "timeline" in n]) > 0]


@case(nodes=False)
def saved_models(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.identity(x * tf.Variable(2.0), name="y")
    builder = tf.saved_model.builder.SavedModelBuilder("m")
    info = tf.saved_model.utils.build_tensor_info(x)
    signature = tf.saved_model.signature_def_utils.build_signature_def(
        inputs={"x": info}, outputs={"y": tf.saved_model.utils.build_tensor_info(y)},
        method_name=tf.saved_model.signature_constants.PREDICT_METHOD_NAME)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(sess, ["serve"], signature_def_map={"s": signature})
    builder.save()
    return [sorted(os.listdir("m")), info, signature.method_name]


@case(nodes=False)
def servers(tf):
    local = tf.train.Server.create_local_server()
    v = tf.Variable(2.0)
    with tf.Session(local.target) as sess:
        sess.run(tf.global_variables_initializer())
        got = sess.run(v + 1)
    local.start()
    other = tf.distribute.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=0, protocol="grpc")
    defined = local.server_def
    return [got, callable(local.join), defined.job_name, list(defined.cluster.job[0].tasks),
            other.target.startswith(b"grpc://" if isinstance(other.target, bytes) else "grpc://")]


@case(nodes=False)
def columns(tf):
    number = tf.feature_column.numeric_column("a")
    listed = tf.feature_column.categorical_column_with_vocabulary_list("b", ["x", "y"])
    cut = tf.feature_column.bucketized_column(number, boundaries=[1.5, 3.0])
    features = {"a": np.float32([[1], [2], [4]]), "b": np.array([["x"], ["z"], ["y"]])}
    wide = tf.feature_column.linear_model(features=features, feature_columns=[cut, listed], units=1, sparse_combiner="sum",
                                          weight_collections=None, trainable=True)
    layer = tf.feature_column.input_layer(features=features, feature_columns=[number, cut, tf.feature_column.indicator_column(listed)])
    spec = tf.feature_column.make_parse_example_spec([number, listed])
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run([wide, layer, tf.contrib.layers.flatten(tf.constant(IMAGE))]) + [sorted(spec)]


@case(nodes=False)
def layers(tf):
    x = tf.constant(X)
    regular = tf.contrib.layers.l2_regularizer(0.1)
    dense = tf.contrib.layers.fully_connected(inputs=x, num_outputs=3, activation_fn=tf.nn.relu, weights_regularizer=regular,
                                              scope="fc")
    with tf.contrib.slim.arg_scope([tf.contrib.slim.fully_connected], activation_fn=None):
        plain = tf.contrib.slim.fully_connected(x, 2, weights_initializer=tf.constant_initializer(0.1))
    made = [plain, tf.contrib.slim.softmax(tf.constant(X.reshape(2, 2, 6))), tf.contrib.slim.losses.softmax_cross_entropy(
        x, tf.constant(np.eye(4, 6, dtype=np.float32)))]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made) + [dense.get_shape()]


@case(nodes=False)
def channels_first(tf):
    """Layouts and options of tf.layers that were once taken and ignored.  The oracle's CPU has no convolution of NCHW."""
    normal = tf.layers.batch_normalization(IMAGE, axis=1, training=True, gamma_initializer=tf.constant_initializer(2.0),
                                           beta_initializer=tf.constant_initializer(0.5))
    pairs = tf.losses.mean_pairwise_squared_error(X, X * 2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([normal, pairs])


@case(nodes=False)
def prefetched(tf):
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue([tf.constant(X), tf.constant(3)], capacity=4)
    found = [queue.dequeue()[0].get_shape(), len(tf.get_collection("queue_runners")), queue.name]
    return found


@case(nodes=False)
def exporters(tf):
    spec = {"a": tf.FixedLenFeature([1], tf.float32)}
    parsing = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
    raw = tf.estimator.export.build_raw_serving_input_receiver_fn({"a": tf.placeholder(tf.float32, [None, 1])})()
    last = tf.estimator.LatestExporter("e", lambda: None)
    config = tf.estimator.RunConfig().replace(save_summary_steps=7)
    return [sorted(parsing.features), sorted(raw.features), last.name, config.save_summary_steps, tf.estimator.ModeKeys.EVAL]


@case(nodes=False)
def keras(tf):
    x = tf.placeholder_with_default(IMAGE, shape=[None, 8, 8, 3], name="input")
    image = tf.keras.layers.Input(tensor=x, name="image")
    y = tf.keras.layers.Conv2D(filters=2, kernel_size=(3, 3), padding="same", activation="relu")(image)
    y = tf.keras.layers.Flatten()(tf.keras.layers.MaxPool2D(pool_size=(2, 2))(y))
    y = tf.keras.layers.Dense(4, activation="softmax")(y)
    model = tf.keras.models.Model(inputs=image, outputs=y)
    tf.keras.backend.manual_variable_initialization(True)
    tf.keras.backend.set_learning_phase(1)
    hot = tf.keras.utils.to_categorical([1, 3], 4)
    off = tf.keras.backend.categorical_crossentropy(tf.constant(hot), tf.constant(X[:2, :4]))
    return [y.get_shape(), len(model.weights), hot, off]
