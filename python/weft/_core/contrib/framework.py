"""tf.contrib.framework"""
import functools

from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_collection, get_default_graph
from weft._core.ops.variable_scope import get_variable
from weft._core.ops.variables import Variable
from weft._core.train.training_util import get_global_step


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    return get_global_step(graph) if global_step_tensor is None else global_step_tensor


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    name = getattr(scope, "name", scope)
    found = get_collection(collection, name)
    return [v for v in found if suffix is None or v.op.name.endswith(suffix)]


def get_model_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_to_restore(include=None, exclude=None):
    """Variables in one of the scopes, or all, less those in the scopes to leave out."""
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if id(v) not in left]


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """init_fn(session) that restores the variables, a list or by the names they have in the checkpoint."""
    from weft._core.train.saver import Saver, load_checkpoint
    named = dict(var_list) if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
    if ignore_missing_vars:
        there = load_checkpoint(model_path)
        named = {n: v for n, v in named.items() if there.has_tensor(n)}
    if not named:
        return None
    saver = Saver(named, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def model_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
                   caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None):
    lists = list(collections or [GraphKeys.GLOBAL_VARIABLES]) + [GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, lists, caching_device, device, partitioner,
                    custom_getter, use_resource)


def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None):
    graph = get_default_graph()
    with graph.device(device or ""):
        return get_variable(name, shape, dtype, initializer, regularizer, trainable, collections, caching_device, partitioner,
                            use_resource=use_resource, custom_getter=custom_getter)


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name=name,
                    validate_shape=validate_shape, use_resource=use_resource)


class VariableDeviceChooser(metaclass=Named):
    """Variables to the ps tasks in turn."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        self._tasks, self._job, self._type, self._index = num_tasks, job_name, device_type, device_index
        self._of, self._next = replica, 0

    def __call__(self, op):
        from weft._core.framework.device_spec import DeviceSpec
        spec = DeviceSpec(replica=self._of, device_type=self._type, device_index=self._index)
        if self._tasks > 0:
            spec.job, spec.task = self._job, self._next
            self._next = (self._next + 1) % self._tasks
        return spec.to_string()


# ---- arg_scope ----

_scopes = [{}]


class arg_scope(metaclass=Named):
    """Defaults for the arguments of functions marked with add_arg_scope."""

    def __init__(self, list_ops_or_scope, **kwargs):
        if isinstance(list_ops_or_scope, dict):
            self._scope = list_ops_or_scope
            return
        self._scope = {k: dict(v) for k, v in _scopes[-1].items()}
        for op in list_ops_or_scope:
            if not hasattr(op, "_arg_scope_key"):
                raise ValueError("%s is not decorated with @add_arg_scope" % op)
            self._scope.setdefault(op._arg_scope_key, {}).update(kwargs)

    def __enter__(self):
        _scopes.append(self._scope)
        return self._scope

    def __exit__(self, *exc):
        _scopes.pop()


def add_arg_scope(func):
    @functools.wraps(func)
    def call(*args, **kwargs):
        defaults = _scopes[-1].get(func)
        if defaults:
            import inspect
            names = inspect.signature(func).parameters
            given = set(list(names)[:len(args)]) | set(kwargs)
            kwargs = {**{k: v for k, v in defaults.items() if k not in given}, **kwargs}
        return func(*args, **kwargs)
    call._arg_scope_key = func
    return call


def has_arg_scope(func):
    return hasattr(func, "_arg_scope_key")


def current_arg_scope():
    return _scopes[-1]
