"""tf.compat.v2: each name is TensorFlow's, has its parameters, and does what it does in graphs."""
import inspect
import types

import numpy as np
import pytest

from both import both, oracle, weft
from weft._core.compat_v2 import modules, own, signatures

V2 = oracle.compat.v2
# Names of TensorFlow's compat.v2 that are not here.  Those of the first line need eager mode or belong to other systems.
NOT_HERE = """
autodiff config.experimental config config.optimizer data.NumpyIterator data.experimental debugging.experimental distribute
dtypes.experimental experimental keras.dtensor keras.export lite mlir nest profiler quantization.experimental summary
saved_model.experimental test.experimental test.with_eager_op_as_function tpu types xla __internal__ test.compute_gradient
autograph.to_code autograph.to_graph data.IteratorSpec errors.OperatorNotAllowedInGraphError estimator
feature_column.shared_embeddings inside_function keras.activations.gelu keras.backend keras.callbacks keras.estimator
keras.experimental keras.layers keras.metrics.experimental keras.mixed_precision keras.models.experimental keras.optimizers
keras.preprocessing keras.regularizers keras.utils linalg.banded_triangular_solve math.bincount metrics.experimental
nn.RNNCellDeviceWrapper nn.RNNCellDropoutWrapper nn.RNNCellResidualWrapper nn.fractional_avg_pool nn.fractional_max_pool
nn.isotonic_regression optimizers saved_model.LoadOptions sparse.map_values train.CheckpointView train.TrackableView
StaticHashTable keras.protobuf
"""


def theirs(path):
    found = V2
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def paths():
    """Every name that is not a module."""
    return [(m + "." + n).lstrip(".") for m, table in modules._ENTRIES.items() for n, e in table.items() if e is not None]


def test_every_name_is_tensorflows():
    assert len(paths()) > 2000
    absent = [p for p in paths() if not found(theirs, p)]
    assert absent == []


def found(look, path):
    try:
        look(path)
        return True
    except AttributeError:
        return False


def ours(path):
    value = weft.compat.v2
    for part in path.split("."):
        value = getattr(value, part)
    return value


def test_every_name_can_be_used():
    assert [p for p in paths() if not found(ours, p)] == []


def walk(module, prefix, seen):
    for name in sorted(dir(module)):
        if name[0] == "_" or name in ("compat", "raw_ops"):
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        if not isinstance(value, types.ModuleType):
            seen.append(prefix + name)
        elif value.__name__.startswith(("tensorflow", "keras", "tf_keras")) and prefix.count(".") < 6:
            walk(value, prefix + name + ".", seen)
    return seen


def test_what_is_missing_is_listed():
    listed = NOT_HERE.split()
    missing = [p for p in walk(V2, "", []) if not found(ours, p)]
    assert [p for p in missing if not any((p + ".").startswith(n + ".") for n in listed)] == []
    assert len(missing) < 570


@pytest.mark.parametrize("path", sorted({**signatures.FUNCTIONS, **own.OWN}))
def test_parameters_are_tensorflows(path):
    mine, reference = ours(path), theirs(path)
    if inspect.isclass(mine) and path in ("Variable", "losses.Reduction", "keras.losses.Reduction", "image.ResizeMethod"):
        return
    names = [p for p in inspect.signature(mine).parameters]
    wanted = [p for p in inspect.signature(reference).parameters]
    later = {"file_format", "layout", "experimental_enable_variable_lifting"}  # parameters of TensorFlow 2 alone
    if "kwargs" in names:  # a layer passes them on
        assert set(wanted) - set(names) <= {"time_major", "synchronized"}
    else:
        assert names == [p for p in wanted if p not in later]


def x(v2, shape=(2, 3), seed=1):
    return v2.constant(np.random.RandomState(seed).rand(*shape).astype(np.float32))


CALLS = """
v2.reduce_sum(x(v2), 1, True)
v2.reduce_mean(x(v2), axis=0)
v2.reduce_max(x(v2), 1)
v2.math.reduce_logsumexp(x(v2), 1)
v2.reduce_all(x(v2) > 0.2, 1)
v2.argmax(x(v2), 1, v2.int32)
v2.argmin(x(v2), 1)
v2.expand_dims(x(v2), 1)
v2.squeeze(x(v2, (1, 2)), 0)
v2.transpose(x(v2), [1, 0])
v2.pad(x(v2), [[1, 0], [0, 1]], "CONSTANT", 3)
v2.shape(x(v2), v2.int64)
v2.size(x(v2))
v2.gather(x(v2), [0, 1], None, 1)
v2.gather_nd(x(v2), [[0], [1]], 1)
v2.zeros_like(x(v2), v2.int32)
v2.ones_like(x(v2))
v2.where(x(v2) > 0.3, x(v2), 7.)
v2.boolean_mask(x(v2), [True, False, True], 1)
v2.norm(x(v2), axis=1, keepdims=True)
v2.constant(3., shape=[2, 2])
v2.constant([1, 2, 3, 4], shape=[2, 2])
v2.convert_to_tensor(3, dtype_hint=v2.float32)
v2.convert_to_tensor(3, None, v2.float32)
v2.tuple([x(v2), x(v2)])[1]
v2.cond(v2.constant(True), lambda: v2.constant(1), lambda: v2.constant(2))
v2.while_loop(lambda i: i < 3, lambda i: [i + 1], [v2.constant(0)])[0]
v2.gradients(x(v2) * x(v2), [v2.constant(1.)], unconnected_gradients="zero")[0]
v2.math.count_nonzero(x(v2), 1)
[repr(v2.get_static_value(value)) for value in (None, True, 3, [1, True], v2.constant(2))]
v2.linalg.matrix_transpose(tf.placeholder_with_default([[[1., 2.], [3., 4.]]], None))
v2.math.confusion_matrix([0, 1], [1, 1], 2, [3, 4])
v2.math.in_top_k([1, 0], x(v2), 1)
v2.math.softmax(x(v2), 0)
v2.nn.log_softmax(x(v2), 1)
v2.nn.gelu(x(v2))
v2.nn.gelu(x(v2), True)
v2.nn.moments(x(v2), [1], keepdims=True)[1]
v2.nn.weighted_moments(x(v2), [1], x(v2))[0]
v2.nn.crelu(x(v2), 0)
v2.nn.dropout(x(v2), 0.5, seed=3)
v2.nn.embedding_lookup([x(v2), x(v2, seed=2)], [0, 3])
v2.nn.sigmoid_cross_entropy_with_logits(x(v2), x(v2))
v2.nn.softmax_cross_entropy_with_logits(x(v2), x(v2), 0)
v2.nn.sparse_softmax_cross_entropy_with_logits([1, 2], x(v2))
v2.nn.weighted_cross_entropy_with_logits(x(v2), x(v2), 2.)
v2.nn.conv2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2, 3)), 1, "SAME")
v2.nn.conv2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2, 3)), 1, "VALID", dilations=2)
v2.nn.conv1d(x(v2, (1, 4, 2)), x(v2, (2, 2, 3)), 1, "SAME")
v2.nn.conv2d_transpose(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 3, 2)), [1, 8, 8, 3], 2)
v2.nn.conv3d(x(v2, (1, 3, 3, 3, 1)), x(v2, (2, 2, 2, 1, 2)), [1, 1, 1, 1, 1], "SAME")
v2.nn.conv3d_transpose(x(v2, (1, 2, 2, 2, 2)), x(v2, (2, 2, 2, 1, 2)), [1, 4, 4, 4, 1], 2)
v2.nn.convolution(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2, 3)), dilations=[2, 2])
v2.nn.depthwise_conv2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2, 3)), [1, 1, 1, 1], "SAME")
v2.nn.separable_conv2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2, 1)), x(v2, (1, 1, 2, 3)), [1, 1, 1, 1], "SAME")
v2.nn.pool(x(v2, (1, 4, 4, 2)), [2, 2], "MAX", [2, 2], "SAME")
v2.nn.avg_pool2d(x(v2, (1, 4, 4, 2)), 2, 2, "SAME")
v2.nn.max_pool_with_argmax(x(v2, (1, 4, 4, 2)), 2, 2, "SAME")[1]
v2.nn.dilation2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2)), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
v2.nn.erosion2d(x(v2, (1, 4, 4, 2)), x(v2, (2, 2, 2)), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
v2.nn.space_to_depth(x(v2, (1, 4, 4, 2)), 2)
v2.nn.depth_to_space(x(v2, (1, 2, 2, 4)), 2)
v2.space_to_batch(x(v2, (1, 4, 4, 2)), [2, 2], [[0, 0], [0, 0]])
v2.batch_to_space(x(v2, (4, 2, 2, 1)), [2, 2], [[0, 0], [0, 0]])
v2.nn.ctc_loss([[1, 2]], x(v2, (4, 1, 3)), [2], [4], blank_index=0)
v2.random.poisson([2], 3., seed=2)
v2.reverse_sequence(x(v2), [1, 2], 1)
v2.strings.length(["ab", "c"])
v2.strings.substr(["abc"], 1, 2)
v2.strings.reduce_join([["a", "b"]], 1, separator="-")
v2.strings.to_hash_bucket(["a"], 10)
v2.strings.to_number(["3"], v2.int32)
v2.strings.split(["a b", "c"]).values
v2.io.decode_raw(["ab"], v2.uint8, fixed_length=4)
v2.io.decode_raw(["ab"], v2.uint8)
v2.io.decode_csv(["1,,3"], [[0], [5], [0]], na_value="x")[1]
v2.sparse.to_dense(v2.sparse.add(v2.sparse.eye(2), v2.sparse.eye(2)))
v2.sparse.to_dense(v2.sparse.concat(0, [v2.sparse.eye(2), v2.sparse.eye(2)]))
v2.sparse.reduce_sum(v2.sparse.eye(2), 1)
v2.sparse.reduce_max(v2.sparse.eye(2), 1, True)
v2.sparse.segment_sum(x(v2), [0, 1], [0, 1], 3)
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5])
v2.image.resize(x(v2, (4, 4, 2)), [3, 5], "nearest")
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5], "bicubic")
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5], "area")
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5], "lanczos3")
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5], "gaussian", antialias=True)
v2.image.resize(x(v2, (1, 4, 4, 2)), [3, 5], v2.image.ResizeMethod.BILINEAR, True, True)
v2.image.resize_with_pad(x(v2, (1, 4, 3, 2)), 5, 7)
v2.image.crop_and_resize(x(v2, (1, 4, 4, 2)), [[0., 0, 1, 1]], [0], [2, 2])
v2.image.draw_bounding_boxes(x(v2, (1, 4, 4, 3)), [[[0., 0, .5, .5]]], [[1., 0, 0]])
v2.image.extract_glimpse(x(v2, (1, 4, 4, 2)), [2, 2], [[0.2, 0.1]])
v2.image.stateless_random_brightness(x(v2, (4, 4, 3)), 0.3, (1, 2))
v2.image.stateless_random_contrast(x(v2, (4, 4, 3)), 0.3, 0.9, (1, 2))
v2.image.stateless_random_saturation(x(v2, (4, 4, 3)), 0.3, 0.9, (1, 2))
v2.image.stateless_random_hue(x(v2, (4, 4, 3)), 0.3, (1, 2))
v2.image.stateless_random_flip_left_right(x(v2, (4, 4, 3)), (1, 2))
v2.image.stateless_random_flip_left_right(x(v2, (5, 4, 4, 3)), (1, 2))
v2.image.stateless_random_flip_up_down(x(v2, (4, 4, 3)), (1, 3))
v2.image.stateless_random_crop(x(v2, (6, 5, 3)), [2, 2, 3], (1, 2))
v2.image.stateless_random_jpeg_quality(x(v2, (8, 8, 3)), 20, 90, (1, 2))
v2.image.stateless_sample_distorted_bounding_box([40, 40, 3], [[[0.1, 0.1, .5, .5]]], (1, 2))[0]
v2.image.sample_distorted_bounding_box([40, 40, 3], [[[0.1, 0.1, .5, .5]]], 5)[0]
v2.linalg.eigvals(v2.constant([[2., 0.], [0., 3.]]))
v2.eig(v2.constant([[2., 0.], [0., 3.]]))[0]
v2.Variable([1., 2.]) + 1.
v2.Variable(1, dtype=v2.int64, name="w").name
v2.random_normal_initializer(seed=3)([2, 3])
v2.random_uniform_initializer(-1., 1., 4)([2, 3])
v2.random_normal_initializer()([2, 3])
v2.constant_initializer([1., 2.])([2])
v2.zeros_initializer()([2], v2.int32)
v2.ones_initializer()([2])
v2.initializers.GlorotUniform(seed=3)([2, 3])
v2.initializers.he_normal(seed=3)([2, 3])
v2.keras.initializers.VarianceScaling(2., "fan_out", "untruncated_normal", 5)([2, 3])
v2.keras.initializers.Orthogonal(2., 7)([4, 3])
v2.keras.initializers.TruncatedNormal(seed=7)([4, 3])
v2.keras.initializers.Identity(2.)([2, 3])
v2.keras.initializers.Constant(2.)([2, 3])
v2.keras.initializers.RandomUniform(seed=7).get_config()
v2.losses.huber([[1., 5.]], [[2., 2.]])
v2.losses.Reduction.SUM
v2.losses.MeanSquaredError()([[1.]], [[3.]])
v2.executing_eagerly()
isinstance(tf.get_variable("a", []), v2.Variable)
isinstance(1, v2.Variable)
[v.name for v in [v2.Variable(1.)] if v in tf.trainable_variables()]
v2.keras.layers.GRU(2, kernel_initializer="ones", recurrent_initializer="ones", bias_initializer="ones")(x(v2, (1, 3, 2)))
v2.keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones", return_sequences=True)(x(v2, (1, 3, 2)))
v2.keras.layers.BatchNormalization()(x(v2), training=True)
v2.keras.layers.BatchNormalization(trainable=False)(x(v2), training=True)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls(call):
    def program(tf):
        return eval(call, {"v2": tf.compat.v2, "x": x, "tf": tf})
    both(program, same_nodes=False)


ERRORS = """
v2.constant([1, 2], shape=[3])
v2.name_scope(None)
v2.device(lambda op: "/cpu:0")
v2.reduce_sum(v2.zeros([2]), keep_dims=True)
v2.nn.softmax(v2.zeros([2]), dim=0)
v2.nn.dropout(v2.zeros([2]))
v2.image.resize(v2.zeros([2]), [1, 1])
v2.image.resize(v2.zeros([2, 2, 3]), [1, 1], "none")
v2.nn.dilation2d(v2.zeros([1, 4, 4, 2]), v2.zeros([2, 2, 2]), [1, 1, 1, 1], "SAME", "NCHW", [1, 1, 1, 1])
v2.Variable()
v2.name_scope("a", values=[])
v2.nn.gelu(v2.constant([1]))
v2.keras.initializers.Zeros(1)
"""


@pytest.mark.parametrize("call", ERRORS.strip().splitlines())
def test_errors(call):
    kinds = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), pytest.raises((TypeError, ValueError, RuntimeError)) as raised:
            eval(call, {"v2": tf.compat.v2, "tf": tf})
        kinds.append(type(raised.value))
    assert kinds[0] == kinds[1]


def test_scopes_have_tensorflows_names():
    def program(tf):
        v2 = tf.compat.v2
        found = []
        with v2.name_scope("a") as scope, v2.name_scope("b"):
            found += [scope, v2.get_current_name_scope(), v2.constant(1).name]
        with v2.name_scope("a"):
            found.append(v2.constant(1).name)
        with v2.name_scope("a/"):
            found.append(v2.constant(1).name)
        return found + [v2.name_scope("c").name]
    both(program)


def test_modules_and_classes_can_be_imported_and_pickled():
    import importlib
    import pickle
    assert importlib.import_module("weft.compat.v2.keras.layers") is weft.compat.v2.keras.layers
    for made in own.OWN.values():
        assert not made.__module__.startswith("weft._core.compat_v2"), made
        assert pickle.loads(pickle.dumps(made)) is made


def test_errors_say_what_to_use():
    for name, words in {"placeholder": "use tf.compat.v1.placeholder", "data.NumpyIterator": "dir(tf.compat.v2)",
                        "redduce_sum": "did you mean reduce_sum", "nn.softmaxx": "did you mean softmax",
                        "experimental.numpy": "eager", "test.compute_gradient": "tf.compat.v1.test.compute_gradient",
                        "estimator.DNNClassifier": "tf.compat.v1.estimator"}.items():
        with pytest.raises(AttributeError, match="tf.compat.v2.%s is not in Weft .*test_compat_v2.py, line" % name) as raised:
            ours(name)
        assert words in str(raised.value)
