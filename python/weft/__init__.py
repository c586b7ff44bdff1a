"""Weft: TensorFlow 1.x graphs, sessions and training, on the library libweft.  `import weft as tf`."""
import os as _os
import sys as _sys

try:
    import numpy as _  # noqa: F401
except ModuleNotFoundError:
    if _sys.argv[:1] == ["-m"]:  # python -m weft, weft run: no traceback, and Debian's Python where another is in front of it
        _other = "/usr/bin/python3"
        if (_sys.prefix == _sys.base_prefix and "WEFT_PYTHON_PROGRAM" not in _os.environ and _os.access(_other, _os.X_OK)
                and _os.path.realpath(_sys.executable) != _os.path.realpath(_other)):
            _os.execv(_other, [_other, "-m", "weft", *_sys.argv[1:]])
        _sys.exit(f"weft: {_sys.executable} has no numpy: install python3-numpy, or name another with WEFT_PYTHON_PROGRAM")
    raise ImportError("weft needs numpy: install python3-numpy, or pip install numpy") from None

from . import _weft

_weft.log_to_stderr(int(_os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") or 0))

from . import dtypes, errors, gen_ops, nest, protos  # noqa: E402
from .dtypes import DType, as_dtype  # noqa: E402,F401
from .tensor_shape import Dimension, TensorShape  # noqa: E402,F401
from .graph import (Graph, GraphKeys, IndexedSlices, Operation, Tensor, add_to_collection, add_to_collections,  # noqa: E402,F401
                    colocate_with, container, control_dependencies, device, get_all_collection_keys, get_collection,
                    get_collection_ref, get_default_graph, init_scope, name_scope, reset_default_graph, set_random_seed)
from .build import (constant, convert_to_tensor, is_tensor, register_tensor_conversion_function)  # noqa: E402,F401
from .importer import import_graph_def  # noqa: E402,F401
from .client import InteractiveSession, Session, get_default_session  # noqa: E402,F401
from .gen_ops import raw_ops  # noqa: E402,F401
from . import (array_ops, control_flow, gradients as _gradients, init_ops, math_ops, nn, operators, random_ops,  # noqa: E402
               script_ops, sparse, variable_scope as _variable_scope, variables as _variables)


def _export(*modules):
    """What these modules define becomes ours."""
    for module in modules:
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
                globals()[name] = value


_export(math_ops, array_ops, random_ops, _variables, _variable_scope, control_flow, _gradients, script_ops, sparse)
globals().update({name: value for name, value in vars(dtypes).items() if isinstance(value, DType)})
globals().update({name: value for name, value in vars(init_ops).items() if name.endswith("_initializer")})
operators.install(Variable)  # noqa: F821
newaxis = None
initializers, math = init_ops, math_ops

from . import app, cluster, data_flow, flags, functional_ops, gfile, io_ops, layers, logging, losses, metrics, partitioned  # noqa: E402,F401
from . import data, data_experimental, lookup, sets  # noqa: E402,F401
from . import compat, logging_ops, protos, python_io, rnn, summary, train  # noqa: E402,F401
from . import check_ops, linalg, quantization, stateless, tensor_util  # noqa: E402,F401
from .cluster import Server as _Server  # noqa: E402
from .device_spec import DeviceSpec  # noqa: E402,F401
from .protos import (AttrValue, ConfigProto, Event, GPUOptions, GraphDef, GraphOptions, MetaGraphDef, NodeDef,  # noqa: E402,F401
                     OptimizerOptions, RunMetadata, RunOptions, SessionLog, Summary, TensorInfo)

data.experimental = data_experimental
del data_experimental  # of tf.data
_export(data_flow, io_ops, functional_ops, quantization, check_ops)
for _name in ("cholesky", "cholesky_solve", "eye", "log_matrix_determinant", "matrix_determinant", "matrix_inverse",
              "matrix_set_diag", "matrix_solve", "matrix_triangular_solve", "qr", "trace"):
    globals()[_name] = getattr(linalg, _name)
create_partitioned_variables = partitioned.create_partitioned_variables
VERSION = __version__ = "1.15.0"  # of the TensorFlow whose names these are; weft.weft_version is our own
__git_version__ = GIT_VERSION = "weft-" + _weft.version()
weft_version = _weft.version()

Print = logging_ops.Print
nn.rnn_cell, nn.dynamic_rnn, nn.static_rnn, nn.raw_rnn = rnn, rnn.dynamic_rnn, rnn.static_rnn, rnn.raw_rnn
nn.bidirectional_dynamic_rnn, nn.static_bidirectional_rnn = rnn.bidirectional_dynamic_rnn, rnn.static_bidirectional_rnn
io, strings, random, distribute = io_ops, io_ops, random_ops, type("distribute", (), {"Server": _Server})
for _name in ("crop", "gamma", "normal", "poisson", "shuffle", "uniform"):
    setattr(random, _name, getattr(random, "random_" + _name))
for _name in ("stateless_normal", "stateless_truncated_normal", "stateless_uniform"):
    setattr(random, _name, getattr(stateless, _name))


def executing_eagerly():
    return False


def disable_eager_execution():
    """Graphs are all there is."""


disable_v2_behavior = disable_resource_variables = disable_control_flow_v2 = disable_eager_execution


def enable_eager_execution(*args, **kwargs):
    raise NotImplementedError("tf.enable_eager_execution is not in Weft%s: build a graph and run it in a tf.Session" % absent.where())


tables_initializer = initialize_all_tables = lookup.tables_initializer

select, complex_abs, inv = where, math_ops.abs, math_ops.reciprocal  # noqa: F821
OpError, make_tensor_proto, make_ndarray = errors.OpError, tensor_util.make_tensor_proto, tensor_util.make_ndarray
from .summary import histogram_summary, image_summary, merge_all_summaries, merge_summary, scalar_summary  # noqa: E402,F401
from . import absent  # noqa: E402

# Loaded when a program first asks for them.
_LATER = ("contrib", "estimator", "feature_column", "graph_util", "image", "keras", "saved_model", "test")


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(name)
    import importlib
    found = importlib.import_module("weft." + name)
    for loaded in set(_LATER) & set(globals()):  # it may have loaded others
        absent.guard(globals()[loaded], "tf." + loaded)
    return found


def __dir__():
    return sorted(set(globals()) | set(_LATER))


absent.guard(_sys.modules[__name__])
