"""Small modules of tensorflow.python.framework: common_shapes, device, op_def_registry, smart_cond, test_util."""
import functools
import unittest

from weft._core.framework import opdef, opdef_proto
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import get_default_graph
from weft._core.framework.tensor_shape import TensorShape
from weft._core.ops.control_flow import case, smart_cond  # noqa: F401
from weft._core.platform.test import TestCase, gpu_device_name, is_gpu_available  # noqa: F401
from weft._core.python_modules.layers_utils import constant_value as smart_constant_value

# ---- smart_cond ----

def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    """Builds a tf.case with only the branch that is taken, if that is known."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    known = [(smart_constant_value(p), f) for p, f in pairs]
    if all(p is not None for p, _ in known):
        chosen = [f for p, f in known if p]
        if chosen or default is not None:
            return (chosen[0] if chosen else default)()
    return case(pairs, default, exclusive, name=name)


# ---- common_shapes ----

def _broadcast(x, y):
    rank = max(x.ndims, y.ndims)
    a, b = ([1] * (rank - s.ndims) + s.as_list() for s in (x, y))
    made = []
    for m, n in zip(a, b):
        if m is None or n is None:
            known = n if m is None else m
            made.append(known if known is not None and known > 1 else None)
        elif m == n or 1 in (m, n):
            made.append(n if m == 1 else m)
        else:
            return None
    return made


def broadcast_shape(shape_x, shape_y):
    """Returns the shape that an elementwise op gives for inputs of two shapes."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return TensorShape(None)
    made = _broadcast(shape_x, shape_y)
    if made is None:
        raise ValueError("Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either "
                         "equal or one of them is 1. Received: %s and %s." % (shape_x, shape_y))
    return TensorShape(made)


def is_broadcast_compatible(shape_x, shape_y):
    """Returns whether an elementwise op takes inputs of two shapes."""
    return shape_x.ndims is not None and shape_y.ndims is not None and _broadcast(shape_x, shape_y) is not None


# ---- device ----

def canonical_name(device):
    """Returns the name of a device as nodes have it."""
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device).to_string()


def is_device_spec(obj):
    """Returns whether an object is a tf.DeviceSpec."""
    return isinstance(obj, DeviceSpec)


def check_valid(spec):
    """Raises an error if a text is not a valid device name."""
    DeviceSpec.from_string(spec)


def merge_device(spec):
    """Returns a function of nodes for tf.device: their own devices, and this one where they have none."""
    spec = spec if isinstance(spec, DeviceSpec) else DeviceSpec.from_string(spec or "")

    def device_function(node_def):
        made = DeviceSpec.from_string(spec.to_string())
        made.merge_from(DeviceSpec.from_string(node_def.device or ""))
        return made.to_string()
    return device_function


# ---- op_def_registry ----

get = opdef_proto.get


def get_registered_ops():
    """Returns {name: OpDef} of all ops."""
    return {name: get(name) for name in opdef.names()}


# ---- test_util ----

TensorFlowTestCase = TestCase


def _unchanged(*given, **kwargs):
    """Returns a decorator that changes nothing: tests run in graphs."""
    return given[0] if len(given) == 1 and callable(given[0]) and not kwargs else (lambda f: f)


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, assert_no_eager_garbage=False):
    """Decorates a test, so that it runs within a graph and a session of its own.

    Args:
      func: the test.
      config: a ConfigProto of the session.
      use_gpu: whether the session may use GPUs.
      assert_no_eager_garbage: without meaning, as nothing is eager.
    """
    def decorator(test):
        if isinstance(test, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                             "`run_all_in_graph_and_eager_modes`?")

        @functools.wraps(test)
        def run(self, *args, **kwargs):
            with self.test_session(use_gpu=use_gpu, config=config):
                return test(self, *args, **kwargs)
        return run
    return decorator if func is None else decorator(func)


def run_all_in_graph_and_eager_modes(cls):
    """Decorates a class of tests: applies run_in_graph_and_eager_modes to each of them."""
    for name in [n for n in dir(cls) if n.startswith(unittest.TestLoader.testMethodPrefix) and n != "test_session"]:
        if callable(getattr(cls, name)):
            setattr(cls, name, run_in_graph_and_eager_modes(getattr(cls, name)))
    return cls


run_deprecated_v1 = run_v1_only = _unchanged
run_all_without_tensor_float_32 = run_without_tensor_float_32 = disable_xla = run_all_in_deprecated_graph_mode_only = _unchanged
disable_control_flow_v2 = deprecated_graph_mode_only = _unchanged


def run_v2_only(func=None, reason=None):
    """Returns a decorator that skips a test of TensorFlow 2."""
    if func is None:
        return functools.partial(run_v2_only, reason=reason)

    @functools.wraps(func)
    def skipped(self, *args, **kwargs):
        self.skipTest("it needs TensorFlow 2")
    return skipped


def ops_used_by_graph_def(graph_def):
    """Returns the names of the ops of a graph and of its functions."""
    return {n.op for n in graph_def.node} | {n.op for f in graph_def.library.function for n in f.node_def}


def get_graph():
    """Returns the default graph."""
    return get_default_graph()
