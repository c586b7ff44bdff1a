"""tf.saved_model both ways: what Weft writes TensorFlow loads, and what TensorFlow writes Weft loads."""
import numpy as np
import pytest

import weft
from both import compare, oracle

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def model(tf, parts=1):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2], initializer=tf.random_normal_initializer(seed=3), partitioner=tf.fixed_size_partitioner(parts))
    local = tf.get_variable("l", [], initializer=tf.constant_initializer(7.), collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    return x, tf.add(tf.matmul(x, w), local, name="y")


def written(tf, folder, **more):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = model(tf)
        init = tf.group(tf.local_variables_initializer(), name="start")
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        utils = tf.saved_model.signature_def_utils
        signature = utils.build_signature_def(inputs={"x": tf.saved_model.utils.build_tensor_info(x)},
                                              outputs={"y": tf.saved_model.utils.build_tensor_info(y)},
                                              method_name=tf.saved_model.signature_constants.PREDICT_METHOD_NAME)
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(sess, [tf.saved_model.tag_constants.SERVING],
                                             signature_def_map={"serving_default": signature}, main_op=init, **more)
        builder.add_meta_graph(["serve", "small"], {"serving_default": signature})
        builder.save()
        return sess.run(y, {x: X})


def answered(tf, folder, tags=("serve",), scope=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, list(tags), folder, import_scope=scope)
        signature = meta.signature_def["serving_default"]
        before = scope + "/" if scope else ""
        if "small" in tags:
            sess.run(before + "start")
        names = [before + n for n in (signature.outputs["y"].name, signature.inputs["x"].name)]
        return sess.run(names[0], {names[1]: X}), signature


@pytest.mark.parametrize("scope", [None, "in/here"])
def test_each_loads_what_the_other_wrote(tmp_path, scope):
    values = {tf: written(tf, str(tmp_path / tf.__name__)) for tf in (weft, oracle)}
    for writer in values:
        for reader in values:
            found, signature = answered(reader, str(tmp_path / writer.__name__), scope=scope)
            compare(found, values[writer])
            info = signature.inputs["x"]
            assert (info.dtype, [d.size for d in info.tensor_shape.dim], signature.method_name) == (
                1, [-1, 3], "tensorflow/serving/predict")


def test_graphs_are_chosen_by_their_tags(tmp_path):
    value = written(weft, str(tmp_path / "m"), clear_devices=True)
    for tf in (weft, oracle):
        compare(answered(tf, str(tmp_path / "m"), ["small", "serve"])[0], value)
        with tf.Graph().as_default(), tf.Session() as sess:
            with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
                tf.saved_model.loader.load(sess, ["train"], str(tmp_path / "m"))
            with pytest.raises(OSError, match="SavedModel file does not exist at"):
                tf.saved_model.loader.load(sess, ["serve"], str(tmp_path / "none"))
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        weft.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))


def test_simple_save_is_read_and_trained_on(tmp_path):
    with weft.Graph().as_default(), weft.Session() as sess:
        x, y = model(weft, parts=2)
        sess.run([weft.global_variables_initializer(), weft.local_variables_initializer()])
        weft.saved_model.simple_save(sess, str(tmp_path / "m"), inputs={"x": x}, outputs={"y": y},
                                     legacy_init_op=weft.group(weft.local_variables_initializer()))
        value = sess.run(y, {x: X})
    for tf in (weft, oracle):
        compare(answered(tf, str(tmp_path / "m"))[0], value)
    with weft.Graph().as_default() as graph, weft.Session() as sess:
        weft.saved_model.loader.load(sess, ["serve"], str(tmp_path / "m"))
        loss = weft.reduce_sum(weft.square(graph.get_tensor_by_name("y:0")))
        train = weft.train.GradientDescentOptimizer(0.001).minimize(loss)
        before = sess.run(loss, {"x:0": X})
        sess.run(train, {"x:0": X})
        assert sess.run(loss, {"x:0": X}) < before
    assert weft.saved_model.loader.maybe_saved_model_directory(str(tmp_path / "m"))
