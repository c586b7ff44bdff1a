"""Partitioned variables: get_variable with a partitioner, create_partitioned_variables."""
import math

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor, register_tensor_conversion_function
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, get_default_graph, name_scope
from weft._core.ops import array_ops


class PartitionInfo:
    """Tells an initializer which piece of a variable it fills."""

    def __init__(self, full_shape, var_offset, full_name=None):
        self.full_shape, self.var_offset, self.full_name = list(full_shape), list(var_offset), full_name

    def single_offset(self, shape):
        return self.var_offset[self.single_slice_dim(shape)] if self.single_slice_dim(shape) is not None else 0

    def single_slice_dim(self, shape):
        cut = [i for i, (a, b) in enumerate(zip(self.full_shape, shape)) if a != b]
        return cut[0] if cut else None


class PartitionedVariable:
    """The pieces of one variable, in order along the partitioned axis."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        self._name, self._shape, self._dtype = name, tensor_shape.as_shape(shape), as_dtype(dtype)
        self._list, self._partitions = list(variable_list), list(partitions)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    op = property(lambda self: self._list[0].op)
    graph = property(lambda self: self._list[0].graph)

    def get_shape(self):
        return self._shape

    def _get_variable_list(self):
        return list(self._list)

    def _get_partitions(self):
        return list(self._partitions)

    def __iter__(self):
        return iter(self._list)

    def __len__(self):
        return len(self._list)

    def _concat(self):
        with name_scope(None):
            if len(self._list) == 1:
                return array_ops.identity(self._list[0], name=self._name)
            axis = next(i for i, p in enumerate(self._partitions) if p > 1)
            with name_scope(self._name + "/ConcatPartitions/"):
                whole = array_ops.concat(self._list, axis)
            return array_ops.identity(whole, name=self._name)

    def as_tensor(self):
        with get_default_graph().control_dependencies(None):  # a read waits for nothing, as that of a whole variable
            return self._concat()

    def _change(self, method, value, name):
        """One update of each piece by its part of the value."""
        from weft._core.ops.control_flow import group
        axis = next((i for i, p in enumerate(self._partitions) if p > 1), 0)
        sizes = [v.get_shape().as_list()[axis] for v in self._list]
        parts = array_ops.split(value, sizes, axis)
        return group(*[getattr(v, method)(p) for v, p in zip(self._list, parts)], name=name)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._change("assign", value, name)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        return self._change("assign_add", value, name)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        return self._change("assign_sub", value, name)

    def initialized_value(self):
        return [v.initialized_value() for v in self._list]

    def __str__(self):
        return "<PartitionedVariable '%s' shape=%s dtype=%s>" % (self._name, self._shape, self._dtype.name)


register_tensor_conversion_function(PartitionedVariable, lambda value, dtype=None, name=None, as_ref=False: value.as_tensor())


def _pieces(shape, counts):
    """Returns (offset, shape) of each piece; the first ones are larger if the size is not divisible."""
    axis = next((i for i, c in enumerate(counts) if c > 1), 0)
    if counts[axis] > shape[axis]:
        raise ValueError("Cannot slice dimension %d of size %d into %d parts" % (axis, shape[axis], counts[axis]))
    each, extra = divmod(shape[axis], counts[axis])
    at = 0
    for i in range(counts[axis]):
        size = each + (i < extra)
        offset = [0] * len(shape)
        offset[axis] = at
        dims = list(shape)
        dims[axis] = size
        yield offset, dims
        at += size


def _slice(value, dtype, offset, dims, scope):
    with name_scope(scope):
        return array_ops.slice(convert_to_tensor(value, dtype), offset, dims)


def get_partitioned(name, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
                    partitioner, validate_shape, constraint, use_resource=None):
    from weft._core.ops.variable_scope import single
    from_tensor = isinstance(initializer, Tensor)
    if from_tensor:
        dtype = initializer.dtype.base_dtype
    full = tensor_shape.as_shape(initializer.shape if from_tensor and shape is None else shape)
    if from_tensor and not full.is_compatible_with(initializer.shape):
        raise ValueError("Shapes %s and %s are not compatible" % (full, initializer.shape))
    store, found = get_default_graph()._partitioned_store, get_default_graph()._partitioned_store.get(name)
    if name in get_default_graph()._variable_store:
        raise ValueError("A partitioner was provided, but an unpartitioned version of the variable was found: %s.  Perhaps a variable of "
                         "the same name was already created without partitioning?" % name)
    counts = None if partitioner is None else _partitions(partitioner, name, full, dtype)
    if found is not None:
        return _shared(found, name, full, dtype, counts, reuse)
    if reuse is True:
        raise ValueError("PartitionedVariable %s does not exist, or was not created with tf.get_variable(). Did you mean to set "
                         "reuse=False or reuse=tf.AUTO_REUSE in VarScope?" % name)
    full, made = full.as_list(), []
    value = initializer is not None and not callable(initializer)
    for i, (offset, dims) in enumerate(_pieces(full, counts)):
        start = _slice(initializer, dtype, offset, dims, "%s/part_%d/PartitionedInitializer/" % (name, i)) if value else initializer
        piece = single("%s/part_%d" % (name, i), dims, dtype, start, regularizer, reuse, trainable, collections,
                       caching_device, validate_shape, constraint, PartitionInfo(full, offset, name), use_resource)
        made.append(piece)
    store[name] = PartitionedVariable(name, full, dtype, made, counts)
    return store[name]


def _partitions(partitioner, name, full, dtype):
    """Returns into how many pieces the partitioner divides each dimension."""
    if not callable(partitioner):
        raise ValueError("Partitioner must be callable, but received: %s" % (partitioner,))
    if not full.is_fully_defined():
        raise ValueError("Shape of a new partitioned variable (%s) must be fully defined, but instead was %s." % (name, full))
    counts = partitioner(shape=full, dtype=dtype)
    if not isinstance(counts, (list, tuple)):
        raise ValueError("Partitioner must return a sequence, but saw: %s" % (counts,))
    if len(counts) != full.ndims:
        raise ValueError("Partitioner returned a partition list that does not match the Variable's rank: %s vs. %s" % (counts, full))
    if any(c < 1 for c in counts):
        raise ValueError("Partitioner returned zero partitions for some axes: %s" % (counts,))
    if sum(c > 1 for c in counts) > 1:
        raise ValueError("Can only slice a variable along one dimension: shape: %s, partitioning: %s" % (full, counts))
    return counts


def _shared(found, name, full, dtype, counts, reuse):
    """Returns the existing partitioned variable if it matches the request; raises ValueError otherwise."""
    if not reuse:
        raise ValueError("Partitioned variable with name %s already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                         "VarScope?" % name)
    wrong = "Trying to reuse partitioned variable %s, but specified %s %s and found %s %s."
    if not full.is_compatible_with(found.get_shape()):
        raise ValueError(wrong % (name, "shape", full, "shape", found.get_shape()))
    if not dtype.is_compatible_with(found.dtype):
        raise ValueError(wrong % (name, "dtype", dtype.name, "dtype", found.dtype.name))
    if counts is not None and list(counts) != list(found._get_partitions()):
        raise ValueError(wrong % (name, "partitions", list(counts), "partitions", list(found._get_partitions())))
    return found


def axis_size_pieces(shape, dtype, max_shard_bytes, axis, bytes_per_string_element, max_shards):
    dims = tensor_shape.as_shape(shape).as_list()
    element = bytes_per_string_element if as_dtype(dtype) == dtypes.string else as_dtype(dtype).size
    counts = [1] * len(dims)
    if tensor_shape.as_shape(shape).num_elements() == 0:
        return counts
    row = element * math.prod(d for i, d in enumerate(dims) if i != axis)
    rows = max(1.0, math.floor(max_shard_bytes / row))
    counts[axis] = int(math.ceil(dims[axis] / rows))
    if max_shards:
        counts[axis] = min(max_shards, counts[axis])
    return counts


def create_partitioned_variables(shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None,
                                 name=None, reuse=None):
    from weft._core.ops.variable_scope import variable_scope
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a new Partitioned Variable must have the length: shape: %s, slicing: %s" % (
            shape, slicing))
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        return list(get_partitioned(scope.name, shape, as_dtype(dtype), initializer, None, scope.reuse, trainable, collections,
                                    None, lambda **_: list(slicing), True, None))
