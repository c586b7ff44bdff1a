"""tf.contrib.graph_editor, factorization, tensorboard, nccl, keras, saved_model: no oracle has them."""
import os

import numpy as np

from machine import case


def network(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("block"):
        a = tf.square(x, name="a")
        b = tf.add(a, 1.0, name="b")
    return x, a, b, tf.multiply(b, a, name="y")


@case(alone=True)
def graphs_are_walked(tf):
    x, a, b, y = network(tf)
    names = [[op.name for op in found] for found in (
        tf.contrib.graph_editor.get_forward_walk_ops(a.op), tf.contrib.graph_editor.get_forward_walk_ops(x, inclusive=False),
        tf.contrib.graph_editor.get_backward_walk_ops(b.op, inclusive=False),
        tf.contrib.graph_editor.get_backward_walk_ops([y], stop_at_ts=[a]),
        tf.contrib.graph_editor.get_walks_intersection_ops([a.op], [b.op]),
        tf.contrib.graph_editor.filter_ops_from_regex(tf.get_default_graph(), "block/[ab]$"),
        tf.contrib.graph_editor.select_ops("^y$", a.op), tf.contrib.graph_editor.get_consuming_ops([a]),
        tf.contrib.graph_editor.get_generating_ops([a, b]))]
    assert names == [["block/a", "block/b", "y"], ["block/b", "y"], ["block/a", "block/b/y", "x"], ["y", "block/b", "block/b/y"],
                     ["block/a", "block/b"], ["block/a", "block/b"], ["y", "block/a"], ["block/b", "y"],
                     ["block/a", "block/b"]], names
    view = tf.contrib.graph_editor.sgv_scope("block", tf.get_default_graph())
    assert [t.name for t in view.inputs] == ["x:0"] and [t.name for t in view.outputs] == ["block/a:0", "block/b:0"]
    assert tf.contrib.graph_editor.filter_ts_from_regex(view, "b$") == [b]


@case(alone=True)
def parts_of_graphs_are_copied(tf):
    x, a, b, y = network(tf)
    other = tf.contrib.graph_editor.graph_replace(y, {a: tf.constant([10.0, 20.0])})
    several = tf.contrib.graph_editor.graph_replace({"b": b, "y": y}, {x: tf.constant([2.0, 3.0])}, dst_scope="again")
    part, info = tf.contrib.graph_editor.copy_with_input_replacements(tf.contrib.graph_editor.sgv(b.op, y.op), {a: x})
    assert several["y"].op.name == "again/y" and len(part) == 2 and info.transformed(b) is not b
    with tf.Session() as sess:
        found = sess.run([other, several, info.transformed(y), y], {x: [1.0, 2.0]})
    np.testing.assert_allclose(found[0], [110, 420])
    np.testing.assert_allclose(found[1]["y"], [20, 90])
    np.testing.assert_allclose(found[2], [2, 6])
    np.testing.assert_allclose(found[3], [2, 20])
    try:
        tf.contrib.graph_editor.graph_replace(a, {y: b})
    except ValueError as e:
        assert "not connected" in str(e)


@case(alone=True)
def inputs_are_given_to_other_nodes(tf):
    x, a, b, y = network(tf)
    c = tf.constant([5.0, 6.0])
    assert tf.contrib.graph_editor.reroute_ts([c], [a], can_modify=[b.op]) == 1
    waited = tf.no_op(name="waited")
    tf.contrib.graph_editor.add_control_inputs(y.op, waited)
    assert y.op.control_inputs == [waited]
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: [1.0, 2.0]}), [6, 28])


@case(alone=True)
def gradients_with_less_memory(tf):
    """What memory_saving_gradients.py does: parts of the graph are computed again for the gradients."""
    ge = tf.contrib.graph_editor
    x = tf.constant([[0.5, -1.0]])
    v = tf.get_variable("v", [2, 2], initializer=tf.constant_initializer(0.3))
    h = tf.tanh(tf.matmul(x, v), name="h")
    loss = tf.reduce_sum(tf.tanh(tf.matmul(h, v)))
    plain, = tf.gradients(loss, v)
    ops = ge.get_backward_walk_ops([loss.op], stop_at_ts=[h], within_ops=ge.get_forward_walk_ops(v.op))
    again, info = ge.copy_with_input_replacements(ge.sgv([op for op in ops if op.type not in ("VariableV2", "Identity")]), {})
    stopped = tf.stop_gradient(h)
    ge.reroute_ts([stopped], [h], can_modify=list(info._transformed_ops.values()))
    copied = info.transformed(loss)
    outer, inner = tf.gradients(copied, [v, stopped])
    rest, = tf.gradients(h, v, grad_ys=inner)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        a, b = sess.run([plain, outer + rest])
    np.testing.assert_allclose(a, b, rtol=1e-5)


@case(alone=True, nodes=False)
def rows_are_clustered_in_a_graph(tf):
    data = np.float32([[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10]])
    for kwargs in (dict(initial_clusters=data[[0, 3]]), dict(initial_clusters="kmeans_plus_plus", use_mini_batch=True)):
        x = tf.placeholder(tf.float32, [None, 2])
        model = tf.contrib.factorization.KMeans(inputs=x, num_clusters=2, random_seed=2, **kwargs)
        every, index, scores, initialized, init, train = model.training_graph()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer(), {x: data})
            sess.run(init, {x: data})
            for _ in range(30):
                sess.run(train, {x: data})
            found, nearest, all_of, ready = sess.run([index[0], scores[0], every[0], initialized], {x: data})
        assert ready and len(set(found[:3])) == 1 and len(set(found[3:])) == 1 and found[0] != found[3]
        assert nearest.sum() < 3 and all_of.shape == (6, 2)


@case(alone=True)
def embeddings_are_shown(tf):
    config = tf.contrib.tensorboard.plugins.projector.ProjectorConfig()
    one = config.embeddings.add()
    one.tensor_name, one.metadata_path, one.sprite.image_path = "a", "m.tsv", "s.png"
    one.sprite.single_image_dim.extend([2, 3])
    config.model_checkpoint_path = "x"
    writer = tf.summary.FileWriter("logs")
    tf.contrib.tensorboard.plugins.projector.visualize_embeddings(writer, config)
    with open(os.path.join("logs", "projector_config.pbtxt")) as f:
        assert f.read() == ('model_checkpoint_path: "x"\nembeddings {\n  tensor_name: "a"\n  metadata_path: "m.tsv"\n  sprite {\n    '
                            'image_path: "s.png"\n    single_image_dim: 2\n    single_image_dim: 3\n  }\n}\n')


@case(alone=True)
def tensors_of_devices_are_added(tf):
    given = [tf.constant([1.0, 4.0]), tf.constant([2.0, 3.0])]
    with tf.Session() as sess:
        found = sess.run([tf.contrib.nccl.all_sum(given), tf.contrib.nccl.all_prod(given), tf.contrib.nccl.all_min(given),
                          tf.contrib.nccl.all_max(given), tf.contrib.nccl.reduce_sum(given), tf.contrib.nccl.broadcast(given[0])])
    wanted = [[[3, 7]] * 2, [[2, 12]] * 2, [[1, 3]] * 2, [[2, 4]] * 2, [3, 7], [1, 4]]
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b)


@case(alone=True, nodes=False)
def models_of_keras_are_kept(tf):
    model = tf.contrib.keras.models.Sequential([tf.contrib.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    path = tf.contrib.saved_model.save_keras_model(model, "kept")
    again = tf.contrib.saved_model.load_keras_model(path)
    np.testing.assert_allclose(again.predict(np.ones([1, 3])), model.predict(np.ones([1, 3])), rtol=1e-5)


@case(alone=True)
def tables_under_their_first_names(tf):
    table = tf.contrib.lookup.string_to_index_table_from_tensor(["a", "b"])
    with open("words.txt", "w") as f:
        f.write("b\na\n")
    other = tf.contrib.lookup.string_to_index_table_from_file("words.txt", num_oov_buckets=1)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run([table.lookup(tf.constant(["b", "z"])), other.lookup(tf.constant(["b", "z"]))])[0].tolist() == [1, -1]


@case(alone=True)
def inception_of_slim(tf):
    with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception.inception_v3_arg_scope(weight_decay=0.1)):
        logits, points = tf.contrib.slim.nets.inception.inception_v3(
            tf.zeros([1, 75, 75, 3]), 5, is_training=False, depth_multiplier=0.1, create_aux_logits=False)
    assert logits.shape.as_list() == [1, 5] and points["Mixed_7c"].shape.as_list()[:3] == [1, 1, 1], points["Mixed_7c"]
    assert len(tf.get_collection("regularization_losses")) > 90
