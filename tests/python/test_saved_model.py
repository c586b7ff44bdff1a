"""tf.saved_model both ways: what Weft writes TensorFlow loads, and what TensorFlow writes Weft loads."""
import numpy as np
import pytest

import weft
from both import compare, oracle, outcome

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


# ---- text, tags, checks ----

def saved(tf, folder, tags=("serve",), as_text=False, assets=None, signatures=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(42.0, name="v")
        text = tf.Variable("", name="text")
        sess.run([v.initializer, text.initializer])
        start = None
        for path in assets or ():
            path = tf.constant(path, name="asset")
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
            start = tf.group(text.assign(tf.read_file(path)))
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(sess, list(tags), signatures,
                                             assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=start)
        return builder.save(as_text)


def loaded(tf, folder, tags=("serve",)):
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.load(sess, list(tags), str(folder))
        return float(sess.run("v:0")), sorted(meta.meta_info_def.tags), sess.run("text:0")


@pytest.mark.parametrize("writer", [weft, oracle])
@pytest.mark.parametrize("reader", [weft, oracle])
def test_a_model_that_was_written_as_text_is_loaded(tmp_path, writer, reader):
    (tmp_path / "words.txt").write_text("a b")
    path = saved(writer, tmp_path / "m", as_text=True, assets=[str(tmp_path / "words.txt")])
    assert path == str(tmp_path / "m" / "saved_model.pbtxt").encode()
    assert reader.saved_model.contains_saved_model(str(tmp_path / "m"))
    (tmp_path / "words.txt").unlink()
    assert loaded(reader, tmp_path / "m") == (42.0, ["serve"], b"a b")


@pytest.mark.parametrize("tf", [weft, oracle])
@pytest.mark.parametrize("written, asked", [(["a", "b"], ["b", "a", "b"]), (["a", "b", "a"], ["a", "b"])])
def test_tags_are_compared_as_sets(tmp_path, tf, written, asked):
    saved(tf, tmp_path / "m", written)
    assert loaded(tf, tmp_path / "m", asked)[0] == 42.0
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        loaded(tf, tmp_path / "m", ["a"])


@pytest.mark.parametrize("tf", [weft, oracle])
@pytest.mark.parametrize("given", [{"name": "x:0"}, {"dtype": 1}, {}])
def test_an_input_of_a_signature_has_a_name_and_a_type(tmp_path, tf, given):
    info = type(tf.saved_model.build_tensor_info(tf.constant(1)))(**given)
    for ends in (({"i": info}, {}), ({}, {"o": info})):
        with pytest.raises(AssertionError, match="Invalid `tensor_info`"):
            saved(tf, tmp_path / str(bool(ends[0])), signatures={"s": tf.saved_model.build_signature_def(*ends, "m")})


@pytest.mark.parametrize("tf", [weft, oracle])
def test_a_variable_that_was_not_saved_is_not_found(tmp_path, tf):
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.Variable(42.0, name="v").initializer)
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(sess, ["serve"])
        tf.Variable(1.0, name="other")
        builder.add_meta_graph(["more"])
        builder.save()
    with pytest.raises(tf.errors.NotFoundError, match="other"):
        loaded(tf, tmp_path / "m", ["more"])
    with pytest.raises(OSError, match="does not exist"):
        loaded(tf, tmp_path / "nothing")


@pytest.mark.parametrize("tf", [weft, oracle])
def test_a_model_without_variables_has_their_folder(tmp_path, tf):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.constant(1, name="k")
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(sess, ["serve"])
        builder.save()
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == ["saved_model.pb", "variables"]


@pytest.mark.parametrize("tf", [weft, oracle])
def test_a_path_may_be_bytes(tmp_path, tf):
    path = str(tmp_path / "f.txt").encode()
    with tf.gfile.GFile(path, "w") as f:
        f.write("hello")
    assert tf.gfile.Exists(path) and tf.gfile.GFile(path).read() == "hello" and (tmp_path / "f.txt").read_text() == "hello"


# ---- what runs after loading ----

def added(tf, folder, calls):
    """What each call did with (builder, session, two ops): the first line of its error, or None."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.add_to_collection("theirs", tf.Variable(1.0, name="v"))
        sess.run(tf.global_variables_initializer())
        ops, builder = [tf.no_op("a"), tf.no_op("b")], tf.saved_model.Builder(str(folder))
        said = [outcome(lambda call=call: call(tf, builder, sess, *ops)) for call in calls]
        return said, {k: [o.name for o in tf.get_collection(k)] for k in ("saved_model_main_op", "legacy_init_op")}


def first(**more):
    return lambda tf, builder, sess, a, b: builder.add_meta_graph_and_variables(sess, ["x"], **{
        k: {"a": a, "b": b}.get(v, v) for k, v in more.items()})


def later(**more):
    return lambda tf, builder, sess, a, b: builder.add_meta_graph(["y"], **{k: {"a": a, "b": b}.get(v, v) for k, v in more.items()})


def listed(key):
    return lambda tf, builder, sess, a, b: tf.add_to_collection(key, a)


@pytest.mark.parametrize("calls", [
    (first(main_op="a"), later(main_op="b")), (first(main_op="a"), later(main_op="a")), (first(main_op="a"), later()),
    (first(legacy_init_op="a"), later(legacy_init_op="b")), (first(), later(main_op="a")), (first(main_op="a", legacy_init_op="b"),),
    (listed("saved_model_main_op"), first(main_op="b"), later()), (listed("legacy_init_op"), first(main_op="b")),
    (listed("legacy_init_op"), first()), (first(main_op="c"), first(legacy_init_op="c"))])
def test_a_graph_has_one_main_op(tmp_path, calls):
    told = [added(tf, tmp_path / tf.__name__, calls) for tf in (weft, oracle)]
    assert told[0] == told[1]


def test_a_graph_of_another_builder_keeps_its_main_op_and_assets(tmp_path):
    (tmp_path / "words.txt").write_text("a b")
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tf.constant(str(tmp_path / "words.txt")))
            sess.run(tf.Variable(1.0, name="v").initializer)
            folders = [str(tmp_path / (tf.__name__ + n)) for n in "mn"]
            builders = [tf.saved_model.Builder(f) for f in folders]
            assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
            builders[0].add_meta_graph_and_variables(sess, ["x"], assets_collection=assets, main_op=tf.no_op("a"))
            builders[0].add_meta_graph(["y"])
            builders[0].save()
            again = outcome(lambda: builders[1].add_meta_graph_and_variables(sess, ["x"], main_op=tf.no_op("b")))
        for tag in "xy":
            with tf.Graph().as_default(), tf.Session() as sess:
                meta = tf.saved_model.load(sess, [tag], folders[0])
                found.append((again, [len(meta.collection_def[k].any_list.value) for k in ("saved_model_assets",)],
                              list(meta.collection_def["saved_model_main_op"].node_list.value)))
    assert found[:2] == found[2:]
    assert "already contains one or more main ops" in found[0][0]
