"""A name that Weft lacks: one error, with the program's line, what to use instead, and suggestions that are public names."""
import abc
import copy
import inspect
import pickle
import re

import pytest

import scripts
import weft
from test_namespaces import MODULES
from weft._core.framework import absent

# Read so often while a graph is built that they keep Python's own error.
FAST = {weft.Tensor, weft.Operation, weft.Graph, weft.Variable, weft.SparseTensor, weft.IndexedSlices, weft.DType, weft.TensorShape,
        weft.Dimension}
AT = r" is not in Weft \(%s, line \d+\): " % re.escape(__file__)


def public_classes():
    return {value for module in MODULES.values() for name in module.__all__ if inspect.isclass(value := getattr(module, name))}


def told(code, kind=AttributeError, **names):
    with pytest.raises(kind) as found:
        exec(compile(code, __file__, "exec"), {"weft": weft, **names})
    return str(found.value)


@pytest.mark.parametrize("namespace", sorted(MODULES))
def test_every_public_module_names_what_it_lacks(namespace):
    name = namespace + ".hologram"
    assert re.match(re.escape(name) + AT, told("module.hologram", module=MODULES[namespace]))
    path = MODULES[namespace].__name__
    assert re.match(re.escape(name) + AT, told("from %s import hologram" % path, ImportError))
    assert not hasattr(MODULES[namespace], "hologram") and getattr(MODULES[namespace], "hologram", 3) == 3


def test_public_classes_name_what_they_lack():
    """Those with the metaclass absent.Named: tensors and what else is read too often keep Python's error."""
    named = {c for c in public_classes() if isinstance(c, absent.Named) and c.__module__.startswith("weft") and "._" not in c.__module__}
    assert len(named) > 450 and not FAST & named
    assert {weft.data.Dataset, weft.Session, weft.train.Saver, weft.train.Optimizer, weft.estimator.Estimator, weft.GraphKeys,
            weft.estimator.ModeKeys, weft.train.SessionRunHook, weft.layers.Layer, weft.losses.Reduction, weft.ConfigProto} <= named
    for cls in named:
        said = told("cls.hologram", cls=cls)
        assert re.match(r"tf[\w.]*\.%s\.hologram" % cls.__qualname__ + AT, said), said
        assert not hasattr(cls, "hologram")


@pytest.mark.parametrize("code, public, near", [
    ("weft.distribute.MirroredStrategy(['/cpu:0']).experimental_run_v3", "tf.distribute.MirroredStrategy", "experimental_run_v2"),
    ("weft.distributions.Normal(0.0, 1.0).samples", "tf.distributions.Normal", "sample"),
    ("weft.distributions.Normal.samples", "tf.distributions.Normal", "sample"),
    ("weft.keras.metrics.Mean.results", "tf.keras.metrics.Mean", "result"),
    ("weft.keras.callbacks.EarlyStopping().on_epoch_ends", "tf.keras.callbacks.EarlyStopping", "on_epoch_end"),
    ("weft.keras.Sequential().addd", "tf.keras.Sequential", "add"),
    ("weft.train.Server.create_server", "tf.train.Server", "create_local_server"),
    ("weft.train.Checkpoint().saves", "tf.train.Checkpoint", "save"),
    ("weft.estimator.ModeKeys.TRAINS", "tf.estimator.ModeKeys", "TRAIN"),
    ("weft.contrib.seq2seq.TrainingHelper.initializer", "tf.contrib.seq2seq.TrainingHelper", "initialize"),
    ("weft.ConfigProto().gpu_option", "tf.ConfigProto", "gpu_options"),
    ("weft.train.Example().feature", "tf.train.Example", "features"),
    ("weft.ragged.constant([[1]]).to_tensors", "tf.RaggedTensor", "to_tensor")])
def test_objects_and_classes_of_all_kinds_name_what_they_lack(code, public, near):
    with weft.Graph().as_default():
        said = told(code)
    assert re.match(re.escape("%s.%s" % (public, code.rpartition(".")[2])) + AT, said) and re.search(r"did you mean .*\b%s\b" % near, said)


def test_tensors_name_what_only_eager_mode_has():
    for code in ("weft.constant(1).numpy()", "weft.Variable(1.0).numpy()", "weft.Tensor.numpy"):
        with weft.Graph().as_default():
            assert "Weft has no eager mode: use sess.run(" in told(code)
            assert not hasattr(weft.constant(1), "numpy")


@pytest.mark.parametrize("code, words", [
    ("weft.errors.NotFound", "did you mean NotFoundError?"), ("weft.contrib.opt.AdamW", "did you mean AdamWOptimizer?"),
    ("weft.nn.softmax_cross_entropy", "did you mean tf.losses.softmax_cross_entropy?"),
    ("weft.contrib.crf.hologram", "dir(tf.contrib.crf) lists what it has"),
    ("weft.compat.v2.distribute.coordinator", "Weft has no eager mode"), ("weft.compat.v2.lite.Interpreter", "TensorFlow Lite"),
    ("weft.config.experimental.enable_distributed_strategy", "DeepRec")])
def test_advice_is_about_the_name(code, words):
    assert words in told(code)


def test_objects_name_what_they_lack():
    data = weft.data.Dataset.range(3)
    assert re.match(r"tf\.Session\.hologram" + AT + r"help\(tf\.Session\)", told("weft.Session().hologram"))
    assert "did you mean shuffle?" in told("data.shufle(3)", data=data)
    assert not hasattr(data, "hologram") and copy.copy(data) is not None
    error = pytest.raises(AttributeError, getattr, data, "hologram").value
    assert type(pickle.loads(pickle.dumps(error))) is AttributeError and error.args == (str(error),)


def test_a_property_that_fails_shows_its_own_error():
    class Hook(weft.train.SessionRunHook):
        @property
        def broken(self):
            return self.nothing
    assert told("hook.broken", hook=Hook()) == "'Hook' object has no attribute 'nothing'"


def test_a_program_may_derive_from_a_public_class_and_an_abstract_one():
    class Both(weft.train.SessionRunHook, abc.ABC):
        @abc.abstractmethod
        def method(self):
            pass
    with pytest.raises(TypeError, match="abstract"):
        Both()


def test_suggestions_are_public_names():
    public = {name for module in MODULES.values() for name in module.__all__}
    for code in ("weft.plaseholder", "weft.train.AdamOptimiser", "weft.data.Dataset.from_tensor_slice", "weft.GraphKeys.GLOBAL_VARIABLE",
                 "weft.relu", "weft.conv2d_transposed", "weft.nn.tensordots"):
        said = told(code)
        found = re.search(r"did you mean (.*)\?", said)
        if found:
            for name in found.group(1).split(" or "):
                leaf = name.rpartition(".")[2]
                assert leaf in public or hasattr(weft.data.Dataset, leaf) or hasattr(weft.GraphKeys, leaf), said
    assert told("weft.relu").endswith("did you mean tf.nn.relu?")


@pytest.mark.parametrize("name, word", [
    ("EmbeddingVariableOption", "DeepRec"), ("get_embedding_variable", "DeepRec"), ("CounterFilter", "DeepRec"),
    ("CBFFilter", "DeepRec"), ("GlobalStepEvict", "DeepRec"), ("L2WeightEvict", "DeepRec"), ("train.AdamAsyncOptimizer", "DeepRec"),
    ("train.AdagradDecayOptimizer", "DeepRec"), ("feature_column.categorical_column_with_embedding", "DeepRec"),
    ("data.Dataset.as_numpy_iterator", "eager"),
    ("compat.v2.experimental.numpy", "eager"), ("distribute.TPUStrategy", "TPU"), ("summary.create_file_writer", "eager"),
    ("contrib.timeseries.StructuralEnsembleRegressor", "ARRegressor"),
    ("tpu.rewrite", "TPU"), ("lite.Interpreter", "Lite"), ("contrib.lite.toco_convert", "Lite")])
def test_names_of_other_systems_say_why_and_what_to_use(name, word):
    said = told("weft." + name)
    assert re.match(r"tf\.[\w.]+" + AT, said) and word in said and ": use " in said, said


def test_a_module_that_is_misspelled_is_suggested(tmp_path):
    lines = {"from tensorflow.python.ops import array_opps": "array_ops", "from tensorflow.python.framework import opss": "ops",
             "from tensorflow.core.protobuf import configs_pb2": "config_pb2",
             "from tensorflow.core.framework.graph_pb2 import GraphDefs": "GraphDef",
             "from tensorflow.contrib.layers.python.layers import initializerss": "initializers"}
    (tmp_path / "program.py").write_text("".join("try:\n    %s\nexcept ImportError as e:\n    print(e)\n" % line for line in lines))
    code, out, err = scripts.run(tmp_path / "program.py", cwd=tmp_path)
    assert code == 0, err
    for number, (near, said) in enumerate(zip(lines.values(), out.splitlines(), strict=True)):
        assert "is not in Weft (%s, line %d): did you mean %s?" % (tmp_path / "program.py", 4 * number + 2, near) in said
