"""tf.contrib.framework: arg_scope, variables by name, checks of tensors, and deprecation decorators."""
import functools

from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_collection, get_default_graph
from weft._core.ops.variable_scope import get_variable, get_variable_scope
from weft._core.ops.variables import Variable
from weft._core.train.training_util import get_global_step

# ---- arg_scope ----

_scopes = [{}]


class arg_scope(metaclass=Named):
    """Defaults for the arguments of functions marked with add_arg_scope."""

    def __init__(self, list_ops_or_scope, **kwargs):
        if isinstance(list_ops_or_scope, dict):
            if kwargs:
                raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
            self._scope = list_ops_or_scope
            return
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        self._scope = {k: dict(v) for k, v in _scopes[-1].items()}
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError("%s is not decorated with @add_arg_scope" % op)
            self._scope.setdefault(op._key_op, {}).update(kwargs)

    def __enter__(self):
        _scopes.append(self._scope)
        return self._scope

    def __exit__(self, *exc):
        _scopes.pop()


def add_arg_scope(func):
    @functools.wraps(func)
    def call(*args, **kwargs):
        defaults = _scopes[-1].get(call._key_op)
        if defaults:
            import inspect
            names = inspect.signature(func).parameters
            given = set(list(names)[:len(args)]) | set(kwargs)
            kwargs = {**{k: v for k, v in defaults.items() if k not in given}, **kwargs}
        return func(*args, **kwargs)
    call._key_op = str(func)  # TensorFlow's keys are strings, too.
    return call


def has_arg_scope(func):
    return hasattr(func, "_key_op")


def current_arg_scope():
    return _scopes[-1]


def arg_scope_func_key(op):
    """Returns the key of a function in the dict that an arg_scope gives."""
    return getattr(op, "_key_op", str(op))


def arg_scoped_arguments(func):
    """Returns the names of a function's arguments that an arg_scope can set."""
    import inspect
    if not has_arg_scope(func):
        raise ValueError("%s is not decorated with @add_arg_scope" % func)
    return tuple(p.name for p in inspect.signature(func).parameters.values() if p.default is not p.empty)


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    return get_global_step(graph) if global_step_tensor is None else global_step_tensor


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """Returns the variables of a collection in a scope, with names that end so; both are regular expressions, as in
    TensorFlow.
    """
    name = getattr(scope, "name", scope)
    if suffix is not None:
        name = (name or "") + ".*" + (suffix if ":" in suffix else suffix + ":")
    return get_collection(collection, name)


def get_model_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_to_restore(include=None, exclude=None):
    """Returns the variables in the scopes to include (by default all), without those in the scopes to exclude."""
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if id(v) not in left]


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """Returns init_fn(session), which restores the variables, given as a list or by their names in the checkpoint."""
    from weft._core.train.saver import Saver, load_checkpoint
    named = dict(var_list) if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
    if ignore_missing_vars:
        there = load_checkpoint(model_path)
        named = {n: v for n, v in named.items() if there.has_tensor(n)}
    if not named:
        return None
    saver = Saver(named, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


@add_arg_scope
def model_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
                   caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None):
    lists = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, lists, caching_device, device, partitioner,
                    custom_getter, use_resource)


@add_arg_scope
def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None):
    """Returns the result of get_variable on a device.

    Args:
      name: the name of the variable.
      shape: its shape.
      dtype: its type.
      initializer: its initializer.
      regularizer: a function that makes a loss of it.
      trainable: whether optimizers train it.
      collections: its collections; the default is [GraphKeys.GLOBAL_VARIABLES].
      caching_device: where reads are cached.
      device: the device.
      partitioner: cuts it into pieces.
      custom_getter: called in place of get_variable, with `reuse` and the other arguments.
      use_resource: whether it is a resource variable.
    """
    getter = get_variable if custom_getter is None else functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    lists = list(dict.fromkeys([GraphKeys.GLOBAL_VARIABLES] if collections is None else collections))
    with get_default_graph().device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
                      collections=lists, caching_device=caching_device, partitioner=partitioner, use_resource=use_resource)


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name=name,
                    validate_shape=validate_shape, use_resource=use_resource)


class VariableDeviceChooser(metaclass=Named):
    """Assigns variables to the ps tasks in turn."""

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


# ---- variables by name ----

def add_model_variable(var):
    """Adds a variable to the collection of model variables."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        get_default_graph().add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """Returns a variable that is saved and not trained."""
    return Variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES], name=name,
                    validate_shape=validate_shape, use_resource=use_resource)


def get_local_variables(scope=None, suffix=None):
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    """Returns the variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    """Returns the variables whose names end in "/" and this name, or are this name."""
    return get_variables(scope=scope, suffix="/%s:|^%s:" % (given_name, given_name))


def get_unique_variable(var_op_name):
    """Returns the one variable of this name."""
    found = get_variables(scope=var_op_name)
    exact = [v for v in found if v.op.name == var_op_name]
    if exact:
        return exact[0]
    if found:
        raise ValueError("Variable %r does not uniquely identify a variable" % var_op_name)
    raise ValueError("Couldn't find variable %s" % var_op_name)


def get_variable_full_name(var):
    """Returns the name that a variable has in a checkpoint."""
    return var._save_slice_info.full_name if getattr(var, "_save_slice_info", None) else var.op.name


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """Returns the variables whose names match one of the first patterns, if there are any, and none of the second."""
    import re
    test = re.search if reg_search else re.match
    if include_patterns is not None:
        var_list = [v for v in var_list if any(test(p, v.op.name) for p in include_patterns)]
    return [v for v in var_list if not any(test(p, v.op.name) for p in exclude_patterns or ())]


def _placeholders(names_to_values):
    """Returns (op that assigns, {placeholder: value})."""
    from weft._core.ops.array_ops import placeholder
    from weft._core.ops.control_flow import group
    ops, feeds = [], {}
    for name, value in names_to_values.items():
        var = get_unique_variable(name) if isinstance(name, str) else name
        place = placeholder(var.dtype.base_dtype, var.get_shape().as_list())
        ops.append(var.assign(place))
        feeds[place] = value.reshape(var.get_shape().as_list())
    return group(*ops), feeds


def assign_from_values(var_names_to_values):
    """Returns (op, feed_dict) that assign values to variables by name."""
    return _placeholders(var_names_to_values)


def assign_from_values_fn(var_names_to_values):
    """Returns a function of a session that assigns values to variables by name."""
    assign_op, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feed_dict)


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """Returns (op, feed_dict) that assign values of a checkpoint, to a list or by the names in the checkpoint."""
    from weft._core.platform import logging
    from weft._core.train.saver import CheckpointReader
    reader = CheckpointReader(model_path)
    named = var_list if isinstance(var_list, dict) else {get_variable_full_name(v): v for v in var_list}
    found = {}
    for name, var in named.items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError("Checkpoint is missing variable [%s]" % name)
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = reader.get_tensor(name)
        for part in var if isinstance(var, list) else [var]:
            wanted, given = part.get_shape().as_list(), value
            info = getattr(part, "_save_slice_info", None)
            if info is not None:
                given = value[tuple(slice(o, o + n) for o, n in zip(info.var_offset, info.var_shape))]
            if given.size != part.get_shape().num_elements():
                raise ValueError("Total size of new array must be unchanged for %s lh_shape: [%s], rh_shape: [%s]"
                                 % (name, given.shape, wanted))
            found[part] = given
    return _placeholders(found)


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Sets a variable to zeros and returns it; it need not have been initialized."""
    from weft._core.ops.array_ops import zeros
    from weft._core.ops.variables import assign
    return assign(ref, zeros(ref.get_shape(), ref.dtype.base_dtype), validate_shape=True, use_locking=use_locking, name=name)


# ---- tensors ----

def is_tensor(x):
    """Returns whether x is a tensor, a sparse tensor, IndexedSlices, or a variable."""
    from weft._core.framework.build import is_tensor as found
    return found(x)


def with_shape(expected_shape, tensor):
    """Returns the tensor with the given shape; if the shape is not known yet, an assertion checks it."""
    from weft._core.framework.build import constant_value, convert_to_tensor
    from weft._core.framework.graph import Tensor, control_dependencies
    from weft._core.framework.tensor_shape import TensorShape
    from weft._core.ops import array_ops, check_ops
    tensor = convert_to_tensor(tensor)
    static = constant_value(expected_shape) if isinstance(expected_shape, Tensor) else expected_shape
    if static is not None:
        expected = TensorShape(static)
        if not tensor.get_shape().is_compatible_with(expected):
            raise ValueError("Invalid shape for tensor %s, expected %s, got %s." % (tensor.name, expected, tensor.get_shape()))
        if tensor.get_shape().is_fully_defined():
            return tensor
        expected_shape = [-1 if d is None else d for d in expected.as_list()] if expected.ndims is not None else None
    if expected_shape is None:
        return tensor
    with control_dependencies([check_ops.assert_equal(expected_shape, array_ops.shape(tensor), message="Expected shape for tensor")]):
        result = array_ops.identity(tensor)
    if static is not None:
        result.set_shape(TensorShape(static))
    return result


def with_same_shape(expected_tensor, tensor):
    """Returns the tensor with the shape of another one."""
    shape = expected_tensor.get_shape()
    from weft._core.ops import array_ops
    return with_shape(shape.as_list() if shape.is_fully_defined() else array_ops.shape(expected_tensor), tensor)


def reduce_sum_n(tensors, name=None):
    """Returns the sum of all elements of all tensors."""
    from weft._core.framework.graph import name_scope
    from weft._core.ops import math_ops
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        tensors = [math_ops.reduce_sum(t, name="%s/sum" % t.op.name) for t in tensors]
        return tensors[0] if len(tensors) == 1 else math_ops.add_n(tensors, name=scope)


def assert_scalar_int(tensor, name=None):
    """Returns the tensor after a check that it is a scalar of an integer type."""
    from weft._core.framework.build import convert_to_tensor
    from weft._core.framework.graph import name_scope
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if tensor.dtype.base_dtype.name not in ("int8", "int16", "int32", "int64", "uint8", "uint16"):
            raise ValueError("Unexpected type %s for %s." % (tensor.dtype.base_dtype, tensor.name))
        from weft._core.ops import check_ops
        return check_ops.assert_scalar(tensor, name=scope)


def get_graph_from_inputs(op_input_list, graph=None):
    """Returns the graph of some tensors and operations, which must be the same for all."""
    found = graph
    for item in op_input_list:
        of = getattr(item, "graph", None)
        if of is not None and found is not None and of is not found:
            raise ValueError("%s is not from the passed-in graph." % (item,) if graph is not None else
                             "%s must be from the same graph as the others." % (item,))
        found = found or of
    return found or get_default_graph()


def get_name_scope():
    """Returns the name scope in which operations are made now."""
    return get_default_graph().get_name_scope()


def get_placeholders(graph):
    """Returns the placeholders of a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type in ("Placeholder", "PlaceholderV2")]


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """Returns a tensor of the value; a sparse tensor is returned unchanged."""
    from weft._core.framework.build import convert_to_tensor
    from weft._core.ops.sparse import SparseTensor, SparseTensorValue
    if isinstance(value, SparseTensorValue):
        value = SparseTensor(*value)
    if isinstance(value, SparseTensor):
        if dtype and not dtype.is_compatible_with(value.dtype):
            raise RuntimeError("Sparse dtype: requested = %s, actual = %s" % (dtype.name, value.dtype.name))
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """Returns labels and predictions without a last axis of one element that only one of them has."""
    from weft._core.framework.build import convert_to_tensor
    from weft._core.framework.graph import name_scope
    from weft._core.ops import array_ops
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        p, t = predictions.get_shape().ndims, labels.get_shape().ndims
        if p is not None and t is not None:
            if p - t == expected_rank_diff + 1:
                predictions = array_ops.squeeze(predictions, [-1])
            elif p - t == expected_rank_diff - 1:
                labels = array_ops.squeeze(labels, [-1])
        return labels, predictions


def smart_constant_value(pred):
    """Returns the value of a condition if it is known while the graph is built, else None."""
    from weft._core.framework.graph import Tensor
    from weft._core.framework.shape_values import constant_value
    if isinstance(pred, Tensor):
        found = constant_value(pred)
        return None if found is None else bool(found)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred))


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """Returns the result of one of two functions, chosen now if the condition is known, else by tf.cond."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    value = smart_constant_value(pred)
    if value is not None:
        return true_fn() if value else false_fn()
    from weft._core.ops.control_flow import cond
    return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


# ---- deprecation decorators ----

def _warned(func, said):
    warned = []

    @functools.wraps(func)
    def call(*args, **kwargs):
        if not warned:
            from weft._core.platform import logging
            warned.append(True)
            logging.warning("From %s: %s", func.__module__, said)
        return func(*args, **kwargs)
    return call


def _when(date):
    return "after " + date if date else "in a future version"


def deprecated(date, instructions, warn_once=True):
    """Marks a function as deprecated; a call logs a warning once."""
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")

    def mark(func):
        return _warned(func, "%s is deprecated and will be removed %s.\nInstructions for updating:\n%s"
                       % (func.__name__, _when(date), instructions))
    return mark


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """Marks arguments as deprecated; a call that uses one logs a warning."""
    names = [n[0] if isinstance(n, (tuple, list)) else n for n in deprecated_arg_names_or_tuples]

    def mark(func):
        import inspect
        order = list(inspect.signature(func).parameters)

        @functools.wraps(func)
        def call(*args, **kwargs):
            from weft._core.platform import logging
            for name in {*order[:len(args)], *kwargs}.intersection(names):
                logging.warning("From %s: calling %s with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                                func.__module__, func.__name__, name, _when(date), instructions)
            return func(*args, **kwargs)
        return call
    return mark


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Marks values of arguments as deprecated; a call that uses one logs a warning."""
    def mark(func):
        import inspect
        order = list(inspect.signature(func).parameters)

        @functools.wraps(func)
        def call(*args, **kwargs):
            from weft._core.platform import logging
            given = {**dict(zip(order, args)), **kwargs}
            for name, value in deprecated_kwargs.items():
                if name in given and given[name] == value:
                    logging.warning("From %s: calling %s with %s=%s is deprecated and will be removed %s.\nInstructions for "
                                    "updating:\n%s", func.__module__, func.__name__, name, value, _when(date), instructions)
            return func(*args, **kwargs)
        return call
    return mark
