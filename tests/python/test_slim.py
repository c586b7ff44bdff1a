"""tf.contrib.slim against tf-slim, which is what became of it, on TensorFlow 2.15."""
import importlib.abc
import importlib.machinery
import os
import pathlib
import sys

import numpy as np
import pytest

import scripts
from both import compare, oracle, outcome, weft

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "parameters"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "calls"))
import walk_names_of_tf  # noqa: E402


class KerasOfTensorFlow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """tf-slim asks for tf_keras, which is what the package keras 2.15 is called for later releases of TensorFlow."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.partition(".")[0] == "tf_keras" else None

    def create_module(self, spec):
        return importlib.import_module("keras" + spec.name.removeprefix("tf_keras").replace(".legacy_tf_layers", ".src.legacy_tf_layers"))

    def exec_module(self, module):
        pass


sys.meta_path.append(KerasOfTensorFlow())
walk_names_of_tf.mend_slim(oracle)
flow = importlib.import_module("tensorflow.python.ops.control_flow_ops")
flow.cond, flow.case = oracle.cond, oracle.case
arrays = importlib.import_module("tensorflow.python.ops.array_ops")
arrays.stack = oracle.stack
theirs = importlib.import_module("tf_slim")
SYSTEMS = ((weft, weft.contrib.slim), (oracle, theirs))


def in_both(program):
    """What program(tf, slim) returns in each system; tensors are run after the initializers."""
    found = []
    for tf, slim in SYSTEMS:
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            made = program(tf, slim)
            with tf.Session() as sess:
                sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
                found.append({k: sess.run(v) if hasattr(v, "op") or isinstance(v, (tf.SparseTensor, tf.Tensor)) else v
                              for k, v in made.items()})
    ours, others = found
    assert ours.keys() == others.keys()
    for key in others:
        if isinstance(others[key], (str, list, int, type(None))):
            assert ours[key] == others[key], key
        else:
            compare(ours[key], others[key], 1e-4)
    return ours


def variables(tf):
    return [(v.op.name, v.shape.as_list()) for v in tf.global_variables()]


def collections(tf):
    graph = tf.get_default_graph()
    counted = (tf.GraphKeys.UPDATE_OPS, tf.GraphKeys.REGULARIZATION_LOSSES)
    return [[v.op.name for v in graph.get_collection(k)] for k in (tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.MODEL_VARIABLES)] + [
        len(graph.get_collection(k)) for k in counted]


def network(module, name, size, scope_fn=None, **more):
    def program(tf, slim):
        of = importlib.import_module("%s.nets.%s" % (slim.__name__, module))
        scope = {} if scope_fn is None else getattr(of, scope_fn)()
        with slim.arg_scope(scope) if scope else tf.name_scope(""):
            net, ends = getattr(of, name)(tf.zeros([2, size, size, 3]), 5, **more)
        return {"variables": variables(tf), "shape": net.shape.as_list(), "collections": collections(tf),
                "ends": [(k, v.shape.as_list()) for k, v in ends.items()]}
    return program


def graphs(program):
    """What a program says of its graph in each system; nothing runs."""
    said = []
    for tf, slim in SYSTEMS:
        with tf.Graph().as_default():
            said.append(program(tf, slim))
    return said


@pytest.mark.parametrize("module, name, size, scope, more", [
    ("alexnet", "alexnet_v2", 224, "alexnet_v2_arg_scope", {}), ("overfeat", "overfeat", 231, "overfeat_arg_scope", {}),
    ("vgg", "vgg_a", 224, "vgg_arg_scope", {"spatial_squeeze": False}), ("vgg", "vgg_16", 256, None, {"spatial_squeeze": False}),
    ("vgg", "vgg_19", 224, "vgg_arg_scope", {"is_training": False}),
    ("inception", "inception_v1", 224, "inception_v1_arg_scope", {}), ("inception", "inception_v2", 224, "inception_v2_arg_scope", {}),
    ("inception", "inception_v2", 160, None, {"depth_multiplier": 0.3, "spatial_squeeze": False}),
    ("inception", "inception_v3", 299, "inception_v3_arg_scope", {}),
    ("resnet_v1", "resnet_v1_50", 65, "resnet_arg_scope", {"output_stride": 8})])
def test_networks_have_the_variables_of_tf_slim(module, name, size, scope, more):
    ours, others = graphs(network(module, name, size, scope, **more))
    assert ours == others


def test_a_small_residual_network_computes_the_same():
    def program(tf, slim):
        found = {}
        for module in ("resnet_v1", "resnet_v2"):
            of = importlib.import_module("%s.nets.%s" % (slim.__name__, module))
            block = getattr(of, module + "_block")
            x = tf.constant(np.linspace(-1, 1, 2 * 33 * 33 * 3).reshape(2, 33, 33, 3), tf.float32)
            with slim.arg_scope(of.resnet_arg_scope()), slim.arg_scope([slim.conv2d], weights_initializer=tf.constant_initializer(0.03)):
                net, ends = getattr(of, module)(x, [block("block1", 1, 2, 2), block("block2", 2, 2, 1)], 4, output_stride=8,
                                                is_training=False)
            found[module], found[module + " predictions"] = net, ends["predictions"]
        return {**found, "variables": variables(tf), "collections": collections(tf)}
    in_both(program)


def test_narrow_inception_networks_compute_the_same():
    def program(tf, slim):
        of = importlib.import_module("%s.nets.inception" % slim.__name__)
        x = tf.constant(np.linspace(-1, 1, 96 * 96 * 3).reshape(1, 96, 96, 3), tf.float32)
        with slim.arg_scope(of.inception_v3_arg_scope(batch_norm_decay=0.9, batch_norm_epsilon=0.1, use_fused_batchnorm=False)), \
                slim.arg_scope([slim.conv2d], weights_initializer=tf.constant_initializer(0.03)):
            net, ends = of.inception_v3(x, 3, is_training=False, depth_multiplier=0.1, min_depth=4, create_aux_logits=False)
        with slim.arg_scope(of.inception_v1_arg_scope(use_batch_norm=False)), \
                slim.arg_scope([slim.conv2d], weights_initializer=tf.constant_initializer(0.01)):
            part, _ = of.inception_v1_base(x[:, ::4, ::4], "Mixed_3b", scope="part")
        with slim.arg_scope(of.inception_v2_arg_scope(weight_decay=0.1)), \
                slim.arg_scope([slim.conv2d, slim.separable_conv2d], weights_initializer=tf.constant_initializer(0.02)):
            second, _ = of.inception_v2_base(x, "Mixed_4e", depth_multiplier=0.1, min_depth=4)
        return {"net": net, "middle": ends["Mixed_6e"], "ends": sorted(ends), "part": part, "second": second, "variables": variables(tf),
                "collections": collections(tf)}
    in_both(program)


def example(tf, **features):
    def feature(v):
        if isinstance(v[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
        if isinstance(v[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=v))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    return tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()})).SerializeToString()


def test_a_record_is_decoded_into_items():
    def program(tf, slim):
        d, s = slim.tfexample_decoder, tf.string
        picture = np.arange(12, dtype=np.uint8).tobytes()
        record = example(tf, **{"image/encoded": [picture], "image/format": [b"raw"],
                                "label": [3], "n": [2, 3], "v": [1., 2., 3., 4., 5., 6.],
                                "ymin": [.1, .2], "xmin": [.3, .4], "ymax": [.5, .6], "xmax": [.7, .8], "i": [0, 2], "w": [5., 7.],
                                "words": [b"b", b"a", b"z"]})
        features = {"image/encoded": tf.FixedLenFeature((), s, default_value=""), "image/format": tf.FixedLenFeature((), s, "raw"),
                    "label": tf.FixedLenFeature([1], tf.int64), "n": tf.FixedLenFeature([2], tf.int64), "v": tf.VarLenFeature(tf.float32),
                    "i": tf.VarLenFeature(tf.int64), "w": tf.VarLenFeature(tf.float32), "words": tf.VarLenFeature(s),
                    "none": tf.VarLenFeature(tf.float32),
                    **{k: tf.VarLenFeature(tf.float32) for k in ("ymin", "xmin", "ymax", "xmax")}}
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1) \
            if hasattr(tf.lookup, "StaticHashTable") else None
        handlers = {
            "label": d.Tensor("label", shape=[]), "values": d.Tensor("v", shape=[3, 2]),
            "by_keys": d.Tensor("v", shape_keys="n"), "boxes": d.BoundingBox(), "sparse": d.SparseTensor("i", "w", shape=[4], densify=True),
            "backup": d.BackupHandler(d.Tensor("none"), d.Tensor("v")),
            "called": d.ItemHandlerCallback(["label", "n"], lambda k: k["n"] * k["label"]),
            "looked_up": d.LookupTensor("words", table)}
        decoder = d.TFExampleDecoder(features, handlers)
        items = sorted(decoder.list_items())
        return {**dict(zip(items, decoder.decode(tf.constant(record), items))), "items": items}
    in_both(program)


def write_records(path):
    with oracle.python_io.TFRecordWriter(str(path)) as writer:
        for i in range(6):
            writer.write(example(oracle, x=[float(i), 1.0], y=[i % 2]))


def provided(tf, slim, path, **more):
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)},
        {"x": slim.tfexample_decoder.Tensor("x"), "y": slim.tfexample_decoder.Tensor("y")})
    data = slim.dataset.Dataset(str(path), tf.TFRecordReader, decoder, 6, {"x": "two numbers"}, extra=4)
    assert data.extra == 4
    provider = slim.dataset_data_provider.DatasetDataProvider(data, **more)
    assert provider.num_samples() == 6 and sorted(provider.list_items()) == ["record_key", "x", "y"]
    return provider


def test_records_of_a_data_set_come_in_order(tmp_path):
    write_records(tmp_path / "a.records")

    def program(tf, slim):
        key, x, y = provided(tf, slim, tmp_path / "*.records", shuffle=False, num_epochs=1).get(["record_key", "x", "y"])
        rows = []
        with tf.Session() as sess:
            sess.run(tf.local_variables_initializer())
            with slim.queues.QueueRunners(sess):
                for _ in range(6):
                    rows.append([v.tolist() if hasattr(v, "tolist") else v for v in sess.run([key, x, y])])
                rows.append(outcome(lambda: sess.run(x)).partition(":")[0])
        return rows, [(n.name, n.type) for n in tf.get_default_graph().get_operations() if "ueue" in n.type or "Reader" in n.type]
    ours, others = graphs(program)
    assert ours[0] == others[0] and sorted(ours[1]) == sorted(others[1])


def trained(tf, slim, folder, records):
    """Trains, evaluates each way that slim has, and returns the figures and the files."""
    x, y = tf.train.batch(provided(tf, slim, records, shuffle=False).get(["x", "y"]), 3)
    net = slim.fully_connected(x, 2, weights_initializer=tf.constant_initializer(0.1), activation_fn=None)
    slim.losses.softmax_cross_entropy(net, slim.one_hot_encoding(y, 2))
    total = slim.losses.get_total_loss()
    tf.summary.scalar("total", total)
    train_op = slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.1), clip_gradient_norm=0.5)
    last = slim.learning.train(train_op, folder, number_of_steps=4, log_every_n_steps=2, summary_op=None)
    return float(last)


def evaluated(tf, slim, folder, records):
    x, y = tf.train.batch(provided(tf, slim, records, shuffle=False).get(["x", "y"]), 3)
    net = slim.fully_connected(x, 2, activation_fn=None)
    names, updates = slim.metrics.aggregate_metric_map({
        "accuracy": slim.metrics.streaming_accuracy(tf.argmax(net, 1), y), "mean": slim.metrics.streaming_mean(x)})
    tf.summary.scalar("mean", names["mean"])
    path = tf.train.latest_checkpoint(folder)
    once = slim.evaluation.evaluate_once("", path, folder + "/eval", num_evals=2, eval_op=list(updates.values()),
                                         final_op=[names["accuracy"], names["mean"]])
    return [float(v) for v in once], os.path.basename(path)


def looped(tf, slim, folder, records):
    x, y = tf.train.batch(provided(tf, slim, records, shuffle=False).get(["x", "y"]), 3)
    value, update = slim.metrics.streaming_mean(slim.fully_connected(x, 2, activation_fn=None))
    tf.train.get_or_create_global_step()
    loop = slim.evaluation.evaluation_loop("", folder, folder + "/loop", num_evals=2, eval_op=update, final_op=value, summary_op=None,
                                           max_number_of_evaluations=1, eval_interval_secs=0, timeout=5)
    return float(loop)


def test_training_and_evaluation_give_the_same_figures(tmp_path):
    write_records(tmp_path / "a.records")
    found = []
    for tf, slim in SYSTEMS:
        folder, rows = str(tmp_path / tf.__name__), []
        for part in (trained, evaluated, looped):
            with tf.Graph().as_default():
                rows.append(part(tf, slim, folder, tmp_path / "a.records"))
        found.append(rows)
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1][0], found[1][1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-4)
    assert found[0][1][1] == found[1][1][1] == "model.ckpt-4"


def test_names_of_outputs():
    def program(tf, slim):
        x = tf.ones([2, 3], name="x")
        u = slim.utils
        u.collect_named_outputs("c", "first/", x)
        u.append_tensor_alias(x, "second")
        y = tf.identity(x, name="y")
        tf.add_to_collection("c", y)
        return [u.get_tensor_aliases(x), u.gather_tensors_aliases([x, y]), list(u.convert_collection_to_dict("c", clear_collection=True)),
                tf.get_collection("c"), u.last_dimension(x.shape), u.channel_dimension(tf.TensorShape([1, 5, 2]), "channels_first"),
                u.two_element_tuple(3), u.two_element_tuple((3, 4)), u.n_positive_integers(3, 2), u.n_positive_integers(2, [3, 4]),
                u.static_cond(True, lambda: 1, lambda: 2), u.smart_cond(tf.constant(False), lambda: 1, lambda: 2),
                u.get_variable_collections({"a": ["b"]}, "a"), sorted(slim.arg_scoped_arguments(slim.conv2d)),
                outcome(lambda: u.last_dimension(tf.TensorShape([None]))),
                outcome(lambda: u.n_positive_integers(2, [0, 1])).partition(":")[0],
                outcome(lambda: u.two_element_tuple([1])).partition(":")[0], outcome(lambda: u.static_cond(True, 1, 2))]
    ours, others = graphs(program)
    assert ours == others


def test_variables_by_name(tmp_path):
    def program(tf, slim):
        with tf.variable_scope("a"):
            one = slim.model_variable("w", [2, 2], initializer=tf.ones_initializer())
            slim.variable("b/w", [2], initializer=tf.ones_initializer())
        slim.local_variable(3.0, name="local")
        slim.global_variable(4.0, name="a_global")
        other = tf.get_variable("other", [], initializer=tf.ones_initializer())
        slim.add_model_variable(other)
        names = [[v.op.name for v in found] for found in (
            slim.get_variables_by_name("w"), slim.get_variables_by_suffix("w", "a"), slim.get_local_variables(),
            slim.get_model_variables(), slim.filter_variables(tf.global_variables(), ["^a"], ["b/"]),
            slim.filter_variables(tf.global_variables(), ["w"], reg_search=False))]
        names += [slim.get_unique_variable("a/w") is one, slim.get_variable_full_name(one), outcome(lambda: slim.get_unique_variable("no"))]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            slim.assign_from_values_fn({"a/w": np.full((2, 2), 5.0), "other": np.array(6.0)})(sess)
            path = tf.train.Saver().save(sess, str(tmp_path / tf.__name__ / "m"))
            sess.run(tf.global_variables_initializer())
            assign, feed = slim.assign_from_checkpoint(path, {"a/w": one, "gone": other}, ignore_missing_vars=True)
            sess.run(assign, feed)
            values = [v.tolist() for v in sess.run([one, other])]
        return [*names, values, outcome(lambda: slim.assign_from_checkpoint(path, {"gone": other}))]
    ours, others = graphs(program)
    assert ours == others


def test_sizes_of_models(capsys):
    said = []
    for tf, slim in SYSTEMS:
        with tf.Graph().as_default():
            slim.fully_connected(tf.ones([2, 3], name="x"), 4)
            sizes = slim.model_analyzer.analyze_vars(tf.global_variables(), print_info=True)
            said.append((sizes, capsys.readouterr().out, slim.model_analyzer.analyze_ops(tf.get_default_graph()) > 20))
    assert said[0] == said[1]


def test_summaries_of_tensors():
    def program(tf, slim):
        s = slim.summaries
        x = tf.constant([0.0, 1.0], name="x")
        made = [s.add_histogram_summary(x), s.add_scalar_summary(x[0], "n", "p"), s.add_zero_fraction_summary(x, "z", print_summary=True),
                s.add_image_summary(tf.zeros([1, 2, 2, 1], name="i"), prefix="p")]
        made += s.add_histogram_summaries([x], "q") + s.add_scalar_summaries([x[1]]) + s.add_zero_fraction_summaries([x], "r")
        return {str(i): m for i, m in enumerate(made)} | {"names": [m.op.name for m in made],
                                                          "held": [t.op.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)]}
    in_both(program)


def test_a_program_trains_from_records_and_evaluates(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "slim_records.py", cwd=tmp_path)
    assert code == 0, err
    found = dict(zip(*[iter(out.splitlines()[-1].split())] * 2))
    assert float(found["accuracy"]) >= 0.9 and float(found["recall"]) >= 0.8, (out, err)
    assert "conv1/weights:0 (float32_ref 3x3x3x8) [216, bytes: 864]" in out and "Total size of variables: 1978" in out, out
    assert "INFO:tensorflow:Evaluation [2/2]" in err and (tmp_path / "train" / "model.ckpt-60.index").exists(), err


def _layers():
    return weft.contrib.layers


def test_layers_without_scopes_are_named_by_their_functions():
    with weft.Graph().as_default():
        x = weft.zeros([1, 8, 8, 3])
        assert weft.contrib.slim.repeat(x, 2, weft.contrib.slim.conv2d, 4, 3).op.name == "Repeat/convolution2d_2/Relu"
        assert weft.contrib.slim.stack(weft.zeros([2, 3]), _layers().elu, [4, 5]).op.name == "Stack/fully_connected_2/Elu"
        assert weft.contrib.slim.stack(weft.zeros([2, 3]), _layers().linear, [4]).op.name == "Stack_1/fully_connected_1/BiasAdd"


def test_the_keys_of_an_arg_scope_are_texts():
    scope = weft.contrib.slim.arg_scope
    with scope([weft.contrib.slim.conv2d], stride=2) as made:
        key = weft.contrib.framework.arg_scope_func_key(weft.contrib.slim.conv2d)
        assert made == {key: {"stride": 2}} and isinstance(key, str) and weft.contrib.framework.current_arg_scope() == made
    with pytest.raises(ValueError, match="kwargs must be empty"):
        scope(made, stride=1)
    with pytest.raises(TypeError, match="list/tuple"):
        scope(weft.contrib.slim.conv2d, stride=1)


def test_gradients_are_multiplied_and_checked():
    multiply = weft.contrib.slim.learning.multiply_gradients
    with weft.Graph().as_default(), weft.Session() as sess:
        v, w = weft.Variable([1.0, 2.0]), weft.Variable([[1.0], [2.0]], name="w")
        rows = weft.IndexedSlices(weft.constant([[3.0]]), weft.constant([1]), weft.constant([2, 1]))
        (g, _), (r, _) = multiply([(weft.constant([1.0, 1.0]), v), (rows, w)], {v: 2.0, "w": 3})
        assert sess.run([g, r.values])[0].tolist() == [2, 2] and sess.run(r.values).tolist() == [[9]]
        for given, by, said in (((g, v), {v: 1}, "must be a list"), ([(g, v)], {}, "is empty"), ([(g, v)], 3, "must be a dict"),
                                ([(None, v)], {v: 1}, "Requested multiple of `None` gradient")):
            with pytest.raises(ValueError, match=said):
                multiply(given, by)


def test_training_writes_a_trace_of_some_steps(tmp_path):
    with weft.Graph().as_default():
        loss = weft.square(weft.get_variable("v", [], initializer=weft.ones_initializer()))
        weft.contrib.slim.losses.add_loss(loss)
        step = weft.contrib.slim.learning.create_train_op(loss, weft.train.GradientDescentOptimizer(0.1))
        for given, said in ((dict(trace_every_n_steps=1), "trace_every_n_steps because logdir=None"),
                            (dict(saver=weft.train.Saver()), "saver because logdir=None"), (dict(number_of_steps=0), "positive number")):
            with pytest.raises(ValueError, match=said):
                weft.contrib.slim.learning.train(step, None, **given)
        weft.contrib.slim.learning.train(step, str(tmp_path), number_of_steps=4, trace_every_n_steps=2, log_every_n_steps=0)
    assert len(list(tmp_path.glob("tf_trace-*.json"))) == 2


def test_the_mean_of_a_batch_norm_starts_without_bias():
    with weft.Graph().as_default(), weft.Session() as sess:
        x = weft.constant(np.random.RandomState(3).rand(6, 2, 2, 3), weft.float32)
        _layers().batch_norm(x, decay=0.9, zero_debias_moving_mean=True, scope="bn")
        updates = weft.get_collection(weft.GraphKeys.UPDATE_OPS)
        assert [u.op.name for u in updates] == ["bn/AssignMovingAvg", "bn/AssignMovingAvg_1"]
        sess.run(weft.global_variables_initializer())
        sess.run(updates)
        mean = next(v for v in weft.global_variables() if v.op.name == "bn/moving_mean")
        np.testing.assert_allclose(sess.run(mean), x.eval().mean((0, 1, 2)), rtol=1e-4)


def test_shapes_and_regularizers_of_layers():
    with weft.Graph().as_default(), weft.Session() as sess:
        x = weft.placeholder(weft.float32, [None, None, None, 2])
        made = _layers().conv2d_transpose(x, 3, 3, stride=2)
        assert made.shape.as_list() == [None, None, None, 3]
        sess.run(weft.global_variables_initializer())
        assert sess.run(made, {x: np.zeros([1, 4, 5, 2])}).shape == (1, 8, 10, 3)
        with pytest.raises(ValueError, match="rank 4, got 5"):
            _layers().conv2d(weft.zeros([1, 2, 3, 4, 5]), 1, 1)
        with pytest.raises(ValueError, match="at least 2 not: 1"):
            _layers().fully_connected(weft.zeros([3]), 1)
        assert _layers().sum_regularizer([None]) is None
        assert sess.run(_layers().apply_regularization(_layers().l2_regularizer(0.0), [weft.constant(1.0)])) == 0
        with pytest.raises(ValueError, match="must return a scalar"):
            _layers().apply_regularization(weft.identity, [weft.constant([1.0])])
        out = _layers().avg_pool2d(x, 2, outputs_collections="ends")
        assert out.aliases == ["AvgPool2D"] and _layers().utils.convert_collection_to_dict("ends") == {"AvgPool2D": out}
        assert _layers().instance_norm(weft.zeros([1, 2, 2, 3])).op.name.startswith("InstanceNorm/instancenorm")
