"""Differences that once ran without an error: each case is one of them."""
import os

import numpy as np

from machine import case

X = {"a": np.float32([[1], [2], [3], [4]]), "b": np.array([["x"], ["y"], ["x"], ["z"]])}
Y = np.array([0, 1, 1, 0])


def refused(tf, call):
    try:
        call()
    except (ValueError, TypeError) as e:
        return type(e).__name__
    return "accepted"


@case
def a_refused_node_uses_up_its_name(tf):
    said = [refused(tf, lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))),
            refused(tf, lambda: tf.add(tf.ones([2], name="o"), tf.ones([3], name="o"), name="sum")),
            refused(tf, lambda: tf.reshape([1, 2, 3], [2, 2])),
            refused(tf, lambda: tf.concat([tf.ones([1, 2]), tf.ones([1])], 0)),
            refused(tf, lambda: tf.nn.conv2d(tf.ones([1, 4, 4]), tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME")),
            refused(tf, lambda: tf.add(tf.ones([2]), tf.constant([1, 2]), name="kinds")),
            refused(tf, lambda: tf.argmax(tf.ones([2]), 3)),
            refused(tf, lambda: tf.squeeze(tf.ones([2, 2]), [0]))]
    made = [tf.matmul(tf.ones([2, 3]), tf.ones([3, 2])), tf.add(1.0, 2.0, name="sum"), tf.reshape([1, 2], [2, 1]),
            tf.concat([tf.ones([1, 2]), tf.ones([1, 2])], 0), tf.add(1.0, 2.0, name="kinds"),
            tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "SAME"), tf.argmax(tf.ones([2])),
            tf.squeeze(tf.ones([1, 2]), [0])]
    return said, [t.name for t in made]


@case
def a_refused_variable_and_placeholder(tf):
    said = [refused(tf, lambda: tf.Variable(tf.ones([2]), dtype=tf.int32, name="v")),
            refused(tf, lambda: tf.get_variable("w", [2], initializer=tf.ones([2]))),
            refused(tf, lambda: tf.constant([1, 2], shape=[3, 3, 3], name="c", verify_shape=True)),
            refused(tf, lambda: tf.constant("x", tf.float32, name="d")),
            refused(tf, lambda: tf.zeros([2]).set_shape([3]))]
    return said, [tf.Variable(1.0, name="v").name, tf.get_variable("w", [2]).name, tf.constant(1, name="c").name,
                  tf.constant(1.0, name="d").name]


@case
def a_column_of_the_wrong_width(tf):
    columns = [tf.feature_column.numeric_column("a", shape=(2,))]
    given = {"a": tf.constant([[1.0, 2, 3], [4, 5, 6]])}
    said = []
    for make in (tf.feature_column.linear_model, tf.feature_column.input_layer):
        try:
            make(given, columns)
        except Exception as e:  # noqa: BLE001 - the class and the words are compared
            said.append((type(e).__name__, str(e).split(" for ")[0]))
    with tf.Session() as session:
        for make in (tf.feature_column.linear_model, tf.feature_column.input_layer):
            try:
                made = make({"a": tf.placeholder_with_default([[1.0, 2, 3], [4, 5, 6]], [None, None])}, columns)
                session.run(tf.global_variables_initializer())
                session.run(made)
            except Exception as e:  # noqa: BLE001 - likewise
                said.append((type(e).__name__, "has 4" in getattr(e, "message", str(e))))
    return said


@case(nodes=False)  # TensorFlow 2.15 calls the regularizer of get_variable twice
def regularization_losses_names(tf):
    slim = tf.contrib.slim
    x = tf.ones([2, 8, 8, 3])
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.1),
                        biases_regularizer=slim.l1_regularizer(0.2)):
        with tf.variable_scope("net"):
            y = slim.conv2d(x, 4, [3, 3], scope="c")
            y = slim.fully_connected(slim.flatten(y), 5, scope="f")
            two = tf.contrib.layers.l1_l2_regularizer(0.1, 0.2)
            tf.contrib.layers.separable_conv2d(x, 4, [3, 3], 1, scope="s", weights_regularizer=two)
        slim.repeat(y, 2, slim.fully_connected, 3, scope="again")
    tf.get_variable("own", [2], regularizer=tf.contrib.layers.sum_regularizer([slim.l1_regularizer(0.1), slim.l2_regularizer(0.3)]))
    with tf.variable_scope("o", regularizer=slim.l2_regularizer(0.5)):
        tf.get_variable("v", [3])
        tf.layers.dense(tf.ones([1, 2]), 2, name="d")
    total = tf.contrib.layers.apply_regularization(slim.l2_regularizer(0.1), tf.trainable_variables()[:2])
    return [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)], tf.losses.get_regularization_loss(), total


@case(nodes=False)
def a_train_op_gives_the_loss_before_its_update(tf):
    slim = tf.contrib.slim
    x, y = tf.constant([[1.0, 2], [3, 4]]), tf.constant([[1.0], [0]])
    made = slim.fully_connected(x, 1, activation_fn=None)
    loss = tf.losses.mean_squared_error(y, made)
    train = slim.learning.create_train_op(tf.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.05))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = []
        for _ in range(4):
            before = session.run(loss)
            got.append((np.round(session.run(train) - before, 5), session.run(tf.train.get_global_step())))
    return got, train


@case
def embedding_columns_losses(tf):
    words = {"b": tf.constant([["x"], ["y"], ["x"], ["z"]]), "c": tf.constant([["p"], ["q"], ["p"], ["q"]]),
             "n": tf.constant([[1.0], [2.0], [3.0], [4.0]])}
    fc = tf.feature_column
    b = fc.categorical_column_with_vocabulary_list("b", ["x", "y", "z"])
    c = fc.categorical_column_with_hash_bucket("c", 5)
    columns = [fc.embedding_column(b, 3), fc.embedding_column(c, 2, combiner="sqrtn"), fc.indicator_column(b), fc.numeric_column("n"),
               fc.embedding_column(fc.crossed_column(["b", "c"], 7), 2), fc.bucketized_column(fc.numeric_column("n"), [2.5])]
    net = fc.input_layer(words, columns)
    net = tf.layers.dense(net, 4, tf.nn.relu)
    return tf.layers.dense(net, 1), net


@case
def lists_of_tensors_are_packed_in_the_scope_of_the_op(tf):
    n = tf.shape(tf.placeholder_with_default([[1.0, 2]], [None, 2]))[0]
    x = tf.ones([2, 2])
    return tf.tile(x, [n, n]), tf.reshape(x, [n, n * 4]), tf.slice(x, [n, n], [n, n]), tf.fill([n, n], 1.0)


@case(tolerance=1e-4, nodes=False)
def embedding_columns_trained(tf):
    fc = tf.feature_column
    words = {"b": tf.constant([["x", "y"], ["y", ""], ["x", "x"], ["", ""]]), "w": tf.constant([[1.0, 0.5], [2, 0], [3, 1], [0, 0]])}
    b = fc.categorical_column_with_vocabulary_list("b", ["x", "y", "z"])
    net = tf.concat([fc.input_layer(words, [fc.embedding_column(b, 3), fc.embedding_column(
        fc.weighted_categorical_column(b, "w"), 2, combiner=c)]) for c in ("sum", "mean", "sqrtn")], 1)
    linear = fc.linear_model(words, [b, fc.weighted_categorical_column(b, "w")])
    loss = tf.reduce_sum(tf.square(net - 1.0)) + tf.reduce_sum(tf.square(linear))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    losses = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(4):
            losses.append(session.run([loss, train])[0])
        return losses, session.run(tf.trainable_variables())


@case
def sparse_lookups(tf):
    p = tf.placeholder_with_default(np.arange(21, dtype=np.float32).reshape(7, 3), [7, 3])
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 6], tf.int64), [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1.0, 2, 0.5]), [3, 2])
    made = [tf.nn.embedding_lookup_sparse(p, ids, w, combiner=c) for w in (None, weights) for c in ("mean", "sum", "sqrtn")]
    made += [tf.nn.safe_embedding_lookup_sparse([p], ids, w, combiner=c) for w in (None, weights) for c in ("mean", "sum", "sqrtn")]
    made += [tf.nn.embedding_lookup_sparse(p, ids, None, combiner="mean", max_norm=2.0),
             tf.nn.embedding_lookup_sparse(p, ids, weights, combiner="mean", allow_fast_lookup=True),
             tf.nn.safe_embedding_lookup_sparse([p], ids, default_id=2)]
    return made, tf.sparse_retain(ids, [True, False, True]), tf.sparse_reshape(ids, [2, -1])


@case(nodes=False)
def a_sparse_lookup_has_a_sparse_gradient(tf):
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 1], tf.int64), [3, 2])
    tables = [tf.get_variable("t%d" % i, initializer=np.arange(21, dtype=np.float32).reshape(7, 3), use_resource=i == 1) for i in range(2)]
    made = [tf.nn.embedding_lookup_sparse(t, ids, None, combiner=c) for t in tables for c in ("mean", "sum", "sqrtn")]
    found = [tf.gradients(y, t)[0] for y, t in zip(made, [tables[0]] * 3 + [tables[1]] * 3)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([g.values, g.indices]) for g in found]


@case
def variables_come_before_the_operations_of_a_layer(tf):
    slim = tf.contrib.slim
    draw = tf.random_normal_initializer(0.0, 0.1)
    with slim.arg_scope([slim.conv2d, slim.fully_connected, slim.conv2d_transpose], biases_initializer=draw):
        x = slim.conv2d(tf.ones([1, 4, 4, 2]), 3, 3)
        x = slim.separable_conv2d(x, 4, 3, 1, biases_initializer=draw)
        x = slim.separable_conv2d(x, None, 3, 1, biases_initializer=draw)
        return slim.fully_connected(x, 2), tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 4, 1]), [1, 1, 1, 1], "SAME"), tf.random_uniform([2])


@case
def linear_columns(tf):
    words = {"b": tf.constant([["x"], ["y"], ["x"], ["z"]]), "c": tf.constant([["p"], ["q"], ["p"], ["q"]]),
             "n": tf.constant([[1.0], [2.0], [3.0], [4.0]])}
    fc = tf.feature_column
    b = fc.categorical_column_with_vocabulary_list("b", ["x", "y", "z"])
    n = fc.numeric_column("n")
    made = fc.linear_model(words, [b, fc.categorical_column_with_hash_bucket("c", 5), n, fc.bucketized_column(n, [2.5]),
                                   fc.crossed_column(["b", "c"], 7)], units=2)
    return made, tf.random_uniform([3])


@case
def shared_embeddings(tf):
    fc = tf.feature_column
    words = {"b": tf.constant([["x"], ["y"]]), "c": tf.constant([["y"], ["z"]])}
    cut = [fc.categorical_column_with_vocabulary_list(k, ["x", "y", "z"]) for k in "bc"]
    return fc.input_layer(words, fc.shared_embedding_columns(cut, 3)), tf.random_normal([2])


@case(nodes=False)
def a_shuffled_input_counts_as_a_draw_and_leaves_numpy_alone(tf):
    np.random.seed(3)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(11)
        x, y = tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=2, num_epochs=None, shuffle=True, num_threads=2)()
        a, b = tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=2, num_epochs=1, shuffle=False)()
        return sorted(x), sorted(a), y.shape, b.shape, session.run(tf.random_uniform([2])), np.random.rand()


def net_loss(tf, estimator_of):
    losses = []

    class Keep(tf.train.SessionRunHook):
        def before_run(self, context):
            return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[0] if tf.get_collection(tf.GraphKeys.LOSSES) else
                                           context.session.graph.get_tensor_by_name("head/weighted_loss/Sum:0"))

        def after_run(self, context, values):
            losses.append(float(values.results))
    model = estimator_of(tf.estimator.RunConfig(model_dir="m", tf_random_seed=5))
    model.train(tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=4, num_epochs=None, shuffle=False), steps=4)
    return sorted(model.get_variable_names()), {n: model.get_variable_value(n) for n in model.get_variable_names()}


@case(tolerance=1e-4)
def canned_models_of_embeddings_with_a_seed(tf):
    fc = tf.feature_column
    b = fc.categorical_column_with_vocabulary_list("b", ["x", "y", "z"])
    columns = [fc.numeric_column("a"), fc.embedding_column(b, 3)]
    return [net_loss(tf, lambda c: tf.estimator.DNNClassifier([4, 3], columns, model_dir="d", config=c.replace(model_dir="d"))),
            net_loss(tf, lambda c: tf.estimator.DNNLinearCombinedClassifier(
                linear_feature_columns=[b], dnn_feature_columns=columns, dnn_hidden_units=[4], config=c.replace(model_dir="e"))),
            net_loss(tf, lambda c: tf.estimator.LinearClassifier([b, fc.numeric_column("a")], config=c.replace(model_dir="f")))]


def saved(tf, folder):
    """A model with a table whose vocabulary is an asset; another file of that name is an asset too."""
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        os.mkdir("other")
        for path, words in (("words.txt", "x\ny\n"), ("other/words.txt", "p\nq\nr\n")):
            with open(path, "w") as f:
                f.write(words)
        files = [tf.constant(p, name="asset") for p in ("words.txt", "other/words.txt")]
        for t in files:
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, t)
        tables = [tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            t, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 1) for t in files]
        for i, table in enumerate(tables):
            tf.identity(table.lookup(tf.constant(["y", "q", "r"])), name="found%d" % i)
        v = tf.get_variable("v", initializer=3.0)
        tf.add(v, 1.0, name="y")
        session.run([v.initializer, tf.tables_initializer()])
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=tf.tables_initializer())
        builder.save()
    os.remove("words.txt"), os.remove("other/words.txt")


@case(nodes=False)
def a_saved_model_with_assets(tf):
    saved(tf, "m")
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.saved_model.loader.load(session, ["serve"], "m")
        return (session.run(["found0:0", "found1:0", "y:0"]), [session.run(t) for t in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)],
                sorted(made.collection_def), [(a.filename, a.tensor_info.name) for a in made.asset_file_def],
                sorted(os.listdir("m/assets")), open("m/assets/words.txt").read())


@case(nodes=False)
def a_saved_model_loaded_beside_nodes_of_its_names(tf):
    saved(tf, "m")
    made = []
    for names in (["y"], ["v"], ["y", "v"]):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            for name in names:
                tf.constant(1.0, name=name)
            try:
                tf.saved_model.loader.load(session, ["serve"], "m")
                made.append([session.run(n) for n in ("y:0", "found0:0", "found1:0")])
            except Exception as e:  # noqa: BLE001 - compared
                made.append(type(e).__name__)
            made.append(sorted(o.name for o in graph.get_operations() if o.name.startswith(("y", "v", "asset", "found"))))
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.constant(1.0, name="y")
        tf.saved_model.loader.load(session, ["serve"], "m", import_scope="in")
        made += [session.run("in/y:0"), session.run("in/v:0"), session.run("y:0"), session.run("in/found1:0")]
    return made


@case(nodes=False)
def workers_of_generators(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    taken, said = [], []

    def batches():
        while True:
            taken.append(1)
            yield np.ones([2, 2]), np.ones([2, 1])
    for workers in (0, 1):
        for run in (model.fit_generator, model.evaluate_generator, model.predict_generator):
            taken.clear()
            run(batches(), 3, workers=workers, max_queue_size=4)
            said.append((workers, len(taken) == 3, len(taken) >= 3))

    class Rows(tf.keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            open("by%d" % os.getpid(), "a").close()
            return np.ones([2, 2]), np.ones([2, 1])
    taken.clear()
    model.fit_generator(batches(), 3, workers=1, use_multiprocessing=True, verbose=0)
    said.append(len(taken))  # a process took them
    model.fit_generator(Rows(), workers=1, use_multiprocessing=True, verbose=0)
    return said, os.path.exists("by%d" % os.getpid()), [f for f in os.listdir(".") if f.startswith("by")] != []


@case(nodes=False, tolerance=0)
def sums_of_16_bits(tf):
    draw = np.random.RandomState(3)
    parts = [draw.randn(33).astype(np.float32) for _ in range(10)]
    found = []
    for kind in (tf.float16, tf.bfloat16):
        for n in (2, 3, 5, 8, 10):
            with tf.Graph().as_default(), tf.Session() as session:
                given = [tf.placeholder_with_default(tf.cast(p, kind), [33]) for p in parts[:n]]
                found.append(session.run(tf.cast(tf.add_n(given), tf.float32)))
    return found
