"""Raises one kind of error for all names that Weft lacks, with the symbol, its replacement and the program's line.

Modules (public.py, runner.py), classes (Named) and their instances (instance_getattr) raise it. The text is built when
it is first read, because hasattr() never reads it.
"""
import abc
import dis
import enum
import importlib
import os
import pkgutil
import sys

from weft._core import PACKAGE

_FORK = "it is of DeepRec, a fork of TensorFlow: use "
_TPU = "it needs a TPU, and Weft runs on CPUs and GPUs: use "
_LITE = "it belongs to TensorFlow Lite: use "
_EAGER = "Weft has no eager mode: use "
_ROWS = "tf.get_variable, whose rows are all kept"
_OTHER_SYSTEMS = (_FORK, _TPU, _LITE, _EAGER)
# The longest prefix of a name in this table gives the replacement.
_INSTEAD = {
    "tf": "`python -m weft --names` lists what is",
    "tf.AdagradDecayOptimizer": _FORK + "tf.train.AdagradOptimizer",
    "tf.CBFFilter": _FORK + _ROWS,
    "tf.CheckpointOption": _FORK + "tf.get_variable and tf.train.init_from_checkpoint",
    "tf.CounterFilter": _FORK + _ROWS,
    "tf.EmbeddingVariableOption": _FORK + "tf.get_variable with a partitioner for a table of fixed size",
    "tf.GlobalStepEvict": _FORK + _ROWS,
    "tf.InitializerOption": _FORK + "tf.get_variable with an initializer",
    "tf.L2WeightEvict": _FORK + _ROWS,
    "tf.StorageOption": _FORK + "tf.get_variable, whose values are in memory",
    "tf.compat.v2": "dir(tf.compat.v2) lists what programs with graphs use of TensorFlow 2; tf.compat.v1 has the names of TensorFlow 1",
    "tf.compat.v2.distribute.coordinator": _EAGER + "tf.estimator.train_and_evaluate",
    "tf.compat.v2.distribute.experimental": _EAGER + "the strategies of tf.compat.v1.distribute.experimental",
    "tf.compat.v2.estimator": "use that of tf.compat.v1.estimator, with an optimizer of tf.train",
    "tf.compat.v2.experimental": _EAGER + "the op of that name in tf",
    "tf.compat.v2.keras.dtensor": _EAGER + "tf.compat.v1.distribute",
    "tf.compat.v2.keras.optimizers": "tf.keras.optimizers has the optimizers of TensorFlow 1.15, and so has this module",
    "tf.compat.v2.nn.RNNCellDropoutWrapper": "use tf.nn.rnn_cell.DropoutWrapper",
    "tf.compat.v2.nn.RNNCellDeviceWrapper": "use tf.nn.rnn_cell.DeviceWrapper",
    "tf.compat.v2.nn.RNNCellResidualWrapper": "use tf.nn.rnn_cell.ResidualWrapper",
    "tf.compat.v2.optimizers": "tf.keras.optimizers has the optimizers of TensorFlow 1.15, and so has this module",
    "tf.compat.v2.profiler": _EAGER + "tf.train.ProfilerHook, or tf.profiler.Profiler",
    "tf.Tensor.numpy": _EAGER + "sess.run(tensor) of a tf.Session, or tensor.eval()",
    "tf.Variable.numpy": _EAGER + "sess.run(variable) of a tf.Session, or variable.eval()",
    "tf.config": "give a tf.ConfigProto to tf.Session, and tf.train.replica_device_setter to tf.device",
    "tf.config.experimental.enable_distributed_strategy": _FORK + "tf.distribute.experimental.ParameterServerStrategy",
    "tf.contrib": "tf.layers, tf.nn, tf.train, tf.data and tf.estimator have the successors of contrib",
    "tf.contrib.cluster_resolver": _TPU + "tf.train.ClusterSpec, or tf.distribute.cluster_resolver",
    "tf.contrib.eager": _EAGER + "the op of that name in tf, in a graph that a tf.Session runs",
    "tf.contrib.layers": "tf.layers has most layers",
    "tf.contrib.learn": "tf.estimator has its successor",
    "tf.contrib.lite": _LITE + "tf.saved_model; Weft's own library serves the model",
    "tf.contrib.metrics": "tf.metrics has what is",
    "tf.contrib.slim.nets": "build the network of slim.conv2d, slim.max_pool2d and slim.fully_connected, or put its file beside "
                            "the program",
    "tf.contrib.tensorrt": "it needs TensorRT: run the graph as it is; Weft compiles it for the GPU. create_inference_graph is there",
    "tf.contrib.timeseries": "use tf.contrib.timeseries.ARRegressor, or tf.contrib.rnn in the model_fn of a tf.estimator.Estimator",
    "tf.contrib.tpu": _TPU + "tf.estimator.Estimator and the optimizers of tf.train",
    "tf.data.Dataset.as_numpy_iterator": _EAGER + "make_one_shot_iterator().get_next(), and run it in a tf.Session",
    "tf.data.Dataset.load": "use tf.data.TFRecordDataset",
    "tf.data.Dataset.save": "use tf.python_io.TFRecordWriter and tf.train.Example records",
    "tf.data.experimental.ops": _FORK + "tf.data.TFRecordDataset",
    "tf.distribute": "tf.distribute.MirroredStrategy and the strategies of tf.distribute.experimental are",
    "tf.distribute.TPUStrategy": _TPU + "tf.distribute.MirroredStrategy",
    "tf.distribute.experimental.coordinator": _EAGER + "tf.distribute.experimental.ParameterServerStrategy with "
                                              "tf.estimator.train_and_evaluate",
    "tf.estimator": "write its model as the model_fn of a tf.estimator.Estimator",
    "tf.estimator.tpu": _TPU + "tf.estimator.Estimator",
    "tf.experimental.numpy": _EAGER + "the op of that name in tf",
    "tf.feature_column": "numeric, bucketized, hashed, listed and identity columns, embeddings and indicators are",
    "tf.feature_column.categorical_column_with_adaptive_embedding": _FORK + "categorical_column_with_hash_bucket",
    "tf.feature_column.categorical_column_with_embedding": _FORK + "categorical_column_with_hash_bucket",
    "tf.feature_column.group_embedding_column_scope": _FORK + "embedding_column for each column, without a scope",
    "tf.get_dynamic_dimension_embedding_variable": _FORK + "tf.get_variable with a partitioner for a table of fixed size",
    "tf.get_embedding_variable": _FORK + "tf.get_variable with a partitioner for a table of fixed size",
    "tf.get_multihash_variable": _FORK + "tf.get_variable with a partitioner for a table of fixed size",
    "tf.keras": "tf.layers, tf.nn and tf.train have what it stands on",
    "tf.keras.backend": "use the op of that name in tf",
    "tf.keras.callbacks": "derive it from tf.keras.callbacks.Callback",
    "tf.keras.layers": "tf.layers and tf.nn have layers",
    "tf.keras.models": "tf.keras.Model and tf.keras.Sequential are",
    "tf.keras.optimizers": "use the optimizer of that name in tf.train, which compile() takes too",
    "tf.keras.preprocessing": "use tf.image in the input pipeline",
    "tf.keras.utils": "`python -m weft --names` lists what is",
    "tf.lite": _LITE + "a checkpoint or tf.saved_model; Weft's own library serves it",
    "tf.make_prefetch_hook": _FORK + "tf.data.Dataset.prefetch, which needs no hook",
    "tf.models": "it is of the repository of models, not of TensorFlow: put its files beside the program",
    "tf.ops.work_queue": _FORK + "tf.train.string_input_producer, or tf.data.Dataset.shard by task index",
    "tf.raw_ops": "`weft ops` lists the ops that are",
    "tf.staged": _FORK + "tf.data.Dataset.prefetch, or a tf.FIFOQueue with a queue runner",
    "tf.summary.create_file_writer": _EAGER + "tf.summary.FileWriter, or tf.contrib.summary.create_file_writer",
    "tf.summary.experimental": _EAGER + "tf.train.get_or_create_global_step",
    "tf.tools": "the programs of TensorFlow's source tree are not here: `weft inspect` and `weft convert` read graphs and checkpoints",
    "tf.tpu": _TPU + "tf.estimator.Estimator and the optimizers of tf.train",
    "tf.train.AdagradDecayOptimizer": _FORK + "tf.train.AdagradOptimizer",
    "tf.train.AdagradDecayOptimizerV2": _FORK + "tf.train.AdagradOptimizer",
    "tf.train.AdamAsyncOptimizer": _FORK + "tf.train.AdamOptimizer",
}


_NOT_THE_PROGRAM = (PACKAGE, "<frozen", os.path.dirname(importlib.__file__))


def where():
    """Returns the line of the program that asks for the name, as " (FILE, line N)"."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_NOT_THE_PROGRAM):
            return " (%s, line %d)" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


def _entry(name):
    """Returns the table's entry for a name, and whether the entry is for this name alone."""
    key, older = name, name.replace("tf.compat.v2.", "tf.", 1)
    while key not in _INSTEAD:
        key = key.rpartition(".")[0] or "tf"
    if key == "tf.compat.v2" and older != name:
        use, alone = _entry(older)
        return (use, True) if alone else (_INSTEAD[key], False)
    return _INSTEAD[key], key in (name, "tf.models") or _INSTEAD[key].startswith(_OTHER_SYSTEMS)


def instead(name):
    return _entry(name)[0]


def speaks_of(name):
    """Returns whether the table says something about a name, rather than about all names of its module."""
    return _entry(name)[1]


def _public_modules():
    """Returns the public modules of the package, and loads those that are loaded late."""
    weft = sys.modules["weft"]
    names = [m.name for m in pkgutil.walk_packages(weft.__path__, "weft.", onerror=lambda _: None)
             if not any(part.startswith("_") for part in m.name.split("."))]
    return [weft, *(importlib.import_module(name) for name in sorted(names, key=lambda n: (n.count("."), n)))]


def _elsewhere(short):
    """Returns public functions and classes of that name in other modules, those of tf.contrib last."""
    leaf = short.rpartition(".")[2]
    found = ["tf%s.%s" % (m.__name__.removeprefix("weft"), leaf) for m in _public_modules()
             if leaf in m.__all__ and callable(getattr(m, leaf))]
    return sorted(found, key=lambda n: n.startswith("tf.contrib"))[:1]


def public_names(module):
    """Returns the names of a module that may be suggested; for a private module, those that a public one exports."""
    if hasattr(module, "__all__"):
        return module.__all__
    shown = {id(v) for m in _public_modules() for n in m.__all__ if (v := vars(m).get(n)) is not None}
    return [n for n, v in vars(module).items() if not n.startswith("_") and id(v) in shown]


def _alike(name, names):
    """Returns up to two of `names` that are spelled almost as `name` is."""
    import difflib
    return difflib.get_close_matches(name, {n for n in names if not n.startswith("_")}, 2, 0.8)


def _longer(name, names):
    """Returns up to two of `names` that begin with `name`."""
    return sorted({n for n in names if len(name) > 3 and n.lower().startswith(name.lower())}, key=lambda n: (len(n), n))[:2]


def _asked(found):
    return "did you mean %s?" % " or ".join(found)


def _listing(name, use):
    """Returns how to list the names of a module of contrib, for a name that the table says nothing about; else `use`."""
    folder = name.rpartition(".")[0]
    there = use == _INSTEAD["tf.contrib"] and "weft" + folder.removeprefix("tf") in sys.modules and folder != "tf.contrib"
    return "dir(%s) lists what it has" % folder if there else use


def said(name, near=(), at=None, use=None):
    """Returns the message for a missing name in TensorFlow's spelling.

    `near`: names beside it, or a function that returns them. `use`: what to use instead, if the caller knows it.
    """
    short = "tf" + name.removeprefix("tensorflow").removeprefix("tf")
    public = short.replace("tf.python.", "tf.", 1).replace("tf.compat.v1", "tf", 1)
    use, alone = (use, True) if use else _entry(public)
    if not alone:
        leaf, near = short.rpartition(".")[2], list(near() if callable(near) else near)
        found = _alike(leaf, near) or _elsewhere(public) or _longer(leaf, near)
        use = _asked(found) if found else _listing(public, use)
    return "%s is not in Weft%s: %s" % (short, where() if at is None else at, use)


class _Lazy:
    """An error whose text is built when it is first read."""

    def __init__(self, tell, name=None):
        super().__init__()
        self._tell, self.name = tell, name

    @property
    def args(self):
        return (str(self),)

    def __str__(self):
        return self._tell()

    def __repr__(self):
        return "%s(%r)" % (type(self).__name__, str(self))

    def __reduce__(self):
        return self.__class__.__mro__[2], (str(self),)


class MissingAttribute(_Lazy, AttributeError):
    """The error for a name that is not in a module, a class or an object."""


class MissingImport(_Lazy, ImportError):
    """The error for a name that `from MODULE import NAME` asked for."""


for _kind in (MissingAttribute, MissingImport):  # Tracebacks show Python's own class names.
    _kind.__module__, _kind.__name__ = "builtins", _kind.__mro__[2].__name__
    _kind.__qualname__ = _kind.__name__

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def missing(name, near=(), depth=1, use=None):
    """Returns the error to raise for a name that a module lacks; `use` as in said().

    Python replaces the text of an AttributeError that `from MODULE import NAME` meets, so that statement gets an
    ImportError. `depth`: the number of frames between this function and the statement.
    """
    asks = sys._getframe(depth + 1)
    kind = MissingImport if asks.f_code.co_code[asks.f_lasti] == _IMPORT_FROM else MissingAttribute
    at = where()
    return kind(lambda: said(name, near, at, use), name.rpartition(".")[2])


# Where a class is looked for last: names that few programs use.
_LATER_TREES = ("tf.contrib", "tf.compat", "tf.distribute.", "tf.keras.optimizers.legacy", "tf.summary.")


def _public_name(cls):
    """Returns the name that programs use for a public class which may have several."""
    own = "tf%s.%s" % (cls.__module__.removeprefix("weft"), cls.__qualname__)
    names = ["tf%s.%s" % (m.__name__.removeprefix("weft"), n) for m in _public_modules() for n in m.__all__ if vars(m).get(n) is cls]
    names.sort(key=lambda n: (n.rpartition(".")[2] != cls.__qualname__, n.startswith(_LATER_TREES), n.count("."), n != own))
    return names[0] if names else own


def _in_class(cls, name, at, has=None):
    """Returns the message for a name that a public class lacks. `has`: what an object of it has, if one was asked."""
    public, has = _public_name(cls), dir(cls) if has is None else has
    found = _alike(name, has) or _longer(name, has)
    use = _asked(found) if found else "help(%s) lists what it has" % public
    return "%s.%s is not in Weft%s: %s" % (public, name, at, _INSTEAD.get("%s.%s" % (public, name), use))


def _is_public(cls):
    return cls.__module__.partition(".")[0] == "weft" and not cls.__module__.startswith("weft._")


class Named(abc.ABCMeta):
    """The metaclass of public classes; Class.name and object.name raise the error of this module if the name is
    missing.

    Python reads attributes of such objects more slowly.  Tensors, operations, variables, types and shapes are read so
    often that building a graph would take a quarter longer; their classes keep Python's own error.

    It derives from ABCMeta so that a program can derive from a public class and an abstract one. isinstance() and
    issubclass() are those of `type`, which are three times faster, because graph building calls them often.
    """

    __instancecheck__, __subclasscheck__ = type.__instancecheck__, type.__subclasscheck__

    def register(cls, subclass):
        raise TypeError("%s.register(%s): a class derived from a class of Weft takes no virtual subclasses: derive from it"
                        % (cls.__name__, subclass.__name__))

    def __getattr__(cls, name):
        if name.startswith("_") or not _is_public(cls):
            raise AttributeError("type object '%s' has no attribute '%s'" % (cls.__name__, name))
        at = where()
        raise MissingAttribute(lambda: _in_class(cls, name, at), name)


def instance_getattr(self, name):
    """Is the __getattr__ of public classes that define none.

    The package's own code gets Python's error, which is faster.
    """
    cls = type(self)
    if name.startswith("__"):
        raise AttributeError(name)
    if any(name in vars(c) for c in cls.__mro__):
        return object.__getattribute__(self, name)  # A property raised AttributeError; this call raises it again.
    if name.startswith("_") or not _is_public(cls) or sys._getframe(1).f_code.co_filename.startswith(PACKAGE):
        raise AttributeError("'%s' object has no attribute '%s'" % (cls.__name__, name))
    raise lacks(cls, name, dir(self))


def lacks(cls, name, has):
    """Returns the error to raise for a name that an object of a public class lacks, which has the names `has`."""
    if name.startswith("_") or not _is_public(cls):
        return AttributeError("'%s' object has no attribute '%s'" % (cls.__name__, name))
    at = where()
    return MissingAttribute(lambda: _in_class(cls, name, at, has), name)


# Read so often while a graph is built that their objects keep Python's own error.
_OFTEN = ("Tensor", "Operation", "Graph", "Variable", "SparseTensor", "SparseTensorValue", "IndexedSlices", "DType", "TensorShape",
          "Dimension", "TypeSpec")
_BASES_OF_VARIABLES = ("Trackable", "AutoTrackable")


def name_what_objects_lack(cls):
    """Makes the objects of a public class raise the error of this module for names that they lack."""
    often = cls.__qualname__ in _BASES_OF_VARIABLES or any(c.__qualname__ in _OFTEN or "__getattr__" in vars(c) for c in cls.__mro__)
    if not often and not issubclass(cls, (BaseException, enum.Enum)):
        cls.__getattr__ = instance_getattr


class EagerOnly:
    """An attribute that objects of TensorFlow have in eager mode only; reading it raises the error of this module."""

    def __init__(self, name):
        self._name = name

    def __get__(self, held, cls):
        at = where()
        raise MissingAttribute(lambda: said(self._name, at=at), self._name.rpartition(".")[2])


def said_of_op(kind):
    """Returns the message for an op that has no kernel. `weft ops` lists the ops that have one."""
    use = {"ResizeBicubic": "tf.image.resize_bilinear", "ResizeArea": "tf.image.resize_bilinear"}.get(kind)
    return "Weft has no op %s%s: %s" % (kind, where(), "use " + use if use else "`weft ops` lists those that are")
