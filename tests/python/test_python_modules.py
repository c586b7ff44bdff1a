"""The table of modules of tensorflow.python and tensorflow.contrib that programs import by their whole path."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

import scripts
from weft._core.run.modules import MODULES

PROGRAM = """
import importlib, sys
from weft._core.run import runner
from weft._core.run.modules import MODULES
runner.install()
for name in MODULES:
    importlib.import_module(name)
from tensorflow.python.util import deprecation
deprecation._PRINT_DEPRECATION_WARNINGS = False
old = deprecation.deprecated(None, "Use g.")(lambda: 3)
assert old() == 3
try:
    from tensorflow.python.ops import gen_nonsense_ops
except ImportError as e:
    assert "gen_nonsense_ops is not in Weft" in str(e), e
try:
    from tensorflow.python.ops.gen_nn_ops import max_pol
except ImportError as e:
    assert "max_pool" in str(e) and "line" in str(e), e
try:
    from tensorflow.python.eager import context
    context.eager_mode()
except NotImplementedError as e:
    assert "tf.Session" in str(e)
print("imported", len(MODULES))
"""


def test_every_module_of_the_table_is_imported():
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONPATH": scripts.PACKAGE}, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.stdout == "imported %d\n" % len(MODULES), done.stderr[-3000:]
    assert "is deprecated" not in done.stderr


def test_modules_of_the_table_are_tensorflows():
    """A path that TensorFlow never had would be ours alone: 2.15 has most, and the rest are of 1.x."""
    found = importlib.util.find_spec("tensorflow")
    if found is None:
        pytest.skip("TensorFlow is not installed")
    root = pathlib.Path(found.origin).parent
    python = [n for n in MODULES if n.startswith("tensorflow.python.") and n.count(".") > 2]
    there = [n for n in python if (root / "/".join(n.split(".")[1:])).with_suffix(".py").exists() or
             (root / "/".join(n.split(".")[1:])).is_dir()]
    assert len(there) > 0.7 * len(python)


USES = """
import glob, json, os, sys
import tensorflow as tf
try:
    tf, oracle = tf.compat.v1, tf.__version__.startswith("2")
except AttributeError:
    oracle = False
from tensorflow.python.framework import ops
from tensorflow.python.ops import summary_op_util, variable_scope
from tensorflow.python.training import device_setter, monitored_session
from tensorflow.python.client import session
from tensorflow.python.util import tf_inspect
if oracle:
    tf.disable_v2_behavior()
    from tensorflow.python.client._pywrap_events_writer import EventsWriter
    from tensorflow_estimator.python.estimator.canned import metric_keys, prediction_keys
    from tensorflow_estimator.python.estimator.util import fn_args
else:
    from tensorflow.python.pywrap_tensorflow import EventsWriter
    from tensorflow.python.estimator.canned import metric_keys, prediction_keys
    from tensorflow.python.estimator.util import fn_args
out = {}
setter = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")
out["devices"] = [setter(tf.NodeDef(name="n", op=op)) for op in ("Variable", "VariableV2", "MatMul", "VarHandleOp")]
out["ps_ops"] = "VariableV2" in device_setter.STANDARD_PS_OPS
with tf.variable_scope("o") as o:
    tf.get_variable("a", [])
with variable_scope._pure_variable_scope("p") as scope:
    v = tf.get_variable("w", [2])
    out["pure"] = [v.name, scope.name, tf.identity(v).name]
with variable_scope._pure_variable_scope(o, reuse=True):
    out["again"] = [tf.get_variable("a").name, tf.constant(1).name]
with summary_op_util.summary_scope("a b", family="f", default_name="d") as made:
    out["family"] = made
with tf.name_scope("s"), summary_op_util.summary_scope("/x?") as made:
    out["tag"] = made
ops.register_proto_function("words", tf.NodeDef, lambda item, export_scope=None: tf.NodeDef(name=item),
                            lambda message, import_scope=None: [message.name, import_scope])
tf.add_to_collection("words", "one")
tf.add_to_collection("words", "two")
meta = tf.train.export_meta_graph()
out["messages"] = [tf.NodeDef.FromString(m).name for m in meta.collection_def["words"].bytes_list.value]
for scope in (None, "in"):
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta, import_scope=scope)
        out.setdefault("words", []).append(graph.get_collection("words"))
try:
    ops.register_proto_function("words", tf.NodeDef)
except KeyError as e:
    out["twice"] = str(e)[:50]
out["proto"] = [ops.get_to_proto_function("words")("n").name, ops.get_from_proto_function("none"), ops.get_collection_proto_type("none")]
x = tf.placeholder(tf.float32, [])
y, z = x * 2., tf.no_op()
handler = session._FetchHandler(tf.get_default_graph(), {"a": [x, y], "b": (z, y)}, {})
out["fetches"] = [[t.name for t in handler.fetches()], [t.name for t in handler.targets()]]


class Hook(tf.train.SessionRunHook):
    def before_run(self, context):
        return tf.train.SessionRunArgs({"y": y}, {x: 3.}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))

    def after_run(self, context, values):
        out["hook"] = [float(values.results["y"]), values.options.trace_level, len(values.run_metadata.step_stats.dev_stats) > 0]
        context.request_stop()


with tf.Session() as sess:
    hooked = monitored_session._HookedSession(sess, [Hook()])
    out["run"] = [float(hooked.run(y)), hooked.should_stop(), hooked.graph is sess.graph]
    for feeds in ({}, {x: 1.}):
        try:
            monitored_session._HookedSession(sess, [Hook()] if feeds else [Hook(), Hook()]).run(y, feeds)
        except RuntimeError as e:
            out.setdefault("fed", []).append(type(e).__name__)
    out["results"] = repr(handler.build_results(sess, [1., 2.]))
out["args"] = [fn_args(lambda a, b=1: 0), tf_inspect._inspect.isfunction(setter)]
out["keys"] = [{k: v for k, v in vars(c).items() if k.isupper()} for c in (prediction_keys.PredictionKeys, metric_keys.MetricKeys)]
writer = EventsWriter(os.path.join(sys.argv[1], "my"))
for step in (3, 4):
    writer.WriteEvent(tf.Event(step=step))
writer.Flush()
name = writer.FileName()
for to in ("nowhere/file", "file"):
    try:
        tf.gfile.Copy(name if to != "file" else name + ".no", os.path.join(sys.argv[1], to))
    except tf.errors.NotFoundError as e:
        out.setdefault("copied", []).append(os.path.basename(e.message).replace(os.path.basename(name), "NAME"))
writer.Close()
out["events"] = [os.path.basename(name).startswith("my.out.tfevents."), glob.glob(sys.argv[1] + "/*") == [name],
                 [[e.step, e.file_version] for e in tf.train.summary_iterator(name)]]
print(json.dumps(out, sort_keys=True))
"""


def test_private_names_of_libraries_mean_what_they_mean_in_tensorflow(tmp_path):
    """Sonnet, Keras, tensorpack, OpenNMT-tf, Baselines and adanet take these from tensorflow.python."""
    program = tmp_path / "uses.py"
    program.write_text(USES)
    said = {}
    for system in ("weft", "tf"):
        (tmp_path / system).mkdir()
        command = [sys.executable, *(("-m", "weft") if system == "weft" else ()), str(program), str(tmp_path / system)]
        env = {"PYTHONPATH": scripts.PACKAGE} if system == "weft" else {"TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        said[system] = json.loads(done.stdout.splitlines()[-1])
    assert said["weft"] == said["tf"]


def test_names_of_the_tensors_of_tensorflow_1():
    """Keras 2.2 asks these of tensorflow.python.framework.ops; TensorFlow 2.15 has them no more."""
    import weft as tf
    from weft._core.run import python_ops as ops
    with tf.Graph().as_default():
        sparse, variable = tf.SparseTensor([[0]], [1.], [2]), tf.Variable(1.)
        assert [isinstance(t, ops._TensorLike) for t in (tf.constant(1), sparse, 1.)] == [True, True, False]
        assert [ops.is_dense_tensor_like(t) for t in (tf.constant(1), variable, sparse, 1.)] == [True, True, False, False]
        assert ops._as_graph_element(variable).op.name == "Variable" and ops._as_graph_element(3) is None

        class Mine:
            name = dtype = property(lambda self: None)
        ops.register_dense_tensor_like_type(Mine)
        assert ops.is_dense_tensor_like(Mine())
        with pytest.raises(TypeError, match="does not define a `name` property"):
            ops.register_dense_tensor_like_type(int)


def test_linear_operators_of_contrib():
    import weft as tf
    with tf.Graph().as_default(), tf.Session() as sess:
        lower = tf.contrib.linalg.LinearOperatorTriL(tf.ones([2, 2]))
        assert sess.run(lower.to_dense()).tolist() == [[1, 0], [1, 1]]
        assert tf.contrib.linalg.LinearOperatorMatrix is tf.linalg.LinearOperatorFullMatrix


LIBRARIES = """
import inspect
import tensorflow as tf
from tensorflow.contrib import distributions
from tensorflow.python.debug import DumpingDebugWrapperSession
from tensorflow.python.keras import backend
from tensorflow.python.ops import rnn
from tensorflow.python.ops.init_ops_v2 import Zeros
from tensorflow.python.summary.writer.event_file_writer import EventFileWriter
from tensorflow.python.tpu import tpu_feed, tpu_function
from tensorflow.python.tpu.topology import Topology
from tensorflow.python.training import evaluation
from tensorflow.python.util import tf_inspect
from tensorflow_estimator.python.estimator import util
from tensorflow.python.framework.composite_tensor import CompositeTensor
from tensorflow.python.keras.utils import tf_utils
from tensorflow.python.ops.linalg import linear_operator_util
assert isinstance(tf.SparseTensor([[0]], [1], [2]), CompositeTensor) and not isinstance(tf.constant(1), CompositeTensor)
tf_utils.register_symbolic_tensor_type(int)
assert tf_utils.is_symbolic_tensor(1) and not tf_utils.is_symbolic_tensor("1")
class Mine(tf.Module):
    _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES.union(["hidden"])
mine = Mine()
mine.seen, mine.hidden = tf.Variable(1.), tf.Variable(2.)
assert mine.variables == (mine.seen,)
with tf.Session() as sess:
    lower = tf.constant([[2., 0.], [1., 4.]])
    right = tf.ones([3, 2, 1])
    for made in (linear_operator_util.matrix_triangular_solve_with_broadcast(lower, right),
                 linear_operator_util.matrix_solve_with_broadcast(lower, right)):
        assert sess.run(made).tolist() == [[[0.5], [0.125]]] * 3
    assert abs(sess.run(linear_operator_util.cholesky_solve_with_broadcast(lower, right))[2, 1, 0] - 0.03125) < 1e-6
class Meta(type):
    pass
class Parameterized(metaclass=Meta):
    pass
class MyTest(Parameterized, tf.test.TestCase):
    pass
assert all(getattr(distributions, name) is not None or name for name in dir(distributions))
assert tf_inspect.getfullargspec(tf.concat).args == ["values", "axis", "name"]
assert tf_inspect.getfullargspec(tf.compat.v2.reduce_sum).args == ["input_tensor", "axis", "keepdims", "name"]
assert tf_inspect.getfullargspec(tf.compat.v2.reduce_sum).defaults == (None, False, None)
assert tf_inspect.getfullargspec(lambda a, *b, c=1, **d: 0).kwonlydefaults == {"c": 1}
assert tf_inspect.getfullargspec(tf.train.AdamOptimizer).args[:2] == ["self", "learning_rate"]
assert backend.get_graph() is tf.get_default_graph() and backend.set_floatx("float32") is None
assert rnn.rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell
assert evaluation._StopAfterNEvalsHook(3) is not None and tpu_function.get_tpu_context().number_of_shards is None
for made in (DumpingDebugWrapperSession, Topology):
    try:
        made(1)
    except NotImplementedError as e:
        assert "use tf." in str(e), e
try:
    tpu_feed.InfeedQueue
except AttributeError as e:
    assert "tpu_feed.InfeedQueue is not in Weft" in str(e), e
for name in ("Adadelta", "Adagrad", "Adam", "Ftrl", "GradientDescent", "Momentum", "ProximalAdagrad", "RMSProp"):
    assert getattr(tf.train, name + "Optimizer").__base__ is tf.train.Optimizer, name
writer = EventFileWriter("logs", 1)
writer.add_event(tf.Event(step=3))
writer.close()
import glob
assert [e.step for e in tf.train.summary_iterator(glob.glob("logs/*")[0])] == [0, 3]
print("done")
"""


def test_modules_that_libraries_import(tmp_path):
    (tmp_path / "program.py").write_text(LIBRARIES)
    code = "from weft.__main__ import main\nimport sys\nsys.exit(main(['program.py']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": scripts.PACKAGE}, capture_output=True,
                          text=True, timeout=200, check=False)
    assert done.stdout == "done\n", done.stderr[-3000:]
