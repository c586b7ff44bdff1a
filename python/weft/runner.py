"""`weft run SCRIPT.py`: runs a TensorFlow program as it stands.

`import tensorflow` and its submodules lead here: a finder answers for every name under tensorflow, from a table of
modules or from the attributes of the package, so that `from tensorflow.python.framework import ops` works where Weft has
what is asked for and says what is missing where it has not.
"""
import importlib.abc
import importlib.machinery
import os
import resource
import sys
import types

import weft
from weft import absent

# tensorflow.X -> module of this package (or attribute of it)
ALIASES = {
    "tensorflow": "weft",
    "tensorflow.compat.v1": "weft",
    "tensorflow.python": "weft",
    "tensorflow.examples": None, "tensorflow.examples.tutorials": None, "tensorflow.examples.tutorials.mnist": None,
    "tensorflow.examples.tutorials.mnist.input_data": "weft.mnist",
    "tensorflow.examples.tutorials.mnist.mnist": "weft.mnist_model",
    "tensorflow.contrib": "weft.contrib",
    "tensorflow.contrib.lookup": "weft.lookup", "tensorflow.python.ops.lookup_ops": "weft.lookup",
    "tensorflow.contrib.learn.python.learn.datasets.mnist": "weft.mnist",
    "tensorflow.contrib.learn.python.learn": "weft.contrib.learn",
    "tensorflow.contrib.learn.python.learn.learn_runner": "weft.contrib.learn_runner",
    "tensorflow.contrib.learn.python.learn.experiment": "weft.contrib.learn_runner",
    "tensorflow.contrib.learn.python.learn.estimators.run_config": "weft.contrib.learn",
    "tensorflow.contrib.learn.python.learn.estimators.model_fn": "weft.contrib.learn",
    "tensorflow.python.framework.ops": "weft.python_ops",
    "tensorflow.python.framework.dtypes": "weft.dtypes",
    "tensorflow.python.framework.function": "weft.function",
    "tensorflow.python.framework.errors": "weft.errors",
    "tensorflow.python.framework.errors_impl": "weft.errors",
    "tensorflow.python.framework.tensor_shape": "weft.tensor_shape",
    "tensorflow.python.framework.constant_op": "weft.build",
    "tensorflow.python.framework.random_seed": "weft.random_ops",
    "tensorflow.python.client.timeline": "weft.timeline",
    "tensorflow.python.client.device_lib": "weft.cluster",
    "tensorflow.python.client.session": "weft.client",
    "tensorflow.python.lib.io.file_io": "weft.gfile",
    "tensorflow.python.lib.io.tf_record": "weft.python_io",
    "tensorflow.python.platform.gfile": "weft.gfile",
    "tensorflow.python.platform.flags": "weft.flags",
    "tensorflow.python.platform.app": "weft.app",
    "tensorflow.python.platform.tf_logging": "weft.logging",
    "tensorflow.python.ops.variables": "weft.variables",
    "tensorflow.python.ops.variable_scope": "weft.variable_scope",
    "tensorflow.python.ops.partitioned_variables": "weft.variable_scope",
    "tensorflow.python.ops.array_ops": "weft.array_ops",
    "tensorflow.python.ops.math_ops": "weft.math_ops",
    "tensorflow.python.ops.control_flow_ops": "weft.control_flow",
    "tensorflow.python.ops.check_ops": "weft.check_ops",
    "tensorflow.python.framework.graph_util": "weft.graph_util",
    "tensorflow.python.framework.tensor_util": "weft.tensor_util",
    "tensorflow.python.ops.data_flow_ops": "weft.data_flow",
    "tensorflow.python.ops.state_ops": "weft.variables",
    "tensorflow.python.ops.init_ops": "weft.init_ops",
    "tensorflow.python.ops.random_ops": "weft.random_ops",
    "tensorflow.python.ops.nn_ops": "weft.nn",
    "tensorflow.python.ops.nn": "weft.nn",
    "tensorflow.python.ops.gradients_impl": "weft.gradients",
    "tensorflow.python.ops.clip_ops": "weft.gradients",
    "tensorflow.python.ops.logging_ops": "weft.logging_ops",
    "tensorflow.python.ops.rnn": "weft.rnn",
    "tensorflow.python.ops.rnn_cell": "weft.rnn",
    "tensorflow.python.training.saver": "weft.train.saver",
    "tensorflow.python.training.training_util": "weft.train.training_util",
    "tensorflow.python.training.optimizer": "weft.train.optimizer",
    "tensorflow.python.training.session_run_hook": "weft.train.hooks",
    "tensorflow.python.training.basic_session_run_hooks": "weft.train.hooks",
    "tensorflow.python.training.summary_io": "weft.summary",
    "tensorflow.python.util.nest": "weft.nest",
    "tensorflow.python.data.ops.dataset_ops": "weft.data",
    "tensorflow.python.data.ops.iterator_ops": "weft.data",
    "tensorflow.python.data.ops.readers": "weft.data",
    "tensorflow.data.experimental": "weft.data_experimental",
    "tensorflow.python.saved_model.signature_constants": "weft.saved_model",
    "tensorflow.core.protobuf.config_pb2": "weft.protos", "tensorflow.core.framework.summary_pb2": "weft.protos",
    "tensorflow.core.framework.graph_pb2": "weft.protos", "tensorflow.core.util.event_pb2": "weft.protos",
    "tensorflow.core.example.example_pb2": "weft.protos", "tensorflow.core.framework.types_pb2": "weft.protos",
    "tensorflow.core.protobuf.tensorflow_server_pb2": "weft.protos",
    "tensorflow.core.protobuf.cluster_pb2": "weft.protos", "tensorflow.core.protobuf.meta_graph_pb2": "weft.protos",
}


def _attribute(name):
    """tensorflow.a.b as weft.a.b, where that exists."""
    found = weft
    for part in name.split(".")[1:]:
        if part == "python":
            continue
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _beside(name):
    return dir(_attribute(name.rpartition(".")[0]) or object())


class _Package(types.ModuleType):
    """A folder of names: what is not in it is looked for as a submodule."""

    __path__ = []

    def __getattr__(self, name):
        full = "%s.%s" % (self.__name__, name)
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return importlib.import_module(full)
        except ImportError as e:
            raise AttributeError(str(e)) from None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        name = spec.name
        target = ALIASES.get(name, "")
        if target == "":
            found = _attribute(name)
            if isinstance(found, types.ModuleType):
                return self._wrap(name, {}, found)
            elif found is not None:
                return self._wrap(name, vars(found) if hasattr(found, "__dict__") else {})
            elif any(known.startswith(name + ".") for known in ALIASES) or name.split(".")[1:2] in (["python"], ["core"]) \
                    and name.count(".") == 2:
                target = None
            else:
                raise ImportError(absent.said(name, _beside(name)))
        if target is None:
            return self._wrap(name, {})
        try:
            module = importlib.import_module(target)
        except ModuleNotFoundError as e:
            if e.name != target:
                raise
            raise ImportError(absent.said(name, _beside(name))) from None
        return self._wrap(name, {}, module)

    def _wrap(self, name, names, module=None):
        made = _Package(name)
        made.__dict__.update(names)
        if module is not None:
            made.__dict__.update({k: v for k, v in vars(module).items() if not _ours(v) and (
                k in ("__version__", "__git_version__") or not k.startswith("__"))})
            made.__class__ = _mirror(module)
        return made

    def exec_module(self, module):
        pass


def _ours(x):
    """A module of this package: programs get it by its name under tensorflow, which may have more in it."""
    return isinstance(x, types.ModuleType) and x.__name__.startswith("weft")


def _mirror(module):
    """A class of modules whose missing names are another module's."""
    class Mirror(_Package):
        def __getattr__(self, name):
            if name in ("__path__", "__file__") or (name.startswith("__") and name.endswith("__")):
                raise AttributeError(name)
            full, found = "%s.%s" % (self.__name__, name), None
            try:
                found = getattr(module, name)
            except AttributeError:
                if full not in ALIASES and not any(a.startswith(full + ".") for a in ALIASES):
                    raise AttributeError(absent.said(full, vars(module))) from None
            return importlib.import_module(full) if found is None or _ours(found) else found
    return Mirror


def install():
    """Makes `import tensorflow` mean us."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        for name in [n for n in sys.modules if n == "tensorflow" or n.startswith("tensorflow.")]:
            del sys.modules[name]
        sys.meta_path.insert(0, Finder())


_OLD_NAMES = {"ps": "parameter_servers", "worker": "workers"}


def _fill_role(flags, argv):
    """Cluster flags that the script defines and the user left unset, from TF_CONFIG, Slurm or MPI."""
    from . import _weft, protos
    cluster, job, task = _weft.role(list(argv))
    if cluster is None:
        return
    for j in protos.ClusterDef.FromString(cluster).job:
        hosts = ",".join(j.tasks[i] for i in sorted(j.tasks))
        flags._fill(j.name + "_hosts", hosts)
        if j.name in _OLD_NAMES:
            flags._fill(_OLD_NAMES[j.name], hosts)
    flags._fill("job_name", job)
    for name in ("task_index", "task_id"):
        flags._fill(name, task)


_DESCRIPTORS = 1 << 16


def _raise_descriptors():
    """As many open descriptors as the system allows: a task has one for each connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def run(path, args, python2=False):
    """Runs a script as __main__, as `python script.py args` would."""
    from . import python2 as old
    _raise_descriptors()
    install()
    weft.flags.FLAGS._fill_with(_fill_role)
    sys.argv = [path] + list(args)
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    old.install(sys.path[0], python2)
    code = old.compile_file(path, python2)
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = path, __builtins__
    sys.modules["__main__"] = module
    exec(code, module.__dict__)
